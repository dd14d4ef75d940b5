/* absent.c - what a page does not have: a file system, processors, an environment.
 *
 * The library's driver for files of the system (lib/io/posix.c) is left out; here are its calls. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "io/io.h"

#include <sched.h>
#include <stdlib.h>

static int absent(void)
{
    return fail(DREP_ERR_UNSUPPORTED_OPERATION, "a page has no file system");
}

int io_posix(const char *path, enum io_mode mode, int excl, unsigned perm, struct io **out)
{
    (void)path, (void)mode, (void)excl, (void)perm, (void)out;
    return absent();
}

int io_posix_patient(const char *path, enum io_mode mode, int64_t patience_ns, struct io **out)
{
    (void)path, (void)mode, (void)patience_ns, (void)out;
    return absent();
}

int io_directory(const char *path, int *dir)
{
    (void)path, (void)dir;
    return absent();
}

int io_beside(int dir, const char *name, const char *of, struct io **out, int *inner)
{
    (void)dir, (void)name, (void)of, (void)out, (void)inner;
    return absent();
}

int io_temporary(const char *path, struct io **out)
{
    (void)path, (void)out;
    return absent();
}

/* Emscripten's C library declares these without having them. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid, (void)size, (void)set;
    return -1;
}

int __sched_cpucount(size_t size, const cpu_set_t *set)
{
    (void)size, (void)set;
    return 1;
}

char *secure_getenv(const char *name)
{
    (void)name;
    return NULL;
}
