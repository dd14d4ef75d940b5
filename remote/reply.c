/* reply.c - the head of an HTTP answer, as far as readers of ranges need it.
 *
 * A field that cannot be parsed counts as missing; a field that does not fit, too. */
/* SPDX-License-Identifier: MIT */
#include "remote/reply.h"
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void reply_init(struct reply *r)
{
    memset(r, 0, sizeof *r);
    r->wait = -1;
}

/* A new head begins: 100, an answer to a proxy, or the one that counts. */
static void reply_begin(struct reply *r, const char *line)
{
    size_t head = r->head;
    const char *code = strchr(line, ' ');

    reply_init(r);
    r->head = head;
    r->status = code ? (int)strtol(code, NULL, 10) : 0;
}

/* Decimal digits; NULL: none, or too many. */
static const char *parse_digits(const char *p, uint64_t *out)
{
    uint64_t n = 0;
    size_t len = strspn(p, "0123456789");

    if (len == 0 || len > 18)
        return NULL;
    for (size_t i = 0; i < len; i++)
        n = 10 * n + (uint64_t)(p[i] - '0');
    *out = n;
    return p + len;
}

/* "bytes 0-65535/1000000", "bytes 0-9/10". */
static bool content_range(struct reply *r, const char *value)
{
    const char *p;

    if (strncasecmp(value, "bytes", 5) != 0)
        return false;
    p = value + 5 + strspn(value + 5, " =");
    p = parse_digits(p, &r->first);
    p = p && *p == '-' ? parse_digits(p + 1, &r->last) : NULL;
    p = p && *p == '/' ? parse_digits(p + 1, &r->total) : NULL;
    return p && !*p && r->first <= r->last && r->last < r->total;
}

static bool copy_value(char *to, size_t room, const char *value)
{
    size_t n = strlen(value);

    if (n == 0 || n >= room)
        return false;
    memcpy(to, value, n + 1);
    return true;
}

static void reply_field(struct reply *r, const char *name, const char *value)
{
    uint64_t n;

    if (strcasecmp(name, "ETag") == 0)
        r->tagged = copy_value(r->tag, sizeof r->tag, value);
    else if (strcasecmp(name, "Last-Modified") == 0)
        r->dated = copy_value(r->date, sizeof r->date, value);
    else if (strcasecmp(name, "Content-Length") == 0)
        r->sized = parse_digits(value, &r->length) != NULL;
    else if (strcasecmp(name, "Content-Range") == 0)
        r->ranged = content_range(r, value);
    else if (strcasecmp(name, "Content-Encoding") == 0)
        r->encoded = strcasecmp(value, "identity") != 0 && *value;
    else if (strcasecmp(name, "Retry-After") == 0)
        r->wait = parse_digits(value, &n) && n < 100000 ? (long)n : -1;
    else if (strcasecmp(name, "Location") == 0)
        copy_value(r->place, sizeof r->place, value);
    else if (strcasecmp(name, "x-amz-bucket-region") == 0 &&
             !copy_value(r->region, sizeof r->region, value))
        r->region[0] = '\0';
}

bool reply_line(struct reply *r, const char *line, size_t size)
{
    char text[8192], *colon, *value, *end;

    if (size > REPLY_HEAD_MAX - r->head)
        return false;
    r->head += size;
    if (size >= sizeof text || memchr(line, '\0', size))
        return true;
    memcpy(text, line, size);
    text[size] = '\0';
    if (strncmp(text, "HTTP/", 5) == 0) {
        reply_begin(r, text);
        return true;
    }
    colon = strchr(text, ':');
    if (!colon)
        return true;
    *colon = '\0';
    value = colon + 1 + strspn(colon + 1, " \t");
    for (end = value + strlen(value); end > value && strchr(" \t\r\n", end[-1]); end--)
        end[-1] = '\0';
    reply_field(r, text, value);
    return true;
}

int reply_error(int status, int missing)
{
    switch (status) {
    case 401:
    case 403:
    case 407:
        return DREP_ERR_ACCESS;
    case 404:
    case 410:
        return missing;
    case 413:
    case 507:
        return DREP_ERR_NO_SPACE;
    case 416:
        return DREP_ERR_TRUNCATE;
    default:
        return DREP_ERR_IO;
    }
}
