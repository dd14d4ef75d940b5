/* netcdf.h - what libnetcdf sees of an HDF5 file that export makes for it.
 *
 * netCDF-4 has integers of 1 to 8 bytes, float and double, text, and user-defined types, which are
 * named datatypes.  Attributes have one dimension, and a variable is as long as its dimensions. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_NETCDF_H
#define TOOLS_H5_NETCDF_H

#include "tools/h5/drain.h"
#include "tools/h5/job.h"
#include "tools/h5/library.h"
#include <datarep.h>

/* The attribute of a named datatype that export made: import makes none of it. */
#define NETCDF_MADE "drep.made"

/* The narrowest format of netCDF that holds the numbers of one of ours, else the widest. */
int netcdf_format(int format);
/* True if libnetcdf reads a file with a named datatype like this one: it opens none with a named
 * number, or with references in a compound or a sequence. */
int netcdf_can_name(hid_t type);
/* Add a datatype that has a name already, and name those in it. */
int netcdf_named(struct job *j, hid_t type);
/* Name the user-defined types in a datatype, the inner ones first; none if it is one that libnetcdf
 * cannot read, which then has no name and is not seen. */
int netcdf_commit(struct job *j, hid_t type);
/* Make the lengths those of the dimensions; *longer: 1 if one was shorter. */
void netcdf_lengths(struct job *j, drep_dsinfo *info, int *longer);
/* What is behind the own elements of a shorter dataset without a fill value. */
void netcdf_fill(hid_t type, hid_t dcpl);
/* An attribute of several dimensions becomes one of one. */
void netcdf_flatten(struct job *j, const char *path, drep_attrinfo *info);
/* An attribute of CHARs becomes one text of as many bytes, NC_CHAR, and a scalar: as an array of
 * texts of one byte each it would be NC_STRING.  file, mem: an element's datatype, which becomes
 * all's. */
int netcdf_join_chars(struct job *j, hid_t file, hid_t mem, drep_attrinfo *info);
/* 0 if libnetcdf can follow this link of a group (its index), else an error, with j->why. */
int netcdf_link(struct job *j, size_t group, const drep_linkinfo *link, const char *source);
void netcdf_release(struct job *j);

#endif
