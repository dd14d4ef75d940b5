/* reload.h - a reader moves to another commit: header and datasets. */
/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_RELOAD_H
#define WHOLE_RELOAD_H

#include "file/file.h"

/* Reload header and datasets from the commit that the store moved to.  They are reloaded beside
 * those in force and exchanged at last, so that a failure leaves the handle as it was. */
int file_reload(drep_file *f);

#endif
