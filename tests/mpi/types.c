/* types.c - datatypes of MPI as ours and back, held against MPI itself.
 *
 * Random nested types have equal size, bounds and packed bytes (E1, E5, E8, E12); each combiner
 * occurs.  What an MPI packs wrongly under external32 is left to its native pack. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"

enum { TYPES = 4000, DEPTH = 4, SIZE_MAX_BYTES = 20000, ELEMENTS = 3 };

static uint64_t state;

static int below(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

static const struct leaf {
    MPI_Datatype datatype;
    const char *name;
    int code;
} leaves[] = {
#define X(name, code) {MPI_##name, #name, DREP_CODE_##code},
#include "mpi/named.def"
#undef X
};

static const MPI_Datatype pairs[] = {
#define X(name, first, second) MPI_##name,
#include "mpi/pairs.def"
#undef X
};
enum { LEAVES = sizeof leaves / sizeof *leaves, PAIRS = sizeof pairs / sizeof *pairs };

struct made {
    MPI_Datatype datatype;
    int derived;  /* to be freed */
    int external; /* this MPI packs it rightly as external32 */
    int dealt;    /* a darray is inside */
};

static void made_free(struct made *m)
{
    if (m->derived)
        MPI_Type_free(&m->datatype);
}

static int is_there(MPI_Datatype datatype)
{
    int size = 0;

    return datatype != MPI_DATATYPE_NULL && MPI_Type_size(datatype, &size) == MPI_SUCCESS &&
           size > 0;
}

/* external32 is compared where requirements say that this MPI is right. */
static int right_leaf(int code)
{
    switch (code) {
    case DREP_CODE_WCHAR:
    case DREP_CODE_AINT:
    case DREP_CODE_OFFSET:
    case DREP_CODE_COUNT:
        return 0;
    case DREP_CODE_LONG_DOUBLE:
#ifdef OPEN_MPI
        return 0;
#else
        return 1;
#endif
    }
    return code <= DREP_CODE_C_DOUBLE_COMPLEX && code != DREP_CODE_PACKED &&
           code != DREP_CODE_C_BOOL;
}

static struct made make_leaf(void)
{
    int i;

#ifdef OPEN_MPI
    if (below(8) == 0)
        return (struct made){.datatype = pairs[below(PAIRS)]};
#else
    if (below(8) == 0)
        return (struct made){.datatype = pairs[below(6)]};
#endif
    do
        i = below(LEAVES);
    while (!is_there(leaves[i].datatype));
    return (struct made){.datatype = leaves[i].datatype, .external = right_leaf(leaves[i].code)};
}

static struct made make(int depth);

static struct made make_struct(int depth)
{
    struct made part[4], out = {.derived = 1};
    MPI_Datatype types[4];
    MPI_Aint at[4], here = below(20) - 4;
    int len[4], i, n = 1 + below(4);

    for (i = 0; i < n; i++) {
        MPI_Aint lb, extent;

        part[i] = make(depth - 1);
        out.dealt |= part[i].dealt;
        types[i] = part[i].datatype;
        len[i] = 1 + below(2);
        at[i] = here;
        MPI_Type_get_extent(types[i], &lb, &extent);
        here += (extent > 0 ? extent : 1) * len[i] + below(9);
    }
    MPI_Type_create_struct(n, len, at, types, &out.datatype);
    for (i = 0; i < n; i++)
        made_free(&part[i]);
    return out;
}

static void make_grid(MPI_Datatype base, MPI_Datatype *out)
{
    int sizes[3], sub[3], start[3], d, rank = 1 + below(3);

    for (d = 0; d < rank; d++) {
        sizes[d] = 1 + below(4);
        sub[d] = 1 + below(sizes[d]);
        start[d] = below(sizes[d] - sub[d] + 1);
    }
    MPI_Type_create_subarray(rank, sizes, sub, start, below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                             base, out);
}

static void make_dealt(MPI_Datatype base, MPI_Datatype *out)
{
    int sizes[3], distribs[3], dargs[3], procs[3], d, rank = 1 + below(3), all = 1;

    for (d = 0; d < rank; d++) {
        int how = below(3), block;

        sizes[d] = 2 + below(5);
        distribs[d] = how == 0   ? MPI_DISTRIBUTE_NONE
                      : how == 1 ? MPI_DISTRIBUTE_BLOCK
                                 : MPI_DISTRIBUTE_CYCLIC;
        procs[d] = how ? 1 + below(2) : 1;
        block = how == 1 ? (sizes[d] + procs[d] - 1) / procs[d] : 1 + below(2);
        dargs[d] = below(2) && how ? block : MPI_DISTRIBUTE_DFLT_DARG;
        all *= procs[d];
    }
    MPI_Type_create_darray(all, below(all), rank, sizes, distribs, dargs, procs,
                           below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, base, out);
}

static struct made make_over(int depth)
{
    struct made base = make(depth - 1),
                out = {.derived = 1, .external = base.external, .dealt = base.dealt};
    MPI_Datatype b = base.datatype;
    int len[4], displ[4], i, n = 1 + below(4), same = 1 + below(2), step;
    MPI_Aint at[4], lb, extent;

    MPI_Type_get_extent(b, &lb, &extent);
    step = 3 + below(3);
    for (i = 0; i < n; i++) {
        len[i] = 1 + below(2);
        displ[i] = i * step;
        at[i] = i * step * (extent > 0 ? extent : 1) + below(3);
    }
    switch (below(11)) {
    case 0:
        MPI_Type_dup(b, &out.datatype);
        break;
    case 1:
        MPI_Type_contiguous(n, b, &out.datatype);
        break;
    case 2:
        MPI_Type_vector(n, same, step, b, &out.datatype);
        break;
    case 3:
        MPI_Type_create_hvector(n, same, step * (extent > 0 ? extent : 1) + below(3), b,
                                &out.datatype);
        break;
    case 4:
        MPI_Type_indexed(n, len, displ, b, &out.datatype);
        break;
    case 5:
        MPI_Type_create_hindexed(n, len, at, b, &out.datatype);
        break;
    case 6:
        MPI_Type_create_indexed_block(n, same, displ, b, &out.datatype);
        break;
    case 7:
        MPI_Type_create_hindexed_block(n, same, at, b, &out.datatype);
        break;
    case 8:
        make_grid(b, &out.datatype);
        break;
    case 9:
        make_dealt(b, &out.datatype);
        out.dealt = 1;
        break;
    default:
        MPI_Type_create_resized(b, lb - below(5), extent + below(40), &out.datatype);
    }
    made_free(&base);
    return out;
}

static struct made make(int depth)
{
    if (depth <= 1 || below(6) == 0)
        return make_leaf();
    return below(4) ? make_over(depth) : make_struct(depth);
}

/* ---------------------------------------------------------------- comparing */

/* MPICH counts the gaps of a cyclic dimension's last block among the bytes of a darray, and ends
 * in packing one as external32. */
#ifdef OPEN_MPI
#define RIGHT_DARRAY 1
#else
#define RIGHT_DARRAY 0
#endif

static int compare_bounds(const struct made *m, const drep_type *type)
{
    MPI_Datatype datatype = m->datatype;
    MPI_Count size, lb, extent, true_lb, true_extent;

    MPI_Type_size_x(datatype, &size);
    MPI_Type_get_extent_x(datatype, &lb, &extent);
    MPI_Type_get_true_extent_x(datatype, &true_lb, &true_extent);
    CHECK(size == drep_type_size(type), "size %lld, ours %lld", (long long)size,
          (long long)drep_type_size(type));
    CHECK(lb == drep_type_lb(type), "lb %lld, ours %lld", (long long)lb,
          (long long)drep_type_lb(type));
    CHECK(extent == drep_type_extent(type), "extent %lld, ours %lld", (long long)extent,
          (long long)drep_type_extent(type));
    if (size && (RIGHT_DARRAY || !m->dealt))
        CHECK(true_lb == drep_type_true_lb(type) && true_extent == drep_type_true_extent(type),
              "true bounds %lld %lld, ours %lld %lld", (long long)true_lb, (long long)true_extent,
              (long long)drep_type_true_lb(type), (long long)drep_type_true_extent(type));
    return check_failures;
}

/* Not all bytes are a long double, and none has its padding copied. */
static void make_long_doubles(const drep_type *type, unsigned char *p)
{
    int64_t left = ELEMENTS * drep_type_items(type), i, k;
    drep_cursor cursor;
    drep_run run;

    OK(drep_cursor_init(&cursor, type, 0));
    for (; left > 0 && drep_cursor_next(&cursor, left, &run); left -= run.count) {
        int64_t size = drep_type_size(run.type), one = (int64_t)sizeof(long double);
        int code = drep_type_code(run.type);

        if (code != DREP_CODE_LONG_DOUBLE && code != DREP_CODE_C_LONG_DOUBLE_COMPLEX &&
            code != DREP_CODE_CXX_LONG_DOUBLE_COMPLEX)
            continue;
        for (i = 0; i < run.count; i++)
            for (k = 0; k < size; k += one) {
                long double v = (long double)(below(2000) - 1000) / 7;
                unsigned char bytes[sizeof v] = {0};

                memcpy(bytes, &v, 10);
                memcpy(p + run.offset + i * run.stride + k, bytes, sizeof v);
            }
    }
}

/* Memory for a few elements; *origin is where the first one's address is. */
static unsigned char *elements(const drep_type *type, int64_t *origin)
{
    int64_t low = drep_type_true_lb(type), high = low + drep_type_true_extent(type), i, n;
    int64_t span = (ELEMENTS - 1) * drep_type_extent(type);
    unsigned char *p;

    low = span < 0 ? low + span : low;
    high = span > 0 ? high + span : high;
    low = low > 0 ? 0 : low;
    n = high - low + 64;
    p = malloc((size_t)n);
    for (i = 0; i < n; i++)
        p[i] = (unsigned char)(0x20 + below(0x50));
    *origin = -low;
    make_long_doubles(type, p - low);
    return p;
}

/* The bytes of all items, one after the other. */
static int64_t gather(const drep_type *type, const unsigned char *p, unsigned char *to)
{
    int64_t left = ELEMENTS * drep_type_items(type), size = 0, i;
    drep_cursor cursor;
    drep_run run;

    OK(drep_cursor_init(&cursor, type, 0));
    while (left > 0 && drep_cursor_next(&cursor, left, &run)) {
        int64_t bytes = drep_type_size(run.type);

        for (i = 0; i < run.count; i++, size += bytes)
            memcpy(to + size, p + run.offset + i * run.stride, (size_t)bytes);
        left -= run.count;
    }
    return size;
}

static void compare_packs(const struct made *m, const drep_type *type)
{
    int64_t at, size = 0, position = 0;
    unsigned char *p = elements(type, &at), *ours, *theirs;
    MPI_Aint external = 0;
    int bytes = 0;

    ours = calloc(ELEMENTS * 4 + 1, (size_t)drep_type_size(type));
    theirs = calloc(ELEMENTS * 4 + 1, (size_t)drep_type_size(type));
    size = gather(type, p + at, ours);
    MPI_Pack(p + at, ELEMENTS, m->datatype, theirs, (int)size, &bytes, MPI_COMM_SELF);
    CHECK(bytes == size && memcmp(ours, theirs, (size_t)size) == 0, "the items differ");
    if (m->external && (RIGHT_DARRAY || !m->dealt)) {
        position = 0;
        OK(drep_pack_size("external32", ELEMENTS, type, &size));
        OK(drep_pack("external32", p + at, ELEMENTS, type, ours, size, &position));
        MPI_Pack_external("external32", p + at, ELEMENTS, m->datatype, theirs, (MPI_Aint)size,
                          &external);
        CHECK(external == size && memcmp(ours, theirs, (size_t)size) == 0,
              "external32 packs differ: %lld bytes, ours %lld", (long long)external,
              (long long)size);
    }
    free(p);
    free(ours);
    free(theirs);
}

static int compare(const struct made *m)
{
    drep_type *type = NULL, *again = NULL;
    MPI_Datatype back = MPI_DATATYPE_NULL;
    struct made other = *m;

    OK(drep_mpi_type(m->datatype, &type));
    if (!type)
        return 1;
    compare_bounds(m, type);
    compare_packs(m, type);
    OK(drep_mpi_datatype(type, &back));
    if (back != MPI_DATATYPE_NULL) {
        other.datatype = back;
        compare_bounds(&other, type);
        compare_packs(&other, type);
        OK(drep_mpi_type(back, &again));
        CHECK(drep_type_equivalent(type, again), "not equivalent after both ways");
        MPI_Type_free(&back);
    }
    if (check_failures) {
        char *text;

        if (drep_type_print(type, &text) == 0)
            printf("# %s\n", text);
    }
    drep_type_free(type);
    drep_type_free(again);
    return check_failures;
}

static void test_random(void)
{
    int i, externals = 0, failed = 0;

    for (i = 0; i < TYPES && failed < 5; i++) {
        struct made m;
        int size = 0;

        state = (uint64_t)i * 1000003u + 17;
        for (;;) {
            m = make(DEPTH);
            MPI_Type_size(m.datatype, &size);
            if (size > 0 && size <= SIZE_MAX_BYTES)
                break;
            made_free(&m);
        }
        if (m.derived)
            MPI_Type_commit(&m.datatype);
        externals += m.external;
        if (compare(&m))
            printf("# type %d\n", i), failed++;
        check_failures = 0;
        made_free(&m);
    }
    check_failures = failed;
    CHECK(externals > TYPES / 10, "only %d types under external32", externals);
    if (!check_rank)
        printf("counted: %d random datatypes of MPI\n", TYPES);
    check_case("E1 E5 E8 E12: random types have MPI's size, bounds and packed bytes");
}

static void test_named(void)
{
    int i, n = 0;

    for (i = 0; i < LEAVES; i++) {
        drep_type *type = NULL;

        if (!is_there(leaves[i].datatype))
            continue;
        n++;
        OK(drep_mpi_type(leaves[i].datatype, &type));
        CHECK(type && drep_type_code(type) == leaves[i].code, "%s", leaves[i].name);
        drep_type_free(type);
    }
    CHECK(n > 50, "%d predefined types", n);
    check_case("E2: each predefined datatype of this MPI has its code");
    for (i = 0; i < PAIRS; i++)
        if (is_there(pairs[i]))
            compare(&(struct made){.datatype = pairs[i]});
    check_case("E3: pairs are structs");
}

static void test_f90(void)
{
    static const struct {
        int precision, range, code;
    } reals[] = {{6, 37, DREP_CODE_REAL4},
                 {15, 307, DREP_CODE_REAL8},
                 {6, 100, DREP_CODE_REAL8},
                 {MPI_UNDEFINED, 30, DREP_CODE_REAL4}};
    static const int integers[][2] = {{2, DREP_CODE_INTEGER1},
                                      {4, DREP_CODE_INTEGER2},
                                      {9, DREP_CODE_INTEGER4},
                                      {18, DREP_CODE_INTEGER8}};
    MPI_Datatype datatype;
    drep_type *type;
    size_t i;

    for (i = 0; i < sizeof reals / sizeof *reals; i++) {
        type = NULL;
        MPI_Type_create_f90_real(reals[i].precision, reals[i].range, &datatype);
        OK(drep_mpi_type(datatype, &type));
        CHECK(drep_type_code(type) == reals[i].code, "real(%d, %d)", reals[i].precision,
              reals[i].range);
        drep_type_free(type);
        type = NULL;
        MPI_Type_create_f90_complex(reals[i].precision, reals[i].range, &datatype);
        OK(drep_mpi_type(datatype, &type));
        CHECK(drep_type_size(type) == (reals[i].code == DREP_CODE_REAL4 ? 8 : 16), "complex");
        drep_type_free(type);
    }
    for (i = 0; i < 4; i++) {
        type = NULL;
        MPI_Type_create_f90_integer(integers[i][0], &datatype);
        OK(drep_mpi_type(datatype, &type));
        CHECK(drep_type_code(type) == integers[i][1], "integer(%d)", integers[i][0]);
        drep_type_free(type);
    }
    check_case("E4: Fortran's types by precision and range");
}

/* Derived from one of Fortran's: it must not be freed with the rest. */
static void test_f90_inside(void)
{
    MPI_Datatype real, derived;
    drep_type *type = NULL;
    int i;

    MPI_Type_create_f90_real(15, 307, &real);
    MPI_Type_vector(3, 2, 4, real, &derived);
    for (i = 0; i < 3; i++) {
        OK(drep_mpi_type(derived, &type));
        CHECK(type && drep_type_size(type) == 48, "vector of reals");
        drep_type_free(type);
    }
    MPI_Type_free(&derived);
    check_case("E4: Fortran's types inside others");
}

static void test_containers(void)
{
    static const char *const names[] = {"a", "b"};
    static const int64_t values[] = {1, 7};
    const drep_type *parts[2] = {DREP_CHAR, DREP_DOUBLE};
    drep_type *type[5] = {0};
    MPI_Datatype datatype;
    int i;

    OK(drep_type_compound(2, names, NULL, parts, 40, &type[0]));
    OK(drep_type_array(2, (int64_t[]){3, 5}, type[0], &type[1]));
    OK(drep_type_string(9, DREP_PAD_NUL, &type[2]));
    OK(drep_type_enum(DREP_SHORT, 2, names, values, &type[3]));
    OK(drep_type_opaque(11, "tag", &type[4]));
    for (i = 0; i < 5; i++) {
        MPI_Count lb, extent;
        int size;

        OK(drep_mpi_datatype(type[i], &datatype));
        MPI_Type_get_extent_x(datatype, &lb, &extent);
        MPI_Type_size(datatype, &size);
        CHECK(lb == 0 && extent == drep_type_extent(type[i]) && size == drep_type_size(type[i]),
              "kind %d: extent %lld, size %d", drep_type_kind(type[i]), (long long)extent, size);
        MPI_Type_free(&datatype);
        drep_type_free(type[i]);
    }
    check_case("containers' own types become what their bytes are");
}

#if defined(MPICH_VERSION) && defined(MPI_LB)
/* Structs whose bounds are members, as before MPI 3. */
static void test_markers(void)
{
    MPI_Datatype parts[3] = {MPI_LB, MPI_DOUBLE, MPI_UB}, datatype;
    MPI_Aint at[3] = {-8, 0, 24};
    int lens[3] = {1, 2, 1};
    drep_type *type;

    MPI_Type_create_struct(3, lens, at, parts, &datatype);
    OK(drep_mpi_type(datatype, &type));
    CHECK(drep_type_lb(type) == -8 && drep_type_extent(type) == 32 && drep_type_items(type) == 2,
          "lb %lld, extent %lld, %lld items", (long long)drep_type_lb(type),
          (long long)drep_type_extent(type), (long long)drep_type_items(type));
    drep_type_free(type);
    MPI_Type_free(&datatype);
    check_case("MPI_LB and MPI_UB are bounds");
}
#endif

static void test_errors(void)
{
    drep_type *type = NULL, *text;
    MPI_Datatype datatype;

    FAILS(drep_mpi_type(MPI_DATATYPE_NULL, &type), DREP_ERR_ARG, "MPI_DATATYPE_NULL");
    FAILS(drep_mpi_type(MPI_INT, NULL), DREP_ERR_ARG, "no result");
    FAILS(drep_mpi_datatype(NULL, &datatype), DREP_ERR_ARG, "null pointer");
    FAILS(drep_mpi_datatype(DREP_FLOAT16, &datatype), DREP_ERR_UNSUPPORTED, "FLOAT16");
    OK(drep_type_vstring(&text));
    FAILS(drep_mpi_datatype(text, &datatype), DREP_ERR_TYPE, "no datatype of MPI");
    drep_type_free(text);
    OK(drep_type_contiguous((int64_t)1 << 40, DREP_BYTE, &type));
    FAILS(drep_mpi_datatype(type, &datatype), DREP_ERR_VALUE_TOO_LARGE, "exceeds an int");
    drep_type_free(type);
    check_case("what has no counterpart is refused");
}

#if MPI_VERSION >= 4
/* Types that were made with large counts keep them in another list. */
static void test_large(void)
{
    MPI_Count n = 3, lens[2] = {1, 2}, displs[2] = {0, 5}, lb = -8, extent = 80;
    MPI_Count sizes[2] = {4, 6}, sub[2] = {2, 3}, start[2] = {1, 2};
    MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE}, made[6];
    int i, rank = 2, distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
    int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, procs[2] = {2, 1};

    MPI_Type_vector_c(n, 2, 4, MPI_INT, &made[0]);
    MPI_Type_indexed_c(2, lens, displs, MPI_INT, &made[1]);
    MPI_Type_create_struct_c(2, lens, (MPI_Count[]){0, 8}, types, &made[2]);
    MPI_Type_create_subarray_c(rank, sizes, sub, start, MPI_ORDER_C, MPI_INT, &made[3]);
    MPI_Type_create_darray_c(2, 1, rank, sizes, distribs, dargs, procs, MPI_ORDER_FORTRAN, MPI_INT,
                             &made[4]);
    MPI_Type_create_resized_c(MPI_DOUBLE, lb, extent, &made[5]);
    for (i = 0; i < 6; i++) {
        MPI_Type_commit(&made[i]);
        compare(&(struct made){.datatype = made[i]});
        MPI_Type_free(&made[i]);
    }
    MPI_Type_contiguous_c((MPI_Count)3 << 31, MPI_BYTE, &made[0]);
    {
        drep_type *type = NULL;

        OK(drep_mpi_type(made[0], &type));
        CHECK(type && drep_type_size(type) == (int64_t)3 << 31, "6 GiB");
        drep_type_free(type);
        MPI_Type_free(&made[0]);
    }
    check_case("types made with large counts");
}
#endif

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    test_named();
    test_f90();
    test_f90_inside();
    test_random();
    test_containers();
#if defined(MPICH_VERSION) && defined(MPI_LB)
    test_markers();
#endif
    test_errors();
#if MPI_VERSION >= 4
    test_large();
#endif
    return check_end();
}
