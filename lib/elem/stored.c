/* stored.c - chunks of a dataset as they are stored, in and out. */
/* SPDX-License-Identifier: MIT */
#include "base/sized.h"
#include "chunk/each.h"
#include "chunk/filter.h"
#include "chunk/read.h"
#include "chunk/run.h"
#include "chunk/target.h"
#include "chunk/write.h"
#include "conv/refs.h"
#include "conv/same.h"
#include "elem/dataset.h"
#include "elem/external_sum.h"
#include "file/team.h"
#include "tree/touched.h"

#include <string.h>

/* The grid coordinates of the chunk whose first element has these indices. */
static int chunk_of(const drep_dataset *ds, const int64_t *start, uint64_t *coord)
{
    const struct object_rec *r = &ds->rec;
    int64_t at;
    int err;

    if (r->layout != FMT_CHUNKED)
        return fail(DREP_ERR_KIND, "it is not chunked");
    if ((err = chunk_holding(r, start, coord, &at)))
        return err;
    for (int d = 0; d < r->rank; d++)
        if ((uint64_t)start[d] % r->chunk[d] != 0)
            return fail(DREP_ERR_RANGE,
                        "index %lld in dimension %d is not that of a chunk's first element; chunks "
                        "have %u",
                        (long long)start[d], d, r->chunk[d]);
    return 0;
}

/* ------------------------------------------------------------------- reading */

static int filtered_read(drep_dataset *ds, const struct chunk_rec *rec, void *buf)
{
    struct buf stored = {0};
    int err = chunk_stored(&ds->chunks, rec, &stored);

    if (!err)
        memcpy(buf, stored.p, stored.len);
    buf_release(&stored);
    return err;
}

static int read_stored_chunk(drep_dataset *ds, const int64_t *start, void *buf, int64_t room,
                             int64_t *size, uint32_t *skipped)
{
    uint64_t coord[DREP_MAX_RANK] = {0}, have = 0;
    struct chunk_rec rec;
    struct run_hit hit;
    int err = dataset_alive(ds);

    *size = 0;
    *skipped = 0;
    if (!err)
        err = chunk_of(ds, start, coord);
    if (!err)
        err = run_find(&ds->chunks, coord, &hit);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    rec = hit.run->rec;
    run_done(ds->file->st, &hit);
    *size = (int64_t)rec.size;
    *skipped = rec.skipped;
    if (!buf)
        return 0;
    if (room < *size)
        return fail(DREP_ERR_BUFFER, "a chunk of %lld bytes; the buffer has %lld", (long long)*size,
                    (long long)room);
    if (rec.filtered)
        return filtered_read(ds, &rec, buf);
    err = chunk_read(&ds->chunks, coord, 0, rec.size, buf, &have);
    if (!err && have < rec.size)
        err = fail(DREP_ERR_FORMAT, "a chunk is shorter than its record says (R2.14)");
    return err;
}

int drep_read_stored(drep_dataset *dataset, const int64_t *start, void *buf, int64_t room,
                     int64_t *size, uint32_t *skipped)
{
    uint32_t unused;
    int err;

    if (!size)
        return fail(DREP_ERR_ARG, "drep_read_stored: null argument");
    if ((err = dataset_check(dataset, "drep_read_stored")) ||
        (err = read_begin_stored(dataset->file)))
        return err;
    err = read_stored_chunk(dataset, start, buf, room, size, !skipped ? &unused : skipped);
    return read_end(dataset->file, fail_dataset(err, dataset->path));
}

/* ------------------------------------------------------------------- writing */

/* Checks bytes as far as that is possible without decoding them. */
static int stored_check(const drep_dataset *ds, int64_t size, uint32_t skipped)
{
    const struct chunks *cs = &ds->chunks;
    uint32_t all = filters_all(cs->nfilters);
    uint64_t most = cs->st->opts.chunk_max;

    if (size < 1)
        return fail(DREP_ERR_ARG, "a stored chunk of %lld bytes", (long long)size);
    if (skipped & ~all)
        return fail(DREP_ERR_ARG, "skipped filters 0x%x; the dataset has %d", skipped,
                    cs->nfilters);
    if (skipped == all && !cs->variable && ((uint64_t)size > cs->payload || size % ds->esize != 0))
        return fail(DREP_ERR_ARG,
                    "an unfiltered chunk of %lld bytes; chunks have %llu, elements %lld",
                    (long long)size, (unsigned long long)cs->payload, (long long)ds->esize);
    if (cs->nfilters > 0 && (uint64_t)size > (cs->payload > most ? cs->payload : most))
        return fail(DREP_ERR_LIMIT, "a filtered chunk of %lld bytes; drep_chunk_max is %llu",
                    (long long)size, (unsigned long long)most);
    if (!cs->variable &&
        (uint64_t)size > filters_stored_max(cs->filter, cs->nfilters, skipped, cs->payload))
        return fail(DREP_ERR_ARG, "%lld bytes for a chunk of %llu: its filters cannot add so many",
                    (long long)size, (unsigned long long)cs->payload);
    return 0;
}

/* Flags of the record for those of the caller. */
static int flags_check(unsigned flags, uint8_t *out)
{
    if (flags & ~(unsigned)(DREP_STORED_UNDECODED | DREP_STORED_DEFERRED))
        return fail(DREP_ERR_ARG, "unknown flags 0x%x of a stored chunk", flags);
    *out = flags & DREP_STORED_UNDECODED ? FMT_CHUNK_UNDECODED : 0;
    return 0;
}

static int stored_write(drep_dataset *ds, const int64_t *start, const void *buf, int64_t size,
                        struct coding coding)
{
    const struct buf stored = {.p = (uint8_t *)(uintptr_t)buf, .len = (size_t)size};
    uint64_t coord[DREP_MAX_RANK] = {0};
    int err = dataset_alive(ds);

    if (!err)
        err = chunk_of(ds, start, coord);
    if (!err)
        err = stored_check(ds, !buf ? 0 : size, coding.skipped);
    if (err)
        return err;
    /* What lies outside the shape is the caller's. */
    ds->open.verified = ds->trimmed = false;
    return ds->chunks.nfilters > 0 ? chunk_write_stored(&ds->chunks, coord, &stored, coding)
                                   : chunk_write(&ds->chunks, coord, 1, buf, (uint64_t)size);
}

int drep_write_stored(drep_dataset *dataset, const int64_t *start, const void *buf, int64_t size,
                      uint32_t skipped, unsigned flags)
{
    struct coding coding = {.skipped = skipped};
    int err;

    if ((err = flags_check(flags, &coding.flags)) ||
        (err = dataset_check(dataset, "drep_write_stored")) ||
        (err = shared_refuses(dataset->file, "drep_write_stored")) ||
        (err = write_begin(dataset->file)))
        return err;
    err = stored_write(dataset, start, buf, size, coding);
    return write_end(dataset->file, fail_dataset(err, dataset->path));
}

/* ------------------------------------------------------------- in other files */

/* The sum of a row that is written: deferred, the one that the other file has, or
 * none if the file's time tells whether it has changed (R8.52). */
static int external_sum_new(drep_file *f, const struct chunk_rec *row, bool deferred, uint64_t *sum)
{
    int err;

    if (!deferred && !f->st->opts.deferred)
        return external_sum(f, row, sum);
    err = external_known_sum(f, row, sum);
    if (err || *sum != 0)
        return err;
    err = target_unchanged(f->st, row->file);
    return err == DREP_ERR_CHECKSUM ? external_sum(f, row, sum) : err;
}

static int external_write(drep_dataset *ds, const int64_t *start, uint32_t number, int64_t offset,
                          int64_t size, struct coding coding, bool deferred)
{
    uint64_t coord[DREP_MAX_RANK] = {0};
    struct chunk_rec to = {.kind = FMT_CHUNK_EXTERNAL,
                           .filtered = true,
                           .kept = coding.flags,
                           .skipped = coding.skipped,
                           .run = 1,
                           .file = number,
                           .nsums = 1};
    int err = dataset_alive(ds);

    if (!err)
        err = chunk_of(ds, start, coord);
    if (!err && (offset < 0 || size < 1 || size > UINT32_MAX))
        err = fail(DREP_ERR_ARG, "%lld bytes at byte %lld of another file", (long long)size,
                   (long long)offset);
    if (!err && (err = target_read(ds->file->st, number, (uint64_t)offset, (uint64_t)size, NULL)) ==
                    DREP_ERR_FORMAT)
        err = DREP_ERR_RANGE;
    if (!err)
        err = stored_check(ds, size, coding.skipped);
    to.offset = (uint64_t)offset;
    to.size = (uint64_t)size;
    if (!err)
        err = external_sum_new(ds->file, &to, deferred, &to.sum[0]);
    if (!err) {
        ds->open.verified = ds->trimmed = false;
        err = chunk_point(&ds->chunks, coord, &to);
    }
    return err;
}

int drep_write_external(drep_dataset *dataset, const int64_t *start, uint32_t number,
                        int64_t offset, int64_t size, uint32_t skipped, unsigned flags)
{
    struct coding coding = {.skipped = skipped};
    bool deferred = flags & DREP_STORED_DEFERRED;
    int err;

    if ((err = flags_check(flags, &coding.flags)) ||
        (err = dataset_check(dataset, "drep_write_external")) ||
        (err = shared_refuses(dataset->file, "drep_write_external")) ||
        (err = write_begin(dataset->file)))
        return err;
    err = external_write(dataset, start, number, offset, size, coding, deferred);
    return write_end(dataset->file, fail_dataset(err, dataset->path));
}

static int version_span(const char *version, struct span *out)
{
    *out = (struct span){(const uint8_t *)version, version ? strlen(version) : 0};
    if (out->len > FMT_NAME_MAX || text_check(out->p, out->len))
        return fail(DREP_ERR_ARG, "the version of a file is a text of at most %d bytes",
                    FMT_NAME_MAX);
    return 0;
}

int drep_external_add_version(drep_file *file, const char *path, const char *version,
                              uint32_t *number)
{
    struct span tag;
    int err;

    if (!path || !number)
        return fail(DREP_ERR_ARG, "drep_external_add: null argument");
    if ((err = version_span(version, &tag)) || (err = write_begin(file)))
        return err;
    return write_end(file, target_add(file->st, path, &tag, number));
}

int drep_external_add(drep_file *file, const char *path, uint32_t *number)
{
    return drep_external_add_version(file, path, NULL, number);
}

int drep_external_version(drep_file *file, uint32_t number, const char *version)
{
    struct span tag;
    int err;

    if (!version || !*version)
        return fail(DREP_ERR_ARG, "drep_external_version: no version");
    if ((err = version_span(version, &tag)) || (err = read_begin(file)))
        return err;
    err = target_version(file->st, number, &tag);
    return read_end(file, err == DREP_ERR_FORMAT ? DREP_ERR_RANGE : err);
}

struct listing {
    drep_external_fn *fn;
    void *ctx;
    struct buf *texts; /* path and version, each with a NUL */
};

static int list_one(uint32_t number, const struct target_rec *rec, void *ctx)
{
    const struct listing *l = ctx;
    drep_external e = {.number = number, .size = (int64_t)rec->size, .time = rec->time};
    int err = buf_reserve(l->texts, rec->name.len + rec->tag.len + 2);
    uint8_t *version;

    if (err)
        return err;
    memcpy(l->texts->p, rec->name.p, rec->name.len);
    l->texts->p[rec->name.len] = 0;
    version = l->texts->p + rec->name.len + 1;
    if (rec->tag.len > 0)
        memcpy(version, rec->tag.p, rec->tag.len);
    version[rec->tag.len] = 0;
    e.path = (const char *)l->texts->p;
    e.version = (const char *)version;
    return l->fn(&e, l->ctx);
}

int drep_external_list(drep_file *file, drep_external_fn *fn, void *ctx)
{
    struct buf texts = {0};
    struct listing l = {fn, ctx, &texts};
    int err;

    if (!fn)
        return fail(DREP_ERR_ARG, "drep_external_list: null argument");
    if ((err = read_begin(file)))
        return err;
    err = read_end(file, targets_each(file->st, list_one, &l));
    buf_release(&texts);
    return err;
}

/* ------------------------------------------------------------------ where they are */

/* Elements that wait in memory are changes, too: their object is marked. */
static bool has_changes(const drep_dataset *ds)
{
    const struct store *st = ds->file->st;

    return ds->id >= st->slot.next_object || touched_is(st, ds->id) || runs_changed(st, ds->id);
}

/* The chunk or slab that has the element, and its number there. */
static int element_of(const drep_dataset *ds, const int64_t *start, uint64_t *coord, int64_t *at)
{
    const struct object_rec *r = &ds->rec;

    if (r->layout != FMT_CHUNKED && r->layout != FMT_CONTIGUOUS)
        return fail(DREP_ERR_KIND, "it has no payload of its own: it is %s",
                    r->layout == FMT_COMPACT ? "compact" : "of null space");
    return chunk_holding(r, start, coord, at);
}

/* Lengthens a stretch of slabs by what follows it in the file. */
static int slabs_follow(drep_dataset *ds, uint64_t slab, drep_stored *is)
{
    uint64_t slabs = (uint64_t)chunks_in_grid(&ds->rec);
    int err = 0;

    for (uint64_t n; !err && slab < slabs; slab += n) {
        uint64_t offset, size;
        struct run_hit hit;

        err = run_find(&ds->chunks, &slab, &hit);
        if (err)
            return err == DREP_ERR_NOT_FOUND ? 0 : err;
        size = hit.run->rec.size;
        n = hit.run->rec.run - hit.index;
        offset = hit.run->rec.offset + hit.index * size;
        run_done(ds->file->st, &hit);
        if (offset != (uint64_t)(is->offset + is->bytes))
            return 0;
        is->bytes += (int64_t)(size < ds->chunks.payload ? size : n * size);
        if (size < ds->chunks.payload)
            return 0;
    }
    return err;
}

static int stored_at(drep_dataset *ds, const int64_t *start, drep_stored *is)
{
    uint64_t coord[DREP_MAX_RANK] = {0}, from, slabs;
    struct chunk_rec rec;
    struct run_hit hit;
    int64_t at = 0, left;
    int err = dataset_alive(ds);

    if (!err)
        err = element_of(ds, start, coord, &at);
    if (!err && has_changes(ds))
        err = fail(DREP_ERR_NOT_COMMITTED, "it has changes since the last commit");
    if (!err)
        err = run_find(&ds->chunks, coord, &hit);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? fail(err, "no elements are stored there") : err;
    rec = hit.run->rec;
    slabs = rec.run - hit.index;
    rec.offset += hit.index * rec.size;
    run_done(ds->file->st, &hit);
    from = bytes_of(ds, at);
    if (ds->rec.layout == FMT_CONTIGUOUS && from >= rec.size)
        return fail(DREP_ERR_NOT_FOUND, "no elements are stored there");
    is->offset = (int64_t)(rec.offset + from);
    is->bytes = (int64_t)(rec.size - from);
    is->skipped = rec.skipped;
    is->flags = rec.kept & FMT_CHUNK_UNDECODED ? DREP_STORED_UNDECODED : 0;
    is->external = rec.kind == FMT_CHUNK_EXTERNAL;
    is->number = is->external ? rec.file : 0;
    if (ds->rec.layout != FMT_CONTIGUOUS)
        return 0;
    if (rec.size == ds->chunks.payload) {
        is->bytes += (int64_t)((slabs - 1) * rec.size);
        err = slabs_follow(ds, coord[0] + slabs, is);
    }
    left = (dataset_count(ds) - (int64_t)coord[0] * (int64_t)ds->rec.slab - at) * ds->esize;
    is->bytes = is->bytes < left ? is->bytes : left;
    return err;
}

int drep_stored_at(drep_dataset *dataset, const int64_t *start, drep_stored *out)
{
    drep_stored is = DREP_STORED;
    int err;

    if ((err = sized_check(SIZED_drep_stored, out, "drep_stored_at")) ||
        (err = dataset_check(dataset, "drep_stored_at")) ||
        (err = shared_refuses(dataset->file, "drep_stored_at")) ||
        (err = read_begin(dataset->file)))
        return err;
    err = stored_at(dataset, start, &is);
    if (!err)
        sized_put(SIZED_drep_stored, &is, out);
    return read_end(dataset->file, fail_dataset(err, dataset->path));
}

/* ------------------------------------------------------------------ what they are */

int drep_stored_as(drep_dataset *dataset, const drep_type *type, int *same)
{
    struct conv c;
    int err;

    if (!type || !same)
        return fail(DREP_ERR_ARG, "drep_stored_as: null argument");
    if ((err = dataset_check(dataset, "drep_stored_as")) || (err = read_begin(dataset->file)))
        return err;
    *same = 0;
    if (!(err = dataset_alive(dataset)) &&
        conv_init(&c, dataset->rep, dataset->ft, type, NULL, false) == 0)
        *same = conv_is_same(&c);
    return read_end(dataset->file, fail_dataset(err, dataset->path));
}

/* ------------------------------------------------------------------- two datasets */

#define RUNS_MAX 100000 /* of one element */

/* True if all items have the same places and types in two elements as they are stored. */
static bool laid_alike(const struct prog *a, const struct prog *b)
{
    drep_run x = {0}, y = {0};
    drep_cursor at_a, at_b;
    int64_t left = a->items;

    if (a->items != b->items || a->extent != b->extent || cursor_init(&at_a, a, 0) != 0 ||
        cursor_init(&at_b, b, 0) != 0)
        return false;
    for (int n = 0; left > 0 && n < RUNS_MAX; n++) {
        if (!cursor_next(&at_a, left, &x) || !cursor_next(&at_b, x.count, &y) ||
            x.count != y.count || x.offset != y.offset || (x.count > 1 && x.stride != y.stride))
            return false;
        left -= x.count;
    }
    return left == 0;
}

static bool datasets_alike(const drep_dataset *a, const drep_dataset *b)
{
    const drep_type *type = a->ft->type;

    return !type->variable && !type_refers(type) && drep_type_equal(type, b->ft->type) &&
           rep_same_items(a->entry, b->entry, type) && laid_alike(&a->ft->stored, &b->ft->stored);
}

int drep_stored_alike(drep_dataset *a, drep_dataset *b, int *same)
{
    int err;

    if (!same)
        return fail(DREP_ERR_ARG, "drep_stored_alike: null argument");
    if ((err = dataset_check(a, "drep_stored_alike")) ||
        (err = dataset_check(b, "drep_stored_alike")) || (err = read_begin(a->file)))
        return err;
    *same = 0;
    err = read_end(a->file, fail_dataset(dataset_alive(a), a->path));
    if (err || (err = read_begin(b->file)))
        return err;
    /* Types and representations of a dataset do not change while it is open. */
    if (!(err = dataset_alive(b)))
        *same = datasets_alike(a, b);
    return read_end(b->file, fail_dataset(err, b->path));
}
