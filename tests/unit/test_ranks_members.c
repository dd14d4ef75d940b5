/* test_ranks_members.c - ranks that write and read some members of structs.
 *
 * Together: the file must be that of one process, byte for byte, which makes a call for each choice
 * of members.  Alone: what counts is the content.  Every member is made from a number, so that the
 * oracle is an array of numbers, four for each element.
 *
 * needs: deflate lz4 zstd */
/* stacks: off */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

enum { HEIGHT = 23, WIDTH = 31, ALL = HEIGHT * WIDTH, CHUNK_Y = 5, CHUNK_X = 8 };
enum { A, B, C, TEXT, MEMBERS, FIXED = TEXT, BOXES = 24, ROUNDS = 4 };

struct box {
    int64_t start[2], count[2];
};

struct plan {
    const char *datarep;
    int layout, filter, members; /* FIXED or MEMBERS */
    bool fill, alone, last;
    uint64_t seed;
};

/* ---- elements ---- */

static drep_type *member_type(int m)
{
    static const int64_t three = 3;
    drep_type *t = NULL;

    if (m == C)
        drep_type_array(1, &three, DREP_INT16_T, &t);
    else if (m == TEXT)
        drep_type_vstring(&t);
    else
        t = drep_type_ref(m == A ? DREP_INT32_T : DREP_DOUBLE);
    return t;
}

/* The compound of some members, the last one first. */
static drep_type *type_of(unsigned mask, int64_t offset[MEMBERS])
{
    static const char *const names[] = {"a", "b", "c", "text"};
    drep_type *types[MEMBERS], *out = NULL;
    const char *name[MEMBERS];
    int n = 0;

    for (int m = MEMBERS; m-- > 0;)
        if (mask >> m & 1) {
            name[n] = names[m];
            types[n++] = member_type(m);
        }
    drep_type_compound(n, name, NULL, (const drep_type *const *)types, 0, &out);
    for (int m = MEMBERS, i = 0; m-- > 0;)
        if (mask >> m & 1)
            offset[m] = drep_type_member_offset(out, i++);
    for (int i = 0; i < n; i++)
        drep_type_free(types[i]);
    return out;
}

static void text_of(int v, char text[32])
{
    memset(text, 0, 32);
    memset(text, 'a' + v % 23, (size_t)(v % 17));
}

static void put_member(int m, int v, uint8_t *p)
{
    char text[32];

    if (m == A)
        *(int32_t *)(void *)p = v;
    else if (m == B)
        *(double *)(void *)p = v;
    else if (m == C)
        for (int i = 0; i < 3; i++)
            ((int16_t *)(void *)p)[i] = (int16_t)(v ? v + i : 0);
    else {
        text_of(v, text);
        *(char **)(void *)p = strdup(text);
    }
}

static bool is_member(int m, int v, const uint8_t *p)
{
    const char *got;
    char text[32];

    if (m == A)
        return *(const int32_t *)(const void *)p == v;
    if (m == B)
        return *(const double *)(const void *)p == v;
    for (int i = 0; m == C && i < 3; i++)
        if (((const int16_t *)(const void *)p)[i] != (v ? v + i : 0))
            return false;
    if (m == C)
        return true;
    got = *(char *const *)(const void *)p;
    text_of(v, text);
    return strcmp(got ? got : "", text) == 0;
}

/* ---- writing and reading ---- */

static int number(int first, int64_t at)
{
    return first + (int)(at % 11);
}

static void note(const struct box *b, unsigned mask, int first, int *model)
{
    for (int64_t y = b->start[0]; y < b->start[0] + b->count[0]; y++)
        for (int64_t x = b->start[1]; x < b->start[1] + b->count[1]; x++)
            for (int m = 0; m < MEMBERS; m++)
                if (mask >> m & 1)
                    model[(y * WIDTH + x) * MEMBERS + m] = number(first + m, y * WIDTH + x);
}

static void put(struct teller *me, drep_dataset *ds, const struct box *b, unsigned mask, int first,
                bool together)
{
    int64_t n = b->count[0] * b->count[1], k = 0, offset[MEMBERS], size;
    drep_type *type = type_of(mask, offset);
    uint8_t *v;

    size = drep_type_extent(type);
    v = calloc((size_t)n + 1, (size_t)size);
    for (int64_t y = b->start[0]; y < b->start[0] + b->count[0]; y++)
        for (int64_t x = b->start[1]; x < b->start[1] + b->count[1]; x++, k++)
            for (int m = 0; m < MEMBERS; m++)
                if (mask >> m & 1)
                    put_member(m, number(first + m, y * WIDTH + x), v + k * size + offset[m]);
    went(me, drep_write_box(ds, b->start, b->count, type, v, &DREP_XFER(.collective = together)));
    drep_vlen_free(type, n, v);
    drep_type_free(type);
    free(v);
}

/* Read some members of a box. */
static void expect_box(struct teller *me, drep_dataset *ds, const struct box *b, unsigned mask,
                       const int *model, bool together, const char *when)
{
    int64_t n = b->count[0] * b->count[1], k = 0, offset[MEMBERS], size;
    drep_type *type = type_of(mask, offset);
    uint8_t *v;

    size = drep_type_extent(type);
    v = calloc((size_t)n + 1, (size_t)size);
    if (me->err || !went(me, drep_read_box(ds, b->start, b->count, type, v,
                                           &DREP_XFER(.collective = together && me->ranks > 1))))
        n = 0;
    for (int64_t y = b->start[0]; n > 0 && y < b->start[0] + b->count[0]; y++)
        for (int64_t x = b->start[1]; x < b->start[1] + b->count[1]; x++, k++)
            for (int m = 0; m < MEMBERS; m++)
                if (mask >> m & 1 && !me->err &&
                    !is_member(m, model[(y * WIDTH + x) * MEMBERS + m], v + k * size + offset[m])) {
                    me->err = -1;
                    snprintf(me->text, sizeof me->text, "%s: member %d of (%d, %d) is not %d", when,
                             m, (int)y, (int)x, model[(y * WIDTH + x) * MEMBERS + m]);
                }
    drep_vlen_free(type, n, v);
    drep_type_free(type);
    free(v);
}

static unsigned all_of(const struct plan *p)
{
    return (1u << p->members) - 1;
}

static void expect(struct teller *me, drep_dataset *ds, const int *model, bool together,
                   const char *when)
{
    static const struct box everything = {{0, 0}, {HEIGHT, WIDTH}};
    unsigned all = all_of(me->ctx);

    expect_box(me, ds, &everything, all, model, together, when);
    expect_box(me, ds, &(struct box){{3, 2 + me->rank}, {9, 17}}, all & 5, model, together, when);
    if (all >> TEXT & 1)
        expect_box(me, ds, &(struct box){{4, 4}, {13, 9}}, 1u << TEXT, model, together, when);
}

static drep_dataset *make(struct teller *me, drep_file *f)
{
    static const int64_t dims[2] = {HEIGHT, WIDTH}, chunk[2] = {CHUNK_Y, CHUNK_X};
    const struct plan *p = me->ctx;
    drep_filter filter = {.id = p->filter};
    int64_t offset[MEMBERS];
    drep_type *type = type_of(all_of(p), offset);
    drep_spec spec = DREP_SPEC(.type = type, .rank = 2, .dims = dims, .layout = p->layout);
    uint8_t fill[64] = {0};
    drep_dataset *ds = NULL;

    if (p->layout == DREP_CHUNKED)
        spec.chunk = chunk;
    if (p->filter) {
        spec.filters = &filter;
        spec.nfilters = 1;
    }
    if (p->fill) {
        for (int m = 0; m < p->members; m++)
            put_member(m, 7 + m, fill + offset[m]);
        spec.fill = DREP_FILL_VALUE;
        spec.fill_value = fill;
    }
    went(me, drep_dataset_create(f, "/x", &spec, &ds));
    if (p->fill)
        drep_vlen_free(type, 1, fill);
    drep_type_free(type);
    return ds;
}

static void begin(const struct plan *p, int *model)
{
    for (int i = 0; i < ALL; i++)
        for (int m = 0; m < MEMBERS; m++)
            model[i * MEMBERS + m] = p->fill ? 7 + m : 0;
}

/* ---- boxes ---- */

static void cut(struct box all, int n, struct rnd *r, struct box *out)
{
    int d = all.count[1] > all.count[0];
    struct box a = all, b = all;

    if (n == 1) {
        *out = all;
        return;
    }
    a.count[d] = (int64_t)rnd_below(r, (uint64_t)all.count[d] + 1);
    b.start[d] += a.count[d];
    b.count[d] -= a.count[d];
    cut(a, n / 2, r, out);
    cut(b, n - n / 2, r, out + n / 2);
}

/* A box inside another; often along the edges of chunks. */
static struct box inside(const struct box *all, struct rnd *r)
{
    static const int64_t chunk[2] = {CHUNK_Y, CHUNK_X};
    struct box b = *all;

    for (int d = 0; d < 2; d++) {
        int64_t end = all->start[d] + all->count[d], from, n;

        if (all->count[d] == 0 || rnd_below(r, 3) == 0)
            continue;
        from = all->start[d] + (int64_t)rnd_below(r, (uint64_t)all->count[d]);
        n = 1 + (int64_t)rnd_below(r, (uint64_t)(end - from));
        if (rnd_below(r, 2) && from / chunk[d] * chunk[d] >= all->start[d])
            from = from / chunk[d] * chunk[d];
        b.start[d] = from;
        b.count[d] = n < end - from ? n : end - from;
    }
    return b;
}

static unsigned some_members(const struct plan *p, struct rnd *r)
{
    return 1 + (unsigned)rnd_below(r, all_of(p));
}

/* ---- together ---- */

/* Space that a compact dataset has left is not taken again in one call, so that there two choices
 * of members give the same content alone; so do texts that change their lengths. */
static bool differ(const struct plan *p)
{
    return p->layout != DREP_COMPACT || p->seed % 2 > 0;
}

/* The ranks before `h` write some members, the others other ones, or all the same. */
static void write_together(struct teller *me, drep_dataset *ds, struct rnd *r, int round,
                           int *model)
{
    const struct plan *p = me->ctx;
    static const struct box everything = {{0, 0}, {HEIGHT, WIDTH}};
    unsigned first = some_members(p, r), other = differ(p) ? some_members(p, r) & ~first : 0;
    struct box x = inside(&everything, r), y = inside(&everything, r), part[MAX_RANKS];
    int h = me->ranks / 2, at = 100 * round;
    struct rnd own;

    rnd_init(&own, p->seed * 31 + (uint64_t)round);
    note(&x, first, at, model);
    if (other)
        note(&y, other, at + 50, model);
    if (me->ranks == 1) {
        put(me, ds, &x, first, at, false);
        if (other)
            put(me, ds, &y, other, at + 50, false);
        return;
    }
    cut(x, other ? h : me->ranks, &own, part);
    if (other)
        cut(y, me->ranks - h, &own, part + h);
    if (!other || me->rank < h)
        put(me, ds, &part[me->rank], first, at, true);
    else
        put(me, ds, &part[me->rank], other, at + 50, true);
}

static void tell_together(struct teller *me, drep_file *f)
{
    const struct plan *p = me->ctx;
    drep_dataset *ds = make(me, f);
    int *model = calloc((size_t)ALL * MEMBERS, sizeof *model);
    struct rnd r;

    rnd_init(&r, p->seed);
    begin(p, model);
    for (int round = 1; round <= ROUNDS && !me->err; round++) {
        write_together(me, ds, &r, round, model);
        expect(me, ds, model, true, "after a write");
        if (rnd_below(&r, 2))
            went(me, drep_commit(f));
        expect(me, ds, model, true, "after the commit");
    }
    drep_dataset_close(ds);
    free(model);
}

static const struct plan all_plans[] = {
    {.datarep = "native", .layout = DREP_CHUNKED, .members = FIXED},
    {.datarep = "external32", .layout = DREP_CHUNKED, .members = FIXED, .filter = DREP_FILTER_ZSTD},
    {.datarep = "native:s390x", .layout = DREP_CHUNKED, .members = FIXED, .fill = true},
    {.datarep = "xor", .layout = DREP_CHUNKED, .members = FIXED, .filter = DREP_FILTER_LZ4},
    {.datarep = "native", .layout = DREP_CHUNKED, .members = MEMBERS},
    {.datarep = "external32",
     .layout = DREP_CHUNKED,
     .members = MEMBERS,
     .filter = DREP_FILTER_DEFLATE,
     .fill = true},
    {.datarep = "xor", .layout = DREP_CHUNKED, .members = MEMBERS},
    {.datarep = "internal", .layout = DREP_CONTIGUOUS, .members = FIXED},
    {.datarep = "small", .layout = DREP_CONTIGUOUS, .members = FIXED, .fill = true},
    {.datarep = "native", .layout = DREP_COMPACT, .members = FIXED},
    {.datarep = "external32", .layout = DREP_COMPACT, .members = MEMBERS, .fill = true},
};
enum { PLANS = sizeof all_plans / sizeof *all_plans };

static uint64_t stories(void)
{
    const char *text = getenv("STORIES");

    return text ? (uint64_t)atoi(text) : (uint64_t)sanitized_part(12);
}

static void well(const struct story *s, int ranks, const struct plan *p, size_t k)
{
    ck_assert(!s->all.deadlock);
    for (int r = 0; r < ranks; r++)
        ck_assert_msg(s->teller[r].err == 0, "plan %zu, story %d: rank %d of %d: %s", k,
                      (int)p->seed, r, ranks, s->teller[r].text);
}

START_TEST(test_members_together)
{
    register_datareps();
    for (size_t k = 0; k < PLANS; k++) {
        struct plan p = all_plans[k];

        for (p.seed = 0; p.seed < stories(); p.seed++) {
            struct story alone = {.fn = tell_together,
                                  .path = temp_path("alone.drep"),
                                  .ctx = &p,
                                  .datarep = p.datarep},
                         ranks = alone;
            int n = 2 + (int)p.seed % 5;
            char what[80];

            ranks.path = temp_path("ranks.drep");
            snprintf(what, sizeof what, "plan %zu, story %d", k, (int)p.seed);
            story_alone(&alone);
            story_run(&ranks, n);
            well(&ranks, n, &p, k);
            if (p.layout != DREP_COMPACT || (!differ(&p) && p.members == FIXED))
                same_file(alone.path, ranks.path, what, n);
        }
    }
}
END_TEST

/* ---- alone ---- */

/* Each box of the dataset is one rank's, which writes some of it, some members, some times over;
 * with drep_overlap=last, any of it. */
static void write_alone(struct teller *me, drep_dataset *ds, struct rnd *r, int round, int *mine,
                        int *want)
{
    static const struct box everything = {{0, 0}, {HEIGHT, WIDTH}};
    const struct plan *p = me->ctx;
    struct box box[BOXES];

    cut(everything, BOXES, r, box);
    for (int i = 0; i < BOXES; i++) {
        int rank = p->last ? i * me->ranks / BOXES : (int)rnd_below(r, (uint64_t)me->ranks);

        for (uint64_t k = rnd_below(r, 4); k > 0; k--) {
            unsigned mask = rnd_below(r, 3) ? some_members(p, r) : all_of(p);
            struct box b = inside(p->last ? &everything : &box[i], r);
            int at = 1000 * round % 3000 + 40 * i + 12 * (int)k;

            note(&b, mask, at, want);
            if (rank != me->rank)
                continue;
            note(&b, mask, at, mine);
            put(me, ds, &b, mask, at, false);
            if (at % 5 == 0)
                expect(me, ds, mine, false, "between writes");
        }
    }
}

static void tell_alone(struct teller *me, drep_file *f)
{
    const struct plan *p = me->ctx;
    drep_dataset *ds = make(me, f);
    int *want = calloc((size_t)ALL * MEMBERS, sizeof *want),
        *mine = calloc((size_t)ALL * MEMBERS, sizeof *mine);
    struct rnd r;

    rnd_init(&r, p->seed + 1000);
    begin(p, want);
    for (int round = 1; round <= ROUNDS && !me->err; round++) {
        memcpy(mine, want, (size_t)ALL * MEMBERS * sizeof *mine);
        write_alone(me, ds, &r, round, mine, want);
        expect(me, ds, mine, false, "before the commit");
        if (rnd_below(&r, 2)) {
            write_together(me, ds, &r, round, want);
            expect(me, ds, want, true, "after a write of all");
        }
        went(me, drep_commit(f));
        expect(me, ds, want, round % 2, "after the commit");
    }
    drep_dataset_close(ds);
    free(want);
    free(mine);
}

static void whole(const char *path)
{
    drep_file *f;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    check_file(f);
    ok(drep_close(f));
}

START_TEST(test_members_alone)
{
    register_datareps();
    for (size_t k = 0; k < 2 * PLANS; k++) {
        struct plan p = all_plans[k / 2];

        p.last = k % 2;
        if (p.layout == DREP_COMPACT && p.last) /* whole elements count there */
            continue;
        for (p.seed = 0; p.seed < stories(); p.seed++) {
            struct story s = {.fn = tell_alone,
                              .path = temp_path("ranks.drep"),
                              .ctx = &p,
                              .datarep = p.datarep,
                              .hint = p.last ? "drep_overlap" : NULL,
                              .value = "last"};
            int n = 2 + (int)p.seed % 5;

            story_run(&s, n);
            well(&s, n, &p, k);
            whole(s.path);
        }
    }
}
END_TEST

/* A chunk that rank 0 patches, for it is large and plain; and a large contiguous dataset. */
static void tell_large(struct teller *me, drep_file *f)
{
    enum { N = 1 << 20, EACH = 1000 };
    static const int64_t len = N;
    const int *layout = me->ctx;
    const int64_t start = me->rank * 100000, count = EACH;
    int64_t offset[MEMBERS];
    drep_type *type = type_of(1u << A | 1u << B | 1u << C, offset), *a = type_of(1u << A, offset);
    drep_spec spec = DREP_SPEC(.type = type, .rank = 1, .dims = &len, .layout = *layout);
    int32_t v[EACH], *got = calloc(N, sizeof *got);
    drep_dataset *ds = NULL;

    if (*layout == DREP_CHUNKED)
        spec.chunk = &len;
    went(me, drep_dataset_create(f, "/x", &spec, &ds));
    for (int i = 0; i < EACH; i++)
        v[i] = me->rank * EACH + i + 1;
    went(me, drep_write_box(ds, &start, &count, a, v, NULL));
    for (int commits = 0; commits < 2; commits++) {
        went(me, drep_read(ds, NULL, a, got, NULL));
        for (int i = 0; i < N && !me->err; i++) {
            int rank = i / 100000, in = i % 100000;
            bool known = in < EACH && (commits ? rank < me->ranks : rank == me->rank);

            if (got[i] != (known ? rank * EACH + in + 1 : 0))
                me->err = -1;
        }
        went(me, drep_commit(f));
    }
    drep_dataset_close(ds);
    drep_type_free(type);
    drep_type_free(a);
    free(got);
}

START_TEST(test_large_chunks)
{
    static const int layouts[] = {DREP_CHUNKED, DREP_CONTIGUOUS};

    for (int i = 0; i < 2; i++) {
        struct story s = {.fn = tell_large,
                          .path = temp_path("ranks.drep"),
                          .ctx = &layouts[i],
                          .datarep = "native"};

        story_run_well(&s, 3);
        whole(s.path);
    }
}
END_TEST

/* ---- two ranks, one element ---- */

/* Together ranks 0 and 1 have a member in common, alone elements. */
static void tell_common(struct teller *me, drep_file *f)
{
    static const unsigned all[2][3] = {{1u << A, 1u << A | 1u << B, 1u << B | 1u << C},
                                       {1u << A, 1u << B, 1u << C}};
    const struct plan *p = me->ctx;
    const unsigned *members = all[p->alone];
    const struct box b = {{2 + 4 * me->rank, 3}, {5, 12}};
    drep_dataset *ds = make(me, f);

    put(me, ds, &b, members[me->rank], 10 * me->rank, !p->alone);
    went(me, drep_commit(f));
    drep_dataset_close(ds);
}

START_TEST(test_what_two_ranks_write)
{
    register_datareps();
    for (size_t k = 0; k < 2 * PLANS; k++) {
        struct plan p = all_plans[k / 2];
        struct story s = {
            .fn = tell_common, .path = temp_path("ranks.drep"), .ctx = &p, .datarep = p.datarep};
        const char *text = "ranks 0 and 1 write the same element";

        p.alone = k % 2;
        if (p.alone && p.layout == DREP_COMPACT)
            text = "ranks 0 and 1 have given element";
        story_run(&s, 3);
        ck_assert(!s.all.deadlock);
        for (int r = 0; r < 3; r++)
            ck_assert_msg(s.teller[r].err == DREP_ERR_NOT_SAME && strstr(s.teller[r].text, text),
                          "plan %zu: %d: %s", k, s.teller[r].err, s.teller[r].text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_members");
    TCase *tc = tcase_create("ranks_members");

    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, test_members_together);
    tcase_add_test(tc, test_members_alone);
    tcase_add_test(tc, test_large_chunks);
    tcase_add_test(tc, test_what_two_ranks_write);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
