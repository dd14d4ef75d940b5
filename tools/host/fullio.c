/* fullio.c - reading and writing as many bytes as were asked for. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/fullio.h"
#include <errno.h>
#include <unistd.h>

ssize_t full_read(int fd, void *buf, size_t size, off_t at)
{
    char *to = buf;
    size_t len = 0;
    ssize_t n;

    while (len < size) {
        n = at < 0 ? read(fd, to + len, size - len)
                   : pread(fd, to + len, size - len, at + (off_t)len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

int full_write(int fd, const void *buf, size_t size)
{
    const char *from = buf;
    ssize_t n;

    for (; size > 0; from += n, size -= (size_t)n) {
        n = write(fd, from, size);
        if (n < 0 && errno != EINTR)
            return -1;
        n = n < 0 ? 0 : n;
    }
    return 0;
}
