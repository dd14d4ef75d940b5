/* dump_state.h - one run of `dump`: what it shows and how, whatever the form. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_DUMP_STATE_H
#define TOOLS_CMD_DUMP_STATE_H

#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/text/operand.h"
#include <datarep.h>

struct dump {
    const char *file_name;
    drep_file *file;
    drep_header header;
    struct operand operand; /* where to begin, "/" for everything */
    bool header_only;       /* no values of datasets */
    int width;              /* columns of a line of text, 0: a row is one line */
    bool lines;             /* JSON: one line an object */
    bool notes;             /* show notes of converters, too */
    bool numbers;           /* times are numbers, not dates */
    const char *as;         /* show bytes as under this representation, NULL: values */
    struct printer printer;
    struct sink *sink;
    int bare; /* text: the kind of the object shown last, a link's negated; 0: lines are under it */
    int status; /* the worst exit code so far */
};

/* Reports the library's failure at `path` and keeps its exit code. */
void dump_failed(struct dump *d, const char *path, int err);
/* What a dataset says of itself.  If all of its elements are to follow, its chunks are looked at
 * too: what is wrong between them shows in none. */
int dump_describe(const struct dump *d, drep_dataset *ds, drep_dsinfo *info);
/* The type that the selected values are read and shown as: the elements', or their member's.  A
 * DREP_ERR_... code. */
int dump_type(const struct printer *p, const drep_dsinfo *info, const struct slice *slice,
              drep_type **out);
/* The slice of a dataset of this shape; false after saying what is wrong. */
bool dump_slice(struct dump *d, const char *path, const drep_dsinfo *info, struct slice *out);

#endif
