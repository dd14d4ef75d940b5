/* rep.c - data representations: declared by tables, made of Python functions; packing. */
/* SPDX-License-Identifier: MIT */
#include "src/elements.h"

#include <stdlib.h>
#include <string.h>

/* A registered representation, for the life of the process. */
struct rep_functions {
    PyObject *read, *write; /* NULL: that direction takes data in native form */
    PyObject *extent;       /* Type -> bytes or None */
};

static int extent_fn(const drep_type *datatype, int64_t *file_extent, void *state)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    const struct rep_functions *f = state;
    PyObject *got = PyObject_CallFunction(f->extent, "N", type_borrowed(datatype));
    bool ok = got;

    if (ok && got == Py_None)
        *file_extent = DREP_UNDEFINED;
    else if (ok)
        *file_extent = PyLong_AsLongLong(got);
    Py_XDECREF(got);
    if (PyErr_Occurred()) {
        keep_exception();
        ok = false;
    }
    PyGILState_Release(gil);
    return !ok;
}

/* Bytes in the file of `count` items from `position` on; -1: an extent is not known. */
static int64_t file_bytes(void *state, const drep_type *datatype, int64_t count, int64_t position)
{
    int64_t bytes = 0, one;
    drep_cursor at;
    drep_run run;

    if (drep_cursor_init(&at, datatype, position))
        return -1;
    while (count > 0 && drep_cursor_next(&at, count, &run)) {
        if (extent_fn(run.type, &one, state) || one < 0)
            return -1;
        bytes += run.count * one;
        count -= run.count;
    }
    return bytes;
}

static int convert(PyObject *fn, void *userbuf, const drep_type *datatype, int64_t count,
                   void *filebuf, int64_t position, void *state, bool write)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    int64_t items = drep_type_items(datatype), size = file_bytes(state, datatype, count, position);
    int64_t tiles = items ? (position + count + items - 1) / items : 0;
    int64_t user = tiles ? (tiles - 1) * drep_type_extent(datatype) + drep_type_true_lb(datatype) +
                               drep_type_true_extent(datatype)
                         : 0;
    lent *u = size >= 0 ? lend(userbuf, (size_t)user, !write) : NULL;
    lent *f = u ? lend(filebuf, (size_t)size, write) : NULL;
    PyObject *got = NULL;
    bool ok;

    if (u && f)
        got = PyObject_CallFunction(fn, "ONLOL", lent_view(u), type_borrowed(datatype),
                                    (long long)count, lent_view(f), (long long)position);
    ok = got;
    Py_XDECREF(got);
    ok &= lend_end(u);
    ok &= lend_end(f);
    PyGILState_Release(gil);
    return !ok;
}

static int read_fn(void *userbuf, const drep_type *datatype, int64_t count, void *filebuf,
                   int64_t position, void *state)
{
    return convert(((struct rep_functions *)state)->read, userbuf, datatype, count, filebuf,
                   position, state, false);
}

static int write_fn(void *userbuf, const drep_type *datatype, int64_t count, void *filebuf,
                    int64_t position, void *state)
{
    return convert(((struct rep_functions *)state)->write, userbuf, datatype, count, filebuf,
                   position, state, true);
}

/* register_datarep(name, read or None, write or None, extent) */
static PyObject *register_datarep(PyObject *module, PyObject *args)
{
    PyObject *read, *write, *extent;
    struct rep_functions *f;
    const char *name;
    int err;

    (void)module;
    if (!PyArg_ParseTuple(args, "sOOO", &name, &read, &write, &extent))
        return NULL;
    f = calloc(1, sizeof *f);
    if (!f)
        return PyErr_NoMemory();
    f->read = read == Py_None ? NULL : read;
    f->write = write == Py_None ? NULL : write;
    f->extent = extent;
    python_is_called = true;
    /* Under the GIL one function runs at a time anyway. */
    err = drep_register_datarep_flags(name, f->read ? read_fn : NULL, f->write ? write_fn : NULL,
                                      extent_fn, f, DREP_REP_SERIAL);
    if (err) {
        free(f);
        return raise_error(err, NULL);
    }
    Py_XINCREF(f->read);
    Py_XINCREF(f->write);
    Py_INCREF(extent);
    Py_RETURN_NONE;
}

/* declare_datarep(name, base, [(code, format, order, size, align)]) */
static PyObject *declare_datarep(PyObject *module, PyObject *args)
{
    drep_encoding table[DREP_CODE_MAX + 1] = {{0}};
    const char *name, *base;
    PyObject *given, *list;
    Py_ssize_t n;
    int err;

    (void)module;
    if (!PyArg_ParseTuple(args, "ssO", &name, &base, &given) || !(list = PySequence_Tuple(given)))
        return NULL;
    n = PyTuple_Size(list);
    if (n > DREP_CODE_MAX)
        PyErr_SetString(PyExc_ValueError, "more rows than datatypes");
    for (Py_ssize_t i = 0; i < n && !PyErr_Occurred(); i++) {
        drep_encoding *e = &table[i];
        tuple_fields(PyTuple_GetItem(list, i), "Hbbbb", &e->code, &e->format, &e->order, &e->size,
                     &e->align);
    }
    Py_DECREF(list);
    if (PyErr_Occurred())
        return NULL;
    err = drep_declare_datarep(name, base, table, (int)n, NULL, 0);
    if (err)
        return raise_error(err, NULL);
    Py_RETURN_NONE;
}

/* datarep_table(name): [(code, format, order, size, align)] */
static PyObject *datarep_table(PyObject *module, PyObject *arg)
{
    const char *name = PyUnicode_AsUTF8AndSize(arg, NULL);
    drep_encoding table[DREP_CODE_MAX + 1];
    PyObject *list;
    int n, err;

    (void)module;
    if (!name)
        return NULL;
    err = drep_datarep_table(name, table, DREP_CODE_MAX + 1, &n);
    if (err)
        return raise_error(err, NULL);
    list = PyList_New(0);
    for (int i = 0; list && i < n; i++) {
        const drep_encoding *e = &table[i];
        PyObject *row = Py_BuildValue("(Hbbbb)", e->code, e->format, e->order, e->size, e->align);
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* format(name): (number, default size), or None */
static PyObject *format_by_name(PyObject *module, PyObject *arg)
{
    const char *name = PyUnicode_AsUTF8AndSize(arg, NULL);
    const drep_format_info *f;
    int number;

    (void)module;
    if (!name)
        return NULL;
    number = drep_format_from_name(name);
    f = number ? drep_format_describe(number) : NULL;
    if (!f)
        Py_RETURN_NONE;
    return Py_BuildValue("(iii)", number, f->size, f->vax);
}

static int datarep_row(const char *name, const char *form, void *ctx)
{
    rows_string(ctx, name);
    rows_string(ctx, form);
    ((rows *)ctx)->n++;
    return 0;
}

static PyObject *datarep_tuple(const char **p)
{
    PyObject *name = rows_get_string(p);

    return Py_BuildValue("(NN)", name, rows_get_string(p));
}

/* datareps(): [(name, form)] */
static PyObject *datareps(PyObject *module, PyObject *none)
{
    rows r = {0};
    int err;

    (void)module, (void)none;
    err = drep_datarep_walk(datarep_row, &r);
    return rows_list(&r, err, NULL, datarep_tuple);
}

/* pack(datarep, memory, count, Type, (threads, range, members)): (bytes, report) */
static PyObject *pack(PyObject *module, PyObject *args)
{
    PyObject *buf, *t, *out;
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.report = &report);
    const drep_type *type;
    const char *name;
    long long count;
    int64_t size = 0, position = 0;
    memory m;
    int err;

    (void)module;
    if (!PyArg_ParseTuple(args, "sOLO(iii)", &name, &buf, &count, &t, &xfer.threads, &xfer.range,
                          &xfer.members) ||
        !type_converter(t, &type) || !elements_get(buf, type, false, &m))
        return NULL;
    xfer.buf_size = m.size ? (size_t)m.size : 1; /* 0 is an unknown size */
    err = drep_pack_size(name, count, type, &size);
    out = err ? NULL : PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (out) {
        char *to = PyBytes_AsString(out);
        Py_BEGIN_ALLOW_THREADS;
        err = drep_pack_xfer(name, m.ptr, count, type, to, size, &position, &xfer);
        Py_END_ALLOW_THREADS;
    }
    memory_release(&m);
    if (err) {
        Py_XDECREF(out);
        return raise_error(err, NULL);
    }
    return out ? Py_BuildValue("(NN)", out, report_tuple(&report)) : NULL;
}

/* unpack(datarep, data, position, memory, count, Type, options): (position, report) */
static PyObject *unpack(PyObject *module, PyObject *args)
{
    PyObject *data, *buf, *t;
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.report = &report);
    long long count, at;
    const drep_type *type;
    const char *name;
    int64_t position;
    memory from, to;
    int err;

    (void)module;
    if (!PyArg_ParseTuple(args, "sOLOLO(iii)", &name, &data, &at, &buf, &count, &t, &xfer.threads,
                          &xfer.range, &xfer.members) ||
        !type_converter(t, &type) || !memory_get(data, false, &from))
        return NULL;
    if (!elements_get(buf, type, true, &to)) {
        memory_release(&from);
        return NULL;
    }
    xfer.buf_size = to.size ? (size_t)to.size : 1;
    position = at;
    Py_BEGIN_ALLOW_THREADS;
    err = drep_unpack_xfer(name, from.ptr, from.size, &position, to.ptr, count, type, &xfer);
    Py_END_ALLOW_THREADS;
    memory_release(&from);
    memory_release(&to);
    if (err)
        return raise_error(err, NULL);
    return Py_BuildValue("(LN)", (long long)position, report_tuple(&report));
}

/* pack_size(datarep, count, Type) */
static PyObject *pack_size(PyObject *module, PyObject *args)
{
    const drep_type *type;
    const char *name;
    long long count;
    PyObject *t;
    int64_t size;
    int err;

    (void)module;
    if (!PyArg_ParseTuple(args, "sLO", &name, &count, &t) || !type_converter(t, &type))
        return NULL;
    err = drep_pack_size(name, count, type, &size);
    return err ? raise_error(err, NULL) : PyLong_FromLongLong(size);
}

/* convert(to, from, memory): one element as bytes; of types without variable parts. */
static PyObject *convert_one(PyObject *module, PyObject *args)
{
    PyObject *to, *from, *buf, *out;
    const drep_type *target, *source;
    memory m;
    int err;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOO", &to, &from, &buf) || !type_converter(to, &target) ||
        !type_converter(from, &source) || !elements_get(buf, source, false, &m))
        return NULL;
    if (!elements_fit(source, 1, m.size) || drep_type_variable(target) ||
        !elements_fit(target, 1, drep_type_extent(target))) {
        memory_release(&m);
        return PyErr_Format(PyExc_ValueError, "the value cannot be converted here");
    }
    out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)drep_type_extent(target));
    err = out ? drep_convert(target, PyBytes_AsString(out), source, m.ptr, 1,
                             &DREP_XFER(.buf_size = (size_t)drep_type_extent(target)))
              : 0;
    memory_release(&m);
    if (err) {
        Py_DECREF(out);
        return raise_error(err, NULL);
    }
    return out;
}

/* convert_all(to, memory, from, memory, count, range=strict): elements of types without variable
 * parts, one for one; the report.  Of range strict, what the target cannot hold is an error. */
static PyObject *convert_all(PyObject *module, PyObject *args)
{
    PyObject *to, *from, *out, *in;
    const drep_type *target, *source;
    long long count;
    drep_report report = DREP_REPORT;
    memory dst, src;
    int range = DREP_RANGE_STRICT, err;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOL|i", &to, &out, &from, &in, &count, &range) ||
        !type_converter(to, &target) || !type_converter(from, &source) ||
        !memory_get(out, true, &dst))
        return NULL;
    if (!memory_get(in, false, &src)) {
        memory_release(&dst);
        return NULL;
    }
    if (drep_type_variable(source) || drep_type_variable(target) ||
        !elements_fit(source, count, src.size) || !elements_fit(target, count, dst.size))
        PyErr_SetString(PyExc_ValueError, "the values cannot be converted here");
    else if (count && (err = drep_convert(target, dst.ptr, source, src.ptr, count,
                                          &DREP_XFER(.range = range, .report = &report,
                                                     .buf_size = (size_t)dst.size))))
        raise_error(err, NULL);
    memory_release(&dst);
    memory_release(&src);
    return PyErr_Occurred() ? NULL : report_tuple(&report);
}

PyMethodDef rep_functions[] = {
    {"convert_all", convert_all, METH_VARARGS,
     "(to, memory, from, memory, count, range=strict): report"},
    {"convert", convert_one, METH_VARARGS, "(to, from, memory): one element as bytes"},
    {"register_datarep", register_datarep, METH_VARARGS, "(name, read, write, extent)"},
    {"declare_datarep", declare_datarep, METH_VARARGS,
     "(name, base, [(code, format, order, size, align)])"},
    {"datarep_table", datarep_table, METH_O, "(name): [(code, format, order, size, align)]"},
    {"format", format_by_name, METH_O, "(name): (number, size, VAX order) or None"},
    {"datareps", datareps, METH_NOARGS, "[(name, form)]"},
    {"pack", pack, METH_VARARGS, "(datarep, memory, count, Type, options): (bytes, report)"},
    {"unpack", unpack, METH_VARARGS,
     "(datarep, data, position, memory, count, Type, options): (position, report)"},
    {"pack_size", pack_size, METH_VARARGS, "(datarep, count, Type)"},
    {0},
};
