/* types.c - the types of classic netCDF and ours. */
/* SPDX-License-Identifier: MIT */
#include "tools/nc/nc.h"
#include <datarep.h>

static const struct pair {
    int code; /* of ours */
    nc_type type;
    int own; /* what an import makes of the netCDF type */
} pairs[] = {
    {DREP_CODE_CHAR, NC_CHAR, 1},
    {DREP_CODE_CHARACTER, NC_CHAR, 0},
    {DREP_CODE_INT8_T, NC_BYTE, 1},
    {DREP_CODE_SIGNED_CHAR, NC_BYTE, 0},
    {DREP_CODE_INT16_T, NC_SHORT, 1},
    {DREP_CODE_SHORT, NC_SHORT, 0},
    {DREP_CODE_INT32_T, NC_INT, 1},
    {DREP_CODE_INT, NC_INT, 0},
    {DREP_CODE_INTEGER, NC_INT, 0},
    {DREP_CODE_FLOAT, NC_FLOAT, 1},
    {DREP_CODE_REAL, NC_FLOAT, 0},
    {DREP_CODE_FLOAT16, NC_FLOAT, 0},
    {DREP_CODE_BFLOAT16, NC_FLOAT, 0},
    {DREP_CODE_DOUBLE, NC_DOUBLE, 1},
    {DREP_CODE_DOUBLE_PRECISION, NC_DOUBLE, 0},
    {DREP_CODE_UINT8_T, NC_UBYTE, 1},
    {DREP_CODE_UNSIGNED_CHAR, NC_UBYTE, 0},
    {DREP_CODE_BYTE, NC_UBYTE, 0},
    {DREP_CODE_UINT16_T, NC_USHORT, 1},
    {DREP_CODE_UNSIGNED_SHORT, NC_USHORT, 0},
    {DREP_CODE_UINT32_T, NC_UINT, 1},
    {DREP_CODE_UNSIGNED, NC_UINT, 0},
    {DREP_CODE_INT64_T, NC_INT64, 1},
    {DREP_CODE_LONG, NC_INT64, 0},
    {DREP_CODE_LONG_LONG, NC_INT64, 0},
    {DREP_CODE_UINT64_T, NC_UINT64, 1},
    {DREP_CODE_UNSIGNED_LONG, NC_UINT64, 0},
    {DREP_CODE_UNSIGNED_LONG_LONG, NC_UINT64, 0},
};

const drep_type *nc_to_drep(nc_type type)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].own && pairs[i].type == type)
            return drep_predefined(pairs[i].code);
    return NULL;
}

nc_type nc_from_drep(const drep_type *type, int *exact)
{
    if (drep_type_kind(type) == DREP_KIND_PREDEFINED)
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
            if (pairs[i].code == drep_type_code(type)) {
                *exact = pairs[i].own;
                return pairs[i].type;
            }
    return NC_NAT;
}
