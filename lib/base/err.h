/* err.h - the error codes, for files that use nothing else of the public interface.
 *
 * They are those of datarep.h, whichever of the two comes first; lib/base/strerror.c holds one
 * against the other.  A file that includes this alone is not compiled anew when datarep.h changes.
 */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#ifndef DREP_ERRORS
#define DREP_ERRORS
enum drep_err {
    DREP_OK = 0,
#define X(name, number, text) DREP_ERR_##name = (number),
#include "format/errors.def"
#undef X
};
#endif

#endif
