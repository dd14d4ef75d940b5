/* dump_ahead.c - objects of a dump, several at a time, in their order.
 *
 * Finding an object and its attributes takes longer than to print them, and needs no other
 * object: they are collected, and all processors print pieces of them into memory. */
#include "crew.h"
#include "dump.h"
#include <errno.h>
#include <stdlib.h>

enum { MOST = 2048, PIECE = 64 };

struct part {
    struct dump dump; /* with a sink of its own */
    struct sink sink;
};

struct ahead {
    struct dump *dump;
    struct dump each; /* what parts begin with */
    bool color;
    dump_object_fn *put;
    int n;
    struct walk_item item[MOST]; /* with copies of the texts */
    struct part part[CREW_SLOTS];
};

struct ahead *ahead_new(struct dump *dump, dump_object_fn *put)
{
    struct ahead *a = calloc(1, sizeof *a);

    if (a) {
        a->dump = dump;
        a->each = *dump;
        a->each.status = 0;
        a->color = dump->sink->color;
        a->put = put;
    }
    return a;
}

static void item_release(const struct walk_item *item)
{
    free((char *)(uintptr_t)item->path);
    free((char *)(uintptr_t)item->target);
    free((char *)(uintptr_t)item->target_file);
}

static void forget(struct ahead *a)
{
    while (a->n > 0)
        item_release(&a->item[--a->n]);
}

void ahead_free(struct ahead *a)
{
    int i;

    if (!a)
        return;
    forget(a);
    for (i = 0; i < CREW_SLOTS; i++)
        if (a->part[i].sink.buf)
            sink_release(&a->part[i].sink);
    free(a);
}

/* False without memory. */
static bool part_ready(const struct ahead *a, struct part *p)
{
    if (!p->sink.buf && sink_init(&p->sink, -1))
        return false;
    p->dump = a->each;
    p->dump.sink = &p->sink;
    p->sink.color = a->color;
    return true;
}

static void make_part(void *ctx, int k, int slot)
{
    struct ahead *a = ctx;
    struct part *p = &a->part[slot];
    int i;

    if (!part_ready(a, p)) {
        p->sink.err = ENOMEM;
        return;
    }
    for (i = k * PIECE; i < a->n && i < (k + 1) * PIECE; i++)
        a->put(&p->dump, &a->item[i]);
}

static int take_part(void *ctx, int k, int slot)
{
    struct ahead *a = ctx;
    struct part *p = &a->part[slot];
    struct sink *s = a->dump->sink;

    (void)k;
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

int ahead_flush(struct ahead *a)
{
    struct crew crew = {
        .n = (a->n + PIECE - 1) / PIECE, .make = make_part, .take = take_part, .ctx = a};
    int err = crew_run(&crew);

    forget(a);
    return err;
}

int ahead_add(struct ahead *a, const struct walk_item *item)
{
    struct walk_item *copy = &a->item[a->n];

    *copy = *item;
    copy->path = strdup(item->path);
    copy->name = NULL;
    copy->target = item->target ? strdup(item->target) : NULL;
    copy->target_file = item->target_file ? strdup(item->target_file) : NULL;
    a->n++;
    if (!copy->path || (item->target && !copy->target) || (item->target_file && !copy->target_file))
        return -1;
    return a->n < MOST ? 0 : ahead_flush(a);
}
