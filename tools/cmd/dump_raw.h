/* dump_raw.h - elements as bytes. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_DUMP_RAW_H
#define TOOLS_CMD_DUMP_RAW_H

#include "tools/cmd/dump_state.h"

/* The bytes of one dataset's elements, as under d->as. */
void dump_raw(struct dump *d);

/* One element a line, its bytes as under d->as beside its value.  False, with nothing
 * printed, if elements of this type have no bytes of their own there. */
bool dump_bytes(struct dump *d, const char *path, drep_dataset *ds, const drep_dsinfo *info,
                const struct slice *slice);

#endif
