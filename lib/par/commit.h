/* commit.h - commit and close of a file that several ranks share. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_COMMIT_H
#define PAR_COMMIT_H

#include "file/file.h"

int shared_commit(drep_file *f);
/* Commits what succeeded, and gives what failed on any rank; the caller frees the handle. */
int shared_close(drep_file *f);
/* Make the others' next collective call fail; the caller frees the handle. */
void shared_abandon(drep_file *f, const char *why);

#endif
