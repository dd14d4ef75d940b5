/* table.h - the table of all subcommands.
 *
 * Above them: main() and completion read it, no subcommand does. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_TABLE_H
#define TOOLS_CMD_TABLE_H

#include "tools/cmd/command.h"

/* Sorted by name, ending with NULL. */
extern const struct command *const commands[];
/* NULL: there is none of this name. */
const struct command *command_find(const char *name);

#endif
