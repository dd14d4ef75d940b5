/* outfile.h - a file that appears at its place when it is whole.
 *
 * Until then it has a hidden name beside it; what is not whole goes away, also when a signal
 * ends the process.  Its bytes and its name are on the disk when it is closed.  Standard
 * output, devices and pipes are written as they are.
 *
 * Symbolic links are followed, to what they name even if that is not there yet.  A file that is
 * replaced hands down its permissions, its access control list and user's attributes, and, as
 * far as the process may, its owner and group; whoever cannot be given what they had gets
 * nothing more than others have.  A new file has the permissions that the umask leaves it. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_OUTFILE_H
#define TOOLS_HOST_OUTFILE_H

#include <limits.h>
#include <stdbool.h>

struct outfile {
    const char *path;      /* as it was named; "-": standard output */
    char place[PATH_MAX];  /* behind symbolic links */
    char hidden[PATH_MAX]; /* "" where it is written in its place */
    int fd;
    bool excl; /* fail if there is such a file */
};

/* From now on no new file of this process can be read by anybody who cannot read `source`,
 * which it is made from.  "-" and what is no file changes nothing. */
void outfile_from(const char *source);
/* The gate of every subcommand that makes a file: a file with contents is replaced only if `force`.
 * 0: `path` may be made, and *excl, which may be set before, says that none may be there when the
 * new file gets its name.  Else an exit code, after naming what would allow it: --force, and
 * `also`, NULL or the words for other options. */
int outfile_permit(const char *path, bool *excl, bool force, const char *also);
/* True if both names lead to one file. */
bool outfile_same(const char *a, const char *b);
/* 0, or an exit code after saying.  regular: devices and pipes will not do. */
int outfile_open(struct outfile *out, const char *path, bool excl);
int outfile_open_regular(struct outfile *out, const char *path, bool excl);
/* True if the path ends in a hidden name as outfile_open() makes them. */
bool outfile_is_hidden(const char *path);
/* Closes; with `whole` moves it to its place.  An exit code. */
int outfile_close(struct outfile *out, bool whole);

#endif
