/* key.h - keys of integers, slices and an ellipsis. */
/* SPDX-License-Identifier: MIT */
#ifndef SRC_KEY_H
#define SRC_KEY_H

#include "src/core.h"

/* The elements that a key of integers, slices and an ellipsis selects. */
struct key_box {
    int rank;
    int64_t start[MAX_RANK], count[MAX_RANK], stride[MAX_RANK];
    int64_t shape[MAX_RANK]; /* of the result */
    bool flip[MAX_RANK];     /* of the result: read from the first to the last, shown backwards */
    int shown;
    bool strided, scalar, flipped;
    int64_t n;
};

enum { KEY_ERROR = -1, KEY_OTHER = 0, KEY_BOX = 1 };
/* KEY_BOX, or KEY_OTHER for a key that Python's rules are needed for (arrays, masks, names of
 * members, too many indices) or refuse (out of bounds), or KEY_ERROR with an exception. */
int key_parse(int rank, const int64_t *dims, PyObject *key, struct key_box *b);
/* array[::-1, :, ...] of the dimensions that are shown backwards; gives up the array. */
PyObject *key_flip(PyObject *array, const struct key_box *b);

#endif
