/* diff_say.h - differences as lines, or as JSON.
 *
 * Each function says one difference, and counts it. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_DIFF_SAY_H
#define TOOLS_CMD_DIFF_SAY_H

#include "tools/cmd/diff.h"

/* `path: what: a -> b`; a or b NULL: only the other side has it. */
void diff_say(struct diff *d, const char *path, const char *what, const char *a, const char *b);
/* Values at the path; attribute: its name, NULL: the elements of a dataset.  slice: where
 * elements stand. */
void diff_say_values(struct diff *d, const char *path, const char *attribute,
                     const struct slice *slice, const struct diff_values *values);
/* One of the elements that differ: called before diff_say_values(). */
void diff_list_value(struct diff *d, const char *path, const struct slice *slice, int64_t at,
                     const struct difference *gap);
/* Begins and ends the output; an exit code. */
int diff_begin(struct diff *d);
int diff_end(struct diff *d);
/* A value as text, malloc'ed; NULL without memory. */
char *diff_text(const struct printer *p, const drep_type *type, const void *at);
/* An object that cannot be read on one side. */
void diff_failed(struct diff *d, const struct diff_side *side, const char *path, int err);

#endif
