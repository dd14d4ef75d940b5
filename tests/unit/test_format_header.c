/* test_format_header.c - the header proper: there and back, cut short, against vectors
 * written by hand from SPEC.md, and what it refuses. */
#include "format/header.h"
#include "tests/unit/bytes.h"

#define BYTES_MAX (2u << 20)

static uint8_t bytes[BYTES_MAX], back[BYTES_MAX], scratch[BYTES_MAX];
static uint8_t pool[4096];

static size_t encode(const struct header_rec *h, uint8_t *to, size_t *split)
{
    struct out out, count;
    size_t ignored;

    out_init(&out, to, BYTES_MAX);
    header_put(&out, h, split);
    ck_assert_int_eq(out.err, 0);
    out_init(&count, NULL, 0);
    header_put(&count, h, &ignored);
    ck_assert_uint_eq(count.at, out.at);
    ck_assert_uint_eq(ignored, *split);
    return out.at;
}

static int decode(const uint8_t *p, size_t size, struct header_rec *h, const char **why, size_t *at)
{
    uint8_t *exact = malloc(size ? size : 1);
    int err;

    /* A block of its own size shows what is read beyond the end. */
    memcpy(exact, p, size);
    err = header_get(exact, size, h, scratch, why, at);
    free(exact);
    if (err)
        return err;
    return header_get(p, size, h, scratch, why, at);
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

static void table_make(struct rnd *r, struct header_rec *h)
{
    static const uint8_t rows[][2] = {{2, 8},   {3, 1},   {20, 4}, {21, 8},
                                      {22, 16}, {23, 16}, {27, 8}};

    h->has_encodings = 1;
    for (int code = 1; code <= FMT_CODE_MAX; code++) {
        const uint8_t *row = rows[rnd_below(r, sizeof(rows) / sizeof(rows[0]))];
        struct encoding_rec *e = &h->row[code];

        if (rnd_below(r, 3) == 0)
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

static void functions_make(struct rnd *r, struct header_rec *h)
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

static void header_make(struct rnd *r, struct header_rec *h)
{
    static uint8_t hints[4096], unknown[8192], text[2][200];
    struct out out;

    memset(h, 0, sizeof(*h));
    h->form = (uint8_t)(1 + rnd_below(r, 2));
    h->flags = (uint8_t)rnd_below(r, 2);
    rnd_letters(r, h->name, 1 + (size_t)rnd_below(r, FMT_DATAREP_MAX));
    if (h->form == FMT_FORM_TABLE)
        table_make(r, h);
    else
        functions_make(r, h);
    h->hints = (struct span){hints, hints_make(r, hints)};
    rnd_letters(r, text, sizeof(text));
    h->writer = (struct span){text[0], (size_t)rnd_below(r, 200)};
    h->machine = (struct span){text[1], (size_t)rnd_below(r, 200)};
    out_init(&out, unknown, sizeof(unknown));
    for (unsigned tag = 9; tag < 13; tag++) {
        size_t n = rnd_below(r, 2) ? 0 : (size_t)rnd_below(r, 1500);

        out_u16(&out, (uint16_t)(tag * 5000));
        out_u32(&out, (uint32_t)n);
        out_bytes(&out, pool, n);
    }
    h->unknown = (struct span){unknown, rnd_below(r, 2) ? out.at : 0};
    if (rnd_below(r, 2)) {
        /* What a later version put behind ours. */
        h->tail = (struct span){pool, (size_t)rnd_below(r, 100)};
        h->extents_tail = (struct span){(const uint8_t *)"\0\104\0\1", 4};
        if (h->form == FMT_FORM_TABLE)
            h->encodings_tail = (struct span){(const uint8_t *)"\0\104\377\377\377\377\377\377", 8};
        else
            h->witnesses_tail = (struct span){(const uint8_t *)"\0\105xyz", 5};
    }
}

START_TEST(test_headers_come_back)
{
    static struct header_rec h, got;

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
        ck_assert_str_eq(got.name, h.name);
        ck_assert_mem_eq(got.extent, h.extent, sizeof(h.extent));
        ck_assert_mem_eq(got.row, h.row, sizeof(h.row));
        ck_assert_msg(encode(&got, back, &split2) == size && memcmp(back, bytes, size) == 0 &&
                          split2 == split,
                      "seed %llu: other bytes", (unsigned long long)seed);
    }
}
END_TEST

/* A cut between records is a shorter header, if it still has what it must. */
START_TEST(test_every_truncation_is_refused_or_a_shorter_header)
{
    static struct header_rec h, got, before;

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

#define DATAREP_E32 "0001 0000000d 01 00 0a 65787465726e616c3332 "
#define DATAREP_OWN "0001 00000006 01 00 03 6f776e "
#define DATAREP_FN "0001 00000005 02 00 02 6d79 "
#define ROW_DOUBLE "0010 15 01 08 08 00 00 "

static int vector_get(const char *text, struct header_rec *h, const char **why, size_t *at)
{
    size_t size;
    uint8_t *p = hex_bytes(text, &size);

    memcpy(bytes, p, size);
    free(p);
    return decode(bytes, size, h, why, at);
}

START_TEST(test_a_header_is_as_the_table_says)
{
    static const char text[] = DATAREP_E32 "0002 00000008 0008 0004 0010 0008"
                                           "0006 0000000e 0001 61 0002 6262  0002 6163 0001 2d"
                                           "0007 0000000b 646174617265702031 2e30"
                                           "0008 00000005 616d643634"
                                           "0100 00000002 abcd"
                                           "8000 00000000";
    static struct header_rec h;
    struct hint_rec hint;
    const char *why = "";
    size_t at = 0, split, size;
    struct in in;
    uint8_t *want = hex_bytes(text, &size);

    ck_assert_msg(vector_get(text, &h, &why, &at) == 0, "%s at byte %zu", why, at);
    ck_assert(h.form == FMT_FORM_TABLE && h.flags == 0 && strcmp(h.name, "external32") == 0);
    ck_assert(h.extent[FMT_CODE_INT] == 4 && h.extent[FMT_CODE_DOUBLE] == 8);
    ck_assert(h.extent[FMT_CODE_FLOAT] == 0 && !h.has_encodings);
    ck_assert(h.writer.len == 11 && memcmp(h.writer.p, "datarep 1.0", 11) == 0);
    ck_assert(h.machine.len == 5 && memcmp(h.machine.p, "amd64", 5) == 0);
    in_init(&in, h.hints.p, h.hints.len);
    ck_assert_int_eq(hint_get(&in, &hint), 0);
    ck_assert(hint.key.len == 1 && hint.key.p[0] == 'a' && hint.value.len == 2);
    ck_assert_int_eq(hint_get(&in, &hint), 0);
    ck_assert(hint.key.len == 2 && hint.value.len == 1);
    ck_assert_int_eq(hint_get(&in, &hint), FMT_ERR_NOT_FOUND);
    /* Unknown records are kept whole, in their order. */
    ck_assert_uint_eq(h.unknown.len, 14);
    ck_assert_mem_eq(h.unknown.p, "\1\0\0\0\0\2\xab\xcd\x80\0\0\0\0\0", 14);
    ck_assert_uint_eq(encode(&h, back, &split), size);
    ck_assert_mem_eq(back, want, size);
    ck_assert_uint_eq(split, size);
    free(want);
}
END_TEST

START_TEST(test_a_table_of_encodings_is_as_the_page_says)
{
    static const char text[] = DATAREP_OWN
        "0002 00000008 0008 0003 0010 0008"
        "0003 00000010 0008 ff 00 03 01 00 00 " ROW_DOUBLE
        "0004 00000020 01 00 03 01 ff 02 00 00 0018 0000 0000 0000 0000 0000 0000 01 00 "
        "0000000000000000";
    static struct header_rec h;
    const char *why = "";
    size_t at = 0, split, size;
    uint8_t *want = hex_bytes(text, &size);

    ck_assert_msg(vector_get(text, &h, &why, &at) == 0, "%s at byte %zu", why, at);
    ck_assert(h.has_encodings && h.scalars.len == 32);
    ck_assert(h.row[8].format == 255 && h.row[8].size == 3 && h.row[8].custom == 0);
    ck_assert(h.row[16].format == FMT_FORMAT_BINARY64 && h.row[16].order == 1 &&
              h.row[16].align == 8 && h.row[16].code == 16);
    ck_assert_uint_eq(encode(&h, back, &split), size);
    ck_assert_mem_eq(back, want, size);
    free(want);
}
END_TEST

START_TEST(test_D8_witnesses_are_as_the_page_says)
{
    static const char text[] = DATAREP_FN "0002 00000008 0001 0002 0012 0001"
                                          "0005 0000000a 0001 00 02  0012 02 01 0001";
    static struct header_rec h;
    const char *why = "";
    size_t at = 0, split, size;
    uint8_t *want = hex_bytes(text, &size);

    ck_assert_msg(vector_get(text, &h, &why, &at) == 0, "%s at byte %zu", why, at);
    ck_assert(h.form == FMT_FORM_CODE && h.witness[1].k == 0 && h.witness[1].size == 2);
    ck_assert(h.witness[18].k == 2 && h.witness[18].size == 1);
    ck_assert_mem_eq(h.witness[18].bytes, "\0\1", 2);
    ck_assert_uint_eq(encode(&h, back, &split), size);
    ck_assert_mem_eq(back, want, size);
    free(want);
}
END_TEST

/* The order of records is free behind the first. */
START_TEST(test_records_stand_in_any_order)
{
    static struct header_rec h;
    const char *why = "";
    size_t at = 0;

    ck_assert_int_eq(vector_get(DATAREP_OWN "0008 00000001 61 0003 00000008 " ROW_DOUBLE
                                            "0007 00000001 62 0002 00000004 0010 0008",
                                &h, &why, &at),
                     0);
    ck_assert(h.extent[16] == 8 && h.machine.p[0] == 'a' && h.writer.p[0] == 'b');
}
END_TEST

/* ---- what is refused ---- */

static const struct {
    const char *text;
    int err;
    size_t at;
} refused[] = {
    {"", FMT_ERR_FORMAT, 0},
    {"0008 00000001 61", FMT_ERR_FORMAT, 0},
    {DATAREP_E32 "0008 00000002 61", FMT_ERR_FORMAT, 25},
    {DATAREP_E32 "0008 00000001 61 0008 00000001 61", FMT_ERR_FORMAT, 26},
    {DATAREP_E32 "0100 00000000 0100 00000000", FMT_ERR_FORMAT, 25},
    {"0001 00000004 03 00 01 61", FMT_ERR_FORMAT, 6},
    {"0001 00000004 01 02 01 61", FMT_ERR_FORMAT, 7},
    {"0001 00000003 01 00 00", FMT_ERR_FORMAT, 9},
    {"0001 00000004 01 00 01 00", FMT_ERR_FORMAT, 9},
    {"0001 00000004 02 00 02 61", FMT_ERR_FORMAT, 9},
    {"0001 00000004 02 00 01 ff", FMT_ERR_FORMAT, 9},
    /* external32 with a table, another without, extents against the table. */
    {DATAREP_E32 "0003 00000008 " ROW_DOUBLE, FMT_ERR_FORMAT, 0},
    {DATAREP_OWN, FMT_ERR_FORMAT, 0},
    {DATAREP_E32 "0002 00000004 000a 0008", FMT_ERR_FORMAT, 0},
    {DATAREP_OWN "0003 00000008 " ROW_DOUBLE "0002 00000004 000a 0008", FMT_ERR_FORMAT, 0},
    {DATAREP_OWN "0003 00000008 " ROW_DOUBLE "0002 00000004 0010 0004", FMT_ERR_FORMAT, 0},
    {DATAREP_E32 "0002 00000004 0000 0008", FMT_ERR_FORMAT, 25},
    {DATAREP_E32 "0002 00000004 0010 0000", FMT_ERR_FORMAT, 27},
    {DATAREP_E32 "0002 00000008 0010 0008 0010 0008", FMT_ERR_FORMAT, 29},
    {DATAREP_E32 "0002 00000006 0010 0008 0010", FMT_ERR_FORMAT, 29},
    {DATAREP_OWN "0003 00000010 " ROW_DOUBLE ROW_DOUBLE, FMT_ERR_FORMAT, 26},
    {DATAREP_OWN "0003 00000007 0010 15 01 08 08 00", FMT_ERR_FORMAT, 25},
    {DATAREP_OWN "0003 00000008 0010 15 01 04 08 00 00", FMT_ERR_FORMAT, 18},
    {DATAREP_OWN "0003 00000008 0010 15 03 08 08 00 00", FMT_ERR_FORMAT, 18},
    {DATAREP_OWN "0003 00000008 0010 15 01 08 03 00 00", FMT_ERR_FORMAT, 18},
    {DATAREP_OWN "0003 00000008 0010 15 01 08 00 00 00", FMT_ERR_FORMAT, 18},
    {DATAREP_OWN "0003 00000008 0010 15 01 08 08 00 01", FMT_ERR_FORMAT, 18},
    {DATAREP_OWN "0003 00000008 0010 08 01 08 08 00 00", FMT_ERR_FORMAT, 18},
    {DATAREP_OWN "0003 00000008 0010 ff 01 00 08 00 00", FMT_ERR_FORMAT, 18},
    {DATAREP_OWN "0003 00000008 001b 14 01 04 04 00 00", FMT_ERR_FORMAT, 18}, /* half a complex */
    {DATAREP_OWN "0003 00000008 0010 ff 01 08 08 00 00", FMT_ERR_FORMAT, 0},  /* no such scalar */
    {DATAREP_OWN "0003 00000008 " ROW_DOUBLE "0004 00000001 01", FMT_ERR_FORMAT, 33},
    {DATAREP_FN "0005 00000006 0012 03 01 0001", FMT_ERR_FORMAT, 20},
    {DATAREP_FN "0005 00000004 0012 02 00", FMT_ERR_FORMAT, 20},
    {DATAREP_FN "0005 00000005 0012 02 01 00", FMT_ERR_FORMAT, 21},
    {DATAREP_FN "0002 00000004 0012 0002 0005 00000006 0012 02 01 0001", FMT_ERR_FORMAT, 0},
    {DATAREP_E32 "0006 0000000c 0001 62 0001 31 0001 61 0001 31", FMT_ERR_FORMAT, 31},
    {DATAREP_E32 "0006 0000000c 0001 61 0001 31 0001 61 0001 31", FMT_ERR_FORMAT, 31},
    {DATAREP_E32 "0006 00000005 0000 0001 31", FMT_ERR_FORMAT, 25},
    {DATAREP_E32 "0006 00000005 0001 61 0000", FMT_ERR_FORMAT, 25},
    {DATAREP_E32 "0006 00000006 0001 61 0001 00", FMT_ERR_FORMAT, 25},
    {DATAREP_E32 "0006 00000006 0001 ff 0001 31", FMT_ERR_FORMAT, 25},
    {DATAREP_E32 "0006 00000004 0001 61 00", FMT_ERR_FORMAT, 28},
    {DATAREP_E32 "0007 00000001 ff", FMT_ERR_FORMAT, 25},
};

START_TEST(test_what_no_header_may_say_is_refused)
{
    static struct header_rec h, before;
    const char *why = NULL;
    size_t at = 99999;
    int err;

    memset(&h, 0xa5, sizeof(h));
    before = h;
    err = vector_get(refused[_i].text, &h, &why, &at);
    ck_assert_msg(err == refused[_i].err, "row %d, %s: error %d (%s)", _i, refused[_i].text, err,
                  why ? why : "none");
    ck_assert_msg(at == refused[_i].at, "row %d, %s: %s at byte %zu", _i, refused[_i].text, why,
                  at);
    ck_assert_mem_eq(&h, &before, sizeof(h));
}
END_TEST

/* D18: codes, and bytes behind the last field, of a later version are kept. */
START_TEST(test_D18_what_a_later_version_added_is_kept)
{
    static const char text[] = "0001 00000008 01 00 03 6f776e abcd "
                               "0002 0000000c 0010 0008 0044 0002 ffff 0003"
                               "0003 00000010 " ROW_DOUBLE "0044 7f 09 ff ff 00 ff";
    static struct header_rec h;
    const char *why = "";
    size_t at = 0, split, size;
    uint8_t *want = hex_bytes(text, &size);

    ck_assert_msg(vector_get(text, &h, &why, &at) == 0, "%s at byte %zu", why, at);
    ck_assert(h.tail.len == 2 && h.extents_tail.len == 8 && h.encodings_tail.len == 8);
    ck_assert_uint_eq(encode(&h, back, &split), size);
    ck_assert_mem_eq(back, want, size);
    free(want);
}
END_TEST

START_TEST(test_whole_records_go_into_the_slot_while_they_fit)
{
    static uint8_t big[FMT_HEADER_MAX];
    static struct header_rec h;
    const char *why = "";
    size_t at = 0, split, size, one;

    memset(big, 'x', sizeof(big));
    memset(&h, 0, sizeof(h));
    h.form = FMT_FORM_TABLE;
    strcpy(h.name, "internal");
    h.writer = (struct span){big, 1};
    size = encode(&h, bytes, &split);
    ck_assert_uint_eq(split, size);
    one = size - 7;
    h.writer.len = FMT_SLOT_HEADER_MAX - one - 6;
    size = encode(&h, bytes, &split);
    ck_assert_uint_eq(size, FMT_SLOT_HEADER_MAX);
    ck_assert_uint_eq(split, size);
    h.writer.len++;
    size = encode(&h, bytes, &split);
    ck_assert_uint_eq(split, one);
    /* Nothing goes into the slot behind a record that did not. */
    h.machine = (struct span){big, 1};
    size = encode(&h, bytes, &split);
    ck_assert_uint_eq(split, one);
    ck_assert_int_eq(header_get(bytes, size, &h, scratch, &why, &at), 0);
    h.machine.len = 0;
    h.writer = (struct span){big, FMT_HEADER_MAX - one - 6};
    size = encode(&h, bytes, &split);
    ck_assert_uint_eq(size, FMT_HEADER_MAX);
    ck_assert_int_eq(header_get(bytes, size, &h, scratch, &why, &at), 0);
    h.writer = (struct span){big, FMT_HEADER_MAX - one - 5};
    size = encode(&h, bytes, &split);
    ck_assert_int_eq(header_get(bytes, size, &h, scratch, &why, &at), FMT_ERR_LIMIT);
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
    tcase_add_loop_test(tc, test_what_no_header_may_say_is_refused, 0,
                        (int)(sizeof(refused) / sizeof(refused[0])));
    tcase_add_test(tc, test_D18_what_a_later_version_added_is_kept);
    tcase_add_test(tc, test_whole_records_go_into_the_slot_while_they_fit);
    tcase_set_timeout(tc, 120);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
