/* transfer.h - one read or write of elements, and what its layouts share; inside data/.
 *
 * A transfer is cut into parts, one for each chunk or slab that it touches.  A part's
 * elements come as runs: places in the chunk, and the numbers they have in the transfer. */
#ifndef DATA_TRANSFER_H
#define DATA_TRANSFER_H

#include "base/pool.h"
#include "elem/data.h"

#define PARALLEL_MIN ((uint64_t)1 << 20) /* bytes to be moved below which threads do not pay */
#define FILL_PIECE (64 << 10)            /* bytes of fill that are converted at once */

/* Of a selection that is no box: n neighbours of one chunk. */
struct cut_run {
    int64_t chunk; /* its number in the grid, row-major */
    int64_t at;    /* element in it */
    int64_t n;
    int64_t mem; /* number of the first in the transfer */
};

struct transfer {
    drep_dataset *ds;
    struct drep_selection all;
    const struct drep_selection *sel;
    struct conv conv; /* what each part starts from */
    char *mem;
    bool writing;
    int threads;
    const drep_xfer *xfer;
    pthread_mutex_t lock; /* of the report */

    /* Chunked boxes: the chunks that the box touches, dimension by dimension: the first and
     * how many. */
    int64_t chunk0[DREP_MAX_RANK], chunks[DREP_MAX_RANK];
    bool apart[DREP_MAX_RANK]; /* no two selected indices fall into one chunk */
    int64_t nparts;

    /* Other selections, a batch at a time: pieces in grid order, where those of each chunk
     * begin, how many chunks. */
    struct cut_run *piece;
    int64_t *group;
    bool begun; /* something may have been changed */
};

/* What is done with the runs of a part after the last one; ctx as of its run_fn. */
typedef int flush_fn(void *ctx);

struct stage;

/* Moves the elements of one part.  The layout sees runs of stored elements: those of memory,
 * which its converter converts; where a user's functions convert, those of a stage, which
 * brings the elements of the part together, so that one call converts them. */
struct mover {
    struct transfer *t;  /* as the layout sees it */
    struct conv c;       /* of the layout */
    struct stage *stage; /* NULL: there is none */
    run_fn *fn;          /* the layout's, for the runs that come */
    flush_fn *flush;     /* may be NULL */
    void *ctx;
};

/* What of the selection falls into one chunk. */
struct part {
    uint64_t coord[DREP_MAX_RANK];
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK];
    int64_t from[DREP_MAX_RANK], len[DREP_MAX_RANK];
    int64_t n;   /* selected elements */
    int64_t all; /* elements that the dataset has of this chunk; points may be the same ones
                    twice: then more */
    const struct cut_run *piece; /* when they are not of a box */
    int64_t npieces;
};

static inline uint64_t bytes_of(const drep_dataset *ds, int64_t n)
{
    return (uint64_t)n * (uint64_t)ds->esize;
}

/* Elements of a full chunk or slab. */
static inline int64_t chunk_elements(const drep_dataset *ds)
{
    return ds->esize > 0 ? (int64_t)(ds->chunks.payload / (uint64_t)ds->esize) : 0;
}

/* ---- transfer.c ---- */

/* A part's own converter, and its report taken back. */
void conv_begin(const struct transfer *t, struct conv *c);
void conv_end(const struct transfer *t, const struct conv *c);
/* Moves stored elements as they are. */
void conv_raw(struct conv *c, const drep_dataset *ds);
/* Where element number `at` of the transfer lies, when bytes are the same on both sides. */
char *plain_memory(const struct transfer *t, int64_t at);
/* Puts the chunk's coordinates in front of a message. */
int name_chunk(const struct transfer *t, const struct part *p, int err);

/* ---- compact.c ---- */

int compact_run(struct transfer *t);

/* ---- stage.c ---- */

/* A part of about n elements, which must stay where it is until part_end(); that gives err
 * back.  DREP_ERR_NOMEM: nothing to end. */
int part_begin(struct mover *m, struct transfer *t, int64_t n);
int part_end(struct mover *m, int err);
/* Where runs go from here on, until part_flush(). */
void part_take(struct mover *m, run_fn *fn, flush_fn *flush, void *ctx);
int part_run(void *mover, int64_t at, int64_t step, int64_t n, int64_t mem);
/* The transfer of the part ends; gives err back if something failed already. */
int part_flush(struct mover *m, int err);

/* ---- parts.c ---- */

/* Part number i; of a box n may be 0. */
void part_of(const struct transfer *t, int64_t i, struct part *p);
/* Calls fn for its runs, upwards in the chunk, then flush. */
int part_runs(struct mover *m, const struct part *p, run_fn *fn, flush_fn *flush, void *ctx);
/* Cuts the selection into parts and calls fn with t->nparts of them at a time. */
typedef int parts_fn(struct transfer *t);
int parts_each(struct transfer *t, parts_fn *fn);
/* Threads for parts that must move so many bytes in all. */
int threads_for(const struct transfer *t, uint64_t bytes);

/* ---- gather.c: reading what is not decoded whole ---- */

#define GATHER_RUNS 256
struct gather {
    struct transfer *t;
    struct conv *c;
    struct work *w; /* with the chunk at hand */
    uint64_t size;  /* bytes of it that are stored */
    uint64_t low, high, limit;
    uint64_t blocks, wanted;
    int n;
    struct {
        int64_t at, step, n, mem;
    } run[GATHER_RUNS];
};
/* Takes runs of the chunk at hand, upwards; gather_flush() ends them. */
void gather_init(struct gather *g, struct transfer *t, struct conv *c, struct work *w,
                 uint64_t size);
int gather_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem);
int gather_flush(void *gather);
/* A chunk that is not stored: as many elements of fill as are selected. */
struct filler {
    struct transfer *t;
    struct conv *c;
    struct buf *b;
    bool ready;
};
int fill_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem);

/* ---- scatter.c: writing what is not decoded whole ---- */

/* Runs of one unfiltered chunk, upwards: those near each other are patched together. */
struct scatter {
    struct transfer *t;
    struct conv *c;
    const uint64_t *coord;
    struct buf *b;
    uint64_t low, high;
    uint64_t filled; /* bytes of it that are written */
    int n;
    struct {
        int64_t at, step, n, mem;
    } run[GATHER_RUNS];
};
int scatter_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem);
int scatter_flush(void *scatter);
/* All elements that a box or pieces select of one chunk into its payload at b, which has
 * room; elements outside of the dataset are fill. */
int part_payload(struct transfer *t, const struct part *p, uint8_t *b, uint64_t size);

/* ---- contiguous.c, chunked.c, collected.c ---- */

int contiguous_run(struct transfer *t);
int chunked_read(struct transfer *t);
int chunked_write(struct transfer *t);
/* Writes the parts of chunks that are decoded whole. */
int collected_write(struct transfer *t);

/* Converts runs of a payload that lies in memory. */
struct in_memory {
    struct transfer *t;
    struct conv *c;
    uint8_t *payload;
};
int memory_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem);

#endif
