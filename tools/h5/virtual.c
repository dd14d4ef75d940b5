/* virtual.c - the files that hold a dataset's elements, traced before they are read.
 *
 * libhdf5 gives the fill value, without a word, for sources of a virtual dataset that are not
 * there, and opens raw files by itself.  So each mapping is followed first, as libhdf5 will:
 * through other files, links and virtual datasets down to the raw files.  What is absent is
 * listed; a raw file that may not be read forbids reading the dataset at all. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/virtual.h"
#include "base/vec.h"
#include "tools/h5/guard.h"
#include "tools/h5/header.h"
#include "tools/h5/job.h"
#include "tools/h5/mapping.h"
#include "tools/h5/measure.h"
#include "tools/h5/source.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NESTING_MAX 8

/* One walk from a dataset to the files behind it. */
struct tracer {
    struct job *j;
    struct origins *out;
    int depth;
    size_t visited; /* mappings */
};

/* The tracer's cache of the last source that it followed: neighbours often have the
 * same one. */
struct followed {
    char *file, *dataset;
    int there;
    int rank;
    hsize_t dims[H5S_MAX_RANK];
    int64_t missing; /* elements that the source itself lacks */
    char why[PATH_MAX + 200];
};

/* ------------------------------------------------------------------ what is absent */

void origins_release(struct origins *o)
{
    size_t i;

    for (i = 0; i < o->n; i++)
        free(o->absent[i].why);
    free(o->absent);
    memset(o, 0, sizeof *o);
}

/* Adds elements; those that lack for the reason of the last entry are one entry with it. */
static int add_absent(struct tracer *t, int64_t elements, const char *why)
{
    struct origins *o = t->out;

    if (o->n && strcmp(o->absent[o->n - 1].why, why) == 0) {
        o->absent[o->n - 1].elements += elements;
        return 0;
    }
    if (VEC_ROOM(o->absent, o->n, o->room, 1))
        return job_no_memory(t->j);
    o->absent[o->n] = (struct absent){elements, strdup(why)};
    return o->absent[o->n++].why ? 0 : job_no_memory(t->j);
}

/* ---------------------------------------------------------------------- raw files */

/* The directory of the file that holds the dataset, with a slash at its end. */
static void directory_of(hid_t object, char *dir, size_t size)
{
    char name[PATH_MAX] = "", real[PATH_MAX];
    char *slash;

    H5Fget_name(object, name, sizeof name);
    snprintf(dir, size, "%s", realpath(name, real) ? real : name);
    slash = strrchr(dir, '/');
    if (slash)
        slash[1] = 0;
    else
        *dir = 0;
}

/* A path of three parts; -1 if it is too long. */
static int place_join(char path[PATH_MAX], const char *place, const char *slash, const char *name)
{
    int n = snprintf(path, PATH_MAX, "%s%s%s", place, slash, name);

    return n >= 0 && n < PATH_MAX ? 0 : -1;
}

/* Bytes of a raw file that are not there though the dataset lies in them. */
static hsize_t raw_missing(const char *path, off_t offset, hsize_t size)
{
    struct stat st;

    if (size == H5F_UNLIMITED || stat(path, &st) != 0)
        return 0;
    if (offset >= st.st_size)
        return size;
    return size > (hsize_t)(st.st_size - offset) ? size - (hsize_t)(st.st_size - offset) : 0;
}

/* One raw file, in each place where HDF5 may look for it.  An absent one fails when it is
 * read; of one that is too short HDF5 makes zeros. */
static int judge_raw(struct tracer *t, const char *dir, const char *name, off_t offset,
                     hsize_t size, hsize_t *missing, char *why, size_t why_size)
{
    const char *prefix = getenv("HDF5_EXTFILE_PREFIX");
    int elsewhere = prefix && strcmp(prefix, "${ORIGIN}") != 0;
    const char *const places[] = {dir, "", elsewhere ? prefix : ""};
    char path[PATH_MAX], text[PATH_MAX + 200];
    size_t i;
    int there = 0;

    *missing = 0;
    for (i = 0; i < sizeof places / sizeof *places; i++) {
        const char *place = *name == '/' ? "" : places[i];
        enum guard_verdict verdict;

        if (place_join(path, place, i == 2 && *place ? "/" : "", name) != 0)
            return job_fail(t->j, DREP_ERR_NAME, "the name of a raw file is too long");
        verdict = guard_judge(&t->j->guard, path, text, sizeof text);
        if (verdict == GUARD_REFUSED)
            return job_fail(t->j, DREP_ERR_ACCESS, "%s", text);
        if (verdict == GUARD_ABSENT && i == 0)
            snprintf(why, why_size, "the raw file %s", text);
        if (verdict != GUARD_ALLOWED || there)
            continue;
        there = 1;
        guard_use(&t->j->guard, path);
        *missing = raw_missing(path, offset, size);
        snprintf(why, why_size, "the raw file %s ends too early", path);
    }
    if (!there)
        *missing = size;
    return 0;
}

/* The raw files of a dataset; *missing: elements that none of them holds. */
static int trace_raw(struct tracer *t, hid_t dset, hid_t dcpl, int64_t *missing, char *why,
                     size_t why_size)
{
    char name[PATH_MAX], dir[PATH_MAX], one[PATH_MAX + 300] = "";
    int i, err = 0, n = H5Pget_external_count(dcpl);
    hid_t type = H5Dget_type(dset);
    size_t size = type > 0 ? H5Tget_size(type) : 0;
    hsize_t all = 0, bytes, lacking;
    off_t offset;

    if (type > 0)
        H5Tclose(type);
    directory_of(dset, dir, sizeof dir);
    for (i = 0; !err && i < n; i++) {
        memset(name, 0, sizeof name);
        if (H5Pget_external(dcpl, (unsigned)i, sizeof name - 1, name, &offset, &bytes) < 0)
            return job_fail_hdf5(t->j, "raw files");
        err = judge_raw(t, dir, name, offset, bytes, &lacking, one, sizeof one);
        if (!err && lacking && all == 0)
            snprintf(why, why_size, "%s", one);
        all += lacking < (hsize_t)INT64_MAX - all ? lacking : 0;
    }
    *missing = size ? (int64_t)((all + size - 1) / size) : 0;
    return err;
}

/* -------------------------------------------------------------------- selections */

/* Blocks of an unlimited selection that begin inside the dataset, and in *dimension which
 * dimension is unlimited; -1 for any other selection. */
static int64_t unlimited_blocks(hid_t space, const hsize_t *dims, int *dimension)
{
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
    int d, rank = H5Sget_simple_extent_ndims(space);

    if (rank < 0 || H5Sget_select_type(space) != H5S_SEL_HYPERSLABS ||
        H5Sis_regular_hyperslab(space) <= 0 ||
        H5Sget_regular_hyperslab(space, start, stride, count, block) < 0)
        return -1;
    for (d = 0; d < rank; d++)
        if (count[d] == H5S_UNLIMITED || block[d] == H5S_UNLIMITED)
            break;
    if (d == rank)
        return -1;
    *dimension = d;
    if (dims[d] <= start[d])
        return 0;
    if (block[d] == H5S_UNLIMITED || stride[d] == 0)
        return 1;
    return (int64_t)((dims[d] - start[d] - 1) / stride[d] + 1);
}

/* Elements of the selection inside the dataset: of an unlimited one, of the block `which`, or
 * of all blocks (-1). */
static int64_t elements_of(hid_t space, const hsize_t *dims, int64_t which)
{
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
    int d, dimension = 0, rank = H5Sget_simple_extent_ndims(space);
    int64_t i, n = 1, blocks = unlimited_blocks(space, dims, &dimension), inside = 0;
    hssize_t points;

    if (blocks < 0) {
        points = H5Sget_select_npoints(space);
        return points > 0 ? (int64_t)points : 0;
    }
    H5Sget_regular_hyperslab(space, start, stride, count, block);
    for (d = 0; d < rank; d++)
        if (d != dimension)
            n *= (int64_t)(count[d] * block[d]);
    for (i = which < 0 ? 0 : which; i < blocks && (which < 0 || i == which); i++) {
        hsize_t at = start[dimension] + (hsize_t)i * stride[dimension];
        hsize_t left = dims[dimension] - at;

        inside += (int64_t)(block[dimension] < left ? block[dimension] : left);
    }
    return n * inside;
}

/* Elements that the selection takes from beyond the source. */
static int64_t elements_beyond(hid_t space, const struct followed *f)
{
    hsize_t low[H5S_MAX_RANK], high[H5S_MAX_RANK], zero[H5S_MAX_RANK] = {0};
    int d, beyond = 0;
    hssize_t all, inside = 0;
    hid_t copy;

    if (H5Sget_select_type(space) != H5S_SEL_HYPERSLABS ||
        H5Sget_simple_extent_ndims(space) != f->rank || f->rank <= 0 ||
        H5Sget_select_bounds(space, low, high) < 0)
        return 0;
    for (d = 0; d < f->rank; d++)
        beyond |= high[d] >= f->dims[d];
    all = H5Sget_select_npoints(space);
    if (!beyond || all <= 0)
        return 0;
    for (d = 0; d < f->rank; d++)
        if (f->dims[d] == 0)
            return (int64_t)all;
    copy = H5Scopy(space);
    if (copy > 0 && H5Sselect_hyperslab(copy, H5S_SELECT_AND, zero, NULL, f->dims, NULL) >= 0)
        inside = H5Sget_select_npoints(copy);
    if (copy > 0)
        H5Sclose(copy);
    return (int64_t)(inside > 0 ? all - inside : all);
}

/* ------------------------------------------------------------------------- names */

/* True if the name is a pattern with one name for each block. */
static int is_pattern(const char *name)
{
    for (; (name = strchr(name, '%')) != NULL; name += 2)
        if (name[1] == 'b')
            return 1;
        else if (name[1] != '%')
            return 0;
    return 0;
}

/* The name for a block: %b is its number, %% a percent sign; malloc'ed. */
static char *name_for(const char *name, int64_t block)
{
    size_t size = strlen(name) + 1;
    char *text = NULL, *to;
    const char *p;

    for (p = name; *p; p++)
        size += *p == '%' ? 20 : 0;
    text = malloc(size);
    for (p = name, to = text; text && *p; p++) {
        if (*p == '%' && p[1] == 'b') {
            to += sprintf(to, "%lld", (long long)block);
            p++;
            continue;
        }
        p += *p == '%' && p[1] == '%';
        *to++ = *p;
    }
    if (text)
        *to = 0;
    return text;
}

/* ---------------------------------------------------------------------- the files */

void virtual_opener_init(struct virtual_opener *o, struct job *j, hid_t dset)
{
    o->j = j;
    o->dset = dset;
    directory_of(dset, o->dir, sizeof o->dir);
}

/* Opens the file of a source where HDF5 looks for it: by its name if that is absolute, at the
 * prefix of the environment, beside the file that names it, in the working directory. */
static hid_t open_file(const struct virtual_opener *o, const char *name, char *why, size_t size)
{
    const char *prefix = getenv("HDF5_VDS_PREFIX"), *base = strrchr(name, '/');
    const char *const places[] = {"", prefix, o->dir, ""};
    char path[PATH_MAX], text[PATH_MAX + 200];
    struct guard *g = &o->j->guard;
    int i, refused = 0;
    hid_t file;

    snprintf(why, size, "%s is not there", name);
    for (i = *name == '/' ? 0 : 1; i < 4; i++) {
        const char *rest = *name == '/' && i > 0 ? base + 1 : name;
        enum guard_verdict verdict;

        if (!places[i] || place_join(path, places[i], i == 1 ? "/" : "", rest) != 0)
            continue;
        verdict = guard_judge(g, path, text, sizeof text);
        file = verdict == GUARD_ALLOWED ? H5Fopen(path, H5F_ACC_RDONLY, guard_fapl(g)) : -1;
        if (file >= 0)
            return file;
        if (verdict == GUARD_ALLOWED)
            snprintf(why, size, "%s cannot be opened as an HDF5 file", path);
        else if (verdict == GUARD_REFUSED && !refused)
            snprintf(why, size, "%s", text);
        refused |= verdict != GUARD_ABSENT;
    }
    return -1;
}

/* Opens the dataset of a source; f->why says what is missing.  Another file may lie behind a
 * link: then the guard knows which. */
static hid_t open_source(const struct virtual_opener *o, const char *file, const char *dataset,
                         struct followed *f)
{
    struct guard *g = &o->j->guard;
    int own = strcmp(file, ".") == 0;
    hid_t in = own ? H5Iget_file_id(o->dset) : open_file(o, file, f->why, sizeof f->why);
    hid_t source;

    if (in < 0)
        return -1;
    *g->why = 0;
    source = H5Dopen2(in, dataset, H5P_DEFAULT);
    if (source < 0 && *g->why)
        snprintf(f->why, sizeof f->why, "%s", g->why);
    else if (source < 0)
        snprintf(f->why, sizeof f->why, "dataset \"%s\" of %s cannot be opened", dataset,
                 own ? "this file" : file);
    H5Fclose(in);
    return source;
}

static int trace(struct tracer *t, hid_t dset, int64_t *missing, char *why, size_t why_size);

/* Follows a mapping to its source; the answer is in f. */
static int follow_mapping(struct tracer *t, const struct virtual_opener *o, const char *file,
                          const char *dataset, struct followed *f)
{
    hid_t source, space;
    int err;

    if (f->file && strcmp(f->file, file) == 0 && strcmp(f->dataset, dataset) == 0)
        return 0;
    free(f->file);
    free(f->dataset);
    *f = (struct followed){.file = strdup(file), .dataset = strdup(dataset)};
    if (!f->file || !f->dataset)
        return job_no_memory(t->j);
    source = open_source(o, file, dataset, f);
    if (source < 0)
        return 0;
    space = H5Dget_space(source);
    f->there = 1;
    f->rank = space > 0 ? H5Sget_simple_extent_dims(space, f->dims, NULL) : -1;
    if (space > 0)
        H5Sclose(space);
    err = trace(t, source, &f->missing, f->why, sizeof f->why);
    H5Dclose(source);
    return err;
}

/* ------------------------------------------------------------------ the mappings */

/* One source of a mapping: the only one, or that of a block.  *lacking: elements of the
 * virtual dataset that it should give and does not. */
static int trace_source(struct tracer *t, const struct virtual_opener *o, const struct mapping *m,
                        int64_t block, const hsize_t *dims, struct followed *f, int64_t *lacking)
{
    char *file = name_for(m->file, block), *dataset = name_for(m->dataset, block);
    int64_t all = elements_of(m->target, dims, block);
    int err = file && dataset ? follow_mapping(t, o, file, dataset, f) : job_no_memory(t->j);

    *lacking = 0;
    if (!err && !f->there) {
        *lacking = all;
    } else if (!err) {
        int64_t beyond = block < 0 ? elements_beyond(m->source, f) : 0;

        *lacking = f->missing < all ? f->missing : all;
        if (beyond > *lacking) {
            *lacking = beyond;
            snprintf(f->why, sizeof f->why, "dataset \"%s\" of %s is smaller than it should be",
                     dataset, strcmp(file, ".") == 0 ? "this file" : file);
        }
    }
    free(file);
    free(dataset);
    return err;
}

static int add_source(struct tracer *t, const struct followed *f, int64_t lacking, int64_t *missing,
                      char *why, size_t why_size)
{
    if (f->there && lacking == 0)
        return 0;
    if (*missing == 0)
        snprintf(why, why_size, "%s", f->why);
    *missing += lacking;
    return t->depth == 1 ? add_absent(t, lacking, f->why) : 0;
}

static int trace_mapping(struct tracer *t, const struct virtual_opener *o, const struct mapping *m,
                         const hsize_t *dims, struct followed *f, int64_t *missing, char *why,
                         size_t why_size)
{
    int pattern = is_pattern(m->file) || is_pattern(m->dataset), dimension = 0, err = 0;
    int64_t i, lacking, blocks = pattern ? unlimited_blocks(m->target, dims, &dimension) : 1;

    /* A pattern without a block inside needs its first file at least. */
    for (i = 0; !err && i < (blocks < 1 ? 1 : blocks); i++) {
        if (++t->visited > MAPPINGS_MAX)
            return job_fail(t->j, DREP_ERR_LIMIT, "it has more than a million virtual sources");
        err = job_stopped(t->j);
        if (!err)
            err = trace_source(t, o, m, pattern ? i : -1, dims, f, &lacking);
        if (!err)
            err = add_source(t, f, lacking, missing, why, why_size);
    }
    return err;
}

static int trace_virtual(struct tracer *t, hid_t dset, hid_t dcpl, int64_t *missing, char *why,
                         size_t why_size)
{
    hsize_t dims[H5S_MAX_RANK] = {0};
    hid_t space = H5Dget_space(dset);
    struct followed *f = calloc(1, sizeof *f);
    struct virtual_opener o;
    struct mapping m;
    size_t i, n = 0;
    int err = f ? 0 : job_no_memory(t->j);

    virtual_opener_init(&o, t->j, dset);
    if (!err && (space < 0 || H5Sget_simple_extent_dims(space, dims, NULL) < 0 ||
                 H5Pget_virtual_count(dcpl, &n) < 0))
        err = job_fail_hdf5(t->j, "virtual dataset");
    for (i = 0; !err && i < n; i++) {
        err = mapping_read(t->j, dcpl, i, &m);
        if (!err)
            err = trace_mapping(t, &o, &m, dims, f, missing, why, why_size);
        mapping_release(&m);
    }
    if (space > 0)
        H5Sclose(space);
    if (f) {
        free(f->file);
        free(f->dataset);
    }
    free(f);
    return err;
}

/* Elements that a dataset lacks, and why the first of them. */
static int trace(struct tracer *t, hid_t dset, int64_t *missing, char *why, size_t why_size)
{
    hid_t dcpl = dataset_plist(t->j, dset);
    int err = 0;

    *missing = 0;
    if (dcpl < 0)
        return DREP_ERR_UNSUPPORTED;
    if (++t->depth > NESTING_MAX)
        err = job_fail(t->j, DREP_ERR_LIMIT, "virtual datasets are nested more than %d deep",
                       NESTING_MAX);
    else if (H5Pget_layout(dcpl) == H5D_VIRTUAL)
        err = trace_virtual(t, dset, dcpl, missing, why, why_size);
    else if (H5Pget_external_count(dcpl) > 0)
        err = trace_raw(t, dset, dcpl, missing, why, why_size);
    else
        err = dataset_check_storage(t->j, dset, dcpl);
    /* The dataset itself is measured while it is read; sources can only be before. */
    if (!err && t->depth > 1 && H5Pget_layout(dcpl) == H5D_CHUNKED)
        err = measure_all(t->j, dset, dcpl);
    t->depth--;
    H5Pclose(dcpl);
    return err;
}

int origins_trace(struct job *j, const struct h5_source *s, struct origins *out)
{
    struct tracer t = {.j = j, .out = out};
    char why[PATH_MAX + 300] = "";
    int64_t missing = 0;
    int err;

    memset(out, 0, sizeof *out);
    err = trace(&t, s->dset, &missing, why, sizeof why);
    if (!err && missing && s->layout != H5D_VIRTUAL)
        err = add_absent(&t, missing, why);
    return err;
}

hid_t virtual_source(void *ctx, const char *file, const char *dataset)
{
    struct followed *f = calloc(1, sizeof *f);
    hid_t dset = f ? open_source(ctx, file, dataset, f) : -1;

    free(f);
    return dset;
}
