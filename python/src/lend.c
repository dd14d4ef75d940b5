/* lend.c - memory of the library's as a memoryview, for the time of one call of a Python function.
 *
 * The memory is gone when the call returns, so it is seen whether anything still refers to it: a
 * part of the memoryview, an array over it.  The frames of an exception are emptied, for they would
 * keep the function's variables; whatever else keeps it is an error. */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

struct lent {
    PyObject_HEAD void *ptr;
    PyObject *view;
    Py_ssize_t size, exports;
    bool writable, over;
};

static PyTypeObject *lent_class;

/* Functions that read what calls them again come to an end before the stack does. */
enum { DEEPEST = 100 };
_Thread_local int lending;

lent *lend(const void *p, size_t n, bool writable)
{
    lent *self;

    if (lending >= DEEPEST) {
        PyErr_SetString(PyExc_RecursionError, "functions that the library calls, in one another");
        return NULL;
    }
    self = PyObject_New(lent, lent_class);
    if (!self)
        return NULL;
    self->ptr = (void *)(uintptr_t)p;
    self->size = (Py_ssize_t)n;
    self->exports = 0;
    self->writable = writable;
    self->over = false;
    self->view = PyMemoryView_FromObject((PyObject *)self);
    if (!self->view) {
        Py_DECREF(self);
        return NULL;
    }
    lending++;
    return self;
}

PyObject *lent_view(lent *self)
{
    return self->view;
}

/* An error of release() is told by the exports. */
static bool released(lent *self)
{
    PyObject *got = PyObject_CallMethod(self->view, "release", NULL);

    if (!got)
        PyErr_Clear();
    Py_XDECREF(got);
    return self->exports == 0;
}

bool lend_end(lent *self)
{
    bool back;

    if (PyErr_Occurred())
        keep_exception();
    if (!self)
        return false;
    lending--;
    back = released(self);
    if (!back) {
        empty_frames();
        back = released(self);
    }
    self->over = true;
    if (!back) {
        PyErr_SetString(PyExc_BufferError, "a function keeps memory that it had for one call");
        keep_exception();
    }
    Py_CLEAR(self->view);
    Py_DECREF(self);
    return back;
}

static int lent_buffer(PyObject *o, Py_buffer *view, int flags)
{
    lent *self = (lent *)o;

    if (self->over) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "this memory was there for one call");
        return -1;
    }
    if (PyBuffer_FillInfo(view, o, self->ptr, self->size, !self->writable, flags))
        return -1;
    self->exports++;
    return 0;
}

static void lent_release(PyObject *o, Py_buffer *view)
{
    (void)view;
    ((lent *)o)->exports--;
}

static void lent_dealloc(PyObject *o)
{
    PyTypeObject *cls = Py_TYPE(o);

    Py_XDECREF(((lent *)o)->view);
    PyObject_Free(o);
    Py_DECREF(cls);
}

static PyType_Slot lent_slots[] = {
    {Py_tp_dealloc, lent_dealloc},
    {Py_bf_getbuffer, lent_buffer},
    {Py_bf_releasebuffer, lent_release},
    {Py_tp_doc, "Memory that a function has for one call."},
    {0, NULL},
};
static PyType_Spec lent_type_spec = {"datarep._core.Lent", sizeof(lent), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     lent_slots};

bool lend_add(PyObject *module)
{
    lent_class = (PyTypeObject *)PyType_FromSpec(&lent_type_spec);
    return lent_class && PyModule_AddObjectRef(module, "Lent", (PyObject *)lent_class) == 0;
}
