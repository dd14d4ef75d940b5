/* check.c - is all of a file as SPEC.md says?
 *
 * The store walks blocks, sums and space; here every record is decoded, links and
 * uses are counted against what objects say, and, when asked for, every element is
 * read and converted.  A finding never ends the walk. */
/* SPDX-License-Identifier: MIT */
#include "base/advance.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/vec.h"
#include "chunk/each.h"
#include "chunk/filter.h"
#include "chunk/record.h"
#include "chunk/target.h"
#include "file/team.h"
#include "name/attr.h"
#include "name/dim_entry.h"
#include "name/find.h"
#include "name/object.h"
#include "tree/find.h"
#include "txn/check.h"
#include "whole/close.h"
#include "whole/stored.h"
#include "whole/unknown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIND_SHIFT 32
/* No errors: written by a newer version. */
#define LATER (-1) /* what it owns or leads to is unknown */
#define NOTED (-2) /* it owns and leads to nothing */

/* Numbers seen, to be counted when all are there. */
struct seen {
    uint64_t *p;
    size_t n, room;
};

/* The object whose entries are being walked, as its record has it. */
struct owner {
    uint64_t id; /* 0: there is no record that makes sense */
    bool apart;  /* only what stands apart from the other entries is seen now */
    bool later;  /* what its entries mean, but for attributes, only a later version knows */
    uint8_t kind, layout;
    uint32_t next_attr;
    uint64_t next_link, members, links;
    struct seen indices, attrs; /* of creation: of links, of attributes */
    struct run_before before;
};

struct checker {
    drep_file *f;
    drep_finding_fn *fn;
    drep_leak_fn *leak;
    void *ctx;
    enum chunk_depth depth;
    int64_t findings;
    uint64_t later; /* items of a newer version: what they own or lead to is unknown */
    struct unknown unknown;
    uint64_t external; /* bytes that may be read of other files */
    uint64_t unread;   /* chunks in other files that were not verified */
    struct seen lost;  /* numbers of other files that cannot be read */
    bool too_much;     /* chunks name more bytes of them than is possible */
    struct seen told;  /* bytes of damaged chunks, told of by the walk over records */
    uint64_t named;    /* the object that was named last, */
    char *path;        /* which has this path, or NULL */
    int paths;         /* how many were looked for */
    int stop;          /* what fn gave, or DREP_ERR_STOPPED */
    struct advance *advance;
    uint64_t budget; /* bytes of payload to read: no byte of the file belongs to two */
    drep_usage usage;
    struct seen linked;  /* object ids that hard links name */
    struct seen dims;    /* those that entries of dimensions name */
    struct seen edges;   /* group, object: pairs, one a hard link, groups ascending */
    struct seen objects; /* id, links and KIND_SHIFTed kind: pairs, ids ascending */
    struct seen types;   /* number, uses: pairs, ascending */
    struct seen used;    /* type numbers that records name */
    struct seen datasets;
    struct seen noted;          /* objects that a note named as unknown in part */
    struct seen absent;         /* object id, blocks of its payload without a sum: pairs */
    uint64_t ownerless, broken; /* the last object without a record, with a malformed one */
    struct owner owner;
    /* The dataset whose chunks are being walked. */
    uint64_t chunks_id;
    int chunks_err;
    struct chunks chunks;
    struct ftype *chunks_type;
    struct stored_object object;
};

/* Notes a number; lists are sorted once, when all entries have been seen. */
static int seen_add(struct seen *s, uint64_t v)
{
    if (VEC_ROOM(s->p, s->n, s->room, 1) != 0)
        return DREP_ERR_NOMEM;
    s->p[s->n++] = v;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void seen_sort(struct seen *s)
{
    if (s->n > 1)
        qsort(s->p, s->n, sizeof *s->p, by_value);
}

/* err 0: a newer version wrote it, which is no fault. */
static void finding(struct checker *c, int err, uint64_t where, const char *text)
{
    if (err)
        c->findings++;
    if (c->fn && c->stop == 0)
        c->stop = c->fn(err, where, text, c->ctx);
}

/* Looked for once for an object, as that takes long, and for so many; then numbers name them. */
enum { MOST_PATHS = 100 };

/* Looks for the path of an object that a finding names: under the file's lock. */
static void find_path(struct checker *c, uint64_t id)
{
    if (c->named == id)
        return;
    mem_free(c->path);
    c->path = NULL;
    c->named = id;
    if (c->paths++ < MOST_PATHS)
        object_path(c->f, id, &c->path);
}

/* Names an object in a finding, by its path if find_path() found one. */
static void name_object(const struct checker *c, uint64_t id, const char *kind, char *name,
                        size_t size)
{
    if (c->named == id && c->path)
        snprintf(name, size, "%s \"%.*s\"", kind, name_shown(strlen(c->path)), c->path);
    else
        snprintf(name, size, "object %llu", (unsigned long long)id);
}

/* The last message, as a finding about this key, and in it about `what`; NULL: it says that. */
static void report(struct checker *c, int err, const struct key *key, uint64_t where,
                   const char *what)
{
    static const char *const kinds[] = {[FMT_GROUP] = "group",
                                        [FMT_DATASET] = "dataset",
                                        [FMT_TYPE] = "datatype",
                                        [FMT_DIMENSION] = "dimension"};
    uint64_t id = key->len >= 8 ? key_object(key->p) : 0;
    const char *kind = NULL;
    char name[FMT_NAME_MAX + 40], text[2500];
    struct fail_state why;

    fail_save(&why);
    if (id != 0)
        find_path(c, id);
    if (id == c->owner.id && c->owner.kind < sizeof kinds / sizeof *kinds)
        kind = kinds[c->owner.kind];
    name_object(c, id, kind ? kind : "object", name, sizeof name);
    snprintf(text, sizeof text, "%s: %s%s%s", name, what ? what : "", what ? ": " : "", why.text);
    fail_restore(&why);
    c->later += err == LATER;
    finding(c, err == LATER || err == NOTED ? 0 : err, where, text);
}

/* Like fail_later(), but the checker tells of it as no fault. */
static int check_later(const char *beyond, uint8_t number, uint8_t flags, uint8_t kinds)
{
    fail_later("unaccounted", beyond, number, flags, kinds);
    return LATER;
}

/* Turn the last error, if only a later version understands the object, into a note `what`.  The
 * object is remembered: reading it would say the same again. */
static int check_unsupported(struct checker *c, uint64_t id, int err, int what)
{
    if (err != DREP_ERR_UNSUPPORTED)
        return err;
    fail_in(err, "unaccounted");
    return seen_add(&c->noted, id) != 0 ? fail_nomem() : what;
}

/* ---- records ---- */

/* Each dimension that a dataset names is one, and knows of it. */
static int check_dims(struct checker *c, uint64_t id, const struct object_rec *rec)
{
    struct stored_object dim = {0};
    struct buf none = {0};
    int err = 0;

    for (int d = 0; !err && rec->has_dims && rec->rank != FMT_RANK_NULL && d < rec->rank; d++) {
        struct key key;

        if (rec->dim[d] == 0)
            continue;
        err = object_load(c->f, rec->dim[d], &dim);
        if (err == DREP_ERR_UNSUPPORTED) { /* told of where its record stands */
            err = 0;
            continue;
        }
        if (!err && dim.rec.kind != FMT_DIMENSION)
            err = fail(DREP_ERR_FORMAT, "its dimension %d is not a dimension object (R7.16)", d);
        key_make(&key, rec->dim[d], FMT_TAG_USER);
        key_add_u64(&key, id);
        key_add_u8(&key, (uint8_t)d);
        if (!err && (err = tree_get(c->f->st, &key, &none)) == DREP_ERR_NOT_FOUND)
            fail(err = DREP_ERR_FORMAT, "its dimension %d does not list it (R7.16)", d);
    }
    object_release(&dim);
    buf_release(&none);
    return err;
}

/* The further scales of a dimension are datasets; those that were removed count for nothing. */
static int check_scales(struct checker *c, const struct object_rec *rec)
{
    struct object_head head;

    for (size_t i = 0; i < rec->scales.len; i += 8) {
        uint64_t id = load_u64(rec->scales.p + i);

        if (head_load(c->f, id, &head) == 0 && head.kind != FMT_DATASET)
            return fail(DREP_ERR_FORMAT, "its scale, object %llu, is not a dataset (R7.15)",
                        (unsigned long long)id);
    }
    return 0;
}

static int check_dataset_rep(struct checker *c, const struct object_rec *rec)
{
    struct file_datarep *rep;
    int err = rep_get_number(c->f, rec->datarep, &rep);

    return err == DREP_ERR_UNSUPPORTED_DATAREP ? 0 : err;
}

/* A type of a later version is nobody's mistake. */
static int check_dataset_type(struct checker *c, const struct object_rec *rec)
{
    struct file_datarep *rep;
    struct ftype *ft;
    int err = rep_get_number(c->f, rec->datarep, &rep);

    if (!err)
        err = dataset_type(c->f, rec, rep, &rep->rep, &ft);

    if (!err && rec->fill == FMT_FILL_VALUE)
        err = fail_in(value_check(&rec->fill_value, ft, 1), "fill value");
    return err == DREP_ERR_UNSUPPORTED || err == DREP_ERR_UNSUPPORTED_DATAREP ? 0 : err;
}

/* Filters of a later version; a user's may be loaded when elements are read. */
static int check_filters(struct checker *c, uint64_t id, const struct object_rec *rec)
{
    for (int i = 0; i < rec->nfilters; i++) {
        int err = 0;

        if (!filter_is_users(&rec->filter[i]) && !filter_is_hdf5(&rec->filter[i]))
            err = filters_known(&rec->filter[i], 1, 0);
        if (err)
            return check_unsupported(c, id, err, NOTED);
    }
    return 0;
}

/* Report indices of creation that two entries have. */
static void check_twice(struct checker *c, uint64_t id, const char *what, struct seen *indices)
{
    char text[200];

    seen_sort(indices);
    for (size_t i = 1; id != 0 && i < indices->n; i++) {
        if (indices->p[i] != indices->p[i - 1])
            continue;
        snprintf(text, sizeof text, "object %llu: two %s have the creation index %llu (%s)",
                 (unsigned long long)id, what, (unsigned long long)indices->p[i],
                 indices == &c->owner.attrs ? "R7.6" : "R7.5");
        finding(c, DREP_ERR_FORMAT, 0, text);
    }
    indices->n = 0;
}

/* All entries of an object have been seen. */
static void owner_end(struct checker *c)
{
    struct owner *o = &c->owner;
    char text[200];

    if (o->id != 0 && !o->apart && o->kind == FMT_GROUP && o->links != o->members) {
        snprintf(text, sizeof text, "object %llu: a group of %llu links records %llu (R7.4)",
                 (unsigned long long)o->id, (unsigned long long)o->links,
                 (unsigned long long)o->members);
        finding(c, DREP_ERR_FORMAT, 0, text);
    }
    check_twice(c, o->id, "links or dimensions", &o->indices);
    check_twice(c, o->id, "attributes", &o->attrs);
    o->id = 0;
}

static void owner_begin(struct checker *c, uint64_t id, const struct object_rec *rec)
{
    struct owner *o = &c->owner;

    o->id = id;
    o->apart = false;
    o->later = rec->kind == FMT_LATER || !object_known(rec);
    o->kind = rec->kind;
    o->layout = rec->kind == FMT_DATASET ? rec->layout : FMT_LAYOUT_NULL;
    o->next_attr = rec->next_attr;
    o->next_link = rec->next_link;
    o->members = rec->members;
    o->links = 0;
    o->before.any = false;
}

/* Begin the entries of an object that stand apart.  They come when all records have been seen, so
 * the object's record is looked up. */
static void owner_apart(struct checker *c, uint64_t id)
{
    struct owner *o = &c->owner;
    struct object_head head;

    if (o->id == id && o->apart)
        return;
    owner_end(c);
    if (head_load(c->f, id, &head) != 0)
        return;
    o->id = id;
    o->apart = true;
    o->kind = head.kind;
    o->next_attr = head.next_attr;
}

/* True if the entry belongs to the object whose record came before it. */
static bool of_owner(const struct checker *c, const struct key *key)
{
    return c->owner.id != 0 && c->owner.id == key_object(key->p);
}

static int check_object(struct checker *c, const struct key *key, const uint8_t *p, size_t len)
{
    struct object_rec *rec = mem_alloc(sizeof *rec);
    struct in in;
    int err;

    owner_end(c);
    if (!rec)
        return fail_nomem();
    in_init(&in, p, len);
    err = object_get(&in, rec);
    if (err) {
        fail(err, "%s at byte %zu of its record", in.why, in.err_at);
    } else {
        c->usage.objects++;
        owner_begin(c, key_object(key->p), rec);
        err = seen_add(&c->objects, key_object(key->p));
        if (!err)
            err = seen_add(&c->objects, rec->links | (uint64_t)rec->kind << KIND_SHIFT);
        if (!err && rec->kind == FMT_DATASET && object_known(rec))
            err = seen_add(&c->datasets, key_object(key->p));
        if (!err && (rec->kind == FMT_DATASET || rec->kind == FMT_TYPE) &&
            rec->type >= FMT_TYPE_FIRST)
            err = seen_add(&c->used, rec->type - FMT_TYPE_FIRST);
        if (!err && rec->kind == FMT_DATASET &&
            (rec->changed == 0 || rec->changed > store_slot(c->f->st)->sequence))
            err = fail(DREP_ERR_FORMAT, "commit %llu changed it last, as if there were one (R7.20)",
                       (unsigned long long)rec->changed);
        if (!err && rec->kind == FMT_DATASET)
            err = check_dims(c, key_object(key->p), rec);
        if (!err && key_object(key->p) == FMT_OBJECT_ROOT &&
            (rec->kind == FMT_LATER ? rec->number : rec->kind) != FMT_GROUP)
            err = fail(DREP_ERR_FORMAT, "the root is not a group (R7.2)");
        if (!err &&
            rec->kind == FMT_DATASET) /* the number stands in front of what may be unknown */
            err = check_dataset_rep(c, rec);
        if (!err && (err = object_later_in("unaccounted", rec)))
            err = LATER;
        if (!err && rec->kind == FMT_DATASET)
            err = check_dataset_type(c, rec);
        if (!err && rec->kind == FMT_DATASET)
            err = check_filters(c, key_object(key->p), rec);
        if (!err && rec->kind == FMT_DIMENSION)
            err = check_scales(c, rec);
    }
    mem_free(rec);
    return err;
}

/* A link or dimension with this creation index, in the object whose entries are being walked. */
static int check_member(struct checker *c, const struct key *key, uint64_t index)
{
    if (!of_owner(c, key))
        return 0;
    if (c->owner.kind != FMT_GROUP && c->owner.kind != FMT_LATER)
        return fail(DREP_ERR_FORMAT, "its parent is not a group (R4.19)");
    if (c->owner.kind == FMT_GROUP && index >= c->owner.next_link)
        return fail(DREP_ERR_FORMAT,
                    "its creation index %llu was never assigned: the next one is %llu (R7.5)",
                    (unsigned long long)index, (unsigned long long)c->owner.next_link);
    return seen_add(&c->owner.indices, index);
}

static int check_link(struct checker *c, const struct key *key, const uint8_t *p, size_t len)
{
    struct object_head head;
    struct link_rec rec;
    struct in in;
    int err;

    in_init(&in, p, len);
    if ((err = link_get(&in, &rec)))
        return fail(err, "%s at byte %zu of its record", in.why, in.err_at);
    if (name_stored_check(key->p + FMT_KEY_HEAD, key->len - FMT_KEY_HEAD) != 0)
        return fail(DREP_ERR_FORMAT, "an invalid name (R7.10)");
    name_beyond(key->len - FMT_KEY_HEAD, &rec.kind, &rec.beyond);
    if (rec.kind == FMT_HARD && ((err = seen_add(&c->linked, rec.object)) ||
                                 (err = seen_add(&c->edges, key_object(key->p))) ||
                                 (err = seen_add(&c->edges, rec.object))))
        return err;
    /* An object that is missing is found out when all links have been counted. */
    if (rec.kind == FMT_HARD && head_load(c->f, rec.object, &head) == 0 &&
        head.number != rec.object_kind)
        return fail(DREP_ERR_FORMAT, "it says kind %d, its object %llu is of kind %d (R7.9)",
                    rec.object_kind, (unsigned long long)rec.object, head.number);
    if ((err = check_member(c, key, rec.index)))
        return err;
    c->owner.links++;
    return rec.kind == FMT_LATER ? check_later(rec.beyond, rec.number, rec.flags, FMT_EXTERNAL) : 0;
}

static int check_dim(struct checker *c, const struct key *key, const uint8_t *p, size_t len)
{
    struct dim_rec rec;
    struct in in;
    int err;

    in_init(&in, p, len);
    if ((err = dim_get(&in, &rec)))
        return fail(err, "%s at byte %zu of its record", in.why, in.err_at);
    if (name_stored_check(key->p + DIM_NAME_AT, key->len - DIM_NAME_AT) != 0)
        return fail(DREP_ERR_FORMAT, "an invalid name (R7.10)");
    name_beyond(key->len - DIM_NAME_AT, &rec.kind, &rec.beyond);
    if (rec.kind != FMT_LATER && ((err = seen_add(&c->dims, rec.object)) ||
                                  (err = seen_add(&c->edges, key_object(key->p))) ||
                                  (err = seen_add(&c->edges, rec.object))))
        return err;
    if ((err = check_member(c, key, rec.index)))
        return err;
    return rec.kind == FMT_LATER ? check_later(rec.beyond, rec.number, rec.flags, FMT_PLAIN) : 0;
}

/* Its elements, converted. */
static int read_attr_elements(struct checker *c, const struct attr_rec *rec, struct ftype *ft,
                              int64_t count)
{
    const drep_type *type = ft->type;
    uint64_t bytes;
    void *buf;
    int err;

    if (__builtin_mul_overflow((uint64_t)count, (uint64_t)type->prog.extent, &bytes))
        return fail(DREP_ERR_LIMIT, "more than 2^64 bytes (R6.2)");
    buf = mem_zalloc(1, bytes + 1);
    if (!buf)
        return fail_nomem();
    err = value_unpack_into(&c->f->values, &rec->value, ft, count, type, buf,
                            &DREP_XFER(.range = DREP_RANGE_CLAMP));
    drep_vlen_free(type, count, buf);
    mem_free(buf);
    return err;
}

static int check_attr(struct checker *c, const struct key *key, const uint8_t *p, size_t len)
{
    struct attr_rec rec;
    struct ftype *ft;
    struct in in;
    int64_t count;
    int err;

    in_init(&in, p, len);
    if ((err = attr_get(&in, &rec)))
        return fail(err, "%s at byte %zu of its record", in.why, in.err_at);
    if (key->len == FMT_KEY_HEAD || text_check(key->p + FMT_KEY_HEAD, key->len - FMT_KEY_HEAD) != 0)
        return fail(DREP_ERR_FORMAT, "an invalid name (R7.10)");
    name_beyond(key->len - FMT_KEY_HEAD, &rec.kind, &rec.beyond);
    if (rec.kind == FMT_PLAIN && rec.type >= FMT_TYPE_FIRST &&
        (err = seen_add(&c->used, rec.type - FMT_TYPE_FIRST)))
        return err;
    if (of_owner(c, key) && (err = seen_add(&c->owner.attrs, rec.index)))
        return err;
    if (of_owner(c, key) && rec.index >= c->owner.next_attr)
        return fail(DREP_ERR_FORMAT,
                    "its creation index %lu was never assigned: the next one is %lu (R7.6)",
                    (unsigned long)rec.index, (unsigned long)c->owner.next_attr);
    if (rec.kind == FMT_LATER)
        return check_later(rec.beyond, rec.number, rec.flags, FMT_PLAIN);
    if ((err = ftype_get(c->f, rec.type, false, &ft)) || rec.rank == FMT_RANK_NULL)
        return err;
    if ((err = attr_count(&rec, &count)) || (err = value_check(&rec.value, ft, count)))
        return err;
    return count == 0 || c->depth != CHUNK_DECODE ? 0 : read_attr_elements(c, &rec, ft, count);
}

/* The dataset that uses a dimension names it. */
static int check_user(struct checker *c, const struct key *key)
{
    struct stored_object o = {0};
    int err, d;

    d = key->p[FMT_KEY_HEAD + 8];
    err = object_load(c->f, key_u64(key->p + FMT_KEY_HEAD), &o);
    if (!err && (o.rec.kind != FMT_DATASET || !o.rec.has_dims || o.rec.rank == FMT_RANK_NULL ||
                 d >= o.rec.rank || o.rec.dim[d] != key_object(key->p)))
        err = fail(DREP_ERR_FORMAT, "object %llu does not refer to it for dimension %d (R7.16)",
                   (unsigned long long)key_u64(key->p + FMT_KEY_HEAD), d);
    object_release(&o);
    return err == DREP_ERR_UNSUPPORTED ? 0 : err; /* the dataset is told of elsewhere */
}

static int check_type(struct checker *c, const struct key *key, const uint8_t *p, size_t len)
{
    struct ftype *ft;
    struct in in;
    uint32_t number;
    int err;

    number = key_u32(key->p + FMT_KEY_HEAD);
    in_init(&in, p, len);
    err = seen_add(&c->types, number);
    if (!err)
        err = seen_add(&c->types, in_u64(&in));
    if (!err && in.err)
        err = fail(DREP_ERR_FORMAT, "a datatype entry of %zu bytes (R1.6)", len);
    if (err)
        return err;
    /* Those of datasets are laid out, by the sizes of some representation; the others are not. */
    err = ftype_get(c->f, FMT_TYPE_FIRST + number, NULL, &ft);
    for (size_t i = 0; err == DREP_ERR_FORMAT && i < c->f->reps.n; i++)
        err = ftype_get(c->f, FMT_TYPE_FIRST + number, &c->f->reps.list[i]->rep, &ft);
    return err;
}

/* Makes c->chunks those of this dataset. */
static int chunks_for(struct checker *c, uint64_t id)
{
    struct file_datarep *rep;
    struct ftype *ft;

    if (c->chunks_id == id)
        return c->chunks_err != 0 ? fail(c->chunks_err, "its dataset cannot be read") : 0;
    c->chunks_id = id;
    memset(&c->chunks, 0, sizeof c->chunks);
    c->chunks_err = object_load(c->f, id, &c->object);
    if (c->chunks_err == 0 && c->object.rec.kind != FMT_DATASET)
        c->chunks_err = fail(DREP_ERR_FORMAT, "chunks of an object that is not a dataset (R4.19)");
    if (c->chunks_err == 0)
        c->chunks_err = rep_get_number(c->f, c->object.rec.datarep, &rep);
    if (c->chunks_err == 0)
        c->chunks_err = ftype_get(c->f, c->object.rec.type, &rep->rep, &ft);
    if (c->chunks_err != 0)
        return c->chunks_err;
    chunks_of(c->f, id, &c->object.rec, ft->stored.extent, ft->type->variable, "dataset",
              &c->chunks);
    c->chunks_type = ft;
    return 0;
}

static int check_run(struct run_before *before, int rank, const uint64_t *coord,
                     const struct chunk_rec *rec)
{
    if (rank == 0 && rec->run != 1)
        return fail(DREP_ERR_FORMAT, "a run of %lu chunks, not of one (R8.15)",
                    (unsigned long)rec->run);
    return chunk_order_check(before, rank, coord, rec);
}

/* The payload of a compact dataset. */
static int check_data(struct checker *c, const struct key *key, size_t len)
{
    uint64_t each, bytes;
    int err;

    if (!of_owner(c, key) || c->owner.kind != FMT_DATASET || c->owner.layout != FMT_COMPACT)
        return fail(DREP_ERR_FORMAT, "its object is not a compact dataset (R8.10)");
    if ((err = chunks_for(c, key_object(key->p))) || c->chunks_type->type->variable)
        return err;
    bytes = each = (uint64_t)c->chunks_type->stored.extent;
    for (int d = 0; d < c->object.rec.rank; d++)
        if (__builtin_mul_overflow(bytes, c->object.rec.len[d], &bytes))
            return fail(DREP_ERR_FORMAT, "more than 2^64 bytes (R6.2)");
    if (len > bytes || (each > 0 && len % each != 0))
        err = fail(DREP_ERR_FORMAT, "%zu bytes of payload for elements of %llu, in all %llu (R8.9)",
                   len, (unsigned long long)each, (unsigned long long)bytes);
    return err;
}

/* Counts what a reader cannot verify: chunks written without sums. */
static int check_absent(struct checker *c, uint64_t id, uint64_t blocks, int err)
{
    struct seen *s = &c->absent;
    int more = 0;

    if (s->n == 0 || s->p[s->n - 2] != id) {
        more = seen_add(s, id);
        if (more == 0)
            more = seen_add(s, 0);
    }
    if (more == 0)
        s->p[s->n - 1] += blocks;
    return err ? err : more;
}

/* The record of a plain run or of filtered chunks. */
struct seen_run {
    struct checker *c;
    const struct key *key;
    uint64_t where;
    bool owned; /* the entries are those of the object at hand */
    uint64_t absent;
};

/* True for errors that say nothing of the chunks beside the one that was read. */
static bool is_damage(int err)
{
    return err == DREP_ERR_FORMAT || err == DREP_ERR_CHECKSUM || err == DREP_ERR_CONVERSION;
}

static bool seen_has(const struct seen *s, uint64_t v)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->p[i] == v)
            return true;
    return false;
}

/* A row whose bytes are in another file.  *readable: they can be verified. */
static int check_external(struct checker *c, const struct chunk_rec *rec, bool *readable)
{
    struct buf value = {0};
    struct target_rec target;
    int err = target_entry(c->f->st, rec->file, &value, &target);

    *readable = false;
    if (!err && (rec->offset > target.size || rec->size > target.size - rec->offset))
        err = fail_byte(
            DREP_ERR_FORMAT, rec->offset, "a chunk at byte %llu lies outside file \"%.*s\" (R8.47)",
            (unsigned long long)rec->offset, (int)target.name.len, (const char *)target.name.p);
    buf_release(&value);
    if (err)
        return err;
    c->usage.external += (int64_t)rec->size;
    if (!c->f->st->targets->allowed || c->depth == CHUNK_COUNT || seen_has(&c->lost, rec->file)) {
        c->unread++;
        return 0;
    }
    err = target_read(c->f->st, rec->file, 0, 0, NULL);
    if (err && err != DREP_ERR_NOMEM) {
        c->unread++;
        return seen_add(&c->lost, rec->file) ? fail_nomem() : err;
    }
    if (err)
        return err;
    if (rec->size > c->external) {
        c->external = 0;
        c->too_much = true;
        return fail(
            DREP_ERR_FORMAT,
            "chunks have more than %d times the bytes of the files that they are in (R8.48)",
            TARGET_TIMES);
    }
    c->external -= rec->size;
    *readable = true;
    return 0;
}

/* The entry of another file, which is looked for when a chunk is in it. */
static int check_target(struct checker *c, const struct key *key, const uint8_t *p, size_t len)
{
    uint32_t number = key_u32(key->p + FMT_KEY_HEAD);
    struct target_rec rec;
    struct in in;

    in_init(&in, p, len);
    if (number == 0)
        return fail(DREP_ERR_FORMAT, "file number 0 (R8.43)");
    if (target_get(&in, &rec))
        return fail(in.err, "%s", in.why);
    if (rec.beyond) { /* chunks in it cannot be read */
        fail(DREP_ERR_UNSUPPORTED, "unaccounted: %s", rec.beyond);
        return NOTED;
    }
    if (c->f->st->targets->allowed)
        target_budget(&rec, &c->external);
    return 0;
}

static void tell_unread(struct checker *c)
{
    char text[120];

    if (c->unread == 0 || c->depth == CHUNK_COUNT)
        return;
    snprintf(text, sizeof text, "%llu chunks in other files were not verified%s",
             (unsigned long long)c->unread,
             c->f->st->targets->allowed ? ""
                                        : "; the hint drep_external, or --external, allows it");
    finding(c, 0, 0, text);
}

/* Names the chunk of a record in which the last message's byte is; a run has several. */
static void fail_in_chunk(const struct chunks *cs, const uint64_t *coord,
                          const struct chunk_rec *rec, uint64_t byte, int err)
{
    uint64_t at[DREP_MAX_RANK] = {0};

    memcpy(at, coord, (size_t)cs->rank * sizeof *at);
    if (cs->rank > 0 && rec->size > 0 && byte >= rec->offset)
        at[cs->rank - 1] += (byte - rec->offset) / rec->size;
    fail_chunk(err, cs->rank, at);
}

static int check_one_chunk(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct seen_run *s = ctx;
    struct checker *c = s->c;
    uint64_t bytes, at, absent = 0;
    bool known = true;
    int err = s->owned ? check_run(&c->owner.before, c->chunks.rank, coord, rec) : 0;

    if (!err)
        err = chunk_size_check(&c->chunks, c->chunks_type->stored.extent, rec);
    if (err)
        return err;
    if (__builtin_mul_overflow(rec->size, (uint64_t)rec->run, &bytes))
        return fail(DREP_ERR_FORMAT, "a run of more than 2^64 bytes (R2.14)");
    c->usage.chunks += rec->run;
    s->absent += rec->file && rec->sum[0] == 0;
    if (rec->file && ((err = check_external(c, rec, &known)) || !known))
        return err;
    err = chunk_verify(&c->chunks, coord, rec, c->depth, &absent);
    s->absent += absent;
    if (c->depth != CHUNK_COUNT && advance_add(c->advance, (int64_t)bytes))
        return c->stop = DREP_ERR_STOPPED;
    if (err == DREP_ERR_UNSUPPORTED)
        return 0; /* a filter: told of once for the dataset */
    if (!is_damage(err))
        return err;
    if ((at = (uint64_t)fail_last()->byte) != 0 && seen_add(&c->told, at) != 0)
        return fail_nomem();
    fail_in_chunk(&c->chunks, coord, rec, at ? at - 1 : 0, err);
    report(c, err, s->key, at ? at - 1 : s->where, NULL);
    return c->stop;
}

/* Claims the payload of a record, and the blocks of its sums. */
static int claim_run(struct checker *c, const struct chunk_rec *rec)
{
    struct chunk_lines lines;
    int err = 0;

    if (chunk_lines(rec, &lines))
        return fail(DREP_ERR_FORMAT, "rows of a run overlap (R8.39)");
    for (uint32_t i = 0; !err && i < lines.n; i++)
        err = store_check_claim(c->f->st, lines.at[i].offset, lines.at[i].length, "payload");
    for (uint32_t i = 0; !err && i < rec->far; i++) {
        struct ref ref;

        chunk_ref(rec, i, &ref);
        err = store_check_claim(c->f->st, ref.offset, ref.length, "sums");
    }
    return err;
}

static int check_chunk(struct checker *c, const struct key *key, const uint8_t *p, size_t len,
                       uint64_t where)
{
    struct seen_run s = {.c = c, .key = key, .where = where, .owned = of_owner(c, key)};
    const struct buf value = {.p = (uint8_t *)p, .len = len};
    uint64_t coord[DREP_MAX_RANK];
    struct chunk_rec rec;
    int err = chunks_for(c, key_object(key->p));

    if (!err)
        err = chunk_entry(&c->chunks, key, &value, coord, &rec);
    if (err)
        return check_unsupported(c, key_object(key->p), err, LATER);
    if (s.owned && (c->owner.layout != FMT_CHUNKED && c->owner.layout != FMT_CONTIGUOUS))
        return fail(DREP_ERR_FORMAT, "it belongs to a dataset that has none (R8.13)");
    err = claim_run(c, &rec);
    if (!err)
        err = rows_each(&c->chunks, coord, &rec, check_one_chunk, &s);
    store_check_absent(c->f->st, s.absent);
    return s.absent > 0 ? check_absent(c, c->chunks_id, s.absent, err) : err;
}

static bool object_there(struct checker *c, uint64_t id)
{
    struct key key;

    key_make(&key, id, FMT_TAG_OBJECT);
    return tree_get(c->f->st, &key, NULL) == 0;
}

/* True for entries of an object of a newer version, which only that version understands.  Its
 * attributes are as ours. */
static bool of_later(const struct checker *c, const struct key *key)
{
    return of_owner(c, key) && c->owner.later && key_space(key->p) == FMT_SPACE_STRUCTURE &&
           key_tag(key->p) != FMT_TAG_OBJECT;
}

/* True if an entry stands where it belongs: a tag that has a meaning in one of the two spaces of
 * this version has none in the other. */
static bool placed(const struct key *key)
{
    struct key other;

    key_make_in(&other, key_space(key->p) ^ (FMT_SPACE_STRUCTURE ^ FMT_SPACE_ATTRS), 0,
                key_tag(key->p));
    return key_space(key->p) > FMT_SPACE_ATTRS || !key_known(other.p);
}

/* True if an entry of this tag belongs to what its key names, the file or an object, and its tail
 * has the tag's size.  Names and coordinates are looked at with the record. */
static bool key_fits(const struct key *key)
{
    bool file = key_object(key->p) == FMT_OBJECT_FILE;

    switch (key_known(key->p)) {
    case FMT_TAG_FREE:
    case FMT_TAG_LOG: /* the file's are the store's to check */
        return file;
    case FMT_TAG_TYPE:
    case FMT_TAG_FILES:
        return file && key->len == FMT_KEY_HEAD + 4;
    case FMT_TAG_OBJECT:
    case FMT_TAG_DATA:
        return !file && key->len == FMT_KEY_HEAD;
    case FMT_TAG_USER:
        return !file && key->len == FMT_KEY_HEAD + 9;
    case FMT_TAG_LINK:
    case FMT_TAG_DIM:
    case FMT_TAG_ATTR:
    case FMT_TAG_CHUNK:
        return !file;
    default:
        return true;
    }
}

/* Entries of an object's structure stand behind its record, most of them; one finding for each
 * object that has none. */
static void check_owner(struct checker *c, const struct key *key, uint64_t where)
{
    uint64_t id = key_object(key->p);
    size_t n = c->objects.n;
    char text[100];

    bool beside = key_space(key->p) != FMT_SPACE_STRUCTURE || key_tag(key->p) < FMT_TAG_OBJECT;

    if (key_space(key->p) == FMT_SPACE_ATTRS)
        owner_apart(c, id);
    if (id == FMT_OBJECT_FILE || key_known(key->p) == FMT_TAG_OBJECT || id == c->ownerless ||
        id == c->broken || (n > 0 && c->objects.p[n - 2] == id) || (beside && object_there(c, id)))
        return;
    c->ownerless = id;
    snprintf(text, sizeof text, "object %llu has entries but no record (R4.21)",
             (unsigned long long)id);
    finding(c, DREP_ERR_FORMAT, where, text);
}

/* An entry of a later version, or of an application; its object is one of this file all the same.
 */
static int check_unknown_tag(struct checker *c, const struct key *key)
{
    uint64_t next = store_slot(c->f->st)->next_object;

    if (key_object(key->p) >= next)
        return fail(DREP_ERR_FORMAT, "object %llu has it, and the next one would be %llu (R2.18)",
                    (unsigned long long)key_object(key->p), (unsigned long long)next);
    unknown_add(&c->unknown, key->p);
    return 0;
}

static int check_entry(const struct key *key, const uint8_t *value, size_t len, uint64_t where,
                       void *ctx)
{
    struct checker *c = ctx;
    const char *what = "";
    int err = 0;

    if (key->len < FMT_KEY_HEAD)
        return 0;
    check_owner(c, key, where);
    if (!placed(key))
        err = fail(DREP_ERR_FORMAT, "tag %d in space %d of keys (R4.19)", key_tag(key->p),
                   key_space(key->p));
    else if (of_later(c, key))
        return c->stop;
    else if (!key_fits(key))
        err = fail(DREP_ERR_FORMAT, "tag %d with a key of %zu bytes (R4.19)", key_tag(key->p),
                   key->len);
    if (err) {
        report(c, err, key, where, "entry");
        return c->stop;
    }
    switch (key_known(key->p)) {
    case FMT_TAG_OBJECT:
        what = "record";
        if ((err = check_object(c, key, value, len)) && err != NOTED)
            c->broken = key_object(key->p);
        break;
    case FMT_TAG_LINK:
        what = "link";
        err = check_link(c, key, value, len);
        break;
    case FMT_TAG_DIM:
        what = "dimension";
        err = check_dim(c, key, value, len);
        break;
    case FMT_TAG_ATTR:
        what = "attribute";
        err = check_attr(c, key, value, len);
        break;
    case FMT_TAG_TYPE:
        what = "datatype";
        err = check_type(c, key, value, len);
        break;
    case FMT_TAG_FILES:
        what = "file";
        err = check_target(c, key, value, len);
        break;
    case FMT_TAG_DATA:
        what = "data";
        err = check_data(c, key, len);
        break;
    case FMT_TAG_USER:
        what = "user";
        err = check_user(c, key);
        break;
    case FMT_TAG_CHUNK:
        what = "chunk";
        err = check_chunk(c, key, value, len, where);
        break;
    default:
        what = "entry";
        err = check_unknown_tag(c, key);
        break;
    }
    if (err == DREP_ERR_UNSUPPORTED)
        err = (fail_in(err, "unaccounted"), NOTED);
    if (err && err != DREP_ERR_UNSUPPORTED_DATAREP) /* of a later version: no damage */
        report(c, err, key, where, what);
    return c->stop;
}

static void tell_unknown(struct checker *c, const char *what, const struct unknown_entries *of,
                         int n)
{
    char text[120];

    for (int i = 0; i < n; i++) {
        if (of[i].entries == 0)
            continue;
        snprintf(text, sizeof text,
                 "unaccounted, unknown %s %d, written by a newer version: %llu entries", what, i,
                 (unsigned long long)of[i].entries);
        c->later++;
        finding(c, 0, 0, text);
    }
}

/* Entries of unknown tags and spaces, by number; an application's are accounted for. */
static void tell_tags(struct checker *c)
{
    tell_unknown(c, "tag", c->unknown.tag, 256);
    tell_unknown(c, "space of keys", c->unknown.space, FMT_SPACE_APPLICATIONS);
}

/* ---- counts ---- */

static uint64_t count_of(const struct seen *s, uint64_t v, size_t *at)
{
    uint64_t n = 0;

    while (*at < s->n && s->p[*at] < v)
        ++*at;
    while (*at < s->n && s->p[*at] == v) {
        ++*at;
        n++;
    }
    return n;
}

/* The place of an object among the pairs; their number if it is not there. */
static size_t pair_of(const struct seen *objects, uint64_t id)
{
    size_t low = 0, high = objects->n / 2;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (objects->p[2 * mid] < id)
            low = mid + 1;
        else
            high = mid;
    }
    return 2 * low < objects->n && objects->p[2 * low] == id ? low : objects->n / 2;
}

/* The place where the pairs of this group begin. */
static size_t edges_of(const struct seen *e, uint64_t group)
{
    size_t low = 0, high = e->n / 2;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (e->p[2 * mid] < group)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* From the root every object is reached, and no group through itself: a walk that keeps the groups
 * above it would come back. The walk has a stack of its own: a hostile file may nest groups as deep
 * as it likes. */
static int check_reach(struct checker *c)
{
    struct seen stack = {0}; /* group, next edge: pairs */
    size_t n = c->objects.n / 2, visited = 0;
    uint8_t *state = mem_zalloc(n + 1, 1); /* 0 not visited, 1 above the walk, 2 done */
    char text[200];
    int err = !state ? fail_nomem() : seen_add(&stack, FMT_OBJECT_ROOT);

    if (!err)
        err = seen_add(&stack, edges_of(&c->edges, FMT_OBJECT_ROOT));
    if (!err && n > 0 && c->objects.p[0] == FMT_OBJECT_ROOT)
        state[0] = 1, visited = 1;
    while (!err && stack.n > 0) {
        uint64_t group = stack.p[stack.n - 2], *edge = &stack.p[stack.n - 1], to;
        size_t at = pair_of(&c->objects, group), next;

        if (2 * *edge >= c->edges.n || c->edges.p[2 * *edge] != group) {
            if (at < n)
                state[at] = 2;
            stack.n -= 2;
            continue;
        }
        to = c->edges.p[2 * (*edge)++ + 1];
        next = pair_of(&c->objects, to);
        if (next == n || state[next] == 2)
            continue;
        if (state[next] == 1) {
            snprintf(text, sizeof text, "group %llu is its own ancestor (R7.7)",
                     (unsigned long long)to);
            finding(c, DREP_ERR_FORMAT, 0, text);
            continue;
        }
        state[next] = 1;
        visited++;
        if (!(err = seen_add(&stack, to)))
            err = seen_add(&stack, edges_of(&c->edges, to));
    }
    for (size_t i = 0; !err && c->later == 0 && visited < n && i < n; i++) {
        if (state[i] != 0)
            continue;
        snprintf(text, sizeof text,
                 c->objects.p[2 * i + 1] >> KIND_SHIFT == FMT_DIMENSION
                     ? "no group leads to dimension %llu (R7.17)"
                     : "no link leads to object %llu (R7.7)",
                 (unsigned long long)c->objects.p[2 * i]);
        finding(c, DREP_ERR_FORMAT, 0, text);
    }
    mem_free(state);
    mem_free(stack.p);
    return err;
}

/* Numbers are given in order: what is made next must not get one that is in use. */
static void check_next(struct checker *c, const char *what, const struct seen *seen, uint64_t next)
{
    char text[200];

    if (seen->n == 0 || seen->p[seen->n - 2] < next)
        return;
    snprintf(text, sizeof text, "%s %llu exists, and the next one would be %llu (R2.18)", what,
             (unsigned long long)seen->p[seen->n - 2], (unsigned long long)next);
    finding(c, DREP_ERR_FORMAT, 0, text);
}

/* Report an id that entries name and that no object has. */
static void check_missing(struct checker *c, const struct seen *s, size_t at, uint64_t before,
                          const char *what, const char *rule)
{
    char text[200];

    if (at >= s->n || s->p[at] >= before)
        return;
    snprintf(text, sizeof text, "a %s refers to object %llu, which is missing (%s)", what,
             (unsigned long long)s->p[at], rule);
    finding(c, DREP_ERR_FORMAT, 0, text);
}

/* Links lead to all objects but dimensions, which have one entry in one group. */
static void check_links(struct checker *c)
{
    size_t at = 0, dim_at = 0;
    char text[200];

    seen_sort(&c->linked);
    seen_sort(&c->dims);
    for (size_t i = 0; i + 1 < c->objects.n; i += 2) {
        uint64_t id = c->objects.p[i], links = (uint32_t)c->objects.p[i + 1], n, dims;
        uint8_t kind = (uint8_t)(c->objects.p[i + 1] >> KIND_SHIFT);

        check_missing(c, &c->linked, at, id, "link", "R7.9");
        check_missing(c, &c->dims, dim_at, id, "dimension's entry", "R7.14");
        n = count_of(&c->linked, id, &at) + (id == FMT_OBJECT_ROOT);
        dims = count_of(&c->dims, id, &dim_at);
        if (kind == FMT_DIMENSION && n > 0)
            snprintf(text, sizeof text, "a link leads to object %llu, a dimension (R7.9)",
                     (unsigned long long)id);
        else if (kind == FMT_DIMENSION && dims != 1 && (c->later == 0 || dims > 1))
            snprintf(text, sizeof text,
                     "dimension %llu has %llu entries in groups, not one (R7.17)",
                     (unsigned long long)id, (unsigned long long)dims);
        else if (kind != FMT_DIMENSION && kind != FMT_LATER && dims > 0)
            snprintf(text, sizeof text, "object %llu is not a dimension, as its entry says (R7.14)",
                     (unsigned long long)id);
        else if (n + dims != links && (c->later == 0 || n + dims > links))
            snprintf(
                text, sizeof text, "object %llu counts %llu hard links, %llu refer to it (R7.3)",
                (unsigned long long)id, (unsigned long long)links, (unsigned long long)(n + dims));
        else
            continue;
        finding(c, DREP_ERR_FORMAT, 0, text);
    }
    check_missing(c, &c->linked, at, UINT64_MAX, "link", "R7.9");
    check_missing(c, &c->dims, dim_at, UINT64_MAX, "dimension's entry", "R7.14");
}

static void check_counts(struct checker *c)
{
    const struct slot *slot = store_slot(c->f->st);
    char text[200];
    size_t at = 0;

    if (c->findings == 0 && (c->objects.n == 0 || c->objects.p[0] != FMT_OBJECT_ROOT))
        finding(c, DREP_ERR_FORMAT, 0, "the root group is missing (R7.2)");
    check_next(c, "object", &c->objects, slot->next_object);
    check_next(c, "datatype", &c->types, slot->next_type);
    check_links(c);
    seen_sort(&c->used);
    for (size_t i = 0; i + 1 < c->types.n; i += 2) {
        uint64_t n = count_of(&c->used, c->types.p[i], &at);

        if (n == c->types.p[i + 1] || (c->later != 0 && n < c->types.p[i + 1]))
            continue;
        snprintf(text, sizeof text,
                 "datatype %llu counts %llu uses, %llu records refer to it (R5.6)",
                 (unsigned long long)c->types.p[i], (unsigned long long)c->types.p[i + 1],
                 (unsigned long long)n);
        finding(c, DREP_ERR_FORMAT, 0, text);
    }
}

/* ---- deep: every element ---- */

/* The walk over the elements of a dataset. */
struct deep_walk {
    struct checker *c;
    uint64_t id;
    int64_t undecoded;     /* chunks whose filters are not here, */
    struct fail_state why; /* and which those are */
};

static void deep_finding(struct deep_walk *d, int err)
{
    char name[FMT_NAME_MAX + 40], text[2500];
    struct fail_state why;

    fail_save(&why);
    if (read_begin(d->c->f) == 0) {
        find_path(d->c, d->id);
        read_done(d->c->f, 0);
    }
    name_object(d->c, d->id, "dataset", name, sizeof name);
    snprintf(text, sizeof text, "%s: %s", name, why.text);
    fail_restore(&why);
    finding(d->c, err, 0, text);
}

/* The walk over records told of the byte of the last message. */
static bool told_of(const struct checker *c)
{
    uint64_t byte = (uint64_t)fail_last()->byte;

    return byte != 0 && c->told.n > 0 &&
           bsearch(&byte, c->told.p, c->told.n, sizeof byte, by_value) != NULL;
}

static int check_damage(int err, void *ctx)
{
    struct deep_walk *d = ctx;

    if (err == DREP_ERR_UNSUPPORTED) { /* others may be read */
        if (d->undecoded++ == 0)
            fail_save(&d->why);
        return 0;
    }
    if (!is_damage(err))
        return err;
    if (!told_of(d->c))
        deep_finding(d, err);
    return d->c->stop;
}

/* noted: how far the list of what was told has been looked through. */
static void read_dataset(struct checker *c, uint64_t id, size_t *noted)
{
    struct deep_walk walk = {.c = c, .id = id};
    drep_dataset *ds = NULL;
    char name[40];
    int err = read_begin(c->f);

    snprintf(name, sizeof name, "object %llu", (unsigned long long)id);
    if (!err)
        err = read_done(c->f, dataset_get(c->f, id, name, &ds));
    if (!err && ds->rec.rank != FMT_RANK_NULL)
        err = stored_read_all(ds, &c->budget, c->advance, check_damage, &walk);
    if (err == DREP_ERR_STOPPED)
        c->stop = err;
    if (!err && walk.undecoded > 0)
        err = fail(DREP_ERR_UNSUPPORTED, "%lld chunks cannot be decoded: %s",
                   (long long)walk.undecoded, walk.why.text);
    /* What a later version wrote is no damage. Functions that are not here are none either, but
     * nobody has looked at the elements: a finding. */
    if (err == DREP_ERR_UNSUPPORTED || (err == DREP_ERR_UNSUPPORTED_DATAREP && !ds)) {
        if (count_of(&c->noted, id, noted) == 0) {
            fail_in(err, "unaccounted");
            deep_finding(&walk, 0);
        }
    } else if (err && c->stop == 0) {
        deep_finding(&walk, err);
    }
    dataset_put(ds);
}

/* ---- entry ---- */

static int check_gap(uint64_t offset, uint64_t length, void *ctx)
{
    struct checker *c = ctx;

    return c->findings != 0 || c->later != 0 ? 0 : c->leak(offset, length, c->ctx);
}

/* Datasets without a path are told by their number. */
static int tell_absent(struct checker *c, drep_unsealed_fn *fn)
{
    int err = 0;

    for (size_t i = 0; !err && i + 1 < c->absent.n; i += 2) {
        uint64_t id = c->absent.p[i];
        char *path = NULL, text[40];

        snprintf(text, sizeof text, "object %llu", (unsigned long long)id);
        err = drep_object_path(c->f, id, &path);
        if (!err || err == DREP_ERR_NOT_FOUND)
            err = fn(path ? path : text, (int64_t)c->absent.p[i + 1], c->ctx);
        mem_free(path);
    }
    return err;
}

static int check_open(drep_file *file, enum chunk_depth depth, drep_finding_fn *fn,
                      drep_leak_fn *leak, drep_unsealed_fn *unsealed, void *ctx, int64_t *findings,
                      drep_usage *usage)
{
    struct checker c = {.f = file, .fn = fn, .leak = leak, .ctx = ctx, .depth = depth};
    int64_t store_findings = 0;
    size_t noted = 0;
    int err = read_begin_stored(file);

    if (err)
        return err;
    c.budget = store_slot(file->st)->end;
    c.advance = advance_begin(0);
    err = store_check(file->st, fn, ctx, check_entry, leak ? check_gap : NULL, &c, &store_findings,
                      &c.usage);
    c.findings += store_findings;
    object_release(&c.object);
    owner_end(&c);
    if (!err && c.stop == 0) {
        tell_tags(&c);
        tell_unread(&c);
        check_counts(&c);
        err = check_reach(&c);
    }
    err = read_end(file, err);
    if (!err && depth == CHUNK_DECODE && !c.too_much) {
        seen_sort(&c.told);
        walk_begin(file);
        for (size_t i = 0; c.stop == 0 && i < c.datasets.n; i++)
            read_dataset(&c, c.datasets.p[i], &noted);
        walk_end();
    }
    mem_free(c.owner.indices.p);
    mem_free(c.owner.attrs.p);
    mem_free(c.linked.p);
    mem_free(c.dims.p);
    mem_free(c.edges.p);
    mem_free(c.objects.p);
    mem_free(c.types.p);
    mem_free(c.used.p);
    mem_free(c.datasets.p);
    mem_free(c.noted.p);
    mem_free(c.lost.p);
    mem_free(c.told.p);
    mem_free(c.path);
    advance_end(c.advance);
    if (!err && c.stop == 0 && unsealed)
        err = tell_absent(&c, unsealed);
    mem_free(c.absent.p);
    if (err)
        return err;
    if (c.stop != 0)
        return c.stop;
    if (findings)
        *findings = c.findings;
    if (usage)
        *usage = c.usage;
    return 0;
}

/* Of a handle that writes, the last commit: what it has changed since is not looked at. */
static int check(drep_file *file, enum chunk_depth depth, drep_finding_fn *fn, drep_leak_fn *leak,
                 drep_unsealed_fn *unsealed, void *ctx, int64_t *findings, drep_usage *usage)
{
    drep_file *last;
    int err;

    if ((err = file_check(file)))
        return err;
    if (depth == CHUNK_DECODE && (file->amode & DREP_HEADER_ONLY))
        return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                    "%s: a deep check needs elements, which DREP_HEADER_ONLY does without",
                    file->path);
    if (!store_writable(file->st))
        return check_open(file, depth, fn, leak, unsealed, ctx, findings, usage);
    if ((err = read_begin(file)))
        return err;
    if (store_slot(file->st)->sequence != 0) {
        err = file_last_commit(file, &last);
        if (!err) {
            err = check_open(last, depth, fn, leak, unsealed, ctx, findings, usage);
            file_end(last);
        }
    } else { /* nothing has been committed yet */
        if (findings)
            *findings = 0;
        if (usage)
            *usage = (drep_usage){0};
    }
    return read_done(file, err);
}

int drep_check(drep_file *file, int deep, drep_finding_fn *fn, void *ctx, int64_t *findings)
{
    int err = file_check(file);

    if (!err)
        err = shared_refuses(file, "drep_check");
    return err ? err
               : check(file, deep ? CHUNK_DECODE : CHUNK_SUMS, fn, NULL, NULL, ctx, findings, NULL);
}

int drep_usage_get(drep_file *file, drep_usage *out)
{
    drep_usage usage;
    int err = sized_check(SIZED_drep_usage, out, "drep_usage_get");

    if (!err)
        err = check(file, CHUNK_COUNT, NULL, NULL, NULL, NULL, NULL, &usage);
    if (!err)
        sized_put(SIZED_drep_usage, &usage, out);
    return err;
}

int drep_leaks(drep_file *file, drep_leak_fn *fn, void *ctx)
{
    if (!fn)
        return fail(DREP_ERR_ARG, "drep_leaks: null argument");
    return check(file, CHUNK_COUNT, NULL, fn, NULL, ctx, NULL, NULL);
}

struct telling {
    drep_unsealed_fn *fn;
    void *ctx;
};

static int tell(const char *path, int64_t blocks, void *ctx)
{
    struct telling *t = ctx;

    return t->fn(path, blocks, t->ctx);
}

/* Damage hides what it hides; what could not be read this time is an error. */
static int stop_at_trouble(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)offset, (void)ctx;
    return err == DREP_ERR_NOMEM || err == DREP_ERR_IO ? fail(err, "%s", message) : 0;
}

int drep_unsealed(drep_file *file, drep_unsealed_fn *fn, void *ctx)
{
    if (!fn)
        return fail(DREP_ERR_ARG, "drep_unsealed: null argument");
    return check(file, CHUNK_COUNT, stop_at_trouble, NULL, tell, &(struct telling){fn, ctx}, NULL,
                 NULL);
}
