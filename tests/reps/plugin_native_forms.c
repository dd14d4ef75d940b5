/* plugin_native_forms.c - good ones: without functions, serial, and declared as a table. */
/* SPDX-License-Identifier: MIT */
#include "plain.h"

int drep_plugin_init(void)
{
    const drep_encoding rows[] = {
        {DREP_CODE_FLOAT, DREP_FORMAT_IBM_HEX32, DREP_BIG, 4, 1, 0, 0},
        {DREP_CODE_DOUBLE, DREP_FORMAT_IBM_HEX64, DREP_BIG, 8, 1, 0, 0},
        {DREP_CODE_LONG_DOUBLE, DREP_FORMAT_IBM_HEX128, DREP_BIG, 16, 1, 0, 0},
        {DREP_CODE_CHAR, DREP_FORMAT_EBCDIC, DREP_BIG, 1, 1, 0, 0}};
    int err = drep_declare_datarep("ibm", "external32", rows, 4, NULL, 0);

    if (!err)
        err = drep_register_datarep("as-it-is", DREP_CONVERSION_NULL, DREP_CONVERSION_NULL,
                                    plain_extent, NULL);
    if (!err)
        err = drep_register_datarep_flags("one-at-a-time", plain_read, plain_write, plain_extent,
                                          NULL, DREP_REP_SERIAL);
    return err;
}
