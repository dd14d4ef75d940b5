/* calls.h - what a file that ranks share does otherwise than that of one process. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_CALLS_H
#define PAR_CALLS_H

#include "par/ranks.h"

/* The file is open on all ranks: from here on it belongs to these, and collective calls may
 * follow. */
void calls_hand_over(drep_file *f, struct ranks *r);

#endif
