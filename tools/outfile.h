/* outfile.h - a file that appears at its place when it is whole.
 *
 * Until then it has a hidden name beside it; what is not whole goes away.  Standard output,
 * devices and pipes are written as they are. */
#ifndef TOOLS_OUTFILE_H
#define TOOLS_OUTFILE_H

#include <limits.h>
#include <stdbool.h>

struct outfile {
    const char *path;          /* "-": standard output */
    char hidden[PATH_MAX + 8]; /* "" where it is written in its place */
    int fd;
    bool excl; /* fail if there is such a file */
};

/* 0, or an exit code after saying. */
int outfile_open(struct outfile *out, const char *path, bool excl);
/* Closes; with `whole` moves it to its place.  An exit code. */
int outfile_close(struct outfile *out, bool whole);

#endif
