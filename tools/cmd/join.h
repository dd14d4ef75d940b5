/* join.h - what the files of `datarep join` do together.
 *
 * The first source gives the new file its objects; each source adds to the variables that have the
 * dimension, in the order of the command line.  Sources are open one at a time. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_JOIN_H
#define TOOLS_CMD_JOIN_H

#include "tools/walk/box.h"
#include <datarep.h>
#include <limits.h>
#include <stdbool.h>

/* A file that chunks of a source are in. */
struct join_target {
    char *path;         /* from the directory of the new file */
    uint32_t number;    /* in the source; 0: the source itself */
    uint32_t made;      /* in the new file; 0: not yet there */
    int64_t size, time; /* as the source knows them */
};

struct join_source {
    const char *name; /* as it was given */
    drep_file *file;
    bool foreign; /* an HDF5 or netCDF file: `file` only names its chunks */
    struct join_target *target;
    size_t n, room;
};

/* A dataset of the new file. */
struct join_variable {
    char *path;
    int dim;   /* the one that is joined; -1: it has none */
    bool rows; /* chunks stay in the sources */
    drep_dataset *ds;
    drep_dsinfo info;
    void *fill; /* one element; where rows are */
};

struct join_job {
    const char *target, *dim, *plugins;
    bool virtual, copy, excl, force, verbose;
    char **source;
    int sources;
    drep_file *file;
    char *address; /* of the dimension */
    uint64_t id;
    int64_t length; /* joined so far */
    struct join_variable *variable;
    size_t n, room;
    int64_t rows, copied; /* chunks named, bytes of elements copied */
};

/* Each gives an exit code, after saying what is wrong. */

/* Opens the source of a name; join_source_close() is due in any case. */
int join_source_open(const struct join_job *j, const char *name, struct join_source *s);
void join_source_close(struct join_source *s);
/* The number in the new file of what `number` is in the source, 0: the source itself. */
int join_source_number(struct join_job *j, struct join_source *s, uint32_t number, uint32_t *out);

/* Compares a variable of a source with the new file's: type and shape, but for the dimension, and
 * attributes that say what its values mean; of one without the dimension all elements. */
int join_check(const struct join_job *j, const struct join_source *s, const struct join_variable *v,
               drep_dataset *ds, const drep_dsinfo *info);

/* Adds the elements of a source's variable, of which the first becomes that of index j->length. */
int join_append(struct join_job *j, struct join_source *s, struct join_variable *v,
                drep_dataset *ds, const drep_dsinfo *info);

#endif
