/* dataset.c - datasets: elements between files and memory that Python objects own.
 *
 * ds[...] with integers and slices is whole in this file: it allocates an array, reads into it and
 * returns it.  Every other key goes to Python's _get() and _set() (datarep/index.py), which come
 * back with boxes or points. */
/* SPDX-License-Identifier: MIT */
#include "src/dataset.h"
#include "src/elements.h"
#include "src/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PyTypeObject *dataset_class;
static PyObject *no_index; /* () */

enum { MAYBE_LARGE = 1 << 14 }; /* elements from which np_large_empty() is asked */

/* ------------------------------------------------------------------- its life */

static PyObject *dataset_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    PyObject *o;
    const char *path;
    drep_dataset *ds = NULL;
    dataset_object *self;
    handle *h;
    int err;

    if (kwargs && PyDict_Size(kwargs))
        return PyErr_Format(PyExc_TypeError, "Dataset() takes no keywords");
    if (!PyArg_ParseTuple(args, "O!s", handle_class, &o, &path) || !handle_open((handle *)o))
        return NULL;
    h = (handle *)o;
    WITHOUT_GIL(h, err = drep_dataset_open(h->file, path, &ds));
    if (err)
        return raise_error(err, h);
    self = (dataset_object *)((allocfunc)PyType_GetSlot(cls, Py_tp_alloc))(cls, 0);
    if (!self) {
        drep_dataset_close(ds);
        return NULL;
    }
    self->ds = ds;
    self->h = (handle *)Py_NewRef(o);
    return (PyObject *)self;
}

static void dataset_dealloc(PyObject *o)
{
    dataset_object *self = (dataset_object *)o;
    PyTypeObject *cls = Py_TYPE(o);
    drep_dataset *ds = self->ds;

    if (ds) {
        Py_BEGIN_ALLOW_THREADS;
        drep_dataset_close(ds);
        Py_END_ALLOW_THREADS;
    }
    Py_XDECREF(self->dtype);
    Py_XDECREF(self->memory);
    Py_XDECREF(self->plan);
    Py_XDECREF((PyObject *)self->h);
    ((freefunc)PyType_GetSlot(cls, Py_tp_free))(o);
    Py_DECREF(cls);
}

bool dataset_info(dataset_object *self, drep_dsinfo *info)
{
    int err;

    info->size = sizeof *info; /* the call sets everything else */
    if (!handle_open(self->h))
        return false;
    if (handle_never_waits(self->h))
        err = drep_dataset_info(self->ds, info);
    else
        WITHOUT_GIL(self->h, err = drep_dataset_info(self->ds, info));
    if (err)
        raise_error(err, self->h);
    return !err;
}

/* The shape in rank and dims.  A handle that reads sees one commit until it is refreshed. */
static bool shape_known(dataset_object *self)
{
    drep_dsinfo info;

    if (self->shaped && self->moves == self->h->moves)
        return handle_open(self->h);
    self->moves = self->h->moves;
    if (!dataset_info(self, &info))
        return false;
    self->rank = info.rank;
    for (int d = 0; d < info.rank; d++)
        self->dims[d] = info.dims[d];
    self->shaped = !self->h->writes;
    return true;
}

static bool keep(dataset_object *self, const drep_dsinfo *info, PyObject *dtype, PyObject *t,
                 PyObject *plan)
{
    const drep_type *mem;

    int objects = dtype_has_objects(dtype);

    if (objects < 0 || !type_converter(t, &mem))
        return false;
    self->mem = (drep_type *)mem;
    self->memory = Py_NewRef(t);
    self->plan = Py_NewRef(plan);
    self->simple = !objects && plan == Py_None && !drep_type_variable(mem ? mem : info->type);
    self->dtype = Py_NewRef(dtype);
    return true;
}

/* Its dtype, and how its elements lie in memory then. */
static bool resolve(dataset_object *self)
{
    drep_dsinfo of, *info = &of;
    PyObject *got, *dtype, *t, *plan;
    int code, exact = 0;
    bool ok;

    if (self->dtype)
        return true;
    if (!dataset_info(self, info))
        return false;
    code = drep_type_code(info->type);
    if (preset_dtype[code] && !(code == DREP_CODE_INT64_T && info->fill == DREP_FILL_VALUE))
        return keep(self, info, preset_dtype[code], preset_type[code], Py_None);
    got = PyObject_CallMethod((PyObject *)self, "_resolve", "Ni", type_borrowed(info->type),
                              info->fill);
    if (!got)
        return false;
    ok = tuple_fields(got, "OOOp", &dtype, &t, &plan, &exact) &&
         (self->dtype || keep(self, info, dtype, t, plan));
    self->exact = exact;
    Py_DECREF(got);
    return ok;
}

/* ------------------------------------------------------------------- transfers */

/* Ranks that make a transfer together all make the same call, also for no elements. */
static int transfer_box(dataset_object *self, const struct key_box *b, const drep_type *type,
                        memory *m, const drep_xfer *xfer, bool write)
{
    drep_selection *sel = NULL;
    int err = 0;

    if (!b->n && !xfer->collective)
        return 0;
    if (!b->strided && !xfer->collective) {
        const int64_t *start = b->rank ? b->start : NULL, *count = b->rank ? b->count : NULL;
        return write ? drep_write_box(self->ds, start, count, type, m->ptr, xfer)
                     : drep_read_box(self->ds, start, count, type, m->ptr, xfer);
    }
    if (b->rank)
        err =
            drep_select_box(b->rank, b->start, b->count, b->strided ? b->stride : NULL, NULL, &sel);
    if (err)
        return err;
    err = write ? drep_write(self->ds, sel, type, m->ptr, xfer)
                : drep_read(self->ds, sel, type, m->ptr, xfer);
    drep_selection_free(sel);
    return err;
}

/* The exception of a transfer. */
static PyObject *raise_transfer(dataset_object *self, int err)
{
    return self->collective ? raise_together(err, self->h) : raise_error(err, self->h);
}

/* Losses are shown to Python, which warns of them. */
static bool lost(dataset_object *self, const drep_report *report, bool write)
{
    PyObject *got;

    if (!report->overflow && !report->inexact && !report->nan_lost)
        return true;
    got = PyObject_CallMethod((PyObject *)self, "_lost", "Ni", report_tuple(report), write);
    Py_XDECREF(got);
    return got;
}

static bool move_box(dataset_object *self, const struct key_box *b, memory *m, bool write,
                     drep_report *report)
{
    drep_xfer xfer = DREP_XFER(.report = report, .buf_size = (size_t)(m->size ? m->size : 1),
                               .collective = self->collective);
    int err;

    if (!handle_open(self->h)) /* a key's __index__() may have closed it */
        return false;
    WITHOUT_GIL(self->h, err = transfer_box(self, b, self->mem, m, &xfer, write));
    if (err) {
        raise_transfer(self, err);
        return false;
    }
    return true;
}

static bool read_array(dataset_object *self, const struct key_box *b, PyObject *array)
{
    drep_report report = DREP_REPORT;
    memory m;
    bool ok;

    if (!b->n && !self->collective)
        return true;
    /* keep() has checked the dtype; large_empty() may have given other memory. */
    if (b->n < MAYBE_LARGE ? !memory_of_buffer(array, PyBUF_WRITABLE, &m)
                           : !memory_get(array, true, &m))
        return false;
    ok = move_box(self, b, &m, false, &report);
    memory_release(&m);
    return ok && lost(self, &report, false);
}

static PyObject *dataset_subscript(PyObject *o, PyObject *key)
{
    dataset_object *self = (dataset_object *)o;
    PyObject *shape, *array, *item, *empty;
    struct key_box b;
    int result;

    if (!shape_known(self))
        return NULL;
    if (!np_large_empty || !resolve(self) || !self->simple)
        return PyErr_Occurred() ? NULL : PyObject_CallMethod(o, "_get", "(O)", key);
    result = key_parse(self->rank, self->dims, key, &b);
    if (result != KEY_BOX)
        return result == KEY_ERROR ? NULL : PyObject_CallMethod(o, "_get", "(O)", key);
    shape = tuple_of(b.shape, b.shown);
    empty = b.n < MAYBE_LARGE ? np_empty : np_large_empty;
    array = shape ? PyObject_CallFunctionObjArgs(empty, shape, self->dtype, NULL) : NULL;
    Py_XDECREF(shape);
    if (!array || !read_array(self, &b, array)) {
        Py_XDECREF(array);
        return NULL;
    }
    if (!b.scalar)
        return b.flipped ? key_flip(array, &b) : array;
    item = PyObject_GetItem(array, no_index);
    Py_DECREF(array);
    return item;
}

/* True if the array's attribute `name` equals `want`. */
static bool same(PyObject *array, const char *name, PyObject *want)
{
    PyObject *has = PyObject_GetAttrString(array, name);
    int equal = !has || !want ? -1 : has == want ? 1 : PyObject_RichCompareBool(has, want, Py_EQ);

    Py_XDECREF(has);
    PyErr_Clear();
    return equal == 1;
}

/* KEY_BOX if a key selects what lies in an array as it lies in memory: one of NumPy's own, of the
 * dataset's dtype and of the result's shape. */
static int key_fits(dataset_object *self, PyObject *key, PyObject *array, struct key_box *b)
{
    PyObject *shape;
    int result;
    bool fits;

    if (!shape_known(self))
        return KEY_ERROR;
    if (!np_large_empty || !resolve(self) || !self->simple ||
        (PyObject *)Py_TYPE(array) != np_ndarray)
        return PyErr_Occurred() ? KEY_ERROR : KEY_OTHER;
    result = key_parse(self->rank, self->dims, key, b);
    if (result != KEY_BOX)
        return result;
    shape = tuple_of(b->shape, b->shown);
    fits = shape && !b->flipped && same(array, "shape", shape) && same(array, "dtype", self->dtype);
    Py_XDECREF(shape);
    PyErr_Clear();
    return fits ? KEY_BOX : KEY_OTHER;
}

static int slow_set(PyObject *o, PyObject *key, PyObject *value)
{
    PyObject *got = PyObject_CallMethod(o, "_set", "OO", key, value);

    Py_XDECREF(got);
    return got ? 0 : -1;
}

static int dataset_set(PyObject *o, PyObject *key, PyObject *value)
{
    dataset_object *self = (dataset_object *)o;
    drep_report report = DREP_REPORT;
    struct key_box b;
    memory m;
    bool ok;
    int result;

    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements cannot be deleted");
        return -1;
    }
    result = key_fits(self, key, value, &b);
    if (result == KEY_ERROR)
        return -1;
    /* An array that is not contiguous has no simple buffer. */
    if (result == KEY_OTHER || !b.n || !memory_of_buffer(value, PyBUF_SIMPLE, &m)) {
        PyErr_Clear();
        return slow_set(o, key, value);
    }
    ok = move_box(self, &b, &m, true, &report) && lost(self, &report, true);
    memory_release(&m);
    return ok ? 0 : -1;
}

/* _read_same(array, key): False if the array cannot be filled as it is, else the report. */
static PyObject *read_same(PyObject *o, PyObject *args)
{
    dataset_object *self = (dataset_object *)o;
    drep_report report = DREP_REPORT;
    PyObject *array, *key;
    struct key_box b;
    memory m;
    bool ok;
    int result;

    if (!PyArg_ParseTuple(args, "OO", &array, &key))
        return NULL;
    result = key_fits(self, key, array, &b);
    if (result == KEY_ERROR)
        return NULL;
    if (result == KEY_OTHER || !b.n || !memory_of_buffer(array, PyBUF_WRITABLE, &m)) {
        PyErr_Clear();
        Py_RETURN_FALSE;
    }
    ok = move_box(self, &b, &m, false, &report);
    memory_release(&m);
    return ok ? report_tuple(&report) : NULL;
}

static Py_ssize_t dataset_len(PyObject *o)
{
    dataset_object *self = (dataset_object *)o;

    if (!shape_known(self))
        return -1;
    if (self->rank < 1) {
        PyErr_SetString(PyExc_TypeError, "a dataset without dimensions has no len()");
        return -1;
    }
    return (Py_ssize_t)self->dims[0];
}

/* ----------------------------------------------- transfers that Python has laid out */

struct transfer_options {
    PyObject *type, *buf;
    int threads, range, members;
};

/* Elements in memory of a Type, None: of the dataset's, whose file is open. */
static bool memory_for(dataset_object *self, PyObject *t, PyObject *buf, bool writable,
                       const drep_type **type, memory *m)
{
    drep_dsinfo info;

    if (!type_converter(t, type) || !dataset_info(self, &info) ||
        !elements_get(buf, *type ? *type : info.type, writable, m))
        return false;
    if (handle_open(self->h)) /* a buffer, too, may be Python's */
        return true;
    memory_release(m);
    return false;
}

/* Begin a transfer along `rank` dimensions (-1: any) with the arguments that all share: Type,
 * memory, (threads, range, members). */
static bool start(dataset_object *self, const struct transfer_options *opt, int rank, bool write,
                  const drep_type **type, memory *m, drep_xfer *xfer, drep_report *report)
{
    if (!shape_known(self))
        return false;
    if (rank >= 0 && rank != self->rank) {
        PyErr_Format(PyExc_ValueError, "%d dimensions are selected of %d", rank, self->rank);
        return false;
    }
    if (!memory_for(self, opt->type, opt->buf, !write, type, m))
        return false;
    *report = DREP_REPORT;
    /* A size of 0 is an unknown one. */
    *xfer = DREP_XFER(.report = report, .range = opt->range, .threads = opt->threads,
                      .buf_size = m->size ? (size_t)m->size : 1, .members = opt->members,
                      .collective = self->collective);
    return true;
}

static PyObject *finish_transfer(dataset_object *self, int err, memory *m,
                                 const drep_report *report)
{
    memory_release(m);
    return err ? raise_transfer(self, err) : report_tuple(report);
}

static PyObject *box_method(PyObject *o, PyObject *args, bool write)
{
    dataset_object *self = (dataset_object *)o;
    PyObject *starts, *counts, *strides;
    struct transfer_options opt;
    struct key_box b = {.n = 1};
    const drep_type *type;
    drep_report report;
    drep_xfer xfer;
    memory m;
    int n, err;

    if (!PyArg_ParseTuple(args, "OOOOO(iii)", &starts, &counts, &strides, &opt.type, &opt.buf,
                          &opt.threads, &opt.range, &opt.members) ||
        !numbers(starts, b.start, MAX_RANK, &b.rank) || !numbers(counts, b.count, MAX_RANK, &n))
        return NULL;
    b.strided = strides != Py_None;
    if (b.strided && !numbers(strides, b.stride, MAX_RANK, &n))
        return NULL;
    if (n != b.rank)
        return PyErr_Format(PyExc_ValueError, "start, count and stride differ in length");
    for (int d = 0; d < n; d++)
        b.n = b.count[d] ? b.n : 0;
    if (!start(self, &opt, b.rank, write, &type, &m, &xfer, &report))
        return NULL;
    WITHOUT_GIL(self->h, err = transfer_box(self, &b, type, &m, &xfer, write));
    return finish_transfer(self, err, &m, &report);
}

static PyObject *read_box(PyObject *o, PyObject *args)
{
    return box_method(o, args, false);
}

static PyObject *write_box(PyObject *o, PyObject *args)
{
    return box_method(o, args, true);
}

/* Coordinates as memory of int64: n rows of rank each. */
static bool coordinates(PyObject *buf, int rank, memory *m, int64_t *n)
{
    if (!memory_get(buf, false, m))
        return false;
    if (rank < 1 || rank > MAX_RANK || m->size % (8 * rank)) {
        memory_release(m);
        PyErr_SetString(PyExc_ValueError, "coordinates do not fit the dataset's rank");
        return false;
    }
    *n = m->size / (8 * rank);
    return true;
}

static int transfer_points(dataset_object *self, int rank, int64_t n, const memory *at,
                           const drep_type *type, memory *m, const drep_xfer *xfer, bool write)
{
    drep_selection *sel;
    int err = n || self->collective ? drep_select_points(rank, n, at->ptr, &sel) : 0;

    if (err || (!n && !self->collective))
        return err;
    err = write ? drep_write(self->ds, sel, type, m->ptr, xfer)
                : drep_read(self->ds, sel, type, m->ptr, xfer);
    drep_selection_free(sel);
    return err;
}

static PyObject *points_method(PyObject *o, PyObject *args, bool write)
{
    dataset_object *self = (dataset_object *)o;
    PyObject *coords;
    struct transfer_options opt;
    const drep_type *type;
    drep_report report;
    drep_xfer xfer;
    memory m, at;
    int rank, err;
    int64_t n;

    if (!PyArg_ParseTuple(args, "OiOO(iii)", &coords, &rank, &opt.type, &opt.buf, &opt.threads,
                          &opt.range, &opt.members) ||
        !coordinates(coords, rank, &at, &n))
        return NULL;
    if (!start(self, &opt, rank, write, &type, &m, &xfer, &report)) {
        memory_release(&at);
        return NULL;
    }
    WITHOUT_GIL(self->h, err = transfer_points(self, rank, n, &at, type, &m, &xfer, write));
    memory_release(&at);
    return finish_transfer(self, err, &m, &report);
}

static PyObject *read_points(PyObject *o, PyObject *args)
{
    return points_method(o, args, false);
}

static PyObject *write_points(PyObject *o, PyObject *args)
{
    return points_method(o, args, true);
}

static void add_report(drep_report *sum, const drep_report *r)
{
    sum->items += r->items;
    sum->overflow += r->overflow;
    sum->inexact += r->inexact;
    sum->nan_lost += r->nan_lost;
}

#define UNITED 256 /* boxes of a file far away that are read by one call */

/* Count the boxes from the first one on, at most n, that follow each other in row-major order and
 * do not overlap: the order of their union is theirs. */
static int64_t boxes_in_order(int rank, int64_t n, const int64_t *at, const int64_t *count)
{
    int64_t i = 1;

    for (; i < n; i++, at += rank) {
        int d = 0;

        while (d < rank - 1 && at[d] == at[rank + d] && count[d] == 1)
            d++;
        if (at[rank + d] < at[d] || at[rank + d] - at[d] < count[d])
            break;
    }
    return i;
}

/* Select n boxes of the same count. */
static int boxes_united(int rank, int64_t n, const int64_t *at, const int64_t *count,
                        drep_selection **out)
{
    drep_selection *a = NULL, *b = NULL;
    int err;

    if (n == 1)
        return drep_select_box(rank, at, count, NULL, NULL, out);
    err = boxes_united(rank, n / 2, at, count, &a);
    if (!err)
        err = boxes_united(rank, n - n / 2, at + n / 2 * rank, count, &b);
    if (!err)
        err = drep_select_union(a, b, out);
    drep_selection_free(a);
    drep_selection_free(b);
    return err;
}

/* Read n boxes that follow each other by one call. */
static int read_united(dataset_object *self, int rank, int64_t n, const int64_t *at,
                       const int64_t *count, const drep_type *type, void *buf, const drep_xfer *x)
{
    drep_selection *sel = NULL;
    int err;

    if (n == 1)
        return drep_read_box(self->ds, at, count, type, buf, x);
    err = boxes_united(rank, n, at, count, &sel);
    if (!err)
        err = drep_read(self->ds, sel, type, buf, x);
    drep_selection_free(sel);
    return err;
}

/* n boxes of the same count, one behind the other in memory.  Those of a file far away are fetched
 * together; of a local one, single boxes take less time than their union. */
static int read_each(dataset_object *self, int rank, int64_t n, const int64_t *at,
                     const int64_t *count, const drep_type *type, memory *m, const drep_xfer *xfer,
                     int64_t bytes)
{
    drep_report one, *sum = xfer->report;
    drep_xfer x = *xfer;
    int64_t most = self->h->far ? UNITED : 1;
    int err = 0;

    x.report = &one;
    for (int64_t i = 0, now; i < n && !err; i += now) {
        now = n - i < most ? n - i : most;
        now = boxes_in_order(rank, now, at + i * rank, count);
        one = DREP_REPORT;
        x.buf_size = (size_t)(now * bytes);
        err = read_united(self, rank, now, at + i * rank, count, type, (char *)m->ptr + i * bytes,
                          &x);
        if (!err)
            add_report(sum, &one);
    }
    return err;
}

static PyObject *read_boxes(PyObject *o, PyObject *args)
{
    dataset_object *self = (dataset_object *)o;
    PyObject *coords, *counts;
    struct transfer_options opt;
    int64_t count[MAX_RANK], n, bytes;
    const drep_type *type;
    drep_report report;
    drep_xfer xfer;
    memory m, at;
    int rank, err;

    if (!PyArg_ParseTuple(args, "OOOO(iii)", &coords, &counts, &opt.type, &opt.buf, &opt.threads,
                          &opt.range, &opt.members) ||
        !numbers(counts, count, MAX_RANK, &rank) || !coordinates(coords, rank, &at, &n))
        return NULL;
    if (!start(self, &opt, rank, false, &type, &m, &xfer, &report)) {
        memory_release(&at);
        return NULL;
    }
    bytes = n ? m.size / n : 0;
    if (n && bytes)
        WITHOUT_GIL(self->h, err = read_each(self, rank, n, at.ptr, count, type, &m, &xfer, bytes));
    else
        err = 0;
    memory_release(&at);
    return finish_transfer(self, err, &m, &report);
}

static PyObject *append(PyObject *o, PyObject *args)
{
    dataset_object *self = (dataset_object *)o;
    struct transfer_options opt;
    const drep_type *type;
    drep_report report;
    drep_xfer xfer;
    long long n;
    int dim, err;
    memory m;

    if (!PyArg_ParseTuple(args, "iLOO(iii)", &dim, &n, &opt.type, &opt.buf, &opt.threads,
                          &opt.range, &opt.members) ||
        !start(self, &opt, -1, true, &type, &m, &xfer, &report))
        return NULL;
    WITHOUT_GIL(self->h, err = drep_append(self->ds, dim, n, type, m.ptr, &xfer));
    return finish_transfer(self, err, &m, &report);
}

/* An append that failed before the library was called: a call that fails stops the dataset as one
 * of the library's own failures does. */
static PyObject *append_failed(PyObject *o, PyObject *none)
{
    dataset_object *self = (dataset_object *)o;
    drep_dsinfo info;

    (void)none;
    if (!dataset_info(self, &info))
        return NULL;
    WITHOUT_GIL(self->h, (void)drep_append(self->ds, 0, -1, NULL, NULL, NULL));
    Py_RETURN_NONE;
}

static PyObject *resize(PyObject *o, PyObject *arg)
{
    dataset_object *self = (dataset_object *)o;
    int64_t dims[MAX_RANK];
    int rank, err;
    drep_dsinfo info;

    if (!numbers(arg, dims, MAX_RANK, &rank) || !dataset_info(self, &info))
        return NULL;
    if (rank != info.rank)
        return PyErr_Format(PyExc_ValueError, "%d lengths for %d dimensions", rank, info.rank);
    WITHOUT_GIL(self->h, err = drep_dataset_resize(self->ds, dims));
    if (err)
        return raise_error(err, self->h);
    Py_RETURN_NONE;
}

/* ------------------------------------------------------------------ properties */

static PyObject *filter_tuple(const drep_filter *f)
{
    int64_t params[255];
    char hdf5[24] = "";

    if (f->id >= DREP_FILTER_HDF5)
        snprintf(hdf5, sizeof hdf5, "hdf5:%d%s", f->id - DREP_FILTER_HDF5, f->level ? "?" : "");
    for (int i = 0; i < f->nparams; i++)
        params[i] = f->params[i];
    return Py_BuildValue("(NiN)",
                         text(*hdf5     ? hdf5
                              : f->name ? f->name
                                        : drep_filter_name(f->id)),
                         *hdf5 ? 0 : f->level, tuple_of(params, f->nparams));
}

static PyObject *info_method(PyObject *o, PyObject *none)
{
    dataset_object *self = (dataset_object *)o;
    PyObject *filters;
    int64_t ids[MAX_RANK];
    drep_dsinfo i;
    int rank;

    (void)none;
    if (!dataset_info(self, &i))
        return NULL;
    filters = PyList_New(0);
    for (int f = 0; filters && f < i.nfilters; f++) {
        PyObject *row = filter_tuple(&i.filters[f]);
        if (!row || PyList_Append(filters, row) < 0)
            Py_CLEAR(filters);
        Py_XDECREF(row);
    }
    if (!filters)
        return NULL;
    rank = i.rank < 0 ? 0 : i.rank;
    for (int d = 0; d < rank; d++)
        ids[d] = (int64_t)i.dim_ids[d];
    return Py_BuildValue("{s:K,s:N,s:N,s:i,s:i,s:N,s:N,s:N,s:L,s:i,s:N,s:N,s:i,s:L,s:K}", "id",
                         (unsigned long long)i.id, "type", type_borrowed(i.type), "datarep",
                         text(i.datarep), "datarep_number", i.datarep_number, "rank", i.rank,
                         "dims", tuple_of(i.dims, rank), "maxdims", tuple_of(i.maxdims, rank),
                         "dim_ids", tuple_of(ids, rank), "count", (long long)i.count, "layout",
                         i.layout, "chunk",
                         tuple_of(i.chunk, i.layout == DREP_CHUNKED      ? rank
                                           : i.layout == DREP_CONTIGUOUS ? 1
                                                                         : 0),
                         "filters", filters, "fill", i.fill, "element_size",
                         (long long)i.element_size, "changed", (unsigned long long)i.changed);
}

static PyObject *get_shape(PyObject *o, void *unused)
{
    dataset_object *self = (dataset_object *)o;

    (void)unused;
    if (!shape_known(self))
        return NULL;
    if (self->rank < 0)
        Py_RETURN_NONE;
    return tuple_of(self->dims, self->rank);
}

static PyObject *get_ndim(PyObject *o, void *unused)
{
    dataset_object *self = (dataset_object *)o;

    (void)unused;
    return shape_known(self) ? PyLong_FromLong(self->rank < 0 ? 0 : self->rank) : NULL;
}

static PyObject *get_size(PyObject *o, void *unused)
{
    drep_dsinfo info;

    (void)unused;
    return dataset_info((dataset_object *)o, &info) ? PyLong_FromLongLong(info.count) : NULL;
}

/* Gets an object that resolve() keeps in the dataset's struct; `what` is its offset there. */
static PyObject *get_resolved(PyObject *o, void *what)
{
    dataset_object *self = (dataset_object *)o;

    if (!resolve(self))
        return NULL;
    return Py_NewRef(*(PyObject **)((char *)o + (size_t)what));
}

static PyObject *get_exact(PyObject *o, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((dataset_object *)o)->exact);
}

static PyObject *get_collective(PyObject *o, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((dataset_object *)o)->collective);
}

static int set_collective(PyObject *o, PyObject *value, void *unused)
{
    int is = value ? PyObject_IsTrue(value) : 0;

    (void)unused;
    ((dataset_object *)o)->collective = is == 1;
    return is < 0 ? -1 : 0;
}

static int add_chunk_row(const int64_t *at, void *ctx)
{
    rows *r = ctx;

    rows_put(r, at, (size_t)r->n * sizeof *at);
    return 0;
}

/* Bytes of int64: the first elements of the stored chunks, `width` numbers each. */
static PyObject *chunks(PyObject *o, PyObject *none)
{
    dataset_object *self = (dataset_object *)o;
    drep_dsinfo info;
    PyObject *bytes;
    rows r = {0};
    int err;

    (void)none;
    if (!dataset_info(self, &info))
        return NULL;
    r.n = info.layout == DREP_CHUNKED ? info.rank : 1;
    WITHOUT_GIL(self->h, err = drep_dataset_chunks(self->ds, add_chunk_row, &r));
    bytes = err        ? raise_error(err, self->h)
            : r.failed ? PyErr_NoMemory()
                       : PyBytes_FromStringAndSize(r.buf, (Py_ssize_t)r.len);
    free(r.buf);
    return bytes;
}

static bool chunk_start(dataset_object *self, PyObject *at, int64_t *start_at)
{
    drep_dsinfo info;
    int rank;

    if (!numbers(at, start_at, MAX_RANK, &rank) || !dataset_info(self, &info))
        return false;
    if (rank == info.rank)
        return true;
    PyErr_Format(PyExc_ValueError, "%d indices for %d dimensions", rank, info.rank);
    return false;
}

/* read_stored(start): (bytes, skipped) or None */
static PyObject *read_stored(PyObject *o, PyObject *arg)
{
    dataset_object *self = (dataset_object *)o;
    int64_t at[MAX_RANK], size = 0, room;
    uint32_t skipped = 0;
    PyObject *bytes;
    int err;

    if (!chunk_start(self, arg, at))
        return NULL;
    WITHOUT_GIL(self->h, err = drep_read_stored(self->ds, at, NULL, 0, &size, &skipped));
    if (err)
        return raise_error(err, self->h);
    if (!size)
        Py_RETURN_NONE;
    room = size;
    bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)room);
    if (!bytes)
        return NULL;
    WITHOUT_GIL(self->h, err = drep_read_stored(self->ds, at, PyBytes_AsString(bytes), room, &size,
                                                &skipped));
    if (err || size != room) {
        Py_DECREF(bytes);
        return err ? raise_error(err, self->h)
                   : PyErr_Format(PyExc_RuntimeError, "the chunk was replaced meanwhile");
    }
    return Py_BuildValue("(NI)", bytes, skipped);
}

/* _stored_at(start): (offset, size, skipped, number of another file or None) or None */
static PyObject *stored_at(PyObject *o, PyObject *arg)
{
    dataset_object *self = (dataset_object *)o;
    drep_stored is = DREP_STORED;
    int64_t at[MAX_RANK];
    int err;

    if (!chunk_start(self, arg, at))
        return NULL;
    WITHOUT_GIL(self->h, err = drep_stored_at(self->ds, at, &is));
    if (err == DREP_ERR_NOT_FOUND)
        Py_RETURN_NONE;
    if (err)
        return raise_error(err, self->h);
    return Py_BuildValue("(LLIN)", (long long)is.offset, (long long)is.bytes,
                         (unsigned int)is.skipped,
                         is.external ? PyLong_FromUnsignedLong(is.number) : Py_NewRef(Py_None));
}

static PyObject *write_stored(PyObject *o, PyObject *args)
{
    dataset_object *self = (dataset_object *)o;
    PyObject *where, *buf;
    unsigned int skipped = 0;
    int64_t at[MAX_RANK];
    memory m;
    int err;

    if (!PyArg_ParseTuple(args, "OO|I", &where, &buf, &skipped) || !memory_get(buf, false, &m))
        return NULL;
    if (!chunk_start(self, where, at)) {
        memory_release(&m);
        return NULL;
    }
    WITHOUT_GIL(self->h, err = drep_write_stored(self->ds, at, m.ptr, m.size, skipped, 0));
    memory_release(&m);
    if (err)
        return raise_error(err, self->h);
    Py_RETURN_NONE;
}

static PyObject *stored_as(PyObject *o, PyObject *t)
{
    dataset_object *self = (dataset_object *)o;
    const drep_type *type;
    drep_dsinfo info;
    int is = 0, err;

    if (!type_converter(t, &type) || !dataset_info(self, &info))
        return NULL;
    WITHOUT_GIL(self->h, err = drep_stored_as(self->ds, type ? type : info.type, &is));
    return err ? raise_error(err, self->h) : PyBool_FromLong(is);
}

/* The Type with the offsets that members have in the file, or None. */
static PyObject *placed(PyObject *o, PyObject *none)
{
    dataset_object *self = (dataset_object *)o;
    drep_type *type = NULL;
    int err;

    (void)none;
    if (!handle_open(self->h))
        return NULL;
    WITHOUT_GIL(self->h, err = drep_dataset_placed(self->ds, &type));
    if (err)
        return raise_error(err, self->h);
    if (!type)
        Py_RETURN_NONE;
    return type_new(type);
}

static PyObject *usage(PyObject *o, PyObject *none)
{
    dataset_object *self = (dataset_object *)o;
    drep_dsusage u = DREP_DSUSAGE;
    int err;

    (void)none;
    if (!handle_open(self->h))
        return NULL;
    WITHOUT_GIL(self->h, err = drep_dataset_usage(self->ds, &u));
    return err ? raise_error(err, self->h)
               : Py_BuildValue("(LL)", (long long)u.bytes, (long long)u.chunks);
}

/* fill(Type, memory): the fill value */
static PyObject *fill(PyObject *o, PyObject *args)
{
    dataset_object *self = (dataset_object *)o;
    PyObject *t, *buf;
    const drep_type *type;
    drep_dsinfo info;
    memory m;
    int err;

    if (!PyArg_ParseTuple(args, "OO", &t, &buf) || !memory_for(self, t, buf, true, &type, &m))
        return NULL;
    if (!dataset_info(self, &info) || !elements_fit(type ? type : info.type, 1, m.size)) {
        memory_release(&m);
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "the memory is too small");
    }
    WITHOUT_GIL(self->h, err = drep_dataset_fill(self->ds, type, m.ptr));
    memory_release(&m);
    if (err)
        return raise_error(err, self->h);
    Py_RETURN_NONE;
}

static PyMethodDef dataset_methods[] = {
    {"_read_box", read_box, METH_VARARGS,
     "(start, count, stride, Type, memory, (threads, range, members)): report"},
    {"_write_box", write_box, METH_VARARGS, "as _read_box"},
    {"_read_same", read_same, METH_VARARGS, "(array, key): report, or False if it does not fit"},
    {"_read_points", read_points, METH_VARARGS,
     "(coordinates, rank, Type, memory, options): report"},
    {"_write_points", write_points, METH_VARARGS, "as _read_points"},
    {"_read_boxes", read_boxes, METH_VARARGS, "(starts, count, Type, memory, options): report"},
    {"_append", append, METH_VARARGS, "(dim, n, Type, memory, options): report"},
    {"_append_failed", append_failed, METH_NOARGS,
     "no append is taken before a commit or a resize"},
    {"_resize", resize, METH_O, "(lengths)"},
    {"_info", info_method, METH_NOARGS, "everything about it as a dict"},
    {"_chunks", chunks, METH_NOARGS, "first elements of stored chunks"},
    {"_stored_as", stored_as, METH_O, "whether elements of a Type are the file's bytes"},
    {"_placed", placed, METH_NOARGS, "the Type with the offsets of the file, or None"},
    {"_usage", usage, METH_NOARGS, "(bytes, chunks)"},
    {"_fill", fill, METH_VARARGS, "(Type, memory)"},
    {"_map", dataset_map, METH_O, "(verify): a buffer of its elements"},
    {"_stored_at", stored_at, METH_O, "(start): (offset, size, skipped, other file) or None"},
    {"read_stored", read_stored, METH_O,
     "read_stored(start): the bytes of the chunk that begins there as the file holds them, and the "
     "filters\n"
     "that it skipped; None if there is no such chunk.\n"
     "\n"
     ">>> f = dr.open(\":memory:\", \"w\")\n"
     ">>> x = f.create(\"x\", np.arange(4, dtype=\"u1\"), chunks=(2,))\n"
     ">>> x.read_stored((2,))\n"
     "(b'\\x02\\x03', 0)"},
    {"write_stored", write_stored, METH_VARARGS,
     "write_stored(start, bytes, skipped=0): make stored bytes the chunk that begins there.\n"
     "\n"
     ">>> f = dr.open(\":memory:\", \"w\")\n"
     ">>> x = f.create(\"x\", np.arange(4, dtype=\"u1\"), chunks=(2,))\n"
     ">>> x.write_stored((2,), b'\\x07\\x08')\n"
     ">>> x[:].tolist()\n"
     "[0, 1, 7, 8]"},
    {0},
};

static PyGetSetDef dataset_getset[] = {
    {"shape", get_shape, NULL,
     "The lengths of its dimensions; None for a dataset of null space.\n"
     "\n"
     ">>> f = dr.open(\":memory:\", \"w\")\n"
     ">>> x = f.create(\"x\", np.arange(4, dtype=\"u1\"), chunks=(2,))\n"
     ">>> x.shape\n"
     "(4,)",
     NULL},
    {"ndim", get_ndim, NULL,
     "The number of dimensions.\n"
     "\n"
     ">>> f = dr.open(\":memory:\", \"w\")\n"
     ">>> x = f.create(\"x\", np.arange(4, dtype=\"u1\"), chunks=(2,))\n"
     ">>> x.ndim\n"
     "1",
     NULL},
    {"size", get_size, NULL,
     "The number of elements.\n"
     "\n"
     ">>> f = dr.open(\":memory:\", \"w\")\n"
     ">>> x = f.create(\"x\", np.arange(4, dtype=\"u1\"), chunks=(2,))\n"
     ">>> x.size\n"
     "4",
     NULL},
    {"dtype", get_resolved, NULL,
     "The dtype of the elements that are read.\n"
     "\n"
     ">>> f = dr.open(\":memory:\", \"w\")\n"
     ">>> x = f.create(\"x\", np.arange(4, dtype=\"u1\"), chunks=(2,))\n"
     ">>> x.dtype\n"
     "dtype('uint8')",
     (void *)offsetof(dataset_object, dtype)},
    {"_memory", get_resolved, NULL, "their Type in memory or None",
     (void *)offsetof(dataset_object, memory)},
    {"_plan", get_resolved, NULL, "how pointers become objects",
     (void *)offsetof(dataset_object, plan)},
    {"_collective", get_collective, set_collective, "whether all ranks transfer together", NULL},
    {"_exact", get_exact, NULL, "whether memory holds every value", NULL},
    {0},
};

static PyType_Slot dataset_slots[] = {
    {Py_tp_new, dataset_new},
    {Py_tp_dealloc, dataset_dealloc},
    {Py_mp_subscript, dataset_subscript},
    {Py_mp_ass_subscript, dataset_set},
    {Py_mp_length, dataset_len},
    {Py_tp_getset, dataset_getset},
    {Py_tp_methods, dataset_methods},
    {Py_tp_doc, "A dataset's handle."},
    {0, NULL},
};
static PyType_Spec dataset_type_spec = {"datarep._core.Dataset", sizeof(dataset_object), 0,
                                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, dataset_slots};

bool dataset_add(PyObject *module)
{
    no_index = PyTuple_New(0);
    dataset_class = (PyTypeObject *)PyType_FromSpec(&dataset_type_spec);
    return no_index && dataset_class && mapping_add(module) &&
           PyModule_AddObjectRef(module, "Dataset", (PyObject *)dataset_class) == 0;
}
