/* log.c - `datarep log`: the commits of a file that can still be opened. */
/* SPDX-License-Identifier: MIT */
#include "base/vec.h"
#include "tools/cmd/command.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/open.h"
#include "tools/text/sink.h"
#include <datarep.h>
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

/* Prints the datasets that a commit changed. */
struct changed {
    struct sink *s;
    drep_file *file;
    uint64_t commit;
};

static int put_dataset(const drep_visited *object, void *ctx)
{
    const struct changed *c = ctx;
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    int err;

    if (object->kind != DREP_OBJ_DATASET || drep_dataset_open(c->file, object->path, &ds))
        return 0;
    err = drep_dataset_info(ds, &info);
    if (!err && info.changed == c->commit) {
        sink_text(c->s, "              ");
        sink_name(c->s, object->path);
        sink_text(c->s, "\n");
    }
    drep_dataset_close(ds);
    return err;
}

static int put_changed(struct sink *s, const char *file_name, uint64_t commit)
{
    struct changed c = {.s = s, .commit = commit};
    char number[24];
    int err, status;

    snprintf(number, sizeof number, "%" PRIu64, commit);
    status = tool_open_commit(file_name, DREP_RDONLY, NULL, number, &c.file);
    if (status)
        return status;
    err = drep_visit(c.file, "/", DREP_BY_NAME, put_dataset, &c);
    status = err ? tool_fail(file_name, NULL, err) : TOOL_FINE;
    drep_close(c.file);
    return status;
}

static int put_text(struct sink *s, const char *file_name, const struct log *log, bool verbose)
{
    int status = TOOL_FINE;

    sink_name(s, file_name);
    sink_text(s, ":\n");
    for (size_t i = log->n; i-- > 0;) {
        sink_format(s, "%12" PRIu64 "  ", log->commit[i].sequence);
        sink_time(s, log->commit[i].time);
        sink_format(s, "  %" PRIu64 " bytes\n", log->commit[i].end);
        if (verbose)
            status = tool_worse(status, put_changed(s, file_name, log->commit[i].sequence));
    }
    return status;
}

static int log_file(struct sink *s, const char *file_name, bool json, bool verbose)
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
        status = put_text(s, file_name, &log, verbose);
    free(log.commit);
    drep_close(file);
    return status;
}

enum { OPTION_JSON = OPTION_LONG };

static const struct option_row log_option_rows[] = {
    {OPTION_JSON, "json", NULL, "print JSON, one object per file", NULL},
    {'v', "verbose", NULL, "print the datasets whose elements or shape each commit changed last",
     NULL},
    OPTION_ROW_LIMIT,
    {0}};

static int log_run(int argc, char **argv)
{
    struct options o = {.command = &log_command, .argc = argc, .argv = argv};
    int option, status = TOOL_FINE;
    struct sink sink;
    bool json = false, verbose = false;
    char **files;

    while ((option = option_next(&o)) > 0) {
        json |= option == OPTION_JSON;
        verbose |= option == 'v';
    }
    if (option < 0)
        return o.status;
    files = option_operands(&o, 1, INT_MAX, "which file?");
    if (!files)
        return o.status;
    if (sink_init(&sink, STDOUT_FILENO))
        return tool_no_memory();
    for (; *files; files++)
        status = tool_worse(status, log_file(&sink, *files, json, verbose));
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
