/* dump_ahead.c - objects of a dump, several at a time, in their order.
 *
 * Finding an object and its attributes takes longer than to print them, and needs no other
 * object: while the walk goes on, all processors print what it met into memory. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/dump_ahead.h"
#include "base/vec.h"
#include "tools/cmd/dump_state.h"
#include "tools/host/workers.h"
#include "tools/text/sink.h"
#include "tools/walk/walk.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 64 };

/* An object that the walk met, with places in the text of its part. */
struct ahead_object {
    struct walk_item item;
    size_t path, target, target_file;
};

struct ahead_part {
    struct dump dump; /* with a sink of its own */
    struct sink sink;
    int n;
    struct ahead_object kept[PIECE];
    char *text;
    size_t used, cap;
};

struct ahead {
    struct dump *dump;
    struct dump each; /* what parts begin with */
    bool color;
    dump_object_fn *put;
    struct workers *workers;
    int now; /* the part that is filled, -1: none */
    struct ahead_part *part[WORKERS_SLOTS];
};

static void make_part(void *ctx, int slot)
{
    struct ahead *a = ctx;
    struct ahead_part *p = a->part[slot];
    struct walk_item item;
    int i;

    for (i = 0; i < p->n; i++) {
        item = p->kept[i].item;
        item.path = p->text + p->kept[i].path;
        item.name = strrchr(item.path, '/') + 1;
        item.target = item.target ? p->text + p->kept[i].target : NULL;
        item.target_file = item.target_file ? p->text + p->kept[i].target_file : NULL;
        a->put(&p->dump, &item);
    }
}

static int take_part(void *ctx, int slot)
{
    struct ahead *a = ctx;
    struct ahead_part *p = a->part[slot];
    struct sink *s = a->dump->sink;

    if (sink_total(s) > 0 && p->sink.len > 0)
        sink_char(s, '\n');
    sink_put(s, p->sink.buf, p->sink.len);
    s->hidden += p->sink.hidden;
    if (p->dump.status > a->dump->status)
        a->dump->status = p->dump.status;
    p->sink.len = 0;
    p->sink.hidden = 0;
    return p->sink.err ? -1 : s->err;
}

struct ahead *ahead_new(struct dump *dump, dump_object_fn *put)
{
    struct ahead *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->dump = dump;
    a->each = *dump;
    a->each.status = 0;
    a->color = dump->sink->color;
    a->put = put;
    a->now = -1;
    a->workers = workers_new(4, make_part, take_part, a);
    if (a->workers)
        return a;
    free(a);
    return NULL;
}

void ahead_free(struct ahead *a)
{
    int i;

    if (!a)
        return;
    workers_free(a->workers);
    for (i = 0; i < WORKERS_SLOTS; i++) {
        if (!a->part[i])
            continue;
        if (a->part[i]->sink.buf)
            sink_release(&a->part[i]->sink);
        free(a->part[i]->text);
        free(a->part[i]);
    }
    free(a);
}

/* An empty part to fill.  0, what ended the workers, or -1. */
static int ahead_part_begin(struct ahead *a)
{
    int slot = workers_slot(a->workers);
    struct ahead_part *p;

    if (slot < 0)
        return workers_finish(a->workers);
    p = a->part[slot];
    if (!p) {
        p = a->part[slot] = calloc(1, sizeof *p);
        if (!p || sink_init(&p->sink, -1))
            return -1;
        p->sink.color = a->color;
    }
    p->dump = a->each;
    p->dump.sink = &p->sink;
    p->n = 0;
    p->used = 0;
    a->now = slot;
    return 0;
}

static void ahead_part_end(struct ahead *a)
{
    if (a->now >= 0)
        workers_push(a->workers);
    a->now = -1;
}

int ahead_flush(struct ahead *a)
{
    ahead_part_end(a);
    return workers_finish(a->workers);
}

/* A copy of a text, which may be none; false without memory. */
static bool ahead_part_add_text(struct ahead_part *p, const char *text, size_t *at)
{
    size_t size = text ? strlen(text) + 1 : 0;

    if (VEC_ROOM(p->text, p->used, p->cap, size))
        return false;
    *at = p->used;
    if (size)
        memcpy(p->text + p->used, text, size);
    p->used += size;
    return true;
}

int ahead_add(struct ahead *a, const struct walk_item *item)
{
    int err = a->now < 0 ? ahead_part_begin(a) : 0;
    struct ahead_part *p;
    struct ahead_object *k;

    if (err)
        return err;
    p = a->part[a->now];
    k = &p->kept[p->n++];
    k->item = *item;
    if (!ahead_part_add_text(p, item->path, &k->path) ||
        !ahead_part_add_text(p, item->target, &k->target) ||
        !ahead_part_add_text(p, item->target_file, &k->target_file))
        return -1;
    if (p->n == PIECE)
        ahead_part_end(a);
    return 0;
}
