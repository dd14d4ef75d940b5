/* read.c - reads YAML into a tree of nodes, within limits. */
/* SPDX-License-Identifier: MIT */
#include "schema/doc.h"
#include "base/vec.h"
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct yaml_reading {
    yaml_parser_t parser;
    struct complaints *c;
    size_t nodes;
    int err;
};

static void stop_at(struct yaml_reading *r, const yaml_mark_t *mark, const char *message)
{
    struct doc at = {.line = (int)mark->line + 1, .column = (int)mark->column + 1};

    if (!r->err)
        complain(r->c, &at, "%s", message);
    r->err = DREP_ERR_SYNTAX;
}

/* The next event; false after complaining. */
static bool next_event(struct yaml_reading *r, yaml_event_t *event)
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

static struct doc *new_node(struct yaml_reading *r, enum doc_kind kind, const yaml_mark_t *mark)
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

static struct doc *build_scalar(struct yaml_reading *r, const yaml_event_t *event)
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

static bool add_child(struct yaml_reading *r, struct doc *node, struct doc *key, struct doc *item)
{
    if (VEC_ROOM(node->item, node->len, node->items, 1) ||
        (key && VEC_ROOM(node->key, node->len, node->keys, 1))) {
        r->err = DREP_ERR_NOMEM;
        return false;
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

static void refuse_duplicates(struct yaml_reading *r, const struct doc *map)
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

static struct doc *build_node(struct yaml_reading *r, yaml_event_t *event, int depth);

/* The items of a list or the pairs of a map, up to its end. */
static void build_children(struct yaml_reading *r, struct doc *node, int depth)
{
    yaml_event_type_t end =
        node->kind == DOC_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    struct doc *key = NULL, *item;
    yaml_event_t event;
    yaml_mark_t mark;

    while (next_event(r, &event)) {
        if (event.type == end) {
            yaml_event_delete(&event);
            break;
        }
        if (node->kind == DOC_MAP && !key && event.type != YAML_SCALAR_EVENT)
            stop_at(r, &event.start_mark, "a key is a scalar");
        item = r->err ? NULL : build_node(r, &event, depth);
        mark = event.start_mark;
        yaml_event_delete(&event);
        if (!item)
            break;
        if (node->kind == DOC_MAP && !key) {
            key = item;
            if (strlen(key->text) != key->size)
                stop_at(r, &mark, "a key cannot contain a NUL");
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

/* Build the node that begins with this event; NULL after complaining. */
static struct doc *build_node(struct yaml_reading *r, yaml_event_t *event, int depth)
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
        stop_at(r, &event->start_mark, "nested deeper than 256");
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
static struct doc *build_document(struct yaml_reading *r)
{
    struct doc *root = NULL;
    yaml_event_t event;
    bool end = false;

    while (!end && next_event(r, &event)) {
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
            root = build_node(r, &event, 0);
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
    struct yaml_reading r = {.c = c};
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
