/* info.c - hints: a small list of keys and values in order of the keys.
 *
 * drep_info_...() keeps what it is given; info_...() knows format/hints.def. */
/* SPDX-License-Identifier: MIT */
#include "base/info.h"

#include "base/error.h"
#include "base/handle.h"
#include "base/mem.h"
#include "base/vec.h"

#include <ctype.h>
#include <datarep.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A text that is not owned stands in the table of known hints: most pairs are defaults. */
struct hint_pair {
    const char *key, *value;
    bool key_owned, value_owned;
};

struct drep_info {
    struct hint_pair *pair; /* ascending by key */
    int n;
    size_t room;
};

enum kind {
    BOOL,
    INT,
    SIZE,
    COUNT,
    COUNTS,
    SECONDS,
    SYNC,
    SUMS,
    SWITCH,
    IO,
    OVERLAP,
    CLOSE,
    STYLES,
    STRING,
    SECRET,
    OCTAL,
    UUID
};

/* The words of kinds that have some, each followed by a blank. */
static const char *const words[] = {
    [SYNC] = "commit none ",
    [SUMS] = "on deferred ",
    [SWITCH] = "on off ",
    [IO] = "posix mpiio ",
    [OVERLAP] = "error last ",
    [CLOSE] = "commit abandon ",
    [STYLES] =
        "read_once write_once read_mostly write_mostly sequential reverse_sequential random ",
};

static const struct hint {
    const char *key;
    enum kind kind;
    const char *value;
} hints[] = {
#define X(key, kind, value) {key, kind, value},
#include "format/hints.def"
#undef X
};
enum { NHINTS = sizeof hints / sizeof hints[0] };

static int by_key(const void *key, const void *hint)
{
    return strcmp(key, ((const struct hint *)hint)->key);
}

static const struct hint *hint_find(const char *key)
{
    return bsearch(key, hints, NHINTS, sizeof hints[0], by_key);
}

/* ------------------------------------------------------------- the list */

/* Position of the key, or where to insert it. */
static int place(const drep_info *info, const char *key, bool *found)
{
    int low = 0, high = info->n;

    *found = false;
    while (low < high) {
        int mid = low + (high - low) / 2, order = strcmp(info->pair[mid].key, key);

        if (order == 0) {
            *found = true;
            return mid;
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Pairs may point into the table of known hints, which is not theirs to free. */
static void value_free(struct hint_pair *pair)
{
    if (pair->value_owned)
        mem_free((char *)(uintptr_t)pair->value);
}

/* Free the texts of a pair; the pair itself is part of the list. */
static void pair_free(struct hint_pair *pair)
{
    if (pair->key_owned)
        mem_free((char *)(uintptr_t)pair->key);
    value_free(pair);
}

int drep_info_new(drep_info **out)
{
    drep_info *info;

    if (!out)
        return fail(DREP_ERR_ARG, "null pointer for the new info object");
    info = mem_zalloc(1, sizeof *info);
    if (!info || handle_add(info, HANDLE_INFO)) {
        mem_free(info);
        return fail_nomem();
    }
    *out = info;
    return 0;
}

void drep_info_free(drep_info *info)
{
    int i;

    if (!info || !handle_remove(info, HANDLE_INFO))
        return;
    for (i = 0; i < info->n; i++)
        pair_free(&info->pair[i]);
    mem_free(info->pair);
    mem_free(info);
}

/* A copy of a text, or the one of the table of known hints that is equal to it; NULL: no memory. */
static const char *text_copy(const char *text, const char *known, bool *owned)
{
    *owned = !known || strcmp(text, known) != 0;
    return *owned ? mem_strdup(text) : known;
}

/* Set a key to any value, also an empty one: some defaults are. */
static int put(drep_info *info, const char *key, const char *value)
{
    const struct hint *hint = hint_find(key);
    struct hint_pair new;
    bool found;
    int i = place(info, key, &found);

    new.value = text_copy(value, hint ? hint->value : NULL, &new.value_owned);
    if (!new.value)
        return DREP_ERR_NOMEM;
    if (found) {
        value_free(&info->pair[i]);
        info->pair[i].value = new.value;
        info->pair[i].value_owned = new.value_owned;
        return 0;
    }
    new.key = text_copy(key, hint ? hint->key : NULL, &new.key_owned);
    if (!new.key || VEC_ROOM(info->pair, (size_t)info->n, info->room, 1)) {
        new.key_owned &= new.key != NULL;
        pair_free(&new);
        return DREP_ERR_NOMEM;
    }
    memmove(info->pair + i + 1, info->pair + i, (size_t)(info->n - i) * sizeof new);
    info->pair[i] = new;
    info->n++;
    return 0;
}

int drep_info_set(drep_info *info, const char *key, const char *value)
{
    if (!info)
        return fail(DREP_ERR_ARG, "no info object");
    if (!key || !*key || strlen(key) > DREP_MAX_INFO_KEY)
        return fail(DREP_ERR_INFO_KEY, "a hint's key has 1 to %d bytes", DREP_MAX_INFO_KEY);
    if (!value || !*value || strlen(value) > DREP_MAX_INFO_VAL)
        return fail(DREP_ERR_INFO_VALUE, "hint \"%s\": a value has 1 to %d bytes", key,
                    DREP_MAX_INFO_VAL);
    return put(info, key, value);
}

const char *drep_info_get(const drep_info *info, const char *key)
{
    bool found;
    int i;

    if (!info || !key)
        return NULL;
    i = place(info, key, &found);
    return found ? info->pair[i].value : NULL;
}

int drep_info_delete(drep_info *info, const char *key)
{
    bool found;
    int i;

    if (!info || !key)
        return fail(DREP_ERR_ARG, "no info object or no key");
    i = place(info, key, &found);
    if (!found)
        return fail(DREP_ERR_INFO_KEY, "hint \"%s\" is not set", key);
    pair_free(&info->pair[i]);
    info->n--;
    memmove(info->pair + i, info->pair + i + 1, (size_t)(info->n - i) * sizeof *info->pair);
    return 0;
}

int drep_info_count(const drep_info *info)
{
    return info ? info->n : 0;
}

const char *drep_info_key(const drep_info *info, int i)
{
    return info && i >= 0 && i < info->n ? info->pair[i].key : NULL;
}

int info_copy(const drep_info *from, drep_info **out)
{
    drep_info *info = NULL;
    int err = drep_info_new(&info);

    for (int i = 0; !err && i < from->n; i++)
        err = put(info, from->pair[i].key, from->pair[i].value);
    if (err) {
        drep_info_free(info);
        return err;
    }
    *out = info;
    return 0;
}

/* --------------------------------------------------------------- values */

/* Split off one item of a comma-separated list without the spaces around it, as [*at, *end).
 * Returns the start of the next, NULL after the last. */
static const char *list_next(const char *list, const char **at, const char **end)
{
    const char *comma = strchr(list, ',');
    const char *stop = comma ? comma : list + strlen(list);

    while (list < stop && *list == ' ')
        list++;
    *at = list;
    for (*end = stop; *end > list && (*end)[-1] == ' '; (*end)--)
        ;
    return comma ? comma + 1 : NULL;
}

/* Decimal digits with an optional sign and nothing else (H5). */
static bool int_parse(const char *at, const char *end, int64_t *out)
{
    char text[24], *rest;
    size_t len = (size_t)(end - at);
    long long value;

    if (len == 0 || len >= sizeof text)
        return false;
    memcpy(text, at, len);
    text[len] = 0;
    if (!isdigit((unsigned char)text[text[0] == '+' || text[0] == '-']))
        return false;
    for (value = 0, rest = text; isdigit((unsigned char)*rest) && rest < text + 18; rest++)
        value = 10 * value + (*rest - '0');
    if (*rest == '\0') { /* mostly: no sign, and far from overflow */
        *out = value;
        return true;
    }
    errno = 0;
    value = strtoll(text, &rest, 10);
    if (errno || *rest)
        return false;
    *out = value;
    return true;
}

/* Decimal digits with an optional fraction, in nanoseconds, whatever the locale's decimal point is.
 * Longer times than an int64_t holds count as the longest one. */
static bool seconds_parse(const char *text, int64_t *ns)
{
    int64_t whole = 0, unit = 1000000000, part = 0;

    if (!isdigit((unsigned char)*text))
        return false;
    for (; isdigit((unsigned char)*text); text++)
        whole = whole < INT64_MAX / unit / 10 ? 10 * whole + (*text - '0') : INT64_MAX / unit - 1;
    if (*text == '.' && isdigit((unsigned char)text[1])) {
        for (text++; isdigit((unsigned char)*text); text++) {
            unit /= 10;
            part += unit * (*text - '0');
        }
    }
    *ns = whole * 1000000000 + part;
    return *text == '\0';
}

/* True for one of the words of a kind. */
static bool word_ok(const char *at, const char *end, enum kind kind)
{
    for (const char *w = words[kind]; *w; w = strchr(w, ' ') + 1)
        if (end > at && strncmp(w, at, (size_t)(end - at)) == 0 && w[end - at] == ' ')
            return true;
    return false;
}

static bool uuid_ok(const char *value)
{
    size_t digits = strspn(value, "0123456789abcdefABCDEF");

    return !value[digits] && (digits == 32 || digits == 0);
}

static bool list_ok(const char *value, enum kind kind)
{
    const char *at, *end;
    int64_t number;

    for (; value;) {
        value = list_next(value, &at, &end);
        if (at == end)
            return false;
        if (kind == COUNTS ? !int_parse(at, end, &number) || number < 1 : !word_ok(at, end, kind))
            return false;
    }
    return true;
}

static bool value_ok(const struct hint *hint, const char *value)
{
    const char *end = value + strlen(value);
    int64_t number;

    switch (hint->kind) {
    case BOOL:
        return strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
    case INT:
        return int_parse(value, end, &number);
    case SIZE:
    case COUNT:
        return int_parse(value, end, &number) && number >= (hint->kind == COUNT);
    case SECONDS:
        return seconds_parse(value, &number);
    case COUNTS:
    case STYLES:
        return list_ok(value, hint->kind);
    case SYNC:
    case SUMS:
    case SWITCH:
    case IO:
    case OVERLAP:
    case CLOSE:
        return word_ok(value, end, hint->kind);
    case UUID:
        return uuid_ok(value);
    case OCTAL:
        return value < end && strspn(value, "01234567") == (size_t)(end - value) &&
               end - value <= 8;
    case STRING:
    case SECRET:
        return true;
    }
    return false;
}

bool info_known(const char *key)
{
    return hint_find(key) != NULL;
}

bool info_valid(const char *key, const char *value)
{
    const struct hint *hint = hint_find(key);

    return hint && value_ok(hint, value);
}

/* Describes the values of a kind, for messages; NULL: the kind has a list of words. */
static const char *kind_said(enum kind kind)
{
    switch (kind) {
    case BOOL:
        return "true or false";
    case INT:
        return "an integer";
    case SIZE:
        return "an integer, at least 0";
    case COUNT:
        return "an integer, at least 1";
    case COUNTS:
        return "integers, at least 1, with commas between them";
    case SECONDS:
        return "seconds, at least 0";
    case OCTAL:
        return "permissions in octal digits";
    case UUID:
        return "32 hexadecimal digits";
    default:
        return NULL;
    }
}

int drep_info_check(const char *key, const char *value)
{
    const struct hint *hint;
    const char *said;

    if (!key || !value)
        return fail(DREP_ERR_ARG, "null pointer for %s", key ? "the value of a hint" : "a hint");
    hint = hint_find(key);
    if (!hint)
        return fail(DREP_ERR_INFO_KEY,
                    "hint %s: there is none of this name; datarep-hints(7) lists all", key);
    if (value_ok(hint, value))
        return 0;
    said = kind_said(hint->kind);
    if (said)
        return fail(DREP_ERR_INFO_VALUE, "hint %s: \"%s\" is not %s", key, value, said);
    return fail(DREP_ERR_INFO_VALUE, "hint %s: \"%s\" is not among: %.*s", key, value,
                (int)strlen(words[hint->kind]) - 1, words[hint->kind]);
}

int info_defaults(drep_info **out)
{
    drep_info *info;
    int err = drep_info_new(&info);

    if (err)
        return err;
    if (VEC_ROOM(info->pair, 0, info->room, NHINTS)) {
        drep_info_free(info);
        return DREP_ERR_NOMEM;
    }
    for (int i = 0; i < NHINTS; i++) /* in the order of the keys, as the table is */
        info->pair[i] = (struct hint_pair){hints[i].key, hints[i].value, false, false};
    info->n = NHINTS;
    *out = info;
    return 0;
}

bool info_secret(const char *key)
{
    const struct hint *hint = hint_find(key);

    return hint && hint->kind == SECRET;
}

int info_merge_one(drep_info *into, const drep_info *from, const char *key)
{
    const char *value = drep_info_get(from, key);

    return value && info_valid(key, value) && !info_secret(key) ? put(into, key, value) : 0;
}

int info_secrets(drep_info *into, const drep_info *from)
{
    int err = 0;

    for (int i = 0; !err && i < NHINTS; i++) {
        const char *value = hints[i].kind == SECRET ? drep_info_get(from, hints[i].key) : NULL;

        err = value ? put(into, hints[i].key, value) : 0;
    }
    return err;
}

int info_merge(drep_info *into, const drep_info *from)
{
    int err = 0;

    for (int i = 0; !err && i < drep_info_count(from); i++)
        err = info_merge_one(into, from, from->pair[i].key);
    return err;
}

/* The value in force: the one that is set if it is valid, else the default. */
static const char *value_of(const drep_info *info, const struct hint *hint, const char *key)
{
    const char *value = drep_info_get(info, key);

    if (value && (!hint || value == hint->value || value_ok(hint, value)))
        return value;
    return hint ? hint->value : "";
}

const char *info_str(const drep_info *info, const char *key)
{
    return value_of(info, hint_find(key), key);
}

int64_t info_int(const drep_info *info, const char *key)
{
    const struct hint *hint = hint_find(key);
    const char *value = value_of(info, hint, key);
    int64_t number = 0;

    if (hint && hint->kind == OCTAL)
        return strtoll(value, NULL, 8);
    int_parse(value, value + strlen(value), &number);
    return number;
}

bool info_bool(const drep_info *info, const char *key)
{
    return strcmp(info_str(info, key), "true") == 0;
}

bool info_has(const drep_info *info, const char *key, const char *word)
{
    const char *value = info_str(info, key), *at, *end;

    while (value && *value) {
        value = list_next(value, &at, &end);
        if ((size_t)(end - at) == strlen(word) && strncmp(at, word, (size_t)(end - at)) == 0)
            return true;
    }
    return false;
}

int info_ints(const drep_info *info, const char *key, int64_t *out, int max)
{
    const char *value = info_str(info, key), *at, *end;
    int64_t number;
    int n = 0;

    for (; value && *value;) {
        value = list_next(value, &at, &end);
        if (!int_parse(at, end, &number))
            break;
        if (n < max)
            out[n] = number;
        n++;
    }
    return n;
}

int64_t info_ns(const drep_info *info, const char *key)
{
    int64_t ns = 0;

    seconds_parse(value_of(info, hint_find(key), key), &ns);
    return ns;
}
