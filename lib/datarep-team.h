/* datarep-team.h - one container that many processes share, whatever carries their messages.
 *
 * A team is a number of ranks, each a process or a thread, that run the same program.  A transport
 * moves messages between two of them; everything else (agreement, gathering, two-phase transfers,
 * commits) is built on it in the library.  Programs under MPI use <datarep-mpi.h>, which is such a
 * transport.
 *
 * A program of four ranks:
 *
 *     drep_transport transport = DREP_TRANSPORT(.rank = rank, .ranks = 4, .send = send,
 *                                               .receive = receive);
 *     drep_team_create(&transport, ctx, "run.drep", DREP_RDWR, "external32", NULL, &file);
 *     drep_dataset_create(file, "/p", &spec, &p);
 *     drep_write_box(p, start, count, DREP_DOUBLE, mine, &DREP_XFER(.collective = 1));
 *     drep_close(file);
 *
 * The file is the one that a single process would have written, byte for byte, if it had made the
 * same calls with one write of all elements; however many ranks there are, and whoever has what.
 * Only its UUID and the times of commits differ, which the hints drep_uuid and drep_time fix.
 * The content is the same, but not the bytes, where a rank writes alone, and where all make more
 * metadata between two collective calls than rank 0 has room for: 12 MiB of entries; of values of
 * more than 2 KiB each (attributes, fill values), which have space of their own, 64 KiB or an
 * eighth of the file, whichever is more, up to 64 MiB.  (Where points name an element of variable
 * length twice, the first content leaves no trace in the file; one process may leave it in the
 * chunk as waste.)
 *
 * Collective calls.  On a file of a team all ranks make these in the same order:
 * drep_team_create(), drep_team_open(), drep_commit(), drep_close(), and transfers with
 * DREP_XFER(.collective = 1).  A rank that is in another call, gives other arguments, fails or is
 * absent is an error on all ranks, which names it, the call and the argument.  Without a dataset
 * (NULL, or closed) a rank takes part, with that error, if its thread, or else its process, has one
 * file open that ranks share; if it has several, the others hear of it in its next call.  A rank
 * that has
 * nothing to transfer takes part with a box of no elements, or drep_select_points() of no points.
 *
 * Local calls.  All others are a rank's own until drep_commit().
 *
 * Groups, datasets, dimensions, attributes, links, shapes and compact datasets: each rank makes
 * changes of its own, which the others see after the commit.  What counts is the state that each
 * rank has come to.
 * The file is then the one that a single process makes with the changes of rank 0, then those of
 * rank 1, and so on; where all make the same changes in the same order, byte for byte.  An object
 * that several ranks make at one path with one spec is one object.  Of the sizes that ranks give to
 * a dataset the largest counts, if all are larger than before; of a new dataset, for which maxdims
 * are equal, the largest that a rank has made it with or let it grow to, unless a rank has made it
 * smaller: that is DREP_ERR_NOT_SAME.
 *
 * The names of dimensions (dim_names) lead to what the rank itself knows when it makes the dataset.
 * Where a name leads to nothing there, so that the dataset makes the dimension, but another rank
 * has created one of that name in the same group, or a lower rank one in a group above, the dataset
 * has that one after the commit; it must hold the dataset's length.  One that a higher rank has
 * made in a group above is not looked for.  A dimension that datasets of several ranks alone have
 * made in one group has the greatest of their lengths, and is unlimited if one of them may grow so.
 * A rank that fixes a dimension (drep_dimension_set_unlimited()) fixes what lower ranks have along
 * it, too, but not what it makes along it later itself; if a higher rank lets the dimension or a
 * dataset along it grow, that is DREP_ERR_NOT_SAME.
 *
 * Of a compact dataset each element counts that a rank has written alone, also if it was written
 * with the value that it had; ranks may write the same element if they give it the same value.
 *
 * DREP_ERR_NOT_SAME at the commit: two ranks have made different objects at one path, have given an
 * attribute two values or a compact dataset's element two values, or one has removed or moved what
 * another has changed.  The message names the object and both ranks; nothing is committed, and each
 * rank may change what it did and commit again.
 *
 * Until the commit, the id of an object that a rank has made is its own, and another one after it;
 * handles and references in attributes follow.  References as elements do not: those of a rank
 * other than 0 to such an object are DREP_ERR_NOT_COMMITTED.
 *
 * Some members of structs.  Ranks that write together need not name the same members, and two may
 * write different ones of an element; a member that two write is DREP_ERR_NOT_SAME.  The file is
 * that of a process which makes a call for each choice of members, in the order of the first ranks
 * that made it; of a compact dataset with several choices, the content is the same.  What one rank
 * has written alone counts by elements, whichever members it named: no other may write members of
 * that element alone before the commit.  Members that nobody has written stay as they were.
 *
 * drep_write() without .collective writes chunks of which the rank has all elements at once,
 * encoded, to space of its own that needs no message: free space of the last commit, dealt when the
 * file is opened and at each commit, to each rank by what it used before, then new space.  What it
 * does not fill is free after the commit, so that repeated rewrites take three times the data, as
 * those of one process do.  Other elements, all of a contiguous dataset, and what has variable
 * length stay in memory.  The commit, or a collective write to the same dataset, brings those of
 * all ranks together.  A rank may write an element again; one that two ranks have written is
 * DREP_ERR_NOT_SAME, which names the chunk and the ranks.  Each chunk is brought together, encoded
 * and written by one of the ranks that have written to it, mostly the one that has most of it,
 * which reads what the file has of the rest; of contiguous datasets, and of plain chunks of more
 * than 16 MiB, the blocks of 4 KiB that change.  A collective write is brought together likewise.
 * By rank 0 come parts of chunks that are filtered or have elements of variable length, of
 * unfiltered datasets that grow, of more than 65,536 points or of points that are named twice, and
 * of several choices of members.
 *
 * Memory of a collective write: the elements of the caller, the chunks that the rank encodes, until
 * they have places in the file, and what it sends and gets of elements, at most cb_buffer_size
 * bytes each at a time (the smallest of the ranks' values; a chunk that has more comes alone;
 * contents of variable length are not counted).  With the hint drep_mpi_window=BYTES, which rank 0
 * gives for all when the file is made or opened, filtered chunks come BYTES of the dataset at a
 * time, and are in the file before the next ones are encoded.  Neither changes the file of a
 * collective write.  More than 65,536 points, points that are named twice, and several choices of
 * members travel, and wait, all at once; collective_buffering=false lifts the bound of what
 * travels.
 *
 * With the hint drep_overlap=last, which rank 0 gives for all when the file is made or opened, an
 * element that several ranks have written is no error, nor is one that several write together: that
 * of the highest rank counts; of members, those that it has named.  (Where ranks write to a compact
 * dataset alone, whole elements count.)  The file of a collective write in which the boxes that
 * surround what two ranks write overlap has then the same content as that of one process; where
 * none overlap, the same bytes.
 *
 * drep_read() and drep_read_box() with .collective = 1 see all that was written, committed or not,
 * by whichever rank: what ranks have written alone to the dataset is brought together first.  Each
 * chunk that is filtered, or has elements of variable length, is read and decoded once, by one of
 * the ranks that want it, and sent to the others; a chunk that one rank alone wants costs no
 * message, and neither does one whose bytes are cheaper read again.  A message is 8 MiB at most, or
 * what a rank wants of one chunk; contents of variable length count as much as those before.
 *
 * Without .collective they see the last commit and what the rank has written alone since; what
 * others have written alone, after the next commit.  A dataset to which all have written together
 * is DREP_ERR_NOT_COMMITTED until then, but on rank 0; and to views and drep_readv(), so is one
 * that the rank has written alone.
 *
 * drep_abandon() frees a rank's handle without a word to the others: for a program that ends.  They
 * may still write chunks; nobody else opens the file for writing before they have ended.
 * drep_team_abandon() tells them first.
 *
 * Forks.  A child process is no rank: it sends nothing and receives nothing.  A handle that writes
 * is the parent's (<datarep.h>); one that reads is that of one process in the child.
 *
 * drep_close() has one outcome on all ranks.  What succeeded on each of them is committed; then all
 * get the first failure since the last commit of the lowest rank that has one, "rank N: " before
 * its message.  Nothing is committed if a rank must not: its handle refuses writes, or a call on it
 * has failed and its hint drep_close is "abandon".
 *
 * Refused with DREP_ERR_UNSUPPORTED_OPERATION: drep_append(), drep_refresh(), drep_check(),
 * drep_seal(), drep_copy() to or from the file, drep_dataset_map(), drep_log(),
 * drep_write_stored(), drep_write_external(), drep_write_at().
 *
 * A crash leaves the last commit.  If rank 0 dies while it commits, the others get
 * DREP_ERR_UNKNOWN: the commit may or may not be in the file.  Nobody else opens the file for
 * writing before all ranks have ended or closed it (DREP_ERR_FILE_IN_USE).
 *
 * Dead handles.  After a rank was given up, or after ranks were found in different calls (one of
 * them drep_team_abandon(), for instance), they will not meet again: on all of them each further
 * collective call, drep_close() too, and each call that writes gives the same error at once,
 * whatever the timeout.  Nothing since the last commit is kept; drep_close() and drep_abandon()
 * free the handle.  After other errors, also different arguments of one call, ranks go on.
 *
 * Waiting.  With a timeout of 0 a rank waits for ever for one that never comes, because it ended,
 * or left its handle with drep_abandon().
 */
/* SPDX-License-Identifier: MIT */
#ifndef DATAREP_TEAM_H
#define DATAREP_TEAM_H

#include <datarep.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A message: one block of drep_message_new(). */
typedef struct drep_message {
    int from;    /* its sender, set by the transport of the receiver */
    size_t size; /* of what follows */
#ifndef __cplusplus
    unsigned char bytes[];
#endif
} drep_message;
#define DREP_MESSAGE_BYTES(m) ((unsigned char *)((m) + 1))

/* A message of `size` bytes, or NULL without memory. */
DREP_API drep_message *drep_message_new(size_t size);
DREP_API void drep_message_free(drep_message *message);

/* A carrier of messages.  Its functions are called by the threads that call the library, one at a
 * time for each team.  Messages from one rank to another must arrive in the order of sending. */
typedef struct drep_transport {
    size_t size; /* set by DREP_TRANSPORT(...) */
    int rank, ranks;
    int64_t timeout_ns; /* how long a rank waits for others before it gives up; 0: for ever */
    /* Send a message, which belongs to the transport from here on, also after a failure.  It must
     * not wait for the receiver.  0 or a DREP_ERR_... */
    int (*send)(void *ctx, int to, drep_message *message);
    /* Take the next message from any rank; the library frees it.  0, DREP_ERR_TIMEOUT if none came
     * before CLOCK_MONOTONIC reached `deadline_ns` (INT64_MAX: wait for ever), or another
     * DREP_ERR_... */
    int (*receive)(void *ctx, drep_message **message, int64_t deadline_ns);
    /* The file is closed, or was not opened: free ctx.  gave_up: a rank was given up, or this one
     * left without a word (drep_abandon()), so messages may still be under way; or the handle is
     * that of a parent process, whose messages they are.  May be NULL. */
    void (*release)(void *ctx, int gave_up);
    /* The name of the program's call in messages, of at most 31 bytes, which lives as long as the
     * file: NULL is drep_team_create or drep_team_open. */
    const char *call;
    /* See off what was sent, before this rank computes for a while and makes no call: return when
     * all of it has left, or when CLOCK_MONOTONIC has reached `deadline_ns`.  0 or a DREP_ERR_...
     * NULL: messages leave by themselves. */
    int (*flush)(void *ctx, int64_t deadline_ns);
    /* Other ways to the payload, for all ranks at once, after rank 0 has made or opened the file
     * and before the call returns; `path` is where it is now, `info` the hints that rank 0 was
     * given.  Sets the members read_many and write_at of the driver and their state, or neither:
     * then ranks read and write like one process.  Where one of the two gives
     * DREP_ERR_UNSUPPORTED_OPERATION, for it may not be called on this thread, the library reads or
     * writes these bytes itself.  Metadata, locks, sizes and syncs stay with the library: so what
     * was written must have reached the file system when write_at returns.  May be NULL. */
    int (*payload)(void *ctx, const char *path, int amode, const drep_info *info,
                   drep_driver *driver, void **state);
} drep_transport;
#define DREP_TRANSPORT(...) DREP_SIZED(drep_transport, __VA_ARGS__)

/* Like drep_create() and drep_open(), for all ranks of a team: collective.  `ctx` belongs to the
 * library from here on, also when this fails.  All ranks give equal arguments; of hints only those
 * in force on rank 0 count for the file.  Errors of drep_create() and drep_open(), the same on all
 * ranks, and
 *     DREP_ERR_NOT_SAME   the ranks are in different calls, or give different arguments; or run
 *                         different versions of this library, or of one behind a filter
 *     DREP_ERR_TIMEOUT    a rank did not come within the timeout */
DREP_API int drep_team_create(const drep_transport *transport, void *ctx, const char *path,
                              int amode, const char *datarep, const drep_info *info,
                              drep_file **out);
DREP_API int drep_team_open(const drep_transport *transport, void *ctx, const char *path, int amode,
                            const drep_info *info, drep_file **out);
/* The file's rank and number of ranks; 0 and 1 for a file of one process.  Either may be NULL. */
DREP_API int drep_team_of(drep_file *file, int *rank, int *ranks);
/* Like drep_abandon(), by a rank that failed for a reason of its own: it waits for the others' next
 * collective call, which is DREP_ERR_NOT_SAME on all of them, with a message that ends in
 * "rank N: " and `why`, as every call after it.  Nothing since the last commit is kept.  With one
 * rank, drep_abandon(). */
DREP_API void drep_team_abandon(drep_file *file, const char *why);

#ifdef __cplusplus
}
#endif
#endif
