/* type.c - datatypes of a schema.
 *
 * Names of other types are replaced by what they stand for in the text of a one-line
 * type, which the library then reads. */
/* SPDX-License-Identifier: MIT */
#include "schema/type.h"
#include "base/vec.h"
#include "schema/suggest.h"
#include <datarep.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_DEEP 64
#define TEXT_MAX ((size_t)1 << 20) /* of a one-line type after replacing names */

void types_release(struct types *t)
{
    size_t i;

    for (i = 0; i < t->len; i++) {
        drep_type_free(t->list[i].type);
        free(t->list[i].text);
    }
    free(t->list);
    *t = (struct types){0};
}

/* Words of the one-line grammar, which cannot name types. */
static const char *const reserved_words[] = {
    "struct", "string",        "vstring",        "seq",      "opaque",  "enum",     "bool",
    "ref",    "scalar",        "object",         "region",   "fortran", "c",        "contiguous",
    "vector", "hvector",       "indexed",        "hindexed", "resized", "subarray", "darray",
    "dup",    "indexed_block", "hindexed_block", NULL};

static bool word_in(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static bool is_identifier(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

bool types_can_name(const char *name)
{
    return is_identifier(name) && !drep_code_from_name(name) && !word_in(name, reserved_words);
}

bool types_reserved(const char *name)
{
    return word_in(name, reserved_words);
}

bool types_add(struct types *t, const char *name, const struct doc *at)
{
    /* Other names are paths to objects, not words of the grammar. */
    if (!types_can_name(name))
        return true;
    if (VEC_ROOM(t->list, t->len, t->room, 1))
        return complain(t->c, at, "out of memory");
    t->list[t->len++] = (struct named_type){.name = name, .at = at};
    return true;
}

static int types_by_name(const void *a, const void *b)
{
    const struct named_type *x = a, *y = b;

    return strcmp(x->name, y->name);
}

void types_sort(struct types *t)
{
    if (t->len > 1)
        qsort(t->list, t->len, sizeof *t->list, types_by_name);
}

static struct named_type *find_type(const struct types *t, const char *name)
{
    struct named_type key = {.name = name};

    return t->len ? bsearch(&key, t->list, t->len, sizeof key, types_by_name) : NULL;
}

/* Build the type of a name, unless it has one. */
static bool resolve_type(struct types *t, struct named_type *n, const struct doc *from)
{
    bool fine;

    if (n->state == NAMED_DONE)
        return true;
    if (n->state == NAMED_WRONG)
        return false; /* has been said */
    if (n->state == NAMED_ASKED)
        return complain(t->c, from, "type \"%s\" contains itself", n->name);
    if (t->depth >= NAMES_DEEP)
        return complain(t->c, from, "types are nested deeper than %d", NAMES_DEEP);
    n->state = NAMED_ASKED;
    t->depth++;
    fine = types_get(t, n->at, &n->type);
    t->depth--;
    if (fine && drep_type_print(n->type, &n->text))
        fine = complain_error(t->c, n->at, "type");
    n->state = fine ? NAMED_DONE : NAMED_WRONG;
    return fine;
}

/* ---------------------------------------------------------- one-line types */

struct expansion {
    struct types *types;
    const struct doc *at;
    char *text;
    size_t len, room;
};

static bool expansion_append(struct expansion *e, const char *text, size_t size)
{
    if (size > TEXT_MAX - e->len)
        return complain(e->types->c, e->at, "a datatype has at most 1 MiB of text");
    if (VEC_ROOM(e->text, e->len, e->room, size + 1))
        return complain(e->types->c, e->at, "out of memory");
    memcpy(e->text + e->len, text, size);
    e->len += size;
    e->text[e->len] = '\0';
    return true;
}

static const char *skip_quoted(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p ? p + 1 : p;
}

/* Skip a bracketed group; returns its end. */
static const char *skip_group(const char *p)
{
    int open = 0;

    while (*p) {
        if (*p == '"') {
            p = skip_quoted(p);
            continue;
        }
        open += *p == '(' || *p == '{';
        open -= *p == ')' || *p == '}';
        p++;
        if (open == 0)
            break;
    }
    return p;
}

/* Expand the word at p, up to *end: a name becomes its text, all else stays. */
static bool expand_word(struct expansion *e, const char *p, const char **end)
{
    static const char *const verbatim[] = {"string", "opaque", "ref", "scalar", NULL};
    const char *next, *stop = *end;
    struct named_type *n = NULL;
    char word[256];

    for (next = stop; isspace((unsigned char)*next); next++)
        ;
    if ((size_t)(stop - p) < sizeof word) {
        memcpy(word, p, (size_t)(stop - p));
        word[stop - p] = '\0';
        if (word_in(word, verbatim) && (*next == '(' || *next == '{')) {
            *end = skip_group(next);
            return expansion_append(e, p, (size_t)(*end - p));
        }
        if (*next != ':' && *next != '=' && *next != '(' && *next != '{')
            n = find_type(e->types, word);
    }
    if (!n)
        return expansion_append(e, p, (size_t)(stop - p));
    return resolve_type(e->types, n, e->at) && expansion_append(e, n->text, strlen(n->text));
}

static bool expand_names(struct expansion *e, const char *p)
{
    const char *end;
    bool fine = expansion_append(e, "", 0);

    while (*p && fine) {
        if (*p == '"') {
            end = skip_quoted(p);
            fine = expansion_append(e, p, (size_t)(end - p));
        } else if (isalnum((unsigned char)*p) || *p == '_') {
            for (end = p; isalnum((unsigned char)*end) || *end == '_'; end++)
                ;
            fine = expand_word(e, p, &end);
        } else {
            end = p + 1;
            fine = expansion_append(e, p, 1);
        }
        p = end;
    }
    return fine;
}

/* The type that one line means, or a hint at what was meant. */
static bool complain_line(struct types *t, const struct doc *node)
{
    struct suggestion meant = {.word = is_identifier(node->text) ? node->text : ""};
    size_t i;
    int code;

    for (code = 1; code <= DREP_CODE_MAX; code++)
        suggest_word(&meant, drep_code_name(code));
    for (i = 0; i < t->len; i++)
        suggest_word(&meant, t->list[i].name);
    if (meant.best[0])
        return complain(t->c, node, "datatype \"%s\": %s (did you mean \"%s\"?)", node->text,
                        drep_error(), meant.best);
    return complain(t->c, node, "datatype \"%.200s\": %s", node->text, drep_error());
}

/* Build a type from the one-line form. The library parses it; here names of the schema are
 * replaced by their text first, except where a name alone stands for a type. */
static bool get_line(struct types *t, const struct doc *node, drep_type **out)
{
    struct expansion e = {.types = t, .at = node};
    struct named_type *n;
    const char *text;
    bool fine;

    if (!doc_string(t->c, node, &text))
        return false;
    n = find_type(t, text);
    if (n) {
        if (!resolve_type(t, n, node))
            return false;
        *out = drep_type_ref(n->type);
        return true;
    }
    fine = expand_names(&e, text);
    if (fine && drep_type_parse(e.text, out))
        fine = complain_line(t, node);
    free(e.text);
    return fine;
}

/* -------------------------------------------------------------------- maps */

/* Build a struct. Members are built even after one failed, so that all errors are reported. */
static bool get_struct(struct types *t, const struct doc *node, drep_type **out)
{
    const struct doc *members = doc_get(node, "struct");
    const drep_type **types;
    const char **names;
    drep_type *type;
    bool fine = true;
    size_t i;

    if (!doc_want(t->c, members, DOC_MAP, "a map of members"))
        return false;
    names = calloc(members->len + 1, sizeof *names);
    types = calloc(members->len + 1, sizeof *types);
    if (!names || !types)
        fine = complain(t->c, node, "out of memory");
    for (i = 0; names && types && i < members->len; i++) {
        names[i] = members->key[i]->text;
        if (types_get(t, members->item[i], &type))
            types[i] = type;
        else
            fine = false;
    }
    if (fine && drep_type_compound((int64_t)members->len, names, NULL, types, 0, out))
        fine = complain_error(t->c, node, "struct");
    for (i = 0; types && i < members->len; i++)
        drep_type_free((drep_type *)types[i]);
    free(types);
    free(names);
    return fine;
}

static bool get_enum(struct types *t, const struct doc *node, drep_type **out)
{
    const struct doc *names = doc_get(node, "enum"), *base_node = doc_get(node, "base");
    drep_type *base = NULL;
    const char **texts;
    int64_t *values;
    bool fine = true;
    size_t i;

    if (!doc_want(t->c, names, DOC_MAP, "a map of names and values"))
        return false;
    texts = calloc(names->len + 1, sizeof *texts);
    values = calloc(names->len + 1, sizeof *values);
    if (!texts || !values)
        fine = complain(t->c, node, "out of memory");
    for (i = 0; texts && values && i < names->len; i++) {
        texts[i] = names->key[i]->text;
        fine = doc_integer(t->c, names->item[i], INT64_MIN, INT64_MAX, &values[i]) && fine;
    }
    if (fine && base_node)
        fine = types_get(t, base_node, &base);
    if (fine && drep_type_enum(base ? base : DREP_INT32_T, (int64_t)names->len, texts, values, out))
        fine = complain_error(t->c, node, "enum");
    drep_type_free(base);
    free(values);
    free(texts);
    return fine;
}

static bool get_array(struct types *t, const struct doc *node, drep_type **out)
{
    const struct doc *shape = doc_get(node, "shape");
    int64_t dims[DREP_MAX_RANK];
    drep_type *base;
    bool fine = true;
    size_t i;

    if (!shape)
        return complain(t->c, node, "an array needs a shape");
    if (!doc_want(t->c, shape, DOC_LIST, "a list of lengths"))
        return false;
    if (shape->len < 1 || shape->len > DREP_MAX_RANK)
        return complain(t->c, shape, "an array has 1 to %d dimensions", DREP_MAX_RANK);
    for (i = 0; i < shape->len; i++)
        fine = doc_integer(t->c, shape->item[i], 0, INT64_MAX, &dims[i]) && fine;
    if (!fine || !types_get(t, doc_get(node, "array"), &base))
        return false;
    if (drep_type_array((int)shape->len, dims, base, out))
        fine = complain_error(t->c, node, "array");
    drep_type_free(base);
    return fine;
}

static bool get_string(struct types *t, const struct doc *node, drep_type **out)
{
    const struct doc *pad = doc_get(node, "pad");
    int64_t size;
    int how = DREP_PAD_NUL;

    if (!doc_integer(t->c, doc_get(node, "string"), 1, INT64_MAX, &size))
        return false;
    if (doc_word(pad, "nulterm"))
        how = DREP_PAD_NULTERM;
    else if (doc_word(pad, "space"))
        how = DREP_PAD_SPACE;
    else if (pad && !doc_word(pad, "nul"))
        return complain(t->c, pad, "pad is nul, nulterm or space");
    if (drep_type_string(size, how, out))
        return complain_error(t->c, node, "string");
    return true;
}

static bool get_opaque(struct types *t, const struct doc *node, drep_type **out)
{
    const struct doc *tag_node = doc_get(node, "tag");
    const char *tag = NULL;
    int64_t size;

    if (!doc_integer(t->c, doc_get(node, "opaque"), 1, INT64_MAX, &size))
        return false;
    if (tag_node && !doc_string(t->c, tag_node, &tag))
        return false;
    if (drep_type_opaque(size, tag, out))
        return complain_error(t->c, node, "opaque");
    return true;
}

static bool get_ref(struct types *t, const struct doc *node, drep_type **out)
{
    const struct doc *what = doc_get(node, "ref");

    if (!doc_word(what, "object") && !doc_word(what, "region"))
        return complain(t->c, what, "ref is object or region");
    if (drep_type_reference(doc_word(what, "region") ? DREP_REF_REGION : DREP_REF_OBJECT, out))
        return complain_error(t->c, node, "ref");
    return true;
}

static bool get_wrapped(struct types *t, const struct doc *node, drep_type **out)
{
    const struct doc *seq = doc_get(node, "seq");
    drep_type *base;
    int err;

    if (!types_get(t, seq ? seq : doc_get(node, "bool"), &base))
        return false;
    err = seq ? drep_type_sequence(base, out) : drep_type_boolean(base, out);
    drep_type_free(base);
    return err ? complain_error(t->c, node, seq ? "seq" : "bool") : true;
}

/* Build a type from the map form: the first key decides, the others must belong to it. */
static bool get_map(struct types *t, const struct doc *node, drep_type **out)
{
    enum form { STRUCT, ENUM, ARRAY, STRING, OPAQUE, REF, SEQ, BOOL, FORMS };
    static const char *const keys[FORMS][3] = {
        [STRUCT] = {"struct"},
        [ENUM] = {"enum", "base"},
        [ARRAY] = {"array", "shape"},
        [STRING] = {"string", "pad"},
        [OPAQUE] = {"opaque", "tag"},
        [REF] = {"ref"},
        [SEQ] = {"seq"},
        [BOOL] = {"bool"},
    };
    size_t i;

    for (i = 0; i < FORMS && !doc_get(node, keys[i][0]); i++)
        ;
    if (i < FORMS && !doc_keys(t->c, node, keys[i]))
        return false;
    switch (i) {
    case STRUCT:
        return get_struct(t, node, out);
    case ENUM:
        return get_enum(t, node, out);
    case ARRAY:
        return get_array(t, node, out);
    case STRING:
        return get_string(t, node, out);
    case OPAQUE:
        return get_opaque(t, node, out);
    case REF:
        return get_ref(t, node, out);
    case SEQ:
    case BOOL:
        return get_wrapped(t, node, out);
    }
    return complain(t->c, node,
                    "a datatype is one line, or a map with one of struct, enum, array, "
                    "string, opaque, ref, seq, bool");
}

bool types_get(struct types *t, const struct doc *node, drep_type **out)
{
    if (node->kind == DOC_SCALAR)
        return get_line(t, node, out);
    if (node->kind == DOC_MAP)
        return get_map(t, node, out);
    return complain(t->c, node, "expected a datatype, not a list");
}
