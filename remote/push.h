/* push.h - one PUT whose body is sent as it comes. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_PUSH_H
#define REMOTE_PUSH_H

#include "remote/site.h"

/* Begin; the caller ends it with push_free().  excl: nothing is replaced. */
struct push;
int push_open(struct site *site, bool excl, struct push **out, struct why *why);
/* Send bytes; they have left when this returns. */
int push_bytes(struct push *p, const void *bytes, size_t size, struct why *why);
/* Send the last bytes and wait for the answer. */
int push_end(struct push *p, const void *bytes, size_t size, struct why *why);
/* Free it; a body that was not ended breaks off, and a server drops what it has of it. */
void push_free(struct push *p);

#endif
