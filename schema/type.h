/* type.h - datatypes of a schema: one line ("seq(sample)"), or a map. */
/* SPDX-License-Identifier: MIT */
#ifndef SCHEMA_TYPE_H
#define SCHEMA_TYPE_H

#include "schema/doc.h"

/* A datatype that has a name in the schema. */
struct named_type {
    const char *name;
    const struct doc *at;
    drep_type *type;
    char *text; /* its one-line form */
    enum { NAMED_NEW, NAMED_ASKED, NAMED_DONE, NAMED_WRONG } state;
};

struct types {
    struct complaints *c;
    struct named_type *list; /* by name */
    size_t len, room;
    int depth; /* names within names being resolved */
};

/* True if a name can stand for a type in a one-line type; true if it cannot because it is a word
 * of that language. */
bool types_can_name(const char *name);
bool types_reserved(const char *name);
void types_release(struct types *t);
/* Add a name; call types_sort() before the first types_get(). */
bool types_add(struct types *t, const char *name, const struct doc *at);
void types_sort(struct types *t);
/* Build the type of a node: a new reference. */
bool types_get(struct types *t, const struct doc *node, drep_type **out);

#endif
