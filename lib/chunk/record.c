/* record.c - runs as the tree has them: consecutive chunks that one record describes.
 *
 * A record that comes from the file is checked against the file's end before memory is allocated
 * for it, and the number of its checksums against its chunks. */
#include "chunk/record.h"

#include "base/error.h"
#include "base/mem.h"
#include "tree/block.h"
#include "tree/edit.h"
#include "tree/walk.h"

void chunk_key(const struct chunks *cs, const uint64_t *coord, struct key *key)
{
    key_make(key, cs->object, FMT_TAG_CHUNK);
    for (int d = 0; d < cs->rank; d++)
        key_add_u64(key, coord[d]);
}

void run_key(const struct chunk_run *r, struct key *key)
{
    key_make(key, r->object, FMT_TAG_CHUNK);
    for (int d = 0; d < r->rank; d++)
        key_add_u64(key, r->coord[d]);
}

int chunk_entry(const struct chunks *cs, const struct key *key, const struct buf *value,
                uint64_t *coord, struct chunk_rec *rec)
{
    struct in in;

    if (key->len != 9 + 8 * (size_t)cs->rank)
        return fail(DREP_ERR_FORMAT, "a chunk's key of %zu bytes (R4.19)", key->len);
    in_init(&in, value->p, value->len);
    if (chunk_get(&in, rec))
        return fail(in.err, "chunk record: %s", in.why);
    for (int d = 0; d < cs->rank; d++)
        coord[d] = key_u64(key->p + 9 + 8 * (size_t)d);
    return 0;
}

/* ---- loading ---- */

void run_unload(struct chunk_run *r)
{
    mem_free(r->heap);
    mem_free(r->base_sum);
    buf_release(&r->tail);
    r->heap = NULL;
    r->base_sum = NULL;
}

void run_unref(struct chunk_run *r)
{
    if (!r || atomic_fetch_sub(&r->refs, 1) != 1)
        return;
    run_unload(r);
    mem_free(r);
}

static int sums_load(struct store *st, struct chunk_run *r)
{
    uint64_t n = chunk_sums(r->rec.run, r->rec.size);
    struct buf block = {0};
    uint32_t count = 0;
    int err = block_load(st, &r->rec.sums, FMT_SUMS, &block, &count);

    if (!err && (count != n || block.len != 8 * n))
        err = fail(DREP_ERR_FORMAT, "block of sums at byte %llu: %u sums, not %llu (R8.26)",
                   (unsigned long long)r->rec.sums.offset, count, (unsigned long long)n);
    if (!err) {
        r->heap = mem_array(n, sizeof(*r->heap));
        if (!r->heap)
            err = DREP_ERR_NOMEM;
    }
    for (size_t i = 0; !err && i < n; i++)
        r->heap[i] = key_u64(block.p + 8 * i);
    r->room = err ? 0 : (size_t)n;
    r->sum = r->heap;
    buf_release(&block);
    return err;
}

int run_load(struct store *st, const struct chunk_rec *rec, struct chunk_run *r)
{
    uint64_t end = store_end(st), bytes;

    r->rec = *rec;
    r->rec.tail = (struct span){NULL, 0};
    r->heap = NULL;
    r->base_sum = NULL;
    r->tail = (struct buf){0};
    r->sum = r->rec.sum;
    r->room = FMT_SUMS_INLINE;
    bytes = rec->size * rec->run; /* chunk_get() saw to it that this is possible */
    if (rec->offset > end || bytes > end - rec->offset)
        return fail(DREP_ERR_FORMAT, "chunks at byte %llu lie outside the file (R2.14)",
                    (unsigned long long)rec->offset);
    r->space = round_up(bytes ? bytes : 1, FMT_ALIGN);
    if (rec->tail.len) {
        int err = buf_set(&r->tail, rec->tail.p, rec->tail.len);

        if (err)
            return err;
    }
    if (!rec->far)
        return 0;
    return sums_load(st, r);
}

int run_reserve(struct chunk_run *r, uint64_t sums)
{
    uint64_t *heap;
    size_t room;

    if (sums <= r->room)
        return 0;
    if (sums > SIZE_MAX / 16)
        return fail(DREP_ERR_LIMIT, "%llu sums of one run (R8.26)", (unsigned long long)sums);
    room = (size_t)sums + (size_t)sums / 2;
    heap = mem_resize(r->heap, room, sizeof(*heap));
    if (!heap)
        return DREP_ERR_NOMEM;
    if (!r->heap)
        memcpy(heap, r->rec.sum, sizeof(r->rec.sum));
    r->heap = heap;
    r->sum = heap;
    r->room = room;
    return 0;
}

/* ---- into the tree ---- */

/* Checksums that do not fit into the record go to a block of their own, which is never changed
 * in place either. */
static int write_sums(struct store *st, struct chunk_rec *rec, const uint64_t *sums, uint64_t n,
                      enum keep keep)
{
    struct buf b = {0};
    struct out out;
    uint64_t offset;
    int err;

    buf_out(&b, &out);
    for (uint64_t i = 0; i < n; i++)
        out_u64(&out, sums[i]);
    err = buf_done(&b, &out);
    if (!err)
        err = space_alloc(st, FMT_BLOCK_HEAD + 8 * n, FMT_ALIGN, keep, &offset);
    if (!err) {
        err = block_write(st, FMT_SUMS, (uint32_t)n, b.p, b.len, offset, &rec->sums);
        if (err)
            space_free(st, offset, FMT_BLOCK_HEAD + 8 * n, keep);
    }
    buf_release(&b);
    return err;
}

static int put_record(struct store *st, const struct chunk_run *r, const struct chunk_rec *rec,
                      enum keep keep)
{
    struct buf b = {0};
    struct key key;
    struct out out;
    int err;

    run_key(r, &key);
    buf_out(&b, &out);
    chunk_put(&out, rec);
    err = buf_done(&b, &out);
    if (!err)
        err =
            keep == ANYWAY ? tree_put_anyway(st, &key, b.p, b.len) : tree_put(st, &key, b.p, b.len);
    buf_release(&b);
    return err;
}

/* `n` chunks of `size` bytes with these sums, as the record of run r. */
int run_store_as(struct store *st, const struct chunk_run *r, uint32_t n, uint64_t size,
                 const uint64_t *sums, enum keep keep, struct ref *where)
{
    struct chunk_rec rec = r->rec;
    uint64_t count = rec.filtered ? 1 : chunk_sums(n, size);
    int err = 0;

    rec.run = n;
    rec.size = size;
    rec.far = count > FMT_SUMS_INLINE;
    rec.tail = (struct span){r->tail.p, r->tail.len};
    rec.sums = (struct ref){0, 0, 0};
    rec.nsums = rec.far ? 0 : (uint32_t)count;
    if (rec.far)
        err = write_sums(st, &rec, sums, count, keep);
    else
        memmove(rec.sum, sums, (size_t)count * sizeof(*sums));
    if (err)
        return err;
    err = put_record(st, r, &rec, keep);
    if (err && rec.far)
        space_free(st, rec.sums.offset, rec.sums.length, keep);
    if (!err)
        *where = rec.sums;
    return err;
}

int run_store(struct store *st, const struct chunk_run *r, enum keep keep)
{
    struct ref where;

    return run_store_as(st, r, r->rec.run, r->rec.size, r->sum, keep, &where);
}

static void free_record(struct store *st, const struct chunk_rec *from)
{
    struct chunk_rec rec = *from;
    struct ref sums = rec.sums;
    struct chunk_run r;

    rec.far = 0;
    if (run_load(st, &rec, &r) == 0) {
        space_free(st, rec.offset, r.space, WITH_OP);
        if (sums.length && sums.offset < store_end(st) &&
            sums.length <= store_end(st) - sums.offset)
            space_free(st, sums.offset, sums.length, WITH_OP);
    }
    run_unload(&r);
}

int records_remove_all(struct chunks *cs)
{
    struct buf value = {0};
    struct tree_walk w;
    struct key key;
    int err = 0;

    key_make(&key, cs->object, FMT_TAG_CHUNK);
    tree_walk(&w, cs->st, &key, key.len);
    while (!err && !(err = tree_next(&w, &key, &value))) {
        struct chunk_rec rec;
        struct in in;

        in_init(&in, value.p, value.len);
        /* Space of a malformed record stays allocated: slack. */
        if (chunk_get(&in, &rec) == 0)
            free_record(cs->st, &rec);
        err = tree_del(cs->st, &key);
    }
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}
