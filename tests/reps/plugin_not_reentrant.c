/* plugin_not_reentrant.c - puts every item together in memory that all threads share. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"
#include <sched.h>

static char shared[64];

static void put(char *file, char *item, int64_t size, int64_t position)
{
    plain_put(shared, item, size, position);
    if (position % 4 == 0)
        sched_yield();
    memcpy(file, shared, (size_t)size);
}

static int write_items(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    (void)state;
    return plain_each(user, type, count, file, position, put);
}

int drep_plugin_init(void)
{
    return drep_register_datarep("not_reentrant", plain_read, write_items, plain_extent, NULL);
}
