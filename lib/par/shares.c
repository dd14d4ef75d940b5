/* shares.c - which elements of which chunks one rank moves, and which rank owns each chunk. */
/* SPDX-License-Identifier: MIT */
#include "par/shares.h"

#include "base/mem.h"
#include "base/vec.h"
#include "par/dealing.h"
#include "elem/parts.h"
#include "format/byteorder.h"

#include <stdlib.h>

/* ---- cutting ---- */

struct cutter {
    struct shares *s;
    int64_t chunk, length; /* length > 0: runs are flat, and chunks so long */
    int64_t mem;
    const struct object_rec *rec;
    bool count;               /* chunks alone */
    const struct shares *met; /* cut some of these, NULL: all that are selected */
};

int shares_add(struct shares *s, const struct share_run *run)
{
    struct share_run *last = s->nruns > 0 ? &s->run[s->nruns - 1] : NULL;

    if (last && last->chunk == run->chunk && last->ranges == run->ranges && last->step == 1 &&
        run->step == 1 && last->at + last->n == run->at && last->mem + last->n == run->mem) {
        last->n += run->n;
        return 0;
    }
    if (VEC_ROOM(s->run, s->nruns, s->run_room, 1))
        return fail_nomem();
    s->run[s->nruns++] = *run;
    return 0;
}

/* Takes a run of one chunk, or cuts a flat one at the borders of chunks. */
static int cut_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    const struct cutter *c = ctx;
    int64_t now;
    int err = 0;

    if (c->length == 0)
        return shares_add(c->s, &(struct share_run){c->chunk, at, step, n, mem, 0});
    for (; !err && n > 0; n -= now, at += now * step, mem += now) {
        int64_t in = at % c->length;

        now = (c->length - in - 1) / step + 1;
        now = now < n ? now : n;
        err = shares_add(c->s,
                         &(struct share_run){at / c->length, in, now > 1 ? step : 1, now, mem, 0});
    }
    return err;
}

/* Takes neighbours of points and unions, which have no flat place yet. */
static int cut_stretch(void *ctx, const int64_t *coord, int64_t n)
{
    struct cutter *c = ctx;
    int64_t at = 0;

    for (int d = 0; d < c->rec->rank; d++)
        at = at * (int64_t)c->rec->len[d] + coord[d];
    c->mem += n;
    return cut_run(c, at, 1, n, c->mem - n);
}

/* A dataset whose chunks are pieces of one sequence. */
static int cut_flat(struct transfer *t, struct cutter *c)
{
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK], from[DREP_MAX_RANK], len[DREP_MAX_RANK];

    c->length = t->ds->rec.layout == FMT_COMPACT ? dataset_count(t->ds) : (int64_t)t->ds->rec.slab;
    if (!selection_is_box(t->sel))
        return selection_stretches(t->sel, cut_stretch, c);
    for (int d = 0; d < t->sel->rank; d++) {
        k0[d] = from[d] = 0;
        k1[d] = t->sel->dim[d].n;
        len[d] = (int64_t)t->ds->rec.len[d];
    }
    return selection_runs(t->sel, k0, k1, from, len, cut_run, c);
}

/* Elements of the 4 KiB blocks that runs of a plain chunk touch, about. */
static int64_t touched(const struct transfer *t, int64_t n)
{
    int64_t len[DREP_MAX_RANK], run = 1, block = FMT_SUM_BLOCK / t->ds->esize + 1, all;

    for (int d = 0; d < t->sel->rank; d++)
        len[d] = t->ds->rec.chunk[d];
    if (selection_is_box(t->sel))
        run = selection_run_len(t->sel, len);
    all = n + (n / run + 1) * block;
    return all < chunk_elements(t->ds) ? all : chunk_elements(t->ds);
}

static int count_part(struct transfer *t, int64_t chunk, int64_t n)
{
    struct shares *s = ((struct cutter *)t->cutting)->s;

    if (VEC_ROOM(s->share, s->n, s->room, 1))
        return fail_nomem();
    if (!chunks_whole(&t->ds->chunks))
        n = touched(t, n);
    s->share[s->n++] = (struct share){.chunk = chunk, .n = n};
    return 0;
}

static bool is_shared_read(const struct shares *met, int64_t chunk)
{
    const struct share *share = shares_find(met, chunk);

    return share && share->ranks > 0;
}

/* Takes a batch of parts, as those who move elements get them. */
static int cut_parts(struct transfer *t)
{
    struct cutter *c = t->cutting;
    struct part_mover plain = {.t = t};
    struct chunk_part p;
    int err = 0;

    for (int64_t i = 0; !err && i < t->nparts; i++) {
        part_of(t, i, &p);
        c->chunk = chunk_number(&t->ds->rec, p.coord);
        if (p.n > 0 && c->count)
            err = count_part(t, c->chunk, p.n);
        else if (p.n > 0 && (!c->met || is_shared_read(c->met, c->chunk)))
            err = part_runs(&plain, &p, cut_run, NULL, c);
    }
    return err;
}

int share_order(const void *a, const void *b)
{
    const struct share_run *x = a, *y = b;

    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return (x->mem > y->mem) - (x->mem < y->mem);
}

int shares_group(struct shares *s)
{
    vec_sort(s->run, s->nruns, sizeof *s->run, share_order);
    for (size_t i = 0; i < s->nruns; i++) {
        if (i == 0 || s->run[i].chunk != s->run[i - 1].chunk) {
            if (VEC_ROOM(s->share, s->n, s->room, 1))
                return fail_nomem();
            s->share[s->n++] = (struct share){.chunk = s->run[i].chunk, .first = i};
        }
        s->share[s->n - 1].runs++;
        s->share[s->n - 1].ranges |= s->run[i].ranges > 0;
        s->share[s->n - 1].n += s->run[i].n;
    }
    return 0;
}

static int shares_by_chunk(const void *a, const void *b)
{
    const struct share *x = a, *y = b;

    return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

int shares_lease(struct shares *s, const struct leased *leased, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (VEC_ROOM(s->share, s->n, s->room, 1))
            return fail_nomem();
        s->share[s->n++] =
            (struct share){.chunk = leased[i].chunk, .whole = true, .leased = &leased[i]};
    }
    vec_sort(s->share, s->n, sizeof *s->share, shares_by_chunk);
    return 0;
}

/* Cuts the selection at the borders of chunks. */
static int cut_chunks(struct transfer *t, struct cutter *c)
{
    int err;

    t->cutting = c;
    err = parts_each(t, cut_parts);
    t->cutting = NULL;
    return err;
}

int shares_cut(struct transfer *t, struct shares *s)
{
    struct cutter c = {.s = s, .rec = &t->ds->rec};
    int err;

    if (t->sel->count == 0 || t->ds->esize == 0)
        return 0;
    err = t->ds->rec.layout == FMT_CHUNKED ? cut_chunks(t, &c) : cut_flat(t, &c);
    if (!err)
        err = shares_group(s);
    for (size_t i = 0; i < s->n; i++)
        s->share[i].ranges = writes_members(t);
    return err;
}

/* Points and unions come in batches, so a chunk may come more than once. */
int shares_count(struct transfer *t, struct shares *s)
{
    struct cutter c = {.s = s, .rec = &t->ds->rec, .count = true};
    size_t n = 0;
    int err;

    if (t->sel->count == 0)
        return 0;
    err = cut_chunks(t, &c);
    vec_sort(s->share, s->n, sizeof *s->share, shares_by_chunk);
    for (size_t i = 0; i < s->n; i++)
        if (n > 0 && s->share[n - 1].chunk == s->share[i].chunk)
            s->share[n - 1].n += s->share[i].n;
        else
            s->share[n++] = s->share[i];
    s->n = n;
    return err;
}

int shares_cut_met(struct transfer *t, const struct shares *met, struct shares *s)
{
    struct cutter c = {.s = s, .rec = &t->ds->rec, .met = met};
    int err;

    if (t->sel->count == 0)
        return 0;
    err = cut_chunks(t, &c);
    if (!err)
        err = shares_group(s);
    for (size_t i = 0; !err && i < s->n; i++) {
        const struct share *from = shares_find(met, s->share[i].chunk);

        s->share[i].owner = from->owner;
        s->share[i].ranks = from->ranks;
    }
    return err;
}

const struct share *shares_find(const struct shares *s, int64_t chunk)
{
    const struct share key = {.chunk = chunk};

    return s->n > 0 ? bsearch(&key, s->share, s->n, sizeof key, shares_by_chunk) : NULL;
}

int chunk_rows(const struct object_rec *r, int64_t chunk, chunk_row_fn *fn, void *ctx)
{
    int64_t len[DREP_MAX_RANK], at[DREP_MAX_RANK] = {0}, place, last = r->rank - 1;
    uint64_t coord[DREP_MAX_RANK];
    int err, d;

    if (r->layout == FMT_CONTIGUOUS || r->rank == 0)
        return fn(ctx, chunk, 0, chunk_extent(r, chunk));
    chunk_coord(r, chunk, coord);
    for (d = 0; d < r->rank; d++)
        len[d] = (int64_t)chunk_len(r, coord, d);
    do {
        place = 0;
        for (d = 0; d < r->rank; d++)
            place = place * r->chunk[d] + at[d];
        err = fn(ctx, chunk, place, len[last]);
        for (d = (int)last - 1; d >= 0 && ++at[d] == len[d]; d--)
            at[d] = 0;
    } while (!err && d >= 0);
    return err;
}

void shares_release(struct shares *s)
{
    mem_free(s->run);
    mem_free(s->share);
    *s = (struct shares){.n = 0};
}

/* ---- meeting ---- */

enum { NOTICE = 16, ANSWER = 8 };

#define COMPLETED_MAX ((uint64_t)16 << 20)
#define ALL_ALONE UINT64_MAX             /* in place of a number of elements */
#define SOME_MEMBERS ((uint64_t)1 << 62) /* with one: of which some members are written */

/* The home of a chunk: ranks take the grid in turn, so that the homes of what a rank writes are
 * few.
 */
static int home_of(const struct dealing *d, int64_t chunk, int64_t chunks)
{
    int64_t domains = (chunks - 1) / d->span + 1, each = (domains - 1) / d->ranks + 1;

    return (int)(chunk / d->span / each);
}

/* A notice to a home: the share of one rank in a chunk. */
struct notice {
    int64_t chunk, n;
    int from;
    size_t sender; /* the number of its notices among those of all, */
    size_t answer; /* and where it stands in the answers to that rank */
    int owner;     /* or with whom it clashes */
    int ranks;     /* or SHARE_... */
    bool whole, leased, ranges;
};

static int notice_order(const void *a, const void *b)
{
    const struct notice *x = a, *y = b;

    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return x->from - y->from;
}

/* True if an owner may load what nobody has written of a chunk.  A large plain one is patched. */
static bool may_complete(const drep_dataset *ds)
{
    return ds->rec.layout == FMT_CHUNKED &&
           (chunks_whole(&ds->chunks) || ds->chunks.payload <= COMPLETED_MAX);
}

bool chunk_is_short(const drep_dataset *ds, int64_t chunk)
{
    uint64_t coord[DREP_MAX_RANK];

    if (!ds->chunks.grows)
        return false;
    chunk_coord(&ds->rec, chunk, coord);
    return chunk_takes_more(ds, coord, chunk_extent(&ds->rec, chunk));
}

bool chunk_is_whole(const drep_dataset *ds, enum together how, int64_t chunk, int64_t total,
                    size_t n)
{
    if (how == TOGETHER_PARTS || how == TOGETHER_ORDER || ds->rec.layout == FMT_COMPACT ||
        chunk_is_short(ds, chunk))
        return false;
    if ((how == TOGETHER_ALONE || how == TOGETHER_LAST) && may_complete(ds))
        return true;
    if (how == TOGETHER_LAST && n > 1)
        return false;
    if (ds->rec.layout == FMT_CONTIGUOUS && how != TOGETHER_BOX)
        return total == chunk_elements(ds);
    return total == chunk_extent(&ds->rec, chunk);
}

/* Compact datasets are entries of the tree.  Chunks of a dataset that grows, or those that come
 * more than once, may leave bytes behind where they grow; in what bytes may differ, that does not
 * matter.
 */
bool chunk_is_patched(const drep_dataset *ds, enum together how, bool members)
{
    if (ds->rec.layout == FMT_COMPACT || chunks_whole(&ds->chunks) || ds->chunks.grows ||
        how == TOGETHER_READ)
        return false;
    if (how == TOGETHER_ORDER || how == TOGETHER_ALONE || ranks_of(ds->file)->last)
        return true;
    return how != TOGETHER_PARTS && !members;
}

/* A chunk is decoded once and sent if it is filtered or has contents of variable length; a plain
 * one if so many ranks would read it, in whole blocks, that once and messages cost less.  Measured
 * on one node with 512 MiB of which all ranks want a part of each chunk: deflate level 1, 2 ranks
 * 0.57 s sent and 0.49 s decoded by each, 4 ranks 0.64 s and 1.07 s; plain, 0.43 s sent, 0.1 s for
 * each time that the bytes are read. */
#define READS_MAX 4

/* True if a chunk that several ranks read is read once and sent to them. */
static bool is_sent(const drep_dataset *ds, size_t ranks, int64_t total)
{
    if (ranks < 2)
        return false;
    return chunks_whole(&ds->chunks) || total / READS_MAX > chunk_elements(ds);
}

bool reads_meet(const drep_dataset *ds, const struct team *team)
{
    if (ds->rec.layout != FMT_CHUNKED || ds->esize == 0)
        return false;
    return chunks_whole(&ds->chunks) || team->size > READS_MAX;
}

/* The shares of one chunk, if somebody has written all of it: either there is no other, or each
 * clashes with one of the others. */
static bool decide_leased(struct notice *list, size_t n, bool last)
{
    const struct notice *leased = NULL;

    for (size_t i = n; i-- > 0 && !(last && leased);)
        leased = list[i].leased ? &list[i] : leased;
    for (size_t i = 0; leased && i < n; i++) {
        struct notice *own = &list[i];

        own->whole = true;
        own->ranks = n > 1 ? SHARE_CLASH : 0;
        if (last)
            own->ranks = own < leased                          ? SHARE_LOST
                         : own == leased && own < &list[n - 1] ? SHARE_BACK
                                                               : 0;
        own->owner = own != leased ? leased->from : list[own == list && n > 1].from;
    }
    return leased;
}

/* Finds who moves most of a chunk: of equal ones the lowest rank, since notices are sorted; in a
 * read each of these in turn, for it is work that nobody else shares. */
static int most_of(const struct notice *list, size_t n, bool in_turn)
{
    size_t equal = 0, number;
    int64_t most = -1;

    for (size_t i = 0; i < n; i++) {
        equal = list[i].n > most ? 1 : equal + (list[i].n == most);
        most = list[i].n > most ? list[i].n : most;
    }
    number = in_turn ? (size_t)list->chunk % equal : 0;
    for (size_t i = 0; i < n; i++)
        if (list[i].n == most && number-- == 0)
            return list[i].from;
    return 0;
}

/* Finds the owner of each chunk. */
static void decide(const drep_dataset *ds, enum together how, struct notice *list, size_t n)
{
    size_t end;

    for (size_t i = 0; i < n; i = end) {
        int64_t total = 0;
        int owner;
        bool whole = false, patched = false, sent = false, ranges = false;

        for (end = i; end < n && list[end].chunk == list[i].chunk; end++) {
            total += list[end].n;
            ranges |= list[end].ranges;
        }
        if (decide_leased(list + i, end - i, how == TOGETHER_LAST))
            continue;
        owner = most_of(list + i, end - i, how == TOGETHER_READ);
        if (how == TOGETHER_READ)
            sent = is_sent(ds, end - i, total);
        else
            whole = chunk_is_whole(ds, how, list[i].chunk, ranges ? -1 : total, end - i);
        patched = !whole && chunk_is_patched(ds, how, ranges);
        for (size_t k = i; k < end; k++) {
            list[k].whole = whole;
            list[k].owner = whole || patched || sent ? owner : 0;
            list[k].ranks = sent ? (int)(end - i) : patched ? SHARE_PATCHED : 0;
        }
    }
}

/* True for a share of a chunk that is still to be written, by its owner. */
static bool is_dealt(const struct notice *n)
{
    return n->ranks == SHARE_PATCHED || (n->whole && !n->leased && n->ranks < SHARE_LOST);
}

/* Deal the chunks that owners write: whoever has most of a domain, or
 * as the hints say.  sum: zeros for all senders. */
static void deal_domains(const struct dealing *d, struct notice *list, size_t n, int64_t *sum)
{
    size_t end;

    for (size_t i = 0; i < n; i = end) {
        int64_t domain = list[i].chunk / d->span, largest = -1;
        int most = -1;

        for (end = i; end < n && list[end].chunk / d->span == domain; end++)
            if (is_dealt(&list[end]))
                sum[list[end].sender] += list[end].n;
        for (size_t k = i; k < end; k++) {
            int64_t all = sum[list[k].sender];

            if (!is_dealt(&list[k]) || all < largest || (all == largest && list[k].from > most))
                continue;
            most = list[k].from;
            largest = all;
        }
        for (size_t k = i; k < end; k++) {
            sum[list[k].sender] = 0;
            if (is_dealt(&list[k]))
                list[k].owner = dealing_owner(d, list[k].chunk, most);
        }
    }
}

/* All notices that a home got, in the order of chunks. */
static int notices_get(const struct team_inbox *in, struct notice **out, size_t *n)
{
    struct notice *list;

    *n = 0;
    for (size_t i = 0; i < in->n; i++)
        *n += in->in[i].size / NOTICE;
    list = mem_array(*n + 1, sizeof *list);
    if (!list)
        return fail_nomem();
    *n = 0;
    for (size_t i = 0; i < in->n; i++)
        for (size_t k = 0; k < in->in[i].size / NOTICE; k++) {
            const uint8_t *p = in->in[i].p + k * NOTICE;
            uint64_t has = load_u64(p + 8);
            bool leased = has == ALL_ALONE;

            list[(*n)++] = (struct notice){.chunk = (int64_t)load_u64(p),
                                           .n = leased ? 0 : (int64_t)(has & ~SOME_MEMBERS),
                                           .leased = leased,
                                           .ranges = !leased && (has & SOME_MEMBERS),
                                           .from = in->in[i].from,
                                           .sender = i,
                                           .answer = k};
        }
    vec_sort(list, *n, sizeof *list, notice_order);
    *out = list;
    return 0;
}

/* Answer each rank in the order of its notices. */
static int answer(struct team *team, const drep_dataset *ds, const struct dealing *d,
                  enum together how, const struct team_inbox *in, struct team_inbox *back)
{
    struct team_parcel *parcel = mem_array(in->n + 1, sizeof *parcel);
    struct notice *list = NULL;
    uint8_t **bytes = mem_zalloc(in->n + 1, sizeof *bytes);
    int64_t *sum = mem_zalloc(in->n + 1, sizeof *sum);
    size_t n = 0;
    int err = parcel && bytes && sum ? notices_get(in, &list, &n) : DREP_ERR_NOMEM;

    for (size_t i = 0; !err && i < in->n; i++) {
        size_t size = in->in[i].size / NOTICE * ANSWER;

        bytes[i] = mem_alloc(size + 1);
        if (!bytes[i])
            err = fail_nomem();
        parcel[i] = (struct team_parcel){in->in[i].from, size, bytes[i]};
    }
    if (!err) {
        decide(ds, how, list, n);
        deal_domains(d, list, n, sum);
    }
    for (size_t i = 0; !err && i < n; i++)
        store_u64(bytes[list[i].sender] + list[i].answer * ANSWER,
                  (uint64_t)list[i].owner << 32 | (uint64_t)list[i].ranks << 1 | list[i].whole);
    mem_free(list);
    mem_free(sum);
    err = err ? team_kill(team, err) : team_exchange(team, parcel, in->n, back);
    for (size_t i = 0; bytes && i < in->n; i++)
        mem_free(bytes[i]);
    mem_free(bytes);
    mem_free(parcel);
    return err;
}

int shares_meet(struct team *team, const drep_dataset *ds, enum together how, struct shares *s)
{
    int64_t chunks = chunks_in_grid(&ds->rec);
    uint8_t *notices = mem_array(s->n + 1, NOTICE);
    struct team_parcel *parcel = mem_array((uint64_t)team->size, sizeof *parcel);
    struct team_inbox in = {.n = 0}, back = {.n = 0};
    size_t n = 0, at = 0;
    struct dealing d;
    int err = notices && parcel ? 0 : team_kill(team, fail_nomem());

    s->clash = -1;
    dealing_of(ds, &d);
    for (size_t i = 0; !err && i < s->n; i++) {
        int home = home_of(&d, s->share[i].chunk, chunks);

        store_u64(notices + i * NOTICE, (uint64_t)s->share[i].chunk);
        store_u64(notices + i * NOTICE + 8,
                  s->share[i].leased
                      ? ALL_ALONE
                      : (uint64_t)s->share[i].n | (s->share[i].ranges ? SOME_MEMBERS : 0));
        if (n == 0 || parcel[n - 1].to != home)
            parcel[n++] = (struct team_parcel){home, 0, notices + i * NOTICE};
        parcel[n - 1].size += NOTICE;
    }
    if (!err)
        err = team_exchange(team, parcel, n, &in);
    if (!err)
        err = answer(team, ds, &d, how, &in, &back);
    /* Homes answer in the order of ranks, and that is the order of chunks. */
    for (size_t i = 0; !err && i < back.n; i++)
        for (size_t k = 0; k < back.in[i].size / ANSWER && at < s->n; k++, at++) {
            uint64_t a = load_u64(back.in[i].p + k * ANSWER);

            s->share[at].owner = (int)(a >> 32);
            s->share[at].ranks = (int)(a >> 1 & INT32_MAX);
            s->share[at].whole = a & 1;
            if (s->share[at].ranks == SHARE_CLASH && s->clash < 0) {
                s->clash = s->share[at].chunk;
                s->with = s->share[at].owner;
            }
        }
    if (!err && at != s->n)
        err = team_kill(team, fail(DREP_ERR_IO, "%zu of %zu chunks got no owner", s->n - at, s->n));
    team_inbox_release(&in);
    team_inbox_release(&back);
    mem_free(notices);
    mem_free(parcel);
    return err;
}
