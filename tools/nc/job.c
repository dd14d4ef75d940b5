/* job.c - the state of one import or export, and what it says. */
/* SPDX-License-Identifier: MIT */
#include "tools/nc/nc.h"
#include <stdio.h>

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
