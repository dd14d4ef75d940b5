/* csv_out.h - datasets as a table in CSV. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_CSV_OUT_H
#define TOOLS_FLAT_CSV_OUT_H

#include "tools/flat/outlet.h"

/* A dataset as a table, or the datasets of a group as its columns. */
int csv_out(const struct extract *e, int fd);
int csv_out_group(struct outlet *outlet, const char *path, int fd);

#endif
