/* layout.c - how datasets are stored: layout, chunks, filters, in both worlds.
 *
 * Import chooses the container's way by HDF5's, and notes what export would choose
 * otherwise.  Export chooses by the container's way and the notes that still fit. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/layout.h"
#include "tools/h5/chunk.h"
#include "tools/h5/framed.h"
#include "tools/h5/header.h"
#include "tools/h5/hyperslab.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/measure.h"
#include "tools/h5/note.h"
#include "tools/h5/object.h"
#include "tools/h5/pin.h"
#include "tools/h5/registered.h"
#include "tools/h5/source.h"
#include "tools/walk/box.h"
#include <datarep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* HDF5 keeps compact data in an object header message of at most 64 KiB. */
#define COMPACT_HDF5 65000
#define COMPACT_OURS 65536
/* The note of a dataset whose chunks at the edge are not filtered. */
#define NOTE_BARE "partial-chunks"
/* Bytes of a chunk of ours, where HDF5 has none. */
#define SPARSE_CHUNK 16384

/* ------------------------------------------------------------ filters of HDF5 */

#define PARAMETERS_MAX 255 /* of a filter of the container's */
#define VALUES_MAX 256

struct filter {
    H5Z_filter_t id;
    unsigned flags;
    size_t n, all; /* parameters: those below, and how many it has in HDF5's file */
    unsigned value[VALUES_MAX];
    char name[256];
};

struct pipeline {
    struct filter f[H5Z_MAX_NFILTERS];
    int n;
};

static struct pipeline *pipeline_new(struct job *j)
{
    struct pipeline *p = calloc(1, sizeof *p);

    if (!p)
        job_no_memory(j);
    return p;
}

static int pipeline_read(struct job *j, hid_t dcpl, struct pipeline *p)
{
    int i, n = H5Pget_nfilters(dcpl);
    unsigned config;

    for (i = 0; i < n && i < H5Z_MAX_NFILTERS; i++) {
        struct filter *f = &p->f[i];

        f->n = VALUES_MAX;
        f->id = H5Pget_filter2(dcpl, (unsigned)i, &f->flags, &f->n, f->value, sizeof f->name,
                               f->name, &config);
        if (f->id < 0)
            return job_fail_hdf5(j, "filter");
        f->all = f->n;
        f->n = f->n < VALUES_MAX ? f->n : VALUES_MAX;
        f->name[sizeof f->name - 1] = 0;
    }
    p->n = i;
    return 0;
}

static void pipeline_add(struct pipeline *p, H5Z_filter_t id, int value)
{
    struct filter *f = &p->f[p->n];

    if (p->n == H5Z_MAX_NFILTERS)
        return;
    f->id = id;
    f->flags = H5Z_FLAG_OPTIONAL;
    f->n = id == H5Z_FILTER_DEFLATE;
    f->value[0] = (unsigned)value;
    p->n++;
}

/* A filter that keeps the streams of one of HDF5's. */
static void pipeline_add_framed(struct pipeline *p, const drep_dsinfo *info,
                                const drep_filter *filter)
{
    struct filter *f = &p->f[p->n];

    if (p->n == H5Z_MAX_NFILTERS)
        return;
    f->id = framed_out(filter, chunk_memory_of((size_t)info->element_size, info), &f->n, f->value);
    f->flags = H5Z_FLAG_OPTIONAL;
    p->n += f->id > 0;
}

/* A filter that is HDF5's in the container too. */
static void pipeline_add_own(struct pipeline *p, const drep_filter *filter)
{
    struct filter *f = &p->f[p->n];

    if (p->n == H5Z_MAX_NFILTERS)
        return;
    f->id = filter->id - DREP_FILTER_HDF5;
    f->flags = filter->level ? H5Z_FLAG_OPTIONAL : H5Z_FLAG_MANDATORY;
    f->n = (size_t)filter->nparams;
    if (f->n > 0)
        memcpy(f->value, filter->params, f->n * sizeof *f->value);
    snprintf(f->name, sizeof f->name, "%s", filter->name ? filter->name : "");
    p->n++;
}

/* The filters of HDF5 that export makes of the container's. */
static void pipeline_from_ours(const drep_dsinfo *info, struct pipeline *p)
{
    int i;

    for (i = 0; i < info->nfilters; i++) {
        int level = info->filters[i].level;

        if (info->filters[i].id >= DREP_FILTER_HDF5) {
            pipeline_add_own(p, &info->filters[i]);
            continue;
        }
        switch (info->filters[i].id) {
        case DREP_FILTER_BITSHUFFLE:
        case DREP_FILTER_SHUFFLE:
            pipeline_add(p, H5Z_FILTER_SHUFFLE, 0);
            break;
        case DREP_FILTER_DEFLATE:
            pipeline_add(p, H5Z_FILTER_DEFLATE, level >= 0 && level <= 9 ? level : 9);
            break;
        case DREP_FILTER_ZSTD:
        case DREP_FILTER_LZ4:
            pipeline_add(p, H5Z_FILTER_DEFLATE, 6);
            break;
        default:
            pipeline_add_framed(p, info, &info->filters[i]);
        }
    }
}

/* True if both do the same; what shuffle says of the element HDF5 fills in, but not for elements of
 * variable length. */
static int pipeline_equal(const struct pipeline *a, const struct pipeline *b, int variable)
{
    int i;

    if (a->n != b->n)
        return 0;
    for (i = 0; i < a->n; i++)
        if (a->f[i].id != b->f[i].id || a->f[i].flags != b->f[i].flags ||
            (variable && a->f[i].id == H5Z_FILTER_SHUFFLE && a->f[i].n != b->f[i].n) ||
            (a->f[i].id == H5Z_FILTER_DEFLATE && a->f[i].value[0] != b->f[i].value[0]) ||
            (a->f[i].id >= H5Z_FILTER_RESERVED &&
             (a->f[i].n != b->f[i].n ||
              memcmp(a->f[i].value, b->f[i].value, a->f[i].n * sizeof *a->f[i].value) != 0)))
            return 0;
    return 1;
}

static int note_pipeline(struct job *j, const struct pipeline *p, struct notes *r)
{
    char values[12 * VALUES_MAX];
    size_t k, len;
    int i, err = 0;

    if (p->n == 0)
        return notes_add(j, r, "filter none");
    for (i = 0; !err && i < p->n; i++) {
        if (p->f[i].all > VALUES_MAX)
            continue; /* not without all of them */
        snprintf(values, sizeof values, "-");
        for (k = len = 0; k < p->f[i].n; k++)
            len += (size_t)snprintf(values + len, sizeof values - len, "%s%u", k ? "," : "",
                                    p->f[i].value[k]);
        err = notes_add(j, r, "filter %d %u %s %s", (int)p->f[i].id, p->f[i].flags, values,
                        p->f[i].name);
    }
    return err;
}

/* "ID FLAGS VALUES NAME"; false if it is not. */
static int filter_parse(const char *text, struct filter *f)
{
    const char *p;
    char *end;
    int id, at = 0;

    memset(f, 0, sizeof *f);
    if (sscanf(text, "%d %u %n", &id, &f->flags, &at) < 2 || at == 0 || id < 0 || id > 65535)
        return 0;
    f->id = id;
    for (p = text + at; *p >= '0' && *p <= '9' && f->n < VALUES_MAX; p = end + (*end == ',')) {
        f->value[f->n++] = (unsigned)strtoul(p, &end, 10);
        if (*end != ',')
            break;
    }
    /* The name, which old notes may lack, stands behind the values or the sign for none. */
    p = strchr(text + at, ' ');
    snprintf(f->name, sizeof f->name, "%s", p ? p + 1 : "");
    return 1;
}

/* The pipeline that notes ask for; false if none do, or in no way that makes sense. */
static int pipeline_parse(const struct notes *r, struct pipeline *p)
{
    size_t i;
    int any = 0;

    for (i = 0; i < r->n; i++) {
        if (strncmp(r->line[i], "filter ", 7) != 0)
            continue;
        any = 1;
        if (strcmp(r->line[i] + 7, "none") == 0)
            continue;
        if (p->n == H5Z_MAX_NFILTERS || !filter_parse(r->line[i] + 7, &p->f[p->n]))
            return 0;
        p->n++;
    }
    return any;
}

/* True if the filter gives back all values, so that it may be applied to them again. */
static int is_lossless(const struct filter *f)
{
    /* Reals are cut to decimal digits, integers to a number of bits unless it says 0. */
    if (f->id == H5Z_FILTER_SCALEOFFSET)
        return f->n >= 2 && f->value[0] == H5Z_SO_INT && f->value[1] == H5Z_SO_INT_MINBITS_DEFAULT;
    return registered_is_lossless(f->id);
}

/* Filters of HDF5 whose chunks go over as they are.  libhdf5 takes their names from here, and must
 * know those that are absent to make a dataset. */
static struct carried_filter {
    H5Z_filter_t id;
    int absent;
    char *name;
} carried[64];
static size_t ncarried;

static size_t absent_run(unsigned flags, size_t n, const unsigned *value, size_t size, size_t *room,
                         void **buffer)
{
    (void)flags, (void)n, (void)value, (void)size, (void)room, (void)buffer;
    return 0;
}

static struct carried_filter *carried_find(H5Z_filter_t id)
{
    size_t i = 0;

    while (i < ncarried && carried[i].id != id)
        i++;
    return i < ncarried ? &carried[i] : NULL;
}

static int filter_is_absent(H5Z_filter_t id)
{
    const struct carried_filter *c = carried_find(id);

    return c && c->absent;
}

/* Tells libhdf5 the name of a filter; true if it is not here. */
static int filter_stand_in(const struct filter *f)
{
    H5Z_class2_t class = {H5Z_CLASS_T_VERS, f->id, 1, 1, NULL, NULL, NULL, absent_run};
    struct carried_filter *c = &carried[ncarried];

    if (f->id < H5Z_FILTER_RESERVED)
        return 0;
    if (carried_find(f->id) || ncarried == sizeof carried / sizeof *carried)
        return filter_is_absent(f->id);
    *c = (struct carried_filter){f->id, H5Zfilter_avail(f->id) <= 0, strdup(f->name)};
    class.name = c->name;
    if (!c->name ||
        (c->absent ? H5Zregister(&class) < 0 : !*c->name || !framed_rename(f->id, c->name))) {
        free(c->name); /* a plugin has a name of its own */
        return 0;
    }
    ncarried++;
    return c->absent;
}

/* True if HDF5 can apply a filter to elements of this datatype. */
static int is_usable(const struct filter *f, hid_t type)
{
    size_t size = H5Tget_size(type);
    unsigned config = 0;

    if (filter_is_absent(f->id) || H5Zfilter_avail(f->id) <= 0 ||
        H5Zget_filter_info(f->id, &config) < 0 || !(config & H5Z_FILTER_CONFIG_ENCODE_ENABLED))
        return 0;
    /* It would take elements of 3 bytes, and not give them back. */
    return f->id != H5Z_FILTER_SZIP || size == 1 || size == 2 || size == 4 || size == 8;
}

static herr_t filter_set(hid_t dcpl, const struct filter *f)
{
    switch (f->id) {
    case H5Z_FILTER_SHUFFLE:
        /* HDF5 puts the size of an element there, if elements have one. */
        return H5Pset_filter(dcpl, f->id, f->flags, f->n > 0, f->value);
    case H5Z_FILTER_FLETCHER32:
    case H5Z_FILTER_NBIT:
        return H5Pset_filter(dcpl, f->id, f->flags, 0, NULL);
    case H5Z_FILTER_SZIP:
        if (f->n < 2)
            return -1;
        return H5Pset_szip(dcpl, f->value[0] & (H5_SZIP_EC_OPTION_MASK | H5_SZIP_NN_OPTION_MASK),
                           f->value[1]);
    case H5Z_FILTER_SCALEOFFSET:
        return H5Pset_scaleoffset(dcpl, H5Z_SO_INT, (int)f->value[1]);
    default:
        return H5Pset_filter(dcpl, f->id, f->flags, f->n, f->value);
    }
}

/* ----------------------------------------------------------- the way in: filters */

static void filter_in(struct job *j, const char *path, const struct filter *f, drep_filter *out)
{
    switch (f->id) {
    case H5Z_FILTER_SHUFFLE:
        out->id = DREP_FILTER_SHUFFLE;
        return;
    case H5Z_FILTER_DEFLATE:
        out->id = DREP_FILTER_DEFLATE;
        out->level = (int)f->value[0];
        break;
    case H5Z_FILTER_FLETCHER32:
        return;
    default:
        if (framed_in(f->id, f->n, f->value, out))
            return;
        *out = (drep_filter){.id = DREP_FILTER_ZSTD};
        job_say(j, HDF5_STORED, "filter", path, "filter %d (%s) %s", (int)f->id,
                *f->name ? f->name : "no name",
                H5Zfilter_avail(f->id) > 0 ? "becomes zstd: the values are the same"
                                           : "is not available to HDF5");
    }
    if (!drep_filter_available(out->id))
        out->id = out->id == DREP_FILTER_ZSTD ? DREP_FILTER_DEFLATE : DREP_FILTER_ZSTD;
    if (!drep_filter_available(out->id)) {
        out->id = 0;
        job_say(j, HDF5_STORED, "filter", path, "no compressor is built in: stored as it is");
    }
}

/* Filters that rearrange bytes come before the compressor: chunks do not keep their streams. */
static void compressor_last(drep_filter *filters, int n)
{
    int i, k;

    for (i = 0; i < n && filters[i].id < 16; i++)
        ;
    for (k = i + 1; k < n; k++) {
        drep_filter f = filters[k];

        filters[k] = filters[k - 1];
        filters[k - 1] = f;
    }
}

/* ------------------------------------------------ the way in: filters as they are */

/* True if the elements of a chunk are those of the container, so that its bytes may go over. */
static int elements_are_copies(const struct h5_source *s)
{
    return s->map.kind == MAP_FLAT && !s->map.variable && !has_references(&s->map) &&
           map_is_copy(s->type, &s->map);
}

/* True if all members are numbers of one size, so that the container shuffles these. */
static int has_equal_members(hid_t type)
{
    int i, same = 1, n = H5Tget_nmembers(type);
    size_t size = 0;

    for (i = 0; same && i < n; i++) {
        hid_t member = H5Tget_member_type(type, (unsigned)i);

        size = i ? size : H5Tget_size(member);
        same = H5Tget_size(member) == size;
        H5Tclose(member);
    }
    return same;
}

/* True if the container's shuffle takes elements of so many bytes. */
static int shuffles_alike(const struct h5_source *s, unsigned width)
{
    switch (H5Tget_class(s->type)) {
    case H5T_INTEGER:
    case H5T_FLOAT:
    case H5T_BITFIELD:
    case H5T_ENUM:
        return width == H5Tget_size(s->type);
    case H5T_COMPOUND:
        return width == H5Tget_size(s->type) && !has_equal_members(s->type);
    default:
        return 0;
    }
}

/* True if filters of the container do the same in the same order; the sum of fletcher32, if that is
 * the last, is left to the container's own. */
static int is_translated(const struct h5_source *s, const struct pipeline *p)
{
    int i, ours = 0, shuffles = 0, compressors = 0;
    drep_filter framed;

    for (i = 0; i < p->n; i++) {
        const struct filter *f = &p->f[i];

        if (f->id == H5Z_FILTER_FLETCHER32) {
            ours += i == p->n - 1;
        } else if (f->id == H5Z_FILTER_SHUFFLE) {
            ours += f->n > 0 && shuffles_alike(s, f->value[0]);
            shuffles++;
        } else {
            ours += (f->id == H5Z_FILTER_DEFLATE && drep_filter_available(DREP_FILTER_DEFLATE)) ||
                    framed_in(f->id, f->n, f->value, &framed);
            compressors++;
        }
    }
    return ours == p->n && shuffles <= 1 && compressors <= 1 && shuffles + compressors > 0;
}

/* What the container makes of such filters: it decodes all, HDF5 has all here, nobody has. */
enum known { KNOWN_HERE, KNOWN_TO_HDF5, KNOWN_TO_NOBODY };
static enum known is_known(const struct pipeline *p)
{
    enum known known = KNOWN_HERE;
    drep_filter framed;
    int i;

    for (i = 0; i < p->n && known != KNOWN_TO_NOBODY; i++) {
        const struct filter *f = &p->f[i];

        if (f->id == H5Z_FILTER_FLETCHER32 || (f->id == H5Z_FILTER_SHUFFLE && f->n > 0) ||
            (f->id == H5Z_FILTER_DEFLATE && drep_filter_available(DREP_FILTER_DEFLATE)) ||
            framed_in(f->id, f->n, f->value, &framed))
            continue;
        known = H5Zfilter_avail(f->id) > 0 ? KNOWN_TO_HDF5 : KNOWN_TO_NOBODY;
    }
    return known;
}

static int64_t chunk_limit(struct job *j);

/* True if no filter has more parameters, or a longer name, than the container takes.  Of more than
 * it tells, libhdf5 could not tell whether a chunk is whole. */
static int filters_fit(struct job *j, const char *path, const struct pipeline *p, enum known known)
{
    int i, fit = 1;

    for (i = 0; i < p->n; i++) {
        const struct filter *f = &p->f[i];

        if (f->all > VALUES_MAX || (f->all > PARAMETERS_MAX && known == KNOWN_TO_NOBODY))
            job_say(j, HDF5_LOST, "filter", path,
                    "filter %d%s%s%s has %zu parameters, more than the %d that can be carried",
                    (int)f->id, *f->name ? " (" : "", f->name, *f->name ? ")" : "", f->all,
                    PARAMETERS_MAX);
        fit &= f->all <= PARAMETERS_MAX && strlen(f->name) <= 255;
    }
    return fit;
}

/* True if the container is to have HDF5's filters as they are, since its own do not do the same: it
 * decodes them by HDF5's rules, or nobody can; or since nobody is to look at the chunks.  What HDF5
 * decodes and the container does not is encoded anew, so that its elements can be read. */
static int wants_pipeline(struct job *j, const char *path, const struct h5_source *s,
                          const struct pipeline *p)
{
    enum known known = is_known(p);
    size_t size = chunk_memory(s->map.dsize, s->rank, s->chunk);

    if (!filters_fit(j, path, p, known) || j->o->nfilters >= 0 || p->n == 0 ||
        !elements_are_copies(s))
        return 0;
    if (size > (size_t)chunk_limit(j)) {
        if (known == KNOWN_TO_NOBODY && size < SIZE_MAX)
            job_say(j, HDF5_LOST, "chunk", path,
                    "chunks of %zu bytes, which nobody here can decode, take --limit=chunk=%zu",
                    size, size);
        return 0;
    }
    return j->o->no_decode || known == KNOWN_TO_NOBODY ||
           (known == KNOWN_HERE && !is_translated(s, p));
}

/* The name in a filter's message, as far as that is known: where it has none, libhdf5 gives that of
 * a filter of its own, or of framed.c. */
static const char *message_name(const struct filter *f)
{
    const char *p = f->name;

    while (*p > 0 && *p < 127)
        p++;
    return f->id < H5Z_FILTER_RESERVED || *p || p == f->name ||
                   strncmp(f->name, FRAMED_NAME, strlen(FRAMED_NAME)) == 0
               ? NULL
               : f->name;
}

/* Gives the container the filters of HDF5; they point into p. */
static void filters_carry(const struct pipeline *p, drep_filter *filters, int *n)
{
    for (*n = 0; *n < p->n; (*n)++) {
        const struct filter *f = &p->f[*n];

        filters[*n] = (drep_filter){.id = DREP_FILTER_HDF5 + (int)f->id,
                                    .level = f->flags & H5Z_FLAG_OPTIONAL ? 1 : 0,
                                    .nparams = (int)f->n,
                                    .params = f->value,
                                    .name = message_name(f)};
        memcpy(filters[*n].param, f->value, sizeof filters->param);
    }
}

/* At most one of each: two compressors in a row help nobody. */
int filters_in(struct job *j, const char *path, const struct h5_source *s, drep_filter *filters,
               int *n)
{
    struct pipeline *p = pipeline_new(j);
    int i, k, left_out = 0, err = p ? pipeline_read(j, s->dcpl, p) : DREP_ERR_NOMEM;

    *n = 0;
    if (!err && wants_pipeline(j, path, s, p)) {
        filters_carry(p, filters, n);
        free(j->pipeline);
        j->pipeline = p;
        return 0;
    }
    for (i = 0; !err && i < p->n; i++) {
        drep_filter f = {0};

        filter_in(j, path, &p->f[i], &f);
        for (k = 0; k < *n; k++)
            if (filters[k].id == f.id || (filters[k].id >= 16 && f.id >= 16)) {
                f.id = 0;
                left_out = 1;
            }
        if (f.id && *n < DREP_MAX_FILTERS)
            filters[(*n)++] = f;
    }
    if (left_out)
        compressor_last(filters, *n);
    free(p);
    if (!err && j->o->nfilters >= 0) {
        *n = j->o->nfilters;
        if (*n)
            memcpy(filters, j->o->filters, (size_t)*n * sizeof *filters);
    }
    return err;
}

/* ------------------------------------------------------------ the way in: layout */

/* The largest payload that the container takes in one filtered chunk. */
static int64_t chunk_limit(struct job *j)
{
    drep_info *info = NULL;
    int64_t limit = 16 << 20;
    const char *text;

    if (drep_get_info(j->d, &info) == 0) {
        text = drep_info_get(info, "drep_chunk_max");
        if (text && atoll(text) > 0)
            limit = atoll(text);
        drep_info_free(info);
    }
    return limit;
}

/* Smaller chunks that divide the old ones, if any do. */
static void shrink_chunk(int rank, int64_t *chunk, int64_t most)
{
    int64_t n = 1, part;
    int d;

    for (d = 0; d < rank; d++)
        n *= chunk[d];
    for (d = 0; d < rank && n > most; d++) {
        int64_t rest = n / chunk[d];
        int64_t want = most / rest > 0 ? most / rest : 1;

        for (part = want; part > want / 2 && part > 1 && chunk[d] % part != 0;)
            part--;
        chunk[d] = chunk[d] % part == 0 ? part : want;
        n = rest * chunk[d];
    }
}

static void fit_elements(struct job *j, const char *path, const struct h5_source *s,
                         drep_spec *spec, int64_t *chunk)
{
    int64_t size = source_stored_size(j, s), was = 1, now = 1, most = chunk_limit(j) / size;
    int d;

    for (d = 0; d < s->rank; d++)
        was *= chunk[d];
    if (most == 0) {
        spec->nfilters = 0;
        job_say(j, HDF5_STORED, "filter", path,
                "elements of %lld bytes are beyond drep_chunk_max: not filtered", (long long)size);
        return;
    }
    shrink_chunk(s->rank, chunk, most);
    for (d = 0; d < s->rank; d++)
        now *= chunk[d];
    if (now != was)
        job_say(j, HDF5_KEPT, "chunk", path,
                "chunks of %lld elements are beyond drep_chunk_max: now %lld elements",
                (long long)was, (long long)now);
}

/* The most that strings and sequences of one chunk hold in memory; -1: HDF5 cannot tell.
 * Chunks that must not be read count as nothing. */
static int64_t largest_contents(const struct h5_source *s, const int64_t *chunk)
{
    int64_t dims[DREP_MAX_RANK], most = 0;
    hid_t space = H5Scopy(s->space);
    hsize_t held;
    struct box b;
    int d;

    for (d = 0; d < s->rank; d++)
        dims[d] = (int64_t)s->dims[d];
    box_init(&b, s->rank, dims, chunk);
    while (most >= 0 && box_next(&b)) {
        held = 0;
        if (s->measure && !measure_box(s->measure, &b, 0))
            continue;
        if (box_select_hdf5(&b, space) < 0 ||
            H5Dvlen_get_buf_size(s->dset, s->map.mem, space, &held) < 0)
            most = -1;
        else if ((int64_t)held > most)
            most = (int64_t)held;
    }
    H5Sclose(space);
    return most;
}

/* A filtered chunk takes what its strings and sequences hold only up to a limit, and that
 * is known before it is too late. */
static void fit_contents(struct job *j, const char *path, const struct h5_source *s,
                         drep_spec *spec, int64_t *chunk)
{
    int64_t limit = chunk_limit(j) / 4 * 3, held = largest_contents(s, chunk), n, was = 1, now = 1;
    int d;

    if (held >= 0 && held <= limit)
        return;
    for (d = 0; d < s->rank; d++)
        was *= chunk[d];
    n = held > 0 ? was / (held / limit + 1) : 1;
    shrink_chunk(s->rank, chunk, n > 0 ? n : 1);
    for (d = 0; d < s->rank; d++)
        now *= chunk[d];
    held = largest_contents(s, chunk);
    if (held >= 0 && held <= limit) {
        job_say(j, HDF5_KEPT, "chunk", path,
                "what chunks of %lld elements hold is beyond drep_chunk_max: now %lld elements",
                (long long)was, (long long)now);
        return;
    }
    for (d = 0; d < s->rank; d++)
        chunk[d] = (int64_t)s->chunk[d];
    spec->nfilters = 0;
    job_say(j, HDF5_STORED, "filter", path, "its contents are beyond drep_chunk_max: not filtered");
}

static void choose_chunk(struct job *j, const char *path, const struct h5_source *s,
                         drep_spec *spec, int64_t *chunk)
{
    int d;

    spec->layout = DREP_CHUNKED;
    spec->chunk = chunk;
    for (d = 0; d < s->rank; d++)
        chunk[d] = (int64_t)s->chunk[d];
    if (spec->nfilters)
        fit_elements(j, path, s, spec, chunk);
    if (spec->nfilters && s->map.variable)
        fit_contents(j, path, s, spec, chunk);
}

/* Strings and sequences stand in chunks: of about as much as a block in memory, going by
 * what the first elements hold. */
static void choose_variable(struct job *j, const struct h5_source *s, drep_spec *spec,
                            int64_t *chunk)
{
    hssize_t n = H5Sget_simple_extent_npoints(s->space);
    hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK], held = 0;
    int64_t dims[H5S_MAX_RANK], most;
    hid_t some = H5Scopy(s->space);
    int d;

    spec->layout = DREP_LAYOUT_AUTO;
    for (d = 0; d < s->rank; d++) {
        count[d] = d == s->rank - 1 && s->dims[d] > 64 ? 64 : d == s->rank - 1 ? s->dims[d] : 1;
        dims[d] = (int64_t)s->dims[d];
        chunk[d] = 1;
    }
    /* Chunks that must not be read, or not yet, are skipped. */
    if (n > 64 && s->layout != H5D_VIRTUAL && dataset_check_storage(j, s->dset, s->dcpl) == 0 &&
        H5Sselect_hyperslab(some, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
        H5Dvlen_get_buf_size(s->dset, s->map.mem, some, &held) >= 0) {
        held = held / (hsize_t)H5Sget_select_npoints(some) + s->map.hsize;
        most = (int64_t)(BLOCK_SIZE / (held ? held : 1));
        /* The case that a chunk of our own choice would hold more than that. */
        if (most < n && most < (1 << 20) / 16) {
            box_grow(s->rank, dims, most > 0 ? most : 1, chunk);
            spec->layout = DREP_CHUNKED;
            spec->chunk = chunk;
        }
    }
    H5Sclose(some);
}

/* A virtual dataset that is mostly fill stands in chunks, most of which are not stored. */
static void choose_sparse(const struct h5_source *s, int64_t size, drep_spec *spec, int64_t *chunk)
{
    int64_t dims[H5S_MAX_RANK];
    int d;

    for (d = 0; d < s->rank; d++) {
        dims[d] = (int64_t)s->dims[d];
        chunk[d] = 1;
    }
    box_grow(s->rank, dims, SPARSE_CHUNK / size > 0 ? SPARSE_CHUNK / size : 1, chunk);
    spec->layout = DREP_CHUNKED;
    spec->chunk = chunk;
}

void layout_in(struct job *j, const char *path, const struct h5_source *s, drep_spec *spec,
               int64_t *chunk)
{
    hssize_t n = s->rank >= 0 ? H5Sget_simple_extent_npoints(s->space) : 0;
    int d;

    if (s->layout == H5D_CHUNKED && s->rank > 0) {
        choose_chunk(j, path, s, spec, chunk);
        return;
    }
    spec->nfilters = 0;
    if (pin_wanted(j, s)) {
        pin_layout(j, s, source_stored_size(j, s), spec, chunk);
        return;
    }
    if (!s->map.variable && s->mappings.sparse) {
        choose_sparse(s, source_stored_size(j, s), spec, chunk);
        return;
    }
    spec->layout = DREP_CONTIGUOUS;
    if (s->layout == H5D_COMPACT && n <= COMPACT_OURS / source_stored_size(j, s))
        spec->layout = DREP_COMPACT;
    if (s->layout == H5D_COMPACT && spec->layout != DREP_COMPACT)
        job_say(j, HDF5_STORED, "layout", path, "compact layout becomes contiguous");
    if (spec->layout != DREP_CONTIGUOUS)
        return;
    /* Only the first dimension of a contiguous dataset grows. */
    for (d = 1; d < s->rank; d++)
        if (s->maxdims[d] != s->dims[d])
            spec->layout = DREP_LAYOUT_AUTO;
    if (drep_type_variable(s->map.type) && s->rank > 0)
        choose_variable(j, s, spec, chunk);
    else if (drep_type_variable(s->map.type))
        spec->layout = DREP_LAYOUT_AUTO;
}

/* ------------------------------------------------------------------ the way out */

/* Bytes of the whole dataset in HDF5. */
static double bytes_of(const drep_dsinfo *info, hid_t type)
{
    return (double)info->count * (double)H5Tget_size(type);
}

static int grows(const drep_dsinfo *info)
{
    int d;

    for (d = 0; d < info->rank; d++)
        if (info->maxdims[d] != info->dims[d])
            return 1;
    return 0;
}

/* The choice of export without notes. */
static H5D_layout_t layout_for(const drep_dsinfo *info)
{
    int variable = drep_type_variable(info->type);
    int one = variable && !info->nfilters;
    int d;

    if (info->rank <= 0)
        return info->layout == DREP_COMPACT && !variable ? H5D_COMPACT : H5D_CONTIGUOUS;
    if (grows(info))
        return H5D_CHUNKED;
    if (info->layout == DREP_COMPACT)
        return variable ? H5D_CONTIGUOUS : H5D_COMPACT;
    for (d = 0; d < info->rank; d++) {
        if (info->maxdims[d] == 0)
            return H5D_CONTIGUOUS;
        /* Ours are in chunks where HDF5's strings and sequences need not be. */
        one &= info->layout != DREP_CHUNKED || info->chunk[d] >= info->dims[d];
    }
    return info->layout == DREP_CHUNKED && !one ? H5D_CHUNKED : H5D_CONTIGUOUS;
}

/* HDF5's chunks may not be longer than a fixed dimension. */
static void chunk_for(const drep_dsinfo *info, hsize_t *chunk)
{
    int64_t step[DREP_MAX_RANK];
    int d;

    for (d = 0; d < info->rank; d++)
        step[d] = info->layout == DREP_CHUNKED ? info->chunk[d] : 1;
    if (info->layout != DREP_CHUNKED)
        box_grow(info->rank, info->dims, BLOCK_SIZE / 4 / (info->element_size + 1) + 1, step);
    for (d = 0; d < info->rank; d++) {
        int64_t most = info->maxdims[d] == DREP_UNLIMITED ? step[d] : info->maxdims[d];

        chunk[d] = (hsize_t)(step[d] < most ? step[d] : most);
        if (chunk[d] == 0)
            chunk[d] = 1;
    }
}

static H5D_layout_t layout_named(const char *name)
{
    return strcmp(name, "compact") == 0      ? H5D_COMPACT
           : strcmp(name, "contiguous") == 0 ? H5D_CONTIGUOUS
           : strcmp(name, "chunked") == 0    ? H5D_CHUNKED
                                             : H5D_LAYOUT_ERROR;
}

/* The layout that a note asks for, if the dataset can have it. */
static H5D_layout_t layout_wanted(const drep_dsinfo *info, hid_t type, const struct notes *r)
{
    const char *text = notes_find(r, "layout");
    H5D_layout_t own = layout_for(info), layout = text ? layout_named(text) : own;

    if (layout == H5D_LAYOUT_ERROR)
        layout = own;
    if (grows(info))
        layout = H5D_CHUNKED;
    if (layout == H5D_COMPACT && bytes_of(info, type) > COMPACT_HDF5)
        layout = H5D_CONTIGUOUS;
    if (layout == H5D_CHUNKED && (info->rank <= 0 || (own != H5D_CHUNKED && info->count == 0)))
        layout = own;
    return layout;
}

/* "8 16"; false if it does not fit. */
static int chunk_wanted(const drep_dsinfo *info, const struct notes *r, hsize_t *chunk)
{
    const char *text = notes_find(r, "chunk");
    hsize_t own[DREP_MAX_RANK];
    char *end;
    int d;

    for (d = 0; text && d < info->rank; d++, text = end) {
        own[d] = strtoull(text, &end, 10);
        if (end == text || own[d] == 0 || own[d] > UINT32_MAX ||
            (info->maxdims[d] != DREP_UNLIMITED && own[d] > (hsize_t)info->maxdims[d]))
            return 0;
    }
    if (!text || *text)
        return 0;
    memcpy(chunk, own, (size_t)info->rank * sizeof *own);
    return 1;
}

static int is_not_hdf5(int id)
{
    return id == DREP_FILTER_BITSHUFFLE || id == DREP_FILTER_DELTA || id == DREP_FILTER_ZSTD ||
           id == DREP_FILTER_LZ4 || id >= DREP_FILTER_USER;
}

/* The dataset has HDF5's filters.  libhdf5 would put fill through those that are not here if it
 * took space for all chunks at once. */
static int filters_carry_out(struct job *j, const drep_dsinfo *info, hid_t dcpl)
{
    struct pipeline *p = pipeline_new(j);
    int i, missing = 0, err = p ? 0 : DREP_ERR_NOMEM;

    if (!err)
        pipeline_from_ours(info, p);
    for (i = 0; !err && i < p->n; i++) {
        const struct filter *f = &p->f[i];

        missing |= filter_stand_in(f);
        if (H5Pset_filter(dcpl, f->id, f->flags, f->n, f->value) < 0)
            err = job_fail_hdf5(j, "filter");
    }
    if (!err && missing)
        H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_INCR);
    free(p);
    return err;
}

static int filters_out(struct job *j, const char *path, const drep_dsinfo *info, hid_t type,
                       const struct notes *r, hid_t dcpl)
{
    struct pipeline *p;
    int i, usable;

    if (info->nfilters > 0 && info->filters[0].id >= DREP_FILTER_HDF5)
        return filters_carry_out(j, info, dcpl);
    p = pipeline_new(j);
    if (!p)
        return DREP_ERR_NOMEM;
    usable = pipeline_parse(r, p);
    for (i = 0; usable && i < p->n; i++)
        if (!is_lossless(&p->f[i]) || !is_usable(&p->f[i], type)) {
            usable = 0;
            job_say(j, HDF5_STORED, "filter", path, "filter %d%s%s%s is not applied again: %s",
                    (int)p->f[i].id, *p->f[i].name ? " (" : "", p->f[i].name,
                    *p->f[i].name ? ")" : "",
                    is_lossless(&p->f[i]) ? "HDF5 cannot apply it here" : "it may change values");
        }
    if (!usable) {
        memset(p, 0, sizeof *p);
        pipeline_from_ours(info, p);
        for (i = 0; i < info->nfilters; i++)
            if (is_not_hdf5(info->filters[i].id))
                job_say(j, HDF5_STORED, "filter", path, "filter %s is not HDF5's: deflate or none",
                        drep_filter_name(info->filters[i].id));
    }
    for (i = 0; i < p->n; i++)
        if (filter_set(dcpl, &p->f[i]) < 0) {
            job_fail_hdf5(j, "filter");
            job_say(j, HDF5_STORED, "filter", path, "filter %d is left out: %s", (int)p->f[i].id,
                    j->why);
        }
    free(p);
    return 0;
}

static const struct {
    int value;
    const char *name;
} fill_times[] = {{H5D_FILL_TIME_IFSET, "ifset"},
                  {H5D_FILL_TIME_ALLOC, "alloc"},
                  {H5D_FILL_TIME_NEVER, "never"}},
  alloc_times[] = {{H5D_ALLOC_TIME_EARLY, "early"},
                   {H5D_ALLOC_TIME_LATE, "late"},
                   {H5D_ALLOC_TIME_INCR, "incremental"}};

static int time_named(const char *name, int fill)
{
    size_t i;

    for (i = 0; name && i < 3; i++)
        if (strcmp(fill ? fill_times[i].name : alloc_times[i].name, name) == 0)
            return fill ? fill_times[i].value : alloc_times[i].value;
    return -1;
}

static const char *time_name(int value, int fill)
{
    size_t i;

    for (i = 0; i < 3; i++)
        if ((fill ? fill_times[i].value : alloc_times[i].value) == value)
            return fill ? fill_times[i].name : alloc_times[i].name;
    return "unknown";
}

void layout_times_out(struct job *j, const struct notes *r, hid_t dcpl)
{
    int fill = time_named(notes_find(r, "fill-time"), 1);
    int alloc = time_named(notes_find(r, "allocation"), 0);

    if (fill < 0)
        fill = j->usual.fill_time;
    H5Pset_fill_time(dcpl, (H5D_fill_time_t)fill);
    if (alloc >= 0)
        H5Pset_alloc_time(dcpl, (H5D_alloc_time_t)alloc);
}

int layout_out(struct job *j, const char *path, const drep_dsinfo *info, hid_t type,
               const struct notes *r, hid_t dcpl)
{
    H5D_layout_t layout = layout_wanted(info, type, r);
    hsize_t chunk[DREP_MAX_RANK];
    int err = 0;

    layout_times_out(j, r, dcpl);
    if (layout == H5D_COMPACT)
        H5Pset_layout(dcpl, H5D_COMPACT);
    if (layout == H5D_CHUNKED) {
        chunk_for(info, chunk);
        chunk_wanted(info, r, chunk);
        H5Pset_chunk(dcpl, info->rank, chunk);
        if (notes_find(r, NOTE_BARE))
            H5Pset_chunk_opts(dcpl, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
        err = filters_out(j, path, info, type, r, dcpl);
    } else if (info->nfilters) {
        job_say(j, HDF5_STORED, "filter", path, "filters are left out: HDF5 has no chunks here");
    }
    return err;
}

hid_t layout_create(struct job *j, const char *path, hid_t type, hid_t space, hid_t lcpl,
                    hid_t dcpl)
{
    unsigned options = 0;
    hid_t dset;

    /* libhdf5 would not write the property to a file for older readers. */
    if (H5Pget_layout(dcpl) == H5D_CHUNKED)
        H5Pget_chunk_opts(dcpl, &options);
    if (options && !j->usual.latest)
        H5Fset_libver_bounds(j->h, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
    dset = H5Dcreate2(j->h, path, type, space, lcpl, dcpl, H5P_DEFAULT);
    if (options && !j->usual.latest)
        H5Fset_libver_bounds(j->h, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    return dset;
}

#define UNSIGNED_USES "default scale-dimension=unsigned"

int layout_defaults_write(struct job *j, struct notes *r)
{
    int err = 0;

    if (j->usual.cset == H5T_CSET_ASCII)
        err = notes_add(j, r, "default cset=ascii");
    if (!err && j->usual.fill_time != H5D_FILL_TIME_IFSET)
        err = notes_add(j, r, "default fill-time=%s", time_name(j->usual.fill_time, 1));
    if (!err && j->usual.latest)
        err = notes_add(j, r, "default superblock=3");
    if (!err && j->usual.unsigned_uses)
        err = notes_add(j, r, UNSIGNED_USES);
    return err;
}

void layout_defaults_read(struct job *j, const struct notes *r)
{
    size_t i;

    for (i = 0; i < r->n; i++) {
        const char *text = r->line[i];

        if (strcmp(text, "default cset=ascii") == 0)
            j->usual.cset = H5T_CSET_ASCII;
        if (strcmp(text, "default superblock=3") == 0)
            j->usual.latest = 1;
        if (strcmp(text, UNSIGNED_USES) == 0)
            j->usual.unsigned_uses = 1;
        if (strncmp(text, "default fill-time=", 18) == 0 && time_named(text + 18, 1) >= 0)
            j->usual.fill_time = time_named(text + 18, 1);
    }
}

/* -------------------------------------------------- what export would do otherwise */

static int note_times(struct job *j, hid_t dcpl, H5D_layout_t layout, struct notes *r)
{
    H5D_fill_time_t fill = H5D_FILL_TIME_IFSET;
    H5D_alloc_time_t alloc = H5D_ALLOC_TIME_DEFAULT, usual;
    int err = 0;

    H5Pget_fill_time(dcpl, &fill);
    H5Pget_alloc_time(dcpl, &alloc);
    usual = layout == H5D_COMPACT      ? H5D_ALLOC_TIME_EARLY
            : layout == H5D_CONTIGUOUS ? H5D_ALLOC_TIME_LATE
                                       : H5D_ALLOC_TIME_INCR;
    if ((int)fill != j->usual.fill_time)
        err = notes_add(j, r, "fill-time %s", time_name((int)fill, 1));
    /* A virtual dataset allocates nothing, whatever it says. */
    if (!err && layout != H5D_VIRTUAL && alloc != usual && alloc != H5D_ALLOC_TIME_DEFAULT)
        err = notes_add(j, r, "allocation %s", time_name((int)alloc, 0));
    return err;
}

static int note_chunk(struct job *j, const drep_dsinfo *info, const struct h5_source *s,
                      struct notes *r)
{
    char text[24 * H5S_MAX_RANK] = "";
    hsize_t own[DREP_MAX_RANK];
    size_t len = 0;
    int d, same = 1;

    chunk_for(info, own);
    for (d = 0; d < s->rank; d++) {
        same &= own[d] == s->chunk[d];
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%llu", d ? " " : "",
                                (unsigned long long)s->chunk[d]);
    }
    return same ? 0 : notes_add(j, r, "chunk %s", text);
}

/* Chunks at the edge are not filtered. */
static int note_bare(struct job *j, const struct h5_source *s, struct notes *r)
{
    unsigned options = 0;

    H5Pget_chunk_opts(s->dcpl, &options);
    return options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS ? notes_add(j, r, NOTE_BARE " unfiltered")
                                                          : 0;
}

static int note_filters(struct job *j, const drep_dsinfo *info, const struct h5_source *s,
                        struct notes *r)
{
    struct pipeline *own = pipeline_new(j), *theirs = pipeline_new(j);
    int err = own && theirs ? pipeline_read(j, s->dcpl, theirs) : DREP_ERR_NOMEM;

    if (!err) {
        pipeline_from_ours(info, own);
        if (!pipeline_equal(own, theirs, s->map.variable))
            err = note_pipeline(j, theirs, r);
    }
    free(own);
    free(theirs);
    return err;
}

int layout_notes_bare(struct job *j, hid_t dset, const struct h5_object *o, struct notes *r)
{
    hid_t dcpl = dataset_plist(j, dset);
    H5D_layout_t layout = H5Pget_layout(dcpl);
    hsize_t chunk = LAYOUT_BARE_CHUNK;
    int err = 0;

    if (layout == H5D_CHUNKED && H5Pget_chunk(dcpl, 1, &chunk) == 1 &&
        (chunk != LAYOUT_BARE_CHUNK || !o->unlimited))
        err = notes_add(j, r, "chunk %llu", (unsigned long long)chunk);
    if (!err)
        err = note_times(j, dcpl, layout, r);
    H5Pclose(dcpl);
    return err;
}

int layout_notes(struct job *j, const drep_dsinfo *info, const struct h5_source *s, struct notes *r)
{
    static const char *const names[] = {"compact", "contiguous", "chunked", "virtual"};
    H5D_layout_t layout = s->layout == H5D_VIRTUAL ? H5D_CONTIGUOUS : s->layout;
    int err = 0;

    if (layout != layout_for(info) && !s->mappings.sparse && layout >= 0 && layout <= H5D_CHUNKED)
        err = notes_add(j, r, "layout %s", names[layout]);
    if (!err && s->layout == H5D_CHUNKED && s->rank > 0)
        err = note_chunk(j, info, s, r);
    if (!err && s->layout == H5D_CHUNKED && s->rank > 0)
        err = note_bare(j, s, r);
    if (!err && s->layout == H5D_CHUNKED && s->rank > 0)
        err = note_filters(j, info, s, r);
    return err ? err : note_times(j, s->dcpl, s->layout, r);
}
