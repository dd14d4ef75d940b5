/* plugin_gaps.c - reads over the gaps between items too. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

static int read_items(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    int64_t end = position + count, items = drep_type_items(type);

    if (position == 0 && end % items == 0)
        memset((char *)user + drep_type_true_lb(type), 0,
               (size_t)((end / items - 1) * drep_type_extent(type) + drep_type_true_extent(type)));
    return plain_read(user, type, count, file, position, state);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("gaps", read_items, plain_write, plain_extent, NULL);
}
