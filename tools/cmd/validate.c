/* validate.c - `datarep validate`: says where a file is not as a schema describes it. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/command.h"
#include "tools/flat/recipe.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/open.h"
#include "tools/text/array.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/walk/blocks.h"
#include <datarep.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct asked {
    const char *plugins;
    bool extra, header_only, json;
};

#if HAVE_YAML
struct validate {
    const struct recipe *recipe;
    struct printer have, want;
    struct sink sink;
    bool json;
    int said;
};

/* Differences are results, so they go to stdout. */
static void say_complaint(void *ctx, int line, int column, const char *message)
{
    struct validate *v = ctx;

    if (v->json) {
        sink_format(&v->sink,
                    "%s\n {\"line\": %d, \"column\": %d, \"message\": ", v->said++ ? "," : "",
                    line > 0 ? line : 0, line > 0 ? column : 0);
        sink_quoted(&v->sink, message, strlen(message));
        sink_char(&v->sink, '}');
        return;
    }
    sink_name(&v->sink, v->recipe->name);
    if (line > 0)
        sink_format(&v->sink, ":%d:%d", line, column);
    sink_text(&v->sink, ": ");
    sink_text(&v->sink, message);
    sink_char(&v->sink, '\n');
}

/* The printer of one of the two files; that of the schema's is made when it is first seen. */
static int printer_of(struct validate *v, drep_file *file, struct printer **out)
{
    int err = 0;

    if (file == v->have.file) {
        *out = &v->have;
        return 0;
    }
    if (!v->want.file)
        err = printer_init(&v->want, file, true);
    *out = &v->want;
    return err;
}

static int get_value(void *ctx, drep_file *file, const char *path, const char *name, char **text)
{
    struct printer *p;
    int err = printer_of(ctx, file, &p);

    return err ? err : array_text(p, path, name, text);
}

/* ---------------------------------------------------------- values of datasets */

/* Elements whose bytes are not their value: those with pointers, and references, which
 * are numbers of objects. */
static bool needs_text(const drep_type *type)
{
    int64_t i;

    if (drep_type_variable(type) || drep_type_kind(type) == DREP_KIND_REFERENCE)
        return true;
    for (i = 0; i < drep_type_members(type); i++)
        if (needs_text(drep_type_member(type, i)))
            return true;
    return false;
}

struct validated_dataset {
    const struct printer *have, *want;
    bool text;
    struct schema_difference *out;
    int64_t first; /* number of the first that differs */
};

/* Both texts. */
static int both_texts(const struct validated_dataset *p, const drep_type *type, const void *a,
                      const void *b, char **have, char **want)
{
    int err = element_text(p->have, type, a, have);

    if (!err) {
        err = element_text(p->want, type, b, want);
        if (err)
            free(*have);
    }
    return err;
}

/* Other bytes may still be the same value, as the many NaNs are. */
static int validate_element(struct validated_dataset *p, const drep_type *type, int64_t at,
                            const void *a, const void *b)
{
    char *have, *want;
    int err;

    if (!p->text && memcmp(a, b, (size_t)drep_type_extent(type)) == 0)
        return 0;
    err = both_texts(p, type, a, b, &have, &want);
    if (err)
        return err;
    if (strcmp(have, want) == 0 || p->out->count++ > 0) {
        free(have);
        free(want);
        return 0;
    }
    p->first = at;
    p->out->have = have;
    p->out->want = want;
    return 0;
}

static void set_index(struct schema_difference *out, const drep_dsinfo *info, int64_t at)
{
    int d;

    for (d = info->rank - 1; d >= 0; d--) {
        out->index[d] = at % info->dims[d];
        at /= info->dims[d];
    }
}

static int compare_block(struct validated_dataset *p, const drep_type *type, const struct blocks *b,
                         const char *have, const char *want)
{
    int64_t i, extent = drep_type_extent(type);
    int err = 0;

    for (i = 0; i < b->len && !err; i++)
        err = validate_element(p, type, b->first + i, have + i * extent, want + i * extent);
    return err;
}

/* Block by block of the schema's, which may be a part of what is there. */
static int compare_all(struct validated_dataset *p, const drep_type *type, drep_dataset *have,
                       drep_dataset *want, const drep_dsinfo *info)
{
    size_t extent = (size_t)drep_type_extent(type) + (drep_type_extent(type) == 0);
    struct slice slice;
    struct blocks b;
    char *x, *y;
    int err;

    slice_all(&slice, info->rank, info->dims);
    blocks_init(&b, &slice, info, (int64_t)extent, drep_type_variable(type));
    x = calloc((size_t)b.most + 1, extent);
    y = calloc((size_t)b.most + 1, extent);
    err = x && y ? 0 : DREP_ERR_NOMEM;
    while (!err && blocks_next(&b)) {
        err = blocks_read(&b, have, type, x);
        if (!err)
            err = blocks_read(&b, want, type, y);
        if (!err)
            err = compare_block(p, type, &b, x, y);
        drep_vlen_free(type, b.len, x);
        drep_vlen_free(type, b.len, y);
    }
    free(x);
    free(y);
    if (!err && p->out->count > 0)
        set_index(p->out, info, p->first);
    return err;
}

static int compare_data(void *ctx, drep_file *have_file, drep_dataset *have, drep_file *want_file,
                        drep_dataset *want, struct schema_difference *out)
{
    struct validated_dataset p = {.out = out};
    struct printer *a = NULL, *b = NULL;
    drep_type *type;
    drep_dsinfo info = DREP_DSINFO;
    int err = printer_of(ctx, have_file, &a);

    if (!err)
        err = printer_of(ctx, want_file, &b);
    if (!err)
        err = drep_dataset_info(want, &info);
    if (!err)
        err = printer_type(b, info.type, info.datarep_number, &type);
    if (err)
        return err;
    p.have = a;
    p.want = b;
    p.text = needs_text(type);
    err = compare_all(&p, type, have, want, &info);
    if (err && out->count > 0) {
        free(out->have);
        free(out->want);
    }
    drep_type_free(type);
    return err;
}

/* -------------------------------------------------------------- command line */

static void validate_document_begin(struct validate *v, const char *path)
{
    if (!v->json)
        return;
    sink_document(&v->sink, "file", path);
    sink_text(&v->sink, ", \"schema\": ");
    sink_quoted(&v->sink, v->recipe->name, strlen(v->recipe->name));
    sink_text(&v->sink, ", \"differences\": [");
}

static void validate_document_end(struct validate *v)
{
    if (v->json)
        sink_format(&v->sink, "%s], \"found\": %d}\n", v->said ? "\n" : "", v->said);
}

static int validate_file(struct validate *v, drep_file *file, bool extra, bool header_only)
{
    const char *dir = getenv("TMPDIR");
    char scratch[4096];
    struct schema_compare_options options = {.extra = extra,
                                             .header_only = header_only,
                                             .scratch = scratch,
                                             .value = get_value,
                                             .data = compare_data,
                                             .ctx = v};
    int differences = 0, err;

    snprintf(scratch, sizeof scratch, "%s/datarep-schema", dir && *dir ? dir : "/tmp");
    err = schema_compare(v->recipe->schema, file, &options, say_complaint, v, &differences);
    if (v->want.file)
        printer_release(&v->want);
    if (err)
        return tool_exit_code(err);
    return differences ? TOOL_DIFFERS : TOOL_FINE;
}

static int validate(const char *schema, const char *path, const struct asked *asked)
{
    struct recipe recipe;
    struct validate v = {.recipe = &recipe, .json = asked->json};
    drep_file *file;
    int err, status = recipe_read(&recipe, schema);

    if (status)
        return status;
    status = tool_open(path, DREP_RDONLY | (asked->header_only ? DREP_HEADER_ONLY : 0),
                       asked->plugins, &file);
    if (!status) {
        err = printer_init(&v.have, file, true);
        if (err) {
            status = tool_fail(path, NULL, err);
        } else if (sink_init(&v.sink, STDOUT_FILENO)) {
            status = tool_no_memory();
            printer_release(&v.have);
        } else {
            validate_document_begin(&v, path);
            status = validate_file(&v, file, asked->extra, asked->header_only);
            validate_document_end(&v);
            status = tool_worse(status, sink_close(&v.sink));
            printer_release(&v.have);
        }
        drep_close(file);
    }
    recipe_release(&recipe);
    return status;
}
#else
static int validate(const char *schema, const char *path, const struct asked *asked)
{
    (void)path;
    (void)asked;
    tool_say(schema, NULL, "built without libyaml, so without schemas");
    return TOOL_CORRUPT;
}
#endif

enum { OPTION_JSON = OPTION_LONG };

static const struct option_row validate_option_rows[] = {
    {'s', "schema", "SCHEMA", "required; - is standard input", "<schema>"},
    {'x', "extra", NULL, "allow objects and attributes that the schema lacks", NULL},
    {'H', "header", NULL, "do not compare the values of datasets", NULL},
    {OPTION_JSON, "json", NULL, "print JSON", NULL},
    OPTION_ROW_PLUGINS,
    OPTION_ROW_EXTERNAL,
    OPTION_ROW_LIMIT,
    {0}};

static int validate_run(int argc, char **argv)
{
    struct options o = {.command = &validate_command, .argc = argc, .argv = argv};
    struct asked asked = {.plugins = NULL};
    const char *schema = NULL;
    int option;
    char **files;

    while ((option = option_next(&o)) > 0) {
        if (option == 's')
            schema = optarg;
        if (option == OPTION_PLUGINS)
            asked.plugins = optarg;
        asked.extra = asked.extra || option == 'x';
        asked.header_only = asked.header_only || option == 'H';
        asked.json = asked.json || option == OPTION_JSON;
    }
    if (option < 0)
        return o.status;
    if (!schema)
        return tool_usage(o.command->name, "which schema?  -s SCHEMA");
    files = option_operands(&o, 1, 1, "which file?");
    if (!files)
        return o.status;
    if (strcmp(schema, "-") == 0 && strcmp(files[0], "-") == 0)
        return tool_usage(o.command->name, "only one of both comes from standard input");
    return validate(schema, files[0], &asked);
}

const struct command validate_command = {
    .name = "validate",
    .run = validate_run,
    .summary = "compare a file with a schema",
    .usage = "-s SCHEMA [options] FILE",
    .about = "Prints every difference between a file and a schema, one line each, with the line\n"
             "and column of the schema.  Layout, chunks, filters and fill values are compared\n"
             "only if the schema states them; unlimited dimensions may have grown.\n"
             "Exit status: 0 equal, 1 differences.",
    .options = validate_option_rows,
    .examples = "  datarep validate -s sea.yaml sea.drep\n"
                "  datarep validate -x -H -s sea.yaml sea.drep && echo conforms",
    .operands = "<drep>"};
