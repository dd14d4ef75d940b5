/* drain.c - a dataset of the container on its way out. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/drain.h"
#include "tools/h5/encoding.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/named.h"
#include "tools/h5/netcdf.h"
#include "tools/h5/note.h"
#include "tools/h5/object.h"
#include "tools/h5/type_in.h"
#include "tools/h5/type_out.h"
#include <datarep.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

hid_t type_out(struct job *j, const struct h5_object *o, const drep_type *type, uint64_t shared,
               const struct notes *notes, int named)
{
    struct h5_object *t = shared ? job_find(j, shared) : NULL;
    drep_type *theirs = NULL;
    char *path;
    hid_t made = 0;

    if (t && t->kind == DREP_OBJ_TYPE && t->made && (path = job_source(j, t))) {
        if (drep_type_open(j->d, path, &theirs) == 0 && drep_type_equal(theirs, type))
            made = H5Oopen_by_addr(j->h, (haddr_t)t->made);
        drep_type_free(theirs);
        free(path);
    }
    if (made > 0)
        return made;
    if (shared)
        job_say(j, HDF5_STORED, "datatype", o->path, "it no longer shares a named datatype");
    return type_out_make(j, type, notes, named);
}

int drain_open(struct job *j, const struct h5_object *o, struct drain *out)
{
    struct drain d = {.path = job_source(j, o), .info = DREP_DSINFO, .usage = DREP_DSUSAGE};
    struct sharings all = {0};
    int err = d.path ? drep_dataset_open(j->d, d.path, &d.ds) : DREP_ERR_NOMEM;

    if (!err)
        err = drep_dataset_info(d.ds, &d.info);
    if (!err)
        err = drep_dataset_usage(d.ds, &d.usage);
    if (err)
        err = d.path ? job_fail_drep(j, err) : job_no_memory(j);
    if (!err)
        err = notes_read(j, d.path, &d.object_notes);
    if (!err)
        err = notes_of_type(j, &d.object_notes, "type", NULL, &d.notes);
    if (!err)
        err = sharings_read(j, d.path, &all);
    if (!err)
        err = encodings_use(j, d.info.datarep, d.info.datarep_number);
    if (!err) {
        d.file = type_out(j, o, d.info.type, sharing_of(&all, NULL), &d.notes, 0);
        err = d.file ? map_from_hdf5(j, d.file, d.info.type, ORDER_SILENT, NULL, &d.map)
                     : DREP_ERR_UNSUPPORTED;
    }
    if (!err)
        err = netcdf_commit(j, d.file);
    sharings_release(&all);
    if (err)
        drain_close(&d);
    else
        *out = d;
    return err;
}

void drain_close(struct drain *d)
{
    map_release(&d->map);
    notes_release(&d->object_notes);
    notes_release(&d->notes);
    if (d->file > 0)
        H5Tclose(d->file);
    drep_dataset_close(d->ds);
    free(d->path);
    memset(d, 0, sizeof *d);
}

int drain_fill(struct job *j, const struct drain *s, void *held)
{
    int err = drep_dataset_fill(s->ds, s->map.held, held);

    return err ? job_fail_drep(j, err) : 0;
}

int drain_say_rounded(struct job *j, const char *path, const char *what, const struct map *m,
                      const drep_type *type, int64_t n, const void *own)
{
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_CLAMP, .report = &report);
    void *held = calloc((size_t)n, m->dsize);
    int err = held ? drep_convert(m->held, held, type, own, n, &xfer) : DREP_ERR_NOMEM;

    if (!err && (report.inexact || report.nan_lost))
        job_say(j, HDF5_LOST, "values", path, "%s%lld were rounded, %lld NaNs lost their payload",
                what, (long long)report.inexact, (long long)report.nan_lost);
    if (!err)
        drep_vlen_free(m->held, n, held);
    free(held);
    return err ? job_fail_drep(j, err) : 0;
}
