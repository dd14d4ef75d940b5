/* inject.h - system calls that fail when told to, and a list of the calls that were tried.
 *
 * The library is linked in, so a function of the same symbol in this program stands before
 * libc's.  Counted are only calls that the fault can hit, so that the n-th is always one. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_INJECT_H
#define TESTS_FAULT_INJECT_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum syscall_kind {
    ON_READ,
    ON_WRITE,
    ON_SIZE,
    ON_SYNC,
    ON_LOCK,
    ON_NAME,
    ON_LOOK,
    ON_MAP,
    ON_ALL
};
enum fault { NO_FAULT, MEMORY, IO_ERROR, NO_SPACE, INTERRUPTED, SHORT, FAULTS };

static const char *const fault_name[FAULTS] = {"nothing", "an allocation", "a call",
                                               "space",   "interruption",  "a short call"};
static const int fault_errno[FAULTS] = {
    [IO_ERROR] = EIO, [NO_SPACE] = ENOSPC, [INTERRUPTED] = EINTR};
static const bool applies[FAULTS][ON_ALL] = {
    [IO_ERROR] = {1, 1, 1, 1, 1, 1, 1, 1},
    [NO_SPACE] = {[ON_WRITE] = 1, [ON_SIZE] = 1, [ON_SYNC] = 1, [ON_NAME] = 1},
    [INTERRUPTED] = {[ON_READ] = 1, [ON_WRITE] = 1, [ON_SIZE] = 1, [ON_SYNC] = 1, [ON_LOCK] = 1},
    [SHORT] = {[ON_READ] = 1, [ON_WRITE] = 1}};

/* stays: it goes on failing; every: each other call fails. */
static struct {
    enum fault fault;
    int64_t at, seen, hits, sync_hits;
    bool stays, every;
} inject;

static enum fault due(enum syscall_kind kind)
{
    int64_t n;
    bool now;

    if (!applies[inject.fault][kind])
        return NO_FAULT;
    n = inject.seen++;
    now = inject.every ? n % 2 == 0 : inject.stays ? n >= inject.at : n == inject.at;
    inject.hits += now;
    inject.sync_hits += now && kind == ON_SYNC;
    return now ? inject.fault : NO_FAULT;
}

/* 1 when the call is to fail, with errno set. */
static int fails(enum syscall_kind kind)
{
    enum fault f = due(kind);

    if (f != NO_FAULT)
        errno = fault_errno[f];
    return f != NO_FAULT;
}

static void *real(const char *name)
{
    void *p = dlsym(RTLD_NEXT, name);

    if (!p)
        abort();
    return p;
}

/* The real function, looked up once. */
#define REAL(name, type, ...)         \
    static type (*call)(__VA_ARGS__); \
    if (!call)                        \
    *(void **)&call = real(name)

ssize_t inject_pread(int fd, void *buf, size_t n, off_t at) __asm__("pread64");
ssize_t inject_pwrite(int fd, const void *buf, size_t n, off_t at) __asm__("pwrite64");
ssize_t inject_write(int fd, const void *buf, size_t n) __asm__("write");
int inject_ftruncate(int fd, off_t size) __asm__("ftruncate64");
int inject_fallocate(int fd, int mode, off_t at, off_t size) __asm__("fallocate64");
int inject_fdatasync(int fd) __asm__("fdatasync");
int inject_fsync(int fd) __asm__("fsync");
int inject_fcntl(int fd, int cmd, void *arg) __asm__("fcntl64");
int inject_open(const char *path, int flags, mode_t mode) __asm__("open64");
int inject_openat(int dir, const char *path, int flags, mode_t mode) __asm__("openat64");
int inject_fstat(int fd, struct stat *s) __asm__("fstat64");
int inject_lstat(const char *path, struct stat *s) __asm__("lstat64");
int inject_fstatat(int dir, const char *path, struct stat *s, int flags) __asm__("fstatat64");
int inject_renameat(int a, const char *from, int b, const char *to) __asm__("renameat");
int inject_linkat(int a, const char *from, int b, const char *to, int flags) __asm__("linkat");
long inject_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");
void *inject_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at) __asm__("mmap64");

ssize_t inject_pread(int fd, void *buf, size_t n, off_t at)
{
    REAL("pread64", ssize_t, int, void *, size_t, off_t);
    enum fault f = due(ON_READ);

    if (f == SHORT)
        n = (n + 1) / 2;
    else if (f != NO_FAULT)
        return errno = fault_errno[f], -1;
    return call(fd, buf, n, at);
}

ssize_t inject_pwrite(int fd, const void *buf, size_t n, off_t at)
{
    REAL("pwrite64", ssize_t, int, const void *, size_t, off_t);
    enum fault f = due(ON_WRITE);

    if (f == SHORT)
        n = (n + 1) / 2;
    else if (f != NO_FAULT)
        return errno = fault_errno[f], -1;
    return call(fd, buf, n, at);
}

ssize_t inject_write(int fd, const void *buf, size_t n)
{
    REAL("write", ssize_t, int, const void *, size_t);
    enum fault f = due(ON_WRITE);

    if (f == SHORT)
        n = (n + 1) / 2;
    else if (f != NO_FAULT)
        return errno = fault_errno[f], -1;
    return call(fd, buf, n);
}

int inject_ftruncate(int fd, off_t size)
{
    REAL("ftruncate64", int, int, off_t);

    return fails(ON_SIZE) ? -1 : call(fd, size);
}

int inject_fallocate(int fd, int mode, off_t at, off_t size)
{
    REAL("fallocate64", int, int, int, off_t, off_t);

    return fails(ON_SIZE) ? -1 : call(fd, mode, at, size);
}

/* Nothing here outlives the machine: a sync that works need not be made. */
int inject_fdatasync(int fd)
{
    (void)fd;
    return fails(ON_SYNC) ? -1 : 0;
}

int inject_fsync(int fd)
{
    (void)fd;
    return fails(ON_SYNC) ? -1 : 0;
}

int inject_fcntl(int fd, int cmd, void *arg)
{
    REAL("fcntl64", int, int, int, ...);

    if (cmd == F_OFD_SETLK || cmd == F_OFD_GETLK) {
        if (fails(ON_LOCK))
            return -1;
    }
    return call(fd, cmd, arg);
}

int inject_open(const char *path, int flags, mode_t mode)
{
    REAL("open64", int, const char *, int, ...);

    return fails(ON_NAME) ? -1 : call(path, flags, mode);
}

int inject_openat(int dir, const char *path, int flags, mode_t mode)
{
    REAL("openat64", int, int, const char *, int, ...);

    return fails(ON_NAME) ? -1 : call(dir, path, flags, mode);
}

int inject_fstat(int fd, struct stat *s)
{
    REAL("fstat64", int, int, struct stat *);

    return fails(ON_LOOK) ? -1 : call(fd, s);
}

int inject_lstat(const char *path, struct stat *s)
{
    REAL("lstat64", int, const char *, struct stat *);

    return fails(ON_LOOK) ? -1 : call(path, s);
}

int inject_fstatat(int dir, const char *path, struct stat *s, int flags)
{
    REAL("fstatat64", int, int, const char *, struct stat *, int);

    return fails(ON_LOOK) ? -1 : call(dir, path, s, flags);
}

int inject_renameat(int a, const char *from, int b, const char *to)
{
    REAL("renameat", int, int, const char *, int, const char *);

    return fails(ON_NAME) ? -1 : call(a, from, b, to);
}

int inject_linkat(int a, const char *from, int b, const char *to, int flags)
{
    REAL("linkat", int, int, const char *, int, const char *, int);

    return fails(ON_NAME) ? -1 : call(a, from, b, to, flags);
}

/* The library calls renameat2() this way, as not every C library has it. */
long inject_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    REAL("syscall", long, long, long, long, long, long, long, long);

    return number == SYS_renameat2 && fails(ON_NAME) ? -1 : call(number, a, b, c, d, e, f);
}

/* Memory of the C library and of the sanitizer comes this way too. */
void *inject_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
    REAL("mmap64", void *, void *, size_t, int, int, int, off_t);

    return fd >= 0 && fails(ON_MAP) ? MAP_FAILED : call(p, n, prot, flags, fd, at);
}

/* ---- which public calls were tried ---- */

#define NAMES_MAX 1000
static struct {
    char *name[NAMES_MAX];
    int n;
} called;

static bool was_called(const char *name)
{
    for (int i = 0; i < called.n; i++) {
        if (strcmp(called.name[i], name) == 0)
            return true;
    }
    return false;
}

static void note_call(const char *name)
{
    if (was_called(name) || called.n == NAMES_MAX)
        return;
    called.name[called.n++] = strdup(name);
}

/* Every public call of a case goes through this. */
#define CALL(fn, ...) (note_call(#fn), (fn)(__VA_ARGS__))

#endif
