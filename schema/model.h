/* model.h - what a schema describes, checked and ready to be made.
 *
 * Values stay in the tree: they were encoded once to be checked, and are encoded again
 * when they are written, because references need objects that exist. */
/* SPDX-License-Identifier: MIT */
#ifndef SCHEMA_MODEL_H
#define SCHEMA_MODEL_H

#include "schema/rep.h"
#include "schema/doc.h"
#include "schema/type.h"
#include "schema/value.h"
#include <datarep.h>

struct attr {
    const char *name;
    const struct doc *at;    /* the whole entry */
    const struct doc *value; /* NULL: the null space, or no elements */
    drep_type *type;
    int rank; /* or DREP_NULL_SPACE */
    int64_t dims[DREP_MAX_RANK];
};

struct object {
    int kind; /* enum drep_objkind, 0: a link */
    const struct doc *at;
    const char *name;
    char *path;
    struct object *parent;
    size_t index; /* in its parent */
    struct object **member;
    size_t nmembers, room;
    size_t made_members; /* making: members[0 .. made_members) are there */
    bool made;
    struct attr *attr;
    size_t nattrs;
    drep_type *type; /* of a dataset, of a named type */
    int64_t len;     /* of a dimension */
    bool unlimited;
    int link; /* enum drep_linkkind */
    const char *target, *target_file;

    /* A dataset. */
    bool wrong; /* has been said: its values are not looked at */
    int rank;
    int64_t dims[DREP_MAX_RANK], maxdims[DREP_MAX_RANK], chunk[DREP_MAX_RANK];
    struct object *dim[DREP_MAX_RANK];
    bool has_dims, has_chunk;
    const char *datarep; /* NULL: not said */
    bool placed;         /* members keep the offsets of the type */
    int layout;
    drep_filter filters[DREP_MAX_FILTERS];
    int nfilters;
    int fill;
    const struct doc *fill_value, *data;
    const struct doc *from; /* the whole entry; NULL: no elements from elsewhere */
    struct schema_source source;
};

struct schema {
    struct complaints c;
    struct doc *tree;
    const char *datarep; /* NULL: not said */
    const struct doc *datarep_at;
    struct schema_reps reps;
    drep_info *hints;
    struct types types;
    struct encoder encoder;
    schema_load_fn *load;
    void *load_ctx;
    bool elsewhere; /* some elements stand in other files */
    struct object *root;
    struct object **table; /* all objects, hashed by path */
    size_t table_len, table_cap;
};

/* The object at a path, NULL if the schema has none. */
struct object *model_find(const struct schema *s, const char *path);
/* Builds and checks the model of s->tree; false after complaining. */
bool model_build(struct schema *s);
void model_release(struct schema *s);

/* The file to make. */
struct model_target {
    const char *path;
    int amode;           /* with DREP_HEADER_ONLY: without the elements of datasets */
    const char *datarep; /* replaces the schema's; NULL: that */
    bool every;          /* also of the datasets that name one */
};
/* Make the file and leave it open, nothing committed. A DREP_ERR_... code after complaining. */
int model_make(const struct schema *s, const struct model_target *target, struct complaints *c,
               drep_file **out);

#endif
