/* store_opts.h - how tests open a store without a handle. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_STORE_OPTS_H
#define TESTS_STORE_OPTS_H

#include "space/store.h"

/* Small caches, a fixed time; the test names what else it wants, .cache_size and .keep at least. */
#define STORE_OPTS(...)                                                                    \
    {                                                                                      \
        .sync = 1, .verify = 1, .unit = 4096, .chunk_max = 1 << 24, .time = 1, __VA_ARGS__ \
    }

#endif
