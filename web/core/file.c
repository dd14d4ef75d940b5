/* file.c - open a file whose bytes the host has. */
/* SPDX-License-Identifier: MIT */
#include "web/core/binding.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* n ranges of {offset, its upper half, size, address}; 1: some of them are not there yet. */
__attribute__((import_module("host"), import_name("read"))) int host_read(const uint32_t *ranges,
                                                                          int n);

drep_file *web_file;
static uint64_t bytes; /* of the file */

static int read_ranges(void *state, const drep_range *range, size_t n)
{
    uint32_t *wanted = calloc(n ? n : 1, 4 * sizeof *wanted);
    int absent;

    (void)state;
    if (!wanted)
        return DREP_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        if (range[i].offset > bytes || range[i].size > bytes - range[i].offset) {
            free(wanted);
            return DREP_ERR_TRUNCATE;
        }
        wanted[4 * i] = (uint32_t)range[i].offset;
        wanted[4 * i + 1] = (uint32_t)(range[i].offset >> 32);
        wanted[4 * i + 2] = (uint32_t)range[i].size;
        wanted[4 * i + 3] = (uint32_t)(uintptr_t)range[i].buf;
    }
    absent = host_read(wanted, (int)n);
    free(wanted);
    return absent ? DREP_ERR_IO : 0;
}

static int file_size(void *state, uint64_t *size)
{
    (void)state;
    *size = bytes;
    return 0;
}

/* Memory is dearer than in a process of its own, and there is one thread. */
static int open_hints(drep_info **out)
{
    drep_info *info;
    int err = drep_info_new(&info);

    if (err)
        return err;
    err = drep_info_set(info, "drep_threads", "1");
    if (!err)
        err = drep_info_set(info, "drep_fetch_size", "33554432");
    if (!err)
        err = drep_info_set(info, "drep_cache_size", "8388608");
    if (err)
        drep_info_free(info);
    else
        *out = info;
    return err;
}

EXPORT("web_close") void web_close(void)
{
    if (web_file)
        drep_abandon(web_file);
    web_file = NULL;
}

static void put_header(void)
{
    drep_header h = DREP_HEADER;

    drep_header_get(web_file, &h);
    out("{\"datarep\":");
    out_quoted(h.datarep);
    out(",\"form\":");
    out_quoted(h.form);
    out(",\"writer\":");
    out_quoted(h.writer);
    out(",\"machine\":");
    out_quoted(h.machine);
    out(",\"version\":\"%d.%d\",\"sequence\":\"%llu\",\"time\":\"%lld\",\"uuid\":\"",
        h.version_major, h.version_minor, (unsigned long long)h.sequence, (long long)h.time);
    for (int i = 0; i < 16; i++)
        out("%02x", h.uuid[i]);
    out("\"}");
}

/* size: bytes of the file, below 2^53; round_trip: what one to the host costs, as drep_driver. */
EXPORT("web_open") int web_open(double size, double round_trip, const char *name)
{
    drep_driver driver =
        DREP_DRIVER(.read_many = read_ranges, .file_size = file_size,
                    .round_trip = (uint64_t)round_trip, .first_read = round_trip > 0 ? 65536 : 0);
    drep_info *info = NULL;
    int err;

    web_close();
    bytes = (uint64_t)size;
    err = open_hints(&info);
    if (!err)
        err = drep_open_driver(&driver, NULL, name, DREP_RDONLY, info, &web_file);
    drep_info_free(info);
    if (err)
        return err;
    out_begin();
    put_header();
    return out_end();
}

EXPORT("web_version") const char *web_version(void)
{
    return drep_version();
}
