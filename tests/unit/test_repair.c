/* test_repair.c - drep_repair(): what a repaired file keeps, what is told, and all or nothing.
 *
 * Most files here have a link to an object that does not exist, so that the file cannot be copied
 * as a whole and every object is copied by itself. */
/* SPDX-License-Identifier: MIT */
#include "name/link.h"
#include "file/file.h"
#include "data_help.h"
#include "tree/edit.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { N = 6, CHUNK = 2, BIG = 1024 };
#define NOWHERE 999 /* the number of no object */

/* ---- files ---- */

static drep_file *opened(const char *path, int amode)
{
    drep_info *info = hints("drep_sync=none", (char *)NULL);
    drep_file *f;

    ok(drep_open(path, amode, info, &f));
    drep_info_free(info);
    return f;
}

static void make_types(drep_file *f)
{
    const char *const names[] = {"re", "im"};
    const drep_type *const parts[] = {DREP_FLOAT, DREP_FLOAT};
    drep_type *type;

    ok(drep_type_compound(2, names, NULL, parts, 0, &type));
    ok(drep_type_commit(f, "/pair", type));
    drep_type_free(type);
    ok(drep_type_open(f, "/pair", &type));
    drep_dataset_close(new_dataset(f, "/of_pairs", type, 0, NULL));
    drep_type_free(type);
}

static void make_dataset(drep_file *f)
{
    const int64_t dims = N, chunk = CHUNK;
    const char *const dim = "x";
    const int32_t fill = -1, v[N] = {10, 11, 12, 13, 14, 15};
    const drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &dims,
                                     .dim_names = &dim, .layout = DREP_CHUNKED, .chunk = &chunk,
                                     .fill = DREP_FILL_VALUE, .fill_value = &fill);
    drep_dataset *ds;

    ok(drep_dimension_create(f, "/g#x", N, 0));
    ok(drep_dataset_create(f, "/g/d", &spec, &ds));
    ok(drep_write(ds, NULL, DREP_INT32_T, v, NULL));
    drep_dataset_close(ds);
}

static void make_attrs(drep_file *f)
{
    static const char *const paths[] = {"/", "/g", "/g#x", "/g/d", "/pair"};
    const double range[] = {-1.5, 2.5};
    const int64_t two = 2;

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        ok(drep_attr_write_string(f, paths[i], "note", paths[i]));
        ok(drep_attr_write_int64(f, paths[i], "number", (int64_t)i));
        ok(drep_attr_write(f, paths[i], "range", DREP_DOUBLE, 1, &two, range));
    }
}

static void make_links(drep_file *f)
{
    ok(drep_link_hard(f, "/g/d", "/g/again"));
    ok(drep_link_soft(f, "/g/d", "/soft"));
    ok(drep_link_external(f, "other.drep", "/a/b", "/outside"));
}

static void change_link(drep_file *f, const char *name, uint64_t id)
{
    struct key key;

    ok(write_begin(f));
    if (id != 0) {
        ok(write_end(f, object_link_to(f, FMT_OBJECT_ROOT, name, id, FMT_DATASET)));
        return;
    }
    key_make(&key, FMT_OBJECT_ROOT, FMT_TAG_LINK);
    key_add_bytes(&key, name, strlen(name));
    ok(write_end(f, tree_del(f->st, &key)));
}

/* dangling: a link in the root to an object that does not exist. */
static void make_source(const char *path, bool dangling)
{
    drep_file *f = new_file(path, "internal");

    ok(drep_group_create(f, "/g", 0));
    make_types(f);
    make_dataset(f);
    make_links(f);
    make_attrs(f);
    if (dangling)
        change_link(f, "dangling", NOWHERE);
    ok(drep_close(f));
}

/* ---- findings ---- */

struct told {
    int n, stop_at; /* the number of the finding that ends it, -1: none */
    bool seen;
    const char *text; /* to be in one of them, or NULL */
};

static int tell(int err, uint64_t offset, const char *message, void *ctx)
{
    struct told *t = ctx;

    (void)offset;
    ck_assert_int_ne(err, 0);
    t->seen = t->seen || (t->text != NULL && strstr(message, t->text) != NULL);
    return t->n++ == t->stop_at ? 77 : 0;
}

/* Repairs, and wants a finding with this text (NULL: no finding at all). */
static void repaired(const char *path, const char *new_path, const char *text)
{
    struct told told = {.stop_at = -1, .text = text};
    drep_info *info = hints("drep_sync=none", (char *)NULL);
    int64_t findings = -1;

    ok(drep_repair(path, new_path, 0, info, tell, &told, &findings));
    drep_info_free(info);
    ck_assert_int_eq(findings, told.n);
    ck_assert_int_eq(told.n > 0, text != NULL);
    ck_assert_int_eq(told.seen, text != NULL);
}

static const char *const finding_of[] = {NULL, "\"/dangling\" is lost"};

/* ---- what is kept ---- */

static void have_attrs(drep_file *f, const char *path, int64_t number)
{
    double range[2] = {0};
    int64_t n = -1;
    char *note = NULL;
    drep_type *text;

    ok(drep_type_vstring(&text));
    ok(drep_attr_read(f, path, "note", text, &note));
    ck_assert_str_eq(note, path);
    drep_vlen_free(text, 1, &note);
    drep_type_free(text);
    ok(drep_attr_read(f, path, "number", DREP_INT64_T, &n));
    ck_assert_int_eq(n, number);
    ok(drep_attr_read(f, path, "range", DREP_DOUBLE, range));
    ck_assert(range[0] == -1.5 && range[1] == 2.5);
}

START_TEST(test_attributes)
{
    const char *path = temp_path("attrs"), *new_path = temp_path("attrs.new");
    drep_file *f;

    make_source(path, _i);
    repaired(path, new_path, finding_of[_i]);
    f = opened(new_path, DREP_RDONLY);
    have_attrs(f, "/", 0);
    have_attrs(f, "/g", 1);
    have_attrs(f, "/g#x", 2);
    have_attrs(f, "/g/d", 3);
    have_attrs(f, "/pair", 4);
    ok(drep_close(f));
}
END_TEST

static int see_link(const drep_linkinfo *link, void *ctx)
{
    char *all = ctx;

    strcat(all, link->name);
    if (link->target_file != NULL)
        strcat(strcat(all, "->"), link->target_file);
    if (link->target != NULL)
        strcat(strcat(all, "->"), link->target);
    strcat(all, " ");
    return 0;
}

/* Datasets use a dimension of a group that comes later, or of one beside theirs. */
START_TEST(test_dimensions_elsewhere)
{
    static const char *const places[] = {"/first", "/a/second", "/z/third"};
    const char *path = temp_path("far"), *new_path = temp_path("far.new");
    const char *const dim = "/m#x";
    const int64_t dims = N;
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &dims, .dim_names = &dim);
    drep_objinfo x = DREP_OBJINFO, root = DREP_OBJINFO;
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    drep_file *f = new_file(path, "internal");

    ok(drep_group_create(f, "/a", 0));
    ok(drep_group_create(f, "/m", 0));
    ok(drep_group_create(f, "/z", 0));
    ok(drep_dimension_create(f, dim, N, 0));
    for (int i = 0; i < 3; i++)
        ok(drep_dataset_create(f, places[i], &spec, NULL));
    if (_i)
        change_link(f, "dangling", NOWHERE);
    ok(drep_close(f));
    repaired(path, new_path, finding_of[_i]);
    f = opened(new_path, DREP_RDONLY);
    ok(drep_stat(f, "/m#x", &x));
    ok(drep_stat(f, "/", &root));
    ck_assert_int_eq(root.members, 4);
    for (int i = 0; i < 3; i++) {
        ok(drep_dataset_open(f, places[i], &ds));
        ok(drep_dataset_info(ds, &info));
        ck_assert_uint_eq(info.dim_ids[0], x.id);
        drep_dataset_close(ds);
    }
    check_file(f);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_links)
{
    const char *path = temp_path("links"), *new_path = temp_path("links.new");
    drep_objinfo one = DREP_OBJINFO, two = DREP_OBJINFO;
    char all[400] = "";
    drep_file *f;

    make_source(path, _i);
    repaired(path, new_path, finding_of[_i]);
    f = opened(new_path, DREP_RDONLY);
    ok(drep_list(f, "/", DREP_BY_CREATION, see_link, all));
    ck_assert_str_eq(all, "g pair of_pairs soft->/g/d outside->other.drep->/a/b ");
    ok(drep_stat(f, "/g/d", &one));
    ok(drep_stat(f, "/g/again", &two));
    ck_assert_uint_eq(one.id, two.id);
    ok(drep_stat(f, "/soft", &two));
    ck_assert_uint_eq(one.id, two.id);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_dimensions_and_named_types)
{
    const char *path = temp_path("dims"), *new_path = temp_path("dims.new");
    drep_type *type;
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    drep_objinfo dim = DREP_OBJINFO;
    drep_file *f;

    make_source(path, _i);
    repaired(path, new_path, finding_of[_i]);
    f = opened(new_path, DREP_RDONLY);
    ok(drep_stat(f, "/g#x", &dim));
    ck_assert_int_eq(dim.kind, DREP_OBJ_DIMENSION);
    ok(drep_dataset_open(f, "/g/d", &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_uint_eq(info.dim_ids[0], dim.id);
    ck_assert_int_eq(info.layout, DREP_CHUNKED);
    ck_assert_int_eq(info.chunk[0], CHUNK);
    drep_dataset_close(ds);
    ok(drep_type_open(f, "/pair", &type));
    ok(drep_dataset_open(f, "/of_pairs", &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert(drep_type_equal(type, info.type));
    drep_dataset_close(ds);
    drep_type_free(type);
    ok(drep_close(f));
}
END_TEST

/* A group that no link leads to any more gets one, with all that is in it. */
START_TEST(test_lost_and_found)
{
    const char *path = temp_path("lost"), *new_path = temp_path("lost.new");
    char name[60], inside[80], text[100];
    drep_objinfo group = DREP_OBJINFO, there = DREP_OBJINFO;
    drep_file *f;

    make_source(path, true);
    f = opened(path, DREP_RDWR);
    ok(drep_stat(f, "/g", &group));
    change_link(f, "g", 0);
    ok(drep_close(f));
    snprintf(name, sizeof name, "/lost+found-%llu", (unsigned long long)group.id);
    snprintf(inside, sizeof inside, "%s/d", name);
    snprintf(text, sizeof text, "object %llu; it is \"%s\" now", (unsigned long long)group.id,
             name + 1);
    repaired(path, new_path, text);
    f = opened(new_path, DREP_RDONLY);
    ok(drep_stat(f, name, &there));
    ck_assert_int_eq(there.kind, DREP_OBJ_GROUP);
    ok(drep_stat(f, inside, &there));
    ck_assert_int_eq(there.kind, DREP_OBJ_DATASET);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

/* Flips a bit of the last occurrence of a text in a file. */
static void damage_text(const char *path, const char *text)
{
    static char bytes[1 << 16];
    FILE *p = fopen(path, "r+b");
    size_t n = fread(bytes, 1, sizeof bytes, p), size = strlen(text), at = 0;

    for (size_t i = 0; i + size <= n; i++)
        if (memcmp(bytes + i, text, size) == 0)
            at = i;
    ck_assert_uint_ne(at, 0);
    ck_assert_int_eq(fseek(p, (long)at, SEEK_SET), 0);
    fputc(bytes[at] ^ 1, p);
    fclose(p);
}

static int note_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)err, (void)offset;
    strncat(ctx, message, 6000 - strlen(ctx) - 2);
    strcat(ctx, "\n");
    return 0;
}

/* Links that only a damaged newer commit has: none is dropped without a word. */
START_TEST(test_links_of_a_damaged_commit)
{
    static const char *const told[] = {
        "soft link \"/later\", which is \"/lost+found/later\" now\n",
        "external link \"/far\", which is \"/lost+found/far\" now\n",
        "hard link \"/twin2\"",
        "hard link to a group, \"/empty\"",
        "soft link \"inner\" of group ",
    };
    const char *path = temp_path("later"), *new_path = temp_path("later.new");
    static char found[6000];
    char all[600] = "";
    int64_t n = 0;
    drep_file *f;

    *found = 0;
    make_source(path, 0);
    f = opened(path, DREP_RDWR);
    ok(drep_link_soft(f, "/g/nowhere", "/later"));
    ok(drep_link_soft(f, "../g/d", "/g/inner"));
    ok(drep_link_external(f, "there.drep", "/x", "/far"));
    ok(drep_link_hard(f, "/g/d", "/twin"));
    ok(drep_link_hard(f, "/g/d", "/twin2"));
    ok(drep_group_create(f, "/empty", 0));
    ok(drep_attr_write(f, "/g", "text", DREP_CHAR, 1, &(int64_t){11}, "Sea surface"));
    ok(drep_close(f));
    damage_text(path, "Sea surface");
    ok(drep_repair(path, new_path, 0, NULL, note_finding, found, &n));
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        ck_assert_msg(strstr(found, told[i]) != NULL, "%s is not in:\n%s", told[i], found);
    f = opened(new_path, DREP_RDONLY);
    ok(drep_list(f, "/lost+found", DREP_BY_NAME, see_link, all));
    ck_assert_msg(strstr(all, "later->/g/nowhere") && strstr(all, "far->there.drep->/x") &&
                      strstr(all, "inner->../g/d"),
                  "%s", all);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

/* One byte of the payload of `element`, wherever the file has it. */
static void damage_payload(const char *path, int32_t element)
{
    static uint8_t bytes[1 << 16];
    FILE *p = fopen(path, "r+b");
    size_t n = fread(bytes, 1, sizeof bytes, p), found = 0, at = 0;

    for (size_t i = 8192; i + 4 <= n; i += 4)
        if (memcmp(bytes + i, &element, 4) == 0) {
            at = i;
            found++;
        }
    ck_assert_uint_eq(found, 1);
    ck_assert_int_eq(fseek(p, (long)at, SEEK_SET), 0);
    fputc(bytes[at] ^ 1, p);
    fclose(p);
}

START_TEST(test_a_damaged_chunk_reads_as_fill)
{
    const int32_t want[N] = {10, 11, -1, -1, 14, 15};
    const char *path = temp_path("chunk"), *new_path = temp_path("chunk.new");
    int32_t seen[N] = {0}, mark = 0x7a6b5c4d;
    int64_t start = 2, count = 1;
    drep_selection *sel;
    drep_dataset *ds;
    drep_file *f;

    make_source(path, _i);
    f = opened(path, DREP_RDWR);
    ok(drep_dataset_open(f, "/g/d", &ds));
    ok(drep_select_box(1, &start, &count, NULL, NULL, &sel));
    ok(drep_write(ds, sel, DREP_INT32_T, &mark, NULL));
    drep_selection_free(sel);
    drep_dataset_close(ds);
    ok(drep_close(f));
    damage_payload(path, mark);
    repaired(path, new_path, "dataset \"/g/again\": elements 0 to 1 ");
    f = opened(new_path, DREP_RDONLY);
    ok(drep_dataset_open(f, "/g/d", &ds));
    ok(drep_read(ds, NULL, DREP_INT32_T, seen, NULL));
    drep_dataset_close(ds);
    ck_assert_mem_eq(seen, want, sizeof want);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

/* Each byte that says what the file is, in both slots, and its slots' sums with it. */
START_TEST(test_a_damaged_magic_or_version)
{
    const char *path = temp_path("version"), *new_path = temp_path("version.new");
    drep_file *f;

    make_source(path, 0);
    for (int slot = 0; slot < 2; slot++) {
        FILE *p = fopen(path, "r+b");
        int was;

        ck_assert_int_eq(fseek(p, slot * 4096L + _i, SEEK_SET), 0);
        was = fgetc(p);
        ck_assert_int_eq(fseek(p, slot * 4096L + _i, SEEK_SET), 0);
        fputc(was ^ 0x41, p);
        fclose(p);
    }
    repaired(path, new_path, "slot");
    f = opened(new_path, DREP_RDONLY);
    have_attrs(f, "/g/d", 3);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

/* A file of one commit has one slot.  The sum tells which byte of it is damaged, and what it was.
 */
START_TEST(test_a_damaged_byte_of_the_only_slot)
{
    static const int first[] = {0,   9,   12,  23,  24,  60,  86,   100,
                                150, 160, 200, 256, 258, 300, 4088, 4095};
    const char *path = temp_path("byte"), *new_path = temp_path("byte.new");
    int at = _i < 16 ? first[_i] : 331 + 253 * (_i - 16), was;
    drep_header header = DREP_HEADER;
    drep_file *f;
    FILE *p;

    make_source(path, 0);
    f = opened(path, DREP_RDONLY);
    ok(drep_header_get(f, &header));
    ck_assert_uint_eq(header.sequence, 1);
    ok(drep_close(f));
    p = fopen(path, "r+b");
    ck_assert_int_eq(fseek(p, at, SEEK_SET), 0);
    was = fgetc(p);
    ck_assert_int_eq(fseek(p, at, SEEK_SET), 0);
    fputc(was ^ (1 + (7 * at + 1) % 255), p);
    fclose(p);
    repaired(path, new_path, "a byte of a header slot is damaged; the checksum tells its value");
    f = opened(new_path, DREP_RDONLY);
    ok(drep_header_get(f, &header));
    ck_assert_str_eq(header.datarep, "internal");
    have_attrs(f, "/", 0);
    have_attrs(f, "/g/d", 3);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

/* ---- all or nothing ---- */

static const char old_bytes[] = "what stood there before";

static void put_old(const char *path)
{
    FILE *p = fopen(path, "wb");

    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(fwrite(old_bytes, sizeof old_bytes, 1, p), 1);
    ck_assert_int_eq(fclose(p), 0);
}

/* old: the file there has its old bytes; else there is none.  No temporary file is left. */
static void untouched(const char *path, bool old)
{
    char bytes[sizeof old_bytes + 1];
    struct dirent *e;
    DIR *dir = opendir(temp_dir);
    FILE *p = fopen(path, "rb");

    while ((e = readdir(dir)) != NULL)
        ck_assert_msg(strncmp(e->d_name, ".drep-", 6) != 0, "%s is left", e->d_name);
    closedir(dir);
    ck_assert_int_eq(p != NULL, old);
    if (p == NULL)
        return;
    ck_assert_uint_eq(fread(bytes, 1, sizeof bytes, p), sizeof old_bytes);
    ck_assert_mem_eq(bytes, old_bytes, sizeof old_bytes);
    fclose(p);
}

/* Besides, a chunk beyond the repairer's limit: the last finding is one of the new file. */
static void make_limited(const char *path)
{
    static int8_t v[BIG];
    const int64_t n = BIG;
    const drep_filter filter = {.id = DREP_FILTER_SHUFFLE};
    const drep_spec spec = DREP_SPEC(.type = DREP_INT8_T, .rank = 1, .dims = &n, .chunk = &n,
                                     .filters = &filter, .nfilters = 1);
    drep_dataset *ds;
    drep_file *f;

    make_source(path, true);
    f = opened(path, DREP_RDWR);
    memset(v, 5, sizeof v);
    ok(drep_dataset_create(f, "/limited", &spec, &ds));
    ok(drep_write(ds, NULL, DREP_INT8_T, v, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
}

/* Ends the repair at each of its findings; the last ones come when the new file is complete. */
START_TEST(test_a_stopped_repair_changes_nothing)
{
    const char *path = temp_path("stop"), *new_path = temp_path("stop.new");
    struct told told = {.stop_at = -1, .text = "the new file"};
    drep_info *info = hints("drep_sync=none", "drep_limit_chunk=1000", (char *)NULL);
    int64_t findings = -1;
    int n;

    make_limited(path);
    ok(drep_repair(path, new_path, 0, info, tell, &told, &findings));
    ck_assert(told.seen);
    n = told.n;
    for (int old = 0; old < 2; old++)
        for (int i = 0; i < n; i++) {
            unlink(new_path);
            if (old)
                put_old(new_path);
            told = (struct told){.stop_at = i};
            fails(drep_repair(path, new_path, 0, info, tell, &told, &findings), 77);
            ck_assert_int_eq(told.n, i + 1);
            ck_assert_int_eq(findings, n);
            untouched(new_path, old);
        }
    drep_info_free(info);
}
END_TEST

/* The damaged file itself is the one to be replaced, and it is not lost either. */
START_TEST(test_a_stopped_repair_in_place)
{
    const char *path = temp_path("inplace");
    struct told told = {.stop_at = 0};
    struct stat before, after;
    drep_file *f;

    make_source(path, true);
    ck_assert_int_eq(stat(path, &before), 0);
    fails(drep_repair(path, path, 0, NULL, tell, &told, NULL), 77);
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert_uint_eq(before.st_ino, after.st_ino);
    repaired(path, path, finding_of[1]);
    f = opened(path, DREP_RDONLY);
    have_attrs(f, "/", 0);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

/* No file may be longer than this: a disk that becomes full at that byte. */
static void limit_files(rlim_t size)
{
    struct rlimit r;

    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &r), 0);
    r.rlim_cur = size;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &r), 0);
}

START_TEST(test_a_full_disk_changes_nothing)
{
    const char *path = temp_path("full"), *new_path = temp_path("full.new");
    drep_info *info = hints("drep_sync=none", (char *)NULL);
    struct stat st;

    signal(SIGXFSZ, SIG_IGN);
    make_source(path, _i);
    repaired(path, new_path, finding_of[_i]);
    ck_assert_int_eq(stat(new_path, &st), 0);
    for (int old = 0; old < 2; old++)
        for (int64_t size = 0; size < st.st_size; size += st.st_size / 20) {
            unlink(new_path);
            if (old)
                put_old(new_path);
            limit_files((rlim_t)size);
            fails(drep_repair(path, new_path, 0, info, NULL, NULL, NULL), DREP_ERR_NO_SPACE);
            limit_files(RLIM_INFINITY);
            untouched(new_path, old);
        }
    drep_info_free(info);
}
END_TEST

START_TEST(test_exclusive)
{
    const char *path = temp_path("excl"), *new_path = temp_path("excl.new");
    struct told told = {.stop_at = -1};
    int64_t findings = -1;

    make_source(path, _i);
    put_old(new_path);
    fails(drep_repair(path, new_path, DREP_EXCL, NULL, tell, &told, NULL), DREP_ERR_FILE_EXISTS);
    untouched(new_path, true);
    ck_assert_int_eq(unlink(new_path), 0);
    ok(drep_repair(path, new_path, DREP_EXCL, NULL, NULL, NULL, &findings));
    ck_assert_int_eq(findings > 0, _i);
}
END_TEST

START_TEST(test_arguments)
{
    const char *path = temp_path("args"), *new_path = temp_path("args.new");

    make_source(path, false);
    fails(drep_repair(NULL, new_path, 0, NULL, NULL, NULL, NULL), DREP_ERR_ARG);
    fails(drep_repair(path, NULL, 0, NULL, NULL, NULL, NULL), DREP_ERR_ARG);
    fails(drep_repair(path, new_path, DREP_RDONLY, NULL, NULL, NULL, NULL), DREP_ERR_AMODE);
    fails(drep_repair(temp_path("none"), new_path, 0, NULL, NULL, NULL, NULL),
          DREP_ERR_NO_SUCH_FILE);
    untouched(new_path, false);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("repair");
    TCase *t = tcase_create("repair");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, test_attributes, 0, 2);
    tcase_add_loop_test(t, test_links, 0, 2);
    tcase_add_loop_test(t, test_dimensions_and_named_types, 0, 2);
    tcase_add_loop_test(t, test_dimensions_elsewhere, 0, 2);
    tcase_add_test(t, test_lost_and_found);
    tcase_add_test(t, test_links_of_a_damaged_commit);
    tcase_add_loop_test(t, test_a_damaged_chunk_reads_as_fill, 0, 2);
    tcase_add_loop_test(t, test_a_damaged_magic_or_version, 0, 12);
    tcase_add_loop_test(t, test_a_damaged_byte_of_the_only_slot, 0, 31);
    tcase_add_test(t, test_a_stopped_repair_changes_nothing);
    tcase_add_test(t, test_a_stopped_repair_in_place);
    tcase_add_loop_test(t, test_a_full_disk_changes_nothing, 0, 2);
    tcase_add_loop_test(t, test_exclusive, 0, 2);
    tcase_add_test(t, test_arguments);
    suite_add_tcase(s, t);
    return run_suite(s);
}
