/* watch.c - waking up when a writer of a file closes it. */
/* SPDX-License-Identifier: MIT */
#include "io/watch.h"

#include <limits.h>
#include <poll.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

int watch_open(const char *path)
{
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

    if (watch >= 0 && inotify_add_watch(watch, path, IN_CLOSE_WRITE) < 0) {
        close(watch);
        return -1;
    }
    return watch;
}

void watch_pause(int watch, int64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    struct pollfd p = {.fd = watch, .events = POLLIN}; /* a negative one is passed over */
    char events[sizeof(struct inotify_event) + NAME_MAX + 1];

    if (ppoll(&p, 1, &t, NULL) > 0)
        (void)!read(watch, events, sizeof(events)); /* equal ones are told once */
}
