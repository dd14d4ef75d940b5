/* module.c - the module datarep-netcdf.so: classic netCDF files through libnetcdf. */
/* SPDX-License-Identifier: MIT */
#include "tools/nc/header.h"
#include "tools/nc/nc.h"
#include "tools/host/growing.h"
#include "tools/walk/beneath.h"
#include <datarep.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netcdf_mem.h>
#include <netcdf_meta.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULE_API __attribute__((visibility("default")))

static int finish(struct nc_job *j, int err)
{
    if (err)
        j->o->error(j->o->ctx, err, j->why);
    if (j->o->totals)
        *j->o->totals = j->totals;
    return err;
}

/* ------------------------------------------------------------------ import */

/* The file in memory: libnetcdf opens nothing by name, so that it works in the cage. */
struct image {
    void *p;
    size_t size;
    int copied; /* malloc'ed, else mapped */
};

/* libnetcdf makes its own memory of a smaller file longer, so that it cannot be a mapping. */
#define SMALL (1 << 20)

static int image_copy(struct nc_job *j, struct image *m, int fd, size_t size)
{
    m->copied = 1;
    m->size = size;
    m->p = malloc(size);
    if (!m->p)
        return nc_fail(j, DREP_ERR_NOMEM, "%s: out of memory", j->o->src);
    if (pread(fd, m->p, size, 0) != (ssize_t)size)
        return nc_fail(j, DREP_ERR_IO, "%s: cannot be read", j->o->src);
    return 0;
}

static void image_close(struct image *m)
{
    if (m->copied)
        free(m->p);
    else if (m->p)
        munmap(m->p, m->size);
}

static int image_open(struct nc_job *j, struct image *m)
{
    int fd = open(j->o->src, O_RDONLY | O_CLOEXEC), err = 0;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0) {
        err = nc_fail(j, DREP_ERR_IO, "%s: %s", j->o->src, strerror(errno));
    } else if (!S_ISREG(st.st_mode) || st.st_size < 4) {
        err = nc_fail(j, DREP_ERR_FORMAT, "%s: not a netCDF file", j->o->src);
    } else if (st.st_size < SMALL) {
        err = image_copy(j, m, fd, (size_t)st.st_size);
    } else {
        m->size = (size_t)st.st_size;
        m->p = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
        if (m->p == MAP_FAILED) {
            m->p = NULL;
            err = nc_fail(j, DREP_ERR_NOMEM, "%s: %s", j->o->src, strerror(errno));
        }
    }
    if (fd >= 0)
        close(fd);
    return err;
}

static int open_source(struct nc_job *j, struct image *m)
{
    NC_memio bytes = {.size = m->size, .memory = m->p, .flags = m->copied ? 0 : NC_MEMIO_LOCKED};
    int status = nc_open_memio(j->o->src, NC_NOWRITE, &bytes, &j->nc);

    if (m->copied)
        m->p = NULL; /* the library's, which may have freed it, also after an error */
    if (status == NC_NOERR)
        return 0;
    j->nc = -1;
    return nc_fail(j, DREP_ERR_FORMAT, "%s: netCDF says: %s", j->o->src, nc_strerror(status));
}

/* Names the source in the new container, for a virtual import. */
static int name_source(struct nc_job *j)
{
    char path[PATH_MAX];
    int where = path_beneath(j->o->dst, j->o->src, path), err;

    if (where < 0)
        return nc_fail(j, DREP_ERR_IO, "%s: %s", j->o->src, strerror(errno));
    if (where > 0)
        return nc_fail(j, DREP_ERR_ARG,
                       "%s: a virtual container refers to files in or below its own directory",
                       j->o->src);
    err = drep_external_add(j->d, path, &j->number);
    return err ? nc_fail_drep(j, err) : 0;
}

static int import_file(struct nc_job *j, struct image *m)
{
    const struct hdf5_options *o = j->o;
    char known[PATH_MAX] = "";
    int err = image_open(j, m);

    if (o->hidden)
        growing_find("", known);
    if (!err && o->root && strcmp(o->root, "/") != 0)
        err = nc_fail(j, DREP_ERR_UNSUPPORTED,
                      "%s: --root: a classic netCDF file is imported whole", o->src);
    if (!err) {
        err = drep_create(o->dst, o->excl ? DREP_EXCL : 0,
                          o->big_datarep ? o->big_datarep : o->datarep, o->hints, &j->d);
        if (err)
            nc_fail_drep(j, err);
    }
    if (!err && o->hidden)
        growing_find(known, o->hidden);
    if (!err && o->pinned)
        err = name_source(j);
    if (!err && o->cage) {
        err = o->cage(o->ctx);
        if (err)
            nc_fail(j, err, "%s: the netCDF library cannot be confined", o->src);
    }
    if (!err)
        err = nc_header_check(j, m->p, m->size);
    if (!err)
        err = open_source(j, m);
    return err ? err : nc_import_all(j);
}

MODULE_API int datarep_netcdf_import(const struct hdf5_options *options)
{
    struct nc_job j = {.o = options, .nc = -1};
    struct image m = {0};
    int err = import_file(&j, &m);

    if (err && j.d)
        drep_abandon(j.d);
    else if (!err && (err = drep_close(j.d)))
        nc_fail_drep(&j, err);
    if (options->hidden)
        *options->hidden = 0;
    if (j.nc >= 0)
        nc_close(j.nc);
    free(j.places);
    image_close(&m);
    return finish(&j, err);
}

/* ------------------------------------------------------------------ export */

MODULE_API int datarep_netcdf_export(const struct hdf5_options *options)
{
    struct nc_job j = {.o = options, .nc = -1};
    int err = drep_open(options->src, DREP_RDONLY, options->hints, &j.d);

    if (err)
        return finish(&j, nc_fail_drep(&j, err));
    if (options->root && strcmp(options->root, "/") != 0)
        err = nc_fail(&j, DREP_ERR_UNSUPPORTED, "%s: --root: a classic netCDF file has one group",
                      options->src);
    if (!err)
        err = nc_export_all(&j);
    if (j.nc >= 0)
        nc_abort(j.nc);
    drep_abandon(j.d);
    return finish(&j, err);
}

/* An HDF5 file that export has made for netCDF. */
MODULE_API int datarep_netcdf_view(const struct hdf5_options *options)
{
    struct nc_job j = {.o = options, .nc = -1};
    int err = drep_open(options->src, DREP_RDONLY, options->hints, &j.d);

    if (err) {
        nc_fail_drep(&j, err);
    } else {
        err = nc_view_all(&j);
        drep_abandon(j.d);
    }
    if (err)
        options->error(options->ctx, err, j.why);
    return err;
}

MODULE_API int datarep_netcdf_interface(void)
{
    return DATAREP_HDF5_INTERFACE;
}

MODULE_API const char *datarep_netcdf_version(void)
{
    return "netCDF " NC_VERSION;
}
