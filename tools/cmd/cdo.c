/* cdo.c - names of Datarep files as CDO takes them. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/cdo.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/fullio.h"
#include "tools/host/message.h"
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char file_magic[8] = "\x89"
                                  "DRP\r\n\x1a\n";

bool cdo_is(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

    return strncmp(base, "cdo", 3) == 0 && !isalpha((unsigned char)base[3]);
}

static bool begins_as_ours(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char front[sizeof file_magic];
    struct stat st;
    bool is = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
              full_read(fd, front, sizeof front, 0) == (ssize_t)sizeof front &&
              memcmp(front, file_magic, sizeof front) == 0;

    if (fd >= 0)
        close(fd);
    return is;
}

/* A character that CDO cuts its arguments at, or that ends the path of a URL; NULL: none. */
static const char *cut_of_name(const char *path)
{
    for (; *path; path++)
        if (*path == '#' || (unsigned char)*path <= ' ' || *path == 0x7f)
            return path;
    return NULL;
}

static int refuse_name(const char *path, char cut)
{
    if (cut == '#' || cut == ' ')
        tool_say(path, NULL,
                 "CDO cannot read a Datarep file with '%c' in its name; a symbolic link "
                 "gives it another",
                 cut);
    else
        tool_say(path, NULL, "the name of the file has a control character");
    return TOOL_USAGE;
}

int cdo_arguments(char **argv)
{
    char here[PATH_MAX], *url;
    const char *front, *cut;
    int i;

    /* The directory may have any name: then it is called otherwise. */
    if (!getcwd(here, sizeof here) || cut_of_name(here))
        strcpy(here, "/proc/self/cwd");
    for (i = 1; argv[i]; i++) {
        if (argv[i][0] == '-' || !begins_as_ours(argv[i]))
            continue;
        cut = cut_of_name(argv[i]);
        if (cut)
            return refuse_name(argv[i], *cut);
        front = argv[i][0] == '/' ? "" : here;
        if (asprintf(&url, "file://%s%s%s#mode=netcdf-4,udf0", front, *front ? "/" : "", argv[i]) <
            0)
            return tool_no_memory();
        argv[i] = url;
    }
    return 0;
}
