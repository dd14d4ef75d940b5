/* pager.c - long output on a terminal, a screen at a time. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager; /* 0: there is none */

/* The words of the shell that show the output; NULL: nobody does. */
static const char *pager_words(void)
{
    const char *words = getenv("DATAREP_PAGER"), *term = getenv("TERM");

    if (!words)
        words = getenv("PAGER");
    if (!words)
        words = term && strcmp(term, "dumb") != 0
                    ? "command -v less > /dev/null && exec less; exec cat"
                    : "";
    return !*words || strcmp(words, "cat") == 0 ? NULL : words;
}

static void become_pager(int from, const char *words)
{
    dup2(from, STDIN_FILENO);
    close(from);
    setenv("LESS", "FRX", 0); /* what fits is shown at once; with colours; it stays on the screen */
    signal(SIGPIPE, SIG_DFL);
    execl("/bin/sh", "sh", "-c", words, (char *)NULL);
    _exit(127);
}

void pager_begin(void)
{
    const char *words = isatty(STDOUT_FILENO) ? pager_words() : NULL;
    int ends[2];

    if (!words || pipe(ends))
        return;
    fflush(NULL);
    pager = fork();
    if (pager == 0) {
        close(ends[1]);
        become_pager(ends[0], words);
    }
    if (pager > 0) {
        dup2(ends[1], STDOUT_FILENO);
        /* The terminal is the pager's: Ctrl-C is for it, and its end ends what is still written. */
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
    }
    close(ends[0]);
    close(ends[1]);
}

void pager_end(void)
{
    if (pager <= 0)
        return;
    fflush(stdout);
    close(STDOUT_FILENO);
    while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
        ;
}
