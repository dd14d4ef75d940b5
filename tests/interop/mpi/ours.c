/* ours.c - what pack.c prints, from this library. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdlib.h>

#include "cases.h"

static void pack(const char *name, const void *buf, int count, const drep_type *type)
{
    char out[4096];
    int64_t position = 0, size = -1;

    if (drep_pack_size("external32", count, type, &size) ||
        drep_pack("external32", buf, count, type, out, sizeof out, &position) || size != position) {
        printf("%s failed: %s\n", name, drep_error());
        exit(1);
    }
    print_case(name, out, (size_t)position);
}

static void pack_struct(const char *name, const void *buf, int count, int members,
                        const drep_type *const *types)
{
    drep_type *type;

    if (drep_type_struct(members, NULL, NULL, types, &type))
        exit(1);
    pack(name, buf, count, type);
    drep_type_free(type);
}

#define FIRST(type)               \
    _Generic((type)0, float       \
             : DREP_FLOAT, double \
             : DREP_DOUBLE, long  \
             : DREP_LONG, int     \
             : DREP_INT, short    \
             : DREP_SHORT)

int main(void)
{
    struct values v;
    drep_type *vector, *indexed, *subarray;

    values_init(&v);
#define CASE(NAME, member) pack(#NAME, v.member, COUNT(v.member), DREP_##NAME);
    CASES(CASE)
#undef CASE
    if (drep_type_vector(4, 2, 3, DREP_DOUBLE, &vector) ||
        drep_type_indexed(3, (int64_t[]){2, 1, 3}, (int64_t[]){0, 5, 7}, DREP_INT, &indexed) ||
        drep_type_subarray(2, (int64_t[]){4, 5}, (int64_t[]){2, 3}, (int64_t[]){1, 2}, DREP_ORDER_C,
                           DREP_DOUBLE, &subarray))
        return 1;
    pack("vector", v.grid, 1, vector);
    pack("indexed", v.many, 1, indexed);
    pack("subarray", v.grid, 1, subarray);
#define CASE(NAME, type) \
    pack_struct(#NAME, v.pair_##NAME, 3, 2, (const drep_type *const[]){FIRST(type), DREP_INT});
    PAIRS(CASE)
#undef CASE
    pack_struct("struct", v.mixed, 2, 3,
                (const drep_type *const[]){DREP_CHAR, DREP_DOUBLE, DREP_INT});
    drep_type_free(vector);
    drep_type_free(indexed);
    drep_type_free(subarray);
    return 0;
}
