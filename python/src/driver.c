/* driver.c - files behind a Python object: one that has read_at(offset, memoryview), size(), and to
 * write write_at(offset, memoryview), truncate(size), flush(), and close(), as
 * datarep/objects.py makes of file objects.
 *
 * The library calls these functions from any thread, without the GIL.  An exception becomes the
 * cause of the one that the call raises. */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

#include <errno.h>

/* What the library is told of an exception, which is kept. */
static int code_of_exception(void)
{
    static const struct {
        int number, code;
    } known[] = {
        {ENOSPC, DREP_ERR_NO_SPACE}, {EDQUOT, DREP_ERR_NO_SPACE},   {EFBIG, DREP_ERR_NO_SPACE},
        {EACCES, DREP_ERR_ACCESS},   {EPERM, DREP_ERR_ACCESS},      {EROFS, DREP_ERR_READ_ONLY},
        {ESTALE, DREP_ERR_STALE},    {ETIMEDOUT, DREP_ERR_TIMEOUT},
    };
    int number = exception_number(), err = DREP_ERR_IO;

    if (PyErr_ExceptionMatches(PyExc_MemoryError))
        err = DREP_ERR_NOMEM;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].number == number)
            err = known[i].code;
    }
    keep_exception();
    return err;
}

static int outcome(PyObject *got)
{
    Py_XDECREF(got);
    return got ? 0 : PyErr_Occurred() ? code_of_exception() : DREP_ERR_IO;
}

static int read_one(PyObject *file, const drep_range *r)
{
    lent *part = lend(r->buf, r->size, true);
    PyObject *got;
    long long n;
    int err;

    if (!part)
        return outcome(NULL);
    got =
        PyObject_CallMethod(file, "read_at", "KO", (unsigned long long)r->offset, lent_view(part));
    n = got ? PyLong_AsLongLong(got) : -1;
    Py_XDECREF(got);
    err = PyErr_Occurred() ? code_of_exception() : n < 0 ? DREP_ERR_IO : 0;
    if (!lend_end(part))
        return err ? err : DREP_ERR_IO;
    return err || n == (long long)r->size ? err : DREP_ERR_TRUNCATE;
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
    lent *part = lend(buf, size, false);
    int err;

    if (part)
        err = outcome(PyObject_CallMethod(state, "write_at", "KO", (unsigned long long)offset,
                                          lent_view(part)));
    else
        err = outcome(NULL);
    if (part && !lend_end(part) && !err)
        err = DREP_ERR_IO;
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
    PyObject *h;

    (void)module;
    if (!PyArg_ParseTuple(args, "OUppzOK", &o, &name, &writes, &create, &datarep, &hints,
                          &round_trip) ||
        !(shown = PyUnicode_AsUTF8AndSize(name, NULL)) || !info_from(hints, &info))
        return NULL;
    python_is_called = true;
    call_begins();
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
    if (err)
        return raise_error(err, &failed);
    h = handle_new(file, name, writes);
    if (h)
        ((handle *)h)->far = round_trip > 0;
    return h;
}
