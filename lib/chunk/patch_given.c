/* patch_given.c - patches of plain chunks whose bytes somebody else writes. */
/* SPDX-License-Identifier: MIT */
#include "chunk/patch_given.h"

#include "base/mem.h"
#include "chunk/edit.h"
#include "chunk/payload.h"
#include "chunk/places.h"
#include "tree/undo.h"

#include <string.h>

void given_sums(uint64_t *sums, struct given_payload *given, uint64_t from, uint64_t to)
{
    for (uint64_t i = from / FMT_SUM_BLOCK; i < sums_of(to); i++)
        sums[i] = given->sums[i];
    given->patched = to;
}

/* ---- chunks that move ---- */

/* Where chunks stood, and the checksums that they had. */
struct stood {
    uint64_t offset, size;
    uint64_t *sums;
};

/* Look a chunk up, of which `room` checksums fit into s->sums; size 0: it is not stored. */
static int look_chunk_up(struct chunks *cs, const uint64_t *coord, uint64_t room, struct stood *s)
{
    struct run_hit f;
    int err = run_find(cs, coord, &f);
    uint64_t each;

    s->size = 0;
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    each = sums_of(f.run->rec.size);
    if (!f.run->rec.filtered && each <= room) {
        s->size = f.run->rec.size;
        s->offset = f.run->rec.offset + f.index * s->size;
        memcpy(s->sums, f.run->sum + f.index * each, (size_t)each * sizeof *s->sums);
    }
    run_done(cs->st, &f);
    return 0;
}

int given_anew(struct chunks *cs, const uint64_t *coord, struct given_payload *given, uint64_t size,
               uint64_t room)
{
    struct stood old = {.sums = mem_zalloc(sums_of(size) + 1, sizeof *old.sums)};
    struct places p;
    int err = old.sums ? look_chunk_up(cs, coord, sums_of(size), &old) : DREP_ERR_NOMEM;

    if (!err && given->patched > 0 && !space_of_op(cs->st, old.offset, old.size)) {
        given->left_at = old.offset;
        given->left = given->patched;
    }
    if (!err) {
        err = places_begin(&p, cs, coord, 1, size);
        p.room = room;
        p.given = true;
        while (!(err = places_next(&p, err)) && p.batch > 0) {
            /* Its place; the checksums follow when those of the blocks that stay are complete. */
            uint64_t at = places_given(&p, 0, given->sums);

            err = payload_copy_summed(cs->st, old.offset, old.size, at, old.sums);
            for (uint64_t i = 0; !err && i < sums_of(size); i++)
                old.sums[i] = given->sums[i] ? given->sums[i] : old.sums[i];
            (void)places_given(&p, 0, old.sums);
        }
        err = places_end(&p, err);
    }
    mem_free(old.sums);
    return err;
}

/* ---- slabs ---- */

/* Look n slabs up; *whole: all of them are stored whole. */
static int look_slabs_up(struct chunks *cs, uint64_t first, uint64_t n, struct stood *s,
                         bool *whole)
{
    uint64_t each = sums_of(cs->payload);
    int err = 0;

    *whole = true;
    for (uint64_t i = 0; !err && *whole && i < n; i++) {
        uint64_t slab = first + i;

        s[i].sums = s[0].sums + i * each;
        err = look_chunk_up(cs, &slab, each, &s[i]);
        *whole = s[i].size == cs->payload;
    }
    return err;
}

static int move_slabs(struct chunks *cs, uint64_t first, uint64_t n, const struct stood *s)
{
    uint64_t *coords = mem_array(n, sizeof *coords);
    struct places p;
    int err = coords ? 0 : DREP_ERR_NOMEM;

    for (uint64_t i = 0; !err && i < n; i++)
        coords[i] = first + i;
    if (!err) {
        chunks_forget(cs, coords, n);
        err = places_begin(&p, cs, coords, n, cs->payload);
        p.given = true;
        while (!(err = places_next(&p, err)) && p.batch > 0)
            for (uint64_t i = 0; !err && i < p.batch; i++) {
                const struct stood *old = &s[p.first + i];

                err = payload_copy_summed(cs->st, old->offset, old->size,
                                          places_given(&p, i, old->sums), old->sums);
                (void)places_given(&p, i, old->sums);
            }
        err = places_end(&p, err);
    }
    mem_free(coords);
    return err;
}

int given_slabs(struct chunks *cs, uint64_t first, uint64_t n)
{
    struct stood *s = mem_zalloc(n, sizeof *s);
    uint64_t *sums = mem_zalloc(n * sums_of(cs->payload) + 1, sizeof *sums);
    bool whole = false;
    int err = s && sums ? 0 : DREP_ERR_NOMEM;

    if (!err) {
        s->sums = sums;
        err = look_slabs_up(cs, first, n, s, &whole);
    }
    if (!err && whole)
        err = move_slabs(cs, first, n, s);
    mem_free(s);
    mem_free(sums);
    return err;
}

/* ---- in place ---- */

/* Keep bytes for undo, in the pieces in which payload_patch() does. */
static int note_bytes(struct store *st, uint64_t at, uint64_t offset, uint64_t size)
{
    uint8_t *old = mem_alloc(PIECE_BYTES);
    int err = old ? 0 : DREP_ERR_NOMEM;

    while (!err && size > 0) {
        uint64_t now = piece_at(offset, size);

        err = payload_raw(st, old, (size_t)now, at + offset);
        if (!err)
            err = undo_image(st, at + offset, old, (size_t)now);
        offset += now;
        size -= now;
    }
    mem_free(old);
    return err;
}

int given_over(struct store *st, struct chunk_run *r, uint32_t index, uint64_t offset,
               uint64_t size, struct given_payload *given, bool noted)
{
    uint64_t at = r->rec.offset + index * r->rec.size;
    int err = noted ? note_bytes(st, at, offset, size) : 0;

    if (!err)
        given_sums(r->sum + index * sums_of(r->rec.size), given, offset, offset + size);
    return err;
}
