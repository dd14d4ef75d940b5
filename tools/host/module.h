/* module.h - parts of the command that are shared objects, loaded when they are needed.
 *
 * HDF5 and Cairo are large; only the subcommands that need them pay for loading them. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_MODULE_H
#define TOOLS_HOST_MODULE_H

#include <stddef.h>

/* Loads datarep-NAME.so, which stands beside the command or in its library directory, and
 * whose function datarep_NAME_interface() must answer `interface`.  A handle for dlsym(),
 * or NULL after saying what is wrong. */
void *module_load(const char *name, int interface);
/* Finds a shared object that other programs load where modules are, by the name of its file, and
 * checks it as module_load() does.  `path` gets its absolute path without symbolic links.  0 or a
 * DREP_ERR_... code; fail_text() has the message, without the path if one was found. */
int module_shared(const char *file, char *path, size_t size);
/* A module that is there: the library that it is for, the release of that which it was built with
 * ("" if unknown), and why module_load() would refuse it, or NULL. */
struct module_found {
    const char *name, *library, *release, *refused;
};
/* Call fn for each.  How many there are. */
typedef void module_walk_fn(const struct module_found *m, void *ctx);
int module_walk(module_walk_fn *fn, void *ctx);

#endif
