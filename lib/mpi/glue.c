/* glue.c - which MPI runs, whether it may be called, and messages. */
/* SPDX-License-Identifier: MIT */
#include "mpi/glue.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The libraries of one application binary interface, by what they call themselves. */
#if defined(OPEN_MPI)
#define GLUE_NAME "libdatarep-mpi-openmpi"
static const char *const families[] = {"Open MPI"};
#elif defined(MPICH_VERSION) || defined(MPICH_NAME)
#define GLUE_NAME "libdatarep-mpi-mpich"
static const char *const families[] = {"MPICH", "MVAPICH", "Intel(R) MPI"};
#else
#error "neither MPICH nor Open MPI: add it to lib/mpi/glue.c and to the Makefile"
#endif

int glue_fail(int err, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    if (vsnprintf(text, sizeof text, fmt, args) < 0)
        text[0] = 0;
    va_end(args);
    return drep_error_set(err, text);
}

static int code_of(int class)
{
    static const struct {
        int class, code;
    } known[] = {{MPI_ERR_NO_SPACE, DREP_ERR_NO_SPACE},
                 {MPI_ERR_QUOTA, DREP_ERR_NO_SPACE},
                 {MPI_ERR_ACCESS, DREP_ERR_ACCESS},
                 {MPI_ERR_READ_ONLY, DREP_ERR_READ_ONLY},
                 {MPI_ERR_NO_MEM, DREP_ERR_NOMEM},
                 {MPI_ERR_NO_SUCH_FILE, DREP_ERR_NO_SUCH_FILE},
                 {MPI_ERR_FILE_EXISTS, DREP_ERR_FILE_EXISTS},
                 {MPI_ERR_FILE_IN_USE, DREP_ERR_FILE_IN_USE}};
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].class == class)
            return known[i].code;
    return DREP_ERR_IO;
}

int glue_mpi(int result, const char *what)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "", *p;
    int class = MPI_ERR_OTHER, len = 0;

    if (result == MPI_SUCCESS)
        return 0;
    MPI_Error_class(result, &class);
    if (MPI_Error_string(result, text, &len) != MPI_SUCCESS)
        len = 0;
    text[len] = 0;
    for (p = text; (p = strchr(p, '\n')); p++) /* MPICH tells a story of several lines */
        *p = ' ';
    return glue_fail(code_of(class), "%s: %s", what, *text ? text : "an error of MPI");
}

static atomic_bool in_child;

static void note_child(void)
{
    in_child = true;
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, note_child);
}

bool glue_in_child(void)
{
    return in_child;
}

/* Bytes of a version's text, more than that of any MPI: one that is not ours may be the longer. */
enum { VERSION_ROOM = 65536 };

/* MPI_Get_library_version() may be called before MPI_Init(), and in a program of the other MPI it
 * is that one's function which answers. */
static int check_library(const char *call)
{
    static int right; /* equal results may race */
    char version[VERSION_ROOM] = "";
    size_t i;
    int len = 0;

    if (__atomic_load_n(&right, __ATOMIC_RELAXED))
        return 0;
    if (MPI_Get_library_version(version, &len) != MPI_SUCCESS)
        len = 0;
    version[len] = 0;
    for (i = 0; i < sizeof families / sizeof *families; i++)
        if (strstr(version, families[i])) {
            __atomic_store_n(&right, 1, __ATOMIC_RELAXED);
            return 0;
        }
    return glue_fail(DREP_ERR_UNSUPPORTED_OPERATION, "%s: this is %s, but the program runs %.*s",
                     call, GLUE_NAME, (int)strcspn(version, ",\n"), version);
}

/* Below MPI_THREAD_SERIALIZED only the thread that initialised MPI may call it. */
static int check_thread(const char *call)
{
    int level = MPI_THREAD_SINGLE, first = 1;

    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED)
        MPI_Is_thread_main(&first);
    return first ? 0
                 : glue_fail(DREP_ERR_UNSUPPORTED_OPERATION,
                             "%s: not on the thread that called MPI_Init, and the thread level is "
                             "below MPI_THREAD_SERIALIZED",
                             call);
}

int glue_ready(const char *call)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int initialised = 0, finalised = 0, err;

    if (in_child)
        return glue_fail(DREP_ERR_UNSUPPORTED_OPERATION,
                         "%s: MPI is that of the parent process, not of this child", call);
    if ((err = check_library(call)))
        return err;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (!initialised)
        return glue_fail(DREP_ERR_UNSUPPORTED_OPERATION, "%s: MPI is not initialised", call);
    if (finalised)
        return glue_fail(DREP_ERR_UNSUPPORTED_OPERATION, "%s: MPI is already finalised", call);
    pthread_once(&once, watch);
    return check_thread(call);
}

void *glue_alloc(uint64_t n, size_t size)
{
    void *p = n <= PTRDIFF_MAX / size ? calloc(n ? n : 1, size) : NULL;

    if (!p)
        drep_error_set(DREP_ERR_NOMEM, "out of memory");
    return p;
}
