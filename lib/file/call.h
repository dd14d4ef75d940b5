/* call.h - the begin and the end of every call that uses a file.
 *
 * Calls that read take the file's lock shared.  Calls that write take it alone and run inside one
 * operation of the store: when a call fails, nothing of it stays, neither in the store nor in what
 * the handle keeps in memory.  The first failure since the last commit that is no refusal of
 * arguments is kept for drep_close(), which commits the rest. */
/* SPDX-License-Identifier: MIT */
#ifndef FILE_CALL_H
#define FILE_CALL_H

#include "base/buf.h"
#include "base/error.h"
#include "base/handles.h"
#include "chunk/chunks.h"
#include "space/store.h"

#include <stdbool.h>

/* Rows that were appended and are not in the store yet (whole/append.c): changed by who holds the
 * lock alone.  Calls that look at the store write them first. */
struct tail;
struct open_tails {
    struct tail *first;
    uint64_t bytes;              /* of their buffers */
    int (*settle)(drep_file *f); /* writes all of them; after an error none is left */
    char why[256];               /* the handle refuses writes */
    drep_dataset *stopped;       /* those that an append failed for: they take none */
};

/* What failed since the last commit. */
struct failure {
    int err;                   /* of the first call, or of the one that made the handle refuse */
    bool operation;            /* a call did not do what it was to do: not only commits failed */
    bool refuses;              /* the handle refuses writes since then */
    struct fail_state message; /* of err */
};

/* State of the call that holds the lock alone. */
struct operation {
    bool writing;          /* an operation of the store is under way */
    struct buf scratch[2]; /* for records and values that are encoded */
    uint64_t removals;     /* of objects, in the life of the handle */
    struct failure failure;
};

/* 0 if the handle is open; takes no lock. */
int file_check(const drep_file *f);
int file_closed(void);

int read_begin(drep_file *f);
/* Like read_begin(), for calls that need nothing of the store: rows that wait stay. */
int read_begin_waiting(drep_file *f);
/* Like read_begin(), for calls that look at what is stored: no changes wait in memory then. */
int read_begin_stored(drep_file *f);
/* The ends of calls give err back, read_end() with the path put in front of the message;
 * read_done() leaves the message to callers that put more in front of it. */
int read_end(drep_file *f, int err);
int read_done(drep_file *f, int err);

/* For calls that change the handle and not the file: waits until nobody else uses it. */
int alone_begin(drep_file *f);
void alone_end(drep_file *f);

/* `err` decides whether the operation is kept. */
int write_begin(drep_file *f);
int write_end(drep_file *f, int err);
/* Like write_end(); counts: the failure is one that drep_close() gives. */
int write_finish(drep_file *f, int err, bool counts);
/* Inside calls that hold the lock alone without an operation: begins and ends one. */
int operation_begin(drep_file *f);
int operation_end(drep_file *f, int err);
/* True for codes of calls that were refused for their arguments: nothing was lost by them. */
bool write_refused(int err);

/* 0 if the handle may be closed: it is open, and no call or walk of this thread goes on with it,
 * which would be left with freed memory. */
int close_check(const drep_file *f);

/* For calls that change the file in no single operation: commits, seals. */
int change_begin(drep_file *f);
int change_end(drep_file *f, int err);
int commit_end(drep_file *f, int err);
/* A commit has succeeded: forget what failed before it. */
void failures_clear(drep_file *f);
/* True if drep_close() must not commit: the handle refuses to, or its hint drep_close says so. */
bool failure_abandons(const drep_file *f);
/* Set the message of a failure again, with what drep_close() made of the rest, and return its code;
 * 0 without one. */
int failure_repeat(const struct failure *first, bool committed);

/* For drep_append(), which lets rows wait: the handle is open, and what waits stays. */
int append_begin(drep_file *f);
/* The end of a call that has ended its operation itself. */
int operation_done(drep_file *f, int err);

/* Around functions of the user's that run without the lock: they may do everything with the file
 * but close it.  Walks nest. */
void walk_begin(drep_file *f);
void walk_end(void);

#endif
