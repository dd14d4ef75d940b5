/* shuffle_avx2.c - the form with AVX2: two lanes. */
/* SPDX-License-Identifier: MIT */
#include "base/isa.h"
#include "chunk/shuffle.h"

#ifdef ISA_X86
/* Headers come first, so that only the body's own functions get the target. */
#include <string.h>
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE_LANES 2
#endif
#endif
#ifndef SHUFFLE_LANES
#define SHUFFLE_LANES 0
#endif
#define SHUFFLE(name) shuffle_avx2_##name
#include "chunk/shuffle_body.h"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
