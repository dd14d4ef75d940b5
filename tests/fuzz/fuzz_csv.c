/* fuzz_csv.c - tables: refused with a line and a column, or read to their end.
 *
 * The first byte chooses between inference and a given type, with and without header. */
/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"
#include "tools/flat/csv_columns.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void read_all(struct source *s)
{
    int64_t start[2] = {0, 0}, count[2] = {1, s->dims[1]}, extent = drep_type_extent(s->type);
    size_t width = s->rank == 2 ? (size_t)s->dims[1] : 1;
    char *row = calloc(width + 1, (size_t)extent + 1);
    int status = 0;

    for (; row && start[0] < s->dims[0] && !status; start[0]++) {
        status = s->read(s, start, count, row);
        drep_vlen_free(s->type, (int64_t)width, row);
        memset(row, 0, width * (size_t)extent);
    }
    free(row);
}

static void try_table(const uint8_t *data, size_t size)
{
    struct csv_table table = {.file = "x", .delimiter = data[0] & 4 ? ';' : ',', .missing = ""};
    drep_type *type = NULL;
    struct source s;

    table.fd = memfd_create("csv", 0);
    if (table.fd < 0 || write(table.fd, data + 1, size - 1) != (ssize_t)size - 1)
        return;
    table.header = data[0] & 1;
    if (data[0] & 2)
        (void)drep_type_parse("struct{a: INT, b: struct{c: FLOAT, d: C_DOUBLE_COMPLEX}, "
                              "e: vstring[2], f: string(3), g: enum(INT8_T){x=0,y=1}, h: CHAR, "
                              "i: C_BOOL, j: opaque(2), k: LONG_DOUBLE}",
                              &type);
    table.type = type;
    if (source_csv(&s, &table) == 0) {
        PROMISE(s.rank == 1 || s.rank == 2);
        read_all(&s);
        source_release(&s);
    }
    drep_type_free(type);
    close(table.fd);
}

/* What is wrong with a table is said on stderr, which the fuzzer wants for itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int own, nowhere;

    if (size < 1)
        return 0;
    own = dup(2);
    nowhere = open("/dev/null", O_WRONLY);
    if (own >= 0 && nowhere >= 0)
        dup2(nowhere, 2);
    try_table(data, size);
    if (own >= 0) {
        dup2(own, 2);
        close(own);
    }
    if (nowhere >= 0)
        close(nowhere);
    return 0;
}
