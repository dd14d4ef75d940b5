/* module.c - the module datarep._core. */
/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include "src/elements.h"
#include "src/plan.h"

extern PyMethodDef create_functions[];

static PyObject *version(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return text(drep_version());
}

static int add_library(const char *name, const char *release, void *ctx)
{
    PyObject *value = text(release);
    int bad = !value || PyDict_SetItemString(ctx, name, value) < 0;

    Py_XDECREF(value);
    return bad;
}

static PyObject *libraries(PyObject *module, PyObject *none)
{
    PyObject *dict = PyDict_New();

    (void)module, (void)none;
    if (dict && drep_library_walk(add_library, dict) != 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *code_names(PyObject *module, PyObject *none)
{
    PyObject *dict = PyDict_New();

    (void)module, (void)none;
    for (int i = 1; dict && i <= DREP_CODE_MAX; i++) {
        PyObject *code = PyLong_FromLong(i);
        if (!code || PyDict_SetItemString(dict, drep_code_name(i), code) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(code);
    }
    return dict;
}

static PyObject *strerror_(PyObject *module, PyObject *arg)
{
    long code = PyLong_AsLong(arg);

    (void)module;
    if (code == -1 && PyErr_Occurred())
        return NULL;
    return text(drep_strerror(code < 0 || code > INT_MAX ? -1 : (int)code));
}

/* Surrogates that stand for bytes are shown as these. */
static PyObject *escape(PyObject *module, PyObject *arg)
{
    PyObject *bytes, *made = NULL;
    Py_ssize_t size;
    char *from, *to;
    size_t len;

    (void)module;
    bytes = PyUnicode_AsEncodedString(arg, "utf-8", "surrogateescape");
    if (!bytes && PyErr_ExceptionMatches(PyExc_UnicodeError)) {
        PyErr_Clear();
        bytes = PyUnicode_AsEncodedString(arg, "utf-8", "backslashreplace");
    }
    if (!bytes || PyBytes_AsStringAndSize(bytes, &from, &size) < 0) {
        Py_XDECREF(bytes);
        return NULL;
    }
    len = drep_escape(NULL, 0, from, (size_t)size);
    to = PyMem_Malloc(len + 1);
    if (to) {
        drep_escape(to, len + 1, from, (size_t)size);
        made = PyUnicode_DecodeUTF8(to, (Py_ssize_t)len, NULL);
    } else {
        PyErr_NoMemory();
    }
    PyMem_Free(to);
    Py_DECREF(bytes);
    return made;
}

static PyObject *plugin_path(PyObject *module, PyObject *arg)
{
    const char *dirs = PyUnicode_AsUTF8AndSize(arg, NULL);
    int err;

    (void)module;
    if (!dirs)
        return NULL;
    err = drep_plugin_path(dirs);
    if (err)
        return raise_error(err, NULL);
    Py_RETURN_NONE;
}

static PyMethodDef core_functions[] = {
    {"set_error", core_set_error, METH_O, "set the factory of exceptions"},
    {"set_numpy", core_set_numpy, METH_VARARGS, "(large_empty, [(code, dtype, Type)])"},
    {"version", version, METH_NOARGS, "library and format"},
    {"libraries", libraries, METH_NOARGS, "{name: version} of the libraries that are used"},
    {"code_names", code_names, METH_NOARGS, "{name: code} of predefined types"},
    {"strerror", strerror_, METH_O, "the text of a code"},
    {"escape", escape, METH_O, "text as people may see it"},
    {"plugin_path", plugin_path, METH_O, "directories of plugins"},
    {"open_object", core_open_object, METH_VARARGS,
     "(object, name, writes, create, datarep, hints, round trip)"},
    {"open_mpi", core_open_mpi, METH_VARARGS,
     "(library, communicator, path, mode, datarep, hints)"},
    {"types_of", types_of, METH_O,
     "{type: an example} of the elements of a list, tuple or contiguous array of objects"},
    {"texts_load", texts_load, METH_VARARGS, "(memory, width, array)"},
    {0},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "datarep._core",
    "The library, in the terms of C.",
    -1,
    core_functions,
    NULL,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (!module || !type_add(module) || !handle_add(module) || !dataset_add(module) ||
        !view_add(module) || !lend_add(module) || !plan_add(module) || !elements_add(module) ||
        PyModule_AddFunctions(module, create_functions) < 0 ||
        PyModule_AddFunctions(module, rep_functions) < 0 ||
        PyModule_AddFunctions(module, exchange_functions) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
