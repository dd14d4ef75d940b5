/* header.h - the header of a classic netCDF file, read for the length that it implies. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_NC_HEADER_H
#define TOOLS_NC_HEADER_H

#include "tools/nc/nc.h"

/* Checks that the `size` bytes at `file` hold all values that their header announces; only the
 * padding behind the last one may lack.  libnetcdf gives zeros for what is behind the end.  Where
 * the header leaves the number of records to the length of the file, as programs do that write a
 * stream, the number is entered into it.  DREP_ERR_TRUNCATE and DREP_ERR_FORMAT name the byte.
 * Bytes of names that libnetcdf does not give are reported.  j->places, for free(), and j->record
 * are set. */
int nc_header_check(struct nc_job *j, uint8_t *file, size_t size);

#endif
