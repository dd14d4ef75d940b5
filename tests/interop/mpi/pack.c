/* pack.c - external32 packs of an MPI library, as text.
 *
 * One line for each case: its name and the bytes in hexadecimal.  The values are those of
 * cases.h, which ours.c packs with drep_pack().  Built by
 * run-mpi.sh with whatever MPI there is; it needs nothing of ours.
 * With an argument it packs pair types and a struct, too, which end MPICH's. */
/* SPDX-License-Identifier: MIT */
#include <mpi.h>

#include "cases.h"
#include <stddef.h>

static void pack(const char *name, const void *buf, int count, MPI_Datatype type)
{
    char out[4096];
    MPI_Aint position = 0, size = -1;

    if (MPI_Pack_external_size("external32", count, type, &size) != MPI_SUCCESS ||
        MPI_Pack_external("external32", buf, count, type, out, sizeof out, &position) !=
            MPI_SUCCESS) {
        printf("%s failed\n", name);
        return;
    }
    print_case(name, out, (size_t)position);
    if (size != position)
        printf("# %s: size %ld, packed %ld\n", name, (long)size, (long)position);
}

int main(int argc, char **argv)
{
    struct values v;
    MPI_Datatype vector, indexed, subarray;
    int lens[3] = {2, 1, 3}, displs[3] = {0, 5, 7}, sizes[2] = {4, 5}, subsizes[2] = {2, 3},
        starts[2] = {1, 2};

    MPI_Init(&argc, &argv);
    values_init(&v);
#define CASE(NAME, member) pack(#NAME, v.member, COUNT(v.member), MPI_##NAME);
    CASES(CASE)
#undef CASE
    /* Portable types, strided (V3): the packed bytes are the items alone. */
    MPI_Type_vector(4, 2, 3, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    pack("vector", v.grid, 1, vector);
    MPI_Type_indexed(3, lens, displs, MPI_INT, &indexed);
    MPI_Type_commit(&indexed);
    pack("indexed", v.many, 1, indexed);
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &subarray);
    MPI_Type_commit(&subarray);
    pack("subarray", v.grid, 1, subarray);
    if (argc > 1) {
        MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, mixed;
        MPI_Aint at[3] = {offsetof(struct mixed, c), offsetof(struct mixed, d),
                          offsetof(struct mixed, i)};

#define CASE(NAME, type) pack(#NAME, v.pair_##NAME, 3, MPI_##NAME);
        PAIRS(CASE)
#undef CASE
        MPI_Type_create_struct(3, (int[]){1, 1, 1}, at, types, &mixed);
        MPI_Type_commit(&mixed);
        pack("struct", v.mixed, 2, mixed);
        MPI_Type_free(&mixed);
    }
    MPI_Type_free(&vector);
    MPI_Type_free(&indexed);
    MPI_Type_free(&subarray);
    MPI_Finalize();
    return 0;
}
