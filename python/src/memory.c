/* memory.c - memory of Python objects, numbers, hints, and rows that callbacks collect. */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

#include <stdlib.h>
#include <string.h>

/* Arrays of dates and of some structs have no buffer. */
static bool from_interface(PyObject *o, bool writable, memory *m)
{
    PyObject *dict = PyObject_GetAttrString(o, "__array_interface__"), *data, *strides,
             *size = NULL;
    bool ok = false;

    if (!dict || !PyDict_Check(dict)) {
        Py_XDECREF(dict);
        PyErr_Format(PyExc_TypeError, "%R has no memory that can be used here", Py_TYPE(o));
        return false;
    }
    data = PyDict_GetItemString(dict, "data");
    strides = PyDict_GetItemString(dict, "strides");
    if (strides && strides != Py_None) {
        PyErr_SetString(PyExc_ValueError, "the array is not C-contiguous");
    } else if (data && PyTuple_Check(data) && PyTuple_Size(data) == 2) {
        m->ptr = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
        size = PyObject_GetAttrString(o, "nbytes");
        m->size = size ? PyLong_AsSsize_t(size) : -1;
        if (writable && PyObject_IsTrue(PyTuple_GetItem(data, 1)))
            PyErr_SetString(PyExc_ValueError, "the array is read-only");
        ok = !PyErr_Occurred();
    } else {
        PyErr_SetString(PyExc_TypeError, "the object's __array_interface__ has no data");
    }
    Py_XDECREF(size);
    Py_DECREF(dict);
    return ok;
}

bool memory_get(PyObject *o, bool writable, memory *m)
{
    m->buffer = false;
    if (PyObject_GetBuffer(o, &m->view, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) == 0) {
        m->buffer = true;
        m->ptr = m->view.buf;
        m->size = m->view.len;
        return true;
    }
    if (!PyObject_HasAttrString(o, "__array_interface__")) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "%R has no memory that can be used here", Py_TYPE(o));
        return false;
    }
    PyErr_Clear();
    return from_interface(o, writable, m);
}

void memory_release(memory *m)
{
    if (m->buffer)
        PyBuffer_Release(&m->view);
    m->buffer = false;
}

bool tuple_fields(PyObject *o, const char *format, ...)
{
    va_list fields;
    bool ok;

    if (!o || !PyTuple_Check(o)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "a tuple is needed, not %R", o ? Py_TYPE(o) : NULL);
        return false;
    }
    va_start(fields, format);
    ok = PyArg_VaParse(o, format, fields);
    va_end(fields);
    return ok;
}

bool numbers(PyObject *seq, int64_t *out, int max, int *n)
{
    PyObject *tuple = PySequence_Tuple(seq);
    Py_ssize_t count;

    if (!tuple)
        return false;
    count = PyTuple_Size(tuple);
    if (count > max) {
        PyErr_Format(PyExc_ValueError, "%zd dimensions, at most %d are possible", count, max);
        Py_DECREF(tuple);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GetItem(tuple, i), *index;
        if (item == Py_None) {
            out[i] = DREP_UNLIMITED;
            continue;
        }
        index = PyNumber_Index(item);
        out[i] = index ? PyLong_AsLongLong(index) : -1;
        Py_XDECREF(index);
        if (out[i] == -1 && PyErr_Occurred()) {
            Py_DECREF(tuple);
            return false;
        }
    }
    Py_DECREF(tuple);
    *n = (int)count;
    return true;
}

PyObject *tuple_of(const int64_t *v, int n)
{
    PyObject *tuple = PyTuple_New(n);

    for (int i = 0; tuple && i < n; i++) {
        PyObject *item = PyLong_FromLongLong(v[i]);
        if (!item || PyTuple_SetItem(tuple, i, item) < 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

static bool info_put(drep_info *info, PyObject *key, PyObject *value)
{
    PyObject *k = PyObject_Str(key);
    PyObject *v = PyBool_Check(value) ? PyUnicode_FromString(value == Py_True ? "true" : "false")
                                      : PyObject_Str(value);
    const char *ks = k ? PyUnicode_AsUTF8AndSize(k, NULL) : NULL;
    const char *vs = v ? PyUnicode_AsUTF8AndSize(v, NULL) : NULL;
    int err = 0;

    if (ks && vs && (err = drep_info_set(info, ks, vs)))
        raise_error(err, NULL);
    Py_XDECREF(k);
    Py_XDECREF(v);
    return ks && vs && !err;
}

bool info_from(PyObject *dict, drep_info **out)
{
    PyObject *key, *value;
    Py_ssize_t pos = 0;
    int err;

    *out = NULL;
    if (dict == Py_None)
        return true;
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "hints are a dict");
        return false;
    }
    if ((err = drep_info_new(out))) {
        raise_error(err, NULL);
        return false;
    }
    while (PyDict_Next(dict, &pos, &key, &value))
        if (!info_put(*out, key, value)) {
            drep_info_free(*out);
            *out = NULL;
            return false;
        }
    return true;
}

PyObject *text(const char *s)
{
    if (!s)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "surrogateescape");
}

PyObject *info_dict(drep_info *info)
{
    PyObject *dict = PyDict_New();

    for (int i = 0; dict && i < drep_info_count(info); i++) {
        const char *key = drep_info_key(info, i);
        PyObject *value = text(drep_info_get(info, key));
        if (!value || PyDict_SetItemString(dict, key, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    drep_info_free(info);
    return dict;
}

void rows_put(rows *r, const void *p, size_t n)
{
    if (r->failed)
        return;
    if (r->len + n > r->room) {
        size_t room = (r->room + n) * 2 + 256;
        char *buf = realloc(r->buf, room);
        if (!buf) {
            r->failed = true;
            return;
        }
        r->buf = buf;
        r->room = room;
    }
    memcpy(r->buf + r->len, p, n);
    r->len += n;
}

void rows_number(rows *r, int64_t v)
{
    rows_put(r, &v, sizeof v);
}

void rows_string(rows *r, const char *s)
{
    int64_t n = s ? (int64_t)strlen(s) : -1;

    rows_number(r, n);
    if (s)
        rows_put(r, s, (size_t)n);
}

int64_t rows_get_number(const char **p)
{
    int64_t v;

    memcpy(&v, *p, sizeof v);
    *p += sizeof v;
    return v;
}

PyObject *rows_get_string(const char **p)
{
    int64_t n = rows_get_number(p);
    PyObject *s;

    if (n < 0)
        Py_RETURN_NONE;
    s = PyUnicode_DecodeUTF8(*p, (Py_ssize_t)n, "surrogateescape");
    *p += n;
    return s;
}

PyObject *rows_list(rows *r, int err, handle *h, PyObject *(*row)(const char **))
{
    const char *p = r->buf;
    PyObject *list = NULL;

    if (err)
        raise_error(err, h);
    else if (r->failed)
        PyErr_NoMemory();
    else
        list = PyList_New((Py_ssize_t)r->n);
    for (int64_t i = 0; list && i < r->n; i++) {
        PyObject *one = row(&p);
        if (!one)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, one);
    }
    free(r->buf);
    return list;
}

PyObject *report_tuple(const drep_report *r)
{
    if (!r->overflow && !r->inexact && !r->nan_lost)
        Py_RETURN_NONE;
    return Py_BuildValue("(LLLLLLL)", (long long)r->items, (long long)r->overflow,
                         (long long)r->inexact, (long long)r->nan_lost,
                         (long long)r->first_overflow, (long long)r->first_inexact,
                         (long long)r->first_nan_lost);
}
