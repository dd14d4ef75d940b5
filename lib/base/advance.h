/* advance.h - tells a thread's function how far a long call is, and asks it whether the call goes
 * on.
 *
 * A long call begins an advance, adds the bytes that it has moved or verified, and ends it.  Pool
 * workers add too; only the thread that made the call asks its function (drep_progress), a few
 * times a second.  Calls inside the call have no advance of their own. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_ADVANCE_H
#define BASE_ADVANCE_H

#include <stdint.h>

struct advance;

/* The advance of a call of `total` bytes, 0: unknown; NULL: nobody asked for one. */
struct advance *advance_begin(int64_t total);
void advance_end(struct advance *a);
/* Adds bytes.  DREP_ERR_STOPPED, with a message, once the function has said so; NULL: 0. */
int advance_add(struct advance *a, int64_t bytes);
/* Between these nobody is asked: what must go to its end, such as a commit.  They nest. */
void advance_pause(void);
void advance_resume(void);

#endif
