/* module.h - parts of the command that are shared objects, loaded when they are needed.
 *
 * HDF5 and Cairo are large; only the subcommands that need them pay for loading them. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_MODULE_H
#define TOOLS_HOST_MODULE_H

#include <stdio.h>

/* Loads datarep-NAME.so, which stands beside the command or in its library directory, and
 * whose function datarep_NAME_interface() must answer `interface`.  A handle for dlsym(),
 * or NULL after saying what is wrong. */
void *module_load(const char *name, int interface);
/* The names of those that are there, each after a space; " none". */
void module_list(FILE *out);

#endif
