/* matrix.c - writes a container with everything in it, and shows what it finds in one.
 *
 *   matrix write VALUES DIR NAME    DIR/NAME-{native,external32,internal,odd}.drep
 *   matrix common VALUES DIR NAME   the same without what must differ between machines
 *   matrix golden VALUES FILE       one file under native
 *   matrix read FILE...
 *
 * Runs on every machine.  It compares nothing: it prints what it held or got in memory, bit
 * for bit, with what each transfer reported lost, and hetero.py, which shares no line with
 * the library, says what all of it must be.
 *
 * VALUES: lines "INT hex" (two's complement) and "REAL hex" (binary128), each 32 digits, the
 * most significant first.  They become the values of each type here, clamped and rounded.
 * Numbers move as bytes only: no floating-point register has a say. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { VALUES_MAX = 96, ITEM_MAX = 32 };

static struct values {
    uint8_t wide[VALUES_MAX][16]; /* as this machine holds INTEGER16 or FLOAT128 */
    int n;
} ints, reals;

static drep_file *file;
static bool common;

static void must(int err, const char *what)
{
    if (err == 0)
        return;
    fprintf(stderr, "matrix: %s: error %d: %s\n", what, err, drep_error());
    exit(1);
}

static bool big_endian(void)
{
    const uint16_t one = 1;

    return *(const uint8_t *)&one == 0;
}

static void values_read(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[200], kind[8], hex[40];

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        struct values *v;

        if (sscanf(line, "%7s %39s", kind, hex) != 2 || strlen(hex) != 32)
            continue;
        v = strcmp(kind, "INT") == 0 ? &ints : &reals;
        for (int i = 0; i < 16 && v->n < VALUES_MAX; i++) {
            unsigned byte;

            sscanf(hex + 2 * i, "%2x", &byte);
            v->wide[v->n][big_endian() ? i : 15 - i] = (uint8_t)byte;
        }
        v->n++;
    }
    if (f == NULL || ints.n < 3 || reals.n < 3 || ints.n > VALUES_MAX || reals.n > VALUES_MAX) {
        fprintf(stderr, "matrix: %s: cannot read it\n", path);
        exit(1);
    }
    fclose(f);
}

/* ------------------------------------------------------------- printing */

static void print_hex(const void *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        printf("%02x", ((const uint8_t *)p)[i]);
}

static void print_items(const drep_type *type, const char *p);

static void print_item(const drep_type *type, const char *p)
{
    drep_vlen v;
    drep_ref r;
    char *s;

    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        printf(" %s:", drep_code_name(drep_type_code(type)));
        print_hex(p, (size_t)drep_type_size(type));
        break;
    case DREP_KIND_VSTRING:
        memcpy(&s, p, sizeof s);
        printf(" text:");
        print_hex(s, strlen(s));
        break;
    case DREP_KIND_SEQUENCE:
        memcpy(&v, p, sizeof v);
        printf(" count:%lld", (long long)v.count);
        for (int64_t i = 0; i < v.count; i++)
            print_items(drep_type_member(type, 0),
                        (const char *)v.data + i * drep_type_extent(drep_type_member(type, 0)));
        break;
    case DREP_KIND_REFERENCE:
        memcpy(&r, p, sizeof r);
        printf(" object:%llu", (unsigned long long)r.object);
        if (r.region != NULL) {
            printf("+");
            print_hex(r.region, strlen(r.region));
        }
        break;
    default:
        printf(" bytes:");
        print_hex(p, (size_t)drep_type_size(type));
    }
}

/* The data items of one element; gaps between them are not looked at. */
static void print_items(const drep_type *type, const char *p)
{
    int64_t left = drep_type_items(type);
    drep_cursor c;
    drep_run run;

    must(drep_cursor_init(&c, type, 0), "cursor");
    for (; left > 0; left -= run.count) {
        drep_cursor_next(&c, left, &run);
        for (int64_t i = 0; i < run.count; i++)
            print_item(run.type, p + run.offset + i * run.stride);
    }
}

/* One line: what, where, the report of the transfer, the items. */
static void print_line(const char *what, const char *path, const drep_report *r,
                       const drep_type *type, int64_t n, const void *buf)
{
    printf("%s %s %lld,%lld,%lld,%lld,%lld,%lld,%lld", what, path, (long long)r->items,
           (long long)r->overflow, (long long)r->inexact, (long long)r->nan_lost,
           (long long)r->first_overflow, (long long)r->first_inexact, (long long)r->first_nan_lost);
    for (int64_t i = 0; i < n; i++)
        print_items(type, (const char *)buf + i * drep_type_extent(type));
    printf("\n");
}

/* How this machine's compiler lays out what the table says of it. */
#define SHOW(code, type)                                                       \
    do {                                                                       \
        struct {                                                               \
            char c;                                                            \
            type x;                                                            \
        } s;                                                                   \
        printf("layout %s %zu %zu %lld %lld\n", #code, sizeof(type),           \
               (size_t)((char *)&s.x - &s.c),                                  \
               (long long)drep_type_size(drep_predefined(DREP_CODE_##code)),   \
               (long long)drep_type_align(drep_predefined(DREP_CODE_##code))); \
    } while (0)

static void show_layouts(void)
{
    printf("char %s\n", (char)-1 < 0 ? "signed" : "unsigned");
    SHOW(CHAR, char);
    SHOW(SHORT, short);
    SHOW(INT, int);
    SHOW(LONG, long);
    SHOW(LONG_LONG, long long);
    SHOW(WCHAR, wchar_t);
    SHOW(FLOAT, float);
    SHOW(DOUBLE, double);
    SHOW(LONG_DOUBLE, long double);
    SHOW(C_BOOL, bool);
    SHOW(C_FLOAT_COMPLEX, float _Complex);
    SHOW(C_DOUBLE_COMPLEX, double _Complex);
    SHOW(C_LONG_DOUBLE_COMPLEX, long double _Complex);
    SHOW(INT64_T, int64_t);
    SHOW(AINT, intptr_t);
}

/* What the compiler makes of constants, beside the bytes that values of VALUES became:
 * hetero.py holds them against each other. */
static void show_constants(void)
{
    static const float f[] = {0.0f, -0.0f, 1, -2.5f, 0.1f, 3.14159265358979323846264338327950288f};
    static const double d[] = {0.0, -0.0, 1, -2.5, 0.1, 3.14159265358979323846264338327950288};
    static const long double l[] = {0.0L,  -0.0L, 1,
                                    -2.5L, 0.1L,  3.14159265358979323846264338327950288L};

    for (int i = 0; i < 6; i++) {
        printf("constant FLOAT %d ", i);
        print_hex(&f[i], sizeof *f);
        printf("\nconstant DOUBLE %d ", i);
        print_hex(&d[i], sizeof *d);
        printf("\nconstant LONG_DOUBLE %d ", i);
        print_hex(&l[i], sizeof *l);
        printf("\n");
    }
}

/* ------------------------------------------------------ values of a type */

static drep_xfer clamp_to(drep_report *r)
{
    return DREP_XFER(.range = DREP_RANGE_CLAMP, .threads = 1, .report = r);
}

static void convert(const drep_type *to, void *dst, const drep_type *from, const void *src,
                    int64_t n, drep_report *r)
{
    drep_xfer xfer = clamp_to(r);

    must(drep_convert(to, dst, from, src, n, &xfer), drep_code_name(drep_type_code(to)));
}

/* Pairs of the reals: each beside the one as far from the end. */
static void complex_values(int code, void *buf, drep_report *r)
{
    static uint8_t pair[VALUES_MAX][2][16];

    for (int i = 0; i < reals.n; i++) {
        memcpy(pair[i][0], reals.wide[i], 16);
        memcpy(pair[i][1], reals.wide[reals.n - 1 - i], 16);
    }
    convert(drep_predefined(code), buf, drep_predefined(DREP_CODE_COMPLEX32), pair, reals.n, r);
}

static int integer_of_size(int64_t size)
{
    return size == 1   ? DREP_CODE_INTEGER1
           : size == 2 ? DREP_CODE_INTEGER2
           : size == 4 ? DREP_CODE_INTEGER4
           : size == 8 ? DREP_CODE_INTEGER8
                       : DREP_CODE_INTEGER16;
}

static int bool_values(int code, void *buf, drep_report *r)
{
    static uint8_t wide[4][16];
    const int n = 4;

    for (int i = 0; i < n; i++)
        wide[i][big_endian() ? 15 : 0] = i == 1 || i == 2;
    convert(drep_predefined(integer_of_size(drep_type_size(drep_predefined(code)))), buf,
            drep_predefined(DREP_CODE_INTEGER16), wide, n, r);
    return n;
}

static int wchar_values(wchar_t *buf)
{
    static const uint32_t points[] = {0, 'A', 0xe9, 0x20ac, 0xfffd, 0x10348, 0x1f600, 0x10ffff};
    const int n = sizeof points / sizeof *points;

    for (int i = 0; i < n; i++)
        buf[i] = (wchar_t)points[i];
    return n;
}

/* Fills buf with this machine's values of a predefined type; gives their number.  *r: what
 * making them lost. */
static int values_of(int code, void *buf, drep_report *r)
{
    const drep_type *t = drep_predefined(code);
    const char *name = drep_code_name(code);

    *r = (drep_report){sizeof(drep_report), 0, 0, 0, 0, -1, -1, -1};
    if (strstr(name, "COMPLEX") != NULL) {
        complex_values(code, buf, r);
        return reals.n;
    }
    if (strstr(name, "BOOL") != NULL || strncmp(name, "LOGICAL", 7) == 0)
        return bool_values(code, buf, r);
    switch (code) {
    case DREP_CODE_WCHAR:
        return wchar_values(buf);
    case DREP_CODE_BYTE:
    case DREP_CODE_PACKED:
    case DREP_CODE_CHAR:
    case DREP_CODE_CHARACTER:
        for (int i = 0; i < 64; i++)
            ((uint8_t *)buf)[i] = (uint8_t)(i * 37 + 11);
        return 64;
    case DREP_CODE_FLOAT:
    case DREP_CODE_DOUBLE:
    case DREP_CODE_LONG_DOUBLE:
    case DREP_CODE_REAL:
    case DREP_CODE_DOUBLE_PRECISION:
    case DREP_CODE_REAL2:
    case DREP_CODE_REAL4:
    case DREP_CODE_REAL8:
    case DREP_CODE_REAL16:
    case DREP_CODE_FLOAT16:
    case DREP_CODE_BFLOAT16:
    case DREP_CODE_FLOAT128:
    case DREP_CODE_FP8_E4M3:
    case DREP_CODE_FP8_E5M2:
        convert(t, buf, DREP_FLOAT128, reals.wide, reals.n, r);
        return reals.n;
    default:
        convert(t, buf, drep_predefined(DREP_CODE_INTEGER16), ints.wide, ints.n, r);
        return ints.n;
    }
}

/* -------------------------------------------------------------- writing */

static void write_dataset(const char *path, const drep_spec *spec, const drep_selection *sel,
                          const drep_type *type, int64_t n, const void *buf)
{
    drep_report r = {sizeof(drep_report), 0, 0, 0, 0, -1, -1, -1};
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_WRAP, .report = &r);
    drep_dataset *ds;

    must(drep_dataset_create(file, path, spec, &ds), path);
    must(drep_write(ds, sel, type, buf, &xfer), path);
    drep_dataset_close(ds);
    print_line("wrote", path, &r, type, n, buf);
}

static void write_attribute(const char *path, const char *name, const drep_type *type, int64_t n,
                            const void *buf)
{
    const drep_report none = {sizeof(drep_report), 0, 0, 0, 0, -1, -1, -1};
    char where[200];

    must(drep_attr_write(file, path, name, type, 1, &n, buf), name);
    snprintf(where, sizeof where, "%s@%s", path, name);
    print_line("attribute", where, &none, type, n, buf);
}

/* Attributes and fill values carry the writer's own encoding: of some types no two
 * machines' are alike. */
static bool alike(int code)
{
    return code != DREP_CODE_LONG && code != DREP_CODE_UNSIGNED_LONG && code != DREP_CODE_AINT &&
           code != DREP_CODE_LONG_DOUBLE && code != DREP_CODE_C_LONG_DOUBLE_COMPLEX &&
           code != DREP_CODE_CXX_LONG_DOUBLE_COMPLEX;
}

/* Every predefined type, in every layout: alternately compact, contiguous and chunked. */
static void write_types(void)
{
    static const drep_filter filters[] = {{.id = DREP_FILTER_SHUFFLE},
                                          {.id = DREP_FILTER_DEFLATE, .level = 6},
                                          {.id = DREP_FILTER_ZSTD}};
    uint64_t buf[VALUES_MAX * ITEM_MAX / 8];
    const int64_t chunk = 7;
    char path[100];
    drep_report r = DREP_REPORT;

    must(drep_group_create(file, "/types", 0), "/types");
    for (int code = 1; code <= DREP_CODE_MAX; code++) {
        drep_spec spec =
            DREP_SPEC(.type = drep_predefined(code), .rank = 1, .layout = 1 + code % 3);
        int64_t n;

        memset(buf, 0, sizeof buf);
        n = values_of(code, buf, &r);
        spec.dims = &n;
        if (spec.layout == DREP_CHUNKED) {
            spec.chunk = &chunk;
            for (int i = 0; i < (common ? 1 : 3) && drep_filter_available(filters[i].id); i++)
                spec.nfilters = code % 6 == 2 ? i + 1 : 0;
            spec.filters = spec.nfilters > 0 ? filters : NULL;
        }
        snprintf(path, sizeof path, "/types/%s", drep_code_name(code));
        print_line("made", path, &r, spec.type, n, buf);
        write_dataset(path, &spec, NULL, spec.type, n, buf);
        if (code % 5 == 0 && (!common || alike(code)))
            write_attribute(path, "three", spec.type, n < 3 ? n : 3, buf);
    }
}

/* The same numbers through every filter that is there; the files of a machine without one
 * lack its dataset, and say so.  Compressors, the last of each chain, choose differently on
 * machines of other word sizes and orders: the common files do without. */
static void write_filters(void)
{
    static const struct {
        const char *path;
        int id[3];
    } chains[] = {
        {"/filters/shuffle-zstd", {DREP_FILTER_SHUFFLE, DREP_FILTER_ZSTD}},
        {"/filters/bitshuffle-lz4", {DREP_FILTER_BITSHUFFLE, DREP_FILTER_LZ4}},
        {"/filters/delta-deflate", {DREP_FILTER_DELTA, DREP_FILTER_SHUFFLE, DREP_FILTER_DEFLATE}},
    };
    const int64_t dims[] = {12, 21}, chunk[] = {5, 8};
    int32_t buf[12 * 21];

    for (int i = 0; i < 12 * 21; i++)
        buf[i] = i / 21 * 1000 - i % 21 * (i % 21) * 7;
    must(drep_group_create(file, "/filters", 0), "/filters");
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        drep_filter filters[3] = {{.id = 0}};
        drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims, .chunk = chunk,
                                   .layout = DREP_CHUNKED, .filters = filters);
        bool all = true;

        for (int i = 0; i < 3 && chains[c].id[i] != 0; i++) {
            if (common && chains[c].id[i] >= DREP_FILTER_DEFLATE)
                break;
            filters[spec.nfilters++].id = chains[c].id[i];
            all &= drep_filter_available(chains[c].id[i]);
        }
        if (spec.nfilters == 0)
            spec.filters = NULL;
        if (all)
            write_dataset(chains[c].path, &spec, NULL, DREP_INT32_T, 12 * 21, buf);
        else
            printf("without %s\n", chains[c].path);
    }
}

/* Part of a grid; the rest is the fill value. */
static void write_fill(void)
{
    const int64_t dims[] = {9, 11}, chunk[] = {4, 4}, start[] = {2, 1}, count[] = {3, 4},
                  stride[] = {2, 2};
    const drep_type *type = common ? DREP_DOUBLE : DREP_LONG_DOUBLE;
    char values[12 * ITEM_MAX], fill[ITEM_MAX];
    drep_spec spec = DREP_SPEC(.type = type, .rank = 2, .dims = dims,
                               .maxdims = (const int64_t[]){DREP_UNLIMITED, 11}, .chunk = chunk,
                               .layout = DREP_CHUNKED, .fill = DREP_FILL_VALUE, .fill_value = fill);
    uint8_t wide[12][16];
    drep_selection *sel;
    drep_report r = DREP_REPORT;

    for (int i = 0; i < 12; i++)
        memcpy(wide[i], reals.wide[i % reals.n], 16);
    convert(type, values, DREP_FLOAT128, wide, 12, &r);
    /* The fourth is -2.5, which every representation holds. */
    convert(type, fill, DREP_FLOAT128, reals.wide[3 % reals.n], 1, &r);
    must(drep_select_box(2, start, count, stride, NULL, &sel), "/filled");
    write_dataset("/filled", &spec, sel, type, 12, values);
    print_line("fill", "/filled", &r, type, 1, fill);
    drep_selection_free(sel);
}

/* ---- a compound as C has it ---- */

struct inner {
    char c;
    long long q;
};
struct outer {
    char c;
    double d;
    struct inner in[2];
    short s;
    long double e;
    bool b;
    wchar_t w;
    long l;
    char *text;
    int8_t colour;
    drep_vlen list;
    char fixed[3];
    unsigned char opaque[5];
    double z[2];
    drep_ref ref;
    float f;
};

enum { MEMBERS = 16 };

static drep_type *outer_type(void)
{
    static const char *const inner_names[] = {"c", "q"};
    static const char *const names[MEMBERS] = {"c",      "d", "in",   "s",      "e",    "b",
                                               "w",      "l", "text", "colour", "list", "fixed",
                                               "opaque", "z", "ref",  "f"};
    static const int64_t inner_at[] = {offsetof(struct inner, c), offsetof(struct inner, q)};
    static const int64_t at[MEMBERS] = {
        offsetof(struct outer, c),      offsetof(struct outer, d),    offsetof(struct outer, in),
        offsetof(struct outer, s),      offsetof(struct outer, e),    offsetof(struct outer, b),
        offsetof(struct outer, w),      offsetof(struct outer, l),    offsetof(struct outer, text),
        offsetof(struct outer, colour), offsetof(struct outer, list), offsetof(struct outer, fixed),
        offsetof(struct outer, opaque), offsetof(struct outer, z),    offsetof(struct outer, ref),
        offsetof(struct outer, f)};
    static const char *const colours[] = {"RED", "GREEN", "BLUE"};
    drep_type *inner, *array, *text, *colour, *list, *fixed, *opaque, *ref, *outer, *computed;

    must(drep_type_compound(2, inner_names, inner_at,
                            (const drep_type *const[]){DREP_CHAR, DREP_LONG_LONG},
                            sizeof(struct inner), &inner),
         "inner");
    must(drep_type_array(1, (const int64_t[]){2}, inner, &array), "array");
    must(drep_type_vstring(&text), "vstring");
    must(drep_type_enum(DREP_INT8_T, 3, colours, (const int64_t[]){0, 1, -128}, &colour), "enum");
    must(drep_type_sequence(DREP_SHORT, &list), "sequence");
    must(drep_type_string(3, DREP_PAD_SPACE, &fixed), "string");
    must(drep_type_opaque(5, "five", &opaque), "opaque");
    must(drep_type_reference(DREP_REF_OBJECT, &ref), "reference");
    const drep_type *const types[MEMBERS] = {DREP_CHAR,
                                             DREP_DOUBLE,
                                             array,
                                             DREP_SHORT,
                                             DREP_LONG_DOUBLE,
                                             DREP_C_BOOL,
                                             DREP_WCHAR,
                                             DREP_LONG,
                                             text,
                                             colour,
                                             list,
                                             fixed,
                                             opaque,
                                             DREP_C_DOUBLE_COMPLEX,
                                             ref,
                                             DREP_FLOAT};
    must(drep_type_compound(MEMBERS, names, at, types, sizeof(struct outer), &outer), "outer");
    must(drep_type_compound(MEMBERS, names, NULL, types, 0, &computed), "computed");
    for (int i = 0; i < MEMBERS; i++) /* where the compiler puts it, where the library would */
        printf("offset %s %lld %lld\n", names[i], (long long)at[i],
               (long long)drep_type_member_offset(computed, i));
    printf("offset - %zu %lld\n", sizeof(struct outer), (long long)drep_type_extent(computed));
    drep_type_free(inner);
    drep_type_free(array);
    drep_type_free(text);
    drep_type_free(colour);
    drep_type_free(list);
    drep_type_free(fixed);
    drep_type_free(opaque);
    drep_type_free(ref);
    drep_type_free(computed);
    return outer;
}

static void outer_fill(struct outer *o, int i)
{
    static const char *const texts[] = {"", "text", "Zürich, Ελλάς, 東京",
                                        "a longer one, to be compressed"};
    static short numbers[] = {1, -2, 32767, -32768, 5};
    drep_report r = DREP_REPORT;

    memset(o, 0, sizeof *o);
    o->c = (char)('a' + i);
    convert(DREP_DOUBLE, &o->d, DREP_FLOAT128, reals.wide[i % reals.n], 1, &r);
    for (int k = 0; k < 2; k++) {
        o->in[k].c = (char)('A' + 2 * i + k);
        o->in[k].q = ((long long)i - 1) * 0x0102030405060708 + k;
    }
    o->s = (short)(-i);
    convert(DREP_LONG_DOUBLE, &o->e, DREP_FLOAT128, reals.wide[(i + 3) % reals.n], 1, &r);
    o->b = i % 2;
    o->w = (wchar_t)(0x20ac + i);
    o->l = i * -70000L;
    o->text = (char *)(uintptr_t)texts[i % 4];
    o->colour = (int8_t)(i % 3 == 2 ? -128 : i % 3);
    o->list = (drep_vlen){i % 6, numbers};
    memcpy(o->fixed, "xy ", 3);
    memcpy(o->opaque, "\0\1\376\377", 5);
    o->opaque[4] = (unsigned char)i;
    for (int k = 0; k < 2; k++)
        convert(DREP_DOUBLE, &o->z[k], DREP_FLOAT128, reals.wide[(i + 4 * k) % reals.n], 1, &r);
    o->ref = (drep_ref){i == 1 ? 0 : 1, NULL};
    convert(DREP_FLOAT, &o->f, DREP_FLOAT128, reals.wide[(i + 5) % reals.n], 1, &r);
}

static void write_compounds(int64_t n)
{
    static const drep_filter filters[] = {{.id = DREP_FILTER_LZ4}};
    struct outer *o = calloc((size_t)n, sizeof *o);
    drep_type *t = outer_type();
    const int64_t chunk = 4;
    drep_spec spec =
        DREP_SPEC(.type = t, .rank = 1, .dims = &n, .layout = DREP_CHUNKED, .chunk = &chunk);

    for (int64_t i = 0; i < n; i++)
        outer_fill(&o[i], (int)i);
    must(drep_group_create(file, "/structs", 0), "/structs");
    write_dataset("/structs/chunked", &spec, NULL, t, n, o);
    if (common) {
        /* not there */
    } else if (drep_filter_available(DREP_FILTER_LZ4)) {
        spec.filters = filters;
        spec.nfilters = 1;
        write_dataset("/structs/compressed", &spec, NULL, t, n, o);
    } else {
        printf("without /structs/compressed\n");
    }
    if (!common)
        write_attribute("/structs", "two", t, 2, o);
    must(drep_type_commit(file, "/structs/type", t), "/structs/type");
    drep_type_free(t);
    free(o);
}

/* Links, dimensions, references to regions, shapes without elements. */
static void write_rest(void)
{
    const int64_t dims[] = {3, 2}, none = 0;
    const short grid[3][2] = {{1, 2}, {3, 4}, {-5, 6}};
    const drep_ref regions[] = {{1, NULL}, {0, NULL}, {1, (char *)(uintptr_t) "[0:3:2, 1:2:1]"}};
    drep_type *region;
    drep_spec spec =
        DREP_SPEC(.type = DREP_SHORT, .rank = 2, .dims = dims,
                  .dim_names = (const char *const[]){"lat", "lon"}, .layout = DREP_CONTIGUOUS);

    must(drep_dimension_create(file, "/#lat", 3, 1), "/#lat");
    write_dataset("/grid", &spec, NULL, DREP_SHORT, 6, grid);
    must(drep_link_soft(file, "/grid", "/soft"), "/soft");
    must(drep_link_hard(file, "/grid", "/hard"), "/hard");
    must(drep_link_external(file, "other.drep", "/x", "/external"), "/external");
    must(drep_attr_write_string(file, "/grid", "units", "K"), "units");
    must(drep_attr_write_int64(file, "/grid", "number", -1234567890123), "number");
    must(drep_type_reference(DREP_REF_REGION, &region), "region");
    spec = DREP_SPEC(.type = region, .rank = 1, .dims = &dims[0]);
    write_dataset("/regions", &spec, NULL, region, 3, regions);
    drep_type_free(region);
    spec = DREP_SPEC(.type = DREP_LONG, .rank = 1, .dims = &none);
    write_dataset("/empty", &spec, NULL, DREP_LONG, 0, &none);
    spec = DREP_SPEC(.type = DREP_LONG_DOUBLE, .rank = DREP_NULL_SPACE);
    must(drep_dataset_create(file, "/null", &spec, NULL), "/null");
}

/* A representation that no machine has: other widths, other formats, other orders. */
static void declare(void)
{
    static const struct {
        int code, format, order, size;
    } odd[] = {
        {DREP_CODE_CHAR, DREP_FORMAT_EBCDIC, DREP_BIG, 1},
        {DREP_CODE_SHORT, DREP_FORMAT_INT, DREP_BIG, 3},
        {DREP_CODE_UNSIGNED_SHORT, DREP_FORMAT_INT, DREP_LITTLE, 3},
        {DREP_CODE_INT, DREP_FORMAT_INT, DREP_VAX, 4},
        {DREP_CODE_LONG, DREP_FORMAT_INT, DREP_LITTLE, 4},
        {DREP_CODE_LONG_LONG, DREP_FORMAT_INT, DREP_BIG, 6},
        {DREP_CODE_UNSIGNED_LONG_LONG, DREP_FORMAT_UINT, DREP_VAX, 8},
        {DREP_CODE_WCHAR, DREP_FORMAT_UNICODE, DREP_LITTLE, 3},
        {DREP_CODE_C_BOOL, DREP_FORMAT_BOOL, DREP_BIG, 4},
        {DREP_CODE_CXX_BOOL, DREP_FORMAT_BOOL, DREP_LITTLE, 16},
        {DREP_CODE_LOGICAL, DREP_FORMAT_BOOL, DREP_LITTLE, 2},
        {DREP_CODE_LOGICAL16, DREP_FORMAT_BOOL, DREP_BIG, 1},
        {DREP_CODE_FLOAT, DREP_FORMAT_IBM_HEX32, DREP_BIG, 4},
        {DREP_CODE_DOUBLE, DREP_FORMAT_VAX_G, DREP_VAX, 8},
        {DREP_CODE_LONG_DOUBLE, DREP_FORMAT_IBM_HEX128, DREP_BIG, 16},
        {DREP_CODE_C_FLOAT_COMPLEX, DREP_FORMAT_VAX_F, DREP_VAX, 8},
        {DREP_CODE_C_DOUBLE_COMPLEX, DREP_FORMAT_IBM_HEX64, DREP_BIG, 16},
        {DREP_CODE_C_LONG_DOUBLE_COMPLEX, DREP_FORMAT_VAX_H, DREP_VAX, 32},
        {DREP_CODE_REAL2, DREP_FORMAT_BFLOAT16, DREP_LITTLE, 2},
        {DREP_CODE_REAL4, DREP_FORMAT_FP8_E5M2, DREP_BIG, 1},
        {DREP_CODE_REAL8, DREP_FORMAT_CRAY64, DREP_BIG, 8},
        {DREP_CODE_REAL16, DREP_FORMAT_DOUBLE_DOUBLE, DREP_LITTLE, 16},
        {DREP_CODE_COMPLEX8, DREP_FORMAT_FP8_E4M3, DREP_BIG, 2},
        {DREP_CODE_COMPLEX16, DREP_FORMAT_VAX_D, DREP_VAX, 16},
        {DREP_CODE_COMPLEX32, DREP_FORMAT_M68K, DREP_BIG, 24},
        {DREP_CODE_FLOAT16, DREP_FORMAT_BINARY16, DREP_LITTLE, 2},
        {DREP_CODE_FLOAT128, DREP_FORMAT_X87, DREP_LITTLE, 10},
        {DREP_CODE_DOUBLE_COMPLEX, DREP_FORMAT_X87, DREP_BIG, 24},
        {DREP_CODE_INTEGER16, DREP_FORMAT_INT, DREP_VAX, 16},
        {DREP_CODE_UINT128_T, DREP_FORMAT_UINT, DREP_BIG, 15},
        {DREP_CODE_INTEGER8, DREP_FORMAT_INT, DREP_BIG, 5},
        {DREP_CODE_UINT64_T, DREP_FORMAT_UINT, DREP_LITTLE, 7},
    };
    enum { ODD = sizeof odd / sizeof *odd };
    drep_encoding rows[ODD];

    for (int i = 0; i < ODD; i++)
        rows[i] = (drep_encoding){.code = (uint16_t)odd[i].code,
                                  .format = (uint8_t)odd[i].format,
                                  .order = (uint8_t)odd[i].order,
                                  .size = (uint8_t)odd[i].size,
                                  .align = 1};
    must(drep_declare_datarep("odd", "external32", rows, ODD, NULL, 0), "odd");
}

/* Everything that may differ between two files of the same content is fixed. */
static void write_file(const char *path, const char *datarep, int structs)
{
    drep_info *info;

    must(drep_info_new(&info), "info");
    must(drep_info_set(info, "drep_uuid", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"), "drep_uuid");
    must(drep_info_set(info, "drep_time", "1700000000123456789"), "drep_time");
    if (strncmp(datarep, "native", 6) != 0)
        must(drep_info_set(info, "drep_machine", "any"), "drep_machine");
    must(drep_create(path, DREP_RDWR, datarep, info, &file), path);
    drep_info_free(info);
    printf("file %s %s\n", datarep, path);
    write_types();
    write_fill();
    write_compounds(structs);
    write_rest();
    write_filters();
    must(drep_close(file), path);
}

/* -------------------------------------------------------------- reading */

static void read_as(const char *what, const char *path, drep_dataset *ds, const drep_type *type,
                    int64_t n, int range)
{
    drep_report r = {sizeof(drep_report), 0, 0, 0, 0, -1, -1, -1};
    drep_xfer xfer = DREP_XFER(.range = range, .report = &r);
    void *buf = calloc((size_t)n + 1, (size_t)drep_type_extent(type) + 16);
    int err = drep_read(ds, NULL, type, buf, &xfer);

    if (err == 0)
        print_line(what, path, &r, type, n, buf);
    else
        printf("%s %s error %s\n", what, path, drep_strerror(err));
    if (err == 0)
        drep_vlen_free(type, n, buf);
    free(buf);
}

/* The type that holds any value of a numeric one; NULL for others. */
static const drep_type *widest(int code)
{
    const char *name = drep_code_name(code);
    int to = DREP_CODE_INTEGER16;

    if (code <= DREP_CODE_CHAR || code == DREP_CODE_WCHAR || code == DREP_CODE_CHARACTER ||
        strstr(name, "BOOL") != NULL || strstr(name, "LOGICAL") != NULL)
        return NULL;
    if (strstr(name, "COMPLEX") != NULL)
        to = DREP_CODE_COMPLEX32;
    else if (strstr(name, "UNSIGNED") != NULL || strstr(name, "UINT") != NULL)
        to = DREP_CODE_UINT128_T;
    else if (strstr(name, "FLOAT") != NULL || strstr(name, "REAL") != NULL ||
             strstr(name, "DOUBLE") != NULL || strstr(name, "FP8") != NULL)
        to = DREP_CODE_FLOAT128;
    return drep_predefined(to);
}

static int read_attribute(const char *name, void *ctx)
{
    const drep_report none = {sizeof(drep_report), 0, 0, 0, 0, -1, -1, -1};
    const char *path = ctx;
    const drep_xfer wrap = DREP_XFER(.range = DREP_RANGE_WRAP);
    drep_attrinfo info = DREP_ATTRINFO;
    drep_item item = {.path = path, .attr = name};
    char where[1300];
    void *buf;

    must(drep_attr_info(file, path, name, &info), name);
    buf = calloc((size_t)info.count + 1, (size_t)drep_type_extent(info.type) + 16);
    item.type = info.type;
    item.buf = buf;
    must(drep_readv(file, &item, 1, &wrap), name);
    snprintf(where, sizeof where, "%s@%s", path, name);
    print_line("attribute", where, &none, info.type, info.count, buf);
    drep_vlen_free(info.type, info.count, buf);
    free(buf);
    drep_attrinfo_release(&info);
    return 0;
}

static void read_dataset(const char *path)
{
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    const drep_type *wide;

    must(drep_dataset_open(file, path, &ds), path);
    must(drep_dataset_info(ds, &info), path);
    if (info.rank >= 0) {
        read_as("read", path, ds, info.type, info.count, DREP_RANGE_WRAP);
        wide = drep_type_code(info.type) ? widest(drep_type_code(info.type)) : NULL;
        if (wide != NULL) {
            read_as("wide", path, ds, wide, info.count, DREP_RANGE_CLAMP);
            read_as("strict", path, ds, info.type, info.count, DREP_RANGE_STRICT);
        }
    }
    drep_dataset_close(ds);
}

static int read_link(const drep_linkinfo *link, void *ctx)
{
    const char *group = ctx;
    char path[1200];

    snprintf(path, sizeof path, "%s/%s", strcmp(group, "/") == 0 ? "" : group, link->name);
    printf("link %s %d %d %s\n", path, link->link, link->kind, link->target ? link->target : "");
    if (link->link != DREP_LINK_HARD || strcmp(link->name, "hard") == 0)
        return 0;
    must(drep_attr_list(file, path, DREP_BY_CREATION, read_attribute, path), path);
    if (link->kind == DREP_OBJ_DATASET)
        read_dataset(path);
    if (link->kind == DREP_OBJ_GROUP)
        must(drep_list(file, path, DREP_BY_CREATION, read_link, path), path);
    return 0;
}

static int finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)ctx;
    printf("finding %s %llu %s\n", drep_strerror(err), (unsigned long long)offset, message);
    return 0;
}

static void read_file(const char *path)
{
    int64_t findings = 0;
    drep_header h = DREP_HEADER;

    must(drep_open(path, DREP_RDONLY, NULL, &file), path);
    must(drep_header_get(file, &h), path);
    printf("file %s %s\nheader %s %s %d.%d\n", h.datarep, path, h.form, h.machine, h.version_major,
           h.version_minor);
    must(drep_list(file, "/", DREP_BY_CREATION, read_link, (char *)(uintptr_t) "/"), path);
    must(drep_check(file, 1, finding, NULL, &findings), path);
    printf("findings %lld\n", (long long)findings);
    must(drep_close(file), path);
}

int main(int argc, char **argv)
{
    static const char *const reps[] = {"native", "external32", "internal", "odd"};
    char path[4096];

    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (argc > 2 && strcmp(argv[1], "read") == 0) {
        for (int i = 2; i < argc; i++)
            read_file(argv[i]);
        return fflush(stdout) != 0;
    }
    if (argc < 4)
        return 2;
    values_read(argv[2]);
    printf("%s", drep_version());
    printf("\n");
    if (strcmp(argv[1], "golden") == 0) {
        write_file(argv[3], "native", 4);
        return fflush(stdout) != 0;
    }
    common = strcmp(argv[1], "common") == 0;
    declare();
    show_layouts();
    show_constants();
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s-%s.drep", argv[3], argv[4], reps[i]);
        write_file(path, reps[i], 11);
    }
    return fflush(stdout) != 0;
}
