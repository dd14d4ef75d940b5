/* leases.c - the ranks of a file agree on leases.
 *
 * How long the first lease is follows from what the ranks used of the last ones: programs that
 * write alike each time leave no gaps. */
/* SPDX-License-Identifier: MIT */
#include "par/leases.h"

#include "base/mem.h"
#include "chunk/cache.h"
#include "format/byteorder.h"
#include "space/space.h"
#include "txn/free.h"

int leases_new(struct ranks *r)
{
    r->leases = mem_zalloc(1, sizeof *r->leases);
    if (!r->leases)
        return fail_nomem();
    r->leases->own.holder = r->team.rank;
    r->leases->own.holders = r->team.size;
    return 0;
}

void leases_release(struct ranks *r)
{
    if (!r->leases)
        return;
    lease_end(&r->leases->own);
    extent_list_release(&r->leases->dropped);
    buf_release(&r->leases->deal);
    mem_free(r->leases->deal_at);
    mem_free(r->leases->used);
    mem_free(r->leases);
}

/* Bytes that rank 0 may take by itself until the ranks meet, so that a file in which no lease is
 * used is that of one process: twice what it took at most, up to now, or an eighth of the file; and
 * what its cache has to write back, of which chunks end in space of their own. */
static uint64_t room_before(const struct store *st, const struct ranks *r)
{
    uint64_t most = 2 * r->leases->taken_alone, share = store_end(st) / 8;

    most = most > share ? most : share;
    most = most < LEASE_MIN ? LEASE_MIN : most < LEASE_MAX ? most : LEASE_MAX;
    return most + 2 * cache_dirty(st->cache);
}

void leases_grant(drep_file *f, struct ranks *r, uint8_t grant[LEASE_GRANT])
{
    struct store *st = f->st;
    uint64_t unit = st->opts.unit > FMT_SUM_BLOCK ? st->opts.unit : FMT_SUM_BLOCK, end, base;

    memset(grant, 0, LEASE_GRANT);
    if (!store_writable(st) || r->leases->own.base)
        return;
    end = store_end(st);
    /* The slot at the end of a stream is cut off when the first space is allocated. */
    if (st->slot.incompatible & FMT_AT_END || end > FMT_SIZE_MAX / 2 || unit > LEASE_MAX)
        return;
    base = round_up(end + room_before(st, r), unit);
    r->leases->alone_from = end;
    lease_begin(&r->leases->own, base, r->leases->first ? r->leases->first : LEASE_MIN);
    space_lease(st, &r->leases->own);
    store_u64(grant, base);
    store_u64(grant + 8, r->leases->own.length);
}

void leases_begin(struct ranks *r, const uint8_t grant[LEASE_GRANT])
{
    lease_end(&r->leases->own);
    if (load_u64(grant))
        lease_begin(&r->leases->own, load_u64(grant), load_u64(grant + 8));
}

/* The first lease of a rank that will use so much. */
static uint64_t first_length(uint64_t size)
{
    size = size < LEASE_MAX ? round_up(size, LEASE_MIN) : LEASE_MAX;
    return size ? size : LEASE_MIN;
}

/* ---- free space ---- */

/* Extents as bytes, with their number. */
static int put_extents(struct buf *b, const struct extent_list *l)
{
    uint8_t *p;
    int err = buf_reserve(b, b->len + 8 + 16 * l->n);

    if (err)
        return err;
    p = b->p + b->len;
    store_u64(p, l->n);
    for (size_t i = 0; i < l->n; i++) {
        store_u64(p + 8 + 16 * i, l->e[i].offset);
        store_u64(p + 16 + 16 * i, l->e[i].length);
    }
    b->len += 8 + 16 * l->n;
    return 0;
}

static int get_extents(const uint8_t **p, struct extent_list *l)
{
    uint64_t n = load_u64(*p);
    int err = 0;

    *p += 8;
    for (; !err && n > 0; n--, *p += 16)
        err = extent_list_push(l, load_u64(*p), load_u64(*p + 8));
    return err;
}

static uint64_t bytes_of_list(const struct extent_list *l, size_t from)
{
    uint64_t sum = 0;

    for (size_t i = from; i < l->n; i++)
        sum += l->e[i].length;
    return sum;
}

/* What a rank wants that has used so much: as before, and a little more for what does not fit. */
static uint64_t wish(const struct leases *l, uint64_t used)
{
    return used + used / 8 + l->grain;
}

/* What a rank gets of `sum` free bytes, of which the ranks want `all` together. */
static uint64_t lease_share(const struct ranks *r, int rank, uint64_t sum, uint64_t all)
{
    uint64_t want;

    if (!r->leases->used)
        return sum / (uint64_t)r->team.size;
    want = wish(r->leases, r->leases->used[rank]);
    return all <= sum ? want : (uint64_t)((double)want / (double)all * (double)sum);
}

void leases_grant_free(drep_file *f, struct ranks *r, uint8_t grant[LEASE_GRANT])
{
    struct leases *l = r->leases;
    struct extent_list one = {0};
    uint64_t grain = l->grain ? l->grain : LEASE_MIN, sum, at, all = 0, missing = 0, got;
    int err = 0;

    leases_grant(f, r, grant);
    if (!load_u64(grant) || free_begin(f->st))
        return;
    /* As long as no rank has written alone, the file is that of one process. */
    at = l->used ? 0 : space_behind_room(f->st, room_before(f->st, r));
    sum = space_to_deal(f->st, at, grain);
    if (sum == 0 || (!l->used && sum / (uint64_t)r->team.size < grain))
        return;
    if (!l->deal_at)
        l->deal_at = mem_array((uint64_t)r->team.size + 1, sizeof *l->deal_at);
    l->deal.len = 0;
    for (int k = 0; l->used && k < r->team.size; k++)
        all += wish(l, l->used[k]);
    for (int k = 0; !err && l->deal_at && k < r->team.size; k++) {
        l->deal_at[k] = l->deal.len;
        one.n = 0;
        err = space_deal(f->st, &at, lease_share(r, k, sum, all) / grain * grain, grain, &one);
        if (!err)
            err = put_extents(&l->deal, &one);
        got = bytes_of_list(&one, 0);
        if (l->used && l->used[k] > got + missing)
            missing = l->used[k] - got;
        l->deal_at[k + 1] = l->deal.len;
    }
    extent_list_release(&one);
    if (err || !l->deal_at)
        return;
    store_u64(grant + 16, 1);
    if (l->used) { /* leases are for the rest */
        l->own.length = first_length(missing);
        store_u64(grant + 8, l->own.length);
    }
}

/* Where all ranks write together alone, no message is spent on what nobody wants. */
void leases_grant_again(drep_file *f, struct ranks *r, uint8_t grant[LEASE_GRANT])
{
    if (r->leases->used)
        leases_grant_free(f, r, grant);
    else
        leases_grant(f, r, grant);
}

void leases_deal(struct ranks *r, const uint8_t grant[LEASE_GRANT])
{
    struct extent_list mine = {0};
    struct fail_state why;
    struct buf b = {0};
    const uint8_t *p;
    int err;

    if (!load_u64(grant + 16) || r->team.dead)
        return;
    fail_save(&why);
    err = team_scatter(&r->team, r->leases->deal.p, r->leases->deal_at, &b);
    p = b.p;
    if (!err)
        err = get_extents(&p, &mine);
    for (size_t i = 0; !err && i < mine.n; i++)
        err = lease_give(&r->leases->own, mine.e[i].offset, mine.e[i].length);
    extent_list_release(&mine);
    buf_release(&b);
    fail_restore(&why);
}

bool leases_used(const struct ranks *r)
{
    return lease_in_use(&r->leases->own) || r->leases->dropped.n > 0;
}

/* ---- the end ---- */

/* Rank 0: take what all have used; free what they wrote before and do not want. */
static int take_used(drep_file *f, const struct buf *all, const uint64_t *offset)
{
    struct ranks *r = ranks_of(f);
    struct extent_list used = {0}, dropped = {0};
    uint64_t most = 0, grain = 0;
    int err = 0;

    if (!r->leases->used) /* without memory all get alike */
        r->leases->used = mem_zalloc((uint64_t)r->team.size, sizeof *r->leases->used);
    for (int k = 0; !err && k < r->team.size; k++) {
        const uint8_t *p = all->p + offset[k];
        uint64_t largest = round_up(load_u64(p), FMT_SUM_BLOCK);
        size_t before = used.n;

        grain = largest > grain ? largest : grain;
        p += 8;
        err = get_extents(&p, &used);
        if (!err)
            err = get_extents(&p, &dropped);
        most = bytes_of_list(&used, before) > most ? bytes_of_list(&used, before) : most;
        if (r->leases->used)
            r->leases->used[k] = bytes_of_list(&used, before);
    }
    if (!err)
        err = free_begin(f->st);
    if (!err)
        err = space_lease_end(f->st, &used);
    for (size_t i = 0; !err && i < dropped.n; i++)
        space_free(f->st, dropped.e[i].offset, dropped.e[i].length, ANYWAY);
    r->leases->first = first_length(most);
    r->leases->grain = grain;
    extent_list_release(&used);
    extent_list_release(&dropped);
    return err;
}

static int report_leases(drep_file *f)
{
    struct ranks *r = ranks_of(f);
    uint64_t *offset = mem_array((uint64_t)r->team.size + 1, sizeof *offset);
    struct extent_list used = {0};
    struct buf mine = {0}, all = {0};
    uint8_t largest[8];
    int err = offset ? lease_used(&r->leases->own, &used) : DREP_ERR_NOMEM;

    store_u64(largest, r->leases->own.largest);
    if (!err)
        err = buf_add(&mine, largest, sizeof largest);
    if (!err)
        err = put_extents(&mine, &used);
    if (!err)
        err = put_extents(&mine, &r->leases->dropped);
    if (err)
        fail_nomem();
    err = err ? team_kill(&r->team, err) : team_gather(&r->team, mine.p, mine.len, &all, offset);
    if (!err && r->team.rank == 0)
        err = team_kill(&r->team, take_used(f, &all, offset));
    extent_list_release(&used);
    buf_release(&mine);
    buf_release(&all);
    mem_free(offset);
    return err;
}

int leases_end(drep_file *f, bool any)
{
    struct ranks *r = ranks_of(f);
    uint64_t end = f->st->space->end;
    int err;

    if (r->leases->own.base && r->team.rank == 0 &&
        end - r->leases->alone_from > r->leases->taken_alone)
        r->leases->taken_alone = end - r->leases->alone_from;
    err = any ? report_leases(f) : 0;
    if (r->team.rank == 0)
        space_lease(f->st, NULL);
    lease_end(&r->leases->own);
    r->leases->dropped.n = 0;
    return err;
}

int leases_settle(drep_file *f)
{
    uint64_t any = leases_used(ranks_of(f));
    int err = team_reduce(&ranks_of(f)->team, TEAM_MAX, &any, 1);

    return err ? err : leases_end(f, any);
}

int leases_renew(drep_file *f)
{
    struct ranks *r = ranks_of(f);
    struct buf b = {0};
    int err = r->team.rank == 0 ? buf_reserve(&b, LEASE_GRANT) : 0;

    if (!err && r->team.rank == 0) {
        leases_grant_again(f, r, b.p);
        b.len = LEASE_GRANT;
    }
    err = err ? team_kill(&r->team, err) : team_bcast(&r->team, &b);
    if (!err && r->team.rank > 0)
        leases_begin(r, b.p);
    if (!err)
        leases_deal(r, b.p);
    buf_release(&b);
    return err;
}

bool leases_alloc(drep_file *f, uint64_t size, uint64_t align, uint64_t *offset)
{
    if (!lease_alloc(&ranks_of(f)->leases->own, size, align, offset))
        return false;
    space_reached(f->st, *offset + size);
    return true;
}

void leases_free(struct ranks *r, uint64_t offset, uint64_t size)
{
    if (lease_has(&r->leases->own, offset))
        lease_free(&r->leases->own, offset, size);
    else
        extent_list_push(&r->leases->dropped, offset, size); /* without memory it is slack */
}
