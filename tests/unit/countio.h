/* countio.h - a file far away: a read-only driver that counts reads and charges for them.
 *
 * It behaves as an HTTP server with ranges would: no locks, a dear round trip, one request for a
 * whole vector.  Time is counted, not spent. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_COUNTIO_H
#define TESTS_UNIT_COUNTIO_H

#include "io/io.h"

#include <stdbool.h>

#define COUNT_TRIP 1000000 /* what a round trip costs, in bytes: 50 ms at 20 MB/s */

struct count_file {
    uint8_t *p;
    size_t size;
    int64_t reads;  /* ranges that were asked for */
    int64_t trips;  /* read_at() or read_many() */
    int64_t bytes;  /* that were moved */
    double seconds; /* 50 ms for a trip and 20 MB/s */
    size_t first;   /* of the io that count_io() makes */
    uint64_t round_trip;
    bool damage; /* what read_many() reads arrives changed in the middle */
    bool fail;   /* read_many() fails */
};

/* Read a file whole; what HTTP would say of itself. */
void count_init(struct count_file *f, const char *path);
void count_release(struct count_file *f);
void count_reset(struct count_file *f);
/* An io on it; closing it leaves the file. */
struct io *count_io(struct count_file *f);

#endif
