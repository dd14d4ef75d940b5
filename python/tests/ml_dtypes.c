/* ml_dtypes.c - a stand-in for the package ml_dtypes, which Debian does not have: bfloat16 and the
 * FP8s as datatypes of their own, registered with NumPy as ml_dtypes registers its own.  They
 * compare and convert as bits. */
/* SPDX-License-Identifier: MIT */
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>

#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include <string.h>

static PyObject *get(void *p, void *array)
{
    unsigned char bits[2] = {0};

    memcpy(bits, p, (size_t)PyArray_ITEMSIZE((PyArrayObject *)array));
    return PyLong_FromLong(bits[0] | bits[1] << 8);
}

static int set(PyObject *o, void *p, void *array)
{
    long bits = PyLong_AsLong(o);
    unsigned char b[2] = {(unsigned char)bits, (unsigned char)(bits >> 8)};

    if (bits == -1 && PyErr_Occurred())
        return -1;
    memcpy(p, b, (size_t)PyArray_ITEMSIZE((PyArrayObject *)array));
    return 0;
}

/* Little machines alone: nothing is swapped. */
static void copy(void *dst, void *src, int swap, void *array)
{
    (void)swap;
    if (src)
        memcpy(dst, src, (size_t)PyArray_ITEMSIZE((PyArrayObject *)array));
}

static void copy_many(void *dst, npy_intp dst_step, void *src, npy_intp src_step, npy_intp n,
                      int swap, void *array)
{
    for (npy_intp i = 0; src && i < n; i++)
        copy((char *)dst + i * dst_step, (char *)src + i * src_step, swap, array);
}

static npy_bool is_set(void *p, void *array)
{
    static const char zeros[2];

    return memcmp(p, zeros, (size_t)PyArray_ITEMSIZE((PyArrayObject *)array)) != 0;
}

static PyArray_ArrFuncs functions;

struct real {
    const char *name, *full;
    int size;
    PyTypeObject type;
    PyArray_Descr descr;
};

static struct real reals[] = {
    {.name = "bfloat16", .full = "ml_dtypes.bfloat16", .size = 2},
    {.name = "float8_e4m3fn", .full = "ml_dtypes.float8_e4m3fn", .size = 1},
    {.name = "float8_e5m2", .full = "ml_dtypes.float8_e5m2", .size = 1},
};

static int add(PyObject *module, struct real *r)
{
    PyObject *type = (PyObject *)&r->type;

    r->type = (PyTypeObject){PyVarObject_HEAD_INIT(NULL, 0).tp_name = r->full,
                             .tp_basicsize = sizeof(PyObject) + 8, .tp_flags = Py_TPFLAGS_DEFAULT,
                             .tp_base = &PyGenericArrType_Type};
    if (PyType_Ready(&r->type) < 0)
        return -1;
    r->descr = (PyArray_Descr){PyObject_HEAD_INIT(&PyArrayDescr_Type).typeobj = &r->type,
                               .kind = 'V',
                               .type = 'E',
                               .byteorder = '=',
                               .flags = NPY_USE_GETITEM | NPY_USE_SETITEM,
                               .elsize = r->size,
                               .alignment = r->size,
                               .f = &functions,
                               .hash = -1};
    if (PyArray_RegisterDataType(&r->descr) < 0 ||
        PyDict_SetItemString(r->type.tp_dict, "dtype", (PyObject *)&r->descr) < 0)
        return -1;
    return PyModule_AddObjectRef(module, r->name, type);
}

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "ml_dtypes", .m_size = -1};

PyMODINIT_FUNC PyInit_ml_dtypes(void)
{
    PyObject *module = PyModule_Create(&definition);

    import_array();
    PyArray_InitArrFuncs(&functions);
    functions.getitem = get;
    functions.setitem = set;
    functions.copyswap = copy;
    functions.copyswapn = copy_many;
    functions.nonzero = is_set;
    for (size_t i = 0; module && i < sizeof reals / sizeof *reals; i++)
        if (add(module, &reals[i]) < 0)
            Py_CLEAR(module);
    return module;
}
