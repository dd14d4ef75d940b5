/* append.h - rows that wait in memory, and datasets that take none. */
/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_APPEND_H
#define WHOLE_APPEND_H

#include "file/file.h"

/* Forget all rows that wait. */
void tails_drop(drep_file *f);
/* All datasets for which an append failed take rows again. */
void appends_go_on(drep_file *f);

#endif
