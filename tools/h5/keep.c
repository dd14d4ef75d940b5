/* keep.c - what a container has no place for, kept in attributes of its objects.
 *
 * Comments, links of users' own kinds, links that make circles, names that we cannot
 * have, which datatypes are named ones, the user block: read here, written as the
 * attributes that parts.h names, and brought back by export. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/keep.h"
#include "tools/h5/header.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/layout.h"
#include "tools/h5/mapping_note.h"
#include "tools/h5/note.h"
#include "tools/h5/object.h"
#include "tools/h5/odd_link.h"
#include "tools/h5/source.h"
#include <datarep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLES 500
#define BLOCK_MAX (256 << 20)

/* ------------------------------------------------------- what the file does mostly */

struct sample {
    int64_t cset[2];
    int64_t fill_time[3];
    int64_t left;
};

static void sample_type(hid_t t, int depth, struct sample *s)
{
    H5T_class_t cls = H5Tget_class(t);
    hid_t part;
    int i, n;

    if (depth > 8)
        return;
    if (cls == H5T_STRING)
        s->cset[H5Tget_cset(t) == H5T_CSET_ASCII]++;
    n = cls == H5T_COMPOUND ? H5Tget_nmembers(t) : cls == H5T_ARRAY || cls == H5T_VLEN;
    for (i = 0; i < n; i++) {
        part = cls == H5T_COMPOUND ? H5Tget_member_type(t, (unsigned)i) : H5Tget_super(t);
        if (part > 0) {
            sample_type(part, depth + 1, s);
            H5Tclose(part);
        }
    }
}

static herr_t sample_attribute(hid_t object, const char *name, const H5A_info_t *info, void *ctx)
{
    struct sample *s = ctx;
    hid_t attr, type;

    (void)info;
    if (--s->left < 0)
        return 1;
    attr = H5Aopen(object, name, H5P_DEFAULT);
    type = attr > 0 ? H5Aget_type(attr) : -1;
    if (type > 0) {
        sample_type(type, 0, s);
        H5Tclose(type);
    }
    if (attr > 0)
        H5Aclose(attr);
    return 0;
}

static void sample_object(struct job *j, const struct h5_object *o, struct sample *s)
{
    hid_t object = H5Oopen_by_addr(j->h, (haddr_t)o->key), type, dcpl;
    H5D_fill_time_t time = H5D_FILL_TIME_IFSET;

    if (object <= 0)
        return;
    if (o->kind == DREP_OBJ_DATASET) {
        type = H5Dget_type(object);
        dcpl = dataset_plist(j, object);
        if (type > 0)
            sample_type(type, 0, s);
        if (dcpl > 0 && H5Pget_fill_time(dcpl, &time) >= 0 && (unsigned)time < 3)
            s->fill_time[time]++;
        source_keep_open(j, o, object, dcpl);
        H5Pclose(dcpl);
        H5Tclose(type);
    }
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, sample_attribute, s);
    H5Oclose(object);
}

/* The most common choice among the first objects needs no note. */
int keep_defaults(struct job *j)
{
    struct sample s = {.left = SAMPLES};
    size_t i;

    for (i = 0; i < j->objects.n && i < SAMPLES && s.left > 0; i++)
        sample_object(j, &j->objects.list[i], &s);
    j->usual.cset = s.cset[1] > s.cset[0] ? H5T_CSET_ASCII : H5T_CSET_UTF8;
    for (i = 0; i < 3; i++)
        if (s.fill_time[i] > s.fill_time[j->usual.fill_time])
            j->usual.fill_time = (int)i;
    return 0;
}

/* ------------------------------------------------------------------- the file */

static int keep_user_block(struct job *j, size_t size)
{
    drep_type *type = NULL;
    void *block = malloc(size);
    int err = block ? 0 : job_no_memory(j);

    if (!err && pread(j->guard.fd, block, size, 0) != (ssize_t)size)
        err = job_fail(j, DREP_ERR_UNSUPPORTED, "it cannot be read");
    if (!err) {
        err = drep_type_opaque((int64_t)size, "user block", &type);
        if (!err)
            err = drep_attr_write(j->d, "/", KEEP_USER_BLOCK, type, 0, NULL, block);
        if (err)
            job_fail_drep(j, err);
    }
    drep_type_free(type);
    free(block);
    return err;
}

int keep_file(struct job *j, struct notes *r)
{
    hid_t fcpl = H5Fget_create_plist(j->h);
    H5F_info2_t info;
    hsize_t size = 0;
    int err = 0;

    j->usual.latest = H5Fget_info2(j->h, &info) >= 0 && info.super.version >= 3;
    if (H5Pget_userblock(fcpl, &size) >= 0 && size > 0) {
        err = size > BLOCK_MAX ? job_fail(j, DREP_ERR_LIMIT, "more than 256 MiB")
                               : keep_user_block(j, (size_t)size);
        if (!err)
            job_say(j, HDF5_KEPT, "userblock", "", "the user block of %llu bytes is in \"%s\"",
                    (unsigned long long)size, KEEP_USER_BLOCK);
        err = job_skip(j, err, "userblock", "", "the user block is not kept");
    }
    H5Pclose(fcpl);
    return err ? err : layout_defaults_write(j, r);
}

/* --------------------------------------------------------------------- objects */

static int keep_comment(struct job *j, hid_t object, const char *path, struct notes *r)
{
    ssize_t n = H5Oget_comment(object, NULL, 0);
    char *text = n > 0 ? malloc((size_t)n + 1) : NULL;
    int err;

    if (n <= 0)
        return 0;
    if (!text)
        return job_no_memory(j);
    H5Oget_comment(object, text, (size_t)n + 1);
    err = notes_add(j, r, "comment %s", text);
    if (!err)
        job_say(j, HDF5_KEPT, "comment", path, "its comment is in \"%s\"", KEEP_NOTES);
    free(text);
    return err;
}

/* In memory as our library wants it. */
struct circle {
    char *name;
    int64_t position;
    drep_ref group;
};

static int circle_type(drep_type **out)
{
    static const char *const names[] = {"name", "position", "group"};
    const int64_t displs[] = {offsetof(struct circle, name), offsetof(struct circle, position),
                              offsetof(struct circle, group)};
    drep_type *text = NULL, *ref = NULL;
    int err = drep_type_vstring(&text);

    if (!err)
        err = drep_type_reference(DREP_REF_OBJECT, &ref);
    if (!err) {
        const drep_type *types[] = {text, DREP_INT64_T, ref};

        err = drep_type_compound(3, names, displs, types, sizeof(struct circle), out);
    }
    drep_type_free(text);
    drep_type_free(ref);
    return err;
}

static int write_circles(struct job *j, const char *path, const struct circle *list, int64_t n)
{
    drep_type *type = NULL;
    int err = circle_type(&type);

    if (!err)
        err = drep_attr_write(j->d, path, KEEP_CIRCLES, type, 1, &n, list);
    drep_type_free(type);
    return err ? job_fail_drep(j, err) : 0;
}

int circles_read(struct job *j, const char *path, struct odd_link **links, size_t *n)
{
    drep_attrinfo info = DREP_ATTRINFO;
    drep_type *type = NULL;
    struct circle *list = NULL;
    int64_t i, count = 0;
    int err = 0;

    *links = NULL;
    *n = 0;
    if (drep_attr_info(j->d, path, KEEP_CIRCLES, &info) != 0)
        return 0;
    if (info.rank == 1 && drep_type_kind(info.type) == DREP_KIND_COMPOUND &&
        drep_type_members(info.type) == 3)
        count = info.count;
    drep_attrinfo_release(&info);
    if (count == 0)
        return 0;
    list = calloc((size_t)count, sizeof *list);
    *links = calloc((size_t)count, sizeof **links);
    if (!list || !*links)
        err = job_no_memory(j);
    /* An attribute of that name which is not ours says nothing. */
    if (!err && circle_type(&type) == 0 &&
        drep_attr_read(j->d, path, KEEP_CIRCLES, type, list) == 0)
        for (i = 0; !err && i < count; i++, (*n)++) {
            (*links)[i] = (struct odd_link){.name = strdup(list[i].name ? list[i].name : ""),
                                            .position = list[i].position,
                                            .target = list[i].group.object};
            err = (*links)[i].name ? 0 : job_no_memory(j);
        }
    if (type)
        drep_vlen_free(type, count, list);
    drep_type_free(type);
    free(list);
    return err;
}

/* A link as a line: "link-was HEX NAME" or "odd-link CLASS POSITION HEX NAME". */
static int note_link(struct job *j, const struct odd_link *l, struct notes *r)
{
    char *hex = l->was ? hex_from(l->was, strlen(l->was)) : hex_from(l->data, l->size);
    int err = 0;

    if (!hex)
        return job_no_memory(j);
    if (l->was)
        err = notes_add(j, r, "link-was %s %s", hex, l->name);
    if (!err && l->cls)
        err = notes_add(j, r, "odd-link %d %lld %s %s", l->cls, (long long)l->position,
                        *hex ? hex : "-", l->name);
    free(hex);
    return err;
}

/* The links of group number i are neighbours in the list. */
static int keep_links(struct job *j, size_t i, struct notes *r)
{
    struct circle *circles = NULL;
    size_t k, low = 0, high = j->links.n, end;
    int64_t n = 0;
    int err = 0;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (j->links.list[mid].group < i)
            low = mid + 1;
        else
            high = mid;
    }
    for (end = low; end < j->links.n && j->links.list[end].group == i;)
        end++;
    if (end == low)
        return 0;
    circles = calloc(end - low, sizeof *circles);
    if (!circles)
        return job_no_memory(j);
    for (k = low; !err && k < end; k++) {
        const struct odd_link *l = &j->links.list[k];
        const struct h5_object *o = l->target ? job_find(j, l->target) : NULL;

        err = note_link(j, l, r);
        if (o)
            circles[n++] = (struct circle){l->name, l->position, {o->made, NULL}};
    }
    if (!err && n)
        err = write_circles(j, j->objects.list[i].path, circles, n);
    free(circles);
    return err;
}

int keep_object(struct job *j, hid_t object, size_t i, struct notes *r)
{
    int err = keep_comment(j, object, j->objects.list[i].path, r);

    return err ? err : keep_links(j, i, r);
}

/* -------------------------------------------------- where the data of others lies */

static int keep_virtual(struct job *j, const struct h5_source *s, struct notes *r)
{
    struct mapping m;
    size_t i, n = 0;
    int err = 0;

    if (H5Pget_virtual_count(s->dcpl, &n) < 0)
        return 0;
    for (i = 0; !err && i < n; i++) {
        err = mapping_read(j, s->dcpl, i, &m);
        if (!err)
            err = mapping_note(j, &m, i, r);
        mapping_release(&m);
    }
    return err;
}

static int keep_external(struct job *j, const struct h5_source *s, struct notes *r)
{
    char name[4096];
    hsize_t size;
    off_t offset;
    int i, n = H5Pget_external_count(s->dcpl), err = 0;

    for (i = 0; !err && i < n; i++) {
        *name = 0;
        if (H5Pget_external(s->dcpl, (unsigned)i, sizeof name, name, &offset, &size) < 0)
            break;
        name[sizeof name - 1] = 0;
        if (size == H5F_UNLIMITED)
            err = notes_add(j, r, "external %lld * %s", (long long)offset, name);
        else
            err = notes_add(j, r, "external %lld %llu %s", (long long)offset,
                            (unsigned long long)size, name);
    }
    return err;
}

int keep_mapping(struct job *j, const char *path, const struct h5_source *s, struct notes *r)
{
    if (s->layout == H5D_VIRTUAL) {
        job_say(j, HDF5_KEPT, "layout", path,
                "a virtual dataset becomes an ordinary one with its values; its sources are in "
                "\"%s\"",
                KEEP_NOTES);
        return keep_virtual(j, s, r);
    }
    if (H5Pget_external_count(s->dcpl) > 0) {
        job_say(j, HDF5_KEPT, "layout", path,
                "values in raw files become values here; the names are in \"%s\"", KEEP_NOTES);
        return keep_external(j, s, r);
    }
    return 0;
}
