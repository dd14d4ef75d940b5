/* chunked.h - elements of chunked datasets, and whatever selects single elements.
 *
 * One part is what of the selection falls into one chunk.  Parts are independent: reads share them
 * between threads, writes of whole chunks too. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_CHUNKED_H
#define ELEM_CHUNKED_H

#include "elem/transfer.h"

int chunked_read(struct transfer *t);
int chunked_write(struct transfer *t);

#endif
