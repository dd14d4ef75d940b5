/* table.c - the table of all subcommands.
 *
 * The only place where all subcommands are known; none of them includes it. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/table.h"
#include <string.h>

const struct command *const commands[] = {
#define X(name) &name##_command,
#include "tools/cmd/commands.def"
#undef X
    NULL};

const struct command *command_find(const char *name)
{
    size_t i;

    for (i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}
