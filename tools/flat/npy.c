/* npy.c - the header of a .npy file: a little of Python's grammar.
 *
 * A dictionary with 'descr', 'fortran_order' and 'shape', as repr() writes it; strings,
 * integers, True, False, tuples and lists are all there is in it. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/npy.h"
#include "base/vec.h"
#include "format/byteorder.h"
#include "format/utf8.h"
#include "tools/host/utf8.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/"
#define ELEMENT_MAX ((int64_t)1 << 30) /* bytes */

/* ------------------------------------------------------------------- reading */

struct npy_text {
    const char *start, *p, *end;
    size_t origin; /* byte of the file at `start` */
    bool latin1;   /* not UTF-8 */
    size_t wrong;  /* where, 0: nothing yet */
    char *why;
};

static bool fail_here(struct npy_text *t, const char *why)
{
    if (!t->wrong) {
        t->wrong = t->origin + (size_t)(t->p - t->start);
        snprintf(t->why, 256, "%s", why);
    }
    return false;
}

static void blanks(struct npy_text *t)
{
    while (t->p < t->end && strchr(" \t\r\n", *t->p) && *t->p)
        t->p++;
}

static bool next_is(struct npy_text *t, char c)
{
    blanks(t);
    if (t->p >= t->end || *t->p != c)
        return false;
    t->p++;
    return true;
}

static bool want(struct npy_text *t, char c)
{
    char why[] = "expected '?'";

    why[10] = c;
    return next_is(t, c) || fail_here(t, why);
}

static bool next_word(struct npy_text *t, const char *word)
{
    size_t size = strlen(word);

    blanks(t);
    if ((size_t)(t->end - t->p) < size || memcmp(t->p, word, size) != 0)
        return false;
    t->p += size;
    return true;
}

/* A length; Python 2 wrote an L behind it. */
static bool get_length(struct npy_text *t, int64_t *out)
{
    int64_t n = 0;

    blanks(t);
    if (t->p >= t->end || *t->p < '0' || *t->p > '9')
        return fail_here(t, "expected a length");
    for (; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++) {
        if (n > ((int64_t)1 << 58))
            return fail_here(t, "a length is beyond 2^62");
        n = 10 * n + (*t->p - '0');
    }
    if (t->p < t->end && *t->p == 'L')
        t->p++;
    *out = n;
    return true;
}

/* The character after a backslash. */
static bool get_escape(struct npy_text *t, char **to)
{
    static const char from[] = "nrt\\'\"", into[] = "\n\r\t\\'\"";
    static const char wide[] = "xuU";
    const char *known = strchr(from, *t->p), *digits;
    unsigned code = 0;
    int n, i;

    if (*t->p && known) {
        *(*to)++ = into[known - from];
        t->p++;
        return true;
    }
    known = *t->p ? strchr(wide, *t->p) : NULL;
    if (!known)
        return fail_here(t, "unknown escape");
    n = 2 << (known - wide);
    digits = t->p + 1;
    for (i = 0; i < n; i++) {
        int c = i < t->end - digits ? digits[i] : 0;
        int value = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (value < 0)
            return fail_here(t, "expected hexadecimal digits");
        code = code << 4 | (unsigned)value;
    }
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return fail_here(t, "this character cannot be in a name");
    t->p = digits + n;
    *to = utf8_put(*to, code);
    return true;
}

/* A quoted string as UTF-8, malloc'ed. */
static char *get_string(struct npy_text *t)
{
    char quote, *out, *to;

    blanks(t);
    if (t->end - t->p > 1 && (*t->p == 'u' || *t->p == 'b')) /* as Python 2 wrote them */
        t->p++;
    if (t->p >= t->end || (*t->p != '\'' && *t->p != '"')) {
        fail_here(t, "expected a string");
        return NULL;
    }
    quote = *t->p++;
    /* Nothing becomes longer than twice what it was. */
    out = to = malloc(2 * (size_t)(t->end - t->p) + 1);
    if (!out)
        fail_here(t, "out of memory");
    while (out && t->p < t->end && *t->p != quote && !t->wrong) {
        if (*t->p == '\\' && t->end - t->p > 1) {
            t->p++;
            get_escape(t, &to);
        } else if (*t->p == '\0') {
            fail_here(t, "a string contains a NUL");
        } else if (t->latin1) {
            to = utf8_put(to, (unsigned char)*t->p++);
        } else {
            *to++ = *t->p++;
        }
    }
    if (out && !t->wrong && t->p >= t->end)
        fail_here(t, "unterminated string");
    if (out && !utf8_valid(out, (size_t)(to - out)))
        fail_here(t, "a string is not UTF-8");
    if (t->wrong) {
        free(out);
        return NULL;
    }
    t->p++;
    *to = '\0';
    return out;
}

/* (2, 3), or a number alone where that is allowed. */
static bool get_shape(struct npy_text *t, bool alone, int *rank, int64_t *dims)
{
    int n = 0;

    if (!next_is(t, '(')) {
        *rank = 1;
        return alone ? get_length(t, dims) : fail_here(t, "expected a shape");
    }
    while (!next_is(t, ')')) {
        if (n == DREP_MAX_RANK)
            return fail_here(t, "more than 32 dimensions");
        if (!get_length(t, &dims[n]))
            return false;
        n++;
        if (!next_is(t, ',')) {
            if (!want(t, ')'))
                return false;
            break;
        }
    }
    *rank = n;
    return true;
}

/* ------------------------------------------------------------------- dtypes */

void npy_dtype_release(struct npy_dtype *d)
{
    size_t i;

    for (i = 0; i < d->nfields; i++) {
        npy_dtype_release(&d->field[i].type);
        free(d->field[i].name);
        free(d->field[i].title);
    }
    free(d->field);
    *d = (struct npy_dtype){0};
}

int64_t npy_item_size(const struct npy_dtype *d)
{
    int64_t size = d->size;
    int i;

    for (i = 0; i < d->rank; i++)
        size *= d->dims[i];
    return size;
}

/* Is the size one that this kind has?  Texts are given in code points. */
static bool size_fits(char kind, int64_t size)
{
    switch (kind) {
    case 'b':
        return size == 1;
    case 'i':
    case 'u':
        return size == 1 || size == 2 || size == 4 || size == 8;
    case 'f':
        return size == 2 || size == 4 || size == 8 || size == 12 || size == 16;
    case 'c':
        return size == 8 || size == 16 || size == 24 || size == 32;
    case 'M':
    case 'm':
        return size == 8;
    case 'S':
    case 'V':
    case 'U':
        return size >= 1 && size <= ELEMENT_MAX / 4;
    default:
        return false;
    }
}

/* "<f8", "|S10", "<M8[ns]". */
static bool read_leaf(struct npy_text *t, const char *text, struct npy_dtype *out)
{
    struct npy_dtype d = {.order = '|'};
    const char *p = text;
    char *end;

    if (*p && strchr("<>|=", *p)) {
        d.order = *p++;
        if (d.order == '=')
            d.order = HOST_LITTLE ? '<' : '>';
    }
    d.kind = *p == 'a' ? 'S' : *p == '?' ? 'b' : *p;
    if (*p == '?') {
        d.size = 1;
        end = (char *)p + 1;
    } else {
        p += *p != '\0';
        d.size = *p >= '0' && *p <= '9' ? strtoll(p, &end, 10) : -1;
    }
    if (d.kind == 'O')
        return fail_here(t, NPY_OBJECTS);
    if (!size_fits(d.kind, d.size))
        return fail_here(t, "unknown dtype");
    if (d.kind == 'U')
        d.size *= 4;
    if (d.order == '|' && strchr("iufcUMm", d.kind) && d.size > 1)
        return fail_here(t, "a dtype without an order of bytes");
    if ((d.kind == 'M' || d.kind == 'm') && *end == '[' && strlen(end) < sizeof d.unit) {
        strcpy(d.unit, end);
        end += strlen(end);
        if (d.unit[1 + strspn(d.unit + 1, UNIT_LETTERS)] != ']' || end[-1] != ']' ||
            strchr(d.unit, ']') != d.unit + strlen(d.unit) - 1)
            return fail_here(t, "unknown dtype");
    }
    if (*end)
        return fail_here(t, "unknown dtype");
    *out = d;
    return true;
}

static bool get_dtype(struct npy_text *t, int depth, struct npy_dtype *out);

/* A name, or (title, name). */
static bool get_name(struct npy_text *t, struct npy_field *f)
{
    bool titled = next_is(t, '(');

    if (titled) {
        f->title = get_string(t);
        if (!f->title || !want(t, ','))
            return false;
    }
    f->name = get_string(t);
    return f->name && (!titled || want(t, ')'));
}

/* Behind a field's dtype: perhaps a shape, and the end. */
static bool get_block(struct npy_text *t, struct npy_dtype *d)
{
    int64_t size;
    int i;

    if (!next_is(t, ','))
        return want(t, ')');
    if (next_is(t, ')'))
        return true;
    if (!get_shape(t, true, &d->rank, d->dims))
        return false;
    for (i = 0, size = d->size; i < d->rank; i++) {
        if (d->dims[i] < 1 || d->dims[i] > ELEMENT_MAX / size)
            return fail_here(t, "a block without elements, or with too many");
        size *= d->dims[i];
    }
    next_is(t, ',');
    return want(t, ')');
}

/* (name, dtype) or (name, dtype, shape). */
static bool get_field(struct npy_text *t, int depth, struct npy_field *f)
{
    if (!want(t, '(') || !get_name(t, f) || !want(t, ',') || !get_dtype(t, depth, &f->type) ||
        !get_block(t, &f->type))
        return false;
    f->pad = !*f->name && f->type.kind == 'V';
    return true;
}

static bool get_fields(struct npy_text *t, int depth, struct npy_dtype *d)
{
    size_t room = 0;
    bool data = false;

    d->kind = '{';
    d->order = '|';
    while (!next_is(t, ']')) {
        if (VEC_ROOM(d->field, d->nfields, room, 1))
            return fail_here(t, "out of memory");
        d->field[d->nfields] = (struct npy_field){.offset = d->size};
        if (!get_field(t, depth, &d->field[d->nfields++]))
            return false;
        data = data || !d->field[d->nfields - 1].pad;
        d->size += npy_item_size(&d->field[d->nfields - 1].type);
        if (d->size > ELEMENT_MAX)
            return fail_here(t, "elements of more than 2^30 bytes");
        if (!next_is(t, ',')) {
            if (!want(t, ']'))
                return false;
            break;
        }
    }
    return data || fail_here(t, "a dtype without fields");
}

static bool get_dtype(struct npy_text *t, int depth, struct npy_dtype *out)
{
    char *text;
    bool fine;

    if (depth == NPY_DEPTH_MAX)
        return fail_here(t, "dtypes are nested too deep");
    if (next_is(t, '['))
        return get_fields(t, depth + 1, out);
    text = get_string(t);
    if (!text)
        return false;
    fine = read_leaf(t, text, out);
    free(text);
    return fine;
}

bool npy_descr_read(struct npy_dtype *out, const char *text)
{
    char why[256];
    struct npy_text t = {
        .start = text, .p = text, .end = text + strlen(text), .origin = 1, .why = why};
    struct npy_dtype d = {0};

    if (get_dtype(&t, 0, &d)) {
        blanks(&t);
        if (t.p == t.end) {
            *out = d;
            return true;
        }
    }
    npy_dtype_release(&d);
    return false;
}

/* ------------------------------------------------------------------- headers */

size_t npy_header_size(const unsigned char *front, const char **why)
{
    size_t size;

    *why = "not a NumPy array";
    if (memcmp(front, "\223NUMPY", 6) != 0)
        return 0;
    *why = "unknown version of NumPy's format";
    if (front[6] < 1 || front[6] > 3 || front[7] != 0)
        return 0;
    size = (size_t)front[8] | (size_t)front[9] << 8;
    if (front[6] > 1)
        size |= (size_t)front[10] << 16 | (size_t)front[11] << 24;
    *why = "the header is longer than 1 MiB";
    size += front[6] > 1 ? 12 : 10;
    return size < NPY_HEADER_MAX ? size : 0;
}

static bool count_elements(struct npy_text *t, struct npy *npy)
{
    int64_t size = npy_item_size(&npy->dtype), most = ((int64_t)1 << 62) / (size > 0 ? size : 1);
    int i;

    npy->count = 1;
    for (i = 0; i < npy->rank; i++)
        if (npy->dims[i] == 0)
            npy->count = 0;
    for (i = 0; i < npy->rank && npy->count; i++) {
        if (npy->count > most / npy->dims[i])
            return fail_here(t, "the array is larger than 2^62 bytes");
        npy->count *= npy->dims[i];
    }
    npy->size = npy->count * size;
    return true;
}

static bool get_dictionary(struct npy_text *t, struct npy *npy)
{
    bool descr = false, order = false, shape = false, fine = true;
    char *key;

    if (!want(t, '{'))
        return false;
    while (!next_is(t, '}')) {
        key = get_string(t);
        if (!key || !want(t, ':'))
            fine = false;
        else if (strcmp(key, "descr") == 0 && !descr)
            descr = fine = get_dtype(t, 0, &npy->dtype);
        else if (strcmp(key, "fortran_order") == 0 && !order)
            order = fine = (npy->fortran = next_word(t, "True")) || next_word(t, "False") ||
                           fail_here(t, "expected True or False");
        else if (strcmp(key, "shape") == 0 && !shape)
            shape = fine = get_shape(t, false, &npy->rank, npy->dims);
        else
            fine = fail_here(t, "unknown key");
        free(key);
        if (!fine)
            return false;
        if (!next_is(t, ',')) {
            if (!want(t, '}'))
                return false;
            break;
        }
    }
    if (!descr || !order || !shape)
        return fail_here(t, "descr, fortran_order or shape is missing");
    return count_elements(t, npy);
}

size_t npy_read(struct npy *out, const unsigned char *bytes, size_t size, char *why)
{
    size_t front = bytes[6] > 1 ? 12 : 10;
    const char *start = (const char *)bytes + front;
    struct npy_text t = {.start = start,
                         .p = start,
                         .end = (const char *)bytes + size,
                         .origin = front,
                         .latin1 = bytes[6] < 3,
                         .why = why};
    struct npy npy = {.data = (int64_t)size};

    if (get_dictionary(&t, &npy)) {
        blanks(&t);
        if (t.p == t.end) {
            *out = npy;
            return 0;
        }
        fail_here(&t, "unexpected text after the header");
    }
    npy_release(&npy);
    return t.wrong ? t.wrong : front;
}

void npy_release(struct npy *npy)
{
    npy_dtype_release(&npy->dtype);
    *npy = (struct npy){0};
}

/* ------------------------------------------------------------------- writing */

struct page {
    char *text;
    size_t len, room;
    bool failed;
};

static void page_add(struct page *page, const char *text, size_t size)
{
    if (VEC_ROOM(page->text, page->len, page->room, size + 1)) {
        page->failed = true;
        return;
    }
    memcpy(page->text + page->len, text, size);
    page->len += size;
    page->text[page->len] = '\0';
}

static void add_text(struct page *page, const char *text)
{
    page_add(page, text, strlen(text));
}

static void add_number(struct page *page, int64_t n)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, n);
    add_text(page, text);
}

/* In ASCII, so that any version of the format holds it. */
static void add_string(struct page *page, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    char escape[16];
    unsigned code;
    int n, i;

    add_text(page, "'");
    while (*p) {
        n = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
        code = n == 1 ? *p : *p & (0x7fu >> n);
        for (i = 1; i < n && p[i]; i++)
            code = code << 6 | (p[i] & 0x3fu);
        p += i;
        if (code == '\'' || code == '\\')
            snprintf(escape, sizeof escape, "\\%c", (char)code);
        else if (code >= 0x20 && code < 0x7f)
            snprintf(escape, sizeof escape, "%c", (char)code);
        else
            snprintf(escape, sizeof escape,
                     code < 0x100     ? "\\x%02x"
                     : code < 0x10000 ? "\\u%04x"
                                      : "\\U%08x",
                     code);
        add_text(page, escape);
    }
    add_text(page, "'");
}

static void add_shape(struct page *page, const int64_t *dims, int rank)
{
    int i;

    add_text(page, "(");
    for (i = 0; i < rank; i++) {
        add_number(page, dims[i]);
        if (i < rank - 1 || rank == 1)
            add_text(page, i < rank - 1 ? ", " : ",");
    }
    add_text(page, ")");
}

static void add_dtype(struct page *page, const struct npy_dtype *d);

static void add_field(struct page *page, const struct npy_field *f)
{
    add_text(page, "(");
    if (f->title) {
        add_text(page, "(");
        add_string(page, f->title);
        add_text(page, ", ");
    }
    add_string(page, f->name);
    add_text(page, f->title ? "), " : ", ");
    add_dtype(page, &f->type);
    if (f->type.rank > 0) {
        add_text(page, ", ");
        add_shape(page, f->type.dims, f->type.rank);
    }
    add_text(page, ")");
}

static void add_dtype(struct page *page, const struct npy_dtype *d)
{
    char text[64];
    size_t i;

    if (d->kind == '{') {
        add_text(page, "[");
        for (i = 0; i < d->nfields; i++) {
            if (i)
                add_text(page, ", ");
            add_field(page, &d->field[i]);
        }
        add_text(page, "]");
        return;
    }
    snprintf(text, sizeof text, "'%c%c%" PRId64 "%s'", d->order, d->kind,
             d->kind == 'U' ? d->size / 4 : d->size, d->unit);
    add_text(page, text);
}

char *npy_descr(const struct npy_dtype *dtype)
{
    struct page page = {0};

    add_dtype(&page, dtype);
    if (!page.failed)
        return page.text;
    free(page.text);
    return NULL;
}

char *npy_write(const struct npy *npy, size_t *size)
{
    struct page page = {0};
    size_t front = 10, rest;

    page_add(&page, "\223NUMPY\1\0\0\0\0\0", 12);
    page.len = front;
    add_text(&page, "{'descr': ");
    add_dtype(&page, &npy->dtype);
    add_text(&page, ", 'fortran_order': ");
    add_text(&page, npy->fortran ? "True" : "False");
    add_text(&page, ", 'shape': ");
    add_shape(&page, npy->dims, npy->rank);
    add_text(&page, ", }");
    while (!page.failed && (page.len + 1) % 64 != 0)
        add_text(&page, " ");
    add_text(&page, "\n");
    if (!page.failed && page.len > 65535) {
        /* Two bytes more for the length; the elements still begin at a multiple of 64. */
        page_add(&page, "  ", 2);
        front = 12;
        memmove(page.text + front, page.text + 10, page.len - front);
        page.text[6] = 2;
        for (page.text[page.len - 1] = ' '; !page.failed && (page.len + 1) % 64 != 0;)
            add_text(&page, " ");
        add_text(&page, "\n");
    }
    if (page.failed) {
        free(page.text);
        return NULL;
    }
    rest = page.len - front;
    page.text[8] = (char)(rest & 0xff);
    page.text[9] = (char)(rest >> 8 & 0xff);
    if (front == 12) {
        page.text[10] = (char)(rest >> 16 & 0xff);
        page.text[11] = (char)(rest >> 24 & 0xff);
    }
    *size = page.len;
    return page.text;
}
