/* filter.h - filters that programs and plugins registered; inside the store only. */
#ifndef CHUNK_FILTER_H
#define CHUNK_FILTER_H

#include "txn/store.h"

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

#endif
