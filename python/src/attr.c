/* attr.c - attributes: single numbers and texts here, everything else through memory. */
/* SPDX-License-Identifier: MIT */
#include "src/elements.h"

#include <stdlib.h>
#include <string.h>

#define BEGIN(...)                                               \
    handle *h = (handle *)o;                                     \
    int err = 0;                                                 \
    if (!PyArg_ParseTuple(args, __VA_ARGS__) || !handle_open(h)) \
    return NULL

static int name_row(const char *name, void *ctx)
{
    rows *r = ctx;

    rows_string(r, name);
    r->n++;
    return 0;
}

static PyObject *attr_names(PyObject *o, PyObject *args)
{
    const char *path;
    int order;
    rows r = {0};

    BEGIN("si", &path, &order);
    WITHOUT_GIL(h, err = drep_attr_list(h->file, path, order, name_row, &r));
    return rows_list(&r, err, h, rows_get_string);
}

/* Reads into `size` bytes, never more, also if another thread has replaced the attribute. */
static int read_into(handle *h, const char *path, const char *name, const drep_type *type,
                     void *buf, size_t size)
{
    drep_item item = {.path = path, .attr = name, .type = type, .buf = buf, .buf_size = size};

    return drep_readv(h->file, &item, 1, NULL);
}

/* A text of a fixed number of bytes without its padding: str, or bytes where these are no text. */
static PyObject *fixed_text(const drep_type *type, const char *s, Py_ssize_t n)
{
    PyObject *o;

    if (drep_type_string_pad(type) == DREP_PAD_NULTERM)
        n = (Py_ssize_t)strnlen(s, (size_t)n);
    while (n &&
           (s[n - 1] == 0 || (s[n - 1] == ' ' && drep_type_string_pad(type) == DREP_PAD_SPACE)))
        n--;
    o = memchr(s, 0, (size_t)n) ? NULL : PyUnicode_DecodeUTF8(s, n, NULL);
    if (o || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)))
        return o;
    PyErr_Clear();
    return PyBytes_FromStringAndSize(s, n);
}

static PyObject *fixed(handle *h, const char *path, const char *name, const drep_type *type)
{
    size_t size = (size_t)drep_type_extent(type);
    char *s = malloc(size ? size : 1);
    PyObject *r = NULL;
    int err;

    if (!s)
        return PyErr_NoMemory();
    WITHOUT_GIL(h, err = read_into(h, path, name, type, s, size ? size : 1));
    r = err ? raise_error(err, h) : fixed_text(type, s, (Py_ssize_t)size);
    free(s);
    return r;
}

/* Converts a single number or text of a common type.  NULL without an exception: the value is of
 * another type. */
static PyObject *scalar(handle *h, const char *path, const char *name, const drep_attrinfo *info)
{
    union {
        int64_t i;
        double d;
        unsigned char b;
        char *s;
    } v = {0};
    int code = drep_type_code(info->type), kind = drep_type_kind(info->type), err;
    char *s = NULL;
    PyObject *r;

    if (kind == DREP_KIND_STRING)
        return fixed(h, path, name, info->type);
    if (kind == DREP_KIND_VSTRING) {
        WITHOUT_GIL(h, err = drep_attr_read_string(h->file, path, name, &s));
        if (err == DREP_ERR_CONVERSION) /* a NUL: attr_read() */
            return NULL;
        r = err ? raise_error(err, h) : text(s);
        free(s);
        return r;
    }
    if (code != DREP_CODE_INT64_T && code != DREP_CODE_DOUBLE && code != DREP_CODE_C_BOOL)
        return NULL;
    WITHOUT_GIL(h, err = read_into(h, path, name, info->type, &v, sizeof v));
    if (err)
        return raise_error(err, h);
    return code == DREP_CODE_INT64_T  ? PyLong_FromLongLong(v.i)
           : code == DREP_CODE_DOUBLE ? PyFloat_FromDouble(v.d)
                                      : PyBool_FromLong(v.b);
}

/* attr_get(path, name): the value, or (Type, rank, dims) if attr_read() must get it. */
static PyObject *attr_value(PyObject *o, PyObject *args)
{
    const char *path, *name;
    drep_attrinfo info = DREP_ATTRINFO;
    PyObject *r = NULL;

    BEGIN("ss", &path, &name);
    WITHOUT_GIL(h, err = drep_attr_info(h->file, path, name, &info));
    if (err)
        return raise_error(err, h);
    if (info.rank == 0)
        r = scalar(h, path, name, &info);
    if (!r && !PyErr_Occurred()) {
        PyObject *dims = tuple_of(info.dims, info.rank < 0 ? 0 : info.rank);
        r = dims ? Py_BuildValue("(NiN)", type_borrowed(info.type), info.rank, dims) : NULL;
    }
    drep_attrinfo_release(&info);
    return r;
}

/* (Type, rank, dims) */
static PyObject *attr_info(PyObject *o, PyObject *args)
{
    const char *path, *name;
    drep_attrinfo info = DREP_ATTRINFO;
    PyObject *dims;

    BEGIN("ss", &path, &name);
    WITHOUT_GIL(h, err = drep_attr_info(h->file, path, name, &info));
    if (err)
        return raise_error(err, h);
    dims = tuple_of(info.dims, info.rank < 0 ? 0 : info.rank);
    if (!dims) {
        drep_attrinfo_release(&info);
        return NULL;
    }
    return Py_BuildValue("(NiN)", type_new(info.type), info.rank, dims);
}

/* attr_read(path, name, Type, memory) */
static PyObject *attr_read(PyObject *o, PyObject *args)
{
    const char *path, *name;
    PyObject *t, *buf;
    const drep_type *type;
    unsigned char none;
    memory m;

    BEGIN("ssOO", &path, &name, &t, &buf);
    if (!type_converter(t, &type))
        return NULL;
    if (!type)
        return PyErr_Format(PyExc_TypeError, "a Type is needed, not None");
    if (!elements_get(buf, type, true, &m))
        return NULL;
    if (!handle_open(h)) {
        memory_release(&m);
        return NULL;
    }
    if (!m.size)
        m.ptr = &none;
    WITHOUT_GIL(h, err = read_into(h, path, name, type, m.ptr, m.size ? (size_t)m.size : 1));
    memory_release(&m);
    if (err)
        return raise_error(err, h);
    Py_RETURN_NONE;
}

/* attr_write(path, name, Type, dims or None, memory): None is the null space */
static PyObject *attr_write(PyObject *o, PyObject *args)
{
    const char *path, *name;
    PyObject *t, *dims, *buf;
    const drep_type *type;
    int64_t d[MAX_RANK], count = 1;
    int rank = DREP_NULL_SPACE;
    bool fits = true;
    memory m = {0};

    BEGIN("ssOOO", &path, &name, &t, &dims, &buf);
    if (!type_converter(t, &type) || (dims != Py_None && !numbers(dims, d, MAX_RANK, &rank)))
        return NULL;
    for (int i = 0; i < rank; i++)
        fits = fits && multiply(&count, d[i]);
    if (rank >= 0) {
        if (!elements_get(buf, type, false, &m))
            return NULL;
        if (!fits || !elements_fit(type, count, m.size)) {
            memory_release(&m);
            return PyErr_Format(PyExc_ValueError, "the value has too few bytes");
        }
    }
    if (!handle_open(h)) {
        memory_release(&m);
        return NULL;
    }
    WITHOUT_GIL(h, err = drep_attr_write(h->file, path, name, type, rank, rank > 0 ? d : NULL,
                                         m.ptr ? m.ptr : ""));
    memory_release(&m);
    if (err)
        return raise_error(err, h);
    Py_RETURN_NONE;
}

/* attr_set(path, name, value): True, or False if attr_write() must write it. */
static PyObject *attr_set(PyObject *o, PyObject *args)
{
    const char *path, *name, *s;
    PyObject *value;
    Py_ssize_t n;

    BEGIN("ssO", &path, &name, &value);
    if (PyUnicode_CheckExact(value)) {
        s = PyUnicode_AsUTF8AndSize(value, &n);
        if (!s)
            return NULL;
        if (strlen(s) != (size_t)n)
            Py_RETURN_FALSE; /* one with a NUL is counted */
        WITHOUT_GIL(h, err = drep_attr_write_string(h->file, path, name, s));
    } else if (PyBool_Check(value)) {
        unsigned char b = value == Py_True;
        WITHOUT_GIL(h, err = drep_attr_write(h->file, path, name, DREP_C_BOOL, 0, NULL, &b));
    } else if (PyLong_CheckExact(value)) {
        int64_t i = PyLong_AsLongLong(value);
        if (i == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            Py_RETURN_FALSE;
        }
        WITHOUT_GIL(h, err = drep_attr_write(h->file, path, name, DREP_INT64_T, 0, NULL, &i));
    } else if (PyFloat_CheckExact(value)) {
        double d = PyFloat_AsDouble(value);
        WITHOUT_GIL(h, err = drep_attr_write(h->file, path, name, DREP_DOUBLE, 0, NULL, &d));
    } else {
        Py_RETURN_FALSE;
    }
    if (err)
        return raise_error(err, h);
    Py_RETURN_TRUE;
}

static PyObject *attr_remove(PyObject *o, PyObject *args)
{
    const char *path, *name;

    BEGIN("ss", &path, &name);
    WITHOUT_GIL(h, err = drep_attr_remove(h->file, path, name));
    if (err)
        return raise_error(err, h);
    Py_RETURN_NONE;
}

static PyObject *attr_rename(PyObject *o, PyObject *args)
{
    const char *path, *name, *new_name;

    BEGIN("sss", &path, &name, &new_name);
    WITHOUT_GIL(h, err = drep_attr_rename(h->file, path, name, new_name));
    if (err)
        return raise_error(err, h);
    Py_RETURN_NONE;
}

PyMethodDef attr_methods[] = {
    {"attr_names", attr_names, METH_VARARGS, "attr_names(path, order)"},
    {"attr_get", attr_value, METH_VARARGS, "attr_get(path, name): value or (Type, rank, dims)"},
    {"attr_info", attr_info, METH_VARARGS, "attr_info(path, name): (Type, rank, dims)"},
    {"attr_read", attr_read, METH_VARARGS, "attr_read(path, name, Type, memory)"},
    {"attr_write", attr_write, METH_VARARGS, "attr_write(path, name, Type, dims, memory)"},
    {"attr_set", attr_set, METH_VARARGS, "attr_set(path, name, value): whether it was written"},
    {"attr_remove", attr_remove, METH_VARARGS, "attr_remove(path, name)"},
    {"attr_rename", attr_rename, METH_VARARGS, "attr_rename(path, name, new_name)"},
    {0},
};
