/* assets.c - the files of the page, in memory. */
/* SPDX-License-Identifier: MIT */
#include "tools/view/assets.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE_LIMIT ((off_t)32 << 20)

static const char *media_type(const char *name)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},   {".wasm", "application/wasm"},
        {".drep", "application/octet-stream"}, {".txt", "text/plain; charset=utf-8"}};
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcmp(dot, types[i][0]) == 0)
            return types[i][1];
    return NULL;
}

static bool read_all(int fd, char *bytes, size_t size)
{
    size_t done = 0;
    ssize_t n = 1;

    while (done < size && n > 0) {
        n = read(fd, bytes + done, size - done);
        done += n > 0 ? (size_t)n : 0;
    }
    return done == size;
}

/* Add a file unless it is of a type that no page has. */
static bool load_file(struct assets *a, const char *folder, const char *under, const char *name)
{
    const char *type = media_type(name);
    struct asset *one = &a->asset[a->n];
    char *path = NULL;
    struct stat st;
    int fd = -1;
    bool fine;

    if (!type)
        return true;
    if (a->n == ASSETS_MAX || asprintf(&path, "%s%s%s", folder, under, name) < 0)
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    free(path);
    fine = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SIZE_LIMIT;
    if (fine) {
        one->type = type;
        one->size = (size_t)st.st_size;
        one->bytes = malloc(one->size + 1);
        if (asprintf(&one->path, "%s%s", under, name) < 0)
            one->path = NULL;
        a->n++;
        fine = one->bytes && one->path && read_all(fd, one->bytes, one->size);
    }
    if (fd >= 0)
        close(fd);
    return fine;
}

static bool load_folder(struct assets *a, const char *folder)
{
    bool fine = true;
    struct dirent *entry;
    char *path;
    DIR *dir;

    if (asprintf(&path, "%s/assets", folder) < 0)
        return false;
    dir = opendir(path);
    free(path);
    if (!dir)
        return false;
    while (fine && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            fine = load_file(a, folder, "/assets/", entry->d_name);
    closedir(dir);
    return fine;
}

const char *assets_load(struct assets *a, const char *folder)
{
    a->n = 0;
    if (load_file(a, folder, "/", "index.html") && a->n == 1 && load_folder(a, folder))
        return NULL;
    assets_release(a);
    return "the page cannot be loaded";
}

void assets_release(struct assets *a)
{
    for (int i = 0; i < a->n; i++) {
        free(a->asset[i].path);
        free(a->asset[i].bytes);
    }
    memset(a, 0, sizeof *a);
}

const struct asset *assets_find(const struct assets *a, const char *path)
{
    if (strcmp(path, "/") == 0)
        path = "/index.html";
    for (int i = 0; i < a->n; i++)
        if (strcmp(a->asset[i].path, path) == 0)
            return &a->asset[i];
    return NULL;
}
