/* registry.c - the representations that this process knows.
 *
 * Add-only: an entry, once found, may be used for ever without a lock.  The built-in
 * ones are made at first use from tables.c and are entries like any other: their
 * functions are the engine's, and their extra state is their table. */
/* SPDX-License-Identifier: MIT */
#include "rep/registry.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/mem.h"
#include "base/plugin.h"
#include "base/sized.h"
#include "format/record.h"
#include "rep/encodings.h"
#include "rep/packed.h"
#include "rep/tables.h"

#include <datarep.h>
#include <string.h>

struct registered_rep {
    struct registered_rep *next;
    struct datarep rep;
    struct rep_table table; /* declared ones */
    drep_scalar scalars[];
};

static struct {
    pthread_mutex_t lock;
    struct registered_rep *first, **last;
    bool started;
} registry = {PTHREAD_MUTEX_INITIALIZER, NULL, &registry.first, false};

/* ----------------------------------------------- the engine as functions */

static int engine_read(void *userbuf, const drep_type *type, int64_t count, void *filebuf,
                       int64_t position, void *extra_state)
{
    const struct packed_items items = {type, position, count, userbuf, filebuf};

    return packed_convert(extra_state, &items, true, NULL, NULL);
}

static int engine_write(void *userbuf, const drep_type *type, int64_t count, void *filebuf,
                        int64_t position, void *extra_state)
{
    const struct packed_items items = {type, position, count, userbuf, filebuf};

    return packed_convert(extra_state, &items, false, NULL, NULL);
}

static int engine_extent(const drep_type *type, int64_t *extent, void *extra_state)
{
    struct type_sizes sizes;

    rep_table_sizes(extra_state, &sizes);
    if (type->kind != DREP_KIND_PREDEFINED || sizes.size[type->code] == 0)
        return DREP_ERR_TYPE;
    *extent = sizes.size[type->code];
    return 0;
}

static void engine_rep(struct datarep *rep, const char *name, const struct rep_table *table)
{
    *rep = (struct datarep){.read = engine_read,
                            .write = engine_write,
                            .extent = engine_extent,
                            .extra_state = (void *)table,
                            .table = table};
    strcpy(rep->name, name);
}

/* ---------------------------------------------------------------- entries */

/* A function of one representation may well use another, or itself. */
static void make_serial(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &attr);
    pthread_mutexattr_destroy(&attr);
}

static struct registered_rep *entry_new(int nscalars)
{
    struct registered_rep *e = mem_zalloc(1, sizeof *e + (uint64_t)nscalars * sizeof e->scalars[0]);

    if (e)
        make_serial(&e->rep.serial);
    return e;
}

static void entry_free(struct registered_rep *e)
{
    if (e)
        pthread_mutex_destroy(&e->rep.serial);
    mem_free(e);
}

/* In a child process: rebuild the end of the list, as an entry may be linked and not be its end
 * yet. */
static void registry_after_fork(void)
{
    struct registered_rep **at = &registry.first;

    pthread_mutex_init(&registry.lock, NULL);
    for (; *at; at = &(*at)->next)
        make_serial(&(*at)->rep.serial);
    registry.last = at;
}

static void lock(void)
{
    static struct fork_hook hook;

    fork_watch(&hook, registry_after_fork);
    pthread_mutex_lock(&registry.lock);
}

static struct registered_rep *registry_find(const char *name)
{
    struct registered_rep *e;

    for (e = registry.first; e && strcmp(e->rep.name, name) != 0; e = e->next)
        ;
    return e;
}

static void registry_append(struct registered_rep *e)
{
    *registry.last = e;
    registry.last = &e->next;
}

/* Add the built-in entries; the lock is held. Entries that memory failed for are added the next
 * time. */
static int add_built_in(void)
{
    char name[DREP_MAX_DATAREP_STRING];
    const struct rep_table *table;
    struct registered_rep *e;
    int i;

    if (registry.started)
        return 0;
    for (i = 0; (table = table_builtin(i, name)); i++) {
        if (registry_find(name))
            continue;
        e = entry_new(0);
        if (!e)
            return DREP_ERR_NOMEM;
        engine_rep(&e->rep, name, table);
        e->rep.builtin = strcmp(name, "external32") == 0 || strcmp(name, "internal") == 0;
        registry_append(e);
    }
    registry.started = true;
    return 0;
}

/* Add an entry, or free it on failure. */
static int registry_add(struct registered_rep *e)
{
    int err;

    lock();
    err = add_built_in();
    if (!err && registry_find(e->rep.name))
        err = fail(DREP_ERR_DUP_DATAREP, "data representation \"%s\" is already registered",
                   e->rep.name);
    if (!err)
        registry_append(e);
    pthread_mutex_unlock(&registry.lock);
    if (err)
        entry_free(e);
    return err;
}

const struct datarep *rep_find(const char *name)
{
    struct registered_rep *e = NULL;

    if (!name)
        return NULL;
    lock();
    if (add_built_in() == 0)
        e = registry_find(name);
    pthread_mutex_unlock(&registry.lock);
    return e ? &e->rep : NULL;
}

static const void *find_by_name(const char *name)
{
    return rep_find(name);
}

int rep_resolve(const char *name, const char *dirs, const struct datarep **out)
{
    const void *rep = NULL;
    int err = plugin_find(name, dirs, find_by_name, &rep);

    if (err == DREP_ERR_NOMEM)
        return err;
    if (err)
        return fail_in(DREP_ERR_UNSUPPORTED_DATAREP, "datarep \"%s\"", name);
    *out = rep;
    return 0;
}

int rep_need(const char *name, const struct datarep **out)
{
    const struct datarep *rep = NULL;
    int err;

    if (!name)
        return fail(DREP_ERR_ARG, "no data representation is given");
    err = rep_resolve(name, NULL, &rep);
    if (err)
        return err;
    if (!rep)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP, "data representation \"%s\" is not known", name);
    *out = rep;
    return 0;
}

/* ---------------------------------------------------------- registering */

static int check_name(const char *name)
{
    size_t len = name ? strlen(name) : 0;

    if (len == 0 || len >= DREP_MAX_DATAREP_STRING)
        return fail(DREP_ERR_NAME, "a data representation's name has 1 to %d bytes",
                    DREP_MAX_DATAREP_STRING - 1);
    if (text_check((const uint8_t *)name, len))
        return fail(DREP_ERR_NAME, "a data representation's name is not UTF-8");
    if (strncmp(name, "native:", 7) == 0)
        return fail(DREP_ERR_NAME, "names that begin with \"native:\" are reserved for machines");
    return 0;
}

int drep_register_datarep(const char *name, drep_conversion_fn *read, drep_conversion_fn *write,
                          drep_extent_fn *extent, void *extra_state)
{
    return drep_register_datarep_flags(name, read, write, extent, extra_state, 0);
}

int drep_register_datarep_flags(const char *name, drep_conversion_fn *read,
                                drep_conversion_fn *write, drep_extent_fn *extent,
                                void *extra_state, unsigned flags)
{
    struct registered_rep *e;
    int err = check_name(name);

    if (err)
        return err;
    if (!extent)
        return fail(DREP_ERR_ARG, "data representation \"%s\" has no extent function", name);
    if (flags & ~(unsigned)DREP_REP_SERIAL)
        return fail(DREP_ERR_ARG, "data representation \"%s\": unknown flags", name);
    e = entry_new(0);
    if (!e)
        return DREP_ERR_NOMEM;
    strcpy(e->rep.name, name);
    e->rep.read = read;
    e->rep.write = write;
    e->rep.extent = extent;
    e->rep.extra_state = extra_state;
    e->rep.flags = flags;
    return registry_add(e);
}

/* The base's rows and scalars with what the caller puts over them. */
static int fill_declared(struct registered_rep *e, const struct rep_table *base,
                         const drep_encoding *rows, int nrows, const drep_scalar *scalars,
                         int nscalars)
{
    struct rep_table *t = &e->table;
    bool seen[DREP_CODE_MAX + 1] = {false};
    int i, err;

    *t = *base;
    t->structs = false;
    t->custom = e->scalars;
    t->ncustom = base->ncustom + nscalars;
    if (base->ncustom)
        memcpy(e->scalars, base->custom, (size_t)base->ncustom * sizeof *scalars);
    if (nscalars)
        memcpy(e->scalars + base->ncustom, scalars, (size_t)nscalars * sizeof *scalars);
    for (i = 0; i < nrows; i++) {
        int code = rows[i].code;

        if (code < 1 || code > DREP_CODE_MAX)
            return fail(DREP_ERR_ARG, "row %d: there is no datatype %d", i, code);
        if (seen[code])
            return fail(DREP_ERR_ARG, "row %d: %s has a row already", i, drep_code_name(code));
        if (rows[i].reserved)
            return fail(DREP_ERR_ARG, "row %d: reserved is %d, not 0", i, rows[i].reserved);
        seen[code] = true;
        t->row[code] = rows[i];
        if (t->row[code].align == 0)
            t->row[code].align = 1;
        if (!rep_align_fits(t->row[code].align))
            return fail(DREP_ERR_ARG, "row %d: alignment %d is not 1, 2, 4, 8 or 16", i,
                        t->row[code].align);
        if (rows[i].format != DREP_FORMAT_CUSTOM)
            continue;
        if (rows[i].custom >= nscalars)
            return fail(DREP_ERR_ARG, "row %d: scalar %d is not given", i, rows[i].custom);
        t->row[code].custom = (uint8_t)(rows[i].custom + base->ncustom);
    }
    err = rep_table_check(t);
    return err == DREP_ERR_FORMAT ? DREP_ERR_ARG : err;
}

/* The declared table starts as a copy of its base's, so that a declaration states differences
 * only; custom scalars of the base keep their numbers before the new ones. */
int drep_declare_datarep(const char *name, const char *base, const drep_encoding *rows, int nrows,
                         const drep_scalar *scalars, int nscalars)
{
    const struct datarep *from;
    struct registered_rep *e;
    int err = check_name(name);

    if (!err)
        err = rep_need(base, &from);
    if (err)
        return err;
    if (!from->table)
        return fail(DREP_ERR_ARG,
                    "data representation \"%s\" consists of functions and cannot be a base", base);
    if (nrows < 0 || nscalars < 0 || (nrows && !rows) || (nscalars && !scalars) ||
        from->table->ncustom + nscalars > UINT8_MAX)
        return fail(DREP_ERR_ARG, "data representation \"%s\": bad rows or scalars", name);
    e = entry_new(from->table->ncustom + nscalars);
    if (!e)
        return DREP_ERR_NOMEM;
    err = fill_declared(e, from->table, rows, nrows, scalars, nscalars);
    if (err) {
        entry_free(e);
        return fail_in(err, "data representation \"%s\"", name);
    }
    engine_rep(&e->rep, name, &e->table);
    return registry_add(e);
}

/* A file's own: never in the registry. */
int rep_scoped(const char *name, const struct rep_table *table, struct datarep **out)
{
    struct registered_rep *e;
    int err;

    if (strlen(name) >= DREP_MAX_DATAREP_STRING)
        return fail(DREP_ERR_NAME, "the data representation's name is too long");
    err = rep_table_check(table);
    if (err)
        return err;
    e = entry_new(table->ncustom);
    if (!e)
        return DREP_ERR_NOMEM;
    e->table = *table;
    e->table.custom = e->scalars;
    if (table->ncustom)
        memcpy(e->scalars, table->custom, (size_t)table->ncustom * sizeof *e->scalars);
    engine_rep(&e->rep, name, &e->table);
    *out = &e->rep;
    return 0;
}

void rep_scoped_free(struct datarep *rep)
{
    if (rep)
        entry_free((struct registered_rep *)((char *)rep - offsetof(struct registered_rep, rep)));
}

/* ---------------------------------------------------------------- asking */

int drep_datarep_table(const char *name, drep_encoding *rows, int max, int *n)
{
    const struct datarep *rep;
    int c, found = 0, err;

    if (!n || max < 0 || (max && !rows))
        return fail(DREP_ERR_ARG, "null pointer for the rows");
    err = rep_need(name, &rep);
    if (err)
        return err;
    for (c = 1; rep->table && c <= DREP_CODE_MAX; c++) {
        if (rep->table->row[c].size == 0)
            continue;
        if (found < max)
            rows[found] = rep->table->row[c];
        found++;
    }
    *n = found;
    return 0;
}

int drep_datarep_scalars(const char *name, drep_scalar *scalars, int max, int *n)
{
    const struct datarep *rep;
    int count, err;

    if (!n || max < 0 || (max && !scalars))
        return fail(DREP_ERR_ARG, "null pointer for the scalars");
    err = rep_need(name, &rep);
    if (err)
        return err;
    count = rep->table ? rep->table->ncustom : 0;
    for (int i = 0; i < count && i < max; i++)
        scalars[i] = rep->table->custom[i];
    *n = count;
    return 0;
}

int drep_datarep_get(const char *name, drep_datarep *out)
{
    const struct datarep *rep = NULL;
    drep_datarep is;
    int err;

    if ((err = sized_check(SIZED_drep_datarep, out, "drep_datarep_get")) ||
        (err = rep_need(name, &rep)))
        return err;
    is = DREP_DATAREP;
    is.read = rep->read;
    is.write = rep->write;
    is.extent = rep->extent;
    is.extra_state = rep->extra_state;
    is.flags = rep->flags;
    sized_put(SIZED_drep_datarep, &is, out);
    return 0;
}

int drep_datarep_walk(drep_datarep_walk_fn *fn, void *ctx)
{
    struct registered_rep *e;
    int err;

    if (!fn)
        return fail(DREP_ERR_ARG, "no callback");
    lock();
    err = add_built_in();
    e = err ? NULL : registry.first;
    pthread_mutex_unlock(&registry.lock);
    while (e) {
        if (fn(e->rep.name, e->rep.table ? "table" : "code", ctx))
            return fail(DREP_ERR_STOPPED, "the walk was stopped at \"%s\"", e->rep.name);
        lock();
        e = e->next;
        pthread_mutex_unlock(&registry.lock);
    }
    return err;
}

static int rep_extent(const struct datarep *rep, int code, int64_t *extent)
{
    int64_t got = 0;
    int err;

    rep_enter(rep);
    err = rep->extent(drep_predefined(code), &got, rep->extra_state);
    rep_leave(rep);
    if (got == DREP_UNDEFINED)
        return fail(DREP_ERR_VALUE_TOO_LARGE, "%s has no extent under \"%s\"", drep_code_name(code),
                    rep->name);
    if (err)
        return fail(DREP_ERR_CONVERSION, "the extent function of \"%s\" gave %d for %s", rep->name,
                    err, drep_code_name(code));
    if (got < 1 || got > UINT8_MAX)
        return fail(DREP_ERR_VALUE_TOO_LARGE,
                    "\"%s\" takes %lld bytes for %s; 1 to %d are possible", rep->name,
                    (long long)got, drep_code_name(code), UINT8_MAX);
    *extent = got;
    return 0;
}

int rep_ask_size(const struct datarep *rep, int code, struct type_sizes *sizes)
{
    int64_t extent = 0;
    int err = rep_extent(rep, code, &extent);

    if (!err)
        sizes->size[code] = (uint8_t)extent;
    return err;
}

struct used {
    const struct datarep *rep;
    struct type_sizes *sizes;
};

static int used_size(int code, void *ctx)
{
    const struct used *u = ctx;

    return rep_ask_size(u->rep, code, u->sizes);
}

void rep_sizes_none(struct type_sizes *sizes)
{
    static const struct rep_table none;

    rep_table_sizes(&none, sizes);
    memset(sizes->align, 1, sizeof sizes->align);
}

int rep_sizes_of(const struct datarep *rep, const drep_type *type, struct type_sizes *sizes)
{
    struct used used = {rep, sizes};

    if (rep->table) {
        rep_table_sizes(rep->table, sizes);
        return 0;
    }
    rep_sizes_none(sizes);
    return type_each_code(type, used_size, &used);
}

int drep_type_file_extent(const drep_type *type, const char *datarep, int64_t *extent)
{
    const struct datarep *rep;
    struct type_sizes sizes;
    struct prog prog;
    int err;

    if (!type || !extent)
        return fail(DREP_ERR_ARG, "null pointer for the datatype or its extent");
    err = rep_need(datarep, &rep);
    if (!err)
        err = rep_sizes_of(rep, type, &sizes);
    if (!err)
        err = prog_build(&prog, type, &sizes, PROG_VIEW);
    if (err)
        return fail_in(err, "file extent under \"%s\"", datarep);
    *extent = prog.extent;
    prog_release(&prog);
    return 0;
}
