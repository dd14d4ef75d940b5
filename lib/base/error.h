/* error.h - the calling thread's last message.
 *
 * The innermost place says what is wrong, each outer place puts its name in
 * front: "a.drep: dataset \"/t\": chunk (3,0): checksum mismatch at byte 81920".  The object and
 * the byte are noted beside it, for programs. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Set the message and return err: `return fail(DREP_ERR_ARG, "level %d", n);` */
int fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

/* The same for a message about a position in the file or about an object, which is noted. */
int fail_byte(int err, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));
int fail_object(int err, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Prefix the message with "<text>: " and return err; does nothing when err is 0.  Most calls end
 * with this and have not failed: a macro, so that they neither call a function nor count as cold.
 */
int fail_prefix(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));
#define fail_in(err, ...)                                \
    __extension__({                                      \
        int failed_ = (err);                             \
        failed_ ? fail_prefix(failed_, __VA_ARGS__) : 0; \
    })

/* Note the path of the object that the message is about, and return err; does nothing when err is
 * 0.  The outermost one counts: it is the caller's. */
int fail_about(int err, const char *path);

/* Remove "<name>: " from the front of the message: who says it next names it. */
void fail_unname(const char *name) __attribute__((cold));

/* The end of each call on a dataset that failed: the prefix names the dataset, in place of its path
 * alone, and it is noted. */
int fail_named(int err, const char *path) __attribute__((cold));
#define fail_dataset(err, path)                    \
    __extension__({                                \
        int failed_ = (err);                       \
        failed_ ? fail_named(failed_, (path)) : 0; \
    })

/* Set the message "out of memory"; returns DREP_ERR_NOMEM. */
int fail_nomem(void) __attribute__((cold));

/* The thread's message, valid until the next one. */
const char *fail_text(void);

/* Changes with each drep_error_set() of this thread: a function that the library called has said
 * why it failed, in fail_text(). */
unsigned fail_said(void);

/* For pool workers: move the message to the thread that started the job. */
enum { FAIL_ROOM = 1024 };
struct fail_state {
    char text[FAIL_ROOM];
    char object[FAIL_ROOM]; /* "": none */
    int64_t byte;           /* plus 1; 0: none */
};
const struct fail_state *fail_last(void);

/* Serialise a message and what it is about for another process: text first, ended by a NUL.  At
 * most `room` bytes, FAIL_PACKED hold every one; returns their number.  fail_unpack() makes them
 * the thread's message and returns err. */
enum { FAIL_PACKED = 2 * FAIL_ROOM + 8 };
size_t fail_pack(const struct fail_state *s, void *out, size_t room);
int fail_unpack(int err, const void *p, size_t n);
void fail_save(struct fail_state *s);
void fail_restore(const struct fail_state *s);

#endif
