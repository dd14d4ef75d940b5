/* encode.c - nodes from and to the bytes of a block.
 *
 * Decoding a clean leaf is one pass over its entries, which costs as much as all the rest of a
 * look-up: so the common case is checked with as few branches as possible, and leaf_refuse()
 * finds out afterwards what was wrong. */
/* SPDX-License-Identifier: MIT */
#include "tree/encode.h"

#include "base/error.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

/* Say what is wrong with an entry, given the key before it (NULL: it is the first); NULL:
 * nothing. */
static inline const char *entry_doubt(const struct entry *e, int level, const uint8_t *last,
                                      size_t len)
{
    if (level && (e->far || e->value_len != FMT_REF_SIZE))
        return "an entry of an interior node is not a reference (R4.15)";
    if (!level && e->shared + e->suffix_len < FMT_KEY_HEAD)
        return "a key is too short (R4.18)";
    if (!last)
        return e->shared ? "the first key of a node shares bytes (R4.10)" : NULL;
    if (e->shared > len)
        return "a key shares more bytes than there are (R4.10)";
    /* Mostly the first byte tells. */
    if (e->suffix_len && len > e->shared && last[e->shared] < *e->suffix)
        return NULL;
    if (key_compare(last + e->shared, len - e->shared, e->suffix, e->suffix_len) >= 0)
        return "keys are not in ascending order (R4.12)";
    return NULL;
}

/* Mark the entry that stands at `in_block`. */
static int mark_put(struct tree_node *n, uint32_t i, const struct key *key, size_t in_block)
{
    if (n->size - n->used < key->len) {
        size_t size = 2 * (size_t)n->size + key->len + 64;
        uint8_t *arena = mem_resize(n->loose ? n->arena : NULL, size, 1);

        if (!arena)
            return DREP_ERR_NOMEM;
        if (!n->loose && n->used)
            memcpy(arena, n->arena, n->used);
        n->loose = 1;
        n->arena = arena;
        n->size = (uint32_t)size;
    }
    n->mark[i] =
        (struct mark){words_of(key->p, key->len), n->used, (uint16_t)key->len, (uint16_t)in_block};
    memcpy(n->arena + n->used, key->p, key->len);
    n->used += (uint32_t)key->len;
    return 0;
}

/* Slow path: say what is wrong with the next entry. */
static int leaf_refuse(struct in *in, uint32_t n, const struct key *last)
{
    struct entry e;

    if (entry_get(in, &e) == 0)
        in_fail(in, FMT_ERR_FORMAT, entry_doubt(&e, 0, n ? last->p : NULL, last->len));
    return 0;
}

/* True if the entry at p, before end, is valid in a leaf behind key *last. */
static inline bool leaf_entry(const uint8_t *p, const uint8_t *end, const struct key *last,
                              struct entry *e)
{
    size_t left = (size_t)(end - p);

    if (left < 4)
        return false;
    *e = entry_load(p);
    if ((size_t)e->suffix_len + e->value_len > left - 4 ||
        e->shared + e->suffix_len > FMT_KEY_MAX || e->shared + e->suffix_len < FMT_KEY_HEAD ||
        (e->far ? e->value_len != FMT_REF_SIZE : e->value_len > FMT_INLINE_MAX) ||
        e->shared > last->len)
        return false;
    /* Mostly the first byte tells the order; no key comes before the first. */
    if (e->suffix_len && last->len > e->shared && last->p[e->shared] < *e->suffix)
        return true;
    return key_compare(last->p + e->shared, last->len - e->shared, e->suffix, e->suffix_len) < 0;
}

/* Bytes of a piece of a region: most leaves with their marks fit. */
#define LEAF_PIECE ((size_t)13 << 9)

/* Allocate a clean leaf of `count` entries with room for its block; its arena holds all marked
 * keys if none is much longer than the first. */
static struct tree_node *leaf_new(struct regions *mem, uint32_t count, uint32_t length,
                                  size_t key_len)
{
    size_t mark = (marks_of(count) + 1) * sizeof(struct mark);
    size_t entry = count * sizeof(struct entry_head);
    size_t arena = (marks_of(count) + 1) * (key_len + 8);
    size_t all = sizeof(struct tree_node) + mark + entry + arena + length + NODE_SLACK;
    struct region *from = NULL;
    struct tree_node *n = NULL;
    uint8_t *at;

    if (mem && all <= LEAF_PIECE)
        n = region_take(mem, LEAF_PIECE, &from);
    if (!n)
        n = mem_alloc(all);
    if (!n)
        return NULL;
    at = (uint8_t *)(n + 1);
    memset(n, 0, sizeof(*n));
    n->from = from;
    atomic_init(&n->refs, 1);
    n->mark = (struct mark *)(void *)at;
    n->entry = (struct entry_head *)(void *)(at + mark);
    n->arena = at + mark + entry;
    n->block = n->arena + arena;
    n->size = (uint32_t)arena;
    n->bytes = length;
    return n;
}

/* The entries of a leaf stay where they are. */
static int leaf_fill(struct tree_node *n, struct in *in, uint32_t count)
{
    const uint8_t *p = n->block + in->at, *end = n->block + in->size;
    struct key key;
    int err = 0;

    key.len = 0;
    for (n->n = 0; !err && n->n < count; n->n++) {
        struct entry e;

        in->at = (size_t)(p - n->block);
        if (!leaf_entry(p, end, &key, &e))
            return leaf_refuse(in, n->n, &key);
        n->entry[n->n] = (struct entry_head){(uint16_t)in->at, (uint8_t)e.shared, *e.suffix};
        key_follow(&e, &key);
        if (n->n % MARKED == 0)
            err = mark_put(n, n->n / MARKED, &key, in->at);
        p = e.value + e.value_len;
    }
    in->at = (size_t)(p - n->block);
    return err ? err : mark_put(n, node_marks(n), &key, in->at);
}

static int leaf_decode(struct tree_node **out, struct regions *mem, struct in *in, uint32_t count)
{
    struct in first = *in;
    struct entry e = {.suffix_len = 0};
    struct tree_node *n;

    entry_get(&first, &e);
    n = leaf_new(mem, count, (uint32_t)in->size, e.suffix_len);
    if (!n)
        return DREP_ERR_NOMEM;
    memcpy(n->block, in->p, in->size + NODE_SLACK);
    *out = n;
    return leaf_fill(n, in, count);
}

/* Memory for the keys of the entries up to the first malformed one: bytes of the file back
 * all of it. */
static size_t measure(struct in in, uint32_t count)
{
    struct entry e;
    size_t sum = 1; /* something to point into, also where the first is malformed */

    for (uint32_t i = 0; i < count && entry_get(&in, &e) == 0; i++)
        sum += (size_t)e.shared + e.suffix_len + sizeof(struct child);
    return sum;
}

static int interior_fill(struct tree_node *n, struct in *in, uint32_t count)
{
    int err = node_reserve(n, count, measure(*in, count));

    n->words = mem_array(count, sizeof(*n->words));
    if (n->level > 1)
        n->kept = mem_zalloc(count, sizeof(*n->kept));
    if (!n->words || (n->level > 1 && !n->kept))
        err = DREP_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < count; i++) {
        const struct item *last = n->n ? &n->item[n->n - 1] : NULL;
        uint8_t *to = n->arena + n->used;
        struct child c = {.node = NULL};
        const char *doubt;
        struct entry e;
        size_t key_len;
        struct in ref;

        if (entry_get(in, &e))
            return 0;
        doubt =
            entry_doubt(&e, n->level, last ? n->arena + last->at : NULL, last ? last->key_len : 0);
        if (doubt)
            return in_fail(in, FMT_ERR_FORMAT, doubt), 0;
        key_len = (size_t)e.shared + e.suffix_len;
        if (e.shared)
            memcpy(to, n->arena + last->at, e.shared);
        memcpy(to + e.shared, e.suffix, e.suffix_len);
        in_init(&ref, e.value, e.value_len);
        ref_get(&ref, &c.ref);
        if (ref.err || !c.ref.length)
            return in_fail(in, FMT_ERR_FORMAT, "impossible reference (R4.1)"), 0;
        memcpy(to + key_len, &c, sizeof(c));
        n->words[n->n] = words_of(to, key_len);
        n->item[n->n++] = (struct item){n->used, (uint16_t)key_len, (uint16_t)sizeof(c)};
        n->used += (uint32_t)(key_len + sizeof(c));
    }
    return err;
}

static int interior_decode(struct tree_node **out, struct in *in, const struct block_head *head)
{
    struct tree_node *n = node_new(head->level);

    if (!n)
        return DREP_ERR_NOMEM;
    n->dirty = 0;
    n->bytes = head->length;
    *out = n;
    return interior_fill(n, in, head->count);
}

int node_decode(struct tree_node **out, struct regions *mem, const uint8_t *block,
                const struct block_head *head, const char **why, size_t *at)
{
    struct tree_node *n = NULL;
    struct in in;
    int err;

    in_init(&in, block, head->length);
    in_bytes(&in, FMT_BLOCK_HEAD);
    err = head->level ? interior_decode(&n, &in, head) : leaf_decode(&n, mem, &in, head->count);
    if (!err && !in.err && in_left(&in))
        in_fail(&in, FMT_ERR_FORMAT, "bytes after the last entry of a node (R4.9)");
    if (!err && in.err) {
        err = in.err;
        *why = in.why;
        *at = in.err_at;
    }
    if (err) {
        node_unref(n);
        return err;
    }
    *out = n;
    return 0;
}

static void item_put(struct out *out, const struct tree_node *n, uint32_t i)
{
    const struct item *item = &n->item[i];
    const uint8_t *key = item_key(n, i);
    size_t shared = 0;

    if (i)
        shared = key_shared(item_key(n, i - 1), item[-1].key_len, key, item->key_len);
    if (n->level) {
        struct child c = child_get(n, i);
        uint8_t ref[FMT_REF_SIZE];
        struct out at;

        out_init(&at, ref, sizeof(ref));
        ref_put(&at, &c.ref);
        entry_put(out, shared, key + shared, item->key_len - shared, ref, sizeof(ref), 0);
    } else {
        entry_put(out, shared, key + shared, item->key_len - shared, item_value(n, i),
                  item_value_len(n, i), (item->value_len & ITEM_FAR) != 0);
    }
}

uint64_t node_encode(const struct tree_node *n, uint8_t *block, const uint8_t uuid[8],
                     uint64_t sequence)
{
    struct block_head head = {.kind = FMT_NODE,
                              .level = n->level,
                              .sequence = sequence,
                              .length = (uint32_t)n->bytes,
                              .count = n->n};
    struct out out;

    memcpy(head.uuid, uuid, sizeof(head.uuid));
    out_init(&out, block + FMT_BLOCK_HEAD, n->bytes - FMT_BLOCK_HEAD);
    for (uint32_t i = 0; i < n->n; i++)
        item_put(&out, n, i);
    assert(!out.err && out.at == n->bytes - FMT_BLOCK_HEAD);
    return block_seal(block, &head);
}
