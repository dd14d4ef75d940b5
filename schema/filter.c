/* filter.c - the name of a filter, as schemas write it. */
/* SPDX-License-Identifier: MIT */
#include "schema/filter.h"
#include <stdio.h>

void filter_text(const drep_filter *filter, char text[FILTER_TEXT])
{
    const char *name = filter->name ? filter->name : drep_filter_name(filter->id);

    if (filter->id >= DREP_FILTER_HDF5)
        snprintf(text, FILTER_TEXT, FILTER_HDF5 "%d%s", filter->id - DREP_FILTER_HDF5,
                 filter->level ? "?" : "");
    else if (name)
        snprintf(text, FILTER_TEXT, "%s", name);
    else
        snprintf(text, FILTER_TEXT, "%d", filter->id);
}
