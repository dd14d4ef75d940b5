/* refs.c - `datarep refs`: the references of a file, for zarr, xarray and fsspec. */
/* SPDX-License-Identifier: MIT */
#include "tools/refs/refs.h"
#include "tools/cmd/command.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/open.h"
#include "tools/host/outfile.h"
#include <datarep.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INLINE_BYTES 512
#define INLINE_LIMIT (INT64_C(1) << 30)

enum { OPTION_INLINE = OPTION_LONG, OPTION_STRICT, OPTION_URL };

struct refs_arguments {
    const char *output, *url, *plugins, *commit;
    bool force, excl, strict;
    int64_t small;
};

static int inline_option(const char *text, int64_t *small)
{
    char *end;

    errno = 0;
    *small = strtoll(text, &end, 10);
    if (errno || end == text || *end || *small < 0 || *small > INLINE_LIMIT)
        return tool_usage(refs_command.name, "--inline is a number of bytes up to 2^30, not '%s'",
                          text);
    return 0;
}

/* With --strict: what would be left out is said before anything is written. */
static int refs_try(struct refs_job *refs, drep_file *file)
{
    struct sink sink;
    int status, fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (fd < 0 || sink_init(&sink, fd)) {
        if (fd >= 0)
            close(fd);
        return tool_no_memory();
    }
    status = refs_write(refs, file, &sink);
    sink_release(&sink);
    close(fd);
    refs->left_out = 0;
    refs->quiet = true;
    return status == TOOL_DIFFERS ? TOOL_CORRUPT : status;
}

static int refs_output(struct refs_job *refs, drep_file *file, struct refs_arguments *a)
{
    struct outfile out;
    struct sink sink;
    int status = outfile_permit(a->output, &a->excl, a->force, NULL);

    if (!status)
        status = outfile_open(&out, a->output, a->excl);
    if (status)
        return status;
    if (sink_init(&sink, out.fd)) {
        outfile_close(&out, false);
        return tool_no_memory();
    }
    if (strcmp(a->output, "-") != 0)
        sink.name = a->output;
    status = refs_write(refs, file, &sink);
    status = tool_worse(status, sink_close(&sink));
    return tool_worse(status, outfile_close(&out, status <= TOOL_DIFFERS));
}

static int refs_of_file(const char *name, struct refs_arguments *a)
{
    struct refs_job refs = {.file_name = name, .small = a->small};
    drep_file *file = NULL;
    char *target = NULL;
    int status = refs_target(refs_command.name, name, a->url, &target);

    outfile_from(name);
    if (!status && outfile_same(name, a->output))
        status = tool_usage(refs_command.name, "the output is the file itself");
    refs.target = target;
    if (!status)
        status = tool_open_commit(name, DREP_RDONLY, a->plugins, a->commit, &file);
    if (!status && a->strict)
        status = refs_try(&refs, file);
    if (!status)
        status = refs_output(&refs, file, a);
    if (file)
        drep_close(file);
    free(target);
    return status;
}

static int refs_run(int argc, char **argv)
{
    struct options o = {.command = &refs_command, .argc = argc, .argv = argv};
    struct refs_arguments a = {.output = "-", .small = INLINE_BYTES};
    int option, status = 0;
    char **files;

    while (!status && (option = option_next(&o)) > 0) {
        if (option == 'o')
            a.output = optarg;
        if (option == OPTION_URL)
            a.url = optarg;
        if (option == OPTION_INLINE)
            status = inline_option(optarg, &a.small);
        if (option == OPTION_COMMIT)
            a.commit = optarg;
        if (option == OPTION_PLUGINS)
            a.plugins = optarg;
        a.strict |= option == OPTION_STRICT;
        a.force |= option == 'f';
        a.excl |= option == 'n';
    }
    if (status || option < 0)
        return status ? status : o.status;
    files = option_operands(&o, 1, 1, "which file?");
    return files ? refs_of_file(files[0], &a) : o.status;
}

static const struct option_row refs_option_rows[] = {
    {'o', "output", "FILE", "write to FILE, not to standard output", "<file>"},
    OPTION_ROWS_REPLACE,
    {OPTION_URL, "url", "URL", "where readers find the file (its absolute path)", ""},
    {OPTION_INLINE, "inline", "BYTES", "write datasets of at most so many bytes inline (512)", ""},
    {OPTION_STRICT, "strict", NULL, "write nothing if anything would be left out", NULL},
    OPTION_ROW_PLUGINS,
    OPTION_ROW_COMMIT,
    OPTION_ROW_EXTERNAL,
    OPTION_ROW_LIMIT,
    {0}};

const struct command refs_command = {
    .name = "refs",
    .run = refs_run,
    .summary = "write references to chunks, for zarr, xarray and fsspec",
    .usage = "[options] FILE",
    .about =
        "Writes kerchunk's reference JSON (version 1), by which zarr 2, xarray and fsspec read\n"
        "FILE without this library.  What zarr cannot express is left out, with the reason on\n"
        "stderr; the exit status is then 1.  References hold until FILE is written to again.",
    .options = refs_option_rows,
    .examples = "  datarep refs -o sst.json sst.drep\n"
                "  datarep refs --url https://example.org/sst.drep sst.drep > sst.json",
    .operands = "<drep>"};
