/* table.c - the table that libnetcdf calls.
 *
 * Version 5 is that of netCDF-C 4.9 and later; 4 and 3, of 4.8, lack its last functions and begin
 * with the same ones. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/door.h"

_Static_assert(NC_DISPATCH_VERSION == 5, "slots.def has the functions of version 5");

void slots_fill(NC_Dispatch *table, int model, int version)
{
    *table = (NC_Dispatch){
        .model = model,
        .dispatch_version = version,
#define SLOT(name, ...) .name = slot_##name,
#include "netcdf/slots.def"
#undef SLOT
    };
}
