/* verify.c - reads an exported file back and compares it with the container.
 *
 * The file is closed, and opened again for reading, so that what is compared is what the
 * next reader of the file will get from libhdf5; it has not got its name yet.  The walk is
 * that of export (export.c, data_out.c) with j->back set; here is what it compares
 * with.  Values are the same if their bits are: what a conversion rounded or cut is reported
 * when it is written and no difference here. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/verify.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/object.h"
#include "tools/h5/reference.h"
#include "tools/h5/region.h"
#include "tools/h5/values.h"
#include "tools/walk/box.h"
#include <datarep.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int verify_failed(struct job *j, const struct verified *at, const char *format, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return job_fail(j, DREP_ERR_CONVERSION, "%s: %s%s%s%s: %s", j->o->dst, at->path,
                    *at->what ? ": " : "", at->what, at->name, text);
}

/* -------------------------------------------------------- types and shapes */

int verify_type(struct job *j, const struct verified *at, hid_t made, hid_t read)
{
    if (made > 0 && read > 0 && H5Tequal(made, read) > 0)
        return 0;
    return verify_failed(j, at, "its datatype is read back as another");
}

int verify_shape(struct job *j, const struct verified *at, const int64_t *dims, hid_t space)
{
    H5S_class_t cls = H5Sget_simple_extent_type(space);
    hsize_t read[H5S_MAX_RANK];
    int d, rank = cls == H5S_NULL ? DREP_NULL_SPACE : H5Sget_simple_extent_dims(space, read, NULL);

    if (rank != at->rank)
        return verify_failed(j, at, "its shape is read back as another");
    for (d = 0; d < rank; d++)
        if (read[d] != (hsize_t)dims[d])
            return verify_failed(j, at, "dimension %d of %lld is read back as %lld", d,
                                 (long long)dims[d], (long long)read[d]);
    return 0;
}

/* ------------------------------------------------------------------- values */

/* A region as HDF5 says it: the same selection has several texts. */
static int settle_region(struct value_move *mv, struct h5_object *o, drep_ref *ref)
{
    struct job *j = mv->j;
    hid_t dset = H5Oopen_by_addr(j->back->h, (haddr_t)o->made);
    hid_t space = dset > 0 ? H5Dget_space(dset) : -1;
    char *text = NULL, *kept;
    int err = 0;

    /* One that HDF5 cannot select has become none, and that was said. */
    if (space < 0 || region_select(j, ref->region, space) != 0)
        ref->object = 0;
    else
        err = region_print(mv, space, &text);
    kept = text ? strdup(text) : NULL;
    if (text && !kept)
        err = job_no_memory(j);
    if (kept) {
        free(ref->region);
        ref->region = kept;
    }
    if (space > 0)
        H5Sclose(space);
    if (dset > 0)
        H5Oclose(dset);
    return err;
}

/* A reference as export makes it: ref_out(). */
static int settle_reference(struct value_move *mv, int region, void *at)
{
    struct h5_object *o;
    drep_ref ref;
    int err = 0;

    memcpy(&ref, at, sizeof ref);
    if (!ref.object)
        return 0;
    o = job_find(mv->j, ref.object);
    if (o && o->kind == DREP_OBJ_DIMENSION && o->scale == 1)
        o = job_find(mv->j, o->digest);
    ref.object = o && o->made ? o->key : 0;
    if (ref.object && region)
        err = settle_region(mv, o, &ref);
    memcpy(at, &ref, sizeof ref);
    return err;
}

static int settle(struct value_move *mv, const struct map *m, size_t n, uint8_t *d)
{
    drep_vlen v;
    size_t i, k;
    int err = 0;

    if (!has_references(m))
        return 0;
    for (i = 0; !err && i < n; i++, d += m->dsize) {
        switch (m->kind) {
        case MAP_COMPOUND:
            for (k = 0; !err && k < m->n; k++)
                err = settle(mv, &m->parts[k], 1, d + m->doffset[k]);
            break;
        case MAP_ARRAY:
            err = settle(mv, m->parts, m->n, d);
            break;
        case MAP_SEQUENCE:
            memcpy(&v, d, sizeof v);
            err = settle(mv, m->parts, (size_t)v.count, v.data);
            break;
        default:
            err = settle_reference(mv, m->kind == MAP_REGION, d);
        }
    }
    return err;
}

int verify_elements(struct job *j, const struct verified *at, const struct map *m, size_t n,
                    void *ours, const void *theirs)
{
    struct hdf5_pair pair = {
        .file = j->d, .type = m->held, .n = (int64_t)n, .ours = ours, .theirs = theirs};
    struct value_move mv = {.j = j, .path = at->path};
    struct value_move in = {.j = j->back, .ref = ref_in, .path = at->path};
    void *held = m->kind == MAP_FLAT ? NULL : move_alloc(&in, n * m->dsize);
    char text[sizeof j->why], where[24 * DREP_MAX_RANK] = "";
    int64_t differs;
    int err = 0;

    if (m->kind != MAP_FLAT) {
        err = held ? move_in(&in, m, n, theirs, held) : job_no_memory(j);
        pair.theirs = held;
    }
    if (!err)
        err = settle(&mv, m, n, ours);
    if (!err) {
        differs = j->o->compare(j->o->ctx, &pair, text, sizeof text);
        if (differs >= 0) {
            box_index_text(at->rank, at->start, at->count, differs, where, sizeof where);
            /* ".part: ..." or ": ..." stands behind an index. */
            err = verify_failed(j, at, "%s%s", where, *where || *text != ':' ? text : text + 2);
        }
    }
    move_release(&mv);
    move_release(&in);
    return err;
}

/* Compares the members of a compound, or all of what is none. */
static int same_bytes(hid_t type, const uint8_t *a, const uint8_t *b)
{
    int i, n = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
    int same = n > 0 || memcmp(a, b, H5Tget_size(type)) == 0;

    for (i = 0; same && i < n; i++) {
        hid_t part = H5Tget_member_type(type, (unsigned)i);
        size_t at = H5Tget_member_offset(type, (unsigned)i);

        same = part > 0 && same_bytes(part, a + at, b + at);
        H5Tclose(part);
    }
    return same;
}

static int same_list(hid_t type, const uint8_t *a, const uint8_t *b)
{
    hid_t base = H5Tget_super(type);
    hvl_t x, y;
    int same;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    same = x.len == y.len && (x.len == 0 || memcmp(x.p, y.p, x.len * H5Tget_size(base)) == 0);
    H5Tclose(base);
    return same;
}

int verify_made(struct job *j, hid_t object, const struct verified *at, hid_t mem,
                const void *value, size_t n)
{
    hid_t attr = H5Aexists(object, at->name) > 0 ? H5Aopen(object, at->name, H5P_DEFAULT) : -1;
    hid_t space = attr > 0 ? H5Aget_space(attr) : -1;
    int lists = H5Tget_class(mem) == H5T_VLEN, err = 0;
    size_t i, size = H5Tget_size(mem);
    uint8_t *read = calloc(n + 1, size);

    if (!read)
        err = job_no_memory(j);
    else if (space < 0 || H5Sget_simple_extent_npoints(space) != (hssize_t)n ||
             H5Aread(attr, mem, read) < 0)
        err = verify_failed(j, at, "it is not read back");
    for (i = 0; !err && i < n; i++)
        if (!(lists ? same_list : same_bytes)(mem, read + i * size,
                                              (const uint8_t *)value + i * size))
            err = verify_failed(j, at, "[%zu] is read back as another", i);
    if (read && space > 0 && lists)
        H5Dvlen_reclaim(mem, space, H5P_DEFAULT, read);
    free(read);
    if (space > 0)
        H5Sclose(space);
    if (attr > 0)
        H5Aclose(attr);
    return err;
}
