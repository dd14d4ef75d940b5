/* subject.h - the representation under test: what it says, and calls of its functions.
 *
 * Each check runs in a child process of its own, because the functions under test may do
 * anything.  What the child finds goes through memory that it shares with its parent, so
 * that a crash still tells what was going on. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_REPS_SUBJECT_H
#define TOOLS_REPS_SUBJECT_H

#include <datarep.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODES = DREP_CODE_MAX + 1, ITEM_MAX = 32 };

/* Results that the child hands to its parent. */
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

/* A check: true if all is well, else it has said why through reject(). */
typedef bool check_fn(struct subject *s);
struct rep_check {
    const char *name;
    check_fn *run;
    const char *about;
};
/* Says what is wrong and gives false.  The first word counts. */
bool reject(struct subject *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes what is going on, for the message of a crash; "" when nothing is. */
void note_call(struct subject *s, const char *what);
/* A datatype in a message: its text, cut where it gets long; until the next call. */
const char *text_of(const drep_type *type);

/* Calls the write or read function, or does what the library does where there is none.
 * What the function gives; a call is noted as what is going on. */
int rep_write(struct subject *s, const void *user, const drep_type *type, int64_t count, void *file,
              int64_t position);
int rep_read(struct subject *s, void *user, const drep_type *type, int64_t count, const void *file,
             int64_t position);

#endif
