/* enter.c - how a program comes to the format.
 *
 * netCDF-C from 4.10 on loads this library by two lines of ~/.ncrc and calls datarep_netcdf_init().
 * Earlier versions get it by LD_PRELOAD.  Then programs enter by nc_open() and nc_create() of this
 * library, which register the format in the libnetcdf that the program has and go on there: a
 * libnetcdf may be loaded late, as by Python and R, and there may be several.  A process without
 * netCDF never comes here.
 *
 * No program has an option for a format of others, so nc_create() takes it from the name: `x.drep`,
 * and the temporary files that NCO makes of such a name. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/enter.h"
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define API __attribute__((visibility("default")))
#define LIBRARIES_MAX 8
#define MAGIC "\211DRP\r\n\032\n"
/* The third slot, as netCDF-C 4.10.0 has it; earlier ones refuse it. */
#define UDF2_MODE 0x10000
#define UDF2_MODEL 11

typedef int define_fn(int mode, NC_Dispatch *table, char *magic);
typedef int normalize_fn(const unsigned char *name, unsigned char **normal);
typedef int inquire_fn(int mode, NC_Dispatch **table, char *magic);

/* A libnetcdf of the process that was seen. */
static struct nc_library {
    void *define; /* its nc_def_user_format() */
    int mode;     /* NC_UDF0, NC_UDF1 or UDF2_MODE; 0: it does not take the format */
    NC_Dispatch *table;
} libraries[LIBRARIES_MAX];
static int nlibraries;

/* ---------------------------------------------------------------- registration */

/* netCDF-C 4.10 takes what the function of .ncrc returns for the table, or, built without
 * HAVE_NETCDF_UDF_SELF_REGISTRATION, for an int that is 0 if all is well; it does not say which.  A
 * table whose address is a multiple of 4 GiB is both.  Without such an address, as on machines of
 * 32 bits, the table is anywhere.  NULL: no memory. */
static NC_Dispatch *place_table(void)
{
#if UINTPTR_MAX > 0xffffffff && defined MAP_FIXED_NOREPLACE
    /* Some that sanitizers leave, and some where addresses have 39 bits. */
    static const uintptr_t places[] = {0x2000, 0x400, 0x20, 0x10, 8, 4, 2};
    uintptr_t i, at;
    void *got;

    for (i = 0; i < sizeof places / sizeof *places; i++)
        for (at = places[i]; at < places[i] + LIBRARIES_MAX; at++) {
            got = mmap((void *)(at << 32), sizeof(NC_Dispatch), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (got == (void *)(at << 32))
                return got;
            if (got != MAP_FAILED)
                munmap(got, sizeof(NC_Dispatch)); /* an old kernel chose another place */
        }
#endif
    return malloc(sizeof(NC_Dispatch));
}

static int define_format(struct nc_library *l, int mode, int model)
{
    int version, err = NC_EINVAL;

    for (version = NC_DISPATCH_VERSION; err && version >= 3; version--) {
        slots_fill(l->table, model, version);
        err = AS_FUNCTION(define_fn, l->define)(mode, l->table, (char *)MAGIC);
    }
    return err;
}

/* The first of the slots for formats of others that is free. */
static void register_format(struct nc_library *l, void *inquire)
{
    static const int modes[] = {NC_UDF0, NC_UDF1, UDF2_MODE};
    static const int models[] = {NC_FORMATX_UDF0, NC_FORMATX_UDF1, UDF2_MODEL};
    char magic[NC_MAX_MAGIC_NUMBER_LEN + 1] = "";
    NC_Dispatch *taken = NULL;
    size_t i;

    l->table = place_table();
    for (i = 0; l->table && i < sizeof modes / sizeof *modes; i++) {
        /* An error: this library has fewer slots. */
        if (inquire && (AS_FUNCTION(inquire_fn, inquire)(modes[i], &taken, magic) || taken))
            continue;
        if (define_format(l, modes[i], models[i]) == 0)
            l->mode = modes[i];
        else
            fprintf(stderr,
                    "datarep: this libnetcdf wants another table of functions than version "
                    "%d, 4 or 3: Datarep files are not opened\n",
                    NC_DISPATCH_VERSION);
        return;
    }
    fprintf(stderr, "datarep: all user-defined formats of this libnetcdf are taken: Datarep files "
                    "are not opened\n");
}

/* Registers in the object at this address, if it is a libnetcdf that was not seen. */
static void enter_object(const char *name, uintptr_t base)
{
    void *handle, *define, *inquire;
    Dl_info where;
    int i;

    handle = nlibraries < LIBRARIES_MAX ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!handle)
        return;
    define = dlsym(handle, "nc_def_user_format");
    if (!door_normalize)
        door_normalize = AS_FUNCTION(normalize_fn, dlsym(handle, "nc_utf8_normalize"));
    inquire = dlsym(handle, "nc_inq_user_format");
    dlclose(handle);
    /* Libraries that use libnetcdf find its symbol, too. */
    if (!define || !dladdr(define, &where) || (uintptr_t)where.dli_fbase != base)
        return;
    for (i = 0; i < nlibraries; i++)
        if (libraries[i].define == define)
            return;
    libraries[nlibraries].define = define;
    register_format(&libraries[nlibraries++], inquire);
}

static int see_object(struct dl_phdr_info *object, size_t size, void *ctx)
{
    (void)size, (void)ctx;
    if (object->dlpi_name && strstr(object->dlpi_name, "netcdf"))
        enter_object(object->dlpi_name, object->dlpi_addr);
    return 0;
}

/* The library in the object that has the function, or NULL. */
static struct nc_library *library_with(void *function)
{
    Dl_info of, at;
    int i;

    for (i = 0; i < nlibraries; i++)
        if (dladdr(function, &of) && dladdr(libraries[i].define, &at) &&
            at.dli_fbase == of.dli_fbase)
            return &libraries[i];
    return NULL;
}

/* The library that called us, else the first that takes the format. */
static struct nc_library *library_of(void *caller)
{
    struct nc_library *library = library_with(caller);
    int i;

    for (i = 0; i < nlibraries && !(library && library->mode); i++)
        library = &libraries[i];
    return library && library->mode ? library : NULL;
}

API NC_Dispatch *datarep_netcdf_init(void)
{
    static NC_Dispatch none = {.dispatch_version = -1};
    struct nc_library *library;

    dl_iterate_phdr(see_object, NULL);
    library = library_of(__builtin_return_address(0));
    if (!library)
        return &none;
    return ((uintptr_t)library->table & 0xffffffff) == 0 ? library->table : NULL;
}

/* Not for programs that run with other rights than their caller's. */
__attribute__((constructor)) static void enter_process(void)
{
    if (!getauxval(AT_SECURE))
        datarep_netcdf_init();
}

/* ------------------------------------------------------------- in place of netCDF's */

void *door_next(const char *name, void *own, void *caller)
{
    void *handle = NULL, *next = dlsym(RTLD_NEXT, name);
    Dl_info where;

    if (!next && dladdr(caller, &where) && where.dli_fname)
        handle = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) {
        next = dlsym(handle, name);
        dlclose(handle);
    }
    return next == own ? NULL : next;
}

/* The object that has the function may have netCDF in it under another name. */
static void enter_owner(void *function)
{
    Dl_info of;

    datarep_netcdf_init();
    if (function && dladdr(function, &of) && of.dli_fname)
        enter_object(of.dli_fname, (uintptr_t)of.dli_fbase);
}

/* "x.drep", and "x.drep.pid123.nco.tmp". */
static int is_our_name(const char *path)
{
    size_t len = strlen(path);
    const char *at = strstr(path, ".drep.pid");

    if (strstr(path, "#mode="))
        return 0;
    if (len > 5 && strcmp(path + len - 5, ".drep") == 0)
        return 1;
    return at && !strchr(at, '/') && at[9] >= '0' && at[9] <= '9' && len > 4 &&
           strcmp(path + len - 4, ".tmp") == 0;
}

static int mode_for(const char *path, int mode, void *function)
{
    const struct nc_library *library = path && is_our_name(path) ? library_with(function) : NULL;
    int ours = library ? library->mode : 0;

    /* netCDF refuses two formats at once. */
    if (!ours || (((mode & NC_NETCDF4) != 0) + ((mode & NC_64BIT_OFFSET) != 0) +
                  ((mode & NC_64BIT_DATA) != 0)) > 1)
        return mode;
    return (mode & ~(NC_64BIT_OFFSET | NC_64BIT_DATA | NC_NETCDF4)) | ours;
}

typedef int nc_open_fn(const char *path, int mode, int *id);
typedef int nc__open_fn(const char *path, int mode, size_t *hint, int *id);
typedef int nc_create_fn(const char *path, int mode, int *id);
typedef int nc__create_fn(const char *path, int mode, size_t size, size_t *hint, int *id);

API int nc_open(const char *path, int mode, int *id)
{
    nc_open_fn *next = DOOR_NEXT(nc_open_fn, nc_open);

    enter_owner((void *)next);
    return next ? next(path, mode, id) : NC_ENOTBUILT;
}

API int nc__open(const char *path, int mode, size_t *hint, int *id)
{
    nc__open_fn *next = DOOR_NEXT(nc__open_fn, nc__open);

    enter_owner((void *)next);
    return next ? next(path, mode, hint, id) : NC_ENOTBUILT;
}

API int nc_create(const char *path, int mode, int *id)
{
    nc_create_fn *next = DOOR_NEXT(nc_create_fn, nc_create);

    enter_owner((void *)next);
    return next ? next(path, mode_for(path, mode, (void *)next), id) : NC_ENOTBUILT;
}

API int nc__create(const char *path, int mode, size_t size, size_t *hint, int *id)
{
    nc__create_fn *next = DOOR_NEXT(nc__create_fn, nc__create);

    enter_owner((void *)next);
    return next ? next(path, mode_for(path, mode, (void *)next), size, hint, id) : NC_ENOTBUILT;
}

/* --------------------------------------------------- elements of user-defined types
 *
 * nc_reclaim_data() and nc_copy_data() of netCDF-C 4.9.0 take every file for one of HDF5 if the
 * type is user-defined, and crash. */

struct door *door_of_library(int ncid, void *next)
{
    struct door *door = door_open_files[(unsigned)ncid >> 16];
    const struct nc_library *library = door && next ? library_with(next) : NULL;

    return library && door->table == library->table ? door : NULL;
}

static struct door *find_ours(int ncid, nc_type type, void *next)
{
    return type >= NC_FIRSTUSERTYPEID ? door_of_library(ncid, next) : NULL;
}

typedef int nc_reclaim_data_fn(int ncid, nc_type type, void *memory, size_t n);
typedef int nc_copy_data_fn(int ncid, nc_type type, const void *memory, size_t n, void *copy);
typedef int nc_copy_data_all_fn(int ncid, nc_type type, const void *memory, size_t n, void **copy);
API nc_reclaim_data_fn nc_reclaim_data, nc_reclaim_data_all;
API nc_copy_data_fn nc_copy_data;
API nc_copy_data_all_fn nc_copy_data_all;

static int reclaim_elements(struct door *door, nc_type type, void *memory, size_t n)
{
    const drep_type *of = type_memory(door, type);

    if (!of)
        return NC_EBADTYPE;
    if (memory && drep_type_variable(of))
        drep_vlen_free(of, (int64_t)n, memory);
    return 0;
}

int nc_reclaim_data(int ncid, nc_type type, void *memory, size_t n)
{
    nc_reclaim_data_fn *next = DOOR_NEXT(nc_reclaim_data_fn, nc_reclaim_data);
    struct door *door = find_ours(ncid, type, (void *)next);

    if (door)
        return reclaim_elements(door, type, memory, n);
    return next ? next(ncid, type, memory, n) : NC_ENOTBUILT;
}

int nc_reclaim_data_all(int ncid, nc_type type, void *memory, size_t n)
{
    nc_reclaim_data_fn *next = DOOR_NEXT(nc_reclaim_data_fn, nc_reclaim_data_all);
    struct door *door = find_ours(ncid, type, (void *)next);
    int err;

    if (!door)
        return next ? next(ncid, type, memory, n) : NC_ENOTBUILT;
    err = reclaim_elements(door, type, memory, n);
    if (!err)
        free(memory);
    return err;
}

int nc_copy_data(int ncid, nc_type type, const void *memory, size_t n, void *copy)
{
    nc_copy_data_fn *next = DOOR_NEXT(nc_copy_data_fn, nc_copy_data);
    struct door *door = find_ours(ncid, type, (void *)next);

    if (door)
        return type_copy(door, type, n, copy, memory);
    return next ? next(ncid, type, memory, n, copy) : NC_ENOTBUILT;
}

int nc_copy_data_all(int ncid, nc_type type, const void *memory, size_t n, void **copy)
{
    nc_copy_data_all_fn *next = DOOR_NEXT(nc_copy_data_all_fn, nc_copy_data_all);
    struct door *door = find_ours(ncid, type, (void *)next);
    void *made;
    int err;

    if (!door)
        return next ? next(ncid, type, memory, n, copy) : NC_ENOTBUILT;
    made = calloc(n ? n : 1, type_bytes(door, type) ? type_bytes(door, type) : 1);
    err = made ? type_copy(door, type, n, made, memory) : NC_ENOMEM;
    if (err || !copy)
        free(made);
    else
        *copy = made;
    return err;
}
