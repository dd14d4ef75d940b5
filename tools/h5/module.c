/* module.c - the HDF5 module of the command: its entry points.
 *
 * Compiled into datarep-hdf5.so, which import and export load. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/netcdf.h"
#include "tools/h5/array.h"
#include "tools/h5/attribute_out.h"
#include "tools/h5/encoding.h"
#include "tools/h5/export.h"
#include "tools/h5/framed.h"
#include "tools/h5/guard.h"
#include "tools/h5/import.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/measure.h"
#include "tools/h5/note.h"
#include "tools/h5/object.h"
#include "tools/h5/odd_link.h"
#include "tools/h5/pin.h"
#include "tools/h5/read_back.h"
#include "tools/h5/source.h"
#include "tools/h5/threads.h"
#include "tools/host/growing.h"
#include <datarep.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE_API __attribute__((visibility("default")))

/* HDF5 prints no errors of its own while a job runs. */
struct quiet {
    H5E_auto2_t fn;
    void *data;
};

static void quiet_begin(struct quiet *q)
{
    /* Once a file could not be closed for want of space, HDF5's own exit handler crashes. */
    H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &q->fn, &q->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    guard_plugins();
    framed_register();
}

static void quiet_end(const struct quiet *q)
{
    H5Eset_auto2(H5E_DEFAULT, q->fn, q->data);
}

static int finish(struct job *j, int err)
{
    if (err)
        j->o->error(j->o->ctx, err, j->why);
    if (j->o->totals)
        *j->o->totals = j->totals;
    threads_free(j->threads);
    measured_release(j);
    lost_attributes_free(j->lost);
    odd_links_release(&j->links);
    free(j->pipeline);
    objects_release(&j->objects);
    return err;
}

/* ------------------------------------------------------------------ import */

/* One of the reasons in the error stack says that the file is not HDF5. */
static herr_t find_no_hdf5(unsigned n, const H5E_error2_t *e, void *ctx)
{
    (void)n;
    *(int *)ctx |= e->min_num == H5E_NOTHDF5;
    return 0;
}

/* A file that somebody writes as HDF5's SWMR allows, or did until he died. */
static int open_for_swmr(struct job *j, hid_t fapl)
{
    j->h = fapl < 0 ? -1 : H5Fopen(j->o->src, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, fapl);
    if (j->h < 0)
        return 0;
    job_say(j, HDF5_READ, "file", "",
            "it is open for writing (SWMR), or was not closed: what is read was flushed before");
    return 1;
}

static int open_source_file(struct job *j)
{
    int foreign = 0;
    hid_t fapl = guard_fapl(&j->guard);

    j->h = fapl < 0 ? -1 : H5Fopen(j->o->src, H5F_ACC_RDONLY, fapl);
    if (j->h >= 0)
        return 0;
    job_fail_hdf5(j, j->o->src);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_no_hdf5, &foreign);
    if (*j->guard.part)
        return job_fail(j, DREP_ERR_FORMAT, "%s: this is %s", j->o->src, j->guard.part);
    if (!foreign && open_for_swmr(j, fapl))
        return 0;
    return foreign ? job_fail(j, DREP_ERR_FORMAT, "%s: not an HDF5 file", j->o->src)
                   : DREP_ERR_FORMAT;
}

/* Everything that may still be opened by name is open before a byte of the source is read. */
static int import_file(struct job *j)
{
    const struct hdf5_options *o = j->o;
    char known[PATH_MAX] = "";
    int err = guard_init(j, &j->guard);

    if (o->hidden)
        growing_find("", known);
    if (!err) {
        err = drep_create(o->dst, o->excl ? DREP_EXCL : 0, o->datarep, o->hints, &j->d);
        if (err)
            job_fail_drep(j, err);
    }
    if (!err && o->hidden)
        growing_find(known, o->hidden);
    if (!err && o->pinned && j->guard.family.n > 0)
        err =
            job_fail(j, DREP_ERR_ARG, "%s: a virtual container does not refer to a family", o->src);
    if (!err && o->pinned)
        err = pin_begin(j);
    if (!err && o->cage) {
        err = o->cage(o->ctx);
        if (err)
            job_fail(j, err, "%s: the HDF5 library cannot be confined", o->src);
    }
    if (!err)
        err = open_source_file(j);
    if (!err && o->pinned)
        pin_opened(j);
    return err ? err : import_all(j);
}

MODULE_API int datarep_hdf5_import(const struct hdf5_options *options)
{
    struct encodings encodings = {0};
    struct job j = {.o = options,
                    .h = -1,
                    .encodings = &encodings,
                    .guard = {.fd = -1},
                    .usual.cset = H5T_CSET_UTF8,
                    .usual.fill_time = H5D_FILL_TIME_IFSET};
    struct quiet q;
    int err;

    /* Raw files are looked for beside the file, also those behind a virtual dataset.  HDF5
     * reads the variable when it begins. */
    setenv("HDF5_EXTFILE_PREFIX", "${ORIGIN}", 0);
    quiet_begin(&q);
    err = import_file(&j);
    if (err) {
        if (j.d)
            drep_abandon(j.d);
    } else {
        err = drep_close(j.d);
        if (err)
            job_fail_drep(&j, err);
    }
    if (options->hidden)
        *options->hidden = 0;
    sources_close(&j);
    if (j.h >= 0)
        H5Fclose(j.h);
    guard_release(&j.guard);
    err = finish(&j, err);
    quiet_end(&q);
    return err;
}

/* ------------------------------------------------------------------ export */

/* The user block that the container keeps; *size is 0 without one. */
static int read_user_block(struct job *j, void **block, size_t *size)
{
    drep_attrinfo info = DREP_ATTRINFO;
    int err;

    *block = NULL;
    *size = 0;
    /* A part of the file takes nothing of the whole. */
    if (j->o->root && strcmp(j->o->root, "/") != 0)
        return 0;
    if (drep_attr_info(j->d, "/", KEEP_USER_BLOCK, &info) != 0)
        return 0;
    if (info.rank == 0 && drep_type_kind(info.type) == DREP_KIND_OPAQUE) {
        *size = (size_t)drep_type_size(info.type);
        *block = malloc(*size + 1);
        err =
            *block ? drep_attr_read(j->d, "/", KEEP_USER_BLOCK, info.type, *block) : DREP_ERR_NOMEM;
    } else {
        err = 0;
    }
    drep_attrinfo_release(&info);
    if (err) {
        free(*block);
        *block = NULL;
    }
    return err ? job_fail_drep(j, err) : 0;
}

/* The size that HDF5 reserves: a power of two from 512 on. */
static hsize_t user_block_size(size_t size)
{
    hsize_t block = 512;

    while (block < size)
        block *= 2;
    return size ? block : 0;
}

static int create_file(struct job *j, size_t user_block)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), fcpl = H5Pcreate(H5P_FILE_CREATE);

    /* Attributes beyond 64 KiB and creation order need the object headers of 1.8; chunk indexes of
     * 1.10 are a fraction of older ones, for readers that have them. */
    H5Pset_libver_bounds(fapl, j->usual.latest ? H5F_LIBVER_V110 : H5F_LIBVER_V18,
                         H5F_LIBVER_LATEST);
    H5Pset_link_creation_order(fcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_attr_creation_order(fcpl, H5P_CRT_ORDER_TRACKED);
    H5Pset_userblock(fcpl, user_block_size(user_block));
    j->h = H5Fcreate(j->o->place, H5F_ACC_TRUNC, fcpl, fapl);
    H5Pclose(fcpl);
    H5Pclose(fapl);
    if (j->h >= 0)
        return 0;
    job_fail_hdf5(j, j->o->dst);
    return DREP_ERR_IO;
}

static int write_user_block(struct job *j, const void *block, size_t size)
{
    int fd = open(j->o->place, O_WRONLY | O_CLOEXEC);
    int ok = fd >= 0 && pwrite(fd, block, size, 0) == (ssize_t)size, number = errno;

    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = 0;
        number = errno;
    }
    return ok ? 0
              : job_fail(j, number == ENOSPC ? DREP_ERR_NO_SPACE : DREP_ERR_IO, "%s: %s", j->o->dst,
                         strerror(number));
}

static int export_to(struct job *j)
{
    void *block;
    size_t size;
    int err = read_user_block(j, &block, &size);

    if (!err)
        err = export_defaults(j);
    if (!err)
        err = create_file(j, size);
    if (!err)
        err = export_all(j);
    netcdf_release(j);
    if (j->h >= 0 && H5Fclose(j->h) < 0 && !err) {
        job_fail_hdf5(j, j->o->dst);
        err = DREP_ERR_IO;
    }
    j->h = -1;
    if (!err && size)
        err = write_user_block(j, block, size);
    if (!err && j->o->compare)
        err = verify_all(j, block, size);
    free(block);
    return err;
}

MODULE_API int datarep_hdf5_export(const struct hdf5_options *options)
{
    struct encodings encodings = {0};
    struct job j = {.o = options,
                    .h = -1,
                    .encodings = &encodings,
                    .netcdf = options->netcdf,
                    .usual.cset = H5T_CSET_UTF8,
                    .usual.fill_time = H5D_FILL_TIME_IFSET};
    struct quiet q;
    int err = drep_open(options->src, DREP_RDONLY, options->hints, &j.d);

    if (err)
        return finish(&j, job_fail_drep(&j, err));
    quiet_begin(&q);
    err = array_conversion_begin() == 0 ? export_to(&j) : job_fail_hdf5(&j, "conversion");
    array_conversion_end();
    drep_abandon(j.d);
    err = finish(&j, err);
    quiet_end(&q);
    return err;
}

MODULE_API int datarep_hdf5_interface(void)
{
    return DATAREP_HDF5_INTERFACE;
}

MODULE_API const char *datarep_hdf5_version(void)
{
    static char text[40];
    unsigned major, minor, patch;

    if (!*text && H5get_libversion(&major, &minor, &patch) >= 0)
        snprintf(text, sizeof text, "HDF5 %u.%u.%u", major, minor, patch);
    return text;
}
