/* check.c - `datarep check`: verifies references and checksums. */
#include "sink.h"
#include "tool.h"
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

struct check {
    const char *file_name;
    bool quiet;
    struct sink sink;
};

static int finding(int err, uint64_t offset, const char *message, void *ctx)
{
    struct check *check = ctx;
    struct sink *s = &check->sink;

    if (!check->quiet) {
        sink_name(s, check->file_name);
        if (offset)
            sink_format(s, ": byte %" PRIu64, offset);
        sink_text(s, ": ");
        sink_text(s, message && *message ? message : drep_strerror(err));
        sink_char(s, '\n');
    }
    return s->err ? DREP_ERR_STOPPED : 0;
}

static int check_file(struct check *check, bool deep)
{
    int64_t findings = 0;
    drep_header header;
    drep_file *file;
    int status =
        tool_open(check->file_name, DREP_RDONLY | (deep ? 0 : DREP_HEADER_ONLY), NULL, &file);
    int err;

    if (status)
        return status;
    err = drep_check(file, deep, finding, check, &findings);
    if (err && err != DREP_ERR_STOPPED)
        status = tool_fail(check->file_name, NULL, err);
    else if (findings > 0)
        status = TOOL_DIFFERS;
    /* tool_open() has told of a damaged slot on stderr; it is a finding too. */
    if (!status && drep_header_get(file, &header) == 0 && header.damaged_slot)
        status = TOOL_DIFFERS;
    if (!status && !check->quiet) {
        sink_name(&check->sink, check->file_name);
        sink_text(&check->sink, ": ok\n");
    }
    drep_close(file);
    return status;
}

static const struct option_row options[] = {{'d', "deep", NULL, "also decode every chunk", NULL},
                                            {'q', "quiet", NULL, "only the exit status", NULL},
                                            {0}};

static int run(int argc, char **argv)
{
    struct options o = {.command = &check_command, .argc = argc, .argv = argv};
    struct check check = {.quiet = false};
    int option, status = TOOL_FINE;
    bool deep = false;
    char **files;

    while ((option = option_next(&o)) > 0) {
        deep = deep || option == 'd';
        check.quiet = check.quiet || option == 'q';
    }
    if (option < 0)
        return o.status;
    files = option_operands(&o, 1, INT_MAX, "which file?");
    if (!files)
        return o.status;
    if (sink_init(&check.sink, STDOUT_FILENO))
        return tool_no_memory();
    for (; *files; files++) {
        check.file_name = *files;
        status = tool_worse(status, check_file(&check, deep));
    }
    return tool_worse(status, sink_close(&check.sink));
}

const struct command check_command = {
    .name = "check",
    .run = run,
    .summary = "verify references and checksums",
    .usage = "[options] FILE...",
    .about = "Verifies all references and checksums of the last commit, and prints what is wrong,\n"
             "one line a finding.  Exit status: 0 nothing, 1 findings, 4 cannot be opened.",
    .options = options,
    .examples = "  datarep check *.drep\n"
                "  datarep check --deep a.drep && cp a.drep /archive",
    .operands = "<drep>..."};
