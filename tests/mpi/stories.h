/* stories.h - random histories of ranks, against one process.
 *
 * Datasets of every type, layout, representation and filter, written together in boxes that overlap
 * earlier ones, rewritten, made larger and smaller; files that are closed and opened again, with
 * and without a change.  In half of the stories also writes that a representation's functions
 * refuse on one rank, of which one process leaves traces in free space, elements written alone, and
 * metadata of each rank's own: groups, attributes, datasets, dimensions that others use, commits
 * that fail.  One process makes the calls of all ranks: its file has the same bytes where all did
 * the same, and else the same content.  Every commit has the same result and number on all ranks,
 * and for one process.
 *
 * STORY_TRACE=1: rank 0 says what it does. */
/* SPDX-License-Identifier: MIT */
#ifndef MPI_STORIES_H
#define MPI_STORIES_H

#include "tests/mpi/world.h"
#include "tests/unit/datareps.h"
#include "tests/unit/rnd.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 5, REFUSED = 77777, TYPES = 8, SAID = 200 };

static drep_type *story_type[TYPES];

struct plan {
    uint64_t seed;
    int of;   /* ranks */
    bool own; /* not all do the same */
    const char *datarep;
};

/* A dataset as all ranks know it. */
struct set {
    drep_dataset *ds;
    int number, type, rank, layout;
    bool grows, refuses;
    int64_t dims[3], stripe; /* stripe: rows that one rank may write alone */
};

struct storyteller {
    struct world *w;
    const struct plan *p;
    const char *path;
    drep_info *info;
    drep_file *f;
    struct rnd r;
    struct set set[SETS];
    int n;               /* sets */
    bool failed;         /* a write has, since the last commit: closing would tell of it */
    uint64_t said[SAID]; /* the numbers of commits, in the order of calls */
    int nsaid;
    int err; /* the first */
    char text[1000];
};

/* ---- failures ---- */

/* Note a failure; true if there was none up to now. */
static bool went(struct storyteller *me, int err)
{
    if (err && !me->err) {
        me->err = err;
        snprintf(me->text, sizeof me->text, "%s", drep_error());
    }
    return !me->err;
}

__attribute__((format(printf, 2, 3))) static void wrong(struct storyteller *me, const char *form,
                                                        ...)
{
    va_list args;

    if (me->err)
        return;
    me->err = -1;
    va_start(args, form);
    vsnprintf(me->text, sizeof me->text, form, args);
    va_end(args);
}

/* True if this process makes the calls of a rank. */
static bool acts(const struct storyteller *me, int rank)
{
    return me->w->n == 1 || me->w->me == rank;
}

/* True if this process makes a call that all ranks make. */
static bool joins(const struct storyteller *me, int rank)
{
    return me->w->n == 1 ? rank == 0 : me->w->me == rank;
}

/* ---- representations and types ---- */

/* Turns bits around, and refuses one value. */
static int picky_write(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    drep_cursor cursor;
    drep_run run;
    int64_t left = count;

    if (drep_cursor_init(&cursor, type, position))
        return 1;
    while (left > 0 && drep_cursor_next(&cursor, left, &run)) {
        for (int64_t i = 0; i < run.count && drep_type_size(run.type) == 4; i++) {
            int32_t v;

            memcpy(&v, (char *)user + run.offset + i * run.stride, sizeof v);
            if (v == REFUSED)
                return 1;
        }
        left -= run.count;
    }
    return xor_write(user, type, count, file, position, state);
}

static const char *const reps[] = {NULL,           "external32", "internal", "native",
                                   "native:s390x", "small",      "xor",      "picky"};
enum { REPS = 8, PICKY = 7 };

struct pair {
    int32_t a;
    double b;
};

/* Once in each process. */
static int stories_begin(void)
{
    static const char *const pair[] = {"a", "b"}, *const colors[] = {"none", "red", "blue"};
    static const int64_t numbers[] = {0, 1, 2}, two = 2;
    const drep_type *pairs[] = {DREP_INT32_T, DREP_DOUBLE};
    int err = declare_small();

    err |= drep_register_datarep("xor", xor_read, xor_write, native_extent, NULL);
    err |= drep_register_datarep("picky", xor_read, picky_write, native_extent, NULL);
    story_type[0] = drep_type_ref(DREP_INT32_T);
    story_type[1] = drep_type_ref(DREP_DOUBLE);
    err |= drep_type_compound(2, pair, NULL, pairs, 0, &story_type[2]);
    err |= drep_type_vstring(&story_type[3]);
    err |= drep_type_sequence(DREP_INT16_T, &story_type[4]);
    err |= drep_type_enum(DREP_INT32_T, 3, colors, numbers, &story_type[5]);
    err |= drep_type_array(1, &two, DREP_INT16_T, &story_type[6]);
    err |= drep_type_string(6, DREP_PAD_NUL, &story_type[7]);
    return err;
}

/* Element number i of a type; contents of variable length in `room`, 32 bytes each. */
static void put(int type, char *at, char *room, int v)
{
    switch (type) {
    case 0:
        memcpy(at, &(int32_t){v}, 4);
        return;
    case 1:
        memcpy(at, &(double){v}, 8);
        return;
    case 2:
        memcpy(at, &(struct pair){v, v == REFUSED ? 0 : v}, sizeof(struct pair));
        return;
    case 3:
        snprintf(room, 32, "%d%.*s", v, v % 20, "____________________");
        memcpy(at, &room, sizeof room);
        return;
    case 4:
        for (int i = 0; i < v % 9; i++)
            memcpy(room + 2 * i, &(int16_t){(int16_t)(v % 1000 + i)}, 2);
        memcpy(at, &(drep_vlen){v % 9, room}, sizeof(drep_vlen));
        return;
    case 5:
        memcpy(at, &(int32_t){v % 3}, 4);
        return;
    case 6:
        memcpy(at, &(int16_t[]){(int16_t)(v % 3000), (int16_t)(v % 7)}, 4);
        return;
    default:
        snprintf(at, 6, "%d", v % 1000);
        return;
    }
}

/* ---- steps ---- */

static char *set_path(const struct set *s, char path[20])
{
    snprintf(path, 20, "/d%d", s->number);
    return path;
}

static void step_create(struct storyteller *me)
{
    static const int filters[] = {0, 0, DREP_FILTER_DEFLATE, DREP_FILTER_ZSTD, DREP_FILTER_LZ4};
    drep_filter chain[2] = {{.id = DREP_FILTER_SHUFFLE}, {.id = 0}};
    const char *names[3];
    int64_t max[3], chunk[3];
    struct rnd *r = &me->r;
    struct set *s = &me->set[me->n];
    int rep = (int)rnd_below(r, REPS), filter = filters[rnd_below(r, 5)];
    drep_spec spec = DREP_SPEC(.datarep = reps[rep]);
    char path[20], name[3][20];

    *s = (struct set){.number = me->n++,
                      .type = (int)rnd_below(r, TYPES),
                      .rank = 1 + (int)rnd_below(r, 3),
                      .layout = 1 + (int)rnd_below(r, 3),
                      .stripe = 1 + (int64_t)rnd_below(r, 60)};
    if (s->layout == DREP_CONTIGUOUS && drep_type_variable(story_type[s->type]))
        s->layout = DREP_CHUNKED;
    for (int d = 0; d < s->rank; d++) {
        static const uint64_t most[] = {2500, 60, 14};

        max[d] = s->dims[d] = 1 + (int64_t)rnd_below(r, most[s->rank - 1]);
        chunk[d] = 1 + (int64_t)rnd_below(r, (uint64_t)s->dims[d] / (rnd_below(r, 2) ? 8 : 1) + 1);
        snprintf(name[d], sizeof name[d], "n%d_%d", s->number, d);
        names[d] = name[d];
    }
    s->grows = s->layout == DREP_CHUNKED && rnd_below(r, 2);
    if (s->grows)
        max[0] = DREP_UNLIMITED;
    s->refuses = rep == PICKY && (s->type == 0 || s->type == 2);
    spec.type = story_type[s->type];
    spec.rank = s->rank;
    spec.dims = s->dims;
    spec.maxdims = max;
    spec.layout = s->layout;
    spec.chunk = s->layout == DREP_CHUNKED ? chunk : NULL;
    spec.dim_names = rnd_below(r, 3) ? NULL : names;
    if (s->layout == DREP_CHUNKED && filter) {
        chain[1].id = filter;
        spec.filters = chain;
        spec.nfilters = 2;
    }
    went(me, drep_dataset_create(me->f, set_path(s, path), &spec, &s->ds));
}

/* Write a box with numbers of its own; `odd`: one of them is refused. */
static int write_box(const struct set *s, const int64_t *start, const int64_t *count, int salt,
                     bool together, bool odd)
{
    int64_t n = 1, coord[3];
    size_t extent = (size_t)drep_type_extent(story_type[s->type]);
    char *v, *room;
    int err;

    for (int d = 0; d < s->rank; d++)
        n *= count[d];
    v = calloc((size_t)n + 1, extent);
    room = malloc(32 * ((size_t)n + 1));
    memcpy(coord, start, (size_t)s->rank * sizeof *coord);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = salt;

        for (int d = 0; d < s->rank; d++)
            at = at * 31 + coord[d];
        put(s->type, v + (size_t)i * extent, room + 32 * i,
            odd && i == n - 1 ? REFUSED : 1 + (int)(at % 5000));
        for (int d = s->rank - 1; d >= 0 && ++coord[d] == start[d] + count[d]; d--)
            coord[d] = start[d];
    }
    err = drep_write_box(s->ds, start, count, story_type[s->type], v,
                         &DREP_XFER(.collective = together));
    free(v);
    free(room);
    return err;
}

static void random_box(struct rnd *r, const struct set *s, int64_t *start, int64_t *count)
{
    memset(start, 0, 3 * sizeof *start);
    memset(count, 0, 3 * sizeof *count);
    for (int d = 0; d < s->rank; d++) {
        count[d] = s->dims[d];
        if (s->dims[d] > 0 && rnd_below(r, 3)) {
            start[d] = (int64_t)rnd_below(r, (uint64_t)s->dims[d]);
            count[d] = 1 + (int64_t)rnd_below(r, (uint64_t)(s->dims[d] - start[d]));
        }
    }
}

/* The part of a rank: some have nothing. */
static void cut(int64_t *start, int64_t *count, int d, int rank, int of)
{
    int64_t from = count[d] * rank / of, to = count[d] * (rank + 1) / of;

    start[d] += from;
    count[d] = to - from;
}

static void step_together(struct storyteller *me, struct set *s, bool odd)
{
    int64_t start[3], count[3];
    int d = (int)rnd_below(&me->r, (uint64_t)s->rank), salt = (int)rnd_below(&me->r, 1000), err;
    bool any = true, last = me->w->me == me->w->n - 1;

    random_box(&me->r, s, start, count);
    for (int k = 0; k < s->rank; k++)
        any &= count[k] > 0;
    odd = odd && s->refuses && any;
    cut(start, count, d, me->w->me, me->w->n);
    err = write_box(s, start, count, salt, me->w->n > 1, odd && last);
    me->failed |= odd;
    if (!odd)
        went(me, err);
    else if (err != DREP_ERR_CONVERSION)
        went(me, err ? err : -1);
}

/* Rows of stripes belong to ranks in turn; each writes what a box has of some of its stripes. */
static void step_alone(struct storyteller *me, struct set *s)
{
    int salt = (int)rnd_below(&me->r, 1000);
    int64_t box_start[3], box_count[3], end;

    random_box(&me->r, s, box_start, box_count);
    end = box_start[0] + box_count[0];
    for (int64_t at = box_start[0], to; at < end; at = to) {
        int64_t start[3], count[3], stripe = at / s->stripe;
        bool writes = rnd_below(&me->r, 3) > 0;

        to = (stripe + 1) * s->stripe < end ? (stripe + 1) * s->stripe : end;
        memcpy(start, box_start, sizeof start);
        memcpy(count, box_count, sizeof count);
        start[0] = at;
        count[0] = to - at;
        if (writes && acts(me, (int)(stripe % me->p->of)))
            went(me, write_box(s, start, count, salt, false, false));
    }
}

static void step_resize(struct storyteller *me, struct set *s)
{
    uint64_t how = rnd_below(&me->r, 4);
    int64_t len = s->dims[0];

    if (how == 0)
        len = (int64_t)rnd_below(&me->r, (uint64_t)len + 1);
    else if (how > 1)
        len += (int64_t)rnd_below(&me->r, s->rank == 1 ? 300 : 10);
    if (!s->grows)
        return;
    s->dims[0] = len;
    went(me, drep_dataset_resize(s->ds, s->dims));
}

/* A dataset of one rank, which has written to it. */
static void own_dataset(struct storyteller *me, const char *path, uint64_t draws)
{
    struct set s = {.type = (int)(draws % TYPES), .rank = 1, .layout = 1 + (int)(draws / 64 % 3)};
    const int64_t n = 5 + (int64_t)(draws / 1024 % 40), chunk = 8, none = 0;

    if (s.layout == DREP_CONTIGUOUS && drep_type_variable(story_type[s.type]))
        s.layout = DREP_CHUNKED;
    went(me, drep_dataset_create(me->f, path,
                                 &DREP_SPEC(.type = story_type[s.type], .rank = 1, .dims = &n,
                                            .datarep = reps[draws / 8 % REPS], .layout = s.layout,
                                            .chunk = s.layout == DREP_CHUNKED ? &chunk : NULL),
                                 &s.ds));
    if (!me->err && draws / 4096 % 2)
        went(me, write_box(&s, &none, &n, (int)(draws % 1000), false, false));
    drep_dataset_close(s.ds);
}

/* What each rank makes for itself. */
static void step_own(struct storyteller *me, int step)
{
    uint64_t kind = rnd_below(&me->r, 4), draws = rnd_below(&me->r, 1 << 16);
    char path[40];

    for (int rank = 0; rank < me->p->of; rank++) {
        bool makes = rnd_below(&me->r, 3) > 0;

        snprintf(path, sizeof path, "/own%d.%d", step, rank);
        if (!makes || !acts(me, rank))
            continue;
        if (kind == 0)
            went(me, drep_group_create(me->f, path, 0));
        else if (kind == 1)
            went(me, drep_attr_write_int64(me->f, "/", path + 1, rank));
        else
            own_dataset(me, path, draws + (uint64_t)rank * 8);
    }
}

static void dim_user(struct storyteller *me, const char *group, const char *name, int64_t len,
                     bool grows)
{
    const int64_t max = grows ? DREP_UNLIMITED : len;
    char path[80];

    snprintf(path, sizeof path, "%s/d", group);
    went(me, drep_group_create(me->f, group, 0));
    went(me, drep_dataset_create(me->f, path,
                                 &DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &len,
                                            .maxdims = &max, .dim_names = &name),
                                 NULL));
}

/* A rank makes a dimension, or a dataset that makes it; datasets of later ranks, in groups of
 * theirs or in one that all make, use it by its name. */
static void step_dimension(struct storyteller *me, int step)
{
    int maker = (int)rnd_below(&me->r, (uint64_t)me->p->of);
    bool grows = rnd_below(&me->r, 2), all = rnd_below(&me->r, 3) == 0;
    bool in_dataset = rnd_below(&me->r, 2);
    const int64_t most = 9, max = grows ? DREP_UNLIMITED : most;
    char name[20], path[60];
    const char *names = name;

    snprintf(name, sizeof name, "s%d", step);
    snprintf(path, sizeof path, in_dataset ? "/by%d" : "/#s%d", step);
    maker = all ? 0 : maker;
    if (acts(me, maker) && !in_dataset)
        went(me, drep_dimension_create(me->f, path, most, grows));
    else if (acts(me, maker))
        went(me, drep_dataset_create(me->f, path,
                                     &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &most,
                                                .maxdims = &max, .dim_names = &names),
                                     NULL));
    for (int rank = all ? 0 : maker + 1; rank < me->p->of; rank++) {
        bool makes = rnd_below(&me->r, 3) > 0;
        int64_t len = 1 + (int64_t)rnd_below(&me->r, grows ? 20 : 9);

        snprintf(path, sizeof path, all ? "/in%d" : "/in%d.%d", step, rank);
        if (all ? joins(me, rank) : makes && acts(me, rank))
            dim_user(me, path, name, all ? 7 : len, grows && (all || rank % 2));
    }
}

/* ---- commits ---- */

static uint64_t sequence(struct storyteller *me)
{
    drep_header h = DREP_HEADER;

    went(me, drep_header_get(me->f, &h));
    return h.sequence;
}

static void say(struct storyteller *me, uint64_t what)
{
    if (me->nsaid < SAID)
        me->said[me->nsaid++] = what;
}

static void step_commit(struct storyteller *me)
{
    if (went(me, drep_commit(me->f)))
        say(me, sequence(me));
    me->failed = false;
}

/* An attribute with two values: nothing is committed until the ranks agree. */
static void step_clash(struct storyteller *me, int step)
{
    char name[20];

    snprintf(name, sizeof name, "clash%d", step);
    if (me->w->n > 1) {
        int err;

        went(me, drep_attr_write_int64(me->f, "/", name, me->w->me < 2 ? me->w->me : 1));
        err = drep_commit(me->f);
        if (err != DREP_ERR_NOT_SAME)
            wrong(me, "a commit of an attribute with two values gives %d (%s)", err, drep_error());
    }
    went(me, drep_attr_write_int64(me->f, "/", name, 1));
}

static void open_file(struct storyteller *me, int amode)
{
    char path[20];

    if (me->err || !went(me, me->w->open(me->w, me->path, amode, me->info, &me->f)))
        return;
    say(me, sequence(me));
    for (int i = 0; i < me->n; i++)
        went(me, drep_dataset_open(me->f, set_path(&me->set[i], path), &me->set[i].ds));
}

static void close_file(struct storyteller *me)
{
    for (int i = 0; i < me->n; i++) {
        drep_dataset_close(me->set[i].ds);
        me->set[i].ds = NULL;
    }
    went(me, drep_close(me->f));
    me->f = NULL;
}

/* Read a part of a dataset together. */
static void step_read(struct storyteller *me, const struct set *s)
{
    int64_t start[3], count[3], n = 1;
    const drep_type *type = story_type[s->type];
    char *v;

    random_box(&me->r, s, start, count);
    cut(start, count, 0, me->w->me, me->w->n);
    for (int d = 0; d < s->rank; d++)
        n *= count[d];
    v = calloc((size_t)n + 1, (size_t)drep_type_extent(type));
    if (went(me,
             drep_read_box(s->ds, start, count, type, v, &DREP_XFER(.collective = me->w->n > 1))))
        drep_vlen_free(type, n, v);
    free(v);
}

/* Close the file and open it again, sometimes once more without a change, or to read. */
static void step_reopen(struct storyteller *me)
{
    bool idle = rnd_below(&me->r, 2), reads = rnd_below(&me->r, 2), looks = rnd_below(&me->r, 2);
    uint64_t before;

    if (me->failed)
        step_commit(me);
    close_file(me);
    if (me->err)
        return;
    open_file(me, idle && reads ? DREP_RDONLY : DREP_RDWR);
    if (!idle || me->err)
        return;
    before = sequence(me);
    if (looks && me->n)
        step_read(me, &me->set[rnd_below(&me->r, (uint64_t)me->n)]);
    close_file(me);
    open_file(me, DREP_RDWR);
    if (!me->err && sequence(me) != before)
        wrong(me, "a file that nobody changed has commit %llu, not %llu",
              (unsigned long long)sequence(me), (unsigned long long)before);
}

static void step(struct storyteller *me, int number)
{
    uint64_t what = rnd_below(&me->r, 18), which = rnd_below(&me->r, SETS);
    struct set *s = me->n ? &me->set[which % (uint64_t)me->n] : NULL;
    char name[20];

    if (me->w->me == 0 && getenv("STORY_TRACE"))
        printf("# %d: step %d: %d of %d\n", me->w->n, number, (int)what, s ? s->number : -1);
    if (!s || (what < 3 && me->n < SETS))
        step_create(me);
    else if (what < 7)
        step_together(me, s, what == 3 && me->p->own);
    else if (what < 9)
        step_resize(me, s);
    else if (what < 11 && me->p->own)
        step_alone(me, s);
    else if (what == 11 && me->p->own)
        step_own(me, number);
    else if (what == 12)
        went(me,
             drep_attr_write_int64(me->f, "/", name, number + snprintf(name, 20, "a%d", number)));
    else if (what == 13)
        step_commit(me);
    else if (what < 16)
        step_reopen(me);
    else if (what == 16 && me->p->own)
        step_dimension(me, number);
    else if (what == 17 && me->p->own && rnd_below(&me->r, 3) == 0)
        step_clash(me, number);
}

/* ---- a story ---- */

/* The plan of a story by at most `most` ranks, two or more. */
static struct plan story_plan(uint64_t seed, int most)
{
    return (struct plan){.seed = seed,
                         .of = 2 + (int)(seed / 2 % (uint64_t)(most - 1)),
                         .own = seed % 2,
                         .datarep = datareps[seed / 3 % DATAREPS]};
}

/* Tell a story as one of its ranks, or as one process.  The file stays. */
static void story_tell(struct storyteller *me, struct world *w, const struct plan *p,
                       const char *path)
{
    int steps;

    *me = (struct storyteller){.w = w, .p = p, .path = path};
    went(me, drep_info_new(&me->info));
    drep_info_set(me->info, "drep_uuid", "000102030405060708090a0b0c0d0e0f");
    drep_info_set(me->info, "drep_time", "1700000000000000000");
    drep_info_set(me->info, "drep_mpi_timeout", "20"); /* should a rank fail */
    rnd_init(&me->r, p->seed * 77 + 5);
    steps = 6 + (int)rnd_below(&me->r, 20);
    if (went(me, w->make(w, path, p->datarep, me->info, &me->f))) {
        for (int i = 0; i < steps && !me->err; i++)
            step(me, i);
        if (me->f && !me->err)
            step_commit(me);
        if (me->f)
            close_file(me);
    }
    drep_info_free(me->info);
}

static int make_alone(struct world *w, const char *path, const char *datarep, const drep_info *info,
                      drep_file **out)
{
    (void)w;
    return drep_create(path, DREP_RDWR, datarep, info, out);
}

static int open_alone(struct world *w, const char *path, int amode, const drep_info *info,
                      drep_file **out)
{
    (void)w;
    return drep_open(path, amode, info, out);
}

static struct world one_process(void)
{
    return (struct world){.n = 1, .make = make_alone, .open = open_alone};
}

/* ---- two files ---- */

static bool same_element(const drep_type *type, const char *a, const char *b)
{
    if (type == story_type[3]) {
        const char *x, *y;

        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return strcmp(x ? x : "", y ? y : "") == 0;
    }
    if (type == story_type[4]) {
        drep_vlen x, y;

        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return x.count == y.count &&
               (x.count == 0 || memcmp(x.data, y.data, (size_t)x.count * 2) == 0);
    }
    if (type == story_type[2])
        return memcmp(a, b, 4) == 0 && memcmp(a + 8, b + 8, 8) == 0;
    return memcmp(a, b, (size_t)drep_type_extent(type)) == 0;
}

struct comparing {
    struct storyteller *me;
    drep_file *a, *b;
};

/* The dimensions that two datasets name. */
static void same_dims(struct comparing *c, const drep_dsinfo *x, const drep_dsinfo *y,
                      const char *path)
{
    for (int d = 0; d < x->rank; d++) {
        char *p = NULL, *q = NULL;

        if (x->dim_ids[d])
            went(c->me, drep_object_path(c->a, x->dim_ids[d], &p));
        if (y->dim_ids[d])
            went(c->me, drep_object_path(c->b, y->dim_ids[d], &q));
        if (strcmp(p ? p : "none", q ? q : "none") != 0)
            wrong(c->me, "%s has dimension %s, not %s", path, q ? q : "none", p ? p : "none");
        free(p);
        free(q);
    }
}

static void same_elements(struct comparing *c, drep_dataset *a, drep_dataset *b,
                          const drep_dsinfo *info, const char *path)
{
    const drep_type *type = NULL;
    size_t extent;
    char *va, *vb;

    for (int i = 0; i < TYPES; i++)
        if (drep_type_equal(story_type[i], info->type))
            type = story_type[i];
    if (!type) {
        wrong(c->me, "%s has another type", path);
        return;
    }
    extent = (size_t)drep_type_extent(type);
    va = calloc((size_t)info->count + 1, extent);
    vb = calloc((size_t)info->count + 1, extent);
    if (went(c->me, drep_read(a, NULL, type, va, NULL)) &&
        went(c->me, drep_read(b, NULL, type, vb, NULL)))
        for (int64_t i = 0; i < info->count; i++)
            if (!same_element(type, va + (size_t)i * extent, vb + (size_t)i * extent))
                wrong(c->me, "%s: element %lld differs", path, (long long)i);
    drep_vlen_free(type, info->count, va);
    drep_vlen_free(type, info->count, vb);
    free(va);
    free(vb);
}

static void same_dataset(struct comparing *c, const char *path)
{
    drep_dsinfo x = DREP_DSINFO, y = DREP_DSINFO;
    drep_dataset *a = NULL, *b = NULL;

    if (went(c->me, drep_dataset_open(c->a, path, &a)) &&
        went(c->me, drep_dataset_open(c->b, path, &b)) && went(c->me, drep_dataset_info(a, &x)) &&
        went(c->me, drep_dataset_info(b, &y))) {
        same_dims(c, &x, &y, path);
        if (x.count != y.count || memcmp(x.dims, y.dims, (size_t)x.rank * 8) != 0 ||
            x.layout != y.layout || strcmp(x.datarep, y.datarep) != 0 || x.nfilters != y.nfilters ||
            !drep_type_equal(x.type, y.type))
            wrong(c->me, "%s is another dataset", path);
        else
            same_elements(c, a, b, &x, path);
    }
    drep_dataset_close(a);
    drep_dataset_close(b);
}

static int count_dimension(const drep_diminfo *d, void *ctx)
{
    uint64_t *sum = ctx;

    for (const char *p = d->name; *p; p++)
        *sum = *sum * 31 + (uint64_t)*p;
    *sum = (*sum * 31 + (uint64_t)d->len) * 31 + (uint64_t)d->unlimited;
    return 0;
}

static int same_object(const drep_visited *o, void *ctx)
{
    struct comparing *c = ctx;
    drep_objinfo x = DREP_OBJINFO, y = DREP_OBJINFO;
    uint64_t a = 0, b = 0;

    went(c->me, drep_stat(c->a, o->path, &x));
    went(c->me, drep_stat(c->b, o->path, &y));
    if (x.kind != y.kind || x.attrs != y.attrs || x.members != y.members || x.links != y.links)
        wrong(c->me, "%s is another object", o->path);
    if (o->kind == DREP_OBJ_DATASET)
        same_dataset(c, o->path);
    if (o->kind == DREP_OBJ_GROUP) {
        went(c->me, drep_dimension_list(c->a, o->path, DREP_BY_NAME, count_dimension, &a));
        went(c->me, drep_dimension_list(c->b, o->path, DREP_BY_NAME, count_dimension, &b));
        if (a != b)
            wrong(c->me, "%s has other dimensions", o->path);
    }
    return 0;
}

static int same_attr(const char *name, void *ctx)
{
    struct comparing *c = ctx;
    int64_t x = 0, y = -1;

    went(c->me, drep_attr_read_int64(c->a, "/", name, &x));
    went(c->me, drep_attr_read_int64(c->b, "/", name, &y));
    if (x != y)
        wrong(c->me, "attribute %s is %lld", name, (long long)y);
    return 0;
}

static int tell_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    if (err)
        wrong(ctx, "check: %s at byte %llu", message, (unsigned long long)offset);
    return 0;
}

static void same_content(struct storyteller *me, const char *alone)
{
    struct comparing c = {.me = me};
    int64_t findings = 0;

    if (went(me, drep_open(alone, DREP_RDONLY, NULL, &c.a)) &&
        went(me, drep_open(me->path, DREP_RDONLY, NULL, &c.b))) {
        went(me, drep_visit(c.a, "/", DREP_BY_NAME, same_object, &c));
        went(me, drep_attr_list(c.a, "/", DREP_BY_NAME, same_attr, &c));
        went(me, drep_check(c.b, 1, tell_finding, me, &findings));
    }
    drep_close(c.a);
    drep_close(c.b);
}

static void same_bytes(struct storyteller *me, const char *alone)
{
    FILE *a = fopen(alone, "rb"), *b = fopen(me->path, "rb");
    long at = 0;
    int x, y = 0;

    if (!a || !b) {
        wrong(me, "a file is missing");
    } else {
        while ((x = getc(a)) == (y = getc(b)) && x != EOF)
            at++;
        if (x != y)
            wrong(me, "not the file of one process: the first difference is at byte %ld", at);
    }
    if (a)
        fclose(a);
    if (b)
        fclose(b);
}

/* What ranks and one process have said of their commits. */
static void same_said(struct storyteller *me, const struct storyteller *alone)
{
    for (int i = 0; i < me->nsaid && i < alone->nsaid; i++)
        if (me->said[i] != alone->said[i])
            wrong(me, "commit %d of the story has number %llu, not %llu", i,
                  (unsigned long long)me->said[i], (unsigned long long)alone->said[i]);
    if (me->nsaid != alone->nsaid)
        wrong(me, "%d commits, not %d", me->nsaid, alone->nsaid);
}

/* Tell it as one process, which has seen it as rank 0, and compare. */
static void story_compare(struct storyteller *me, struct storyteller *alone, const char *path)
{
    struct world one = one_process();

    if (me->err)
        return;
    story_tell(alone, &one, me->p, path);
    if (alone->err)
        wrong(me, "one process: %s", alone->text);
    else if (me->p->own)
        same_content(me, path);
    else
        same_bytes(me, path);
}

#endif
