/* faultio.h - files in memory that fail when told to, and remember what was written.
 *
 * Every write and sync is recorded, so that a test can build what a crash at any moment
 * could have left: all writes up to a sync, and any of those after it, whole or torn. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_FAULTIO_H
#define TESTS_UNIT_FAULTIO_H

#include "io/io.h"

#include <stddef.h>
#include <stdint.h>

enum { FAULT_WRITE, FAULT_TRUNCATE, FAULT_SYNC, FAULT_PUBLISH };

struct fault_event {
    int kind;        /* FAULT_... */
    uint64_t offset; /* of a truncation: the size */
    size_t size;
    uint8_t *bytes;
};

/* One file; several struct io may be open on it.  Locks behave like those of open file
 * descriptions. */
struct fault_file {
    uint8_t *p;
    size_t size, room;
    struct fault_event *event;
    size_t events, event_room;
    int record;
    int64_t fail_at; /* the call number from now that fails (0: the next); -1: none */
    int fail_code;   /* with this error */
    int fail_syncs;  /* all syncs fail */
    /* Called before each call of this io, but not while it runs itself. */
    void (*hook)(void *ctx);
    void *hook_ctx;
    const struct io *hook_io;
    struct {
        uint64_t byte;
        struct io *owner;
        int how;
    } lock[64];
    int locks;
};

void fault_init(struct fault_file *f);
void fault_release(struct fault_file *f);
/* An io on it; closing it leaves the file. */
struct io *fault_io(struct fault_file *f);
/* The file after the first n events, of which those whose bit is set in `lost` (counted
 * from event `from`) did not arrive, and event `torn` (-1: none) only in its first half. */
void fault_build(const struct fault_file *f, size_t n, size_t from, uint64_t lost, int64_t torn,
                 struct fault_file *out);
void fault_forget(struct fault_file *f); /* recorded events */
/* Grows or cuts it, as a test that builds states of its own needs it. */
void fault_resize(struct fault_file *f, size_t size);

#endif
