/* convert_cut.h - `datarep convert --root=PATH[SLICE]`: a part of a dataset, with coordinates. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_CONVERT_CUT_H
#define TOOLS_CMD_CONVERT_CUT_H

#include "tools/text/operand.h"
#include <datarep.h>

struct dataset_cut {
    struct operand operand; /* without a slice: there is nothing to cut */
    drep_dsinfo info;
    struct slice slice;
};

/* Find out which elements are meant; root NULL: none.  cut_release() frees it, also after an error.
 * 0, or an exit code after saying what is wrong. */
int cut_find(struct dataset_cut *cut, const char *file_name, drep_file *file, const char *root);
void cut_release(struct dataset_cut *cut);
/* Bytes of these elements in memory. */
uint64_t cut_bytes(const struct dataset_cut *cut);
/* Copy them into an empty file, and of the coordinates of its dimensions those that belong to them.
 * Coordinates that end before the slice are left out, and told to how->unknown. */
int cut_copy(const struct dataset_cut *cut, drep_file *from, drep_file *to,
             const drep_copying *how);

#endif
