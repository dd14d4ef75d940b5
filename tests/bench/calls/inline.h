/* inline.h - inline functions are part of who calls them: they are not counted. */
/* SPDX-License-Identifier: MIT */
#define inline inline __attribute__((no_instrument_function))
