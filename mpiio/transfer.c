/* transfer.c - reading and writing: items are packed into their bytes in the file, or unpacked from
 * them, and MPI moves those.
 *
 * A rank that cannot convert takes part in a collective call with nothing, and then says so.  Reads
 * end at the end of the file: whole elements are unpacked in place, of one that is cut the items
 * that are whole.  A call that returns a request does its work at once, alone: others need not
 * come. */
/* SPDX-License-Identifier: MIT */
#include "mpiio/state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ memory of packed bytes */

struct packed_room {
    size_t size;
    _Alignas(16) uint8_t bytes[];
};

enum { KEPT_MAX = 16 << 20 };

/* The room of the last call, for the next one: memory that is given back and taken anew costs a
 * fault a page, and makes the C library give back what MPI has freed beside it. */
static _Atomic(struct packed_room *) kept;

/* NULL: there is no memory. */
static struct packed_room *packed_take(size_t size)
{
    struct packed_room *room = atomic_exchange(&kept, NULL);

    if (room && room->size >= size)
        return room;
    free(room);
    room = malloc(sizeof *room + size);
    if (room)
        room->size = size;
    return room;
}

static void packed_give(struct packed_room *room)
{
    if (room && room->size <= KEPT_MAX)
        room = atomic_exchange(&kept, room);
    free(room);
}

/* ------------------------------------------------------------------ one call */

struct mpiio_transfer {
    const struct mpiio_call *call;
    const struct mpiio_view *view;
    const drep_type *type;
    MPI_Count size;    /* packed bytes */
    MPI_Count element; /* of one element */
    struct packed_room *room;
    uint8_t *packed;  /* there */
    MPI_Count memory; /* bytes of the program's memory that were moved, for the status */
};

/* ------------------------------------------------------------ MPI's own calls */

static int bytes_write(const struct mpiio_call *c, MPI_Offset at, const void *p, int n,
                       MPI_Datatype type, bool all, MPI_Status *status)
{
    switch (c->how & 0xf) {
    case MPIIO_AT:
        return all ? PMPI_File_write_at_all(c->fh, at, p, n, type, status)
                   : PMPI_File_write_at(c->fh, at, p, n, type, status);
    case MPIIO_INDIVIDUAL:
        return all ? PMPI_File_write_all(c->fh, p, n, type, status)
                   : PMPI_File_write(c->fh, p, n, type, status);
    case MPIIO_SHARED:
        return PMPI_File_write_shared(c->fh, p, n, type, status);
    default:
        return PMPI_File_write_ordered(c->fh, p, n, type, status);
    }
}

static int bytes_read(const struct mpiio_call *c, MPI_Offset at, void *p, int n, MPI_Datatype type,
                      bool all, MPI_Status *status)
{
    switch (c->how & 0xf) {
    case MPIIO_AT:
        return all ? PMPI_File_read_at_all(c->fh, at, p, n, type, status)
                   : PMPI_File_read_at(c->fh, at, p, n, type, status);
    case MPIIO_INDIVIDUAL:
        return all ? PMPI_File_read_all(c->fh, p, n, type, status)
                   : PMPI_File_read(c->fh, p, n, type, status);
    case MPIIO_SHARED:
        return PMPI_File_read_shared(c->fh, p, n, type, status);
    default:
        return PMPI_File_read_ordered(c->fh, p, n, type, status);
    }
}

/* Both MPIs tell of some reads, collective or of strided views, that they got all they were asked
 * for, whatever the file has. */
static int correct_count(const struct mpiio_call *c, MPI_Offset at, MPI_Count *got)
{
    MPI_Offset size, last, end = 0;
    int err;

    if ((err = PMPI_File_get_size(c->fh, &size)) ||
        (err = PMPI_File_get_byte_offset(c->fh, at + *got - 1, &last)) || last < size ||
        (err = mpiview_end(c->fh, &end)))
        return err;
    if (end < at + *got)
        *got = end > at ? end - at : 0;
    return MPI_SUCCESS;
}

/* Moves the first `size` packed bytes; *got: how many. */
static int bytes_move(struct mpiio_transfer *t, MPI_Count size, MPI_Count *got)
{
    const struct mpiio_call *c = t->call;
    bool all = (c->how & MPIIO_ALL) && !(c->how & MPIIO_LATER), reads = !(c->how & MPIIO_WRITE);
    bool placed = (c->how & 0xf) == MPIIO_AT || (c->how & 0xf) == MPIIO_INDIVIDUAL;
    MPI_Offset at = 0;
    MPI_Datatype type = MPI_BYTE;
    MPI_Status status;
    int n = 0, err = layout_count(size, &n, &type);

    if (__builtin_mul_overflow(c->offset, t->view->etype_size, &at))
        at = -1; /* MPI says so */
    if (err == MPI_SUCCESS && reads && (c->how & 0xf) == MPIIO_INDIVIDUAL)
        err = PMPI_File_get_position(c->fh, &at);
    if (err == MPI_SUCCESS)
        err = reads ? bytes_read(c, at, t->packed, n, type, all, &status)
                    : bytes_write(c, at, t->packed, n, type, all, &status);
    *got = size;
    if (err == MPI_SUCCESS && reads)
        PMPI_Get_elements_x(&status, type, got);
    if (err == MPI_SUCCESS && reads && placed && *got == size && size > 0)
        err = correct_count(c, at, got);
    if (type != MPI_BYTE)
        PMPI_Type_free(&type);
    return err;
}

/* --------------------------------------------------------------- conversion */

static int stream_begin(struct mpiio_transfer *t)
{
    const struct mpiio_call *c = t->call;
    int64_t size = 0, element = 0;
    int err;

    if (c->count < 0)
        return drep_error_set(DREP_ERR_COUNT, "a negative count");
    if ((c->how & 0xf) == MPIIO_AT && c->offset < 0)
        return drep_error_set(DREP_ERR_ARG, "a negative offset");
    if ((err = mpitype_get(c->type, &t->type)) ||
        (err = drep_pack_size(t->view->datarep, c->count, t->type, &size)) ||
        (err = drep_pack_size(t->view->datarep, 1, t->type, &element)))
        return err;
    if (size % t->view->etype_size != 0)
        return drep_error_set(DREP_ERR_ARG, "the elements are not whole etypes");
    if (size > 0 && t->view->empty)
        return drep_error_set(DREP_ERR_ARG, "the filetype has no data items");
    t->room = packed_take((size_t)size);
    if (!t->room)
        return DREP_ERR_NOMEM;
    t->packed = t->room->bytes;
    t->size = size;
    t->element = element;
    return 0;
}

/* Items of an element whose first `bytes` are there: as many as are whole, from `packed` to the
 * place of the element.  They come by a whole one that begins with them, so that nothing else is
 * touched. */
static int unpack_part(struct mpiio_transfer *t, MPI_Count bytes, const uint8_t *packed, char *to)
{
    int64_t from = drep_type_true_lb(t->type), span = drep_type_true_extent(t->type), at = 0,
            size = 0;
    uint8_t *whole = calloc(1, (size_t)t->element);
    char *memory = malloc((size_t)span + 1);
    drep_cursor c;
    drep_run run;
    int err = whole && memory ? drep_cursor_init(&c, t->type, 0) : DREP_ERR_NOMEM;

    if (!err) {
        memcpy(whole, packed, (size_t)bytes);
        err = drep_unpack(t->view->datarep, whole, t->element, &at, memory - from, 1, t->type);
    }
    while (!err && drep_cursor_next(&c, 1, &run)) {
        if ((err = drep_pack_size(t->view->datarep, 1, run.type, &size)) || size > bytes)
            break;
        bytes -= size;
        size = drep_type_size(run.type);
        memcpy(to + run.offset, memory + (run.offset - from), (size_t)size);
        t->memory += size;
    }
    free(whole);
    free(memory);
    return err;
}

/* Unpacks what was read. */
static int stream_unpack(struct mpiio_transfer *t, MPI_Count got)
{
    const struct mpiio_call *c = t->call;
    int64_t whole = t->element ? got / t->element : c->count, at = 0;
    int err = 0;

    if (whole > c->count)
        whole = c->count;
    if (whole > 0)
        err = drep_unpack(t->view->datarep, t->packed, got, &at, c->buf, whole, t->type);
    t->memory = whole * drep_type_size(t->type);
    if (!err && got > at && whole < c->count)
        err = unpack_part(t, got - at, t->packed + at,
                          (char *)c->buf + whole * drep_type_extent(t->type));
    return err;
}

static int stream_pack(struct mpiio_transfer *t)
{
    int64_t at = 0;

    t->memory = t->call->count * drep_type_size(t->type);
    return drep_pack(t->view->datarep, t->call->buf, t->call->count, t->type, t->packed, t->size,
                     &at);
}

/* -------------------------------------------------------------------- calls */

/* MPI's own pointer stands behind the bytes that it read: not amidst an etype (rule V8). */
static int realign_pointer(const struct mpiio_transfer *t, MPI_Count got)
{
    const struct mpiio_call *c = t->call;
    MPI_Offset at;
    int err;

    if ((c->how & 0xf) != MPIIO_INDIVIDUAL || got == t->size || got % t->view->etype_size == 0)
        return 0;
    err = PMPI_File_get_position(c->fh, &at);
    if (!err && at % t->view->etype_size != 0)
        err = PMPI_File_seek(c->fh, at / t->view->etype_size * t->view->etype_size, MPI_SEEK_SET);
    return err;
}

/* True if other ranks are in this call, too. */
static bool is_together(const struct mpiio_call *c)
{
    return ((c->how & MPIIO_ALL) || (c->how & 0xf) == MPIIO_ORDERED) && !(c->how & MPIIO_LATER);
}

static int stream_whole(struct mpiio_transfer *t)
{
    bool writes = t->call->how & MPIIO_WRITE;
    MPI_Count got = 0;
    int mine = stream_begin(t), err;

    if (!mine && writes)
        mine = stream_pack(t);
    if (mine && !is_together(t->call))
        return state_error(mine);
    err = bytes_move(t, mine ? 0 : t->size, &got);
    if (mine || err)
        return mine ? state_error(mine) : err;
    if (!writes) {
        err = state_error(stream_unpack(t, got));
        if (!err)
            err = realign_pointer(t, got);
    }
    return err;
}

int stream_move(const struct mpiio_call *call)
{
    struct mpiio_file *f = state_find(call->fh);
    struct mpiio_transfer t = {.call = call, .view = &f->view};
    int err;

    if (f->split && is_together(call))
        return state_refuse(MPI_ERR_IO, "a split collective call has not ended");
    state_count();
    err = stream_whole(&t);
    packed_give(t.room);
    if (err)
        return err;
    if (call->how & MPIIO_LATER)
        return request_complete(t.memory, call->request);
    if (call->how & MPIIO_BEGIN) {
        f->split = call->how;
        f->split_buf = call->buf;
        f->split_bytes = t.memory;
    } else {
        request_status(call->status, t.memory);
    }
    return 0;
}

int stream_end(const struct mpiio_call *call)
{
    struct mpiio_file *f = state_find(call->fh);

    if (f->split != (call->how | MPIIO_BEGIN))
        return state_refuse(MPI_ERR_IO, "no such split collective call has begun");
    f->split = 0;
    request_status(call->status, f->split_bytes);
    return 0;
}
