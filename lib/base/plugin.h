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

#endif
