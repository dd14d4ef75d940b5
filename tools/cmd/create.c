/* create.c - `datarep create`: makes a file from a schema.
 *
 * The schema is read completely before the file is made, so that an error in it leaves nothing. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/command.h"
#include "tools/flat/format.h"
#include "tools/flat/recipe.h"
#include "tools/host/exit.h"
#include "tools/host/message.h"
#include "tools/host/outfile.h"
#include "tools/host/stop.h"
#include <datarep.h>
#include <getopt.h>
#include <string.h>

#if HAVE_YAML
static int create(const char *schema_name, const char *path, int amode, const char *datarep)
{
    struct recipe recipe;
    int status = recipe_read(&recipe, schema_name);

    if (status)
        return status;
    stop_catch();
    /* The error has been reported, with its place. */
    status =
        tool_exit_code(schema_create(recipe.schema, path, amode, datarep, recipe_say, &recipe));
    recipe_release(&recipe);
    return status;
}
#else
static int create(const char *schema_name, const char *path, int amode, const char *datarep)
{
    (void)path;
    (void)amode;
    (void)datarep;
    tool_say(schema_name, NULL, "built without libyaml, so without schemas");
    return TOOL_CORRUPT;
}
#endif

enum { OPTION_DATAREP = OPTION_LONG };

static const struct option_row create_option_rows[] = {
    {'s', "schema", "SCHEMA", "required; - is standard input", "<schema>"},
    {OPTION_DATAREP, "datarep", "NAME", "data representation of all, overriding the schema's",
     "<datarep>"},
    OPTION_ROWS_REPLACE,
    OPTION_ROW_LIMIT,
    {0}};

static int create_run(int argc, char **argv)
{
    struct options o = {.command = &create_command, .argc = argc, .argv = argv};
    const char *schema = NULL, *datarep = NULL;
    bool excl = false, force = false;
    int option, status;
    char **files;

    while ((option = option_next(&o)) > 0) {
        if (option == 's')
            schema = optarg;
        if (option == OPTION_DATAREP)
            datarep = optarg;
        excl |= option == 'n';
        force |= option == 'f';
    }
    if (option < 0)
        return o.status;
    if (!schema)
        return tool_usage(o.command->name, "which schema?  -s SCHEMA");
    files = option_operands(&o, 1, 1, "which file?");
    if (files && strcmp(files[0], "-") == 0)
        return tool_usage(o.command->name,
                          "a Datarep file cannot be written to a pipe; name a file");
    if (!files)
        return o.status;
    status = flat_permit(o.command->name, files[0], &excl, force);
    return status ? status : create(schema, files[0], excl ? DREP_EXCL : 0, datarep);
}

const struct command create_command = {
    .name = "create",
    .run = create_run,
    .summary = "make a file from a schema",
    .usage = "-s SCHEMA [options] FILE",
    .about = "Makes a file from a YAML schema, such as:\n\n"
             "  datarep: external32\n"
             "  dims: {time: unlimited, lat: 180, lon: 360}\n"
             "  root:\n"
             "    attrs: {title: Sea surface temperature}\n"
             "    sst: {dataset: FLOAT, dims: [time, lat, lon], fill: .nan, attrs: {units: K}}\n\n"
             "datarep-schema(5) defines schemas; `datarep dump -H --yaml` prints that of a file;\n"
             "share/datarep/schemas has examples for common uses.",
    .options = create_option_rows,
    .examples = "  datarep create -s sea.yaml sea.drep\n"
                "  datarep dump -H --yaml a.drep | datarep create -s - --datarep=native b.drep",
    .operands = "<drep>"};
