/* salvage.c - reading what is left of a damaged file, as a store of its own.
 *
 * The entries that the newest header reaches go into a new tree; for intervals of keys whose
 * nodes are unreadable, the rest of the file is searched for leaves of any age.  Payload stays
 * where it is: the store writes behind the file's end (txn/overlay.h), and the damaged file is
 * never changed. */
/* SPDX-License-Identifier: MIT */
#include "txn/salvage.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chunk/record.h"
#include "chunk/write.h"
#include "space/extents.h"
#include "space/slots.h"
#include "tree/block.h"
#include "tree/edit.h"
#include "tree/encode.h"
#include "tree/load.h"
#include "txn/numbers.h"
#include "txn/open.h"
#include "txn/overlay.h"
#include "txn/snapshot.h"

#include <stdlib.h>
#include <string.h>

/* ---- the state of a salvage ---- */

/* An interval of keys whose leaves are lost: low <= key < high; NULL: no bound. */
struct lost_keys {
    uint8_t *low, *high;
    size_t low_len, high_len;
};

struct leaf_at {
    uint64_t sequence;
    struct ref ref;
};

struct salvage {
    struct store *st;
    struct overlay *file;
    drep_finding_fn *say;
    void *ctx;
    int stop;
    struct extents seen; /* so that circles of references end */
    struct lost_keys *gap;
    size_t ngaps, gap_room;
    struct leaf_at *leaf;
    size_t nleaves, leaf_room;
    struct buf value;
};

static void say(struct salvage *s, int err, uint64_t offset)
{
    if (s->say && !s->stop)
        s->stop = s->say(err, offset, drep_error(), s->ctx);
}

/* ---- slots ---- */

#define SLOT_ZEROS 168 /* where the fields end (SPEC.md, 2) */
#define SLOT_HEADER 256

/* Decode a slot whose checksum is wrong as if it were right: its fields may still be sound. */
static bool slot_anyway(struct slot *out, const uint8_t *bytes, int which)
{
    static const uint8_t magic[8] = {0x89, 0x44, 0x52, 0x50, 0x0d, 0x0a, 0x1a, 0x0a};
    const char *why = NULL;
    uint8_t copy[FMT_SLOT_SIZE];
    uint32_t size;

    memcpy(copy, bytes, sizeof(copy));
    memcpy(copy, magic, sizeof(magic));
    store_u16(copy + 8, FMT_MAJOR);
    store_u16(copy + 10, FMT_MINOR);
    size = load_u32(copy + 12);
    if (size > FMT_SLOT_HEADER_MAX)
        return false;
    memset(copy + SLOT_ZEROS, 0, SLOT_HEADER - SLOT_ZEROS);
    memset(copy + SLOT_HEADER + size, 0, FMT_SLOT_SIZE - SLOT_HEADER - size);
    store_u64(copy + FMT_SLOT_SIZE - 8, sum_of(copy, FMT_SLOT_SIZE - 8));
    return slot_get(out, copy, which, &why) == SLOT_VALID && !why && slot_is_ours(out) &&
           out->sequence > 0;
}

#define SLOTS 3                      /* A, B, and the one at the end of the file */
#define TOGETHER ((uint64_t)1 << 20) /* bytes of slabs that are mended together */

/* Read the places of slots; those that the file does not have are zeros. */
static int read_slots(struct salvage *s, uint8_t bytes[SLOTS][FMT_SLOT_SIZE])
{
    const struct io_ops *ops = s->file->base->ops;
    uint64_t size = s->file->size, front = size < FMT_SPACE_START ? size : FMT_SPACE_START;
    int err;

    memset(bytes, 0, SLOTS * FMT_SLOT_SIZE);
    err = ops->read_at(s->file->base, bytes, (size_t)front, 0);
    if (!err && size >= FMT_SPACE_START + FMT_SLOT_SIZE)
        err = ops->read_at(s->file->base, bytes[2], FMT_SLOT_SIZE, size - FMT_SLOT_SIZE);
    return err;
}

/* True if a slot can be the state of the file: the one at the end must know its place. */
static bool slot_counts(const struct salvage *s, const struct slot *slot, int i)
{
    if (i < 2)
        return slot_is_ours(slot) && !slot_elsewhere(slot);
    return slot_is_ours(slot) && slot->incompatible & FMT_AT_END && slot->sequence == 1 &&
           slot->end == s->file->size - FMT_SLOT_SIZE;
}

/* Report slots A and B that are damaged. */
static void say_slots(struct salvage *s, uint8_t bytes[SLOTS][FMT_SLOT_SIZE], uint64_t sequence)
{
    for (int i = 0; i < 2; i++) {
        const char *why = NULL;
        struct slot slot;
        enum slot_state state = slot_get(&slot, bytes[i], i, &why);

        if ((state == SLOT_VALID && !why) || (state == SLOT_EMPTY && sequence == 1))
            continue;
        say(s,
            fail(DREP_ERR_CHECKSUM, "header slot %c is damaged; reading commit %llu", 'A' + i,
                 (unsigned long long)sequence),
            (uint64_t)i * FMT_SLOT_SIZE);
    }
}

static int no_slot(const uint8_t *first)
{
    struct slot slot;
    const char *why;

    if (slot_get(&slot, first, 0, &why) == SLOT_VALID && slot_elsewhere(&slot))
        return fail(DREP_ERR_TRUNCATE,
                    "truncated: the file was written as a stream, and the header "
                    "slot at its end is missing");
    return fail(DREP_ERR_CHECKSUM, "neither header slot can be read");
}

/* Choose the newest slot that is right, else one that might be. */
static int choose_slot(struct salvage *s, struct slot *out)
{
    uint8_t bytes[SLOTS][FMT_SLOT_SIZE];
    int err = read_slots(s, bytes), found = 0;
    struct slot slot;

    for (int doubtful = 0; !err && !found && doubtful < 2; doubtful++) {
        for (int i = 0; i < SLOTS; i++) {
            const char *why = NULL;
            int good;

            slot.major = FMT_MAJOR;
            slot.minor = FMT_MINOR;
            good = doubtful ? slot_anyway(&slot, bytes[i], i % 2)
                            : slot_get(&slot, bytes[i], i % 2, &why) == SLOT_VALID && !why;
            if (i < 2 && !doubtful && good && !slot_is_ours(&slot))
                return refuse_version(&slot);
            if (!good || !slot_counts(s, &slot, i) || (found && slot.sequence < out->sequence))
                continue;
            *out = slot;
            found = 1 + doubtful;
        }
    }
    if (!err && !found)
        err = no_slot(bytes[0]);
    if (!err && out->incompatible & ~FMT_INCOMPATIBLE)
        err = fail(DREP_ERR_UNSUPPORTED, "it uses unknown features");
    if (err)
        return err;
    say_slots(s, bytes, out->sequence);
    if (found == 2)
        say(s,
            fail(DREP_ERR_CHECKSUM, "no valid header slot; taken as it is: commit %llu",
                 (unsigned long long)out->sequence),
            0);
    return 0;
}

/* Load the header.  Its part behind the slot may be lost; the slot has the most important
 * records, whole. */
static int load_header(struct salvage *s, const struct slot *slot)
{
    struct store *st = s->st;
    struct buf rest = {0};
    int err = 0;

    if (slot->more.length && block_load(st, &slot->more, FMT_HEADER, &rest, NULL)) {
        say(s, DREP_ERR_CHECKSUM, slot->more.offset);
        rest.len = 0;
    }
    err = snapshot_set_header(st, slot, &rest);
    buf_release(&rest);
    return err;
}

/* ---- entries ---- */

static bool in_gap(const struct salvage *s, const struct key *key)
{
    for (size_t i = 0; i < s->ngaps; i++) {
        const struct lost_keys *g = &s->gap[i];

        if ((!g->low || key_compare(key->p, key->len, g->low, g->low_len) >= 0) &&
            (!g->high || key_compare(key->p, key->len, g->high, g->high_len) < 0))
            return true;
    }
    return false;
}

/* Put one entry into the new tree.  only_gaps: it is from an older leaf, and counts only where
 * nothing newer is known. */
static int take_entry(struct salvage *s, const struct tree_node *n, uint32_t i, int only_gaps)
{
    const uint8_t *value;
    struct key key;
    size_t len;

    node_key(n, i, &key);
    value = node_value(n, i, &len);
    /* Free space and log belong to the damaged file alone. */
    if (key.len < 9 || (key_object(key.p) == FMT_OBJECT_FILE &&
                        (key_tag(key.p) == FMT_TAG_FREE || key_tag(key.p) == FMT_TAG_LOG)))
        return 0;
    if (only_gaps && !in_gap(s, &key))
        return 0;
    if (len & ITEM_FAR) {
        struct ref ref = {0, 0, 0};
        struct in in;
        int err;

        in_init(&in, value, FMT_REF_SIZE);
        ref_get(&in, &ref);
        err = in.err || !ref.length ? fail(DREP_ERR_FORMAT, "impossible reference to a value")
                                    : block_load(s->st, &ref, FMT_VALUE, &s->value, NULL);
        if (err == DREP_ERR_NOMEM)
            return err;
        if (err) {
            if (!only_gaps)
                say(s, err, ref.offset);
            return 0;
        }
        value = s->value.p;
        len = s->value.len;
    }
    if (!only_gaps)
        return tree_put(s->st, &key, value, len);
    switch (tree_add(s->st, &key, value, len)) {
    case DREP_ERR_NOMEM:
        return DREP_ERR_NOMEM;
    default:
        return 0;
    }
}

static int take_leaf(struct salvage *s, const struct tree_node *n, int only_gaps)
{
    int err = 0;

    for (uint32_t i = 0; i < n->n && !err; i++)
        err = take_entry(s, n, i, only_gaps);
    return err;
}

static int copy_bound(uint8_t **to, size_t *to_len, const uint8_t *p, size_t len)
{
    *to = NULL;
    *to_len = len;
    if (!p)
        return 0;
    *to = mem_alloc(len + 1);
    if (!*to)
        return DREP_ERR_NOMEM;
    memcpy(*to, p, len);
    return 0;
}

static int add_gap(struct salvage *s, const struct bounds *b)
{
    int err;

    if (VEC_ROOM(s->gap, s->ngaps, s->gap_room, 1))
        return DREP_ERR_NOMEM;
    s->gap[s->ngaps] = (struct lost_keys){NULL, NULL, 0, 0};
    err = copy_bound(&s->gap[s->ngaps].low, &s->gap[s->ngaps].low_len, b->low, b->low_len);
    if (!err)
        err = copy_bound(&s->gap[s->ngaps].high, &s->gap[s->ngaps].high_len, b->high, b->high_len);
    s->ngaps++;
    return err;
}

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

/* Decode a damaged node as far as its entries are possible; *sure: only its header is damaged.
 * The block is the one that the reference means if it has, or claims to have, the reference's
 * checksum. */
static int node_anyway(struct salvage *s, const struct ref *ref, int level, struct tree_node **out,
                       int *sure)
{
    uint8_t block[FMT_NODE_MAX + NODE_SLACK] = {0};
    struct block_head head = {.level = (uint8_t)level};
    const char *why;
    size_t end, at;
    int err = node_fetch(s->st, ref, block);

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

/* Use a damaged node: its entries are better than those of an older one.  The interval of keys
 * behind its last readable entry becomes a gap. */
static int take_damaged(struct salvage *s, const struct ref *ref, int level, const struct bounds *b,
                        struct tree_node **out)
{
    struct bounds rest = *b;
    struct fail_state why;
    struct tree_node *n;
    int sure, err;

    fail_save(&why);
    err = node_anyway(s, ref, level, &n, &sure);
    if (err == DREP_ERR_NOMEM)
        return err;
    if (err) {
        fail_restore(&why);
        say(s, err, ref->offset);
        *out = NULL;
        return add_gap(s, b);
    }
    if (sure)
        fail_byte(DREP_ERR_CHECKSUM, ref->offset,
                  "node at byte %llu: its header is damaged; its entries are right",
                  (unsigned long long)ref->offset);
    else
        fail(DREP_ERR_CHECKSUM, "%s; %u entries of it are used as found", why.text, n->n);
    say(s, DREP_ERR_CHECKSUM, ref->offset);
    *out = n;
    if (sure)
        return 0;
    rest.low = node_last(n, &rest.low_len);
    err = add_gap(s, &rest);
    if (err)
        node_unref(n);
    return err;
}

/* Put all entries below a node into the tree; what cannot be read becomes a gap.  The recursion
 * is at most FMT_LEVEL_MAX deep. */
static int take_node(struct salvage *s, const struct ref *ref, int level, const struct bounds *b)
{
    struct tree_node *n;
    int err = extents_add(&s->seen, ref->offset, FMT_ALIGN, NULL);

    if (err == DREP_ERR_NOMEM || s->stop)
        return err ? err : s->stop;
    if (err)
        err = fail_byte(err, ref->offset, "node at byte %llu: it is referenced more than once",
                        (unsigned long long)ref->offset);
    else
        err = node_read(s->st, ref, level, &n);
    if (err == DREP_ERR_NOMEM)
        return err;
    if (err == DREP_ERR_CHECKSUM) {
        err = take_damaged(s, ref, level, b, &n);
        if (err || !n)
            return err;
    } else if (err) {
        say(s, err, ref->offset);
        return add_gap(s, b);
    }
    if (!n->level)
        err = take_leaf(s, n, 0);
    for (uint32_t i = 0; n->level && i < n->n && !err; i++) {
        struct bounds below = *b;
        struct child child = child_get(n, i);

        bounds_narrow(&below, n, i);
        err = take_node(s, &child.ref, n->level - 1, &below);
    }
    node_unref(n);
    return err;
}

/* ---- leaves of any age ---- */

static int add_leaf(struct salvage *s, uint64_t sequence, const struct ref *ref)
{
    if (VEC_ROOM(s->leaf, s->nleaves, s->leaf_room, 1))
        return DREP_ERR_NOMEM;
    s->leaf[s->nleaves++] = (struct leaf_at){sequence, *ref};
    return 0;
}

/* Look for leaves at every place where one may begin, in `size` bytes from `at` on. */
static int scan_piece(struct salvage *s, const uint8_t *p, size_t size, uint64_t at, size_t piece)
{
    for (size_t i = 0; i < piece && i + FMT_BLOCK_HEAD <= size; i += FMT_ALIGN) {
        struct block_head head;
        const char *why;
        uint32_t length = load_u32(p + i + 24);

        if (memcmp(p + i, "\x44\x52\x50\x42", 4) != 0 || p[i + 4] != FMT_NODE || p[i + 5] != 0 ||
            memcmp(p + i + 8, s->st->slot.uuid, 8) != 0 || length < FMT_BLOCK_HEAD ||
            length > FMT_NODE_MAX || length > size - i || block_get(&head, p + i, length, &why))
            continue;
        if (head.sequence <= s->st->slot.sequence) {
            struct ref ref = {at + i, length, head.checksum};
            int err = add_leaf(s, head.sequence, &ref);

            if (err)
                return err;
        }
    }
    return 0;
}

static int newest_first(const void *a, const void *b)
{
    const struct leaf_at *x = a, *y = b;

    return (x->sequence < y->sequence) - (x->sequence > y->sequence);
}

static int scan(struct salvage *s)
{
    const size_t piece = 1 << 20, room = piece + FMT_NODE_MAX;
    uint8_t *p = mem_alloc(room);
    int err = p ? 0 : DREP_ERR_NOMEM;

    for (uint64_t at = FMT_SPACE_START; !err && at < s->file->size; at += piece) {
        uint64_t left = s->file->size - at;
        size_t size = left < room ? (size_t)left : room;

        err = s->file->base->ops->read_at(s->file->base, p, size, at);
        if (!err)
            err = scan_piece(s, p, size, at, piece);
    }
    mem_free(p);
    if (!err && s->nleaves > 1)
        qsort(s->leaf, s->nleaves, sizeof(*s->leaf), newest_first);
    for (size_t i = 0; i < s->nleaves && !err; i++) {
        struct tree_node *n;

        err = node_read(s->st, &s->leaf[i].ref, 0, &n);
        if (err == DREP_ERR_NOMEM)
            break;
        if (!err) {
            err = take_leaf(s, n, 1);
            node_unref(n);
        } else {
            err = 0;
        }
    }
    return err;
}

/* ---- all of it ---- */

static void salvage_release(struct salvage *s)
{
    for (size_t i = 0; i < s->ngaps; i++) {
        mem_free(s->gap[i].low);
        mem_free(s->gap[i].high);
    }
    mem_free(s->gap);
    mem_free(s->leaf);
    buf_release(&s->value);
    extents_release(&s->seen);
}

/* Let the store look at the slot, but with an empty tree. */
static void begin(struct salvage *s, const struct slot *slot)
{
    struct store *st = s->st;
    const struct ref none = {0, 0, 0};

    st->slot = *slot;
    st->slot.root = st->slot.pending = none;
    st->slot.incompatible = 0;
    st->slot.end = s->file->end;
    st->writable = true;
    st->next_object = slot->next_object;
    st->next_type = slot->next_type;
    st->space->end = s->file->end;
    st->space->loaded = true;
}

/* Give new objects numbers that no entry uses, whatever the slot says. */
static int renumber(struct store *st)
{
    uint64_t object, type;
    int err = numbers_in_use(st, &object, &type);

    if (!err && object >= st->next_object && object < UINT64_MAX)
        st->next_object = object + 1;
    if (!err && type > st->next_type && type <= UINT32_MAX)
        st->next_type = (uint32_t)type;
    return err;
}

static int salvage(struct salvage *s)
{
    const struct bounds all = {.low = NULL, .high = NULL};
    struct slot slot;
    int err = choose_slot(s, &slot);

    if (err)
        return err;
    begin(s, &slot);
    err = load_header(s, &slot);
    if (!err && slot.root.length)
        err = take_node(s, &slot.root, -1, &all);
    if (!err && s->ngaps > 0)
        err = scan(s);
    if (!err)
        err = renumber(s->st);
    return err ? err : s->stop;
}

int store_salvage(struct io *io, const struct store_opts *opts, drep_finding_fn *fn, void *ctx,
                  struct store **out)
{
    struct salvage s = {.say = fn, .ctx = ctx};
    struct io *over;
    int err = overlay_new(io, &over);

    if (err)
        return err;
    err = store_new(over, opts, &s.st);
    if (err) {
        over->ops->close(over);
        return err;
    }
    s.file = (struct overlay *)over;
    err = salvage(&s);
    salvage_release(&s);
    if (err) {
        store_close(s.st);
        return err;
    }
    *out = s.st;
    return 0;
}

/* ---- payload ---- */

/* Load the checksums of a record; those of a lost block are absent. */
static int load_sums(struct store *st, const struct chunk_rec *rec, uint64_t blocks, uint64_t **sum)
{
    uint64_t *sums = mem_zalloc(blocks + 1, sizeof(*sums)), at = 0;
    struct buf block = {0};
    int err = sums ? 0 : DREP_ERR_NOMEM;

    for (uint32_t k = 0; k < rec->far && err != DREP_ERR_NOMEM; k++) {
        uint32_t count = 0, want = chunk_sums_in(blocks, k);
        struct ref ref;

        chunk_ref(rec, k, &ref);
        err = block_load(st, &ref, FMT_SUMS, &block, &count);
        if (!err && count == want && block.len == 8 * (size_t)want) {
            for (uint32_t i = 0; i < want; i++)
                sums[at + i] = load_u64(block.p + 8 * (size_t)i);
        }
        at += want;
    }
    for (uint64_t i = 0; !rec->far && sums && i < blocks; i++)
        sums[i] = rec->sum[i];
    buf_release(&block);
    if (err == DREP_ERR_NOMEM) {
        mem_free(sums);
        return err;
    }
    *sum = sums; /* zeros: absent ones */
    return 0;
}

/* Find the damaged stretches of one chunk, or of several slabs, at p, of which `there` bytes are in
 * the file.  All blocks are checked before fn is called for any. */
static void see_blocks(uint8_t *p, uint64_t size, uint64_t there, uint64_t offset,
                       const uint64_t *sum, uint8_t *bad, chunk_damage_fn *fn, void *ctx)
{
    uint64_t blocks = (size + FMT_SUM_BLOCK - 1) / FMT_SUM_BLOCK;

    for (uint64_t b = 0; b < blocks; b++) {
        uint64_t from = b * FMT_SUM_BLOCK;
        uint64_t n = size - from < FMT_SUM_BLOCK ? size - from : FMT_SUM_BLOCK;

        bad[b] = from + n > there || (sum[b] && sum_stored(p + from, (size_t)n) != sum[b]);
    }
    for (uint64_t b = 0, end; b < blocks; b = end) {
        end = b + 1;
        while (end < blocks && bad[end] == bad[b])
            end++;
        if (bad[b])
            fn(p, b * FMT_SUM_BLOCK, end < blocks ? end * FMT_SUM_BLOCK : size,
               offset + b * FMT_SUM_BLOCK, ctx);
    }
}

/* Read the bytes that the file has; gives their number. */
static uint64_t read_there(const struct overlay *file, uint8_t *p, uint64_t size, uint64_t offset)
{
    uint64_t there = offset < file->size ? file->size - offset : 0;

    there = there < size ? there : size;
    if (there && file->base->ops->read_at(file->base, p, (size_t)there, offset))
        there = 0;
    memset(p + there, 0, (size_t)(size - there));
    return there;
}

int chunk_salvage(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec,
                  chunk_damage_fn *fn, void *ctx)
{
    const struct overlay *file = (const struct overlay *)cs->st->io;
    uint64_t size = rec->size, blocks = (size + FMT_SUM_BLOCK - 1) / FMT_SUM_BLOCK;
    uint64_t at[FMT_RANK_MAX] = {0}, *sum = NULL, n = 1;
    uint8_t *p, *bad;
    struct key key;
    int err;

    if (size > file->size || rec->run > file->size / (size ? size : 1))
        return fail(DREP_ERR_FORMAT, "more payload than the file has bytes");
    if (cs->slabs && size == cs->payload && size % FMT_SUM_BLOCK == 0 && size < TOGETHER)
        n = TOGETHER / size;
    n = n < rec->run ? n : rec->run;
    p = mem_alloc(n * size + 1);
    bad = mem_alloc(n * blocks + 1);
    err = p && bad ? load_sums(cs->st, rec, blocks * rec->run, &sum) : DREP_ERR_NOMEM;
    memcpy(at, coord, (size_t)cs->rank * sizeof(*at));
    chunk_key(cs, coord, &key);
    if (!err)
        err = tree_del(cs->st, &key);
    for (uint64_t i = 0; !err && i < rec->run; i += n) {
        uint64_t offset = rec->offset + i * size;

        n = n < rec->run - i ? n : rec->run - i;
        see_blocks(p, n * size, read_there(file, p, n * size, offset), offset, sum + i * blocks,
                   bad, fn, ctx);
        err = chunk_write(cs, at, n, p, size);
        if (cs->rank > 0)
            at[cs->rank - 1] += n;
    }
    mem_free(sum);
    mem_free(bad);
    mem_free(p);
    return err;
}
