/* dataset.c - datasets: handles that copies share, creation, transfers. */
/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- handles ---- */

/* drep_dataset_info() into a struct that need not be zeroed: it fills all that the struct has. */
static int info_of(drep_dataset *dataset, drep_dsinfo *info)
{
    info->size = sizeof *info;
    return drep_dataset_info(dataset, info);
}

static int dataset_keep(struct fortran_file *file, drep_dataset *dataset, const char *path,
                        struct fortran_dataset **out)
{
    struct fortran_dataset *box = calloc(1, sizeof *box);

    if (box)
        box->path = strdup(path);
    if (!box || !box->path) {
        free(box);
        drep_dataset_close(dataset);
        return refuse(DREP_ERR_NOMEM, path, "out of memory");
    }
    drep_fortran_file_share(file);
    box->users = 1;
    box->rank = RANK_UNKNOWN;
    box->dataset = dataset;
    box->file = file;
    *out = box;
    return 0;
}

static int dataset_handle(const struct fortran_dataset *box, drep_dataset **out)
{
    if (!box)
        return refuse(DREP_ERR_ARG, NULL, "the dataset is not open");
    if (!box->dataset)
        return about(refuse(DREP_ERR_ARG, box->path, "the dataset is not open"), box->file,
                     box->path);
    *out = box->dataset;
    return 0;
}

DREP_API int drep_fortran_dataset_open(struct fortran_file *file, const char *path,
                                       struct fortran_dataset **out)
{
    drep_file *f = file_for(file, path);
    drep_dataset *dataset = NULL;
    int err = f ? drep_dataset_open(f, path, &dataset) : DREP_ERR_ARG;

    return err ? about(err, file, path) : dataset_keep(file, dataset, path, out);
}

DREP_API void drep_fortran_dataset_share(struct fortran_dataset *box)
{
    if (box)
        __atomic_add_fetch(&box->users, 1, __ATOMIC_RELAXED);
}

DREP_API void drep_fortran_dataset_close(struct fortran_dataset *box)
{
    if (box && box->dataset)
        drep_dataset_close(box->dataset);
    if (box)
        box->dataset = NULL;
}

DREP_API void drep_fortran_dataset_release(struct fortran_dataset *box)
{
    if (!box || __atomic_sub_fetch(&box->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    drep_fortran_dataset_close(box);
    drep_fortran_file_release(box->file);
    free(box->path);
    free(box);
}

/* ---- creation ---- */

struct fortran_fill { /* Fortran's type drep_value */
    int code, size;
    unsigned char bytes[256];
};

/* The parts of a new dataset: dimensions in the file's order, the rest as the library takes it. */
struct plan {
    const char *path; /* for messages */
    drep_type *type;
    int64_t dims[DREP_MAX_RANK], maxdims[DREP_MAX_RANK], chunk[DREP_MAX_RANK];
    const char *dim_names[DREP_MAX_RANK];
    int of_names; /* dims and maxdims are those of dimensions that there are */
    drep_filter filters[DREP_MAX_FILTERS];
    void *fill;
    drep_spec spec;
};

static void plan_release(struct plan *p)
{
    drep_type_free(p->type);
    free(p->fill);
}

static void reverse(int64_t *list, int n)
{
    for (int i = 0; i < n / 2; i++) {
        int64_t t = list[i];

        list[i] = list[n - 1 - i];
        list[n - 1 - i] = t;
    }
}

/* One list of lengths, reversed; *given tells that there is one. */
static int lengths(const CFI_cdesc_t *a, const char *path, const char *what, int rank,
                   int64_t *list, int *given)
{
    int n, err = memory_integers(a, path, what, DREP_MAX_RANK, list, &n);

    *given = n >= 0;
    if (err || n < 0)
        return err;
    if (n != rank)
        return refuse(DREP_ERR_ARG, path, "%s has %d numbers, the dataset %d dimensions", what, n,
                      rank);
    reverse(list, n);
    return 0;
}

static int too_long(const char *path, int dimension, int64_t len, int64_t most)
{
    return refuse(DREP_ERR_DIMS, path, "dimension %d: length %lld, maximum %lld", dimension,
                  (long long)len, (long long)most);
}

/* Are the lengths of a shape, in the file's order, possible?  Numbers of dimensions in the message
 * are Fortran's. */
static int lengths_fit(const char *path, int rank, const int64_t *len, const int64_t *most)
{
    for (int d = rank - 1; d >= 0; d--) {
        if (len[d] < 0)
            return refuse(DREP_ERR_DIMS, path, "dimension %d: length %lld", rank - d,
                          (long long)len[d]);
        if (most[d] != DREP_UNLIMITED && len[d] > most[d])
            return too_long(path, rank - d, len[d], most[d]);
    }
    return 0;
}

/* The names of dimensions, if there are any: "lon\0lat\0", in Fortran's order. */
static int plan_names(struct plan *p, int n, const char *names, int rank)
{
    if (n < 0)
        return 0;
    if (n != rank)
        return refuse(DREP_ERR_ARG, p->path, "dims has %d names, the dataset %d dimensions", n,
                      rank);
    for (int i = 0; i < rank; i++, names += strlen(names) + 1)
        p->dim_names[rank - 1 - i] = *names ? names : NULL;
    p->spec.dim_names = rank ? p->dim_names : NULL;
    return 0;
}

/* "shuffle,zstd:3" */
static int plan_filters(struct plan *p, const char *text)
{
    char *copy = text ? strdup(text) : NULL, *rest = copy, *word;
    int n = 0, err = 0;

    if (!text)
        return 0;
    if (!copy)
        return refuse(DREP_ERR_NOMEM, p->path, "out of memory");
    while (!err && (word = strsep(&rest, ","))) {
        char *level = strchr(word, ':'), *end = NULL;
        drep_filter f = {.level = -1};

        if (level)
            *level++ = '\0';
        f.id = drep_filter_from_name(word);
        if (level)
            f.level = (int)strtol(level, &end, 10);
        if (!f.id)
            err = refuse(DREP_ERR_ARG, p->path, "there is no filter \"%s\"", word);
        else if (level && (end == level || *end))
            err = refuse(DREP_ERR_ARG, p->path, "the level of filter %s is \"%s\"", word, level);
        else if (n == DREP_MAX_FILTERS)
            err = refuse(DREP_ERR_LIMIT, p->path, "more than %d filters", DREP_MAX_FILTERS);
        else
            p->filters[n++] = f;
    }
    free(copy);
    p->spec.filters = n ? p->filters : NULL;
    p->spec.nfilters = n;
    return err;
}

/* The fill value `size` bytes at `value`, of the predefined datatype `code`, as one of the
 * dataset's. */
static int plan_fill(struct plan *p, int code, const void *value, int64_t size)
{
    drep_type *from;
    char *text;
    int err = 0;

    if (code == 0)
        return 0;
    if (size > (int64_t)sizeof((struct fortran_fill *)NULL)->bytes)
        return refuse(DREP_ERR_LIMIT, p->path, "a fill value of %lld bytes: drep_value() holds %zu",
                      (long long)size, sizeof((struct fortran_fill *)NULL)->bytes);
    p->spec.fill = DREP_FILL_VALUE;
    if (drep_type_kind(p->type) == DREP_KIND_VSTRING) {
        text = calloc(1, (size_t)size + 1 + sizeof text);
        if (!text)
            return refuse(DREP_ERR_NOMEM, p->path, "out of memory");
        p->fill = text;
        memcpy(text + sizeof text, value, (size_t)size);
        value = text + sizeof text;
        memcpy(text, &value, sizeof value);
        p->spec.fill_value = p->fill;
        return 0;
    }
    if (code == DREP_CODE_CHARACTER)
        err = drep_type_string(size, DREP_PAD_SPACE, &from);
    else
        from = drep_type_ref(drep_predefined(code));
    if (err)
        return err;
    p->fill = calloc(1, (size_t)drep_type_extent(p->type));
    err = p->fill ? drep_convert(p->type, p->fill, from, value, 1, NULL)
                  : refuse(DREP_ERR_NOMEM, p->path, "out of memory");
    p->spec.fill_value = p->fill;
    drep_type_free(from);
    return err;
}

/* The rest of a new dataset, whose type, rank and lengths `p` has. */
struct wishes {
    const CFI_cdesc_t *maxshape, *chunk;
    int ndims;
    const char *dims, *filters;
    int layout;
    const struct fortran_fill *fill;
    const char *datarep;
};

static int plan_rest(struct plan *p, const struct wishes *w, int rank)
{
    int given, err = lengths(w->maxshape, p->path, "maxshape", rank, p->maxdims, &given);

    given = given || p->of_names;
    p->spec = DREP_SPEC(.type = p->type, .rank = rank, .dims = rank ? p->dims : NULL,
                        .layout = w->layout, .datarep = w->datarep);
    if (!err && given)
        p->spec.maxdims = p->maxdims;
    if (!err && rank > 0)
        err = lengths_fit(p->path, rank, p->dims, given ? p->maxdims : p->dims);
    if (!err)
        err = lengths(w->chunk, p->path, "chunk", rank, p->chunk, &given);
    if (!err && given) {
        p->spec.chunk = p->chunk;
        p->spec.layout = w->layout ? w->layout : DREP_CHUNKED;
    }
    if (!err)
        err = plan_names(p, w->ndims, w->dims, rank);
    if (!err)
        err = plan_filters(p, w->filters);
    if (!err && w->fill)
        err = plan_fill(p, w->fill->code, w->fill->bytes, w->fill->size);
    return err;
}

/* Creates a dataset, and the groups above it that are missing; after an error there are none of
 * these either. */
static int create_below(drep_file *f, const char *path, const drep_spec *spec, drep_dataset **out)
{
    char *group = strdup(path), *slash = group ? strrchr(group, '/') : NULL, *end = NULL, *why;
    int kind = 0, err = drep_dataset_create(f, path, spec, out);

    if (err != DREP_ERR_NOT_FOUND || !slash || slash == group) {
        free(group);
        return err;
    }
    *slash = '\0';
    /* The first that is missing is what to remove. */
    for (end = strchr(group + 1, '/'); end; end = strchr(end + 1, '/')) {
        *end = '\0';
        if (drep_exists(f, group, &kind) || kind == 0)
            break;
        *end = '/';
    }
    if (end)
        *end = '/';
    if (drep_exists(f, group, &kind) == 0 && kind == 0) {
        err = drep_group_create(f, group, 1);
        if (!err)
            err = drep_dataset_create(f, path, spec, out);
        if (end)
            *end = '\0';
        why = err ? strdup(drep_error()) : NULL;
        if (why && drep_link_remove(f, group) == 0)
            refuse(err, NULL, "%s", why);
        free(why);
    }
    free(group);
    return err;
}

/* Lengths, and whether they grow, of the dimensions of the names, each followed by a NUL. */
static int plan_shape_of_names(struct plan *p, drep_file *f, int n, const char *names)
{
    for (int i = 0; i < n; i++, names += strlen(names) + 1) {
        drep_objinfo info = DREP_OBJINFO;
        char *address = NULL;
        int err = strchr(names, '#') ? 0 : drep_dimension_find(f, p->path, names, &address);

        if (!err)
            err = drep_stat(f, address ? address : names, &info);
        free(address);
        if (err)
            return refuse(err, p->path, "there is no shape, nor a dimension \"%s\": %s", names,
                          drep_error());
        p->dims[n - 1 - i] = info.len;
        p->maxdims[n - 1 - i] = info.unlimited ? DREP_UNLIMITED : info.len;
    }
    p->of_names = 1;
    return 0;
}

DREP_API int drep_fortran_dataset_create(struct fortran_file *file, const char *path,
                                         const char *type, const CFI_cdesc_t *shape,
                                         const CFI_cdesc_t *maxshape, const CFI_cdesc_t *chunk,
                                         int ndims, const char *dims, const char *filters,
                                         int layout, const struct fortran_fill *fill,
                                         const char *datarep, struct fortran_dataset **out)
{
    const struct wishes w = {maxshape, chunk, ndims, dims, filters, layout, fill, datarep};
    drep_file *f = file_for(file, path);
    struct plan p = {.path = path};
    drep_dataset *dataset = NULL;
    int rank = 0, err = f ? drep_type_parse(type, &p.type) : DREP_ERR_ARG;

    if (f && err)
        err = refuse(err, path, "%s: %s", type, drep_error());
    if (!err)
        err = memory_integers(shape, path, "shape", DREP_MAX_RANK, p.dims, &rank);
    if (rank >= 0)
        reverse(p.dims, rank);
    else
        rank = ndims > 0 ? ndims : 0; /* else a scalar */
    if (!err && !shape && rank > 0)
        err = rank > DREP_MAX_RANK ? refuse(DREP_ERR_LIMIT, path, "%d dimensions", rank)
                                   : plan_shape_of_names(&p, f, rank, dims);
    if (!err)
        err = plan_rest(&p, &w, rank);
    if (!err)
        err = create_below(f, path, &p.spec, &dataset);
    plan_release(&p);
    return err ? about(err, file, path) : dataset_keep(file, dataset, path, out);
}

/* Opens the dataset at `path`, or creates one for the elements of `a`. */
DREP_API int drep_fortran_dataset_for(struct fortran_file *file, const char *path,
                                      const CFI_cdesc_t *a, int code, const char *type,
                                      const CFI_cdesc_t *maxshape, const CFI_cdesc_t *chunk,
                                      int ndims, const char *dims, const char *filters, int layout,
                                      const struct fortran_fill *fill, const char *datarep,
                                      struct fortran_dataset **out)
{
    const struct wishes w = {maxshape, chunk, ndims, dims, filters, layout, fill, datarep};
    drep_file *f = file_for(file, path);
    struct plan p = {.path = path};
    drep_dataset *dataset = NULL;
    struct memory m;
    int err = drep_fortran_dataset_open(file, path, out);

    if (err != DREP_ERR_NOT_FOUND)
        return err;
    err = memory_of(a, code, type, path, &m);
    if (err)
        return about(err, file, path);
    p.type = drep_type_ref(m.element);
    memcpy(p.dims, m.len, sizeof m.len);
    reverse(p.dims, m.rank);
    err = plan_rest(&p, &w, m.rank);
    if (!err)
        err = create_below(f, path, &p.spec, &dataset);
    memory_release(&m);
    plan_release(&p);
    return err ? about(err, file, path) : dataset_keep(file, dataset, path, out);
}

/* ---- transfers ---- */

/* A selection in the file's order, from 0 on. */
struct place {
    int rank, boxed; /* boxed: it is not the whole dataset */
    int64_t start[DREP_MAX_RANK], count[DREP_MAX_RANK], stride[DREP_MAX_RANK];
};

static int shapes_differ(const char *path, const struct memory *m, const char *what, int rank,
                         const int64_t *len)
{
    char a[MEMORY_SHAPE_TEXT], b[MEMORY_SHAPE_TEXT];

    return refuse(DREP_ERR_DIMS, path, "the array has the shape %s, the %s %s",
                  memory_shape_text(a, m->rank, m->len), what, memory_shape_text(b, rank, len));
}

/* Everything: the array has the dataset's shape. */
static int place_whole(const struct fortran_dataset *box, const struct memory *m)
{
    int64_t shape[DREP_MAX_RANK];
    drep_dsinfo info;
    int same, err = info_of(box->dataset, &info);

    if (err)
        return err;
    if (info.rank == DREP_NULL_SPACE)
        return refuse(DREP_ERR_DIMS, box->path, "the dataset has no elements");
    same = m->rank == info.rank;
    for (int d = 0; d < info.rank; d++) {
        shape[d] = info.dims[info.rank - 1 - d];
        same = same && shape[d] == m->len[d];
    }
    return same ? 0 : shapes_differ(box->path, m, "dataset", info.rank, shape);
}

/* A box: counts are given, or those of the array. */
static int place_box(const char *path, const struct memory *m, struct place *p, int counts)
{
    int64_t all = 1;

    for (int d = 0; !counts && d < p->rank; d++)
        p->count[d] = d < m->rank ? m->len[d] : 1;
    /* A count that is given may be read into one row: elements in Fortran's order. */
    if (counts && m->rank == 1)
        for (int d = 0; d < p->rank && all >= 0; d++)
            all = p->count[d] > 0 && all > INT64_MAX / p->count[d] ? -1 : all * p->count[d];
    if (!(counts && m->rank == 1 && all == m->len[0]) &&
        (m->rank > p->rank || !memory_fits(m, p->rank, p->count)))
        return shapes_differ(path, m, counts ? "count" : "dataset's rank is less:", p->rank,
                             p->count);
    for (int d = 0; d < p->rank; d++) {
        if (p->start[d] < 1 || p->stride[d] < 1)
            return refuse(DREP_ERR_RANGE, path, "%s(%d) is %lld: it begins at 1",
                          p->start[d] < 1 ? "start" : "stride", d + 1,
                          (long long)(p->start[d] < 1 ? p->start[d] : p->stride[d]));
        p->start[d]--;
    }
    reverse(p->start, p->rank);
    reverse(p->count, p->rank);
    reverse(p->stride, p->rank);
    return 0;
}

static int place_list(const CFI_cdesc_t *a, const char *path, const char *what, int rank,
                      int64_t *list, int *given)
{
    int n, err = memory_integers(a, path, what, DREP_MAX_RANK, list, &n);

    *given = n >= 0;
    for (int d = 0; n < 0 && d < rank; d++)
        list[d] = 1;
    if (!err && n >= 0 && n != rank)
        err = refuse(DREP_ERR_ARG, path, "%s has %d numbers, the dataset %d dimensions", what, n,
                     rank);
    return err;
}

static int rank_of(struct fortran_dataset *box, int *rank)
{
    drep_dsinfo info;
    int err;

    *rank = __atomic_load_n(&box->rank, __ATOMIC_RELAXED);
    if (*rank != RANK_UNKNOWN)
        return 0;
    err = info_of(box->dataset, &info);
    if (err)
        return err;
    *rank = info.rank;
    __atomic_store_n(&box->rank, info.rank, __ATOMIC_RELAXED);
    return 0;
}

static int place_of(struct fortran_dataset *box, const struct memory *m, const CFI_cdesc_t *start,
                    const CFI_cdesc_t *count, const CFI_cdesc_t *stride, struct place *p)
{
    int err, counts, unused;

    p->boxed = start || count || stride;
    if (!p->boxed)
        return place_whole(box, m);
    err = rank_of(box, &p->rank);
    if (!err && p->rank == DREP_NULL_SPACE)
        return refuse(DREP_ERR_DIMS, box->path, "the dataset has no elements");
    if (!err)
        err = place_list(start, box->path, "start", p->rank, p->start, &unused);
    if (!err)
        err = place_list(count, box->path, "count", p->rank, p->count, &counts);
    if (!err)
        err = place_list(stride, box->path, "stride", p->rank, p->stride, &unused);
    return err ? err : place_box(box->path, m, p, counts);
}

/* A box that reaches out of its dataset: the message in Fortran's indices, in place of the
 * library's. */
static void place_outside(const struct fortran_dataset *box, const struct place *p)
{
    drep_dsinfo info;

    if (info_of(box->dataset, &info))
        return;
    for (int d = p->rank - 1; d >= 0; d--) {
        int64_t last = p->start[d] + 1, most = INT64_MAX - last;

        if (p->count[d] > 1)
            last = p->count[d] - 1 > most / p->stride[d] ? INT64_MAX
                                                         : last + (p->count[d] - 1) * p->stride[d];
        if (p->count[d] > 0 && last > info.dims[d]) {
            refuse(DREP_ERR_RANGE, box->path, "index %lld of dimension %d, whose length is %lld",
                   (long long)last, p->rank - d, (long long)info.dims[d]);
            return;
        }
    }
}

/* The array of a transfer, which depends on the dataset's datatype where it is text. */
static int memory_of_transfer(const struct fortran_dataset *box, const CFI_cdesc_t *a, int code,
                              const char *type, int reads, struct memory *m)
{
    drep_dsinfo info;
    int err;

    if (code != DREP_CODE_CHARACTER || type)
        return memory_of(a, code, type, box->path, m);
    err = info_of(box->dataset, &info);
    return err ? err : memory_for(a, code, type, info.type, reads, box->path, m);
}

DREP_API int drep_fortran_dataset_move(struct fortran_dataset *box, const CFI_cdesc_t *a, int code,
                                       const char *type, const CFI_cdesc_t *start,
                                       const CFI_cdesc_t *count, const CFI_cdesc_t *stride,
                                       int range, int collective, int writes, drep_report *report)
{
    drep_xfer xfer = DREP_XFER(.range = range, .collective = collective, .report = report);
    drep_selection *sel = NULL;
    drep_dataset *dataset = NULL;
    struct memory m;
    struct place p;
    int err = dataset_handle(box, &dataset);

    if (err)
        return err;
    err = memory_of_transfer(box, a, code, type, !writes, &m);
    if (err)
        return about(err, box->file, box->path);
    err = place_of(box, &m, start, count, stride, &p);
    if (!err && p.boxed && p.rank > 0)
        err = drep_select_box(p.rank, p.start, p.count, p.stride, NULL, &sel);
    if (!err && writes)
        err = memory_put(&m, a, box->path);
    if (!err && (m.count > 0 || collective)) {
        err = writes ? drep_write(dataset, sel, m.type, memory_buffer(&m, a), &xfer)
                     : drep_read(dataset, sel, m.type, memory_buffer(&m, a), &xfer);
        if (err == DREP_ERR_RANGE && p.boxed)
            place_outside(box, &p);
    }
    if (!err && !writes)
        memory_get(&m, a);
    drep_selection_free(sel);
    memory_release(&m);
    return about(err, box->file, box->path);
}

/* The dataset at `path`, which is opened for this read alone. */
DREP_API int drep_fortran_file_read(struct fortran_file *file, const char *path,
                                    const CFI_cdesc_t *a, int code, const char *type,
                                    const CFI_cdesc_t *start, const CFI_cdesc_t *count,
                                    const CFI_cdesc_t *stride, int range, int collective,
                                    drep_report *report)
{
    struct fortran_dataset box = {.rank = RANK_UNKNOWN, .path = (char *)path, .file = file};
    drep_file *f = file_for(file, path);
    int err = f ? drep_dataset_open(f, path, &box.dataset) : DREP_ERR_ARG;

    if (err)
        return about(err, file, path);
    err = drep_fortran_dataset_move(&box, a, code, type, start, count, stride, range, collective, 0,
                                    report);
    drep_dataset_close(box.dataset);
    return err;
}

/* Where nobody may append, that is the reason to tell, before any of the array's. */
static int append_barred(drep_dataset *dataset)
{
    int err = drep_append(dataset, 0, 0, NULL, NULL, NULL);

    return err == DREP_ERR_UNSUPPORTED_OPERATION || err == DREP_ERR_READ_ONLY ? err : 0;
}

DREP_API int drep_fortran_dataset_append(const struct fortran_dataset *box, const CFI_cdesc_t *a,
                                         int code, const char *type, int range, drep_report *report)
{
    drep_xfer xfer = DREP_XFER(.range = range, .report = report);
    drep_dsinfo info;
    int64_t shape[DREP_MAX_RANK], n = 1;
    drep_dataset *dataset = NULL;
    struct memory m;
    int rank, err = dataset_handle(box, &dataset);

    if (err)
        return err;
    err = memory_of_transfer(box, a, code, type, 0, &m);
    if (err)
        return about(err, box->file, box->path);
    err = info_of(dataset, &info);
    rank = info.rank;
    if (!err && rank < 1)
        err = refuse(DREP_ERR_DIMS, box->path, "a scalar cannot grow");
    if (!err) {
        memcpy(shape, info.dims, sizeof shape);
        reverse(shape, rank);
        if (m.rank == rank)
            n = m.len[rank - 1];
        if ((m.rank != rank && m.rank != rank - 1) ||
            memcmp(shape, m.len, (size_t)(rank - 1) * sizeof *shape) != 0) {
            err = append_barred(dataset);
            if (!err)
                err = shapes_differ(box->path, &m, "dataset", rank, shape);
        } else if (info.maxdims[0] != DREP_UNLIMITED && n > info.maxdims[0] - info.dims[0]) {
            err = append_barred(dataset);
            if (!err)
                err = too_long(box->path, rank, info.dims[0] + n, info.maxdims[0]);
        }
    }
    if (!err)
        err = memory_put(&m, a, box->path);
    if (!err)
        err = drep_append(dataset, 0, n, m.type, memory_buffer(&m, a), &xfer);
    memory_release(&m);
    return about(err, box->file, box->path);
}

DREP_API int drep_fortran_dataset_resize(const struct fortran_dataset *box,
                                         const CFI_cdesc_t *shape)
{
    int64_t dims[DREP_MAX_RANK];
    drep_dsinfo info;
    drep_dataset *dataset = NULL;
    int given, err = dataset_handle(box, &dataset);

    if (err)
        return err;
    err = info_of(dataset, &info);
    if (!err)
        err = lengths(shape, box->path, "shape", info.rank, dims, &given);
    if (!err)
        err = lengths_fit(box->path, info.rank, dims, info.maxdims);
    if (!err)
        err = drep_dataset_resize(dataset, dims);
    return about(err, box->file, box->path);
}

/* *rank is -1 for the null dataspace; shape and maxshape have room for 32 numbers each, in
 * Fortran's order; *type is malloc'ed text. */
DREP_API int drep_fortran_dataset_inquire(const struct fortran_dataset *box, int *rank,
                                          int64_t *shape, int64_t *maxshape, int64_t *chunk,
                                          int *layout, char **type, const char **datarep,
                                          int *class)
{
    drep_dsinfo info;
    drep_dataset *dataset = NULL;
    int err = dataset_handle(box, &dataset);

    if (err)
        return err;
    err = info_of(dataset, &info);
    if (!err)
        err = drep_type_print(info.type, type);
    if (err)
        return about(err, box->file, box->path);
    *rank = info.rank;
    *layout = info.layout;
    *datarep = info.datarep;
    *class = memory_class(info.type);
    if (info.rank > 0) {
        memcpy(shape, info.dims, (size_t)info.rank * sizeof *shape);
        memcpy(maxshape, info.maxdims, (size_t)info.rank * sizeof *maxshape);
        memcpy(chunk, info.chunk, (size_t)info.rank * sizeof *chunk);
        reverse(shape, info.rank);
        reverse(maxshape, info.rank);
        if (info.layout == DREP_CHUNKED)
            reverse(chunk, info.rank);
    }
    return 0;
}
