/* front.c - the names of MPI.
 *
 * Each call is defined by both its names: C enters by MPI_..., the Fortran of some MPIs by
 * PMPI_.... One that is not for us goes on to the same name behind this library, which may be a
 * profiler's; one that is for us goes to the engine, but through a profiler behind us first, which
 * comes back by PMPI_....  What is not defined here (opening, sizes, hints, atomicity, ...) is
 * MPI's own. */
/* SPDX-License-Identifier: MIT */
#include "mpiio/next.h"

#include <string.h>

#define API __attribute__((visibility("default")))

/* --------------------------------------------------------------- coming in, going out */

/* Handles that are variables of Open MPI, which a process without it does not have. */
#if defined(OPEN_MPI)
#define NO_FILE ((MPI_File)next_variable("ompi_mpi_file_null"))
#define ANY_COMM ((MPI_Comm)next_variable("ompi_mpi_comm_world"))
#else
#define NO_FILE MPI_FILE_NULL
#define ANY_COMM (MPI_VERSION >= 4 ? MPI_COMM_SELF : MPI_COMM_WORLD)
#endif

static bool is_ours(MPI_File fh)
{
    const struct mpiio_engine *e = next_engine;

    return e && __atomic_load_n(e->views, __ATOMIC_RELAXED) > 0 && !next_depth && e->owns(fh);
}

static const struct mpiio_engine *engine_enter(void)
{
    next_depth++;
    return next_engine;
}

#if defined(OPEN_MPI)
/* Open MPI raises no errors of MPI_FILE_NULL for others: a function of the program is not called.
 */
static void raise_default(int err)
{
    MPI_Errhandler handler = NULL;

    NEXT_AS(PMPI_File_get_errhandler, next_symbol("PMPI_File_get_errhandler"))(NO_FILE, &handler);
    if ((void *)handler == next_variable("ompi_mpi_errors_are_fatal"))
        NEXT_AS(PMPI_Abort, next_symbol("PMPI_Abort"))(ANY_COMM, err);
}
#endif

/* Raises what the engine has not raised itself, outside of it: a handler may call MPI. */
static int engine_leave(MPI_File fh, int err)
{
    static void *raise;

    next_depth--;
    if (err >= 0)
        return err;
#if defined(OPEN_MPI)
    if (fh == NO_FILE)
        return raise_default(-err), -err;
#endif
    if (!raise)
        raise = next_symbol("PMPI_File_call_errhandler");
    NEXT_AS(int(MPI_File, int), raise)(fh, -err);
    return -err;
}

/* Of a call without a file. */
static int engine_leave_comm(int err)
{
    static void *raise;

    next_depth--;
    if (err >= 0)
        return err;
    if (!raise)
        raise = next_symbol("PMPI_Comm_call_errhandler");
    NEXT_AS(int(MPI_Comm, int), raise)(ANY_COMM, -err);
    return -err;
}

#define SELDOM __attribute__((noinline))

/* One name of a call, which leads to `next`.  quick: as long as no file has a view of ours, nothing
 * but that is asked. */
#define NAME(name, next, quick, args)                                            \
    {                                                                            \
        void *to = __atomic_load_n(&next_##name.next, __ATOMIC_ACQUIRE);         \
                                                                                 \
        if ((quick) && to && __atomic_load_n(next_views, __ATOMIC_RELAXED) == 0) \
            return NEXT_AS(__typeof__(MPI_##name), to) args;                     \
        return next##_##name args;                                               \
    }

/* One call.  `mine`: whether the engine has it; `ours`: what it does then. */
#define CALL_AS(quick, name, params, args, mine, ours)                      \
    static struct next_call next_##name = {.symbol = "PMPI_" #name};        \
    static SELDOM int mpi_##name params                                     \
    {                                                                       \
        if (!__atomic_load_n(&next_##name.pmpi, __ATOMIC_ACQUIRE))          \
            next_find(&next_##name);                                        \
        if (next_##name.tool || !(mine))                                    \
            return NEXT_AS(__typeof__(MPI_##name), next_##name.mpi) args;   \
        return ours;                                                        \
    }                                                                       \
    static SELDOM int pmpi_##name params                                    \
    {                                                                       \
        if (!__atomic_load_n(&next_##name.pmpi, __ATOMIC_ACQUIRE))          \
            next_find(&next_##name);                                        \
        if (!(mine))                                                        \
            return NEXT_AS(__typeof__(PMPI_##name), next_##name.pmpi) args; \
        return ours;                                                        \
    }                                                                       \
    API int MPI_##name params NAME(name, mpi, quick, args)                  \
    API int PMPI_##name params NAME(name, pmpi, quick, args)
#define CALL(name, params, args, mine, ours) CALL_AS(1, name, params, args, mine, ours)
#define CALL_SLOWLY(name, params, args, mine, ours) CALL_AS(0, name, params, args, mine, ours)

/* ----------------------------------------------------------------------- files */

static bool is_native(const char *datarep)
{
    return !datarep || !strcmp(datarep, "native") || !strcmp(datarep, "NATIVE");
}

/* A native view is MPI's; that it replaces one of ours the engine hears afterwards. */
static bool sets_ours(const char *datarep)
{
    return !next_depth && !is_native(datarep);
}

static int call_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                         const char *datarep, MPI_Info info)
{
    int err = next_load() ? 0 : -MPI_ERR_UNSUPPORTED_DATAREP;
    const struct mpiio_engine *e = engine_enter();

    return engine_leave(fh, err ? err : e->set_view(fh, disp, etype, filetype, datarep, info));
}

static int call_set_native(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                           const char *datarep, MPI_Info info)
{
    static struct next_call next = {.symbol = "PMPI_File_set_view"};
    const struct mpiio_engine *e = engine_enter();
    int err;

    if (!next.pmpi)
        next_find(&next);
    err = NEXT_AS(__typeof__(PMPI_File_set_view), next.pmpi)(fh, disp, etype, filetype, datarep,
                                                             info);
    if (!err)
        e->set_native(fh);
    return engine_leave(fh, err);
}

CALL_SLOWLY(File_set_view,
            (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
             const char *datarep, MPI_Info info),
            (fh, disp, etype, filetype, datarep, info), sets_ours(datarep) || is_ours(fh),
            sets_ours(datarep) ? call_set_view(fh, disp, etype, filetype, datarep, info)
                               : call_set_native(fh, disp, etype, filetype, datarep, info))
CALL(File_get_view,
     (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep),
     (fh, disp, etype, filetype, datarep), is_ours(fh),
     engine_leave(fh, engine_enter()->get_view(fh, disp, etype, filetype, datarep)))

/* The engine gives up what it has before MPI closes the file, and knows files that have a native
 * view again, too. */
static int close_file(MPI_File *fh, void *go_on)
{
    engine_enter()->forget(*fh);
    return engine_leave(NO_FILE, NEXT_AS(int(MPI_File *), go_on)(fh));
}
static struct next_call next_File_close = {.symbol = "PMPI_File_close"};
API int MPI_File_close(MPI_File *fh)
{
    if (!next_File_close.pmpi)
        next_find(&next_File_close);
    return next_File_close.tool || !next_engine || next_depth || !fh
               ? NEXT_AS(int(MPI_File *), next_File_close.mpi)(fh)
               : close_file(fh, next_File_close.pmpi);
}
API int PMPI_File_close(MPI_File *fh)
{
    if (!next_File_close.pmpi)
        next_find(&next_File_close);
    return !next_engine || next_depth || !fh ? NEXT_AS(int(MPI_File *), next_File_close.pmpi)(fh)
                                             : close_file(fh, next_File_close.pmpi);
}

CALL(File_seek, (MPI_File fh, MPI_Offset offset, int whence), (fh, offset, whence), is_ours(fh),
     engine_leave(fh, engine_enter()->seek(fh, offset, whence, false)))
CALL(File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence), (fh, offset, whence),
     is_ours(fh), engine_leave(fh, engine_enter()->seek(fh, offset, whence, true)))
CALL(File_get_position, (MPI_File fh, MPI_Offset *offset), (fh, offset), is_ours(fh),
     engine_leave(fh, engine_enter()->position(fh, offset, false)))
CALL(File_get_position_shared, (MPI_File fh, MPI_Offset *offset), (fh, offset), is_ours(fh),
     engine_leave(fh, engine_enter()->position(fh, offset, true)))
CALL(File_get_byte_offset, (MPI_File fh, MPI_Offset offset, MPI_Offset *disp), (fh, offset, disp),
     is_ours(fh), engine_leave(fh, engine_enter()->byte_offset(fh, offset, disp)))

static int call_type_extent(MPI_File fh, MPI_Datatype type, MPI_Aint *extent)
{
    MPI_Count bytes = 0;
    int err = engine_leave(fh, engine_enter()->type_extent(fh, type, &bytes));

    if (!err)
        *extent = (MPI_Aint)bytes;
    return err;
}
CALL(File_get_type_extent, (MPI_File fh, MPI_Datatype type, MPI_Aint *extent), (fh, type, extent),
     is_ours(fh), call_type_extent(fh, type, extent))
#if MPIIO_LARGE
CALL(File_get_type_extent_c, (MPI_File fh, MPI_Datatype type, MPI_Count *extent),
     (fh, type, extent), is_ours(fh),
     engine_leave(fh, engine_enter()->type_extent(fh, type, extent)))
#endif

/* ------------------------------------------------------------ reading and writing */

static int call_move(int how, MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                     MPI_Datatype type, MPI_Status *status, MPI_Request *request)
{
    const struct mpiio_call call = {how,   fh,   offset, (void *)(MPI_Aint)buf,
                                    count, type, status, request};

    return engine_leave(fh, engine_enter()->move(&call));
}

static int call_end(int how, MPI_File fh, const void *buf, MPI_Status *status)
{
    const struct mpiio_call call = {
        .how = how, .fh = fh, .buf = (void *)(MPI_Aint)buf, .status = status};

    return engine_leave(fh, engine_enter()->end(&call));
}

/* B: of the buffer, N: of the count. */
#define AT(name, B, N, how)                                                                \
    CALL(File_##name,                                                                      \
         (MPI_File fh, MPI_Offset at, B buf, N n, MPI_Datatype type, MPI_Status * status), \
         (fh, at, buf, n, type, status), is_ours(fh),                                      \
         call_move(how, fh, at, buf, n, type, status, NULL))
#define HERE(name, B, N, how)                                                            \
    CALL(File_##name, (MPI_File fh, B buf, N n, MPI_Datatype type, MPI_Status * status), \
         (fh, buf, n, type, status), is_ours(fh),                                        \
         call_move(how, fh, 0, buf, n, type, status, NULL))
#define AT_LATER(name, B, N, how)                                                            \
    CALL(File_##name,                                                                        \
         (MPI_File fh, MPI_Offset at, B buf, N n, MPI_Datatype type, MPI_Request * request), \
         (fh, at, buf, n, type, request), is_ours(fh),                                       \
         call_move((how) | MPIIO_LATER, fh, at, buf, n, type, MPI_STATUS_IGNORE, request))
#define HERE_LATER(name, B, N, how)                                                        \
    CALL(File_##name, (MPI_File fh, B buf, N n, MPI_Datatype type, MPI_Request * request), \
         (fh, buf, n, type, request), is_ours(fh),                                         \
         call_move((how) | MPIIO_LATER, fh, 0, buf, n, type, MPI_STATUS_IGNORE, request))
#define AT_BEGIN(name, B, N, how)                                                  \
    CALL(File_##name, (MPI_File fh, MPI_Offset at, B buf, N n, MPI_Datatype type), \
         (fh, at, buf, n, type), is_ours(fh),                                      \
         call_move((how) | MPIIO_BEGIN, fh, at, buf, n, type, MPI_STATUS_IGNORE, NULL))
#define BEGIN(name, B, N, how)                                                          \
    CALL(File_##name, (MPI_File fh, B buf, N n, MPI_Datatype type), (fh, buf, n, type), \
         is_ours(fh),                                                                   \
         call_move((how) | MPIIO_BEGIN, fh, 0, buf, n, type, MPI_STATUS_IGNORE, NULL))
#define END(name, B, how)                                                                        \
    CALL(File_##name, (MPI_File fh, B buf, MPI_Status * status), (fh, buf, status), is_ours(fh), \
         call_end(how, fh, buf, status))

#define IN void *
#define OUT const void *
#define OUT_AT (MPIIO_AT | MPIIO_WRITE)
#define OUT_HERE (MPIIO_INDIVIDUAL | MPIIO_WRITE)
#define OUT_SHARED (MPIIO_SHARED | MPIIO_WRITE)
#define OUT_ORDERED (MPIIO_ORDERED | MPIIO_WRITE)

/* The calls of one kind of count: _ is what their names end in. */
#define MOVES(_, N)                                               \
    AT(read_at##_, IN, N, MPIIO_AT)                               \
    AT(write_at##_, OUT, N, OUT_AT)                               \
    AT(read_at_all##_, IN, N, MPIIO_AT | MPIIO_ALL)               \
    AT(write_at_all##_, OUT, N, OUT_AT | MPIIO_ALL)               \
    HERE(read##_, IN, N, MPIIO_INDIVIDUAL)                        \
    HERE(write##_, OUT, N, OUT_HERE)                              \
    HERE(read_all##_, IN, N, MPIIO_INDIVIDUAL | MPIIO_ALL)        \
    HERE(write_all##_, OUT, N, OUT_HERE | MPIIO_ALL)              \
    HERE(read_shared##_, IN, N, MPIIO_SHARED)                     \
    HERE(write_shared##_, OUT, N, OUT_SHARED)                     \
    HERE(read_ordered##_, IN, N, MPIIO_ORDERED)                   \
    HERE(write_ordered##_, OUT, N, OUT_ORDERED)                   \
    AT_LATER(iread_at##_, IN, N, MPIIO_AT)                        \
    AT_LATER(iwrite_at##_, OUT, N, OUT_AT)                        \
    AT_LATER(iread_at_all##_, IN, N, MPIIO_AT | MPIIO_ALL)        \
    AT_LATER(iwrite_at_all##_, OUT, N, OUT_AT | MPIIO_ALL)        \
    HERE_LATER(iread##_, IN, N, MPIIO_INDIVIDUAL)                 \
    HERE_LATER(iwrite##_, OUT, N, OUT_HERE)                       \
    HERE_LATER(iread_all##_, IN, N, MPIIO_INDIVIDUAL | MPIIO_ALL) \
    HERE_LATER(iwrite_all##_, OUT, N, OUT_HERE | MPIIO_ALL)       \
    HERE_LATER(iread_shared##_, IN, N, MPIIO_SHARED)              \
    HERE_LATER(iwrite_shared##_, OUT, N, OUT_SHARED)              \
    AT_BEGIN(read_at_all_begin##_, IN, N, MPIIO_AT | MPIIO_ALL)   \
    AT_BEGIN(write_at_all_begin##_, OUT, N, OUT_AT | MPIIO_ALL)   \
    BEGIN(read_all_begin##_, IN, N, MPIIO_INDIVIDUAL | MPIIO_ALL) \
    BEGIN(write_all_begin##_, OUT, N, OUT_HERE | MPIIO_ALL)       \
    BEGIN(read_ordered_begin##_, IN, N, MPIIO_ORDERED)            \
    BEGIN(write_ordered_begin##_, OUT, N, OUT_ORDERED)

MOVES(, int)
#if MPIIO_LARGE
MOVES(_c, MPI_Count)
#endif
END(read_at_all_end, IN, MPIIO_AT | MPIIO_ALL)
END(write_at_all_end, OUT, OUT_AT | MPIIO_ALL)
END(read_all_end, IN, MPIIO_INDIVIDUAL | MPIIO_ALL)
END(write_all_end, OUT, OUT_HERE | MPIIO_ALL)
END(read_ordered_end, IN, MPIIO_ORDERED)
END(write_ordered_end, OUT, OUT_ORDERED)

/* ---------------------------------------------------------------- registering */

#define FUNCTIONS(conversion)                                  \
    (const char *datarep, conversion *read, conversion *write, \
     MPI_Datarep_extent_function *extent, void *extra)

/* True, except for what the engine itself calls. */
static bool engine_loaded(void)
{
    return !next_depth && next_load();
}

CALL_SLOWLY(Register_datarep, FUNCTIONS(MPI_Datarep_conversion_function),
            (datarep, read, write, extent, extra), engine_loaded(),
            engine_leave(NO_FILE, engine_enter()->add_datarep(datarep, read, write, extent, extra)))
#if MPIIO_LARGE
CALL_SLOWLY(Register_datarep_c, FUNCTIONS(MPI_Datarep_conversion_function_c),
            (datarep, read, write, extent, extra), engine_loaded(),
            engine_leave(NO_FILE,
                         engine_enter()->add_datarep_large(datarep, read, write, extent, extra)))
#endif

/* --------------------------------------------------------------------- packing */

static bool packs_ours(const char *datarep)
{
    return datarep && !strcmp(datarep, "external32") && engine_loaded();
}

static int call_pack(const void *in, MPI_Count n, MPI_Datatype type, void *out, MPI_Count size,
                     MPI_Count *at)
{
    return engine_leave_comm(engine_enter()->pack(in, n, type, out, size, at));
}

static int call_unpack(const void *in, MPI_Count size, MPI_Count *at, void *out, MPI_Count n,
                       MPI_Datatype type)
{
    return engine_leave_comm(engine_enter()->unpack(in, size, at, out, n, type));
}

static int call_pack_size(MPI_Count n, MPI_Datatype type, MPI_Count *size)
{
    return engine_leave_comm(engine_enter()->pack_size(n, type, size));
}

/* Calls that count bytes in another integer: `to` is set on success. */
#define BY_COUNT(type, to, call) \
    __extension__({              \
        MPI_Count at_ = *(to);   \
        int err_ = (call);       \
                                 \
        if (!err_)               \
            *(to) = (type)at_;   \
        err_;                    \
    })

CALL_SLOWLY(Pack_external,
            (const char *datarep, const void *in, int n, MPI_Datatype type, void *out,
             MPI_Aint size, MPI_Aint *at),
            (datarep, in, n, type, out, size, at), packs_ours(datarep),
            BY_COUNT(MPI_Aint, at, call_pack(in, n, type, out, size, &at_)))
CALL_SLOWLY(Unpack_external,
            (const char *datarep, const void *in, MPI_Aint size, MPI_Aint *at, void *out, int n,
             MPI_Datatype type),
            (datarep, in, size, at, out, n, type), packs_ours(datarep),
            BY_COUNT(MPI_Aint, at, call_unpack(in, size, &at_, out, n, type)))
CALL_SLOWLY(Pack_external_size, (const char *datarep, int n, MPI_Datatype type, MPI_Aint *size),
            (datarep, n, type, size), packs_ours(datarep),
            BY_COUNT(MPI_Aint, size, call_pack_size(n, type, &at_)))
#if MPIIO_LARGE
CALL_SLOWLY(Pack_external_c,
            (const char *datarep, const void *in, MPI_Count n, MPI_Datatype type, void *out,
             MPI_Count size, MPI_Count *at),
            (datarep, in, n, type, out, size, at), packs_ours(datarep),
            call_pack(in, n, type, out, size, at))
CALL_SLOWLY(Unpack_external_c,
            (const char *datarep, const void *in, MPI_Count size, MPI_Count *at, void *out,
             MPI_Count n, MPI_Datatype type),
            (datarep, in, size, at, out, n, type), packs_ours(datarep),
            call_unpack(in, size, at, out, n, type))
CALL_SLOWLY(Pack_external_size_c,
            (const char *datarep, MPI_Count n, MPI_Datatype type, MPI_Count *size),
            (datarep, n, type, size), packs_ours(datarep), call_pack_size(n, type, size))
#endif

/* ---------------------------------------------------------------------- counting */

/* Calls of this process that the engine has worked for: a program finds it by dlsym(). */
API long datarep_mpiio_calls(void);
long datarep_mpiio_calls(void)
{
    return next_engine ? next_engine->calls() : 0;
}
