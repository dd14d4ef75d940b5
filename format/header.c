/* header.c - the header proper: the representations of a file, its hints, who wrote it.
 *
 * A sequence of records {u16 tag, u32 length, content}; a representation nests such records.  Rows
 * of later versions' codes stand behind ours, since codes ascend, and are kept as the tail of their
 * record. */
/* SPDX-License-Identifier: MIT */
#include "format/header.h"

#define TAGS 65536
#define HEAD 6 /* bytes of a record's tag and length */

static bool is_text(const struct span *s, size_t max)
{
    return s->len > 0 && s->len <= max && text_check(s->p, s->len) == 0;
}

/* Decode the fields that stand first in every form. */
static void rep_head_get(struct in *in, struct rep_rec *r)
{
    struct span name;

    r->form = in_u8(in);
    r->flags = in_u8(in);
    r->number = in_u16(in);
    span_get(in, in_u8(in), &name);
    if (!in->err && !is_text(&name, UINT8_MAX))
        in_fail(in, FMT_ERR_FORMAT, "invalid name of a representation (R3.7)");
    IN_LIMIT(in, name.len, FMT_DATAREP_MAX, "a representation's name of more than 127 bytes",
             "R3.7");
    r->beyond = in_pass_over(in, in->at);
    if (in->err)
        return;
    if (!r->beyond)
        memcpy(r->name, name.p, name.len);
    r->name[r->beyond ? 0 : name.len] = '\0';
    r->later = (r->form != FMT_FORM_TABLE && r->form != FMT_FORM_CODE) ||
               (r->flags & FMT_FLAGS_MEAN) || r->beyond;
}

/* Read a row's code, which is above the last one; 0: it is not, or an error. */
static int code_above(struct in *in, int last)
{
    int code = in_u16(in);

    if (in->err)
        return 0;
    if (code > last)
        return code;
    in_fail(in, FMT_ERR_FORMAT, "codes of datatypes do not ascend (R3.16)");
    return 0;
}

/* Bytes of a row behind its code: so many, or, of `size` 0, a witness's. */
static void row_skip(struct in *in, size_t size)
{
    size_t k = size ? size : in_u8(in);

    in_bytes(in, size ? size : k * in_u8(in));
}

/* Read the next row's code: 0 at the end, and at the first code that is not ours, which becomes
 * the tail with all that follows: rows of codes that ascend, too. */
static int code_next(struct in *in, int last, size_t size, struct span *tail)
{
    size_t start = in->at;
    int code;

    if (in_left(in) == 0)
        return 0;
    code = code_above(in, last);
    if (code <= FMT_CODE_MAX)
        return code;
    for (row_skip(in, size); in_left(in) > 0 && (code = code_above(in, code)) != 0;)
        row_skip(in, size);
    if (in->err)
        return 0;
    in->at = start;
    span_rest(in, tail);
    return 0;
}

static void extents_get(struct in *in, struct rep_rec *h)
{
    int code = 0;

    while ((code = code_next(in, code, 2, &h->extents_tail)) != 0) {
        h->extent[code] = in_u16(in);
        if (!in->err && h->extent[code] == 0)
            in_fail(in, FMT_ERR_FORMAT, "a datatype has no extent (R3.14)");
    }
}

/* Decode rows for ascending codes; those of later versions end up in the tail. */
static void encodings_get(struct in *in, struct rep_rec *h)
{
    int code = 0;

    h->has_encodings = 1;
    while ((code = code_next(in, code, 6, &h->encodings_tail)) != 0) {
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
        r.later = fmt_format_class(r.format) < 0 || r.order > FMT_ORDER_VAX ||
                  fmt_size_beyond(r.format, r.size);
        if (r.size == 0 || (r.size != 1 && fmt_code_class(code) == FMT_BYTES) ||
            (!r.later && (r.size % halves || !fmt_format_fits(r.format, r.size / halves))))
            in_fail(in, FMT_ERR_FORMAT,
                    "the size of an encoding differs from its format's (R3.18)");
        else if (zero)
            in_fail(in, FMT_ERR_FORMAT, "the last byte of an encoding is not zero (R3.20)");
        else if (!r.align || r.align > 16 || r.align & (r.align - 1))
            in_fail(in, FMT_ERR_FORMAT, "an encoding has no such alignment (R3.20)");
        h->row[code] = r;
    }
}

static void scalars_get(struct in *in, struct rep_rec *h)
{
    struct scalar_rec ignored;
    struct in scalar;
    struct span s;

    span_rest(in, &h->scalars);
    in->at -= h->scalars.len;
    while (in_left(in) > 0) {
        size_t start = in->at;

        span_get(in, FMT_SCALAR_SIZE, &s);
        in_init(&scalar, s.p, s.len);
        if (in->err || scalar_get(&scalar, &ignored) != FMT_ERR_FORMAT)
            continue;
        in->last = start + scalar.err_at;
        in_fail(in, scalar.err, scalar.why);
    }
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

static void witnesses_get(struct in *in, struct rep_rec *h)
{
    int code = 0;

    while ((code = code_next(in, code, 0, &h->witnesses_tail)) != 0) {
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

static void header_text(struct in *in, struct span *text)
{
    span_rest(in, text);
    if (!in->err && text_check(text->p, text->len))
        in_fail(in, FMT_ERR_FORMAT, "invalid text (R1.3)");
}

/* Decode a record inside a representation; returns 0 if its tag is unknown. */
static int nested_get(struct in *in, unsigned tag, struct rep_rec *r)
{
    switch (tag) {
    case FMT_HEADER_EXTENTS:
        extents_get(in, r);
        return 1;
    case FMT_HEADER_ENCODINGS:
        encodings_get(in, r);
        return 1;
    case FMT_HEADER_SCALARS:
        scalars_get(in, r);
        return 1;
    case FMT_HEADER_WITNESSES:
        witnesses_get(in, r);
        return 1;
    case FMT_HEADER_MACHINE:
        header_text(in, &r->machine);
        return 1;
    }
    return 0;
}

/* A row of format 255 has the size of the description that it names; where only a later version
 * knows that, it alone knows the row. */
static const char *encoding_custom_doubt(struct rep_rec *r, int code)
{
    struct encoding_rec *row = &r->row[code];
    int halves = fmt_code_class(code) == FMT_COMPLEX ? 2 : 1;
    size_t at = (size_t)row->custom * FMT_SCALAR_SIZE;
    struct scalar_rec scalar;
    struct in in;

    if (row->size == 0 || row->later || row->format != FMT_FORMAT_CUSTOM)
        return NULL;
    if (at >= r->scalars.len)
        return "an encoding refers to a missing scalar (R3.21)";
    in_init(&in, r->scalars.p + at, FMT_SCALAR_SIZE);
    row->later = scalar_get(&in, &scalar) != 0;
    return row->later || scalar.size * halves == row->size
               ? NULL
               : "the size of an encoding differs from its scalar's (R3.21)";
}

const char *encoding_beyond(const struct encoding_rec *row, const struct span *scalars)
{
    struct scalar_rec scalar;
    struct in in;

    in_init(&in, scalars->p, scalars->len);
    in.at = (size_t)row->custom * FMT_SCALAR_SIZE;
    if (row->format != FMT_FORMAT_CUSTOM || in.at > scalars->len)
        return fmt_size_beyond(row->format, row->size);
    scalar_get(&in, &scalar);
    return in_pass_over(&in, 0);
}

/* Check the nested records against each other. Returns what is wrong, or NULL. */
static const char *rep_doubt(struct rep_rec *r)
{
    int external32 = strcmp(r->name, "external32") == 0;
    int internal = strcmp(r->name, "internal") == 0;
    int spec = r->form == FMT_FORM_TABLE && (external32 || internal);

    if (spec && r->has_encodings)
        return "a table of encodings where the name says all (R3.9)";
    if (r->form == FMT_FORM_TABLE && !spec && !r->has_encodings)
        return "a representation has no table of encodings (R3.9)";
    for (int code = 1; code <= FMT_CODE_MAX; code++) {
        const char *doubt = encoding_custom_doubt(r, code);
        int size = !spec        ? r->row[code].size
                   : external32 ? fmt_code_external32(code)
                                : fmt_code_internal(code);

        if (doubt)
            return doubt;
        if (r->form == FMT_FORM_TABLE && r->extent[code] && r->extent[code] != size)
            return "the extent of a datatype differs from its encoding's (R3.14)";
        if (r->witness[code].size && r->extent[code] != r->witness[code].size)
            return "the extent of a datatype differs from its witnesses' (R3.23)";
    }
    return NULL;
}

static int header_fault(int err, const char *text, size_t at, const char **why, size_t *why_at)
{
    *why = text;
    *why_at = at;
    return err;
}

/* A walk over records, which marks the tags that it met. */
struct record_walk {
    struct in in;
    size_t start; /* of the record */
    unsigned tag;
    struct span content;
    uint8_t seen[TAGS / 8];
};

/* Take the next record; `many`: the one tag that may occur more than once. */
static int record_next(struct record_walk *r, unsigned many)
{
    r->start = r->in.at;
    r->tag = in_u16(&r->in);
    if (!r->in.err && r->tag != many && r->seen[r->tag / 8] & 1u << r->tag % 8)
        in_fail(&r->in, FMT_ERR_FORMAT,
                many == TAGS ? "a record occurs twice in a representation (R3.6)"
                             : "a record occurs twice (R3.4)");
    span_get(&r->in, in_u32(&r->in), &r->content);
    r->seen[r->tag / 8] |= (uint8_t)(1u << r->tag % 8);
    return r->in.err;
}

/* Gather a record whole. */
static void record_keep(const struct record_walk *r, uint8_t *scratch, struct span *unknown)
{
    size_t size = r->in.at - r->start;

    unknown->p = scratch;
    memcpy(scratch + unknown->len, r->content.p - HEAD, size);
    unknown->len += size;
}

/* Nested records stand in any order, each at most once. */
int rep_get(const struct span *rec, struct rep_rec *out, uint8_t *scratch, const char **why,
            size_t *why_at)
{
    struct record_walk r = {.start = 0};
    struct rep_rec rep = {0};

    in_init(&r.in, rec->p, rec->len);
    rep_head_get(&r.in, &rep);
    while (!r.in.err && !rep.later && in_left(&r.in) > 0) {
        struct in content;

        if (record_next(&r, TAGS))
            break;
        in_init(&content, r.content.p, r.content.len);
        if (!nested_get(&content, r.tag, &rep))
            record_keep(&r, scratch, &rep.unknown);
        if (content.err)
            return header_fault(content.err, content.why, r.start + HEAD + content.err_at, why,
                                why_at);
    }
    if (r.in.err)
        return header_fault(r.in.err, r.in.why, r.in.err_at, why, why_at);
    if (!rep.later && rep_doubt(&rep))
        return header_fault(FMT_ERR_FORMAT, rep_doubt(&rep), 0, why, why_at);
    *out = rep;
    return FMT_OK;
}

/* Numbers ascend, and the first record of all is number 0. */
static void rep_note(struct record_walk *r, struct header_rec *h, uint16_t *last)
{
    struct rep_rec rep;
    struct in in;

    in_init(&in, r->content.p, r->content.len);
    rep_head_get(&in, &rep);
    r->in.last = r->start + HEAD + (in.err ? in.err_at : 0);
    if (in.err)
        in_fail(&r->in, in.err, in.why);
    else if (h->nreps == 0 ? rep.number != 0 : rep.number <= *last)
        in_fail(&r->in, FMT_ERR_FORMAT, "numbers of representations do not ascend from 0 (R3.4)");
    *last = rep.number;
    h->nreps++;
}

bool header_record_next(struct in *in, unsigned *tag, struct span *content)
{
    if (in->err || in_left(in) == 0)
        return false;
    *tag = in_u16(in);
    span_get(in, in_u32(in), content);
    return !in->err;
}

int header_rep_next(struct in *in, struct span *out)
{
    unsigned tag;

    while (header_record_next(in, &tag, out))
        if (tag == FMT_HEADER_REP)
            return FMT_OK;
    return FMT_ERR_NOT_FOUND;
}

/* Other records stand in any order, each at most once. Unknown ones are gathered whole and kept by
 * writers. */
int header_get(const uint8_t *p, size_t size, struct header_rec *out, uint8_t *scratch,
               const char **why, size_t *why_at)
{
    struct record_walk r = {.start = 0};
    struct header_rec h = {.reps = {p, size}};
    uint16_t last = 0;

    if (size > FMT_HEADER_MAX)
        return header_fault(FMT_ERR_UNSUPPORTED, FMT_BEYOND("a header of more than 1 MiB", "R3.2"),
                            0, why, why_at);
    if (size == 0)
        return header_fault(FMT_ERR_FORMAT, "the header is empty (R3.4)", 0, why, why_at);
    in_init(&r.in, p, size);
    while (!r.in.err && in_left(&r.in) > 0) {
        struct in content;

        if (record_next(&r, FMT_HEADER_REP))
            break;
        in_init(&content, r.content.p, r.content.len);
        r.in.last = r.start;
        if (r.start == 0 && r.tag != FMT_HEADER_REP)
            in_fail(&r.in, FMT_ERR_FORMAT,
                    "the header does not begin with a representation (R3.4)");
        else if (r.tag == FMT_HEADER_REP)
            rep_note(&r, &h, &last);
        else if (r.tag == FMT_HEADER_HINTS)
            hints_get(&content, &h);
        else if (r.tag == FMT_HEADER_WRITER)
            header_text(&content, &h.writer);
        else
            record_keep(&r, scratch, &h.unknown);
        if (content.err)
            return header_fault(content.err, content.why, r.start + HEAD + content.err_at, why,
                                why_at);
    }
    if (r.in.err)
        return header_fault(r.in.err, r.in.why, r.in.err_at, why, why_at);
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

static void record_end(struct out *out, size_t start)
{
    out_patch_u32(out, start + 2, (uint32_t)(out->at - start - HEAD));
}

static void span_record_put(struct out *out, unsigned tag, const struct span *s)
{
    size_t start;

    if (s->len == 0)
        return;
    start = record_begin(out, tag);
    span_put(out, s);
    record_end(out, start);
}

static void extents_put(struct out *out, const struct rep_rec *r)
{
    size_t start = record_begin(out, FMT_HEADER_EXTENTS);

    for (int code = 1; code <= FMT_CODE_MAX; code++)
        if (r->extent[code]) {
            out_u16(out, (uint16_t)code);
            out_u16(out, r->extent[code]);
        }
    span_put(out, &r->extents_tail);
    record_end(out, start);
}

static void encodings_put(struct out *out, const struct rep_rec *r)
{
    size_t start = record_begin(out, FMT_HEADER_ENCODINGS);

    for (int code = 1; code <= FMT_CODE_MAX; code++) {
        const struct encoding_rec *row = &r->row[code];

        if (row->size == 0)
            continue;
        out_u16(out, (uint16_t)code);
        out_u8(out, row->format);
        out_u8(out, row->order);
        out_u8(out, row->size);
        out_u8(out, row->align);
        out_u8(out, row->custom);
        out_u8(out, 0);
    }
    span_put(out, &r->encodings_tail);
    record_end(out, start);
}

static void witnesses_put(struct out *out, const struct rep_rec *r)
{
    size_t start = record_begin(out, FMT_HEADER_WITNESSES);

    for (int code = 1; code <= FMT_CODE_MAX; code++) {
        const struct witness_rec *w = &r->witness[code];

        if (w->size == 0)
            continue;
        out_u16(out, (uint16_t)code);
        out_u8(out, w->k);
        out_u8(out, w->size);
        out_bytes(out, w->bytes, (size_t)w->k * w->size);
    }
    span_put(out, &r->witnesses_tail);
    record_end(out, start);
}

static bool has_witnesses(const struct rep_rec *r)
{
    for (int code = 1; code <= FMT_CODE_MAX; code++)
        if (r->witness[code].size)
            return true;
    return r->witnesses_tail.len > 0;
}

void rep_put(struct out *out, const struct rep_rec *r)
{
    size_t len = strlen(r->name);

    out_u8(out, r->form);
    out_u8(out, r->flags);
    out_u16(out, r->number);
    out_u8(out, (uint8_t)len);
    out_bytes(out, r->name, len);
    extents_put(out, r);
    if (r->has_encodings)
        encodings_put(out, r);
    span_record_put(out, FMT_HEADER_SCALARS, &r->scalars);
    if (has_witnesses(r))
        witnesses_put(out, r);
    span_record_put(out, FMT_HEADER_MACHINE, &r->machine);
    span_put(out, &r->unknown);
}

void rep_record_put(struct out *out, const struct rep_rec *r)
{
    size_t start = record_begin(out, FMT_HEADER_REP);

    rep_put(out, r);
    record_end(out, start);
}

void header_rep_put(struct out *out, const struct span *content)
{
    span_record_put(out, FMT_HEADER_REP, content);
}

/* The end of the whole records that fit into the slot, which count from `start`. */
static void split_note(const struct out *out, size_t start, size_t *split)
{
    if (*split == start && out->at <= FMT_SLOT_HEADER_MAX)
        *split = out->at;
}

static void known_put(struct out *out, unsigned tag, const struct span *s, size_t *split)
{
    size_t start = out->at;

    span_record_put(out, tag, s);
    split_note(out, start, split);
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
        record_end(out, start);
        split_note(out, start, split);
    }
}

void header_put(struct out *out, const struct header_rec *h, size_t *split)
{
    struct span rep;
    struct in in;

    *split = out->at;
    in_init(&in, h->reps.p, h->reps.len);
    while (header_rep_next(&in, &rep) == FMT_OK)
        known_put(out, FMT_HEADER_REP, &rep, split);
    known_put(out, FMT_HEADER_HINTS, &h->hints, split);
    known_put(out, FMT_HEADER_WRITER, &h->writer, split);
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
