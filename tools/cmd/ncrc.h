/* ncrc.h - the lines of .ncrc by which netCDF-C loads the library for its programs.
 *
 * netCDF-C 4.10 and later loads, for each of its formats UDF0, UDF1 and so on, a library that two
 * lines of its configuration file name: NETCDF.UDF0.LIBRARY=/path and NETCDF.UDF0.INIT=function.
 * The file may hold credentials: every other byte of it stays, as do its mode and owner. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_NCRC_H
#define TOOLS_CMD_NCRC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* netCDF-C 4.10.0 registers formats from UDF3 on under a wrong flag. */
#define NCRC_SLOTS 3
#define NCRC_INIT "datarep_netcdf_init"

struct ncrc_slot {
    char *library, *init; /* as netCDF-C reads them: the last line counts; NULL: none */
    bool magic;           /* a line NETCDF.UDFn.MAGIC is there */
};

struct ncrc {
    char path[PATH_MAX];
    char *text; /* all bytes of the file, with a NUL behind them */
    size_t size;
    bool there;
    struct ncrc_slot slot[NCRC_SLOTS];
};

/* Finds the file that netCDF-C would read ($NCRCENV_RC, or .ncrc in $NCRCENV_HOME or $HOME) and
 * reads it; one that is not there is empty.  An exit code, after saying. */
int ncrc_load(struct ncrc *rc);
void ncrc_release(struct ncrc *rc);
/* True if the slot's lines are ours, whichever library they name. */
bool ncrc_is_ours(const struct ncrc_slot *slot);
/* True if they name this library. */
bool ncrc_names(const struct ncrc_slot *slot, const char *library);
/* True if no line is about the slot. */
bool ncrc_is_free(const struct ncrc_slot *slot);
/* The slot to use: the first with our lines, else the first that nothing has taken; -1: none. */
int ncrc_choose(const struct ncrc *rc);
/* The text with our lines for this library in the slot, or without ours in any slot (library NULL);
 * malloc'ed, NULL: no memory. */
char *ncrc_edit(const struct ncrc *rc, int slot, const char *library, size_t *size);
/* Puts this text in the place of the file, in one step.  An exit code, after saying. */
int ncrc_save(const struct ncrc *rc, const char *text, size_t size);

#endif
