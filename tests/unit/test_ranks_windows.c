/* test_ranks_windows.c - collective writes whose elements travel, and wait, window by window.
 *
 * Ranks have columns of a dataset, so that most elements travel.  With bounds from one byte up the
 * file must be that of one process; what a rank sends, gets and keeps at once must not exceed them,
 * but for one chunk.
 *
 * needs: deflate zstd */
/* stacks: off */
/* SPDX-License-Identifier: MIT */
#include "par/ranks.h"

#include "tests/unit/ranks_help.h"

enum { HEIGHT = 240, WIDTH = 96, CHUNK_Y = 16, CHUNK_X = 32, ROUNDS = 3 };
enum { PAYLOAD = CHUNK_Y * CHUNK_X * 4, CHUNKS = HEIGHT / CHUNK_Y * (WIDTH / CHUNK_X) };

enum shape { BOX, INNER, STRIPES, POINTS, SHAPES };

struct wide {
    enum shape shape;
    int filter, layout;
    bool text, overlap;
    bool member;                            /* one of two that each element has */
    bool alone;                             /* not together */
    uint64_t windows, sent, received, kept; /* the most of all ranks */
    char in_force[32];
    pthread_mutex_t lock;
};

/* All is selected, all but a frame, two of three rows, or points. */
static bool is_selected(const struct wide *w, int round, int64_t y, int64_t x)
{
    switch (w->shape) {
    case INNER:
        return y >= 5 && y < HEIGHT - 6 && x >= 3 && x < WIDTH - 7;
    case STRIPES:
        return y % 3 > 0;
    case POINTS:
        return (x + y) % 3 == round;
    default:
        return true;
    }
}

/* What a rank writes, of its columns. */
struct chosen {
    drep_selection *sel;
    int64_t n, (*at)[2];
    uint32_t *v;
    char (*text)[12], **texts;
};

static void choose_box(struct teller *me, struct chosen *c)
{
    const struct wide *w = me->ctx;
    const int64_t *first = c->at[0], *last = c->at[c->n - 1];
    int64_t start[2] = {first[0], first[1]}, stride[2] = {3, 1}, block[2] = {2, 1};
    int64_t count[2] = {last[0] - first[0] + 1, last[1] - first[1] + 1};

    if (w->shape == STRIPES)
        count[0] = HEIGHT / 3;
    went(me, drep_select_box(2, start, count, w->shape == STRIPES ? stride : NULL,
                             w->shape == STRIPES ? block : NULL, &c->sel));
}

static void choose(struct teller *me, int round, struct chosen *c)
{
    const struct wide *w = me->ctx;
    int64_t x0 = me->ranks == 1 ? 0 : WIDTH * me->rank / me->ranks;
    int64_t x1 = me->ranks == 1 ? WIDTH : WIDTH * (me->rank + 1) / me->ranks;
    size_t most = (size_t)HEIGHT * WIDTH;

    *c = (struct chosen){.at = calloc(most, sizeof *c->at),
                         .v = calloc(most, sizeof *c->v),
                         .text = calloc(most, sizeof *c->text),
                         .texts = calloc(most, sizeof *c->texts)};
    if (w->overlap && round == 1 && me->rank == 2) /* the last rows are in the last chunks */
        x0--;
    for (int64_t y = 0; y < HEIGHT; y++)
        for (int64_t x = x0; x < x1; x++) {
            uint32_t v = (uint32_t)(round * 7919 + y * 104729 + x) * 2654435761u;

            if (!is_selected(w, round, y, x) ||
                (w->overlap && round == 1 && me->rank == 2 && y < HEIGHT - 1))
                continue;
            c->at[c->n][0] = y;
            c->at[c->n][1] = x;
            c->v[c->n] = v ^ v >> 15;
            snprintf(c->text[c->n], sizeof *c->text, "%u", c->v[c->n]);
            c->texts[c->n] = c->text[c->n];
            c->n++;
        }
    if (w->shape == POINTS)
        went(me, drep_select_points(2, c->n, &c->at[0][0], &c->sel));
    else
        choose_box(me, c);
}

static void chosen_free(struct chosen *c)
{
    drep_selection_free(c->sel);
    free(c->at);
    free(c->v);
    free(c->text);
    free(c->texts);
}

static drep_dataset *make(struct teller *me, drep_file *f)
{
    const struct wide *w = me->ctx;
    const int64_t dims[2] = {HEIGHT, WIDTH}, chunk[2] = {CHUNK_Y, CHUNK_X};
    drep_filter filter = {.id = w->filter};
    drep_spec spec = DREP_SPEC(.type = DREP_UINT32_T, .rank = 2, .dims = dims, .layout = w->layout);
    drep_type *text = NULL, *pair = uint32_pair_type(2);
    drep_dataset *ds = NULL;

    went(me, drep_type_vstring(&text));
    spec.type = w->text ? text : w->member ? pair : spec.type;
    if (w->layout == DREP_CHUNKED)
        spec.chunk = chunk;
    if (w->filter) {
        spec.filters = &filter;
        spec.nfilters = 1;
    }
    went(me, drep_dataset_create(f, "/x", &spec, &ds));
    drep_type_free(text);
    drep_type_free(pair);
    return ds;
}

static void most(uint64_t *of, uint64_t n)
{
    *of = n > *of ? n : *of;
}

static void tell(struct teller *me, drep_file *f)
{
    struct wide *w = (struct wide *)(uintptr_t)me->ctx;
    drep_type *one = w->member ? uint32_pair_type(1) : NULL;
    drep_dataset *ds = make(me, f);
    drep_info *info = NULL;

    for (int round = 0; round < ROUNDS && !me->err; round++) {
        drep_report report = DREP_REPORT;
        struct chosen c;

        choose(me, round, &c);
        went(me,
             drep_write(ds, c.sel, one, w->text ? (const void *)c.texts : c.v,
                        &DREP_XFER(.collective = me->ranks > 1 && !w->alone, .report = &report)));
        if (!me->err && report.items != c.n) {
            me->err = -1;
            snprintf(me->text, sizeof me->text, "%lld items of %lld", (long long)report.items,
                     (long long)c.n);
        }
        chosen_free(&c);
        if (round == 1 || w->alone)
            went(me, drep_commit(f));
    }
    drep_dataset_close(ds);
    drep_type_free(one);
    if (me->ranks == 1)
        return;
    went(me, drep_get_info(f, &info));
    pthread_mutex_lock(&w->lock);
    most(&w->windows, ranks_of(f)->counted.windows);
    most(&w->sent, ranks_of(f)->counted.sent);
    most(&w->received, ranks_of(f)->counted.received);
    most(&w->kept, ranks_of(f)->counted.kept);
    if (!me->err)
        snprintf(w->in_force, sizeof w->in_force, "%s/%s", drep_info_get(info, "cb_buffer_size"),
                 drep_info_get(info, "drep_mpi_window"));
    pthread_mutex_unlock(&w->lock);
    drep_info_free(info);
}

static void write_by(struct story *many, struct wide *w, int ranks, const char *hint,
                     const char *value)
{
    w->windows = w->sent = w->received = w->kept = 0;
    many->hint = hint;
    many->value = value;
    story_run_well(many, ranks);
}

/* The kinds of datasets, and of chunks. */
static const struct wide kinds[] = {
    {.layout = DREP_CHUNKED, .filter = DREP_FILTER_ZSTD},
    {.layout = DREP_CHUNKED},
    {.layout = DREP_CONTIGUOUS},
    {.layout = DREP_CHUNKED, .text = true},
    {.layout = DREP_CHUNKED, .text = true, .filter = DREP_FILTER_DEFLATE},
    {.layout = DREP_CHUNKED, .member = true, .filter = DREP_FILTER_ZSTD},
    {.layout = DREP_CONTIGUOUS, .member = true},
};

START_TEST(test_files_are_the_same)
{
    static const char *const hints[] = {"cb_buffer_size", "drep_mpi_window"};
    static const char *const values[] = {"1", "3000", "7777", "40000"};
    struct wide w;
    struct story one = {.fn = tell, .ctx = &w, .datarep = "native", .path = temp_path("one.drep")},
                 many = one;

    many.path = temp_path("many.drep");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds * SHAPES; k++)
        for (size_t h = 0; h < 8; h++) {
            int ranks = 2 + (int)(k + h) % 3;

            w = kinds[k / SHAPES];
            w.shape = k % SHAPES;
            pthread_mutex_init(&w.lock, NULL);
            one.hint = hints[h / 4];
            one.value = values[h % 4];
            if (h % 4 == 0 || h / 4 == 0)
                story_alone(&one);
            write_by(&many, &w, ranks, one.hint, one.value);
            same_file(one.path, many.path, one.hint, ranks);
            if (h / 4 == 1 && !w.filter)
                ck_assert_uint_eq(w.windows, ROUNDS);
            else if (h % 4 == 0) /* at least for those chunks that several ranks have */
                ck_assert_uint_ge(w.windows, ROUNDS * (h / 4 == 1 && w.shape == BOX ? CHUNKS : 10));
            pthread_mutex_destroy(&w.lock);
        }
}
END_TEST

/* Of numbers, whose bytes are counted; heads and runs of their pieces count, too. */
START_TEST(test_what_travels_and_waits_is_bounded)
{
    struct wide w;
    struct story many = {
        .fn = tell, .ctx = &w, .datarep = "native", .path = temp_path("many.drep")};
    uint64_t whole = (uint64_t)HEIGHT * WIDTH * 4;

    for (int ranks = 2; ranks <= 4; ranks++)
        for (int filtered = 0; filtered < 2; filtered++) {
            uint64_t travels;

            w = kinds[!filtered];
            pthread_mutex_init(&w.lock, NULL);
            write_by(&many, &w, ranks, NULL, NULL);
            ck_assert_str_eq(w.in_force, "4194304/0");
            ck_assert_uint_eq(w.windows, ROUNDS);
            travels = w.received > w.sent ? w.received : w.sent;
            ck_assert_uint_gt(travels, 20000);
            if (filtered)
                ck_assert_uint_gt(w.kept, whole / 2 / (uint64_t)ranks);
            write_by(&many, &w, ranks, "cb_buffer_size", "10000");
            printf("counted: %d ranks, filtered %d: %llu bytes travel, bounded %llu sent, %llu "
                   "received, in %llu windows\n",
                   ranks, filtered, (unsigned long long)travels, (unsigned long long)w.sent,
                   (unsigned long long)w.received, (unsigned long long)w.windows);
            ck_assert_str_eq(w.in_force, "10000/0");
            ck_assert_uint_le(w.sent, 10000);
            ck_assert_uint_le(w.received, 10000);
            ck_assert_uint_ge(w.windows, ROUNDS * (travels / 10000 + 1));
            ck_assert_uint_le(w.windows, 4 * ROUNDS * (travels / 10000 + 1));
            write_by(&many, &w, ranks, "drep_mpi_window", "16384");
            ck_assert_str_eq(w.in_force, "4194304/16384");
            if (filtered)
                ck_assert_uint_le(w.kept, 16384 + 16384 / 8); /* zstd may lengthen it a little */
            ck_assert_uint_eq(w.windows,
                              filtered ? ROUNDS * ((CHUNKS - 1) / (16384 / PAYLOAD) + 1) : ROUNDS);
            write_by(&many, &w, ranks, "collective_buffering", "false");
            ck_assert_uint_eq(w.windows, ROUNDS);
            pthread_mutex_destroy(&w.lock);
        }
}
END_TEST

/* Points, members and what ranks write alone come window by window, too. */
START_TEST(test_others_are_bounded)
{
    struct wide w;
    struct story one = {.fn = tell, .ctx = &w, .datarep = "native", .path = temp_path("one.drep")},
                 many = one;

    many.path = temp_path("many.drep");
    for (int kind = 0; kind < 6; kind++)
        for (int ranks = 2; ranks <= 4; ranks++) {
            drep_file *f;
            uint64_t all;

            w = kinds[kind % 2 ? 2 : 0];
            w.shape = kind / 2 == 0 ? POINTS : INNER;
            w.member = kind / 2 == 1;
            w.alone = kind / 2 == 2;
            pthread_mutex_init(&w.lock, NULL);
            one.hint = "cb_buffer_size";
            one.value = "12000";
            story_alone(&one);
            write_by(&many, &w, ranks, NULL, NULL);
            all = w.sent;
            write_by(&many, &w, ranks, "cb_buffer_size", "12000");
            printf("counted: kind %d, %d ranks: %llu bytes sent, bounded %llu sent, %llu received, "
                   "in %llu windows\n",
                   kind, ranks, (unsigned long long)all, (unsigned long long)w.sent,
                   (unsigned long long)w.received, (unsigned long long)w.windows);
            ck_assert_uint_gt(all, 12000);
            ck_assert_uint_le(w.sent, 12000);
            ck_assert_uint_le(w.received, 12000);
            ck_assert_uint_gt(w.windows, ROUNDS + 2);
            if (w.alone)
                same_elements(one.path, many.path);
            else
                same_file(one.path, many.path, "in windows", ranks);
            ok(drep_open(many.path, DREP_RDONLY, NULL, &f));
            check_file(f);
            ok(drep_close(f));
            pthread_mutex_destroy(&w.lock);
        }
}
END_TEST

/* Ranks write the same element in the last window: all of the write is taken back. */
static void tell_overlap(struct teller *me, drep_file *f)
{
    drep_dataset *ds = make(me, f);
    uint32_t *v = calloc(HEIGHT * WIDTH, sizeof *v), *was = calloc(HEIGHT * WIDTH, sizeof *v);

    for (int round = 0; round < 2 && !me->err; round++) {
        struct chosen c;
        int err;

        choose(me, round, &c);
        err = drep_write(ds, c.sel, NULL, c.v, &DREP_XFER(.collective = 1));
        if (round == 0)
            went(me, err);
        else if (err != DREP_ERR_NOT_SAME)
            me->err = err ? err : -1;
        if (round == 1)
            snprintf(me->text, sizeof me->text, "%s", drep_error());
        chosen_free(&c);
        if (me->rank >= 0 && !me->err) {
            const int64_t all[2] = {HEIGHT, WIDTH}, from[2] = {0};

            went(me,
                 drep_read_box(ds, from, all, NULL, round ? v : was, &DREP_XFER(.collective = 1)));
        }
    }
    if (!me->err && memcmp(v, was, HEIGHT * WIDTH * sizeof *v) != 0)
        me->err = -2;
    free(v);
    free(was);
    drep_dataset_close(ds);
}

START_TEST(test_a_failure_in_the_last_window)
{
    for (size_t k = 0; k < 3; k++) {
        struct wide w = kinds[k];
        struct story s = {.fn = tell_overlap,
                          .ctx = &w,
                          .datarep = "native",
                          .path = temp_path("many.drep"),
                          .abandons = true,
                          .hint = "cb_buffer_size",
                          .value = "3000"};
        drep_file *f;

        w.overlap = true;
        story_run_well(&s, 3);
        for (int r = 0; r < 3; r++)
            ck_assert_msg(strstr(s.teller[r].text, "write the same element") != NULL, "%s",
                          s.teller[r].text);
        ok(drep_open(s.path, DREP_RDONLY, NULL, &f));
        check_file(f);
        ok(drep_close(f));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ranks_windows");
    TCase *tc = tcase_create("windows");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_files_are_the_same);
    tcase_add_test(tc, test_what_travels_and_waits_is_bounded);
    tcase_add_test(tc, test_others_are_bounded);
    tcase_add_test(tc, test_a_failure_in_the_last_window);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
