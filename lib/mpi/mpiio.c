/* mpiio.c - payload by MPI-IO: independent reads and writes of each rank. */
/* SPDX-License-Identifier: MIT */
#include "mpi/mpiio.h"
#include "mpi/glue.h"

#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

enum { NFS_MAGIC = 0x6969 };

/* Bytes of one call: what an int counts, and on pages. */
#define PIECE ((size_t)1 << 30)

/* ------------------------------------------------------------------- choice */

static uint64_t hash_of(uint64_t hash, const char *text)
{
    for (; *text; text++) /* FNV-1a */
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

/* Names may be the same by mistake; Linux has another number each time that it starts.  Asking MPI
 * for communicators of nodes makes ranks wait that are more than processors. */
uint64_t mpiio_node(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", boot[64] = "";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    int len = 0;

    MPI_Get_processor_name(name, &len);
    if (f) {
        if (!fgets(boot, sizeof boot, f))
            boot[0] = 0;
        fclose(f);
    }
    return hash_of(hash_of(0xcbf29ce484222325, name), boot);
}

/* On NFS both libraries lock what they write, Open MPI the whole file: it would wait for ever for
 * the lock that rank 0 has as the writer.  ROMIO takes what stands before a colon for the name of a
 * file system. */
static bool is_of_no_use(const char *path)
{
    struct statfs s;

    return strchr(path, ':') || statfs(path, &s) || s.f_type == NFS_MAGIC;
}

enum mpiio_asked mpiio_asked(const drep_info *info)
{
    const char *asked = info ? drep_info_get(info, "drep_mpi_io") : NULL;

    return !asked                    ? MPIIO_NOT_ASKED
           : !strcmp(asked, "posix") ? MPIIO_POSIX
           : !strcmp(asked, "mpiio") ? MPIIO_MPI
                                     : MPIIO_NOT_ASKED;
}

/* What rank 0 finds counts for all. */
static int try_it(MPI_Comm comm, const char *path, int *use)
{
    int rank = 0;

    MPI_Comm_rank(comm, &rank);
    *use = !rank && !is_of_no_use(path);
    return glue_mpi(MPI_Bcast(use, 1, MPI_INT, 0, comm), "MPI_Bcast");
}

/* ------------------------------------------------------------------ opening */

/* The program's hints, known to us or not, but for ours. */
static MPI_Info hints_of(const drep_info *info)
{
    MPI_Info hints = MPI_INFO_NULL;
    int i;

    if (MPI_Info_create(&hints) != MPI_SUCCESS)
        return MPI_INFO_NULL;
    for (i = 0; i < drep_info_count(info); i++) {
        const char *key = drep_info_key(info, i), *value = drep_info_get(info, key);

        if (strncmp(key, "drep_", 5) && strlen(key) < MPI_MAX_INFO_KEY && *value &&
            strlen(value) < MPI_MAX_INFO_VAL)
            MPI_Info_set(hints, key, value);
    }
    return hints;
}

int mpiio_open(MPI_Comm comm, const char *path, int amode, const drep_info *info, MPI_File *out)
{
    int use = 0, opened, all = 0, err = try_it(comm, path, &use);
    int mode = amode & DREP_RDWR ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
    MPI_Info hints;
    MPI_File file;

    *out = MPI_FILE_NULL;
    if (err || !use)
        return err;
    hints = hints_of(info);
    err = glue_mpi(MPI_File_open(comm, path, mode, hints, &file), "MPI_File_open");
    if (hints != MPI_INFO_NULL)
        MPI_Info_free(&hints);
    opened = !err;
    if (glue_mpi(MPI_Allreduce(&opened, &all, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce"))
        return DREP_ERR_IO;
    if (all) {
        *out = file;
        return 0;
    }
    /* Closing is collective: a file that only some have open stays open.  Whoever did not ask for
     * MPI-IO does without. */
    if (mpiio_asked(info) != MPIIO_MPI)
        return 0;
    return err ? err : glue_fail(DREP_ERR_IO, "MPI_File_open failed on another rank");
}

/* ------------------------------------------------------------------ the rest */

/* Not in a child process.  Below MPI_THREAD_MULTIPLE only the thread that initialised MPI: what
 * other threads call at the same time, a program's own or workers of the library, nobody can know.
 */
static bool may_call(void)
{
    int level = MPI_THREAD_SINGLE, first = 0, finalised = 1;

    if (glue_in_child())
        return false;
    MPI_Finalized(&finalised);
    if (finalised)
        return false;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE)
        MPI_Is_thread_main(&first);
    return level == MPI_THREAD_MULTIPLE || first;
}

/* One piece of a transfer; *moved: its bytes. */
static int piece(MPI_File file, bool write, char *p, size_t size, uint64_t offset, size_t *moved)
{
    int n = (int)(size < PIECE ? size : PIECE), done = 0, result;
    MPI_Status status;

    result = write ? MPI_File_write_at(file, (MPI_Offset)offset, p, n, MPI_BYTE, &status)
                   : MPI_File_read_at(file, (MPI_Offset)offset, p, n, MPI_BYTE, &status);
    if (result == MPI_SUCCESS)
        result = MPI_Get_count(&status, MPI_BYTE, &done);
    *moved = (size_t)done;
    return glue_mpi(result, write ? "MPI_File_write_at" : "MPI_File_read_at");
}

static int transfer(MPI_File file, bool write, char *p, size_t size, uint64_t offset)
{
    size_t moved;
    int err = 0;

    for (; !err && size > 0; p += moved, size -= moved, offset += moved) {
        err = piece(file, write, p, size, offset, &moved);
        if (!err && !moved)
            err = write ? glue_fail(DREP_ERR_NO_SPACE, "MPI_File_write_at: no byte was written")
                        : glue_fail(DREP_ERR_TRUNCATE, "MPI_File_read_at: the file ends there");
    }
    return err;
}

int mpiio_read(void *state, const drep_range *range, size_t n)
{
    const MPI_File *file = state;
    int err = may_call() ? 0 : DREP_ERR_UNSUPPORTED_OPERATION;
    size_t i;

    for (i = 0; i < n && !err; i++)
        err = transfer(*file, false, range[i].buf, range[i].size, range[i].offset);
    return err;
}

int mpiio_write(void *state, const void *buf, size_t size, uint64_t offset)
{
    const MPI_File *file = state;

    if (!may_call())
        return DREP_ERR_UNSUPPORTED_OPERATION;
    return transfer(*file, true, (char *)(uintptr_t)buf, size, offset);
}
