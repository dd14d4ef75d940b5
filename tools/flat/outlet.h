/* outlet.h - what the exports that are not HDF5 have in common. */
#ifndef TOOLS_FLAT_OUTLET_H
#define TOOLS_FLAT_OUTLET_H

#include "tools/flat/flat.h"
#include "tools/flat/source.h"
#include "tools/text/printer.h"
#include "tools/walk/blocks.h"
#include <sys/types.h>

struct outlet {
    const struct flat *f;
    const struct exchange *x;
    const char *name; /* of the container, for messages */
    drep_file *file;
    bool left_out;      /* something could not be carried over, and that was said */
    uint64_t sum, size; /* of the table that was written */
};

/* Functions give an exit code after saying what is wrong; this one: what was asked for has
 * no place in the other format, and the rest may go on. */
enum { OUTLET_NONE = 100 };

/* So many elements are written.  0, or an exit code when a signal asks for an end. */
int outlet_advance(uint64_t elements);

/* A dataset as the bytes of a .npy file. */
struct npy_out;
int npy_out_open(struct npy_out **out, const struct outlet *outlet, const char *path,
                 drep_dataset *dataset, const drep_dsinfo *info, const struct slice *slice);
/* The next bytes, 0 at the end, -1 with an exit code in *status after saying what is wrong. */
ssize_t npy_out_read(struct npy_out *n, void *buf, size_t size, int *status);
/* Gives how many values were rounded. */
int64_t npy_out_close(struct npy_out *n);

/* Compares the elements that a source reads with those of a dataset.  raw: in the datatype of
 * the dataset; else in what both can be read as.  An exit code, after naming what differs. */
int flat_verify(const struct outlet *outlet, const char *path, drep_dataset *dataset,
                const drep_dsinfo *info, const struct slice *slice, struct source *source,
                bool raw);

/* A dataset as a table, or the datasets of a group as its columns. */
int csv_out(struct outlet *outlet, const char *path, drep_dataset *dataset, const drep_dsinfo *info,
            const struct slice *slice, int fd);
int csv_out_group(struct outlet *outlet, const char *path, int fd);

/* A dataset as bare elements, into a file of that name or, in records, that descriptor.
 * Reads it back if `verify`. */
int raw_out(struct outlet *outlet, const char *path, drep_dataset *dataset, const drep_dsinfo *info,
            const struct slice *slice, const char *name, int fd, bool verify);

#endif
