/* unite.h - compact datasets into which the elements of several ranks go. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_UNITE_H
#define PAR_UNITE_H

#include "elem/dataset.h"

/* All that ranks have is in memory until unite_store(). */
struct uniting {
    drep_dataset *ds;
    uint32_t *writer;   /* of each element: 0, or 1 + the rank that has written it */
    struct buf b, heap; /* the payload so far, */
    size_t fixed;       /* so many bytes of it without its old heap */
};
/* Begin with what the tree has.  unite_end() also after an error. */
int unite_begin(struct uniting *u, drep_dataset *ds);
void unite_end(struct uniting *u);
/* Put all into the tree. */
int unite_store(struct uniting *u);
/* The rank to name for several that have made the same changes: the lowest one, or where the last
 * one wins (hint drep_overlap) the highest one. */
int unite_rank(const struct uniting *u, int lowest, int highest);
/* Note who has written elements that the tree holds already; `bit` are the marks of n elements. */
int unite_known(struct uniting *u, int rank, const uint8_t *bit, int64_t n);
/* Take the marked elements of a rank's entry.  DREP_ERR_NOT_SAME, and *clash is the
 * number of an element that an earlier rank has given another value; else it is -1.  Where the last
 * rank wins its value counts. */
int unite_entry(struct uniting *u, int rank, const uint8_t *bit, int64_t n, const uint8_t *entry,
                size_t size, int64_t *clash);
/* Collective, inside a change, and some rank has marks (marks.h): all ranks get the marked elements
 * of all.  What they have is then alike; marks_drop() forgets the marks. */
int unite_ranks(drep_dataset *ds, const char *call);

#endif
