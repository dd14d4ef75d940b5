/* base64.c - bytes as text. */
/* SPDX-License-Identifier: MIT */
#include "tools/refs/base64.h"

void base64_put(struct sink *s, const void *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *p = bytes;

    for (size_t i = 0; i < size; i += 3) {
        size_t n = size - i < 3 ? size - i : 3;
        uint32_t v = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
                     (n > 2 ? (uint32_t)p[i + 2] : 0);
        char *to = sink_room(s, 4);

        if (!to)
            return;
        to[0] = digits[v >> 18];
        to[1] = digits[v >> 12 & 63];
        to[2] = n > 1 ? digits[v >> 6 & 63] : '=';
        to[3] = n > 2 ? digits[v & 63] : '=';
        sink_took(s, 4);
    }
}
