/* object.c - the objects of one job.
 *
 * Import finds an object by its address, export by its id; both are 64-bit keys of one set. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/object.h"
#include "base/err.h"
#include "base/idset.h"
#include "base/mem.h"
#include "base/vec.h"
#include <stdint.h>
#include <stdlib.h>

uint64_t h5_address(hid_t object)
{
    H5O_info_t info;

    return H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 ? 0 : (uint64_t)info.addr;
}

struct h5_object *objects_find(const struct objects *all, uint64_t key)
{
    uintptr_t *index = key ? idset_find(&all->ids, key) : NULL;

    return index ? &all->list[*index - 1] : NULL;
}

int objects_add(struct objects *all, uint64_t key, int kind, char *path, char *source)
{
    uintptr_t *index;

    if (path && VEC_ROOM(all->list, all->n, all->room, 1) == 0 &&
        (index = idset_add(&all->ids, key))) {
        all->list[all->n++] =
            (struct h5_object){.key = key, .kind = kind, .path = path, .source = source};
        *index = all->n;
        return 0;
    }
    free(path);
    free(source);
    return DREP_ERR_NOMEM;
}

void objects_release(struct objects *all)
{
    size_t i;

    for (i = 0; i < all->n; i++) {
        free(all->list[i].path);
        free(all->list[i].source);
        free(all->list[i].dim_path);
        free(all->list[i].link_path);
    }
    mem_free(all->list);
    idset_release(&all->ids);
}
