/* plugin_hanging.c - does not come back from a call for 16 INT. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"
#include <unistd.h>

static int read_items(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    while (count == 16 && drep_type_code(type) == DREP_CODE_INT)
        pause();
    return plain_read(user, type, count, file, position, state);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("hanging", read_items, plain_write, plain_extent, NULL);
}
