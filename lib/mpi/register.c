/* register.c - data representations whose functions have MPI's signatures.
 *
 * The library calls functions of its own kind, which call those of the program with a datatype of
 * MPI.  That is made once for each of ours and kept with it, as the program may cache its decoded
 * typemap there (MPI 5.0, 14.7.3). */
/* SPDX-License-Identifier: MIT */
#include "mpi/glue.h"
#include "mpi/named.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

enum { KEPT = 8 }; /* datatypes for one representation: those of transfers that alternate */

struct kept_datatype {
    drep_type *type;
    MPI_Datatype datatype;
    uint64_t turn; /* of its last use */
    int users;     /* calls that use it now */
};

struct functions {
    MPI_Datarep_conversion_function *read, *write;
    MPI_Datarep_extent_function *extent;
    void *extra;
    pthread_mutex_t lock;
    uint64_t turn;
    struct kept_datatype kept[KEPT];
};

/* The slot of a type, or the idle one that was used least lately; NULL: all are busy. */
static struct kept_datatype *kept_find(struct functions *f, const drep_type *type)
{
    struct kept_datatype *idle = NULL;
    int i;

    for (i = 0; i < KEPT; i++) {
        struct kept_datatype *k = &f->kept[i];

        if (k->type == type)
            return k;
        if (!k->users && (!idle || k->turn < idle->turn))
            idle = k;
    }
    return idle;
}

static int kept_fill(struct kept_datatype *k, const drep_type *type)
{
    MPI_Datatype datatype;
    int err = k->type == type ? 0 : drep_mpi_datatype(type, &datatype);

    if (err || k->type == type)
        return err;
    if (k->type) {
        drep_type_free(k->type);
        MPI_Type_free(&k->datatype);
    }
    *k = (struct kept_datatype){.type = drep_type_ref(type), .datatype = datatype};
    return 0;
}

/* Get the datatype for one call of a function; put it back into *slot, NULL: its own. */
static int datatype_get(struct functions *f, const drep_type *type, struct kept_datatype **slot,
                        MPI_Datatype *out)
{
    struct kept_datatype *k;
    int err = 0;

    pthread_mutex_lock(&f->lock);
    k = kept_find(f, type);
    if (k)
        err = kept_fill(k, type);
    if (k && !err) {
        k->turn = ++f->turn;
        k->users++;
        *out = k->datatype;
    }
    pthread_mutex_unlock(&f->lock);
    *slot = k;
    return k ? err : drep_mpi_datatype(type, out);
}

static void datatype_put(struct functions *f, struct kept_datatype *slot, MPI_Datatype *datatype)
{
    if (!slot) {
        MPI_Type_free(datatype);
        return;
    }
    pthread_mutex_lock(&f->lock);
    slot->users--;
    pthread_mutex_unlock(&f->lock);
}

/* A predefined datatype is MPI's own, which functions compare with MPI_INT and others; of another
 * one MPI_DATATYPE_NULL. */
static MPI_Datatype named_of(const drep_type *type)
{
    return drep_type_kind(type) == DREP_KIND_PREDEFINED ? named_datatype(drep_type_code(type))
                                                        : MPI_DATATYPE_NULL;
}

static int mpi_extent(const drep_type *type, int64_t *extent, void *ctx)
{
    const struct functions *f = ctx;
    MPI_Datatype datatype;
    MPI_Aint bytes = 0;
    int err = glue_ready("extent function");

    if (err)
        return err;
    datatype = named_of(type);
    if (datatype == MPI_DATATYPE_NULL) {
        *extent = DREP_UNDEFINED;
        return 0;
    }
    err = f->extent(datatype, &bytes, f->extra);
    *extent = bytes == MPI_UNDEFINED ? DREP_UNDEFINED : bytes;
    return err;
}

/* The bytes in the file of `count` items from `position` on. */
static int file_bytes(struct functions *f, const drep_type *type, int64_t position, int64_t count,
                      int64_t *bytes)
{
    drep_cursor cursor;
    drep_run run;
    int64_t extent = 0;
    int err = drep_cursor_init(&cursor, type, position);

    *bytes = 0;
    while (!err && count > 0 && drep_cursor_next(&cursor, count, &run)) {
        err = mpi_extent(run.type, &extent, f);
        *bytes += extent * run.count;
        count -= run.count;
    }
    return err;
}

/* MPI counts the items of one call in an int. */
static int call_conversion(MPI_Datarep_conversion_function *fn, void *userbuf,
                           const drep_type *type, int64_t count, void *filebuf, int64_t position,
                           struct functions *f)
{
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    struct kept_datatype *slot = NULL;
    bool named;
    int err = glue_ready("conversion function");

    if (!err)
        datatype = named_of(type);
    named = datatype != MPI_DATATYPE_NULL;
    if (!err && !named)
        err = datatype_get(f, type, &slot, &datatype);
    if (err)
        return err;
    while (!err && count > 0) {
        int n = count > INT_MAX ? INT_MAX : (int)count;
        int64_t bytes = 0;

        err = fn(userbuf, datatype, n, filebuf, (MPI_Offset)position, f->extra);
        if (!err && n < count)
            err = file_bytes(f, type, position, n, &bytes);
        filebuf = (char *)filebuf + bytes;
        position += n;
        count -= n;
    }
    if (!named)
        datatype_put(f, slot, &datatype);
    return err;
}

static int read_items(void *userbuf, const drep_type *type, int64_t count, void *filebuf,
                      int64_t position, void *ctx)
{
    struct functions *f = ctx;

    return call_conversion(f->read, userbuf, type, count, filebuf, position, f);
}

static int write_items(void *userbuf, const drep_type *type, int64_t count, void *filebuf,
                       int64_t position, void *ctx)
{
    struct functions *f = ctx;

    return call_conversion(f->write, userbuf, type, count, filebuf, position, f);
}

/* MPI_Finalize() begins with freeing MPI_COMM_SELF, when datatypes may still be freed. */
static int release_kept(MPI_Comm comm, int key, void *value, void *extra)
{
    struct functions *f = value;
    int i;

    (void)comm;
    (void)key;
    (void)extra;
    pthread_mutex_lock(&f->lock);
    for (i = 0; i < KEPT; i++)
        if (f->kept[i].type && !f->kept[i].users) {
            drep_type_free(f->kept[i].type);
            MPI_Type_free(&f->kept[i].datatype);
            f->kept[i].type = NULL;
        }
    pthread_mutex_unlock(&f->lock);
    return MPI_SUCCESS;
}

static int release_with_mpi(struct functions *f)
{
    int key, result = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, release_kept, &key, NULL);

    if (result == MPI_SUCCESS)
        result = MPI_Comm_set_attr(MPI_COMM_SELF, key, f);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_free_keyval(&key);
    return glue_mpi(result, "an attribute of MPI_COMM_SELF");
}

int drep_mpi_register_datarep(const char *name, MPI_Datarep_conversion_function *read,
                              MPI_Datarep_conversion_function *write,
                              MPI_Datarep_extent_function *extent, void *extra_state)
{
    struct functions *f;
    int level = MPI_THREAD_SINGLE, err = glue_ready("drep_mpi_register_datarep");

    if (!err && !extent)
        err = glue_fail(DREP_ERR_ARG, "drep_mpi_register_datarep: no extent function");
    if (err)
        return err;
    f = glue_alloc(1, sizeof *f);
    if (!f)
        return DREP_ERR_NOMEM;
    f->read = read;
    f->write = write;
    f->extent = extent;
    f->extra = extra_state;
    pthread_mutex_init(&f->lock, NULL);
    MPI_Query_thread(&level);
    err = drep_register_datarep_flags(
        name, read == MPI_CONVERSION_FN_NULL ? DREP_CONVERSION_NULL : read_items,
        write == MPI_CONVERSION_FN_NULL ? DREP_CONVERSION_NULL : write_items, mpi_extent, f,
        level == MPI_THREAD_MULTIPLE ? 0 : DREP_REP_SERIAL);
    if (err) {
        pthread_mutex_destroy(&f->lock);
        free(f);
        return err;
    }
    return release_with_mpi(f);
}
