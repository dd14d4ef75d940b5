/* hidden.c - files that grow under a hidden name until they are whole.
 *
 * Who makes a file and who sweeps may meet at any moment.  A file that was made is kept only if its
 * lock was free and the name still leads to it then; a file is removed only while its lock is held,
 * and if the name still leads to it.  So either the maker has the lock first, and the file stays,
 * or the sweeper has it, and the maker takes another name. */
/* SPDX-License-Identifier: MIT */
#include "base/hidden.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define DIGITS 16
#define TRIES 16

bool hidden_is(const char *name)
{
    return strncmp(name, ".drep-", 6) == 0 && strspn(name + 6, "0123456789abcdef") == DIGITS &&
           strcmp(name + 6 + DIGITS, ".tmp") == 0;
}

/* 0; else errno: EAGAIN if another process has the lock. */
static int set_lock(int fd, short type)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

    l.l_start = (off_t)HIDDEN_LOCK;
    while (fcntl(fd, F_OFD_SETLK, &l)) {
        if (errno != EINTR)
            return errno == EACCES ? EAGAIN : errno;
    }
    return 0;
}

void hidden_unlock(int fd)
{
    set_lock(fd, F_UNLCK);
}

static bool stands_there(int dir, const char *name, int fd)
{
    struct stat own, there;

    return fstat(fd, &own) == 0 && fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

static void new_name(int number, char name[HIDDEN_NAME])
{
    uint64_t random;

    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
        random = (uint64_t)(uintptr_t)name ^ (uint64_t)getpid() << 32 ^ (uint64_t)number;
    snprintf(name, HIDDEN_NAME, ".drep-%016llx.tmp", (unsigned long long)random);
}

int hidden_make(int dir, unsigned perm, char name[HIDDEN_NAME])
{
    for (int i = 0; i < TRIES; i++) {
        int fd;

        new_name(i, name);
        do
            fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)perm & 07777);
        while (fd < 0 && errno == EINTR);
        if (fd < 0 && errno != EEXIST)
            return -1;
        /* Where every new file is locked, the system says so of each: it has no locks. */
        if (fd >= 0 && (set_lock(fd, F_WRLCK) != EAGAIN || i == TRIES - 1) &&
            stands_there(dir, name, fd))
            return fd;
        if (fd >= 0) {
            unlinkat(dir, name, 0);
            close(fd);
        }
    }
    errno = EEXIST;
    return -1;
}

/* File systems of this machine alone: others may have locks that end at the machine. */
static bool is_local(int dir)
{
    static const uint32_t local[] = {
        0xef53,     /* ext2, ext3, ext4 */
        0x58465342, /* xfs */
        0x9123683e, /* btrfs */
        0x01021994, /* tmpfs */
        0x858458f6, /* ramfs */
        0x794c7630, /* overlayfs */
        0xf2f52010, /* f2fs */
        0x2fc12fc1, /* zfs */
    };
    struct statfs fs;

    if (fstatfs(dir, &fs))
        return false;
    for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++) {
        if ((uint32_t)fs.f_type == local[i])
            return true;
    }
    return false;
}

static void sweep_one(int dir, const char *name)
{
    struct stat s;
    int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
        set_lock(fd, F_WRLCK) == 0 && stands_there(dir, name, fd))
        unlinkat(dir, name, 0);
    close(fd);
}

void hidden_sweep(int dir)
{
    int saved = errno, n = 0, fd = -1;
    struct dirent *entry;
    DIR *list = NULL;

    if (is_local(dir))
        fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && !(list = fdopendir(fd)))
        close(fd);
    while (list && n++ < HIDDEN_MOST && (entry = readdir(list))) {
        if (hidden_is(entry->d_name))
            sweep_one(dir, entry->d_name);
    }
    if (list)
        closedir(list);
    errno = saved;
}
