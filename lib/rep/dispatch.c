/* dispatch.c - calls conversion functions: the only place that does.
 *
 * MPI 5.0, 14.7.3: a transfer is cut into calls wherever whole data items end; every
 * call has the same userbuf and datatype, count in items, and the position where the
 * call before it ended. */
/* SPDX-License-Identifier: MIT */
#include "rep/dispatch.h"

#include "base/error.h"
#include "rep/packed.h"
#include "rep/registry.h"
#include "rep/tables.h"

#include <datarep.h>
#include <string.h>

/* ----------------------------------------------------------------- calls */

struct dispatch {
    const struct datarep *rep;
    const drep_type *type;
    struct type_sizes sizes;
    drep_conversion_fn *fn;
    const char *verb;
    bool reading;
    uint8_t *user, *file;
};

/* A user's functions see predefined types only. */
static bool visible(const struct node *node)
{
    int64_t i;

    if (node->leaf)
        return node->leaf->kind == DREP_KIND_PREDEFINED;
    for (i = 0; i < node_children(node); i++)
        if (!visible(node->child[i]))
            return false;
    return true;
}

/* Count the items from `position` on, at most `items`, that fit `room` bytes, run by run. */
static int fit_runs(const struct dispatch *t, int64_t position, int64_t items, int64_t room,
                    int64_t *count, int64_t *bytes)
{
    int64_t size = 0, fit;
    drep_cursor cursor;
    drep_run run;
    int err = cursor_init(&cursor, &t->type->prog, position);

    *count = *bytes = 0;
    while (!err && *count < items && cursor_next(&cursor, items - *count, &run)) {
        err = packed_leaf_size(&t->sizes, run.type, &size);
        if (err)
            break;
        fit = (room - *bytes) / size;
        fit = fit > run.count ? run.count : fit;
        *count += fit;
        *bytes += fit * size;
        if (fit < run.count)
            break;
    }
    return err;
}

/* Count the items of the next call: from `position` on, at most `items`, in at most `staging`
 * bytes, but one at least: the rest of a tile, whole tiles, and the beginning of one. */
static int cut(const struct dispatch *t, int64_t position, int64_t items, int64_t staging,
               int64_t *count, int64_t *bytes)
{
    int64_t per = t->type->prog.items, tile = 0, n = 0, size = 0, head, whole;
    int err = packed_size(&t->sizes, t->type, position, items, bytes);

    *count = items;
    if (err || *bytes <= staging)
        return err;
    head = (per - position % per) % per;
    err = fit_runs(t, position, head < items ? head : items, staging, count, bytes);
    if (!err && *count == head) {
        err = packed_size(&t->sizes, t->type, 0, per, &tile);
        whole = err ? 0 : (staging - *bytes) / tile;
        *count += whole * per;
        *bytes += whole * tile;
        if (!err)
            err = fit_runs(t, position + *count, items - *count, staging - *bytes, &n, &size);
        *count += n;
        *bytes += size;
    }
    if (!err && *count == 0) {
        *count = 1;
        err = packed_size(&t->sizes, t->type, position, 1, bytes);
    }
    return err;
}

/* A registered write function may write fewer bytes than it declared: the others must be zeros,
 * not what the memory held before.  The engine's functions write all of them. */
static int call(const struct dispatch *t, int64_t position, int64_t count, uint8_t *file,
                int64_t bytes)
{
    int err;

    if (!t->reading && !t->rep->table)
        memset(file, 0, (size_t)bytes);
    rep_enter(t->rep);
    err = t->fn(t->user, t->type, count, file, position, t->rep->extra_state);
    rep_leave(t->rep);
    if (!err)
        return 0;
    if (t->rep->table) /* the engine, which has said what is wrong */
        return fail_in(err, "items from %lld on", (long long)position);
    return fail(DREP_ERR_CONVERSION,
                "the %s function of \"%s\" gave %d for %lld items from item %lld on", t->verb,
                t->rep->name, err, (long long)count, (long long)position);
}

static int call_all(const struct dispatch *t, int64_t position, int64_t items, int64_t staging,
                    int64_t *done, int64_t *used)
{
    int64_t count = 0, bytes = 0;
    int err = 0;

    *done = *used = 0;
    if (items > 0 && !t->type->prog.root)
        return fail(DREP_ERR_COUNT, "the type has no data items");
    if (items > 0 && !t->rep->table && !visible(t->type->prog.root))
        return fail(DREP_ERR_TYPE, "the functions of \"%s\" know predefined types only",
                    t->rep->name);
    while (!err && *done < items) {
        err = cut(t, position + *done, items - *done, staging, &count, &bytes);
        if (!err)
            err = call(t, position + *done, count, t->file + *used, bytes);
        if (!err) {
            *done += count;
            *used += bytes;
        }
    }
    return err;
}

/* ------------------------------------------------------- without a function */

struct native_check {
    const struct dispatch *t;
    const struct rep_table *native;
};

static int is_native(int code, void *ctx)
{
    const struct native_check *c = ctx;

    if (c->t->sizes.size[code] == c->native->row[code].size)
        return 0;
    return fail(DREP_ERR_CONVERSION,
                "\"%s\" has no %s function, but does not take %s in native form: %d bytes, not %d",
                c->t->rep->name, c->t->verb, drep_code_name(code), c->t->sizes.size[code],
                c->native->row[code].size);
}

static int take_native(const struct dispatch *t, int64_t position, int64_t items, int64_t *done,
                       int64_t *used)
{
    struct native_check check = {t, rep_native()};
    const struct packed_items part = {t->type, position, items, t->user, t->file};
    int err;

    *done = *used = 0;
    err = type_each_code(t->type, is_native, &check);
    if (!err)
        err = packed_size(&t->sizes, t->type, position, items, used);
    return err ? err : packed_convert(check.native, &part, t->reading, NULL, done);
}

/* ------------------------------------------------------------- both ways */

static int transfer(const struct datarep *rep, const struct type_sizes *sizes, const void *userbuf,
                    const drep_type *type, int64_t position, int64_t items, const void *filebuf,
                    int64_t staging, bool reading, int64_t *done, int64_t *used)
{
    struct dispatch t = {.rep = rep,
                         .type = type,
                         .fn = reading ? rep->read : rep->write,
                         .verb = reading ? "read" : "write",
                         .reading = reading,
                         .user = (void *)userbuf,  /* a read function writes to one, */
                         .file = (void *)filebuf}; /* a write function to the other */
    int64_t count = 0, bytes = 0;
    int err = 0;

    if (sizes)
        t.sizes = *sizes;
    else
        err = rep_sizes_of(rep, type, &t.sizes);
    if (!err && t.fn)
        err = call_all(&t, position, items, staging, &count, &bytes);
    else if (!err)
        err = take_native(&t, position, items, &count, &bytes);
    if (done)
        *done = count;
    if (used)
        *used = bytes;
    return err;
}

int rep_read_items(const struct datarep *rep, const struct type_sizes *sizes, void *userbuf,
                   const drep_type *type, int64_t position, int64_t items, const void *filebuf,
                   int64_t staging, int64_t *done, int64_t *used)
{
    return transfer(rep, sizes, userbuf, type, position, items, filebuf, staging, true, done, used);
}

int rep_write_items(const struct datarep *rep, const struct type_sizes *sizes, const void *userbuf,
                    const drep_type *type, int64_t position, int64_t items, void *filebuf,
                    int64_t staging, int64_t *done, int64_t *used)
{
    return transfer(rep, sizes, userbuf, type, position, items, filebuf, staging, false, done,
                    used);
}
