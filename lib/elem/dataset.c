/* dataset.c - creating, opening, describing and resizing datasets. */
#include "base/error.h"
#include "base/handle.h"
#include "base/info.h"
#include "base/mem.h"
#include "base/rwlock.h"
#include "chunk/filter.h"
#include "elem/data.h"

#include <string.h>

#define COMPACT_AUTO 2048 /* larger datasets are not compact unless asked for */
#define COMPACT_MAX 65536
#define CHUNK_TARGET (1 << 20) /* bytes of a chunk that nobody chose */
#define SLAB_TARGET (1 << 20)
#define CELL_TARGET (64 << 10)
#define CELL_MAX (256 << 10)
#define FILL_MAX ((int64_t)64 << 20) /* bytes of an element whose fill is not zero bytes */

/* ---- what a handle knows ---- */

int64_t dataset_count(const drep_dataset *ds)
{
    int64_t n = 1;

    if (ds->rec.rank == FMT_RANK_NULL)
        return 0;
    for (int d = 0; d < ds->rec.rank; d++)
        n *= (int64_t)ds->rec.len[d];
    return n;
}

/* Elements of a full chunk; lengths were held against their limits. */
static int64_t chunk_count(const struct object_rec *rec)
{
    int64_t n = 1;

    if (rec->layout == FMT_CONTIGUOUS)
        return (int64_t)rec->slab;
    for (int d = 0; rec->layout == FMT_CHUNKED && d < rec->rank; d++)
        if (__builtin_mul_overflow(n, (int64_t)rec->chunk[d], &n))
            return INT64_MAX;
    return n;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t t = a % b;

        a = b;
        b = t;
    }
    return a;
}

/* Bytes of the pieces in which unfiltered chunks are kept in memory: whole elements, whole
 * blocks that have sums, about 64 KiB; 0: that would be too much. */
static uint64_t cell_of(int64_t esize)
{
    int64_t unit = esize > 0 ? esize / gcd(esize, FMT_SUM_BLOCK) : 0;

    if (unit == 0 || unit > CELL_MAX / FMT_SUM_BLOCK)
        return 0;
    unit *= FMT_SUM_BLOCK;
    return (uint64_t)(unit < CELL_TARGET ? CELL_TARGET / unit * unit : unit);
}

/* Do all chunks fit into the cache? */
static int fits(const drep_file *f, const struct object_rec *rec, uint64_t payload)
{
    uint64_t all = payload, cache = (uint64_t)f->hints.cache_size;

    if (rec->layout != FMT_CHUNKED)
        return 0;
    for (int d = 0; d < rec->rank; d++) {
        uint64_t n = rec->len[d] > 0 ? (rec->len[d] - 1) / rec->chunk[d] + 1 : 0;

        if (__builtin_mul_overflow(all, n, &all))
            return 0;
    }
    return all <= cache;
}

static int grows(const struct object_rec *rec)
{
    return rec->layout == FMT_CONTIGUOUS && rec->rank > 0 && rec->rank != FMT_RANK_NULL &&
           rec->has_max && rec->max[0] > rec->len[0];
}

void dataset_fits(drep_dataset *ds)
{
    ds->chunks.grows = grows(&ds->rec);
    ds->chunks.fits = fits(ds->file, &ds->rec, ds->chunks.payload);
}

/* Holds a payload from the file against its type, before anything of its heap is followed. */
static int payload_check(const struct chunks *cs, const struct buf *payload)
{
    const drep_dataset *ds =
        (const drep_dataset *)(const void *)((const char *)cs - offsetof(drep_dataset, chunks));
    uint64_t full = ds->chunks.payload;

    if (ds->esize == 0)
        return 0;
    if (!ds->ft->type->variable)
        return payload->len % (size_t)ds->esize == 0
                   ? 0
                   : fail(DREP_ERR_FORMAT, "%zu bytes of payload are no whole elements",
                          payload->len);
    if (payload->len == 0)
        return 0;
    if (payload->len < full)
        return fail(DREP_ERR_FORMAT, "a payload of %zu bytes, at least %llu expected", payload->len,
                    (unsigned long long)full);
    return heap_check(NULL, PROG_PACKED, &ds->ft->stored, payload->p,
                      (int64_t)(full / (uint64_t)ds->esize), payload->p + full,
                      payload->len - (size_t)full);
}

int chunk_order_check(struct run_before *before, int rank, const uint64_t *coord,
                      const struct chunk_rec *rec)
{
    size_t above = rank > 0 ? (size_t)(rank - 1) * sizeof *coord : 0;
    uint64_t first = rank > 0 ? coord[rank - 1] : 0;
    bool overlap =
        before->any && rank > 0 && first < before->end && memcmp(coord, before->at, above) == 0;

    before->any = true;
    memcpy(before->at, coord, above);
    before->end = first + rec->run;
    return overlap ? fail(DREP_ERR_FORMAT, "runs of chunks overlap at chunk %llu of their row",
                          (unsigned long long)first)
                   : 0;
}

int chunk_size_check(const struct chunks *cs, int64_t esize, const struct chunk_rec *rec)
{
    if (rec->filtered || cs->variable ||
        (rec->size <= cs->payload && (esize <= 0 || rec->size % (uint64_t)esize == 0)))
        return 0;
    return fail(DREP_ERR_FORMAT, "a payload of %llu bytes for elements of %lld in chunks of %llu",
                (unsigned long long)rec->size, (long long)esize, (unsigned long long)cs->payload);
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
    cs->fits = fits(f, rec, cs->payload);
    cs->grows = grows(rec);
    cs->variable = variable;
    cs->nfilters = rec->nfilters;
    memcpy(cs->filter, rec->filter, rec->nfilters * sizeof *rec->filter);
    cs->name = path;
}

int fill_bytes(const drep_dataset *ds, uint8_t *buf, uint64_t offset, uint64_t size)
{
    uint64_t es = (uint64_t)ds->esize;

    if (ds->fill_err != 0)
        return fail(ds->fill_err, "the functions of datarep \"%s\" cannot write the fill value",
                    ds->file->rep.name);
    if (ds->fill == NULL) {
        memset(buf, 0, (size_t)size);
        return 0;
    }
    for (uint64_t done = 0; done < size;) {
        uint64_t at = (offset + done) % es, n = es - at;

        /* After one whole pattern the rest is a copy of what stands before it. */
        if (done >= es && at == 0 && (done % es) == 0) {
            n = done < size - done ? done : size - done;
            memcpy(buf + done, buf, (size_t)n);
        } else {
            n = n < size - done ? n : size - done;
            memcpy(buf + done, ds->fill + at, (size_t)n);
        }
        done += n;
    }
    return 0;
}

/* Are the stored bytes of this type's zero all zero?  -1: no. */
static int zero_is_zero(int code, void *ctx)
{
    static const uint8_t native[FMT_ITEM_MAX];
    drep_file *f = ctx;
    const drep_type *type = drep_predefined(code);
    const struct rep_table *table = file_rep_table(&f->rep, true);
    struct ftype ft = {.type = (drep_type *)(uintptr_t)type};
    uint8_t stored[UINT8_MAX] = {0};
    struct conv c;
    int err;

    if (table != NULL && table->row[code].format != DREP_FORMAT_CUSTOM)
        return 0;
    if ((err = prog_build(&ft.stored, type, &f->rep.sizes, PROG_PACKED)) != 0)
        return err;
    err = conv_init(&c, &f->rep, &ft, type, NULL, true);
    if (err == 0)
        err = conv_write(&c, native, 0, stored, 0, 1);
    prog_release(&ft.stored);
    for (int i = 0; err == 0 && i < f->rep.sizes.size[code]; i++)
        err = stored[i] != 0 ? -1 : 0;
    return err;
}

/* One stored element of the fill value: where there are functions, through them once.
 * A table needs no memory in between, whose types may hold less than the file's. */
static int fill_convert(drep_dataset *ds)
{
    drep_file *f = ds->file;
    const drep_type *type = ds->ft->type;
    struct conv c;
    void *value;
    int err = 0;

    if (ds->esize > FILL_MAX || type->prog.extent > FILL_MAX)
        return fail(DREP_ERR_LIMIT, "for an element of %lld bytes", (long long)ds->esize);
    ds->fill = mem_zalloc(1, (uint64_t)ds->esize);
    value = mem_zalloc(1, (uint64_t)type->prog.extent);
    if (ds->fill == NULL || value == NULL)
        err = fail_nomem();
    if (err == 0 && ds->rec.fill == FMT_FILL_VALUE && !type->variable &&
        file_rep_table(&f->rep, true) != NULL) {
        err = value_stored(&f->rep, &ds->rec.fill_value, ds->ft, ds->fill);
        if (err != DREP_ERR_TYPE) {
            mem_free(value);
            return err;
        }
        err = 0; /* references go through memory, which holds them */
    }
    if (err == 0 && ds->rec.fill == FMT_FILL_VALUE)
        err = value_decode(&f->values, &ds->rec.fill_value, type, 1, type, value);
    if (err == 0)
        err = conv_init(&c, &f->rep, ds->ft, type, NULL, true);
    if (err == 0) {
        c.heap_out = &ds->fill_heap;
        err = conv_write(&c, value, 0, ds->fill, ds->esize, 1);
    }
    if (value != NULL)
        drep_vlen_free(type, 1, value);
    mem_free(value);
    return err;
}

/* Most datasets need none: their fill is zero, and that is zero bytes. */
static int make_fill(drep_dataset *ds)
{
    drep_file *f = ds->file;
    int err = 0;

    if (f->rep.datarep == NULL || ds->esize == 0)
        return 0;
    if (ds->rec.fill == FMT_FILL_VALUE)
        err = value_check(&ds->rec.fill_value, ds->ft->type, 1);
    else if ((err = type_each_code(ds->ft->type, zero_is_zero, f)) == 0)
        return 0;
    if (err <= 0)
        err = fill_convert(ds);
    if (err == DREP_ERR_CONVERSION && ds->rec.fill != FMT_FILL_VALUE) {
        ds->fill_err = err; /* it may never be needed */
        return 0;
    }
    return fail_in(err, "fill value");
}

int shape_check(const struct object_rec *rec, const struct ftype *ft)
{
    int64_t n = 1, esize = ft->stored.extent, bytes;

    if (rec->rank == FMT_RANK_NULL)
        return 0;
    for (int d = 0; d < rec->rank; d++)
        if (rec->len[d] > (uint64_t)TYPE_SIZE_MAX ||
            (rec->len[d] != 0 && __builtin_mul_overflow(n, (int64_t)rec->len[d], &n)) ||
            n > TYPE_SIZE_MAX)
            return fail(DREP_ERR_LIMIT, "more than 2^62 elements");
    if (__builtin_mul_overflow(n, esize, &bytes) || bytes > TYPE_SIZE_MAX)
        return fail(DREP_ERR_LIMIT, "more than 2^62 bytes");
    if (rec->layout == FMT_COMPACT && bytes > COMPACT_MAX)
        return fail(DREP_ERR_FORMAT, "a compact dataset of %lld bytes, at most %d are possible",
                    (long long)bytes, COMPACT_MAX);
    if (rec->layout == FMT_CONTIGUOUS && rec->slab == 0)
        return fail(DREP_ERR_FORMAT, "slabs without elements");
    if (rec->layout == FMT_CONTIGUOUS && ft->type->variable)
        return fail(DREP_ERR_FORMAT, "a contiguous dataset of a variable-length type");
    if (rec->layout == FMT_CONTIGUOUS || rec->layout == FMT_CHUNKED) {
        if (rec->slab > (uint64_t)TYPE_SIZE_MAX ||
            __builtin_mul_overflow(chunk_count(rec), esize, &bytes) || bytes > TYPE_SIZE_MAX)
            return fail(DREP_ERR_LIMIT, "chunks of more than 2^62 bytes");
    }
    return 0;
}

/* Types that the table of extents does not list are nobody's. */
static int listed(int code, void *ctx)
{
    const drep_file *f = ctx;

    if (f->header.used[code])
        return 0;
    return fail(DREP_ERR_FORMAT, "the header's extents do not list %s", drep_code_name(code));
}

int dataset_type(drep_file *f, const struct object_rec *rec, struct ftype **out)
{
    struct ftype *ft;
    int err = ftype_get(f, rec->type, true, &ft);

    if (err == 0)
        err = type_each_code(ft->type, listed, f);
    if (err == 0)
        err = shape_check(rec, ft);
    if (err == 0)
        *out = ft;
    return err;
}

int dataset_check(const drep_dataset *ds, const char *call)
{
    if (ds == NULL)
        return fail(DREP_ERR_ARG, "%s: no dataset", call);
    if (!handle_is(ds, HANDLE_DATASET))
        return fail(DREP_ERR_ARG, "%s: the dataset is closed", call);
    if (ds->file == NULL)
        return fail(DREP_ERR_ARG, "%s: dataset \"%s\": its file is closed", call, ds->path);
    return file_here(ds->file);
}

/* What the handle has of the file. */
static void dataset_empty(drep_dataset *ds)
{
    buf_release(&ds->fill_heap);
    mem_free(ds->fill);
    ds->fill = NULL;
}

static void dataset_free(drep_dataset *ds)
{
    dataset_empty(ds);
    maps_release(ds);
    buf_release(&ds->rec_bytes);
    buf_release(&ds->name);
    mem_free(ds->filter_names);
    drep_type_free(ds->own_type);
    mem_free(ds);
}

/* Path, mappings and what was lent out stay until the handle is closed. */
static void dataset_orphan(drep_dataset *ds)
{
    dataset_empty(ds);
    ds->own_type = drep_type_ref(ds->ft->type);
    ds->ft = NULL;
    ds->next = NULL;
    ds->file = NULL;
}

/* Open handles become shells that answer with an error; what closed ones left is freed. */
static void datasets_release(drep_file *f)
{
    while (f->datasets.first != NULL) {
        drep_dataset *ds = f->datasets.first;

        f->datasets.first = ds->next;
        if (ds->refs == 0)
            dataset_free(ds);
        else
            dataset_orphan(ds);
    }
    if (f->datasets.spare != NULL)
        dataset_free(f->datasets.spare);
}

static void datasets_adopt(drep_file *f, struct store *st)
{
    for (drep_dataset *ds = f->datasets.first; ds != NULL; ds = ds->next) {
        ds->chunks.st = st;
        ds->verified = false;
    }
}

static const struct dataset_hooks hooks = {datasets_release, datasets_adopt};

static drep_dataset *dataset_alloc(drep_dataset *ds)
{
    struct buf rec_bytes = {0}, name = {0};

    if (ds == NULL)
        return mem_zalloc(1, sizeof *ds);
    rec_bytes = ds->rec_bytes;
    name = ds->name;
    memset(ds, 0, offsetof(drep_dataset, rec));
    memset(&ds->rec, 0, offsetof(struct object_rec, len));
    memset(&ds->chunks, 0, offsetof(struct chunks, filter));
    ds->rec_bytes = rec_bytes;
    ds->name = name;
    return ds;
}

/* The record as it stands in the tree, into bytes that the handle keeps. */
static int load_bytes(drep_dataset *ds)
{
    struct peek peek;
    struct key key;
    int err;

    key_make(&key, ds->id, FMT_TAG_OBJECT);
    err = tree_peek(ds->file->st, &key, &peek);
    if (err == DREP_ERR_NOT_FOUND)
        return fail(DREP_ERR_FORMAT, "object %llu is not in the file", (unsigned long long)ds->id);
    if (err != 0)
        return err;
    err = buf_set(&ds->rec_bytes, peek.p, peek.len);
    tree_peeked(&peek);
    return err;
}

/* made: its bytes, where it was put into the tree just now; NULL: it is there. */
static int load_rec(drep_dataset *ds, const struct buf *made)
{
    struct buf *b = &ds->rec_bytes;
    struct in in;
    int err = made != NULL ? buf_set(b, made->p, made->len) : load_bytes(ds);

    if (err != 0)
        return err;
    in_init(&in, b->p, b->len);
    if ((err = object_get(&in, &ds->rec)) != 0)
        return fail(err, "%s at byte %zu of its record", in.why, in.err_at);
    return ds->rec.kind == FMT_DATASET ? 0 : fail(DREP_ERR_KIND, "not a dataset");
}

int dataset_alive(drep_dataset *ds)
{
    drep_file *f = ds->file;
    struct key key;
    int err;

    if (ds->gone)
        return fail(DREP_ERR_NOT_FOUND, "it is not in this commit");
    if (!store_writable(f->st) || ds->removals == f->op.removals)
        return 0;
    key_make(&key, ds->id, FMT_TAG_OBJECT);
    err = tree_get(f->st, &key, NULL);
    if (err == 0 && f->op.writing)
        ds->removals = f->op.removals;
    return err == DREP_ERR_NOT_FOUND ? fail(err, "it was removed") : err;
}

/* The names of users' filters, one after the other.  Plugins may bring them; whoever has none
 * learns of that when elements are moved. */
static int filter_names(drep_dataset *ds)
{
    const struct user_filter *user;
    const char *dirs;
    size_t size = 0;
    char *at;

    for (int i = 0; i < ds->rec.nfilters; i++)
        size += ds->rec.filter[i].id >= FMT_FILTER_USER ? ds->rec.filter[i].name.len + 1 : 0;
    if (size == 0)
        return 0;
    at = ds->filter_names = mem_zalloc(1, size);
    if (at == NULL)
        return fail_nomem();
    dirs = info_str(ds->file->hints.all, "drep_plugin_path");
    for (int i = 0; i < ds->rec.nfilters; i++) {
        const struct span *name = &ds->rec.filter[i].name;
        int err;

        if (ds->rec.filter[i].id < FMT_FILTER_USER)
            continue;
        memcpy(at, name->p, name->len);
        err = ds->file->rep.datarep == NULL ? 0 : filter_resolve(at, dirs, &user);
        if (err == DREP_ERR_NOMEM)
            return err;
        at += name->len + 1;
    }
    return 0;
}

/* spare: memory for it, NULL: there is none; made: as for load_rec(). */
static int dataset_new(drep_file *f, uint64_t id, const char *path, const struct buf *made,
                       drep_dataset *spare, drep_dataset **out)
{
    drep_dataset *ds = dataset_alloc(spare);
    int err;

    if (ds == NULL)
        return fail_nomem();
    ds->file = f;
    ds->id = id;
    ds->refs = 1;
    ds->removals = f->op.removals;
    err = buf_set(&ds->name, path, strlen(path) + 1);
    ds->path = (const char *)ds->name.p;
    if (err == 0)
        err = load_rec(ds, made);
    if (err == 0)
        err = dataset_type(f, &ds->rec, &ds->ft);
    if (err == 0) {
        ds->esize = ds->ft->stored.extent;
        chunks_of(f, id, &ds->rec, ds->esize, ds->ft->type->variable, ds->path, &ds->chunks);
        if (ds->rec.layout == FMT_CONTIGUOUS)
            ds->chunks.reserve = (uint64_t)(dataset_count(ds) * ds->esize);
        ds->chunks.check = payload_check;
        err = make_fill(ds);
    }
    if (err == 0)
        err = filter_names(ds);
    if (err != 0) {
        dataset_free(ds);
        return fail_in(err, "dataset \"%s\"", path);
    }
    *out = ds;
    return 0;
}

/* The open handle of an object, one reference more; NULL.  Under the lock. */
static drep_dataset *dataset_opened(drep_file *f, uint64_t id)
{
    drep_dataset *ds = f->datasets.first;

    while (ds != NULL && (ds->id != id || ds->refs == 0))
        ds = ds->next;
    if (ds != NULL)
        ds->refs++;
    return ds;
}

drep_dataset *dataset_hold(drep_dataset *ds)
{
    pthread_mutex_lock(&ds->file->datasets.lock);
    ds->refs++;
    pthread_mutex_unlock(&ds->file->datasets.lock);
    return ds;
}

static int dataset_take(drep_file *f, uint64_t id, const char *path, const struct buf *made,
                        drep_dataset **out)
{
    drep_dataset *ds, *mine = NULL, *spare = NULL;
    int err;

    pthread_mutex_lock(&f->datasets.lock);
    ds = dataset_opened(f, id);
    if (ds == NULL) {
        spare = f->datasets.spare;
        f->datasets.spare = NULL;
    }
    pthread_mutex_unlock(&f->datasets.lock);
    if (ds != NULL) {
        *out = ds;
        return 0;
    }
    if ((err = dataset_new(f, id, path, made, spare, &mine)) != 0)
        return err;
    pthread_mutex_lock(&f->datasets.lock);
    ds = dataset_opened(f, id);
    if (ds == NULL) {
        f->datasets.hooks = &hooks;
        mine->next = f->datasets.first;
        f->datasets.first = mine;
    }
    pthread_mutex_unlock(&f->datasets.lock);
    if (ds != NULL)
        dataset_free(mine);
    *out = ds != NULL ? ds : mine;
    return 0;
}

/* One handle an object and file: all openers share it. */
int dataset_get(drep_file *f, uint64_t id, const char *path, drep_dataset **out)
{
    return dataset_take(f, id, path, NULL, out);
}

/* Holds all open handles, so that closing one does not end it meanwhile. */
static int open_ones(drep_file *f, drep_dataset ***out, size_t *n)
{
    drep_dataset **list;
    size_t room = 0;

    *n = 0;
    pthread_mutex_lock(&f->datasets.lock);
    for (drep_dataset *ds = f->datasets.first; ds != NULL; ds = ds->next)
        room++;
    list = mem_array(room + 1, sizeof *list);
    for (drep_dataset *ds = f->datasets.first; list != NULL && ds != NULL; ds = ds->next) {
        if (ds->refs == 0)
            continue;
        ds->refs++;
        list[(*n)++] = ds;
    }
    pthread_mutex_unlock(&f->datasets.lock);
    *out = list;
    return list == NULL ? DREP_ERR_NOMEM : 0;
}

/* The dataset as the store has it now, beside the handle; NULL: it has it not. */
static int dataset_again(drep_dataset *ds)
{
    struct key key;
    int err;

    ds->again = NULL;
    key_make(&key, ds->id, FMT_TAG_OBJECT);
    err = tree_get(ds->file->st, &key, NULL);
    if (err == DREP_ERR_NOT_FOUND)
        return 0;
    return err != 0 ? err : dataset_new(ds->file, ds->id, ds->path, NULL, NULL, &ds->again);
}

/* The handle becomes what stands beside it, which becomes what the handle was. */
static void dataset_exchange(drep_dataset *ds)
{
    drep_dataset *again = ds->again, old = *ds;

    if (again == NULL) {
        ds->gone = true;
        return;
    }
    *ds = *again;
    ds->refs = old.refs;
    ds->opens = old.opens;
    ds->next = old.next;
    ds->maps = old.maps;
    *again = old;
    again->maps = NULL;
    ds->again = again;
}

int datasets_refresh(drep_file *f)
{
    drep_dataset **list;
    size_t n;
    int err = open_ones(f, &list, &n);

    for (size_t i = 0; i < n; i++)
        list[i]->again = NULL;
    for (size_t i = 0; err == 0 && i < n; i++)
        err = dataset_again(list[i]);
    pthread_mutex_lock(&f->datasets.lock);
    for (size_t i = 0; err == 0 && i < n; i++)
        dataset_exchange(list[i]);
    pthread_mutex_unlock(&f->datasets.lock);
    for (size_t i = 0; i < n; i++) {
        if (list[i]->again != NULL)
            dataset_free(list[i]->again);
        list[i]->again = NULL;
        dataset_put(list[i]);
    }
    mem_free(list);
    return err;
}

/* The last reference is given up.  NULL: the memory stays with the file, to serve again for the
 * next dataset. */
static drep_dataset *dataset_drop(drep_file *f, drep_dataset *ds)
{
    drep_dataset **p = &f->datasets.first;

    while (*p != NULL && *p != ds)
        p = &(*p)->next;
    if (*p != NULL)
        *p = ds->next;
    if (f->datasets.spare != NULL)
        return ds;
    dataset_empty(ds);
    maps_release(ds);
    mem_free(ds->filter_names);
    ds->filter_names = NULL;
    f->datasets.spare = ds;
    return NULL;
}

/* busy: a call that goes on may use the dataset, which then stays in the list without references
 * until the file is closed. */
static void dataset_unref(drep_file *f, drep_dataset *ds, bool busy)
{
    drep_dataset *gone = NULL;

    if (file_settle(f) != 0)
        return;
    pthread_mutex_lock(&f->datasets.lock);
    if (--ds->refs == 0 && !busy)
        gone = dataset_drop(f, ds);
    pthread_mutex_unlock(&f->datasets.lock);
    if (gone != NULL)
        dataset_free(gone);
}

void dataset_put(drep_dataset *ds)
{
    if (ds == NULL)
        return;
    if (ds->file != NULL)
        dataset_unref(ds->file, ds, false);
    else if (--ds->refs == 0)
        dataset_free(ds);
}

/* The reference becomes the caller's, and the dataset a handle. */
static int dataset_lend(drep_file *f, drep_dataset *ds)
{
    int err = 0;

    pthread_mutex_lock(&f->datasets.lock);
    if (ds->opens == 0)
        err = handle_add(ds, HANDLE_DATASET);
    if (err == 0)
        ds->opens++;
    pthread_mutex_unlock(&f->datasets.lock);
    if (err != 0)
        dataset_put(ds);
    return err;
}

int drep_dataset_open(drep_file *file, const char *path, drep_dataset **out)
{
    struct object_head head;
    drep_dataset *ds;
    uint64_t id;
    struct external_target to;
    int err = external_target(file, path, &to);

    if (err != 0)
        return err;
    if (to.file != NULL)
        return external_done(&to, drep_dataset_open(to.file, to.path, out));
    if ((err = read_begin(file)) != 0)
        return err;
    err = out == NULL ? fail(DREP_ERR_ARG, "drep_dataset_open: null argument")
                      : path_id(file, path, &id);
    if (err == 0)
        err = dataset_get(file, id, path, &ds);
    if (err == 0 && (err = dataset_lend(file, ds)) == 0)
        *out = ds;
    if (err == DREP_ERR_KIND && head_load(file, id, &head) == 0)
        err = fail(DREP_ERR_KIND, "%s: not a dataset", path);
    return read_end(file, err);
}

void drep_dataset_close(drep_dataset *dataset)
{
    drep_file *f;

    if (dataset == NULL || !handle_is(dataset, HANDLE_DATASET))
        return;
    f = dataset->file;
    if (f != NULL && file_settle(f) != 0)
        return;
    if (f != NULL)
        pthread_mutex_lock(&f->datasets.lock);
    if (--dataset->opens == 0)
        handle_remove(dataset, HANDLE_DATASET);
    if (f != NULL)
        pthread_mutex_unlock(&f->datasets.lock);
    if (f != NULL && rwlock_mine(&f->lock, false))
        dataset_unref(f, dataset, true);
    else
        dataset_put(dataset);
}

/* ---- creating ---- */

static int shape_of(const drep_spec *spec, struct object_rec *rec)
{
    if (spec->rank == DREP_NULL_SPACE) {
        rec->rank = FMT_RANK_NULL;
        return 0;
    }
    if (spec->rank < 0 || spec->rank > DREP_MAX_RANK || (spec->rank > 0 && spec->dims == NULL))
        return fail(DREP_ERR_DIMS, "rank %d", spec->rank);
    rec->rank = (uint8_t)spec->rank;
    for (int d = 0; d < spec->rank; d++) {
        int64_t len = spec->dims[d], max = spec->maxdims == NULL ? len : spec->maxdims[d];

        if (len < 0 || len > TYPE_SIZE_MAX ||
            (max != DREP_UNLIMITED && (max < len || max > TYPE_SIZE_MAX)))
            return fail(DREP_ERR_DIMS, "dimension %d: length %lld, maximum %lld", d, (long long)len,
                        (long long)max);
        rec->len[d] = (uint64_t)len;
        rec->dim[d] = 0;
        rec->max[d] = max == DREP_UNLIMITED ? FMT_UNLIMITED : (uint64_t)max;
        rec->has_max |= max != len;
    }
    return 0;
}

/* The chunked hints speak for arrays of their shape and item size (requirement H). */
static bool chunk_from_hints(drep_file *f, struct object_rec *rec, int64_t esize)
{
    int64_t shape[DREP_MAX_RANK], item = 0, size[DREP_MAX_RANK];

    if (info_ints(f->hints.all, "chunked", shape, DREP_MAX_RANK) != rec->rank ||
        info_ints(f->hints.all, "chunked_size", size, DREP_MAX_RANK) != rec->rank)
        return false;
    if (info_ints(f->hints.all, "chunked_item", &item, 1) == 1 && item != esize)
        return false;
    for (int d = 0; d < rec->rank; d++)
        if ((uint64_t)shape[d] != rec->len[d] || size[d] < 1 || size[d] > UINT32_MAX)
            return false;
    for (int d = 0; d < rec->rank; d++)
        rec->chunk[d] = (uint32_t)size[d];
    return true;
}

/* About 1 MiB, near cubes of the array's own proportions; a dimension that grows starts
 * with what it has, or as much as fills a sixteenth of a chunk. */
static void chunk_choose(struct object_rec *rec, int64_t esize, int64_t target)
{
    double bytes = (double)(esize > 0 ? esize : 1);

    for (int d = 0; d < rec->rank; d++) {
        uint64_t len = rec->len[d];

        if (len == 0)
            len = 1;
        if (len > UINT32_MAX)
            len = UINT32_MAX;
        rec->chunk[d] = (uint32_t)len;
        bytes *= (double)len;
    }
    for (int d = rec->rank - 1; d >= 0; d--)
        if (rec->max[d] > rec->len[d])
            while (bytes < (double)(target / 16) && rec->chunk[d] < rec->max[d] / 2 + 1 &&
                   rec->chunk[d] < UINT32_MAX / 2) {
                rec->chunk[d] *= 2;
                bytes *= 2;
            }
    while (bytes > (double)target) {
        int widest = 0;

        for (int d = 1; d < rec->rank; d++)
            if (rec->chunk[d] > rec->chunk[widest])
                widest = d;
        if (rec->rank == 0 || rec->chunk[widest] == 1)
            return;
        bytes /= (double)rec->chunk[widest];
        rec->chunk[widest] = rec->chunk[widest] / 2 + rec->chunk[widest] % 2;
        bytes *= (double)rec->chunk[widest];
    }
}

/* Elements of a slab: about 1 MiB, whole pages where elements allow. */
static uint64_t slab_choose(int64_t esize)
{
    int64_t page = esize > 0 ? 4096 / gcd(4096, esize) : 1, n;

    if (esize <= 0)
        return SLAB_TARGET;
    n = SLAB_TARGET / esize / page * page;
    return (uint64_t)(n > 0 ? n : page * esize <= 16 * SLAB_TARGET ? page : 1);
}

static int choose_layout(drep_file *f, const drep_spec *spec, struct object_rec *rec,
                         const struct ftype *ft)
{
    int64_t esize = ft->stored.extent, n = 1, bytes;
    int64_t max = f->hints.chunk_max;
    bool variable = ft->type->variable;
    bool grows_first = true, fixed;

    if (spec->layout < DREP_LAYOUT_AUTO || spec->layout > DREP_CHUNKED)
        return fail(DREP_ERR_ARG, "layout %d", spec->layout);
    for (int d = 0; rec->rank != FMT_RANK_NULL && d < rec->rank; d++) {
        if (rec->len[d] != 0 && __builtin_mul_overflow(n, (int64_t)rec->len[d], &n))
            return fail(DREP_ERR_LIMIT, "more than 2^62 elements");
        grows_first &= d == 0 || rec->max[d] == rec->len[d];
    }
    fixed = !rec->has_max;
    if (__builtin_mul_overflow(n, esize, &bytes) || bytes > TYPE_SIZE_MAX)
        return fail(DREP_ERR_LIMIT, "more than 2^62 bytes");
    if (rec->rank == FMT_RANK_NULL) {
        rec->layout = FMT_LAYOUT_NULL;
        return 0;
    }
    rec->layout = (uint8_t)spec->layout;
    if (spec->layout == DREP_LAYOUT_AUTO)
        rec->layout = spec->chunk != NULL || spec->nfilters > 0 || !fixed ? FMT_CHUNKED
                      : bytes <= COMPACT_AUTO                             ? FMT_COMPACT
                      : variable                                          ? FMT_CHUNKED
                                                                          : FMT_CONTIGUOUS;
    if (rec->layout == FMT_COMPACT && (bytes > COMPACT_MAX || !fixed || spec->nfilters > 0))
        return fail(DREP_ERR_LIMIT, "compact datasets are fixed, unfiltered and at most %d bytes",
                    COMPACT_MAX);
    if (rec->layout == FMT_CONTIGUOUS && (!grows_first || spec->nfilters > 0 || variable))
        return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                    "contiguous datasets grow along their first dimension only, without filters "
                    "and variable-length types");
    if (rec->layout == FMT_CONTIGUOUS) {
        rec->slab = slab_choose(esize);
    } else if (rec->layout == FMT_CHUNKED && spec->chunk != NULL) {
        for (int d = 0; d < rec->rank; d++) {
            if (spec->chunk[d] < 1 || spec->chunk[d] > UINT32_MAX)
                return fail(DREP_ERR_DIMS, "chunk length %lld of dimension %d",
                            (long long)spec->chunk[d], d);
            rec->chunk[d] = (uint32_t)spec->chunk[d];
        }
    } else if (rec->layout == FMT_CHUNKED) {
        if (!chunk_from_hints(f, rec, esize))
            chunk_choose(rec, esize, spec->nfilters > 0 && max < CHUNK_TARGET ? max : CHUNK_TARGET);
    }
    return shape_check(rec, ft);
}

/* A compressor's level, or its default. */
static int filter_level(const drep_filter *want, int most, int standard, struct filter_rec *rec)
{
    if (want->level < -1 || want->level > most)
        return fail(DREP_ERR_ARG, "filter %s: level %d; 1 to %d are possible",
                    fmt_filter_name(want->id), want->level, most);
    rec->nparams = 1;
    rec->param[0] = (uint32_t)(want->level > 0 ? want->level : standard);
    return 0;
}

static int user_filter(const drep_file *f, const drep_filter *want, struct filter_rec *rec)
{
    size_t len = want->name == NULL ? 0 : strlen(want->name);
    const struct user_filter *user;
    int err;

    if (len == 0 || len >= DREP_MAX_FILTER_NAME)
        return fail(DREP_ERR_NAME, "a filter's name has 1 to %d bytes", DREP_MAX_FILTER_NAME - 1);
    if (want->nparams < 0 || want->nparams > FMT_PARAMS_MAX)
        return fail(DREP_ERR_ARG, "filter \"%s\": %d parameters; at most %d are possible",
                    want->name, want->nparams, FMT_PARAMS_MAX);
    err = filter_resolve(want->name, info_str(f->hints.all, "drep_plugin_path"), &user);
    if (err == 0 && user == NULL)
        err = fail(DREP_ERR_UNSUPPORTED, "filter \"%s\" is not registered", want->name);
    rec->name = (struct span){(const uint8_t *)want->name, len};
    rec->nparams = (uint8_t)want->nparams;
    memcpy(rec->param, want->param, sizeof rec->param);
    return err;
}

/* The parameters that a filter's record carries. */
static int filter_params(const drep_file *f, const struct ftype *ft, const drep_filter *want,
                         struct filter_rec *rec)
{
    const struct node *leaf = ft->stored.dense ? ft->stored.root : NULL;
    int64_t unit = leaf != NULL ? leaf->stride : ft->stored.extent;

    memset(rec, 0, sizeof *rec);
    rec->id = (uint16_t)want->id;
    if (want->id == DREP_FILTER_USER)
        return user_filter(f, want, rec);
    if (unit > UINT32_MAX)
        return fail(DREP_ERR_LIMIT, "filters act on elements of less than 2^32 bytes");
    if (!filter_available(want->id))
        return fail(DREP_ERR_UNSUPPORTED, "filter %d (%s) is not built in", want->id,
                    fmt_filter_name(want->id) == NULL ? "?" : fmt_filter_name(want->id));
    switch (want->id) {
    case FMT_FILTER_SHUFFLE:
    case FMT_FILTER_BITSHUFFLE:
        rec->nparams = 1;
        rec->param[0] = (uint32_t)unit;
        return 0;
    case FMT_FILTER_DELTA:
        if (leaf == NULL || (unit != 1 && unit != 2 && unit != 4 && unit != 8))
            return fail(DREP_ERR_TYPE, "delta filters numbers of 1, 2, 4 or 8 bytes");
        rec->nparams = 2;
        rec->param[0] = (uint32_t)unit;
        rec->param[1] = leaf->leaf->code != 0 && f->rep.has_table &&
                        f->rep.table.row[leaf->leaf->code].order == DREP_LITTLE;
        return 0;
    case FMT_FILTER_DEFLATE:
        return filter_level(want, 12, 6, rec);
    case FMT_FILTER_ZSTD:
        return filter_level(want, 22, 3, rec);
    default:
        return filter_level(want, 12, 1, rec);
    }
}

static int choose_filters(const drep_file *f, const drep_spec *spec, struct object_rec *rec,
                          const struct ftype *ft)
{
    int64_t max = f->hints.chunk_max;

    if (spec->nfilters < 0 || spec->nfilters > DREP_MAX_FILTERS ||
        (spec->nfilters > 0 && spec->filters == NULL))
        return fail(DREP_ERR_ARG, "%d filters", spec->nfilters);
    for (int i = 0; i < spec->nfilters; i++) {
        int err = filter_params(f, ft, &spec->filters[i], &rec->filter[i]);

        if (err != 0)
            return err;
    }
    rec->nfilters = (uint8_t)spec->nfilters;
    if (spec->nfilters > 0 && chunk_count(rec) * ft->stored.extent > max)
        return fail(DREP_ERR_LIMIT,
                    "a filtered chunk of %lld bytes is larger than the hint drep_chunk_max, %lld",
                    (long long)(chunk_count(rec) * ft->stored.extent), (long long)max);
    return 0;
}

int dataset_plan(drep_file *f, const drep_spec *spec, const struct ftype *ft,
                 struct object_rec *rec)
{
    int err = shape_of(spec, rec);

    if (err == 0)
        err = choose_layout(f, spec, rec, ft);
    return err == 0 ? choose_filters(f, spec, rec, ft) : err;
}

/* ---- dimensions ---- */

/* Finds or makes the dimensions that the spec names. */
static int named_dims(drep_file *f, const char *path, uint64_t group, const drep_spec *spec,
                      struct object_rec *rec)
{
    struct object dim = {0};
    int err = 0;

    for (int d = 0; err == 0 && d < spec->rank; d++) {
        const char *name = spec->dim_names[d];

        if (name == NULL)
            continue;
        err = dimension_find(f, path, name, &dim);
        if (err == DREP_ERR_NOT_FOUND)
            err = dimension_make(f, group, name, rec->len[d], rec->max[d] == FMT_UNLIMITED, &dim);
        if (err == 0)
            err = fail_in(dimension_grow(f, &dim, rec->len[d]), "dimension \"%s\"", name);
        rec->dim[d] = dim.id;
        rec->has_dims = 1;
    }
    object_release(&dim);
    return err;
}

/* The bytes of the object's record are in scratch[0] then. */
static int create(drep_file *f, const char *path, const drep_spec *spec, uint64_t *id)
{
    struct object_rec rec;
    struct buf fill = {0};
    struct ftype *ft = NULL;
    drep_report lost = {0};
    const char *name;
    uint64_t group;
    int err = path_parent(f, path, 0, &group, &name);

    memset(&rec, 0, offsetof(struct object_rec, len));
    rec.kind = FMT_DATASET;
    rec.fill = (uint8_t)spec->fill;
    if (err == 0)
        err = shape_of(spec, &rec);
    if (err == 0)
        err = ftype_use(f, spec->type, true, &rec.type);
    if (err == 0)
        err = ftype_get(f, rec.type, true, &ft);
    if (err == 0)
        err = choose_layout(f, spec, &rec, ft);
    if (err == 0)
        err = choose_filters(f, spec, &rec, ft);
    if (err == 0 && spec->dim_names != NULL)
        err = named_dims(f, path, group, spec, &rec);
    if (err == 0 && spec->fill == DREP_FILL_VALUE) {
        err = spec->fill_value == NULL
                  ? fail(DREP_ERR_ARG, "no fill value")
                  : value_encode(&f->values, spec->type, 1, spec->fill_value, &fill);
        if (err == 0)
            err = value_settle(&f->rep, fill.p, fill.len, ft, DREP_RANGE_WRAP, &lost);
        if (err == 0 && lost.overflow > 0)
            err = fail(DREP_ERR_CONVERSION, "the fill value does not fit its type under %s",
                       f->rep.name);
        rec.fill_value = (struct span){fill.p, fill.len};
    }
    if (err == 0)
        err = object_link(f, group, name, &rec, id);
    if (err == 0)
        err = dimension_uses_add(f, *id, &rec);
    if (err == 0)
        paths_note(f, path, *id);
    buf_release(&fill);
    return err;
}

int drep_dataset_create(drep_file *file, const char *path, const drep_spec *spec,
                        drep_dataset **out)
{
    drep_dataset *ds = NULL;
    uint64_t id = 0;
    int err = write_begin(file);

    if (err != 0)
        return err;
    if (path == NULL || spec == NULL || spec->type == NULL)
        err = fail(DREP_ERR_ARG, "a dataset needs a path and a type");
    else if (spec->fill < DREP_FILL_DEFAULT || spec->fill > DREP_FILL_NONE)
        err = fail(DREP_ERR_ARG, "fill %d", spec->fill);
    if (err == 0)
        err = create(file, path, spec, &id);
    if (err == 0 && out != NULL)
        err = dataset_take(file, id, path, &file->op.scratch[0], &ds);
    if (err == 0 && ds != NULL) {
        ds->trimmed = true;
        err = dataset_lend(file, ds);
    }
    if (path != NULL)
        fail_in(err, "dataset \"%s\"", path);
    err = write_finish(file, err, !write_refused(err) && err != DREP_ERR_CONVERSION);
    if (err == 0 && out != NULL)
        *out = ds;
    return err;
}

/* ---- describing ---- */

struct usage {
    int64_t stored, chunks;
    int rank; /* of the grid */
    const drep_dataset *ds;
    struct run_before before;
};

static int add_chunk(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct usage *u = ctx;
    int64_t bytes;

    if (chunk_order_check(&u->before, u->rank, coord, rec) != 0 ||
        chunk_size_check(&u->ds->chunks, u->ds->esize, rec) != 0)
        return DREP_ERR_FORMAT;
    u->chunks += rec->run;
    if (__builtin_mul_overflow(rec->run, rec->size, &bytes) ||
        __builtin_add_overflow(u->stored, bytes, &u->stored))
        return fail(DREP_ERR_FORMAT, "runs of chunks of more than 2^63 bytes");
    return 0;
}

static int usage_of(drep_dataset *ds, struct usage *u)
{
    struct buf value = {0};
    struct key key;
    int err;

    if (ds->rec.layout == FMT_CONTIGUOUS || ds->rec.layout == FMT_CHUNKED) {
        u->rank = ds->chunks.rank;
        u->ds = ds;
        return chunk_each(&ds->chunks, add_chunk, u);
    }
    key_make(&key, ds->id, FMT_TAG_DATA);
    err = tree_get(ds->file->st, &key, &value);
    if (err == 0) {
        u->stored = (int64_t)value.len;
        u->chunks = 1;
    }
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

void dataset_filters(const drep_dataset *ds, drep_filter *out)
{
    const struct object_rec *r = &ds->rec;
    const char *name = ds->filter_names;

    memset(out, 0, r->nfilters * sizeof *out);
    for (int i = 0; i < r->nfilters; i++) {
        drep_filter *to = &out[i];

        to->id = r->filter[i].id;
        to->nparams = r->filter[i].nparams;
        for (int p = 0; p < r->filter[i].nparams && p < 8; p++)
            to->param[p] = r->filter[i].param[p];
        if (to->id >= FMT_FILTER_USER) {
            to->name = name;
            name += r->filter[i].name.len + 1;
        } else if (to->id >= FMT_FILTER_DEFLATE && to->nparams > 0) {
            to->level = (int)to->param[0];
        }
    }
}

int drep_dataset_info(drep_dataset *dataset, drep_dsinfo *out)
{
    const struct object_rec *r;
    struct usage u = {0};
    int err;

    if (out == NULL)
        return fail(DREP_ERR_ARG, "drep_dataset_info: null argument");
    if ((err = dataset_check(dataset, "drep_dataset_info")) != 0)
        return err;
    if ((err = read_begin_stored(dataset->file)) != 0)
        return err;
    if ((err = usage_of(dataset, &u)) != 0)
        return read_end(dataset->file, fail_in(err, "dataset \"%s\"", dataset->path));
    r = &dataset->rec;
    memset(out, 0, sizeof *out);
    out->id = dataset->id;
    out->type = dataset->ft->type;
    out->rank = r->rank == FMT_RANK_NULL ? DREP_NULL_SPACE : r->rank;
    for (int d = 0; d < out->rank; d++) {
        out->dims[d] = (int64_t)r->len[d];
        out->maxdims[d] = r->max[d] == FMT_UNLIMITED ? DREP_UNLIMITED : (int64_t)r->max[d];
        out->dim_ids[d] = r->has_dims ? r->dim[d] : 0;
        out->chunk[d] = r->layout == FMT_CHUNKED ? r->chunk[d] : 0;
    }
    if (r->layout == FMT_CONTIGUOUS)
        out->chunk[0] = (int64_t)r->slab;
    out->count = dataset_count(dataset);
    out->layout = r->layout;
    out->nfilters = r->nfilters;
    dataset_filters(dataset, out->filters);
    out->fill = r->fill;
    out->element_size = dataset->esize;
    out->stored = u.stored;
    out->chunks = u.chunks;
    return read_end(dataset->file, 0);
}

int drep_dataset_fill(drep_dataset *dataset, const drep_type *type, void *value)
{
    const drep_type *own;
    int err;

    if (value == NULL)
        return fail(DREP_ERR_ARG, "drep_dataset_fill: null argument");
    if ((err = dataset_check(dataset, "drep_dataset_fill")) != 0)
        return err;
    if ((err = read_begin(dataset->file)) != 0)
        return err;
    own = dataset->ft->type;
    if (type == NULL)
        type = own;
    if (type->items != own->items)
        err = fail(DREP_ERR_COUNT, "a fill value of %lld items as %lld", (long long)own->items,
                   (long long)type->items);
    else
        memset(value, 0, (size_t)type->prog.extent);
    if (err == 0 && dataset->rec.fill == FMT_FILL_VALUE)
        err = value_decode(&dataset->file->values, &dataset->rec.fill_value, own, 1, type, value);
    return read_end(dataset->file, fail_in(err, "dataset \"%s\"", dataset->path));
}

/* ---- filters by name ---- */

const char *drep_filter_name(int id)
{
    return fmt_filter_name(id);
}

int drep_filter_from_name(const char *name)
{
    return name == NULL ? 0 : fmt_filter_from_name(name);
}

int drep_filter_available(int id)
{
    return filter_available(id);
}
