/* linked.h - the files behind external links.
 *
 * A file that a link leads to is opened for reading, once, and belongs to the handle; its own links
 * lead on, but only so deep.  Handles are only ever put in front of the list, so whoever has one
 * may follow `next` without the lock. */
/* SPDX-License-Identifier: MIT */
#ifndef FILE_LINKED_H
#define FILE_LINKED_H

#include "base/handles.h"

#include <pthread.h>
#include <stdbool.h>

struct io;
struct linked_files {
    bool follow;     /* external links may be followed (hint drep_external) */
    int dir;         /* the directory of this file, -1: none */
    char *url;       /* of this file, whole; NULL: it is behind none */
    int depth;       /* links that led here */
    char *name;      /* how the link names this file */
    drep_file *next; /* in the list of the file that links here */

    pthread_mutex_t lock;
    drep_file *first; /* that links in this file led to */
};

/* The file of this name, from the list or opened. */
int linked_get(drep_file *f, const char *name, drep_file **out);
/* The head of the list. */
drep_file *linked_first(drep_file *f);

#endif
