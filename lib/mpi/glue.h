/* glue.h - what every call of this library begins with, and its messages.
 *
 * This library is outside the core: it uses <datarep.h>, <datarep-team.h> and <mpi.h>. */
/* SPDX-License-Identifier: MIT */
#ifndef MPI_GLUE_H
#define MPI_GLUE_H

#include <datarep-mpi.h>

#include <stdbool.h>
#include <stdint.h>

/* Set the message and return err. */
int glue_fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));
/* Turn a result of MPI into one of ours: that of its class, else DREP_ERR_IO, with `what` and MPI's
 * text as the message. */
int glue_mpi(int result, const char *what) __attribute__((warn_unused_result));
/* 0 if the MPI that runs is the one that this library was compiled for, is initialised and not
 * finalised, and this process and thread may call it; else DREP_ERR_UNSUPPORTED_OPERATION. */
int glue_ready(const char *call);
/* True in a child of the process that initialised MPI, which must not call it in any way. */
bool glue_in_child(void);

/* Memory of this library: n items of `size` bytes, at least one.  NULL with the message set. */
void *glue_alloc(uint64_t n, size_t size) __attribute__((warn_unused_result));

#endif
