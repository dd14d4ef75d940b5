/* utf8.c - code points and UTF-8. */
#include "utf8.h"

bool utf8_valid(const char *text, size_t size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text, *end = p + size;
    uint32_t code;
    int n, i;

    while (p < end) {
        n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
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
