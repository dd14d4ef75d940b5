/* exchange.h - what an import or export is asked to do, whatever the other format. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_EXCHANGE_H
#define TOOLS_FLAT_EXCHANGE_H

#include "base/handles.h"
#include <stdbool.h>

struct exchange {
    const char *command; /* "import" or "export", for messages about its options */
    const char *src, *dst;
    const char *root, *report;
    const char *datarep;     /* import */
    const char *big_datarep; /* import of HDF5: of datasets that are big-endian; NULL: datarep */
    drep_filter *filters;    /* import; room for DREP_MAX_FILTERS, the caller's */
    int nfilters;            /* -1: those of the source */
    int range, threads;
    bool excl, force, exact, outside, json, verbose;
    bool quiet;         /* say what is lost, and nothing else */
    bool no_verify;     /* export: what is written is not read back */
    const char *module; /* NULL: HDF5's; "netcdf" */
    bool netcdf;        /* export to HDF5: hdf5_options.netcdf */
    int kind;           /* export to classic netCDF: hdf5_options.kind */
    bool partial;       /* import of HDF5: leave out elements that cannot be read */
    bool pinned;        /* import of HDF5: chunks stay in the source */
    bool headers;       /* import with pinned: no chunk is read */
    bool verify;        /* export: chunks that went over as they are stored are decoded, too */
    bool plain;         /* import of HDF5: hdf5_options.plain */
    bool no_decode;     /* import: chunks that go over as they are stored are not decoded */
};

#endif
