/* file.c - opening, creating, committing and closing a container. */
#include "base/handle.h"
#include "file/data.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- calls that read, calls that write ---- */

static int closed_file(void)
{
    return fail(DREP_ERR_ARG, "the file is closed");
}

int file_check(const drep_file *f)
{
    if (f == NULL)
        return fail(DREP_ERR_ARG, "no file");
    return handle_is(f, HANDLE_FILE) ? file_here(f) : closed_file();
}

int read_begin(drep_file *f)
{
    int err = file_check(f);

    return err != 0 ? err : fail_in(rwlock_read(&f->lock), "%s", f->path);
}

int read_begin_stored(drep_file *f)
{
    int err = read_begin(f);

    if (err != 0 || !chunks_waiting(f->st))
        return err;
    rwlock_read_done(&f->lock);
    if ((err = alone_begin(f)) != 0)
        return err;
    err = fail_in(chunks_settle(f->st, 0), "%s", f->path);
    if (err != 0)
        alone_end(f);
    else
        rwlock_write_to_read(&f->lock);
    return err;
}

int read_done(drep_file *f, int err)
{
    err = store_stale(f->st, err);
    rwlock_read_done(&f->lock);
    return err;
}

int read_end(drep_file *f, int err)
{
    return fail_in(read_done(f, err), "%s", f->path);
}

int alone_begin(drep_file *f)
{
    int err = file_check(f);

    return err != 0 ? err : fail_in(rwlock_write(&f->lock), "%s", f->path);
}

void alone_end(drep_file *f)
{
    rwlock_write_done(&f->lock);
}

void walk_begin(drep_file *f)
{
    rwlock_walk(&f->lock);
}

void walk_end(void)
{
    rwlock_walk_done();
}

static int may_write(const drep_file *f)
{
    if (!store_writable(f->st))
        return fail(DREP_ERR_READ_ONLY, "%s: opened read-only", f->path);
    return 0;
}

int write_begin(drep_file *f)
{
    int err = file_check(f);

    if (err == 0)
        err = may_write(f);
    if (err == 0 && f->rep.datarep == NULL)
        err = fail(DREP_ERR_READ_ONLY, "%s: opened for its header only", f->path);
    if (err != 0 || (err = alone_begin(f)) != 0)
        return err;
    err = store_op_begin(f->st);
    if (err != 0) {
        alone_end(f);
        return fail_in(err, "%s", f->path);
    }
    f->types_before = atomic_load(&f->types);
    memcpy(f->used_before, f->used, sizeof f->used);
    f->writing = true;
    return 0;
}

/* Codes of calls that were refused for their arguments: nothing was lost by them. */
static bool refused(int err)
{
    switch (err) {
    case DREP_ERR_ARG:
    case DREP_ERR_AMODE:
    case DREP_ERR_READ_ONLY:
    case DREP_ERR_UNSUPPORTED:
    case DREP_ERR_UNSUPPORTED_DATAREP:
    case DREP_ERR_UNSUPPORTED_OPERATION:
    case DREP_ERR_VALUE_TOO_LARGE:
    case DREP_ERR_TYPE:
    case DREP_ERR_COUNT:
    case DREP_ERR_DIMS:
    case DREP_ERR_RANGE:
    case DREP_ERR_NOT_FOUND:
    case DREP_ERR_EXISTS:
    case DREP_ERR_KIND:
    case DREP_ERR_NAME:
    case DREP_ERR_LIMIT:
    case DREP_ERR_BUFFER:
        return true;
    default:
        return false;
    }
}

/* The first failure since the last commit is the one that drep_close() gives. */
static void note_failure(drep_file *f, int err)
{
    if (f->write_error != 0)
        return;
    f->write_error = err;
    fail_save(&f->write_message);
}

static void take_back(drep_file *f)
{
    struct fail_state why;

    fail_save(&why);
    store_op_end(f->st, 0);
    path_forget(f);
    ftypes_forget(f);
    memcpy(f->used, f->used_before, sizeof f->used);
    fail_restore(&why);
}

int change_begin(drep_file *f)
{
    int err = file_check(f);

    if (err == 0)
        err = may_write(f);
    return err != 0 ? err : alone_begin(f);
}

int change_end(drep_file *f, int err)
{
    if (fail_in(err, "%s", f->path) != 0)
        note_failure(f, err);
    alone_end(f);
    return err;
}

/* counts: the failure is one that drep_close() gives. */
static int write_finish(drep_file *f, int err, bool counts)
{
    if (err == 0)
        err = store_op_end(f->st, 1);
    else
        take_back(f);
    if (err != 0) {
        fail_in(err, "%s", f->path);
        if (counts)
            note_failure(f, err);
    }
    f->writing = false;
    alone_end(f);
    return err;
}

int write_end(drep_file *f, int err)
{
    return write_finish(f, err, !refused(err));
}

int write_end_created(drep_file *f, int err)
{
    return write_finish(f, err, !refused(err) && err != DREP_ERR_CONVERSION);
}

int write_end_stopped(drep_file *f, int err)
{
    return write_finish(f, err, true);
}

/* ---- making and freeing the handle ---- */

void file_free(drep_file *f)
{
    bool left;

    if (f == NULL)
        return;
    handle_remove(f, HANDLE_FILE);
    left = file_inherited(f);
    if (left && f->busy) { /* nobody knows what else is whole */
        if (f->dir >= 0)
            close(f->dir);
        store_leave(f->st, 1);
        return;
    }
    others_close(f);
    datasets_release(f);
    if (left)
        store_leave(f->st, 0);
    else if (f->st != NULL)
        store_close(f->st);
    ftypes_release(f);
    value_cache_release(&f->values);
    header_release(f);
    for (int i = 0; i < 2; i++)
        buf_release(&f->scratch[i]);
    while (f->old != NULL) {
        struct old_text *old = f->old;

        f->old = old->next;
        mem_free(old->text);
        mem_free(old);
    }
    mem_free(f->path);
    pthread_mutex_destroy(&f->others_lock);
    pthread_mutex_destroy(&f->type_lock);
    pthread_mutex_destroy(&f->path_lock);
    rwlock_release(&f->lock);
    mem_free(f);
}

int64_t hint_chunk_limit(const drep_info *opener)
{
    int64_t limit = hint_size(opener, "drep_limit_chunk");
    int64_t max = drep_info_get(opener, "drep_chunk_max") ? hint_size(opener, "drep_chunk_max") : 0;

    return max > limit ? max : limit;
}

int hints_settle(drep_info *all, int64_t chunk_limit)
{
    char text[24];
    int err;

    snprintf(text, sizeof text, "%lld", (long long)chunk_limit);
    err = drep_info_set(all, "drep_limit_chunk", text);
    if (err == 0 && hint_size(all, "drep_chunk_max") > chunk_limit)
        err = drep_info_set(all, "drep_chunk_max", text);
    return err;
}

static int file_new(const char *path, int amode, const drep_info *info, drep_file **out)
{
    drep_file *f = mem_zalloc(1, sizeof *f);
    int err;

    if (f == NULL)
        return fail(DREP_ERR_NOMEM, "out of memory");
    f->amode = amode;
    f->values.rep = &f->rep;
    file_born(f);
    rwlock_init(&f->lock);
    pthread_mutex_init(&f->type_lock, NULL);
    pthread_mutex_init(&f->path_lock, NULL);
    pthread_mutex_init(&f->others_lock, NULL);
    f->dir = -1;
    f->path = mem_strdup(path);
    err = f->path == NULL ? fail(DREP_ERR_NOMEM, "out of memory") : info_defaults(&f->info);
    if (err == 0)
        err = drep_info_new(&f->stored);
    if (err == 0 && info != NULL)
        err = info_merge(f->info, info);
    if (err == 0)
        err = hints_settle(f->info, hint_chunk_limit(info));
    if (err == 0)
        err = handle_add(f, HANDLE_FILE);
    f->follow = err == 0 && info_bool(f->info, "drep_external");
    if (err != 0) {
        file_free(f);
        return err;
    }
    *out = f;
    return 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The hint drep_uuid: 32 hexadecimal digits. */
static const uint8_t *fixed_uuid(const drep_info *info, uint8_t uuid[16])
{
    const char *s = info_str(info, "drep_uuid");

    if (strlen(s) != 32)
        return NULL;
    for (int i = 0; i < 16; i++) {
        int hi = hex_digit(s[2 * i]), lo = hex_digit(s[2 * i + 1]);

        if (hi < 0 || lo < 0)
            return NULL;
        uuid[i] = (uint8_t)(hi << 4 | lo);
    }
    return uuid;
}

/* A negative size says nothing: the default. */
int64_t hint_size(const drep_info *info, const char *key)
{
    int64_t v = info_int(info, key);

    return v >= 0 ? v : info_int(NULL, key);
}

/* What every call asks for, so that it is not looked up each time. */
static void hints_note(drep_file *f)
{
    f->hint_threads = info_int(f->info, "drep_threads");
    f->rep.staging = info_int(f->info, "cb_buffer_size");
    f->hint_chunk_max = hint_size(f->info, "drep_chunk_max");
    f->hint_cache = hint_size(f->info, "drep_cache_size");
}

static void opts_of(const drep_info *info, struct store_opts *o, uint8_t uuid[16])
{
    int64_t keep = hint_size(info, "drep_keep");

    memset(o, 0, sizeof *o);
    o->lock = info_bool(info, "drep_lock");
    o->sync = strcmp(info_str(info, "drep_sync"), "none") != 0;
    o->verify = strcmp(info_str(info, "drep_verify"), "off") != 0;
    o->deferred = strcmp(info_str(info, "drep_checksum"), "deferred") == 0;
    o->keep = keep < INT_MAX ? (int)keep : INT_MAX;
    o->unit = (uint64_t)hint_size(info, "striping_unit");
    o->chunk_max = (uint64_t)hint_size(info, "drep_chunk_max");
    o->chunk_limit = (uint64_t)hint_size(info, "drep_limit_chunk");
    if (o->chunk_max > PTRDIFF_MAX) /* more than memory can hold */
        o->chunk_max = PTRDIFF_MAX;
    if (o->chunk_limit > PTRDIFF_MAX)
        o->chunk_limit = PTRDIFF_MAX;
    o->cache_size = (uint64_t)hint_size(info, "drep_cache_size");
    o->threads = (int)info_int(info, "drep_threads");
    o->pack = info_bool(info, "drep_pack");
    o->uuid = fixed_uuid(info, uuid);
    o->time = info_int(info, "drep_time");
}

bool hint_is_stored(const char *key)
{
    if (strcmp(key, "drep_keep") == 0 || strcmp(key, "drep_chunk_max") == 0)
        return true;
    return strncmp(key, "drep_", 5) != 0 && strcmp(key, "filename") != 0 &&
           strcmp(key, "file_perm") != 0;
}

/* Hints that act when a file is opened, and not after. */
static bool hint_is_fixed(const char *key)
{
    static const char *const fixed[] = {
        "filename",         "file_perm", "striping_unit",   "drep_verify",
        "drep_checksum",    "drep_sync", "drep_keep",       "drep_lock",
        "drep_external",    "drep_uuid", "drep_cache_size", "drep_chunk_max",
        "drep_limit_chunk", "drep_time", "drep_machine",    "drep_pack"};

    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(key, fixed[i]) == 0)
            return true;
    return false;
}

static int hints_keep(drep_info *stored, const drep_info *info, bool *changed)
{
    int err = 0;

    for (int i = 0; info != NULL && err == 0 && i < drep_info_count(info); i++) {
        const char *key = drep_info_key(info, i), *value = drep_info_get(info, key);

        if (!info_known(key) || !info_valid(key, value) || value[0] == '\0' ||
            !hint_is_stored(key) || text_check((const uint8_t *)value, strlen(value)) != 0)
            continue;
        err = drep_info_set(stored, key, value);
        *changed = true;
    }
    return err;
}

/* ---- create and open ---- */

static int root_make(drep_file *f)
{
    struct object_rec rec = {.kind = FMT_GROUP, .links = 1};
    uint64_t root;
    int err = store_op_begin(f->st);

    if (err != 0)
        return err;
    err = store_new_objects(f->st, 1, &root);
    if (err == 0 && root != FMT_OBJECT_ROOT)
        err = fail(DREP_ERR_FORMAT, "the root group is not object 1");
    if (err == 0)
        err = object_store(f, FMT_OBJECT_ROOT, &rec);
    return err != 0 ? (store_op_end(f->st, 0), err) : store_op_end(f->st, 1);
}

/* The hint says what is in force: not every system has locks. */
static int lock_in_force(drep_file *f)
{
    return store_locked(f->st) ? 0 : drep_info_set(f->info, "drep_lock", "false");
}

unsigned hint_permissions(const drep_info *info)
{
    return (unsigned)strtoul(info_str(info, "file_perm"), NULL, 8) & 0777;
}

static int make_io(const drep_file *f, int excl, struct io **out)
{
    if (strcmp(f->path, ":memory:") == 0)
        return io_memory(NULL, 0, out);
    return io_posix(f->path, IO_CREATE, excl, hint_permissions(f->info), out);
}

/* io NULL: what the path asks for; datarep NULL: that of `like`, with its hints. */
static int create(const char *path, int excl, struct io *io, const char *datarep,
                  const drep_file *like, const drep_info *info, drep_file **out)
{
    struct store_opts opts;
    uint8_t uuid[16];
    drep_file *f = NULL;
    int err = file_new(path, DREP_RDWR, info, &f);

    if (err == 0)
        err = datarep != NULL ? header_start(f, datarep) : header_start_like(f, like, info);
    if (err == 0)
        err = hints_keep(f->stored, info, &f->hints_changed);
    if (err == 0 && io == NULL)
        err = make_io(f, excl, &io);
    if (err == 0) {
        opts_of(f->info, &opts, uuid);
        err = store_create(io, &opts, &f->st);
    } else if (io != NULL) {
        io->ops->close(io);
    }
    if (err == 0)
        err = lock_in_force(f);
    if (err == 0) {
        hints_note(f);
        err = root_make(f);
    }
    if (err != 0) {
        file_free(f);
        return err;
    }
    *out = f;
    return 0;
}

int drep_create(const char *path, int amode, const char *datarep, const drep_info *info,
                drep_file **out)
{
    if (path == NULL || datarep == NULL || out == NULL)
        return fail(DREP_ERR_ARG, "drep_create: null argument");
    if (amode & ~(DREP_RDWR | DREP_EXCL))
        return fail(DREP_ERR_AMODE, "%s: access mode %d", path, amode);
    return create(path, amode & DREP_EXCL, NULL, datarep, NULL, info, out);
}

int drep_create_like(const char *path, int amode, drep_file *like, const drep_info *info,
                     drep_file **out)
{
    int err;

    if (path == NULL || like == NULL || out == NULL)
        return fail(DREP_ERR_ARG, "drep_create_like: null argument");
    if (amode & ~(DREP_RDWR | DREP_EXCL))
        return fail(DREP_ERR_AMODE, "%s: access mode %d", path, amode);
    if ((err = read_begin(like)) != 0)
        return err;
    return read_done(like, create(path, amode & DREP_EXCL, NULL, NULL, like, info, out));
}

int file_create_on(struct io *io, const char *datarep, const drep_info *info, drep_file **out)
{
    return create(io->path, 0, io, datarep, NULL, info, out);
}

/* The newest commit, or an earlier one. */
static int open_io(struct io *io, drep_file *f, const drep_info *info, uint64_t commit)
{
    struct store_opts opts;
    uint8_t uuid[16];
    int err;

    opts_of(f->info, &opts, uuid);
    opts.commit = commit;
    err = store_open(io, f->amode == DREP_RDWR, &opts, &f->st);
    if (err == 0)
        err = store_stale(f->st, header_load(f, info));
    if (err == 0 && f->amode == DREP_RDWR)
        err = store_numbers(f->st);
    if (err == 0) {
        opts_of(f->info, &opts, uuid); /* with what the header says */
        store_set_opts(f->st, &opts);
        hints_note(f);
        err = lock_in_force(f);
    }
    return fail_in(err, "%s", f->path);
}

int file_open_on(struct io *io, int amode, const drep_info *info, uint64_t commit, drep_file **out)
{
    drep_file *f;
    int err = file_new(io->path, amode, info, &f);

    if (err != 0) {
        io->ops->close(io);
        return err;
    }
    err = open_io(io, f, info, commit);
    if (err != 0) {
        file_free(f);
        return err;
    }
    *out = f;
    return 0;
}

int file_last_commit(drep_file *f, drep_file **out)
{
    drep_file *last;
    int err = file_new(f->path, DREP_RDONLY, f->info, &last);

    if (err != 0)
        return err;
    err = store_last_commit(f->st, &last->st);
    if (err == 0)
        err = header_load(last, f->info);
    if (err != 0) {
        file_free(last);
        return fail_in(err, "%s", f->path);
    }
    *out = last;
    return 0;
}

int file_salvage(struct io *io, const drep_info *info, drep_finding_fn *fn, void *ctx,
                 drep_file **out)
{
    struct store_opts opts;
    uint8_t uuid[16];
    drep_file *f;
    int err = file_new(io->path, DREP_RDWR, info, &f);

    if (err != 0) {
        io->ops->close(io);
        return err;
    }
    opts_of(f->info, &opts, uuid);
    opts.lock = 0;
    err = store_salvage(io, &opts, fn, ctx, &f->st);
    if (err == 0)
        err = header_load(f, info);
    if (err != 0) {
        err = fail_in(err, "%s", f->path);
        file_free(f);
        return err;
    }
    hints_note(f);
    *out = f;
    return 0;
}

#define REPLACED_TRIES 8 /* to get at a file that others replace */

static int open_path(const char *path, int amode, const drep_info *info, uint64_t commit,
                     drep_file **out)
{
    struct io *io;
    drep_file *f;
    int tries = 0, err;

    do {
        err = io_posix(path, amode == DREP_RDWR ? IO_WRITE : IO_READ, 0, 0, &io);
        if (err == 0)
            err = file_open_on(io, amode, info, commit, &f);
    } while (err == DREP_ERR_STALE && amode == DREP_RDWR && ++tries < REPLACED_TRIES);
    if (err != 0)
        return err;
    if (f->follow && (err = io_directory(path, &f->dir)) != 0) {
        file_free(f);
        return err;
    }
    *out = f;
    return 0;
}

int drep_open(const char *path, int amode, const drep_info *info, drep_file **out)
{
    int mode = amode & ~DREP_HEADER_ONLY;

    if (path == NULL || out == NULL)
        return fail(DREP_ERR_ARG, "drep_open: null argument");
    if ((mode != DREP_RDONLY && mode != DREP_RDWR) || amode == (DREP_RDWR | DREP_HEADER_ONLY))
        return fail(DREP_ERR_AMODE, "%s: access mode %d", path, amode);
    return open_path(path, amode, info, 0, out);
}

int drep_open_commit(const char *path, int amode, uint64_t sequence, const drep_info *info,
                     drep_file **out)
{
    if (path == NULL || out == NULL)
        return fail(DREP_ERR_ARG, "drep_open_commit: null argument");
    if ((amode & ~DREP_HEADER_ONLY) != DREP_RDONLY)
        return fail(DREP_ERR_AMODE, "%s: access mode %d", path, amode);
    return open_path(path, amode, info, sequence, out);
}

int drep_open_image(const void *image, size_t size, const drep_info *info, drep_file **out)
{
    struct io *io;
    int err;

    if (image == NULL || out == NULL)
        return fail(DREP_ERR_ARG, "drep_open_image: null argument");
    err = io_memory(image, size, &io);
    return err != 0 ? err : file_open_on(io, DREP_RDONLY, info, 0, out);
}

/* ---- other commits ---- */

static int refresh(drep_file *f)
{
    drep_file *again = NULL;
    struct snapshot old;
    int moved = 0, err = store_refresh(f->st, &old, &moved);

    if (err != 0 || !moved)
        return err;
    err = header_again(f, &again);
    if (err == 0)
        err = datasets_refresh(f);
    if (err == 0) {
        header_exchange(f, again);
        hints_note(f);
    }
    header_again_free(again);
    err = store_stale(f->st, err);
    store_refresh_end(f->st, &old, err == 0);
    return err;
}

int drep_refresh(drep_file *file)
{
    int tries = 0, err = alone_begin(file);

    if (err != 0)
        return err;
    path_forget(file);
    /* Without locks a writer may be faster. */
    do
        err = refresh(file);
    while (err == DREP_ERR_STALE && ++tries < 4);
    alone_end(file);
    if (err == 0)
        err = others_refresh(file);
    return fail_in(err, "%s", file->path);
}

int drep_log(drep_file *file, drep_log_fn *fn, void *ctx)
{
    struct log_list list = {0};
    int err, theirs = 0;

    if (fn == NULL)
        return fail(DREP_ERR_ARG, "drep_log: null argument");
    if ((err = alone_begin(file)) != 0)
        return err;
    err = fail_in(store_stale(file->st, store_log(file->st, &list)), "%s", file->path);
    alone_end(file);
    walk_begin(file);
    for (size_t i = 0; err == 0 && theirs == 0 && i < list.n; i++)
        theirs = fn(&list.commit[i], ctx);
    walk_end();
    log_list_release(&list);
    return theirs != 0 ? theirs : err;
}

/* ---- commit and close ---- */

/* Readers need not wait for the disk. */
static void commit_waits(void *ctx, int waits)
{
    drep_file *f = ctx;

    if (waits)
        rwlock_share(&f->lock);
    else
        rwlock_unshare(&f->lock);
}

static int commit(drep_file *f)
{
    struct buf header = {0};
    size_t split = 0;
    int err = header_build(f, &header, &split);

    store_set_wait(f->st, commit_waits, f);
    if (err == 0)
        err = store_commit(f->st, header.p, header.len, split);
    buf_release(&header);
    if (err == 0) {
        f->write_error = 0;
        f->hints_changed = false;
    }
    return err;
}

int drep_commit(drep_file *file)
{
    int err = change_begin(file);

    return err != 0 ? err : change_end(file, commit(file));
}

/* A call or a walk that goes on would be left with a handle that is gone. */
static int may_close(const drep_file *f)
{
    if (!handle_is(f, HANDLE_FILE))
        return closed_file();
    if (rwlock_mine(&f->lock, true))
        return fail(DREP_ERR_ARG, "%s: closed inside a call with the same file", f->path);
    return 0;
}

int drep_close(drep_file *file)
{
    int err;

    if (file == NULL)
        return 0;
    if ((err = may_close(file)) != 0)
        return err;
    if (file_inherited(file)) {
        if (store_writable(file->st))
            err = fail(
                DREP_ERR_FILE_IN_USE,
                "%s: not committed: only the process that opened the handle can write through it",
                file->path);
    } else if (file->write_error != 0) {
        fail_restore(&file->write_message);
        err = file->write_error;
    } else if (store_writable(file->st) && (store_dirty(file->st) || file->hints_changed)) {
        err = alone_begin(file);
        if (err == 0) {
            err = fail_in(commit(file), "%s", file->path);
            alone_end(file);
        }
    }
    file_free(file);
    return err;
}

void drep_abandon(drep_file *file)
{
    if (file != NULL && may_close(file) == 0)
        file_free(file);
}

/* ---- what a handle says of itself ---- */

int drep_header_get(const drep_file *file, drep_header *out)
{
    const struct slot *slot;
    int err;

    if (file == NULL || out == NULL)
        return fail(DREP_ERR_ARG, "drep_header_get: null argument");
    if ((err = file_check(file)) != 0)
        return err;
    slot = store_slot(file->st);
    out->datarep = file->rep.name;
    out->form = file->form == FMT_FORM_TABLE ? "table" : "code";
    out->writer = file->writer;
    out->machine = file->machine;
    out->version_major = slot->major;
    out->version_minor = slot->minor;
    out->sequence = slot->sequence;
    out->time = slot->time;
    memcpy(out->uuid, slot->uuid, sizeof out->uuid);
    out->end = slot->end;
    out->damaged_slot = store_damaged_slot(file->st);
    return 0;
}

int drep_header_types(const drep_file *file, const drep_encoding **rows, int *n)
{
    drep_file *f = (drep_file *)file;
    int err;

    if (file == NULL || rows == NULL || n == NULL)
        return fail(DREP_ERR_ARG, "drep_header_types: null argument");
    if ((err = file_check(file)) != 0)
        return err;
    pthread_mutex_lock(&f->type_lock);
    f->nrows = 0;
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        drep_encoding *row = &f->rows[f->nrows];

        if (!f->used[c])
            continue;
        if (f->rep.has_table)
            *row = f->rep.table.row[c];
        else
            *row = (drep_encoding){.size = f->rep.sizes.size[c]};
        row->code = (uint16_t)c;
        f->nrows++;
    }
    *rows = f->rows;
    *n = f->nrows;
    pthread_mutex_unlock(&f->type_lock);
    return 0;
}

int drep_get_info(const drep_file *file, drep_info **out)
{
    drep_info *info;
    int err;

    if (file == NULL || out == NULL)
        return fail(DREP_ERR_ARG, "drep_get_info: null argument");
    if ((err = file_check(file)) != 0)
        return err;
    if ((err = info_defaults(&info)) != 0)
        return err;
    err = info_merge(info, file->info);
    if (err == 0)
        err = drep_info_set(info, "filename", file->path);
    if (err != 0) {
        drep_info_free(info);
        return err;
    }
    *out = info;
    return 0;
}

/* Both lists with these hints, made beside the ones in force: all of them count or none. */
static int hints_change(drep_file *f, const drep_info *some)
{
    drep_info *info = NULL, *stored = NULL;
    bool changed = f->hints_changed;
    int err = info_copy(f->info, &info);

    if (err == 0)
        err = info_merge(info, some);
    if (err == 0)
        err = info_copy(f->stored, &stored);
    if (err == 0)
        err = hints_keep(stored, some, &changed);
    if (err == 0) {
        drep_info *old = f->info;

        f->info = info;
        info = old;
        old = f->stored;
        f->stored = stored;
        stored = old;
        f->hints_changed = changed;
        hints_note(f);
    }
    drep_info_free(info);
    drep_info_free(stored);
    return err;
}

int drep_set_info(drep_file *file, const drep_info *info)
{
    drep_info *some;
    int err;

    if (file == NULL || info == NULL)
        return fail(DREP_ERR_ARG, "drep_set_info: null argument");
    if ((err = info_copy(info, &some)) != 0)
        return err;
    for (int i = drep_info_count(some); i-- > 0;)
        if (hint_is_fixed(drep_info_key(some, i)))
            drep_info_delete(some, drep_info_key(some, i));
    if ((err = alone_begin(file)) == 0) {
        err = hints_change(file, some);
        alone_end(file);
    }
    drep_info_free(some);
    return err;
}

int drep_header_hints(const drep_file *file, drep_info **out)
{
    drep_info *info;
    int err;

    if (file == NULL || out == NULL)
        return fail(DREP_ERR_ARG, "drep_header_hints: null argument");
    if ((err = file_check(file)) != 0)
        return err;
    if ((err = info_copy(file->stored, &info)) != 0)
        return err;
    *out = info;
    return 0;
}

int drep_header_scalars(const drep_file *file, const drep_scalar **scalars, int *n)
{
    int err;

    if (file == NULL || scalars == NULL || n == NULL)
        return fail(DREP_ERR_ARG, "drep_header_scalars: null argument");
    if ((err = file_check(file)) != 0)
        return err;
    *scalars = file->rep.table.custom;
    *n = file->rep.table.ncustom;
    return 0;
}
