/* rep.c - reads declared data representations. */
/* SPDX-License-Identifier: MIT */
#include "schema/rep.h"
#include "base/vec.h"
#include <stdlib.h>
#include <string.h>

struct rep_reader {
    struct complaints *c;
    struct rep *rep;
    int order; /* -1: the base's */
    drep_encoding base[DREP_CODE_MAX];
    int nbase;
};

static bool read_order(struct complaints *c, const struct doc *node, int *out)
{
    if (doc_word(node, "big"))
        *out = DREP_BIG;
    else if (doc_word(node, "little"))
        *out = DREP_LITTLE;
    else if (doc_word(node, "vax"))
        *out = DREP_VAX;
    else
        return complain(c, node, "order is big, little or vax");
    return true;
}

/* A custom scalar, in the one-line form; its index in the representation. */
static bool read_scalar(struct rep_reader *r, const struct doc *node, drep_encoding *row)
{
    const drep_scalar *desc;
    drep_type *type;
    const char *text;
    bool fine = true;

    if (!doc_string(r->c, node, &text))
        return false;
    if (drep_type_parse(text, &type))
        return complain_error(r->c, node, "scalar");
    desc = drep_type_scalar_desc(type);
    if (!desc || drep_type_kind(type) != DREP_KIND_SCALAR) {
        fine = complain(r->c, node, "expected scalar{custom,...}");
    } else if (r->rep->nscalars >= 255) {
        fine = complain(r->c, node, "more than 255 scalars");
    } else if (VEC_ROOM(r->rep->scalar, (size_t)r->rep->nscalars, r->rep->room, 1)) {
        fine = complain(r->c, node, "out of memory");
    } else {
        r->rep->scalar[r->rep->nscalars] = *desc;
        row->format = DREP_FORMAT_CUSTOM;
        row->custom = (uint8_t)r->rep->nscalars++;
        row->order = desc->order;
        row->size = desc->size;
    }
    drep_type_free(type);
    return fine;
}

/* Two scalars of its format, rather than one. */
static bool is_complex(const drep_encoding *row)
{
    const drep_format_info *f = drep_format_describe(row->format);

    return f && f->cls == DREP_SCALAR_REAL && row->size == 2 * f->size;
}

static bool read_format(struct rep_reader *r, const struct doc *node, drep_encoding *row)
{
    const drep_format_info *f;
    const char *name;

    if (!doc_string(r->c, node, &name))
        return false;
    f = drep_format_describe(drep_format_from_name(name));
    if (!f || f->format == DREP_FORMAT_CUSTOM)
        return complain(r->c, node, "unknown format \"%s\"", name);
    if (f->size)
        row->size = (uint8_t)(is_complex(row) ? 2 * f->size : f->size);
    row->format = (uint8_t)f->format;
    if (f->vax)
        row->order = DREP_VAX;
    return true;
}

/* {format: ..., size: ..., order: ..., align: ..., scalar: ...}, or a format alone. */
static bool read_row(struct rep_reader *r, const struct doc *node, drep_encoding *row)
{
    static const char *const keys[] = {"format", "size", "order", "align", "scalar", NULL};
    const struct doc *item;
    int64_t number;
    bool fine;
    int order;

    if (r->order >= 0)
        row->order = (uint8_t)r->order;
    if (node->kind == DOC_SCALAR)
        return read_format(r, node, row);
    if (!doc_want(r->c, node, DOC_MAP, "a format, or a map"))
        return false;
    fine = doc_keys(r->c, node, keys);
    item = doc_get(node, "format");
    if (item)
        fine = read_format(r, item, row) && fine;
    item = doc_get(node, "scalar");
    if (item)
        fine = read_scalar(r, item, row) && fine;
    item = doc_get(node, "size");
    if (item && doc_integer(r->c, item, 1, 32, &number))
        row->size = (uint8_t)number;
    else if (item)
        fine = false;
    item = doc_get(node, "align");
    if (item && doc_integer(r->c, item, 1, 16, &number))
        row->align = (uint8_t)number;
    else if (item)
        fine = false;
    item = doc_get(node, "order");
    if (item && read_order(r->c, item, &order))
        row->order = (uint8_t)order;
    else if (item)
        fine = false;
    return fine;
}

/* Read the rows of a representation: each starts as its base's row, packed, and is changed by
 * its keys. */
static bool read_rows(struct rep_reader *r, const struct doc *types)
{
    drep_encoding row;
    bool fine = true;
    size_t i;
    int code, k;

    if (!types)
        return true;
    if (!doc_want(r->c, types, DOC_MAP, "a map of datatypes"))
        return false;
    for (i = 0; i < types->len; i++) {
        code = drep_code_from_name(types->key[i]->text);
        for (k = 0; k < r->nbase && r->base[k].code != code; k++)
            ;
        if (!code || k == r->nbase) {
            fine = complain(r->c, types->key[i], "unknown datatype \"%s\"", types->key[i]->text);
            continue;
        }
        row = r->base[k];
        row.align = 1;
        if (!read_row(r, types->item[i], &row))
            fine = false;
        else
            r->rep->row[r->rep->nrows++] = row;
    }
    return fine;
}

/* An order that is not the base's holds for the types that no row names, too. */
static void add_order(struct rep_reader *r)
{
    int i, k, named = r->rep->nrows;

    if (r->order != DREP_BIG && r->order != DREP_LITTLE)
        return;
    for (i = 0; i < r->nbase; i++) {
        for (k = 0; k < named && r->rep->row[k].code != r->base[i].code; k++)
            ;
        if (k < named || r->base[i].size == 1 || r->base[i].order == r->order)
            continue;
        r->rep->row[r->rep->nrows] = r->base[i];
        r->rep->row[r->rep->nrows++].order = (uint8_t)r->order;
    }
}

static bool read_rep(struct complaints *c, const struct doc *node, struct rep *rep)
{
    static const char *const keys[] = {"order", "base", "types", NULL};
    const struct doc *order = doc_get(node, "order"), *base = doc_get(node, "base");
    struct rep_reader r = {.c = c, .rep = rep, .order = -1};
    bool fine;

    if (!doc_want(c, node, DOC_MAP, "a map with order, base, types"))
        return false;
    fine = doc_keys(c, node, keys);
    if (order && !read_order(c, order, &r.order))
        fine = false;
    rep->base = r.order == DREP_BIG ? "external32" : "internal";
    if (base && !doc_string(c, base, &rep->base))
        return false;
    if (drep_datarep_table(rep->base, r.base, DREP_CODE_MAX, &r.nbase) || r.nbase == 0)
        return complain(c, base ? base : node, "base \"%s\" is not a table of encodings",
                        rep->base);
    if (r.nbase > DREP_CODE_MAX)
        r.nbase = DREP_CODE_MAX;
    fine = read_rows(&r, doc_get(node, "types")) && fine;
    add_order(&r);
    return fine;
}

bool reps_read(struct complaints *c, const struct doc *node, struct schema_reps *out)
{
    bool fine = true;
    size_t i;

    if (!doc_want(c, node, DOC_MAP, "a map of data representations"))
        return false;
    out->list = calloc(node->len + 1, sizeof *out->list);
    if (!out->list)
        return complain(c, node, "out of memory");
    out->len = node->len;
    for (i = 0; i < node->len; i++) {
        out->list[i].name = node->key[i]->text;
        out->list[i].at = node->key[i];
        fine = read_rep(c, node->item[i], &out->list[i]) && fine;
    }
    return fine;
}

bool reps_declare(struct complaints *c, const struct schema_reps *reps)
{
    bool fine = true;
    size_t i;
    int err;

    for (i = 0; i < reps->len; i++) {
        const struct rep *rep = &reps->list[i];

        err = drep_declare_datarep(rep->name, rep->base, rep->row, rep->nrows, rep->scalar,
                                   rep->nscalars);
        if (err)
            fine = complain_error(c, rep->at, "datarep");
    }
    return fine;
}

void reps_release(struct schema_reps *reps)
{
    size_t i;

    for (i = 0; i < reps->len; i++)
        free(reps->list[i].scalar);
    free(reps->list);
    *reps = (struct schema_reps){0};
}

bool rep_same_rows(const char *name, const drep_encoding *rows, int n)
{
    drep_encoding known[DREP_CODE_MAX];
    int i, k, nknown;

    if (drep_datarep_table(name, known, DREP_CODE_MAX, &nknown) || nknown > DREP_CODE_MAX)
        return false;
    for (i = 0; i < n; i++) {
        for (k = 0; k < nknown && known[k].code != rows[i].code; k++)
            ;
        if (k == nknown || known[k].format != rows[i].format ||
            (known[k].order != rows[i].order && rows[i].size > 1) ||
            known[k].size != rows[i].size || known[k].align != rows[i].align)
            return false;
    }
    return true;
}
