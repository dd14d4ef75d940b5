/* error.c - error codes become exceptions.
 *
 * The classes are made in Python (datarep/errors.py), by a factory that gets the code, the message,
 * the file's name, and the object and byte that the message is about.  A Python function that the library calls cannot raise through it: its
 * exception waits here and becomes the cause of the one that the call raises. */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

static PyObject *factory, *waiting;

PyObject *core_set_error(PyObject *module, PyObject *f)
{
    (void)module;
    Py_XDECREF(factory);
    factory = Py_NewRef(f);
    Py_RETURN_NONE;
}

void keep_exception(void)
{
    PyObject *kind, *value, *trace;

    PyErr_Fetch(&kind, &value, &trace);
    PyErr_NormalizeException(&kind, &value, &trace);
    if (value && trace)
        PyException_SetTraceback(value, trace);
    Py_XDECREF(kind);
    Py_XDECREF(trace);
    Py_XDECREF(waiting);
    waiting = value;
}

PyObject *raise_error(int err, handle *h)
{
    PyObject *made, *cause = waiting, *name = h && h->name ? h->name : Py_None;

    waiting = NULL;
    if (cause && PyErr_GivenExceptionMatches(cause, PyExc_KeyboardInterrupt)) {
        PyErr_SetObject((PyObject *)Py_TYPE(cause), cause);
        Py_DECREF(cause);
        return NULL;
    }
    if (PyErr_Occurred()) {
        Py_XDECREF(cause);
        return NULL;
    }
    if (err == DREP_ERR_NOMEM) {
        Py_XDECREF(cause);
        return PyErr_NoMemory();
    }
    made = factory ? PyObject_CallFunction(factory, "iNONL", err, text(drep_error()), name,
                                           text(drep_error_object()), (long long)drep_error_byte())
                   : NULL;
    if (made) {
        if (cause)
            PyException_SetCause(made, Py_NewRef(cause));
        PyErr_SetObject((PyObject *)Py_TYPE(made), made);
        Py_DECREF(made);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_RuntimeError, drep_error());
    }
    Py_XDECREF(cause);
    return NULL;
}

PyObject *raise_together(int err, handle *h)
{
    PyObject *kind, *value, *trace;

    raise_error(err, h);
    if (!h->shared)
        return NULL;
    PyErr_Fetch(&kind, &value, &trace);
    PyErr_NormalizeException(&kind, &value, &trace);
    if (value && PyObject_SetAttrString(value, "together", Py_True) < 0)
        PyErr_Clear();
    PyErr_Restore(kind, value, trace);
    return NULL;
}
