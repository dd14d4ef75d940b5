/* said.h - what the command's code says in the page: kept as a text, as there is no terminal. */
/* SPDX-License-Identifier: MIT */
#ifndef CORE_SAID_H
#define CORE_SAID_H

/* Forget what was said; call it before the command's code. */
void said_begin(void);
/* The first message since then, "" if there is none. */
const char *said_text(void);
/* Keep the library's message for err; gives err. */
int said_fail(int err);
/* Make the first message the library's, for web_error().  The code of the failure. */
int said_error(void);

#endif
