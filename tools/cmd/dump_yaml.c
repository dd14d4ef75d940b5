/* dump_yaml.c - a file as a schema that makes it again. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/dump.h"
#include "tools/cmd/dump_state.h"
#include "tools/host/exit.h"
#include "tools/host/message.h"
#include "tools/host/progress.h"
#include "tools/text/array.h"
#include "tools/text/nesting.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/walk/blocks.h"
#include <stdlib.h>
#if HAVE_YAML
#include "schema/schema.h"

static int put_yaml(void *ctx, const char *bytes, size_t size)
{
    struct dump *d = ctx;

    sink_put(d->sink, bytes, size);
    return d->sink->err ? DREP_ERR_IO : 0;
}

static int yaml_value(void *ctx, const char *path, const char *name, char **text)
{
    const struct dump *d = ctx;

    return array_text(&d->printer, path, name, text);
}

struct giver {
    const struct dump *dump;
    struct nesting nest;
    struct sink text; /* of a block */
    int (*give)(void *giver, const char *text);
    void *giver;
};

static int give_text(struct giver *g)
{
    int err;

    sink_put(&g->text, "", 1);
    err = g->text.err ? DREP_ERR_NOMEM : g->give(g->giver, g->text.buf);
    g->text.len = 0;
    return err;
}

static int give_block(void *ctx, const drep_type *type, const void *elements, int64_t first,
                      int64_t count)
{
    struct giver *g = ctx;
    int err;

    nesting_put(&g->nest, &g->dump->printer, &g->text, type, elements, first, count);
    err = give_text(g);
    return err ? err : progress_add((uint64_t)(count * drep_type_extent(type)));
}

/* The elements of an open dataset. */
static int give_all(struct giver *g, drep_dataset *ds)
{
    struct slice slice;
    drep_dsinfo info = DREP_DSINFO;
    drep_type *type;
    int err = drep_dataset_info(ds, &info);

    if (!err)
        err = printer_type(&g->dump->printer, info.type, info.datarep_number, &type);
    if (err)
        return err;
    slice_all(&slice, info.rank, info.dims);
    g->nest.rank = slice_shape(&slice, g->nest.dims);
    err = blocks_each(ds, &info, type, &slice, give_block, g);
    drep_type_free(type);
    if (err)
        return err;
    nesting_end(&g->nest, &g->text, slice_count(&slice) > 0);
    return give_text(g);
}

static int yaml_data(void *ctx, const char *path, int (*give)(void *giver, const char *text),
                     void *giver)
{
    const struct dump *d = ctx;
    struct giver g = {.dump = d, .nest = {.between = ", "}, .give = give, .giver = giver};
    drep_dataset *ds;
    int err = drep_dataset_open(d->file, path, &ds);

    if (err)
        return err;
    err = sink_init(&g.text, -1) ? DREP_ERR_NOMEM : give_all(&g, ds);
    sink_release(&g.text);
    drep_dataset_close(ds);
    return err;
}

static const char *dump_object_path(void *ctx, uint64_t id)
{
    const struct dump *d = ctx;

    return printer_path(&d->printer, id);
}

static void yaml_failed(void *ctx, const char *path, int err)
{
    struct dump *d = ctx;

    if (err != SCHEMA_DEEP) {
        dump_failed(d, path, err);
        return;
    }
    tool_say(d->file_name, path, "a schema cannot be so deep; what is below is left out");
    d->status = tool_worse(d->status, TOOL_CORRUPT);
}

void dump_yaml(struct dump *d)
{
    struct schema_print_options options = {.put = put_yaml,
                                           .value = yaml_value,
                                           .data = d->header_only ? NULL : yaml_data,
                                           .path = dump_object_path,
                                           .failed = yaml_failed,
                                           .notes = d->notes,
                                           .ctx = d};
    int err;

    d->printer.exact = true;
    err = schema_print(d->file, &options);

    if (err && !d->sink->err)
        dump_failed(d, NULL, err);
}
#else
void dump_yaml(struct dump *d)
{
    (void)d;
}
#endif
