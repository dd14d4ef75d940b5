/* dump_state.c - one run of `dump`. */
#include "tools/cmd/dump_state.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include <string.h>

void dump_failed(struct dump *d, const char *path, int err)
{
    d->status = tool_worse(d->status, tool_fail(d->file_name, path, err));
}

int dump_describe(const struct dump *d, drep_dataset *ds, drep_dsinfo *info)
{
    drep_dsusage usage;
    int err = drep_dataset_info(ds, info);

    return err || d->header_only || d->operand.slice ? err : drep_dataset_usage(ds, &usage);
}

bool dump_slice(struct dump *d, const char *path, const drep_dsinfo *info, struct slice *out)
{
    int wrong = 0;

    if (d->operand.slice && strcmp(path, d->operand.path) == 0)
        wrong = slice_parse(out, d->operand.slice, info->rank, info->dims);
    else
        slice_all(out, info->rank, info->dims);
    if (!wrong)
        return true;
    tool_say(d->file_name, path, "%s", drep_error());
    d->status = tool_worse(d->status, TOOL_USAGE);
    return false;
}
