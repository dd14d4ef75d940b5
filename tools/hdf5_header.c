/* hdf5_header.c - messages of object headers, read from the bytes of the file.
 *
 * libhdf5 takes the size of a fill value from its message and the bytes that it copies from
 * the datatype: a damaged file makes it read beyond its memory.  What it does not check is
 * checked here, before it is asked ("HDF5 File Format Specification", IV). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/hdf5_parts.h"

#define HEADER_MAX ((uint64_t)16 << 20) /* bytes of all blocks of a header */
#define BLOCKS_MAX 4096
#define UNKNOWN UINT64_MAX
#define HSIZE_MAX ((hsize_t)-1)

enum { MSG_DATATYPE = 3, MSG_FILL_OLD = 4, MSG_FILL = 5, MSG_CONTINUATION = 16 };
enum { FLAG_SHARED = 2 };

/* A file as HDF5 has it open. */
struct raw {
    int fd;
    uint64_t base; /* of its addresses */
    size_t address_size, length_size;
};

/* What a header says. */
struct messages {
    uint64_t fill;    /* bytes of the fill value, UNKNOWN: there is none */
    int fill_shared;  /* it stands elsewhere */
    uint64_t type;    /* bytes of an element in the file, UNKNOWN: not said here */
    uint64_t type_at; /* the object that says it, UNKNOWN: none */
};

/* Blocks of a header that are still to be read. */
struct blocks {
    struct {
        uint64_t at, size;
    } list[64];
    size_t n, seen;
    uint64_t total;
};

/* Bytes of one block. */
struct bytes {
    const uint8_t *p;
    size_t left;
};

static uint64_t take(struct bytes *b, size_t size)
{
    uint64_t n = 0;
    size_t i;

    if (size > b->left) {
        b->left = 0;
        return UNKNOWN;
    }
    for (i = size; i-- > 0;)
        n = n << 8 | b->p[i];
    b->p += size;
    b->left -= size;
    return n;
}

static uint8_t *read_at(const struct raw *r, uint64_t at, uint64_t size)
{
    uint8_t *p = size && size <= HEADER_MAX ? malloc((size_t)size) : NULL;

    if (p && at <= INT64_MAX - r->base &&
        pread(r->fd, p, (size_t)size, (off_t)(r->base + at)) == (ssize_t)size)
        return p;
    free(p);
    return NULL;
}

/* ------------------------------------------------------------------- messages */

static void take_fill(struct bytes b, int old, struct messages *m)
{
    uint64_t version, flags, size;

    if (old) {
        m->fill = take(&b, 4);
        return;
    }
    version = take(&b, 1);
    if (version == 3) {
        flags = take(&b, 1);
        size = flags != UNKNOWN && flags & 0x20 ? take(&b, 4) : 0;
    } else {
        take(&b, 2);
        flags = take(&b, 1);
        size = version == 1 || flags == 1 ? take(&b, 4) : 0;
    }
    /* Version 1 has a size without a value too; -1 is none. */
    m->fill = size >= 0x80000000u ? 0 : size;
    if (m->fill > b.left)
        m->fill = b.left;
}

/* Another object's datatype, or one in the heap of shared messages, of which nothing is
 * known. */
static void take_shared_type(struct bytes b, const struct raw *r, struct messages *m)
{
    uint64_t version = take(&b, 1), kind = take(&b, 1);

    if (version == 1)
        take(&b, 6);
    if (version <= 2 || (version == 3 && kind == 2))
        m->type_at = take(&b, r->address_size);
}

static void take_message(const struct raw *r, uint64_t kind, uint64_t flags, struct bytes b,
                         struct blocks *blocks, struct messages *m)
{
    int shared = (flags & FLAG_SHARED) != 0;

    if (kind == MSG_CONTINUATION && blocks->n < sizeof blocks->list / sizeof *blocks->list) {
        blocks->list[blocks->n].at = take(&b, r->address_size);
        blocks->list[blocks->n].size = take(&b, r->length_size);
        blocks->n++;
    } else if (kind == MSG_DATATYPE && shared) {
        take_shared_type(b, r, m);
    } else if (kind == MSG_DATATYPE) {
        take(&b, 4);
        m->type = take(&b, 4);
    } else if ((kind == MSG_FILL || kind == MSG_FILL_OLD) && shared) {
        m->fill_shared = 1;
    } else if (kind == MSG_FILL || (kind == MSG_FILL_OLD && m->fill == UNKNOWN)) {
        take_fill(b, kind == MSG_FILL_OLD, m);
    }
}

/* The messages of a block; `head`: bytes before the type, the size and the flags of each. */
static void take_block(const struct raw *r, int version, int tracked, struct bytes b,
                       struct blocks *blocks, struct messages *m)
{
    size_t head = version == 1 ? 8 : tracked ? 6 : 4;

    while (b.left >= head) {
        uint64_t kind = take(&b, version == 1 ? 2 : 1), size = take(&b, 2), flags = take(&b, 1);
        struct bytes one;

        take(&b, version == 1 ? 3 : tracked ? 2 : 0);
        if (size > b.left)
            return;
        one = (struct bytes){b.p, (size_t)size};
        take_message(r, kind, flags, one, blocks, m);
        b.p += size;
        b.left -= size;
    }
}

/* The first block of a header of either version; its version, 0 if it is none. */
static int first_block(const struct raw *r, uint64_t at, struct blocks *blocks, int *tracked)
{
    uint8_t *p = read_at(r, at, 16);
    struct bytes b = {p, 16};
    uint64_t flags, size;
    int version = 0;

    *tracked = 0;
    blocks->n = 1;
    if (p && memcmp(p, "OHDR", 4) == 0) {
        version = 2;
        take(&b, 5);
        flags = take(&b, 1);
        *tracked = (flags & 4) != 0;
        at += 6u + (flags & 0x20 ? 16u : 0u) + (flags & 0x10 ? 4u : 0u);
        free(p);
        p = read_at(r, at, 8);
        b = (struct bytes){p, p ? (size_t)1 << (flags & 3) : 0};
        size = take(&b, b.left);
        blocks->list[0].at = at + ((uint64_t)1 << (flags & 3));
        blocks->list[0].size = size;
    } else if (p && *p == 1) {
        version = 1;
        take(&b, 8);
        blocks->list[0].size = take(&b, 4);
        blocks->list[0].at = at + 16;
    }
    if (!p)
        version = 0;
    free(p);
    return version;
}

/* All messages of the header at an address; 0 if it is none. */
static int read_header(const struct raw *r, uint64_t at, struct messages *m)
{
    struct blocks blocks = {.n = 0};
    int tracked, first = 1, version = first_block(r, at, &blocks, &tracked);

    *m = (struct messages){.fill = UNKNOWN, .type = UNKNOWN, .type_at = UNKNOWN};
    while (version && blocks.n > 0 && blocks.seen++ < BLOCKS_MAX && blocks.total < HEADER_MAX) {
        uint64_t begin = blocks.list[--blocks.n].at, size = blocks.list[blocks.n].size;
        uint8_t *p = read_at(r, begin, size);
        struct bytes b = {p, p ? (size_t)size : 0};

        blocks.total += b.left;
        /* A later block of version 2 stands between its signature and its sum. */
        if (p && version == 2 && !first && b.left >= 8) {
            take(&b, 4);
            b.left -= 4;
        }
        take_block(r, version, tracked, b, &blocks, m);
        free(p);
        first = 0;
    }
    return version;
}

/* ------------------------------------------------------------------ the question */

static int raw_open(hid_t object, struct raw *r, uint64_t *at)
{
    hid_t file = H5Iget_file_id(object), fcpl = file < 0 ? -1 : H5Fget_create_plist(file);
    hsize_t base = 0;
    H5O_info_t info;
    void *handle = NULL;
    int ok = fcpl >= 0 && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle &&
             H5Pget_sizes(fcpl, &r->address_size, &r->length_size) >= 0 &&
             H5Pget_userblock(fcpl, &base) >= 0 && H5Oget_info2(object, &info, H5O_INFO_BASIC) >= 0;

    if (ok) {
        r->fd = *(int *)handle;
        r->base = base;
        *at = (uint64_t)info.addr;
        ok = r->address_size <= 8 && r->length_size <= 8;
    }
    if (fcpl >= 0)
        H5Pclose(fcpl);
    if (file >= 0)
        H5Fclose(file);
    return ok;
}

/* Bytes of an element in the file, as far as it is known. */
static uint64_t element_size(const struct raw *r, hid_t dset, const struct messages *m)
{
    struct messages other;
    uint64_t size = m->type;
    hid_t type;

    if (size == UNKNOWN && m->type_at != UNKNOWN && read_header(r, m->type_at, &other))
        size = other.type;
    if (size != UNKNOWN)
        return size;
    /* Shared: HDF5 says it, for elements that are as large in memory. */
    type = H5Dget_type(dset);
    if (type > 0 && H5Tdetect_class(type, H5T_VLEN) == 0 && H5Tis_variable_str(type) == 0)
        size = H5Tget_size(type);
    if (type > 0)
        H5Tclose(type);
    return size;
}

static int check_fill(struct job *j, hid_t dset)
{
    struct messages m;
    struct raw r = {.fd = -1};
    uint64_t at, size;

    /* Without the bytes HDF5's word must do. */
    if (!raw_open(dset, &r, &at) || !read_header(&r, at, &m))
        return 0;
    if (m.fill_shared)
        return job_fail(j, DREP_ERR_UNSUPPORTED,
                        "its fill value is shared with other objects: it cannot be checked");
    if (m.fill == UNKNOWN || m.fill == 0)
        return 0;
    size = element_size(&r, dset, &m);
    if (size == UNKNOWN || m.fill >= size)
        return 0;
    return job_fail(j, DREP_ERR_UNSUPPORTED,
                    "its fill value has %llu bytes and its elements %llu: damaged",
                    (unsigned long long)m.fill, (unsigned long long)size);
}

hid_t dataset_plist(struct job *j, hid_t dset)
{
    hid_t dcpl;

    if (check_fill(j, dset) != 0)
        return -1;
    dcpl = H5Dget_create_plist(dset);
    if (dcpl < 0)
        job_fail_hdf5(j, "dataset");
    return dcpl;
}

size_t dataset_element(hid_t dset)
{
    struct messages m;
    struct raw r = {.fd = -1};
    uint64_t at, size;

    if (!raw_open(dset, &r, &at) || !read_header(&r, at, &m))
        return 0;
    size = element_size(&r, dset, &m);
    return size < SIZE_MAX ? (size_t)size : 0;
}

int dataset_check_storage(struct job *j, hid_t dset, hid_t dcpl)
{
    H5D_layout_t layout = H5Pget_layout(dcpl);
    hid_t space = H5Dget_space(dset);
    hssize_t n = space > 0 ? H5Sget_simple_extent_npoints(space) : 0;
    hsize_t stored = H5Dget_storage_size(dset), element = dataset_element(dset), need;

    if (space > 0)
        H5Sclose(space);
    if ((layout != H5D_COMPACT && layout != H5D_CONTIGUOUS) || n <= 0 || stored == 0 ||
        H5Pget_external_count(dcpl) > 0)
        return 0;
    if (__builtin_mul_overflow((hsize_t)n, element, &need))
        need = HSIZE_MAX;
    if (stored >= need)
        return 0;
    return job_fail(j, DREP_ERR_UNSUPPORTED, "%llu bytes are stored of %llu: damaged",
                    (unsigned long long)stored, (unsigned long long)need);
}
