/* header.h - messages of object headers, checked before HDF5 reads them. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_HEADER_H
#define TOOLS_H5_HEADER_H

#include "tools/h5/job.h"

/* The properties of a dataset, after making sure that HDF5 reads them without harm.  -1 with
 * j->why if the dataset is damaged; nothing of it is to be read then. */
hid_t dataset_plist(struct job *j, hid_t dset);
/* The object header at a place of a file: its version, 0 if there is none; bytes of its fill
 * value and of an element, UINT64_MAX where it does not say. */
int header_sizes(int fd, uint64_t at, size_t address_size, uint64_t *fill, uint64_t *type);
/* True if all elements of a dataset without chunks are stored; HDF5 takes that for granted. */
int dataset_check_storage(struct job *j, hid_t dset, hid_t dcpl);
/* Bytes of an element as the file has it; 0 if that is not known. */
size_t dataset_element(hid_t dset);

#endif
