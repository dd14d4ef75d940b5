/* test_data_hints.c - hints of containers (requirement H): which are kept, which are
 * honoured, which say nothing. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char *value_of(drep_info *info, const char *key)
{
    const char *v = drep_info_get(info, key);

    ck_assert_msg(v != NULL, "no %s", key);
    return v;
}

static drep_file *create(const char *path, drep_info *info)
{
    drep_file *f;

    ok(drep_create(path, DREP_RDWR, "external32", info, &f));
    drep_info_free(info);
    return f;
}

/* Opens with these hints, which it frees. */
static drep_file *reopen(const char *path, int amode, drep_info *info)
{
    drep_file *f;

    ok(drep_open(path, amode, info, &f));
    drep_info_free(info);
    return f;
}

START_TEST(test_C4_H3_all_supported_hints_and_nothing_else)
{
    static const char *const keys[] = {
#define X(key, kind, value) key,
#include "format/hints.def"
#undef X
    };
    const int n = (int)(sizeof keys / sizeof *keys);
    const char *path = temp_path("all");
    drep_file *f = create(path, hints("cb_nodes=7", "nobody's=1", "nb_proc=many", "drep_keep=5",
                                      "drep_sync=none", "filename=elsewhere", (char *)NULL));
    drep_info *info;

    for (int pass = 0; pass < 2; pass++) {
        ok(drep_get_info(f, &info));
        ck_assert_int_eq(drep_info_count(info), n);
        for (int i = 0; i < n; i++)
            value_of(info, keys[i]);
        ck_assert_str_eq(value_of(info, "cb_nodes"), "1"); /* in force: there is one process */
        ck_assert_str_eq(value_of(info, "nb_proc"), "1");  /* what does not parse is ignored */
        ck_assert_str_eq(value_of(info, "drep_keep"), "5");
        ck_assert_str_eq(value_of(info, "filename"), path); /* output only */
        ck_assert_str_eq(value_of(info, "drep_sync"), pass == 0 ? "none" : "commit");
        drep_info_free(info);
        ok(drep_close(f));
        ok(drep_open(path, DREP_RDONLY, NULL, &f)); /* the header remembers */
    }
    ok(drep_header_hints(f, &info));
    ck_assert_ptr_null(drep_info_get(info, "nobody's"));
    ck_assert_ptr_null(drep_info_get(info, "drep_sync")); /* of the handle, not the file */
    ck_assert_str_eq(value_of(info, "cb_nodes"), "7");
    drep_info_free(info);
    ok(drep_close(f));
    info = hints("cb_nodes=1", (char *)NULL); /* even the default, when it is asked for */
    ok(drep_open(path, DREP_RDONLY, info, &f));
    drep_info_free(info);
    ok(drep_get_info(f, &info));
    ck_assert_str_eq(value_of(info, "cb_nodes"), "1");
    drep_info_free(info);
    ok(drep_close(f));
}
END_TEST

/* What cannot be in force is not reported, nor stored. */
START_TEST(test_H1_H3_values_that_cannot_be_in_force)
{
    static const char *const pairs[] = {"cb_buffer_size=-1",
                                        "cb_buffer_size=0",
                                        "cb_nodes=0",
                                        "access_style=foo",
                                        "access_style=random,foo",
                                        "access_style=rand",
                                        "drep_threads=-1",
                                        "drep_keep=0",
                                        "drep_sync=never",
                                        "drep_sync=comm",
                                        "drep_checksum=off",
                                        "drep_verify=maybe",
                                        "drep_uuid=zz",
                                        "drep_uuid=0011",
                                        "drep_cache_size=-1",
                                        "drep_chunk_max=0",
                                        "striping_unit=0",
                                        "chunked=0,5",
                                        "chunked_size=-1",
                                        "drep_fetch_size=-1",
                                        "collective_buffering=yes",
                                        "drep_limit_chunk=0",
                                        "nb_proc=-4"};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        drep_file *f = create(":memory:", hints(pairs[i], (char *)NULL)), *plain;
        char key[40];
        drep_info *info, *other;

        snprintf(key, sizeof key, "%.*s", (int)strcspn(pairs[i], "="), pairs[i]);
        ok(drep_header_hints(f, &info));
        ck_assert_msg(!drep_info_get(info, key), "%s", pairs[i]);
        drep_info_free(info);
        plain = create(":memory:", NULL);
        ok(drep_get_info(f, &info));
        ok(drep_get_info(plain, &other));
        ck_assert_msg(strcmp(value_of(info, key), value_of(other, key)) == 0, "%s", pairs[i]);
        drep_info_free(info);
        drep_info_free(other);
        drep_abandon(plain);
        info = hints(pairs[i], (char *)NULL);
        ok(drep_set_info(f, info));
        drep_info_free(info);
        ok(drep_header_hints(f, &info));
        ck_assert_msg(!drep_info_get(info, key), "%s", pairs[i]);
        drep_info_free(info);
        drep_abandon(f);
    }
}
END_TEST

/* ---- access_style ---- */

static int last_advice;

/* In place of the C library's: what the library advises. */
int posix_fadvise(int fd, off_t offset, off_t len, int advice)
{
    (void)fd;
    (void)offset;
    (void)len;
    last_advice = advice;
    return 0;
}

static int decoded;

static int copy_filter(const uint32_t *params, int nparams, const void *in, size_t in_size,
                       void *out, size_t *out_size, void *extra_state)
{
    (void)params;
    (void)nparams;
    if (*out_size >= in_size)
        memcpy(out, in, in_size);
    *out_size = in_size;
    decoded += extra_state != NULL;
    return 0;
}

static int decode_filter(const uint32_t *params, int nparams, const void *in, size_t in_size,
                         void *out, size_t *out_size, void *extra_state)
{
    return copy_filter(params, nparams, in, in_size, out, out_size, extra_state);
}

static int encode_filter(const uint32_t *params, int nparams, const void *in, size_t in_size,
                         void *out, size_t *out_size, void *extra_state)
{
    (void)extra_state;
    return copy_filter(params, nparams, in, in_size, out, out_size, NULL);
}

/* The system is told how the file is read, and a chunk that is read three times is
 * decoded as often as the style wants it: once it was read a second time it stays, except under
 * read_once; under random it stays at once. */
START_TEST(test_H_access_style)
{
    static const struct {
        const char *hint;
        int advice, decoded;
    } cases[] = {{"access_style=read_mostly", POSIX_FADV_NORMAL, 2},
                 {"access_style=sequential", POSIX_FADV_SEQUENTIAL, 2},
                 {"access_style=reverse_sequential", POSIX_FADV_RANDOM, 2},
                 {"access_style=random", POSIX_FADV_RANDOM, 1},
                 {"access_style=read_once , sequential", POSIX_FADV_SEQUENTIAL, 3}};
    const int64_t n = 8 * 4096, start = 0, count = 4096;
    const drep_filter filter = {.id = DREP_FILTER_USER, .name = "counted"};
    const drep_spec spec =
        DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = &n, .layout = DREP_CHUNKED, .chunk = &count,
                  .filters = &filter, .nfilters = 1);
    static int v[8 * 4096];
    const char *path = temp_path("style");
    drep_file *f = create(path, NULL);
    drep_dataset *ds;
    drep_info *info;

    ok(drep_register_filter("counted", encode_filter, decode_filter, v,
                            DREP_FILTER_KEEP | DREP_FILTER_NO_SUM));
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, v, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        last_advice = POSIX_FADV_NORMAL; /* as a file is read without advice */
        decoded = 0;
        f = reopen(path, DREP_RDONLY, hints(cases[i].hint, "drep_cache_size=100000", (char *)NULL));
        ck_assert_msg(last_advice == cases[i].advice, "%s: %d", cases[i].hint, last_advice);
        ok(drep_dataset_open(f, "d", &ds));
        for (int pass = 0; pass < 3; pass++)
            ok(drep_read_box(ds, &start, &count, NULL, v, NULL));
        ck_assert_msg(decoded == cases[i].decoded, "%s: %d", cases[i].hint, decoded);
        info = hints("access_style=random", (char *)NULL);
        ok(drep_set_info(f, info));
        drep_info_free(info);
        ck_assert_int_eq(last_advice, POSIX_FADV_RANDOM);
        info = hints("access_style=read_mostly", (char *)NULL);
        ok(drep_set_info(f, info));
        drep_info_free(info);
        ck_assert_int_eq(last_advice, POSIX_FADV_NORMAL);
        drep_dataset_close(ds);
        ok(drep_close(f));
    }
}
END_TEST

/* Nobody chose a layout: the hints do. */
START_TEST(test_H_chunked_without_a_layout)
{
    const int64_t dims[] = {100, 60}, other[] = {60, 100};
    drep_spec spec = DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = dims);
    drep_file *f = create(":memory:", hints("chunked=100,60", "chunked_size=10,20", (char *)NULL));
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;

    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.layout, DREP_CHUNKED);
    ck_assert(info.chunk[0] == 10 && info.chunk[1] == 20);
    drep_dataset_close(ds);
    spec.dims = other;
    ok(drep_dataset_create(f, "e", &spec, &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.layout, DREP_CONTIGUOUS);
    drep_dataset_close(ds);
    spec.dims = dims;
    spec.layout = DREP_CONTIGUOUS; /* the caller did */
    ok(drep_dataset_create(f, "g", &spec, &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.layout, DREP_CONTIGUOUS);
    drep_dataset_close(ds);
    drep_abandon(f);
}
END_TEST

START_TEST(test_H1_H2_setting_some)
{
    drep_file *f = create(":memory:", hints("cb_nodes=3", (char *)NULL));
    drep_info *info = hints("access_style=random,read_mostly", "cb_nodes=x", "unknown=1",
                            "drep_keep=9", (char *)NULL);

    ok(drep_set_info(f, info));
    drep_info_free(info);
    ok(drep_get_info(f, &info));
    ck_assert_str_eq(value_of(info, "access_style"), "random,read_mostly");
    ck_assert_str_eq(value_of(info, "cb_nodes"), "1");
    ck_assert_ptr_null(drep_info_get(info, "unknown"));
    ck_assert_str_eq(value_of(info, "drep_keep"), "2"); /* acts when a file is opened */
    ok(drep_set_info(f, info)); /* what it gives it takes, empty values too */
    ok(drep_close(create(":memory:", info)));
    fails(drep_set_info(f, NULL), DREP_ERR_ARG);
    fails(drep_get_info(f, NULL), DREP_ERR_ARG);
    ok(drep_close(f));
}
END_TEST

/* A header holds texts; what is none is ignored as any other value that is not valid. */
START_TEST(test_H3_values_that_are_no_text)
{
    const char *path = temp_path("text");
    drep_file *f = create(
        path, hints("io_node_list=n\xf6", "num_io_nodes=3", "drep_machine=\xf6", (char *)NULL));
    drep_info *info = hints("io_node_list=\xff", (char *)NULL);
    drep_header header = DREP_HEADER;

    ok(drep_set_info(f, info));
    drep_info_free(info);
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_header_hints(f, &info));
    ck_assert_int_eq(drep_info_count(info), 1);
    ck_assert_str_eq(value_of(info, "num_io_nodes"), "3");
    drep_info_free(info);
    ok(drep_header_get(f, &header));
    ck_assert_str_ne(header.machine, "\xf6");
    ok(drep_close(f));
}
END_TEST

START_TEST(test_H_chunked)
{
    const int64_t dims[] = {100, 60}, other[] = {60, 100};
    drep_spec spec = DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = dims, .layout = DREP_CHUNKED);
    const char *path = temp_path("chunked");
    drep_file *f = create(path, hints("chunked=100, 60", "chunked_size=10 ,20", "chunked_item=4",
                                      "drep_sync=none", (char *)NULL));
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    drep_info *kept;

    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.chunk[0], 10);
    ck_assert_int_eq(info.chunk[1], 20);
    drep_dataset_close(ds);
    spec.dims = other; /* the hint speaks of another array */
    ok(drep_dataset_create(f, "e", &spec, &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_ne(info.chunk[0], 10);
    drep_dataset_close(ds);
    spec.dims = dims;
    spec.type = DREP_DOUBLE; /* of other items */
    ok(drep_dataset_create(f, "g", &spec, &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_ne(info.chunk[0], 10);
    drep_dataset_close(ds);
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_header_hints(f, &kept));
    ck_assert_str_eq(value_of(kept, "chunked_size"), "10 ,20");
    drep_info_free(kept);
    ok(drep_close(f));
}
END_TEST

/* A new file gets the mode that the hint gives; one that replaces another keeps that one's. */
START_TEST(test_H_file_perm)
{
    static const struct {
        const char *name, *hint;
        mode_t mode;
    } row[] = {{"perm0", "file_perm=0666", 0640},
               {"perm1", "file_perm=600", 0600},
               {"perm2", "file_perm=rw", 0640}, /* ignored */
               {"perm1", "file_perm=0666", 0600}};
    const mode_t old = umask(027);
    struct stat st;

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *path = temp_path(row[i].name);

        ok(drep_close(create(path, hints(row[i].hint, (char *)NULL))));
        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert_int_eq(st.st_mode & 0777, row[i].mode);
    }
    umask(old);
}
END_TEST

START_TEST(test_fixed_uuid_time_and_machine)
{
    const char *path[] = {temp_path("u0"), temp_path("u1")};
    static uint8_t bytes[2][1 << 16];
    drep_header h = DREP_HEADER;

    for (int i = 0; i < 2; i++) {
        drep_file *f =
            create(path[i], hints("drep_uuid=f0e1D2c3b4a5968778695a4b3c2d1e0f",
                                  "drep_time=1234567890", "drep_machine=univac", (char *)NULL));
        FILE *p;

        ok(drep_attr_write_int64(f, "/", "a", 5));
        drep_dataset_close(new_dataset(f, "d", DREP_INT, 0, NULL));
        ok(drep_commit(f));
        ok(drep_header_get(f, &h));
        ck_assert_int_eq(h.time, 1234567890);
        ck_assert_str_eq(h.machine, "univac");
        for (int k = 0; k < 16; k++)
            ck_assert_uint_eq(h.uuid[k], 0xf0u - 15 * (unsigned)k);
        ok(drep_close(f));
        p = fopen(path[i], "rb");
        ck_assert_uint_gt(fread(bytes[i], 1, sizeof bytes[i], p), 8192);
        fclose(p);
    }
    ck_assert_int_eq(memcmp(bytes[0], bytes[1], sizeof bytes[0]), 0); /* to the byte */
}
END_TEST

/* Values that would be absurd say nothing. */
START_TEST(test_H1_bad_values)
{
    const int64_t n = 5000;
    static int v[5000], back[5000];
    drep_filter deflate = {.id = DREP_FILTER_DEFLATE};
    int available = drep_filter_available(DREP_FILTER_DEFLATE);
    drep_spec spec = DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = &n,
                               .filters = available ? &deflate : NULL, .nfilters = available);
    drep_file *f = create(temp_path("bad"),
                          hints("striping_unit=-5", "drep_cache_size=-1", "drep_chunk_max=-1",
                                "drep_keep=-7", "drep_threads=-2", "cb_buffer_size=-3",
                                "file_perm=-1", "drep_uuid=zz", (char *)NULL));
    drep_dataset *ds;

    for (int i = 0; i < n; i++)
        v[i] = i;
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, v, NULL));
    ok(drep_commit(f));
    ok(drep_read(ds, NULL, NULL, back, NULL));
    ck_assert_int_eq(memcmp(v, back, sizeof v), 0);
    drep_dataset_close(ds);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

/* D24: a filtered chunk is at most drep_chunk_max, which the file remembers. */
START_TEST(test_D24_chunk_max)
{
    const int64_t n = 5 << 20;
    static int8_t v[5 << 20], back[5 << 20];
    drep_filter filter = {.id = DREP_FILTER_BITSHUFFLE};
    drep_spec spec = DREP_SPEC(.type = DREP_INT8_T, .rank = 1, .dims = &n, .chunk = &n,
                               .filters = &filter, .nfilters = 1);
    drep_dataset *ds;
    drep_file *f;
    drep_dsinfo info = DREP_DSINFO;

    f = create(temp_path("max"), hints("drep_chunk_max=4194304", (char *)NULL));
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(drep_error(), "drep_chunk_max"));
    spec.chunk = NULL;
    ok(drep_dataset_create(f, "d", &spec, &ds)); /* what it chooses fits */
    drep_dataset_close(ds);
    ok(drep_close(f));
    f = create(temp_path("max"), hints("drep_chunk_max=1000", (char *)NULL));
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_le(info.chunk[0], 1000);
    drep_dataset_close(ds);
    ok(drep_close(f));
    spec.chunk = &n;
    spec.type = DREP_DOUBLE;
    f = create(temp_path("max"), hints("drep_chunk_max=50000000", (char *)NULL));
    ok(drep_dataset_create(f, "d", &spec, &ds));
    memset(v, 7, sizeof v);
    ok(drep_write(ds, NULL, DREP_INT8_T, v, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    f = reopen(temp_path("max"), DREP_RDONLY, hints("drep_chunk_max=50000000", (char *)NULL));
    ok(drep_dataset_open(f, "d", &ds));
    ok(drep_read(ds, NULL, DREP_INT8_T, back, NULL));
    ck_assert_int_eq(memcmp(v, back, sizeof v), 0);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

static void in_force(drep_file *f, const char *key, const char *value)
{
    drep_info *info;

    ok(drep_get_info(f, &info));
    ck_assert_str_eq(drep_info_get(info, key), value);
    drep_info_free(info);
}

static void read_small(drep_dataset *ds, int err)
{
    int8_t v[8];
    const int64_t start = 0, count = 8;
    drep_selection *sel;

    ok(drep_select_box(1, &start, &count, NULL, NULL, &sel));
    ck_assert_int_eq(drep_read(ds, sel, NULL, v, NULL), err);
    drep_selection_free(sel);
}

/* What a filtered chunk may decode to is for the opener to say; the file has no part in it. */
START_TEST(test_D24_chunk_limit_is_the_openers)
{
    const int64_t n = 20 << 20;
    static int8_t v[20 << 20];
    drep_filter filter = {.id = DREP_FILTER_DEFLATE, .level = 1};
    drep_spec spec = DREP_SPEC(.type = DREP_INT8_T, .rank = 1, .dims = &n, .chunk = &n,
                               .filters = &filter, .nfilters = 1);
    const char *path = temp_path("limit");
    drep_dataset *ds;
    drep_file *f;
    int64_t found;

    if (!drep_filter_available(DREP_FILTER_DEFLATE))
        return;
    f = create(path, hints("drep_chunk_max=30000000", "striping_unit=67108864", (char *)NULL));
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, DREP_INT8_T, v, NULL));
    read_small(ds, 0); /* its creator opened it */
    drep_dataset_close(ds);
    ok(drep_close(f));

    ok(drep_open(path, DREP_RDWR, NULL, &f));
    in_force(f, "drep_limit_chunk", "16777216");
    in_force(f, "drep_chunk_max", "16777216");
    in_force(f, "striping_unit", "4096");
    ok(drep_dataset_open(f, "d", &ds));
    read_small(ds, DREP_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(drep_error(), "\"d\""));
    ck_assert_ptr_nonnull(strstr(drep_error(), "20971520"));
    ck_assert_ptr_nonnull(strstr(drep_error(), "drep_limit_chunk is 16777216"));
    drep_dataset_close(ds);
    fails(drep_dataset_create(f, "e", &spec, NULL), DREP_ERR_LIMIT);
    ok(drep_check(f, 0, NULL, NULL, &found)); /* the checksums are of stored bytes */
    ck_assert_int_eq(found, 0);
    ok(drep_close(f));

    f = reopen(path, DREP_RDWR, hints("drep_limit_chunk=30000000", (char *)NULL));
    in_force(f, "drep_limit_chunk", "30000000");
    in_force(f, "drep_chunk_max", "30000000");
    ok(drep_dataset_open(f, "d", &ds));
    read_small(ds, 0);
    drep_dataset_close(ds);
    ok(drep_dataset_create(f, "e", &spec, NULL));
    ok(drep_close(f));

    f = reopen(path, DREP_RDONLY, hints("drep_limit_chunk=20971519", (char *)NULL));
    in_force(f, "drep_chunk_max", "16777216");
    ok(drep_dataset_open(f, "d", &ds));
    read_small(ds, DREP_ERR_LIMIT);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

static int only_limits(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)offset;
    (void)ctx;
    ck_assert_int_eq(err, DREP_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(message, "drep_limit_chunk is 1000000"));
    return 0;
}

/* A chunk beyond the limit is not damaged: repair keeps it. */
START_TEST(test_D24_chunk_limit_and_repair)
{
    const int64_t n = 5 << 20;
    static int8_t v[5 << 20], back[5 << 20];
    drep_filter filter = {.id = DREP_FILTER_DEFLATE, .level = 1};
    drep_spec spec = DREP_SPEC(.type = DREP_INT8_T, .rank = 1, .dims = &n, .chunk = &n,
                               .filters = &filter, .nfilters = 1);
    const char *path = temp_path("limit"), *new_path = temp_path("mended");
    drep_dataset *ds;
    drep_info *info;
    drep_file *f;
    int64_t found;

    if (!drep_filter_available(DREP_FILTER_DEFLATE))
        return;
    memset(v, 5, sizeof v);
    f = create(path, NULL);
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, DREP_INT8_T, v, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    info = hints("drep_limit_chunk=1000000", (char *)NULL);
    ok(drep_repair(path, new_path, 0, info, only_limits, NULL, &found));
    drep_info_free(info);
    ck_assert_int_gt(found, 0); /* that it was not looked into */
    ok(drep_open(new_path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "d", &ds));
    ok(drep_read(ds, NULL, DREP_INT8_T, back, NULL));
    ck_assert_int_eq(memcmp(v, back, sizeof v), 0);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data hints");
    TCase *t = tcase_create("hints");

    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_C4_H3_all_supported_hints_and_nothing_else);
    tcase_add_test(t, test_H1_H3_values_that_cannot_be_in_force);
    tcase_add_test(t, test_H_access_style);
    tcase_add_test(t, test_H_chunked_without_a_layout);
    tcase_add_test(t, test_H1_H2_setting_some);
    tcase_add_test(t, test_H3_values_that_are_no_text);
    tcase_add_test(t, test_H_chunked);
    tcase_add_test(t, test_H_file_perm);
    tcase_add_test(t, test_fixed_uuid_time_and_machine);
    tcase_add_test(t, test_H1_bad_values);
    tcase_add_test(t, test_D24_chunk_max);
    tcase_add_test(t, test_D24_chunk_limit_is_the_openers);
    tcase_add_test(t, test_D24_chunk_limit_and_repair);
    suite_add_tcase(s, t);
    return run_suite(s);
}
