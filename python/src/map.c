/* map.c - mappings of datasets as buffers. */
/* SPDX-License-Identifier: MIT */
#include "src/dataset.h"

typedef struct mapping_object {
    PyObject_HEAD PyObject *owner; /* the dataset, which keeps the mapping */
    const void *data;
    size_t size;
} mapping;

static PyTypeObject *mapping_class;

PyObject *dataset_map(PyObject *o, PyObject *verify)
{
    dataset_object *ds = (dataset_object *)o;
    int checked = PyObject_IsTrue(verify);
    unsigned flags = checked ? 0 : DREP_MAP_UNVERIFIED;
    const void *data;
    mapping *self;
    size_t size;
    int err;

    if (checked < 0 || !handle_open(ds->h))
        return NULL;
    WITHOUT_GIL(ds->h, err = drep_dataset_map(ds->ds, flags, &data, &size));
    if (err)
        return raise_error(err, ds->h);
    self = PyObject_New(mapping, mapping_class);
    if (!self) {
        drep_dataset_unmap(ds->ds, data);
        return NULL;
    }
    self->owner = Py_NewRef(o);
    self->data = data;
    self->size = size;
    return (PyObject *)self;
}

static int mapping_buffer(PyObject *o, Py_buffer *view, int flags)
{
    mapping *self = (mapping *)o;

    return PyBuffer_FillInfo(view, o, (void *)self->data, (Py_ssize_t)self->size, 1, flags);
}

static void mapping_dealloc(PyObject *o)
{
    mapping *self = (mapping *)o;
    PyTypeObject *cls = Py_TYPE(o);
    drep_dataset *ds = ((dataset_object *)self->owner)->ds;
    const void *data = self->data;

    Py_BEGIN_ALLOW_THREADS;
    drep_dataset_unmap(ds, data);
    Py_END_ALLOW_THREADS;
    Py_DECREF(self->owner);
    PyObject_Free(o);
    Py_DECREF(cls);
}

static PyType_Slot mapping_slots[] = {
    {Py_tp_dealloc, mapping_dealloc},
    {Py_bf_getbuffer, mapping_buffer},
    {Py_tp_doc, "The elements of a dataset, mapped."},
    {0, NULL},
};
static PyType_Spec mapping_type_spec = {"datarep._core.Mapping", sizeof(mapping), 0,
                                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                        mapping_slots};

bool mapping_add(PyObject *module)
{
    mapping_class = (PyTypeObject *)PyType_FromSpec(&mapping_type_spec);
    return mapping_class &&
           PyModule_AddObjectRef(module, "Mapping", (PyObject *)mapping_class) == 0;
}
