/* slots.c - reading the two header slots, and choosing the one in force.
 *
 * A reader may see a slot that is being written: its checksum is wrong for a moment.  So a damaged
 * slot is evidence only when no writer is at work (txn/snapshot.c waits for that). */
/* SPDX-License-Identifier: MIT */
#include "space/slots.h"

#include "base/error.h"
#include "base/mem.h"
#include "space/fetch.h"

#include <string.h>

/* ---- the slot at the end ---- */

static bool at_end(const struct slots *s)
{
    return s->state[0] == SLOT_VALID && slot_is_ours(&s->slot[0]) && !slot_refused(&s->slot[0]) &&
           s->slot[0].incompatible & FMT_AT_END;
}

/* Read the slot at the end of the file, which must say that it stands there; gives 0 if it does
 * not.  One of another version is refused by that, so it is given, too, and so is one that breaks
 * another rule: *why. */
static int end_slot(struct io *io, const struct slots *s, struct slot *slot, const char **why)
{
    uint8_t bytes[FMT_SLOT_SIZE];

    if (s->file_size < FMT_SPACE_START + sizeof(bytes) ||
        io->ops->read_at(io, bytes, sizeof(bytes), s->file_size - sizeof(bytes)))
        return 0;
    if (slot_get(slot, bytes, 0, why) != SLOT_VALID)
        return 0;
    if (!slot_is_ours(slot))
        return 1;
    return slot->incompatible & FMT_AT_END && slot->sequence == 1 && slot->root.length &&
           slot->end == s->file_size - sizeof(bytes) &&
           (!at_end(s) || memcmp(slot->uuid, s->slot[0].uuid, sizeof(slot->uuid)) == 0);
}

/* Where slot A refers to the end of the file, or no slot is valid, the slot at the end counts. */
static void look_at_end(struct io *io, struct slots *s)
{
    struct fail_state said;
    const char *why = NULL;
    struct slot slot;

    if (s->state[1] == SLOT_VALID || (s->state[0] == SLOT_VALID && !at_end(s)))
        return;
    fail_save(&said);
    if (end_slot(io, s, &slot, &why)) {
        s->damaged = s->state[0] != SLOT_VALID;
        s->slot[0] = slot;
        s->state[0] = SLOT_VALID;
        s->why[0] = why;
    } else if (at_end(s)) {
        s->cut = 1;
        s->state[0] = SLOT_DAMAGED;
        s->why[0] = "the state stands at the end of the file, which is missing (R2.20)";
    }
    fail_restore(&said);
}

/* What a stream begins with. */
int slots_begin_stream(struct store *st)
{
    struct slot front = {.major = FMT_MAJOR, .minor = FMT_MINOR, .sequence = 1};
    uint8_t bytes[FMT_SLOT_SIZE];
    int err;

    memcpy(front.uuid, st->slot.uuid, sizeof(front.uuid));
    front.incompatible = FMT_AT_END;
    slot_put(bytes, &front);
    err = st->io->ops->write_at(st->io, bytes, sizeof(bytes), 0);
    return err ? err : st->io->ops->settle(st->io, FMT_SPACE_START);
}

/* ---- writing a slot ---- */

/* True if these bytes are not in the file, although some of them may be. */
static bool is_missing(struct store *st, const uint8_t *bytes, uint64_t at)
{
    uint8_t there[FMT_SLOT_SIZE];
    struct fail_state why;
    bool missing;

    fail_save(&why);
    missing = st->io->ops->read_at(st->io, there, sizeof(there), at) == 0 &&
              memcmp(there, bytes, sizeof(there)) != 0;
    fail_restore(&why);
    return missing;
}

/* Slot B of a file that is new has zeros, not a hole: it needs space before the first commit is
 * there, and none later. */
static int make_empty(struct store *st)
{
    static const uint8_t zeros[FMT_SLOT_SIZE];

    return st->io->ops->write_at(st->io, zeros, sizeof(zeros), FMT_SLOT_SIZE);
}

int slots_write(struct store *st, const struct slot *slot)
{
    uint64_t at = slot->sequence % 2 ? 0 : FMT_SLOT_SIZE;
    uint8_t bytes[FMT_SLOT_SIZE];
    int err = st->slot.sequence == 0 ? make_empty(st) : 0;

    if (err)
        return err;
    slot_put(bytes, slot);
    err = st->io->ops->write_at(st->io, bytes, sizeof(bytes), at);
    if (err && (err != DREP_ERR_NO_SPACE || !is_missing(st, bytes, at)))
        st->failed = "the header slot could not be written; its contents are unknown";
    return err;
}

/* The writer of the newest slot may have been killed before its last sync.  If that slot were lost,
 * the file would be the commit before, which keeps commits whose space is about to be used. */
static int secure_newest(struct store *st)
{
    int err = st->opts.sync ? st->io->ops->sync(st->io) : 0;

    if (err)
        st->failed = "a sync failed; what reached the disk is unknown";
    return err;
}

/* A crash before the sync leaves the slot at the end, which nothing has overwritten yet. */
int slots_secure(struct store *st)
{
    struct slot slot = st->slot;
    int err;

    if (!(slot.incompatible & FMT_AT_END))
        return secure_newest(st);
    slot.incompatible &= ~FMT_AT_END;
    err = slots_write(st, &slot);
    if (err)
        return err;
    if (st->opts.sync)
        err = st->io->ops->sync(st->io);
    if (!err)
        err = st->io->ops->truncate(st->io, slot.end);
    if (err) {
        st->failed = "header slot A could not be written; its contents are unknown";
        return err;
    }
    st->slot = slot;
    return 0;
}

/* ---- both slots ---- */

#define SLOTS_SIZE ((size_t)2 * FMT_SLOT_SIZE)

/* Decode both slots of a file of this size. */
static int slots_set(struct io *io, struct slots *s, const uint8_t *bytes, uint64_t size)
{
    for (int i = 0; i < 2; i++)
        s->state[i] = slot_get(&s->slot[i], bytes + i * FMT_SLOT_SIZE, i, &s->why[i]);
    if (s->state[0] == SLOT_VALID && s->state[1] == SLOT_VALID && slot_is_ours(&s->slot[0]) &&
        slot_is_ours(&s->slot[1]) && memcmp(s->slot[0].uuid, s->slot[1].uuid, 16) != 0) {
        s->state[0] = s->state[1] = SLOT_DAMAGED;
        s->why[0] = s->why[1] = "the two slots belong to different files (R2.6)";
    }
    if (size < SLOTS_SIZE && memcmp(bytes, fmt_slot_magic, sizeof(fmt_slot_magic)) == 0)
        return fail_byte(DREP_ERR_TRUNCATE, size, "truncated: the file ends at byte %llu (R2.13)",
                         (unsigned long long)size);
    s->file_size = size;
    s->damaged = s->cut = 0;
    look_at_end(io, s);
    return 0;
}

/* Both slots as they stand in the file; what is behind the file's end counts as zeros. */
int slots_read(struct io *io, struct slots *s)
{
    uint8_t bytes[SLOTS_SIZE] = {0};
    uint64_t size;
    int err = io->ops->size(io, &size);

    if (!err)
        err = io->ops->read_at(io, bytes, size < SLOTS_SIZE ? (size_t)size : SLOTS_SIZE, 0);
    return err ? err : slots_set(io, s, bytes, size);
}

int slots_read_first(struct store *st, struct slots *s)
{
    uint8_t bytes[SLOTS_SIZE];
    struct fetched *front;
    uint64_t size;
    int err;

    if (!fetch_on(st) || st->io->first <= SLOTS_SIZE)
        return slots_read(st->io, s);
    err = st->io->ops->size(st->io, &size);
    if (err)
        return err;
    front = fetch_front(st, size < st->io->first ? (size_t)size : st->io->first);
    if (!fetch_copy(front, bytes, SLOTS_SIZE)) {
        mem_free(front);
        return slots_read(st->io, s);
    }
    fetch_insert(st, front);
    return slots_set(st->io, s, bytes, size);
}

static int refuse_slots(const struct slots *s)
{
    if (s->cut)
        return fail(DREP_ERR_TRUNCATE,
                    "truncated: the file was written as a stream, and the header slot at its end "
                    "is missing (R2.20)");
    for (int i = 0; i < 2; i++) {
        if (s->state[i] == SLOT_DAMAGED)
            return fail(DREP_ERR_CHECKSUM, "no valid header slot; slot %c: %s (R2.5)", 'A' + i,
                        s->why[i]);
    }
    return fail(DREP_ERR_NOT_DREP, "not a Datarep file");
}

static int newest_of(const struct slots *s)
{
    int newest = -1;

    for (int i = 0; i < 2; i++) {
        if (s->state[i] == SLOT_VALID &&
            (newest < 0 || s->slot[i].sequence > s->slot[newest].sequence))
            newest = i;
    }
    return newest;
}

int refuse_version(const struct slot *slot)
{
    static const char read[] = "this library reads versions 1.x from 1.1 on, and draft 5 (R2.4)";

    _Static_assert(FMT_DRAFT == 5, "the message names it");
    if (slot->major > 1)
        return fail(DREP_ERR_VERSION,
                    "written in version %u.%u of the format, for which it takes a newer version of "
                    "this library; %s",
                    slot->major, slot->minor, read);
    return fail(DREP_ERR_VERSION,
                "written in draft %u of the format%s, which is not read any more: make the file "
                "again from its source; %s",
                slot->major == 1 ? 1 : slot->minor,
                slot->major == 1 ? ", which called itself 1.0" : "", read);
}

/* Report a feature that this version does not know, and who wrote the slot. */
static int refuse_feature(const struct slot *slot, const char *needs, uint64_t unknown,
                          const char *rule)
{
    char maker[SLOT_MAKER];

    slot_maker(slot, maker);
    return fail(DREP_ERR_UNSUPPORTED,
                "%s feature %d, which is unknown; written by %s%sversion "
                "%u.%u of the format (%s)",
                needs, __builtin_ctzll(unknown), maker, maker[0] ? " in " : "", slot->major,
                slot->minor, rule);
}

static int refuse_features(const struct slots *s, int which)
{
    uint64_t unknown = s->slot[which].incompatible & ~FMT_INCOMPATIBLE;

    if (!unknown)
        return fail(DREP_ERR_FORMAT, "header slot %c: %s", 'A' + which, s->why[which]);
    return refuse_feature(&s->slot[which], "needs", unknown, "R2.8");
}

/* The slot in force, or the one of this commit if it is there; and which one is damaged. */
int slots_choose(const struct slots *s, uint64_t sequence, int *which, int *damaged)
{
    int newest = newest_of(s), other = 1 - newest;

    for (int i = 0; i < 2; i++) {
        if (s->state[i] == SLOT_VALID && !slot_is_ours(&s->slot[i]))
            return refuse_version(&s->slot[i]);
    }
    for (int i = 0; i < 2; i++) {
        if (s->state[i] == SLOT_VALID && slot_refused(&s->slot[i]))
            return refuse_features(s, i);
    }
    if (newest < 0)
        return refuse_slots(s);
    *damaged = s->damaged;
    /* Only the first commit has an empty slot beside it. */
    if (s->state[other] != SLOT_VALID &&
        (s->state[other] != SLOT_EMPTY || s->slot[newest].sequence > 1))
        *damaged = 1 + other;
    *which = newest;
    if (s->state[other] == SLOT_VALID && s->slot[other].sequence == sequence &&
        !slot_at_end(&s->slot[other]))
        *which = other;
    /* The checksum is right, so this is what the writer wrote: the file is malformed, not
     * damaged. */
    if (s->why[*which] && s->slot[*which].incompatible & FMT_AT_END)
        return fail(DREP_ERR_FORMAT, "header slot at the end: %s", s->why[*which]);
    if (s->why[*which])
        return fail(DREP_ERR_FORMAT, "header slot %c: %s", 'A' + *which, s->why[*which]);
    return 0;
}

int slot_known(const struct slot *slot)
{
    return slot->write_incompatible
               ? refuse_feature(slot, "can only be read: it has", slot->write_incompatible, "R2.9")
               : 0;
}

int slot_check(const struct slot *slot, uint64_t file_size, int write)
{
    int err = write ? slot_known(slot) : 0;

    if (err)
        return err;
    if (write && slot->sequence >= FMT_SIZE_MAX - 1)
        return fail(DREP_ERR_LIMIT, "no sequence numbers left");
    if (slot->end > file_size)
        return fail(DREP_ERR_TRUNCATE, "truncated: %llu bytes of %llu are there (R2.13)",
                    (unsigned long long)file_size, (unsigned long long)slot->end);
    return 0;
}

bool slots_hold(const struct slots *s, uint64_t sequence)
{
    for (int i = 0; i < 2; i++) {
        if (s->state[i] == SLOT_VALID && s->slot[i].sequence == sequence)
            return true;
    }
    return false;
}

bool slots_damaged(const struct slots *s)
{
    return (s->state[0] != SLOT_VALID && s->state[0] != SLOT_EMPTY) ||
           (s->state[1] != SLOT_VALID && s->state[1] != SLOT_EMPTY);
}

/* Check whether the writer has overwritten an unlocked snapshot in which a read failed: then its
 * commit is in no slot any more. */
static int passed(struct store *st, int err)
{
    struct fail_state why;
    struct slots s = {0};
    int stale;

    fail_save(&why);
    stale = slots_read(st->io, &s) == 0 && !slots_hold(&s, st->slot.sequence) &&
            (s.state[0] == SLOT_VALID || s.state[1] == SLOT_VALID);
    fail_restore(&why);
    return stale ? fail_in(DREP_ERR_STALE, "the snapshot was overwritten by the writer") : err;
}

int store_stale(struct store *st, int err)
{
    if (st->writable || st->locked ||
        (err != DREP_ERR_CHECKSUM && err != DREP_ERR_FORMAT && err != DREP_ERR_TRUNCATE))
        return err;
    return passed(st, err);
}
