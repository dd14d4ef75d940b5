/* slot.h - references, and the two header slots, which name the state of a file. */
/* SPDX-License-Identifier: MIT */
#ifndef FORMAT_SLOT_H
#define FORMAT_SLOT_H

#include "format/in.h"
#include "format/out.h"

struct ref {
    uint64_t offset;
    uint32_t length; /* 0: none */
    uint64_t checksum;
};
/* Read a reference: none, or a multiple of 64 beyond the slots with the length of a block header
 * at least. The caller checks that it ends within the file. */
void ref_get(struct in *in, struct ref *r);
void ref_put(struct out *out, const struct ref *r);

struct slot {
    uint16_t major, minor;
    uint64_t sequence;
    uint8_t uuid[16];
    uint64_t incompatible, write_incompatible, compatible;
    uint64_t end;
    int64_t time;
    struct ref root, pending, more;
    uint64_t meta_offset, meta_length;
    uint64_t next_object;
    uint32_t next_type;
    uint32_t header_size;
    uint8_t header[FMT_SLOT_HEADER_MAX];
};
/* True if this library reads the slot: one of any version 1.x from 1.1 on, or of the last draft. */
static inline bool slot_is_ours(const struct slot *s)
{
    return s->major == 0 ? s->minor == FMT_DRAFT : s->major == 1 && s->minor > 0;
}
/* Raise the version of a slot to the one that defined all records which this library writes, so
 * that the last draft becomes 1.1 with the first commit to the file.  A higher version stays: the
 * file may have what only that version knows. */
static inline void slot_raise(struct slot *s)
{
    if (s->major > FMT_MAJOR || (s->major == FMT_MAJOR && s->minor > FMT_MINOR))
        return;
    s->major = FMT_MAJOR;
    s->minor = FMT_MINOR;
}
/* True for the slot at the start of a file whose state stands at the end. */
static inline bool slot_at_end(const struct slot *s)
{
    return s->incompatible & FMT_AT_END && !s->root.length;
}
/* True if the features of a whole slot refuse the file, also where the other slot is in force. */
static inline bool slot_refused(const struct slot *s)
{
    return s->incompatible & ~FMT_INCOMPATIBLE ||
           (s->incompatible & FMT_AT_END && s->sequence != 1);
}
extern const uint8_t fmt_slot_magic[8]; /* with which a slot begins */
enum slot_state { SLOT_EMPTY, SLOT_VALID, SLOT_DAMAGED, SLOT_FOREIGN /* no magic */ };
/* Decode a slot. which: 0 or 1, its place (parity of the sequence). Nothing after the version is
 * read when the version is not ours: state VALID, slot_is_ours() says so; nor references and
 * lengths when an incompatible feature is set, but the header proper, for slot_maker(). *why says
 * what is wrong, else is NULL. A VALID slot with a *why has the right sum but impossible fields: if
 * it is the one in force, the file is malformed. */
enum slot_state slot_get(struct slot *out, const uint8_t bytes[FMT_SLOT_SIZE], int which,
                         const char **why);
void slot_put(uint8_t bytes[FMT_SLOT_SIZE], const struct slot *slot);
/* The text of the WRITER record in a slot's part of the header proper, or none: for messages, also
 * about a slot that cannot be read. */
#define SLOT_MAKER 128
void slot_maker(const struct slot *slot, char text[SLOT_MAKER]);

#endif
