/* print.h - one element as text: the value form of JSON, and the same for people.
 *
 * Values are read through a datatype of the printer's choice (print_type), in which
 * nothing is lost: a long double of any machine arrives as a binary128 or as the pair of
 * doubles that it is, an integer that is wider in the file than here in as many bits as it
 * needs.  (Of complex pairs of doubles, and of pairs in attributes, 113 bits arrive.) */
#ifndef TOOLS_TEXT_PRINT_H
#define TOOLS_TEXT_PRINT_H

#include "tools/text/sink.h"
#include "tools/walk/walk.h"
#include <datarep.h>
#include <pthread.h>

struct print_search {
    pthread_mutex_t lock;
    bool done;
};

struct printer {
    drep_file *file;
    bool json;
    bool exact;                  /* reals in decimal only where that is the very value */
    struct paths *paths;         /* of all objects, found when the first is asked for */
    struct print_search *search; /* whether they were looked for, by any thread */
    /* By code: how the file holds it, and the formats by which we know what it is. */
    drep_encoding stored[DREP_CODE_MAX + 1], plain[DREP_CODE_MAX + 1];
};

/* 0 or a DREP_ERR_... code. */
int print_init(struct printer *p, drep_file *file, bool json);
void print_release(struct printer *p);

/* Where the object with this id is met first, NULL if nowhere. */
const char *print_path(const struct printer *p, uint64_t id);

/* Whether the predefined type with this code is a complex number. */
bool print_complex(const struct printer *p, int code);

/* The datatype to read elements of `type` as (new reference).  in_dataset: they are held
 * in the file's representation; attributes and fill values are not.  From then on values
 * may be printed by several threads. */
int print_type(const struct printer *p, const drep_type *type, bool in_dataset, drep_type **out);
/* One element of a type that print_type() gave. */
typedef void print_fn(const struct printer *p, struct sink *s, const drep_type *type,
                      const void *element);
print_fn print_value;
/* What does the same for elements of this type, and knows already what they are. */
print_fn *print_direct(const struct printer *p, const drep_type *type);

/* Values in lists nested as deep as the rank; elements are numbered in row-major order. */
struct nest {
    int rank;
    int64_t dims[DREP_MAX_RANK];
    const char *between; /* what stands between the rows of the last dimension */
    bool lines;          /* the outermost list is one line an entry, without brackets */
};
/* Prints the elements number `first` and after, with all that stands before them. */
void nest_put(const struct nest *nest, const struct printer *p, struct sink *s,
              const drep_type *type, const void *elements, int64_t first, int64_t count);
/* Ends the lists; prints what is empty when no element was put. */
void nest_end(const struct nest *nest, struct sink *s, bool any);

/* Values in memory, as print_type() has them, with their shape. */
struct values {
    drep_type *shown; /* the datatype they have in the file */
    drep_type *type;  /* the one they are read as */
    int rank;         /* or DREP_NULL_SPACE */
    int64_t dims[DREP_MAX_RANK];
    int64_t count;
    void *buf;
};
/* An attribute; a dataset's fill value (rank 0).  A DREP_ERR_... code. */
int values_attr(struct values *out, const struct printer *p, const char *path, const char *name);
/* A dataset without dimensions. */
int values_dataset(struct values *out, const struct printer *p, drep_dataset *dataset,
                   const drep_dsinfo *info);
int values_fill(struct values *out, const struct printer *p, drep_dataset *dataset,
                const drep_dsinfo *info);
void values_release(struct values *v);
/* All of them, as nest_put() does; "null" for the null space. */
void values_put(const struct values *v, const struct printer *p, struct sink *s);

/* An attribute, or with name NULL a dataset's fill value; one element of a type that
 * print_type() gave: as a string, malloc'ed.  A DREP_ERR_... code. */
int values_text(const struct printer *p, const char *path, const char *name, char **text);
int element_text(const struct printer *p, const drep_type *type, const void *element, char **text);

/* A one-line datatype. */
void print_type_text(struct sink *s, const drep_type *type, bool json);

#endif
