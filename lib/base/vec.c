/* vec.c - arrays that grow: overflow of sizes and lack of memory are handled here alone. */
/* SPDX-License-Identifier: MIT */
#include "base/vec.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 8 };

int vec_grow(void *list, size_t n, size_t *room, size_t more, size_t width)
{
    size_t want = *room < ROOM_FIRST / 2 ? ROOM_FIRST : 2 * *room;
    void *p;

    if (more > SIZE_MAX - n || *room > SIZE_MAX / 2)
        want = SIZE_MAX; /* more than there is: mem_resize() says so */
    else if (want < n + more)
        want = n + more;
    /* The caller's pointer has a type of its own: it is copied as bytes. */
    memcpy(&p, list, sizeof p);
    p = mem_resize(p, want, width);
    if (!p)
        return DREP_ERR_NOMEM;
    memcpy(list, &p, sizeof p);
    *room = want;
    return 0;
}

void vec_sort(void *list, size_t n, size_t width, int (*order)(const void *, const void *))
{
    const char *p = list;

    for (size_t i = 1; i < n; i++, p += width)
        if (order(p, p + width) > 0) {
            qsort(list, n, width, order);
            return;
        }
}
