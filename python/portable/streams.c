/* streams.c - the standard streams, for archives that were compiled for executables.
 *
 * Debian's libblosc.a and libhdf5.a are position independent, but name `stderr` as only an
 * executable may: a shared object cannot have its own copy of a variable of the C library.  The
 * linker renames their references (--wrap) to these variables. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#define HIDDEN __attribute__((visibility("hidden")))

extern FILE *__real_stderr, *__real_stdout;
extern FILE *__wrap_stderr, *__wrap_stdout;
HIDDEN FILE *__wrap_stderr, *__wrap_stdout;

__attribute__((constructor)) static void copy(void)
{
    __wrap_stderr = __real_stderr;
    __wrap_stdout = __real_stdout;
}
