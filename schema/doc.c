/* doc.c - takes a tree of nodes apart, politely. */
/* SPDX-License-Identifier: MIT */
#include "schema/doc.h"
#include "base/vec.h"
#include "schema/suggest.h"
#include <datarep.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        c->say(c->ctx, 0, 0, "further errors are not shown");
    free(c->list);
    c->list = NULL;
    c->kept = c->said = 0;
    c->room = 0;
}

static bool room(struct complaints *c)
{
    return c->kept < (c->all ? INT_MAX / 4 : KEPT_MAX) &&
           VEC_ROOM(c->list, (size_t)c->kept, c->room, 1) == 0;
}

bool complain(struct complaints *c, const struct doc *at, const char *format, ...)
{
    char message[4096], shown[sizeof message];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    drep_escape(shown, sizeof shown, message, strlen(message));
    if (room(c)) {
        c->list[c->kept] = (struct complaint){.line = at ? at->line : 0,
                                              .column = at ? at->column : 0,
                                              .number = c->kept,
                                              .message = strdup(shown)};
        c->kept++;
    }
    c->said++;
    return false;
}

bool complain_error(struct complaints *c, const struct doc *at, const char *what)
{
    return complain(c, at, "%s: %s", what, drep_error());
}

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

bool doc_word(const struct doc *node, const char *text)
{
    return node && node->kind == DOC_SCALAR && strcmp(node->text, text) == 0;
}

bool doc_null(const struct doc *node)
{
    return doc_is(node, "null") || doc_is(node, "~") || doc_is(node, "") || doc_is(node, "Null") ||
           doc_is(node, "NULL");
}

bool doc_keys(struct complaints *c, const struct doc *map, const char *const *keys)
{
    const char *const *known;
    bool fine = true;
    size_t i;

    for (i = 0; i < map->len; i++) {
        struct suggestion meant = {.word = map->key[i]->text};

        for (known = keys; *known && strcmp(*known, map->key[i]->text) != 0; known++)
            suggest_word(&meant, *known);
        if (*known)
            continue;
        if (meant.best[0])
            fine = complain(c, map->key[i], "unknown key \"%s\" (did you mean \"%s\"?)",
                            map->key[i]->text, meant.best);
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
