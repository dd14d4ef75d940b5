/* upgrade_type.h - a datatype record of draft 4 as one of today. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_UPGRADE_TYPE_H
#define TXN_UPGRADE_TYPE_H

#include "base/buf.h"
#include "format/record.h"

/* Append to `out` what draft 4's value of a TYPE entry is today: integers and bits of more than 16
 * bytes, also under an enum or a boolean, are opaque, under a tag that describes them.  What is
 * malformed stays so, for whoever reads it. */
int upgrade_type(const struct span *old, struct buf *out);

#endif
