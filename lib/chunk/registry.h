/* registry.h - the filters that programs and plugins registered. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_REGISTRY_H
#define CHUNK_REGISTRY_H

#include "format/record.h"

#include <datarep.h>

/* Bytes that a filter may add to twice its input. */
#define FILTER_GROWS_MAX ((size_t)64 << 10)

/* Add-only: an entry, once found, may be used for ever without a lock. */
struct user_filter {
    struct user_filter *next;
    drep_filter_fn *encode, *decode;
    void *extra_state;
    unsigned flags;
    char name[];
};
/* NULL: not registered. */
const struct user_filter *user_filter_find(const struct span *name);
/* Find the registered filter of this name, or a plugin's (base/plugin.h); *out NULL: none. */
int filter_resolve(const char *name, const char *dirs, const struct user_filter **out);

#endif
