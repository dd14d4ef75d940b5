/* next.h - the functions of MPI behind those that the front defines, and the engine. */
/* SPDX-License-Identifier: MIT */
#ifndef MPIIO_NEXT_H
#define MPIIO_NEXT_H

#include "mpiio/engine.h"

/* A call of MPI. */
struct next_call {
    const char *symbol; /* "PMPI_..." */
    void *mpi, *pmpi;   /* what its two names lead to behind this library */
    bool tool;          /* the first is a profiler's, which goes on to PMPI_..., that is, to us */
};

/* Fills them in; the process ends with a message if it runs under another MPI than this library is
 * for or under none. */
void next_find(struct next_call *call);
/* A function of MPI by its name; NULL: it has none. */
void *next_symbol(const char *name);
/* A variable of MPI, which may be a copy in the program itself. */
void *next_variable(const char *name);

/* The engine, NULL until it is needed. */
extern const struct mpiio_engine *next_engine;
/* Files that have a view of ours; without the engine there are none. */
extern const int *next_views;
/* Loads it.  NULL, and a message on stderr the first time, if that fails. */
const struct mpiio_engine *next_load(void);

/* Calls of the engine that this thread is in: what it calls meanwhile goes on to MPI. */
extern __thread int next_depth __attribute__((tls_model("initial-exec")));

/* ISO C has no cast from an object's pointer to a function's. */
#define NEXT_AS(type, pointer) \
    (((union {                 \
         void *p;              \
         __typeof__(type) *f;  \
     }){.p = (pointer)})       \
         .f)

#endif
