/* header.c - messages of object headers, read from the bytes of the file.
 *
 * libhdf5 takes the size of a fill value from its message and the bytes that it copies from
 * the datatype: a damaged file makes it read beyond its memory.  What it does not check is
 * checked here, before it is asked ("HDF5 File Format Specification", IV). */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/header.h"
#include "tools/h5/job.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER_MAX ((uint64_t)16 << 20) /* bytes of all blocks of a header */
#define BLOCKS_MAX 4096
#define UNKNOWN UINT64_MAX
#define HSIZE_MAX ((hsize_t)-1)

enum {
    MSG_DATATYPE = 3,
    MSG_FILL_OLD = 4,
    MSG_FILL = 5,
    MSG_SHARED_TABLE = 15,
    MSG_CONTINUATION = 16
};
enum { FLAG_SHARED = 2 };

/* A file as HDF5 has it open. */
struct raw_header {
    struct guard_handle file;
    uint64_t base; /* of its addresses */
    size_t address_size, length_size;
};

/* The decoded fields of an object header. */
struct messages {
    uint64_t fill;   /* bytes of the fill value, UNKNOWN: there is none */
    int fill_shared; /* it stands elsewhere: in a heap, under this number */
    uint8_t fill_id[8];
    int fill_kind;     /* MSG_FILL or MSG_FILL_OLD */
    uint64_t type;     /* bytes of an element in the file, UNKNOWN: not said here */
    uint64_t type_at;  /* the object that says it, UNKNOWN: none */
    uint64_t table_at; /* of the heaps of shared messages, UNKNOWN: not said here */
    uint64_t tables;   /* rows of it */
};

/* Blocks of a header that are still to be read. */
struct header_blocks {
    struct {
        uint64_t at, size;
    } list[64];
    size_t n, seen;
    uint64_t total;
};

/* Bytes of one block. */
struct header_bytes {
    const uint8_t *p;
    size_t left;
};

static uint64_t header_take(struct header_bytes *b, size_t size)
{
    uint64_t n = 0;
    size_t i;

    if (!b->p || size > b->left) {
        b->left = 0;
        return UNKNOWN;
    }
    for (i = size; i-- > 0;)
        n = n << 8 | b->p[i];
    b->p += size;
    b->left -= size;
    return n;
}

static int read_whole(const struct raw_header *r, uint8_t *p, size_t size, uint64_t at)
{
    ssize_t n = 1;

    for (; size > 0 && n > 0; size -= (size_t)n, p += n, at += (uint64_t)n) {
        n = guard_pread(&r->file, p, size, at);
        if (n <= 0)
            return 0;
    }
    return 1;
}

static uint8_t *read_at(const struct raw_header *r, uint64_t at, uint64_t size)
{
    uint8_t *p = size && size <= HEADER_MAX ? malloc((size_t)size) : NULL;

    if (p && at <= INT64_MAX - r->base && read_whole(r, p, (size_t)size, r->base + at))
        return p;
    free(p);
    return NULL;
}

/* ------------------------------------------------------------------- messages */

/* The size that a message says, up to its value.  Version 1 has a size without a value too;
 * -1 is none. */
static uint64_t fill_size(struct header_bytes *b, int old)
{
    uint64_t version, flags, size;

    if (old) {
        size = header_take(b, 4);
    } else if ((version = header_take(b, 1)) == 3) {
        flags = header_take(b, 1);
        size = flags != UNKNOWN && flags & 0x20 ? header_take(b, 4) : 0;
    } else {
        header_take(b, 2);
        flags = header_take(b, 1);
        size = version == 1 || flags == 1 ? header_take(b, 4) : 0;
    }
    return size >= 0x80000000u ? 0 : size;
}

static void take_fill(struct header_bytes b, int old, struct messages *m)
{
    m->fill = fill_size(&b, old);
    if (m->fill > b.left)
        m->fill = b.left;
}

/* Another object's datatype, or one in the heap of shared messages, of which nothing is
 * known. */
static void take_shared_type(struct header_bytes b, const struct raw_header *r, struct messages *m)
{
    uint64_t version = header_take(&b, 1), kind = header_take(&b, 1);

    if (version == 1)
        header_take(&b, 6);
    if (version <= 2 || (version == 3 && kind == 2))
        m->type_at = header_take(&b, r->address_size);
}

static void take_message(const struct raw_header *r, uint64_t kind, uint64_t flags,
                         struct header_bytes b, struct header_blocks *blocks, struct messages *m)
{
    int shared = (flags & FLAG_SHARED) != 0;

    if (kind == MSG_CONTINUATION && blocks->n < sizeof blocks->list / sizeof *blocks->list) {
        blocks->list[blocks->n].at = header_take(&b, r->address_size);
        blocks->list[blocks->n].size = header_take(&b, r->length_size);
        blocks->n++;
    } else if (kind == MSG_DATATYPE && shared) {
        take_shared_type(b, r, m);
    } else if (kind == MSG_DATATYPE) {
        header_take(&b, 4);
        m->type = header_take(&b, 4);
    } else if (kind == MSG_SHARED_TABLE && !shared) {
        header_take(&b, 1);
        m->table_at = header_take(&b, r->address_size);
        m->tables = header_take(&b, 1);
    } else if ((kind == MSG_FILL || kind == MSG_FILL_OLD) && shared) {
        m->fill_shared = 1;
        m->fill_kind = (int)kind;
        if (b.left >= 10 && b.p[0] == 3 && b.p[1] == 1)
            memcpy(m->fill_id, b.p + 2, sizeof m->fill_id);
    } else if (kind == MSG_FILL || (kind == MSG_FILL_OLD && m->fill == UNKNOWN)) {
        take_fill(b, kind == MSG_FILL_OLD, m);
    }
}

/* The messages of a block; `head`: bytes before the type, the size and the flags of each. */
static void take_block(const struct raw_header *r, int version, int tracked, struct header_bytes b,
                       struct header_blocks *blocks, struct messages *m)
{
    size_t head = version == 1 ? 8 : tracked ? 6 : 4;

    while (b.left >= head) {
        uint64_t kind = header_take(&b, version == 1 ? 2 : 1), size = header_take(&b, 2),
                 flags = header_take(&b, 1);
        struct header_bytes one;

        header_take(&b, version == 1 ? 3 : tracked ? 2 : 0);
        if (size > b.left)
            return;
        one = (struct header_bytes){b.p, (size_t)size};
        take_message(r, kind, flags, one, blocks, m);
        b.p += size;
        b.left -= size;
    }
}

/* The first block of a header of either version; its version, 0 if it is none. */
static int first_block(const struct raw_header *r, uint64_t at, struct header_blocks *blocks,
                       int *tracked)
{
    uint8_t *p = read_at(r, at, 16);
    struct header_bytes b = {p, 16};
    uint64_t flags, size;
    int version = 0;

    *tracked = 0;
    blocks->n = 1;
    if (p && memcmp(p, "OHDR", 4) == 0) {
        version = 2;
        header_take(&b, 5);
        flags = header_take(&b, 1);
        *tracked = (flags & 4) != 0;
        at += 6u + (flags & 0x20 ? 16u : 0u) + (flags & 0x10 ? 4u : 0u);
        free(p);
        p = read_at(r, at, 8);
        b = (struct header_bytes){p, p ? (size_t)1 << (flags & 3) : 0};
        size = header_take(&b, b.left);
        blocks->list[0].at = at + ((uint64_t)1 << (flags & 3));
        blocks->list[0].size = size;
    } else if (p && *p == 1) {
        version = 1;
        header_take(&b, 8);
        blocks->list[0].size = header_take(&b, 4);
        blocks->list[0].at = at + 16;
    }
    if (!p)
        version = 0;
    free(p);
    return version;
}

/* All messages of the header at an address; 0 if it is none. */
static int read_header(const struct raw_header *r, uint64_t at, struct messages *m)
{
    struct header_blocks blocks = {.n = 0};
    int tracked, first = 1, version = first_block(r, at, &blocks, &tracked);

    *m = (struct messages){
        .fill = UNKNOWN, .type = UNKNOWN, .type_at = UNKNOWN, .table_at = UNKNOWN};
    while (version && blocks.n > 0 && blocks.seen++ < BLOCKS_MAX && blocks.total < HEADER_MAX) {
        uint64_t begin = blocks.list[--blocks.n].at, size = blocks.list[blocks.n].size;
        uint8_t *p = read_at(r, begin, size);
        struct header_bytes b = {p, p ? (size_t)size : 0};

        blocks.total += b.left;
        /* A later block of version 2 stands between its signature and its sum. */
        if (p && version == 2 && !first && b.left >= 8) {
            header_take(&b, 4);
            b.left -= 4;
        }
        take_block(r, version, tracked, b, &blocks, m);
        free(p);
        first = 0;
    }
    return version;
}

/* -------------------------------------------------------------- shared messages */

/* A fractal heap, as far as its small objects are concerned. */
struct heap {
    uint64_t width, start, most, bits, root, rows;
};

/* The heap that holds fill values: the superblock names an object that names a table. */
static uint64_t find_heap(const struct raw_header *r)
{
    size_t a = r->address_size, row = 14 + 2 * a;
    uint8_t *p = read_at(r, 0, 12 + 2 * a);
    struct header_bytes b = {p, p ? 12 + 2 * a : 0};
    uint64_t extension = UNKNOWN, heap = UNKNOWN, i;
    struct messages m;

    if (p && p[8] >= 2) {
        header_take(&b, 12 + a);
        extension = header_take(&b, a);
    }
    free(p);
    if (extension == UNKNOWN || !read_header(r, extension, &m) || m.table_at == UNKNOWN)
        return UNKNOWN;
    p = read_at(r, m.table_at, 4 + m.tables * row);
    b = (struct header_bytes){p, p ? 4 + (size_t)m.tables * row : 0};
    header_take(&b, 4);
    for (i = 0; p && i < m.tables && heap == UNKNOWN; i++) {
        uint64_t kinds;

        header_take(&b, 2);
        kinds = header_take(&b, 2);
        header_take(&b, 10 + a);
        heap = header_take(&b, a);
        if (!(kinds & 1 << MSG_FILL))
            heap = UNKNOWN;
    }
    free(p);
    return heap;
}

static int read_heap(const struct raw_header *r, uint64_t at, struct heap *h)
{
    size_t a = r->address_size, l = r->length_size, before = 14 + 10 * l + 2 * a;
    size_t size = before + 2 + 2 * l + 4 + a + 2;
    uint8_t *p = read_at(r, at, size);
    struct header_bytes b = {p, p ? size : 0};

    header_take(&b, before);
    *h = (struct heap){
        .width = header_take(&b, 2), .start = header_take(&b, l), .most = header_take(&b, l)};
    h->bits = header_take(&b, 2);
    header_take(&b, 2);
    h->root = header_take(&b, a);
    h->rows = header_take(&b, 2);
    free(p);
    /* Without a filter, or all of it lies elsewhere. */
    return p && h->width > 0 && h->width <= 1024 && h->start >= 64 && h->start <= HEADER_MAX &&
           h->bits > 0 && h->bits <= 64 && h->rows <= 64 && h->root != UNKNOWN;
}

/* Find the byte `offset` of the heap: in its only block, or in one of a doubling table. */
static uint64_t heap_address(const struct raw_header *r, const struct heap *h, uint64_t offset)
{
    uint64_t row, block, size = 0, before = 0, index;
    uint64_t front = 5 + r->address_size + (h->bits + 7) / 8;
    struct header_bytes b;
    uint8_t *p;

    if (h->rows == 0)
        return offset < h->start ? h->root + offset : UNKNOWN;
    for (row = 0; row < h->rows; row++, before += size * h->width) {
        size = row < 2 ? h->start : h->start << (row - 1);
        if (size > h->most || size > HEADER_MAX)
            return UNKNOWN;
        if (offset - before < size * h->width)
            break;
    }
    if (row == h->rows)
        return UNKNOWN;
    index = row * h->width + (offset - before) / size;
    p = read_at(r, h->root + front + index * r->address_size, r->address_size);
    b = (struct header_bytes){p, p ? r->address_size : 0};
    block = header_take(&b, r->address_size);
    free(p);
    return block == UNKNOWN ? UNKNOWN : block + (offset - before) % size;
}

/* The size of a fill value in the heap; 0 if it cannot be found. */
static int find_shared_fill(const struct raw_header *r, struct messages *m)
{
    struct header_bytes id = {m->fill_id, sizeof m->fill_id};
    uint64_t flags = header_take(&id, 1), heap = flags & 0xf0 ? UNKNOWN : find_heap(r), at;
    struct heap h;
    uint8_t *p;
    int size;

    if (heap == UNKNOWN || !read_heap(r, heap, &h))
        return 0;
    at = heap_address(r, &h, header_take(&id, (size_t)(h.bits + 7) / 8));
    /* The size of the value stands in its first bytes; the value itself is HDF5's. */
    for (size = 16, p = NULL; at != UNKNOWN && !p && size > 5; size--)
        p = read_at(r, at, (uint64_t)size);
    if (p) {
        struct header_bytes b = {p, (size_t)size + 1};

        m->fill = fill_size(&b, m->fill_kind == MSG_FILL_OLD);
    }
    free(p);
    return p != NULL;
}

int header_sizes(int fd, uint64_t at, size_t address_size, uint64_t *fill, uint64_t *type)
{
    struct raw_header r = {
        .file = {.fd = fd}, .address_size = address_size, .length_size = address_size};
    struct messages m;
    int version = read_header(&r, at, &m);

    *fill = m.fill;
    *type = m.type;
    return version;
}

/* ------------------------------------------------------------------ the question */

static int raw_open(hid_t object, struct raw_header *r, uint64_t *at)
{
    hid_t file = H5Iget_file_id(object), fcpl = file < 0 ? -1 : H5Fget_create_plist(file);
    hsize_t base = 0;
    H5O_info_t info;
    void *handle = NULL;
    int ok = fcpl >= 0 && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle &&
             H5Pget_sizes(fcpl, &r->address_size, &r->length_size) >= 0 &&
             H5Pget_userblock(fcpl, &base) >= 0 && H5Oget_info2(object, &info, H5O_INFO_BASIC) >= 0;

    if (ok) {
        r->file = *(struct guard_handle *)handle;
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
static uint64_t element_size(const struct raw_header *r, hid_t dset, const struct messages *m)
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

static int header_check_fill(struct job *j, hid_t dset)
{
    struct messages m;
    struct raw_header r = {.file = {.fd = -1}};
    uint64_t at, size;

    /* Without the bytes HDF5's word must do. */
    if (!raw_open(dset, &r, &at) || !read_header(&r, at, &m))
        return 0;
    if (m.fill_shared && !find_shared_fill(&r, &m))
        return job_fail(j, DREP_ERR_UNSUPPORTED,
                        "the fill value that it shares with other objects is not found");
    if (m.fill == UNKNOWN || m.fill == 0)
        return 0;
    size = element_size(&r, dset, &m);
    if (size == UNKNOWN || m.fill >= size)
        return 0;
    return job_fail(j, DREP_ERR_UNSUPPORTED,
                    "its fill value has %llu bytes and its elements %llu: damaged",
                    (unsigned long long)m.fill, (unsigned long long)size);
}

/* One dataset is asked several times in a row. */
static int is_checked(struct job *j, hid_t dset)
{
    H5O_info_t info;

    if (H5Oget_info2(dset, &info, H5O_INFO_BASIC) < 0) {
        job_fail_hdf5(j, "dataset");
        return 0;
    }
    if (j->checked && j->checked == info.addr && j->checked_file == info.fileno)
        return 1;
    if (header_check_fill(j, dset) != 0)
        return 0;
    j->checked = info.addr;
    j->checked_file = info.fileno;
    return 1;
}

hid_t dataset_plist(struct job *j, hid_t dset)
{
    hid_t dcpl;

    if (!is_checked(j, dset))
        return -1;
    dcpl = H5Dget_create_plist(dset);
    if (dcpl < 0)
        job_fail_hdf5(j, "dataset");
    return dcpl;
}

size_t dataset_element(hid_t dset)
{
    struct messages m;
    struct raw_header r = {.file = {.fd = -1}};
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
