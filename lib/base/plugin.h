/* plugin.h - finds representations and filters by name, in plugins where need be.
 *
 * Both are looked up alike: first among those that this process knows, then as NAME.so in the
 * directories that the user enabled. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_PLUGIN_H
#define BASE_PLUGIN_H

/* Look up a name among those that the process knows; NULL: unknown. */
typedef const void *plugin_known_fn(const char *name);

/* `known` first; then plugins: first those in `dirs` (absolute paths between colons, NULL:
 * none), then those of drep_plugin_path() and of the environment.  *out NULL: nobody has it.
 * What is there and may not be loaded, or does not register the name, is an error
 * (DREP_ERR_UNSUPPORTED, DREP_ERR_ACCESS, DREP_ERR_IO, DREP_ERR_NOMEM). */
int plugin_find(const char *name, const char *dirs, plugin_known_fn *known, const void **out);

/* Load `file`, a part of this library that is a shared object of its own because it needs others
 * that few programs want.  It is beside the library, or in the directory datarep of the one where
 * the library is: no environment, hint or file says where.  *out: for dlsym(), for the life of the
 * process.  DREP_ERR_UNSUPPORTED: it is not installed; and the errors above. */
int plugin_own(const char *file, void **out);

#endif
