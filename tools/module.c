/* module.c - the HDF5 module: found beside the command or in its library directory.
 *
 * HDF5 is large; only import and export pay for loading it. */
#include "module.h"
#include "tool.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE_NAME "datarep-hdf5.so"
/* From the directory of the command; the Makefile knows better. */
#ifndef DATAREP_MODULE_DIR
#define DATAREP_MODULE_DIR "../lib/datarep"
#endif

typedef int run_fn(const struct hdf5_options *options);
typedef int interface_fn(void);

/* The directory of the running command, with a slash at its end. */
static bool own_directory(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    char *slash;

    if (n <= 0)
        return false;
    path[n] = '\0';
    slash = strrchr(path, '/');
    if (!slash)
        return false;
    slash[1] = '\0';
    return true;
}

/* Loads `directory``sub``/datarep-hdf5.so` if it is there. */
static void *load_from(const char *directory, const char *sub)
{
    char path[PATH_MAX + 256];
    int n = snprintf(path, sizeof path, "%s%s%s", directory, sub, MODULE_NAME);

    if (n < 0 || (size_t)n >= sizeof path || access(path, R_OK) != 0)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *load(void)
{
    char directory[PATH_MAX];
    void *module = NULL;
    const char *why;

    /* Whatever an earlier dlopen() said is not the reason. */
    dlerror();
    if (own_directory(directory, sizeof directory)) {
        module = load_from(directory, "");
        if (!module)
            module = load_from(directory, DATAREP_MODULE_DIR "/");
    }
    if (module)
        return module;
    why = dlerror();
    if (why)
        tool_say(NULL, NULL, "%s", why);
    else
        tool_say(NULL, NULL,
                 "%s is neither beside the command nor in its library directory: "
                 "built without HDF5?",
                 MODULE_NAME);
    return NULL;
}

/* ------------------------------------------------------- what the module says */

struct listener {
    const char *src;
    int64_t warnings;
    bool failed;
};

static void say(const char *file, const char *kind, const char *path, const char *message)
{
    /* The library's own messages name the file. */
    if (strncmp(message, file, strlen(file)) == 0)
        file = NULL;
    tool_say(file, *path ? path : NULL, "%s%s", kind, message);
}

static void warned(void *ctx, const char *path, const char *message)
{
    struct listener *l = ctx;

    l->warnings++;
    say(l->src, "warning: ", path, message);
}

static void noted(void *ctx, const char *path, const char *message)
{
    struct listener *l = ctx;

    say(l->src, "", path, message);
}

static void failed(void *ctx, const char *path, const char *message)
{
    struct listener *l = ctx;

    l->failed = true;
    say(l->src, "", path, message);
}

/* Loads the module and runs it with our callbacks. */
static int module_run(const struct hdf5_options *given, bool import)
{
    struct listener l = {.src = given->src};
    struct hdf5_options options = *given;
    interface_fn *interface;
    run_fn *run;
    void *module = load();
    int err;

    if (!module)
        return TOOL_CORRUPT;
    /* POSIX has dlsym() give functions too; ISO C wants it said this way. */
    *(void **)&interface = dlsym(module, "datarep_hdf5_interface");
    *(void **)&run = dlsym(module, import ? "datarep_hdf5_import" : "datarep_hdf5_export");
    if (!interface || !run || interface() != DATAREP_HDF5_INTERFACE) {
        tool_say(NULL, NULL, "%s belongs to another version of datarep", MODULE_NAME);
        return TOOL_CORRUPT;
    }
    options.warn = warned;
    options.note = noted;
    options.error = failed;
    options.ctx = &l;
    err = run(&options);
    if (err && !l.failed)
        tool_fail(options.src, NULL, err);
    if (err)
        return tool_exit_code(err);
    return l.warnings ? TOOL_DIFFERS : TOOL_FINE;
}

/* ------------------------------------------------------------ command lines */

static int range_from_name(const char *name)
{
    if (strcmp(name, "strict") == 0)
        return DREP_RANGE_STRICT;
    if (strcmp(name, "clamp") == 0)
        return DREP_RANGE_CLAMP;
    if (strcmp(name, "wrap") == 0)
        return DREP_RANGE_WRAP;
    return -1;
}

int module_main(int argc, char **argv, bool import, const char *help)
{
    static const struct option longs[] = {{"datarep", required_argument, NULL, 'd'},
                                          {"root", required_argument, NULL, 'R'},
                                          {"range", required_argument, NULL, 'g'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          {"no-clobber", no_argument, NULL, 'n'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct hdf5_options o = {.datarep = "internal", .range = DREP_RANGE_STRICT};
    int option;

    while ((option = tool_option(argc, argv, ":vnh", longs)) != -1) {
        switch (option) {
        case 'd':
            if (!import)
                return tool_usage(argv[0], "unknown option '--datarep'");
            o.datarep = optarg;
            break;
        case 'R':
            o.root = optarg;
            break;
        case 'g':
            o.range = range_from_name(optarg);
            if (o.range < 0)
                return tool_usage(argv[0], "--range is strict, clamp or wrap, not '%s'", optarg);
            break;
        case 'v':
            o.verbose = 1;
            break;
        case 'n':
            o.excl = 1;
            break;
        case 'h':
            return tool_help(help);
        default:
            return TOOL_USAGE;
        }
    }
    if (argc - optind != 2)
        return tool_usage(argv[0], "%s",
                          argc - optind < 2 ? "which files?  SOURCE TARGET" : "too many arguments");
    o.src = argv[optind];
    o.dst = argv[optind + 1];
    return module_run(&o, import);
}
