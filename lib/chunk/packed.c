/* packed.c - runs of filtered chunks that the operation under way changes.
 *
 * In memory the rows of a run may lie anywhere.  When the run goes into the tree, rows that follow
 * each other without a gap become packed records, others placed ones. */
/* SPDX-License-Identifier: MIT */
#include "chunk/packed.h"

#include "base/error.h"
#include "base/mem.h"
#include "chunk/run_order.h"
#include "chunk/payload.h"
#include "chunk/run.h"
#include "tree/edit.h"
#include "tree/find.h"

#define LONG_RUN 64 /* rows from which on a run ends if it cannot grow in place */

struct packed_row {
    uint64_t offset, sum;
    uint32_t size;
    bool fresh; /* written by the operation */
    bool clean; /* the bytes behind it in its last line were never used */
};

struct packed_run {
    struct chunks cs;
    uint64_t coord[FMT_RANK_MAX];
    uint64_t used;
    struct coding coding;
    uint32_t n;
    uint32_t file; /* external rows: the file that has them; 0: this one */
    struct packed_row row[FMT_PACKED_MAX];
};

/* ---- lines ---- */

static uint64_t row_end(const struct packed_row *row)
{
    return row->offset + row->size;
}

static uint64_t low_line(const struct packed_row *row)
{
    return row->offset / FMT_ALIGN * FMT_ALIGN;
}

static uint64_t high_line(const struct packed_row *row)
{
    return round_up(row_end(row), FMT_ALIGN);
}

static bool share_line(const struct packed_row *a, const struct packed_row *b)
{
    return a->size && b->size && low_line(a) < high_line(b) && low_line(b) < high_line(a);
}

/* True if a row before number k shares a line with one from k on. */
static bool shared_at(const struct packed_run *p, uint32_t k)
{
    for (uint32_t i = 0; !p->file && i < k; i++) {
        for (uint32_t j = k; j < p->n; j++) {
            if (share_line(&p->row[i], &p->row[j]))
                return true;
        }
    }
    return false;
}

/* Free the lines of a row that no other row needs; the row has none then. */
static void release_row(struct packed_run *p, uint32_t i)
{
    struct packed_row *row = &p->row[i];
    uint64_t low = low_line(row), high = high_line(row);

    if (p->file)
        return;
    for (uint32_t j = 0; row->size && j < p->n; j++) {
        const struct packed_row *other = &p->row[j];

        if (j == i || !share_line(row, other))
            continue;
        if (other->offset < row->offset)
            low = low > high_line(other) ? low : high_line(other);
        else
            high = high < low_line(other) ? high : low_line(other);
    }
    if (row->size && low < high)
        space_free(p->cs.st, low, high - low, WITH_OP);
    row->size = 0;
    row->fresh = row->clean = false;
}

/* True if other rows use bytes that row i would take in the last line of the row before it: they
 * followed when that row was shorter, or was another one. */
static bool in_the_way(const struct packed_run *p, uint32_t i, uint32_t size)
{
    uint64_t from = row_end(&p->row[i - 1]);

    for (uint32_t j = 0; j < p->n; j++) {
        const struct packed_row *row = &p->row[j];

        if (row->size && row->offset < from + size && row_end(row) > from)
            return true;
    }
    return false;
}

/* Find space for row i behind the row before it; false: there is none. */
static bool place_behind(const struct packed_run *p, uint32_t i, uint32_t size, bool moved,
                         uint64_t *offset)
{
    const struct packed_row *last = &p->row[i - 1];
    uint64_t from = high_line(last), hole;
    struct store *st = p->cs.st;

    if (row_end(last) > FMT_SIZE_MAX - size || in_the_way(p, i, size))
        return false;
    /* A chunk that moves shall not lengthen the file while there is room in it. */
    if (moved && from == st->space->end && extents_fit(&st->space->avail, size, FMT_ALIGN, &hole))
        return false;
    *offset = row_end(last);
    if (*offset < st->space->settled) /* the line may have left with a stream */
        return false;
    return *offset + size <= from || space_alloc_at(st, from, *offset + size - from);
}

/* Find space for a row, which has none: behind the row before it, or lines of its own. */
static int place_row(struct packed_run *p, uint32_t i, uint32_t size, bool moved)
{
    struct packed_row *row = &p->row[i];
    const struct packed_row *last = i > 0 ? &p->row[i - 1] : NULL;
    int err = 0;

    if (last && last->clean && (size == 0 || place_behind(p, i, size, moved, &row->offset))) {
        row->offset = row_end(last);
        row->clean = true;
    } else if (size == 0) {
        row->offset = FMT_SPACE_START; /* no bytes, so it may be anywhere */
        row->clean = false;
    } else {
        err = space_alloc(p->cs.st, size, FMT_ALIGN, WITH_OP, &row->offset);
        row->clean = !err;
    }
    row->size = err ? 0 : size;
    row->fresh = !err;
    return err;
}

/* Move a row with its bytes to lines of its own. */
static int move_row(struct packed_run *p, uint32_t i)
{
    struct packed_row old = p->row[i], new;
    int err = space_alloc(p->cs.st, old.size, FMT_ALIGN, WITH_OP, &new.offset);

    if (!err)
        err = payload_copy(p->cs.st, old.offset, old.size, new.offset);
    if (err)
        return err;
    release_row(p, i);
    p->row[i] = old;
    p->row[i].offset = new.offset;
    p->row[i].fresh = p->row[i].clean = true;
    return 0;
}

/* ---- into the tree ---- */

/* Number of rows from i on that a packed record can have. */
static uint32_t packed_rows(const struct packed_run *p, uint32_t i)
{
    uint32_t n = 1;

    if (p->row[i].offset % FMT_ALIGN)
        return 0;
    while (i + n < p->n && p->row[i + n].offset == row_end(&p->row[i + n - 1]))
        n++;
    return p->row[i + n - 1].clean && !shared_at(p, i + n) ? n : 0;
}

/* Number of rows from i on for a placed record, so that what follows shares no line with them. */
static int placed_rows(struct packed_run *p, uint32_t i, uint32_t *n)
{
    uint32_t most = p->n - i;
    int err = 0;

    *n = most;
    if (most <= FMT_PLACED_MAX)
        return 0;
    for (*n = FMT_PLACED_MAX; *n > 0 && shared_at(p, i + *n); (*n)--)
        continue;
    if (*n > 0)
        return 0;
    *n = FMT_PLACED_MAX;
    for (uint32_t j = i + *n; !err && j < p->n; j++) {
        for (uint32_t k = 0; !err && k < i + *n; k++) {
            if (share_line(&p->row[k], &p->row[j]))
                err = move_row(p, j);
        }
    }
    return err;
}

static int store_rows(struct packed_run *p, uint32_t from, uint32_t n, uint8_t kind)
{
    struct chunk_rec rec = {.kind = kind,
                            .kept = p->coding.flags,
                            .skipped = p->coding.skipped,
                            .run = n,
                            .file = p->file};
    uint64_t coord[FMT_RANK_MAX];
    struct buf rows = {0};
    struct out out;
    int err;

    memcpy(coord, p->coord, (size_t)p->cs.rank * sizeof(*coord));
    run_order_step(&p->cs, coord, from);
    buf_out(&rows, &out);
    for (uint32_t i = from; i < from + n; i++)
        chunk_row_put(&out, kind, p->row[i].offset, p->row[i].size, p->row[i].sum);
    err = buf_done(&rows, &out);
    rec.filtered = true;
    rec.offset = p->row[from].offset;
    rec.rows = (struct span){rows.p, rows.len};
    if (!err)
        err = record_put(&p->cs, coord, &rec);
    buf_release(&rows);
    return err;
}

static int store_run(struct packed_run *p)
{
    int err = 0;

    if (p->file)
        return store_rows(p, 0, p->n, FMT_CHUNK_EXTERNAL);
    for (uint32_t i = 0, n; !err && i < p->n; i += n) {
        uint32_t packed = packed_rows(p, i);

        n = packed;
        if (i + packed == p->n || packed > FMT_PLACED_MAX) {
            err = store_rows(p, i, n, FMT_CHUNK_PACKED);
            continue;
        }
        err = placed_rows(p, i, &n);
        if (!err)
            err = store_rows(p, i, n, FMT_CHUNK_PLACED);
    }
    return err;
}

static void close_run(struct packed_runs *runs, int i)
{
    mem_free(runs->open[i]);
    runs->open[i] = runs->open[--runs->n];
}

/* Store the run of an object, 0: of any, that waited longest; so keys mostly come to the tree in
 * order.  *found: there was one. */
static int store_oldest(struct packed_runs *runs, uint64_t object, bool *found)
{
    int err, oldest = -1;

    for (int i = 0; i < runs->n; i++) {
        if ((!object || runs->open[i]->cs.object == object) &&
            (oldest < 0 || runs->open[i]->used < runs->open[oldest]->used))
            oldest = i;
    }
    *found = oldest >= 0;
    if (oldest < 0)
        return 0;
    err = store_run(runs->open[oldest]);
    if (!err)
        close_run(runs, oldest);
    return err;
}

int packed_flush(struct store *st, uint64_t object)
{
    bool more = packed_waits(st);
    int err = 0;

    while (!err && more)
        err = store_oldest(&st->runs->packed, object, &more);
    return err;
}

bool packed_waits(const struct store *st)
{
    return st->runs->packed.n > 0;
}

void packed_drop(struct packed_runs *runs)
{
    while (runs->n > 0)
        close_run(runs, runs->n - 1);
}

/* ---- opening ---- */

static int packed_run_new(struct chunks *cs, const uint64_t *coord, struct coding coding,
                          struct packed_run **out)
{
    struct packed_runs *runs = &cs->st->runs->packed;
    struct packed_run *p;
    bool found;
    int err = runs->n == PACKED_OPEN ? store_oldest(runs, 0, &found) : 0;

    if (err)
        return err;
    p = mem_alloc(sizeof(*p));
    if (!p)
        return DREP_ERR_NOMEM;
    p->cs = *cs;
    memcpy(p->coord, coord, (size_t)cs->rank * sizeof(*coord));
    p->used = ++runs->clock;
    p->coding = coding;
    p->file = 0;
    p->n = 0;
    runs->open[runs->n++] = p;
    *out = p;
    return 0;
}

/* Take a record out of the tree.  Fields that a later version added are dropped: they may not be
 * true any more when the run has changed. */
static int open_record(struct chunks *cs, const struct key *key, const uint64_t *coord,
                       const struct chunk_rec *rec, struct packed_run **out)
{
    uint64_t end = store_end(cs->st), at = 0;
    struct chunk_lines lines;
    struct packed_run *p;
    int err = 0;

    if (chunk_lines(rec, &lines))
        return fail_byte(DREP_ERR_FORMAT, rec->offset, "rows of a run overlap at byte %llu (R8.39)",
                         (unsigned long long)rec->offset);
    for (uint32_t i = 0; i < lines.n; i++) {
        if (lines.at[i].offset > end || lines.at[i].length > end - lines.at[i].offset)
            return fail_byte(DREP_ERR_FORMAT, lines.at[i].offset,
                             "chunks at byte %llu lie outside the file (R2.14)",
                             (unsigned long long)lines.at[i].offset);
    }
    err = packed_run_new(cs, coord, coding_of(rec), &p);
    if (!err)
        p->file = rec->file;
    for (uint32_t i = 0; !err && i < rec->run; i++) {
        struct chunk_rec one;

        chunk_row(rec, i, &at, &one);
        p->row[p->n++] = (struct packed_row){one.offset, one.sum[0], (uint32_t)one.size, false,
                                             rec->kind == FMT_CHUNK_PACKED && i + 1 == rec->run};
    }
    if (!err)
        err = tree_del(cs->st, key);
    *out = err ? NULL : p;
    return err;
}

static struct packed_run *covering(const struct chunks *cs, const uint64_t *coord, uint32_t *index)
{
    const struct packed_runs *runs = &cs->st->runs->packed;

    for (int i = 0; i < runs->n; i++) {
        struct packed_run *p = runs->open[i];
        uint64_t at;

        if (p->cs.object == cs->object && run_order_distance(cs, p->coord, coord, &at) &&
            at < p->n) {
            *index = (uint32_t)at;
            return p;
        }
    }
    return NULL;
}

bool packed_find(const struct chunks *cs, const uint64_t *coord, struct chunk_rec *out)
{
    const struct packed_row *row;
    uint32_t i;
    const struct packed_run *p = covering(cs, coord, &i);

    if (!p)
        return false;
    row = &p->row[i];
    *out = (struct chunk_rec){.kind = p->file ? FMT_CHUNK_EXTERNAL : FMT_CHUNK_PLACED,
                              .filtered = true,
                              .kept = p->coding.flags,
                              .skipped = p->coding.skipped,
                              .run = 1,
                              .file = p->file,
                              .offset = row->offset,
                              .size = row->size,
                              .nsums = 1};
    out->sum[0] = row->sum;
    return true;
}

/* The run that has a chunk, as row `index`; or the run that ends before it, with `index` its
 * length; or neither. */
struct found_run {
    struct packed_run *run;
    uint32_t index;
    bool plain; /* a plain run has it */
};

static struct packed_run *ending(const struct chunks *cs, const uint64_t *coord)
{
    const struct packed_runs *runs = &cs->st->runs->packed;

    for (int i = 0; i < runs->n; i++) {
        struct packed_run *p = runs->open[i];
        uint64_t at;

        if (p->cs.object == cs->object && run_order_distance(cs, p->coord, coord, &at) &&
            at == p->n)
            return p;
    }
    return NULL;
}

/* True if a run that ends before a chunk may take it; file: the one that has the chunk. */
static bool packed_may_extend(const struct packed_run *p, struct coding coding, uint32_t file)
{
    uint32_t most = !p->file && p->n == packed_rows(p, 0) ? FMT_PACKED_MAX : FMT_PLACED_MAX;

    return coding_same(p->coding, coding) && p->file == file && p->n < most;
}

static int packed_run_find(struct chunks *cs, const uint64_t *coord, struct coding coding,
                           struct found_run *f)
{
    struct buf value = {0};
    uint64_t at[FMT_RANK_MAX], n;
    struct chunk_rec rec;
    struct key key, found;
    int err;

    rec.run = 0;
    f->plain = false;
    f->run = covering(cs, coord, &f->index);
    if (f->run)
        return 0;
    chunk_key(cs, coord, &key);
    err = tree_floor(cs->st, &key, RECORDS_PREFIX, &found, &value);
    if (!err)
        err = chunk_entry(cs, &found, &value, at, &rec);
    if (!err && !rec.filtered) {
        f->plain = chunk_same_row(cs->rank, at, coord) &&
                   chunk_last(cs->rank, coord) - chunk_last(cs->rank, at) < rec.run;
    } else if (!err && run_order_distance(cs, at, coord, &n) &&
               (n < rec.run ||
                (n == rec.run && coding_same(coding_of(&rec), coding) && n < FMT_PACKED_MAX))) {
        err = open_record(cs, &found, at, &rec, &f->run);
        f->index = (uint32_t)n;
    }
    buf_release(&value);
    if (err == DREP_ERR_NOT_FOUND)
        err = 0;
    if (!err && !f->run && !f->plain && (f->run = ending(cs, coord)))
        f->index = f->run->n;
    return err;
}

/* ---- changing ---- */

static void close_packed_run(const struct packed_run *p)
{
    struct packed_runs *runs = &p->cs.st->runs->packed;
    int i = 0;

    while (runs->open[i] != p)
        i++;
    close_run(runs, i);
}

/* Take a row out of its run; the rows behind it become a run of their own. */
static int cut_row(struct packed_run *p, uint32_t i)
{
    uint32_t behind = p->n - i - 1;
    struct packed_run *rest;
    uint64_t coord[FMT_RANK_MAX];
    int err = 0;

    release_row(p, i);
    for (uint32_t j = i + 1; !err && !p->file && j < p->n; j++) {
        for (uint32_t k = 0; !err && k < i; k++) {
            if (share_line(&p->row[k], &p->row[j]))
                err = move_row(p, j);
        }
    }
    if (err)
        return err;
    memcpy(coord, p->coord, (size_t)p->cs.rank * sizeof(*coord));
    run_order_step(&p->cs, coord, i + 1);
    if (p->n == 1) {
        close_packed_run(p);
        return 0;
    }
    if (i == 0) {
        memcpy(p->coord, coord, (size_t)p->cs.rank * sizeof(*coord));
        memmove(p->row, p->row + 1, behind * sizeof(*p->row));
        p->n = behind;
        return 0;
    }
    p->n = i;
    if (behind == 0)
        return 0;
    p->used = ++p->cs.st->runs->packed.clock; /* so that it is not closed now */
    err = packed_run_new(&p->cs, coord, p->coding, &rest);
    if (err)
        return err;
    memcpy(rest->row, p->row + i + 1, behind * sizeof(*p->row));
    rest->n = behind;
    rest->file = p->file;
    return 0;
}

/* Finish a change.  Runs stay open until the operation ends, or, outside of one, the call. */
static int settle(struct store *st, int err)
{
    store_changed(st);
    return !err && !store_op_active(st) ? packed_flush(st, 0) : err;
}

/* True if a long run cannot grow in place: a new run takes no more room, and is packed. */
static bool better_anew(const struct packed_run *p, uint32_t size)
{
    const struct packed_row *last = &p->row[p->n - 1];
    struct extent e;
    uint64_t from = high_line(last), need = row_end(last) + size;

    if (p->n < LONG_RUN || need <= from || from == p->cs.st->space->end)
        return false;
    return !last->clean || !extents_find(&p->cs.st->space->avail, from, &e) ||
           need - from > e.length - (from - e.offset);
}

int packed_write(struct chunks *cs, const uint64_t *coord, uint64_t size, uint64_t sum,
                 struct coding coding, uint64_t *offset, bool *plain)
{
    struct store *st = cs->st;
    struct found_run f;
    bool moved;
    int err;

    if (size > UINT32_MAX)
        return fail(DREP_ERR_LIMIT, "a filtered chunk of %llu bytes", (unsigned long long)size);
    err = packed_run_find(cs, coord, coding, &f);
    if (err)
        return err;
    *plain = f.plain;
    if (f.plain)
        return 0;
    moved = f.run && f.index < f.run->n;
    if (moved && (!coding_same(f.run->coding, coding) || f.run->file)) {
        err = cut_row(f.run, f.index);
        f.run = NULL;
    } else if (moved) {
        release_row(f.run, f.index);
    } else if (f.run && (!packed_may_extend(f.run, coding, 0) ||
                         (!*offset && better_anew(f.run, (uint32_t)size)))) {
        f.run = NULL;
    }
    if (!err && !f.run) {
        err = packed_run_new(cs, coord, coding, &f.run);
        f.index = 0;
    }
    if (err)
        return err;
    if (f.index == f.run->n)
        f.run->row[f.run->n++] = (struct packed_row){0};
    if (*offset)
        f.run->row[f.index] = (struct packed_row){
            .offset = *offset, .size = (uint32_t)size, .fresh = true, .clean = true};
    else
        err = place_row(f.run, f.index, (uint32_t)size, moved);
    f.run->row[f.index].sum = sum;
    f.run->used = ++st->runs->packed.clock;
    *offset = f.run->row[f.index].offset;
    return settle(st, err);
}

int packed_point(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *to)
{
    struct store *st = cs->st;
    struct found_run f;
    int err = packed_run_find(cs, coord, coding_of(to), &f);

    if (err)
        return err;
    if (f.run && f.index < f.run->n) {
        err = cut_row(f.run, f.index);
        f.run = NULL;
    } else if (f.run && !packed_may_extend(f.run, coding_of(to), to->file)) {
        f.run = NULL;
    }
    if (!err && !f.run)
        err = packed_run_new(cs, coord, coding_of(to), &f.run);
    if (err)
        return err;
    f.run->file = to->file;
    f.run->row[f.run->n++] =
        (struct packed_row){.offset = to->offset, .size = (uint32_t)to->size, .sum = to->sum[0]};
    f.run->used = ++st->runs->packed.clock;
    return settle(st, 0);
}

int packed_remove(struct chunks *cs, const uint64_t *coord)
{
    struct found_run f;
    int err = packed_run_find(cs, coord, (struct coding){0}, &f);

    if (!err && f.run && f.index < f.run->n)
        err = cut_row(f.run, f.index);
    return settle(cs->st, err);
}
