/* schema.h - a file's structure as YAML: read one and make the file, or print one.
 *
 * A schema says everything about a file but bulk data: representation, hints, types,
 * dimensions, groups, datasets, attributes, links; small datasets may carry values.
 * The language: datarep(1), "SCHEMAS". */
#ifndef SCHEMA_SCHEMA_H
#define SCHEMA_SCHEMA_H

#include <datarep.h>
#include <stddef.h>

/* Limits of what is read. */
#define SCHEMA_SIZE_MAX ((size_t)64 << 20) /* bytes of text */
#define SCHEMA_NODES_MAX 1000000
#define SCHEMA_DEPTH_MAX 64

struct schema;

/* One thing that is wrong with a schema; line and column count from 1, 0: unknown. */
typedef void schema_say_fn(void *ctx, int line, int column, const char *message);

/* Reads and checks a schema.  Everything that is wrong is said, then DREP_ERR_SYNTAX is
 * given; DREP_ERR_NOMEM.  `text` may go when this returns. */
int schema_read(const char *text, size_t size, schema_say_fn *say, void *ctx, struct schema **out);
void schema_free(struct schema *schema);

/* Makes the file; nothing appears at `path` unless all succeeds.  datarep: instead of
 * the schema's, NULL for that ("internal" where it has none).  What the library refuses
 * is said with the place in the schema it comes from; then the library's code is given. */
int schema_create(const struct schema *schema, const char *path, int amode, const char *datarep,
                  schema_say_fn *say, void *ctx);

/* How to print. */
struct schema_print_options {
    /* Takes the text, piece by piece; non-zero stops. */
    int (*put)(void *ctx, const char *bytes, size_t size);
    /* The value of an attribute, or with name NULL the fill value of a dataset, in the
     * JSON form of SPEC.md; malloc'ed.  0 or a DREP_ERR_... code. */
    int (*value)(void *ctx, const char *path, const char *name, char **text);
    /* Where the object with this id is printed, NULL if nowhere; borrowed. */
    const char *(*path)(void *ctx, uint64_t id);
    /* Something cannot be read and is left out. */
    void (*failed)(void *ctx, const char *path, int err);
    void *ctx;
};
/* Prints a schema that makes this file again, without the values of datasets. */
int schema_print(drep_file *file, const struct schema_print_options *options);

#endif
