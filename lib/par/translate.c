/* translate.c - records of another rank, with the numbers of the merged file.
 *
 * Objects have provisional ids on the rank that made them, and datatypes and representations
 * numbers of its own: datatypes are found again by their records, representations by their names.
 */
/* SPDX-License-Identifier: MIT */
#include "par/merging.h"

#include "conv/refs.h"
#include "file/types.h"
#include "name/attr.h"
#include "tree/find.h"

#include <datarep.h>
#include <string.h>

uint64_t translate_id(const struct merging *m, uint64_t own)
{
    const struct new_object *o;

    if (own < m->first_new)
        return own;
    o = changes_made(m->c, own);
    return o ? o->id : 0;
}

/* ---- datatypes and representations ---- */

/* The record of a datatype behind its count of uses, as the rank has it. */
static int type_record(const struct merging *m, uint32_t own, struct span *record)
{
    const struct change *e;
    struct key key;

    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_TYPE);
    key_add_u32(&key, own - FMT_TYPE_FIRST);
    e = changes_find(m->c, key.p, key.len);
    if (!e || e->size < 8)
        return fail(DREP_ERR_FAILED, "rank %d has not sent its datatype number %u", m->c->rank,
                    own - FMT_TYPE_FIRST);
    *record = (struct span){e->value + 8, e->size - 8};
    return 0;
}

int translate_type(struct merging *m, uint32_t own, uint32_t *ref)
{
    struct span record;
    int err;

    *ref = own;
    if (own < FMT_TYPE_FIRST)
        return 0;
    err = type_record(m, own, &record);
    return err ? err : ftype_use_record(m->f, &record, ref);
}

int same_type(struct merging *m, uint32_t own, uint32_t ref, bool *same)
{
    struct span record;
    struct peek peek;
    struct key key;
    int err;

    *same = own == ref;
    if (own < FMT_TYPE_FIRST || ref < FMT_TYPE_FIRST)
        return 0;
    *same = false;
    if ((err = type_record(m, own, &record)))
        return err;
    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_TYPE);
    key_add_u32(&key, ref - FMT_TYPE_FIRST);
    if ((err = tree_peek(m->f->st, &key, &peek)))
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    *same = peek.len == record.len + 8 && memcmp(peek.p + 8, record.p, record.len) == 0;
    tree_peeked(&peek);
    return 0;
}

int translate_rep(struct merging *m, uint32_t own, struct file_datarep **out)
{
    size_t i = 0;

    while (i < m->c->nreps && m->c->rep[i].number != own)
        i++;
    return i < m->c->nreps
               ? own_rep_find(m->f, m->c->rank, &m->c->rep[i], out)
               : fail(DREP_ERR_FAILED, "rank %d has not sent its representation number %u",
                      m->c->rank, own);
}

int merge_reps(struct merging *m)
{
    struct file_datarep *entry;
    int err = 0;

    for (size_t i = 0; !err && i < m->c->nreps; i++) {
        const struct own_rep *rep = &m->c->rep[i];

        err = own_rep_find(m->f, m->c->rank, rep, &entry);
        if (!err)
            err = own_rep_use(m->f, m->c->rank, entry, rep);
    }
    return err;
}

/* ---- values ---- */

/* References that lead nowhere are found after the value. */
struct ref_translation {
    const struct merging *m;
    uint64_t missing;
};

static uint64_t translate_reference(void *ctx, uint64_t own)
{
    struct ref_translation *t = ctx;
    uint64_t id = translate_id(t->m, own);

    if (id == 0 && own != 0)
        t->missing = own;
    return id;
}

/* Read a datatype of the rank.  Compounds in the records of datasets are laid out by the sizes of
 * their representation; sizes NULL: they are not. */
static int type_read(const struct merging *m, uint32_t own, const struct type_sizes *sizes,
                     drep_type **type)
{
    struct span record;
    struct prog stored;
    struct in in;
    int err = type_record(m, own, &record);

    if (err)
        return err;
    in_init(&in, record.p, record.len);
    err = type_get(&in, sizes, type, sizes ? &stored : NULL);
    if (!err && sizes)
        prog_release(&stored);
    return err;
}

int translate_value(struct merging *m, uint32_t own_type, const struct type_sizes *sizes,
                    int64_t count, struct span *value, struct buf *b)
{
    struct ref_translation t = {.m = m};
    drep_type *type = NULL;
    int err;

    if (own_type < FMT_TYPE_FIRST || count == 0)
        return 0;
    err = type_read(m, own_type, sizes, &type);
    if (!err && type_refers(type)) {
        err = buf_set(b, value->p, value->len);
        if (!err)
            err = value_refs(b, type, count, translate_reference, &t);
        *value = (struct span){b->p, b->len};
    }
    drep_type_free(type);
    if (!err && t.missing)
        err =
            fail(DREP_ERR_NOT_COMMITTED, "rank %d: a reference to object %llu, which is not there",
                 m->c->rank, (unsigned long long)t.missing);
    return err;
}

/* ---- records ---- */

int translate_attr(struct merging *m, const struct change *e, struct attr_rec *attr, struct buf *b)
{
    struct span bytes = change_value(e);
    int err = read_attr(m, &bytes, attr);
    uint32_t own = err ? 0 : attr->type;
    int64_t count;

    if (!err)
        err = attr_count(attr, &count);
    if (!err)
        err = translate_type(m, own, &attr->type);
    return err ? err : translate_value(m, own, NULL, count, &attr->value, b);
}

static void translate_dims(const struct merging *m, struct object_rec *rec)
{
    for (int d = 0; rec->has_dims && rec->rank != FMT_RANK_NULL && d < rec->rank; d++)
        rec->dim[d] = translate_id(m, rec->dim[d]);
}

/* An id that no object has (any more) counts for nothing. */
static int translate_scales(const struct merging *m, struct object_rec *rec, struct buf *b)
{
    int err = buf_set(b, rec->scales.p, rec->scales.len);

    for (size_t i = 0; !err && i + 8 <= b->len; i += 8)
        store_u64(b->p + i, translate_id(m, load_u64(b->p + i)));
    rec->scales = (struct span){b->p, b->len};
    return err;
}

static int translate_dataset(struct merging *m, struct object_rec *rec, struct buf *b)
{
    struct file_datarep *entry;
    uint32_t own = rec->type;
    int err = translate_rep(m, rec->datarep, &entry);

    if (!err)
        err = translate_type(m, own, &rec->type);
    if (!err)
        rec->datarep = entry->number;
    if (!err)
        translate_dims(m, rec);
    if (!err && rec->fill == FMT_FILL_VALUE)
        err = translate_value(m, own, &entry->rep.sizes, 1, &rec->fill_value, b);
    return err;
}

int translate_object(struct merging *m, struct object_rec *rec, struct buf *b)
{
    switch (rec->kind) {
    case FMT_DATASET:
        return translate_dataset(m, rec, b);
    case FMT_TYPE:
        return translate_type(m, rec->type, &rec->type);
    case FMT_DIMENSION:
        return translate_scales(m, rec, b);
    default:
        return 0;
    }
}

int translate_link(const struct merging *m, struct link_rec *link)
{
    if (link->kind == FMT_HARD)
        link->object = translate_id(m, link->object);
    return link->kind != FMT_HARD || link->object
               ? 0
               : fail(DREP_ERR_FAILED, "rank %d has not sent an object that it links to",
                      m->c->rank);
}
