/* ls_tree.c - `datarep ls --tree`: the lines that lead from a group to its members. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/ls_tree.h"
#include <string.h>

void ls_tree_lead(struct ls_tree *t, struct sink *s, const struct walk_item *item)
{
    int depth = item->depth < LS_TREE_DEPTH ? item->depth : LS_TREE_DEPTH - 1;

    if (!item->link && item->info.kind == DREP_OBJ_GROUP)
        t->members[depth] = item->info.members;
    if (depth == 0)
        return;
    t->last[depth] = item->index + 1 >= t->members[depth - 1];
    for (int k = 1; k < depth; k++)
        sink_text(s, t->last[k] ? "    " : "│   ");
    sink_text(s, t->last[depth] ? "└── " : "├── ");
}

void ls_tree_shape(struct sink *s, const struct printer *p, const drep_dsinfo *info)
{
    const char *path;

    if (info->rank == DREP_NULL_SPACE) {
        sink_text(s, "(null)");
        return;
    }
    sink_char(s, '(');
    for (int d = 0; d < info->rank; d++) {
        path = info->dim_ids[d] ? printer_path(p, info->dim_ids[d]) : NULL;
        sink_text(s, d ? ", " : "");
        if (path) {
            sink_name(s, strchr(strrchr(path, '/'), '#') + 1);
            sink_char(s, '=');
        }
        sink_i64(s, info->dims[d]);
        sink_text(s, info->maxdims[d] == DREP_UNLIMITED ? "*" : "");
    }
    sink_char(s, ')');
}
