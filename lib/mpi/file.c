/* file.c - files that the ranks of a communicator share. */
/* SPDX-License-Identifier: MIT */
#include "mpi/glue.h"
#include "mpi/transport.h"

#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MAX = 1000000000 }; /* seconds: 31 years */

/* The hint drep_mpi_timeout in nanoseconds.  A value that is no number of seconds is ignored, as
 * with every hint. */
static int64_t timeout_of(const drep_info *info)
{
    const char *text = info ? drep_info_get(info, "drep_mpi_timeout") : NULL;
    size_t digits = text ? strspn(text, "0123456789") : 0;

    if (!digits || text[digits] || digits > 10 || atoll(text) > TIMEOUT_MAX)
        return 0;
    return (int64_t)atoll(text) * 1000000000;
}

static int connect_ranks(const char *call, MPI_Comm comm, const drep_info *info,
                         struct transport **t, drep_transport *transport)
{
    int err = glue_ready(call);

    if (!err)
        err = transport_new(call, comm, timeout_of(info), info, t);
    if (err)
        return err;
    transport_fill(*t, transport);
    transport->call = call;
    return 0;
}

int drep_mpi_create(MPI_Comm comm, const char *path, int amode, const char *datarep,
                    const drep_info *info, drep_file **out)
{
    drep_transport transport;
    struct transport *t;
    int err = connect_ranks("drep_mpi_create", comm, info, &t, &transport);

    return err ? err : drep_team_create(&transport, t, path, amode, datarep, info, out);
}

int drep_mpi_open(MPI_Comm comm, const char *path, int amode, const drep_info *info,
                  drep_file **out)
{
    drep_transport transport;
    struct transport *t;
    int err = connect_ranks("drep_mpi_open", comm, info, &t, &transport);

    return err ? err : drep_team_open(&transport, t, path, amode, info, out);
}
