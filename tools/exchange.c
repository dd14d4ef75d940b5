/* exchange.c - import and export: what was asked for, and what the HDF5 module says. */
#include "exchange.h"
#include "hdf5.h"
#include "module.h"
#include "tool.h"
#include <dlfcn.h>
#include <getopt.h>
#include <string.h>

typedef int run_fn(const struct hdf5_options *options);

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
static int run_module(const struct hdf5_options *given, bool import)
{
    struct listener l = {.src = given->src};
    struct hdf5_options options = *given;
    void *module = module_load("hdf5", DATAREP_HDF5_INTERFACE);
    run_fn *run = NULL;
    int err;

    if (!module)
        return TOOL_CORRUPT;
    *(void **)&run = dlsym(module, import ? "datarep_hdf5_import" : "datarep_hdf5_export");
    if (!run) {
        tool_say(NULL, NULL, "%s", dlerror());
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

int exchange_run(const struct command *command, int argc, char **argv)
{
    struct hdf5_options h = {.datarep = "internal", .range = DREP_RANGE_STRICT};
    struct options o = {.command = command, .argc = argc, .argv = argv};
    char **files;
    int option;

    while ((option = option_next(&o)) > 0) {
        if (option == OPTION_DATAREP)
            h.datarep = optarg;
        if (option == OPTION_ROOT)
            h.root = optarg;
        if (option == OPTION_RANGE)
            h.range = range_from_name(optarg);
        if (h.range < 0)
            return command_usage(command, "--range is strict, clamp or wrap, not '%s'", optarg);
        h.verbose |= option == 'v';
        h.excl |= option == 'n';
    }
    if (option < 0)
        return o.status;
    files = option_operands(&o, 2, 2, "which files?  SOURCE TARGET");
    if (!files)
        return o.status;
    h.src = files[0];
    h.dst = files[1];
    return run_module(&h, command == &import_command);
}
