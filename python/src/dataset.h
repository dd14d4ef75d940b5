/* dataset.h - what the files about datasets share. */
/* SPDX-License-Identifier: MIT */
#ifndef SRC_DATASET_H
#define SRC_DATASET_H

#include "src/core.h"

/* False, with an exception, if the file is closed or the dataset was removed. */
bool dataset_info(dataset_object *self, drep_dsinfo *info);
/* _map(verify): an object with a buffer, which keeps the dataset open (map.c). */
PyObject *dataset_map(PyObject *o, PyObject *verify);
bool mapping_add(PyObject *module);

#endif
