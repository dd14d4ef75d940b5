/* object.c - objects, paths and links. */
#include "base/error.h"
#include "base/mem.h"
#include "base/rwlock.h"
#include "name/data.h"

#include <string.h>

enum { SOFT_MAX = 32 };

static void object_key(struct key *key, uint64_t id)
{
    key_make(key, id, FMT_TAG_OBJECT);
}

void object_release(struct object *o)
{
    buf_release(&o->bytes);
}

/* Opens the record of an object at its bytes. */
static int record_peek(drep_file *f, uint64_t id, struct peek *peek)
{
    struct key key;
    int err;

    object_key(&key, id);
    err = tree_peek(f->st, &key, peek);
    if (err == DREP_ERR_NOT_FOUND)
        return fail(DREP_ERR_FORMAT, "object %llu is not in the file", (unsigned long long)id);
    return err;
}

static int record_doubt(uint64_t id, uint8_t kind, const struct in *in, int err)
{
    if (err != 0)
        return fail(err, "object %llu: %s at byte %zu of its record", (unsigned long long)id,
                    in->why, in->err_at);
    if (id == FMT_OBJECT_ROOT && kind != FMT_GROUP)
        return fail(DREP_ERR_FORMAT, "object 1, the root, is not a group");
    return 0;
}

int object_load(drep_file *f, uint64_t id, struct object *o)
{
    struct peek peek;
    struct in in;
    int err = record_peek(f, id, &peek);

    if (err != 0)
        return err;
    err = buf_set(&o->bytes, peek.p, peek.len);
    tree_peeked(&peek);
    if (err != 0)
        return err;
    in_init(&in, o->bytes.p, o->bytes.len);
    err = object_get(&in, &o->rec);
    err = record_doubt(id, o->rec.kind, &in, err);
    if (err == 0)
        o->id = id;
    return err;
}

int head_load(drep_file *f, uint64_t id, struct object_head *h)
{
    struct peek peek;
    struct in in;
    int err = record_peek(f, id, &peek);

    if (err != 0)
        return err;
    in_init(&in, peek.p, peek.len);
    err = object_head_get(&in, h);
    err = record_doubt(id, h->kind, &in, err);
    tree_peeked(&peek);
    return err;
}

/* Of a record that is too long for a leaf. */
static int far_edited(drep_file *f, const struct head_edit *e)
{
    struct object o = {0};
    int err = object_load(f, e->id, &o);

    o.rec.links = e->h.links;
    o.rec.next_attr = e->h.next_attr;
    o.rec.next_link = e->h.next_link;
    o.rec.members = e->h.members;
    if (err == 0)
        err = object_store(f, e->id, &o.rec);
    object_release(&o);
    return err;
}

int head_edit(drep_file *f, uint64_t id, struct head_edit *e)
{
    struct key key;
    struct in in;
    size_t len;
    int err;

    e->id = id;
    e->value = NULL;
    object_key(&key, id);
    err = tree_edit(f->st, &key, &e->value, &len);
    if (err == DREP_ERR_NOT_FOUND)
        return head_load(f, id, &e->h);
    if (err != 0)
        return err;
    in_init(&in, e->value, len);
    err = object_head_get(&in, &e->h);
    return record_doubt(id, e->h.kind, &in, err);
}

int head_edited(drep_file *f, const struct head_edit *e)
{
    if (e->value == NULL)
        return far_edited(f, e);
    object_head_put(e->value + FMT_HEAD_AT, &e->h);
    return 0;
}

int object_store(drep_file *f, uint64_t id, const struct object_rec *rec)
{
    struct buf *b = &f->op.scratch[0];
    struct key key;
    struct out out;
    int err;

    buf_out(b, &out);
    object_put(&out, rec);
    err = buf_done(b, &out);
    object_key(&key, id);
    return err != 0 ? err : tree_put(f->st, &key, b->p, b->len);
}

/* ---- links ---- */

static int link_key(struct key *key, uint64_t group, const char *name, size_t len)
{
    key_make(key, group, FMT_TAG_LINK);
    if (len > FMT_NAME_MAX)
        return fail(DREP_ERR_NAME, "a name of %zu bytes is longer than %d", len, FMT_NAME_MAX);
    key_add_bytes(key, name, len);
    return 0;
}

/* What *link points to holds until tree_peeked(). */
static int link_peek(drep_file *f, uint64_t group, const char *name, size_t len,
                     struct link_rec *link, struct peek *peek)
{
    struct key key;
    struct in in;
    int err = link_key(&key, group, name, len);

    if (err == 0)
        err = tree_peek(f->st, &key, peek);
    if (err != 0)
        return err;
    in_init(&in, peek->p, peek->len);
    err = link_get(&in, link);
    if (err != 0) {
        tree_peeked(peek);
        return fail(err, "link \"%.*s\": %s", (int)len, name, in.why);
    }
    return 0;
}

/* The same with a copy of it in bytes. */
static int link_find(drep_file *f, uint64_t group, const char *name, size_t len,
                     struct link_rec *link, struct buf *bytes)
{
    struct peek peek;
    struct in in;
    int err = link_peek(f, group, name, len, link, &peek);

    if (err != 0)
        return err;
    err = buf_set(bytes, peek.p, peek.len);
    tree_peeked(&peek);
    in_init(&in, bytes->p, bytes->len);
    return err != 0 ? err : link_get(&in, link);
}

static int link_add(drep_file *f, uint64_t group, const char *name, struct link_rec *link)
{
    struct buf *b = &f->op.scratch[0];
    size_t len = strlen(name);
    struct head_edit e;
    struct key key;
    struct out out;
    int err = name_check((const uint8_t *)name, len);

    if (err != 0)
        return fail(DREP_ERR_NAME, "\"%s\" is not a valid name", name);
    if ((err = head_edit(f, group, &e)) != 0)
        return err;
    if (e.h.next_link == UINT64_MAX)
        return fail(DREP_ERR_LIMIT, "a group can be given no more links");
    link->index = e.h.next_link++;
    e.h.members++;
    if ((err = head_edited(f, &e)) != 0)
        return err;
    buf_out(b, &out);
    link_put(&out, link);
    err = buf_done(b, &out);
    if (err == 0)
        err = link_key(&key, group, name, len);
    if (err == 0)
        err = tree_add(f->st, &key, b->p, b->len);
    if (err == DREP_ERR_EXISTS)
        return fail(err, "\"%s\" exists already", name);
    if (err != 0)
        return err;
    key_make(&key, group, FMT_TAG_LINK_ORDER);
    key_add_u64(&key, link->index);
    return tree_put(f->st, &key, name, len);
}

static int link_drop(drep_file *f, uint64_t group, const char *name, const struct link_rec *link)
{
    struct head_edit e;
    struct key key;
    int err = link_key(&key, group, name, strlen(name));

    paths_clear(f);
    if (err == 0)
        err = tree_del(f->st, &key);
    key_make(&key, group, FMT_TAG_LINK_ORDER);
    key_add_u64(&key, link->index);
    if (err == 0)
        err = tree_del(f->st, &key);
    if (err == DREP_ERR_NOT_FOUND)
        return fail(DREP_ERR_FORMAT, "link \"%s\" lacks one of its entries", name);
    if (err == 0)
        err = head_edit(f, group, &e);
    if (err != 0)
        return err;
    e.h.members--;
    return head_edited(f, &e);
}

int object_link(drep_file *f, uint64_t group, const char *name, struct object_rec *rec,
                uint64_t *id)
{
    struct link_rec link = {.kind = FMT_HARD};
    int err;

    rec->links = 1;
    err = store_new_objects(f->st, 1, &link.object);
    if (err == 0)
        err = link_add(f, group, name, &link);
    if (err == 0)
        err = object_store(f, link.object, rec);
    if (err == 0)
        *id = link.object;
    return err;
}

int object_link_to(drep_file *f, uint64_t group, const char *name, uint64_t id)
{
    struct link_rec link = {.kind = FMT_HARD, .object = id};

    return link_add(f, group, name, &link);
}

int link_free(drep_file *f, uint64_t group, const char *name)
{
    struct key key;
    int err = name_check((const uint8_t *)name, strlen(name));

    if (err != 0)
        return fail(DREP_ERR_NAME, "\"%s\" is not a valid name", name);
    err = link_key(&key, group, name, strlen(name));
    if (err == 0)
        err = tree_get(f->st, &key, NULL);
    if (err == 0)
        return fail(DREP_ERR_EXISTS, "\"%s\" exists already", name);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* ---- paths ---- */

/* The next name of a path: skips slashes, gives its length, 0 at the end. */
static size_t next_name(const char **p)
{
    while (**p == '/')
        ++*p;
    return strcspn(*p, "/");
}

/* `rest` begins behind a soft link's name: the path to go on with. */
static int splice(const struct span *target, const char *rest, char **path)
{
    size_t n = strlen(rest);
    char *s = mem_alloc(target->len + n + 2);

    if (s == NULL)
        return fail(DREP_ERR_NOMEM, "out of memory");
    memcpy(s, target->p, target->len);
    s[target->len] = '/';
    memcpy(s + target->len + 1, rest, n + 1);
    mem_free(*path);
    *path = s;
    return 0;
}

/* Why a name is not found in an object: mostly it is a group without it. */
static int not_in(drep_file *f, uint64_t id, const char *path, const char *name, size_t len)
{
    struct object_head head;
    int err = head_load(f, id, &head);

    if (err != 0)
        return err;
    if (head.kind != FMT_GROUP)
        return fail(DREP_ERR_NOT_FOUND, "%s: no \"%.*s\": its parent is not a group", path,
                    (int)len, name);
    return fail(DREP_ERR_NOT_FOUND, "%s: no object \"%.*s\"", path, (int)len, name);
}

/* The path leaves the file here. */
static int cross(const struct link_rec *link, const char *rest, struct crossing *x)
{
    char *file = mem_strndup((const char *)link->file.p, link->file.len), *path = NULL;
    int err = file == NULL ? DREP_ERR_NOMEM : splice(&link->path, rest, &path);

    if (err == 0 && strlen(file) != link->file.len)
        err = fail(DREP_ERR_FORMAT, "the file name of an external link contains a NUL");
    if (err != 0) {
        mem_free(file);
        mem_free(path);
        return err;
    }
    x->file = file;
    x->path = path;
    return 0;
}

/* Walks from the object *id.  x: where it leaves the file, and then *id means nothing; NULL:
 * it must not. */
static int walk_path(drep_file *f, const char *path, uint64_t *id, struct crossing *x)
{
    const char *p = path;
    uint64_t at = *id;
    char *own = NULL;
    int soft = 0, err = 0;
    size_t n;

    while (err == 0 && (n = next_name(&p)) > 0) {
        struct link_rec link;
        struct peek peek;

        err = link_peek(f, at, p, n, &link, &peek);
        if (err == DREP_ERR_NOT_FOUND)
            err = not_in(f, at, path, p, n);
        if (err != 0)
            break;
        p += n;
        if (link.kind == FMT_HARD) {
            at = link.object;
        } else if (link.kind == FMT_EXTERNAL && x != NULL) {
            err = cross(&link, p, x);
            tree_peeked(&peek);
            break;
        } else if (link.kind == FMT_EXTERNAL) {
            err = fail(DREP_ERR_UNSUPPORTED_OPERATION, "%s: leads to another file, \"%.*s\"%s",
                       path, (int)link.file.len, (const char *)link.file.p,
                       f->linked.follow ? "" : "; the hint drep_external makes reading follow it");
        } else if (++soft > SOFT_MAX) {
            err = fail(DREP_ERR_LIMIT, "%s: more than %d soft links", path, SOFT_MAX);
        } else {
            err = splice(&link.path, p, &own);
            p = own;
            if (err == 0 && *p == '/')
                at = FMT_OBJECT_ROOT;
        }
        tree_peeked(&peek);
    }
    mem_free(own);
    if (err == 0)
        *id = at;
    return err;
}

/* The group that the first `len` bytes lead to, from now on known; false if they do not, or
 * are too many to be kept. */
static bool group_learn(drep_file *f, const char *path, size_t len, uint64_t *group)
{
    char parent[sizeof f->paths.group.path];
    uint64_t at = FMT_OBJECT_ROOT;

    if (len == 0 || !paths_fit(len))
        return false;
    memcpy(parent, path, len);
    parent[len] = '\0';
    if (walk_path(f, parent, &at, NULL) != 0)
        return false;
    *group = at;
    paths_note_group(f, path, len, at);
    return true;
}

int path_id(drep_file *f, const char *path, uint64_t *id)
{
    const char *slash = path == NULL ? NULL : strrchr(path, '/');
    size_t parent = slash == NULL ? 0 : (size_t)(slash - path);
    uint64_t at, group;
    int err = -1;

    if (path == NULL)
        return fail(DREP_ERR_ARG, "no path");
    at = paths_find(f, path, parent, &group);
    if (at != 0) {
        *id = at;
        return 0;
    }
    if (group != 0 || group_learn(f, path, parent, &group)) {
        at = group;
        err = walk_path(f, slash, &at, NULL);
    }
    /* What is wrong is said of the whole path. */
    if (err != 0) {
        at = FMT_OBJECT_ROOT;
        err = walk_path(f, path, &at, NULL);
    }
    if (err == 0) {
        paths_note(f, path, at);
        *id = at;
    }
    return err;
}

/* What else is wrong with the path, the call itself will say. */
int path_cross(drep_file *f, const char *path, struct crossing *x)
{
    uint64_t id = FMT_OBJECT_ROOT;
    int err;

    *x = (struct crossing){NULL, NULL};
    err = walk_path(f, path, &id, x);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int path_find(drep_file *f, const char *path, struct object *o)
{
    uint64_t id;
    int err = path_id(f, path, &id);

    return err != 0 ? err : object_load(f, id, o);
}

static int make_group(drep_file *f, uint64_t parent, const char *name, uint64_t *id)
{
    struct object_rec rec = {.kind = FMT_GROUP};

    return object_link(f, parent, name, &rec, id);
}

/* A group on the way to a parent. */
static int step_down(drep_file *f, const char *path, const char *part, int parents, uint64_t *group)
{
    struct object_head head;
    uint64_t at = *group;
    int err = walk_path(f, part, &at, NULL);

    if (err == DREP_ERR_NOT_FOUND && parents)
        err = make_group(f, *group, part, &at);
    if (err == 0)
        err = head_load(f, at, &head);
    if (err == 0 && head.kind != FMT_GROUP)
        err = fail(DREP_ERR_KIND, "%s: \"%s\" is not a group", path, part);
    if (err == 0)
        *group = at;
    return err;
}

int path_parent(drep_file *f, const char *path, int parents, uint64_t *group, const char **name)
{
    const char *p = path;
    int err = 0;

    if (path == NULL)
        return fail(DREP_ERR_ARG, "no path");
    for (*group = FMT_OBJECT_ROOT; err == 0;) {
        char part[FMT_NAME_MAX + 1];
        size_t n = next_name(&p);
        const char *rest = p + n;

        if (n == 0)
            return fail(DREP_ERR_NAME, "%s: \"%s\" cannot name a new object", path, path);
        if (*rest == '\0') {
            *name = p;
            return 0;
        }
        next_name(&rest);
        if (n > FMT_NAME_MAX || *rest == '\0')
            return fail(DREP_ERR_NAME, "%s: \"%s\" is not a valid path", path, path);
        memcpy(part, p, n);
        part[n] = '\0';
        err = step_down(f, path, part, parents, group);
        p = rest;
    }
    return fail_in(err, "%s", path);
}

/* ---- removal ---- */

int todo_add(struct todo *w, uint64_t id)
{
    if (w->n == w->room) {
        size_t room = w->room == 0 ? 64 : 2 * w->room;
        uint64_t *more = mem_resize(w->id, room, sizeof *more);

        if (more == NULL)
            return fail(DREP_ERR_NOMEM, "out of memory");
        w->id = more;
        w->room = room;
    }
    w->id[w->n++] = id;
    return 0;
}

static uint64_t *met_slot(const struct met *m, uint64_t id)
{
    size_t i = (size_t)(id * 0x9e3779b97f4a7c15u >> 20) & (m->size - 1);

    while (m->slot[i] != 0 && m->slot[i] != id)
        i = (i + 1) & (m->size - 1);
    return &m->slot[i];
}

static int met_grow(struct met *m)
{
    struct met more = {.n = m->n, .size = m->size == 0 ? 64 : 2 * m->size};

    more.slot = mem_zalloc(more.size, sizeof *more.slot);
    if (more.slot == NULL)
        return fail(DREP_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < m->size; i++)
        if (m->slot[i] != 0)
            *met_slot(&more, m->slot[i]) = m->slot[i];
    mem_free(m->slot);
    *m = more;
    return 0;
}

int object_next(drep_file *f, uint64_t after, uint64_t *id)
{
    struct tree_walk w;
    struct key key;
    int err;

    *id = 0;
    if (after == UINT64_MAX)
        return 0;
    key_make(&key, after + 1, 0);
    tree_walk(&w, f->st, &key, 0);
    err = tree_next(&w, &key, NULL);
    if (err == 0)
        *id = key_object(key.p);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int met_add(struct met *m, uint64_t id, bool *first)
{
    uint64_t *slot;
    int err = m->n >= m->size / 2 ? met_grow(m) : 0;

    if (err != 0)
        return err;
    slot = met_slot(m, id);
    *first = id != 0 && *slot == 0;
    *slot = id;
    m->n += *first;
    return 0;
}

/* One hard link less; the object joins the work when it was the last. */
static int unlink_one(drep_file *f, uint64_t id, struct todo *w)
{
    struct object_head head;
    struct head_edit e;
    int err = head_load(f, id, &head);

    if (err != 0 || head.links <= 1)
        return err != 0 ? err : todo_add(w, id);
    if ((err = head_edit(f, id, &e)) != 0)
        return err;
    e.h.links--;
    return head_edited(f, &e);
}

/* Removes every entry of the object whose key has `prefix` bytes in common with its first one of
 * this tag. */
static int drop_entries(drep_file *f, uint64_t id, uint8_t tag, size_t prefix)
{
    struct tree_walk w;
    struct key key;
    int err;

    key_make(&key, id, tag);
    tree_walk(&w, f->st, &key, prefix);
    while ((err = tree_next(&w, &key, NULL)) == 0)
        if ((err = tree_del(f->st, &key)) != 0)
            break;
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int drop_tag(drep_file *f, uint64_t id, uint8_t tag)
{
    return drop_entries(f, id, tag, 9);
}

static int drop_members(drep_file *f, uint64_t id, struct todo *work)
{
    struct buf value = {0};
    struct tree_walk w;
    struct key key;
    int err;

    key_make(&key, id, FMT_TAG_LINK);
    tree_walk(&w, f->st, &key, 9);
    while ((err = tree_next(&w, &key, &value)) == 0) {
        struct link_rec link;
        struct in in;

        in_init(&in, value.p, value.len);
        err = link_get(&in, &link);
        if (err == 0 && link.kind == FMT_HARD)
            err = unlink_one(f, link.object, work);
        if (err != 0)
            break;
    }
    buf_release(&value);
    if (err != DREP_ERR_NOT_FOUND)
        return err;
    err = drop_tag(f, id, FMT_TAG_LINK);
    return err != 0 ? err : drop_tag(f, id, FMT_TAG_LINK_ORDER);
}

static int drop_dataset(drep_file *f, const struct object *o)
{
    struct chunks cs;
    int err;

    for (int d = 0; o->rec.has_dims && o->rec.rank != FMT_RANK_NULL && d < o->rec.rank; d++) {
        struct key key;

        if (o->rec.dim[d] == 0)
            continue;
        key_make(&key, o->rec.dim[d], FMT_TAG_USER);
        key_add_u64(&key, o->id);
        key_add_u8(&key, (uint8_t)d);
        err = tree_del(f->st, &key);
        if (err != 0 && err != DREP_ERR_NOT_FOUND)
            return err;
    }
    chunks_of(f, o->id, &o->rec, 1, true, "dataset", &cs);
    err = chunk_remove_all(&cs);
    chunks_release(&cs);
    if (err == 0)
        err = drop_tag(f, o->id, FMT_TAG_DATA);
    return err;
}

/* The datasets that use a dimension which goes have none in its place. */
static int drop_uses(drep_file *f, uint64_t id)
{
    struct object o = {0};
    struct tree_walk w;
    struct key key;
    int err;

    key_make(&key, id, FMT_TAG_USER);
    tree_walk(&w, f->st, &key, 9);
    while ((err = tree_next(&w, &key, NULL)) == 0) {
        uint64_t dataset;
        uint8_t d;

        if (key.len != 18)
            continue;
        dataset = key_u64(key.p + 9);
        d = key.p[17];
        if ((err = object_load(f, dataset, &o)) != 0)
            break;
        if (o.rec.kind != FMT_DATASET || !o.rec.has_dims || d >= o.rec.rank || o.rec.dim[d] != id)
            continue;
        o.rec.dim[d] = 0;
        if ((err = object_store(f, dataset, &o.rec)) != 0)
            break;
    }
    object_release(&o);
    return err == DREP_ERR_NOT_FOUND ? drop_tag(f, id, FMT_TAG_USER) : err;
}

static int drop_one(drep_file *f, uint64_t id, struct todo *w)
{
    struct object o = {0};
    int err = object_load(f, id, &o);

    f->op.removals++;
    if (err == 0 && o.rec.kind == FMT_GROUP)
        err = drop_members(f, id, w);
    if (err == 0 && o.rec.kind == FMT_DATASET)
        err = drop_dataset(f, &o);
    if (err == 0 && o.rec.kind == FMT_DIMENSION)
        err = drop_uses(f, id);
    if (err == 0 && (o.rec.kind == FMT_DATASET || o.rec.kind == FMT_TYPE))
        err = ftype_unuse(f, o.rec.type);
    if (err == 0)
        err = attrs_remove(f, id);
    if (err == 0) /* also what only a later version knows */
        err = drop_entries(f, id, 0, 8);
    object_release(&o);
    return err;
}

int object_remove(drep_file *f, uint64_t id)
{
    struct todo w = {0};
    int err = unlink_one(f, id, &w);

    while (err == 0 && w.n > 0)
        err = drop_one(f, w.id[--w.n], &w);
    mem_free(w.id);
    return err;
}

/* ---- public: objects ---- */

int drep_stat(drep_file *file, const char *path, drep_objinfo *out)
{
    struct object o = {0};
    int64_t attrs = 0;
    struct elsewhere to;
    int err = path_elsewhere(file, path, &to);

    if (err != 0)
        return err;
    if (to.file != NULL)
        return elsewhere_done(&to, drep_stat(to.file, to.path, out));
    if ((err = read_begin(file)) != 0)
        return err;
    err = out == NULL ? fail(DREP_ERR_ARG, "drep_stat: null argument") : path_find(file, path, &o);
    if (err == 0)
        err = attrs_count(file, o.id, &attrs);
    if (err == 0) {
        memset(out, 0, sizeof *out);
        out->kind = o.rec.kind;
        out->id = o.id;
        out->links = o.rec.links;
        out->attrs = attrs;
        if (o.rec.kind == FMT_GROUP)
            out->members = (int64_t)o.rec.members;
        if (o.rec.kind == FMT_DIMENSION) {
            out->len = (int64_t)o.rec.len[0];
            out->unlimited = o.rec.unlimited;
        }
    }
    object_release(&o);
    return read_end(file, err);
}

int drep_group_create(drep_file *file, const char *path, int parents)
{
    struct object_rec rec = {.kind = FMT_GROUP};
    const char *name;
    uint64_t group, id;
    int err = write_begin(file);

    if (err != 0)
        return err;
    err = path_parent(file, path, parents, &group, &name);
    if (err == 0)
        err = object_link(file, group, name, &rec, &id);
    return write_end(file, err);
}

int drep_dimension_create(drep_file *file, const char *path, int64_t len, int unlimited)
{
    struct object_rec rec = {.kind = FMT_DIMENSION, .unlimited = unlimited != 0};
    const char *name;
    uint64_t group, id;
    int err = write_begin(file);

    if (err != 0)
        return err;
    err = path_parent(file, path, 0, &group, &name);
    if (err == 0 && (len < 0 || len > TYPE_SIZE_MAX))
        err = fail(DREP_ERR_DIMS, "%s: length %lld", path, (long long)len);
    rec.len[0] = (uint64_t)len;
    if (err == 0)
        err = object_link(file, group, name, &rec, &id);
    return write_end(file, err);
}

int drep_type_commit(drep_file *file, const char *path, const drep_type *type)
{
    struct object_rec rec = {.kind = FMT_TYPE};
    const char *name;
    uint64_t group, id;
    int err = write_begin(file);

    if (err != 0)
        return err;
    if (type == NULL)
        err = fail(DREP_ERR_ARG, "drep_type_commit: no type");
    if (err == 0)
        err = path_parent(file, path, 0, &group, &name);
    if (err == 0)
        err = ftype_use_made(file, type, &rec.type);
    if (err == 0)
        err = object_link(file, group, name, &rec, &id);
    return write_end(file, err);
}

int drep_type_open(drep_file *file, const char *path, drep_type **out)
{
    struct object o = {0};
    struct ftype *t;
    struct elsewhere to;
    int err = path_elsewhere(file, path, &to);

    if (err != 0)
        return err;
    if (to.file != NULL)
        return elsewhere_done(&to, drep_type_open(to.file, to.path, out));
    if ((err = read_begin(file)) != 0)
        return err;
    err = out == NULL ? fail(DREP_ERR_ARG, "drep_type_open: null argument")
                      : path_find(file, path, &o);
    if (err == 0 && o.rec.kind != FMT_TYPE)
        err = fail(DREP_ERR_KIND, "%s: not a named datatype", path);
    if (err == 0)
        err = ftype_get(file, o.rec.type, false, &t);
    if (err == 0)
        *out = drep_type_ref(t->type);
    object_release(&o);
    return read_end(file, err);
}

/* ---- public: links ---- */

/* Is `needle` reachable from group `top` through hard links?  (Then top must not come
 * below needle.) */
static int reaches(drep_file *f, uint64_t top, uint64_t needle, int *yes)
{
    struct buf value = {0};
    struct todo work = {0};
    struct met met = {0};
    bool first;
    int err = todo_add(&work, top);

    *yes = 0;
    while (err == 0 && work.n > 0 && !*yes) {
        uint64_t id = work.id[--work.n];
        struct tree_walk w;
        struct key key;

        if (id == needle) {
            *yes = 1;
            break;
        }
        key_make(&key, id, FMT_TAG_LINK);
        tree_walk(&w, f->st, &key, 9);
        while ((err = tree_next(&w, &key, &value)) == 0) {
            struct link_rec link;
            struct in in;

            in_init(&in, value.p, value.len);
            if ((err = link_get(&in, &link)) != 0)
                break;
            if (link.kind != FMT_HARD)
                continue;
            err = met_add(&met, link.object, &first);
            if (err == 0 && first)
                err = todo_add(&work, link.object);
            if (err != 0)
                break;
        }
        if (err == DREP_ERR_NOT_FOUND)
            err = 0;
    }
    mem_free(met.slot);
    mem_free(work.id);
    buf_release(&value);
    return err;
}

static int link_hard(drep_file *f, uint64_t group, const char *name, uint64_t target)
{
    struct link_rec link = {.kind = FMT_HARD, .object = target};
    struct object_head head;
    struct head_edit e;
    int circle = 0, err = head_load(f, target, &head);

    if (err == 0 && head.kind == FMT_GROUP)
        err = reaches(f, target, group, &circle);
    if (err == 0 && circle)
        err = fail(DREP_ERR_ARG, "\"%s\": a group would be its own ancestor", name);
    if (err == 0)
        err = link_add(f, group, name, &link);
    if (err == 0)
        err = head_edit(f, target, &e);
    if (err != 0)
        return err;
    if (e.h.links == UINT32_MAX)
        return fail(DREP_ERR_LIMIT, "\"%s\": no object has more hard links than 2^32 - 1", name);
    e.h.links++;
    return head_edited(f, &e);
}

int drep_link_hard(drep_file *file, const char *target, const char *path)
{
    uint64_t id, group;
    const char *name;
    int err = write_begin(file);

    if (err != 0)
        return err;
    err = path_id(file, target, &id);
    if (err == 0)
        err = path_parent(file, path, 0, &group, &name);
    if (err == 0)
        err = link_hard(file, group, name, id);
    return write_end(file, err);
}

static int link_text(drep_file *file, const char *path, struct link_rec *link)
{
    uint64_t group;
    const char *name;
    int err = write_begin(file);

    if (err != 0)
        return err;
    if (link->path.p == NULL || (link->kind == FMT_EXTERNAL && link->file.p == NULL))
        err = fail(DREP_ERR_ARG, "a link without a target");
    else if (link->path.len == 0 || link->path.len > UINT16_MAX || link->file.len > UINT16_MAX)
        err = fail(DREP_ERR_NAME, "a link's target of %zu bytes", link->path.len);
    else if (text_check(link->path.p, link->path.len) != 0 ||
             (link->kind == FMT_EXTERNAL &&
              (link->file.len == 0 || text_check(link->file.p, link->file.len) != 0)))
        err = fail(DREP_ERR_NAME, "a link's target is not UTF-8");
    if (err == 0)
        err = path_parent(file, path, 0, &group, &name);
    if (err == 0)
        err = link_add(file, group, name, link);
    return write_end(file, err);
}

static struct span span_of(const char *s)
{
    return (struct span){(const uint8_t *)s, s == NULL ? 0 : strlen(s)};
}

int drep_link_soft(drep_file *file, const char *target, const char *path)
{
    struct link_rec link = {.kind = FMT_SOFT, .path = span_of(target)};

    return link_text(file, path, &link);
}

int drep_link_external(drep_file *file, const char *other_file, const char *target,
                       const char *path)
{
    struct link_rec link = {
        .kind = FMT_EXTERNAL, .path = span_of(target), .file = span_of(other_file)};

    return link_text(file, path, &link);
}

int drep_link_remove(drep_file *file, const char *path)
{
    struct buf bytes = {0};
    struct link_rec link;
    const char *name;
    uint64_t group;
    int err = write_begin(file);

    if (err != 0)
        return err;
    err = path_parent(file, path, 0, &group, &name);
    if (err == 0) {
        err = link_find(file, group, name, strlen(name), &link, &bytes);
        if (err == DREP_ERR_NOT_FOUND)
            fail(err, "%s: no such object", path);
    }
    if (err == 0)
        err = link_drop(file, group, name, &link);
    if (err == 0 && link.kind == FMT_HARD)
        err = object_remove(file, link.object);
    buf_release(&bytes);
    return write_end(file, err);
}

static int link_move(drep_file *f, const char *from, const char *to)
{
    const char *old_name, *new_name;
    struct buf bytes = {0};
    struct link_rec link;
    uint64_t a, b;
    int circle = 0;
    int err = path_parent(f, from, 0, &a, &old_name);

    if (err == 0) {
        err = link_find(f, a, old_name, strlen(old_name), &link, &bytes);
        if (err == DREP_ERR_NOT_FOUND)
            fail(err, "%s: no such object", from);
    }
    if (err == 0)
        err = path_parent(f, to, 0, &b, &new_name);
    if (err == 0 && link.kind == FMT_HARD)
        err = reaches(f, link.object, b, &circle);
    if (err == 0 && circle)
        err = fail(DREP_ERR_ARG, "%s: a group cannot move below itself", from);
    if (err == 0)
        err = link_drop(f, a, old_name, &link);
    if (err == 0)
        err = link_add(f, b, new_name, &link);
    buf_release(&bytes);
    return err;
}

int drep_link_move(drep_file *file, const char *from, const char *to)
{
    int err = write_begin(file);

    return err != 0 ? err : write_end(file, link_move(file, from, to));
}

/* ---- public: listing ---- */

/* *theirs: what the callback gave. */
static int list_one(drep_file *f, const char *name, const struct link_rec *link, drep_list_fn *fn,
                    void *ctx, int *theirs)
{
    drep_linkinfo info = {.name = name, .link = link->kind};
    char *path = NULL, *file = NULL;
    int err = 0;

    if (link->kind == FMT_HARD) {
        struct object_head head = {0};

        err = head_load(f, link->object, &head);
        info.kind = head.kind;
        info.id = link->object;
        info.links = head.links;
        info.attrs = head.next_attr != 0;
    } else {
        path = mem_strndup((const char *)link->path.p, link->path.len);
        file = link->kind == FMT_EXTERNAL ? mem_strndup((const char *)link->file.p, link->file.len)
                                          : NULL;
        if (path == NULL || (link->kind == FMT_EXTERNAL && file == NULL))
            err = fail(DREP_ERR_NOMEM, "out of memory");
        info.target = path;
        info.target_file = file;
    }
    if (err == 0) {
        /* The callback may use the file: the lock is not held while it runs. */
        rwlock_read_done(&f->lock);
        walk_begin(f);
        *theirs = fn(&info, ctx);
        walk_end();
        err = read_begin(f);
    }
    mem_free(path);
    mem_free(file);
    return err;
}

static int list_next(drep_file *f, struct tree_walk *w, int order, uint64_t group,
                     char name[FMT_NAME_MAX + 1], struct link_rec *link, struct buf *bytes)
{
    struct key key;
    struct in in;
    size_t len;
    int err = tree_next(w, &key, bytes);

    if (err != 0)
        return err;
    if (order == DREP_BY_NAME) {
        len = key.len - 9;
        if (name_check(key.p + 9, len) != 0)
            return fail(DREP_ERR_FORMAT, "invalid link name of %zu bytes", len);
        memcpy(name, key.p + 9, len);
        in_init(&in, bytes->p, bytes->len);
        err = link_get(&in, link);
        if (err != 0)
            return fail(err, "link \"%.*s\": %s", (int)len, name, in.why);
    } else {
        len = bytes->len;
        if (name_check(bytes->p, len) != 0)
            return fail(DREP_ERR_FORMAT, "invalid link name of %zu bytes", len);
        memcpy(name, bytes->p, len);
        err = link_find(f, group, name, len, link, bytes);
        if (err == DREP_ERR_NOT_FOUND)
            return fail(DREP_ERR_FORMAT, "\"%.*s\" is listed but not in its group", (int)len, name);
        if (err != 0)
            return err;
    }
    name[len] = '\0';
    return 0;
}

int drep_list(drep_file *file, const char *group, int order, drep_list_fn *fn, void *ctx)
{
    char name[FMT_NAME_MAX + 1];
    struct object o = {0};
    struct buf bytes = {0};
    struct link_rec link;
    struct tree_walk w;
    struct key key;
    struct elsewhere to;
    bool end = false;
    int err = path_elsewhere(file, group, &to), theirs = 0;

    if (err != 0)
        return err;
    if (to.file != NULL)
        return elsewhere_done(&to, drep_list(to.file, to.path, order, fn, ctx));
    if ((err = read_begin(file)) != 0)
        return err;
    err = fn == NULL ? fail(DREP_ERR_ARG, "drep_list: no callback") : path_find(file, group, &o);
    if (err == 0 && o.rec.kind != FMT_GROUP)
        err = fail(DREP_ERR_KIND, "%s: not a group", group);
    if (err == 0) {
        key_make(&key, o.id, order == DREP_BY_NAME ? FMT_TAG_LINK : FMT_TAG_LINK_ORDER);
        tree_walk(&w, file->st, &key, 9);
        while (err == 0 && theirs == 0 && !end) {
            err = list_next(file, &w, order, o.id, name, &link, &bytes);
            end = err == DREP_ERR_NOT_FOUND;
            if (end)
                err = 0;
            else if (err == 0)
                err = list_one(file, name, &link, fn, ctx, &theirs);
            if (err == 0 && w.st != file->st) { /* the callback returned in a child process */
                key = w.at;
                tree_walk(&w, file->st, &key, 9);
                w.after = 1;
            }
        }
    }
    object_release(&o);
    buf_release(&bytes);
    if (theirs != 0 && err == 0) {
        rwlock_read_done(&file->lock);
        return theirs;
    }
    return read_end(file, err);
}

/* ---- public: the way back from an id to a path ---- */

struct step {
    uint64_t id;
    size_t parent; /* index of the step above */
    char *name;
};

static char *path_of(const struct step *steps, size_t i)
{
    size_t len = 1;
    char *path, *p;

    for (size_t k = i; k != 0; k = steps[k].parent)
        len += strlen(steps[k].name) + 1;
    path = mem_alloc(len + 1);
    if (path == NULL)
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

/* Adds the members of step number i. */
static int steps_below(drep_file *f, struct step **steps, size_t *n, size_t *room, size_t i,
                       struct met *met)
{
    struct buf value = {0};
    struct tree_walk w;
    struct key key;
    bool first;
    int err;

    key_make(&key, (*steps)[i].id, FMT_TAG_LINK);
    tree_walk(&w, f->st, &key, 9);
    while ((err = tree_next(&w, &key, &value)) == 0) {
        struct link_rec link;
        struct in in;
        char *name;

        in_init(&in, value.p, value.len);
        if ((err = link_get(&in, &link)) != 0)
            break;
        if (link.kind != FMT_HARD)
            continue;
        if ((err = met_add(met, link.object, &first)) != 0)
            break;
        if (!first)
            continue;
        if (*n == *room) {
            struct step *more = mem_resize(*steps, 2 * *room, sizeof *more);

            if (more == NULL) {
                err = fail(DREP_ERR_NOMEM, "out of memory");
                break;
            }
            *steps = more;
            *room *= 2;
        }
        name = mem_strndup((const char *)key.p + 9, key.len - 9);
        if (name == NULL) {
            err = fail(DREP_ERR_NOMEM, "out of memory");
            break;
        }
        (*steps)[(*n)++] = (struct step){link.object, i, name};
    }
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int object_path(drep_file *f, uint64_t id, char **path)
{
    size_t n = 1, room = 64;
    struct met met = {0};
    struct step *steps = mem_array(room, sizeof *steps);
    char *found = NULL;
    int err = 0;

    if (steps == NULL)
        return fail(DREP_ERR_NOMEM, "out of memory");
    steps[0] = (struct step){FMT_OBJECT_ROOT, 0, NULL};
    for (size_t i = 0; err == 0 && i < n; i++) {
        if (steps[i].id == id) {
            found = path_of(steps, i);
            err = found == NULL ? fail(DREP_ERR_NOMEM, "out of memory") : 0;
            break;
        }
        err = steps_below(f, &steps, &n, &room, i, &met);
    }
    if (err == 0 && found == NULL)
        err = fail(DREP_ERR_NOT_FOUND, "no path leads to object %llu", (unsigned long long)id);
    for (size_t i = 1; i < n; i++)
        mem_free(steps[i].name);
    mem_free(steps);
    mem_free(met.slot);
    if (err == 0)
        *path = found;
    return err;
}

int drep_object_path(drep_file *file, uint64_t id, char **path)
{
    int err = read_begin(file);

    if (err != 0)
        return err;
    return read_end(file, path == NULL ? fail(DREP_ERR_ARG, "drep_object_path: null argument")
                                       : object_path(file, id, path));
}
