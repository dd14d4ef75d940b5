/* job.c - the state of one import or export, and what it says. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/job.h"
#include "schema/paths.h"
#include "tools/h5/interface.h"
#include "tools/h5/object.h"
#include <datarep.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- messages */

int job_fail(struct job *j, int err, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(j->why, sizeof j->why, format, ap);
    va_end(ap);
    j->no_memory = 0;
    return err;
}

struct reason {
    const char *text;
    int no_memory;
};

/* The first entry of a walk upwards is the innermost place.  That a plugin was not found
 * says less than what it was wanted for. */
static herr_t innermost(unsigned n, const H5E_error2_t *e, void *ctx)
{
    struct reason *reason = ctx;

    (void)n;
    if (!reason->text && e->desc && *e->desc && e->maj_num != H5E_PLUGIN) {
        reason->text = e->desc;
        reason->no_memory = e->min_num == H5E_NOSPACE || e->min_num == H5E_CANTALLOC;
    }
    return 0;
}

/* "file write failed: time = ..., error message = 'No space left on device', buf = ..." without
 * what tells users nothing: the call that failed, and the system's message. */
static void keep_system_message(char *why)
{
    char *from = strstr(why, ": time = "), *to = from ? strstr(from, "error message = '") : NULL;
    char *end = to ? strchr(to + 17, '\'') : NULL;

    if (!end)
        return;
    *end = 0;
    memmove(from + 2, to + 17, (size_t)(end - to) - 16);
}

int job_fail_hdf5(struct job *j, const char *doing)
{
    struct reason reason = {NULL, 0};
    char *newline;

    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &reason);
    snprintf(j->why, sizeof j->why, "%s: HDF5 says: %s", doing,
             reason.text ? reason.text : "nothing");
    while ((newline = strchr(j->why, '\n')))
        *newline = ' ';
    keep_system_message(j->why);
    j->no_memory = reason.no_memory;
    return DREP_ERR_UNSUPPORTED;
}

int job_fail_drep(struct job *j, int err)
{
    snprintf(j->why, sizeof j->why, "%s", drep_error());
    j->no_memory = 0;
    return err;
}

int job_no_memory(struct job *j)
{
    return job_fail(j, DREP_ERR_NOMEM, "out of memory");
}

void job_say(struct job *j, int weight, const char *what, const char *path, const char *format, ...)
{
    char text[sizeof j->why + 200];
    struct hdf5_finding finding = {.weight = weight, .what = what, .path = path, .message = text};
    va_list ap;

    /* Findings of the export are not repeated while the file is read back. */
    if (j->lean || j->back)
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (j->no_memory && weight == HDF5_LOST && strstr(text, j->why))
        finding.err = DREP_ERR_NOMEM;
    j->o->say(j->o->ctx, &finding);
}

void job_say_losses(struct job *j, const char *path, const drep_report *lost)
{
    if (lost->overflow || lost->inexact || lost->nan_lost)
        job_say(j, HDF5_LOST, "values", path,
                "%lld values overflowed, %lld were rounded, %lld NaNs lost their payload",
                (long long)lost->overflow, (long long)lost->inexact, (long long)lost->nan_lost);
}

int job_skip(struct job *j, int err, const char *what, const char *path, const char *text)
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
        job_say(j, HDF5_LOST, what, path, "%s%s%s", text, *text ? ": " : "", j->why);
        return 0;
    }
}

void job_progress(struct job *j, uint64_t bytes)
{
    j->done += bytes;
    if (j->o->progress && !j->lean)
        j->o->progress(j->o->ctx, j->done, j->total);
}

void job_at(struct job *j, const char *path)
{
    if (j->o->at)
        j->o->at(j->o->ctx, path);
}

/* ----------------------------------------------------------------- objects */

struct h5_object *job_find(struct job *j, uint64_t key)
{
    return objects_find(&j->objects, key);
}

int job_add(struct job *j, uint64_t key, int kind, char *path, char *source)
{
    return objects_add(&j->objects, key, kind, path, source) ? job_no_memory(j) : 0;
}

char *job_source(struct job *j, const struct h5_object *o)
{
    const char *root = j->o->root ? j->o->root : "/";

    return path_of_member(root, o->source ? o->source : o->path);
}

/* ------------------------------------------------------- the process of a job */

int job_stopped(struct job *j)
{
    return j->o->stopped && j->o->stopped() ? job_fail(j, DREP_ERR_STOPPED, "interrupted") : 0;
}
