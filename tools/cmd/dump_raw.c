/* dump_raw.c - elements as bytes: themselves, or in hexadecimal beside their values. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/dump_raw.h"
#include "tools/cmd/dump_state.h"
#include "tools/host/exit.h"
#include "tools/host/message.h"
#include "tools/host/progress.h"
#include "tools/text/abi.h"
#include "tools/text/print.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/walk/blocks.h"
#include "tools/walk/field.h"
#include <inttypes.h>
#include <stdlib.h>

struct raw_dump {
    struct dump *dump;
    struct abi abi;
    const struct slice *slice; /* with an index behind each element; NULL: bytes alone */
    unsigned char *bytes;
    int64_t room; /* elements that have room there */
};

/* The elements as that machine has them, in r->bytes. */
static int turn(struct raw_dump *r, const void *elements, int64_t count)
{
    if (count > r->room) {
        free(r->bytes);
        r->room = 0;
        r->bytes = malloc((size_t)(count * r->abi.extent) + 1);
        if (!r->bytes)
            return DREP_ERR_NOMEM;
        r->room = count;
    }
    return abi_fill(&r->abi, elements, count, r->bytes);
}

static int put_block(void *ctx, const drep_type *type, const void *elements, int64_t first,
                     int64_t count)
{
    struct raw_dump *r = ctx;
    struct sink *s = r->dump->sink;
    int err = turn(r, elements, count);

    (void)first;
    if (err)
        return err;
    sink_put(s, (const char *)r->bytes, (size_t)(count * r->abi.extent));
    err = progress_add((uint64_t)(count * drep_type_extent(type)));
    return err ? err : s->err ? DREP_ERR_STOPPED : 0;
}

static void put_index_comment(struct sink *s, const struct slice *slice, int64_t number)
{
    int64_t at[DREP_MAX_RANK];
    int d;

    slice_index(slice, number, at);
    for (d = 0; d < slice->rank; d++)
        sink_format(s, "%s%" PRId64, d ? "," : "  # [", at[d]);
    if (slice->rank > 0)
        sink_char(s, ']');
}

static int put_lines(void *ctx, const drep_type *type, const void *elements, int64_t first,
                     int64_t count)
{
    struct raw_dump *r = ctx;
    struct sink *s = r->dump->sink;
    int64_t i, extent = drep_type_extent(type);
    int err = turn(r, elements, count);

    for (i = 0; i < count && !err && !s->err; i++) {
        sink_spaces(s, 4);
        abi_put(&r->abi, s, r->bytes + i * r->abi.extent);
        sink_text(s, "  ");
        print_value(&r->dump->printer, s, type, (const char *)elements + i * extent);
        put_index_comment(s, r->slice, first + i);
        sink_char(s, '\n');
    }
    return err ? err : s->err ? DREP_ERR_STOPPED : 0;
}

/* False if elements of this type have no bytes of their own under d->as. */
static bool put_all(struct dump *d, const char *path, drep_dataset *ds, const drep_dsinfo *info,
                    const struct slice *slice, blocks_fn *put)
{
    struct raw_dump r = {.dump = d, .slice = slice};
    struct printer plain = d->printer;
    drep_type *type = NULL, *member = NULL;
    drep_dsinfo shown = *info;
    bool has = true;
    int err = slice->member ? field_type(info->type, slice->member, &member) : 0;

    plain.own = false; /* values are converted again, to bytes */
    if (member)
        shown.type = member;
    if (!err)
        err = printer_type(&plain, shown.type, info->datarep_number, &type);
    if (!err) {
        err = abi_init(&r.abi, &d->printer, d->as ? d->as : "native", &shown, type);
        has = err != DREP_ERR_TYPE;
    }
    if (!err && put == put_lines)
        sink_format(d->sink, "  data as %s =%s\n", d->as, slice_count(slice) ? "" : " []");
    if (!err)
        err = blocks_each(ds, info, type, slice, put, &r);
    if (err && has && err != DREP_ERR_STOPPED)
        dump_failed(d, path, err);
    abi_release(&r.abi);
    free(r.bytes);
    drep_type_free(type);
    drep_type_free(member);
    return has;
}

bool dump_bytes(struct dump *d, const char *path, drep_dataset *ds, const drep_dsinfo *info,
                const struct slice *slice)
{
    return put_all(d, path, ds, info, slice, put_lines);
}

void dump_raw(struct dump *d)
{
    struct slice slice;
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    int status = operand_open(&d->operand, d->file_name, d->file, &ds, &info, &slice);

    if (status) {
        d->status = tool_worse(d->status, status);
        return;
    }
    if (info.rank != DREP_NULL_SPACE &&
        !put_all(d, d->operand.path, ds, &info, &slice, put_block)) {
        tool_say(d->file_name, d->operand.path, "elements of this type have no bytes as %s",
                 d->as ? d->as : "native");
        d->status = tool_worse(d->status, TOOL_CORRUPT);
    }
    drep_dataset_close(ds);
}
