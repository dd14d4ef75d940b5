/* file.c - files: handles that copies share, hints, groups, links, dimensions.
 *
 * Fortran finalises nothing when a program ends, but closes the units that it has connected.  So do
 * we with files: at a normal end they are closed, which commits; where the status is not 0, as of
 * `error stop`, what was not committed is abandoned, and a line on standard error names the file.
 */
/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* on_exit() */
#include "memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fortran_file *open_files;
static pid_t owner; /* the process whose end closes them */

static void unlist(struct fortran_file *box)
{
    pthread_mutex_lock(&lock);
    *box->before = box->next;
    if (box->next)
        box->next->before = box->before;
    pthread_mutex_unlock(&lock);
}

static void end_of_program(int status, void *unused)
{
    struct fortran_file *box = open_files;

    (void)unused;
    if (getpid() != owner)
        return;
    for (; box; box = box->next) {
        int amode = DREP_RDONLY;

        if (drep_get_amode(box->file, &amode) || amode == DREP_RDONLY)
            continue;
        if (status != 0) {
            fprintf(stderr,
                    "datarep: \"%s\" was open when the program failed: what was not committed is "
                    "lost\n",
                    box->path);
            drep_abandon(box->file);
        } else if (drep_close(box->file)) {
            fprintf(stderr, "datarep: closing \"%s\" at the end of the program: %s\n", box->path,
                    drep_error());
        }
    }
    open_files = NULL;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void at_the_end(void)
{
    owner = getpid();
    on_exit(end_of_program, NULL);
}

/* The name of a file as messages have it: of a URL without user, password and query. */
static char *name_of(const char *path)
{
    const char *host = strstr(path, "://");
    size_t n = host ? (size_t)(host + 3 - path) : strlen(path), used;
    size_t room = 6 * strlen(path) + 1; /* an escape has six characters at most */
    char *name = malloc(room);

    if (!name)
        return NULL;
    used = drep_escape(name, room, path, n);
    if (!host)
        return name;
    host += 3;
    n = strcspn(host, "/?#");
    for (size_t i = n; i > 0; i--)
        if (host[i - 1] == '@') {
            host += i;
            break;
        }
    drep_escape(name + used, room - used, host, strcspn(host, "?#"));
    return name;
}

/* An opening that failed: the message names the file. */
static int not_opened(int err, const char *path, const char *mode)
{
    char *name = name_of(path);

    if (err == DREP_ERR_AMODE && mode)
        refuse(err, NULL, "mode \"%s\" is neither \"r\" nor \"rw\"", mode);
    if (name)
        about_file(err, name);
    free(name);
    return err;
}

int drep_fortran_file_keep(int err, drep_info *hints, drep_file *file, const char *path,
                           const char *mode, struct fortran_file **out)
{
    struct fortran_file *box;

    drep_info_free(hints);
    if (err)
        return not_opened(err, path, mode);
    box = calloc(1, sizeof *box);
    pthread_once(&once, at_the_end);
    if (box)
        box->path = name_of(path);
    if (!box || !box->path) {
        free(box);
        drep_abandon(file);
        return refuse(DREP_ERR_NOMEM, NULL, "out of memory");
    }
    box->users = 1;
    box->file = file;
    pthread_mutex_lock(&lock);
    box->next = open_files;
    box->before = &open_files;
    if (open_files)
        open_files->before = &box->next;
    open_files = box;
    pthread_mutex_unlock(&lock);
    *out = box;
    return 0;
}

int drep_fortran_mode(const char *mode)
{
    return !mode || strcmp(mode, "r") == 0 ? DREP_RDONLY : strcmp(mode, "rw") == 0 ? DREP_RDWR : 0;
}

/* A handle lets go of the file that it has.  What that has not committed would be committed with
 * nobody to hear of an error. */
static int lets_go(const struct fortran_file *old)
{
    int amode = DREP_RDONLY;

    if (!old || !old->file || __atomic_load_n(&old->users, __ATOMIC_RELAXED) > 1 ||
        drep_get_amode(old->file, &amode) || amode == DREP_RDONLY)
        return 0;
    return refuse(DREP_ERR_ARG, NULL, "the handle writes \"%s\": close that first", old->path);
}

int drep_fortran_begin(const struct fortran_file *old, const char *path, const char *text,
                       drep_info **out)
{
    drep_info *info = NULL;
    char *copy = text ? strdup(text) : NULL, *rest = copy, *word;
    int err = 0;

    *out = NULL;
    if (strchr(path, '\xff'))
        err = refuse(DREP_ERR_NAME, NULL, "the path of a file has a NUL, or a byte 255");
    else
        err = lets_go(old);
    if (err) {
        free(copy);
        return err;
    }
    if (!text)
        return 0;
    if (!copy)
        return refuse(DREP_ERR_NOMEM, NULL, "out of memory");
    err = drep_info_new(&info);
    while (!err && (word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');

        if (!*word)
            continue;
        if (!value) {
            err = refuse(DREP_ERR_INFO_VALUE, NULL, "the hint \"%s\" has no value", word);
            break;
        }
        *value++ = '\0';
        err = drep_info_check(word, value);
        if (!err)
            err = drep_info_set(info, word, value);
    }
    free(copy);
    if (err)
        drep_info_free(info);
    else
        *out = info;
    return err;
}

/* ---- for the module ---- */

drep_file *drep_fortran_file_handle(const struct fortran_file *box)
{
    if (box && box->file)
        return box->file;
    about(refuse(DREP_ERR_ARG, NULL, "the file is not open"), box, NULL);
    return NULL;
}

/* *box: what the handle has, and what it gets. */
DREP_API int drep_fortran_file_open(const char *path, const char *mode, const char *hints,
                                    struct fortran_file **box)
{
    drep_info *info;
    drep_file *file = NULL;
    int err = drep_fortran_begin(*box, path, hints, &info);

    if (!err)
        err = drep_open(path, drep_fortran_mode(mode), info, &file);
    return drep_fortran_file_keep(err, info, file, path, mode, box);
}

DREP_API int drep_fortran_file_create(const char *path, int amode, const char *datarep,
                                      const char *hints, struct fortran_file **box)
{
    drep_info *info;
    drep_file *file = NULL;
    int err = drep_fortran_begin(*box, path, hints, &info);

    if (!err)
        err = drep_create(path, amode, datarep, info, &file);
    return drep_fortran_file_keep(err, info, file, path, NULL, box);
}

void drep_fortran_file_share(struct fortran_file *box)
{
    if (box)
        __atomic_add_fetch(&box->users, 1, __ATOMIC_RELAXED);
}

/* how: 0 commit and close, 1 abandon. */
DREP_API int drep_fortran_file_close(struct fortran_file *box, int how)
{
    drep_file *file = box ? box->file : NULL;

    if (!file)
        return box ? 0 : refuse(DREP_ERR_ARG, NULL, "the file is not open");
    box->file = NULL;
    unlist(box);
    if (how == 0)
        return drep_close(file);
    drep_abandon(file);
    return 0;
}

/* One copy of the handle less; the last closes the file. */
int drep_fortran_file_release(struct fortran_file *box)
{
    int err = 0;

    if (!box || __atomic_sub_fetch(&box->users, 1, __ATOMIC_ACQ_REL) > 0)
        return 0;
    if (box->file)
        err = drep_fortran_file_close(box, 0);
    free(box->path);
    free(box);
    return err;
}

DREP_API int drep_fortran_file_commit(struct fortran_file *box)
{
    drep_file *f = drep_fortran_file_handle(box);

    return f ? drep_commit(f) : DREP_ERR_ARG;
}

DREP_API int drep_fortran_file_refresh(struct fortran_file *box)
{
    drep_file *f = drep_fortran_file_handle(box);

    return f ? drep_refresh(f) : DREP_ERR_ARG;
}

DREP_API int drep_fortran_file_exists(struct fortran_file *box, const char *path, int *kind)
{
    drep_file *f = file_for(box, path);

    return about(f ? drep_exists(f, path, kind) : DREP_ERR_ARG, box, path);
}

DREP_API int drep_fortran_group_create(struct fortran_file *box, const char *path)
{
    drep_file *f = file_for(box, path);

    return about(f ? drep_group_create(f, path, 1) : DREP_ERR_ARG, box, path);
}

DREP_API int drep_fortran_dimension_create(struct fortran_file *box, const char *path, int64_t len,
                                           int unlimited)
{
    drep_file *f = file_for(box, path);

    return about(f ? drep_dimension_create(f, path, len, unlimited) : DREP_ERR_ARG, box, path);
}

/* how: 0 hard, 1 soft: `to` is the target; 2 move to `to`; 3 remove. */
DREP_API int drep_fortran_link(struct fortran_file *box, const char *path, const char *to, int how)
{
    drep_file *f = file_for(box, path);

    if (!f)
        return DREP_ERR_ARG;
    switch (how) {
    case 0:
        return about(drep_link_hard(f, to, path), box, path);
    case 1:
        return about(drep_link_soft(f, to, path), box, path);
    case 2:
        return about(drep_link_move(f, path, to), box, to);
    default:
        return about(drep_link_remove(f, path), box, path);
    }
}

/* The texts are borrowed: they live as long as the file is open. */
DREP_API int drep_fortran_file_inquire(struct fortran_file *box, const char **datarep,
                                       const char **writer, const char **machine, int64_t *sequence)
{
    drep_file *f = drep_fortran_file_handle(box);
    drep_header header = DREP_HEADER;
    int err = f ? drep_header_get(f, &header) : DREP_ERR_ARG;

    if (err)
        return err;
    *datarep = header.datarep;
    *writer = header.writer;
    *machine = header.machine;
    *sequence = (int64_t)header.sequence;
    return 0;
}
