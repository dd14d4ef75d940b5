/* view.c - setting views, and what is counted in their etypes. */
/* SPDX-License-Identifier: MIT */
#include "mpiio/state.h"

#include <string.h>

/* ------------------------------------------------------------------- setting */

/* MPI's own names may be in capitals, as MPIs take them. */
static const char *name_of(const char *datarep)
{
    return !strcmp(datarep, "EXTERNAL32") ? "external32"
           : !strcmp(datarep, "INTERNAL") ? "internal"
                                          : datarep;
}

static bool is_writable(MPI_File fh)
{
    int amode = 0;

    PMPI_File_get_amode(fh, &amode);
    return !(amode & MPI_MODE_RDONLY);
}

/* Programs have filetypes of CHARs over an etype of BYTE and the like, and MPIs take them: those
 * whose items are whole etypes by their number of bytes. */
static int filetype_layout(MPI_File fh, const drep_type *etype, const drep_type *filetype,
                           struct mpiio_view *v)
{
    bool writable = is_writable(fh);
    int64_t size = 0;
    int err = layout_bytes(&v->first, etype, filetype, v->datarep, writable, &v->bytes);

    if (err != DREP_ERR_TYPE || drep_pack_size(v->datarep, 1, filetype, &size) ||
        size % v->etype_size != 0)
        return err;
    return layout_bytes(&v->first, filetype, filetype, v->datarep, writable, &v->bytes);
}

static int mpiview_make(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                        const char *datarep, struct mpiio_view *v)
{
    const drep_type *e, *f;
    int err;

    if (strlen(datarep) >= sizeof v->datarep)
        return drep_error_set(DREP_ERR_UNSUPPORTED_DATAREP,
                              "the name of the data representation is too long");
    strcpy(v->datarep, name_of(datarep));
    v->disp = disp;
    v->first = disp < 0 ? 0 : disp; /* MPI says what is wrong with it */
    if ((err = mpitype_get(etype, &e)) || (err = mpitype_get(filetype, &f)) ||
        (err = drep_pack_size(v->datarep, 1, e, &v->etype_size)))
        return err;
    if (v->etype_size == 0)
        return drep_error_set(DREP_ERR_TYPE, "the etype has no data items");
    v->empty = drep_type_items(f) == 0;
    if ((err = filetype_layout(fh, e, f, v)) || (err = mpitype_hold(etype, &v->etype)))
        return err;
    if (disp < 0 && v->first != 0)
        return drep_error_set(
            DREP_ERR_UNSUPPORTED_OPERATION,
            "MPI_DISPLACEMENT_CURRENT, and the filetype does not begin with data");
    return mpitype_hold(filetype, &v->filetype);
}

/* Rule V1: the name and the etype's extent in the file are those of all ranks.  An error of any
 * rank is one of all, so that all of them keep their old view. */
static int mpiview_agree(struct mpiio_file *f, int err, const struct mpiio_view *v)
{
    uint64_t hash = 0xcbf29ce484222325;
    int64_t mine[3], all[3];
    const char *p;

    if (f->comm == MPI_COMM_NULL)
        return state_error(err);
    for (p = v->datarep; *p; p++) /* FNV-1a */
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3;
    hash ^= (uint64_t)v->etype_size;
    mine[0] = err ? 1 : 0;
    mine[1] = (int64_t)(hash >> 1);
    mine[2] = -mine[1];
    if (PMPI_Allreduce(mine, all, 3, MPI_INT64_T, MPI_MAX, f->comm) != MPI_SUCCESS)
        return -MPI_ERR_OTHER;
    if (err)
        return state_error(err);
    if (all[0] || all[1] != -all[2])
        return state_refuse(MPI_ERR_NOT_SAME,
                            "ranks set different views, or one cannot set its own");
    return 0;
}

static void mpiview_drop(struct mpiio_view *v)
{
    mpitype_release(&v->etype);
    mpitype_release(&v->filetype);
    mpitype_release(&v->bytes);
}

/* Where the view begins, if the program said that it begins where the file is. */
static MPI_Offset begin_of(MPI_File fh)
{
    char name[MPI_MAX_DATAREP_STRING];
    MPI_Datatype etype, filetype;
    MPI_Offset disp = 0;

    if (PMPI_File_get_view(fh, &disp, &etype, &filetype, name) != MPI_SUCCESS)
        return 0;
    mpitype_release(&etype);
    mpitype_release(&filetype);
    return disp;
}

int mpiview_set(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                const char *datarep, MPI_Info info)
{
    struct mpiio_view v = {
        .etype = MPI_DATATYPE_NULL, .filetype = MPI_DATATYPE_NULL, .bytes = MPI_DATATYPE_NULL};
    struct mpiio_file *f;
    int err;

    if (fh == MPI_FILE_NULL)
        return -MPI_ERR_FILE;
    f = state_make(fh);
    if (!f)
        return -MPI_ERR_NO_MEM;
    state_count();
    err = mpiview_agree(f, mpiview_make(fh, disp, etype, filetype, datarep, &v), &v);
    if (!err)
        err = PMPI_File_set_view(fh, disp < 0 ? disp : v.first, MPI_BYTE, v.bytes, "native", info);
    if (err) {
        mpiview_drop(&v);
        return err;
    }
    if (disp == MPI_DISPLACEMENT_CURRENT)
        v.disp = begin_of(fh);
    state_view(f, false);
    f->view = v;
    state_view(f, true);
    return 0;
}

int mpiview_get(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                char *datarep)
{
    const struct mpiio_view *v = &state_find(fh)->view;
    int err;

    *disp = v->disp;
    if ((err = mpitype_hold(v->etype, etype)) || (err = mpitype_hold(v->filetype, filetype)))
        return state_error(err);
    strcpy(datarep, v->datarep);
    return 0;
}

int mpiview_type_extent(MPI_File fh, MPI_Datatype type, MPI_Count *extent)
{
    const struct mpiio_view *v = &state_find(fh)->view;
    const drep_type *t;
    int64_t bytes = 0;
    int err = mpitype_get(type, &t);

    if (!err)
        err = drep_type_file_extent(t, v->datarep, &bytes);
    if (err)
        return state_error(err);
    *extent = (MPI_Count)bytes;
    return 0;
}

/* ------------------------------------------------------------------ pointers */

/* MPI's pointers count bytes of the packed stream, the program's etypes. */
static int to_bytes(const struct mpiio_view *v, MPI_Offset etypes, MPI_Offset *bytes)
{
    if (__builtin_mul_overflow(etypes, v->etype_size, bytes))
        return state_refuse(MPI_ERR_ARG, "the offset is beyond 2^63 bytes");
    return 0;
}

/* The first byte of the stream that lies behind the end of the file.  Not by MPI_SEEK_END, by which
 * Open MPI looks at neither the displacement nor the filetype. */
int mpiview_end(MPI_File fh, MPI_Offset *end)
{
    MPI_Offset size, low = 0, high = 1, at = 0;
    int err = PMPI_File_get_size(fh, &size);

    while (!err && !(err = PMPI_File_get_byte_offset(fh, high - 1, &at)) && at < size) {
        low = high;
        high *= 2;
    }
    while (!err && low < high) {
        MPI_Offset mid = low + (high - low) / 2;

        if (!(err = PMPI_File_get_byte_offset(fh, mid, &at)) && at < size)
            low = mid + 1;
        else
            high = mid;
    }
    *end = low;
    return err;
}

int mpiview_seek(MPI_File fh, MPI_Offset offset, int whence, bool shared)
{
    const struct mpiio_view *v = &state_find(fh)->view;
    MPI_Offset bytes, end = 0;
    int err = to_bytes(v, offset, &bytes);

    if (!err && whence == MPI_SEEK_END)
        err = mpiview_end(fh, &end);
    if (err)
        return err;
    if (whence == MPI_SEEK_END) {
        /* The first etype that has no byte in the file. */
        end = (end + v->etype_size - 1) / v->etype_size * v->etype_size;
        whence = MPI_SEEK_SET;
    }
    if (__builtin_add_overflow(bytes, end, &bytes))
        return state_refuse(MPI_ERR_ARG, "the offset is beyond 2^63 bytes");
    return shared ? PMPI_File_seek_shared(fh, bytes, whence) : PMPI_File_seek(fh, bytes, whence);
}

int mpiview_position(MPI_File fh, MPI_Offset *offset, bool shared)
{
    const struct mpiio_view *v = &state_find(fh)->view;
    MPI_Offset bytes;
    int err =
        shared ? PMPI_File_get_position_shared(fh, &bytes) : PMPI_File_get_position(fh, &bytes);

    if (!err)
        *offset = bytes / v->etype_size;
    return err;
}

int mpiview_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
    MPI_Offset bytes;
    int err = to_bytes(&state_find(fh)->view, offset, &bytes);

    return err ? err : PMPI_File_get_byte_offset(fh, bytes, disp);
}
