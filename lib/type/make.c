/* make.c - the constructors of the MPI standard (MPI 5.0, chapter 5).
 *
 * Each checks its arguments and stores them in the order of its parameters;
 * prog.c knows what they mean. */
/* SPDX-License-Identifier: MIT */
#include "type/build.h"

#include "base/error.h"
#include "base/mem.h"

#include <datarep.h>
#include <string.h>

int type_check_base(const drep_type *base, drep_type **out)
{
    return base && out ? 0 : fail(DREP_ERR_ARG, "datatype: a null pointer");
}

static int check_count(int64_t count)
{
    if (count < 0)
        return fail(DREP_ERR_COUNT, "datatype: count %lld is negative", (long long)count);
    /* Bound counts so that sums of a few cannot overflow before they are checked. */
    return count > TYPE_SIZE_MAX ? size_fail() : 0;
}

/* The length of a list: one that no memory holds is met before it is read. */
static int check_length(int64_t n)
{
    int err = check_count(n);

    if (!err && n > PTRDIFF_MAX / 32)
        err = fail(DREP_ERR_NOMEM, "out of memory: a list of %lld", (long long)n);
    return err;
}

/* n counts, none of them negative. */
static int check_counts(int64_t n, const int64_t *counts)
{
    int err = n > 0 && !counts ? fail(DREP_ERR_ARG, "datatype: a null pointer") : 0;

    for (int64_t i = 0; i < n && !err; i++)
        err = check_count(counts[i]);
    return err;
}

static int check_pointer(int64_t n, const void *p)
{
    return n > 0 && !p ? fail(DREP_ERR_ARG, "datatype: a null pointer") : 0;
}

/* A type over one base; *next is where its arguments go. */
static int start(int kind, int64_t nargs, const drep_type *base, drep_type **t, int64_t **next)
{
    *t = type_new(kind, nargs, 1);
    if (!*t)
        return DREP_ERR_NOMEM;
    type_set_member(*t, 0, base);
    *next = (*t)->args;
    return 0;
}

static void append_values(int64_t **next, const int64_t *values, int64_t n)
{
    if (n)
        memcpy(*next, values, (size_t)n * sizeof(*values));
    *next += n;
}

static int make_vector(int kind, int64_t count, int64_t blocklen, int64_t stride,
                       const drep_type *base, drep_type **out)
{
    const int64_t args[3] = {count, blocklen, stride};
    drep_type *t;
    int64_t *next;
    int err = type_check_base(base, out);

    if (!err)
        err = check_counts(2, args);
    if (!err)
        err = start(kind, 3, base, &t, &next);
    if (err)
        return err;
    append_values(&next, args, 3);
    return type_finish(t, out);
}

/* lens NULL: every block is `len` long. */
static int make_indexed(int kind, int64_t count, const int64_t *lens, int64_t len,
                        const int64_t *displs, const drep_type *base, drep_type **out)
{
    bool each = kind == DREP_KIND_INDEXED || kind == DREP_KIND_HINDEXED;
    drep_type *t;
    int64_t *next;
    int err = type_check_base(base, out);

    if (!err)
        err = check_length(count);
    if (!err)
        err = each ? check_counts(count, lens) : check_count(len);
    if (!err)
        err = check_pointer(count, displs);
    if (!err)
        err = start(kind, each ? 2 * count + 1 : count + 2, base, &t, &next);
    if (err)
        return err;
    append_values(&next, &count, 1);
    append_values(&next, each ? lens : &len, each ? count : 1);
    append_values(&next, displs, count);
    return type_finish(t, out);
}

int drep_type_contiguous(int64_t count, const drep_type *base, drep_type **out)
{
    drep_type *t;
    int64_t *next;
    int err = type_check_base(base, out);

    if (!err)
        err = check_count(count);
    if (!err)
        err = start(DREP_KIND_CONTIGUOUS, 1, base, &t, &next);
    if (err)
        return err;
    append_values(&next, &count, 1);
    return type_finish(t, out);
}

int drep_type_vector(int64_t count, int64_t blocklen, int64_t stride, const drep_type *base,
                     drep_type **out)
{
    return make_vector(DREP_KIND_VECTOR, count, blocklen, stride, base, out);
}

int drep_type_hvector(int64_t count, int64_t blocklen, int64_t stride, const drep_type *base,
                      drep_type **out)
{
    return make_vector(DREP_KIND_HVECTOR, count, blocklen, stride, base, out);
}

int drep_type_indexed(int64_t count, const int64_t *blocklens, const int64_t *displs,
                      const drep_type *base, drep_type **out)
{
    return make_indexed(DREP_KIND_INDEXED, count, blocklens, 0, displs, base, out);
}

int drep_type_hindexed(int64_t count, const int64_t *blocklens, const int64_t *displs,
                       const drep_type *base, drep_type **out)
{
    return make_indexed(DREP_KIND_HINDEXED, count, blocklens, 0, displs, base, out);
}

int drep_type_indexed_block(int64_t count, int64_t blocklen, const int64_t *displs,
                            const drep_type *base, drep_type **out)
{
    return make_indexed(DREP_KIND_INDEXED_BLOCK, count, NULL, blocklen, displs, base, out);
}

int drep_type_hindexed_block(int64_t count, int64_t blocklen, const int64_t *displs,
                             const drep_type *base, drep_type **out)
{
    return make_indexed(DREP_KIND_HINDEXED_BLOCK, count, NULL, blocklen, displs, base, out);
}

/* Place the members' origins as the C compiler would. */
int type_place_members(drep_type *t)
{
    struct shape *members = mem_zalloc((uint64_t)t->nmembers, sizeof(*members));
    int64_t size, align;
    bool over = false;
    int err;

    if (!members)
        return DREP_ERR_NOMEM;
    for (int64_t i = 0; i < t->nmembers; i++)
        shape_of(&members[i], t->member[i]);
    err = shape_layout(members, t->nmembers, t->blocklen, false, t->displ, &size, &align);
    for (int64_t i = 0; i < t->nmembers; i++) {
        t->displ[i] = size_add(t->displ[i], -members[i].lb, &over);
        shape_release(&members[i]);
    }
    mem_free(members);
    if (!err && over)
        err = size_fail();
    return err;
}

int type_natural_size(const drep_type *t, int64_t *size)
{
    int64_t end = 0;
    bool over = false;

    for (int64_t i = 0; i < t->nmembers; i++) {
        int64_t ub = size_add(t->displ[i], t->member[i]->ub, &over);

        if (!t->member[i]->blank)
            end = ub > end ? ub : end;
    }
    end = size_align(end, t->align, &over);
    if (over)
        return size_fail();
    *size = end;
    return 0;
}

int type_check_members(int64_t count, const drep_type *const *types, drep_type **out)
{
    int err = out ? check_length(count) : fail(DREP_ERR_ARG, "datatype: a null pointer");

    if (!err)
        err = check_pointer(count, types);
    for (int64_t i = 0; i < count && !err; i++)
        err = check_pointer(1, types[i]);
    return err;
}

int drep_type_struct(int64_t count, const int64_t *blocklens, const int64_t *displs,
                     const drep_type *const *types, drep_type **out)
{
    drep_type *t;
    int err = type_check_members(count, types, out);

    if (!err && blocklens)
        err = check_counts(count, blocklens);
    if (err)
        return err;
    t = type_new(DREP_KIND_STRUCT, 2 * count + 1, count);
    if (!t)
        return DREP_ERR_NOMEM;
    t->args[0] = count;
    t->blocklen = t->args + 1;
    t->displ = t->blocklen + count;
    for (int64_t i = 0; i < count; i++) {
        type_set_member(t, i, types[i]);
        t->blocklen[i] = blocklens ? blocklens[i] : 1;
        t->displ[i] = displs ? displs[i] : 0;
    }
    t->natural = !displs;
    if (t->natural)
        err = type_place_members(t);
    if (err) {
        drep_type_free(t);
        return err;
    }
    return type_finish(t, out);
}

static int check_rank(int rank)
{
    if (rank >= 1 && rank <= DREP_MAX_RANK)
        return 0;
    return fail(DREP_ERR_DIMS, "datatype: rank %d is not in 1..%d", rank, DREP_MAX_RANK);
}

static int check_order(int order)
{
    if (order == DREP_ORDER_C || order == DREP_ORDER_FORTRAN)
        return 0;
    return fail(DREP_ERR_ARG, "datatype: %d is not an order of dimensions", order);
}

int drep_type_subarray(int rank, const int64_t *sizes, const int64_t *subsizes,
                       const int64_t *starts, int order, const drep_type *base, drep_type **out)
{
    const int64_t dims = rank;
    const int64_t last = order;
    drep_type *t;
    int64_t *next;
    int err = type_check_base(base, out);

    if (!err)
        err = check_rank(rank);
    if (!err)
        err = check_order(order);
    if (!err && (!sizes || !subsizes || !starts))
        err = fail(DREP_ERR_ARG, "datatype: a null pointer");
    for (int d = 0; d < rank && !err; d++)
        if (sizes[d] < 0 || subsizes[d] < 0 || starts[d] < 0 || subsizes[d] > sizes[d] ||
            starts[d] > sizes[d] - subsizes[d])
            err = fail(DREP_ERR_DIMS, "subarray: dimension %d: %lld elements from %lld on of %lld",
                       d, (long long)subsizes[d], (long long)starts[d], (long long)sizes[d]);
    if (!err)
        err = start(DREP_KIND_SUBARRAY, 3 * rank + 2, base, &t, &next);
    if (err)
        return err;
    append_values(&next, &dims, 1);
    append_values(&next, sizes, rank);
    append_values(&next, subsizes, rank);
    append_values(&next, starts, rank);
    append_values(&next, &last, 1);
    return type_finish(t, out);
}

/* Check one dimension of a distributed array. */
static int check_dealt(int d, int64_t gsize, int distrib, int64_t darg, int64_t psize)
{
    int64_t room;

    if (gsize < 0 || psize < 1)
        return fail(DREP_ERR_DIMS, "darray: dimension %d: %lld elements for %lld processes", d,
                    (long long)gsize, (long long)psize);
    if (distrib != DREP_DISTRIBUTE_NONE && distrib != DREP_DISTRIBUTE_BLOCK &&
        distrib != DREP_DISTRIBUTE_CYCLIC)
        return fail(DREP_ERR_ARG, "darray: dimension %d: %d is not a distribution", d, distrib);
    if (distrib == DREP_DISTRIBUTE_NONE)
        return psize == 1 ? 0
                          : fail(DREP_ERR_ARG,
                                 "darray: dimension %d is not distributed, but has "
                                 "%lld processes",
                                 d, (long long)psize);
    if (darg == DREP_DISTRIBUTE_DFLT_DARG)
        return 0;
    if (darg < 1)
        return fail(DREP_ERR_ARG, "darray: dimension %d: blocks of %lld", d, (long long)darg);
    if (distrib == DREP_DISTRIBUTE_BLOCK && !__builtin_mul_overflow(darg, psize, &room) &&
        room < gsize)
        return fail(DREP_ERR_ARG, "darray: dimension %d: %lld blocks of %lld do not hold %lld", d,
                    (long long)psize, (long long)darg, (long long)gsize);
    return 0;
}

static int check_darray(int nprocs, int proc, int rank, const int64_t *gsizes, const int *distribs,
                        const int64_t *dargs, const int *psizes)
{
    int64_t procs = 1;
    int err = 0;

    if (!gsizes || !distribs || !dargs || !psizes)
        return fail(DREP_ERR_ARG, "datatype: a null pointer");
    for (int d = 0; d < rank && !err; d++) {
        err = check_dealt(d, gsizes[d], distribs[d], dargs[d], psizes[d]);
        if (!err && __builtin_mul_overflow(procs, psizes[d], &procs))
            err = size_fail();
    }
    if (err)
        return err;
    if (procs != nprocs)
        return fail(DREP_ERR_ARG, "darray: a grid of %lld for %d processes", (long long)procs,
                    nprocs);
    if (proc < 0 || proc >= nprocs)
        return fail(DREP_ERR_ARG, "darray: process %d of %d", proc, nprocs);
    return 0;
}

int drep_type_darray(int nprocs, int proc, int rank, const int64_t *gsizes, const int *distribs,
                     const int64_t *dargs, const int *psizes, int order, const drep_type *base,
                     drep_type **out)
{
    drep_type *t;
    int64_t *next;
    int err = type_check_base(base, out);

    if (!err)
        err = check_rank(rank);
    if (!err)
        err = check_order(order);
    if (!err)
        err = check_darray(nprocs, proc, rank, gsizes, distribs, dargs, psizes);
    if (!err)
        err = start(DREP_KIND_DARRAY, 4 * rank + 4, base, &t, &next);
    if (err)
        return err;
    next[0] = nprocs;
    next[1] = proc;
    next[2] = rank;
    for (int d = 0; d < rank; d++) {
        next[3 + d] = gsizes[d];
        next[3 + rank + d] = distribs[d];
        next[3 + 2 * rank + d] = dargs[d];
        next[3 + 3 * rank + d] = psizes[d];
    }
    next[3 + 4 * rank] = order;
    return type_finish(t, out);
}

int drep_type_resized(int64_t lb, int64_t extent, const drep_type *base, drep_type **out)
{
    drep_type *t;
    int64_t *next;
    int err = type_check_base(base, out);

    if (!err && (lb > TYPE_SIZE_MAX || lb < -TYPE_SIZE_MAX))
        err = size_fail();
    if (!err)
        err = start(DREP_KIND_RESIZED, 2, base, &t, &next);
    if (err)
        return err;
    next[0] = lb;
    next[1] = extent;
    return type_finish(t, out);
}

int drep_type_dup(const drep_type *base, drep_type **out)
{
    drep_type *t;
    int64_t *next;
    int err = type_check_base(base, out);

    if (!err)
        err = start(DREP_KIND_DUP, 0, base, &t, &next);
    return err ? err : type_finish(t, out);
}

/* --------------------------------------------- Fortran's parameterised types */

/* The row of the first limits that both parameters meet; -1: undefined. */
static int f90_row(int precision, int range, const int limits[][2], int rows)
{
    if (precision == DREP_UNDEFINED && range == DREP_UNDEFINED)
        return -1;
    if ((precision < 0 && precision != DREP_UNDEFINED) || (range < 0 && range != DREP_UNDEFINED))
        return -1;
    for (int i = 0; i < rows; i++)
        if (precision <= limits[i][0] && range <= limits[i][1])
            return i;
    return -1;
}

static const int real_limits[3][2] = {{6, 37}, {15, 307}, {33, 4931}};
static const int integer_limits[5][2] = {{0, 2}, {0, 4}, {0, 9}, {0, 18}, {0, 38}};

/* Return a predefined datatype: no reference to count. */
static int f90_give(int row, const int *codes, int precision, int range, drep_type **out)
{
    if (!out)
        return fail(DREP_ERR_ARG, "datatype: a null pointer");
    if (row < 0)
        return fail(DREP_ERR_ARG, "no such Fortran kind: precision %d, range %d", precision, range);
    *out = drep_type_ref(drep_predefined(codes[row]));
    return 0;
}

int drep_type_f90_real(int precision, int range, drep_type **out)
{
    static const int codes[3] = {DREP_CODE_REAL4, DREP_CODE_REAL8, DREP_CODE_REAL16};

    return f90_give(f90_row(precision, range, real_limits, 3), codes, precision, range, out);
}

int drep_type_f90_complex(int precision, int range, drep_type **out)
{
    static const int codes[3] = {DREP_CODE_COMPLEX8, DREP_CODE_COMPLEX16, DREP_CODE_COMPLEX32};

    return f90_give(f90_row(precision, range, real_limits, 3), codes, precision, range, out);
}

int drep_type_f90_integer(int range, drep_type **out)
{
    static const int codes[5] = {DREP_CODE_INTEGER1, DREP_CODE_INTEGER2, DREP_CODE_INTEGER4,
                                 DREP_CODE_INTEGER8, DREP_CODE_INTEGER16};

    return f90_give(f90_row(DREP_UNDEFINED, range, integer_limits, 5), codes, DREP_UNDEFINED, range,
                    out);
}
