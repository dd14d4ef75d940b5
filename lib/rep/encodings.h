/* encodings.h - the table form of a representation.
 *
 * Its rows are those of the public interface, so that only files that look into a table include
 * this; all others pass a pointer on. */
/* SPDX-License-Identifier: MIT */
#ifndef REP_ENCODINGS_H
#define REP_ENCODINGS_H

#include <datarep.h>
#include <stdbool.h>

/* A row per predefined code; row[c].size 0: no such type. */
struct rep_table {
    drep_encoding row[DREP_CODE_MAX + 1];
    drep_scalar *custom;
    int ncustom;
    bool structs; /* compounds lie as that machine's C structs (native and native:ABI) */
};

#endif
