/* handles.h - names of the public interface, for files that only pass on what they name.
 *
 * Like err.h, which it includes, it says again what datarep.h says, whichever of the two comes
 * first; lib/base/strerror.c includes both, and the compiler holds one against the other.  A file
 * that includes this alone is not compiled anew when datarep.h changes. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_HANDLES_H
#define BASE_HANDLES_H

#include "base/err.h"

#include <stdint.h>

#define DREP_MAX_RANK 32

typedef struct drep_file drep_file;
typedef struct drep_dataset drep_dataset;
typedef struct drep_type drep_type;
typedef struct drep_info drep_info;

typedef struct drep_cursor drep_cursor;
typedef struct drep_dsinfo drep_dsinfo;
typedef struct drep_encoding drep_encoding;
typedef struct drep_filter drep_filter;
typedef struct drep_ref drep_ref;
typedef struct drep_report drep_report;
typedef struct drep_run drep_run;
typedef struct drep_scalar drep_scalar;
typedef struct drep_selection drep_selection;
typedef struct drep_spec drep_spec;
typedef struct drep_usage drep_usage;
typedef struct drep_vlen drep_vlen;
typedef struct drep_xfer drep_xfer;

typedef int drep_conversion_fn(void *userbuf, const drep_type *datatype, int64_t count,
                               void *filebuf, int64_t position, void *extra_state);
typedef int drep_extent_fn(const drep_type *datatype, int64_t *file_extent, void *extra_state);
typedef int drep_finding_fn(int err, uint64_t offset, const char *message, void *ctx);

#endif
