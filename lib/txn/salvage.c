/* salvage.c - reading what is left of a damaged file, as a store of its own.
 *
 * The entries of the newest whole commit go into a new tree; if no commit is whole, those that the
 * newest slot reaches.  What newer slots reach, and leaves that lie in the file outside everything
 * that its commits use, go into a tree apart, and from there under a group of their own
 * (txn/beyond.h): bytes that only look like a node must not change what a commit says.  Payload
 * stays where it is: the store writes behind the file's end (txn/overlay.h), and the damaged file
 * is never changed. */
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
#include "tree/load.h"
#include "txn/beyond.h"
#include "txn/kept.h"
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

#define SLOTS 3 /* A, B, and the one at the end of the file */

struct salvage {
    struct store *st;
    struct store *into; /* where entries go: st, or a store of what is found beyond its commit */
    struct overlay *file;
    struct slot slot[SLOTS];
    enum slot_trust { SLOT_NONE, SLOT_DOUBTFUL, SLOT_SURE } trust[SLOTS];
    bool damaged; /* one of slots A and B */
    struct kept kept;
    struct kept_commit base; /* the commit that is taken */
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

static void say_finding(struct salvage *s, int err, uint64_t offset)
{
    if (s->say && !s->stop)
        s->stop = s->say(err, offset, fail_text(), s->ctx);
}

/* ---- slots ---- */

#define SLOT_LENGTH 12 /* where the header's size stands (SPEC.md, 2), */
#define SLOT_ZEROS 168 /* where the fields end */
#define SLOT_HEADER 256

/* Decode a slot whose checksum is wrong as if it were right: its fields may still be sound. */
static bool slot_anyway(struct slot *out, const uint8_t *bytes, int which)
{
    const char *why = NULL;
    uint8_t copy[FMT_SLOT_SIZE];
    uint32_t size;

    memcpy(copy, bytes, sizeof(copy));
    memcpy(copy, fmt_slot_magic, sizeof(fmt_slot_magic));
    store_u16(copy + 8, FMT_MAJOR);
    store_u16(copy + 10, FMT_MINOR);
    size = load_u32(copy + SLOT_LENGTH);
    if (size > FMT_SLOT_HEADER_MAX)
        return false;
    memset(copy + SLOT_ZEROS, 0, SLOT_HEADER - SLOT_ZEROS);
    memset(copy + SLOT_HEADER + size, 0, FMT_SLOT_SIZE - SLOT_HEADER - size);
    store_u64(copy + FMT_SLOT_SIZE - 8, sum_of(copy, FMT_SLOT_SIZE - 8));
    return slot_get(out, copy, which, &why) == SLOT_VALID && !why && slot_is_ours(out) &&
           out->sequence > 0;
}

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
        return slot_is_ours(slot) && !slot_at_end(slot);
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
        s->damaged = true;
        say_finding(s,
                    fail(DREP_ERR_CHECKSUM, "header slot %c is damaged; reading commit %llu",
                         'A' + i, (unsigned long long)sequence),
                    (uint64_t)i * FMT_SLOT_SIZE);
    }
}

static int no_slot(const uint8_t *first)
{
    struct slot slot;
    const char *why;

    if (slot_get(&slot, first, 0, &why) == SLOT_VALID && slot_at_end(&slot))
        return fail(DREP_ERR_TRUNCATE,
                    "truncated: the file was written as a stream, and the header "
                    "slot at its end is missing");
    return fail(DREP_ERR_CHECKSUM, "neither header slot can be read");
}

#define SLOT_SUM (FMT_SLOT_SIZE - 8)

/* Mends the one byte that is damaged: no other value of it, nor of another byte, has a sum of 64
 * bits that is right.  False: none is, or more are; with the longest header it takes half a second
 * to find out.  Zeros that have to be (R2.12) are left: no damage is there. */
static bool slot_mend(uint8_t *bytes, int *at)
{
    uint64_t sum = load_u64(bytes + SLOT_SUM), wrong = sum ^ sum_of(bytes, SLOT_SUM);
    uint32_t size = load_u32(bytes + SLOT_LENGTH);
    int end = SLOT_HEADER + (size > FMT_SLOT_HEADER_MAX ? 0 : (int)size);

    if (wrong == 0)
        return false;
    for (int i = 0; i < 8; i++) {
        if ((wrong & ~(UINT64_C(0xff) << 8 * i)) != 0)
            continue;
        *at = SLOT_SUM + 7 - i;
        bytes[*at] ^= (uint8_t)(wrong >> 8 * i);
        return true;
    }
    for (*at = 0; *at < SLOT_SUM; ++*at) {
        uint8_t is = bytes[*at];
        bool has_meaning = *at < SLOT_ZEROS || (*at >= SLOT_HEADER && *at < end);

        for (int change = 1; change < 256 && (has_meaning || is != 0); change++) {
            bytes[*at] = (uint8_t)(is ^ change);
            if (sum_of(bytes, SLOT_SUM) == sum)
                return true;
        }
        bytes[*at] = is;
    }
    return false;
}

/* True if at most one byte of the magic is another: what is there may be a slot. */
static bool is_like_slot(const uint8_t *bytes)
{
    size_t alike = 0;

    for (size_t k = 0; k < sizeof fmt_slot_magic; k++)
        alike += bytes[k] == fmt_slot_magic[k];
    return alike + 1 >= sizeof fmt_slot_magic;
}

/* Decodes a slot, mended if one byte is damaged. */
static enum slot_state get_slot(struct salvage *s, int i, uint8_t *bytes, const char **why)
{
    uint64_t place = i < 2 ? (uint64_t)i * FMT_SLOT_SIZE : s->file->size - FMT_SLOT_SIZE;
    int at;

    if (is_like_slot(bytes) && slot_mend(bytes, &at)) {
        fail(DREP_ERR_CHECKSUM, "a byte of a header slot is damaged; the checksum tells its value");
        say_finding(s, DREP_ERR_CHECKSUM, place + (uint64_t)at);
    }
    return slot_get(&s->slot[i], bytes, i % 2, why);
}

/* Decode the slots, as far as their sums are right or their fields may be. */
static int load_slots(struct salvage *s, uint8_t bytes[SLOTS][FMT_SLOT_SIZE])
{
    int err = read_slots(s, bytes);

    for (int i = 0; !err && i < SLOTS; i++) {
        struct slot *slot = &s->slot[i];
        const char *why = NULL;

        slot->major = FMT_MAJOR;
        slot->minor = FMT_MINOR;
        if (get_slot(s, i, bytes[i], &why) == SLOT_VALID && !why) {
            if (i < 2 && !slot_is_ours(slot))
                return refuse_version(slot);
            s->trust[i] = slot_counts(s, slot, i) ? SLOT_SURE : SLOT_NONE;
        } else if (slot_anyway(slot, bytes[i], i % 2) && slot_counts(s, slot, i)) {
            s->trust[i] = SLOT_DOUBTFUL;
        }
    }
    return err;
}

/* The newest slot whose sum is right, else the newest one; NULL: there is none. */
static const struct slot *newest_slot(const struct salvage *s)
{
    const struct slot *best = NULL;

    for (int trust = SLOT_SURE; !best && trust > SLOT_NONE; trust--) {
        for (int i = 0; i < SLOTS; i++) {
            if ((int)s->trust[i] == trust && (!best || s->slot[i].sequence > best->sequence))
                best = &s->slot[i];
        }
    }
    return best;
}

/* Load the header.  Its part behind the slot may be lost; the slot has the most important
 * records, whole. */
static int load_header(struct salvage *s, const struct slot *slot)
{
    struct store *st = s->st;
    struct buf rest = {0};
    int err = 0;

    if (slot->more.length && block_load(st, &slot->more, FMT_HEADER, &rest, NULL)) {
        say_finding(s, DREP_ERR_CHECKSUM, slot->more.offset);
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

/* Put one entry into the tree.  only_gaps: it is from an older leaf, and counts only where nothing
 * newer is known. */
static int take_entry(struct salvage *s, const struct tree_node *n, uint32_t i, int only_gaps)
{
    const uint8_t *value;
    struct key key;
    size_t len;

    node_key(n, i, &key);
    value = node_value(n, i, &len);
    /* Free space and log belong to the damaged file alone. */
    if (key.len < FMT_KEY_HEAD ||
        (key_object(key.p) == FMT_OBJECT_FILE &&
         (key_known(key.p) == FMT_TAG_FREE || key_known(key.p) == FMT_TAG_LOG)))
        return 0;
    if (only_gaps && !in_gap(s, &key))
        return 0;
    if (len & ITEM_FAR) {
        struct ref ref = {0, 0, 0};
        struct in in;
        int err;

        in_init(&in, value, FMT_REF_SIZE);
        ref_get(&in, &ref);
        err = in.err || !ref.length
                  ? fail(DREP_ERR_FORMAT, "impossible reference to a value (R4.14)")
                  : block_load(s->st, &ref, FMT_VALUE, &s->value, NULL);
        if (err == DREP_ERR_NOMEM)
            return err;
        if (err) {
            if (!only_gaps)
                say_finding(s, err, ref.offset);
            return 0;
        }
        value = s->value.p;
        len = s->value.len;
    }
    return tree_put(s->into, &key, value, len);
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

    if (s->into != s->st) /* the commit that is taken has an answer there, or a gap */
        return 0;
    if (VEC_ROOM(s->gap, s->ngaps, s->gap_room, 1))
        return DREP_ERR_NOMEM;
    s->gap[s->ngaps] = (struct lost_keys){NULL, NULL, 0, 0};
    err = copy_bound(&s->gap[s->ngaps].low, &s->gap[s->ngaps].low_len, b->low, b->low_len);
    if (!err)
        err = copy_bound(&s->gap[s->ngaps].high, &s->gap[s->ngaps].high_len, b->high, b->high_len);
    s->ngaps++;
    return err;
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
    err = node_anyway(s->st, ref, level, &n, &sure);
    if (err == DREP_ERR_NOMEM)
        return err;
    if (err) {
        fail_restore(&why);
        say_finding(s, err, ref->offset);
        *out = NULL;
        return add_gap(s, b);
    }
    if (sure)
        fail_byte(DREP_ERR_CHECKSUM, ref->offset,
                  "node at byte %llu: its header is damaged; its entries are right",
                  (unsigned long long)ref->offset);
    else
        fail(DREP_ERR_CHECKSUM, "%s; %u entries of it are used as found", why.text, n->n);
    say_finding(s, DREP_ERR_CHECKSUM, ref->offset);
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
    if (s->into != s->st && (err || kept_payload(&s->kept, ref->offset, ref->length)))
        return 0; /* shared with the commit that is taken, or not a node of this file */
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
        say_finding(s, err, ref->offset);
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

/* ---- what is there beyond the commit ---- */

static int add_leaf(struct salvage *s, uint64_t sequence, const struct ref *ref)
{
    if (VEC_ROOM(s->leaf, s->nleaves, s->leaf_room, 1))
        return DREP_ERR_NOMEM;
    s->leaf[s->nleaves++] = (struct leaf_at){sequence, *ref};
    return 0;
}

/* Length of the block that begins at p and counts as one of this file; 0: none does. */
static size_t block_here(const struct salvage *s, const uint8_t *p, size_t size, uint64_t at,
                         struct block_head *head)
{
    uint32_t length = load_u32(p + 24);
    const char *why;

    if (memcmp(p, "\x44\x52\x50\x42", 4) != 0 || memcmp(p + 8, s->st->slot.uuid, 8) != 0 ||
        length < FMT_BLOCK_HEAD || length > size || kept_uses(&s->kept, at, length) ||
        block_get(head, p, length, &why))
        return 0;
    return length;
}

/* Look for leaves at every place where one may begin, in `size` bytes from `at` on; *next: where to
 * go on.  What lies inside another block is content of that. */
static int scan_piece(struct salvage *s, const uint8_t *p, size_t size, uint64_t at, size_t *next)
{
    size_t piece = *next, i = 0;
    int err = 0;

    while (!err && i < piece && i + FMT_BLOCK_HEAD <= size) {
        struct block_head head;
        size_t length = block_here(s, p + i, size - i, at + i, &head);

        if (length && head.kind == FMT_NODE && head.level == 0) {
            struct ref ref = {at + i, (uint32_t)length, head.checksum};

            err = add_leaf(s, head.sequence, &ref);
        }
        i += length ? (size_t)round_up(length, FMT_ALIGN) : FMT_ALIGN;
    }
    *next = i > piece ? i : piece;
    return err;
}

static int oldest_first(const void *a, const void *b)
{
    const struct leaf_at *x = a, *y = b;

    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return (x->ref.offset > y->ref.offset) - (x->ref.offset < y->ref.offset);
}

/* Newer leaves replace what older ones say. */
static int scan_file(struct salvage *s)
{
    const size_t piece = 1 << 20, room = 2 * piece;
    uint8_t *p = mem_alloc(room);
    uint64_t at = FMT_SPACE_START;
    int err = p ? 0 : DREP_ERR_NOMEM;

    while (!err && at < s->file->size) {
        uint64_t left = s->file->size - at;
        size_t size = left < room ? (size_t)left : room, next = piece;

        err = s->file->base->ops->read_at(s->file->base, p, size, at);
        if (!err)
            err = scan_piece(s, p, size, at, &next);
        at += next;
    }
    mem_free(p);
    if (s->nleaves > 1)
        qsort(s->leaf, s->nleaves, sizeof(*s->leaf), oldest_first);
    for (size_t i = 0; i < s->nleaves && !err; i++) {
        bool older = s->leaf[i].sequence <= s->base.sequence;
        struct tree_node *n;

        if (older && s->ngaps == 0)
            continue;
        err = node_read(s->st, &s->leaf[i].ref, 0, &n);
        if (err == DREP_ERR_NOMEM)
            break;
        if (!err) {
            err = take_leaf(s, n, older);
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
    kept_release(&s->kept);
}

/* Give new objects numbers that no entry uses, whatever the slot says. */
static int renumber_objects(struct store *st)
{
    uint64_t object, type;
    int err = numbers_in_use(st, &object, &type);

    if (!err && object >= st->next_object && object < UINT64_MAX)
        st->next_object = object + 1;
    if (!err && type > st->next_type && type <= UINT32_MAX)
        st->next_type = (uint32_t)type;
    return err;
}

/* Find the commits that the file keeps, and the one to take. */
static int choose_commit(struct salvage *s)
{
    uint8_t bytes[SLOTS][FMT_SLOT_SIZE];
    int err = load_slots(s, bytes);
    const struct slot *newest = newest_slot(s);

    if (!err && !newest)
        err = no_slot(bytes[0]);
    if (!err && newest->incompatible & ~FMT_INCOMPATIBLE)
        err = fail(DREP_ERR_UNSUPPORTED, "it uses unknown features");
    if (err)
        return err;
    store_begin_empty(s->st, newest, s->file->end);
    for (int i = 0; !err && i < SLOTS; i++) {
        if (s->trust[i] != SLOT_NONE && !(s->slot[i].incompatible & ~FMT_INCOMPATIBLE))
            err = kept_add(&s->kept, &s->slot[i], s->trust[i] == SLOT_SURE);
    }
    if (!err)
        err = kept_read(&s->kept);
    if (err)
        return err;
    s->base = *kept_choose(&s->kept);
    say_slots(s, bytes, s->base.sequence);
    if (!s->base.sure)
        say_finding(s,
                    fail(DREP_ERR_CHECKSUM, "no valid header slot; taken as it is: commit %llu",
                         (unsigned long long)s->base.sequence),
                    0);
    else if (s->base.sequence < newest->sequence)
        say_finding(s,
                    fail_byte(DREP_ERR_CHECKSUM, newest->root.offset,
                              "commit %llu is damaged; commit %llu, which is whole, is taken",
                              (unsigned long long)newest->sequence,
                              (unsigned long long)s->base.sequence),
                    newest->root.offset);
    s->st->slot.sequence = s->base.sequence;
    return s->stop;
}

/* Take what newer slots reach, then put all that is not in the commit into a group of its own. */
static int go_beyond(struct salvage *s, uint64_t *first)
{
    const struct bounds all = {.low = NULL, .high = NULL};
    struct io *io;
    int err = io_memory(NULL, 0, &io);

    if (!err && (err = store_new(io, &s->st->opts, &s->into)))
        io->ops->close(io);
    if (err)
        return err;
    store_begin_empty(s->into, &s->st->slot, FMT_SPACE_START);
    s->into->slot.sequence = 0;
    s->st->slot.sequence = UINT64_MAX / 2; /* blocks of any commit */
    err = scan_file(s);
    for (int trust = SLOT_DOUBTFUL; trust <= SLOT_SURE; trust++) {
        for (int i = 0; !err && i < SLOTS; i++) {
            if ((int)s->trust[i] == trust && s->slot[i].sequence > s->base.sequence &&
                s->slot[i].root.length)
                err = take_node(s, &s->slot[i].root, -1, &all);
        }
    }
    s->st->slot.sequence = s->base.sequence;
    if (!err)
        err = renumber_objects(s->into);
    if (!err)
        err =
            beyond_adopt(s->st, s->into, s->base.sequence, s->stop ? NULL : s->say, s->ctx, first);
    store_close(s->into);
    s->into = s->st;
    return err;
}

static int salvage_leaves(struct salvage *s, uint64_t *first)
{
    const struct bounds all = {.low = NULL, .high = NULL};
    bool beyond;
    int err = choose_commit(s);

    if (err)
        return err;
    err = load_header(s, s->base.slot ? s->base.slot : newest_slot(s));
    if (!err && s->base.root.length)
        err = take_node(s, &s->base.root, -1, &all);
    if (!err)
        err = renumber_objects(s->st);
    beyond = s->ngaps > 0 || s->damaged || newest_slot(s)->sequence > s->base.sequence;
    if (!err && beyond)
        err = go_beyond(s, first);
    return err ? err : s->stop;
}

int store_salvage(struct io *io, const struct store_opts *opts, drep_finding_fn *fn, void *ctx,
                  struct store **out, uint64_t *first)
{
    struct salvage *s = mem_zalloc(1, sizeof(*s)); /* slots are too large for a stack */
    struct io *over;
    int err = overlay_new(io, &over);

    if (!err && !s) {
        over->ops->close(over);
        err = DREP_ERR_NOMEM;
    }
    if (!err && (err = store_new(over, opts, &s->st)))
        over->ops->close(over);
    if (err) {
        mem_free(s);
        return err;
    }
    s->say = fn;
    s->ctx = ctx;
    s->into = s->kept.st = s->st;
    s->file = (struct overlay *)over;
    *first = UINT64_MAX;
    err = salvage_leaves(s, first);
    salvage_release(s);
    if (err)
        store_close(s->st);
    else
        *out = s->st;
    mem_free(s);
    return err;
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
static void find_damaged_blocks(uint8_t *p, uint64_t size, uint64_t there, uint64_t offset,
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
        return fail(DREP_ERR_FORMAT, "more payload than the file has bytes (R6.2)");
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
        find_damaged_blocks(p, n * size, read_there(file, p, n * size, offset), offset,
                            sum + i * blocks, bad, fn, ctx);
        err = chunk_write(cs, at, n, p, size);
        if (cs->rank > 0)
            at[cs->rank - 1] += n;
    }
    mem_free(sum);
    mem_free(bad);
    mem_free(p);
    return err;
}
