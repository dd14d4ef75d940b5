/* range.c - the header Range of a request for data. */
/* SPDX-License-Identifier: MIT */
#include "tools/view/range.h"

#include <string.h>

/* Digits up to another character; false: none, or more than a file can have. */
static bool take_number(const char **at, uint64_t *out)
{
    const char *p = *at;
    uint64_t n = 0;

    for (; *p >= '0' && *p <= '9'; p++) {
        if (n > (UINT64_MAX >> 1) / 10 - 1)
            return false;
        n = n * 10 + (uint64_t)(*p - '0');
    }
    if (p == *at)
        return false;
    *at = p;
    *out = n;
    return true;
}

bool range_parse(const char *header, uint64_t size, uint64_t *from, uint64_t *len)
{
    static const char unit[] = "bytes=";
    uint64_t first = 0, last = size - 1;
    const char *p = header;

    if (size == 0 || strncmp(p, unit, sizeof unit - 1) != 0)
        return false;
    p += sizeof unit - 1;
    if (*p == '-') {
        p++;
        if (!take_number(&p, &first) || *p || first == 0)
            return false;
        first = first < size ? size - first : 0;
    } else {
        if (!take_number(&p, &first) || *p++ != '-')
            return false;
        if (*p && !take_number(&p, &last))
            return false;
        if (*p || first > last || first >= size)
            return false;
        last = last < size - 1 ? last : size - 1;
    }
    *from = first;
    *len = last - first + 1;
    return true;
}
