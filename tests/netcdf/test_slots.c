/* test_slots.c - each of the 77 functions of netCDF's table, through netCDF's interface: what it
 * does, and what it refuses with which code.
 *
 * Usage: test_slots [LIBRARY].  netcdf/slots.def lists the functions; SLOT() marks one as
 * tried, and at the end every line of the list must have been.  Reports in TAP. */
/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <netcdf_filter.h>
#include <netcdf_mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum slot {
#define SLOT(name, ...) SLOT_##name,
#include "netcdf/slots.def"
#undef SLOT
    SLOTS
};
static const struct {
    const char *name;
    int code; /* with which it refuses */
} slots[] = {
#define SLOT(name, code, ...) {#name, code},
#include "netcdf/slots.def"
#undef SLOT
};
static int tried[SLOTS], cases, failed;
static NC_Dispatch *table;

static void report(int ok, enum slot slot, int line, const char *what, int got, int want)
{
    tried[slot] = 1;
    cases++;
    failed += !ok;
    if (ok)
        printf("ok %d - %s: %s\n", cases, slots[slot].name, what);
    else
        printf("not ok %d - %s: %s # line %d: %d, not %d\n", cases, slots[slot].name, what, line,
               got, want);
}

/* The call gives this code. */
#define GIVES(slot, want, call)                                           \
    do {                                                                  \
        int got_ = (call);                                                \
        report(got_ == (want), SLOT_##slot, __LINE__, #call, got_, want); \
    } while (0)
#define DOES(slot, call) GIVES(slot, NC_NOERR, call)
/* What the list says that it refuses. */
#define REFUSES(slot, call) GIVES(slot, slots[SLOT_##slot].code, call)
/* And this is so then. */
#define SO(slot, claim) report(!!(claim), SLOT_##slot, __LINE__, #claim, 0, 1)

struct pair {
    int a;
    double b[2];
};

struct ids {
    int file, time, x, group, plain, packed, big, text, letters, records, compound, enumeration,
        vlen, opaque, c, e, v, o, mapped;
};

static int exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

/* ------------------------------------------------------------------ definitions */

static void define_types(struct ids *i)
{
    const int dims[] = {2};
    const signed char low = -3, high = 7;

    DOES(def_compound, nc_def_compound(i->file, sizeof(struct pair), "pair", &i->compound));
    DOES(insert_compound,
         nc_insert_compound(i->file, i->compound, "a", offsetof(struct pair, a), NC_INT));
    DOES(insert_array_compound,
         nc_insert_array_compound(i->file, i->compound, "b", offsetof(struct pair, b), NC_DOUBLE, 1,
                                  dims));
    GIVES(insert_compound, NC_ENAMEINUSE, nc_insert_compound(i->file, i->compound, "a", 0, NC_INT));
    DOES(def_enum, nc_def_enum(i->file, NC_BYTE, "level", &i->enumeration));
    GIVES(def_enum, NC_EINVAL, nc_def_enum(i->file, NC_FLOAT, "no", NULL));
    DOES(insert_enum, nc_insert_enum(i->file, i->enumeration, "LOW", &low));
    DOES(insert_enum, nc_insert_enum(i->file, i->enumeration, "HIGH", &high));
    DOES(def_vlen, nc_def_vlen(i->file, "ragged", NC_INT, &i->vlen));
    DOES(def_opaque, nc_def_opaque(i->file, 5, "raw", &i->opaque));
    GIVES(def_opaque, NC_ENAMEINUSE, nc_def_opaque(i->file, 5, "raw", NULL));
}

static void define_variables(struct ids *i)
{
    const int both[] = {i->time, i->x}, *x = both + 1;

    DOES(def_var, nc_def_var(i->file, "plain", NC_FLOAT, 1, x, &i->plain));
    DOES(def_var, nc_def_var(i->file, "packed", NC_SHORT, 2, both, &i->packed));
    DOES(def_var, nc_def_var(i->file, "big", NC_INT, 1, x, &i->big));
    DOES(def_var, nc_def_var(i->file, "text", NC_STRING, 1, x, &i->text));
    DOES(def_var, nc_def_var(i->file, "letters", NC_CHAR, 1, x, &i->letters));
    DOES(def_var, nc_def_var(i->group, "records", NC_DOUBLE, 1, both, &i->records));
    DOES(def_var, nc_def_var(i->file, "c", i->compound, 1, x, &i->c));
    DOES(def_var, nc_def_var(i->file, "e", i->enumeration, 1, x, &i->e));
    DOES(def_var, nc_def_var(i->file, "v", i->vlen, 1, x, &i->v));
    DOES(def_var, nc_def_var(i->file, "o", i->opaque, 1, x, &i->o));
    DOES(def_var, nc_def_var(i->file, "mapped", NC_INT, 2, (int[]){i->x, i->x}, &i->mapped));
    GIVES(def_var, NC_ENAMEINUSE, nc_def_var(i->file, "plain", NC_INT, 0, NULL, NULL));
    GIVES(def_var, NC_EBADDIM, nc_def_var(i->file, "no", NC_INT, 1, (int[]){99}, NULL));
    GIVES(def_var, NC_EBADTYPE, nc_def_var(i->file, "no", 99, 1, x, NULL));
    GIVES(insert_compound, NC_ETYPDEFINED,
          nc_insert_compound(i->file, i->compound, "late", 0, NC_INT));
}

static void define_storage(struct ids *i)
{
    const size_t chunk[] = {2, 3}, large[] = {2, 5};
    const float fill = -1;
    const short fill_packed = -9;
    const unsigned level = 5;
    int storage, on, deflate, got_level;
    size_t got[2];

    DOES(def_var_deflate, nc_def_var_deflate(i->file, i->packed, 1, 1, 4));
    GIVES(def_var_deflate, NC_EINVAL, nc_def_var_deflate(i->file, i->packed, 1, 1, 10));
    DOES(def_var_fletcher32, nc_def_var_fletcher32(i->file, i->packed, 1));
    DOES(def_var_chunking, nc_def_var_chunking(i->file, i->packed, NC_CHUNKED, chunk));
    GIVES(def_var_chunking, NC_EBADCHUNK,
          nc_def_var_chunking(i->file, i->packed, NC_CHUNKED, large));
    GIVES(def_var_chunking, NC_EINVAL,
          nc_def_var_chunking(i->file, i->packed, NC_CONTIGUOUS, NULL));
    DOES(def_var_chunking, nc_def_var_chunking(i->file, i->packed, NC_CHUNKED, chunk));
    DOES(def_var_endian, nc_def_var_endian(i->file, i->big, NC_ENDIAN_BIG));
    GIVES(def_var_endian, NC_EINVAL, nc_def_var_endian(i->file, i->big, 3));
    DOES(def_var_filter, nc_def_var_filter(i->file, i->big, 32015, 1, &level));
    GIVES(def_var_filter, NC_ENOFILTER, nc_def_var_filter(i->file, i->big, 307, 1, &level));
    DOES(inq_filter_avail, nc_inq_filter_avail(i->file, 32015));
    GIVES(inq_filter_avail, NC_ENOFILTER, nc_inq_filter_avail(i->file, 307));
    DOES(def_var_fill, nc_def_var_fill(i->file, i->plain, 0, &fill));
    DOES(def_var_fill, nc_def_var_fill(i->file, i->packed, 0, &fill_packed));
    GIVES(def_var_fill, NC_EINVAL, nc_def_var_fill(i->file, i->text, 1, NULL));
    DOES(def_var_quantize, nc_def_var_quantize(i->file, i->plain, NC_QUANTIZE_BITROUND, 9));
    GIVES(def_var_quantize, NC_EINVAL, nc_def_var_quantize(i->file, i->plain, 4, 3));
    GIVES(def_var_quantize, NC_EINVAL,
          nc_def_var_quantize(i->file, i->text, NC_QUANTIZE_BITROUND, 3));
    REFUSES(var_par_access, table->var_par_access(i->file, i->plain, 1));
    DOES(set_var_chunk_cache, nc_set_var_chunk_cache(i->file, i->packed, 1 << 20, 101, 0.5f));
    GIVES(set_var_chunk_cache, NC_EINVAL,
          nc_set_var_chunk_cache(i->file, i->packed, 1 << 20, 101, 2));
    DOES(inq_var_all, nc_inq_var_chunking(i->file, i->packed, &storage, got));
    SO(inq_var_all, storage == NC_CHUNKED && got[0] == 2 && got[1] == 3);
    DOES(inq_var_all, nc_inq_var_deflate(i->file, i->packed, &on, &deflate, &got_level));
    SO(def_var_deflate, on == 1 && deflate == 1 && got_level == 4);
    DOES(inq_var_all, nc_inq_var_fletcher32(i->file, i->packed, &on));
    SO(def_var_fletcher32, on == 1);
}

static void define_attributes(struct ids *i)
{
    const int numbers[] = {1, 2, 300};
    const char *texts[] = {"a", "", "ccc"};
    const struct pair pair = {1, {2, 3}};
    signed char bytes[3];

    DOES(put_att, nc_put_att_text(i->file, NC_GLOBAL, "title", 5, "title"));
    DOES(put_att, nc_put_att_int(i->file, i->plain, "numbers", NC_SHORT, 3, numbers));
    GIVES(put_att, NC_ERANGE, nc_put_att_int(i->file, i->plain, "bytes", NC_BYTE, 3, numbers));
    GIVES(put_att, NC_ECHAR, nc_put_att_int(i->file, i->plain, "no", NC_CHAR, 3, numbers));
    GIVES(put_att, NC_EBADNAME, nc_put_att_int(i->file, i->plain, "a/b", NC_INT, 3, numbers));
    DOES(put_att, nc_put_att_string(i->file, i->plain, "texts", 3, texts));
    DOES(put_att, nc_put_att(i->file, i->c, "pair", i->compound, 1, &pair));
    DOES(put_att, nc_put_att_text(i->file, i->plain, "gone", 1, "x"));
    DOES(put_att, nc_put_att_text(i->file, i->plain, "old", 3, "old"));
    DOES(del_att, nc_del_att(i->file, i->plain, "gone"));
    GIVES(del_att, NC_ENOTATT, nc_del_att(i->file, i->plain, "gone"));
    DOES(rename_att, nc_rename_att(i->file, i->plain, "old", "new"));
    GIVES(rename_att, NC_ENAMEINUSE, nc_rename_att(i->file, i->plain, "new", "numbers"));
    GIVES(get_att, NC_ERANGE, nc_get_att_schar(i->file, i->plain, "numbers", bytes));
    GIVES(get_att, NC_ECHAR, nc_get_att_schar(i->file, NC_GLOBAL, "title", bytes));
}

static void define(struct ids *i, const char *path)
{
    int old;

    DOES(create, nc_create(path, NC_UDF0 | NC_CLOBBER, &i->file));
    SO(create, exists(path));
    DOES(set_fill, nc_set_fill(i->file, NC_FILL, &old));
    SO(set_fill, old == NC_FILL);
    DOES(def_dim, nc_def_dim(i->file, "time", NC_UNLIMITED, &i->time));
    DOES(def_dim, nc_def_dim(i->file, "x", 3, &i->x));
    GIVES(def_dim, NC_ENAMEINUSE, nc_def_dim(i->file, "x", 4, NULL));
    DOES(def_grp, nc_def_grp(i->file, "g", &i->group));
    GIVES(def_grp, NC_ENAMEINUSE, nc_def_grp(i->file, "g", NULL));
    define_types(i);
    define_variables(i);
    define_storage(i);
    define_attributes(i);
    DOES(_enddef, nc_enddef(i->file));
    GIVES(def_var_deflate, NC_ELATEDEF, nc_def_var_deflate(i->file, i->packed, 0, 1, 1));
    GIVES(def_var_chunking, NC_ELATEDEF,
          nc_def_var_chunking(i->file, i->packed, NC_CHUNKED, (size_t[]){1, 1}));
    GIVES(def_var_fill, NC_ELATEDEF, nc_def_var_fill(i->file, i->plain, 1, NULL));
    DOES(redef, nc_redef(i->file));
}

/* ------------------------------------------------------------------------- data */

static void write_data(const struct ids *i)
{
    const float plain[] = {1, 2, 3};
    const short row[] = {1, 2, 3};
    const int wide[] = {1, 70000, 3}, mapped[] = {0, 10, 20, 1, 11, 21, 2, 12, 22};
    const char *texts[] = {"one", "", "three"};
    const struct pair pairs[] = {{1, {2, 3}}, {4, {5, 6}}, {7, {8, 9}}};
    const signed char levels[] = {-3, 7, -3};
    int numbers[] = {1, 2, 3};
    nc_vlen_t ragged[3] = {{0, NULL}, {0, NULL}, {0, NULL}};

    DOES(put_vara, nc_put_var_float(i->file, i->plain, plain));
    DOES(put_vara, nc_put_vara_short(i->file, i->packed, (size_t[]){2, 0}, (size_t[]){1, 3}, row));
    GIVES(put_vara, NC_ERANGE,
          nc_put_vara_int(i->file, i->packed, (size_t[]){0, 0}, (size_t[]){1, 3}, wide));
    GIVES(put_vara, NC_EEDGE,
          nc_put_vara_short(i->file, i->packed, (size_t[]){0, 1}, (size_t[]){1, 3}, row));
    GIVES(put_vara, NC_ECHAR, nc_put_var_text(i->file, i->plain, "abc"));
    DOES(put_vars,
         nc_put_vars_int(i->file, i->big, (size_t[]){0}, (size_t[]){2}, (ptrdiff_t[]){2}, numbers));
    GIVES(
        put_vars, NC_ESTRIDE,
        nc_put_vars_int(i->file, i->big, (size_t[]){0}, (size_t[]){2}, (ptrdiff_t[]){0}, numbers));
    DOES(put_varm, nc_put_varm_int(i->file, i->mapped, (size_t[]){0, 0}, (size_t[]){3, 3}, NULL,
                                   (ptrdiff_t[]){1, 3}, mapped));
    DOES(put_vara, nc_put_var_string(i->file, i->text, texts));
    DOES(put_vara, nc_put_var_text(i->file, i->letters, "xyz"));
    DOES(put_vara, nc_put_var(i->file, i->c, pairs));
    DOES(put_vara, nc_put_var(i->file, i->e, levels));
    DOES(put_vlen_element, nc_put_vlen_element(i->file, i->vlen, &ragged[1], 3, numbers));
    DOES(put_vara, nc_put_var(i->file, i->v, ragged));
    DOES(put_vara, nc_put_var(i->file, i->o, "abcdeABCDE12345"));
    DOES(put_vara,
         nc_put_vara_double(i->group, i->records, (size_t[]){0}, (size_t[]){1}, (double[]){0.5}));
    DOES(sync, nc_sync(i->file));
    GIVES(put_att, NC_ELATEFILL,
          nc_put_att_float(i->file, i->plain, "_FillValue", NC_FLOAT, 1, plain));
}

static void read_numbers(const struct ids *i)
{
    float plain[3];
    short packed[9];
    int big[3], mapped[9], last[3];
    double records[3];

    DOES(get_vara, nc_get_var_float(i->file, i->plain, plain));
    SO(get_vara, plain[0] == 1 && plain[2] == 3);
    DOES(get_vara, nc_get_var_short(i->file, i->packed, packed));
    SO(put_vara, packed[0] == 1 && packed[2] == 3 && packed[6] == 1 && packed[8] == 3);
    SO(def_var_fill, packed[3] == -9 && packed[5] == -9);
    GIVES(get_vara, NC_EINVALCOORDS,
          nc_get_vara_short(i->file, i->packed, (size_t[]){4, 0}, (size_t[]){1, 1}, packed));
    GIVES(get_vara, NC_EEDGE,
          nc_get_vara_short(i->file, i->packed, (size_t[]){2, 0}, (size_t[]){2, 1}, packed));
    DOES(get_vars,
         nc_get_vars_int(i->file, i->big, (size_t[]){0}, (size_t[]){2}, (ptrdiff_t[]){2}, big));
    SO(put_vars, big[0] == 1 && big[1] == 2);
    DOES(get_vara, nc_get_var1_int(i->file, i->big, (size_t[]){1}, big));
    SO(put_vars, big[0] == NC_FILL_INT);
    DOES(get_varm, nc_get_varm_int(i->file, i->mapped, (size_t[]){0, 0}, (size_t[]){3, 3}, NULL,
                                   (ptrdiff_t[]){1, 3}, mapped));
    SO(get_varm, mapped[1] == 10 && mapped[3] == 1 && mapped[8] == 22);
    DOES(get_vara, nc_get_vara_int(i->file, i->mapped, (size_t[]){2, 0}, (size_t[]){1, 3}, last));
    SO(put_varm, last[0] == 20 && last[1] == 21 && last[2] == 22);
    DOES(get_vara, nc_get_var_double(i->group, i->records, records));
    SO(get_vara, records[0] == 0.5 && records[1] == NC_FILL_DOUBLE && records[2] == NC_FILL_DOUBLE);
}

static void read_others(const struct ids *i)
{
    char *texts[3], letters[3], raw[15], *attribute[3];
    struct pair pairs[3];
    signed char levels[3];
    nc_vlen_t ragged[3];
    size_t len;
    int numbers[3];

    DOES(get_vara, nc_get_var_string(i->file, i->text, texts));
    SO(get_vara, !strcmp(texts[0], "one") && !*texts[1] && !strcmp(texts[2], "three"));
    nc_free_string(3, texts);
    DOES(get_vara, nc_get_var_text(i->file, i->letters, letters));
    SO(get_vara, memcmp(letters, "xyz", 3) == 0);
    DOES(get_vara, nc_get_var(i->file, i->c, pairs));
    SO(get_vara, pairs[2].a == 7 && pairs[2].b[0] == 8 && pairs[2].b[1] == 9);
    DOES(get_vara, nc_get_var(i->file, i->e, levels));
    SO(get_vara, levels[0] == -3 && levels[1] == 7);
    DOES(get_vara, nc_get_var(i->file, i->v, ragged));
    DOES(get_vlen_element, nc_get_vlen_element(i->file, i->vlen, &ragged[1], &len, numbers));
    SO(get_vlen_element, len == 3 && numbers[2] == 3 && ragged[0].len == 0);
    nc_free_vlens(3, ragged);
    DOES(get_vara, nc_get_var(i->file, i->o, raw));
    SO(get_vara, memcmp(raw, "abcdeABCDE12345", 15) == 0);
    DOES(get_att, nc_get_att_string(i->file, i->plain, "texts", attribute));
    SO(get_att, !strcmp(attribute[0], "a") && !*attribute[1] && !strcmp(attribute[2], "ccc"));
    nc_free_string(3, attribute);
    DOES(get_att, nc_get_att(i->file, i->c, "pair", pairs));
    SO(get_att, pairs[0].a == 1 && pairs[0].b[1] == 3);
    DOES(get_att, nc_get_att_int(i->file, i->plain, "numbers", numbers));
    SO(get_att, numbers[2] == 300);
}

/* -------------------------------------------------------------------- questions */

static void ask_file(const struct ids *i)
{
    int n, a, b, ids[9], format, mode;
    char name[NC_MAX_NAME + 1];
    size_t len;

    DOES(inq_format, nc_inq_format(i->file, &format));
    SO(inq_format, format == NC_FORMAT_NETCDF4);
    DOES(inq_format_extended, nc_inq_format_extended(i->file, &format, &mode));
    SO(inq_format_extended, format == NC_FORMATX_UDF0);
    DOES(inq, nc_inq(i->file, &n, &a, &b, &mode));
    SO(inq, n == 2 && a == 10 && b == 1 && mode == i->time);
    DOES(inq_dimid, nc_inq_dimid(i->group, "x", &n));
    SO(inq_dimid, n == i->x);
    GIVES(inq_dimid, NC_EBADDIM, nc_inq_dimid(i->file, "no", &n));
    DOES(inq_dim, nc_inq_dim(i->file, i->time, name, &len));
    SO(inq_dim, !strcmp(name, "time") && len == 3);
    GIVES(inq_dim, NC_EBADDIM, nc_inq_dim(i->file, 99, name, &len));
    DOES(inq_unlimdim, nc_inq_unlimdim(i->group, &n));
    SO(inq_unlimdim, n == i->time);
    DOES(inq_unlimdims, nc_inq_unlimdims(i->file, &n, ids));
    SO(inq_unlimdims, n == 1 && ids[0] == i->time);
    DOES(inq_dimids, nc_inq_dimids(i->group, &n, ids, 0));
    SO(inq_dimids, n == 0);
    DOES(inq_dimids, nc_inq_dimids(i->group, &n, ids, 1));
    SO(inq_dimids, n == 2 && ids[1] == i->x);
    DOES(inq_grps, nc_inq_grps(i->file, &n, ids));
    SO(inq_grps, n == 1 && ids[0] == i->group);
    DOES(inq_ncid, nc_inq_ncid(i->file, "g", &n));
    SO(inq_ncid, n == i->group);
    GIVES(inq_ncid, NC_ENOGRP, nc_inq_ncid(i->file, "no", &n));
    DOES(inq_grpname, nc_inq_grpname(i->group, name));
    SO(inq_grpname, !strcmp(name, "g"));
    DOES(inq_grpname_full, nc_inq_grpname_full(i->group, &len, name));
    SO(inq_grpname_full, len == 2 && !strcmp(name, "/g"));
    DOES(inq_grp_parent, nc_inq_grp_parent(i->group, &n));
    SO(inq_grp_parent, n == i->file);
    GIVES(inq_grp_parent, NC_ENOGRP, nc_inq_grp_parent(i->file, &n));
    DOES(inq_grp_full_ncid, nc_inq_grp_full_ncid(i->file, "/g", &n));
    SO(inq_grp_full_ncid, n == i->group);
    DOES(inq_varids, nc_inq_varids(i->group, &n, ids));
    SO(inq_varids, n == 1 && ids[0] == 0);
    DOES(show_metadata, nc_show_metadata(i->file));
}

static void ask_types(const struct ids *i)
{
    int n, ids[9], cls, equal, dims[2], rank;
    nc_type type, base;
    char name[NC_MAX_NAME + 1];
    size_t size, fields, offset;
    signed char value;

    DOES(inq_typeids, nc_inq_typeids(i->file, &n, ids));
    SO(inq_typeids, n == 4 && ids[0] == i->compound && ids[3] == i->opaque);
    DOES(inq_type, nc_inq_type(i->file, i->compound, name, &size));
    SO(inq_type, !strcmp(name, "pair") && size == sizeof(struct pair));
    DOES(inq_type, table->inq_type(i->file, NC_UINT64, name, &size));
    SO(inq_type, !strcmp(name, "uint64") && size == 8);
    DOES(inq_typeid, nc_inq_typeid(i->group, "ragged", &type));
    SO(inq_typeid, type == i->vlen);
    GIVES(inq_typeid, NC_EBADTYPE, nc_inq_typeid(i->file, "no", &type));
    DOES(inq_type_equal, nc_inq_type_equal(i->file, i->vlen, i->file, i->vlen, &equal));
    SO(inq_type_equal, equal == 1);
    DOES(inq_type_equal, nc_inq_type_equal(i->file, i->vlen, i->file, i->opaque, &equal));
    SO(inq_type_equal, equal == 0);
    DOES(inq_user_type, nc_inq_user_type(i->file, i->vlen, name, &size, &base, &fields, &cls));
    SO(inq_user_type, cls == NC_VLEN && base == NC_INT && size == sizeof(nc_vlen_t));
    DOES(inq_compound_field,
         nc_inq_compound_field(i->file, i->compound, 1, name, &offset, &type, &rank, dims));
    SO(inq_compound_field, !strcmp(name, "b") && offset == offsetof(struct pair, b) &&
                               type == NC_DOUBLE && rank == 1 && dims[0] == 2);
    GIVES(inq_compound_field, NC_EBADFIELD,
          nc_inq_compound_field(i->file, i->compound, 2, name, NULL, NULL, NULL, NULL));
    DOES(inq_compound_fieldindex, nc_inq_compound_fieldindex(i->file, i->compound, "b", &n));
    SO(inq_compound_fieldindex, n == 1);
    DOES(inq_enum_member, nc_inq_enum_member(i->file, i->enumeration, 1, name, &value));
    SO(inq_enum_member, !strcmp(name, "HIGH") && value == 7);
    DOES(inq_enum_ident, nc_inq_enum_ident(i->file, i->enumeration, -3, name));
    SO(inq_enum_ident, !strcmp(name, "LOW"));
    GIVES(inq_enum_ident, NC_EINVAL, nc_inq_enum_ident(i->file, i->enumeration, 1, name));
}

static void ask_variables(const struct ids *i)
{
    int n, endian, mode, none, ids[2];
    char name[NC_MAX_NAME + 1];
    unsigned filters[4], params[8];
    size_t len, slots_of, nfilters;
    nc_type type;
    float fill, preemption;

    DOES(inq_varid, nc_inq_varid(i->file, "big", &n));
    SO(inq_varid, n == i->big);
    GIVES(inq_varid, NC_ENOTVAR, nc_inq_varid(i->file, "no", &n));
    DOES(inq_var_all, nc_inq_var(i->file, i->packed, name, &type, &n, ids, NULL));
    SO(inq_var_all, !strcmp(name, "packed") && type == NC_SHORT && n == 2 && ids[0] == i->time);
    GIVES(inq_var_all, NC_ENOTVAR, nc_inq_var(i->file, 99, name, NULL, NULL, NULL, NULL));
    DOES(inq_var_all, nc_inq_var_fill(i->file, i->plain, &none, &fill));
    SO(def_var_fill, none == 0 && fill == -1);
    DOES(inq_var_all, nc_inq_var_endian(i->file, i->big, &endian));
    SO(def_var_endian, endian == NC_ENDIAN_BIG);
    DOES(inq_var_filter_ids, nc_inq_var_filter_ids(i->file, i->big, &nfilters, filters));
    SO(inq_var_filter_ids, nfilters == 1 && filters[0] == 32015);
    DOES(inq_var_filter_info, nc_inq_var_filter_info(i->file, i->big, 32015, &len, params));
    SO(def_var_filter, len == 1 && params[0] == 5);
    GIVES(inq_var_filter_info, NC_ENOFILTER,
          nc_inq_var_filter_info(i->file, i->big, 1, NULL, NULL));
    DOES(inq_var_quantize, nc_inq_var_quantize(i->file, i->plain, &mode, &n));
    SO(def_var_quantize, mode == NC_QUANTIZE_BITROUND && n == 9);
    DOES(get_var_chunk_cache,
         nc_get_var_chunk_cache(i->file, i->packed, &len, &slots_of, &preemption));
    DOES(inq_att, nc_inq_att(i->file, i->plain, "numbers", &type, &len));
    SO(inq_att, type == NC_SHORT && len == 3);
    GIVES(inq_att, NC_ENOTATT, nc_inq_att(i->file, i->plain, "no", &type, &len));
    DOES(inq_attname, nc_inq_attname(i->file, i->plain, 1, name));
    SO(inq_attname, !strcmp(name, "numbers"));
    DOES(inq_attid, nc_inq_attid(i->file, i->plain, "new", &n));
    SO(rename_att, n == 4);
}

/* ------------------------------------------------------------ renames, other ends */

static void rename_all(const struct ids *i)
{
    int n;
    char name[NC_MAX_NAME + 1];

    DOES(rename_dim, nc_rename_dim(i->file, i->time, "t"));
    GIVES(rename_dim, NC_ENAMEINUSE, nc_rename_dim(i->file, i->time, "x"));
    DOES(rename_var, nc_rename_var(i->file, i->plain, "simple"));
    GIVES(rename_var, NC_ENAMEINUSE, nc_rename_var(i->file, i->plain, "big"));
    DOES(rename_grp, nc_rename_grp(i->group, "h"));
    DOES(rename_att, nc_rename_att(i->file, i->plain, "numbers", "digits"));
    DOES(inq_varid, nc_inq_varid(i->file, "simple", &n));
    SO(rename_var, n == i->plain);
    DOES(inq_grpname_full, nc_inq_grpname_full(i->group, NULL, name));
    SO(rename_grp, !strcmp(name, "/h"));
}

/* In the file that was closed: numbers, names and values are what they were. */
static void open_again(struct ids *i, const char *path)
{
    char name[NC_MAX_NAME + 1];
    int n;

    DOES(open, nc_open(path, NC_NOWRITE, &i->file));
    i->group = -1;
    DOES(inq_ncid, nc_inq_ncid(i->file, "h", &i->group));
    DOES(inq_dim, nc_inq_dimname(i->file, i->time, name));
    SO(rename_dim, !strcmp(name, "t"));
    DOES(inq_varid, nc_inq_varid(i->file, "simple", &n));
    SO(rename_var, n == i->plain);
    GIVES(put_vara, NC_EPERM, nc_put_var_float(i->file, i->plain, (float[]){1, 2, 3}));
    GIVES(def_dim, NC_EPERM, nc_def_dim(i->file, "no", 1, NULL));
    GIVES(redef, NC_EPERM, nc_redef(i->file));
    DOES(sync, nc_sync(i->file));
    read_numbers(i);
    ask_types(i);
    DOES(close, nc_close(i->file));
    GIVES(close, NC_EBADID, nc_close(i->file));
}

static void open_otherwise(const char *path)
{
    int id, n;
    char *bytes;
    FILE *f = fopen(path, "rb");
    struct stat st;
    NC_memio memory;

    if (!f || stat(path, &st) != 0 || !(bytes = malloc((size_t)st.st_size)) ||
        fread(bytes, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
        abort();
    fclose(f);
    DOES(open, nc_open_mem("memory", 0, (size_t)st.st_size, bytes, &id));
    DOES(inq, nc_inq_nvars(id, &n));
    SO(open, n == 10);
    DOES(close, nc_close(id));
    memory = (NC_memio){(size_t)st.st_size, bytes, NC_MEMIO_LOCKED};
    DOES(open, nc_open_memio("memory", 0, &memory, &id));
    memory = (NC_memio){0};
    DOES(close, nc_close_memio(id, &memory));
    SO(close, memory.memory == bytes && memory.size == (size_t)st.st_size);
    memory.flags = NC_MEMIO_LOCKED;
    GIVES(open, NC_EINMEMORY, nc_open_memio("memory", NC_WRITE, &memory, &id));
    GIVES(open, NC_EDISKLESS, nc_open(path, NC_WRITE | NC_DISKLESS, &id));
    free(bytes);
}

static void create_otherwise(const char *path)
{
    int id, format;

    GIVES(create, NC_EEXIST, nc_create(path, NC_UDF0 | NC_NOCLOBBER, &id));
    DOES(create, nc_create(path, NC_UDF0 | NC_CLASSIC_MODEL, &id));
    DOES(inq_format, nc_inq_format(id, &format));
    SO(create, format == NC_FORMAT_NETCDF4_CLASSIC);
    GIVES(def_grp, NC_ESTRICTNC3, nc_def_grp(id, "g", NULL));
    DOES(def_dim, nc_def_dim(id, "t", NC_UNLIMITED, NULL));
    GIVES(def_dim, NC_EUNLIMIT, nc_def_dim(id, "u", NC_UNLIMITED, NULL));
    GIVES(redef, NC_EINDEFINE, nc_redef(id));
    DOES(_enddef, nc_enddef(id));
    GIVES(_enddef, NC_ENOTINDEFINE, nc_enddef(id));
    GIVES(def_dim, NC_ENOTINDEFINE, nc_def_dim(id, "v", 3, NULL));
    DOES(redef, nc_redef(id));
    DOES(def_dim, nc_def_dim(id, "v", 3, NULL));
    DOES(abort, nc_abort(id));
    DOES(open, nc_open(path, NC_WRITE, &id));
    GIVES(inq_dimid, NC_EBADDIM, nc_inq_dimid(id, "v", NULL));
    DOES(inq_dimid, nc_inq_dimid(id, "t", NULL));
    DOES(close, nc_close(id));
    remove(path);
    DOES(create, nc_create(path, NC_UDF0, &id));
    DOES(abort, nc_abort(id));
    SO(abort, !exists(path));
    DOES(create, nc_create(path, NC_UDF0 | NC_DISKLESS, &id));
    DOES(close, nc_close(id));
    SO(create, !exists(path));
    GIVES(create, NC_EINMEMORY, nc_create_mem(path, NC_UDF0, 0, &id));
}

/* The library of the build that this program is of. */
static void find_library(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    int up;

    path[n > 0 ? n : 0] = 0;
    for (up = 0; up < 3 && strrchr(path, '/'); up++)
        *strrchr(path, '/') = 0;
    strncat(path, "/libdatarep-netcdf.so", size - strlen(path) - 1);
}

int main(int argc, char **argv)
{
    char library[4096], path[4096], magic[NC_MAX_MAGIC_NUMBER_LEN + 1];
    char folder[] = "/tmp/slots-XXXXXX";
    void *handle;
    int (*enter)(void);
    struct ids ids;
    int i;

    find_library(library, sizeof library);
    handle = dlopen(argc > 1 ? argv[1] : library, RTLD_NOW);
    if (!handle || !mkdtemp(folder)) {
        printf("Bail out! %s\n", handle ? "no folder" : dlerror());
        return 1;
    }
    *(void **)&enter = dlsym(handle, "datarep_netcdf_init");
    if (!enter || enter() != 0 || nc_inq_user_format(NC_UDF0, &table, magic) != 0 || !table) {
        printf("Bail out! the format is not registered\n");
        return 1;
    }
    snprintf(path, sizeof path, "%s/slots.drep", folder);
    define(&ids, path);
    write_data(&ids);
    read_numbers(&ids);
    read_others(&ids);
    ask_file(&ids);
    ask_types(&ids);
    ask_variables(&ids);
    rename_all(&ids);
    DOES(close, nc_close(ids.file));
    open_again(&ids, path);
    open_otherwise(path);
    create_otherwise(path);
    remove(path);
    rmdir(folder);
    for (i = 0; i < SLOTS; i++)
        if (!tried[i]) {
            failed++;
            printf("not ok %d - %s is tried\n", ++cases, slots[i].name);
        }
    printf("1..%d\n", cases);
    return failed != 0;
}
