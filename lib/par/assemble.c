/* assemble.c - ranks that have changed different things bring their changes together.
 *
 * Each rank sends its changes along a tree, on whose way equal ones become one.  Rank 0 merges them
 * (merge.h) and tells each rank the ids of the objects that it has made. */
/* SPDX-License-Identifier: MIT */
#include "par/assemble.h"

#include "par/merge.h"
#include "base/mem.h"
#include "base/vec.h"
#include "par/settle.h"

#include <string.h>

/* ---- messages on the way ---- */

/* A block is a sum of changes, the number of ranks that made them, the size of the changes, the
 * ranks and the changes; without the latter where an earlier block has them.  The sum LIKE_FIRST is
 * of rank 0's. */
enum { BLOCK_HEAD = 20 };
#define LIKE_FIRST 0
#define ELSEWHERE UINT64_MAX

static size_t block_size(const uint8_t *p)
{
    uint64_t size = load_u64(p + 12);

    return (size_t)(BLOCK_HEAD + 4 * (uint64_t)load_u32(p + 8) + (size == ELSEWHERE ? 0 : size));
}

static int block_put(struct buf *b, uint64_t sum, uint32_t rank, const struct buf *changes)
{
    uint8_t head[BLOCK_HEAD + 4];
    int err;

    store_u64(head, sum);
    store_u32(head + 8, 1);
    store_u64(head + 12, changes ? changes->len : ELSEWHERE);
    store_u32(head + BLOCK_HEAD, rank);
    err = buf_add(b, head, sizeof head);
    return err || !changes ? err : buf_add(b, changes->p, changes->len);
}

/* Find the block that has the changes of this sum. */
static bool has_changes(const struct buf *b, uint64_t sum)
{
    for (size_t at = 0; at < b->len; at += block_size(b->p + at))
        if (load_u64(b->p + at) == sum && load_u64(b->p + at + 12) != ELSEWHERE)
            return true;
    return false;
}

/* Append the blocks of later ranks, each change once. */
static int merge_blocks(void *ctx, struct buf *mine, const void *theirs, size_t size)
{
    const uint8_t *p = theirs, *end = p + size;
    int err = 0;

    (void)ctx;
    for (; !err && p < end; p += block_size(p)) {
        size_t at = mine->len, head = BLOCK_HEAD + 4 * (size_t)load_u32(p + 8);
        bool known = load_u64(p + 12) != ELSEWHERE && has_changes(mine, load_u64(p));

        err = buf_add(mine, p, known ? head : block_size(p));
        if (!err && known)
            store_u64(mine->p + at + 12, ELSEWHERE);
    }
    return err;
}

/* ---- rank 0 ---- */

/* The changes of groups of ranks that made the same, and the group of each rank. */
struct gathered {
    struct buf own, blocks;
    struct changes *all;
    uint64_t *sum;
    size_t n, room, sum_room;
    const struct changes **of; /* NULL: the rank has none */
};

static int gathered_add(struct gathered *g, uint64_t sum, int rank, const uint8_t *p, size_t size,
                        uint64_t first_new)
{
    if (VEC_ROOM(g->all, g->n, g->room, 1) || VEC_ROOM(g->sum, g->n, g->sum_room, 1))
        return fail_nomem();
    g->all[g->n] = (struct changes){.rank = rank, .highest = rank};
    g->sum[g->n] = sum;
    return changes_get(p, size, first_new, &g->all[g->n++]);
}

/* The list of groups has its place by now. */
static int groups_of_ranks(struct gathered *g, int size)
{
    g->of = mem_zalloc((size_t)size, sizeof(struct changes *));
    if (!g->of)
        return fail_nomem();
    g->of[0] = g->all;
    for (size_t at = 0; at < g->blocks.len; at += block_size(g->blocks.p + at)) {
        const uint8_t *p = g->blocks.p + at;
        uint64_t sum = load_u64(p);
        size_t i = 0;

        while (sum != LIKE_FIRST && i < g->n - 1 && g->sum[i] != sum)
            i++;
        for (uint32_t k = 0; k < load_u32(p + 8); k++) {
            uint32_t r = load_u32(p + BLOCK_HEAD + 4 * k) % (uint32_t)size;

            g->of[r] = &g->all[i];
            if ((int)r > g->all[i].highest)
                g->all[i].highest = (int)r;
        }
    }
    return 0;
}

static int read_blocks(drep_file *f, struct gathered *g)
{
    uint64_t first_new = ranks_first_new(f);
    int err = changes_put(f, &g->own);

    if (!err)
        err = gathered_add(g, LIKE_FIRST, 0, g->own.p, g->own.len, first_new);
    for (size_t at = 0; !err && at < g->blocks.len; at += block_size(g->blocks.p + at)) {
        const uint8_t *p = g->blocks.p + at;
        size_t head = BLOCK_HEAD + 4 * (size_t)load_u32(p + 8);

        if (load_u64(p + 12) != ELSEWHERE)
            err = gathered_add(g, load_u64(p), (int)load_u32(p + BLOCK_HEAD), p + head,
                               (size_t)load_u64(p + 12), first_new);
    }
    return err ? err : groups_of_ranks(g, ranks_of(f)->team.size);
}

/* The ids of datasets that wait, in the merged file. */
static int translate_waiting(drep_file *f, struct gathered *g, const struct team_said *told,
                             struct buf *waiting)
{
    const uint64_t *at = told->at;
    uint8_t bytes[8];
    uint64_t id;
    int err = 0;

    for (int r = 0; !err && r < ranks_of(f)->team.size; r++)
        for (uint64_t k = at[r] + DIGEST_SIZE; !err && k < at[r + 1]; k += 8) {
            err = merge_written(f, g->all, g->n, g->of[r], r, load_u64(told->all.p + k), &id);
            store_u64(bytes, id);
            if (!err)
                err = buf_add(waiting, bytes, sizeof bytes);
        }
    settle_sort(waiting);
    return err;
}

/* Merge, and describe the datasets that wait. */
static int merge_gathered(drep_file *f, struct gathered *g, const struct team_said *told,
                          struct assembled *a, struct buf *described)
{
    int err = read_blocks(f, g);

    if (!err)
        err = operation_begin(f);
    if (err)
        return err;
    a->merging = true;
    err = merge_changes(f, g->all, g->n);
    if (!err)
        err = translate_waiting(f, g, told, &a->waiting);
    for (size_t i = 0; !err && i < a->waiting.len; i += 8)
        err = foreign_put(f, load_u64(a->waiting.p + i), described);
    return err;
}

/* A code, the number of datasets, and their descriptions or a message. */
static int reply_put(int err, const struct assembled *a, const struct buf *described, struct buf *b)
{
    uint8_t head[12];
    char why[FAIL_PACKED];
    int failed;

    store_u32(head, (uint32_t)err);
    store_u64(head + 4, a->waiting.len / 8);
    failed = buf_add(b, head, sizeof head);
    if (failed)
        return failed;
    return err ? buf_add(b, why, fail_pack(fail_last(), why, sizeof why))
               : buf_add(b, described->p, described->len);
}

/* The pairs of ids for each rank; rank 0 and those like it have the final ones. */
static int pairs_put(const struct gathered *g, int size, struct buf *b, uint64_t *at)
{
    int err = 0;

    for (int r = 0; !err && r < size; r++) {
        const struct changes *c = g->of[r];
        uint8_t pair[16];

        at[r] = b->len;
        for (size_t i = 0; !err && c && c != g->all && i < c->nmade; i++) {
            store_u64(pair, c->made[i].own);
            store_u64(pair + 8, c->made[i].id);
            err = buf_add(b, pair, sizeof pair);
        }
    }
    at[size] = b->len;
    return err;
}

static void gathered_release(struct gathered *g)
{
    for (size_t i = 0; i < g->n; i++)
        changes_release(&g->all[i]);
    mem_free(g->all);
    mem_free(g->sum);
    mem_free(g->of);
    buf_release(&g->own);
    buf_release(&g->blocks);
}

/* ---- all ranks ---- */

static int own_block(drep_file *f, bool alike, bool none, struct buf *b)
{
    uint32_t rank = (uint32_t)ranks_of(f)->team.rank;
    struct buf changes = {0};
    int err = 0;

    if (rank == 0 || none)
        return 0;
    if (alike)
        return block_put(b, LIKE_FIRST, rank, NULL);
    err = changes_put(f, &changes);
    if (!err)
        err = block_put(b, sum_stored(changes.p, changes.len), rank, &changes);
    buf_release(&changes);
    return err;
}

static int pairs_get(const struct buf *b, struct id_pairs *ids)
{
    ids->p = mem_array(b->len / 16 + 1, sizeof *ids->p);
    if (!ids->p)
        return fail_nomem();
    for (size_t at = 0; at + 16 <= b->len; at += 16)
        ids->p[ids->n++] = (struct id_pair){load_u64(b->p + at), load_u64(b->p + at + 8)};
    return 0;
}

/* Take what rank 0 has said. */
static int learn(drep_file *f, const struct buf *reply, const struct buf *pairs,
                 struct assembled *a)
{
    struct in in;
    uint8_t id[8];
    int err = pairs_get(pairs, &a->ids);

    if (err || ranks_of(f)->team.rank == 0)
        return err;
    if ((err = operation_begin(f)))
        return err;
    a->merging = true;
    in_init(&in, reply->p, reply->len);
    in_bytes(&in, 12);
    err = foreign_get(f, &a->ids, &in, (size_t)load_u64(reply->p + 4), &a->known);
    for (size_t i = 0; !err && i < a->known.n; i++) {
        store_u64(id, a->known.ds[i]->id);
        err = buf_add(&a->waiting, id, sizeof id);
    }
    return err;
}

/* Rank 0 tells each rank its ids. */
static int spread_ids(drep_file *f, const struct gathered *g, struct buf *pairs)
{
    struct team *t = &ranks_of(f)->team;
    struct buf all = {0};
    uint64_t *at = mem_array((uint64_t)t->size + 1, sizeof *at);
    int err = at ? 0 : fail_nomem();

    if (!err && t->rank == 0)
        err = pairs_put(g, t->size, &all, at);
    err = err ? team_kill(t, err) : team_scatter(t, all.p, at, pairs);
    mem_free(at);
    buf_release(&all);
    return err;
}

/* Rank 0 tells how the merge ended, and each rank its ids where they are wanted. */
static int spread_merge(drep_file *f, struct gathered *g, int err, const struct buf *described,
                        struct assembled *a)
{
    struct team *t = &ranks_of(f)->team;
    struct team_call call = {.name = t->call};
    struct buf reply = {0}, pairs = {0};
    int lost = t->rank == 0 ? reply_put(err, a, described, &reply) : 0;
    bool waits;

    lost = lost ? team_kill(t, lost) : team_bcast(t, &reply);
    err = lost ? lost : (int)load_u32(reply.p);
    if (!lost && err)
        err = fail_unpack(err, reply.p + 12, reply.len - 12);
    waits = !err && load_u64(reply.p + 4) > 0;
    if (!err && (a->stays || waits))
        err = spread_ids(f, g, &pairs);
    if (!err) {
        call.err = learn(f, &reply, &pairs, a);
        if (waits)
            err = team_agree(t, &call);
        else
            a->failed = call.err;
    }
    buf_release(&reply);
    buf_release(&pairs);
    return err;
}

int assemble(drep_file *f, bool alike, bool none, const struct team_said *told, struct assembled *a)
{
    struct team *t = &ranks_of(f)->team;
    struct gathered g = {.n = 0};
    struct buf described = {0};
    int err = fail_prefix(own_block(f, alike, none, &g.blocks), "rank %d", t->rank);

    err = team_merge(t, err, &g.blocks, merge_blocks, NULL);
    if (t->dead == 0) {
        if (!err && t->rank == 0)
            err = merge_gathered(f, &g, told, a, &described);
        err = spread_merge(f, &g, err, &described, a);
    }
    gathered_release(&g);
    buf_release(&described);
    return err;
}

/* Ranks other than 0 undo their operations, which served the commit alone. */
int assembled_end(drep_file *f, struct assembled *a, int err)
{
    struct fail_state why;

    foreign_release(&a->known);
    if (!a->merging)
        return err;
    a->merging = false;
    if (f->st->private) {
        (void)operation_end(f, err ? err : DREP_ERR_FAILED);
        return err;
    }
    err = operation_end(f, err);
    if (err) { /* shapes may have changed in handles */
        fail_save(&why);
        (void)datasets_refresh(f);
        fail_restore(&why);
    }
    return err;
}

void assembled_release(struct assembled *a)
{
    mem_free(a->ids.p);
    buf_release(&a->waiting);
    *a = (struct assembled){.merging = false};
}
