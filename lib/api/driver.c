/* driver.c - files behind the functions of a program.
 *
 * Whatever is wrong with the arguments is told before the state belongs to the library: it is
 * closed by whatever fails from then on. */
/* SPDX-License-Identifier: MIT */
#include "whole/create.h"
#include "base/error.h"
#include "base/sized.h"
#include "file/file.h"

/* What the functions must have; `close` is not called for a driver that is refused here. */
static int driver_check(const char *call, const drep_driver *driver, bool writes)
{
    if (!driver->read_many || !driver->file_size)
        return fail(DREP_ERR_ARG, "%s: a driver without read_many or file_size", call);
    if (!driver->lock != !driver->locked)
        return fail(DREP_ERR_ARG, "%s: a driver with one of lock and locked", call);
    if (writes && (!driver->write_at || !driver->truncate))
        return fail(DREP_ERR_ARG, "%s: a driver without write_at or truncate", call);
    return 0;
}

int drep_open_driver(const drep_driver *driver, void *state, const char *name, int amode,
                     const drep_info *info, drep_file **out)
{
    int mode = amode & ~DREP_HEADER_ONLY, err;
    drep_driver own;
    struct io *io;

    if (!out)
        return fail(DREP_ERR_ARG, "drep_open_driver: null argument");
    if ((err = sized_get(SIZED_drep_driver, driver, &own, "drep_open_driver")))
        return err;
    if ((mode != DREP_RDONLY && mode != DREP_RDWR) || amode == (DREP_RDWR | DREP_HEADER_ONLY))
        return fail(DREP_ERR_AMODE, "drep_open_driver: access mode %d", amode);
    if ((err = driver_check("drep_open_driver", &own, mode == DREP_RDWR)) ||
        (err = io_driver(&own, state, name, &io)))
        return err;
    return file_open_on(io, amode, info, 0, out);
}

int drep_create_driver(const drep_driver *driver, void *state, const char *name,
                       const char *datarep, const drep_info *info, drep_file **out)
{
    drep_driver own;
    uint64_t size;
    struct io *io;
    int err;

    if (!datarep || !out)
        return fail(DREP_ERR_ARG, "drep_create_driver: null argument");
    if ((err = sized_get(SIZED_drep_driver, driver, &own, "drep_create_driver")) ||
        (err = driver_check("drep_create_driver", &own, true)) ||
        (err = io_driver(&own, state, name, &io)))
        return err;
    err = io->ops->size(io, &size);
    if (!err && size > 0)
        err = fail(DREP_ERR_FILE_EXISTS, "%s: the file is not empty: it has %llu bytes", io->path,
                   (unsigned long long)size);
    if (err) {
        io->ops->close(io);
        return err;
    }
    return file_create_on(io, datarep, info, out);
}
