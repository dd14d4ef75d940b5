/* model.c - builds the model of a schema and checks it as a whole.
 *
 * In four passes: the objects and their names; the datatypes; datasets, whose
 * dimensions may stand anywhere; links and values, which may name any object. */
/* SPDX-License-Identifier: MIT */
#include "schema/model.h"
#include "base/vec.h"
#include "schema/filter.h"
#include "schema/paths.h"
#include "schema/suggest.h"
#include <stdlib.h>
#include <string.h>

/* Keys that say what an object is; a group's members have other names, or stand under
 * `members`. */
static const char *const object_keys[] = {"dataset", "type", "link", "members", "attrs", NULL};

/* ------------------------------------------------------------ objects by path */

static size_t hash_path(const char *path)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *path; path++)
        h = (h ^ (unsigned char)*path) * 0x100000001b3u;
    return (size_t)(h ^ h >> 32);
}

static struct object **table_slot(const struct schema *s, const char *path)
{
    size_t i = hash_path(path) & (s->table_cap - 1);

    while (s->table[i] && strcmp(s->table[i]->path, path) != 0)
        i = (i + 1) & (s->table_cap - 1);
    return &s->table[i];
}

static bool table_grow(struct schema *s)
{
    struct schema bigger = {.table_cap = s->table_cap ? 2 * s->table_cap : 256};
    size_t i;

    bigger.table = calloc(bigger.table_cap, sizeof *bigger.table);
    if (!bigger.table)
        return complain(&s->c, NULL, "out of memory");
    for (i = 0; i < s->table_cap; i++)
        if (s->table[i])
            *table_slot(&bigger, s->table[i]->path) = s->table[i];
    free(s->table);
    s->table = bigger.table;
    s->table_cap = bigger.table_cap;
    return true;
}

struct object *model_find(const struct schema *s, const char *path)
{
    size_t size = strlen(path);
    struct object *found;
    char *full;

    if (!s->table_cap)
        return NULL;
    full = malloc(size + 2);
    if (!full)
        return NULL;
    full[0] = '/';
    memcpy(full + 1, *path == '/' ? path + 1 : path, size - (*path == '/') + 1);
    found = *table_slot(s, full);
    free(full);
    return found;
}

/* A new member of a group (parent NULL: the root), or dimension.  NULL after complaining. */
static struct object *new_object(struct schema *s, struct object *parent, const char *name,
                                 int kind, const struct doc *at)
{
    struct object *o = calloc(1, sizeof *o), **slot;

    if (o && kind == DREP_OBJ_DIMENSION)
        o->path = path_of_dimension(parent->path, name);
    else if (o)
        o->path = parent ? path_of_member(parent->path, name) : strdup("/");
    if (!o || !o->path) {
        free(o);
        complain(&s->c, at, "out of memory");
        return NULL;
    }
    o->name = name;
    o->kind = kind;
    o->at = at;
    o->parent = parent;
    if (2 * (s->table_len + 1) > s->table_cap && !table_grow(s))
        goto out;
    slot = table_slot(s, o->path);
    if (*slot) {
        complain(&s->c, at, "\"%s\" is defined already, in line %d", o->path, (*slot)->at->line);
        goto out;
    }
    if (parent && VEC_ROOM(parent->member, parent->nmembers, parent->room, 1)) {
        complain(&s->c, at, "out of memory");
        goto out;
    }
    if (parent) {
        o->index = parent->nmembers;
        parent->member[parent->nmembers++] = o;
    }
    *slot = o;
    s->table_len++;
    return o;

out:
    free(o->path);
    free(o);
    return NULL;
}

static void free_object(struct object *o)
{
    size_t i;

    if (!o)
        return;
    for (i = 0; i < o->nmembers; i++)
        free_object(o->member[i]);
    for (i = 0; i < o->nattrs; i++)
        drep_type_free(o->attr[i].type);
    drep_type_free(o->type);
    for (i = 0; i < (size_t)o->nfilters; i++)
        free((void *)(uintptr_t)o->filters[i].params);
    free(o->member);
    free(o->attr);
    free(o->path);
    free(o);
}

void model_release(struct schema *s)
{
    free_object(s->root);
    free(s->table);
    types_release(&s->types);
    reps_release(&s->reps);
    drep_info_free(s->hints);
    doc_free(s->tree);
}

/* ------------------------------------------------------------ pass 1: names */

static bool read_object_doc(struct schema *s, struct object *parent, const struct doc *key,
                            const struct doc *node);
static bool read_shorthand(struct schema *s, struct object *group, const struct doc *node,
                           int kind);

static bool read_members(struct schema *s, struct object *group, const struct doc *node,
                         bool explicit)
{
    bool fine = true;
    size_t i;

    for (i = 0; i < node->len; i++) {
        if (!explicit &&
            (strcmp(node->key[i]->text, "attrs") == 0 || strcmp(node->key[i]->text, "dims") == 0))
            continue;
        fine = read_object_doc(s, group, node->key[i], node->item[i]) && fine;
    }
    return fine;
}

static bool read_group(struct schema *s, struct object *group, const struct doc *node)
{
    static const char *const keys[] = {"attrs", "dims", "members", NULL};
    const struct doc *members = doc_get(node, "members");
    bool fine = read_shorthand(s, group, doc_get(node, "dims"), DREP_OBJ_DIMENSION);

    if (!members)
        return read_members(s, group, node, false) && fine;
    return fine && doc_keys(&s->c, node, keys) &&
           doc_want(&s->c, members, DOC_MAP, "a map of objects") &&
           read_members(s, group, members, true);
}

/* Complain about an entry of a group, with a guess at what it was meant to be. */
static bool complain_object(struct schema *s, const struct doc *key, const struct doc *node)
{
    struct suggestion meant = {.word = key->text};

    for (const char *const *known = object_keys; *known; known++)
        suggest_word(&meant, *known);
    if (meant.best[0] && strcmp(meant.best, key->text) != 0)
        return complain(&s->c, key, "unknown key \"%s\" (did you mean \"%s\"?)", key->text,
                        meant.best);
    return complain(&s->c, node,
                    "\"%s\" is not an object: expected a map like {dataset: TYPE, ...}, not %s",
                    key->text, doc_what(node));
}

/* Read one entry of a group. Its keys decide the kind; only names and kinds are read in this
 * pass, as types and dimensions may be declared later in the text. */
static bool read_object_doc(struct schema *s, struct object *parent, const struct doc *key,
                            const struct doc *node)
{
    const struct doc *length = doc_get(node, "dimension");
    const char *name = key->text;
    struct object *o;

    if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        strlen(name) > 1023)
        return complain(&s->c, key, "\"%.100s\" cannot be a name", name);
    if (node->kind != DOC_MAP && !doc_null(node))
        return complain_object(s, key, node);
    if (length && length->kind == DOC_SCALAR && !doc_null(length)) /* else a member's name */
        return complain(&s->c, node, "a dimension stands in the map \"dims\" of its group");
    o = new_object(s, parent, name, 0, key);
    if (!o)
        return false;
    /* Keys are looked up in the object's own map; an empty entry is an empty group. */
    o->at = node;
    if (doc_get(node, "dataset")) {
        o->kind = DREP_OBJ_DATASET;
        return true;
    }
    if (doc_get(node, "type")) {
        o->kind = DREP_OBJ_TYPE;
        return parent->parent || types_add(&s->types, name, doc_get(node, "type"));
    }
    if (doc_get(node, "link"))
        return true;
    o->kind = DREP_OBJ_GROUP;
    return doc_null(node) || read_group(s, o, node);
}

/* `types:` are objects in the root group, before all others; `dims:` the dimensions of a group. */
static bool read_shorthand(struct schema *s, struct object *group, const struct doc *node, int kind)
{
    struct object *o;
    bool fine = true;
    size_t i;

    if (!node)
        return true;
    if (!doc_want(&s->c, node, DOC_MAP, "a map of names"))
        return false;
    for (i = 0; i < node->len; i++) {
        const char *name = node->key[i]->text;

        if (!*name || strchr(name, '/')) {
            fine = complain(&s->c, node->key[i], "\"%.100s\" cannot be a name", name);
            continue;
        }
        if (drep_code_from_name(name) && kind == DREP_OBJ_TYPE) {
            fine = complain(&s->c, node->key[i], "\"%s\" is a predefined datatype", name);
            continue;
        }
        if (types_reserved(name) && kind == DREP_OBJ_TYPE) {
            fine =
                complain(&s->c, node->key[i],
                         "\"%s\" is a keyword of the datatype language; choose another name", name);
            continue;
        }
        o = new_object(s, group, name, kind, node->key[i]);
        if (!o) {
            fine = false;
            continue;
        }
        o->at = node->item[i];
        if (kind == DREP_OBJ_TYPE)
            fine = types_add(&s->types, name, node->item[i]) && fine;
    }
    return fine;
}

/* ---------------------------------------------------- pass 2: types, dimensions */

static bool read_named_type(struct schema *s, struct object *o)
{
    static const char *const keys[] = {"type", "attrs", NULL};
    const struct doc *type = doc_get(o->at, "type");

    /* In `types:` the entry itself is the type. */
    if (!type)
        return types_get(&s->types, o->at, &o->type);
    return doc_keys(&s->c, o->at, keys) && types_get(&s->types, type, &o->type);
}

/* Also in quotes: JSON has no other words. */
static bool is_unlimited(const struct doc *node)
{
    return node->kind == DOC_SCALAR && strcmp(node->text, "unlimited") == 0;
}

static bool read_length(struct schema *s, struct object *o, const struct doc *node)
{
    if (!is_unlimited(node))
        return doc_integer(&s->c, node, 0, (int64_t)1 << 62, &o->len);
    o->unlimited = true;
    return true;
}

static bool read_dimension(struct schema *s, struct object *o)
{
    static const char *const keys[] = {"length", "unlimited", "attrs", NULL};
    const struct doc *length = doc_get(o->at, "length");
    const struct doc *unlimited = doc_get(o->at, "unlimited");
    bool fine;

    if (o->at->kind != DOC_MAP)
        return read_length(s, o, o->at);
    fine = doc_keys(&s->c, o->at, keys);
    if (length)
        fine = read_length(s, o, length) && fine;
    else if (!unlimited)
        fine = complain(&s->c, o->at, "a dimension has a length, or is unlimited");
    if (unlimited)
        fine = doc_boolean(&s->c, unlimited, &o->unlimited) && fine;
    return fine;
}

/* -------------------------------------------------------- pass 3: datasets */

/* A dimension by its name, looked up from the dataset's group upwards, or by its address. */
static struct object *find_dimension(const struct schema *s, const struct object *dataset,
                                     const char *name)
{
    const struct object *group;
    struct object *found;
    char *path;

    for (group = dataset->parent; group && !strchr(name, '/'); group = group->parent) {
        path = path_of_dimension(group->path, name);
        found = path ? model_find(s, path) : NULL;
        free(path);
        if (found && found->kind == DREP_OBJ_DIMENSION)
            return found;
    }
    return strchr(name, '#') ? model_find(s, name) : NULL;
}

static bool complain_dimension(struct schema *s, const struct doc *node)
{
    struct suggestion meant = {.word = node->text};
    size_t i;

    for (i = 0; i < s->root->nmembers; i++)
        if (s->root->member[i]->kind == DREP_OBJ_DIMENSION)
            suggest_word(&meant, s->root->member[i]->name);
    if (meant.best[0])
        return complain(&s->c, node, "no dimension \"%s\" (did you mean \"%s\"?)", node->text,
                        meant.best);
    return complain(&s->c, node, "no dimension \"%s\"", node->text);
}

/* Read the dimensions of a dataset; null leaves one without a name, whose length the shape
 * gives. */
static bool read_dims(struct schema *s, struct object *o, const struct doc *node)
{
    bool fine = true;
    const char *name;
    size_t i;

    if (!doc_want(&s->c, node, DOC_LIST, "a list of dimensions"))
        return false;
    if (node->len > DREP_MAX_RANK)
        return complain(&s->c, node, "at most %d dimensions", DREP_MAX_RANK);
    o->rank = (int)node->len;
    o->has_dims = true;
    for (i = 0; i < node->len; i++) {
        o->dims[i] = -1;
        if (doc_null(node->item[i]))
            continue;
        if (!doc_string(&s->c, node->item[i], &name)) {
            fine = false;
            continue;
        }
        o->dim[i] = find_dimension(s, o, name);
        if (!o->dim[i] || o->dim[i]->kind != DREP_OBJ_DIMENSION) {
            o->dim[i] = NULL;
            fine = complain_dimension(s, node->item[i]);
            continue;
        }
        o->dims[i] = o->dim[i]->len;
        o->maxdims[i] = o->dim[i]->unlimited ? DREP_UNLIMITED : o->dim[i]->len;
    }
    return fine;
}

/* A list of `rank` lengths; unlimited where that may be. */
static bool read_lengths(struct schema *s, const struct doc *node, int rank, int64_t least,
                         int64_t most, bool unlimited, int64_t *out)
{
    bool fine = true;
    int i;

    if (!doc_want(&s->c, node, DOC_LIST, "a list of lengths"))
        return false;
    if ((int)node->len != rank)
        return complain(&s->c, node, "expected %d length%s, not %zu", rank, rank == 1 ? "" : "s",
                        node->len);
    for (i = 0; i < rank; i++) {
        if (unlimited && is_unlimited(node->item[i]))
            out[i] = DREP_UNLIMITED;
        else
            fine = doc_integer(&s->c, node->item[i], least, most, &out[i]) && fine;
    }
    return fine;
}

static bool read_shape(struct schema *s, struct object *o, const struct doc *node)
{
    int64_t dims[DREP_MAX_RANK];
    bool fine = true;
    int d;

    if (doc_null(node)) {
        o->rank = DREP_NULL_SPACE;
        return !o->has_dims || complain(&s->c, node, "the null space has no dims");
    }
    if (!doc_want(&s->c, node, DOC_LIST, "a list of lengths, or null"))
        return false;
    if (node->len > DREP_MAX_RANK)
        return complain(&s->c, node, "at most %d dimensions", DREP_MAX_RANK);
    if (!o->has_dims)
        o->rank = (int)node->len;
    if (!read_lengths(s, node, o->rank, 0, (int64_t)1 << 62, false, dims))
        return false;
    for (d = 0; d < o->rank; d++) {
        if (o->dim[d] && !o->dim[d]->unlimited && dims[d] > o->dim[d]->len)
            fine = complain(&s->c, node->item[d], "%lld is more than dimension \"%s\" has",
                            (long long)dims[d], o->dim[d]->name);
        o->dims[d] = dims[d];
        if (!o->dim[d])
            o->maxdims[d] = dims[d];
    }
    return fine;
}

static bool check_size(struct schema *s, struct object *o)
{
    int64_t count = 1, size = drep_type_size(o->type);
    int d;

    for (d = 0; d < o->rank; d++) {
        if (o->dims[d] < 0)
            return complain(&s->c, o->at, "dimension %d has no name, so the dataset needs a shape",
                            d);
        if (o->dims[d] == 0)
            return true;
        if (count > ((int64_t)1 << 62) / o->dims[d])
            return complain(&s->c, o->at, "a dataset has at most 2^62 elements");
        count *= o->dims[d];
    }
    if (size > 0 && count > ((int64_t)1 << 62) / size)
        return complain(&s->c, o->at, "a dataset has at most 2^62 bytes");
    return true;
}

/* Without dims and shape, the values determine the shape. */
static bool guess_shape(struct schema *s, struct object *o)
{
    int64_t dims[DREP_MAX_RANK];
    int rank;

    o->rank = 0;
    if (!o->data || o->data->kind != DOC_LIST || value_is_list(&s->encoder, o->type))
        return true;
    rank = value_shape(&s->c, o->data, dims);
    if (rank < 0)
        return false;
    o->rank = rank;
    memcpy(o->dims, dims, (size_t)rank * sizeof *dims);
    memcpy(o->maxdims, dims, (size_t)rank * sizeof *dims);
    return true;
}

/* Read dims, shape and maxshape. Dimensions come first: shape is checked against them and fills
 * in what they leave open. */
static bool read_space(struct schema *s, struct object *o)
{
    const struct doc *dims = doc_get(o->at, "dims"), *shape = doc_get(o->at, "shape");
    const struct doc *maxshape = doc_get(o->at, "maxshape");
    int64_t most[DREP_MAX_RANK];
    bool fine = true;
    int d;

    if (dims)
        fine = read_dims(s, o, dims);
    if (shape)
        fine = fine && read_shape(s, o, shape);
    if (!dims && !shape)
        fine = guess_shape(s, o);
    if (!fine)
        return false;
    if (maxshape && !doc_null(maxshape)) {
        if (!read_lengths(s, maxshape, o->rank < 0 ? 0 : o->rank, 0, (int64_t)1 << 62, true, most))
            return false;
        for (d = 0; d < o->rank; d++) {
            o->maxdims[d] = most[d];
            if (most[d] != DREP_UNLIMITED && most[d] < o->dims[d])
                fine = complain(&s->c, maxshape->item[d], "%lld is less than the length %lld",
                                (long long)most[d], (long long)o->dims[d]);
        }
    }
    return fine && check_size(s, o);
}

/* The list in {name: [parameters]}. */
static bool read_parameters(struct schema *s, const struct doc *list, drep_filter *out)
{
    enum { MOST = 255 };
    int64_t number;
    uint32_t *params;

    if (list->len > MOST)
        return complain(&s->c, list, "at most %d parameters", MOST);
    params = malloc((list->len + 1) * sizeof *params);
    if (!params)
        return complain(&s->c, list, "out of memory");
    out->nparams = (int)list->len;
    out->params = params;
    for (size_t i = 0; i < list->len; i++) {
        if (!doc_integer(&s->c, list->item[i], 0, UINT32_MAX, &number))
            return false;
        params[i] = (uint32_t)number;
    }
    return true;
}

/* A user's filter; whether it is registered is found out when the dataset is made. */
static bool read_user_filter(struct schema *s, const struct doc *name, const struct doc *list,
                             drep_filter *out)
{
    out->id = DREP_FILTER_USER;
    return read_parameters(s, list, out) && doc_string(&s->c, name, &out->name);
}

/* "hdf5:NUMBER", with a "?" behind it if HDF5 may leave it out. */
static bool read_hdf5_filter(struct schema *s, const struct doc *name, const struct doc *list,
                             drep_filter *out)
{
    const char *text = name->text + strlen(FILTER_HDF5);
    char *end;
    long number = strtol(text, &end, 10);

    if (end == text || number < 0 || number > UINT16_MAX || strcmp(end + (*end == '?'), "") != 0)
        return complain(&s->c, name, "expected hdf5:NUMBER of a filter of HDF5");
    out->id = DREP_FILTER_HDF5 + (int)number;
    out->level = *end == '?';
    return !list || read_parameters(s, list, out);
}

static bool read_filter(struct schema *s, const struct doc *node, drep_filter *out)
{
    const struct doc *name = node, *level = NULL;
    int64_t number = -1;

    if (node->kind == DOC_MAP && node->len == 1) {
        name = node->key[0];
        level = node->item[0];
    }
    if (name->kind != DOC_SCALAR)
        return complain(&s->c, node, "expected a filter: its name, or {name: level}");
    if (strncmp(name->text, FILTER_HDF5, strlen(FILTER_HDF5)) == 0 &&
        (!level || level->kind == DOC_LIST))
        return read_hdf5_filter(s, name, level, out);
    if (level && level->kind == DOC_LIST && !drep_filter_from_name(name->text))
        return read_user_filter(s, name, level, out);
    out->id = drep_filter_from_name(name->text);
    if (!out->id)
        return complain(&s->c, name, "unknown filter \"%s\"", name->text);
    if (!drep_filter_available(out->id))
        return complain(&s->c, name, "filter \"%s\" is not built in here", name->text);
    if (level && !doc_integer(&s->c, level, 0, 1000, &number))
        return false;
    out->level = (int)number;
    return true;
}

static bool read_filters(struct schema *s, struct object *o, const struct doc *node)
{
    bool fine = true;
    size_t i;

    if (!doc_want(&s->c, node, DOC_LIST, "a list of filters"))
        return false;
    if (node->len > DREP_MAX_FILTERS)
        return complain(&s->c, node, "at most %d filters", DREP_MAX_FILTERS);
    o->nfilters = (int)node->len;
    for (i = 0; i < node->len; i++)
        fine = read_filter(s, node->item[i], &o->filters[i]) && fine;
    if (fine && o->nfilters && (o->layout == DREP_COMPACT || o->layout == DREP_CONTIGUOUS))
        fine = complain(&s->c, node, "only a chunked layout has filters");
    return fine;
}

/* Read layout, chunk and filters. A chunk alone means a chunked layout. */
static bool read_layout(struct schema *s, struct object *o)
{
    const struct doc *layout = doc_get(o->at, "layout"), *chunk = doc_get(o->at, "chunk");
    const struct doc *filters = doc_get(o->at, "filters");
    bool fine = true;

    if (!layout || doc_word(layout, "auto"))
        o->layout = DREP_LAYOUT_AUTO;
    else if (doc_word(layout, "compact"))
        o->layout = DREP_COMPACT;
    else if (doc_word(layout, "contiguous"))
        o->layout = DREP_CONTIGUOUS;
    else if (doc_word(layout, "chunked"))
        o->layout = DREP_CHUNKED;
    else
        fine = complain(&s->c, layout, "layout is compact, contiguous, chunked or auto");
    if (chunk && (o->layout == DREP_COMPACT || o->layout == DREP_CONTIGUOUS))
        fine = complain(&s->c, chunk, "only a chunked layout has chunks");
    else if (chunk && o->rank >= 0) {
        fine = read_lengths(s, chunk, o->rank, 1, UINT32_MAX, false, o->chunk) && fine;
        o->has_chunk = true;
        o->layout = DREP_CHUNKED;
    } else if (chunk) {
        fine = complain(&s->c, chunk, "the null space has no chunks");
    }
    if (filters)
        fine = read_filters(s, o, filters) && fine;
    return fine;
}

/* "," or "tab". */
static bool read_delimiter(struct schema *s, const struct doc *node, char *out)
{
    const char *text;

    if (!doc_string(&s->c, node, &text))
        return false;
    *out = strcmp(text, "tab") == 0 ? '\t' : *text;
    return (strlen(text) == 1 && !strchr("\"\n\r", *text) && !(*text & 0x80)) || *out == '\t' ||
           complain(&s->c, node, "a delimiter is one character, or tab");
}

/* An entry of `from` that is text, where it is there. */
static bool read_text(struct schema *s, const struct doc *map, const char *key, const char **out)
{
    const struct doc *node = doc_get(map, key);

    return !node || doc_string(&s->c, node, out);
}

static bool read_csv(struct schema *s, const struct doc *map, struct schema_source *out)
{
    static const char *const keys[] = {"csv", "column", "missing", "delimiter", "header", NULL};
    const struct doc *delimiter = doc_get(map, "delimiter"), *header = doc_get(map, "header");
    bool yes = true, fine = doc_keys(&s->c, map, keys);

    fine = read_text(s, map, "csv", &out->file) && fine;
    fine = read_text(s, map, "column", &out->column) && fine;
    fine = read_text(s, map, "missing", &out->missing) && fine;
    if (delimiter)
        fine = read_delimiter(s, delimiter, &out->delimiter) && fine;
    if (header)
        fine = doc_boolean(&s->c, header, &yes) && fine;
    out->no_header = !yes;
    return fine;
}

static bool read_raw(struct schema *s, const struct doc *map, struct schema_source *out)
{
    static const char *const keys[] = {"raw", "datarep", "offset", "order", "records", NULL};
    static const char *const forms[] = {"fortran", "4-little", "4-big", "8-little", "8-big",
                                        "V",       "VB",       "VBS",   NULL};
    const struct doc *order = doc_get(map, "order"), *offset = doc_get(map, "offset");
    bool fine = doc_keys(&s->c, map, keys);
    int i;

    fine = read_text(s, map, "raw", &out->file) && fine;
    fine = read_text(s, map, "datarep", &out->datarep) && fine;
    fine = read_text(s, map, "records", &out->records) && fine;
    if (offset)
        fine = doc_integer(&s->c, offset, 0, (int64_t)1 << 62, &out->offset) && fine;
    out->column_major = order && doc_word(order, "F");
    if (order && !out->column_major && !doc_word(order, "C"))
        fine = complain(&s->c, order, "order is C or F");
    for (i = 0; out->records && forms[i] && strcmp(forms[i], out->records) != 0; i++)
        ;
    if (out->records && !forms[i])
        fine = complain(&s->c, doc_get(map, "records"),
                        "records is fortran, 4-little, 4-big, 8-little, 8-big, V, VB or VBS");
    return fine;
}

static bool ends_in(const char *name, const char *end)
{
    size_t size = strlen(name), tail = strlen(end);

    return size > tail && strcmp(name + size - tail, end) == 0;
}

/* A file, known by the end of its name, or {csv: FILE, ...}, {raw: FILE, ...}, {npy: FILE}. */
static bool read_source(struct schema *s, const struct doc *node, struct schema_source *out)
{
    static const char *const npy_keys[] = {"npy", NULL};

    if (node->kind == DOC_SCALAR) {
        if (!doc_string(&s->c, node, &out->file))
            return false;
        out->format = ends_in(out->file, ".npy") ? SCHEMA_NPY : SCHEMA_CSV;
        return out->format == SCHEMA_NPY || ends_in(out->file, ".csv") ||
               ends_in(out->file, ".tsv") ||
               complain(&s->c, node,
                        "a file that does not end in .npy, .csv or .tsv; say "
                        "{raw: FILE} or {csv: FILE}");
    }
    if (doc_get(node, "csv")) {
        out->format = SCHEMA_CSV;
        return read_csv(s, node, out);
    }
    if (doc_get(node, "raw")) {
        out->format = SCHEMA_RAW;
        return read_raw(s, node, out);
    }
    if (doc_get(node, "npy"))
        return doc_keys(&s->c, node, npy_keys) && read_text(s, node, "npy", &out->file);
    return complain(&s->c, node, "from is a file, or a map with npy, csv or raw");
}

static bool read_elements(struct schema *s, struct object *o)
{
    bool fine = true;

    o->from = doc_get(o->at, "from");
    if (o->data && o->rank == DREP_NULL_SPACE)
        fine = complain(&s->c, o->data, "the null space has no values");
    if (o->from && o->rank == DREP_NULL_SPACE)
        fine = complain(&s->c, o->from, "the null space has no values");
    s->elsewhere = s->elsewhere || o->from;
    if (o->from && o->data)
        fine = complain(&s->c, o->from, "the values are given already, as data");
    return (!o->from || read_source(s, o->from, &o->source)) && fine;
}

static bool read_placed(struct schema *s, struct object *o)
{
    const struct doc *placed = doc_get(o->at, "placed");

    o->placed = doc_is(placed, "true");
    if (placed && !o->placed && !doc_is(placed, "false"))
        return complain(&s->c, placed, "placed is true or false");
    return true;
}

static bool read_dataset(struct schema *s, struct object *o)
{
    static const char *const keys[] = {"dataset", "datarep", "shape",   "maxshape", "dims",
                                       "chunk",   "layout",  "filters", "fill",     "data",
                                       "from",    "attrs",   "placed",  NULL};
    const struct doc *fill = doc_get(o->at, "fill"), *datarep = doc_get(o->at, "datarep");
    bool fine = doc_keys(&s->c, o->at, keys);

    if (!types_get(&s->types, doc_get(o->at, "dataset"), &o->type))
        return false;
    o->data = doc_get(o->at, "data");
    if (!read_space(s, o))
        return false;
    /* A plugin may bring it: whether it is there is found out when the dataset is made. */
    fine = (!datarep || doc_string(&s->c, datarep, &o->datarep)) && fine;
    fine = read_layout(s, o) && read_placed(s, o) && fine;
    if (doc_is(fill, "none")) {
        o->fill = DREP_FILL_NONE;
    } else if (fill && (!doc_null(fill) || drep_type_kind(o->type) == DREP_KIND_REFERENCE)) {
        /* To a reference null is a value. */
        o->fill = DREP_FILL_VALUE;
        o->fill_value = fill;
    }
    return read_elements(s, o) && fine;
}

/* ------------------------------------------------- pass 4: links and values */

/* Read a link. Only targets of hard links must exist in the schema: others may appear later, or
 * in another file. */
static bool read_link_doc(struct schema *s, struct object *o)
{
    static const char *const keys[] = {"link", "target", "file", NULL};
    const struct doc *kind = doc_get(o->at, "link"), *target = doc_get(o->at, "target");
    const struct doc *file = doc_get(o->at, "file");
    bool fine = doc_keys(&s->c, o->at, keys);

    if (doc_word(kind, "soft"))
        o->link = DREP_LINK_SOFT;
    else if (doc_word(kind, "hard"))
        o->link = DREP_LINK_HARD;
    else if (doc_word(kind, "external"))
        o->link = DREP_LINK_EXTERNAL;
    else
        fine = complain(&s->c, kind, "link is soft, hard or external");
    if (!target)
        return complain(&s->c, o->at, "a link has a target");
    fine = doc_string(&s->c, target, &o->target) && fine;
    if (file && o->link != DREP_LINK_EXTERNAL)
        fine = complain(&s->c, file, "only an external link has a file");
    else if (file)
        fine = doc_string(&s->c, file, &o->target_file) && fine;
    else if (o->link == DREP_LINK_EXTERNAL)
        fine = complain(&s->c, o->at, "an external link has a file");
    if (fine && o->link == DREP_LINK_HARD && strcmp(o->target, "/") != 0 &&
        !model_find(s, o->target))
        fine = complain(&s->c, target, "no object \"%s\"", o->target);
    return fine;
}

/* {type: T, shape: [..], value: ..}. */
static bool read_typed_attr(struct schema *s, struct attr *a)
{
    static const char *const keys[] = {"type", "shape", "value", NULL};
    const struct doc *shape = doc_get(a->at, "shape");

    a->value = doc_get(a->at, "value");
    if (!doc_keys(&s->c, a->at, keys) || !types_get(&s->types, doc_get(a->at, "type"), &a->type))
        return false;
    if (doc_null(shape)) {
        a->rank = DREP_NULL_SPACE;
        return !a->value || doc_null(a->value) ||
               complain(&s->c, a->value, "the null space has no value");
    }
    if (shape && !doc_want(&s->c, shape, DOC_LIST, "a list of lengths, or null"))
        return false;
    if (shape && shape->len > DREP_MAX_RANK)
        return complain(&s->c, shape, "at most %d dimensions", DREP_MAX_RANK);
    if (shape) {
        a->rank = (int)shape->len;
        return read_lengths(s, shape, a->rank, 0, (int64_t)1 << 40, false, a->dims);
    }
    if (!a->value || value_is_list(&s->encoder, a->type))
        return true;
    a->rank = value_shape(&s->c, a->value, a->dims);
    return a->rank >= 0;
}

static bool has_elements(int rank, const int64_t *dims)
{
    int d;

    for (d = 0; d < rank; d++)
        if (dims[d] == 0)
            return false;
    return rank != DREP_NULL_SPACE;
}

static bool read_attr_doc(struct schema *s, struct attr *a)
{
    struct elements v;

    if (doc_get(a->at, "type")) {
        if (!read_typed_attr(s, a))
            return false;
    } else {
        if (a->at->kind == DOC_MAP && !doc_get(a->at, "hex"))
            return complain(&s->c, a->at, "an attribute is a value, or {type: TYPE, value: ...}");
        if (!value_guess(&s->c, a->at, &a->type, &a->rank, a->dims))
            return false;
        a->value = a->at;
    }
    if (!has_elements(a->rank, a->dims)) {
        a->value = NULL;
        return true;
    }
    if (!a->value)
        return complain(&s->c, a->at, "the value is missing");
    if (!elements_encode_exact(&s->encoder, a->type, a->rank, a->dims, a->value, &v))
        return false;
    elements_release(&v);
    return true;
}

static bool read_attrs(struct schema *s, struct object *o)
{
    const struct doc *attrs = doc_get(o->at, "attrs");
    bool fine = true;
    size_t i;

    if (!attrs || o->link)
        return true;
    if (!doc_want(&s->c, attrs, DOC_MAP, "a map of attributes"))
        return false;
    o->attr = calloc(attrs->len + 1, sizeof *o->attr);
    if (!o->attr)
        return complain(&s->c, attrs, "out of memory");
    for (i = 0; i < attrs->len; i++) {
        struct attr *a = &o->attr[o->nattrs++];

        a->name = attrs->key[i]->text;
        a->at = attrs->item[i];
        if (!*a->name || strlen(a->name) > 1023)
            fine = complain(&s->c, attrs->key[i], "\"%.100s\" cannot be a name", a->name);
        fine = read_attr_doc(s, a) && fine;
    }
    return fine;
}

/* True if the schema itself says how the dataset's datatypes are stored: perhaps wider than here,
 * so that only writing them tells which values fit. */
static bool declares_rows(const struct schema *s, const struct object *o)
{
    const char *name = o->datarep ? o->datarep : s->datarep;
    size_t i;

    for (i = 0; name && i < s->reps.len; i++)
        if (strcmp(s->reps.list[i].name, name) == 0)
            return true;
    return false;
}

static bool check_values(struct schema *s, const struct object *o)
{
    struct elements v;
    bool fine = true;

    if (o->fill_value) {
        fine = elements_encode_exact(&s->encoder, o->type, 0, NULL, o->fill_value, &v);
        if (fine)
            elements_release(&v);
    }
    if (!o->data || o->rank == DREP_NULL_SPACE || declares_rows(s, o))
        return fine;
    return value_fits(&s->encoder, o->type, o->rank, o->dims, o->data) && fine;
}

/* ---------------------------------------------------------------- all of it */

/* Visit the members of a group and of its groups. */
static bool each_object(struct schema *s, struct object *group,
                        bool (*fn)(struct schema *s, struct object *o))
{
    bool fine = fn(s, group);
    size_t i;

    for (i = 0; i < group->nmembers; i++)
        fine = each_object(s, group->member[i], fn) && fine;
    return fine;
}

static bool pass_types(struct schema *s, struct object *o)
{
    if (o->kind == DREP_OBJ_TYPE)
        return read_named_type(s, o);
    return o->kind != DREP_OBJ_DIMENSION || read_dimension(s, o);
}

static bool pass_datasets(struct schema *s, struct object *o)
{
    o->wrong = o->kind == DREP_OBJ_DATASET && !read_dataset(s, o);
    return !o->wrong;
}

static bool pass_values(struct schema *s, struct object *o)
{
    bool fine = o->kind || read_link_doc(s, o);

    if (o->kind == DREP_OBJ_DATASET && !o->wrong)
        fine = check_values(s, o);
    return read_attrs(s, o) && fine;
}

static bool read_hints(struct schema *s, const struct doc *node)
{
    const char *value;
    bool fine = true;
    size_t i;

    if (drep_info_new(&s->hints))
        return complain_error(&s->c, node, "hints");
    if (!node)
        return true;
    if (!doc_want(&s->c, node, DOC_MAP, "a map of hints"))
        return false;
    for (i = 0; i < node->len; i++) {
        if (!doc_string(&s->c, node->item[i], &value))
            fine = false;
        else if (strcmp(node->key[i]->text, "drep_plugin_path") == 0)
            /* A schema must not decide whose code runs. */
            fine =
                complain(&s->c, node->key[i], "plugins are enabled by their user, not by a schema");
        else if (drep_info_set(s->hints, node->key[i]->text, value))
            fine = complain_error(&s->c, node->key[i], "hint");
    }
    return fine;
}

static bool object_exists(void *ctx, const char *path)
{
    const struct schema *s = ctx;

    return strcmp(path, "/") == 0 || model_find(s, path);
}

static bool read_head(struct schema *s)
{
    static const char *const keys[] = {"datarep", "datareps", "hints", "types",
                                       "dims",    "root",     NULL};
    const struct doc *declared = doc_get(s->tree, "datareps");
    bool fine = doc_keys(&s->c, s->tree, keys);

    s->datarep_at = doc_get(s->tree, "datarep");
    if (s->datarep_at)
        fine = doc_string(&s->c, s->datarep_at, &s->datarep) && fine;
    if (declared)
        fine = reps_read(&s->c, declared, &s->reps) && fine;
    return read_hints(s, doc_get(s->tree, "hints")) && fine;
}

/* Run the four passes. Each runs even if one before it complained, so that all errors of a
 * schema are reported at once; values are not checked against a dataset that is wrong itself. */
bool model_build(struct schema *s)
{
    const struct doc *root = doc_get(s->tree, "root");
    bool fine;

    if (encoder_init(&s->encoder, &s->c))
        return complain_error(&s->c, NULL, "internal");
    s->encoder.exists = object_exists;
    s->encoder.ctx = s;
    s->types.c = &s->c;
    if (!doc_want(&s->c, s->tree, DOC_MAP, "a map with root"))
        return false;
    fine = read_head(s);
    s->root = new_object(s, NULL, "", DREP_OBJ_GROUP, root ? root : s->tree);
    if (!s->root)
        return false;
    fine = read_shorthand(s, s->root, doc_get(s->tree, "types"), DREP_OBJ_TYPE) && fine;
    fine = read_shorthand(s, s->root, doc_get(s->tree, "dims"), DREP_OBJ_DIMENSION) && fine;
    if (root && !doc_null(root)) {
        fine = doc_want(&s->c, root, DOC_MAP, "a map of objects") && fine;
        if (root->kind == DOC_MAP)
            fine = read_group(s, s->root, root) && fine;
    }
    types_sort(&s->types);
    fine = each_object(s, s->root, pass_types) && fine;
    fine = each_object(s, s->root, pass_datasets) && fine;
    return each_object(s, s->root, pass_values) && fine;
}
