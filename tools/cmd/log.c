/* log.c - `datarep log`: the commits of a file that can still be opened. */
/* SPDX-License-Identifier: MIT */
#include "base/vec.h"
#include "tools/cmd/command.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/open.h"
#include "tools/text/sink.h"
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct log {
    drep_commitinfo *commit; /* the oldest first */
    size_t n, room;
};

static int add(const drep_commitinfo *commit, void *ctx)
{
    struct log *log = ctx;

    if (VEC_ROOM(log->commit, log->n, log->room, 1))
        return DREP_ERR_NOMEM;
    log->commit[log->n++] = *commit;
    return 0;
}

static void log_json(struct sink *s, const char *file_name, const struct log *log)
{
    sink_document(s, "file", file_name);
    sink_text(s, ", \"commits\": [");
    for (size_t i = log->n; i-- > 0;)
        sink_format(
            s, "%s{\"sequence\": %" PRIu64 ", \"time\": \"%" PRId64 "\", \"end\": %" PRIu64 "}",
            i + 1 < log->n ? ", " : "", log->commit[i].sequence, log->commit[i].time,
            log->commit[i].end);
    sink_text(s, "]}\n");
}

static void put_text(struct sink *s, const char *file_name, const struct log *log)
{
    sink_name(s, file_name);
    sink_text(s, ":\n");
    for (size_t i = log->n; i-- > 0;) {
        sink_format(s, "%12" PRIu64 "  ", log->commit[i].sequence);
        sink_time(s, log->commit[i].time);
        sink_format(s, "  %" PRIu64 " bytes\n", log->commit[i].end);
    }
}

static int log_file(struct sink *s, const char *file_name, bool json)
{
    struct log log = {.n = 0};
    drep_file *file;
    int err, status = tool_open(file_name, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &file);

    if (status)
        return status;
    err = drep_log(file, add, &log);
    if (err)
        status = tool_fail(file_name, NULL, err);
    else if (json)
        log_json(s, file_name, &log);
    else
        put_text(s, file_name, &log);
    free(log.commit);
    drep_close(file);
    return status;
}

enum { OPTION_JSON = OPTION_LONG };

static const struct option_row log_option_rows[] = {
    {OPTION_JSON, "json", NULL, "print JSON, one object per file", NULL}, OPTION_ROW_LIMIT, {0}};

static int log_run(int argc, char **argv)
{
    struct options o = {.command = &log_command, .argc = argc, .argv = argv};
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
        status = tool_worse(status, log_file(&sink, *files, json));
    return tool_worse(status, sink_close(&sink));
}

const struct command log_command = {
    .name = "log",
    .run = log_run,
    .summary = "list the kept commits",
    .usage = "[options] FILE...",
    .about = "Lists the kept commits of a file, the newest first: number, time,\n"
             "and end of allocated space.  The hint drep_keep sets how many are kept.",
    .options = log_option_rows,
    .examples = "  datarep log a.drep\n"
                "  datarep dump --commit 12 a.drep",
    .operands = "<drep>..."};
