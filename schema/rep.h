/* rep.h - data representations that a schema declares: tables of encodings as data.
 *
 *     mainframe: {order: big, base: external32, types: {FLOAT: ibm-hex32, LONG: {size: 4}}} */
/* SPDX-License-Identifier: MIT */
#ifndef SCHEMA_REP_H
#define SCHEMA_REP_H

#include "schema/doc.h"
#include <datarep.h>

struct rep {
    const char *name, *base;
    const struct doc *at;
    drep_encoding row[DREP_CODE_MAX];
    int nrows;
    drep_scalar *scalar;
    int nscalars;
    size_t room;
};

struct schema_reps {
    struct rep *list;
    size_t len;
};

bool reps_read(struct complaints *c, const struct doc *node, struct schema_reps *out);
/* Declare the representations in this process; false after complaining. */
bool reps_declare(struct complaints *c, const struct schema_reps *reps);
void reps_release(struct schema_reps *reps);
/* True if a representation has exactly these rows. */
bool rep_same_rows(const char *name, const drep_encoding *rows, int n);

#endif
