/* utf8.h - code points and UTF-8. */
#ifndef TOOLS_HOST_UTF8_H
#define TOOLS_HOST_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether these bytes are UTF-8: shortest forms, no surrogates. */
bool utf8_valid(const char *text, size_t size);
/* Puts '?' for all bytes that are not UTF-8 or tell a terminal to do something. */
void utf8_clean(char *text);
/* Columns that a terminal takes for it: two for wide characters, none for marks above others. */
size_t utf8_columns(const char *text);
/* A code point, 1 to 4 bytes; gives what is behind it. */
char *utf8_put(char *to, uint32_t code);

#endif
