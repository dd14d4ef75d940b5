/* beyond.c - what a damaged file holds beyond the commit that is taken, as objects of their own. */
/* SPDX-License-Identifier: MIT */
#include "txn/beyond.h"

#include "base/error.h"
#include "base/idset.h"
#include "base/mem.h"
#include "base/vec.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/walk.h"

#include <stdio.h>
#include <string.h>

/* Where the name begins in the key of a link or dimension. */
#define NAME_AT ((size_t)FMT_KEY_HEAD)

struct found_object {
    uint64_t id, as; /* in the damaged file; here */
    char *name;      /* NULL: nothing leads to it */
    size_t name_len;
};

/* An entry of a group that the commit does not have: no object says it. */
struct found_entry {
    struct key key;
    struct buf value;
};

struct beyond {
    struct store *st, *found;
    uint64_t sequence;
    drep_finding_fn *fn;
    void *ctx;
    int stop;
    struct found_object *object;
    size_t n, room;
    struct idset number; /* of an object in that list, from 1 on, by its id */
    struct found_entry *entry;
    size_t nentries, entries_room;
    uint64_t group;
    struct key link;       /* of the group, in the root */
    struct object_rec rec; /* of the group */
    struct buf value, other;
};

/* ---- what is new ---- */

static bool is_entry_of_group(const struct key *key)
{
    return key_known(key->p) == FMT_TAG_LINK || key_known(key->p) == FMT_TAG_DIM;
}

/* A group's own record only counts its members. */
static bool is_record_of_group(const struct key *key, const struct buf *value)
{
    struct object_head head;
    struct in in;

    in_init(&in, value->p, value->len);
    return key_known(key->p) == FMT_TAG_OBJECT && object_head_get(&in, &head) == 0 &&
           head.kind == FMT_GROUP;
}

static int object_note(struct beyond *b, uint64_t id)
{
    uintptr_t *number = idset_add(&b->number, id);

    if (!number)
        return DREP_ERR_NOMEM;
    if (*number)
        return 0;
    if (VEC_ROOM(b->object, b->n, b->room, 1))
        return DREP_ERR_NOMEM;
    b->object[b->n++] = (struct found_object){.id = id};
    *number = b->n;
    return 0;
}

static int entry_note(struct beyond *b, const struct key *key)
{
    struct found_entry *e;

    if (VEC_ROOM(b->entry, b->nentries, b->entries_room, 1))
        return DREP_ERR_NOMEM;
    e = &b->entry[b->nentries];
    *e = (struct found_entry){.key = *key};
    if (buf_set(&e->value, b->value.p, b->value.len))
        return DREP_ERR_NOMEM;
    b->nentries++;
    return 0;
}

/* Note the objects of which an entry is new, and new entries of groups; datatypes and names of
 * files are added at once. */
static int find_new_entries(struct beyond *b)
{
    const struct key first = {.len = 0};
    struct tree_walk w;
    struct key key;
    int err;

    tree_walk(&w, b->found, &first, 0);
    while (!(err = tree_next(&w, &key, &b->value))) {
        if (key_object(key.p) == FMT_OBJECT_FILE) {
            err = tree_add(b->st, &key, b->value.p, b->value.len);
            err = err == DREP_ERR_NOMEM ? err : 0;
        } else if (!is_record_of_group(&key, &b->value)) {
            err = tree_get(b->st, &key, &b->other);
            if (err == DREP_ERR_NOMEM)
                break;
            if (!err && b->other.len == b->value.len &&
                memcmp(b->other.p, b->value.p, b->value.len) == 0)
                continue;
            err = is_entry_of_group(&key) ? entry_note(b, &key) : object_note(b, key_object(key.p));
        }
        if (err)
            break;
    }
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* ---- names ---- */

/* Take the names that entries of this tree have for the objects. */
static int names_of(struct beyond *b, struct store *from)
{
    const struct key first = {.len = 0};
    struct tree_walk w;
    struct key key;
    int err;

    tree_walk(&w, from, &first, 0);
    while (!(err = tree_next(&w, &key, &b->value))) {
        struct link_rec link = {0};
        struct dim_rec dim = {0};
        struct found_object *o;
        uintptr_t *number;
        uint64_t id = 0;
        struct in in;

        in_init(&in, b->value.p, b->value.len);
        if (!is_entry_of_group(&key))
            continue;
        if (key_known(key.p) == FMT_TAG_LINK && link_get(&in, &link) == 0 && link.kind == FMT_HARD)
            id = link.object;
        else if (key_known(key.p) == FMT_TAG_DIM && dim_get(&in, &dim) == 0 &&
                 dim.kind == FMT_PLAIN)
            id = dim.object;
        number = id ? idset_find(&b->number, id) : NULL;
        if (!number || name_check(key.p + NAME_AT, key.len - NAME_AT))
            continue;
        o = &b->object[*number - 1];
        if (o->name)
            continue;
        o->name_len = key.len - NAME_AT;
        o->name = mem_strndup((const char *)key.p + NAME_AT, o->name_len);
        if (!o->name)
            return DREP_ERR_NOMEM;
    }
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* The key of an entry of a group under this name, or under it and a number if it is taken. */
static int unused_key(struct beyond *b, uint64_t group, uint8_t tag, const char *name, uint64_t id,
                      struct key *key)
{
    char text[FMT_NAME_MAX + 32];

    for (int turn = 0; turn < 3; turn++) {
        int err;

        if (turn == 0 && name)
            snprintf(text, sizeof(text), "%s", name);
        else if (turn == 1 && name && strlen(name) + 24 < FMT_NAME_MAX)
            snprintf(text, sizeof(text), "%s-%llu", name, (unsigned long long)id);
        else
            snprintf(text, sizeof(text), "object-%llu", (unsigned long long)id);
        key_make(key, group, tag);
        key_add_bytes(key, text, strlen(text));
        err = tree_get(b->st, key, NULL);
        if (err)
            return err == DREP_ERR_NOT_FOUND ? 0 : err;
    }
    return fail(DREP_ERR_EXISTS, "\"%s\" exists already", text);
}

/* ---- the copies ---- */

static int put_entry(struct beyond *b, const struct key *key, struct out *out, struct buf *bytes)
{
    int err = buf_done(bytes, out);

    return err ? err : tree_put(b->st, key, bytes->p, bytes->len);
}

static int put_record(struct beyond *b, uint64_t id, const struct object_rec *rec)
{
    struct buf bytes = {0};
    struct out out;
    struct key key;
    int err;

    key_make(&key, id, FMT_TAG_OBJECT);
    buf_out(&bytes, &out);
    object_put(&out, rec);
    err = put_entry(b, &key, &out, &bytes);
    buf_release(&bytes);
    return err;
}

/* True if a dimension of the commit has this id. */
static bool is_dimension(struct beyond *b, uint64_t id)
{
    struct object_head head;
    struct key key;
    struct in in;

    key_make(&key, id, FMT_TAG_OBJECT);
    if (tree_get(b->st, &key, &b->other))
        return false;
    in_init(&in, b->other.p, b->other.len);
    return object_head_get(&in, &head) == 0 && head.kind == FMT_DIMENSION;
}

/* Make a dataset refer to the dimensions that it can have here; without one of them it has none. */
static void map_dimensions(struct beyond *b, struct object_rec *rec)
{
    for (int d = 0; rec->has_dims && d < rec->rank; d++) {
        const uintptr_t *number = idset_find(&b->number, rec->dim[d]);

        if (rec->dim[d] == 0)
            continue;
        if (number)
            rec->dim[d] = b->object[*number - 1].as;
        if (!is_dimension(b, rec->dim[d]))
            rec->has_dims = 0;
    }
}

/* Load the record of an object, as found or as the commit has it; `bytes` are what it points to. */
static int load_record(struct beyond *b, uint64_t id, struct buf *bytes, struct object_rec *rec)
{
    struct key key;
    struct in in;
    int err;

    key_make(&key, id, FMT_TAG_OBJECT);
    err = tree_get(b->found, &key, bytes);
    if (err == DREP_ERR_NOT_FOUND)
        err = tree_get(b->st, &key, bytes);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? fail(err, "its record is lost") : err;
    in_init(&in, bytes->p, bytes->len);
    return object_get(&in, rec) ? fail(DREP_ERR_FORMAT, "its record: %s", in.why) : 0;
}

/* Copy the entries of one object in a space of keys, under its new id, but for its record, its
 * members, and what only a later version or an application knows. */
static int copy_entries(struct beyond *b, struct store *from, const struct found_object *o,
                        uint8_t space)
{
    struct tree_walk w;
    struct key key;
    int err;

    key_make_in(&key, space, o->id, 0);
    tree_walk(&w, from, &key, FMT_KEY_TAG_AT);
    while (!(err = tree_next(&w, &key, &b->value))) {
        uint8_t tag = key_known(key.p);

        if (!tag || tag == FMT_TAG_OBJECT || is_entry_of_group(&key))
            continue;
        key_set_object(&key, o->as);
        if ((err = tree_put(b->st, &key, b->value.p, b->value.len)))
            break;
        key_set_object(&key, o->id);
    }
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int link_object(struct beyond *b, const struct found_object *o, const struct object_rec *rec)
{
    struct link_rec link = {.kind = FMT_HARD,
                            .number = FMT_HARD,
                            .object_kind = rec->number,
                            .index = b->rec.next_link,
                            .object = o->as};
    struct dim_rec dim = {
        .kind = FMT_PLAIN, .number = FMT_PLAIN, .index = b->rec.next_link, .object = o->as};
    bool is_dim = rec->kind == FMT_DIMENSION;
    struct buf bytes = {0};
    struct out out;
    struct key key;
    char text[2 * FMT_NAME_MAX + 200];
    int err = unused_key(b, b->group, is_dim ? FMT_TAG_DIM : FMT_TAG_LINK, o->name, o->id, &key);

    if (err)
        return err;
    buf_out(&bytes, &out);
    if (is_dim)
        dim_put(&out, &dim);
    else
        link_put(&out, &link);
    err = put_entry(b, &key, &out, &bytes);
    buf_release(&bytes);
    b->rec.next_link++;
    b->rec.members += !is_dim;
    snprintf(text, sizeof(text),
             "found beyond commit %llu: object %llu, which is \"/%.*s%s%.*s\" now",
             (unsigned long long)b->sequence, (unsigned long long)o->id,
             (int)(b->link.len - NAME_AT), (const char *)b->link.p + NAME_AT, is_dim ? "#" : "/",
             (int)(key.len - NAME_AT), (const char *)key.p + NAME_AT);
    if (!err && b->fn)
        b->stop = b->fn(DREP_ERR_NOT_FOUND, 0, text, b->ctx);
    return err ? err : b->stop;
}

static int leave_out(struct beyond *b, const struct found_object *o)
{
    char text[FMT_NAME_MAX + 400];

    snprintf(text, sizeof(text), "found beyond commit %llu, and left out: object %llu%s%s%s: %s",
             (unsigned long long)b->sequence, (unsigned long long)o->id, o->name ? " \"" : "",
             o->name ? o->name : "", o->name ? "\"" : "", fail_text());
    if (b->fn)
        b->stop = b->fn(DREP_ERR_NOT_FOUND, 0, text, b->ctx);
    return b->stop;
}

/* Dimensions come first: datasets refer to them.  Only the kinds of this version have copies. */
static int adopt_object(struct beyond *b, const struct found_object *o, bool dimensions)
{
    struct object_rec *rec = mem_zalloc(1, sizeof(*rec)); /* too large for a stack */
    struct buf bytes = {0};
    int err = rec ? load_record(b, o->id, &bytes, rec) : DREP_ERR_NOMEM;

    if (!err && rec->kind == FMT_LATER)
        err = fail(DREP_ERR_UNSUPPORTED, "an object of kind %u, written by a newer version",
                   rec->number);
    if (!err && rec->beyond)
        err = fail(DREP_ERR_UNSUPPORTED, "%s", rec->beyond);
    if (!err && (rec->kind == FMT_DIMENSION) == dimensions) {
        rec->links = 1;
        rec->next_link = rec->members = 0;
        rec->scales = (struct span){NULL, 0};
        rec->changed = store_next_sequence(b->st);
        if (rec->kind == FMT_DATASET && object_known(rec))
            map_dimensions(b, rec);
        err = put_record(b, o->as, rec);
        for (int part = 0; !err && part < 4; part++)
            err = copy_entries(b, part % 2 ? b->found : b->st, o,
                               part < 2 ? FMT_SPACE_STRUCTURE : FMT_SPACE_ATTRS);
        if (!err)
            err = link_object(b, o, rec);
    } else if (err && err != DREP_ERR_NOMEM && !dimensions) {
        err = leave_out(b, o);
    } else if (err != DREP_ERR_NOMEM) {
        err = 0;
    }
    buf_release(&bytes);
    mem_free(rec);
    return err;
}

/* ---- links of their own ---- */

/* Tell of an entry: `what` became of it, or why it is left out. */
static int tell_entry(struct beyond *b, const struct found_entry *e, bool left_out,
                      const char *kind, const char *what)
{
    char text[3 * FMT_NAME_MAX + 400], group[32] = "";

    if (key_object(e->key.p) != FMT_OBJECT_ROOT)
        snprintf(group, sizeof(group), " of group %llu", (unsigned long long)key_object(e->key.p));
    snprintf(text, sizeof(text), "found beyond commit %llu%s: %s \"%s%.*s\"%s%s",
             (unsigned long long)b->sequence, left_out ? ", and left out" : "", kind,
             *group ? "" : "/", (int)(e->key.len - NAME_AT), (const char *)e->key.p + NAME_AT,
             group, what);
    if (b->fn)
        b->stop = b->fn(DREP_ERR_NOT_FOUND, 0, text, b->ctx);
    return b->stop;
}

/* A soft or external link has no object: it goes into the group as it is. */
static int adopt_link(struct beyond *b, const struct found_entry *e, struct link_rec *link)
{
    char text[FMT_NAME_MAX + 1], what[2 * FMT_NAME_MAX + 200];
    struct buf bytes = {0};
    struct out out;
    struct key key;
    int err;

    snprintf(text, sizeof(text), "%.*s", (int)(e->key.len - NAME_AT),
             (const char *)e->key.p + NAME_AT);
    err = unused_key(b, b->group, FMT_TAG_LINK, text, b->rec.next_link, &key);
    if (err)
        return err;
    link->index = b->rec.next_link;
    buf_out(&bytes, &out);
    link_put(&out, link);
    err = put_entry(b, &key, &out, &bytes);
    buf_release(&bytes);
    b->rec.next_link++;
    b->rec.members++;
    snprintf(what, sizeof(what), ", which is \"/%.*s/%.*s\" now", (int)(b->link.len - NAME_AT),
             (const char *)b->link.p + NAME_AT, (int)(key.len - NAME_AT),
             (const char *)key.p + NAME_AT);
    return err ? err
               : tell_entry(b, e, false, link->kind == FMT_SOFT ? "soft link" : "external link",
                            what);
}

/* True if the object that an entry names is in the group under this very name. */
static bool is_adopted(const struct beyond *b, const struct found_entry *e, uint64_t id)
{
    const uintptr_t *number = idset_find(&b->number, id);
    const struct found_object *o = number ? &b->object[*number - 1] : NULL;

    return o && o->name && o->name_len == e->key.len - NAME_AT &&
           memcmp(o->name, e->key.p + NAME_AT, o->name_len) == 0;
}

/* Names that lead to objects stay out: more links would change objects of the commit. */
static int adopt_entry(struct beyond *b, const struct found_entry *e)
{
    bool is_dim = key_tag(e->key.p) == FMT_TAG_DIM;
    const char *kind = is_dim ? "the dimension's name" : "link";
    struct link_rec link = {0};
    struct dim_rec dim = {0};
    char what[100];
    uint64_t id = 0;
    struct in in;

    in_init(&in, e->value.p, e->value.len);
    if (name_check(e->key.p + NAME_AT, e->key.len - NAME_AT) ||
        (is_dim ? dim_get(&in, &dim) : link_get(&in, &link)) != 0)
        return tell_entry(b, e, true, kind, ", which is malformed");
    if (link.kind == FMT_SOFT || link.kind == FMT_EXTERNAL)
        return adopt_link(b, e, &link);
    if (is_dim ? dim.kind == FMT_LATER : link.kind == FMT_LATER)
        return tell_entry(b, e, true, kind, ", of a kind that a newer version wrote");
    id = is_dim ? dim.object : link.object;
    if (is_adopted(b, e, id))
        return 0;
    if (!is_dim)
        kind = link.object_kind == FMT_GROUP ? "hard link to a group," : "hard link";
    snprintf(what, sizeof(what), ", which leads to object %llu", (unsigned long long)id);
    return tell_entry(b, e, true, kind, what);
}

/* The group itself, and its link in the root. */
static int put_group(struct beyond *b)
{
    struct link_rec link = {.kind = FMT_HARD,
                            .number = FMT_HARD,
                            .object_kind = FMT_GROUP,
                            .index = UINT32_MAX + b->group,
                            .object = b->group};
    struct buf bytes = {0};
    struct out out;
    int err;

    buf_out(&bytes, &out);
    link_put(&out, &link);
    err = put_entry(b, &b->link, &out, &bytes);
    buf_release(&bytes);
    return err ? err : put_record(b, b->group, &b->rec);
}

static int adopt_all(struct beyond *b)
{
    int err;

    b->group = b->st->next_object++;
    err = unused_key(b, FMT_OBJECT_ROOT, FMT_TAG_LINK, "lost+found", b->group, &b->link);
    b->rec = (struct object_rec){.kind = FMT_GROUP, .number = FMT_GROUP, .links = 1};
    for (size_t i = 0; i < b->n; i++)
        b->object[i].as = b->st->next_object++;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; !err && i < b->n; i++)
            err = adopt_object(b, &b->object[i], turn == 0);
    }
    for (size_t i = 0; !err && i < b->nentries; i++)
        err = adopt_entry(b, &b->entry[i]);
    return err || b->rec.next_link == 0 ? err : put_group(b);
}

int beyond_adopt(struct store *st, struct store *found, uint64_t sequence, drep_finding_fn *fn,
                 void *ctx, uint64_t *first)
{
    struct beyond b = {.st = st, .found = found, .sequence = sequence, .fn = fn, .ctx = ctx};
    int err = find_new_entries(&b);

    if (!err && b.n > 0)
        err = names_of(&b, found);
    if (!err && b.n > 0)
        err = names_of(&b, st);
    if (!err && b.n + b.nentries > 0) {
        *first = st->next_object;
        err = adopt_all(&b);
    }
    for (size_t i = 0; i < b.nentries; i++)
        buf_release(&b.entry[i].value);
    mem_free(b.entry);
    for (size_t i = 0; i < b.n; i++)
        mem_free(b.object[i].name);
    mem_free(b.object);
    idset_release(&b.number);
    buf_release(&b.value);
    buf_release(&b.other);
    return err;
}
