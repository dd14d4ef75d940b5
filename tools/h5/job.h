/* job.h - the state of one import or export, and what it says.
 *
 * Everything that has no counterpart on the other side is said to the caller, with its weight,
 * never dropped in silence.  A function that fails leaves the reason in j->why. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_JOB_H
#define TOOLS_H5_JOB_H

#include "tools/h5/guard.h"
#include "tools/h5/interface.h"
#include "tools/h5/library.h"
#include "tools/h5/object.h"
#include "tools/h5/odd_link.h"

/* A file that chunks of a virtual import stay in. */
struct pin_file {
    uint32_t number; /* among the container's files */
    hsize_t base;    /* bytes of its user block */
    int fd;
};

struct job {
    const struct hdf5_options *o;
    drep_file *d;
    hid_t h;
    char why[600]; /* of the last failure */
    int no_memory; /* HDF5 failed so for want of memory */
    struct objects objects;
    struct encodings *encodings; /* encoding.h; NULL: the job only looks for objects */
    struct usual {         /* what is so common in the HDF5 file that only the rest is noted */
        int cset;          /* H5T_CSET_... */
        int fill_time;     /* H5D_FILL_TIME_... */
        int unsigned_uses; /* REFERENCE_LIST is as HDF5 1.14 makes it (scale.h) */
        int latest; /* superblock 3, with the object headers and chunk indexes of HDF5 1.10 */
    } usual;
    int lean;             /* a view: data is not moved, findings are not said */
    uint64_t done, total; /* bytes of elements */
    struct hdf5_totals totals;
    struct threads *threads; /* threads for chunks, made at first use */
    void *measured;          /* a tree of the datasets that measure_all() has seen */

    /* Import. */
    struct guard guard;
    unsigned long checked_file; /* the dataset whose fill value was checked last (header.c) */
    haddr_t checked;
    struct kept_open { /* virtual datasets that stay open (source.c) */
        uint64_t key[8];
        hid_t dset[8];
        size_t n, mappings;
    } kept_open;
    struct odd_links links;
    struct pipeline *pipeline; /* that the filters of the dataset in hand point into (layout.c) */
    int64_t dated;             /* objects with a time of change */
    int64_t untracked;         /* groups whose links have no order in HDF5 */
    int64_t incomplete;        /* datasets with elements that could not be read */
    struct pinned {
        struct pin_file own;      /* the source */
        char directory[PATH_MAX]; /* of the container, with a slash */
        uint32_t last;            /* the greatest number so far */
        double files, rows;       /* bytes of the files, and of the chunks that are in them */
    } pinned;                     /* pin.c */

    /* Export. */
    int netcdf;        /* the file is for netCDF: datatypes are those that it sees (netcdf.h) */
    int in_attribute;  /* the datatype in hand is that of an attribute */
    struct committed { /* what it sees as user-defined types */
        hid_t *type;
        size_t n, room;
    } committed;
    int numbered; /* dimensions have the numbers of netCDF-4: 1, -1: not all, 0: not looked at */
    struct lost_attributes *lost; /* what was reported as lost */
    struct job *back;             /* while the file is read back: a job whose objects are known by
                                     their addresses there; else NULL */
};

/* Keeps the message and returns err. */
int job_fail(struct job *j, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
int job_no_memory(struct job *j);
/* Like job_fail(), with what HDF5, or our library, says. */
int job_fail_hdf5(struct job *j, const char *doing);
int job_fail_drep(struct job *j, int err);
/* A finding about the object at `path`. */
void job_say(struct job *j, int weight, const char *what, const char *path, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* A finding about values that the conversion changed; none if it changed none. */
void job_say_losses(struct job *j, const char *path, const drep_report *lost);
/* Handle a failed step about one object: it is lost, with j->why, and the rest goes
 * on: 0; or, if that cannot be: err. */
int job_skip(struct job *j, int err, const char *what, const char *path, const char *text);
/* DREP_ERR_STOPPED once a signal asks the process to end; to be asked now and then. */
int job_stopped(struct job *j);
void job_progress(struct job *j, uint64_t bytes);
/* Tells whoever watches which object is in hand. */
void job_at(struct job *j, const char *path);

/* NULL if it is not known. */
struct h5_object *job_find(struct job *j, uint64_t key);
/* Takes path and source over, also on failure.  Pointers to objects die here. */
int job_add(struct job *j, uint64_t key, int kind, char *path, char *source);

/* Path of the object in the source, below the job's root; malloc'ed, NULL without memory. */
char *job_source(struct job *j, const struct h5_object *o);

#endif
