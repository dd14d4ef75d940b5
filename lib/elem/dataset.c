/* dataset.c - open datasets: one handle an object and file, which all openers share. */
/* SPDX-License-Identifier: MIT */
#include "elem/dataset.h"

#include "base/handle.h"
#include "base/mem.h"
#include "chunk/filter.h"
#include "chunk/registry.h"
#include "conv/refs.h"
#include "elem/fill.h"
#include "elem/payload.h"
#include "name/external.h"
#include "name/path.h"
#include "tree/find.h"

#include <pthread.h>
#include <string.h>

/* ---- what a handle knows ---- */

int dataset_type(drep_file *f, const struct object_rec *rec, const struct file_datarep *entry,
                 const struct file_rep *rep, struct ftype **out)
{
    const drep_type *code = rec->type < FMT_TYPE_FIRST ? drep_predefined((int)rec->type) : NULL;
    struct ftype *ft;
    int err = code ? rep_lists(entry, code) : 0; /* else its size is unknown, too */

    if (!err)
        err = ftype_get(f, rec->type, rep, &ft);
    if (!err && !code)
        err = rep_lists(entry, ft->type);
    if (!err)
        err = shape_check(rec, ft);
    if (!err)
        *out = ft;
    return err;
}

/* Missing functions are an error only where elements are moved (dataset_usable). */
static int load_rep(drep_dataset *ds)
{
    int err = rep_get_number(ds->file, ds->rec.datarep, &ds->entry);

    if (err)
        return err;
    ds->rep = &ds->entry->rep;
    return rep_resolved(ds->file, ds->entry, &ds->rep) == DREP_ERR_NOMEM ? fail_nomem() : 0;
}

int dataset_usable(drep_dataset *ds)
{
    const struct file_rep *rep;
    int err;

    if (ds->rep->datarep || (ds->file->amode & DREP_HEADER_ONLY) || !type_has_codes(ds->ft->type))
        return 0;
    err = rep_resolved(ds->file, ds->entry, &rep);
    return err ? err
               : fail(DREP_ERR_UNSUPPORTED_DATAREP,
                      "datarep \"%s\" was not registered when the dataset was opened",
                      ds->rep->name);
}

int dataset_check(const drep_dataset *ds, const char *call)
{
    if (!ds)
        return fail(DREP_ERR_ARG, "%s: no dataset", call);
    if (!handle_is(ds, HANDLE_DATASET))
        return fail(DREP_ERR_ARG, "%s: the dataset is closed", call);
    if (!ds->file)
        return fail_object(DREP_ERR_ARG, ds->path, "%s: dataset \"%s\": its file is closed", call,
                           ds->path);
    return file_here(ds->file);
}

static void maps_release(drep_dataset *ds)
{
    struct dataset_map *m;

    while ((m = ds->maps)) {
        ds->maps = m->next;
        store_unmap(&m->at);
        mem_free(m);
    }
}

/* Frees what depends on the file. */
static void dataset_empty(drep_dataset *ds)
{
    buf_release(&ds->fill_heap);
    mem_free(ds->fill);
    ds->fill = NULL;
}

static void dataset_free(drep_dataset *ds)
{
    dataset_empty(ds);
    maps_release(ds);
    buf_release(&ds->rec_bytes);
    buf_release(&ds->name);
    mem_free(ds->filter_names);
    mem_free(ds->filter_params);
    drep_type_free(ds->own_type);
    mem_free(ds);
}

/* The file was closed first: path, mappings and what was lent out stay until the handle is closed.
 */
static void dataset_orphan(drep_dataset *ds)
{
    dataset_empty(ds);
    ds->own_type = drep_type_ref(ds->ft->type);
    ds->ft = NULL;
    ds->open.next = NULL;
    ds->file = NULL;
}

/* ---- the lists of open datasets ---- */

/* A dataset of the file's lists; NULL as it is. */
static drep_dataset *dataset_of(struct open_dataset *open)
{
    return (drep_dataset *)open;
}

static struct open_dataset **bucket_of(drep_file *f, uint64_t id)
{
    return &f->datasets.bucket[id % OPEN_BUCKETS];
}

static void list_add(drep_file *f, drep_dataset *ds)
{
    struct open_dataset **p = bucket_of(f, ds->id);

    ds->open.next = *p;
    *p = &ds->open;
    f->datasets.n++;
}

static void list_remove(drep_file *f, drep_dataset *ds)
{
    struct open_dataset **p = bucket_of(f, ds->id);

    while (*p && *p != &ds->open)
        p = &(*p)->next;
    if (!*p)
        return;
    *p = ds->open.next;
    f->datasets.n--;
}

/* The dataset behind this one in the lists; NULL: the first. */
static drep_dataset *list_next(const drep_file *f, const drep_dataset *ds)
{
    size_t i = ds ? ds->id % OPEN_BUCKETS + 1 : 0;

    if (ds && ds->open.next)
        return dataset_of(ds->open.next);
    while (i < OPEN_BUCKETS && !f->datasets.bucket[i])
        i++;
    return i < OPEN_BUCKETS ? dataset_of(f->datasets.bucket[i]) : NULL;
}

void datasets_release(drep_file *f)
{
    drep_dataset *ds;

    while ((ds = list_next(f, NULL))) {
        list_remove(f, ds);
        if (ds->refs == 0)
            dataset_free(ds);
        else
            dataset_orphan(ds);
    }
    if (f->datasets.spare)
        dataset_free(f->datasets.spare);
    f->datasets.spare = NULL;
}

/* Reuses the memory of a closed dataset, with the buffers that it had. */
static drep_dataset *dataset_alloc(drep_dataset *ds)
{
    struct buf rec_bytes = {0}, name = {0};

    if (!ds)
        return mem_zalloc(1, sizeof *ds);
    rec_bytes = ds->rec_bytes;
    name = ds->name;
    memset(ds, 0, offsetof(drep_dataset, rec));
    memset(&ds->rec, 0, offsetof(struct object_rec, len));
    memset(&ds->chunks, 0, offsetof(struct chunks, filter));
    ds->rec_bytes = rec_bytes;
    ds->name = name;
    return ds;
}

/* Copies the record out of the tree into bytes that the handle keeps. */
static int load_bytes(drep_dataset *ds)
{
    struct peek peek;
    struct key key;
    int err;

    key_make(&key, ds->id, FMT_TAG_OBJECT);
    err = tree_peek(ds->file->st, &key, &peek);
    if (err == DREP_ERR_NOT_FOUND)
        return fail(DREP_ERR_FORMAT, "object %llu is not in the file (R4.21)",
                    (unsigned long long)ds->id);
    if (err)
        return err;
    err = buf_set(&ds->rec_bytes, peek.p, peek.len);
    tree_peeked(&peek);
    return err;
}

/* record: its bytes, where it was put into the tree just now; NULL: it is there. */
static int load_rec(drep_dataset *ds, const struct buf *record)
{
    struct buf *b = &ds->rec_bytes;
    struct in in;
    int err = record ? buf_set(b, record->p, record->len) : load_bytes(ds);

    if (err)
        return err;
    in_init(&in, b->p, b->len);
    if ((err = object_get(&in, &ds->rec)))
        return fail(err, "%s at byte %zu of its record", in.why, in.err_at);
    if ((err = object_later(ds->id, &ds->rec)))
        return err;
    return ds->rec.kind == FMT_DATASET ? 0 : fail(DREP_ERR_KIND, "not a dataset");
}

/* A removal elsewhere in the file makes a writer look once more; readers stay on one commit, where
 * nothing goes. */
int dataset_alive(drep_dataset *ds)
{
    drep_file *f = ds->file;
    struct key key;
    int err;

    if (ds->deleted)
        return fail(DREP_ERR_NOT_FOUND, "it is not in this commit");
    if (!store_writable(f->st) || ds->removals == f->op.removals)
        return 0;
    key_make(&key, ds->id, FMT_TAG_OBJECT);
    err = tree_get(f->st, &key, NULL);
    if (!err && f->op.writing)
        ds->removals = f->op.removals;
    return err == DREP_ERR_NOT_FOUND ? fail(err, "it was removed") : err;
}

/* Copies the parameters of all filters. */
static int params_keep(drep_dataset *ds)
{
    size_t n = 0;

    for (int i = 0; i < ds->rec.nfilters; i++)
        n += ds->rec.filter[i].nparams;
    ds->filter_params = n > 0 ? mem_array(n, sizeof *ds->filter_params) : NULL;
    if (n > 0 && !ds->filter_params)
        return fail_nomem();
    n = 0;
    for (int i = 0; i < ds->rec.nfilters; i++)
        for (int k = 0; k < ds->rec.filter[i].nparams; k++)
            ds->filter_params[n++] = filter_param(&ds->rec.filter[i], k);
    return 0;
}

/* Copies the names of users' filters and of HDF5's. Plugins may bring them; a filter that nobody
 * brings is an error only when elements are moved. */
static int filter_names(drep_dataset *ds)
{
    const struct user_filter *user;
    const char *dirs;
    size_t size = 0;
    char *at;

    for (int i = 0; i < ds->rec.nfilters; i++)
        size += filter_is_named(&ds->rec.filter[i]) ? ds->rec.filter[i].name.len + 1 : 0;
    if (size == 0)
        return 0;
    at = ds->filter_names = mem_zalloc(1, size);
    if (!at)
        return fail_nomem();
    dirs = info_str(ds->file->hints.all, "drep_plugin_path");
    for (int i = 0; i < ds->rec.nfilters; i++) {
        const struct span *name = &ds->rec.filter[i].name;
        int err;

        if (!filter_is_named(&ds->rec.filter[i]))
            continue;
        memcpy(at, name->p, name->len);
        err = !filter_is_users(&ds->rec.filter[i]) || ds->file->amode & DREP_HEADER_ONLY
                  ? 0
                  : filter_resolve(at, dirs, &user);
        if (err == DREP_ERR_NOMEM)
            return err;
        at += name->len + 1;
    }
    return 0;
}

/* Refuse a filter of HDF5 on elements with variable parts or references: decoded, they would point
 * into heaps and objects of an HDF5 file that is not here (R8.54). */
static int filters_fit(const drep_dataset *ds)
{
    if (ds->rec.nfilters == 0 || !filter_is_hdf5(&ds->rec.filter[0]) ||
        (!ds->ft->type->variable && !type_refers(ds->ft->type)))
        return 0;
    return fail(DREP_ERR_FORMAT,
                "filters of HDF5 for elements with variable parts or references (R8.54)");
}

void dataset_chunks(drep_dataset *ds)
{
    chunks_of(ds->file, ds->id, &ds->rec, ds->esize, ds->ft->type->variable, ds->path, &ds->chunks);
    if (ds->rec.layout == FMT_CONTIGUOUS)
        ds->chunks.reserve = bytes_of(ds, dataset_count(ds));
    ds->chunks.check = payload_check;
}

/* Makes a handle: record, type, chunks, fill. The order matters: each step checks what the next one
 * relies on. */
static int dataset_new(drep_file *f, uint64_t id, const char *path, const struct buf *record,
                       drep_dataset *spare, drep_dataset **out)
{
    drep_dataset *ds = dataset_alloc(spare);
    int err;

    if (!ds)
        return fail_nomem();
    ds->open.chunks = &ds->chunks;
    ds->file = f;
    ds->id = id;
    ds->refs = 1;
    ds->removals = f->op.removals;
    err = buf_set(&ds->name, path, strlen(path) + 1);
    ds->path = (const char *)ds->name.p;
    if (!err)
        err = load_rec(ds, record);
    if (!err)
        err = load_rep(ds);
    if (!err)
        err = dataset_type(f, &ds->rec, ds->entry, ds->rep, &ds->ft);
    if (!err)
        err = filters_fit(ds);
    if (!err) {
        ds->esize = ds->ft->stored.extent;
        dataset_chunks(ds);
        err = fill_make(ds);
    }
    if (!err)
        err = params_keep(ds);
    if (!err)
        err = filter_names(ds);
    if (err) {
        dataset_free(ds);
        return fail_dataset(err, path);
    }
    *out = ds;
    return 0;
}

/* ---- getting and putting ---- */

/* The open handle of an object with one reference more, or NULL. The caller holds the lock. */
static drep_dataset *dataset_opened(drep_file *f, uint64_t id)
{
    drep_dataset *ds = dataset_of(*bucket_of(f, id));

    while (ds && (ds->id != id || ds->refs == 0))
        ds = dataset_of(ds->open.next);
    if (ds)
        ds->refs++;
    return ds;
}

drep_dataset *dataset_hold(drep_dataset *ds)
{
    pthread_mutex_lock(&ds->file->datasets.lock);
    ds->refs++;
    pthread_mutex_unlock(&ds->file->datasets.lock);
    return ds;
}

/* Two threads may open one dataset at once: both make a handle without the lock, since making it
 * may call a user's functions, and the one that comes second takes the first one's. */
int dataset_get_created(drep_file *f, uint64_t id, const char *path, const struct buf *record,
                        drep_dataset **out)
{
    drep_dataset *ds, *mine = NULL, *spare = NULL;
    int err;

    pthread_mutex_lock(&f->datasets.lock);
    ds = dataset_opened(f, id);
    if (!ds) {
        spare = f->datasets.spare;
        f->datasets.spare = NULL;
    }
    pthread_mutex_unlock(&f->datasets.lock);
    if (ds) {
        *out = ds;
        return 0;
    }
    if ((err = dataset_new(f, id, path, record, spare, &mine)))
        return err;
    pthread_mutex_lock(&f->datasets.lock);
    ds = dataset_opened(f, id);
    if (!ds)
        list_add(f, mine);
    pthread_mutex_unlock(&f->datasets.lock);
    if (ds)
        dataset_free(mine);
    *out = ds ? ds : mine;
    return 0;
}

int dataset_get(drep_file *f, uint64_t id, const char *path, drep_dataset **out)
{
    return dataset_get_created(f, id, path, NULL, out);
}

/* The last reference was given up: takes the dataset from the list and keeps its memory for the
 * next one. Returns the dataset when there is such memory already, for the caller to free. */
static drep_dataset *dataset_drop(drep_file *f, drep_dataset *ds)
{
    list_remove(f, ds);
    if (f->datasets.spare)
        return ds;
    dataset_empty(ds);
    maps_release(ds);
    mem_free(ds->filter_names);
    mem_free(ds->filter_params);
    ds->filter_names = NULL;
    ds->filter_params = NULL;
    f->datasets.spare = ds;
    return NULL;
}

/* Nobody can find the dataset in the list between the two counts: one that opens it meanwhile
 * either comes first and finds references, or comes second and makes the dataset anew.
 * handle: the reference is that of a caller's handle, which is closed under the same lock.
 * busy: a call that goes on may use the dataset, which then stays in the list without references
 * until the file is closed. */
static void dataset_unref(drep_file *f, drep_dataset *ds, bool handle, bool busy)
{
    drep_dataset *unused = NULL;

    if (file_settle(f) != 0)
        return;
    pthread_mutex_lock(&f->datasets.lock);
    if (handle && --ds->opens == 0)
        handle_remove(ds, HANDLE_DATASET);
    if (--ds->refs == 0 && !busy)
        unused = dataset_drop(f, ds);
    pthread_mutex_unlock(&f->datasets.lock);
    if (unused)
        dataset_free(unused);
}

void dataset_put(drep_dataset *ds)
{
    if (!ds)
        return;
    if (ds->file)
        dataset_unref(ds->file, ds, false, false);
    else if (--ds->refs == 0)
        dataset_free(ds);
}

int dataset_lend(drep_file *f, drep_dataset *ds)
{
    int err = 0;

    pthread_mutex_lock(&f->datasets.lock);
    if (ds->opens == 0)
        err = handle_add(ds, HANDLE_DATASET);
    if (!err)
        ds->opens++;
    pthread_mutex_unlock(&f->datasets.lock);
    if (err)
        dataset_put(ds);
    return err;
}

/* ---- refresh ---- */

/* Holds all open handles, so that closing one does not end it during a refresh. */
static int hold_open(drep_file *f, drep_dataset ***out, size_t *n)
{
    drep_dataset **list;

    *n = 0;
    pthread_mutex_lock(&f->datasets.lock);
    list = mem_array(f->datasets.n + 1, sizeof *list);
    for (drep_dataset *ds = NULL; list && (ds = list_next(f, ds));) {
        if (ds->refs == 0)
            continue;
        ds->refs++;
        list[(*n)++] = ds;
    }
    pthread_mutex_unlock(&f->datasets.lock);
    *out = list;
    return !list ? DREP_ERR_NOMEM : 0;
}

/* Reloads the dataset from the store's commit, beside the handle; it stays NULL where that commit
 * has it not. */
static int dataset_reload(drep_dataset *ds)
{
    struct key key;
    int err;

    ds->reloaded = NULL;
    key_make(&key, ds->id, FMT_TAG_OBJECT);
    err = tree_get(ds->file->st, &key, NULL);
    if (err == DREP_ERR_NOT_FOUND)
        return 0;
    return err ? err : dataset_new(ds->file, ds->id, ds->path, NULL, NULL, &ds->reloaded);
}

/* The handle becomes what was reloaded, which becomes what the handle was and is freed. What
 * callers hold (counts, mappings) stays with the handle. */
static void dataset_exchange(drep_dataset *ds)
{
    drep_dataset *reloaded = ds->reloaded, old = *ds;

    if (!reloaded) {
        ds->deleted = true;
        return;
    }
    *ds = *reloaded;
    ds->refs = old.refs;
    ds->opens = old.opens;
    ds->open = (struct open_dataset){.next = old.open.next, .chunks = &ds->chunks};
    ds->maps = old.maps;
    *reloaded = old;
    reloaded->open.chunks = &reloaded->chunks;
    reloaded->maps = NULL;
    ds->reloaded = reloaded;
}

void datasets_renumber(drep_file *f, uint64_t (*map)(const void *ctx, uint64_t id), const void *ctx)
{
    drep_dataset *ds, *all = NULL;

    pthread_mutex_lock(&f->datasets.lock);
    while ((ds = list_next(f, NULL))) {
        list_remove(f, ds);
        ds->open.next = all ? &all->open : NULL;
        all = ds;
    }
    while ((ds = all)) {
        all = dataset_of(ds->open.next);
        ds->id = map(ctx, ds->id);
        list_add(f, ds);
    }
    pthread_mutex_unlock(&f->datasets.lock);
}

/* First all of them are reloaded, which may fail; then all are exchanged, which cannot. */
int datasets_refresh(drep_file *f)
{
    drep_dataset **list;
    size_t n;
    int err = hold_open(f, &list, &n);

    for (size_t i = 0; i < n; i++)
        list[i]->reloaded = NULL;
    for (size_t i = 0; !err && i < n; i++)
        err = dataset_reload(list[i]);
    pthread_mutex_lock(&f->datasets.lock);
    for (size_t i = 0; !err && i < n; i++)
        dataset_exchange(list[i]);
    pthread_mutex_unlock(&f->datasets.lock);
    for (size_t i = 0; i < n; i++) {
        if (list[i]->reloaded)
            dataset_free(list[i]->reloaded);
        list[i]->reloaded = NULL;
        dataset_put(list[i]);
    }
    mem_free(list);
    return err;
}

/* ---- open and close ---- */

int drep_dataset_open(drep_file *file, const char *path, drep_dataset **out)
{
    struct object_head head;
    drep_dataset *ds;
    uint64_t id;
    struct external_target to;
    int err = external_target(file, path, &to);

    if (err)
        return err;
    if (to.file)
        return external_done(&to, drep_dataset_open(to.file, to.path, out));
    if ((err = read_begin(file)))
        return err;
    err = !out ? fail(DREP_ERR_ARG, "drep_dataset_open: null argument") : path_id(file, path, &id);
    if (!err)
        err = dataset_get(file, id, path, &ds);
    if (!err && !(err = dataset_lend(file, ds)))
        *out = ds;
    if (err == DREP_ERR_KIND && head_load(file, id, &head) == 0)
        err = fail_object(DREP_ERR_KIND, path, "%s: not a dataset", path);
    return read_end(file, err);
}

void drep_dataset_close(drep_dataset *dataset)
{
    drep_file *f;

    if (!dataset || !handle_is(dataset, HANDLE_DATASET))
        return;
    f = dataset->file;
    if (f) {
        dataset_unref(f, dataset, true, rwlock_mine(&f->lock, false));
        return;
    }
    if (--dataset->opens == 0)
        handle_remove(dataset, HANDLE_DATASET);
    dataset_put(dataset);
}
