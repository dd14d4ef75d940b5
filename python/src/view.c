/* view.c - headerless files, for datarep/raw.py, which lets one thread at a time use a view. */
/* SPDX-License-Identifier: MIT */
#include "src/elements.h"

typedef struct view_object {
    PyObject_HEAD drep_view *view;
    PyObject *name;
    bool busy; /* a call runs without the GIL */
} view_object;

static PyTypeObject *view_class;

static PyObject *failed(int err, view_object *self)
{
    handle shown = {.name = self->name};

    return raise_error(err, &shown);
}

static bool is_open(view_object *self)
{
    if (!self->view)
        PyErr_Format(PyExc_ValueError, "%U: the file is closed", self->name);
    else if (self->busy)
        PyErr_Format(PyExc_RuntimeError, "%U: another call is under way", self->name);
    return self->view && !self->busy;
}

#define WITHOUT_GIL_IN(self, call) \
    do {                           \
        (self)->busy = true;       \
        Py_BEGIN_ALLOW_THREADS;    \
        call;                      \
        Py_END_ALLOW_THREADS;      \
        (self)->busy = false;      \
    } while (0)

/* view_raw(path, writes, disp, Type, datarep) */
static PyObject *view_raw(PyObject *module, PyObject *args)
{
    PyObject *path, *bytes, *t;
    const drep_type *type;
    const char *datarep;
    view_object *self;
    drep_view *v = NULL;
    long long disp;
    int writes, err;
    handle shown;

    (void)module;
    if (!PyArg_ParseTuple(args, "UpLOs", &path, &writes, &disp, &t, &datarep) ||
        !type_converter(t, &type) || !PyUnicode_FSConverter(path, &bytes))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    err = drep_view_raw(PyBytes_AsString(bytes), writes ? DREP_RDWR : DREP_RDONLY, NULL, &v);
    if (!err)
        err = drep_view_set(v, disp, type, type, datarep, NULL);
    Py_END_ALLOW_THREADS;
    Py_DECREF(bytes);
    self = err ? NULL : PyObject_New(view_object, view_class);
    shown.name = path;
    if (!self) {
        if (err)
            raise_error(err, &shown);
        if (v)
            drep_view_close(v);
        return NULL;
    }
    self->view = v;
    self->busy = false;
    self->name = Py_NewRef(path);
    return (PyObject *)self;
}

static PyObject *view_size(PyObject *o, PyObject *none)
{
    view_object *self = (view_object *)o;
    int64_t n;
    int err;

    (void)none;
    if (!is_open(self))
        return NULL;
    WITHOUT_GIL_IN(self, err = drep_view_size(self->view, &n));
    return err ? failed(err, self) : PyLong_FromLongLong(n);
}

/* read(offset, memory, count, Type, options) -> (items, report) */
static PyObject *move(PyObject *o, PyObject *args, bool write)
{
    view_object *self = (view_object *)o;
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.report = &report);
    const drep_type *type;
    long long offset, count;
    int64_t items = 0;
    PyObject *buf, *t;
    memory m;
    int err;

    if (!PyArg_ParseTuple(args, "LOLO(iii)", &offset, &buf, &count, &t, &xfer.threads, &xfer.range,
                          &xfer.members) ||
        !type_converter(t, &type) || !elements_get(buf, type, !write, &m))
        return NULL;
    if (!is_open(self)) {
        memory_release(&m);
        return NULL;
    }
    xfer.buf_size = m.size ? (size_t)m.size : 1;
    WITHOUT_GIL_IN(
        self, err = write ? drep_write_at(self->view, offset, m.ptr, count, type, &xfer, &items)
                          : drep_read_at(self->view, offset, m.ptr, count, type, &xfer, &items));
    memory_release(&m);
    if (err)
        return failed(err, self);
    return Py_BuildValue("(LN)", (long long)items, report_tuple(&report));
}

static PyObject *view_read(PyObject *o, PyObject *args)
{
    return move(o, args, false);
}

static PyObject *view_write(PyObject *o, PyObject *args)
{
    return move(o, args, true);
}

static PyObject *view_close(PyObject *o, PyObject *none)
{
    view_object *self = (view_object *)o;
    drep_view *v = self->view;
    int err = 0;

    (void)none;
    if (v && !is_open(self))
        return NULL;
    self->view = NULL;
    if (v) {
        Py_BEGIN_ALLOW_THREADS;
        err = drep_view_close(v);
        Py_END_ALLOW_THREADS;
    }
    if (err)
        return failed(err, self);
    Py_RETURN_NONE;
}

static void view_dealloc(PyObject *o)
{
    view_object *self = (view_object *)o;
    PyTypeObject *cls = Py_TYPE(o);

    if (self->view)
        drep_view_close(self->view);
    Py_XDECREF(self->name);
    PyObject_Free(o);
    Py_DECREF(cls);
}

static PyMethodDef view_methods[] = {
    {"size", view_size, METH_NOARGS, "whole elements in the file"},
    {"read", view_read, METH_VARARGS, "(offset, memory, count, Type, options): (items, report)"},
    {"write", view_write, METH_VARARGS, "as read"},
    {"close", view_close, METH_NOARGS, "close the file"},
    {0},
};

static PyType_Slot view_slots[] = {
    {Py_tp_dealloc, view_dealloc},
    {Py_tp_methods, view_methods},
    {Py_tp_doc, "A headerless file."},
    {0, NULL},
};
static PyType_Spec view_type_spec = {"datarep._core.View", sizeof(view_object), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     view_slots};

static PyMethodDef view_functions[] = {
    {"view_raw", view_raw, METH_VARARGS, "(path, writes, disp, Type, datarep)"},
    {0},
};

bool view_add(PyObject *module)
{
    view_class = (PyTypeObject *)PyType_FromSpec(&view_type_spec);
    return view_class && PyModule_AddObjectRef(module, "View", (PyObject *)view_class) == 0 &&
           PyModule_AddFunctions(module, view_functions) == 0;
}
