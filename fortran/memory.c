/* memory.c - an array of Fortran as the library knows memory: an address and a datatype. */
/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

/* True if the message begins with "NAME: ". */
static int begins(const char *message, const char *name)
{
    size_t n = strlen(name);

    return strncmp(message, name, n) == 0 && strncmp(message + n, ": ", 2) == 0;
}

int about_file(int err, const char *name)
{
    char text[1023];

    if (!err || begins(drep_error(), name))
        return err;
    snprintf(text, sizeof text, "%.500s: %s", name, drep_error());
    return drep_error_set(err, text);
}

int about(int err, const struct fortran_file *file, const char *path)
{
    const char *message = drep_error();

    if (!err)
        return 0;
    if (file && begins(message, file->path))
        message += strlen(file->path) + 2;
    if (path && !strstr(message, path))
        refuse(err, path, "%s", message);
    return file ? about_file(err, file->path) : err;
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

drep_file *file_for(const struct fortran_file *box, const char *path)
{
    if (box && box->file)
        return box->file;
    about(refuse(DREP_ERR_ARG, path, "the file is %s", box ? "closed" : "not open"), box, path);
    return NULL;
}

int memory_class(const drep_type *type)
{
    static const int8_t predefined[] = {
        ['F'] = CFI_type_Real,    ['C'] = CFI_type_Complex,   ['I'] = CFI_type_Integer,
        ['L'] = CFI_type_Logical, ['T'] = CFI_type_Character, ['B'] = 0};
    /* One letter for each code, from 1 on. */
    static const char codes[] = "BBTIIIIIIIIIIB" /* BYTE to WCHAR */
                                "FFFLIIIIIIII"   /* FLOAT to UINT64_T */
                                "CCCIIILCCC" /* complex of C; AINT to CXX_BOOL; complex of C++ */
                                "TLIFFCC"    /* CHARACTER to DOUBLE_COMPLEX */
                                "LLLLLIIIIIFFFF" /* LOGICAL1 to REAL16 */
                                "CCCCFFFFFII";   /* COMPLEX4 to INT128_T */

    _Static_assert(sizeof codes == DREP_CODE_MAX + 1, "a letter for each datatype");
    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        return predefined[(unsigned char)codes[drep_type_code(type) - 1]];
    case DREP_KIND_SCALAR:
        if (drep_type_scalar_desc(type)->cls == DREP_SCALAR_REAL)
            return CFI_type_Real;
        return drep_type_scalar_desc(type)->cls == DREP_SCALAR_INT ? CFI_type_Integer : 0;
    case DREP_KIND_ENUM:
        return CFI_type_Integer;
    case DREP_KIND_BOOLEAN:
        return CFI_type_Logical;
    case DREP_KIND_STRING:
    case DREP_KIND_VSTRING:
        return CFI_type_Character;
    case DREP_KIND_OPAQUE:
    case DREP_KIND_SEQUENCE:
    case DREP_KIND_REFERENCE:
        return 0;
    case DREP_KIND_DUP:
        return memory_class(drep_type_member(type, 0));
    default:
        return CFI_type_struct;
    }
}

/* Elements of the array may have the datatype that the program gives for them: a derived type is
 * what it is said to be; integers and logicals are any bytes that are not reals. */
static int suits(const CFI_cdesc_t *a, int bytes, const drep_type *type, const char *text,
                 const char *path)
{
    static const char *const names[] = {
        "", "an integer", "a logical", "a real", "a complex number", "a text", "a derived type"};
    int is = a->type & CFI_type_mask, class = memory_class(type);
    int64_t size = (int64_t)a->elem_len;

    if (drep_type_variable(type))
        return refuse(DREP_ERR_TYPE, path, "%s: parts of variable length have no place in Fortran",
                      text);
    if (drep_type_extent(type) != size)
        return refuse(DREP_ERR_TYPE, path,
                      "the datatype %s takes %lld bytes in memory, an element of the array %lld",
                      text, (long long)drep_type_extent(type), (long long)size);
    if (bytes != size)
        return refuse(DREP_ERR_TYPE, path,
                      "the datatype %s is said to have %d bytes, an element of the array has %lld",
                      text, bytes, (long long)size);
    if (is == class || is >= CFI_type_struct ||
        ((is == CFI_type_Integer || is == CFI_type_Logical) &&
         (class == CFI_type_Integer || class == CFI_type_Logical || class == 0)))
        return 0;
    return refuse(DREP_ERR_TYPE, path, "an element of the array is %s, not %s", names[is], text);
}

/* The datatype of one element of the array. */
static int element_of(const CFI_cdesc_t *a, int code, const char *text, const char *path,
                      drep_type **out)
{
    int err;

    if (!text && code == DREP_CODE_CHARACTER) {
        if (a->elem_len == 0)
            return refuse(DREP_ERR_TYPE, path, "characters of length 0");
        return drep_type_string((int64_t)a->elem_len, DREP_PAD_SPACE, out);
    }
    if (!text) {
        *out = drep_type_ref(drep_predefined(code));
        return 0;
    }
    err = drep_type_parse(text, out);
    if (err)
        return refuse(err, path, "%s: %s", text, drep_error());
    err = suits(a, code, *out, text, path);
    if (err)
        drep_type_free(*out);
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

/* Gives m a copy of the texts, in which they have the length and the padding of those stored. */
static int copy_texts(const CFI_cdesc_t *a, const drep_type *stored, int reads, const char *path,
                      struct memory *m)
{
    int64_t size = drep_type_extent(stored);
    int pad = drep_type_string_pad(stored);
    drep_type *element;
    int err;

    if (size == (int64_t)a->elem_len && pad == DREP_PAD_SPACE)
        return 0;
    if (reads && size > (int64_t)a->elem_len)
        return refuse(DREP_ERR_CONVERSION, path,
                      "texts of %lld bytes do not fit into characters of length %zu",
                      (long long)size, a->elem_len);
    err = drep_type_string(size, pad, &element);
    if (err)
        return err;
    memory_release(m);
    m->element = m->type = element;
    m->dense = 1;
    m->size = size;
    m->pad = pad;
    m->texts = m->count > INT64_MAX / size - 1 ? NULL : calloc((size_t)m->count + 1, (size_t)size);
    return m->texts ? 0 : refuse(DREP_ERR_NOMEM, path, "out of memory");
}

int memory_for(const CFI_cdesc_t *a, int code, const char *text, const drep_type *stored, int reads,
               const char *path, struct memory *out)
{
    CFI_CDESC_T(CFI_MAX_RANK) room;
    CFI_cdesc_t *one = (CFI_cdesc_t *)&room;
    int extra = a->elem_len > 1, held = stored ? drep_type_code(stored) : 0, err;

    if (code != DREP_CODE_CHARACTER || text ||
        (held != DREP_CODE_CHARACTER && held != DREP_CODE_CHAR)) {
        err = memory_of(a, code, text, path, out);
        if (!err && code == DREP_CODE_CHARACTER && !text && stored &&
            drep_type_kind(stored) == DREP_KIND_STRING) {
            err = copy_texts(a, stored, reads, path, out);
            if (err)
                memory_release(out);
        }
        return err;
    }
    if (a->rank + extra > CFI_MAX_RANK)
        return refuse(DREP_ERR_LIMIT, path, "an array of texts of rank %d", a->rank);
    memset(one, 0, sizeof room);
    one->base_addr = a->base_addr;
    one->elem_len = 1;
    one->type = a->type;
    one->rank = (CFI_rank_t)(a->rank + extra);
    one->dim[0] = (CFI_dim_t){0, (CFI_index_t)a->elem_len, 1};
    memcpy(one->dim + extra, a->dim, (size_t)a->rank * sizeof *a->dim);
    return memory_of(one, 1, "CHARACTER", path, out);
}

static void each_of(const CFI_cdesc_t *a, int dims, char *from, void (*fn)(char *, void *),
                    void *ctx)
{
    if (dims == 0) {
        fn(from, ctx);
        return;
    }
    for (CFI_index_t i = 0; i < a->dim[dims - 1].extent; i++)
        each_of(a, dims - 1, from + i * a->dim[dims - 1].sm, fn, ctx);
}

void memory_each(const CFI_cdesc_t *a, void (*fn)(char *element, void *ctx), void *ctx)
{
    each_of(a, a->rank, a->base_addr, fn, ctx);
}

void *memory_buffer(const struct memory *m, const CFI_cdesc_t *a)
{
    return m->texts ? m->texts : a->base_addr;
}

struct texts {
    const struct memory *m;
    size_t len; /* of the array's */
    char *at;   /* the next one of the copy */
    size_t longest;
};

static void text_put(char *element, void *ctx)
{
    struct texts *t = ctx;
    size_t n = t->len, size = (size_t)t->m->size;

    while (n > 0 && element[n - 1] == ' ')
        n--;
    if (n > t->longest)
        t->longest = n;
    memset(t->at, t->m->pad == DREP_PAD_SPACE ? ' ' : '\0', size);
    memcpy(t->at, element, n < size ? n : size);
    t->at += size;
}

int memory_put(const struct memory *m, const CFI_cdesc_t *a, const char *path)
{
    struct texts t = {m, a->elem_len, m->texts, 0};
    int64_t room = m->pad == DREP_PAD_NULTERM ? m->size - 1 : m->size;

    if (!m->texts)
        return 0;
    memory_each(a, text_put, &t);
    if ((int64_t)t.longest <= room)
        return 0;
    return refuse(DREP_ERR_CONVERSION, path, "a text of %zu bytes does not fit into %lld",
                  t.longest, (long long)room);
}

static void text_get(char *element, void *ctx)
{
    struct texts *t = ctx;
    size_t n = (size_t)t->m->size;

    if (t->m->pad != DREP_PAD_SPACE)
        n = strnlen(t->at, n);
    memset(element, ' ', t->len);
    memcpy(element, t->at, n);
    t->at += t->m->size;
}

void memory_get(const struct memory *m, const CFI_cdesc_t *a)
{
    struct texts t = {m, a->elem_len, m->texts, 0};

    if (m->texts)
        memory_each(a, text_get, &t);
}

void memory_release(struct memory *m)
{
    if (m->type != m->element)
        drep_type_free(m->type);
    drep_type_free(m->element);
    m->type = m->element = NULL;
    free(m->texts);
    m->texts = NULL;
}

DREP_API int drep_fortran_texts(const CFI_cdesc_t *values, const CFI_cdesc_t *start,
                                const CFI_cdesc_t *count, const CFI_cdesc_t *stride,
                                const CFI_cdesc_t *maxshape, const CFI_cdesc_t *chunk)
{
    const CFI_cdesc_t *const list[] = {values, start, count, stride, maxshape, chunk};

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i] && (list[i]->type & CFI_type_mask) == CFI_type_Character)
            return refuse(DREP_ERR_TYPE, NULL,
                          i ? "a list of numbers is one of characters"
                            : "an array of characters takes no datatype");
    return 0;
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

int memory_integers(const CFI_cdesc_t *a, const char *path, const char *what, int max,
                    int64_t *list, int *n)
{
    *n = -1;
    if (!a)
        return 0;
    if (!a->base_addr)
        return refuse(DREP_ERR_ARG, path, "%s is not allocated", what);
    if (a->rank > 1 || (a->type & CFI_type_mask) != CFI_type_Integer)
        return refuse(DREP_ERR_ARG, path, "%s is not a list of integers", what);
    if (a->rank == 0) {
        *n = 1;
        return integer_get(a->base_addr, a->elem_len, list)
                   ? 0
                   : refuse(DREP_ERR_ARG, path, "%s has an integer of %zu bytes", what,
                            a->elem_len);
    }
    if (a->dim[0].extent < 0 || a->dim[0].extent > max)
        return refuse(DREP_ERR_ARG, path, "%s has %lld numbers, more than %d", what,
                      (long long)a->dim[0].extent, max);
    for (int i = 0; i < a->dim[0].extent; i++)
        if (!integer_get((const char *)a->base_addr + i * a->dim[0].sm, a->elem_len, &list[i]))
            return refuse(DREP_ERR_ARG, path, "%s has integers of %zu bytes", what, a->elem_len);
    *n = (int)a->dim[0].extent;
    return 0;
}
