/* test_data_fault.c - every allocation of every call fails once: the call says so, leaks
 * nothing, leaves the handle usable and the file as the last commit left it (D11). */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

static const char *path;

/* ---- a file to try it on ---- */

static const int64_t dims[] = {7, 9}, chunk[] = {4, 4};

static int make_dataset(drep_file *f, const char *name, int kind, int layout, drep_dataset **out)
{
    static const drep_filter filter[] = {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE}};
    const int64_t max[] = {DREP_UNLIMITED, 9};
    drep_type *type = value_type(kind);
    drep_spec spec = DREP_SPEC(.type = type, .rank = 2, .dims = dims, .layout = layout);
    int err;

    if (layout == DREP_CHUNKED) {
        spec.chunk = chunk;
        spec.maxdims = max;
        spec.filters = filter;
        spec.nfilters = drep_filter_available(DREP_FILTER_DEFLATE) ? 2 : 1;
    }
    err = drep_dataset_create(f, name, &spec, out);
    drep_type_free(type);
    return err;
}

static void base_file(const char *datarep)
{
    static uint32_t zero;
    drep_file *f = new_file(path, datarep);
    drep_dataset *ds;

    ok(drep_group_create(f, "g/h", 1));
    ok(drep_link_hard(f, "g/h", "i"));
    ok(drep_attr_write_string(f, "/", "text", "a text"));
    for (int k = 0; k < 3; k++) {
        const int kinds[] = {V_INT32, V_DEEP, V_FLAT};
        drep_type *type = value_type(kinds[k]);
        static uint8_t buf[63 * VALUE_ROOM];
        char name[3] = {'d', (char)('0' + k), '\0'};

        ok(make_dataset(f, name, kinds[k], k == 2 ? DREP_CONTIGUOUS : DREP_CHUNKED, &ds));
        memset(buf, 0, sizeof buf);
        for (uint32_t i = 0; i < 63; i++)
            value_make(kinds[k], i + zero, buf + i * (size_t)drep_type_extent(type));
        ok(drep_write(ds, NULL, type, buf, NULL));
        drep_vlen_free(type, 63, buf);
        drep_dataset_close(ds);
        drep_type_free(type);
    }
    ok(drep_close(f));
}

/* ---- calls; memory of their own is not under test ---- */

static int call_group(drep_file *f)
{
    return drep_group_create(f, "new/deep/er", 1);
}

static int call_dimension(drep_file *f)
{
    return drep_dimension_create(f, "#dim", 5, 1);
}

/* More representations than the list of a file has room for at first. */
static int call_representations(drep_file *f)
{
    static const char *const names[] = {"native:win64",   "native:win32", "native:armhf",
                                        "native:m68k",    "native:mips",  "native:alpha",
                                        "native:s390x",   "native:hppa",  "native:powerpc",
                                        "native:sparc64", "external32"};
    int err = 0;

    for (size_t i = 0; !err && i < sizeof names / sizeof *names; i++) {
        char name[16];

        snprintf(name, sizeof name, "r%zu", i);
        err = drep_dataset_create(f, name, &DREP_SPEC(.type = DREP_INT, .datarep = names[i]), NULL);
    }
    return err;
}

static int call_links(drep_file *f)
{
    int err = drep_link_hard(f, "g", "j");

    err = err != 0 ? err : drep_link_soft(f, "/g/h", "k");
    err = err != 0 ? err : drep_link_external(f, "a", "b", "l");
    return err != 0 ? err : drep_link_move(f, "g", "moved");
}

static int call_remove(drep_file *f)
{
    int err = drep_link_remove(f, "d1");

    return err != 0 ? err : drep_link_remove(f, "g");
}

static int call_attr(drep_file *f)
{
    int err = drep_attr_write_string(f, "g", "a", "some text");

    err = err != 0 ? err : drep_attr_write_int64(f, "/", "text", 5);
    err = err != 0 ? err : drep_attr_rename(f, "/", "text", "other");
    err = err != 0 ? err : drep_attr_rename(f, "/", "other", "text");
    return err != 0 ? err : drep_attr_remove(f, "g", "a");
}

static int any_name(const char *name, void *ctx)
{
    (void)name;
    (void)ctx;
    return 0;
}

static int any_link(const drep_linkinfo *link, void *ctx)
{
    (void)link;
    (void)ctx;
    return 0;
}

static int call_look(drep_file *f)
{
    drep_objinfo info = DREP_OBJINFO;
    drep_attrinfo a = DREP_ATTRINFO;
    char *text = NULL, *where;
    int err = drep_stat(f, "g/h", &info);

    err = err != 0 ? err : drep_object_path(f, info.id, &where);
    if (err == 0)
        free(where);
    err = err != 0 ? err : drep_list(f, "/", DREP_BY_NAME, any_link, NULL);
    err = err != 0 ? err : drep_list(f, "/", DREP_BY_CREATION, any_link, NULL);
    err = err != 0 ? err : drep_attr_list(f, "/", DREP_BY_CREATION, any_name, NULL);
    err = err != 0 ? err : drep_attr_info(f, "/", "text", &a);
    if (err == 0)
        err = drep_attr_read(f, "/", "text", a.type, &text), drep_attrinfo_release(&a);
    free(text);
    return err;
}

static int call_info(drep_file *f)
{
    drep_info *info;
    int err = drep_get_info(f, &info);

    if (err != 0)
        return err;
    err = drep_set_info(f, info);
    drep_info_free(info);
    err = err != 0 ? err : drep_header_hints(f, &info);
    if (err == 0)
        drep_info_free(info);
    return err;
}

static int call_named_type(drep_file *f)
{
    static drep_type *type;
    drep_type *back;
    int err;

    if (type == NULL) {
        mem_fail_at(-1);
        type = value_type(V_DEEP);
        return DREP_ERR_NOMEM; /* this one does not count */
    }
    err = drep_type_commit(f, "t", type);
    err = err != 0 ? err : drep_type_open(f, "t", &back);
    if (err == 0)
        drep_type_free(back);
    return err;
}

static int create_kind(drep_file *f, int kind)
{
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    int err = make_dataset(f, "new", kind, DREP_CHUNKED, &ds);

    if (err != 0)
        return err;
    err = drep_dataset_info(ds, &info);
    drep_dataset_close(ds);
    return err;
}

static int call_create(drep_file *f)
{
    return create_kind(f, V_INT);
}

static int move(drep_file *f, const char *name, int kind, bool writing)
{
    static uint8_t buf[63 * VALUE_ROOM];
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    int err = drep_dataset_open(f, name, &ds);

    if (err != 0)
        return err;
    memset(buf, 0, sizeof buf);
    err = drep_dataset_info(ds, &info);
    if (err != 0) {
        drep_dataset_close(ds);
        return err;
    }
    for (uint32_t i = 0; writing && i < 63; i++)
        value_make(kind, 2 * i + 1, buf + i * (size_t)drep_type_extent(info.type));
    err = writing ? drep_write(ds, NULL, NULL, buf, NULL) : drep_read(ds, NULL, NULL, buf, NULL);
    if (err == 0 || writing)
        drep_vlen_free(info.type, 63, buf);
    drep_dataset_close(ds);
    return err;
}

static int call_write(drep_file *f)
{
    return move(f, "d0", V_INT32, true);
}

static int call_write_deep(drep_file *f)
{
    return move(f, "d1", V_DEEP, true);
}

static int call_write_flat(drep_file *f)
{
    return move(f, "d2", V_FLAT, true);
}

static int call_read(drep_file *f)
{
    return move(f, "d0", V_INT32, false);
}

static int call_read_deep(drep_file *f)
{
    return move(f, "d1", V_DEEP, false);
}

static int call_points(drep_file *f)
{
    static const int64_t coords[] = {0, 0, 6, 8, 3, 3, 4, 4, 0, 1};
    int32_t v[5] = {1, 2, 3, 4, 5};
    drep_selection *sel;
    drep_dataset *ds;
    int err = drep_dataset_open(f, "d0", &ds);

    if (err != 0)
        return err;
    err = drep_select_points(2, 5, coords, &sel);
    if (err == 0) {
        err = drep_read(ds, sel, NULL, v, NULL);
        err = err != 0 ? err : drep_write(ds, sel, NULL, v, NULL);
        drep_selection_free(sel);
    }
    drep_dataset_close(ds);
    return err;
}

static int call_resize(drep_file *f)
{
    const int64_t less[] = {5, 2}, more[] = {20, 9};

    for (int k = 0; k < 2; k++) {
        drep_dataset *ds;
        int err = drep_dataset_open(f, k == 0 ? "d0" : "d1", &ds);

        if (err != 0)
            return err;
        err = drep_dataset_resize(ds, less);
        err = err != 0 ? err : drep_dataset_resize(ds, more);
        drep_dataset_close(ds);
        if (err != 0)
            return err;
    }
    return 0;
}

static int call_commit(drep_file *f)
{
    int err = call_write(f);

    err = err != 0 ? err : drep_attr_write_int64(f, "/", "n", 1);
    return err != 0 ? err : drep_commit(f);
}

static int no_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)offset;
    (void)message;
    if (*(int *)ctx == 0) /* the others follow from it */
        *(int *)ctx = err;
    return 0;
}

static int call_check(drep_file *f)
{
    int64_t findings = 0;
    int found = 0, err = drep_check(f, 1, no_finding, &found, &findings);

    return err != 0 ? err : found; /* running out of memory may be a finding */
}

static const struct {
    const char *name;
    int (*call)(drep_file *);
    bool commits;
} calls[] = {{"group", call_group, false},
             {"representations", call_representations, false},
             {"dimension", call_dimension, false},
             {"links", call_links, false},
             {"remove", call_remove, false},
             {"attr", call_attr, false},
             {"look", call_look, false},
             {"info", call_info, false},
             {"type", call_named_type, false},
             {"create", call_create, false},
             {"write", call_write, false},
             {"write deep", call_write_deep, false},
             {"write flat", call_write_flat, false},
             {"read", call_read, false},
             {"read deep", call_read_deep, false},
             {"points", call_points, false},
             {"resize", call_resize, false},
             {"check", call_check, false},
             {"commit", call_commit, true}};
enum { CALLS = sizeof calls / sizeof *calls };

/* ---- trying ---- */

/* What base_file() wrote is there. */
static void look(drep_file *f, const char *call, int n)
{
    static int32_t v[63];
    drep_dataset *ds;
    char *text;

    ok(drep_dataset_open(f, "d0", &ds));
    ok(drep_read(ds, NULL, NULL, v, NULL));
    for (int i = 0; i < 63; i++)
        ck_assert_msg(v[i] == (i % 2 ? -i * 100 : i * 100), "%s, fault %d: element %d is %d", call,
                      n, i, v[i]);
    drep_dataset_close(ds);
    ok(drep_attr_read(f, "/", "text", NULL, &text));
    ck_assert_str_eq(text, "a text");
    free(text);
}

static drep_file *open_base(void)
{
    drep_info *info = hints("drep_sync=none", "drep_threads=1", (char *)NULL);
    drep_file *f;

    ok(drep_open(path, DREP_RDWR, info, &f));
    drep_info_free(info);
    return f;
}

static void try_call(int i)
{
    int err = DREP_ERR_NOMEM;

    for (int n = 0; err != 0; n++) {
        drep_file *f = open_base();

        ck_assert_int_lt(n, 20000);
        mem_fail_at(n);
        err = calls[i].call(f);
        mem_fail_at(-1);
        ck_assert_msg(err == 0 || err == DREP_ERR_NOMEM, "%s, fault %d: error %d: %s",
                      calls[i].name, n, err, drep_error());
        if (err != 0 && n % 3 == 0)
            look(f, calls[i].name, n); /* half a call may have been kept, but not of these */
        drep_abandon(f);
        if (calls[i].commits && err == 0)
            continue;
        f = open_base();
        look(f, calls[i].name, n);
        if (n % 10 == 0)
            check_file(f);
        drep_abandon(f);
    }
}

START_TEST(test_D11_each_allocation_fails_once)
{
    register_datareps();
    path = temp_path("fault");
    for (int k = 0; k < 2; k++) {
        base_file(k == 0 ? "external32" : "xor");
        try_call(_i);
    }
}
END_TEST

START_TEST(test_D22_creating_and_opening)
{
    drep_file *f = NULL;
    int err = DREP_ERR_NOMEM;

    register_datareps();
    path = temp_path("fault2");
    for (int k = 0; k < 2; k++) {
        for (int n = 0; err != 0; n++) {
            mem_fail_at(n);
            err = drep_create(path, DREP_RDWR, k == 0 ? "small" : "xor", NULL, &f);
            if (err == 0)
                err = drep_close(f);
            mem_fail_at(-1);
            ck_assert_msg(err == 0 || err == DREP_ERR_NOMEM, "%d: %s", n, drep_error());
            ck_assert(err == 0 || !temp_exists(path));
        }
        unlink(path);
        base_file(k == 0 ? "small" : "xor");
        err = DREP_ERR_NOMEM;
        for (int n = 0; err != 0; n++) {
            mem_fail_at(n);
            err = drep_open(path, DREP_RDONLY, NULL, &f);
            if (err == 0)
                err = drep_close(f);
            mem_fail_at(-1);
            ck_assert_msg(err == 0 || err == DREP_ERR_NOMEM, "%d: %s", n, drep_error());
        }
        unlink(path);
        err = DREP_ERR_NOMEM;
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data fault");
    TCase *t = tcase_create("fault");

    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, test_D11_each_allocation_fails_once, 0, CALLS);
    tcase_add_test(t, test_D22_creating_and_opening);
    suite_add_tcase(s, t);
    return run_suite(s);
}
