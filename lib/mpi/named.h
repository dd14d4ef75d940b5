/* named.h - MPI's predefined datatypes and ours, both ways. */
/* SPDX-License-Identifier: MIT */
#ifndef MPI_NAMED_H
#define MPI_NAMED_H

#include <datarep-mpi.h>

/* Our datatype for a predefined one of MPI, a new reference: a predefined type, or a struct for a
 * pair.  DREP_ERR_TYPE: there is none, or its size differs. */
int named_type(MPI_Datatype named, drep_type **out);
/* MPI's datatype for a code; MPI_DATATYPE_NULL if it has none of equal size. */
MPI_Datatype named_datatype(int code);

#endif
