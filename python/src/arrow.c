/* arrow.c - Arrow's C data interface: the two structs, in capsules, from what datarep/arrow.py has
 * laid out.  The structs are defined by that interface; whoever takes them calls their release. */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

#include <stdlib.h>
#include <string.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

static void schema_release(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++) {
        if (s->children[i] && s->children[i]->release)
            s->children[i]->release(s->children[i]);
        free(s->children[i]);
    }
    free(s->children);
    free((char *)s->format);
    free((char *)s->name);
    s->release = NULL;
}

/* The memory that an array's buffers lie in. */
struct arrow_held {
    int64_t n;
    memory m[];
};

static void arrow_array_release(struct ArrowArray *a)
{
    struct arrow_held *held = a->private_data;

    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i] && a->children[i]->release)
            a->children[i]->release(a->children[i]);
        free(a->children[i]);
    }
    free(a->children);
    free(a->buffers);
    if (held) {
        PyGILState_STATE gil = PyGILState_Ensure();
        for (int64_t i = 0; i < held->n; i++)
            memory_release(&held->m[i]);
        PyGILState_Release(gil);
    }
    free(held);
    a->release = NULL;
}

enum { DEEPEST = 64 };

static bool not_deeper(int depth)
{
    if (depth > DEEPEST)
        PyErr_SetString(PyExc_RecursionError, "arrays in one another");
    return depth <= DEEPEST;
}

/* (format, name, [children]) */
static bool fill_schema(PyObject *o, struct ArrowSchema *s, int depth)
{
    const char *format, *name;
    PyObject *children;
    Py_ssize_t n;

    memset(s, 0, sizeof *s);
    if (!not_deeper(depth) || !tuple_fields(o, "ssO!", &format, &name, &PyList_Type, &children))
        return false;
    n = PyList_Size(children);
    s->release = schema_release;
    s->format = strdup(format);
    s->name = strdup(name);
    s->children = calloc((size_t)n + 1, sizeof *s->children);
    for (Py_ssize_t i = 0; s->children && i < n; i++) {
        s->children[i] = calloc(1, sizeof **s->children);
        s->n_children++;
        if (!s->children[i] || !fill_schema(PyList_GetItem(children, i), s->children[i], depth + 1))
            return false;
    }
    return s->format && s->name && s->children;
}

static bool fill_buffers(PyObject *list, struct ArrowArray *a)
{
    Py_ssize_t n = PyTuple_Size(list);
    struct arrow_held *held = calloc(1, sizeof *held + (size_t)n * sizeof *held->m);

    a->private_data = held;
    a->buffers = calloc((size_t)n + 1, sizeof *a->buffers);
    if (!held || !a->buffers)
        return false;
    for (Py_ssize_t i = 0; i < n; i++, held->n++, a->n_buffers++) {
        PyObject *b = PyTuple_GetItem(list, i);
        if (b == Py_None)
            continue;
        if (!memory_get(b, false, &held->m[i]))
            return false;
        a->buffers[i] = held->m[i].ptr;
    }
    return true;
}

/* (length, [buffers: objects or None], [children]) */
static bool fill_array(PyObject *o, struct ArrowArray *a, int depth)
{
    PyObject *buffers, *children, *fixed;
    long long length;
    Py_ssize_t n;
    bool ok;

    memset(a, 0, sizeof *a);
    if (!not_deeper(depth) ||
        !tuple_fields(o, "LO!O!", &length, &PyList_Type, &buffers, &PyList_Type, &children) ||
        !(fixed = PySequence_Tuple(buffers)))
        return false;
    a->release = arrow_array_release;
    a->length = length;
    ok = fill_buffers(fixed, a);
    Py_DECREF(fixed);
    if (!ok)
        return false;
    n = PyList_Size(children);
    a->children = calloc((size_t)n + 1, sizeof *a->children);
    for (Py_ssize_t i = 0; a->children && i < n; i++) {
        a->children[i] = calloc(1, sizeof **a->children);
        a->n_children++;
        if (!a->children[i] || !fill_array(PyList_GetItem(children, i), a->children[i], depth + 1))
            return false;
    }
    return a->buffers && a->children;
}

static void schema_drop(PyObject *capsule)
{
    struct ArrowSchema *s = PyCapsule_GetPointer(capsule, "arrow_schema");

    if (s && s->release)
        s->release(s);
    free(s);
}

static void array_drop(PyObject *capsule)
{
    struct ArrowArray *a = PyCapsule_GetPointer(capsule, "arrow_array");

    if (a && a->release)
        a->release(a);
    free(a);
}

/* arrow_export(schema, array): (capsule "arrow_schema", capsule "arrow_array") */
static PyObject *arrow_export(PyObject *module, PyObject *args)
{
    PyObject *schema, *array, *first, *second;
    struct ArrowSchema *s;
    struct ArrowArray *a;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &schema, &array))
        return NULL;
    s = calloc(1, sizeof *s);
    a = calloc(1, sizeof *a);
    first = s ? PyCapsule_New(s, "arrow_schema", schema_drop) : PyErr_NoMemory();
    second = a ? PyCapsule_New(a, "arrow_array", array_drop) : PyErr_NoMemory();
    if (first && second && fill_schema(schema, s, 0) && fill_array(array, a, 0))
        return Py_BuildValue("(NN)", first, second);
    if (!PyErr_Occurred())
        PyErr_NoMemory();
    if (!first)
        free(s);
    if (!second)
        free(a);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return NULL;
}

PyMethodDef exchange_functions[] = {
    {"arrow_export", arrow_export, METH_VARARGS, "(schema, array): two capsules"},
    {0},
};
