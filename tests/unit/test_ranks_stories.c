/* test_ranks_stories.c - the stories of tests/mpi/stories.h, told by threads.
 *
 * RANK_STORIES=N says how many, RANK_STORY=N where they begin.
 *
 * needs: lz4 */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/thread_team.h"
#include "tests/unit/data_help.h"
#include "tests/mpi/stories.h"

enum { MOST_RANKS = 8 };

struct told {
    struct plan p;
    const char *path;
    struct world world[MOST_RANKS];
    struct storyteller teller[MOST_RANKS];
};

static int make_by_threads(struct world *w, const char *path, const char *datarep,
                           const drep_info *info, drep_file **out)
{
    struct team *t = w->ctx;

    return drep_team_create(t->transport, t->ctx, path, DREP_RDWR, datarep, info, out);
}

static int open_by_threads(struct world *w, const char *path, int amode, const drep_info *info,
                           drep_file **out)
{
    struct team *t = w->ctx;

    return drep_team_open(t->transport, t->ctx, path, amode, info, out);
}

static void tell(struct team *t, void *ctx)
{
    struct told *s = ctx;

    s->world[t->rank] = (struct world){
        .me = t->rank, .n = t->size, .ctx = t, .make = make_by_threads, .open = open_by_threads};
    story_tell(&s->teller[t->rank], &s->world[t->rank], &s->p, s->path);
}

static void story(uint64_t seed)
{
    static struct told s;
    static struct storyteller alone;
    struct thread_team all;

    s = (struct told){.p = story_plan(seed, MOST_RANKS), .path = temp_path("ranks.drep")};
    thread_team_init(&all, s.p.of, 0);
    thread_team_run(&all, tell, &s);
    ck_assert_msg(!all.deadlock || s.teller[0].err, "story %d: ranks wait", (int)seed);
    thread_team_release(&all);
    story_compare(&s.teller[0], &alone, temp_path("alone.drep"));
    for (int r = 0; r < s.p.of; r++) {
        if (!s.teller[0].err)
            same_said(&s.teller[r], &alone);
        ck_assert_msg(s.teller[r].err == 0, "story %d (%s): rank %d of %d: %s", (int)seed,
                      s.p.datarep, r, s.p.of, s.teller[r].text);
    }
}

START_TEST(test_random_stories)
{
    const char *count = getenv("RANK_STORIES"), *first = getenv("RANK_STORY");
    uint64_t from = first ? strtoull(first, NULL, 10) : 0;
    uint64_t stories = count ? strtoull(count, NULL, 10) : 120;

    ck_assert_int_eq(stories_begin(), 0);
    for (uint64_t i = from; i < from + stories; i++)
        story(i);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_stories");
    TCase *tc = tcase_create("ranks_stories");

    tcase_set_timeout(tc, 3600);
    tcase_add_test(tc, test_random_stories);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
