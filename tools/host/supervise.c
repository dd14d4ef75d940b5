/* supervise.c - a child process that does the work, and a parent that waits for it. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/supervise.h"
#include "base/clock.h"
#include "tools/host/exit.h"
#include "tools/host/limit.h"
#include "tools/host/stop.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GRACE_TIME 5 /* seconds that a child has to end when it is asked to */

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

/* The signals that the parent waits for, blocked until then. */
static void block_signals(sigset_t *mine, sigset_t *before)
{
    size_t i;

    sigemptyset(mine);
    sigaddset(mine, SIGCHLD);
    for (i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaddset(mine, ends[i]);
    /* Else there would be nothing to wait for. */
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, mine, before);
}

static supervise_owns_fn *owns_hidden; /* set before the child is made */

/* A child that was led astray may name any file. */
static void remove_hidden(struct supervised *shared)
{
    char name[PATH_MAX];

    memcpy(name, shared->hidden, sizeof name);
    name[sizeof name - 1] = '\0';
    if (owns_hidden(name))
        unlink(name);
}

/* The thread of a child: asks the work to end when the parent has; if it does not, because it
 * hangs, ends it. */
static void *watch_parent(void *arg)
{
    struct supervised *shared = arg;
    char none;

    while (read(shared->parent, &none, 1) < 0 && errno == EINTR)
        ;
    kill(getpid(), SIGTERM);
    sleep(GRACE_TIME);
    remove_hidden(shared);
    _exit(1);
}

void supervise_watch(struct supervised *shared)
{
    sigset_t all, before;
    pthread_t thread;

    if (shared->parent < 0)
        return;
    /* Signals are blocked in that thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (pthread_create(&thread, NULL, watch_parent, shared) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void be_child(supervise_fn *work, void *ctx, struct supervised *shared,
                     const sigset_t *before, const int ends_of[2])
{
    close(ends_of[1]);
    shared->parent = ends_of[0];
    sigprocmask(SIG_SETMASK, before, NULL);
    limit_child();
    exit(work(shared, ctx));
}

static int is_ignored(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Waits for the child; *asked is the last signal that asked for an end. */
static int wait_for(pid_t child, const sigset_t *mine, int *asked)
{
    struct timespec second = {.tv_sec = 1};
    double deadline = 0;
    siginfo_t info;
    int status, number;

    for (;;) {
        pid_t got = waitpid(child, &status, WNOHANG);

        if (got == child)
            return status;
        if (got < 0 && errno != EINTR)
            return 0;
        number = sigtimedwait(mine, &info, &second);
        if (deadline > 0 && now_seconds() > deadline)
            kill(child, SIGKILL);
        if (number <= 0 || number == SIGCHLD || is_ignored(number))
            continue;
        *asked = number;
        deadline = now_seconds() + GRACE_TIME;
        /* The terminal has told the child itself. */
        if (info.si_code != SI_KERNEL)
            kill(child, number);
    }
}

int supervise(supervise_fn *work, void *ctx, supervise_owns_fn *owns, int *died, char *object,
              size_t object_size)
{
    struct supervised *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct supervised own = {.parent = -1};
    sigset_t mine, before;
    pid_t child;
    int status, pipe_ends[2], asked = 0;

    *died = 0;
    owns_hidden = owns;
    if (shared == MAP_FAILED)
        return work(&own, ctx);
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        munmap(shared, sizeof *shared);
        return work(&own, ctx);
    }
    block_signals(&mine, &before);
    fflush(NULL);
    child = fork();
    if (child == 0)
        be_child(work, ctx, shared, &before, pipe_ends);
    close(pipe_ends[0]);
    if (child < 0) {
        close(pipe_ends[1]);
        sigprocmask(SIG_SETMASK, &before, NULL);
        shared->parent = -1;
        status = work(shared, ctx);
        munmap(shared, sizeof *shared);
        return status;
    }
    status = wait_for(child, &mine, &asked);
    close(pipe_ends[1]);
    /* A child that ended as it should has cleared it. */
    remove_hidden(shared);
    if (object)
        snprintf(object, object_size, "%.*s", (int)sizeof shared->object - 1, shared->object);
    munmap(shared, sizeof *shared);
    sigprocmask(SIG_SETMASK, &before, NULL);
    /* The signal ends us too, once the caller has taken away what it made. */
    if (asked && WIFSIGNALED(status)) {
        stop_note(asked);
        return TOOL_IO;
    }
    *died = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
