/* family.c - HDF5 files that are several files: the names of their parts. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/family.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRONT 4096 /* bytes that the name of a driver is looked for in */

bool family_member(const char *name, unsigned i, char *out, size_t size)
{
    const char *at = strchr(name, '%'), *rest;
    char *end;
    long width;
    int n;

    if (!at)
        return false;
    width = strtol(at + 1, &end, 10);
    rest = end + 1;
    if ((*end != 'd' && *end != 'u') || width < 0 || width > 20 || at[1] == '+' || at[1] == ' ' ||
        strchr(rest, '%'))
        return false;
    n = at[1] == '0'
            ? snprintf(out, size, "%.*s%0*u%s", (int)(at - name), name, (int)width, i, rest)
            : snprintf(out, size, "%.*s%*u%s", (int)(at - name), name, (int)width, i, rest);
    return n >= 0 && (size_t)n < size;
}

/* True if a file begins as one that such a driver has written. */
static bool has_driver(const char *path, const char *driver)
{
    char front[FRONT];
    FILE *f = fopen(path, "rbe");
    size_t n = f ? fread(front, 1, sizeof front, f) : 0;

    if (f)
        fclose(f);
    return n > 8 && memcmp(front, "\211HDF\r\n\032\n", 8) == 0 &&
           memmem(front, n, driver, strlen(driver));
}

/* True if a file is a member of a family, whose name that is then.  One of its numbers counts. */
static bool is_member(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/'), *p = slash ? slash + 1 : path;
    char first[4096];

    while (*(p += strcspn(p, "0123456789"))) {
        size_t n = strspn(p, "0123456789");
        int len = *p == '0' && n > 1
                      ? snprintf(name, size, "%.*s%%0%zud%s", (int)(p - path), path, n, p + n)
                      : snprintf(name, size, "%.*s%%d%s", (int)(p - path), path, p + n);

        if (len > 0 && (size_t)len < size && family_member(name, 0, first, sizeof first) &&
            has_driver(first, "NCSAfami"))
            return true;
        p += n;
    }
    return false;
}

/* True if a file has elements or metadata of a file of the driver "multi". */
static bool is_split(const char *path)
{
    const char *dash = strrchr(path, '-');
    char main_part[4096];

    if (has_driver(path, "NCSAmult"))
        return true;
    for (const char *kind = "ms"; dash && dash[1] && strncmp(dash + 2, ".h5", 4) == 0 && *kind;
         kind++) {
        int n =
            snprintf(main_part, sizeof main_part, "%.*s-%c.h5", (int)(dash - path), path, *kind);

        if (n > 0 && (size_t)n < sizeof main_part && has_driver(main_part, "NCSAmult"))
            return true;
    }
    return false;
}

bool family_part(const char *path, char *text, size_t size)
{
    char name[4096];

    if (is_member(path, name, sizeof name))
        snprintf(text, size, "one file of an HDF5 family; import %s", name);
    else if (is_split(path))
        snprintf(text, size,
                 "one of the files that HDF5's driver multi, or split, writes; a program that uses "
                 "this driver makes one file of them");
    else
        return false;
    return true;
}
