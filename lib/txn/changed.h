/* changed.h - the number of the commit that last changed a dataset's elements, in its record. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_CHANGED_H
#define TXN_CHANGED_H

#include "space/store.h"

/* Write the number of the next commit into the record of each marked dataset (tree/touched.h).  A
 * record that has it already, because the shape changed too, is left alone. */
int changed_publish(struct store *st);

#endif
