/* header.c - the header proper: by which representation a file is to be read.
 *
 * A sequence of records {u16 tag, u32 length, content}.  Rows of later versions' codes
 * stand behind ours, since codes ascend, and are kept as the tail of their record. */
#include "format/header.h"

#define TAGS 65536
#define HEAD 6 /* bytes of a record's tag and length */

static bool is_text(const struct span *s, size_t max)
{
    return s->len > 0 && s->len <= max && text_check(s->p, s->len) == 0;
}

static void datarep_get(struct in *in, struct header_rec *h)
{
    struct span name;

    h->form = in_u8(in);
    if (!in->err && h->form != FMT_FORM_TABLE && h->form != FMT_FORM_CODE)
        in_fail(in, FMT_ERR_FORMAT, "unknown form of representation (R3.8)");
    h->flags = in_u8(in);
    if (!in->err && h->flags & ~1u)
        in_fail(in, FMT_ERR_FORMAT, "unknown flag of a representation (R3.12)");
    span_get(in, in_u8(in), &name);
    if (!in->err && !is_text(&name, FMT_DATAREP_MAX))
        in_fail(in, FMT_ERR_FORMAT, "invalid name of a representation (R3.7)");
    if (!in->err)
        memcpy(h->name, name.p, name.len);
    span_rest(in, &h->tail);
}

/* Read the next row's code: 0 at the end, and at the first code that is not ours, which becomes
 * the tail with all that follows. */
static int code_next(struct in *in, int last, struct span *tail)
{
    size_t start = in->at;
    int code;

    if (in_left(in) == 0)
        return 0;
    code = in_u16(in);
    if (in->err)
        return 0;
    if (code <= last) {
        in_fail(in, FMT_ERR_FORMAT, "codes of datatypes do not ascend (R3.16)");
        return 0;
    }
    if (code <= FMT_CODE_MAX)
        return code;
    in->at = start;
    span_rest(in, tail);
    return 0;
}

static void extents_get(struct in *in, struct header_rec *h)
{
    int code = 0;

    while ((code = code_next(in, code, &h->extents_tail)) != 0) {
        h->extent[code] = in_u16(in);
        if (!in->err && h->extent[code] == 0)
            in_fail(in, FMT_ERR_FORMAT, "a datatype has no extent (R3.14)");
    }
}

static bool align_possible(int align)
{
    return align == 1 || align == 2 || align == 4 || align == 8 || align == 16;
}

/* Decode rows for ascending codes; those of later versions end up in the tail. */
static void encodings_get(struct in *in, struct header_rec *h)
{
    int code = 0;

    h->has_encodings = 1;
    while ((code = code_next(in, code, &h->encodings_tail)) != 0) {
        struct encoding_rec r = {.code = (uint16_t)code};
        int halves = fmt_code_class(code) == FMT_COMPLEX ? 2 : 1;
        size_t start = in->last;
        uint8_t zero;

        r.format = in_u8(in);
        r.order = in_u8(in);
        r.size = in_u8(in);
        r.align = in_u8(in);
        r.custom = in_u8(in);
        zero = in_u8(in);
        if (in->err)
            return;
        in->last = start;
        if (fmt_format_class(r.format) < 0)
            in_fail(in, FMT_ERR_FORMAT, "unknown format in a table of encodings (R3.19)");
        else if (r.size > FMT_ITEM_MAX || r.size % halves ||
                 !fmt_format_fits(r.format, r.size / halves))
            in_fail(in, FMT_ERR_FORMAT,
                    "the size of an encoding differs from its format's (R3.18)");
        else if (r.order > FMT_ORDER_VAX)
            in_fail(in, FMT_ERR_FORMAT, "unknown byte order of an encoding (R3.17)");
        else if (!align_possible(r.align) || zero)
            in_fail(in, FMT_ERR_FORMAT, "impossible alignment of an encoding (R3.20)");
        h->row[code] = r;
    }
}

static void scalars_get(struct in *in, struct header_rec *h)
{
    struct scalar_rec ignored;

    span_get(in, in_left(in), &h->scalars);
    in->at = 0;
    while (in_left(in) > 0)
        scalar_get(in, &ignored);
}

/* Largest number of witness values of a datatype; the creator may store fewer. */
static int witnesses_of(int code)
{
    switch (fmt_code_class(code)) {
    case FMT_BYTES:
        return 0;
    case FMT_BOOL:
        return 2;
    case FMT_REAL:
    case FMT_COMPLEX:
        return 5;
    }
    return 3;
}

static void witnesses_get(struct in *in, struct header_rec *h)
{
    int code = 0;

    while ((code = code_next(in, code, &h->witnesses_tail)) != 0) {
        struct witness_rec w;

        w.k = in_u8(in);
        w.size = in_u8(in);
        if (!in->err && (w.k > witnesses_of(code) || w.size == 0))
            in_fail(in, FMT_ERR_FORMAT, "impossible number of witnesses (R3.23)");
        w.bytes = in_bytes(in, (size_t)w.k * w.size);
        h->witness[code] = w;
    }
}

static void hints_get(struct in *in, struct header_rec *h)
{
    struct hint_rec hint, last = {{NULL, 0}, {NULL, 0}};
    int first = 1;

    span_get(in, in_left(in), &h->hints);
    in->at = 0;
    while (hint_get(in, &hint) == FMT_OK) {
        if (!first && key_compare(hint.key.p, hint.key.len, last.key.p, last.key.len) <= 0)
            in_fail(in, FMT_ERR_FORMAT, "keys of hints do not ascend (R3.26)");
        if (!is_text(&hint.key, FMT_HINT_KEY_MAX) || !is_text(&hint.value, FMT_HINT_VALUE_MAX))
            in_fail(in, FMT_ERR_FORMAT, "invalid hint (R3.26)");
        last = hint;
        first = 0;
    }
}

static void text_get(struct in *in, struct span *text)
{
    span_rest(in, text);
    if (!in->err && text_check(text->p, text->len))
        in_fail(in, FMT_ERR_FORMAT, "invalid text (R1.3)");
}

/* Decode the content of one record; returns 0 if its tag is unknown. */
static int record_get(struct in *in, int tag, struct header_rec *h)
{
    switch (tag) {
    case FMT_HEADER_DATAREP:
        datarep_get(in, h);
        return 1;
    case FMT_HEADER_EXTENTS:
        extents_get(in, h);
        return 1;
    case FMT_HEADER_ENCODINGS:
        encodings_get(in, h);
        return 1;
    case FMT_HEADER_SCALARS:
        scalars_get(in, h);
        return 1;
    case FMT_HEADER_WITNESSES:
        witnesses_get(in, h);
        return 1;
    case FMT_HEADER_HINTS:
        hints_get(in, h);
        return 1;
    case FMT_HEADER_WRITER:
        text_get(in, &h->writer);
        return 1;
    case FMT_HEADER_MACHINE:
        text_get(in, &h->machine);
        return 1;
    }
    return 0;
}

/* A row of format 255 has the size of the description that it names. */
static const char *custom_doubt(const struct header_rec *h, int code)
{
    const struct encoding_rec *r = &h->row[code];
    int halves = fmt_code_class(code) == FMT_COMPLEX ? 2 : 1;
    size_t at = (size_t)r->custom * FMT_SCALAR_SIZE;

    if (r->size == 0 || r->format != FMT_FORMAT_CUSTOM)
        return NULL;
    if (at >= h->scalars.len)
        return "an encoding refers to a missing scalar (R3.21)";
    return h->scalars.p[at + 2] * halves == r->size
               ? NULL
               : "the size of an encoding differs from its scalar's (R3.21)";
}

/* Check the records against each other. Returns what is wrong, or NULL. */
static const char *header_doubt(const struct header_rec *h)
{
    int external32 = strcmp(h->name, "external32") == 0;
    int internal = strcmp(h->name, "internal") == 0;
    int spec = h->form == FMT_FORM_TABLE && (external32 || internal);

    if (spec && h->has_encodings)
        return "a table of encodings where the name says all (R3.9)";
    if (h->form == FMT_FORM_TABLE && !spec && !h->has_encodings)
        return "a representation has no table of encodings (R3.9)";
    for (int code = 1; code <= FMT_CODE_MAX; code++) {
        const char *doubt = custom_doubt(h, code);
        int size = !spec        ? h->row[code].size
                   : external32 ? fmt_code_external32(code)
                                : fmt_code_internal(code);

        if (doubt)
            return doubt;
        if (h->form == FMT_FORM_TABLE && h->extent[code] && h->extent[code] != size)
            return "the extent of a datatype differs from its encoding's (R3.14)";
        if (h->extent[code] && h->witness[code].size && h->extent[code] != h->witness[code].size)
            return "the extent of a datatype differs from its witnesses' (R3.23)";
    }
    return NULL;
}

static int refuse(int err, const char *text, size_t at, const char **why, size_t *why_at)
{
    *why = text;
    *why_at = at;
    return err;
}

/* The representation comes first; other records in any order, each at most once. Unknown ones
 * are gathered whole and kept by writers. */
int header_get(const uint8_t *p, size_t size, struct header_rec *out, uint8_t *scratch,
               const char **why, size_t *why_at)
{
    uint8_t seen[TAGS / 8] = {0};
    struct header_rec h = {0};
    struct in in;

    if (size > FMT_HEADER_MAX)
        return refuse(FMT_ERR_LIMIT, "the header is longer than 1 MiB (R3.2)", 0, why, why_at);
    if (size == 0)
        return refuse(FMT_ERR_FORMAT, "the header is empty (R3.4)", 0, why, why_at);
    h.unknown.p = scratch;
    in_init(&in, p, size);
    while (in_left(&in) > 0) {
        size_t start = in.at;
        unsigned tag = in_u16(&in);
        struct in content;
        struct span s;

        if (seen[tag / 8] & 1u << tag % 8)
            in_fail(&in, FMT_ERR_FORMAT, "a record occurs twice (R3.4)");
        if (start == 0 && tag != FMT_HEADER_DATAREP)
            in_fail(&in, FMT_ERR_FORMAT, "the header does not begin with a representation (R3.4)");
        span_get(&in, in_u32(&in), &s);
        if (in.err)
            return refuse(in.err, in.why, in.err_at, why, why_at);
        seen[tag / 8] |= (uint8_t)(1u << tag % 8);
        in_init(&content, s.p, s.len);
        if (!record_get(&content, (int)tag, &h)) {
            memcpy(scratch + h.unknown.len, p + start, in.at - start);
            h.unknown.len += in.at - start;
        }
        if (content.err)
            return refuse(content.err, content.why, start + HEAD + content.err_at, why, why_at);
    }
    if (header_doubt(&h))
        return refuse(FMT_ERR_FORMAT, header_doubt(&h), 0, why, why_at);
    *out = h;
    return FMT_OK;
}

/* Begin a record; record_end() fills in its length. */
static size_t record_begin(struct out *out, unsigned tag)
{
    size_t start = out->at;

    out_u16(out, (uint16_t)tag);
    out_u32(out, 0);
    return start;
}

/* End a record. *split grows while whole records fit into the slot. */
static void record_end(struct out *out, size_t start, size_t *split)
{
    out_patch_u32(out, start + 2, (uint32_t)(out->at - start - HEAD));
    if (*split == start && out->at <= FMT_SLOT_HEADER_MAX)
        *split = out->at;
}

static void span_record_put(struct out *out, unsigned tag, const struct span *s, size_t *split)
{
    size_t start;

    if (s->len == 0)
        return;
    start = record_begin(out, tag);
    span_put(out, s);
    record_end(out, start, split);
}

static void extents_put(struct out *out, const struct header_rec *h, size_t *split)
{
    size_t start = record_begin(out, FMT_HEADER_EXTENTS);

    for (int code = 1; code <= FMT_CODE_MAX; code++)
        if (h->extent[code]) {
            out_u16(out, (uint16_t)code);
            out_u16(out, h->extent[code]);
        }
    span_put(out, &h->extents_tail);
    record_end(out, start, split);
}

static void encodings_put(struct out *out, const struct header_rec *h, size_t *split)
{
    size_t start = record_begin(out, FMT_HEADER_ENCODINGS);

    for (int code = 1; code <= FMT_CODE_MAX; code++) {
        const struct encoding_rec *r = &h->row[code];

        if (r->size == 0)
            continue;
        out_u16(out, (uint16_t)code);
        out_u8(out, r->format);
        out_u8(out, r->order);
        out_u8(out, r->size);
        out_u8(out, r->align);
        out_u8(out, r->custom);
        out_u8(out, 0);
    }
    span_put(out, &h->encodings_tail);
    record_end(out, start, split);
}

static void witnesses_put(struct out *out, const struct header_rec *h, size_t *split)
{
    size_t start = record_begin(out, FMT_HEADER_WITNESSES);

    for (int code = 1; code <= FMT_CODE_MAX; code++) {
        const struct witness_rec *w = &h->witness[code];

        if (w->size == 0)
            continue;
        out_u16(out, (uint16_t)code);
        out_u8(out, w->k);
        out_u8(out, w->size);
        out_bytes(out, w->bytes, (size_t)w->k * w->size);
    }
    span_put(out, &h->witnesses_tail);
    record_end(out, start, split);
}

static bool has_witnesses(const struct header_rec *h)
{
    for (int code = 1; code <= FMT_CODE_MAX; code++)
        if (h->witness[code].size)
            return true;
    return h->witnesses_tail.len > 0;
}

static void unknown_put(struct out *out, const struct span *unknown, size_t *split)
{
    struct in in;

    in_init(&in, unknown->p, unknown->len);
    while (in_left(&in) > 0) {
        size_t start = record_begin(out, in_u16(&in));
        struct span s;

        span_get(&in, in_u32(&in), &s);
        span_put(out, &s);
        record_end(out, start, split);
    }
}

void header_put(struct out *out, const struct header_rec *h, size_t *split)
{
    size_t start = record_begin(out, FMT_HEADER_DATAREP);
    size_t len = strlen(h->name);

    *split = start;
    out_u8(out, h->form);
    out_u8(out, h->flags);
    out_u8(out, (uint8_t)len);
    out_bytes(out, h->name, len);
    span_put(out, &h->tail);
    record_end(out, start, split);
    extents_put(out, h, split);
    if (h->has_encodings)
        encodings_put(out, h, split);
    span_record_put(out, FMT_HEADER_SCALARS, &h->scalars, split);
    if (has_witnesses(h))
        witnesses_put(out, h, split);
    span_record_put(out, FMT_HEADER_HINTS, &h->hints, split);
    span_record_put(out, FMT_HEADER_WRITER, &h->writer, split);
    span_record_put(out, FMT_HEADER_MACHINE, &h->machine, split);
    unknown_put(out, &h->unknown, split);
}

int hint_get(struct in *in, struct hint_rec *out)
{
    size_t start = in->at;
    struct hint_rec t;

    if (in->err)
        return in->err;
    if (in_left(in) == 0)
        return FMT_ERR_NOT_FOUND;
    span_get(in, in_u16(in), &t.key);
    span_get(in, in_u16(in), &t.value);
    if (in->err)
        return in->err;
    in->last = start;
    *out = t;
    return FMT_OK;
}

void hint_put(struct out *out, const struct hint_rec *h)
{
    out_u16(out, (uint16_t)h->key.len);
    span_put(out, &h->key);
    out_u16(out, (uint16_t)h->value.len);
    span_put(out, &h->value);
}
