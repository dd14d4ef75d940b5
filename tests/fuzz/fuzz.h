/* fuzz.h - what fuzz targets share. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A broken promise ends the run, in every build. */
#define PROMISE(truth)                                                                  \
    do {                                                                                \
        if (!(truth)) {                                                                 \
            fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #truth); \
            abort();                                                                    \
        }                                                                               \
    } while (0)

#endif
