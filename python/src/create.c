/* create.c - new datasets. */
/* SPDX-License-Identifier: MIT */
#include "src/dataset.h"
#include "src/elements.h"

#include <string.h>

#define MOST_PARAMS 255 /* of a filter */

struct request {
    drep_spec spec;
    int64_t dims[MAX_RANK], maxdims[MAX_RANK], chunk[MAX_RANK];
    const char *names[MAX_RANK];
    drep_filter filters[DREP_MAX_FILTERS];
    PyObject *dim_names, *filter_rows; /* tuples */
    memory fill;
};

static bool lengths(struct request *q, PyObject *dims, PyObject *maxdims, PyObject *chunk)
{
    int n;

    q->spec.rank = DREP_NULL_SPACE;
    if (dims == Py_None)
        return true;
    if (!numbers(dims, q->dims, MAX_RANK, &q->spec.rank))
        return false;
    if (q->spec.rank)
        q->spec.dims = q->dims;
    if (maxdims != Py_None) {
        if (!numbers(maxdims, q->maxdims, MAX_RANK, &n))
            return false;
        if (n != q->spec.rank) {
            PyErr_SetString(PyExc_ValueError, "maxshape and shape differ in length");
            return false;
        }
        q->spec.maxdims = n ? q->maxdims : NULL;
    }
    if (chunk != Py_None) {
        if (!numbers(chunk, q->chunk, MAX_RANK, &n))
            return false;
        if (n != q->spec.rank) {
            PyErr_SetString(PyExc_ValueError, "chunks and shape differ in length");
            return false;
        }
        q->spec.chunk = q->chunk;
    }
    return true;
}

static bool dim_names(struct request *q)
{
    Py_ssize_t n = q->dim_names ? PyTuple_Size(q->dim_names) : 0;

    if (!q->dim_names)
        return true;
    if (n != q->spec.rank) {
        PyErr_SetString(PyExc_ValueError, "as many names as dimensions are needed");
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GetItem(q->dim_names, i);
        if (name != Py_None && !(q->names[i] = PyUnicode_AsUTF8AndSize(name, NULL)))
            return false;
    }
    q->spec.dim_names = n ? q->names : NULL;
    return true;
}

static bool parameters(drep_filter *f, const char *name, PyObject *list)
{
    int64_t params[MOST_PARAMS];
    uint32_t *all;

    if (!numbers(list, params, MOST_PARAMS, &f->nparams))
        return false;
    f->params = all = PyMem_Malloc(MOST_PARAMS * sizeof *all);
    if (!all) {
        PyErr_NoMemory();
        return false;
    }
    for (int k = 0; k < f->nparams; k++) {
        if (params[k] < 0 || params[k] > UINT32_MAX) {
            PyErr_Format(PyExc_ValueError, "filter %s: parameter %lld does not fit 32 bits", name,
                         (long long)params[k]);
            return false;
        }
        all[k] = (uint32_t)params[k];
        if (k < 8)
            f->param[k] = all[k];
    }
    return true;
}

/* [(name, level, params)] */
static bool filters(struct request *q)
{
    Py_ssize_t n = PyTuple_Size(q->filter_rows);

    if (n > DREP_MAX_FILTERS) {
        PyErr_SetString(PyExc_ValueError, "too many filters");
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        drep_filter *f = &q->filters[i];
        PyObject *p;
        const char *name;
        if (!tuple_fields(PyTuple_GetItem(q->filter_rows, i), "siO", &name, &f->level, &p) ||
            !parameters(f, name, p))
            return false;
        f->id = drep_filter_from_name(name);
        if (!f->id) {
            f->id = DREP_FILTER_USER;
            f->name = name;
        }
    }
    q->spec.filters = n ? q->filters : NULL;
    q->spec.nfilters = (int)n;
    return true;
}

static PyObject *create_dataset(handle *h, const char *path, const struct request *q)
{
    int err;

    WITHOUT_GIL(h, err = drep_dataset_create(h->file, path, &q->spec, NULL));
    if (err)
        return raise_error(err, h);
    Py_RETURN_NONE;
}

/* The memory of the fill value. */
static bool fill_value(struct request *q, PyObject *value)
{
    if (value == Py_None)
        return true;
    if (!elements_get(value, q->spec.type, false, &q->fill))
        return false;
    q->spec.fill_value = q->fill.ptr;
    if (elements_fit(q->spec.type, 1, q->fill.size))
        return true;
    PyErr_SetString(PyExc_ValueError, "the fill value has too few bytes");
    return false;
}

/* dataset_create(handle, path, Type, dims, maxdims, names, chunk, filters, layout, fill kind, fill
 * value's memory, representation, placed) */
static PyObject *dataset_create(PyObject *module, PyObject *args)
{
    PyObject *o, *t, *dims, *maxdims, *names, *chunk, *list, *value, *r = NULL;
    struct request q = {.spec = DREP_SPEC(0)};
    const char *path;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!sOOOOOOiiOzp", handle_class, &o, &path, &t, &dims, &maxdims,
                          &names, &chunk, &list, &q.spec.layout, &q.spec.fill, &value,
                          &q.spec.datarep, &q.spec.placed) ||
        !type_converter(t, &q.spec.type))
        return NULL;
    /* Texts of lists, which other threads may change, live as long as these tuples. */
    q.dim_names = names == Py_None ? NULL : PySequence_Tuple(names);
    q.filter_rows = PyErr_Occurred() ? NULL : PySequence_Tuple(list);
    if (q.filter_rows && lengths(&q, dims, maxdims, chunk) && dim_names(&q) && filters(&q) &&
        fill_value(&q, value) && handle_open((handle *)o))
        r = create_dataset((handle *)o, path, &q);
    memory_release(&q.fill);
    for (int i = 0; i < DREP_MAX_FILTERS; i++)
        PyMem_Free((void *)(uintptr_t)q.filters[i].params);
    Py_XDECREF(q.dim_names);
    Py_XDECREF(q.filter_rows);
    return r;
}

PyMethodDef create_functions[] = {
    {"dataset_create", dataset_create, METH_VARARGS,
     "dataset_create(handle, path, Type, dims, maxdims, names, chunk, filters, layout, fill, "
     "value, "
     "datarep, placed)"},
    {0},
};
