/* object.c - groups, links, dimensions and named types of a file, by path. */
/* SPDX-License-Identifier: MIT */
#include "src/core.h"

#include <stdlib.h>
#include <string.h>

static PyObject *done(int err, handle *h)
{
    if (err)
        return raise_error(err, h);
    Py_RETURN_NONE;
}

/* The handle's file is open and the arguments parse. */
#define BEGIN(...)                                               \
    handle *h = (handle *)o;                                     \
    int err;                                                     \
    if (!PyArg_ParseTuple(args, __VA_ARGS__) || !handle_open(h)) \
    return NULL

/* (kind, id, links, attributes, members, length, unlimited) */
static PyObject *object_stat(PyObject *o, PyObject *args)
{
    drep_objinfo info = DREP_OBJINFO;
    const char *path;

    BEGIN("s", &path);
    WITHOUT_GIL(h, err = drep_stat(h->file, path, &info));
    if (err)
        return raise_error(err, h);
    return Py_BuildValue("(iKILLLi)", info.kind, (unsigned long long)info.id, info.links,
                         (long long)info.attrs, (long long)info.members, (long long)info.len,
                         info.unlimited);
}

static PyObject *object_exists(PyObject *o, PyObject *args)
{
    const char *path;
    int kind = 0;

    BEGIN("s", &path);
    WITHOUT_GIL(h, err = drep_exists(h->file, path, &kind));
    return err ? raise_error(err, h) : PyLong_FromLong(kind);
}

static PyObject *owned(int err, handle *h, char *s)
{
    PyObject *r;

    if (err)
        return raise_error(err, h);
    r = text(s);
    free(s);
    return r;
}

static PyObject *path_of_object(PyObject *o, PyObject *args)
{
    unsigned long long id;
    char *path = NULL;

    BEGIN("K", &id);
    WITHOUT_GIL(h, err = drep_object_path(h->file, id, &path));
    return owned(err, h, path);
}

static PyObject *group_create(PyObject *o, PyObject *args)
{
    const char *path;
    int parents;

    BEGIN("sp", &path, &parents);
    WITHOUT_GIL(h, err = drep_group_create(h->file, path, parents));
    return done(err, h);
}

static PyObject *type_commit(PyObject *o, PyObject *args)
{
    const char *path;
    PyObject *t;
    const drep_type *dt;

    BEGIN("sO", &path, &t);
    if (!type_converter(t, &dt))
        return NULL;
    WITHOUT_GIL(h, err = drep_type_commit(h->file, path, dt));
    return done(err, h);
}

static PyObject *type_open(PyObject *o, PyObject *args)
{
    const char *path;
    drep_type *t = NULL;

    BEGIN("s", &path);
    WITHOUT_GIL(h, err = drep_type_open(h->file, path, &t));
    return err ? raise_error(err, h) : type_new(t);
}

static PyObject *two_paths(PyObject *o, PyObject *args,
                           int (*fn)(drep_file *, const char *, const char *))
{
    const char *a, *b;

    BEGIN("ss", &a, &b);
    WITHOUT_GIL(h, err = fn(h->file, a, b));
    return done(err, h);
}

static PyObject *link_hard(PyObject *o, PyObject *args)
{
    return two_paths(o, args, drep_link_hard);
}

static PyObject *link_soft(PyObject *o, PyObject *args)
{
    return two_paths(o, args, drep_link_soft);
}

static PyObject *link_move(PyObject *o, PyObject *args)
{
    return two_paths(o, args, drep_link_move);
}

static PyObject *link_external(PyObject *o, PyObject *args)
{
    const char *file, *target, *path;

    BEGIN("sss", &file, &target, &path);
    WITHOUT_GIL(h, err = drep_link_external(h->file, file, target, path));
    return done(err, h);
}

static PyObject *one_path(PyObject *o, PyObject *args, int (*fn)(drep_file *, const char *))
{
    const char *path;

    BEGIN("s", &path);
    WITHOUT_GIL(h, err = fn(h->file, path));
    return done(err, h);
}

static PyObject *link_remove(PyObject *o, PyObject *args)
{
    return one_path(o, args, drep_link_remove);
}

static PyObject *dimension_remove(PyObject *o, PyObject *args)
{
    return one_path(o, args, drep_dimension_remove);
}

static int link_row(const drep_linkinfo *l, void *ctx)
{
    rows *r = ctx;

    rows_string(r, l->name);
    rows_number(r, l->link);
    rows_number(r, l->kind);
    rows_number(r, (int64_t)l->id);
    rows_string(r, l->target);
    rows_string(r, l->target_file);
    r->n++;
    return 0;
}

static PyObject *link_tuple(const char **p)
{
    PyObject *name = rows_get_string(p), *target;
    long long link = rows_get_number(p), kind = rows_get_number(p), id = rows_get_number(p);

    target = rows_get_string(p);
    return Py_BuildValue("(NLLLNN)", name, link, kind, id, target, rows_get_string(p));
}

static int visit_row(const drep_visited *v, void *ctx)
{
    rows *r = ctx;

    rows_string(r, v->path);
    rows_number(r, v->kind);
    rows_number(r, (int64_t)v->id);
    r->n++;
    return 0;
}

static PyObject *visit_tuple(const char **p)
{
    PyObject *path = rows_get_string(p);
    long long kind = rows_get_number(p);

    return Py_BuildValue("(NLL)", path, kind, (long long)rows_get_number(p));
}

static int dim_row(const drep_diminfo *d, void *ctx)
{
    rows *r = ctx;

    rows_string(r, d->name);
    rows_string(r, d->path);
    rows_number(r, (int64_t)d->id);
    rows_number(r, d->len);
    rows_number(r, d->unlimited);
    r->n++;
    return 0;
}

static PyObject *dim_tuple(const char **p)
{
    PyObject *name = rows_get_string(p), *path = rows_get_string(p);
    long long id = rows_get_number(p), len = rows_get_number(p);

    return Py_BuildValue("(NNLLL)", name, path, id, len, (long long)rows_get_number(p));
}

/* [(name, link, kind, id, target, file)] */
static PyObject *object_list(PyObject *o, PyObject *args)
{
    const char *path;
    int order;
    rows r = {0};

    BEGIN("si", &path, &order);
    WITHOUT_GIL(h, err = drep_list(h->file, path, order, link_row, &r));
    return rows_list(&r, err, h, link_tuple);
}

struct one_link {
    const char *name;
    rows row;
};

static int wanted_row(const drep_linkinfo *l, void *ctx)
{
    struct one_link *one = ctx;

    return strcmp(l->name, one->name) == 0 ? link_row(l, &one->row) + 1 : 0;
}

/* Like list(), of one name: [] or one row.  The library has no call that tells what one link is. */
static PyObject *list_one_link(PyObject *o, PyObject *args)
{
    struct one_link one = {0};
    const char *path;

    BEGIN("ss", &path, &one.name);
    WITHOUT_GIL(h, err = drep_list(h->file, path, DREP_BY_NAME, wanted_row, &one));
    return rows_list(&one.row, one.row.n ? 0 : err, h, link_tuple);
}

/* [(path, kind, id)] */
static PyObject *object_visit(PyObject *o, PyObject *args)
{
    const char *path;
    int order;
    rows r = {0};

    BEGIN("si", &path, &order);
    WITHOUT_GIL(h, err = drep_visit(h->file, path, order, visit_row, &r));
    return rows_list(&r, err, h, visit_tuple);
}

/* [(name, address, id, length, unlimited)] */
static PyObject *dimension_list(PyObject *o, PyObject *args)
{
    const char *path;
    int order;
    rows r = {0};

    BEGIN("si", &path, &order);
    WITHOUT_GIL(h, err = drep_dimension_list(h->file, path, order, dim_row, &r));
    return rows_list(&r, err, h, dim_tuple);
}

static PyObject *dimension_create(PyObject *o, PyObject *args)
{
    const char *path;
    long long len;
    int unlimited;

    BEGIN("sLp", &path, &len, &unlimited);
    WITHOUT_GIL(h, err = drep_dimension_create(h->file, path, len, unlimited));
    return done(err, h);
}

static PyObject *find_dimension(PyObject *o, PyObject *args)
{
    const char *path, *name;
    char *address = NULL;

    BEGIN("ss", &path, &name);
    WITHOUT_GIL(h, err = drep_dimension_find(h->file, path, name, &address));
    return owned(err, h, address);
}

static PyObject *dimension_set_unlimited(PyObject *o, PyObject *args)
{
    const char *path;
    int unlimited;

    BEGIN("sp", &path, &unlimited);
    WITHOUT_GIL(h, err = drep_dimension_set_unlimited(h->file, path, unlimited));
    return done(err, h);
}

static PyObject *dimension_rename(PyObject *o, PyObject *args)
{
    return two_paths(o, args, drep_dimension_rename);
}

static PyObject *dimension_coordinate(PyObject *o, PyObject *args)
{
    const char *path;
    char *dataset = NULL;

    BEGIN("s", &path);
    WITHOUT_GIL(h, err = drep_dimension_coordinate(h->file, path, &dataset));
    return owned(err, h, dataset);
}

enum { MAX_SCALES = 65535 }; /* of a dimension */

static PyObject *dimension_scales(PyObject *o, PyObject *args)
{
    const char *path;
    uint64_t *ids;
    PyObject *list;
    int n = 0;

    BEGIN("s", &path);
    ids = malloc(MAX_SCALES * sizeof *ids);
    if (!ids)
        return PyErr_NoMemory();
    WITHOUT_GIL(h, err = drep_dimension_scales(h->file, path, ids, MAX_SCALES, &n));
    list = err ? raise_error(err, h) : PyList_New(0);
    for (int i = 0; list && i < n; i++) {
        PyObject *id = PyLong_FromUnsignedLongLong(ids[i]);
        if (!id || PyList_Append(list, id) < 0)
            Py_CLEAR(list);
        Py_XDECREF(id);
    }
    free(ids);
    return list;
}

static PyObject *dimension_set_scales(PyObject *o, PyObject *args)
{
    const char *path;
    PyObject *list;
    int64_t *ids;
    int n;

    BEGIN("sO", &path, &list);
    ids = malloc(MAX_SCALES * sizeof *ids);
    if (!ids)
        return PyErr_NoMemory();
    if (!numbers(list, ids, MAX_SCALES, &n) || !handle_open(h)) {
        free(ids);
        return NULL;
    }
    WITHOUT_GIL(h, err = drep_dimension_set_scales(h->file, path, (const uint64_t *)ids, n));
    free(ids);
    return done(err, h);
}

static int unknown_row(uint64_t id, const char *message, void *ctx)
{
    rows *r = ctx;

    (void)id;
    rows_string(r, message);
    r->n++;
    return 0;
}

/* copy(path, to, new_path, datarep, range) -> (report or None, [what was left out]) */
static PyObject *copy_object(PyObject *o, PyObject *args)
{
    const char *path, *new_path, *datarep;
    PyObject *other;
    int range;
    PyObject *left;
    drep_report report = DREP_REPORT;
    rows r = {0};
    drep_copying how = DREP_COPYING(.report = &report, .unknown = unknown_row, .ctx = &r);

    BEGIN("sO!szi", &path, handle_class, &other, &new_path, &datarep, &range);
    if (!handle_open((handle *)other))
        return NULL;
    how.datarep = datarep;
    how.range = range;
    handle_enter((handle *)other);
    WITHOUT_GIL(h, err = drep_copy(h->file, path, ((handle *)other)->file, new_path, &how));
    handle_leave((handle *)other);
    left = rows_list(&r, err, h, rows_get_string);
    return left ? Py_BuildValue("(NN)", report_tuple(&report), left) : NULL;
}

static int finding_row(int err, uint64_t offset, const char *message, void *ctx)
{
    rows *r = ctx;

    rows_number(r, err);
    rows_number(r, (int64_t)offset);
    rows_string(r, message);
    r->n++;
    return 0;
}

static PyObject *finding_tuple(const char **p)
{
    long long err = rows_get_number(p), offset = rows_get_number(p);

    return Py_BuildValue("(LLN)", err, offset, rows_get_string(p));
}

/* [(code, byte, message)] */
static PyObject *object_check(PyObject *o, PyObject *args)
{
    int deep;
    int64_t n;
    rows r = {0};

    BEGIN("p", &deep);
    WITHOUT_GIL(h, err = drep_check(h->file, deep, finding_row, &r, &n));
    return rows_list(&r, err, h, finding_tuple);
}

static PyObject *object_usage(PyObject *o, PyObject *args)
{
    const char *path;
    drep_objusage u = DREP_OBJUSAGE;

    BEGIN("s", &path);
    WITHOUT_GIL(h, err = drep_object_usage(h->file, path, &u));
    if (err)
        return raise_error(err, h);
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L}", "metadata", (long long)u.metadata, "data",
                         (long long)u.data, "sums", (long long)u.sums, "payload",
                         (long long)u.payload, "chunks", (long long)u.chunks);
}

PyMethodDef object_methods[] = {
    {"stat", object_stat, METH_VARARGS,
     "stat(path): (kind, id, links, attributes, members, length, unlimited)"},
    {"exists", object_exists, METH_VARARGS, "exists(path): the kind of object, 0 for none"},
    {"path", path_of_object, METH_VARARGS, "path(id)"},
    {"group_create", group_create, METH_VARARGS, "group_create(path, parents)"},
    {"type_commit", type_commit, METH_VARARGS, "type_commit(path, Type)"},
    {"type_open", type_open, METH_VARARGS, "type_open(path): Type"},
    {"link_hard", link_hard, METH_VARARGS, "link_hard(target, path)"},
    {"link_soft", link_soft, METH_VARARGS, "link_soft(target, path)"},
    {"link_external", link_external, METH_VARARGS, "link_external(file, target, path)"},
    {"link_move", link_move, METH_VARARGS, "link_move(from, to)"},
    {"link_remove", link_remove, METH_VARARGS, "link_remove(path)"},
    {"list", object_list, METH_VARARGS,
     "list(path, order): [(name, link, kind, id, target, file)]"},
    {"link", list_one_link, METH_VARARGS, "link(group, name): its row of list(), in a list, or []"},
    {"visit", object_visit, METH_VARARGS, "visit(path, order): [(path, kind, id)]"},
    {"dimension_list", dimension_list, METH_VARARGS,
     "dimension_list(path, order): [(name, address, id, length, unlimited)]"},
    {"dimension_create", dimension_create, METH_VARARGS,
     "dimension_create(address, len, unlimited)"},
    {"dimension_find", find_dimension, METH_VARARGS, "dimension_find(path, name): address"},
    {"dimension_set_unlimited", dimension_set_unlimited, METH_VARARGS,
     "dimension_set_unlimited(address, unlimited)"},
    {"dimension_rename", dimension_rename, METH_VARARGS, "dimension_rename(address, name)"},
    {"dimension_remove", dimension_remove, METH_VARARGS, "dimension_remove(address)"},
    {"dimension_coordinate", dimension_coordinate, METH_VARARGS, "its dataset of coordinates"},
    {"dimension_scales", dimension_scales, METH_VARARGS, "ids of further coordinates"},
    {"dimension_set_scales", dimension_set_scales, METH_VARARGS, "set them"},
    {"copy", copy_object, METH_VARARGS, "copy(path, to, new_path, datarep, range)"},
    {"check", object_check, METH_VARARGS, "check(deep): [(code, byte, message)]"},
    {"object_usage", object_usage, METH_VARARGS, "bytes of one object"},
    {0},
};
