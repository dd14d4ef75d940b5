/* load.h - puts what a source has into datasets, block by block. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_LOAD_H
#define TOOLS_FLAT_LOAD_H

#include "tools/flat/exchange.h"
#include "tools/flat/source.h"

/* Makes a dataset for a source at `path`, with the groups above it and the filters that were
 * asked for.  grows: along the first dimension.  0, or an exit code after saying. */
int load_create(const struct source *s, const struct exchange *x, drep_file *file, const char *path,
                bool grows, drep_dataset **out);

/* The dataset that a source is loaded into, and the place in it. */
struct load_target {
    drep_dataset *dataset;
    const char *name, *path; /* the file's and its own, for messages */
    int64_t first;           /* index in the first dimension where the source begins */
    int range;               /* DREP_RANGE_... */
};
/* Makes the dataset as large as the source asks for: behind what it holds already (append),
 * or in its place.  Says what does not fit. */
int load_fit(const struct source *s, struct load_target *t, bool append);
/* Reads all of the source into the dataset. */
int load_all(struct source *s, const struct load_target *t);

/* One source whose elements are compounds, its members into a dataset each. */
int load_columns(struct source *s, const struct load_target *columns);

#endif
