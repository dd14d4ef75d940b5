/* faults_file.h - public calls on files: every allocation and every system call of theirs
 * fails once, or from one on, is interrupted, or does half of what it was asked.
 *
 * Afterwards the handle holds what it held before the call (or after it, if the call says that
 * it succeeded) and goes on, or says that it does not; the file is the last commit; a new
 * handle finds nothing wrong with it. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_FAULTS_FILE_H
#define TESTS_FAULT_FAULTS_FILE_H

#include "faults_memory.h"
#include "model.h"

#include <errno.h>
#include <fcntl.h>

#define ROWS_LEN 3000
#define HIGH 40
#define WIDE 50

/* What a case works on; what it opened is closed after it. */
struct env {
    char path[300];
    drep_file *f;
    drep_dataset *ds;
    drep_view *view;
    drep_selection *sel;
    drep_type *type;
    drep_info *info;
    void *image;
    size_t size;
};

enum effect {
    READS,   /* on a handle that reads */
    OPENS,   /* the case opens and closes handles of its own */
    CHANGES, /* on a handle that has written before: all or nothing */
    COMMITS, /* what the handle has written */
    SETTLES, /* likewise, and rows that wait: without them the handle refuses to write */
    LEAVES,  /* likewise, and the handle is gone */
    MAKES    /* a file, in place of what is there */
};

struct file_case {
    const char *name;
    enum effect effect;
    const char *dataset; /* opened before, or NULL */
    int (*run)(struct env *e);
    int (*prepare)(struct env *e);
};

/* ---- the file that all begin with ---- */

static char base_path[300];
static uint64_t base_sum;

static void sure(int err, const char *what)
{
    if (err == 0)
        return;
    printf("not ok - %s: error %d: %s\n", what, err, drep_error());
    exit(1);
}

static void base_dataset(drep_file *f, const char *path, const drep_spec *spec)
{
    static int32_t v[ROWS_LEN];
    static char text[HIGH][TEXT_MAX], *p[HIGH];
    drep_dataset *ds;
    int text_type = drep_type_kind(spec->type) == DREP_KIND_VSTRING;

    for (int i = 0; i < ROWS_LEN; i++)
        v[i] = i * 7 % 1000;
    for (int i = 0; i < HIGH; i++) {
        text_of(v[i], text[i]);
        p[i] = text[i];
    }
    sure(drep_dataset_create(f, path, spec, &ds), path);
    sure(drep_write(ds, NULL, NULL, text_type ? (void *)p : (void *)v, NULL), path);
    drep_dataset_close(ds);
}

static void base_datasets(drep_file *f)
{
    static const int64_t len[2] = {ROWS_LEN}, grid[2] = {HIGH, WIDE}, chunk[2] = {16, 24},
                         part[1] = {16}, most[2] = {DREP_UNLIMITED, DREP_UNLIMITED};
    static const char *const names[2] = {"x", NULL};
    const drep_filter filter[2] = {{.id = DREP_FILTER_SHUFFLE},
                                   {.id = DREP_FILTER_DEFLATE, .level = 1}};
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = len, .maxdims = most);
    drep_type *string;
    const int32_t nine = 9;

    spec.layout = DREP_CONTIGUOUS;
    base_dataset(f, "/k/rows", &spec);
    spec.layout = DREP_COMPACT;
    spec.dims = grid;
    spec.maxdims = NULL;
    base_dataset(f, "/k/small", &spec);
    sure(drep_type_vstring(&string), "type");
    spec = DREP_SPEC(.type = string, .rank = 1, .dims = grid, .chunk = part, .maxdims = most);
    spec.layout = DREP_CHUNKED;
    base_dataset(f, "/k/text", &spec);
    drep_type_free(string);
    spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = grid, .chunk = chunk);
    spec.layout = DREP_CHUNKED;
    spec.maxdims = most;
    spec.fill = DREP_FILL_VALUE;
    spec.fill_value = &nine;
    spec.dim_names = names;
    base_dataset(f, "/k/tiles", &spec);
    spec.filters = filter;
    spec.nfilters = drep_filter_available(DREP_FILTER_DEFLATE) ? 2 : 1;
    base_dataset(f, "/k/packed", &spec);
}

/* Coordinates of the dimension x, one more scale of it, a fixed dimension of a compact dataset, and
 * a dimension without users. */
static void base_dimensions(drep_file *f)
{
    static const int64_t len = HIGH, most = DREP_UNLIMITED;
    static const char *const name = "x", *const few = "few";
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &len, .maxdims = &most,
                               .layout = DREP_CHUNKED, .chunk = &len, .dim_names = &name);
    drep_objinfo rows = DREP_OBJINFO;

    base_dataset(f, "/x", &spec);
    sure(drep_stat(f, "/k/rows", &rows), "stat");
    sure(drep_dimension_set_scales(f, "/#x", &rows.id, 1), "scales");
    sure(drep_dimension_create(f, "/k/g#unused", 3, 0), "dimension");
    spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &len, .layout = DREP_COMPACT,
                     .dim_names = &few);
    base_dataset(f, "/k/g/h/few", &spec);
}

/* One more dataset, without checksums. */
static void base_unsealed(void)
{
    const int64_t len = ROWS_LEN;
    const drep_spec spec =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &len, .layout = DREP_CONTIGUOUS);
    drep_info *info;
    drep_file *f;

    sure(drep_info_new(&info), "hints");
    sure(drep_info_set(info, "drep_checksum", "deferred"), "hints");
    sure(drep_open(base_path, DREP_RDWR, info, &f), base_path);
    drep_info_free(info);
    base_dataset(f, "/k/unsealed", &spec);
    sure(look(f, &base_sum), "look");
    sure(drep_close(f), "close");
}

static void base_make(const char *dir)
{
    static int32_t v[ATTR_MAX];
    const int64_t many = ATTR_MAX, few = 3;
    drep_info *info;
    drep_type *type;
    drep_file *f;

    snprintf(base_path, sizeof base_path, "%s/base.drep", dir);
    sure(drep_info_new(&info), "hints");
    sure(drep_info_set(info, "drep_keep", "3"), "hints");
    sure(drep_create(base_path, DREP_RDWR, "external32", info, &f), base_path);
    drep_info_free(info);
    sure(drep_group_create(f, "/k/g/h", 1), "group");
    sure(drep_commit(f), "commit");
    sure(drep_dimension_create(f, "/#x", HIGH, 1), "dimension");
    base_datasets(f);
    sure(drep_commit(f), "commit");
    sure(t_compound(&type), "type");
    sure(drep_type_commit(f, "/k/type", type), "type");
    drep_type_free(type);
    base_dimensions(f);
    sure(drep_link_hard(f, "/k/rows", "/k/g/again"), "link");
    sure(drep_link_soft(f, "/k/rows", "/k/g/soft"), "link");
    sure(drep_link_external(f, "case.drep", "/k", "/k/g/itself"), "link");
    sure(drep_attr_write(f, "/", "many", DREP_INT32_T, 1, &many, v), "attribute");
    sure(drep_attr_write(f, "/k", "few", DREP_INT32_T, 1, &few, v), "attribute");
    sure(drep_attr_write(f, "/k/rows", "few", DREP_INT32_T, 1, &few, v), "attribute");
    sure(drep_attr_write_string(f, "/k/type", "text", "a text"), "attribute");
    sure(drep_attr_write_int64(f, "/k/type", "one", 1), "attribute");
    sure(drep_close(f), "close");
    base_unsealed();
}

static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 16];
    int a = open(from, O_RDONLY), b = open(to, O_RDWR | O_CREAT | O_TRUNC, 0666);
    ssize_t n;

    if (a < 0 || b < 0)
        sure(DREP_ERR_IO, to);
    while ((n = read(a, bytes, sizeof bytes)) > 0) {
        if (write(b, bytes, (size_t)n) != n)
            sure(DREP_ERR_IO, to);
    }
    close(a);
    close(b);
}

/* ---- cases that read ---- */

static int c_stat(struct env *e)
{
    drep_objinfo info = DREP_OBJINFO;
    int err = CALL(drep_stat, e->f, "/k/g/soft", &info);

    return err ? err : info.kind == DREP_OBJ_DATASET ? 0 : WRONG;
}

static int c_exists(struct env *e)
{
    int kind = 0, err = CALL(drep_exists, e->f, "/k/g/soft", &kind);

    if (!err && kind == DREP_OBJ_DATASET)
        err = drep_exists(e->f, "/k/g/none", &kind);
    return err ? err : kind == 0 ? 0 : WRONG;
}

static int count_object(const drep_visited *object, void *ctx)
{
    *(int *)ctx += object->path[0] == '/';
    return 0;
}

static int c_visit(struct env *e)
{
    int n = 0, twice = 0, err = CALL(drep_visit, e->f, "/k", DREP_BY_NAME, count_object, &n);

    if (!err)
        err = drep_visit(e->f, "/k", DREP_BY_CREATION, count_object, &twice);
    return err ? err : n > 8 && n == twice ? 0 : WRONG;
}

static int c_attr_values(struct env *e)
{
    char *text = NULL;
    int64_t n = 0;
    double x = 0;
    int err = CALL(drep_attr_read_string, e->f, "/k/type", "text", &text);

    if (!err)
        err = strcmp(text, "a text") == 0 ? 0 : WRONG;
    free(text);
    if (!err)
        err = CALL(drep_attr_read_int64, e->f, "/k/type", "one", &n);
    if (!err)
        err = CALL(drep_attr_read_double, e->f, "/k/type", "one", &x);
    return err ? err : n == 1 && x == 1 ? 0 : WRONG;
}

static int c_readv(struct env *e)
{
    static int32_t rows[2], few[ATTR_MAX];
    drep_item items[] = {{.path = "/k/rows", .select = "[1:3]", .buf = rows, .buf_size = 8},
                         {.path = "/k", .attr = "few", .type = DREP_INT32_T, .buf = few}};
    int err = CALL(drep_readv, e->f, items, 2, NULL);

    return err ? err : rows[0] == 7 && rows[1] == 14 ? 0 : WRONG;
}

static int c_read_box(struct env *e)
{
    static const int64_t start[2] = {3, 4}, count[2] = {20, 30};
    static int32_t v[600];
    int err = CALL(drep_read_box, e->ds, start, count, DREP_INT32_T, v, NULL);

    return err ? err : v[0] == (3 * WIDE + 4) * 7 % 1000 ? 0 : WRONG;
}

static int c_write_box(struct env *e)
{
    static const int64_t start[2] = {3, 4}, count[2] = {20, 30};
    static const int32_t v[600] = {1, 2, 3};

    return CALL(drep_write_box, e->ds, start, count, DREP_INT32_T, v, NULL);
}

static int c_object_path(struct env *e)
{
    drep_objinfo info = DREP_OBJINFO;
    char *path = NULL;
    int err = drep_stat(e->f, "/k/g/h", &info);

    if (!err)
        err = CALL(drep_object_path, e->f, info.id, &path);
    if (!err)
        err = strcmp(path, "/k/g/h") == 0 ? 0 : WRONG;
    free(path);
    return err;
}

static int c_type_open(struct env *e)
{
    drep_type *t = NULL;
    int err = CALL(drep_type_open, e->f, "/k/type", &t);

    if (!err)
        err = drep_type_members(t) == 3 ? 0 : WRONG;
    drep_type_free(t);
    return err;
}

static int count_link(const drep_linkinfo *link, void *ctx)
{
    (void)link;
    ++*(int *)ctx;
    return 0;
}

static int c_list(struct env *e)
{
    int n = 0, err = CALL(drep_list, e->f, "/k/g", DREP_BY_NAME, count_link, &n);

    if (!err)
        err = drep_list(e->f, "/k", DREP_BY_CREATION, count_link, &n);
    return err ? err : n == 4 + 8 ? 0 : WRONG;
}

static int count_dimension(const drep_diminfo *dimension, void *ctx)
{
    *(int *)ctx += strcmp(dimension->path, "/#x") == 0;
    return 0;
}

static int c_dimensions(struct env *e)
{
    uint64_t ids[2];
    char *found = NULL;
    int n = 0, scales = -1;
    int err = CALL(drep_dimension_list, e->f, "/", DREP_BY_NAME, count_dimension, &n);

    if (!err)
        err = CALL(drep_dimension_find, e->f, "/k/tiles", "x", &found);
    if (!err)
        err = strcmp(found, "/#x") == 0 && n == 1 ? 0 : WRONG;
    if (!err)
        err = CALL(drep_dimension_scales, e->f, "/#x", ids, 2, &scales);
    if (!err)
        err = scales == 1 ? 0 : WRONG;
    free(found);
    return err;
}

static int c_coordinate(struct env *e)
{
    char *found = NULL;
    int err = CALL(drep_dimension_coordinate, e->f, "/#x", &found);

    if (!err)
        err = strcmp(found, "/x") == 0 ? 0 : WRONG;
    free(found);
    return err;
}

static int c_attr_info(struct env *e)
{
    drep_attrinfo info = DREP_ATTRINFO;
    int err = CALL(drep_attr_info, e->f, "/k/rows", "few", &info);

    if (!err)
        CALL(drep_attrinfo_release, &info);
    return err;
}

static int c_attr_encodings(struct env *e)
{
    drep_encoding row;
    int n = 0, err = CALL(drep_attr_encodings, e->f, "/k/rows", "few", &row, 1, &n);

    return err ? err : n == 1 ? 0 : WRONG;
}

static int c_attr_read(struct env *e)
{
    int32_t v[ATTR_MAX];
    int err = CALL(drep_attr_read, e->f, "/", "many", DREP_INT32_T, v);

    return err ? err : drep_attr_read(e->f, "/k", "few", NULL, v);
}

static int count_attr(const char *name, void *ctx)
{
    (void)name;
    ++*(int *)ctx;
    return 0;
}

static int c_attr_list(struct env *e)
{
    int n = 0, err = CALL(drep_attr_list, e->f, "/k", DREP_BY_CREATION, count_attr, &n);

    return err ? err : n == 1 ? 0 : WRONG;
}

static int c_dataset_open(struct env *e)
{
    drep_dataset *ds = NULL;
    int err = CALL(drep_dataset_open, e->f, "/k/tiles", &ds);

    if (err)
        return ds ? WRONG : err;
    CALL(drep_dataset_close, ds);
    return 0;
}

static int c_dataset_info(struct env *e)
{
    drep_dsinfo info = DREP_DSINFO;
    drep_dsusage usage = DREP_DSUSAGE;
    int err = CALL(drep_dataset_info, e->ds, &info);

    if (!err)
        err = CALL(drep_dataset_usage, e->ds, &usage);
    return err ? err : info.count == HIGH * WIDE && usage.chunks == 9 ? 0 : WRONG;
}

static int c_dataset_placed(struct env *e)
{
    drep_type *type = NULL;
    int err = CALL(drep_dataset_placed, e->ds, &type);

    drep_type_free(type);
    return err ? err : type ? WRONG : 0;
}

static int c_dataset_fill(struct env *e)
{
    drep_encoding row;
    int32_t v = 0;
    int n = 0, err = CALL(drep_dataset_fill, e->ds, NULL, &v);

    if (!err && v != 9)
        return WRONG;
    err = err ? err : CALL(drep_dataset_fill_encodings, e->ds, &row, 1, &n);
    return err ? err : n == 1 ? 0 : WRONG;
}

static int count_chunk(const int64_t *start, void *ctx)
{
    (void)start;
    ++*(int *)ctx;
    return 0;
}

static int c_dataset_chunks(struct env *e)
{
    int n = 0, err = CALL(drep_dataset_chunks, e->ds, count_chunk, &n);

    return err ? err : n == 9 ? 0 : WRONG;
}

static int c_read_stored(struct env *e)
{
    static uint8_t v[4096];
    int64_t start[2] = {0, 0}, size = 0;
    uint32_t skipped = 0;
    int err = CALL(drep_read_stored, e->ds, start, v, sizeof v, &size, &skipped);

    return err ? err : size > 0 ? 0 : WRONG;
}

static int c_stored_at(struct env *e)
{
    const int64_t start[2] = {0, 0};
    drep_stored at = DREP_STORED;
    int err = CALL(drep_stored_at, e->ds, start, &at);

    return err ? err : at.bytes > 0 ? 0 : WRONG;
}

static int c_stored_as(struct env *e)
{
    int same = -1, err = CALL(drep_stored_as, e->ds, DREP_INT32_T, &same);

    return err ? err : same == 0 || same == 1 ? 0 : WRONG;
}

static int c_stored_alike(struct env *e)
{
    int same = -1, err = CALL(drep_stored_alike, e->ds, e->ds, &same);

    return err ? err : same == 1 ? 0 : WRONG;
}

static int c_read(struct env *e)
{
    static int32_t v[ROWS_LEN];
    int err = CALL(drep_read, e->ds, NULL, NULL, v, NULL);

    return err ? err : v[29] == 29 * 7 ? 0 : WRONG;
}

static int c_read_text(struct env *e)
{
    char *text[HIGH] = {NULL}, want[TEXT_MAX];
    int err = CALL(drep_read, e->ds, NULL, NULL, text, NULL);

    text_of(29 * 7, want);
    if (!err)
        err = strcmp(text[29], want) == 0 ? 0 : WRONG;
    for (int i = 0; i < HIGH; i++)
        free(text[i]);
    return err;
}

static int c_read_part(struct env *e)
{
    static const int64_t coords[] = {1, 2, 39, 49, 17, 25};
    int32_t v[3];
    drep_selection *sel = NULL;
    int err = drep_select_points(2, 3, coords, &sel);

    if (!err)
        err = CALL(drep_read, e->ds, sel, DREP_INT32_T, v, NULL);
    drep_selection_free(sel);
    return err ? err : v[0] == (WIDE + 2) * 7 % 1000 ? 0 : WRONG;
}

static int c_view(struct env *e)
{
    drep_view *view = NULL;
    drep_type *etype = NULL, *filetype = NULL;
    int64_t n = 0, items = 0;
    int32_t v[10];
    char name[DREP_MAX_DATAREP_STRING];
    int err = CALL(drep_view_dataset, e->ds, &view);

    if (err)
        return view ? WRONG : err;
    err = CALL(drep_view_set, view, 4, DREP_INT32_T, DREP_INT32_T, NULL, NULL);
    if (!err)
        err = CALL(drep_view_get_amode, view, &(int){0});
    if (!err)
        err = CALL(drep_view_get, view, &n, &etype, &filetype, name);
    if (!err)
        err = n == 4 ? 0 : WRONG;
    drep_type_free(etype);
    drep_type_free(filetype);
    if (!err)
        err = CALL(drep_view_type_extent, view, DREP_INT32_T, &n);
    if (!err)
        err = CALL(drep_view_byte_offset, view, 3, &n);
    if (!err)
        err = CALL(drep_view_size, view, &n);
    if (!err)
        err = CALL(drep_view_runs, view, NULL, 0, &n, &items);
    if (!err)
        err = CALL(drep_read_at, view, 5, v, 10, DREP_INT32_T, NULL, &items);
    if (!err)
        err = items == 10 && v[0] == 6 * 7 ? 0 : WRONG;
    drep_error();
    CALL(drep_view_close, view);
    return err;
}

static int c_header(struct env *e)
{
    const drep_encoding *rows;
    const drep_scalar *scalars;
    drep_repinfo list[2];
    drep_info *info = NULL, *stored = NULL;
    drep_header h = DREP_HEADER;
    int n, err = CALL(drep_header_get, e->f, &h);

    if (!err)
        err = CALL(drep_header_datareps, e->f, list, 2, &n);
    if (!err)
        err = n == 1 && strcmp(list[0].name, "external32") == 0 ? 0 : WRONG;
    if (!err)
        err = CALL(drep_header_types, e->f, 0, &rows, &n);
    if (!err)
        err = CALL(drep_header_scalars, e->f, 0, &scalars, &n);
    if (!err)
        err = CALL(drep_header_hints, e->f, &stored);
    if (!err)
        err = CALL(drep_get_info, e->f, &info);
    if (!err)
        err = CALL(drep_get_amode, e->f, &(int){0});
    if (!err)
        err = CALL(drep_set_info, e->f, info);
    drep_info_free(info);
    drep_info_free(stored);
    return err;
}

static int keep_error(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)offset;
    (void)message;
    if (!*(int *)ctx) /* the others follow from it */
        *(int *)ctx = err;
    return 0;
}

/* What fails in a check may be a finding. */
static int c_check(struct env *e)
{
    int found = 0;
    int64_t findings = 0;
    int err = CALL(drep_check, e->f, 1, keep_error, &found, &findings);

    return err ? err : findings ? found : 0;
}

static int c_usage(struct env *e)
{
    drep_usage usage = DREP_USAGE;

    return CALL(drep_usage_get, e->f, &usage);
}

static int c_object_usage(struct env *e)
{
    drep_objusage usage = DREP_OBJUSAGE;

    return CALL(drep_object_usage, e->f, "/k/packed", &usage);
}

static int count_leak(uint64_t offset, uint64_t length, void *ctx)
{
    (void)offset;
    *(uint64_t *)ctx += length;
    return 0;
}

static int c_leaks(struct env *e)
{
    uint64_t bytes = 0;

    return CALL(drep_leaks, e->f, count_leak, &bytes);
}

static int count_unsealed(const char *path, int64_t blocks, void *ctx)
{
    (void)path;
    *(int64_t *)ctx += blocks;
    return 0;
}

static int c_unsealed(struct env *e)
{
    int64_t n = 0;
    int err = CALL(drep_unsealed, e->f, count_unsealed, &n);

    return err ? err : n == 3 ? 0 : WRONG;
}

static int count_commit(const drep_commitinfo *commit, void *ctx)
{
    (void)commit;
    ++*(int *)ctx;
    return 0;
}

static int c_log(struct env *e)
{
    int n = 0, err = CALL(drep_log, e->f, count_commit, &n);

    return err ? err : n == 3 ? 0 : WRONG;
}

/* A commit was made since. */
static int p_refresh(struct env *e)
{
    const int64_t none = 0;
    drep_file *w;
    int err = drep_open(e->path, DREP_RDWR, NULL, &w);

    if (!err)
        err = drep_attr_write(w, "/k", "new", DREP_INT32_T, 1, &none, NULL);
    return err ? err : drep_close(w);
}

static int c_refresh(struct env *e)
{
    return CALL(drep_refresh, e->f);
}

/* ---- cases that open ---- */

static int closed(drep_file *f, int err)
{
    if (err)
        return f ? WRONG : err;
    return CALL(drep_close, f);
}

static int c_open(struct env *e)
{
    drep_file *f = NULL;
    int err = CALL(drep_open, e->path, DREP_RDONLY, NULL, &f);

    return closed(f, err);
}

static int c_open_writer(struct env *e)
{
    drep_file *f = NULL;
    int err = CALL(drep_open, e->path, DREP_RDWR, NULL, &f);

    return closed(f, err);
}

/* Bytes beside the file, and a handle that may read them. */
static int p_external(struct env *e)
{
    char path[320];
    FILE *f;
    int err = drep_info_new(&e->info);

    if (!err)
        err = drep_info_set(e->info, "drep_external", "true");
    snprintf(path, sizeof path, "%.*sbytes.bin", (int)(strrchr(e->path, '/') + 1 - e->path),
             e->path);
    f = fopen(path, "wb");
    for (int i = 0; f && i < 8192; i++)
        fputc(i % 251, f);
    return err ? err : f && fclose(f) == 0 ? 0 : WRONG;
}

static int count_external(const drep_external *external, void *ctx)
{
    *(int *)ctx += external->size == 8192;
    return 0;
}

static int c_external(struct env *e)
{
    static int32_t v[2048];
    const int64_t start[2] = {0, 0};
    int64_t size = 0;
    uint32_t number = 0;
    int n = 0;
    drep_file *f = NULL;
    drep_dataset *ds = NULL;
    int err = CALL(drep_open, e->path, DREP_RDWR, e->info, &f);

    if (err)
        return f ? WRONG : err;
    err = CALL(drep_dataset_open, f, "/k/tiles", &ds);
    if (!err)
        err = CALL(drep_read_stored, ds, start, v, sizeof v, &size, NULL);
    if (!err)
        err = CALL(drep_external_add, f, "bytes.bin", &number);
    if (!err)
        err = CALL(drep_write_external, ds, start, number, 1, size, 0, 0);
    if (!err)
        err = CALL(drep_external_list, f, count_external, &n);
    if (!err)
        err = CALL(drep_read_stored, ds, start, v, sizeof v, &size, NULL);
    if (!err && (n != 1 || ((uint8_t *)v)[0] != 1))
        err = WRONG;
    drep_dataset_close(ds);
    drep_abandon(f);
    return err;
}

/* A copy of the file beside it, whose chunks have sums, and a handle that leaves sums out. */
static int p_unsealed(struct env *e)
{
    static uint8_t bytes[1 << 20];
    char path[320];
    FILE *in = fopen(e->path, "rb"), *out;
    size_t n = in ? fread(bytes, 1, sizeof bytes, in) : 0;
    int err = p_external(e);

    snprintf(path, sizeof path, "%.*ssource.drep", (int)(strrchr(e->path, '/') + 1 - e->path),
             e->path);
    out = fopen(path, "wb");
    if (!in || !out || n == sizeof bytes || fwrite(bytes, 1, n, out) != n)
        err = WRONG;
    if (in)
        fclose(in);
    if (out && fclose(out) != 0)
        err = WRONG;
    return err ? err : drep_info_set(e->info, "drep_checksum", "deferred");
}

static int c_seal_external(struct env *e)
{
    static const char *const names[] = {"bytes.bin", "source.drep"};
    const int64_t start[2] = {0, 0};
    int64_t size = 0, n = 0;
    uint32_t number = 0;
    drep_file *f = NULL;
    drep_dataset *ds = NULL;
    int err = CALL(drep_open, e->path, DREP_RDWR, e->info, &f);

    if (err)
        return f ? WRONG : err;
    err = CALL(drep_dataset_open, f, "/k/tiles", &ds);
    if (!err)
        err = CALL(drep_read_stored, ds, start, NULL, 0, &size, NULL);
    for (int i = 0; !err && i < 2; i++) {
        err = CALL(drep_external_add_version, f, names[i], "\"5f2a\"", &number);
        if (!err)
            err = CALL(drep_external_version, f, number, "\"5f2b\"");
        if (!err)
            err = CALL(drep_external_version, f, number, "\"5f2a\"");
        if (!err)
            err = CALL(drep_write_external, ds, start, number, 1, size, 0, 0);
        if (!err)
            err = CALL(drep_seal, f, &n);
        if (!err && n < 1)
            err = WRONG;
    }
    drep_dataset_close(ds);
    drep_abandon(f);
    return err;
}

static int c_open_header(struct env *e)
{
    drep_file *f = NULL;
    int err = CALL(drep_open, e->path, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &f);

    return closed(f, err);
}

static int c_open_commit(struct env *e)
{
    drep_file *f = NULL;
    int err = CALL(drep_open_commit, e->path, DREP_RDONLY, 2, NULL, &f);

    return closed(f, err);
}

static int p_image(struct env *e)
{
    FILE *f = fopen(e->path, "rb");

    e->image = malloc(1 << 22);
    e->size = f ? fread(e->image, 1, 1 << 22, f) : 0;
    if (f)
        fclose(f);
    return e->size ? 0 : DREP_ERR_IO;
}

/* The image as a driver's file. */
static int image_size(void *state, uint64_t *size)
{
    *size = ((const struct env *)state)->size;
    return 0;
}

static int image_read(void *state, const drep_range *range, size_t n)
{
    const struct env *e = state;

    for (size_t i = 0; i < n; i++) {
        if (range[i].offset > e->size || range[i].size > e->size - range[i].offset)
            return DREP_ERR_TRUNCATE;
        memcpy(range[i].buf, (const char *)e->image + range[i].offset, range[i].size);
    }
    return 0;
}

static int image_write(void *state, const void *buf, size_t size, uint64_t offset)
{
    struct env *e = state;
    char *p =
        e->size - size < offset || e->size < size ? realloc(e->image, offset + size) : e->image;

    if (!p)
        return DREP_ERR_NOMEM;
    e->image = p;
    if (offset > e->size)
        memset(p + e->size, 0, offset - e->size);
    e->size = offset + size > e->size ? offset + size : e->size;
    memcpy(p + offset, buf, size);
    return 0;
}

static int image_truncate(void *state, uint64_t size)
{
    struct env *e = state;
    char zero = 0;

    if (size > e->size)
        return image_write(state, &zero, 1, size - 1);
    e->size = size;
    return 0;
}

static const drep_driver image_driver =
    DREP_DRIVER(.read_many = image_read, .file_size = image_size, .write_at = image_write,
                .truncate = image_truncate, .round_trip = 1000000, .first_read = 65536);

static int c_open_driver(struct env *e)
{
    drep_file *f = NULL;
    int err = CALL(drep_open_driver, &image_driver, e, "image", DREP_RDONLY, NULL, &f);

    return closed(f, err);
}

static int c_create_driver(struct env *e)
{
    drep_file *f = NULL;
    int err;

    e->size = 0;
    err = CALL(drep_create_driver, &image_driver, e, "image", "internal", NULL, &f);
    return closed(f, err);
}

static int c_open_image(struct env *e)
{
    drep_file *f = NULL;
    int err = CALL(drep_open_image, e->image, e->size, NULL, &f);

    return closed(f, err);
}

static int p_follow(struct env *e)
{
    int err = drep_info_new(&e->info);

    if (!err)
        err = drep_info_set(e->info, "drep_external", "true");
    return err ? err : drep_open(e->path, DREP_RDONLY, e->info, &e->f);
}

/* Through a link to another file, and another. */
static int c_follow(struct env *e)
{
    drep_dataset *ds = NULL;
    int err = drep_dataset_open(e->f, "/k/g/itself/g/itself/rows", &ds);

    if (err)
        return ds ? WRONG : err;
    drep_dataset_close(ds);
    return 0;
}

/* A file whose elements are stored as they are in memory. */
static int p_map(struct env *e)
{
    const int64_t len = ROWS_LEN;
    const drep_spec spec =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &len, .layout = DREP_CONTIGUOUS);
    drep_file *f;
    int err = drep_create(e->path, DREP_RDWR, "native", NULL, &f);

    if (err)
        return err;
    base_dataset(f, "/d", &spec);
    err = drep_close(f);
    if (!err)
        err = drep_open(e->path, DREP_RDONLY, NULL, &e->f);
    return err ? err : drep_dataset_open(e->f, "/d", &e->ds);
}

static int c_map(struct env *e)
{
    const void *data = NULL;
    size_t size = 0;
    int err = CALL(drep_dataset_map, e->ds, 0, &data, &size);

    if (err)
        return data ? WRONG : err;
    if (size != ROWS_LEN * sizeof(int32_t) ||
        ((const int32_t *)data)[ROWS_LEN - 1] != (ROWS_LEN - 1) * 7 % 1000)
        return WRONG;
    return CALL(drep_dataset_unmap, e->ds, data);
}

/* Writes and reads back a view of a file without a header, which a call gave with this result. */
static int use_raw(drep_view *view, int err)
{
    int32_t v[10] = {1, 2, 3}, back[10];
    int64_t items = 0;
    int end;

    if (err)
        return view ? WRONG : err;
    err = drep_view_set(view, 0, DREP_INT32_T, DREP_INT32_T, "external32", NULL);
    if (!err)
        err = CALL(drep_write_at, view, 5, v, 10, DREP_INT32_T, NULL, &items);
    if (!err)
        err = drep_read_at(view, 5, back, 10, DREP_INT32_T, NULL, &items);
    if (!err)
        err = items == 10 && back[2] == 3 ? 0 : WRONG;
    end = drep_view_close(view);
    return err ? err : end;
}

/* A file without a header, beside the other. */
static int c_raw(struct env *e)
{
    char path[320];
    drep_view *view = NULL;
    int err;

    snprintf(path, sizeof path, "%s.raw", e->path);
    unlink(path);
    err = CALL(drep_view_raw, path, DREP_RDWR, NULL, &view);
    return use_raw(view, err);
}

static int c_raw_descriptor(struct env *e)
{
    char path[320];
    drep_view *view = NULL;
    int err, fd;

    snprintf(path, sizeof path, "%s.raw", e->path);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) /* that one failed */
        return errno == ENOSPC ? DREP_ERR_NO_SPACE : DREP_ERR_IO;
    err = CALL(drep_view_descriptor, fd, "raw", DREP_RDWR, NULL, &view);
    err = use_raw(view, err);
    close(fd);
    return err;
}

static int c_raw_driver(struct env *e)
{
    drep_view *view = NULL;
    int err;

    e->size = 0;
    err = CALL(drep_view_driver, &image_driver, e, "raw", DREP_RDWR, NULL, &view);
    return use_raw(view, err);
}

/* ---- cases that change ---- */

static int c_group(struct env *e)
{
    return CALL(drep_group_create, e->f, "/k/g/new/deep/er", 1);
}

static int c_dimension(struct env *e)
{
    return CALL(drep_dimension_create, e->f, "/k#y", 5, 0);
}

static int c_dimension_rename(struct env *e)
{
    return CALL(drep_dimension_rename, e->f, "/#x", "other");
}

static int c_dimension_unlimited(struct env *e)
{
    return CALL(drep_dimension_set_unlimited, e->f, "/k/g/h#few", 1);
}

static int c_dimension_fixed(struct env *e)
{
    return CALL(drep_dimension_set_unlimited, e->f, "/#x", 0);
}

static int c_dimension_remove(struct env *e)
{
    return CALL(drep_dimension_remove, e->f, "/k/g#unused");
}

static int c_dimension_set_scales(struct env *e)
{
    drep_objinfo rows = DREP_OBJINFO, unsealed = DREP_OBJINFO;
    uint64_t ids[2];
    int err = drep_stat(e->f, "/k/rows", &rows);

    if (!err)
        err = drep_stat(e->f, "/k/unsealed", &unsealed);
    if (err)
        return err;
    ids[0] = rows.id;
    ids[1] = unsealed.id;
    return CALL(drep_dimension_set_scales, e->f, "/#x", ids, 2);
}

static int p_type(struct env *e)
{
    return drep_type_sequence(deep, &e->type);
}

static int c_type_commit(struct env *e)
{
    return CALL(drep_type_commit, e->f, "/k/other", e->type);
}

static int c_link_hard(struct env *e)
{
    return CALL(drep_link_hard, e->f, "/k/tiles", "/k/g/tiles");
}

static int c_link_soft(struct env *e)
{
    return CALL(drep_link_soft, e->f, "/some/where", "/k/g/nowhere");
}

static int c_link_external(struct env *e)
{
    return CALL(drep_link_external, e->f, "other.drep", "/d", "/k/g/out");
}

/* Everything, into other chunks. */
static int other_chunks(uint64_t id, drep_spec *spec, void *ctx)
{
    static const int64_t chunk[DREP_MAX_RANK] = {7, 11};

    (void)id;
    (void)ctx;
    if (spec->rank != 2)
        return 0;
    spec->layout = DREP_CHUNKED;
    spec->chunk = chunk;
    return 0;
}

static int c_copy(struct env *e)
{
    return CALL(drep_copy, e->f, "/k", e->f, "/copy", NULL);
}

static int c_copy_file(struct env *e)
{
    drep_copying how = DREP_COPYING(.plan = other_chunks);
    drep_file *to = NULL;
    int err = CALL(drep_create, ":memory:", DREP_RDWR, "internal", NULL, &to);

    if (err == 0)
        err = CALL(drep_copy, e->f, "/", to, "/", &how);
    drep_abandon(to);
    return err;
}

/* Filtered numbers, and texts. */
static int c_copy_selection(struct env *e)
{
    static const int64_t start[2] = {3, 5}, count[2] = {9, 7}, stride[2] = {2, 1};
    static const char *const paths[] = {"/k/packed", "/k/text"};
    drep_file *to = NULL;
    int err = CALL(drep_create, ":memory:", DREP_RDWR, "internal", NULL, &to);

    for (int i = 0; err == 0 && i < 2; i++) {
        drep_copying how = DREP_COPYING(.threads = 1);
        drep_selection *sel = NULL;

        err = drep_select_box(2 - i, start, count, stride, NULL, &sel);
        how.selection = sel;
        if (err == 0)
            err = CALL(drep_copy, e->f, paths[i], to, paths[i] + 2, &how);
        drep_selection_free(sel);
    }
    drep_abandon(to);
    return err;
}

static int count_left(uint64_t id, const char *what, void *ctx)
{
    (void)id, (void)what;
    ++*(int *)ctx;
    return 0;
}

/* Of a file with items of a newer version. */
static int c_copy_partly(struct env *e)
{
    int left = 0;
    drep_copying how = DREP_COPYING(.left_out = count_left, .ctx = &left);
    drep_file *from = NULL, *to = NULL;
    int err = drep_open(TESTS_DIR "/vectors/later.drep", DREP_RDONLY, NULL, &from);

    (void)e;
    if (err == 0)
        err = drep_create(":memory:", DREP_RDWR, "internal", NULL, &to);
    if (err == 0)
        err = CALL(drep_copy, from, "/", to, "/", &how);
    if (err == 0 && left != 9)
        err = WRONG;
    drep_abandon(to);
    drep_abandon(from);
    return err;
}

static int c_remove(struct env *e)
{
    return CALL(drep_link_remove, e->f, "/k/tiles");
}

static int c_remove_group(struct env *e)
{
    return drep_link_remove(e->f, "/k");
}

static int c_move(struct env *e)
{
    return CALL(drep_link_move, e->f, "/k/tiles", "/k/g/h/moved");
}

static int c_attr_small(struct env *e)
{
    static const int32_t v[3] = {4, 5, 6};
    const int64_t n = 3;

    return CALL(drep_attr_write, e->f, "/k/tiles", "new", DREP_INT32_T, 1, &n, v);
}

static int c_attr_large(struct env *e)
{
    static int32_t v[ATTR_MAX] = {1};
    const int64_t n = ATTR_MAX;

    return drep_attr_write(e->f, "/k", "few", DREP_INT32_T, 1, &n, v);
}

static int c_attr_remove(struct env *e)
{
    return CALL(drep_attr_remove, e->f, "/", "many");
}

static int c_attr_rename(struct env *e)
{
    return CALL(drep_attr_rename, e->f, "/", "many", "more");
}

static int c_attr_string(struct env *e)
{
    return CALL(drep_attr_write_string, e->f, "/k/g", "s", "a text");
}

static int c_attr_int(struct env *e)
{
    return CALL(drep_attr_write_int64, e->f, "/k/g", "i", 5);
}

static int c_attr_double(struct env *e)
{
    return CALL(drep_attr_write_double, e->f, "/k/g", "d", 5);
}

static int c_dataset_create(struct env *e)
{
    static const int64_t dims[2] = {7, 9}, most[2] = {DREP_UNLIMITED, 20};
    static const char *const names[2] = {"y", "x"};
    const drep_filter filter = {.id = DREP_FILTER_BITSHUFFLE};
    const int32_t fill = 3;
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims, .maxdims = most,
                               .dim_names = names, .filters = &filter, .nfilters = 1,
                               .fill = DREP_FILL_VALUE, .fill_value = &fill);
    drep_dataset *ds = NULL;
    int err = CALL(drep_dataset_create, e->f, "/k/g/made", &spec, &ds);

    if (err)
        return ds ? WRONG : err;
    drep_dataset_close(ds);
    return 0;
}

static int c_grow(struct env *e)
{
    static const int64_t more[2] = {70, 90};

    return CALL(drep_dataset_resize, e->ds, more);
}

static int c_shrink(struct env *e)
{
    static const int64_t less[2] = {17, 3};

    return CALL(drep_dataset_resize, e->ds, less);
}

static int c_append(struct env *e)
{
    static int32_t v[3 * WIDE > 99 ? 3 * WIDE : 99];
    drep_dsinfo info = DREP_DSINFO;
    int err = drep_dataset_info(e->ds, &info);

    return err ? err : CALL(drep_append, e->ds, 0, info.rank == 2 ? 3 : 99, NULL, v, NULL);
}

/* The first append of a handle goes into the file, the next one waits. */
static int p_append(struct env *e)
{
    int err = c_append(e);

    return err ? err : c_append(e);
}

static int c_append_column(struct env *e)
{
    static int32_t v[HIGH];

    return CALL(drep_append, e->ds, 1, 1, NULL, v, NULL);
}

static int c_append_text(struct env *e)
{
    static char one[] = "one", two[] = "a somewhat longer text";
    char *text[3] = {one, two, one};

    return CALL(drep_append, e->ds, 0, 3, NULL, text, NULL);
}

static int c_write(struct env *e)
{
    static int32_t v[ROWS_LEN];

    for (int i = 0; i < ROWS_LEN; i++)
        v[i] = 5 * i;
    return CALL(drep_write, e->ds, NULL, NULL, v, NULL);
}

static int c_write_stored(struct env *e)
{
    static int32_t v[512];
    int64_t start[2] = {0, 0}, size = 0;
    int err = CALL(drep_read_stored, e->ds, start, v, sizeof v, &size, NULL);

    v[0] = 77;
    return err ? err : CALL(drep_write_stored, e->ds, start, v, size, 0, 0);
}

static int c_write_threads(struct env *e)
{
    static int32_t v[ROWS_LEN];
    const drep_xfer xfer = DREP_XFER(.threads = 2);

    return CALL(drep_write, e->ds, NULL, NULL, v, &xfer);
}

static int c_write_text(struct env *e)
{
    static char one[] = "one", two[] = "a somewhat longer text";
    char *text[HIGH];

    for (int i = 0; i < HIGH; i++)
        text[i] = i % 2 ? one : two;
    return CALL(drep_write, e->ds, NULL, NULL, text, NULL);
}

static int p_box(struct env *e)
{
    static const int64_t start[2] = {3, 5}, count[2] = {20, 30};

    return drep_select_box(2, start, count, NULL, NULL, &e->sel);
}

static int p_range(struct env *e)
{
    static const int64_t start[1] = {100}, count[1] = {1100};

    return drep_select_box(1, start, count, NULL, NULL, &e->sel);
}

static int c_write_part(struct env *e)
{
    static int32_t v[1100];

    return CALL(drep_write, e->ds, e->sel, DREP_INT32_T, v, NULL);
}

static int p_view(struct env *e)
{
    return drep_view_dataset(e->ds, &e->view);
}

static int c_write_view(struct env *e)
{
    static const int32_t v[700] = {1, 2, 3};
    int64_t items = 0;

    return CALL(drep_write_at, e->view, 100, v, 700, DREP_INT32_T, NULL, &items);
}

static int c_seal(struct env *e)
{
    int64_t n = 0;
    int err = CALL(drep_seal, e->f, &n);

    return err ? err : n == 3 ? 0 : WRONG;
}

/* ---- cases that commit, cases that make ---- */

/* Something of everything that a commit has to write. */
static int p_changes(struct env *e)
{
    drep_dataset *ds;
    int err = c_attr_large(e);

    if (!err)
        err = c_remove(e);
    if (!err)
        err = c_dataset_create(e);
    if (!err)
        err = drep_dataset_open(e->f, "/k/rows", &ds);
    if (!err) {
        struct env other = {.f = e->f, .ds = ds};

        err = c_write(&other);
        drep_dataset_close(ds);
    }
    return err;
}

static int c_commit(struct env *e)
{
    return CALL(drep_commit, e->f);
}

static int c_close(struct env *e)
{
    drep_file *f = e->f;

    e->f = NULL;
    return CALL(drep_close, f);
}

static int c_abandon(struct env *e)
{
    drep_file *f = e->f;

    e->f = NULL;
    CALL(drep_abandon, f);
    return 0;
}

/* Something in a file that was just created, or err. */
static int finish(drep_file *f, int err)
{
    if (err)
        return f ? WRONG : err;
    err = drep_attr_write_int64(f, "/", "made", 1);
    if (err) {
        drep_abandon(f);
        return err;
    }
    return CALL(drep_close, f);
}

static int make_at(struct env *e, int amode)
{
    drep_file *f = NULL;
    int err = CALL(drep_create, e->path, amode, "native:s390x", NULL, &f);

    return finish(f, err);
}

static int c_create_like(struct env *e)
{
    drep_file *like, *f = NULL;
    int err = drep_open(base_path, DREP_RDONLY, NULL, &like);

    if (err)
        return err;
    err = CALL(drep_create_like, e->path, DREP_RDWR | DREP_EXCL, like, NULL, &f);
    drep_close(like);
    return finish(f, err);
}

static int stream_fd;

static int p_stream(struct env *e)
{
    char path[sizeof e->path + 8];

    snprintf(path, sizeof path, "%s.stream", e->path);
    stream_fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    return stream_fd < 0 || unlink(path) != 0 ? DREP_ERR_IO : 0;
}

static int c_create_stream(struct env *e)
{
    drep_file *f = NULL;
    int err = CALL(drep_create_stream, stream_fd, "internal", NULL, NULL, &f);

    (void)e;
    err = finish(f, err);
    close(stream_fd);
    return err;
}

/* What cannot be read counts as damaged, and is told; a lack of memory is no damage. */
static int c_repair(struct env *e)
{
    char path[sizeof e->path + 8];
    int found = 0;
    int64_t findings = 0;
    bool there;
    int err;

    snprintf(path, sizeof path, "%s.new", e->path);
    err = CALL(drep_repair, e->path, path, 0, NULL, keep_error, &found, &findings);
    there = unlink(path) == 0;
    /* Only a directory that cannot be synced leaves a file behind an error. */
    if (there != !err && !(there && (err == DREP_ERR_IO || err == DREP_ERR_NO_SPACE)))
        return WRONG;
    return !err && found == DREP_ERR_NOMEM ? WRONG : err;
}

static int c_create(struct env *e)
{
    return make_at(e, DREP_RDWR);
}

static int p_nothing_there(struct env *e)
{
    return unlink(e->path) ? DREP_ERR_IO : 0;
}

static int c_create_new(struct env *e)
{
    return make_at(e, DREP_RDWR | DREP_EXCL);
}

static const struct file_case file_cases[] = {
    {"stat", READS, NULL, c_stat, NULL},
    {"exists", READS, NULL, c_exists, NULL},
    {"visit", READS, NULL, c_visit, NULL},
    {"read a text and numbers", READS, NULL, c_attr_values, NULL},
    {"read several values", READS, NULL, c_readv, NULL},
    {"read a box", READS, "/k/tiles", c_read_box, NULL},
    {"write a box", CHANGES, "/k/tiles", c_write_box, NULL},
    {"path of an object", READS, NULL, c_object_path, NULL},
    {"open a named type", READS, NULL, c_type_open, NULL},
    {"list", READS, NULL, c_list, NULL},
    {"dimensions", READS, NULL, c_dimensions, NULL},
    {"coordinates", READS, NULL, c_coordinate, NULL},
    {"ask for an attribute", READS, NULL, c_attr_info, NULL},
    {"ask how an attribute is stored", READS, NULL, c_attr_encodings, NULL},
    {"read attributes", READS, NULL, c_attr_read, NULL},
    {"list attributes", READS, NULL, c_attr_list, NULL},
    {"open a dataset", READS, NULL, c_dataset_open, NULL},
    {"describe a dataset", READS, "/k/packed", c_dataset_info, NULL},
    {"fill value", READS, "/k/packed", c_dataset_fill, NULL},
    {"placed members", READS, "/k/packed", c_dataset_placed, NULL},
    {"chunks", READS, "/k/packed", c_dataset_chunks, NULL},
    {"read contiguous", READS, "/k/rows", c_read, NULL},
    {"read compact", READS, "/k/small", c_read, NULL},
    {"read chunked", READS, "/k/tiles", c_read, NULL},
    {"read filtered", READS, "/k/packed", c_read, NULL},
    {"read strings", READS, "/k/text", c_read_text, NULL},
    {"read a stored chunk", READS, "/k/packed", c_read_stored, NULL},
    {"where a chunk is stored", READS, "/k/packed", c_stored_at, NULL},
    {"stored as", READS, "/k/packed", c_stored_as, NULL},
    {"stored alike", READS, "/k/packed", c_stored_alike, NULL},
    {"read points", READS, "/k/packed", c_read_part, NULL},
    {"views", READS, "/k/tiles", c_view, NULL},
    {"header and hints", READS, NULL, c_header, NULL},
    {"check", READS, NULL, c_check, NULL},
    {"usage", READS, NULL, c_usage, NULL},
    {"usage of an object", READS, NULL, c_object_usage, NULL},
    {"leaks", READS, NULL, c_leaks, NULL},
    {"unsealed", READS, NULL, c_unsealed, NULL},
    {"log", READS, NULL, c_log, NULL},
    {"refresh", READS, "/k/tiles", c_refresh, p_refresh},
    {"open", OPENS, NULL, c_open, NULL},
    {"open for writing", OPENS, NULL, c_open_writer, NULL},
    {"open the header", OPENS, NULL, c_open_header, NULL},
    {"open an earlier commit", OPENS, NULL, c_open_commit, NULL},
    {"open an image", OPENS, NULL, c_open_image, p_image},
    {"open a driver's file", OPENS, NULL, c_open_driver, p_image},
    {"create a driver's file", OPENS, NULL, c_create_driver, NULL},
    {"follow external links", OPENS, NULL, c_follow, p_follow},
    {"keep a chunk in another file", OPENS, NULL, c_external, p_external},
    {"seal a chunk in another file", OPENS, NULL, c_seal_external, p_unsealed},
    {"raw view", OPENS, NULL, c_raw, NULL},
    {"raw view of a descriptor", OPENS, NULL, c_raw_descriptor, NULL},
    {"raw view of a driver", OPENS, NULL, c_raw_driver, NULL},
    {"create a stream", OPENS, NULL, c_create_stream, p_stream},
    {"map", OPENS, NULL, c_map, p_map},
    {"repair", OPENS, NULL, c_repair, NULL},
    {"make groups", CHANGES, NULL, c_group, NULL},
    {"make a dimension", CHANGES, NULL, c_dimension, NULL},
    {"rename a dimension", CHANGES, NULL, c_dimension_rename, NULL},
    {"a dimension and a compact dataset become unlimited", CHANGES, NULL, c_dimension_unlimited,
     NULL},
    {"a dimension and its datasets become fixed", CHANGES, NULL, c_dimension_fixed, NULL},
    {"remove a dimension", CHANGES, NULL, c_dimension_remove, NULL},
    {"scales of a dimension", CHANGES, NULL, c_dimension_set_scales, NULL},
    {"name a type", CHANGES, NULL, c_type_commit, p_type},
    {"hard link", CHANGES, NULL, c_link_hard, NULL},
    {"soft link", CHANGES, NULL, c_link_soft, NULL},
    {"external link", CHANGES, NULL, c_link_external, NULL},
    {"copy a group", CHANGES, NULL, c_copy, NULL},
    {"copy the file", READS, NULL, c_copy_file, NULL},
    {"copy selections", READS, NULL, c_copy_selection, NULL},
    {"copy what is known of a file", READS, NULL, c_copy_partly, NULL},
    {"remove a dataset", CHANGES, NULL, c_remove, NULL},
    {"remove a group", CHANGES, NULL, c_remove_group, NULL},
    {"move a link", CHANGES, NULL, c_move, NULL},
    {"write an attribute", CHANGES, NULL, c_attr_small, NULL},
    {"replace by a large attribute", CHANGES, NULL, c_attr_large, NULL},
    {"remove an attribute", CHANGES, NULL, c_attr_remove, NULL},
    {"rename an attribute", CHANGES, NULL, c_attr_rename, NULL},
    {"attribute, a string", CHANGES, NULL, c_attr_string, NULL},
    {"attribute, an integer", CHANGES, NULL, c_attr_int, NULL},
    {"attribute, a real", CHANGES, NULL, c_attr_double, NULL},
    {"make a dataset", CHANGES, NULL, c_dataset_create, NULL},
    {"grow chunked", CHANGES, "/k/tiles", c_grow, NULL},
    {"grow contiguous", CHANGES, "/k/rows", c_grow, NULL},
    {"grow strings", CHANGES, "/k/text", c_grow, NULL},
    {"shrink chunked", CHANGES, "/k/tiles", c_shrink, NULL},
    {"shrink filtered", CHANGES, "/k/packed", c_shrink, NULL},
    {"shrink contiguous", CHANGES, "/k/rows", c_shrink, NULL},
    {"append, contiguous", CHANGES, "/k/rows", c_append, NULL},
    {"append, chunked", CHANGES, "/k/tiles", c_append, NULL},
    {"append, filtered", CHANGES, "/k/packed", c_append, NULL},
    {"append a column", CHANGES, "/k/packed", c_append_column, NULL},
    {"append strings", CHANGES, "/k/text", c_append_text, NULL},
    {"append behind what waits", SETTLES, "/k/rows", c_append, p_append},
    {"commit appended rows", SETTLES, "/k/rows", c_commit, p_append},
    {"commit appended rows, filtered", SETTLES, "/k/packed", c_commit, p_append},
    {"write an attribute after rows", SETTLES, "/k/tiles", c_attr_int, p_append},
    {"close with appended rows", LEAVES, "/k/rows", c_close, p_append},
    {"write contiguous", CHANGES, "/k/rows", c_write, NULL},
    {"write chunked", CHANGES, "/k/tiles", c_write, NULL},
    {"write a stored chunk", CHANGES, "/k/tiles", c_write_stored, NULL},
    {"write filtered", CHANGES, "/k/packed", c_write, NULL},
    {"write by two threads", CHANGES, "/k/packed", c_write_threads, NULL},
    {"write strings", CHANGES, "/k/text", c_write_text, NULL},
    {"write a range", CHANGES, "/k/rows", c_write_part, p_range},
    {"write a box", CHANGES, "/k/tiles", c_write_part, p_box},
    {"write a box, filtered", CHANGES, "/k/packed", c_write_part, p_box},
    {"write a view", CHANGES, "/k/tiles", c_write_view, p_view},
    {"seal", CHANGES, NULL, c_seal, NULL},
    {"commit", COMMITS, NULL, c_commit, p_changes},
    {"close", LEAVES, NULL, c_close, p_changes},
    {"abandon", LEAVES, NULL, c_abandon, p_changes},
    {"create in place of a file", MAKES, NULL, c_create, NULL},
    {"create", MAKES, NULL, c_create_new, p_nothing_there},
    {"create like another", MAKES, NULL, c_create_like, p_nothing_there}};
#define FILE_CASES (sizeof file_cases / sizeof *file_cases)

#endif
