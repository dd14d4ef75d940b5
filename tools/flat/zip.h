/* zip.h - zip archives, of which .npz files are a kind.
 *
 * libzip brings a library of ciphers along, so it is in a module, datarep-zip.so, loaded by
 * these functions alone.  They give an exit code after saying what is wrong. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_ZIP_H
#define TOOLS_FLAT_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The interface between the command and the module. */
#define DATAREP_ZIP_INTERFACE 2
enum { ZIP_WHY = 256 }; /* bytes of a message */

/* A member of an archive, read into a file without a name; an exit code. */
typedef int zip_member_fn(void *ctx, const char *name, int fd);
/* Calls fn for each member in the order of the archive, until it gives something else
 * than 0. */
int zip_each(const char *file, int fd, zip_member_fn *fn, void *ctx);

/* A member to be written: gives its next bytes, 0 at its end, -1 after a failure that was
 * said. */
struct zip_input {
    const char *name;
    ssize_t (*begin)(void *ctx); /* before the first byte; 0, or -1 */
    ssize_t (*read)(void *ctx, void *buf, size_t size);
    void *ctx;
};
/* Makes an archive of n members, which are read one after the other. */
int zip_make(const char *file, const char *path, const struct zip_input *inputs, size_t n);

/* The module's side: 0, 1 after filling `why`, or -1 after what fn or an input has said. */
/* Told of bytes that were unpacked; non-zero, after saying why, ends the work. */
typedef int zip_unpacked_fn(size_t size);
typedef int datarep_zip_each_fn(int fd, zip_member_fn *fn, zip_unpacked_fn *unpacked, void *ctx,
                                int *status, char *why);
typedef int datarep_zip_make_fn(const char *path, const struct zip_input *inputs, size_t n,
                                char *why);
datarep_zip_each_fn datarep_zip_each;
datarep_zip_make_fn datarep_zip_make;
int datarep_zip_interface(void);

#endif
