/* handle.c - open files: their life, commits, header and hints. */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

#include <datarep-team.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

PyTypeObject *handle_class;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t calls_ended = PTHREAD_COND_INITIALIZER;
static unsigned forks;            /* how many led to this process */
static int under_way;             /* calls of all threads, guarded by the GIL */
static _Thread_local int entered; /* those of this thread */
static unsigned long main_thread; /* Python runs handlers of signals there alone */

/* The child has one thread, so nobody is in a call or holds the lock. */
static void in_child(void)
{
    static const pthread_mutex_t new_lock = PTHREAD_MUTEX_INITIALIZER;
    static const pthread_cond_t new_idle = PTHREAD_COND_INITIALIZER;

    forks++;
    under_way = entered;
    main_thread = PyThread_get_thread_ident();
    memcpy(&lock, &new_lock, sizeof lock);
    memcpy(&calls_ended, &new_idle, sizeof calls_ended);
}

bool handle_open(handle *h)
{
    if (h->file && !h->closing)
        return true;
    PyErr_Format(PyExc_ValueError, "%U: the file is closed", h->name);
    return false;
}

bool python_is_called;

bool handle_never_waits(const handle *h)
{
    return !h->writes && !python_is_called;
}

/* Ctrl-C ends a long call: the handlers run while it goes on (drep_progress). */
static int run_signal_handlers(int64_t done, int64_t total, void *ctx)
{
    PyGILState_STATE held = PyGILState_Ensure();
    int stop = PyErr_CheckSignals();

    (void)done, (void)total, (void)ctx;
    if (stop)
        keep_exception();
    PyGILState_Release(held);
    return stop;
}

void handle_enter(handle *h)
{
    if (PyThread_get_thread_ident() == main_thread)
        drep_progress(run_signal_handlers, NULL);
    if (h->forks != forks) {
        atomic_store(&h->busy, 0);
        h->forks = forks;
    }
    atomic_fetch_add(&h->busy, 1);
    entered++;
    if (!under_way++)
        call_begins();
}

void handle_leave(handle *h)
{
    entered--;
    under_way--;
    if (atomic_fetch_sub(&h->busy, 1) == 1 && h->closing) {
        pthread_mutex_lock(&lock);
        pthread_cond_broadcast(&calls_ended);
        pthread_mutex_unlock(&lock);
    }
}

PyObject *handle_new(drep_file *file, PyObject *name, bool writes)
{
    handle *self = PyObject_New(handle, handle_class);
    int ranks = 1;

    if (!self) {
        drep_abandon(file);
        return NULL;
    }
    self->file = file;
    self->name = Py_NewRef(name);
    self->keep = NULL;
    atomic_init(&self->busy, 0);
    self->forks = forks;
    self->moves = 0;
    self->closing = false;
    self->writes = writes;
    self->shared = drep_team_of(file, NULL, &ranks) == 0 && ranks > 1;
    return (PyObject *)self;
}

/* New calls are refused from here on, and those under way have ended. */
static drep_file *last_one(handle *h)
{
    drep_file *file = h->file;

    h->closing = true;
    if (h->forks == forks && atomic_load(&h->busy)) {
        Py_BEGIN_ALLOW_THREADS;
        pthread_mutex_lock(&lock);
        while (atomic_load(&h->busy))
            pthread_cond_wait(&calls_ended, &lock);
        pthread_mutex_unlock(&lock);
        Py_END_ALLOW_THREADS;
    }
    h->file = NULL;
    return file;
}

static void give_up(handle *h, drep_file *file)
{
    Py_BEGIN_ALLOW_THREADS;
    drep_abandon(file);
    Py_END_ALLOW_THREADS;
    Py_CLEAR(h->keep);
}

/* Whether a file that nobody closed may be committed: not by a child of the process that opened it,
 * without the other ranks, or inside of a call of the library. */
static bool may_commit(const handle *h)
{
    return h->writes && h->forks == forks && !h->shared && !entered && !lending;
}

/* Nobody uses the file any more: what was written is committed. */
static void finish_file(handle *h)
{
    drep_file *file = h->file;
    bool commits = may_commit(h);
    int err = 0;

    if (h->writes && h->forks == forks &&
        PyErr_WarnFormat(PyExc_ResourceWarning, 1, "%U was not closed: its changes are %s", h->name,
                         commits ? "committed" : "lost"))
        PyErr_WriteUnraisable(h->name);
    if (!commits) {
        give_up(h, file);
        return;
    }
    Py_BEGIN_ALLOW_THREADS;
    err = drep_commit(file);
    Py_END_ALLOW_THREADS;
    if (err) {
        raise_error(err, h);
        PyErr_WriteUnraisable(h->name);
    }
    give_up(h, file);
}

static void handle_dealloc(PyObject *o)
{
    handle *h = (handle *)o;
    PyTypeObject *cls = Py_TYPE(o);
    PyObject *kind, *value, *trace;

    if (h->file) {
        PyErr_Fetch(&kind, &value, &trace);
        finish_file(h);
        PyErr_Restore(kind, value, trace);
    }
    Py_XDECREF(h->name);
    Py_XDECREF(h->keep);
    PyObject_Free(o);
    Py_DECREF(cls);
}

static bool may_close(handle *h)
{
    if (!entered && !lending)
        return true;
    PyErr_Format(PyExc_ValueError, "%U: a function that the library calls cannot close a file",
                 h->name);
    return false;
}

static PyObject *handle_close(PyObject *o, PyObject *none)
{
    handle *h = (handle *)o;
    drep_file *file;
    int err;

    (void)none;
    if (!h->file || h->closing)
        Py_RETURN_NONE;
    if (!may_close(h))
        return NULL;
    file = last_one(h);
    Py_BEGIN_ALLOW_THREADS;
    err = drep_close(file);
    Py_END_ALLOW_THREADS;
    Py_CLEAR(h->keep);
    if (err)
        return raise_together(err, h);
    Py_RETURN_NONE;
}

static PyObject *handle_abandon(PyObject *o, PyObject *none)
{
    handle *h = (handle *)o;

    (void)none;
    if (!h->file || h->closing)
        Py_RETURN_NONE;
    if (!may_close(h))
        return NULL;
    give_up(h, last_one(h));
    Py_RETURN_NONE;
}

/* fail(why): close without committing, and make the other ranks' next collective call an error */
static PyObject *handle_fail(PyObject *o, PyObject *why)
{
    handle *h = (handle *)o;
    PyObject *bytes;
    drep_file *file;

    if (!h->file || h->closing)
        Py_RETURN_NONE;
    if (!may_close(h))
        return NULL;
    bytes = PyUnicode_AsEncodedString(why, "utf-8", "backslashreplace");
    if (!bytes)
        return NULL;
    file = last_one(h);
    Py_BEGIN_ALLOW_THREADS;
    drep_team_abandon(file, PyBytes_AsString(bytes));
    Py_END_ALLOW_THREADS;
    Py_CLEAR(h->keep);
    Py_DECREF(bytes);
    Py_RETURN_NONE;
}

static PyObject *handle_commit(PyObject *o, PyObject *none)
{
    handle *h = (handle *)o;
    int err;

    (void)none;
    if (!handle_open(h))
        return NULL;
    WITHOUT_GIL(h, err = drep_commit(h->file));
    if (err)
        return raise_together(err, h);
    Py_RETURN_NONE;
}

static PyObject *handle_seal(PyObject *o, PyObject *none)
{
    handle *h = (handle *)o;
    int64_t blocks = 0;
    int err;

    (void)none;
    if (!handle_open(h))
        return NULL;
    WITHOUT_GIL(h, err = drep_seal(h->file, &blocks));
    return err ? raise_error(err, h) : PyLong_FromLongLong(blocks);
}

static PyObject *handle_refresh(PyObject *o, PyObject *none)
{
    handle *h = (handle *)o;
    int err;

    (void)none;
    if (!handle_open(h))
        return NULL;
    WITHOUT_GIL(h, err = drep_refresh(h->file));
    h->moves++;
    if (err)
        return raise_error(err, h);
    Py_RETURN_NONE;
}

static int log_row(const drep_commitinfo *c, void *ctx)
{
    rows *r = ctx;

    rows_number(r, (int64_t)c->sequence);
    rows_number(r, c->time);
    rows_number(r, (int64_t)c->end);
    r->n++;
    return 0;
}

static PyObject *log_tuple(const char **p)
{
    long long sequence = rows_get_number(p), time = rows_get_number(p);

    return Py_BuildValue("(LLL)", sequence, time, (long long)rows_get_number(p));
}

/* [(sequence, nanoseconds, end)] */
static PyObject *handle_log(PyObject *o, PyObject *none)
{
    handle *h = (handle *)o;
    rows r = {0};
    int err;

    (void)none;
    if (!handle_open(h))
        return NULL;
    WITHOUT_GIL(h, err = drep_log(h->file, log_row, &r));
    return rows_list(&r, err, h, log_tuple);
}

static PyObject *handle_header(PyObject *o, PyObject *none)
{
    handle *h = (handle *)o;
    drep_header head = DREP_HEADER;
    int err;

    (void)none;
    if (!handle_open(h))
        return NULL;
    WITHOUT_GIL(h, err = drep_header_get(h->file, &head));
    if (err)
        return raise_error(err, h);
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:(ii),s:K,s:L,s:y#,s:K,s:i}", "datarep",
                         text(head.datarep), "form", text(head.form), "writer", text(head.writer),
                         "machine", text(head.machine), "version", head.version_major,
                         head.version_minor, "sequence", (unsigned long long)head.sequence, "time",
                         (long long)head.time, "uuid", (const char *)head.uuid, (Py_ssize_t)16,
                         "end", (unsigned long long)head.end, "damaged_slot", head.damaged_slot);
}

static PyObject *handle_hints(PyObject *o, PyObject *none)
{
    handle *h = (handle *)o;
    drep_info *info;
    int err;

    (void)none;
    if (!handle_open(h))
        return NULL;
    WITHOUT_GIL(h, err = drep_get_info(h->file, &info));
    return err ? raise_error(err, h) : info_dict(info);
}

static PyObject *handle_set_hints(PyObject *o, PyObject *dict)
{
    handle *h = (handle *)o;
    drep_info *info;
    int err;

    if (!info_from(dict, &info))
        return NULL;
    if (!handle_open(h)) {
        drep_info_free(info);
        return NULL;
    }
    WITHOUT_GIL(h, err = drep_set_info(h->file, info));
    drep_info_free(info);
    if (err)
        return raise_error(err, h);
    Py_RETURN_NONE;
}

/* The representations of the file: [(number, name, form, machine)] */
static PyObject *handle_datareps(PyObject *o, PyObject *none)
{
    handle *h = (handle *)o;
    drep_repinfo *list;
    PyObject *out;
    int n = 0, room = 0, err;

    (void)none;
    if (!handle_open(h))
        return NULL;
    WITHOUT_GIL(h, err = drep_header_datareps(h->file, NULL, 0, &room));
    if (err)
        return raise_error(err, h);
    list = PyMem_Calloc((size_t)room + 1, sizeof *list);
    if (!list)
        return PyErr_NoMemory();
    WITHOUT_GIL(h, err = drep_header_datareps(h->file, list, room, &n));
    if (err) {
        PyMem_Free(list);
        return raise_error(err, h);
    }
    out = PyList_New(0);
    for (int i = 0; out && i < n && i < room; i++) {
        PyObject *row = Py_BuildValue("(iNNN)", list[i].number, text(list[i].name),
                                      text(list[i].form), text(list[i].machine));
        if (!row || PyList_Append(out, row) < 0)
            Py_CLEAR(out);
        Py_XDECREF(row);
    }
    PyMem_Free(list);
    return out;
}

/* The table of representation `number`: [(code, format, order, size)] */
static PyObject *handle_table(PyObject *o, PyObject *arg)
{
    handle *h = (handle *)o;
    const drep_encoding *table;
    PyObject *list;
    int number, n = 0, err;

    if (!int_from(arg, &number) || !handle_open(h))
        return NULL;
    WITHOUT_GIL(h, err = drep_header_types(h->file, number, &table, &n));
    if (err)
        return raise_error(err, h);
    list = PyList_New(0);
    for (int i = 0; list && i < n; i++) {
        const drep_encoding *e = &table[i];
        PyObject *row = Py_BuildValue("(Hbbb)", e->code, e->format, e->order, e->size);
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *handle_usage(PyObject *o, PyObject *none)
{
    handle *h = (handle *)o;
    drep_usage u = DREP_USAGE;
    int err;

    (void)none;
    if (!handle_open(h))
        return NULL;
    WITHOUT_GIL(h, err = drep_usage_get(h->file, &u));
    if (err)
        return raise_error(err, h);
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L}", "file", (long long)u.file, "data",
                         (long long)u.data, "free", (long long)u.free, "objects",
                         (long long)u.objects, "chunks", (long long)u.chunks, "absent",
                         (long long)u.absent);
}

static PyObject *get_closed(PyObject *o, void *unused)
{
    handle *h = (handle *)o;

    (void)unused;
    return PyBool_FromLong(!h->file || h->closing);
}

static PyObject *get_writes(PyObject *o, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((handle *)o)->writes);
}

PyObject *handle_opened(int err, drep_file *file, PyObject *name, bool writes)
{
    handle shown = {.name = name};

    return err ? raise_error(err, &shown) : handle_new(file, name, writes);
}

/* open(path, writes, hints, commit, header_only, name): a URL goes by a name without its secrets.
 */
static PyObject *core_open(PyObject *module, PyObject *args)
{
    PyObject *path, *bytes, *hints, *opened, *name = NULL;
    unsigned long long commit;
    int writes, head, amode, err;
    bool far;
    drep_info *info;
    drep_file *file = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "UpOKp|U", &path, &writes, &hints, &commit, &head, &name) ||
        !PyUnicode_FSConverter(path, &bytes))
        return NULL;
    if (!info_from(hints, &info)) {
        Py_DECREF(bytes);
        return NULL;
    }
    amode = (writes ? DREP_RDWR : DREP_RDONLY) | (head ? DREP_HEADER_ONLY : 0);
    far = strstr(PyBytes_AsString(bytes), "://") != NULL;
    Py_BEGIN_ALLOW_THREADS;
    err = commit ? drep_open_commit(PyBytes_AsString(bytes), amode, commit, info, &file)
                 : drep_open(PyBytes_AsString(bytes), amode, info, &file);
    Py_END_ALLOW_THREADS;
    drep_info_free(info);
    Py_DECREF(bytes);
    opened = handle_opened(err, file, name ? name : path, writes);
    if (opened)
        ((handle *)opened)->far = far;
    return opened;
}

/* create(path, exclusive, datarep, hints, like, name) */
static PyObject *core_create(PyObject *module, PyObject *args)
{
    PyObject *path, *bytes, *hints, *like, *name = NULL;
    const char *datarep;
    int exclusive, amode, err;
    drep_info *info;
    drep_file *file = NULL;
    handle *of;

    (void)module;
    if (!PyArg_ParseTuple(args, "UpzOO|U", &path, &exclusive, &datarep, &hints, &like, &name) ||
        !PyUnicode_FSConverter(path, &bytes))
        return NULL;
    if (like != Py_None && !PyObject_TypeCheck(like, handle_class))
        PyErr_Format(PyExc_TypeError, "like is a file, not %R", Py_TYPE(like));
    if (PyErr_Occurred() || !info_from(hints, &info)) {
        Py_DECREF(bytes);
        return NULL;
    }
    amode = DREP_RDWR | (exclusive ? DREP_EXCL : 0);
    of = like != Py_None ? (handle *)like : NULL;
    if (of && !handle_open(of))
        err = -1;
    else if (of)
        WITHOUT_GIL(of,
                    err = drep_create_like(PyBytes_AsString(bytes), amode, of->file, info, &file));
    else {
        Py_BEGIN_ALLOW_THREADS;
        err = drep_create(PyBytes_AsString(bytes), amode, datarep, info, &file);
        Py_END_ALLOW_THREADS;
    }
    drep_info_free(info);
    Py_DECREF(bytes);
    return handle_opened(err, file, name ? name : path, true); /* keeps an exception that is set */
}

/* open_image(buffer, hints): a file in memory. */
static PyObject *core_open_image(PyObject *module, PyObject *args)
{
    PyObject *o, *view, *hints, *name, *self;
    drep_info *info;
    drep_file *file = NULL;
    memory m;
    int err;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &o, &hints) || !(view = PyMemoryView_FromObject(o)))
        return NULL;
    if (!info_from(hints, &info) || !memory_get(view, false, &m)) {
        Py_DECREF(view);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    err = drep_open_image(m.ptr, (size_t)m.size, info, &file);
    Py_END_ALLOW_THREADS;
    memory_release(&m); /* the memoryview holds the memory */
    drep_info_free(info);
    name = PyUnicode_FromString("(image)");
    self = name ? handle_opened(err, file, name, false) : NULL;
    Py_XDECREF(name);
    if (self)
        ((handle *)self)->keep = view;
    else
        Py_DECREF(view);
    return self;
}

PyMethodDef open_functions[] = {
    {"open", core_open, METH_VARARGS, "open(path, writes, hints, commit, header_only, name=path)"},
    {"create", core_create, METH_VARARGS,
     "create(path, exclusive, datarep, hints, like, name=path)"},
    {"open_image", core_open_image, METH_VARARGS, "open_image(buffer, hints)"},
    {0},
};

static PyMethodDef handle_methods[] = {
    {"close", handle_close, METH_NOARGS, "commit and close"},
    {"abandon", handle_abandon, METH_NOARGS, "close without committing"},
    {"fail", handle_fail, METH_O, "(why): close without committing; the other ranks learn why"},
    {"commit", handle_commit, METH_NOARGS, "make changes durable"},
    {"seal", handle_seal, METH_NOARGS, "compute absent checksums; their number"},
    {"refresh", handle_refresh, METH_NOARGS, "move to the newest commit"},
    {"log", handle_log, METH_NOARGS, "[(sequence, nanoseconds, end)]"},
    {"header", handle_header, METH_NOARGS, "the header as a dict"},
    {"hints", handle_hints, METH_NOARGS, "the hints in effect"},
    {"set_hints", handle_set_hints, METH_O, "set hints"},
    {"datareps", handle_datareps, METH_NOARGS, "[(number, name, form, machine)]"},
    {"table", handle_table, METH_O, "(number): [(code, format, order, size)]"},
    {"usage", handle_usage, METH_NOARGS, "bytes of the file's parts"},
    {0},
};

static PyObject *get_name(PyObject *o, void *unused)
{
    (void)unused;
    return Py_NewRef(((handle *)o)->name);
}

static PyObject *get_shared(PyObject *o, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((handle *)o)->shared);
}

static PyGetSetDef handle_getset[] = {
    {"name", get_name, NULL, "its path", NULL},
    {"closed", get_closed, NULL, "whether the file is closed", NULL},
    {"writes", get_writes, NULL, "whether the handle writes", NULL},
    {"shared", get_shared, NULL, "whether other ranks share the file", NULL},
    {0},
};

static PyMethodDef all_methods[128];

static void add_methods(PyMethodDef *from)
{
    PyMethodDef *to = all_methods;

    while (to->ml_name)
        to++;
    while (from->ml_name)
        *to++ = *from++;
}

static PyType_Slot handle_slots[] = {
    {Py_tp_dealloc, handle_dealloc},
    {Py_tp_getset, handle_getset},
    {Py_tp_methods, all_methods},
    {Py_tp_doc, "An open file."},
    {0, NULL},
};
static PyType_Spec handle_spec = {"datarep._core.Handle", sizeof(handle), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  handle_slots};

static bool find_main_thread(void)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;

    if (ident)
        main_thread = PyLong_AsUnsignedLong(ident);
    Py_XDECREF(threading);
    Py_XDECREF(thread);
    Py_XDECREF(ident);
    return !PyErr_Occurred();
}

bool handle_add(PyObject *module)
{
    if (!find_main_thread())
        return false;
    pthread_atfork(NULL, NULL, in_child);
    add_methods(handle_methods);
    add_methods(object_methods);
    add_methods(attr_methods);
    handle_class = (PyTypeObject *)PyType_FromSpec(&handle_spec);
    return handle_class && PyModule_AddObjectRef(module, "Handle", (PyObject *)handle_class) == 0 &&
           PyModule_AddFunctions(module, open_functions) == 0;
}
