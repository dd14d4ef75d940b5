/* each.c - preloaded into a program of netCDF, runs it once for each file that standard input
 * names.
 *
 * The program is loaded once, with its libraries and those of a sanitizer, and nc_initialize() is
 * called; each file is the last argument of main() in a forked child, whose standard output is
 * dropped.  The parent prints a line
 * for each: the file, the exit status or -signal, and the child's peak of memory in KiB.  What the
 * child says on standard error stands before it. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 60 /* of one file */

typedef int main_fn(int argc, char **argv, char **environment);
typedef int start_fn(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                     void (*end)(void), void *stack);
start_fn __libc_start_main;

static main_fn *program;

static void child(int argc, char **argv, char **environment)
{
    int null = open("/dev/null", O_RDWR);

    if (null < 0)
        _exit(98);
    dup2(null, 0);
    dup2(null, 1);
    alarm(SECONDS);
    exit(program(argc, argv, environment));
}

static int each(int argc, char **argv, char **environment)
{
    int (*initialize)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "nc_initialize");
    char path[4096];

    if (initialize)
        initialize();
    while (fgets(path, sizeof path, stdin)) {
        struct rusage used;
        int status;
        pid_t pid;

        path[strcspn(path, "\n")] = 0;
        argv[argc - 1] = path;
        fflush(stdout);
        pid = fork();
        if (pid == 0)
            child(argc, argv, environment);
        if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
            return 97;
        printf("%s %d %ld\n", path, WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status),
               used.ru_maxrss);
    }
    return 0;
}

int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*end)(void), void *stack)
{
    start_fn *next = (start_fn *)dlsym(RTLD_NEXT, "__libc_start_main");

    program = main;
    return next(argc > 1 ? each : main, argc, argv, init, fini, end, stack);
}
