/* text.c - texts: strings of a fixed size become char *, and the other way. */
/* SPDX-License-Identifier: MIT */
#include "conv/text.h"

#include "base/error.h"
#include "base/mem.h"
#include "format/utf8.h"

#include <datarep.h>
#include <string.h>

size_t text_size(int pad, const void *bytes, size_t n)
{
    const char *p = bytes;

    if (pad == DREP_PAD_NULTERM)
        return strnlen(p, n);
    while (n > 0 && p[n - 1] == (pad == DREP_PAD_SPACE ? ' ' : '\0'))
        n--;
    return n;
}

/* Counts a text that the other side does not hold whole; an error where that is asked for. */
static int text_overflow(const struct rep_opts *opts, int64_t item, const char *why, size_t at)
{
    if (opts->value_range == DREP_RANGE_STRICT || opts->value_range == DREP_RANGE_ROUND)
        return fail(DREP_ERR_CONVERSION, "item %lld: %s %zu", (long long)item, why, at);
    if (opts->report && opts->report->overflow++ == 0)
        opts->report->first_overflow = item;
    return 0;
}

/* Gives how many of n bytes a char * holds: all, but none from a NUL on. */
static int text_until_nul(const struct rep_opts *opts, int64_t item, const void *bytes, size_t n,
                          size_t *size)
{
    size_t held = n > 0 ? strnlen(bytes, n) : 0;
    int err = held < n ? text_overflow(opts, item, "its text has a NUL at byte", held) : 0;

    if (!err)
        *size = held;
    return err;
}

static bool is_bytes(const drep_type *t)
{
    const drep_type *base = t->kind == DREP_KIND_SEQUENCE ? drep_type_member(t, 0) : NULL;

    return base && base->kind == DREP_KIND_PREDEFINED &&
           (base->code == DREP_CODE_CHAR || base->code == DREP_CODE_BYTE ||
            base->code == DREP_CODE_UINT8_T);
}

bool text_and_bytes(const drep_type *a, const drep_type *b)
{
    return (a->kind == DREP_KIND_VSTRING && is_bytes(b)) ||
           (b->kind == DREP_KIND_VSTRING && is_bytes(a));
}

int sequence_check(const drep_vlen *v)
{
    return v->count == 0 || (v->count > 0 && v->data)
               ? 0
               : fail(DREP_ERR_COUNT, "a sequence of %lld elements without data",
                      (long long)v->count);
}

int text_get(const drep_type *vstring, const void *at, const void **bytes, size_t *n)
{
    drep_vlen v;
    char *s;
    int err = 0;

    if (type_counted(vstring)) {
        memcpy(&v, at, sizeof v);
        err = sequence_check(&v);
    } else {
        memcpy(&s, at, sizeof s);
        v = (drep_vlen){s ? (int64_t)strlen(s) : 0, s};
    }
    if (err)
        return err;
    *bytes = v.data;
    *n = (size_t)v.count;
    return 0;
}

int text_put(const struct rep_opts *opts, int64_t item, const drep_type *vstring, void *at,
             const void *bytes, size_t n)
{
    bool counted = type_counted(vstring);
    int err = counted ? 0 : text_until_nul(opts, item, bytes, n, &n);
    drep_vlen v;

    if (err)
        return err;
    v = (drep_vlen){(int64_t)n, mem_alloc(n + 1)};
    if (!v.data)
        return fail_nomem();
    if (n > 0)
        memcpy(v.data, bytes, n);
    ((char *)v.data)[n] = '\0';
    if (counted)
        memcpy(at, &v, sizeof v);
    else
        memcpy(at, &v.data, sizeof v.data);
    return 0;
}

/* The bytes of whole characters among the first n of a longer text; of one that is not UTF-8, n. */
static size_t whole_characters(const uint8_t *text, size_t size, size_t n)
{
    size_t at = n;

    while (at > 0 && n - at < 4 && (text[at] & 0xc0) == 0x80)
        at--;
    return utf8_next(text + at, size - at, &(uint32_t){0}) > 0 ? at : n;
}

int text_give(const struct rep_opts *opts, int64_t item, const void *text, size_t size,
              const drep_type *string, void *bytes)
{
    size_t room = (size_t)string->args[0] - (string->args[1] == DREP_PAD_NULTERM), n = size;
    int pad = string->args[1] == DREP_PAD_SPACE ? ' ' : 0;
    int err = 0;

    if (string->args[1] == DREP_PAD_NULTERM && (err = text_until_nul(opts, item, text, size, &n)))
        return err;
    if (n > room) {
        err = text_overflow(opts, item, "its text is longer than", room);
        n = whole_characters(text, n, room);
    }
    if (err)
        return err;
    if (n > 0)
        memcpy(bytes, text, n);
    memset((char *)bytes + n, pad, (size_t)string->args[0] - n);
    if (n == size && n > 0 && ((const char *)text)[n - 1] == pad && opts->report &&
        opts->report->inexact++ == 0)
        opts->report->first_inexact = item;
    return 0;
}
