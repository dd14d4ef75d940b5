/* model.h - random stories of ranks, held against a model of what the headers promise.
 *
 * Written from <datarep.h> and <datarep-team.h> alone.  All ranks draw the same plan from the
 * story's seed, and each keeps the whole model, so that every result is known beforehand: objects
 * that some ranks make, elements written together and alone, shapes that some ranks change,
 * attributes with two values, representations whose functions fail on one rank, files that are
 * opened again.  After each commit every rank holds the file against the model, and at the end one
 * process does.  Stories in which all ranks do the same, and write together, are told by one
 * process once more: its file has the same bytes.
 *
 * An element is a small number, which each type shows in its way; 0 is the fill value. */
/* SPDX-License-Identifier: MIT */
#ifndef MPI_MODEL_H
#define MPI_MODEL_H

#include "tests/mpi/world.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETS = 9, ROOM = 128, GROUPS = 3, ATTRS = 4, MOST_RANKS = 8, POISON = 2000000001 };

enum kind { INTS, DOUBLES, PAIRS, TEXTS, LISTS, ENUMS, TRIPLES, STRINGS, TAGS, BOOLS, KINDS };

struct set {
    bool live, fresh;  /* fresh: not committed */
    unsigned known;    /* the ranks that have it, one bit each */
    bool touched;      /* changed since the last commit */
    bool grown;        /* by all */
    bool uneven;       /* its shape differs among the ranks */
    bool shape_is_set; /* some ranks alone have resized it */
    char path[24];
    int kind, layout, rep, filter, rank;
    bool grows;
    int64_t rows, cols, chunk[2];
    int64_t len[MOST_RANKS]; /* rows that each rank sees */
    int value[ROOM];
    uint64_t salt; /* says who may write which element alone */
};

struct state {
    struct set set[SETS];
    int group[GROUPS]; /* 1: committed, 2: fresh */
    bool attr[ATTRS];
    int attr_value[ATTRS];
};

struct tale {
    struct world *w;
    uint64_t seed, next;
    bool alike; /* all ranks do the same */
    bool serial;
    int clash;      /* an attribute with two values, + 1 */
    bool crossed;   /* an element that two ranks have written */
    bool committed; /* the file is there */
    bool failed;    /* a write has failed since the last commit: closing would give its error */
    const char *path, *datarep;
    drep_file *f;
    drep_dataset *h[SETS];
    struct state now, kept; /* kept: of the last commit */
    int steps;
    char why[1500]; /* what went wrong first */
};

struct model_pair {
    int32_t a;
    double b;
};
struct model_tag {
    int32_t a;
    char *s;
};

static drep_type *model_type[KINDS];
static const char *const model_rep[] = {NULL,       "external32", "internal", "native:s390x",
                                        "modeltab", "modelfun",   "native"};
enum { REPS = 7, REP_FUNCTIONS = 5 };

/* ---- draws ---- */

static uint64_t draw(struct tale *t, uint64_t below)
{
    uint64_t z = t->next += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

__attribute__((format(printf, 2, 3))) static void bad(struct tale *t, const char *form, ...)
{
    va_list args;
    int n;

    if (t->why[0])
        return;
    n = snprintf(t->why, sizeof t->why,
                 "seed %llu, step %d, %s %d of %d: ", (unsigned long long)t->seed, t->steps,
                 t->serial ? "serial" : "rank", t->w->me, t->w->n);
    va_start(args, form);
    vsnprintf(t->why + n, sizeof t->why - (size_t)n, form, args);
    va_end(args);
}

static void want(struct tale *t, int got, int expected, const char *what, const char *path)
{
    if (got != expected)
        bad(t, "%s %s gives %d, not %d (%s)", what, path, got, expected, got ? drep_error() : "");
}

/* MODEL_TRACE=1: rank 0 says what it does. */
__attribute__((format(printf, 2, 3))) static void say_step(const struct tale *t, const char *form,
                                                           ...)
{
    va_list args;

    if (t->w->me || !getenv("MODEL_TRACE"))
        return;
    va_start(args, form);
    printf("# %s %d: ", t->serial ? "serial" : "step", t->steps);
    vprintf(form, args);
    printf("\n");
    va_end(args);
}

/* ---- types and representations ---- */

static int model_turn(char *user, const drep_type *type, int64_t count, char *file,
                      int64_t position, bool write)
{
    drep_cursor cursor;
    drep_run run;

    if (drep_cursor_init(&cursor, type, position))
        return 1;
    while (count > 0 && drep_cursor_next(&cursor, count, &run)) {
        int64_t size = drep_type_size(run.type);

        for (int64_t i = 0; i < run.count; i++, file += size) {
            char *item = user + run.offset + i * run.stride;
            int32_t number = 0;
            double real = 0;

            if (write && size == 4)
                memcpy(&number, item, 4);
            if (write && size == 8)
                memcpy(&real, item, 8);
            if (number == POISON || real == POISON)
                return 1;
            for (int64_t b = 0; b < size; b++)
                if (write)
                    file[size - 1 - b] = item[b];
                else
                    item[b] = file[size - 1 - b];
        }
        count -= run.count;
    }
    return 0;
}

static int model_read(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    (void)state;
    return model_turn(user, type, count, file, position, false);
}

static int model_write(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    (void)state;
    return model_turn(user, type, count, file, position, true);
}

static int model_extent(const drep_type *type, int64_t *extent, void *state)
{
    (void)state;
    *extent = drep_type_size(type);
    return 0;
}

/* Once in each process. */
static int model_begin(void)
{
    static const char *const pair[] = {"a", "b"}, *const tag[] = {"a", "s"};
    static const char *const colors[] = {"none", "red", "green", "blue", "white"};
    static const int64_t numbers[] = {0, 1, 2, 3, 4}, three = 3;
    const drep_encoding rows[] = {{DREP_CODE_INT32_T, DREP_FORMAT_INT, DREP_BIG, 8, 1, 0, 0}};
    const drep_type *pairs[] = {DREP_INT32_T, DREP_DOUBLE}, *tags[] = {DREP_INT32_T, NULL};
    int err = 0;

    model_type[INTS] = drep_type_ref(DREP_INT32_T);
    model_type[DOUBLES] = drep_type_ref(DREP_DOUBLE);
    err |= drep_type_compound(2, pair, NULL, pairs, 0, &model_type[PAIRS]);
    err |= drep_type_vstring(&model_type[TEXTS]);
    err |= drep_type_sequence(DREP_INT32_T, &model_type[LISTS]);
    err |= drep_type_enum(DREP_INT32_T, 5, colors, numbers, &model_type[ENUMS]);
    err |= drep_type_array(1, &three, DREP_INT16_T, &model_type[TRIPLES]);
    err |= drep_type_string(8, DREP_PAD_NUL, &model_type[STRINGS]);
    tags[1] = model_type[TEXTS];
    err |= drep_type_compound(2, tag, NULL, tags, 0, &model_type[TAGS]);
    err |= drep_type_boolean(DREP_UINT8_T, &model_type[BOOLS]);
    err |= drep_declare_datarep("modeltab", "external32", rows, 1, NULL, 0);
    err |= drep_register_datarep("modelfun", model_read, model_write, model_extent, NULL);
    return err;
}

static void model_text(char *out, size_t room, int v)
{
    if (v)
        snprintf(out, room, "text %d%.*s", v, v % 17, "................");
    else
        out[0] = 0;
}

/* One element of a kind; what varies lives in `spare`, 64 bytes for each. */
static void model_put(int kind, int v, void *at, char *spare)
{
    switch (kind) {
    case INTS:
        memcpy(at, &(int32_t){v}, 4);
        return;
    case DOUBLES:
        memcpy(at, &(double){v == POISON ? v : v * 0.5}, 8);
        return;
    case PAIRS:
        memset(at, 0, sizeof(struct model_pair));
        *(struct model_pair *)at = (struct model_pair){v, v == POISON ? 0 : v * 0.5};
        return;
    case TEXTS:
        model_text(spare, 64, v);
        memcpy(at, &spare, sizeof spare);
        return;
    case LISTS:
        for (int i = 0; i < v % 4; i++)
            ((int32_t *)(void *)spare)[i] = v + i;
        *(drep_vlen *)at = (drep_vlen){v % 4, spare};
        return;
    case ENUMS:
        memcpy(at, &(int32_t){v % 5}, 4);
        return;
    case TRIPLES:
        for (int i = 0; i < 3; i++)
            ((int16_t *)at)[i] = (int16_t)(v * (i + 1));
        return;
    case STRINGS:
        memset(at, 0, 8);
        if (v)
            snprintf(at, 8, "s%d", v);
        return;
    case TAGS:
        model_text(spare, 64, v);
        *(struct model_tag *)at = (struct model_tag){v, spare};
        return;
    default:
        *(uint8_t *)at = v & 1;
        return;
    }
}

/* The element shows this number. */
static bool model_shows(int kind, int v, const void *at)
{
    _Alignas(16) char mine[64], spare[64];
    char *text;

    model_put(kind, v, mine, spare);
    switch (kind) {
    case PAIRS:
        return ((const struct model_pair *)at)->a == v &&
               ((const struct model_pair *)at)->b == v * 0.5;
    case TEXTS:
        memcpy(&text, at, sizeof text);
        return text ? strcmp(text, spare) == 0 : v == 0;
    case LISTS: {
        const drep_vlen *list = at;

        return list->count == v % 4 &&
               (v % 4 == 0 || memcmp(list->data, spare, (size_t)(v % 4) * 4) == 0);
    }
    case TAGS: {
        const struct model_tag *tag = at;

        return tag->a == v && (tag->s ? strcmp(tag->s, spare) == 0 : v == 0);
    }
    default:
        return memcmp(mine, at, (size_t)drep_type_extent(model_type[kind])) == 0;
    }
}

/* ---- who ---- */

static unsigned everybody(const struct tale *t)
{
    return (1u << t->w->n) - 1;
}

static bool acts(const struct tale *t, unsigned who)
{
    return t->serial || (who >> t->w->me & 1);
}

/* Some ranks: all, one, or any number of them. */
static unsigned some(struct tale *t)
{
    uint64_t how = draw(t, 3);
    unsigned all = everybody(t), who = 1u << draw(t, (uint64_t)t->w->n);

    if (t->alike || how == 0)
        return all;
    return how == 1 ? who : who | ((unsigned)draw(t, all) & all);
}

/* The rank that may write an element alone. */
static int owner(const struct tale *t, const struct set *s, int64_t element)
{
    int64_t block = 1 + (int64_t)(s->salt % 13);
    int k = (int)((uint64_t)(element / block + (int64_t)(s->salt >> 8 & 255)) %
                  (uint64_t)__builtin_popcount(s->known));

    for (int r = 0; r < t->w->n; r++)
        if (s->known >> r & 1 && k-- == 0)
            return r;
    return 0;
}

static bool shared_set(const struct tale *t, const struct set *s)
{
    return s->live && s->known == everybody(t) && !s->uneven;
}

/* ---- the file against the model ---- */

static void hold_box(struct tale *t, int i, drep_dataset *h, const int64_t *start,
                     const int64_t *count, bool together, const char *when)
{
    struct set *s = &t->now.set[i];
    int64_t n = count[0] * (s->rank == 2 ? count[1] : 1);
    size_t extent = (size_t)drep_type_extent(model_type[s->kind]);
    char *buf = calloc((size_t)n + 1, extent);
    int err = drep_read_box(h, start, count, model_type[s->kind], buf,
                            &DREP_XFER(.collective = together));

    want(t, err, 0, when, s->path);
    for (int64_t k = 0; !err && k < n; k++) {
        int64_t row = start[0] + (s->rank == 2 ? k / count[1] : k);
        int64_t at = s->rank == 2 ? row * s->cols + start[1] + k % count[1] : row;

        if (!model_shows(s->kind, s->value[at], buf + (size_t)k * extent))
            bad(t, "%s: element %lld of %s is not %d", when, (long long)at, s->path, s->value[at]);
    }
    if (!err)
        drep_vlen_free(model_type[s->kind], n, buf);
    free(buf);
}

struct count {
    int links;
};

static int count_link(const drep_linkinfo *link, void *ctx)
{
    (void)link;
    ((struct count *)ctx)->links++;
    return 0;
}

static void hold_set(struct tale *t, int i, drep_file *f, drep_dataset *h, const char *when)
{
    struct set *s = &t->now.set[i];
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *own = NULL;

    if (!h)
        want(t, drep_dataset_open(f, s->path, &own), 0, when, s->path);
    if (!h && !own)
        return;
    h = h ? h : own;
    want(t, drep_dataset_info(h, &info), 0, when, s->path);
    if (info.rank != s->rank || info.dims[0] != s->rows ||
        (s->rank == 2 && info.dims[1] != s->cols))
        bad(t, "%s: %s has %lld rows, not %lld", when, s->path, (long long)info.dims[0],
            (long long)s->rows);
    else
        hold_box(t, i, h, (int64_t[]){0, 0}, (int64_t[]){s->rows, s->cols}, false, when);
    drep_dataset_close(own);
}

static void hold(struct tale *t, drep_file *f, bool handles, const char *when)
{
    struct count links = {0};
    int expected = 0;

    for (int g = 0; g < GROUPS; g++) {
        char path[16];
        int kind = 0;

        snprintf(path, sizeof path, "/g%d", g);
        want(t, drep_exists(f, path, &kind), 0, when, path);
        if ((kind == DREP_OBJ_GROUP) != (t->now.group[g] != 0))
            bad(t, "%s: %s is kind %d", when, path, kind);
        expected += t->now.group[g] != 0;
    }
    for (int i = 0; i < SETS; i++)
        if (t->now.set[i].live) {
            expected += strchr(t->now.set[i].path + 1, '/') == NULL;
            hold_set(t, i, f, handles ? t->h[i] : NULL, when);
        }
    for (int a = 0; a < ATTRS; a++) {
        char name[8];
        int64_t v = -1;

        snprintf(name, sizeof name, "a%d", a);
        want(t, drep_attr_read_int64(f, "/", name, &v), t->now.attr[a] ? 0 : DREP_ERR_NOT_FOUND,
             when, name);
        if (t->now.attr[a] && v != t->now.attr_value[a])
            bad(t, "%s: attribute %s is %lld, not %d", when, name, (long long)v,
                t->now.attr_value[a]);
    }
    want(t, drep_list(f, "/", DREP_BY_NAME, count_link, &links), 0, when, "/");
    if (links.links != expected)
        bad(t, "%s: %d links in /, not %d", when, links.links, expected);
}

/* ---- steps ---- */

static drep_info *model_info(const struct tale *t)
{
    drep_info *info;
    char text[40];

    if (drep_info_new(&info))
        abort();
    snprintf(text, sizeof text, "%032llx", (unsigned long long)t->seed);
    drep_info_set(info, "drep_uuid", text);
    drep_info_set(info, "drep_time", "1700000000000000000");
    drep_info_set(info, "drep_machine", "model");
    drep_info_set(info, "drep_sync", "none");
    drep_info_set(info, "drep_mpi_timeout", "60");
    return info;
}

static void open_file(struct tale *t, bool make)
{
    drep_info *info = model_info(t);
    int err;

    t->f = NULL;
    if (t->serial)
        err = make ? drep_create(t->path, DREP_RDWR, t->datarep, info, &t->f)
                   : drep_open(t->path, DREP_RDWR, info, &t->f);
    else
        err = make ? t->w->make(t->w, t->path, t->datarep, info, &t->f)
                   : t->w->open(t->w, t->path, DREP_RDWR, info, &t->f);
    want(t, err, 0, make ? "create" : "open", t->path);
    drep_info_free(info);
}

static void step_create(struct tale *t)
{
    static const int filters[] = {0, 0, DREP_FILTER_DEFLATE, DREP_FILTER_ZSTD};
    int i = (int)draw(t, SETS), g = (int)draw(t, GROUPS + 2);
    struct set *s = &t->now.set[i];
    /* A name that some have removed, and others used again, is a contradiction. */
    bool free_place = !s->live && !s->known && (t->alike || !t->kept.set[i].live);
    drep_filter chain[2] = {{.id = DREP_FILTER_SHUFFLE}, {.id = 0}};
    struct set made = {.live = true, .fresh = true, .known = some(t), .touched = false};
    int64_t most[2] = {DREP_UNLIMITED};
    drep_spec spec;
    int err;

    made.kind = (int)draw(t, KINDS);
    made.layout = 1 + (int)draw(t, 3);
    made.rep = draw(t, 2) ? (int)draw(t, REPS) : 0;
    made.filter = filters[draw(t, 4)];
    made.rank = 1 + (int)draw(t, 2);
    made.grows = made.layout == DREP_CHUNKED && draw(t, 3) > 0;
    made.cols = made.rank == 2 ? 1 + (int64_t)draw(t, 4) : 1;
    made.rows = 1 + (int64_t)draw(t, (uint64_t)(40 / made.cols));
    made.chunk[0] = 1 + (int64_t)draw(t, 9);
    made.chunk[1] = 1 + (int64_t)draw(t, 3);
    made.salt = draw(t, 1u << 30);
    if (made.layout == DREP_CONTIGUOUS && drep_type_variable(model_type[made.kind]))
        made.layout = DREP_COMPACT;
    if (!free_place)
        return;
    if (g < GROUPS && t->now.group[g] == 1)
        snprintf(made.path, sizeof made.path, "/g%d/d%d", g, i);
    else
        snprintf(made.path, sizeof made.path, "/d%d", i);
    for (int r = 0; r < MOST_RANKS; r++)
        made.len[r] = made.rows;
    *s = made;
    spec = DREP_SPEC(.type = model_type[s->kind], .rank = s->rank,
                     .dims = (const int64_t[]){s->rows, s->cols}, .layout = s->layout,
                     .datarep = model_rep[s->rep]);
    most[1] = s->cols;
    if (s->grows)
        spec.maxdims = most;
    if (s->layout == DREP_CHUNKED)
        spec.chunk = s->chunk;
    if (s->layout == DREP_CHUNKED && s->filter) {
        chain[1].id = s->filter;
        spec.filters = draw(t, 2) ? chain : chain + 1;
        spec.nfilters = spec.filters == chain ? 2 : 1;
    }
    say_step(t,
             "create %s: kind %d, layout %d, representation %d, %d filters, %d ranks, %lld x %lld, "
             "chunks %lld x %lld",
             s->path, s->kind, s->layout, s->rep, spec.nfilters, __builtin_popcount(s->known),
             (long long)s->rows, (long long)s->cols, (long long)s->chunk[0],
             (long long)s->chunk[1]);
    if (acts(t, s->known)) {
        err = drep_dataset_create(t->f, s->path, &spec, &t->h[i]);
        want(t, err, 0, "create", s->path);
    }
}

/* Write one box with numbers of its own; those of poison: `poisoned` says which element. */
static int write_box(struct tale *t, int i, const int64_t *start, const int64_t *count,
                     uint64_t salt, bool together, bool poisoned)
{
    struct set *s = &t->now.set[i];
    int64_t n = count[0] * (s->rank == 2 ? count[1] : 1);
    size_t extent = (size_t)drep_type_extent(model_type[s->kind]);
    char *buf = calloc((size_t)n + 1, extent), *spare = malloc(64 * ((size_t)n + 1));
    int err;

    for (int64_t k = 0; k < n; k++) {
        int64_t row = start[0] + (s->rank == 2 ? k / count[1] : k);
        int64_t at = s->rank == 2 ? row * s->cols + start[1] + k % count[1] : row;
        int v = 1 + (int)((salt + (uint64_t)at * 7919) % 997);

        model_put(s->kind, poisoned && k == n / 2 ? POISON : v, buf + (size_t)k * extent,
                  spare + 64 * k);
    }
    err = drep_write_box(t->h[i], start, count, model_type[s->kind], buf,
                         &DREP_XFER(.collective = together));
    free(buf);
    free(spare);
    return err;
}

static void note_box(struct tale *t, int i, const int64_t *start, const int64_t *count,
                     uint64_t salt)
{
    struct set *s = &t->now.set[i];

    for (int64_t r = start[0]; r < start[0] + count[0]; r++)
        for (int64_t c = 0; c < (s->rank == 2 ? count[1] : 1); c++) {
            int64_t at = s->rank == 2 ? r * s->cols + start[1] + c : r;

            s->value[at] = 1 + (int)((salt + (uint64_t)at * 7919) % 997);
        }
    s->touched = true;
}

static void draw_box(struct tale *t, const struct set *s, int64_t *start, int64_t *count)
{
    int64_t len[2] = {s->rows, s->cols};

    for (int d = 0; d < 2; d++) {
        start[d] = len[d] && draw(t, 2) ? (int64_t)draw(t, (uint64_t)len[d]) : 0;
        count[d] = len[d] - start[d];
        if (count[d] && draw(t, 2))
            count[d] = 1 + (int64_t)draw(t, (uint64_t)count[d]);
    }
}

static void step_together(struct tale *t, bool poison)
{
    int i = (int)draw(t, SETS), n = t->w->n, victim = (int)draw(t, (uint64_t)n);
    struct set *s = &t->now.set[i];
    int64_t start[2], count[2], cuts[MOST_RANKS + 1] = {0}, a[2], b[2];
    int along, turn = (int)draw(t, (uint64_t)n), part;
    uint64_t salt = draw(t, 1u << 30);
    bool fails = poison && s->rep == REP_FUNCTIONS &&
                 (s->kind == INTS || s->kind == DOUBLES || s->kind == PAIRS);

    if (!shared_set(t, s) || (poison && !fails))
        return;
    draw_box(t, s, start, count);
    along = (int)draw(t, (uint64_t)s->rank);
    for (int r = 1; r < n; r++)
        cuts[r] = (int64_t)draw(t, (uint64_t)count[along] + 1);
    cuts[n] = count[along];
    for (int r = 1; r < n; r++)
        for (int q = r + 1; q < n; q++)
            if (cuts[q] < cuts[r]) {
                int64_t swap = cuts[q];

                cuts[q] = cuts[r];
                cuts[r] = swap;
            }
    say_step(t, "write together %s: %lld,%lld from %lld,%lld%s", s->path, (long long)count[0],
             (long long)count[1], (long long)start[0], (long long)start[1],
             poison ? " poisoned" : "");
    part = (victim + turn) % n;
    fails = fails && count[0] > 0 && cuts[part + 1] > cuts[part];
    if (poison && !fails)
        return;
    memcpy(a, start, sizeof a);
    memcpy(b, count, sizeof b);
    if (!t->serial) {
        part = (t->w->me + turn) % n;
        a[along] += cuts[part];
        b[along] = cuts[part + 1] - cuts[part];
    }
    if (!fails) {
        want(t, write_box(t, i, a, b, salt, !t->serial, false), 0, "write together", s->path);
        note_box(t, i, start, count, salt);
    } else {
        want(t, write_box(t, i, a, b, salt, !t->serial, t->serial || t->w->me == victim),
             DREP_ERR_CONVERSION, "write together, with one that fails,", s->path);
        t->failed = true;
    }
}

/* Each rank, or some, writes elements that are its own. */
static void step_alone(struct tale *t)
{
    int i = (int)draw(t, SETS);
    struct set *s = &t->now.set[i];
    uint64_t salt = draw(t, 1u << 30), crossing = draw(t, 60);
    unsigned who = some(t);
    bool whole = draw(t, 2);

    if (!s->live || !s->known || t->alike)
        return;
    who &= s->known;
    say_step(t, "write alone %s: ranks %x", s->path, who);
    for (int64_t row = 0; row < s->len[0] || row < s->rows + 40; row++)
        for (int64_t c = 0; c < s->cols; c++) {
            int64_t at = row * s->cols + c, start[2] = {row, c}, count[2] = {1, 1};
            int r = at < ROOM ? owner(t, s, at) : 0;

            if (at >= ROOM || !(who >> r & 1) || row >= s->len[r] || (!whole && draw(t, 3)))
                continue;
            if (!t->serial && t->w->me == r)
                want(t, write_box(t, i, start, count, salt, false, false), 0, "write alone",
                     s->path);
            note_box(t, i, start, count, salt);
        }
    if (crossing == 0 && who == everybody(t) && s->rows > 0 && s->cols > 0 && !s->shape_is_set) {
        int64_t start[2] = {0, 0}, count[2] = {1, 1}; /* with two different values */

        if (t->w->me < 2)
            want(t, write_box(t, i, start, count, salt + (uint64_t)t->w->me, false, false), 0,
                 "write across", s->path);
        t->crossed = true;
        s->touched = true;
    }
}

static void model_resize(struct set *s, int64_t rows)
{
    for (int64_t at = rows * s->cols; at < ROOM; at++)
        s->value[at] = 0;
    s->rows = rows;
}

static void step_resize(struct tale *t)
{
    int i = (int)draw(t, SETS), how = (int)draw(t, 4);
    struct set *s = &t->now.set[i];
    int64_t most = ROOM / (s->live ? s->cols : 1), rows, largest = 0;
    unsigned who = some(t);
    bool smaller;

    if (!s->live || !s->grows || s->shape_is_set)
        return;
    rows = how == 0 ? s->rows : (int64_t)draw(t, (uint64_t)most);
    who &= s->known;
    if (!who)
        return;
    smaller = rows < s->rows;
    say_step(t, "resize %s: %lld to %lld, ranks %x of %x", s->path, (long long)s->rows,
             (long long)rows, who, s->known);
    if (smaller && !t->alike && (s->touched || ((s->fresh || s->grown) && who != s->known)))
        return;
    if (who == s->known && (how < 3 || t->alike)) { /* all alike */
        if (acts(t, who))
            want(t, drep_dataset_resize(t->h[i], (int64_t[]){rows, s->cols}), 0, "resize", s->path);
        model_resize(s, rows);
        for (int r = 0; r < MOST_RANKS; r++)
            s->len[r] = rows;
        s->touched = s->touched || smaller;
        s->grown = true;
        s->shape_is_set = smaller && !t->alike && who != everybody(t);
        return;
    }
    for (int r = 0; r < t->w->n; r++) { /* growing by different lengths, or one to one length */
        int64_t mine = rows;

        if (!(who >> r & 1))
            continue;
        if (!smaller && how == 3 && rows + r < most)
            mine = rows + r;
        if (mine < s->rows && !smaller)
            mine = s->rows;
        if (t->w->me == r)
            want(t, drep_dataset_resize(t->h[i], (int64_t[]){mine, s->cols}), 0, "resize alone",
                 s->path);
        s->len[r] = mine;
        largest = mine > largest ? mine : largest;
    }
    s->uneven = s->shape_is_set = s->touched = true;
    if (smaller) /* the others' elements would be a contradiction */
        for (int r = 0; r < t->w->n; r++)
            s->len[r] = who >> r & 1 ? rows : 0;
    model_resize(s, largest);
}

static void write_attr(struct tale *t, int a, int v)
{
    char name[8];

    snprintf(name, sizeof name, "a%d", a);
    want(t, drep_attr_write_int64(t->f, "/", name, v), 0, "write attribute", name);
}

static void step_attr(struct tale *t)
{
    int a = (int)draw(t, ATTRS), v = 1 + (int)draw(t, 1000);
    unsigned who = some(t);
    bool clash = draw(t, 4) == 0 && !t->alike;

    if (t->clash || t->now.attr_value[a] < 0)
        return;
    say_step(t, "attribute a%d: ranks %x%s", a, who, clash ? ", a clash" : "");
    /* Of an attribute that some ranks have written, the others' old value would be another. */
    if (acts(t, who))
        write_attr(t, a, v + (clash && t->w->me != __builtin_ctz(who)));
    t->clash = clash && __builtin_popcount(who) > 1 ? a + 1 : 0;
    t->now.attr[a] = true;
    t->now.attr_value[a] = t->alike ? v : -v; /* until the commit */
}

static void step_group(struct tale *t)
{
    int g = (int)draw(t, GROUPS);
    unsigned who = some(t);
    char path[16];

    if (t->now.group[g])
        return;
    snprintf(path, sizeof path, "/g%d", g);
    say_step(t, "group %s: ranks %x", path, who);
    if (acts(t, who))
        want(t, drep_group_create(t->f, path, 0), 0, "create", path);
    t->now.group[g] = 2;
}

/* Some ranks remove or move a dataset that nobody has changed. */
static void step_names(struct tale *t)
{
    int i = (int)draw(t, SETS);
    struct set *s = &t->now.set[i];
    unsigned who = some(t);
    bool moves = draw(t, 2);
    char to[24];

    if (!s->live || s->fresh || s->touched || s->grown)
        return;
    snprintf(to, sizeof to, "/m%d_%d", i, t->steps);
    say_step(t, "%s %s: ranks %x", moves ? "move" : "remove", s->path, who);
    if (acts(t, who))
        want(t, moves ? drep_link_move(t->f, s->path, to) : drep_link_remove(t->f, s->path), 0,
             moves ? "move" : "remove", s->path);
    snprintf(s->path, sizeof s->path, "%s", to);
    s->touched = true;
    s->known = 0; /* to nobody, until the commit */
    s->live = moves;
    if (!moves)
        drep_dataset_close(t->h[i]), t->h[i] = NULL;
}

static void step_read(struct tale *t)
{
    int i = (int)draw(t, SETS);
    struct set *s = &t->now.set[i];
    int64_t start[2], count[2], part[2];

    if (!shared_set(t, s) || t->crossed)
        return;
    draw_box(t, s, start, count);
    if (t->serial)
        return;
    memcpy(part, count, sizeof part);
    if (count[0] > 1 && t->w->me % 2)
        part[0] = count[0] / 2;
    hold_box(t, i, t->h[i], start, part, true, "read together");
}

/* ---- commits ---- */

static void settled(struct tale *t)
{
    for (int i = 0; i < SETS; i++) {
        struct set *s = &t->now.set[i];

        s->fresh = s->touched = s->uneven = s->shape_is_set = s->grown = false;
        s->known = s->live ? everybody(t) : 0;
        for (int r = 0; r < MOST_RANKS; r++)
            s->len[r] = s->rows;
        s->salt = draw(t, 1u << 30);
    }
    for (int g = 0; g < GROUPS; g++)
        t->now.group[g] = t->now.group[g] != 0;
    for (int a = 0; a < ATTRS; a++)
        if (t->now.attr_value[a] < 0)
            t->now.attr_value[a] = -t->now.attr_value[a];
    t->kept = t->now;
    t->committed = true;
    t->failed = false;
}

static void open_sets(struct tale *t)
{
    for (int i = 0; i < SETS; i++)
        if (t->now.set[i].live && !t->h[i] && t->f)
            want(t, drep_dataset_open(t->f, t->now.set[i].path, &t->h[i]), 0, "open",
                 t->now.set[i].path);
}

static void close_sets(struct tale *t)
{
    for (int i = 0; i < SETS; i++) {
        drep_dataset_close(t->h[i]);
        t->h[i] = NULL;
    }
}

/* Two ranks have written an element: no commit, and nothing to be done but to begin again. */
static void start_again(struct tale *t)
{
    want(t, drep_commit(t->f), DREP_ERR_NOT_SAME, "commit of an element of two ranks", "");
    close_sets(t);
    drep_abandon(t->f);
    t->f = NULL;
    t->w->meet(t->w);
    t->now = t->kept;
    t->crossed = t->failed = false;
    t->clash = 0;
    open_file(t, !t->committed);
    if (t->f)
        open_sets(t);
}

static void resolve(struct tale *t)
{
    int a = t->clash - 1;

    want(t, drep_commit(t->f), DREP_ERR_NOT_SAME, "commit of an attribute with two values", "");
    if (drep_error()[0] == 0)
        bad(t, "no message");
    write_attr(t, a, abs(t->now.attr_value[a]));
    t->clash = 0;
    want(t, drep_commit(t->f), 0, "commit of what is no clash any more", "");
}

static void step_commit(struct tale *t)
{
    bool holds = draw(t, 2), handles = draw(t, 2);

    if (t->crossed) {
        start_again(t);
        return;
    }
    if (t->clash)
        resolve(t);
    say_step(t, "commit");
    want(t, drep_commit(t->f), 0, "commit", "");
    settled(t);
    open_sets(t);
    if (holds && !t->serial)
        hold(t, t->f, handles, "after a commit");
}

static void step_reopen(struct tale *t)
{
    uint64_t before, twice = draw(t, 2);
    drep_header h = DREP_HEADER;

    if (t->crossed) {
        start_again(t);
        return;
    }
    if (t->clash)
        resolve(t);
    say_step(t, "close and open");
    if (t->failed)
        want(t, drep_commit(t->f), 0, "commit after a failed write", "");
    close_sets(t);
    want(t, drep_close(t->f), 0, "close", "");
    settled(t);
    open_file(t, false);
    if (!t->f)
        return;
    drep_header_get(t->f, &h);
    before = h.sequence;
    if (twice) { /* without a change */
        want(t, drep_close(t->f), 0, "close without a change", "");
        open_file(t, false);
        if (!t->f)
            return;
        drep_header_get(t->f, &h);
        if (h.sequence != before)
            bad(t, "a file that nobody changed has commit %llu, not %llu",
                (unsigned long long)h.sequence, (unsigned long long)before);
    }
    open_sets(t);
    if (!t->serial)
        hold(t, t->f, true, "after opening");
}

static void step(struct tale *t)
{
    switch (draw(t, 16)) {
    case 0:
    case 1:
    case 2:
        step_create(t);
        return;
    case 3:
    case 4:
        step_together(t, false);
        return;
    case 5:
        step_together(t, true);
        return;
    case 6:
    case 7:
        step_alone(t);
        return;
    case 8:
    case 9:
        step_resize(t);
        return;
    case 10:
        step_attr(t);
        return;
    case 11:
        step_group(t);
        return;
    case 12:
        step_names(t);
        return;
    case 13:
        step_read(t);
        return;
    case 14:
        step_commit(t);
        return;
    default:
        step_reopen(t);
        return;
    }
}

/* ---- a story ---- */

static int tell_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    if (err)
        bad(ctx, "check: %s at byte %llu", message, (unsigned long long)offset);
    return 0;
}

/* Tell one story; why[0] is 0 if all was as the model says.  The file stays. */
static void model_tell(struct tale *t, struct world *w, uint64_t seed, const char *path,
                       bool serial)
{
    int steps;

    *t = (struct tale){
        .w = w, .seed = seed, .next = seed * 2654435761u, .path = path, .serial = serial};
    t->alike = seed % 4 == 0;
    t->datarep = model_rep[draw(t, REPS)];
    steps = 8 + (int)draw(t, 24);
    open_file(t, true);
    for (t->steps = 0; t->steps < steps && t->f && !t->why[0]; t->steps++)
        step(t);
    if (t->f && !t->why[0])
        step_commit(t);
    close_sets(t);
    if (t->f && t->why[0])
        drep_abandon(t->f);
    else if (t->f)
        want(t, drep_close(t->f), 0, "close", "");
    if (!serial)
        w->meet(w);
}

/* By one process, afterwards. */
static void model_hold(struct tale *t)
{
    drep_file *f = NULL;
    int64_t findings = 0;

    if (t->why[0])
        return;
    want(t, drep_open(t->path, DREP_RDONLY, NULL, &f), 0, "open alone", t->path);
    if (!f)
        return;
    hold(t, f, false, "read by one process");
    want(t, drep_check(f, 1, tell_finding, t, &findings), 0, "check", t->path);
    drep_close(f);
}

static bool model_same_bytes(const char *a, const char *b)
{
    FILE *fa = fopen(a, "rb"), *fb = fopen(b, "rb");
    int ca = 0, cb = 0;

    while (fa && fb && (ca = getc(fa)) == (cb = getc(fb)) && ca != EOF)
        ;
    if (fa)
        fclose(fa);
    if (fb)
        fclose(fb);
    return fa && fb && ca == cb;
}

/* What one process does with a story that all ranks told alike; `t` is that of rank 0. */
static void model_repeat(struct tale *t, const char *path)
{
    static struct tale alone;

    if (t->why[0] || !t->alike)
        return;
    model_tell(&alone, t->w, t->seed, path, true);
    if (alone.why[0])
        memcpy(t->why, alone.why, sizeof t->why);
    else if (!model_same_bytes(path, t->path))
        bad(t, "the file is not that of one process");
}

#endif
