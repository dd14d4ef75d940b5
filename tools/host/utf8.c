/* utf8.c - code points and UTF-8. */
#include "tools/host/utf8.h"
#include <string.h>

/* Bytes of the code point that begins so; 0: none does. */
static int length_of(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    return lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
}

bool utf8_valid(const char *text, size_t size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text, *end = p + size;
    uint32_t code;
    int n, i;

    while (p < end) {
        n = length_of(*p);
        if (n == 0 || end - p < n)
            return false;
        code = n == 1 ? *p : *p & (0x7fu >> n);
        for (i = 1; i < n; i++) {
            if ((p[i] & 0xc0) != 0x80)
                return false;
            code = code << 6 | (p[i] & 0x3fu);
        }
        if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return false;
        p += n;
    }
    return true;
}

void utf8_clean(char *text)
{
    unsigned char *p = (unsigned char *)text;
    bool control;
    int n;

    while (*p) {
        n = length_of(*p);
        control = *p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0);
        /* The NUL at the end is no part of anything. */
        if (n > 0 && !control && utf8_valid((char *)p, (size_t)n))
            p += n;
        else
            *p++ = '?';
    }
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
    const unsigned char *p = (const unsigned char *)text;
    size_t sum = 0;
    uint32_t code;
    int n, i;

    while (*p) {
        n = length_of(*p);
        if (n < 2 || !utf8_valid((const char *)p, strnlen((const char *)p, (size_t)n))) {
            sum++;
            p++;
            continue;
        }
        code = *p & (0x7fu >> n);
        for (i = 1; i < n; i++)
            code = code << 6 | (p[i] & 0x3fu);
        sum += columns_of(code);
        p += n;
    }
    return sum;
}

char *utf8_put(char *to, uint32_t code)
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4, i;

    if (n == 1) {
        *to = (char)code;
        return to + 1;
    }
    for (i = n - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(lead[n] | code);
    return to + n;
}
