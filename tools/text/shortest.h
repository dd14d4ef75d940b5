/* shortest.h - the shortest decimal text that reads back to the same real.
 *
 * Gives the length of what was written at text, which has room for SHORTEST_MAX
 * bytes; no NUL follows.  Finite values only.  Where there is no C++ compiler,
 * real.c has a slower version of both. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_SHORTEST_H
#define TOOLS_TEXT_SHORTEST_H

#include <stddef.h>

#define SHORTEST_MAX 64

#ifdef __cplusplus
extern "C" {
#endif
size_t shortest_float(char *text, float value);
size_t shortest_double(char *text, double value);
#ifdef __cplusplus
}
#endif
#endif
