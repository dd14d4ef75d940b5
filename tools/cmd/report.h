/* report.h - what import and export say of the way things went.
 *
 * On stderr: a line for each cause of losses, and how many more it has, then one that counts; with
 * verbose a line for everything.  In a file, if asked for: everything, as text or as JSON. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_REPORT_H
#define TOOLS_CMD_REPORT_H

#include "tools/h5/interface.h"
#include "tools/text/sink.h"
#include <stdbool.h>

#define REPORT_WORDS 32
/* Causes that stderr names; the file has all. */
#define REPORT_CAUSES 50

struct report {
    const char *src, *dst;
    const char *file; /* of the whole report, "-": stdout, NULL: none */
    bool import, json, verbose, quiet;

    struct sink sink;
    bool open; /* the sink */
    bool failed;
    int64_t count[HDF5_LOST + 1];
    /* Findings by their word, kept and lost ones apart. */
    struct report_word {
        const char *what;
        int64_t kept, lost;
    } words[REPORT_WORDS];
    int nwords;
    /* Losses with the same message but for numbers; the first of each was said. */
    struct report_cause {
        char *path, *message;
        int64_t more;
    } causes[REPORT_CAUSES];
    int ncauses;
};

/* 0, or an exit code after saying that the file cannot be written. */
int report_begin(struct report *r);
void report_add(struct report *r, const struct hdf5_finding *finding);
/* Says why all of it failed. */
void report_fail(struct report *r, const char *message);
/* The counts, and the end of the file; err: how it went.  An exit code. */
int report_end(struct report *r, int err, const struct hdf5_totals *totals);

#endif
