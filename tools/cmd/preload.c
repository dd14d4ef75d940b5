/* preload.c - running a program with a library in it that it does not know. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/preload.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/fullio.h"
#include "tools/host/message.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPTS_MAX 4    /* interpreters of interpreters, as Linux has it */
#define HEADERS_MAX 4096 /* bytes of program headers */
#define SCRIPT_LINE 256  /* bytes of the line that names an interpreter */

/* ------------------------------------------------------------ where it is */

static bool can_run(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* False: no directory of $PATH has it; errno is EACCES if one has a file that may not be run. */
static bool find_in_path(const char *program, char path[PATH_MAX])
{
    const char *dirs = getenv("PATH"), *dir;
    int why = ENOENT;
    size_t n;

    for (dir = dirs ? dirs : "/bin:/usr/bin"; dir; dir = dir[n] ? dir + n + 1 : NULL) {
        n = strcspn(dir, ":");
        /* An empty entry is the working directory. */
        if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, dir, n ? "/" : "./", program) >= PATH_MAX)
            continue;
        if (can_run(path))
            return true;
        why = access(path, F_OK) == 0 ? EACCES : why;
    }
    errno = why;
    return false;
}

static int find_program(const char *program, char path[PATH_MAX])
{
    if (!strchr(program, '/')) {
        if (*program && find_in_path(program, path))
            return 0;
        tool_say(program, NULL,
                 *program && errno == EACCES ? "in $PATH, but it may not be run"
                                             : "no such program in $PATH");
        return *program && errno == EACCES ? PRELOAD_REFUSED : PRELOAD_MISSING;
    }
    if (snprintf(path, PATH_MAX, "%s", program) < PATH_MAX && can_run(path))
        return 0;
    if (access(program, F_OK) == 0) {
        tool_say(program, NULL, "not a program, or it may not be run");
        return PRELOAD_REFUSED;
    }
    tool_say(program, NULL, "%s", strerror(errno));
    return PRELOAD_MISSING;
}

/* ------------------------------------------------------- what it is made of */

/* The beginning of a file; false: it cannot be read, which a program need not be. */
static bool read_front(const char *path, void *front, size_t size, size_t *got)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : full_read(fd, front, size, 0);

    if (fd >= 0)
        close(fd);
    *got = n > 0 ? (size_t)n : 0;
    return n >= 0;
}

/* True if a program starts with rights that this process has not. */
static bool gains_rights(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return false;
    if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
        return true;
    if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getgid())
        return true;
    return getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

/* True if the dynamic linker starts the program; also if its headers cannot be read. */
static bool has_interpreter(const char *path, const ElfW(Ehdr) * head)
{
    unsigned char headers[HEADERS_MAX];
    size_t size = (size_t)head->e_phnum * sizeof(ElfW(Phdr)), at;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ElfW(Phdr) one;
    bool has = fd < 0 || head->e_phentsize != sizeof one || size > sizeof headers ||
               full_read(fd, headers, size, (off_t)head->e_phoff) != (ssize_t)size;

    if (fd >= 0)
        close(fd);
    for (at = 0; !has && at < size; at += sizeof one) {
        memcpy(&one, headers + at, sizeof one);
        has = one.p_type == PT_INTERP;
    }
    return has;
}

static bool same_machine(const ElfW(Ehdr) * a, const ElfW(Ehdr) * b)
{
    return a->e_ident[EI_CLASS] == b->e_ident[EI_CLASS] &&
           a->e_ident[EI_DATA] == b->e_ident[EI_DATA] && a->e_machine == b->e_machine;
}

/* The interpreter that the first line of a script names; false: it names none. */
static bool script_interpreter(const char *front, size_t size, char path[PATH_MAX])
{
    const char *end;
    size_t n;

    if (size < 2 || memcmp(front, "#!", 2) != 0)
        return false;
    end = memchr(front, '\n', size);
    size = end ? (size_t)(end - front) : size;
    for (front += 2, size -= 2; size > 0 && (*front == ' ' || *front == '\t'); front++)
        size--;
    for (n = 0; n < size && front[n] && front[n] != ' ' && front[n] != '\t'; n++)
        path[n] = front[n];
    path[n] = '\0';
    return n > 0;
}

/* Why the library cannot be loaded into a program; NULL: it can, or that cannot be said. */
static const char *why_not(const char *program, const char *library)
{
    char path[PATH_MAX], front[SCRIPT_LINE];
    ElfW(Ehdr) head, own;
    size_t size, n;
    int depth;

    snprintf(path, sizeof path, "%s", program);
    for (depth = 0; depth <= SCRIPTS_MAX; depth++) {
        if (!read_front(path, front, sizeof front, &size))
            return gains_rights(path) ? "it runs with other rights" : NULL;
        if (!script_interpreter(front, size, path))
            break;
    }
    if (size < sizeof head || memcmp(front, ELFMAG, SELFMAG) != 0)
        return "neither a program nor a script that names its interpreter (#!)";
    if (gains_rights(path))
        return "it runs with other rights than yours (setuid, setgid or capabilities), so that "
               "no library can be loaded into it";
    memcpy(&head, front, sizeof head);
    if (!read_front(library, &own, sizeof own, &n) || n < sizeof own)
        return NULL;
    if (!same_machine(&head, &own))
        return "built for another machine than the library";
    if (!has_interpreter(path, &head))
        return "statically linked, so that no library can be loaded into it";
    return NULL;
}

int preload_find(const char *program, const char *library, char path[PATH_MAX])
{
    int status = find_program(program, path);
    const char *why = status ? NULL : why_not(path, library);

    if (why) {
        tool_say(path, NULL, "%s", why);
        return PRELOAD_REFUSED;
    }
    return status;
}

/* --------------------------------------------------------------------- run */

/* True if the list, with spaces or colons between its parts, has this one. */
static bool list_has(const char *list, const char *one)
{
    size_t n;

    for (; *list; list += n + (list[n] != '\0')) {
        n = strcspn(list, ": ");
        if (n == strlen(one) && strncmp(list, one, n) == 0)
            return true;
    }
    return false;
}

static int set_preload(const char *library)
{
    const char *list = getenv("LD_PRELOAD");
    char *whole = NULL;
    int err = 0;

    /* Behind others: a sanitizer's runtime must come first. */
    if (!list || !*list)
        err = setenv("LD_PRELOAD", library, 1);
    else if (!list_has(list, library))
        err = asprintf(&whole, "%s:%s", list, library) < 0 || setenv("LD_PRELOAD", whole, 1) != 0;
    if (err)
        tool_no_memory();
    else
        free(whole);
    return err ? PRELOAD_FAILED : 0;
}

int preload_run(const char *path, const char *library, char **argv)
{
    int status;

    /* The dynamic linker cuts the list at blanks and colons, and replaces what begins with $. */
    if (strpbrk(library, ": $\t\n")) {
        tool_say(library, NULL, "LD_PRELOAD cannot name a path with a blank, ':' or '$'");
        return PRELOAD_FAILED;
    }
    status = set_preload(library);
    if (status)
        return status;
    /* main() ignores it; ignored signals stay so in the program. */
    signal(SIGXFSZ, SIG_DFL);
    fflush(NULL);
    execv(path, argv);
    tool_say(path, NULL, "%s", strerror(errno));
    return errno == ENOENT ? PRELOAD_MISSING : PRELOAD_REFUSED;
}
