/* test_data_single.c - a few elements of variable length at a time: right, and without the rest of
 * their chunk; what is damaged is found where it is asked for. */
/* SPDX-License-Identifier: MIT */
#include "file/file.h"

#include "countio.h"
#include "data_help.h"

enum { LEN = 60000, READS = 300, MOST = 16 };

static uint32_t number_of(int64_t i)
{
    return (uint32_t)(i * 7919 % 2003);
}

static void make_file(const char *path, const char *datarep, int kind, const drep_type *type)
{
    const int64_t len = LEN;
    const drep_spec spec = DREP_SPEC(.type = type, .rank = 1, .dims = &len, .chunk = &len);
    size_t extent = (size_t)drep_type_extent(type);
    drep_file *f = new_file(path, datarep);
    char *values = calloc(LEN, extent);
    drep_dataset *ds;

    for (int64_t i = 0; i < LEN; i++)
        value_make(kind, number_of(i), values + (size_t)i * extent);
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, values, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_vlen_free(type, LEN, values);
    free(values);
}

/* Reads n elements, `step` apart, and compares them. */
static void read_some(drep_dataset *ds, int kind, const drep_type *type, int64_t at, int64_t step,
                      int64_t n)
{
    _Alignas(16) uint8_t got[MOST * VALUE_ROOM] = {0};
    int64_t extent = drep_type_extent(type);
    drep_selection *sel;

    ok(drep_select_box(1, &at, &n, &step, NULL, &sel));
    ok(drep_read(ds, sel, NULL, got, NULL));
    drep_selection_free(sel);
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(value_is(kind, type, number_of(at + i * step), got + i * extent),
                      "element %lld", (long long)(at + i * step));
    drep_vlen_free(type, n, got);
}

START_TEST(test_single_elements_of_every_kind)
{
    const char *path = temp_path("single.drep"), *datarep = datareps[_i];

    register_datareps();
    for (int kind = V_FIXED_KINDS; kind < V_KINDS; kind++) {
        drep_type *type = value_type(kind);
        struct rnd r = {(uint64_t)kind, (uint64_t)kind};
        struct count_file c;
        drep_dataset *ds;
        drep_file *f;

        make_file(path, datarep, kind, type);
        count_init(&c, path);
        c.round_trip = 0;
        ok(file_open_on(count_io(&c), DREP_RDONLY, NULL, 0, &f));
        ok(drep_dataset_open(f, "d", &ds));
        read_some(ds, kind, type, LEN - 1, 1, 1);
        count_reset(&c);
        for (int i = 0; i < READS; i++)
            read_some(ds, kind, type, (int64_t)rnd_below(&r, LEN), 1, 1);
        /* The sums of the chunk, a block of references, and those that its contents stand in. */
        ck_assert_msg(c.bytes < READS * 8 * 4096, "%s, kind %d: %lld bytes in %lld reads", datarep,
                      kind, (long long)c.bytes, (long long)c.reads);
        for (int i = 0; i < READS; i++) {
            int64_t n = 1 + (int64_t)rnd_below(&r, MOST), step = 1 + (int64_t)rnd_below(&r, 3000);

            read_some(ds, kind, type, (int64_t)rnd_below(&r, (uint64_t)(LEN - (n - 1) * step)),
                      step, n);
        }
        for (int i = 0; i < 2000; i++)
            read_some(ds, kind, type, (int64_t)rnd_below(&r, LEN), 1, 1);
        /* The chunk is in the cache by now. */
        count_reset(&c);
        for (int i = 0; i < READS; i++)
            read_some(ds, kind, type, (int64_t)rnd_below(&r, LEN), 1, 1);
        ck_assert_int_eq(c.reads, 0);
        drep_dataset_close(ds);
        ok(drep_close(f));
        count_release(&c);
        drep_type_free(type);
        unlink(path);
    }
}
END_TEST

/* ---- damage ---- */

/* The place of element 1000's text in the file; `reference` is where the element itself stands. */
static long find_text(const struct count_file *c, uint64_t *reference)
{
    char *text = value_text(number_of(1000)), *before = value_text(number_of(999));
    char both[80];
    const uint8_t *p;
    size_t n;

    n = (size_t)snprintf(both, sizeof both, "%s%s", before, text);
    p = memmem(c->p, c->size, both, n);
    ck_assert_ptr_nonnull(p);
    p += strlen(before);
    *reference = 0;
    for (uint64_t at = 0; at + 16 <= c->size && *reference == 0; at += 8) {
        const uint8_t *q = c->p + at;

        /* Count, and an offset that leads from the end of the references to the text. */
        if (q[7] == strlen(text) && memcmp(q, "\0\0\0\0\0\0\0", 7) == 0 &&
            at % 4096 == 16000 % 4096 && q + 16 * (LEN - 1000) <= p &&
            (uint64_t)(p - (q + 16 * (LEN - 1000))) ==
                ((uint64_t)q[12] << 24 | (uint64_t)q[13] << 16 | (uint64_t)q[14] << 8 | q[15]))
            *reference = at;
    }
    free(text);
    free(before);
    return p - c->p;
}

static void read_fails(struct count_file *c, const char *verify, int64_t at, int want,
                       const char *message)
{
    drep_info *info = hints(verify, (char *)NULL);
    const int64_t one = 1;
    char *text = (char *)"kept";
    drep_dataset *ds;
    drep_file *f;

    ok(file_open_on(count_io(c), DREP_RDONLY, info, 0, &f));
    drep_info_free(info);
    ok(drep_dataset_open(f, "d", &ds));
    if (want != 0) {
        fails(drep_read_box(ds, &at, &one, NULL, &text, NULL), want);
        ck_assert_msg(strstr(drep_error(), message) != NULL, "%s", drep_error());
        ck_assert(text == NULL || strcmp(text, "kept") == 0);
    } else {
        ok(drep_read_box(ds, &at, &one, NULL, &text, NULL));
        free(text);
    }
    drep_dataset_close(ds);
    ok(drep_close(f));
}

START_TEST(test_damage_is_found_where_it_is_asked_for)
{
    const char *path = temp_path("damaged.drep");
    drep_type *type = value_type(V_VSTRING);
    struct count_file c;
    uint64_t reference;
    long text;

    make_file(path, "external32", V_VSTRING, type);
    count_init(&c, path);
    c.round_trip = 0;
    text = find_text(&c, &reference);
    ck_assert_uint_ne(reference, 0);
    c.p[text] = '\0';
    read_fails(&c, "drep_verify=on", 1000, DREP_ERR_CHECKSUM, "chunk (0)");
    read_fails(&c, "drep_verify=on", 50000, 0, NULL);
    read_fails(&c, "drep_verify=off", 1000, DREP_ERR_CONVERSION, "its text has a NUL at byte 0");
    read_fails(&c, "drep_verify=off", 1001, 0, NULL);
    c.p[text] = 'x';
    read_fails(&c, "drep_verify=off", 1000, 0, NULL);
    c.p[reference + 3] = 1; /* a count of 2^32 and more */
    read_fails(&c, "drep_verify=on", 1000, DREP_ERR_CHECKSUM, "chunk (0)");
    read_fails(&c, "drep_verify=off", 1000, DREP_ERR_FORMAT, "R5.32");
    read_fails(&c, "drep_verify=off", 1000, DREP_ERR_FORMAT, "element 1000");
    read_fails(&c, "drep_verify=on", 50000, 0, NULL);
    c.p[reference + 3] = 0;
    c.p[reference + 8] = 1; /* an offset beyond all */
    read_fails(&c, "drep_verify=off", 1000, DREP_ERR_FORMAT, "R5.32");
    drep_type_free(type);
    count_release(&c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data single");
    TCase *t = tcase_create("single");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, test_single_elements_of_every_kind, 0, DATAREPS);
    tcase_add_test(t, test_damage_is_found_where_it_is_asked_for);
    suite_add_tcase(s, t);
    return run_suite(s);
}
