/* filter.h - the name of a filter, as schemas write it. */
/* SPDX-License-Identifier: MIT */
#ifndef SCHEMA_FILTER_H
#define SCHEMA_FILTER_H

#include <datarep.h>
#include <stddef.h>

#define FILTER_HDF5 "hdf5:" /* begins the name of a filter of HDF5 */
#define FILTER_TEXT 256     /* room for any name: users' have at most 127 bytes */

/* "deflate"; a user's name; "hdf5:1" with HDF5's number, or "hdf5:1?" if HDF5 may leave the filter
 * out; the number alone if nobody here knows it. */
void filter_text(const drep_filter *filter, char text[FILTER_TEXT]);

#endif
