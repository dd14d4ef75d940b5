/* posix.c - files of the operating system.
 *
 * A new file is written under a temporary name beside its own and gets that with one
 * rename, so nobody ever sees a file that has no commit.  Locks are those of open file
 * descriptions: they exclude other handles of the same process too. */
#include "io/io.h"

#include "base/error.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

struct posix {
    struct io io;
    int fd;
    int ahead;     /* space is taken in steps when the file grows */
    uint64_t size; /* of the file, if ahead; under the lock */
    int has_lock;
    pthread_mutex_t lock;
    int excl;
    char *temporary; /* its name until it is published, else NULL */
    char *target;    /* its name then */
};

#define AHEAD_MIN ((uint64_t)1 << 20)   /* smaller files grow as they are written */
#define AHEAD_MAX ((uint64_t)64 << 20)  /* bytes taken at once */
#define AHEAD_UNIT ((uint64_t)64 << 10) /* files end at a multiple of this then */

/* The largest count that one system call takes on Linux, a multiple of a page. */
#define CALL_MAX ((size_t)0x7ffff000)

static int error_of(int number)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return DREP_ERR_NO_SPACE;
    case EROFS:
        return DREP_ERR_READ_ONLY;
    case EACCES:
    case EPERM:
    case EISDIR:
    case ELOOP:
        return DREP_ERR_ACCESS;
    case ENOENT:
    case ENOTDIR:
        return DREP_ERR_NO_SUCH_FILE;
    case EEXIST:
        return DREP_ERR_FILE_EXISTS;
    case ENAMETOOLONG:
        return DREP_ERR_NAME;
    case ENOMEM:
        return DREP_ERR_NOMEM;
    case ENOLCK:
    case ENOSYS:
    case EINVAL:
    case EOPNOTSUPP:
        return DREP_ERR_UNSUPPORTED_OPERATION;
    default:
        return DREP_ERR_IO;
    }
}

static int fail_errno(const char *path, const char *what)
{
    int number = errno;

    return fail(error_of(number), "%s: %s: %s", path, what, strerror(number));
}

static int fail_at(const struct io *io, const char *what, uint64_t offset)
{
    int number = errno;

    return fail(number == EINVAL ? DREP_ERR_IO : error_of(number), "%s: %s: %s at byte %llu",
                io->path, what, strerror(number), (unsigned long long)offset);
}

static int offset_check(const struct io *io, size_t size, uint64_t offset)
{
    if (offset > INT64_MAX || size > INT64_MAX - offset)
        return fail(DREP_ERR_LIMIT, "%s: byte %llu is beyond what a file can have", io->path,
                    (unsigned long long)offset);
    return 0;
}

static int posix_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    struct posix *f = (struct posix *)io;
    uint8_t *p = buf;
    int err = offset_check(io, size, offset);

    if (err)
        return err;
    while (size > 0) {
        ssize_t n = pread(f->fd, p, size < CALL_MAX ? size : CALL_MAX, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_at(io, "read", offset);
        if (n == 0)
            return fail(DREP_ERR_TRUNCATE, "%s: read: the file ends at byte %llu", io->path,
                        (unsigned long long)offset);
        p += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

/* A file that grows bit by bit is laid out in pieces, and each sync has to keep its new size
 * too.  So where it has some size already, a quarter of that is taken at once; what is left of
 * it is cut off when the file is closed.  Only an optimisation. */
static void take_ahead(struct posix *f, uint64_t from, uint64_t end)
{
    uint64_t step = f->size / 4 < AHEAD_MAX ? f->size / 4 : AHEAD_MAX;
    uint64_t to = (end + step) / AHEAD_UNIT * AHEAD_UNIT;
    int err;

    from = from > f->size ? from : f->size; /* holes stay holes */
    if (f->size >= AHEAD_MIN && to > end && to <= INT64_MAX) {
        do
            err = fallocate(f->fd, 0, (off_t)from, (off_t)(to - from));
        while (err && errno == EINTR);
        f->ahead = !err; /* no space, or no such call: it will not be asked for again */
        end = err ? end : to;
    }
    f->size = end;
}

static int posix_write(struct io *io, const void *buf, size_t size, uint64_t offset)
{
    struct posix *f = (struct posix *)io;
    const uint8_t *p = buf;
    int err = offset_check(io, size, offset);

    if (err)
        return err;
    if (f->has_lock) {
        pthread_mutex_lock(&f->lock);
        if (f->ahead && offset + size > f->size)
            take_ahead(f, offset, offset + size);
        pthread_mutex_unlock(&f->lock);
    }
    while (size > 0) {
        ssize_t n = pwrite(f->fd, p, size < CALL_MAX ? size : CALL_MAX, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return fail_at(io, "write", offset);
        p += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

static int posix_size(struct io *io, uint64_t *size)
{
    struct posix *f = (struct posix *)io;
    struct stat s;

    if (fstat(f->fd, &s))
        return fail_errno(io->path, "stat");
    *size = (uint64_t)s.st_size;
    return 0;
}

static int posix_truncate(struct io *io, uint64_t size)
{
    struct posix *f = (struct posix *)io;
    int err = offset_check(io, 0, size);

    if (err)
        return err;
    while (ftruncate(f->fd, (off_t)size)) {
        if (errno != EINTR)
            return fail_at(io, "truncate", size);
    }
    if (f->has_lock) {
        pthread_mutex_lock(&f->lock);
        f->size = size;
        pthread_mutex_unlock(&f->lock);
    }
    return 0;
}

static int posix_sync(struct io *io)
{
    struct posix *f = (struct posix *)io;

    /* No second try: the kernel may have dropped the pages that it could not write.  A signal
     * comes before it tried. */
    while (fdatasync(f->fd)) {
        if (errno != EINTR)
            return fail_errno(io->path, "fdatasync");
    }
    return 0;
}

static struct flock lock_of(short type, uint64_t first, uint64_t count)
{
    struct flock l;

    memset(&l, 0, sizeof(l));
    l.l_type = type;
    l.l_whence = SEEK_SET;
    l.l_start = (off_t)first;
    l.l_len = (off_t)count;
    return l;
}

static int posix_lock(struct io *io, uint64_t byte, int how)
{
    static const short types[] = {F_UNLCK, F_RDLCK, F_WRLCK};
    struct posix *f = (struct posix *)io;
    struct flock l = lock_of(types[how], byte, 1);

    while (fcntl(f->fd, F_OFD_SETLK, &l)) {
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN || errno == EACCES)
            return fail(DREP_ERR_FILE_IN_USE, "%s: file is in use by another writer", io->path);
        return fail_errno(io->path, "lock");
    }
    return 0;
}

static int posix_probe(struct io *io, uint64_t first, uint64_t count, int *held)
{
    struct posix *f = (struct posix *)io;
    struct flock l = lock_of(F_WRLCK, first, count);

    while (fcntl(f->fd, F_OFD_GETLK, &l)) {
        if (errno != EINTR)
            return fail_errno(io->path, "lock");
    }
    *held = l.l_type != F_UNLCK;
    return 0;
}

/* Slow file systems may be interrupted. */
static int open_again(const char *path, int flags, unsigned perm)
{
    int fd;

    do
        fd = open(path, flags | O_CLOEXEC, (mode_t)perm & 07777);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Opens the directory that holds `path`. */
static int open_directory(const char *path, int *fd)
{
    const char *slash = strrchr(path, '/');
    char *name =
        slash ? mem_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : mem_strdup(".");
    int err = 0;

    if (!name)
        return DREP_ERR_NOMEM;
    *fd = open_again(name, O_RDONLY | O_DIRECTORY, 0);
    if (*fd < 0)
        err = fail_errno(name, "open of the directory");
    mem_free(name);
    return err;
}

static int give_name(struct posix *f)
{
    if (!f->excl)
        return rename(f->temporary, f->target) ? fail_errno(f->io.path, "rename") : 0;
    /* link() never replaces; every file system without it has renameat2(). */
    if (link(f->temporary, f->target) == 0)
        unlink(f->temporary);
    else if (errno == EEXIST ||
             renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->target, RENAME_NOREPLACE))
        return fail_errno(f->io.path, "create");
    return 0;
}

/* Some file systems cannot sync directories and need not. */
static int sync_directory(const struct io *io, int fd)
{
    while (fsync(fd)) {
        if (errno == EINVAL || errno == EROFS)
            return 0;
        if (errno != EINTR)
            return fail_errno(io->path, "sync of the directory");
    }
    return 0;
}

/* All that may fail for want of memory comes before the file is visible. */
static int posix_publish(struct io *io, int sync)
{
    struct posix *f = (struct posix *)io;
    int err, fd;

    if (!f->temporary)
        return 0;
    err = open_directory(f->target, &fd);
    if (err)
        return err;
    err = give_name(f);
    if (!err) {
        mem_free(f->temporary);
        f->temporary = NULL;
        err = sync ? sync_directory(io, fd) : 0;
    }
    close(fd);
    return err;
}

static int posix_map(struct io *io, uint64_t offset, size_t size, void **base, void **handle)
{
    struct posix *f = (struct posix *)io;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    size_t skip = (size_t)(offset % page);
    int err = offset_check(io, size, offset);
    void *p;

    if (err)
        return err;
    p = mmap(NULL, size + skip, PROT_READ, MAP_SHARED, f->fd, (off_t)(offset - skip));
    if (p == MAP_FAILED)
        return fail_at(io, "map", offset);
    *base = (uint8_t *)p + skip;
    *handle = *base;
    return 0;
}

static void posix_unmap(struct io *io, void *handle, size_t size)
{
    size_t skip = (size_t)((uintptr_t)handle % (uintptr_t)sysconf(_SC_PAGESIZE));

    (void)io;
    munmap((uint8_t *)handle - skip, size + skip);
}

static void posix_close(struct io *io)
{
    struct posix *f = (struct posix *)io;

    if (f->temporary)
        unlink(f->temporary);
    if (f->fd >= 0)
        close(f->fd);
    if (f->has_lock)
        pthread_mutex_destroy(&f->lock);
    mem_free(f->temporary);
    mem_free(f->target);
    mem_free(io->path);
    mem_free(f);
}

static int posix_apart(struct io *io, struct io **out);

static const struct io_ops posix_ops = {posix_read, posix_write, posix_size,  posix_truncate,
                                        posix_sync, posix_lock,  posix_probe, posix_publish,
                                        posix_map,  posix_unmap, posix_close, posix_apart};

static int open_existing(struct posix *f, int flags, unsigned perm)
{
    struct stat s;

    /* Not blocking: a FIFO must not hold us up before we see that it is one. */
    f->fd = open_again(f->io.path, flags | O_NONBLOCK, perm);
    if (f->fd < 0)
        return fail_errno(f->io.path, "open");
    if (fstat(f->fd, &s))
        return fail_errno(f->io.path, "stat");
    if (!S_ISREG(s.st_mode))
        return fail(DREP_ERR_ACCESS, "%s: open: not a regular file", f->io.path);
    return 0;
}

/* The name the file will get: behind symbolic links, as open(O_CREAT) would have it. */
static int find_target(struct posix *f)
{
    struct stat s;
    char *real;

    if (lstat(f->io.path, &s)) {
        f->target = mem_strdup(f->io.path);
        return f->target ? 0 : DREP_ERR_NOMEM;
    }
    if (f->excl)
        return fail(DREP_ERR_FILE_EXISTS, "%s: file exists", f->io.path);
    real = realpath(f->io.path, NULL);
    f->target = mem_strdup(real ? real : f->io.path);
    free(real);
    if (!f->target)
        return DREP_ERR_NOMEM;
    /* Renaming over a device or a directory would destroy or fail too late. */
    if (stat(f->target, &s) == 0 && !S_ISREG(s.st_mode))
        return fail(DREP_ERR_ACCESS, "%s: create: not a regular file", f->io.path);
    return 0;
}

static int open_temporary(struct posix *f, unsigned perm)
{
    const char *slash = strrchr(f->target, '/');
    size_t dir = slash ? (size_t)(slash - f->target) + 1 : 0;
    size_t size = dir + sizeof(".drep-0123456789abcdef.tmp");
    uint64_t random;
    int tries;

    if (f->target[dir] == 0)
        return fail(DREP_ERR_ACCESS, "%s: create: not a regular file", f->io.path);
    f->temporary = mem_alloc(size);
    if (!f->temporary)
        return DREP_ERR_NOMEM;
    for (tries = 0; tries < 16; tries++) {
        if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
            random = (uint64_t)(uintptr_t)f ^ (uint64_t)getpid() << 32 ^ (uint64_t)tries;
        memcpy(f->temporary, f->target, dir);
        snprintf(f->temporary + dir, size - dir, ".drep-%016llx.tmp", (unsigned long long)random);
        f->fd = open_again(f->temporary, O_RDWR | O_CREAT | O_EXCL, perm);
        if (f->fd >= 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    mem_free(f->temporary);
    f->temporary = NULL;
    return fail_errno(f->io.path, "create");
}

/* A temporary file beside this one, that loses its name at once. */
static int posix_apart(struct io *io, struct io **out)
{
    struct posix *of = (struct posix *)io, *f = mem_zalloc(1, sizeof(*f));
    int err;

    if (!f)
        return DREP_ERR_NOMEM;
    f->fd = -1;
    f->io.ops = &posix_ops;
    f->io.path = mem_strdup(io->path);
    f->target = mem_strdup(of->target ? of->target : io->path);
    err = f->io.path && f->target ? open_temporary(f, 0600) : DREP_ERR_NOMEM;
    if (err) {
        posix_close(&f->io);
        return err;
    }
    unlink(f->temporary);
    mem_free(f->temporary);
    f->temporary = NULL;
    *out = &f->io;
    return 0;
}

/* Where files lie in memory there is nothing to lay out. */
static int start_ahead(struct posix *f)
{
    struct statfs fs;
    struct stat s;

    if (fstat(f->fd, &s))
        return fail_errno(f->io.path, "stat");
    if (pthread_mutex_init(&f->lock, NULL))
        return fail(DREP_ERR_NOMEM, "out of memory: cannot make a lock");
    f->has_lock = 1;
    f->size = (uint64_t)s.st_size;
    f->ahead = fstatfs(f->fd, &fs) == 0 && (uint32_t)fs.f_type != TMPFS_MAGIC &&
               (uint32_t)fs.f_type != RAMFS_MAGIC;
    return 0;
}

int io_posix(const char *path, enum io_mode mode, int excl, unsigned perm, struct io **out)
{
    static const int flags[] = {
        [IO_READ] = O_RDONLY, [IO_WRITE] = O_RDWR, [IO_RAW] = O_RDWR | O_CREAT};
    struct posix *f = mem_zalloc(1, sizeof(*f));
    int err;

    if (!f)
        return DREP_ERR_NOMEM;
    f->fd = -1;
    f->excl = excl;
    f->io.ops = &posix_ops;
    f->io.path = mem_strdup(path);
    if (!f->io.path)
        err = DREP_ERR_NOMEM;
    else if (mode == IO_CREATE)
        err = find_target(f);
    else
        err = open_existing(f, flags[mode] | (mode == IO_RAW && excl ? O_EXCL : 0), perm);
    if (!err && mode == IO_CREATE)
        err = open_temporary(f, perm);
    if (!err && (mode == IO_CREATE || mode == IO_WRITE))
        err = start_ahead(f);
    if (err) {
        posix_close(&f->io);
        return err;
    }
    *out = &f->io;
    return 0;
}

/* ---- files beside a file ---- */

int io_directory(const char *path, int *dir)
{
    char *real = realpath(path, NULL);
    int err;

    if (!real)
        return fail_errno(path, "directory");
    err = open_directory(real, dir);
    free(real);
    return err;
}

static int leads_out(const char *path)
{
    return fail(DREP_ERR_ACCESS, "%s: leads out of the directory of the file that links to it",
                path);
}

/* One step down; takes over *dir. */
static int step_down(int *dir, const char *name, size_t len, int last, const char *path)
{
    int flags = last ? O_RDONLY | O_NONBLOCK : O_RDONLY | O_DIRECTORY;
    char part[NAME_MAX + 1];
    int fd;

    if (len > NAME_MAX)
        return fail(DREP_ERR_NAME, "%s: open: %s", path, strerror(ENAMETOOLONG));
    memcpy(part, name, len);
    part[len] = '\0';
    if (strcmp(part, "..") == 0)
        return leads_out(path);
    do
        fd = openat(*dir, part, flags | O_NOFOLLOW | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0 && errno == ELOOP)
        return fail(DREP_ERR_ACCESS, "%s: a symbolic link", path);
    if (fd < 0)
        return fail_errno(path, "open");
    close(*dir);
    *dir = fd;
    return 0;
}

/* A descriptor of the file and one of its directory. */
static int walk_down(int dir, const char *name, const char *path, int *file, int *inner)
{
    int at = fcntl(dir, F_DUPFD_CLOEXEC, 0), above = -1, err = 0;

    if (at < 0)
        return fail_errno(path, "open");
    if (*name == '/')
        err = leads_out(path);
    while (!err) {
        size_t n = strcspn(name, "/"), gap = strspn(name + n, "/");
        int last = name[n + gap] == '\0';

        if (last && gap > 0)
            err = fail(DREP_ERR_NO_SUCH_FILE, "%s: open: %s", path, strerror(ENOTDIR));
        else if (last && (above = fcntl(at, F_DUPFD_CLOEXEC, 0)) < 0)
            err = fail_errno(path, "open");
        if (!err && (n > 0 || last))
            err = step_down(&at, name, n, last, path);
        name += n + gap;
        if (last)
            break;
    }
    if (err) {
        close(at);
        if (above >= 0)
            close(above);
        return err;
    }
    *file = at;
    *inner = above;
    return 0;
}

int io_beside(int dir, const char *name, const char *path, struct io **out, int *inner)
{
    struct posix *f = mem_zalloc(1, sizeof(*f));
    struct stat s;
    int err;

    if (!f)
        return DREP_ERR_NOMEM;
    f->fd = -1;
    f->io.ops = &posix_ops;
    f->io.path = mem_strdup(path);
    err = f->io.path ? walk_down(dir, name, path, &f->fd, inner) : DREP_ERR_NOMEM;
    if (!err && fstat(f->fd, &s))
        err = fail_errno(path, "stat");
    else if (!err && !S_ISREG(s.st_mode))
        err = fail(DREP_ERR_ACCESS, "%s: open: not a regular file", path);
    if (err) {
        if (f->fd >= 0)
            close(*inner);
        posix_close(&f->io);
        return err;
    }
    *out = &f->io;
    return 0;
}
