/* vec.h - arrays that grow.
 *
 * The array, the number of its elements and the number that fit are three variables of the
 * caller, mostly fields of one struct, all zero at first.  VEC_ROOM() makes room behind the
 * elements and the caller fills it:
 *
 *     if (VEC_ROOM(w->id, w->n, w->room, 1))
 *         return DREP_ERR_NOMEM;
 *     w->id[w->n++] = id;
 *
 * Room doubles, so each element is copied twice on average.  mem_free() frees the array. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>

/* The slow path of vec_room(). */
int vec_grow(void *list, size_t n, size_t *room, size_t more, size_t width);

/* Make room for `more` elements of `width` bytes after the n of `list`, the address of a
 * pointer. 0 or DREP_ERR_NOMEM; then nothing has changed. */
static inline int vec_room(void *list, size_t n, size_t *room, size_t more, size_t width)
{
    return more <= *room - n ? 0 : vec_grow(list, n, room, more, width);
}

#define VEC_ROOM(list, n, room, more) vec_room(&(list), n, &(room), more, sizeof *(list))

/* qsort() for what is mostly in order already: then it is looked at once, and stays. */
void vec_sort(void *list, size_t n, size_t width, int (*order)(const void *, const void *));

#endif
