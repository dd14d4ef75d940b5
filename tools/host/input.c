/* input.c - standard input as a file that can be read anywhere. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/input.h"
#include "tools/host/fail.h"
#include "tools/host/fullio.h"
#include "tools/host/label.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IN_MEMORY ((size_t)16 << 20)

static int input_fail(const char *what)
{
    tool_say("-", NULL, "%s: %s", what, strerror(errno));
    return -1;
}

/* Adds the `size` bytes at buf, and what still comes; -1 after saying what is wrong. */
static int spool_into(int fd, int from, char *buf, size_t size)
{
    ssize_t n = (ssize_t)size;
    uint64_t all = size;

    do {
        if (full_write(fd, buf, (size_t)n))
            return input_fail("temporary file");
        n = full_read(from, buf, IN_MEMORY, -1);
        all += n > 0 ? (uint64_t)n : 0;
        if (limit_input("-", all))
            return -1;
    } while (n > 0);
    if (n < 0)
        return input_fail("read");
    limit_file(all);
    return 0;
}

/* A new file in $TMPDIR; its descriptor, or -1 after saying. */
static int make_temporary(char name[PATH_MAX])
{
    const char *dir = getenv("TMPDIR");
    int fd;

    snprintf(name, PATH_MAX, "%s/datarep-XXXXXX", dir && *dir ? dir : "/tmp");
    fd = mkostemp(name, O_CLOEXEC);
    return fd < 0 ? input_fail(name) : fd;
}

/* A file without a name that begins with the `size` bytes at buf and goes on with what
 * still comes.  Its descriptor, which stays open, or -1 after saying what is wrong. */
static int spool_input(int from, char *buf, size_t size)
{
    char name[PATH_MAX];
    int fd = make_temporary(name);

    if (fd < 0)
        return -1;
    unlink(name);
    if (spool_into(fd, from, buf, size) == 0)
        return fd;
    close(fd);
    return -1;
}

static int open_descriptor(int fd, int amode, const drep_info *info, drep_file **out)
{
    char place[64];

    snprintf(place, sizeof place, "/proc/self/fd/%d", fd);
    label_set_library(place);
    return drep_open(place, amode, info, out);
}

int input_open(int amode, const drep_info *info, char *front, size_t *size, drep_file **out)
{
    struct stat st;
    drep_file *image;
    ssize_t n;
    char *buf;
    int fd, err;

    /* A file that somebody else opened for us. */
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode)) {
        n = pread(STDIN_FILENO, front, 16, 0);
        *size = n > 0 ? (size_t)n : 0;
        limit_file((uint64_t)st.st_size);
        return open_descriptor(STDIN_FILENO, amode, info, out);
    }
    buf = malloc(IN_MEMORY);
    if (!buf) {
        tool_no_memory();
        return -1;
    }
    n = full_read(STDIN_FILENO, buf, IN_MEMORY, -1);
    if (n < 0) {
        free(buf);
        return input_fail("read");
    }
    *size = n < 16 ? (size_t)n : 16;
    memcpy(front, buf, *size);
    if ((size_t)n < IN_MEMORY)
        limit_file((uint64_t)n);
    /* The image lives as long as the process.  What does not begin as a container is not read
     * on: it may never end. */
    err = drep_open_image(buf, (size_t)n, info, &image);
    if ((size_t)n < IN_MEMORY || err == DREP_ERR_NOT_DREP) {
        if (!err)
            *out = image;
        return err;
    }
    if (!err)
        drep_close(image);
    fd = spool_input(STDIN_FILENO, buf, (size_t)n);
    free(buf);
    return fd < 0 ? -1 : open_descriptor(fd, amode, info, out);
}

int input_file(const char *file)
{
    bool standard = strcmp(file, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC), spooled;
    struct stat st;
    char *buf;

    if (fd < 0 || fstat(fd, &st) != 0) {
        tool_say(file, NULL, "%s", strerror(errno));
        return -1;
    }
    if (S_ISDIR(st.st_mode)) {
        tool_say(file, NULL, "%s", strerror(EISDIR));
        close(fd);
        return -1;
    }
    limit_object(file, NULL);
    limit_file(S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0);
    if (S_ISREG(st.st_mode))
        return fd;
    buf = malloc(IN_MEMORY);
    spooled = buf ? spool_input(fd, buf, 0) : -1;
    if (!buf)
        tool_no_memory();
    free(buf);
    if (!standard)
        close(fd);
    return spooled;
}

int input_named(char name[PATH_MAX], bool *made)
{
    struct stat st;
    char *buf;
    int fd, err;

    *made = false;
    snprintf(name, PATH_MAX, "/proc/self/fd/%d", STDIN_FILENO);
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 0)
        return 0;
    fd = make_temporary(name);
    if (fd < 0)
        return -1;
    buf = malloc(IN_MEMORY);
    err = buf ? spool_into(fd, STDIN_FILENO, buf, 0) : -1;
    if (!buf)
        tool_no_memory();
    free(buf);
    close(fd);
    if (err)
        unlink(name);
    *made = !err;
    return err;
}
