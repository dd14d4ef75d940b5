/* decoded.h - writing chunks that are decoded whole: filtered ones, and those with heaps.
 *
 * A chunk that is written whole is encoded at once, by several threads.  Parts of chunks change
 * them in memory, where they wait for more. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_DECODED_H
#define ELEM_DECODED_H

#include "elem/transfer.h"

int decoded_write(struct transfer *t);

#endif
