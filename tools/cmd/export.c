/* export.c - `datarep export`: a Datarep file becomes a file of another format. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/command.h"
#include "tools/cmd/exchange.h"
#include "tools/cmd/hdf5.h"
#include "tools/flat/flat.h"
#include "tools/flat/format.h"
#include "tools/flat/recipe.h"
#include "tools/host/message.h"
#include <datarep.h>
#include <getopt.h>
#include <string.h>

enum {
    OPTION_DATAREP = EXCHANGE_OWN,
    OPTION_FORMAT,
    OPTION_NO_VERIFY,
    OPTION_VERIFY,
    OPTION_NUMBERS
};

static int export_format_named(const char *name, struct exchange *x, int *out)
{
    static const char *const names[] = {"hdf5", "npy", "npz", "csv", "raw"};
    static const char *const kinds[] = {"netcdf", "cdf1", "cdf2", NULL, NULL, "cdf5"};
    int i;

    for (i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++)
        if (kinds[i] && strcmp(kinds[i], name) == 0) {
            x->module = "netcdf";
            x->kind = i;
            *out = FLAT_NONE;
            return 0;
        }
    if (strcmp(name, "netcdf4") == 0) {
        x->netcdf = true;
        *out = FLAT_NONE;
        return 0;
    }
    for (i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        *out = FLAT_NONE + i;
        return 0;
    }
    return tool_usage(
        export_command.name,
        "--format is hdf5, netcdf4, netcdf, cdf1, cdf2, cdf5, npy, npz, csv or raw, not '%s'",
        name);
}

/* The format by the target's name, -1 if the name does not tell. */
static int target_format(const char *path)
{
    int format = flat_by_name(path);

    return format != FLAT_NONE || flat_is_hdf5_name(path) ? format : -1;
}

static int export_run(int argc, char **argv)
{
    struct exchange x = {.command = "export", .range = DREP_RANGE_STRICT, .nfilters = -1};
    struct flat f = {.x = &x, .format = -1};
    struct options o = {.command = &export_command, .argc = argc, .argv = argv};
    char own[DREP_MAX_DATAREP_STRING];
    int option, status = 0;
    char **files;

    while ((option = option_next(&o)) > 0 && !status) {
        if (exchange_option(&x, option, &status) || flat_option(&f, option, &status))
            continue;
        if (option == OPTION_DATAREP)
            x.datarep = optarg;
        if (option == OPTION_NO_VERIFY)
            x.no_verify = true;
        if (option == OPTION_VERIFY)
            x.verify = true;
        if (option == OPTION_NUMBERS)
            f.numbers = true;
        if (option == OPTION_FORMAT)
            status = export_format_named(optarg, &x, &f.format);
    }
    if (option < 0 || status)
        return status ? status : o.status;
    files = option_operands(&o, 2, 2, "which files?  SOURCE TARGET");
    if (!files)
        return o.status;
    x.src = files[0];
    x.dst = files[1];
    if (f.format < 0) {
        f.format = target_format(x.dst);
        x.netcdf = f.format == FLAT_NONE && flat_is_netcdf_name(x.dst);
    }
    status = f.format < 0 ? 0 : exchange_names(&x, f.format != FLAT_NONE, false, NULL);
    if (f.format < 0)
        status = tool_usage(o.command->name,
                            "%s: which format?  Names end in .h5, .hdf5, .nc, .npy, .npz, .csv, "
                            ".tsv, .raw, .bin or .dat; or --format=NAME",
                            x.dst);
    if (!status && f.schema)
        status = recipe_datarep(f.schema, own, sizeof own);
    if (status)
        return status;
    return f.format == FLAT_NONE ? hdf5_run(&x, false) : flat_export(&f);
}

static const struct option_row export_option_rows[] = {
    {OPTION_FORMAT, "format", "NAME",
     "hdf5, netcdf4, netcdf, cdf1, cdf2, cdf5, npy, npz, csv, raw (by TARGET)",
     "hdf5 netcdf4 netcdf cdf1 cdf2 cdf5 npy npz csv raw"},
    EXCHANGE_ROWS,
    {OPTION_NO_VERIFY, "no-verify", NULL, "do not read back and compare the output", NULL},
    {OPTION_VERIFY, "verify", NULL, "decode also chunks that went over as they are", NULL},
    {OPTION_DATAREP, "datarep", "NAME", "raw: representation of the elements (the source's)",
     "<datarep>"},
    {'s', "schema", "SCHEMA", "declare the representations of this schema first", "<schema>"},
    {OPTION_NUMBERS, "numbers", NULL, "csv: write times as numbers, not as dates", NULL},
    FLAT_ROWS,
    OPTION_ROW_EXTERNAL,
    OPTION_ROW_LIMIT,
    {0}};

const struct command export_command = {
    .name = "export",
    .run = export_run,
    .summary = "export to HDF5, netCDF, NumPy, CSV or raw files",
    .usage = "[options] FILE.drep TARGET",
    .about = "Makes an HDF5 file from a Datarep file, restoring the properties that import kept;\n"
             "or a NumPy array (.npy), a table (.csv, .tsv) or raw elements (.raw,\n"
             ".bin, .dat) from a dataset, an archive (.npz) or a table from a group, by the\n"
             "extension of TARGET or --format.  Losses are reported on stderr;\n"
             "the exit status is then 1.  The output is read back and compared before\n"
             "it gets its name.",
    .options = export_option_rows,
    .examples = "  datarep export sst.drep sst.h5\n"
                "  datarep export --root='/log[-100:]' station.drep last.csv",
    .operands = "<drep> <file>"};
