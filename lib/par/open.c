/* open.c - making and opening files that several ranks share.
 *
 * Rank 0 makes or opens the file as one process does, and tells the others where it is, which
 * commit it looks at and which hints it was given.  They open private stores on it. */
/* SPDX-License-Identifier: MIT */
#include "whole/create.h"
#include "par/calls.h"
#include "par/greeting.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "tree/journal.h"
#include "whole/close.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE ((int64_t)30 * 1000000000) /* nanoseconds */

/* The request that all ranks make. */
struct wish {
    const char *call, *path, *datarep; /* datarep NULL: an existing file */
    int amode;
    const drep_info *info;
};

/* ---- the two sides ---- */

static int open_first(const struct wish *w, drep_file **out)
{
    return w->datarep ? drep_create(w->path, w->amode, w->datarep, w->info, out)
                      : drep_open(w->path, w->amode, w->info, out);
}

/* How long another rank waits for what rank 0 has made or written: file systems of several nodes
 * may show it late.  It gives up before the others give it up. */
static int64_t patience(const struct ranks *r)
{
    return r->team.timeout && r->team.timeout / 2 < PATIENCE ? r->team.timeout / 2 : PATIENCE;
}

/* All ranks share a lock, so nobody else may write while one of them does, even if rank 0 ends
 * first (R6.14). */
static int lock_as_rank(struct io *base)
{
    int err = base->ops->lock(base, FMT_LOCK_RANKS, 1, 1);

    return err == DREP_ERR_UNSUPPORTED_OPERATION ? 0 : err;
}

/* The file by the name that it has now; messages call it by that which the user gave. */
static int open_private_io(const struct wish *w, const struct greeting *g, int64_t wait,
                           struct io **out)
{
    struct io *base;
    char *path = mem_strdup(w->path);
    int err = path ? io_posix_patient(g->where, IO_WRITE, wait, &base) : fail_nomem();

    if (err) {
        mem_free(path);
        return fail_in(err, "%s", w->path);
    }
    mem_free(base->path);
    base->path = path;
    err = g->locked ? lock_as_rank(base) : 0;
    if (err || (err = io_private(base, out)))
        base->ops->close(base);
    return err;
}

/* Open what rank 0 has open. */
static int open_other(const struct ranks *r, const struct wish *w, const struct greeting *g,
                      drep_file **out)
{
    bool reads = !w->datarep && w->amode != DREP_RDWR;
    struct io *io;
    int err = reads ? io_posix_patient(w->path, IO_READ, patience(r), &io)
                    : open_private_io(w, g, patience(r), &io);

    if (err)
        return fail_in(err, "rank 0 has it open, but");
    return w->datarep ? file_create_private(io, w->path, w->datarep, g->info, out)
                      : file_open_other(io, w->path, w->amode, &g->slot, g->info, out);
}

/* ---- together ---- */

static uint64_t text_hash(const char *text)
{
    return text ? sum_stored(text, strlen(text)) : 0;
}

static int agree(struct ranks *r, const char *name, int err)
{
    struct team_call call = {.name = name, .err = err};

    return team_agree(&r->team, &call);
}

/* Rank 0's part: the file that it opens. */
struct opening {
    struct ranks *r;
    const struct wish *w;
    drep_file *f;
};

static int open_and_greet(void *ctx, const struct team_said *said, struct buf *greeting)
{
    struct opening *o = ctx;
    uint8_t grant[LEASE_GRANT] = {0};
    int err = greeting_compare(said, o->r->team.size);

    if (!err)
        err = open_first(o->w, &o->f);
    if (!err && store_writable(o->f->st))
        err = journal_begin(o->f->st);
    if (!err && store_writable(o->f->st) && store_locked(o->f->st))
        err = lock_as_rank(o->f->st->io);
    if (!err && o->w->datarep) /* a new file has nothing to deal */
        leases_grant(o->f, o->r, grant);
    else if (!err)
        leases_grant_free(o->f, o->r, grant);
    return err ? err : greeting_put(o->f, o->w->info, grant, greeting);
}

/* If all wish the same and run the same library, rank 0 opens the file and greets the others. */
static int opening_agree(struct opening *o, struct buf *greeting)
{
    const struct wish *w = o->w;
    struct team_call call = {.name = w->call,
                             .err = w->path ? 0 : fail(DREP_ERR_ARG, "%s: no path", w->call),
                             .args = 3,
                             .arg = {{"path", text_hash(w->path)},
                                     {"amode", (uint64_t)w->amode},
                                     {"datarep", text_hash(w->datarep)}}};
    struct team_said said = {.at = NULL};
    struct buf library = {0};
    int err;

    if (greeting_library(&library) && !call.err)
        call.err = fail_nomem();
    err = team_meet(&o->r->team, &call, &library, open_and_greet, o, &said, greeting);
    buf_release(&library);
    team_said_release(&said);
    return err;
}

/* The transport may have another way to payload, for writes and reads of all ranks. */
static int open_payload(struct ranks *r, const struct greeting *g, drep_file *f)
{
    const drep_transport *t = r->team.transport;
    drep_driver driver = DREP_DRIVER(.first_read = 0);
    void *state = NULL;
    int err = 0;

    if (t->payload)
        err = t->payload(r->team.ctx, g->where, f->amode, g->info, &driver, &state);
    if (!err && driver.read_many && driver.write_at)
        err = io_routed(ranks_base(f), &driver, state, &r->payload);
    f->st->payload = r->payload;
    return err ? err : drep_info_set(f->hints.all, "drep_mpi_io", r->payload ? "mpiio" : "posix");
}

/* True for a valid hint of rank 0's opener, or of the file. */
static bool hint_is_given(const struct greeting *g, const drep_file *f, const char *key)
{
    const char *value = drep_info_get(g->info, key);

    return (value && info_valid(key, value)) || drep_info_get(f->hints.stored, key);
}

/* Put the hints for several processes in force. */
static int settle_hints(struct ranks *r, const struct greeting *g, drep_file *f)
{
    int64_t nodes =
        hint_is_given(g, f, "cb_nodes") ? info_int(f->hints.all, "cb_nodes") : r->team.size;
    bool buffering = !hint_is_given(g, f, "collective_buffering") ||
                     info_bool(f->hints.all, "collective_buffering");
    char text[24];
    int err;

    nodes = nodes < r->team.size ? nodes : r->team.size;
    snprintf(text, sizeof text, "%lld", (long long)nodes);
    err = drep_info_set(f->hints.all, "cb_nodes", text);
    if (!err)
        err = drep_info_set(f->hints.all, "collective_buffering", buffering ? "true" : "false");
    if (!err) /* rank 0's lock is that of all */
        err = drep_info_set(f->hints.all, "drep_lock", g->locked ? "true" : "false");
    f->hints.shared = true;
    r->last = info_has(f->hints.all, "drep_overlap", "last");
    r->buffering.nodes = buffering ? (int)nodes : r->team.size;
    if (buffering && hint_is_given(g, f, "cb_block_size"))
        r->buffering.block = (uint64_t)info_int(f->hints.all, "cb_block_size");
    r->buffering.window = (uint64_t)info_int(f->hints.all, "drep_mpi_window");
    if (buffering)
        r->buffering.unit = f->st->opts.unit;
    return err;
}

/* This rank's part after the greeting. */
static int greeted(struct opening *o, const struct greeting *g)
{
    struct ranks *r = o->r;
    int err = r->team.rank > 0 ? open_other(r, o->w, g, &o->f) : 0;

    if (r->team.rank > 0 && !err)
        leases_begin(r, g->grant);
    return err ? err : settle_hints(r, g, o->f);
}

static int open_together(struct ranks *r, const struct wish *w, drep_file **out)
{
    struct opening o = {.r = r, .w = w};
    struct greeting g = {.where = ""};
    struct buf b = {0};
    bool apart = false; /* a failure is known to all */
    int err = opening_agree(&o, &b);

    if (!err) {
        err = team_kill(&r->team, greeting_get(&b, &g));
        if (!err) {
            err = greeted(&o, &g);
            leases_deal(r, g.grant);
        }
        if (r->team.transport->payload)
            apart = (err = agree(r, w->call, err)) != 0;
        if (!err)
            err = open_payload(r, &g, o.f);
        if (!apart)
            err = agree(r, w->call, err);
    }
    drep_info_free(g.info);
    buf_release(&b);
    if (err) {
        file_end(o.f);
        return err;
    }
    *out = o.f;
    return 0;
}

/* Both functions and possible numbers; a drep_team call also needs a place for the handle. */
static int transport_valid(const drep_transport *t, const char *call, drep_file **out)
{
    int err;

    if (!out || !t->send || !t->receive)
        return fail(DREP_ERR_ARG, "%s: %s", call,
                    out ? "drep_transport: send and receive are required" : "null argument");
    if (!(err = value_valid(call, "drep_transport.ranks", t->ranks, 1, INT_MAX)) &&
        !(err = value_valid(call, "drep_transport.rank", t->rank, 0, t->ranks - 1)) &&
        t->timeout_ns < 0)
        err = fail(DREP_ERR_ARG, "%s: drep_transport.timeout_ns %lld", call,
                   (long long)t->timeout_ns);
    return err;
}

static int open_team(const drep_transport *transport, void *ctx, struct wish *w, drep_file **out)
{
    drep_transport own;
    struct ranks *r;
    int err = sized_get(SIZED_drep_transport, transport, &own, w->call);

    if (err)
        return err;
    w->call = own.call ? own.call : w->call;
    if ((err = transport_valid(&own, w->call, out)) && own.release)
        own.release(ctx, 0);
    if (err || (err = ranks_new(&own, ctx, &r)))
        return err;
    err = own.ranks == 1 ? open_first(w, out) : open_together(r, w, out);
    if (err) {
        ranks_release(r);
        return err;
    }
    calls_hand_over(*out, r);
    return 0;
}

int drep_team_create(const drep_transport *transport, void *ctx, const char *path, int amode,
                     const char *datarep, const drep_info *info, drep_file **out)
{
    struct wish w = {"drep_team_create", path, !datarep ? "native" : datarep, amode, info};

    return open_team(transport, ctx, &w, out);
}

int drep_team_open(const drep_transport *transport, void *ctx, const char *path, int amode,
                   const drep_info *info, drep_file **out)
{
    struct wish w = {"drep_team_open", path, NULL, amode, info};

    return open_team(transport, ctx, &w, out);
}

int drep_team_of(drep_file *file, int *rank, int *ranks)
{
    int err = file_check(file);

    if (err)
        return err;
    if (rank)
        *rank = file->team ? ranks_of(file)->team.rank : 0;
    if (ranks)
        *ranks = file->team ? file->team->size : 1;
    return 0;
}
