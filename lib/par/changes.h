/* changes.h - the changes of one rank since the last commit, as a message.
 *
 * The message has the final state of each entry in the rank's journal, in the order of keys, and
 * what is needed to read these entries elsewhere: the names of representations.  An object that the
 * rank has made since has a provisional id, from the next object id of the last commit on: other
 * ranks may have given it to other objects. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_CHANGES_H
#define PAR_CHANGES_H

#include "par/ranks.h"

/* An entry as the rank has it; value NULL: it is absent. */
struct change {
    const uint8_t *key, *value;
    size_t key_len, size;
};

/* An object that the rank has made, and the object that it is in the merged file. */
struct new_object {
    uint64_t own, id; /* id 0: not known yet */
    bool joined;      /* an earlier rank made it, too, */
    bool elsewhere;   /* a dimension: it is that of a group above, and this rank's own goes */
    const struct change *record;
};

/* Elements of a compact dataset that the rank has written alone (par/marks.h). */
struct written_elements {
    uint64_t own;
    int64_t n; /* elements of the dataset */
    const uint8_t *bit;
};

/* A dimension that a dataset of the rank has made, as its name led to none. */
struct own_implied {
    uint64_t own, group;
    const char *path, *name; /* of the dataset, and of the dimension */
};

/* A representation of the rank, and the types of which it has datasets, each a code and a number of
 * its witnesses (rep_witnesses()). */
struct own_rep {
    const char *name;
    uint64_t digest;
    const uint8_t *code;
    uint16_t number;
    uint8_t ncodes;
};
enum { OWN_CODE = 9 };

struct changes {
    int rank;       /* the lowest rank that made them, */
    int highest;    /* and the highest one */
    uint64_t hints; /* a digest */
    struct change *entry;
    size_t n;
    struct new_object *made; /* by ascending ids */
    size_t nmade;
    struct shrunk_dataset *shrunk;
    size_t nshrunk;
    struct written_elements *written; /* by ascending ids */
    size_t nwritten;
    struct own_implied *implied; /* in the order of creation: by ascending ids */
    size_t nimplied;
    struct own_rep *rep; /* by ascending numbers */
    size_t nreps;
    struct idset moved; /* objects of the last commit that have lost a name, but are there */
};

/* A representation in a message. */
int own_rep_put(const struct file_datarep *e, struct out *out);
/* Read one, whose bytes stay where they are. */
void own_rep_get(struct in *in, struct own_rep *rep);
/* Find or add it here.  DREP_ERR_NOT_SAME: the name means something else to that rank. */
int own_rep_find(drep_file *f, int rank, const struct own_rep *rep, struct file_datarep **out);
/* Enter its types into the table of extents, as if the rank's datasets had been made here.
 * DREP_ERR_NOT_SAME: the rank has other functions of this name. */
int own_rep_use(drep_file *f, int rank, struct file_datarep *e, const struct own_rep *rep);
/* Digests of all representations and of all witnesses of this rank. */
int own_reps_digest(const drep_file *f, uint64_t *reps, uint64_t *witnesses);

/* Find the entry of a rank's own id in a list by ascending ids, whose structs begin with it; or
 * NULL. */
void *find_own(const void *list, size_t n, size_t size, uint64_t own);

/* A digest of the hints that the header keeps. */
int hints_digest(const drep_file *f, uint64_t *digest);

/* Make the message of this rank, whose journal is sorted (journal_digest()). */
int changes_put(drep_file *f, struct buf *b);
/* Read one; the bytes stay where they are.  changes_release() also after an error. */
int changes_get(const uint8_t *p, size_t size, uint64_t first_new, struct changes *c);
void changes_release(struct changes *c);

/* Find the entry of this key, or NULL. */
const struct change *changes_find(const struct changes *c, const uint8_t *key, size_t len);
/* Number of the first entry whose key is not less. */
size_t changes_from(const struct changes *c, const uint8_t *key, size_t len);
/* Find an object that the rank has made, by its provisional id, or NULL. */
struct new_object *changes_made(const struct changes *c, uint64_t own);
/* Find the elements of a compact dataset that the rank has written alone, or NULL. */
const struct written_elements *changes_written(const struct changes *c, uint64_t own);
/* Find the dimension of an id that a dataset of the rank has made, or NULL; if it was renamed
 * since, it is the rank's own. */
const struct own_implied *changes_implied(const struct changes *c, uint64_t own);
/* Find a dataset that the rank made smaller, or NULL. */
const struct shrunk_dataset *changes_shrunk(const struct changes *c, uint64_t id);
/* True if two ranks have cut the same off a dataset, or nothing (NULL). */
bool shrunk_alike(const struct shrunk_dataset *a, const struct shrunk_dataset *b);

/* The object and the tag of an entry; 0: a tag that this version does not know. */
static inline uint64_t change_id(const struct change *e)
{
    return key_object(e->key);
}
static inline uint8_t change_tag(const struct change *e)
{
    return key_known(e->key);
}
/* An entry of changes is like another span: an absent one like p NULL. */
static inline struct span change_value(const struct change *e)
{
    return (struct span){e->value, e->size};
}
/* The object to which a hard link, or the entry of a dimension, leads, whose bytes these are; or 0.
 */
uint64_t hard_target(uint8_t tag, const struct span *value);
/* True if the rank has removed an object of the last commit. */
bool changes_removed(const struct changes *c, uint64_t id);

#endif
