/* hdf5.c - the HDF5 module of the command: its entry points and the job they run.
 *
 * Compiled into datarep-hdf5.so, which import and export load.  Everything that has no
 * counterpart on the other side is named through the caller's `warn`, never dropped in
 * silence; what merely is stored differently is said through `note`. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/hdf5_parts.h"

#define MODULE_API __attribute__((visibility("default")))

/* ---------------------------------------------------------------- messages */

int job_fail(struct job *j, int err, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(j->why, sizeof j->why, format, ap);
    va_end(ap);
    return err;
}

/* The first entry of a walk upwards is the innermost place. */
static herr_t innermost(unsigned n, const H5E_error2_t *e, void *ctx)
{
    const char **text = ctx;

    if (n == 0)
        *text = e->desc;
    return 0;
}

int job_fail_hdf5(struct job *j, const char *doing)
{
    const char *text = NULL;
    char *newline;

    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &text);
    snprintf(j->why, sizeof j->why, "%s: HDF5 says: %s", doing, text ? text : "nothing");
    while ((newline = strchr(j->why, '\n')))
        *newline = ' ';
    return DREP_ERR_UNSUPPORTED;
}

int job_fail_drep(struct job *j, int err)
{
    snprintf(j->why, sizeof j->why, "%s", drep_error());
    return err;
}

void job_warn(struct job *j, const char *path, const char *format, ...)
{
    char text[sizeof j->why + 200];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    j->o->warn(j->o->ctx, path, text);
}

void job_note(struct job *j, const char *path, const char *format, ...)
{
    char text[sizeof j->why + 200];
    va_list ap;

    if (!j->o->verbose)
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    j->o->note(j->o->ctx, path, text);
}

int job_skip(struct job *j, int err, const char *path, const char *what)
{
    switch (err) {
    case 0:
        return 0;
    case DREP_ERR_NOMEM:
    case DREP_ERR_IO:
    case DREP_ERR_NO_SPACE:
    case DREP_ERR_FAILED:
    case DREP_ERR_CONVERSION:
    case DREP_ERR_CHECKSUM:
    case DREP_ERR_STALE:
    case DREP_ERR_STOPPED:
        return err;
    default:
        job_warn(j, path, "%s%s%s", what, *what ? ": " : "", j->why);
        return 0;
    }
}

/* ----------------------------------------------------------------- objects */

static size_t slot_of(const struct job *j, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (j->nslots - 1);
}

struct object *job_find(struct job *j, uint64_t key)
{
    size_t at;

    if (!j->nslots)
        return NULL;
    for (at = slot_of(j, key); j->slots[at]; at = (at + 1) & (j->nslots - 1))
        if (j->objects[j->slots[at] - 1].key == key)
            return &j->objects[j->slots[at] - 1];
    return NULL;
}

static void index_object(struct job *j, size_t i)
{
    size_t at = slot_of(j, j->objects[i].key);

    while (j->slots[at])
        at = (at + 1) & (j->nslots - 1);
    j->slots[at] = i + 1;
}

/* Twice as many slots as objects, both powers of two. */
static int grow(struct job *j)
{
    size_t room = j->room ? 2 * j->room : 64;
    struct object *objects = realloc(j->objects, room * sizeof *objects);
    size_t *slots;
    size_t i;

    if (!objects)
        return DREP_ERR_NOMEM;
    j->objects = objects;
    slots = calloc(2 * room, sizeof *slots);
    if (!slots)
        return DREP_ERR_NOMEM;
    free(j->slots);
    j->slots = slots;
    j->nslots = 2 * room;
    j->room = room;
    for (i = 0; i < j->n; i++)
        index_object(j, i);
    return 0;
}

int job_add(struct job *j, uint64_t key, int kind, char *path)
{
    if (!path || (j->n == j->room && grow(j) != 0)) {
        free(path);
        return job_fail(j, DREP_ERR_NOMEM, "out of memory");
    }
    j->objects[j->n] = (struct object){.key = key, .kind = kind, .path = path};
    index_object(j, j->n++);
    return 0;
}

void job_release(struct job *j)
{
    size_t i;

    for (i = 0; i < j->n; i++) {
        free(j->objects[i].path);
        free(j->objects[i].dim_path);
    }
    free(j->objects);
    free(j->slots);
}

char *path_join(const char *group, const char *name)
{
    char *path;

    while (*name == '/')
        name++;
    return asprintf(&path, "%s/%s", strcmp(group, "/") == 0 ? "" : group, name) < 0 ? NULL : path;
}

/* ------------------------------------------------------------------ import */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define NSIGNALS (sizeof signals / sizeof signals[0])

static volatile sig_atomic_t stopped_by;

static void stop(int number)
{
    stopped_by = number;
}

int job_stopped(struct job *j)
{
    return stopped_by ? job_fail(j, DREP_ERR_STOPPED, "interrupted") : 0;
}

/* The process while a job runs: HDF5 prints no errors of its own, and a signal that would
 * end it lets the half-made file be taken away first. */
struct quiet {
    H5E_auto2_t fn;
    void *data;
    struct sigaction was[NSIGNALS];
};

static void quiet_begin(struct quiet *q)
{
    struct sigaction action = {.sa_handler = stop};
    size_t i;

    /* Once a file could not be closed for want of space, HDF5's own exit handler crashes. */
    H5dont_atexit();

    H5Eget_auto2(H5E_DEFAULT, &q->fn, &q->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (i = 0; i < NSIGNALS; i++)
        if (sigaction(signals[i], NULL, &q->was[i]) == 0 && q->was[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

static void quiet_end(const struct quiet *q)
{
    size_t i;

    H5Eset_auto2(H5E_DEFAULT, q->fn, q->data);
    for (i = 0; i < NSIGNALS; i++)
        sigaction(signals[i], &q->was[i], NULL);
    if (stopped_by)
        raise(stopped_by);
}

static int finish(struct job *j, int err)
{
    if (err)
        j->o->error(j->o->ctx, "", j->why);
    job_release(j);
    return err;
}

static int open_source(struct job *j)
{
    struct stat st;

    if (stat(j->o->src, &st) != 0) {
        int err = errno == EACCES ? DREP_ERR_ACCESS : DREP_ERR_NO_SUCH_FILE;

        return job_fail(j, err, "%s: %s", j->o->src, strerror(errno));
    }
    if (H5Fis_hdf5(j->o->src) <= 0)
        return job_fail(j, DREP_ERR_FORMAT, "%s: not an HDF5 file", j->o->src);
    j->h = H5Fopen(j->o->src, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (j->h < 0) {
        job_fail_hdf5(j, j->o->src);
        return DREP_ERR_IO;
    }
    return 0;
}

MODULE_API int datarep_hdf5_import(const struct hdf5_options *options)
{
    struct job j = {.o = options, .h = -1};
    struct quiet q;
    int err;

    quiet_begin(&q);
    err = open_source(&j);
    if (!err) {
        err =
            drep_create(options->dst, options->excl ? DREP_EXCL : 0, options->datarep, NULL, &j.d);
        if (err)
            job_fail_drep(&j, err);
    }
    if (!err)
        err = import_all(&j);
    if (err) {
        if (j.d)
            drep_abandon(j.d);
    } else {
        err = drep_close(j.d);
        if (err)
            job_fail_drep(&j, err);
    }
    if (j.h >= 0)
        H5Fclose(j.h);
    err = finish(&j, err);
    quiet_end(&q);
    return err;
}

/* ------------------------------------------------------------------ export */

/* Creates the HDF5 file under a name beside dst. */
static int create_hidden(struct job *j, char *hidden)
{
    mode_t mask = umask(0);
    hid_t fapl, fcpl;
    int fd;

    umask(mask);
    fd = mkstemp(hidden);
    if (fd < 0)
        return job_fail(j, errno == EACCES ? DREP_ERR_ACCESS : DREP_ERR_IO, "%s: %s", j->o->dst,
                        strerror(errno));
    fchmod(fd, 0666 & ~mask);
    close(fd);
    fapl = H5Pcreate(H5P_FILE_ACCESS);
    fcpl = H5Pcreate(H5P_FILE_CREATE);
    /* Attributes beyond 64 KiB and creation order need the object headers of 1.8. */
    H5Pset_libver_bounds(fapl, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    H5Pset_link_creation_order(fcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_attr_creation_order(fcpl, H5P_CRT_ORDER_TRACKED);
    j->h = H5Fcreate(hidden, H5F_ACC_TRUNC, fcpl, fapl);
    H5Pclose(fcpl);
    H5Pclose(fapl);
    if (j->h < 0) {
        job_fail_hdf5(j, j->o->dst);
        return DREP_ERR_IO;
    }
    return 0;
}

/* Gives the finished file its name. */
static int publish(struct job *j, const char *hidden)
{
    if (!j->o->excl)
        return rename(hidden, j->o->dst) == 0
                   ? 0
                   : job_fail(j, DREP_ERR_IO, "%s: %s", j->o->dst, strerror(errno));
    if (link(hidden, j->o->dst) != 0)
        return job_fail(j, errno == EEXIST ? DREP_ERR_FILE_EXISTS : DREP_ERR_IO, "%s: %s",
                        j->o->dst, strerror(errno));
    unlink(hidden);
    return 0;
}

static int export_to(struct job *j, char *hidden)
{
    int err = create_hidden(j, hidden);

    if (!err)
        err = export_all(j);
    if (j->h >= 0 && H5Fclose(j->h) < 0 && !err) {
        job_fail_hdf5(j, j->o->dst);
        err = DREP_ERR_IO;
    }
    if (!err)
        err = publish(j, hidden);
    if (err)
        unlink(hidden);
    return err;
}

MODULE_API int datarep_hdf5_export(const struct hdf5_options *options)
{
    struct job j = {.o = options, .h = -1};
    struct quiet q;
    char *hidden = NULL;
    int err;

    if (options->excl && access(options->dst, F_OK) == 0)
        return finish(&j, job_fail(&j, DREP_ERR_FILE_EXISTS, "%s: exists", options->dst));
    if (asprintf(&hidden, "%s.XXXXXX", options->dst) < 0)
        return finish(&j, job_fail(&j, DREP_ERR_NOMEM, "out of memory"));
    err = drep_open(options->src, DREP_RDONLY, NULL, &j.d);
    if (err) {
        free(hidden);
        return finish(&j, job_fail_drep(&j, err));
    }
    quiet_begin(&q);
    err = export_to(&j, hidden);
    drep_abandon(j.d);
    free(hidden);
    err = finish(&j, err);
    quiet_end(&q);
    return err;
}

MODULE_API int datarep_hdf5_interface(void)
{
    return DATAREP_HDF5_INTERFACE;
}

MODULE_API const char *datarep_hdf5_version(void)
{
    static char text[40];
    unsigned major, minor, patch;

    if (!*text && H5get_libversion(&major, &minor, &patch) >= 0)
        snprintf(text, sizeof text, "HDF5 %u.%u.%u", major, minor, patch);
    return text;
}
