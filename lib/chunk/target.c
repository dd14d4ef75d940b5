/* target.c - other files that chunks take their payload from. */
/* SPDX-License-Identifier: MIT */
#include "chunk/target.h"

#include "base/error.h"
#include "base/info.h"
#include "base/mem.h"
#include "base/url.h"
#include "base/vec.h"
#include "format/block.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/walk.h"

#include <datarep.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TARGETS_OPEN 64 /* files that stay open */

struct target {
    struct target *next;
    uint32_t number;
    uint64_t size;
    int64_t time; /* as its entry says; 0: it says none */
    struct io *io;
    char *name;
    int uses; /* reads under way */
    struct target_sums sums;
    bool summed; /* sums are what could be collected */
};

int targets_init(struct targets *t)
{
    t->dir = -1;
    return pthread_mutex_init(&t->lock, NULL) ? fail_nomem() : 0;
}

static void target_free(struct target *t)
{
    if (t->io)
        t->io->ops->close(t->io);
    mem_free(t->sums.p);
    mem_free(t->name);
    mem_free(t);
}

void targets_release(struct targets *t)
{
    while (t->first) {
        struct target *next = t->first->next;

        target_free(t->first);
        t->first = next;
    }
    mem_free(t->outdated.p);
    mem_free(t->url);
    drep_info_free(t->hints);
    pthread_mutex_destroy(&t->lock);
}

void targets_allow(struct store *st, int dir)
{
    st->targets->allowed = true;
    st->targets->paths = true;
    st->targets->dir = dir;
}

void targets_allow_urls(struct store *st, const char *url, const drep_info *hints)
{
    struct targets *ts = st->targets;

    drep_info_free(ts->hints);
    mem_free(ts->url);
    ts->hints = NULL;
    ts->url = url ? mem_strdup(url) : NULL;
    if (!url || ts->url)
        (void)info_copy(hints, &ts->hints);
    if (ts->hints && strcmp(info_str(hints, "drep_external_urls"), "false") != 0)
        ts->allowed = true;
}

/* ---- entries ---- */

static bool span_same(const struct span *a, const struct span *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->p, b->p, a->len) == 0);
}

static void entry_key(struct key *key, uint32_t number)
{
    key_make(key, FMT_OBJECT_FILE, FMT_TAG_FILES);
    key_add_u32(key, number);
}

static int entry_decode(const struct buf *value, uint32_t number, struct target_rec *rec)
{
    struct in in;

    in_init(&in, value->p, value->len);
    if (target_get(&in, rec))
        return fail(DREP_ERR_FORMAT, "entry %u of files: %s", number, in.why);
    return 0;
}

int target_entry(struct store *st, uint32_t number, struct buf *value, struct target_rec *rec)
{
    struct key key;
    int err;

    entry_key(&key, number);
    err = tree_get(st, &key, value);
    if (err == DREP_ERR_NOT_FOUND)
        return fail(DREP_ERR_FORMAT, "file %u has no entry (R8.44)", number);
    return err ? err : entry_decode(value, number, rec);
}

int targets_each(struct store *st, target_fn *fn, void *ctx)
{
    struct buf value = {0};
    struct target_rec rec;
    struct tree_walk w;
    struct key key;
    int err;

    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_FILES);
    tree_walk(&w, st, &key, key.len);
    while (!(err = tree_next(&w, &key, &value))) {
        uint32_t number = key.len == FMT_KEY_HEAD + 4 ? key_u32(key.p + FMT_KEY_HEAD) : 0;

        if (number == 0)
            err = fail(DREP_ERR_FORMAT, "the key of an entry of files has %zu bytes (R8.43)",
                       (size_t)key.len);
        if (!err)
            err = entry_decode(&value, number, &rec);
        if (!err)
            err = fn(number, &rec, ctx);
        if (err)
            break;
    }
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

bool targets_any(struct store *st)
{
    struct key key, found;

    entry_key(&key, UINT32_MAX);
    return tree_floor(st, &key, FMT_KEY_HEAD, &found, NULL) == 0;
}

int target_fail_in(struct store *st, uint32_t number, int err)
{
    struct buf value = {0};
    struct target_rec rec;
    struct fail_state why;
    int found;

    fail_save(&why);
    found = target_entry(st, number, &value, &rec);
    fail_restore(&why);
    if (!found)
        err = fail_in(err, "file \"%.*s\"", (int)rec.name.len, (const char *)rec.name.p);
    buf_release(&value);
    return err;
}

/* ---- opening ---- */

static int io_open(struct store *st, const char *name, struct io **out)
{
    int inner, err;

    if (st->targets->dir < 0 && st->targets->url && st->targets->hints)
        return io_url_beneath(st->targets->url, name, st->targets->hints, out, NULL);
    if (st->targets->dir < 0)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                    "payload is in \"%s\", and this file is in no directory", name);
    err = io_beside(st->targets->dir, name, st->io->path, out, &inner);
    if (!err)
        close(inner);
    return err;
}

static int head_of(struct io *io, uint64_t size, uint64_t *head)
{
    size_t n = size < FMT_TARGET_HEAD ? (size_t)size : FMT_TARGET_HEAD;
    uint8_t *bytes = mem_alloc(n ? n : 1);
    int err = bytes ? io->ops->read_at(io, bytes, n, 0) : DREP_ERR_NOMEM;

    if (!err)
        *head = sum_stored(bytes, n);
    mem_free(bytes);
    return err;
}

/* Check that the file is the one that its entry describes. */
static int same_file(struct io *io, const struct target_rec *rec)
{
    uint64_t size, head;
    int err = io->ops->size(io, &size);

    if (!err && size != rec->size)
        return fail(DREP_ERR_CHECKSUM, "%s: it has %llu bytes, %llu are expected (R8.46)", io->path,
                    (unsigned long long)size, (unsigned long long)rec->size);
    if (!err)
        err = head_of(io, size, &head);
    if (!err && head != rec->head)
        return fail(DREP_ERR_CHECKSUM, "%s: its first %llu bytes have changed (R8.46)", io->path,
                    (unsigned long long)(size < FMT_TARGET_HEAD ? size : FMT_TARGET_HEAD));
    return err;
}

static int target_new(struct store *st, uint32_t number, const struct target_rec *rec,
                      struct target **out)
{
    struct target *t = mem_zalloc(1, sizeof(*t));
    int err = 0;

    if (t)
        t->name = mem_alloc(rec->name.len + 1);
    if (!t || !t->name) {
        mem_free(t);
        return DREP_ERR_NOMEM;
    }
    memcpy(t->name, rec->name.p, rec->name.len);
    t->name[rec->name.len] = 0;
    t->number = number;
    t->size = rec->size;
    t->time = rec->time;
    if (rec->kind == FMT_TARGET_URI && !url_is(t->name))
        err = fail(DREP_ERR_UNSUPPORTED,
                   "payload is at \"%s\", and such URIs are not opened (R8.46)", t->name);
    else if (rec->kind == FMT_TARGET_URI && !st->targets->hints)
        err = fail(DREP_ERR_UNSUPPORTED_OPERATION,
                   "payload is behind a URL; the hint drep_external_urls allows it");
    else if (rec->kind == FMT_TARGET_PATH && !st->targets->paths)
        err = fail(DREP_ERR_UNSUPPORTED_OPERATION,
                   "payload is in \"%s\"; the hint drep_external allows it", t->name);
    else if (rec->beyond)
        err = fail(DREP_ERR_UNSUPPORTED, "%s", rec->beyond);
    else if (rec->kind != FMT_TARGET_PATH && rec->kind != FMT_TARGET_URI)
        err = fail(DREP_ERR_UNSUPPORTED, "a file of kind %u, written by a newer version (R1.9)",
                   rec->number);
    if (!err && rec->kind == FMT_TARGET_URI)
        err = io_url(t->name, true, st->targets->hints, &t->io);
    else if (!err)
        err = io_open(st, t->name, &t->io);
    if (!err)
        err = same_file(t->io, rec);
    if (err) {
        target_free(t);
        return err;
    }
    *out = t;
    return 0;
}

/* Find a file that is open, and begin to use it; the caller holds the lock. */
static struct target *in_list(struct targets *ts, uint32_t number)
{
    struct target *t = ts->first;

    while (t && t->number != number)
        t = t->next;
    if (t)
        t->uses++;
    return t;
}

/* Close a file that nobody uses, if too many are open.  The caller holds the lock. */
static void close_one(struct targets *ts)
{
    struct target **at, **idle = NULL;
    int n = 0;

    for (at = &ts->first; *at; at = &(*at)->next, n++) {
        if ((*at)->uses == 0)
            idle = at;
    }
    if (n > TARGETS_OPEN && idle) {
        struct target *t = *idle;

        *idle = t->next;
        target_free(t);
    }
}

static int not_allowed(void)
{
    return fail(
        DREP_ERR_UNSUPPORTED_OPERATION,
        "payload in other files is read only if that is allowed (hint drep_external, option "
        "--external of the command, external=True in Python)");
}

static int target_take(struct store *st, uint32_t number, struct target **out)
{
    struct targets *ts = st->targets;
    struct buf value = {0};
    struct target_rec rec;
    struct target *t, *mine = NULL;
    int err;

    if (!ts->allowed)
        return target_fail_in(st, number, not_allowed());
    pthread_mutex_lock(&ts->lock);
    *out = in_list(ts, number);
    pthread_mutex_unlock(&ts->lock);
    if (*out)
        return 0;
    err = target_entry(st, number, &value, &rec);
    if (!err)
        err = target_new(st, number, &rec, &mine);
    buf_release(&value);
    if (err)
        return err;
    pthread_mutex_lock(&ts->lock);
    t = in_list(ts, number); /* another thread may have been faster */
    if (!t) {
        t = mine;
        mine = NULL;
        t->uses = 1;
        t->next = ts->first;
        ts->first = t;
        close_one(ts);
    }
    pthread_mutex_unlock(&ts->lock);
    if (mine)
        target_free(mine);
    *out = t;
    return 0;
}

static void target_give(struct store *st, struct target *t)
{
    pthread_mutex_lock(&st->targets->lock);
    t->uses--;
    pthread_mutex_unlock(&st->targets->lock);
}

/* Find a number among those of targets with another version; their number if it is not there.  The
 * caller holds the lock. */
static size_t outdated_at(const struct target_numbers *list, uint32_t number)
{
    size_t i = 0;

    while (i < list->n && list->p[i] != number)
        i++;
    return i;
}

static int version_check(struct targets *ts, const struct target *t)
{
    bool outdated;

    pthread_mutex_lock(&ts->lock);
    outdated = outdated_at(&ts->outdated, t->number) < ts->outdated.n;
    pthread_mutex_unlock(&ts->lock);
    return !outdated ? 0
                     : fail(DREP_ERR_CHECKSUM,
                            "%s: it is another version than its entry says, and a chunk in it has "
                            "no sum (R8.52)",
                            t->io->path);
}

int target_version(struct store *st, uint32_t number, const struct span *version)
{
    struct target_numbers *list = &st->targets->outdated;
    struct buf value = {0};
    struct target_rec rec;
    int err = target_entry(st, number, &value, &rec);
    bool outdated = !err && rec.tag.len > 0 && !span_same(&rec.tag, version);
    size_t at;

    buf_release(&value);
    if (err)
        return err;
    pthread_mutex_lock(&st->targets->lock);
    at = outdated_at(list, number);
    if (!outdated && at < list->n)
        list->p[at] = list->p[--list->n];
    else if (outdated && at == list->n && !(err = VEC_ROOM(list->p, list->n, list->room, 1)))
        list->p[list->n++] = number;
    pthread_mutex_unlock(&st->targets->lock);
    return err ? fail_nomem() : 0;
}

int target_unchanged(struct store *st, uint32_t number)
{
    struct target *t = NULL;
    int64_t now = 0;
    int err = target_take(st, number, &t);

    if (err)
        return err;
    err = version_check(st->targets, t);
    if (!err && t->io->ops->changed)
        err = t->io->ops->changed(t->io, &now);
    if (!err && (now == 0 || now != t->time))
        err = fail(DREP_ERR_CHECKSUM,
                   "%s: its time is not that of its entry, and a chunk in it has no sum (R8.52)",
                   t->io->path);
    target_give(st, t);
    return err;
}

int target_read(struct store *st, uint32_t number, uint64_t offset, uint64_t size, struct buf *out)
{
    struct target *t = NULL;
    int err = target_take(st, number, &t);

    if (err && st->targets->allowed)
        return fail_in(err, "at byte %llu", (unsigned long long)offset);
    if (err)
        return err;
    if (offset > t->size || size > t->size - offset)
        err = fail_byte(DREP_ERR_FORMAT, offset, "%s: a chunk at byte %llu lies outside it (R8.47)",
                        t->io->path, (unsigned long long)offset);
    else if (out)
        err = buf_reserve(out, size);
    if (!err && out) {
        out->len = (size_t)size;
        err = t->io->ops->read_at(t->io, out->p, out->len, offset);
    }
    target_give(st, t);
    return err;
}

/* ---- sums that a target has ---- */

static int by_offset(const void *a, const void *b)
{
    const struct target_sum *x = a, *y = b;

    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void drop_sums(struct target *t)
{
    mem_free(t->sums.p);
    memset(&t->sums, 0, sizeof(t->sums));
    t->summed = false;
}

/* Drop the sums of all targets if they have become too many. */
static void bound_sums(struct targets *ts)
{
    size_t n = 0;

    pthread_mutex_lock(&ts->lock);
    for (struct target *t = ts->first; t; t = t->next)
        n += t->sums.n;
    for (struct target *t = ts->first; t && n > TARGET_SUMS_MAX; t = t->next)
        drop_sums(t);
    pthread_mutex_unlock(&ts->lock);
}

/* A target that cannot be opened as a container has no sums; its bytes are read instead. */
static int collect_sums(struct target *t, target_sums_fn *fn, void *ctx)
{
    struct io *again;
    int err = t->io->ops->reopen ? t->io->ops->reopen(t->io, &again) : DREP_ERR_UNSUPPORTED;

    if (!err)
        err = fn(again, &t->sums, ctx);
    if (err)
        drop_sums(t);
    if (t->sums.n > 1)
        qsort(t->sums.p, t->sums.n, sizeof(*t->sums.p), by_offset);
    return err == DREP_ERR_NOMEM ? err : 0;
}

int target_known_sum(struct store *st, const struct chunk_rec *row, target_sums_fn *fn, void *ctx,
                     uint64_t *sum)
{
    const struct target_sum want = {.offset = row->offset}, *found = NULL;
    struct target *t = NULL;
    int err = target_take(st, row->file, &t);

    *sum = 0;
    if (err)
        return err;
    if (!t->summed) {
        bound_sums(st->targets);
        err = collect_sums(t, fn, ctx);
    }
    t->summed = !err;
    if (!err && t->sums.n > 0)
        found = bsearch(&want, t->sums.p, t->sums.n, sizeof(want), by_offset);
    if (found && found->size == row->size)
        *sum = found->sum;
    target_give(st, t);
    return err;
}

void target_budget(const struct target_rec *rec, uint64_t *bytes)
{
    uint64_t share;

    if (__builtin_mul_overflow(rec->size, (uint64_t)TARGET_TIMES, &share) ||
        __builtin_add_overflow(*bytes, share, bytes))
        *bytes = UINT64_MAX;
}

/* ---- adding ---- */

/* Close what an operation that was taken back had opened under a number that is given again. */
static void drop_stale_target(struct targets *ts, uint32_t number)
{
    struct target **at = &ts->first;

    pthread_mutex_lock(&ts->lock);
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    if (*at) {
        struct target *t = *at;

        *at = t->next;
        target_free(t);
    }
    pthread_mutex_unlock(&ts->lock);
}

struct target_search {
    const struct target_rec *rec;
    uint32_t number, last;
};

/* The time counts: rows without a sum go by it (R8.52). */
static int compare_entry(uint32_t number, const struct target_rec *rec, void *ctx)
{
    struct target_search *w = ctx;

    w->last = number;
    if (rec->number == w->rec->number && rec->flags == w->rec->flags && rec->size == w->rec->size &&
        rec->head == w->rec->head && rec->time == w->rec->time &&
        span_same(&rec->name, &w->rec->name) &&
        (w->rec->tag.len == 0 || span_same(&rec->tag, &w->rec->tag)))
        w->number = number;
    return 0;
}

static int describe(struct store *st, const char *path, struct target_rec *rec)
{
    struct io *io;
    int err = io_open(st, path, &io);

    if (err)
        return err;
    rec->number = rec->kind = FMT_TARGET_PATH;
    rec->name = (struct span){(const uint8_t *)path, strlen(path)};
    err = io->ops->size(io, &rec->size);
    if (!err)
        err = head_of(io, rec->size, &rec->head);
    if (!err && io->ops->changed)
        err = io->ops->changed(io, &rec->time);
    io->ops->close(io);
    return err;
}

/* Find the entry of a file, or add one under the next number. */
static int find_or_put(struct store *st, const struct target_rec *rec, uint32_t *number)
{
    struct target_search w = {.rec = rec};
    struct buf value = {0};
    struct out out;
    struct key key;
    int err = targets_each(st, compare_entry, &w);

    if (err || (*number = w.number) != 0)
        return err;
    if (w.last == UINT32_MAX)
        return fail(DREP_ERR_LIMIT, "too many other files");
    buf_out(&value, &out);
    target_put(&out, rec);
    err = buf_done(&value, &out);
    entry_key(&key, w.last + 1);
    if (!err)
        err = tree_put(st, &key, value.p, value.len);
    buf_release(&value);
    if (err)
        return err;
    drop_stale_target(st->targets, w.last + 1);
    *number = w.last + 1;
    return 0;
}

int target_add(struct store *st, const char *path, const struct span *version, uint32_t *number)
{
    struct target_rec rec = {.tag = *version};
    int err;

    if (!st->targets->allowed)
        return not_allowed();
    if (target_path_check((const uint8_t *)path, strlen(path)))
        return fail(DREP_ERR_NAME, "\"%s\" is not a relative path that leads down", path);
    err = describe(st, path, &rec);
    return err ? err : find_or_put(st, &rec, number);
}

int target_adopt(struct store *from, uint32_t number, struct store *to, uint32_t *out)
{
    struct buf value = {0};
    struct target_rec rec;
    int err = target_entry(from, number, &value, &rec);

    if (!err)
        err = find_or_put(to, &rec, out);
    buf_release(&value);
    return err;
}
