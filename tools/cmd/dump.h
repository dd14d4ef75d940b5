/* dump.h - what `dump` shows, in every form. */
#ifndef TOOLS_CMD_DUMP_H
#define TOOLS_CMD_DUMP_H

#include "tools/text/printer.h"
#include "tools/walk/operand.h"
#include "tools/walk/walk.h"

struct dump {
    const char *file_name;
    drep_file *file;
    drep_header header;
    struct operand operand; /* where to begin, "/" for everything */
    bool header_only;       /* no values of datasets */
    int width;              /* columns of a line of text, 0: a row is one line */
    bool lines;             /* JSON: one line an object */
    const char *as;         /* show bytes as under this representation, NULL: values */
    struct printer printer;
    struct sink *sink;
    int status; /* the worst exit code so far */
};

void dump_text(struct dump *d);
void dump_json(struct dump *d);
/* A line an object; of one dataset, unless only its header is asked for, a line an entry
 * of its first dimension. */
void dump_jsonl(struct dump *d);
/* The bytes of one dataset's elements, as under d->as. */
void dump_raw(struct dump *d);
/* A schema that makes the file again. */
void dump_yaml(struct dump *d);

/* Reports the library's failure at `path` and keeps its exit code. */
void dump_failed(struct dump *d, const char *path, int err);
/* The slice of a dataset of this shape; false after saying what is wrong. */
bool dump_slice(struct dump *d, const char *path, const drep_dsinfo *info, struct slice *out);
/* "shuffle", or "filter 32768". */
void dump_filter_name(struct sink *s, const drep_filter *filter);

/* Objects, several at a time: put() prints each into the sink that it is given; what they
 * printed comes in their order, with a line between.  ahead_add() and ahead_flush() give 0,
 * the sink's error, or -1 when there is no memory. */
typedef void dump_object_fn(struct dump *d, const struct walk_item *item);
struct ahead *ahead_new(struct dump *d, dump_object_fn *put); /* NULL: no memory */
int ahead_add(struct ahead *a, const struct walk_item *item);
int ahead_flush(struct ahead *a);
void ahead_free(struct ahead *a);

/* One element a line, its bytes as under d->as beside its value.  False, with nothing
 * printed, if elements of this type have no bytes of their own there. */
bool dump_bytes(struct dump *d, const char *path, drep_dataset *ds, const drep_dsinfo *info,
                const struct slice *slice);

#endif
