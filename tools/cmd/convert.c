/* convert.c - `datarep convert`: writes a file anew, perhaps in another data representation,
 * in other chunks or through other filters.
 *
 * drep_copy() does the work; here is what it is to do, and what it says. */
/* SPDX-License-Identifier: MIT */
#include "base/idset.h"
#include "base/vec.h"
#include "tools/cmd/choices.h"
#include "tools/cmd/command.h"
#include "tools/cmd/convert_cut.h"
#include "tools/flat/format.h"
#include "tools/flat/recipe.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/label.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include "tools/host/open.h"
#include "tools/host/outfile.h"
#include "tools/host/progress.h"
#include "tools/host/stop.h"
#include "tools/walk/walk.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPTION_DATAREP = OPTION_LONG,
    OPTION_ONLY,
    OPTION_CHUNK,
    OPTION_FILTERS,
    OPTION_PARTIAL,
    OPTION_ROOT,
    OPTION_RANGE,
    OPTION_VIRTUAL,
    OPTION_NO_DECODE
};

/* How datasets are to be stored: all of them, or one.  A later rule wins over an earlier one,
 * one that names its dataset over one that does not. */
struct rule {
    char *path; /* NULL: every dataset that it suits */
    uint64_t id;
    bool chunks; /* says how they are cut, else through which filters */
    int layout;  /* DREP_CHUNKED, with rank and chunk; DREP_CONTIGUOUS; AUTO */
    int rank;
    int64_t chunk[DREP_MAX_RANK];
    drep_filter filter[DREP_MAX_FILTERS];
    int nfilters;
};

struct loss {
    uint64_t id;
    drep_report report;
};

/* What a newer version wrote, and of which object; or why a dataset is kept as it is stored. */
struct omission {
    uint64_t id;
    char *message;
    bool kept;
};

struct convert_run {
    const char *source, *target;
    const char *datarep, *schema, *root, *plugins, *commit;
    int range;
    bool excl, force, verbose, partial, no_decode;
    bool keeps_external;    /* chunks stay in other files */
    bool stream;            /* the target is standard output */
    struct dataset_cut cut; /* what --root selects of a dataset */
    struct rule *rule;
    size_t nrules, rule_room;
    const char **only; /* --only: what takes the new representation; none: all */
    size_t nonly, only_room;
    struct idset chosen; /* the datasets that these are, or that are below them */
    struct loss *loss;
    size_t nlosses, loss_room;
    struct omission *omission;
    size_t nomissions, omission_room;
    char own[DREP_MAX_DATAREP_STRING]; /* that the schema says */
};

/* ---------------------------------------------------------------------- the rules */

/* "64,64", "auto" or "contiguous". */
static int parse_chunk(struct rule *r, const char *text)
{
    char *end;

    r->chunks = true;
    r->layout = strcmp(text, "contiguous") == 0 ? DREP_CONTIGUOUS : DREP_LAYOUT_AUTO;
    if (r->layout == DREP_CONTIGUOUS || strcmp(text, "auto") == 0)
        return 0;
    r->layout = DREP_CHUNKED;
    do {
        if (r->rank == DREP_MAX_RANK)
            return tool_usage(convert_command.name, "--chunk: at most %d lengths", DREP_MAX_RANK);
        errno = 0;
        r->chunk[r->rank] = strtoll(text, &end, 10);
        if (end == text || errno || r->chunk[r->rank] < 1 || (*end && *end != ','))
            return tool_usage(convert_command.name,
                              "--chunk is auto, contiguous or lengths such as 64,64, not '%s'",
                              text);
        r->rank++;
        text = end + 1;
    } while (*end);
    return 0;
}

/* "[PATH=]LIST". */
static int add_rule(struct convert_run *c, bool chunks, const char *text)
{
    const char *equals = strrchr(text, '=');
    struct rule *r;

    if (VEC_ROOM(c->rule, c->nrules, c->rule_room, 1))
        return tool_no_memory();
    r = &c->rule[c->nrules++];
    *r = (struct rule){.path = NULL};
    if (equals) {
        r->path = strndup(text, (size_t)(equals - text));
        if (!r->path)
            return tool_no_memory();
        text = equals + 1;
    }
    return chunks ? parse_chunk(r, text)
                  : choice_filters(convert_command.name, text, r->filter, &r->nfilters);
}

/* A rule that names a dataset learns its id. */
static int find_named(const struct convert_run *c, drep_file *file, struct rule *r)
{
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    int err = drep_dataset_open(file, r->path, &ds);

    if (err)
        return tool_fail(c->source, r->path, err);
    err = drep_dataset_info(ds, &info);
    drep_dataset_close(ds);
    if (err)
        return tool_fail(c->source, r->path, err);
    r->id = info.id;
    if (!r->chunks || r->layout != DREP_CHUNKED || r->rank == info.rank)
        return 0;
    tool_say(c->source, r->path, "has rank %d, --chunk %d lengths", info.rank, r->rank);
    return TOOL_USAGE;
}

static int find_all_named(const struct convert_run *c, drep_file *file)
{
    int status = 0;
    size_t i;

    for (i = 0; i < c->nrules && !status; i++)
        if (c->rule[i].path)
            status = find_named(c, file, &c->rule[i]);
    return status;
}

static int choose_dataset(struct walk *walk, const struct walk_item *item)
{
    struct convert_run *c = walk->ctx;
    bool first;

    return item->link || item->info.kind != DREP_OBJ_DATASET
               ? 0
               : idset_mark(&c->chosen, item->info.id, &first);
}

/* Refuse a slice behind a path of --only: part of a dataset has no representation of its own. */
static int refuse_slice(drep_file *file, const char *text)
{
    struct operand operand;
    bool sliced;

    if (operand_init(&operand, file, text))
        return tool_no_memory();
    sliced = operand.slice;
    operand_release(&operand);
    return !sliced ? 0
                   : tool_usage(convert_command.name,
                                "--only takes no slice; --root='%s' makes a file of these elements",
                                text);
}

/* Collect the datasets of --only. A group that cannot be listed fails the copy, which names it. */
static int find_chosen(struct convert_run *c, drep_file *file)
{
    struct walk walk = {
        .file = file, .depth = -1, .enter = choose_dataset, .ctx = c, .quiet = true};
    drep_objinfo info = DREP_OBJINFO;

    for (size_t i = 0; i < c->nonly; i++) {
        int err, status = refuse_slice(file, c->only[i]);

        if (status)
            return status;
        err = drep_stat(file, c->only[i], &info);
        if (err)
            return tool_fail(c->source, c->only[i], err);
        if (info.kind != DREP_OBJ_DATASET && info.kind != DREP_OBJ_GROUP) {
            tool_say(c->source, c->only[i], "--only: neither a dataset nor a group");
            return TOOL_USAGE;
        }
        if (walk_run(&walk, c->only[i]))
            return tool_no_memory();
    }
    return 0;
}

/* The rule that says how a dataset is cut, or filtered; NULL: it stays as it is. */
static const struct rule *rule_of(const struct convert_run *c, uint64_t id, const drep_spec *spec,
                                  bool chunks)
{
    const struct rule *found = NULL;
    size_t i;

    for (i = 0; i < c->nrules; i++) {
        const struct rule *r = &c->rule[i];

        if (r->chunks != chunks || (r->path && r->id != id) || (!r->path && found && found->path))
            continue;
        /* A value that stands in the tree gains nothing by either, and one rule for all is
         * meant for datasets of its rank. */
        if (!r->path &&
            (spec->layout == DREP_COMPACT || (r->layout == DREP_CHUNKED && r->rank != spec->rank)))
            continue;
        found = r;
    }
    return found;
}

static bool is_growing(const drep_spec *spec)
{
    int k;

    for (k = 1; k < spec->rank; k++)
        if (spec->maxdims[k] != spec->dims[k])
            return true;
    return false;
}

static int plan_dataset(uint64_t id, drep_spec *spec, void *ctx)
{
    const struct convert_run *c = ctx;
    const struct rule *chunk = rule_of(c, id, spec, true), *filter = rule_of(c, id, spec, false);

    if (idset_find(&c->chosen, id))
        spec->datarep = c->datarep;
    if (filter) {
        spec->filters = filter->filter;
        spec->nfilters = filter->nfilters;
        if (filter->nfilters > 0 && spec->layout != DREP_CHUNKED) {
            spec->layout = DREP_CHUNKED;
            spec->chunk = NULL;
        }
    }
    /* Datasets that cannot be contiguous stay chunked, unless they were named. */
    if (!chunk || (chunk->layout == DREP_CONTIGUOUS && !chunk->path &&
                   (spec->nfilters > 0 || is_growing(spec) || drep_type_variable(spec->type))))
        return 0;
    if (chunk->layout == DREP_CONTIGUOUS && !filter)
        spec->nfilters = 0;
    spec->layout = chunk->layout;
    spec->chunk = chunk->layout == DREP_CHUNKED ? chunk->chunk : NULL;
    return 0;
}

/* ---------------------------------------------------------------------- the work */

/* Nothing may be asked of the files while they are copied, so paths come later. */
static int add_loss(uint64_t id, const drep_report *report, void *ctx)
{
    struct convert_run *c = ctx;

    if (VEC_ROOM(c->loss, c->nlosses, c->loss_room, 1))
        return DREP_ERR_NOMEM;
    c->loss[c->nlosses++] = (struct loss){id, *report};
    return 0;
}

static int add_exception(struct convert_run *c, uint64_t id, const char *message, bool kept)
{
    struct omission o = {id, strdup(message), kept};

    if (!o.message || VEC_ROOM(c->omission, c->nomissions, c->omission_room, 1)) {
        free(o.message);
        return DREP_ERR_NOMEM;
    }
    c->omission[c->nomissions++] = o;
    return 0;
}

static int add_omission(uint64_t id, const char *message, void *ctx)
{
    return add_exception(ctx, id, message, false);
}

static int add_kept(uint64_t id, const char *message, void *ctx)
{
    return add_exception(ctx, id, message, true);
}

static int show_progress(int64_t bytes, void *ctx)
{
    (void)ctx;
    return progress_add((uint64_t)bytes);
}

static void say_losses(const struct convert_run *c, drep_file *file)
{
    size_t i;

    for (i = 0; i < c->nlosses; i++) {
        const drep_report *r = &c->loss[i].report;
        char *path = NULL;

        if (drep_object_path(file, c->loss[i].id, &path))
            path = NULL;
        tool_say(c->source, path,
                 "of %" PRId64 " values, %" PRId64 " overflowed, %" PRId64 " were rounded, %" PRId64
                 " NaNs lost their payload",
                 r->items, r->overflow, r->inexact, r->nan_lost);
        free(path);
    }
}

/* The library names objects by number; those of a path are named by that. */
static const char *without_number(const char *message)
{
    unsigned long long id;
    int n = 0;

    if (sscanf(message, "dataset \"object %llu\": %n", &id, &n) != 1 || n == 0)
        sscanf(message, "object %llu: %n", &id, &n);
    return message + n;
}

static void say_omissions(const struct convert_run *c, drep_file *file)
{
    for (size_t i = 0; i < c->nomissions; i++) {
        const char *message = c->omission[i].message;
        char *path = NULL;

        if (drep_object_path(file, c->omission[i].id, &path))
            path = NULL;
        tool_say(c->source, path, "%s: %s",
                 c->omission[i].kept ? "kept as it is stored" : "left out",
                 path ? without_number(message) : message);
        free(path);
    }
}

/* True if the file as a whole takes another representation, and not the datasets of --only. */
static bool replaces_all(const struct convert_run *c)
{
    return c->datarep && c->nonly == 0;
}

static int copy_all(struct convert_run *c, drep_file *from, drep_file *to)
{
    drep_copying how =
        DREP_COPYING(.datarep = replaces_all(c) ? NULL : DREP_DATAREP_STORED, .range = c->range,
                     .plan = plan_dataset, .lost = add_loss,
                     .left_out = c->partial ? add_omission : NULL, .unknown = add_omission,
                     .kept = c->no_decode ? add_kept : NULL, .progress = show_progress, .ctx = c,
                     .external = c->keeps_external);
    const char *root = c->root ? c->root : "/", *name = strrchr(root, '/');
    drep_objinfo info = DREP_OBJINFO;
    bool tty = isatty(STDERR_FILENO), cut = c->cut.found;
    int err = cut ? 0 : drep_stat(from, root, &info);

    if (err)
        return err;
    progress_begin("convert", PROGRESS_BYTES,
                   !tty  ? 0
                   : cut ? cut_bytes(&c->cut)
                         : walk_bytes(from, root));
    if (cut)
        err = cut_copy(&c->cut, from, to, &how);
    else if (info.kind == DREP_OBJ_GROUP && info.id == 1)
        err = drep_copy(from, "/", to, "/", &how);
    else
        err = drep_copy(from, root, to, name ? name : root, &how);
    progress_end();
    return err;
}

static void say_sizes(const struct convert_run *c)
{
    struct stat before, after;

    if (!c->verbose || c->stream || stat(c->source, &before) != 0 || stat(c->target, &after) != 0)
        return;
    tool_say(c->target, NULL, "%" PRId64 " bytes, were %" PRId64 " (%.3g)", (int64_t)after.st_size,
             (int64_t)before.st_size, (double)after.st_size / (double)before.st_size);
}

/* The new file, empty: in the representation that was asked for, or in that of the old one. */
static int create_target(const struct convert_run *c, drep_file *from, drep_file **to)
{
    int amode = c->excl ? DREP_EXCL : 0;
    const char *max;
    const char *datarep = replaces_all(c) ? c->datarep : NULL;
    drep_info *hints;
    int err = drep_header_hints(from, &hints);

    if (err)
        return err;
    /* The source's hints must not become those of the reader. */
    max = drep_info_get(hints, "drep_chunk_max");
    if (max && strtoull(max, NULL, 10) > limit_get(LIMIT_CHUNK))
        drep_info_delete(hints, "drep_chunk_max");
    err = limit_hints(hints);
    if (!err)
        err = drep_info_set(hints, "drep_pack", "true");
    if (!err && c->plugins)
        err = drep_info_set(hints, "drep_plugin_path", c->plugins);
    if (!err && c->stream)
        err = drep_create_stream(STDOUT_FILENO, datarep, datarep ? NULL : from, hints, to);
    else if (!err)
        err = datarep ? drep_create(label_opened(c->target), amode, datarep, hints, to)
                      : drep_create_like(label_opened(c->target), amode, from, hints, to);
    drep_info_free(hints);
    return err;
}

/* True if a partial copy leaves the reason of this error out: not for a filter or functions that
 * are only missing here. */
static bool is_later(int err)
{
    return (err == DREP_ERR_UNSUPPORTED || err == DREP_ERR_UNSUPPORTED_DATAREP) &&
           (strstr(drep_error(), "newer version") ||
            strstr(drep_error(), "beyond the limits of this version") ||
            strstr(drep_error(), "(R2.9)"));
}

/* True if chunks cannot be decoded for want of a filter. */
static bool is_undecodable(int err)
{
    return err == DREP_ERR_UNSUPPORTED && !is_later(err) && strstr(drep_error(), "filter ") &&
           (strstr(drep_error(), " is not here") || strstr(drep_error(), " is not built in") ||
            strstr(drep_error(), " is not registered"));
}

static int convert_into(struct convert_run *c, drep_file *from)
{
    bool in_place = !c->commit && !c->stream && outfile_same(c->source, c->target);
    drep_file *to;
    int status, err = create_target(c, from, &to);

    if (err)
        return tool_fail(c->target, NULL, err);
    stop_catch();
    /* Nobody writes to a file that is about to be replaced: its newest commit stays that. */
    err = in_place ? drep_refresh(from) : 0;
    if (!err)
        err = copy_all(c, from, to);
    if (err) {
        bool later = is_later(err), undecodable = is_undecodable(err);

        status = err == DREP_ERR_STOPPED && limit_stopped()
                     ? TOOL_IO
                     : tool_fail_copy(c->source, c->target, from, err);
        if (later && !c->partial)
            tool_say(c->source, NULL, "--partial copies what this version knows");
        if (undecodable && !c->no_decode)
            tool_say(c->source, NULL,
                     "--no-decode keeps datasets that cannot be decoded as they are stored");
        drep_abandon(to);
        return status;
    }
    err = drep_close(to);
    if (err)
        return tool_fail(c->target, NULL, err);
    say_losses(c, from);
    say_omissions(c, from);
    say_sizes(c);
    return c->nlosses > 0 || c->nomissions > 0 ? TOOL_DIFFERS : TOOL_FINE;
}

static int convert_file(struct convert_run *c)
{
    drep_file *from;
    bool whole;
    int status;

    if (c->nonly > 0 && !c->datarep && !c->schema)
        return tool_usage(convert_command.name, "--only needs --datarep, or a schema");
    c->stream = strcmp(c->target, "-") == 0;
    if (c->stream && isatty(STDOUT_FILENO))
        return tool_usage(convert_command.name, "the new file would go to a terminal");
    /* Who names a file twice wants it replaced, but by all of it. */
    whole = outfile_same(c->source, c->target) && !c->root && !c->partial;
    status = flat_permit(convert_command.name, c->target, &c->excl, c->force || whole);
    if (status)
        return status;
    if (c->schema) {
        status = recipe_datarep(c->schema, c->own, sizeof c->own);
        if (status)
            return status;
        c->datarep = c->datarep ? c->datarep : c->own;
    }
    status = tool_open_commit(c->source, DREP_RDONLY, c->plugins, c->commit, &from);
    if (status)
        return status;
    outfile_from(c->source);
    status = cut_find(&c->cut, c->source, from, c->root);
    if (!status)
        status = find_all_named(c, from);
    if (!status)
        status = find_chosen(c, from);
    if (!status)
        status = convert_into(c, from);
    drep_abandon(from);
    return status;
}

/* --------------------------------------------------------------- the command line */

static int convert_option(struct convert_run *c, int option)
{
    switch (option) {
    case OPTION_DATAREP:
        c->datarep = optarg;
        return 0;
    case OPTION_ONLY:
        if (VEC_ROOM(c->only, c->nonly, c->only_room, 1))
            return tool_no_memory();
        c->only[c->nonly++] = optarg;
        return 0;
    case OPTION_CHUNK:
    case OPTION_FILTERS:
        return add_rule(c, option == OPTION_CHUNK, optarg);
    case OPTION_PARTIAL:
        c->partial = true;
        return 0;
    case OPTION_VIRTUAL:
        c->keeps_external = true;
        return 0;
    case OPTION_NO_DECODE:
        c->no_decode = true;
        return 0;
    case OPTION_ROOT:
        if (c->root)
            return tool_usage(convert_command.name,
                              "--root is given once; `datarep netcdf ncks -d` cuts all variables");
        c->root = optarg;
        return 0;
    case OPTION_RANGE:
        return choice_range(convert_command.name, optarg, &c->range);
    case OPTION_PLUGINS:
        c->plugins = optarg;
        return 0;
    case OPTION_COMMIT:
        c->commit = optarg;
        return 0;
    case 's':
        c->schema = optarg;
        return 0;
    default:
        c->excl |= option == 'n';
        c->force |= option == 'f';
        c->verbose |= option == 'v';
        return 0;
    }
}

static void convert_release(struct convert_run *c)
{
    size_t i;

    for (i = 0; i < c->nrules; i++)
        free(c->rule[i].path);
    free(c->rule);
    free(c->only);
    idset_release(&c->chosen);
    cut_release(&c->cut);
    free(c->loss);
    for (i = 0; i < c->nomissions; i++)
        free(c->omission[i].message);
    free(c->omission);
}

static int convert_run(int argc, char **argv)
{
    struct options o = {.command = &convert_command, .argc = argc, .argv = argv};
    struct convert_run c = {.range = DREP_RANGE_STRICT};
    int option, status = 0;
    char **files;

    while (!status && (option = option_next(&o)) != 0)
        status = option < 0 ? -1 : convert_option(&c, option);
    if (status) {
        convert_release(&c);
        return status < 0 ? o.status : status;
    }
    files = option_operands(&o, 2, 2, "which files?  SOURCE TARGET");
    if (files) {
        c.source = files[0];
        c.target = files[1];
        o.status = convert_file(&c);
    }
    convert_release(&c);
    return o.status;
}

static const struct option_row convert_option_rows[] = {
    {OPTION_DATAREP, "datarep", "NAME", "representation of the new file (the old one's)",
     "<datarep>"},
    {OPTION_ONLY, "only", "PATH",
     "only this dataset, or those below this group, takes the\n"
     "representation; may be given several times",
     "<path>"},
    {'s', "schema", "SCHEMA", "declare its representations, use the one it names", "<schema>"},
    {OPTION_CHUNK, "chunk", "LIST",
     "64,64, auto or contiguous: chunks of all datasets of that\n"
     "rank, or of the dataset in PATH=LIST",
     "auto contiguous"},
    {OPTION_FILTERS, "filters", "LIST", "none, or shuffle,zstd:3: for all, or for PATH=LIST",
     "none"},
    {OPTION_PARTIAL, "partial", NULL, "leave out what a newer version wrote, and name it", NULL},
    {OPTION_NO_DECODE, "no-decode", NULL,
     "keep datasets that cannot be decoded here as they are stored", NULL},
    {OPTION_ROOT, "root", "PATH",
     "only this object and everything below it; a dataset or a part\n"
     "of one, '/t2m[time=2026-01, lat=40:60]', with its coordinates",
     NULL},
    {OPTION_RANGE, "range", "HOW", "values that do not fit: strict (fail), round, clamp or wrap",
     "strict round clamp wrap"},
    {OPTION_VIRTUAL, "virtual", NULL, "leave chunks that are in other files there", NULL},
    OPTION_ROW_COMMIT,
    OPTION_ROW_PLUGINS,
    OPTION_ROWS_REPLACE,
    {'v', "verbose", NULL, "print the size of both files", NULL},
    OPTION_ROW_EXTERNAL,
    OPTION_ROW_LIMIT,
    {0}};

const struct command convert_command = {
    .name = "convert",
    .run = convert_run,
    .summary = "rewrite a file with another storage",
    .usage = "[options] SOURCE.drep TARGET.drep",
    .about =
        "Copies a file without its free space: everything is kept, elements are converted if\n"
        "another data representation is given.  Losses are reported on stderr; the exit\n"
        "status is then 1.  The target appears when complete; it may be the source, and '-' is\n"
        "standard output, which is written in one pass.",
    .options = convert_option_rows,
    .examples = "  datarep convert --datarep=native:s390x --only=/sst --chunk=/sst=1,180,360 "
                "a.drep b.drep\n"
                "  datarep convert --root='/t2m[time=2026-01, lat=40:60]' a.drep - | "
                "ssh host 'cat > b.drep'",
    .operands = "<drep> <drep>"};
