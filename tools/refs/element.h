/* element.h - a datatype as zarr version 2 says it: a dtype of NumPy, and the same bytes in memory.
 *
 * zarr has integers and reals of NumPy's sizes in either byte order, text and bytes of fixed
 * length, and structs without gaps.  Anything else has no dtype, and its dataset is left out. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_REFS_ELEMENT_H
#define TOOLS_REFS_ELEMENT_H

#include "tools/text/printer.h"
#include "tools/text/sink.h"

#define REFS_WHY 400 /* bytes of a reason */

struct refs_element {
    char *dtype;  /* JSON: "\"<f4\"", or a list of members; malloc'ed */
    char kind;    /* NumPy's: i u f c b S U V */
    int64_t size; /* bytes of an item, which is the element or, of an array, what it consists of */
    int rank;     /* of an element that is an array: its dimensions are added to the dataset's */
    int64_t dims[DREP_MAX_RANK];
    drep_type *item;   /* in memory: the same bytes as in the file, but in this machine's order */
    drep_type *memory; /* of the whole element: `item`, or an array of it */
    bool swapped;      /* the file has the other byte order */
    bool padded;       /* the file pads text with spaces, NumPy with zeros */
};

/* Finds the dtype of a dataset's elements.  0, or a DREP_ERR_... code; why[0] is 0, or there is no
 * dtype and this is the reason. */
int refs_element_init(struct refs_element *out, const struct printer *p, drep_dataset *dataset,
                      const drep_dsinfo *info, char why[REFS_WHY]);
void refs_element_release(struct refs_element *e);
/* Puts n items from memory in the file's order of bytes, and zeros behind text. */
void refs_element_store(const struct refs_element *e, void *items, int64_t n);
/* Puts an item, in this machine's order, as zarr writes a fill value. */
int refs_element_put_fill(const struct refs_element *e, struct sink *s, const void *item);

#endif
