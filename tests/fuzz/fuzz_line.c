/* fuzz_line.c - a datatype parsed from any line.
 *
 * What is accepted prints as a line that means the same, and that stays as it is when it
 * goes through once more. */
/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"

#include <datarep.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = malloc(size + 1), *first = NULL, *second = NULL;
    drep_type *type = NULL, *same = NULL;

    if (size)
        memcpy(line, data, size);
    line[size] = '\0';
    if (drep_type_parse(line, &type) == 0) {
        PROMISE(drep_type_print(type, &first) == 0);
        PROMISE(drep_type_parse(first, &same) == 0);
        PROMISE(drep_type_equal(type, same));
        PROMISE(drep_type_equivalent(type, same));
        PROMISE(drep_type_print(same, &second) == 0);
        PROMISE(strcmp(first, second) == 0);
        PROMISE(drep_type_size(type) >= 0 && drep_type_items(type) >= 0);
        drep_type_free(type);
        drep_type_free(same);
    }
    free(line);
    free(first);
    free(second);
    return 0;
}
