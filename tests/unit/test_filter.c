/* test_filter.c - filters: the vector forms against SPEC.md's words, pipelines of all of
 * them, users' own, damage and limits. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include "base/isa.h"
#include "chunk/filter.h"
#include "chunk/hdf5.h"
#include "chunk/shuffle.h"

#include <stdlib.h>

/* ---- shuffle and bitshuffle, as SPEC.md, 8 says it ---- */

static void plain_bytes(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    for (size_t b = 0; b < s; b++)
        for (size_t i = 0; i < n; i++)
            *out++ = in[i * s + b];
}

static void plain_bits(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    for (size_t b = 0; b < s; b++)
        for (size_t k = 0; k < 8; k++)
            for (size_t m = 0; m < n / 8; m++) {
                unsigned byte = 0;

                for (size_t j = 0; j < 8; j++)
                    byte |= (in[(8 * m + j) * s + b] >> k & 1u) << j;
                *out++ = (uint8_t)byte;
            }
}

/* A block of memory whose last byte is the last of a malloc, so that ASan sees one more. */
static uint8_t *noise(size_t size, unsigned seed)
{
    uint8_t *p = malloc(size ? size : 1);

    for (size_t i = 0; i < size; i++)
        p[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
    return p;
}

static void try_shuffle(size_t n, size_t s)
{
    uint8_t *in = noise(n * s, (unsigned)(n * 31 + s)), *want = malloc(n * s + 1);
    uint8_t *got = noise(n * s, 1), *back = noise(n * s, 2);

    plain_bytes(want, in, n, s);
    shuffle_bytes(got, in, n, s);
    ck_assert_msg(memcmp(want, got, n * s) == 0, "shuffle of %zu elements of %zu", n, s);
    unshuffle_bytes(back, got, n, s);
    ck_assert_msg(memcmp(in, back, n * s) == 0, "unshuffle of %zu elements of %zu", n, s);
    if (n % 8 == 0) {
        plain_bits(want, in, n, s);
        shuffle_bits(got, in, n, s);
        ck_assert_msg(memcmp(want, got, n * s) == 0, "bitshuffle of %zu elements of %zu", n, s);
        unshuffle_bits(back, got, n, s);
        ck_assert_msg(memcmp(in, back, n * s) == 0, "bitunshuffle of %zu of %zu", n, s);
    }
    free(in);
    free(want);
    free(got);
    free(back);
}

/* ---- streams ---- */

static const struct filter_rec compressor[] = {
    {.id = FMT_FILTER_DEFLATE, .nparams = 1, .param = {1}},
    {.id = FMT_FILTER_ZSTD, .nparams = 1, .param = {1}},
    {.id = FMT_FILTER_LZ4, .nparams = 1, .param = {1}},
    {.id = FMT_FILTER_HDF5_LZ4, .nparams = 1, .param = {1000}},
    {.id = FMT_FILTER_LZF},
    {.id = FMT_FILTER_HDF5_BITSHUFFLE, .nparams = 4, .param = {4, 0, 2, 0}},
    {.id = FMT_FILTER_BLOSC, .nparams = 4, .param = {4, 5, 1, 1}},
};
enum { COMPRESSORS = sizeof compressor / sizeof *compressor };

static bool built_in(const struct filter_rec *f)
{
    bool by_lz4 = f->id == FMT_FILTER_HDF5_BITSHUFFLE && f->param[2] == 2;

    return filter_available(f->id) && (!by_lz4 || filter_available(FMT_FILTER_LZ4));
}

/* What a compressor makes of `size` bytes, malloc'ed and ending with its block of memory. */
static uint8_t *stream_of(struct codec *k, const struct filter_rec *f, const uint8_t *in,
                          size_t size, size_t fixed, size_t *len)
{
    uint32_t skipped;
    struct span out;
    uint8_t *stream;

    ok(filters_encode(k, f, 1, in, size, fixed, &out, &skipped));
    ck_assert_uint_eq(skipped, 0);
    stream = malloc(out.len);
    memcpy(stream, out.p, out.len);
    *len = out.len;
    return stream;
}

/* A stream ends as its coding says, or with its bytes, and may give less than the bound, not more:
 * of elements of fixed size that is the full payload, of others the limit of a chunk. */
START_TEST(test_streams)
{
    const struct filter_rec *f = &compressor[_i];
    const char *name = fmt_filter_name(f->id);
    uint8_t payload[3000], *stream, *more;
    struct codec k = {0};
    struct buf back = {0};
    struct filter_rec later = *f;
    size_t len;

    if (!built_in(f))
        return;
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (uint8_t)(i / 100);
    for (size_t size = 2900; size <= 3000; size += 100) {
        stream = stream_of(&k, f, payload, size, 3000, &len);
        ok(filters_decode(&k, f, 1, 0, stream, len, 3000, 3000, &back));
        ck_assert_msg(back.len == size && memcmp(back.p, payload, size) == 0, "%s", name);
        ok(filters_decode(&k, f, 1, 0, stream, len, 16, 1 << 20, &back));
        ck_assert_msg(back.len == size && memcmp(back.p, payload, size) == 0, "%s", name);
        ck_assert_msg(back.size <= 16 * 3000, "%s: %zu bytes of room", name, back.size);
        fails(filters_decode(&k, f, 1, 0, stream, len, size - 1, size - 1, &back), DREP_ERR_FORMAT);
        ck_assert_msg(strstr(drep_error(), "R8.35") != NULL, "%s: %s", name, drep_error());
        k.limit = size - 1;
        fails(filters_decode(&k, f, 1, 0, stream, len, 16, size - 1, &back), DREP_ERR_LIMIT);
        k.limit = 0;
        more = calloc(len + 1, 1);
        memcpy(more, stream, len);
        fails(filters_decode(&k, f, 1, 0, more, len + 1, 3000, 3000, &back), DREP_ERR_FORMAT);
        ck_assert_msg(strstr(drep_error(), "R8.34") != NULL, "%s: %s", name, drep_error());
        fails(filters_decode(&k, f, 1, 0, stream, len - 1, 3000, 3000, &back), DREP_ERR_FORMAT);
        free(more);
        later.flags = 1; /* of a later version */
        fails(filters_decode(&k, &later, 1, 0, stream, len, 3000, 3000, &back),
              DREP_ERR_UNSUPPORTED);
        free(stream);
    }
    buf_release(&back);
    codec_release(&k);
}
END_TEST

/* A stream that does not say how long its input was is decoded into room that grows with what the
 * stream can become, and a heap of any length comes back. */
START_TEST(test_streams_that_grow)
{
    const struct filter_rec *f = &compressor[_i];
    uint8_t *heap = calloc(1 << 20, 1), *stream;
    struct codec k = {0};
    struct buf back = {0};
    size_t len;

    for (size_t size = 1000; built_in(f) && size <= 1 << 20; size = size * 5 / 2) {
        for (size_t i = 0; i < size; i += 997)
            heap[i] = (uint8_t)i;
        stream = stream_of(&k, f, heap, size, 16, &len);
        ok(filters_decode(&k, f, 1, 0, stream, len, 16, 1 << 24, &back));
        ck_assert_msg(back.len == size && memcmp(back.p, heap, size) == 0, "%s, %zu bytes",
                      fmt_filter_name(f->id), size);
        ck_assert_msg(back.size <= 4 * size + 64, "%s: %zu bytes of room for %zu",
                      fmt_filter_name(f->id), back.size, size);
        free(stream);
        buf_release(&back);
    }
    free(heap);
    codec_release(&k);
}
END_TEST

START_TEST(test_every_form_of_shuffle)
{
    static const size_t many[] = {255, 256, 257, 1000, 2047, 2048, 2049, 4104};

    isa_limit((enum isa)_i);
    for (size_t s = 1; s <= 70; s++) {
        for (size_t n = 0; n < 70; n++)
            try_shuffle(n, s);
        for (size_t i = 0; i < sizeof many / sizeof *many; i++)
            try_shuffle(many[i], s);
    }
    try_shuffle(40, 1000);
    isa_limit(ISAS);
}
END_TEST

/* ---- pipelines ---- */

static struct filter_rec rec_of(int id, uint32_t a, uint32_t b)
{
    return (struct filter_rec){
        .id = (uint16_t)id, .nparams = id == FMT_FILTER_DELTA ? 2 : 1, .param = {a, b}};
}

/* Every list of up to three filters gives back what went in, of any length and with any
 * part of it fixed. */
START_TEST(test_lists_of_filters)
{
    const struct filter_rec all[] = {
        rec_of(FMT_FILTER_SHUFFLE, 4, 0), rec_of(FMT_FILTER_BITSHUFFLE, 3, 0),
        rec_of(FMT_FILTER_DELTA, 2, 1),   rec_of(FMT_FILTER_DELTA, 8, 0),
        rec_of(FMT_FILTER_DEFLATE, 1, 0), rec_of(FMT_FILTER_ZSTD, 1, 0),
        rec_of(FMT_FILTER_LZ4, 1, 0),     rec_of(FMT_FILTER_LZ4, 9, 0),
    };
    static const size_t sizes[] = {0, 1, 7, 9, 10, 64, 1000, 5000};
    enum { N = sizeof all / sizeof *all };
    struct codec codec = {0};
    struct buf out = {0};
    int tried = 0;

    for (int list = 0; list < (N + 1) * (N + 1) * (N + 1); list++) {
        struct filter_rec f[3];
        int n = 0, usable = 1;

        for (int at = list, i = 0; i < 3; i++, at /= N + 1)
            if (at % (N + 1) < N)
                f[n++] = all[at % (N + 1)];
        for (int i = 0; i < n; i++)
            usable &= filter_available(f[i].id);
        for (size_t k = 0; usable && k < sizeof sizes / sizeof *sizes; k++) {
            size_t size = sizes[k], fixed = k % 2 ? size : size * 2 / 3;
            uint8_t *in = malloc(size + 1);
            uint32_t skipped;
            struct span got;

            for (size_t i = 0; i < size; i++) /* half of the lists get something to shrink */
                in[i] = (uint8_t)(list % 2 ? i / 40 : (i * i * 2654435761u) >> 13);
            ok(filters_encode(&codec, f, n, in, size, fixed, &got, &skipped));
            ck_assert_msg(got.len <= size, "list %d: %zu bytes became %zu", list, size, got.len);
            {
                uint8_t *stored = malloc(got.len + 1);

                memcpy(stored, got.p, got.len);
                ok(filters_decode(&codec, f, n, skipped, stored, got.len, fixed, size, &out));
                free(stored);
            }
            ck_assert_uint_eq(out.len, size);
            ck_assert_msg(size == 0 || memcmp(out.p, in, size) == 0, "list %d, %zu bytes", list,
                          size);
            free(in);
            tried++;
        }
    }
    ck_assert_int_gt(tried, 200);
    buf_release(&out);
    codec_release(&codec);
}
END_TEST

/* However much a stream may give or claims to give, memory is made for no more than its bytes can
 * become. */
START_TEST(test_claims_are_bounded)
{
    /* A frame of zstd and a stream of hdf5-lz4 that claim 2^40 bytes. */
    static const uint8_t frame[20] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1};
    static const uint8_t framed[20] = {0, 0, 1, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 4};
    struct codec codec = {0};
    struct buf out = {0};

    for (int i = 0; i < COMPRESSORS; i++) {
        const struct filter_rec *f = &compressor[i];
        const uint8_t *stored = f->id == FMT_FILTER_HDF5_LZ4 ? framed : frame;

        if (!built_in(f))
            continue;
        fails(filters_decode(&codec, f, 1, 0, stored, 20, 4096, 4096, &out), DREP_ERR_FORMAT);
        fails(filters_decode(&codec, f, 1, 0, stored, 20, 4096, UINT64_MAX, &out), DREP_ERR_FORMAT);
        ck_assert_uint_le(out.size, (size_t)20 << 17);
    }
    buf_release(&out);
    codec_release(&codec);
}
END_TEST

/* A sum of HDF5 with more bytes in front of it than the payload may have. */
START_TEST(test_more_bytes_than_the_payload_before_a_sum)
{
    const struct filter_rec f = {.id = HDF5_FLETCHER32, .flags = FMT_FILTER_HDF5};
    struct codec codec = {0};
    struct buf out = {0};

    for (size_t size = 15; size <= 64; size++) {
        uint8_t *stored = noise(size + FLETCHER32_SIZE, 7);

        ck_assert_uint_eq(fletcher32_add(stored, size), FLETCHER32_SIZE);
        if (size > 16) {
            fails(filters_decode(&codec, &f, 1, 0, stored, size + FLETCHER32_SIZE, 16, 16, &out),
                  DREP_ERR_FORMAT);
            ck_assert_str_eq(drep_error(), "fletcher32: stands behind more than 16 bytes (R8.58)");
            codec.limit = size - 1;
            fails(filters_decode(&codec, &f, 1, 0, stored, size + FLETCHER32_SIZE, 16, size - 1,
                                 &out),
                  DREP_ERR_LIMIT);
            codec.limit = 0;
        } else {
            ok(filters_decode(&codec, &f, 1, 0, stored, size + FLETCHER32_SIZE, 16, 16, &out));
            ck_assert_uint_eq(out.len, size);
        }
        free(stored);
        buf_release(&out);
    }
    codec_release(&codec);
}
END_TEST

/* Whatever a stream's bytes are: an error, or as many bytes as it says. */
START_TEST(test_damaged_streams)
{
    static const int ids[] = {FMT_FILTER_DEFLATE, FMT_FILTER_ZSTD, FMT_FILTER_LZ4,
                              FMT_FILTER_DELTA};
    struct codec codec = {0};
    struct buf out = {0};
    uint8_t in[600];

    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i % 50);
    for (int i = 0; i < 4; i++) {
        struct filter_rec f[] = {rec_of(FMT_FILTER_SHUFFLE, 4, 0), rec_of(ids[i], 1, 0)};
        uint32_t skipped;
        struct span got;
        uint8_t *copy;
        size_t len;

        if (!filter_available(ids[i]))
            continue;
        ok(filters_encode(&codec, f, 2, in, sizeof in, sizeof in, &got, &skipped));
        copy = malloc(got.len);
        len = got.len;
        memcpy(copy, got.p, len);
        for (size_t bit = 0; bit < 8 * len; bit++) {
            copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
            if (filters_decode(&codec, f, 2, skipped, copy, len, sizeof in, sizeof in, &out) == 0)
                ck_assert_uint_le(out.len, sizeof in);
            copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        for (size_t cut = 0; cut < len; cut++)
            if (filters_decode(&codec, f, 2, skipped, copy, cut, sizeof in, sizeof in, &out) == 0)
                ck_assert_uint_le(out.len, sizeof in);
        free(copy);
    }
    buf_release(&out);
    codec_release(&codec);
}
END_TEST

/* tests/vectors/bad/lz4-distance-0.drep: LZ4's library gives zeros for a match at distance 0. Who
 * has not verified the sum, or checks all, looks for it; so does who adds up what a stream gives.
 */
START_TEST(test_a_match_at_distance_0)
{
    static const uint8_t stream[] = {0x16, 'A', 0, 0, 0x50, 'a', 'b', 'c', 'd', 'e'};
    struct filter_rec f = rec_of(FMT_FILTER_LZ4, 1, 0);
    struct codec codec = {0};
    struct buf out = {0};
    uint8_t elements[16];
    char path[200];
    drep_info *info;
    drep_dataset *ds;
    drep_file *file;
    int64_t n = 0;

    if (!filter_available(FMT_FILTER_LZ4))
        return;
    ok(filters_decode(&codec, &f, 1, 0, stream, sizeof stream, 16, 16, &out));
    fails(filters_decode(&codec, &f, 1, 0, stream, sizeof stream, 8, 16, &out), DREP_ERR_FORMAT);
    codec.strict = true;
    fails(filters_decode(&codec, &f, 1, 0, stream, sizeof stream, 16, 16, &out), DREP_ERR_FORMAT);
    buf_release(&out);
    codec_release(&codec);

    snprintf(path, sizeof path, "%s/vectors/bad/lz4-distance-0.drep", TESTS_DIR);
    ok(drep_info_new(&info));
    ok(drep_info_set(info, "drep_verify", "off"));
    ok(drep_open(path, DREP_RDONLY, info, &file));
    ok(drep_dataset_open(file, "c", &ds));
    fails(drep_read(ds, NULL, NULL, elements, NULL), DREP_ERR_FORMAT);
    drep_dataset_close(ds);
    ok(drep_check(file, 1, NULL, NULL, &n));
    ck_assert(n > 0);
    drep_abandon(file);
    drep_info_free(info);
}
END_TEST

/* ---- users' filters ---- */

/* Each byte changed by the first parameter, and a byte more per second parameter. */
static int longer(const uint32_t *params, int nparams, const void *in, size_t in_size, void *out,
                  size_t *out_size, void *extra_state)
{
    size_t more = nparams > 1 ? params[1] : 0;

    ck_assert_str_eq(extra_state, "state");
    if (in_size + more <= *out_size) {
        for (size_t i = 0; i < in_size; i++)
            ((uint8_t *)out)[i] = (uint8_t)(((const uint8_t *)in)[i] ^ params[0]);
        memset((uint8_t *)out + in_size, 0xee, more);
    }
    *out_size = in_size + more;
    return 0;
}

static int shorter(const uint32_t *params, int nparams, const void *in, size_t in_size, void *out,
                   size_t *out_size, void *extra_state)
{
    size_t more = nparams > 1 ? params[1] : 0;

    (void)extra_state;
    if (in_size - more > *out_size)
        return 7;
    for (size_t i = 0; i < in_size - more; i++)
        ((uint8_t *)out)[i] = (uint8_t)(((const uint8_t *)in)[i] ^ params[0]);
    *out_size = in_size - more;
    return 0;
}

static int failing(const uint32_t *params, int nparams, const void *in, size_t in_size, void *out,
                   size_t *out_size, void *extra_state)
{
    (void)nparams;
    (void)in;
    (void)out;
    (void)extra_state;
    *out_size = in_size;
    return (int)params[0];
}

static void register_all(void)
{
    static int done;

    if (done++)
        return;
    ok(drep_register_filter("test-kept", longer, shorter, (void *)"state", DREP_FILTER_KEEP));
    ok(drep_register_filter("test-dropped", longer, shorter, (void *)"state", 0));
    ok(drep_register_filter("test-failing", failing, failing, NULL, DREP_FILTER_KEEP));
    ok(drep_register_filter("test-reader", NULL, shorter, NULL, 0));
}

START_TEST(test_registering)
{
    char name[200];

    register_all();
    memset(name, 'x', sizeof name);
    name[DREP_MAX_FILTER_NAME] = '\0';
    fails(drep_register_filter(name, longer, shorter, NULL, 0), DREP_ERR_NAME);
    fails(drep_register_filter("", longer, shorter, NULL, 0), DREP_ERR_NAME);
    fails(drep_register_filter(NULL, longer, shorter, NULL, 0), DREP_ERR_NAME);
    fails(drep_register_filter("test-a", longer, NULL, NULL, 0), DREP_ERR_ARG);
    fails(drep_register_filter("test-a", longer, shorter, NULL, 4), DREP_ERR_ARG);
    fails(drep_register_filter("test-kept", longer, shorter, NULL, 0), DREP_ERR_EXISTS);
    fails(drep_register_filter("shuffle", longer, shorter, NULL, 0), DREP_ERR_EXISTS);
    name[DREP_MAX_FILTER_NAME - 1] = '\0';
    ok(drep_register_filter(name, longer, shorter, NULL, 0));
}
END_TEST

enum { ROWS = 40, COLUMNS = 50 };

static drep_dataset *user_dataset(drep_file *f, const char *path, const drep_filter *filter, int n)
{
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = (int64_t[]){ROWS, COLUMNS},
                               .chunk = (int64_t[]){16, 16}, .filters = filter, .nfilters = n);
    drep_dataset *ds;

    ok(drep_dataset_create(f, path, &spec, &ds));
    return ds;
}

static void fill_and_compare(drep_dataset *ds, int write)
{
    static int32_t v[ROWS][COLUMNS], back[ROWS][COLUMNS];

    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++)
            v[i][k] = i * 1000 + k;
    if (write)
        ok(drep_write(ds, NULL, NULL, v, NULL));
    memset(back, 0, sizeof back);
    ok(drep_read(ds, NULL, NULL, back, NULL));
    ck_assert_mem_eq(v, back, sizeof v);
}

START_TEST(test_users_filters_in_files)
{
    const uint32_t many[255] = {0xa5, 100, [254] = 7};
    const drep_filter all = {
        .id = DREP_FILTER_USER, .name = "test-kept", .nparams = 255, .params = many};
    const drep_filter kept[] = {
        {.id = DREP_FILTER_SHUFFLE},
        {.id = DREP_FILTER_USER, .name = "test-kept", .nparams = 2, .param = {0xa5, 100}}};
    drep_filter dropped = {.id = DREP_FILTER_USER, .name = "test-dropped", .nparams = 8};
    const char *path = temp_path("users.drep");
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    drep_dsusage usage = DREP_DSUSAGE;
    drep_file *f;

    register_all();
    ok(drep_create(path, 0, "external32", NULL, &f));
    ds = user_dataset(f, "/kept", kept, 2);
    fill_and_compare(ds, 1);
    drep_dataset_close(ds);
    ds = user_dataset(f, "/dropped", &dropped, 1);
    fill_and_compare(ds, 1);
    drep_dataset_close(ds);
    ds = user_dataset(f, "/all", &all, 1);
    fill_and_compare(ds, 1);
    drep_dataset_close(ds);
    ok(drep_close(f));

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/kept", &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.nfilters, 2);
    ck_assert_int_eq(info.filters[1].id, DREP_FILTER_USER);
    ck_assert_str_eq(info.filters[1].name, "test-kept");
    ck_assert_int_eq(info.filters[1].nparams, 2);
    ck_assert_uint_eq(info.filters[1].param[0], 0xa5);
    ck_assert_ptr_null(info.filters[0].name);
    ck_assert_mem_eq(info.filters[1].params, info.filters[1].param, 8);
    ok(drep_dataset_usage(ds, &usage));
    ck_assert_int_eq(usage.chunks, 12);
    ck_assert_int_eq(usage.bytes, 12 * (16 * 16 * 4 + 100 + 16)); /* always applied */
    fill_and_compare(ds, 0);
    drep_dataset_close(ds);
    ok(drep_dataset_open(f, "/dropped", &ds));
    ok(drep_dataset_usage(ds, &usage));
    ck_assert_int_eq(usage.bytes, 12 * 16 * 16 * 4); /* never, because it did not shrink */
    fill_and_compare(ds, 0);
    drep_dataset_close(ds);
    ok(drep_dataset_open(f, "/all", &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.filters[0].nparams, 255);
    ck_assert_mem_eq(info.filters[0].params, many, sizeof many);
    fill_and_compare(ds, 0);
    drep_dataset_close(ds);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_users_filters_that_fail)
{
    drep_filter f1 = {.id = DREP_FILTER_USER, .name = "test-failing", .nparams = 1, .param = {3}};
    drep_filter big = {
        .id = DREP_FILTER_USER, .name = "test-kept", .nparams = 2, .param = {1, 1 << 20}};
    drep_filter reader = {.id = DREP_FILTER_USER, .name = "test-reader", .nparams = 1};
    drep_filter bad[] = {{.id = DREP_FILTER_USER},
                         {.id = DREP_FILTER_USER, .name = "test-kept", .nparams = 9},
                         {.id = DREP_FILTER_USER, .name = "test-kept", .nparams = -1},
                         {.id = DREP_FILTER_USER, .name = "test-unknown"},
                         {.id = DREP_FILTER_USER + 1, .name = "test-kept"},
                         {.id = DREP_FILTER_DEFLATE, .level = 13},
                         {.id = DREP_FILTER_ZSTD, .level = 23},
                         {.id = DREP_FILTER_LZ4, .level = -2}};
    static const int why[] = {DREP_ERR_NAME,        DREP_ERR_ARG,         DREP_ERR_ARG,
                              DREP_ERR_UNSUPPORTED, DREP_ERR_UNSUPPORTED, DREP_ERR_ARG,
                              DREP_ERR_ARG,         DREP_ERR_ARG};
    static int32_t v[ROWS * COLUMNS] = {1};
    drep_dataset *ds;
    drep_file *f;

    register_all();
    ok(drep_create(":memory:", 0, "external32", NULL, &f));
    for (int i = 0; i < 8; i++) {
        drep_spec spec = DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = (int64_t[]){4},
                                   .filters = &bad[i], .nfilters = 1);

        if (bad[i].id < DREP_FILTER_USER && !drep_filter_available(bad[i].id))
            continue;
        fails(drep_dataset_create(f, "/bad", &spec, NULL), why[i]);
    }
    ds = user_dataset(f, "/failing", &f1, 1);
    fails(drep_write(ds, NULL, NULL, v, NULL), DREP_ERR_CONVERSION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "test-failing"));
    ok(drep_read(ds, NULL, NULL, v, NULL)); /* nothing was stored */
    ck_assert_int_eq(v[0], 0);
    drep_dataset_close(ds);
    ds = user_dataset(f, "/big", &big, 1);
    fails(drep_write(ds, NULL, NULL, v, NULL), DREP_ERR_CONVERSION);
    drep_dataset_close(ds);
    ds = user_dataset(f, "/reader", &reader, 1);
    fails(drep_write(ds, NULL, NULL, v, NULL), DREP_ERR_UNSUPPORTED);
    drep_dataset_close(ds);
    drep_abandon(f);
}
END_TEST

static uint8_t changes; /* what "test-changed" and "test-lossy" do to each byte when they decode */

static int copying(const uint32_t *params, int nparams, const void *in, size_t in_size, void *out,
                   size_t *out_size, void *extra_state)
{
    const uint8_t *change = extra_state;

    (void)params, (void)nparams;
    for (size_t i = 0; i < in_size && in_size <= *out_size; i++)
        ((uint8_t *)out)[i] = ((const uint8_t *)in)[i] ^ (change ? *change : 0);
    *out_size = in_size;
    return 0;
}

static int plain_copy(const uint32_t *params, int nparams, const void *in, size_t in_size,
                      void *out, size_t *out_size, void *extra_state)
{
    (void)extra_state;
    return copying(params, nparams, in, in_size, out, out_size, NULL);
}

/* The sum in front of a stream proves that the decoder is the author's; one that loses something is
 * found when it encodes, or has no sum. */
START_TEST(test_sums_of_users_filters)
{
    drep_filter changed = {.id = DREP_FILTER_USER, .name = "test-changed"};
    drep_filter lossy = {.id = DREP_FILTER_USER, .name = "test-lossy"};
    static int32_t v[ROWS * COLUMNS];
    const char *path = temp_path("sums.drep");
    drep_dataset *ds;
    drep_file *f;

    ok(drep_register_filter("test-changed", plain_copy, copying, &changes, DREP_FILTER_KEEP));
    ok(drep_register_filter("test-lossy", plain_copy, copying, &changes,
                            DREP_FILTER_KEEP | DREP_FILTER_NO_SUM));
    ok(drep_create(path, 0, "external32", NULL, &f));
    changes = 1;
    ds = user_dataset(f, "/lossy", &lossy, 1);
    ok(drep_write(ds, NULL, NULL, v, NULL));
    drep_dataset_close(ds);
    ds = user_dataset(f, "/changed", &changed, 1);
    fails(drep_write(ds, NULL, NULL, v, NULL), DREP_ERR_CONVERSION);
    ck_assert_msg(strstr(drep_error(), "DREP_FILTER_NO_SUM") != NULL, "%s", drep_error());
    changes = 0;
    fill_and_compare(ds, 1);
    drep_dataset_close(ds);
    fails(drep_close(f), DREP_ERR_CONVERSION); /* of the write that failed */
    changes = 1;
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/lossy", &ds));
    ok(drep_read(ds, NULL, NULL, v, NULL));
    ck_assert_int_eq(v[0], 0x01010101);
    drep_dataset_close(ds);
    ok(drep_dataset_open(f, "/changed", &ds));
    fails(drep_read(ds, NULL, NULL, v, NULL), DREP_ERR_CHECKSUM);
    ck_assert_msg(strstr(drep_error(), "\"test-changed\"") && strstr(drep_error(), "/changed") &&
                      strstr(drep_error(), "chunk (0,0)"),
                  "%s", drep_error());
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* As many filters as the record of a chunk has bits for. */
START_TEST(test_thirty_two_filters)
{
    drep_filter list[33];
    drep_dataset *ds;
    drep_file *f;

    for (int i = 0; i < 33; i++)
        list[i] = (drep_filter){.id = DREP_FILTER_DELTA};
    list[31] = (drep_filter){.id = DREP_FILTER_LZ4, .level = 1};
    if (!drep_filter_available(DREP_FILTER_LZ4))
        return;
    ok(drep_create(":memory:", 0, "external32", NULL, &f));
    ds = user_dataset(f, "/x", list, 32);
    fill_and_compare(ds, 1);
    fill_and_compare(ds, 0);
    drep_dataset_close(ds);
    fails(drep_dataset_create(f, "/y",
                              &DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = (int64_t[]){4},
                                         .filters = list, .nfilters = 33),
                              NULL),
          DREP_ERR_ARG);
    drep_abandon(f);
}
END_TEST

/* Who does not have the filter can do everything but those elements. */
START_TEST(test_a_filter_that_nobody_has)
{
    const char *path = TESTS_DIR "/vectors/user-filter.drep";
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    drep_file *f;
    int32_t v[12];

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/between", &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_str_eq(info.filters[1].name, "mirror");
    fails(drep_read(ds, NULL, NULL, v, NULL), DREP_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(drep_error(), "filter \"mirror\"") != NULL, "%s", drep_error());
    drep_dataset_close(ds);
    ok(drep_dataset_open(f, "/skipped", &ds));
    ok(drep_read(ds, NULL, NULL, v, NULL));
    for (int i = 0; i < 12; i++)
        ck_assert_int_eq(v[i], 7 * i * i - 300);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("filter");
    TCase *t = tcase_create("filter");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, test_streams, 0, COMPRESSORS);
    tcase_add_loop_test(t, test_streams_that_grow, 0, COMPRESSORS);
    tcase_add_loop_test(t, test_every_form_of_shuffle, 0, ISAS);
    tcase_add_test(t, test_lists_of_filters);
    tcase_add_test(t, test_claims_are_bounded);
    tcase_add_test(t, test_more_bytes_than_the_payload_before_a_sum);
    tcase_add_test(t, test_damaged_streams);
    tcase_add_test(t, test_a_match_at_distance_0);
    tcase_add_test(t, test_registering);
    tcase_add_test(t, test_users_filters_in_files);
    tcase_add_test(t, test_users_filters_that_fail);
    tcase_add_test(t, test_sums_of_users_filters);
    tcase_add_test(t, test_thirty_two_filters);
    tcase_add_test(t, test_a_filter_that_nobody_has);
    suite_add_tcase(s, t);
    return run_suite(s);
}
