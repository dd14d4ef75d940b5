/* plan.c - plans, made of a datatype of the library and a dtype of NumPy. */
/* SPDX-License-Identifier: MIT */
#include "src/plan.h"

#include <stdlib.h>
#include <string.h>

PyTypeObject *plan_class;

enum { DEEPEST = 64 }; /* parts in one another */

static void part_release(part *p)
{
    Py_ssize_t n = p->kind == STRUCT ? p->count : p->parts ? 1 : 0;

    for (Py_ssize_t i = 0; i < n; i++)
        part_release(&p->parts[i]);
    free(p->parts);
    Py_XDECREF(p->object);
}

static bool make(part *p, const drep_type *t, PyObject *dtype, int depth);

/* Bytes of an element of a dtype, and whether it is a pointer to an object; -1: an exception. */
static int is_object(PyObject *dtype, Py_ssize_t *size)
{
    PyObject *letter, *bytes;
    int is = -1;

    if (!is_dtype(dtype))
        return -1;
    letter = PyObject_GetAttrString(dtype, "char");
    bytes = PyObject_GetAttrString(dtype, "itemsize");
    if (letter && bytes) {
        *size = PyLong_AsSsize_t(bytes);
        is = PyUnicode_CompareWithASCIIString(letter, "O") == 0;
    }
    Py_XDECREF(letter);
    Py_XDECREF(bytes);
    return PyErr_Occurred() ? -1 : is;
}

/* metadata[key] of a dtype of objects; a new reference. */
static PyObject *metadata(PyObject *dtype, const char *key)
{
    PyObject *all = PyObject_GetAttrString(dtype, "metadata");
    PyObject *one = all && all != Py_None ? PyMapping_GetItemString(all, key) : NULL;

    if (!one && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "a dtype of objects without %s", key);
    Py_XDECREF(all);
    return one;
}

static bool make_parts(part *p, Py_ssize_t n)
{
    p->parts = calloc((size_t)n + 1, sizeof *p->parts);
    if (!p->parts)
        PyErr_NoMemory();
    return p->parts;
}

static bool make_sequence(part *p, const drep_type *t, PyObject *dtype, int depth)
{
    p->object = metadata(dtype, "vlen");
    return p->object && make_parts(p, 1) &&
           make(p->parts, drep_type_member(t, 0), p->object, depth);
}

/* Members that lie alike on both sides, and nothing else, are copied together. */
static void join(part *p)
{
    bool alike = p->there == p->here;

    for (Py_ssize_t i = 0; i < p->count; i++) {
        const part *m = &p->parts[i];
        alike = alike && m->kind == COPY && m->at_there == m->at_here && m->there == m->here;
    }
    if (alike) {
        free(p->parts);
        p->parts = NULL;
        p->count = 0;
        p->kind = COPY;
    }
}

static bool make_member(part *p, const drep_type *t, int64_t i, PyObject *fields, int depth)
{
    part *m = &p->parts[i];
    PyObject *row = PyMapping_GetItemString(fields, drep_type_member_name(t, i)), *dtype, *title;
    Py_ssize_t offset = -1;
    bool ok = row && tuple_fields(row, "On|O", &dtype, &offset, &title) &&
              make(m, drep_type_member(t, i), dtype, depth);

    Py_XDECREF(row);
    if (!ok)
        return false;
    m->at_there = (Py_ssize_t)drep_type_member_offset(t, i);
    m->at_here = offset;
    if (m->at_there >= 0 && m->at_here >= 0 && m->there <= p->there - m->at_there &&
        m->here <= p->here - m->at_here)
        return true;
    PyErr_SetString(PyExc_ValueError, "a member reaches beyond its struct");
    return false;
}

static bool make_struct(part *p, const drep_type *t, PyObject *dtype, int depth)
{
    PyObject *fields = PyObject_GetAttrString(dtype, "fields");
    int64_t n = drep_type_members(t);
    bool ok = fields && make_parts(p, (Py_ssize_t)n);

    for (int64_t i = 0; ok && i < n; i++) {
        p->count++;
        ok = make_member(p, t, i, fields, depth);
    }
    Py_XDECREF(fields);
    if (ok)
        join(p);
    return ok;
}

static bool make_array(part *p, const drep_type *t, PyObject *dtype, int depth)
{
    PyObject *pair = PyObject_GetAttrString(dtype, "subdtype"), *base, *shape;
    const drep_type *one = drep_type_member(t, 0);
    bool ok;

    while (drep_type_kind(one) == DREP_KIND_ARRAY) /* the dtype of arrays of arrays is one of all */
        one = drep_type_member(one, 0);
    ok = pair && tuple_fields(pair, "OO", &base, &shape) && make_parts(p, 1) &&
         make(p->parts, one, base, depth);
    Py_XDECREF(pair);
    if (!ok)
        return false;
    p->count = p->parts->there > 0 ? p->there / p->parts->there : 0;
    if (p->count < 1 || p->count * p->parts->there != p->there ||
        p->parts->here != p->here / p->count) {
        PyErr_SetString(PyExc_ValueError, "arrays of different lengths");
        return false;
    }
    if (p->parts->kind == COPY && p->there == p->here) {
        free(p->parts);
        p->parts = NULL;
        p->kind = COPY;
    }
    return true;
}

static bool mismatch(const drep_type *t, PyObject *dtype)
{
    char *name = NULL;

    if (drep_type_print(t, &name) == 0)
        PyErr_Format(PyExc_TypeError, "elements of %s do not become elements of %R", name, dtype);
    else
        PyErr_NoMemory();
    free(name);
    return false;
}

/* Elements without pointers on either side. */
static bool make_plain(part *p, const drep_type *t, PyObject *dtype)
{
    PyObject *has = PyObject_GetAttrString(dtype, "hasobject");
    int objects = has ? PyObject_IsTrue(has) : -1;

    Py_XDECREF(has);
    if (objects < 0)
        return false;
    p->kind = drep_type_kind(t) == DREP_KIND_STRING && drep_type_string_pad(t) == DREP_PAD_SPACE
                  ? PADDED
                  : COPY;
    return (!objects && !drep_type_variable(t) && p->here <= p->there) || mismatch(t, dtype);
}

/* What a leaf becomes as an object; COPY: nothing. */
static enum part_kind as_object(const drep_type *t, bool *is_signed)
{
    int code;

    if (drep_type_kind(t) == DREP_KIND_ENUM)
        t = drep_type_member(t, 0);
    code = drep_type_code(t);
    *is_signed = code != DREP_CODE_UINT128_T;
    switch (drep_type_kind(t)) {
    case DREP_KIND_VSTRING:
        return TEXT;
    case DREP_KIND_SEQUENCE:
        return SEQUENCE;
    case DREP_KIND_REFERENCE:
        return REFERENCE;
    }
    return code == DREP_CODE_INT128_T || code == DREP_CODE_UINT128_T || code == DREP_CODE_INTEGER16
               ? INTEGER
               : COPY;
}

static bool make(part *p, const drep_type *t, PyObject *dtype, int depth)
{
    int object = is_object(dtype, &p->here), kind = drep_type_kind(t);

    p->there = (Py_ssize_t)drep_type_extent(t);
    if (object < 0)
        return false;
    if (depth > DEEPEST || p->there < 1 || p->here < 1 || drep_type_lb(t) != 0) {
        PyErr_SetString(PyExc_ValueError, "elements of such a type do not become objects");
        return false;
    }
    if (!object && (kind == DREP_KIND_COMPOUND || kind == DREP_KIND_ARRAY)) {
        p->kind = kind == DREP_KIND_ARRAY ? ARRAY : STRUCT;
        return p->kind == ARRAY ? make_array(p, t, dtype, depth + 1)
                                : make_struct(p, t, dtype, depth + 1);
    }
    if (!object)
        return make_plain(p, t, dtype);
    p->kind = as_object(t, &p->is_signed);
    if (p->kind == SEQUENCE)
        return make_sequence(p, t, dtype, depth + 1);
    if (p->kind == REFERENCE)
        p->object = metadata(dtype, "ref");
    if (p->kind == COPY)
        return mismatch(t, dtype);
    return p->kind != REFERENCE || p->object;
}

/* Plan(Type, dtype) */
static PyObject *plan_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    PyObject *t, *dtype;
    const drep_type *type;
    plan *self;

    if (kwargs && PyDict_Size(kwargs))
        return PyErr_Format(PyExc_TypeError, "Plan() takes no keywords");
    if (!PyArg_ParseTuple(args, "O!O", type_class, &t, &dtype) || !type_converter(t, &type))
        return NULL;
    self = (plan *)((allocfunc)PyType_GetSlot(cls, Py_tp_alloc))(cls, 0);
    if (!self)
        return NULL;
    if (!make(&self->whole, type, dtype, 0)) {
        Py_DECREF(self);
        return NULL;
    }
    self->t = drep_type_ref(type);
    self->dtype = Py_NewRef(dtype);
    return (PyObject *)self;
}

static void plan_dealloc(PyObject *o)
{
    plan *self = (plan *)o;
    PyTypeObject *cls = Py_TYPE(o);

    part_release(&self->whole);
    drep_type_free(self->t);
    Py_XDECREF(self->dtype);
    ((freefunc)PyType_GetSlot(cls, Py_tp_free))(o);
    Py_DECREF(cls);
}

static PyObject *get_texts(PyObject *o, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((plan *)o)->whole.kind == TEXT);
}

static PyGetSetDef plan_getset[] = {
    {"texts", get_texts, NULL, "whether the elements are texts, nothing else", NULL},
    {0},
};

static PyType_Slot plan_slots[] = {
    {Py_tp_new, plan_new},
    {Py_tp_dealloc, plan_dealloc},
    {Py_tp_getset, plan_getset},
    {Py_tp_doc, "Plan(Type, dtype): how elements that hold pointers become objects."},
    {0, NULL},
};
static PyType_Spec plan_type_spec = {"datarep._core.Plan", sizeof(plan), 0, Py_TPFLAGS_DEFAULT,
                                     plan_slots};

bool plan_add(PyObject *module)
{
    plan_class = (PyTypeObject *)PyType_FromSpec(&plan_type_spec);
    return plan_class && PyModule_AddObjectRef(module, "Plan", (PyObject *)plan_class) == 0;
}
