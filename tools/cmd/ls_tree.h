/* ls_tree.h - `datarep ls --tree`: the lines that lead from a group to its members. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_LS_TREE_H
#define TOOLS_CMD_LS_TREE_H

#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/walk/walk.h"
#include <stdbool.h>
#include <stdint.h>

#define LS_TREE_DEPTH 520 /* more than a walk enters */

/* The groups above the object at hand, by their depth. */
struct ls_tree {
    int64_t members[LS_TREE_DEPTH];
    bool last[LS_TREE_DEPTH]; /* the last member of the group above */
};

/* Print what stands in front of the object's name: "│   ├── ".  An unreadable member leaves its
 * neighbour in front without the corner. */
void ls_tree_lead(struct ls_tree *t, struct sink *s, const struct walk_item *item);
/* "(time=12*, lat=90)": names, and '*' where it is unlimited; "(null)". */
void ls_tree_shape(struct sink *s, const struct printer *p, const drep_dsinfo *info);

#endif
