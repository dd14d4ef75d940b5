/* layout.h - how datasets are stored: layout, chunks, filters, in both worlds. */
#ifndef TOOLS_H5_LAYOUT_H
#define TOOLS_H5_LAYOUT_H

#include "tools/h5/source.h"

/* In: the filters and the layout that a dataset's become; chunk has room for the rank. */
int filters_in(struct job *j, const char *path, const struct source *s, drep_filter *filters,
               int *n);
void layout_in(struct job *j, const char *path, const struct source *s, drep_spec *spec,
               int64_t *chunk);
/* Lines about what export would do otherwise than the source. */
int store_remarks(struct job *j, const drep_dsinfo *info, const struct source *s,
                  struct remarks *r);
/* The same of a scale without a variable, whose chunks netCDF makes this long. */
#define STORE_BARE_CHUNK 1
int store_remarks_bare(struct job *j, hid_t dset, const struct object *o, struct remarks *r);
int store_defaults_write(struct job *j, struct remarks *r);
/* Out: sets the properties of a dataset of this datatype. */
int store_out(struct job *j, const char *path, const drep_dsinfo *info, hid_t type,
              const struct remarks *r, hid_t dcpl);
void store_defaults_read(struct job *j, const struct remarks *r);
void store_times_out(struct job *j, const struct remarks *r, hid_t dcpl);

#endif
