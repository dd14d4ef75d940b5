/* count.c - one conversion of N elements, for whoever counts the instructions it takes.
 *
 *   count                the conversions, one line each
 *   count ROW N TIMES    runs one of them over N elements, so many times
 *
 * hetero.py --count runs it once and three times under an emulator that logs every
 * instruction: half of the difference is what N elements take. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool big_endian(void)
{
    const uint16_t one = 1;

    return *(const uint8_t *)&one == 0;
}

enum how { SAME, SWAP, VALUE, FROM_IBM, FROM_X87 };
static const struct row {
    const char *what;
    enum how how;
    int to, from;
} rows[] = {
    {"copy 8 bytes", SAME, DREP_CODE_DOUBLE, DREP_CODE_DOUBLE},
    {"swap 2 bytes", SWAP, DREP_CODE_SHORT, DREP_CODE_SHORT},
    {"swap 4 bytes", SWAP, DREP_CODE_FLOAT, DREP_CODE_FLOAT},
    {"swap 8 bytes", SWAP, DREP_CODE_DOUBLE, DREP_CODE_DOUBLE},
    {"int32 to int64", VALUE, DREP_CODE_INT64_T, DREP_CODE_INT32_T},
    {"int64 to int32", VALUE, DREP_CODE_INT32_T, DREP_CODE_INT64_T},
    {"int32 to binary64", VALUE, DREP_CODE_DOUBLE, DREP_CODE_INT32_T},
    {"binary32 to binary64", VALUE, DREP_CODE_DOUBLE, DREP_CODE_FLOAT},
    {"binary64 to binary32", VALUE, DREP_CODE_FLOAT, DREP_CODE_DOUBLE},
    {"binary128 to binary64", VALUE, DREP_CODE_DOUBLE, DREP_CODE_FLOAT128},
    {"IBM hexadecimal 64 to binary64", FROM_IBM, DREP_CODE_DOUBLE, DREP_CODE_DOUBLE},
    {"x87 to binary128", FROM_X87, DREP_CODE_FLOAT128, DREP_CODE_FLOAT128},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* The representation of this machine's order of bytes, of the other, or our own. */
static const char *rep_of(const struct row *row)
{
    if (row->how == SAME || row->how == SWAP)
        return big_endian() == (row->how == SAME) ? "external32" : "internal";
    return "odd";
}

static int declare(void)
{
    const drep_encoding odd[] = {
        {.code = DREP_CODE_DOUBLE, .format = DREP_FORMAT_IBM_HEX64, .size = 8, .align = 1},
        {.code = DREP_CODE_FLOAT128, .format = DREP_FORMAT_X87, .size = 10, .align = 1}};

    return drep_declare_datarep("odd", "external32", odd, 2, NULL, 0);
}

static int once(const struct row *row, int64_t n, const char *in, char *out)
{
    const drep_type *to = drep_predefined(row->to), *from = drep_predefined(row->from);
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_WRAP, .threads = 1);
    int64_t at = 0;

    if (row->how == VALUE)
        return drep_convert(to, out, from, in, n, &xfer);
    return drep_unpack(rep_of(row), in, 16 * n, &at, out, n, to);
}

static int convert(const struct row *row, int64_t n, int times)
{
    const drep_type *from = drep_predefined(row->from);
    char *in = calloc((size_t)n + 1, 16), *out = calloc((size_t)n + 1, 16);
    int32_t *numbers = calloc((size_t)n + 1, sizeof *numbers);
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_WRAP, .threads = 1);
    int64_t at = 0;
    int err = declare();

    for (int64_t i = 0; i < n; i++)
        numbers[i] = (int32_t)(i * 7 - n);
    if (err == 0)
        err = drep_convert(from, in, DREP_INT32_T, numbers, n, &xfer);
    if (err == 0 && row->how != VALUE) { /* what is unpacked must have been packed */
        err = drep_pack(rep_of(row), in, n, from, out, 16 * n, &at);
        memcpy(in, out, (size_t)at);
    }
    while (err == 0 && times-- > 0)
        err = once(row, n, in, out);
    if (err != 0)
        fprintf(stderr, "count: %s: %s\n", row->what, drep_error());
    free(in);
    free(out);
    free(numbers);
    return err;
}

int main(int argc, char **argv)
{
    if (argc == 4 && atoi(argv[1]) >= 0 && atoi(argv[1]) < ROWS)
        return convert(&rows[atoi(argv[1])], atoll(argv[2]), atoi(argv[3])) != 0;
    for (int i = 0; i < ROWS; i++)
        printf("%s\n", rows[i].what);
    return 0;
}
