/* value.c - self-described values: attributes and fill values.
 *
 * They are not in the file's representation: each carries the format and size of the
 * predefined types in it, all big-endian and packed, so that a reader that knows
 * nothing of the representation can show them.  SPEC.md, 5.5. */
#include "data/data.h"

#include <string.h>

/* The table that the rows of one value make, and how its elements lie. */
struct self {
    struct rep_table table;
    struct type_sizes sizes;
    struct prog prog;
};

static int mark_code(int code, void *ctx)
{
    bool *used = ctx;

    used[code] = true;
    return 0;
}

/* As this machine holds the type: big-endian, without padding. */
static void self_row(int code, drep_encoding *row)
{
    *row = rep_native()->row[code];
    row->code = (uint16_t)code;
    row->order = DREP_BIG;
    row->align = 1;
    if (row->format == DREP_FORMAT_X87)
        row->size = fmt_code_class(code) == FMT_COMPLEX ? 20 : 10;
}

static int self_open(struct self *s, const drep_type *type)
{
    /* The bytes of strings and opaques have no row. */
    s->table.row[DREP_CODE_BYTE] = rep_native()->row[DREP_CODE_BYTE];
    rep_table_sizes(&s->table, &s->sizes);
    return prog_build(&s->prog, type, &s->sizes, PROG_PACKED);
}

int value_put(drep_file *f, const drep_type *type, int64_t count, const void *buf, struct buf *to)
{
    bool used[DREP_CODE_MAX + 1] = {false};
    struct ftype ft = {.type = (drep_type *)(uintptr_t)type};
    struct self_rec rec = {0};
    struct self s = {0};
    struct buf heap = {0};
    struct conv c;
    struct out out;
    uint64_t bytes;
    size_t at;
    int err = type_each_code(type, mark_code, used);

    for (int code = 1; err == 0 && code <= DREP_CODE_MAX; code++) {
        if (!used[code])
            continue;
        self_row(code, &s.table.row[code]);
        rec.row[rec.n].format = s.table.row[code].format;
        rec.row[rec.n++].size = s.table.row[code].size;
    }
    if (err != 0 || (err = self_open(&s, type)) != 0)
        return err;
    if (__builtin_mul_overflow((uint64_t)count, (uint64_t)s.prog.extent, &bytes) ||
        bytes > FMT_VALUE_MAX)
        err = fail(DREP_ERR_LIMIT, "a value of %lld elements is longer than %u bytes",
                   (long long)count, FMT_VALUE_MAX);
    if (err == 0) {
        buf_out(to, &out);
        self_put(&out, &rec);
        at = out.at;
        out_zeros(&out, (size_t)bytes);
        err = buf_done(to, &out);
    }
    if (err == 0)
        err = conv_init_table(&c, f, &ft, &s.table, &s.sizes, &s.prog, type, true);
    if (err == 0) {
        c.heap_out = &heap;
        err = conv_write(&c, buf, 0, to->p + at, s.prog.extent, count);
    }
    if (err == 0 && (to->len > FMT_VALUE_MAX || heap.len > FMT_VALUE_MAX - to->len))
        err = fail(DREP_ERR_LIMIT, "a value of %zu bytes", heap.len);
    if (err == 0)
        err = buf_reserve(to, to->len + heap.len);
    if (err == 0 && heap.len > 0) {
        memcpy(to->p + to->len, heap.p, heap.len);
        to->len += heap.len;
    }
    buf_release(&heap);
    prog_release(&s.prog);
    return err;
}

/* The rows of a value, held against its type. */
static int self_load(struct self *s, struct in *in, const drep_type *type)
{
    bool used[DREP_CODE_MAX + 1] = {false};
    struct self_rec rec;
    int n = 0, err = self_get(in, &rec);

    if (err != 0)
        return fail(err, "value: %s", in->why);
    if ((err = type_each_code(type, mark_code, used)) != 0)
        return err;
    for (int code = 1; code <= DREP_CODE_MAX; code++) {
        if (!used[code])
            continue;
        if (n < rec.n)
            s->table.row[code] = (drep_encoding){.code = (uint16_t)code,
                                                 .format = rec.row[n].format,
                                                 .order = DREP_BIG,
                                                 .size = rec.row[n].size,
                                                 .align = 1};
        n++;
    }
    if (n != rec.n)
        return fail(DREP_ERR_FORMAT, "a value with %d rows for %d datatypes", rec.n, n);
    if ((err = rep_table_check(&s->table)) != 0)
        return err;
    return self_open(s, type);
}

/* The rows of a value, and its items; `in` stands behind them then. */
static int value_open(struct self *s, struct in *in, const struct span *value,
                      const drep_type *type, int64_t count, const uint8_t **items)
{
    uint64_t bytes = 0;
    int err;

    memset(s, 0, sizeof *s);
    in_init(in, value->p, value->len);
    if ((err = self_load(s, in, type)) != 0)
        return err;
    if (__builtin_mul_overflow((uint64_t)count, (uint64_t)s->prog.extent, &bytes) ||
        bytes > in_left(in)) {
        prog_release(&s->prog);
        return fail(DREP_ERR_FORMAT, "a value of %lld elements in %zu bytes", (long long)count,
                    value->len);
    }
    *items = in_bytes(in, (size_t)bytes);
    return 0;
}

int value_check(const struct span *value, const drep_type *type, int64_t count)
{
    const uint8_t *items;
    struct self s;
    struct in in;
    int err = value_open(&s, &in, value, type, count, &items);

    if (err == 0)
        prog_release(&s.prog);
    return err;
}

int value_get(drep_file *f, const struct span *value, const drep_type *type, int64_t count,
              const drep_type *want, void *buf)
{
    struct ftype ft = {.type = (drep_type *)(uintptr_t)type};
    int64_t tiles = want->items > 0 ? count * type->items / want->items : 0;
    const uint8_t *items;
    struct self s;
    struct conv c;
    struct in in;
    int err = value_open(&s, &in, value, type, count, &items);

    if (err != 0)
        return err;
    if (err == 0)
        err = conv_init_table(&c, f, &ft, &s.table, &s.sizes, &s.prog, want, false);
    if (err == 0) {
        c.heap_size = in_left(&in);
        c.heap = in_bytes(&in, c.heap_size);
        if (type->variable)
            err =
                conv_heap_check(&s.sizes, PROG_PACKED, &s.prog, items, count, c.heap, c.heap_size);
    }
    if (err == 0) {
        conv_clear(want, tiles, buf);
        err = conv_read(&c, buf, 0, items, s.prog.extent, count);
        if (err != 0)
            drep_vlen_free(want, tiles, buf);
    }
    prog_release(&s.prog);
    return err;
}
