/* odd_link.h - links that have no counterpart in a container: circles, users' own classes,
 * names that we cannot have.  Import keeps them in attributes, from which export makes them again.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_ODD_LINK_H
#define TOOLS_H5_ODD_LINK_H

#include "tools/h5/library.h"
#include <stddef.h>
#include <stdint.h>

struct job;

/* A link that has no counterpart, to be kept with the group that holds it. */
struct odd_link {
    size_t group;     /* index of its object */
    int64_t position; /* links of that group before it */
    char *name;
    char *was;       /* a renamed link: its name in HDF5; else NULL */
    uint64_t target; /* a circle: address of the group it leads to; else 0 */
    int cls;         /* a link of another class: its number, else 0 */
    uint8_t *data;   /* its bytes */
    size_t size;
};

/* In the order of their groups. */
struct odd_links {
    struct odd_link *list;
    size_t n, room;
};
void odd_links_release(struct odd_links *all);
/* Enters a link; takes its strings and data over, also on failure. */
int odd_link_add(struct job *j, const struct odd_link *link);

/* True if HDF5 knows the class of a user's link, or can be made to. */
int user_class(int cls);

#endif
