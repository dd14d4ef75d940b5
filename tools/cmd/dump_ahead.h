/* dump_ahead.h - objects of a dump, several at a time, in their order. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_DUMP_AHEAD_H
#define TOOLS_CMD_DUMP_AHEAD_H

#include "tools/cmd/dump_state.h"
#include "tools/walk/walk.h"

/* Objects, several at a time: put() prints each into the sink that it is given; what they
 * printed comes in their order, with a line between.  ahead_add() and ahead_flush() give 0,
 * the sink's error, or -1 when there is no memory. */
typedef void dump_object_fn(struct dump *d, const struct walk_item *item);
struct ahead *ahead_new(struct dump *d, dump_object_fn *put); /* NULL: no memory */
int ahead_add(struct ahead *a, const struct walk_item *item);
int ahead_flush(struct ahead *a);
void ahead_free(struct ahead *a);

#endif
