/* import.c - `datarep import`: a file of another format becomes a Datarep file.
 *
 * One row a format: how it is recognised, and who reads it. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/choices.h"
#include "tools/cmd/command.h"
#include "tools/cmd/exchange.h"
#include "tools/cmd/hdf5.h"
#include "tools/flat/flat.h"
#include "tools/flat/format.h"
#include "tools/flat/recipe.h"
#include "tools/host/exit.h"
#include "tools/host/family.h"
#include "tools/host/foreign.h"
#include "tools/host/message.h"
#include <datarep.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    OPTION_DATAREP = EXCHANGE_OWN,
    OPTION_FORMAT,
    OPTION_FILTERS,
    OPTION_EXACT,
    OPTION_OUTSIDE,
    OPTION_PARTIAL,
    OPTION_PLAIN,
    OPTION_NO_DECODE,
    OPTION_VIRTUAL
};

/* ------------------------------------------------------------------ the formats */

static const struct format {
    const char *name;
    int flat; /* enum flat_format; FLAT_NONE: HDF5, or what the module is for */
    const char *module;
} formats[] = {{"hdf5", FLAT_NONE, NULL}, {"netcdf", FLAT_NONE, "netcdf"}, {"npy", FLAT_NPY, NULL},
               {"npz", FLAT_NPZ, NULL},   {"csv", FLAT_CSV, NULL},         {"raw", FLAT_RAW, NULL}};

static const struct format *import_format_named(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

/* A file, or the first of a family of HDF5. */
static FILE *open_source(const char *path)
{
    FILE *f = fopen(strcmp(path, "-") == 0 ? "/proc/self/fd/0" : path, "rbe");
    char first[PATH_MAX];

    if (!f && errno == ENOENT && family_member(path, 0, first, sizeof first)) {
        f = fopen(first, "rbe");
        errno = ENOENT;
    }
    return f;
}

/* The contents of a file count more than its name. */
static int look(const char *path, struct exchange *x, bool *module, int *flat)
{
    FILE *f = open_source(path);
    char front[16];
    struct stat st;
    size_t n;

    if (!f || fstat(fileno(f), &st) != 0 || S_ISDIR(st.st_mode)) {
        tool_say(path, NULL, "%s", f ? "is a directory" : strerror(errno));
        if (f)
            fclose(f);
        return TOOL_IO;
    }
    /* A pipe is not to be read twice. */
    if (S_ISREG(st.st_mode)) {
        *module = foreign_is_hdf5(f);
        rewind(f);
        n = fread(front, 1, sizeof front, f);
        *flat = flat_by_front(front, n);
        if (foreign_is_netcdf(front, n)) {
            *module = true;
            x->module = "netcdf";
        }
    }
    fclose(f);
    return 0;
}

static bool opens_as_datarep(const char *path)
{
    drep_file *file;

    if (drep_open(path, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &file))
        return false;
    drep_close(file);
    return true;
}

/* Says what a file is that no import knows; an exit code. */
static int refuse_file(const char *path)
{
    FILE *f = strcmp(path, "-") == 0 ? NULL : fopen(path, "rbe");
    const char *name = f ? foreign_name(f) : NULL;
    char part[PATH_MAX + 200];

    if (f)
        fclose(f);
    if (f && opens_as_datarep(path)) {
        tool_say(path, NULL, "this is a Datarep file already; datarep convert copies it");
        return TOOL_USAGE;
    }
    if (family_part(path, part, sizeof part)) {
        tool_say(path, NULL, "this is %s", part);
        return TOOL_CORRUPT;
    }
    if (name) {
        tool_say(path, NULL, "this is %s, which cannot be imported", name);
        return TOOL_CORRUPT;
    }
    tool_say(path, NULL,
             "nothing tells what this is; --format=hdf5, --format=csv, --type=DOUBLE, ... does");
    return TOOL_USAGE;
}

/* The format of the source; false after saying that nothing tells it. */
static int find_format(struct flat *f, struct exchange *x, bool *module)
{
    const char *path = x->src;
    int status = look(path, x, module, &f->format);

    if (status || *module || f->format)
        return status;
    f->format = flat_by_name(path);
    if (f->type && f->format != FLAT_CSV)
        f->format = FLAT_RAW;
    return f->format ? 0 : refuse_file(path);
}

/* ------------------------------------------------------------- the command line */

static int import_option(struct exchange *x, struct flat *f, const struct format **format,
                         int option)
{
    int status = 0;

    if (exchange_option(x, option, &status) || flat_option(f, option, &status))
        return status;
    if (option == OPTION_DATAREP)
        x->datarep = optarg;
    if (option == OPTION_FILTERS)
        status = choice_filters(import_command.name, optarg, x->filters, &x->nfilters);
    if (option == OPTION_FORMAT && !(*format = import_format_named(optarg)))
        status = tool_usage(import_command.name,
                            "--format is hdf5, netcdf, npy, npz, csv or raw, not '%s'", optarg);
    x->exact |= option == OPTION_EXACT;
    x->outside |= option == OPTION_OUTSIDE;
    x->partial |= option == OPTION_PARTIAL;
    x->plain |= option == OPTION_PLAIN;
    x->no_decode |= option == OPTION_NO_DECODE;
    x->pinned |= option == OPTION_VIRTUAL;
    return status;
}

static int import_run(int argc, char **argv)
{
    drep_filter filters[DREP_MAX_FILTERS];
    struct exchange x = {
        .command = "import", .range = DREP_RANGE_STRICT, .filters = filters, .nfilters = -1};
    struct flat f = {.x = &x};
    struct options o = {.command = &import_command, .argc = argc, .argv = argv};
    const struct format *format = NULL;
    char own[DREP_MAX_DATAREP_STRING] = "internal";
    int option, status = 0;
    bool module = false;
    char **files;

    while ((option = option_next(&o)) > 0 && !status)
        status = import_option(&x, &f, &format, option);
    if (option < 0 || status)
        return status ? status : o.status;
    files = option_operands(&o, 2, 2, "which files?  SOURCE TARGET");
    if (!files)
        return o.status;
    x.src = files[0];
    x.dst = files[1];
    if (format) {
        module = format->flat == FLAT_NONE;
        x.module = format->module;
        f.format = format->flat;
    } else {
        status = find_format(&f, &x, &module);
    }
    if (!status && module && f.update)
        status = tool_usage(import_command.name, "-u and -a take npy, npz, csv or raw; HDF5 and "
                                                 "netCDF make a new file");
    if (!status)
        status =
            exchange_names(&x, false, f.update, module ? NULL : "-u updates it, -a appends to it");
    if (!status && !f.update)
        status = flat_permit_name(import_command.name, x.dst);
    if (status)
        return status;
    if (x.pinned && (!module || x.module || strcmp(x.src, "-") == 0))
        return tool_usage(import_command.name, "--virtual takes a file in HDF5 or netCDF-4");
    if (x.pinned && x.nfilters >= 0)
        return tool_usage(import_command.name, "--virtual keeps the filters of the source");
    if (!module)
        return flat_import(&f);
    if (f.schema)
        status = recipe_datarep(f.schema, own, sizeof own);
    if (!x.datarep) {
        x.big_datarep = f.schema ? NULL : "external32";
        x.datarep = own;
    }
    return status ? status : hdf5_run(&x, true);
}

static const struct option_row import_option_rows[] = {
    {OPTION_FORMAT, "format", "NAME", "hdf5, netcdf, npy, npz, csv or raw (detected)",
     "hdf5 netcdf npy npz csv raw"},
    {OPTION_DATAREP, "datarep", "NAME",
     "representation of the new file (internal); raw: of the source (native)", "<datarep>"},
    {OPTION_FILTERS, "filters", "LIST", "for all chunked datasets: none, or shuffle,zstd:3", NULL},
    {OPTION_EXACT, "exact", NULL, "record all byte orders, so that export restores them", NULL},
    {OPTION_NO_DECODE, "no-decode", NULL, "hdf5: do not decode chunks that go over as they are",
     NULL},
    {OPTION_VIRTUAL, "virtual", NULL,
     "hdf5: leave chunks in the source, and refer to them with checksums", NULL},
    OPTION_ROW_EXTERNAL,
    {OPTION_OUTSIDE, "outside", NULL, "like --external, also files outside the source's directory",
     NULL},
    {OPTION_PARTIAL, "partial", NULL, "hdf5: leave out elements that cannot be read, and mark them",
     NULL},
    {OPTION_PLAIN, "plain", NULL,
     "hdf5: keep scales as datasets, and attributes that describe them", NULL},
    EXCHANGE_ROWS,
    FLAT_IMPORT_ROWS,
    FLAT_ROWS,
    OPTION_ROW_LOCK_WAIT,
    OPTION_ROW_LIMIT,
    {0}};

const struct command import_command = {.name = "import",
                                       .run = import_run,
                                       .summary = "import HDF5, netCDF, NumPy, CSV or raw files",
                                       .usage = "[options] SOURCE FILE.drep",
                                       .about = "Makes a Datarep file from HDF5, netCDF, NumPy, "
                                                "tables or raw elements; losses give status 1.",
                                       .options = import_option_rows,
                                       .examples =
                                           "  datarep import sst.nc sst.drep\n"
                                           "  datarep import -u -i /log samples.csv station.drep",
                                       .operands = "<file> <drep>"};
