/* merge_elements.c - entries of compact datasets that were there, or that several ranks have made.
 *
 * A rank sends all that it has of the dataset, and marks of what it has written alone: that goes
 * into rank 0's entry, element by element. */
/* SPDX-License-Identifier: MIT */
#include "api/contradiction.h"
#include "elem/unite.h"

#include <stdio.h>

/* The marks of an object of the tree, or NULL. */
static const struct written_elements *marks_of(const struct merging *m, const struct changes *c,
                                               uint64_t id)
{
    if (id < m->first_new || c == m->all)
        return changes_written(c, id);
    for (size_t i = 0; i < c->nmade; i++)
        if (c->made[i].id == id)
            return changes_written(c, c->made[i].own);
    return NULL;
}

/* Who has written which elements; at the first question, what earlier ranks have in the tree. */
static int find_writers(struct merging *m, struct uniting *u)
{
    uintptr_t *at = idset_add(&m->writers, u->ds->id);
    int err;

    if (!at)
        return fail_nomem();
    u->writer = (uint32_t *)*at;
    if (*at)
        return 0;
    err = unite_begin(u, u->ds);
    *at = (uintptr_t)u->writer;
    for (const struct changes *c = m->all; !err && c < m->c; c++) {
        const struct written_elements *w = marks_of(m, c, u->ds->id);

        if (w)
            err = unite_known(u, unite_rank(u, c->rank, c->highest), w->bit, w->n);
    }
    return err;
}

int merge_elements(struct merging *m, const struct change *e, uint64_t id)
{
    const struct written_elements *own = changes_written(m->c, change_id(e));
    struct uniting u = {.ds = NULL};
    int64_t clash = -1;
    char name[40];
    int err;

    if (!e->value || !own)
        return 0;
    snprintf(name, sizeof name, "object %llu", (unsigned long long)id);
    err = dataset_get(m->f, id, name, &u.ds);
    if (!err)
        err = find_writers(m, &u);
    if (!err)
        err = unite_entry(&u, unite_rank(&u, m->c->rank, m->c->highest), own->bit, own->n, e->value,
                          e->size, &clash);
    if (clash >= 0)
        err = contradict_element(m, &u.ds->rec, id, (int)u.writer[clash] - 1, clash);
    dataset_put(u.ds);
    return err;
}

void merged_elements_release(struct merging *m)
{
    for (size_t i = 0; i < m->writers.size; i++)
        unite_end(&(struct uniting){.writer = (uint32_t *)m->writers.slot[i].value});
    idset_release(&m->writers);
}
