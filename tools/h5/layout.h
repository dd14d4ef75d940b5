/* layout.h - how datasets are stored: layout, chunks, filters, in both worlds. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_LAYOUT_H
#define TOOLS_H5_LAYOUT_H

#include "tools/h5/source.h"
#include <datarep.h>

/* In: the filters and the layout that a dataset's become; chunk has room for the rank. */
int filters_in(struct job *j, const char *path, const struct h5_source *s, drep_filter *filters,
               int *n);
void layout_in(struct job *j, const char *path, const struct h5_source *s, drep_spec *spec,
               int64_t *chunk);
/* Lines about what export would do otherwise than the source. */
int layout_notes(struct job *j, const drep_dsinfo *info, const struct h5_source *s,
                 struct notes *r);
/* Like layout_notes(), for a scale without a variable, whose chunks netCDF makes this long. */
#define LAYOUT_BARE_CHUNK 1
int layout_notes_bare(struct job *j, hid_t dset, const struct h5_object *o, struct notes *r);
int layout_defaults_write(struct job *j, struct notes *r);
/* Out: sets the properties of a dataset of this datatype. */
int layout_out(struct job *j, const char *path, const drep_dsinfo *info, hid_t type,
               const struct notes *r, hid_t dcpl);
/* Makes it with them. */
hid_t layout_create(struct job *j, const char *path, hid_t type, hid_t space, hid_t lcpl,
                    hid_t dcpl);
void layout_defaults_read(struct job *j, const struct notes *r);
void layout_times_out(struct job *j, const struct notes *r, hid_t dcpl);

#endif
