/* guard.h - the files that an import may read. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_GUARD_H
#define TOOLS_H5_GUARD_H

#include "tools/h5/library.h"
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct job;

/* A file besides the source that was read. */
struct guard_used {
    dev_t device;
    ino_t inode;
    struct guard_used *next;
    char path[];
};

/* What H5Fget_vfd_handle() gives of a file that is open through the driver. */
struct guard_handle {
    int fd; /* of a family its first member's */
    const struct guard_family *family;
};
/* Up to `size` bytes of it; their number, or -1. */
ssize_t guard_pread(const struct guard_handle *h, void *bytes, size_t size, uint64_t at);

/* The source as several files (tools/host/family.h). */
struct guard_family {
    int *fd;
    size_t n;      /* 0: it is one file */
    uint64_t each; /* bytes of a member, of the last at most */
};

/* Which files an import may read. */
struct guard {
    const char *src;
    char dir[PATH_MAX]; /* real path of its directory, with a slash; "": no other file */
    int external;       /* regular files in or below that directory too, */
    int outside;        /* and elsewhere */
    void *tree;         /* of the files that were read besides the source */
    struct guard_used *used, **last; /* the same, in their order */
    int fd;                          /* the source itself */
    struct guard_family family;
    char part[PATH_MAX + 200]; /* what the source is if it is a part of a file; else "" */
    dev_t device;
    ino_t inode;
    hid_t driver, fapl;
    char why[PATH_MAX + 200]; /* the last file that was not opened, and the reason */
};

enum guard_verdict { GUARD_ALLOWED, GUARD_REFUSED, GUARD_ABSENT };

/* Leaves directories of plugins out of HDF5's search that are relative or that anybody may
 * write. */
void guard_plugins(void);
/* Opens the source, which must be a regular file. */
int guard_init(struct job *j, struct guard *g);
void guard_release(struct guard *g);
/* The access list for H5Fopen(): of the driver that opens allowed files only; -1 on failure. */
hid_t guard_fapl(struct guard *g);
/* True if a file may be read; if not, or if there is none, `why` says so. */
enum guard_verdict guard_judge(const struct guard *g, const char *name, char *why, size_t size);
/* Notes that a file which may be read is, for guard_report(). */
void guard_use(struct guard *g, const char *name);
/* Says which files besides the source were read. */
void guard_report(struct job *j);

#endif
