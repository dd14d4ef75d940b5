/* vlen.c - elements that hold pointers become Python objects, and back.
 *
 * In memory of the library a text is a char *, a sequence a drep_vlen, a reference a drep_ref; in
 * an array of NumPy each is a pointer to an object.  A plan, which datarep/types.py makes, says how
 * an element lies on both sides.  It is a tuple (kind, bytes there, bytes in the array, more):
 *
 *     COPY    more: None
 *     TEXT    more: None
 *     SEQUENCE  more: (plan of the base or None, its dtype, its bytes there)
 *     REFERENCE more: a function of (id, region) and one back
 *     STRUCT  more: [(offset there, offset in the array, plan)]
 *     ARRAY   more: (count, plan)
 *     INTEGER more: whether it is signed; 16 bytes there
 *     PADDED  more: None; a text of so many bytes, with blanks behind it there and NULs here */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

#include <stdlib.h>
#include <string.h>

enum { COPY, TEXT, SEQUENCE, REFERENCE, STRUCT, ARRAY, INTEGER, PADDED };

typedef struct plan {
    int kind;
    Py_ssize_t there, here;
    PyObject *more;
} plan;

static bool plan_read(PyObject *o, plan *p)
{
    return tuple_fields(o, "innO", &p->kind, &p->there, &p->here, &p->more);
}

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

static bool load(PyObject *how, const char *src, char *dst, int64_t n);
static bool store(PyObject *how, const char *src, char *dst, int64_t n, PyObject *keep);

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

static PyObject *load_sequence(PyObject *more, const drep_vlen *v)
{
    PyObject *base, *dtype, *array;
    Py_ssize_t bytes;
    memory m;
    bool ok;

    if (!tuple_fields(more, "OOn", &base, &dtype, &bytes))
        return NULL;
    array = PyObject_CallFunction(np_empty, "(L)O", (long long)v->count, dtype);
    if (!array || !v->count)
        return array;
    if (!memory_get(array, true, &m)) {
        Py_DECREF(array);
        return NULL;
    }
    ok = true;
    if (base != Py_None)
        ok = load(base, v->data, m.ptr, v->count);
    else
        memcpy(m.ptr, v->data, (size_t)m.size);
    memory_release(&m);
    if (!ok)
        Py_CLEAR(array);
    return array;
}

static PyObject *load_reference(PyObject *more, const drep_ref *r)
{
    PyObject *make = PyTuple_GetItem(more, 0);

    return make ? PyObject_CallFunction(make, "KN", (unsigned long long)r->object, text(r->region))
                : NULL;
}

static bool load_struct(PyObject *more, const char *src, char *dst)
{
    for (Py_ssize_t i = 0; i < PyList_Size(more); i++) {
        Py_ssize_t from, to;
        PyObject *sub;
        if (!tuple_fields(PyList_GetItem(more, i), "nnO", &from, &to, &sub) ||
            !load(sub, src + from, dst + to, 1))
            return false;
    }
    return true;
}

static PyObject *load_integer(PyObject *more, const char *src)
{
    PyObject *args = Py_BuildValue("(y#s)", src, (Py_ssize_t)16, "little");
    PyObject *kwargs = Py_BuildValue("{sO}", "signed", more);
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

static bool load_one(const plan *p, const char *src, char *dst)
{
    long long count;
    PyObject *sub;
    const char *s;
    drep_vlen v;
    drep_ref r;

    switch (p->kind) {
    case COPY:
        memcpy(dst, src, (size_t)p->here);
        return true;
    case TEXT:
        memcpy(&s, src, sizeof s);
        return put(dst, decode(s, s ? strlen(s) : 0));
    case SEQUENCE:
        memcpy(&v, src, sizeof v);
        return put(dst, load_sequence(p->more, &v));
    case REFERENCE:
        memcpy(&r, src, sizeof r);
        return put(dst, load_reference(p->more, &r));
    case STRUCT:
        return load_struct(p->more, src, dst);
    case ARRAY:
        return tuple_fields(p->more, "LO", &count, &sub) && load(sub, src, dst, count);
    case INTEGER:
        return put(dst, load_integer(p->more, src));
    case PADDED:
        pad(src, dst, (size_t)p->here, ' ', 0);
        return true;
    }
    PyErr_SetString(PyExc_ValueError, "an unknown plan");
    return false;
}

/* Most elements with pointers are texts alone. */
static bool load_texts(const char *src, char *dst, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const char *s;
        memcpy(&s, src + i * (int64_t)sizeof s, sizeof s);
        if (!put(dst + i * (int64_t)sizeof(PyObject *), decode(s, s ? strlen(s) : 0)))
            return false;
    }
    return true;
}

static bool load(PyObject *how, const char *src, char *dst, int64_t n)
{
    plan p;

    if (!plan_read(how, &p))
        return false;
    if (p.kind == TEXT)
        return load_texts(src, dst, n);
    for (int64_t i = 0; i < n; i++, src += p.there, dst += p.here)
        if (!load_one(&p, src, dst))
            return false;
    return true;
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
    if (!memory_get(to, true, &dst)) {
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
        ok = put(at, decode(s, strnlen(s, (size_t)width)));
    }
    memory_release(&src);
    memory_release(&dst);
    if (!ok)
        return NULL;
    Py_RETURN_NONE;
}

/* Whether a plan stays in the elements that it is of: `there` and `here` bytes on both sides. */
static bool plan_fits(PyObject *how, Py_ssize_t there, Py_ssize_t here, int depth)
{
    static const Py_ssize_t pointers[] = {[TEXT] = sizeof(char *),
                                          [SEQUENCE] = sizeof(drep_vlen),
                                          [REFERENCE] = sizeof(drep_ref),
                                          [INTEGER] = 16};
    Py_ssize_t from, to;
    long long count;
    PyObject *sub;
    plan p;

    if (depth > 64 || !plan_read(how, &p))
        return false;
    if (p.there < 1 || p.here < 1 || p.there > there || p.here > here || p.kind < COPY ||
        p.kind > PADDED)
        return false;
    if (p.kind == COPY || p.kind == PADDED)
        return p.here <= p.there;
    if (p.kind == ARRAY)
        return tuple_fields(p.more, "LO", &count, &sub) && count > 0 &&
               plan_fits(sub, p.there / count, p.here / count, depth + 1);
    if (p.kind != STRUCT)
        return p.there >= pointers[p.kind] && p.here >= (Py_ssize_t)sizeof(PyObject *) &&
               (p.kind == INTEGER || p.kind == TEXT || PyTuple_Check(p.more));
    if (!PyList_Check(p.more))
        return false;
    for (Py_ssize_t i = 0; i < PyList_Size(p.more); i++)
        if (!tuple_fields(PyList_GetItem(p.more, i), "nnO", &from, &to, &sub) || from < 0 ||
            to < 0 || from > p.there || to > p.here ||
            !plan_fits(sub, p.there - from, p.here - to, depth + 1))
            return false;
    return true;
}

/* Whether a plan fits n elements in both memories; an exception if not. */
static bool fits(PyObject *how, long long n, const memory *there, const memory *here)
{
    plan p;
    bool ok = n == 0 || (plan_read(how, &p) && plan_fits(how, there->size, here->size, 0) &&
                         n > 0 && n <= there->size / p.there && n <= here->size / p.here);

    if (!ok && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the plan does not fit the memory");
    return ok;
}

/* vlen_load(plan, Type, memory of the library, array, count): frees what the library allocated. */
PyObject *vlen_load(PyObject *module, PyObject *args)
{
    PyObject *how, *t, *from, *to;
    const drep_type *type;
    memory src, dst;
    long long n;
    bool ok;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOL", &how, &t, &from, &to, &n) || !type_converter(t, &type) ||
        !memory_get(from, true, &src))
        return NULL;
    if (!memory_get(to, true, &dst)) {
        drep_vlen_free(type, n, src.ptr);
        memory_release(&src);
        return NULL;
    }
    ok = fits(how, n, &src, &dst) && load(how, src.ptr, dst.ptr, n);
    drep_vlen_free(type, n, src.ptr);
    memory_release(&src);
    memory_release(&dst);
    if (!ok)
        return NULL;
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------------- and back */

static bool store_text(PyObject *o, char *dst)
{
    const char *s = "";
    Py_ssize_t n = 0;

    if (o && PyUnicode_Check(o))
        s = PyUnicode_AsUTF8AndSize(o, &n);
    else if (o && PyBytes_Check(o)) {
        s = PyBytes_AsString(o);
        n = PyBytes_Size(o);
    } else {
        PyErr_Format(PyExc_TypeError, "%R has no place among texts", o ? o : Py_None);
        return false;
    }
    if (!s)
        return false;
    if (strlen(s) != (size_t)n) {
        PyErr_SetString(PyExc_ValueError, "a text with a NUL cannot be stored");
        return false;
    }
    memcpy(dst, &s, sizeof s);
    return true;
}

static void *scratch(PyObject *keep, size_t n)
{
    PyObject *block = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n);
    void *p = block && PyList_Append(keep, block) == 0 ? PyBytes_AsString(block) : NULL;

    Py_XDECREF(block);
    if (p)
        memset(p, 0, n);
    return p;
}

/* keep[0] makes contiguous arrays of the elements: (object, dtype). */
static bool store_sequence(PyObject *more, PyObject *o, char *dst, PyObject *keep)
{
    PyObject *base, *dtype, *array;
    drep_vlen v = {0};
    Py_ssize_t bytes, count;
    memory m;
    bool ok = true;

    if (!tuple_fields(more, "OOn", &base, &dtype, &bytes))
        return false;
    if (!o || o == Py_None) {
        PyErr_SetString(PyExc_TypeError, "None has no place among sequences: an empty list has");
        return false;
    }
    array = PyObject_CallFunction(PyList_GetItem(keep, 0), "OO", o, dtype);
    if (!array || PyList_Append(keep, array) < 0) {
        Py_XDECREF(array);
        return false;
    }
    Py_DECREF(array); /* the list holds it */
    count = PyObject_Size(array);
    if (count < 0 || !memory_get(array, false, &m))
        return false;
    v.count = count;
    v.data = m.ptr;
    if (base != Py_None && count) {
        v.data = scratch(keep, (size_t)count * (size_t)bytes);
        ok = v.data && store(base, m.ptr, v.data, count, keep);
    }
    memory_release(&m);
    memcpy(dst, &v, sizeof v);
    return ok;
}

static bool store_reference(PyObject *more, PyObject *o, char *dst, PyObject *keep)
{
    PyObject *split = PyTuple_GetItem(more, 1), *pair, *region;
    drep_ref r = {0};
    unsigned long long id;
    Py_ssize_t n;
    bool ok;

    pair = split ? PyObject_CallFunction(split, "O", o ? o : Py_None) : NULL;
    if (!pair)
        return false;
    ok = PyList_Append(keep, pair) == 0 && tuple_fields(pair, "KO", &id, &region);
    if (ok) {
        r.object = id;
        r.region = region == Py_None ? NULL : (char *)PyUnicode_AsUTF8AndSize(region, &n);
        ok = region == Py_None || r.region;
    }
    Py_DECREF(pair);
    memcpy(dst, &r, sizeof r);
    return ok;
}

static bool store_integer(PyObject *more, PyObject *o, char *dst)
{
    PyObject *args = Py_BuildValue("(is)", 16, "little");
    PyObject *kwargs = Py_BuildValue("{sO}", "signed", more);
    PyObject *index = o ? PyNumber_Index(o) : NULL;
    PyObject *fn = index ? PyObject_GetAttrString(index, "to_bytes") : NULL;
    PyObject *r = args && kwargs && fn ? PyObject_Call(fn, args, kwargs) : NULL;
    bool ok = r && PyBytes_Size(r) == 16;

    if (ok)
        memcpy(dst, PyBytes_AsString(r), 16);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "an integer is needed");
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    Py_XDECREF(index);
    Py_XDECREF(fn);
    Py_XDECREF(r);
    return ok;
}

static bool store_struct(PyObject *more, const char *src, char *dst, PyObject *keep)
{
    for (Py_ssize_t i = 0; i < PyList_Size(more); i++) {
        Py_ssize_t there, here;
        PyObject *sub;
        if (!tuple_fields(PyList_GetItem(more, i), "nnO", &there, &here, &sub) ||
            !store(sub, src + here, dst + there, 1, keep))
            return false;
    }
    return true;
}

static bool store_one(const plan *p, const char *src, char *dst, PyObject *keep)
{
    PyObject *o = NULL, *sub;
    long long count;

    if (p->kind == TEXT || p->kind == SEQUENCE || p->kind == REFERENCE || p->kind == INTEGER)
        memcpy(&o, src, sizeof o);
    switch (p->kind) {
    case COPY:
        memcpy(dst, src, (size_t)p->here);
        return true;
    case TEXT:
        return store_text(o, dst);
    case SEQUENCE:
        return store_sequence(p->more, o, dst, keep);
    case REFERENCE:
        return store_reference(p->more, o, dst, keep);
    case STRUCT:
        return store_struct(p->more, src, dst, keep);
    case ARRAY:
        return tuple_fields(p->more, "LO", &count, &sub) && store(sub, src, dst, count, keep);
    case INTEGER:
        return store_integer(p->more, o, dst);
    case PADDED:
        pad(src, dst, (size_t)p->here, 0, ' ');
        return true;
    }
    PyErr_SetString(PyExc_ValueError, "an unknown plan");
    return false;
}

static bool store(PyObject *how, const char *src, char *dst, int64_t n, PyObject *keep)
{
    plan p;

    if (!plan_read(how, &p))
        return false;
    for (int64_t i = 0; i < n; i++, src += p.here, dst += p.there)
        if (!store_one(&p, src, dst, keep))
            return false;
    return true;
}

/* vlen_store(plan, array, memory, count, keep): the pointers in memory are valid as long as the
 * array, which nobody else may change, and the list `keep` live. */
PyObject *vlen_store(PyObject *module, PyObject *args)
{
    PyObject *how, *from, *to, *keep;
    memory src, dst;
    long long n;
    bool ok;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOOLO!", &how, &from, &to, &n, &PyList_Type, &keep) ||
        !memory_get(from, false, &src))
        return NULL;
    if (!memory_get(to, true, &dst)) {
        memory_release(&src);
        return NULL;
    }
    ok = fits(how, n, &dst, &src) && PyList_Size(keep) && store(how, src.ptr, dst.ptr, n, keep);
    if (!ok && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the list has no function that makes arrays");
    memory_release(&src);
    memory_release(&dst);
    if (!ok)
        return NULL;
    Py_RETURN_NONE;
}
