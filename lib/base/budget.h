/* budget.h - memory that two caches share: the one that needs it has it.
 *
 * Each cache counts what it holds, and takes what the other leaves of `most`.  Both counts are read
 * without a lock: a cache may exceed its share by what another thread is just taking. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include <stdint.h>

struct budget {
    uint64_t most;
    _Atomic uint64_t nodes, chunks;
};

#endif
