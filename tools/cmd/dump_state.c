/* dump_state.c - one run of `dump`. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/dump_state.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/walk/field.h"
#include <string.h>

void dump_failed(struct dump *d, const char *path, int err)
{
    d->status = tool_worse(d->status, tool_fail(d->file_name, path, err));
}

int dump_describe(const struct dump *d, drep_dataset *ds, drep_dsinfo *info)
{
    drep_dsusage usage = DREP_DSUSAGE;
    int err = drep_dataset_info(ds, info);

    return err || d->header_only || d->operand.slice ? err : drep_dataset_usage(ds, &usage);
}

int dump_type(const struct printer *p, const drep_dsinfo *info, const struct slice *slice,
              drep_type **out)
{
    drep_type *member = NULL;
    int err = slice->member ? field_type(info->type, slice->member, &member) : 0;

    if (!err)
        err = printer_type(p, member ? member : info->type, info->datarep_number, out);
    drep_type_free(member);
    return err;
}

bool dump_slice(struct dump *d, const char *path, const drep_dsinfo *info, struct slice *out)
{
    int status = 0;

    if (d->operand.slice && strcmp(path, d->operand.path) == 0)
        status = operand_slice(&d->operand, d->file_name, d->file, info, out);
    else
        slice_all(out, info->rank, info->dims);
    d->status = tool_worse(d->status, status);
    return status == 0;
}
