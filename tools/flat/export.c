/* export.c - export to arrays, archives, tables and raw files.
 *
 * The target is written under a hidden name, read back through the reader that import uses,
 * compared, and gets its own name last.  Standard output and devices are written directly and
 * cannot be read back. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "base/vec.h"
#include "tools/flat/csv_out.h"
#include "tools/flat/format.h"
#include "tools/flat/npy_in.h"
#include "tools/flat/npy_out.h"
#include "tools/flat/outlet.h"
#include "tools/flat/raw_out.h"
#include "tools/flat/verify.h"
#include "tools/flat/zip.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/open.h"
#include "tools/host/outfile.h"
#include "tools/host/progress.h"
#include "tools/host/stop.h"
#include "tools/text/sink.h"
#include "tools/text/operand.h"
#include "tools/walk/unread.h"
#include "tools/walk/walk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ one array */

/* A file as it will be found: not what goes to standard output, a device or a pipe. */
static bool can_verify(const struct outlet *o, const struct outfile *out)
{
    return *out->hidden && !o->x->no_verify;
}

/* Reads a .npy file back; its descriptor stays the caller's. */
static int verify_npy(const struct extract *e, int fd)
{
    struct source s;
    int status = source_npy(&s, e->outlet->x->dst, fd);

    if (status)
        return status;
    status = flat_verify(e, &s, false);
    source_release(&s);
    return status;
}

/* The bytes of a table are those that were written.  (What stands in fields cannot tell all
 * values apart: a text and a number, a missing one and an empty text.) */
static int verify_table(const struct outlet *o, const struct outfile *out)
{
    static char buf[1 << 16];
    uint64_t sum = SINK_SUM, size = 0;
    ssize_t n;

    while ((n = pread(out->fd, buf, sizeof buf, (off_t)size)) > 0) {
        sum = sink_sum(sum, buf, (size_t)n);
        size += (uint64_t)n;
    }
    if (n == 0 && sum == o->sum && size == o->size)
        return 0;
    tool_say(o->x->dst, NULL, "%s",
             n < 0             ? strerror(errno)
             : size != o->size ? "fewer bytes than were written are read back"
                               : "other bytes than were written are read back");
    return n < 0 ? TOOL_IO : TOOL_CORRUPT;
}

static void say_rounded(struct outlet *o, const char *path, int64_t rounded)
{
    if (rounded == 0)
        return;
    tool_say(o->name, path, "warning: %lld values are rounded to what NumPy holds",
             (long long)rounded);
    o->left_out = true;
}

static int put_npy(const struct extract *e, const struct outfile *out)
{
    static char buf[1 << 16];
    struct outlet *o = e->outlet;
    struct npy_out *n;
    ssize_t size = 0;
    int64_t rounded;
    int status = npy_out_open(&n, e);

    if (status)
        return status == OUTLET_NONE ? TOOL_CORRUPT : status;
    while (!status && (size = npy_out_read(n, buf, sizeof buf, &status)) > 0)
        status = outlet_put(o, out->fd, buf, (size_t)size);
    rounded = npy_out_close(n);
    say_rounded(o, e->path, rounded);
    if (!status && rounded == 0 && can_verify(o, out))
        status = verify_npy(e, out->fd);
    return status;
}

/* Views want a name; what goes to standard output is made in a file that has one in /proc. */
static int put_raw(const struct extract *e, struct outfile *out)
{
    const struct outlet *o = e->outlet;
    const char *dir = getenv("TMPDIR");
    char name[4096], buf[1 << 16];
    ssize_t n = 1;
    int fd, status;

    if (o->f->records || *out->hidden)
        return raw_out(e, out->hidden, out->fd, can_verify(o, out));
    snprintf(name, sizeof name, "%s/datarep-XXXXXX", dir && *dir ? dir : "/tmp");
    fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0) {
        tool_say(name, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    unlink(name);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    status = raw_out(e, name, fd, false);
    while (!status && (n = read(fd, buf, sizeof buf)) > 0)
        status = outlet_put(o, out->fd, buf, (size_t)n);
    if (!status && n < 0)
        status = TOOL_IO;
    close(fd);
    return status;
}

static int put_dataset(const struct extract *e, struct outfile *out)
{
    const struct outlet *o = e->outlet;
    int status;

    if (e->info.rank == DREP_NULL_SPACE) {
        tool_say(o->name, e->path, "this dataset has no elements at all");
        return TOOL_USAGE;
    }
    /* Once on the way out, once on the way back. */
    progress_begin("export", PROGRESS_ITEMS,
                   (uint64_t)slice_count(&e->slice) *
                       (can_verify(o, out) && o->f->format != FLAT_CSV ? 2 : 1));
    if (o->f->format == FLAT_NPY)
        status = put_npy(e, out);
    else if (o->f->format == FLAT_CSV)
        status = csv_out(e, out->fd);
    else
        status = put_raw(e, out);
    if (o->f->format == FLAT_CSV && !status && can_verify(o, out))
        status = verify_table(o, out);
    progress_end();
    return status;
}

/* -------------------------------------------------------------------- archives */

/* The datasets of a group and below, to be asked for their bytes one after the other. */
struct archive_entry {
    struct outlet *o;
    char *path, *name;
    drep_dataset *ds;
    struct npy_out *npy;
    int64_t rounded;
    int status; /* how reading it failed */
};

struct archive {
    struct outlet *o;
    size_t above; /* bytes of the group's path */
    struct archive_entry *list;
    size_t len, cap;
    size_t verified; /* members that were read back */
};

static int archive_add_dataset(struct walk *walk, const struct walk_item *item)
{
    struct archive *a = walk->ctx;
    size_t size = strlen(item->path) + 6;

    if (item->link || item->info.kind != DREP_OBJ_DATASET)
        return 0;
    if (VEC_ROOM(a->list, a->len, a->cap, 1))
        return DREP_ERR_NOMEM;
    a->list[a->len] =
        (struct archive_entry){.o = a->o, .path = strdup(item->path), .name = malloc(size)};
    if (!a->list[a->len].path || !a->list[a->len].name) {
        free(a->list[a->len].path);
        free(a->list[a->len].name);
        return DREP_ERR_NOMEM;
    }
    snprintf(a->list[a->len].name, size, "%s.npy", item->path + a->above);
    a->len++;
    return 0;
}

static void archive_release(struct archive *a)
{
    size_t i;

    for (i = 0; i < a->len; i++) {
        if (a->list[i].npy)
            npy_out_close(a->list[i].npy);
        if (a->list[i].ds)
            drep_dataset_close(a->list[i].ds);
        free(a->list[i].path);
        free(a->list[i].name);
    }
    mem_free(a->list);
}

static int find_members(struct archive *a, const char *group)
{
    struct walk walk = {.file = a->o->file,
                        .file_name = a->o->name,
                        .depth = -1,
                        .enter = archive_add_dataset,
                        .ctx = a};
    int err;

    a->above = strcmp(group, "/") == 0 ? 1 : strlen(group) + 1;
    err = walk_run(&walk, group);
    return err ? tool_fail(a->o->name, group, err) : walk.status;
}

static int open_extract(struct archive_entry *m, struct extract *e)
{
    int err = drep_dataset_open(m->o->file, m->path, &m->ds);

    *e = (struct extract){.outlet = m->o, .path = m->path, .dataset = m->ds, .info = DREP_DSINFO};
    if (!err)
        err = drep_dataset_info(m->ds, &e->info);
    if (err)
        return tool_fail(m->o->name, m->path, err);
    if (e->info.rank != DREP_NULL_SPACE)
        slice_all(&e->slice, e->info.rank, e->info.dims);
    return 0;
}

/* Opens a member; what has no dtype is said and left out. */
static int open_member(struct archive_entry *m)
{
    struct extract e;
    int status = open_extract(m, &e);

    if (status)
        return status;
    if (e.info.rank == DREP_NULL_SPACE) {
        tool_say(m->o->name, m->path, "warning: no elements at all; left out");
        return OUTLET_NONE;
    }
    return npy_out_open(&m->npy, &e);
}

static void close_member(struct archive_entry *m)
{
    if (m->npy) {
        m->rounded = npy_out_close(m->npy);
        say_rounded(m->o, m->path, m->rounded);
    }
    if (m->ds)
        drep_dataset_close(m->ds);
    m->npy = NULL;
    m->ds = NULL;
}

static ssize_t begin_member(void *ctx)
{
    struct archive_entry *m = ctx;

    close_member(m);
    m->status = open_member(m);
    return m->status ? -1 : 0;
}

static ssize_t read_member(void *ctx, void *buf, size_t size)
{
    struct archive_entry *m = ctx;
    ssize_t n = npy_out_read(m->npy, buf, size, &m->status);

    if (n == 0)
        close_member(m);
    return n;
}

/* Leaves out what NumPy cannot hold before the archive begins. */
static int check_members(struct archive *a)
{
    size_t i, kept = 0;
    int status;

    for (i = 0; i < a->len; i++) {
        status = open_member(&a->list[i]);
        if (a->list[i].npy)
            npy_out_close(a->list[i].npy);
        if (a->list[i].ds)
            drep_dataset_close(a->list[i].ds);
        a->list[i].npy = NULL;
        a->list[i].ds = NULL;
        if (status && status != OUTLET_NONE)
            return status;
        if (!status) {
            struct archive_entry m = a->list[kept];

            a->list[kept++] = a->list[i];
            a->list[i] = m;
            continue;
        }
        a->o->left_out = true;
    }
    for (i = kept; i < a->len; i++) {
        free(a->list[i].path);
        free(a->list[i].name);
    }
    a->len = kept;
    return 0;
}

/* Writes the archive; a member that could not be read decides how that ends. */
static int make_archive(struct archive *a, const char *name, const char *path)
{
    struct zip_input *inputs = calloc(a->len + 1, sizeof *inputs);
    size_t i;
    int status;

    if (!inputs)
        return tool_no_memory();
    for (i = 0; i < a->len; i++)
        inputs[i] = (struct zip_input){.name = a->list[i].name,
                                       .begin = begin_member,
                                       .read = read_member,
                                       .ctx = &a->list[i]};
    status = zip_make(name, path, inputs, a->len);
    for (i = 0; i < a->len && status; i++)
        if (a->list[i].status)
            status = a->list[i].status;
    free(inputs);
    return status;
}

/* A member of the archive that was made, in a file of its own. */
static int verify_member(void *ctx, const char *name, int fd)
{
    struct archive *a = ctx;
    struct extract e;
    struct archive_entry *m;
    size_t i;
    int status;

    for (i = 0; i < a->len && strcmp(a->list[i].name, name) != 0; i++)
        ;
    if (i == a->len || a->list[i].rounded > 0)
        return 0;
    m = &a->list[i];
    a->verified++;
    status = open_extract(m, &e);
    if (!status)
        status = verify_npy(&e, fd);
    drep_dataset_close(m->ds);
    m->ds = NULL;
    return status;
}

static int verify_archive(struct archive *a, const struct outfile *out)
{
    int fd = open(out->hidden, O_RDONLY | O_CLOEXEC), status;
    size_t i, rounded = 0;

    if (fd < 0) {
        tool_say(a->o->x->dst, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    status = zip_each(a->o->x->dst, fd, verify_member, a);
    close(fd);
    for (i = 0; i < a->len; i++)
        rounded += a->list[i].rounded > 0;
    if (!status && a->verified != a->len - rounded) {
        tool_say(a->o->x->dst, NULL, "%zu of %zu arrays are read back", a->verified + rounded,
                 a->len);
        status = TOOL_CORRUPT;
    }
    return status;
}

static int put_archive(struct outlet *o, const char *group, const struct outfile *out)
{
    struct archive a = {.o = o};
    int status = find_members(&a, group);

    if (!status && !*out->hidden) {
        tool_say(o->x->dst, NULL, "an archive is made in a file");
        status = TOOL_USAGE;
    }
    if (!status)
        status = check_members(&a);
    if (!status && a.len == 0) {
        tool_say(o->name, group,
                 o->left_out ? "nothing is left for an archive"
                             : "there are no datasets in this group");
        status = o->left_out ? TOOL_CORRUPT : TOOL_USAGE;
    }
    if (!status)
        status = make_archive(&a, o->x->dst, out->hidden);
    if (!status && can_verify(o, out))
        status = verify_archive(&a, out);
    archive_release(&a);
    return status;
}

/* ------------------------------------------------------------------ command */

/* The only dataset of a group takes its place; *n is how many there are. */
static int only_dataset(struct outlet *o, struct operand *operand, size_t *n)
{
    struct archive a = {.o = o};
    int status = find_members(&a, operand->path);

    *n = a.len;
    if (!status && a.len == 1) {
        free(operand->path);
        operand->path = a.list[0].path;
        a.list[0].path = NULL;
    }
    archive_release(&a);
    return status;
}

static int put_one(struct outlet *o, struct operand *operand, struct outfile *out)
{
    struct extract e = {.outlet = o, .path = operand->path};
    int status = operand_open(operand, o->name, o->file, &e.dataset, &e.info, &e.slice);

    if (status)
        return status;
    status = put_dataset(&e, out);
    drep_dataset_close(e.dataset);
    return status;
}

static int put_operand(struct outlet *o, struct operand *operand, struct outfile *out)
{
    drep_objinfo object = DREP_OBJINFO;
    size_t n = 1;
    int status = 0, err = drep_stat(o->file, operand->path, &object);
    bool group = !err && object.kind == DREP_OBJ_GROUP && !operand->slice;

    if (o->f->format == FLAT_NPZ && group)
        return put_archive(o, operand->path, out);
    if (o->f->format == FLAT_NPZ) {
        tool_say(o->name, operand->path, "an archive is made from a group");
        return TOOL_USAGE;
    }
    if (group)
        status = only_dataset(o, operand, &n);
    if (!status && n == 1)
        return put_one(o, operand, out);
    if (!status && o->f->format == FLAT_CSV) {
        status = csv_out_group(o, operand->path, out->fd);
        return !status && can_verify(o, out) ? verify_table(o, out) : status;
    }
    if (!status) {
        if (n == 0)
            tool_say(o->name, operand->path, "there are no datasets in this group");
        else
            tool_say(o->name, operand->path, "%zu datasets; --root=PATH chooses one", n);
        status = TOOL_USAGE;
    }
    return status;
}

/* The marks of import in the datasets that are exported. */
struct marks {
    struct outlet *o;
    int64_t n;
};

/* Says the first of all. */
static int say_mark(const char *path, const struct unread_mark *mark, void *ctx)
{
    struct marks *m = ctx;
    char text[2000];

    if (m->n++ > 0)
        return 0;
    unread_text(mark, text, sizeof text);
    tool_say(m->o->name, path, "warning: %s", text);
    return 0;
}

/* Elements that import could not read are missing in the export, too. */
static void say_unread(struct outlet *o, const char *path)
{
    struct marks m = {o, 0};

    unread_below(o->file, path, say_mark, &m);
    if (m.n > 1)
        tool_say(o->name, NULL, "warning: %lld more such boxes; datarep check lists them",
                 (long long)m.n - 1);
    o->left_out |= m.n > 0;
}

int flat_export(const struct flat *f)
{
    struct outlet o = {.f = f, .x = f->x, .name = f->x->src};
    struct operand operand = {0};
    struct outfile out;
    int err, closed, status = tool_open(f->x->src, DREP_RDONLY, NULL, &o.file);

    if (status)
        return status;
    stop_catch();
    outfile_from(f->x->src);
    err = operand_init(&operand, o.file, f->x->root);
    status = err ? tool_no_memory() : outfile_open(&out, f->x->dst, f->x->excl);
    if (!status) {
        status = put_operand(&o, &operand, &out);
        closed = outfile_close(&out, !status);
        status = tool_worse(status, closed);
    }
    if (!status)
        say_unread(&o, operand.path);
    operand_release(&operand);
    drep_close(o.file);
    return !status && o.left_out ? TOOL_DIFFERS : status;
}
