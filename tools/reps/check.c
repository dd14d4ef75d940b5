/* check.c - runs the checks of a data representation, and prints what came of them.
 *
 * One child process a check: it may crash or hang and is then only one failed check. */
/* SPDX-License-Identifier: MIT */
#include "tools/reps/check.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/reps/guarded.h"
#include "tools/reps/suite.h"
#include "tools/text/sink.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 10 };

/* ------------------------------------------------------------ in the child */

/* The handler needs it, and nobody else. */
static struct findings *crashing;

static void crashed(int number, siginfo_t *info, void *context)
{
    char text[120];
    const char *fault = guarded_fault(info->si_addr, text);

    (void)context;
    if (fault)
        snprintf(crashing->why, sizeof crashing->why, "%s", fault);
    /* SA_RESETHAND: this time it kills. */
    raise(number);
}

static void catch_crashes(struct findings *findings)
{
    static char stack[64 * 1024];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = crashed,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};

    crashing = findings;
    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

static void ask(struct subject *s)
{
    int code;

    snprintf(s->findings->doing, sizeof s->findings->doing, "the extent function");
    for (code = 1; code <= DREP_CODE_MAX; code++) {
        int64_t extent = 0;

        if (s->native[code].size == 0 ||
            s->rep.extent(drep_predefined(code), &extent, s->rep.extra_state) != 0)
            continue;
        if (extent >= 1 && extent <= ITEM_MAX)
            s->extent[code] = extent;
    }
    s->findings->doing[0] = '\0';
}

static void child(struct subject *s, const struct rep_check *check)
{
    const struct rlimit none = {0, 0};
    int code, held = 0, nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    setrlimit(RLIMIT_CORE, &none);
    /* The output of a crash is not for our reader. */
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    catch_crashes(s->findings);
    ask(s);
    for (code = 1; code <= DREP_CODE_MAX; code++)
        held += s->extent[code] > 0;
    if (held > 0 || check == reps_checks)
        check->run(s);
    else
        reject(s, "there is nothing to check: no datatype is held");
    s->findings->finished = true;
    _exit(0);
}

/* ----------------------------------------------------------- in the parent */

static const char *signal_name(int number)
{
    switch (number) {
    case SIGSEGV:
        return "SIGSEGV";
    case SIGBUS:
        return "SIGBUS";
    case SIGABRT:
        return "SIGABRT";
    case SIGFPE:
        return "SIGFPE";
    case SIGILL:
        return "SIGILL";
    default:
        return strsignal(number);
    }
}

/* Report how the child ended when it did not finish. */
static void judge(struct subject *s, bool hung, int status)
{
    struct findings *f = s->findings;
    char detail[sizeof f->doing + sizeof f->why], text[64];

    if (!hung && f->finished)
        return;
    snprintf(detail, sizeof detail, "%s%s%s", f->doing, f->doing[0] && f->why[0] ? " " : "",
             f->why);
    if (hung)
        snprintf(text, sizeof text, "hung: more than %d s", SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "crashed: %s", signal_name(WTERMSIG(status)));
    else
        snprintf(text, sizeof text, "ended the process with status %d", WEXITSTATUS(status));
    snprintf(f->why, sizeof f->why, "%.60s%s%.500s%s", text, detail[0] ? " (" : "", detail,
             detail[0] ? ")" : "");
}

/* Runs one check; false where no process can be made. */
static bool run(struct subject *s, const struct rep_check *check)
{
    struct pollfd end;
    int pipes[2], status = 0, ready;
    pid_t pid;

    memset(s->findings, 0, sizeof *s->findings);
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return false;
    pid = fork();
    if (pid == 0) {
        close(pipes[0]);
        child(s, check);
    }
    close(pipes[1]);
    if (pid < 0) {
        close(pipes[0]);
        return false;
    }
    /* The pipe closes when the child is gone. */
    end = (struct pollfd){.fd = pipes[0], .events = POLLIN};
    do
        ready = poll(&end, 1, SECONDS * 1000);
    while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        kill(pid, SIGKILL);
    close(pipes[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    judge(s, ready <= 0, status);
    return true;
}

/* --------------------------------------------------------------- reporting */

struct check_report {
    struct sink sink;
    bool json;
    int checked, status;
};

static void put_check(struct check_report *r, const struct rep_check *check, const char *why,
                      bool first)
{
    struct sink *s = &r->sink;

    if (!r->json) {
        sink_format(s, "  %s: %s%s\n", check->name, why[0] ? "FAILED: " : "ok", why);
        return;
    }
    sink_format(s, "%s\n  {\"check\": \"%s\", \"about\": \"%s\", \"ok\": %s", first ? "" : ",",
                check->name, check->about, why[0] ? "false" : "true");
    if (why[0]) {
        sink_text(s, ", \"why\": ");
        sink_quoted(s, why, strlen(why));
    }
    sink_char(s, '}');
}

static void put_begin(struct check_report *r, const char *name)
{
    struct sink *s = &r->sink;

    if (!r->json) {
        sink_name(s, name);
        sink_text(s, "\n");
        return;
    }
    sink_text(s, r->checked ? ",\n {\"name\": " : "\n {\"name\": ");
    sink_quoted(s, name, strlen(name));
    sink_text(s, ", \"checks\": [");
}

static int natives(struct subject *s)
{
    drep_encoding rows[DREP_CODE_MAX];
    int i, n, err = drep_datarep_table("native", rows, DREP_CODE_MAX, &n);

    for (i = 0; !err && i < n && i < DREP_CODE_MAX; i++)
        s->native[rows[i].code] = rows[i];
    return err;
}

static int check_one(struct check_report *r, const char *name, struct findings *findings)
{
    struct subject s = {.name = name, .findings = findings, .rep = DREP_DATAREP};
    const struct rep_check *check;
    int err = drep_datarep_get(name, &s.rep), failed = 0;

    if (!err)
        err = natives(&s);
    if (err)
        return tool_fail(NULL, NULL, err);
    put_begin(r, name);
    for (check = reps_checks; check->name; check++) {
        if (!run(&s, check)) {
            tool_say(NULL, NULL, "no process for a check: %s", strerror(errno));
            return TOOL_IO;
        }
        put_check(r, check, findings->why, check == reps_checks);
        failed += findings->why[0] != '\0';
    }
    if (r->json)
        sink_format(&r->sink, "\n ], \"ok\": %s}", failed ? "false" : "true");
    r->checked++;
    return failed ? TOOL_DIFFERS : TOOL_FINE;
}

int reps_check(char **names, int n, bool json)
{
    struct check_report r = {.json = json};
    struct findings *findings =
        mmap(NULL, sizeof *findings, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int i;

    if (findings == MAP_FAILED || sink_init(&r.sink, STDOUT_FILENO)) {
        return tool_no_memory();
    }
    if (json)
        sink_text(&r.sink, "{\"version\": 1, \"datareps\": [");
    for (i = 0; i < n; i++)
        r.status = tool_worse(r.status, check_one(&r, names[i], findings));
    if (json)
        sink_text(&r.sink, r.checked ? "\n]}\n" : "]}\n");
    munmap(findings, sizeof *findings);
    if (r.checked == 0 && r.status) {
        sink_release(&r.sink);
        return r.status;
    }
    return tool_worse(r.status, sink_close(&r.sink));
}
