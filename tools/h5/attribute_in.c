/* attribute_in.c - the attributes of an HDF5 object become those of ours. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/attribute_in.h"
#include "tools/h5/book.h"
#include "tools/h5/encoding.h"
#include "tools/h5/header.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/name.h"
#include "tools/h5/named.h"
#include "tools/h5/note.h"
#include "tools/h5/null.h"
#include "tools/h5/object.h"
#include "tools/h5/reference.h"
#include "tools/h5/scale.h"
#include "tools/h5/source.h"
#include "tools/h5/type_in.h"
#include "tools/h5/type_note.h"
#include "tools/h5/values.h"
#include <datarep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTR_SIZE_MAX (256 << 20)

/* An attribute on its way. */
struct carried {
    struct h5_source s;
    const char *own; /* its name here */
    size_t n;
    void *h, *held, *d;
    struct nulls nulls;
};

static int copy_values_in(struct mover *m, struct carried *c, hid_t attr, struct value_move *mv)
{
    struct job *j = m->j;
    struct map *map = &c->s.map;
    int err;

    c->h = move_alloc(mv, c->n * map->hsize);
    c->held = map->kind == MAP_FLAT ? c->h : move_alloc(mv, c->n * map->dsize);
    c->d = map->held == map->type || drep_type_equal(map->held, map->type)
               ? c->held
               : move_alloc(mv, c->n * (size_t)drep_type_extent(map->type));
    if (!c->h || !c->held || !c->d)
        return DREP_ERR_NOMEM;
    if (c->n && H5Aread(attr, map->mem, c->h) < 0)
        return job_fail_hdf5(j, "attribute");
    err = c->held != c->h ? move_in(mv, map, c->n, c->h, c->held) : 0;
    if (!err && c->d != c->held) {
        err = drep_convert(map->type, c->d, map->held, c->held, (int64_t)c->n, NULL);
        if (err)
            job_fail_drep(j, err);
    }
    nulls_note(&c->nulls, map, NULL, NULL, c->n, c->h);
    return err;
}

/* The most that its dataspace may become: HDF5 has no call that would extend it. */
static int note_most(struct mover *m, const struct carried *c)
{
    char text[H5S_MAX_RANK * 22] = "";
    int d, differs = 0;
    size_t len = 0;

    for (d = 0; d < c->s.rank; d++) {
        differs |= c->s.maxdims[d] != c->s.dims[d];
        len += (size_t)(c->s.maxdims[d] == H5S_UNLIMITED
                            ? snprintf(text + len, sizeof text - len, "%s*", d ? "," : "")
                            : snprintf(text + len, sizeof text - len, "%s%llu", d ? "," : "",
                                       (unsigned long long)c->s.maxdims[d]));
    }
    return differs ? notes_add(m->j, &m->object_notes, ATTRIBUTE_MOST " %s %s", text, c->own) : 0;
}

static int note_attribute(struct mover *m, const struct carried *c, const char *name)
{
    struct job *j = m->j;
    size_t i;
    char *hex;
    int shared, err;

    err = keep_sharing(j, &m->sharings, c->s.type, m->o->path, c->own, &shared);
    for (i = 0; !err && i < c->s.notes.n; i++)
        if (!shared)
            err = notes_add(j, &m->object_notes, "attribute %s %s", c->s.notes.line[i], c->own);
    if (!err)
        err = note_most(m, c);
    if (!err)
        err = nulls_write(j, &c->nulls, c->own, m->o->path, &m->object_notes);
    if (err || strcmp(name, c->own) == 0 || book_is(name))
        return err;
    hex = hex_from(name, strlen(name));
    err =
        hex ? notes_add(j, &m->object_notes, "attribute-was %s %s", hex, c->own) : job_no_memory(j);
    free(hex);
    if (!err)
        job_say(j, HDF5_KEPT, "name", m->o->path,
                "the name in HDF5 of attribute \"%s\" is in \"%s\"", c->own, KEEP_NOTES);
    return err;
}

static int write_carried(struct mover *m, const struct carried *c)
{
    int64_t dims[H5S_MAX_RANK];
    int i, err;

    for (i = 0; i < c->s.rank; i++)
        dims[i] = (int64_t)c->s.dims[i];
    err = drep_attr_write(m->j->d, m->o->path, c->own, c->s.map.type, c->s.rank, dims, c->d);
    m->j->totals.attributes += !err;
    return err ? job_fail_drep(m->j, err) : 0;
}

static int copy_attribute(struct mover *m, hid_t object, const char *name, const char *own,
                          hid_t attr, struct value_move *mv)
{
    struct job *j = m->j;
    struct carried c = {.s = {.type = H5Aget_type(attr), .space = H5Aget_space(attr)}, .own = own};
    drep_type *stated = NULL;
    int orders = !j->o->exact                                         ? ORDER_SILENT
                 : strncmp(name, NETCDF_OWN, strlen(NETCDF_OWN)) == 0 ? ORDER_NAMED
                                                                      : ORDER_STORED;
    int err = c.s.type > 0 && c.s.space > 0 ? source_shape(j, &c.s) : job_fail_hdf5(j, "attribute");

    if (!err)
        err = encodings_use(j, NULL, 0);
    if (!err)
        err = type_note_read(j, object, name, c.s.type, &stated);
    if (!err)
        err = map_from_hdf5(j, c.s.type, stated, orders, &c.s.notes, &c.s.map);
    drep_type_free(stated);
    if (!err && c.s.rank >= 0) {
        c.n = (size_t)H5Sget_simple_extent_npoints(c.s.space);
        if (c.n > ATTR_SIZE_MAX / (c.s.map.hsize + c.s.map.dsize))
            err = job_fail(j, DREP_ERR_LIMIT, "an attribute beyond 256 MiB");
    }
    if (!err)
        err = copy_values_in(m, &c, attr, mv);
    if (!err)
        err = write_carried(m, &c);
    if (!err)
        err = note_attribute(m, &c, name);
    if (c.h && c.n && c.s.map.variable)
        H5Dvlen_reclaim(c.s.map.mem, c.s.space, H5P_DEFAULT, c.h);
    if (c.d && c.d != c.held)
        drep_vlen_free(c.s.map.type, (int64_t)c.n, c.d);
    nulls_release(&c.nulls);
    source_close(&c.s);
    return err;
}

static herr_t import_attribute(hid_t object, const char *name, const H5A_info_t *info, void *ctx)
{
    struct mover *m = ctx;
    struct job *j = m->j;
    struct value_move mv = {.j = j, .ref = ref_in, .path = m->o->path};
    char what[1100], *own;
    hid_t attr;

    (void)info;
    if (scale_implies(j, object, m->o, name) || is_type_note(name))
        return 0;
    own = j->o->plain && book_is(name) ? strdup(name) : own_name(name, 1);
    if (!own) {
        m->err = job_no_memory(j);
        return -1;
    }
    snprintf(what, sizeof what, "attribute \"%.1023s\" is not kept", own);
    attr = H5Aopen(object, name, H5P_DEFAULT);
    m->err = job_stopped(j);
    if (!m->err)
        m->err = attr > 0 ? copy_attribute(m, object, name, own, attr, &mv)
                          : job_fail_hdf5(j, "attribute");
    m->err = job_skip(j, m->err, "attribute", m->o->path, what);
    move_release(&mv);
    free(own);
    if (attr > 0)
        H5Aclose(attr);
    return m->err ? -1 : 0;
}

int import_attributes(struct mover *m, hid_t object)
{
    struct job *j = m->j;
    const struct h5_object *o = m->o;
    hid_t plist = o->kind == DREP_OBJ_GROUP     ? H5Gget_create_plist(object)
                  : o->kind == DREP_OBJ_DATASET ? dataset_plist(j, object)
                                                : H5Tget_create_plist(object);
    unsigned order = 0;

    H5Pget_attr_creation_order(plist, &order);
    if (H5Aiterate2(object, order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME,
                    H5_ITER_INC, NULL, import_attribute, m) < 0 &&
        !m->err) {
        job_fail_hdf5(j, "attributes");
        job_say(j, HDF5_LOST, "attribute", o->path, "%s", j->why);
    }
    H5Pclose(plist);
    return m->err;
}
