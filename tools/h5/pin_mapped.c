/* pin_mapped.c - a virtual import of a virtual dataset: chunks stay in its sources.
 *
 * A chunk of the container is one of a source if both grids fall together, or a stretch of bytes of
 * a source that is contiguous.  The grid is one for the whole dataset, so it is chosen by the first
 * source with chunks, or by where the mappings of contiguous sources begin and end; cells that do
 * not fit are copied. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/pin_mapped.h"
#include "tools/h5/layout.h"
#include "tools/h5/virtual.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------ the grid */

/* True if elements of a dataset may stay in its sources. */
static int may_stay(const struct job *j, const struct h5_source *s)
{
    return j->o->pinned && s->layout == H5D_VIRTUAL && s->rank > 0 && s->map.kind == MAP_FLAT &&
           !s->map.variable && s->mappings.order >= 0 &&
           pin_worth(j, (hsize_t)(s->mappings.covered * (double)s->map.hsize)) &&
           map_is_copy(s->type, &s->map);
}

/* Takes chunks and filters of a source; false: they are not those of a container, or its chunks
 * have other dimensions. */
static int source_grid(struct job *j, const char *path, const struct h5_source *s,
                       const struct direct *d, drep_spec *spec, int64_t *chunk,
                       drep_filter *filters)
{
    struct h5_source like = *s;
    int k, ok;

    like.layout = H5D_CHUNKED;
    like.dcpl = H5Dget_create_plist(d->dset);
    ok = d->rank == s->rank && H5Pget_chunk(like.dcpl, H5S_MAX_RANK, like.chunk) == s->rank &&
         filters_in(j, path, &like, filters, &spec->nfilters) == 0;
    for (k = 0; ok && k < s->rank; k++) {
        ok = like.chunk[k] <= s->dims[k];
        chunk[k] = (int64_t)like.chunk[k];
    }
    H5Pclose(like.dcpl);
    if (!ok)
        spec->nfilters = 0;
    return ok;
}

/* The common divisor of where mappings begin and end, and how long they all are if they have that
 * dimension of their sources whole; 0: not so. */
struct mapping_cuts {
    int64_t divisor, whole;
};

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Adds the edges of one mapping. */
static void add_cuts(const struct h5_source *s, const struct direct *d, const struct box *b,
                     int first, struct mapping_cuts *cuts)
{
    int64_t whole[H5S_MAX_RANK];
    int k, e;

    for (k = 0; k < s->rank; k++)
        whole[k] = b->count[k] == 1;
    for (e = 0; e < d->rank; e++)
        if (d->along[e] >= 0)
            whole[d->along[e]] =
                (int64_t)d->dims[e] == b->count[d->along[e]] ? b->count[d->along[e]] : 0;
    for (k = 0; k < s->rank; k++) {
        int64_t end = b->start[k] + b->count[k];

        cuts[k].divisor = common_divisor(cuts[k].divisor, b->start[k]);
        if (end < (int64_t)s->dims[k])
            cuts[k].divisor = common_divisor(cuts[k].divisor, end);
        cuts[k].whole = first || cuts[k].whole == whole[k] ? whole[k] : 0;
    }
}

/* The longest stretch that divides all mappings; one without edges is cut anywhere. */
static int64_t stretch(int64_t divisor, int64_t length, int64_t most)
{
    int64_t n = divisor ? divisor : length;

    if (!divisor)
        return n < most ? n : most;
    for (n = n < most ? n : most; divisor % n != 0;)
        n--;
    return n;
}

static void contiguous_grid(const struct h5_source *s, const struct mapping_cuts *cuts,
                            int64_t most, int64_t *chunk)
{
    int d;

    for (d = s->rank - 1; d >= 0; d--) {
        int64_t whole = cuts[d].whole;

        if (whole > 0 && whole <= most && cuts[d].divisor % whole == 0) {
            chunk[d] = whole;
            most /= whole;
        } else {
            chunk[d] = stretch(cuts[d].divisor, (int64_t)s->dims[d], most);
            most = 1;
        }
    }
}

int pin_mapped_layout(struct job *j, const char *path, const struct h5_source *s, drep_spec *spec,
                      int64_t *chunk, drep_filter *filters)
{
    struct virtual_opener opener;
    struct direct direct = {.open = virtual_source, .ctx = &opener};
    struct mapping_cuts cuts[H5S_MAX_RANK] = {{0}};
    int ok = 0, chunked = 0, contiguous = 0;
    struct box b;
    size_t i;

    if (!may_stay(j, s))
        return 0;
    virtual_opener_init(&opener, j, s->dset);
    for (i = 0; !chunked && i < s->mappings.n; i++) {
        hid_t dcpl;
        int layout;

        mappings_box(&s->mappings, i, &b);
        if (!direct_find(j, s->dcpl, s->space, i, &b, &direct))
            continue;
        dcpl = H5Dget_create_plist(direct.dset);
        layout = H5Pget_layout(dcpl);
        H5Pclose(dcpl);
        chunked = layout == H5D_CHUNKED && contiguous == 0;
        if (chunked)
            ok = source_grid(j, path, s, &direct, spec, chunk, filters);
        else if (layout == H5D_CONTIGUOUS)
            add_cuts(s, &direct, &b, contiguous++ == 0, cuts);
    }
    direct_release(&direct);
    if (contiguous > 0) {
        contiguous_grid(s, cuts, pin_stretch(source_stored_size(j, s)), chunk);
        ok = 1;
    }
    if (!ok)
        return 0;
    spec->layout = DREP_CHUNKED;
    spec->chunk = chunk;
    spec->filters = filters;
    return 1;
}

/* ----------------------------------------------------------------------- the cells */

int pin_mapped_begin(struct mapped_pin *p)
{
    int same = 0;

    if (!may_stay(p->j, p->s) || p->info->layout != DREP_CHUNKED ||
        drep_stored_as(p->ds, p->s->map.held, &same) != 0 || !same)
        p->ds = NULL;
    return p->ds != NULL;
}

void pin_mapped_end(struct mapped_pin *p)
{
    raw_chunks_release(&p->raw);
    decoding_free(p->decoding);
    p->decoding = NULL;
    free(p->stored.bytes);
    p->stored.bytes = NULL;
}

static int dataset_has_type(hid_t dset, hid_t type)
{
    hid_t own = H5Dget_type(dset);
    int same = own > 0 && H5Tequal(own, type) > 0;

    if (own > 0)
        H5Tclose(own);
    return same;
}

/* Chunks of another source are decoded before they stay; 0 without memory. */
static int take_filters(struct mapped_pin *p, hid_t dcpl)
{
    size_t size = p->s->map.dsize;

    decoding_free(p->decoding);
    p->decoding = NULL;
    if (p->contiguous || p->j->o->no_decode)
        return 1;
    p->decoding =
        decoding_new(dcpl, size, chunk_memory(size, p->direct->rank, p->chunk), 1, p->raw.pipeline);
    return p->decoding != NULL;
}

/* Looks at another source. */
static void take_source(struct mapped_pin *p)
{
    const struct direct *d = p->direct;
    hid_t dcpl = H5Dget_create_plist(d->dset);
    int layout = H5Pget_layout(dcpl);

    p->dset = d->dset;
    bare_edge_read(&p->bare, d->dset, dcpl);
    p->stored.bare = &p->bare;
    raw_chunks_release(&p->raw);
    p->contiguous =
        layout == H5D_CONTIGUOUS && p->info->nfilters == 0 && H5Dget_offset(d->dset) != HADDR_UNDEF;
    p->fits = dataset_has_type(d->dset, p->s->type) && pin_source(p->j, d->dset, &p->file) &&
              (p->contiguous || (layout == H5D_CHUNKED && d->rank == p->s->rank &&
                                 H5Pget_chunk(dcpl, H5S_MAX_RANK, p->chunk) == d->rank &&
                                 raw_chunks_match(&p->raw, dcpl, p->info, p->ds, &p->s->map, 1)));
    p->fits = p->fits && take_filters(p, dcpl);
    H5Pclose(dcpl);
}

/* True if a box of this shape is one stretch of an array. */
static int is_stretch(int rank, const int64_t *count, const int64_t *dims)
{
    int d = 0;

    while (d < rank && count[d] == 1)
        d++;
    for (d++; d < rank; d++)
        if (count[d] != dims[d])
            return 0;
    return 1;
}

int pin_mapped_fits(struct mapped_pin *p, const struct box *cell)
{
    int64_t dims[H5S_MAX_RANK];
    struct box there;
    int d, ok;

    if (p->dset != p->direct->dset)
        take_source(p);
    direct_box(p->direct, cell, &there);
    for (d = 0; d < there.rank; d++)
        dims[d] = (int64_t)p->direct->dims[d];
    if (p->contiguous)
        return p->fits && is_stretch(there.rank, there.count, dims) &&
               is_stretch(cell->rank, cell->count, p->info->chunk);
    ok = p->fits;
    for (d = 0; ok && d < there.rank; d++)
        ok = there.start[d] % (int64_t)p->chunk[d] == 0 && there.count[d] == cell->count[d];
    return ok;
}

/* The chunk of the source that a cell is. */
static int stay_stored(struct mapped_pin *p, const struct box *cell, const struct box *there,
                       int *done)
{
    struct stored *c = &p->stored;
    hsize_t at[H5S_MAX_RANK], all;
    uint32_t skipped = 0;
    haddr_t address;
    unsigned mask;
    size_t size;
    int d, err, untried, undecoded = 0;

    c->box = *there;
    err = stored_read(p->j, p->dset, p->raw.most, c);
    size = c->size;
    for (d = 0; d < there->rank; d++)
        at[d] = (hsize_t)there->start[d];
    if (err || !c->there || c->excess || !c->good ||
        !raw_chunk_in(&p->raw, c->bytes, &size, c->skipped, &skipped) ||
        H5Dget_chunk_info_by_coord(p->dset, at, &mask, &address, &all) < 0 ||
        address == HADDR_UNDEF)
        return err;
    untried = !p->decoding && raw_chunk_filtered(&p->raw, skipped);
    if (p->decoding)
        undecoded =
            decode_chunk(p->decoding, 0, c->bytes, c->size, c->skipped, NULL) != DECODE_WHOLE;
    if (undecoded && !p->raw.pipeline)
        return 0;
    err = pin_chunk(p->j, &p->file, p->ds, cell->start, address, c->bytes, size, skipped,
                    untried || undecoded ? DREP_STORED_UNDECODED : 0, done);
    p->untried += !err && *done && untried;
    p->undecoded += !err && *done && undecoded;
    return err;
}

int pin_mapped_cell(struct mapped_pin *p, const struct box *cell, const void *bytes, size_t size,
                    int *done)
{
    struct box there;
    uint64_t at = 0;
    int d;

    *done = 0;
    direct_box(p->direct, cell, &there);
    if (!p->contiguous)
        return stay_stored(p, cell, &there, done);
    for (d = 0; d < there.rank; d++)
        at = at * p->direct->dims[d] + (uint64_t)there.start[d];
    return pin_chunk(p->j, &p->file, p->ds, cell->start,
                     H5Dget_offset(p->dset) + at * p->s->map.dsize, bytes, size, 0, 0, done);
}
