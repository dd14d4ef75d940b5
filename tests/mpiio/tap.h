/* tap.h - programs of several ranks that know MPI alone: rank 0 reports each case in TAP. */
/* SPDX-License-Identifier: MIT */
#ifndef MPIIO_TAP_H
#define MPIIO_TAP_H

#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int tap_rank, tap_ranks, tap_failures, tap_cases, tap_bad;

#define CHECK(is, ...)                                                  \
    do {                                                                \
        if (!(is)) {                                                    \
            printf("# rank %d, %s:%d: ", tap_rank, __FILE__, __LINE__); \
            printf(__VA_ARGS__);                                        \
            printf("\n");                                               \
            fflush(stdout);                                             \
            tap_failures++;                                             \
        }                                                               \
    } while (0)
#define EQUAL(a, b)                                                   \
    do {                                                              \
        long long a_ = (long long)(a), b_ = (long long)(b);           \
        CHECK(a_ == b_, "%s is %lld, not %s = %lld", #a, a_, #b, b_); \
    } while (0)
#define OK(call) CLASS(call, MPI_SUCCESS)
/* A call that gives an error of this class. */
#define CLASS(call, wanted)                                                                      \
    do {                                                                                         \
        int is_ = tap_class(call);                                                               \
        CHECK(is_ == (wanted), "%s: class %d, not %s = %d", #call, is_, #wanted, (int)(wanted)); \
    } while (0)

static inline int tap_class(int err)
{
    int class = 0;

    MPI_Error_class(err, &class);
    return class;
}

/* Calls of this process that libdatarep-mpiio has worked for, -1: it is not there. */
static inline long tap_calls(void)
{
    union {
        void *p;
        long (*f)(void);
    } calls = {.p = dlsym(RTLD_DEFAULT, "datarep_mpiio_calls")};

    return calls.p ? calls.f() : -1;
}

static inline void tap_case(const char *name)
{
    int all = 0;

    fflush(stdout);
    MPI_Allreduce(&tap_failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    tap_failures = 0;
    tap_cases++;
    tap_bad |= all > 0;
    if (!tap_rank)
        printf("%sok %d - %s\n", all ? "not " : "", tap_cases, name);
    fflush(stdout);
}

static inline void tap_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &tap_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &tap_ranks);
}

static inline int tap_end(void)
{
    if (!tap_rank)
        printf("1..%d\n", tap_cases);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

#endif
