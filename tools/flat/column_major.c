/* column_major.c - boxes whose first dimension runs fastest. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/column_major.h"

/* The box as vectors of vectors, the dimensions from `first` on in steps of `by` being those that
 * run ever faster in memory; the vectors are nested the other way round. */
static int reversed(const drep_type *element, int rank, const int64_t *count, int first, int by,
                    drep_type **out)
{
    int64_t stride[DREP_MAX_RANK], step = drep_type_extent(element);
    drep_type *type = drep_type_ref(element), *next;
    int i, d, err = 0;

    for (i = 0, d = first; i < rank; i++, d += by) {
        stride[d] = step;
        step *= count[d];
    }
    for (i = 0, d -= by; i < rank && !err; i++, d -= by) {
        err = drep_type_hvector(count[d], 1, stride[d], type, &next);
        if (!err) {
            drep_type_free(type);
            type = next;
        }
    }
    if (err)
        drep_type_free(type);
    else
        *out = type;
    return err;
}

int column_major_elements(const drep_type *type, int rank, const int64_t *count, drep_type **out)
{
    return reversed(type, rank, count, 0, 1, out);
}

int column_major_order(const drep_type *type, int rank, const int64_t *count, drep_type **out)
{
    return reversed(type, rank, count, rank - 1, -1, out);
}
