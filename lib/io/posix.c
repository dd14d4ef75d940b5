/* posix.c - files of the operating system.
 *
 * A new file is written under a temporary name beside its own and gets that with one
 * rename, so nobody ever sees a file that has no commit.  Names are looked up in a descriptor of
 * the directory: the process may go to another one meanwhile, and the directory may be moved.
 * Locks are those of open file descriptions: they exclude other handles of the same process too,
 * and a forked process shares them with its parent. */
/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include "base/error.h"
#include "base/hidden.h"
#include "base/mem.h"
#include "io/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

struct posix {
    struct io io;
    int fd;
    int ahead;      /* space is taken in steps when the file grows */
    uint64_t size;  /* of the file, if ahead; under the lock */
    uint64_t holes; /* before this byte the file may have some; likewise */
    int has_lock;
    pthread_mutex_t lock;
    int excl;
    int dir;    /* of its directory, or AT_FDCWD; of files that are written */
    char *name; /* there; NULL: not known */
    int known;  /* by these two, which stay: */
    dev_t device;
    ino_t inode;
    char *temporary; /* likewise, until it is published; else NULL */
    int marked;      /* its lock is there only to say that it is in use */
    /* The file that will be replaced. */
    int lock_old;                  /* these bytes are to be locked */
    uint64_t old_first, old_count; /* in */
    int old;      /* what stood there lately, -1: nothing, or nothing that can be opened */
    int watch;    /* watches the file whose lock is waited for; -1: nothing does */
    bool watched; /* watch_open() was called */
    /* Nanoseconds to wait for bytes that another process has written: at first, and left. */
    int64_t patience, patience_left;
};

#define AHEAD_MIN ((uint64_t)1 << 20)   /* smaller files grow as they are written */
#define AHEAD_MAX ((uint64_t)64 << 20)  /* bytes taken at once */
#define AHEAD_UNIT ((uint64_t)64 << 10) /* files end at a multiple of this then */

/* What fstatfs() says of file systems in memory; not every C library has <linux/magic.h>. */
#define TMPFS_TYPE 0x01021994u
#define RAMFS_TYPE 0x858458f6u

#define NO_REPLACE 1u /* RENAME_NOREPLACE of the kernel */

#define LINKS_MAX 40 /* symbolic links on the way to a new file, as Linux has it */

/* The largest count that one system call takes on Linux, a multiple of a page. */
#define CALL_MAX ((size_t)0x7ffff000)

#define PAGE 4096
#define LINE 64                       /* bytes of a line of the processor's cache */
#define SHIFT_MIN ((size_t)32 << 10)  /* shorter reads are not worth two steps */
#define SHIFT_MAX ((size_t)256 << 10) /* what stays in the processor's cache */

/* Map errno to the code that tells a caller what to do. */
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
    case ESTALE:
        return DREP_ERR_STALE;
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

    return fail_byte(number == EINVAL ? DREP_ERR_IO : error_of(number), offset,
                     "%s: %s: %s at byte %llu", io->path, what, strerror(number),
                     (unsigned long long)offset);
}

static int offset_check(const struct io *io, size_t size, uint64_t offset)
{
    if (offset > INT64_MAX || size > INT64_MAX - offset)
        return fail_byte(DREP_ERR_LIMIT, offset, "%s: byte %llu exceeds the largest file offset",
                         io->path, (unsigned long long)offset);
    return 0;
}

/* Bytes to the next multiple of LINE, counted from the place of the bytes in the page of the file,
 * if the kernel would copy from its cache slowly.  Processors move long strings at half the speed
 * or less (AMD Zen: a third) when the target begins 1 to 31 bytes past the place of the source in
 * its page, and that is where malloc() puts large blocks. */
static size_t posix_shift(const void *p, size_t size, uint64_t offset)
{
    size_t past = (size_t)((uintptr_t)p - offset) % PAGE;

    return size >= SHIFT_MIN && past >= 1 && past < 32 ? LINE - past : 0;
}

/* Read `shift` bytes further up, and move what came down while it is in the processor's cache.  The
 * last bytes, for which there is no room then, go through a buffer. */
static ssize_t read_shifted(const struct posix *f, uint8_t *p, size_t size, uint64_t offset,
                            size_t shift)
{
    uint8_t tail[LINE];
    size_t head;
    struct iovec to[2] = {{p + shift, size - shift}, {tail, shift}};
    ssize_t n = preadv(f->fd, to, 2, (off_t)offset);

    if (n <= 0)
        return n;
    head = (size_t)n < size - shift ? (size_t)n : size - shift;
    memmove(p, p + shift, head);
    memcpy(p + head, tail, (size_t)n - head);
    return n;
}

static ssize_t read_once(const struct posix *f, uint8_t *p, size_t size, uint64_t offset)
{
    size_t shift = posix_shift(p, size, offset);

    if (shift)
        return read_shifted(f, p, size < SHIFT_MAX ? size : SHIFT_MAX, offset, shift);
    return pread(f->fd, p, size < CALL_MAX ? size : CALL_MAX, (off_t)offset);
}

/* ---- what other processes write ---- */

#define PAUSE_MIN ((int64_t)1 << 20)   /* nanoseconds before the first new try, about 1 ms; */
#define PAUSE_MAX ((int64_t)256 << 20) /* each further pause is twice as long, up to this */

/* Wait before try `n`, and note it in *left; false if there is no time left. */
static bool pause_before(int n, int64_t *left)
{
    int64_t ns = n < 8 ? PAUSE_MIN << n : PAUSE_MAX, rest = __atomic_load_n(left, __ATOMIC_RELAXED);
    struct timespec t;

    if (rest <= 0)
        return false;
    ns = ns < rest ? ns : rest;
    t = (struct timespec){0, (long)ns}; /* less than a second */
    nanosleep(&t, NULL);
    __atomic_sub_fetch(left, ns, __ATOMIC_RELAXED);
    return true;
}

/* The file is shorter than another process says: some file systems show late what others have
 * written, and look at once when a file is opened.  False if it is of no use to try again. */
static bool wait_for_more(struct posix *f, int n)
{
    char own[40];
    int fd;

    if (!pause_before(n, &f->patience_left))
        return false;
    snprintf(own, sizeof(own), "/proc/self/fd/%d", f->fd);
    fd = open(own, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return true;
}

static int posix_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    struct posix *f = (struct posix *)io;
    uint8_t *p = buf;
    int err = offset_check(io, size, offset), waits = 0;

    if (err)
        return err;
    while (size > 0) {
        ssize_t n = read_once(f, p, size, offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_at(io, "read", offset);
        if (n == 0 && wait_for_more(f, waits++))
            continue;
        if (n == 0)
            return fail_byte(DREP_ERR_TRUNCATE, offset, "%s: read: the file ends at byte %llu",
                             io->path, (unsigned long long)offset);
        p += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    if (waits) /* they came: the next ones are waited for as long */
        __atomic_store_n(&f->patience_left, f->patience, __ATOMIC_RELAXED);
    return 0;
}

#define VECTOR_MAX 64 /* adjacent ranges that one call reads */

/* Read adjacent ranges by one call. What it leaves, after a short read or an error, is read range
 * by range, and its error is reported there. */
static size_t read_adjacent(const struct posix *f, const struct io_range *range, size_t n)
{
    struct iovec to[VECTOR_MAX];
    size_t done = 0, left;
    ssize_t got;

    for (size_t i = 0; i < n; i++)
        to[i] = (struct iovec){range[i].buf, range[i].size};
    do
        got = preadv(f->fd, to, (int)n, (off_t)range->offset);
    while (got < 0 && errno == EINTR);
    for (left = got > 0 ? (size_t)got : 0; done < n && left >= range[done].size; done++)
        left -= range[done].size;
    return done;
}

/* Number of ranges from the first on that are adjacent in the file. */
static size_t adjacent(const struct io_range *range, size_t n)
{
    size_t many = 1, size = range->size;

    while (many < n && many < VECTOR_MAX && range->offset <= (uint64_t)INT64_MAX - CALL_MAX &&
           range[many].offset == range->offset + size && range[many].size <= CALL_MAX - size)
        size += range[many++].size;
    return size <= CALL_MAX ? many : 1;
}

/* A local file has no round trip to save: only adjacent ranges share a call. */
static int posix_read_many(struct io *io, const struct io_range *range, size_t n)
{
    const struct posix *f = (const struct posix *)io;
    int err = 0;

    while (!err && n > 0) {
        size_t many = adjacent(range, n), done = many > 1 ? read_adjacent(f, range, many) : 0;

        for (; !err && done < many; done++)
            err = posix_read(io, range[done].buf, range[done].size, range[done].offset);
        range += many;
        n -= many;
    }
    return err;
}

/* Take space for bytes that are about to be written. An optimisation only: with no space, or no
 * such call, it will not be asked for again. */
static void take(struct posix *f, uint64_t from, uint64_t to)
{
    int err;

    do
        err = fallocate(f->fd, 0, (off_t)from, (off_t)(to - from));
    while (err && errno == EINTR);
    f->ahead = !err;
}

/* Preallocate ahead of a file that grows to `end`: growth in small steps is laid out in pieces, and
 * each sync writes the new size. A quarter of a larger file is taken at once; close() cuts off the
 * rest. `least`: take what is written even if it is all. */
static void take_ahead(struct posix *f, uint64_t from, uint64_t end, int least)
{
    uint64_t step = f->size / 4 < AHEAD_MAX ? f->size / 4 : AHEAD_MAX;
    uint64_t to = (end + step) / AHEAD_UNIT * AHEAD_UNIT;

    if (from > f->size)
        f->holes = from; /* which stay holes */
    else
        from = f->size;
    if (f->size < AHEAD_MIN || to <= end || to > INT64_MAX)
        to = least ? end : 0;
    if (to > 0)
        take(f, from, to);
    f->size = to > end && f->ahead ? to : end;
}

/* Writes into space that is taken cost a third less, and do not make the file longer. */
static void posix_room(struct io *io, uint64_t offset, uint64_t size)
{
    struct posix *f = (struct posix *)io;
    uint64_t end = offset + size;

    if (!f->has_lock || end > INT64_MAX || end < offset)
        return;
    pthread_mutex_lock(&f->lock);
    if (f->ahead && offset < f->holes)
        take(f, offset, end < f->holes ? end : f->holes);
    if (f->ahead && end > f->size)
        take_ahead(f, offset, end, 1);
    pthread_mutex_unlock(&f->lock);
}

/* Write all bytes at an offset, in as many calls as the system takes. */
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
            take_ahead(f, offset, offset + size, 0);
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

static int posix_changed(struct io *io, int64_t *time)
{
    struct posix *f = (struct posix *)io;
    struct stat s;

    if (fstat(f->fd, &s))
        return fail_errno(io->path, "stat");
    *time = (int64_t)s.st_mtime;
    return 0;
}

/* Advice only: a system that does not take it reads as it does without. */
static void posix_advise(struct io *io, int pattern)
{
    static const int advice[] = {[IO_NORMAL] = POSIX_FADV_NORMAL,
                                 [IO_SEQUENTIAL] = POSIX_FADV_SEQUENTIAL,
                                 [IO_RANDOM] = POSIX_FADV_RANDOM};

    (void)posix_fadvise(((struct posix *)io)->fd, 0, 0, advice[pattern]);
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
        f->holes = size > f->size || size < f->holes ? size : f->holes;
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

/* Every lock is set and looked at here.  Contention is DREP_ERR_FILE_IN_USE.  File systems without
 * such locks say so in many ways (ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL, EROFS, EIO, 524 on Cray's
 * DVS): each of them means that there are no locks here. */
static int call_lock(const struct io *io, int fd, int command, struct flock *l)
{
    while (fcntl(fd, command, l)) {
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN || errno == EACCES)
            return io_in_use(io);
        return fail(DREP_ERR_UNSUPPORTED_OPERATION, "%s: lock: %s", io->path, strerror(errno));
    }
    return 0;
}

/* *at: the first byte of the lock that was found, or `first`. */
static int find_lock(const struct io *io, int fd, uint64_t first, uint64_t count, int *held,
                     uint64_t *at)
{
    struct flock l = lock_of(F_WRLCK, first, count);
    int err = call_lock(io, fd, F_OFD_GETLK, &l);

    if (err)
        return err;
    *held = l.l_type != F_UNLCK;
    *at = (uint64_t)l.l_start > first ? (uint64_t)l.l_start : first;
    return 0;
}

static int get_lock(const struct io *io, int fd, uint64_t first, uint64_t count, int *held)
{
    uint64_t at;

    return find_lock(io, fd, first, count, held, &at);
}

/* DREP_ERR_FILE_IN_USE for bytes that others hold some of.  The last one is the writer's. */
static int who_holds(const struct io *io, int fd, uint64_t first, uint64_t count)
{
    int writer = 1, ranks = 0;

    if (count > 1 && !get_lock(io, fd, first + count - 1, 1, &writer) && !writer &&
        !get_lock(io, fd, first, count - 1, &ranks) && ranks)
        return io_ranks_left(io);
    return io_in_use(io);
}

static int set_lock(const struct io *io, int fd, uint64_t first, uint64_t count, int how)
{
    static const short types[] = {F_UNLCK, F_RDLCK, F_WRLCK};
    struct flock l = lock_of(types[how], first, count);
    int err = call_lock(io, fd, F_OFD_SETLK, &l);

    return err == DREP_ERR_FILE_IN_USE ? who_holds(io, fd, first, count) : err;
}

static int posix_lock_bytes(struct io *io, uint64_t offset, uint64_t size, int how)
{
    const struct posix *f = (const struct posix *)io;
    struct flock l = lock_of(how ? F_WRLCK : F_UNLCK, offset, size);

    while (fcntl(f->fd, F_OFD_SETLKW, &l)) {
        if (errno != EINTR)
            return DREP_ERR_UNSUPPORTED_OPERATION;
    }
    return 0;
}

static void unlock_all(int fd)
{
    struct flock l = lock_of(F_UNLCK, 0, 0);

    while (fcntl(fd, F_OFD_SETLK, &l) && errno == EINTR)
        ;
}

static int posix_probe(struct io *io, uint64_t first, uint64_t count, int *held)
{
    return get_lock(io, ((struct posix *)io)->fd, first, count, held);
}

static int posix_probe_at(struct io *io, uint64_t first, uint64_t count, int *held, uint64_t *at)
{
    return find_lock(io, ((struct posix *)io)->fd, first, count, held, at);
}

/* Slow file systems may be interrupted. */
static int openat_retrying(int dir, const char *path, int flags, unsigned perm)
{
    int fd;

    do
        fd = openat(dir, path, flags | O_CLOEXEC, (mode_t)perm & 07777);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int open_retrying(const char *path, int flags, unsigned perm)
{
    return openat_retrying(AT_FDCWD, path, flags, perm);
}

/* Open the directory of `path`. */
static int open_directory(const char *path, int *fd)
{
    const char *slash = strrchr(path, '/');
    char *name =
        slash ? mem_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : mem_strdup(".");
    int err = 0;

    if (!name)
        return DREP_ERR_NOMEM;
    *fd = open_retrying(name, O_RDONLY | O_DIRECTORY, 0);
    if (*fd < 0)
        err = fail_errno(path, "open of its directory");
    mem_free(name);
    return err;
}

/* ---- the name of a file that is written ---- */

/* True if the name leads to the descriptor's file. */
static int stands_there(const struct posix *f, int fd)
{
    struct stat mine, there;

    return fstat(fd, &mine) == 0 && fstatat(f->dir, f->name, &there, 0) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

static int posix_named(struct io *io, uint64_t *size)
{
    struct posix *f = (struct posix *)io;
    struct stat mine, there;
    int gone;

    if (!f->name || f->temporary)
        return 0;
    gone = fstatat(f->dir, f->name, &there, 0) ? errno : 0;
    if (gone || !f->known) {
        if (fstat(f->fd, &mine))
            return fail_errno(io->path, "stat");
        f->known = 1;
        f->device = mine.st_dev;
        f->inode = mine.st_ino;
    }
    if (!gone && f->device == there.st_dev && f->inode == there.st_ino) {
        *size = (uint64_t)there.st_size;
        return 0;
    }
    if (!gone)
        return fail(DREP_ERR_STALE, "%s: another file has taken the place of the one that is open",
                    io->path);
    if (gone == ENOENT && mine.st_nlink == 0)
        return fail(DREP_ERR_STALE, "%s: the file was removed while it was open", io->path);
    return 0; /* moved, or the directory cannot be searched any more */
}

static void let_old_go(struct posix *f)
{
    if (f->old >= 0) {
        unlock_all(f->old);
        close(f->old);
    }
    f->old = -1;
}

/* Lock the file that has the name now, if there is one and the system has such locks. A
 * read-only file is only probed: we cannot be its writer, but others may. */
static int lock_there(struct posix *f, int *fd)
{
    int flags = O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, err = 0, held = 0;

    *fd = openat(f->dir, f->name, O_RDWR | flags);
    if (*fd >= 0) {
        err = set_lock(&f->io, *fd, f->old_first, f->old_count, 2);
        return err == DREP_ERR_UNSUPPORTED_OPERATION ? 0 : err;
    }
    if (errno == ENOENT)
        return 0;
    *fd = openat(f->dir, f->name, O_RDONLY | flags);
    if (*fd >= 0 && get_lock(&f->io, *fd, f->old_first, f->old_count, &held) == 0 && held)
        return who_holds(&f->io, *fd, f->old_first, f->old_count);
    return 0;
}

/* The name may change hands while we look: look again until it does not. */
static int lock_old(struct posix *f)
{
    for (int tries = 0; tries < 16; tries++) {
        int fd, err;

        if (f->old >= 0 && stands_there(f, f->old))
            return 0;
        let_old_go(f);
        err = lock_there(f, &fd);
        f->old = fd;
        if (err) {
            let_old_go(f);
            return err;
        }
        if (fd < 0)
            return 0;
    }
    let_old_go(f);
    return io_in_use(&f->io);
}

/* Writers of a file that will be replaced are waited for at its name. */
static void posix_pause(struct io *io, int64_t ns)
{
    struct posix *f = (struct posix *)io;
    char own[40 + NAME_MAX];

    if (!f->watched) {
        if (f->temporary)
            snprintf(own, sizeof(own), "/proc/self/fd/%d/%s", f->dir, f->name);
        else
            snprintf(own, sizeof(own), "/proc/self/fd/%d", f->fd);
        f->watch = watch_open(own);
        f->watched = true;
        ns = f->watch < 0 ? ns : 0; /* a writer may have gone before: look once more */
    }
    if (ns > 0)
        watch_pause(f->watch, ns);
}

static void watch_end(struct posix *f)
{
    if (f->watch >= 0)
        close(f->watch);
    f->watch = -1;
    f->watched = false;
}

static int posix_lock(struct io *io, uint64_t first, uint64_t count, int how)
{
    struct posix *f = (struct posix *)io;
    int err = set_lock(io, f->fd, first, count, how), writer = HIDDEN_LOCK - first < count;

    if (writer)
        f->marked = 0;
    if (writer && !err)
        watch_end(f);
    if (err || !writer || !f->temporary || f->excl || how != 2)
        return err;
    f->lock_old = 1;
    f->old_first = first;
    f->old_count = count;
    return lock_old(f);
}

/* Copy permissions of the replaced file to the new one and widen none: where its group cannot be
 * kept, the group gets no more than others. */
static void keep_permissions(struct posix *f)
{
    struct stat old, own;
    mode_t mode;

    if (fstatat(f->dir, f->name, &old, 0) || !S_ISREG(old.st_mode) || fstat(f->fd, &own))
        return;
    mode = old.st_mode & 0777;
    if ((own.st_uid != old.st_uid || own.st_gid != old.st_gid) &&
        fchown(f->fd, old.st_uid, old.st_gid) && own.st_gid != old.st_gid &&
        fchown(f->fd, (uid_t)-1, old.st_gid))
        mode = (mode & ~(mode_t)070) | (mode & (mode_t)(mode << 3) & 070);
    (void)!fchmod(f->fd, mode);
}

/* Give the file a new name without replacing: EEXIST. File systems without link() have
 * renameat2(), which not every C library has. */
static int name_new(const struct posix *f)
{
    if (linkat(f->dir, f->temporary, f->dir, f->name, 0) == 0) {
        unlinkat(f->dir, f->temporary, 0);
        return 0;
    }
    if (errno == EEXIST)
        return -1;
    return (int)syscall(SYS_renameat2, f->dir, f->temporary, f->dir, f->name, NO_REPLACE);
}

static int name_over(const struct posix *f)
{
    return renameat(f->dir, f->temporary, f->dir, f->name) ? fail_errno(f->io.path, "rename") : 0;
}

/* Give the file its name. A file is replaced only under its writer's lock; where no file was,
 * without replacing: so no live writer's file is ever replaced. */
static int give_name(struct posix *f)
{
    struct stat there;
    int err;

    if (f->excl)
        return name_new(f) ? fail_errno(f->io.path, "create") : 0;
    for (int tries = 0; f->lock_old && tries < 16; tries++) {
        err = lock_old(f);
        if (err)
            return err;
        if (f->old < 0 && fstatat(f->dir, f->name, &there, AT_SYMLINK_NOFOLLOW) &&
            errno == ENOENT) {
            if (name_new(f) == 0)
                return 0;
            if (errno == EEXIST)
                continue;
        }
        break;
    }
    keep_permissions(f);
    return name_over(f);
}

/* Sync the directory; some file systems cannot and need not. */
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

/* Everything that allocates comes before the file is visible. */
static int posix_publish(struct io *io, int sync, int *visible)
{
    struct posix *f = (struct posix *)io;
    int err;

    *visible = !f->temporary;
    if (*visible)
        return 0;
    err = give_name(f);
    if (err)
        return err;
    mem_free(f->temporary);
    f->temporary = NULL;
    *visible = 1;
    if (f->marked)
        hidden_unlock(f->fd);
    let_old_go(f);
    return sync ? sync_directory(io, f->dir) : 0;
}

/* The directory may have been moved since it was opened: the system knows its name. */
static int posix_where(struct io *io, char **path)
{
    const struct posix *f = (const struct posix *)io;
    const char *name = f->temporary ? f->temporary : f->name;
    char link[32], dir[PATH_MAX], *real;
    ssize_t n;

    if (!name || f->dir < 0) {
        real = realpath(io->path, NULL);
        *path = real ? mem_strdup(real) : NULL;
        free(real);
        return *path ? 0 : fail_errno(io->path, "realpath");
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", f->dir);
    n = readlink(link, dir, sizeof(dir));
    if (n < 0 || n == (ssize_t)sizeof(dir))
        return fail_errno(io->path, "name of the directory");
    *path = mem_alloc((size_t)n + strlen(name) + 2);
    if (!*path)
        return DREP_ERR_NOMEM;
    sprintf(*path, "%.*s/%s", (int)n, dir, name);
    return 0;
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

static void posix_unmap(void *handle, size_t size)
{
    size_t skip = (size_t)((uintptr_t)handle % (uintptr_t)sysconf(_SC_PAGESIZE));

    munmap((uint8_t *)handle - skip, size + skip);
}

static void posix_leave(struct io *io)
{
    struct posix *f = (struct posix *)io;

    watch_end(f);
    if (f->old >= 0)
        close(f->old);
    if (f->dir >= 0)
        close(f->dir);
    if (f->fd >= 0)
        close(f->fd);
    if (f->has_lock)
        pthread_mutex_destroy(&f->lock);
    mem_free(f->temporary);
    mem_free(f->name);
    mem_free(io->path);
    mem_free(f);
}

/* The locks are given up by name: a forked process may have the description open for long. */
static void posix_end(struct io *io)
{
    struct posix *f = (struct posix *)io;

    if (f->temporary)
        unlinkat(f->dir, f->temporary, 0);
    if (f->fd >= 0)
        unlock_all(f->fd);
    let_old_go(f);
    posix_leave(io);
}

static int posix_apart(struct io *io, struct io **out);
static int posix_reopen(struct io *io, struct io **out);

static const struct io_ops posix_ops = {.read_at = posix_read,
                                        .read_many = posix_read_many,
                                        .shift = posix_shift,
                                        .write_at = posix_write,
                                        .room = posix_room,
                                        .size = posix_size,
                                        .changed = posix_changed,
                                        .truncate = posix_truncate,
                                        .sync = posix_sync,
                                        .lock = posix_lock,
                                        .lock_bytes = posix_lock_bytes,
                                        .probe = posix_probe,
                                        .probe_at = posix_probe_at,
                                        .pause = posix_pause,
                                        .publish = posix_publish,
                                        .named = posix_named,
                                        .map = posix_map,
                                        .unmap = posix_unmap,
                                        .close = posix_end,
                                        .leave = posix_leave,
                                        .reopen = posix_reopen,
                                        .advise = posix_advise,
                                        .where = posix_where,
                                        .apart = posix_apart};

static struct posix *posix_new(const char *path)
{
    struct posix *f = mem_zalloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->fd = -1;
    f->dir = AT_FDCWD;
    f->old = -1;
    f->watch = -1;
    f->io.ops = &posix_ops;
    f->io.path = mem_strdup(path);
    if (!f->io.path) {
        mem_free(f);
        return NULL;
    }
    return f;
}

static int open_existing(struct posix *f, int flags, unsigned perm)
{
    struct stat s;

    /* Non-blocking, so that a FIFO does not hang open() before it is recognised. */
    f->fd = open_retrying(f->io.path, flags | O_NONBLOCK, perm);
    if (f->fd < 0)
        return fail_errno(f->io.path, "open");
    if (fstat(f->fd, &s))
        return fail_errno(f->io.path, "stat");
    if (!S_ISREG(s.st_mode))
        return fail(DREP_ERR_ACCESS, "%s: open: not a regular file", f->io.path);
    return 0;
}

/* Open the directory of a path whose last name is not a symbolic link. Where it cannot be
 * opened, and need not be, the path is used. */
static int find_place(struct posix *f, const char *path, int need)
{
    const char *slash = strrchr(path, '/');
    int err = open_directory(path, &f->dir);

    if (err) {
        f->dir = AT_FDCWD;
        if (need || err == DREP_ERR_NOMEM)
            return err;
        slash = NULL;
    }
    f->name = mem_strdup(slash ? slash + 1 : path);
    return f->name ? 0 : DREP_ERR_NOMEM;
}

/* Join the target of a symbolic link to its path; frees `link`. NULL without memory. */
static char *step_over(char *link, const char *target)
{
    const char *slash = strrchr(link, '/');
    size_t dir = *target == '/' || !slash ? 0 : (size_t)(slash - link) + 1;
    size_t size = dir + strlen(target) + 1;
    char *path = mem_alloc(size);

    if (path) {
        memcpy(path, link, dir);
        memcpy(path + dir, target, size - dir);
    }
    mem_free(link);
    return path;
}

/* The path behind symbolic links, the last of which may name what is not there yet. */
static int follow_links(struct posix *f, char **out)
{
    char target[PATH_MAX], *path = mem_strdup(f->io.path);
    ssize_t n;
    int i;

    for (i = 0; path && i <= LINKS_MAX; i++) {
        n = readlink(path, target, sizeof(target) - 1);
        if (n < 0) {
            *out = path;
            return 0;
        }
        target[n] = 0;
        path = step_over(path, target);
    }
    if (!path)
        return DREP_ERR_NOMEM;
    mem_free(path);
    errno = ELOOP;
    return fail_errno(f->io.path, "create");
}

/* Resolve the final name: through symbolic links, as open(O_CREAT) would. */
static int find_target(struct posix *f)
{
    struct stat s;
    char *path;
    int err;

    if (f->excl && lstat(f->io.path, &s) == 0)
        return fail(DREP_ERR_FILE_EXISTS, "%s: file exists", f->io.path);
    err = follow_links(f, &path);
    if (err)
        return err;
    err = find_place(f, path, 1);
    mem_free(path);
    /* Renaming over a device or a directory would destroy or fail too late. */
    if (!err && fstatat(f->dir, f->name, &s, 0) == 0 && !S_ISREG(s.st_mode))
        err = fail(DREP_ERR_ACCESS, "%s: create: not a regular file", f->io.path);
    return err;
}

/* Create a uniquely named file in the directory.  Its lock says that it is in use, whatever the
 * hint drep_lock says; the store takes it over with its own. */
static int open_temporary(struct posix *f, unsigned perm)
{
    if (f->name[0] == 0)
        return fail(DREP_ERR_ACCESS, "%s: create: not a regular file", f->io.path);
    f->temporary = mem_alloc(HIDDEN_NAME);
    if (!f->temporary)
        return DREP_ERR_NOMEM;
    f->fd = hidden_make(f->dir, perm, f->temporary);
    f->marked = f->fd >= 0;
    if (f->marked)
        return 0;
    mem_free(f->temporary);
    f->temporary = NULL;
    return fail_errno(f->io.path, "create");
}

/* A file that replaces another is at no time open to more people than that. */
static int open_new(struct posix *f, unsigned perm)
{
    struct stat s;
    int replaces = !f->excl && fstatat(f->dir, f->name, &s, 0) == 0;
    int err = open_temporary(f, replaces ? 0600 : perm);

    if (!err && replaces)
        keep_permissions(f);
    return err;
}

/* A temporary file beside this one, that loses its name at once. */
static int posix_apart(struct io *io, struct io **out)
{
    const struct posix *of = (const struct posix *)io;
    struct posix *f = posix_new(io->path);
    char *real;
    int err;

    if (!f)
        return DREP_ERR_NOMEM;
    if (of->dir >= 0) {
        f->dir = fcntl(of->dir, F_DUPFD_CLOEXEC, 0);
        f->name = mem_strdup(of->name);
        err = f->dir < 0 ? fail_errno(io->path, "open of its directory")
                         : (f->name ? 0 : DREP_ERR_NOMEM);
    } else {
        real = realpath(io->path, NULL);
        err = find_place(f, real ? real : io->path, 1);
        free(real);
    }
    if (!err)
        err = open_temporary(f, 0600);
    if (err) {
        posix_end(&f->io);
        return err;
    }
    unlinkat(f->dir, f->temporary, 0);
    mem_free(f->temporary);
    f->temporary = NULL;
    *out = &f->io;
    return 0;
}

/* On file systems in memory there are no pieces to lay out. */
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
    f->ahead = fstatfs(f->fd, &fs) == 0 && (uint32_t)fs.f_type != TMPFS_TYPE &&
               (uint32_t)fs.f_type != RAMFS_TYPE;
    return 0;
}

/* A file that is open to be written is looked for at its name, behind symbolic links. */
static int note_place(struct posix *f)
{
    char *real = realpath(f->io.path, NULL);
    int err;

    if (!real)
        return 0;
    err = find_place(f, real, 0);
    free(real);
    return err;
}

int io_posix(const char *path, enum io_mode mode, int excl, unsigned perm, struct io **out)
{
    static const int flags[] = {
        [IO_READ] = O_RDONLY, [IO_WRITE] = O_RDWR, [IO_RAW] = O_RDWR | O_CREAT};
    struct posix *f = posix_new(path);
    int err;

    if (!f)
        return DREP_ERR_NOMEM;
    f->excl = excl;
    if (mode == IO_CREATE)
        err = find_target(f);
    else
        err = open_existing(f, flags[mode] | (mode == IO_RAW && excl ? O_EXCL : 0), perm);
    if (!err && mode == IO_CREATE) {
        hidden_sweep(f->dir);
        err = open_new(f, perm);
    }
    if (!err && mode == IO_WRITE)
        err = note_place(f);
    if (!err && (mode == IO_CREATE || mode == IO_WRITE))
        err = start_ahead(f);
    if (err) {
        posix_end(&f->io);
        return err;
    }
    *out = &f->io;
    return 0;
}

int io_posix_patient(const char *path, enum io_mode mode, int64_t patience_ns, struct io **out)
{
    int64_t left = patience_ns;
    struct posix *f;
    int tries = 0, err;

    do
        err = io_posix(path, mode, 0, 0, out);
    while ((err == DREP_ERR_NO_SUCH_FILE || err == DREP_ERR_STALE) && pause_before(tries++, &left));
    if (err)
        return err;
    f = (struct posix *)*out;
    f->patience = f->patience_left = patience_ns;
    return 0;
}

/* ---- in a child process ---- */

/* Through the descriptor, where the system can: whatever became of the path, and of the current
 * directory, it is the same file.  Else by the path. */
static int open_same(const struct posix *f)
{
    char own[40];
    int fd;

    snprintf(own, sizeof(own), "/proc/self/fd/%d", f->fd);
    fd = open_retrying(own, O_RDONLY | O_NONBLOCK, 0);
    return fd >= 0 ? fd : open_retrying(f->io.path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
}

static int posix_reopen(struct io *io, struct io **out)
{
    const struct posix *of = (const struct posix *)io;
    struct posix *f = posix_new(io->path);
    struct stat own, old;

    if (!f)
        return DREP_ERR_NOMEM;
    f->fd = open_same(of);
    if (f->fd < 0 || fstat(f->fd, &own) || fstat(of->fd, &old) || own.st_dev != old.st_dev ||
        own.st_ino != old.st_ino) {
        posix_end(&f->io);
        return fail(DREP_ERR_STALE, "%s: the file cannot be opened again in the child process",
                    io->path);
    }
    *out = &f->io;
    return 0;
}

/* ---- files beside a file ---- */

int io_descriptor(int fd, const char *name, bool writes, struct io **out)
{
    int flags = fcntl(fd, F_GETFL), err = 0;
    struct posix *f = posix_new(name ? name : "(descriptor)");
    struct stat s;

    if (!f)
        return fail_nomem();
    if (flags < 0 || flags & O_APPEND || (flags & O_ACCMODE) == (writes ? O_RDONLY : O_WRONLY))
        err = fail(DREP_ERR_ARG, "%s: descriptor %d cannot be %s", f->io.path, fd,
                   writes ? "written at an offset" : "read");
    else if ((f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)) < 0)
        err = fail_errno(f->io.path, "duplicate");
    else if (fstat(f->fd, &s))
        err = fail_errno(f->io.path, "stat");
    else if (!S_ISREG(s.st_mode))
        err = fail(DREP_ERR_ACCESS, "%s: not a regular file", f->io.path);
    if (err) {
        posix_end(&f->io);
        return err;
    }
    *out = &f->io;
    return 0;
}

int io_directory(const char *path, int *dir)
{
    char *real = realpath(path, NULL);
    int err;

    if (!real && errno == ENOENT) /* a file that is being made */
        return open_directory(path, dir);
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

/* Open one component; owns *dir. */
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

/* The path of a file with its last name replaced. */
static char *path_beside(const char *of, const char *name)
{
    const char *slash = strrchr(of, '/');
    size_t dir = slash ? (size_t)(slash - of) + 1 : 0, len = strlen(name);
    char *path = mem_alloc(dir + len + 1);

    if (!path)
        return NULL;
    memcpy(path, of, dir);
    memcpy(path + dir, name, len + 1);
    return path;
}

int io_beside(int dir, const char *name, const char *of, struct io **out, int *inner)
{
    char *path = path_beside(of, name);
    struct posix *f = path ? posix_new(path) : NULL;
    struct stat s;
    int err;

    mem_free(path);
    if (!f)
        return DREP_ERR_NOMEM;
    err = walk_down(dir, name, f->io.path, &f->fd, inner);
    if (!err && fstat(f->fd, &s))
        err = fail_errno(f->io.path, "stat");
    else if (!err && !S_ISREG(s.st_mode))
        err = fail(DREP_ERR_ACCESS, "%s: open: not a regular file", f->io.path);
    if (err) {
        if (f->fd >= 0)
            close(*inner);
        posix_end(&f->io);
        return err;
    }
    *out = &f->io;
    return 0;
}

int io_temporary(const char *path, struct io **out)
{
    const char *dir = secure_getenv("TMPDIR");
    struct posix *f = posix_new(path);
    char name[PATH_MAX];

    if (!f)
        return DREP_ERR_NOMEM;
    snprintf(name, sizeof(name), "%s/drep-XXXXXX", dir && *dir ? dir : "/tmp");
    f->fd = mkostemp(name, O_CLOEXEC);
    if (f->fd < 0) {
        int err = fail_errno(path, "temporary file");

        posix_end(&f->io);
        return err;
    }
    unlink(name);
    *out = &f->io;
    return 0;
}
