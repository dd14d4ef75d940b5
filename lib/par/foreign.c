/* foreign.c - datasets of the merged file, on a rank that knows them by other numbers or not at
 * all. */
/* SPDX-License-Identifier: MIT */
#include "par/foreign.h"

#include "par/changes.h"
#include "base/mem.h"
#include "name/object.h"
#include "tree/find.h"

#include <stdio.h>
#include <string.h>

/* Ids of these handles have a bit that no other id has. */
#define FOREIGN (UINT64_C(1) << 62)

uint64_t pairs_map(const void *pairs, uint64_t own)
{
    const struct id_pairs *ids = pairs;
    const struct id_pair *pair = find_own(ids->p, ids->n, sizeof *ids->p, own);

    return pair ? pair->id : own;
}

/* ---- rank 0 ---- */

static int put_type(drep_file *f, uint32_t ref, struct out *out)
{
    struct peek peek = {0};
    struct key key;
    int err = 0;

    if (ref >= FMT_TYPE_FIRST) {
        key_make(&key, FMT_OBJECT_FILE, FMT_TAG_TYPE);
        key_add_u32(&key, ref - FMT_TYPE_FIRST);
        err = tree_peek(f->st, &key, &peek);
    }
    out_u32(out, (uint32_t)(peek.len > 8 ? peek.len - 8 : 0));
    if (peek.len > 8)
        out_bytes(out, peek.p + 8, peek.len - 8);
    tree_peeked(&peek);
    return err;
}

int foreign_put(drep_file *f, uint64_t id, struct buf *b)
{
    struct stored_object o = {0};
    struct file_datarep *rep;
    struct buf one = {0};
    struct out out;
    int err = object_load(f, id, &o), done;

    if (!err)
        err = rep_get_number(f, o.rec.datarep, &rep);
    if (!err) {
        buf_out(&one, &out);
        out_u64(&out, id);
        out_u32(&out, (uint32_t)o.bytes.len);
        out_bytes(&out, o.bytes.p, o.bytes.len);
        err = own_rep_put(rep, &out);
        if (!err)
            err = put_type(f, o.rec.type, &out);
        done = buf_done(&one, &out);
        err = err ? err : done;
    }
    if (!err)
        err = buf_add(b, one.p, one.len);
    object_release(&o);
    buf_release(&one);
    return err;
}

/* ---- the others ---- */

/* The record with this rank's numbers.  Dimensions do not matter to elements. */
static int own_record(drep_file *f, struct object_rec *rec, const struct own_rep *theirs,
                      const struct span *type, struct buf *record)
{
    struct file_datarep *rep;
    struct out out;
    int err = own_rep_find(f, 0, theirs, &rep);

    if (!err)
        err = own_rep_use(f, 0, rep, theirs);
    if (!err && type->len > 0)
        err = ftype_use_record(f, type, &rec->type);
    if (err)
        return err;
    rec->datarep = rep->number;
    rec->has_dims = 0;
    buf_out(record, &out);
    object_put(&out, rec);
    return buf_done(record, &out);
}

/* Lend the elements that this rank has written to the handle. */
static void lend_pending(drep_file *f, struct foreign *g, const struct id_pairs *ids, uint64_t id)
{
    for (g->pending = ranks_of(f)->pending; g->pending; g->pending = g->pending->next)
        if (pairs_map(ids, g->pending->object) == id)
            break;
    if (!g->pending)
        return;
    g->own = g->pending->object;
    g->pending->object = g->ds->id;
}

static int get_one(drep_file *f, const struct id_pairs *ids, struct in *in, struct foreign *g)
{
    uint64_t id = in_u64(in);
    struct span bytes, type;
    struct own_rep rep;
    struct object_rec rec;
    struct buf record = {0};
    struct in one;
    char text[40];
    int err;

    span_get(in, in_u32(in), &bytes);
    own_rep_get(in, &rep);
    span_get(in, in_u32(in), &type);
    in_init(&one, bytes.p, bytes.len);
    if (in->err || object_get(&one, &rec))
        return fail(DREP_ERR_FAILED, "rank 0: a dataset that cannot be read");
    err = own_record(f, &rec, &rep, &type, &record);
    snprintf(text, sizeof text, "object %llu", (unsigned long long)id);
    if (!err)
        err = dataset_get_created(f, id | FOREIGN, text, &record, &g->ds);
    buf_release(&record);
    if (!err)
        lend_pending(f, g, ids, id);
    return err;
}

int foreign_get(drep_file *f, const struct id_pairs *ids, struct in *in, size_t n,
                struct foreign_list *l)
{
    int err = 0;

    l->p = mem_zalloc(n + 1, sizeof *l->p);
    l->ds = mem_zalloc(n + 1, sizeof(drep_dataset *));
    if (!l->p || !l->ds)
        return fail_nomem();
    for (; !err && l->n < n; l->n++) {
        err = get_one(f, ids, in, &l->p[l->n]);
        l->ds[l->n] = l->p[l->n].ds;
    }
    return err;
}

void foreign_release(struct foreign_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct foreign *g = &l->p[i];

        if (g->pending)
            g->pending->object = g->own;
        dataset_put(g->ds);
    }
    mem_free(l->p);
    mem_free(l->ds);
    *l = (struct foreign_list){.n = 0};
}
