/* idset.h - a hashed set of 64-bit ids, each with a number or a pointer of the caller.
 *
 * Ids come from files, where several links may lead to one object and hostile ones lead in
 * circles: whoever follows them marks what was visited.  0 is no id.  Zero-initialise. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_IDSET_H
#define BASE_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idset {
    struct idset_slot {
        uint64_t id; /* 0: free */
        uintptr_t value;
    } * slot;
    size_t n, size; /* ids; slots, a power of two */
};

/* Find or add an id. Returns its value, valid until the next idset_add(); 0 when the id is new.
 * NULL: out of memory. */
uintptr_t *idset_add(struct idset *s, uint64_t id);
/* Find an id. Returns its value; NULL: not in the set. */
uintptr_t *idset_find(const struct idset *s, uint64_t id);
/* Add an id with value 1; *first: it was not in the set. 0 or DREP_ERR_NOMEM. */
int idset_mark(struct idset *s, uint64_t id, bool *first);
/* Free the slots; the caller owns what values point at. */
void idset_release(struct idset *s);

#endif
