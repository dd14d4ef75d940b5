/* enter.h - functions that this library has in place of libnetcdf's, and the way on to them. */
/* SPDX-License-Identifier: MIT */
#ifndef NETCDF_ENTER_H
#define NETCDF_ENTER_H
#include "netcdf/door.h"

/* The function of this name that the caller would have without us: that of the libnetcdf which its
 * object was linked with, or the next one of the process, or NULL. */
void *door_next(const char *name, void *own, void *caller);
/* The file, if it is ours and of the library that has the function `next`. */
struct door *door_of_library(int ncid, void *next);
/* dlsym() gives an object pointer, which C does not convert. */
#define AS_FUNCTION(type, symbol) \
    (((union {                    \
         void *object;            \
         type *function;          \
     }){.object = (symbol)})      \
         .function)
#define DOOR_NEXT(type, name)                       \
    AS_FUNCTION(type, door_next(#name,              \
                                (union {            \
                                    type *function; \
                                    void *object;   \
                                }){name}            \
                                    .object,        \
                                __builtin_return_address(0)))

#endif
