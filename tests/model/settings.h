/* settings.h - what commit.pml takes from the environment: its settings, and in $TRACE the file
 * with the events of a recorded run, four bytes for each (events.h). */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

static unsigned char setting(const char *name, int otherwise)
{
    const char *value = getenv(name);

    return (unsigned char)(value ? atoi(value) : otherwise);
}

static unsigned char *trace;
static long trace_size, trace_furthest;

/* How far the model could follow the run: printed when the search ends. */
static void trace_report(void)
{
    printf("trace: %ld of %ld events\n", trace_furthest, trace_size / 4);
}

static void trace_load(void)
{
    const char *path = getenv("TRACE");
    FILE *in = path ? fopen(path, "rb") : NULL;

    if (!in || fseek(in, 0, SEEK_END) || (trace_size = ftell(in)) < 0 || fseek(in, 0, SEEK_SET))
        exit(2);
    trace = calloc((size_t)trace_size + 4, 1);
    if (!trace || fread(trace, 1, (size_t)trace_size, in) != (size_t)trace_size)
        exit(2);
    fclose(in);
    atexit(trace_report);
}

/* Event number *at becomes the next one; behind the last one all are END. */
static void trace_next(int *at, unsigned char *kind, unsigned char *by, unsigned char *a,
                       unsigned char *b)
{
    const unsigned char *e;

    if (!trace)
        trace_load();
    e = trace + (4L * *at < trace_size ? 4L * *at : trace_size);
    trace_furthest = *at > trace_furthest ? *at : trace_furthest;
    *kind = e[0];
    *by = e[1];
    *a = e[2];
    *b = e[3];
    *at += 1;
}
