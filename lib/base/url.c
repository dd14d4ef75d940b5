/* url.c - names of files that are URLs, and what people may see of them. */
/* SPDX-License-Identifier: MIT */
#include "base/url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const schemes[] = {"http://", "https://", "s3://"};

/* Bytes of the scheme with its slashes; 0: no URL. */
static size_t scheme_size(const char *name)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncasecmp(name, schemes[i], strlen(schemes[i])) == 0)
            return strlen(schemes[i]);
    return 0;
}

bool url_is(const char *name)
{
    return scheme_size(name) > 0;
}

/* True if a colon of the host is followed by something other than a port: this may be a password
 * with a slash in it, whose host comes later. */
static bool host_unclear(const char *host, size_t size)
{
    const char *close = memchr(host, ']', size), *end = host + size, *colon;

    colon = memchr(close ? close : host, ':', (size_t)(end - (close ? close : host)));
    return colon && strspn(colon + 1, "0123456789") < (size_t)(end - colon - 1);
}

const char *url_shown(const char *name, char *out, size_t room)
{
    size_t scheme = scheme_size(name), size;
    const char *host = name + scheme, *path, *at;

    if (scheme == 0) {
        snprintf(out, room, "%s", name);
        return out;
    }
    size = strcspn(host, "/\\?#");
    at = memrchr(host, '@', size);
    if (at) {
        size -= (size_t)(at + 1 - host);
        host = at + 1;
    }
    path = host + size;
    if (host_unclear(host, size))
        snprintf(out, room, "%.*s(a URL without a valid host)", (int)scheme, name);
    else
        snprintf(out, room, "%.*s%.*s%.*s", (int)scheme, name, (int)size, host,
                 (int)strcspn(path, "?#"), path);
    return out;
}
