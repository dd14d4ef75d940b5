/* pager.c - long output on a terminal, a screen at a time. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/pager.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager;

/* True if PATH has a program of this name. */
static bool is_program(const char *name)
{
    const char *path = getenv("PATH");
    char file[4096];

    while (path && *path) {
        size_t n = strcspn(path, ":");

        if (n > 0 && n + strlen(name) + 2 < sizeof file) {
            snprintf(file, sizeof file, "%.*s/%s", (int)n, path, name);
            if (access(file, X_OK) == 0)
                return true;
        }
        path += n + (path[n] == ':');
    }
    return false;
}

/* The words of the shell that show the output; NULL: nobody does. */
static const char *pager_words(void)
{
    const char *words = getenv("DATAREP_PAGER"), *term = getenv("TERM");

    if (!words)
        words = getenv("PAGER");
    if (!words)
        words = term && strcmp(term, "dumb") != 0 && is_program("less") ? "less" : "";
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

bool pager_begin(void)
{
    const char *words = isatty(STDOUT_FILENO) ? pager_words() : NULL;
    int ends[2];

    if (!words || pipe(ends))
        return false;
    fflush(NULL);
    pager = fork();
    if (pager == 0) {
        close(ends[1]);
        become_pager(ends[0], words);
    }
    if (pager > 0)
        dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    if (pager < 0)
        return false;
    /* The terminal is the pager's: Ctrl-C is for it, and its end ends what is still written. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    return true;
}

void pager_end(bool begun)
{
    if (!begun)
        return;
    fflush(stdout);
    close(STDOUT_FILENO);
    while (waitpid(pager, NULL, 0) < 0)
        ;
}
