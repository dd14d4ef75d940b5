/* say.h - why something failed, kept where another thread can take it.
 *
 * Requests of several threads are served by one of them, so a failure is noted with its request,
 * and whoever asked makes it its own message.  No text has a user part, a query or a key. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_SAY_H
#define REMOTE_SAY_H

struct why {
    int err; /* DREP_ERR_..., 0: nothing failed */
    char text[640];
};

/* Note a failure and return its code; the first one counts. */
int why_set(struct why *why, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Make it the calling thread's message; returns its code. */
int why_raise(const struct why *why);
/* Both at once. */
int say_error(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Free a secret after it was overwritten; NULL is none. */
void wipe_text(char *secret);

#endif
