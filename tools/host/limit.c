/* limit.c - what the files on the command line may cost. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/limit.h"
#include "tools/host/exit.h"
#include "tools/host/message.h"

#include "tools/host/stop.h"
#include "tools/host/unfinished.h"
#include "tools/host/utf8.h"
#include <datarep.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
#define GRACE_TIME                                                                                \
    2                        /* seconds of processor time between the end of the time and the end \
                                of the process */
#define OUTPUT_RATE 10000000 /* bytes of output that are worth one second */
#define OUTPUT_TIMES 100     /* bytes of output for one of the files */
#define BASE_MEMORY (48 * MIB) /* libraries, arenas and tables that no file has a part in */
#define STACK_MEMORY (8 * MIB) /* of a thread */

enum unit { SIZE, SECONDS, NUMBER };

static const struct row {
    const char *name;
    enum unit unit;
    uint64_t base;
    const char *hint, *text;
} rows[] = {
#define X(id, name, unit, base, hint, text) {name, unit, base, hint, text},
#include "tools/host/limits.def"
#undef X
};

#define X(id, name, unit, base, hint, text) name "= "
const char limit_words[] =
#include "tools/host/limits.def"
    ;
#undef X

/* The signal handler reads these. */
static struct {
    uint64_t value[LIMITS]; /* where --limit gave one */
    bool given[LIMITS];
    uint64_t files;   /* bytes of the files */
    uint64_t threads; /* that may work at once */
    uint64_t copies;  /* of the files in memory, besides two */
    bool started, said;
    atomic_bool spent; /* memory was refused, and that was said */
    timer_t timer;
    _Atomic uint64_t output;
    bool watched;                  /* it has to make steps ahead, */
    _Atomic uint64_t beats;        /* so many so far, */
    uint64_t beats_seen;           /* so many when the timer rang last that there was a new one, */
    double beat_time;              /* at this processor time */
    volatile sig_atomic_t expired; /* time is up */
    char object[2 * PATH_MAX];     /* "FILE: PATH" */
} limits;

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a > LIMIT_NONE - b ? LIMIT_NONE : a + b;
}

static uint64_t saturating_mul(uint64_t a, uint64_t b)
{
    return a && b > LIMIT_NONE / a ? LIMIT_NONE : a * b;
}

/* ------------------------------------------------------------------ options */

/* The factor behind a number, LIMIT_NONE: there is no such unit. */
static uint64_t unit_factor(const char *text, enum unit unit)
{
    static const struct {
        const char *text;
        enum unit unit;
        uint64_t factor;
    } units[] = {{"", SIZE, 1},
                 {"B", SIZE, 1},
                 {"K", SIZE, 1 << 10},
                 {"M", SIZE, 1 << 20},
                 {"G", SIZE, 1 << 30},
                 {"T", SIZE, (uint64_t)1 << 40},
                 {"KiB", SIZE, 1 << 10},
                 {"MiB", SIZE, 1 << 20},
                 {"GiB", SIZE, 1 << 30},
                 {"TiB", SIZE, (uint64_t)1 << 40},
                 {"kB", SIZE, 1000},
                 {"MB", SIZE, 1000000},
                 {"GB", SIZE, 1000000000},
                 {"TB", SIZE, 1000000000000},
                 {"", SECONDS, 1},
                 {"s", SECONDS, 1},
                 {"m", SECONDS, 60},
                 {"h", SECONDS, 3600},
                 {"", NUMBER, 1}};
    size_t i;

    for (i = 0; i < sizeof units / sizeof *units; i++)
        if (units[i].unit == unit && strcmp(units[i].text, text) == 0)
            return units[i].factor;
    return LIMIT_NONE;
}

static int parse_limit(const char *text, enum unit unit, uint64_t *value)
{
    uint64_t n, by;
    char *end;

    if (strcmp(text, "none") == 0) {
        *value = LIMIT_NONE;
        return 0;
    }
    errno = 0;
    n = strtoull(text, &end, 10);
    by = unit_factor(end, unit);
    if (*text < '0' || *text > '9' || errno || by == LIMIT_NONE ||
        saturating_mul(n, by) == LIMIT_NONE)
        return -1; /* a number too large to be one is no way to write "none" */
    *value = saturating_mul(n, by);
    return 0;
}

int limit_option(const char *text, char *why, size_t size)
{
    static const char *const forms[] = {"a size (512M, 2G, 100000) or none",
                                        "a time (30, 5m, 2h) or none", "a number or none"};
    size_t i, n = strcspn(text, "=");

    for (i = 0; i < LIMITS; i++)
        if (strlen(rows[i].name) == n && strncmp(rows[i].name, text, n) == 0)
            break;
    if (i == LIMITS || !text[n]) {
        snprintf(why, size, "--limit is NAME=VALUE, with one of %snot '%s'", limit_words, text);
        return -1;
    }
    if (parse_limit(text + n + 1, rows[i].unit, &limits.value[i]) != 0) {
        snprintf(why, size, "--limit %s is %s, not '%s'", rows[i].name, forms[rows[i].unit],
                 text + n + 1);
        return -1;
    }
    limits.given[i] = true;
    return 0;
}

void limit_help(FILE *out)
{
    static const char *const forms[] = {"SIZE", "TIME", "N"};
    char left[40];
    size_t i;

    for (i = 0; i < LIMITS; i++) {
        snprintf(left, sizeof left, "%s=%s", rows[i].name, forms[rows[i].unit]);
        fprintf(out, "  --limit %-14s %s\n", left, rows[i].text);
    }
}

/* ------------------------------------------------------------------- values */

static uint64_t output_now(void)
{
    const char *target = unfinished_path();
    struct stat st;
    uint64_t n = atomic_load(&limits.output);

    if (target && stat(target, &st) == 0)
        n = saturating_add(n, (uint64_t)st.st_size);
    return n;
}

uint64_t limit_get(enum limit which)
{
    uint64_t base = rows[which].base;

    if (limits.given[which])
        return limits.value[which];
    switch (which) {
    case LIMIT_MEMORY:
        base = saturating_add(base, saturating_mul(2 * limits.threads, limit_get(LIMIT_CHUNK)));
        return saturating_add(base, saturating_mul(2 + limits.copies, limits.files));
    case LIMIT_TIME:
        base = saturating_add(base, saturating_mul(10, limits.files) / MIB);
        return saturating_add(base, output_now() / OUTPUT_RATE);
    case LIMIT_OUTPUT:
        return saturating_add(base, saturating_mul(OUTPUT_TIMES, limits.files));
    default:
        return base;
    }
}

int limit_hints(drep_info *info)
{
    char value[24];
    size_t i;
    int err = 0;

    for (i = 0; i < LIMITS && !err; i++) {
        if (!rows[i].hint || !limits.given[i])
            continue;
        snprintf(value, sizeof value, "%" PRIu64,
                 limits.value[i] < INT64_MAX ? limits.value[i] : (uint64_t)INT64_MAX);
        err = drep_info_set(info, rows[i].hint, value);
    }
    return err;
}

/* ----------------------------------------------------------------- in force */

/* The system counts addresses: stacks of threads that are hardly touched, and what was there
 * before any file was. */
static void set_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    uint64_t most = limit_get(LIMIT_MEMORY);
    struct rlimit r;

    if (getrlimit(RLIMIT_DATA, &r) != 0)
        return;
    most = saturating_add(most, BASE_MEMORY + saturating_mul(limits.threads, STACK_MEMORY));
    r.rlim_cur = most < r.rlim_max ? (rlim_t)most : r.rlim_max;
    setrlimit(RLIMIT_DATA, &r);
#endif
}

/* The handler comes when the process has used so much more. */
static void set_timer(double seconds)
{
    struct itimerspec t = {{0, 0}, {0, 0}};

    t.it_value.tv_sec = seconds < 1e9 ? (time_t)seconds : 1000000000;
    t.it_value.tv_nsec = 1000000;
    timer_settime(limits.timer, 0, &t, NULL);
}

/* Writes without stdio, which the handler may have interrupted. */
static void put_stderr(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

static void put_number(uint64_t n)
{
    char text[24], *at = text + sizeof text - 1;

    *at = '\0';
    do
        *--at = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    put_stderr(at);
}

/* The last resort: nobody asked for two seconds whether time is up, or nothing goes on. */
static void give_up(enum limit which)
{
    if (!limits.said) {
        put_stderr("datarep: ");
        put_stderr(limits.object);
        put_stderr(*limits.object ? ": " : "");
        put_stderr(which == LIMIT_STALL ? "made no progress in " : "took ");
        put_number(limit_get(which));
        put_stderr(" s of processor time, the limit; --limit ");
        put_stderr(rows[which].name);
        put_stderr("=TIME raises it\n");
    }
    unfinished_remove();
    _exit(TOOL_CORRUPT);
}

static double used_time(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0)
        return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double fmin_of(double a, double b)
{
    return a < b ? a : b;
}

/* Seconds until the work has stood still for too long. */
static double stall_left(double now)
{
    uint64_t beats = atomic_load(&limits.beats);

    if (!limits.watched || limit_get(LIMIT_STALL) == LIMIT_NONE)
        return 1e9;
    if (beats != limits.beats_seen) {
        limits.beats_seen = beats;
        limits.beat_time = now;
    }
    return (double)limit_get(LIMIT_STALL) - (now - limits.beat_time);
}

/* The limit may have grown since the timer was set. */
static void on_alarm(int number)
{
    int saved = errno;
    double now = used_time(), left = (double)limit_get(LIMIT_TIME) - now;
    double stall = stall_left(now);

    (void)number;
    if (stall <= 0)
        give_up(LIMIT_STALL);
    if (left > 0)
        set_timer(fmin_of(left, stall));
    else if (limits.expired)
        give_up(LIMIT_TIME);
    else {
        limits.expired = 1;
        set_timer(GRACE_TIME);
    }
    errno = saved;
}

static void start_timer(void)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGXCPU};

    sigemptyset(&action.sa_mask);
    if ((limit_get(LIMIT_TIME) == LIMIT_NONE && limit_get(LIMIT_STALL) == LIMIT_NONE) ||
        sigaction(SIGXCPU, &action, NULL) != 0)
        return;
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &limits.timer) == 0)
        set_timer(fmin_of((double)limit_get(LIMIT_TIME), stall_left(0)));
}

void limit_copies(unsigned n)
{
    limits.copies = n;
}

void limit_file(uint64_t size)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    limits.files = saturating_add(limits.files, size);
    limits.threads = n > 0 ? (uint64_t)n : 1;
    set_memory();
    if (!limits.started)
        start_timer();
    limits.started = true;
}

void limit_file_named(const char *path)
{
    struct stat st;

    limit_file(stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0);
}

void limit_child(void)
{
    limits.said = false;
    limits.watched = true;
    if (limits.started)
        start_timer();
}

void limit_beat(void)
{
    atomic_fetch_add(&limits.beats, 1);
}

/* --------------------------------------------------------------- the budget */

void limit_object(const char *file, const char *path)
{
    snprintf(limits.object, sizeof limits.object, "%s%s%s", file ? file : "",
             file && path ? ": " : "", path ? path : "");
    utf8_clean(limits.object, sizeof limits.object); /* give_up() prints it as it is */
}

void limit_output(uint64_t bytes)
{
    if (!unfinished_path())
        atomic_fetch_add(&limits.output, bytes);
}

int limit_input(const char *file, uint64_t bytes)
{
    uint64_t most = limit_get(LIMIT_INPUT);

    if (bytes <= most)
        return 0;
    limits.said = true;
    tool_say(file, NULL,
             "more than %" PRIu64
             " bytes come from a pipe, the limit; --limit input=SIZE raises it",
             most);
    return DREP_ERR_LIMIT;
}

int limit_over(void)
{
    const char *object = *limits.object ? limits.object : NULL;

    if (!limits.started || limits.said || limits.spent)
        return limits.said || limits.spent ? DREP_ERR_LIMIT : 0;
    if (!limits.expired && output_now() <= limit_get(LIMIT_OUTPUT))
        return 0;
    limits.said = true;
    if (limits.expired)
        tool_say(object, NULL,
                 "took %" PRIu64 " s of processor time, the limit; --limit time=TIME raises it",
                 limit_get(LIMIT_TIME));
    else
        tool_say(object, NULL,
                 "more than %" PRIu64 " bytes of output, the limit; --limit output=SIZE raises it",
                 limit_get(LIMIT_OUTPUT));
    return DREP_ERR_LIMIT;
}

int limit_stopped(void)
{
    int asked = stop_asked();

    return asked ? asked : limit_over();
}

int limit_end(int status)
{
    return limits.said ? tool_worse(status, TOOL_CORRUPT) : status;
}

static bool memory_is_limited(void)
{
    return limits.started && limit_get(LIMIT_MEMORY) != LIMIT_NONE;
}

void limit_said(int err)
{
    if (err == DREP_ERR_NOMEM && memory_is_limited())
        limits.spent = true;
}

bool limit_spent(int err)
{
    return err == DREP_ERR_NOMEM && limits.spent;
}

const char *limit_advice(int err, const char *message)
{
    static char text[120];
    size_t i;

    if (err == DREP_ERR_NOMEM && memory_is_limited()) {
        snprintf(text, sizeof text, "the limit is %" PRIu64 " bytes, --limit memory=SIZE raises it",
                 limit_get(LIMIT_MEMORY));
        return text;
    }
    for (i = 0; i < LIMITS; i++)
        if (err == DREP_ERR_LIMIT && rows[i].hint && strstr(message, rows[i].hint)) {
            snprintf(text, sizeof text, "--limit %s=%s raises it", rows[i].name,
                     rows[i].unit == SIZE ? "SIZE" : "N");
            return text;
        }
    return NULL;
}
