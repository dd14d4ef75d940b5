/* test_schema.c - random containers, printed as schemas, make the same containers again.
 *
 * Everything that the public interface can put into a file is drawn at random; the command
 * prints it as a schema and makes a file from that; then the two files are compared through
 * the public interface, and the command must find that each is as the schema says.  TAP. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASES 240
#define BATCH 20

static uint64_t state;
static const char *command;
static char folder[256];
static char failure[4096];

static uint64_t next(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* From 0 to n - 1. */
static int below(int n)
{
    return (int)(next() % (uint64_t)n);
}

static bool maybe(int percent)
{
    return below(100) < percent;
}

static void must(int err, const char *what)
{
    if (!err)
        return;
    printf("Bail out! %s: %s\n", what, drep_error());
    exit(1);
}

static void *need(void *p)
{
    if (!p)
        exit(1);
    return p;
}

/* ------------------------------------------------------------------- names */

static const char *const odd[] = {"null",
                                  "true",
                                  "~",
                                  "1",
                                  "0x10",
                                  "1.5",
                                  ".nan",
                                  "a b",
                                  " lead",
                                  "trail ",
                                  "-",
                                  "- x",
                                  "? x",
                                  "a: b",
                                  "#x",
                                  "a #b",
                                  "[x",
                                  "{x}",
                                  "*x",
                                  "&x",
                                  "!x",
                                  "|",
                                  ">",
                                  "%x",
                                  "@x",
                                  "`x",
                                  "'q'",
                                  "\"q\"",
                                  "a\nb",
                                  "a\tb",
                                  "\\",
                                  "\x01x",
                                  "caf\xc3\xa9",
                                  "\xe4\xb8\xad",
                                  "\xf0\x9f\x98\x80",
                                  "\xc2\x85",
                                  "\xe2\x80\xa8",
                                  "attrs",
                                  "members",
                                  "dataset",
                                  "type",
                                  "link",
                                  "dimension",
                                  "root",
                                  "data",
                                  "from",
                                  "INT",
                                  "struct",
                                  "seq",
                                  "value",
                                  "shape",
                                  "<<",
                                  "=",
                                  "yes",
                                  "no",
                                  "on",
                                  "12:30",
                                  "2020-01-01",
                                  "---",
                                  "..."};

static void make_name(char *out, int number)
{
    if (maybe(30))
        snprintf(out, 64, "%s", odd[below((int)(sizeof odd / sizeof *odd))]);
    else if (maybe(30))
        snprintf(out, 64, "%s%d", odd[below((int)(sizeof odd / sizeof *odd))], number);
    else
        snprintf(out, 64, "n%d", number);
}

/* -------------------------------------------------------------------- types */

static drep_encoding plain[DREP_CODE_MAX + 1];

static bool is_complex(int code)
{
    static const struct {
        int format, size;
    } sizes[] = {{DREP_FORMAT_FP8_E4M3, 1},  {DREP_FORMAT_FP8_E5M2, 1}, {DREP_FORMAT_BINARY16, 2},
                 {DREP_FORMAT_BFLOAT16, 2},  {DREP_FORMAT_BINARY32, 4}, {DREP_FORMAT_BINARY64, 8},
                 {DREP_FORMAT_BINARY128, 16}};
    size_t i;

    for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (plain[code].format == sizes[i].format)
            return plain[code].size == 2 * sizes[i].size;
    return false;
}

static drep_type *any_type(int depth);

static drep_type *scalar_type(void)
{
    static const char *const texts[] = {
        "scalar{int,little,3}",
        "scalar{uint,big,5}",
        "scalar{binary32,big,4}",
        "scalar{binary64,vax,8}",
        "scalar{x87,little,16}",
        "scalar{binary128,little,16}",
        "scalar{ibm-hex64,big,8}",
        "scalar{vax-d,vax,8}",
        "scalar{cray64,big,8}",
        "scalar{custom,integer,big,2,signed=1,norm=0,pad=0/0,precision=12,offset=2,sign=0,exp=0/0,"
        "sig=0/0,base=2,bias=0}",
        "scalar{custom,bits,little,3,signed=0,norm=0,pad=0/0,precision=20,offset=1,sign=0,exp=0/0,"
        "sig=0/0,base=2,bias=0}",
        "scalar{custom,real,big,4,signed=0,norm=0,pad=0/0,precision=32,offset=0,sign=31,exp=20/11,"
        "sig=0/20,base=2,bias=1023}"};
    drep_type *type;

    must(drep_type_parse(texts[below((int)(sizeof texts / sizeof *texts))], &type), "scalar");
    return type;
}

/* Name i, which is none of those before. */
static void other_name(char names[][64], int i)
{
    int k;

    do {
        make_name(names[i], i);
        for (k = 0; k < i && strcmp(names[k], names[i]) != 0; k++)
            ;
    } while (k < i);
}

static drep_type *enum_type(void)
{
    static const int codes[] = {DREP_CODE_INT8_T, DREP_CODE_UINT16_T, DREP_CODE_INT,
                                DREP_CODE_INT64_T, DREP_CODE_UINT8_T};
    char names[5][64];
    const char *list[5];
    int64_t values[5];
    int i, n = 1 + below(5);
    drep_type *type;

    for (i = 0; i < n; i++) {
        other_name(names, i);
        list[i] = names[i];
        values[i] = i * 3;
    }
    must(drep_type_enum(drep_predefined(codes[below(5)]), n, list, values, &type), "enum");
    return type;
}

static drep_type *compound_type(int depth)
{
    const drep_type *types[4];
    const char *list[4];
    char names[4][64];
    int i, n = 1 + below(4);
    drep_type *type;

    for (i = 0; i < n; i++) {
        other_name(names, i);
        list[i] = names[i];
        types[i] = any_type(depth + 1);
    }
    must(drep_type_compound(n, list, NULL, types, 0, &type), "compound");
    for (i = 0; i < n; i++)
        drep_type_free((drep_type *)types[i]);
    return type;
}

static drep_type *wrapped_type(int depth)
{
    int64_t dims[3] = {1 + below(3), 1 + below(3), 1 + below(2)};
    drep_type *base = any_type(depth + 1), *type;

    if (maybe(40))
        must(drep_type_sequence(base, &type), "sequence");
    else
        must(drep_type_array(1 + below(3), dims, base, &type), "array");
    drep_type_free(base);
    return type;
}

static drep_type *any_type(int depth)
{
    static const char *const tags[] = {NULL, "", "a tag", "\"q\" \\ \n", "caf\xc3\xa9"};
    drep_type *type = NULL;

    switch (depth < 3 ? below(13) : below(9)) {
    case 0:
        return scalar_type();
    case 1:
        must(drep_type_string(1 + below(8), below(3), &type), "string");
        return type;
    case 2:
        must(drep_type_opaque(1 + below(6), tags[below(5)], &type), "opaque");
        return type;
    case 3:
        return enum_type();
    case 4:
        must(drep_type_boolean(maybe(50) ? DREP_INT8_T : DREP_INT32_T, &type), "boolean");
        return type;
    case 5:
        must(drep_type_vstring(&type), "vstring");
        return type;
    case 6:
        must(drep_type_reference(maybe(70) ? DREP_REF_OBJECT : DREP_REF_REGION, &type), "ref");
        return type;
    case 9:
    case 10:
        return compound_type(depth);
    case 11:
    case 12:
        return wrapped_type(depth);
    default:
        return drep_type_ref(drep_predefined(1 + below(DREP_CODE_MAX)));
    }
}

/* ------------------------------------------------------------------- values */

struct world {
    drep_file *file;
    uint64_t object[64]; /* that references may name */
    uint64_t dataset[64];
    int objects, datasets;
};

static double any_real(void)
{
    static const double some[] = {0, -0.0, 1, -2.5, 0.1, 1.0 / 3, 1e300, -5e-324, 65504, 123456789};
    double huge = 1e308, v;
    uint64_t bits = next();

    switch (below(4)) {
    case 0:
        return maybe(50) ? huge * 10 : -huge * 10;
    case 1:
        return huge * 10 - huge * 10;
    case 2:
        memcpy(&v, &bits, sizeof v);
        return v == v ? v : 1;
    default:
        return some[below(10)];
    }
}

static void fill_real(const drep_type *type, char *at, bool complex)
{
    drep_xfer clamp = DREP_XFER(.range = DREP_RANGE_CLAMP);
    double parts[2] = {any_real(), any_real()};

    /* What a NaN carries has no text; the one that a text gives is quiet and positive. */
    if (parts[0] != parts[0])
        parts[0] = (double)__builtin_nan("");
    if (parts[1] != parts[1])
        parts[1] = (double)__builtin_nan("");
    must(drep_convert(type, at, complex ? DREP_C_DOUBLE_COMPLEX : DREP_DOUBLE, parts, 1, &clamp),
         "real");
}

static void fill_bytes(char *at, int64_t size)
{
    int64_t i;

    for (i = 0; i < size; i++)
        at[i] = (char)(next() & 0xff);
}

static void fill_predefined(const drep_type *type, char *at)
{
    int code = drep_type_code(type);
    int64_t size = drep_type_extent(type);
    uint32_t letter;
    wchar_t wide;

    switch (plain[code].format) {
    case DREP_FORMAT_BYTES:
    case DREP_FORMAT_INT:
    case DREP_FORMAT_UINT:
    case DREP_FORMAT_CHAR:
        fill_bytes(at, size);
        break;
    case DREP_FORMAT_UNICODE:
        letter = maybe(50) ? (uint32_t)below(0x80) : (uint32_t)(0xe000 + below(0x1000));
        wide = (wchar_t)letter;
        memcpy(at, &wide, sizeof wide);
        break;
    case DREP_FORMAT_BOOL:
        memset(at, 0, (size_t)size);
        if (maybe(50))
            must(drep_convert(type, at, DREP_INT8_T, &(int8_t){1}, 1, NULL), "bool");
        break;
    default:
        fill_real(type, at, is_complex(code));
    }
}

static void fill_scalar(const drep_type *type, char *at)
{
    const drep_scalar *s = drep_type_scalar_desc(type);
    drep_xfer wrap = DREP_XFER(.range = DREP_RANGE_WRAP);
    int64_t n = (int64_t)next();
    int bit;

    if (s->cls == DREP_SCALAR_REAL) {
        fill_real(type, at, false);
    } else if (s->cls == DREP_SCALAR_INT) {
        must(drep_convert(type, at, DREP_INT64_T, &n, 1, &wrap), "integer scalar");
    } else {
        for (bit = s->offset; bit < s->offset + s->precision; bit++)
            if (maybe(50))
                at[bit / 8] = (char)(at[bit / 8] | 1 << bit % 8);
    }
}

/* Text, sometimes with bytes that are no UTF-8; without NUL, not ending in a blank. */
static void make_text(char *out, size_t room)
{
    static const char *const pieces[] = {"a",
                                         "B",
                                         " ",
                                         "\"",
                                         "\\",
                                         "\n",
                                         "\t",
                                         "\x02",
                                         "\x7f",
                                         "\xc3\xa9",
                                         "\xe4\xb8\xad",
                                         "\xf0\x9f\x98\x80",
                                         "\xff",
                                         "\xc3",
                                         ": ",
                                         " #",
                                         "0",
                                         "-",
                                         "~"};
    size_t n = 0, part;
    const char *piece;
    int left = below(7);

    for (; left > 0; left--) {
        piece = pieces[below((int)(sizeof pieces / sizeof *pieces))];
        part = strlen(piece);
        if (part > room - n)
            break;
        memcpy(out + n, piece, part);
        n += part;
    }
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
}

static void fill_string(const drep_type *type, char *at)
{
    size_t size = (size_t)drep_type_size(type);
    int pad = drep_type_string_pad(type);
    char text[64];

    make_text(text, size - (pad == DREP_PAD_NULTERM));
    memset(at, pad == DREP_PAD_SPACE ? ' ' : 0, size);
    memcpy(at, text, strlen(text));
}

static void fill(const struct world *w, const drep_type *type, char *at);

static void fill_many(const struct world *w, const drep_type *type, int64_t n, char *at)
{
    for (; n > 0; n--, at += drep_type_extent(type))
        fill(w, type, at);
}

static void fill_sequence(const struct world *w, const drep_type *type, char *at)
{
    const drep_type *base = drep_type_member(type, 0);
    drep_vlen v = {.count = below(4)};

    if (v.count > 0) {
        v.data = need(calloc((size_t)v.count, (size_t)drep_type_extent(base)));
        fill_many(w, base, v.count, v.data);
    }
    memcpy(at, &v, sizeof v);
}

static void fill_reference(const struct world *w, const drep_type *type, char *at)
{
    drep_ref ref = {0};

    if (drep_type_reference_what(type) == DREP_REF_REGION) {
        if (w->datasets > 0 && maybe(80)) {
            ref.object = w->dataset[below(w->datasets)];
            ref.region = need(strdup(maybe(50) ? "[0]" : "[0:1]"));
        }
    } else if (w->objects > 0 && maybe(80)) {
        ref.object = w->object[below(w->objects)];
    }
    memcpy(at, &ref, sizeof ref);
}

static int64_t array_len(const drep_type *type)
{
    int64_t n = 1;
    int d;

    for (d = 0; d < drep_type_array_rank(type); d++)
        n *= drep_type_array_dims(type)[d];
    return n;
}

static void fill(const struct world *w, const drep_type *type, char *at)
{
    int64_t i, value;
    char text[64], *copy;

    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        fill_predefined(type, at);
        break;
    case DREP_KIND_SCALAR:
        fill_scalar(type, at);
        break;
    case DREP_KIND_STRING:
        fill_string(type, at);
        break;
    case DREP_KIND_OPAQUE:
        fill_bytes(at, drep_type_size(type));
        break;
    case DREP_KIND_ENUM:
        value = maybe(70) ? drep_type_enum_value(type, below((int)drep_type_enum_count(type)))
                          : below(100);
        must(drep_convert(drep_type_member(type, 0), at, DREP_INT64_T, &value, 1, NULL), "enum");
        break;
    case DREP_KIND_BOOLEAN:
        value = below(2);
        must(drep_convert(drep_type_member(type, 0), at, DREP_INT64_T, &value, 1, NULL), "bool");
        break;
    case DREP_KIND_VSTRING:
        make_text(text, sizeof text - 1);
        copy = need(strdup(text));
        memcpy(at, &copy, sizeof copy);
        break;
    case DREP_KIND_SEQUENCE:
        fill_sequence(w, type, at);
        break;
    case DREP_KIND_REFERENCE:
        fill_reference(w, type, at);
        break;
    case DREP_KIND_ARRAY:
        fill_many(w, drep_type_member(type, 0), array_len(type), at);
        break;
    default:
        for (i = 0; i < drep_type_members(type); i++)
            fill(w, drep_type_member(type, i), at + drep_type_member_offset(type, i));
    }
}

static void *values(const struct world *w, const drep_type *type, int64_t n)
{
    char *buf = need(calloc((size_t)n + 1, (size_t)drep_type_extent(type)));

    fill_many(w, type, n, buf);
    return buf;
}

/* ------------------------------------------------------------------ objects */

static void add_attrs(struct world *w, const char *path)
{
    int64_t dims[3], n = 1;
    int i, d, rank, attrs = maybe(50) ? below(4) : 0;
    drep_type *type;
    char name[64];
    void *buf;

    for (i = 0; i < attrs; i++) {
        make_name(name, i);
        type = any_type(0);
        rank = maybe(10) ? DREP_NULL_SPACE : below(3);
        for (n = rank < 0 ? 0 : 1, d = 0; d < rank; d++)
            n *= dims[d] = maybe(10) ? 0 : 1 + below(3);
        buf = values(w, type, n);
        must(drep_attr_write(w->file, path, name, type, rank, dims, rank < 0 ? NULL : buf), name);
        drep_vlen_free(type, n, buf);
        free(buf);
        drep_type_free(type);
    }
}

static void note_object(struct world *w, const char *path)
{
    drep_objinfo info = DREP_OBJINFO;

    must(drep_stat(w->file, path, &info), path);
    if (w->objects < 64)
        w->object[w->objects++] = info.id;
}

struct shape {
    int rank;
    int64_t dims[3], most[3], chunk[3], n;
    const char *names[3];
};

static const char *const dimensions[] = {"/#dim 0", "/#dim1", "/#d"};
static const int64_t lengths[] = {3, 0, 2};

static void make_shape(struct shape *s, bool named)
{
    int d, k;

    *s = (struct shape){.rank = maybe(5) ? DREP_NULL_SPACE : below(4), .n = 1};
    if (s->rank < 0)
        s->n = 0;
    for (d = 0; d < s->rank; d++) {
        s->dims[d] = maybe(8) ? 0 : 1 + below(4);
        s->most[d] = maybe(25) ? DREP_UNLIMITED : maybe(20) ? s->dims[d] + 3 : s->dims[d];
        s->chunk[d] = 1 + below(4);
        if (named && maybe(50)) {
            k = below(3);
            s->names[d] = dimensions[k];
            /* The second one is unlimited. */
            s->dims[d] = k == 1 ? below(4) : lengths[k];
            s->most[d] = k == 1 ? DREP_UNLIMITED : lengths[k];
        }
        s->n *= s->dims[d];
    }
}

static void add_filters(drep_spec *spec, drep_filter *filters, const struct shape *s)
{
    static const int ids[] = {DREP_FILTER_SHUFFLE, DREP_FILTER_BITSHUFFLE, DREP_FILTER_DELTA,
                              DREP_FILTER_DEFLATE, DREP_FILTER_ZSTD,       DREP_FILTER_LZ4};
    int i, n = maybe(40) ? 1 + below(2) : 0;

    spec->layout = s->rank > 0 && maybe(60) ? DREP_CHUNKED : maybe(40) ? DREP_CONTIGUOUS : 0;
    spec->chunk = spec->layout == DREP_CHUNKED && s->rank > 0 && maybe(70) ? s->chunk : NULL;
    for (i = 0; i < n && spec->layout == DREP_CHUNKED; i++) {
        filters[i] = (drep_filter){.id = ids[below(6)], .level = -1};
        if (filters[i].id >= DREP_FILTER_DEFLATE && maybe(50))
            filters[i].level = 1 + below(3);
        if (drep_filter_available(filters[i].id))
            spec->nfilters++;
        else
            break;
    }
    spec->filters = spec->nfilters > 0 ? filters : NULL;
}

static void add_dataset(struct world *w, const char *path)
{
    drep_xfer wrap = DREP_XFER(.range = DREP_RANGE_WRAP);
    drep_type *type = any_type(0);
    drep_filter filters[4] = {{0}};
    drep_dataset *ds = NULL;
    drep_dsinfo info = DREP_DSINFO;
    struct shape s;
    void *fill_value = values(w, type, 1), *buf;
    drep_spec spec;
    int n;

    make_shape(&s, maybe(40));
    spec = DREP_SPEC(.type = type, .rank = s.rank, .fill = below(3));
    spec.fill_value = spec.fill == DREP_FILL_VALUE ? fill_value : NULL;
    if (s.rank > 0) {
        spec.dims = s.dims;
        spec.maxdims = s.most;
        spec.dim_names = s.names;
    }
    add_filters(&spec, filters, &s);
    /* Not every combination is one. */
    if (drep_dataset_create(w->file, path, &spec, &ds)) {
        spec.layout = DREP_LAYOUT_AUTO;
        spec.nfilters = 0;
        spec.filters = NULL;
        spec.chunk = NULL;
        n = drep_dataset_create(w->file, path, &spec, &ds);
        if (n == DREP_ERR_CONVERSION) { /* the representation does not hold the fill value */
            spec.fill = DREP_FILL_DEFAULT;
            spec.fill_value = NULL;
            n = drep_dataset_create(w->file, path, &spec, &ds);
        }
        must(n, path);
    }
    drep_vlen_free(type, 1, fill_value);
    free(fill_value);
    must(drep_dataset_info(ds, &info), path);
    if (s.n > 0 && maybe(70)) {
        buf = values(w, type, s.n);
        must(drep_write(ds, NULL, type, buf, &wrap), path);
        drep_vlen_free(type, s.n, buf);
        free(buf);
    }
    if (s.rank == 1 && s.dims[0] > 0 && w->datasets < 64)
        w->dataset[w->datasets++] = info.id;
    drep_dataset_close(ds);
    drep_type_free(type);
    note_object(w, path);
}

static void add_link(struct world *w, const char *path)
{
    char *target = NULL;

    switch (below(3)) {
    case 0:
        must(drep_link_soft(w->file, maybe(50) ? "/nowhere/at all" : "..", path), path);
        break;
    case 1:
        must(drep_link_external(w->file, "other: file.drep", "/x #y", path), path);
        break;
    default:
        must(drep_object_path(w->file, w->object[below(w->objects)], &target), "path");
        /* A group that would hold itself is refused. */
        (void)drep_link_hard(w->file, target, path);
        free(target);
    }
}

static void add_members(struct world *w, const char *group, int depth)
{
    char path[4096], name[64];
    drep_type *type;
    drep_objinfo info = DREP_OBJINFO;
    int i, n = 1 + below(depth ? 5 : 8);

    for (i = 0; i < n; i++) {
        make_name(name, i);
        snprintf(path, sizeof path, "%s/%s", strcmp(group, "/") == 0 ? "" : group, name);
        if (drep_stat(w->file, path, &info) == 0)
            continue;
        switch (below(8)) {
        case 0:
        case 1:
            must(drep_group_create(w->file, path, 0), path);
            note_object(w, path);
            add_attrs(w, path);
            if (depth < 4)
                add_members(w, path, depth + 1);
            break;
        case 2:
            type = any_type(0);
            must(drep_type_commit(w->file, path, type), path);
            drep_type_free(type);
            note_object(w, path);
            add_attrs(w, path);
            break;
        case 3:
            snprintf(path, sizeof path, "%s#%s", group, name);
            must(drep_dimension_create(w->file, path, below(5), maybe(50)), path);
            add_attrs(w, path);
            break;
        case 4:
            add_link(w, path);
            break;
        default:
            add_dataset(w, path);
            add_attrs(w, path);
        }
    }
}

/* A representation that is only declared. */
static const char *declare(void)
{
    static char name[32];
    static int number;
    drep_encoding rows[3] = {{.code = DREP_CODE_INT,
                              .format = DREP_FORMAT_INT,
                              .order = DREP_BIG,
                              .size = 6,
                              .align = 1},
                             {.code = DREP_CODE_DOUBLE,
                              .format = DREP_FORMAT_VAX_D,
                              .order = DREP_VAX,
                              .size = 8,
                              .align = 1},
                             {.code = DREP_CODE_FLOAT,
                              .format = DREP_FORMAT_BINARY64,
                              .order = DREP_LITTLE,
                              .size = 8,
                              .align = 1}};

    snprintf(name, sizeof name, "made up %d", number++);
    must(drep_declare_datarep(name, maybe(50) ? "internal" : "external32", rows, 1 + below(3), NULL,
                              0),
         name);
    return name;
}

static const char *any_datarep(void)
{
    static const char *const names[] = {"internal",     "external32",    "native",
                                        "native:s390x", "native:m68k",   "native:i386",
                                        "native:ppc64", "native:sparc64"};

    return maybe(20) ? declare() : names[below(8)];
}

static void make_file(const char *path)
{
    struct world w = {0};
    drep_info *info;
    int i;

    must(drep_info_new(&info), "info");
    if (maybe(30))
        must(drep_info_set(info, "access_style", "read_once,sequential"), "hint");
    if (maybe(30))
        must(drep_info_set(info, "chunked", "8,8"), "hint");
    must(drep_create(path, DREP_RDWR, any_datarep(), info, &w.file), path);
    drep_info_free(info);
    note_object(&w, "/");
    for (i = 0; i < 3; i++)
        must(drep_dimension_create(w.file, dimensions[i], lengths[i], i == 1), dimensions[i]);
    add_attrs(&w, "/");
    add_members(&w, "/", 0);
    must(drep_close(w.file), path);
}

/* --------------------------------------------------------------- comparison */

struct pair {
    drep_file *a, *b;
    bool data;
};

static bool differ(const char *path, const char *what)
{
    if (!*failure)
        snprintf(failure, sizeof failure, "%.3000s: %s differs: %.500s", path, what, drep_error());
    return false;
}

static bool same_path(const struct pair *p, uint64_t a, uint64_t b)
{
    drep_objinfo info = DREP_OBJINFO;
    char *path;
    bool same;

    if (a == 0 || b == 0)
        return a == b;
    if (drep_object_path(p->a, a, &path))
        return false;
    same = drep_stat(p->b, path, &info) == 0 && info.id == b;
    free(path);
    return same;
}

static bool same_real(const drep_type *type, const char *a, const char *b, bool complex)
{
    const drep_type *to = complex ? drep_predefined(DREP_CODE_COMPLEX32) : DREP_FLOAT128;
    unsigned char x[32] = {0}, y[32] = {0};

    return drep_convert(to, x, type, a, 1, NULL) == 0 &&
           drep_convert(to, y, type, b, 1, NULL) == 0 && memcmp(x, y, sizeof x) == 0;
}

static bool same(const struct pair *p, const drep_type *type, const char *a, const char *b);

static bool same_many(const struct pair *p, const drep_type *type, int64_t n, const char *a,
                      const char *b)
{
    int64_t extent = drep_type_extent(type);

    for (; n > 0; n--, a += extent, b += extent)
        if (!same(p, type, a, b))
            return false;
    return true;
}

static bool same_pointers(const struct pair *p, const drep_type *type, const char *a, const char *b)
{
    const char *x, *y;
    drep_vlen v, w;
    drep_ref r, s;

    if (drep_type_kind(type) == DREP_KIND_VSTRING) {
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return strcmp(x ? x : "", y ? y : "") == 0;
    }
    if (drep_type_kind(type) == DREP_KIND_SEQUENCE) {
        memcpy(&v, a, sizeof v);
        memcpy(&w, b, sizeof w);
        return v.count == w.count &&
               same_many(p, drep_type_member(type, 0), v.count, v.data, w.data);
    }
    memcpy(&r, a, sizeof r);
    memcpy(&s, b, sizeof s);
    return same_path(p, r.object, s.object) &&
           strcmp(r.region ? r.region : "", s.region ? s.region : "") == 0;
}

static bool same(const struct pair *p, const drep_type *type, const char *a, const char *b)
{
    int code = drep_type_code(type);
    int64_t i;

    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        if (plain[code].format >= DREP_FORMAT_BINARY16)
            return same_real(type, a, b, is_complex(code));
        break;
    case DREP_KIND_SCALAR:
        if (drep_type_scalar_desc(type)->cls == DREP_SCALAR_REAL)
            return same_real(type, a, b, false);
        break;
    case DREP_KIND_VSTRING:
    case DREP_KIND_SEQUENCE:
    case DREP_KIND_REFERENCE:
        return same_pointers(p, type, a, b);
    case DREP_KIND_ARRAY:
        return same_many(p, drep_type_member(type, 0), array_len(type), a, b);
    case DREP_KIND_COMPOUND:
        for (i = 0; i < drep_type_members(type); i++)
            if (!same(p, drep_type_member(type, i), a + drep_type_member_offset(type, i),
                      b + drep_type_member_offset(type, i)))
                return false;
        return true;
    default:
        break;
    }
    return memcmp(a, b, (size_t)drep_type_extent(type)) == 0;
}

struct names {
    char list[32][64];
    int n;
};

static int add_attr(const char *name, void *ctx)
{
    struct names *n = ctx;

    snprintf(n->list[n->n++], 64, "%s", name);
    return 0;
}

static bool compare_attr(const struct pair *p, const char *path, const char *name)
{
    drep_attrinfo a = DREP_ATTRINFO, b = DREP_ATTRINFO;
    void *x, *y;
    bool fine;

    if (drep_attr_info(p->a, path, name, &a) || drep_attr_info(p->b, path, name, &b))
        return differ(path, name);
    fine = a.rank == b.rank && drep_type_equal(a.type, b.type) &&
           (a.rank <= 0 || memcmp(a.dims, b.dims, (size_t)a.rank * sizeof *a.dims) == 0);
    if (fine && a.rank >= 0) {
        x = need(calloc((size_t)a.count + 1, (size_t)drep_type_extent(a.type)));
        y = need(calloc((size_t)a.count + 1, (size_t)drep_type_extent(a.type)));
        fine = drep_attr_read(p->a, path, name, a.type, x) == 0 &&
               drep_attr_read(p->b, path, name, a.type, y) == 0 &&
               same_many(p, a.type, a.count, x, y);
        drep_vlen_free(a.type, a.count, x);
        drep_vlen_free(a.type, a.count, y);
        free(x);
        free(y);
    }
    drep_attrinfo_release(&a);
    drep_attrinfo_release(&b);
    return fine || differ(path, name);
}

static bool compare_attrs(const struct pair *p, const char *path)
{
    struct names a = {.n = 0}, b = {.n = 0};
    int i;

    must(drep_attr_list(p->a, path, DREP_BY_CREATION, add_attr, &a), path);
    must(drep_attr_list(p->b, path, DREP_BY_CREATION, add_attr, &b), path);
    if (a.n != b.n)
        return differ(path, "the number of attributes");
    for (i = 0; i < a.n; i++)
        if (strcmp(a.list[i], b.list[i]) != 0 || !compare_attr(p, path, a.list[i]))
            return differ(path, "an attribute");
    return true;
}

/* What is not a compressor has its parameters from the datatype and the representation. */
static bool same_filters(const drep_dsinfo *a, const drep_dsinfo *b)
{
    int i;

    for (i = 0; i < a->nfilters && i < b->nfilters; i++)
        if (a->filters[i].id != b->filters[i].id ||
            (a->filters[i].id >= DREP_FILTER_DEFLATE &&
             (a->filters[i].nparams != b->filters[i].nparams ||
              memcmp(a->filters[i].params, b->filters[i].params,
                     sizeof *a->filters[i].params * (size_t)a->filters[i].nparams) != 0)))
            return false;
    return a->nfilters == b->nfilters;
}

static bool compare_elements(const struct pair *p, const char *path, drep_dataset *a,
                             drep_dataset *b, const drep_dsinfo *info)
{
    size_t extent = (size_t)drep_type_extent(info->type);
    char *x = need(calloc((size_t)info->count + 1, extent));
    char *y = need(calloc((size_t)info->count + 1, extent));
    bool fine = true;

    if (info->fill == DREP_FILL_VALUE) {
        fine = drep_dataset_fill(a, NULL, x) == 0 && drep_dataset_fill(b, NULL, y) == 0 &&
               same(p, info->type, x, y);
        drep_vlen_free(info->type, 1, x);
        drep_vlen_free(info->type, 1, y);
        memset(x, 0, extent);
        memset(y, 0, extent);
    }
    /* Without a fill value, what was never written is anything. */
    if (fine && p->data && info->count > 0 && info->fill != DREP_FILL_NONE) {
        fine = drep_read(a, NULL, NULL, x, NULL) == 0 && drep_read(b, NULL, NULL, y, NULL) == 0 &&
               same_many(p, info->type, info->count, x, y);
        drep_vlen_free(info->type, info->count, x);
        drep_vlen_free(info->type, info->count, y);
    }
    free(x);
    free(y);
    return fine || differ(path, "a value");
}

static bool compare_open(const struct pair *p, const char *path, drep_dataset *a, drep_dataset *b)
{
    size_t size;
    drep_dsinfo x = DREP_DSINFO, y = DREP_DSINFO;
    int d;

    if (drep_dataset_info(a, &x) || drep_dataset_info(b, &y))
        return differ(path, "the dataset");
    if (!drep_type_equal(x.type, y.type))
        return differ(path, "the datatype");
    size = x.rank > 0 ? (size_t)x.rank * sizeof *x.dims : 0;
    if (x.rank != y.rank || memcmp(x.dims, y.dims, size) || memcmp(x.maxdims, y.maxdims, size))
        return differ(path, "the shape");
    for (d = 0; d < x.rank; d++)
        if (!same_path(p, x.dim_ids[d], y.dim_ids[d]))
            return differ(path, "a dimension");
    if (x.layout != y.layout || !same_filters(&x, &y) ||
        (x.layout == DREP_CHUNKED && memcmp(x.chunk, y.chunk, size) != 0))
        return differ(path, "the layout");
    if (x.fill != y.fill)
        return differ(path, "the fill");
    return compare_elements(p, path, a, b, &x);
}

static bool compare_dataset(const struct pair *p, const char *path)
{
    drep_dataset *a, *b;
    bool fine;

    if (drep_dataset_open(p->a, path, &a))
        return differ(path, "the dataset");
    if (drep_dataset_open(p->b, path, &b)) {
        drep_dataset_close(a);
        return differ(path, "the dataset");
    }
    fine = compare_open(p, path, a, b);
    drep_dataset_close(a);
    drep_dataset_close(b);
    return fine;
}

struct link {
    char name[64], target[64], file[64];
    int link, kind;
    uint64_t id;
};

struct listing {
    struct link list[32];
    int n;
};

static int add_entry(const drep_linkinfo *link, void *ctx)
{
    struct listing *l = ctx;
    struct link *e = &l->list[l->n++];

    *e = (struct link){.link = link->link, .kind = link->kind, .id = link->id};
    snprintf(e->name, sizeof e->name, "%s", link->name);
    snprintf(e->target, sizeof e->target, "%s", link->target ? link->target : "");
    snprintf(e->file, sizeof e->file, "%s", link->target_file ? link->target_file : "");
    return 0;
}

static bool compare_object(const struct pair *p, const char *path);

static int add_dimension(const drep_diminfo *dimension, void *ctx)
{
    struct listing *l = ctx;
    struct link *e = &l->list[l->n++];

    *e = (struct link){.kind = DREP_OBJ_DIMENSION, .id = dimension->id};
    snprintf(e->name, sizeof e->name, "%s", dimension->name);
    return 0;
}

static bool compare_dimensions(const struct pair *p, const char *group)
{
    struct listing a = {.n = 0}, b = {.n = 0};
    char path[4096];
    int i;

    must(drep_dimension_list(p->a, group, DREP_BY_CREATION, add_dimension, &a), group);
    must(drep_dimension_list(p->b, group, DREP_BY_CREATION, add_dimension, &b), group);
    if (a.n != b.n)
        return differ(group, "the number of dimensions");
    for (i = 0; i < a.n; i++) {
        snprintf(path, sizeof path, "%s#%s", group, a.list[i].name);
        if (strcmp(a.list[i].name, b.list[i].name) != 0 || !compare_object(p, path))
            return differ(path, "the dimension");
    }
    return true;
}

static bool compare_group(const struct pair *p, const char *group)
{
    struct listing a = {.n = 0}, b = {.n = 0};
    char path[4096];
    int i;

    must(drep_list(p->a, group, DREP_BY_CREATION, add_entry, &a), group);
    must(drep_list(p->b, group, DREP_BY_CREATION, add_entry, &b), group);
    if (a.n != b.n)
        return differ(group, "the number of members");
    if (!compare_dimensions(p, group))
        return false;
    for (i = 0; i < a.n; i++) {
        const struct link *x = &a.list[i], *y = &b.list[i];

        snprintf(path, sizeof path, "%s/%s", strcmp(group, "/") == 0 ? "" : group, x->name);
        if (strcmp(x->name, y->name) != 0 || x->link != y->link || x->kind != y->kind ||
            strcmp(x->target, y->target) != 0 || strcmp(x->file, y->file) != 0 ||
            !same_path(p, x->id, y->id))
            return differ(path, "the link");
        if (x->link == DREP_LINK_HARD && !compare_object(p, path))
            return false;
    }
    return true;
}

static bool compare_object(const struct pair *p, const char *path)
{
    drep_objinfo a = DREP_OBJINFO, b = DREP_OBJINFO;
    drep_type *x, *y;
    bool fine;

    if (drep_stat(p->a, path, &a) || drep_stat(p->b, path, &b))
        return differ(path, "the object");
    if (a.kind != b.kind || a.links != b.links || a.attrs != b.attrs || a.members != b.members ||
        a.len != b.len || a.unlimited != b.unlimited)
        return differ(path, "the object");
    if (!compare_attrs(p, path))
        return false;
    if (a.kind == DREP_OBJ_GROUP)
        return compare_group(p, path);
    if (a.kind == DREP_OBJ_DATASET)
        return compare_dataset(p, path);
    if (a.kind != DREP_OBJ_TYPE)
        return true;
    must(drep_type_open(p->a, path, &x), path);
    must(drep_type_open(p->b, path, &y), path);
    fine = drep_type_equal(x, y);
    drep_type_free(x);
    drep_type_free(y);
    return fine || differ(path, "the named datatype");
}

static bool same_hints(const struct pair *p)
{
    drep_info *a, *b;
    bool same_all;
    int i;

    must(drep_header_hints(p->a, &a), "hints");
    must(drep_header_hints(p->b, &b), "hints");
    same_all = drep_info_count(a) == drep_info_count(b);
    for (i = 0; i < drep_info_count(a) && same_all; i++) {
        const char *key = drep_info_key(a, i), *value = drep_info_get(b, key);

        same_all = value && strcmp(value, drep_info_get(a, key)) == 0;
    }
    drep_info_free(a);
    drep_info_free(b);
    return same_all || differ("/", "a hint");
}

static bool compare_files(const char *first, const char *second, bool data)
{
    struct pair p = {.data = data};
    drep_header a = DREP_HEADER, b = DREP_HEADER;
    bool fine;

    must(drep_open(first, DREP_RDONLY, NULL, &p.a), first);
    must(drep_open(second, DREP_RDONLY, NULL, &p.b), second);
    must(drep_header_get(p.a, &a), first);
    must(drep_header_get(p.b, &b), second);
    fine = (strcmp(a.datarep, b.datarep) == 0 && strcmp(a.form, b.form) == 0) ||
           differ("/", "the representation");
    fine = fine && same_hints(&p) && compare_object(&p, "/");
    drep_close(p.a);
    drep_close(p.b);
    return fine;
}

/* --------------------------------------------------------------------- cases */

static bool run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool run(const char *format, ...)
{
    char line[4096];
    va_list args;
    int n, status;

    n = snprintf(line, sizeof line, "cd '%s' && '%s' ", folder, command);
    va_start(args, format);
    vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    va_end(args);
    strncat(line, " 2> said", sizeof line - strlen(line) - 1);
    status = system(line);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    snprintf(failure, sizeof failure, "%.3900s: status %d", line, status);
    return false;
}

static bool one_case(void)
{
    char a[300], b[300], c[300];

    snprintf(a, sizeof a, "%s/a.drep", folder);
    snprintf(b, sizeof b, "%s/b.drep", folder);
    snprintf(c, sizeof c, "%s/c.drep", folder);
    make_file(a);
    return run("dump -H --yaml a.drep > a.yaml") && run("create --force -s a.yaml b.drep") &&
           compare_files(a, b, false) && run("dump -H --yaml b.drep > b.yaml") &&
           run("--version > /dev/null; cmp a.yaml b.yaml") &&
           run("validate -s a.yaml a.drep > differences") && run("dump --yaml a.drep > c.yaml") &&
           run("create --force -s c.yaml c.drep") && compare_files(a, c, true) &&
           run("validate -s c.yaml a.drep > differences");
}

int main(void)
{
    const char *seed = getenv("DREP_TEST_SEED"), *tmp = getenv("TMPDIR");
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
    drep_encoding rows[DREP_CODE_MAX];
    int i, k, n, bad = 0;

    command = getenv("DATAREP");
    if (!command) {
        printf("1..0 # SKIP DATAREP is not set\n");
        return 0;
    }
    must(drep_datarep_table("internal", rows, DREP_CODE_MAX, &n), "internal");
    for (i = 0; i < n; i++)
        plain[rows[i].code] = rows[i];
    snprintf(folder, sizeof folder, "%s/schema-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    printf("1..%d\n", CASES / BATCH);
    for (i = 0; i < CASES; i += BATCH) {
        for (k = 0; k < BATCH && !*failure; k++) {
            state = (first * 1000000 + (uint64_t)(i + k)) * 0x9e3779b97f4a7c15u;
            if (!one_case() && !*failure)
                snprintf(failure, sizeof failure, "failed");
        }
        printf("%sok %d - random containers %d to %d\n", *failure ? "not " : "", i / BATCH + 1, i,
               i + BATCH - 1);
        if (*failure) {
            printf("# DREP_TEST_SEED=%llu, case %d in %s: %s\n", (unsigned long long)first,
                   i + k - 1, folder, failure);
            bad++;
            *failure = '\0';
            if (getenv("KEEP"))
                return 1;
        }
        fflush(stdout);
    }
    if (run("--version > /dev/null; rm -f *.drep *.yaml said differences"))
        rmdir(folder);
    return bad > 0;
}
