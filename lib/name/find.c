/* find.c - a path of an object that is known by its number. */
/* SPDX-License-Identifier: MIT */
#include "name/find.h"

#include "base/error.h"
#include "base/idset.h"
#include "base/mem.h"
#include "base/vec.h"
#include "name/dim_entry.h"
#include "name/link.h"
#include "name/path.h"

#include <datarep.h>
#include <string.h>

struct path_step {
    uint64_t id;
    size_t parent; /* index of the step above */
    char *name;
};

/* Builds the path of a step from those above it. */
static char *path_of(const struct path_step *steps, size_t i)
{
    size_t len = 1;
    char *path, *p;

    for (size_t k = i; k != 0; k = steps[k].parent)
        len += strlen(steps[k].name) + 1;
    path = mem_alloc(len + 1);
    if (!path)
        return NULL;
    p = path + len - 1;
    *p = '\0';
    for (size_t k = i; k != 0; k = steps[k].parent) {
        size_t n = strlen(steps[k].name);

        p -= n;
        memcpy(p, steps[k].name, n);
        *--p = '/';
    }
    if (i == 0)
        memcpy(path, "/", 2);
    return path;
}

/* The steps that the search has reached; the first is the root. */
struct path_search {
    struct path_step *step;
    size_t n, room;
    struct idset visited;
};

static int step_add(struct path_search *s, uint64_t id, size_t parent, const char *name, size_t len)
{
    char *copy = mem_strndup(name, len);

    if (!copy || VEC_ROOM(s->step, s->n, s->room, 1) != 0) {
        mem_free(copy);
        return fail_nomem();
    }
    s->step[s->n++] = (struct path_step){id, parent, copy};
    return 0;
}

/* Adds the members of step number i that no step has led to before. */
static int steps_below(drep_file *f, struct path_search *s, size_t i)
{
    struct link_walk w;
    bool first;
    int err;

    link_walk_begin(&w, f, s->step[i].id);
    while (!(err = link_walk_hard(&w))) {
        err = idset_mark(&s->visited, w.link.object, &first);
        if (!err && first)
            err = step_add(s, w.link.object, i, (const char *)w.key.p + LINK_NAME_AT,
                           w.key.len - LINK_NAME_AT);
        if (err)
            break;
    }
    return link_walk_end(&w, err);
}

/* *found: the address of the dimension if it is one of this step's group, else left alone. */
static int dimension_below(drep_file *f, const struct path_search *s, size_t i, uint64_t id,
                           char **found)
{
    struct dim_walk w;
    char *group, *name;
    int err;

    dim_walk_begin(&w, f, s->step[i].id);
    while (!(err = dim_walk_next(&w)))
        if (w.rec.kind != FMT_LATER && w.rec.object == id)
            break;
    if (!err) {
        group = path_of(s->step, i);
        name = mem_strndup((const char *)w.key.p + DIM_NAME_AT, w.key.len - DIM_NAME_AT);
        err = !group || !name ? fail_nomem() : path_dimension_address(f, group, name, id, found);
        mem_free(group);
        mem_free(name);
    }
    return dim_walk_end(&w, err);
}

int object_path(drep_file *f, uint64_t id, char **path)
{
    struct path_search s = {0};
    struct object_head head;
    char *found = NULL;
    bool dimension = head_load(f, id, &head) == 0 && head.kind == FMT_DIMENSION;
    int err = step_add(&s, FMT_OBJECT_ROOT, 0, "", 0);

    for (size_t i = 0; !err && i < s.n; i++) {
        if (dimension) {
            err = dimension_below(f, &s, i, id, &found);
            if (found)
                break;
        } else if (s.step[i].id == id) {
            found = path_of(s.step, i);
            err = !found ? fail_nomem() : 0;
            break;
        }
        if (!err)
            err = steps_below(f, &s, i);
    }
    if (!err && !found)
        err = fail(DREP_ERR_NOT_FOUND, "no path leads to object %llu", (unsigned long long)id);
    for (size_t i = 0; i < s.n; i++)
        mem_free(s.step[i].name);
    mem_free(s.step);
    idset_release(&s.visited);
    if (!err)
        *path = found;
    return err;
}

int drep_object_path(drep_file *file, uint64_t id, char **path)
{
    int err = read_begin(file);

    if (err)
        return err;
    return read_end(file, !path ? fail(DREP_ERR_ARG, "drep_object_path: null argument")
                                : object_path(file, id, path));
}
