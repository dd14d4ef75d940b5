/* plugin.c - data representations and filters that live in shared objects.
 *
 * A name that nobody registered may lead to NAME.so in a directory that the user enabled.
 * To load code is to trust it, and the name may come from a file of unknown origin: it
 * chooses among what lies in those directories, never the directory, and what anybody
 * else could have written is refused.  What was loaded stays for the life of the process. */
/* SPDX-License-Identifier: MIT */
#include "base/plugin.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/mem.h"
#include "base/trust.h"

#include <datarep.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYMBOL "drep_plugin_init"
#define SUFFIX ".so"

/* From the directory of a program that has this library linked in, to that of its own modules; the
 * Makefile knows better. */
#ifndef DATAREP_MODULE_DIR
#define DATAREP_MODULE_DIR "../lib/datarep"
#endif

/* A shared object that was loaded, known by its place on the disk. */
struct plugin {
    struct plugin *next;
    dev_t dev;
    ino_t ino;
    void *handle;
    int fd;
    enum { OWN, STARTING, STARTED, FAILED, NO_MEMORY } state; /* OWN: a part of this library */
};

/* The lock is held while a plugin starts, so that no thread misses what another one is
 * about to register; recursive, because a plugin may look for another's names. */
static struct {
    pthread_mutex_t lock;
    struct plugin *first;
    char *dirs;
} plugins;

static void make_lock(void)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&plugins.lock, &attr);
    pthread_mutexattr_destroy(&attr);
}

static void lock_plugins(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static struct fork_hook hook;

    pthread_once(&once, make_lock);
    fork_watch(&hook, make_lock);
    pthread_mutex_lock(&plugins.lock);
}

/* ----------------------------------------------------------------- loading */

/* Reason given by dlopen(), without the name that only we know. */
static const char *reason(const char *path)
{
    const char *text = dlerror();
    size_t len = strlen(path);

    if (!text)
        return "unknown reason";
    if (strncmp(text, path, len) == 0 && strncmp(text + len, ": ", 2) == 0)
        return text + len + 2;
    return text;
}

/* A plugin that is not linked with this library finds its functions only if they are global.  They
 * are not if a program loaded the library for itself alone (RTLD_LOCAL), as Python does.  False if
 * the library is no shared object, or they were global already. */
static bool share_symbols(void)
{
    static bool done;
    Dl_info own;

    if (done || !dladdr((void *)(uintptr_t)plugin_find, &own) || !own.dli_fname)
        return false;
    done = true;
    return dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) != NULL;
}

/* The descriptor stays open as long as the object is loaded: the loader knows the object
 * by the name of the descriptor, which must not come to mean another file. */
static int attach(struct plugin *p)
{
    char path[40];

    snprintf(path, sizeof path, "/proc/self/fd/%d", p->fd);
    p->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!p->handle && share_symbols())
        p->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return p->handle ? 0 : fail(DREP_ERR_UNSUPPORTED, "it cannot be loaded: %s", reason(path));
}

static int start(struct plugin *p)
{
    int (*init)(void);
    int err;

    /* POSIX has dlsym() give functions too; ISO C wants it said this way. */
    *(void **)&init = dlsym(p->handle, SYMBOL);
    p->state = STARTING;
    err = init ? init() : 0;
    p->state = !init || err ? FAILED : STARTED;
    if (!init)
        return fail(DREP_ERR_UNSUPPORTED, "it has no function " SYMBOL "()");
    if (err == DREP_ERR_NOMEM) {
        p->state = NO_MEMORY;
        return err;
    }
    return err ? fail(DREP_ERR_UNSUPPORTED, SYMBOL "() gave %d", err) : 0;
}

/* An object is started once, whatever names lead to it. */
static int plugin_retry_start(struct plugin *p)
{
    if (p->state == FAILED)
        return fail(DREP_ERR_UNSUPPORTED, "it failed to start before");
    return p->state == NO_MEMORY ? start(p) : 0;
}

/* Find a plugin by its place, or attach it; owns the descriptor. */
static int plugin_get(int fd, const struct stat *st, struct plugin **out)
{
    struct plugin *p;
    int err;

    for (p = plugins.first; p; p = p->next)
        if (p->dev == st->st_dev && p->ino == st->st_ino) {
            close(fd);
            *out = p;
            return 0;
        }
    p = mem_zalloc(1, sizeof *p);
    if (!p) {
        close(fd);
        return DREP_ERR_NOMEM;
    }
    *p = (struct plugin){NULL, st->st_dev, st->st_ino, NULL, fd, OWN};
    err = attach(p);
    if (err) {
        close(fd);
        mem_free(p);
        return err;
    }
    p->next = plugins.first;
    plugins.first = p;
    *out = p;
    return 0;
}

/* Open a file of a directory for its code, and attach it.  owner: whom it may belong to, besides
 * root and this user. */
static int plugin_in(const char *dir, const char *base, uid_t owner, struct plugin **out)
{
    int fd = -1, err, at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat st;

    if (at < 0)
        return fail(DREP_ERR_NO_SUCH_FILE, "directory \"%s\": %s", dir, strerror(errno));
    err = trust_open(at, base, owner, &st, &fd);
    close(at);
    return err ? err : plugin_get(fd, &st, out);
}

static int load_in(const char *dir, const char *base)
{
    struct plugin *p = NULL;
    int err = plugin_in(dir, base, geteuid(), &p);

    if (!err)
        err = p->state == OWN ? start(p) : plugin_retry_start(p);
    return fail_in(err, "plugin \"%s/%s\"", strcmp(dir, "/") ? dir : "", base);
}

/* --------------------------------------------------------------- searching */

/* Names that cannot leave a directory, nor mean anything to a shell. */
static bool leads_to_file(const char *name)
{
    static const char ok[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t len = strlen(name);

    return len > 0 && len < DREP_MAX_DATAREP_STRING && strspn(name, ok) == len;
}

/* Looks in each directory of a list between colons until the name is known.  What is not
 * there is passed over; what is there and may not be loaded is an error. */
static int search(const char *dirs, const char *name, plugin_known_fn *known, const void **out)
{
    char base[DREP_MAX_DATAREP_STRING + sizeof SUFFIX];
    int err = 0;

    snprintf(base, sizeof base, "%s" SUFFIX, name);
    while (dirs && *dirs && !err && !*out) {
        size_t len = strcspn(dirs, ":");
        char *dir = mem_strndup(dirs, len);

        if (!dir)
            return DREP_ERR_NOMEM;
        dirs += len + (dirs[len] == ':');
        if (*dir == '/') {
            err = load_in(dir, base);
            *out = err ? NULL : known(name);
            if (!err && !*out)
                err = fail(DREP_ERR_UNSUPPORTED, "plugin \"%s/%s\" does not register \"%s\"", dir,
                           base, name);
            if (err == DREP_ERR_NO_SUCH_FILE)
                err = 0;
        }
        mem_free(dir);
    }
    return err;
}

int plugin_find(const char *name, const char *dirs, plugin_known_fn *known, const void **out)
{
    const void *found = name ? known(name) : NULL;
    int err = 0;

    if (!found && name && leads_to_file(name)) {
        lock_plugins();
        found = known(name);
        if (!found)
            err = search(dirs, name, known, &found);
        if (!found && !err)
            err = search(plugins.dirs, name, known, &found);
        if (!found && !err)
            err = search(secure_getenv("DREP_PLUGIN_PATH"), name, known, &found);
        pthread_mutex_unlock(&plugins.lock);
    }
    if (!err)
        *out = found;
    return err;
}

/* Find the directory of the shared object, or the program, that this library is in, and its owner,
 * whose code runs already. */
static int own_directory(char dir[PATH_MAX], uid_t *owner)
{
    Dl_info own;
    struct stat st;
    bool found = dladdr((void *)(uintptr_t)plugin_find, &own) && own.dli_fname;

    /* A program is known to the loader as it was started, perhaps by a name without a directory. */
    if (!found || !strchr(own.dli_fname, '/') || !realpath(own.dli_fname, dir)) {
        if (!realpath("/proc/self/exe", dir))
            return fail(DREP_ERR_UNSUPPORTED, "where this library is cannot be found");
    }
    *owner = stat(dir, &st) == 0 ? st.st_uid : geteuid();
    *strrchr(dir, '/') = '\0';
    return 0;
}

/* The caller holds the lock. */
static int own_search(const char *file, void **out)
{
    static const char *const places[] = {"", "/datarep", "/lib/datarep", ("/" DATAREP_MODULE_DIR)};
    char own[PATH_MAX], dir[2 * PATH_MAX];
    struct plugin *p;
    uid_t owner = 0;
    int err = own_directory(own, &owner);

    for (size_t i = 0; !err && i < sizeof places / sizeof *places; i++) {
        snprintf(dir, sizeof dir, "%s%s", own, places[i]);
        err = plugin_in(*dir ? dir : "/", file, owner, &p);
        if (!err) {
            *out = p->handle;
            return 0;
        }
        if (err != DREP_ERR_NO_SUCH_FILE)
            return fail_in(err, "%s/%s: the module is not loaded", dir, file);
        err = 0;
    }
    return err ? err
               : fail(DREP_ERR_UNSUPPORTED,
                      "%s is not installed (Debian: apt install datarep-http)", file);
}

int plugin_own(const char *file, void **out)
{
    int err;

    lock_plugins();
    err = own_search(file, out);
    pthread_mutex_unlock(&plugins.lock);
    return err;
}

int drep_plugin_path(const char *dirs)
{
    const char *at;
    char *copy, *old;

    for (at = dirs ? dirs : ""; *at; at += strcspn(at, ":"), at += *at == ':')
        if (*at != '/' && *at != ':')
            return fail(DREP_ERR_ARG, "plugin directories are absolute paths: \"%s\"", dirs);
    copy = mem_strdup(dirs ? dirs : "");
    if (!copy)
        return DREP_ERR_NOMEM;
    lock_plugins();
    old = plugins.dirs;
    plugins.dirs = copy; /* whole at any time: another thread may fork */
    pthread_mutex_unlock(&plugins.lock);
    mem_free(old);
    return 0;
}

int drep_plugin_load(const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    char *dir;
    int err;

    if (!file)
        return fail(DREP_ERR_ARG, "no plugin name is given");
    dir = !slash          ? mem_strdup(".")
          : slash == file ? mem_strdup("/")
                          : mem_strndup(file, (size_t)(slash - file));
    if (!dir)
        return DREP_ERR_NOMEM;
    lock_plugins();
    err = load_in(dir, slash ? slash + 1 : file);
    pthread_mutex_unlock(&plugins.lock);
    mem_free(dir);
    return err;
}
