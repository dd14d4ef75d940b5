/* target.c - the URL or path that references name. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/label.h"
#include "tools/host/message.h"
#include "tools/refs/refs.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool refs_has_secret(const char *url)
{
    const char *at = strstr(url, "://");

    if (!at)
        return false;
    if (strpbrk(at, "?#"))
        return true;
    for (; at; at = strstr(at, "://")) {
        at += 3;
        if (memchr(at, '@', strcspn(at, "/")))
            return true;
    }
    return false;
}

/* The absolute path of a file, as it was named: symbolic links are kept. */
static char *absolute_path(const char *name)
{
    char folder[PATH_MAX];
    size_t size;
    char *path;

    if (name[0] == '/')
        return strdup(name);
    if (!getcwd(folder, sizeof folder))
        return NULL;
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    size = strlen(folder) + strlen(name) + 2;
    path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%s", folder, folder[1] ? "/" : "", name);
    return path;
}

int refs_target(const char *command, const char *file_name, const char *url, char **target)
{
    const char *name = url ? url : file_name;
    bool remote = strstr(name, "://") != NULL;

    if (!*name)
        return tool_usage(command, "--url is empty");
    if (url && refs_has_secret(label_opened(url)))
        return tool_usage(command,
                          "the URL has a user part, a query or a fragment, which may be secret and "
                          "would be in every reference");
    if (!url && refs_has_secret(label_opened(name)))
        tool_say(name, NULL,
                 "note: the references name it without user part and query; --url may say another");
    if (!url && strcmp(name, "-") == 0)
        return tool_usage(command, "where is the file that standard input has?  --url=URL");
    *target = url || remote ? strdup(name) : absolute_path(name);
    return *target ? 0 : tool_no_memory();
}
