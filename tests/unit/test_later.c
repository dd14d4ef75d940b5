/* test_later.c - D18: what a later version of the format put into a file stays when we
 * change the file: header records, codes, fields behind the last known one, entries of
 * the tree. */
#include "format/header.h"
#include "io/io.h"
#include "tests/unit/bytes.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "txn/commit.h"
#include "txn/open.h"
#include "txn/txn.h"

#include <unistd.h>

static const char path[] = "test_later.drep";
static const struct store_opts opts = {
    .verify = 1, .keep = 2, .unit = 4096, .chunk_max = 1 << 24, .cache_size = 1 << 20, .time = -1};

static void make_file(void)
{
    drep_file *f;

    unlink(path);
    ck_assert_int_eq(drep_create(path, 0, "external32", NULL, &f), 0);
    ck_assert_int_eq(drep_group_create(f, "/g", 0), 0);
    ck_assert_int_eq(drep_attr_write_int(f, "/g", "a", 7), 0);
    ck_assert_int_eq(drep_close(f), 0);
}

static void change_file(void)
{
    drep_file *f;

    ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), 0);
    ck_assert_int_eq(drep_group_create(f, "/g/h", 0), 0);
    ck_assert_int_eq(drep_attr_write_int(f, "/g", "b", 8), 0);
    ck_assert_int_eq(drep_close(f), 0);
}

static struct store *open_store(int write)
{
    struct store *st;
    struct io *io;

    ck_assert_int_eq(io_posix(path, write ? IO_WRITE : IO_READ, 0, 0, &io), 0);
    ck_assert_int_eq(store_open(io, write, &opts, &st), 0);
    return st;
}

/* The object record of "/g", which is the first object behind the root. */
static void group_key(struct key *key)
{
    key_make(key, 2, FMT_TAG_OBJECT);
}

/* ---- the header ---- */

START_TEST(test_D18_records_and_codes_of_the_header_stay)
{
    static uint8_t scratch[FMT_HEADER_MAX], bytes[FMT_HEADER_MAX];
    static struct header_rec h;
    struct store *st;
    const char *why;
    const uint8_t *p;
    size_t size, at, split;
    struct out out;

    make_file();
    st = open_store(1);
    p = store_header(st, &size);
    ck_assert_int_eq(header_get(p, size, &h, scratch, &why, &at), 0);
    h.tail = (struct span){(const uint8_t *)"tail", 4};
    h.extents_tail = (struct span){(const uint8_t *)"\0\x50\0\3\0\x51\0\5", 8};
    h.unknown = (struct span){(const uint8_t *)"\3\0\0\0\0\2xy\4\0\0\0\0\0", 14};
    out_init(&out, bytes, sizeof(bytes));
    header_put(&out, &h, &split);
    ck_assert_int_eq(store_commit(st, bytes, out.at, split), 0);
    store_close(st);
    change_file();
    st = open_store(0);
    p = store_header(st, &size);
    ck_assert_int_eq(header_get(p, size, &h, scratch, &why, &at), 0);
    ck_assert(h.tail.len == 4 && memcmp(h.tail.p, "tail", 4) == 0);
    ck_assert(h.extents_tail.len == 8 && memcmp(h.extents_tail.p, "\0\x50\0\3\0\x51\0\5", 8) == 0);
    ck_assert(h.unknown.len == 14 && memcmp(h.unknown.p, "\3\0\0\0\0\2xy\4\0\0\0\0\0", 14) == 0);
    store_close(st);
}
END_TEST

/* ---- the tree ---- */

START_TEST(test_D18_fields_and_entries_of_the_tree_stay)
{
    struct buf value = {0}, longer = {0};
    struct key group, later;
    struct object_rec rec;
    struct store *st;
    const uint8_t *p;
    uint8_t *header;
    struct in in;
    size_t size;

    make_file();
    st = open_store(1);
    group_key(&group);
    key_make(&later, 2, 150);
    ck_assert_int_eq(key_add_bytes(&later, "later", 5), 0);
    ck_assert_int_eq(tree_get(st, &group, &value), 0);
    ck_assert_int_eq(buf_reserve(&longer, value.len + 6), 0);
    memcpy(longer.p, value.p, value.len);
    memcpy(longer.p + value.len, "behind", 6);
    ck_assert_int_eq(tree_put(st, &group, longer.p, value.len + 6), 0);
    ck_assert_int_eq(tree_put(st, &later, "what", 4), 0);
    p = store_header(st, &size);
    header = malloc(size);
    memcpy(header, p, size);
    ck_assert_int_eq(store_commit(st, header, size, size), 0);
    store_close(st);
    change_file();
    st = open_store(0);
    ck_assert_int_eq(tree_get(st, &group, &value), 0);
    in_init(&in, value.p, value.len);
    ck_assert_int_eq(object_get(&in, &rec), 0);
    ck_assert_uint_eq(rec.members, 1);
    ck_assert_uint_eq(rec.next_attr, 2);
    ck_assert(rec.tail.len == 6 && memcmp(rec.tail.p, "behind", 6) == 0);
    ck_assert_int_eq(tree_get(st, &later, &value), 0);
    ck_assert(value.len == 4 && memcmp(value.p, "what", 4) == 0);
    store_close(st);
    buf_release(&value);
    buf_release(&longer);
    free(header);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("later");
    TCase *tc = tcase_create("all");
    char dir[] = "/tmp/drep-later-XXXXXX";
    int err;

    if (!mkdtemp(dir) || chdir(dir))
        return EXIT_FAILURE;
    tcase_add_test(tc, test_D18_records_and_codes_of_the_header_stay);
    tcase_add_test(tc, test_D18_fields_and_entries_of_the_tree_stay);
    suite_add_tcase(suite, tc);
    err = run_suite(suite);
    unlink(path);
    if (chdir("/") || rmdir(dir))
        return EXIT_FAILURE;
    return err;
}
