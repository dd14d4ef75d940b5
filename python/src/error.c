/* error.c - error codes become exceptions.
 *
 * The classes are made in Python (datarep/errors.py), by a factory that gets the code, the message,
 * the file's name, and the object and byte that the message is about.  A Python function that the
 * library calls cannot raise through it: its exception waits here and becomes the cause of the one
 * that the call raises. */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

#include <string.h>

static PyObject *factory, *waiting;
static bool waits_long; /* since an earlier call */

PyObject *core_set_error(PyObject *module, PyObject *f)
{
    (void)module;
    set_ref(&factory, Py_NewRef(f));
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
    if (waiting && !waits_long) {
        Py_XDECREF(value);
        return;
    }
    Py_XDECREF(waiting);
    waiting = value;
    waits_long = false;
}

void empty_frames(void)
{
    PyObject *trace = waiting ? PyException_GetTraceback(waiting) : NULL;
    PyObject *module = trace ? PyImport_ImportModule("traceback") : NULL;
    PyObject *got = module ? PyObject_CallMethod(module, "clear_frames", "O", trace) : NULL;

    PyErr_Clear();
    Py_XDECREF(got);
    Py_XDECREF(module);
    Py_XDECREF(trace);
}

void call_begins(void)
{
    waits_long = true;
}

/* The errno of an OSError, 0 if it has none. */
static int number_of(PyObject *value)
{
    PyObject *number = value && PyErr_GivenExceptionMatches(value, PyExc_OSError)
                           ? PyObject_GetAttrString(value, "errno")
                           : NULL;
    long n = number && PyLong_Check(number) ? PyLong_AsLong(number) : 0;

    Py_XDECREF(number);
    if (PyErr_Occurred())
        PyErr_Clear();
    return n > 0 && n <= INT_MAX ? (int)n : 0;
}

int exception_number(void)
{
    PyObject *kind, *value, *trace;
    int n;

    PyErr_Fetch(&kind, &value, &trace);
    PyErr_NormalizeException(&kind, &value, &trace);
    n = number_of(value);
    PyErr_Restore(kind, value, trace);
    return n;
}

PyObject *raise_error(int err, handle *h)
{
    PyObject *made, *cause = waiting, *name = h && h->name ? h->name : Py_None;

    waiting = NULL;
    /* A conversion that failed may be told by a later call: a fill value that cannot be written. */
    if (waits_long && err != DREP_ERR_CONVERSION)
        Py_CLEAR(cause);
    /* KeyboardInterrupt, SystemExit, and what a handler of a signal raised: they are for the
     * program, not about the call. */
    if (cause &&
        (err == DREP_ERR_STOPPED || !PyErr_GivenExceptionMatches(cause, PyExc_Exception))) {
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
    made = factory ? PyObject_CallFunction(factory, "iNONLi", err, text(drep_error()), name,
                                           text(drep_error_object()), (long long)drep_error_byte(),
                                           number_of(cause))
                   : NULL;
    if (made && !PyObject_TypeCheck(made, (PyTypeObject *)PyExc_BaseException))
        PyErr_Format(PyExc_TypeError, "an exception is needed, not %R", Py_TYPE(made));
    if (made && !PyErr_Occurred()) {
        if (cause)
            PyException_SetCause(made, Py_NewRef(cause));
        PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_RuntimeError, drep_error());
    }
    Py_XDECREF(made);
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
