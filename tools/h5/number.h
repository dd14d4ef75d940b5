/* number.h - HDF5's datatypes of numbers, whole or as the text of a note. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_NUMBER_H
#define TOOLS_H5_NUMBER_H

#include "tools/h5/library.h"
#include <datarep.h>
#include <stddef.h>

/* A datatype that a note describes whole ("time size=4 ..."); 0 if it cannot be. */
hid_t number_type_from_text(const char *text);
/* The text for it; buf has at least 200 bytes. */
void number_type_to_text(hid_t type, char *buf, size_t size);
/* Likewise the tag of an opaque that holds such a number's bytes:
 * "hdf5:integer,little,signed=1,precision=256,offset=0".  It goes wherever the datatype goes: into
 * members, sequences, attributes, copies.  0: another tag, or NULL. */
enum { NUMBER_TAG_SIZE = 300 };
hid_t number_type_from_tag(const char *tag, size_t size);
void number_type_to_tag(hid_t type, char tag[NUMBER_TAG_SIZE]);
/* An integer of HDF5. */
hid_t number_type_int(size_t size, int is_signed, H5T_order_t order);
/* A real of one of our formats, a number of ours; 0 where HDF5 cannot say it. */
hid_t real_for(int format, size_t size, int order);
hid_t scalar_for(const drep_scalar *s);
/* True if scalar_for() gives a real that does not reach as far: one of base 16, which HDF5 cannot
 * say, with an exponent that no binary128 has. */
bool scalar_beyond(const drep_scalar *s);

#endif
