/* slot.c - the two header slots, which name the state of a file.
 *
 * Commits alternate between the slots: the older one is overwritten, so one of the two is whole
 * at any moment, and the valid one with the higher sequence is in force. */
/* SPDX-License-Identifier: MIT */
#include "format/header.h"

const uint8_t fmt_slot_magic[8] = {0x89, 0x44, 0x52, 0x50, 0x0d, 0x0a, 0x1a, 0x0a};

#define HEADER_AT 256
#define RESERVED 88
#define SUM_AT 4088

static int all_zero(const uint8_t *p, size_t n)
{
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static bool inside(uint64_t offset, uint64_t length, uint64_t end)
{
    return offset >= FMT_SPACE_START && offset <= end && length <= end - offset;
}

static bool ref_inside(const struct ref *r, uint64_t end)
{
    return !r->length || inside(r->offset, r->length, end);
}

/* Check the fields of a slot of our version whose sum is right. Returns what is wrong, or NULL. */
static const char *slot_doubt(const struct slot *s)
{
    if (slot_at_end(s))
        return NULL;
    if (s->header_size > FMT_SLOT_HEADER_MAX)
        return "its header proper is too long (R2.11)";
    if (s->end < FMT_SPACE_START || s->end > FMT_SIZE_MAX)
        return "its end of allocated space is impossible (R2.13)";
    if (!s->root.length)
        return "it names no root (R2.15)";
    if (!ref_inside(&s->root, s->end))
        return "its root lies outside the file (R2.14)";
    if (!ref_inside(&s->pending, s->end))
        return "its pending list lies outside the file (R2.14)";
    if (!ref_inside(&s->more, s->end))
        return "its header continuation lies outside the file (R2.14)";
    if (s->meta_offset ? !inside(s->meta_offset, s->meta_length, s->end) : s->meta_length != 0)
        return "its metadata extent lies outside the file (R2.16)";
    return NULL;
}

static void slot_fields(struct in *in, struct slot *s)
{
    s->header_size = in_u32(in);
    s->sequence = in_u64(in);
    memcpy(s->uuid, in_bytes(in, 16), 16);
    s->incompatible = in_u64(in);
    s->write_incompatible = in_u64(in);
    s->compatible = in_u64(in);
    s->end = in_u64(in);
    s->time = in_i64(in);
    ref_get(in, &s->root);
    ref_get(in, &s->pending);
    ref_get(in, &s->more);
    s->meta_offset = in_u64(in);
    s->meta_length = in_u64(in);
    s->next_object = in_u64(in);
    s->next_type = in_u32(in);
}

enum slot_state slot_get(struct slot *out, const uint8_t bytes[FMT_SLOT_SIZE], int which,
                         const char **why)
{
    struct slot t;
    struct in in;

    *why = NULL;
    if (all_zero(bytes, FMT_SLOT_SIZE))
        return SLOT_EMPTY;
    if (memcmp(bytes, fmt_slot_magic, sizeof(fmt_slot_magic)) != 0) {
        *why = "its magic is wrong (R2.1)";
        return SLOT_FOREIGN;
    }
    if (sum_of(bytes, SUM_AT) != load_u64(bytes + SUM_AT)) {
        *why = "its checksum is wrong (R2.1)";
        return SLOT_DAMAGED;
    }
    memset(&t, 0, sizeof(t));
    in_init(&in, bytes, FMT_SLOT_SIZE);
    in_bytes(&in, sizeof(fmt_slot_magic));
    t.major = in_u16(&in);
    t.minor = in_u16(&in);
    if (!slot_is_ours(&t)) {
        *out = t;
        return SLOT_VALID;
    }
    slot_fields(&in, &t);
    if (slot_refused(&t)) {
        if (!(t.incompatible & ~FMT_INCOMPATIBLE)) /* else the refusal names the feature */
            *why = "only the first commit can stand at the end of a file (R2.21)";
        t.header_size = t.header_size < FMT_SLOT_HEADER_MAX ? t.header_size : FMT_SLOT_HEADER_MAX;
        memcpy(t.header, bytes + HEADER_AT, t.header_size);
        *out = t;
        return SLOT_VALID;
    }
    if (t.sequence == 0 || t.sequence % 2 == (uint64_t)which || t.sequence >= FMT_SIZE_MAX) {
        *why = "its sequence number cannot be in this slot (R2.2)";
        return SLOT_DAMAGED;
    }
    *why = in.err ? in.why : slot_doubt(&t);
    if (t.header_size > FMT_SLOT_HEADER_MAX)
        t.header_size = 0;
    if (!*why && !all_zero(bytes + HEADER_AT + t.header_size, FMT_SLOT_HEADER_MAX - t.header_size))
        *why = "bytes after its header proper are not zero (R2.12)";
    memcpy(t.header, bytes + HEADER_AT, t.header_size);
    *out = t;
    return SLOT_VALID;
}

void slot_maker(const struct slot *slot, char text[SLOT_MAKER])
{
    struct span made;
    unsigned tag;
    struct in in;

    text[0] = '\0';
    in_init(&in, slot->header, slot->header_size);
    while (header_record_next(&in, &tag, &made)) {
        if (tag != FMT_HEADER_WRITER || made.len >= SLOT_MAKER || text_check(made.p, made.len) != 0)
            continue;
        memcpy(text, made.p, made.len);
        text[made.len] = '\0';
        return;
    }
}

void slot_put(uint8_t bytes[FMT_SLOT_SIZE], const struct slot *slot)
{
    struct out out;

    memset(bytes, 0, FMT_SLOT_SIZE);
    out_init(&out, bytes, FMT_SLOT_SIZE);
    out_bytes(&out, fmt_slot_magic, sizeof(fmt_slot_magic));
    out_u16(&out, slot->major);
    out_u16(&out, slot->minor);
    out_u32(&out, slot->header_size);
    out_u64(&out, slot->sequence);
    out_bytes(&out, slot->uuid, sizeof(slot->uuid));
    out_u64(&out, slot->incompatible);
    out_u64(&out, slot->write_incompatible);
    out_u64(&out, slot->compatible);
    out_u64(&out, slot->end);
    out_i64(&out, slot->time);
    ref_put(&out, &slot->root);
    ref_put(&out, &slot->pending);
    ref_put(&out, &slot->more);
    out_u64(&out, slot->meta_offset);
    out_u64(&out, slot->meta_length);
    out_u64(&out, slot->next_object);
    out_u32(&out, slot->next_type);
    out_zeros(&out, RESERVED);
    out_bytes(&out, slot->header, slot->header_size);
    out_zeros(&out, SUM_AT - out.at);
    out_u64(&out, sum_of(bytes, SUM_AT));
}
