/* emit.c - prints a file's structure as a schema that makes it again. */
/* SPDX-License-Identifier: MIT */
#include "base/vec.h"
#include "format/utf8.h"
#include "schema/doc.h"
#include "schema/filter.h"
#include "schema/members.h"
#include "schema/number.h"
#include "schema/paths.h"
#include "schema/rep.h"
#include "schema/schema.h"
#include "schema/type.h"
#include "schema/value.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define EMIT_DEPTH (SCHEMA_DEPTH_MAX - 64) /* levels for groups; datatypes and values need some */

/* A datatype of the root group that others may be called by. */
struct alias {
    char *name, *text;
};

/* A representation of the file, as the schema calls it. */
struct rep_name {
    int number;
    bool declared; /* by the schema */
    char name[DREP_MAX_DATAREP_STRING];
};

struct emitter {
    yaml_emitter_t yaml;
    drep_file *file;
    const struct schema_print_options *options;
    int err;              /* the first failure of the output */
    struct paths visited; /* groups, and what has several links */
    struct alias *alias;
    size_t aliases, alias_room;
    struct rep_name *rep; /* those with datatypes in use, the default first */
    size_t nreps, rep_room;
    int depth;
};

/* ------------------------------------------------------------------ events */

/* libyaml writes what it takes for printable as it is; it gives whole characters.  What acts on
 * other text is in double quotes, see put_yaml_scalar(). */
static int write_shown(struct emitter *e, const char *bytes, size_t size)
{
    size_t from = 0, at = 0, n;
    char escape[16];
    uint32_t code;
    int err = 0;

    for (; at < size && !err; at += n) {
        n = utf8_next(bytes + at, size - at, &code);
        if (n < 2 || !utf8_control(code)) {
            n = n ? n : 1;
            continue;
        }
        snprintf(escape, sizeof escape, "\\u%04x", (unsigned)code);
        err = e->options->put(e->options->ctx, bytes + from, at - from);
        if (!err)
            err = e->options->put(e->options->ctx, escape, strlen(escape));
        from = at + n;
    }
    return err ? err : e->options->put(e->options->ctx, bytes + from, size - from);
}

static int write_piece(void *ctx, unsigned char *bytes, size_t size)
{
    struct emitter *e = ctx;
    int err = write_shown(e, (const char *)bytes, size);

    if (err && !e->err)
        e->err = err;
    return !err;
}

static void emit_event(struct emitter *e, yaml_event_t *event, int made)
{
    if (!made) {
        if (!e->err)
            e->err = DREP_ERR_NOMEM;
        return;
    }
    if (e->err)
        yaml_event_delete(event);
    else if (!yaml_emitter_emit(&e->yaml, event) && !e->err)
        e->err = e->yaml.error == YAML_MEMORY_ERROR ? DREP_ERR_NOMEM : DREP_ERR_IO;
}

static void put_yaml_scalar(struct emitter *e, const char *text, size_t size,
                            yaml_scalar_style_t style)
{
    yaml_event_t event;
    size_t at, n;
    uint32_t code;

    for (at = 0; at < size && style != YAML_DOUBLE_QUOTED_SCALAR_STYLE; at += n) {
        n = utf8_next(text + at, size - at, &code);
        if (n > 0 && utf8_control(code))
            style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
        n = n ? n : 1;
    }
    emit_event(e, &event,
               yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
                                            (int)size, 1, 1, style));
}

/* Text that stands for itself: quoted where it would be read as something else. */
static void put_text(struct emitter *e, const char *text, size_t size)
{
    static const char *const words[] = {"null", "Null", "NULL",  "~",     "",      "true", "True",
                                        "TRUE", "none", "false", "False", "FALSE", NULL};
    bool plain = strlen(text) == size && !number_is_integer(text) && !number_is_real(text);
    size_t i;

    for (i = 0; words[i] && plain; i++)
        plain = strcmp(words[i], text) != 0;
    put_yaml_scalar(e, text, size, plain ? YAML_ANY_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

static void put_word(struct emitter *e, const char *text)
{
    put_text(e, text, strlen(text));
}

/* A number or a keyword, never quoted. */
static void put_plain(struct emitter *e, const char *text)
{
    put_yaml_scalar(e, text, strlen(text), YAML_PLAIN_SCALAR_STYLE);
}

static void put_number(struct emitter *e, int64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, value);
    put_plain(e, text);
}

static void begin_map(struct emitter *e, bool flow)
{
    yaml_event_t event;

    emit_event(e, &event,
               yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
                                                   flow ? YAML_FLOW_MAPPING_STYLE
                                                        : YAML_BLOCK_MAPPING_STYLE));
}

static void end_map(struct emitter *e)
{
    yaml_event_t event;

    emit_event(e, &event, yaml_mapping_end_event_initialize(&event));
}

static void begin_list(struct emitter *e)
{
    yaml_event_t event;

    emit_event(
        e, &event,
        yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_FLOW_SEQUENCE_STYLE));
}

static void end_list(struct emitter *e)
{
    yaml_event_t event;

    emit_event(e, &event, yaml_sequence_end_event_initialize(&event));
}

static void put_pair(struct emitter *e, const char *key, const char *value)
{
    put_word(e, key);
    put_word(e, value);
}

static void put_lengths(struct emitter *e, const int64_t *lengths, int n)
{
    int i;

    begin_list(e);
    for (i = 0; i < n; i++) {
        if (lengths[i] == DREP_UNLIMITED)
            put_plain(e, "unlimited");
        else
            put_number(e, lengths[i]);
    }
    end_list(e);
}

/* ------------------------------------------------------------- JSON to YAML */

/* The forms of scalars. */
enum value_form {
    FORM_TYPED,  /* a type stands beside: strings as strings */
    FORM_NUMBERS /* the type follows from the value: all scalars plain, .nan for nan */
};

static unsigned hex4(const char *p)
{
    char digits[5] = {p[0], p[1], p[2], p[3], 0};

    return (unsigned)strtoul(digits, NULL, 16);
}

/* Decodes the string at *p (behind its quote) into bytes; *raw: some are not UTF-8. */
static char *json_string(const char **p, size_t *size, bool *raw)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    char *out = malloc(strlen(*p) + 1);
    const char *known;
    size_t n = 0;
    unsigned code;

    *raw = false;
    for (; out && **p && **p != '"'; (*p)++) {
        if (**p != '\\') {
            out[n++] = **p;
            continue;
        }
        (*p)++;
        known = **p ? strchr(from, **p) : NULL;
        if (known) {
            out[n++] = to[known - from];
        } else if (**p == 'u') {
            code = hex4(*p + 1);
            *p += 4;
            *raw = *raw || (code >= 0xdc80 && code <= 0xdcff);
            /* Our own text has only controls and single bytes this way. */
            if (code >= 0xdc80 && code <= 0xdcff)
                out[n++] = (char)(code & 0xff);
            else
                n = (size_t)(utf8_put(out + n, code) - out);
        } else {
            out[n++] = **p;
        }
    }
    if (**p)
        (*p)++;
    if (out)
        out[n] = '\0';
    *size = n;
    return out;
}

static void put_hex(struct emitter *e, const char *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(2 * size + 1);
    size_t i;

    if (!text) {
        e->err = DREP_ERR_NOMEM;
        return;
    }
    for (i = 0; i < size; i++) {
        text[2 * i] = digits[(unsigned char)bytes[i] >> 4];
        text[2 * i + 1] = digits[(unsigned char)bytes[i] & 15];
    }
    begin_map(e, true);
    put_plain(e, "hex");
    put_yaml_scalar(e, text, 2 * size, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    end_map(e);
    free(text);
}

static void put_json_string(struct emitter *e, const char **p, enum value_form form)
{
    char *text;
    size_t size;
    bool raw;

    (*p)++;
    text = json_string(p, &size, &raw);
    if (!text) {
        e->err = DREP_ERR_NOMEM;
        return;
    }
    if (raw)
        put_hex(e, text, size);
    else if (form == FORM_TYPED)
        put_text(e, text, size);
    else if (strcmp(text, "nan") == 0)
        put_plain(e, ".nan");
    else if (strcmp(text, "inf") == 0)
        put_plain(e, ".inf");
    else if (strcmp(text, "-inf") == 0)
        put_plain(e, "-.inf");
    else
        put_plain(e, text);
    free(text);
}

/* Emit one value of the JSON that the caller's printer made; returns its end. */
static const char *put_json(struct emitter *e, const char *p, enum value_form form)
{
    char word[512];
    size_t n = 0;
    char close;

    p += strspn(p, " \n,:");
    if (*p == '"') {
        put_json_string(e, &p, form);
        return p;
    }
    if (*p == '[' || *p == '{') {
        close = *p == '[' ? ']' : '}';
        if (*p == '[')
            begin_list(e);
        else
            begin_map(e, true);
        for (p++; *(p += strspn(p, " \n,:")) && *p != close && !e->err;)
            p = put_json(e, p, form);
        if (close == ']')
            end_list(e);
        else
            end_map(e);
        return *p ? p + 1 : p;
    }
    while (*p && !strchr(" \n,:]}", *p) && n < sizeof word - 1)
        word[n++] = *p++;
    word[n] = '\0';
    put_plain(e, word);
    return p;
}

/* Values and ends of lists in a piece of JSON are emitted as they come. */
struct json_pieces {
    struct emitter *e;
    enum value_form form;
    bool any;
    int depth; /* of lists that are open */
};

static int put_piece(void *giver, const char *p)
{
    struct json_pieces *pieces = giver;
    struct emitter *e = pieces->e;

    while (*(p += strspn(p, " \n,:")) && !e->err) {
        pieces->any = true;
        pieces->depth += (*p == '[') - (*p == ']');
        if (*p != '[' && *p != ']') {
            p = put_json(e, p, pieces->form);
            continue;
        }
        if (*p++ == '[')
            begin_list(e);
        else
            end_list(e);
    }
    return e->err;
}

/* -------------------------------------------------------------- attributes */

/* A type by its one-line form, or by the name that the root group has for it. */
static bool put_type(struct emitter *e, const drep_type *type)
{
    size_t i;
    char *text;

    if (drep_type_print(type, &text))
        return false;
    for (i = 0; i < e->aliases && strcmp(e->alias[i].text, text) != 0; i++)
        ;
    put_word(e, i < e->aliases ? e->alias[i].name : text);
    free(text);
    return true;
}

/* Numbers need no quotes where their type stands beside them. */
static enum value_form typed_form(const drep_type *type)
{
    int code = drep_type_code(type);

    if (drep_type_kind(type) != DREP_KIND_PREDEFINED || code == DREP_CODE_CHAR ||
        code == DREP_CODE_CHARACTER || code == DREP_CODE_WCHAR)
        return FORM_TYPED;
    return FORM_NUMBERS;
}

/* True if a value alone determines its type. */
static bool tells_type(const drep_attrinfo *info, enum value_form *form)
{
    int code = drep_type_code(info->type), kind = drep_type_kind(info->type);

    *form = FORM_NUMBERS;
    if (info->rank == DREP_NULL_SPACE || info->count == 0)
        return false;
    if (kind == DREP_KIND_PREDEFINED)
        return code == DREP_CODE_INT64_T || code == DREP_CODE_DOUBLE;
    if (kind == DREP_KIND_BOOLEAN)
        return drep_type_code(drep_type_member(info->type, 0)) == DREP_CODE_INT8_T;
    *form = FORM_TYPED;
    return kind == DREP_KIND_VSTRING;
}

/* Emit an attribute. A value that alone determines its type is emitted bare, so that most
 * schemas stay as short as a person would write them; else type, shape and value are spelled
 * out. */
static void put_attr(struct emitter *e, const char *path, const char *name)
{
    const struct schema_print_options *o = e->options;
    char *text = NULL;
    enum value_form form;
    drep_attrinfo info = DREP_ATTRINFO;
    int err = drep_attr_info(e->file, path, name, &info);

    if (!err && info.rank != DREP_NULL_SPACE) {
        err = o->value(o->ctx, path, name, &text);
        if (err)
            drep_attrinfo_release(&info);
    }
    if (err) {
        o->failed(o->ctx, path, err);
        return;
    }
    put_word(e, name);
    if (tells_type(&info, &form)) {
        put_json(e, text, form);
    } else {
        begin_map(e, true);
        put_plain(e, "type");
        if (!put_type(e, info.type))
            put_plain(e, "~");
        if (info.rank != 0)
            put_plain(e, "shape");
        if (info.rank == DREP_NULL_SPACE)
            put_plain(e, "null");
        else if (info.rank > 0)
            put_lengths(e, info.dims, info.rank);
        if (info.rank != DREP_NULL_SPACE && info.count > 0) {
            put_plain(e, "value");
            put_json(e, text, typed_form(info.type));
        }
        end_map(e);
    }
    free(text);
    drep_attrinfo_release(&info);
}

/* Like drep_stat(), but counts only the attributes that are printed. */
static int stat_shown(const struct emitter *e, const char *path, drep_objinfo *info)
{
    char **names;
    int err = drep_stat(e->file, path, info);

    if (err || info->attrs == 0 || e->options->notes)
        return err;
    err = attrs_list(e->file, path, false, &names, &info->attrs);
    attrs_free(names, info->attrs);
    return err;
}

static void put_attrs(struct emitter *e, const char *path, const drep_objinfo *info)
{
    char **names;
    int64_t n, i;
    int err;

    if (info->attrs == 0)
        return;
    err = attrs_list(e->file, path, e->options->notes, &names, &n);
    if (err)
        e->options->failed(e->options->ctx, path, err);
    if (n > 0) {
        put_plain(e, "attrs");
        begin_map(e, false);
        for (i = 0; i < n && !e->err; i++)
            put_attr(e, path, names[i]);
        end_map(e);
    }
    attrs_free(names, n);
}

/* ---------------------------------------------------------------- datasets */

/* A dimension by its name if the dataset finds it so, else by its address. */
static void put_dimension_name(struct emitter *e, const char *dataset, const char *address)
{
    const char *name = strchr(strrchr(address, '/'), '#') + 1;
    char *found = NULL;
    bool near =
        drep_dimension_find(e->file, dataset, name, &found) == 0 && strcmp(found, address) == 0;

    free(found);
    put_word(e, near ? name : address);
}

/* Emit the shape of a dataset. Dimensions with a name give lengths and maxima, so these are
 * emitted only where they differ from what the dimensions say. */
static void put_space(struct emitter *e, const char *path, const drep_dsinfo *info)
{
    bool named = false, shape = false, maxshape = false;
    drep_objinfo dimension = DREP_OBJINFO;
    const char *names[DREP_MAX_RANK] = {NULL};
    int64_t most;
    int d;

    for (d = 0; d < info->rank; d++) {
        most = info->dims[d];
        if (info->dim_ids[d])
            names[d] = e->options->path(e->options->ctx, info->dim_ids[d]);
        if (names[d] && drep_stat(e->file, names[d], &dimension) == 0) {
            named = true;
            most = dimension.unlimited ? DREP_UNLIMITED : dimension.len;
            shape = shape || dimension.len != info->dims[d];
        } else {
            shape = true;
        }
        maxshape = maxshape || info->maxdims[d] != most;
    }
    if (named) {
        put_plain(e, "dims");
        begin_list(e);
        for (d = 0; d < info->rank; d++) {
            if (names[d])
                put_dimension_name(e, path, names[d]);
            else
                put_plain(e, "null");
        }
        end_list(e);
    }
    if (shape || info->rank == DREP_NULL_SPACE)
        put_plain(e, "shape");
    if (info->rank == DREP_NULL_SPACE)
        put_plain(e, "null");
    else if (shape)
        put_lengths(e, info->dims, info->rank);
    if (maxshape) {
        put_plain(e, "maxshape");
        put_lengths(e, info->maxdims, info->rank);
    }
}

/* A user's filter has any number of them. */
static void put_parameters(struct emitter *e, const drep_filter *f)
{
    begin_list(e);
    for (int k = 0; k < f->nparams; k++)
        put_number(e, f->params[k]);
    end_list(e);
}

/* Emit the filters: the name alone where the parameters follow from the datatype or are the
 * defaults. */
static void put_filters(struct emitter *e, const drep_dsinfo *info)
{
    char name[FILTER_TEXT];
    bool listed;
    int i;

    put_plain(e, "filters");
    begin_list(e);
    for (i = 0; i < info->nfilters; i++) {
        const drep_filter *f = &info->filters[i];

        filter_text(f, name);
        listed = f->name || f->id >= DREP_FILTER_HDF5;
        if (!listed && (f->id < DREP_FILTER_DEFLATE || f->nparams == 0)) {
            put_word(e, name);
            continue;
        }
        begin_map(e, true);
        put_word(e, name);
        if (listed)
            put_parameters(e, f);
        else
            put_number(e, f->param[0]);
        end_map(e);
    }
    end_list(e);
}

static void put_fill(struct emitter *e, const char *path, const drep_dsinfo *info)
{
    const struct schema_print_options *o = e->options;
    char *text;
    int err;

    if (info->fill == DREP_FILL_NONE) {
        put_plain(e, "fill");
        put_plain(e, "none");
    }
    if (info->fill != DREP_FILL_VALUE)
        return;
    err = o->value(o->ctx, path, NULL, &text);
    if (err) {
        o->failed(o->ctx, path, err);
        return;
    }
    put_plain(e, "fill");
    put_json(e, text, typed_form(info->type));
    free(text);
}

/* The layout where it has to be said: others may make compact datasets that grow and
 * contiguous ones of variable length, the library does not. */
static const char *layout_name(const drep_dsinfo *info)
{
    int d;

    if (info->layout == DREP_CONTIGUOUS && !drep_type_variable(info->type))
        return "contiguous";
    for (d = 0; d < info->rank; d++)
        if (info->maxdims[d] != info->dims[d])
            return NULL;
    return info->layout == DREP_COMPACT ? "compact" : NULL;
}

/* Emit the representation of a dataset where it is not the file's default. */
static void put_rep_name(struct emitter *e, int number)
{
    size_t i;

    for (i = 0; number != 0 && i < e->nreps; i++)
        if (e->rep[i].number == number)
            put_pair(e, "datarep", e->rep[i].name);
}

/* Elements that were never written are left out. */
static void put_data(struct emitter *e, const char *path, const drep_dsinfo *info,
                     const drep_dsusage *usage)
{
    const struct schema_print_options *o = e->options;
    struct json_pieces pieces = {.e = e, .form = typed_form(info->type)};
    int err;

    if (!o->data || info->rank == DREP_NULL_SPACE || info->count == 0 || usage->bytes == 0)
        return;
    put_plain(e, "data");
    err = o->data(o->ctx, path, put_piece, &pieces);
    if (err && !e->err)
        o->failed(o->ctx, path, err);
    /* A list of too few elements, or null, is refused by whoever reads it. */
    if (!pieces.any)
        put_plain(e, "null");
    while (pieces.depth-- > 0)
        end_list(e);
}

/* Emit a dataset. Its map is closed whatever fails, so that the document stays well formed and
 * shows the rest of the file. */
static void put_dataset(struct emitter *e, const char *path, const drep_objinfo *object)
{
    const struct schema_print_options *o = e->options;
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    drep_dsusage usage = DREP_DSUSAGE;
    drep_type *placed = NULL;
    int err = drep_dataset_open(e->file, path, &ds);

    begin_map(e, false);
    if (!err) {
        err = drep_dataset_info(ds, &info);
        if (!err)
            err = drep_dataset_placed(ds, &placed);
        if (!err && o->data)
            err = drep_dataset_usage(ds, &usage);
        if (!err) {
            put_plain(e, "dataset");
            put_type(e, placed ? placed : info.type);
            if (placed) {
                put_plain(e, "placed");
                put_plain(e, "true");
            }
            put_rep_name(e, info.datarep_number);
            put_space(e, path, &info);
        }
        if (!err && info.rank != DREP_NULL_SPACE) {
            if (layout_name(&info))
                put_pair(e, "layout", layout_name(&info));
            if (info.layout == DREP_CHUNKED) {
                put_plain(e, "chunk");
                put_lengths(e, info.chunk, info.rank);
            }
            if (info.nfilters > 0)
                put_filters(e, &info);
        }
        if (!err)
            put_fill(e, path, &info);
        drep_type_free(placed);
        drep_dataset_close(ds);
    }
    if (err)
        o->failed(o->ctx, path, err);
    else
        put_attrs(e, path, object);
    if (!err)
        put_data(e, path, &info, &usage);
    end_map(e);
}

/* ------------------------------------------------------------------ objects */

static void put_named_type(struct emitter *e, const char *path, const drep_objinfo *object)
{
    drep_type *type;
    char *text = NULL;
    int err = drep_type_open(e->file, path, &type);

    begin_map(e, false);
    if (!err) {
        err = drep_type_print(type, &text);
        drep_type_free(type);
    }
    if (err) {
        e->options->failed(e->options->ctx, path, err);
    } else {
        put_pair(e, "type", text);
        free(text);
        put_attrs(e, path, object);
    }
    end_map(e);
}

static void put_length(struct emitter *e, const drep_objinfo *object)
{
    if (object->unlimited && object->len == 0)
        put_plain(e, "unlimited");
    else
        put_number(e, object->len);
}

static void put_dimension(struct emitter *e, const struct member *m)
{
    drep_objinfo object = DREP_OBJINFO;
    int err = member_later(e->file, m->target, m);

    if (!err)
        err = stat_shown(e, m->target, &object);
    if (err) {
        e->options->failed(e->options->ctx, m->target, err);
        return;
    }
    put_word(e, m->name);
    if (object.attrs == 0 && (!object.unlimited || object.len == 0)) {
        put_length(e, &object);
        return;
    }
    begin_map(e, object.attrs == 0);
    put_plain(e, "length");
    put_length(e, &object);
    if (object.unlimited && object.len > 0) {
        put_plain(e, "unlimited");
        put_plain(e, "true");
    }
    put_attrs(e, m->target, &object);
    end_map(e);
}

/* The dimensions of a group. */
static void put_dimensions(struct emitter *e, const char *group)
{
    struct members dims = {0};
    int err = dimensions_list(&dims, e->file, group, DREP_BY_CREATION);

    if (err)
        e->options->failed(e->options->ctx, group, err);
    if (dims.len > 0) {
        put_plain(e, "dims");
        begin_map(e, false);
        for (size_t i = 0; i < dims.len && !e->err; i++)
            put_dimension(e, &dims.list[i]);
        end_map(e);
    }
    members_release(&dims);
}

static void put_link(struct emitter *e, const char *kind, const char *file, const char *target)
{
    begin_map(e, true);
    put_pair(e, "link", kind);
    if (file)
        put_pair(e, "file", file);
    put_pair(e, "target", target);
    end_map(e);
}

/* Path where the object was printed before; NULL, and remembered, if it was not. */
static const char *visited_path(struct emitter *e, const drep_objinfo *object, const char *path)
{
    const char *before = NULL;

    if ((object->links > 1 || object->kind == DREP_OBJ_GROUP) &&
        paths_add(&e->visited, object->id, path, &before))
        e->err = DREP_ERR_NOMEM;
    return before;
}

static void put_group(struct emitter *e, const char *path, const drep_objinfo *object);

/* The object itself, or a link to where it was printed. */
static void put_object(struct emitter *e, const char *path, const char *name)
{
    const struct schema_print_options *o = e->options;
    drep_objinfo object = DREP_OBJINFO;
    const char *before;
    int err = stat_shown(e, path, &object);

    if (err) {
        o->failed(o->ctx, path, err);
        return;
    }
    put_word(e, name);
    before = visited_path(e, &object, path);
    if (before)
        put_link(e, "hard", NULL, before);
    else if (object.kind == DREP_OBJ_DATASET)
        put_dataset(e, path, &object);
    else if (object.kind == DREP_OBJ_TYPE)
        put_named_type(e, path, &object);
    else
        put_group(e, path, &object);
}

static void put_member(struct emitter *e, const char *group, const struct member *m)
{
    char *path;
    int err;

    if (m->link == DREP_LINK_SOFT || m->link == DREP_LINK_EXTERNAL) {
        put_word(e, m->name);
        put_link(e, m->link == DREP_LINK_SOFT ? "soft" : "external",
                 m->link == DREP_LINK_SOFT ? NULL : m->target_file, m->target);
        return;
    }
    path = path_of_member(group, m->name);
    if (!path) {
        e->err = DREP_ERR_NOMEM;
        return;
    }
    err = member_later(e->file, path, m);
    if (err)
        e->options->failed(e->options->ctx, path, err);
    else
        put_object(e, path, m->name);
    free(path);
}

/* True if a member's name is a keyword of schemas. */
static bool has_keyword(const struct members *m)
{
    static const char *const words[] = {"dataset", "dims",  "type", "link",
                                        "members", "attrs", NULL};
    size_t i, k;

    for (i = 0; i < m->len; i++)
        for (k = 0; words[k]; k++)
            if (m->list[i].name && strcmp(m->list[i].name, words[k]) == 0)
                return true;
    return false;
}

/* Emit a group and its members, once. Members whose names are keywords need a map of their own;
 * depth counts against the limit of the schema reader. */
static void put_group(struct emitter *e, const char *path, const drep_objinfo *object)
{
    const struct schema_print_options *o = e->options;
    struct members members = {0};
    bool explicit;
    size_t i;
    int levels, err = members_list(&members, e->file, path, DREP_BY_CREATION);

    if (err)
        o->failed(o->ctx, path, err);
    explicit = has_keyword(&members);
    begin_map(e, object->attrs == 0 && members.len == 0);
    put_attrs(e, path, object);
    if (strcmp(path, "/") != 0) /* those of the root stand before it */
        put_dimensions(e, path);
    if (explicit) {
        put_plain(e, "members");
        begin_map(e, false);
    }
    levels = explicit ? 2 : 1;
    if (e->depth > EMIT_DEPTH - levels && members.len > 0) {
        o->failed(o->ctx, path, SCHEMA_DEEP);
    } else if (!err) {
        e->depth += levels;
        for (i = 0; i < members.len && !e->err; i++)
            put_member(e, path, &members.list[i]);
        e->depth -= levels;
    }
    if (explicit)
        end_map(e);
    end_map(e);
    members_release(&members);
}

/* -------------------------------------------------------------------- head */

/* True if the schema has to declare the representation; also one of a machine unknown here. */
static bool must_declare(const char *name, const char *form, const drep_encoding *rows, int n)
{
    if (strcmp(form, "table") != 0 || strcmp(name, "external32") == 0 ||
        strcmp(name, "internal") == 0 || strcmp(name, "native") == 0)
        return false;
    return strncmp(name, "native:", 7) != 0 || !rep_same_rows(name, rows, n);
}

struct machine_search {
    const drep_encoding *rows;
    int n;
    char *name;
    size_t size;
};

static int same_machine(const char *name, const char *form, void *ctx)
{
    struct machine_search *m = ctx;

    (void)form;
    if (strncmp(name, "native:", 7) != 0 || !rep_same_rows(name, m->rows, m->n))
        return 0;
    snprintf(m->name, m->size, "%s", name);
    return 1;
}

/* `native` is another table on another machine: then that machine's has to be named. */
static void name_machine(const drep_encoding *rows, int n, char *name, size_t size)
{
    struct machine_search m = {.rows = rows, .n = n, .name = name, .size = size};

    if (strcmp(name, "native") == 0 && !rep_same_rows(name, rows, n))
        drep_datarep_walk(same_machine, &m);
}

static void put_custom(struct emitter *e, int number, const drep_encoding *row)
{
    const drep_scalar *scalars;
    drep_type *type;
    char *text;
    int n;

    if (drep_header_scalars(e->file, number, &scalars, &n) || row->custom >= n ||
        drep_type_scalar(&scalars[row->custom], &type))
        return;
    if (drep_type_print(type, &text) == 0) {
        put_pair(e, "scalar", text);
        free(text);
    }
    drep_type_free(type);
}

static void put_row(struct emitter *e, int number, const drep_encoding *row)
{
    static const char *const orders[] = {"big", "little", "vax"};

    put_word(e, drep_code_name(row->code));
    begin_map(e, true);
    if (row->format == DREP_FORMAT_CUSTOM)
        put_custom(e, number, row);
    else
        put_pair(e, "format", drep_format_name(row->format));
    put_plain(e, "size");
    put_number(e, row->size);
    if (row->size > 1)
        put_pair(e, "order", orders[row->order]);
    if (row->align > 1) {
        put_plain(e, "align");
        put_number(e, row->align);
    }
    end_map(e);
}

/* False for an encoding that a newer version wrote: each dataset that has it says so. */
static bool row_known(const drep_encoding *row)
{
    bool format = row->format == DREP_FORMAT_CUSTOM || drep_format_name(row->format);

    return format && drep_code_name(row->code) && row->order <= DREP_VAX;
}

/* Number of these rows that a representation has unchanged. */
static int count_alike(const char *name, const drep_encoding *rows, int n)
{
    int i, same = 0;

    for (i = 0; i < n; i++)
        same += rows[i].size > 1 && rep_same_rows(name, &rows[i], 1);
    return same;
}

/* True if another representation has the name, and the k-th has to give way. */
static bool name_taken(const struct emitter *e, size_t k)
{
    size_t i;

    for (i = 0; i < e->nreps; i++)
        if ((i < k || !e->rep[i].declared) && strcmp(e->rep[i].name, e->rep[k].name) == 0)
            return true;
    return false;
}

/* Tables of one name may differ in a file, but not in a schema: add "-2" to the name of the k-th
 * representation, or "-3". */
static void name_apart(const struct emitter *e, size_t k)
{
    char *name = e->rep[k].name, end[16];
    size_t size = strlen(name), most = DREP_MAX_DATAREP_STRING - sizeof end;
    int i;

    if (size > most)
        for (size = most; ((unsigned char)name[size] & 0xc0) == 0x80;) /* in a character */
            size--;
    for (i = 2; name_taken(e, k); i++) {
        snprintf(end, sizeof end, "-%d", i);
        memcpy(name + size, end, strlen(end) + 1);
    }
}

/* Name a representation of the file, unless no datatype is in use in it: then no dataset has it,
 * and only the default has to be said. */
static int add_rep(struct emitter *e, const drep_repinfo *info)
{
    const drep_encoding *rows;
    struct rep_name *rep;
    int n, err = drep_header_types(e->file, info->number, &rows, &n);

    if (err || (n == 0 && info->number != 0))
        return err;
    if (VEC_ROOM(e->rep, e->nreps, e->rep_room, 1))
        return DREP_ERR_NOMEM;
    rep = &e->rep[e->nreps];
    *rep = (struct rep_name){.number = info->number};
    snprintf(rep->name, sizeof rep->name, "%s", info->name);
    name_machine(rows, n, rep->name, sizeof rep->name);
    rep->declared = must_declare(rep->name, info->form, rows, n);
    if (rep->declared && strncmp(rep->name, "native:", 7) == 0) /* none of ours to declare */
        memmove(rep->name, rep->name + 7, strlen(rep->name + 7) + 1);
    e->nreps++;
    return 0;
}

static int find_reps(struct emitter *e)
{
    drep_repinfo *list;
    size_t k;
    int i, n, err = file_datareps(e->file, &list, &n);

    for (i = 0; i < n && !err; i++)
        err = add_rep(e, &list[i]);
    free(list);
    for (k = 0; k < e->nreps; k++)
        if (e->rep[k].declared && name_taken(e, k))
            name_apart(e, k);
    return err;
}

/* Emit a declaration. Rows that equal those of the base are repeated: the base only serves types
 * that come later, which are likely to be like those that are there. */
static void put_declaration(struct emitter *e, const struct rep_name *rep)
{
    const drep_encoding *rows;
    int i, n;

    if (drep_header_types(e->file, rep->number, &rows, &n))
        return;
    put_word(e, rep->name);
    begin_map(e, false);
    put_pair(e, "base",
             count_alike("internal", rows, n) > count_alike("external32", rows, n) ? "internal"
                                                                                   : "external32");
    put_plain(e, "types");
    begin_map(e, false);
    for (i = 0; i < n; i++)
        if (row_known(&rows[i]))
            put_row(e, rep->number, &rows[i]);
    end_map(e);
    end_map(e);
}

/* Emit the default representation, and the declarations of those that no reader could know. */
static void put_datareps(struct emitter *e)
{
    int err = find_reps(e);
    bool any = false;
    size_t i;

    if (err || e->nreps == 0) {
        e->options->failed(e->options->ctx, NULL, err);
        return;
    }
    put_pair(e, "datarep", e->rep[0].name);
    for (i = 0; i < e->nreps; i++) {
        if (!e->rep[i].declared)
            continue;
        if (!any) {
            put_plain(e, "datareps");
            begin_map(e, false);
        }
        any = true;
        put_declaration(e, &e->rep[i]);
    }
    if (any)
        end_map(e);
}

static void put_hints(struct emitter *e)
{
    drep_info *info = NULL;
    int i, err = drep_header_hints(e->file, &info);

    if (err) {
        e->options->failed(e->options->ctx, NULL, err);
        return;
    }
    if (drep_info_count(info) > 0) {
        put_plain(e, "hints");
        begin_map(e, false);
        for (i = 0; i < drep_info_count(info); i++)
            put_pair(e, drep_info_key(info, i), drep_info_get(info, drep_info_key(info, i)));
        end_map(e);
    }
    drep_info_free(info);
}

/* ----------------------------------------------------------------- aliases */

/* Types of the root group that are worth a name: structs and enums. */
static void find_aliases(struct emitter *e)
{
    struct members members = {0};
    drep_type *type;
    size_t i;
    char *text;

    if (members_list(&members, e->file, "/", DREP_BY_CREATION) == 0) {
        for (i = 0; i < members.len; i++) {
            if (members.list[i].link != DREP_LINK_HARD || !types_can_name(members.list[i].name) ||
                drep_type_open(e->file, members.list[i].name, &type))
                continue;
            if (drep_type_print(type, &text) == 0) {
                if (strchr(text, '{') && VEC_ROOM(e->alias, e->aliases, e->alias_room, 1) == 0)
                    e->alias[e->aliases++] =
                        (struct alias){.name = strdup(members.list[i].name), .text = text};
                else
                    free(text);
            }
            drep_type_free(type);
        }
    }
    members_release(&members);
}

static void emitter_release(struct emitter *e)
{
    size_t i;

    paths_release(&e->visited);
    for (i = 0; i < e->aliases; i++) {
        free(e->alias[i].name);
        free(e->alias[i].text);
    }
    free(e->alias);
    free(e->rep);
    yaml_emitter_delete(&e->yaml);
}

int schema_print(drep_file *file, const struct schema_print_options *options)
{
    struct emitter e = {.file = file, .options = options};
    yaml_event_t event;

    if (!yaml_emitter_initialize(&e.yaml))
        return DREP_ERR_NOMEM;
    yaml_emitter_set_output(&e.yaml, write_piece, &e);
    yaml_emitter_set_unicode(&e.yaml, 1);
    yaml_emitter_set_width(&e.yaml, 96);
    find_aliases(&e);
    emit_event(&e, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit_event(&e, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    begin_map(&e, false);
    put_datareps(&e);
    put_hints(&e);
    put_dimensions(&e, "/");
    put_object(&e, "/", "root");
    end_map(&e);
    emit_event(&e, &event, yaml_document_end_event_initialize(&event, 1));
    emit_event(&e, &event, yaml_stream_end_event_initialize(&event));
    emitter_release(&e);
    return e.err;
}
