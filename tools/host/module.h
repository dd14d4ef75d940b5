/* module.h - parts of the command that are shared objects, loaded when they are needed.
 *
 * HDF5 and Cairo are large; only the subcommands that need them pay for loading them. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_MODULE_H
#define TOOLS_HOST_MODULE_H

/* Loads datarep-NAME.so, which stands beside the command or in its library directory, and
 * whose function datarep_NAME_interface() must answer `interface`.  A handle for dlsym(),
 * or NULL after saying what is wrong. */
void *module_load(const char *name, int interface);
/* Call fn for each module that is there, with the library that it is for and the release of that
 * library that it was built with ("" if unknown).  How many there are. */
typedef void module_walk_fn(const char *name, const char *library, const char *release, void *ctx);
int module_walk(module_walk_fn *fn, void *ctx);

#endif
