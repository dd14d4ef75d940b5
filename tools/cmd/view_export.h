/* view_export.h - the page and files as a folder for a web server. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_VIEW_EXPORT_H
#define TOOLS_CMD_VIEW_EXPORT_H

/* Makes `folder`, which must not be there or be empty, with the page, copies of local files, and
 * the list of them and of URLs, which the page then reads from where they are.  An exit code. */
int view_export(const char *folder, const char *page, char **files);

#endif
