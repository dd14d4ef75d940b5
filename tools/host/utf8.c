/* utf8.c - text on a terminal. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/utf8.h"
#include "format/utf8.h"
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool utf8_valid(const char *text, size_t size)
{
    uint32_t code;
    size_t n;

    for (; size > 0; text += n, size -= n)
        if ((n = utf8_next(text, size, &code)) == 0)
            return false;
    return true;
}

char *utf8_shown(const char *text)
{
    size_t size = strlen(text), room = drep_escape(NULL, 0, text, size) + 1;
    char *out = malloc(room);

    if (out)
        drep_escape(out, room, text, size);
    return out;
}

void utf8_clean(char *text, size_t room)
{
    char *copy = utf8_shown(text);

    snprintf(text, room, "%s", copy ? copy : "");
    free(copy);
}

static size_t columns_of(uint32_t code)
{
    static const struct {
        uint32_t first, last;
        uint8_t columns;
    } ranges[] = {{0x300, 0x36f, 0},     {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0},
                  {0x2e80, 0x303e, 2},   {0x3041, 0x4dbf, 2},   {0x4e00, 0xa4cf, 2},
                  {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},
                  {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},
                  {0x1f300, 0x1f64f, 2}, {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2}};
    size_t i;

    for (i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return ranges[i].columns;
    return 1;
}

size_t utf8_columns(const char *text)
{
    size_t sum = 0, n;
    uint32_t code;

    for (; *text; text += n ? n : 1) {
        n = utf8_next(text, strnlen(text, 4), &code);
        sum += n ? columns_of(code) : 1;
    }
    return sum;
}
