/* hdf5raw.c - compares two HDF5 files through libhdf5, with elements in raw memory.
 *
 * hdf5raw A B: prints a line for each difference, "PATH: what"; exit status 0 equal, 1 different, 2
 * one cannot be read.  Elements are read in the datatype that the file has, so that nothing is
 * converted, and compared byte by byte but for gaps and unused bits; contents of variable length
 * and targets of references are followed.  It shares no code with import and export. */
/* SPDX-License-Identifier: MIT */
#include <hdf5.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((hsize_t)1 << 20) /* bytes of elements at once */
#define SAID 40                  /* differences that are printed */

static long differences;
static hid_t file[2];

/* Objects that were met: address in A, address in B. */
static struct pair {
    haddr_t a, b;
} * met;
static size_t nmet, room;

static void differ(const char *path, const char *format, ...)
{
    va_list args;

    if (differences++ >= SAID)
        return;
    printf("%s: ", path);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static void *memory(size_t size)
{
    void *p = calloc(1, size + 1);

    if (!p) {
        fprintf(stderr, "hdf5raw: out of memory\n");
        exit(2);
    }
    return p;
}

/* ---- datatypes ---- */

static void compare_types(const char *path, hid_t a, hid_t b);

static void compare_members(const char *path, hid_t a, hid_t b)
{
    int n = H5Tget_nmembers(a), m = H5Tget_nmembers(b);

    if (n != m) {
        differ(path, "%d members, %d", n, m);
        return;
    }
    for (int i = 0; i < n; i++) {
        char *x = H5Tget_member_name(a, (unsigned)i), *y = H5Tget_member_name(b, (unsigned)i);

        if (strcmp(x, y) != 0)
            differ(path, "member %d is \"%s\", \"%s\"", i, x, y);
        H5free_memory(x);
        H5free_memory(y);
        if (H5Tget_class(a) == H5T_COMPOUND) {
            hid_t s = H5Tget_member_type(a, (unsigned)i), t = H5Tget_member_type(b, (unsigned)i);

            if (H5Tget_member_offset(a, (unsigned)i) != H5Tget_member_offset(b, (unsigned)i))
                differ(path, "member %d at byte %zu, %zu", i, H5Tget_member_offset(a, (unsigned)i),
                       H5Tget_member_offset(b, (unsigned)i));
            compare_types(path, s, t);
            H5Tclose(s);
            H5Tclose(t);
        } else {
            char v[64] = {0}, w[64] = {0};

            H5Tget_member_value(a, (unsigned)i, v);
            H5Tget_member_value(b, (unsigned)i, w);
            if (memcmp(v, w, sizeof v) != 0)
                differ(path, "value %d of an enum", i);
        }
    }
}

static void compare_numbers(const char *path, hid_t a, hid_t b)
{
    H5T_pad_t low[2], high[2];
    size_t at[2][5];

    if (H5Tget_order(a) != H5Tget_order(b) && H5Tget_size(a) > 1)
        differ(path, "byte order %d, %d", H5Tget_order(a), H5Tget_order(b));
    if (H5Tget_precision(a) != H5Tget_precision(b) || H5Tget_offset(a) != H5Tget_offset(b))
        differ(path, "precision %zu at %d, %zu at %d", H5Tget_precision(a), H5Tget_offset(a),
               H5Tget_precision(b), H5Tget_offset(b));
    H5Tget_pad(a, &low[0], &high[0]);
    H5Tget_pad(b, &low[1], &high[1]);
    if (low[0] != low[1] || high[0] != high[1])
        differ(path, "padding of bits");
    if (H5Tget_class(a) == H5T_INTEGER && H5Tget_sign(a) != H5Tget_sign(b))
        differ(path, "sign");
    if (H5Tget_class(a) != H5T_FLOAT)
        return;
    H5Tget_fields(a, &at[0][0], &at[0][1], &at[0][2], &at[0][3], &at[0][4]);
    H5Tget_fields(b, &at[1][0], &at[1][1], &at[1][2], &at[1][3], &at[1][4]);
    if (memcmp(at[0], at[1], sizeof at[0]) != 0 || H5Tget_ebias(a) != H5Tget_ebias(b) ||
        H5Tget_norm(a) != H5Tget_norm(b) || H5Tget_inpad(a) != H5Tget_inpad(b))
        differ(path, "fields of a real");
}

static void compare_bases(const char *path, hid_t a, hid_t b)
{
    hid_t s = H5Tget_super(a), t = H5Tget_super(b);

    compare_types(path, s, t);
    H5Tclose(s);
    H5Tclose(t);
}

static void compare_types(const char *path, hid_t a, hid_t b)
{
    H5T_class_t cls = H5Tget_class(a);
    hsize_t x[H5S_MAX_RANK] = {0}, y[H5S_MAX_RANK] = {0};

    if (cls != H5Tget_class(b) || H5Tget_size(a) != H5Tget_size(b)) {
        differ(path, "datatype of class %d, %zu bytes; of class %d, %zu bytes", cls, H5Tget_size(a),
               H5Tget_class(b), H5Tget_size(b));
        return;
    }
    switch (cls) {
    case H5T_INTEGER:
    case H5T_FLOAT:
    case H5T_BITFIELD:
        compare_numbers(path, a, b);
        break;
    case H5T_STRING:
        if (H5Tget_cset(a) != H5Tget_cset(b) || H5Tget_strpad(a) != H5Tget_strpad(b) ||
            H5Tis_variable_str(a) != H5Tis_variable_str(b))
            differ(path, "kind of a string: set %d, padding %d; set %d, padding %d", H5Tget_cset(a),
                   H5Tget_strpad(a), H5Tget_cset(b), H5Tget_strpad(b));
        break;
    case H5T_OPAQUE: {
        char *s = H5Tget_tag(a), *t = H5Tget_tag(b);

        if (strcmp(s, t) != 0)
            differ(path, "tag \"%s\", \"%s\"", s, t);
        H5free_memory(s);
        H5free_memory(t);
        break;
    }
    case H5T_ENUM:
        compare_bases(path, a, b);
        compare_members(path, a, b);
        break;
    case H5T_COMPOUND:
        compare_members(path, a, b);
        break;
    case H5T_ARRAY:
        if (H5Tget_array_ndims(a) != H5Tget_array_ndims(b) || H5Tget_array_dims2(a, x) < 0 ||
            H5Tget_array_dims2(b, y) < 0 || memcmp(x, y, sizeof x) != 0)
            differ(path, "shape of an array");
        compare_bases(path, a, b);
        break;
    case H5T_VLEN:
        compare_bases(path, a, b);
        break;
    case H5T_REFERENCE:
        if (H5Tequal(a, b) <= 0)
            differ(path, "kind of a reference");
        break;
    default:
        if (H5Tequal(a, b) <= 0)
            differ(path, "datatype of class %d", cls);
    }
}

/* ---- elements ---- */

static haddr_t address(hid_t object)
{
    H5O_info_t info;

    return H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 ? HADDR_UNDEF : info.addr;
}

/* References lead to objects that are the same in both files, which is checked at the end. */
static struct claim {
    haddr_t a, b;
    char *path;
} * claims;
static size_t nclaims, claim_room;

static void claim(const char *path, haddr_t a, haddr_t b)
{
    if (nclaims == claim_room) {
        claim_room = claim_room ? 2 * claim_room : 64;
        claims = realloc(claims, claim_room * sizeof *claims);
        if (!claims)
            exit(2);
    }
    claims[nclaims++] = (struct claim){a, b, strdup(path)};
}

/* The same elements are chosen of both. */
static bool same_region(hid_t a, hid_t b)
{
    hssize_t n = H5Sget_select_npoints(a);
    hid_t x, y;
    bool same;

    if (n != H5Sget_select_npoints(b) ||
        H5Sget_simple_extent_ndims(a) != H5Sget_simple_extent_ndims(b))
        return false;
    if (H5Sget_select_type(a) == H5S_SEL_POINTS && H5Sget_select_type(b) == H5S_SEL_POINTS) {
        size_t size = (size_t)n * (size_t)H5Sget_simple_extent_ndims(a) * sizeof(hsize_t);
        hsize_t *p = memory(size), *q = memory(size);

        H5Sget_select_elem_pointlist(a, 0, (hsize_t)n, p);
        H5Sget_select_elem_pointlist(b, 0, (hsize_t)n, q);
        same = memcmp(p, q, size) == 0;
        free(p);
        free(q);
        return same;
    }
    if (H5Sget_select_type(a) != H5S_SEL_HYPERSLABS || H5Sget_select_type(b) != H5S_SEL_HYPERSLABS)
        return H5Sget_select_type(a) == H5Sget_select_type(b);
    x = H5Scopy(a);
    y = H5Scopy(a);
    same = H5Sget_select_hyper_nblocks(a) > 0;
    {
        hssize_t blocks = H5Sget_select_hyper_nblocks(b);
        int rank = H5Sget_simple_extent_ndims(b);
        size_t size = (size_t)blocks * 2 * (size_t)rank * sizeof(hsize_t);
        hsize_t *list = memory(size), count[H5S_MAX_RANK];

        H5Sget_select_hyper_blocklist(b, 0, (hsize_t)blocks, list);
        H5Sselect_none(y);
        for (hssize_t i = 0; i < blocks; i++) {
            hsize_t *from = list + 2 * rank * i, *to = from + rank;

            for (int d = 0; d < rank; d++)
                count[d] = to[d] - from[d] + 1;
            H5Sselect_hyperslab(y, H5S_SELECT_OR, from, NULL, count, NULL);
        }
        free(list);
        /* Nothing of A is outside B, and there are as many. */
        for (hssize_t i = 0; same && i < H5Sget_select_hyper_nblocks(a); i++) {
            hsize_t block[2 * H5S_MAX_RANK];

            H5Sget_select_hyper_blocklist(a, (hsize_t)i, 1, block);
            for (int d = 0; d < rank; d++)
                count[d] = block[rank + d] - block[d] + 1;
            H5Sselect_hyperslab(y, H5S_SELECT_NOTB, block, NULL, count, NULL);
        }
        same = same && H5Sget_select_npoints(y) == 0;
    }
    H5Sclose(x);
    H5Sclose(y);
    return same;
}

static bool is_null(const void *p, size_t size)
{
    const char *c = p;

    while (size > 0 && c[size - 1] == 0)
        size--;
    return size == 0;
}

static bool same_reference(const char *path, hid_t type, const void *a, const void *b)
{
    H5R_type_t kind = H5Tequal(type, H5T_STD_REF_OBJ) > 0 ? H5R_OBJECT : H5R_DATASET_REGION;
    size_t size = H5Tget_size(type);
    hid_t x, y, s, t;
    bool same = true;

    if (is_null(a, size) || is_null(b, size))
        return is_null(a, size) == is_null(b, size);
    x = H5Rdereference2(file[0], H5P_DEFAULT, kind, a);
    y = H5Rdereference2(file[1], H5P_DEFAULT, kind, b);
    if (x < 0 || y < 0)
        return x < 0 && y < 0;
    claim(path, address(x), address(y));
    if (kind == H5R_DATASET_REGION) {
        s = H5Rget_region(file[0], kind, a);
        t = H5Rget_region(file[1], kind, b);
        same = s > 0 && t > 0 && same_region(s, t);
        H5Sclose(s);
        H5Sclose(t);
    }
    H5Oclose(x);
    H5Oclose(y);
    return same;
}

/* The bits of a number that mean something: those around it are padding. */
static bool same_bits(hid_t type, const char *a, const char *b)
{
    size_t size = H5Tget_size(type), bits = H5Tget_precision(type);
    int first = H5Tget_offset(type);
    H5T_order_t order = H5Tget_order(type);

    if (bits == 8 * size || order == H5T_ORDER_VAX)
        return memcmp(a, b, size) == 0;
    for (size_t i = (size_t)first; i < (size_t)first + bits; i++) {
        size_t byte = order == H5T_ORDER_BE ? size - 1 - i / 8 : i / 8;

        if ((a[byte] ^ b[byte]) >> i % 8 & 1)
            return false;
    }
    return true;
}

/* One element of both, in memory as `type` says. */
static bool same_element(const char *path, hid_t type, const char *a, const char *b)
{
    H5T_class_t cls = H5Tget_class(type);
    size_t size = H5Tget_size(type);
    hsize_t dims[H5S_MAX_RANK];
    bool same = true;
    hid_t base;

    switch (cls) {
    case H5T_STRING: {
        const char *s, *t;

        if (H5Tis_variable_str(type) <= 0)
            return memcmp(a, b, size) == 0;
        memcpy(&s, a, sizeof s);
        memcpy(&t, b, sizeof t);
        return !s || !t ? s == t : strcmp(s, t) == 0;
    }
    case H5T_COMPOUND:
        for (int i = 0; same && i < H5Tget_nmembers(type); i++) {
            size_t at = H5Tget_member_offset(type, (unsigned)i);

            base = H5Tget_member_type(type, (unsigned)i);
            same = same_element(path, base, a + at, b + at);
            H5Tclose(base);
        }
        return same;
    case H5T_ARRAY: {
        size_t n = 1, each;

        H5Tget_array_dims2(type, dims);
        for (int d = 0; d < H5Tget_array_ndims(type); d++)
            n *= (size_t)dims[d];
        base = H5Tget_super(type);
        each = H5Tget_size(base);
        for (size_t i = 0; same && i < n; i++)
            same = same_element(path, base, a + i * each, b + i * each);
        H5Tclose(base);
        return same;
    }
    case H5T_VLEN: {
        hvl_t v, w;
        size_t each;

        memcpy(&v, a, sizeof v);
        memcpy(&w, b, sizeof w);
        base = H5Tget_super(type);
        each = H5Tget_size(base);
        same = v.len == w.len;
        for (size_t i = 0; same && i < v.len; i++)
            same = same_element(path, base, (const char *)v.p + i * each,
                                (const char *)w.p + i * each);
        H5Tclose(base);
        return same;
    }
    case H5T_REFERENCE:
        return same_reference(path, type, a, b);
    case H5T_INTEGER:
    case H5T_FLOAT:
    case H5T_BITFIELD:
        return same_bits(type, a, b);
    case H5T_ENUM:
        base = H5Tget_super(type);
        same = same_bits(base, a, b);
        H5Tclose(base);
        return same;
    default:
        return memcmp(a, b, size) == 0;
    }
}

/* The datatype in memory: that of the file, but variable strings and the like as HDF5 has them. */
static hid_t memory_type(hid_t type)
{
    return H5Tcopy(type);
}

static void compare_elements(const char *path, hid_t type, hsize_t first, size_t n, const char *a,
                             const char *b)
{
    size_t size = H5Tget_size(type);

    for (size_t i = 0; i < n; i++) {
        if (same_element(path, type, a + i * size, b + i * size))
            continue;
        differ(path, "element %llu", (unsigned long long)(first + i));
        return;
    }
}

static void reclaim(hid_t type, hid_t space, void *p)
{
    if (H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tdetect_class(type, H5T_STRING) > 0)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, p);
}

/* ---- dataspaces and attributes ---- */

static bool compare_spaces(const char *path, hid_t a, hid_t b)
{
    hsize_t x[H5S_MAX_RANK] = {0}, y[H5S_MAX_RANK] = {0}, u[H5S_MAX_RANK] = {0},
            v[H5S_MAX_RANK] = {0};

    if (H5Sget_simple_extent_type(a) != H5Sget_simple_extent_type(b) ||
        H5Sget_simple_extent_dims(a, x, u) != H5Sget_simple_extent_dims(b, y, v) ||
        memcmp(x, y, sizeof x) != 0 || memcmp(u, v, sizeof u) != 0) {
        differ(path, "shape");
        return false;
    }
    return true;
}

static void compare_attribute(const char *path, hid_t a, hid_t b)
{
    hid_t s = H5Aget_type(a), t = H5Aget_type(b), x = H5Aget_space(a), y = H5Aget_space(b), mem;
    long before = differences;
    hssize_t n = H5Sget_simple_extent_npoints(x);

    compare_types(path, s, t);
    if (H5Tcommitted(s) != H5Tcommitted(t))
        differ(path, "one has a named datatype");
    if (compare_spaces(path, x, y) && differences == before && n > 0) {
        size_t size = (size_t)n * H5Tget_size(s);
        char *p = memory(size), *q = memory(size);

        mem = memory_type(s);
        if (H5Aread(a, mem, p) < 0 || H5Aread(b, mem, q) < 0) {
            differ(path, "cannot be read");
        } else {
            compare_elements(path, mem, 0, (size_t)n, p, q);
            reclaim(mem, x, p);
            reclaim(mem, y, q);
        }
        H5Tclose(mem);
        free(p);
        free(q);
    }
    H5Tclose(s);
    H5Tclose(t);
    H5Sclose(x);
    H5Sclose(y);
}

struct names {
    char **name;
    size_t n, room;
};

static void names_add(struct names *l, const char *name)
{
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->name = realloc(l->name, l->room * sizeof *l->name);
        if (!l->name)
            exit(2);
    }
    l->name[l->n++] = strdup(name);
}

static void names_free(struct names *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->name[i]);
    free(l->name);
}

static bool names_equal(const char *path, const char *what, const struct names *a,
                        const struct names *b)
{
    size_t n = a->n < b->n ? a->n : b->n, i = 0;

    while (i < n && strcmp(a->name[i], b->name[i]) == 0)
        i++;
    if (i == a->n && i == b->n)
        return true;
    differ(path, "%zu %s, %zu; number %zu is \"%s\", \"%s\"", a->n, what, b->n, i,
           i < a->n ? a->name[i] : "(none)", i < b->n ? b->name[i] : "(none)");
    return false;
}

/* What the library keeps of dimension scales stands among the others wherever they were attached.
 */
static bool of_scales(const char *name)
{
    static const char *const names[] = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

struct attributes {
    struct names own, scales;
};

static herr_t note_attribute(hid_t object, const char *name, const H5A_info_t *info, void *ctx)
{
    struct attributes *l = ctx;

    (void)object;
    (void)info;
    names_add(of_scales(name) ? &l->scales : &l->own, name);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void compare_named(const char *path, hid_t a, hid_t b, struct names *x, struct names *y)
{
    if (names_equal(path, "attributes", x, y)) {
        for (size_t i = 0; i < x->n; i++) {
            hid_t s = H5Aopen(a, x->name[i], H5P_DEFAULT), t = H5Aopen(b, y->name[i], H5P_DEFAULT);
            char where[3000];

            snprintf(where, sizeof where, "%.1500s@%.1400s", path, x->name[i]);
            compare_attribute(where, s, t);
            H5Aclose(s);
            H5Aclose(t);
        }
    }
    names_free(x);
    names_free(y);
}

static void compare_attributes(const char *path, hid_t a, hid_t b, H5_index_t by)
{
    struct attributes x = {0}, y = {0};

    H5Aiterate2(a, by, H5_ITER_INC, NULL, note_attribute, &x);
    H5Aiterate2(b, by, H5_ITER_INC, NULL, note_attribute, &y);
    if (x.scales.n > 0)
        qsort(x.scales.name, x.scales.n, sizeof *x.scales.name, by_name);
    if (y.scales.n > 0)
        qsort(y.scales.name, y.scales.n, sizeof *y.scales.name, by_name);
    compare_named(path, a, b, &x.own, &y.own);
    compare_named(path, a, b, &x.scales, &y.scales);
}

/* ---- datasets ---- */

static void compare_filters(const char *path, hid_t a, hid_t b)
{
    int n = H5Pget_nfilters(a), m = H5Pget_nfilters(b);

    if (n != m) {
        differ(path, "%d filters, %d", n, m);
        return;
    }
    for (int i = 0; i < n; i++) {
        unsigned f, g, c, v[32] = {0}, w[32] = {0};
        size_t nv = 32, nw = 32;
        H5Z_filter_t x = H5Pget_filter2(a, (unsigned)i, &f, &nv, v, 0, NULL, &c);
        H5Z_filter_t y = H5Pget_filter2(b, (unsigned)i, &g, &nw, w, 0, NULL, &c);

        if (x != y || f != g || nv != nw || memcmp(v, w, sizeof v) != 0)
            differ(path, "filter %d is %d, %d, or its parameters differ", i, x, y);
    }
}

static void compare_fill(const char *path, hid_t type, hid_t a, hid_t b)
{
    H5D_fill_value_t x = H5D_FILL_VALUE_ERROR, y = H5D_FILL_VALUE_ERROR;
    H5D_fill_time_t s = H5D_FILL_TIME_ERROR, t = H5D_FILL_TIME_ERROR;
    size_t size = H5Tget_size(type);
    char *p = memory(size), *q = memory(size);

    H5Pfill_value_defined(a, &x);
    H5Pfill_value_defined(b, &y);
    H5Pget_fill_time(a, &s);
    H5Pget_fill_time(b, &t);
    if (x != y)
        differ(path, "state of the fill value %d, %d", x, y);
    else if (x == H5D_FILL_VALUE_USER_DEFINED && H5Pget_fill_value(a, type, p) >= 0 &&
             H5Pget_fill_value(b, type, q) >= 0 && !same_element(path, type, p, q))
        differ(path, "fill value");
    if (s != t)
        differ(path, "fill time %d, %d", s, t);
    free(p);
    free(q);
}

static void compare_properties(const char *path, hid_t type, hid_t a, hid_t b)
{
    H5D_layout_t x = H5Pget_layout(a), y = H5Pget_layout(b);
    hsize_t c[H5S_MAX_RANK] = {0}, d[H5S_MAX_RANK] = {0};
    H5D_alloc_time_t s = H5D_ALLOC_TIME_ERROR, t = H5D_ALLOC_TIME_ERROR;

    if (x != y)
        differ(path, "layout %d, %d", x, y);
    else if (x == H5D_CHUNKED &&
             (H5Pget_chunk(a, H5S_MAX_RANK, c) != H5Pget_chunk(b, H5S_MAX_RANK, d) ||
              memcmp(c, d, sizeof c) != 0))
        differ(path, "shape of chunks");
    if (H5Pget_external_count(a) != H5Pget_external_count(b))
        differ(path, "%d raw files, %d", H5Pget_external_count(a), H5Pget_external_count(b));
    compare_filters(path, a, b);
    compare_fill(path, type, a, b);
    H5Pget_alloc_time(a, &s);
    H5Pget_alloc_time(b, &t);
    if (s != t && x == y)
        differ(path, "time of allocation %d, %d", s, t);
}

/* Rows of both, as many at once as a block has room for. */
static void compare_data(const char *path, hid_t a, hid_t b, hid_t type, hid_t space)
{
    hsize_t dims[H5S_MAX_RANK], start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK], step[H5S_MAX_RANK],
                                n, first = 0;
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    size_t size = H5Tget_size(type);
    hid_t mem = memory_type(type);
    long before = differences;
    hsize_t most = BLOCK / size ? BLOCK / size : 1;
    char *p, *q;

    for (int d = rank - 1; d >= 0; d--) {
        step[d] = dims[d] < most ? dims[d] : most;
        most = step[d] < dims[d] ? 1 : most / (step[d] ? step[d] : 1);
        most = most ? most : 1;
    }
    for (n = 1; differences == before;) {
        hid_t box;
        int d;

        n = 1;
        for (d = 0; d < rank; d++) {
            count[d] = dims[d] - start[d] < step[d] ? dims[d] - start[d] : step[d];
            n *= count[d];
        }
        if (rank > 0)
            H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
        box = rank > 0 ? H5Screate_simple(rank, count, NULL) : H5Screate(H5S_SCALAR);
        p = memory((size_t)n * size);
        q = memory((size_t)n * size);
        if (H5Dread(a, mem, box, space, H5P_DEFAULT, p) < 0) {
            if (H5Dread(b, mem, box, space, H5P_DEFAULT, q) >= 0)
                differ(path, "elements that A does not give");
        } else if (H5Dread(b, mem, box, space, H5P_DEFAULT, q) < 0) {
            differ(path, "elements that B does not give");
        } else {
            compare_elements(path, mem, first, (size_t)n, p, q);
            reclaim(mem, box, p);
            reclaim(mem, box, q);
        }
        free(p);
        free(q);
        H5Sclose(box);
        first += n;
        for (d = rank - 1; d >= 0; d--) {
            start[d] += step[d];
            if (start[d] < dims[d])
                break;
            start[d] = 0;
        }
        if (d < 0)
            break;
    }
    H5Tclose(mem);
}

/* A filter or a virtual source may be missing here: then nothing can be said of elements. */
static void compare_datasets(const char *path, hid_t a, hid_t b)
{
    hid_t s = H5Dget_type(a), t = H5Dget_type(b), x = H5Dget_space(a), y = H5Dget_space(b);
    hid_t p = H5Dget_create_plist(a), q = H5Dget_create_plist(b);
    long before = differences;

    compare_types(path, s, t);
    if (H5Tcommitted(s) != H5Tcommitted(t))
        differ(path, "one has a named datatype");
    if (compare_spaces(path, x, y) && differences == before) {
        compare_properties(path, s, p, q);
        if (H5Sget_simple_extent_npoints(x) > 0 && H5Sget_simple_extent_npoints(x) < (hssize_t)1
                                                                                         << 27)
            compare_data(path, a, b, s, x);
    }
    H5Tclose(s);
    H5Tclose(t);
    H5Sclose(x);
    H5Sclose(y);
    H5Pclose(p);
    H5Pclose(q);
}

/* ---- objects ---- */

static void compare_objects(const char *path, hid_t a, hid_t b, int depth);

static herr_t note_link(hid_t group, const char *name, const H5L_info_t *info, void *ctx)
{
    (void)group;
    (void)info;
    names_add(ctx, name);
    return 0;
}

static bool is_ascii(const char *text)
{
    while (*text && (unsigned char)*text < 128)
        text++;
    return !*text;
}

static void compare_link(const char *path, hid_t a, hid_t b, const char *name, int depth)
{
    H5L_info_t x = {0}, y = {0};
    char where[3000];

    snprintf(where, sizeof where, "%.1900s/%.1000s", strcmp(path, "/") == 0 ? "" : path, name);
    if (H5Lget_info(a, name, &x, H5P_DEFAULT) < 0 || H5Lget_info(b, name, &y, H5P_DEFAULT) < 0 ||
        x.type != y.type || (x.cset != y.cset && !is_ascii(name))) {
        differ(where, "link of kind %d, character set %d; kind %d, set %d", x.type, x.cset, y.type,
               y.cset);
        return;
    }
    if (x.type == H5L_TYPE_HARD) {
        hid_t s = H5Oopen(a, name, H5P_DEFAULT), t = H5Oopen(b, name, H5P_DEFAULT);

        if (s < 0 || t < 0)
            differ(where, "cannot be opened");
        else
            compare_objects(where, s, t, depth + 1);
        if (s >= 0)
            H5Oclose(s);
        if (t >= 0)
            H5Oclose(t);
    } else {
        char *p = memory(x.u.val_size), *q = memory(y.u.val_size);

        if (x.u.val_size != y.u.val_size || H5Lget_val(a, name, p, x.u.val_size, H5P_DEFAULT) < 0 ||
            H5Lget_val(b, name, q, y.u.val_size, H5P_DEFAULT) < 0 ||
            memcmp(p, q, x.u.val_size) != 0)
            differ(where, "target of the link");
        free(p);
        free(q);
    }
}

static void compare_groups(const char *path, hid_t a, hid_t b, int depth)
{
    hid_t p = H5Gget_create_plist(a), q = H5Gget_create_plist(b);
    struct names x = {0}, y = {0};
    unsigned f = 0, g = 0;
    H5_index_t by;

    H5Pget_link_creation_order(p, &f);
    H5Pget_link_creation_order(q, &g);
    by =
        f & H5P_CRT_ORDER_TRACKED && g & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    if (f & ~g & H5P_CRT_ORDER_TRACKED)
        differ(path, "order of creation of links is not tracked");
    H5Literate(a, by, H5_ITER_INC, NULL, note_link, &x);
    H5Literate(b, by, H5_ITER_INC, NULL, note_link, &y);
    if (names_equal(path, "links", &x, &y))
        for (size_t i = 0; i < x.n; i++)
            compare_link(path, a, b, x.name[i], depth);
    names_free(&x);
    names_free(&y);
    H5Pclose(p);
    H5Pclose(q);
}

/* True if the pair was met; a half of it with another partner is a difference. */
static bool seen(const char *path, haddr_t a, haddr_t b)
{
    for (size_t i = 0; i < nmet; i++) {
        if (met[i].a == a && met[i].b == b)
            return true;
        if (met[i].a == a || met[i].b == b) {
            differ(path, "another object than behind the first link");
            return true;
        }
    }
    if (nmet == room) {
        room = room ? 2 * room : 64;
        met = realloc(met, room * sizeof *met);
        if (!met)
            exit(2);
    }
    met[nmet++] = (struct pair){a, b};
    return false;
}

static void compare_comments(const char *path, hid_t a, hid_t b)
{
    char x[400] = "", y[400] = "";

    H5Oget_comment(a, x, sizeof x);
    H5Oget_comment(b, y, sizeof y);
    if (strcmp(x, y) != 0)
        differ(path, "comment");
}

/* By name where the order of creation is not kept. */
static H5_index_t attribute_order(const char *path, hid_t a, hid_t b, H5I_type_t kind)
{
    hid_t p = kind == H5I_DATASET ? H5Dget_create_plist(a)
              : kind == H5I_GROUP ? H5Gget_create_plist(a)
                                  : H5Tget_create_plist(a);
    hid_t q = kind == H5I_DATASET ? H5Dget_create_plist(b)
              : kind == H5I_GROUP ? H5Gget_create_plist(b)
                                  : H5Tget_create_plist(b);
    unsigned f = 0, g = 0;

    H5Pget_attr_creation_order(p, &f);
    H5Pget_attr_creation_order(q, &g);
    H5Pclose(p);
    H5Pclose(q);
    if (f & ~g & H5P_CRT_ORDER_TRACKED)
        differ(path, "order of creation of attributes is not tracked");
    return f & g & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
}

static void compare_objects(const char *path, hid_t a, hid_t b, int depth)
{
    H5I_type_t kind = H5Iget_type(a);

    if (kind != H5Iget_type(b)) {
        differ(path, "kind of object");
        return;
    }
    if (seen(path, address(a), address(b)) || depth > 500)
        return;
    compare_comments(path, a, b);
    if (kind == H5I_GROUP)
        compare_groups(path, a, b, depth);
    else if (kind == H5I_DATASET)
        compare_datasets(path, a, b);
    else if (kind == H5I_DATATYPE)
        compare_types(path, a, b);
    compare_attributes(path, a, b, attribute_order(path, a, b, kind));
}

/* A reference to an object that no link leads to is compared as such. */
static void compare_claims(void)
{
    for (size_t i = 0; i < nclaims; i++) {
        bool known = false;

        for (size_t k = 0; k < nmet && !known; k++) {
            if (met[k].a != claims[i].a && met[k].b != claims[i].b)
                continue;
            known = true;
            if (met[k].a != claims[i].a || met[k].b != claims[i].b)
                differ(claims[i].path, "a reference leads to another object");
        }
        if (!known)
            seen(claims[i].path, claims[i].a, claims[i].b);
        free(claims[i].path);
    }
}

static void compare_files(void)
{
    hid_t p = H5Fget_create_plist(file[0]), q = H5Fget_create_plist(file[1]);
    hid_t a = H5Gopen2(file[0], "/", H5P_DEFAULT), b = H5Gopen2(file[1], "/", H5P_DEFAULT);
    hsize_t x = 0, y = 0;

    H5Pget_userblock(p, &x);
    H5Pget_userblock(q, &y);
    if (x != y)
        differ("/", "user block of %llu bytes, %llu", (unsigned long long)x, (unsigned long long)y);
    compare_objects("/", a, b, 0);
    compare_claims();
    H5Gclose(a);
    H5Gclose(b);
    H5Pclose(p);
    H5Pclose(q);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: hdf5raw A B\n");
        return 2;
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        file[i] = H5Fopen(argv[1 + i], H5F_ACC_RDONLY, H5P_DEFAULT);
        if (file[i] < 0) {
            fprintf(stderr, "hdf5raw: %s: cannot be opened\n", argv[1 + i]);
            return 2;
        }
    }
    compare_files();
    if (differences > SAID)
        printf("and %ld more\n", differences - SAID);
    free(met);
    free(claims);
    return differences > 0;
}
