/* foreign.h - datasets of the merged file, on a rank that knows them by other numbers or not at
 * all.
 *
 * A commit writes what single ranks have written to a dataset, and all ranks take part in that.
 * Rank 0 describes the dataset as it is in its tree; each other rank makes a handle of it, for this
 * purpose alone. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_FOREIGN_H
#define PAR_FOREIGN_H

#include "elem/dataset.h"
#include "par/ranks.h"

/* Provisional ids and those that they have become, by ascending provisional ids. */
struct id_pairs {
    struct id_pair {
        uint64_t own, id;
    } * p;
    size_t n;
};
/* The id that an object has in the merged file. */
uint64_t pairs_map(const void *pairs, uint64_t own);

/* The elements that wait belong to the handle for a while. */
struct foreign {
    drep_dataset *ds;
    struct pending *pending; /* this rank's, or NULL */
    uint64_t own;            /* its dataset before */
};
struct foreign_list {
    struct foreign *p;
    drep_dataset **ds; /* the handles again */
    size_t n;
};

/* Rank 0: append the description of a dataset. */
int foreign_put(drep_file *f, uint64_t id, struct buf *b);
/* Make handles of n descriptions, inside an operation.  foreign_release() also after an error. */
int foreign_get(drep_file *f, const struct id_pairs *ids, struct in *in, size_t n,
                struct foreign_list *l);
/* Give the elements back and free the handles. */
void foreign_release(struct foreign_list *l);

#endif
