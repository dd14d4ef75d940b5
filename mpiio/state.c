/* state.c - which files have views of ours, and errors. */
/* SPDX-License-Identifier: MIT */
#include "mpiio/state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int state_views;
static struct mpiio_file *files;
static long worked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void state_count(void)
{
    __atomic_add_fetch(&worked, 1, __ATOMIC_RELAXED);
}

long state_counted(void)
{
    return __atomic_load_n(&worked, __ATOMIC_RELAXED);
}

struct mpiio_file *state_find(MPI_File fh)
{
    struct mpiio_file *f;

    pthread_mutex_lock(&lock);
    for (f = files; f && f->fh != fh; f = f->next)
        ;
    pthread_mutex_unlock(&lock);
    return f;
}

bool state_owns(MPI_File fh)
{
    const struct mpiio_file *f = state_find(fh);

    return f && f->viewing;
}

/* The ranks of a file as a communicator, as far as they are of MPI_COMM_WORLD: MPI says no more of
 * a file than its group.  MPI_COMM_NULL: one rank alone, or others. */
static MPI_Comm comm_of(MPI_File fh)
{
    MPI_Group group, world;
    MPI_Comm comm = MPI_COMM_NULL;
    int n, i, *mine, *there;

    if (PMPI_File_get_group(fh, &group) != MPI_SUCCESS)
        return comm;
    PMPI_Group_size(group, &n);
    mine = malloc(2 * (size_t)n * sizeof *mine);
    if (mine && n > 1) {
        there = mine + n;
        for (i = 0; i < n; i++)
            mine[i] = i;
        PMPI_Comm_group(MPI_COMM_WORLD, &world);
        PMPI_Group_translate_ranks(group, n, mine, world, there);
        PMPI_Group_free(&world);
        for (i = 0; i < n && there[i] != MPI_UNDEFINED; i++)
            ;
        if (i == n)
            PMPI_Comm_create_group(MPI_COMM_WORLD, group, 0x6472, &comm);
    }
    free(mine);
    PMPI_Group_free(&group);
    return comm;
}

struct mpiio_file *state_make(MPI_File fh)
{
    struct mpiio_file *f = state_find(fh);

    if (f)
        return f;
    f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->fh = fh;
    f->comm = comm_of(fh);
    pthread_mutex_lock(&lock);
    f->next = files;
    files = f;
    pthread_mutex_unlock(&lock);
    return f;
}

static void mpiview_release(struct mpiio_view *view)
{
    mpitype_release(&view->etype);
    mpitype_release(&view->filetype);
    mpitype_release(&view->bytes);
}

void state_view(struct mpiio_file *file, bool viewing)
{
    if (file->viewing != viewing)
        __atomic_add_fetch(&state_views, viewing ? 1 : -1, __ATOMIC_RELAXED);
    if (file->viewing)
        mpiview_release(&file->view);
    file->viewing = viewing;
}

void state_forget(MPI_File fh)
{
    struct mpiio_file *f = state_find(fh), **p;

    if (!f)
        return;
    state_view(f, false);
    if (f->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&f->comm);
    pthread_mutex_lock(&lock);
    for (p = &files; *p != f; p = &(*p)->next)
        ;
    *p = f->next;
    pthread_mutex_unlock(&lock);
    free(f);
}

void state_native(MPI_File fh)
{
    struct mpiio_file *f = state_find(fh);

    if (f)
        state_view(f, false);
}

/* --------------------------------------------------------------------- errors */

#ifndef MPI_ERR_VALUE_TOO_LARGE
#define MPI_ERR_VALUE_TOO_LARGE MPI_ERR_OTHER
#endif

static int class_of(int err)
{
    switch (err) {
    case DREP_ERR_CONVERSION:
        return MPI_ERR_CONVERSION;
    case DREP_ERR_UNSUPPORTED_DATAREP:
        return MPI_ERR_UNSUPPORTED_DATAREP;
    case DREP_ERR_DUP_DATAREP:
        return MPI_ERR_DUP_DATAREP;
    case DREP_ERR_TYPE:
    case DREP_ERR_LIMIT:
        return MPI_ERR_TYPE;
    case DREP_ERR_COUNT:
        return MPI_ERR_COUNT;
    case DREP_ERR_ARG:
    case DREP_ERR_NAME:
        return MPI_ERR_ARG;
    case DREP_ERR_VALUE_TOO_LARGE:
        return MPI_ERR_VALUE_TOO_LARGE;
    case DREP_ERR_BUFFER:
    case DREP_ERR_TRUNCATE:
        return MPI_ERR_TRUNCATE;
    case DREP_ERR_UNSUPPORTED_OPERATION:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    case DREP_ERR_NOMEM:
        return MPI_ERR_NO_MEM;
    case DREP_ERR_NOT_SAME:
        return MPI_ERR_NOT_SAME;
    default:
        return MPI_ERR_OTHER;
    }
}

int state_refuse(int class, const char *what)
{
    const char *debug = getenv("DATAREP_DEBUG");

    if (debug && *debug && *debug != '0')
        fprintf(stderr, "datarep-mpiio: %s\n", what);
    return -class;
}

int state_error(int err)
{
    return err ? state_refuse(class_of(err), drep_error()) : 0;
}
