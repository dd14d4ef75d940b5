/* space.c - which bytes of the file are free, and whose turn it is to use them.
 *
 * What a commit frees stays as it is while somebody may look at an older commit; then it
 * moves to `avail`.  Bytes that the open transaction allocated and frees again may be used
 * at once.  The FREE entries of the tree are brought up to date only by commits: `touched`
 * says where they may be wrong. */
#include "txn/inner.h"

#include "base/error.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Shorter free extents are not worth a place for nodes. */
#define LEAST_RESERVED 4096

uint64_t round_up(uint64_t v, uint64_t align)
{
    return (v + align - 1) / align * align;
}

int list_add(struct extent_list *l, uint64_t offset, uint64_t length)
{
    struct extent *last = l->n ? &l->e[l->n - 1] : NULL;

    if (last && last->offset + last->length == offset) {
        last->length += length;
        return 0;
    }
    if (last && offset + length == last->offset) {
        last->offset = offset;
        last->length += length;
        return 0;
    }
    return list_push(l, offset, length);
}

int list_push(struct extent_list *l, uint64_t offset, uint64_t length)
{
    if (l->n == l->room) {
        size_t room = l->room ? l->room * 2 : 16;
        struct extent *e = mem_resize(l->e, room, sizeof(*e));

        if (!e)
            return DREP_ERR_NOMEM;
        l->e = e;
        l->room = room;
    }
    l->e[l->n++] = (struct extent){offset, length};
    return 0;
}

static void list_release(struct extent_list *l)
{
    mem_free(l->e);
    *l = (struct extent_list){0};
}

void space_release(struct store *st)
{
    struct space *sp = &st->space;

    extents_release(&sp->avail);
    extents_release(&sp->fresh);
    mem_free(sp->later.e);
    mem_free(sp->pending.e);
    list_release(&sp->freed);
    list_release(&sp->late);
    list_release(&sp->left);
    mem_free(sp->touched);
    *sp = (struct space){0};
}

/* ---- offsets whose FREE entry may be wrong ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* In ascending order, each once. */
static void touch_sort(struct space *sp)
{
    size_t n = 0;

    if (sp->ntouched > 1)
        qsort(sp->touched, sp->ntouched, sizeof(*sp->touched), by_value);
    for (size_t i = 0; i < sp->ntouched; i++) {
        if (n == 0 || sp->touched[i] != sp->touched[n - 1])
            sp->touched[n++] = sp->touched[i];
    }
    sp->ntouched = n;
}

static int touch_reserve(struct space *sp, size_t n)
{
    size_t room = sp->room_touched ? sp->room_touched * 2 : 64;
    uint64_t *touched;

    if (sp->room_touched - sp->ntouched >= n)
        return 0;
    touch_sort(sp);
    if (sp->room_touched - sp->ntouched >= sp->room_touched / 2 + n)
        return 0;
    touched = mem_resize(sp->touched, room + n, sizeof(*touched));
    if (!touched)
        return DREP_ERR_NOMEM;
    sp->touched = touched;
    sp->room_touched = room + n;
    return 0;
}

static void touch(struct space *sp, uint64_t offset)
{
    if (sp->ntouched == 0 || sp->touched[sp->ntouched - 1] != offset)
        sp->touched[sp->ntouched++] = offset;
}

/* ---- into and out of avail ---- */

/* known: the tree has an entry for exactly this extent. */
static int make_available(struct space *sp, uint64_t offset, uint64_t length, int known)
{
    struct extent whole;
    int err = touch_reserve(sp, 3);

    if (!err)
        err = extents_add(&sp->avail, offset, length, &whole);
    if (err)
        return err;
    if (known && whole.offset == offset && whole.length == length)
        return 0;
    touch(sp, offset);
    touch(sp, whole.offset);
    touch(sp, offset + length); /* an extent that began there is part of this one now */
    return 0;
}

static int take_available(struct space *sp, uint64_t offset, uint64_t length)
{
    struct extent e;
    int err = touch_reserve(sp, 2);

    if (err)
        return err;
    extents_find(&sp->avail, offset, &e);
    err = extents_take(&sp->avail, offset, length);
    if (err)
        return err;
    touch(sp, e.offset);
    touch(sp, offset + length);
    return 0;
}

static int later_add(struct later_list *l, uint64_t offset, uint64_t length, uint64_t sequence)
{
    if (l->head > l->n / 2) { /* what is gone makes room */
        memmove(l->e, l->e + l->head, (l->n - l->head) * sizeof(*l->e));
        l->n -= l->head;
        l->head = 0;
    }
    if (l->n == l->room) {
        size_t room = l->room + l->room / 2 + 64;
        struct later *e = mem_resize(l->e, room, sizeof(*e));

        if (!e)
            return DREP_ERR_NOMEM;
        l->e = e;
        l->room = room;
    }
    l->e[l->n++] = (struct later){offset, length, sequence};
    return 0;
}

static int by_sequence(const void *a, const void *b)
{
    uint64_t x = ((const struct later *)a)->sequence, y = ((const struct later *)b)->sequence;

    return (x > y) - (x < y);
}

/* ---- what the last commit left ---- */

static int extent_inside(const struct store *st, uint64_t offset, uint64_t length)
{
    if (offset < FMT_SPACE_START || offset > st->slot.end || length > st->slot.end - offset)
        return fail(DREP_ERR_FORMAT, "free extent at byte %llu lies outside the file",
                    (unsigned long long)offset);
    return 0;
}

static int load_free(struct store *st)
{
    struct space *sp = &st->space;
    struct buf value = {0};
    struct tree_walk w;
    struct key key;
    int err;

    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_FREE);
    tree_walk(&w, st, &key, key.len);
    while ((err = tree_next(&w, &key, &value)) == 0) {
        struct free_rec r;
        uint64_t offset;
        struct in in;

        in_init(&in, value.p, value.len);
        if (key.len != 17 || free_get(&in, &r)) {
            err = fail(DREP_ERR_FORMAT, "malformed FREE entry");
            break;
        }
        offset = key_u64(key.p + 9);
        err = extent_inside(st, offset, r.length);
        if (!err)
            err = later_add(&sp->later, offset, r.length, r.sequence);
        if (err)
            break;
    }
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int load_pending(struct store *st)
{
    struct buf list = {0};
    uint32_t count = 0;
    struct in in;
    int err;

    if (!st->slot.pending.length)
        return 0;
    err = block_load(st, &st->slot.pending, FMT_PENDING, &list, &count);
    in_init(&in, list.p, err ? 0 : list.len);
    for (uint32_t i = 0; !err && i < count; i++) {
        struct pending_rec r;

        if (pending_get(&in, &r)) {
            err = fail(DREP_ERR_FORMAT, "pending list at byte %llu: %s",
                       (unsigned long long)st->slot.pending.offset, in.why);
            break;
        }
        err = extent_inside(st, r.offset, r.length);
        if (!err)
            err = later_add(&st->space.pending, r.offset, r.length, r.sequence);
    }
    buf_release(&list);
    return err;
}

/* The earliest commit that the LOG says can still be opened; UINT64_MAX: none. */
static int oldest_logged(struct store *st, uint64_t *oldest)
{
    struct tree_walk w;
    struct key key;
    int err;

    *oldest = UINT64_MAX;
    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_LOG);
    tree_walk(&w, st, &key, key.len);
    err = tree_next(&w, &key, NULL);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    if (key.len != 17)
        return fail(DREP_ERR_FORMAT, "malformed LOG entry");
    *oldest = key_u64(key.p + 9);
    return 0;
}

/* Whether a reader holds a commit of first .. last; 0 stands for all of them. */
static int readers_in(struct store *st, uint64_t first, uint64_t last, int *held)
{
    return st->io->ops->probe(st->io, FMT_LOCK_READERS + first, last - first + 1, held);
}

/* Nobody looks at a commit before *limit any more: what those up to it freed is free. */
static int readers_limit(struct store *st, uint64_t *limit)
{
    uint64_t low = 0, high = *limit ? *limit - 1 : 0; /* readers of high or older matter */
    int held = 0;
    int err;

    if (!st->opts.lock || !st->io->ops->probe || high == 0)
        return 0;
    err = readers_in(st, low, high, &held);
    if (err == DREP_ERR_UNSUPPORTED_OPERATION)
        return 0;
    if (err || !held)
        return err;
    while (low < high) { /* the oldest one */
        uint64_t mid = low + (high - low) / 2;

        err = readers_in(st, low, mid, &held);
        if (err)
            return err;
        if (held)
            high = mid;
        else
            low = mid + 1;
    }
    *limit = low; /* what commit `low` freed, its readers do not see */
    return 0;
}

/* Space freed by commits up to *limit may be used by the open transaction. */
static int reuse_limit(struct store *st, uint64_t *limit)
{
    uint64_t next = store_next_sequence(st);
    uint64_t keep = st->opts.keep > 2 ? (uint64_t)st->opts.keep : 2;
    uint64_t oldest;
    int err = oldest_logged(st, &oldest);

    if (err)
        return err;
    *limit = next > keep ? next - keep : 0;
    if (*limit > oldest)
        *limit = oldest;
    return readers_limit(st, limit);
}

/* An extent that nobody looks at any more; in_tree: it has a FREE entry. */
static int release_one(struct space *sp, const struct later *l, int in_tree)
{
    uint64_t offset = round_up(l->offset, FMT_ALIGN);
    uint64_t end = (l->offset + l->length) / FMT_ALIGN * FMT_ALIGN;
    int exact = offset == l->offset && end == l->offset + l->length;
    int err = touch_reserve(sp, 4);

    if (!err && offset < end)
        err = make_available(sp, offset, end - offset, in_tree && exact);
    if (err == DREP_ERR_FORMAT)
        return fail(err, "free extent at byte %llu overlaps another",
                    (unsigned long long)l->offset);
    if (!err && in_tree && offset != l->offset)
        touch(sp, l->offset);
    return err;
}

static int release_later(struct store *st)
{
    struct space *sp = &st->space;
    struct later_list *p = &sp->pending;
    uint64_t limit = 0;
    size_t kept = 0;
    int err = reuse_limit(st, &limit);

    if (!err && limit > sp->limit) /* nobody can come to look at a commit before it again */
        sp->limit = limit;
    while (!err && sp->later.head < sp->later.n &&
           sp->later.e[sp->later.head].sequence <= sp->limit) {
        err = release_one(sp, &sp->later.e[sp->later.head], 1);
        sp->later.head += !err;
    }
    for (size_t i = 0; i < p->n; i++) {
        if (!err && p->e[i].sequence <= sp->limit) {
            err = release_one(sp, &p->e[i], 0);
            if (!err)
                continue;
        }
        p->e[kept++] = p->e[i];
    }
    p->n = kept;
    return err;
}

int space_begin(struct store *st)
{
    struct space *sp = &st->space;
    int err = 0;

    if (sp->ready)
        return 0;
    if (!sp->loaded) {
        sp->later.n = sp->later.head = 0;
        sp->pending.n = 0;
        err = load_free(st);
        if (!err)
            err = load_pending(st);
        if (err)
            return fail_in(err, "free space");
        if (sp->later.n > 1)
            qsort(sp->later.e, sp->later.n, sizeof(*sp->later.e), by_sequence);
        sp->loaded = 1;
    }
    err = release_later(st);
    if (err)
        return fail_in(err, "free space");
    sp->ready = 1;
    return 0;
}

/* ---- allocating ---- */

int space_fresh(const struct store *st, uint64_t offset, uint64_t size)
{
    return extents_hold(&st->space.fresh, offset, round_up(size ? size : 1, FMT_ALIGN));
}

/* Bytes just taken: they belong to the open transaction, and to its operation. */
static int claim(struct store *st, uint64_t offset, uint64_t size, enum keep keep)
{
    struct space *sp = &st->space;
    int err = extents_add(&sp->fresh, offset, size, NULL);

    st->dirty = 1;
    if (!err && keep == WITH_OP && st->op.active) {
        err = extents_add(&st->op.alloc, offset, size, NULL);
        if (err)
            extents_take(&sp->fresh, offset, size);
    }
    return err;
}

/* At the end of the file; the gap before it is free. */
static int extend(struct store *st, uint64_t size, uint64_t align, uint64_t *offset)
{
    struct space *sp = &st->space;
    uint64_t at = round_up(sp->end, align);

    if (at > FMT_SIZE_MAX || size > FMT_SIZE_MAX - at)
        return fail(DREP_ERR_LIMIT, "the file would be larger than 2^62 bytes");
    if (at > sp->end)
        make_available(sp, sp->end, at - sp->end, 0); /* if that fails, it is slack */
    sp->end = at + size;
    *offset = at;
    return 0;
}

void space_return(struct store *st, uint64_t offset, uint64_t size)
{
    struct space *sp = &st->space;

    if (sp->committing)
        list_add(&sp->left, offset, size);
    else if (offset + size == sp->end)
        sp->end = offset;
    else
        make_available(sp, offset, size, 0);
}

int space_alloc(struct store *st, uint64_t size, uint64_t align, enum keep keep, uint64_t *offset)
{
    struct space *sp = &st->space;
    uint64_t at;
    int err = space_begin(st);

    if (err)
        return err;
    if (size > FMT_SIZE_MAX)
        return fail(DREP_ERR_LIMIT, "%llu bytes exceed the largest file", (unsigned long long)size);
    size = round_up(size ? size : 1, FMT_ALIGN);
    align = align < FMT_ALIGN ? FMT_ALIGN : align;
    if (!sp->committing && extents_fit(&sp->avail, size, align, &at))
        err = take_available(sp, at, size);
    else
        err = extend(st, size, align, &at);
    if (err)
        return err;
    err = claim(st, at, size, keep);
    if (err) {
        space_return(st, at, size);
        return err;
    }
    *offset = at;
    return 0;
}

int space_alloc_at(struct store *st, uint64_t offset, uint64_t size)
{
    struct space *sp = &st->space;
    struct extent e;

    size = round_up(size, FMT_ALIGN);
    if (size == 0)
        return 1;
    if (offset % FMT_ALIGN || space_begin(st))
        return 0;
    if (offset == sp->end) {
        if (size > FMT_SIZE_MAX - offset)
            return 0;
        sp->end += size;
    } else if (!extents_find(&sp->avail, offset, &e) || size > e.length - (offset - e.offset) ||
               take_available(sp, offset, size)) {
        return 0;
    }
    if (claim(st, offset, size, WITH_OP)) {
        space_return(st, offset, size);
        return 0;
    }
    return 1;
}

/* ---- freeing ---- */

/* How many of these bytes, from the first on, are all in the set, or all not in it: *in. */
static uint64_t alike(const struct extents *x, uint64_t offset, uint64_t size, int *in)
{
    struct extent e;
    uint64_t n;

    *in = 0;
    if (!extents_behind(x, offset, &e))
        return size;
    *in = e.offset <= offset;
    n = *in ? e.length - (offset - e.offset) : e.offset - offset;
    return n < size ? n : size;
}

/* Extents that meet may have come from anywhere: each part goes where it belongs. */
static void free_now(struct store *st, uint64_t offset, uint64_t size)
{
    struct space *sp = &st->space;
    uint64_t n;
    int own;

    for (; size > 0; offset += n, size -= n) {
        n = alike(&sp->fresh, offset, size, &own);
        if (!own)
            list_add(sp->committing ? &sp->late : &sp->freed, offset, n);
        else if (extents_take(&sp->fresh, offset, n) == 0)
            space_return(st, offset, n);
    }
}

void space_free(struct store *st, uint64_t offset, uint64_t size, enum keep keep)
{
    struct op *op = &st->op;
    uint64_t n;
    int own;

    size = round_up(size ? size : 1, FMT_ALIGN);
    if (!op->active || keep == ANYWAY) {
        free_now(st, offset, size);
        return;
    }
    for (; size > 0; offset += n, size -= n) {
        n = alike(&op->alloc, offset, size, &own);
        if (!own) /* what was there before the operation may have to come back */
            list_add(&op->freed, offset, n);
        else if (extents_take(&op->alloc, offset, n) == 0)
            free_now(st, offset, n);
    }
}

void space_trim(struct store *st)
{
    struct space *sp = &st->space;
    struct extent e;

    while (extents_last(&sp->avail, &e) && e.offset + e.length == sp->end) {
        if (take_available(sp, e.offset, e.length))
            return;
        sp->end = e.offset;
    }
}

int space_reserve(struct store *st, uint64_t want, struct extent *out)
{
    const struct extents *avail = &st->space.avail;
    struct extent e = {0, round_up(want, FMT_ALIGN)};
    int err;

    *out = (struct extent){0, 0};
    /* The lowest place that holds all, so that the end of the file becomes free; or else the
     * longest one. */
    if (!extents_fit(avail, e.length, FMT_ALIGN, &e.offset) &&
        (!extents_longest(avail, &e) || e.length < LEAST_RESERVED))
        return 0;
    err = take_available(&st->space, e.offset, e.length);
    if (!err)
        *out = e;
    return err;
}

/* ---- commits ---- */

static int by_offset(const void *a, const void *b)
{
    uint64_t x = ((const struct extent *)a)->offset, y = ((const struct extent *)b)->offset;

    return (x > y) - (x < y);
}

static void free_key(struct key *key, uint64_t offset)
{
    key_make(key, FMT_OBJECT_FILE, FMT_TAG_FREE);
    key_add_u64(key, offset);
}

static int put_free(struct store *st, uint64_t offset, uint64_t length, uint64_t sequence)
{
    struct free_rec r = {length, sequence};
    uint8_t bytes[16];
    struct key key;
    struct out out;

    free_key(&key, offset);
    out_init(&out, bytes, sizeof(bytes));
    free_put(&out, &r);
    return tree_put_anyway(st, &key, bytes, out.at);
}

/* The FREE entry at an offset where no extent of avail begins: it goes, unless it is of one
 * that is not available yet. */
static int drop_free(struct store *st, uint64_t offset)
{
    struct buf value = {0};
    struct free_rec r;
    struct key key;
    struct in in;
    int err;

    free_key(&key, offset);
    err = tree_get(st, &key, &value); /* first, so that nothing is copied for nothing */
    in_init(&in, value.p, err ? 0 : value.len);
    if (!err && (free_get(&in, &r) || r.sequence <= st->space.limit))
        err = tree_del_raw(st, key.p, key.len);
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int update_touched(struct store *st)
{
    struct space *sp = &st->space;
    int err = 0;

    touch_sort(sp);
    for (size_t i = 0; !err && i < sp->ntouched; i++) {
        uint64_t offset = sp->touched[i];
        struct extent e;

        if (extents_find(&sp->avail, offset, &e) && e.offset == offset)
            err = put_free(st, offset, e.length, 0);
        else
            err = drop_free(st, offset);
    }
    return err;
}

static void sort_freed(struct extent_list *l)
{
    size_t n = 0;

    if (l->n < 2)
        return;
    qsort(l->e, l->n, sizeof(*l->e), by_offset);
    for (size_t i = 1; i < l->n; i++) {
        if (l->e[n].offset + l->e[n].length == l->e[i].offset)
            l->e[n].length += l->e[i].length;
        else
            l->e[++n] = l->e[i];
    }
    l->n = n + 1;
}

/* What was freed into the tree; it may be used by later commits. */
static int publish_freed(struct store *st)
{
    struct space *sp = &st->space;
    uint64_t next = store_next_sequence(st);
    struct extent_list freed = sp->freed;
    size_t i;
    int err = 0;

    sp->freed = (struct extent_list){0}; /* changes of the tree may free nodes */
    sort_freed(&freed);
    for (i = 0; !err && i < freed.n; i++) {
        err = put_free(st, freed.e[i].offset, freed.e[i].length, next);
        if (!err) /* where memory is short, only the next handle will see that it is free */
            later_add(&sp->later, freed.e[i].offset, freed.e[i].length, next);
    }
    for (i = err ? i - 1 : i; i < freed.n; i++)
        list_add(&sp->freed, freed.e[i].offset, freed.e[i].length);
    list_release(&freed);
    return err;
}

/* Those that were freed too late for the tree before. */
static int publish_pending(struct store *st)
{
    struct later_list *p = &st->space.pending;
    int err = 0;

    while (!err && p->n) {
        struct later l = p->e[p->n - 1];

        err = put_free(st, l.offset, l.length, l.sequence);
        if (!err)
            later_add(&st->space.later, l.offset, l.length, l.sequence);
        p->n -= !err;
    }
    return err;
}

/* Older ones first: `later` is in the order of their sequence numbers. */
static int publish(struct store *st)
{
    int err = publish_pending(st);

    return err ? err : publish_freed(st);
}

int space_publish(struct store *st)
{
    int err;

    st->space.committing = 1; /* the changes below free nodes */
    err = update_touched(st);
    return err ? err : publish(st);
}

void space_relieve(struct store *st)
{
    struct fail_state why;

    if (st->failed)
        return;
    fail_save(&why);
    if (space_begin(st) == 0)
        publish(st); /* what remains is tried again */
    fail_restore(&why);
}

void space_committed(struct store *st)
{
    struct space *sp = &st->space;
    struct extent_list left = sp->left;

    /* Wherever memory is short, bytes become slack that no list names; nothing is lost. */
    for (size_t i = 0; i < sp->late.n; i++)
        later_add(&sp->pending, sp->late.e[i].offset, sp->late.e[i].length, st->slot.sequence);
    sp->late.n = 0;
    sp->ntouched = 0;
    sp->committing = 0;
    sp->ready = 0;
    extents_release(&sp->fresh);
    sp->left = (struct extent_list){0};
    for (size_t i = 0; i < left.n; i++)
        make_available(sp, left.e[i].offset, left.e[i].length, 0);
    list_release(&left);
}

void space_failed(struct store *st)
{
    struct space *sp = &st->space;
    struct extent_list left = sp->left;

    for (size_t i = 0; i < sp->late.n; i++)
        list_add(&sp->freed, sp->late.e[i].offset, sp->late.e[i].length);
    sp->late.n = 0;
    sp->committing = 0;
    sp->left = (struct extent_list){0};
    for (size_t i = 0; i < left.n; i++)
        space_return(st, left.e[i].offset, left.e[i].length);
    list_release(&left);
}
