/* io.h - the interface of drivers: bytes at offsets.
 *
 * Offsets are explicit; a driver holds no position. Every function returns 0 or an error code
 * with a message that names the path and the byte. Reads and writes are whole: short ones and
 * EINTR are the driver's business. Reading beyond the end is DREP_ERR_TRUNCATE. read_at and
 * write_at may be called from many threads at once for disjoint bytes, but not beside any other
 * function. */
/* SPDX-License-Identifier: MIT */
#ifndef IO_IO_H
#define IO_IO_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct io;
/* Types of datarep.h: the functions and the hints of a program. */
typedef struct drep_driver drep_driver;
typedef struct drep_info drep_info;

/* Bytes to read, and where to. */
struct io_range {
    uint64_t offset; /* in the file */
    size_t size;
    void *buf;
};

#define IO_SHIFT_MAX 64

struct io_ops {
    int (*read_at)(struct io *io, void *buf, size_t size, uint64_t offset);
    /* Read several ranges, ascending and disjoint, in as few round trips as the driver can (NULL:
     * one read_at() for each). After an error some of the buffers may be filled. */
    int (*read_many)(struct io *io, const struct io_range *range, size_t n);
    /* How many bytes further up, at most IO_SHIFT_MAX, these would be read faster: whoever moves
     * them afterwards anyway can have them there (NULL: nowhere). */
    size_t (*shift)(const void *buf, size_t size, uint64_t offset);
    int (*write_at)(struct io *io, const void *buf, size_t size, uint64_t offset);
    /* All of these bytes, many, will be written soon: space may be taken for them at once (NULL: of
     * no use). */
    void (*room)(struct io *io, uint64_t offset, uint64_t size);
    int (*size)(struct io *io, uint64_t *size);
    /* When the bytes were changed last, in seconds since 1970 (NULL: unknown). */
    int (*changed)(struct io *io, int64_t *time);
    int (*truncate)(struct io *io, uint64_t size); /* also grows, sparse */
    int (*sync)(struct io *io);                    /* data and size durable */
    /* Lock bytes, all or none; how: 0 release, 1 shared, 2 exclusive. Never waits:
     * DREP_ERR_FILE_IN_USE. Any other failure is DREP_ERR_UNSUPPORTED_OPERATION: there are no
     * locks.  An exclusive lock of the writer's byte (HIDDEN_LOCK) of a file that has no name yet
     * also locks the file that publish will replace, whichever that is by then.  The writer's byte
     * is the last one of its range: the message says so if others hold those before it alone.
     * probe: 1 if another process holds the lock.  A driver without `where` has no ranks, and is
     * asked for single bytes. */
    int (*lock)(struct io *io, uint64_t first, uint64_t count, int how);
    int (*probe)(struct io *io, uint64_t first, uint64_t count, int *held);
    /* probe(), and which byte of them another process holds, if one does (NULL: unknown). */
    int (*probe_at)(struct io *io, uint64_t first, uint64_t count, int *held, uint64_t *at);
    /* Wait `ns` nanoseconds for a lock that another process has, or less: until a writer closes the
     * file, as far as the system tells (NULL: the driver knows of no writers). */
    void (*pause)(struct io *io, int64_t ns);
    /* Lock bytes for writing, and wait for who has them (how: 2), or unlock them (0).  Without a
     * message: there are no locks here (NULL: likewise). */
    int (*lock_bytes)(struct io *io, uint64_t offset, uint64_t size, int how);
    /* Rename the file to its final name, replacing an old one (NULL: nothing to do); sync: the
     * name is durable too. *visible: it has the name, even if making that durable failed. */
    int (*publish)(struct io *io, int sync, int *visible);
    /* DREP_ERR_STALE if the file has lost its name: it was removed, or replaced (NULL: cannot
     * happen). A file that was moved, or has another name left, has not. *size: its length, where
     * that was seen on the way, else as it was. */
    int (*named)(struct io *io, uint64_t *size);
    /* Maps a range read-only (NULL: cannot); *base is the start of the range.  A mapping
     * outlives the io: unmap takes none. */
    int (*map)(struct io *io, uint64_t offset, size_t size, void **base, void **handle);
    void (*unmap)(void *handle, size_t size);
    void (*close)(struct io *io); /* gives its locks up */
    /* close() in a child process, for files opened before the fork: locks and files belong to
     * the parent and stay (NULL: close() leaves them alone). */
    void (*leave)(struct io *io);
    /* In a child process: open the same file again, for reading (NULL: cannot). */
    int (*reopen)(struct io *io, struct io **out);
    /* Bytes before `upto` will neither change nor be read again: a stream may send them (NULL: it
     * is no stream, and bytes may change at any time). */
    int (*settle)(struct io *io, uint64_t upto);
    /* How the file will be read from now on, IO_..., for the system's read-ahead (NULL: of no
     * use). */
    void (*advise)(struct io *io, int pattern);
    /* The absolute path under which another process of this machine, or of one that mounts the same
     * file system, can open the file now; the caller frees it (NULL: there is none). */
    int (*where)(struct io *io, char **path);
    /* Make a second, nameless file on the same storage, deleted when it is closed (NULL:
     * cannot). */
    int (*apart)(struct io *io, struct io **out);
};

struct io {
    const struct io_ops *ops;
    char *path; /* for messages */
    /* What the driver says of itself. */
    size_t first;        /* bytes to read first, at byte 0; less than both slots: these alone */
    uint64_t round_trip; /* what one costs, in the bytes that could be moved meanwhile; 0: nothing
                            that reading ahead would save */
};

/* DREP_ERR_FILE_IN_USE, with the message: another handle writes; or ranks of one that is gone do.
 */
int io_in_use(const struct io *io);
int io_ranks_left(const struct io *io);

/* Read several ranges by read_many() or, where the driver has none, one by one. */
int io_read_many(struct io *io, const struct io_range *range, size_t n);

enum io_pattern { IO_NORMAL, IO_SEQUENTIAL, IO_RANDOM };

enum io_mode { IO_READ, IO_WRITE, IO_RAW, IO_CREATE };

/* posix: IO_RAW is IO_WRITE that makes the file if it is missing, with permissions `perm`
 * (excl: it must be missing).  IO_CREATE makes a temporary file beside `path`, with the permissions
 * and, as far as that is allowed, the owner of the file that it will replace, else with
 * permissions `perm` (umask applies); publish renames it and syncs the directory; close before
 * publish removes it.  excl: publish fails with DREP_ERR_FILE_EXISTS if `path` exists. */
int io_posix(const char *path, enum io_mode mode, int excl, unsigned perm, struct io **out);
/* posix, IO_READ or IO_WRITE, for a file that another process makes or writes and that a network
 * file system shows late: opening a missing name or a stale handle and reading past the end are
 * tried again for up to patience_ns nanoseconds. */
int io_posix_patient(const char *path, enum io_mode mode, int64_t patience_ns, struct io **out);
/* posix, of a regular file that is open: a duplicate of `fd`, which stays the caller's; `name` is
 * for messages, NULL: "(descriptor)".  DREP_ERR_ARG (not open, or not open for that),
 * DREP_ERR_ACCESS (not a regular file). */
int io_descriptor(int fd, const char *name, bool writes, struct io **out);
/* Open the directory of the file at `path`, after following symbolic links: a descriptor. */
int io_directory(const char *path, int *dir);
/* Open a regular file in or below a directory, for reading. `name` is a relative path without
 * ".." and symbolic links (DREP_ERR_ACCESS); `of` is the path of the file that names it, whose
 * directory messages show. *inner is a descriptor of the file's own directory. */
int io_beside(int dir, const char *name, const char *of, struct io **out, int *inner);
/* A nameless file in $TMPDIR or /tmp, deleted when it is closed; `path` is for messages. */
int io_temporary(const char *path, struct io **out);
/* stream: what is settled is written to the descriptor, in order; it stays open. `name` is for
 * messages.  Bytes that have left can neither be written nor read. */
int io_stream(int fd, const char *name, struct io **out);
/* Likewise to a driver, which gets write_at() in order and sync() at the end, and is closed with
 * the stream, also when this fails. */
int io_stream_to(struct io *to, struct io **out);
/* driver: behind a program's functions, which are complete; `state` is closed when this fails. */
int io_driver(const drep_driver *driver, void *state, const char *name, struct io **out);
/* url: a file behind a URL (base/url.h), for reading; by_file: another file names it, so that no
 * credentials are sent and no private address is reached.  Messages have the URL as url_shown()
 * does.  DREP_ERR_UNSUPPORTED (the module for URLs is not installed), DREP_ERR_NO_SUCH_FILE,
 * DREP_ERR_ACCESS, DREP_ERR_TIMEOUT, DREP_ERR_ARG (no valid URL), DREP_ERR_LIMIT, DREP_ERR_IO. */
int io_url(const char *url, bool by_file, const drep_info *info, struct io **out);
/* Likewise, for the path `name` in a file whose URL is `of`: it must lead beneath the folder of
 * that URL, else DREP_ERR_ACCESS.  *url, unless NULL, is the URL that was opened, for mem_free().
 */
int io_url_beneath(const char *of, const char *name, const drep_info *info, struct io **out,
                   char **url);
/* A new file behind a URL, which is written as a stream: it is there when sync has succeeded, and
 * replaces what was there; excl: DREP_ERR_FILE_EXISTS if anything was.  The errors of io_url(). */
int io_url_new(const char *url, bool excl, const drep_info *info, struct io **out);
/* routed: read and write by the functions of a driver; where these give
 * DREP_ERR_UNSUPPORTED_OPERATION, by those of `base`, which stays the caller's; `state` is closed
 * when this fails.  Has read_at, write_at and close alone, so it serves as a store's `payload` and
 * not as its file. */
int io_routed(struct io *base, const drep_driver *driver, void *state, struct io **out);
/* private: bytes below IO_PRIVATE are those of `base`, and writing them is
 * DREP_ERR_UNSUPPORTED_OPERATION; bytes from there on are in a nameless file of its own, made when
 * it is needed.  Takes no locks.  Owns `base` when this succeeds. */
#define IO_PRIVATE ((uint64_t)1 << 60)
int io_private(struct io *base, struct io **out);
/* The file itself, for callers that may write to it. */
struct io *io_private_base(struct io *own);
/* memory: empty and growing, or (image not NULL) a read-only view of it. */
int io_memory(const void *image, size_t size, struct io **out);

#endif
