/* odd_link.c - links that have no counterpart in a container.
 *
 * Links are collected while objects are made and written as notes of the group that held them. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/odd_link.h"
#include "base/mem.h"
#include "base/vec.h"
#include "tools/h5/job.h"
#include <stdlib.h>
#include <string.h>

void odd_links_release(struct odd_links *all)
{
    size_t i;

    for (i = 0; i < all->n; i++) {
        free(all->list[i].name);
        free(all->list[i].was);
        free(all->list[i].data);
    }
    mem_free(all->list);
}

int odd_link_add(struct job *j, const struct odd_link *link)
{
    struct odd_links *all = &j->links;

    if (VEC_ROOM(all->list, all->n, all->room, 1)) {
        free(link->name);
        free(link->was);
        free(link->data);
        return job_no_memory(j);
    }
    all->list[all->n++] = *link;
    return 0;
}

static hid_t no_traverse(const char *name, hid_t group, const void *data, size_t size, hid_t lapl,
                         hid_t dxpl)
{
    (void)name, (void)group, (void)data, (void)size, (void)lapl, (void)dxpl;
    return -1;
}

static ssize_t give_bytes(const char *name, const void *data, size_t size, void *buf, size_t room)
{
    (void)name;
    if (buf)
        memcpy(buf, data, size < room ? size : room);
    return (ssize_t)size;
}

int user_class(int cls)
{
    H5L_class_t c = {.version = H5L_LINK_CLASS_T_VERS,
                     .id = (H5L_type_t)cls,
                     .comment = "kept as it is",
                     .trav_func = no_traverse,
                     .query_func = give_bytes};

    return H5Lis_registered(c.id) > 0 || H5Lregister(&c) >= 0;
}
