/* datarep-mpi.h - Datarep files for programs under MPI.
 *
 * The ranks of a communicator share one file: each writes its part of the datasets, and the file is
 * byte for byte the one that a single process would have written, but for its UUID and the times of
 * commits, which the hints drep_uuid and drep_time fix.
 *
 *     MPI_Init(&argc, &argv);
 *     drep_mpi_create(MPI_COMM_WORLD, "run.drep", DREP_RDWR, "external32", NULL, &file);
 *     drep_dataset_create(file, "/p", &spec, &p);
 *     drep_write_box(p, start, count, DREP_DOUBLE, mine, &DREP_XFER(.collective = 1));
 *     drep_dataset_close(p);
 *     drep_close(file);
 *     MPI_Finalize();
 *
 * Datatypes and hints of MPI become those of the library, and back, and data representations whose
 * functions have MPI's signatures can be registered.
 *
 * The library exists once for each MPI, MPICH and Open MPI:
 *
 *     mpicc.mpich run.c $(pkg-config --cflags --libs libdatarep-mpi-mpich)
 *     mpicc.openmpi run.c $(pkg-config --cflags --libs libdatarep-mpi-openmpi)
 *
 * A dataset that grows.  drep_append() is refused, since each rank has but a part of what is new.
 * All ranks give the dataset the same new shape, then write their parts, all of them:
 *
 *     drep_dataset_resize(p, dims);
 *     drep_write_box(p, start, count, DREP_DOUBLE, mine, &DREP_XFER(.collective = 1));
 *
 * Which calls are what, on a file of drep_mpi_create() or drep_mpi_open() with several ranks:
 *
 *   collective  All ranks make the call, in the same order, with equal arguments.  A difference is
 *               one error on all, DREP_ERR_NOT_SAME, whose message names the ranks, the call and
 *               the argument.
 *   local       Any rank makes it, or none.  What it changes is the rank's own until drep_commit(),
 *               where ranks meet and the changes of all become those of the file.  Changes that
 *               contradict each other, as two values of one attribute, and elements that two
 *               ranks have written, are one error on all (<datarep-team.h>).
 *   refused     DREP_ERR_UNSUPPORTED_OPERATION.
 *
 *   | call                                                     | kind                             |
 *   |----------------------------------------------------------|----------------------------------|
 *   | drep_mpi_create drep_mpi_open                            | collective                       |
 *   | drep_team_create drep_team_open                          | collective                       |
 *   | drep_commit drep_close                                   | collective                       |
 *   | drep_write drep_write_box drep_read drep_read_box        | with .collective = 1; else local |
 *   | drep_readv drep_read_at drep_read_stored                 | local                            |
 *   | drep_stat drep_exists drep_object_path drep_group_create | local                            |
 *   | drep_link_* drep_list drep_visit drep_dimension_*        | local                            |
 *   | drep_attr_* drep_attrinfo_release                        | local                            |
 *   | drep_type_commit drep_type_open                          | local                            |
 *   | drep_dataset_create drep_dataset_open drep_dataset_close | local                            |
 *   | drep_dataset_info drep_dataset_fill drep_dataset_resize  | local                            |
 *   | drep_dataset_fill_encodings drep_dataset_placed          | local                            |
 *   | drep_dataset_usage drep_dataset_chunks drep_stored_as    | local                            |
 *   | drep_stored_alike                                        | local                            |
 *   | drep_dataset_unmap drep_external_* drep_view_*           | local                            |
 *   | drep_header_* drep_get_info drep_get_amode drep_set_info | local                            |
 *   | drep_team_of drep_usage_get drep_object_usage            | local                            |
 *   | drep_leaks drep_unsealed drep_abandon drep_team_abandon  | local                            |
 *   | drep_append drep_refresh drep_check drep_seal drep_copy  | refused                          |
 *   | drep_dataset_map drep_stored_at drep_log                 | refused                          |
 *   | drep_write_stored drep_write_external drep_write_at      | refused                          |
 *
 * drep_abandon() of one rank is felt by the others: they miss it in their next collective call.
 * drep_team_abandon() waits for them there, and that call is an error on all.
 *
 * All other functions have nothing to do with such a file, and are as in every program:
 * drep_create* drep_open* drep_repair (which make other handles), drep_type_* drep_select*
 * drep_info_* drep_cursor_* drep_pack* drep_unpack* drep_convert drep_code_* drep_format_*
 * drep_filter_* drep_datarep_* drep_declare_datarep drep_register_* drep_plugin_* drep_predefined
 * drep_vlen_free drep_version drep_library_walk drep_error* drep_escape drep_strerror
 * drep_message_* drep_progress drep_mpi_type drep_mpi_datatype drep_mpi_info*
 * drep_mpi_register_datarep.
 *
 * On a communicator of one rank nothing is refused, and nothing differs from drep_create() and
 * drep_open().
 *
 * Threads.  Any thread level of MPI will do; the library's own threads never call MPI.  Every call
 * here, and every collective one on such a file, is made where MPI may be called: below
 * MPI_THREAD_SERIALIZED by the thread that initialised MPI (else DREP_ERR_UNSUPPORTED_OPERATION),
 * below MPI_THREAD_MULTIPLE by one thread at a time.
 *
 * Waiting.  Collective calls use messages between two ranks, on a duplicate of the communicator, so
 * that they can be given up.  The hint drep_mpi_timeout=SECONDS says how long a rank waits for
 * others; 0, the default, for ever, as programs under MPI expect: ranks may compute for hours
 * before they meet.  Then a rank that never comes, because it ended, called drep_abandon() or waits
 * for something else, leaves all others waiting, as it would in MPI_Barrier(); a program that
 * cannot rule this out sets the hint, to more than its ranks are ever apart.  With the hint, a rank
 * that does not come is DREP_ERR_TIMEOUT on all others.  After that the handle is dead: every
 * collective call with it, drep_close() too, and every call that writes gives the same error at
 * once, the file is the last commit, the duplicate is never freed, and MPI_Finalize() may hang,
 * which is MPI's; so end with MPI_Abort().  drep_abandon() leaves the duplicate, too.
 *
 * Ranks that are in different calls are an error on all at once, with any timeout, and their
 * handles are dead likewise; nobody is missing then, and MPI_Finalize() does not hang.
 *
 * File systems.  Rank 0 alone opens the file as one process does, with its lock; all ranks that
 * write share a second one, so that nobody else opens the file to write before the last of them has
 * ended, even if rank 0 was killed (DREP_ERR_FILE_IN_USE).  On a file system without locks nothing
 * excludes another writer, and drep_get_info() gives drep_lock as "false" on all ranks.  The others
 * take from rank 0 which commit the file has and where it ends.  What they do not see yet, as on
 * NFS, they look for again, with pauses, for half of drep_mpi_timeout and at most 30 s: the file's
 * name (else DREP_ERR_NO_SUCH_FILE or _STALE on all ranks), and bytes behind the end that they see
 * (else DREP_ERR_TRUNCATE).
 *
 * Payload.  Where ranks are on several nodes, they write and read elements by MPI-IO, which knows
 * file systems; on one node (one MPI_Get_processor_name() and one start of Linux) by system calls.
 * The hint drep_mpi_io=mpiio or =posix says which; drep_get_info() gives the one in force.  MPI-IO
 * gets the program's other hints (striping_factor, romio_...), transfers independently, and is
 * called on the thread that calls us: below MPI_THREAD_MULTIPLE only on the one that initialised
 * MPI; all other threads, the library's own among them, use system calls on the same file.  So with
 * it in force each transfer is a call of MPI.  It is not used on NFS, where it locks whole files,
 * rank 0's lock among them, nor for paths with a colon, nor, unless it was asked for, where
 * MPI_File_open() fails.  Metadata and syncs are never MPI-IO's: MPI_File_sync() is collective and
 * cannot be given up, and both MPIs hand an independent write to the file system before they
 * return, so that each rank's fsync() is enough.  MPI_File_open() and MPI_File_close() are
 * collective, and hang if a rank dies amidst them.
 *
 * Forks.  A child process of a rank never calls MPI here, also in closing what it inherited.  What
 * its parent writes is its parent's; what its parent reads it may read, alone (<datarep.h>).
 *
 * Memory.  The hint cb_buffer_size bounds what a rank sends and gets at a time in a collective
 * write, and drep_mpi_window=BYTES what all ranks together have encoded and not yet written.  The
 * file is the same with any of them (<datarep-team.h>).
 *
 * Files are closed before MPI_Finalize().  A drep_close() after it is
 * DREP_ERR_UNSUPPORTED_OPERATION and commits nothing.
 *
 * Every call below gives DREP_ERR_UNSUPPORTED_OPERATION if MPI is not initialised or is finalised,
 * on a thread that may not call MPI, in a child process, and if the MPI that runs is not the one
 * that the library was built for; DREP_ERR_ARG for a null pointer; DREP_ERR_NOMEM; and if a call of
 * MPI fails, DREP_ERR_IO, or the code that fits its class (_NO_SPACE, _ACCESS, _READ_ONLY, ...),
 * with MPI's message, also where it fails in a call of <datarep.h>. */
/* SPDX-License-Identifier: MIT */
#ifndef DATAREP_MPI_H
#define DATAREP_MPI_H

#include <datarep-team.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------- files */

/* Like drep_create() and drep_open(), for all ranks of `comm`: collective.  The communicator is an
 * intracommunicator of any size, and may be freed afterwards.  path, amode and datarep are equal on
 * all ranks; of hints only those in force on rank 0 count for the file, and drep_mpi_timeout on
 * each rank for itself.  All ranks get a handle, or all an error: those of drep_create() and
 * drep_open(), and
 *     DREP_ERR_ARG        MPI_COMM_NULL, or an intercommunicator
 *     DREP_ERR_NOT_SAME   the ranks are in different calls, or give different arguments
 *     DREP_ERR_TIMEOUT    a rank did not come within drep_mpi_timeout */
DREP_API int drep_mpi_create(MPI_Comm comm, const char *path, int amode, const char *datarep,
                             const drep_info *info, drep_file **out);
DREP_API int drep_mpi_open(MPI_Comm comm, const char *path, int amode, const drep_info *info,
                           drep_file **out);

/* ----------------------------------------------------------------- datatypes */

/* The datatype that a datatype of MPI is, a new reference for drep_type_free(): of every combiner,
 * committed or not, with its size, bounds and typemap.  Constructors become those of their names,
 * pairs (MPI_DOUBLE_INT) structs.  Where MPI gives a struct another extent than we do, the result
 * is resized.  Nothing refers to `datatype` afterwards.
 *     DREP_ERR_TYPE    a predefined type without counterpart, or of another size here
 *     DREP_ERR_ARG     MPI_DATATYPE_NULL
 *     DREP_ERR_LIMIT   more than 64 levels
 * and the errors of our constructors. */
DREP_API int drep_mpi_type(MPI_Datatype datatype, drep_type **out);
/* The inverse: a committed datatype with the same typemap, which the caller frees with
 * MPI_Type_free(), also if `type` is predefined.  Compounds become structs, arrays contiguous,
 * strings MPI_CHARs, enums and booleans their integers; opaque ones and scalars of other encodings
 * MPI_BYTEs.
 *     DREP_ERR_TYPE             sequences, vstrings and references, whose contents are elsewhere
 *     DREP_ERR_UNSUPPORTED      a predefined type that this MPI does not have, such as FLOAT16
 *     DREP_ERR_VALUE_TOO_LARGE  a count that exceeds an int */
DREP_API int drep_mpi_datatype(const drep_type *type, MPI_Datatype *out);

/* --------------------------------------------------------------------- hints */

/* The hints of MPI, in a new object for drep_info_free(); of MPI_INFO_NULL: none.
 *     DREP_ERR_INFO_KEY, DREP_ERR_INFO_VALUE   too long */
DREP_API int drep_mpi_info(MPI_Info info, drep_info **out);
/* The inverse, for MPI_Info_free().  Hints with an empty value are left out, as MPI has none.
 *     DREP_ERR_INFO_KEY, DREP_ERR_INFO_VALUE   longer than this MPI takes */
DREP_API int drep_mpi_info_get(const drep_info *info, MPI_Info *out);

/* ------------------------------------------------------ data representations */

/* Registers a data representation for the life of this process, like MPI_Register_datarep() (MPI
 * 5.0, 14.7.3): functions that were written for that one work, with files of this library.
 * read or write MPI_CONVERSION_FN_NULL: that direction takes data in native form.  `datatype` of a
 * call is committed, has the typemap of the transfer, and is the same handle in its calls, so that
 * a function may cache a decoded typemap on it; it must not free it.  Below MPI_THREAD_MULTIPLE the
 * functions run on the thread that made the call, one at a time.
 * Each rank registers for itself.  Errors: those of drep_register_datarep(). */
DREP_API int drep_mpi_register_datarep(const char *name, MPI_Datarep_conversion_function *read,
                                       MPI_Datarep_conversion_function *write,
                                       MPI_Datarep_extent_function *extent, void *extra_state);

#ifdef __cplusplus
}
#endif
#endif
