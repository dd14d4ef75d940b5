/* complete.h - what a shell may put where the cursor is. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_COMPLETE_H
#define TOOLS_CMD_COMPLETE_H

/* `datarep __complete WORD...`: the words behind "datarep", the last one being completed,
 * perhaps empty.  `datarep __complete --bash REPLACED LINE`: bash's line up to the cursor, with
 * its quotes, and the end of it that readline replaces.  Prints what fits, in the records that
 * complete.c describes; gives an exit code. */
int complete(int argc, char **argv);

#endif
