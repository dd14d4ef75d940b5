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
/* A module that is there: the library that it is for, the release of that which it was built with
 * ("" if unknown), and why module_load() would refuse it, or NULL. */
struct module_found {
    const char *name, *library, *release, *refused;
};
/* Call fn for each.  How many there are. */
typedef void module_walk_fn(const struct module_found *m, void *ctx);
int module_walk(module_walk_fn *fn, void *ctx);

#endif
