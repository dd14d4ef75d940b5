/* type.c - the life of a datatype: made, finished, shared, freed; and what it is
 * asked for.
 *
 * A constructor fills in the description; type_finish() derives all else from it,
 * so that nothing is stated twice. */
/* SPDX-License-Identifier: MIT */
#include "type/build.h"

#include "base/error.h"
#include "base/mem.h"

#include <datarep.h>
#include <string.h>

drep_type *type_new(int kind, int64_t nargs, int64_t nmembers)
{
    drep_type *t = mem_zalloc(1, sizeof(*t));

    if (!t)
        return NULL;
    atomic_init(&t->refs, 1);
    t->kind = kind;
    t->nargs = nargs;
    t->nmembers = nmembers;
    t->args = mem_zalloc((uint64_t)nargs, sizeof(*t->args));
    t->member = t->args ? mem_zalloc((uint64_t)nmembers, sizeof(*t->member)) : NULL;
    if (t->member)
        return t;
    drep_type_free(t);
    return NULL;
}

void type_set_member(drep_type *t, int64_t i, const drep_type *member)
{
    t->member[i] = drep_type_ref(member);
}

int type_set_names(drep_type *t, int64_t n, const char *const *names)
{
    size_t size = 0;
    char *text;

    for (int64_t i = 0; i < n; i++)
        size += strlen(names[i]) + 1;
    t->name = mem_array((uint64_t)n * sizeof(*t->name) + size, 1);
    if (!t->name)
        return DREP_ERR_NOMEM;
    text = (char *)(t->name + n);
    for (int64_t i = 0; i < n; i++) {
        size = strlen(names[i]) + 1;
        memcpy(text, names[i], size);
        t->name[i] = text;
        text += size;
    }
    return 0;
}

/* Derive what a type inherits from its members. */
static int inherit(drep_type *t)
{
    t->depth = 1;
    t->weight = 1;
    for (int64_t i = 0; i < t->nmembers; i++) {
        const drep_type *m = t->member[i];

        t->depth = m->depth + 1 > t->depth ? m->depth + 1 : t->depth;
        t->weight += m->weight; /* both at most 2^24 before */
        t->variable = t->variable || m->variable;
        t->portable = t->portable && m->portable;
        t->named = t->named || m->named;
        t->texts |= m->texts;
        t->codes[0] |= m->codes[0];
        t->codes[1] |= m->codes[1];
        if (t->weight > TYPE_WEIGHT_MAX)
            return fail(DREP_ERR_LIMIT, "datatype: made of more than %lld types",
                        (long long)TYPE_WEIGHT_MAX);
    }
    if (t->depth > TYPE_DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "datatype: nested deeper than %d", TYPE_DEPTH_MAX);
    return 0;
}

static void own_traits(drep_type *t)
{
    t->portable = true;
    switch (t->kind) {
    case DREP_KIND_COMPOUND:
        t->named = true;
        t->portable = false;
        break;
    case DREP_KIND_HVECTOR:
    case DREP_KIND_HINDEXED:
    case DREP_KIND_HINDEXED_BLOCK:
    case DREP_KIND_STRUCT:
    case DREP_KIND_RESIZED:
        t->portable = false;
        break;
    case DREP_KIND_STRING:
        t->texts = TEXT_FIXED;
        break;
    case DREP_KIND_VSTRING:
        t->texts = TEXT_VARIABLE;
        t->variable = true;
        break;
    case DREP_KIND_SEQUENCE:
        t->variable = true;
        break;
    case DREP_KIND_REFERENCE:
        t->variable = t->args[0] == DREP_REF_REGION;
        break;
    }
}

/* The native shape, from the native shapes of the members. */
static int compose_native(struct shape *out, const drep_type *t)
{
    int64_t n = t->kind == DREP_KIND_SEQUENCE ? 0 : t->nmembers;
    struct shape *members = mem_zalloc((uint64_t)n, sizeof(*members));
    int err;

    if (!members)
        return DREP_ERR_NOMEM;
    for (int64_t i = 0; i < n; i++)
        shape_of(&members[i], t->member[i]);
    err = shape_compose(out, t, members, type_native_sizes(), PROG_MEMORY);
    for (int64_t i = 0; i < n; i++)
        shape_release(&members[i]);
    mem_free(members);
    return err;
}

/* The description is complete here; what follows from it is computed once and never changes, so
 * that types can be shared between threads without a lock. */
int type_finish(drep_type *t, drep_type **out)
{
    struct shape s = {0};
    int err;

    own_traits(t);
    err = inherit(t);
    if (!err)
        err = compose_native(&s, t);
    if (!err)
        err = prog_from(&t->prog, &s);
    if (err) {
        shape_release(&s);
        drep_type_free(t);
        return err;
    }
    t->items = s.items;
    t->size = s.size;
    t->lb = s.lb;
    t->ub = s.ub;
    t->true_lb = s.true_lb;
    t->true_ub = s.true_ub;
    t->align = s.align;
    t->marked = s.marked;
    t->blank = s.blank;
    *out = t;
    return 0;
}

drep_type *drep_type_ref(const drep_type *type)
{
    drep_type *t = (drep_type *)type; /* only the count changes */

    if (t && t->kind != DREP_KIND_PREDEFINED)
        atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

void drep_type_free(drep_type *type)
{
    if (!type || type->kind == DREP_KIND_PREDEFINED)
        return;
    if (atomic_fetch_sub_explicit(&type->refs, 1, memory_order_acq_rel) != 1)
        return;
    prog_release(&type->prog);
    prog_release(&type->content);
    drep_type_free(atomic_load(&type->called));
    for (int64_t i = 0; type->member && i < type->nmembers; i++)
        drep_type_free((drep_type *)type->member[i]);
    mem_free(type->member);
    mem_free(type->args);
    mem_free(type->placed);
    mem_free(type->name);
    mem_free(type->tag);
    mem_free(type->scalar);
    mem_free(type);
}

int type_elements(const drep_type *type, int64_t count, int64_t *items)
{
    int64_t all, last = 0, low, high;

    if (count < 0)
        return fail(DREP_ERR_COUNT, "a count of %lld", (long long)count);
    if (__builtin_mul_overflow(count, type->items, &all))
        return fail(DREP_ERR_VALUE_TOO_LARGE, "%lld elements have more than 2^63 data items",
                    (long long)count);
    if (all > 0 && (__builtin_mul_overflow(count - 1, type->prog.extent, &last) ||
                    __builtin_add_overflow(last < 0 ? last : 0, type->true_lb, &low) ||
                    __builtin_add_overflow(last > 0 ? last : 0, type->true_ub, &high) ||
                    low < -PTRDIFF_MAX || high > PTRDIFF_MAX))
        return fail(DREP_ERR_VALUE_TOO_LARGE,
                    "%lld elements, %lld bytes apart, exceed the address space", (long long)count,
                    (long long)type->prog.extent);
    *items = all;
    return 0;
}

int type_fail_two(int err, const char *fmt, const drep_type *a, const drep_type *b)
{
    char *one = NULL, *two = NULL;

    drep_type_print(a, &one);
    drep_type_print(b, &two);
    fail(err, fmt, !one ? "?" : one, !two ? "?" : two);
    mem_free(one);
    mem_free(two);
    return err;
}

int type_whole(const drep_type *file, const drep_type *mem, size_t size)
{
    if (size > 0 || file->items == 0 || mem->items % file->items == 0)
        return 0;
    return type_fail_two(
        DREP_ERR_TYPE,
        file->kind == DREP_KIND_COMPOUND && mem->kind != DREP_KIND_COMPOUND
            ? "elements of type %s as %s: a struct of one member in memory reads that member; all "
              "of them in turn need the size of the buffer (buf_size)"
            : "elements of type %s as %s: the numbers of data items differ, which needs the size "
              "of the buffer (buf_size)",
        file, mem);
}

int type_fits(const drep_type *type, int64_t count, size_t size)
{
    int64_t last;

    if (size == 0 || count == 0 || type->items == 0)
        return 0;
    last = type->prog.extent > 0 ? (count - 1) * type->prog.extent : 0;
    if (last + type->true_ub <= 0 || (uint64_t)(last + type->true_ub) <= size)
        return 0;
    return fail(DREP_ERR_BUFFER, "%lld elements reach to byte %lld, the buffer has %zu",
                (long long)count, (long long)(last + type->true_ub), size);
}

int type_each_code(const drep_type *type, int (*fn)(int code, void *ctx), void *ctx)
{
    for (size_t i = 0; i < sizeof(type->codes) / sizeof(*type->codes); i++) {
        for (uint64_t left = type->codes[i]; left; left &= left - 1) {
            int result = fn((int)i * 64 + __builtin_ctzll(left), ctx);

            if (result)
                return result;
        }
    }
    return 0;
}

bool type_has_codes(const drep_type *type)
{
    uint64_t any = 0;

    for (size_t i = 0; i < sizeof(type->codes) / sizeof(*type->codes); i++)
        any |= type->codes[i];
    return any != 0;
}

/* ------------------------------------------------------------------- queries */

/* No type at all is asked like one of no bytes and no members. */
static const drep_type *known(const drep_type *type)
{
    static const drep_type none;

    return type ? type : &none;
}

int64_t drep_type_size(const drep_type *type)
{
    return known(type)->size;
}

int64_t drep_type_extent(const drep_type *type)
{
    return known(type)->ub - known(type)->lb;
}

int64_t drep_type_lb(const drep_type *type)
{
    return known(type)->lb;
}

int64_t drep_type_true_extent(const drep_type *type)
{
    return known(type)->true_ub - known(type)->true_lb;
}

int64_t drep_type_true_lb(const drep_type *type)
{
    return known(type)->true_lb;
}

int64_t drep_type_items(const drep_type *type)
{
    return known(type)->items;
}

int drep_type_portable(const drep_type *type)
{
    return known(type)->portable;
}

int drep_type_variable(const drep_type *type)
{
    return known(type)->variable;
}

int drep_type_kind(const drep_type *type)
{
    return known(type)->kind;
}

int drep_type_code(const drep_type *type)
{
    return known(type)->code;
}

int64_t drep_type_align(const drep_type *type)
{
    return known(type)->align;
}

int64_t drep_type_members(const drep_type *type)
{
    return known(type)->nmembers;
}

static bool has_member(const drep_type *type, int64_t i)
{
    return i >= 0 && i < known(type)->nmembers;
}

const drep_type *drep_type_member(const drep_type *type, int64_t i)
{
    return has_member(type, i) ? known(type)->member[i] : NULL;
}

const char *drep_type_member_name(const drep_type *type, int64_t i)
{
    return known(type)->kind == DREP_KIND_COMPOUND && has_member(type, i) ? known(type)->name[i]
                                                                          : NULL;
}

int64_t drep_type_member_offset(const drep_type *type, int64_t i)
{
    return has_member(type, i) && known(type)->displ ? known(type)->displ[i] : 0;
}

int64_t drep_type_member_blocklen(const drep_type *type, int64_t i)
{
    return has_member(type, i) && known(type)->blocklen ? known(type)->blocklen[i] : 1;
}

int drep_type_array_rank(const drep_type *type)
{
    return known(type)->kind == DREP_KIND_ARRAY ? (int)known(type)->args[0] : 0;
}

const int64_t *drep_type_array_dims(const drep_type *type)
{
    return known(type)->kind == DREP_KIND_ARRAY ? known(type)->args + 1 : NULL;
}

int64_t drep_type_enum_count(const drep_type *type)
{
    return known(type)->kind == DREP_KIND_ENUM ? known(type)->args[0] : 0;
}

const char *drep_type_enum_name(const drep_type *type, int64_t i)
{
    return i >= 0 && i < drep_type_enum_count(type) ? known(type)->name[i] : NULL;
}

int64_t drep_type_enum_value(const drep_type *type, int64_t i)
{
    return i >= 0 && i < drep_type_enum_count(type) ? known(type)->value[i] : 0;
}

int drep_type_string_pad(const drep_type *type)
{
    return known(type)->kind == DREP_KIND_STRING ? (int)known(type)->args[1] : 0;
}

const char *drep_type_opaque_tag(const drep_type *type)
{
    return known(type)->tag ? known(type)->tag : "";
}

int drep_type_reference_what(const drep_type *type)
{
    return known(type)->kind == DREP_KIND_REFERENCE ? (int)known(type)->args[0] : 0;
}

const drep_scalar *drep_type_scalar_desc(const drep_type *type)
{
    return known(type)->kind == DREP_KIND_SCALAR ? known(type)->scalar : NULL;
}

int64_t drep_type_arg_count(const drep_type *type)
{
    return known(type)->nargs;
}

int64_t drep_type_arg(const drep_type *type, int64_t i)
{
    return i >= 0 && i < known(type)->nargs ? known(type)->args[i] : 0;
}

/* Frees what `data`, whose items are of the variable leaf `leaf`, points to. */
static void free_item(const drep_type *leaf, void *data)
{
    drep_vlen sequence;
    drep_ref ref;
    char *text;

    switch (leaf->kind) {
    case DREP_KIND_SEQUENCE:
        memcpy(&sequence, data, sizeof(sequence));
        if (sequence.data)
            drep_vlen_free(leaf->member[0], sequence.count, sequence.data);
        mem_free(sequence.data);
        memset(data, 0, sizeof(sequence));
        break;
    case DREP_KIND_VSTRING:
        if (type_counted(leaf)) {
            memcpy(&sequence, data, sizeof(sequence));
            mem_free(sequence.data);
            memset(data, 0, sizeof(sequence));
            break;
        }
        memcpy(&text, data, sizeof(text));
        mem_free(text);
        memset(data, 0, sizeof(text));
        break;
    case DREP_KIND_REFERENCE:
        memcpy(&ref, data, sizeof(ref));
        mem_free(ref.region);
        ref.region = NULL;
        memcpy(data, &ref, sizeof(ref));
        break;
    }
}

void drep_vlen_free(const drep_type *type, int64_t count, void *buf)
{
    drep_cursor cursor;
    drep_run run;
    int64_t left;

    if (!type || !buf || count <= 0 || !type->variable || type_elements(type, count, &left) ||
        cursor_init(&cursor, &type->prog, 0))
        return;
    for (; left > 0 && cursor_next(&cursor, left, &run); left -= run.count)
        if (run.type->variable)
            for (int64_t i = 0; i < run.count; i++)
                free_item(run.type, (char *)buf + run.offset + i * run.stride);
}
