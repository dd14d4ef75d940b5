/* changed.h - the records of datasets say which commit changed their elements last. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_CHANGED_H
#define TXN_CHANGED_H

#include "space/store.h"

/* Note the number of the next commit in the record of each dataset that is marked (tree/touched.h).
 * A record that says so already, as that of a dataset whose shape changed, stays as it is. */
int changed_publish(struct store *st);

#endif
