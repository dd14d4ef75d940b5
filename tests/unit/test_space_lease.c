/* test_space_lease.c - space that several holders allocate without asking each other.
 *
 * A map of who has which unit of the file is the oracle: no two holders may have one page, a
 * stretch that nobody has is free when the leases end, and a store that claims what the holders
 * have used must account for every byte up to its end. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "bytes.h"
#include "faultio.h"

#include "format/record.h"
#include "space/lease.h"
#include "space/space.h"
#include "tree/edit.h"
#include "tree/walk.h"
#include "txn/commit.h"
#include "txn/free.h"
#include "txn/op.h"
#include "txn/open.h"
#include "tests/unit/store_opts.h"

enum { HOLDERS = 7, ALLOCATIONS = 300, PAGE = 4096 };
#define BASE ((uint64_t)1 << 20)
#define MOST (LEASE_MAX - FMT_ALIGN) /* of one allocation */

static struct lease holder_of(int holder, int holders, uint64_t first)
{
    struct lease l = {.holder = holder, .holders = holders};

    lease_begin(&l, BASE, first);
    return l;
}

/* ---- holders alone ---- */

/* Notes an extent of one holder in a set of all, where no other may have a page of it. */
static void claim_pages(struct extents *all, const struct extent *e)
{
    uint64_t from = e->offset / PAGE * PAGE, to = round_up(e->offset + e->length, PAGE);

    ck_assert_int_eq(extents_add(all, from, to - from, NULL), 0);
}

/* Every byte that a holder has allocated is listed, and nothing else. */
static void check_used(const struct lease *l, const struct extents *want)
{
    struct extent_list used = {0};
    struct extent e;
    uint64_t at = 0;
    size_t i = 0;

    ok(lease_used(l, &used));
    for (; extents_behind(want, at, &e); at = e.offset + e.length, i++) {
        ck_assert_uint_lt(i, used.n);
        ck_assert_uint_eq(used.e[i].offset, e.offset);
        ck_assert_uint_eq(used.e[i].length, e.length);
    }
    ck_assert_uint_eq(used.n, i);
    ck_assert_int_eq(lease_in_use(l), i > 0);
    extent_list_release(&used);
}

/* One holder allocates and frees at random; `want` gets what it has in the end. */
static void live_as_holder(struct lease *l, struct rnd *r, struct extents *want)
{
    struct extent have[ALLOCATIONS];
    size_t n = 0;

    for (int i = 0; i < ALLOCATIONS; i++) {
        if (n > 0 && rnd_below(r, 3) == 0) {
            size_t k = (size_t)rnd_below(r, n);

            lease_free(l, have[k].offset, have[k].length - rnd_below(r, FMT_ALIGN));
            extents_take(want, have[k].offset, have[k].length);
            have[k] = have[--n];
            continue;
        }
        uint64_t size = rnd_below(r, rnd_below(r, 9) ? 9000 : 400000);
        uint64_t align = (uint64_t)FMT_ALIGN << rnd_below(r, 14), offset = 1;

        ck_assert(lease_alloc(l, size, align, &offset));
        ck_assert_uint_eq(offset % align, 0);
        ck_assert_uint_ge(l->largest, size);
        size = round_up(size ? size : 1, FMT_ALIGN);
        ck_assert(lease_has(l, offset) && lease_has(l, offset + size - 1));
        ok(extents_add(want, offset, size, NULL)); /* what is in use is not given out again */
        have[n++] = (struct extent){offset, size};
    }
}

START_TEST(test_holders_do_not_meet)
{
    static const uint64_t firsts[] = {LEASE_MIN, 5 * LEASE_MIN, LEASE_MAX};
    struct extents all = {0};
    struct rnd r;

    rnd_init(&r, (uint64_t)_i);
    for (int holder = 0; holder < HOLDERS; holder++) {
        struct lease l = holder_of(holder, HOLDERS, firsts[_i]);
        struct extents want = {0}, pages = {0};
        struct extent e;

        check_used(&l, &want);
        live_as_holder(&l, &r, &want);
        check_used(&l, &want);
        for (uint64_t at = 0; extents_behind(&want, at, &e); at = e.offset + e.length) {
            uint64_t from = e.offset / PAGE * PAGE, to = round_up(e.offset + e.length, PAGE);

            ck_assert_uint_ge(e.offset, BASE);
            while (from < to && extents_hold(&pages, from, PAGE)) /* of the extent before it */
                from += PAGE;
            if (from < to)
                claim_pages(&pages, &(struct extent){from, to - from});
        }
        for (uint64_t at = 0; extents_behind(&pages, at, &e); at = e.offset + e.length)
            claim_pages(&all, &e);
        lease_end(&l);
        ck_assert(!lease_in_use(&l));
        extents_release(&want);
        extents_release(&pages);
    }
    extents_release(&all);
}
END_TEST

/* Nothing is lost between stretches: a single holder has one after the other. */
START_TEST(test_stretches_follow_each_other)
{
    struct lease l = holder_of(0, 1, 2 * LEASE_MIN);
    uint64_t offset, at = BASE;

    for (int i = 0; i < 100; i++, at += LEASE_MIN) {
        ck_assert(lease_alloc(&l, LEASE_MIN, FMT_ALIGN, &offset));
        ck_assert_uint_eq(offset, at);
    }
    lease_end(&l);
}
END_TEST

/* What does not fit goes to a later stretch, and what is freed is used first. */
START_TEST(test_long_allocations)
{
    struct lease l = holder_of(1, 2, LEASE_MIN);
    uint64_t offset, first, at;

    ck_assert(lease_alloc(&l, MOST, FMT_ALIGN, &offset));
    ck_assert(!lease_has(&l, BASE + LEASE_MIN)); /* passed by: short ones are not taken */
    ck_assert(lease_has(&l, offset) && lease_has(&l, offset + MOST - 1));
    ck_assert_uint_eq(l.largest, MOST);
    lease_free(&l, offset, MOST);
    ck_assert(lease_alloc(&l, 1, FMT_ALIGN, &first));
    ck_assert_uint_eq(first, offset);
    ck_assert(!lease_alloc(&l, MOST + 1, FMT_ALIGN, &at));
    ck_assert(!lease_alloc(&l, MOST, 2 * FMT_ALIGN, &at));
    ck_assert(lease_alloc(&l, LEASE_MAX - LEASE_MIN, LEASE_MIN, &at));
    ck_assert_uint_eq(at % LEASE_MIN, 0);
    lease_end(&l);
}
END_TEST

START_TEST(test_no_leases)
{
    struct lease l = {.holder = 0, .holders = 3};
    uint64_t offset = 7;

    ck_assert(!lease_alloc(&l, 1, FMT_ALIGN, &offset));
    lease_begin(&l, BASE, LEASE_MIN);
    ck_assert(lease_alloc(&l, 1, FMT_ALIGN, &offset));
    lease_end(&l);
    ck_assert(!lease_alloc(&l, 1, FMT_ALIGN, &offset));
    ck_assert(!lease_has(&l, BASE));
    lease_begin(&l, 2 * BASE, LEASE_MIN); /* again, elsewhere */
    ck_assert(lease_alloc(&l, 1, FMT_ALIGN, &offset));
    ck_assert_uint_eq(offset, 2 * BASE);
    ck_assert_uint_eq(l.largest, FMT_ALIGN);
    lease_end(&l);
}
END_TEST

/* Of a thousand holders each gets its part of LEASE_REACH, and no byte more. */
START_TEST(test_the_reach)
{
    struct lease l = holder_of(999, 1000, LEASE_MAX);
    uint64_t offset, n = 0;

    for (; lease_alloc(&l, MOST, FMT_ALIGN, &offset); n++)
        ck_assert_uint_le(offset + MOST, BASE + LEASE_REACH);
    ck_assert_uint_gt(n, LEASE_REACH / LEASE_MAX / 1000 - 3);
    ck_assert_uint_le(n, LEASE_REACH / LEASE_MAX / 1000);
    ck_assert(!lease_alloc(&l, MOST, FMT_ALIGN, &offset));
    lease_end(&l);
}
END_TEST

/* Bytes below the base are used first, then the stretches. */
START_TEST(test_given_bytes)
{
    struct lease l = holder_of(0, 2, LEASE_MIN);
    struct extents want = {0};
    uint64_t offset;

    ok(lease_give(&l, 3 * PAGE, 2 * PAGE));
    ok(lease_give(&l, BASE - PAGE, PAGE)); /* up to the first stretch */
    check_used(&l, &want);
    ck_assert(lease_alloc(&l, 2 * PAGE, PAGE, &offset));
    ck_assert_uint_eq(offset, 3 * PAGE);
    ok(extents_add(&want, offset, 2 * PAGE, NULL));
    ck_assert(lease_alloc(&l, PAGE, PAGE, &offset));
    ck_assert_uint_eq(offset, BASE - PAGE);
    ok(extents_add(&want, offset, PAGE, NULL));
    ck_assert(lease_alloc(&l, PAGE, PAGE, &offset));
    ck_assert_uint_eq(offset, BASE);
    ok(extents_add(&want, offset, PAGE, NULL));
    check_used(&l, &want);
    ck_assert_int_eq(lease_give(&l, 4 * PAGE, PAGE), DREP_ERR_FORMAT); /* it has that already */
    check_used(&l, &want);
    extents_release(&want);
    lease_end(&l);
}
END_TEST

/* An allocation that fails leaves the lease as it was, and what it skips is lost to nobody. */
START_TEST(test_no_memory)
{
    for (int n = 0;; n++) {
        struct lease l = holder_of(0, 2, LEASE_MIN);
        struct extents want = {0};
        uint64_t offset = 7;
        bool got;
        int err;

        mem_fail_at(n);
        err = lease_give(&l, PAGE, PAGE);
        got = lease_alloc(&l, 2 * PAGE, FMT_ALIGN, &offset);
        mem_fail_at(-1);
        ck_assert(!err || err == DREP_ERR_NOMEM);
        ck_assert_int_eq(lease_has(&l, PAGE), !err);
        if (got)
            ok(extents_add(&want, offset, 2 * PAGE, NULL));
        check_used(&l, &want);
        ck_assert(lease_alloc(&l, PAGE, FMT_ALIGN, &offset)); /* and it goes on */
        extents_release(&want);
        lease_end(&l);
        if (got && !err)
            break;
    }
}
END_TEST

/* ---- and a store ---- */

static const struct store_opts opts = STORE_OPTS(.keep = 0, .cache_size = 1 << 18);

enum { HOLE = 40 * PAGE, HOLES = 5 };

/* A store whose file has HOLES free extents of HOLE bytes, none of them aligned to pages. */
static struct store *store_with_holes(struct fault_file *file)
{
    uint64_t hole[HOLES], wall[HOLES];
    struct store *st = NULL;

    fault_init(file);
    ok(store_create(fault_io(file), &opts, &st));
    for (int i = 0; i < HOLES; i++) {
        ok(space_alloc(st, HOLE, FMT_ALIGN, ANYWAY, &hole[i]));
        ok(space_alloc(st, PAGE + FMT_ALIGN, FMT_ALIGN, ANYWAY, &wall[i]));
    }
    for (int i = 0; i < HOLES; i++)
        space_free(st, hole[i], HOLE, ANYWAY);
    return st;
}

static void end_store(struct fault_file *file, struct store *st)
{
    store_close(st);
    fault_release(file);
}

static uint64_t bytes_in(const struct extents *x)
{
    struct extent e;
    uint64_t sum = 0;

    for (uint64_t at = 0; extents_behind(x, at, &e); at = e.offset + e.length)
        sum += e.length;
    return sum;
}

/* Free or allocated, all bytes of the transaction are one or the other. */
static void check_account(const struct store *st)
{
    const struct space *sp = st->space;

    ck_assert_uint_eq(bytes_in(&sp->avail) + bytes_in(&sp->fresh), sp->end - FMT_SPACE_START);
}

static struct lease begin_leases(struct store *st, struct lease *own, int holders)
{
    uint64_t base = round_up(store_end(st) + LEASE_MIN, PAGE);
    struct lease other = {.holder = 1, .holders = holders};

    *own = (struct lease){.holder = 0, .holders = holders};
    lease_begin(own, base, LEASE_MIN);
    lease_begin(&other, base, LEASE_MIN);
    space_lease(st, own);
    return other;
}

START_TEST(test_dealing)
{
    enum { GRAIN = 3 * PAGE, GRAINS = (HOLE / PAGE - 1) / 3 };
    struct fault_file file;
    struct store *st = store_with_holes(&file);
    struct extent_list got = {0};
    struct extents all = {0};
    struct lease own, other = begin_leases(st, &own, 2);
    uint64_t at = 0, sum, most = space_to_deal(st, 0, GRAIN), avail = bytes_in(&st->space->avail);

    ck_assert_uint_ge(most, (uint64_t)HOLES * (GRAINS - 1) * GRAIN);
    ck_assert_uint_le(most, (uint64_t)HOLES * GRAINS * GRAIN);
    for (int holder = 0; holder < 3; holder++) /* the third gets what is left */
        ok(space_deal(st, &at, holder < 2 ? most / 3 : most, GRAIN, &got));
    for (size_t i = 0; i < got.n; i++) {
        ck_assert_uint_eq(got.e[i].offset % PAGE, 0);
        ck_assert_uint_eq(got.e[i].length % GRAIN, 0);
        ok(extents_add(&all, got.e[i].offset, got.e[i].length, NULL)); /* each byte once */
        ck_assert(!extents_hold(&st->space->avail, got.e[i].offset, FMT_ALIGN));
    }
    sum = bytes_in(&all);
    ck_assert_uint_eq(sum, most);
    ck_assert_uint_eq(bytes_in(&st->space->avail) + sum, avail);
    ck_assert_uint_eq(space_to_deal(st, 0, GRAIN), 0);
    got.n = 0;
    ok(space_deal(st, &at, GRAIN, GRAIN, &got));
    ck_assert_uint_eq(got.n, 0);
    space_lease(st, NULL); /* nothing was used: all of it is free again */
    ck_assert_uint_eq(bytes_in(&st->space->avail), avail);
    check_account(st);
    lease_end(&own);
    lease_end(&other);
    extents_release(&all);
    extent_list_release(&got);
    end_store(&file, st);
}
END_TEST

/* The store fills the room before the leases, then takes of its own. */
START_TEST(test_the_store_has_a_lease)
{
    struct fault_file file;
    struct store *st = store_with_holes(&file);
    struct lease own, other = begin_leases(st, &own, 2);
    uint64_t offset, base = own.base, room = base - st->space->end;

    ck_assert(!space_alloc_at(st, st->space->end, room + FMT_ALIGN));
    ok(space_alloc(st, room - PAGE, FMT_ALIGN, ANYWAY, &offset)); /* too long for a hole */
    ck_assert_uint_le(offset + room - PAGE, base);
    ok(space_alloc(st, 50 * PAGE / 4, FMT_ALIGN, ANYWAY, &offset));
    ck_assert_uint_lt(offset, base);
    ok(space_alloc(st, LEASE_MIN + 1, FMT_ALIGN, ANYWAY, &offset));
    ck_assert_uint_lt(offset, base); /* in a hole */
    ok(space_alloc(st, HOLE + 1, FMT_ALIGN, ANYWAY, &offset));
    ck_assert_uint_ge(offset, base);
    ck_assert(lease_has(&own, offset) && space_fresh(st, offset, HOLE + 1));
    ck_assert_uint_ge(store_end(st), offset + HOLE + 1); /* references may lead there */
    ck_assert_uint_le(st->space->end, base);
    ck_assert_int_eq(space_alloc(st, LEASE_MAX + 1, FMT_ALIGN, ANYWAY, &offset), DREP_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(drep_error(), "before the next commit"));
    space_lease(st, NULL);
    lease_end(&own);
    lease_end(&other);
    end_store(&file, st);
}
END_TEST

/* An operation that is taken back gives its lease back. */
START_TEST(test_rollback)
{
    struct fault_file file;
    struct store *st = store_with_holes(&file);
    struct lease own, other = begin_leases(st, &own, 2);
    uint64_t offset, again;

    ok(store_op_begin(st));
    ok(space_alloc(st, MOST, FMT_ALIGN, WITH_OP, &offset));
    ck_assert(lease_in_use(&own));
    ok(store_op_end(st, 0));
    ck_assert(!lease_in_use(&own) && !space_fresh(st, offset, MOST));
    ok(store_op_begin(st));
    ok(space_alloc(st, MOST, FMT_ALIGN, WITH_OP, &again));
    ok(store_op_end(st, 1));
    ck_assert_uint_eq(again, offset);
    ck_assert(lease_in_use(&own));
    space_lease(st, NULL);
    lease_end(&own);
    lease_end(&other);
    end_store(&file, st);
}
END_TEST

/* What two holders used is allocated, everything else up to the end is free; then a commit. */
START_TEST(test_the_end)
{
    static const uint8_t header[8] = {0, 1};
    struct fault_file file;
    struct store *st = store_with_holes(&file);
    struct lease own, other = begin_leases(st, &own, 2);
    struct extent_list used = {0}, dealt = {0}, copy = {0};
    uint64_t at = 0, offset, last = 0;
    struct key key;

    ok(space_deal(st, &at, 8 * PAGE, 2 * PAGE, &dealt));
    for (size_t i = 0; i < dealt.n; i++)
        ok(lease_give(&other, dealt.e[i].offset, dealt.e[i].length));
    ok(space_alloc(st, HOLE + 1, FMT_ALIGN, ANYWAY, &offset)); /* of its own lease, or before it */
    ok(space_alloc(st, HOLE + 1, FMT_ALIGN, ANYWAY, &offset));
    for (int i = 0; i < 20; i++)
        ck_assert(lease_alloc(&other, 5000 + 3000 * (uint64_t)i, FMT_ALIGN, &offset));
    lease_free(&other, offset, 5000 + 3000 * 19);
    ok(lease_used(&own, &used));
    ok(lease_used(&other, &used));
    ok(lease_used(&other, &copy));
    ck_assert_uint_gt(used.n, 4);
    ok(space_lease_end(st, &used));
    for (size_t i = 0; i < used.n; i++) {
        ck_assert(space_fresh(st, used.e[i].offset, used.e[i].length));
        last = used.e[i].offset + used.e[i].length;
    }
    for (size_t i = 0; i < copy.n; i++)
        ck_assert(space_fresh(st, copy.e[i].offset, copy.e[i].length));
    ck_assert_uint_eq(st->space->end, last);
    ck_assert_uint_eq(bytes_in(&st->space->dealt), 0);
    check_account(st);
    ck_assert(!space_fresh(st, offset, 5000 + 3000 * 19)); /* it was given back */
    key_make(&key, 2, FMT_TAG_ATTR);
    ok(tree_put(st, &key, "", 0));
    ok(store_commit(st, header, sizeof header, sizeof header));
    lease_end(&own);
    lease_end(&other);
    extent_list_release(&used);
    extent_list_release(&dealt);
    extent_list_release(&copy);
    end_store(&file, st);
}
END_TEST

/* What the store itself allocates stays where it would be, if that is not more than the room. */
START_TEST(test_room_before_what_is_dealt)
{
    uint64_t offset[2][3], room = HOLE / 2, from;

    for (int dealt = 0; dealt < 2; dealt++) {
        struct fault_file file;
        struct store *st = store_with_holes(&file);
        struct lease own, other = begin_leases(st, &own, 2);
        struct extent_list got = {0};

        ck_assert_uint_gt(space_behind_room(st, HOLE + FMT_ALIGN), store_end(st));
        from = space_behind_room(st, room);
        ck_assert_uint_lt(space_to_deal(st, from, PAGE), space_to_deal(st, 0, PAGE));
        if (dealt)
            ok(space_deal(st, &from, space_to_deal(st, from, PAGE), PAGE, &got));
        for (int i = 0; i < 3; i++)
            ok(space_alloc(st, HOLE / 8, FMT_ALIGN, ANYWAY, &offset[dealt][i]));
        space_lease(st, NULL);
        check_account(st);
        lease_end(&own);
        lease_end(&other);
        extent_list_release(&got);
        end_store(&file, st);
    }
    ck_assert_mem_eq(offset[0], offset[1], sizeof offset[0]);
}
END_TEST

static bool is_touched(const struct space *sp, uint64_t offset)
{
    for (size_t i = 0; i < sp->ntouched; i++)
        if (sp->touched[i] == offset)
            return true;
    return false;
}

/* The FREE entries are those of the extents that are free, or the next commit looks at them. */
static void check_entries(struct store *st)
{
    const struct space *sp = st->space;
    struct buf value = {0};
    struct tree_walk w;
    struct extent e;
    struct key key;
    size_t n = 0;
    int err;

    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_FREE);
    tree_walk(&w, st, &key, key.len);
    while (!(err = tree_next(&w, &key, &value))) {
        uint64_t offset = key_u64(key.p + FMT_KEY_HEAD);
        struct free_rec r;
        struct in in;

        in_init(&in, value.p, value.len);
        ok(free_get(&in, offset, &r));
        if (r.sequence > sp->limit || is_touched(sp, offset))
            continue;
        ck_assert(extents_find(&sp->avail, offset, &e));
        ck_assert_uint_eq(e.offset, offset);
        ck_assert_uint_eq(e.length, r.length);
        n++;
    }
    ck_assert_int_eq(err, DREP_ERR_NOT_FOUND);
    for (uint64_t at = 0; extents_behind(&sp->avail, at, &e); at = e.offset + e.length)
        n -= !is_touched(sp, e.offset);
    ck_assert_uint_eq(n, 0);
    buf_release(&value);
}

/* Free space is dealt, some of it is used, and beside it the store allocates and frees. */
START_TEST(test_free_entries_of_what_was_dealt)
{
    static const uint8_t header[8] = {0, 1};
    enum { ROUNDS = 300, KEPT = 60 };
    struct fault_file file;
    struct store *st = store_with_holes(&file);
    struct extent kept[KEPT] = {{0, 0}};
    struct rnd r;

    rnd_init(&r, (uint64_t)_i);
    for (int round = 0; round < ROUNDS; round++) {
        struct extent_list dealt = {0}, used = {0};
        struct lease own, other;
        uint64_t at, grain = PAGE * (1 + rnd_below(&r, 3)), offset;
        struct key key;

        ok(free_begin(st));
        other = begin_leases(st, &own, 2);
        at = rnd_below(&r, 2) ? 0 : rnd_below(&r, store_end(st));
        ok(space_deal(st, &at, rnd_below(&r, 40) * PAGE, grain, &dealt));
        for (size_t i = 0; i < dealt.n; i++)
            ok(lease_give(&other, dealt.e[i].offset, dealt.e[i].length));
        for (int i = 0; i < 8; i++) {
            struct extent *e = &kept[rnd_below(&r, KEPT)];

            if (e->length)
                space_free(st, e->offset, e->length, ANYWAY);
            e->length = rnd_below(&r, 3) ? FMT_ALIGN * (1 + rnd_below(&r, 200)) : 0;
            if (e->length)
                ok(space_alloc(st, e->length, FMT_ALIGN, ANYWAY, &e->offset));
        }
        for (int i = 0; round % 2 && i < 3; i++) {
            struct extent *e = &kept[rnd_below(&r, KEPT)];

            if (!e->length && lease_alloc(&other, PAGE * (1 + rnd_below(&r, 4)), PAGE, &offset))
                *e = (struct extent){offset, PAGE};
        }
        ok(lease_used(&own, &used));
        ok(lease_used(&other, &used));
        if (used.n > 0)
            ok(space_lease_end(st, &used));
        else
            space_lease(st, NULL);
        check_entries(st);
        lease_end(&own);
        lease_end(&other);
        key_make(&key, 2, FMT_TAG_ATTR);
        ok(tree_put(st, &key, &round, sizeof round));
        ok(store_commit(st, header, sizeof header, sizeof header));
        extent_list_release(&used);
        extent_list_release(&dealt);
    }
    end_store(&file, st);
}
END_TEST

/* A holder that claims what another has, or what was not leased, is found. */
START_TEST(test_claims_that_overlap)
{
    struct fault_file file;
    struct store *st = store_with_holes(&file);
    struct lease own, other = begin_leases(st, &own, 2);
    struct extent_list used = {0};
    uint64_t base = own.base;
    char text[64];

    if (_i == 0)
        ok(extent_list_push(&used, base, 2 * PAGE));
    ok(extent_list_push(&used, _i == 0 ? base + PAGE : FMT_SPACE_START + HOLE, PAGE));
    ck_assert_int_eq(space_lease_end(st, &used), DREP_ERR_FAILED);
    snprintf(text, sizeof text, "overlap at byte %llu",
             (unsigned long long)used.e[used.n - 1].offset);
    ck_assert_ptr_nonnull(strstr(drep_error(), text));
    ck_assert_ptr_null(st->space->lease);
    lease_end(&own);
    lease_end(&other);
    extent_list_release(&used);
    end_store(&file, st);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("space_lease");
    TCase *t = tcase_create("space_lease");

    tcase_add_loop_test(t, test_holders_do_not_meet, 0, 3);
    tcase_add_test(t, test_stretches_follow_each_other);
    tcase_add_test(t, test_long_allocations);
    tcase_add_test(t, test_no_leases);
    tcase_add_test(t, test_the_reach);
    tcase_add_test(t, test_given_bytes);
    tcase_add_test(t, test_no_memory);
    tcase_add_test(t, test_dealing);
    tcase_add_test(t, test_the_store_has_a_lease);
    tcase_add_test(t, test_rollback);
    tcase_add_test(t, test_the_end);
    tcase_add_test(t, test_room_before_what_is_dealt);
    tcase_add_loop_test(t, test_free_entries_of_what_was_dealt, 0, 8);
    tcase_add_loop_test(t, test_claims_that_overlap, 0, 2);
    suite_add_tcase(s, t);
    return run_suite(s);
}
