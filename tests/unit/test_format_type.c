/* test_format_type.c - datatype records: whole random trees there and back, cut short,
 * vectors of every kind written by hand from SPEC.md, and what a node refuses. */
/* SPDX-License-Identifier: MIT */
#include "format/record.h"
#include "tests/unit/bytes.h"

#define BYTES_MAX (1u << 20)

static uint8_t bytes[BYTES_MAX], back[BYTES_MAX];

static const uint8_t kinds[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 32,
                                33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43};

/* What follows a node: members of a list, children, or a child behind each member. */
static uint64_t list_of(const struct type_node *n)
{
    switch (n->kind) {
    case FMT_KIND_ENUM:
    case FMT_KIND_INDEXED:
    case FMT_KIND_HINDEXED:
    case FMT_KIND_INDEXED_BLOCK:
    case FMT_KIND_HINDEXED_BLOCK:
        return n->count;
    case FMT_KIND_SUBARRAY:
    case FMT_KIND_DARRAY:
        return n->rank;
    }
    return 0;
}

static int has_members(const struct type_node *n)
{
    return n->kind == FMT_KIND_COMPOUND || n->kind == FMT_KIND_STRUCT;
}

static int is_leaf(const struct type_node *n)
{
    return n->kind <= FMT_KIND_OPAQUE || n->kind == FMT_KIND_VSTRING ||
           n->kind == FMT_KIND_REFERENCE;
}

/* ---- random trees, written ---- */

static struct span name_make(struct rnd *r, size_t least)
{
    static uint8_t text[64];
    struct span s = {text, least + (size_t)rnd_below(r, sizeof(text) - least)};

    rnd_letters(r, text, s.len);
    return s;
}

static void member_make(struct rnd *r, uint8_t kind, struct type_member *m)
{
    memset(m, 0, sizeof(*m));
    if (kind == FMT_KIND_ENUM || kind == FMT_KIND_COMPOUND)
        m->name = name_make(r, kind == FMT_KIND_ENUM);
    if (kind == FMT_KIND_COMPOUND)
        m->offset = rnd_upto(r, FMT_SIZE_MAX);
    m->value = (int64_t)rnd_u64(r);
    m->blocklen = (int64_t)rnd_u64(r);
    m->displ = (int64_t)rnd_u64(r);
    for (int i = 0; i < 4; i++)
        m->sub[i] = (int64_t)rnd_u64(r);
    if (kind == FMT_KIND_DARRAY) {
        m->sub[1] = (int64_t)rnd_below(r, 3);
        m->sub[3] = (uint32_t)m->sub[3];
    }
}

static void node_make(struct rnd *r, uint8_t kind, struct type_node *n)
{
    static const struct scalar_rec binary32 = {2, 1,  4,  1, 255, 0,  0, 0,  32,
                                               0, 31, 23, 8, 0,   23, 1, 127};

    memset(n, 0, sizeof(*n));
    n->kind = kind;
    n->flags = kind == FMT_KIND_COMPOUND ? (uint8_t)rnd_below(r, 2) : 0;
    n->code = (uint16_t)(1 + rnd_below(r, FMT_CODE_MAX));
    n->scalar = binary32;
    n->pad = (uint8_t)rnd_below(r, 3);
    n->what = (uint8_t)rnd_below(r, 2);
    n->rank = (uint8_t)(1 + rnd_below(r, FMT_RANK_MAX));
    n->order = (uint8_t)rnd_below(r, 2);
    n->count = rnd_below(r, 6);
    if (kind != FMT_KIND_COMPOUND || n->flags)
        n->size = rnd_upto(r, FMT_SIZE_MAX);
    n->tag = name_make(r, 0);
    for (int i = 0; i < FMT_RANK_MAX; i++)
        n->dim[i] = 1 + rnd_upto(r, FMT_SIZE_MAX - 1);
    for (int i = 0; i < 3; i++)
        n->arg[i] = (int64_t)rnd_u64(r);
    if (kind == FMT_KIND_DARRAY) {
        n->arg[0] = (uint32_t)n->arg[0];
        n->arg[1] = (uint32_t)n->arg[1];
    }
}

static void tree_put(struct rnd *r, struct out *out, int depth)
{
    uint8_t kind = kinds[rnd_below(r, depth > 0 ? sizeof(kinds) : 4)];
    struct type_node n;
    struct type_member m;

    node_make(r, kind, &n);
    type_node_put(out, &n);
    for (uint64_t i = 0; i < list_of(&n); i++) {
        member_make(r, kind, &m);
        type_member_put(out, kind, &m);
    }
    for (uint64_t i = 0; has_members(&n) && i < n.count; i++) {
        member_make(r, kind, &m);
        type_member_put(out, kind, &m);
        tree_put(r, out, depth - 1);
    }
    if (!has_members(&n) && !is_leaf(&n))
        tree_put(r, out, depth - 1);
}

/* ---- read, and written again ---- */

static int tree_copy(struct in *in, struct out *out, int depth)
{
    struct type_member m;
    struct type_node n;

    if (depth == 0)
        return in_fail(in, FMT_ERR_LIMIT, "too deep");
    if (type_node_get(in, &n))
        return in->err;
    type_node_put(out, &n);
    for (uint64_t i = 0; i < list_of(&n); i++) {
        if (type_member_get(in, n.kind, &m))
            return in->err;
        type_member_put(out, n.kind, &m);
    }
    for (uint64_t i = 0; has_members(&n) && i < n.count; i++) {
        if (type_member_get(in, n.kind, &m))
            return in->err;
        type_member_put(out, n.kind, &m);
        if (tree_copy(in, out, depth - 1))
            return in->err;
    }
    if (!has_members(&n) && !is_leaf(&n))
        return tree_copy(in, out, depth - 1);
    return 0;
}

START_TEST(test_datatypes_come_back)
{
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct out out, copy;
        struct rnd r;
        struct in in;

        rnd_init(&r, seed);
        out_init(&out, bytes, sizeof(bytes));
        tree_put(&r, &out, (int)rnd_below(&r, 5));
        ck_assert_int_eq(out.err, 0);
        in_init(&in, bytes, out.at);
        out_init(&copy, back, sizeof(back));
        ck_assert_msg(tree_copy(&in, &copy, FMT_TYPE_DEPTH_MAX) == 0, "seed %llu: %s at byte %zu",
                      (unsigned long long)seed, in.why, in.err_at);
        ck_assert_msg(in_left(&in) == 0 && copy.at == out.at && memcmp(back, bytes, out.at) == 0,
                      "seed %llu: other bytes", (unsigned long long)seed);
    }
}
END_TEST

START_TEST(test_every_truncation_is_refused)
{
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct out out, copy;
        struct rnd r;
        struct in in;

        rnd_init(&r, seed);
        out_init(&out, bytes, sizeof(bytes));
        tree_put(&r, &out, 3);
        for (size_t n = 0; n < out.at && n < 2000; n++) {
            uint8_t *exact = malloc(n ? n : 1);

            memcpy(exact, bytes, n);
            in_init(&in, exact, n);
            out_init(&copy, back, sizeof(back));
            ck_assert_msg(tree_copy(&in, &copy, FMT_TYPE_DEPTH_MAX) != 0, "seed %llu, cut at %zu",
                          (unsigned long long)seed, n);
            ck_assert_uint_le(in.err_at, n);
            free(exact);
        }
    }
}
END_TEST

START_TEST(test_a_failed_node_leaves_its_destination_alone)
{
    for (size_t k = 0; k < sizeof(kinds); k++) {
        struct type_node n, before;
        struct type_member m, mbefore;
        struct out out;
        struct rnd r;
        struct in in;

        rnd_init(&r, k);
        node_make(&r, kinds[k], &n);
        out_init(&out, bytes, sizeof(bytes));
        type_node_put(&out, &n);
        memset(&n, 0xa5, sizeof(n));
        before = n;
        in_init(&in, bytes, out.at - 1);
        ck_assert_int_eq(type_node_get(&in, &n), FMT_ERR_FORMAT);
        ck_assert_mem_eq(&n, &before, sizeof(n));
        member_make(&r, kinds[k], &m);
        out_init(&out, bytes, sizeof(bytes));
        type_member_put(&out, kinds[k], &m);
        memset(&m, 0xa5, sizeof(m));
        mbefore = m;
        in_init(&in, bytes, out.at ? out.at - 1 : 0);
        if (out.at) {
            ck_assert_int_eq(type_member_get(&in, kinds[k], &m), FMT_ERR_FORMAT);
            ck_assert_mem_eq(&m, &mbefore, sizeof(m));
        }
    }
}
END_TEST

/* ---- vectors ---- */

static uint8_t *given;
static struct in at;

static void vector(const char *text)
{
    size_t size;

    free(given);
    given = hex_bytes(text, &size);
    in_init(&at, given, size);
}

static struct type_node node(void)
{
    struct type_node n;

    ck_assert_msg(type_node_get(&at, &n) == 0, "%s at byte %zu", at.why, at.err_at);
    return n;
}

static struct type_member member(uint8_t kind)
{
    struct type_member m;

    ck_assert_msg(type_member_get(&at, kind, &m) == 0, "%s at byte %zu", at.why, at.err_at);
    return m;
}

/* The whole vector was read and comes back the same. */
static void vector_done(void)
{
    struct out out;

    ck_assert_uint_eq(in_left(&at), 0);
    in_init(&at, given, at.size);
    out_init(&out, back, sizeof(back));
    ck_assert_int_eq(tree_copy(&at, &out, 8), 0);
    ck_assert_uint_eq(out.at, at.size);
    ck_assert_mem_eq(back, given, at.size);
}

#define INT "01 00 0008"

static int span_is(const struct span *s, const char *text)
{
    return s->len == strlen(text) && memcmp(s->p, text, s->len) == 0;
}

START_TEST(test_vectors_of_elements)
{
    struct type_node n;
    struct type_member m;

    vector("03 00 02 000000000000000a");
    n = node();
    ck_assert(n.kind == FMT_KIND_STRING && n.pad == 2 && n.size == 10);
    vector_done();
    vector("04 00 0000000000000010 0003 746167");
    n = node();
    ck_assert(n.kind == FMT_KIND_OPAQUE && n.size == 16 && span_is(&n.tag, "tag"));
    vector_done();
    vector("05 00 00000002 0003 524544 0000000000000000 0001 47 ffffffffffffffff 01 00 0013");
    n = node();
    ck_assert(n.kind == FMT_KIND_ENUM && n.count == 2);
    m = member(n.kind);
    ck_assert(span_is(&m.name, "RED") && m.value == 0);
    m = member(n.kind);
    ck_assert(span_is(&m.name, "G") && m.value == -1);
    n = node();
    ck_assert(n.kind == FMT_KIND_PREDEFINED && n.code == FMT_CODE_INT8_T);
    vector_done();
    vector("07 00 02 0000000000000003 0000000000000004 09 00 06 00 " INT);
    n = node();
    ck_assert(n.kind == FMT_KIND_ARRAY && n.rank == 2 && n.dim[0] == 3 && n.dim[1] == 4);
    ck_assert_uint_eq(node().kind, FMT_KIND_SEQUENCE);
    ck_assert_uint_eq(node().kind, FMT_KIND_BOOLEAN);
    node();
    vector_done();
    /* struct{a: INT, vstring without a name}, laid out */
    vector("08 01 00000002 0000000000000018 0001 61 0000000000000000 " INT
           "0000 0000000000000008 0a 00");
    n = node();
    ck_assert(n.kind == FMT_KIND_COMPOUND && n.flags == 1 && n.count == 2 && n.size == 24);
    m = member(n.kind);
    ck_assert(span_is(&m.name, "a") && m.offset == 0);
    node();
    m = member(n.kind);
    ck_assert(m.name.len == 0 && m.offset == 8);
    ck_assert_uint_eq(node().kind, FMT_KIND_VSTRING);
    vector_done();
    vector("0b 00 01");
    ck_assert_uint_eq(node().what, 1);
    vector_done();
    vector("02 00 01 01 03 01 ff 02 00 00 0018 0000 0000 0000 0000 0000 0000 01 00"
           "0000000000000000");
    n = node();
    ck_assert(n.kind == FMT_KIND_SCALAR && n.scalar.size == 3 && n.scalar.precision == 24);
    vector_done();
}
END_TEST

START_TEST(test_vectors_of_typemaps)
{
    struct type_node n;
    struct type_member m;

    vector("20 00 0000000000000005 " INT);
    n = node();
    ck_assert(n.kind == FMT_KIND_CONTIGUOUS && n.arg[0] == 5);
    node();
    vector_done();
    vector("22 00 0000000000000002 0000000000000003 fffffffffffffff8 2b 00 " INT);
    n = node();
    ck_assert(n.kind == FMT_KIND_HVECTOR && n.arg[0] == 2 && n.arg[1] == 3 && n.arg[2] == -8);
    ck_assert_uint_eq(node().kind, FMT_KIND_DUP);
    node();
    vector_done();
    vector("23 00 0000000000000001 0000000000000002 ffffffffffffffff " INT);
    n = node();
    ck_assert(n.kind == FMT_KIND_INDEXED && n.count == 1);
    m = member(n.kind);
    ck_assert(m.blocklen == 2 && m.displ == -1);
    node();
    vector_done();
    vector("26 00 0000000000000002 0000000000000003 0000000000000004 0000000000000005 " INT);
    n = node();
    ck_assert(n.kind == FMT_KIND_HINDEXED_BLOCK && n.count == 2 && n.arg[0] == 3);
    ck_assert_int_eq(member(n.kind).displ, 4);
    ck_assert_int_eq(member(n.kind).displ, 5);
    node();
    vector_done();
    vector("27 00 0000000000000001 0000000000000001 0000000000000010 " INT);
    n = node();
    m = member(n.kind);
    ck_assert(n.kind == FMT_KIND_STRUCT && m.blocklen == 1 && m.displ == 16);
    node();
    vector_done();
    vector("28 00 01 01 0000000000000009 0000000000000004 0000000000000002 " INT);
    n = node();
    ck_assert(n.kind == FMT_KIND_SUBARRAY && n.rank == 1 && n.order == 1);
    m = member(n.kind);
    ck_assert(m.sub[0] == 9 && m.sub[1] == 4 && m.sub[2] == 2);
    node();
    vector_done();
    vector("29 00 01 00 00000004 00000003 0000000000000009 02 ffffffffffffffff 00000004 " INT);
    n = node();
    ck_assert(n.kind == FMT_KIND_DARRAY && n.rank == 1 && n.arg[0] == 4 && n.arg[1] == 3);
    m = member(n.kind);
    ck_assert(m.sub[0] == 9 && m.sub[1] == 2 && m.sub[2] == -1 && m.sub[3] == 4);
    node();
    vector_done();
    vector("2a 00 fffffffffffffff0 0000000000000020 " INT);
    n = node();
    ck_assert(n.kind == FMT_KIND_RESIZED && n.arg[0] == -16 && n.arg[1] == 32);
    node();
    vector_done();
    free(given);
    given = NULL;
}
END_TEST

static const struct {
    const char *text;
    int err;
    size_t at;
} refused[] = {
    {"00 00", FMT_ERR_UNSUPPORTED, 0},
    {"0c 00", FMT_ERR_UNSUPPORTED, 0},
    {"1f 00", FMT_ERR_UNSUPPORTED, 0},
    {"2c 00", FMT_ERR_UNSUPPORTED, 0},
    {"01 01 0008", FMT_ERR_FORMAT, 1},
    {"08 02 00000000 0000000000000000", FMT_ERR_FORMAT, 1},
    {"01 00 0000", FMT_ERR_FORMAT, 2},
    {"01 00 0045", FMT_ERR_UNSUPPORTED, 2},
    {"03 00 03 000000000000000a", FMT_ERR_FORMAT, 2},
    {"03 00 00 4000000000000001", FMT_ERR_UNSUPPORTED, 3},
    {"04 00 4000000000000001 0000", FMT_ERR_UNSUPPORTED, 2},
    {"04 00 0000000000000001 0001 ff", FMT_ERR_FORMAT, 12},
    {"05 00 00000002 0001 61 0000000000000000 01 00 0013", FMT_ERR_FORMAT, 2},
    {"05 00 ffffffff", FMT_ERR_FORMAT, 2},
    {"07 00 00 " INT, FMT_ERR_FORMAT, 2},
    {"07 00 21 " INT, FMT_ERR_UNSUPPORTED, 2},
    {"07 00 01 4000000000000001", FMT_ERR_UNSUPPORTED, 3},
    {"08 00 00000000 0000000000000001", FMT_ERR_FORMAT, 6},
    {"08 01 00000000 4000000000000001", FMT_ERR_UNSUPPORTED, 6},
    {"08 01 ffffffff 0000000000000001", FMT_ERR_FORMAT, 6},
    {"0b 00 02", FMT_ERR_FORMAT, 2},
    {"23 00 ffffffffffffffff", FMT_ERR_FORMAT, 2},
    {"25 00 2000000000000000 0000000000000001", FMT_ERR_FORMAT, 10},
    {"27 00 0000000000000001 0000000000000001 0000000000000010", FMT_ERR_FORMAT, 2},
    {"28 00 01 02", FMT_ERR_FORMAT, 3},
    {"28 00 00 00", FMT_ERR_FORMAT, 2},
    {"29 00 21 00", FMT_ERR_UNSUPPORTED, 2},
};

START_TEST(test_what_no_node_may_say_is_refused)
{
    struct type_node n, before;
    struct in in;
    size_t size;
    uint8_t *p = hex_bytes(refused[_i].text, &size);
    int err;

    memset(&n, 0xa5, sizeof(n));
    before = n;
    in_init(&in, p, size);
    err = type_node_get(&in, &n);
    ck_assert_msg(err == refused[_i].err && in.err_at == refused[_i].at,
                  "row %d, %s: error %d (%s) at byte %zu", _i, refused[_i].text, err, in.why,
                  in.err_at);
    ck_assert_mem_eq(&n, &before, sizeof(n));
    free(p);
}
END_TEST

START_TEST(test_members_have_names_within_limits)
{
    static uint8_t p[2048];
    struct type_member m = {{NULL, 0}, 0, 0, 0, 0, {0}};
    struct out out;
    struct in in;

    memset(p, 'x', sizeof(p));
    for (size_t len = 0; len < 1026; len = len ? len + 341 : 1) {
        for (int kind = FMT_KIND_ENUM; kind <= FMT_KIND_COMPOUND; kind += 3) {
            int want = len > FMT_NAME_MAX                     ? FMT_ERR_UNSUPPORTED
                       : len > 0 || kind == FMT_KIND_COMPOUND ? 0
                                                              : FMT_ERR_FORMAT;

            m.name = (struct span){p, len};
            out_init(&out, bytes, sizeof(bytes));
            type_member_put(&out, (uint8_t)kind, &m);
            in_init(&in, bytes, out.at);
            ck_assert_int_eq(type_member_get(&in, (uint8_t)kind, &m), want);
        }
    }
    in_init(&in, "\0\1\0\0\0\0\0\0\0\0\0", 11);
    ck_assert_int_eq(type_member_get(&in, FMT_KIND_COMPOUND, &m), FMT_ERR_FORMAT);
    in_init(&in, "\0\1a\x40\0\0\0\0\0\0\1", 11);
    ck_assert_int_eq(type_member_get(&in, FMT_KIND_COMPOUND, &m), FMT_ERR_UNSUPPORTED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format_type");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, test_datatypes_come_back);
    tcase_add_test(tc, test_every_truncation_is_refused);
    tcase_add_test(tc, test_a_failed_node_leaves_its_destination_alone);
    tcase_add_test(tc, test_vectors_of_elements);
    tcase_add_test(tc, test_vectors_of_typemaps);
    tcase_add_loop_test(tc, test_what_no_node_may_say_is_refused, 0,
                        (int)(sizeof(refused) / sizeof(refused[0])));
    tcase_add_test(tc, test_members_have_names_within_limits);
    tcase_set_timeout(tc, 120);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
