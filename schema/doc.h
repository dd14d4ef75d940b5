/* doc.h - a YAML document as a tree of nodes that know where they stand.
 *
 * Bounded: one document, no aliases, no tags, SCHEMA_DEPTH_MAX deep, SCHEMA_NODES_MAX
 * nodes, no key twice. */
/* SPDX-License-Identifier: MIT */
#ifndef SCHEMA_DOC_H
#define SCHEMA_DOC_H

#include "schema/schema.h"
#include <stdbool.h>

enum doc_kind { DOC_SCALAR, DOC_LIST, DOC_MAP };

struct doc {
    enum doc_kind kind;
    int line, column;        /* from 1 */
    bool quoted;             /* scalar: in quotes or a block, so text whatever it looks like */
    char *text;              /* scalar: ends with a NUL besides */
    size_t size;             /* scalar: bytes of text */
    size_t len, items, keys; /* children; room for items and for keys */
    struct doc **item;       /* list: its items; map: the values */
    struct doc **key;        /* map: scalars */
};

/* Complaints are kept until all are there, then said in the order of the text. */
struct complaint {
    int line, column, number;
    char *message;
};
struct complaints {
    schema_say_fn *say;
    void *ctx;
    bool all; /* keep all; else only the first of very many */
    int said; /* how many, also of those that are not kept */
    int kept;
    size_t room;
    struct complaint *list;
};
/* Report the complaints in the order of the text and drop them. */
void complaints_tell(struct complaints *c);
/* Record a complaint about a node; returns false. */
bool complain(struct complaints *c, const struct doc *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Record the library's last message as a complaint about a node; returns false. */
bool complain_error(struct complaints *c, const struct doc *at, const char *what);

/* 0, DREP_ERR_SYNTAX after complaining, DREP_ERR_NOMEM.  *out may be NULL: empty. */
int doc_read(const char *text, size_t size, struct complaints *c, struct doc **out);
void doc_free(struct doc *node);

/* The value of a key in a map, NULL if it has none (or is no map). */
const struct doc *doc_get(const struct doc *map, const char *key);
/* A plain scalar with this text. */
bool doc_is(const struct doc *node, const char *text);
/* A scalar with this text, in quotes or not: where only words can stand, as in JSON. */
bool doc_word(const struct doc *node, const char *text);
/* A plain scalar that stands for nothing: null, ~ or empty. */
bool doc_null(const struct doc *node);
/* Complains about each key that is not in the list (ends with NULL), with the nearest
 * that is.  False if there was one. */
bool doc_keys(struct complaints *c, const struct doc *map, const char *const *keys);

/* "a scalar", "a list", "a map". */
const char *doc_what(const struct doc *node);
/* A map or a list, or a complaint that names what is expected. */
bool doc_want(struct complaints *c, const struct doc *node, enum doc_kind kind, const char *what);
/* An integer in [least, most]. */
bool doc_integer(struct complaints *c, const struct doc *node, int64_t least, int64_t most,
                 int64_t *out);
/* true or false. */
bool doc_boolean(struct complaints *c, const struct doc *node, bool *out);
/* Text without NUL bytes inside. */
bool doc_string(struct complaints *c, const struct doc *node, const char **out);

#endif
