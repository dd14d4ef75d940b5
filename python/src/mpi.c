/* mpi.c - files that the ranks of a communicator share.
 *
 * The extension links no MPI: the library for the MPI that mpi4py uses is loaded when a file is
 * opened with a communicator.  It stands beside this extension, beside the library that the
 * extension has loaded, or where the system's loader looks: whoever can write there could replace
 * those, so that it is not checked as plugins are.  A communicator is a pointer or an int, which
 * tells the two families apart; mpi4py gives the address and the size of its handle. */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

#include <datarep-team.h>
#include <dlfcn.h>
#include <string.h>

/* The functions of <datarep-mpi.h>, with a communicator of either kind. */
typedef int create_pointer_fn(void *, const char *, int, const char *, const drep_info *,
                              drep_file **);
typedef int create_int_fn(int, const char *, int, const char *, const drep_info *, drep_file **);
typedef int open_pointer_fn(void *, const char *, int, const drep_info *, drep_file **);
typedef int open_int_fn(int, const char *, int, const drep_info *, drep_file **);

struct loaded {
    union {
        void *address;
        create_pointer_fn *create_pointer;
        create_int_fn *create_int;
        open_pointer_fn *open_pointer;
        open_int_fn *open_int;
    } fn;
    bool pointers;
    void *comm_pointer;
    int comm_int;
};

static bool load_library(struct loaded *l, const char *library, const char *name, const void *comm,
                         int size)
{
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);

    l->fn.address = opened ? dlsym(opened, name) : NULL;
    if (!l->fn.address) {
        PyErr_SetString(PyExc_ImportError, dlerror());
        return false;
    }
    l->pointers = size == (int)sizeof l->comm_pointer;
    if (l->pointers)
        memcpy(&l->comm_pointer, comm, sizeof l->comm_pointer);
    else
        memcpy(&l->comm_int, comm, sizeof l->comm_int);
    return true;
}

static int create_parallel(const struct loaded *l, const char *path, int amode, const char *datarep,
                           const drep_info *info, drep_file **out)
{
    return l->pointers ? l->fn.create_pointer(l->comm_pointer, path, amode, datarep, info, out)
                       : l->fn.create_int(l->comm_int, path, amode, datarep, info, out);
}

static int open_existing(const struct loaded *l, const char *path, int amode, const drep_info *info,
                         drep_file **out)
{
    return l->pointers ? l->fn.open_pointer(l->comm_pointer, path, amode, info, out)
                       : l->fn.open_int(l->comm_int, path, amode, info, out);
}

/* MPI._addressof() and MPI._sizeof() of a communicator of mpi4py. */
static bool communicator(PyObject *comm, const void **address, int *size)
{
    PyObject *MPI = PyImport_ImportModule("mpi4py.MPI"), *at = NULL, *bytes = NULL;
    PyObject *class = MPI ? PyObject_GetAttrString(MPI, "Comm") : NULL;
    int is = class ? PyObject_IsInstance(comm, class) : -1;

    if (is == 0)
        PyErr_Format(PyExc_TypeError, "a communicator is needed, not %R", Py_TYPE(comm));
    if (is == 1) {
        at = PyObject_CallMethod(MPI, "_addressof", "O", comm);
        bytes = at ? PyObject_CallMethod(MPI, "_sizeof", "O", comm) : NULL;
    }
    if (bytes) {
        *address = PyLong_AsVoidPtr(at);
        is = int_from(bytes, size);
    }
    Py_XDECREF(at);
    Py_XDECREF(bytes);
    Py_XDECREF(class);
    Py_XDECREF(MPI);
    return is == 1 && !PyErr_Occurred();
}

/* open_mpi(library, communicator, path, mode, datarep, hints).  The mode is one of "r", "r+", "w",
 * "x".  The library stays loaded. */
PyObject *core_open_mpi(PyObject *module, PyObject *args)
{
    PyObject *path, *bytes, *hints, *comm;
    const void *address = NULL;
    const char *library, *datarep, *mode;
    drep_info *info;
    struct loaded l = {.pointers = false};
    drep_file *file = NULL;
    bool new, writes;
    int size, err;

    (void)module;
    if (!PyArg_ParseTuple(args, "sOUszO", &library, &comm, &path, &mode, &datarep, &hints) ||
        !communicator(comm, &address, &size))
        return NULL;
    new = *mode == 'w' || *mode == 'x';
    writes = strcmp(mode, "r") != 0;
    if (!load_library(&l, library, new ? "drep_mpi_create" : "drep_mpi_open", address, size))
        return NULL;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    if (!info_from(hints, &info)) {
        Py_DECREF(bytes);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    if (new)
        err = create_parallel(&l, PyBytes_AsString(bytes),
                              DREP_RDWR | (*mode == 'x' ? DREP_EXCL : 0), datarep, info, &file);
    else
        err = open_existing(&l, PyBytes_AsString(bytes), writes ? DREP_RDWR : DREP_RDONLY, info,
                            &file);
    Py_END_ALLOW_THREADS;
    drep_info_free(info);
    Py_DECREF(bytes);
    return handle_opened(err, file, path, writes);
}
