/* test_ranks_style.c - the hint access_style of a file that ranks share: it has the effect that it
 * has on a file of one process (test_data_hints.c), on each rank. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

#include <fcntl.h>
#include <stdatomic.h>

enum { RANKS = 3, CHUNK = 4096, N = 8 * CHUNK, PASSES = 3 };

static atomic_int advised[16], decoded;

/* In place of the C library's: what the library advises. */
int posix_fadvise(int fd, off_t offset, off_t len, int advice)
{
    (void)fd;
    (void)offset;
    (void)len;
    advised[advice]++;
    return 0;
}

static int copy_filter(const void *in, size_t in_size, void *out, size_t *out_size)
{
    if (*out_size >= in_size)
        memcpy(out, in, in_size);
    *out_size = in_size;
    return 0;
}

static int encode_filter(const uint32_t *params, int nparams, const void *in, size_t in_size,
                         void *out, size_t *out_size, void *extra_state)
{
    (void)params;
    (void)nparams;
    (void)extra_state;
    return copy_filter(in, in_size, out, out_size);
}

static int decode_filter(const uint32_t *params, int nparams, const void *in, size_t in_size,
                         void *out, size_t *out_size, void *extra_state)
{
    (void)params;
    (void)nparams;
    (void)extra_state;
    decoded++;
    return copy_filter(in, in_size, out, out_size);
}

static int value_at(int64_t i)
{
    return (int)(i * 7);
}

static void tell_writing(struct teller *me, drep_file *f)
{
    const drep_filter filter = {.id = DREP_FILTER_USER, .name = "counted"};
    const int64_t n = N, chunk = CHUNK, none = 0, start = 0, all = N;
    static _Thread_local int v[N];
    drep_dataset *ds = NULL;

    for (int i = 0; i < N; i++)
        v[i] = value_at(i);
    if (!went(me, drep_dataset_create(f, "/d",
                                      &DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = &n,
                                                 .layout = DREP_CHUNKED, .chunk = &chunk,
                                                 .filters = &filter, .nfilters = 1),
                                      &ds)))
        return;
    went(me, drep_write_box(ds, &start, me->rank ? &none : &all, DREP_INT, v,
                            &DREP_XFER(.collective = 1)));
    drep_dataset_close(ds);
}

/* All ranks read the same chunk, each by itself. */
static void tell_reading(struct teller *me, drep_file *f)
{
    const int64_t start = 2 * CHUNK, count = CHUNK;
    static _Thread_local int v[CHUNK];
    drep_dataset *ds = NULL;
    drep_info *info = NULL;

    if (!went(me, drep_dataset_open(f, "/d", &ds)))
        return;
    for (int pass = 0; pass < PASSES; pass++) {
        memset(v, 0, sizeof v);
        went(me, drep_read_box(ds, &start, &count, DREP_INT, v, NULL));
        for (int i = 0; !me->err && i < CHUNK; i++)
            if (v[i] != value_at(start + i))
                me->err = -1;
    }
    went(me, drep_get_info(f, &info));
    if (!me->err && strcmp(drep_info_get(info, "access_style"), me->ctx) != 0)
        me->err = -1;
    drep_info_free(info);
    drep_dataset_close(ds);
}

START_TEST(test_style)
{
    static const struct {
        const char *style;
        int advice, decoded;
    } cases[] = {{"read_mostly", POSIX_FADV_NORMAL, 2},
                 {"sequential", POSIX_FADV_SEQUENTIAL, 2},
                 {"reverse_sequential", POSIX_FADV_RANDOM, 2},
                 {"random", POSIX_FADV_RANDOM, 1},
                 {"read_once,sequential", POSIX_FADV_SEQUENTIAL, 3}};
    struct story s = {.fn = tell_writing, .path = temp_path("style.drep"), .datarep = "native"};

    story_run_well(&s, RANKS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int writes = 0; writes < 2; writes++) {
            for (int a = 0; a < 16; a++)
                advised[a] = 0;
            decoded = 0;
            s = (struct story){.fn = tell_reading,
                               .path = s.path,
                               .ctx = cases[i].style,
                               .style = cases[i].style,
                               .existing = true,
                               .amode = writes ? DREP_RDWR : DREP_RDONLY};
            story_run_well(&s, RANKS);
            ck_assert_msg(decoded == RANKS * cases[i].decoded, "%s: decoded %d times",
                          cases[i].style, decoded);
            for (int a = 0; a < 16; a++)
                ck_assert_msg(advised[a] == 0 || a == cases[i].advice, "%s: advice %d",
                              cases[i].style, a);
            if (cases[i].advice != POSIX_FADV_NORMAL)
                ck_assert_int_ge(advised[cases[i].advice], RANKS);
        }
}
END_TEST

/* After a commit, too, by which the other ranks move to a new store. */
static void tell_after_commit(struct teller *me, drep_file *f)
{
    went(me, drep_attr_write_int64(f, "/", "a", 1));
    went(me, drep_commit(f));
    tell_reading(me, f);
}

START_TEST(test_style_after_a_commit)
{
    struct story s = {.fn = tell_writing, .path = temp_path("style.drep"), .datarep = "native"};

    story_run_well(&s, RANKS);
    for (int once = 0; once < 2; once++) {
        decoded = 0;
        s = (struct story){.fn = tell_after_commit,
                           .path = s.path,
                           .style = once ? "read_once" : "random",
                           .existing = true};
        s.ctx = s.style;
        story_run_well(&s, RANKS);
        ck_assert_int_eq(decoded, RANKS * (once ? PASSES : 1));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_style");
    TCase *tc = tcase_create("ranks_style");

    if (drep_register_filter("counted", encode_filter, decode_filter, NULL, DREP_FILTER_KEEP))
        return 1;
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, test_style);
    tcase_add_test(tc, test_style_after_a_commit);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
