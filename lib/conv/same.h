/* same.h - whether stored elements and those of memory are the same bytes. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_SAME_H
#define CONV_SAME_H

#include "conv/conv.h"

/* True if a conversion would copy: every item lies at the same place, and has the same encoding, on
 * both sides.  False also where that would take too long to find out.  `c` is of a conversion that
 * reads. */
bool conv_is_same(const struct conv *c);

#endif
