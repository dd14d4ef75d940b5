/* stop.c - signals that ask for an end. */
#include "stop.h"
#include <signal.h>
#include <stddef.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t came;

static void note(int number)
{
    came = number;
}

void stop_catch(void)
{
    /* Calls go on where they were; the next of the same kind finds the default. */
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    struct sigaction before;
    size_t i;

    sigemptyset(&action.sa_mask);
    for (i = 0; i < sizeof signals / sizeof *signals; i++)
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
