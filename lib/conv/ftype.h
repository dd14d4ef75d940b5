/* ftype.h - a datatype as one file has it: in memory here, laid out there.
 *
 * lib/file/types.c makes those that records name and keeps them for the life of the file; code that
 * converts single elements builds one of its own on the stack. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_FTYPE_H
#define CONV_FTYPE_H

#include "type/type.h"

#include <stdatomic.h>

struct conv;
struct self_kept;

struct ftype {
    drep_type *type;    /* as this machine holds it */
    struct prog stored; /* as the file does, where laid_out; attributes carry their own layout */
    bool laid_out;
    bool matched; /* the members that memory names (conv/members.h); */
    bool part;    /* elements have others, which a write keeps */
    bool kept;    /* for the life of the file: conv_init() may keep its result in `ready` */
    _Atomic(struct conv *) ready[2];  /* to read, to write elements of this type in memory */
    _Atomic(struct self_kept *) self; /* kept: how a value of this type lies (conv/value.c) */
};

#endif
