/* pin.h - a virtual import: chunks stay in the HDF5 file, and the container names their bytes. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_PIN_H
#define TOOLS_H5_PIN_H

#include "tools/h5/source.h"
#include "tools/walk/box.h"

/* Names the source in the new container: it must lie in or below the container's directory. */
int pin_begin(struct job *j);
/* HDF5 has opened the source: where its addresses begin. */
void pin_opened(struct job *j);
/* True if elements of a dataset without chunks may stay: there are enough of them to be worth it.
 */
int pin_wanted(const struct job *j, const struct h5_source *s);
/* The chunks of such a dataset, each one stretch of bytes of the source. */
void pin_layout(const struct h5_source *s, int64_t element, drep_spec *spec, int64_t *chunk);
/* Makes `size` bytes at `address` of the source, which are the same as `bytes`, the chunk at
 * `start`.  *done 0: the source does not hold them there. */
int pin_chunk(struct job *j, drep_dataset *ds, const int64_t *start, uint64_t address,
              const void *bytes, size_t size, uint32_t skipped, int *done);

#endif
