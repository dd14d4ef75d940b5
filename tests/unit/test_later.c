/* test_later.c - D18: what a later version of the format put into a file stays when we
 * change the file: header records, codes, fields behind the last known one, entries of
 * the tree. */
/* SPDX-License-Identifier: MIT */
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
    ck_assert_int_eq(drep_attr_write_int64(f, "/g", "a", 7), 0);
    ck_assert_int_eq(drep_close(f), 0);
}

static void change_file(void)
{
    drep_file *f;

    ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), 0);
    ck_assert_int_eq(drep_group_create(f, "/g/h", 0), 0);
    ck_assert_int_eq(drep_attr_write_int64(f, "/g", "b", 8), 0);
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

static struct span first_rep(const struct header_rec *h)
{
    struct span rep;
    struct in in;

    in_init(&in, h->reps.p, h->reps.len);
    ck_assert_int_eq(header_rep_next(&in, &rep), 0);
    return rep;
}

START_TEST(test_D18_records_and_codes_of_the_header_stay)
{
    static uint8_t scratch[FMT_HEADER_MAX], bytes[FMT_HEADER_MAX];
    static struct header_rec h;
    static struct rep_rec rep;
    static uint8_t content[FMT_HEADER_MAX], rep_scratch[FMT_HEADER_MAX], reps[FMT_HEADER_MAX];
    struct span one;
    struct in in;
    struct store *st;
    const char *why;
    const uint8_t *p;
    size_t size, at, split;
    struct out out;

    make_file();
    st = open_store(1);
    p = store_header(st, &size);
    ck_assert_int_eq(header_get(p, size, &h, scratch, &why, &at), 0);
    one = first_rep(&h);
    ck_assert_int_eq(rep_get(&one, &rep, rep_scratch, &why, &at), 0);
    rep.flags |= 0x50;
    rep.extents_tail = (struct span){(const uint8_t *)"\0\x50\0\3\0\x51\0\5", 8};
    rep.unknown = (struct span){(const uint8_t *)"\3\0\0\0\0\4tail", 10};
    out_init(&out, content, sizeof(content));
    rep_put(&out, &rep);
    /* A representation of a form that nobody knows, under which there are no datasets. */
    one = (struct span){content, out.at};
    out_init(&out, reps, sizeof(reps));
    header_rep_put(&out, &one);
    header_rep_put(&out, &(struct span){(const uint8_t *)"\3\0\7\7\1xyz", 8});
    h.reps = (struct span){reps, out.at};
    h.unknown = (struct span){(const uint8_t *)"\3\0\0\0\0\2xy\4\0\0\0\0\0", 14};
    out_init(&out, bytes, sizeof(bytes));
    header_put(&out, &h, &split);
    ck_assert_int_eq(store_commit(st, bytes, out.at, split), 0);
    store_close(st);
    change_file();
    st = open_store(0);
    p = store_header(st, &size);
    ck_assert_int_eq(header_get(p, size, &h, scratch, &why, &at), 0);
    one = first_rep(&h);
    ck_assert_int_eq(rep_get(&one, &rep, rep_scratch, &why, &at), 0);
    ck_assert_uint_eq(rep.flags & 0xf0, 0x50);
    ck_assert(rep.unknown.len == 10 && memcmp(rep.unknown.p, "\3\0\0\0\0\4tail", 10) == 0);
    ck_assert(rep.extents_tail.len == 8 &&
              memcmp(rep.extents_tail.p, "\0\x50\0\3\0\x51\0\5", 8) == 0);
    ck_assert_int_eq(h.nreps, 2);
    in_init(&in, h.reps.p, h.reps.len);
    ck_assert(header_rep_next(&in, &one) == 0 && header_rep_next(&in, &one) == 0);
    ck_assert(one.len == 8 && memcmp(one.p, "\3\0\7\7\1xyz", 8) == 0);
    ck_assert(h.unknown.len == 14 && memcmp(h.unknown.p, "\3\0\0\0\0\2xy\4\0\0\0\0\0", 14) == 0);
    store_close(st);
}
END_TEST

/* A default representation with a flag that is not known comes along as its bytes. */
START_TEST(test_D18_repair_keeps_a_default_representation)
{
    static uint8_t scratch[FMT_HEADER_MAX], bytes[FMT_HEADER_MAX], content[FMT_HEADER_MAX];
    static uint8_t reps[FMT_HEADER_MAX];
    static struct header_rec h;
    struct span one;
    struct store *st;
    const char *why;
    const uint8_t *p;
    size_t size, at, split, len;
    int64_t findings = -1, number = 0;
    struct out out;
    drep_file *f;

    make_file();
    st = open_store(1);
    p = store_header(st, &size);
    ck_assert_int_eq(header_get(p, size, &h, scratch, &why, &at), 0);
    one = first_rep(&h);
    len = one.len;
    memcpy(content, one.p, len);
    content[1] |= 4; /* form, flags */
    one = (struct span){content, len};
    out_init(&out, reps, sizeof(reps));
    header_rep_put(&out, &one);
    h.reps = (struct span){reps, out.at};
    out_init(&out, bytes, sizeof(bytes));
    header_put(&out, &h, &split);
    ck_assert_int_eq(store_commit(st, bytes, out.at, split), 0);
    store_close(st);
    ck_assert_int_eq(drep_repair(path, "repaired.drep", 0, NULL, NULL, NULL, &findings), 0);
    ck_assert_int_eq(drep_open("repaired.drep", DREP_RDONLY, NULL, &f), 0);
    ck_assert_int_eq(drep_attr_read(f, "/g", "a", DREP_INT64_T, &number), 0);
    ck_assert_int_eq(number, 7);
    ck_assert_int_eq(drep_close(f), 0);
    ck_assert_int_eq(rename("repaired.drep", path), 0);
    st = open_store(0);
    p = store_header(st, &size);
    ck_assert_int_eq(header_get(p, size, &h, scratch, &why, &at), 0);
    one = first_rep(&h);
    ck_assert(one.len == len && memcmp(one.p, content, len) == 0);
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

/* ---- kinds and flags ---- */

static struct {
    drep_linkinfo link[16];
    char name[16][12];
    int n;
} listed;

static int list_one(const drep_linkinfo *link, void *ctx)
{
    (void)ctx;
    ck_assert_int_lt(listed.n, 16);
    listed.link[listed.n] = *link;
    strcpy(listed.name[listed.n++], link->name);
    return 0;
}

static const drep_linkinfo *listed_as(const char *name)
{
    for (int i = 0; i < listed.n; i++)
        if (strcmp(listed.name[i], name) == 0)
            return &listed.link[i];
    ck_abort_msg("%s is not listed", name);
    return NULL;
}

static int told_notes, told_faults;
static char told_text[300]; /* the last */

static int tell(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)offset, (void)ctx;
    snprintf(told_text, sizeof told_text, "%s", message);
    if (err)
        told_faults++;
    else if (strstr(message, "written by a newer version"))
        told_notes++;
    return 0;
}

static void fails_later(int err)
{
    ck_assert_int_eq(err, DREP_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(drep_error(), "written by a newer version") != NULL, "%s", drep_error());
}

/* tests/vectors/later.drep: what has a kind or flags that are not known is listed with them, is no
 * fault, cannot be read, copied or removed, and stays when the file is changed around it. */
START_TEST(test_D33_unknown_kinds_and_flags_are_items_of_their_own)
{
    char command[200];
    drep_attrinfo attr = DREP_ATTRINFO;
    drep_objinfo info = DREP_OBJINFO;
    drep_dataset *ds;
    drep_file *f, *g;
    int64_t findings = -1;
    int32_t v = 0;

    unlink(path);
    snprintf(command, sizeof command, "cp %s/vectors/later.drep %s", TESTS_DIR, path);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), 0);
    for (int order = DREP_BY_NAME; order <= DREP_BY_CREATION; order++) {
        listed.n = 0;
        ck_assert_int_eq(drep_list(f, "/", order, list_one, NULL), 0);
        ck_assert_int_eq(listed.n, 9);
        ck_assert_int_eq(listed_as("d")->kind, DREP_OBJ_DATASET);
        ck_assert_int_eq(listed_as("object")->kind, DREP_OBJ_UNKNOWN);
        ck_assert_int_eq(listed_as("object")->number, 9);
        ck_assert_int_eq(listed_as("flag")->kind, DREP_OBJ_DATASET); /* as its link says */
        ck_assert_int_eq(listed_as("link")->link, DREP_LINK_UNKNOWN);
        ck_assert_int_eq(listed_as("link")->number, 77);
        ck_assert_int_eq(listed_as("link flag")->flags, 2);
        ck_assert_int_eq(listed_as("e")->link, DREP_LINK_SOFT); /* flags 4 to 7 change nothing */
    }
    ck_assert_int_eq(drep_attr_read(f, "/object", "a", DREP_INT32_T, &v), 0);
    ck_assert_int_eq(v, 4);
    ck_assert_int_eq(drep_stat(f, "/object", &info), 0);
    ck_assert(info.kind == DREP_OBJ_UNKNOWN && info.number == 9 && info.attrs == 1);
    ck_assert_int_eq(drep_stat(f, "/flag", &info), 0);
    ck_assert(info.kind == DREP_OBJ_UNKNOWN && info.flags == 8);
    fails_later(drep_attr_info(f, "/d", "kind", &attr));
    ck_assert(attr.number == 2 && attr.flags == 0);
    fails_later(drep_attr_info(f, "/d", "flag", &attr));
    ck_assert(attr.number == 1 && attr.flags == 4);
    fails_later(drep_dataset_open(f, "/flag", &ds));
    fails_later(drep_list(f, "/object", DREP_BY_NAME, list_one, NULL));
    fails_later(drep_stat(f, "/link", &info));
    fails_later(drep_link_remove(f, "/object"));
    ck_assert_int_eq(drep_create(":memory:", DREP_RDWR, "external32", NULL, &g), 0);
    fails_later(drep_copy(f, "/", g, "/", NULL));
    fails_later(drep_copy(f, "/d", g, "/d", NULL));
    ck_assert_int_eq(drep_close(g), 0);
    /* Its numbers of links and attributes are as ours. */
    ck_assert_int_eq(drep_attr_write_int64(f, "/object", "b", 5), 0);
    ck_assert_int_eq(drep_link_hard(f, "/object", "/again"), 0);
    ck_assert_int_eq(drep_attr_write_int64(f, "/d", "b", 5), 0);
    ck_assert_int_eq(drep_close(f), 0);
    ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), 0);
    ck_assert_int_eq(drep_stat(f, "/again", &info), 0);
    ck_assert(info.kind == DREP_OBJ_UNKNOWN && info.number == 9 && info.links == 2);
    ck_assert_int_eq(info.attrs, 2);
    ck_assert_int_eq(drep_check(f, 1, tell, NULL, &findings), 0);
    ck_assert_int_eq(findings, 0);
    ck_assert_int_eq(told_faults, 0);
    ck_assert_int_eq(told_notes, 9);
    ck_assert_int_eq(drep_close(f), 0);
}
END_TEST

static void copy_vector(const char *name)
{
    char command[200];

    unlink(path);
    snprintf(command, sizeof command, "cp %s/vectors/%s %s", TESTS_DIR, name, path);
    ck_assert_int_eq(system(command), 0);
}

static void checks_clean(int64_t notes)
{
    int64_t findings = -1;
    drep_file *f;

    ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), 0);
    for (int deep = 0; deep <= 1; deep++) {
        told_notes = told_faults = 0;
        ck_assert_int_eq(drep_check(f, deep, tell, NULL, &findings), 0);
        ck_assert_int_eq(findings, 0);
        ck_assert_int_eq(told_faults, 0);
        ck_assert_int_eq(told_notes, notes);
    }
    ck_assert_int_eq(drep_close(f), 0);
}

static void open_fails(drep_file *f, const char *dataset, const char *what)
{
    drep_dataset *ds;

    fails_later(drep_dataset_open(f, dataset, &ds));
    ck_assert_msg(strstr(drep_error(), what) != NULL, "%s", drep_error());
}

/* tests/vectors/extended.drep: unknown tags, set aside or reserved, and unknown compatible features
 * stay when the file is changed around them. */
START_TEST(test_D33_unknown_tags_and_features_stay)
{
    static const struct {
        uint64_t object;
        uint8_t tag;
    } put[] = {{0, 4}, {2, 65}, {2, 96}, {2, 223}};
    struct buf value = {0};
    uint64_t compatible;
    struct store *st;
    struct key key;
    uint8_t *header;
    size_t size;
    drep_file *f;

    copy_vector("extended.drep");
    st = open_store(1);
    for (size_t i = 0; i < sizeof put / sizeof *put; i++) {
        key_make(&key, put[i].object, put[i].tag);
        ck_assert_int_eq(key_add_bytes(&key, "later", 5), 0);
        ck_assert_int_eq(tree_put(st, &key, &put[i].tag, 1), 0);
    }
    compatible = store_slot(st)->compatible;
    ck_assert_uint_ne(compatible, 0);
    store_header(st, &size);
    header = malloc(size);
    memcpy(header, store_header(st, &size), size);
    ck_assert_int_eq(store_commit(st, header, size, size), 0);
    store_close(st);
    free(header);
    for (int i = 0; i < 2; i++) { /* both slots */
        ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), 0);
        ck_assert_int_eq(drep_attr_write_int64(f, "/d", "b", i), 0);
        ck_assert_int_eq(drep_close(f), 0);
    }
    st = open_store(0);
    ck_assert_uint_eq(store_slot(st)->compatible, compatible);
    for (size_t i = 0; i < sizeof put / sizeof *put; i++) {
        key_make(&key, put[i].object, put[i].tag);
        ck_assert_int_eq(key_add_bytes(&key, "later", 5), 0);
        ck_assert_int_eq(tree_get(st, &key, &value), 0);
        ck_assert(value.len == 1 && value.p[0] == put[i].tag);
    }
    store_close(st);
    buf_release(&value);
}
END_TEST

/* tests/vectors/readonly.drep: a feature that makes a file read-only for those who do not know it.
 */
START_TEST(test_D33_write_incompatible_files_are_read_only)
{
    drep_dataset *ds;
    drep_file *f;
    int32_t v = 0;

    copy_vector("readonly.drep");
    ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), DREP_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(drep_error(), "40") != NULL, "%s", drep_error());
    ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), 0);
    ck_assert_int_eq(drep_dataset_open(f, "/d", &ds), 0);
    ck_assert_int_eq(drep_read(ds, NULL, DREP_INT32_T, &v, NULL), 0);
    ck_assert_int_eq(v, 1);
    drep_dataset_close(ds);
    ck_assert_int_eq(drep_close(f), 0);
}
END_TEST

static void version_is(unsigned major, unsigned minor)
{
    drep_header h = DREP_HEADER;
    drep_file *f;

    ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), 0);
    ck_assert_int_eq(drep_header_get(f, &h), 0);
    ck_assert_int_eq(h.version_major, major);
    ck_assert_int_eq(h.version_minor, minor);
    ck_assert_int_eq(drep_close(f), 0);
}

/* A writer never lowers the version: what it does not know may be in the file.  The two slots may
 * differ. */
START_TEST(test_R2_23_the_version_of_a_commit_is_the_greater)
{
    struct store *st;
    drep_file *f;

    copy_vector("version-1-3.drep");
    for (int i = 0; i < 2; i++) { /* both slots */
        version_is(1, 3);
        ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), 0);
        ck_assert_int_eq(drep_attr_write_int64(f, "/d", "b", i), 0);
        ck_assert_int_eq(drep_close(f), 0);
    }
    version_is(1, 3);
    st = open_store(0);
    ck_assert_uint_eq(store_slot(st)->compatible, 1 << 9);
    store_close(st);
    copy_vector("mixed-versions.drep");
    version_is(1, 2);
    ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), 0);
    ck_assert_int_eq(drep_attr_write_int64(f, "/first", "b", 1), 0);
    ck_assert_int_eq(drep_close(f), 0);
    version_is(1, 2);
    copy_vector("draft-5.drep");
    version_is(0, FMT_DRAFT);
    ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), 0);
    ck_assert_int_eq(drep_close(f), 0);
    version_is(0, FMT_DRAFT); /* nothing was committed */
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), 0);
        ck_assert_int_eq(drep_attr_write_int64(f, "/d", "b", i), 0);
        ck_assert_int_eq(drep_close(f), 0);
        version_is(1, 1);
    }
    copy_vector("draft-5-changed.drep");
    version_is(1, 1);
    make_file();
    version_is(FMT_MAJOR, FMT_MINOR);
    change_file();
    version_is(FMT_MAJOR, FMT_MINOR);
}
END_TEST

/* Set a field of slot A, and its sum right. */
static void patch_slot(size_t at, uint64_t value)
{
    uint8_t slot[FMT_SLOT_SIZE];
    FILE *file = fopen(path, "r+b");

    ck_assert(file != NULL && fread(slot, sizeof slot, 1, file) == 1);
    store_u64(slot + at, value);
    store_u64(slot + sizeof slot - 8, sum_of(slot, sizeof slot - 8));
    rewind(file);
    ck_assert(fwrite(slot, sizeof slot, 1, file) == 1 && fclose(file) == 0);
}

/* Who refuses a feature says which one, and who made the file. */
START_TEST(test_R2_8_a_refusal_names_feature_version_and_writer)
{
    drep_file *f;

    copy_vector("version-1-3.drep");
    patch_slot(40, 2);
    ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), DREP_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(drep_error(), "needs feature 1, which is unknown; written by drepwrite 1 "
                                       "in version 1.3 of the format (R2.8)") != NULL,
                  "%s", drep_error());
    copy_vector("version-1-3.drep");
    patch_slot(48, UINT64_C(1) << 63);
    ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), DREP_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(drep_error(), "feature 63") != NULL && strstr(drep_error(), "1.3") != NULL,
                  "%s", drep_error());
    ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), 0);
    ck_assert_int_eq(drep_close(f), 0);
}
END_TEST

static int note_dimension(const drep_diminfo *d, void *ctx)
{
    char *text = ctx;

    sprintf(text + strlen(text), "%s %d %d %d %d;", d->path, d->kind, (int)d->id, d->number,
            (int)d->len);
    return 0;
}

/* tests/vectors/later-dims.drep: an entry of an unknown kind, and one that leads to an object of an
 * unknown kind, are listed beside the others. */
START_TEST(test_D33_unknown_dimensions_are_listed)
{
    char text[1000] = "";
    drep_file *f;

    copy_vector("later-dims.drep");
    ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), 0);
    ck_assert_int_eq(drep_dimension_list(f, "/", DREP_BY_CREATION, note_dimension, text), 0);
    ck_assert_str_eq(text, "/#x 4 2 0 2;/#entry 255 0 2 0;/#object 255 4 9 0;");
    ck_assert_int_eq(drep_close(f), 0);
}
END_TEST

/* tests/vectors/fill-exact.drep: a third with 113 bits, in a fill value whose members are asked for
 * in another order; x87 has 64 of them. */
START_TEST(test_D44_fill_of_members_keeps_every_bit)
{
    const drep_scalar quad = {.cls = DREP_SCALAR_REAL,
                              .order = DREP_BIG,
                              .size = 16,
                              .is_signed = 1,
                              .format = DREP_FORMAT_BINARY128};
    const char *const names[] = {"d", "e"};
    uint8_t third[16] = {0x3f, 0xfd};
    struct {
        double d;
        uint8_t e[16];
    } value;
    drep_type *real, *type;
    drep_dataset *ds;
    drep_file *f;

    copy_vector("fill-exact.drep");
    memset(third + 2, 0x55, 14);
    ck_assert_int_eq(drep_type_scalar(&quad, &real), 0);
    ck_assert_int_eq(
        drep_type_compound(2, names, NULL, (const drep_type *const[]){DREP_DOUBLE, real}, 0, &type),
        0);
    ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), 0);
    ck_assert_int_eq(drep_dataset_open(f, "/struct", &ds), 0);
    ck_assert_int_eq(drep_dataset_fill(ds, type, &value), 0);
    ck_assert(value.d == 1.5);
    ck_assert_mem_eq(value.e, third, 16);
    drep_dataset_close(ds);
    ck_assert_int_eq(drep_close(f), 0);
    drep_type_free(type);
    drep_type_free(real);
}
END_TEST

/* tests/vectors/later.drep: a layout and a fill that are not known hide their dataset alone, whose
 * record and entries stay through changes of its head. */
START_TEST(test_D33_unknown_layout_and_fill_hide_one_dataset)
{
    struct buf before = {0}, after = {0};
    drep_objinfo info = DREP_OBJINFO;
    drep_file *f, *g;
    struct store *st;
    struct key key;
    int64_t sealed;
    int32_t v = 0;

    copy_vector("later.drep");
    st = open_store(0);
    key_make(&key, 5, FMT_TAG_OBJECT);
    ck_assert_int_eq(tree_get(st, &key, &before), 0);
    store_close(st);
    ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), 0);
    open_fails(f, "/layout", "layout 9, ");
    open_fails(f, "/null", "layout 255, ");
    open_fails(f, "/fill", "fill 3, ");
    ck_assert_int_eq(drep_stat(f, "/layout", &info), 0);
    ck_assert(info.kind == DREP_OBJ_DATASET && info.attrs == 1);
    ck_assert_int_eq(drep_attr_read(f, "/layout", "a", DREP_INT32_T, &v), 0);
    ck_assert_int_eq(v, 5);
    fails_later(drep_link_remove(f, "/layout"));
    fails_later(drep_link_remove(f, "/fill"));
    ck_assert_int_eq(drep_create(":memory:", DREP_RDWR, "external32", NULL, &g), 0);
    fails_later(drep_copy(f, "/layout", g, "/layout", NULL));
    ck_assert_int_eq(drep_close(g), 0);
    ck_assert_int_eq(drep_attr_write_int64(f, "/layout", "b", 5), 0);
    ck_assert_int_eq(drep_link_hard(f, "/layout", "/again"), 0);
    ck_assert_int_eq(drep_link_hard(f, "/fill", "/filled"), 0);
    ck_assert_int_eq(drep_seal(f, &sealed), 0);
    ck_assert_int_eq(drep_close(f), 0);
    st = open_store(0);
    ck_assert_int_eq(tree_get(st, &key, &after), 0);
    ck_assert_uint_eq(after.len, before.len);
    /* Kind, flags, links 2, next attribute 2; the rest as it was. */
    ck_assert(after.p[2] == 2 && after.p[3] == 2);
    ck_assert_mem_eq(after.p + 4, before.p + 4, before.len - 4);
    key_make(&key, 5, FMT_TAG_CHUNK);
    ck_assert_int_eq(tree_get(st, &key, &after), 0);
    ck_assert(after.len == 8 && memcmp(after.p, "whatever", 8) == 0);
    store_close(st);
    checks_clean(9);
    buf_release(&before);
    buf_release(&after);
}
END_TEST

/* tests/vectors/later-chunks.drep: what is known of such datasets is told, and only what needs the
 * unknown thing cannot be read. */
START_TEST(test_D33_unknown_chunks_and_filters_are_notes)
{
    static const char *const names[] = {"/kind", "/flag", "/filter", "/filter flag"};
    const int64_t start[] = {0}, two[] = {2};
    drep_dsinfo info = DREP_DSINFO;
    drep_dsusage usage = DREP_DSUSAGE;
    drep_dataset *ds;
    drep_selection *first;
    int64_t sealed = -1;
    int32_t v[4];
    drep_file *f;

    copy_vector("later-chunks.drep");
    ck_assert_int_eq(drep_select_box(1, start, two, NULL, NULL, &first), 0);
    ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), 0);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(drep_dataset_open(f, names[i], &ds), 0);
        ck_assert_int_eq(drep_dataset_info(ds, &info), 0);
        ck_assert_int_eq(drep_dataset_usage(ds, &usage), 0);
        ck_assert(usage.bytes == 8 && usage.chunks == 1);
        fails_later(drep_read(ds, NULL, DREP_INT32_T, v, NULL));
        if (i < 2) { /* the chunk beside it */
            ck_assert_int_eq(drep_read(ds, first, DREP_INT32_T, v, NULL), 0);
            ck_assert(v[0] == 1 && v[1] == 2);
        }
        drep_dataset_close(ds);
    }
    ck_assert_int_eq(drep_dataset_open(f, "/skipped", &ds), 0);
    ck_assert_int_eq(drep_read(ds, NULL, DREP_INT32_T, v, NULL), 0);
    ck_assert(v[0] == 1 && v[1] == 2);
    drep_dataset_close(ds);
    drep_selection_free(first);
    ck_assert_int_eq(drep_attr_write_int64(f, "/kind", "a", 5), 0);
    ck_assert_int_eq(drep_seal(f, &sealed), 0);
    ck_assert_int_eq(sealed, 0);
    ck_assert_int_eq(drep_close(f), 0);
    checks_clean(5);
}
END_TEST

/* ---- copies ---- */

struct left {
    int n, stop;
    char text[4000];
};

static int note_left(uint64_t id, const char *message, void *ctx)
{
    struct left *l = ctx;
    size_t n = strlen(l->text);

    snprintf(l->text + n, sizeof l->text - n, "%d %s\n", (int)id, message);
    return ++l->n == l->stop ? 99 : 0;
}

/* Copies the file, in part, into a new one that checks clean. */
static drep_file *copy_partly(drep_file *f, const char *from, const char *to, struct left *l)
{
    drep_copying how =
        DREP_COPYING(.left_out = note_left, .ctx = l, .datarep = DREP_DATAREP_STORED);
    int64_t findings = -1;
    drep_file *g;

    ck_assert_int_eq(drep_create(":memory:", DREP_RDWR, "external32", NULL, &g), 0);
    ck_assert_msg(drep_copy(f, from, g, to, &how) == 0, "%s", drep_error());
    ck_assert_int_eq(drep_commit(g), 0);
    told_faults = 0;
    ck_assert_int_eq(drep_check(g, 1, tell, NULL, &findings), 0);
    ck_assert_int_eq(findings, 0);
    ck_assert_int_eq(told_faults, 0);
    return g;
}

static void left(const struct left *l, const char *text)
{
    ck_assert_msg(strstr(l->text, text) != NULL, "not told: %s of %s", text, l->text);
}

/* tests/vectors/extended.drep: whatever makes an object new takes no entry of an unknown tag, which
 * may be false of it, and tells each tag once. */
START_TEST(test_D48_a_copy_takes_no_unknown_entry)
{
    static const char *const told[] = {"2 1 entry of unknown tag 5,",
                                       "2 1 entry of unknown tag 25,",
                                       "2 1 entry of unknown tag 33,",
                                       "2 1 entry of unknown tag 97,",
                                       "0 1 entry of unknown tag 100,",
                                       "1 1 entry of unknown tag 255,",
                                       "2 1 entry of unknown space 2, written by a newer version",
                                       "0 1 entry of unknown space 127, written by a newer version",
                                       "1 1 entry of unknown space 128, written by an application",
                                       "2 1 entry of unknown space 255, written by an application",
                                       "0 the header record of unknown tag 99,",
                                       "0 the header record of unknown tag 1000,"};
    struct left whole = {0}, one = {0};
    drep_copying how = DREP_COPYING(.unknown = note_left, .datarep = DREP_DATAREP_STORED);
    drep_file *f, *g;
    int64_t findings;

    copy_vector("extended.drep");
    ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), 0);
    ck_assert_int_eq(drep_create(":memory:", 0, "external32", NULL, &g), 0);
    how.ctx = &whole;
    ck_assert_msg(drep_copy(f, "/", g, "/", &how) == 0, "%s", drep_error());
    ck_assert_int_eq(whole.n, 12);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        left(&whole, told[i]);
    how.ctx = &one; /* one object, with its own entries alone */
    ck_assert_msg(drep_copy(f, "/d", g, "/e", &how) == 0, "%s", drep_error());
    ck_assert_int_eq(one.n, 6);
    ck_assert_int_eq(drep_commit(g), 0);
    told_notes = told_faults = 0;
    ck_assert_int_eq(drep_check(g, 1, tell, NULL, &findings), 0);
    ck_assert_int_eq(told_notes + told_faults, 0);
    one = (struct left){.stop = 2};
    ck_assert_int_eq(drep_copy(f, "/d", g, "/f", &how), 99);
    drep_abandon(g);
    ck_assert_int_eq(drep_close(f), 0);
}
END_TEST

START_TEST(test_D33_a_partial_copy_leaves_out_what_is_newer)
{
    static const struct {
        const char *vector;
        int left;
    } row[] = {{"later.drep", 9},    {"later-chunks.drep", 2}, {"reps-later.drep", 5},
               {"readonly.drep", 1}, {"extended.drep", 0},     {"later.drep", 2}};
    drep_objinfo a = DREP_OBJINFO, b = DREP_OBJINFO;
    drep_file *f, *g;

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct left l = {.n = 0};
        bool below = i + 1 == sizeof row / sizeof *row;

        copy_vector(row[i].vector);
        ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), 0);
        if (below) { /* one object */
            g = copy_partly(f, "/d", "/copy", &l);
            left(&l, "attribute \"kind\": unreadable: kind 2, ");
            ck_assert_int_eq(drep_stat(g, "/copy", &b), 0);
            ck_assert_int_eq(b.attrs, 1);
        } else {
            g = copy_partly(f, "/", "/", &l);
        }
        ck_assert_msg(l.n == row[i].left, "%s: %s", row[i].vector, l.text);
        if (i == 0) {
            left(&l, "1 link \"link\": kind 77, ");
            left(&l, "3 object 3: kind 9, ");
            left(&l, "5 object 5: layout 9, ");
            left(&l, "7 object 7: fill 3, ");
            listed.n = 0;
            ck_assert_int_eq(drep_list(g, "/", DREP_BY_NAME, list_one, NULL), 0);
            ck_assert_int_eq(listed.n, 2);
            /* The ids stay. */
            ck_assert_int_eq(drep_stat(f, "/d", &a), 0);
            ck_assert_int_eq(drep_stat(g, "/d", &b), 0);
            ck_assert_uint_eq(a.id, b.id);
        }
        ck_assert_int_eq(drep_close(g), 0);
        ck_assert_int_eq(drep_close(f), 0);
    }
}
END_TEST

/* tests/vectors/readonly.drep: repair makes a file that may be written, and says what it may lack.
 */
START_TEST(test_D33_a_repair_drops_an_unknown_feature)
{
    static const char mended[] = "test_later_mended.drep";
    int64_t findings = 0;
    drep_file *f;

    copy_vector("readonly.drep");
    unlink(mended);
    told_notes = told_faults = 0;
    ck_assert_int_eq(drep_repair(path, mended, 0, NULL, tell, NULL, &findings), 0);
    ck_assert_int_eq(findings, 1);
    ck_assert_msg(strstr(told_text, "feature 40, which is unknown") != NULL, "%s", told_text);
    ck_assert_int_eq(rename(mended, path), 0);
    ck_assert_int_eq(drep_open(path, DREP_RDWR, NULL, &f), 0);
    ck_assert_int_eq(drep_attr_write_int64(f, "/d", "b", 5), 0);
    ck_assert_int_eq(drep_close(f), 0);
    checks_clean(0);
}
END_TEST

/* A stop by the caller ends the copy; nothing newer is half there. */
START_TEST(test_D33_a_partial_copy_is_stopped_by_its_caller)
{
    drep_file *f, *g;

    copy_vector("later.drep");
    ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), 0);
    for (int stop = 1; stop <= 9; stop++) {
        struct left l = {.stop = stop};
        drep_copying how = DREP_COPYING(.left_out = note_left, .ctx = &l);

        ck_assert_int_eq(drep_create(":memory:", DREP_RDWR, "external32", NULL, &g), 0);
        ck_assert_int_eq(drep_copy(f, "/", g, "/", &how), 99);
        ck_assert_int_eq(l.n, stop);
        listed.n = 0;
        ck_assert_int_eq(drep_list(g, "/", DREP_BY_NAME, list_one, NULL), 0);
        ck_assert_int_eq(listed.n, 0);
        drep_abandon(g);
    }
    /* There is nothing to copy of an object that is itself newer. */
    {
        struct left l = {.n = 0};
        drep_copying how = DREP_COPYING(.left_out = note_left, .ctx = &l);

        ck_assert_int_eq(drep_create(":memory:", DREP_RDWR, "external32", NULL, &g), 0);
        fails_later(drep_copy(f, "/layout", g, "/layout", &how));
        ck_assert_int_eq(l.n, 0);
        ck_assert_int_eq(drep_close(g), 0);
    }
    ck_assert_int_eq(drep_close(f), 0);
}
END_TEST

/* Sets a flag of a newer version in the record of an object. */
static void make_later(uint64_t id)
{
    struct buf value = {0};
    struct store *st = open_store(1);
    struct key key;
    uint8_t *header;
    size_t size;

    key_make(&key, id, FMT_TAG_OBJECT);
    ck_assert_int_eq(tree_get(st, &key, &value), 0);
    value.p[1] |= 8;
    ck_assert_int_eq(tree_put(st, &key, value.p, value.len), 0);
    store_header(st, &size);
    header = malloc(size);
    memcpy(header, store_header(st, &size), size);
    ck_assert_int_eq(store_commit(st, header, size, size), 0);
    store_close(st);
    buf_release(&value);
    free(header);
}

/* Every link to such an object is left out, with what only a group of that kind leads to; a
 * dataset loses such a dimension. */
START_TEST(test_D33_a_partial_copy_has_nothing_that_leads_to_what_is_left_out)
{
    const int64_t dims[] = {3};
    const char *const names[] = {"n"};
    const drep_spec spec =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = dims, .dim_names = names);
    struct left l = {.n = 0};
    drep_objinfo group = DREP_OBJINFO, dim = DREP_OBJINFO, info = DREP_OBJINFO;
    drep_ref ref = {0, NULL};
    drep_type *ref_type;
    drep_dsinfo ds_info = DREP_DSINFO;
    drep_dataset *ds;
    drep_file *f, *g;

    unlink(path);
    ck_assert_int_eq(drep_create(path, 0, "external32", NULL, &f), 0);
    ck_assert_int_eq(drep_dimension_create(f, "/#n", 3, 0), 0);
    ck_assert_int_eq(drep_dataset_create(f, "/d", &spec, NULL), 0);
    ck_assert_int_eq(drep_group_create(f, "/g", 0), 0);
    ck_assert_int_eq(drep_group_create(f, "/g/inside", 0), 0);
    ck_assert_int_eq(drep_group_create(f, "/g/both", 0), 0);
    ck_assert_int_eq(drep_link_hard(f, "/g/both", "/both"), 0);
    ck_assert_int_eq(drep_group_create(f, "/h", 0), 0);
    ck_assert_int_eq(drep_link_hard(f, "/g", "/h/again"), 0);
    ck_assert_int_eq(drep_link_soft(f, "/g", "/soft"), 0);
    ck_assert_int_eq(drep_stat(f, "/g", &group), 0);
    ck_assert_int_eq(drep_stat(f, "/#n", &dim), 0);
    ref.object = group.id;
    ck_assert_int_eq(drep_type_reference(DREP_REF_OBJECT, &ref_type), 0);
    ck_assert_int_eq(drep_attr_write(f, "/h", "ref", ref_type, 0, NULL, &ref), 0);
    ck_assert_int_eq(drep_close(f), 0);
    make_later(group.id);
    make_later(dim.id);
    ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), 0);
    g = copy_partly(f, "/", "/", &l);
    ck_assert_msg(l.n == 4, "%s", l.text);
    left(&l, "link \"");
    left(&l, "which is left out");
    left(&l, "its dimension, object ");
    ck_assert_int_eq(drep_stat(g, "/both", &info), 0);
    ck_assert_int_eq(info.links, 1);
    listed.n = 0;
    ck_assert_int_eq(drep_list(g, "/h", DREP_BY_NAME, list_one, NULL), 0);
    ck_assert_int_eq(listed.n, 0);
    ck_assert_int_eq(drep_dataset_open(g, "/d", &ds), 0);
    ck_assert_int_eq(drep_dataset_info(ds, &ds_info), 0);
    ck_assert_uint_eq(ds_info.dim_ids[0], 0);
    ck_assert_int_eq(drep_attr_read(g, "/h", "ref", ref_type, &ref), 0);
    ck_assert_uint_eq(ref.object, 0);
    drep_type_free(ref_type);
    drep_dataset_close(ds);
    ck_assert_int_eq(drep_close(g), 0);
    ck_assert_int_eq(drep_close(f), 0);
}
END_TEST

/* The dimension of a dataset in the copied group lies outside of it, and is newer: without
 * `partial` the error names it, with it the dataset loses it, once. */
START_TEST(test_D33_a_newer_dimension_outside_of_the_copy)
{
    const int64_t dims[] = {3};
    const char *const names[] = {"n"};
    const int32_t in[] = {7, 8, 9};
    const drep_spec spec =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = dims, .dim_names = names);
    static const char *const paths[] = {"/g", "/g/d"};
    drep_objinfo dim = DREP_OBJINFO;
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    drep_file *f, *g;
    char name[40];

    unlink(path);
    ck_assert_int_eq(drep_create(path, 0, "external32", NULL, &f), 0);
    ck_assert_int_eq(drep_dimension_create(f, "/#n", 3, 0), 0);
    ck_assert_int_eq(drep_group_create(f, "/g", 0), 0);
    ck_assert_int_eq(drep_dataset_create(f, "/g/d", &spec, &ds), 0);
    ck_assert_int_eq(drep_write(ds, NULL, NULL, in, NULL), 0);
    drep_dataset_close(ds);
    ck_assert_int_eq(drep_stat(f, "/#n", &dim), 0);
    ck_assert_int_eq(drep_close(f), 0);
    make_later(dim.id);
    snprintf(name, sizeof name, "object %d", (int)dim.id);
    for (int i = 0; i < 2; i++) {
        struct left l = {.n = 0};
        int32_t out[3] = {0};

        ck_assert_int_eq(drep_open(path, DREP_RDONLY, NULL, &f), 0);
        ck_assert_int_eq(drep_create(":memory:", DREP_RDWR, "external32", NULL, &g), 0);
        fails_later(drep_copy(f, paths[i], g, "/c", NULL));
        ck_assert_msg(strstr(drep_error(), name) != NULL, "%s", drep_error());
        drep_abandon(g);
        g = copy_partly(f, paths[i], "/c", &l);
        ck_assert_msg(l.n == 1, "%s", l.text);
        left(&l, name);
        ck_assert_int_eq(drep_dataset_open(g, i == 0 ? "/c/d" : "/c", &ds), 0);
        ck_assert_int_eq(drep_dataset_info(ds, &info), 0);
        ck_assert_uint_eq(info.dim_ids[0], 0);
        ck_assert_int_eq(drep_read(ds, NULL, NULL, out, NULL), 0);
        ck_assert_mem_eq(in, out, sizeof in);
        drep_dataset_close(ds);
        ck_assert_int_eq(drep_close(g), 0);
        ck_assert_int_eq(drep_close(f), 0);
    }
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
    tcase_add_test(tc, test_D18_repair_keeps_a_default_representation);
    tcase_add_test(tc, test_D18_fields_and_entries_of_the_tree_stay);
    tcase_add_test(tc, test_D33_unknown_kinds_and_flags_are_items_of_their_own);
    tcase_add_test(tc, test_D33_unknown_layout_and_fill_hide_one_dataset);
    tcase_add_test(tc, test_D44_fill_of_members_keeps_every_bit);
    tcase_add_test(tc, test_D33_unknown_chunks_and_filters_are_notes);
    tcase_add_test(tc, test_D33_unknown_tags_and_features_stay);
    tcase_add_test(tc, test_D33_write_incompatible_files_are_read_only);
    tcase_add_test(tc, test_D33_unknown_dimensions_are_listed);
    tcase_add_test(tc, test_D33_a_partial_copy_leaves_out_what_is_newer);
    tcase_add_test(tc, test_R2_23_the_version_of_a_commit_is_the_greater);
    tcase_add_test(tc, test_R2_8_a_refusal_names_feature_version_and_writer);
    tcase_add_test(tc, test_D48_a_copy_takes_no_unknown_entry);
    tcase_add_test(tc, test_D33_a_repair_drops_an_unknown_feature);
    tcase_add_test(tc, test_D33_a_newer_dimension_outside_of_the_copy);
    tcase_add_test(tc, test_D33_a_partial_copy_is_stopped_by_its_caller);
    tcase_add_test(tc, test_D33_a_partial_copy_has_nothing_that_leads_to_what_is_left_out);
    suite_add_tcase(suite, tc);
    err = run_suite(suite);
    unlink(path);
    if (chdir("/") || rmdir(dir))
        return EXIT_FAILURE;
    return err;
}
