/* state.h - the engine's own: files with views that are not native, datatypes, errors. */
/* SPDX-License-Identifier: MIT */
#ifndef MPIIO_STATE_H
#define MPIIO_STATE_H

#include "mpiio/engine.h"

#include <datarep-mpi.h>
#include <stdint.h>

/* A view.  MPI's own handle has one, too, of bytes: its filetype has the bytes of ours in the file,
 * so that a packed stream of items in the representation is what MPI moves, by whatever means it
 * has for that: its sieving, its aggregators, its shared pointers and its atomic mode. */
struct mpiio_view {
    char datarep[DREP_MAX_DATAREP_STRING];
    MPI_Offset disp;
    int64_t first; /* where the handle's view begins; MPI_MODE_SEQUENTIAL: from the current place */
    MPI_Datatype etype, filetype; /* the program's; duplicates, if they are derived */
    MPI_Datatype bytes;           /* the filetype of MPI's handle */
    bool empty;                   /* the filetype has no data */
    int64_t etype_size;           /* packed bytes of an etype in the file */
};

struct mpiio_file {
    MPI_File fh;
    MPI_Comm comm; /* its ranks, to agree on views; MPI_COMM_NULL: one, or not known */
    bool viewing;  /* it has a view of ours */
    struct mpiio_view view;
    int split; /* how of a split collective call that has begun, or 0 */
    const void *split_buf;
    MPI_Count split_bytes; /* for its status */
    struct mpiio_file *next;
};

/* Files that have a view of ours. */
extern int state_views;
/* Count a call that the engine works for; how many there were. */
void state_count(void);
long state_counted(void);

bool state_owns(MPI_File fh);
/* The file's state, or NULL. */
struct mpiio_file *state_find(MPI_File fh);
/* The file's state, made where it is missing: collective.  NULL: no memory. */
struct mpiio_file *state_make(MPI_File fh);
void state_view(struct mpiio_file *file, bool viewing);

/* The class of one of our errors, negative, for the front to raise.  With DATAREP_DEBUG its message
 * is printed. */
int state_error(int err);
/* Likewise with a class and a message of this library's own. */
int state_refuse(int class, const char *what);

/* A datatype as ours, which stays MPI's or the engine's: not to be freed.  An error of ours. */
int mpitype_get(MPI_Datatype datatype, const drep_type **out);
/* True if it is derived: what MPI hands out of it is the caller's to free. */
bool mpitype_derived(MPI_Datatype datatype);
/* A reference of the engine's own, freed by mpitype_release(). */
int mpitype_hold(MPI_Datatype datatype, MPI_Datatype *out);
void mpitype_release(MPI_Datatype *datatype);

/* The filetype of a view as one of bytes, committed.  It begins with its first byte, as ROMIO wants
 * it: *disp moves there.  An error of ours. */
int layout_bytes(int64_t *disp, const drep_type *etype, const drep_type *filetype,
                 const char *datarep, bool writable, MPI_Datatype *out);
/* `n` bytes as a count of a datatype: MPI_BYTE, or more than an int counts, which then is to be
 * freed. */
int layout_count(MPI_Count n, int *count, MPI_Datatype *type);

/* The bytes that a status counts, for MPI_Get_count() and MPI_Get_elements(). */
void request_status(MPI_Status *status, MPI_Count bytes);
/* A request that is complete, with such a status. */
int request_complete(MPI_Count bytes, MPI_Request *request);

/* The first byte of the packed stream behind the end of the file.  An error of MPI's. */
int mpiview_end(MPI_File fh, MPI_Offset *end);

/* The rest of struct mpiio_engine. */
int mpiview_set(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                const char *datarep, MPI_Info info);
int mpiview_get(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                char *datarep);
int mpiview_seek(MPI_File fh, MPI_Offset offset, int whence, bool shared);
int mpiview_position(MPI_File fh, MPI_Offset *offset, bool shared);
int mpiview_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp);
int mpiview_type_extent(MPI_File fh, MPI_Datatype type, MPI_Count *extent);
void state_forget(MPI_File fh);
void state_native(MPI_File fh);
int stream_move(const struct mpiio_call *call);
int stream_end(const struct mpiio_call *call);
int pack_external(const void *in, MPI_Count count, MPI_Datatype type, void *out, MPI_Count size,
                  MPI_Count *position);
int unpack_external(const void *in, MPI_Count size, MPI_Count *position, void *out, MPI_Count count,
                    MPI_Datatype type);
int pack_external_size(MPI_Count count, MPI_Datatype type, MPI_Count *size);
int register_functions(const char *datarep, MPI_Datarep_conversion_function *read,
                       MPI_Datarep_conversion_function *write, MPI_Datarep_extent_function *extent,
                       void *extra);
#if MPIIO_LARGE
int register_large(const char *datarep, MPI_Datarep_conversion_function_c *read,
                   MPI_Datarep_conversion_function_c *write, MPI_Datarep_extent_function *extent,
                   void *extra);
#endif

#endif
