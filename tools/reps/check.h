/* check.h - `datarep reps --check`: what its parts share.
 *
 * Each check runs in a child process of its own, because the functions under test may do
 * anything.  What the child finds goes through memory that it shares with its parent, so
 * that a crash still tells what was going on. */
#ifndef TOOLS_REPS_CHECK_H
#define TOOLS_REPS_CHECK_H

#include <datarep.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODES = DREP_CODE_MAX + 1, ITEM_MAX = 32 };

/* What the parent learns of a child. */
struct findings {
    char why[600];  /* what is wrong */
    char doing[80]; /* what the functions are asked to do; "" when they are not */
    bool finished;
};

/* The representation under test. */
struct subject {
    const char *name;
    drep_datarep rep;
    drep_encoding native[CODES]; /* how this machine holds each datatype */
    int64_t extent[CODES];       /* bytes in the file, 0: not held */
    struct findings *findings;
};

/* A check: true if all is well, else it has said why through no(). */
typedef bool check_fn(struct subject *s);
struct check {
    const char *name;
    check_fn *run;
    const char *about;
};
/* The last one has no name. */
extern const struct check reps_checks[];

/* Says what is wrong and gives false.  The first word counts. */
bool no(struct subject *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes what is going on, for the message of a crash; "" when nothing is. */
void doing(struct subject *s, const char *what);
/* A datatype in a message: its text, cut where it gets long; until the next call. */
const char *text_of(const drep_type *type);

/* Those of cuts.c. */
check_fn reps_cuts, reps_items, reps_gaps, reps_threads;

/* Runs all checks over the names; 0 when all pass, else an exit code. */
int reps_check(char **names, int n, bool json);

/* ---- value.c: values, types and memory to try things with ---- */

struct random {
    uint64_t state;
};
uint64_t random_next(struct random *r);
int random_below(struct random *r, int n);

enum values { VALUES_SMALL, VALUES_EDGE, VALUES_RANDOM };
/* How many small or edge values a datatype has; and puts one of them as this machine
 * holds it.  Every representation of a datatype holds the small values. */
int value_count(const struct subject *s, int code, enum values kind);
void sample_put(const struct subject *s, int code, enum values kind, int i, struct random *r,
                void *item);
/* The same value?  One NaN is as good as another. */
bool value_same(const struct subject *s, int code, const void *a, const void *b);
/* As text, for a message. */
const char *value_text(const struct subject *s, int code, const void *item, char text[80]);

/* Gives a datatype references to spare, so that a function which gives one away is found
 * by the check that looks for it and by no other. */
void type_spare(drep_type *type);
/* A datatype made of what the subject holds, at random: gaps, blocks, members in any
 * order. */
drep_type *type_random(const struct subject *s, struct random *r, int depth);
/* Bytes from the start of a buffer to the end of `tiles` elements. */
int64_t type_span(const drep_type *type, int64_t tiles);
/* Fills the bytes with a pattern and every item of the tiles with a value. */
void type_fill(const struct subject *s, const drep_type *type, int64_t tiles, enum values kind,
               struct random *r, uint8_t gap, void *buf);
/* Where item i begins in the packed bytes of the tiles, for i = 0..items*tiles. */
void type_offsets(const struct subject *s, const drep_type *type, int64_t tiles, int64_t *offset);

/* Memory between two pages that may not be touched.  Of `size` bytes the last ones lie
 * before the second page (at_end), or the first ones behind the first; all others up to
 * a page's end are filled with GUARD_FILL. */
enum { GUARD_FILL = 0xa7 };
struct guarded {
    const char *name;
    uint8_t *map, *p;
    size_t inside, size;
    bool reading; /* the pages around may be read: what fails was a write */
};
/* align: of p, a power of two. */
bool guarded_new(struct guarded *g, const char *name, size_t size, size_t align, bool at_end,
                 bool reading);
void guarded_free(struct guarded *g);
/* From here on its bytes may not be written. */
void guarded_protect(struct guarded *g);
/* True if nothing around the size bytes was changed. */
bool guarded_intact(const struct guarded *g);
/* Which guarded memory an address belongs to, and what was done to it. */
const char *guarded_fault(const void *address, char text[120]);

/* ---- calls ---- */

/* Calls the write or read function, or does what the library does where there is none.
 * What the function gives; a call is noted as what is going on. */
int rep_write(struct subject *s, const void *user, const drep_type *type, int64_t count, void *file,
              int64_t position);
int rep_read(struct subject *s, void *user, const drep_type *type, int64_t count, const void *file,
             int64_t position);

#endif
