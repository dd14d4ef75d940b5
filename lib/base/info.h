/* info.h - hints: the known keys with their defaults and checks.
 *
 * Keys and defaults are format/hints.def.  A value that does not parse as its
 * kind is ignored, and the old one stays (requirement H2). */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_INFO_H
#define BASE_INFO_H

#include "base/handles.h"

#include <stdbool.h>

bool info_known(const char *key);                       /* in hints.def */
int info_defaults(drep_info **out);                     /* all known keys */
int info_copy(const drep_info *from, drep_info **out);  /* a new one, equal */
int info_merge(drep_info *into, const drep_info *from); /* known keys with valid values */
/* The same for one of them. */
int info_merge_one(drep_info *into, const drep_info *from, const char *key);
bool info_valid(const char *key, const char *value);
/* Tokens and keys: info_merge() leaves them out, so that no handle keeps or shows them, and
 * info_secrets() copies them alone, for whoever opens a file. */
bool info_secret(const char *key);
int info_secrets(drep_info *into, const drep_info *from);

/* Values in force; `info` may be NULL (defaults). */
int64_t info_int(const drep_info *info, const char *key);
int64_t info_ns(const drep_info *info, const char *key); /* seconds, in nanoseconds */
bool info_bool(const drep_info *info, const char *key);
/* At most max integers of a list; gives how many there are. */
int info_ints(const drep_info *info, const char *key, int64_t *out, int max);
/* True if a list has this word. */
bool info_has(const drep_info *info, const char *key, const char *word);
const char *info_str(const drep_info *info, const char *key);

#endif
