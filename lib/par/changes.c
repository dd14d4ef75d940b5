/* changes.c - the changes of one rank since the last commit, as a message. */
/* SPDX-License-Identifier: MIT */
#include "par/changes.h"

#include "base/mem.h"
#include "base/vec.h"
#include "tree/journal.h"

#include <datarep.h>
#include <stdlib.h>
#include <string.h>

#define ABSENT UINT32_MAX

int hints_digest(const drep_file *f, uint64_t *digest)
{
    struct buf b = {0};
    int err = hints_put(&f->hints, &b);

    *digest = err ? 0 : sum_stored(b.p, b.len);
    buf_release(&b);
    return err;
}

/* ---- representations ---- */

int own_rep_put(const struct file_datarep *e, struct out *out)
{
    uint64_t digest;
    uint8_t n = 0;
    int err = rep_digest(e, &digest);

    for (int c = 1; c <= DREP_CODE_MAX; c++)
        n += e->used[c];
    out_u16(out, e->number);
    out_bytes(out, e->rep.name, strlen(e->rep.name) + 1);
    out_u64(out, digest);
    out_u8(out, n);
    for (int c = 1; c <= DREP_CODE_MAX; c++)
        if (e->used[c]) {
            out_u8(out, (uint8_t)c);
            out_u64(out, rep_witnesses(e, c));
        }
    return err;
}

/* A text, which stays where it is. */
static const char *get_text(struct in *in)
{
    const char *text = (const char *)in->p + in->at;

    in_bytes(in, strnlen(text, in_left(in)) + 1);
    return text;
}

void own_rep_get(struct in *in, struct own_rep *rep)
{
    rep->number = in_u16(in);
    rep->name = get_text(in);
    rep->digest = in_u64(in);
    rep->ncodes = in_u8(in);
    rep->code = in_bytes(in, (size_t)rep->ncodes * OWN_CODE);
}

int own_rep_find(drep_file *f, int rank, const struct own_rep *rep, struct file_datarep **out)
{
    uint64_t digest;
    int err;

    if (rep_get_number(f, rep->number, out) != 0 || strcmp((*out)->rep.name, rep->name) != 0)
        if ((err = rep_add(f, rep->name, out)))
            return err;
    err = rep_digest(*out, &digest);
    return err || digest == rep->digest
               ? err
               : fail(DREP_ERR_NOT_SAME, "ranks %d and %d have different tables of datarep \"%s\"",
                      ranks_of(f)->team.rank, rank, rep->name);
}

int own_rep_use(drep_file *f, int rank, struct file_datarep *e, const struct own_rep *rep)
{
    int err = 0;

    for (int k = 0; !err && k < rep->ncodes; k++) {
        const uint8_t *p = rep->code + k * OWN_CODE;

        err = rep_use(f, e, drep_predefined(p[0]));
        if (!err && rep_witnesses_differ(rep_witnesses(e, p[0]), load_u64(p + 1)))
            err = fail(DREP_ERR_NOT_SAME,
                       "ranks %d and %d have different functions of datarep \"%s\"",
                       ranks_of(f)->team.rank, rank, rep->name);
    }
    return err;
}

int own_reps_digest(const drep_file *f, uint64_t *reps, uint64_t *witnesses)
{
    uint64_t shown = 0, sum = 0, digest;
    uint8_t bytes[24 + DREP_CODE_MAX];
    struct buf b = {0};
    int err = 0;

    for (size_t i = 0; !err && i < f->reps.n; i++) {
        const struct file_datarep *e = f->reps.list[i];

        err = rep_digest(e, &digest);
        store_u64(bytes, e->number);
        store_u64(bytes + 8, digest);
        for (int c = 1; c <= DREP_CODE_MAX; c++) {
            uint64_t w = e->used[c] ? rep_witnesses(e, c) : 0;

            bytes[15 + c] = e->used[c];
            sum = sum * 31 + w;
            shown += w % 256;
        }
        if (!err)
            err = buf_add(&b, bytes, 16 + DREP_CODE_MAX);
    }
    *reps = err ? 0 : sum_stored(b.p, b.len);
    *witnesses = sum << 8 | (shown & 255);
    buf_release(&b);
    return err;
}

/* ---- writing ---- */

static int put_entry(void *ctx, const struct key *key, const struct buf *value)
{
    struct out *out = ctx;

    out_u16(out, (uint16_t)key->len);
    out_bytes(out, key->p, key->len);
    out_u32(out, value ? (uint32_t)value->len : ABSENT);
    if (value)
        out_bytes(out, value->p, value->len);
    return out->err;
}

static int put_reps(const drep_file *f, struct out *out)
{
    int err = 0;

    out_u32(out, (uint32_t)f->reps.n);
    for (size_t i = 0; !err && i < f->reps.n; i++)
        err = own_rep_put(f->reps.list[i], out);
    return err;
}

static void put_shrunk(const struct ranks *r, struct out *out)
{
    out_u32(out, (uint32_t)r->nshrunk);
    for (size_t i = 0; i < r->nshrunk; i++) {
        out_u64(out, r->shrunk[i].id);
        out_u8(out, (uint8_t)r->shrunk[i].rank);
        for (int d = 0; d < r->shrunk[i].rank; d++)
            out_u64(out, r->shrunk[i].len[d]);
    }
}

static int by_object(const void *a, const void *b)
{
    const struct marked *const *pa = a, *const *pb = b;
    uint64_t x = (*pa)->object, y = (*pb)->object;

    return (x > y) - (x < y);
}

static int put_marked(const struct ranks *r, struct out *out)
{
    const struct marked **list = mem_array(r->nmarked + 1, sizeof(*list));

    if (!list)
        return fail_nomem();
    for (size_t i = 0; i < r->nmarked; i++)
        list[i] = &r->marked[i];
    if (r->nmarked > 1)
        qsort(list, r->nmarked, sizeof(*list), by_object);
    out_u32(out, (uint32_t)r->nmarked);
    for (size_t i = 0; i < r->nmarked; i++) {
        out_u64(out, list[i]->object);
        out_u64(out, (uint64_t)list[i]->n);
        out_bytes(out, list[i]->bit, (size_t)list[i]->n / 8 + 1);
    }
    mem_free(list);
    return 0;
}

static void put_implied(const struct ranks *r, struct out *out)
{
    out_u32(out, (uint32_t)r->nimplied);
    for (size_t i = 0; i < r->nimplied; i++) {
        const struct implied_dim *dim = &r->implied[i];

        out_u64(out, dim->id);
        out_u64(out, dim->group);
        out_bytes(out, dim->path, strlen(dim->path) + 1);
        out_bytes(out, dim->name, strlen(dim->name) + 1);
    }
}

int changes_put(drep_file *f, struct buf *b)
{
    struct out out;
    uint64_t hints;
    int done, err = hints_digest(f, &hints);

    if (err)
        return err;
    buf_out(b, &out);
    out_u64(&out, hints);
    err = put_reps(f, &out);
    put_shrunk(ranks_of(f), &out);
    if (!err)
        err = put_marked(ranks_of(f), &out);
    put_implied(ranks_of(f), &out);
    out_u64(&out, f->st->journal->n);
    if (!err)
        err = journal_each(f->st, put_entry, &out);
    done = buf_done(b, &out);
    return err ? err : done;
}

/* ---- reading ---- */

static int get_reps(struct in *in, struct changes *c)
{
    uint32_t n = in_u32(in);

    if (in->err || n > in_left(in))
        return in_fail(in, FMT_ERR_FORMAT, "too many representations");
    c->rep = mem_zalloc((size_t)n + 1, sizeof *c->rep);
    if (!c->rep)
        return fail_nomem();
    for (; c->nreps < n && !in->err; c->nreps++)
        own_rep_get(in, &c->rep[c->nreps]);
    return in->err;
}

static int get_shrunk(struct in *in, struct changes *c)
{
    uint32_t n = in_u32(in);

    if (in->err || n > in_left(in))
        return in_fail(in, FMT_ERR_FORMAT, "too many datasets");
    c->shrunk = mem_zalloc((size_t)n + 1, sizeof *c->shrunk);
    if (!c->shrunk)
        return fail_nomem();
    for (; c->nshrunk < n && !in->err; c->nshrunk++) {
        struct shrunk_dataset *s = &c->shrunk[c->nshrunk];

        s->id = in_u64(in);
        s->rank = in_u8(in) % (FMT_RANK_MAX + 1);
        for (int d = 0; d < s->rank; d++)
            s->len[d] = in_u64(in);
    }
    return in->err;
}

static int get_written(struct in *in, struct changes *c)
{
    uint32_t n = in_u32(in);

    if (in->err || n > in_left(in))
        return in_fail(in, FMT_ERR_FORMAT, "too many datasets");
    c->written = mem_array((uint64_t)n + 1, sizeof *c->written);
    if (!c->written)
        return fail_nomem();
    while (c->nwritten < n && !in->err) {
        struct written_elements *w = &c->written[c->nwritten++];

        w->own = in_u64(in);
        w->n = (int64_t)(in_u64(in) & INT64_MAX);
        w->bit = in_bytes(in, (size_t)w->n / 8 + 1);
    }
    return in->err;
}

static int get_implied(struct in *in, struct changes *c)
{
    uint32_t n = in_u32(in);

    if (in->err || n > in_left(in))
        return in_fail(in, FMT_ERR_FORMAT, "too many dimensions");
    c->implied = mem_array((uint64_t)n + 1, sizeof *c->implied);
    if (!c->implied)
        return fail_nomem();
    while (c->nimplied < n && !in->err) {
        struct own_implied *dim = &c->implied[c->nimplied++];

        dim->own = in_u64(in);
        dim->group = in_u64(in);
        dim->path = get_text(in);
        dim->name = get_text(in);
    }
    return in->err;
}

static int get_entries(struct in *in, struct changes *c)
{
    uint64_t n = in_u64(in);

    if (in->err || n > in_left(in))
        return in_fail(in, FMT_ERR_FORMAT, "too many entries");
    c->entry = mem_array(n + 1, sizeof *c->entry);
    if (!c->entry)
        return fail_nomem();
    while (c->n < n && !in->err) {
        struct change *e = &c->entry[c->n++];
        uint32_t size;

        e->key_len = in_u16(in);
        e->key = in_bytes(in, e->key_len);
        size = in_u32(in);
        e->size = size == ABSENT ? 0 : size;
        e->value = size == ABSENT ? NULL : in_bytes(in, size);
        if (e->key_len < FMT_KEY_HEAD)
            in_fail(in, FMT_ERR_FORMAT, "a short key");
    }
    return in->err;
}

/* Entries are sorted by object, so that the list of new ones ascends. */
static int list_made(struct changes *c, uint64_t first_new)
{
    size_t room = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct change *e = &c->entry[i];

        if (change_tag(e) != FMT_TAG_OBJECT || !e->value || change_id(e) < first_new)
            continue;
        if (VEC_ROOM(c->made, c->nmade, room, 1))
            return fail_nomem();
        c->made[c->nmade++] = (struct new_object){.own = change_id(e), .record = e};
    }
    return 0;
}

int changes_get(const uint8_t *p, size_t size, uint64_t first_new, struct changes *c)
{
    struct in in;
    int err;

    in_init(&in, p, size);
    c->hints = in_u64(&in);
    err = get_reps(&in, c);
    if (!err)
        err = get_shrunk(&in, c);
    if (!err)
        err = get_written(&in, c);
    if (!err)
        err = get_implied(&in, c);
    if (!err)
        err = get_entries(&in, c);
    if (in.err)
        return fail(DREP_ERR_FAILED, "the changes of rank %d: %s", c->rank, in.why);
    return err ? err : list_made(c, first_new);
}

void changes_release(struct changes *c)
{
    mem_free(c->entry);
    mem_free(c->made);
    mem_free(c->shrunk);
    mem_free(c->written);
    mem_free(c->implied);
    mem_free(c->rep);
    idset_release(&c->moved);
}

/* ---- looking up ---- */

size_t changes_from(const struct changes *c, const uint8_t *key, size_t len)
{
    size_t low = 0, high = c->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (key_compare(c->entry[mid].key, c->entry[mid].key_len, key, len) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct change *changes_find(const struct changes *c, const uint8_t *key, size_t len)
{
    size_t at = changes_from(c, key, len);

    return at < c->n && key_compare(c->entry[at].key, c->entry[at].key_len, key, len) == 0
               ? &c->entry[at]
               : NULL;
}

static int by_own(const void *key, const void *entry)
{
    const uint64_t *a = key, *b = entry;

    return (*a > *b) - (*a < *b);
}

void *find_own(const void *list, size_t n, size_t size, uint64_t own)
{
    return n > 0 ? bsearch(&own, list, n, size, by_own) : NULL;
}

struct new_object *changes_made(const struct changes *c, uint64_t own)
{
    return find_own(c->made, c->nmade, sizeof *c->made, own);
}

const struct written_elements *changes_written(const struct changes *c, uint64_t own)
{
    return find_own(c->written, c->nwritten, sizeof *c->written, own);
}

uint64_t hard_target(uint8_t tag, const struct span *value)
{
    struct link_rec link;
    struct dim_rec dim;
    struct in in;

    in_init(&in, value->p, value->len);
    if (tag == FMT_TAG_DIM)
        return value->p && dim_get(&in, &dim) == 0 && dim.kind == FMT_PLAIN ? dim.object : 0;
    return value->p && link_get(&in, &link) == 0 && link.kind == FMT_HARD ? link.object : 0;
}

const struct own_implied *changes_implied(const struct changes *c, uint64_t own)
{
    const struct own_implied *dim = find_own(c->implied, c->nimplied, sizeof *dim, own);
    struct span value = {NULL, 0};
    const struct change *e;
    struct key key;

    if (!dim)
        return NULL;
    key_make(&key, dim->group, FMT_TAG_DIM);
    key_add_bytes(&key, dim->name, strlen(dim->name));
    e = changes_find(c, key.p, key.len);
    if (e)
        value = change_value(e);
    return hard_target(FMT_TAG_DIM, &value) == own ? dim : NULL;
}

const struct shrunk_dataset *changes_shrunk(const struct changes *c, uint64_t id)
{
    for (size_t i = 0; i < c->nshrunk; i++)
        if (c->shrunk[i].id == id)
            return &c->shrunk[i];
    return NULL;
}

bool shrunk_alike(const struct shrunk_dataset *a, const struct shrunk_dataset *b)
{
    if (!a || !b)
        return a == b;
    return a->rank == b->rank && memcmp(a->len, b->len, (size_t)a->rank * sizeof *a->len) == 0;
}

bool changes_removed(const struct changes *c, uint64_t id)
{
    const struct change *e;
    struct key key;

    key_make(&key, id, FMT_TAG_OBJECT);
    e = changes_find(c, key.p, key.len);
    return e && !e->value;
}
