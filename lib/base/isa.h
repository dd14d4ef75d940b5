/* isa.h - which vector instructions this processor has.
 *
 * Loops that gain from them are compiled once for each set, with the attributes below, and
 * chosen at run time; the portable form is always there. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_ISA_H
#define BASE_ISA_H

#if defined(__x86_64__) && defined(__GNUC__)
#define ISA_X86 1
#define TARGET_AVX2 __attribute__((target("avx2")))
#define TARGET_AVX512 __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl")))
#endif

/* For loops whose constants must be folded, and for their rare branches. */
#define INLINE static inline __attribute__((always_inline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum isa { ISA_PORTABLE, ISA_AVX2, ISA_AVX512, ISAS };

/* The best this processor has, unless the environment's DREP_KERNEL ("portable",
 * "avx2", "avx512") asks for less. */
enum isa isa_get(void);
const char *isa_name(void);
/* For tests: at most `isa` from now on; ISAS undoes it. */
void isa_limit(enum isa isa);

#endif
