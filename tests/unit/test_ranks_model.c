/* test_ranks_model.c - the stories of tests/mpi/model.h, told by threads.
 *
 * MODEL_STORIES=N says how many, MODEL_SEED=N where they begin.
 *
 * needs: lz4 */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/data_help.h"
#include "tests/mpi/model.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

/* One queue of messages for each rank. */
struct letter {
    struct letter *next;
    drep_message *message;
};
struct box_of_letters {
    struct letter *first, **last;
    pthread_cond_t came;
};
struct office {
    pthread_mutex_t lock;
    pthread_cond_t met;
    struct box_of_letters box[MOST_RANKS];
    int n, waiting, round;
};
struct desk {
    struct office *office;
    int me;
};

static int post(void *ctx, int to, drep_message *message)
{
    struct desk *desk = ctx;
    struct box_of_letters *box = &desk->office->box[to];
    struct letter *l = malloc(sizeof *l);

    *l = (struct letter){NULL, message};
    message->from = desk->me;
    pthread_mutex_lock(&desk->office->lock);
    *box->last = l;
    box->last = &l->next;
    pthread_cond_signal(&box->came);
    pthread_mutex_unlock(&desk->office->lock);
    return 0;
}

static int fetch(void *ctx, drep_message **message, int64_t deadline_ns)
{
    struct desk *desk = ctx;
    struct box_of_letters *box = &desk->office->box[desk->me];
    struct timespec until = {deadline_ns / 1000000000, deadline_ns % 1000000000};
    struct letter *l;

    pthread_mutex_lock(&desk->office->lock);
    while (!box->first)
        if (deadline_ns == INT64_MAX)
            pthread_cond_wait(&box->came, &desk->office->lock);
        else if (pthread_cond_timedwait(&box->came, &desk->office->lock, &until) == ETIMEDOUT &&
                 !box->first) {
            pthread_mutex_unlock(&desk->office->lock);
            return DREP_ERR_TIMEOUT;
        }
    l = box->first;
    box->first = l->next;
    if (!box->first)
        box->last = &box->first;
    pthread_mutex_unlock(&desk->office->lock);
    *message = l->message;
    free(l);
    return 0;
}

static void leave(void *ctx, int gave_up)
{
    (void)gave_up;
    free(ctx);
}

static struct desk *desk_of(struct world *w, drep_transport *transport)
{
    struct desk *desk = malloc(sizeof *desk);

    *desk = (struct desk){w->ctx, w->me};
    *transport = DREP_TRANSPORT(.rank = w->me, .ranks = w->n, .timeout_ns = 5000000000,
                                .send = post, .receive = fetch, .release = leave);
    return desk;
}

static int make_by_threads(struct world *w, const char *path, const char *datarep,
                           const drep_info *info, drep_file **out)
{
    drep_transport transport;
    struct desk *desk = desk_of(w, &transport);

    return drep_team_create(&transport, desk, path, DREP_RDWR, datarep, info, out);
}

static int open_by_threads(struct world *w, const char *path, int amode, const drep_info *info,
                           drep_file **out)
{
    drep_transport transport;
    struct desk *desk = desk_of(w, &transport);

    return drep_team_open(&transport, desk, path, amode, info, out);
}

/* Where all meet, and all letters of a file that was given up are gone. */
static void meet_by_threads(struct world *w)
{
    struct office *o = w->ctx;
    int round;

    pthread_mutex_lock(&o->lock);
    round = o->round;
    if (++o->waiting == o->n) {
        o->waiting = 0;
        o->round++;
        for (int r = 0; r < o->n; r++)
            while (o->box[r].first) {
                struct letter *l = o->box[r].first;

                o->box[r].first = l->next;
                drep_message_free(l->message);
                free(l);
            }
        for (int r = 0; r < o->n; r++)
            o->box[r].last = &o->box[r].first;
        pthread_cond_broadcast(&o->met);
    }
    while (o->round == round)
        pthread_cond_wait(&o->met, &o->lock);
    pthread_mutex_unlock(&o->lock);
}

struct teller {
    struct world world;
    struct tale tale;
    uint64_t seed;
    const char *path;
};

static void *tell(void *ctx)
{
    struct teller *me = ctx;

    model_tell(&me->tale, &me->world, me->seed, me->path, false);
    return NULL;
}

static void story(uint64_t seed, const char *path, const char *alone)
{
    static struct teller teller[MOST_RANKS];
    struct office office = {.lock = PTHREAD_MUTEX_INITIALIZER, .met = PTHREAD_COND_INITIALIZER};
    pthread_t thread[MOST_RANKS];
    pthread_condattr_t attr;

    office.n = 2 + (int)(seed / 4 % 7);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    for (int r = 0; r < office.n; r++) {
        pthread_cond_init(&office.box[r].came, &attr);
        office.box[r].last = &office.box[r].first;
        teller[r] = (struct teller){.seed = seed, .path = path};
        teller[r].world = (struct world){.me = r,
                                         .n = office.n,
                                         .ctx = &office,
                                         .make = make_by_threads,
                                         .open = open_by_threads,
                                         .meet = meet_by_threads};
    }
    for (int r = 0; r < office.n; r++)
        ck_assert_int_eq(pthread_create(&thread[r], NULL, tell, &teller[r]), 0);
    for (int r = 0; r < office.n; r++)
        pthread_join(thread[r], NULL);
    for (int r = 0; r < office.n; r++) /* those that a rank left alone say little */
        if (!strstr(teller[r].tale.why, "did not answer"))
            ck_assert_msg(!teller[r].tale.why[0], "%s", teller[r].tale.why);
    for (int r = 0; r < office.n; r++)
        ck_assert_msg(!teller[r].tale.why[0], "%s", teller[r].tale.why);
    model_hold(&teller[0].tale);
    model_repeat(&teller[0].tale, alone);
    ck_assert_msg(!teller[0].tale.why[0], "%s", teller[0].tale.why);
}

START_TEST(test_stories_of_the_model)
{
    const char *count = getenv("MODEL_STORIES"), *first = getenv("MODEL_SEED");
    uint64_t from = first ? strtoull(first, NULL, 10) : 0;
    uint64_t n = count ? strtoull(count, NULL, 10) : 150;

    ck_assert_int_eq(model_begin(), 0);
    for (uint64_t i = from; i < from + n; i++)
        story(i, temp_path("model.drep"), temp_path("alone.drep"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_model");
    TCase *tc = tcase_create("ranks_model");

    tcase_set_timeout(tc, 3600);
    tcase_add_test(tc, test_stories_of_the_model);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
