/* join.c - `datarep join`: files one behind the other along a dimension.
 *
 * With --virtual the new file has no elements of the joined variables, but rows that name the bytes
 * of their chunks in the sources, of which only headers are read. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/join.h"
#include "base/url.h"
#include "base/vec.h"
#include "tools/cmd/attributes.h"
#include "tools/cmd/command.h"
#include "tools/flat/format.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/foreign.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include "tools/host/open.h"
#include "tools/host/outfile.h"
#include "tools/host/progress.h"
#include "tools/host/stop.h"
#include "tools/walk/stretch.h"
#include "tools/walk/walk.h"
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Coordinates along the dimension that are copied: whoever opens the file reads them at once, from
 * one place and not from as many files as there are. */
#define SMALL ((int64_t)64 << 10)

enum { OPTION_VIRTUAL = OPTION_LONG, OPTION_DIM, OPTION_COPY };

/* --------------------------------------------------------------- the dimension */

struct dimensions {
    const char *wanted; /* NULL: the unlimited one, or the only one */
    char *found;        /* its address */
    uint64_t id;
    int n, unlimited, named; /* how many there are */
    char list[400];          /* their names */
};

static int note_dimension(struct walk *walk, const struct walk_item *item)
{
    struct dimensions *ds = walk->ctx;
    size_t len = strlen(ds->list);
    bool named;

    if (item->link || item->info.kind != DREP_OBJ_DIMENSION)
        return 0;
    named =
        ds->wanted && (strcmp(ds->wanted, item->name) == 0 || strcmp(ds->wanted, item->path) == 0);
    snprintf(ds->list + len, sizeof ds->list - len, "%s%s", len ? ", " : "", item->path);
    ds->n++;
    ds->unlimited += item->info.unlimited != 0;
    ds->named += named;
    if (!named && (ds->wanted || (ds->n > 1 && (!item->info.unlimited || ds->unlimited > 1))))
        return 0;
    free(ds->found);
    ds->found = strdup(item->path);
    ds->id = item->info.id;
    return ds->found ? 0 : DREP_ERR_NOMEM;
}

static int find_dimension(struct join_job *j, const struct join_source *s)
{
    struct dimensions ds = {.wanted = j->dim};
    struct walk walk = {.file = s->file, .depth = -1, .enter = note_dimension, .ctx = &ds};
    bool sure;

    if (walk_run(&walk, "/")) {
        free(ds.found);
        return tool_no_memory();
    }
    sure = j->dim ? ds.named == 1 : ds.unlimited == 1 || ds.n == 1;
    if (sure) {
        j->address = ds.found;
        j->id = ds.id;
        return walk.status;
    }
    free(ds.found);
    if (ds.n == 0)
        tool_say(s->name, NULL, "it has no dimensions with names");
    else if (j->dim)
        tool_say(s->name, NULL, "%s dimension %s; it has %s",
                 ds.named ? "there is more than one" : "there is no", j->dim, ds.list);
    else
        tool_say(s->name, NULL, "along which dimension? --dim=NAME, of %s", ds.list);
    return TOOL_USAGE;
}

/* --------------------------------------------------------------- the variables */

/* True if chunks of a joined variable stay in their files: not of small coordinates, of what stands
 * among metadata, or of elements with contents elsewhere. */
static bool is_by_rows(const struct join_job *j, const drep_dsinfo *info)
{
    return j->virtual && info->layout != DREP_COMPACT && !drep_type_variable(info->type) &&
           (info->rank > 1 || info->count > SMALL / info->element_size);
}

static int add_variable(struct join_job *j, const struct join_source *s, const char *path)
{
    struct join_variable v = {.dim = -1, .info = DREP_DSINFO};
    drep_dataset *ds = NULL;
    int times = 0, err = drep_dataset_open(s->file, path, &ds);

    if (!err)
        err = drep_dataset_info(ds, &v.info);
    for (int d = 0; !err && d < v.info.rank; d++)
        if (v.info.dim_ids[d] == j->id) {
            v.dim = d;
            times++;
        }
    if (!err)
        v.rows = v.dim >= 0 && is_by_rows(j, &v.info);
    if (!err && v.dim >= 0 && (times > 1 || attributes_refer(v.info.type))) {
        tool_say(s->name, path,
                 times > 1 ? "it has the dimension twice: it cannot be joined"
                           : "references to objects cannot be joined");
        drep_dataset_close(ds);
        return TOOL_CORRUPT;
    }
    drep_dataset_close(ds);
    if (err)
        return tool_fail(s->name, path, err);
    v.path = strdup(path);
    if (!v.path || VEC_ROOM(j->variable, j->n, j->room, 1)) {
        free(v.path);
        return tool_no_memory();
    }
    j->variable[j->n++] = v;
    return 0;
}

/* A walk over a source. */
struct join_run {
    struct join_job *j;
    const struct join_source *s;
};

static int collect_variable(struct walk *walk, const struct walk_item *item)
{
    const struct join_run *c = walk->ctx;

    return item->link || item->info.kind != DREP_OBJ_DATASET ? 0
                                                             : add_variable(c->j, c->s, item->path);
}

/* The datasets of the first source, which are those of the new file. */
static int collect_variables(struct join_job *j, const struct join_source *s)
{
    struct join_run c = {j, s};
    struct walk walk = {
        .file = s->file, .file_name = s->name, .depth = -1, .enter = collect_variable, .ctx = &c};
    int status = walk_run(&walk, "/"), joined = 0;

    for (size_t i = 0; i < j->n; i++)
        joined += j->variable[i].dim >= 0;
    if (status || walk.status || joined > 0)
        return status ? status : walk.status;
    tool_say(s->name, j->address, "no variable has this dimension");
    return TOOL_USAGE;
}

static struct join_variable *variable_of(struct join_job *j, const char *path)
{
    for (size_t i = 0; i < j->n; i++)
        if (strcmp(j->variable[i].path, path) == 0)
            return &j->variable[i];
    return NULL;
}

/* ---------------------------------------------------------------- the new file */

struct planning {
    struct join_job *j;
    bool foreign;
    int64_t chunk[DREP_MAX_RANK];
};

/* How a dataset is kept, which the first source keeps as `info` says. */
static void plan_variable(struct planning *p, const struct join_variable *v, drep_spec *spec)
{
    const drep_dsinfo *info = &v->info;

    if (v->dim < 0 || !v->rows) {
        /* Chunks of a container that names others' bytes are not made to be kept. */
        if (spec->layout == DREP_COMPACT && v->dim < 0)
            return;
        if (v->dim >= 0 || (p->foreign && spec->nfilters == 0)) {
            spec->layout = spec->nfilters > 0 ? DREP_CHUNKED : DREP_LAYOUT_AUTO;
            spec->chunk = spec->nfilters > 0 ? spec->chunk : NULL;
        }
        return;
    }
    if (info->layout == DREP_CONTIGUOUS) {
        stretch_chunk(info->rank, info->dims, info->element_size, p->chunk);
    } else {
        int64_t whole[DREP_MAX_RANK];

        memcpy(p->chunk, info->chunk, sizeof p->chunk);
        memcpy(whole, info->chunk, sizeof whole);
        whole[0] = info->dims[0] < whole[0] && info->dims[0] > 0 ? info->dims[0] : whole[0];
        /* Steps of one dimension that lie one behind the other may be single chunks. */
        if (info->nfilters == 0 && v->dim == 0)
            stretch_chunk(info->rank, whole, info->element_size, p->chunk);
    }
    spec->layout = DREP_CHUNKED;
    spec->chunk = p->chunk;
}

static int plan_joined(uint64_t id, drep_spec *spec, void *ctx)
{
    struct planning *p = ctx;

    for (size_t i = 0; i < p->j->n; i++)
        if (p->j->variable[i].info.id == id) {
            plan_variable(p, &p->j->variable[i], spec);
            break;
        }
    return 0;
}

static int create_joined(struct join_job *j, const struct join_source *s)
{
    drep_info *hints;
    int err = tool_info(j->plugins, &hints);

    if (!err)
        err = drep_info_set(hints, "drep_pack", "true");
    if (!err && j->virtual)
        err = drep_info_set(hints, "drep_external", "true");
    if (!err)
        err = drep_create_like(j->target, j->excl ? DREP_EXCL : 0, s->file, hints, &j->file);
    drep_info_free(hints);
    return err ? tool_fail(j->target, NULL, err) : 0;
}

/* Opens a dataset of the new file, and learns how it is kept there. */
static int open_variable(struct join_job *j, struct join_variable *v)
{
    int err = drep_dataset_open(j->file, v->path, &v->ds);

    if (!err)
        err = drep_dataset_info(v->ds, &v->info);
    if (!err && v->rows) {
        v->fill = calloc(1, (size_t)drep_type_extent(v->info.type) + 1);
        err = v->fill ? drep_dataset_fill(v->ds, v->info.type, v->fill) : DREP_ERR_NOMEM;
    }
    return err ? tool_fail(j->target, v->path, err) : 0;
}

/* Makes the objects of the first source, with all elements but those that are joined. */
static int make_objects(struct join_job *j, const struct join_source *s)
{
    struct planning p = {.j = j, .foreign = s->foreign};
    drep_copying how = DREP_COPYING(.datarep = DREP_DATAREP_STORED, .range = DREP_RANGE_STRICT,
                                    .plan = plan_joined, .ctx = &p, .emptied = j->id);
    int status = 0, err = drep_copy(s->file, "/", j->file, "/", &how);

    if (err)
        return tool_fail_copy(s->name, j->target, s->file, err);
    for (size_t i = 0; !status && i < j->n; i++)
        status = open_variable(j, &j->variable[i]);
    return status;
}

/* ----------------------------------------------------------------- the sources */

static int check_known(struct walk *walk, const struct walk_item *item)
{
    const struct join_run *c = walk->ctx;

    if (item->link || item->info.kind != DREP_OBJ_DATASET || variable_of(c->j, item->path))
        return 0;
    tool_say(c->s->name, item->path, "there is no such variable in %s", c->j->source[0]);
    return TOOL_DIFFERS;
}

/* Grow a variable to the length that all have when this source has been joined. */
static int grow_variable(struct join_job *j, struct join_variable *v, int64_t length)
{
    int64_t dims[DREP_MAX_RANK];
    int err;

    memcpy(dims, v->info.dims, sizeof dims);
    dims[v->dim] = length;
    err = drep_dataset_resize(v->ds, dims);
    return err ? tool_fail(j->target, v->path, err) : 0;
}

static int add_dataset(struct join_job *j, struct join_source *s, struct join_variable *v,
                       int64_t length, bool first)
{
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds = NULL;
    int status = 0, err = drep_dataset_open(s->file, v->path, &ds);

    if (err == DREP_ERR_NOT_FOUND) {
        tool_say(s->name, v->path, "there is no such variable, as in %s", j->source[0]);
        return TOOL_DIFFERS;
    }
    if (!err)
        err = drep_dataset_info(ds, &info);
    if (err)
        status = tool_fail(s->name, v->path, err);
    else if (!first)
        status = join_check(j, s, v, ds, &info);
    if (!status && v->dim >= 0)
        status = grow_variable(j, v, j->length + length);
    if (!status && v->dim >= 0)
        status = join_append(j, s, v, ds, &info);
    drep_dataset_close(ds);
    return status;
}

static int add_source(struct join_job *j, struct join_source *s, bool first)
{
    struct join_run c = {j, s};
    struct walk walk = {
        .file = s->file, .file_name = s->name, .depth = -1, .enter = check_known, .ctx = &c};
    drep_objinfo dim = DREP_OBJINFO;
    int status = 0, err = drep_stat(s->file, j->address, &dim);

    if (err) {
        tool_say(s->name, NULL, "there is no dimension %s, as in %s", j->address, j->source[0]);
        return TOOL_DIFFERS;
    }
    limit_object(s->name, NULL);
    if (!first) {
        status = walk_run(&walk, "/");
        status = status ? status : walk.status;
    }
    for (size_t i = 0; !status && i < j->n; i++)
        status = add_dataset(j, s, &j->variable[i], dim.len, first);
    j->length += dim.len;
    return status;
}

static int begin_join(struct join_job *j, const struct join_source *s)
{
    int status = find_dimension(j, s);

    if (!status)
        status = collect_variables(j, s);
    outfile_from(s->name);
    if (!status)
        status = create_joined(j, s);
    return status ? status : make_objects(j, s);
}

static int add_all(struct join_job *j)
{
    int status = 0;

    progress_begin("join", PROGRESS_ITEMS, (uint64_t)j->sources);
    for (int i = 0; !status && i < j->sources; i++) {
        struct join_source s;

        status = join_source_open(j, j->source[i], &s);
        if (!status && i == 0)
            status = begin_join(j, &s);
        if (!status)
            status = add_source(j, &s, i == 0);
        join_source_close(&s);
        if (progress_add(1) && !status)
            status = TOOL_IO;
    }
    progress_end();
    return status;
}

static void say_done(const struct join_job *j)
{
    int rows = 0, joined = 0;
    char how[160] = "";

    for (size_t i = 0; i < j->n; i++) {
        joined += j->variable[i].dim >= 0;
        rows += j->variable[i].rows;
    }
    if (j->virtual)
        snprintf(how, sizeof how,
                 ", %d of them by %" PRId64 " chunks that stay in these files (open it with "
                 "--external)",
                 rows, j->rows);
    tool_say(j->target, NULL,
             "%d files joined along %s, which is %" PRId64 " long; variables: %d%s; %" PRId64
             " bytes copied",
             j->sources, strrchr(j->address, '#') + 1, j->length, joined, how, j->copied);
}

static void release_join(struct join_job *j)
{
    for (size_t i = 0; i < j->n; i++) {
        drep_dataset_close(j->variable[i].ds);
        free(j->variable[i].path);
        free(j->variable[i].fill);
    }
    free(j->variable);
    free(j->address);
}

/* True for a Datarep, HDF5 or netCDF file, which may be a source whose target was forgotten. */
static bool is_like_source(const char *path)
{
    struct stat st;
    char front[16];
    drep_file *file;
    FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rbe") : NULL;
    bool like;

    if (!f)
        return false;
    like = foreign_is_netcdf(front, fread(front, 1, sizeof front, f));
    rewind(f);
    like = like || foreign_is_hdf5(f);
    fclose(f);
    if (like || drep_open(path, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &file))
        return like;
    drep_close(file);
    return true;
}

/* The gate of the target.  --force is not advised alone where it could replace a source. */
static int permit_target(struct join_job *j)
{
    if (j->force || j->excl || !is_like_source(j->target))
        return outfile_permit(j->target, &j->excl, j->force, NULL);
    tool_say(j->target, NULL,
             "file exists; the target is the last argument, and --force replaces it");
    return TOOL_IO;
}

static int join_files(struct join_job *j)
{
    int err, status;

    if (url_is(j->target))
        return tool_usage(join_command.name, "the new file is a local one, which `datarep convert` "
                                             "sends to a URL");
    status = permit_target(j);
    for (int i = 0; !status && i < j->sources; i++)
        if (outfile_same(j->source[i], j->target))
            status = tool_usage(join_command.name, "%s is both source and target", j->target);
    if (!status)
        status = flat_permit_name(join_command.name, j->target);
    if (status)
        return status;
    stop_catch();
    status = add_all(j);
    if (status && j->file) {
        drep_abandon(j->file);
    } else if (j->file && (err = drep_close(j->file))) {
        status = tool_fail(j->target, NULL, err);
    }
    if (!status)
        say_done(j);
    release_join(j);
    return status;
}

/* ------------------------------------------------------------ the command line */

static int join_run(int argc, char **argv)
{
    struct join_job j = {.target = NULL};
    struct options o = {.command = &join_command, .argc = argc, .argv = argv};
    int option;
    char **files;

    while ((option = option_next(&o)) > 0) {
        j.virtual |= option == OPTION_VIRTUAL;
        j.copy |= option == OPTION_COPY;
        j.force |= option == 'f';
        j.excl |= option == 'n';
        j.verbose |= option == 'v';
        if (option == OPTION_DIM)
            j.dim = optarg;
        if (option == OPTION_PLUGINS)
            j.plugins = optarg;
    }
    if (option < 0)
        return o.status;
    files = option_operands(&o, 2, INT_MAX, "which files?  SOURCE... TARGET");
    if (!files)
        return o.status;
    if (j.copy && !j.virtual)
        return tool_usage(join_command.name, "--copy belongs to --virtual: without it all "
                                             "elements are copied");
    while (files[j.sources + 1])
        j.sources++;
    j.source = files;
    j.target = files[j.sources];
    return join_files(&j);
}

static const struct option_row join_option_rows[] = {
    {OPTION_DIM, "dim", "NAME", "the dimension (the unlimited one, or the only one)", ""},
    {OPTION_VIRTUAL, "virtual", NULL,
     "leave chunks in the sources, below FILE's directory, and refer to them", NULL},
    {OPTION_COPY, "copy", NULL, "with --virtual: copy the elements of chunks that cannot stay",
     NULL},
    OPTION_ROWS_REPLACE,
    {'v', "verbose", NULL, "say what --copy copies, and why", NULL},
    OPTION_ROW_EXTERNAL,
    OPTION_ROW_PLUGINS,
    OPTION_ROW_LIMIT,
    {0}};

const struct command join_command = {
    .name = "join",
    .run = join_run,
    .summary = "join files along a dimension",
    .usage = "[options] SOURCE... FILE.drep",
    .about = "Joins Datarep, HDF5 and netCDF files, one behind the other along a dimension.\n"
             "Variables without it must be equal in all.  With --virtual only headers are read.",
    .options = join_option_rows,
    .examples = "  datarep join jan.nc feb.nc mar.nc quarter.drep\n"
                "  datarep join --virtual --dim=time 2024/*.nc year.drep",
    .operands = "<file>... <drep>"};
