/* elements.h - memory for elements that may hold pointers. */
/* SPDX-License-Identifier: MIT */
#ifndef SRC_ELEMENTS_H
#define SRC_ELEMENTS_H

#include "src/core.h"

/* Memory for elements of a type (NULL: of unknown type, without pointers).  Elements of variable
 * length are in an Elements object of that type alone; `writable` says that the library will fill
 * it with pointers that it allocates.  Every other type takes any buffer, but one of MPI whose
 * elements begin before their place takes none.  memory_release() ends it; false: an exception. */
bool elements_get(PyObject *o, const drep_type *t, bool writable, memory *m);
bool elements_add(PyObject *module);

#endif
