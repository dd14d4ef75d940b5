/* collective.c - writes that all ranks of a file make together.
 *
 * A write in two phases.  First the ranks send what they have of each chunk to its owner, who puts
 * the chunk together, encodes and sums it.  Then rank 0, which has the file's store, learns sizes
 * and checksums, gives each chunk a place as it would for elements of its own, and the owners
 * write. An error of a rank is told at the next meeting and becomes everybody's; nothing of the
 * write stays. */
/* SPDX-License-Identifier: MIT */
#include "par/collective.h"

#include "base/mem.h"
#include "base/vec.h"
#include "chunk/payload.h"
#include "elem/mover.h"
#include "par/given.h"
#include "par/lend.h"
#include "par/marks.h"
#include "par/pending.h"
#include "par/placement.h"
#include "par/remote.h"
#include "par/together.h"
#include "par/unite.h"
#include "par/windows.h"
#include "par/leases.h"
#include "format/block.h"
#include "tree/find.h"
#include "tree/journal.h"

#include <string.h>

struct meeting {
    const char *call;
    drep_dataset *ds;
    struct team *team;
    struct transfer *t; /* of this rank's elements */
    bool loose;         /* the elements come from writes of single ranks */
    struct shares shares;
    enum together how;
    bool patches;         /* some chunks are patched by their owners */
    struct united united; /* on rank 0; compact: on all ranks */
    struct foreseen foreseen;
    struct windows windows;
    /* Of the window: */
    struct parcels parcels;
    struct team_inbox in;
    struct owning own; /* the chunks that this rank writes */
    /* Rank 0: */
    struct remote remote;
    int lost;     /* an error that the others do not know yet */
    bool stopped; /* one that they know came between windows */
    struct buf reports;
    uint64_t *report_at;
    struct given given; /* all elements, where no selection says them */
};

/* The ranks agree that nothing went wrong so far. */
static int meeting_agree(struct meeting *m, int err)
{
    struct team_call what = {.name = m->call};

    what.err = fail_dataset(err, m->ds->path);
    return team_agree(m->team, &what);
}

/* A hash of the record: of what is in it, not of the numbers that this rank has given since the
 * last commit.  Its front counts links and attributes, which other handles change.  Ranks that have
 * cut off different elements do not have the same dataset, even if it grew again. */
static int spec_hash(const drep_dataset *ds, uint64_t *hash)
{
    const struct shrunk_dataset *cut = ranks_find_shrunk(ranks_of(ds->file), ds->id);
    struct object_rec rec = ds->rec;
    struct buf b = {0}, type = {0};
    struct out out;
    struct key key;
    int done, err = 0;

    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_TYPE);
    key_add_u32(&key, rec.type - FMT_TYPE_FIRST);
    if (rec.type >= FMT_TYPE_FIRST && !(err = tree_get(ds->file->st, &key, &type)))
        rec.type = FMT_TYPE_FIRST;
    for (int d = 0; rec.has_dims && rec.rank != FMT_RANK_NULL && d < rec.rank; d++)
        rec.dim[d] = rec.dim[d] < ranks_first_new(ds->file) ? rec.dim[d] : UINT64_MAX;
    rec.links = rec.next_attr = rec.datarep = 0;
    rec.changed = 0; /* open handles may know an earlier one */
    buf_out(&b, &out);
    object_put(&out, &rec);
    out_bytes(&out, ds->rep->name, strlen(ds->rep->name));
    if (type.len > 8) /* behind the count of uses */
        out_bytes(&out, type.p + 8, type.len - 8);
    for (int d = 0; cut && d < cut->rank; d++)
        out_u64(&out, cut->len[d]);
    done = buf_done(&b, &out);
    err = err ? err : done;
    *hash = err ? 0 : sum_stored(b.p, b.len);
    buf_release(&b);
    buf_release(&type);
    return err;
}

int collective_meet(const drep_dataset *ds, const char *name, int err)
{
    struct team_call call = {
        .name = name, .args = COLLECTIVE_ARGS, .arg = {{"dataset", 0}, {"shape or type", 0}}};
    bool stays = ds->id < ranks_first_new(ds->file);

    if (!err)
        err = spec_hash(ds, &call.arg[1].hash);
    if (!err)
        call.arg[0].hash = sum_stored(ds->path, strlen(ds->path)) ^ (stays ? ds->id : 0);
    call.err = err;
    return team_agree(&ranks_of(ds->file)->team, &call);
}

/* ---- what goes where ---- */

/* Everybody learns who owns which chunk.  `err` is of cutting. */
static int deal_chunks(struct meeting *m, int err)
{
    uint64_t patches = 0;

    err = meeting_agree(m, err);
    if (!err)
        err = shares_meet(m->team, m->ds, m->how, &m->shares);
    for (size_t i = 0; i < m->shares.n; i++)
        patches |= share_is_patched(&m->shares.share[i]);
    if (!err && chunk_is_patched(m->ds, m->how, false))
        err = team_reduce(m->team, TEAM_MAX, &patches, 1);
    m->patches = patches;
    if (!err)
        err = windows_begin(&m->windows, m->team, m->t, &m->shares, m->how, m->patches);
    return m->windows.several ? meeting_agree(m, err) : err;
}

/* Where the first whole slabs of a box are going to stand. */
static struct foreseen foresee_box(drep_dataset *ds, const struct drep_selection *sel)
{
    int64_t len[DREP_MAX_RANK], at = 0, n, slab = (int64_t)ds->rec.slab;

    for (int d = 0; d < sel->rank; d++) {
        len[d] = (int64_t)ds->rec.len[d];
        at = at * len[d] + span_at(&sel->dim[d], 0);
    }
    n = selection_run_len(sel, len) - (slab - at % slab) % slab;
    /* Where the run ends before the next slab begins, n is negative, but more than -slab: none. */
    return place_foresee(&ds->chunks, (uint64_t)((at + slab - 1) / slab), (uint64_t)(n / slab));
}

/* Everybody learns where slabs are going to stand that nobody has written yet. */
static int foresee_slabs(struct meeting *m)
{
    const drep_dataset *ds = m->ds;
    uint64_t v[3] = {0};
    int err;

    if (m->loose || ds->rec.layout != FMT_CONTIGUOUS || m->how != TOGETHER_BOX ||
        ds->ft->type->variable)
        return 0;
    if (m->team->rank == 0) {
        m->foreseen = foresee_box(m->ds, &m->united.call->sel);
        v[0] = m->foreseen.first;
        v[1] = m->foreseen.end;
        v[2] = m->foreseen.offset;
    }
    err = team_reduce(m->team, TEAM_MAX, v, 3);
    m->foreseen = (struct foreseen){v[0], v[1], v[2]};
    return err;
}

static void note_most(uint64_t *most, uint64_t n)
{
    *most = n > *most ? n : *most;
}

/* Everybody gets what it owns of a window. */
static int exchange(struct meeting *m)
{
    struct ranks *r = ranks_of(m->ds->file);
    uint64_t sent = 0, received = 0;
    int err = windows_next(&m->windows);

    if (!err)
        err = meeting_agree(
            m, m->shares.clash < 0
                   ? pieces_pack(m->t, m->team, &m->windows.now, &m->parcels)
                   : overlap_error(m->ds, m->shares.clash, -1, m->team->rank, m->shares.with));
    if (!err)
        err = team_exchange(m->team, m->parcels.parcel, m->parcels.n, &m->in);
    for (size_t i = 0; i < m->parcels.n; i++)
        sent += m->parcels.parcel[i].size;
    for (size_t i = 0; i < m->in.n; i++)
        received += m->in.in[i].size;
    note_most(&r->counted.sent, sent);
    note_most(&r->counted.received, received);
    parcels_release(&m->parcels);
    return err;
}

/* ---- rank 0: the store writes ---- */

static int add_remote(struct meeting *m, const struct remote_chunk *c)
{
    if (VEC_ROOM(m->remote.chunk, m->remote.n, m->remote.room, 1))
        return fail_nomem();
    m->remote.chunk[m->remote.n++] = *c;
    return 0;
}

/* Chunks that are written in part have come here. */
static int take_parts(struct meeting *m)
{
    int err = 0;

    for (size_t i = 0; !err && i < m->own.n; i++) {
        const struct owned *o = &m->own.owned[i];

        if (!o->whole && !o->patched)
            err = add_remote(m, &(struct remote_chunk){.chunk = o->chunk,
                                                       .slabs = 1,
                                                       .elements = (char *)o->bytes,
                                                       .heap = o->bytes + o->fixed,
                                                       .heap_size = (size_t)(o->size - o->fixed)});
    }
    return err;
}

static int by_number(const void *a, const void *b)
{
    const struct remote_chunk *x = a, *y = b;

    return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

/* Take the reports of a rank, each chunk's. */
static int take_reports(struct meeting *m, int rank)
{
    uint8_t *p = m->reports.p + m->report_at[rank], *end = m->reports.p + m->report_at[rank + 1];
    bool filtered = m->ds->chunks.nfilters > 0;

    while (p < end) {
        uint64_t kind = load_u64(p + 16);
        bool patched = kind == REPORT_PATCHED, slabs = kind == REPORT_SLABS;
        struct remote_chunk c = {.chunk = (int64_t)load_u64(p),
                                 .slabs = slabs ? (int64_t)load_u64(p + 24) : 1,
                                 .whole = !patched,
                                 .patched = patched,
                                 .owner = rank,
                                 .encoded = {.size = load_u64(p + 8),
                                             .skipped = patched || slabs ? 0 : (uint32_t)kind,
                                             .offset = patched || slabs ? 0 : load_u64(p + 24),
                                             .sums = (uint64_t *)(void *)(p + 32)}};
        uint64_t n = filtered ? 1 : sums_of(c.encoded.size) * (uint64_t)c.slabs;

        for (uint64_t i = 0; i < n; i++)
            c.encoded.sums[i] = load_u64(p + 32 + i * 8);
        c.leased = c.encoded.placed = c.encoded.offset > 0;
        if (!filtered)
            c.given = (struct given_payload){.size = c.encoded.size, .sums = c.encoded.sums};
        c.stretches = patched ? (size_t)load_u64(p + 24) : 0;
        c.stretch = p + 32 + n * 8;
        if (add_remote(m, &c))
            return fail_nomem();
        p += 32 + n * 8 + c.stretches * 16;
    }
    return 0;
}

/* ---- the store ---- */

/* Record the chunks that stand in the file. */
static int record_leased(struct meeting *m)
{
    int err = 0;

    for (size_t i = 0; !err && i < m->remote.n; i++)
        if (m->remote.chunk[i].leased)
            err = remote_record(m->ds, &m->remote.chunk[i]);
    return err;
}

/* Make one call of one process. */
static int store_call(struct meeting *m, const struct together_call *call)
{
    struct transfer t = *m->t; /* that one has elements which are still to be sent */

    t.sel = &call->sel;
    t.given.piece = m->given.piece;
    t.given.n = (int64_t)m->given.n;
    t.threads = 1;
    remote_begin(&m->remote, &t);
    t.xfer = NULL;
    conv_raw(&t.conv, m->ds, call->ranges.n > 0 ? &call->ranges : NULL);
    t.conv.contents = m->ds->ft->type->variable;
    return transfer_layout(&t);
}

/* Make the calls of one process.  The other ranks' entries do not change with it, so this is not in
 * the journal; but what a compact dataset holds is, on all ranks. */
static int store_writes(struct meeting *m)
{
    struct journal *journal = m->ds->file->st->journal;
    int err;

    journal->paused = m->ds->rec.layout != FMT_COMPACT;
    m->ds->open.verified = false;
    err = record_leased(m);
    for (size_t i = 0; !err && (!m->loose || m->given.n > 0) && i < m->united.n; i++)
        err = store_call(m, &m->united.call[i]);
    journal->paused = false;
    return err;
}

/* ---- windows ---- */

/* Owners list their chunks and bring them together; those of which the file has a part with the
 * records of rank 0. */
static int assemble_chunks(struct meeting *m)
{
    drep_dataset *ds = m->ds;
    struct shares wanted = {.n = 0};
    struct buf records = {0};
    int err;

    m->own = (struct owning){.t = m->t,
                             .shares = &m->windows.now,
                             .how = m->how,
                             .loose = m->loose,
                             .foreseen = m->foreseen,
                             .joins = !m->windows.several,
                             .rank = m->team->rank};
    err = own_list(&m->own, &m->in);
    if (m->patches || (m->loose && ds->rec.layout == FMT_CHUNKED)) {
        if (!err)
            err = owned_completed(&m->own, &wanted);
        err = records_lend(m->team, ds, &wanted, &records, err);
    }
    if (!err)
        err = own_chunks(&m->own);
    records_return(ds);
    buf_release(&records);
    shares_release(&wanted);
    note_most(&ranks_of(ds->file)->counted.kept, owned_kept(&m->own));
    return meeting_agree(m, err);
}

/* Bring the chunks of a window together, and report them to rank 0. */
static int window_take(struct meeting *m)
{
    struct team *team = m->team;
    int err = exchange(m);

    if (!err)
        err = assemble_chunks(m);
    if (err)
        return err;
    m->report_at = mem_array((uint64_t)team->size + 1, sizeof *m->report_at);
    if (!m->report_at)
        return team_kill(team, fail_nomem());
    err = team_gather(team, m->own.report.p, m->own.report.len, &m->reports, m->report_at);
    if (err || team->rank > 0)
        return err;
    m->lost = take_parts(m);
    for (int r = 0; !m->lost && r < team->size; r++)
        m->lost = take_reports(m, r);
    vec_sort(m->remote.chunk, m->remote.n, sizeof *m->remote.chunk, by_number);
    return 0;
}

static void window_release(struct meeting *m)
{
    owning_release(&m->own);
    team_inbox_release(&m->in);
    buf_release(&m->reports);
    mem_free(m->report_at);
    m->report_at = NULL;
    remote_drop(&m->remote);
}

/* Rank 0 tells the places of a window's chunks, the owners write.  `mine` is this rank's error. */
static int window_write(struct meeting *m, int mine)
{
    struct team *team = m->team;
    uint8_t grant[LEASE_GRANT] = {0};
    struct buf places = {0};
    int err;

    if (team->rank == 0 && !mine)
        mine = remote_places(m->ds, &m->remote);
    if (team->rank == 0 && !mine && !m->loose && m->windows.last)
        leases_grant_again(m->ds->file, ranks_of(m->ds->file), grant);
    err = places_give(team, &m->remote, mine, grant, sizeof grant, &places);
    if (!err && team->rank > 0 && m->windows.last)
        leases_begin(ranks_of(m->ds->file), places.p);
    if (!err && m->windows.last)
        leases_deal(ranks_of(m->ds->file), team->rank > 0 ? places.p : grant);
    if (!err && !mine && places.len > sizeof grant) {
        mine = owned_write(&m->own, ranks_io(m->ds->file), places.p + sizeof grant,
                           places.len - sizeof grant);
        ranks_of(m->ds->file)->wrote = true;
    }
    buf_release(&places);
    window_release(m);
    return err ? err : meeting_agree(m, mine);
}

/* Rank 0's store asks for a chunk that is not here. */
static int next_window(void *ctx)
{
    struct meeting *m = ctx;
    int err;

    if (m->windows.last)
        return fail(DREP_ERR_FAILED, "a chunk came in no window");
    err = window_write(m, 0);
    if (!err)
        err = window_take(m);
    if (err)
        m->stopped = true;
    return err ? err : m->lost;
}

/* Rank 0's store writes a window of what single ranks have written. */
static int write_given(struct meeting *m)
{
    int err = m->lost;

    m->given.n = 0;
    if (!err)
        err = given_make(&m->given, &m->own, &m->remote, &m->united.call->sel.count);
    return err ? err : store_writes(m);
}

/* Rank 0's store makes the calls of one process, and gets windows as it asks for chunks. */
static int write_called(struct meeting *m)
{
    struct windows *w = &m->windows;
    int err = m->lost;

    if (w->several) {
        m->remote.more = next_window;
        m->remote.ctx = m;
        m->remote.part = w->part;
        m->remote.nparts = w->nparts;
    }
    if (!err)
        err = store_writes(m);
    if (!err && !w->last)
        err = fail(DREP_ERR_FAILED, "chunks came in a window that nobody asked for");
    return err;
}

/* Rank 0 places, the owners write. */
static int place_and_write(struct meeting *m)
{
    int err = window_take(m);

    if (!err && m->team->rank == 0 && !m->loose) {
        err = write_called(m);
        return m->stopped ? err : window_write(m, err);
    }
    while (!err && !(err = window_write(m, m->team->rank == 0 ? write_given(m) : 0)) &&
           !m->windows.last)
        err = window_take(m);
    return err;
}

/* Compact datasets are entries, which each rank has for itself: all of them get the elements. */
static int write_compact(struct meeting *m)
{
    uint64_t fixed = bytes_of(m->ds, dataset_count(m->ds));
    struct buf b = {0};
    int err = 0;

    if (m->team->rank == 0)
        err = buf_set(&b, m->own.owned[0].bytes, (size_t)m->own.owned[0].size);
    err = err ? team_kill(m->team, err) : team_bcast(m->team, &b);
    if (!err)
        err = add_remote(m, &(struct remote_chunk){.slabs = 1,
                                                   .elements = (char *)b.p,
                                                   .heap = b.p + fixed,
                                                   .heap_size = b.len - (size_t)fixed});
    if (!err)
        err = store_writes(m);
    err = meeting_agree(m, err);
    if (!err && !m->loose)
        err = leases_renew(m->ds->file);
    buf_release(&b);
    return err;
}

static void meeting_end(struct meeting *m)
{
    window_release(m);
    windows_release(&m->windows);
    mem_free(m->remote.chunk);
    mem_free(m->given.piece);
    parcels_release(&m->parcels);
    shares_release(&m->shares);
    together_release(&m->united);
    transfer_end(m->t);
}

/* ---- the calls ---- */

/* From here on a write of all together and a merge of what single ranks wrote are the same. */
static int write_meeting(struct meeting *m, int err)
{
    drep_dataset *ds = m->ds;
    bool first;

    err = deal_chunks(m, err);
    if (!err && ds->rec.layout == FMT_COMPACT) {
        err = exchange(m);
        if (!err)
            err = assemble_chunks(m);
        return err ? err : write_compact(m);
    }
    if (!err)
        err = foresee_slabs(m);
    if (!err)
        err = place_and_write(m);
    return err ? err : idset_mark(&ranks_of(ds->file)->written, ds->id, &first);
}

/* A selection that is not a box, so that the pieces count. */
static int loose_selection(const drep_dataset *ds, struct united *out)
{
    struct drep_selection sel = {.rank = ds->rec.rank, .nboxes = 1};

    sel.box = mem_zalloc((uint64_t)ds->rec.rank + 1, sizeof *sel.box);
    out->call = mem_zalloc(1, sizeof *out->call);
    if (!sel.box || !out->call) {
        mem_free(sel.box);
        return fail_nomem();
    }
    out->call->sel = sel;
    out->n = 1;
    return 0;
}

/* Do what was found out of the chunks that somebody has written all of. */
static int lose_and_bring_back(drep_dataset *ds, const struct shares *s)
{
    int err = 0;

    for (size_t i = 0; !err && i < s->n; i++)
        if (s->share[i].ranks == SHARE_LOST)
            pending_lose(ds, s->share[i].chunk);
        else if (s->share[i].ranks == SHARE_BACK)
            err = pending_bring_back(ds, s->share[i].chunk);
    return err;
}

/* Hint drep_overlap=last: leave no chunk of which one rank has written all, to space of its own,
 * and others something.  Leases may still last, so what is lost is free at once. */
static int leave_last(struct meeting *m)
{
    struct shares s = {.n = 0};
    uint64_t any = pending_has_leased(m->ds);
    char *elements;
    int err = team_reduce(m->team, TEAM_MAX, &any, 1);

    if (err || !any)
        return err;
    err = meeting_agree(m, pending_shares(m->ds, &s, &elements));
    if (!err)
        err = shares_meet(m->team, m->ds, m->how, &s);
    if (!err)
        err = meeting_agree(m, lose_and_bring_back(m->ds, &s));
    shares_release(&s);
    return err;
}

int collective_merge(drep_dataset *ds, const char *call)
{
    bool last = ranks_of(ds->file)->last;
    struct meeting m = {.call = call,
                        .ds = ds,
                        .team = &ranks_of(ds->file)->team,
                        .loose = true,
                        .how = last ? TOGETHER_LAST : TOGETHER_ALONE};
    int err = last ? leave_last(&m) : 0;
    uint64_t any[2] = {pending_has(ds) || marks_find(ds), leases_used(ranks_of(ds->file))};
    char none = 0, *elements;

    if (!err)
        err = team_reduce(m.team, TEAM_MAX, any, 2);
    if (!err)
        err = leases_end(ds->file, any[1]);
    if (err || !any[0])
        return err;
    if (ds->rec.layout == FMT_COMPACT)
        return unite_ranks(ds, call);
    err = transfer_begin(ds, NULL, NULL, &none, NULL, WRITING, &m.t);
    if (!err)
        err = pending_shares(ds, &m.shares, &elements);
    if (!err)
        err = loose_selection(ds, &m.united);
    if (!err) {
        m.t->mem = elements;
        conv_raw(&m.t->conv, ds, NULL);
        m.t->conv.contents = ds->ft->type->variable;
        pending_contents(ds, &m.t->conv);
    }
    err = write_meeting(&m, err);
    meeting_end(&m);
    return err;
}

int collective_write(drep_dataset *ds, const drep_selection *sel, const drep_type *type,
                     const void *buf, const drep_xfer *xfer, const char *call, int err)
{
    struct meeting m = {.call = call, .ds = ds, .team = &ranks_of(ds->file)->team};
    const struct byte_ranges *ranges = NULL;

    if (!err)
        err = transfer_begin(ds, sel, type, (char *)(uintptr_t)buf, xfer, WRITING, &m.t);
    if (!err)
        ranges = m.t->conv.ranges;
    if (err)
        fail_dataset(err, ds->path);
    err = collective_meet(ds, call, err);
    if (!err)
        err = collective_merge(ds, call);
    if (!err && ds->esize > 0)
        err = together_meet(m.team, ds, m.t->sel, ranges, ds->rec.layout == FMT_COMPACT, &m.united,
                            &m.how);
    if (!err && m.how != TOGETHER_NOTHING)
        err = write_meeting(&m, shares_cut(m.t, &m.shares));
    if (!err) {
        pending_drop(ds);
        ranks_shrunk_alike(ranks_of(ds->file), ds->id, ds->rec.len);
    }
    meeting_end(&m);
    return err;
}
