/* guard.c - the files that libhdf5 may read during an import.
 *
 * An HDF5 file names other files: external links, sources of virtual datasets, raw files.
 * This file decides which of them may be read (guard_judge) and is a virtual file driver, so
 * that every file that libhdf5 opens as HDF5 comes through that decision; files opened on the
 * way inherit the driver.  libhdf5 opens raw files by itself: virtual.c judges them
 * before it reads. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/guard.h"
#include "tools/h5/job.h"
#include "tools/host/family.h"
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The driver's registration number, where HDF5 asks for one: of the range for tests. */
#define GUARD_VALUE 289

/* The driver's state in a file access list, passed on to files opened through it. */
struct guard_info {
    struct guard *guard;
};

/* A file that is open through the driver. */
struct guard_file {
    H5FD_t base; /* first: HDF5 casts */
    struct guard *guard;
    struct guard_handle handle;
    dev_t device;
    ino_t inode;
    haddr_t eoa, eof;
};

/* ------------------------------------------------------------------ the decision */

static int is_source(const struct guard *g, const struct stat *st)
{
    return st->st_dev == g->device && st->st_ino == g->inode;
}

enum guard_verdict guard_judge(const struct guard *g, const char *name, char *why, size_t size)
{
    char real[PATH_MAX];
    struct stat st;

    /* A file that is absent, of thousands of sources perhaps, costs one call: realpath() makes one
     * for each directory. */
    if (stat(name, &st) != 0 || !realpath(name, real) || stat(real, &st) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            snprintf(why, size, "%s is not there", name);
            return GUARD_ABSENT;
        }
        snprintf(why, size, "%s: %s", name, strerror(errno));
        return GUARD_REFUSED;
    }
    if (!S_ISREG(st.st_mode)) {
        snprintf(why, size, "%s is no regular file", real);
        return GUARD_REFUSED;
    }
    if (is_source(g, &st) || g->outside)
        return GUARD_ALLOWED;
    if (!g->external) {
        snprintf(why, size, "%s is another file; --external reads it", real);
        return GUARD_REFUSED;
    }
    if (*g->dir && strncmp(real, g->dir, strlen(g->dir)) == 0)
        return GUARD_ALLOWED;
    snprintf(why, size, "%s lies outside the directory of the file; --outside reads it", real);
    return GUARD_REFUSED;
}

static int compare_used(const void *left, const void *right)
{
    const struct guard_used *a = left, *b = right;

    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->inode < b->inode ? -1 : a->inode > b->inode;
}

void guard_use(struct guard *g, const char *name)
{
    char real[PATH_MAX];
    struct guard_used *u, **found;
    struct stat st;

    if (!realpath(name, real) || stat(real, &st) != 0 || is_source(g, &st))
        return;
    u = calloc(1, sizeof *u + strlen(real) + 1);
    if (!u)
        return;
    u->device = st.st_dev;
    u->inode = st.st_ino;
    strcpy(u->path, real);
    found = tsearch(u, &g->tree, compare_used);
    if (!found || *found != u) {
        free(u);
        return;
    }
    *g->last = u;
    g->last = &u->next;
}

void guard_report(struct job *j)
{
    for (const struct guard_used *u = j->guard.used; u; u = u->next)
        job_say(j, HDF5_READ, "file", "", "elements came from %s", u->path);
}

/* ------------------------------------------------------------------- the driver */

static struct guard *guard_of(hid_t fapl)
{
    const struct guard_info *info = H5Pget_driver_info(fapl);

    return info ? info->guard : NULL;
}

static void *guard_info_copy(const void *info)
{
    struct guard_info *copy = malloc(sizeof *copy);

    if (copy)
        memcpy(copy, info, sizeof *copy);
    return copy;
}

static herr_t info_free(void *info)
{
    free(info);
    return 0;
}

static void *info_get(H5FD_t *file)
{
    struct guard_info info = {((struct guard_file *)file)->guard};

    return guard_info_copy(&info);
}

/* ------------------------------------------------------------------- a family */

static int is_family(const struct guard *g, const char *name)
{
    return g->family.n > 0 && strcmp(name, g->src) == 0;
}

/* Bytes of all members. */
static haddr_t family_size(const struct guard_family *f)
{
    struct stat st;

    if (fstat(f->fd[f->n - 1], &st) != 0 || (f->n - 1) > INT64_MAX / f->each - 1)
        return 0;
    return (f->n - 1) * f->each + (haddr_t)st.st_size;
}

ssize_t guard_pread(const struct guard_handle *h, void *bytes, size_t size, uint64_t at)
{
    const struct guard_family *f = h->family;
    uint64_t i, left;

    if (!f)
        return pread(h->fd, bytes, size, (off_t)at);
    i = at / f->each;
    left = f->each - at % f->each;
    if (i >= f->n)
        return 0;
    return pread(f->fd[i], bytes, size < left ? size : (size_t)left, (off_t)(at % f->each));
}

/* Opens all members, 0 and on. */
static int family_open(struct job *j, struct guard *g)
{
    char name[PATH_MAX];
    struct stat st;
    int fd, *all;

    while (family_member(g->src, (unsigned)g->family.n, name, sizeof name)) {
        fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 && errno == ENOENT && g->family.n > 0)
            break;
        all = fd < 0 ? NULL : realloc(g->family.fd, (g->family.n + 1) * sizeof *all);
        g->family.fd = all ? all : g->family.fd;
        if (!all || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
            job_fail(j, DREP_ERR_ACCESS, "%s: %s", name,
                     fd < 0 ? strerror(errno) : "not a regular file");
            if (fd >= 0)
                close(fd);
            return DREP_ERR_ACCESS;
        }
        all[g->family.n++] = fd;
        if (g->family.n == 1)
            g->family.each = st.st_size > 0 ? (uint64_t)st.st_size : 1;
    }
    g->fd = g->family.n > 0 ? fcntl(g->family.fd[0], F_DUPFD_CLOEXEC, 3) : -1;
    return 0;
}

/* HDF5 has found the driver's block: of a family it says how long its members are. */
static herr_t guard_file_decode(H5FD_t *file, const char *driver, const unsigned char *p)
{
    struct guard *g = ((struct guard_file *)file)->guard;
    uint64_t each = 0;
    int i;

    if (!((struct guard_file *)file)->handle.family || strncmp(driver, "NCSAfami", 8) != 0)
        return 0;
    for (i = 8; i-- > 0;)
        each = each << 8 | p[i];
    /* The first member is whole unless it is the only one. */
    if (each == 0 || each > INT64_MAX || (g->family.n > 1 && each != g->family.each))
        return -1;
    g->family.each = each;
    return 0;
}

/* A descriptor of a file that may be read, or -1.  The name is resolved once and then opened
 * without following a link; a FIFO put there meanwhile does not block. */
static int open_allowed(struct guard *g, const char *name)
{
    char real[PATH_MAX], why[sizeof g->why];
    struct stat before, st;
    enum guard_verdict verdict;
    int fd;

    if (strcmp(name, g->src) == 0)
        return fcntl(g->fd, F_DUPFD_CLOEXEC, 3);
    verdict = guard_judge(g, name, why, sizeof why);
    /* HDF5 tries several places: a file that is there says more than one that is not. */
    if (verdict == GUARD_REFUSED || (verdict == GUARD_ABSENT && !*g->why))
        memcpy(g->why, why, sizeof why);
    if (verdict != GUARD_ALLOWED || !realpath(name, real) || lstat(real, &before) != 0)
        return -1;
    fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == before.st_dev &&
        st.st_ino == before.st_ino) {
        guard_use(g, real);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static H5FD_t *guard_file_open(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr)
{
    struct guard *g = guard_of(fapl);
    struct guard_file *f;
    struct stat st;
    int fd;

    (void)maxaddr;
    if (!g || (flags & (H5F_ACC_RDWR | H5F_ACC_TRUNC | H5F_ACC_CREAT)))
        return NULL;
    fd = open_allowed(g, name);
    if (fd < 0)
        return NULL;
    f = calloc(1, sizeof *f);
    if (!f || fstat(fd, &st) != 0) {
        free(f);
        close(fd);
        return NULL;
    }
    f->guard = g;
    f->handle = (struct guard_handle){fd, is_family(g, name) ? &g->family : NULL};
    f->device = st.st_dev;
    f->inode = st.st_ino;
    f->eof = f->handle.family ? family_size(&g->family) : (haddr_t)st.st_size;
    return &f->base;
}

static herr_t guard_file_close(H5FD_t *file)
{
    struct guard_file *f = (struct guard_file *)file;
    int status = close(f->handle.fd);

    free(f);
    return status;
}

/* One file under two names is one file to HDF5. */
static int guard_file_cmp(const H5FD_t *a, const H5FD_t *b)
{
    const struct guard_file *f = (const struct guard_file *)a, *g = (const struct guard_file *)b;

    if (f->device != g->device)
        return f->device < g->device ? -1 : 1;
    return f->inode < g->inode ? -1 : f->inode > g->inode;
}

static herr_t guard_file_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    /* No sieve buffer: after a read that failed HDF5 takes what is in it for what was read. */
    *flags = H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_SUPPORTS_SWMR_IO;
    return 0;
}

static haddr_t guard_file_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct guard_file *)file)->eoa;
}

static herr_t guard_file_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t eoa)
{
    (void)type;
    ((struct guard_file *)file)->eoa = eoa;
    return 0;
}

static haddr_t guard_file_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct guard_file *)file)->eof;
}

/* For header.c, which reads what HDF5 does not check. */
static herr_t guard_file_handle(H5FD_t *file, hid_t fapl, void **handle)
{
    (void)fapl;
    *handle = &((struct guard_file *)file)->handle;
    return 0;
}

/* Elements behind the end of the file are not there, so reading them fails.  Of other blocks
 * HDF5 reads more than they have at times; that is zeros, as from its own driver. */
static herr_t guard_file_read(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t at, size_t size,
                              void *buffer)
{
    const struct guard_file *f = (const struct guard_file *)file;
    char *to = buffer;

    (void)dxpl;
    if (at > INT64_MAX || size > INT64_MAX - at)
        return -1;
    while (size > 0) {
        ssize_t n = guard_pread(&f->handle, to, size, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || (n == 0 && type == H5FD_MEM_DRAW))
            return -1;
        if (n == 0) {
            memset(to, 0, size);
            return 0;
        }
        to += n;
        at += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static herr_t guard_file_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t at, size_t size,
                               const void *buffer)
{
    (void)file, (void)type, (void)dxpl, (void)at, (void)size, (void)buffer;
    return -1;
}

/* As HDF5's own driver: a file that somebody writes cannot be read. */
static herr_t guard_file_lock(H5FD_t *file, hbool_t writing)
{
    int fd = ((struct guard_file *)file)->handle.fd;

    return flock(fd, (writing ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 || errno == ENOSYS ? 0 : -1;
}

static herr_t guard_file_unlock(H5FD_t *file)
{
    return flock(((struct guard_file *)file)->handle.fd, LOCK_UN) == 0 || errno == ENOSYS ? 0 : -1;
}

static const H5FD_class_t guard_class = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)GUARD_VALUE,
#endif
    .name = "datarep",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(struct guard_info),
    .fapl_get = info_get,
    .fapl_copy = guard_info_copy,
    .fapl_free = info_free,
    .open = guard_file_open,
    .close = guard_file_close,
    .cmp = guard_file_cmp,
    .query = guard_file_query,
    .get_eoa = guard_file_eoa,
    .set_eoa = guard_file_set_eoa,
    .get_eof = guard_file_eof,
    .get_handle = guard_file_handle,
    .sb_decode = guard_file_decode,
    .read = guard_file_read,
    .write = guard_file_write,
    .lock = guard_file_lock,
    .unlock = guard_file_unlock,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* --------------------------------------------------------------------- plugins */

/* True if nobody but its owner can put files there: HDF5 runs every shared object that it
 * finds in a directory of plugins, whichever file asks for a filter. */
static int is_safe_directory(const char *path)
{
    char real[PATH_MAX];
    struct stat st;
    char *slash;

    if (*path != '/' || !realpath(path, real) || stat(real, &st) != 0 || (st.st_mode & S_IWOTH))
        return 0;
    while ((slash = strrchr(real, '/')) && slash != real) {
        *slash = 0;
        if (stat(real, &st) != 0 || ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX)))
            return 0;
    }
    return 1;
}

void guard_plugins(void)
{
    char path[PATH_MAX];
    unsigned i = 0, n = 0;
    ssize_t size;

    while (H5PLsize(&n) >= 0 && i < n) {
        size = H5PLget(i, path, sizeof path);
        if (size > 0 && (size_t)size < sizeof path && is_safe_directory(path))
            i++;
        else if (H5PLremove(i) < 0)
            return;
    }
}

/* ------------------------------------------------------------------ its life cycle */

/* The directory of files beside the source; none for a pipe. */
static void find_directory(struct guard *g, int alone)
{
    char *slash;

    *g->dir = 0;
    if (alone || !realpath(g->src, g->dir))
        return;
    slash = strrchr(g->dir, '/');
    if (slash)
        slash[1] = 0;
}

/* Looks for the name of a driver of several files, before only HDF5 may look. */
static void find_part(struct guard *g)
{
    char front[4096];
    ssize_t n = pread(g->fd, front, sizeof front, 0);

    if (g->family.n == 0 && n > 0 &&
        (memmem(front, (size_t)n, "NCSAfami", 8) || memmem(front, (size_t)n, "NCSAmult", 8)) &&
        !family_part(g->src, g->part, sizeof g->part))
        *g->part = 0;
}

int guard_init(struct job *j, struct guard *g)
{
    char first[PATH_MAX];
    struct stat st;
    int err;

    memset(g, 0, sizeof *g);
    g->src = j->o->src;
    g->external = j->o->external;
    g->outside = j->o->outside;
    g->last = &g->used;
    g->fapl = g->driver = -1;
    g->fd = open(g->src, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (g->fd < 0 && errno == ENOENT && family_member(g->src, 0, first, sizeof first) &&
        access(first, F_OK) == 0 && (err = family_open(j, g)))
        return err;
    if (g->fd < 0 || fstat(g->fd, &st) != 0)
        return job_fail(j, errno == EACCES ? DREP_ERR_ACCESS : DREP_ERR_NO_SUCH_FILE, "%s: %s",
                        g->src, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return job_fail(j, DREP_ERR_ACCESS, "%s: not a regular file", g->src);
    g->device = st.st_dev;
    g->inode = st.st_ino;
    find_directory(g, j->o->alone);
    find_part(g);
    return 0;
}

hid_t guard_fapl(struct guard *g)
{
    struct guard_info info = {g};
    H5FD_class_t class = guard_class;

    if (g->fapl > 0)
        return g->fapl;
    if (g->family.n > 0)
        class.name = "family"; /* HDF5 asks for that of such files */
    g->driver = H5FDregister(&class);
    g->fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (g->driver < 0 || g->fapl < 0 || H5Pset_driver(g->fapl, g->driver, &info) < 0)
        return -1;
    return g->fapl;
}

void guard_release(struct guard *g)
{
    if (g->fapl > 0)
        H5Pclose(g->fapl);
    if (g->driver > 0)
        H5FDunregister(g->driver);
    if (g->fd >= 0)
        close(g->fd);
    while (g->family.n > 0)
        close(g->family.fd[--g->family.n]);
    free(g->family.fd);
    g->family.fd = NULL;
    tdestroy(g->tree, free);
    g->tree = g->used = NULL;
    g->fd = -1;
    g->fapl = g->driver = -1;
}
