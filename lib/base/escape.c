/* escape.c - text from a file, as people may see it.
 *
 * Names, attributes and messages reach terminals, pages and logs.  Whatever would act there instead
 * of being shown stands as an escape; everything else, a backslash too, stays as it is, so that
 * text that is escaped already stays the same. */
/* SPDX-License-Identifier: MIT */
#include "base/escape.h"

#include "format/utf8.h"

#include <stdio.h>
#include <string.h>

/* Write the escape of one character, or of a byte that is no character; returns its length. */
static size_t one(char *to, size_t n, uint32_t code, unsigned char byte)
{
    static const char known[] = "\a\b\t\n\v\f\r", letters[] = "abtnvfr";
    const char *letter = n == 1 && code ? strchr(known, (int)code) : NULL;

    if (letter)
        return (size_t)sprintf(to, "\\%c", letters[letter - known]);
    return (size_t)sprintf(to, n == 0 ? "\\x%02x" : "\\u%04x", n == 0 ? byte : code);
}

size_t text_escape(char *out, size_t room, const char *text, size_t size)
{
    size_t at = 0, len = 0, kept = 0;

    while (at < size) {
        uint32_t code = 0;
        size_t n = utf8_next(text + at, size - at, &code), more = n;
        char escaped[16];
        const char *from = text + at;

        if (n == 0 || utf8_control(code)) {
            more = one(escaped, n, code, (unsigned char)text[at]);
            from = escaped;
        }
        if (kept == len && room > len && more < room - len) { /* whole characters alone */
            memcpy(out + len, from, more);
            kept += more;
        }
        len += more;
        at += n ? n : 1;
    }
    if (room > 0)
        out[kept] = 0;
    return len;
}
