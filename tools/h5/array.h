/* array.h - a conversion of arrays in place of libhdf5's, which loses strings and sequences. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_ARRAY_H
#define TOOLS_H5_ARRAY_H

/* Registers it; -1 on failure. */
int array_conversion_begin(void);
void array_conversion_end(void);

#endif
