/* pass.h - the passes that kernels are made of.
 *
 * Each is a loop over scalars that lie back to back, little-endian, compiled once for each set of
 * vector instructions; the functions here look one up. */
/* SPDX-License-Identifier: MIT */
#ifndef KERN_PASS_H
#define KERN_PASS_H

#include "kern/kernel.h"

/* Float hardware that rounds, and treats NaNs, as side.c does. */
#if defined(__x86_64__) || defined(__aarch64__)
#define KERN_FLOAT 1
#endif
/* True if the float unit is in its default state: rounds to nearest, keeps subnormals, traps
 * nothing. */
bool kern_float_default(void);

/* The sorts of scalar that have passes of their own. */
enum scalar_sort { I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64, OTHER };

/* Each pass_X() gives NULL where there is no such pass here. */
/* Integers, wrapping. */
pass_fn *pass_resize(enum scalar_sort dst, enum scalar_sort src, enum isa isa);
/* The one pass that structs are full of, without a tile, where one side's order is turned
 * and items lie apart.  false: not this one. */
bool resize_strided(const struct kernel *k, uint8_t *dst, int64_t dst_stride, const uint8_t *src,
                    int64_t src_stride, int64_t n);
pass_fn *pass_bounds(enum scalar_sort src, bool clamp, enum isa isa); /* low..high; else a look */
pass_fn *pass_truth(int size, enum isa isa);                          /* to U8, 0 or 1 */
pass_fn *pass_float(enum scalar_sort dst, enum scalar_sort src, bool counts, enum isa isa);
/* A look at what pass_float(), not counting, would make an infinity; NULL: there is none. */
pass_fn *pass_float_look(enum scalar_sort dst, enum scalar_sort src, enum isa isa);
/* F32 or F64 to the nearest whole number. */
pass_fn *pass_whole(enum scalar_sort src, enum isa isa);
/* A look and the pass behind it in one loop; turn: the source is big-endian. */
checked_fn *checked_resize(enum scalar_sort dst, enum scalar_sort src, bool turn, enum isa isa);
checked_fn *checked_float(enum scalar_sort dst, enum scalar_sort src, bool turn, enum isa isa);
/* True if pass_float() of these uses the float unit. */
bool pass_float_hard(enum scalar_sort dst, enum scalar_sort src);
/* Unchecked, big-endian on the one side or the other. */
pass_fn *pass_turned(enum scalar_sort dst, enum scalar_sort src, bool turn_to, enum isa isa);
pass_fn *pass_soft_turned(int dst_format, int src_format, int src_size, bool turn_to, enum isa isa);
pass_fn *pass_pair(bool to_pair, enum isa isa);                   /* F64 and double-double */
pass_fn *pass_soft(int dst_format, int src_format, enum isa isa); /* by number.h */
pass_fn pass_general, pass_to_ebcdic, pass_from_ebcdic;

/* VARIANTS(name, call) compiles a pass for each instruction set, with constant arguments,
 * CHECKED_VARIANTS(name, call) a checked one; VARIANT(name, isa) chooses one. */
#define CHECKED_ARGS const struct kernel *k, uint8_t *dst, const uint8_t *src, int64_t n
#ifdef ISA_X86
#define VARIANTS(name, call)                           \
    static void name##_portable(PASS_ARGS)             \
    {                                                  \
        call;                                          \
    }                                                  \
    TARGET_AVX2 static void name##_avx2(PASS_ARGS)     \
    {                                                  \
        call;                                          \
    }                                                  \
    TARGET_AVX512 static void name##_avx512(PASS_ARGS) \
    {                                                  \
        call;                                          \
    }
#define CHECKED_VARIANTS(name, call)                         \
    static int64_t name##_portable(CHECKED_ARGS)             \
    {                                                        \
        return call;                                         \
    }                                                        \
    TARGET_AVX2 static int64_t name##_avx2(CHECKED_ARGS)     \
    {                                                        \
        return call;                                         \
    }                                                        \
    TARGET_AVX512 static int64_t name##_avx512(CHECKED_ARGS) \
    {                                                        \
        return call;                                         \
    }
#define VARIANT(name, isa) \
    ((isa) == ISA_AVX512 ? name##_avx512 : (isa) == ISA_AVX2 ? name##_avx2 : name##_portable)
#else
#define VARIANTS(name, call)               \
    static void name##_portable(PASS_ARGS) \
    {                                      \
        call;                              \
    }
#define CHECKED_VARIANTS(name, call)             \
    static int64_t name##_portable(CHECKED_ARGS) \
    {                                            \
        return call;                             \
    }
#define VARIANT(name, isa) ((void)(isa), name##_portable)
#endif

#endif
