/* stop.h - a clean end when the user, or the system, asks for it.
 *
 * A command that makes a file catches SIGINT, SIGTERM and SIGHUP, looks now and then
 * whether one came, takes back what is not whole and ends as that signal would have ended
 * it.  A second one of a kind ends it at once, and what is not whole is removed all the same;
 * what is committed stays in any case. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_STOP_H
#define TOOLS_HOST_STOP_H

/* From now on.  Signals that are ignored stay so. */
void stop_catch(void);
/* The signal that came, 0: none. */
int stop_asked(void);
/* As if that signal had come: a child that it was sent to has ended. */
void stop_note(int number);
/* Ends the process by that signal, if one came. */
void stop_now(void);

#endif
