/* scale.h - dimension scales of HDF5 and netCDF-4. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_SCALE_H
#define TOOLS_H5_SCALE_H

#include "tools/h5/interface.h"
#include "tools/h5/note.h"
#include "tools/h5/source.h"

/* The attributes by which HDF5 files say what is a dimension ("HDF5 Dimension Scale
 * Specification"), and by which we keep what a dimension object has no field for. */
#define SCALE_CLASS "CLASS"
#define SCALE_USERS "REFERENCE_LIST"
#define SCALE_LIST "DIMENSION_LIST"
#define SCALE_VALUE "DIMENSION_SCALE"
/* Bytes of the NAME of a scale that is a dimension only. */
#define SCALE_NO_VARIABLE_SIZE 64
/* How the names of netCDF's own attributes begin. */
#define NETCDF_OWN "_Netcdf4"
/* netCDF-4's prefix for the name of a dataset that has the name of a dimension without being its
 * coordinates. */
#define NETCDF_NON_COORD "_nc4_non_coord_"
/* Attribute of a dimension: the length of its HDF5 scale where that is less than the dimension's.
 */
#define DIM_SCALE_LENGTH "scale_length"

/* One use of a scale, as REFERENCE_LIST has it, and the datatype of that. */
struct scale_user {
    hobj_ref_t dataset;
    int dimension;
};
/* HDF5 1.14 made the number of the dimension unsigned. */
hid_t scale_user_type(int is_unsigned);
/* The datatype of a scale without values, if it is not netCDF's own: a note of its dimension. */
#define SCALE_TYPE_NOTE "scale-type"
int scale_note_type(struct job *j, hid_t dset, struct notes *r);
hid_t scale_type(const struct notes *r);
int scale_note(struct job *j, struct h5_object *o);
/* True if the member of a group is a scale that names a length and has no values. */
int scale_only(struct job *j, hid_t group, const char *name);
void scale_find_uses(struct job *j);
/* The objects behind a dataset's DIMENSION_LIST; false if it has none to speak of, or one
 * that does not fit and is kept as an attribute instead. */
int scale_find(struct job *j, const struct h5_source *s, struct h5_object **scales);
/* 1 if the export makes the attribute again by itself. */
int scale_implies(struct job *j, hid_t object, const struct h5_object *o, const char *name);
/* Write the properties of a dimension object besides its length. */
int scale_mark(struct job *j, hid_t object, const struct h5_object *o);

#endif
