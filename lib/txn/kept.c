/* kept.c - the commits that a damaged file keeps: which are whole, and which bytes they use. */
/* SPDX-License-Identifier: MIT */
#include "txn/kept.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "tree/block.h"
#include "tree/encode.h"

#include <string.h>

enum { WHOLE = 1, BROKEN = 2 };

void kept_release(struct kept *k)
{
    mem_free(k->commit);
    extents_release(&k->runs);
    extents_release(&k->blocks);
    idset_release(&k->seen);
    buf_release(&k->value);
}

/* ---- damaged nodes ---- */

/* Count the entries in the first `size` bytes of a node, and find where they end. */
static uint32_t entries_within(const uint8_t *block, size_t size, size_t *end)
{
    struct entry e;
    struct in in;
    uint32_t n = 0;

    in_init(&in, block, size);
    in_bytes(&in, FMT_BLOCK_HEAD);
    for (*end = in.at; entry_get(&in, &e) == 0; *end = in.at)
        n++;
    return n;
}

int node_anyway(struct store *st, const struct ref *ref, int level, struct tree_node **out,
                int *sure)
{
    uint8_t block[FMT_NODE_MAX + NODE_SLACK] = {0};
    struct block_head head = {.level = (uint8_t)level};
    const char *why;
    size_t end, at;
    int err = node_fetch(st, ref, block);

    if (err)
        return err;
    *sure = sum_with_hole(block, ref->length, BLOCK_CHECKSUM_AT) == ref->checksum;
    if (!*sure && load_u64(block + BLOCK_CHECKSUM_AT) != ref->checksum)
        return DREP_ERR_CHECKSUM;
    if (level < 0) /* only the root's own header says its level */
        head.level = block[5] > FMT_LEVEL_MAX ? 0 : block[5];
    head.count = entries_within(block, ref->length, &end);
    for (int tries = 0; tries < 2 && head.count > 0; tries++) {
        head.length = (uint32_t)end;
        err = node_decode(out, NULL, block, &head, &why, &at);
        if (!err || err == DREP_ERR_NOMEM)
            return err;
        head.count = entries_within(block, at, &end);
    }
    return DREP_ERR_CHECKSUM;
}

/* Read a node of which at most the header is damaged. */
static int node_whole(struct store *st, const struct ref *ref, int level, struct tree_node **out)
{
    int err = node_read(st, ref, level, out), sure = 0;

    if (err != DREP_ERR_CHECKSUM)
        return err;
    err = node_anyway(st, ref, level, out, &sure);
    if (!err && !sure) {
        node_unref(*out);
        err = DREP_ERR_CHECKSUM;
    }
    return err;
}

/* ---- bytes in use ---- */

/* Add bytes of which some may be there already: commits share most of what they use. */
static int cover(struct extents *x, uint64_t offset, uint64_t length)
{
    uint64_t end = offset + length;
    struct extent e;
    int err = 0;

    while (!err && offset < end) {
        uint64_t stop = end;

        if (extents_find(x, offset, &e)) {
            offset = e.offset + e.length;
            continue;
        }
        if (extents_behind(x, offset, &e) && e.offset < stop)
            stop = e.offset;
        err = extents_add(x, offset, stop - offset, NULL);
        offset = stop;
    }
    return err;
}

static bool touches(const struct extents *x, uint64_t offset, uint64_t length)
{
    struct extent e;

    return extents_behind(x, offset, &e) && e.offset < offset + length;
}

bool kept_payload(const struct kept *k, uint64_t offset, uint64_t length)
{
    return touches(&k->runs, offset, length);
}

bool kept_uses(const struct kept *k, uint64_t offset, uint64_t length)
{
    return kept_payload(k, offset, length) || touches(&k->blocks, offset, length);
}

/* ---- commits ---- */

static int commit_add(struct kept *k, const struct kept_commit *c)
{
    for (size_t i = 0; i < k->n; i++) {
        const struct kept_commit *at = &k->commit[i];

        if (at->sequence == c->sequence && at->root.offset == c->root.offset &&
            at->root.checksum == c->root.checksum)
            return 0;
    }
    if (VEC_ROOM(k->commit, k->n, k->room, 1))
        return DREP_ERR_NOMEM;
    k->commit[k->n++] = *c;
    return 0;
}

int kept_add(struct kept *k, const struct slot *slot, bool sure)
{
    return commit_add(
        k, &(struct kept_commit){
               .sequence = slot->sequence, .root = slot->root, .slot = slot, .sure = sure});
}

/* Load a block that is no node; *whole becomes false if it cannot be read. */
static int collect_block(struct kept *k, const struct ref *ref, int kind, bool *whole)
{
    int err = block_load(k->st, ref, kind, &k->value, NULL);

    if (err == DREP_ERR_NOMEM)
        return err;
    *whole &= !err;
    return err ? 0 : cover(&k->blocks, ref->offset, round_up(ref->length, FMT_ALIGN));
}

static int collect_run(struct kept *k, const uint8_t *value, size_t len, bool *whole)
{
    struct buf refs = {0};
    struct chunk_lines lines;
    struct chunk_rec rec;
    struct in in;
    int err = 0;

    in_init(&in, value, len);
    if (chunk_get(&in, &rec) || chunk_lines(&rec, &lines))
        return 0;
    for (uint32_t i = 0; !err && i < lines.n; i++)
        err = cover(&k->runs, lines.at[i].offset, lines.at[i].length);
    if (!err && rec.far) /* the record may stand where blocks are loaded to */
        err = buf_set(&refs, rec.refs.p, rec.refs.len);
    rec.refs = (struct span){refs.p, refs.len};
    for (uint32_t i = 0; !err && i < rec.far; i++) {
        struct ref ref;

        chunk_ref(&rec, i, &ref);
        err = collect_block(k, &ref, FMT_SUMS, whole);
    }
    buf_release(&refs);
    return err;
}

static int collect_log(struct kept *k, const struct kept_commit *of, const struct key *key,
                       const uint8_t *value, size_t len)
{
    struct log_rec rec;
    struct in in;

    in_init(&in, value, len);
    if (key->len != FMT_KEY_HEAD + 8 || log_get(&in, &rec) || key_u64(key->p + FMT_KEY_HEAD) == 0 ||
        key_u64(key->p + FMT_KEY_HEAD) >= of->sequence)
        return 0;
    return commit_add(k, &(struct kept_commit){.sequence = key_u64(key->p + FMT_KEY_HEAD),
                                               .root = rec.root,
                                               .sure = of->sure});
}

static int collect_entry(struct kept *k, const struct kept_commit *of, const struct tree_node *n,
                         uint32_t i, bool *whole)
{
    const uint8_t *value;
    struct key key;
    size_t len;
    int err = 0;

    node_key(n, i, &key);
    value = node_value(n, i, &len);
    if (len & ITEM_FAR) {
        struct ref ref = {0, 0, 0};
        struct in in;
        bool there = true;

        in_init(&in, value, FMT_REF_SIZE);
        ref_get(&in, &ref);
        err = collect_block(k, &ref, FMT_VALUE, &there);
        *whole &= there;
        if (err || !there)
            return err;
        value = k->value.p;
        len = k->value.len;
    }
    if (key.len < FMT_KEY_HEAD)
        return 0;
    if (key_object(key.p) == FMT_OBJECT_FILE)
        return key_known(key.p) == FMT_TAG_LOG ? collect_log(k, of, &key, value, len) : 0;
    return key_known(key.p) == FMT_TAG_CHUNK ? collect_run(k, value, len, whole) : 0;
}

/* A node of this place and sum; its number in the set of those that were seen. */
static uint64_t id_of(const struct ref *ref)
{
    uint64_t id = ref->checksum ^ ref->offset << 16;

    return id ? id : 1;
}

/* Read all below a node; the recursion is at most FMT_LEVEL_MAX deep. */
static int collect_node(struct kept *k, const struct kept_commit *of, const struct ref *ref,
                        int level, bool *whole)
{
    uintptr_t *mark = idset_add(&k->seen, id_of(ref));
    struct tree_node *n;
    bool all = true;
    int err;

    if (!mark)
        return DREP_ERR_NOMEM;
    if (*mark) {
        *whole &= *mark == WHOLE;
        return 0;
    }
    *mark = BROKEN; /* where references go in circles, too */
    err = node_whole(k->st, ref, level, &n);
    if (err) {
        *whole = false;
        return err == DREP_ERR_NOMEM ? err : 0;
    }
    err = cover(&k->blocks, ref->offset, round_up(ref->length, FMT_ALIGN));
    for (uint32_t i = 0; !err && i < n->n; i++) {
        struct child child;

        if (n->level)
            child = child_get(n, i);
        err = n->level ? collect_node(k, of, &child.ref, n->level - 1, &all)
                       : collect_entry(k, of, n, i, &all);
    }
    node_unref(n);
    mark = idset_find(&k->seen, id_of(ref));
    if (mark && all)
        *mark = WHOLE;
    *whole &= all;
    return err;
}

int kept_read(struct kept *k)
{
    uint64_t sequence = k->st->slot.sequence;
    int err = 0;

    for (size_t i = 0; !err && i < k->n; i++) { /* more come from logs */
        struct kept_commit c = k->commit[i];

        c.whole = true;
        k->st->slot.sequence = c.sequence - 1; /* blocks of this commit, and of none behind it */
        if (c.root.length)
            err = collect_node(k, &c, &c.root, -1, &c.whole);
        if (!err && c.slot && c.slot->more.length)
            err = collect_block(k, &c.slot->more, FMT_HEADER, &c.whole);
        k->commit[i].whole = c.whole;
    }
    k->st->slot.sequence = sequence;
    return err;
}

const struct kept_commit *kept_choose(const struct kept *k)
{
    const struct kept_commit *best = NULL;

    for (size_t i = 0; i < k->n; i++) {
        const struct kept_commit *c = &k->commit[i];
        int worth = 2 * c->whole + c->sure, before = best ? 2 * best->whole + best->sure : -1;

        if (!c->whole && !c->slot) /* its slot's commit is newer, and no worse */
            continue;
        if (worth > before || (worth == before && c->sequence > best->sequence))
            best = c;
    }
    return best;
}
