/* functions.c - elements between the file and memory, through a user's functions.
 *
 * A call costs far more than an item, so the items of a transfer are brought together:
 * stored ones back to back, those of memory where they are if the function can work there,
 * else in native elements.  One call converts them, more only where staging is full.  A
 * function sees predefined types; the other items of an element go beside it. */
/* SPDX-License-Identifier: MIT */
#include "conv/functions.h"

#include "base/error.h"
#include "base/mem.h"
#include "conv/memory.h"
#include "rep/dispatch.h"
#include "rep/packed.h"

#include <datarep.h>
#include <string.h>

#define LONG_RUN 32 /* elements from which on runs of memory are converted one by one */

/* ---- setting up ---- */

/* True if both types tile into the same sequence of types that functions convert. */
static bool same_signature(const drep_type *a, const drep_type *b)
{
    int64_t left = a->items > b->items ? a->items : b->items, na = 0, nb = 0;
    int64_t less = a->items > b->items ? b->items : a->items;
    drep_cursor ca, cb;
    drep_run ra, rb;

    if (less == 0 || left % less != 0)
        return false;
    if (cursor_init(&ca, &a->prog, 0) != 0 || cursor_init(&cb, &b->prog, 0) != 0)
        return false;
    while (left > 0) {
        int64_t n;

        if (na == 0) {
            cursor_next(&ca, left, &ra);
            na = ra.count;
        }
        if (nb == 0) {
            cursor_next(&cb, left, &rb);
            nb = rb.count;
        }
        if (ra.type != rb.type || !leaf_called(ra.type))
            return false;
        n = na < nb ? na : nb;
        na -= n;
        nb -= n;
        left -= n;
    }
    return true;
}

/* True if the items of a stored element lie back to back, in their order. */
static bool back_to_back(const struct conv *c)
{
    int64_t left = c->stored->items, end = 0;
    drep_cursor cursor;
    drep_run run;

    if (cursor_init(&cursor, c->stored, 0) != 0)
        return false;
    for (; left > 0 && cursor_next(&cursor, left, &run); left -= run.count) {
        int64_t size = c->sizes->size[run.type->code];

        if (run.offset != end || (run.count > 1 && run.stride != size))
            return false;
        end += run.count * size;
    }
    return end == c->stored->extent;
}

int functions_init(struct conv *c)
{
    const drep_type *type = c->ft->type;
    int err = type_called(type, &c->called);

    c->called_size = 0;
    c->packed = c->same_items = false;
    if (!err && c->called)
        err = packed_size(c->sizes, c->called, 0, c->called->items, &c->called_size);
    if (!err && c->called == type) {
        c->packed = back_to_back(c);
        c->same_items = same_signature(c->mem, type);
    }
    return err;
}

/* ---- calls ---- */

/* One call of the user's function for items of `type` from `position` on and their packed bytes. */
static int call(struct conv *c, void *user, const drep_type *type, int64_t position, int64_t items,
                uint8_t *file, bool writing)
{
    const struct datarep *rep = c->rep->datarep;

    return writing ? rep_write_items(rep, c->sizes, user, type, position, items, file, c->staging,
                                     NULL, NULL)
                   : rep_read_items(rep, c->sizes, user, type, position, items, file, c->staging,
                                    NULL, NULL);
}

/* ---- memory and native elements ---- */

/* Goes between memory and native elements. */
struct native {
    struct conv *c;
    char *mem, *elem;
    struct rep_opts opts;
    struct rep_var move;
    bool writing;
};

/* Converts n native elements from number `first` on, with memory as this prog lays it out. */
static int native_run(struct native *v, const struct prog *mem, int64_t position, int64_t at,
                      int64_t first, int64_t n)
{
    int64_t per = v->c->stored->items;
    struct rep_side ms = {mem, rep_native(), position};
    struct rep_side ns = {&v->c->ft->type->prog, rep_native(), 0};
    char *elem = v->elem + first * v->c->ft->type->prog.extent;

    v->opts.base = at * per;
    return v->writing ? rep_convert(elem, &ns, v->mem, &ms, n * per, &v->opts, NULL)
                      : rep_convert(v->mem, &ms, elem, &ns, n * per, &v->opts, NULL);
}

/* Gives memory's elements as turns of a list: their node and the place of the first one. */
static bool turn_of(const struct conv *c, struct node *turn, int64_t *stride)
{
    const struct prog *mem = &c->mem->prog;

    if (mem->root->depth >= NODE_DEPTH_MAX)
        return false;
    if (mem->items == c->stored->items) {
        *turn = *mem->root;
        *stride = mem->extent;
        return true;
    }
    if (!mem->dense)
        return false;
    *turn = *mem->root;
    turn->items = turn->count = c->stored->items;
    turn->runs = 1;
    *stride = turn->stride * turn->items;
    return true;
}

/* Converts many short runs at once, with memory as a list of elements. *done: it could be. */
static int native_list(struct native *v, const struct mem_run *run, int64_t nruns, int64_t n,
                       bool *done)
{
    struct node turn, *child = &turn, list;
    struct prog prog = {.root = &list, .origin = v->c->mem->prog.origin};
    int64_t *offset, stride = 0, k = 0;
    int err;

    *done = turn_of(v->c, &turn, &stride);
    if (!*done)
        return 0;
    if (!(offset = mem_array((uint64_t)n, sizeof *offset)))
        return fail_nomem();
    for (int64_t i = 0; i < nruns; i++)
        for (int64_t j = 0; j < run[i].n; j++)
            offset[k++] = (run[i].at + j) * stride;
    list = (struct node){.op = NODE_LIST,
                         .depth = turn.depth + 1,
                         .runs = INT32_MAX,
                         .items = n * turn.items,
                         .count = n,
                         .leaf = turn.leaf,
                         .child = &child,
                         .offset = offset};
    prog.items = list.items;
    prog.depth = list.depth;
    err = native_run(v, &prog, 0, run[0].at, 0, n);
    mem_free(offset);
    return err;
}

/* Converts the elements of the runs, n in all. */
static int native_runs(struct native *v, const struct mem_run *run, int64_t nruns, int64_t n)
{
    int64_t per = v->c->stored->items, k = 0;
    bool done = false;
    int err = 0;

    if (nruns > 1 && n / nruns < LONG_RUN && !v->opts.report && !v->c->mem->variable)
        err = native_list(v, run, nruns, n, &done);
    if (err == DREP_ERR_CONVERSION) { /* run by run, which tells the number of the value */
        done = false;
        err = 0;
    }
    for (int64_t i = 0; !done && !err && i < nruns; k += run[i++].n)
        err = native_run(v, &v->c->mem->prog, run[i].at * per, run[i].at, k, run[i].n);
    return err;
}

/* ---- stored elements and what functions take of them ---- */

/* Moves one element: items that functions convert to or from their packed bytes at p, the others to
 * or from the native element. */
static int weave(struct conv *c, char *elem, uint8_t *file, uint8_t *p, bool writing)
{
    const struct prog *np = &c->ft->type->prog;
    struct rep_opts o = c->opts;
    drep_cursor nc, fc;
    drep_run nr = {.count = 0}, fr;
    int64_t done = 0;
    int err = cursor_init(&nc, np, 0);

    o.report = NULL; /* memory's side is counted */
    if (!err)
        err = cursor_init(&fc, c->stored, 0);
    for (; !err && done < c->stored->items; done += fr.count) {
        if (nr.count == 0)
            cursor_next(&nc, c->stored->items - done, &nr);
        cursor_next(&fc, nr.count, &fr);
        nr.count -= fr.count;
        if (leaf_called(nr.type)) {
            int64_t size = c->sizes->size[nr.type->code];

            for (int64_t i = 0; i < fr.count; i++, p += size) {
                uint8_t *item = file + fr.offset + i * fr.stride;

                writing ? memcpy(item, p, (size_t)size) : memcpy(p, item, (size_t)size);
            }
        } else {
            struct rep_side ns = {np, rep_native(), done}, fs = {c->stored, rep_native(), done};

            err = writing ? rep_convert(file, &fs, elem, &ns, fr.count, &o, NULL)
                          : rep_convert(elem, &ns, file, &fs, fr.count, &o, NULL);
        }
    }
    return err;
}

/* Moves n native elements and as many stored ones; p has room for what functions take of them. */
static int call_woven(struct conv *c, char *elem, uint8_t *file, int64_t n, uint8_t *p,
                      bool writing)
{
    int64_t extent = c->ft->type->prog.extent, es = c->stored->extent;
    int err = 0;

    for (int64_t i = 0; !writing && !err && i < n; i++)
        err = weave(c, elem + i * extent, file + i * es, p + i * c->called_size, false);
    if (!err && c->called)
        err = call(c, elem, c->called, 0, n * c->called->items, p, writing);
    if (writing && !c->ft->part)
        memset(file, 0, (size_t)(n * es)); /* gaps are zeros */
    for (int64_t i = 0; writing && !err && i < n; i++)
        err = weave(c, elem + i * extent, file + i * es, p + i * c->called_size, true);
    return err;
}

/* ---- elements ---- */

/* A position in the runs of memory. */
struct run_slice {
    const struct mem_run *run;
    int64_t done; /* elements of the first one */
};

/* Takes the runs that make up the next n elements, cut at both ends; the caller frees *out. */
static int slice_take(struct run_slice *s, int64_t n, struct mem_run **out, int64_t *nruns)
{
    int64_t k = 0, left = n + s->done;

    for (*nruns = 0; left > 0; left -= s->run[(*nruns)++].n)
        ;
    if (!(*out = mem_array((uint64_t)*nruns, sizeof **out)))
        return fail_nomem();
    for (int64_t i = 0; i < *nruns; i++, k += (*out)[i - 1].n) {
        (*out)[i] = (struct mem_run){s->run->at + s->done, s->run->n - s->done};
        if ((*out)[i].n > n - k) {
            (*out)[i].n = n - k;
            s->done += n - k;
            break;
        }
        s->run++;
        s->done = 0;
    }
    return 0;
}

/* Moves through native elements in staging, as many at a time as fit. */
static int move_native(struct conv *c, char *mem, const struct mem_run *run, int64_t n,
                       uint8_t *file, bool writing)
{
    const drep_type *type = c->ft->type;
    int64_t extent = type->prog.extent, es = c->stored->extent;
    int64_t most = extent > c->called_size ? extent : c->called_size;
    int64_t room = most > 0 && c->staging / most > 1 ? c->staging / most : 1;
    struct native v = {.c = c, .mem = mem, .opts = c->opts, .writing = writing};
    struct run_slice at = {run, 0};
    uint8_t *called = NULL;
    int err = 0;

    room = room < n ? room : n;
    v.move = (struct rep_var){.move = move_memory, .ctx = &v.opts};
    v.opts.var = &v.move;
    c->var.ctx = c;
    c->opts.var = &c->var;
    v.elem = mem_zalloc((uint64_t)room, (uint64_t)extent + 1);
    if (!c->packed)
        called = mem_zalloc((uint64_t)room, (uint64_t)c->called_size + 1);
    if (!v.elem || (!c->packed && !called))
        err = fail_nomem();
    for (int64_t now; !err && n > 0; n -= now, file += now * es) {
        struct mem_run *part = NULL;
        int64_t nruns = 0;

        now = n < room ? n : room;
        /* What a function leaves out of an element must not be what was there before. */
        memset(v.elem, 0, (size_t)(now * extent));
        err = slice_take(&at, now, &part, &nruns);
        if (!err && writing)
            err = native_runs(&v, part, nruns, now);
        if (!err)
            err = c->packed ? call(c, v.elem, type, 0, now * type->items, file, writing)
                            : call_woven(c, v.elem, file, now, called, writing);
        if (!err && !writing)
            err = native_runs(&v, part, nruns, now);
        if (type->variable)
            drep_vlen_free(type, now, v.elem);
        mem_free(part);
    }
    mem_free(v.elem);
    mem_free(called);
    return err;
}

/* True if a function may work on memory where these elements are: a transfer begins at position 0
 * of its own datatype (requirement U6), or goes on where it ended. */
static bool direct(const struct conv *c, const struct mem_run *run, int64_t nruns, int64_t n,
                   struct mem_run *next)
{
    struct mem_run whole = {run->at, run->n};

    if (!c->packed || !c->same_items)
        return false;
    for (int64_t i = 1; i < nruns; i++) {
        if (run[i].at != whole.at + whole.n)
            return false;
        whole.n += run[i].n;
    }
    if (next->n > 0 && next->at + next->n == run->at) {
        next->n += n;
        return true;
    }
    *next = (struct mem_run){run->at, n};
    return run->at * c->stored->items % c->mem->items == 0;
}

int functions_move(struct conv *c, void *mem, const struct mem_run *run, int64_t nruns, int64_t n,
                   uint8_t *file, bool writing, struct mem_run *next)
{
    int64_t per = c->stored->items, first;
    struct mem_run own = {0, 0};

    next = !next ? &own : next;
    if (!direct(c, run, nruns, n, next)) {
        next->n = 0;
        return move_native(c, mem, run, n, file, writing);
    }
    if (c->opts.report)
        c->report.items += n * per;
    first = next->at * per / c->mem->items * c->mem->prog.extent;
    return call(c, (char *)mem + first, c->mem, (next->n - n) * per, n * per, file, writing);
}

int functions_run(struct conv *c, void *mem, int64_t at, uint8_t *file, int64_t step, int64_t n,
                  bool writing)
{
    int64_t es = c->stored->extent, room = es > 0 && c->staging / es > 1 ? c->staging / es : 1;
    struct mem_run run = {at, n}, next = {0, 0};
    uint8_t *packed;
    int err = 0;

    if (step == es || n == 1)
        return functions_move(c, mem, &run, 1, n, file, writing, NULL);
    room = room < n ? room : n;
    if (!(packed = mem_array((uint64_t)room, (uint64_t)es)))
        return fail_nomem();
    for (; !err && n > 0; n -= run.n, run.at += run.n) {
        run.n = n < room ? n : room;
        for (int64_t i = 0; (!writing || c->ft->part) && i < run.n; i++)
            memcpy(packed + i * es, file + i * step, (size_t)es);
        file += writing ? 0 : run.n * step;
        err = functions_move(c, mem, &run, 1, run.n, packed, writing, &next);
        for (int64_t i = 0; writing && !err && i < run.n; i++, file += step)
            memcpy(file, packed + i * es, (size_t)es);
    }
    mem_free(packed);
    return err;
}
