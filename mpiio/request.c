/* request.c - statuses, and requests that are complete when they are handed out.
 *
 * A status counts bytes of memory, by MPI_BYTE: with any other datatype some MPIs lose the rest of
 * an element that is not whole. */
/* SPDX-License-Identifier: MIT */
#include "mpiio/state.h"

#include <stdlib.h>

void request_status(MPI_Status *status, MPI_Count bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    PMPI_Status_set_cancelled(status, 0);
}

static int grequest_query(void *extra, MPI_Status *status)
{
    request_status(status, *(MPI_Count *)extra);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int grequest_release(void *extra)
{
    free(extra);
    return MPI_SUCCESS;
}

static int grequest_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

int request_complete(MPI_Count bytes, MPI_Request *request)
{
    MPI_Count *kept = malloc(sizeof *kept);
    int err;

    if (!kept)
        return -MPI_ERR_NO_MEM;
    *kept = bytes;
    err = PMPI_Grequest_start(grequest_query, grequest_release, grequest_cancel, kept, request);
    if (err != MPI_SUCCESS) {
        free(kept);
        return err;
    }
    return PMPI_Grequest_complete(*request);
}
