/* repair.h - drep_repair() on bytes of any kind: for tests. */
/* SPDX-License-Identifier: MIT */
#ifndef API_REPAIR_H
#define API_REPAIR_H

#include "base/handles.h"
#include "io/io.h"

/* io belongs to the call. */
int repair_on(struct io *io, const char *new_path, int amode, const drep_info *info,
              drep_finding_fn *fn, void *ctx, int64_t *findings);

#endif
