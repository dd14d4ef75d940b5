/* print.c - a datatype as one readable line.
 *
 * The grammar stands in parse.c; whatever is printed parses back to an equal
 * type. */
/* SPDX-License-Identifier: MIT */
#include "type/build.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "format/numbers.h"
#include "format/utf8.h"

#include <datarep.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text that grows; the first failure sticks. */
struct type_text {
    char *p;
    size_t len, room;
    int err;
};

static void print_bytes(struct type_text *t, const char *s, size_t len)
{
    if (!t->err)
        t->err = VEC_ROOM(t->p, t->len, t->room, len + 1);
    if (t->err)
        return;
    memcpy(t->p + t->len, s, len);
    t->len += len;
    t->p[t->len] = 0;
}

static void print_str(struct type_text *t, const char *s)
{
    print_bytes(t, s, strlen(s));
}

static void __attribute__((format(printf, 2, 3)))
print_format(struct type_text *t, const char *fmt, ...)
{
    char line[128]; /* numbers and short words only */
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    print_str(t, line);
}

/* Escape every byte of control characters, and bytes that are not UTF-8. */
static void print_quoted(struct type_text *t, const char *s)
{
    uint32_t code;
    size_t n;

    print_str(t, "\"");
    for (; *s; s += n) {
        n = utf8_next(s, strnlen(s, 4), &code);
        if (n == 1 && (code == '"' || code == '\\')) {
            print_format(t, "\\%c", *s);
        } else if (n == 0 || utf8_control(code)) {
            n = n ? n : 1;
            for (size_t i = 0; i < n; i++)
                print_format(t, "\\x%02x", (unsigned)(unsigned char)s[i]);
        } else {
            print_bytes(t, s, n);
        }
    }
    print_str(t, "\"");
}

static bool is_identifier(const char *s)
{
    if (*s >= '0' && *s <= '9')
        return false;
    return s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == 0;
}

static void print_name(struct type_text *t, const char *s)
{
    if (is_identifier(s))
        print_str(t, s);
    else
        print_quoted(t, s);
}

static void print_list(struct type_text *t, const int64_t *v, int64_t n)
{
    print_str(t, "[");
    for (int64_t i = 0; i < n; i++)
        print_format(t, "%s%" PRId64, i ? "," : "", v[i]);
    print_str(t, "]");
}

static void print_type(struct type_text *t, const drep_type *type);

/* Print members; offsets only where they differ from the natural ones. */
static void print_compound(struct type_text *t, const drep_type *type)
{
    int64_t end = 0;

    print_str(t, "struct{");
    for (int64_t i = 0; i < type->nmembers; i++) {
        const drep_type *m = type->member[i];
        bool over = false;
        int64_t natural = size_align(end, m->blank ? 1 : m->align, &over) - m->lb;

        print_str(t, i ? ", " : "");
        print_name(t, type->name[i]);
        if (over || type->displ[i] != natural)
            print_format(t, "@%" PRId64, type->displ[i]);
        print_str(t, ": ");
        print_type(t, m);
        end = type->displ[i] + m->ub;
    }
    print_str(t, "}");
    if (type->args[type->nargs - 1])
        print_format(t, ":%" PRId64, type->args[type->nargs - 1]);
}

static void print_enum(struct type_text *t, const drep_type *type)
{
    const drep_type *base = type->member[0];
    bool is_signed = base->kind == DREP_KIND_SCALAR ? base->scalar->is_signed
                                                    : fmt_code_class(base->code) == FMT_INT;

    print_str(t, "enum(");
    print_type(t, base);
    print_str(t, "){");
    for (int64_t i = 0; i < type->args[0]; i++) {
        print_str(t, i ? "," : "");
        print_name(t, type->name[i]);
        if (is_signed)
            print_format(t, "=%" PRId64, type->value[i]);
        else
            print_format(t, "=%" PRIu64, (uint64_t)type->value[i]);
    }
    print_str(t, "}");
}

static void print_scalar(struct type_text *t, const drep_scalar *s)
{
    static const char *const classes[] = {"", "integer", "real", "bits"};
    static const char *const orders[] = {"big", "little", "vax"};

    if (s->format != DREP_FORMAT_CUSTOM) {
        print_format(t, "scalar{%s,%s,%d}", fmt_format_name(s->format), orders[s->order], s->size);
        return;
    }
    print_format(t, "scalar{custom,%s,%s,%d,signed=%d,norm=%d,pad=%d/%d,precision=%d,offset=%d",
                 classes[s->cls], orders[s->order], s->size, s->is_signed, s->norm, s->low_pad,
                 s->high_pad, s->precision, s->offset);
    print_format(t, ",sign=%d,exp=%d/%d,sig=%d/%d,base=%d,bias=%" PRId64 "}", s->sign_pos,
                 s->exp_pos, s->exp_width, s->mant_pos, s->mant_width,
                 s->exp_base_log2 == 4 ? 16 : 2, s->exp_bias);
}

bool type_plain_struct(const drep_type *type)
{
    for (int64_t i = 0; i < type->nmembers; i++)
        if (type->blocklen && type->blocklen[i] != 1)
            return false;
    return type->natural && type->nmembers > 0;
}

static void print_struct(struct type_text *t, const drep_type *type)
{
    if (type_plain_struct(type)) {
        print_str(t, "struct{");
        for (int64_t i = 0; i < type->nmembers; i++) {
            print_str(t, i ? ", " : "");
            print_type(t, type->member[i]);
        }
        print_str(t, "}");
        return;
    }
    print_str(t, "struct(");
    print_list(t, type->blocklen, type->nmembers);
    if (!type->natural) {
        print_str(t, ",");
        print_list(t, type->displ, type->nmembers);
    }
    print_str(t, ",[");
    for (int64_t i = 0; i < type->nmembers; i++) {
        print_str(t, i ? "," : "");
        print_type(t, type->member[i]);
    }
    print_str(t, "])");
}

static void print_darray(struct type_text *t, const drep_type *type)
{
    static const char *const names[] = {"none", "block", "cyclic"};
    int64_t rank = type->args[2];
    const int64_t *rows = type->args + 3;

    print_format(t, "darray(%" PRId64 ",%" PRId64 ",", type->args[0], type->args[1]);
    print_list(t, rows, rank);
    print_str(t, ",[");
    for (int64_t d = 0; d < rank; d++)
        print_format(t, "%s%s", d ? "," : "", names[rows[rank + d]]);
    print_str(t, "],");
    print_list(t, rows + 2 * rank, rank);
    print_str(t, ",");
    print_list(t, rows + 3 * rank, rank);
    print_str(t, rows[4 * rank] == DREP_ORDER_C ? ",c," : ",fortran,");
}

const char *text_kind(int kind)
{
    switch (kind) {
    case DREP_KIND_CONTIGUOUS:
        return "contiguous";
    case DREP_KIND_VECTOR:
        return "vector";
    case DREP_KIND_HVECTOR:
        return "hvector";
    case DREP_KIND_INDEXED:
        return "indexed";
    case DREP_KIND_HINDEXED:
        return "hindexed";
    case DREP_KIND_INDEXED_BLOCK:
        return "indexed_block";
    case DREP_KIND_HINDEXED_BLOCK:
        return "hindexed_block";
    case DREP_KIND_SUBARRAY:
        return "subarray";
    case DREP_KIND_DARRAY:
        return "darray";
    case DREP_KIND_RESIZED:
        return "resized";
    case DREP_KIND_DUP:
        return "dup";
    case DREP_KIND_SEQUENCE:
        return "seq";
    case DREP_KIND_BOOLEAN:
        return "bool";
    }
    return NULL;
}

/* Constructors over one base: the name, the arguments, the base. */
static void print_constructor(struct type_text *t, const drep_type *type)
{
    const int64_t *args = type->args;

    if (type->kind == DREP_KIND_DARRAY)
        print_darray(t, type);
    else
        print_format(t, "%s(", text_kind(type->kind));
    switch (type->kind) {
    case DREP_KIND_CONTIGUOUS:
        print_format(t, "%" PRId64 ",", args[0]);
        break;
    case DREP_KIND_VECTOR:
    case DREP_KIND_HVECTOR:
        print_format(t, "%" PRId64 ",%" PRId64 ",%" PRId64 ",", args[0], args[1], args[2]);
        break;
    case DREP_KIND_INDEXED:
    case DREP_KIND_HINDEXED:
        print_list(t, args + 1, args[0]);
        print_str(t, ",");
        print_list(t, args + 1 + args[0], args[0]);
        print_str(t, ",");
        break;
    case DREP_KIND_INDEXED_BLOCK:
    case DREP_KIND_HINDEXED_BLOCK:
        print_format(t, "%" PRId64 ",", args[1]);
        print_list(t, args + 2, args[0]);
        print_str(t, ",");
        break;
    case DREP_KIND_SUBARRAY:
        for (int64_t i = 0; i < 3; i++) {
            print_list(t, args + 1 + i * args[0], args[0]);
            print_str(t, ",");
        }
        print_str(t, args[1 + 3 * args[0]] == DREP_ORDER_C ? "c," : "fortran,");
        break;
    case DREP_KIND_RESIZED:
        print_format(t, "%" PRId64 ",%" PRId64 ",", args[0], args[1]);
        break;
    }
    print_type(t, type->member[0]);
    print_str(t, ")");
}

static void print_type(struct type_text *t, const drep_type *type)
{
    static const char *const pads[] = {"", ",nulterm", ",space"};

    switch (type->kind) {
    case DREP_KIND_PREDEFINED:
        print_str(t, drep_code_name(type->code));
        return;
    case DREP_KIND_SCALAR:
        print_scalar(t, type->scalar);
        return;
    case DREP_KIND_STRING:
        print_format(t, "string(%" PRId64 "%s)", type->args[0], pads[type->args[1]]);
        return;
    case DREP_KIND_OPAQUE:
        print_format(t, "opaque(%" PRId64, type->args[0]);
        if (type->tag[0]) {
            print_str(t, ",");
            print_quoted(t, type->tag);
        }
        print_str(t, ")");
        return;
    case DREP_KIND_ENUM:
        print_enum(t, type);
        return;
    case DREP_KIND_ARRAY:
        print_type(t, type->member[0]);
        print_list(t, type->args + 1, type->args[0]);
        return;
    case DREP_KIND_COMPOUND:
        print_compound(t, type);
        return;
    case DREP_KIND_VSTRING:
        print_str(t, "vstring");
        return;
    case DREP_KIND_REFERENCE:
        print_str(t, type->args[0] == DREP_REF_REGION ? "ref(region)" : "ref(object)");
        return;
    case DREP_KIND_STRUCT:
        print_struct(t, type);
        return;
    }
    print_constructor(t, type);
}

int drep_type_print(const drep_type *type, char **out)
{
    struct type_text t = {0};

    if (!type || !out)
        return fail(DREP_ERR_ARG, "drep_type_print: a null pointer");
    print_type(&t, type);
    if (t.err) {
        mem_free(t.p);
        return t.err;
    }
    *out = t.p;
    return 0;
}
