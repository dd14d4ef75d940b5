/* handle.h - the handles that callers have open.
 *
 * Every open file, dataset and view, and every selection and list of hints, stands in one table of
 * the process.  A call looks its
 * handle up before it reads a byte of it, so a closed handle is an error and no access to
 * freed memory.  Only an address that a new handle of the same kind has taken over cannot
 * be told from the old one. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_HANDLE_H
#define BASE_HANDLE_H

#include <stdbool.h>

enum handle_kind {
    HANDLE_FILE = 1,
    HANDLE_DATASET = 2,
    HANDLE_VIEW = 3,
    HANDLE_SELECTION = 4,
    HANDLE_INFO = 5
};

/* DREP_ERR_NOMEM. */
int handle_add(const void *handle, enum handle_kind kind);
/* False, and nothing is done, if the handle is not in the table. */
bool handle_remove(const void *handle, enum handle_kind kind);
/* True if the handle is open. Takes no lock. */
bool handle_is(const void *handle, enum handle_kind kind);

#endif
