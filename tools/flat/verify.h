/* verify.h - an exported array, read back through the reader that import has. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_VERIFY_H
#define TOOLS_FLAT_VERIFY_H

#include "tools/flat/outlet.h"
#include "tools/flat/source.h"

/* Compares the elements that a source reads with those of a dataset.  raw: in the datatype of
 * the dataset; else in what both can be read as.  An exit code, after naming what differs. */
int flat_verify(const struct extract *extract, struct source *source, bool raw);

#endif
