/* check.c - `datarep check`: verifies references and checksums. */
#include "sink.h"
#include "tool.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: datarep check [options] FILE...\n"
    "Verifies all references and checksums of the last commit, and prints what is wrong,\n"
    "one line a finding.  Exit status: 0 nothing, 1 findings, 4 cannot be opened.\n"
    "\n"
    "  -d, --deep     also decode every chunk\n"
    "  -q, --quiet    only the exit status\n"
    "  -h, --help     this text\n";

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

int cmd_check(int argc, char **argv)
{
    static const struct option longs[] = {{"deep", no_argument, NULL, 'd'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct check check = {.quiet = false};
    int option, status = TOOL_FINE;
    bool deep = false;

    while ((option = tool_option(argc, argv, ":dqh", longs)) != -1) {
        switch (option) {
        case 'd':
            deep = true;
            break;
        case 'q':
            check.quiet = true;
            break;
        case 'h':
            return tool_help(help);
        default:
            return TOOL_USAGE;
        }
    }
    if (optind == argc)
        return tool_usage(argv[0], "which file?");
    if (sink_init(&check.sink, STDOUT_FILENO)) {
        tool_say(NULL, NULL, "out of memory");
        return TOOL_IO;
    }
    for (; optind < argc; optind++) {
        check.file_name = argv[optind];
        status = tool_worse(status, check_file(&check, deep));
    }
    return tool_worse(status, sink_close(&check.sink));
}
