/* contradiction.h - messages about changes of ranks that cannot both be in the file.
 *
 * All return DREP_ERR_NOT_SAME, or the error that looking the names up gave. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_CONTRADICTION_H
#define PAR_CONTRADICTION_H

#include "par/merging.h"

/* The earlier rank that has changed this entry of the tree's object `id`; `e` is that of the
 * rank. */
int earlier_rank(struct merging *m, const struct change *e, uint64_t id);

/* About the name of an entry of a group: ranks have made different objects there, or one has
 * removed what the other put in its place. */
int contradict_name(struct merging *m, const struct change *e, uint64_t group,
                    const struct link_rec *theirs, const struct link_rec *own);
/* A link that the rank has added and moves of other ranks put groups into each other. */
int contradict_circle(struct merging *m, const struct change *e, uint64_t group);
/* Two objects of one kind were made at one path; they differ in `what`. */
int contradict_made(struct merging *m, uint64_t id, const char *what);
/* About an attribute that the rank has changed; `theirs` is what others made of it, p NULL: it
 * was removed. */
int contradict_attr(struct merging *m, const struct change *e, uint64_t id,
                    const struct span *theirs);
/* About an attribute that the rank and an earlier one have removed or renamed, each in its own way.
 */
int contradict_renamed(struct merging *m, const struct change *e, uint64_t id);
/* About element number `at` of a dataset, to which an earlier rank has given another value. */
int contradict_element(struct merging *m, const struct object_rec *rec, uint64_t id, int first,
                       int64_t at);
/* About what two ranks did to one object: "gave it different shapes". */
int contradict_both(struct merging *m, const struct change *e, uint64_t id, const char *did);
/* About what one rank did to an object, and what another did: "removed it", "moved it". */
int contradict_deeds(struct merging *m, uint64_t id, int first, const char *did, int second,
                     const char *other);

#endif
