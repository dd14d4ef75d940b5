/* plan.h - how elements lie in the library's memory and in an array of NumPy.
 *
 * In memory of the library a text and a sequence are a drep_vlen, a reference a drep_ref; in
 * an array each is a pointer to an object.  A plan is made of a datatype and a dtype, part by part,
 * so that it reads a pointer only where the datatype has one, and an object only where the dtype
 * has. */
/* SPDX-License-Identifier: MIT */
#ifndef SRC_PLAN_H
#define SRC_PLAN_H

#include "src/core.h"

enum part_kind { COPY, TEXT, SEQUENCE, REFERENCE, STRUCT, ARRAY, INTEGER, PADDED };

/* A part of an element.  COPY: `here` bytes as they are.  INTEGER: 16 bytes and an int.  PADDED: a
 * text of `here` bytes, with blanks behind it there and NULs here. */
typedef struct part {
    enum part_kind kind;
    Py_ssize_t there, here;       /* bytes of it in the library's memory and in the array */
    Py_ssize_t at_there, at_here; /* of a member: its offsets in the struct */
    Py_ssize_t count;             /* ARRAY: elements; else how many parts follow */
    struct part *parts;           /* STRUCT: members; ARRAY, SEQUENCE: one */
    PyObject *object;             /* SEQUENCE: the dtype of its elements; REFERENCE: the class */
    bool is_signed;
} part;

typedef struct plan {
    PyObject_HEAD drep_type *t;
    PyObject *dtype;
    part whole;
} plan;

extern PyTypeObject *plan_class;
bool plan_add(PyObject *module);

#endif
