/* plugin_stub.c - stands for libdatarep-netcdf.so: a program shows by its environment that this
 * was loaded into it. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

__attribute__((constructor)) static void say_loaded(void)
{
    setenv("STUB_LOADED", "yes", 1);
}
