/* memory.c - memory of Python objects, numbers, hints, and rows that callbacks collect. */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool memory_of_buffer(PyObject *o, int flags, memory *m)
{
    m->elements = NULL;
    m->buffer = PyObject_GetBuffer(o, &m->view, flags) == 0;
    if (!m->buffer)
        return false;
    m->ptr = m->view.buf;
    m->size = m->view.len;
    return true;
}

/* Whether a buffer's format has objects, outside of the names of members, ":name:". */
static bool format_has_objects(const char *s)
{
    bool name = false;

    for (; s && *s; s++) {
        if (*s == ':')
            name = !name;
        else if (*s == 'O' && !name)
            return true;
    }
    return false;
}

/* Memory of objects, whose pointers are Python's alone. */
static bool objects(void)
{
    PyErr_SetString(PyExc_TypeError, "memory of objects cannot be used here");
    return false;
}

bool memory_get(PyObject *o, bool writable, memory *m)
{
    int flags = writable ? PyBUF_WRITABLE : PyBUF_SIMPLE, has;

    m->buffer = false;
    m->elements = NULL;
    if (is_array(o)) { /* arrays of dates have no format */
        has = holds_objects(o);
        if (has)
            return has < 0 ? false : objects();
        return memory_of_buffer(o, flags, m);
    }
    if (!PyObject_CheckBuffer(o)) {
        PyErr_Format(PyExc_TypeError, "%R has no memory that can be used here", Py_TYPE(o));
        return false;
    }
    if (!memory_of_buffer(o, flags | PyBUF_ND | PyBUF_FORMAT, m))
        return false;
    if (format_has_objects(m->view.format)) {
        memory_release(m);
        return objects();
    }
    return true;
}

void memory_release(memory *m)
{
    if (m->buffer)
        PyBuffer_Release(&m->view);
    m->buffer = false;
    if (m->elements)
        elements_release(m->elements);
    m->elements = NULL;
}

bool elements_fit(const drep_type *t, int64_t n, int64_t size)
{
    int64_t extent = drep_type_extent(t), end = drep_type_true_lb(t) + drep_type_true_extent(t);

    if (n <= 0)
        return n == 0;
    return extent > 0 && drep_type_true_lb(t) >= 0 && end <= size && n - 1 <= (size - end) / extent;
}

bool multiply(int64_t *product, int64_t n)
{
    bool ok = n >= 0 && (n == 0 || *product <= INT64_MAX / n);

    if (ok)
        *product *= n;
    return ok;
}

bool int_from(PyObject *o, int *out)
{
    long n = PyLong_AsLong(o);

    if (n == -1 && PyErr_Occurred())
        return false;
    if (n < INT_MIN || n > INT_MAX) {
        PyErr_SetString(PyExc_OverflowError, "the number is too large");
        return false;
    }
    *out = (int)n;
    return true;
}

void set_ref(PyObject **at, PyObject *o)
{
    PyObject *old = *at;

    *at = o;
    Py_XDECREF(old);
}

/* Add the type of `o`, with `o` as its example. */
static bool type_add_example(PyObject *dict, PyObject *o)
{
    PyObject *cls = (PyObject *)Py_TYPE(o);
    int known;

    Py_INCREF(o);
    known = PyDict_Contains(dict, cls);
    if (known == 0)
        known = PyDict_SetItem(dict, cls, o);
    Py_DECREF(o);
    return known >= 0;
}

/* The object at an index of a list or tuple, or of an array's memory, where NULL means None. */
static PyObject *element(PyObject *seq, const Py_buffer *view, Py_ssize_t i)
{
    PyObject *o;

    if (!view)
        return PyList_Check(seq) ? PyList_GetItem(seq, i) : PyTuple_GetItem(seq, i);
    memcpy(&o, (const char *)view->buf + i * (Py_ssize_t)sizeof o, sizeof o);
    return o ? o : Py_None;
}

/* types_of(list, tuple, or contiguous array of objects): {type: an element of it} */
PyObject *types_of(PyObject *module, PyObject *seq)
{
    PyObject *dict, *o;
    PyTypeObject *last = NULL;
    Py_buffer of, *view = NULL;
    Py_ssize_t n;

    (void)module;
    if (!PyList_Check(seq) && !PyTuple_Check(seq)) {
        if (PyObject_GetBuffer(seq, &of, PyBUF_ND | PyBUF_FORMAT) < 0)
            return NULL;
        view = &of;
        if (!of.format || strcmp(of.format, "O") != 0) {
            PyBuffer_Release(view);
            return PyErr_Format(PyExc_TypeError, "an array of objects is needed");
        }
    }
    dict = PyDict_New();
    n = view ? of.len / (Py_ssize_t)sizeof o : PyObject_Size(seq);
    for (Py_ssize_t i = 0; dict && i < n; i++) {
        o = element(seq, view, i);
        if (o && Py_TYPE(o) == last)
            continue;
        if (!o || !type_add_example(dict, o))
            Py_CLEAR(dict);
        else
            last = Py_TYPE(o);
    }
    if (view)
        PyBuffer_Release(view);
    return dict;
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

    /* Hints that are not the library's may be those of an MPI. */
    if (ks && vs) {
        err = drep_info_check(ks, vs);
        if (err == DREP_ERR_INFO_KEY && strncmp(ks, "drep_", 5) != 0)
            err = 0;
        if (err || (err = drep_info_set(info, ks, vs)))
            raise_error(err, NULL);
    }
    Py_XDECREF(k);
    Py_XDECREF(v);
    return ks && vs && !err;
}

bool info_from(PyObject *dict, drep_info **out)
{
    PyObject *items;
    int err;
    bool ok = true;

    *out = NULL;
    if (dict == Py_None)
        return true;
    if (!PyDict_Check(dict)) {
        PyErr_Format(PyExc_TypeError, "hints: a dict is needed, not %R", Py_TYPE(dict));
        return false;
    }
    if ((err = drep_info_new(out))) {
        raise_error(err, NULL);
        return false;
    }
    items = PyDict_Items(dict); /* str() of a value may change the dict */
    for (Py_ssize_t i = 0; items && ok && i < PyList_Size(items); i++) {
        PyObject *key, *value;
        ok = tuple_fields(PyList_GetItem(items, i), "OO", &key, &value) &&
             info_put(*out, key, value);
    }
    if (items && ok) {
        Py_DECREF(items);
        return true;
    }
    Py_XDECREF(items);
    drep_info_free(*out);
    *out = NULL;
    return false;
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
