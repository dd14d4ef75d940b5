/* name.c - names of links and attributes that we cannot have.
 *
 * Invalid bytes are replaced and a hash of the whole name is appended, so that two names that
 * differ only in those bytes stay different. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/name.h"
#include "format/utf8.h"
#include "tools/h5/book.h"
#include "tools/h5/note.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE_MAX 1023

/* The length of the UTF-8 character at p, 0 if there is none. */
static size_t utf8_length(const uint8_t *p)
{
    uint32_t code;

    return utf8_next(p, strnlen((const char *)p, 4), &code);
}

static int is_own_name(const char *name, int attribute)
{
    const uint8_t *p = (const uint8_t *)name;
    size_t n;

    if (!*name || strlen(name) > NAME_SIZE_MAX)
        return 0;
    if (attribute ? is_annotation(name)
                  : strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strchr(name, '/'))
        return 0;
    for (; *p; p += n)
        if ((n = utf8_length(p)) == 0)
            return 0;
    return 1;
}

/* The name of the note that an attribute of netCDF's books becomes. */
static char *book_note_name(const char *name)
{
    char *own = malloc(sizeof NOTE_HDF5 + strlen(name));

    if (own)
        sprintf(own, "%s%s", NOTE_HDF5, name);
    return own;
}

/* Make a name from an invalid one: its valid characters, and a number that tells it from others
 * like it. */
char *own_name(const char *name, int attribute)
{
    const uint8_t *p = (const uint8_t *)name;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char *own, *to;
    size_t n;

    if (attribute && book_is(name))
        return book_note_name(name);
    if (is_own_name(name, attribute))
        return strdup(name);
    own = malloc(NAME_SIZE_MAX + 1);
    if (!own)
        return NULL;
    to = own;
    if (attribute && is_note(name)) /* a note of ours it is not */
        to += sprintf(to, "%%%02X", *p++);
    for (; *p && to - own < 980; p += n) {
        n = utf8_length(p);
        if (n && (attribute || *p != '/')) {
            memcpy(to, p, n);
            to += n;
        } else {
            n = 1;
            to += sprintf(to, "%%%02X", *p);
        }
    }
    for (p = (const uint8_t *)name; *p; p++)
        hash = (hash ^ *p) * UINT64_C(0x100000001b3);
    sprintf(to, "~%08llx", (unsigned long long)(hash ^ hash >> 32) & 0xffffffff);
    return own;
}
