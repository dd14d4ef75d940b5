/* test_format_header.c - the header proper: there and back, cut short, against vectors
 * written by hand from SPEC.md, and what it refuses. */
/* SPDX-License-Identifier: MIT */
#include "format/header.h"
#include "tests/unit/bytes.h"

#define BYTES_MAX (2u << 20)

static uint8_t bytes[BYTES_MAX], back[BYTES_MAX], scratch[BYTES_MAX];
static uint8_t pool[4096];

/* A header whose representations are decoded too. */
struct whole {
    struct header_rec h;
    struct rep_rec rep;
};

static size_t encode(const struct whole *w, uint8_t *to, size_t *split)
{
    static uint8_t content[BYTES_MAX];
    struct header_rec h = w->h;
    struct out out, count;
    size_t ignored;

    out_init(&out, content, BYTES_MAX);
    rep_record_put(&out, &w->rep);
    ck_assert_int_eq(out.err, 0);
    h.reps = (struct span){content, out.at};
    out_init(&out, to, BYTES_MAX);
    header_put(&out, &h, split);
    ck_assert_int_eq(out.err, 0);
    out_init(&count, NULL, 0);
    header_put(&count, &h, &ignored);
    ck_assert_uint_eq(count.at, out.at);
    ck_assert_uint_eq(ignored, *split);
    return out.at;
}

/* `at` counts from the start of the header. */
static int get(const uint8_t *p, size_t size, struct whole *w, const char **why, size_t *at)
{
    static uint8_t rep_scratch[BYTES_MAX];
    struct whole t = {.h = {.nreps = 0}};
    int err = header_get(p, size, &t.h, scratch, why, at);
    struct span rep;
    struct in in;

    in_init(&in, t.h.reps.p, t.h.reps.len);
    while (!err && header_rep_next(&in, &rep) == 0) {
        err = rep_get(&rep, &t.rep, rep_scratch, why, at);
        if (err)
            *at += (size_t)(rep.p - p);
    }
    if (!err)
        *w = t;
    return err;
}

static int decode(const uint8_t *p, size_t size, struct whole *w, const char **why, size_t *at)
{
    uint8_t *exact = malloc(size ? size : 1);
    int err;

    /* A block of its own size shows what is read beyond the end. */
    memcpy(exact, p, size);
    err = get(exact, size, w, why, at);
    free(exact);
    return err ? err : get(p, size, w, why, at);
}

/* ---- there and back ---- */

static size_t hints_make(struct rnd *r, uint8_t *p)
{
    static uint8_t text[100];
    struct out out;
    int n = (int)rnd_below(r, 20);

    memset(text, '7', sizeof text);
    out_init(&out, p, 4096);
    for (int i = 0; i < n; i++) {
        uint8_t key[3] = {(uint8_t)('a' + i), 'k', 'y'};
        struct hint_rec h = {{key, 1 + (size_t)rnd_below(r, 3)},
                             {text, 1 + (size_t)rnd_below(r, 100)}};

        hint_put(&out, &h);
    }
    return out.at;
}

static void table_make(struct rnd *r, struct rep_rec *h)
{
    static const uint8_t rows[][2] = {{2, 8},   {3, 1},   {20, 4}, {21, 8},
                                      {22, 16}, {23, 16}, {27, 8}};

    h->has_encodings = 1;
    for (int code = 1; code <= FMT_CODE_MAX; code++) {
        const uint8_t *row = rows[rnd_below(r, sizeof(rows) / sizeof(rows[0]))];
        struct encoding_rec *e = &h->row[code];

        if (rnd_below(r, 3) == 0 || (fmt_code_class(code) == FMT_BYTES && row[1] != 1))
            continue;
        e->code = (uint16_t)code;
        e->format = row[0];
        e->size = (uint8_t)(row[1] * (fmt_code_class(code) == FMT_COMPLEX ? 2 : 1));
        e->order = (uint8_t)rnd_below(r, 3);
        e->align = (uint8_t)(1u << rnd_below(r, 5));
        e->custom = (uint8_t)rnd_u64(r);
        if (rnd_below(r, 2))
            h->extent[code] = e->size;
    }
}

static int witnesses_of(int code)
{
    switch (fmt_code_class(code)) {
    case FMT_BYTES:
        return 0;
    case FMT_BOOL:
        return 2;
    case FMT_REAL:
    case FMT_COMPLEX:
        return 5;
    }
    return 3;
}

static void functions_make(struct rnd *r, struct rep_rec *h)
{
    for (int code = 1; code <= FMT_CODE_MAX; code++) {
        if (rnd_below(r, 3) == 0)
            continue;
        h->extent[code] = (uint16_t)(1 + rnd_below(r, 40));
        h->witness[code].k = (uint8_t)rnd_below(r, (uint64_t)witnesses_of(code) + 1);
        h->witness[code].size = (uint8_t)h->extent[code];
        h->witness[code].bytes = pool + rnd_below(r, 1000);
    }
}

static size_t unknown_make(struct rnd *r, uint8_t *p, size_t room)
{
    struct out out;

    out_init(&out, p, room);
    for (unsigned tag = 9; tag < 13; tag++) {
        size_t n = rnd_below(r, 2) ? 0 : (size_t)rnd_below(r, 1500);

        out_u16(&out, (uint16_t)(tag * 5000));
        out_u32(&out, (uint32_t)n);
        out_bytes(&out, pool, n);
    }
    return rnd_below(r, 2) ? out.at : 0;
}

static void header_make(struct rnd *r, struct whole *w)
{
    static uint8_t hints[4096], unknown[2][8192], text[2][200];
    struct rep_rec *rep = &w->rep;

    memset(w, 0, sizeof(*w));
    rep->form = (uint8_t)(1 + rnd_below(r, 2));
    rep->flags = (uint8_t)(rnd_below(r, 16) << 4);
    rnd_letters(r, rep->name, 1 + (size_t)rnd_below(r, FMT_DATAREP_MAX));
    if (rep->form == FMT_FORM_TABLE)
        table_make(r, rep);
    else
        functions_make(r, rep);
    w->h.hints = (struct span){hints, hints_make(r, hints)};
    rnd_letters(r, text, sizeof(text));
    w->h.writer = (struct span){text[0], (size_t)rnd_below(r, 200)};
    rep->machine = (struct span){text[1], (size_t)rnd_below(r, 200)};
    w->h.unknown = (struct span){unknown[0], unknown_make(r, unknown[0], sizeof(unknown[0]))};
    rep->unknown = (struct span){unknown[1], unknown_make(r, unknown[1], sizeof(unknown[1]))};
    if (rnd_below(r, 2)) {
        /* What a later version put behind ours. */
        rep->extents_tail = (struct span){(const uint8_t *)"\x70\4\0\1", 4};
        if (rep->form == FMT_FORM_TABLE)
            rep->encodings_tail =
                (struct span){(const uint8_t *)"\x70\4\377\377\377\377\377\377", 8};
        else
            rep->witnesses_tail = (struct span){(const uint8_t *)"\x70\5\1\3xyz", 7};
    }
}

START_TEST(test_headers_come_back)
{
    static struct whole h, got;

    for (uint64_t seed = 1; seed <= 2000; seed++) {
        size_t size, split, split2, at = 0;
        const char *why = "";
        struct rnd r;

        rnd_init(&r, seed);
        header_make(&r, &h);
        size = encode(&h, bytes, &split);
        ck_assert_uint_le(split, FMT_SLOT_HEADER_MAX);
        ck_assert_msg(decode(bytes, size, &got, &why, &at) == 0, "seed %llu: %s at byte %zu",
                      (unsigned long long)seed, why, at);
        ck_assert_str_eq(got.rep.name, h.rep.name);
        ck_assert_mem_eq(got.rep.extent, h.rep.extent, sizeof(h.rep.extent));
        ck_assert_mem_eq(got.rep.row, h.rep.row, sizeof(h.rep.row));
        ck_assert_msg(encode(&got, back, &split2) == size && memcmp(back, bytes, size) == 0 &&
                          split2 == split,
                      "seed %llu: other bytes", (unsigned long long)seed);
    }
}
END_TEST

/* A cut between records is a shorter header, if it still has what it must. */
START_TEST(test_every_truncation_is_refused_or_a_shorter_header)
{
    static struct whole h, got, before;

    for (uint64_t seed = 1; seed <= 8; seed++) {
        size_t size, split, at = 0;
        const char *why = "";
        struct rnd r;

        rnd_init(&r, seed);
        header_make(&r, &h);
        size = encode(&h, bytes, &split);
        for (size_t n = 0; n < size; n++) {
            size_t whole = 0;

            memset(&got, 0xa5, sizeof(got));
            before = got;
            while (whole + 6 <= n && load_u32(bytes + whole + 2) <= n - whole - 6)
                whole += 6 + load_u32(bytes + whole + 2);
            if (decode(bytes, n, &got, &why, &at))
                ck_assert_mem_eq(&got, &before, sizeof(got));
            else
                ck_assert_msg(whole == n, "seed %llu: cut at %zu", (unsigned long long)seed, n);
            ck_assert_uint_le(at, n);
        }
    }
}
END_TEST

/* ---- vectors ---- */

#define REP_E32 "01 00 0000 0a 65787465726e616c3332 "
#define REP_OWN "01 00 0000 03 6f776e "
#define REP_FN "02 00 0000 02 6d79 "
#define ROW_DOUBLE "0010 15 01 08 08 00 00 "

/* A record REP of this content, and `others` behind it. */
static size_t rep_bytes(const char *rep, const char *others, uint8_t *to)
{
    size_t size, more;
    uint8_t *p = hex_bytes(rep, &size), *q = hex_bytes(others, &more);
    struct out out;

    out_init(&out, to, BYTES_MAX);
    out_u16(&out, FMT_HEADER_REP);
    out_u32(&out, (uint32_t)size);
    out_bytes(&out, p, size);
    out_bytes(&out, q, more);
    free(p);
    free(q);
    return out.at;
}

static int vector_get(const char *rep, const char *others, struct whole *w, const char **why,
                      size_t *at)
{
    size_t size = rep_bytes(rep, others, bytes);

    return decode(bytes, size, w, why, at);
}

/* Encoding what was decoded gives the same bytes; returns where the slot's part ends. */
static size_t same_again(const char *rep, const char *others, const struct whole *w)
{
    size_t size = rep_bytes(rep, others, bytes), split;

    ck_assert_uint_eq(encode(w, back, &split), size);
    ck_assert_mem_eq(back, bytes, size);
    return split;
}

START_TEST(test_a_header_is_as_the_table_says)
{
    static const char rep[] = REP_E32 "0002 00000008 0008 0004 0010 0008"
                                      "0008 00000005 616d643634"
                                      "0101 00000001 ef";
    static const char others[] = "0006 0000000e 0001 61 0002 6262  0002 6163 0001 2d"
                                 "0007 0000000b 646174617265702031 2e30"
                                 "0100 00000002 abcd"
                                 "8000 00000000";
    static struct whole h;
    struct hint_rec hint;
    const char *why = "";
    size_t at = 0;
    struct in in;

    ck_assert_msg(vector_get(rep, others, &h, &why, &at) == 0, "%s at byte %zu", why, at);
    ck_assert(h.rep.form == FMT_FORM_TABLE && h.rep.flags == 0 && h.rep.number == 0 &&
              strcmp(h.rep.name, "external32") == 0 && !h.rep.later);
    ck_assert(h.rep.extent[FMT_CODE_INT] == 4 && h.rep.extent[FMT_CODE_DOUBLE] == 8);
    ck_assert(h.rep.extent[FMT_CODE_FLOAT] == 0 && !h.rep.has_encodings);
    ck_assert(h.h.writer.len == 11 && memcmp(h.h.writer.p, "datarep 1.0", 11) == 0);
    ck_assert(h.rep.machine.len == 5 && memcmp(h.rep.machine.p, "amd64", 5) == 0);
    in_init(&in, h.h.hints.p, h.h.hints.len);
    ck_assert_int_eq(hint_get(&in, &hint), 0);
    ck_assert(hint.key.len == 1 && hint.key.p[0] == 'a' && hint.value.len == 2);
    ck_assert_int_eq(hint_get(&in, &hint), 0);
    ck_assert(hint.key.len == 2 && hint.value.len == 1);
    ck_assert_int_eq(hint_get(&in, &hint), FMT_ERR_NOT_FOUND);
    /* Unknown records are kept whole, in their order, inside a representation too. */
    ck_assert_uint_eq(h.h.unknown.len, 14);
    ck_assert_mem_eq(h.h.unknown.p, "\1\0\0\0\0\2\xab\xcd\x80\0\0\0\0\0", 14);
    ck_assert_uint_eq(h.rep.unknown.len, 7);
    ck_assert_mem_eq(h.rep.unknown.p, "\1\1\0\0\0\1\xef", 7);
    ck_assert_uint_eq(same_again(rep, others, &h), rep_bytes(rep, others, bytes));
}
END_TEST

START_TEST(test_a_table_of_encodings_is_as_the_page_says)
{
    static const char rep[] =
        REP_OWN "0002 00000008 0008 0003 0010 0008"
                "0003 00000010 0008 ff 00 03 01 00 00 " ROW_DOUBLE
                "0004 00000020 01 00 03 01 ff 02 00 00 0018 0000 0000 0000 0000 0000 0000 01 00 "
                "0000000000000000";
    static struct whole h;
    const char *why = "";
    size_t at = 0;

    ck_assert_msg(vector_get(rep, "", &h, &why, &at) == 0, "%s at byte %zu", why, at);
    ck_assert(h.rep.has_encodings && h.rep.scalars.len == 32);
    ck_assert(h.rep.row[8].format == 255 && h.rep.row[8].size == 3 && h.rep.row[8].custom == 0);
    ck_assert(h.rep.row[16].format == FMT_FORMAT_BINARY64 && h.rep.row[16].order == 1 &&
              h.rep.row[16].align == 8 && h.rep.row[16].code == 16 && !h.rep.row[16].later);
    same_again(rep, "", &h);
}
END_TEST

START_TEST(test_D8_witnesses_are_as_the_page_says)
{
    static const char rep[] = REP_FN "0002 00000008 0001 0002 0012 0001"
                                     "0005 0000000a 0001 00 02  0012 02 01 0001";
    static struct whole h;
    const char *why = "";
    size_t at = 0;

    ck_assert_msg(vector_get(rep, "", &h, &why, &at) == 0, "%s at byte %zu", why, at);
    ck_assert(h.rep.form == FMT_FORM_CODE && h.rep.witness[1].k == 0 && h.rep.witness[1].size == 2);
    ck_assert(h.rep.witness[18].k == 2 && h.rep.witness[18].size == 1);
    ck_assert_mem_eq(h.rep.witness[18].bytes, "\0\1", 2);
    same_again(rep, "", &h);
}
END_TEST

/* The order of records is free behind the first, and inside a representation. */
START_TEST(test_records_stand_in_any_order)
{
    static struct whole h;
    const char *why = "";
    size_t at = 0;

    ck_assert_int_eq(vector_get(REP_OWN "0008 00000001 61 0003 00000008 " ROW_DOUBLE
                                        "0002 00000004 0010 0008",
                                "8001 00000000 0007 00000001 62", &h, &why, &at),
                     0);
    ck_assert(h.rep.extent[16] == 8 && h.rep.machine.p[0] == 'a' && h.h.writer.p[0] == 'b');
}
END_TEST

/* D32: numbers ascend from 0 and may leave others out; names may repeat. */
START_TEST(test_D32_representations_are_found_by_their_numbers)
{
    static struct whole h;
    const char *why = "";
    size_t at = 0, split;
    struct out out;

    ck_assert_msg(vector_get(REP_E32,
                             "0007 00000001 62 0001 0000000f 01 00 0002 0a 65787465726e616c3332 "
                             "0001 00000006 63 0f ffff 01 78",
                             &h, &why, &at) == 0,
                  "%s at byte %zu", why, at);
    ck_assert(h.h.nreps == 3);
    ck_assert(h.rep.later && h.rep.form == 0x63 && h.rep.number == 65535 &&
              strcmp(h.rep.name, "x") == 0);
    /* Written again, they stand first. */
    out_init(&out, back, BYTES_MAX);
    header_put(&out, &h.h, &split);
    ck_assert_mem_eq(back + 21 + 6, "\1\0\0\2\12external32", 15);
    ck_assert_mem_eq(back + 42, "\0\1\0\0\0\6\x63\xf\xff\xff\1x", 12);
    ck_assert_mem_eq(back + 54, "\0\7", 2);
}
END_TEST

/* D33: what only a later version understands is kept, and judged by nobody else. */
START_TEST(test_D33_numbers_of_later_versions_are_kept)
{
    static const char *const reps[] = {
        "03 00 0000 01 61 ffff",
        "01 01 0000 01 61",
        "02 08 0000 01 61 00",
        REP_OWN "0002 00000004 0010 0008 0003 00000008 0010 08 01 08 08 00 00",
        REP_OWN "0002 00000004 0010 0008 0003 00000008 0010 15 03 08 08 00 00",
        REP_OWN "0002 00000000 0003 00000008 0010 e0 01 1f 01 00 00",
        REP_OWN "0002 00000000 0003 00000008 0010 ff 00 07 08 00 00 "
                "0004 00000020 01 09 03 01 ff 02 00 00 0018 0000 0000 0000 0000 0000 0000 01 00 "
                "0000000000000000",
    };
    static struct whole h;

    for (size_t i = 0; i < sizeof(reps) / sizeof(reps[0]); i++) {
        const char *why = "";
        size_t at = 0;

        ck_assert_msg(vector_get(reps[i], "", &h, &why, &at) == 0, "row %zu: %s at byte %zu", i,
                      why, at);
        if (i < 3) {
            ck_assert(h.rep.later);
            continue;
        }
        ck_assert(!h.rep.later && h.rep.row[16].later);
        same_again(reps[i], "", &h);
    }
}
END_TEST

/* ---- what is refused ---- */

/* rep NULL: `others` stand alone. */
static const struct {
    const char *rep, *others;
    int err;
    size_t at;
} refused[] = {
    {NULL, "", FMT_ERR_FORMAT, 0},
    {NULL, "0008 00000001 61", FMT_ERR_FORMAT, 0},
    {"01 00 0001 01 61", "", FMT_ERR_FORMAT, 6},                         /* number 0 is missing */
    {REP_E32, "0001 00000008 02 00 0000 03 6f776e", FMT_ERR_FORMAT, 27}, /* number 0 twice */
    {REP_E32, "0001 00000008 02 00 0002 03 6f776e 0001 00000008 02 00 0001 03 6f776e",
     FMT_ERR_FORMAT, 41},
    {"01 00 0000 00", "", FMT_ERR_FORMAT, 11},
    {"01 00 0000 01 00", "", FMT_ERR_FORMAT, 11},
    {"02 00 0000 02 61", "", FMT_ERR_FORMAT, 11},
    {"02 00 0000 01 ff", "", FMT_ERR_FORMAT, 11},
    {"77 ff 0000 01 ff", "", FMT_ERR_FORMAT, 11},
    {REP_E32 "0008 00000002 61", "", FMT_ERR_FORMAT, 27},
    {REP_E32 "0008 00000001 61 0008 00000001 61", "", FMT_ERR_FORMAT, 28},
    {REP_E32, "0100 00000000 0100 00000000", FMT_ERR_FORMAT, 27},
    {REP_E32 "0003 00000008 " ROW_DOUBLE, "", FMT_ERR_FORMAT, 6},
    {REP_OWN, "", FMT_ERR_FORMAT, 6},
    {REP_E32 "0002 00000004 000a 0008", "", FMT_ERR_FORMAT, 6},
    {REP_OWN "0003 00000008 " ROW_DOUBLE "0002 00000004 000a 0008", "", FMT_ERR_FORMAT, 6},
    {REP_OWN "0003 00000008 " ROW_DOUBLE "0002 00000004 0010 0004", "", FMT_ERR_FORMAT, 6},
    {REP_E32 "0002 00000004 0000 0008", "", FMT_ERR_FORMAT, 27},
    {REP_E32 "0002 00000004 0010 0000", "", FMT_ERR_FORMAT, 29},
    {REP_E32 "0002 00000008 0010 0008 0010 0008", "", FMT_ERR_FORMAT, 31},
    {REP_E32 "0002 00000006 0010 0008 0010", "", FMT_ERR_FORMAT, 31},
    {REP_OWN "0003 00000010 " ROW_DOUBLE ROW_DOUBLE, "", FMT_ERR_FORMAT, 28},
    {REP_OWN "0003 00000007 0010 15 01 08 08 00", "", FMT_ERR_FORMAT, 27},
    {REP_OWN "0003 00000008 0010 15 01 04 08 00 00", "", FMT_ERR_FORMAT, 20},
    {REP_OWN "0003 00000008 0010 15 01 08 08 00 01", "", FMT_ERR_FORMAT, 20},
    {REP_OWN "0003 00000008 0010 ff 01 00 08 00 00", "", FMT_ERR_FORMAT, 20},
    {REP_OWN "0003 00000008 001b 14 01 04 04 00 00", "", FMT_ERR_FORMAT, 20}, /* half a complex */
    {REP_OWN "0003 00000008 0010 ff 01 08 08 00 00", "", FMT_ERR_FORMAT, 6},  /* no such scalar */
    {REP_OWN "0003 00000008 " ROW_DOUBLE "0004 00000001 01", "", FMT_ERR_FORMAT, 34},
    {REP_FN "0005 00000006 0012 03 01 0001", "", FMT_ERR_FORMAT, 22},
    {REP_FN "0005 00000004 0012 02 00", "", FMT_ERR_FORMAT, 22},
    {REP_FN "0005 00000005 0012 02 01 00", "", FMT_ERR_FORMAT, 23},
    {REP_FN "0002 00000004 0012 0002 0005 00000006 0012 02 01 0001", "", FMT_ERR_FORMAT, 6},
    {REP_E32, "0006 0000000c 0001 62 0001 31 0001 61 0001 31", FMT_ERR_FORMAT, 33},
    {REP_E32, "0006 0000000c 0001 61 0001 31 0001 61 0001 31", FMT_ERR_FORMAT, 33},
    {REP_E32, "0006 00000005 0000 0001 31", FMT_ERR_FORMAT, 27},
    {REP_E32, "0006 00000005 0001 61 0000", FMT_ERR_FORMAT, 27},
    {REP_E32, "0006 00000006 0001 61 0001 00", FMT_ERR_FORMAT, 27},
    {REP_E32, "0006 00000006 0001 ff 0001 31", FMT_ERR_FORMAT, 27},
    {REP_E32, "0006 00000004 0001 61 00", FMT_ERR_FORMAT, 30},
    {REP_E32, "0007 00000001 ff", FMT_ERR_FORMAT, 27},
};

START_TEST(test_what_no_header_may_say_is_refused)
{
    static struct whole h, before;
    const char *why = NULL;
    size_t at = 99999, size;
    uint8_t *alone;
    int err;

    memset(&h, 0xa5, sizeof(h));
    before = h;
    if (refused[_i].rep) {
        err = vector_get(refused[_i].rep, refused[_i].others, &h, &why, &at);
    } else {
        alone = hex_bytes(refused[_i].others, &size);
        err = decode(alone, size, &h, &why, &at);
        free(alone);
    }
    ck_assert_msg(err == refused[_i].err, "row %d, %s: error %d (%s)", _i, refused[_i].others, err,
                  why ? why : "none");
    ck_assert_msg(at == refused[_i].at, "row %d, %s: %s at byte %zu", _i, refused[_i].others, why,
                  at);
    ck_assert_mem_eq(&h, &before, sizeof(h));
}
END_TEST

/* D18: codes of a later version are kept. */
START_TEST(test_D18_what_a_later_version_added_is_kept)
{
    static const char rep[] = REP_OWN "0002 0000000c 0010 0008 0070 0002 ffff 0003"
                                      "0003 00000010 " ROW_DOUBLE "0070 7f 09 ff ff 00 ff";
    static struct whole h;
    const char *why = "";
    size_t at = 0;

    ck_assert_msg(vector_get(rep, "", &h, &why, &at) == 0, "%s at byte %zu", why, at);
    ck_assert(h.rep.extents_tail.len == 8 && h.rep.encodings_tail.len == 8);
    same_again(rep, "", &h);
}
END_TEST

START_TEST(test_whole_records_go_into_the_slot_while_they_fit)
{
    static uint8_t big[FMT_HEADER_MAX];
    static struct whole h;
    const char *why = "";
    size_t at = 0, split, size, one;

    memset(big, 'x', sizeof(big));
    memset(&h, 0, sizeof(h));
    h.rep.form = FMT_FORM_TABLE;
    strcpy(h.rep.name, "internal");
    h.h.writer = (struct span){big, 1};
    size = encode(&h, bytes, &split);
    ck_assert_uint_eq(split, size);
    one = size - 7;
    h.h.writer.len = FMT_SLOT_HEADER_MAX - one - 6;
    size = encode(&h, bytes, &split);
    ck_assert_uint_eq(size, FMT_SLOT_HEADER_MAX);
    ck_assert_uint_eq(split, size);
    h.h.writer.len++;
    size = encode(&h, bytes, &split);
    ck_assert_uint_eq(split, one);
    /* Nothing goes into the slot behind a record that did not. */
    h.h.unknown = (struct span){(const uint8_t *)"\1\0\0\0\0\0", 6};
    size = encode(&h, bytes, &split);
    ck_assert_uint_eq(split, one);
    ck_assert_int_eq(get(bytes, size, &h, &why, &at), 0);
    h.h.unknown.len = 0;
    h.h.writer = (struct span){big, FMT_HEADER_MAX - one - 6};
    size = encode(&h, bytes, &split);
    ck_assert_uint_eq(size, FMT_HEADER_MAX);
    ck_assert_int_eq(get(bytes, size, &h, &why, &at), 0);
    h.h.writer = (struct span){big, FMT_HEADER_MAX - one - 5};
    size = encode(&h, bytes, &split);
    ck_assert_int_eq(get(bytes, size, &h, &why, &at), FMT_ERR_UNSUPPORTED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format_header");
    TCase *tc = tcase_create("all");
    struct rnd r;

    rnd_init(&r, 0);
    rnd_fill(&r, pool, sizeof(pool));
    tcase_add_test(tc, test_headers_come_back);
    tcase_add_test(tc, test_every_truncation_is_refused_or_a_shorter_header);
    tcase_add_test(tc, test_a_header_is_as_the_table_says);
    tcase_add_test(tc, test_a_table_of_encodings_is_as_the_page_says);
    tcase_add_test(tc, test_D8_witnesses_are_as_the_page_says);
    tcase_add_test(tc, test_records_stand_in_any_order);
    tcase_add_test(tc, test_D32_representations_are_found_by_their_numbers);
    tcase_add_test(tc, test_D33_numbers_of_later_versions_are_kept);
    tcase_add_loop_test(tc, test_what_no_header_may_say_is_refused, 0,
                        (int)(sizeof(refused) / sizeof(refused[0])));
    tcase_add_test(tc, test_D18_what_a_later_version_added_is_kept);
    tcase_add_test(tc, test_whole_records_go_into_the_slot_while_they_fit);
    tcase_set_timeout(tc, 120);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
