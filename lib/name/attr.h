/* attr.h - attributes: small named values of any object. */
/* SPDX-License-Identifier: MIT */
#ifndef NAME_ATTR_H
#define NAME_ATTR_H

#include "file/file.h"
#include "format/record.h"
#include "tree/find.h"

/* 0, or FMT_ERR_NAME: a name of an attribute may have '/', unlike that of an object. */
int attr_name_check(const uint8_t *p, size_t len);
/* Fail with DREP_ERR_UNSUPPORTED: an attribute of a later version. */
int attr_later(const struct attr_rec *rec);
/* Number of elements; 0 in the null dataspace. */
int attr_count(const struct attr_rec *rec, int64_t *count);

/* An attribute inside a call that reads: its record, which points into the tree until
 * attr_found_release(), its type and its number of elements. */
struct attr_found {
    struct key key;
    struct attr_rec rec;
    struct peek peek;
    struct ftype *ft;
    int64_t count;
};
/* Released also after an error. */
int attr_find(drep_file *f, const char *path, const char *name, struct attr_found *a);
void attr_found_release(struct attr_found *a);
/* DREP_ERR_TYPE: a number was asked for, and the attribute is of `type`. */
int attr_not_number(const drep_type *type);
/* drep_attr_read() inside a call that reads; size: bytes at buf, 0: not checked. */
int attr_load(drep_file *f, const char *path, const char *name, const drep_type *type, void *buf,
              const drep_xfer *xfer);

/* Store an attribute under the next index of its object, or under that of the one that it replaces.
 */
int attr_store(drep_file *f, uint64_t id, const struct key *key, struct attr_rec *rec);
/* Store an attribute under the index that its record has, also in place of one of its name. */
int attr_place(drep_file *f, const struct key *key, struct attr_rec *rec);

/* All attributes of an object. */
int attrs_remove(drep_file *f, uint64_t id);
int attrs_count(drep_file *f, uint64_t id, int64_t *n);

#endif
