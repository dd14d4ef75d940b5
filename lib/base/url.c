/* url.c - names of files that are URLs, and what people may see of them. */
/* SPDX-License-Identifier: MIT */
#include "base/url.h"

#include "base/mem.h"

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

/* True for a relative path whose names are all plain. */
static bool path_is_plain(const char *path)
{
    for (const char *at = path;; at++) {
        size_t n = strcspn(at, "/");

        if (n == 0 || (n == 1 && *at == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += n;
        if (!*at)
            return true;
    }
}

/* Append a path as URLs have it; keys in buckets are not encoded. */
static void path_put(char *to, const char *path, bool encode)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-._~/";

    for (; *path; path++) {
        if (encode && !strchr(plain, *path))
            to += snprintf(to, 4, "%%%02X", (unsigned)(unsigned char)*path);
        else
            *to++ = *path;
    }
    *to = '\0';
}

char *url_beneath(const char *url, const char *path)
{
    size_t scheme = scheme_size(url), size = scheme + strcspn(url + scheme, "?#");
    const char *slash = memrchr(url + scheme, '/', size - scheme);
    size_t folder = slash ? (size_t)(slash + 1 - url) : size;
    char *out;

    if (scheme == 0 || !path_is_plain(path))
        return NULL;
    out = mem_alloc(folder + 2 + 3 * strlen(path));
    if (!out)
        return NULL;
    memcpy(out, url, folder);
    if (!slash)
        out[folder++] = '/';
    path_put(out + folder, path, strncasecmp(url, "s3:", 3) != 0);
    return out;
}
