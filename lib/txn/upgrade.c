/* upgrade.c - a file of draft 4, read as one of today.
 *
 * The tree of the commit is walked once, in the order of its keys.  Each entry is translated and
 * put into a new tree, which lies behind the end of the file (txn/overlay.h); payload stays where
 * it is.  The result is an ordinary store, so whatever draft 4 wrote wrongly is found by the
 * ordinary checks of whoever reads it.
 *
 * A record that draft 5 changes is translated in one place:
 *   a key              translate_key()
 *   a value            upgrade_value(), which has a function for each kind of record
 *   the header proper  translate_header()
 *   a slot             translate_slot()
 * These decode draft 4's bytes by code of their own, never by format/'s decoders, which are
 * today's, and encode by format/'s encoders.  Entries of an object come in the order of their tags:
 * its OBJECT record, as draft 4 wrote it, is in u->object when its chunks are translated.  A row
 * may be given another place, size and sum; payload that must be encoded anew is written through
 * u->st to space_alloc(). */
/* SPDX-License-Identifier: MIT */
#include "txn/upgrade.h"

#include "base/error.h"
#include "base/mem.h"
#include "space/slots.h"
#include "space/space.h"
#include "tree/block.h"
#include "tree/edit.h"
#include "tree/touched.h"
#include "txn/log.h"
#include "txn/open.h"
#include "txn/overlay.h"
#include "txn/snapshot.h"
#include "txn/txn.h"
#include "txn/upgrade_streams.h"
#include "txn/upgrade_type.h"

#include <string.h>

#define OLD_DATASET_FLAGS 3u /* it has maxima, dimensions */
#define ENOUGH (-1)          /* of an entry's function: no more entries */

/* A key of draft 4: {u64 object, u8 tag, tail}; attributes have the highest bit of the number. */
struct old_key {
    uint64_t object;
    bool apart;
    uint8_t tag;
    struct span tail;
};

/* A node on the way from the root to a leaf. */
struct old_node {
    uint8_t block[FMT_NODE_MAX];
    struct in in;
    uint64_t offset;
    uint32_t left; /* entries not taken yet */
    uint8_t level;
    struct key key; /* of the entry taken last */
};

struct upgrade;
typedef int old_entry_fn(struct upgrade *u, const struct old_key *key, const struct span *value);

struct upgrade {
    struct store *st;
    struct slot slot; /* of the commit that is read */
    struct old_node node[FMT_LEVEL_MAX + 1];
    struct key last; /* of the leaf's entry taken last */
    struct buf far, more;
    struct buf object; /* draft 4's OBJECT record of: */
    uint64_t object_id;
    struct buf out;    /* for a translated value */
    struct buf fields; /* for one whose fields are others, too */
    uint64_t sequence;
    bool logged; /* the commit `sequence` is in the log, and now in `slot` */
};

/* ---- translating records ---- */

/* Make the bytes of a whole slot of draft 4 those of a slot of today. */
static void translate_slot(uint8_t bytes[FMT_SLOT_SIZE])
{
    store_u16(bytes + 8, FMT_MAJOR);
    store_u16(bytes + 10, FMT_MINOR);
    store_u64(bytes + FMT_SLOT_SIZE - 8, sum_of(bytes, FMT_SLOT_SIZE - 8));
}

/* A record REP, {u8 form, u8 flags, u8 number, rest}: the number has 16 bits now, and flag bit 0
 * said how new compounds would lie. */
static void upgrade_rep(struct in *in, uint32_t len, struct out *out)
{
    out_u32(out, len + 1);
    out_u8(out, in_u8(in));
    out_u8(out, in_u8(in) & 0xfeu);
    out_u16(out, in_u8(in));
    out_bytes(out, in_bytes(in, len - 3), len - 3);
}

/* Records {u16 tag, u32 length, content}. */
static void translate_records(struct in *in, struct out *out)
{
    while (!in->err && in_left(in) > 0) {
        uint16_t tag = in_u16(in);
        uint32_t len = in_u32(in);

        out_u16(out, tag);
        if (len > in_left(in) || (tag == FMT_HEADER_REP && len < 3)) {
            in_fail(in, FMT_ERR_FORMAT, "a record of the header is cut (R1.6)");
            return;
        }
        if (tag == FMT_HEADER_REP) {
            upgrade_rep(in, len, out);
            continue;
        }
        out_u32(out, len);
        out_bytes(out, in_bytes(in, len), len);
    }
}

/* The header proper, of which `slot` has the first part and `more` the rest.  All of it becomes the
 * rest: the first part might not fit into a slot. */
static int translate_header(struct upgrade *u)
{
    struct buf all = {0}, old = {0};
    struct out out;
    struct in in;
    int err = buf_set(&old, u->slot.header, u->slot.header_size);

    if (!err)
        err = buf_add(&old, u->more.p, u->more.len);
    if (!err) {
        in_init(&in, old.p, old.len);
        buf_out(&all, &out);
        translate_records(&in, &out);
        err = buf_done(&all, &out);
        if (!err && in.err)
            err = fail(DREP_ERR_FORMAT, "draft 4: header: %s", in.why);
    }
    u->slot.header_size = 0;
    if (!err)
        err = snapshot_set_header(u->st, &u->slot, &all);
    buf_release(&all);
    buf_release(&old);
    return err;
}

static int translate_key(const struct old_key *old, struct key *key)
{
    if (old->apart)
        key_make_attr(key, old->object);
    else
        key_make(key, old->object, old->tag);
    key->p[FMT_KEY_TAG_AT] = old->tag; /* an unknown tag may stand among the attributes */
    return key_add_bytes(key, old->tail.p, old->tail.len)
               ? fail(DREP_ERR_LIMIT, "a key of %zu bytes is too long", key->len + old->tail.len)
               : 0;
}

/* Chunks of the dimensions behind the first of a run's suffix were at most this. */
#define SUFFIX_MOST ((uint64_t)1 << 32)

/* The number of dimensions that rows count over, which draft 4 computed. */
static uint8_t suffix_of(const uint64_t *max, const uint64_t *chunk, int rank)
{
    uint64_t product = 1;
    int d = rank - 1;

    for (; d > 0 && max[d] != FMT_UNLIMITED; d--) {
        uint64_t n = max[d] && chunk[d] ? (max[d] - 1) / chunk[d] + 1 : 1;

        if (n > SUFFIX_MOST / product)
            break;
        product *= n;
    }
    return (uint8_t)(rank > 0 ? rank - d : 0);
}

static uint64_t copy_var(struct in *in, struct out *out)
{
    uint64_t v = in_var(in);

    out_var(out, v);
    return v;
}

/* Behind flags, hard links and attributes of a dataset: {var type, u8 representation, u8 layout, u8
 * rank, lengths, maxima, dimensions, chunk lengths, rest}. */
static void translate_dataset(const struct upgrade *u, struct in *in, uint8_t flags,
                              struct out *out)
{
    uint64_t max[FMT_RANK_MAX] = {0}, chunk[FMT_RANK_MAX] = {0};
    uint8_t layout, rank;

    out_var(out, u->slot.sequence); /* the last change: none after the commit that is read */
    copy_var(in, out);
    out_var(out, in_u8(in));
    layout = in_u8(in);
    rank = in_u8(in);
    out_u8(out, layout);
    out_u8(out, rank);
    if (rank > FMT_RANK_MAX)
        rank = 0; /* a null dataspace, or refused later */
    for (int d = 0; d < rank; d++)
        max[d] = copy_var(in, out);
    for (int d = 0; flags & 1 && d < rank; d++)
        max[d] = copy_var(in, out);
    for (int d = 0; flags & 2 && d < rank; d++)
        copy_var(in, out);
    if (layout != FMT_CHUNKED)
        return;
    for (int d = 0; d < rank; d++)
        chunk[d] = copy_var(in, out);
    out_u8(out, suffix_of(max, chunk, rank));
}

/* A group, a dataset, a named datatype or a dimension. */
static void upgrade_object(const struct upgrade *u, struct in *in, struct out *out)
{
    uint8_t kind = in_u8(in), flags = in_u8(in);

    out_u8(out, kind);
    out_u8(out, flags);
    copy_var(in, out);
    copy_var(in, out);
    if (kind == FMT_DATASET && !(flags & FMT_FLAGS_MEAN & ~OLD_DATASET_FLAGS))
        translate_dataset(u, in, flags, out);
}

/* Flag bit 0 of a plain record said where its sums stand, which their number says. */
static void translate_chunk(struct in *in, struct out *out)
{
    uint8_t kind = in_u8(in), flags = in_u8(in);

    out_u8(out, kind);
    out_u8(out, kind == FMT_CHUNK_PLAIN ? flags & 0xfeu : flags);
}

/* {u8 kind, u8 flags, u16 n, name, u64 size, u64 head, i64 time}, behind which a text stands now.
 */
static void translate_target(struct in *in, struct out *out)
{
    uint16_t n;

    out_u8(out, in_u8(in));
    out_u8(out, in_u8(in));
    n = in_u16(in);
    out_u16(out, n);
    out_bytes(out, in_bytes(in, n), in->err ? 0 : n);
    for (int i = 0; i < 3; i++)
        out_u64(out, in_u64(in));
    out_u16(out, 0);
}

/* A record of chunks.  *value keeps the old one's bytes where nothing is to be changed. */
static int translate_chunks(struct upgrade *u, const struct old_key *key, struct span *value)
{
    const struct span object = {u->object.p, u->object.len};
    int err = key->object == u->object_id ? upgrade_streams(u->st, &object, value, &u->out) : 0;

    if (!err && u->out.len > 0)
        *value = (struct span){u->out.p, u->out.len};
    u->out.len = 0;
    return err;
}

/* A datatype record: wide integers. */
static int take_old_type(struct upgrade *u, const struct old_key *key, struct span *value)
{
    int err;

    if (key->object != FMT_OBJECT_FILE || key->apart)
        return 0;
    u->out.len = 0;
    err = upgrade_type(value, &u->out);
    *value = (struct span){u->out.p, u->out.len};
    return err;
}

/* Make an object whose filters are today's: streams are translated by what draft 4 said of them. */
static int translate_filters(struct upgrade *u, const struct old_key *key, struct span *value)
{
    int err = buf_set(&u->object, value->p, value->len);

    u->object_id = key->object;
    if (!err)
        err = buf_set(&u->out, value->p, value->len);
    if (err)
        return err;
    upgrade_filter_flags(u->out.p, u->out.len);
    *value = (struct span){u->out.p, u->out.len};
    return 0;
}

/* Today's value of an entry, in *value, which has draft 4's.  What a function leaves of it stays; a
 * value that is cut stays as it is, to be refused by its reader. */
static int upgrade_value(struct upgrade *u, const struct old_key *key, struct span *value)
{
    struct out out;
    struct in in;
    int err = 0;

    if (key->tag == FMT_TAG_OBJECT)
        err = translate_filters(u, key, value);
    else if (key->tag == FMT_TAG_CHUNK)
        err = translate_chunks(u, key, value);
    else if (key->tag == FMT_TAG_TYPE)
        return take_old_type(u, key, value);
    else if (key->tag != FMT_TAG_FILES)
        return 0;
    if (err)
        return err;
    in_init(&in, value->p, value->len);
    buf_out(&u->fields, &out);
    if (key->tag == FMT_TAG_OBJECT)
        upgrade_object(u, &in, &out);
    else if (key->tag == FMT_TAG_CHUNK)
        translate_chunk(&in, &out);
    else
        translate_target(&in, &out);
    if (!in.err)
        out_bytes(&out, in.p + in.at, in_left(&in));
    err = buf_done(&u->fields, &out);
    if (!err && !in.err)
        *value = (struct span){u->fields.p, u->fields.len};
    return err;
}

/* ---- the entries of a commit ---- */

static int refuse_node(const struct old_node *n, const char *why)
{
    uint64_t at = n->offset + n->in.last;

    return fail_byte(DREP_ERR_FORMAT, at, "draft 4: node at byte %llu: %s at byte %llu",
                     (unsigned long long)n->offset, why, (unsigned long long)at);
}

/* Read a node; level -1: any. */
static int old_node_read(struct upgrade *u, const struct ref *ref, int level, struct old_node *n)
{
    struct block_head head;
    int err = block_ref_check(u->st, ref, FMT_NODE);

    if (!err)
        err = block_read(u->st, u->st->io, ref, n->block);
    if (!err)
        err = block_check(u->st, ref, FMT_NODE, level, n->block, &head);
    if (err)
        return err;
    in_init(&n->in, n->block, ref->length);
    in_bytes(&n->in, FMT_BLOCK_HEAD);
    n->offset = ref->offset;
    n->level = head.level;
    n->left = head.count;
    n->key.len = 0;
    return 0;
}

/* Take the next entry of a node, with its key in n->key. */
static int old_node_next(struct old_node *n, struct entry *e)
{
    if (entry_get(&n->in, e))
        return refuse_node(n, n->in.why ? n->in.why : "an entry reaches beyond it (R4.9)");
    if (e->shared > n->key.len)
        return refuse_node(n, "a key shares more bytes than there are (R4.10)");
    if (n->level && (e->far || e->value_len != FMT_REF_SIZE))
        return refuse_node(n, "an entry of an interior node is not a reference (R4.15)");
    memcpy(n->key.p + e->shared, e->suffix, e->suffix_len);
    n->key.len = (size_t)e->shared + e->suffix_len;
    n->left--;
    return n->left == 0 && in_left(&n->in)
               ? refuse_node(n, "bytes after the last entry of a node (R4.9)")
               : 0;
}

static int ref_of(const struct old_node *n, const struct entry *e, struct ref *ref)
{
    struct in in;

    in_init(&in, e->value, e->value_len);
    ref_get(&in, ref);
    return in.err || !ref->length ? refuse_node(n, "impossible reference (R4.1)") : 0;
}

/* Keys ascend over the whole tree, so no leaf is taken twice, and references that go in circles
 * end. */
static int take_old_entry(struct upgrade *u, const struct old_node *n, const struct entry *e,
                          old_entry_fn *fn)
{
    const struct key *k = &n->key;
    struct span value = {e->value, e->value_len};
    struct old_key key;
    struct ref ref = {0, 0, 0};
    int err;

    if (k->len < 9)
        return refuse_node(n, "a key is too short (R4.18)");
    if (u->last.len && key_compare(u->last.p, u->last.len, k->p, k->len) >= 0)
        return refuse_node(n, "keys are not in ascending order (R4.12)");
    u->last.len = k->len;
    memcpy(u->last.p, k->p, k->len);
    if (e->far) {
        err = ref_of(n, e, &ref);
        if (!err)
            err = block_load(u->st, &ref, FMT_VALUE, &u->far, NULL);
        if (err)
            return err;
        value = (struct span){u->far.p, u->far.len};
    }
    key.object = load_u64(k->p) & ~(UINT64_C(1) << 63);
    key.apart = (k->p[0] & 0x80) != 0;
    key.tag = k->p[8];
    key.tail = (struct span){k->p + 9, k->len - 9};
    err = fn(u, &key, &value);
    return err > 0 ? fail_in(err, "draft 4: entry at byte %llu",
                             (unsigned long long)(n->offset + n->in.last))
                   : err;
}

/* Call fn for all entries below the root, in the order of their keys. */
static int walk_entries(struct upgrade *u, const struct ref *root, old_entry_fn *fn)
{
    struct old_node *n = u->node;
    int err = old_node_read(u, root, -1, n);

    u->last.len = 0;
    while (!err) {
        struct ref ref = {0, 0, 0};
        struct entry e = {.far = 0};

        if (n->left == 0) {
            if (n == u->node)
                return 0;
            n--;
            continue;
        }
        err = old_node_next(n, &e);
        if (!err && n->level == 0) {
            err = take_old_entry(u, n, &e, fn);
        } else if (!err && !(err = ref_of(n, &e, &ref))) {
            err = old_node_read(u, &ref, n->level - 1, n + 1);
            n++;
        }
    }
    return err == ENOUGH ? 0 : err;
}

/* Free space and earlier commits belong to the old file alone. */
static int upgrade_entry(struct upgrade *u, const struct old_key *key, const struct span *old)
{
    struct span value = *old;
    struct key to;
    int err;

    if (key->object == FMT_OBJECT_FILE && (key->tag == FMT_TAG_FREE || key->tag == FMT_TAG_LOG))
        return 0;
    err = translate_key(key, &to);
    if (!err)
        err = upgrade_value(u, key, &value);
    return err ? err : tree_put(u->st, &to, value.p, value.len);
}

/* ---- which commit ---- */

/* Reads a file, and makes whole slots of draft 4 slots of today. */
struct old_slots {
    struct io io;
    struct io *base;
    int old, others; /* slots of draft 4, and of other versions, that were met */
};

static void meet_slot(struct old_slots *s, uint8_t bytes[FMT_SLOT_SIZE])
{
    struct slot slot;
    const char *why;

    if (slot_get(&slot, bytes, 0, &why) != SLOT_VALID)
        return;
    if (slot.major != 0 || slot.minor != FMT_UPGRADED) {
        s->others++;
        return;
    }
    s->old++;
    translate_slot(bytes);
}

static int old_slots_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    struct old_slots *s = (struct old_slots *)io;
    int err = s->base->ops->read_at(s->base, buf, size, offset);

    for (size_t at = 0; !err && at + FMT_SLOT_SIZE <= size; at += FMT_SLOT_SIZE)
        meet_slot(s, (uint8_t *)buf + at);
    return err;
}

static int old_slots_size(struct io *io, uint64_t *size)
{
    struct old_slots *s = (struct old_slots *)io;

    return s->base->ops->size(s->base, size);
}

static int read_old_slots(struct io *base, struct slots *slots, bool *old)
{
    static const struct io_ops ops = {.read_at = old_slots_read, .size = old_slots_size};
    struct old_slots s = {.io = {.ops = &ops, .path = base->path}, .base = base};
    int err = slots_read(&s.io, slots);

    *old = s.old > 0 && s.others == 0;
    return err;
}

bool upgrade_needed(struct io *io)
{
    struct fail_state why;
    struct slots slots = {0};
    bool old = false;

    fail_save(&why);
    if (read_old_slots(io, &slots, &old))
        old = false;
    fail_restore(&why);
    return old;
}

/* A LOG value: {i64 time, u64 end, reference to the root, u64 next object}. */
static int find_logged(struct upgrade *u, const struct old_key *key, const struct span *value)
{
    struct in in;

    if (key->object != FMT_OBJECT_FILE)
        return ENOUGH;
    if (key->tag != FMT_TAG_LOG || key->tail.len < 8 || load_u64(key->tail.p) != u->sequence)
        return 0;
    in_init(&in, value->p, value->len);
    u->slot.time = in_i64(&in);
    u->slot.end = in_u64(&in);
    ref_get(&in, &u->slot.root);
    u->slot.next_object = in_u64(&in);
    if (in.err || !u->slot.root.length)
        return fail(DREP_ERR_FORMAT, "impossible entry of the log (R6.5)");
    u->slot.sequence = u->sequence;
    u->logged = true;
    return ENOUGH;
}

/* Choose the slot, and look at it with an empty tree. */
static int choose_slot(struct upgrade *u, struct io *base, uint64_t sequence)
{
    const struct overlay *file = (const struct overlay *)u->st->io;
    struct slots slots = {0};
    int which = 0, err;
    bool old;

    err = read_old_slots(base, &slots, &old);
    if (!err)
        err = slots_choose(&slots, sequence, &which, &u->st->txn->damaged);
    if (!err)
        err = slot_check(&slots.slot[which], slots.file_size, 0);
    if (err)
        return err;
    u->slot = slots.slot[which];
    u->sequence = sequence;
    store_begin_empty(u->st, &u->slot, file->end);
    if (u->slot.more.length)
        err = block_load(u->st, &u->slot.more, FMT_HEADER, &u->more, NULL);
    if (err || !sequence || u->slot.sequence == sequence)
        return err;
    err = sequence < u->slot.sequence ? walk_entries(u, &u->slot.root, find_logged) : 0;
    if (!err && !u->logged)
        err = log_lacks(sequence, u->slot.sequence);
    if (!err)
        store_begin_empty(u->st, &u->slot, file->end);
    return err;
}

/* ---- all of it ---- */

/* Lock all commits: draft 4's writers, who know this byte, reuse no space of one. */
static int lock_commits(struct io *io, const struct store_opts *opts)
{
    int err = opts->lock && io->ops->lock ? io->ops->lock(io, FMT_LOCK_READERS, 1, 1) : 0;

    return err == DREP_ERR_UNSUPPORTED_OPERATION ? 0 : err;
}

static int upgrade_store(struct store *st, struct io *base, uint64_t sequence)
{
    struct upgrade *u = mem_zalloc(1, sizeof(*u)); /* nodes are too large for a stack */
    int err = u ? lock_commits(base, &st->opts) : DREP_ERR_NOMEM;

    if (!err) {
        u->st = st;
        err = choose_slot(u, base, sequence);
    }
    if (!err)
        err = translate_header(u);
    if (!err)
        err = walk_entries(u, &u->slot.root, upgrade_entry);
    if (!err)
        err = snapshot_sum(st, &st->txn->fixed);
    touched_clear(st);
    st->slot.sequence++; /* of the blocks of the new tree */
    st->writable = false;
    st->locked = 1;
    if (u) {
        buf_release(&u->far);
        buf_release(&u->more);
        buf_release(&u->object);
        buf_release(&u->out);
        buf_release(&u->fields);
    }
    mem_free(u);
    return err;
}

int store_upgrade(struct io *io, const struct store_opts *opts, struct store **out)
{
    struct store *st;
    struct io *over;
    int err = overlay_new(io, &over);

    if (err)
        return err;
    err = store_new(over, opts, &st);
    if (err) {
        over->ops->close(over);
        return err;
    }
    err = upgrade_store(st, io, opts->commit);
    if (err)
        store_close(st);
    else
        *out = st;
    return err;
}
