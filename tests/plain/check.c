/* check.c - runs the tests of a suite, one after the other (check.h beside it). */
/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

struct test {
    plain_fn *fn;
    const char *name;
    int from, to;
    struct test *next;
};

struct TCase {
    const char *name;
    plain_fixture_fn *setup, *teardown; /* of each test */
    plain_fixture_fn *begin, *end;      /* of all of them */
    double timeout;
    struct test *first, **last;
    TCase *next;
};

struct Suite {
    const char *name;
    TCase *first, **last;
    Suite *next;
};

struct SRunner {
    Suite *first, **last;
    bool forks;
    int checks, failures, errors;
};

static const TCase *now; /* the running one, for messages */
static const struct test *now_test;
static int now_i;
static jmp_buf leave;

/* Tests run out of memory on purpose; what describes them does not. */
static void *make(size_t size)
{
    void *p = calloc(1, size);

    if (p == NULL)
        abort();
    return p;
}

Suite *suite_create(const char *name)
{
    Suite *s = make(sizeof *s);

    s->name = name;
    s->last = &s->first;
    return s;
}

TCase *tcase_create(const char *name)
{
    const char *text = getenv("CK_DEFAULT_TIMEOUT");
    TCase *tc = make(sizeof *tc);

    tc->name = name;
    tc->last = &tc->first;
    tc->timeout = text == NULL ? 4 : atof(text);
    return tc;
}

void suite_add_tcase(Suite *suite, TCase *tc)
{
    *suite->last = tc;
    suite->last = &tc->next;
}

void tcase_set_timeout(TCase *tc, double seconds)
{
    tc->timeout = seconds;
}

void tcase_add_checked_fixture(TCase *tc, plain_fixture_fn *setup, plain_fixture_fn *teardown)
{
    tc->setup = setup;
    tc->teardown = teardown;
}

void tcase_add_unchecked_fixture(TCase *tc, plain_fixture_fn *setup, plain_fixture_fn *teardown)
{
    tc->begin = setup;
    tc->end = teardown;
}

void plain_add(TCase *tc, plain_fn *fn, const char *name, int from, int to)
{
    struct test *t = make(sizeof *t);

    *t = (struct test){fn, name, from, to, NULL};
    *tc->last = t;
    tc->last = &t->next;
}

SRunner *srunner_create(Suite *suite)
{
    SRunner *r = make(sizeof *r);

    r->last = &r->first;
    r->forks = true;
    if (suite != NULL)
        srunner_add_suite(r, suite);
    return r;
}

void srunner_add_suite(SRunner *runner, Suite *suite)
{
    *runner->last = suite;
    runner->last = &suite->next;
}

void srunner_set_fork_status(SRunner *runner, enum fork_status status)
{
    runner->forks = status == CK_FORK;
}

static void say(char kind, const char *where, int line, const char *format, va_list args)
{
    printf("%s:%d:%c:%s:%s:%d: ", where, line, kind, now->name, now_test->name, now_i);
    vprintf(format, args);
    printf("\n");
    fflush(stdout);
}

void plain_fail(const char *file, int line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say('F', file, line, format, args);
    va_end(args);
    longjmp(leave, 1);
}

static void say_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say('E', "(after this point)", 0, format, args);
    va_end(args);
}

/* True if nothing failed. */
static bool run_here(void)
{
    if (setjmp(leave) != 0)
        return false;
    if (now->setup != NULL)
        now->setup();
    now_test->fn(now_i);
    if (now->teardown != NULL)
        now->teardown();
    return true;
}

static void run_forked(SRunner *r)
{
    const char *factor = getenv("CK_TIMEOUT_MULTIPLIER");
    double timeout = now->timeout * (factor == NULL ? 1 : atof(factor));
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        setpgid(0, 0);
        alarm(timeout < 1 ? 1 : (unsigned)timeout);
        exit(run_here() ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        say_error("cannot run the test");
        r->errors++;
        return;
    }
    kill(-child, SIGKILL);
    if (WIFSIGNALED(status)) {
        say_error("%s %d", WTERMSIG(status) == SIGALRM ? "out of time, signal" : "killed by signal",
                  WTERMSIG(status));
        r->errors++;
    } else {
        r->failures += WEXITSTATUS(status) != EXIT_SUCCESS;
    }
}

static void run_one(SRunner *r)
{
    r->checks++;
    if (r->forks)
        run_forked(r);
    else if (!run_here())
        r->failures++;
}

static void run_case(SRunner *r)
{
    if (now->begin != NULL)
        now->begin();
    for (now_test = now->first; now_test != NULL; now_test = now_test->next)
        for (now_i = now_test->from; now_i < now_test->to; now_i++)
            run_one(r);
    if (now->end != NULL)
        now->end();
}

void srunner_run_all(SRunner *runner, enum print_output how)
{
    (void)how;
    for (Suite *s = runner->first; s != NULL; s = s->next) {
        printf("Running suite(s): %s\n", s->name);
        for (now = s->first; now != NULL; now = now->next)
            run_case(runner);
    }
    printf("%d%%: Checks: %d, Failures: %d, Errors: %d\n",
           runner->checks == 0
               ? 100
               : 100 * (runner->checks - runner->failures - runner->errors) / runner->checks,
           runner->checks, runner->failures, runner->errors);
    fflush(stdout);
}

int srunner_ntests_failed(const SRunner *runner)
{
    return runner->failures + runner->errors;
}

void srunner_free(SRunner *runner)
{
    for (Suite *s = runner->first, *s_next; s != NULL; s = s_next) {
        s_next = s->next;
        for (TCase *tc = s->first, *tc_next; tc != NULL; tc = tc_next) {
            tc_next = tc->next;
            for (struct test *t = tc->first, *t_next; t != NULL; t = t_next) {
                t_next = t->next;
                free(t);
            }
            free(tc);
        }
        free(s);
    }
    free(runner);
}
