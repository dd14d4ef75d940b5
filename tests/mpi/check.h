/* check.h - test programs of several ranks: rank 0 reports each case in TAP. */
/* SPDX-License-Identifier: MIT */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include <datarep-mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int check_rank, check_ranks, check_failures, check_cases;

/* Complain on this rank; the case fails. */
#define CHECK(is, ...)                                                    \
    do {                                                                  \
        if (!(is)) {                                                      \
            printf("# rank %d, %s:%d: ", check_rank, __FILE__, __LINE__); \
            printf(__VA_ARGS__);                                          \
            printf("\n");                                                 \
            fflush(stdout);                                               \
            check_failures++;                                             \
        }                                                                 \
    } while (0)
/* A call that succeeds. */
#define OK(call)                                                   \
    do {                                                           \
        int ok_ = (call);                                          \
        CHECK(!ok_, "%s: error %d: %s", #call, ok_, drep_error()); \
    } while (0)
/* A call that fails with this code and a message that contains the text. */
#define FAILS(call, code, text)                                                                \
    do {                                                                                       \
        int got_ = (call);                                                                     \
        CHECK(got_ == (code) && strstr(drep_error(), text), "%s: %d, not %d: %s", #call, got_, \
              (int)(code), drep_error());                                                      \
    } while (0)

/* `level`: of threads, 0 to 3, the names of MPI in their order. */
static inline void check_begin_with(int *argc, char ***argv, int level)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                 MPI_THREAD_MULTIPLE};
    int provided;

    MPI_Init_thread(argc, argv, levels[level], &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
}

static inline void check_begin(int *argc, char ***argv)
{
    check_begin_with(argc, argv, 0);
}

/* A barrier that leaves the processors to ranks which still work: MPIs wait without a pause. */
static inline void check_meet(MPI_Comm comm)
{
    MPI_Request all;
    int met = 0;

    MPI_Ibarrier(comm, &all);
    for (MPI_Test(&all, &met, MPI_STATUS_IGNORE); !met; MPI_Test(&all, &met, MPI_STATUS_IGNORE))
        usleep(200);
}

/* All ranks end a case. */
static inline void check_case(const char *name)
{
    int all = 0;

    fflush(stdout);
    MPI_Allreduce(&check_failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_failures = 0;
    check_cases++;
    if (!check_rank)
        printf("%sok %d - %s\n", all ? "not " : "", check_cases, name);
    fflush(stdout);
}

static inline int check_end(void)
{
    if (!check_rank)
        printf("1..%d\n", check_cases);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

#endif
