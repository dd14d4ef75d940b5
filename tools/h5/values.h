/* values.h - elements between HDF5's memory and ours. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_VALUES_H
#define TOOLS_H5_VALUES_H

#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include <stddef.h>

/* Memory that lives as long as a block of values. */
struct held {
    struct held *next;
};

struct value_move {
    struct job *j;
    /* Turns an hobj_ref_t or hdset_reg_ref_t into a drep_ref, or the other way. */
    int (*ref)(struct value_move *mv, int region, void *h, drep_ref *d);
    const char *path; /* of what is moved, for messages */
    struct held *held;
};

void *move_alloc(struct value_move *mv, size_t size);
void move_release(struct value_move *mv);

/* n elements between HDF5's memory and that of `held`. */
int move_in(struct value_move *mv, const struct map *m, size_t n, const void *h, void *d);
int move_out(struct value_move *mv, const struct map *m, size_t n, const void *d, void *h);
/* Calls fn for each string of variable length in n elements in HDF5's memory. */
typedef void move_string_fn(char **string, void *ctx);
void move_strings(const struct map *m, size_t n, void *h, move_string_fn *fn, void *ctx);

#endif
