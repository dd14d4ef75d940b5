/* view_data.h - the files that `datarep view` shows: local ones by a descriptor, others by URL. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_VIEW_DATA_H
#define TOOLS_CMD_VIEW_DATA_H

#include "tools/text/sink.h"
#include "tools/view/view.h"

/* Opens a file as the server reads it, and keeps its commit readable until the end.  0, or an exit
 * code after saying. */
int view_data_open(struct view_data *data, const char *name);
void view_data_close(struct view_data *data);
/* The name for the page: the last part of the path, without what a URL has behind it. */
const char *view_data_name(const char *name);
/* Prints file `number` of files.json, which the page reads first: its name, where its bytes are,
 * and the object that is shown first (path; NULL: the root).  The caller prints "]\n" behind the
 * last one. */
void view_data_list(struct sink *s, int number, const char *name, const char *url,
                    const char *path);

#endif
