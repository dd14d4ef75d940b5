/* module.c - shared objects beside the command or in its library directory. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/module.h"
#include "tools/host/installed.h"
#include "base/error.h"
#include "base/trust.h"
#include "tools/host/message.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* From the directory of the command; the Makefile knows better. */
#ifndef DATAREP_MODULE_DIR
#define DATAREP_MODULE_DIR "../lib/datarep"
#endif

/* The release of the library that a module is built with; the Makefile knows it. */
#ifndef HDF5_RELEASE
#define HDF5_RELEASE ""
#endif
#ifndef NETCDF_RELEASE
#define NETCDF_RELEASE ""
#endif
#ifndef ZIP_RELEASE
#define ZIP_RELEASE ""
#endif
#ifndef CURL_RELEASE
#define CURL_RELEASE ""
#endif
#ifndef MICROHTTPD_RELEASE
#define MICROHTTPD_RELEASE ""
#endif
#ifndef CAIRO_RELEASE
#define CAIRO_RELEASE ""
#endif

/* The modules, and the package that each needs when it is built. */
static const struct {
    const char *name, *needs, *library, *release;
} known[] = {{"hdf5", "HDF5", "hdf5", HDF5_RELEASE},
             {"netcdf", "netCDF", "netcdf", NETCDF_RELEASE},
             {"zip", "libzip", "libzip", ZIP_RELEASE},
             {"plot", "Cairo", "cairo", CAIRO_RELEASE},
             {"http", "libcurl", "libcurl", CURL_RELEASE},
             {"view", "libmicrohttpd", "libmicrohttpd", MICROHTTPD_RELEASE}};

typedef int interface_fn(void);

/* Find the path of a file; false if there is none. */
static bool find_beside(const char *file, char *path, size_t size)
{
    static const char *const places[] = {"", DATAREP_MODULE_DIR "/"};
    char own[PATH_MAX];
    size_t i;
    int n;

    if (!installed_command(own))
        return false;
    for (i = 0; i < sizeof places / sizeof *places; i++) {
        n = snprintf(path, size, "%s%s%s", own, places[i], file);
        if (n > 0 && (size_t)n < size && access(path, F_OK) == 0)
            return true;
    }
    return false;
}

static bool find_module(const char *name, char *path, size_t size)
{
    char file[64];

    snprintf(file, sizeof file, "datarep-%s.so", name);
    return find_beside(file, path, size);
}

static const char *library_needed(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].needs;
    return "it";
}

/* The owner of the command: its code runs already, so its modules may be that user's. */
static uid_t command_owner(void)
{
    struct stat st;

    return stat("/proc/self/exe", &st) == 0 ? st.st_uid : geteuid();
}

/* Check a module as the library checks plugins, and make its path the one of the file that was
 * checked, without symbolic links.  Debuggers and $ORIGIN need that name; nobody else can make it
 * mean another file.  Where /proc is not mounted the path stays. */
static int check_trusted(char *path, size_t size)
{
    char proc[40], *slash = strrchr(path, '/');
    struct stat st;
    ssize_t n;
    int fd = -1, err, dir;

    *slash = '\0';
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *slash = '/';
    if (dir < 0)
        return fail(DREP_ERR_ACCESS, "its directory: %s", strerror(errno));
    err = trust_open(dir, slash + 1, command_owner(), &st, &fd);
    close(dir);
    if (err)
        return err;
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
    n = readlink(proc, path, size - 1);
    if (n > 0)
        path[n] = '\0';
    close(fd);
    return 0;
}

void *module_load(const char *name, int interface)
{
    char path[2 * PATH_MAX], symbol[64];
    interface_fn *answer = NULL;
    void *module;

    if (!find_module(name, path, sizeof path)) {
        tool_say(NULL, NULL,
                 "datarep-%s.so is neither beside the command nor in its library directory: "
                 "built without %s?",
                 name, library_needed(name));
        return NULL;
    }
    if (check_trusted(path, sizeof path) != 0) {
        tool_say(path, NULL, "the module is not loaded: %s", fail_text());
        return NULL;
    }
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        tool_say(NULL, NULL, "%s", dlerror());
        return NULL;
    }
    /* POSIX has dlsym() give functions too; ISO C wants it said this way. */
    snprintf(symbol, sizeof symbol, "datarep_%s_interface", name);
    *(void **)&answer = dlsym(module, symbol);
    if (answer && answer() == interface)
        return module;
    tool_say(NULL, NULL, "%s belongs to another version of datarep", path);
    return NULL;
}

int module_shared(const char *file, char *path, size_t size)
{
    if (!find_beside(file, path, size))
        return fail(DREP_ERR_NO_SUCH_FILE,
                    "%s is neither beside the command nor in its library directory", file);
    return check_trusted(path, size);
}

int module_walk(module_walk_fn *fn, void *ctx)
{
    char path[2 * PATH_MAX];
    int found = 0;
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++) {
        if (!find_module(known[i].name, path, sizeof path))
            continue;
        fn(&(struct module_found){known[i].name, known[i].library, known[i].release,
                                  check_trusted(path, sizeof path) ? fail_text() : NULL},
           ctx);
        found++;
    }
    return found;
}
