/* pin.c - a virtual import: chunks stay in the HDF5 file, and the container names their bytes.
 *
 * What HDF5 says of addresses is not taken on trust: the bytes there are compared with those that
 * HDF5 reads.  A user block in front of the file moves all addresses in some versions. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/pin.h"
#include "tools/h5/interface.h"
#include "tools/walk/stretch.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STRETCH ((int64_t)64 << 10) /* bytes of a chunk, which is verified as a whole */
#define SMALL ((hsize_t)16 << 10)   /* a dataset that is rather copied */
#define PART ((size_t)64 << 10)

/* Chunks name at most so many times the bytes of the files that they are in (SPEC.md, R8.48). */
#define TIMES 16

/* A path as seen from the directory of the container; NULL: it is not below it. */
static const char *below(const char *source, const char *target)
{
    size_t n = strlen(target);

    return strncmp(source, target, n) == 0 ? source + n : NULL;
}

static int add_file(struct job *j, const char *path, int fd, struct pin_file *out)
{
    uint32_t number = 0;
    struct stat st;
    int err = drep_external_add(j->d, path, &number);

    if (err)
        return job_fail_drep(j, err);
    out->fd = fd;
    /* Numbers count up: one that is greater is new. */
    if (number > j->pinned.last && fstat(fd, &st) == 0) {
        j->pinned.last = number;
        j->pinned.files += (double)st.st_size;
    }
    out->number = number;
    return 0;
}

int pin_begin(struct job *j)
{
    char source[PATH_MAX], *target = j->pinned.directory, directory[PATH_MAX];
    const char *dst = j->o->dst, *slash = strrchr(dst, '/'), *path;
    size_t n = slash ? (size_t)(slash - dst) + 1 : 0;

    if (n >= sizeof directory)
        return job_fail(j, DREP_ERR_LIMIT, "%s: the path is too long", dst);
    memcpy(directory, dst, n);
    memcpy(directory + n, ".", 2);
    if (!realpath(j->o->src, source) || !realpath(directory, target) ||
        strlen(target) + 2 > PATH_MAX)
        return job_fail(j, DREP_ERR_ACCESS, "%s: its directory cannot be found", j->o->src);
    if (target[1])
        strcat(target, "/");
    path = below(source, target);
    if (!path)
        return job_fail(j, DREP_ERR_ARG,
                        "%s: a virtual container refers to files in or below its own directory, %s",
                        j->o->src, target);
    return add_file(j, path, j->guard.fd, &j->pinned.own);
}

void pin_opened(struct job *j)
{
    hid_t fcpl = H5Fget_create_plist(j->h);

    if (fcpl < 0 || H5Pget_userblock(fcpl, &j->pinned.own.base) < 0)
        j->pinned.own.base = 0;
    H5Pclose(fcpl);
}

int pin_source(struct job *j, hid_t dset, struct pin_file *out)
{
    hid_t file = H5Iget_file_id(dset), fcpl = file > 0 ? H5Fget_create_plist(file) : -1;
    char name[PATH_MAX] = "", real[PATH_MAX];
    void *handle = NULL;
    struct stat st, named;
    const char *path;
    int ok = fcpl > 0 && H5Pget_userblock(fcpl, &out->base) >= 0 &&
             H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle &&
             H5Fget_name(dset, name, sizeof name) > 0 && realpath(name, real);

    path = ok ? below(real, j->pinned.directory) : NULL;
    /* A failed call would end the import: the file must be the one that HDF5 has opened. */
    ok = path && *path && strlen(path) < 1024 && fstat(*(int *)handle, &st) == 0 &&
         lstat(real, &named) == 0 && S_ISREG(named.st_mode) && st.st_dev == named.st_dev &&
         st.st_ino == named.st_ino && add_file(j, path, *(int *)handle, out) == 0;
    if (fcpl > 0)
        H5Pclose(fcpl);
    if (file > 0)
        H5Fclose(file);
    return ok;
}

int pin_worth(const struct job *j, hsize_t bytes)
{
    return bytes > (j->o->headers ? 0 : SMALL);
}

int64_t pin_stretch(int64_t element)
{
    int64_t most = STRETCH / (element > 0 ? element : 1);

    return most > 0 ? most : 1;
}

int pin_wanted(const struct job *j, const struct h5_source *s)
{
    return j->o->pinned && s->layout == H5D_CONTIGUOUS && s->rank > 0 && s->map.kind == MAP_FLAT &&
           !s->map.variable && H5Pget_external_count(s->dcpl) == 0 &&
           H5Dget_offset(s->dset) != HADDR_UNDEF && pin_worth(j, H5Dget_storage_size(s->dset));
}

void pin_layout(const struct job *j, const struct h5_source *s, int64_t element, drep_spec *spec,
                int64_t *chunk)
{
    int64_t most = pin_stretch(element);
    int d;

    spec->layout = DREP_CHUNKED;
    spec->chunk = chunk;
    if (j->o->headers) {
        int64_t dims[DREP_MAX_RANK];

        for (d = 0; d < s->rank; d++)
            dims[d] = (int64_t)s->dims[d];
        stretch_chunk(s->rank, dims, element, chunk);
        return;
    }
    for (d = s->rank - 1; d >= 0; d--) {
        int64_t len = (int64_t)s->dims[d];

        chunk[d] = len < most ? len : most;
        /* Once a dimension is cut, the chunks before it are single rows. */
        most = chunk[d] < len ? 1 : most / chunk[d];
        most = most > 0 ? most : 1;
    }
}

static int holds(int fd, uint64_t address, const uint8_t *bytes, size_t size)
{
    uint8_t part[PART];
    size_t at, n;

    for (at = 0; at < size; at += n) {
        n = size - at < sizeof part ? size - at : sizeof part;
        if (pread(fd, part, n, (off_t)(address + at)) != (ssize_t)n ||
            memcmp(part, bytes + at, n) != 0)
            return 0;
    }
    return 1;
}

int pin_chunk(struct job *j, const struct pin_file *file, drep_dataset *ds, const int64_t *start,
              uint64_t address, const void *bytes, size_t size, uint32_t skipped, unsigned flags,
              int *done)
{
    hsize_t base = file->base;
    int err;

    *done = 0;
    if (address > INT64_MAX - base - size ||
        j->pinned.rows + (double)size > TIMES * j->pinned.files)
        return 0;
    if (bytes && !holds(file->fd, address, bytes, size)) {
        address += base;
        if (base == 0 || !holds(file->fd, address, bytes, size))
            return 0;
    }
    err = drep_write_external(ds, start, file->number, (int64_t)address, (int64_t)size, skipped,
                              flags);
    if (err)
        return job_fail_drep(j, err);
    j->pinned.rows += (double)size;
    *done = 1;
    return 0;
}
