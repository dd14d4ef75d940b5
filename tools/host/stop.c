/* stop.c - signals that ask for an end. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/stop.h"
#include "tools/host/unfinished.h"
#include <signal.h>
#include <stddef.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };
static volatile sig_atomic_t came, seen[SIGNALS];

/* The first of a kind asks for an end, the second one is the end. */
static void note_signal(int number)
{
    size_t i = 0;

    while (i < SIGNALS - 1 && signals[i] != number)
        i++;
    came = number;
    if (seen[i]) {
        unfinished_remove();
        signal(number, SIG_DFL);
        raise(number); /* comes when this function has returned */
    }
    seen[i] = 1;
}

void stop_catch(void)
{
    /* Calls go on where they were. */
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    struct sigaction before;
    size_t i;

    sigemptyset(&action.sa_mask);
    for (i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

int stop_asked(void)
{
    return came;
}

void stop_note(int number)
{
    came = number;
}

void stop_now(void)
{
    sigset_t one;

    if (!came)
        return;
    signal(came, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, came);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(came);
}
