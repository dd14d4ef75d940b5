/* numpy.c - NumPy's arrays, by their attributes and buffers: the extension does without its C API.
 */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

#include <string.h>

PyObject *np_empty, *np_ndarray, *np_object, *np_large_empty;
PyObject *preset_dtype[DREP_CODE_MAX + 1], *preset_type[DREP_CODE_MAX + 1];

static PyObject *np_dtype, *np_array, *np_asarray,
    *dtype_of_array; /* the descriptor ndarray.dtype */

static bool get(PyObject *module, const char *name, PyObject **out)
{
    PyObject *o = PyObject_GetAttrString(module, name);

    set_ref(out, o);
    return o;
}

static bool import(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy"), *object;
    bool ok = numpy && get(numpy, "ndarray", &np_ndarray) && get(numpy, "dtype", &np_dtype) &&
              get(numpy, "array", &np_array) && get(numpy, "asarray", &np_asarray) &&
              get(np_ndarray, "dtype", &dtype_of_array);

    object = ok ? PyObject_CallFunction(np_dtype, "s", "O") : NULL;
    set_ref(&np_object, object);
    ok = object && get(numpy, "empty", &np_empty); /* the last: NumPy is there */
    Py_XDECREF(numpy);
    return ok;
}

static int truth(PyObject *o, const char *name)
{
    PyObject *value = PyObject_GetAttrString(o, name);
    int is = value ? PyObject_IsTrue(value) : -1;

    Py_XDECREF(value);
    return is;
}

static bool preset(PyObject *row)
{
    PyObject *dtype, *t, *size;
    const drep_type *type;
    Py_ssize_t bytes;
    int code;

    if (!tuple_fields(row, "iOO", &code, &dtype, &t) || !type_converter(t, &type) ||
        dtype_has_objects(dtype))
        return false;
    size = PyObject_GetAttrString(dtype, "itemsize");
    bytes = size ? PyLong_AsSsize_t(size) : -1;
    Py_XDECREF(size);
    if (code < 1 || code > DREP_CODE_MAX ||
        bytes != drep_type_extent(type ? type : drep_predefined(code)))
        return false;
    set_ref(&preset_dtype[code], Py_NewRef(dtype));
    set_ref(&preset_type[code], Py_NewRef(t));
    return true;
}

/* set_numpy(large_empty, [(code, dtype, Type or None)]) */
PyObject *core_set_numpy(PyObject *module, PyObject *args)
{
    PyObject *empty, *given, *list;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &empty, &given) || !import() ||
        !(list = PySequence_Tuple(given)))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_Size(list); i++) {
        if (!preset(PyTuple_GetItem(list, i))) {
            Py_DECREF(list);
            return PyErr_Occurred() ? NULL
                                    : PyErr_Format(PyExc_ValueError, "row %zd fits no code", i);
        }
    }
    Py_DECREF(list);
    set_ref(&np_large_empty, Py_NewRef(empty));
    Py_RETURN_NONE;
}

bool is_dtype(PyObject *o)
{
    bool is = (np_empty || import()) && PyObject_TypeCheck(o, (PyTypeObject *)np_dtype);

    if (!is && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "a dtype of NumPy is needed, not %R", Py_TYPE(o));
    return is;
}

int dtype_has_objects(PyObject *dtype)
{
    return is_dtype(dtype) ? truth(dtype, "hasobject") : -1;
}

bool is_array(PyObject *o)
{
    return np_ndarray && PyObject_TypeCheck(o, (PyTypeObject *)np_ndarray);
}

int holds_objects(PyObject *array)
{
    /* A subclass may have an attribute of that name. */
    PyObject *dtype = PyObject_CallMethod(dtype_of_array, "__get__", "O", array);
    int is = dtype ? dtype_has_objects(dtype) : -1;

    Py_XDECREF(dtype);
    return is;
}

/* Whether a dtype equals that of the elements of `of`, if that is of arrays; -1: an exception. */
static int is_base(PyObject *dtype, PyObject *of)
{
    PyObject *pair = PyObject_GetAttrString(of, "subdtype"), *base, *shape;
    int is = 0;

    if (pair != Py_None)
        is = tuple_fields(pair, "OO", &base, &shape) ? PyObject_RichCompareBool(dtype, base, Py_EQ)
                                                     : -1;
    Py_XDECREF(pair);
    return is;
}

/* Whether an array was made of a dtype. */
static bool is_of(PyObject *array, PyObject *dtype)
{
    PyObject *has = PyObject_GetAttrString(array, "dtype");
    int is = has ? PyObject_RichCompareBool(has, dtype, Py_EQ) : -1;

    if (is == 0)
        is = is_base(has, dtype);
    if (is == 0)
        PyErr_Format(PyExc_TypeError, "an array of dtype %R is needed, not of %R", dtype, has);
    Py_XDECREF(has);
    return is == 1;
}

bool array_get(PyObject *o, PyObject *dtype, bool writable, memory *m)
{
    m->buffer = false;
    m->elements = NULL;
    if (!np_ndarray || (PyObject *)Py_TYPE(o) != np_ndarray) {
        PyErr_Format(PyExc_TypeError, "an array of NumPy is needed, not %R", Py_TYPE(o));
        return false;
    }
    return is_of(o, dtype) && memory_of_buffer(o, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE, m);
}

PyObject *array_plain(PyObject *o, bool copy)
{
    PyObject *args, *kwargs, *made;

    if (!is_array(o))
        return PyErr_Format(PyExc_TypeError, "an array of NumPy is needed, not %R", Py_TYPE(o));
    args = Py_BuildValue("(O)", o);
    kwargs = Py_BuildValue("{s:s}", "order", "C");
    made = args && kwargs ? PyObject_Call(copy ? np_array : np_asarray, args, kwargs) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return made;
}
