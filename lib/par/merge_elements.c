/* merge_elements.c - entries of compact datasets that were there, or that several ranks have made.
 *
 * A rank sends all that it has of the dataset, and marks of what it has written alone: that goes
 * into rank 0's entry, element by element.  What all have is stored once, at the end. */
/* SPDX-License-Identifier: MIT */
#include "par/contradiction.h"
#include "base/mem.h"
#include "par/unite.h"

#include <stdio.h>

/* Begin with what earlier ranks have in the tree. */
static int elements_begin(struct merging *m, struct uniting *u, uint64_t id)
{
    drep_dataset *ds;
    char name[40];
    int err;

    snprintf(name, sizeof name, "object %llu", (unsigned long long)id);
    if ((err = dataset_get(m->f, id, name, &ds)))
        return err;
    err = unite_begin(u, ds);
    for (const struct changes *c = m->all; !err && c < m->c; c++) {
        const struct written_elements *w = changes_written(c, own_id(m, c, id));

        if (w)
            err = unite_known(u, unite_rank(u, c->rank, c->highest), w->bit, w->n);
    }
    return err;
}

/* Find what is known of a dataset's elements; it is released with the merge. */
static int find_united(struct merging *m, uint64_t id, struct uniting **out)
{
    uintptr_t *at = idset_add(&m->united, id);

    if (!at)
        return fail_nomem();
    *out = (struct uniting *)*at;
    if (*at)
        return 0;
    *out = mem_zalloc(1, sizeof **out);
    *at = (uintptr_t)*out;
    return *out ? elements_begin(m, *out, id) : fail_nomem();
}

int merge_elements(struct merging *m, const struct change *e, uint64_t id)
{
    const struct written_elements *own = changes_written(m->c, change_id(e));
    struct uniting *u = NULL;
    int64_t clash = -1;
    int err;

    if (!e->value || !own)
        return 0;
    err = find_united(m, id, &u);
    if (!err)
        err = unite_entry(u, unite_rank(u, m->c->rank, m->c->highest), own->bit, own->n, e->value,
                          e->size, &clash);
    return clash < 0 ? err
                     : contradict_element(m, &u->ds->rec, id, (int)u->writer[clash] - 1, clash);
}

int merged_elements_store(struct merging *m)
{
    int err = 0;

    for (size_t i = 0; !err && i < m->united.size; i++)
        if (m->united.slot[i].value)
            err = unite_store((struct uniting *)m->united.slot[i].value);
    return err;
}

void merged_elements_release(struct merging *m)
{
    for (size_t i = 0; i < m->united.size; i++) {
        struct uniting *u = (struct uniting *)m->united.slot[i].value;

        if (u) {
            unite_end(u);
            if (u->ds)
                dataset_put(u->ds);
            mem_free(u);
        }
    }
    idset_release(&m->united);
}
