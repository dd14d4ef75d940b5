/* schema.h - a file's structure as YAML: read one and make the file, or print one.
 *
 * A schema says everything about a file but bulk data: representation, hints, types,
 * dimensions, groups, datasets, attributes, links; small datasets may carry values.
 * The language: datarep(1), "SCHEMAS". */
/* SPDX-License-Identifier: MIT */
#ifndef SCHEMA_SCHEMA_H
#define SCHEMA_SCHEMA_H

#include "base/handles.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of what is read. */
#define SCHEMA_SIZE_MAX ((size_t)64 << 20) /* bytes of text */
#define SCHEMA_NODES_MAX 1000000
#define SCHEMA_DEPTH_MAX 256

struct schema;

/* Elements that stand in another file (`from:`).  Strings are borrowed. */
struct schema_source {
    enum { SCHEMA_NPY, SCHEMA_CSV, SCHEMA_RAW } format;
    const char *file; /* as the schema has it */
    /* CSV */
    const char *column, *missing; /* NULL: not said */
    char delimiter;               /* 0: not said */
    bool no_header;
    /* Raw */
    const char *datarep, *records;
    int64_t offset;
    bool column_major;
};
/* Store elements in a dataset made for them; it grows where it may. 0, or a DREP_ERR_... code
 * with the reason in why (SCHEMA_WHY bytes), or "" if it was reported. */
#define SCHEMA_WHY 256
typedef int schema_load_fn(void *ctx, const struct schema_source *source, drep_file *file,
                           const char *path, drep_dataset *dataset, char *why);

/* Receives one error of a schema; line and column count from 1, 0: unknown. */
typedef void schema_say_fn(void *ctx, int line, int column, const char *message);

/* Read and check a schema. All errors are reported, then DREP_ERR_SYNTAX is returned;
 * DREP_ERR_NOMEM. `text` may be freed afterwards. */
int schema_read(const char *text, size_t size, schema_say_fn *say, void *ctx, struct schema **out);
void schema_free(struct schema *schema);
/* Set the reader of elements in other files; without one, no file with any can be made. */
void schema_loader(struct schema *schema, schema_load_fn *load, void *ctx);

/* Make the file; nothing appears at `path` unless all succeeds. datarep: replaces the schema's,
 * also of datasets that name one; NULL for these ("internal" where it has none). A refusal of the
 * library is reported with its place in the schema; its code is returned. */
int schema_create(const struct schema *schema, const char *path, int amode, const char *datarep,
                  schema_say_fn *say, void *ctx);

/* Declare the schema's data representations in this process, and return the name of the one that
 * its files have: *datarep is borrowed, NULL if it names none. */
int schema_declare(const struct schema *schema, const char **datarep, schema_say_fn *say,
                   void *ctx);

/* Like schema_create(), but the file stays open with nothing committed, so that more can be
 * added. */
int schema_make(const struct schema *schema, const char *path, int amode, const char *datarep,
                schema_say_fn *say, void *ctx, drep_file **out);

/* A difference of two datasets. */
struct schema_difference {
    int64_t count;                /* elements that differ */
    int64_t index[DREP_MAX_RANK]; /* of the first, in row-major order */
    char *have, *want;            /* its values as text, malloc'ed */
};

struct schema_compare_options {
    bool extra;       /* other objects and attributes than the schema's may be there */
    bool header_only; /* do not look at the values of datasets */
    /* A path where nothing is and nothing will be: beside it the schema's file is made where it
     * takes elements from other files.  NULL: in memory, as all others are. */
    const char *scratch;
    /* The value of an attribute, or with name NULL the fill value of a dataset, in the
     * JSON form of SPEC.md; malloc'ed.  0 or a DREP_ERR_... code. */
    int (*value)(void *ctx, drep_file *file, const char *path, const char *name, char **text);
    /* Compares as many elements as `want` has; both have its rank and datatype. */
    int (*data)(void *ctx, drep_file *have_file, drep_dataset *have, drep_file *want_file,
                drep_dataset *want, struct schema_difference *out);
    void *ctx;
};
/* Report and count all differences of the file from the schema, with their place in the schema.
 * Storage that the schema leaves open is free; a dimension that may grow may have grown. 0, or
 * the code of the first failure to read, which is reported too. */
int schema_compare(const struct schema *schema, drep_file *file,
                   const struct schema_compare_options *options, schema_say_fn *say, void *ctx,
                   int *differences);

#define SCHEMA_DEEP (-1)
/* Options of printing. */
struct schema_print_options {
    /* Receives the text, piece by piece; non-zero stops. */
    int (*put)(void *ctx, const char *bytes, size_t size);
    /* The value of an attribute, or with name NULL the fill value of a dataset, in the
     * JSON form of SPEC.md; malloc'ed.  0 or a DREP_ERR_... code. */
    int (*value)(void *ctx, const char *path, const char *name, char **text);
    /* The elements of the dataset at path in that form, in lists as deep as its rank, piece
     * by piece without cutting a value: give(giver, text).  Gives what give() gave, or a
     * DREP_ERR_... code.  NULL: the values of datasets are left out. */
    int (*data)(void *ctx, const char *path, int (*give)(void *giver, const char *text),
                void *giver);
    /* Path at which the object with this id is printed, NULL if it is not; borrowed. */
    const char *(*path)(void *ctx, uint64_t id);
    /* Receives an object that cannot be read and is left out. err: SCHEMA_DEEP for the members
     * of a group nested deeper than a schema can be; else a DREP_ERR_... code. */
    void (*failed)(void *ctx, const char *path, int err);
    bool notes; /* print notes of converters, too */
    void *ctx;
};
/* Prints a schema that makes this file again. */
int schema_print(drep_file *file, const struct schema_print_options *options);

#endif
