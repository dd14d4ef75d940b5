/* close.c - the end of a handle that may have open datasets. */
/* SPDX-License-Identifier: MIT */
#include "whole/close.h"

#include "elem/dataset.h"
#include "whole/append.h"

/* First the files that links of this one led to, as deep as linked.c lets them go.  Where threads
 * of a parent process were inside a file, nobody knows what of it is whole. */
static void end_calls(drep_file *f)
{
    if (file_inherited(f) && f->inherit.busy)
        return;
    for (drep_file *g = f->linked.first; g; g = g->linked.next)
        end_calls(g);
    tails_drop(f);
    appends_go_on(f);
    datasets_release(f);
}

void file_end(drep_file *f)
{
    if (f)
        end_calls(f);
    file_free(f);
}
