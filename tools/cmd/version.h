/* version.h - what this command was built of. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_VERSION_H
#define TOOLS_CMD_VERSION_H

/* Prints it; an exit code. */
int version_print(void);

#endif
