/* test_format_block.c - numbers, cursors, sums, references, slots, blocks, entries, keys.
 *
 * Vectors are written by hand from SPEC.md; their sums were computed with xxhsum. */
/* SPDX-License-Identifier: MIT */
#include "format/block.h"
#include "format/sum.h"
#include "tests/unit/bytes.h"

START_TEST(test_tables_agree_both_ways)
{
    for (int code = 1; code <= FMT_CODE_MAX; code++) {
        ck_assert_int_eq(fmt_code_from_name(fmt_code_name(code)), code);
        ck_assert_int_ge(fmt_code_class(code), 0);
        ck_assert_int_gt(fmt_code_external32(code), 0);
        ck_assert_int_gt(fmt_code_internal(code), 0);
    }
    for (int format = 0; format < 256; format++)
        if (fmt_format_name(format)) {
            int fits = 0;

            ck_assert_int_eq(fmt_format_from_name(fmt_format_name(format)), format);
            for (int size = 0; size < 256; size++)
                fits += fmt_format_fits(format, size);
            ck_assert_int_gt(fits, 0);
        } else {
            ck_assert_int_eq(fmt_format_class(format), -1);
            ck_assert_int_eq(fmt_format_fits(format, 8), 0);
        }
    for (int id = 0; id < 65536; id++)
        if (fmt_filter_name(id))
            ck_assert_int_eq(fmt_filter_from_name(fmt_filter_name(id)), id);
        else
            ck_assert_int_eq(fmt_filter_params(id), -1);
    ck_assert_ptr_null(fmt_code_name(0));
    ck_assert_ptr_null(fmt_code_name(FMT_CODE_MAX + 1));
    ck_assert_ptr_null(fmt_code_name(-1));
    ck_assert_int_eq(fmt_code_from_name("DOUBLES"), 0);
    ck_assert_str_eq(fmt_err_text(FMT_ERR_CHECKSUM), "checksum mismatch");
    ck_assert_ptr_null(fmt_err_text(1000));
}
END_TEST

START_TEST(test_a_cursor_keeps_its_first_error)
{
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    struct in in;

    in_init(&in, bytes, sizeof(bytes));
    ck_assert_uint_eq(in_u8(&in), 1);
    ck_assert_uint_eq(in_u16(&in), 0x0203);
    ck_assert_uint_eq(in_u32(&in), 0x04050607);
    ck_assert_uint_eq(in_left(&in), 3);
    ck_assert_uint_eq(in_u32(&in), 0);
    ck_assert_int_eq(in.err, FMT_ERR_FORMAT);
    ck_assert_uint_eq(in.err_at, 7);
    ck_assert_uint_eq(in_u8(&in), 0);
    ck_assert_uint_eq(in.at, 7);
    ck_assert_uint_eq(in_left(&in), 0);
    ck_assert_int_eq(in_fail(&in, FMT_ERR_LIMIT, "later"), FMT_ERR_FORMAT);
    ck_assert_str_eq(in.why, "truncated record (R1.6)");
    in_init(&in, NULL, 0);
    ck_assert_ptr_nonnull(in_bytes(&in, 0));
    ck_assert_ptr_null(in_bytes(&in, SIZE_MAX));
}
END_TEST

static int grow_never(struct out *out, size_t need)
{
    (void)out;
    (void)need;
    return FMT_ERR_NOMEM;
}

START_TEST(test_an_encoder_counts_what_does_not_fit)
{
    uint8_t bytes[6] = {0};
    struct out out;

    out_init(&out, bytes, sizeof(bytes));
    out_u32(&out, 0xa1b2c3d4);
    out_u64(&out, 1);
    out_u8(&out, 9);
    ck_assert_int_eq(out.err, FMT_ERR_BUFFER);
    ck_assert_uint_eq(out.at, 13);
    ck_assert_mem_eq(bytes, "\xa1\xb2\xc3\xd4\0\0", 6);
    out_patch_u32(&out, 0, 7);
    ck_assert_mem_eq(bytes, "\xa1\xb2\xc3\xd4\0\0", 6);
    out_init(&out, NULL, 0);
    out.grow = grow_never;
    out_u16(&out, 1);
    ck_assert_int_eq(out.err, FMT_ERR_NOMEM);
    out_init(&out, bytes, sizeof(bytes));
    out_zeros(&out, 6);
    out_patch_u32(&out, 2, 0x01020304);
    out_patch_u32(&out, 3, 0x55555555);
    out_patch_u64(&out, 0, 0x55555555);
    ck_assert_mem_eq(bytes, "\0\0\1\2\3\4", 6);
}
END_TEST

/* The definition of a sum does not depend on the processor or on how it is computed. */
START_TEST(test_sums_are_xxh3)
{
    static uint8_t bytes[20000];
    uint64_t sums[5], again[5];
    struct rnd r;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 131 + (i >> 8));
    ck_assert_uint_eq(sum_of("", 0), 0x2d06800538d394c2);
    ck_assert_uint_eq(sum_of("datarep", 7), 0xacf16cdb971b3a66);
    ck_assert_uint_eq(sum_of(bytes, 200), 0x4f7ba561b80feff6);
    ck_assert_uint_eq(sum_of(bytes, 4096), 0x1e0a232f4ec7fa9e);
    ck_assert_uint_eq(sum_of(bytes, sizeof(bytes)), 0xd66f20125b61554a);
    sum_blocks(bytes, sizeof(bytes), sums);
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(sums[i], sum_stored(bytes + i * 4096, i < 4 ? 4096 : 20000 - 16384));
    rnd_init(&r, 1);
    for (int i = 0; i < 200; i++) { /* also while the bytes move down by a little or by much */
        static uint8_t moved[20000], was[20000];
        size_t from = i < 100 ? (size_t)i : (size_t)rnd_below(&r, 3000);
        size_t to = i < 100 ? 0 : (size_t)rnd_below(&r, from + 1);
        size_t size = 4096 * (1 + (size_t)rnd_below(&r, 4));

        for (size_t k = 0; k < sizeof(moved); k++)
            moved[k] = (uint8_t)rnd_below(&r, 256);
        memcpy(was, moved, sizeof(was));
        sum_blocks_moved(moved + to, moved + from, size, sums);
        for (size_t k = 0; k < size / 4096; k++)
            ck_assert_uint_eq(sums[k], sum_stored(was + from + k * 4096, 4096));
        ck_assert_mem_eq(moved + to, was + from, size);
        ck_assert_mem_eq(moved, was, to);
        sum_base_moved(moved + to, moved + to, size, again);
        ck_assert_mem_eq(again, sums, size / 4096 * sizeof(*sums));
        to += size;
        ck_assert_mem_eq(moved + to, was + to, sizeof(was) - to);
    }
    for (int i = 0; i < 300; i++) {
        size_t size = 8 + (size_t)rnd_below(&r, i % 2 ? 600 : 19000);
        size_t hole = (size_t)rnd_below(&r, size - 7);
        uint64_t want, kept;

        memcpy(&kept, bytes + hole, 8);
        want = sum_with_hole(bytes, size, hole);
        memset(bytes + hole, 0, 8);
        ck_assert_uint_eq(sum_of(bytes, size), want);
        memcpy(bytes + hole, &kept, 8);
    }
}
END_TEST

START_TEST(test_references_are_possible_or_none)
{
    static const struct {
        const char *hex;
        int err;
    } row[] = {
        {"0000000000000000 00000000 0000000000000000", 0},
        {"0000000000002000 00000028 0102030405060708", 0},
        {"4000000000000000 ffffffff 0000000000000000", 0},
        {"0000000000002000 00000027 0000000000000000", FMT_ERR_FORMAT}, /* shorter than a head */
        {"0000000000001fc0 00000028 0000000000000000", FMT_ERR_FORMAT}, /* in the slots */
        {"0000000000002001 00000028 0000000000000000", FMT_ERR_FORMAT}, /* not aligned */
        {"8000000000000000 00000028 0000000000000000", FMT_ERR_FORMAT},
        {"0000000000002000 00000000 0000000000000000", FMT_ERR_FORMAT}, /* neither nor */
        {"0000000000000000 00000000 0000000000000001", FMT_ERR_FORMAT},
        {"0000000000002000 00000028 01020304050607", FMT_ERR_FORMAT},
    };

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct ref ref = {1, 2, 3};
        uint8_t back[FMT_REF_SIZE];
        struct out out;
        struct in in;
        size_t size;
        uint8_t *p = hex_bytes(row[i].hex, &size);

        in_init(&in, p, size);
        ref_get(&in, &ref);
        ck_assert_int_eq(in.err, row[i].err);
        if (in.err) {
            ck_assert_uint_eq(in.err_at, size == 19 ? 12 : 0);
            ck_assert(ref.offset == 1 && ref.length == 2 && ref.checksum == 3);
        } else {
            out_init(&out, back, sizeof(back));
            ref_put(&out, &ref);
            ck_assert_mem_eq(back, p, sizeof(back));
        }
        free(p);
    }
}
END_TEST

/* ---- slots ---- */

static struct slot slot_make(uint64_t sequence)
{
    struct slot s = {.major = FMT_MAJOR, .minor = FMT_MINOR, .sequence = sequence, .end = 0x5000};

    for (int i = 0; i < 16; i++)
        s.uuid[i] = (uint8_t)(0xa0 + i);
    s.compatible = 0x80;
    s.time = -2;
    s.root = (struct ref){0x2000, 0x64, 0x1122334455667788};
    s.pending = (struct ref){0x3000, 0x40, 5};
    s.more = (struct ref){0x4000, 0x28, 6};
    s.meta_offset = 0x2000;
    s.meta_length = 0x1000;
    s.next_object = 0x0102;
    s.next_type = 3;
    s.header_size = 5;
    memcpy(s.header, "hello", 5);
    return s;
}

static const char slot_hex[] = "89 44 52 50 0d 0a 1a 0a"
                               "0001 0001 00000005 0000000000000003"
                               "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
                               "0000000000000000 0000000000000000 0000000000000080"
                               "0000000000005000 fffffffffffffffe"
                               "0000000000002000 00000064 1122334455667788"
                               "0000000000003000 00000040 0000000000000005"
                               "0000000000004000 00000028 0000000000000006"
                               "0000000000002000 0000000000001000"
                               "0000000000000102 00000003";

static void reseal(uint8_t *bytes)
{
    struct out out;

    out_init(&out, bytes, FMT_SLOT_SIZE);
    out.at = 4088;
    out_u64(&out, sum_of(bytes, 4088));
}

START_TEST(test_a_slot_is_as_the_table_says)
{
    struct slot want = slot_make(3), got;
    uint8_t bytes[FMT_SLOT_SIZE], back[FMT_SLOT_SIZE];
    const char *why;
    size_t size;
    uint8_t *head = hex_bytes(slot_hex, &size);

    ck_assert_uint_eq(size, 168);
    slot_put(bytes, &want);
    ck_assert_mem_eq(bytes, head, size);
    for (size_t i = 168; i < 256; i++)
        ck_assert_uint_eq(bytes[i], 0);
    ck_assert_mem_eq(bytes + 256, "hello", 5);
    for (size_t i = 261; i < 4088; i++)
        ck_assert_uint_eq(bytes[i], 0);
    ck_assert_uint_eq(load_u64(bytes + 4088), sum_of(bytes, 4088));
    memset(&got, 0, sizeof(got));
    ck_assert_int_eq(slot_get(&got, bytes, 0, &why), SLOT_VALID);
    slot_put(back, &got);
    ck_assert_mem_eq(back, bytes, sizeof(back));
    ck_assert_int_eq(got.time, -2);
    ck_assert_uint_eq(got.next_type, 3);
    /* Readers ignore the reserved bytes. */
    bytes[200] = 1;
    reseal(bytes);
    ck_assert_int_eq(slot_get(&got, bytes, 0, &why), SLOT_VALID);
    free(head);
}
END_TEST

START_TEST(test_every_flipped_bit_of_a_slot_is_seen)
{
    struct slot s = slot_make(3), got;
    uint8_t bytes[FMT_SLOT_SIZE];
    const char *why;

    slot_put(bytes, &s);
    memset(&got, 0xa5, sizeof(got));
    s = got;
    for (size_t bit = 0; bit < FMT_SLOT_SIZE * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(slot_get(&got, bytes, 0, &why), bit < 64 ? SLOT_FOREIGN : SLOT_DAMAGED);
        ck_assert_ptr_nonnull(why);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    ck_assert_mem_eq(&got, &s, sizeof(s));
    memset(bytes, 0, sizeof(bytes));
    ck_assert_int_eq(slot_get(&got, bytes, 0, &why), SLOT_EMPTY);
    bytes[4095] = 1;
    ck_assert_int_eq(slot_get(&got, bytes, 0, &why), SLOT_FOREIGN);
}
END_TEST

/* Changes to a good slot that make it a damaged or a malformed one, its sum right. */
static void break_slot(struct slot *s, int how)
{
    switch (how) {
    case 0:
        s->sequence = 4;
        break;
    case 1:
        s->sequence = 0;
        break;
    case 2:
        s->end = 8191;
        break;
    case 3:
        s->root.length = 0x3001; /* to 0x5001 */
        break;
    case 4:
        memset(&s->root, 0, sizeof(s->root));
        break;
    case 5:
        s->pending.offset = 0x5000;
        break;
    case 6:
        s->more.offset = 0x4fc0;
        s->more.length = 0x41;
        break;
    case 7:
        s->meta_length = 0x3001;
        break;
    case 8:
        s->meta_offset = 0;
        break;
    case 9:
        s->meta_offset = 4096;
        break;
    case 10:
        s->end = UINT64_MAX;
        break;
    case 11:
        s->root.offset += 1;
        break;
    }
}

START_TEST(test_a_slot_names_what_lies_in_the_file)
{
    uint8_t bytes[FMT_SLOT_SIZE];
    struct slot s, got;
    const char *why;

    for (int how = 0; how < 12; how++) {
        s = slot_make(3);
        break_slot(&s, how);
        slot_put(bytes, &s);
        ck_assert_msg(slot_get(&got, bytes, 0, &why) == (how < 2 ? SLOT_DAMAGED : SLOT_VALID) &&
                          why != NULL,
                      "change %d", how);
    }
    s = slot_make(4);
    slot_put(bytes, &s);
    ck_assert_int_eq(slot_get(&got, bytes, 0, &why), SLOT_DAMAGED);
    ck_assert_int_eq(slot_get(&got, bytes, 1, &why), SLOT_VALID);
    s = slot_make(3);
    s.pending = s.more = (struct ref){0, 0, 0};
    s.meta_offset = s.meta_length = 0;
    slot_put(bytes, &s);
    ck_assert_int_eq(slot_get(&got, bytes, 0, &why), SLOT_VALID);
    /* H beyond its limit, and something behind H. */
    bytes[14] = 0x0e;
    bytes[15] = 0xf9;
    reseal(bytes);
    ck_assert(slot_get(&got, bytes, 0, &why) == SLOT_VALID && why != NULL);
    s = slot_make(3);
    slot_put(bytes, &s);
    bytes[261] = 1;
    reseal(bytes);
    ck_assert(slot_get(&got, bytes, 0, &why) == SLOT_VALID && why != NULL);
}
END_TEST

START_TEST(test_D18_a_slot_of_another_version_gives_only_what_holds_in_every_one)
{
    uint8_t bytes[FMT_SLOT_SIZE];
    struct slot s = slot_make(3), got;
    const char *why;

    s.major = 2;
    s.minor = 7;
    s.sequence = 0;
    s.root.offset = 3;
    slot_put(bytes, &s);
    ck_assert_int_eq(slot_get(&got, bytes, 0, &why), SLOT_VALID);
    ck_assert_uint_eq(got.major, 2);
    ck_assert_uint_eq(got.minor, 7);
    ck_assert_uint_eq(got.root.offset, 0);
    /* Of an unknown incompatible feature, its number. */
    s = slot_make(3);
    s.incompatible = 1u << 5;
    s.root.offset = 3;
    slot_put(bytes, &s);
    ck_assert_int_eq(slot_get(&got, bytes, 0, &why), SLOT_VALID);
    ck_assert_uint_eq(got.incompatible, 1u << 5);
}
END_TEST

START_TEST(test_D39_a_slot_refers_to_the_end_of_the_file)
{
    struct slot s = {.major = FMT_MAJOR, .minor = FMT_MINOR, .sequence = 1}, got;
    uint8_t bytes[FMT_SLOT_SIZE];
    const char *why;

    s.incompatible = FMT_AT_END;
    slot_put(bytes, &s);
    ck_assert_int_eq(slot_get(&got, bytes, 0, &why), SLOT_VALID);
    ck_assert_ptr_null(why);
    ck_assert(slot_at_end(&got));
    /* Only the first commit. */
    s.sequence = 3;
    slot_put(bytes, &s);
    ck_assert(slot_get(&got, bytes, 0, &why) == SLOT_VALID && why != NULL);
    /* With a root, it is the slot at the end, and its fields count. */
    s = slot_make(1);
    s.incompatible = FMT_AT_END;
    slot_put(bytes, &s);
    ck_assert(slot_get(&got, bytes, 0, &why) == SLOT_VALID && !why && !slot_at_end(&got));
    s.root.offset = s.end;
    slot_put(bytes, &s);
    ck_assert(slot_get(&got, bytes, 0, &why) == SLOT_VALID && why != NULL);
}
END_TEST

/* ---- blocks and entries ---- */

static const char block_hex[] = "44 52 50 42 03 00 0000 a0a1a2a3a4a5a6a7 0000000000000009"
                                "00000040 00000001 b4c012e991280ed9"
                                "0000000000002040 0000000000000080 0000000000000008";

START_TEST(test_a_block_is_as_the_table_says)
{
    struct block_head head = {.kind = FMT_PENDING, .sequence = 9, .length = 64, .count = 1}, got;
    uint8_t block[64];
    const char *why;
    size_t size;
    uint8_t *want = hex_bytes(block_hex, &size);

    ck_assert_uint_eq(size, 64);
    for (int i = 0; i < 8; i++)
        head.uuid[i] = (uint8_t)(0xa0 + i);
    memcpy(block + 40, want + 40, 24);
    head.checksum = block_seal(block, &head);
    ck_assert_mem_eq(block, want, 64);
    ck_assert_int_eq(block_get(&got, block, 64, &why), 0);
    ck_assert(got.kind == 3 && got.level == 0 && got.sequence == 9 && got.length == 64 &&
              got.count == 1 && got.checksum == head.checksum &&
              memcmp(got.uuid, head.uuid, 8) == 0);
    memset(&got, 0xa5, sizeof(got));
    for (size_t bit = 0; bit < 64 * 8; bit++) {
        block[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(block_get(&got, block, 64, &why), FMT_ERR_CHECKSUM);
        block[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t n = 0; n < 64; n++)
        ck_assert_int_ne(block_get(&got, block, n, &why), 0);
    ck_assert_uint_eq(got.kind, 0xa5);
    free(want);
}
END_TEST

START_TEST(test_a_block_is_possible_for_its_kind)
{
    static const struct {
        uint8_t kind, level;
        uint32_t length, count;
        int err;
    } row[] = {
        {FMT_NODE, 0, 44, 1, 0},
        {FMT_NODE, 15, 16384, 4086, 0},
        {FMT_NODE, 16, 44, 1, FMT_ERR_FORMAT},
        {FMT_NODE, 0, 16385, 1, FMT_ERR_FORMAT},
        {FMT_NODE, 0, 40, 0, FMT_ERR_FORMAT},
        {FMT_NODE, 0, 44, 2, FMT_ERR_FORMAT},
        {FMT_VALUE, 0, 40, 0, 0},
        {FMT_VALUE, 1, 41, 0, FMT_ERR_FORMAT},
        {FMT_VALUE, 0, 41, 1, FMT_ERR_FORMAT},
        {FMT_PENDING, 0, 88, 2, 0},
        {FMT_PENDING, 0, 88, 1, FMT_ERR_FORMAT},
        {FMT_HEADER, 0, 140, 0, 0},
        {FMT_HEADER, 0, 1048616, 0, 0},
        {FMT_HEADER, 0, 1048617, 0, FMT_ERR_UNSUPPORTED},
        {FMT_SUMS, 0, 80, 5, 0},
        {FMT_SUMS, 0, 81, 5, FMT_ERR_FORMAT},
        {0, 0, 40, 0, FMT_ERR_FORMAT},
        {6, 0, 40, 0, FMT_ERR_FORMAT},
    };
    uint8_t *block = calloc(1, 1048617);

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct block_head head = {.kind = row[i].kind,
                                  .level = row[i].level,
                                  .length = row[i].length,
                                  .count = row[i].count},
                          got;
        const char *why;

        block_seal(block, &head);
        ck_assert_msg(block_get(&got, block, row[i].length, &why) == row[i].err, "row %zu", i);
    }
    free(block);
}
END_TEST

START_TEST(test_entries_are_as_the_page_says)
{
    static const char hex[] = "00 01 20 06"                /* shared 0, suffix 9, value 3 */
                              "0000000000000001 10 aabbcc" /* */
                              "ff 00 40 29 6162"           /* shared 255, suffix 2, far */
                              "0000000000002000 00000028 0000000000000007";
    uint8_t back[64];
    struct entry e;
    struct out out;
    struct in in;
    size_t size;
    uint8_t *p = hex_bytes(hex, &size);

    in_init(&in, p, size);
    ck_assert_int_eq(entry_get(&in, &e), 0);
    ck_assert(e.shared == 0 && e.suffix_len == 9 && e.value_len == 3 && !e.far);
    ck_assert_ptr_eq(e.suffix, p + 4);
    ck_assert_ptr_eq(e.value, p + 13);
    out_init(&out, back, sizeof(back));
    entry_put(&out, e.shared, e.suffix, e.suffix_len, e.value, e.value_len, e.far);
    ck_assert_uint_eq(out.at, entry_size(9, 3));
    ck_assert_int_eq(entry_get(&in, &e), 0);
    ck_assert(e.shared == 255 && e.suffix_len == 2 && e.value_len == 20 && e.far);
    entry_put(&out, e.shared, e.suffix, e.suffix_len, e.value, e.value_len, e.far);
    ck_assert_uint_eq(out.at, size);
    ck_assert_mem_eq(back, p, size);
    ck_assert_uint_eq(in_left(&in), 0);
    for (size_t n = 0; n < 16; n++) {
        in_init(&in, p, n);
        e.shared = 77;
        ck_assert_int_eq(entry_get(&in, &e), FMT_ERR_FORMAT);
        ck_assert_uint_eq(e.shared, 77);
    }
    free(p);
}
END_TEST

START_TEST(test_entries_keep_their_limits)
{
    static const struct {
        unsigned shared, suffix, value;
        int far, err;
    } row[] = {
        {0, 1040, 2048, 0, 0},
        {255, 785, 0, 0, 0},
        {255, 786, 0, 0, FMT_ERR_FORMAT},
        {0, 1041, 0, 0, FMT_ERR_FORMAT},
        {0, 0, 2049, 0, FMT_ERR_FORMAT},
        {0, 0, 4095, 0, FMT_ERR_FORMAT},
        {0, 0, 19, 1, FMT_ERR_FORMAT},
        {0, 0, 21, 1, FMT_ERR_FORMAT},
        {0, 0, 20, 1, 0},
    };
    static uint8_t p[8192], from[4096];

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct entry e;
        struct out out;
        struct in in;

        out_init(&out, p, sizeof(p));
        entry_put(&out, row[i].shared, from, row[i].suffix, from, row[i].value, row[i].far);
        in_init(&in, p, out.at);
        ck_assert_msg(entry_get(&in, &e) == row[i].err, "row %zu", i);
    }
}
END_TEST

static int sign(int v)
{
    return (v > 0) - (v < 0);
}

START_TEST(test_keys_of_any_length_compare_as_memcmp_does)
{
    uint8_t a[41], b[41];

    for (size_t alen = 0; alen <= 40; alen++)
        for (size_t blen = 0; blen <= 40; blen++)
            for (size_t at = 0; at <= 40; at++)
                for (int step = -1; step <= 1; step++) {
                    size_t n = alen < blen ? alen : blen;
                    int want;

                    for (size_t i = 0; i < 41; i++)
                        a[i] = b[i] = (uint8_t)(i % 3 ? 0x80 : 0x7f);
                    b[at] = (uint8_t)(b[at] + step);
                    want = n ? memcmp(a, b, n) : 0;
                    want = want ? want : (alen > blen) - (alen < blen);
                    ck_assert_int_eq(sign(key_compare(a, alen, b, blen)), sign(want));
                }
}
END_TEST

START_TEST(test_keys_sort_as_byte_strings)
{
    struct key a, b;

    key_make(&a, 0x0102030405060708, FMT_TAG_CHUNK);
    key_add_u64(&a, 9);
    key_add_u32(&a, 10);
    key_add_u8(&a, 11);
    ck_assert_uint_eq(a.len, 23);
    ck_assert_mem_eq(a.p, "\0\1\2\3\4\5\6\7\10\100\0\0\0\0\0\0\0\11\0\0\0\12\13", 23);
    ck_assert_uint_eq(key_object(a.p), 0x0102030405060708);
    ck_assert_uint_eq(key_tag(a.p), FMT_TAG_CHUNK);
    ck_assert_uint_eq(key_known(a.p), FMT_TAG_CHUNK);
    ck_assert_uint_eq(key_u64(a.p + FMT_KEY_HEAD), 9);
    ck_assert_uint_eq(key_u32(a.p + 18), 10);
    key_make(&b, 0x0102030405060708, FMT_TAG_CHUNK);
    ck_assert_int_gt(key_compare(a.p, a.len, b.p, b.len), 0);
    ck_assert_int_lt(key_compare(b.p, b.len, a.p, a.len), 0);
    ck_assert_int_eq(key_compare(a.p, FMT_KEY_HEAD, b.p, b.len), 0);
    ck_assert_int_eq(key_compare(NULL, 0, NULL, 0), 0);
    ck_assert_int_lt(key_compare(NULL, 0, b.p, b.len), 0);
    b.p[0] = 0x80;
    ck_assert_int_lt(key_compare(a.p, a.len, b.p, b.len), 0);
    ck_assert_int_eq(key_add_bytes(&b, a.p, 1030), 0);
    ck_assert_uint_eq(b.len, FMT_KEY_MAX);
    ck_assert_int_eq(key_add_bytes(&b, "", 0), 0);
    ck_assert_int_eq(key_add_bytes(&b, "x", 1), FMT_ERR_NAME);
    ck_assert_uint_eq(b.len, FMT_KEY_MAX);
}
END_TEST

/* Every space and tag: SPEC.md, 4.2. */
START_TEST(test_tags_mean_something_in_their_space_alone)
{
    static const uint8_t structure[] = {1, 2, 3, 4, 16, 24, 32, 34, 64, 80};
    struct key key;

    for (int space = 0; space < 256; space++)
        for (int tag = 0; tag < 256; tag++) {
            bool known = (space == 0 && memchr(structure, tag, sizeof(structure))) ||
                         (space == 1 && tag == 48);

            key_make_in(&key, (uint8_t)space, UINT64_MAX, (uint8_t)tag);
            ck_assert_uint_eq(key.len, 10);
            ck_assert_uint_eq(key_space(key.p), (unsigned)space);
            ck_assert_uint_eq(key_object(key.p), UINT64_MAX);
            ck_assert_uint_eq(key_tag(key.p), (unsigned)tag);
            ck_assert_uint_eq(key_known(key.p), known ? (unsigned)tag : 0);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format_block");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, test_tables_agree_both_ways);
    tcase_add_test(tc, test_a_cursor_keeps_its_first_error);
    tcase_add_test(tc, test_an_encoder_counts_what_does_not_fit);
    tcase_add_test(tc, test_sums_are_xxh3);
    tcase_add_test(tc, test_references_are_possible_or_none);
    tcase_add_test(tc, test_a_slot_is_as_the_table_says);
    tcase_add_test(tc, test_every_flipped_bit_of_a_slot_is_seen);
    tcase_add_test(tc, test_a_slot_names_what_lies_in_the_file);
    tcase_add_test(tc, test_D18_a_slot_of_another_version_gives_only_what_holds_in_every_one);
    tcase_add_test(tc, test_D39_a_slot_refers_to_the_end_of_the_file);
    tcase_add_test(tc, test_a_block_is_as_the_table_says);
    tcase_add_test(tc, test_a_block_is_possible_for_its_kind);
    tcase_add_test(tc, test_entries_are_as_the_page_says);
    tcase_add_test(tc, test_entries_keep_their_limits);
    tcase_add_test(tc, test_keys_of_any_length_compare_as_memcmp_does);
    tcase_add_test(tc, test_keys_sort_as_byte_strings);
    tcase_add_test(tc, test_tags_mean_something_in_their_space_alone);
    tcase_set_timeout(tc, 60);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
