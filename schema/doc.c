/* doc.c - reads YAML into a tree, within limits, and takes it apart politely. */
#include "schema/doc.h"
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define KEPT_MAX 100

static int by_place(const void *a, const void *b)
{
    const struct complaint *x = a, *y = b;

    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->number - y->number;
}

void complaints_tell(struct complaints *c)
{
    int i;

    if (c->kept > 1)
        qsort(c->list, (size_t)c->kept, sizeof *c->list, by_place);
    for (i = 0; i < c->kept; i++) {
        const struct complaint *one = &c->list[i];

        c->say(c->ctx, one->line, one->column, one->message ? one->message : "out of memory");
        free(c->list[i].message);
    }
    if (c->said > c->kept)
        c->say(c->ctx, 0, 0, "more is wrong; the rest is not shown");
    free(c->list);
    c->list = NULL;
    c->kept = c->cap = c->said = 0;
}

static bool room(struct complaints *c)
{
    struct complaint *list;
    int cap = c->cap ? 2 * c->cap : KEPT_MAX;

    if (c->kept < c->cap)
        return true;
    if ((c->cap && !c->all) || cap > INT_MAX / 4)
        return false;
    list = realloc(c->list, (size_t)cap * sizeof *list);
    if (!list)
        return false;
    c->list = list;
    c->cap = cap;
    return true;
}

bool complain(struct complaints *c, const struct doc *at, const char *format, ...)
{
    char message[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (room(c)) {
        c->list[c->kept] = (struct complaint){.line = at ? at->line : 0,
                                              .column = at ? at->column : 0,
                                              .number = c->kept,
                                              .message = strdup(message)};
        c->kept++;
    }
    c->said++;
    return false;
}

bool complain_error(struct complaints *c, const struct doc *at, const char *what)
{
    return complain(c, at, "%s: %s", what, drep_error());
}

/* ----------------------------------------------------------------- reading */

struct reading {
    yaml_parser_t parser;
    struct complaints *c;
    size_t nodes;
    int err;
};

void doc_free(struct doc *node)
{
    size_t i;

    if (!node)
        return;
    for (i = 0; i < node->len; i++) {
        doc_free(node->item[i]);
        if (node->key)
            doc_free(node->key[i]);
    }
    free(node->item);
    free(node->key);
    free(node->text);
    free(node);
}

static void stop_at(struct reading *r, const yaml_mark_t *mark, const char *message)
{
    struct doc at = {.line = (int)mark->line + 1, .column = (int)mark->column + 1};

    if (!r->err)
        complain(r->c, &at, "%s", message);
    r->err = DREP_ERR_SYNTAX;
}

/* The next event; false after complaining. */
static bool next(struct reading *r, yaml_event_t *event)
{
    const yaml_parser_t *p = &r->parser;
    char message[256];

    if (r->err)
        return false;
    if (yaml_parser_parse(&r->parser, event))
        return true;
    if (p->error == YAML_MEMORY_ERROR) {
        r->err = DREP_ERR_NOMEM;
        return false;
    }
    snprintf(message, sizeof message, "%s%s%s", p->problem ? p->problem : "not YAML",
             p->context ? ", " : "", p->context ? p->context : "");
    stop_at(r, &p->problem_mark, message);
    return false;
}

static struct doc *new_node(struct reading *r, enum doc_kind kind, const yaml_mark_t *mark)
{
    struct doc *node = NULL;

    if (++r->nodes > SCHEMA_NODES_MAX)
        stop_at(r, mark, "a schema has at most 1000000 nodes");
    else
        node = calloc(1, sizeof *node);
    if (!node) {
        if (!r->err)
            r->err = DREP_ERR_NOMEM;
        return NULL;
    }
    node->kind = kind;
    node->line = (int)mark->line + 1;
    node->column = (int)mark->column + 1;
    return node;
}

static struct doc *build_scalar(struct reading *r, const yaml_event_t *event)
{
    struct doc *node = new_node(r, DOC_SCALAR, &event->start_mark);

    if (!node)
        return NULL;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->size = event->data.scalar.length;
    node->text = malloc(node->size + 1);
    if (!node->text) {
        r->err = DREP_ERR_NOMEM;
        free(node);
        return NULL;
    }
    memcpy(node->text, event->data.scalar.value, node->size);
    node->text[node->size] = '\0';
    return node;
}

static bool add_child(struct reading *r, struct doc *node, struct doc *key, struct doc *item)
{
    size_t cap = node->cap ? 2 * node->cap : 8;
    struct doc **grown;

    if (node->len == node->cap) {
        grown = realloc(node->item, cap * sizeof *grown);
        if (grown)
            node->item = grown;
        if (grown && key) {
            grown = realloc(node->key, cap * sizeof *grown);
            if (grown)
                node->key = grown;
        }
        if (!grown) {
            r->err = DREP_ERR_NOMEM;
            return false;
        }
        node->cap = cap;
    }
    if (key)
        node->key[node->len] = key;
    node->item[node->len++] = item;
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    const struct doc *x = *(struct doc *const *)a, *y = *(struct doc *const *)b;
    size_t size = x->size < y->size ? x->size : y->size;
    int order = memcmp(x->text, y->text, size);

    if (order)
        return order;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->line != y->line ? x->line - y->line : x->column - y->column;
}

static void refuse_duplicates(struct reading *r, const struct doc *map)
{
    struct doc **sorted;
    size_t i;

    if (map->len < 2)
        return;
    sorted = malloc(map->len * sizeof *sorted);
    if (!sorted) {
        r->err = DREP_ERR_NOMEM;
        return;
    }
    memcpy(sorted, map->key, map->len * sizeof *sorted);
    qsort(sorted, map->len, sizeof *sorted, compare_keys);
    for (i = 1; i < map->len; i++)
        if (sorted[i]->size == sorted[i - 1]->size &&
            memcmp(sorted[i]->text, sorted[i - 1]->text, sorted[i]->size) == 0)
            complain(r->c, sorted[i], "key \"%s\" stands here twice, first in line %d",
                     sorted[i]->text, sorted[i - 1]->line);
    free(sorted);
}

static struct doc *build(struct reading *r, yaml_event_t *event, int depth);

/* The items of a list or the pairs of a map, up to its end. */
static void build_children(struct reading *r, struct doc *node, int depth)
{
    yaml_event_type_t end =
        node->kind == DOC_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    struct doc *key = NULL, *item;
    yaml_event_t event;
    yaml_mark_t mark;

    while (next(r, &event)) {
        if (event.type == end) {
            yaml_event_delete(&event);
            break;
        }
        if (node->kind == DOC_MAP && !key && event.type != YAML_SCALAR_EVENT)
            stop_at(r, &event.start_mark, "a key is a scalar");
        item = r->err ? NULL : build(r, &event, depth);
        mark = event.start_mark;
        yaml_event_delete(&event);
        if (!item)
            break;
        if (node->kind == DOC_MAP && !key) {
            key = item;
            if (strlen(key->text) != key->size)
                stop_at(r, &mark, "a key has no NUL");
            continue;
        }
        if (!add_child(r, node, key, item)) {
            doc_free(item);
            break;
        }
        key = NULL;
    }
    doc_free(key);
    if (!r->err && node->kind == DOC_MAP)
        refuse_duplicates(r, node);
}

/* What begins with this event; NULL after complaining. */
static struct doc *build(struct reading *r, yaml_event_t *event, int depth)
{
    const yaml_char_t *tag = NULL;
    struct doc *node;

    if (event->type == YAML_ALIAS_EVENT) {
        stop_at(r, &event->start_mark, "aliases are not allowed in a schema");
        return NULL;
    }
    if (event->type == YAML_SCALAR_EVENT)
        tag = event->data.scalar.tag;
    else if (event->type == YAML_SEQUENCE_START_EVENT)
        tag = event->data.sequence_start.tag;
    else
        tag = event->data.mapping_start.tag;
    if (tag && strcmp((const char *)tag, "!") != 0) {
        stop_at(r, &event->start_mark, "tags are not allowed in a schema");
        return NULL;
    }
    if (event->type == YAML_SCALAR_EVENT)
        return build_scalar(r, event);
    if (depth >= SCHEMA_DEPTH_MAX) {
        stop_at(r, &event->start_mark, "nested deeper than 64");
        return NULL;
    }
    node = new_node(r, event->type == YAML_MAPPING_START_EVENT ? DOC_MAP : DOC_LIST,
                    &event->start_mark);
    if (node)
        build_children(r, node, depth + 1);
    if (node && r->err) {
        doc_free(node);
        return NULL;
    }
    return node;
}

/* Streams, documents, and the one node that we want. */
static struct doc *build_document(struct reading *r)
{
    struct doc *root = NULL;
    yaml_event_t event;
    bool end = false;

    while (!end && next(r, &event)) {
        switch (event.type) {
        case YAML_STREAM_END_EVENT:
            end = true;
            break;
        case YAML_DOCUMENT_START_EVENT:
            if (root)
                stop_at(r, &event.start_mark, "a schema is one document");
            break;
        case YAML_SCALAR_EVENT:
        case YAML_SEQUENCE_START_EVENT:
        case YAML_MAPPING_START_EVENT:
        case YAML_ALIAS_EVENT:
            root = build(r, &event, 0);
            break;
        default:
            break;
        }
        yaml_event_delete(&event);
    }
    return root;
}

int doc_read(const char *text, size_t size, struct complaints *c, struct doc **out)
{
    struct reading r = {.c = c};
    struct doc *root;

    if (size > SCHEMA_SIZE_MAX) {
        complain(c, NULL, "a schema has at most 64 MiB");
        return DREP_ERR_SYNTAX;
    }
    if (!yaml_parser_initialize(&r.parser))
        return DREP_ERR_NOMEM;
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    root = build_document(&r);
    yaml_parser_delete(&r.parser);
    if (r.err) {
        doc_free(root);
        return r.err;
    }
    *out = root;
    return 0;
}

/* ------------------------------------------------------------ taking apart */

const struct doc *doc_get(const struct doc *map, const char *key)
{
    size_t i;

    if (!map || map->kind != DOC_MAP)
        return NULL;
    for (i = 0; i < map->len; i++)
        if (strcmp(map->key[i]->text, key) == 0)
            return map->item[i];
    return NULL;
}

bool doc_is(const struct doc *node, const char *text)
{
    return node && node->kind == DOC_SCALAR && !node->quoted && strcmp(node->text, text) == 0;
}

bool doc_null(const struct doc *node)
{
    return doc_is(node, "null") || doc_is(node, "~") || doc_is(node, "") || doc_is(node, "Null") ||
           doc_is(node, "NULL");
}

/* How many letters to change, add or drop, for short words. */
static size_t distance(const char *a, const char *b)
{
    size_t row[33], n = strlen(b), i, k, before, here;

    if (n > 32 || strlen(a) > 32)
        return 33;
    for (k = 0; k <= n; k++)
        row[k] = k;
    for (i = 0; a[i]; i++) {
        before = row[0];
        row[0] = i + 1;
        for (k = 1; k <= n; k++) {
            here = before + (a[i] != b[k - 1]);
            before = row[k];
            if (row[k] + 1 < here)
                here = row[k] + 1;
            if (row[k - 1] + 1 < here)
                here = row[k - 1] + 1;
            row[k] = here;
        }
    }
    return row[n];
}

const char *doc_nearest(const char *word, const char *const *words)
{
    size_t best = strlen(word) / 2 + 1, d;
    const char *nearest = NULL;

    if (best > 3)
        best = 3;
    for (; *words; words++) {
        d = distance(word, *words);
        if (d < best) {
            best = d;
            nearest = *words;
        }
    }
    return nearest;
}

bool doc_keys(struct complaints *c, const struct doc *map, const char *const *keys)
{
    const char *const *known;
    const char *nearest;
    bool fine = true;
    size_t i;

    for (i = 0; i < map->len; i++) {
        for (known = keys; *known && strcmp(*known, map->key[i]->text) != 0; known++)
            ;
        if (*known)
            continue;
        nearest = doc_nearest(map->key[i]->text, keys);
        if (nearest)
            fine = complain(c, map->key[i], "unknown key \"%s\" (did you mean \"%s\"?)",
                            map->key[i]->text, nearest);
        else
            fine = complain(c, map->key[i], "unknown key \"%s\"", map->key[i]->text);
    }
    return fine;
}

const char *doc_what(const struct doc *node)
{
    return node->kind == DOC_MAP ? "a map" : node->kind == DOC_LIST ? "a list" : "a scalar";
}

bool doc_want(struct complaints *c, const struct doc *node, enum doc_kind kind, const char *what)
{
    if (node->kind == kind)
        return true;
    return complain(c, node, "expected %s, not %s", what, doc_what(node));
}

bool doc_integer(struct complaints *c, const struct doc *node, int64_t least, int64_t most,
                 int64_t *out)
{
    long long value;
    char *end;

    if (!doc_want(c, node, DOC_SCALAR, "an integer"))
        return false;
    errno = 0;
    value = strtoll(node->text, &end, 10);
    if (end == node->text || *end || node->quoted)
        return complain(c, node, "expected an integer, not \"%s\"", node->text);
    if (errno || value < least || value > most)
        return complain(c, node, "%s is not in %lld to %lld", node->text, (long long)least,
                        (long long)most);
    *out = value;
    return true;
}

bool doc_boolean(struct complaints *c, const struct doc *node, bool *out)
{
    bool yes = doc_is(node, "true") || doc_is(node, "True") || doc_is(node, "TRUE");

    if (!yes && !doc_is(node, "false") && !doc_is(node, "False") && !doc_is(node, "FALSE"))
        return complain(c, node, "expected true or false");
    *out = yes;
    return true;
}

bool doc_string(struct complaints *c, const struct doc *node, const char **out)
{
    if (!doc_want(c, node, DOC_SCALAR, "a text"))
        return false;
    if (strlen(node->text) != node->size)
        return complain(c, node, "a NUL is not allowed here");
    *out = node->text;
    return true;
}
