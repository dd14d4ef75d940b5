/* pin.h - a virtual import: chunks stay in the HDF5 file, and the container names their bytes. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_PIN_H
#define TOOLS_H5_PIN_H

#include "tools/h5/source.h"
#include "tools/walk/box.h"
#include <datarep.h>

/* Names the source in the new container: it must lie in or below the container's directory. */
int pin_begin(struct job *j);
/* HDF5 has opened the source: where its addresses begin. */
void pin_opened(struct job *j);
/* True if elements of a dataset without chunks may stay: there are enough of them to be worth it.
 */
int pin_wanted(const struct job *j, const struct h5_source *s);
/* The chunks of such a dataset, each one stretch of bytes of the source. */
void pin_layout(const struct job *j, const struct h5_source *s, int64_t element, drep_spec *spec,
                int64_t *chunk);
/* True if so many bytes are worth it. */
int pin_worth(const struct job *j, hsize_t bytes);
/* Elements of the longest stretch that is one chunk. */
int64_t pin_stretch(int64_t element);
/* Names the file of a dataset that a virtual one takes elements from; false: it is not below the
 * container's directory, or cannot be named. */
int pin_source(struct job *j, hid_t dset, struct pin_file *out);
/* Makes `size` bytes at `address` of a file, which are the same as `bytes`, the chunk at `start`.
 * bytes NULL: the address is taken on trust.  *done 0: the file does not hold them there, or chunks
 * have as many of its bytes as they may. */
int pin_chunk(struct job *j, const struct pin_file *file, drep_dataset *ds, const int64_t *start,
              uint64_t address, const void *bytes, size_t size, uint32_t skipped, unsigned flags,
              int *done);

#endif
