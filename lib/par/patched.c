/* patched.c - plain chunks that all ranks together write in part. */
/* SPDX-License-Identifier: MIT */
#include "par/patched.h"

#include "base/mem.h"
#include "chunk/payload.h"
#include "chunk/read.h"
#include "elem/fill.h"
#include "elem/mover.h"

#include <string.h>

#define BLOCK FMT_SUM_BLOCK
#define READ_MAX ((uint64_t)1 << 20) /* bytes that are read at once */

/* How much of a block is written. */
enum {
    BLOCK_STAYS,
    BLOCK_PART, /* some of it is what the file has, or fill */
    BLOCK_FULL  /* all of it is written */
};

/* ---- elements ---- */

static int mark_run(void *ctx, int64_t at, int64_t step, int64_t n, const uint8_t *from)
{
    (void)from;
    elements_mark(ctx, at, step, n);
    return 0;
}

/* Mark what this rank and others write. */
static int mark_all(const struct patched *p, int64_t room)
{
    const struct owning *m = p->m;
    const struct share *own = p->o->own;
    int err = 0;

    for (size_t i = 0; own && i < own->runs; i++) {
        const struct share_run *r = &m->shares->run[own->first + i];

        elements_mark(p->bits, r->at, r->step, r->n);
    }
    for (size_t i = 0; !err && i < p->o->npieces; i++)
        err = piece_runs(m->t->ds, &m->piece[p->o->piece + i], room, mark_run, p->bits);
    return err;
}

/* The first element from `at` on that is written, or is not; `end`: none before that. */
static int64_t next_element(const uint64_t *bits, int64_t at, int64_t end, bool written)
{
    uint64_t flip = written ? 0 : UINT64_MAX, word;

    while (at < end) {
        word = (bits[at / 64] ^ flip) >> at % 64;
        if (word) {
            at += __builtin_ctzll(word);
            return at < end ? at : end;
        }
        at = (at / 64 + 1) * 64;
    }
    return end;
}

static int64_t last_element(const uint64_t *bits, int64_t room)
{
    for (int64_t i = (room - 1) / 64; i >= 0; i--)
        if (bits[i])
            return i * 64 + 63 - __builtin_clzll(bits[i]);
    return -1;
}

static int64_t room_of(const struct patched *p)
{
    return (int64_t)(p->o->fixed / (uint64_t)p->m->t->ds->esize);
}

/* ---- blocks ---- */

static bool names_members(const struct patched *p)
{
    bool members = p->o->own && (p->m->t->conv.ranges || p->o->own->ranges);

    for (size_t i = 0; i < p->o->npieces; i++)
        members |= p->m->piece[p->o->piece + i].ranges.n > 0;
    return members;
}

/* Find out what the elements of a block make of it. */
static uint8_t block_of(const struct patched *p, uint64_t block, bool members)
{
    uint64_t es = (uint64_t)p->m->t->ds->esize, from = block * BLOCK, to = from + BLOCK;
    int64_t first, end;

    to = to < p->o->size ? to : p->o->size;
    first = (int64_t)(from / es);
    end = (int64_t)((to - 1) / es + 1);
    if (next_element(p->bits, first, end, true) == end)
        return BLOCK_STAYS;
    return members || next_element(p->bits, first, end, false) < end ? BLOCK_PART : BLOCK_FULL;
}

/* Patches cover holes of up to a block, and all behind the old end. */
static void cover_holes(struct patched *p)
{
    for (uint64_t i = 1; i + 1 < p->blocks; i++)
        if (p->block[i - 1] != BLOCK_STAYS && p->block[i + 1] != BLOCK_STAYS &&
            p->block[i] == BLOCK_STAYS)
            p->block[i] = BLOCK_PART;
    for (uint64_t i = p->o->old / BLOCK; p->o->size > p->o->old && i < p->blocks; i++)
        if (p->block[i] == BLOCK_STAYS)
            p->block[i] = BLOCK_PART;
}

/* Find the size of the chunk, before and after. */
static int find_sizes(const struct patched *p, struct owned *o)
{
    drep_dataset *ds = p->m->t->ds;
    uint64_t coord[DREP_MAX_RANK], end;
    int err;

    chunk_coord(&ds->rec, o->chunk, coord);
    err = chunk_size(&ds->chunks, coord, &o->old);
    end = bytes_of(ds, last_element(p->bits, room_of(p)) + 1);
    o->size = o->old > end ? o->old : end;
    o->measured = true;
    return err;
}

int patched_begin(struct patched *p, const struct owning *m, struct owned *o)
{
    bool members;
    int err;

    *p = (struct patched){.m = m, .o = o};
    p->bits = mem_zalloc((uint64_t)room_of(p) / 64 + 1, sizeof *p->bits);
    if (!p->bits)
        return fail_nomem();
    err = mark_all(p, room_of(p));
    if (!err && !o->measured)
        err = find_sizes(p, o);
    if (err)
        return err;
    p->blocks = sums_of(o->size);
    p->block = mem_zalloc(p->blocks + 1, 1);
    if (!p->block)
        return fail_nomem();
    members = names_members(p);
    for (uint64_t i = 0; i < p->blocks; i++)
        p->block[i] = block_of(p, i, members);
    cover_holes(p);
    return 0;
}

void patched_release(struct patched *p)
{
    mem_free(p->bits);
    mem_free(p->block);
    *p = (struct patched){.m = NULL};
}

/* ---- bringing together ---- */

/* Read bytes [from, to) of what the file has. */
static int read_old(const struct patched *p, uint64_t place, uint64_t from, uint64_t to,
                    uint8_t *bytes)
{
    drep_dataset *ds = p->m->t->ds;
    uint64_t coord[DREP_MAX_RANK], have = to - from;
    int err;

    if (place)
        return payload_raw(ds->file->st, bytes + from, (size_t)(to - from), place + from);
    chunk_coord(&ds->rec, p->o->chunk, coord);
    err = chunk_read(&ds->chunks, coord, from, to - from, bytes + from, &have);
    if (!err && have < to - from)
        err = fail(DREP_ERR_FAILED, "%llu bytes of %llu", (unsigned long long)have,
                   (unsigned long long)(to - from));
    return err;
}

/* Step to the next stretch of blocks, at most so many bytes, that are what is asked for. */
static bool next_blocks(const struct patched *p, bool part, uint64_t most, uint64_t *from,
                        uint64_t *to)
{
    uint64_t i = *to / BLOCK + (*to % BLOCK != 0), first;

    while (i < p->blocks && (part ? p->block[i] != BLOCK_PART : p->block[i] == BLOCK_STAYS))
        i++;
    for (first = i; i < p->blocks && (i - first) * BLOCK < most &&
                    (part ? p->block[i] == BLOCK_PART : p->block[i] != BLOCK_STAYS);)
        i++;
    *from = first * BLOCK;
    *to = i * BLOCK < p->o->size ? i * BLOCK : p->o->size;
    return first < i;
}

bool patched_next(const struct patched *p, uint64_t *from, uint64_t *to)
{
    return next_blocks(p, false, UINT64_MAX, from, to);
}

int patched_bring(const struct patched *p, uint64_t place, struct buf *room)
{
    const struct owning *m = p->m;
    drep_dataset *ds = m->t->ds;
    uint64_t old = p->o->old, from, to = 0;
    int err = buf_reserve(room, p->o->fixed > p->o->size ? p->o->fixed : p->o->size);

    if (!err && prog_gaps(&ds->ft->stored))
        memset(room->p, 0, (size_t)p->o->size);
    while (!err && next_blocks(p, true, READ_MAX, &from, &to)) {
        uint64_t stored = to < old ? to : old;

        if (from < stored)
            err = read_old(p, place, from, stored, room->p);
        stored = from > old ? from : old;
        if (!err && stored < to)
            err = fill_bytes(ds, room->p + stored, stored, to - stored);
    }
    return err ? err
               : chunk_assemble(m->t, m->shares, p->o->own, m->rank, m->piece + p->o->piece,
                                p->o->npieces, GROUND_STORED, room->p, p->o->fixed);
}

bool patched_stretch(const struct patched *p, int64_t *from, int64_t *to)
{
    int64_t room = room_of(p), gap = BLOCK / p->m->t->ds->esize, next;

    *from = next_element(p->bits, *to, room, true);
    if (*from == room)
        return false;
    *to = next_element(p->bits, *from, room, false);
    while ((next = next_element(p->bits, *to, room, true)) < room && next - *to <= gap)
        *to = next_element(p->bits, next, room, false);
    return true;
}
