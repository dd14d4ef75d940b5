/* diff_data.h - datasets and attributes compared. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_DIFF_DATA_H
#define TOOLS_CMD_DIFF_DATA_H

#include "tools/cmd/diff.h"

/* Compares two datasets that are open; what differs is said. */
void diff_datasets(struct diff *d, const char *a_path, const char *b_path);
/* Compares the attributes of two objects. */
void diff_attributes(struct diff *d, const char *a_path, const char *b_path);

#endif
