/* convert_cut.h - `datarep convert --root=DATASET[SLICE]`: a dataset or a part of one, with its
 * coordinates. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_CONVERT_CUT_H
#define TOOLS_CMD_CONVERT_CUT_H

#include "tools/text/operand.h"
#include <datarep.h>

struct dataset_cut {
    struct operand operand;
    bool found; /* false: no dataset was named */
    drep_dsinfo info;
    struct slice slice; /* without one behind the path: everything */
};

/* Find out which elements are meant; root NULL, or what is no dataset that can be opened: none.
 * cut_release() frees it, also after an error.  0, or an exit code after saying what is wrong. */
int cut_find(struct dataset_cut *cut, const char *file_name, drep_file *file, const char *root);
void cut_release(struct dataset_cut *cut);
/* Bytes of these elements in memory. */
uint64_t cut_bytes(const struct dataset_cut *cut);
/* Copy them into an empty file, the coordinates of its dimensions that belong to them, and the
 * attributes of the root group.  Coordinates that end before the slice are left out, and told to
 * how->unknown. */
int cut_copy(const struct dataset_cut *cut, drep_file *from, drep_file *to,
             const drep_copying *how);

#endif
