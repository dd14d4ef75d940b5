/* escape.h - text from a file, as people may see it. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>

/* drep_escape() of the public header. */
size_t text_escape(char *out, size_t room, const char *text, size_t size);

#endif
