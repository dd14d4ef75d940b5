/* match.c - what two datatypes have in common: members of one name, texts. */
/* SPDX-License-Identifier: MIT */
#include "type/match.h"

#include "base/error.h"
#include "base/mem.h"
#include "type/build.h"

#include <datarep.h>
#include <stdlib.h>
#include <string.h>

#define FEW_NAMES 16 /* members up to which names are searched in order */

struct matching {
    const struct type_sizes *sizes;
    enum match_way way;
    bool lacks;
};

/* Types of the common items, a reference each; both NULL: there are none. */
struct common {
    drep_type *file, *mem;
};

static int match(struct matching *w, const drep_type *file, const drep_type *mem, bool tiles,
                 struct common *out);

static void common_release(struct common *c)
{
    drep_type_free(c->file);
    drep_type_free(c->mem);
    *c = (struct common){NULL, NULL};
}

/* ---- constructors over one base ---- */

/* True for types whose items are those of their one base, again and again. */
static bool repeats_base(const drep_type *t)
{
    return t->nmembers == 1 && (t->kind == DREP_KIND_ARRAY ||
                                (t->kind >= DREP_KIND_CONTIGUOUS && t->kind != DREP_KIND_STRUCT));
}

static const drep_type *core_of(const drep_type *t)
{
    while (repeats_base(t))
        t = t->member[0];
    return t;
}

/* The same constructors, from `type` down, over another core of the same extent. */
static int over_core(const drep_type *type, const drep_type *core, drep_type *other,
                     drep_type **out)
{
    drep_type *base, *t;
    int err;

    if (type == core || other == core) {
        *out = drep_type_ref(type == core ? other : type);
        return 0;
    }
    err = over_core(type->member[0], core, other, &base);
    if (err)
        return err;
    t = type_new(type->kind, type->nargs, 1);
    if (t && type->nargs > 0)
        memcpy(t->args, type->args, (size_t)type->nargs * sizeof *t->args);
    if (t)
        type_set_member(t, 0, base);
    drep_type_free(base);
    return t ? type_finish(t, out) : DREP_ERR_NOMEM;
}

/* ---- some members of a compound ---- */

/* Members of a compound or struct: their numbers, and the types that take their places. */
struct chosen {
    int64_t n;
    int64_t *number;
    drep_type **type;
    int64_t *displ, *blocklen;
    const char **name;
};

static int chosen_init(struct chosen *c, int64_t n)
{
    *c = (struct chosen){.number = mem_array((uint64_t)n, sizeof *c->number),
                         .type = mem_zalloc((uint64_t)n, sizeof *c->type),
                         .displ = mem_array((uint64_t)n, sizeof *c->displ),
                         .blocklen = mem_array((uint64_t)n, sizeof *c->blocklen),
                         .name = mem_array((uint64_t)n, sizeof *c->name)};
    return c->number && c->type && c->displ && c->blocklen && c->name ? 0 : DREP_ERR_NOMEM;
}

static void chosen_release(struct chosen *c)
{
    for (int64_t i = 0; i < c->n; i++)
        drep_type_free(c->type[i]);
    mem_free(c->number);
    mem_free(c->type);
    mem_free(c->displ);
    mem_free(c->blocklen);
    mem_free(c->name);
}

static void choose(struct chosen *c, int64_t number, drep_type *type)
{
    c->number[c->n] = number;
    c->type[c->n++] = type;
}

/* Notes where the members stand in the file: as the record says, or packed. */
static int place_chosen(const struct matching *w, const drep_type *type, const struct chosen *c,
                        drep_type *made)
{
    int64_t *all = type->placed, size = 0, align;
    int err = 0;

    made->placed = mem_array((uint64_t)c->n + 1, sizeof *made->placed);
    if (!made->placed)
        return DREP_ERR_NOMEM;
    if (!type->placed) {
        all = mem_array((uint64_t)type->nmembers + 1, sizeof *all);
        if (!all)
            return DREP_ERR_NOMEM;
        err = type_layout(type, w->sizes, PROG_PACKED, all, &size, &align);
        all[type->nmembers] = size;
    }
    for (int64_t i = 0; !err && i < c->n; i++)
        made->placed[i] = all[c->number[i]];
    made->placed[c->n] = all[type->nmembers];
    if (!type->placed)
        mem_free(all);
    return err;
}

/* The compound or struct of the chosen members, which stay where they are in memory; sizes not
 * NULL: and in the file.  It is `type` itself if all of them are chosen as they are. */
static int with_chosen(const struct matching *w, bool stored, const drep_type *type,
                       struct chosen *c, drep_type **out)
{
    bool same = c->n == type->nmembers;
    drep_type *made = NULL;
    int err;

    for (int64_t i = 0; i < c->n; i++) {
        int64_t k = c->number[i];

        same = same && k == i && c->type[i] == type->member[k];
        c->displ[i] = type->displ[k];
        c->blocklen[i] = type->blocklen ? type->blocklen[k] : 1;
        c->name[i] = type->kind == DREP_KIND_COMPOUND ? type->name[k] : NULL;
    }
    if (same) {
        *out = drep_type_ref(type);
        return 0;
    }
    err = type->kind == DREP_KIND_COMPOUND
              ? drep_type_compound(c->n, c->name, c->displ, (const drep_type *const *)c->type,
                                   type->prog.extent, &made)
              : drep_type_struct(c->n, c->blocklen, c->displ, (const drep_type *const *)c->type,
                                 &made);
    if (!err && stored)
        err = place_chosen(w, type, c, made);
    if (!err && type->kind == DREP_KIND_STRUCT) { /* its bounds followed from its members */
        drep_type *inner = made;

        err = drep_type_resized(type->lb, type->prog.extent, inner, &made);
        drep_type_free(inner);
        if (err)
            return err;
    }
    if (err)
        drep_type_free(made);
    else
        *out = made;
    return err;
}

/* ---- names ---- */

/* The members of a compound by name; sorted where they are many. */
struct member_name {
    const char *name;
    int64_t number;
};
struct names {
    const drep_type *type;
    struct member_name *sorted; /* NULL: few */
    int64_t next;               /* the member behind the last one found: often the next one */
};

static int by_name(const void *a, const void *b)
{
    const struct member_name *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static int names_init(struct names *n, const drep_type *type)
{
    *n = (struct names){.type = type};
    if (type->nmembers <= FEW_NAMES)
        return 0;
    n->sorted = mem_array((uint64_t)type->nmembers, sizeof *n->sorted);
    if (!n->sorted)
        return DREP_ERR_NOMEM;
    for (int64_t i = 0; i < type->nmembers; i++)
        n->sorted[i] = (struct member_name){type->name[i], i};
    qsort(n->sorted, (size_t)type->nmembers, sizeof *n->sorted, by_name);
    return 0;
}

/* The member of this name; -1: there is none. */
static int64_t names_find(struct names *n, const char *name)
{
    const struct member_name key = {name, 0}, *found;
    int64_t i = n->next;

    if (i < n->type->nmembers && strcmp(n->type->name[i], name) == 0)
        return n->next++;
    if (n->sorted) {
        found = bsearch(&key, n->sorted, (size_t)n->type->nmembers, sizeof key, by_name);
        i = found ? found->number : -1;
    } else {
        for (i = n->type->nmembers - 1; i >= 0 && strcmp(n->type->name[i], name) != 0; i--)
            ;
    }
    if (i >= 0)
        n->next = i + 1;
    return i;
}

/* ---- level by level ---- */

/* Holds member j of memory against member i of the file. */
static int match_member(struct matching *w, const drep_type *file, int64_t i, const drep_type *mem,
                        int64_t j, struct chosen *fc, struct chosen *mc)
{
    struct common both = {NULL, NULL};
    int err = match(w, file->member[i], mem->member[j], false, &both);

    if (err)
        return err;
    if (!both.file) {
        w->lacks = true;
        return 0;
    }
    choose(fc, i, both.file);
    choose(mc, j, both.mem);
    return 0;
}

/* All of memory's members, in its order. */
static int match_names(struct matching *w, const drep_type *file, const drep_type *mem,
                       struct chosen *fc, struct chosen *mc)
{
    struct names names;
    int err = names_init(&names, file);

    for (int64_t j = 0; !err && j < mem->nmembers; j++) {
        int64_t i = names_find(&names, mem->name[j]);

        if (i >= 0)
            err = fail_in(match_member(w, file, i, mem, j, fc, mc), "member \"%s\"", mem->name[j]);
        else if (w->way == MATCH_FILL)
            w->lacks = true;
        else
            err = fail(DREP_ERR_TYPE, "the %s has no member \"%s\"", w->sizes ? "file" : "source",
                       mem->name[j]);
    }
    mem_free(names.sorted);
    return err;
}

static int match_numbers(struct matching *w, const drep_type *file, const drep_type *mem,
                         struct chosen *fc, struct chosen *mc)
{
    int err = 0;

    for (int64_t i = 0; !err && i < mem->nmembers; i++)
        err = fail_in(match_member(w, file, i, mem, i, fc, mc), "member %lld", (long long)i);
    return err;
}

static int match_members(struct matching *w, const drep_type *file, const drep_type *mem,
                         struct common *out)
{
    struct chosen fc, mc;
    struct common both = {NULL, NULL};
    int err = chosen_init(&fc, mem->nmembers);

    if (chosen_init(&mc, mem->nmembers) && !err)
        err = DREP_ERR_NOMEM;
    if (!err)
        err = mem->kind == DREP_KIND_COMPOUND ? match_names(w, file, mem, &fc, &mc)
                                              : match_numbers(w, file, mem, &fc, &mc);
    if (!err && fc.n > 0)
        err = with_chosen(w, w->sizes != NULL, file, &fc, &both.file);
    if (!err && fc.n > 0)
        err = with_chosen(w, false, mem, &mc, &both.mem);
    chosen_release(&fc);
    chosen_release(&mc);
    if (err)
        common_release(&both);
    else
        *out = both;
    return err;
}

/* A sequence of these elements; in the file, also how they lie in the heap. */
static int sequence_of(const struct matching *w, bool stored, const drep_type *type,
                       const drep_type *base, drep_type **out)
{
    drep_type *made;
    int err;

    if (base == type->member[0]) {
        *out = drep_type_ref(type);
        return 0;
    }
    err = drep_type_sequence(base, &made);
    if (err)
        return err;
    if (stored && (err = type_stored(base, w->sizes, &made->content))) {
        drep_type_free(made);
        return err;
    }
    *out = made;
    return 0;
}

/* The elements of a sequence are new whenever it is written: there is nothing to keep. */
static int match_sequences(struct matching *w, const drep_type *file, const drep_type *mem,
                           struct common *out)
{
    struct common base = {NULL, NULL}, both = {NULL, NULL};
    int err = match(w, file->member[0], mem->member[0], true, &base);

    if (err || !base.file)
        return err;
    if (w->way == MATCH_WRITE && base.file->size != file->member[0]->size)
        err = fail(DREP_ERR_TYPE, "the elements of a sequence are written with all members");
    if (!err)
        err = sequence_of(w, w->sizes != NULL, file, base.file, &both.file);
    if (!err)
        err = sequence_of(w, false, mem, base.mem, &both.mem);
    common_release(&base);
    if (err)
        common_release(&both);
    else
        *out = both;
    return err;
}

/* True for structs without names whose members can be held against each other one by one. */
static bool parallel(const drep_type *file, const drep_type *mem)
{
    if (file->kind != DREP_KIND_STRUCT || mem->kind != DREP_KIND_STRUCT ||
        file->nmembers != mem->nmembers)
        return false;
    for (int64_t i = 0; i < mem->nmembers; i++)
        if (file->blocklen[i] != mem->blocklen[i])
            return false;
    return true;
}

/* True if strings of a fixed length are on one side and of variable length on the other. */
static bool texts_differ(const drep_type *a, const drep_type *b)
{
    return (a->texts & TEXT_FIXED && b->texts & TEXT_VARIABLE) ||
           (a->texts & TEXT_VARIABLE && b->texts & TEXT_FIXED);
}

bool type_matches(const drep_type *file, const drep_type *mem)
{
    return (file->named && mem->named) || texts_differ(file, mem);
}

/* A string and a vstring: one item each. */
static int match_texts(const drep_type *file, const drep_type *mem, struct common *out)
{
    struct common both = {NULL, NULL};
    int err = file->kind == DREP_KIND_STRING ? type_text(file, &both.file) : 0;

    if (!err && mem->kind == DREP_KIND_STRING)
        err = type_text(mem, &both.mem);
    if (err)
        return err;
    if (!both.file)
        both.file = drep_type_ref(file);
    if (!both.mem)
        both.mem = drep_type_ref(mem);
    *out = both;
    return 0;
}

/* All items of both. */
static int match_whole(const drep_type *file, const drep_type *mem, bool tiles, struct common *out)
{
    if (!tiles && file->items != mem->items)
        return fail(DREP_ERR_TYPE, "%lld data items in the file, %lld in memory",
                    (long long)file->items, (long long)mem->items);
    *out = (struct common){drep_type_ref(file), drep_type_ref(mem)};
    return 0;
}

/* tiles: elements of one side may be several of the other's; members are one of each. */
static int match(struct matching *w, const drep_type *file, const drep_type *mem, bool tiles,
                 struct common *out)
{
    const drep_type *fc = core_of(file), *mc = core_of(mem);
    struct common core = {NULL, NULL}, both = {NULL, NULL};
    int err;

    if (file == mem || !type_matches(file, mem) || fc->items == 0 || mc->items == 0)
        return match_whole(file, mem, tiles, out);
    if (!tiles && file->items / fc->items != mem->items / mc->items)
        return fail(DREP_ERR_TYPE, "%lld of them in the file, %lld in memory",
                    (long long)(file->items / fc->items), (long long)(mem->items / mc->items));
    if ((fc->kind == DREP_KIND_COMPOUND && mc->kind == DREP_KIND_COMPOUND) || parallel(fc, mc))
        err = match_members(w, fc, mc, &core);
    else if (fc->kind == DREP_KIND_SEQUENCE && mc->kind == DREP_KIND_SEQUENCE)
        err = match_sequences(w, fc, mc, &core);
    else if ((fc->kind == DREP_KIND_STRING && mc->kind == DREP_KIND_VSTRING) ||
             (fc->kind == DREP_KIND_VSTRING && mc->kind == DREP_KIND_STRING))
        err = match_texts(fc, mc, &core);
    else
        return match_whole(file, mem, tiles, out);
    if (err || !core.file)
        return err;
    err = over_core(file, fc, core.file, &both.file);
    if (!err)
        err = over_core(mem, mc, core.mem, &both.mem);
    common_release(&core);
    if (err)
        common_release(&both);
    else
        *out = both;
    return err;
}

int type_match(const drep_type *file, const struct type_sizes *sizes, const drep_type *mem,
               enum match_way way, struct type_match *out)
{
    struct matching w = {.sizes = sizes, .way = way};
    struct common both = {NULL, NULL};
    int err = match(&w, file, mem, true, &both);

    if (err)
        return err;
    if (!both.file)
        return fail(DREP_ERR_TYPE, "memory and file have no member in common");
    *out = (struct type_match){both.file, both.mem, both.file->size != file->size, w.lacks};
    return 0;
}

void type_match_release(struct type_match *match)
{
    drep_type_free(match->file);
    drep_type_free(match->mem);
    memset(match, 0, sizeof *match);
}

/* ---- as stored ---- */

static int type_stored_shape(struct shape *out, const drep_type *type,
                             const struct type_sizes *sizes)
{
    int64_t n = type->kind == DREP_KIND_SEQUENCE ? 0 : type->nmembers;
    struct shape *members = mem_zalloc((uint64_t)n, sizeof *members);
    int err = !members ? DREP_ERR_NOMEM : 0;

    for (int64_t i = 0; !err && i < n; i++) {
        if (i > 0 && type->member[i] == type->member[i - 1])
            shape_copy(&members[i], &members[i - 1]);
        else
            err = type_stored_shape(&members[i], type->member[i], sizes);
    }
    if (!err)
        err = type->placed ? shape_place(out, members, n, type->placed, type->placed[n])
                           : shape_compose(out, type, members, sizes, PROG_PACKED);
    for (int64_t i = 0; members && i < n; i++)
        shape_release(&members[i]);
    mem_free(members);
    return err;
}

int type_stored(const drep_type *type, const struct type_sizes *sizes, struct prog *out)
{
    struct shape s = {0};
    int err = type_stored_shape(&s, type, sizes);

    if (!err)
        err = prog_from(out, &s);
    shape_release(&s);
    return err;
}
