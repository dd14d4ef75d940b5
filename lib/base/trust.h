/* trust.h - shared objects that nobody else could have written.
 *
 * To load code is to trust it.  The library's plugins and the command's modules pass here. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_TRUST_H
#define BASE_TRUST_H

#include <sys/stat.h>
#include <sys/types.h>

/* Open the regular file `base` of a directory, not through a symbolic link, for its code.  It, the
 * directory and all directories above must belong to root, to the effective user or to `owner`,
 * and everybody may write none of them, except a sticky directory above.  So nobody else can
 * replace the file, nor what its path without symbolic links leads to.
 * DREP_ERR_NO_SUCH_FILE, DREP_ERR_ACCESS, DREP_ERR_IO; the message lacks the name. */
int trust_open(int dir, const char *base, uid_t owner, struct stat *st, int *out);

#endif
