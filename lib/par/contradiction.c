/* contradiction.c - messages about changes of ranks that cannot both be in the file. */
/* SPDX-License-Identifier: MIT */
#include "par/contradiction.h"

#include "base/mem.h"
#include "name/find.h"

#include <stdio.h>
#include <string.h>

int earlier_rank(struct merging *m, const struct change *e, uint64_t id)
{
    struct key key = {.len = e->key_len};

    memcpy(key.p, e->key, e->key_len);
    for (const struct changes *c = m->all; c < m->c; c++) {
        const struct change *theirs;

        key_set_object(&key, own_id(m, c, id));
        theirs = changes_find(c, key.p, key.len);
        if (theirs && (id >= m->first_new || has_changed(m, theirs)))
            return c->rank;
    }
    return 0;
}

/* ---- names ---- */

/* One path of an object: all ranks know that of the last commit. */
static int path_of(const struct merging *m, uint64_t id, char **path)
{
    return object_path(m->last && id < m->first_new ? m->last : m->f, id, path);
}

/* The path of an entry of a group. */
static int path_in(const struct merging *m, const struct change *e, uint64_t group, char **path)
{
    const char mark = change_tag(e) == FMT_TAG_DIM ? '#' : '/';
    size_t n = e->key_len - FMT_KEY_HEAD, len;
    char *above;
    int err = path_of(m, group, &above);

    if (err)
        return err;
    len = strlen(above);
    if (len > 0 && above[len - 1] == '/' && mark == '/')
        len--;
    *path = mem_alloc(len + n + 2);
    if (*path) {
        memcpy(*path, above, len);
        (*path)[len] = mark;
        memcpy(*path + len + 1, e->key + FMT_KEY_HEAD, n);
        (*path)[len + 1 + n] = '\0';
    }
    mem_free(above);
    return *path ? 0 : fail_nomem();
}

static const char *kind_name(const struct link_rec *link)
{
    static const char *const objects[] = {"an object of a newer version", "a group", "a dataset",
                                          "a named datatype", "a dimension"};

    if (link->kind == FMT_SOFT)
        return "a soft link";
    if (link->kind == FMT_EXTERNAL)
        return "an external link";
    if (link->kind != FMT_HARD || link->object_kind > FMT_DIMENSION)
        return objects[0];
    return objects[link->object_kind];
}

int contradict_name(struct merging *m, const struct change *e, uint64_t group,
                    const struct link_rec *theirs, const struct link_rec *own)
{
    int first = earlier_rank(m, e, group), second = m->c->rank, err;
    char *path = NULL;

    if ((err = path_in(m, e, group, &path)))
        return err;
    if (!theirs || !own)
        err = fail(DREP_ERR_NOT_SAME, "%s: rank %d has removed it, rank %d has put %s there", path,
                   theirs ? second : first, theirs ? first : second,
                   kind_name(theirs ? theirs : own));
    else if (strcmp(kind_name(theirs), kind_name(own)) != 0)
        err = fail(DREP_ERR_NOT_SAME, "%s: rank %d has made %s, rank %d %s", path, first,
                   kind_name(theirs), second, kind_name(own));
    else
        err = fail(DREP_ERR_NOT_SAME, "%s: ranks %d and %d have each made another %s", path, first,
                   second, strchr(kind_name(own), ' ') + 1);
    mem_free(path);
    return err;
}

int contradict_circle(struct merging *m, const struct change *e, uint64_t group)
{
    char *path = NULL;
    int first = m->all->rank, err = path_in(m, e, group, &path);

    /* Some earlier rank has moved a group. */
    for (const struct changes *c = m->all; c < m->c; c++)
        for (size_t i = 0; i < c->n; i++)
            if (change_tag(&c->entry[i]) == FMT_TAG_LINK && !c->entry[i].value)
                first = c->rank;
    if (!err)
        err = fail(DREP_ERR_NOT_SAME,
                   "%s: by moves of ranks %d and %d the group would be its own ancestor", path,
                   first, m->c->rank);
    mem_free(path);
    return err;
}

/* ---- objects ---- */

int contradict_made(struct merging *m, uint64_t id, const char *what)
{
    struct change object = {.key_len = FMT_KEY_HEAD};
    struct key key;
    char *path;
    int err = path_of(m, id, &path);

    if (err)
        return err;
    key_make(&key, id, FMT_TAG_OBJECT);
    object.key = key.p;
    err = fail(DREP_ERR_NOT_SAME, "%s: ranks %d and %d have made it with different %s", path,
               earlier_rank(m, &object, id), m->c->rank, what);
    mem_free(path);
    return err;
}

int contradict_attr(struct merging *m, const struct change *e, uint64_t id,
                    const struct span *theirs)
{
    int first = earlier_rank(m, e, id), second = m->c->rank, n = (int)e->key_len - FMT_KEY_HEAD;
    const char *name = (const char *)e->key + FMT_KEY_HEAD;
    char *path;
    int err = path_of(m, id, &path);

    if (err)
        return err;
    if (theirs->p && e->value)
        err = fail(DREP_ERR_NOT_SAME,
                   "%s: attribute \"%.*s\": ranks %d and %d have given it different values", path,
                   n, name, first, second);
    else
        err = fail(DREP_ERR_NOT_SAME,
                   "%s: attribute \"%.*s\": rank %d has removed it, rank %d has set it", path, n,
                   name, e->value ? first : second, e->value ? second : first);
    mem_free(path);
    return err;
}

int contradict_renamed(struct merging *m, const struct change *e, uint64_t id)
{
    char *path;
    int err = path_of(m, id, &path);

    if (err)
        return err;
    err = fail(DREP_ERR_NOT_SAME,
               "%s: attribute \"%.*s\": ranks %d and %d have renamed or removed it, not both alike",
               path, (int)e->key_len - FMT_KEY_HEAD, (const char *)e->key + FMT_KEY_HEAD,
               earlier_rank(m, e, id), m->c->rank);
    mem_free(path);
    return err;
}

int contradict_element(struct merging *m, const struct object_rec *rec, uint64_t id, int first,
                       int64_t at)
{
    char index[DREP_MAX_RANK * 21 + 1];
    size_t from = sizeof index - 1;
    char *path;
    int err = path_of(m, id, &path);

    if (err)
        return err;
    index[from] = '\0';
    for (int d = rec->rank - 1; d >= 0; d--) { /* the last index first */
        char one[22];
        size_t n = (size_t)snprintf(one, sizeof one, "%s%llu", d > 0 ? "," : "",
                                    (unsigned long long)at % (unsigned long long)rec->len[d]);

        memcpy(index + (from -= n), one, n);
        at /= (int64_t)rec->len[d];
    }
    err = fail(DREP_ERR_NOT_SAME, "%s: ranks %d and %d have given element (%s) different values",
               path, first, m->c->rank, index + from);
    mem_free(path);
    return err;
}

int contradict_both(struct merging *m, const struct change *e, uint64_t id, const char *did)
{
    char *path;
    int err = path_of(m, id, &path);

    if (err)
        return err;
    err = fail(DREP_ERR_NOT_SAME, "%s: ranks %d and %d have %s", path, earlier_rank(m, e, id),
               m->c->rank, did);
    mem_free(path);
    return err;
}

int contradict_deeds(struct merging *m, uint64_t id, int first, const char *did, int second,
                     const char *other)
{
    char *path;
    int err = path_of(m, id, &path);

    if (err)
        return err;
    err = fail(DREP_ERR_NOT_SAME, "%s: rank %d has %s, rank %d has %s", path, first, did, second,
               other);
    mem_free(path);
    return err;
}
