/* exchange.c - import and export: the HDF5 module in its own process, and its report. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/hdf5.h"
#include "tools/cmd/choices.h"
#include "tools/cmd/report.h"
#include "tools/h5/interface.h"
#include "tools/host/cage.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/foreign.h"
#include "tools/host/input.h"
#include "tools/host/label.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include "tools/host/module.h"
#include "tools/host/open.h"
#include "tools/host/outfile.h"
#include "tools/host/progress.h"
#include "tools/host/stop.h"
#include "tools/host/supervise.h"
#include "tools/text/verify.h"
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int run_fn(const struct hdf5_options *options);

struct hdf5_work {
    const struct exchange *x;
    const char *from; /* what is opened as x->src */
    bool import;
    struct report report;
    uint64_t total; /* that the progress bar knows */
    struct verify verify;
    bool verifying; /* that is initialised */
    bool piped;     /* the source came through a pipe */
    struct supervised *shared;
};

/* ------------------------------------------------------- what the module says */

static void on_finding(void *ctx, const struct hdf5_finding *finding)
{
    struct hdf5_work *w = ctx;
    struct hdf5_finding whole = *finding;
    const char *raise = limit_advice(finding->err, finding->message);
    char text[1200];

    if (raise) {
        snprintf(text, sizeof text, "%s; %s", finding->message, raise);
        whole.message = text;
    }
    report_add(&w->report, &whole);
}

static void on_failure(void *ctx, int err, const char *message)
{
    struct hdf5_work *w = ctx;
    const char *raise = limit_advice(err, message);
    char text[1200];

    snprintf(text, sizeof text, "%s%s%s", message, raise ? "; " : "", raise ? raise : "");
    report_fail(&w->report, text);
}

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct hdf5_work *w = ctx;

    if (total != w->total)
        progress_begin(w->import ? "import" : "export", PROGRESS_BYTES, total);
    w->total = total;
    progress_set(done);
}

static int64_t compare_pair(void *ctx, const struct hdf5_pair *pair, char *text, size_t size)
{
    struct hdf5_work *w = ctx;

    if (!w->verifying && verify_init(&w->verify, pair->file)) {
        snprintf(text, size, ": out of memory");
        return 0;
    }
    w->verifying = true;
    return verify_compare(&w->verify, pair->type, pair->n, pair->ours, pair->theirs, text, size);
}

static void on_path(void *ctx, const char *path)
{
    struct hdf5_work *w = ctx;

    limit_beat();
    limit_object(w->x->src, path);
    snprintf(w->shared->object, sizeof w->shared->object, "%s", path);
}

/* Asked at every step of the work. */
static int is_stopped(void)
{
    limit_beat();
    return limit_stopped();
}

/* ------------------------------------------------------------------- the cage */

/* The directory of a path, links resolved; false if that cannot be said. */
static bool directory_of(const char *path, char directory[PATH_MAX])
{
    char *slash;

    if (!realpath(path, directory))
        return false;
    slash = strrchr(directory, '/');
    slash[slash == directory] = '\0';
    return true;
}

/* The directories of plugins that the user names, each for cage_read(); `list` is cut up. */
static void read_plugins(struct cage *c, char *list)
{
    char *rest = list, *one;

    while (rest && (one = strsep(&rest, ":")))
        if (*one == '/')
            cage_read(c, one);
}

/* The child's memory is overwritten when it is given out and given up: what libhdf5 reads
 * without having written it is zeros, not what was there before.  The C library leaves out
 * blocks of up to about 1 KiB.  A byte that the user has chosen stays. */
static void blank_memory(void)
{
#ifdef M_PERTURB
    const char *tunables = getenv("GLIBC_TUNABLES");

    if (!getenv("MALLOC_PERTURB_") && !(tunables && strstr(tunables, "malloc.perturb")))
        mallopt(M_PERTURB, 0xff);
#endif
}

/* From here on the child opens for reading libraries and plugins, and if the user says so what is
 * beside the source, or anything; it writes only what is open already, as is the source. */
static int lock_in(void *ctx)
{
    static const char *const system[] = {"/lib",
                                         "/lib64",
                                         "/usr/lib",
                                         "/usr/lib64",
                                         "/usr/local/lib",
                                         "/usr/local/hdf5",
                                         "/dev/null",
                                         "/dev/urandom",
                                         "/etc/ld.so.cache",
                                         "/sys/devices/system/cpu"};
    struct hdf5_work *w = ctx;
    struct cage c = {.nread = 0};
    char source[PATH_MAX], target[PATH_MAX];
    const char *env = getenv("HDF5_PLUGIN_PATH");
    char *plugins = env ? strdup(env) : NULL;
    size_t i;

    for (i = 0; i < sizeof system / sizeof *system; i++)
        cage_read(&c, system[i]);
    read_plugins(&c, plugins);
    if (w->x->outside)
        cage_read(&c, "/");
    else if (!w->piped && tool_external() && directory_of(w->from, source))
        cage_read(&c, source);
    else if (w->x->pinned && realpath(w->from, source))
        cage_read(&c, source); /* the library opens it too */
    /* The new file grows under a name beside its own. */
    if (directory_of(*w->shared->hidden ? w->shared->hidden : w->x->dst, target))
        c.make = target;
    blank_memory();
    if (c.make)
        cage_enter(&c);
    free(plugins);
    supervise_watch(w->shared);
    return 0;
}

/* ------------------------------------------------------------------- the child */

/* A function of a module; NULL after saying what is wrong. */
static run_fn *function_of(const char *name, const char *what)
{
    void *module = module_load(name, DATAREP_HDF5_INTERFACE);
    char symbol[40];
    run_fn *run = NULL;

    if (!module)
        return NULL;
    snprintf(symbol, sizeof symbol, "datarep_%s_%s", name, what);
    *(void **)&run = dlsym(module, symbol);
    if (!run)
        tool_say(NULL, NULL, "%s", dlerror());
    return run;
}

/* Chunks as large as the user allows may stay as they are in a file that is made. */
static int allow_chunks(drep_info *hints)
{
    uint64_t limit = limit_get(LIMIT_CHUNK);
    char text[24];

    if (limit == LIMIT_NONE || limit <= 16 << 20)
        return 0;
    snprintf(text, sizeof text, "%" PRIu64, limit);
    return drep_info_set(hints, "drep_chunk_max", text);
}

static int run_module(struct hdf5_work *w, const char *place, struct hdf5_totals *totals)
{
    const struct exchange *x = w->x;
    struct hdf5_options options = {.src = w->from,
                                   .dst = x->dst,
                                   .place = place,
                                   .root = x->root,
                                   .datarep = x->datarep,
                                   .big_datarep = x->big_datarep,
                                   .filters = x->filters,
                                   .nfilters = x->nfilters,
                                   .range = x->range,
                                   .excl = x->excl,
                                   .exact = x->exact,
                                   .external = tool_external() || x->outside,
                                   .outside = x->outside,
                                   .alone = w->piped,
                                   .partial = x->partial,
                                   .pinned = x->pinned,
                                   .headers = x->headers,
                                   .plain = x->plain,
                                   .no_decode = x->no_decode,
                                   .verify = x->verify,
                                   .netcdf = x->netcdf,
                                   .kind = x->kind,
                                   .threads = x->threads,
                                   .say = on_finding,
                                   .progress = on_progress,
                                   .stopped = is_stopped,
                                   .error = on_failure,
                                   .compare = x->no_verify ? NULL : compare_pair,
                                   .cage = lock_in,
                                   .at = on_path,
                                   .ctx = w,
                                   .hidden = w->import ? w->shared->hidden : NULL,
                                   .totals = totals};
    run_fn *run = function_of(x->module ? x->module : "hdf5", w->import ? "import" : "export");
    run_fn *view = x->netcdf && !x->no_verify ? function_of("netcdf", "view") : NULL;
    drep_info *hints;
    int err;

    if (run && x->netcdf && !x->no_verify && !view)
        tool_say(NULL, NULL, "--no-verify makes the file unseen by libnetcdf");
    if (!run || (x->netcdf && !x->no_verify && !view))
        return DREP_ERR_UNSUPPORTED;
    stop_catch();
    if (!w->import)
        supervise_watch(w->shared);
    err = tool_info(NULL, &hints);
    if (!err && x->pinned)
        err = drep_info_set(hints, "drep_external", "true");
    if (!err && x->headers)
        err = drep_info_set(hints, "drep_checksum", "deferred");
    if (!err && x->headers)
        err = drep_info_set(hints, "drep_sync", "none");
    if (!err && w->import)
        err = allow_chunks(hints);
    options.hints = hints;
    if (!err)
        err = run(&options);
    /* What libhdf5 reads back, libnetcdf may not show. */
    if (!err && view)
        err = view(&options);
    drep_info_free(hints);
    progress_end();
    if (w->verifying)
        verify_release(&w->verify);
    if (err && !w->report.failed)
        tool_fail(x->src, NULL, err);
    return err;
}

/* The HDF5 file gets its name when it is whole, and was read back. */
static int run_export(struct hdf5_work *w, struct supervised *shared, struct hdf5_totals *totals)
{
    struct outfile out;
    int err;

    if (outfile_open_regular(&out, w->x->dst, w->x->excl)) {
        w->report.failed = true;
        return DREP_ERR_IO;
    }
    snprintf(shared->hidden, sizeof shared->hidden, "%s", out.hidden);
    err = run_module(w, out.hidden, totals);
    if (outfile_close(&out, !err) && !err)
        err = DREP_ERR_IO;
    *shared->hidden = 0;
    return err;
}

static int work_in_child(struct supervised *shared, void *ctx)
{
    struct hdf5_work *w = ctx;
    struct hdf5_totals totals = {0};
    int err, status = report_begin(&w->report);

    w->shared = shared;
    if (status)
        return status;
    err = w->import ? run_module(w, NULL, &totals) : run_export(w, shared, &totals);
    status = report_end(&w->report, err, &totals);
    stop_now();
    return status;
}

/* A new container grows under such a name. */
static bool library_owns(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strncmp(slash ? slash + 1 : path, ".drep-", 6) == 0;
}

int hdf5_run(const struct exchange *x, bool import)
{
    struct hdf5_work w = {.x = x,
                          .from = label_opened(x->src),
                          .import = import,
                          .report = {.src = x->src,
                                     .dst = x->dst,
                                     .file = x->report ? x->report
                                             : x->json ? "-"
                                                       : NULL,
                                     .import = import,
                                     .json = x->json,
                                     .quiet = x->quiet,
                                     .verbose = x->verbose}};
    char place[PATH_MAX], object[sizeof w.shared->object], *real;
    struct stat before, now;
    bool made = false, there = stat(x->dst, &before) == 0;
    int died, status;

    if (strcmp(x->src, "-") == 0) {
        if (input_named(place, &made) != 0)
            return TOOL_IO;
        w.from = place;
        w.piped = made;
    }
    /* A string of HDF5 is in its heap, in what it gives us, in ours and in a chunk. */
    limit_copies(import ? 2 : 0);
    limit_file_named(w.from);
    limit_object(x->src, NULL);
    outfile_from(x->src);
    status = supervise(work_in_child, &w, import ? library_owns : outfile_is_hidden, &died, object,
                       sizeof object);
    if (made)
        unlink(place);
    if (!died)
        return status;
    /* It may crash at its very end, when the target is in its place already. */
    real = realpath(x->dst, NULL);
    if (real && stat(real, &now) == 0 && S_ISREG(now.st_mode) &&
        !(there && now.st_dev == before.st_dev && now.st_ino == before.st_ino))
        unlink(real);
    free(real);
    tool_say(x->src, *object ? object : NULL, "the %s library crashed (%s); %s is not written",
             x->module   ? "netCDF"
             : x->netcdf ? "HDF5 or netCDF"
                         : "HDF5",
             strsignal(died), x->dst);
    return TOOL_CORRUPT;
}

/* ----------------------------------------------------------------- as a container */

/* Finds the module that imports the file; false: it is no file of another kind. */
static bool is_foreign(const char *path, const char **module)
{
    FILE *f = strcmp(path, "-") == 0 ? NULL : fopen(path, "rbe");
    bool is = f && foreign_is_hdf5(f);
    char front[4];

    *module = NULL;
    if (f && !is) {
        rewind(f);
        is = foreign_is_netcdf(front, fread(front, 1, sizeof front, f));
        *module = is ? "netcdf" : NULL;
    }
    if (f)
        fclose(f);
    return is;
}

/* Imports into a directory that is gone when the container is open. */
static int import_into(const char *path, const char *module, const char *directory, int amode,
                       const char *plugins, drep_file **out)
{
    drep_filter lz4 = {.id = DREP_FILTER_LZ4, .level = -1};
    struct exchange x = {.src = path,
                         .module = module,
                         .datarep = "internal",
                         .big_datarep = "external32",
                         .range = DREP_RANGE_STRICT,
                         .filters = &lz4,
                         .nfilters = drep_filter_available(DREP_FILTER_LZ4) ? 1 : 0,
                         .partial = true,
                         .quiet = true};
    char name[PATH_MAX + 32];
    int status;

    snprintf(name, sizeof name, "%s/imported.drep", directory);
    x.dst = name;
    status = hdf5_run(&x, true);
    if (status <= TOOL_DIFFERS)
        status = tool_open(name, amode, plugins, out);
    unlink(name);
    return status;
}

int hdf5_open(const char *path, int amode, const char *plugins, drep_file **out, bool *imported)
{
    const char *tmp = getenv("TMPDIR");
    char directory[PATH_MAX];
    const char *module;
    int status;

    *imported = is_foreign(path, &module);
    if (!*imported)
        return tool_open(path, amode, plugins, out);
    snprintf(directory, sizeof directory, "%s/datarep-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(directory)) {
        tool_say(directory, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    status = import_into(path, module, directory, amode, plugins, out);
    rmdir(directory);
    return status;
}

/* Opens a container that names its source, and only that: the importer looks to it. */
static int open_pinned(const char *name, const char *plugins, drep_file **out)
{
    drep_info *hints;
    int err = tool_info(plugins, &hints);

    if (!err)
        err = drep_info_set(hints, "drep_external", "true");
    if (!err)
        err = drep_open(name, DREP_RDONLY, hints, out);
    drep_info_free(hints);
    return err ? tool_fail(name, NULL, err) : 0;
}

int hdf5_open_beside(const char *path, const char *beside, const char *plugins, drep_file **out,
                     bool *imported)
{
    const char *slash = strrchr(beside, '/');
    struct exchange x = {.src = path,
                         .datarep = "internal",
                         .big_datarep = "external32",
                         .range = DREP_RANGE_STRICT,
                         .nfilters = -1,
                         .pinned = true,
                         .headers = true,
                         .no_decode = true,
                         .quiet = true};
    char name[PATH_MAX];
    int fd, status;

    *imported = is_foreign(path, &x.module);
    if (!*imported)
        return tool_open(path, DREP_RDONLY, plugins, out);
    if ((size_t)snprintf(name, sizeof name, "%.*s.drep-join-XXXXXX",
                         slash ? (int)(slash - beside) + 1 : 0, beside) >= sizeof name)
        name[0] = 0;
    fd = mkstemp(name);
    if (fd < 0) {
        tool_say(beside, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    close(fd);
    x.dst = name;
    /* Loaded here once, the module and its libraries are there in each child. */
    status =
        function_of(x.module ? x.module : "hdf5", "import") ? hdf5_run(&x, true) : TOOL_CORRUPT;
    /* What is not expressible in values is not lost here: the source stays. */
    if (status <= TOOL_DIFFERS)
        status = open_pinned(name, plugins, out);
    unlink(name);
    return status;
}
