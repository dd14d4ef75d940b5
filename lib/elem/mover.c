/* mover.c - moves the elements of one part between its layout and memory. */
/* SPDX-License-Identifier: MIT */
#include "elem/mover.h"

#include "base/mem.h"
#include "base/vec.h"
#include "conv/functions.h"

#include <datarep.h>
#include <pthread.h>

#define RUNS_MAX ((int64_t)1 << 16) /* runs that are noted before the stage counts as full */

/* ---- converters ---- */

/* Copies the transfer's converter for one part, with a report of its own. */
void conv_begin(const struct transfer *t, struct conv *c)
{
    *c = t->conv;
    c->report = NO_LOSSES;
    if (c->opts.report)
        c->opts.report = &c->report;
}

/* Adds the part's report to that of the transfer; parts run in several threads. */
void conv_end(const struct transfer *t, const struct conv *c)
{

    if (!t->xfer || !t->xfer->report)
        return;
    pthread_mutex_lock(t->lock);
    conv_report(c, t->xfer);
    pthread_mutex_unlock(t->lock);
}

void conv_raw(struct conv *c, const drep_dataset *ds, const struct byte_ranges *ranges)
{
    *c = (struct conv){.rep = ds->rep,
                       .ft = ds->ft,
                       .mem = ds->ft->type,
                       .sizes = &ds->rep->sizes,
                       .stored = &ds->ft->stored,
                       .ranges = ranges,
                       .raw = true,
                       .copy = !ranges};
}

char *plain_memory(const struct transfer *t, int64_t at)
{
    return t->mem + at * t->ds->esize;
}

int memory_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct in_memory *s = ctx;
    int64_t es = s->t->ds->esize;
    uint8_t *p = s->payload + at * es;

    return s->t->writing ? conv_write(s->c, s->t->mem, mem, p, step * es, n)
                         : conv_read(s->c, s->t->mem, mem, p, step * es, n);
}

/* ---- the stage ---- */

/* Elements of memory from number `mem` on; in a write, also where they belong. */
struct stage_run {
    int64_t at, step, n, mem;
};

/* The buffer in which the elements of a part stand back to back for a user's functions. */
struct part_stage {
    struct transfer *t;  /* the caller's */
    struct conv conv;    /* by functions */
    struct transfer raw; /* the layout's: stored elements as they are, from the buffer */
    int64_t n, room;     /* elements in the buffer */
    struct stage_run *run;
    struct mem_run *mem_run; /* memory's runs, for functions_move() */
    int64_t nruns;
    size_t run_room, mem_run_room;
    struct mem_run next; /* where the transfer may go on */
};

/* Elements that the stage holds: those of the part, as far as staging allows. */
static int64_t stage_room(const struct conv *c, int64_t n)
{
    int64_t room = c->staging / c->stored->extent;

    room = room > 1 ? room : 1;
    return n < room ? n : room;
}

static void stage_free(struct part_stage *s)
{
    if (!s)
        return;
    mem_free(s->raw.mem);
    mem_free(s->run);
    mem_free(s->mem_run);
    mem_free(s);
}

/* Begins a part. With a stage, the layout gets a transfer of its own, whose memory is the stage. */
int part_begin(struct part_mover *m, struct transfer *t, int64_t n)
{
    struct part_stage *s;

    *m = (struct part_mover){.t = t};
    conv_begin(t, &m->c);
    if (!conv_calls(&t->conv))
        return 0;
    s = mem_zalloc(1, sizeof *s);
    if (!s)
        return fail_nomem();
    s->t = t;
    s->room = stage_room(&t->conv, n);
    s->raw = *t;
    s->raw.mem = mem_array((uint64_t)s->room, (uint64_t)t->ds->esize);
    if (!s->raw.mem) {
        stage_free(s);
        return fail_nomem();
    }
    conv_begin(t, &s->conv);
    conv_raw(&m->c, t->ds, t->writing ? t->conv.ranges : NULL);
    s->raw.conv = m->c;
    m->t = &s->raw;
    m->stage = s;
    return 0;
}

int part_end(struct part_mover *m, int err)
{
    if (m->stage)
        conv_end(m->stage->t, &m->stage->conv);
    else
        conv_end(m->t, &m->c);
    stage_free(m->stage);
    return err;
}

void part_take(struct part_mover *m, run_fn *fn, flush_fn *flush, void *ctx)
{
    m->fn = fn;
    m->flush = flush;
    m->ctx = ctx;
}

/* Converts between the stage and memory: one transfer of the functions, which may go on where the
 * last one ended. */
static int stage_convert(struct part_mover *m)
{
    struct part_stage *s = m->stage;
    struct conv *c = &s->conv;

    c->heap = m->c.heap;
    c->heap_size = m->c.heap_size;
    c->heap_out = m->c.heap_out;
    c->heap_base = m->c.heap_base;
    for (int64_t i = 0; i < s->nruns; i++)
        s->mem_run[i] = (struct mem_run){s->run[i].mem, s->run[i].n};
    return functions_move(c, s->t->mem, s->mem_run, s->nruns, s->n, (uint8_t *)s->raw.mem,
                          s->t->writing, &s->next);
}

/* Empties the stage: a read lets the layout finish its runs and then converts, a write converts and
 * then hands the runs to the layout. */
static int stage_empty(struct part_mover *m)
{
    struct part_stage *s = m->stage;
    int64_t k = 0;
    int err = 0;

    if (s->n == 0)
        return 0;
    if (!s->t->writing && m->flush)
        err = m->flush(m->ctx);
    if (!err)
        err = stage_convert(m);
    for (int64_t i = 0; s->t->writing && !err && i < s->nruns; k += s->run[i++].n)
        err = m->fn(m->ctx, s->run[i].at, s->run[i].step, s->run[i].n, k);
    if (!err && s->t->writing && m->flush)
        err = m->flush(m->ctx);
    s->n = s->nruns = 0;
    return err;
}

/* True if the run goes on where the last one ends, in memory and, in a write, in the chunk. */
static bool runs_join(const struct part_stage *s, struct stage_run *last, const struct stage_run *r)
{
    int64_t step;

    if (r->mem != last->mem + last->n)
        return false;
    if (!s->t->writing)
        return true;
    step = last->n > 1 ? last->step : r->at - last->at;
    if (step < 1 || (r->n > 1 && r->step != step) || r->at != last->at + last->n * step)
        return false;
    last->step = step;
    return true;
}

/* Notes a run of memory that the stage holds. */
static int stage_note(struct part_stage *s, const struct stage_run *r)
{
    if (s->nruns > 0 && runs_join(s, &s->run[s->nruns - 1], r)) {
        s->run[s->nruns - 1].n += r->n;
        return 0;
    }
    if (VEC_ROOM(s->run, (size_t)s->nruns, s->run_room, 1) != 0 ||
        VEC_ROOM(s->mem_run, (size_t)s->nruns, s->mem_run_room, 1) != 0)
        return DREP_ERR_NOMEM;
    s->run[s->nruns++] = *r;
    return 0;
}

/* Moves a run of a chunk of a source: memory holds its elements where they stand in the chunk. */
static int source_run(struct part_mover *m, int64_t at, int64_t step, int64_t n)
{
    int err = 0;

    if (step == 1 || m->given)
        return m->fn(m->ctx, at, step, n, at);
    for (int64_t i = 0; !err && i < n; i++)
        err = m->fn(m->ctx, at + i * step, 1, 1, at + i * step);
    return err;
}

/* Moves a run: at once, or through the stage, which is emptied when it is full. */
int part_run(void *mover, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct part_mover *m = mover;
    struct part_stage *s = m->stage;
    int err = 0;

    if (m->t->from)
        return source_run(m, at, step, n);
    if (!s)
        return m->fn(m->ctx, at, step, n, mem);
    for (int64_t now; !err && n > 0; n -= now, at += now * step, mem += now) {
        if (s->n == s->room || s->nruns == RUNS_MAX)
            err = stage_empty(m);
        now = n < s->room - s->n ? n : s->room - s->n;
        if (!err)
            err = stage_note(s, &(struct stage_run){at, step, now, mem});
        if (!err && !s->t->writing)
            err = m->fn(m->ctx, at, step, now, s->n);
        s->n += now;
    }
    return err;
}

/* Ends the transfer of the part; the next one begins at position 0 of the memory type. */
int part_flush(struct part_mover *m, int err)
{
    if (err)
        return err;
    if (!m->stage)
        return !m->flush ? 0 : m->flush(m->ctx);
    err = stage_empty(m);
    m->stage->next.n = 0;
    return err;
}
