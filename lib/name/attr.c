/* attr.c - attributes: small named values of any object. */
/* SPDX-License-Identifier: MIT */
#include "name/attr.h"

#include "base/mem.h"
#include "base/sized.h"
#include "base/vec.h"
#include "name/external.h"
#include "name/object.h"
#include "name/path.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/walk.h"

#include <stdlib.h>
#include <string.h>

int attr_name_check(const uint8_t *p, size_t len)
{
    return len == 0 || len > FMT_NAME_MAX ? FMT_ERR_NAME : text_check(p, len);
}

static int attr_key(struct key *key, uint64_t id, const char *name)
{
    size_t len;

    if (!name)
        return fail(DREP_ERR_ARG, "no attribute name");
    len = strlen(name);
    key_make_attr(key, id);
    if (key_add_bytes(key, name, len) != 0 || attr_name_check((const uint8_t *)name, len) != 0)
        return fail(DREP_ERR_NAME, "\"%s\" is not a valid attribute name", name);
    return 0;
}

int attr_later(const struct attr_rec *rec)
{
    return fail_later("unreadable", rec->beyond, rec->number, rec->flags, FMT_PLAIN);
}

/* Like tree_peek(), decoded: what *rec points to holds until tree_peeked(). */
static int attr_peek(drep_file *f, const struct key *key, struct attr_rec *rec, struct peek *peek)
{
    struct in in;
    int err = tree_peek(f->st, key, peek);

    if (err)
        return err;
    in_init(&in, peek->p, peek->len);
    err = attr_get(&in, rec);
    if (!err && rec->kind != FMT_LATER)
        return 0;
    tree_peeked(peek);
    if (!err)
        return attr_later(rec);
    return fail(err, "attribute \"%.*s\": %s at byte %zu of its record",
                (int)(key->len - FMT_KEY_HEAD), (const char *)key->p + FMT_KEY_HEAD, in.why,
                in.err_at);
}

static int attr_shape(int rank, const int64_t *dims, struct attr_rec *rec, int64_t *count)
{
    *count = 1;
    if (rank == DREP_NULL_SPACE) {
        rec->rank = FMT_RANK_NULL;
        *count = 0;
        return 0;
    }
    if (rank < 0 || rank > DREP_MAX_RANK || (rank > 0 && !dims))
        return fail(DREP_ERR_DIMS, "rank %d", rank);
    rec->rank = (uint8_t)rank;
    for (int d = 0; d < rank; d++) {
        if (dims[d] < 0 || __builtin_mul_overflow(*count, dims[d], count))
            return fail(DREP_ERR_DIMS, "length %lld of dimension %d", (long long)dims[d], d);
        rec->len[d] = (uint64_t)dims[d];
    }
    return 0;
}

/* Takes the next creation index of an object, or gives the last one back. */
static int attr_index(drep_file *f, uint64_t id, bool back, uint32_t *index)
{
    struct head_edit e;
    int err = head_edit(f, id, &e);

    if (err)
        return err;
    if (!back && e.h.next_attr == UINT32_MAX)
        return fail(DREP_ERR_LIMIT, "an object can be given no more attributes");
    *index = back ? --e.h.next_attr : e.h.next_attr++;
    return head_edited(f, &e);
}

static int attr_encode(drep_file *f, const struct attr_rec *rec)
{
    struct buf *b = &f->op.scratch[0];
    struct out out;

    buf_out(b, &out);
    attr_put(&out, rec);
    return buf_done(b, &out);
}

/* Puts the new attribute in place of another one, whose type stops being used. */
static int attr_replace(drep_file *f, const struct key *key, struct attr_rec *rec, bool keep_index)
{
    struct buf *b = &f->op.scratch[0];
    struct attr_rec replaced;
    struct peek peek;
    int err = attr_peek(f, key, &replaced, &peek);

    if (err)
        return err;
    tree_peeked(&peek);
    if (keep_index)
        rec->index = replaced.index;
    err = attr_encode(f, rec);
    if (!err)
        err = tree_put(f->st, key, b->p, b->len);
    return !err ? ftype_unuse(f, replaced.type) : err;
}

int attr_place(drep_file *f, const struct key *key, struct attr_rec *rec)
{
    struct buf *b = &f->op.scratch[0];
    int err = attr_encode(f, rec);

    if (!err)
        err = tree_add(f->st, key, b->p, b->len);
    return err == DREP_ERR_EXISTS ? attr_replace(f, key, rec, false) : err;
}

/* Optimistic: mostly there is no attribute of this name yet, so it is added at once, and only a
 * collision costs more. */
int attr_store(drep_file *f, uint64_t id, const struct key *key, struct attr_rec *rec)
{
    struct buf *b = &f->op.scratch[0];
    int err = attr_index(f, id, false, &rec->index);

    if (err == DREP_ERR_LIMIT && tree_get(f->st, key, NULL) == 0)
        return attr_replace(f, key, rec, true);
    if (err)
        return err;
    err = attr_encode(f, rec);
    if (!err)
        err = tree_add(f->st, key, b->p, b->len);
    if (err != DREP_ERR_EXISTS)
        return err;
    err = attr_index(f, id, true, &rec->index);
    return !err ? attr_replace(f, key, rec, true) : err;
}

/* Uses scratch[1] for the value, while attr_store() builds the record in scratch[0]. */
static int attr_write(drep_file *f, const char *path, const char *name, const drep_type *type,
                      int rank, const int64_t *dims, const void *buf)
{
    struct buf *value = &f->op.scratch[1];
    struct attr_rec rec; /* whose list of lengths is long: attr_shape() sets what is in use */
    struct key key;
    int64_t count, items;
    uint64_t id;
    int err;

    rec.kind = FMT_PLAIN;
    rec.flags = 0;
    rec.tail = (struct span){NULL, 0};
    if (!type || !name)
        return fail(DREP_ERR_ARG, "an attribute needs a name and a type");
    if ((err = attr_shape(rank, dims, &rec, &count)))
        return err;
    if (count > 0 && !buf)
        return fail(DREP_ERR_ARG, "no buffer");
    if ((err = type_elements(type, count, &items)))
        return err;
    err = path_id(f, path, &id);
    if (!err)
        err = attr_key(&key, id, name);
    if (!err)
        err = ftype_use(f, type, NULL, &rec.type);
    value->len = 0;
    if (!err && rank != DREP_NULL_SPACE)
        err = value_pack(&f->values, type, count, buf, value);
    rec.value = (struct span){value->p, value->len};
    return err ? err : attr_store(f, id, &key, &rec);
}

int drep_attr_write(drep_file *file, const char *path, const char *name, const drep_type *type,
                    int rank, const int64_t *dims, const void *buf)
{
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    err = attr_write(file, path, name, type, rank, dims, buf);
    fail_about(fail_in(err, "%s: attribute \"%s\"", !path ? "" : path, !name ? "" : name), path);
    return write_end(file, err);
}

int drep_attr_write_string(drep_file *file, const char *path, const char *name, const char *value)
{
    drep_type *type;
    int err = drep_type_vstring(&type);

    if (err)
        return err;
    err = drep_attr_write(file, path, name, type, 0, NULL, &value);
    drep_type_free(type);
    return err;
}

int drep_attr_write_int64(drep_file *file, const char *path, const char *name, int64_t value)
{
    return drep_attr_write(file, path, name, DREP_INT64_T, 0, NULL, &value);
}

int drep_attr_write_double(drep_file *file, const char *path, const char *name, double value)
{
    return drep_attr_write(file, path, name, DREP_DOUBLE, 0, NULL, &value);
}

/* ---- reading ---- */

int attr_count(const struct attr_rec *rec, int64_t *count)
{
    bool empty = rec->rank == FMT_RANK_NULL;
    int64_t n = 1;

    for (int d = 0; rec->rank != FMT_RANK_NULL && d < rec->rank; d++) {
        empty |= rec->len[d] == 0;
        if (rec->len[d] != 0 &&
            (__builtin_mul_overflow(n, (int64_t)rec->len[d], &n) || n > TYPE_SIZE_MAX))
            return fail(DREP_ERR_UNSUPPORTED, FMT_BEYOND("more than 2^62 elements", "R8.1"));
    }
    *count = empty ? 0 : n;
    return 0;
}

void attr_found_release(struct attr_found *a)
{
    tree_peeked(&a->peek);
}

int attr_find(drep_file *f, const char *path, const char *name, struct attr_found *a)
{
    uint64_t id;
    int err = path_id(f, path, &id);

    a->peek = (struct peek){0};
    if (!err)
        err = attr_key(&a->key, id, name);
    if (err == DREP_ERR_NAME && a->key.len > FMT_KEY_HEAD + FMT_NAME_MAX &&
        tree_get(f->st, &a->key, NULL) == 0) { /* no name for us, and it is there */
        name_beyond(a->key.len - FMT_KEY_HEAD, &a->rec.kind, &a->rec.beyond);
        return attr_later(&a->rec);
    }
    if (err)
        return err;
    err = attr_peek(f, &a->key, &a->rec, &a->peek);
    if (err == DREP_ERR_NOT_FOUND) {
        struct object_head head;

        err = head_load(f, id, &head); /* which may not be there either */
        return err ? err : fail(DREP_ERR_NOT_FOUND, "no such attribute");
    }
    if (!err)
        err = ftype_get(f, a->rec.type, NULL, &a->ft);
    return err ? err : attr_count(&a->rec, &a->count);
}

int drep_attr_info(drep_file *file, const char *path, const char *name, drep_attrinfo *out)
{
    struct external_target to;
    struct attr_found a;
    drep_attrinfo is;
    int err = sized_check(SIZED_drep_attrinfo, out, "drep_attr_info");

    if (err || (err = external_target(file, path, &to)))
        return err;
    if (to.file)
        return external_done(&to, drep_attr_info(to.file, to.path, name, out));
    if ((err = read_begin(file)))
        return err;
    a.rec.kind = FMT_PLAIN;
    a.peek = (struct peek){0};
    err = attr_find(file, path, name, &a);
    if (!err && a.count > 0) /* callers make memory for as many elements */
        err = value_check(&a.rec.value, a.ft, a.count);
    if (!err) {
        is = DREP_ATTRINFO;
        strcpy(is.name, name); /* its length was checked */
        is.type = drep_type_ref(a.ft->type);
        is.rank = a.rec.rank == FMT_RANK_NULL ? DREP_NULL_SPACE : a.rec.rank;
        for (int d = 0; d < is.rank; d++)
            is.dims[d] = (int64_t)a.rec.len[d];
        is.count = a.count;
        sized_put(SIZED_drep_attrinfo, &is, out);
    }
    attr_found_release(&a);
    if (err == DREP_ERR_UNSUPPORTED) {
        is = DREP_ATTRINFO;
        is.number = a.rec.kind == FMT_LATER && !a.rec.beyond ? a.rec.number : -1;
        is.flags = a.rec.kind == FMT_LATER ? a.rec.flags : 0;
        sized_put(SIZED_drep_attrinfo, &is, out);
    }
    fail_about(fail_in(err, "%s: attribute \"%.*s\"", !path ? "" : path,
                       !name ? 0 : name_shown(strlen(name)), !name ? "" : name),
               path);
    return read_end(file, err);
}

void drep_attrinfo_release(drep_attrinfo *info)
{
    if (info && info->type) {
        drep_type_free(info->type);
        info->type = NULL;
    }
}

/* How a program takes the elements of a type. */
enum taken_for { NUMBERS, TEXTS, OTHERS };

static enum taken_for taken_for(const drep_type *type)
{
    while (type->kind == DREP_KIND_ARRAY)
        type = drep_type_member(type, 0);
    switch (type->kind) {
    case DREP_KIND_STRING:
    case DREP_KIND_VSTRING:
        return TEXTS;
    case DREP_KIND_PREDEFINED:
        switch (type->code) {
        case DREP_CODE_CHAR:
        case DREP_CODE_CHARACTER:
        case DREP_CODE_WCHAR:
            return TEXTS;
        case DREP_CODE_BYTE:
        case DREP_CODE_PACKED:
            return OTHERS;
        default:
            return NUMBERS;
        }
    case DREP_KIND_SCALAR:
    case DREP_KIND_ENUM:
    case DREP_KIND_BOOLEAN:
        return NUMBERS;
    default:
        return OTHERS;
    }
}

int attr_not_number(const drep_type *type)
{
    return fail(DREP_ERR_TYPE,
                taken_for(type) == TEXTS ? "it is text, not a number" : "it is not a number");
}

int attr_load(drep_file *f, const char *path, const char *name, const drep_type *type, void *buf,
              const drep_xfer *xfer)
{
    struct attr_found a;
    int err = attr_find(f, path, name, &a);

    if (!err && !type)
        type = a.ft->type;
    if (!err && a.count > 0 && !buf)
        err = fail(DREP_ERR_ARG, "no buffer");
    if (!err && a.count > 0)
        err = value_unpack_into(&f->values, &a.rec.value, a.ft, a.count, type, buf, xfer);
    if (err == DREP_ERR_TYPE && a.count > 0 && taken_for(type) == NUMBERS &&
        taken_for(a.ft->type) == TEXTS)
        err = attr_not_number(a.ft->type);
    attr_found_release(&a);
    return fail_about(fail_in(err, "%s: attribute \"%s\"", !path ? "" : path, !name ? "" : name),
                      path);
}

int drep_attr_read(drep_file *file, const char *path, const char *name, const drep_type *type,
                   void *buf)
{
    struct external_target to;
    int err = external_target(file, path, &to);

    if (err)
        return err;
    if (to.file)
        return external_done(&to, drep_attr_read(to.file, to.path, name, type, buf));
    if ((err = read_begin(file)))
        return err;
    return read_end(file, attr_load(file, path, name, type, buf, NULL));
}

int drep_attr_encodings(drep_file *file, const char *path, const char *name, drep_encoding *rows,
                        int max, int *n)
{
    struct external_target to;
    struct attr_found a;
    int found = 0, err = external_target(file, path, &to);

    if (err)
        return err;
    if (to.file)
        return external_done(&to, drep_attr_encodings(to.file, to.path, name, rows, max, n));
    if ((err = read_begin(file)))
        return err;
    err = attr_find(file, path, name, &a);
    if (!err && (!n || (!rows && max > 0)))
        err = fail(DREP_ERR_ARG, "null argument");
    if (!err && a.count > 0)
        err = value_encodings(&a.rec.value, a.ft->type, rows, max, &found);
    if (!err)
        *n = found;
    attr_found_release(&a);
    fail_about(fail_in(err, "%s: attribute \"%s\"", !path ? "" : path, !name ? "" : name), path);
    return read_end(file, err);
}

static int attr_remove(drep_file *f, const char *path, const char *name)
{
    struct attr_found a;
    int err = attr_find(f, path, name, &a);

    attr_found_release(&a);
    if (!err)
        err = tree_del(f->st, &a.key);
    return err ? err : ftype_unuse(f, a.rec.type);
}

int drep_attr_remove(drep_file *file, const char *path, const char *name)
{
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    err = attr_remove(file, path, name);
    fail_about(fail_in(err, "%s: attribute \"%s\"", !path ? "" : path, !name ? "" : name), path);
    return write_end(file, err);
}

/* The record moves as it is, with its index, which is its place in the order, and the use of its
 * type. */
static int attr_rename(drep_file *f, const char *path, const char *name, const char *new_name)
{
    struct buf *b = &f->op.scratch[0];
    struct attr_found a;
    struct key key;
    int err = attr_find(f, path, name, &a);

    b->len = 0;
    if (!err)
        err = buf_add(b, a.peek.p, a.peek.len);
    attr_found_release(&a);
    if (!err)
        err = attr_key(&key, key_object(a.key.p), new_name);
    if (err || strcmp(name, new_name) == 0)
        return err;
    err = tree_add(f->st, &key, b->p, b->len);
    if (err == DREP_ERR_EXISTS)
        return fail(err, "the object has an attribute \"%s\" already", new_name);
    return err ? err : tree_del(f->st, &a.key);
}

int drep_attr_rename(drep_file *file, const char *path, const char *name, const char *new_name)
{
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    err = attr_rename(file, path, name, new_name);
    fail_about(fail_in(err, "%s: attribute \"%s\"", !path ? "" : path, !name ? "" : name), path);
    return write_end(file, err);
}

/* ---- listing ---- */

enum { NAMES = 512 /* bytes that a list of names begins with */ };

struct listed_attr {
    uint32_t index;
    size_t name; /* its place in names */
};
/* Names stand one behind the other, in their order, each ended by a NUL.  By creation, p lists
 * them in the order of their indices. */
struct attr_list {
    int order;
    struct listed_attr *p;
    size_t n, room;
    struct buf names;
};

static void attr_list_release(struct attr_list *l)
{
    mem_free(l->p);
    buf_release(&l->names);
}

static int attr_list_add(void *ctx, const struct key *key, const uint8_t *value, size_t size)
{
    struct attr_list *l = ctx;
    size_t len = key->len - FMT_KEY_HEAD, at;
    struct attr_rec rec;
    struct in in;
    int err;

    in_init(&in, value, size);
    if ((err = attr_get(&in, &rec)))
        return fail(err, "attribute \"%.*s\": %s at byte %zu of its record", (int)len,
                    (const char *)key->p + FMT_KEY_HEAD, in.why, in.err_at);
    if (buf_add_text(&l->names, key->p + FMT_KEY_HEAD, len, &at) != 0)
        return fail_nomem();
    if (l->order != DREP_BY_CREATION)
        return 0;
    if (VEC_ROOM(l->p, l->n, l->room, 1) != 0)
        return fail_nomem();
    l->p[l->n++] = (struct listed_attr){rec.index, at};
    return 0;
}

static int attrs_by_index(const void *a, const void *b)
{
    uint32_t x = ((const struct listed_attr *)a)->index, y = ((const struct listed_attr *)b)->index;

    return (x > y) - (x < y);
}

/* Collects all names in their order; they are few beside what they describe. */
static int list_names(drep_file *f, uint64_t id, struct attr_list *l)
{
    struct tree_walk w;
    struct key key;
    int err;

    if (buf_reserve(&l->names, NAMES))
        return fail_nomem();
    key_make_attr(&key, id);
    tree_walk(&w, f->st, &key, FMT_KEY_HEAD);
    while (!(err = tree_each(&w, attr_list_add, l)))
        ;
    if (err != DREP_ERR_NOT_FOUND)
        return err;
    if (l->n > 1)
        qsort(l->p, l->n, sizeof *l->p, attrs_by_index);
    return 0;
}

/* Give the callback the names; gives what it gave. */
static int list_give(const struct attr_list *l, drep_attr_fn *fn, void *ctx)
{
    const char *names = (const char *)l->names.p;
    int theirs = 0;

    for (size_t i = 0; theirs == 0 && i < l->n; i++)
        theirs = fn(names + l->p[i].name, ctx);
    if (l->order != DREP_BY_CREATION)
        for (size_t at = 0; theirs == 0 && at < l->names.len; at += strlen(names + at) + 1)
            theirs = fn(names + at, ctx);
    return theirs;
}

int drep_attr_list(drep_file *file, const char *path, int order, drep_attr_fn *fn, void *ctx)
{
    struct object_head head;
    struct attr_list l = {.order = order};
    uint64_t id;
    struct external_target to;
    int err = order_valid("drep_attr_list", order), theirs = 0;

    if (!err)
        err = external_target(file, path, &to);
    if (err)
        return err;
    if (to.file)
        return external_done(&to, drep_attr_list(to.file, to.path, order, fn, ctx));
    if ((err = read_begin(file)))
        return err;
    err = !fn ? fail(DREP_ERR_ARG, "no callback") : path_id(file, path, &id);
    if (!err)
        err = head_load(file, id, &head);
    if (!err)
        err = list_names(file, id, &l);
    /* The callback may use the file: the lock is not held while it runs. */
    err = read_end(file, err);
    if (!err) {
        walk_begin(file);
        theirs = list_give(&l, fn, ctx);
        walk_end();
    }
    attr_list_release(&l);
    return theirs != 0 ? theirs : err;
}

/* ---- all attributes of an object ---- */

int attrs_count(drep_file *f, uint64_t id, int64_t *n)
{
    struct tree_walk w;
    struct key key;
    int err;

    *n = 0;
    key_make_attr(&key, id);
    tree_walk(&w, f->st, &key, FMT_KEY_HEAD);
    while (!(err = tree_count(&w, n)))
        ;
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int attrs_remove(drep_file *f, uint64_t id)
{
    struct buf value = {0};
    struct tree_walk w;
    struct key key;
    int err;

    key_make_attr(&key, id);
    tree_walk(&w, f->st, &key, FMT_KEY_HEAD);
    while (!(err = tree_next(&w, &key, &value))) {
        struct attr_rec rec;
        struct in in;

        in_init(&in, value.p, value.len);
        if (attr_get(&in, &rec) == 0 && rec.kind == FMT_PLAIN && (err = ftype_unuse(f, rec.type)))
            break;
        if ((err = tree_del(f->st, &key)))
            break;
    }
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}
