/* test_data_object.c - names, paths, links, dimensions and named datatypes of a
 * container, and their limits (D17, D20, D21). */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

static drep_file *f;

static void setup(void)
{
    ok(drep_create(":memory:", DREP_RDWR, "external32", NULL, &f));
}

static void teardown(void)
{
    drep_abandon(f);
}

static void names_error(const char *part)
{
    ck_assert_msg(strstr(drep_error(), part) != NULL, "\"%s\" does not name %s", drep_error(),
                  part);
}

/* A group is moved into a new one, again and again: what is below it is looked at only where a
 * group on the way has several links. */
START_TEST(test_D21_a_deep_group_moves)
{
    enum { DEEP = 20000 };
    char from[40], into[40], to[60];

    ok(drep_group_create(f, "/g0", 0));
    for (int i = 1; i < DEEP; i++) {
        snprintf(from, sizeof from, "/g%d", i - 1);
        snprintf(into, sizeof into, "/g%d", i);
        snprintf(to, sizeof to, "/g%d/x", i);
        ok(drep_group_create(f, into, 0));
        ok(drep_link_move(f, from, to));
    }
    ok(drep_group_create(f, "/a/b", 1));
    ok(drep_link_move(f, into, "/a/b/top"));
    fails(drep_link_move(f, "/a", "/a/b/top/x/x/a"), DREP_ERR_ARG);
    fails(drep_link_hard(f, "/a", "/a/b/a"), DREP_ERR_ARG);
    ok(drep_link_soft(f, "/a/b/top/x", "/way"));
    fails(drep_link_move(f, "/a", "/way/x/a"), DREP_ERR_ARG);
    ok(drep_link_hard(f, "/a/b/top/x/x", "/second")); /* the other way leads not by /a */
    fails(drep_link_move(f, "/a", "/second/a"), DREP_ERR_ARG);
    fails(drep_link_move(f, "/a", "/second/x/x/a"), DREP_ERR_ARG);
    ok(drep_link_remove(f, "/a/b/top/x/x"));
    ok(drep_link_move(f, "/a", "/second/x/x/a"));
    check_file(f);
}
END_TEST

START_TEST(test_paths)
{
    drep_objinfo info = DREP_OBJINFO;

    ok(drep_group_create(f, "/a/b/c", 1));
    ok(drep_group_create(f, "a/b/d", 0));
    ok(drep_stat(f, "a/b/c", &info));
    ck_assert_int_eq(info.kind, DREP_OBJ_GROUP);
    ok(drep_stat(f, "//a///b/", &info));
    ck_assert_int_eq(info.members, 2);
    ok(drep_stat(f, "/", &info));
    ck_assert_uint_eq(info.id, 1);
    ok(drep_stat(f, "", &info));
    ck_assert_uint_eq(info.id, 1);
    fails(drep_stat(f, "a/x/c", &info), DREP_ERR_NOT_FOUND);
    names_error("\"x\"");
    fails(drep_group_create(f, "a/b/x/y/z", 0), DREP_ERR_NOT_FOUND);
    names_error("\"x\"");
    fails(drep_group_create(f, "a/b", 0), DREP_ERR_EXISTS);
    fails(drep_group_create(f, "/", 0), DREP_ERR_NAME);
    fails(drep_group_create(f, "", 0), DREP_ERR_NAME);
    drep_dataset_close(new_dataset(f, "a/ds", DREP_INT, 0, NULL));
    fails(drep_group_create(f, "a/ds/g", 1), DREP_ERR_KIND);
    fails(drep_stat(f, "a/ds/g", &info), DREP_ERR_NOT_FOUND);
    fails(drep_list(f, "a/ds", DREP_BY_NAME, (drep_list_fn *)(void *)abort, NULL), DREP_ERR_KIND);
}
END_TEST

START_TEST(test_D17_names)
{
    char name[1100];
    drep_objinfo info = DREP_OBJINFO;

    memset(name, 'n', sizeof name);
    name[1023] = '\0';
    ok(drep_group_create(f, name, 0));
    ok(drep_stat(f, name, &info));
    name[1023] = 'n';
    name[1024] = '\0';
    fails(drep_group_create(f, name, 0), DREP_ERR_NAME);
    fails(drep_group_create(f, "a/", 0), DREP_ERR_NAME);
    fails(drep_group_create(f, ".", 0), DREP_ERR_NAME);
    fails(drep_group_create(f, "..", 0), DREP_ERR_NAME);
    fails(drep_group_create(f, "/x/..", 1), DREP_ERR_NAME);
    fails(drep_group_create(f, "\xff", 0), DREP_ERR_NAME);
    fails(drep_group_create(f, "\xc0\x80", 0), DREP_ERR_NAME);
    ok(drep_group_create(f, "...", 0));
    ok(drep_group_create(f, "n\xc3\xa4me \xf0\x9f\x8c\x8d", 0));
    fails(drep_stat(f, "x", &info), DREP_ERR_NOT_FOUND); /* parents were not left behind */
}
END_TEST

/* ---- links ---- */

START_TEST(test_D21_no_group_is_its_own_ancestor)
{
    drep_objinfo info = DREP_OBJINFO;

    ok(drep_group_create(f, "a/b/c", 1));
    ok(drep_link_hard(f, "a/b", "again"));
    fails(drep_link_hard(f, "a", "a/b/c/loop"), DREP_ERR_ARG);
    fails(drep_link_hard(f, "a", "again/loop"), DREP_ERR_ARG);
    fails(drep_link_hard(f, "/", "a/root"), DREP_ERR_ARG);
    fails(drep_link_hard(f, "a", "a/self"), DREP_ERR_ARG);
    fails(drep_link_move(f, "a", "a/b/a"), DREP_ERR_ARG);
    fails(drep_link_move(f, "a", "a/a"), DREP_ERR_ARG);
    ok(drep_link_hard(f, "a/b/c", "a/c"));
    ok(drep_stat(f, "a/c", &info));
    ck_assert_uint_eq(info.links, 2);
    check_file(f);
}
END_TEST

/* Forty groups, each twice in the one above: 2^40 paths, 40 groups. */
START_TEST(test_D21_many_paths_are_walked_once)
{
    char at[200] = "g", below[200], path[2][200], *found;
    drep_objinfo info = DREP_OBJINFO;

    ok(drep_group_create(f, at, 0));
    for (int i = 0; i < 40; i++) {
        snprintf(below, sizeof below, "%.150s/a", at);
        ok(drep_group_create(f, below, 0));
        snprintf(path[0], sizeof path[0], "%.150s/b", at);
        ok(drep_link_hard(f, below, path[0]));
        strcpy(at, below);
    }
    ok(drep_link_hard(f, "g", "h"));
    snprintf(path[1], sizeof path[1], "%.150s/up", at);
    fails(drep_link_hard(f, "h", path[1]), DREP_ERR_ARG);
    ok(drep_stat(f, at, &info));
    ok(drep_object_path(f, info.id, &found));
    ok(drep_stat(f, found, &info));
    free(found);
    ok(drep_link_remove(f, "g"));
    ok(drep_link_remove(f, "h"));
    ok(drep_stat(f, "/", &info));
    ck_assert_int_eq(info.members, 0);
    check_file(f);
}
END_TEST

START_TEST(test_D21_soft_links)
{
    drep_objinfo info = DREP_OBJINFO;
    char name[24];

    ok(drep_group_create(f, "a/b", 1));
    ok(drep_link_soft(f, "/a/b", "abs"));
    ok(drep_link_soft(f, "b", "a/rel"));
    ok(drep_link_soft(f, "nowhere", "a/dangling"));
    ok(drep_stat(f, "abs", &info));
    ok(drep_stat(f, "a/rel", &info));
    fails(drep_stat(f, "a/dangling", &info), DREP_ERR_NOT_FOUND);
    names_error("nowhere");
    ok(drep_group_create(f, "abs/c", 0));
    ok(drep_stat(f, "a/b/c", &info));
    ok(drep_link_soft(f, "loop", "loop"));
    fails(drep_stat(f, "loop", &info), DREP_ERR_LIMIT);
    fails(drep_stat(f, "loop/x", &info), DREP_ERR_LIMIT);
    ok(drep_group_create(f, "s", 0));
    ok(drep_link_soft(f, "/a", "s/0"));
    for (int i = 1; i < 32; i++) {
        char to[32], path[32];

        snprintf(to, sizeof to, "/s/%d", i - 1);
        snprintf(path, sizeof path, "s/%d", i);
        ok(drep_link_soft(f, to, path));
    }
    ok(drep_stat(f, "s/31", &info));
    ok(drep_link_soft(f, "/s/31", "s/32"));
    fails(drep_stat(f, "s/32", &info), DREP_ERR_LIMIT);
    snprintf(name, sizeof name, "x");
    fails(drep_link_soft(f, "", name), DREP_ERR_NAME);
    ok(drep_link_external(f, "other.drep", "/d", "ext"));
    fails(drep_stat(f, "ext", &info), DREP_ERR_UNSUPPORTED_OPERATION);
    names_error("other.drep");
    ok(drep_link_remove(f, "abs")); /* the link, not what it leads to */
    ok(drep_stat(f, "a/b", &info));
    check_file(f);
}
END_TEST

START_TEST(test_move_and_remove)
{
    drep_objinfo info = DREP_OBJINFO;
    drep_dataset *ds;
    int32_t v = 3;

    ok(drep_group_create(f, "a/b", 1));
    ds = new_dataset(f, "a/b/d", DREP_INT32_T, 0, NULL);
    ok(drep_write(ds, NULL, NULL, &v, NULL));
    ok(drep_link_move(f, "a/b", "moved"));
    fails(drep_stat(f, "a/b", &info), DREP_ERR_NOT_FOUND);
    ok(drep_stat(f, "moved/d", &info));
    ok(drep_link_move(f, "moved/d", "moved/e"));
    fails(drep_link_move(f, "moved/e", "a"), DREP_ERR_EXISTS);
    fails(drep_link_move(f, "moved/d", "x"), DREP_ERR_NOT_FOUND);
    ok(drep_stat(f, "moved/e", &info)); /* the failing ones changed nothing */
    v = 0;
    ok(drep_read(ds, NULL, NULL, &v, NULL));
    ck_assert_int_eq(v, 3);
    ok(drep_link_remove(f, "moved"));
    fails(drep_read(ds, NULL, NULL, &v, NULL), DREP_ERR_NOT_FOUND); /* the handle knows */
    fails(drep_write(ds, NULL, NULL, &v, NULL), DREP_ERR_NOT_FOUND);
    drep_dataset_close(ds);
    fails(drep_link_remove(f, "/"), DREP_ERR_NAME);
    ok(drep_stat(f, "/", &info));
    ck_assert_int_eq(info.members, 1);
    check_file(f);
}
END_TEST

/* The type of a removed dataset was cached; a call that is taken back must not free what
 * the handle still shows. */
START_TEST(test_handle_outlives_its_dataset)
{
    drep_type *type = value_type(V_FLAT);
    drep_dataset *ds = new_dataset(f, "d", type, 0, NULL);
    drep_dsinfo info = DREP_DSINFO;

    ok(drep_link_remove(f, "d"));
    fails(drep_group_create(f, "x/y", 0), DREP_ERR_NOT_FOUND);
    ok(drep_dataset_info(ds, &info));
    ck_assert(drep_type_equal(info.type, type));
    drep_dataset_close(ds);
    drep_type_free(type);
}
END_TEST

/* ---- listing ---- */

struct names {
    char text[200];
    int stop;
};

static int add_name(const drep_linkinfo *link, void *ctx)
{
    struct names *n = ctx;
    drep_objinfo info = DREP_OBJINFO;

    strcat(n->text, link->name);
    ok(drep_stat(f, "/", &info)); /* the file may be used meanwhile */
    return strcmp(link->name, "m") == 0 ? n->stop : 0;
}

static int remove_it(const drep_linkinfo *link, void *ctx)
{
    ++*(int *)ctx;
    return drep_link_remove(f, link->name);
}

START_TEST(test_listing)
{
    struct names n = {"", 0};
    int removed = 0;

    ok(drep_group_create(f, "z", 0));
    ok(drep_group_create(f, "m", 0));
    ok(drep_group_create(f, "a", 0));
    ok(drep_list(f, "/", DREP_BY_NAME, add_name, &n));
    ck_assert_str_eq(n.text, "amz");
    n.text[0] = '\0';
    ok(drep_list(f, "/", DREP_BY_CREATION, add_name, &n));
    ck_assert_str_eq(n.text, "zma");
    n = (struct names){"", 99};
    fails(drep_list(f, "/", DREP_BY_NAME, add_name, &n), 99);
    ck_assert_str_eq(n.text, "am");
    ok(drep_list(f, "/", DREP_BY_CREATION, remove_it, &removed));
    ck_assert_int_eq(removed, 3);
}
END_TEST

static int as_stat_says(const drep_linkinfo *link, void *ctx)
{
    drep_objinfo info = DREP_OBJINFO;

    ++*(int *)ctx;
    ok(drep_stat(f, link->name, &info));
    ck_assert_int_eq(link->kind, info.kind);
    ck_assert_uint_eq(link->id, info.id);
    ck_assert_uint_eq(info.links, strchr(link->name, 'a') ? 1 : 2);
    ck_assert_int_eq(info.attrs, strchr(link->name, 'a') != NULL);
    return 0;
}

START_TEST(test_listing_says_what_stat_does)
{
    int n = 0;

    ok(drep_group_create(f, "g", 0));
    ok(drep_group_create(f, "ga", 0));
    ok(drep_attr_write_int64(f, "ga", "n", 1));
    ok(drep_link_hard(f, "g", "again"));
    ok(drep_link_remove(f, "again"));
    ok(drep_link_hard(f, "g", "twice"));
    ok(drep_list(f, "/", DREP_BY_NAME, as_stat_says, &n));
    ok(drep_list(f, "/", DREP_BY_CREATION, as_stat_says, &n));
    ck_assert_int_eq(n, 6);
}
END_TEST

/* Links of many batches, some with long texts, by a handle that writes and by one that reads. */
enum { LINKS = 300, LONG = 3000 };

struct all_links {
    drep_file *file;
    int n, order;
};

static int one_of_many(const drep_linkinfo *link, void *ctx)
{
    struct all_links *all = ctx;
    int want = all->order == DREP_BY_NAME ? all->n : LINKS - 1 - all->n;
    char name[16];
    drep_objinfo info = DREP_OBJINFO;

    snprintf(name, sizeof name, "n%03d", want);
    ck_assert_str_eq(link->name, name);
    ck_assert_uint_eq(link->index, (uint64_t)(LINKS - 1 - want));
    ck_assert_int_eq(link->link, 1 + want % 3);
    if (link->link == DREP_LINK_HARD) {
        ck_assert(link->kind == DREP_OBJ_GROUP && !link->target && !link->target_file);
        ok(drep_stat(all->file, name, &info));
        ck_assert_uint_eq(info.id, link->id);
    } else {
        ck_assert(link->kind == 0 && link->id == 0);
        ck_assert_uint_eq(strlen(link->target), (size_t)(LONG - want));
        ck_assert_int_eq(link->target[0], 'a' + want % 26);
        ck_assert_int_eq(link->target_file != NULL, link->link == DREP_LINK_EXTERNAL);
        ck_assert(!link->target_file || strcmp(link->target_file, name) == 0);
    }
    all->n++;
    return 0;
}

static void list_many(drep_file *file)
{
    for (int order = DREP_BY_NAME; order <= DREP_BY_CREATION; order++) {
        struct all_links all = {file, 0, order};

        ok(drep_list(file, "/", order, one_of_many, &all));
        ck_assert_int_eq(all.n, LINKS);
    }
}

START_TEST(test_listing_of_many)
{
    const char *path = temp_path("many");
    char name[16], target[LONG + 1];
    drep_file *many;

    ok(drep_create(path, DREP_RDWR, "external32", NULL, &many));
    for (int i = LINKS - 1; i >= 0; i--) {
        snprintf(name, sizeof name, "n%03d", i);
        memset(target, 'a' + i % 26, sizeof target);
        target[LONG - i] = '\0';
        ok(i % 3 == 0   ? drep_group_create(many, name, 0)
           : i % 3 == 1 ? drep_link_soft(many, target, name)
                        : drep_link_external(many, name, target, name));
    }
    list_many(many);
    ok(drep_close(many));
    ok(drep_open(path, DREP_RDONLY, NULL, &many));
    list_many(many);
    fails(drep_list(many, "none", DREP_BY_NAME, one_of_many, NULL), DREP_ERR_NOT_FOUND);
    ok(drep_close(many));
}
END_TEST

/* What a path led to is kept: not longer than it leads there. */
START_TEST(test_paths_that_led_elsewhere)
{
    drep_objinfo before = DREP_OBJINFO, after = DREP_OBJINFO;

    ok(drep_group_create(f, "g/h/x", 1));
    ok(drep_group_create(f, "g/h/y", 1));
    ok(drep_stat(f, "g/h/x", &before));
    ok(drep_link_move(f, "g/h", "k"));
    fails(drep_stat(f, "g/h/x", &after), DREP_ERR_NOT_FOUND);
    fails(drep_stat(f, "g/h/y", &after), DREP_ERR_NOT_FOUND);
    ok(drep_stat(f, "k/x", &after));
    ck_assert_uint_eq(after.id, before.id);
    ok(drep_group_create(f, "g/h/y", 1));
    ok(drep_stat(f, "k/y", &before));
    ok(drep_stat(f, "g/h/y", &after));
    ck_assert_uint_ne(after.id, before.id);
    fails(drep_stat(f, "g/h/x", &after), DREP_ERR_NOT_FOUND);
    ok(drep_link_remove(f, "g"));
    fails(drep_stat(f, "g/h/y", &after), DREP_ERR_NOT_FOUND);
    ok(drep_stat(f, "//k///y/", &after));
    ck_assert_uint_eq(after.id, before.id);
}
END_TEST

/* ---- dimensions ---- */

START_TEST(test_D20_dimensions)
{
    const int64_t dims[] = {4, 3}, max[] = {DREP_UNLIMITED, 3}, more[] = {9, 3};
    const char *const names[] = {"time", "x"};
    drep_spec spec =
        DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = dims, .maxdims = max, .dim_names = names);
    drep_dataset *ds, *other;
    drep_dsinfo info = DREP_DSINFO;
    drep_objinfo dim = DREP_OBJINFO;

    ok(drep_group_create(f, "g/h", 1));
    ok(drep_dimension_create(f, "g#x", 3, 0));
    ok(drep_dataset_create(f, "g/h/d", &spec, &ds)); /* "x" from above, "time" made beside it */
    ok(drep_dataset_info(ds, &info));
    ok(drep_stat(f, "g#x", &dim));
    ck_assert_uint_eq(info.dim_ids[1], dim.id);
    ok(drep_stat(f, "g/h#time", &dim));
    ck_assert_uint_eq(info.dim_ids[0], dim.id);
    ck_assert_int_eq(dim.unlimited, 1);
    ck_assert_int_eq(dim.len, 4);
    ok(drep_dataset_create(f, "g/h/e", &spec, &other));
    ok(drep_dataset_resize(ds, more));
    ok(drep_stat(f, "g/h#time", &dim));
    ck_assert_int_eq(dim.len, 9); /* grew with it */
    ok(drep_dataset_info(other, &info));
    ck_assert_int_eq(info.dims[0], 4); /* the other one keeps its own length */
    spec.dims = more;
    fails(drep_dataset_create(f, "g/h/e", &spec, NULL), DREP_ERR_EXISTS);
    ok(drep_dimension_create(f, "#short", 2, 0));
    spec.dim_names = (const char *const[]){"/#short", NULL};
    fails(drep_dataset_create(f, "k", &spec, NULL), DREP_ERR_DIMS);
    spec.dim_names = (const char *const[]){"/g", NULL};
    fails(drep_dataset_create(f, "k", &spec, NULL), DREP_ERR_KIND);
    fails(drep_dimension_create(f, "#negative", -1, 0), DREP_ERR_DIMS);
    check_file(f);
    fails(drep_dimension_remove(f, "g/h#time"), DREP_ERR_UNSUPPORTED_OPERATION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "dimension 0 of \"/g/h/"));
    ok(drep_dataset_resize(other, more));
    check_file(f);
    ok(drep_link_remove(f, "g"));
    check_file(f);
    drep_dataset_close(ds);
    drep_dataset_close(other);
}
END_TEST

static int add_dimension(const drep_diminfo *info, void *ctx)
{
    struct names *n = ctx;

    strcat(n->text, info->name);
    return 0;
}

/* A renamed dimension is the newest of its group, as a moved link is; its id stays. */
START_TEST(test_renamed_dimensions_come_last)
{
    drep_objinfo before = DREP_OBJINFO, after = DREP_OBJINFO;
    struct names n = {"", 0};

    ok(drep_dimension_create(f, "#a", 1, 0));
    ok(drep_dimension_create(f, "#b", 2, 0));
    ok(drep_dimension_create(f, "#c", 3, 0));
    ok(drep_stat(f, "#b", &before));
    ok(drep_dimension_rename(f, "#b", "x"));
    ok(drep_dimension_rename(f, "#x", "b"));
    ok(drep_stat(f, "#b", &after));
    ck_assert_uint_eq(before.id, after.id);
    ok(drep_dimension_list(f, "/", DREP_BY_CREATION, add_dimension, &n));
    ck_assert_str_eq(n.text, "acb");
    check_file(f);
}
END_TEST

/* ---- named datatypes ---- */

START_TEST(test_named_types)
{
    const char *const lines[] = {"INT",
                                 "vector(3,2,5,DOUBLE)",
                                 "struct{a: INT64_T, b: DOUBLE[3,4]}",
                                 "subarray([4,5],[2,3],[1,1],c,INT16_T)",
                                 "seq(vstring)",
                                 "enum(INT8_T){RED=0,GREEN=1}",
                                 "struct{INT, struct{SHORT, DOUBLE}}",
                                 "struct([2,1],[0,16],[INT,DOUBLE])"};
    enum { LINES = sizeof lines / sizeof *lines };
    char *before, *after;
    drep_type *type, *back;
    drep_objinfo info = DREP_OBJINFO;

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < LINES; i++) {
            char path[32];

            snprintf(path, sizeof path, "t%d", 10 * round + i);
            ok(drep_type_parse(lines[i], &type));
            ok(drep_type_commit(f, path, type));
            ok(drep_type_open(f, path, &back));
            ck_assert_msg(drep_type_equal(type, back), "%s", lines[i]);
            ok(drep_type_print(type, &before));
            ok(drep_type_print(back, &after));
            ck_assert_str_eq(before, after);
            free(before);
            free(after);
            drep_type_free(type);
            drep_type_free(back);
        }
    fails(drep_type_open(f, "/", &back), DREP_ERR_KIND);
    ok(drep_stat(f, "t1", &info));
    ck_assert_int_eq(info.kind, DREP_OBJ_TYPE);
    check_file(f); /* also counts uses */
    for (int i = 0; i < LINES; i++) {
        char path[32];

        snprintf(path, sizeof path, "t%d", i);
        ok(drep_link_remove(f, path));
        check_file(f);
    }
}
END_TEST

/* A call that fails in the middle leaves no trace of the types it read or stored. */
START_TEST(test_types_of_calls_taken_back)
{
    drep_type *a, *b, *back;

    ok(drep_type_parse("struct{a: INT64_T}", &a));
    ok(drep_type_parse("struct{b: DOUBLE}", &b));
    ok(drep_type_commit(f, "t", DREP_INT));
    for (int i = 0; i < 20; i++) {
        fails(drep_type_commit(f, "t", i % 2 ? a : b), DREP_ERR_EXISTS);
        fails(drep_dataset_create(f, "t", &DREP_SPEC(.type = i % 2 ? b : a), NULL),
              DREP_ERR_EXISTS);
    }
    ok(drep_type_commit(f, "b", b));
    ok(drep_type_open(f, "b", &back));
    ck_assert(drep_type_equal(b, back));
    drep_type_free(back);
    drep_type_free(a);
    drep_type_free(b);
    check_file(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data object");
    TCase *t = tcase_create("object");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_D21_a_deep_group_moves);
    tcase_add_test(t, test_paths);
    tcase_add_test(t, test_D17_names);
    tcase_add_test(t, test_D21_no_group_is_its_own_ancestor);
    tcase_add_test(t, test_D21_many_paths_are_walked_once);
    tcase_add_test(t, test_D21_soft_links);
    tcase_add_test(t, test_move_and_remove);
    tcase_add_test(t, test_handle_outlives_its_dataset);
    tcase_add_test(t, test_listing);
    tcase_add_test(t, test_listing_says_what_stat_does);
    tcase_add_test(t, test_listing_of_many);
    tcase_add_test(t, test_paths_that_led_elsewhere);
    tcase_add_test(t, test_D20_dimensions);
    tcase_add_test(t, test_renamed_dimensions_come_last);
    tcase_add_test(t, test_named_types);
    tcase_add_test(t, test_types_of_calls_taken_back);
    suite_add_tcase(s, t);
    return run_suite(s);
}
