/* test_format_record.c - every record that is a value of the tree: there and back, cut
 * short everywhere, against vectors written by hand from SPEC.md, and at its limits. */
/* SPDX-License-Identifier: MIT */
#include "format/record.h"
#include "tests/unit/bytes.h"

#define ROUNDS 3000
#define BYTES_MAX 65536

/* Bytes that spans of random records point to. */
static uint8_t pool[4096];

union record {
    struct free_rec free;
    struct pending_rec pending;
    struct log_rec log;
    struct object_rec object;
    struct link_rec link;
    struct dim_rec dim;
    struct attr_rec attr;
    struct self_rec self;
    struct chunk_rec chunk;
    struct scalar_rec scalar;
};

/* One kind of record: how to make a random one, and the pair under test. */
struct codec {
    const char *name;
    void (*make)(struct rnd *r, union record *rec);
    int (*get)(struct in *in, union record *rec);
    void (*put)(struct out *out, const union record *rec);
};

static struct span any_bytes(struct rnd *r, size_t max)
{
    struct span s = {pool, (size_t)rnd_below(r, max + 1)};

    if (rnd_below(r, 2))
        s.len = 0;
    return s;
}

static struct span letters(struct rnd *r, size_t least, size_t max)
{
    static uint8_t text[8][2048];
    static unsigned turn;
    struct span s = {text[++turn % 8], least + (size_t)rnd_below(r, max - least + 1)};

    rnd_letters(r, text[turn % 8], s.len);
    return s;
}

static struct ref any_ref(struct rnd *r)
{
    struct ref ref = {8192 + 64 * rnd_upto(r, 1u << 30), 40 + (uint32_t)rnd_upto(r, 1u << 28),
                      rnd_u64(r)};

    return ref;
}

static void free_make(struct rnd *r, union record *rec)
{
    rec->free.length = FMT_ALIGN * (1 + rnd_upto(r, FMT_SIZE_MAX / FMT_ALIGN - 1));
    rec->free.sequence = rnd_u64(r);
}

static int free_get_any(struct in *in, union record *rec)
{
    return free_get(in, FMT_SPACE_START, &rec->free);
}

static void free_put_any(struct out *out, const union record *rec)
{
    free_put(out, &rec->free);
}

static void pending_make(struct rnd *r, union record *rec)
{
    rec->pending.offset = 8192 + FMT_ALIGN * rnd_upto(r, (FMT_SIZE_MAX - 8192) / FMT_ALIGN);
    rec->pending.length = FMT_ALIGN * (1 + rnd_upto(r, FMT_SIZE_MAX / FMT_ALIGN - 1));
    rec->pending.sequence = rnd_u64(r);
}

static int pending_get_any(struct in *in, union record *rec)
{
    return pending_get(in, &rec->pending);
}

static void pending_put_any(struct out *out, const union record *rec)
{
    pending_put(out, &rec->pending);
}

static void log_make(struct rnd *r, union record *rec)
{
    rec->log.time = (int64_t)rnd_u64(r);
    rec->log.root = any_ref(r);
    rec->log.end = rec->log.root.offset + rec->log.root.length + rnd_upto(r, 1u << 30);
    rec->log.next_object = rnd_u64(r);
}

static int log_get_any(struct in *in, union record *rec)
{
    return log_get(in, &rec->log);
}

static void log_put_any(struct out *out, const union record *rec)
{
    log_put(out, &rec->log);
}

static void filter_make(struct rnd *r, struct filter_rec *f)
{
    static uint32_t params[FMT_FILTERS_MAX][FMT_PARAMS_MAX];
    static unsigned turn;
    uint32_t *param = params[++turn % FMT_FILTERS_MAX];

    f->id = (uint16_t)rnd_u64(r);
    if (f->id >= FMT_FILTER_USER)
        f->name = letters(r, 1, 255);
    f->nparams = (uint8_t)(fmt_filter_params(f->id) >= 0
                               ? fmt_filter_params(f->id)
                               : (int)rnd_below(r, rnd_below(r, 16) ? 12 : FMT_PARAMS_MAX + 1));
    for (int i = 0; i < f->nparams; i++)
        param[i] = (uint32_t)rnd_u64(r);
    for (int i = 0; i < f->nparams && i < FILTER_NEAR; i++)
        f->param[i] = param[i];
    f->given = f->nparams > FILTER_NEAR ? param : NULL;
    if (f->id == FMT_FILTER_DELTA) {
        f->param[0] = 1u << rnd_below(r, 4);
        f->param[1] = (uint32_t)rnd_below(r, 2);
    }
}

static void dataset_make(struct rnd *r, struct object_rec *o)
{
    int dims;

    o->type = 1 + (uint32_t)rnd_upto(r, UINT32_MAX - 1);
    o->layout = (uint8_t)rnd_below(r, 4);
    o->rank = (uint8_t)(o->layout ? rnd_below(r, FMT_RANK_MAX + 1) : FMT_RANK_NULL);
    dims = o->layout ? o->rank : 0;
    o->has_max = (int)rnd_below(r, 2);
    o->has_dims = (int)rnd_below(r, 2);
    for (int i = 0; i < dims; i++) {
        o->len[i] = o->max[i] = rnd_upto(r, FMT_SIZE_MAX);
        if (o->has_max && (i == 0 || o->layout != FMT_CONTIGUOUS))
            o->max[i] =
                rnd_below(r, 2) ? FMT_UNLIMITED : o->len[i] + rnd_upto(r, FMT_SIZE_MAX - o->len[i]);
        if (o->has_dims)
            o->dim[i] = rnd_u64(r);
        if (o->layout == FMT_CHUNKED)
            o->chunk[i] = 1 + (uint32_t)rnd_upto(r, UINT32_MAX - 1);
    }
    if (o->layout == FMT_CONTIGUOUS)
        o->slab = 1 + rnd_upto(r, FMT_SIZE_MAX - 1);
    if (o->layout == FMT_CHUNKED && o->rank > 0)
        o->suffix = (uint8_t)(1 + (o->rank > 1 && o->max[o->rank - 1] != FMT_UNLIMITED));
    if (o->layout == FMT_CHUNKED)
        o->nfilters = (uint8_t)rnd_below(r, FMT_FILTERS_MAX + 1);
    for (int i = 0; i < o->nfilters; i++)
        filter_make(r, &o->filter[i]);
    o->fill = (uint8_t)rnd_below(r, 3);
    if (o->fill == FMT_FILL_VALUE)
        o->fill_value = any_bytes(r, 60);
}

static void object_make(struct rnd *r, union record *rec)
{
    struct object_rec *o = &rec->object;

    o->kind = (uint8_t)(1 + rnd_below(r, 4));
    o->links = (uint32_t)rnd_u64(r);
    o->next_attr = (uint32_t)rnd_u64(r);
    if (o->kind == FMT_GROUP) {
        o->next_link = rnd_u64(r);
        o->members = rnd_u64(r);
    }
    if (o->kind == FMT_DATASET)
        dataset_make(r, o);
    if (o->kind == FMT_TYPE)
        o->type = 1 + (uint32_t)rnd_upto(r, UINT32_MAX - 1);
    if (o->kind == FMT_DIMENSION) {
        o->scales = (struct span){pool, 8 * (size_t)rnd_below(r, 4)};
        o->len[0] = rnd_upto(r, FMT_SIZE_MAX);
        o->unlimited = (int)rnd_below(r, 2);
    }
    o->tail = any_bytes(r, 30);
}

static int object_get_any(struct in *in, union record *rec)
{
    return object_get(in, &rec->object);
}

static void object_put_any(struct out *out, const union record *rec)
{
    object_put(out, &rec->object);
}

static void link_make(struct rnd *r, union record *rec)
{
    struct link_rec *l = &rec->link;

    l->kind = (uint8_t)(1 + rnd_below(r, 3));
    l->index = rnd_u64(r);
    l->object_kind = (uint8_t)rnd_u64(r);
    if (l->kind == FMT_HARD)
        l->object = 1 + rnd_upto(r, FMT_OBJECT_END - 2);
    if (l->kind == FMT_EXTERNAL)
        l->file = letters(r, 1, 300);
    if (l->kind != FMT_HARD)
        l->path = letters(r, 1, 300);
    l->tail = any_bytes(r, 30);
}

static void dim_make(struct rnd *r, union record *rec)
{
    struct dim_rec *d = &rec->dim;

    d->kind = rnd_below(r, 4) ? FMT_PLAIN : FMT_LATER;
    d->number = d->kind == FMT_PLAIN ? FMT_PLAIN : (uint8_t)(2 + rnd_below(r, 200));
    d->flags = (uint8_t)(rnd_below(r, 16) << 4);
    d->index = rnd_u64(r);
    if (d->kind == FMT_PLAIN)
        d->object = 2 + rnd_upto(r, FMT_OBJECT_END - 3);
    d->tail = any_bytes(r, 20);
}

static int dim_get_any(struct in *in, union record *rec)
{
    return dim_get(in, &rec->dim);
}

static void dim_put_any(struct out *out, const union record *rec)
{
    dim_put(out, &rec->dim);
}

static int link_get_any(struct in *in, union record *rec)
{
    return link_get(in, &rec->link);
}

static void link_put_any(struct out *out, const union record *rec)
{
    link_put(out, &rec->link);
}

static void attr_make(struct rnd *r, union record *rec)
{
    struct attr_rec *a = &rec->attr;

    a->kind = FMT_PLAIN;
    a->index = (uint32_t)rnd_u64(r);
    a->type = 1 + (uint32_t)rnd_upto(r, UINT32_MAX - 1);
    a->rank = (uint8_t)rnd_below(r, FMT_RANK_MAX + 2);
    if (a->rank > FMT_RANK_MAX)
        a->rank = FMT_RANK_NULL;
    for (int i = 0; a->rank != FMT_RANK_NULL && i < a->rank; i++)
        a->len[i] = rnd_upto(r, FMT_SIZE_MAX);
    if (a->rank != FMT_RANK_NULL)
        a->value = any_bytes(r, 60);
    a->tail = any_bytes(r, 30);
}

static int attr_get_any(struct in *in, union record *rec)
{
    return attr_get(in, &rec->attr);
}

static void attr_put_any(struct out *out, const union record *rec)
{
    attr_put(out, &rec->attr);
}

static void self_make(struct rnd *r, union record *rec)
{
    static const uint8_t rows[][2] = {{1, 1},   {2, 16},  {3, 3},   {4, 1},   {20, 4}, {20, 8},
                                      {21, 16}, {23, 10}, {23, 20}, {25, 32}, {18, 1}, {18, 2}};

    rec->self.n = (uint8_t)rnd_below(r, FMT_CODE_MAX + 1);
    for (int i = 0; i < rec->self.n; i++) {
        const uint8_t *row = rows[rnd_below(r, sizeof(rows) / sizeof(rows[0]))];

        rec->self.row[i].format = row[0];
        rec->self.row[i].size = row[1];
    }
}

static int self_get_any(struct in *in, union record *rec)
{
    return self_get(in, &rec->self);
}

static void self_put_any(struct out *out, const union record *rec)
{
    self_put(out, &rec->self);
}

static struct span any_refs(struct rnd *r, uint64_t sums)
{
    static uint8_t bytes[8 * FMT_REF_SIZE];
    uint64_t n = chunk_sum_blocks(sums);
    struct out out;

    out_init(&out, bytes, sizeof bytes);
    for (uint64_t i = 0; i < n; i++) {
        struct ref ref = any_ref(r);

        ref.length = FMT_BLOCK_HEAD + 8 * chunk_sums_in(sums, i);
        ref_put(&out, &ref);
    }
    return (struct span){bytes, out.at};
}

static void rows_make(struct rnd *r, struct chunk_rec *c)
{
    static uint8_t bytes[FMT_PACKED_MAX * 20];
    bool packed = c->kind == FMT_CHUNK_PACKED;
    struct out out;

    out_init(&out, bytes, sizeof bytes);
    c->filtered = true;
    c->skipped = (uint32_t)rnd_u64(r);
    c->run = 1 + (uint32_t)rnd_below(r, packed ? FMT_PACKED_MAX : FMT_PLACED_MAX);
    c->offset = 8192 + 64 * rnd_upto(r, ((FMT_SIZE_MAX >> 1) - 8192) / 64);
    for (uint32_t i = 0; i < c->run; i++)
        chunk_row_put(&out, c->kind, i ? 8192 + rnd_upto(r, FMT_SIZE_MAX >> 1) : c->offset,
                      (uint32_t)rnd_u64(r), rnd_u64(r));
    c->rows = (struct span){bytes, out.at};
}

static void chunk_make(struct rnd *r, union record *rec)
{
    struct chunk_rec *c = &rec->chunk;
    uint64_t n;

    c->kind = (uint8_t)(1 + rnd_below(r, 3));
    c->kept = (uint8_t)(rnd_below(r, 16) << 4);
    c->tail = any_bytes(r, 30);
    if (c->kind != FMT_CHUNK_PLAIN) {
        rows_make(r, c);
        return;
    }
    c->run = 1 + (uint32_t)rnd_upto(r, 9000);
    c->offset = 8192 + 64 * rnd_upto(r, (FMT_SIZE_MAX - 8192) / 64);
    c->size = rnd_upto(r, 20000);
    if (c->size == 0) /* nothing backs more of them */
        c->run = 1;
    n = chunk_sums(c->run, c->size);
    c->far = (uint32_t)chunk_sum_blocks(n);
    if (c->far) {
        c->refs = any_refs(r, n);
    } else {
        c->nsums = (uint32_t)n;
        rnd_fill(r, c->sum, (size_t)n * 8);
    }
}

static int chunk_get_any(struct in *in, union record *rec)
{
    return chunk_get(in, &rec->chunk);
}

static void chunk_put_any(struct out *out, const union record *rec)
{
    chunk_put(out, &rec->chunk);
}

static void scalar_make(struct rnd *r, union record *rec)
{
    struct scalar_rec *s = &rec->scalar;
    unsigned bits, top;

    s->cls = (uint8_t)(1 + rnd_below(r, 3));
    s->order = (uint8_t)rnd_below(r, 3);
    s->size = (uint8_t)(2 + rnd_below(r, s->cls == FMT_SCALAR_REAL ? 31 : 15));
    s->is_signed = (uint8_t)rnd_below(r, 2);
    s->format = FMT_FORMAT_CUSTOM;
    s->norm = (uint8_t)rnd_below(r, 3);
    s->low_pad = (uint8_t)rnd_below(r, 3);
    s->high_pad = (uint8_t)rnd_below(r, 3);
    bits = s->size * 8u;
    s->offset = (uint16_t)rnd_below(r, bits - 3);
    s->precision = (uint16_t)(3 + rnd_below(r, bits - s->offset - 2));
    top = s->offset + s->precision - 1u;
    /* Significand, exponent and sign from the bottom up, with gaps. */
    s->mant_pos = (uint16_t)(s->offset + rnd_below(r, s->precision - 2));
    s->mant_width = (uint16_t)(1 + rnd_below(r, top - s->mant_pos - 1));
    if (s->mant_width > 113)
        s->mant_width = 113;
    s->exp_pos = (uint16_t)(s->mant_pos + s->mant_width);
    s->exp_width = (uint16_t)(1 + rnd_below(r, top - s->exp_pos));
    if (s->exp_width > 32)
        s->exp_width = 32;
    s->sign_pos = (uint16_t)top;
    s->exp_base_log2 = rnd_below(r, 2) ? 1 : 4;
    if (s->exp_base_log2 == 4 && s->mant_width < 4) /* less than a digit */
        s->exp_base_log2 = 1;
    if (s->norm == 0 && (s->exp_base_log2 == 4 || s->exp_width < 2)) /* no leading bit to imply */
        s->norm = 1;
    s->exp_bias = (int64_t)rnd_u64(r);
}

static int scalar_get_any(struct in *in, union record *rec)
{
    return scalar_get(in, &rec->scalar);
}

static void scalar_put_any(struct out *out, const union record *rec)
{
    scalar_put(out, &rec->scalar);
}

static const struct codec codec[] = {
    {"free", free_make, free_get_any, free_put_any},
    {"pending", pending_make, pending_get_any, pending_put_any},
    {"log", log_make, log_get_any, log_put_any},
    {"object", object_make, object_get_any, object_put_any},
    {"link", link_make, link_get_any, link_put_any},
    {"dim", dim_make, dim_get_any, dim_put_any},
    {"attr", attr_make, attr_get_any, attr_put_any},
    {"self", self_make, self_get_any, self_put_any},
    {"chunk", chunk_make, chunk_get_any, chunk_put_any},
    {"scalar", scalar_make, scalar_get_any, scalar_put_any},
};
#define CODECS (sizeof(codec) / sizeof(codec[0]))

static const struct codec *codec_named(const char *name)
{
    for (size_t i = 0; i < CODECS; i++)
        if (strcmp(codec[i].name, name) == 0)
            return &codec[i];
    abort();
}

static size_t encode(const struct codec *c, const union record *rec, uint8_t *bytes)
{
    struct out out, count;

    out_init(&out, bytes, BYTES_MAX);
    c->put(&out, rec);
    ck_assert_int_eq(out.err, 0);
    out_init(&count, NULL, 0);
    c->put(&count, rec);
    ck_assert_uint_eq(count.at, out.at);
    return out.at;
}

START_TEST(test_records_come_back)
{
    const struct codec *c = &codec[_i];
    static uint8_t bytes[BYTES_MAX], back[BYTES_MAX];
    static union record rec, got;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct rnd r;
        struct in in;
        size_t size;

        rnd_init(&r, seed);
        memset(&rec, 0, sizeof(rec));
        c->make(&r, &rec);
        size = encode(c, &rec, bytes);
        in_init(&in, bytes, size);
        ck_assert_msg(c->get(&in, &got) == 0, "%s, seed %llu: %s at byte %zu", c->name,
                      (unsigned long long)seed, in.why, in.err_at);
        ck_assert_msg(in_left(&in) == 0, "%s, seed %llu", c->name, (unsigned long long)seed);
        ck_assert_msg(encode(c, &got, back) == size && memcmp(back, bytes, size) == 0,
                      "%s, seed %llu: other bytes", c->name, (unsigned long long)seed);
    }
}
END_TEST

/* A record cut short is refused, and leaves the destination alone, unless only its tail
 * is shorter. */
START_TEST(test_every_truncation_is_refused_or_a_shorter_record)
{
    const struct codec *c = &codec[_i];
    static uint8_t bytes[BYTES_MAX], back[BYTES_MAX];
    static union record rec, got, before;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rnd r;
        size_t size;

        rnd_init(&r, seed);
        memset(&rec, 0, sizeof(rec));
        c->make(&r, &rec);
        size = encode(c, &rec, bytes);
        for (size_t n = 0; n < size; n++) {
            uint8_t *exact = malloc(n ? n : 1);
            struct in in;

            memcpy(exact, bytes, n);
            memset(&got, 0xa5, sizeof(got));
            before = got;
            in_init(&in, exact, n);
            if (c->get(&in, &got)) {
                ck_assert_msg(memcmp(&got, &before, sizeof(got)) == 0, "%s, seed %llu, cut at %zu",
                              c->name, (unsigned long long)seed, n);
                ck_assert_ptr_nonnull(in.why);
                ck_assert_uint_le(in.err_at, n);
            } else {
                ck_assert_msg(encode(c, &got, back) == n && memcmp(back, exact, n) == 0,
                              "%s, seed %llu, cut at %zu", c->name, (unsigned long long)seed, n);
            }
            free(exact);
        }
    }
}
END_TEST

/* ---- vectors ---- */

/* Decodes text into rec and checks that the same bytes come back. */
static uint8_t *vector_get(const char *name, const char *text, union record *rec)
{
    const struct codec *c = codec_named(name);
    static uint8_t back[BYTES_MAX];
    struct in in;
    size_t size;
    uint8_t *bytes = hex_bytes(text, &size);

    in_init(&in, bytes, size);
    ck_assert_msg(c->get(&in, rec) == 0, "%s: %s at byte %zu", name, in.why, in.err_at);
    ck_assert_uint_eq(encode(c, rec, back), size);
    ck_assert_mem_eq(back, bytes, size);
    return bytes; /* rec points into it */
}

static int span_is(const struct span *s, const char *text)
{
    return s->len == strlen(text) && memcmp(s->p, text, s->len) == 0;
}

START_TEST(test_vectors_of_space)
{
    union record rec;

    free(vector_get("free", "0000000000000100 0000000000000007", &rec));
    ck_assert(rec.free.length == 256 && rec.free.sequence == 7);
    free(vector_get("pending", "0000000000002040 0000000000000100 0000000000000007", &rec));
    ck_assert(rec.pending.offset == 0x2040 && rec.pending.length == 256 &&
              rec.pending.sequence == 7);
    free(vector_get("log",
                    "ffffffffffffffff 0000000000004000"
                    "0000000000002000 00000100 1122334455667788 0000000000000009",
                    &rec));
    ck_assert(rec.log.time == -1 && rec.log.end == 0x4000 && rec.log.next_object == 9);
    ck_assert(rec.log.root.offset == 0x2000 && rec.log.root.length == 256 &&
              rec.log.root.checksum == 0x1122334455667788);
}
END_TEST

START_TEST(test_vectors_of_objects)
{
    union record rec;
    uint8_t *p;

    p = vector_get("object", "01 00 02 03 04 05 ee", &rec);
    ck_assert(rec.object.kind == FMT_GROUP && rec.object.links == 2 && rec.object.next_attr == 3);
    ck_assert(rec.object.next_link == 4 && rec.object.members == 5 && rec.object.tail.len == 1);
    free(p);
    p = vector_get("object", "03 00 01 00 858004", &rec);
    ck_assert(rec.object.kind == FMT_TYPE && rec.object.type == 65541);
    free(p);
    p = vector_get("object", "04 01 01 00 e802 0001 0000000000000007 77", &rec);
    ck_assert(rec.object.kind == FMT_DIMENSION && rec.object.len[0] == 360 && rec.object.unlimited);
    ck_assert(rec.object.scales.len == 8 && rec.object.tail.len == 1);
    free(p);
    p = vector_get("dim", "01 a0 03 8202 77", &rec);
    ck_assert(rec.dim.kind == FMT_PLAIN && rec.dim.flags == 0xa0 && rec.dim.index == 3);
    ck_assert(rec.dim.object == 258 && rec.dim.tail.len == 1);
    free(p);
    p = vector_get("dim", "02 00 03 77", &rec);
    ck_assert(rec.dim.kind == FMT_LATER && rec.dim.number == 2 && rec.dim.index == 3);
    free(p);
    p = vector_get("dim", "01 04 03 77", &rec);
    ck_assert(rec.dim.kind == FMT_LATER && rec.dim.flags == 4);
    free(p);
    p = vector_get("object", "02 00 01 00 05 10 00 00 ff 00 02", &rec);
    ck_assert(rec.object.kind == FMT_DATASET && rec.object.type == FMT_CODE_DOUBLE);
    ck_assert(rec.object.rank == FMT_RANK_NULL && rec.object.fill == FMT_FILL_NONE);
    free(p);
}
END_TEST

START_TEST(test_vectors_of_datasets)
{
    union record rec;
    const struct object_rec *o = &rec.object;
    uint8_t *p;

    /* 5 x 7 of DOUBLE, contiguous, the first dimension unlimited; both dimensions named. */
    p = vector_get("object",
                   "02 03 01 00 05 10 00 02 02"
                   "05 07 ffffffffffffffffff01 07"
                   "21 00 801c 00 00",
                   &rec);
    ck_assert(o->layout == FMT_CONTIGUOUS && o->rank == 2 && o->has_max && o->has_dims);
    ck_assert(o->len[0] == 5 && o->len[1] == 7 && o->max[0] == FMT_UNLIMITED && o->max[1] == 7);
    ck_assert(o->dim[0] == 33 && o->dim[1] == 0 && o->slab == 3584 && o->nfilters == 0);
    free(p);
    /* 9 of INT in chunks of 4, shuffle and a user's filter, a fill value. */
    p = vector_get("object",
                   "02 00 01 00 05 08 00 03 01 09 04 01"
                   "02 0001 00 00 01 00000004  8001 00 03 6c6f67 02 00000001 ffffffff"
                   "01 07 01 02 04 00000063",
                   &rec);
    ck_assert(o->layout == FMT_CHUNKED && !o->has_max && o->max[0] == 9 && o->chunk[0] == 4 &&
              o->suffix == 1);
    ck_assert(o->nfilters == 2 && o->filter[0].id == FMT_FILTER_SHUFFLE);
    ck_assert(o->filter[0].nparams == 1 && o->filter[0].param[0] == 4);
    ck_assert(o->filter[1].id == 32769 && o->filter[1].flags == 0 && o->filter[1].nparams == 2);
    ck_assert(span_is(&o->filter[1].name, "log") && o->filter[1].param[1] == UINT32_MAX);
    ck_assert(o->fill == FMT_FILL_VALUE && o->fill_value.len == 7 && o->fill_value.p[6] == 0x63);
    free(p);
    /* A rank of 0, compact. */
    p = vector_get("object", "02 00 01 00 05 808004 00 01 00 00 00", &rec);
    ck_assert(o->layout == FMT_COMPACT && o->rank == 0 && o->type == FMT_TYPE_FIRST);
    free(p);
}
END_TEST

/* Kinds and flags that are not known: the front can be read, the rest is kept. */
START_TEST(test_vectors_of_later_versions)
{
    static const char *const objects[] = {"00 00 02 03 77", "05 00 02 03 77", "01 01 02 03 77",
                                          "02 04 02 03 77", "04 08 02 03 77", "ff f0 02 03 77"};
    static const char *const links[] = {"00 00 03 77", "04 00 03 77", "01 01 03 77", "02 88 03 77"};
    static const char *const attrs[] = {"00 00 03 77", "02 00 03 77", "01 04 03 77", "ff ff 03 77"};
    union record rec;
    uint8_t *p;

    for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
        p = vector_get("object", objects[i], &rec);
        ck_assert(rec.object.kind == FMT_LATER && rec.object.number == p[0]);
        ck_assert(rec.object.flags == p[1] && rec.object.links == 2 && rec.object.next_attr == 3);
        ck_assert(span_is(&rec.object.tail, "w"));
        free(p);
    }
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
        p = vector_get("link", links[i], &rec);
        ck_assert(rec.link.kind == FMT_LATER && rec.link.number == p[0] && rec.link.flags == p[1]);
        ck_assert(rec.link.index == 3 && span_is(&rec.link.tail, "w"));
        free(p);
        p = vector_get("attr", attrs[i], &rec);
        ck_assert(rec.attr.kind == FMT_LATER && rec.attr.number == p[0] && rec.attr.flags == p[1]);
        ck_assert(rec.attr.index == 3 && span_is(&rec.attr.tail, "w"));
        free(p);
    }
    /* A layout, and a fill: what stands before them, and the shape, can be read. */
    p = vector_get("object", "02 01 02 03 05 10 00 04 01 02 03 77", &rec);
    ck_assert(!object_known(&rec.object) && rec.object.layout == 4 && rec.object.type == 16);
    ck_assert(rec.object.max[0] == 3 && span_is(&rec.object.tail, "w"));
    free(p);
    p = vector_get("object", "02 00 02 03 05 10 00 ff ff 77", &rec);
    ck_assert(!object_known(&rec.object) && span_is(&rec.object.tail, "w"));
    free(p);
    p = vector_get("object", "02 00 02 03 05 10 00 01 00 00 03 77", &rec);
    ck_assert(!object_known(&rec.object) && rec.object.fill == 3 && span_is(&rec.object.tail, "w"));
    free(p);
    free(vector_get("object", "02 00 02 03 05 10 00 01 00 00 02 77", &rec));
    ck_assert(object_known(&rec.object));
    /* Flags that change nothing are ignored and kept. */
    free(vector_get("object", "01 10 02 03 04 05", &rec));
    ck_assert(rec.object.kind == FMT_GROUP && rec.object.members == 5);
    free(vector_get("link", "01 f0 03 02 8202", &rec));
    ck_assert(rec.link.kind == FMT_HARD && rec.link.object == 0x102);
    free(vector_get("attr", "01 80 00 10 ff 00", &rec));
    ck_assert(rec.attr.kind == FMT_PLAIN && rec.attr.type == FMT_CODE_DOUBLE);
}
END_TEST

START_TEST(test_vectors_of_links_and_attributes)
{
    union record rec;
    uint8_t *p;

    p = vector_get("link", "01 00 03 02 8202", &rec);
    ck_assert(rec.link.kind == FMT_HARD && rec.link.index == 3 && rec.link.object == 0x102);
    ck_assert_int_eq(rec.link.object_kind, FMT_DATASET);
    free(p);
    p = vector_get("link", "02 00 04 0005 2f 61 2f c3a9  77", &rec);
    ck_assert(rec.link.kind == FMT_SOFT && span_is(&rec.link.path, "/a/\xc3\xa9"));
    ck_assert(span_is(&rec.link.tail, "w"));
    free(p);
    p = vector_get("link", "03 00 05 0006 622e64726570 0001 2f", &rec);
    ck_assert(rec.link.kind == FMT_EXTERNAL && span_is(&rec.link.file, "b.drep"));
    ck_assert(span_is(&rec.link.path, "/"));
    free(p);
    p = vector_get("attr",
                   "01 00 02 10 01 01 0b"
                   "01 15 08 3ff0000000000000  aabb",
                   &rec);
    ck_assert(rec.attr.index == 2 && rec.attr.type == FMT_CODE_DOUBLE && rec.attr.rank == 1);
    ck_assert(rec.attr.len[0] == 1 && rec.attr.value.len == 11 && rec.attr.tail.len == 2);
    free(p);
    p = vector_get("attr", "01 00 00 10 ff 00", &rec);
    ck_assert(rec.attr.rank == FMT_RANK_NULL && rec.attr.value.len == 0);
    free(p);
    free(vector_get("self", "03 02 04  15 08  17 0a", &rec));
    ck_assert(rec.self.n == 3 && rec.self.row[0].format == FMT_FORMAT_INT);
    ck_assert(rec.self.row[2].format == FMT_FORMAT_X87 && rec.self.row[2].size == 10);
}
END_TEST

START_TEST(test_vectors_of_chunks)
{
    union record rec;
    const struct chunk_rec *c = &rec.chunk;

    struct chunk_lines lines;
    struct chunk_rec row;
    struct ref ref;
    uint64_t at = 0;
    uint8_t *bytes;

    /* Two chunks of 5,000 bytes: two sums each. */
    free(vector_get("chunk",
                    "01 00 00000002 0000000000004000 0000000000001388"
                    "0000000000000001 0000000000000002 0000000000000000 ffffffffffffffff",
                    &rec));
    ck_assert(!c->filtered && !c->far && c->run == 2 && c->offset == 0x4000 && c->size == 5000);
    ck_assert(c->nsums == 4 && c->sum[0] == 1 && c->sum[2] == 0 && c->sum[3] == UINT64_MAX);
    /* Five sums stand in a block of 80 bytes. */
    bytes = vector_get("chunk",
                       "01 00 00000001 0000000000004000 0000000000004001"
                       "0000000000002000 00000050 1122334455667788",
                       &rec);
    ck_assert(c->far == 1 && c->nsums == 0);
    chunk_ref(c, 0, &ref);
    ck_assert(ref.offset == 0x2000 && ref.length == 80 && ref.checksum == 0x1122334455667788);
    free(bytes);
    /* 8,188 sums are one too many for a block of 64 KiB. */
    bytes = vector_get("chunk",
                       "01 00 00001ffc 0000000000004000 0000000000000001"
                       "0000000000020000 00010000 1122334455667788"
                       "0000000000002000 00000030 1122334455667788",
                       &rec);
    ck_assert(c->far == 2 && chunk_sums_in(8188, 0) == 8187 && chunk_sums_in(8188, 1) == 1);
    free(bytes);
    /* Two filtered chunks, packed, the second filter not applied. */
    bytes = vector_get("chunk",
                       "02 00 02 00 00000002 0000000000002040 00000041 00000000000000aa"
                       "00000100 00000000000000bb",
                       &rec);
    ck_assert(c->filtered && c->skipped == 2 && c->run == 2 && c->offset == 0x2040);
    chunk_row(c, 0, &at, &row);
    ck_assert(row.offset == 0x2040 && row.size == 65 && row.sum[0] == 0xaa && row.run == 1);
    chunk_row(c, 1, &at, &row);
    ck_assert(row.offset == 0x2081 && row.size == 256 && row.sum[0] == 0xbb && row.skipped == 2);
    ck_assert_int_eq(chunk_lines(c, &lines), 0);
    ck_assert(lines.n == 1 && lines.at[0].offset == 0x2040 && lines.at[0].length == 0x180);
    free(bytes);
    /* Placed: the second stands before the first, in the same line; or over it. */
    bytes = vector_get("chunk",
                       "03 00 02 00 00000000 0000000000002081 00000041 00000000000000aa"
                       "0000000000002078 00000009 00000000000000bb",
                       &rec);
    chunk_row(c, 1, &at, &row);
    ck_assert(row.offset == 0x2078 && row.size == 9 && row.sum[0] == 0xbb);
    ck_assert_int_eq(chunk_lines(c, &lines), 0);
    ck_assert(lines.n == 1 && lines.at[0].offset == 0x2040 && lines.at[0].length == 0xc0);
    bytes[8 + 12 + 8 + 11]++;
    ck_assert_int_eq(chunk_lines(c, &lines), FMT_ERR_FORMAT);
    free(bytes);
    ck_assert_uint_eq(chunk_sums(3, 0), 0);
    ck_assert_uint_eq(chunk_sums(3, 1), 3);
    ck_assert_uint_eq(chunk_sums(3, 4096), 3);
    ck_assert_uint_eq(chunk_sums(3, 4097), 6);
    ck_assert_uint_eq(chunk_sums(UINT32_MAX, UINT64_MAX), FMT_SIZE_MAX);
}
END_TEST

/* binary32 told by its bits, big-endian. */
#define SCALAR_BINARY32 \
    "02 00 04 01 ff 00 00 00 0020 0000 001f 0017 0008 0000 0017 01 00 000000000000007f"

START_TEST(test_vectors_of_scalars)
{
    union record rec;
    const struct scalar_rec *s = &rec.scalar;

    free(vector_get("scalar", SCALAR_BINARY32, &rec));
    ck_assert(s->cls == 2 && s->order == 0 && s->size == 4 && s->is_signed == 1);
    ck_assert(s->format == 255 && s->norm == 0 && s->precision == 32 && s->offset == 0);
    ck_assert(s->sign_pos == 31 && s->exp_pos == 23 && s->exp_width == 8 && s->mant_pos == 0);
    ck_assert(s->mant_width == 23 && s->exp_base_log2 == 1 && s->exp_bias == 127);
}
END_TEST

/* ---- limits ---- */

static const struct {
    const char *name, *text;
    int err;
} refused[] = {
    {"free", "0000000000000000 0000000000000007", FMT_ERR_FORMAT},
    {"free", "0000000000000060 0000000000000007", FMT_ERR_FORMAT},
    {"free", "4000000000000040 0000000000000007", FMT_ERR_FORMAT},
    {"pending", "0000000000002008 0000000000000040 0000000000000007", FMT_ERR_FORMAT},
    {"pending", "0000000000001fc0 0000000000000040 00000000000007", FMT_ERR_FORMAT},
    {"pending", "8000000000000000 0000000000000040 0000000000000007", FMT_ERR_FORMAT},
    {"log",
     "0000000000000000 00000000000020ff 0000000000002000 00000100 0000000000000000"
     "0000000000000000",
     FMT_ERR_FORMAT},
    {"log",
     "0000000000000000 0000000000004000 0000000000000000 00000000 0000000000000000"
     "0000000000000000",
     FMT_ERR_FORMAT},
    {"object", "01 00 8200 03 04 05", FMT_ERR_FORMAT},
    {"object", "01 00 8080808010 03 04 05", FMT_ERR_FORMAT}, /* 2^32 */
    {"object", "01 00 02 03 04 8080808080808080808001", FMT_ERR_FORMAT},
    {"object", "01 00 02 03 04 80808080808080808002", FMT_ERR_FORMAT}, /* 2^64 */
    {"object", "03 00 01 00 00", FMT_ERR_FORMAT},
    {"object", "02 00 01 00 05 00 00 00 ff 00 02", FMT_ERR_FORMAT},
    {"object", "02 00 01 00 05 10 00 01 ff 00 02", FMT_ERR_FORMAT}, /* null, compact */
    {"object", "02 00 01 00 05 10 00 00 00 00 02", FMT_ERR_FORMAT}, /* one element */
    /* A rank of 254 whose dimensions have ids: nothing is read for it. */
    /* The maximum below the length; a second dimension that grows; no slab; no chunk. */
    {"object", "02 01 01 00 05 10 00 01 01 02 01 00 02", FMT_ERR_FORMAT},
    {"object",
     "02 01 01 00 05 10 00 02 02 02 02 02"
     "03 01 00 02",
     FMT_ERR_FORMAT},
    {"object", "02 00 01 00 05 10 00 02 01 02 00 00 02", FMT_ERR_FORMAT},
    {"object", "02 00 01 00 05 10 00 03 01 02 00 01 00 02", FMT_ERR_FORMAT},
    /* The suffix of a grid: none, longer than the rank, of a rank of 0; a second dimension without
     * bound; 2^31 times 2^32 chunks. */
    {"object", "02 00 01 00 05 10 00 03 01 02 01 00 00 02", FMT_ERR_FORMAT},
    {"object", "02 00 01 00 05 10 00 03 01 02 01 02 00 02", FMT_ERR_FORMAT},
    {"object", "02 00 01 00 05 10 00 03 00 01 00 02", FMT_ERR_FORMAT},
    {"object", "02 01 01 00 05 10 00 03 02 02 02 02 ffffffffffffffffff01 01 01 02 00 02",
     FMT_ERR_FORMAT},
    /* Filters: where none may be, too many, a name below 32768, none above, parameters. */
    {"object",
     "02 00 01 00 05 10 00 02 01 02 01"
     "01 0001 00 00 01 00000008 02",
     FMT_ERR_FORMAT},
    {"object", "02 00 01 00 05 10 00 01 00 01 0001 00 00 01 00000008 02", FMT_ERR_FORMAT},
    {"object", "02 00 01 00 05 10 00 03 00 00 01 0001 00 01 61 01 00000008 02", FMT_ERR_FORMAT},
    {"object", "02 00 01 00 05 10 00 03 00 00 01 8000 00 00 01 00000008 02", FMT_ERR_FORMAT},
    {"object", "02 00 01 00 05 10 00 03 00 00 01 8000 00 01 00 01 00000008 02", FMT_ERR_FORMAT},
    {"object", "02 00 01 00 05 10 00 03 00 00 01 0001 00 00 02 00000008 00000008 02",
     FMT_ERR_FORMAT},
    {"object", "02 00 01 00 05 10 00 03 00 00 01 0064 00 00 ff", FMT_ERR_FORMAT},
    /* A byte filter behind a user's. */
    {"object", "02 00 01 00 05 10 00 03 00 00 02 8000 00 01 61 00 0001 00 00 01 00000008 00",
     FMT_ERR_FORMAT},
    {"link", "04 00 8300 8202", FMT_ERR_FORMAT},
    {"dim", "01 00 03 00", FMT_ERR_FORMAT},
    {"dim", "01 00 03 01", FMT_ERR_FORMAT},
    {"link", "01 00 03 02 00", FMT_ERR_FORMAT},
    {"link", "02 00 04 0000", FMT_ERR_FORMAT},
    {"link", "02 00 04 0002 ff61", FMT_ERR_FORMAT},
    {"link", "03 00 05 0000 0001 2f", FMT_ERR_FORMAT},
    {"link", "03 00 05 0003 610062 0001 2f", FMT_ERR_FORMAT},
    {"attr", "01 00 00 00 ff 00", FMT_ERR_FORMAT},
    {"attr", "01 00 00 10 00 ffffffff0f 00", FMT_ERR_FORMAT},
    {"self", "45", FMT_ERR_UNSUPPORTED},
    {"self", "01 15 04", FMT_ERR_FORMAT},
    {"self", "01 17 10", FMT_ERR_FORMAT},
    {"self", "01 ff 08", FMT_ERR_FORMAT},
    {"self", "01 08 08", FMT_ERR_UNSUPPORTED},
    /* Kinds and flags of later versions. */
    {"chunk", "05 00 00000001 0000000000002040 0000000000000001 00000000000000aa",
     FMT_ERR_UNSUPPORTED},
    {"chunk", "00 00 00000001 0000000000002040 0000000000000001 00000000000000aa",
     FMT_ERR_UNSUPPORTED},
    {"chunk", "01 02 00000001 0000000000002040 0000000000000001 00000000000000aa",
     FMT_ERR_UNSUPPORTED},
    {"chunk", "02 01 01 00 00000000 0000000000002040 00000001 00000000000000aa",
     FMT_ERR_UNSUPPORTED},
    /* Plain: no chunks; several without bytes; offset odd, in the slots; too many bytes. */
    {"chunk", "01 00 00000000 0000000000002040 0000000000000001 00000000000000aa", FMT_ERR_FORMAT},
    {"chunk", "01 00 00000002 0000000000002040 0000000000000000", FMT_ERR_FORMAT},
    {"chunk", "01 00 00000001 0000000000002041 0000000000000001 00000000000000aa", FMT_ERR_FORMAT},
    {"chunk", "01 00 00000001 0000000000001fc0 0000000000000001 00000000000000aa", FMT_ERR_FORMAT},
    {"chunk", "01 00 00000002 0000000000002040 2000000000000001 00000000000000aa", FMT_ERR_FORMAT},
    /* A flag; five sums where four may stand; a block of the wrong length; one missing. */
    {"chunk",
     "01 01 00000001 0000000000004000 0000000000001000"
     "0000000000002000 00000030 1122334455667788",
     FMT_ERR_UNSUPPORTED},
    {"chunk",
     "01 00 00000005 0000000000004000 0000000000000001 0000000000000001"
     "0000000000000001 0000000000000001 0000000000000001 0000000000000001",
     FMT_ERR_FORMAT},
    {"chunk",
     "01 00 00000001 0000000000004000 0000000000004001"
     "0000000000002000 00000051 1122334455667788",
     FMT_ERR_FORMAT},
    {"chunk",
     "01 00 00001ffc 0000000000004000 0000000000000001"
     "0000000000020000 00010000 1122334455667788",
     FMT_ERR_FORMAT},
    /* Packed: no rows, too many, cut; offset odd, in the slots; beyond what a file can hold. */
    {"chunk", "02 00 00 00 00000000 0000000000002040", FMT_ERR_FORMAT},
    {"chunk", "02 00 01 00 00000000 0000000000002040 00000001 00000000000000", FMT_ERR_FORMAT},
    {"chunk", "02 00 01 00 00000000 0000000000002041 00000001 00000000000000aa", FMT_ERR_FORMAT},
    {"chunk", "02 00 01 00 00000000 0000000000001fc0 00000001 00000000000000aa", FMT_ERR_FORMAT},
    {"chunk", "02 00 01 00 00000000 4000000000000000 00000001 00000000000000aa", FMT_ERR_FORMAT},
    /* Placed: too many rows; one in the slots; one beyond. */
    {"chunk", "03 00 01 00 00000000 0000000000001fff 00000001 00000000000000aa", FMT_ERR_FORMAT},
    {"chunk", "03 00 01 00 00000000 3fffffffffffffff 00000002 00000000000000aa", FMT_ERR_FORMAT},
};

START_TEST(test_what_no_record_may_say_is_refused)
{
    const struct codec *c = codec_named(refused[_i].name);
    static union record rec, before;
    struct in in;
    size_t size;
    uint8_t *bytes = hex_bytes(refused[_i].text, &size);
    int err;

    memset(&rec, 0xa5, sizeof(rec));
    before = rec;
    in_init(&in, bytes, size);
    err = c->get(&in, &rec);
    ck_assert_msg(err == refused[_i].err, "row %d, %s %s: error %d (%s)", _i, refused[_i].name,
                  refused[_i].text, err, in.why);
    ck_assert_mem_eq(&rec, &before, sizeof(rec));
    free(bytes);
}
END_TEST

/* Values beyond a limit: what has one cannot be read, and an object or an attribute goes back as it
 * is. */
static const struct {
    const char *name, *text;
} beyond[] = {
    {"object", "04 00 01 00 818080808080808040"},
    {"object", "02 00 01 00 05 10 00 01 21 00 02"},
    {"object", "02 00 01 00 05 10 00 01 01 818080808080808040 00 02"},
    {"object", "02 01 01 00 05 10 00 01 01 02 feffffffffffffffff01 00 02"},
    {"object", "02 01 01 00 05 10 00 03 03 00 00 00 01 8080808008 8080808010 01 01 01 03 00 02"},
    {"object", "02 00 01 00 05 10 00 03 00 00 21"},
    {"attr", "01 00 00 10 21 00"},
    {"attr", "01 00 00 10 01 818080808080808040 00"},
    {"self", "01 02 11"},
    {"chunk", "02 00 81 00 00000000 0000000000002040"},
    {"chunk", "03 00 61 00 00000000"},
    {"object",
     "02 03 01 00 05 10 00 02 fe 8080808080808080fa01 ffffffffffffffff07 8080808080808080ff01"},
};

START_TEST(test_values_beyond_limits_are_kept)
{
    const struct codec *c = codec_named(beyond[_i].name);
    static union record rec;
    uint8_t back[200];
    struct out out;
    struct in in;
    size_t size;
    uint8_t *bytes = hex_bytes(beyond[_i].text, &size);
    bool kept = strcmp(c->name, "object") == 0 || strcmp(c->name, "attr") == 0;

    in_init(&in, bytes, size);
    ck_assert_int_eq(c->get(&in, &rec), kept ? 0 : FMT_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(in.why, "beyond the limits of this version (R") != NULL, "%s", in.why);
    if (kept) {
        out_init(&out, back, sizeof(back));
        c->put(&out, &rec);
        ck_assert_uint_eq(out.at, size);
        ck_assert_mem_eq(back, bytes, size);
    }
    free(bytes);
}
END_TEST

/* Each byte of the worked scalar, set to a value that breaks it. */
START_TEST(test_fields_of_a_scalar_lie_inside_and_apart)
{
    static const struct {
        uint8_t at, value;
    } row[] = {
        {0, 0},   {0, 4},   {1, 3},  {2, 0},  {2, 33}, {3, 2},
        {4, 21},  {4, 254}, {5, 3},  {6, 3},  {7, 3},  {9, 34}, /* precision beyond the size */
        {9, 0},                                                 /* no bits */
        {11, 1},  /* offset + precision beyond the size */
        {8, 255}, /* 65,312 bits */
        {13, 32}, /* sign outside */
        {13, 30}, /* sign in the exponent */
        {13, 0},  /* sign in the significand */
        {15, 22}, /* exponent in the significand */
        {15, 25}, /* exponent outside */
        {17, 0},  /* no exponent */
        {17, 33}, /* exponent too wide */
        {19, 1},  /* significand in the exponent */
        {21, 0},  /* no significand */
        {21, 24}, {22, 0},  {22, 2}, {22, 3}, {22, 5}, {23, 1}, /* the zero */
    };
    size_t size;
    uint8_t *bytes = hex_bytes(SCALAR_BINARY32, &size);

    ck_assert_uint_eq(size, FMT_SCALAR_SIZE);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        uint8_t kept = bytes[row[i].at];
        struct scalar_rec s;
        struct in in;

        bytes[row[i].at] = row[i].value;
        in_init(&in, bytes, size);
        /* Numbers that a later version may know, and what no version may say. */
        /* Formats, orders, sizes and widths may be those of a later version. */
        ck_assert_msg(scalar_get(&in, &s) ==
                          (row[i].value == 254 || row[i].at == 1 || row[i].value == 33
                               ? FMT_ERR_UNSUPPORTED
                               : FMT_ERR_FORMAT),
                      "row %zu", i);
        ck_assert_uint_eq(in.err_at, 0);
        bytes[row[i].at] = kept;
    }
    free(bytes);
}
END_TEST

/* ---- names ---- */

START_TEST(test_D17_names)
{
    static const struct {
        const char *text;
        int name, any;
    } row[] = {
        {"a", 1, 1},
        {"", 0, 1},
        {".", 0, 1},
        {"..", 0, 1},
        {"...", 1, 1},
        {".a", 1, 1},
        {"a/b", 0, 1},
        {"/", 0, 1},
        {"/a", 0, 1},
        {"a/", 0, 1},
        {"//a", 0, 1},
        {"a//b", 0, 1},
        {"a/./b", 0, 1},
        {"/..", 0, 1},
        {"a b\n\x7f", 1, 1},
        {"\xc3\xa9", 1, 1},
        {"\xc3", 0, 0},
        {"\xa9", 0, 0},
        {"\xc0\x80", 0, 0},
        {"\xc1\xbf", 0, 0},
        {"\xe2\x82\xac", 1, 1},
        {"\xe0\x80\xaf", 0, 0},
        {"\xed\xa0\x80", 0, 0},
        {"\xed\x9f\xbf", 1, 1},
        {"\xf0\x9f\x98\x80", 1, 1},
        {"\xf0\x8f\xbf\xbf", 0, 0},
        {"\xf4\x8f\xbf\xbf", 1, 1},
        {"\xf4\x90\x80\x80", 0, 0},
        {"\xf8\x88\x80\x80\x80", 0, 0},
        {"\xff", 0, 0},
    };
    uint8_t text[FMT_NAME_MAX + 3];

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const uint8_t *p = (const uint8_t *)row[i].text;

        ck_assert_msg((name_check(p, strlen(row[i].text)) == 0) == row[i].name, "row %zu", i);
        ck_assert_msg((text_check(p, strlen(row[i].text)) == 0) == row[i].any, "row %zu", i);
        /* Wherever in a longer text it stands. */
        for (size_t before = 0; before < 20; before++)
            for (size_t behind = 0; behind < 20; behind++) {
                size_t len = strlen(row[i].text);

                memset(text, 1, before + len + behind);
                memcpy(text + before, p, len);
                ck_assert_msg((text_check(text, before + len + behind) == 0) ==
                                  (row[i].any || len == 0),
                              "row %zu behind %zu", i, before);
            }
    }
    for (size_t at = 0; at < 32; at++) {
        memset(text, 0x7f, 32);
        text[at] = 0;
        ck_assert_int_eq(text_check(text, 32), FMT_ERR_NAME);
    }
    memset(text, 'x', sizeof(text));
    ck_assert_int_eq(name_check(text, FMT_NAME_MAX), 0);
    ck_assert_int_eq(name_check(text, FMT_NAME_MAX + 1), FMT_ERR_NAME);
    text[0] = 0;
    ck_assert_int_eq(name_check(text, 1), FMT_ERR_NAME);
    ck_assert_int_eq(text_check(text, 0), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format_record");
    TCase *tc = tcase_create("all");
    struct rnd r;

    rnd_init(&r, 0);
    rnd_fill(&r, pool, sizeof(pool));
    tcase_add_loop_test(tc, test_records_come_back, 0, (int)CODECS);
    tcase_add_loop_test(tc, test_every_truncation_is_refused_or_a_shorter_record, 0, (int)CODECS);
    tcase_add_test(tc, test_vectors_of_space);
    tcase_add_test(tc, test_vectors_of_objects);
    tcase_add_test(tc, test_vectors_of_datasets);
    tcase_add_test(tc, test_vectors_of_later_versions);
    tcase_add_test(tc, test_vectors_of_links_and_attributes);
    tcase_add_test(tc, test_vectors_of_chunks);
    tcase_add_test(tc, test_vectors_of_scalars);
    tcase_add_loop_test(tc, test_what_no_record_may_say_is_refused, 0,
                        (int)(sizeof(refused) / sizeof(refused[0])));
    tcase_add_loop_test(tc, test_values_beyond_limits_are_kept, 0,
                        sizeof(beyond) / sizeof(beyond[0]));
    tcase_add_test(tc, test_fields_of_a_scalar_lie_inside_and_apart);
    tcase_add_test(tc, test_D17_names);
    tcase_set_timeout(tc, 120);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
