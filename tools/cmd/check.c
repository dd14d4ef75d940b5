/* check.c - `datarep check`: verifies references and checksums, makes those that are absent,
 * writes what is left of a damaged file into a new one. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/command.h"
#include "tools/flat/format.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include "tools/host/open.h"
#include "tools/host/outfile.h"
#include "tools/host/stop.h"
#include "tools/host/utf8.h"
#include "tools/text/sink.h"
#include "tools/walk/unread.h"
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct check_run {
    const char *file_name, *commit;
    drep_file *file; /* the open one */
    bool quiet, json;
    int64_t said;   /* entries of the list that is printed as JSON */
    int64_t sealed; /* blocks of this file, -1: none were asked for */
    struct undone { /* what the last line must not promise */
        int64_t filtered, unsealed, unread, notes;
    } undone;
    struct sink sink;
};

/* ---- as JSON: a document for each file ---- */

static void list_begin(struct check_run *check, const char *key)
{
    check->said = 0;
    if (check->json)
        sink_format(&check->sink, ", \"%s\": [", key);
}

static void list_end(struct check_run *check)
{
    if (check->json)
        sink_text(&check->sink, check->said > 0 ? "\n]" : "]");
}

static void check_document_begin(struct check_run *check)
{
    if (!check->json)
        return;
    sink_document(&check->sink, "file", check->file_name);
    if (check->sealed >= 0)
        sink_format(&check->sink, ", \"sealed\": %" PRId64, check->sealed);
}

static void check_document_end(struct check_run *check, int status)
{
    if (check->json)
        sink_format(&check->sink, ", \"result\": \"%s\"}\n",
                    status == TOOL_FINE      ? "ok"
                    : status == TOOL_DIFFERS ? "findings"
                                             : "failed");
}

/* An entry of a list, up to its first member. */
static void json_entry(struct check_run *check)
{
    sink_text(&check->sink, check->said++ ? ",\n {" : "\n {");
}

static void json_finding(struct check_run *check, int err, uint64_t offset, const char *text)
{
    struct sink *s = &check->sink;

    json_entry(check);
    sink_format(s, "\"error\": %d, \"byte\": ", err);
    offset ? sink_u64(s, offset) : sink_text(s, "null");
    sink_text(s, ", \"message\": ");
    sink_quoted(s, text, strlen(text));
    sink_char(s, '}');
}

/* ---- what is found ---- */

static int put_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    struct check_run *check = ctx;
    struct sink *s = &check->sink;
    const char *raise = limit_advice(err, message ? message : "");
    char text[2000]; /* names in it may be anything */

    snprintf(text, sizeof text, "%s",
             message && *message ? tool_unnamed(check->file_name, message) : drep_strerror(err));
    if (check->json) {
        json_finding(check, err, offset, text);
    } else if (!check->quiet) {
        utf8_clean(text, sizeof text);
        sink_name(s, check->file_name);
        if (offset)
            sink_format(s, ": byte %" PRIu64, offset);
        sink_text(s, err ? ": " : ": note: ");
        sink_text(s, text);
        sink_text(s, raise ? "; " : "");
        sink_text(s, raise ? raise : "");
        sink_char(s, '\n');
    }
    check->undone.notes += !err;
    limit_said(err);
    return s->err || limit_over() ? DREP_ERR_STOPPED : 0;
}

static int put_leak(uint64_t offset, uint64_t length, void *ctx)
{
    struct check_run *check = ctx;
    struct sink *s = &check->sink;

    if (check->json) {
        json_entry(check);
        sink_format(s, "\"byte\": %" PRIu64 ", \"bytes\": %" PRIu64 "}", offset, length);
        return s->err ? DREP_ERR_STOPPED : 0;
    }
    sink_name(s, check->file_name);
    sink_format(s, ": note: %" PRIu64 " bytes at byte %" PRIu64 " belong to nothing\n", length,
                offset);
    return s->err ? DREP_ERR_STOPPED : 0;
}

/* Data without a checksum is neither right nor wrong. */
static int put_unsealed(const char *path, int64_t blocks, void *ctx)
{
    struct check_run *check = ctx;
    struct sink *s = &check->sink;
    drep_objusage usage = DREP_OBJUSAGE;

    check->undone.unsealed += blocks;
    drep_object_usage(check->file, path, &usage); /* an object without a path: 0 */
    if (check->json) {
        json_entry(check);
        sink_text(s, "\"path\": ");
        sink_quoted(s, path, strlen(path));
        sink_format(s, ", \"blocks\": %" PRId64 "}", blocks);
        return s->err ? DREP_ERR_STOPPED : 0;
    }
    sink_name(s, check->file_name);
    sink_text(s, ": note: ");
    sink_name(s, path);
    sink_format(s,
                ": not verified, blocks without a checksum: %" PRId64
                "; datarep check --seal%s computes them\n",
                blocks, usage.external > 0 ? " --external" : "");
    return s->err ? DREP_ERR_STOPPED : 0;
}

/* Elements that import has marked: their values are fill values. */
static int put_unread(const char *path, const struct unread_mark *mark, void *ctx)
{
    struct check_run *check = ctx;
    struct sink *s = &check->sink;
    char text[2000];

    check->undone.unread++;
    unread_text(mark, text, sizeof text);
    if (check->json) {
        json_entry(check);
        sink_text(s, "\"path\": ");
        sink_quoted(s, path, strlen(path));
        sink_text(s, ", \"elements\": ");
        mark->elements < 0 ? sink_text(s, "null") : sink_u64(s, (uint64_t)mark->elements);
        sink_text(s, ", \"box\": ");
        *mark->box ? sink_quoted(s, mark->box, strlen(mark->box)) : sink_text(s, "null");
        sink_text(s, ", \"message\": ");
        sink_quoted(s, text, strlen(text));
        sink_char(s, '}');
        return s->err ? DREP_ERR_STOPPED : 0;
    }
    utf8_clean(text, sizeof text);
    sink_name(s, check->file_name);
    sink_text(s, ": note: ");
    sink_name(s, path);
    sink_text(s, ": ");
    sink_text(s, text);
    sink_char(s, '\n');
    return s->err ? DREP_ERR_STOPPED : 0;
}

/* Chunks that import has carried over unseen. */
static int put_undecoded(const char *path, int64_t chunks, void *ctx)
{
    struct check_run *check = ctx;
    struct sink *s = &check->sink;

    if (check->json) {
        json_entry(check);
        sink_text(s, "\"path\": ");
        sink_quoted(s, path, strlen(path));
        sink_format(s, ", \"chunks\": %" PRId64 "}", chunks);
        return s->err ? DREP_ERR_STOPPED : 0;
    }
    sink_name(s, check->file_name);
    sink_text(s, ": note: ");
    sink_name(s, path);
    sink_format(s, ": %" PRId64 " chunks were not decoded at import; --deep decodes them\n",
                chunks);
    return s->err ? DREP_ERR_STOPPED : 0;
}

/* Chunks whose sums are right, which says nothing of what they decode to. */
static void put_filtered(struct check_run *check, int64_t chunks)
{
    struct sink *s = &check->sink;

    if (check->json) {
        sink_format(s, ", \"filtered\": %" PRId64, chunks);
    } else if (chunks > 0) {
        sink_name(s, check->file_name);
        sink_format(s, ": note: %" PRId64 " filtered chunks not decoded; --deep decodes them\n",
                    chunks);
    }
}

/* The last line: no more than was done. */
static void put_ok(struct check_run *check)
{
    const struct undone *u = &check->undone;
    struct sink *s = &check->sink;

    sink_name(s, check->file_name);
    sink_text(s, ": ok");
    if (u->filtered)
        sink_format(s, ", %" PRId64 " chunks not decoded", u->filtered);
    if (u->unsealed)
        sink_format(s, ", %" PRId64 " blocks not verified", u->unsealed);
    if (u->notes)
        sink_text(s, ", parts not verified as noted");
    if (u->unread)
        sink_text(s, ", elements missing as noted");
    sink_char(s, '\n');
}

/* Lists elements without values, chunks that nobody decoded, payload without checksums and leaked
 * bytes, which are no findings. */
static void put_notes(struct check_run *check, drep_file *file, bool deep)
{
    check->file = file;
    list_begin(check, "unread");
    unread_below(file, "/", put_unread, check); /* what cannot be read is a finding already */
    list_end(check);
    list_begin(check, "undecoded");
    if (!deep)
        undecoded_below(file, "/", put_undecoded, check);
    list_end(check);
    if (!deep)
        filtered_below(file, "/", &check->undone.filtered);
    put_filtered(check, check->undone.filtered);
    list_begin(check, "unverified");
    drep_unsealed(file, put_unsealed, check);
    list_end(check);
    list_begin(check, "unreferenced");
    drep_leaks(file, put_leak, check);
    list_end(check);
    if (!check->json)
        put_ok(check);
}

static int check_file(struct check_run *check, bool deep)
{
    int64_t findings = 0;
    drep_header header = DREP_HEADER;
    drep_file *file;
    int status = tool_open_commit(check->file_name, DREP_RDONLY | (deep ? 0 : DREP_HEADER_ONLY),
                                  NULL, check->commit, &file);
    int err;

    if (status)
        return status;
    check_document_begin(check);
    list_begin(check, "findings");
    err = drep_check(file, deep, put_finding, check, &findings);
    list_end(check);
    if (err && err != DREP_ERR_STOPPED)
        status = tool_fail(check->file_name, NULL, err);
    else if (findings > 0)
        status = TOOL_DIFFERS;
    /* tool_open() has told of a damaged slot on stderr; it is a finding too. */
    if (!status && drep_header_get(file, &header) == 0 && header.damaged_slot)
        status = TOOL_DIFFERS;
    if (!status && !check->quiet)
        put_notes(check, file, deep);
    check_document_end(check, status);
    drep_close(file);
    return status;
}

/* A rescue that found little must not look like one that found all. */
static void put_rebuilt(struct check_run *check, const char *name, bool whole)
{
    struct sink *s = &check->sink;
    drep_usage usage = DREP_USAGE;
    drep_file *file;

    if (drep_open(name, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &file) == 0) {
        drep_usage_get(file, &usage);
        drep_close(file);
    }
    if (check->json) {
        sink_text(s, ", \"repaired\": ");
        sink_quoted(s, name, strlen(name));
        sink_format(s, ", \"objects\": %" PRId64, usage.objects);
        return;
    }
    sink_name(s, name);
    if (whole)
        sink_format(s, ": rebuilt whole, objects: %" PRId64 "\n", usage.objects);
    else if (usage.objects > 1)
        sink_format(s, ": rebuilt but for what is said above, objects: %" PRId64 "\n",
                    usage.objects);
    else
        sink_text(s, ": no object was found; what is there is an empty group\n");
}

/* Copy the readable part of a file into a new one. */
static int repair_file(struct check_run *check, const char *target, bool excl)
{
    int64_t findings = 0;
    drep_info *info;
    int status, err = tool_info(NULL, &info);

    limit_file_named(check->file_name);
    limit_object(check->file_name, NULL);
    stop_catch();
    outfile_from(check->file_name);
    check_document_begin(check);
    list_begin(check, "findings");
    if (!err)
        err = drep_repair(check->file_name, target, excl ? DREP_EXCL : 0, info, put_finding, check,
                          &findings);
    drep_info_free(info);
    list_end(check);

    if (!check->quiet && !err)
        put_rebuilt(check, target, findings == 0);
    status = err && err != DREP_ERR_STOPPED ? tool_fail(check->file_name, NULL, err)
             : findings > 0                 ? TOOL_DIFFERS
                                            : TOOL_FINE;
    check_document_end(check, status);
    return status;
}

static int seal_file(struct check_run *check)
{
    struct sink *s = &check->sink;
    int64_t blocks = 0;
    drep_file *file;
    int err, status = tool_open(check->file_name, DREP_RDWR, NULL, &file);

    if (status)
        return status;
    err = drep_seal(file, &blocks);
    if (err)
        drep_abandon(file);
    else
        err = drep_close(file);
    if (err)
        return tool_fail(check->file_name, NULL, err);
    check->sealed = blocks;
    if (!check->quiet && !check->json) {
        sink_name(s, check->file_name);
        sink_format(s, ": %" PRId64 " blocks sealed\n", blocks);
    }
    return TOOL_FINE;
}

enum { OPTION_REPAIR = OPTION_LONG, OPTION_SEAL, OPTION_JSON };

static const struct option_row check_option_rows[] = {
    {'d', "deep", NULL, "also decode every chunk and convert every element", NULL},
    {'q', "quiet", NULL, "print nothing, set only the exit status", NULL},
    {OPTION_REPAIR, "repair", "NEW", "write the readable part of FILE into NEW", "<drep>"},
    OPTION_ROWS_REPLACE,
    {OPTION_SEAL, "seal", NULL, "compute absent checksums (drep_checksum=deferred)", NULL},
    {OPTION_JSON, "json", NULL, "print JSON, one object per file", NULL},
    OPTION_ROW_COMMIT,
    OPTION_ROW_EXTERNAL,
    OPTION_ROW_LOCK_WAIT,
    OPTION_ROW_LIMIT,
    {0}};

struct check_options {
    const char *repair;
    bool deep, seal, excl, force;
};

static int check_files(struct check_run *check, const struct check_options *asked, char **files)
{
    int status = TOOL_FINE;

    for (; *files; files++) {
        check->file_name = *files;
        check->sealed = -1;
        check->undone = (struct undone){0};
        if (asked->seal)
            status = tool_worse(status, seal_file(check));
        status = tool_worse(status, asked->repair ? repair_file(check, asked->repair, asked->excl)
                                                  : check_file(check, asked->deep));
    }
    return status;
}

static int check_run(int argc, char **argv)
{
    struct options o = {.command = &check_command, .argc = argc, .argv = argv};
    struct check_run check = {.quiet = false};
    struct check_options asked = {.repair = NULL};
    int option, status;
    char **files;

    while ((option = option_next(&o)) > 0) {
        asked.deep |= option == 'd';
        asked.seal |= option == OPTION_SEAL;
        asked.excl |= option == 'n';
        asked.force |= option == 'f';
        check.quiet |= option == 'q';
        check.json |= option == OPTION_JSON;
        if (option == OPTION_REPAIR)
            asked.repair = optarg;
        if (option == OPTION_COMMIT)
            check.commit = optarg;
    }
    if (option < 0)
        return o.status;
    if (check.quiet && check.json)
        return tool_usage(check_command.name, "one of --json and -q");
    if (asked.repair && asked.seal)
        return tool_usage(check_command.name, "a damaged file is not sealed");
    if (check.commit && (asked.repair || asked.seal))
        return tool_usage(check_command.name, "an earlier commit is only looked at");
    files = option_operands(&o, 1, asked.repair ? 1 : INT_MAX, "which file?");
    if (!files)
        return o.status;
    if (asked.repair && outfile_same(files[0], asked.repair))
        return tool_usage(check_command.name, "%s would replace itself; name another file",
                          asked.repair);
    if (asked.repair) {
        status = flat_permit(check_command.name, asked.repair, &asked.excl, asked.force);
        if (status)
            return status;
    }
    if (sink_init(&check.sink, STDOUT_FILENO))
        return tool_no_memory();
    status = check_files(&check, &asked, files);
    return tool_worse(status, sink_close(&check.sink));
}

const struct command check_command = {
    .name = "check",
    .run = check_run,
    .summary = "verify references and checksums, repair a file",
    .usage = "[options] FILE...\n[options] --repair=NEW FILE",
    .about = "Verifies all references and checksums of the last commit, and prints one line for\n"
             "each finding.  Exit status: 0 no findings, 1 findings, 4 cannot be opened.\n"
             "With --repair the readable part is written into a new file, and losses are\n"
             "reported; FILE is not changed.",
    .options = check_option_rows,
    .examples = "  datarep check *.drep\n"
                "  datarep check --repair=b.drep a.drep",
    .operands = "<drep>..."};
