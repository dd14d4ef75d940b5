/* nc.h - classic netCDF files (CDF-1, CDF-2, CDF-5): what import and export share.
 *
 * A classic file has one group: dimensions, variables and their attributes, in an order.  Its
 * dimensions become those of the root group, its variables datasets there; text becomes CHAR in
 * variables and strings in attributes. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_NC_NC_H
#define TOOLS_NC_NC_H

#include "tools/h5/interface.h"
#include "tools/walk/box.h"
#include <netcdf.h>
#include <stdarg.h>

/* The state of one import or export. */
struct nc_job {
    const struct hdf5_options *o;
    drep_file *d;
    int nc;        /* the netCDF file; -1: none */
    char why[600]; /* of the failure */
    struct hdf5_totals totals;
    uint64_t done, total; /* bytes of elements */
    /* Import with `pinned`: where variables are in the file, which has this number. */
    struct nc_place {
        uint64_t begin;
        int record; /* one slab in each record */
    } * places;
    size_t nplaces;
    uint64_t record; /* bytes from one to the next */
    uint32_t number;
};

/* Keep the message and return err. */
int nc_fail(struct nc_job *j, int err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with what libnetcdf, or our library, says. */
int nc_fail_netcdf(struct nc_job *j, const char *doing, int status);
int nc_fail_drep(struct nc_job *j, int err);
/* A finding about the object at `path`. */
void nc_say(struct nc_job *j, int weight, const char *what, const char *path, const char *format,
            ...) __attribute__((format(printf, 5, 6)));
int nc_stopped(struct nc_job *j);
void nc_progress(struct nc_job *j, uint64_t bytes);

/* The element that numbers of a netCDF type are, in memory and in the container; NULL: none. */
const drep_type *nc_to_drep(nc_type type);
/* The netCDF type that holds the values of a type of ours; NC_NAT: none.  *exact: nothing about
 * them changes. */
nc_type nc_from_drep(const drep_type *type, int *exact);

/* DREP_ERR_CONVERSION, with the first element of the box that differs; 0: all are the same.  Texts
 * are compared up to their ends. */
int nc_compare(struct nc_job *j, const char *path, const struct box *b, const drep_type *type,
               const void *ours, const void *theirs);

/* The number of the first of n texts that differs, -1: none.  NULL is "". */
int64_t nc_compare_texts(char *const *a, char *const *b, int64_t n);

/* Elements that are moved at once. */
#define NC_BLOCK ((size_t)4 << 20)

int nc_import_all(struct nc_job *j);
/* Writes all of the container; the file is made at o->place. */
int nc_export_all(struct nc_job *j);
/* Looks for all of the container in the netCDF-4 file at o->place. */
int nc_view_all(struct nc_job *j);

#endif
