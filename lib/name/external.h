/* external.h - external links: where a reading call goes on in another file.
 *
 * Where the path of a call that reads crosses an external link, and the opener allowed it (hint
 * drep_external), the call goes on in the other file (file/linked.h). */
/* SPDX-License-Identifier: MIT */
#ifndef NAME_EXTERNAL_H
#define NAME_EXTERNAL_H

#include "base/handles.h"

/* The handle and the path by which a call goes on; file NULL: in its own file.  Then
 * external_done(), which gives err back. */
struct external_target {
    drep_file *file;
    char *path;
};
int external_target(drep_file *f, const char *path, struct external_target *to);
int external_done(struct external_target *to, int err);

#endif
