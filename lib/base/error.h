/* error.h - the calling thread's last message.
 *
 * The innermost place says what is wrong, each outer place puts its name in
 * front: "a.drep: dataset \"/t\": chunk (3,0): checksum mismatch at byte 81920". */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <datarep.h>

/* Set the message and return err: `return fail(DREP_ERR_ARG, "rank %d", r);` */
int fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

/* Prefix the message with "<text>: " and return err; does nothing when err is 0.  Most calls end
 * with this and have not failed: a macro, so that they neither call a function nor count as cold.
 */
int fail_prefix(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));
#define fail_in(err, ...)                                \
    __extension__({                                      \
        int failed_ = (err);                             \
        failed_ ? fail_prefix(failed_, __VA_ARGS__) : 0; \
    })

/* Set the message "out of memory"; returns DREP_ERR_NOMEM. */
int fail_nomem(void) __attribute__((cold));

/* The thread's message, valid until the next one. */
const char *fail_text(void);

/* For pool workers: move the message to the thread that started the job. */
struct fail_state {
    char text[1024];
};
void fail_save(struct fail_state *s);
void fail_restore(const struct fail_state *s);

#endif
