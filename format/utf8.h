/* utf8.h - one code point from and to UTF-8.
 *
 * Well-formed sequences only, as Unicode's table 3-7 lists them: shortest forms, no surrogates,
 * nothing above U+10FFFF.  All checks of texts and names are loops over utf8_next(). */
/* SPDX-License-Identifier: MIT */
#ifndef FORMAT_UTF8_H
#define FORMAT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decode the sequence at p, of at most `left` bytes, at least one. Returns its length, 0 if it
 * is not well formed. A NUL is a sequence of one byte. *code is set unless 0 is returned. */
static inline size_t utf8_next(const void *text, size_t left, uint32_t *code)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *p = (const uint8_t *)text;
    size_t n = p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t c;

    if (p[0] < 0x80) {
        *code = p[0];
        return 1;
    }
    if (n == 0 || n > left || p[0] > 0xf4)
        return 0;
    c = p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *code = c;
    return n;
}

/* True for what changes the display of other text, or is not shown at all: the C0 and C1 controls,
 * which terminals obey; the marks, embeddings, overrides and isolates of bidirectional text
 * (UAX #9), which let a name be read in another order than it has; separators of lines; characters
 * without a width.  Joiners (U+200C, U+200D) are letters' spelling in some scripts. */
static inline bool utf8_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200b ||
           code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x2069) || code == 0xfeff;
}

/* Write a code point, 1 to 4 bytes; returns the end. */
static inline char *utf8_put(char *to, uint32_t code)
{
    static const uint8_t lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (int i = n - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(lead[n] | code);
    return to + n;
}

#endif
