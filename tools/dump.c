/* dump.c - `datarep dump`: prints a file, or one object of it. */
#include "dump.h"
#include "tool.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if HAVE_YAML
#include "schema/schema.h"
#endif

void dump_failed(struct dump *d, const char *path, int err)
{
    d->status = tool_worse(d->status, tool_fail(d->file_name, path, err));
}

bool dump_slice(struct dump *d, const char *path, const drep_dsinfo *info, struct slice *out)
{
    const char *wrong = NULL;

    if (d->slice && strcmp(path, d->path) == 0)
        wrong = slice_parse(out, d->slice, info->rank, info->dims);
    else
        slice_all(out, info->rank, info->dims);
    if (!wrong)
        return true;
    tool_say(d->file_name, path, "%s: %s", d->slice, wrong);
    d->status = tool_worse(d->status, TOOL_USAGE);
    return false;
}

void dump_filter_name(struct sink *s, const drep_filter *filter)
{
    const char *name = filter->name ? filter->name : drep_filter_name(filter->id);

    if (name)
        sink_name(s, name);
    else
        sink_format(s, "filter %d", filter->id);
}

/* ------------------------------------------------------------ what to show */

enum form { FORM_TEXT, FORM_JSON, FORM_YAML };

/* "a/b/" -> "/a/b", malloc'ed, with the slice at *slice cut off.  A name may itself end
 * in "]": an object that is there wins. */
static char *find_path(struct dump *d, const char *text, char **slice)
{
    size_t size = strlen(text);
    drep_objinfo info;
    char *path = malloc(size + 2);

    *slice = NULL;
    if (!path)
        return NULL;
    path[0] = '/';
    while (*text == '/')
        text++;
    memcpy(path + 1, text, strlen(text) + 1);
    size = strlen(path);
    if (path[size - 1] == ']' && drep_stat(d->file, path, &info) && strchr(path, '[')) {
        *slice = strdup(strrchr(path, '['));
        *strrchr(path, '[') = '\0';
    }
    for (size = strlen(path); size > 1 && path[size - 1] == '/'; size--)
        path[size - 1] = '\0';
    return path;
}

/* Whether there is such an object, and such elements of it. */
static int check_path(struct dump *d)
{
    drep_objinfo info;
    struct slice slice;
    drep_dataset *ds;
    drep_dsinfo ds_info;
    int err = drep_stat(d->file, d->path, &info);

    if (err)
        return tool_fail(d->file_name, d->path, err);
    if (!d->slice)
        return 0;
    if (info.kind != DREP_OBJ_DATASET) {
        tool_say(d->file_name, d->path, "%s: only datasets have elements", d->slice);
        return TOOL_USAGE;
    }
    err = drep_dataset_open(d->file, d->path, &ds);
    if (err)
        return tool_fail(d->file_name, d->path, err);
    err = drep_dataset_info(ds, &ds_info);
    drep_dataset_close(ds);
    if (err)
        return tool_fail(d->file_name, d->path, err);
    return dump_slice(d, d->path, &ds_info, &slice) ? 0 : d->status;
}

/* -------------------------------------------------------------------- YAML */

#if HAVE_YAML
static int put_yaml(void *ctx, const char *bytes, size_t size)
{
    struct dump *d = ctx;

    sink_put(d->sink, bytes, size);
    return d->sink->err ? DREP_ERR_IO : 0;
}

static int yaml_value(void *ctx, const char *path, const char *name, char **text)
{
    const struct dump *d = ctx;

    return values_text(&d->printer, path, name, text);
}

static const char *object_path(void *ctx, uint64_t id)
{
    const struct dump *d = ctx;

    return print_path(&d->printer, id);
}

static void yaml_failed(void *ctx, const char *path, int err)
{
    dump_failed(ctx, path, err);
}

static void dump_yaml(struct dump *d)
{
    struct schema_print_options options = {
        .put = put_yaml, .value = yaml_value, .path = object_path, .failed = yaml_failed, .ctx = d};
    int err = schema_print(d->file, &options);

    if (err && !d->sink->err)
        dump_failed(d, NULL, err);
}
#endif

static void show(struct dump *d, enum form form)
{
    if (form == FORM_TEXT)
        dump_text(d);
    if (form == FORM_JSON)
        dump_json(d);
#if HAVE_YAML
    if (form == FORM_YAML)
        dump_yaml(d);
#endif
}

static int dump_open(struct dump *d, const char *object, enum form form)
{
    char *path = NULL, *slice = NULL;
    int err = drep_header_get(d->file, &d->header);

    if (!err)
        err = print_init(&d->printer, d->file, form != FORM_TEXT);
    if (err)
        return tool_fail(d->file_name, NULL, err);
    path = find_path(d, object, &slice);
    if (!path || sink_init(d->sink, STDOUT_FILENO)) {
        free(path);
        free(slice);
        print_release(&d->printer);
        return tool_no_memory();
    }
    d->path = path;
    d->slice = slice;
    err = check_path(d);
    if (err) {
        sink_release(d->sink);
        d->status = tool_worse(d->status, err);
    } else {
        show(d, form);
        d->status = tool_worse(d->status, sink_close(d->sink));
    }
    free(path);
    free(slice);
    print_release(&d->printer);
    return d->status;
}

enum { OPTION_JSON = OPTION_LONG, OPTION_YAML };

static const struct option_row options[] = {
    {'H', "header", NULL, "no values of datasets", NULL},
    {OPTION_JSON, "json", NULL, "as JSON", NULL},
    {OPTION_YAML, "yaml", NULL, "with -H: as a schema that makes the file again", NULL},
    OPTION_ROW_PLUGINS,
    {0}};

static int run(int argc, char **argv)
{
    struct options o = {.command = &dump_command, .argc = argc, .argv = argv};
    struct sink sink;
    struct dump d = {.sink = &sink};
    enum form form = FORM_TEXT;
    const char *plugins = NULL;
    int option, status;
    char **operands;

    while ((option = option_next(&o)) > 0) {
        d.header_only = d.header_only || option == 'H';
        if (option == OPTION_JSON)
            form = FORM_JSON;
        if (option == OPTION_YAML)
            form = FORM_YAML;
        if (option == OPTION_PLUGINS)
            plugins = optarg;
    }
    if (option < 0)
        return o.status;
    operands = option_operands(&o, 1, 2, "which file?");
    if (!operands)
        return o.status;
    if (form == FORM_YAML && (!d.header_only || operands[1]))
        return command_usage(o.command,
                             "--yaml prints the structure of a whole file: -H --yaml FILE");
#if !HAVE_YAML
    if (form == FORM_YAML)
        return command_usage(o.command, "built without libyaml");
#endif
    d.file_name = operands[0];
    status = tool_open(d.file_name, DREP_RDONLY | (d.header_only ? DREP_HEADER_ONLY : 0), plugins,
                       &d.file);
    if (status)
        return status;
    status = dump_open(&d, operands[1] ? operands[1] : "/", form);
    drep_close(d.file);
    return status;
}

const struct command dump_command = {
    .name = "dump",
    .run = run,
    .summary = "print a file or a part of it, as text, JSON or a schema",
    .usage = "[options] FILE [PATH[SLICE]]",
    .about = "Prints a file's header, its objects and their values.  PATH begins at that object;\n"
             "SLICE takes part of a dataset, as NumPy writes it.",
    .options = options,
    .examples = "  datarep dump a.drep '/grid/sst[0,10:20,::2]'\n"
                "  datarep dump -H --yaml a.drep > a.yaml",
    .operands = "<drep> <path>"};
