/* view_export.c - the page and files as a folder for a web server. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/view_export.h"
#include "base/url.h"
#include "tools/cmd/view_data.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/fullio.h"
#include "tools/host/label.h"
#include "tools/host/message.h"
#include "tools/text/sink.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (1 << 20)

static int say_errno(const char *path)
{
    tool_say(path, NULL, "%s", strerror(errno));
    return TOOL_IO;
}

static int copy_bytes(int from, int to)
{
    char *buf = malloc(PIECE);
    ssize_t n = 1;
    int err = buf ? 0 : -1;

    while (!err && n > 0) {
        n = full_read(from, buf, PIECE, -1);
        err = n < 0 || full_write(to, buf, (size_t)n) ? -1 : 0;
    }
    free(buf);
    return err;
}

/* A new file in the folder; nothing is replaced. */
static int copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC), out, status = TOOL_FINE;

    if (in < 0)
        return say_errno(from);
    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (out < 0 || copy_bytes(in, out))
        status = say_errno(to);
    if (out >= 0 && close(out) && !status)
        status = say_errno(to);
    close(in);
    return status;
}

static int join_path(char out[PATH_MAX], const char *folder, const char *name)
{
    int n = snprintf(out, PATH_MAX, "%s/%s", folder, name);

    if (n > 0 && n < PATH_MAX)
        return 0;
    tool_say(folder, NULL, "the path is too long");
    return TOOL_USAGE;
}

/* The path of what has the same name in two folders. */
static int join_both(char in[PATH_MAX], const char *from, char out[PATH_MAX], const char *to,
                     const char *name)
{
    int status = join_path(in, from, name);

    return status ? status : join_path(out, to, name);
}

static int copy_folder(const char *from, const char *to)
{
    char in[PATH_MAX], out[PATH_MAX];
    struct dirent *entry;
    int status = TOOL_FINE;
    DIR *dir = opendir(from);

    if (!dir || mkdir(to, 0777)) {
        status = say_errno(dir ? to : from);
        if (dir)
            closedir(dir);
        return status;
    }
    while (!status && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        status = join_both(in, from, out, to, entry->d_name);
        if (!status)
            status = copy_file(in, out);
    }
    closedir(dir);
    return status;
}

/* ------------------------------------------------------------------------- the list */

/* "https://host:port" of a URL that a page can read; NULL: it cannot, which is said. */
static char *origin_of(const char *url)
{
    const char *host = strstr(url, "://");
    char shown[4096];

    url_shown(url, shown, sizeof shown);
    if (strncmp(url, "http", 4) != 0 || !host || strcmp(shown, url) != 0) {
        tool_say(shown, NULL, "a page can only read http:// and https:// without user and query");
        return NULL;
    }
    host += 3;
    /* What has a meaning in a policy or in HTML is not a host. */
    for (const char *p = host; *p && *p != '/'; p++)
        if (strchr(" \t\r\n\"'<>;,&\\", *p)) {
            tool_say(shown, NULL, "not a host");
            return NULL;
        }
    return strndup(url, (size_t)(host - url) + strcspn(host, "/"));
}

/* index.html, whose policy lets the page read from the origins of the URLs. */
static int write_index(const char *page, const char *folder, const char *origins)
{
    static const char self[] = "connect-src 'self'";
    char in[PATH_MAX], out[PATH_MAX], *text, *at;
    struct sink s;
    ssize_t n;
    int fd, status = join_both(in, page, out, folder, "index.html");

    if (status)
        return status;
    text = calloc(1, PIECE + 1);
    fd = open(in, O_RDONLY | O_CLOEXEC);
    n = fd >= 0 && text ? full_read(fd, text, PIECE, 0) : -1;
    if (fd >= 0)
        close(fd);
    at = n > 0 ? strstr(text, self) : NULL;
    fd = at ? open(out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (fd < 0) {
        tool_say(at ? out : in, NULL, "%s", at ? strerror(errno) : "not the page of this version");
        status = TOOL_IO;
    } else if (sink_init(&s, fd)) {
        status = tool_no_memory();
    } else {
        sink_put(&s, text, (size_t)(at - text) + sizeof self - 1);
        sink_text(&s, origins);
        sink_text(&s, at + sizeof self - 1);
        status = sink_close(&s);
    }
    if (fd >= 0)
        close(fd);
    free(text);
    return status;
}

/* A name that a URL has as it is; others are written with '_' in place of what is special there. */
static void plain_name(char *out, size_t size, int number, const char *name)
{
    int n = snprintf(out, size, "%d-%s", number, name);

    for (int i = 0; i < n && out[i]; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.", out[i]))
            out[i] = '_';
}

static int list_one(struct sink *list, struct sink *origins, const char *folder, const char *file,
                    int number)
{
    const char *whole = label_opened(file);
    char name[300], to[PATH_MAX], *origin;
    int status = TOOL_FINE;

    plain_name(name, sizeof name, number, view_data_name(file));
    if (url_is(file)) {
        origin = origin_of(whole);
        if (!origin)
            return TOOL_USAGE;
        sink_char(origins, ' ');
        sink_text(origins, origin);
        free(origin);
    } else {
        status = join_path(to, folder, name);
        if (!status)
            status = copy_file(file, to);
    }
    view_data_list(list, number, file, url_is(file) ? whole : name, NULL);
    return status;
}

static int write_list(const char *folder, const char *page, char **files)
{
    char path[PATH_MAX];
    struct sink list, origins;
    int fd = -1, status = join_path(path, folder, "files.json");

    if (!status)
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return status ? status : say_errno(path);
    if (sink_init(&list, fd) || sink_init(&origins, -1))
        return tool_no_memory();
    for (int i = 0; files[i] && !status; i++)
        status = list_one(&list, &origins, folder, files[i], i);
    sink_text(&list, "]\n");
    status = tool_worse(status, sink_close(&list));
    if (!status)
        sink_char(&origins, '\0');
    if (!status)
        status = write_index(page, folder, origins.buf);
    sink_release(&origins);
    close(fd);
    return status;
}

/* Whatever is wrong with a file is said before anything is made. */
static int check_exported(char **files)
{
    struct view_data data;
    int status = TOOL_FINE;
    char *origin;

    for (; *files && !status; files++) {
        if (url_is(*files)) {
            origin = origin_of(label_opened(*files));
            status = origin ? TOOL_FINE : TOOL_USAGE;
            free(origin);
        } else {
            status = view_data_open(&data, *files);
            view_data_close(&data);
        }
    }
    return status;
}

/* Copies the files of the page other than index.html, and the licences of its parts. */
static int copy_page(const char *folder, const char *page)
{
    char from[PATH_MAX], to[PATH_MAX];
    int status = join_both(from, page, to, folder, "LICENSES.txt");

    if (!status)
        status = copy_file(from, to);
    if (!status)
        status = join_both(from, page, to, folder, "assets");
    return status ? status : copy_folder(from, to);
}

int view_export(const char *folder, const char *page, char **files)
{
    int status = check_exported(files);

    if (status)
        return status;
    /* Also one that is there, if nothing is in it. */
    if (mkdir(folder, 0777) && (errno != EEXIST || rmdir(folder) || mkdir(folder, 0777)))
        return say_errno(folder);
    status = copy_page(folder, page);
    return status ? status : write_list(folder, page, files);
}
