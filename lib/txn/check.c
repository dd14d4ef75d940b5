/* check.c - looking at everything that the open commit refers to.
 *
 * It reads blocks from the file, past the cache, and goes on beside what is damaged.  Every byte
 * that something refers to is claimed; a second claim is a finding, so no subtree is walked
 * twice. */
/* SPDX-License-Identifier: MIT */
#include "txn/check.h"

#include "base/buf.h"
#include "base/error.h"
#include "space/extents.h"
#include "space/slots.h"
#include "tree/block.h"
#include "tree/load.h"
#include "txn/txn.h"

#include <datarep.h>
#include <string.h>

struct commit_check {
    struct store *st;
    drep_finding_fn *fn;
    void *fn_ctx;
    store_entry_fn *each_leaf;
    void *leaf_ctx;
    int64_t findings;
    int stop;
    struct extents claimed;
    drep_usage usage;
    struct buf value;
};

static void finding(struct commit_check *c, int err, uint64_t offset)
{
    c->findings++;
    if (c->fn && !c->stop)
        c->stop = c->fn(err, offset, fail_text(), c->fn_ctx);
}

/* Claim bytes; 0 if they are outside the file or somebody else's, which is a finding. */
static bool claim(struct commit_check *c, uint64_t offset, uint64_t length, const char *what)
{
    uint64_t end = c->st->slot.end;
    int err;

    if (offset < FMT_SPACE_START || offset > end || length > end - offset) {
        finding(c,
                fail_byte(DREP_ERR_FORMAT, offset, "%s at byte %llu lies outside the file (R2.14)",
                          what, (unsigned long long)offset),
                offset);
        return false;
    }
    length = round_up(length ? length : 1, FMT_ALIGN);
    err = extents_add(&c->claimed, offset, length, NULL);
    if (!err)
        return true;
    if (err == DREP_ERR_FORMAT)
        fail_byte(err, offset, "%s at byte %llu overlaps another extent (R6.2)", what,
                  (unsigned long long)offset);
    finding(c, err, offset);
    return false;
}

/* The check that this thread makes: several threads may check one store, and a function that is
 * told of a finding may check another one. */
static _Thread_local struct commit_check *running;

int store_check_claim(struct store *st, uint64_t offset, uint64_t length, const char *what)
{
    struct commit_check *c = running;

    (void)st;
    if (!c || !claim(c, offset, length, what))
        return 0; /* reported already */
    length = round_up(length ? length : 1, FMT_ALIGN);
    *(strcmp(what, "sums") == 0 ? &c->usage.sums : &c->usage.data) += (int64_t)length;
    return 0;
}

void store_check_absent(struct store *st, uint64_t n)
{
    (void)st;
    if (running)
        running->usage.absent += (int64_t)n;
}

/* Claim and read a block that is neither a node nor checksums: its content in c->value; 1 if it
 * could be read. */
static int check_block(struct commit_check *c, const struct ref *ref, int kind, const char *what,
                       uint32_t *count)
{
    int err;

    if (!claim(c, ref->offset, ref->length, what))
        return 0;
    c->usage.blobs += (int64_t)round_up(ref->length, FMT_ALIGN);
    err = block_load(c->st, ref, kind, &c->value, count);
    if (err)
        finding(c, err, ref->offset);
    return !err;
}

static void check_free(struct commit_check *c, const struct key *key, const uint8_t *value,
                       size_t len, uint64_t where)
{
    struct free_rec r;
    struct in in;

    in_init(&in, value, len);
    if (key->len != FMT_KEY_HEAD + 8 || free_get(&in, key_u64(key->p + FMT_KEY_HEAD), &r)) {
        finding(c, fail(DREP_ERR_FORMAT, "FREE entry: %s", in.err ? in.why : "its key (R4.19)"),
                where);
        return;
    }
    if (claim(c, key_u64(key->p + FMT_KEY_HEAD), r.length, "free extent"))
        c->usage.free += (int64_t)r.length;
}

static bool same_ref(const struct ref *a, const struct ref *b)
{
    return a->offset == b->offset && a->length == b->length && a->checksum == b->checksum;
}

/* True if a slot has a commit behind the one that is checked. */
static bool is_older(const struct commit_check *c, struct slots *s)
{
    if (slots_read(c->st->io, s))
        return true;
    for (int i = 0; i < 2; i++)
        if (s->state[i] == SLOT_VALID && s->slot[i].sequence > c->st->slot.sequence)
            return true;
    return false;
}

/* An earlier commit by the log: its root is there, and the older slot, as long as it has the
 * commit, says the same.  The log of a commit that is not the newest may name what is gone. */
static void check_logged(struct commit_check *c, uint64_t sequence, const struct log_rec *r,
                         uint64_t where)
{
    struct slots s, again;
    struct tree_node *n;
    int err;

    if (is_older(c, &s))
        return;
    err = node_read(c->st, &r->root, -1, &n);
    if (err && is_older(c, &again)) /* by now */
        return;
    if (!err)
        node_unref(n);
    fail_in(err, "the log names commit %llu", (unsigned long long)sequence);
    for (int i = 0; i < 2 && !err; i++) {
        const struct slot *slot = &s.slot[i];

        if (s.state[i] == SLOT_VALID && slot->sequence == sequence &&
            !(slot->incompatible & FMT_AT_END) && /* then it says nothing */
            (!same_ref(&slot->root, &r->root) || slot->end != r->end || slot->time != r->time ||
             slot->next_object != r->next_object))
            err = fail(DREP_ERR_FORMAT, "the log and slot %c differ about commit %llu (R6.6)",
                       'A' + i, (unsigned long long)sequence);
    }
    if (err)
        finding(c, err, where);
}

static void check_log(struct commit_check *c, const struct key *key, const uint8_t *value,
                      size_t len, uint64_t where)
{
    struct log_rec r;
    struct in in;

    in_init(&in, value, len);
    if (key->len != FMT_KEY_HEAD + 8 || log_get(&in, &r))
        finding(c, fail(DREP_ERR_FORMAT, "LOG entry: %s", in.err ? in.why : "its key (R4.19)"),
                where);
    else if (key_u64(key->p + FMT_KEY_HEAD) == 0 ||
             key_u64(key->p + FMT_KEY_HEAD) >= c->st->slot.sequence)
        finding(c, fail(DREP_ERR_FORMAT, "LOG entry of no earlier commit (R6.5)"), where);
    else
        check_logged(c, key_u64(key->p + FMT_KEY_HEAD), &r, where);
}

static void check_entry(struct commit_check *c, const struct tree_node *n, uint32_t i)
{
    struct key key;
    size_t len;
    const uint8_t *value = node_value(n, i, &len);

    node_key(n, i, &key);
    if (len & ITEM_FAR) {
        struct ref ref = {0, 0, 0};
        struct in in;

        in_init(&in, value, FMT_REF_SIZE);
        ref_get(&in, &ref);
        if (in.err || !ref.length) {
            finding(c, fail(DREP_ERR_FORMAT, "impossible reference to a value (R4.14)"),
                    n->ref.offset);
            return;
        }
        if (!check_block(c, &ref, FMT_VALUE, "value block", NULL))
            return;
        value = c->value.p;
        len = c->value.len;
    }
    if (key_object(key.p) == FMT_OBJECT_FILE && key_known(key.p) == FMT_TAG_FREE)
        check_free(c, &key, value, len, n->ref.offset);
    else if (key_object(key.p) == FMT_OBJECT_FILE && key_known(key.p) == FMT_TAG_LOG)
        check_log(c, &key, value, len, n->ref.offset);
    else if (c->each_leaf)
        c->stop = c->each_leaf(&key, value, len, n->ref.offset, c->leaf_ctx);
}

/* Check a node and everything below it; level -1: the root. */
static void check_node(struct commit_check *c, const struct ref *ref, int level,
                       const struct bounds *b)
{
    struct bounds below;
    struct tree_node *n;
    int err;

    if (c->stop || !claim(c, ref->offset, ref->length, "node"))
        return;
    c->usage.nodes += (int64_t)round_up(ref->length, FMT_ALIGN);
    err = node_read(c->st, ref, level, &n);
    if (err) {
        finding(c, err, ref->offset);
        return;
    }
    if (bounds_check(b, n))
        finding(c, DREP_ERR_FORMAT, ref->offset);
    for (uint32_t i = 0; i < n->n && !c->stop; i++) {
        struct child child;

        if (!n->level) {
            check_entry(c, n, i);
            continue;
        }
        below = *b;
        bounds_narrow(&below, n, i);
        child = child_get(n, i);
        check_node(c, &child.ref, n->level - 1, &below);
    }
    node_unref(n);
}

static void check_pending(struct commit_check *c)
{
    const struct ref *ref = &c->st->slot.pending;
    uint32_t count = 0;
    struct in in;

    if (!ref->length || !check_block(c, ref, FMT_PENDING, "pending list", &count))
        return;
    in_init(&in, c->value.p, c->value.len);
    for (uint32_t i = 0; i < count && !c->stop; i++) {
        struct pending_rec r;

        if (pending_get(&in, &r)) {
            finding(c, fail(DREP_ERR_FORMAT, "pending list: %s", in.why), ref->offset);
            return;
        }
        if (claim(c, r.offset, r.length, "free extent"))
            c->usage.free += (int64_t)r.length;
    }
}

static void check_slots(struct commit_check *c)
{
    int which = c->st->txn->damaged;

    if (which)
        finding(c, fail(DREP_ERR_CHECKSUM, "header slot %c is damaged (R2.3)", 'A' + which - 1),
                (uint64_t)(which - 1) * FMT_SLOT_SIZE);
    if (c->st->slot.more.length)
        check_block(c, &c->st->slot.more, FMT_HEADER, "header continuation", NULL);
}

static void check_gaps(struct commit_check *c, store_gap_fn *gap)
{
    uint64_t at = FMT_SPACE_START, end = c->st->slot.end;
    struct extent e;

    while (at < end && !c->stop) {
        if (!extents_behind(&c->claimed, at, &e) || e.offset > end)
            e = (struct extent){end, 0};
        if (e.offset > at)
            c->stop = gap(at, e.offset - at, c->leaf_ctx);
        at = e.offset + e.length;
    }
}

int store_check(struct store *st, drep_finding_fn *fn, void *fn_ctx, store_entry_fn *each_leaf,
                store_gap_fn *gap, void *leaf_ctx, int64_t *findings, drep_usage *usage)
{
    struct commit_check c = {
        .st = st, .fn = fn, .fn_ctx = fn_ctx, .each_leaf = each_leaf, .leaf_ctx = leaf_ctx};
    const struct bounds all = {.low = NULL, .high = NULL};
    struct commit_check *outer = running;
    uint64_t size = 0;
    int err = st->io->ops->size(st->io, &size);

    if (err)
        return err;
    running = &c;
    if (st->slot.sequence) {
        check_slots(&c);
        check_node(&c, &st->slot.root, -1, &all);
        check_pending(&c);
    }
    running = outer;
    if (gap && !c.findings && !c.stop)
        check_gaps(&c, gap);
    buf_release(&c.value);
    extents_release(&c.claimed);
    c.usage.file = (int64_t)size;
    c.usage.slots = FMT_SPACE_START;
    if (st->slot.incompatible & FMT_AT_END)
        c.usage.slots += FMT_SLOT_SIZE;
    c.usage.slack = (int64_t)(st->slot.end - FMT_SPACE_START) - c.usage.nodes - c.usage.blobs -
                    c.usage.sums - c.usage.data - c.usage.free;
    if (findings)
        *findings = c.findings;
    if (usage) { /* objects, chunks and other files are for each_leaf to count */
        c.usage.objects = usage->objects;
        c.usage.chunks = usage->chunks;
        c.usage.external = usage->external;
        *usage = c.usage;
    }
    return c.stop;
}
