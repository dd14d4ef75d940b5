/* hdf5gen.c - makes the HDF5 files that h5py has no calls for.
 *
 * Usage: hdf5gen DIR    makes DIR/NAME.h5 for each case and prints a line for it: its name,
 * the features it shows, what import is to keep as annotations, and what is lost; fields
 * between tabs, words between commas.  run-hdf5.py sends the files through both ways. */
/* SPDX-License-Identifier: MIT */
#define H5_USE_110_API
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[4096];

static void must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "hdf5gen: %s failed\n", what);
    exit(1);
}

#define MUST(call) must((call) >= 0, #call)

static hid_t simple(int rank, const hsize_t *dims)
{
    hid_t s = H5Screate_simple(rank, dims, NULL);

    MUST(s);
    return s;
}

static hid_t line(hsize_t n)
{
    return simple(1, &n);
}

/* A dataset; data may be NULL.  space is closed; dcpl may be H5P_DEFAULT. */
static void put(hid_t where, const char *name, hid_t type, hid_t space, hid_t dcpl,
                const void *data)
{
    hid_t d = H5Dcreate2(where, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);

    MUST(d);
    if (data)
        MUST(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    H5Dclose(d);
    H5Sclose(space);
}

static void put_attr(hid_t where, const char *name, hid_t type, hid_t space, const void *data)
{
    hid_t a = H5Acreate2(where, name, type, space, H5P_DEFAULT, H5P_DEFAULT);

    MUST(a);
    if (data)
        MUST(H5Awrite(a, type, data));
    H5Aclose(a);
    H5Sclose(space);
}

static int numbers[65536];

static void ints(hid_t where, const char *name, hsize_t n)
{
    put(where, name, H5T_NATIVE_INT, line(n), H5P_DEFAULT, numbers);
}

static hid_t chunked(hsize_t n)
{
    hid_t p = H5Pcreate(H5P_DATASET_CREATE);

    MUST(H5Pset_chunk(p, 1, &n));
    return p;
}

static void group(hid_t where, const char *name)
{
    hid_t g = H5Gcreate2(where, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    MUST(g);
    H5Gclose(g);
}

static hid_t text(size_t size, H5T_cset_t cset, H5T_str_t pad)
{
    hid_t t = H5Tcopy(H5T_C_S1);

    MUST(H5Tset_size(t, size));
    MUST(H5Tset_cset(t, cset));
    MUST(H5Tset_strpad(t, pad));
    return t;
}

/* ---------------------------------------------------------------------- links */

static hid_t traverse(const char *name, hid_t g, const void *data, size_t size, hid_t lapl,
                      hid_t dxpl)
{
    (void)name, (void)g, (void)data, (void)size, (void)lapl, (void)dxpl;
    return -1;
}

static void user_links(hid_t f)
{
    H5L_class_t c = {
        H5L_LINK_CLASS_T_VERS, (H5L_type_t)200, "ours", NULL, NULL, NULL, traverse, NULL, NULL};

    MUST(H5Lregister(&c));
    c.id = (H5L_type_t)65;
    MUST(H5Lregister(&c));
    ints(f, "b", 3);
    MUST(H5Lcreate_ud(f, "a", (H5L_type_t)200, "some\0bytes", 10, H5P_DEFAULT, H5P_DEFAULT));
    group(f, "g");
    ints(f, "g/y", 2);
    MUST(H5Lcreate_ud(f, "g/x", (H5L_type_t)65, NULL, 0, H5P_DEFAULT, H5P_DEFAULT));
    MUST(
        H5Lcreate_ud(f, "g/a name with spaces", (H5L_type_t)200, "z", 1, H5P_DEFAULT, H5P_DEFAULT));
}

static void circles(hid_t f)
{
    group(f, "a");
    group(f, "a/b");
    group(f, "a/b/c");
    MUST(H5Lcreate_hard(f, "a", f, "a/b/c/up", H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Lcreate_hard(f, "/", f, "a/b/root", H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Lcreate_hard(f, "a/b", f, "a/b/itself", H5P_DEFAULT, H5P_DEFAULT));
    ints(f, "a/b/c/data", 3);
    MUST(H5Lcreate_hard(f, "a/b/c", f, "second", H5P_DEFAULT, H5P_DEFAULT));
}

static void strange_names(hid_t f)
{
    char longer[3001];

    memset(longer, 'n', 3000);
    longer[3000] = 0;
    group(f, "gr\xf6\xdf"
             "e");
    ints(f,
         "gr\xf6\xdf"
         "e/inside",
         4);
    ints(f,
         "gr\xf6\xdf"
         "e/m\xe4rz",
         4);
    ints(f, "..", 2);
    ints(f, longer, 2);
    longer[2999] = 'm';
    MUST(H5Lcreate_soft("/b", f, longer, H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Lcreate_hard(f,
                        "gr\xf6\xdf"
                        "e/inside",
                        f, "again\xff", H5P_DEFAULT, H5P_DEFAULT));
    put_attr(f,
             "gr\xf6\xdf"
             "e",
             H5T_STD_I32BE, line(2), numbers);
    put_attr(f, "drep.hdf5:remarks", H5T_NATIVE_INT, line(1), numbers);
    put_attr(f, longer, H5T_NATIVE_INT, line(1), numbers);
    put_attr(f, "with/slash", H5T_NATIVE_INT, line(1), numbers);
}

static void odd_soft_links(hid_t f)
{
    ints(f, "data", 2);
    MUST(H5Lcreate_soft("self", f, "self", H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Lcreate_soft("./data", f, "dotted", H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Lcreate_soft("no//where/../up", f, "nowhere", H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Lcreate_soft("m\xe4rz", f, "latin", H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Lcreate_external("dir with space/other.h5", "/a b/c", f, "far", H5P_DEFAULT,
                            H5P_DEFAULT));
}

/* ----------------------------------------------------------------- whole files */

static void comments_everywhere(hid_t f)
{
    hid_t t = H5Tcopy(H5T_STD_U16BE);

    ints(f, "data", 3);
    group(f, "g");
    MUST(H5Tcommit2(f, "t", t, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Tclose(t);
    MUST(H5Oset_comment_by_name(f, "data", "first line\nsecond line", H5P_DEFAULT));
    MUST(H5Oset_comment_by_name(f, "g", "of a group", H5P_DEFAULT));
    MUST(H5Oset_comment_by_name(f, "t", "of a type", H5P_DEFAULT));
    MUST(H5Oset_comment_by_name(f, ".", "of all", H5P_DEFAULT));
}

static void old_format(hid_t f)
{
    hsize_t dims[2] = {30, 40}, chunk[2] = {7, 9};
    hid_t p = H5Pcreate(H5P_DATASET_CREATE);

    MUST(H5Pset_chunk(p, 2, chunk));
    MUST(H5Pset_deflate(p, 4));
    put(f, "grid", H5T_NATIVE_INT, simple(2, dims), p, numbers);
    H5Pclose(p);
    group(f, "g");
    group(f, "g/h");
    ints(f, "g/h/z", 4);
    ints(f, "g/h/a", 4);
    MUST(H5Oset_comment_by_name(f, "g", "old", H5P_DEFAULT));
}

static void grid(hid_t f, const char *name, const hsize_t *max, const hsize_t *chunk, int early)
{
    hsize_t dims[2] = {60, 50};
    hid_t s = H5Screate_simple(2, dims, max), p = H5Pcreate(H5P_DATASET_CREATE);

    MUST(H5Pset_chunk(p, 2, chunk));
    if (early)
        MUST(H5Pset_alloc_time(p, H5D_ALLOC_TIME_EARLY));
    put(f, name, H5T_NATIVE_INT, s, p, numbers);
    H5Pclose(p);
}

/* One dataset for each of HDF5's ways to find a chunk. */
static void chunk_indexes(hid_t f)
{
    hsize_t one[2] = {H5S_UNLIMITED, 50}, two[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
    hsize_t whole[2] = {60, 50}, part[2] = {7, 11};

    grid(f, "single", NULL, whole, 0);
    grid(f, "implicit", NULL, part, 1);
    grid(f, "fixed array", NULL, part, 0);
    grid(f, "extensible array", one, part, 0);
    grid(f, "btree", two, part, 0);
}

/* Fill values in the heap of shared messages, which has blocks of several sizes. */
static void shared_fills(hid_t f)
{
    hsize_t n = 3;
    hid_t t = H5Tcopy(H5T_C_S1);
    char name[16], fill[600];
    int i;

    MUST(H5Tset_size(t, sizeof fill));
    for (i = 0; i < 80; i++) {
        hid_t p = H5Pcreate(H5P_DATASET_CREATE);

        memset(fill, 'a' + i / 2 % 26, sizeof fill);
        fill[0] = (char)('0' + i / 2);
        MUST(H5Pset_fill_value(p, t, fill));
        snprintf(name, sizeof name, "d%d", i);
        put(f, name, t, simple(1, &n), p, NULL);
        H5Pclose(p);
    }
    H5Tclose(t);
}

static void shared_messages(hid_t f)
{
    hid_t t = H5Tcreate(H5T_COMPOUND, 16);
    char name[16];
    int i;

    MUST(H5Tinsert(t, "a", 0, H5T_STD_I32BE));
    MUST(H5Tinsert(t, "b", 8, H5T_IEEE_F64LE));
    for (i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "d%d", i);
        put(f, name, t, line(2), H5P_DEFAULT, numbers);
        put_attr(f, name, t, line(1), numbers);
    }
    H5Tclose(t);
}

static void paged(hid_t f)
{
    ints(f, "data", 1000);
    group(f, "g");
    ints(f, "g/more", 100);
}

/* Attributes in their own order, so many that HDF5 stores them apart, one of them large. */
static void dense_attributes(hid_t f)
{
    hid_t gcpl = H5Pcreate(H5P_GROUP_CREATE), g;
    static uint8_t large[1 << 17]; /* more than an object header holds */
    char name[24];
    int i;

    MUST(H5Pset_attr_creation_order(gcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    g = H5Gcreate2(f, "g", H5P_DEFAULT, gcpl, H5P_DEFAULT);
    for (i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%d", 1000 - i);
        put_attr(g, name, H5T_NATIVE_INT, line(1), &numbers[i]);
    }
    memset(large, 7, sizeof large);
    put_attr(g, "large", H5T_STD_U8LE, line(sizeof large), large);
    H5Gclose(g);
    H5Pclose(gcpl);
}

/* -------------------------------------------------------------------- layouts */

static void external_files(hid_t f)
{
    hsize_t dims[2] = {10, 10};
    hid_t p = H5Pcreate(H5P_DATASET_CREATE), s = simple(2, dims);
    char path[5000];
    FILE *raw;

    snprintf(path, sizeof path, "%s/external one.raw", folder);
    raw = fopen(path, "wb");
    must(raw != NULL, path);
    fwrite("0123456789abcdef", 1, 16, raw);
    fwrite(numbers, 4, 60, raw);
    fclose(raw);
    snprintf(path, sizeof path, "%s/external-two.raw", folder);
    raw = fopen(path, "wb");
    must(raw != NULL, path);
    fwrite(numbers + 60, 4, 40, raw);
    fclose(raw);
    MUST(H5Pset_external(p, "external one.raw", 16, 240));
    MUST(H5Pset_external(p, "external-two.raw", 0, H5F_UNLIMITED));
    put(f, "outside", H5T_STD_I32LE, s, p, NULL);
    H5Pclose(p);
    ints(f, "inside", 5);
}

/* Raw files that nobody may read for the asking. */
static void external_elsewhere(hid_t f)
{
    hid_t p = H5Pcreate(H5P_DATASET_CREATE);

    MUST(H5Pset_external(p, "/etc/hostname", 0, 4));
    put(f, "secret", H5T_STD_U8LE, line(4), p, NULL);
    H5Pclose(p);
}

static void virtual_others(hid_t f)
{
    hsize_t dims[2] = {3, 20}, start[2] = {0, 0}, count[2] = {1, 20}, n = 20;
    hsize_t most[2] = {H5S_UNLIMITED, 20}, block[2] = {1, 20}, stride[2] = {1, 1};
    hsize_t all[2] = {H5S_UNLIMITED, 1};
    char path[5000], name[40];
    hid_t p = H5Pcreate(H5P_DATASET_CREATE), s = simple(2, dims), src = simple(1, &n), other;
    hid_t v;
    int i;

    for (i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "virtual-source-%d.h5", i);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        other = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        put(other, "row", H5T_NATIVE_INT, line(20), H5P_DEFAULT, numbers + 100 * i);
        H5Fclose(other);
        start[0] = (hsize_t)i;
        MUST(H5Sselect_hyperslab(s, H5S_SELECT_SET, start, NULL, count, NULL));
        /* The last is not there: the fill value. */
        MUST(H5Pset_virtual(p, s, i == 2 ? "missing.h5" : name, "row", src));
    }
    MUST(H5Pset_fill_value(p, H5T_NATIVE_INT, &numbers[77]));
    MUST(H5Sselect_all(s));
    put(f, "joined", H5T_NATIVE_INT, s, p, NULL);
    H5Pclose(p);
    /* As many rows as there are files of that name. */
    p = H5Pcreate(H5P_DATASET_CREATE);
    dims[0] = 0;
    start[0] = 0;
    v = H5Screate_simple(2, dims, most);
    MUST(H5Sselect_hyperslab(v, H5S_SELECT_SET, start, stride, all, block));
    MUST(H5Pset_virtual(p, v, "virtual-source-%b.h5", "row", src));
    dims[0] = 2;
    H5Sclose(v);
    v = H5Screate_simple(2, dims, most);
    put(f, "growing", H5T_NATIVE_INT, v, p, NULL);
    H5Pclose(p);
    H5Sclose(src);
}

static void times_of_storage(hid_t f)
{
    static const H5D_alloc_time_t alloc[] = {H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_LATE,
                                             H5D_ALLOC_TIME_INCR};
    static const H5D_fill_time_t fill[] = {H5D_FILL_TIME_ALLOC, H5D_FILL_TIME_NEVER,
                                           H5D_FILL_TIME_IFSET};
    char name[40];
    int i, k, layout;

    for (layout = 0; layout < 2; layout++)
        for (i = 0; i < 3; i++)
            for (k = 0; k < 3; k++) {
                hid_t p = layout ? chunked(10) : H5Pcreate(H5P_DATASET_CREATE);

                if (!layout && alloc[i] == H5D_ALLOC_TIME_INCR) {
                    H5Pclose(p);
                    continue;
                }
                MUST(H5Pset_alloc_time(p, alloc[i]));
                MUST(H5Pset_fill_time(p, fill[k]));
                snprintf(name, sizeof name, "%d%d%d", layout, i, k);
                put(f, name, H5T_NATIVE_INT, line(30), p, numbers);
                H5Pclose(p);
            }
}

static void undefined_fill(hid_t f)
{
    hid_t p = chunked(10);

    MUST(H5Pset_fill_value(p, H5T_NATIVE_INT, NULL));
    put(f, "chunked", H5T_NATIVE_INT, line(30), p, numbers);
    H5Pclose(p);
    p = H5Pcreate(H5P_DATASET_CREATE);
    MUST(H5Pset_fill_value(p, H5T_NATIVE_INT, NULL));
    put(f, "contiguous", H5T_NATIVE_INT, line(30), p, numbers);
    put(f, "unwritten", H5T_NATIVE_INT, line(30), p, NULL);
    H5Pclose(p);
}

static void unlimited(hid_t f)
{
    hsize_t dims[3] = {5, 0, 7}, max[3] = {H5S_UNLIMITED, H5S_UNLIMITED, 9}, chunk[3] = {4, 100, 3};
    hid_t p = H5Pcreate(H5P_DATASET_CREATE);

    MUST(H5Pset_chunk(p, 3, chunk));
    put(f, "empty", H5T_NATIVE_INT, H5Screate_simple(3, dims, max), p, NULL);
    dims[1] = 12;
    put(f, "full", H5T_NATIVE_INT, H5Screate_simple(3, dims, max), p, numbers);
    put(f, "unwritten", H5T_STD_I64BE, H5Screate_simple(3, dims, max), p, NULL);
    H5Pclose(p);
}

static void ranks(hid_t f)
{
    hsize_t dims[32], chunk[32];
    hid_t p = H5Pcreate(H5P_DATASET_CREATE);
    int i;

    for (i = 0; i < 32; i++) {
        dims[i] = i % 4 == 0 ? 2 : 1;
        chunk[i] = 1;
    }
    put(f, "thirty-two", H5T_NATIVE_INT, simple(32, dims), H5P_DEFAULT, numbers);
    MUST(H5Pset_chunk(p, 32, chunk));
    put(f, "in chunks", H5T_NATIVE_INT, simple(32, dims), p, numbers);
    H5Pclose(p);
    put(f, "scalar", H5T_NATIVE_INT, H5Screate(H5S_SCALAR), H5P_DEFAULT, numbers);
    put(f, "null", H5T_NATIVE_INT, H5Screate(H5S_NULL), H5P_DEFAULT, NULL);
    put_attr(f, "attribute", H5T_NATIVE_INT, simple(32, dims), numbers);
}

static void empties(hid_t f)
{
    hsize_t none[2] = {3, 0};
    hid_t p = H5Pcreate(H5P_DATASET_CREATE),
          t = text(H5T_VARIABLE, H5T_CSET_UTF8, H5T_STR_NULLTERM);

    put(f, "contiguous", H5T_NATIVE_INT, simple(2, none), H5P_DEFAULT, NULL);
    MUST(H5Pset_layout(p, H5D_COMPACT));
    put(f, "compact", H5T_NATIVE_INT, simple(2, none), p, NULL);
    put(f, "compact null", H5T_NATIVE_INT, H5Screate(H5S_NULL), p, NULL);
    put(f, "compact scalar", H5T_NATIVE_INT, H5Screate(H5S_SCALAR), p, numbers);
    put(f, "compact words", t, line(3), p, NULL);
    put(f, "words", t, simple(2, none), H5P_DEFAULT, NULL);
    put(f, "null words", t, H5Screate(H5S_NULL), H5P_DEFAULT, NULL);
    put_attr(f, "none", H5T_NATIVE_INT, simple(2, none), NULL);
    put_attr(f, "null", t, H5Screate(H5S_NULL), NULL);
    group(f, "empty group");
    H5Tclose(t);
    H5Pclose(p);
}

static void compact_full(hid_t f)
{
    hid_t p = H5Pcreate(H5P_DATASET_CREATE);

    MUST(H5Pset_layout(p, H5D_COMPACT));
    put(f, "large", H5T_NATIVE_INT, line(16000), p, numbers);
    put(f, "small", H5T_NATIVE_INT, line(10), p, numbers);
    H5Pclose(p);
}

static void large_filtered_chunks(hid_t f)
{
    hsize_t dims[2] = {3001, 2003}, chunk[2] = {2999, 2003};
    int *all = malloc(3001 * 2003 * sizeof *all);
    hid_t p = H5Pcreate(H5P_DATASET_CREATE);
    int i;

    must(all != NULL, "malloc");
    for (i = 0; i < 3001 * 2003; i++)
        all[i] = i % 1000;
    MUST(H5Pset_chunk(p, 2, chunk));
    put(f, "plain", H5T_NATIVE_INT, simple(2, dims), p, all);
    MUST(H5Pset_deflate(p, 1));
    put(f, "deflated", H5T_NATIVE_INT, simple(2, dims), p, all);
    H5Pclose(p);
    free(all);
}

/* -------------------------------------------------------------------- filters */

static void szip(hid_t f)
{
    static const hid_t *const types[] = {&H5T_STD_I8LE_g, &H5T_STD_U16BE_g, &H5T_STD_I32LE_g,
                                         &H5T_IEEE_F64LE_g};
    static double reals[4000];
    char name[24];
    int i, nn;

    for (i = 0; i < 4000; i++)
        reals[i] = i / 7.0;
    for (i = 0; i < 4; i++)
        for (nn = 0; nn < 2; nn++) {
            hid_t p = chunked(512);

            MUST(H5Pset_szip(p, nn ? H5_SZIP_NN_OPTION_MASK : H5_SZIP_EC_OPTION_MASK, 16));
            snprintf(name, sizeof name, "%d%d", i, nn);
            put(f, name, *types[i], line(1500), p, i == 3 ? (void *)reals : numbers);
            H5Pclose(p);
        }
}

static void nbit(hid_t f)
{
    hid_t p = chunked(100), t = H5Tcopy(H5T_STD_I32LE), c;

    MUST(H5Tset_precision(t, 17));
    MUST(H5Tset_offset(t, 4));
    MUST(H5Pset_nbit(p));
    put(f, "seventeen", t, line(250), p, numbers);
    H5Tclose(t);
    t = H5Tcopy(H5T_STD_U16BE);
    MUST(H5Tset_precision(t, 11));
    put(f, "eleven", t, line(250), p, numbers);
    c = H5Tcreate(H5T_COMPOUND, 8);
    MUST(H5Tinsert(c, "a", 0, t));
    MUST(H5Tinsert(c, "b", 4, H5T_STD_I32LE));
    put(f, "both", c, line(250), p, numbers);
    MUST(H5Pset_deflate(p, 5));
    put(f, "and deflate", t, line(250), p, numbers);
    H5Tclose(c);
    H5Tclose(t);
    H5Pclose(p);
}

static void scale_offset(hid_t f)
{
    hid_t p = chunked(100);
    int nine = 9;

    MUST(H5Pset_scaleoffset(p, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT));
    put(f, "integers", H5T_STD_I32LE, line(250), p, numbers);
    put(f, "big", H5T_STD_I16BE, line(250), p, numbers);
    MUST(H5Pset_fill_value(p, H5T_NATIVE_INT, &nine));
    put(f, "filled", H5T_STD_I32LE, line(250), p, numbers);
    H5Pclose(p);
}

/* The filter loses values, so it is not applied a second time. */
static void scale_offset_lossy(hid_t f)
{
    static double reals[250];
    hid_t p = chunked(100);
    int i;

    for (i = 0; i < 250; i++)
        reals[i] = i / 7.0;
    MUST(H5Pset_scaleoffset(p, H5Z_SO_FLOAT_DSCALE, 3));
    put(f, "reals", H5T_IEEE_F64LE, line(250), p, reals);
    H5Pclose(p);
}

/* The same filters in other orders, some of them optional. */
static void filter_orders(hid_t f)
{
    hid_t p = chunked(1000);

    MUST(H5Pset_fletcher32(p));
    MUST(H5Pset_shuffle(p));
    MUST(H5Pset_deflate(p, 3));
    put(f, "sum first", H5T_NATIVE_INT, line(2500), p, numbers);
    H5Pclose(p);
    p = chunked(1000);
    MUST(H5Pset_deflate(p, 3));
    MUST(H5Pset_shuffle(p));
    MUST(H5Pset_fletcher32(p));
    put(f, "deflate first", H5T_NATIVE_INT, line(2500), p, numbers);
    H5Pclose(p);
    p = chunked(1000);
    MUST(H5Pset_deflate(p, 9));
    MUST(H5Pset_deflate(p, 1));
    put(f, "twice", H5T_NATIVE_INT, line(2500), p, numbers);
    H5Pclose(p);
    p = chunked(1000);
    MUST(H5Pset_fletcher32(p));
    put(f, "odd", H5T_STD_U8LE, line(2999), p, numbers);
    H5Pclose(p);
    p = chunked(1000);
    MUST(H5Pset_filter(p, H5Z_FILTER_DEFLATE, H5Z_FLAG_MANDATORY, 1, (unsigned[]){2}));
    put(f, "mandatory", H5T_NATIVE_INT, line(2500), p, numbers);
    H5Pclose(p);
}

/* The last chunk is stored without the filters, and its mask does not say so. */
static void partial_chunks(hid_t f)
{
    hid_t p = chunked(1000);

    MUST(H5Pset_deflate(p, 3));
    MUST(H5Pset_chunk_opts(p, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
    put(f, "whole", H5T_NATIVE_INT, line(2500), p, numbers);
    H5Pclose(p);
}

/* Chunks for which some filters were skipped. */
static void skipped_filters(hid_t f)
{
    hid_t p = chunked(100), d, s = line(300);
    hsize_t at;

    MUST(H5Pset_shuffle(p));
    MUST(H5Pset_deflate(p, 6));
    d = H5Dcreate2(f, "mixed", H5T_STD_I32LE, s, H5P_DEFAULT, p, H5P_DEFAULT);
    MUST(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers));
    at = 100;
    MUST(H5Dwrite_chunk(d, H5P_DEFAULT, 3, &at, 400, numbers + 1000));
    H5Dclose(d);
    H5Pclose(p);
    H5Sclose(s);
}

/* ------------------------------------------------------------------- datatypes */

/* Every size, and in each some precisions, offsets and paddings. */
static void odd_integers(hid_t f)
{
    static uint8_t bytes[64];
    size_t size, precision;
    char name[60];
    int order, is_signed, i;

    for (i = 0; i < 64; i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    for (size = 1; size <= 16; size += size < 8 ? 1 : 4)
        for (precision = 8 * size; precision > 0; precision = precision > 5 ? precision - 5 : 0)
            for (order = 0; order < 2; order++)
                for (is_signed = 0; is_signed < 2; is_signed++) {
                    hid_t t = H5Tcopy(is_signed ? H5T_STD_I8LE : H5T_STD_U8LE);

                    H5Tset_size(t, size);
                    H5Tset_precision(t, precision);
                    H5Tset_offset(t, (8 * size - precision) / 2);
                    H5Tset_order(t, order ? H5T_ORDER_BE : H5T_ORDER_LE);
                    H5Tset_pad(t, H5T_PAD_ZERO, precision % 3 ? H5T_PAD_ONE : H5T_PAD_ZERO);
                    snprintf(name, sizeof name, "%zu-%zu-%d%d", size, precision, order, is_signed);
                    put(f, name, t, line(3), H5P_DEFAULT, bytes);
                    H5Tclose(t);
                }
}

static hid_t real(size_t size, H5T_order_t order, size_t precision, size_t offset, size_t sign,
                  size_t exp, size_t exp_width, size_t sig, size_t sig_width, size_t bias,
                  H5T_norm_t norm)
{
    hid_t t = H5Tcopy(H5T_IEEE_F64LE);

    if (size > 8) {
        MUST(H5Tset_size(t, size));
        MUST(H5Tset_precision(t, 8 * size));
    }
    MUST(H5Tset_fields(t, sign, exp, exp_width, sig, sig_width));
    MUST(H5Tset_offset(t, offset));
    MUST(H5Tset_precision(t, precision));
    MUST(H5Tset_size(t, size));
    MUST(H5Tset_ebias(t, bias));
    MUST(H5Tset_norm(t, norm));
    MUST(H5Tset_order(t, order));
    return t;
}

static void put_real(hid_t f, const char *name, hid_t t, const void *bytes)
{
    put(f, name, t, line(2), H5P_DEFAULT, bytes);
    put_attr(f, name, t, line(2), bytes);
    H5Tclose(t);
}

static void strange_reals(hid_t f)
{
    static const uint8_t bytes[64] = {0x00, 0x80, 0x3f, 0x40, 0x12, 0x34, 0x56, 0x3f};
    hid_t t;

    put_real(f, "three bytes", real(3, H5T_ORDER_LE, 24, 0, 23, 16, 7, 0, 16, 63, H5T_NORM_IMPLIED),
             bytes);
    put_real(f, "shifted", real(4, H5T_ORDER_BE, 20, 7, 26, 20, 6, 7, 13, 31, H5T_NORM_IMPLIED),
             bytes);
    put_real(f, "bit set", real(8, H5T_ORDER_LE, 64, 0, 63, 48, 15, 0, 48, 16383, H5T_NORM_MSBSET),
             bytes);
    put_real(f, "sign low", real(4, H5T_ORDER_LE, 32, 0, 0, 24, 8, 1, 23, 127, H5T_NORM_NONE),
             bytes);
    t = real(4, H5T_ORDER_LE, 32, 0, 31, 20, 8, 0, 16, 127, H5T_NORM_IMPLIED);
    MUST(H5Tset_inpad(t, H5T_PAD_ONE));
    put_real(f, "inner padding", t, bytes);
    put_real(f, "fp8", real(1, H5T_ORDER_LE, 8, 0, 7, 2, 5, 0, 2, 15, H5T_NORM_IMPLIED), bytes);
    put_real(f, "bfloat16", real(2, H5T_ORDER_BE, 16, 0, 15, 7, 8, 0, 7, 127, H5T_NORM_IMPLIED),
             bytes);
    put_real(f, "half", real(2, H5T_ORDER_BE, 16, 0, 15, 10, 5, 0, 10, 15, H5T_NORM_IMPLIED),
             bytes);
    put_real(f, "quad",
             real(16, H5T_ORDER_BE, 128, 0, 127, 112, 15, 0, 112, 16383, H5T_NORM_IMPLIED), bytes);
}

static void x87_sizes(hid_t f)
{
    static const uint8_t bytes[2][32] = {{0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x3f}, /* 1.5 */
                                         {0x3f, 0xff, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    uint8_t pair[64];
    size_t size;
    char name[20];
    int order;

    for (size = 10; size <= 16; size += size == 10 ? 2 : 4)
        for (order = 0; order < 2; order++) {
            memset(pair, 0, sizeof pair);
            memcpy(pair + (order ? size - 10 : 0), bytes[order], 10);
            memcpy(pair + size + (order ? size - 10 : 0), bytes[order], 10);
            snprintf(name, sizeof name, "%zu%s", size, order ? "be" : "le");
            put_real(f, name,
                     real(size, order ? H5T_ORDER_BE : H5T_ORDER_LE, 80, 0, 79, 64, 15, 0, 64,
                          16383, H5T_NORM_NONE),
                     pair);
        }
}

/* As HDF5 on ppc64el and ppc64 describes what it stores: the first double of the pair. */
static void double_doubles(hid_t f)
{
    static const double little[4] = {1.5, 0x1p-60, -3.0, 0};
    uint8_t big[32];
    int i;

    for (i = 0; i < 32; i++)
        big[i] = ((const uint8_t *)little)[i / 8 * 8 + 7 - i % 8];
    put_real(f, "le", real(16, H5T_ORDER_LE, 64, 0, 63, 52, 11, 0, 52, 1023, H5T_NORM_IMPLIED),
             little);
    put_real(f, "be", real(16, H5T_ORDER_BE, 64, 64, 127, 116, 11, 64, 52, 1023, H5T_NORM_IMPLIED),
             big);
}

/* Beyond 16 bytes: nested, with padding, signed or not, in either order. */
static void wide_integers(hid_t f, uint8_t *bytes)
{
    hid_t t = H5Tcopy(H5T_STD_U64BE), b = H5Tcopy(H5T_STD_B64LE), c, a, v;
    hvl_t rows[2] = {{1, bytes}, {3, bytes + 9}};

    MUST(H5Tset_size(t, 32));
    MUST(H5Tset_precision(t, 256));
    put(f, "256 bits", t, line(5), H5P_DEFAULT, bytes);
    put_attr(f, "256 bits", t, line(2), bytes);
    a = H5Tarray_create2(t, 1, (hsize_t[]){3});
    c = H5Tcreate(H5T_COMPOUND, 96 + sizeof(hvl_t));
    v = H5Tvlen_create(t);
    MUST(H5Tinsert(c, "array", sizeof(hvl_t), a));
    MUST(H5Tinsert(c, "rows", 0, v));
    put(f, "rows of 256 bits", v, line(2), H5P_DEFAULT, rows);
    H5Tclose(c);
    c = H5Tcreate(H5T_COMPOUND, 100);
    MUST(H5Tinsert(c, "array", 4, a));
    MUST(H5Tinsert(c, "n", 0, H5T_STD_I32LE));
    put(f, "arrays of 256 bits", c, line(2), H5P_DEFAULT, bytes);
    put_attr(f, "arrays of 256 bits", c, line(2), bytes);
    H5Tclose(v);
    H5Tclose(a);
    H5Tclose(c);
    H5Tclose(t);
    MUST(H5Tset_size(b, 17));
    MUST(H5Tset_precision(b, 130));
    MUST(H5Tset_offset(b, 3));
    MUST(H5Tset_pad(b, H5T_PAD_ONE, H5T_PAD_ZERO));
    put(f, "130 bits", b, line(4), H5P_DEFAULT, bytes);
    H5Tclose(b);
    t = H5Tcopy(H5T_STD_I64LE);
    MUST(H5Tset_size(t, 20));
    put(f, "64 of 160 bits", t, line(4), H5P_DEFAULT, bytes);
    H5Tclose(t);
}

static void wide_numbers(hid_t f)
{
    static uint8_t bytes[400];
    size_t i;
    hid_t t, c;

    for (i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    t = H5Tcopy(H5T_STD_I64LE);
    MUST(H5Tset_size(t, 64));
    MUST(H5Tset_precision(t, 500));
    put(f, "64 bytes", t, line(3), H5P_DEFAULT, bytes);
    put_attr(f, "64 bytes", t, line(2), bytes);
    c = H5Tcreate(H5T_COMPOUND, 80);
    MUST(H5Tinsert(c, "n", 8, t));
    MUST(H5Tinsert(c, "t", 72, H5T_UNIX_D64BE));
    put(f, "inside", c, line(2), H5P_DEFAULT, bytes);
    H5Tclose(c);
    H5Tclose(t);
    wide_integers(f, bytes);
    put(f, "t32", H5T_UNIX_D32BE, line(3), H5P_DEFAULT, bytes);
    put(f, "t64", H5T_UNIX_D64LE, line(3), H5P_DEFAULT, bytes);
}

static void bit_fields(hid_t f)
{
    static const hid_t *const types[] = {&H5T_STD_B8BE_g, &H5T_STD_B16LE_g, &H5T_STD_B32BE_g,
                                         &H5T_STD_B64LE_g, &H5T_STD_B64BE_g};
    char name[20];
    size_t i;

    for (i = 0; i < 5; i++) {
        hid_t t = H5Tcopy(*types[i]);

        snprintf(name, sizeof name, "plain%zu", i);
        put(f, name, t, line(4), H5P_DEFAULT, numbers);
        MUST(H5Tset_precision(t, 5));
        MUST(H5Tset_offset(t, 2));
        MUST(H5Tset_pad(t, H5T_PAD_ONE, H5T_PAD_ZERO));
        snprintf(name, sizeof name, "part%zu", i);
        put(f, name, t, line(4), H5P_DEFAULT, numbers);
        put_attr(f, name, t, line(2), numbers);
        H5Tclose(t);
    }
}

static void all_enums(hid_t f)
{
    static const hid_t *const bases[] = {&H5T_STD_I8LE_g,  &H5T_STD_U8LE_g,  &H5T_STD_I16BE_g,
                                         &H5T_STD_U16LE_g, &H5T_STD_I32LE_g, &H5T_STD_U32BE_g,
                                         &H5T_STD_I64BE_g, &H5T_STD_U64LE_g};
    char name[24];
    size_t i;
    int k;
    hid_t base, t;

    for (i = 0; i < 8; i++) {
        uint8_t value[8] = {0};

        t = H5Tenum_create(*bases[i]);
        for (k = 0; k < 5; k++) {
            /* Not in the order of their values. */
            value[H5Tget_order(*bases[i]) == H5T_ORDER_BE ? H5Tget_size(*bases[i]) - 1 : 0] =
                (uint8_t)(k * 7 % 5);
            snprintf(name, sizeof name, "v %d", k);
            MUST(H5Tenum_insert(t, name, value));
        }
        snprintf(name, sizeof name, "e%zu", i);
        memset(value, 0, sizeof value);
        put(f, name, t, line(1), H5P_DEFAULT, value);
        put_attr(f, name, t, line(1), value);
        H5Tclose(t);
    }
    t = H5Tenum_create(H5T_STD_I32LE);
    for (k = 0; k < 1000; k++) {
        snprintf(name, sizeof name, "n%d", k);
        MUST(H5Tenum_insert(t, name, &k));
    }
    put(f, "many", t, line(500), H5P_DEFAULT, numbers);
    H5Tclose(t);
    base = H5Tcopy(H5T_STD_I16LE);
    MUST(H5Tset_precision(base, 12));
    t = H5Tenum_create(base);
    MUST(H5Tenum_insert(t, "A", (int16_t[]){5}));
    MUST(H5Tenum_insert(t, "B", (int16_t[]){-3}));
    put(f, "twelve bits", t, line(2), H5P_DEFAULT, (int16_t[]){5, -3});
    H5Tclose(t);
    H5Tclose(base);
}

static void all_strings(hid_t f)
{
    static const H5T_str_t pads[] = {H5T_STR_NULLTERM, H5T_STR_NULLPAD, H5T_STR_SPACEPAD};
    static const char *const words[3] = {"one", "", "drei\xc3\xa9"};
    char name[40];
    int pad, cset, variable;
    hid_t c = H5Tcreate(H5T_COMPOUND, 64);
    size_t at = 0;
    static char row[128] = "abcdefgh";

    for (variable = 0; variable < 2; variable++)
        for (pad = 0; pad < 3; pad++)
            for (cset = 0; cset < 2; cset++) {
                hid_t t = text(variable ? H5T_VARIABLE : 8, cset ? H5T_CSET_UTF8 : H5T_CSET_ASCII,
                               pads[pad]);

                snprintf(name, sizeof name, "%s %d %d", variable ? "variable" : "fixed", pad, cset);
                put(f, name, t, line(3), H5P_DEFAULT,
                    variable ? (const void *)words : "one\0\0\0\0\0two     drei\0\0\0\0");
                put_attr(f, name, t, line(3),
                         variable ? (const void *)words : "one\0\0\0\0\0two     drei\0\0\0\0");
                if (!variable)
                    MUST(H5Tinsert(c, name, at, t));
                at += 8;
                H5Tclose(t);
            }
    put(f, "all in one", c, line(2), H5P_DEFAULT, row);
    H5Tclose(c);
}

static void large_strings(hid_t f)
{
    enum { SIZE = 5 << 20 };
    char *large = malloc(2 * SIZE + 1);
    char *several[6];
    hid_t t = text(SIZE, H5T_CSET_ASCII, H5T_STR_SPACEPAD), p = chunked(6);
    int i;

    must(large != NULL, "malloc");
    for (i = 0; i < 2 * SIZE; i++)
        large[i] = (char)('a' + i % 26 + (i / 1000) % 3);
    large[2 * SIZE] = 0;
    put(f, "fixed", t, line(2), H5P_DEFAULT, large);
    H5Tclose(t);
    t = text(70000, H5T_CSET_ASCII, H5T_STR_NULLTERM);
    put_attr(f, "fixed", t, line(1), large);
    H5Tclose(t);
    t = text(H5T_VARIABLE, H5T_CSET_ASCII, H5T_STR_NULLTERM);
    for (i = 0; i < 6; i++)
        several[i] = large + i * 1000;
    put(f, "variable", t, line(6), H5P_DEFAULT, several);
    /* Together more than a filtered chunk of ours may be. */
    MUST(H5Pset_deflate(p, 1));
    put(f, "deflated", t, line(6), p, several);
    H5Pclose(p);
    H5Tclose(t);
    free(large);
}

struct row {
    char *name;
    hvl_t list;
    int n;
};

/* Strings that are not there beside empty ones, in compounds, arrays and sequences. */
static void absent_strings(hid_t f)
{
    hid_t t = text(H5T_VARIABLE, H5T_CSET_UTF8, H5T_STR_NULLTERM), v = H5Tvlen_create(t), c, a;
    const char *const some[4] = {"x", NULL, "y", NULL};
    const char *const mixed[6] = {"x", NULL, "", "y", NULL, ""};
    const char *const none[3] = {NULL, NULL, NULL};
    const char *const empty[3] = {"", "", ""};
    const char *inner[2] = {"in", NULL};
    struct row rows[2] = {{"first", {2, inner}, 1}, {NULL, {0, NULL}, 2}};
    hsize_t two = 2;

    put(f, "some", t, line(4), H5P_DEFAULT, some);
    put(f, "mixed", t, line(6), H5P_DEFAULT, mixed);
    put(f, "none", t, line(3), H5P_DEFAULT, none);
    put(f, "empty", t, line(3), H5P_DEFAULT, empty);
    put(f, "unwritten", t, line(3), H5P_DEFAULT, NULL);
    put_attr(f, "some", t, line(4), some);
    c = H5Tcreate(H5T_COMPOUND, sizeof(struct row));
    MUST(H5Tinsert(c, "name", HOFFSET(struct row, name), t));
    MUST(H5Tinsert(c, "list", HOFFSET(struct row, list), v));
    MUST(H5Tinsert(c, "n", HOFFSET(struct row, n), H5T_NATIVE_INT));
    put(f, "rows", c, line(2), H5P_DEFAULT, rows);
    a = H5Tarray_create2(t, 1, &two);
    put(f, "pairs", a, line(2), H5P_DEFAULT, some);
    H5Tclose(a);
    H5Tclose(c);
    H5Tclose(v);
    H5Tclose(t);
}

/* Sequences as deep as containers have them, and one deeper. */
static hid_t nested(int depth)
{
    hid_t t = H5Tcopy(H5T_STD_I16BE);

    while (depth-- > 0) {
        hid_t v = H5Tvlen_create(t);

        H5Tclose(t);
        t = v;
    }
    return t;
}

static void put_nested(hid_t f, const char *name, int depth)
{
    hvl_t level[12];
    hid_t t = nested(depth);
    int i;

    level[0] = (hvl_t){3, numbers};
    for (i = 1; i < depth; i++)
        level[i] = (hvl_t){1, &level[i - 1]};
    put(f, name, t, line(1), H5P_DEFAULT, &level[depth - 1]);
    H5Tclose(t);
}

static void deep_sequences(hid_t f)
{
    put_nested(f, "one", 1);
    put_nested(f, "four", 4);
    put_nested(f, "eight", 8);
}

static void deeper_sequences(hid_t f)
{
    put_nested(f, "nine", 9);
    ints(f, "kept", 2);
}

static void deep_compounds(hid_t f)
{
    hid_t t = H5Tcopy(H5T_STD_I32BE), c, a;
    hsize_t dims[2] = {2, 3};
    char name[20];
    int i;

    for (i = 0; i < 12; i++) {
        size_t size = H5Tget_size(t);

        c = H5Tcreate(H5T_COMPOUND, size + 8);
        snprintf(name, sizeof name, "level %d", i);
        MUST(H5Tinsert(c, "before", 0, H5T_STD_U8LE));
        MUST(H5Tinsert(c, name, 4, t));
        MUST(H5Tinsert(c, "behind", size + 4, H5T_STD_U16BE));
        H5Tclose(t);
        t = c;
    }
    put(f, "nested", t, line(3), H5P_DEFAULT, numbers);
    put_attr(f, "nested", t, line(2), numbers);
    a = H5Tarray_create2(t, 2, dims);
    put(f, "array", a, line(2), H5P_DEFAULT, numbers);
    H5Tclose(a);
    a = H5Tarray_create2(H5T_STD_I16BE, 2, dims);
    c = H5Tarray_create2(a, 1, dims);
    put(f, "arrays", c, line(2), H5P_DEFAULT, numbers);
    H5Tclose(c);
    H5Tclose(a);
    H5Tclose(t);
    /* Members that lie in another order than they are listed, far apart. */
    t = H5Tcreate(H5T_COMPOUND, 1000);
    MUST(H5Tinsert(t, "last", 900, H5T_STD_I32LE));
    MUST(H5Tinsert(t, "first", 3, H5T_IEEE_F64BE));
    MUST(H5Tinsert(t, "middle", 500, H5T_STD_B16LE));
    put(f, "disorder", t, line(20), H5P_DEFAULT, numbers);
    H5Tclose(t);
}

static void opaques(hid_t f)
{
    char tag[251];
    hid_t t = H5Tcreate(H5T_OPAQUE, 3);

    put(f, "no tag", t, line(4), H5P_DEFAULT, numbers);
    memset(tag, 't', 250);
    tag[250] = 0;
    MUST(H5Tset_tag(t, tag));
    put(f, "long tag", t, line(4), H5P_DEFAULT, numbers);
    H5Tclose(t);
    t = H5Tcreate(H5T_OPAQUE, 100000);
    MUST(H5Tset_tag(t, "large"));
    put(f, "large", t, line(2), H5P_DEFAULT, numbers);
    H5Tclose(t);
}

/* ------------------------------------------------------------- named datatypes */

static hid_t point(void)
{
    hid_t t = H5Tcreate(H5T_COMPOUND, 24);

    MUST(H5Tinsert(t, "x", 0, H5T_IEEE_F64BE));
    MUST(H5Tinsert(t, "label", 12, H5T_C_S1));
    MUST(H5Tinsert(t, "y", 16, H5T_IEEE_F32LE));
    return t;
}

static void sharing(hid_t f)
{
    static uint8_t bytes[240];
    hid_t t = point(), e, g;

    group(f, "later");
    /* Its name comes after those of the datasets that are of it. */
    MUST(H5Tcommit2(f, "later/point", t, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put(f, "a", t, line(5), H5P_DEFAULT, bytes);
    put(f, "b", t, line(3), H5P_DEFAULT, bytes);
    put_attr(f, "where", t, line(2), bytes);
    g = H5Gopen2(f, "later", H5P_DEFAULT);
    put_attr(g, "an attribute", t, line(1), bytes);
    put_attr(t, "of its own kind", t, line(1), bytes);
    H5Gclose(g);
    put(f, "own", H5T_STD_I16BE, line(3), H5P_DEFAULT, bytes);
    H5Tclose(t);
    e = H5Tenum_create(H5T_STD_I16BE);
    MUST(H5Tenum_insert(e, "zero", (int16_t[]){0}));
    MUST(H5Tcommit2(f, "enum", e, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put(f, "of enum", e, line(3), H5P_DEFAULT, bytes);
    MUST(H5Lcreate_hard(f, "enum", f, "same enum", H5P_DEFAULT, H5P_DEFAULT));
    H5Tclose(e);
    t = text(H5T_VARIABLE, H5T_CSET_ASCII, H5T_STR_SPACEPAD);
    MUST(H5Tcommit2(f, "string", t, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put(f, "strings", t, line(2), H5P_DEFAULT, (const char *[]){"p", "q"});
    H5Tclose(t);
}

/* A named datatype without a name. */
static void sharing_nothing(hid_t f)
{
    hid_t t = point();
    static uint8_t bytes[240];

    MUST(H5Tcommit_anon(f, t, H5P_DEFAULT, H5P_DEFAULT));
    put(f, "a", t, line(5), H5P_DEFAULT, bytes);
    H5Tclose(t);
}

static void named_of_all_kinds(hid_t f)
{
    hsize_t two = 2;
    hid_t ref = H5Tcopy(H5T_STD_REF_OBJ), v = H5Tvlen_create(H5T_STD_U32BE);
    hid_t a = H5Tarray_create2(H5T_IEEE_F32BE, 1, &two), b = H5Tcopy(H5T_STD_B32BE), o, w;

    MUST(H5Tcommit2(f, "reference", ref, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Tcommit2(f, "sequence", v, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Tcommit2(f, "array", a, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    MUST(H5Tcommit2(f, "bits", b, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    o = H5Tcreate(H5T_OPAQUE, 7);
    MUST(H5Tset_tag(o, "tag"));
    MUST(H5Tcommit2(f, "opaque", o, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    w = text(5, H5T_CSET_ASCII, H5T_STR_NULLPAD);
    MUST(H5Tcommit2(f, "text", w, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put_attr(w, "units", w, line(1), "metre");
    MUST(H5Oset_comment(w, "a text"));
    H5Tclose(ref);
    H5Tclose(v);
    H5Tclose(a);
    H5Tclose(b);
    H5Tclose(o);
    H5Tclose(w);
}

/* ------------------------------------------------------------------ references */

static void region(hid_t f, hdset_reg_ref_t *ref, const char *name, hid_t space)
{
    MUST(H5Rcreate(ref, f, name, H5R_DATASET_REGION, space));
}

static void regions(hid_t f)
{
    hsize_t dims[2] = {12, 10}, start[2] = {1, 1}, stride[2] = {4, 5}, count[2] = {2, 2};
    hsize_t block[2] = {2, 3}, points[6] = {3, 4, 0, 0, 11, 9}, two = 2;
    hdset_reg_ref_t refs[8];
    hid_t s = simple(2, dims), scalar = H5Screate(H5S_SCALAR), a;

    memset(refs, 0, sizeof refs);
    put(f, "grid", H5T_NATIVE_INT, simple(2, dims), H5P_DEFAULT, numbers);
    put(f, "one", H5T_NATIVE_INT, H5Screate(H5S_SCALAR), H5P_DEFAULT, numbers);
    MUST(H5Sselect_all(s));
    region(f, &refs[0], "grid", s);
    MUST(H5Sselect_hyperslab(s, H5S_SELECT_SET, start, stride, count, block));
    region(f, &refs[1], "grid", s);
    start[0] = 0;
    count[0] = count[1] = 1;
    block[0] = 1;
    block[1] = 9;
    MUST(H5Sselect_hyperslab(s, H5S_SELECT_OR, start, NULL, count, block));
    region(f, &refs[2], "grid", s);
    MUST(H5Sselect_elements(s, H5S_SELECT_SET, 3, points));
    region(f, &refs[3], "grid", s);
    MUST(H5Sselect_none(s));
    region(f, &refs[4], "grid", s);
    region(f, &refs[5], "one", scalar);
    start[0] = 3;
    stride[0] = 3;
    count[0] = 3;
    MUST(H5Sselect_hyperslab(s, H5S_SELECT_SET, start, stride, count, NULL));
    region(f, &refs[6], "grid", s);
    put(f, "regions", H5T_STD_REF_DSETREG, line(8), H5P_DEFAULT, refs);
    put_attr(f, "regions", H5T_STD_REF_DSETREG, line(8), refs);
    a = H5Tarray_create2(H5T_STD_REF_DSETREG, 1, &two);
    put(f, "pairs", a, line(4), H5P_DEFAULT, refs);
    H5Tclose(a);
    H5Sclose(s);
    H5Sclose(scalar);
}

struct tagged {
    hobj_ref_t to;
    int n;
    hvl_t more;
};

static void references(hid_t f)
{
    hobj_ref_t refs[4] = {0};
    struct tagged rows[2] = {{0}};
    hid_t t, v = H5Tvlen_create(H5T_STD_REF_OBJ), c;

    group(f, "g");
    ints(f, "g/d", 3);
    t = H5Tcopy(H5T_STD_I8LE);
    MUST(H5Tcommit2(f, "t", t, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Tclose(t);
    MUST(H5Rcreate(&refs[0], f, "g/d", H5R_OBJECT, -1));
    MUST(H5Rcreate(&refs[1], f, "g", H5R_OBJECT, -1));
    MUST(H5Rcreate(&refs[2], f, "t", H5R_OBJECT, -1));
    put(f, "refs", H5T_STD_REF_OBJ, line(4), H5P_DEFAULT, refs);
    put_attr(f, "refs", H5T_STD_REF_OBJ, line(4), refs);
    rows[0] = (struct tagged){refs[1], 5, {2, refs}};
    rows[1] = (struct tagged){refs[0], 6, {0, NULL}};
    c = H5Tcreate(H5T_COMPOUND, sizeof *rows);
    MUST(H5Tinsert(c, "to", HOFFSET(struct tagged, to), H5T_STD_REF_OBJ));
    MUST(H5Tinsert(c, "n", HOFFSET(struct tagged, n), H5T_STD_I32LE));
    MUST(H5Tinsert(c, "more", HOFFSET(struct tagged, more), v));
    put(f, "rows", c, line(2), H5P_DEFAULT, rows);
    H5Tclose(c);
    H5Tclose(v);
}

/* As MATLAB stores cells: the fill value refers to an element of a group that comes later, here
 * also to a dataset whose own fill value refers on. */
static void cells(hid_t f)
{
    hobj_ref_t refs[6] = {0};
    hid_t p = chunked(4), d, some, memory = line(4);
    hsize_t start = 0, count = 4;

    group(f, "z");
    group(f, "z/deep");
    ints(f, "z/deep/empty", 2);
    MUST(H5Rcreate(&refs[0], f, "z/deep/empty", H5R_OBJECT, -1));
    MUST(H5Pset_fill_value(p, H5T_STD_REF_OBJ, refs));
    put(f, "y", H5T_STD_REF_OBJ, line(10), p, NULL);
    MUST(H5Rcreate(&refs[1], f, "y", H5R_OBJECT, -1));
    MUST(H5Rcreate(&refs[2], f, "z", H5R_OBJECT, -1));
    MUST(H5Pset_fill_value(p, H5T_STD_REF_OBJ, &refs[1]));
    d = H5Dcreate2(f, "cells", H5T_STD_REF_OBJ, line(10), H5P_DEFAULT, p, H5P_DEFAULT);
    MUST(d);
    some = H5Dget_space(d);
    MUST(H5Sselect_hyperslab(some, H5S_SELECT_SET, &start, NULL, &count, NULL));
    MUST(H5Dwrite(d, H5T_STD_REF_OBJ, memory, some, H5P_DEFAULT, refs));
    H5Sclose(some);
    H5Sclose(memory);
    H5Dclose(d);
    MUST(H5Pset_fill_value(p, H5T_STD_REF_OBJ, &refs[2]));
    put(f, "groups", H5T_STD_REF_OBJ, line(5), p, NULL);
    H5Pclose(p);
}

/* A reference to what was removed. */
static void lost_references(hid_t f)
{
    hobj_ref_t ref;

    ints(f, "d", 3);
    ints(f, "kept", 2);
    MUST(H5Rcreate(&ref, f, "d", H5R_OBJECT, -1));
    put(f, "refs", H5T_STD_REF_OBJ, line(1), H5P_DEFAULT, &ref);
    MUST(H5Ldelete(f, "d", H5P_DEFAULT));
}

/* Chunks that were never written, of types with contents elsewhere. */
static void holes(hid_t f)
{
    hid_t p = chunked(4), t = text(H5T_VARIABLE, H5T_CSET_UTF8, H5T_STR_NULLTERM), v, s, m, d;
    hsize_t n = 20, start = 9, count = 2;
    const char *const words[2] = {"ninth", "tenth"};
    hvl_t lists[2] = {{2, numbers}, {3, numbers}};

    s = simple(1, &n);
    m = simple(1, &count);
    v = H5Tvlen_create(H5T_NATIVE_INT);
    MUST(H5Sselect_hyperslab(s, H5S_SELECT_SET, &start, NULL, &count, NULL));
    d = H5Dcreate2(f, "words", t, s, H5P_DEFAULT, p, H5P_DEFAULT);
    MUST(H5Dwrite(d, t, m, s, H5P_DEFAULT, words));
    H5Dclose(d);
    d = H5Dcreate2(f, "lists", v, s, H5P_DEFAULT, p, H5P_DEFAULT);
    MUST(H5Dwrite(d, v, m, s, H5P_DEFAULT, lists));
    H5Dclose(d);
    H5Sclose(s);
    H5Sclose(m);
    H5Tclose(v);
    H5Tclose(t);
    H5Pclose(p);
}

/* ---------------------------------------------------------------------- the list */

enum { OLD = 1, NEW = 2, SHARED = 4, PAGED = 8, BLOCK = 16, TRACKED = 32 };

static const struct {
    const char *name;
    void (*make)(hid_t file);
    int how;
    const char *features, *kept, *lost;
} cases[] = {
    {"user_links", user_links, TRACKED, "user-defined links,creation order", "link", ""},
    {"circles", circles, 0, "circles of hard links,hard links", "link", ""},
    {"strange_names", strange_names, 0, "names that are no UTF-8 or too long", "name", ""},
    {"odd_soft_links", odd_soft_links, 0, "soft links,external links", "link", ""},
    {"user_block", comments_everywhere, BLOCK, "user block,comments", "userblock,comment", ""},
    {"comments_everywhere", comments_everywhere, 0, "comments", "comment", ""},
    {"old_format", old_format, OLD, "groups,chunked layout,filter deflate", "comment", ""},
    {"chunk_indexes", chunk_indexes, NEW, "chunked layout,unlimited dimensions", "", ""},
    {"shared_messages", shared_messages, SHARED, "compounds", "", ""},
    {"shared_fills", shared_fills, SHARED, "fill values", "", ""},
    {"paged", paged, PAGED, "groups", "", ""},
    {"dense_attributes", dense_attributes, 0, "attributes of any type,creation order", "", ""},
    {"external_files", external_files, 0, "external layout", "layout", ""},
    {"external_elsewhere", external_elsewhere, 0, "external layout", "layout", "values"},
    {"virtual_others", virtual_others, NEW, "virtual layout", "layout", "values"},
    {"times_of_storage", times_of_storage, 0, "fill values,contiguous layout,chunked layout", "",
     ""},
    {"undefined_fill", undefined_fill, 0, "undefined fill values", "", ""},
    {"unlimited", unlimited, 0, "unlimited dimensions,never written", "", ""},
    {"ranks", ranks, 0, "scalar and null spaces", "", ""},
    {"empties", empties, 0, "scalar and null spaces,compact layout,never written", "", ""},
    {"compact_full", compact_full, 0, "compact layout", "", ""},
    {"large_filtered_chunks", large_filtered_chunks, 0, "chunks beyond 16 MiB", "chunk", ""},
    {"szip", szip, 0, "filter szip", "", ""},
    {"nbit", nbit, 0, "filter nbit,integers of any precision and offset", "", ""},
    {"scale_offset", scale_offset, 0, "filter scale-offset", "", ""},
    {"scale_offset_lossy", scale_offset_lossy, 0, "filter scale-offset", "", ""},
    {"filter_orders", filter_orders, 0, "filter deflate,filter shuffle,filter fletcher32", "", ""},
    {"partial_chunks", partial_chunks, NEW, "filter deflate,chunked layout", "", ""},
    {"skipped_filters", skipped_filters, 0, "filter deflate,filter shuffle", "", ""},
    {"precisions", odd_integers, 0, "integers of any precision and offset", "", ""},
    {"strange_reals", strange_reals, 0, "reals of any format", "", ""},
    {"x87_sizes", x87_sizes, 0, "long doubles", "", ""},
    {"double_doubles", double_doubles, 0, "pairs of doubles", "datatype", ""},
    {"wide_numbers", wide_numbers, 0, "numbers beyond 16 bytes,times", "", ""},
    {"bit_fields", bit_fields, 0, "bitfields", "", ""},
    {"all_enums", all_enums, 0, "enums", "", ""},
    {"all_strings", all_strings, 0, "fixed strings,variable strings,character sets", "", ""},
    {"large_strings", large_strings, 0, "fixed strings,variable strings,strings of any size",
     "chunk", ""},
    {"absent_strings", absent_strings, 0, "variable strings", "", ""},
    {"deep_sequences", deep_sequences, 0, "nested sequences", "", ""},
    {"deeper_sequences", deeper_sequences, 0, "nested sequences", "", "object"},
    {"deep_compounds", deep_compounds, 0, "compounds,nested compounds,arrays", "", ""},
    {"opaque_tags", opaques, 0, "opaque", "", ""},
    {"sharing", sharing, 0, "named types and their sharing,attributes of any type", "", ""},
    {"sharing_nothing", sharing_nothing, 0, "named types and their sharing", "", "datatype"},
    {"named_of_all_kinds", named_of_all_kinds, 0,
     "named types and their sharing,attributes on named types", "comment", ""},
    {"regions", regions, 0, "region references", "", ""},
    {"references", references, 0, "object references,variable sequences", "", ""},
    {"cells", cells, 0, "object references,fill values", "", ""},
    {"lost_references", lost_references, 0, "object references", "", "reference"},
    {"holes", holes, 0, "never written,variable strings,variable sequences", "", ""},
};

static hid_t create(const char *path, int how)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), fcpl = H5Pcreate(H5P_FILE_CREATE), f;

    MUST(H5Pset_libver_bounds(fapl,
                              how & OLD   ? H5F_LIBVER_EARLIEST
                              : how & NEW ? H5F_LIBVER_V110
                                          : H5F_LIBVER_V18,
                              how & OLD ? H5F_LIBVER_V18 : H5F_LIBVER_LATEST));
    if (how & SHARED) {
        MUST(H5Pset_shared_mesg_nindexes(fcpl, 1));
        MUST(H5Pset_shared_mesg_index(fcpl, 0, H5O_SHMESG_ALL_FLAG, 10));
    }
    if (how & PAGED)
        MUST(H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_PAGE, 1, 1));
    if (how & BLOCK)
        MUST(H5Pset_userblock(fcpl, 2048));
    if (how & TRACKED)
        MUST(H5Pset_link_creation_order(fcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    f = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    MUST(f);
    H5Pclose(fcpl);
    H5Pclose(fapl);
    return f;
}

static void write_block(const char *path)
{
    FILE *f = fopen(path, "r+b");
    int i;

    must(f != NULL, path);
    for (i = 0; i < 2048; i++)
        fputc(i * 7 % 251, f);
    fclose(f);
}

int main(int argc, char **argv)
{
    char path[5000];
    size_t i;

    must(argc == 2, "hdf5gen DIR");
    snprintf(folder, sizeof folder, "%s", argv[1]);
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
        numbers[i] = (int)((i * 2654435761u) >> 12) % 1000;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        hid_t f;

        snprintf(path, sizeof path, "%s/%s.h5", folder, cases[i].name);
        f = create(path, cases[i].how);
        cases[i].make(f);
        MUST(H5Fclose(f));
        if (cases[i].how & BLOCK)
            write_block(path);
        printf("%s\t%s\t%s\t%s\n", cases[i].name, cases[i].features, cases[i].kept, cases[i].lost);
    }
    return 0;
}
