/* key.c - keys of integers, slices and an ellipsis become boxes, by NumPy's rules. */
/* SPDX-License-Identifier: MIT */
#include "src/key.h"

static int part(struct key_box *b, int d, PyObject *key, int64_t len)
{
    if (PySlice_Check(key)) {
        Py_ssize_t start, stop, step, n;
        if (PySlice_Unpack(key, &start, &stop, &step) < 0)
            return KEY_ERROR;
        n = PySlice_AdjustIndices((Py_ssize_t)len, &start, &stop, step);
        b->flip[b->shown] = step < 0 && n > 1;
        b->flipped |= b->flip[b->shown];
        if (step < 0) {
            start += (n - 1) * step;
            step = -step;
        }
        b->start[d] = n ? start : 0;
        b->stride[d] = n > 1 ? step : 1;
        b->strided |= b->stride[d] != 1;
        b->shape[b->shown++] = b->count[d] = n;
        return KEY_BOX;
    }
    if (!PyLong_Check(key) || PyBool_Check(key)) {
        /* NumPy's integers; its arrays have an index, too, but are no integers. */
        PyObject *index;
        int result;
        if (PyBool_Check(key) || !PyIndex_Check(key) || PyObject_HasAttrString(key, "__len__"))
            return KEY_OTHER;
        index = PyNumber_Index(key);
        if (!index) {
            PyErr_Clear();
            return KEY_OTHER;
        }
        result = part(b, d, index, len);
        Py_DECREF(index);
        return result;
    }
    Py_ssize_t i = PyLong_AsSsize_t(key);
    if (i == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return KEY_OTHER;
    }
    b->start[d] = i < 0 ? i + len : i;
    if (b->start[d] < 0 || b->start[d] >= len)
        return KEY_OTHER;
    b->count[d] = b->stride[d] = 1;
    return KEY_BOX;
}

static void all_of(struct key_box *b, int d, int64_t len)
{
    b->start[d] = 0;
    b->stride[d] = 1;
    b->flip[b->shown] = false;
    b->shape[b->shown++] = b->count[d] = len;
}

int key_parse(int rank, const int64_t *dims, PyObject *key, struct key_box *b)
{
    bool tuple = PyTuple_Check(key), ellipsis = false;
    Py_ssize_t n = tuple ? PyTuple_Size(key) : 1;
    int d = 0, result;

    b->rank = rank;
    b->shown = 0;
    b->strided = b->flipped = false;
    if (rank < 0)
        return KEY_OTHER;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *k = tuple ? PyTuple_GetItem(key, i) : key;
        if (k == Py_Ellipsis) {
            if (ellipsis)
                return KEY_OTHER;
            ellipsis = true;
            while (d < rank - (n - 1 - i)) {
                all_of(b, d, dims[d]);
                d++;
            }
            continue;
        }
        if (d >= rank)
            return KEY_OTHER;
        result = part(b, d, k, dims[d]);
        if (result != KEY_BOX)
            return result;
        d++;
    }
    for (; d < rank; d++)
        all_of(b, d, dims[d]);
    b->scalar = !b->shown && !ellipsis;
    b->n = 1;
    for (d = 0; d < b->rank; d++)
        b->n *= b->count[d];
    return KEY_BOX;
}

PyObject *key_flip(PyObject *array, const struct key_box *b)
{
    PyObject *key = PyTuple_New(b->shown), *back = PyLong_FromLong(-1), *shown = NULL;

    for (int d = 0; key && back && d < b->shown; d++) {
        PyObject *part = PySlice_New(NULL, NULL, b->flip[d] ? back : NULL);
        if (!part || PyTuple_SetItem(key, d, part) < 0)
            Py_CLEAR(key);
    }
    if (key && back)
        shown = PyObject_GetItem(array, key);
    Py_XDECREF(key);
    Py_XDECREF(back);
    Py_DECREF(array);
    return shown;
}
