/* next.c - finding MPI and the engine.
 *
 * A program that is linked with MPI has it in the scope that RTLD_NEXT searches.  One that loads it
 * late, as an interpreter does with a module, may have it in a scope of that module alone; then it
 * is among the objects of the process.  Nothing is looked for before the first call: a process
 * without MPI never comes here. */
/* SPDX-License-Identifier: MIT */
#include "mpiio/next.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#if defined(OPEN_MPI)
#define FAMILY "openmpi"
#define OBJECT "libmpi.so"
static const char *const families[] = {"Open MPI"};
#else
#define FAMILY "mpich"
#define OBJECT "libmpich.so"
/* MPICH, and those that have its binary interface. */
static const char *const families[] = {"MPICH", "Intel", "MVAPICH", "CRAY"};
#endif
#define SELF "libdatarep-mpiio-" FAMILY ".so"
#define ENGINE "libdatarep-mpiio-" FAMILY "-engine.so"

static const int no_views;
const struct mpiio_engine *next_engine;
const int *next_views = &no_views;
__thread int next_depth __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ------------------------------------------------------------------------ MPI */

static int see_object(struct dl_phdr_info *object, size_t size, void *ctx)
{
    const char *slash = object->dlpi_name ? strrchr(object->dlpi_name, '/') : NULL;
    void **handle = ctx;

    (void)size;
    if (!*handle && slash && !strncmp(slash + 1, OBJECT, strlen(OBJECT)))
        *handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return 0;
}

void *next_symbol(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name), *handle = NULL;

    if (found)
        return found;
    dl_iterate_phdr(see_object, &handle);
    return handle ? dlsym(handle, name) : NULL;
}

void *next_variable(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    return found ? found : next_symbol(name);
}

/* Handles are integers in one MPI and pointers in the other, so that not even passing on works. */
static void check_family(void)
{
    static bool done;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    void *get = next_symbol("PMPI_Get_library_version");
    int length = 0;
    size_t i;

    if (done)
        return;
    if (get)
        NEXT_AS(int(char *, int *), get)(version, &length);
    for (i = 0; i < sizeof families / sizeof *families; i++)
        done |= strstr(version, families[i]) != NULL;
    if (done)
        return;
    version[strcspn(version, "\n")] = 0;
    fprintf(stderr,
            SELF ": this program runs under another MPI (%s): preload the library for that\n",
            get ? version : "none is loaded");
    abort();
}

static const void *object_of(void *symbol)
{
    Dl_info info;

    return symbol && dladdr(symbol, &info) ? info.dli_fbase : NULL;
}

void next_find(struct next_call *call)
{
    void *mpi, *pmpi;

    pthread_mutex_lock(&lock);
    check_family();
    pmpi = next_symbol(call->symbol);
    mpi = next_symbol(call->symbol + 1);
    if (!pmpi || !mpi) {
        fprintf(stderr, SELF ": this MPI has no %s\n", call->symbol);
        abort();
    }
    call->tool = object_of(mpi) != object_of(pmpi);
    __atomic_store_n(&call->mpi, mpi, __ATOMIC_RELEASE);
    __atomic_store_n(&call->pmpi, pmpi, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

/* --------------------------------------------------------------------- engine */

/* It lies beside this library.  A process with rights that its user has not loads nothing. */
static const struct mpiio_engine *engine_load(void)
{
    char path[4096] = "";
    const char *slash;
    Dl_info self;
    const struct mpiio_engine *e;
    void *handle, *get;

    if (getauxval(AT_SECURE) || !dladdr(&next_engine, &self))
        return NULL;
    slash = strrchr(self.dli_fname, '/');
    if (slash)
        snprintf(path, sizeof path, "%.*s/" ENGINE, (int)(slash - self.dli_fname), self.dli_fname);
    handle = dlopen(slash ? path : ENGINE, RTLD_NOW | RTLD_LOCAL);
    get = handle ? dlsym(handle, "datarep_mpiio_engine") : NULL;
    if (!get) {
        fprintf(stderr, SELF ": %s\n", dlerror());
        return NULL;
    }
    e = NEXT_AS(const struct mpiio_engine *(void), get)();
    __atomic_store_n(&next_views, e->views, __ATOMIC_RELEASE);
    return e;
}

const struct mpiio_engine *next_load(void)
{
    static bool tried;

    if (__atomic_load_n(&next_engine, __ATOMIC_ACQUIRE))
        return next_engine;
    pthread_mutex_lock(&lock);
    if (!tried) {
        tried = true;
        __atomic_store_n(&next_engine, engine_load(), __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return next_engine;
}
