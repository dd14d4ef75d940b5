/* touched.c - the datasets whose elements changed since the last commit. */
/* SPDX-License-Identifier: MIT */
#include "tree/touched.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "space/space.h"

/* Values in the set.  Taking a mark back keeps the id, as UNTOUCHED. */
enum touch { UNTOUCHED, TOUCHED, TOUCHED_BY_OP };

int touched_add(struct store *st, uint64_t object, bool sure)
{
    struct touched *t = st->touched;
    uintptr_t *mark;

    sure = sure || !store_op_active(st);
    if (!sure && VEC_ROOM(t->op, t->nop, t->room, 1) != 0)
        return fail_nomem();
    mark = idset_add(&t->objects, object);
    if (!mark)
        return fail_nomem();
    if (!sure && *mark == UNTOUCHED) {
        t->op[t->nop++] = object;
        *mark = TOUCHED_BY_OP;
    }
    if (sure)
        *mark = TOUCHED;
    t->last = object;
    t->sure = *mark == TOUCHED;
    return 0;
}

bool touched_is(const struct store *st, uint64_t object)
{
    const uintptr_t *mark = idset_find(&st->touched->objects, object);

    return mark && *mark != UNTOUCHED;
}

int touched_list(const struct store *st, uint64_t **list, size_t *n)
{
    const struct idset *s = &st->touched->objects;

    *n = 0;
    *list = s->n > 0 ? mem_array(s->n, sizeof(**list)) : NULL;
    if (s->n > 0 && !*list)
        return fail_nomem();
    for (size_t i = 0; s->n > 0 && i < s->size; i++)
        if (s->slot[i].id && s->slot[i].value != UNTOUCHED)
            (*list)[(*n)++] = s->slot[i].id;
    return 0;
}

void touched_op_end(struct store *st, bool keep)
{
    struct touched *t = st->touched;

    for (size_t i = 0; i < t->nop; i++) {
        uintptr_t *mark = idset_find(&t->objects, t->op[i]);

        if (*mark == TOUCHED_BY_OP)
            *mark = keep ? TOUCHED : UNTOUCHED;
    }
    t->nop = 0;
    t->last = 0;
}

void touched_clear(struct store *st)
{
    idset_release(&st->touched->objects);
    st->touched->nop = 0;
    st->touched->last = 0;
}

void touched_release(struct touched *t)
{
    idset_release(&t->objects);
    mem_free(t->op);
    *t = (struct touched){.last = 0};
}
