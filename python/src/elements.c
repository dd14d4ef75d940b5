/* elements.c - elements that hold pointers: the library's memory for them, and how they become
 * Python objects and back.
 *
 * Only an object of this class has such memory: what Python can write, bytes of a buffer, is never
 * taken for a pointer.  Pointers come from the library, which allocates what it reads, or from
 * store(), which points into objects that this object keeps. */
/* SPDX-License-Identifier: MIT */
#include "src/elements.h"
#include "src/pages.h"
#include "src/plan.h"

#include <stdlib.h>
#include <string.h>

/* Copies of texts, one behind the other. */
struct text_block {
    struct text_block *next;
    size_t size; /* of all of it */
};

struct elements_object {
    PyObject_HEAD drep_type *t;
    char *ptr;
    int64_t count;
    Py_ssize_t size;
    PyObject *keep; /* a list of what the pointers lead to, unless the library allocated it, */
    struct text_block *texts; /* but for these */
    bool loaded;              /* the library may have allocated */
    bool used;                /* they may be no zeros */
    int busy;                 /* calls that use it */
};

static PyTypeObject *elements_class;

/* ----------------------------------------------------------------------- its life */

static void text_blocks_free(struct text_block *b)
{
    for (struct text_block *next; b; b = next) {
        next = b->next;
        pages_free(b, b->size);
    }
}

/* What the pointers lead to is free. */
static void drop(elements *self)
{
    PyObject *kept = self->keep;
    struct text_block *texts = self->texts;

    if (self->loaded)
        drep_vlen_free(self->t, self->count, self->ptr);
    self->loaded = false;
    self->keep = NULL;
    self->texts = NULL;
    text_blocks_free(texts);
    Py_XDECREF(kept);
}

/* The elements are zeros, which is no text, sequence or reference at all. */
static void clear(elements *self)
{
    drop(self);
    if (self->used)
        pages_zero(self->ptr, (size_t)self->size);
    self->used = false;
}

/* Elements(Type, count) */
static PyObject *elements_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    PyObject *o;
    const drep_type *t;
    elements *self;
    long long n;

    if (kwargs && PyDict_Size(kwargs))
        return PyErr_Format(PyExc_TypeError, "Elements() takes no keywords");
    if (!PyArg_ParseTuple(args, "O!L", type_class, &o, &n) || !type_converter(o, &t))
        return NULL;
    if (n < 0 || !elements_fit(t, 1, drep_type_extent(t)) ||
        n > PY_SSIZE_T_MAX / drep_type_extent(t))
        return PyErr_Format(PyExc_ValueError, "%lld elements of %R are not possible", n, o);
    self = (elements *)((allocfunc)PyType_GetSlot(cls, Py_tp_alloc))(cls, 0);
    if (!self)
        return NULL;
    self->size = (Py_ssize_t)(n * drep_type_extent(t));
    self->ptr = pages_new((size_t)self->size);
    if (!self->ptr) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    self->t = drep_type_ref(t);
    self->count = n;
    return (PyObject *)self;
}

static void elements_dealloc(PyObject *o)
{
    elements *self = (elements *)o;
    PyTypeObject *cls = Py_TYPE(o);

    drop(self);
    pages_free(self->ptr, (size_t)self->size);
    drep_type_free(self->t);
    ((freefunc)PyType_GetSlot(cls, Py_tp_free))(o);
    Py_DECREF(cls);
}

static bool elements_idle(const elements *self)
{
    if (self->busy)
        PyErr_SetString(PyExc_BufferError, "the elements are in use");
    return !self->busy;
}

bool elements_get(PyObject *o, const drep_type *t, bool writable, memory *m)
{
    elements *self = (elements *)o;

    m->elements = NULL;
    if (t && (drep_type_true_lb(t) < 0 || drep_type_extent(t) < 0)) {
        PyErr_SetString(PyExc_ValueError, "elements of this type begin before their memory");
        return false;
    }
    if (!PyObject_TypeCheck(o, elements_class)) {
        if (!t || !drep_type_variable(t))
            return memory_get(o, writable, m);
        PyErr_SetString(PyExc_TypeError, "elements of variable length are in an Elements object");
        return false;
    }
    if (!t || !drep_type_equal(t, self->t)) {
        PyErr_SetString(PyExc_TypeError, "the Elements object has another type");
        return false;
    }
    if (!elements_idle(self))
        return false;
    if (writable) {
        clear(self);
        self->loaded = self->used = true;
    }
    self->busy++;
    m->buffer = false;
    m->elements = (elements *)Py_NewRef(o);
    m->ptr = self->ptr;
    m->size = self->size;
    return true;
}

void elements_release(elements *self)
{
    self->busy--;
    Py_DECREF((PyObject *)self);
}

/* ----------------------------------------------------------------- to Python's objects */

/* Arrays of objects may hold NULL, which means None. */
static bool put(char *dst, PyObject *o)
{
    PyObject *old;

    if (!o)
        return false;
    memcpy(&old, dst, sizeof old);
    memcpy(dst, &o, sizeof o);
    Py_XDECREF(old);
    return true;
}

static bool load_elements(const part *p, const char *src, char *dst, int64_t n);
struct element_store;
static bool store(const part *p, const char *src, char *dst, int64_t n, struct element_store *st);

/* Text that is not UTF-8 keeps its bytes as surrogates. */
static PyObject *decode(const char *s, size_t len)
{
    Py_ssize_t n = (Py_ssize_t)len;
    PyObject *o = PyUnicode_FromStringAndSize(n ? s : "", n);

    if (o || !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
        return o;
    PyErr_Clear();
    return PyUnicode_DecodeUTF8(s, n, "surrogateescape");
}

static PyObject *load_sequence(const part *p, const drep_vlen *v)
{
    PyObject *array;
    memory m;
    bool ok;

    array = PyObject_CallFunction(np_empty, "(L)O", (long long)v->count, p->object);
    if (!array || !v->count)
        return array;
    if (!array_get(array, p->object, true, &m)) {
        Py_DECREF(array);
        return NULL;
    }
    ok = load_elements(p->parts, v->data, m.ptr, v->count);
    memory_release(&m);
    if (!ok)
        Py_CLEAR(array);
    return array;
}

static PyObject *load_reference(const part *p, const drep_ref *r)
{
    return PyObject_CallFunction(p->object, "KN", (unsigned long long)r->object, text(r->region));
}

static bool load_struct(const part *p, const char *src, char *dst)
{
    for (Py_ssize_t i = 0; i < p->count; i++) {
        const part *m = &p->parts[i];
        if (!load_elements(m, src + m->at_there, dst + m->at_here, 1))
            return false;
    }
    return true;
}

static PyObject *load_integer(const part *p, const char *src)
{
    PyObject *args = Py_BuildValue("(y#s)", src, (Py_ssize_t)16, "little");
    PyObject *kwargs = Py_BuildValue("{sO}", "signed", p->is_signed ? Py_True : Py_False);
    PyObject *fn = PyObject_GetAttrString((PyObject *)&PyLong_Type, "from_bytes");
    PyObject *r = args && kwargs && fn ? PyObject_Call(fn, args, kwargs) : NULL;

    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    Py_XDECREF(fn);
    return r;
}

/* Copy a text and change what pads it. */
static void pad(const char *src, char *dst, size_t size, char from, char to)
{
    size_t n = size;

    while (n > 0 && src[n - 1] == from)
        n--;
    memcpy(dst, src, n);
    memset(dst + n, to, size - n);
}

static bool load_one(const part *p, const char *src, char *dst)
{
    drep_vlen v;
    drep_ref r;

    switch (p->kind) {
    case COPY:
        memcpy(dst, src, (size_t)p->here);
        return true;
    case TEXT:
        memcpy(&v, src, sizeof v);
        return put(dst, decode(v.data, (size_t)v.count));
    case SEQUENCE:
        memcpy(&v, src, sizeof v);
        return put(dst, load_sequence(p, &v));
    case REFERENCE:
        memcpy(&r, src, sizeof r);
        return put(dst, load_reference(p, &r));
    case STRUCT:
        return load_struct(p, src, dst);
    case ARRAY:
        return load_elements(p->parts, src, dst, p->count);
    case INTEGER:
        return put(dst, load_integer(p, src));
    case PADDED:
        pad(src, dst, (size_t)p->here, ' ', 0);
        return true;
    }
    return false;
}

static bool load_elements(const part *p, const char *src, char *dst, int64_t n)
{
    if (p->kind == COPY && p->here == p->there) {
        memcpy(dst, src, (size_t)(n * p->here));
        return true;
    }
    for (int64_t i = 0; i < n; i++, src += p->there, dst += p->here)
        if (!load_one(p, src, dst))
            return false;
    return true;
}

/* Begin to move the elements to or from an array of a plan; false with an exception if they do not
 * fit each other. */
static bool begin(elements *self, PyObject *how, PyObject *array, bool writable, const plan **out,
                  memory *m)
{
    const plan *p = (const plan *)how;

    if (!PyObject_TypeCheck(how, plan_class)) {
        PyErr_Format(PyExc_TypeError, "a Plan is needed, not %R", Py_TYPE(how));
        return false;
    }
    if (!drep_type_equal(p->t, self->t)) {
        PyErr_SetString(PyExc_TypeError, "the plan is of another type");
        return false;
    }
    if (!elements_idle(self) || !array_get(array, p->dtype, writable, m))
        return false;
    if (m->size != self->count * p->whole.here) {
        memory_release(m);
        PyErr_SetString(PyExc_ValueError, "the array has another number of elements");
        return false;
    }
    self->busy++;
    *out = p;
    return true;
}

/* load(plan, array): the elements as objects; they are zeros afterwards */
static PyObject *elements_load(PyObject *o, PyObject *args)
{
    elements *self = (elements *)o;
    PyObject *how, *to;
    const plan *p;
    memory dst;
    bool ok;

    if (!PyArg_ParseTuple(args, "OO", &how, &to) || !begin(self, how, to, true, &p, &dst))
        return NULL;
    ok = load_elements(&p->whole, self->ptr, dst.ptr, self->count);
    memory_release(&dst);
    self->busy--;
    clear(self);
    if (!ok)
        return NULL;
    Py_RETURN_NONE;
}

/* texts_load(memory, width, array): texts of at most `width` bytes, padded with NULs. */
PyObject *texts_load(PyObject *module, PyObject *args)
{
    PyObject *from, *to;
    memory src, dst;
    Py_ssize_t width, n;
    bool ok = true;

    (void)module;
    if (!PyArg_ParseTuple(args, "OnO", &from, &width, &to) || !memory_get(from, false, &src))
        return NULL;
    if (!array_get(to, np_object, true, &dst)) {
        memory_release(&src);
        return NULL;
    }
    n = dst.size / (Py_ssize_t)sizeof(PyObject *);
    if (width < 1 || n > src.size / width) {
        PyErr_SetString(PyExc_ValueError, "the memory is too small");
        ok = false;
    }
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        const char *s = (const char *)src.ptr + i * width;
        char *at = (char *)dst.ptr + i * (Py_ssize_t)sizeof(PyObject *);
        ok = put(at, decode(s, strnlen(s, (size_t)width))); /* read as DREP_PAD_NULTERM */
    }
    memory_release(&src);
    memory_release(&dst);
    if (!ok)
        return NULL;
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------------- and back */

/* keep[0] makes contiguous arrays of the elements of a sequence, (object, dtype), and keep[1] makes
 * of an object the (id, region) of a reference. */
enum { MAKES_ROW, SPLITS, ARRAY_GIVEN };

enum { TEXTS_MAX = 64 << 20 }; /* bytes of a block of texts that are short */

/* Memory for the contents of elements: objects in the list `keep`, and texts, the first block of
 * which has `left` bytes from `room` on. */
struct element_store {
    PyObject *keep;
    struct text_block *texts;
    char *room;
    size_t left, block; /* the next block's size: each is twice the one before */
    bool strict, other; /* nothing but str is text; something else was met */
};

/* Bytes that live as long as the list. */
static void *kept(PyObject *keep, Py_ssize_t n)
{
    PyObject *block = PyBytes_FromStringAndSize(NULL, n);
    void *p = block && PyList_Append(keep, block) == 0 ? PyBytes_AsString(block) : NULL;

    Py_XDECREF(block);
    return p;
}

static char *text_room(struct element_store *st, size_t n)
{
    char *p;

    if (n > st->left) {
        size_t size = (n > st->block ? n : st->block) + sizeof(struct text_block);
        struct text_block *b = pages_new(size);
        if (!b) {
            PyErr_NoMemory();
            return NULL;
        }
        *b = (struct text_block){st->texts, size};
        st->texts = b;
        st->room = (char *)(b + 1);
        st->left = size - sizeof *b;
        st->block = st->block < TEXTS_MAX ? 2 * st->block : TEXTS_MAX;
    }
    p = st->room;
    st->room += n;
    st->left -= n;
    return p;
}

/* Copy n bytes, which mostly are few. */
static void text_copy(char *dst, const char *src, size_t n)
{
    uint64_t w;

    if (n > 128) {
        memcpy(dst, src, n);
        return;
    }
    for (size_t i = 0, at; i < n && n >= 8; i += 8) {
        at = n - i < 8 ? n - 8 : i; /* the last ones overlap */
        memcpy(&w, src + at, 8);
        memcpy(dst + at, &w, 8);
    }
    for (size_t i = 0; i < n && n < 8; i++)
        dst[i] = src[i];
}

/* The bytes are copied: the library finds them one behind the other, and needs no object. */
static bool store_text(PyObject *o, char *dst, struct element_store *st)
{
    const char *s = "";
    Py_ssize_t n = 0;
    drep_vlen v;
    char *p;

    if (o && (Py_TYPE(o) == &PyUnicode_Type || PyUnicode_Check(o)))
        s = PyUnicode_AsUTF8AndSize(o, &n);
    else if (st->strict)
        return st->other = true, false;
    else if (o && PyBytes_Check(o)) {
        s = PyBytes_AsString(o);
        n = PyBytes_Size(o);
    } else {
        PyErr_Format(PyExc_TypeError, "%R is no text: give a str", o ? o : Py_None);
        return false;
    }
    if (!s)
        return false;
    p = text_room(st, (size_t)n + 1);
    if (!p)
        return false;
    text_copy(p, s, (size_t)n);
    v = (drep_vlen){n, p};
    memcpy(dst, &v, sizeof v);
    return true;
}

/* Zeros that live as long as the list. */
static void *scratch(PyObject *keep, Py_ssize_t n, Py_ssize_t size)
{
    void *p = n <= PY_SSIZE_T_MAX / size ? kept(keep, n * size) : PyErr_NoMemory();

    if (p)
        memset(p, 0, (size_t)(n * size));
    return p;
}

/* A copy of an array that nobody else changes, of plain elements: what it gave. */
static PyObject *own_row(const part *p, PyObject *o, PyObject *keep)
{
    PyObject *given = PyObject_CallFunction(PyList_GetItem(keep, MAKES_ROW), "OO", o, p->object);
    PyObject *own = given && p->parts->kind != COPY ? array_plain(given, true) : given;

    if (own != given)
        Py_XDECREF(given);
    if (own && PyList_Append(keep, own) < 0)
        Py_CLEAR(own);
    Py_XDECREF(own); /* the list holds it */
    return own;
}

static bool store_sequence(const part *p, PyObject *o, char *dst, struct element_store *st)
{
    const part *one = p->parts;
    PyObject *array;
    drep_vlen v = {0};
    memory m;
    bool ok = true;

    if (!o || o == Py_None) {
        PyErr_SetString(PyExc_TypeError, "None is no sequence: give an empty list");
        return false;
    }
    array = own_row(p, o, st->keep);
    if (!array || !array_get(array, p->object, false, &m))
        return false;
    v.count = m.size / one->here;
    v.data = m.ptr;
    if (v.count && (one->kind != COPY || one->here != one->there)) {
        v.data = scratch(st->keep, (Py_ssize_t)v.count, one->there);
        ok = v.data && store(one, m.ptr, v.data, v.count, st);
    }
    memory_release(&m);
    if (ok)
        memcpy(dst, &v, sizeof v);
    return ok;
}

static bool store_reference(PyObject *o, char *dst, struct element_store *st)
{
    PyObject *pair, *region;
    drep_ref r = {0};
    unsigned long long id;
    bool ok;

    pair = PyObject_CallFunction(PyList_GetItem(st->keep, SPLITS), "O", o ? o : Py_None);
    if (!pair)
        return false;
    ok = PyList_Append(st->keep, pair) == 0 && tuple_fields(pair, "KO", &id, &region);
    if (ok) {
        r.object = id;
        r.region = region == Py_None ? NULL : (char *)PyUnicode_AsUTF8AndSize(region, NULL);
        ok = region == Py_None || r.region;
    }
    Py_DECREF(pair);
    if (ok)
        memcpy(dst, &r, sizeof r);
    return ok;
}

static bool store_integer(const part *p, PyObject *o, char *dst)
{
    PyObject *args = Py_BuildValue("(is)", 16, "little");
    PyObject *kwargs = Py_BuildValue("{sO}", "signed", p->is_signed ? Py_True : Py_False);
    PyObject *index = o ? PyNumber_Index(o) : NULL;
    PyObject *fn = index ? PyObject_GetAttrString((PyObject *)&PyLong_Type, "to_bytes") : NULL;
    PyObject *method = fn ? PyObject_CallMethod(fn, "__get__", "O", index) : NULL;
    PyObject *r = args && kwargs && method ? PyObject_Call(method, args, kwargs) : NULL;
    bool ok = r && PyBytes_Size(r) == 16;

    if (ok)
        memcpy(dst, PyBytes_AsString(r), 16);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "an integer is needed");
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    Py_XDECREF(index);
    Py_XDECREF(fn);
    Py_XDECREF(method);
    Py_XDECREF(r);
    return ok;
}

static bool store_struct(const part *p, const char *src, char *dst, struct element_store *st)
{
    for (Py_ssize_t i = 0; i < p->count; i++) {
        const part *m = &p->parts[i];
        if (!store(m, src + m->at_here, dst + m->at_there, 1, st))
            return false;
    }
    return true;
}

static bool store_one(const part *p, const char *src, char *dst, struct element_store *st)
{
    PyObject *o = NULL;

    if (p->kind == TEXT || p->kind == SEQUENCE || p->kind == REFERENCE || p->kind == INTEGER)
        memcpy(&o, src, sizeof o);
    switch (p->kind) {
    case COPY:
        memcpy(dst, src, (size_t)p->here);
        return true;
    case TEXT:
        return store_text(o, dst, st);
    case SEQUENCE:
        return store_sequence(p, o, dst, st);
    case REFERENCE:
        return store_reference(o, dst, st);
    case STRUCT:
        return store_struct(p, src, dst, st);
    case ARRAY:
        return store(p->parts, src, dst, p->count, st);
    case INTEGER:
        return store_integer(p, o, dst);
    case PADDED:
        pad(src, dst, (size_t)p->here, 0, ' ');
        return true;
    }
    return false;
}

/* Texts that are looked at soon: their objects are wherever they were made. */
enum { AHEAD = 12 };

static void text_expect(const char *src)
{
    PyObject *o;

    memcpy(&o, src, sizeof o);
    __builtin_prefetch(o);
    __builtin_prefetch((char *)o + 64);
}

static bool store(const part *p, const char *src, char *dst, int64_t n, struct element_store *st)
{
    for (int64_t i = 0; i < n; i++, src += p->here, dst += p->there) {
        if (p->kind == TEXT && i + AHEAD < n)
            text_expect(src + AHEAD * p->here);
        if (!store_one(p, src, dst, st))
            return false;
    }
    return true;
}

/* store(plan, array, row, split, strict): elements that point into a copy of an array of objects,
 * which they keep; texts are copied by one call that no other thread comes between.  row(object,
 * dtype) makes an array of a sequence, split(object) the (id, region) of a reference.  False if
 * strict and a text is no str, without an exception. */
static PyObject *elements_store(PyObject *o, PyObject *args)
{
    elements *self = (elements *)o;
    PyObject *how, *from, *row, *split, *own;
    struct element_store st = {.keep = NULL};
    const plan *p;
    memory src;
    int strict = 0;
    bool ok, texts;

    if (!PyArg_ParseTuple(args, "OOOO|p", &how, &from, &row, &split, &strict))
        return NULL;
    st.strict = strict != 0;
    texts = PyObject_TypeCheck(how, plan_class) && ((plan *)how)->whole.kind == TEXT;
    own = array_plain(from, !texts);
    st.keep = own ? Py_BuildValue("[OON]", row, split, own) : NULL;
    if (!st.keep || !begin(self, how, PyList_GetItem(st.keep, ARRAY_GIVEN), false, &p, &src)) {
        Py_XDECREF(st.keep);
        return NULL;
    }
    clear(self);
    self->used = true;
    st.block = self->count < TEXTS_MAX / 32 ? (size_t)self->count * 32 : TEXTS_MAX;
    ok = store(&p->whole, src.ptr, self->ptr, self->count, &st);
    memory_release(&src);
    self->busy--;
    if (!ok) {
        clear(self);
        text_blocks_free(st.texts);
        Py_DECREF(st.keep);
        return st.other ? Py_NewRef(Py_False) : NULL;
    }
    self->keep = st.keep;
    self->texts = st.texts;
    Py_RETURN_TRUE;
}

static PyMethodDef elements_methods[] = {
    {"load", elements_load, METH_VARARGS, "load(plan, array): give them to an array, as objects"},
    {"store", elements_store, METH_VARARGS,
     "store(plan, array, row, split, strict=False): take them from an array of objects; False if "
     "strict and a text is no str"},
    {0},
};

static PyType_Slot elements_slots[] = {
    {Py_tp_new, elements_new},
    {Py_tp_dealloc, elements_dealloc},
    {Py_tp_methods, elements_methods},
    {Py_tp_doc, "Elements(Type, count): elements that may hold pointers, in the library's memory."},
    {0, NULL},
};
static PyType_Spec elements_type_spec = {"datarep._core.Elements", sizeof(elements), 0,
                                         Py_TPFLAGS_DEFAULT, elements_slots};

bool elements_add(PyObject *module)
{
    elements_class = (PyTypeObject *)PyType_FromSpec(&elements_type_spec);
    return elements_class &&
           PyModule_AddObjectRef(module, "Elements", (PyObject *)elements_class) == 0;
}
