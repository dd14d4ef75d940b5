/* import.c - `datarep import`: a file of another format becomes a Datarep file.
 *
 * One row a format: how it is recognised, and who reads it. */
#include "exchange.h"
#include "foreign.h"
#include "recipe.h"
#include "tool.h"
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OPTION_DATAREP = EXCHANGE_OWN, OPTION_SCHEMA, OPTION_FILTERS, OPTION_EXACT, OPTION_OUTSIDE };

/* ------------------------------------------------------------------ the formats */

static int import_hdf5(const struct exchange *x)
{
    return exchange_run(x, true);
}

static const struct format {
    const char *name;
    bool (*is)(FILE *f);
    int (*import)(const struct exchange *x);
} formats[] = {{"HDF5 (netCDF-4)", foreign_is_hdf5, import_hdf5}};

/* The format of a file; NULL after saying that it is none of those. */
static const struct format *format_of(const char *path, int *status)
{
    FILE *f = fopen(path, "rb");
    const struct format *found = NULL;
    struct stat st;
    size_t i;

    *status = TOOL_IO;
    if (!f) {
        tool_say(path, NULL, "%s", strerror(errno));
        return NULL;
    }
    if (fstat(fileno(f), &st) == 0 && !S_ISREG(st.st_mode)) {
        tool_say(path, NULL, S_ISDIR(st.st_mode) ? "is a directory" : "is not a regular file");
        fclose(f);
        return NULL;
    }
    for (i = 0; i < sizeof formats / sizeof *formats && !found; i++)
        if (formats[i].is(f))
            found = &formats[i];
    fclose(f);
    *status = TOOL_CORRUPT;
    if (!found)
        tool_say(path, NULL, "not an HDF5 file, and no other format is known to import");
    return found;
}

/* ------------------------------------------------------------- the command line */

/* "shuffle,zstd:3"; "none". */
static int parse_filters(struct exchange *x, const char *text)
{
    char copy[256], *rest = copy, *word, *level;

    x->nfilters = 0;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return command_usage(&import_command, "--filters is too long");
    if (strcmp(text, "none") == 0)
        return 0;
    while ((word = strsep(&rest, ",")) != NULL) {
        drep_filter f = {.level = -1};

        level = strchr(word, ':');
        if (level) {
            *level = '\0';
            f.level = atoi(level + 1);
        }
        f.id = drep_filter_from_name(word);
        if (f.id == 0 || !drep_filter_available(f.id))
            return command_usage(&import_command, "--filters: there is no filter '%s'", word);
        if (x->nfilters == DREP_MAX_FILTERS)
            return command_usage(&import_command, "--filters: at most %d", DREP_MAX_FILTERS);
        x->filters[x->nfilters++] = f;
    }
    return 0;
}

/* The data representations that a schema declares, and the one that it says. */
static int take_schema(const char *name, char *datarep, size_t size)
{
#if HAVE_YAML
    struct recipe recipe;
    const char *own = NULL;
    int err, status = recipe_read(&recipe, name);

    if (status)
        return status;
    err = schema_declare(recipe.schema, &own, recipe_say, &recipe);
    snprintf(datarep, size, "%s", own ? own : "internal");
    recipe_release(&recipe);
    return err ? tool_exit_code(err) : 0;
#else
    (void)datarep, (void)size;
    tool_say(name, NULL, "built without libyaml, so without schemas");
    return TOOL_CORRUPT;
#endif
}

static int run(int argc, char **argv)
{
    struct exchange x = {.range = DREP_RANGE_STRICT, .nfilters = -1};
    struct options o = {.command = &import_command, .argc = argc, .argv = argv};
    char own[DREP_MAX_DATAREP_STRING] = "internal";
    const struct format *format;
    int option, status = 0;
    char **files;

    while ((option = option_next(&o)) > 0 && !status) {
        if (exchange_option(&x, &import_command, option, &status))
            continue;
        if (option == OPTION_DATAREP)
            x.datarep = optarg;
        if (option == OPTION_SCHEMA)
            status = take_schema(optarg, own, sizeof own);
        if (option == OPTION_FILTERS)
            status = parse_filters(&x, optarg);
        x.exact |= option == OPTION_EXACT;
        x.outside |= option == OPTION_OUTSIDE;
    }
    if (option < 0 || status)
        return status ? status : o.status;
    files = option_operands(&o, 2, 2, "which files?  SOURCE TARGET");
    if (!files)
        return o.status;
    x.src = files[0];
    x.dst = files[1];
    if (!x.datarep)
        x.datarep = own;
    format = format_of(x.src, &status);
    return format ? format->import(&x) : status;
}

static const struct option_row options[] = {
    {OPTION_DATAREP, "datarep", "NAME", "data representation of the new file (internal)",
     "<datarep>"},
    {OPTION_SCHEMA, "schema", "SCHEMA",
     "declare the data representations of a schema, and take\nthe one that it says", "<file>"},
    {OPTION_FILTERS, "filters", "LIST",
     "for all chunked datasets, instead of theirs: none, or\nnames such as shuffle,zstd:3", NULL},
    {OPTION_EXACT, "exact", NULL, "note byte orders too, so that export restores them", NULL},
    {OPTION_OUTSIDE, "outside", NULL,
     "read elements also from files outside the directory\nof the source", NULL},
    EXCHANGE_ROWS,
    {0}};

const struct command import_command = {
    .name = "import",
    .run = run,
    .summary = "read an HDF5 file",
    .usage = "[options] FILE.h5 FILE.drep",
    .about = "Makes a Datarep file from an HDF5 file (netCDF-4 files are such).  What a Datarep\n"
             "file has no place for is kept in attributes named hdf5:..., from which export\n"
             "restores it.  What is lost is named on stderr; the exit status is then 1.",
    .options = options,
    .examples = "  datarep import sst.nc sst.drep\n"
                "  datarep import --datarep=external32 --root=/run1 all.h5 run1.drep",
    .operands = "<hdf5> <drep>"};
