/* create.c - `datarep create`: makes a file from a schema. */
#include "tool.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if HAVE_YAML
#include "schema/schema.h"
#endif

#if HAVE_YAML
/* Reads a whole file or stream; *text is malloc'ed.  0, or an exit code. */
static int read_all(const char *name, char **text, size_t *size)
{
    FILE *f = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
    size_t len = 0, cap = (size_t)1 << 16, n;
    char *buf = f ? malloc(cap) : NULL, *bigger;
    int status = 0;

    while (buf && len <= SCHEMA_SIZE_MAX) {
        n = fread(buf + len, 1, cap - len, f);
        len += n;
        if (n == 0)
            break;
        if (len < cap)
            continue;
        cap *= 2;
        bigger = realloc(buf, cap);
        if (!bigger)
            free(buf);
        buf = bigger;
    }
    if (!f || !buf || ferror(f)) {
        tool_say(name, NULL, "%s", f && !buf ? "out of memory" : strerror(errno));
        status = TOOL_IO;
    } else if (len > SCHEMA_SIZE_MAX) {
        tool_say(name, NULL, "a schema has at most %d MiB", (int)(SCHEMA_SIZE_MAX >> 20));
        status = TOOL_USAGE;
    }
    if (f && f != stdin)
        fclose(f);
    if (status) {
        free(buf);
        return status;
    }
    *text = buf;
    *size = len;
    return 0;
}

/* As compilers do, so that editors find the place. */
static void say(void *ctx, int line, int column, const char *message)
{
    const char *name = ctx;

    if (line > 0)
        fprintf(stderr, "%s:%d:%d: %s\n", name, line, column, message);
    else
        fprintf(stderr, "%s: %s\n", name, message);
}

static int create(const char *schema_name, const char *path, int amode, const char *datarep)
{
    struct schema *schema = NULL;
    char *text, place[4096];
    size_t size;
    int err, status = read_all(schema_name, &text, &size);

    if (status)
        return status;
    snprintf(place, sizeof place, "%s", strcmp(schema_name, "-") == 0 ? "stdin" : schema_name);
    err = schema_read(text, size, say, place, &schema);
    free(text);
    if (!err)
        err = schema_create(schema, path, amode, datarep, say, place);
    schema_free(schema);
    /* What is wrong has been said, with its place. */
    return tool_exit_code(err);
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

static const struct option_row options[] = {
    {'s', "schema", "SCHEMA", "required; - is standard input", "<schema>"},
    {OPTION_DATAREP, "datarep", "NAME", "this data representation, not the schema's", "<datarep>"},
    {'n', "no-clobber", NULL, "fail if FILE exists", NULL},
    {0}};

static int run(int argc, char **argv)
{
    struct options o = {.command = &create_command, .argc = argc, .argv = argv};
    const char *schema = NULL, *datarep = NULL;
    int option, amode = 0;
    char **files;

    while ((option = option_next(&o)) > 0) {
        if (option == 's')
            schema = optarg;
        if (option == OPTION_DATAREP)
            datarep = optarg;
        if (option == 'n')
            amode = DREP_EXCL;
    }
    if (option < 0)
        return o.status;
    if (!schema)
        return command_usage(o.command, "which schema?  -s SCHEMA");
    files = option_operands(&o, 1, 1, "which file?");
    return files ? create(schema, files[0], amode, datarep) : o.status;
}

const struct command create_command = {
    .name = "create",
    .run = run,
    .summary = "make a file from a schema",
    .usage = "-s SCHEMA [options] FILE",
    .about = "Makes a file as a YAML schema describes it.",
    .options = options,
    .examples = "  datarep create -s sea.yaml sea.drep\n"
                "  datarep dump -H --yaml a.drep | datarep create -s - --datarep=native b.drep",
    .operands = "<drep>"};
