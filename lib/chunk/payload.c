/* payload.c - moving payload between memory and the file, and checking it against its checksums.
 *
 * A part of a chunk is read with all of the 4 KiB blocks it touches, because only those have
 * checksums. */
/* SPDX-License-Identifier: MIT */
#include "chunk/payload.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "chunk/target.h"
#include "space/fetch.h"
#include "space/slots.h"
#include "tree/undo.h"

#include <string.h>

#define BLOCK FMT_SUM_BLOCK
#define PIECE_BLOCKS (PIECE_BYTES / BLOCK)
#define SMALL ((size_t)16 << 10)  /* a part that goes through the stack */
#define BOUNCE ((size_t)64 << 10) /* one that goes through a buffer */

/* The io that has bytes of payload: those of a private store are not in the file. */
static struct io *payload_io(const struct store *st, uint64_t offset)
{
    return st->payload && offset < IO_PRIVATE ? st->payload : st->io;
}

int payload_raw(const struct store *st, void *p, size_t size, uint64_t offset)
{
    struct io *io = payload_io(st, offset);

    return io->ops->read_at(io, p, size, offset);
}

static int mismatch(struct store *st, uint64_t offset)
{
    return store_stale(st, fail_byte(DREP_ERR_CHECKSUM, offset,
                                     "checksum mismatch (R8.29) at byte %llu",
                                     (unsigned long long)offset));
}

static bool all_absent(const uint64_t *sums, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (sums[i])
            return false;
    }
    return true;
}

/* Number of the first sum that differs from the real one, or n; absent ones promise nothing. */
static size_t first_wrong(const uint64_t *real, const uint64_t *sums, size_t n)
{
    size_t i = 0;

    while (i < n && (real[i] == sums[i] || !sums[i]))
        i++;
    return i;
}

/* Compare bytes with their checksums.  *bad: offset of the first block that differs, from p. */
static bool agrees(const uint8_t *p, size_t size, const uint64_t *sums, uint64_t *bad)
{
    uint64_t real[PIECE_BLOCKS];

    *bad = 0;
    while (size > 0) {
        size_t n = size < PIECE_BYTES ? size : PIECE_BYTES;
        size_t blocks = (size_t)sums_of(n), wrong = blocks;

        if (!all_absent(sums, blocks)) {
            sum_blocks(p, n, real);
            wrong = first_wrong(real, sums, blocks);
        }
        if (wrong < blocks) {
            *bad += wrong * BLOCK;
            return false;
        }
        p += n;
        size -= n;
        sums += blocks;
        *bad += n;
    }
    return true;
}

/* Read and verify at most a piece that the system would copy slowly to p: it goes `shift` bytes
 * further up, and comes down while it is summed.  Its end, for which there is no room up there, has
 * its own. */
static int read_shifted(struct store *st, uint8_t *p, size_t size, const uint64_t *sums,
                        uint64_t offset, size_t shift)
{
    size_t head = size - shift, whole = head / BLOCK * BLOCK, blocks = (size_t)sums_of(size), wrong;
    uint64_t real[PIECE_BLOCKS];
    uint8_t tail[IO_SHIFT_MAX];
    const struct io_range range[2] = {{offset, head, p + shift}, {offset + head, shift, tail}};
    int err = io_read_many(payload_io(st, offset), range, 2);

    if (err)
        return err;
    sum_blocks_moved(p, p + shift, whole, real);
    memmove(p + whole, p + shift + whole, head - whole);
    memcpy(p + head, tail, shift);
    sum_blocks(p + whole, size - whole, real + whole / BLOCK);
    wrong = first_wrong(real, sums, blocks);
    return wrong < blocks ? mismatch(st, offset + wrong * BLOCK) : 0;
}

/* Read blocks and, with `check`, verify them.  Bytes that were fetched count only if they need no
 * check or pass it. */
static int read_summed(struct store *st, uint8_t *p, size_t size, const uint64_t *sums,
                       uint64_t offset, int check)
{
    const struct io_ops *ops = payload_io(st, offset)->ops;
    size_t shift;
    uint64_t bad;
    int err;

    if (fetch_lends(st) && fetch_take(st, FETCH_PAYLOAD, p, size, offset) &&
        (!check || agrees(p, size, sums, &bad)))
        return 0;
    shift = check && ops->shift && size <= PIECE_BYTES ? ops->shift(p, size, offset) : 0;
    if (shift)
        return read_shifted(st, p, size, sums, offset, shift);
    err = payload_raw(st, p, size, offset);
    if (!err && check && !agrees(p, size, sums, &bad))
        err = mismatch(st, offset + bad);
    return err;
}

/* Length of the stretches of a run whose blocks follow each other without a short one between:
 * all n chunks, or each by itself. */
static uint64_t stretch(uint64_t n, uint64_t size, uint64_t *count)
{
    int whole = size % BLOCK == 0 || n == 1;

    *count = whole ? 1 : n;
    return whole ? n * size : size;
}

/* ---- writing ---- */

/* Compute the checksums of bytes that are about to be written, or leave them out. */
static void sum_new(const struct store *st, const uint8_t *p, size_t size, uint64_t *sums)
{
    if (st->opts.deferred)
        memset(sums, 0, (size_t)sums_of(size) * sizeof(*sums));
    else
        sum_blocks(p, size, sums);
}

/* Write small chunks of odd size, several at once. */
static int write_small(struct store *st, const uint8_t *p, uint64_t n, uint64_t size,
                       uint64_t offset, uint64_t *sums)
{
    uint64_t most = PIECE_BYTES / size;
    int err = 0;

    while (!err && n > 0) {
        uint64_t now = n < most ? n : most;

        for (uint64_t i = 0; i < now; i++) {
            sum_new(st, p + i * size, (size_t)size, sums);
            sums += sums_of(size);
        }
        err = st->io->ops->write_at(st->io, p, (size_t)(now * size), offset);
        p += now * size;
        offset += now * size;
        n -= now;
    }
    return err;
}

int payload_write(struct store *st, const uint8_t *p, uint64_t n, uint64_t size, uint64_t offset,
                  uint64_t *sums)
{
    uint64_t count, bytes = stretch(n, size, &count);
    int err = 0;

    if (size == 0)
        return 0;
    if (count > 1 && size <= PIECE_BYTES)
        return write_small(st, p, n, size, offset, sums);
    for (uint64_t i = 0; !err && i < count; i++) {
        uint64_t left = bytes;

        while (!err && left > 0) {
            size_t now = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;

            sum_new(st, p, now, sums);
            err = st->io->ops->write_at(st->io, p, now, offset);
            p += now;
            offset += now;
            sums += sums_of(now);
            left -= now;
        }
    }
    return err;
}

int payload_append(struct store *st, const uint8_t *p, uint64_t have, uint64_t size,
                   uint64_t offset, uint64_t *sums)
{
    size_t block = size < BLOCK ? (size_t)size : BLOCK;
    int err;

    if (have >= BLOCK || have == 0)
        return payload_write(st, p, 1, size, offset, sums);
    sum_new(st, p, block, sums);
    err = st->io->ops->write_at(st->io, p + have, block - (size_t)have, offset + have);
    if (!err && size > block)
        err = payload_write(st, p + block, 1, size - block, offset + block, sums + 1);
    return err;
}

/* ---- reading whole chunks ---- */

static int read_stretch(struct store *st, uint8_t *p, uint8_t *scratch, uint64_t bytes,
                        uint64_t offset, const uint64_t *sums)
{
    /* Pieces are verified while they are in the processor's cache, unless a read costs more. */
    uint64_t most = p && st->fetch->most > PIECE_BYTES ? st->fetch->most : PIECE_BYTES;
    int err = 0;

    most = most / BLOCK * BLOCK;
    while (!err && bytes > 0) {
        size_t now = bytes < most ? (size_t)bytes : (size_t)most;
        uint8_t *to = p ? p : scratch;

        /* A caller that takes no bytes wants them verified. */
        err = read_summed(st, to, now, sums, offset, st->opts.verify || !p);
        p = p ? p + now : NULL;
        offset += now;
        sums += sums_of(now);
        bytes -= now;
    }
    return err;
}

int payload_read(struct store *st, const struct chunk_run *r, uint32_t index, uint32_t n,
                 uint8_t *p)
{
    uint64_t size = r->rec.size;
    uint64_t count, bytes = stretch(n, size, &count);
    uint64_t offset = r->rec.offset + index * size;
    const uint64_t *sums = r->sum + index * sums_of(size);
    uint8_t *scratch = NULL;
    int err = 0;

    if (size == 0)
        return 0;
    if (!p) {
        scratch = mem_alloc(bytes < PIECE_BYTES ? bytes : PIECE_BYTES);
        if (!scratch)
            return DREP_ERR_NOMEM;
    }
    for (uint64_t i = 0; !err && i < count; i++) {
        err = read_stretch(st, p, scratch, bytes, offset, sums);
        p = p ? p + bytes : NULL;
        offset += bytes;
        sums += sums_of(bytes);
    }
    mem_free(scratch);
    return err;
}

/* ---- parts of chunks ---- */

/* A part of a chunk, and the blocks that hold it. */
struct payload_part {
    uint64_t at;         /* of the chunk in the file */
    uint64_t from, to;   /* the part, in the chunk */
    uint64_t low, high;  /* its blocks, in the chunk */
    const uint64_t *sum; /* of the block at low */
};

static struct payload_part payload_part_of(const struct chunk_run *r, uint32_t index,
                                           uint64_t offset, uint64_t size)
{
    struct payload_part p;

    p.at = r->rec.offset + index * r->rec.size;
    p.from = offset;
    p.to = offset + size;
    p.low = offset / BLOCK * BLOCK;
    p.high = round_up(p.to, BLOCK);
    if (r->rec.size % BLOCK && p.high > r->rec.size) /* else it may go on in the next chunk */
        p.high = r->rec.size;
    p.sum = r->sum + index * sums_of(r->rec.size) + p.low / BLOCK;
    return p;
}

int payload_blocks(struct store *st, const struct chunk_run *r, uint32_t index, uint64_t from,
                   uint64_t to, uint8_t *p)
{
    const uint64_t *sums = r->sum + index * sums_of(r->rec.size) + from / BLOCK;

    return read_stretch(st, p, NULL, to - from, r->rec.offset + index * r->rec.size + from, sums);
}

/* Read all blocks of the part, verified. */
static int payload_part_read(struct store *st, const struct payload_part *p, uint8_t *room)
{
    return read_summed(st, room, (size_t)(p->high - p->low), p->sum, p->at + p->low,
                       st->opts.verify);
}

static int read_through(struct store *st, const struct payload_part *p, uint8_t *to)
{
    size_t size = (size_t)(p->high - p->low);
    uint8_t small[SMALL];
    uint8_t *room = size <= SMALL ? small : mem_alloc(size);
    int err;

    if (!room)
        return DREP_ERR_NOMEM;
    err = payload_part_read(st, p, room);
    if (!err)
        memcpy(to, room + (p->from - p->low), (size_t)(p->to - p->from));
    if (room != small)
        mem_free(room);
    return err;
}

int payload_read_part(struct store *st, const struct chunk_run *r, uint32_t index, uint64_t offset,
                      uint64_t size, uint8_t *p)
{
    struct payload_part part;
    uint64_t head, body;
    int err = 0;

    if (size == 0)
        return 0;
    part = payload_part_of(r, index, offset, size);
    if (!st->opts.verify)
        return read_summed(st, p, (size_t)size, NULL, part.at + offset, 0);
    if ((part.low != part.from || part.high != part.to) && part.high - part.low <= BOUNCE)
        return read_through(st, &part, p);
    /* Read whole blocks straight to where they belong, those at the edges through a copy. */
    head = part.low == part.from ? 0 : part.low + BLOCK - part.from;
    if (head) {
        struct payload_part edge = payload_part_of(r, index, offset, head);

        err = read_through(st, &edge, p);
    }
    body = part.to == part.high ? size - head : (part.to / BLOCK * BLOCK) - (offset + head);
    if (!err)
        err = read_stretch(st, p + head, NULL, body, part.at + offset + head,
                           part.sum + (head ? 1 : 0));
    if (!err && head + body < size) {
        struct payload_part edge =
            payload_part_of(r, index, offset + head + body, size - head - body);

        err = read_through(st, &edge, p + head + body);
    }
    return err;
}

/* ---- overwriting in place ---- */

/* Overwrite at most PIECE_BYTES of blocks.  The checksum of a block needs all of it, so partly
 * overwritten blocks are read first (and verified: damage must not get a right checksum). */
static int patch_piece(struct store *st, const struct payload_part *p, uint64_t *sums,
                       const uint8_t *from, int noted)
{
    size_t size = (size_t)(p->to - p->from), blocks = (size_t)(p->high - p->low);
    uint8_t *room;
    int err;

    if (!noted && (st->opts.deferred || (p->low == p->from && p->high == p->to))) {
        sum_new(st, from, blocks, sums);
        return st->io->ops->write_at(st->io, from, size, p->at + p->from);
    }
    room = mem_alloc(blocks);
    if (!room)
        return DREP_ERR_NOMEM;
    err = payload_part_read(st, p, room);
    if (!err && noted)
        err = undo_image(st, p->at + p->from, room + (p->from - p->low), size);
    if (!err) {
        memcpy(room + (p->from - p->low), from, size);
        sum_new(st, room, blocks, sums);
        err = st->io->ops->write_at(st->io, from, size, p->at + p->from);
    }
    mem_free(room);
    return err;
}

int payload_patch(struct store *st, struct chunk_run *r, uint32_t index, uint64_t offset,
                  uint64_t size, const uint8_t *p, int noted)
{
    int err = 0;

    while (!err && size > 0) {
        uint64_t now = piece_at(offset, size);
        struct payload_part part;

        part = payload_part_of(r, index, offset, now);
        err = patch_piece(st, &part, r->sum + (part.sum - r->sum), p, noted);
        offset += now;
        size -= now;
        p += now;
    }
    return err;
}

int payload_note(struct store *st, const struct chunk_run *r, uint32_t index, bool given)
{
    uint64_t size = r->rec.size, offset = r->rec.offset + index * size;
    uint8_t *old = mem_alloc(size ? size : 1);
    int err = old ? 0 : DREP_ERR_NOMEM;

    if (!err)
        err =
            given ? payload_raw(st, old, (size_t)size, offset) : payload_read(st, r, index, 1, old);
    if (!err)
        err = undo_image(st, offset, old, (size_t)size);
    mem_free(old);
    return err;
}

void payload_sums(const struct store *st, const uint8_t *p, size_t size, uint64_t *sums)
{
    sum_new(st, p, size, sums);
}

/* Complete the checksums of bytes that were copied. */
static void sum_copied(const struct store *st, const uint8_t *p, size_t size, uint64_t *sums)
{
    for (size_t at = 0; at < size; at += BLOCK, sums++)
        if (*sums == 0 || st->opts.deferred)
            sum_new(st, p + at, size - at < BLOCK ? size - at : BLOCK, sums);
}

int payload_copy_summed(struct store *st, uint64_t from, uint64_t size, uint64_t to, uint64_t *sums)
{
    struct buf b = {0};
    int err = buf_room(&b, size < PIECE_BYTES ? size : PIECE_BYTES);

    while (!err && size > 0) {
        size_t now = size < b.size ? (size_t)size : b.size;

        err = payload_raw(st, b.p, now, from);
        if (!err)
            err = st->io->ops->write_at(st->io, b.p, now, to);
        if (!err && sums) {
            sum_copied(st, b.p, now, sums);
            sums += sums_of(now);
        }
        from += now;
        to += now;
        size -= now;
    }
    buf_release(&b);
    return err;
}

int payload_copy(struct store *st, uint64_t from, uint64_t size, uint64_t to)
{
    return payload_copy_summed(st, from, size, to, NULL);
}

/* ---- absent checksums ---- */

uint64_t payload_absent(const struct chunk_run *r)
{
    uint64_t n = chunk_sums(r->rec.run, r->rec.size), absent = 0;

    for (uint64_t i = 0; i < n; i++)
        absent += r->sum[i] == 0;
    return absent;
}

/* Compute the absent checksums of one piece; those that are there stay, right or wrong: sealing
 * must not hide damage. */
static int seal_piece(struct store *st, uint8_t *room, size_t size, uint64_t offset, uint64_t *sums)
{
    uint64_t real[PIECE_BLOCKS];
    size_t n = (size_t)sums_of(size);
    int err;

    for (size_t i = 0; i < n && sums[i]; i++) {
        if (i + 1 == n)
            return 0;
    }
    err = payload_raw(st, room, size, offset);
    if (err)
        return err;
    sum_blocks(room, size, real);
    for (size_t i = 0; i < n; i++)
        sums[i] = sums[i] ? sums[i] : real[i];
    return 0;
}

int payload_seal(struct store *st, struct chunk_run *r)
{
    uint8_t *room = mem_alloc(PIECE_BYTES);
    uint64_t *sums = r->sum;
    int err = room ? 0 : DREP_ERR_NOMEM;

    for (uint32_t i = 0; !err && i < r->rec.run; i++) {
        uint64_t at = r->rec.offset + i * r->rec.size, left = r->rec.size;

        while (!err && left > 0) {
            size_t now = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;

            err = seal_piece(st, room, now, at, sums);
            sums += sums_of(now);
            at += now;
            left -= now;
        }
    }
    mem_free(room);
    return err;
}

/* ---- filtered chunks ---- */

/* Like payload_filtered() for a chunk in another file, whose sum is always checked; without one the
 * file must be as old as its entry says. */
static int payload_external(struct store *st, const struct chunk_rec *rec, struct buf *out)
{
    int err = target_read(st, rec->file, rec->offset, rec->size, out);

    if (!err && rec->sum[0] == 0) {
        err = target_unchanged(st, rec->file);
        return err ? target_fail_in(st, rec->file, err) : 0;
    }
    if (!err && sum_stored(out->p, out->len) != rec->sum[0])
        err = target_fail_in(
            st, rec->file,
            fail_byte(DREP_ERR_CHECKSUM, rec->offset,
                      "%zu bytes at byte %llu have changed: checksum mismatch (R8.29)", out->len,
                      (unsigned long long)rec->offset));
    return err;
}

int payload_filtered(struct store *st, const struct chunk_rec *rec, int check, struct buf *out)
{
    uint64_t end = store_end(st);
    int err;

    if (rec->kind == FMT_CHUNK_EXTERNAL)
        return payload_external(st, rec, out);
    if (rec->offset > end || rec->size > end - rec->offset)
        return fail_byte(DREP_ERR_FORMAT, rec->offset,
                         "a chunk at byte %llu lies outside the file (R2.14)",
                         (unsigned long long)rec->offset);
    if (rec->size > SIZE_MAX)
        return fail(DREP_ERR_LIMIT, "a chunk of %llu bytes", (unsigned long long)rec->size);
    err = buf_reserve(out, rec->size);
    if (err)
        return err;
    out->len = (size_t)rec->size;
    if (fetch_lends(st) && fetch_take(st, FETCH_PAYLOAD, out->p, out->len, rec->offset) &&
        (!check || sum_stored(out->p, out->len) == rec->sum[0]))
        return 0;
    err = payload_raw(st, out->p, out->len, rec->offset);
    if (err)
        return err;
    if (check && sum_stored(out->p, out->len) != rec->sum[0])
        return mismatch(st, rec->offset);
    return 0;
}
