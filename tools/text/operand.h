/* operand.h - PATH[SLICE].MEMBER, as it stands on a command line. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_OPERAND_H
#define TOOLS_TEXT_OPERAND_H

#include "tools/walk/slice.h"

struct operand {
    char *path;   /* from the root, no slash at its end */
    char *slice;  /* "[...]" or "[...].member", or NULL */
    bool members; /* the command shows single members: else they are refused */
    char *
        indices; /* the selection in indices, once it was found by values (by_value.h); else NULL */
};

/* "a/b/[0]" -> "/a/b", "[0]".  A name may itself contain "]": an object that is there wins.
 * NULL is the root.  0 or DREP_ERR_NOMEM. */
int operand_init(struct operand *out, drep_file *file, const char *text);
void operand_release(struct operand *operand);

/* Reports that there is no such object, and the one that may have been meant; another
 * error as tool_fail() does.  Gives the exit code. */
int operand_missing(const char *file_name, drep_file *file, const char *path, int err);

/* Find out which elements of the dataset are meant: the one gate of all selections on a command
 * line.  info: of the dataset.  The slice lives as long as the operand.  0, or an exit code after
 * saying what is wrong. */
int operand_slice(struct operand *operand, const char *file_name, drep_file *file,
                  const drep_dsinfo *info, struct slice *slice);
/* Opens the dataset that was named and finds out which of its elements.  Likewise. */
int operand_open(struct operand *operand, const char *file_name, drep_file *file,
                 drep_dataset **dataset, drep_dsinfo *info, struct slice *slice);

#endif
