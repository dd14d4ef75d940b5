/* measure.c - measures stored chunks before libhdf5 reads their elements.
 *
 * libhdf5 takes for granted that the filters of a chunk give as many bytes as the chunk has
 * elements for, and that nbit and scaleoffset are given as many as they read.  Of a damaged
 * chunk that gives fewer it copies what lies behind it in memory.  So each chunk is decoded
 * once before: by chunk.c where that knows the filters, else by libhdf5 itself, in a
 * file in memory whose dataset has the same filters and between them one of ours (a probe),
 * which sees how many bytes come through. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/measure.h"
#include "tools/h5/chunk.h"
#include "tools/h5/header.h"
#include "tools/h5/job.h"
#include "tools/walk/box.h"
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The probe's number: of the range for tests. */
#define PROBE_ID 289
/* Between all filters, and at both ends. */
#define FILTERS_MAX ((H5Z_MAX_NFILTERS - 1) / 2)
/* Larger chunks are not decoded by chunk.c. */
#define DECODED_MAX (256 << 20)
#define NBIT_PARAMETERS 256 /* libhdf5 tells no more of any filter */

/* One filter of the dataset. */
struct measure_stage {
    H5Z_filter_t id;
    int missing; /* libhdf5 has it not */
    size_t n;
    unsigned value[NBIT_PARAMETERS];
};

struct measure {
    struct job *j;
    hid_t dset, dcpl; /* the caller's */
    int rank, n;      /* n: filters */
    hsize_t chunk[H5S_MAX_RANK];
    int begun;            /* prepare() was called */
    size_t element, size; /* bytes of an element in the file, of a chunk; 0: not known */
    struct decoding *decoding;
    struct stored stored;
    struct bare_edge bare;
    int whole; /* of the chunk in `stored`; -1: none yet */
    struct measure_stage *stage;
    hid_t file, trial; /* in memory; -1: none */
    /* State of the chunk that goes through the probes. */
    unsigned skipped;
    int untold; /* libhdf5 does not tell all parameters of a filter */
    int short_input, reached;
    size_t got;
};

/* The measurement in hand: a filter of HDF5 is given nothing but numbers. */
static struct measure *probed;

/* -------------------------------------------------------------- stored chunks */

void bare_edge_read(struct bare_edge *e, hid_t dset, hid_t dcpl)
{
    int n = H5Pget_nfilters(dcpl);
    unsigned options = 0;
    hid_t space;

    e->rank = 0;
    if (n <= 0 || H5Pget_layout(dcpl) != H5D_CHUNKED || H5Pget_chunk_opts(dcpl, &options) < 0 ||
        !(options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS))
        return;
    space = H5Dget_space(dset);
    e->all = n < 32 ? (1u << n) - 1 : UINT32_MAX;
    e->rank = H5Pget_chunk(dcpl, H5S_MAX_RANK, e->chunk);
    if (H5Sget_simple_extent_dims(space, e->dims, NULL) != e->rank)
        e->rank = 0;
    H5Sclose(space);
}

int bare_edge_has(const struct bare_edge *e, const int64_t *start)
{
    int d;

    for (d = 0; d < e->rank; d++)
        if (e->dims[d] < (hsize_t)start[d] || e->dims[d] - (hsize_t)start[d] < e->chunk[d])
            return 1;
    return 0;
}

/* Reads the stored bytes; 0 if HDF5 cannot.  HDF5 takes the size of a chunk without filters for
 * granted, but reads as much as its index says: what is at the end of the buffer before
 * tells, and of two different marks one is no accident. */
static int read_marked(hid_t dset, struct stored *c, const hsize_t *at)
{
    static const uint8_t marks[] = {0xa5, 0x5a};
    size_t i, k, n = c->size < 8 ? c->size : 8;
    uint8_t *tail = c->bytes + c->size - n;
    uint32_t skipped = 0;

    for (i = 0; i < sizeof marks; i++) {
        memset(tail, marks[i], n);
        if (H5Dread_chunk(dset, H5P_DEFAULT, at, &skipped, c->bytes) < 0)
            return 0;
        c->skipped = skipped;
        for (k = 0; k < n; k++)
            if (tail[k] != marks[i])
                return 1;
    }
    c->size = 0;
    return 1;
}

int stored_read(struct job *j, hid_t dset, size_t chunk_size, struct stored *c)
{
    hsize_t at[H5S_MAX_RANK], size = 0;
    int d;

    c->there = c->read = c->good = c->excess = 0;
    for (d = 0; d < c->box.rank; d++)
        at[d] = (hsize_t)c->box.start[d];
    if (H5Dget_chunk_storage_size(dset, at, &size) < 0) {
        c->there = 1; /* HDF5 is to say what is wrong with it */
        return 0;
    }
    if (size == 0)
        return 0;
    c->there = 1;
    /* No filter here makes much more of a chunk than it was. */
    c->excess = size > 2 * (hsize_t)chunk_size + 4096;
    if (c->excess)
        return 0;
    if (size > c->room) {
        uint8_t *bytes = realloc(c->bytes, (size_t)size);

        if (!bytes)
            return job_no_memory(j);
        c->bytes = bytes;
        c->room = (size_t)size;
    }
    c->size = (size_t)size;
    c->read = c->good = read_marked(dset, c, at);
    if (c->bare && bare_edge_has(c->bare, c->box.start))
        c->skipped = c->bare->all;
    return 0;
}

/* ---------------------------------------------------------- input of a filter */

/* Bits that nbit stores for one element; *at is the place of its datatype's parameters.
 * UINT64_MAX where they are none. */
static uint64_t nbit_bits(const struct measure_stage *s, size_t *at, int depth)
{
    enum { ATOMIC = 1, ARRAY, COMPOUND, OPAQUE };
    uint64_t bits = 0, base;
    unsigned kind, size, members, i;

    if (*at + 2 > s->n || depth > 32)
        return UINT64_MAX;
    kind = s->value[*at];
    size = s->value[*at + 1];
    *at += 2;
    if (kind == OPAQUE)
        return (uint64_t)size * 8;
    if (kind == ATOMIC) {
        *at += 3; /* order, precision, offset */
        return *at <= s->n ? s->value[*at - 2] : UINT64_MAX;
    }
    if (kind == ARRAY) {
        unsigned whole = *at + 1 < s->n ? s->value[*at + 1] : 0;

        base = nbit_bits(s, at, depth + 1);
        return whole && base != UINT64_MAX ? size / whole * base : UINT64_MAX;
    }
    if (kind != COMPOUND || *at >= s->n)
        return UINT64_MAX;
    members = s->value[(*at)++];
    for (i = 0; i < members; i++) {
        (*at)++; /* its offset */
        base = nbit_bits(s, at, depth + 1);
        if (base == UINT64_MAX)
            return base;
        bits += base;
    }
    return bits;
}

static int nbit_enough(const struct measure_stage *s, size_t size)
{
    size_t at = 3;
    uint64_t bits, all;

    if (s->n > 1 && s->value[1])
        return 1; /* it stores the elements as they are */
    bits = nbit_bits(s, &at, 0);
    return bits != UINT64_MAX && !__builtin_mul_overflow(bits, s->value[2], &all) &&
           all / 8 + (all % 8 != 0) <= size;
}

/* A front of 21 bytes, which begins with the number of bits in an element. */
static int scaleoffset_enough(const struct measure_stage *s, const uint8_t *p, size_t size)
{
    uint64_t bits, all;

    if (size < 21 || s->n < 5)
        return 0;
    bits = (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
    return bits <= (uint64_t)s->value[4] * 8 && !__builtin_mul_overflow(bits, s->value[2], &all) &&
           all / 8 + (all % 8 != 0) <= size - 21;
}

/* True if the filter reads no more than it is given. */
static int input_enough(const struct measure_stage *s, const uint8_t *p, size_t size)
{
    switch (s->id) {
    case H5Z_FILTER_NBIT:
        return nbit_enough(s, size);
    case H5Z_FILTER_SCALEOFFSET:
        return scaleoffset_enough(s, p, size);
    case H5Z_FILTER_SZIP:
    case H5Z_FILTER_FLETCHER32:
        return size >= 4;
    default:
        return 1;
    }
}

/* The probe number value[0] stands before the filter of that number, on the way out, and sees
 * on the way in what that filter gave.  The first ends the reading: nobody wants the elements. */
static size_t probe(unsigned flags, size_t n, const unsigned value[], size_t size, size_t *room,
                    void **buffer)
{
    struct measure *m = probed;

    (void)room;
    if (!(flags & H5Z_FLAG_REVERSE) || !m || n < 1)
        return 0;
    if (value[0] == 0) {
        m->reached = 1;
        m->got = size;
        return 0;
    }
    if (value[0] <= (unsigned)m->n && !(m->skipped >> (value[0] - 1) & 1) &&
        !input_enough(&m->stage[value[0] - 1], *buffer, size)) {
        m->short_input = 1;
        return 0;
    }
    return size;
}

static const H5Z_class2_t probe_class = {.version = H5Z_CLASS_T_VERS,
                                         .id = PROBE_ID,
                                         .encoder_present = 1,
                                         .decoder_present = 1,
                                         .name = "datarep probe",
                                         .filter = probe};

/* ------------------------------------------------------------------ the trial */

static int stages_read(struct measure *m)
{
    unsigned flags, config;
    int i;

    m->stage = calloc((size_t)m->n + 1, sizeof *m->stage);
    if (!m->stage)
        return 0;
    for (i = 0; i < m->n; i++) {
        struct measure_stage *s = &m->stage[i];

        s->n = NBIT_PARAMETERS;
        s->id = H5Pget_filter2(m->dcpl, (unsigned)i, &flags, &s->n, s->value, 0, NULL, &config);
        m->untold |= s->n > NBIT_PARAMETERS;
        if (s->id < 0 || s->n > NBIT_PARAMETERS) {
            free(m->stage);
            m->stage = NULL;
            return 0;
        }
        s->missing = H5Zfilter_avail(s->id) <= 0;
    }
    return 1;
}

static int add_probe(hid_t dcpl, int number)
{
    unsigned value = (unsigned)number;

    return H5Pset_filter(dcpl, PROBE_ID, H5Z_FLAG_OPTIONAL, 1, &value) >= 0;
}

/* True if the chunk in hand went through the filter.  The trial lacks the others: versions of
 * libhdf5 lose the mask of skipped filters that H5Dwrite_chunk() is given. */
static int is_used(const struct measure *m, int i)
{
    return !m->stage[i].missing && !(m->skipped >> i & 1);
}

/* The properties of the dataset with probes between its filters; -1 on failure. */
static hid_t trial_plist(const struct measure *m)
{
    hid_t dcpl = H5Pcopy(m->dcpl);
    int i, ok = dcpl > 0 && H5Premove_filter(dcpl, H5Z_FILTER_ALL) >= 0 &&
                H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_INCR) >= 0 && add_probe(dcpl, 0);

    for (i = 0; ok && i < m->n; i++) {
        const struct measure_stage *s = &m->stage[i];

        /* Optional: it decodes, whether or not it could encode. */
        if (is_used(m, i))
            ok = H5Pset_filter(dcpl, s->id, H5Z_FLAG_OPTIONAL, s->n, s->value) >= 0;
        ok = ok && add_probe(dcpl, i + 1);
    }
    if (!ok && dcpl > 0)
        H5Pclose(dcpl);
    return ok ? dcpl : -1;
}

/* Number of parameters of a filter that say what memory it reads and writes; a datatype and a shape
 * imply them. */
static size_t implied(const struct measure_stage *s)
{
    switch (s->id) {
    case H5Z_FILTER_SCALEOFFSET:
        return 5;
    case H5Z_FILTER_NBIT:
    case H5Z_FILTER_SZIP:
        return s->n;
    default:
        return 0;
    }
}

/* True if the file's parameters are those that libhdf5 has set in the trial. */
static int same_parameters(const struct measure *m)
{
    hid_t dcpl = H5Dget_create_plist(m->trial);
    unsigned value[NBIT_PARAMETERS], flags, config, place = 1;
    int i, same = dcpl > 0;

    for (i = 0; same && i < m->n; i++) {
        const struct measure_stage *s = &m->stage[i];
        size_t n = NBIT_PARAMETERS;

        if (!is_used(m, i)) {
            place++;
            continue;
        }
        memset(value, 0, sizeof value);
        if (H5Pget_filter2(dcpl, place, &flags, &n, value, 0, NULL, &config) != s->id)
            same = 0;
        else if (implied(s))
            same = s->n == n && memcmp(s->value, value, implied(s) * sizeof *value) == 0;
        place += 2;
    }
    if (dcpl > 0)
        H5Pclose(dcpl);
    return same;
}

static hid_t memory_file(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), file = -1;

    if (fapl > 0 && H5Pset_fapl_core(fapl, 1 << 20, 0) >= 0)
        file = H5Fcreate("datarep-trial", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    if (fapl > 0)
        H5Pclose(fapl);
    return file;
}

/* 0 if there can be no trial. */
static int trial_begin(struct measure *m)
{
    if (m->file < 0 && m->n <= FILTERS_MAX && H5Zregister(&probe_class) >= 0)
        m->file = memory_file();
    return m->file > 0 && stages_read(m);
}

static void trial_close(struct measure *m)
{
    if (m->trial > 0)
        H5Dclose(m->trial);
    m->trial = -1;
}

/* A dataset of one chunk: a new one each time, as libhdf5 remembers the last chunk's size. */
static void trial_open(struct measure *m)
{
    hid_t stored = H5Dget_type(m->dset), type = stored > 0 ? H5Tcopy(stored) : -1;
    hid_t space = H5Screate_simple(m->rank, m->chunk, NULL), dcpl = trial_plist(m);

    if (type > 0 && space > 0 && dcpl > 0)
        m->trial = H5Dcreate_anon(m->file, type, space, dcpl, H5P_DEFAULT);
    if (m->trial > 0 && !same_parameters(m))
        trial_close(m);
    if (dcpl > 0)
        H5Pclose(dcpl);
    if (space > 0)
        H5Sclose(space);
    if (type > 0)
        H5Tclose(type);
    if (stored > 0)
        H5Tclose(stored);
}

/* True if the chunk in hand went through a filter that libhdf5 has not. */
static int misses_filter(const struct measure *m)
{
    int i;

    for (i = 0; i < m->n; i++)
        if (m->stage[i].missing && !(m->skipped >> i & 1))
            return 1;
    return 0;
}

/* Reads an element of the trial, which fails in the first probe. */
static int read_trial(struct measure *m)
{
    hsize_t origin[H5S_MAX_RANK] = {0}, one = 1;
    hid_t space = H5Dget_space(m->trial), type = H5Dget_type(m->trial);
    hid_t mem = H5Screate_simple(1, &one, NULL);
    void *element = calloc(1, H5Tget_size(type));
    int ready = element && mem > 0 && H5Sselect_elements(space, H5S_SELECT_SET, 1, origin) >= 0;

    if (ready) {
        probed = m;
        H5Dread(m->trial, type, mem, space, H5P_DEFAULT, element);
        probed = NULL;
    }
    free(element);
    H5Sclose(mem);
    H5Tclose(type);
    H5Sclose(space);
    return ready;
}

/* Sends the stored bytes through the filters of libhdf5. */
static int try_chunk(struct measure *m)
{
    const struct stored *c = &m->stored;
    hsize_t origin[H5S_MAX_RANK] = {0};
    int sent;

    if (!m->stage && !trial_begin(m))
        return DECODE_SHORT;
    m->skipped = c->skipped;
    m->short_input = m->reached = 0;
    m->got = 0;
    if (misses_filter(m))
        return DECODE_UNKNOWN; /* HDF5 says so */
    trial_open(m);
    sent = m->trial > 0 &&
           H5Dwrite_chunk(m->trial, H5P_DEFAULT, 0, origin, c->size, c->bytes) >= 0 &&
           read_trial(m);
    trial_close(m);
    if (!sent || m->short_input || (m->reached && m->got < m->size))
        return DECODE_SHORT;
    return m->reached ? DECODE_WHOLE : DECODE_UNKNOWN;
}

/* ---------------------------------------------------------------- measurement */

struct measure *measure_new(struct job *j, hid_t dset, hid_t dcpl, int rank, const hsize_t *chunk)
{
    struct measure *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    *m = (struct measure){.j = j,
                          .dset = dset,
                          .dcpl = dcpl,
                          .rank = rank,
                          .n = H5Pget_nfilters(dcpl),
                          .whole = -1,
                          .file = -1,
                          .trial = -1};
    memcpy(m->chunk, chunk, (size_t)rank * sizeof *chunk);
    return m;
}

/* Makes the state that most datasets never need. */
static void prepare(struct measure *m)
{
    size_t size;

    if (m->begun)
        return;
    m->begun = 1;
    m->element = dataset_element(m->dset);
    size = m->size = chunk_memory(m->element, m->rank, m->chunk);
    bare_edge_read(&m->bare, m->dset, m->dcpl);
    m->stored.bare = &m->bare;
    if (m->n > 0 && size > 0 && size <= DECODED_MAX)
        m->decoding = decoding_new(m->dcpl, m->element, size, 1, 0);
}

void measure_free(struct measure *m)
{
    if (!m)
        return;
    if (m->file > 0)
        H5Fclose(m->file);
    decoding_free(m->decoding);
    free(m->stored.bytes);
    free(m->stage);
    free(m);
}

/* True if HDF5 may read the chunk at c->box; HDF5 reports what it cannot read. */
static int chunk_whole(struct measure *m)
{
    struct stored *c = &m->stored;
    int how = DECODE_UNKNOWN;

    if (stored_read(m->j, m->dset, m->size, c) != 0 || c->excess)
        return 0;
    if (!c->good)
        return 1;
    if (m->n <= 0 || bare_edge_has(&m->bare, c->box.start))
        return c->size >= m->size;
    if (m->decoding)
        how = decode_chunk(m->decoding, 0, c->bytes, c->size, c->skipped, NULL);
    if (how == DECODE_UNKNOWN)
        how = try_chunk(m);
    return how != DECODE_SHORT;
}

/* The chunk at the box; the last one is remembered, as boxes may be parts of chunks. */
static int measure_chunk(struct measure *m, const struct box *chunk)
{
    struct stored *c = &m->stored;
    size_t size = (size_t)m->rank * sizeof *chunk->start;

    if (m->whole >= 0 && memcmp(c->box.start, chunk->start, size) == 0)
        return m->whole;
    c->box = *chunk;
    m->whole = -1;
    if (job_stopped(m->j) != 0)
        return 0;
    m->whole = chunk_whole(m);
    return m->whole;
}

int measure_box(struct measure *m, const struct box *block, int say)
{
    int64_t chunk[DREP_MAX_RANK], dims[DREP_MAX_RANK];
    struct box b;
    int d, whole = 1;

    prepare(m);
    if (m->size == 0)
        return 1;
    for (d = 0; d < block->rank; d++) {
        int64_t size = (int64_t)m->chunk[d], first = block->start[d] / size * size;

        chunk[d] = size;
        dims[d] = block->start[d] + block->count[d] - first;
    }
    box_init(&b, block->rank, dims, chunk);
    for (d = 0; d < block->rank; d++)
        b.base[d] = block->start[d] / chunk[d] * chunk[d];
    while (whole && box_next(&b))
        whole = measure_chunk(m, &b);
    if (!whole && say)
        job_fail(m->j, DREP_ERR_UNSUPPORTED, "%s",
                 m->untold ? "a filter has more parameters than libhdf5 tells"
                           : "a chunk holds less than chunks do");
    return whole;
}

/* -------------------------------------------------------------- whole datasets */

/* A dataset that was measured. */
struct measured {
    dev_t device;
    ino_t inode;
    haddr_t at;
    int whole;
};

static int compare_measured(const void *left, const void *right)
{
    const struct measured *a = left, *b = right;

    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Finds out which dataset of which file it is; 0 if that cannot be said. */
static int identify(hid_t dset, struct measured *out)
{
    hid_t file = H5Iget_file_id(dset);
    void *handle = NULL;
    struct stat st;
    H5O_info_t info;
    int known = file > 0 && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle &&
                fstat(*(int *)handle, &st) == 0 && H5Oget_info2(dset, &info, H5O_INFO_BASIC) >= 0;

    if (known)
        *out = (struct measured){.device = st.st_dev, .inode = st.st_ino, .at = info.addr};
    if (file > 0)
        H5Fclose(file);
    return known;
}

/* The chunks that are stored: by number where they are few in a large grid, as HDF5 finds the
 * k-th by counting, else cell by cell. */
static int measure_stored(struct measure *m, hid_t space, const hsize_t *extent)
{
    int64_t dims[DREP_MAX_RANK], chunk[DREP_MAX_RANK];
    hsize_t i, stored = 0, at[H5S_MAX_RANK], size;
    double cells = 1;
    unsigned mask;
    haddr_t address;
    struct box b;
    int d, whole = 1, by_index;

    for (d = 0; d < m->rank; d++) {
        dims[d] = (int64_t)extent[d];
        chunk[d] = (int64_t)m->chunk[d];
        cells *= dims[d] > 0 ? (double)((dims[d] - 1) / chunk[d] + 1) : 0;
    }
    if (H5Dget_num_chunks(m->dset, space, &stored) < 0)
        return 1; /* HDF5 cannot read them either */
    by_index = (double)stored * (double)stored < cells;
    box_init(&b, m->rank, dims, chunk);
    for (i = 0; whole && (by_index ? i < stored : box_next(&b)); i++) {
        if (by_index) {
            if (H5Dget_chunk_info(m->dset, space, i, at, &mask, &address, &size) < 0)
                return 1;
            for (d = 0; d < m->rank; d++)
                b.start[d] = (int64_t)at[d];
        }
        whole = measure_chunk(m, &b);
    }
    return whole;
}

static int measure_dataset(struct job *j, hid_t dset, hid_t dcpl)
{
    hsize_t dims[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    hid_t space = H5Dget_space(dset);
    int rank = space > 0 ? H5Sget_simple_extent_dims(space, dims, NULL) : -1, whole = 1;
    struct measure *m = NULL;

    if (rank > 0 && H5Pget_chunk(dcpl, H5S_MAX_RANK, chunk) == rank) {
        m = measure_new(j, dset, dcpl, rank, chunk);
        if (m)
            prepare(m);
        whole = m && (m->size == 0 || measure_stored(m, space, dims));
    }
    measure_free(m);
    if (space > 0)
        H5Sclose(space);
    return whole;
}

int measure_all(struct job *j, hid_t dset, hid_t dcpl)
{
    struct measured key, *entry, **found;
    int known = identify(dset, &key), whole;

    found = known ? tfind(&key, &j->measured, compare_measured) : NULL;
    if (found) {
        whole = (*found)->whole;
    } else {
        whole = key.whole = measure_dataset(j, dset, dcpl);
        entry = known ? malloc(sizeof *entry) : NULL;
        if (entry) {
            *entry = key;
            if (!tsearch(entry, &j->measured, compare_measured))
                free(entry);
        }
    }
    if (whole)
        return 0;
    if (job_stopped(j) != 0)
        return job_stopped(j);
    return job_fail(j, DREP_ERR_UNSUPPORTED, "a chunk of a source holds less than chunks do");
}

void measured_release(struct job *j)
{
    tdestroy(j->measured, free);
}
