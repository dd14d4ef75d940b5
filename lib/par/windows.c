/* windows.c - a collective write in steps, so that what travels and what waits is bounded. */
/* SPDX-License-Identifier: MIT */
#include "par/windows.h"

#include "base/mem.h"
#include "base/vec.h"
#include "par/pieces.h"
#include "par/ranks.h"
#include "team/outbox.h"

/* Places in the order of windows: numbers of chunks, with this bit for those that come after all
 * that are written whole. */
#define BEHIND ((uint64_t)1 << 63)

enum { NOTICE = 16 };

/* What others send of one chunk. */
struct due {
    uint64_t place, bytes;
};

/* True for chunks that the store decodes: it writes the whole ones first. */
static bool whole_first(const drep_dataset *ds)
{
    return ds->rec.layout == FMT_CHUNKED && (ds->chunks.nfilters > 0 || ds->ft->type->variable);
}

static uint64_t place_of(const struct windows *w, const struct share *s)
{
    return (uint64_t)s->chunk | (whole_first(w->ds) && !s->whole ? BEHIND : 0);
}

static bool travels(const struct windows *w, const struct share *s)
{
    return s->owner != w->team->rank || sends_itself(w->ds, w->shares);
}

static int whole_before(const void *a, const void *b)
{
    const struct share *x = a, *y = b;

    if (x->whole != y->whole)
        return x->whole ? -1 : 1;
    return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

/* ---- what is due ---- */

static int due_order(const void *a, const void *b)
{
    const struct due *x = a, *y = b;

    return (x->place > y->place) - (x->place < y->place);
}

static int numbers_ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Tell the owners what they will get. */
static int tell_owners(const struct windows *w, struct team_inbox *in)
{
    struct outbox o = {.n = 0};
    int err = 0;

    for (size_t i = 0; !err && i < w->shares->n; i++) {
        const struct share *s = &w->shares->share[i];
        uint8_t notice[NOTICE];
        struct buf *b;

        if (!travels(w, s))
            continue;
        store_u64(notice, (uint64_t)s->chunk);
        store_u64(notice + 8, piece_bytes(w->ds, s, w->ranges) | (s->whole ? 0 : BEHIND));
        err = outbox_share(&o, w->team, s->owner, &b);
        if (!err)
            err = buf_add(b, notice, NOTICE);
    }
    return outbox_send(&o, w->team, err, in);
}

static int take_notices(struct windows *w, const struct team_inbox *in)
{
    size_t room = 0, n = 0;

    for (size_t i = 0; i < in->n; i++)
        room += in->in[i].size / NOTICE;
    w->due = mem_array(room + 1, sizeof *w->due);
    w->part = mem_array(room + w->shares->n + 1, sizeof *w->part);
    if (!w->due || !w->part)
        return fail_nomem();
    for (size_t i = 0; i < in->n; i++)
        for (size_t k = 0; k < in->in[i].size / NOTICE; k++) {
            const uint8_t *p = in->in[i].p + k * NOTICE;
            const struct share s = {.chunk = (int64_t)load_u64(p),
                                    .whole = !(load_u64(p + 8) & BEHIND)};

            w->due[w->ndue++] = (struct due){place_of(w, &s), load_u64(p + 8) & ~BEHIND};
            if (!s.whole)
                w->part[w->nparts++] = s.chunk;
        }
    for (size_t i = 0; i < w->shares->n; i++)
        if (w->shares->share[i].owner == w->team->rank && !w->shares->share[i].whole)
            w->part[w->nparts++] = w->shares->share[i].chunk;
    vec_sort(w->part, w->nparts, sizeof *w->part, numbers_ascending);
    vec_sort(w->due, w->ndue, sizeof *w->due, due_order);
    for (size_t i = 0; i < w->ndue; i++) { /* each chunk once */
        if (n > 0 && w->due[n - 1].place == w->due[i].place)
            w->due[n - 1].bytes += w->due[i].bytes;
        else
            w->due[n++] = w->due[i];
    }
    w->ndue = n;
    return 0;
}

/* Rank 0's store asks which chunks are written in part, also of those that others patch.  `failed`
 * is this rank's error. */
static int gather_parts(struct windows *w, int failed)
{
    uint64_t *at = mem_array((uint64_t)w->team->size + 1, sizeof *at);
    struct buf mine = {0}, all = {0};
    int64_t *part = NULL;
    size_t n = failed ? 0 : w->nparts;
    int err = at ? buf_reserve(&mine, n * 8) : fail_nomem();

    for (size_t i = 0; !err && i < n; i++)
        if (i == 0 || w->part[i] != w->part[i - 1]) {
            store_u64(mine.p + mine.len, (uint64_t)w->part[i]);
            mine.len += 8;
        }
    err = err ? team_kill(w->team, err) : team_gather(w->team, mine.p, mine.len, &all, at);
    if (!err && !failed && w->team->rank == 0 && !(part = mem_array(all.len / 8 + 1, sizeof *part)))
        err = team_kill(w->team, fail_nomem());
    if (part) {
        mem_free(w->part);
        w->part = part;
        for (w->nparts = 0; w->nparts < all.len / 8; w->nparts++)
            part[w->nparts] = (int64_t)load_u64(all.p + w->nparts * 8);
        vec_sort(part, w->nparts, sizeof *part, numbers_ascending);
    }
    mem_free(at);
    buf_release(&mine);
    buf_release(&all);
    return err ? err : failed;
}

/* ---- windows ---- */

int windows_begin(struct windows *w, struct team *team, const struct transfer *t, struct shares *s,
                  enum together how, bool patches)
{
    const drep_dataset *ds = t->ds;
    const struct ranks *r = ranks_of(ds->file);
    bool bounded = info_bool(ds->file->hints.all, "collective_buffering");
    struct team_inbox in = {.n = 0};
    uint64_t v[4] = {0}; /* the least bound of all ranks counts */
    int err;

    *w = (struct windows){.team = team, .ds = ds, .shares = s, .ranges = t->conv.ranges};
    if (how == TOGETHER_PARTS || ds->rec.layout == FMT_COMPACT)
        return 0;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t place = place_of(w, &s->share[i]);

        v[0] += travels(w, &s->share[i]) ? piece_bytes(ds, &s->share[i], w->ranges) : 0;
        v[1] = place < v[1] ? v[1] : place + 1;
    }
    v[2] = bounded ? ~(uint64_t)info_int(ds->file->hints.all, "cb_buffer_size") : 0;
    v[3] = writes_members(t) && how != TOGETHER_ORDER;
    err = team_reduce(team, TEAM_MAX, v, 4);
    w->end = v[1];
    w->most = ~v[2];
    if (ds->chunks.nfilters > 0 && r->buffering.window > 0) {
        w->chunks = r->buffering.window / ds->chunks.payload;
        w->chunks = w->chunks > 0 ? w->chunks : 1;
    }
    w->several = !v[3] && (v[0] > w->most / (uint64_t)team->size || w->chunks > 0);
    if (err || !w->several)
        return err;
    if (whole_first(ds))
        vec_sort(s->share, s->n, sizeof *s->share, whole_before);
    err = tell_owners(w, &in);
    if (!err)
        err = take_notices(w, &in);
    team_inbox_release(&in);
    return patches ? gather_parts(w, err) : err;
}

/* The place behind what this rank may send in one window. */
static uint64_t end_of_sent(const struct windows *w)
{
    const struct shares *s = w->shares;
    uint64_t sum = 0;

    for (size_t i = w->at; i < s->n; i++) {
        uint64_t bytes = travels(w, &s->share[i]) ? piece_bytes(w->ds, &s->share[i], w->ranges) : 0;

        if (i > w->at && (sum > w->most || bytes > w->most - sum))
            return place_of(w, &s->share[i]);
        sum += bytes;
    }
    return UINT64_MAX;
}

/* The place behind what it may get. */
static uint64_t end_of_due(const struct windows *w)
{
    uint64_t sum = 0;

    for (size_t i = w->due_at; i < w->ndue; i++) {
        if (i > w->due_at && (sum > w->most || w->due[i].bytes > w->most - sum))
            return w->due[i].place;
        sum += w->due[i].bytes;
    }
    return UINT64_MAX;
}

/* Find the end, from what all ranks have left: v is where they begin, and may end. */
static uint64_t end_of(const struct windows *w, const uint64_t *v)
{
    uint64_t end = v[1];

    if (w->chunks > 0 && end > v[0] && end - v[0] > w->chunks)
        end = v[0] + w->chunks;
    return v[0] < BEHIND && end > BEHIND && w->end > BEHIND ? BEHIND : end;
}

int windows_next(struct windows *w)
{
    const struct shares *s = w->shares;
    uint64_t v[2] = {UINT64_MAX, UINT64_MAX}, end = UINT64_MAX, due;
    size_t first = w->at;
    int err = 0;

    ranks_of(w->ds->file)->counted.windows++;
    if (w->several) {
        if (w->at < s->n)
            v[0] = place_of(w, &s->share[w->at]);
        if (w->due_at < w->ndue && w->due[w->due_at].place < v[0])
            v[0] = w->due[w->due_at].place;
        v[1] = end_of_sent(w);
        due = end_of_due(w);
        v[1] = due < v[1] ? due : v[1];
        err = team_reduce(w->team, TEAM_MIN, v, 2);
        end = end_of(w, v);
    }
    while (w->at < s->n && (!w->several || place_of(w, &s->share[w->at]) < end))
        w->at++;
    while (w->due_at < w->ndue && w->due[w->due_at].place < end)
        w->due_at++;
    w->now = *s;
    w->now.share = s->share + first;
    w->now.n = w->at - first;
    w->last = !w->several || end >= w->end;
    return err;
}

void windows_release(struct windows *w)
{
    mem_free(w->due);
    mem_free(w->part);
    w->due = NULL;
    w->part = NULL;
}
