/* value.c - self-described values: attributes and fill values (SPEC.md, 5.6). */
/* SPDX-License-Identifier: MIT */
#include "conv/value.h"

#include "base/error.h"
#include "base/mem.h"
#include "conv/conv.h"
#include "conv/heap.h"
#include "conv/members.h"
#include "conv/memory.h"
#include "conv/refs.h"
#include "rep/encodings.h"

#include <datarep.h>
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

/* The row of a code as this machine holds the type: big-endian, without padding. */
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

/* ---- predefined types: made once a file ---- */

#define PLAN_HEAD 3

/* A conversion of one item that does no more than to order `size` bytes; 0: it does more. */
struct byte_order {
    int size;
    struct byte_moves bytes;
};

static void byte_order_of(const struct conv *c, struct byte_order *t)
{
    bool moves = c->dense && c->stored->items == 1 && kernel_bytes(&c->kernel, &t->bytes) &&
                 t->bytes.units == 1 && t->bytes.from == 0 && t->bytes.from_unit == t->bytes.unit;

    t->size = moves ? t->bytes.unit : 0;
    for (int i = 0; i < t->size; i++)
        if (t->bytes.map[i] >= t->size)
            t->size = 0;
}

static void reorder(const struct byte_order *t, uint8_t *dst, const uint8_t *src)
{
    for (int i = 0; i < t->size; i++)
        dst[i] = src[t->bytes.map[i]];
}

struct value_plan {
    struct self self;
    struct ftype ft;
    struct conv write, read;
    struct byte_order put, get;
    uint8_t head[PLAN_HEAD]; /* the row that comes first */
};

static void plan_free(struct value_plan *p)
{
    prog_release(&p->self.prog);
    mem_free(p);
}

/* Attributes are mostly single numbers and texts of predefined types: a plan makes writing one cost
 * little more than copying its bytes. */
static int plan_new(struct value_cache *cache, const drep_type *type, struct value_plan **out)
{
    struct self_rec rec = {.n = 1};
    struct value_plan *p = mem_zalloc(1, sizeof *p);
    drep_encoding *row;
    struct out head;
    int err;

    if (!p)
        return fail_nomem();
    p->ft.type = (drep_type *)(uintptr_t)type;
    row = &p->self.table.row[drep_type_code(type)];
    self_row(drep_type_code(type), row);
    rec.row[0].format = row->format;
    rec.row[0].size = row->size;
    out_init(&head, p->head, PLAN_HEAD);
    self_put(&head, &rec);
    if ((err = self_open(&p->self, type))) {
        mem_free(p);
        return err;
    }
    err = conv_init_table(&p->write, cache->rep, &p->ft, &p->self.table, &p->self.sizes,
                          &p->self.prog, type, NULL, true);
    if (!err)
        err = conv_init_table(&p->read, cache->rep, &p->ft, &p->self.table, &p->self.sizes,
                              &p->self.prog, type, NULL, false);
    if (err) {
        plan_free(p);
        return err;
    }
    byte_order_of(&p->write, &p->put);
    byte_order_of(&p->read, &p->get);
    *out = p;
    return 0;
}

/* *out is NULL for types that are made of others, which need rows of their own in each value. */
static int plan_get(struct value_cache *cache, const drep_type *type, const struct value_plan **out)
{
    struct value_plan *mine = NULL, *none = NULL;
    int code = drep_type_code(type), err;

    *out = atomic_load_explicit(&cache->plan[code], memory_order_acquire);
    if (code == 0 || *out)
        return 0;
    if ((err = plan_new(cache, type, &mine)))
        return err;
    *out = mine;
    if (!atomic_compare_exchange_strong(&cache->plan[code], &none, mine)) {
        plan_free(mine);
        *out = none;
    }
    return 0;
}

void value_cache_release(struct value_cache *cache)
{
    for (int code = 1; code <= DREP_CODE_MAX; code++)
        if (atomic_load(&cache->plan[code]))
            plan_free(atomic_load(&cache->plan[code]));
}

/* Room for the items behind the head of a value that is `at` bytes long so far. */
static int value_room(struct buf *to, size_t at, int64_t count, int64_t each, size_t *bytes)
{
    uint64_t all;

    if (__builtin_mul_overflow((uint64_t)count, (uint64_t)each, &all) || all > FMT_VALUE_MAX - at)
        return fail(DREP_ERR_LIMIT, "a value of %lld elements is longer than %u bytes",
                    (long long)count, FMT_VALUE_MAX);
    *bytes = (size_t)all;
    return buf_reserve(to, at + *bytes);
}

static int plan_put(const struct value_plan *p, int64_t count, const void *buf, struct buf *to)
{
    size_t bytes = 0;
    struct conv c;
    int err = value_room(to, PLAN_HEAD, count, p->self.prog.extent, &bytes);

    if (err)
        return err;
    memcpy(to->p, p->head, PLAN_HEAD);
    to->len = PLAN_HEAD + bytes;
    if (count == 1 && p->put.size > 0) {
        reorder(&p->put, to->p + PLAN_HEAD, buf);
        return 0;
    }
    c = p->write;
    return conv_write(&c, buf, 0, to->p + PLAN_HEAD, p->self.prog.extent, count);
}

/* ---- every type ---- */

/* Encodes elements of any type. */
static int value_make(struct value_cache *cache, const drep_type *type, int64_t count,
                      const void *buf, struct buf *to)
{
    bool used[DREP_CODE_MAX + 1] = {false};
    struct ftype ft = {.type = (drep_type *)(uintptr_t)type};
    struct self_rec rec = {0};
    struct self s = {0};
    struct buf heap = {0};
    struct conv c;
    struct out out;
    size_t bytes = 0, at = 0;
    int err = type_each_code(type, mark_code, used);

    for (int code = 1; !err && code <= DREP_CODE_MAX; code++) {
        if (!used[code])
            continue;
        self_row(code, &s.table.row[code]);
        rec.row[rec.n].format = s.table.row[code].format;
        rec.row[rec.n++].size = s.table.row[code].size;
    }
    if (err || (err = self_open(&s, type)))
        return err;
    buf_out(to, &out);
    self_put(&out, &rec);
    err = buf_done(to, &out);
    if (!err)
        err = value_room(to, at = to->len, count, s.prog.extent, &bytes);
    if (!err) {
        memset(to->p + at, 0, bytes);
        to->len = at + bytes;
        err = conv_init_table(&c, cache->rep, &ft, &s.table, &s.sizes, &s.prog, type, NULL, true);
    }
    if (!err) {
        c.heap_out = &heap;
        err = conv_write(&c, buf, 0, to->p + at, s.prog.extent, count);
    }
    if (!err && heap.len > FMT_VALUE_MAX - to->len)
        err = fail(DREP_ERR_LIMIT, "a value of %zu bytes", heap.len);
    if (!err)
        err = buf_reserve(to, to->len + heap.len);
    if (!err && heap.len > 0) {
        memcpy(to->p + to->len, heap.p, heap.len);
        to->len += heap.len;
    }
    buf_release(&heap);
    prog_release(&s.prog);
    return err;
}

int value_pack(struct value_cache *cache, const drep_type *type, int64_t count, const void *buf,
               struct buf *to)
{
    const struct value_plan *plan;
    int err = plan_get(cache, type, &plan);

    if (err)
        return err;
    return plan ? plan_put(plan, count, buf, to) : value_make(cache, type, count, buf, to);
}

/* Reads the rows of a value and holds them against its type. */
static int self_load(struct self *s, struct in *in, const drep_type *type)
{
    bool used[DREP_CODE_MAX + 1] = {false};
    struct self_rec rec;
    int n = 0, err = self_get(in, &rec);

    if (err)
        return fail(err, "value: %s", in->why);
    if ((err = type_each_code(type, mark_code, used)))
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
        return fail(DREP_ERR_FORMAT, "a value with %d rows for %d datatypes (R5.36)", rec.n, n);
    if ((err = rep_table_check(&s->table)))
        return err;
    return self_open(s, type);
}

/* The rows that the first value of a type had, and the table that they make: mostly all of a
 * file's values of a type were written by one machine.  To make a table and to compile the type
 * with it takes twenty times what it takes to compare the rows.  It stays with the type: a value
 * with other rows makes a table of its own, which is freed with it. */
struct self_kept {
    struct self self;
    size_t size; /* of head */
    uint8_t head[];
};

void value_self_free(struct self_kept *kept)
{
    if (kept)
        prog_release(&kept->self.prog);
    mem_free(kept);
}

/* Two threads may keep one at once; the first one stays, since others may be using it. */
static int self_cache_put(struct ftype *ft, const struct span *value, const struct self_kept **out)
{
    struct self_kept *mine, *none = NULL;
    struct in in;
    int err;

    in_init(&in, value->p, value->len);
    mine = mem_zalloc(1, sizeof *mine + 1 + 2 * (FMT_CODE_MAX + 1));
    if (!mine)
        return fail_nomem();
    if ((err = self_load(&mine->self, &in, ft->type))) {
        mem_free(mine);
        return err;
    }
    mine->size = in.at;
    memcpy(mine->head, value->p, mine->size);
    *out = mine;
    if (!atomic_compare_exchange_strong(&ft->self, &none, mine)) {
        value_self_free(mine);
        *out = none;
    }
    return 0;
}

/* A value whose rows were read. */
struct opened {
    const struct self *self;
    struct self own; /* what self is, if it was made for this value alone */
    const uint8_t *items;
    struct in in; /* stands behind the items */
};

static void value_close(struct opened *o)
{
    if (o->self == &o->own)
        prog_release(&o->own.prog);
}

/* True if a value begins with the same rows; their number comes first, so that none is cut. */
static bool kept_is(const struct self_kept *kept, const struct span *value)
{
    return kept && value->len >= kept->size && memcmp(value->p, kept->head, kept->size) == 0;
}

/* A type that is not kept, as those on the stack are, has nothing to keep a table in. */
static int value_rows(struct opened *o, const struct span *value, struct ftype *ft)
{
    const struct self_kept *kept = atomic_load_explicit(&ft->self, memory_order_acquire);
    int err;

    if (!kept && ft->kept && (err = self_cache_put(ft, value, &kept)))
        return err;
    in_init(&o->in, value->p, value->len);
    if (kept_is(kept, value)) {
        o->self = &kept->self;
        in_bytes(&o->in, kept->size);
        return 0;
    }
    memset(&o->own, 0, sizeof o->own);
    o->self = &o->own;
    return self_load(&o->own, &o->in, ft->type);
}

/* Reads the rows of a value and finds its items. */
static int value_open(struct opened *o, const struct span *value, struct ftype *ft, int64_t count)
{
    uint64_t bytes = 0;
    int err = value_rows(o, value, ft);

    if (err)
        return err;
    if (__builtin_mul_overflow((uint64_t)count, (uint64_t)o->self->prog.extent, &bytes) ||
        bytes > in_left(&o->in)) {
        value_close(o);
        return fail(DREP_ERR_FORMAT, "a value of %lld elements in %zu bytes (R5.37)",
                    (long long)count, value->len);
    }
    o->items = in_bytes(&o->in, (size_t)bytes);
    return 0;
}

/* Holds the variable parts of an open value against what stands behind its items. */
static int value_heap(const struct self *s, const drep_type *type, int64_t count,
                      const uint8_t *items, const uint8_t *heap, size_t size)
{
    return type->variable ? heap_check(&s->sizes, PROG_PACKED, &s->prog, items, count, heap, size)
                          : 0;
}

int value_check(const struct span *value, struct ftype *ft, int64_t count)
{
    struct opened o;
    size_t rest;
    int err = value_open(&o, value, ft, count);

    if (err)
        return err;
    rest = in_left(&o.in);
    if (!ft->type->variable && rest > 0)
        err = fail(DREP_ERR_FORMAT, "a value of %lld elements, followed by %zu extra bytes (R5.37)",
                   (long long)count, rest);
    if (!err)
        err = value_heap(o.self, ft->type, count, o.items, in_bytes(&o.in, rest), rest);
    value_close(&o);
    return err;
}

/* For those who show values: the type alone says neither their signs nor their widths. A row that
 * nothing in the type uses is refused with the value, by self_load(). */
int value_encodings(const struct span *value, const drep_type *type, drep_encoding *rows, int max,
                    int *n)
{
    bool used[DREP_CODE_MAX + 1] = {false};
    struct self s = {0};
    struct in in;
    int err = type_each_code(type, mark_code, used);

    in_init(&in, value->p, value->len);
    if (err || (err = self_load(&s, &in, type)))
        return err;
    *n = 0;
    for (int code = 1; code <= DREP_CODE_MAX; code++) {
        if (used[code] && *n < max)
            rows[*n] = s.table.row[code];
        *n += used[code];
    }
    prog_release(&s.prog);
    return 0;
}

/* Decodes a value whose one row is that of this machine: nothing needs to be made for it. */
static int plan_value(const struct value_plan *p, const struct span *value, int64_t count,
                      void *buf)
{
    struct conv c;
    uint64_t bytes;

    if (__builtin_mul_overflow((uint64_t)count, (uint64_t)p->self.prog.extent, &bytes) ||
        bytes > value->len - PLAN_HEAD)
        return fail(DREP_ERR_FORMAT, "a value of %lld elements in %zu bytes (R5.37)",
                    (long long)count, value->len);
    if (count == 1 && p->get.size > 0) {
        reorder(&p->get, buf, value->p + PLAN_HEAD);
        return 0;
    }
    c = p->read;
    return conv_read(&c, buf, 0, value->p + PLAN_HEAD, p->self.prog.extent, count);
}

/* The elements of memory that `count` of the value fill. */
static int value_tiles(const drep_type *type, int64_t count, const drep_type *want, size_t size,
                       int64_t *tiles)
{
    int64_t items;
    int err = type_whole(type, want, size);

    if (err)
        return err;
    if (__builtin_mul_overflow(count, type->items, &items) ||
        (items > 0 && (want->items == 0 || items % want->items != 0)))
        return fail(DREP_ERR_COUNT, "its items do not fill whole elements of the given type");
    *tiles = items > 0 ? items / want->items : 0;
    return type_elements(want, *tiles, &items);
}

/* Decodes a value of any type. */
static int value_take(struct value_cache *cache, const struct span *value, struct ftype *ft,
                      int64_t count, const drep_type *want, void *buf, const drep_xfer *xfer)
{
    struct picked_members m = {.used = false};
    struct ftype *taken = ft;
    const struct self *s;
    int64_t tiles = 0;
    struct opened o;
    struct conv c;
    size_t size = xfer ? xfer->buf_size : 0;
    int err = value_open(&o, value, ft, count);

    if (err)
        return err;
    s = o.self;
    if (!ft->laid_out)
        err = picked_init(&m, ft, &s->sizes, want, MATCH_READ);
    if (!err && m.used) {
        taken = &m.ft;
        want = m.mem;
    }
    if (!err)
        err = value_tiles(taken->type, count, want, size, &tiles);
    if (!err)
        err = type_fits(want, tiles, size);
    if (!err)
        err = conv_init_table(&c, cache->rep, taken, &s->table, &s->sizes,
                              m.used ? &m.ft.stored : &s->prog, want, xfer, false);
    if (!err) {
        c.heap_size = in_left(&o.in);
        c.heap = in_bytes(&o.in, c.heap_size);
        err = value_heap(s, ft->type, count, o.items, c.heap, c.heap_size);
    }
    if (!err) {
        memory_clear(want, tiles, buf);
        err = conv_read(&c, buf, 0, o.items, s->prog.extent, count);
        if (err)
            drep_vlen_free(want, tiles, buf);
        conv_report(&c, xfer);
    }
    picked_release(&m);
    value_close(&o);
    return err;
}

int value_unpack_into(struct value_cache *cache, const struct span *value, struct ftype *ft,
                      int64_t count, const drep_type *want, void *buf, const drep_xfer *xfer)
{
    const struct value_plan *plan = NULL;
    int64_t items;
    int err = want == ft->type ? plan_get(cache, want, &plan) : 0;

    if (err)
        return err;
    if (!plan || value->len < PLAN_HEAD || memcmp(value->p, plan->head, PLAN_HEAD) != 0)
        return value_take(cache, value, ft, count, want, buf, xfer);
    err = type_elements(want, count, &items);
    if (!err && xfer)
        err = type_fits(want, count, xfer->buf_size);
    if (!err && xfer && xfer->report)
        xfer->report->items += items;
    return err ? err : plan_value(plan, value, count, buf);
}

int value_unpack(struct value_cache *cache, const struct span *value, struct ftype *ft,
                 int64_t count, const drep_type *want, void *buf)
{
    return value_unpack_into(cache, value, ft, count, want, buf, NULL);
}

int value_stored(const struct file_rep *rep, const struct span *value, struct ftype *ft,
                 uint8_t *out)
{
    /* value_settle() has found what does not fit; an infinity stands for the greatest number. */
    struct rep_opts opts = {.range = DREP_RANGE_WRAP, .value_range = DREP_RANGE_WRAP};
    struct opened o;
    int err = value_open(&o, value, ft, 1);

    if (err)
        return err;
    err = rep_convert(out, &(struct rep_side){&ft->stored, file_rep_table(rep, true), 0}, o.items,
                      &(struct rep_side){&o.self->prog, &o.self->table, 0}, ft->type->items, &opts,
                      NULL);
    value_close(&o);
    return err;
}

int value_settle(const struct file_rep *rep, uint8_t *value, size_t len, struct ftype *ft,
                 int range, struct losses *report)
{
    struct rep_opts in_opts = {.range = range, .value_range = range, .report = report};
    struct rep_opts out_opts = {.range = DREP_RANGE_WRAP, .value_range = DREP_RANGE_WRAP};
    struct span span = {value, len};
    struct rep_side self, file;
    struct opened o;
    uint8_t *stored;
    int err;

    if (ft->type->variable || !file_rep_table(rep, true))
        return 0;
    if ((err = value_open(&o, &span, ft, 1)))
        return err;
    self = (struct rep_side){&o.self->prog, &o.self->table, 0};
    file = (struct rep_side){&ft->stored, file_rep_table(rep, true), 0};
    stored = mem_zalloc(1, (uint64_t)ft->stored.extent + 1);
    err = !stored ? fail_nomem()
                  : rep_convert(stored, &file, o.items, &self, ft->type->items, &in_opts, NULL);
    if (!err)
        err = rep_convert(value + (o.items - value), &self, stored, &file, ft->type->items,
                          &out_opts, NULL);
    mem_free(stored);
    value_close(&o);
    return err == DREP_ERR_TYPE ? 0 : err; /* references are the same everywhere */
}

int value_refs(struct buf *value, const drep_type *type, int64_t count,
               uint64_t (*map)(void *ctx, uint64_t id), void *ctx)
{
    struct span span = {value->p, value->len};
    struct refs refs = {.map = map, .ctx = ctx};
    struct ftype ft = {.type = (drep_type *)(uintptr_t)type};
    struct opened o;
    int err = value_open(&o, &span, &ft, count);

    if (err)
        return err;
    refs.sizes = &o.self->sizes;
    refs.heap = value->p + o.in.at;
    refs.heap_size = in_left(&o.in);
    err = value_heap(o.self, type, count, o.items, refs.heap, refs.heap_size);
    if (!err)
        err = refs_map(&refs, &o.self->prog, value->p + (o.items - span.p), count);
    value_close(&o);
    return err;
}
