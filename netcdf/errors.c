/* errors.c - netCDF's code for each of ours, and its reason on request.
 *
 * netCDF has no channel for messages.  DATAREP_DEBUG=1 prints drep_error(), which names file,
 * object and byte, on stderr. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/door.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int ours, theirs; /* positive: an errno, whose text nc_strerror() knows */
} codes[] = {
    {DREP_ERR_ARG, NC_EINVAL},
    {DREP_ERR_NOMEM, NC_ENOMEM},
    {DREP_ERR_IO, NC_EIO},
    {DREP_ERR_NO_SPACE, ENOSPC},
    {DREP_ERR_NO_SUCH_FILE, ENOENT},
    {DREP_ERR_FILE_EXISTS, NC_EEXIST},
    {DREP_ERR_ACCESS, EACCES},
    {DREP_ERR_READ_ONLY, NC_EPERM},
    {DREP_ERR_FILE_IN_USE, EBUSY},
    {DREP_ERR_AMODE, NC_EINVAL},
    {DREP_ERR_FORMAT, NC_ETRUNC},
    {DREP_ERR_VERSION, NC_ENOTNC},
    {DREP_ERR_CHECKSUM, NC_ETRUNC},
    {DREP_ERR_TRUNCATE, NC_ETRUNC},
    {DREP_ERR_UNSUPPORTED, NC_ENOTBUILT},
    {DREP_ERR_UNSUPPORTED_DATAREP, NC_ENOTBUILT},
    {DREP_ERR_CONVERSION, NC_ERANGE},
    {DREP_ERR_UNSUPPORTED_OPERATION, NC_ENOTBUILT},
    {DREP_ERR_VALUE_TOO_LARGE, NC_EVARSIZE},
    {DREP_ERR_TYPE, NC_EBADTYPE},
    {DREP_ERR_COUNT, NC_EINVAL},
    {DREP_ERR_DIMS, NC_EBADDIM},
    {DREP_ERR_RANGE, NC_EINVALCOORDS},
    {DREP_ERR_NOT_FOUND, NC_ENOTFOUND},
    {DREP_ERR_EXISTS, NC_ENAMEINUSE},
    {DREP_ERR_KIND, NC_EBADTYPE},
    {DREP_ERR_NAME, NC_EBADNAME},
    {DREP_ERR_LIMIT, NC_EVARSIZE},
    {DREP_ERR_STALE, ESTALE},
    {DREP_ERR_FAILED, NC_ECANTWRITE},
    {DREP_ERR_INFO_KEY, NC_EINVAL},
    {DREP_ERR_INFO_VALUE, NC_EINVAL},
    {DREP_ERR_NOT_DREP, NC_ENOTNC},
    {DREP_ERR_TIMEOUT, ETIMEDOUT},
};

static int debug_wanted(void)
{
    const char *debug = getenv("DATAREP_DEBUG");

    return debug && *debug && strcmp(debug, "0") != 0;
}

int door_error(int err)
{
    size_t i;

    if (!err)
        return NC_NOERR;
    if (debug_wanted())
        fprintf(stderr, "datarep: %s\n", drep_error());
    for (i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].ours == err)
            return codes[i].theirs;
    return NC_EIO;
}

int door_refuse(int code, const char *format, ...)
{
    va_list args;

    if (!debug_wanted())
        return code;
    fputs("datarep: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return code;
}
