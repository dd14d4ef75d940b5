/* core.h - what the files of the extension share.
 *
 * The extension is a thin layer over <datarep.h>: it holds handles, moves elements between memory
 * that Python objects own and files, and turns errors into exceptions.  It uses the limited API
 * of CPython 3.11, so that one binary serves all later versions, and nothing of NumPy's C API:
 * memory comes through the buffer protocol or __array_interface__.  Everything that may wait or
 * compute for long runs without the GIL; the library's handles are safe for threads, and what is
 * left to guard here, the life of a handle, is guarded by the GIL. */
/* SPDX-License-Identifier: MIT */
#ifndef SRC_CORE_H
#define SRC_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <datarep.h>
#include <stdatomic.h>
#include <stdbool.h>

#define MAX_RANK DREP_MAX_RANK

/* ------------------------------------------------------------------ handles */

/* An open file.  `file` is NULL when it is closed.  Calls that run without the GIL are counted, and
 * closing waits for them. */
typedef struct handle {
    PyObject_HEAD drep_file *file;
    PyObject *name;  /* for messages: a str */
    PyObject *keep;  /* what the file needs while it is open: an image, a driver's object */
    atomic_int busy; /* calls that run without the GIL */
    unsigned forks;  /* the process that counted them */
    unsigned moves;  /* to other commits */
    bool closing;
    bool writes;
    bool shared; /* with other ranks (mpi.c) */
    bool far;    /* a round trip to the file is dear */
} handle;

typedef struct dataset_object {
    PyObject_HEAD drep_dataset *ds;
    handle *h;
    PyObject *dtype;  /* of NumPy, NULL until it is asked for */
    drep_type *mem;   /* elements of that dtype, NULL: as the dataset's own */
    PyObject *memory; /* the type object of `mem` */
    PyObject *plan;   /* None, or the Plan by which elements become objects (plan.h) */
    bool simple;      /* its elements lie in an array as in the memory of the library */
    bool exact;       /* mem holds every stored value, or rounds as the caller asked */
    bool collective;  /* transfers are made by all ranks together */
    bool shaped;      /* the shape is that of the handle's commit number `moves` */
    unsigned moves;
    int rank;
    int64_t dims[MAX_RANK];
} dataset_object;

typedef struct type_object {
    PyObject_HEAD drep_type *t;
} type_object;

extern PyTypeObject *handle_class, *dataset_class, *type_class;

/* Begin and end a call with a file: between them the GIL is not held. */
#define WITHOUT_GIL(h, call)                         \
    do {                                             \
        handle_enter(h);                             \
        PyThreadState *state_ = PyEval_SaveThread(); \
        call;                                        \
        PyEval_RestoreThread(state_);                \
        handle_leave(h);                             \
    } while (0)

/* False, with an exception, if the file is closed. */
bool handle_open(handle *h);
/* True if a call that only looks something up may keep the GIL, because it waits for no writer and
 * for no Python function that the library calls. */
bool handle_never_waits(const handle *h);
extern bool python_is_called; /* from now on */
void handle_enter(handle *h);
void handle_leave(handle *h);

/* ------------------------------------------------------------------- errors */

/* Sets the exception of the calling thread's last message; returns NULL.  h may be NULL. */
PyObject *raise_error(int err, handle *h);
/* The same for a call that all ranks have made, which failed on all: says so in the exception. */
PyObject *raise_together(int err, handle *h);
/* Keep the exception of a Python function that the library has called: the first one becomes the
 * cause of the exception of the library's call. */
void keep_exception(void);
/* The errno of the exception that is set, 0 if it has none. */
int exception_number(void);
/* Empty the frames of the kept exception, whose variables may hold memory. */
void empty_frames(void);
/* A call begins, and no other is under way: what was kept is of an earlier one. */
void call_begins(void);
/* Sets datarep's factory of exceptions. */
PyObject *core_set_error(PyObject *module, PyObject *factory);

/* -------------------------------------------------------------------- types */

PyObject *type_new(drep_type *t); /* takes the reference; NULL frees it */
PyObject *type_borrowed(const drep_type *t);
bool type_converter(PyObject *o, const drep_type **out); /* None: NULL */
bool type_add(PyObject *module);

/* ------------------------------------------------------------------- memory */

/* The memory of an object: a C-contiguous buffer, or that of Elements (elements.h). */
typedef struct elements_object elements;
typedef struct memory {
    Py_buffer view;
    bool buffer; /* view is to be released */
    elements *elements;
    void *ptr;
    Py_ssize_t size;
} memory;
/* Memory without pointers to objects. */
bool memory_get(PyObject *o, bool writable, memory *m);
/* The buffer, whatever it holds; flags: PyBUF_... */
bool memory_of_buffer(PyObject *o, int flags, memory *m);
void memory_release(memory *m);
PyObject *types_of(PyObject *module, PyObject *seq);
void elements_release(elements *e);
/* True if n elements of a type lie within `size` bytes. */
bool elements_fit(const drep_type *t, int64_t n, int64_t size);
/* False if a product of lengths has no int64_t, or n is negative. */
bool multiply(int64_t *product, int64_t n);

/* NumPy (numpy.c), once set_numpy() was called. */
bool is_dtype(PyObject *o); /* an exception if not */
bool is_array(PyObject *o);
int dtype_has_objects(PyObject *dtype); /* -1: an exception */
int holds_objects(PyObject *array);
/* The memory of an array of NumPy itself, no subclass, with elements of a dtype. */
bool array_get(PyObject *o, PyObject *dtype, bool writable, memory *m);
/* C-contiguous, no subclass; `copy`: nobody else has it. */
PyObject *array_plain(PyObject *o, bool copy);

/* Memory of the library's, lent to a Python function for one call.  lend_end() takes it back:
 * false, with an exception kept, if the function has raised or goes on to hold a part; NULL is
 * false. */
typedef struct lent lent;
lent *lend(const void *p, size_t n, bool writable);
PyObject *lent_view(lent *self); /* borrowed */
bool lend_end(lent *self);
extern _Thread_local int lending; /* memory that functions of this thread have */
bool lend_add(PyObject *module);

/* Put a new reference in place of the old one. */
void set_ref(PyObject **at, PyObject *o);
/* Convert to an int of C; false, with an exception set, if it does not fit one. */
bool int_from(PyObject *o, int *out);
/* PyArg_ParseTuple() for a value inside of arguments: TypeError if it is no tuple. */
bool tuple_fields(PyObject *o, const char *format, ...);
/* A tuple of ints or None -> numbers. */
bool numbers(PyObject *seq, int64_t *out, int max, int *n);
PyObject *tuple_of(const int64_t *v, int n);
/* A dict of hints -> drep_info; None: NULL. */
bool info_from(PyObject *dict, drep_info **out);
PyObject *info_dict(drep_info *info); /* frees it */
PyObject *text(const char *s);        /* UTF-8 with surrogates for other bytes; NULL: None */

/* Rows that a callback collects without the GIL. */
typedef struct rows {
    char *buf;
    size_t len, room;
    int64_t n;
    bool failed;
} rows;
void rows_put(rows *r, const void *p, size_t n);
void rows_string(rows *r, const char *s); /* NULL is told from "" */
void rows_number(rows *r, int64_t v);
int64_t rows_get_number(const char **p);
PyObject *rows_get_string(const char **p);
/* The list that `row` makes of each row, for the caller of a function of the library that gave
 * `err`; frees the rows.  NULL with an exception: also if memory ran out.  h may be NULL. */
PyObject *rows_list(rows *r, int err, handle *h, PyObject *(*row)(const char **p));

/* ---------------------------------------------------------------- the parts */

bool handle_add(PyObject *module);
bool dataset_add(PyObject *module);
bool view_add(PyObject *module);
extern PyMethodDef object_methods[]; /* of handles: groups, links, dimensions */
extern PyMethodDef attr_methods[];
extern PyMethodDef rep_functions[];
extern PyMethodDef exchange_functions[];
PyObject *core_open_object(PyObject *module, PyObject *args);
PyObject *core_open_mpi(PyObject *module, PyObject *args);
PyObject *handle_new(drep_file *file, PyObject *name, bool writes);
/* The handle of an opened file, or the exception of `err`. */
PyObject *handle_opened(int err, drep_file *file, PyObject *name, bool writes);

PyObject *report_tuple(const drep_report *r);

extern PyObject *np_empty, *np_ndarray, *np_object; /* NULL until NumPy is set */
extern PyObject *np_large_empty;                    /* as np_empty, for arrays that may be large */
PyObject *core_set_numpy(PyObject *module, PyObject *args);
extern PyObject *preset_dtype[DREP_CODE_MAX + 1];
extern PyObject *preset_type[DREP_CODE_MAX + 1];

PyObject *texts_load(PyObject *module, PyObject *args);

#endif
