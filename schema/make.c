/* make.c - makes a file from a schema's model.
 *
 * Objects come first, in the order of the schema (an object that another needs comes
 * before it), then hard links that point forwards, then values, so that references find
 * their objects. */
/* SPDX-License-Identifier: MIT */
#include "schema/model.h"
#include <datarep.h>
#include <stdlib.h>
#include <string.h>

/* Objects that wait for each other; beyond that the order of members gives way. */
#define WAIT_DEEP 200

struct schema_maker {
    const struct schema *s;
    struct complaints c;
    struct encoder encoder; /* for values in memory */
    struct encoder stored;  /* for those of datasets in this representation: */
    const char *datarep, *stored_as;
    bool every; /* datasets take it, whatever they say */
    drep_file *file;
    int err;
    int waiting;
    bool bare; /* without the elements of datasets */
};

/* Record the library's failure and the part of the schema that caused it. */
static bool refuse_step(struct schema_maker *m, const struct doc *at, const char *what, int err)
{
    if (!m->err)
        m->err = err;
    return complain_error(&m->c, at, what);
}

static uint64_t object_id(void *ctx, const char *path)
{
    struct schema_maker *m = ctx;
    drep_objinfo info = DREP_OBJINFO;

    return drep_stat(m->file, path, &info) ? 0 : info.id;
}

/* ----------------------------------------------------------------- objects */

static bool make_object(struct schema_maker *m, struct object *o);

/* Make an object, after those before it in its group and the groups above. */
static bool make_first(struct schema_maker *m, struct object *o)
{
    struct object *group = o->parent;
    bool fine = true;

    if (o->made)
        return true;
    if (m->waiting >= WAIT_DEEP)
        return make_object(m, o);
    m->waiting++;
    if (group && !group->made)
        fine = make_first(m, group);
    while (group && fine && !o->made && group->made_members < o->index)
        fine = make_object(m, group->member[group->made_members++]);
    m->waiting--;
    return fine && make_object(m, o);
}

/* The representation of a dataset; NULL: the file's default. */
static const char *datarep_of(const struct schema_maker *m, const struct object *o)
{
    return m->every ? NULL : o->datarep;
}

/* Create a dataset after the dimensions that it names, which may stand anywhere in the schema. */
static bool make_dataset(struct schema_maker *m, struct object *o)
{
    const char *names[DREP_MAX_RANK];
    struct elements fill = {0};
    drep_spec spec =
        DREP_SPEC(.type = o->type, .datarep = datarep_of(m, o), .rank = o->rank,
                  .dims = o->rank > 0 ? o->dims : NULL, .maxdims = o->rank > 0 ? o->maxdims : NULL,
                  .layout = o->has_chunk ? DREP_CHUNKED : o->layout,
                  .chunk = o->has_chunk && o->rank > 0 ? o->chunk : NULL,
                  .filters = o->nfilters > 0 ? o->filters : NULL, .nfilters = o->nfilters,
                  .fill = o->fill, .placed = o->placed);
    int d, err;

    for (d = 0; d < o->rank; d++) {
        if (o->dim[d] && !make_first(m, o->dim[d]))
            return false;
        names[d] = o->dim[d] ? o->dim[d]->path : NULL;
    }
    if (o->has_dims && o->rank > 0)
        spec.dim_names = names;
    if (o->fill_value) {
        if (!elements_encode_exact(&m->encoder, o->type, 0, NULL, o->fill_value, &fill))
            return false;
        spec.fill_value = fill.buf;
        spec.type = fill.type;
    }
    err = drep_dataset_create(m->file, o->path, &spec, NULL);
    elements_release(&fill);
    if (err == DREP_ERR_UNSUPPORTED_DATAREP && spec.datarep)
        return refuse_step(m, doc_get(o->at, "datarep"), o->path, err);
    return err ? refuse_step(m, o->at, o->path, err) : true;
}

static bool make_link(struct schema_maker *m, struct object *o)
{
    drep_objinfo info = DREP_OBJINFO;
    int err;

    if (o->link == DREP_LINK_SOFT) {
        err = drep_link_soft(m->file, o->target, o->path);
    } else if (o->link == DREP_LINK_EXTERNAL) {
        err = drep_link_external(m->file, o->target_file, o->target, o->path);
    } else {
        /* A hard link to what comes later waits for the end. */
        o->made = drep_stat(m->file, o->target, &info) == 0;
        if (!o->made)
            return true;
        err = drep_link_hard(m->file, o->target, o->path);
    }
    return err ? refuse_step(m, o->at, o->path, err) : true;
}

static bool make_object(struct schema_maker *m, struct object *o)
{
    int err = 0;

    if (o->made)
        return true;
    o->made = true;
    switch (o->kind) {
    case DREP_OBJ_GROUP:
        err = o->parent ? drep_group_create(m->file, o->path, 0) : 0;
        break;
    case DREP_OBJ_TYPE:
        err = drep_type_commit(m->file, o->path, o->type);
        break;
    case DREP_OBJ_DIMENSION:
        err = drep_dimension_create(m->file, o->path, o->len, o->unlimited);
        break;
    case DREP_OBJ_DATASET:
        return make_dataset(m, o);
    default:
        return make_link(m, o);
    }
    return err ? refuse_step(m, o->at, o->path, err) : true;
}

static bool make_all(struct schema_maker *m, struct object *o)
{
    bool fine = make_first(m, o);
    size_t i;

    for (i = 0; fine && i < o->nmembers; i++)
        fine = make_all(m, o->member[i]);
    return fine;
}

/* The hard links that pointed forwards. */
static bool make_rest(struct schema_maker *m, struct object *o)
{
    bool fine = true;
    size_t i;
    int err;

    if (!o->made) {
        err = drep_link_hard(m->file, o->target, o->path);
        fine = err ? refuse_step(m, o->at, o->path, err) : true;
    }
    for (i = 0; fine && i < o->nmembers; i++)
        fine = make_rest(m, o->member[i]);
    return fine;
}

/* ------------------------------------------------------------------ values */

static bool write_attr(struct schema_maker *m, const struct object *o, const struct attr *a)
{
    struct elements v = {0};
    int err;

    if (a->value && !elements_encode_exact(&m->encoder, a->type, a->rank, a->dims, a->value, &v))
        return false;
    err = drep_attr_write(m->file, o->path, a->name, v.type ? v.type : a->type, a->rank, a->dims,
                          v.buf);
    elements_release(&v);
    return err ? refuse_step(m, a->at, o->path, err) : true;
}

/* Make m->stored the encoder for values of this dataset. */
static int store_as(struct schema_maker *m, const struct object *o)
{
    const char *name = datarep_of(m, o) ? datarep_of(m, o) : m->datarep;

    if (m->stored_as && strcmp(m->stored_as, name) == 0)
        return 0;
    m->stored = m->encoder;
    m->stored_as = name;
    return encoder_store(&m->stored, name);
}

static bool write_data(struct schema_maker *m, const struct object *o)
{
    drep_report report = {.size = sizeof(drep_report), .first_overflow = -1, .first_nan_lost = -1};
    drep_xfer strict = DREP_XFER(.range = DREP_RANGE_STRICT, .report = &report);
    struct elements v;
    drep_dataset *ds;
    int err = store_as(m, o);

    if (err)
        return refuse_step(m, o->data, o->path, err);
    if (!elements_encode(&m->stored, o->type, o->rank, o->dims, o->data, &v))
        return false;
    err = drep_dataset_open(m->file, o->path, &ds);
    if (!err) {
        if (v.count > 0)
            err = drep_write(ds, NULL, v.type, v.buf, &strict);
        drep_dataset_close(ds);
    }
    elements_release(&v);
    if (err == DREP_ERR_CONVERSION) {
        m->err = err;
        return value_complain(&m->c, o->type, o->rank, o->data, &report, o->path);
    }
    return err ? refuse_step(m, o->data, o->path, err) : true;
}

/* Elements from another file. */
static bool load_data(struct schema_maker *m, const struct object *o)
{
    char why[SCHEMA_WHY] = "";
    drep_dataset *ds;
    int err;

    if (!m->s->load) {
        m->err = DREP_ERR_UNSUPPORTED_OPERATION;
        return complain(&m->c, o->from, "%s: reading other files is disabled", o->path);
    }
    err = drep_dataset_open(m->file, o->path, &ds);
    if (err)
        return refuse_step(m, o->from, o->path, err);
    err = m->s->load(m->s->load_ctx, &o->source, m->file, o->path, ds, why);
    drep_dataset_close(ds);
    if (!err)
        return true;
    m->err = err;
    return complain(&m->c, o->from, "%s: %s", o->path, *why ? why : "its elements cannot be read");
}

static bool write_values(struct schema_maker *m, struct object *o)
{
    bool fine = true;
    size_t i;

    for (i = 0; fine && i < o->nattrs; i++)
        fine = write_attr(m, o, &o->attr[i]);
    if (fine && o->data && !m->bare)
        fine = write_data(m, o);
    if (fine && o->from && !m->bare)
        fine = load_data(m, o);
    for (i = 0; fine && i < o->nmembers; i++)
        fine = write_values(m, o->member[i]);
    return fine;
}

/* ---------------------------------------------------------------- the whole */

static void clear_made(struct object *o)
{
    size_t i;

    o->made = false;
    o->made_members = 0;
    for (i = 0; i < o->nmembers; i++)
        clear_made(o->member[i]);
}

/* Make everything in the open file. */
static int make_file(struct schema_maker *m)
{
    clear_made(m->s->root);
    if (make_all(m, m->s->root) && make_rest(m, m->s->root) && write_values(m, m->s->root))
        return 0;
    return m->err ? m->err : DREP_ERR_SYNTAX;
}

/* The caller's complaints are worked on in a copy and given back, whatever happens, as the maker
 * keeps them beside its encoders. */
int model_make(const struct schema *s, const struct model_target *target, struct complaints *c,
               drep_file **out)
{
    struct schema_maker m = {.s = s,
                             .c = *c,
                             .encoder = s->encoder,
                             .datarep = target->datarep,
                             .every = target->every,
                             .bare = (target->amode & DREP_HEADER_ONLY) != 0};
    int err, amode = target->amode & ~DREP_HEADER_ONLY;
    bool own = !m.datarep;

    if (own)
        m.datarep = s->datarep ? s->datarep : "internal";
    m.encoder.c = &m.c;
    m.encoder.object = object_id;
    m.encoder.ctx = &m;
    if (!reps_declare(&m.c, &s->reps))
        err = DREP_ERR_SYNTAX;
    else if ((err = drep_create(target->path, amode, m.datarep, s->hints, &m.file)))
        complain_error(&m.c, own && err == DREP_ERR_UNSUPPORTED_DATAREP ? s->datarep_at : NULL,
                       "create");
    else
        err = make_file(&m);
    if (err && m.file)
        drep_abandon(m.file);
    *c = m.c;
    if (!err)
        *out = m.file;
    return err;
}

int schema_make(const struct schema *s, const char *path, int amode, const char *datarep,
                schema_say_fn *say, void *ctx, drep_file **out)
{
    struct model_target target = {path, amode, datarep, .every = datarep != NULL};
    struct complaints c = {.say = say, .ctx = ctx};
    int err = model_make(s, &target, &c, out);

    complaints_tell(&c);
    return err;
}

int schema_create(const struct schema *s, const char *path, int amode, const char *datarep,
                  schema_say_fn *say, void *ctx)
{
    struct model_target target = {path, amode, datarep, .every = datarep != NULL};
    struct complaints c = {.say = say, .ctx = ctx};
    drep_file *file;
    int err = model_make(s, &target, &c, &file);

    if (!err) {
        err = drep_close(file);
        if (err)
            complain_error(&c, NULL, "close");
    }
    complaints_tell(&c);
    return err;
}

int schema_declare(const struct schema *s, const char **datarep, schema_say_fn *say, void *ctx)
{
    struct complaints c = {.say = say, .ctx = ctx};
    bool fine = reps_declare(&c, &s->reps);

    complaints_tell(&c);
    *datarep = s->datarep;
    return fine ? 0 : DREP_ERR_SYNTAX;
}

int schema_read(const char *text, size_t size, schema_say_fn *say, void *ctx, struct schema **out)
{
    struct schema *s = calloc(1, sizeof *s);
    int err;

    if (!s)
        return DREP_ERR_NOMEM;
    s->c = (struct complaints){.say = say, .ctx = ctx};
    err = doc_read(text, size, &s->c, &s->tree);
    if (!err && !s->tree) {
        complain(&s->c, NULL, "the schema is empty");
        err = DREP_ERR_SYNTAX;
    }
    if (!err && !model_build(s))
        err = DREP_ERR_SYNTAX;
    if (!err && s->c.said)
        err = DREP_ERR_SYNTAX;
    complaints_tell(&s->c);
    if (err) {
        schema_free(s);
        return err;
    }
    *out = s;
    return 0;
}

void schema_loader(struct schema *schema, schema_load_fn *load, void *ctx)
{
    schema->load = load;
    schema->load_ctx = ctx;
}

void schema_free(struct schema *schema)
{
    if (!schema)
        return;
    model_release(schema);
    free(schema);
}
