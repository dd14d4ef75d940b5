/* driver.c - files behind a Python object: one that has read_at(offset, memoryview), size(), and to
 * write write_at(offset, memoryview), truncate(size), flush(), and close(), as
 * datarep/objects.py makes of file objects.
 *
 * The library calls these functions from any thread, without the GIL.  An exception becomes the
 * cause of the one that the call raises. */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

static PyObject *memory_view(const void *p, size_t n, bool write)
{
    return PyMemoryView_FromMemory((char *)p, (Py_ssize_t)n, write ? PyBUF_WRITE : PyBUF_READ);
}

/* The object must not keep the memory: it is gone when the call returns. */
static bool take_back(PyObject *view)
{
    PyObject *got;

    if (PyErr_Occurred())
        keep_exception();
    got = PyObject_CallMethod(view, "release", NULL);
    Py_DECREF(view);
    Py_XDECREF(got);
    return got;
}

static int outcome(PyObject *got)
{
    if (got) {
        Py_DECREF(got);
        return 0;
    }
    if (PyErr_Occurred())
        keep_exception();
    return DREP_ERR_IO;
}

static int read_one(PyObject *file, const drep_range *r)
{
    PyObject *view = memory_view(r->buf, r->size, true), *got;
    long long n;

    if (!view)
        return outcome(NULL);
    got = PyObject_CallMethod(file, "read_at", "KO", (unsigned long long)r->offset, view);
    n = got ? PyLong_AsLongLong(got) : -1;
    if (!take_back(view) || n < 0) {
        Py_XDECREF(got);
        return outcome(NULL);
    }
    Py_XDECREF(got);
    return n == (long long)r->size ? 0 : DREP_ERR_TRUNCATE;
}

static int read_many(void *state, const drep_range *range, size_t n)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    int err = 0;

    for (size_t i = 0; i < n && !err; i++)
        err = read_one(state, &range[i]);
    PyGILState_Release(gil);
    return err;
}

static int file_size(void *state, uint64_t *size)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *got = PyObject_CallMethod(state, "size", NULL);
    int err;

    *size = got ? PyLong_AsUnsignedLongLong(got) : 0;
    if (PyErr_Occurred())
        Py_CLEAR(got);
    err = outcome(got);
    PyGILState_Release(gil);
    return err;
}

static int write_at(void *state, const void *buf, size_t size, uint64_t offset)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *view = memory_view(buf, size, false), *got = NULL;
    int err;

    if (view) {
        got = PyObject_CallMethod(state, "write_at", "KO", (unsigned long long)offset, view);
        if (!take_back(view))
            Py_CLEAR(got);
    }
    err = outcome(got);
    PyGILState_Release(gil);
    return err;
}

static int truncate_(void *state, uint64_t size)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    int err = outcome(PyObject_CallMethod(state, "truncate", "K", (unsigned long long)size));

    PyGILState_Release(gil);
    return err;
}

static int sync_(void *state)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    int err = outcome(PyObject_CallMethod(state, "flush", NULL));

    PyGILState_Release(gil);
    return err;
}

static void close_(void *state)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *got = PyObject_CallMethod(state, "close", NULL);

    if (!got)
        PyErr_WriteUnraisable(state);
    Py_XDECREF(got);
    Py_DECREF((PyObject *)state);
    PyGILState_Release(gil);
}

/* open_object(object, name, writes, create, datarep, hints, round trip) */
PyObject *core_open_object(PyObject *module, PyObject *args)
{
    PyObject *o, *name, *hints;
    int writes, create, amode, err;
    unsigned long long round_trip;
    const char *datarep, *shown;
    drep_driver d = DREP_DRIVER(.read_many = read_many, .file_size = file_size, .close = close_);
    handle failed;
    drep_info *info;
    drep_file *file = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "OUppzOK", &o, &name, &writes, &create, &datarep, &hints,
                          &round_trip) ||
        !(shown = PyUnicode_AsUTF8AndSize(name, NULL)) || !info_from(hints, &info))
        return NULL;
    python_is_called = true;
    if (writes) {
        d.write_at = write_at;
        d.truncate = truncate_;
        d.sync = sync_;
    }
    d.round_trip = round_trip;
    d.first_read = round_trip ? 65536 : 0;
    amode = writes ? DREP_RDWR : DREP_RDONLY;
    Py_INCREF(o); /* close_() gives it up */
    Py_BEGIN_ALLOW_THREADS;
    err = create ? drep_create_driver(&d, o, shown, datarep, info, &file)
                 : drep_open_driver(&d, o, shown, amode, info, &file);
    Py_END_ALLOW_THREADS;
    drep_info_free(info);
    failed.name = name;
    return err ? raise_error(err, &failed) : handle_new(file, name, writes);
}
