/* assets.h - the files of the page, in memory. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_VIEW_ASSETS_H
#define TOOLS_VIEW_ASSETS_H

#include <stddef.h>

#define ASSETS_MAX 64

struct asset {
    char *path; /* "/assets/index-1a2b.js": exactly what is asked for */
    void *bytes;
    size_t size;
    const char *type; /* media type */
};
struct assets {
    struct asset asset[ASSETS_MAX];
    int n;
};

/* Loads index.html and assets/.  NULL, or what is wrong. */
const char *assets_load(struct assets *a, const char *folder);
void assets_release(struct assets *a);
/* NULL: there is none of that path; "/" is index.html. */
const struct asset *assets_find(const struct assets *a, const char *path);

#endif
