/* utf8.h - text on a terminal: what is shown of it, and how wide. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_UTF8_H
#define TOOLS_HOST_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the bytes are valid UTF-8: shortest forms, no surrogates. */
bool utf8_valid(const char *text, size_t size);
/* The text as drep_escape() has it, malloc'ed; NULL: no memory. */
char *utf8_shown(const char *text);
/* Likewise in its place, of so many bytes; what has no room is cut off. */
void utf8_clean(char *text, size_t room);
/* Columns that a terminal takes for it: two for wide characters, none for marks above others. */
size_t utf8_columns(const char *text);

#endif
