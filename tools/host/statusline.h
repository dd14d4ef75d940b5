/* statusline.h - the last line of the terminal, which messages take the place of.
 *
 * progress.h puts its bar there; whatever prints on stderr takes it away first. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_STATUSLINE_H
#define TOOLS_HOST_STATUSLINE_H

/* Replaces the line, in one write. */
void statusline_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Takes it away, if there is one. */
void statusline_hide(void);

#endif
