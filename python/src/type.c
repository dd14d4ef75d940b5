/* type.c - datatypes: thin objects around drep_type, which datarep/types.py turns into dtypes. */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

#include <stdlib.h>
#include <string.h>

PyTypeObject *type_class;

/* Every Type passes here: none has a text that ends at a NUL. */
PyObject *type_new(drep_type *t)
{
    drep_type *own = NULL;
    int err = t ? drep_type_with_texts(t, &own) : 0;
    type_object *self = own ? PyObject_New(type_object, type_class) : NULL;

    drep_type_free(t);
    if (err)
        return raise_error(err, NULL);
    if (!self)
        drep_type_free(own);
    else
        self->t = own;
    return (PyObject *)self;
}

PyObject *type_borrowed(const drep_type *t)
{
    return type_new(drep_type_ref(t));
}

bool type_converter(PyObject *o, const drep_type **out)
{
    *out = NULL;
    if (o == Py_None)
        return true;
    if (!PyObject_TypeCheck(o, type_class)) {
        PyErr_Format(PyExc_TypeError, "a Type is needed, not %R", Py_TYPE(o));
        return false;
    }
    *out = ((type_object *)o)->t;
    return true;
}

static void type_dealloc(PyObject *o)
{
    PyTypeObject *cls = Py_TYPE(o);

    drep_type_free(((type_object *)o)->t);
    PyObject_Free(o);
    Py_DECREF(cls);
}

static PyObject *made(int err, drep_type **t)
{
    return err ? raise_error(err, NULL) : type_new(*t);
}

static PyObject *type_repr(PyObject *o)
{
    char *s;
    PyObject *r;
    int err = drep_type_print(((type_object *)o)->t, &s);

    if (err)
        return raise_error(err, NULL);
    r = text(s);
    free(s);
    return r;
}

#define NUMBER(name, expr)                           \
    static PyObject *name(PyObject *o, void *unused) \
    {                                                \
        const drep_type *t = ((type_object *)o)->t;  \
        (void)unused;                                \
        return PyLong_FromLongLong(expr);            \
    }
NUMBER(get_kind, drep_type_kind(t))
NUMBER(get_code, drep_type_code(t))
NUMBER(get_size, drep_type_size(t))
NUMBER(get_extent, drep_type_extent(t))
NUMBER(get_align, drep_type_align(t))
NUMBER(get_items, drep_type_items(t))
NUMBER(get_variable, drep_type_variable(t))
NUMBER(get_pad, drep_type_string_pad(t))
NUMBER(get_what, drep_type_reference_what(t))

/* [(name, Type, offset, block length)] */
static PyObject *get_members(PyObject *o, void *unused)
{
    const drep_type *t = ((type_object *)o)->t;
    int64_t n = drep_type_members(t);
    PyObject *list = PyList_New(0);

    (void)unused;
    for (int64_t i = 0; list && i < n; i++) {
        PyObject *row = Py_BuildValue(
            "(NNLL)", text(drep_type_member_name(t, i)), type_borrowed(drep_type_member(t, i)),
            (long long)drep_type_member_offset(t, i), (long long)drep_type_member_blocklen(t, i));
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *get_dims(PyObject *o, void *unused)
{
    const drep_type *t = ((type_object *)o)->t;

    (void)unused;
    return tuple_of(drep_type_array_dims(t), drep_type_array_rank(t));
}

static PyObject *get_tag(PyObject *o, void *unused)
{
    (void)unused;
    return text(drep_type_opaque_tag(((type_object *)o)->t));
}

static PyObject *get_enum(PyObject *o, void *unused)
{
    const drep_type *t = ((type_object *)o)->t;
    PyObject *dict = PyDict_New();

    (void)unused;
    for (int64_t i = 0; dict && i < drep_type_enum_count(t); i++) {
        PyObject *value = PyLong_FromLongLong(drep_type_enum_value(t, i));
        if (!value || PyDict_SetItemString(dict, drep_type_enum_name(t, i), value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

/* (class, order, size, signed, precision) of a scalar, or None. */
static PyObject *get_scalar(PyObject *o, void *unused)
{
    const drep_scalar *s = drep_type_scalar_desc(((type_object *)o)->t);

    (void)unused;
    if (!s)
        Py_RETURN_NONE;
    return Py_BuildValue("(iiiii)", s->cls, s->order, s->size, s->is_signed, s->precision);
}

static PyObject *type_compare(PyObject *a, PyObject *b, int op)
{
    bool equal;

    if (!PyObject_TypeCheck(b, type_class) || (op != Py_EQ && op != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    equal = drep_type_equal(((type_object *)a)->t, ((type_object *)b)->t);
    return PyBool_FromLong(equal == (op == Py_EQ));
}

static PyObject *new_predefined(PyObject *m, PyObject *arg)
{
    const drep_type *t;
    int code;

    (void)m;
    if (!int_from(arg, &code))
        return NULL;
    t = drep_predefined(code);
    if (!t)
        return PyErr_Format(PyExc_ValueError, "no predefined datatype %R", arg);
    return type_borrowed(t);
}

static PyObject *new_parse(PyObject *m, PyObject *arg)
{
    const char *s = PyUnicode_AsUTF8AndSize(arg, NULL);
    drep_type *t = NULL;

    (void)m;
    return s ? made(drep_type_parse(s, &t), &t) : NULL;
}

static PyObject *new_string(PyObject *m, PyObject *args)
{
    long long size;
    int pad = DREP_PAD_NUL;
    drep_type *t = NULL;

    (void)m;
    if (!PyArg_ParseTuple(args, "L|i", &size, &pad))
        return NULL;
    return made(drep_type_string(size, pad, &t), &t);
}

static PyObject *new_vstring(PyObject *m, PyObject *none)
{
    drep_type *t = NULL;

    (void)m, (void)none;
    return made(drep_type_vstring(&t), &t);
}

static PyObject *new_opaque(PyObject *m, PyObject *args)
{
    long long size;
    const char *tag = NULL;
    drep_type *t = NULL;

    (void)m;
    if (!PyArg_ParseTuple(args, "L|z", &size, &tag))
        return NULL;
    return made(drep_type_opaque(size, tag, &t), &t);
}

static PyObject *new_reference(PyObject *m, PyObject *arg)
{
    drep_type *t = NULL;
    int what;

    (void)m;
    return int_from(arg, &what) ? made(drep_type_reference(what, &t), &t) : NULL;
}

static PyObject *new_sequence(PyObject *m, PyObject *arg)
{
    const drep_type *base;
    drep_type *t = NULL;

    (void)m;
    return type_converter(arg, &base) ? made(drep_type_sequence(base, &t), &t) : NULL;
}

static PyObject *new_boolean(PyObject *m, PyObject *arg)
{
    const drep_type *base;
    drep_type *t = NULL;

    (void)m;
    return type_converter(arg, &base) ? made(drep_type_boolean(base, &t), &t) : NULL;
}

/* scalar(format, order, size): of one of the library's formats */
static PyObject *new_scalar(PyObject *m, PyObject *args)
{
    const drep_format_info *f;
    drep_scalar s = {0};
    drep_type *t = NULL;
    int format, order, size;

    (void)m;
    if (!PyArg_ParseTuple(args, "iii", &format, &order, &size))
        return NULL;
    f = drep_format_describe(format);
    if (!f || size < 1 || size > 32)
        return PyErr_Format(PyExc_ValueError, "no scalar of format %d and %d bytes", format, size);
    s.cls = (uint8_t)f->cls;
    s.order = (uint8_t)order;
    s.size = (uint8_t)size;
    s.format = (uint8_t)format;
    s.is_signed = format == DREP_FORMAT_INT;
    s.precision = (uint16_t)(8 * size);
    return made(drep_type_scalar(&s, &t), &t);
}

static PyObject *new_array(PyObject *m, PyObject *args)
{
    PyObject *dims, *o;
    int64_t d[MAX_RANK];
    const drep_type *base;
    drep_type *t = NULL;
    int rank;

    (void)m;
    if (!PyArg_ParseTuple(args, "OO", &dims, &o) || !numbers(dims, d, MAX_RANK, &rank) ||
        !type_converter(o, &base))
        return NULL;
    return made(drep_type_array(rank, d, base, &t), &t);
}

/* The names and values of [(name, value)]. */
static bool enum_items(PyObject *items, const char **names, int64_t *values)
{
    for (Py_ssize_t i = 0; i < PyList_Size(items); i++) {
        PyObject *key, *value;
        if (!tuple_fields(PyList_GetItem(items, i), "UO", &key, &value))
            return false;
        names[i] = PyUnicode_AsUTF8AndSize(key, NULL);
        values[i] = (int64_t)PyLong_AsUnsignedLongLongMask(value);
        if (PyErr_Occurred())
            return false;
    }
    return true;
}

static PyObject *new_enum(PyObject *m, PyObject *args)
{
    PyObject *o, *dict, *items, *r = NULL;
    const drep_type *base;
    drep_type *t = NULL;
    const char **names;
    int64_t *values;
    size_t n;

    (void)m;
    if (!PyArg_ParseTuple(args, "OO!", &o, &PyDict_Type, &dict) || !type_converter(o, &base) ||
        !(items = PyDict_Items(dict))) /* __index__() of a value may change the dict */
        return NULL;
    n = (size_t)PyList_Size(items);
    names = calloc(n + 1, sizeof *names);
    values = calloc(n + 1, sizeof *values);
    if (!names || !values)
        PyErr_NoMemory();
    else if (enum_items(items, names, values))
        r = made(drep_type_enum(base, (int64_t)n, names, values, &t), &t);
    free(names);
    free(values);
    Py_DECREF(items);
    return r;
}

struct compound_args {
    PyObject *names, *offsets, *types; /* tuples, which nobody changes; offsets may be NULL */
    const char **name;
    const drep_type **type;
    int64_t *offset;
};

static bool members_get(struct compound_args *c, Py_ssize_t n)
{
    c->name = calloc((size_t)n + 1, sizeof *c->name);
    c->type = calloc((size_t)n + 1, sizeof *c->type);
    c->offset = calloc((size_t)n + 1, sizeof *c->offset);
    if (!c->name || !c->type || !c->offset) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        c->name[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(c->names, i), NULL);
        if (!c->name[i] || !type_converter(PyTuple_GetItem(c->types, i), &c->type[i]))
            return false;
        if (c->offsets)
            c->offset[i] = PyLong_AsLongLong(PyTuple_GetItem(c->offsets, i));
        if (PyErr_Occurred())
            return false;
    }
    return true;
}

static PyObject *compound_of(struct compound_args *c, long long size)
{
    Py_ssize_t n = PyTuple_Size(c->names);
    drep_type *t = NULL;

    if (PyTuple_Size(c->types) != n || (c->offsets && PyTuple_Size(c->offsets) != n))
        return PyErr_Format(PyExc_ValueError, "as many names, offsets and types are needed");
    if (!members_get(c, n))
        return NULL;
    return made(drep_type_compound(n, c->name, c->offsets ? c->offset : NULL, c->type, size, &t),
                &t);
}

/* compound(names, offsets or None, types, size) */
static PyObject *new_compound(PyObject *m, PyObject *args)
{
    PyObject *names, *offsets, *types, *r = NULL;
    struct compound_args c = {0};
    long long size = 0;

    (void)m;
    if (!PyArg_ParseTuple(args, "OOO|L", &names, &offsets, &types, &size))
        return NULL;
    c.names = PySequence_Tuple(names);
    c.types = c.names ? PySequence_Tuple(types) : NULL;
    c.offsets = c.types && offsets != Py_None ? PySequence_Tuple(offsets) : NULL;
    if (!PyErr_Occurred())
        r = compound_of(&c, size);
    free(c.name);
    free(c.type);
    free(c.offset);
    Py_XDECREF(c.names);
    Py_XDECREF(c.types);
    Py_XDECREF(c.offsets);
    return r;
}

static PyObject *file_extent(PyObject *o, PyObject *arg)
{
    const char *name = PyUnicode_AsUTF8AndSize(arg, NULL);
    int64_t extent;
    int err;

    if (!name)
        return NULL;
    err = drep_type_file_extent(((type_object *)o)->t, name, &extent);
    return err ? raise_error(err, NULL) : PyLong_FromLongLong(extent);
}

static PyGetSetDef type_getset[] = {
    {"kind", get_kind, NULL,
     "The number of the constructor, enum drep_kind: 1 is a predefined type.\n"
     "\n"
     ">>> dr.Type.parse(\"INT32_T\").kind\n"
     "1",
     NULL},
    {"code", get_code, NULL,
     "The number of a predefined type; of others 0.\n"
     "\n"
     ">>> dr.Type.string(8).code\n"
     "0",
     NULL},
    {"size", get_size, NULL,
     "Bytes of data of an element.\n"
     "\n"
     ">>> dr.Type.parse(\"INT32_T[3]\").size\n"
     "12",
     NULL},
    {"extent", get_extent, NULL,
     "Bytes from one element to the next.\n"
     "\n"
     ">>> dr.Type.parse(\"INT32_T\").extent\n"
     "4",
     NULL},
    {"align", get_align, NULL,
     "The alignment that the C compiler gives it.\n"
     "\n"
     ">>> dr.Type.parse(\"INT32_T\").align\n"
     "4",
     NULL},
    {"items", get_items, NULL,
     "The number of data items of an element.\n"
     "\n"
     ">>> dr.Type.parse(\"INT32_T[2,3]\").items\n"
     "6",
     NULL},
    {"variable", get_variable, NULL,
     "1 if an element has parts of variable length.\n"
     "\n"
     ">>> dr.Type.vstring().variable, dr.Type.string(8).variable\n"
     "(1, 0)",
     NULL},
    {"pad", get_pad, NULL,
     "How a string is padded: 0 by NULs and ended by one, 1 by NULs, 2 by blanks.\n"
     "\n"
     ">>> dr.Type.string(8, 2).pad\n"
     "2",
     NULL},
    {"what", get_what, NULL,
     "Of a reference: 0 to an object, 1 to a region.\n"
     "\n"
     ">>> dr.Type.reference(1).what\n"
     "1",
     NULL},
    {"members", get_members, NULL,
     "The members of a compound, (name, Type, offset, block length), or the base of a type made of "
     "one.\n"
     "\n"
     ">>> [m[0] for m in dr.Type.compound([\"a\", \"b\"], None, [dr.Type.parse(\"INT\")] * "
     "2).members]\n"
     "['a', 'b']",
     NULL},
    {"dims", get_dims, NULL,
     "The lengths of an array.\n"
     "\n"
     ">>> dr.Type.parse(\"INT32_T[2,3]\").dims\n"
     "(2, 3)",
     NULL},
    {"tag", get_tag, NULL,
     "The tag of an opaque type.\n"
     "\n"
     ">>> dr.Type.opaque(3, \"picture\").tag\n"
     "'picture'",
     NULL},
    {"names", get_enum, NULL,
     "The names of an enumeration, with their values.\n"
     "\n"
     ">>> dr.Type.enum(dr.Type.parse(\"INT8_T\"), {\"off\": 0}).names\n"
     "{'off': 0}",
     NULL},
    {"scalar", get_scalar, NULL,
     "(class, order, size, signed, precision) of a scalar that is not predefined, else None.\n"
     "\n"
     ">>> dr.Type.parse(\"INT32_T\").scalar is None\n"
     "True",
     NULL},
    {0},
};

static PyMethodDef type_methods[] = {
    {"predefined", new_predefined, METH_O | METH_STATIC,
     "predefined(code): the predefined type of a number.\n"
     "\n"
     ">>> dr.Type.predefined(dr.Type.parse(\"INT32_T\").code)\n"
     "INT32_T"},
    {"parse", new_parse, METH_O | METH_STATIC,
     "parse(text): the type that a text describes, as str() of a type gives it.\n"
     "\n"
     ">>> dr.Type.parse(\"INT32_T[2,3]\").extent\n"
     "24"},
    {"string", new_string, METH_VARARGS | METH_STATIC,
     "string(size, pad=0): text of a fixed number of bytes.\n"
     "\n"
     ">>> dr.Type.string(8)\n"
     "string(8)"},
    {"vstring", new_vstring, METH_NOARGS | METH_STATIC,
     "vstring(): text of any length.\n"
     "\n"
     ">>> dr.Type.vstring()\n"
     "vstring"},
    {"opaque", new_opaque, METH_VARARGS | METH_STATIC,
     "opaque(size, tag=None): bytes without a meaning to the library.\n"
     "\n"
     ">>> dr.Type.opaque(3, \"picture\")\n"
     "opaque(3,\"picture\")"},
    {"reference", new_reference, METH_O | METH_STATIC,
     "reference(what): a reference to an object (0) or to a region (1).\n"
     "\n"
     ">>> dr.Type.reference(0)\n"
     "ref(object)"},
    {"sequence", new_sequence, METH_O | METH_STATIC,
     "sequence(base): any number of elements.\n"
     "\n"
     ">>> dr.Type.sequence(dr.Type.parse(\"INT32_T\"))\n"
     "seq(INT32_T)"},
    {"boolean", new_boolean, METH_O | METH_STATIC,
     "boolean(base): truth values that an integer type stores.\n"
     "\n"
     ">>> dr.Type.boolean(dr.Type.parse(\"INT32_T\"))\n"
     "bool(INT32_T)"},
    {"scalar_of", new_scalar, METH_VARARGS | METH_STATIC,
     "scalar_of(format, order, size): a scalar that is not predefined, by the numbers of enum "
     "drep_format.\n"
     "\n"
     ">>> dr.Type.scalar_of(1, 0, 3).extent\n"
     "3"},
    {"array", new_array, METH_VARARGS | METH_STATIC,
     "array(dims, base): an array as one element.\n"
     "\n"
     ">>> dr.Type.array((2, 3), dr.Type.parse(\"INT32_T\"))\n"
     "INT32_T[2,3]"},
    {"enum", new_enum, METH_VARARGS | METH_STATIC,
     "enum(base, {name: value}): integers with names.\n"
     "\n"
     ">>> dr.Type.enum(dr.Type.parse(\"INT8_T\"), {\"off\": 0, \"on\": 1}).extent\n"
     "1"},
    {"compound", new_compound, METH_VARARGS | METH_STATIC,
     "compound(names, offsets, types, size=0): a struct; offsets None: as the C compiler lays it "
     "out.\n"
     "\n"
     ">>> dr.Type.compound([\"a\", \"b\"], None, [dr.Type.parse(\"INT\"), "
     "dr.Type.parse(\"DOUBLE\")]).extent\n"
     "16"},
    {"file_extent", file_extent, METH_O,
     "file_extent(datarep): bytes of an element in a file of a representation.\n"
     "\n"
     ">>> dr.Type.parse(\"LONG\").file_extent(\"external32\")\n"
     "4"},
    {0},
};

static PyType_Slot type_slots[] = {
    {Py_tp_dealloc, type_dealloc},
    {Py_tp_repr, type_repr},
    {Py_tp_richcompare, type_compare},
    {Py_tp_getset, type_getset},
    {Py_tp_methods, type_methods},
    {Py_tp_doc, "A datatype of the library, where a dtype does not say enough.\n"
                "\n"
                ">>> f = dr.open(\":memory:\", \"w\")\n"
                ">>> f.create(\"x\", dtype=dr.Type.parse(\"INT32_T[2,3]\"), shape=4)[0].shape\n"
                "(2, 3)"},
    {0, NULL},
};
static PyType_Spec type_spec = {"datarep._core.Type", sizeof(type_object), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, type_slots};

bool type_add(PyObject *module)
{
    type_class = (PyTypeObject *)PyType_FromSpec(&type_spec);
    return type_class && PyModule_AddObjectRef(module, "Type", (PyObject *)type_class) == 0;
}
