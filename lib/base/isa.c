/* isa.c - asks the processor once. */
/* SPDX-License-Identifier: MIT */
#include "base/isa.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static enum isa isa_here, isa_most = ISAS;

static void isa_find(void)
{
    const char *wish = getenv("DREP_KERNEL");

    isa_here = ISA_PORTABLE;
#ifdef ISA_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2"))
        isa_here = ISA_AVX2;
    if (isa_here == ISA_AVX2 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        isa_here = ISA_AVX512;
#endif
    if (wish && strcmp(wish, "portable") == 0)
        isa_here = ISA_PORTABLE;
    if (wish && strcmp(wish, "avx2") == 0 && isa_here > ISA_AVX2)
        isa_here = ISA_AVX2;
}

enum isa isa_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, isa_find);
    return isa_here < isa_most ? isa_here : isa_most;
}

void isa_limit(enum isa isa)
{
    isa_most = isa;
}

const char *isa_name(void)
{
    static const char *const names[ISAS] = {"portable", "avx2", "avx512"};

    return names[isa_get()];
}
