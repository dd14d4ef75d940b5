/* stat.c - `datarep stat`: where the bytes of a file are. */
#include "sink.h"
#include "tool.h"
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static void put_usage(struct sink *s, const char *file_name, const drep_usage *usage, bool json)
{
    const struct {
        const char *name, *meaning;
        int64_t value;
        bool bytes;
    } rows[] = {
        {"file", "the whole file", usage->file, true},
        {"slots", "header slots", usage->slots, true},
        {"nodes", "nodes of the tree", usage->nodes, true},
        {"blobs", "large values and lists", usage->blobs, true},
        {"sums", "checksums of payload", usage->sums, true},
        {"data", "payload", usage->data, true},
        {"free", "free, to be used again", usage->free, true},
        {"slack", "lost to alignment", usage->slack, true},
        {"objects", "objects", usage->objects, false},
        {"chunks", "stored chunks", usage->chunks, false},
    };
    size_t i;

    if (json) {
        sink_text(s, "{\"path\": ");
        sink_quoted(s, file_name, strlen(file_name));
    } else {
        sink_name(s, file_name);
        sink_text(s, ":\n");
    }
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (json)
            sink_format(s, ", \"%s\": %" PRId64, rows[i].name, rows[i].value);
        else
            sink_format(s, "%16" PRId64 " %s %s\n", rows[i].value,
                        rows[i].bytes ? "bytes " : "      ", rows[i].meaning);
    }
    if (json)
        sink_text(s, "}\n");
}

static int stat_file(struct sink *s, const char *file_name, bool json)
{
    drep_usage usage;
    drep_file *file;
    int err, status = tool_open(file_name, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &file);

    if (status)
        return status;
    err = drep_usage_get(file, &usage);
    if (err)
        status = tool_fail(file_name, NULL, err);
    else
        put_usage(s, file_name, &usage, json);
    drep_close(file);
    return status;
}

enum { OPTION_JSON = OPTION_LONG };

static const struct option_row options[] = {
    {OPTION_JSON, "json", NULL, "as JSON, one object a file", NULL}, {0}};

static int run(int argc, char **argv)
{
    struct options o = {.command = &stat_command, .argc = argc, .argv = argv};
    int option, status = TOOL_FINE;
    struct sink sink;
    bool json = false;
    char **files;

    while ((option = option_next(&o)) > 0)
        json = true;
    if (option < 0)
        return o.status;
    files = option_operands(&o, 1, INT_MAX, "which file?");
    if (!files)
        return o.status;
    if (sink_init(&sink, STDOUT_FILENO))
        return tool_no_memory();
    for (; *files; files++)
        status = tool_worse(status, stat_file(&sink, *files, json));
    return tool_worse(status, sink_close(&sink));
}

const struct command stat_command = {
    .name = "stat",
    .run = run,
    .summary = "say where the bytes of a file are",
    .usage = "[options] FILE...",
    .about = "Says where the bytes of a file are, and how many objects and chunks there are.",
    .options = options,
    .examples = "  datarep stat a.drep\n"
                "  datarep stat --json *.drep | jq .free",
    .operands = "<drep>..."};
