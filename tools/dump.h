/* dump.h - what `dump` shows, in either form. */
#ifndef TOOLS_DUMP_H
#define TOOLS_DUMP_H

#include "print.h"
#include "slice.h"

struct dump {
    const char *file_name;
    drep_file *file;
    drep_header header;
    const char *path;  /* where to begin, "/" for everything */
    const char *slice; /* "[...]" of the dataset at path, or NULL */
    bool header_only;  /* no values of datasets */
    struct printer printer;
    struct sink *sink;
    int status; /* the worst exit code so far */
};

void dump_text(struct dump *d);
void dump_json(struct dump *d);

/* Reports the library's failure at `path` and keeps its exit code. */
void dump_failed(struct dump *d, const char *path, int err);
/* The slice of a dataset of this shape; false after saying what is wrong. */
bool dump_slice(struct dump *d, const char *path, const drep_dsinfo *info, struct slice *out);
/* "shuffle", or "filter 32768". */
void dump_filter_name(struct sink *s, const drep_filter *filter);

#endif
