/* legacy.c - a file without header, as a mainframe left it, read in place.
 *
 * Records of 20 bytes: a number of 32 bits, two hexadecimal reals of 32 and 64 bits, four bytes
 * of something else.  A declared representation says how numbers lie there; the view's filetype
 * leaves out what is not wanted. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>

static const unsigned char tape[] = {
    0, 0, 0, 7, 0x41, 0x10, 0, 0, 0xc1, 0x28, 0, 0, 0, 0, 0, 0, 'x', 'x', 'x', 'x', /* 7 1 -2.5 */
    0, 0, 0, 8, 0x40, 0x80, 0, 0, 0x42, 0x64, 0, 0, 0, 0, 0, 0, 'y', 'y', 'y', 'y', /* 8 .5 100 */
};

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

static void declare(void)
{
    drep_encoding rows[] = {
        {.code = DREP_CODE_FLOAT, .format = DREP_FORMAT_IBM_HEX32, .size = 4, .align = 1},
        {.code = DREP_CODE_DOUBLE, .format = DREP_FORMAT_IBM_HEX64, .size = 8, .align = 1},
    };

    check(drep_declare_datarep("mainframe", "external32", rows, 2, NULL, 0));
}

int main(void)
{
    struct record {
        int32_t number;
        float first;
        double second;
    } record[3];
    drep_type *memory, *file, *padded;
    drep_view *view;
    int64_t items, i;
    FILE *f = fopen("tape.dat", "wb");

    if (!f || fwrite(tape, sizeof tape, 1, f) != 1 || fclose(f) != 0)
        return 1;
    declare();
    /* In memory as the compiler has it; in the file packed, each record 20 bytes long. */
    check(drep_type_struct(3, NULL, NULL,
                           (const drep_type *[]){DREP_INT32_T, DREP_FLOAT, DREP_DOUBLE}, &memory));
    check(drep_type_struct(3, NULL, (int64_t[]){0, 4, 8},
                           (const drep_type *[]){DREP_INT32_T, DREP_FLOAT, DREP_DOUBLE}, &file));
    check(drep_type_resized(0, 20, file, &padded));
    check(drep_view_raw("tape.dat", DREP_RDONLY, NULL, &view));
    check(drep_view_set(view, 0, padded, padded, "mainframe", NULL));
    check(drep_read_at(view, 0, record, 3, memory, NULL, &items));
    for (i = 0; i < items / 3; i++)
        printf("%d %g %g\n", record[i].number, record[i].first, record[i].second);
    printf("%d items, then the file ends\n", (int)items);
    check(drep_view_close(view));
    drep_type_free(padded);
    drep_type_free(file);
    drep_type_free(memory);
    return 0;
}
