/* hints.h - the hints of a handle: those in force, and those that stand in the header.
 *
 * Four lists meet: the defaults, what the header of the file says, what its opener says, and what
 * drep_set_info() says later.  A file only advises: where following it could cost the opener more
 * than the opener allows, its hint gives way. */
/* SPDX-License-Identifier: MIT */
#ifndef FILE_HINTS_H
#define FILE_HINTS_H

#include "base/info.h"
#include "chunk/chunks.h"
#include "space/store.h"

#include <stdbool.h>

struct hints {
    drep_info *all;    /* in force */
    drep_info *stored; /* in the header */
    bool changed;      /* the stored ones, since the last commit */
    bool advised;      /* the system was told how the file is read */
    bool shared;       /* several ranks have the file open */
    /* What calls ask for so often that it is looked up once: */
    int64_t threads, chunk_max, cache_size;
};

/* The defaults, changed by what the opener says.  hints_release() frees them, also after an
 * error. */
int hints_init(struct hints *h, const drep_info *opener);
void hints_release(struct hints *h);
/* Puts the defaults, the stored hints and the opener's in force. */
int hints_merge(struct hints *h, const drep_info *opener);
/* Takes hints of drep_set_info() over: all of them, or none after an error. */
int hints_change(struct hints *h, const drep_info *changes);
/* Adds the hints that describe a file to those of its header. */
int hints_store(drep_info *stored, const drep_info *info, bool *changed);
/* After the lists changed: fills in what is looked up once. */
void hints_note(drep_file *f);
/* Let the store read payload from other files in or below `dir`, beneath the folder of this file's
 * URL, and behind URLs, as far as the opener allows each. */
void hints_allow_targets(drep_file *f, int dir);

/* Records of the header. */
int hints_load(struct hints *h, const struct span *records);
int hints_put(const struct hints *h, struct buf *to);

/* A hint that is a size; a negative one counts as its default. */
int64_t hint_size(const drep_info *info, const char *key);
/* True for hints that act on this handle; the others are kept in the header for programs that have
 * several processes, and what is in force is their default. */
bool hint_acts(const struct hints *h, const char *key);
/* True for hints that act when a file is opened, and not after: of several ranks those, too, which
 * must be equal on all. */
bool hint_is_fixed(const struct hints *h, const char *key);
/* The permissions of a file that is made (hint file_perm). */
unsigned hint_permissions(const drep_info *info);
/* Options of the store; `uuid` is room that they point to. */
void hint_store_opts(const drep_info *info, struct store_opts *opts, uint8_t uuid[16]);

#endif
