/* transport.h - messages between ranks over MPI, point to point.
 *
 * Messages travel on a communicator of our own, so that no receive of the program takes one.  All
 * waiting is in transport_receive() and transport_flush(), which poll until a deadline; nothing
 * else waits for another rank, except transport_new() in making the communicator, with the same
 * timeout. */
/* SPDX-License-Identifier: MIT */
#ifndef MPI_TRANSPORT_H
#define MPI_TRANSPORT_H

#include <datarep-team.h>
#include <mpi.h>

struct transport;

/* Collective over `comm`.  timeout_ns 0: wait for ever; of `info`, rank 0's hint for MPI-IO counts.
 * DREP_ERR_ARG (no intracommunicator), DREP_ERR_TIMEOUT, DREP_ERR_NOMEM, DREP_ERR_IO. */
int transport_new(const char *call, MPI_Comm comm, int64_t timeout_ns, const drep_info *info,
                  struct transport **out);
/* The functions for drep_team_create(), with the rank and the number of ranks; ctx is the
 * transport. */
void transport_fill(const struct transport *t, drep_transport *out);

/* As drep_transport has them. */
int transport_send(void *ctx, int to, drep_message *message);
int transport_receive(void *ctx, drep_message **message, int64_t deadline_ns);
int transport_flush(void *ctx, int64_t deadline_ns);
void transport_release(void *ctx, int gave_up);
int transport_payload(void *ctx, const char *path, int amode, const drep_info *info,
                      drep_driver *driver, void **state);

#endif
