/* collective.c - transfers that all ranks of a file make together.
 *
 * A write in two phases.  First the ranks send what they have of each chunk to its owner, who puts
 * the chunk together, encodes and sums it.  Then rank 0, which has the file's store, learns sizes and
 * checksums, gives each chunk a place as it would for elements of its own, and the owners write. An
 * error of a rank is told at the next meeting and becomes everybody's; nothing of the write stays. */
/* SPDX-License-Identifier: MIT */
#include "elem/collective.h"

#include "base/mem.h"
#include "base/vec.h"
#include "chunk/payload.h"
#include "chunk/work.h"
#include "chunk/write.h"
#include "elem/mover.h"
#include "elem/pieces.h"
#include "elem/remote.h"
#include "elem/together.h"
#include "file/ranks.h"
#include "format/block.h"
#include "tree/journal.h"

#include <stdlib.h>
#include <string.h>

/* A chunk that this rank writes. */
struct owned {
    int64_t chunk;
    uint8_t *bytes;
    uint64_t size, sum;
    uint32_t skipped;
};

struct meeting {
    const char *call;
    drep_dataset *ds;
    struct team *team;
    struct transfer *t; /* of this rank's elements */
    struct shares shares;
    enum together how;
    struct drep_selection united; /* on rank 0; compact: on all ranks */
    struct parcels parcels;
    struct team_inbox in;
    struct piece *piece;
    size_t npieces;
    struct owned *owned;
    size_t nowned, owned_room;
    struct buf report; /* of what it owns, for rank 0 */
    /* Rank 0: */
    struct remote remote;
    size_t remote_room;
    struct buf reports;
    uint64_t *report_at;
};

static int meet(struct meeting *m, int err)
{
    struct team_call call = {.name = m->call, .err = err};

    return team_agree(m->team, &call);
}

static int meet_first(struct meeting *m, int err)
{
    const drep_dataset *ds = m->ds;
    struct team_call call = {
        .name = m->call,
        .err = err,
        .args = 2,
        .arg = {{"dataset", err ? 0 : sum_stored(ds->path, strlen(ds->path)) ^ ds->id},
                {"shape or type", err ? 0 : sum_stored(ds->rec_bytes.p, ds->rec_bytes.len)}}};

    return team_agree(m->team, &call);
}

/* ---- what goes where ---- */

static int may_be_together(const struct transfer *t)
{
    if (t->ds->ft->type->variable)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                    "elements of variable length cannot be written together");
    if (writes_members(t))
        return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                    "some members of elements cannot be written together");
    return 0;
}

/* Everybody learns who owns which chunk, and gets what it owns. */
static int exchange(struct meeting *m)
{
    bool compact = m->ds->rec.layout == FMT_COMPACT;
    int err = together_meet(m->team, m->ds, m->t->sel, compact, &m->united, &m->how);

    if (err || m->how == TOGETHER_NOTHING)
        return err;
    err = meet(m, shares_cut(m->t, &m->shares));
    if (!err)
        err = shares_meet(m->team, m->ds, m->how, &m->shares);
    if (!err)
        err = meet(m, pieces_pack(m->t, m->team, &m->shares, &m->parcels));
    if (!err)
        err = team_exchange(m->team, m->parcels.parcel, m->parcels.n, &m->in);
    parcels_release(&m->parcels);
    return err;
}

/* ---- the chunks that this rank owns ---- */

static int put_u64(struct buf *b, uint64_t v)
{
    uint8_t bytes[8];

    store_u64(bytes, v);
    return buf_add(b, bytes, 8);
}

/* Report a chunk: number, size, skipped filters, checksums. */
static int report(struct meeting *m, const struct owned *o, const uint64_t *sums, uint64_t n)
{
    int err = put_u64(&m->report, (uint64_t)o->chunk);

    if (!err)
        err = put_u64(&m->report, o->size);
    if (!err)
        err = put_u64(&m->report, o->skipped);
    if (!err)
        err = buf_reserve(&m->report, m->report.len + n * 8);
    for (uint64_t i = 0; !err && i < n; i++)
        err = put_u64(&m->report, sums[i]);
    return err;
}

static int report_plain(struct meeting *m, struct owned *o)
{
    uint64_t n = sums_of(o->size);
    uint64_t *sums = mem_array(n + 1, sizeof *sums);
    int err = sums ? 0 : fail_nomem();

    if (!err) {
        payload_sums(m->ds->file->st, o->bytes, (size_t)o->size, sums);
        err = report(m, o, sums, n);
    }
    mem_free(sums);
    return err;
}

/* The encoded form takes the place of the payload. */
static int report_encoded(struct meeting *m, struct work *w, struct owned *o)
{
    struct span out = {0};
    uint8_t *bytes = NULL;
    int err = chunk_encode(w, &m->ds->chunks, o->bytes, o->size, &out, &o->skipped);

    if (!err && !(bytes = mem_alloc(out.len + 1)))
        err = fail_nomem();
    if (err)
        return err;
    memcpy(bytes, out.p, out.len);
    mem_free(o->bytes);
    o->bytes = bytes;
    o->size = out.len;
    o->sum = sum_stored(bytes, out.len);
    return report(m, o, &o->sum, 1);
}

/* A chunk that is written in part: its elements stay here, on rank 0. */
static int keep_part(struct meeting *m, int64_t chunk, uint8_t *bytes)
{
    if (VEC_ROOM(m->remote.chunk, m->remote.n, m->remote_room, 1)) {
        mem_free(bytes);
        return fail_nomem();
    }
    m->remote.chunk[m->remote.n++] =
        (struct remote_chunk){.chunk = chunk, .elements = (char *)bytes};
    return 0;
}

static int own_chunk(struct meeting *m, struct work *w, int64_t chunk, const struct share *own,
                     const struct piece *piece, size_t n)
{
    drep_dataset *ds = m->ds;
    bool filtered = ds->chunks.nfilters > 0;
    int64_t total = own ? own->n : 0;
    uint64_t size;
    bool whole;
    struct owned *o;
    int err;

    for (size_t i = 0; i < n; i++)
        total += (int64_t)piece[i].n;
    whole = own ? own->whole : chunk_is_whole(ds, m->how, chunk, total);
    size = whole                            ? chunk_bytes_whole(ds, chunk)
           : ds->rec.layout == FMT_COMPACT ? bytes_of(ds, dataset_count(ds))
                                           : ds->chunks.payload;
    if (VEC_ROOM(m->owned, m->nowned, m->owned_room, 1))
        return fail_nomem();
    o = &m->owned[m->nowned];
    *o = (struct owned){.chunk = chunk, .size = size, .bytes = mem_alloc(size + 1)};
    if (!o->bytes)
        return fail_nomem();
    m->nowned++;
    err = chunk_assemble(m->t, &m->shares, own, m->team->rank, piece, n, whole, o->bytes, size);
    if (err)
        return err;
    if (whole)
        return filtered ? report_encoded(m, w, o) : report_plain(m, o);
    m->nowned--;
    return keep_part(m, chunk, o->bytes);
}

/* Bring together what this rank owns: its own shares and the pieces of others, by chunk. */
static int own_chunks(struct meeting *m)
{
    struct store *st = m->ds->file->st;
    struct work *w = work_take(st);
    size_t i = 0, k = 0, end;
    int err = w ? pieces_list(m->ds, &m->in, &m->piece, &m->npieces) : DREP_ERR_NOMEM;

    while (!err && (i < m->shares.n || k < m->npieces)) {
        const struct share *own = i < m->shares.n ? &m->shares.share[i] : NULL;

        if (own && own->owner != m->team->rank) {
            i++;
            continue;
        }
        if (own && k < m->npieces && m->piece[k].chunk < own->chunk)
            own = NULL;
        for (end = k; end < m->npieces &&
                      m->piece[end].chunk == (own ? own->chunk : m->piece[k].chunk);)
            end++;
        err = own_chunk(m, w, own ? own->chunk : m->piece[k].chunk, own, m->piece + k, end - k);
        k = end;
        i += own != NULL;
    }
    work_give(st, w);
    return err;
}

/* ---- rank 0: the store writes ---- */

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
        struct remote_chunk c = {.chunk = (int64_t)load_u64(p),
                                 .whole = true,
                                 .owner = rank,
                                 .size = load_u64(p + 8),
                                 .skipped = (uint32_t)load_u64(p + 16),
                                 .sums = (uint64_t *)(void *)(p + 24)};
        uint64_t n = filtered ? 1 : sums_of(c.size);

        for (uint64_t i = 0; i < n; i++)
            c.sums[i] = load_u64(p + 24 + i * 8);
        if (VEC_ROOM(m->remote.chunk, m->remote.n, m->remote_room, 1))
            return fail_nomem();
        m->remote.chunk[m->remote.n++] = c;
        p += 24 + n * 8;
    }
    return 0;
}

/* Make the calls of one process.  The other ranks' entries do not change with it, so this is not in
 * the journal; but what a compact dataset holds is, on all ranks. */
static int store_writes(struct meeting *m)
{
    struct transfer *t = m->t;
    struct journal *journal = m->ds->file->st->journal;
    int err;

    if (m->remote.n > 1)
        qsort(m->remote.chunk, m->remote.n, sizeof *m->remote.chunk, by_number);
    t->sel = &m->united;
    t->threads = 1;
    t->remote = &m->remote;
    t->xfer = NULL;
    conv_raw(&t->conv, m->ds, NULL);
    journal->paused = m->ds->rec.layout != FMT_COMPACT;
    m->ds->verified = false;
    err = transfer_layout(t);
    journal->paused = false;
    for (size_t i = 0; !err && i < m->remote.n; i++)
        if (m->remote.chunk[i].whole && !m->remote.chunk[i].placed)
            err = fail(DREP_ERR_FAILED, "chunk number %lld got no place",
                       (long long)m->remote.chunk[i].chunk);
    return err;
}

/* The places of all whole chunks, rank after rank and in the order of its reports; after an error
 * there are none. */
static int give_places(struct meeting *m, int err, struct buf *mine)
{
    uint64_t *offset = NULL, ranks = (uint64_t)m->team->size;
    uint8_t *all = NULL;

    if (m->team->rank > 0)
        return team_scatter(m->team, NULL, NULL, mine);
    offset = mem_zalloc(ranks + 1, sizeof *offset);
    all = mem_array(m->remote.n + 1, 8);
    if (!offset || !all) {
        mem_free(offset);
        mem_free(all);
        return team_kill(m->team, fail_nomem());
    }
    for (size_t i = 0; !err && i < m->remote.n; i++)
        if (m->remote.chunk[i].whole)
            offset[m->remote.chunk[i].owner + 1] += 8;
    for (uint64_t r = 0; r < ranks; r++)
        offset[r + 1] += offset[r];
    for (size_t i = 0; !err && i < m->remote.n; i++) {
        const struct remote_chunk *c = &m->remote.chunk[i];

        if (!c->whole)
            continue;
        store_u64(all + offset[c->owner], c->offset);
        offset[c->owner] += 8;
    }
    for (uint64_t r = ranks; !err && r > 0; r--)
        offset[r] = offset[r - 1];
    offset[0] = 0;
    err = team_scatter(m->team, all, offset, mine);
    mem_free(offset);
    mem_free(all);
    return err;
}

/* Rank 0 places, the owners write. */
static int place_and_write(struct meeting *m)
{
    struct team *team = m->team;
    struct io *io = ranks_io(m->ds->file);
    struct buf places = {0};
    int err, mine = 0;

    m->report_at = mem_array((uint64_t)team->size + 1, sizeof *m->report_at);
    if (!m->report_at)
        return team_kill(team, fail_nomem());
    err = team_gather(team, m->report.p, m->report.len, &m->reports, m->report_at);
    if (err)
        return err;
    for (int r = 0; team->rank == 0 && !mine && r < team->size; r++)
        mine = take_reports(m, r);
    if (team->rank == 0 && !mine)
        mine = store_writes(m);
    err = give_places(m, mine, &places);
    for (size_t i = 0; !err && !mine && i < m->nowned && places.len == m->nowned * 8; i++) {
        const struct owned *o = &m->owned[i];

        mine = io->ops->write_at(io, o->bytes, (size_t)o->size, load_u64(places.p + i * 8));
        m->ds->file->ranks->wrote = true;
    }
    buf_release(&places);
    return err ? err : meet(m, mine);
}

/* Compact datasets are entries, which each rank has for itself: all of them get the elements. */
static int write_compact(struct meeting *m)
{
    struct buf b = {0};
    uint64_t size = bytes_of(m->ds, dataset_count(m->ds));
    int err = 0;

    if (m->team->rank == 0)
        err = buf_set(&b, m->remote.chunk[0].elements, (size_t)size);
    err = err ? team_kill(m->team, err) : team_bcast(m->team, &b);
    if (!err && m->team->rank > 0)
        err = keep_part(m, 0, b.p);
    if (!err && m->team->rank > 0)
        b = (struct buf){0};
    if (!err)
        err = store_writes(m);
    buf_release(&b);
    return meet(m, err);
}

static void meeting_end(struct meeting *m)
{
    for (size_t i = 0; i < m->nowned; i++)
        mem_free(m->owned[i].bytes);
    for (size_t i = 0; i < m->remote.n; i++)
        mem_free(m->remote.chunk[i].elements);
    mem_free(m->owned);
    mem_free(m->remote.chunk);
    mem_free(m->piece);
    mem_free(m->report_at);
    buf_release(&m->report);
    buf_release(&m->reports);
    team_inbox_release(&m->in);
    parcels_release(&m->parcels);
    shares_release(&m->shares);
    together_release(&m->united);
    transfer_end(m->t);
}

/* ---- the calls ---- */

int collective_write(drep_dataset *ds, const drep_selection *sel, const drep_type *type,
                     const void *buf, const drep_xfer *xfer, const char *call, int err)
{
    struct meeting m = {.call = call, .ds = ds, .team = &ds->file->ranks->team};
    bool first;

    if (!err)
        err = transfer_begin(ds, sel, type, (char *)(uintptr_t)buf, xfer, WRITING, &m.t);
    if (!err)
        err = may_be_together(m.t);
    if (err)
        fail_in(err, "dataset \"%s\"", ds->path);
    err = meet_first(&m, err);
    if (!err && ds->esize > 0)
        err = exchange(&m);
    if (!err && m.how != TOGETHER_NOTHING) {
        err = meet(&m, fail_in(own_chunks(&m), "dataset \"%s\"", ds->path));
        if (!err)
            err = ds->rec.layout == FMT_COMPACT ? write_compact(&m) : place_and_write(&m);
        if (!err && ds->rec.layout != FMT_COMPACT)
            err = idset_mark(&ds->file->ranks->written, ds->id, &first);
    }
    meeting_end(&m);
    return err;
}

int collective_read(drep_dataset *ds, const drep_selection *sel, const drep_type *type, void *buf,
                    const drep_xfer *xfer, const char *call, int err)
{
    struct meeting m = {.call = call, .ds = ds, .team = &ds->file->ranks->team};

    if (!err)
        err = fail_in(dataset_read(ds, sel, type, buf, xfer), "dataset \"%s\"", ds->path);
    return meet_first(&m, err);
}
