/* grid.c - the chunks that a dataset has, by what its record says. */
/* SPDX-License-Identifier: MIT */
#include "elem/grid.h"

#include "chunk/run_order.h"
#include "chunk/target.h"

#include <string.h>

#define PAGE ((int64_t)4096)
#define CALLED_SLAB ((int64_t)1 << 20)
#define SLAB_MAX ((int64_t)16 << 20)
#define CELL_TARGET (64 << 10)
#define CELL_MAX (256 << 10)

/* ---- counts ---- */

int64_t shape_count(const struct object_rec *rec)
{
    int64_t n = 1;

    if (rec->rank == FMT_RANK_NULL)
        return 0;
    for (int d = 0; d < rec->rank; d++)
        n *= (int64_t)rec->len[d];
    return n;
}

int64_t chunk_count(const struct object_rec *rec)
{
    int64_t n = 1;

    if (rec->layout == FMT_CONTIGUOUS)
        return (int64_t)rec->slab;
    for (int d = 0; rec->layout == FMT_CHUNKED && d < rec->rank; d++)
        if (__builtin_mul_overflow(n, (int64_t)rec->chunk[d], &n))
            return INT64_MAX;
    return n;
}

/* The greatest common divisor. */
static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t t = a % b;

        a = b;
        b = t;
    }
    return a;
}

/* Whole pages can be mapped, and need not be read before they are written. */
uint64_t slab_choose(int64_t esize, bool called)
{
    int64_t target = called ? CALLED_SLAB : PAGE;
    int64_t page = esize > 0 ? PAGE / gcd(PAGE, esize) : 1, n;

    if (esize <= 0)
        return (uint64_t)target;
    n = target / esize / page * page;
    return (uint64_t)(n > 0 ? n : page * esize <= SLAB_MAX ? page : 1);
}

/* A file may claim any shape: each product that reading will form is held against 2^62 here, once,
 * so that no other place need check. */
int shape_check(const struct object_rec *rec, const struct ftype *ft)
{
    int64_t n = 1, esize = ft->stored.extent, bytes;

    if (rec->rank == FMT_RANK_NULL)
        return 0;
    for (int d = 0; d < rec->rank; d++)
        if (rec->len[d] > (uint64_t)TYPE_SIZE_MAX ||
            (rec->len[d] != 0 && __builtin_mul_overflow(n, (int64_t)rec->len[d], &n)) ||
            n > TYPE_SIZE_MAX)
            return fail(DREP_ERR_UNSUPPORTED, FMT_BEYOND("more than 2^62 elements", "R8.1"));
    if (__builtin_mul_overflow(n, esize, &bytes) || bytes > TYPE_SIZE_MAX)
        return fail(DREP_ERR_UNSUPPORTED, FMT_BEYOND("more than 2^62 bytes", "R8.1"));
    if (rec->layout == FMT_COMPACT && bytes > FMT_COMPACT_MAX)
        return fail(DREP_ERR_UNSUPPORTED,
                    FMT_BEYOND("a compact dataset of more than 65,536 bytes", "R8.10"));
    if (rec->layout == FMT_CONTIGUOUS && rec->slab == 0)
        return fail(DREP_ERR_FORMAT, "slabs without elements (R8.5)");
    if (rec->layout == FMT_CONTIGUOUS && ft->type->variable)
        return fail(DREP_ERR_FORMAT, "a contiguous dataset of a variable-length type (R8.11)");
    if (rec->layout == FMT_CONTIGUOUS || rec->layout == FMT_CHUNKED) {
        if (rec->slab > (uint64_t)TYPE_SIZE_MAX ||
            __builtin_mul_overflow(chunk_count(rec), esize, &bytes) || bytes > TYPE_SIZE_MAX)
            return fail(DREP_ERR_UNSUPPORTED, FMT_BEYOND("chunks of more than 2^62 bytes", "R8.5"));
    }
    return 0;
}

int shape_wanted(const struct object_rec *rec, const struct ftype *ft)
{
    int err = shape_check(rec, ft);

    return err == DREP_ERR_UNSUPPORTED ? fail(DREP_ERR_LIMIT, "%s", fail_text()) : err;
}

/* ---- chunks for the store ---- */

/* Bytes of the cells in which unfiltered chunks are kept in memory: whole elements, whole blocks
 * that have sums, about 64 KiB; 0: that would be too much. */
static uint64_t cell_of(int64_t esize)
{
    int64_t unit = esize > 0 ? esize / gcd(esize, FMT_SUM_BLOCK) : 0;

    if (unit == 0 || unit > CELL_MAX / FMT_SUM_BLOCK)
        return 0;
    unit *= FMT_SUM_BLOCK;
    return (uint64_t)(unit < CELL_TARGET ? CELL_TARGET / unit * unit : unit);
}

/* True if all chunks fit into the cache: then reading one keeps it. */
static bool fits_cache(const drep_file *f, const struct object_rec *rec, uint64_t payload)
{
    uint64_t all = payload, cache = (uint64_t)f->hints.cache_size;

    if (rec->layout != FMT_CHUNKED)
        return false;
    for (int d = 0; d < rec->rank; d++) {
        uint64_t n = rec->len[d] > 0 ? (rec->len[d] - 1) / rec->chunk[d] + 1 : 0;

        if (__builtin_mul_overflow(all, n, &all))
            return false;
    }
    return all <= cache;
}

int dimension_behind(const struct object_rec *rec)
{
    int first = 0;

    if (rec->rank == 0 || rec->rank == FMT_RANK_NULL || !rec->has_max)
        return -1;
    if (rec->layout == FMT_CONTIGUOUS)
        return rec->max[0] > rec->len[0] ? 0 : -1;
    while (first < rec->rank - 1 && rec->len[first] == 1 && rec->max[first] == 1)
        first++;
    for (int d = first + 1; d < rec->rank; d++)
        if (rec->len[d] > rec->chunk[d])
            return -1;
    return rec->layout == FMT_CHUNKED && rec->max[first] > rec->len[first] ? first : -1;
}

void chunks_reshape(const drep_file *f, const struct object_rec *rec, struct chunks *cs)
{
    cs->fits = fits_cache(f, rec, cs->payload);
    cs->grows = !chunks_whole(cs) && dimension_behind(rec) >= 0;
}

void chunks_of(drep_file *f, uint64_t id, const struct object_rec *rec, int64_t esize,
               bool variable, const char *path, struct chunks *cs)
{
    int64_t bytes;

    memset(cs, 0, offsetof(struct chunks, filter));
    cs->st = f->st;
    cs->object = id;
    cs->rank = rec->layout == FMT_CHUNKED ? rec->rank : 1;
    if (__builtin_mul_overflow(chunk_count(rec), esize, &bytes))
        bytes = INT64_MAX;
    cs->payload = (uint64_t)bytes;
    cs->cell = rec->layout == FMT_CHUNKED ? cell_of(esize) : 0;
    if (rec->layout == FMT_CHUNKED)
        run_order_set(cs, rec);
    cs->slabs = rec->layout != FMT_CHUNKED;
    cs->variable = variable;
    cs->nfilters = rec->nfilters;
    cs->external = !cs->slabs && cs->nfilters == 0 && targets_any(f->st);
    memcpy(cs->filter, rec->filter, rec->nfilters * sizeof *rec->filter);
    cs->name = path;
    chunks_reshape(f, rec, cs);
}

int chunk_holding(const struct object_rec *r, const int64_t *index, uint64_t *coord, int64_t *at)
{
    uint64_t number = 0;

    if (r->rank > 0 && !index)
        return fail(DREP_ERR_ARG, "no indices");
    for (int d = 0; d < r->rank; d++) {
        if (index[d] < 0 || (uint64_t)index[d] >= r->len[d])
            return fail(DREP_ERR_RANGE, "index %lld in dimension %d; the length is %llu",
                        (long long)index[d], d, (unsigned long long)r->len[d]);
        number = number * r->len[d] + (uint64_t)index[d];
        coord[d] = r->layout == FMT_CHUNKED ? (uint64_t)index[d] / r->chunk[d] : 0;
    }
    *at = 0;
    if (r->layout == FMT_CONTIGUOUS) {
        coord[0] = number / r->slab;
        *at = (int64_t)(number % r->slab);
    }
    return 0;
}

/* ---- inside and outside ---- */

bool chunk_inside(const struct object_rec *r, const uint64_t *coord)
{
    if (r->layout == FMT_CONTIGUOUS)
        return coord[0] < ((uint64_t)shape_count(r) + r->slab - 1) / r->slab;
    for (int d = 0; d < r->rank; d++)
        if (r->len[d] == 0 || coord[d] > (r->len[d] - 1) / r->chunk[d])
            return false;
    return true;
}

uint64_t row_chunks(const struct object_rec *r)
{
    uint64_t len = r->layout == FMT_CONTIGUOUS ? (uint64_t)shape_count(r) : 0, each = r->slab;

    if (r->layout == FMT_CHUNKED && r->rank == 0)
        return 1;
    if (r->layout == FMT_CHUNKED) {
        len = r->len[r->rank - 1];
        each = r->chunk[r->rank - 1];
    }
    return len == 0 ? 0 : (len - 1) / each + 1;
}

uint64_t run_inside(const struct object_rec *r, const uint64_t *coord, const struct chunk_rec *run)
{
    int last = r->layout == FMT_CHUNKED ? r->rank - 1 : 0;
    uint64_t left;

    if (!chunk_inside(r, coord))
        return 0;
    left = row_chunks(r) - (last < 0 ? 0 : coord[last]);
    return left < run->run ? left : run->run;
}

/* ---- records of runs ---- */

/* Runs follow each other; a file whose runs overlap would have two payloads for one chunk. */
int chunk_order_check(struct run_before *before, int rank, const uint64_t *coord,
                      const struct chunk_rec *rec)
{
    uint64_t first = rank > 0 ? coord[rank - 1] : 0;
    bool overlap = before->any && rank > 0 && first < before->end;

    for (int d = 0; before->any && d < rank - 1; d++) {
        if (coord[d] == before->at[d])
            continue;
        overlap = coord[d] < before->at[d];
        break;
    }
    before->any = true;
    memcpy(before->at, coord, rank > 0 ? (size_t)(rank - 1) * sizeof *coord : 0);
    before->end = first + rec->run;
    return overlap
               ? fail(DREP_ERR_FORMAT, "runs of chunks overlap at chunk %llu of their row (R8.20)",
                      (unsigned long long)first)
               : 0;
}

int chunk_size_check(const struct chunks *cs, int64_t esize, const struct chunk_rec *rec)
{
    if (rec->filtered)
        return 0;
    if (cs->variable) {
        if (rec->size == 0 || rec->size >= cs->payload)
            return 0;
        return fail(DREP_ERR_FORMAT, "a payload of %llu bytes, at least %llu expected (R8.9)",
                    (unsigned long long)rec->size, (unsigned long long)cs->payload);
    }
    if (rec->size <= cs->payload && (esize <= 0 || rec->size % (uint64_t)esize == 0))
        return 0;
    return fail(DREP_ERR_FORMAT,
                "a payload of %llu bytes for elements of %lld in chunks of %llu (R8.9)",
                (unsigned long long)rec->size, (long long)esize, (unsigned long long)cs->payload);
}

/* ---- chunks by number ---- */

/* Chunks along a dimension. */
static int64_t grid_len(const struct object_rec *rec, int d)
{
    return ((int64_t)rec->len[d] - 1) / rec->chunk[d] + 1;
}

int64_t chunks_in_grid(const struct object_rec *rec)
{
    int64_t n = 1;

    if (rec->layout == FMT_CONTIGUOUS)
        return (shape_count(rec) - 1) / (int64_t)rec->slab + 1;
    for (int d = 0; rec->layout == FMT_CHUNKED && d < rec->rank; d++)
        n *= grid_len(rec, d);
    return n;
}

void chunk_coord(const struct object_rec *rec, int64_t chunk, uint64_t *coord)
{
    if (rec->layout != FMT_CHUNKED) {
        coord[0] = (uint64_t)chunk;
        return;
    }
    for (int d = rec->rank - 1; d >= 0; d--) {
        coord[d] = (uint64_t)(chunk % grid_len(rec, d));
        chunk /= grid_len(rec, d);
    }
}

int64_t chunk_number(const struct object_rec *rec, const uint64_t *coord)
{
    int64_t n = 0;

    if (rec->layout != FMT_CHUNKED)
        return (int64_t)coord[0];
    for (int d = 0; d < rec->rank; d++)
        n = n * grid_len(rec, d) + (int64_t)coord[d];
    return n;
}

uint64_t chunk_len(const struct object_rec *rec, const uint64_t *coord, int d)
{
    uint64_t whole = rec->len[d] / rec->chunk[d];

    return coord[d] < whole ? rec->chunk[d] : coord[d] == whole ? rec->len[d] % rec->chunk[d] : 0;
}

int64_t chunk_extent(const struct object_rec *rec, int64_t chunk)
{
    uint64_t coord[DREP_MAX_RANK];
    int64_t n = 1;

    if (rec->layout == FMT_COMPACT)
        return shape_count(rec);
    if (rec->layout == FMT_CONTIGUOUS) {
        n = shape_count(rec) - chunk * (int64_t)rec->slab;
        return n < (int64_t)rec->slab ? n : (int64_t)rec->slab;
    }
    chunk_coord(rec, chunk, coord);
    for (int d = 0; d < rec->rank; d++)
        n *= (int64_t)chunk_len(rec, coord, d);
    return n;
}
