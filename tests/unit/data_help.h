/* data_help.h - what tests of data/ share: a place for files, element types whose values
 * have numbers, and the representations that they are tried under.
 *
 * A value number is a small integer; number 0 is the value that unwritten elements have
 * (zero, false, the empty string).  Every value survives all of the representations. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_DATA_HELP_H
#define TESTS_DATA_HELP_H

#include "base/mem.h"
#include "bytes.h"
#include "tests/unit/datareps.h"

#include <datarep.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <unistd.h>

/* ---- files ---- */

static char temp_dir[200];

static inline void temp_remove(void)
{
    char path[600];
    DIR *dir = opendir(temp_dir);
    struct dirent *e;

    while (dir != NULL && (e = readdir(dir)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", temp_dir, e->d_name);
        unlink(path);
    }
    if (dir != NULL)
        closedir(dir);
    rmdir(temp_dir);
}

/* A path in a directory of this process; four may be in use at once. */
static inline const char *temp_path(const char *name)
{
    static char path[4][300];
    static int next;
    char *p = path[next++ % 4];

    if (temp_dir[0] == '\0') {
        snprintf(temp_dir, sizeof temp_dir, "%s/drep-XXXXXX",
                 getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(temp_dir));
        atexit(temp_remove);
    }
    snprintf(p, sizeof path[0], "%s/%s", temp_dir, name);
    return p;
}

static inline int temp_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Its bytes, to be freed. */
static inline uint8_t *read_whole_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    uint8_t *p;
    long n;

    ck_assert_ptr_nonnull(in);
    fseek(in, 0, SEEK_END);
    n = ftell(in);
    rewind(in);
    p = malloc((size_t)n + 1);
    ck_assert_uint_eq(fread(p, 1, (size_t)n, in), (size_t)n);
    fclose(in);
    *size = (size_t)n;
    return p;
}

/* Hints "key=value"; NULL ends. */
static inline drep_info *hints(const char *pair, ...)
{
    drep_info *info;
    va_list args;

    ok(drep_info_new(&info));
    va_start(args, pair);
    for (; pair != NULL; pair = va_arg(args, const char *)) {
        char key[DREP_MAX_INFO_KEY + 1];
        size_t n = strcspn(pair, "=");

        memcpy(key, pair, n);
        key[n] = '\0';
        ok(drep_info_set(info, key, pair + n + 1));
    }
    va_end(args);
    return info;
}

/* A new file without syncing. */
static inline drep_file *new_file(const char *path, const char *datarep)
{
    drep_info *info = hints("drep_sync=none", (char *)NULL);
    drep_file *f;

    ok(drep_create(path, DREP_RDWR, datarep, info, &f));
    drep_info_free(info);
    return f;
}

static inline drep_dataset *new_dataset(drep_file *f, const char *path, const drep_type *type,
                                        int rank, const int64_t *dims)
{
    drep_spec spec = DREP_SPEC(.type = type, .rank = rank, .dims = dims);
    drep_dataset *ds;

    ok(drep_dataset_create(f, path, &spec, &ds));
    return ds;
}

/* No finding in the whole file, which is committed: that is what a check looks at. */
static inline int say_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)ctx;
    ck_abort_msg("finding %d at byte %llu: %s", err, (unsigned long long)offset, message);
    return 0;
}

static inline void check_file(drep_file *f)
{
    int64_t findings = 0;
    int err = drep_commit(f);

    ck_assert_msg(err == 0 || err == DREP_ERR_READ_ONLY, "%s", drep_error());
    ok(drep_check(f, 1, say_finding, NULL, &findings));
    ck_assert_int_eq(findings, 0);
}

/* ---- representations ---- */

static inline void register_datareps(void)
{
    static bool done;

    if (!done) {
        ok(declare_small());
        ok(drep_register_datarep("xor", xor_read, xor_write, native_extent, NULL));
    }
    done = true;
}

/* ---- elements ---- */

struct inner_value {
    int16_t n;
    char *text;
};
struct flat_value {
    int32_t a;
    float b[3];
    char s[5];
    bool yes;
};
struct deep_value {
    char *text;
    drep_vlen list; /* of struct inner_value */
    double d;
};

enum {
    V_INT,
    V_INT32,
    V_DOUBLE,
    V_FLOAT,
    V_SHORT,
    V_BYTES,
    V_BOOL,
    V_LONG_LONG,
    V_CHAR,
    V_COMPLEX,
    V_LONG_DOUBLE,
    V_ENUM,
    V_BOOLEAN,
    V_OPAQUE,
    V_STRING,
    V_ARRAY,
    V_FLAT,
    V_FIXED_KINDS,
    V_VSTRING = V_FIXED_KINDS,
    V_SEQUENCE,
    V_NESTED,
    V_DEEP,
    V_KINDS
};
#define VALUE_ROOM 128 /* bytes that one element takes at most */

static inline drep_type *value_compound(int n, const char *const *names,
                                        const drep_type *const *types)
{
    drep_type *t;

    ok(drep_type_compound(n, names, NULL, types, 0, &t));
    return t;
}

static inline drep_type *flat_type(void)
{
    const char *const names[] = {"a", "b", "s", "yes"};
    const int64_t three = 3;
    drep_type *array, *string, *t;

    ok(drep_type_array(1, &three, DREP_FLOAT, &array));
    ok(drep_type_string(5, DREP_PAD_NUL, &string));
    t = value_compound(
        4, names,
        (const drep_type *const[]){DREP_INT32_T, array, string, drep_predefined(DREP_CODE_C_BOOL)});
    drep_type_free(array);
    drep_type_free(string);
    return t;
}

static inline drep_type *deep_type(void)
{
    const char *const inner_names[] = {"n", "text"}, *const names[] = {"text", "list", "d"};
    drep_type *text, *inner, *list, *t;

    ok(drep_type_vstring(&text));
    inner = value_compound(2, inner_names, (const drep_type *const[]){DREP_INT16_T, text});
    ok(drep_type_sequence(inner, &list));
    t = value_compound(3, names, (const drep_type *const[]){text, list, DREP_DOUBLE});
    drep_type_free(text);
    drep_type_free(inner);
    drep_type_free(list);
    return t;
}

static inline drep_type *value_type(int kind)
{
    static const int codes[] = {
        DREP_CODE_INT,     DREP_CODE_INT32_T,          DREP_CODE_DOUBLE,     DREP_CODE_FLOAT,
        DREP_CODE_INT16_T, DREP_CODE_UINT8_T,          DREP_CODE_C_BOOL,     DREP_CODE_LONG_LONG,
        DREP_CODE_CHAR,    DREP_CODE_C_DOUBLE_COMPLEX, DREP_CODE_LONG_DOUBLE};
    const char *const colours[] = {"none", "red", "green"};
    const int64_t numbers[] = {0, 1, 2}, dims[] = {2, 2};
    drep_type *t = NULL, *u = NULL;

    if (kind <= V_LONG_DOUBLE)
        return drep_type_ref(drep_predefined(codes[kind]));
    switch (kind) {
    case V_ENUM:
        ok(drep_type_enum(DREP_INT16_T, 3, colours, numbers, &t));
        break;
    case V_BOOLEAN:
        ok(drep_type_boolean(DREP_INT8_T, &t));
        break;
    case V_OPAQUE:
        ok(drep_type_opaque(7, "seven", &t));
        break;
    case V_STRING:
        ok(drep_type_string(9, DREP_PAD_NUL, &t));
        break;
    case V_ARRAY:
        ok(drep_type_array(2, dims, DREP_INT16_T, &t));
        break;
    case V_FLAT:
        return flat_type();
    case V_VSTRING:
        ok(drep_type_vstring(&t));
        break;
    case V_SEQUENCE:
        ok(drep_type_sequence(DREP_INT32_T, &t));
        break;
    case V_NESTED:
        ok(drep_type_sequence(DREP_DOUBLE, &u));
        ok(drep_type_sequence(u, &t));
        drep_type_free(u);
        break;
    default:
        return deep_type();
    }
    return t;
}

/* ---- values of a number ---- */

static inline char *value_text(uint32_t v)
{
    char text[40];

    if (v == 0)
        text[0] = '\0';
    else
        snprintf(text, sizeof text, "%u%.*s", v, (int)(v % 17), "abcdefghijklmnopq");
    return strdup(text);
}

static inline drep_vlen value_list(int kind, uint32_t v)
{
    drep_vlen list = {v % 5, NULL};

    if (list.count == 0)
        return list;
    list.data = calloc((size_t)list.count, 16);
    for (uint32_t i = 0; i < list.count; i++) {
        if (kind == V_SEQUENCE)
            ((int32_t *)list.data)[i] = (int32_t)(v + i);
        else if (kind == V_NESTED)
            ((drep_vlen *)list.data)[i] = value_list(V_DOUBLE, v + i);
        else if (kind == V_DEEP)
            ((struct inner_value *)list.data)[i] =
                (struct inner_value){(int16_t)(v + i), value_text(v + 3 * i)};
        else
            ((double *)list.data)[i] = v * 0.5 + i;
    }
    return list;
}

/* Puts value number v at p; variable parts are malloc'ed. */
static inline void value_make(int kind, uint32_t v, void *p)
{
    int32_t number = v % 2 ? -(int32_t)v * 100 : (int32_t)v * 100;
    struct flat_value flat = {number, {(float)v, (float)v / 2, v == 0 ? 0 : -(float)v}, "", v % 2};
    struct deep_value deep;

    memset(flat.s, v == 0 ? 0 : 'a' + (int)(v % 26), v % 6);
    switch (kind) {
    case V_INT:
    case V_INT32:
        memcpy(p, &number, 4);
        break;
    case V_DOUBLE:
        *(double *)p = v * 0.25;
        break;
    case V_FLOAT:
        *(float *)p = v == 0 ? 0 : (float)v * -0.5f;
        break;
    case V_SHORT:
        *(int16_t *)p = (int16_t)-v;
        break;
    case V_BYTES:
    case V_CHAR:
        *(uint8_t *)p = (uint8_t)(v % 128);
        break;
    case V_BOOL:
    case V_BOOLEAN:
        *(uint8_t *)p = v % 2;
        break;
    case V_LONG_LONG:
        *(int64_t *)p = (int64_t)v * -1000003 * 1000;
        break;
    case V_COMPLEX:
        ((double *)p)[0] = v, ((double *)p)[1] = v == 0 ? 0 : -0.5 * v;
        break;
    case V_LONG_DOUBLE:
        *(long double *)p = (long double)v / 8;
        break;
    case V_ENUM:
        *(int16_t *)p = (int16_t)(v % 3);
        break;
    case V_OPAQUE:
    case V_STRING:
        memset(p, 0, kind == V_OPAQUE ? 7 : 9);
        memset(p, v == 0 ? 0 : 'A' + (int)(v % 26), v % 8);
        break;
    case V_ARRAY:
        for (int i = 0; i < 4; i++)
            ((int16_t *)p)[i] = v == 0 ? 0 : (int16_t)(v + (uint32_t)i);
        break;
    case V_FLAT:
        memcpy(p, &flat, sizeof flat);
        break;
    case V_VSTRING:
        *(char **)p = value_text(v);
        break;
    case V_SEQUENCE:
    case V_NESTED:
        *(drep_vlen *)p = value_list(kind, v);
        break;
    default:
        deep = (struct deep_value){value_text(v), value_list(V_DEEP, v), v * 0.5};
        memcpy(p, &deep, sizeof deep);
    }
}

static inline bool same_list(int kind, const drep_vlen *a, const drep_vlen *b)
{
    bool same = a->count == b->count;

    for (int64_t i = 0; same && i < a->count; i++) {
        const struct inner_value *x = a->data, *y = b->data;

        if (kind == V_SEQUENCE)
            same = ((int32_t *)a->data)[i] == ((int32_t *)b->data)[i];
        else if (kind == V_NESTED)
            same = same_list(V_DOUBLE, (drep_vlen *)a->data + i, (drep_vlen *)b->data + i);
        else if (kind == V_DEEP)
            same = x[i].n == y[i].n && strcmp(x[i].text, y[i].text) == 0;
        else
            same = ((double *)a->data)[i] == ((double *)b->data)[i];
    }
    return same;
}

static inline const char *text_or_none(const char *s)
{
    return s == NULL ? "" : s;
}

/* Is value number v at p? */
static inline bool value_is(int kind, const drep_type *type, uint32_t v, const void *p)
{
    _Alignas(16) uint8_t want[VALUE_ROOM] = {0};
    const struct flat_value *x = p, *y = (const void *)want;
    const struct deep_value *s = p, *t = (const void *)want;
    bool same;

    value_make(kind, v, want);
    switch (kind) {
    case V_LONG_DOUBLE: /* its padding says nothing */
        return *(const long double *)p == *(const long double *)(const void *)want;
    case V_FLAT:
        return x->a == y->a && memcmp(x->b, y->b, sizeof x->b) == 0 && memcmp(x->s, y->s, 5) == 0 &&
               x->yes == y->yes;
    case V_VSTRING:
        same = strcmp(text_or_none(*(char *const *)p), *(char **)want) == 0;
        break;
    case V_SEQUENCE:
    case V_NESTED:
        same = same_list(kind, p, (drep_vlen *)want);
        break;
    case V_DEEP:
        same = strcmp(text_or_none(s->text), t->text) == 0 &&
               same_list(V_DEEP, &s->list, &t->list) && s->d == t->d;
        break;
    default:
        return memcmp(p, want, (size_t)drep_type_extent(type)) == 0;
    }
    drep_vlen_free(type, 1, want);
    return same;
}

#endif
