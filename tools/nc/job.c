/* job.c - the state of one import or export, and what it says. */
/* SPDX-License-Identifier: MIT */
#include "tools/nc/nc.h"
#include <datarep.h>
#include <stdio.h>
#include <string.h>

int nc_fail(struct nc_job *j, int err, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(j->why, sizeof j->why, format, ap);
    va_end(ap);
    return err;
}

int nc_fail_netcdf(struct nc_job *j, const char *doing, int status)
{
    int err = status == NC_ENOMEM   ? DREP_ERR_NOMEM
              : status == NC_ENOTNC ? DREP_ERR_FORMAT
              : status > 0          ? DREP_ERR_IO
                                    : DREP_ERR_UNSUPPORTED;

    return nc_fail(j, err, "%s: netCDF says: %s", doing, nc_strerror(status));
}

int nc_fail_drep(struct nc_job *j, int err)
{
    return nc_fail(j, err, "%s", drep_error());
}

void nc_say(struct nc_job *j, int weight, const char *what, const char *path, const char *format,
            ...)
{
    struct hdf5_finding f = {.weight = weight, .what = what, .path = path};
    char text[600];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    f.message = text;
    j->o->say(j->o->ctx, &f);
}

int nc_stopped(struct nc_job *j)
{
    return j->o->stopped && j->o->stopped() ? nc_fail(j, DREP_ERR_STOPPED, "stopped") : 0;
}

void nc_progress(struct nc_job *j, uint64_t bytes)
{
    j->done += bytes;
    j->totals.bytes += bytes;
    if (j->o->progress)
        j->o->progress(j->o->ctx, j->done, j->total);
}

int64_t nc_compare_texts(char *const *a, char *const *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (strcmp(a[i] ? a[i] : "", b[i] ? b[i] : "") != 0)
            return i;
    return -1;
}

int nc_compare(struct nc_job *j, const char *path, const struct box *b, const drep_type *type,
               const void *ours, const void *theirs)
{
    size_t size = (size_t)drep_type_extent(type);
    struct hdf5_pair pair = {
        .file = j->d, .type = type, .n = box_elements(b), .ours = ours, .theirs = theirs};
    char text[sizeof j->why] = "", where[24 * DREP_MAX_RANK];
    int64_t differs;

    if (drep_type_variable(type)) {
        differs = nc_compare_texts(ours, theirs, pair.n);
        if (differs < 0)
            return 0;
        pair.ours = (char *const *)ours + differs;
        pair.theirs = (char *const *)theirs + differs;
        pair.n = 1;
        j->o->compare(j->o->ctx, &pair, text, sizeof text);
    } else {
        if (memcmp(ours, theirs, (size_t)pair.n * size) == 0)
            return 0;
        differs = j->o->compare(j->o->ctx, &pair, text, sizeof text);
    }
    box_index_text(b->rank, b->start, b->count, differs, where, sizeof where);
    return nc_fail(j, DREP_ERR_CONVERSION, "%s: %s%s%s", j->o->dst, path, where, text);
}
