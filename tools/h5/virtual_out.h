/* virtual_out.h - the mappings of a virtual dataset, restored. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_VIRTUAL_OUT_H
#define TOOLS_H5_VIRTUAL_OUT_H

#include "tools/h5/job.h"
#include "tools/h5/note.h"

/* Gives a new dataset of dataspace `space` the mappings that import has noted, by its creation
 * list.  True if there are any and each source is a plain dataset in a file beside the destination,
 * or below; that it still holds the elements is for the caller to see. */
int virtual_out(struct job *j, const struct notes *r, hid_t space, hid_t dcpl);
/* Opens a source of a restored mapping, if it is such a dataset: an open_source_fn whose ctx is the
 * job. */
hid_t virtual_out_source(void *ctx, const char *name, const char *dataset);

#endif
