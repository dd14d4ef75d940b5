/* memory.c - an array of Fortran as the library knows memory: an address and a datatype. */
/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int refuse(int err, const char *path, const char *format, ...)
{
    char text[1023];
    size_t used = 0;
    va_list args;

    if (path)
        used = (size_t)snprintf(text, sizeof text / 2, "\"%.*s\": ", 500, path);
    va_start(args, format);
    vsnprintf(text + used, sizeof text - used, format, args);
    va_end(args);
    return drep_error_set(err, text);
}

const char *memory_shape_text(char *text, int rank, const int64_t *len)
{
    size_t used = 1;

    text[0] = '(';
    for (int d = 0; d < rank && used < MEMORY_SHAPE_TEXT - 24; d++)
        used += (size_t)snprintf(text + used, MEMORY_SHAPE_TEXT - used, "%s%lld", d ? ", " : "",
                                 (long long)len[d]);
    snprintf(text + used, MEMORY_SHAPE_TEXT - used, ")");
    return text;
}

int memory_fits(const struct memory *m, int rank, const int64_t *len)
{
    int i = 0, j = 0;

    for (;;) {
        while (i < m->rank && m->len[i] == 1)
            i++;
        while (j < rank && len[j] == 1)
            j++;
        if (i == m->rank || j == rank)
            return i == m->rank && j == rank;
        if (m->len[i++] != len[j++])
            return 0;
    }
}

/* The datatype of one element of the array. */
static int element_of(const CFI_cdesc_t *a, int code, const char *text, const char *path,
                      drep_type **out)
{
    int64_t size = (int64_t)a->elem_len;
    int err;

    if (!text && code == DREP_CODE_CHARACTER) {
        if (size == 0)
            return refuse(DREP_ERR_TYPE, path, "characters of length 0");
        return drep_type_string(size, DREP_PAD_SPACE, out);
    }
    if (!text) {
        *out = drep_type_ref(drep_predefined(code));
        return 0;
    }
    err = drep_type_parse(text, out);
    if (!err && drep_type_extent(*out) != size) {
        err = refuse(DREP_ERR_TYPE, path,
                     "the datatype %s takes %lld bytes in memory, an element of the array %lld",
                     text, (long long)drep_type_extent(*out), (long long)size);
        drep_type_free(*out);
    }
    return err;
}

/* Replaces *t by `n` of them, `step` bytes apart; *t is not the element. */
static int tile(const struct memory *m, drep_type **t, int64_t n, int64_t step)
{
    drep_type *tiled;
    int err = drep_type_hvector(n, 1, step, *t, &tiled);

    if (err)
        return err;
    if (*t != m->element)
        drep_type_free(*t);
    *t = tiled;
    return 0;
}

/* Gives m the datatype of all its elements, where they are not dense. */
static int lay_out(const CFI_cdesc_t *a, struct memory *m)
{
    int64_t run = 1; /* elements without gaps */
    int err = 0;

    m->type = m->element;
    m->dense = 1;
    for (int d = 0; !err && m->count > 0 && d < m->rank; d++) {
        int64_t n = m->len[d], step = a->dim[d].sm;

        if (n == 1)
            continue;
        if (m->dense && step == run * (int64_t)a->elem_len) {
            run *= n;
            continue;
        }
        if (m->dense && run > 1)
            err = tile(m, &m->type, run, (int64_t)a->elem_len);
        m->dense = 0;
        if (!err)
            err = tile(m, &m->type, n, step);
    }
    return err;
}

int memory_of(const CFI_cdesc_t *a, int code, const char *text, const char *path,
              struct memory *out)
{
    struct memory m = {.rank = a->rank, .count = 1};
    int err;

    if (!a->base_addr)
        return refuse(DREP_ERR_ARG, path, "the array is not allocated");
    for (int d = 0; d < m.rank; d++) {
        m.len[d] = a->dim[d].extent;
        if (m.len[d] < 0)
            return refuse(DREP_ERR_ARG, path, "an array of assumed size has no shape");
        m.count *= m.len[d];
    }
    err = element_of(a, code, text, path, &m.element);
    if (err)
        return err;
    err = lay_out(a, &m);
    if (err)
        memory_release(&m);
    else
        *out = m;
    return err;
}

void memory_release(struct memory *m)
{
    if (m->type != m->element)
        drep_type_free(m->type);
    drep_type_free(m->element);
    m->type = m->element = NULL;
}

static int integer_get(const void *p, size_t size, int64_t *out)
{
    int8_t i1;
    int16_t i2;
    int32_t i4;

    switch (size) {
    case 1:
        memcpy(&i1, p, 1);
        *out = i1;
        return 1;
    case 2:
        memcpy(&i2, p, 2);
        *out = i2;
        return 1;
    case 4:
        memcpy(&i4, p, 4);
        *out = i4;
        return 1;
    case 8:
        memcpy(out, p, 8);
        return 1;
    default:
        return 0;
    }
}

int memory_integers(const CFI_cdesc_t *a, const char *what, int max, int64_t *list, int *n)
{
    *n = -1;
    if (!a)
        return 0;
    if (!a->base_addr)
        return refuse(DREP_ERR_ARG, NULL, "%s is not allocated", what);
    if (a->rank != 1 || (a->type & CFI_type_mask) != CFI_type_Integer)
        return refuse(DREP_ERR_ARG, NULL, "%s is not an array of integers", what);
    if (a->dim[0].extent < 0 || a->dim[0].extent > max)
        return refuse(DREP_ERR_ARG, NULL, "%s has %lld numbers, more than %d", what,
                      (long long)a->dim[0].extent, max);
    for (int i = 0; i < a->dim[0].extent; i++)
        if (!integer_get((const char *)a->base_addr + i * a->dim[0].sm, a->elem_len, &list[i]))
            return refuse(DREP_ERR_ARG, NULL, "%s has integers of %zu bytes", what, a->elem_len);
    *n = (int)a->dim[0].extent;
    return 0;
}
