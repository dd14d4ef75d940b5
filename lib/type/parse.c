/* parse.c - a datatype from its one line.
 *
 *   type    := first { "[" ints "]" }               array of rank as many as ints
 *   first   := NAME                                 predefined: DOUBLE
 *            | "struct" "{" [ member { "," member } ] "}" [ ":" int ]
 *            | "struct" "{" type { "," type } "}"   without names, as C would put it
 *            | "struct" "(" list [ "," list ] "," "[" [ type { "," type } ] "]" ")"
 *            | "string" "(" int [ "," ( "nul" | "nulterm" | "space" ) ] ")"
 *            | "vstring" | "seq" "(" type ")" | "bool" "(" type ")"
 *            | "opaque" "(" int [ "," quoted ] ")"
 *            | "enum" "(" type ")" "{" [ name "=" int { "," name "=" int } ] "}"
 *            | "ref" "(" ( "object" | "region" ) ")"
 *            | "scalar" "{" FORMAT "," bytes "," int "}"
 *            | "scalar" "{" "custom" "," class "," bytes "," int { "," field } "}"
 *            | "contiguous" "(" int "," type ")"
 *            | ( "vector" | "hvector" ) "(" int "," int "," int "," type ")"
 *            | ( "indexed" | "hindexed" ) "(" list "," list "," type ")"
 *            | ( "indexed_block" | "hindexed_block" ) "(" int "," list "," type ")"
 *            | "subarray" "(" list "," list "," list "," order "," type ")"
 *            | "darray" "(" int "," int "," list "," dists "," list "," list
 *                       "," order "," type ")"
 *            | "resized" "(" int "," int "," type ")" | "dup" "(" type ")"
 *   member  := name [ "@" int ] ":" type            without @: where C would put it,
 *                                                   behind the member before
 *   list    := "[" [ ints ] "]"    ints := int { "," int }
 *   name    := letters, digits and "_", not a digit first | quoted
 *   quoted  := '"' { any | '\"' | '\\' | '\xHH' } '"'
 *   order   := "c" | "fortran"     dists := "[" { "none" | "block" | "cyclic" } "]"
 *   class   := "integer" | "real" | "bits"    bytes := "big" | "little" | "vax"
 *   field   := "signed=" int | "norm=" int | "pad=" int "/" int | "precision=" int
 *            | "offset=" int | "sign=" int | "exp=" int "/" int | "sig=" int "/" int
 *            | "base=" int | "bias=" int          positions stand before widths
 *
 * In this order the arguments are those of the constructors.  A compound's ":int" is its extent.  A
 * struct without its second list lies as C would put it.  Blanks may stand between any two words.
 */
/* SPDX-License-Identifier: MIT */
#include "type/build.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "format/numbers.h"

#include <datarep.h>
#include <string.h>
#include <strings.h>

/* A reader of the line; the first error sticks, and later reads do nothing. */
struct parser {
    const char *text;
    const char *p;
    int depth;
    int err;
};

/* Numbers, and members, that grow. */
struct int_list {
    int64_t *v;
    int64_t n;
    size_t room;
};
struct member_list {
    char **name;
    drep_type **type;
    struct int_list number; /* offsets or values */
    int64_t n;
    size_t names, types; /* room */
    bool placed;         /* a member told its offset */
};

/* Record the first error; returns 0, for callers that return a number. */
static int parse_fail(struct parser *in, const char *what)
{
    if (!in->err)
        in->err =
            fail(DREP_ERR_SYNTAX, "datatype: column %zu: %s", (size_t)(in->p - in->text) + 1, what);
    return 0;
}

/* A constructor's error, with its place. */
static void constructor_result(struct parser *in, int err)
{
    if (!in->err && err)
        in->err = fail_in(err, "datatype: column %zu", (size_t)(in->p - in->text) + 1);
}

static void skip_blanks(struct parser *in)
{
    in->p += strspn(in->p, " \t\r\n");
}

/* Skip c if it is the next character. */
static bool next_is(struct parser *in, char c)
{
    skip_blanks(in);
    if (in->err || *in->p != c)
        return false;
    in->p++;
    return true;
}

static void expect_char(struct parser *in, char c)
{
    char what[] = "expected '?'";

    if (in->err || next_is(in, c))
        return;
    what[10] = c;
    parse_fail(in, what);
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The length of the word that begins here, 0 if none does. */
static size_t word_len(struct parser *in)
{
    size_t len = 0;

    skip_blanks(in);
    if (in->err || (*in->p >= '0' && *in->p <= '9'))
        return 0;
    while (is_word_char(in->p[len]))
        len++;
    return len;
}

static bool next_word(struct parser *in, const char *word)
{
    size_t len = word_len(in);

    if (!len || len != strlen(word) || memcmp(in->p, word, len) != 0)
        return false;
    in->p += len;
    return true;
}

/* The number of the word among `words` that comes next. */
static int word_of(struct parser *in, const char *const *words, int n, const char *what)
{
    for (int i = 0; i < n; i++)
        if (next_word(in, words[i]))
            return i;
    parse_fail(in, what);
    return 0;
}

/* Digits with an optional minus; beyond int64_t, up to uint64_t if it may be. */
static int64_t parse_digits(struct parser *in, bool may_be_big)
{
    bool minus = next_is(in, '-');
    const char *start = in->p;
    uint64_t v = 0;

    if (in->err)
        return 0;
    for (; *in->p >= '0' && *in->p <= '9'; in->p++)
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*in->p - '0'), &v))
            return parse_fail(in, "the number is too large");
    if (in->p == start)
        return parse_fail(in, "expected a number");
    if (minus && v <= (uint64_t)INT64_MAX + 1)
        return (int64_t)(0 - v);
    if (minus || (v > INT64_MAX && !may_be_big))
        return parse_fail(in, "the number is too large");
    return (int64_t)v;
}

static int64_t parse_integer(struct parser *in)
{
    return parse_digits(in, false);
}

static int integer_upto(struct parser *in, int max)
{
    const char *start = in->p;
    int64_t v = parse_integer(in);

    if (!in->err && (v < -max || v > max)) {
        in->p = start;
        parse_fail(in, "the number is too large");
    }
    return in->err ? 0 : (int)v;
}

static void ints_add(struct parser *in, struct int_list *list, int64_t v)
{
    if (!in->err)
        in->err = VEC_ROOM(list->v, (size_t)list->n, list->room, 1);
    if (!in->err)
        list->v[list->n++] = v;
}

/* Parse integers up to the closing bracket; the opening one is consumed. */
static void ints_rest(struct parser *in, struct int_list *list)
{
    if (next_is(in, ']'))
        return;
    do
        ints_add(in, list, parse_integer(in));
    while (next_is(in, ','));
    expect_char(in, ']');
}

static void int_list(struct parser *in, struct int_list *list)
{
    expect_char(in, '[');
    if (!in->err)
        ints_rest(in, list);
}

/* A list of as many numbers as another, then a comma. */
static void int_list_like(struct parser *in, struct int_list *list, int64_t n)
{
    int_list(in, list);
    if (!in->err && list->n != n)
        parse_fail(in, "the lists are not equally long");
    expect_char(in, ',');
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Parse the character after a backslash. */
static char parse_escape(struct parser *in)
{
    int high, low;

    if (*in->p == '"' || *in->p == '\\')
        return *in->p++;
    high = *in->p == 'x' ? hex_digit(in->p[1]) : -1;
    low = high < 0 ? -1 : hex_digit(in->p[2]);
    if (low < 0 || (high == 0 && low == 0))
        return (char)parse_fail(in, "unknown escape");
    in->p += 3;
    return (char)(high * 16 + low);
}

/* A quoted text, allocated; NULL on failure. */
static char *parse_quoted(struct parser *in)
{
    size_t len = 0;
    char *s;

    expect_char(in, '"');
    if (in->err)
        return NULL;
    s = mem_array(strlen(in->p) + 1, 1);
    if (!s) {
        in->err = DREP_ERR_NOMEM;
        return NULL;
    }
    while (!in->err && *in->p != '"') {
        if (*in->p == 0)
            parse_fail(in, "unterminated quote");
        else if (*in->p++ == '\\')
            s[len++] = parse_escape(in);
        else
            s[len++] = in->p[-1];
    }
    s[len] = 0;
    if (!in->err)
        in->p++;
    if (!in->err)
        return s;
    mem_free(s);
    return NULL;
}

static char *parse_name(struct parser *in)
{
    size_t len = word_len(in);
    char *s;

    if (in->err)
        return NULL;
    if (!len) {
        if (*in->p == '"')
            return parse_quoted(in);
        parse_fail(in, "expected a name");
        return NULL;
    }
    s = mem_strndup(in->p, len);
    if (!s)
        in->err = DREP_ERR_NOMEM;
    in->p += len;
    return s;
}

static drep_type *parse_type(struct parser *in);

/* ------------------------------------------------------------ lists of parts */

/* Append a part; owns name and type, both may be NULL. */
static void parts_add(struct parser *in, struct member_list *list, char *part_name, drep_type *part)
{
    size_t n = (size_t)list->n;

    if (!in->err &&
        (VEC_ROOM(list->name, n, list->names, 1) || VEC_ROOM(list->type, n, list->types, 1)))
        in->err = DREP_ERR_NOMEM;
    if (in->err) {
        mem_free(part_name);
        drep_type_free(part);
        return;
    }
    list->name[list->n] = part_name;
    list->type[list->n++] = part;
}

static void parts_release(struct member_list *list)
{
    for (int64_t i = 0; i < list->n; i++) {
        mem_free(list->name[i]);
        drep_type_free(list->type[i]);
    }
    mem_free(list->name);
    mem_free(list->type);
    mem_free(list->number.v);
}

/* ------------------------------------------------------------ container kinds */

/* A member's place: as told, or behind `end` as C would. */
static void parse_member(struct parser *in, struct member_list *list, int64_t *end)
{
    char *part_name = parse_name(in);
    bool told = next_is(in, '@');
    int64_t at = told ? parse_integer(in) : 0;
    bool over = false;
    drep_type *part;

    expect_char(in, ':');
    part = parse_type(in);
    if (part && !told)
        at = size_add(size_align(*end, part->blank ? 1 : part->align, &over), -part->lb, &over);
    if (part)
        *end = size_add(at, part->ub, &over);
    if (over)
        constructor_result(in, size_fail());
    list->placed = list->placed || told;
    ints_add(in, &list->number, at);
    parts_add(in, list, part_name, part);
}

/* True if a named member follows, false if the type of an unnamed one. */
static bool named_member(struct parser *in)
{
    struct parser probe = *in;
    struct fail_state message;
    bool named;

    if (*in->p == '"') /* no type begins with it */
        return true;
    fail_save(&message);
    mem_free(parse_name(&probe));
    if (probe.err == DREP_ERR_NOMEM) {
        in->err = probe.err;
        return true;
    }
    named = !probe.err && (next_is(&probe, '@') || next_is(&probe, ':'));
    fail_restore(&message);
    return named;
}

/* Parse members without names, after the "{". */
static drep_type *parse_unnamed_members(struct parser *in)
{
    struct member_list list = {0};
    drep_type *t = NULL;

    do
        parts_add(in, &list, NULL, parse_type(in));
    while (next_is(in, ','));
    expect_char(in, '}');
    if (!in->err)
        constructor_result(
            in, drep_type_struct(list.n, NULL, NULL, (const drep_type *const *)list.type, &t));
    parts_release(&list);
    return t;
}

static drep_type *parse_compound(struct parser *in)
{
    struct member_list list = {0};
    drep_type *t = NULL;
    int64_t end = 0;
    int64_t size;

    skip_blanks(in);
    if (!in->err && *in->p != '}' && !named_member(in))
        return parse_unnamed_members(in);
    if (!next_is(in, '}')) {
        do
            parse_member(in, &list, &end);
        while (next_is(in, ','));
        expect_char(in, '}');
    }
    size = next_is(in, ':') ? parse_integer(in) : 0;
    if (!in->err)
        constructor_result(in, drep_type_compound(list.n, (const char *const *)list.name,
                                                  list.placed ? list.number.v : NULL,
                                                  (const drep_type *const *)list.type, size, &t));
    parts_release(&list);
    return t;
}

static drep_type *parse_struct(struct parser *in)
{
    struct member_list list = {0};
    struct int_list lens = {0};
    drep_type *t = NULL;
    bool placed;

    int_list(in, &lens);
    expect_char(in, ',');
    expect_char(in, '[');
    skip_blanks(in);
    placed = !in->err && (*in->p == '-' || (*in->p >= '0' && *in->p <= '9'));
    /* "[]" may be either list; it is displacements if another list follows. */
    if (!in->err && *in->p == ']' && in->p[1 + strspn(in->p + 1, " \t\r\n")] == ',')
        placed = true;
    if (placed) {
        ints_rest(in, &list.number);
        expect_char(in, ',');
        expect_char(in, '[');
    }
    if (!next_is(in, ']')) {
        do
            parts_add(in, &list, NULL, parse_type(in));
        while (next_is(in, ','));
        expect_char(in, ']');
    }
    if (!in->err && (lens.n != list.n || (placed && list.number.n != list.n)))
        parse_fail(in, "the lists are not equally long");
    expect_char(in, ')');
    /* Displacements that are told are never NULL, not even of no members. */
    if (placed && !list.number.v)
        ints_add(in, &list.number, 0);
    if (!in->err)
        constructor_result(in, drep_type_struct(list.n, lens.v, placed ? list.number.v : NULL,
                                                (const drep_type *const *)list.type, &t));
    mem_free(lens.v);
    parts_release(&list);
    return t;
}

static drep_type *parse_enum(struct parser *in)
{
    struct member_list list = {0};
    drep_type *base;
    drep_type *t = NULL;

    expect_char(in, '(');
    base = parse_type(in);
    expect_char(in, ')');
    expect_char(in, '{');
    if (!next_is(in, '}')) {
        do {
            char *part_name = parse_name(in);

            expect_char(in, '=');
            ints_add(in, &list.number, parse_digits(in, true));
            parts_add(in, &list, part_name, NULL);
        } while (next_is(in, ','));
        expect_char(in, '}');
    }
    if (!in->err)
        constructor_result(
            in, drep_type_enum(base, list.n, (const char *const *)list.name, list.number.v, &t));
    drep_type_free(base);
    parts_release(&list);
    return t;
}

static drep_type *parse_string(struct parser *in)
{
    static const char *const pads[] = {"nul", "nulterm", "space"};
    drep_type *t = NULL;
    int64_t size;
    int pad = DREP_PAD_NUL;

    expect_char(in, '(');
    size = parse_integer(in);
    if (next_is(in, ','))
        pad = word_of(in, pads, 3, "expected nul, nulterm or space");
    expect_char(in, ')');
    if (!in->err)
        constructor_result(in, drep_type_string(size, pad, &t));
    return t;
}

static drep_type *parse_opaque(struct parser *in)
{
    drep_type *t = NULL;
    char *tag = NULL;
    int64_t size;

    expect_char(in, '(');
    size = parse_integer(in);
    if (next_is(in, ','))
        tag = parse_quoted(in);
    expect_char(in, ')');
    if (!in->err)
        constructor_result(in, drep_type_opaque(size, tag, &t));
    mem_free(tag);
    return t;
}

static drep_type *parse_reference(struct parser *in)
{
    static const char *const whats[] = {"object", "region"};
    drep_type *t = NULL;
    int what;

    expect_char(in, '(');
    what = word_of(in, whats, 2, "expected object or region");
    expect_char(in, ')');
    if (!in->err)
        constructor_result(in, drep_type_reference(what, &t));
    return t;
}

static drep_type *parse_vstring(struct parser *in)
{
    drep_type *t = NULL;

    constructor_result(in, drep_type_vstring(&t));
    return t;
}

/* ------------------------------------------------------------------- scalars */

/* A format's name, which has hyphens. */
static int format_word(struct parser *in)
{
    char word[32];
    size_t len = 0;
    int format;

    skip_blanks(in);
    while (len < sizeof(word) - 1 && (is_word_char(in->p[len]) || in->p[len] == '-')) {
        word[len] = in->p[len];
        len++;
    }
    word[len] = 0;
    format = in->err ? 0 : fmt_format_from_name(word);
    if (!format)
        parse_fail(in, "unknown format of a scalar");
    in->p += in->err ? 0 : len;
    return format;
}

/* "int / int": a position and a width, or two paddings. */
static void parse_pair(struct parser *in, uint16_t *a, uint16_t *b)
{
    int first = integer_upto(in, UINT16_MAX);
    int second;

    expect_char(in, '/');
    second = integer_upto(in, UINT16_MAX);
    if (!in->err && (first < 0 || second < 0))
        parse_fail(in, "the number is negative");
    *a = (uint16_t)first;
    *b = (uint16_t)second;
}

static uint8_t parse_u8(struct parser *in)
{
    int v = integer_upto(in, UINT8_MAX);

    if (v < 0)
        parse_fail(in, "the number is negative");
    return v < 0 ? 0 : (uint8_t)v;
}

static uint16_t parse_u16(struct parser *in)
{
    int v = integer_upto(in, UINT16_MAX);

    if (v < 0)
        parse_fail(in, "the number is negative");
    return v < 0 ? 0 : (uint16_t)v;
}

static void scalar_field(struct parser *in, drep_scalar *s)
{
    static const char *const words[] = {"signed", "norm", "pad", "precision", "offset",
                                        "sign",   "exp",  "sig", "base",      "bias"};
    int which = word_of(in, words, 10, "unknown field of a scalar");
    uint16_t a = 0;
    uint16_t b = 0;

    expect_char(in, '=');
    switch (which) {
    case 0:
        s->is_signed = parse_u8(in);
        break;
    case 1:
        s->norm = parse_u8(in);
        break;
    case 2:
        parse_pair(in, &a, &b);
        s->low_pad = (uint8_t)(a > 2 ? 3 : a);
        s->high_pad = (uint8_t)(b > 2 ? 3 : b);
        break;
    case 3:
        s->precision = parse_u16(in);
        break;
    case 4:
        s->offset = parse_u16(in);
        break;
    case 5:
        s->sign_pos = parse_u16(in);
        break;
    case 6:
        parse_pair(in, &s->exp_pos, &s->exp_width);
        break;
    case 7:
        parse_pair(in, &s->mant_pos, &s->mant_width);
        break;
    case 8:
        a = parse_u8(in);
        if (a != 2 && a != 16)
            parse_fail(in, "the base of an exponent is 2 or 16");
        s->exp_base_log2 = a == 16 ? 4 : s->cls == DREP_SCALAR_REAL ? 1 : 0;
        break;
    case 9:
        s->exp_bias = parse_integer(in);
        break;
    }
}

static drep_type *parse_scalar(struct parser *in)
{
    static const char *const classes[] = {"integer", "real", "bits"};
    static const char *const orders[] = {"big", "little", "vax"};
    drep_scalar s;
    drep_type *t = NULL;

    memset(&s, 0, sizeof(s));
    expect_char(in, '{');
    s.format = (uint8_t)format_word(in);
    expect_char(in, ',');
    if (s.format == DREP_FORMAT_CUSTOM) {
        s.cls = (uint8_t)(1 + word_of(in, classes, 3, "expected integer, real or bits"));
        s.exp_base_log2 = s.cls == DREP_SCALAR_REAL ? 1 : 0;
        expect_char(in, ',');
    } else if (fmt_format_class(s.format) == FMT_REAL) {
        s.cls = DREP_SCALAR_REAL;
    } else {
        s.cls = s.format == DREP_FORMAT_INT || s.format == DREP_FORMAT_UINT ? DREP_SCALAR_INT
                                                                            : DREP_SCALAR_BITS;
        s.is_signed = s.format == DREP_FORMAT_INT;
    }
    s.order = (uint8_t)word_of(in, orders, 3, "expected big, little or vax");
    expect_char(in, ',');
    s.size = parse_u8(in);
    while (s.format == DREP_FORMAT_CUSTOM && next_is(in, ','))
        scalar_field(in, &s);
    expect_char(in, '}');
    if (!in->err)
        constructor_result(in, drep_type_scalar(&s, &t));
    return t;
}

/* --------------------------------------------------------- MPI's constructors */

static int dims_order(struct parser *in)
{
    static const char *const orders[] = {"c", "fortran"};
    int order = word_of(in, orders, 2, "expected c or fortran");

    expect_char(in, ',');
    return order;
}

static void comma_int(struct parser *in, int64_t *v)
{
    *v = parse_integer(in);
    expect_char(in, ',');
}

static drep_type *parse_darray(struct parser *in)
{
    static const char *const dists[] = {"none", "block", "cyclic"};
    struct int_list sizes = {0}, args = {0}, grid = {0};
    int distrib[DREP_MAX_RANK], procs[DREP_MAX_RANK];
    int nprocs = integer_upto(in, INT32_MAX);
    drep_type *base;
    drep_type *t = NULL;
    int proc, order;
    int rank = 0;

    expect_char(in, ',');
    proc = integer_upto(in, INT32_MAX);
    expect_char(in, ',');
    int_list(in, &sizes);
    expect_char(in, ',');
    expect_char(in, '[');
    do
        if (rank == DREP_MAX_RANK)
            parse_fail(in, "too many dimensions");
        else
            distrib[rank++] = word_of(in, dists, 3, "expected none, block or cyclic");
    while (next_is(in, ','));
    expect_char(in, ']');
    expect_char(in, ',');
    if (!in->err && sizes.n != rank)
        parse_fail(in, "the lists are not equally long");
    int_list_like(in, &args, rank);
    int_list_like(in, &grid, rank);
    for (int d = 0; d < rank && !in->err; d++) {
        if (grid.v[d] < 0 || grid.v[d] > INT32_MAX)
            parse_fail(in, "too many processes");
        procs[d] = (int)grid.v[d];
    }
    order = dims_order(in);
    base = parse_type(in);
    if (!in->err)
        constructor_result(in, drep_type_darray(nprocs, proc, rank, sizes.v, distrib, args.v, procs,
                                                order, base, &t));
    drep_type_free(base);
    mem_free(sizes.v);
    mem_free(args.v);
    mem_free(grid.v);
    return t;
}

static drep_type *parse_subarray(struct parser *in)
{
    struct int_list list[3] = {{0}};
    drep_type *base;
    drep_type *t = NULL;
    int order;

    int_list(in, &list[0]);
    expect_char(in, ',');
    int_list_like(in, &list[1], list[0].n);
    int_list_like(in, &list[2], list[0].n);
    order = dims_order(in);
    base = parse_type(in);
    if (!in->err && (list[0].n < 1 || list[0].n > DREP_MAX_RANK))
        parse_fail(in, "impossible number of dimensions");
    if (!in->err)
        constructor_result(in, drep_type_subarray((int)list[0].n, list[0].v, list[1].v, list[2].v,
                                                  order, base, &t));
    drep_type_free(base);
    for (int i = 0; i < 3; i++)
        mem_free(list[i].v);
    return t;
}

static drep_type *parse_blocks(struct parser *in, int kind)
{
    bool each = kind == DREP_KIND_INDEXED || kind == DREP_KIND_HINDEXED;
    struct int_list lens = {0}, displs = {0};
    drep_type *base;
    drep_type *t = NULL;
    int64_t len = 0;

    if (each) {
        int_list(in, &lens);
        expect_char(in, ',');
        int_list_like(in, &displs, lens.n);
    } else {
        comma_int(in, &len);
        int_list(in, &displs);
        expect_char(in, ',');
    }
    base = parse_type(in);
    if (in->err)
        len = 0;
    else if (kind == DREP_KIND_INDEXED)
        constructor_result(in, drep_type_indexed(displs.n, lens.v, displs.v, base, &t));
    else if (kind == DREP_KIND_HINDEXED)
        constructor_result(in, drep_type_hindexed(displs.n, lens.v, displs.v, base, &t));
    else if (kind == DREP_KIND_INDEXED_BLOCK)
        constructor_result(in, drep_type_indexed_block(displs.n, len, displs.v, base, &t));
    else
        constructor_result(in, drep_type_hindexed_block(displs.n, len, displs.v, base, &t));
    drep_type_free(base);
    mem_free(lens.v);
    mem_free(displs.v);
    return t;
}

/* A few numbers, then the base. */
static drep_type *parse_vector(struct parser *in, int kind)
{
    int n = kind == DREP_KIND_CONTIGUOUS                            ? 1
            : kind == DREP_KIND_RESIZED                             ? 2
            : kind == DREP_KIND_VECTOR || kind == DREP_KIND_HVECTOR ? 3
                                                                    : 0;
    int64_t v[3] = {0};
    drep_type *base;
    drep_type *t = NULL;

    for (int i = 0; i < n; i++)
        comma_int(in, &v[i]);
    base = parse_type(in);
    if (in->err)
        n = 0;
    else if (kind == DREP_KIND_CONTIGUOUS)
        constructor_result(in, drep_type_contiguous(v[0], base, &t));
    else if (kind == DREP_KIND_VECTOR)
        constructor_result(in, drep_type_vector(v[0], v[1], v[2], base, &t));
    else if (kind == DREP_KIND_HVECTOR)
        constructor_result(in, drep_type_hvector(v[0], v[1], v[2], base, &t));
    else if (kind == DREP_KIND_RESIZED)
        constructor_result(in, drep_type_resized(v[0], v[1], base, &t));
    else if (kind == DREP_KIND_SEQUENCE)
        constructor_result(in, drep_type_sequence(base, &t));
    else if (kind == DREP_KIND_BOOLEAN)
        constructor_result(in, drep_type_boolean(base, &t));
    else
        constructor_result(in, drep_type_dup(base, &t));
    drep_type_free(base);
    return t;
}

/* Parse the arguments in parentheses of a kind. */
static drep_type *parse_arguments(struct parser *in, int kind)
{
    drep_type *t;

    expect_char(in, '(');
    switch (kind) {
    case DREP_KIND_DARRAY:
        t = parse_darray(in);
        break;
    case DREP_KIND_SUBARRAY:
        t = parse_subarray(in);
        break;
    case DREP_KIND_INDEXED:
    case DREP_KIND_HINDEXED:
    case DREP_KIND_INDEXED_BLOCK:
    case DREP_KIND_HINDEXED_BLOCK:
        t = parse_blocks(in, kind);
        break;
    default:
        t = parse_vector(in, kind);
    }
    expect_char(in, ')');
    return t;
}

/* Gives the code of a predefined type by its name in NumPy or C, upper or lower case, or 0.
 * drep_type_print() writes the standard's names. */
static int code_of_alias(const char *word)
{
    static const struct {
        const char *name;
        int code;
    } alias[] = {
        {"char", DREP_CODE_CHAR},
        {"complex128", DREP_CODE_C_DOUBLE_COMPLEX},
        {"complex64", DREP_CODE_C_FLOAT_COMPLEX},
        {"double", DREP_CODE_DOUBLE},
        {"float", DREP_CODE_FLOAT},
        {"float16", DREP_CODE_FLOAT16},
        {"float32", DREP_CODE_FLOAT},
        {"float64", DREP_CODE_DOUBLE},
        {"int", DREP_CODE_INT},
        {"int16", DREP_CODE_INT16_T},
        {"int16_t", DREP_CODE_INT16_T},
        {"int32", DREP_CODE_INT32_T},
        {"int32_t", DREP_CODE_INT32_T},
        {"int64", DREP_CODE_INT64_T},
        {"int64_t", DREP_CODE_INT64_T},
        {"int8", DREP_CODE_INT8_T},
        {"int8_t", DREP_CODE_INT8_T},
        {"long", DREP_CODE_LONG},
        {"short", DREP_CODE_SHORT},
        {"uint16", DREP_CODE_UINT16_T},
        {"uint16_t", DREP_CODE_UINT16_T},
        {"uint32", DREP_CODE_UINT32_T},
        {"uint32_t", DREP_CODE_UINT32_T},
        {"uint64", DREP_CODE_UINT64_T},
        {"uint64_t", DREP_CODE_UINT64_T},
        {"uint8", DREP_CODE_UINT8_T},
        {"uint8_t", DREP_CODE_UINT8_T},
        {"unsigned", DREP_CODE_UNSIGNED},
        {"c16", DREP_CODE_C_DOUBLE_COMPLEX},
        {"c8", DREP_CODE_C_FLOAT_COMPLEX},
        {"f2", DREP_CODE_FLOAT16},
        {"f4", DREP_CODE_FLOAT},
        {"f8", DREP_CODE_DOUBLE},
        {"i1", DREP_CODE_INT8_T},
        {"i2", DREP_CODE_INT16_T},
        {"i4", DREP_CODE_INT32_T},
        {"i8", DREP_CODE_INT64_T},
        {"u1", DREP_CODE_UINT8_T},
        {"u2", DREP_CODE_UINT16_T},
        {"u4", DREP_CODE_UINT32_T},
        {"u8", DREP_CODE_UINT64_T},
    };

    for (size_t i = 0; i < sizeof(alias) / sizeof(alias[0]); i++)
        if (strcasecmp(alias[i].name, word) == 0)
            return alias[i].code;
    return 0;
}

static drep_type *parse_predefined(struct parser *in)
{
    char word[40];
    size_t len = word_len(in);
    int code = 0;

    if (len > 0 && len < sizeof(word)) {
        memcpy(word, in->p, len);
        word[len] = 0;
        code = drep_code_from_name(word);
        if (!code)
            code = code_of_alias(word);
    }
    if (!code) {
        parse_fail(in, "expected a datatype");
        return NULL;
    }
    in->p += len;
    return drep_type_ref(drep_predefined(code));
}

/* A type without the brackets behind it. */
static drep_type *parse_unbracketed(struct parser *in)
{
    if (next_word(in, "struct")) {
        if (next_is(in, '{'))
            return parse_compound(in);
        expect_char(in, '(');
        return parse_struct(in);
    }
    if (next_word(in, "string"))
        return parse_string(in);
    if (next_word(in, "vstring"))
        return parse_vstring(in);
    if (next_word(in, "opaque"))
        return parse_opaque(in);
    if (next_word(in, "enum"))
        return parse_enum(in);
    if (next_word(in, "ref"))
        return parse_reference(in);
    if (next_word(in, "scalar"))
        return parse_scalar(in);
    for (int kind = 1; kind <= DREP_KIND_DUP; kind++)
        if (text_kind(kind) && next_word(in, text_kind(kind)))
            return parse_arguments(in, kind);
    return parse_predefined(in);
}

/* NULL after an error. */
static drep_type *parse_type(struct parser *in)
{
    drep_type *t = NULL;

    if (in->depth == TYPE_DEPTH_MAX && !in->err)
        in->err = fail(DREP_ERR_LIMIT, "datatype: nested deeper than %d", TYPE_DEPTH_MAX);
    if (in->err)
        return NULL;
    in->depth++;
    t = parse_unbracketed(in);
    while (next_is(in, '[')) {
        struct int_list dims = {0};
        drep_type *array = NULL;

        ints_rest(in, &dims);
        if (!in->err && (dims.n < 1 || dims.n > DREP_MAX_RANK))
            parse_fail(in, "impossible number of dimensions");
        if (!in->err)
            constructor_result(in, drep_type_array((int)dims.n, dims.v, t, &array));
        mem_free(dims.v);
        drep_type_free(t);
        t = array;
    }
    in->depth--;
    if (!in->err)
        return t;
    drep_type_free(t);
    return NULL;
}

int drep_type_parse(const char *text, drep_type **out)
{
    struct parser in = {.text = text, .p = text};
    drep_type *t;

    if (!text || !out)
        return fail(DREP_ERR_ARG, "drep_type_parse: a null pointer");
    t = parse_type(&in);
    skip_blanks(&in);
    if (!in.err && *in.p)
        parse_fail(&in, "expected the end");
    if (in.err) {
        drep_type_free(t);
        return in.err;
    }
    *out = t;
    return 0;
}
