/* blocking.c - files whose records are framed in a way that is not read: what they look like.
 *
 * Each framing is followed from the first record to the end of the file, or through the first
 * RECORDS_MOST; every length and mark on the way must be as the framing has it. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/blocking.h"
#include "tools/host/fullio.h"
#include <stdbool.h>
#include <stddef.h>

#define RECORDS_MOST 100000

struct tape {
    int fd;
    int64_t size;
};

/* `size` bytes at `at`. */
static bool tape_peek(const struct tape *t, int64_t at, unsigned char *p, size_t size)
{
    return at <= t->size - (int64_t)size && full_read(t->fd, p, size, at) == (ssize_t)size;
}

static uint32_t little(const unsigned char *p, int n)
{
    uint32_t value = 0;

    while (n-- > 0)
        value = value << 8 | p[n];
    return value;
}

/* SIMH's .tap: the length before and after each record, whose bytes are padded to an even number;
 * a length of 0 alone is a tape mark, and one of ones the end of the medium. */
static bool is_simh(const struct tape *t)
{
    int64_t at = 0, records = 0, marks = 0;
    unsigned char p[4];
    uint32_t length;

    for (; at < t->size && records + marks < RECORDS_MOST; at += 4) {
        if (!tape_peek(t, at, p, 4))
            return false;
        length = little(p, 4);
        if (length == UINT32_MAX)
            break;
        marks += length == 0;
        if (length == 0)
            continue;
        at += 4 + (int64_t)(length & 0xffffff) + (length & 1);
        if (length >> 24 || !tape_peek(t, at, p, 4) || little(p, 4) != length)
            return false;
        records++;
    }
    return records > 0 && marks > 0;
}

/* AWSTAPE: a header of 6 bytes before each block with its length and that of the one before. */
static bool is_awstape(const struct tape *t)
{
    enum { BEGINS = 0x80, MARK = 0x40, ENDS = 0x20 };
    uint32_t length, before = 0;
    int64_t at = 0, records = 0;
    unsigned char p[6];

    for (; at < t->size && records < RECORDS_MOST; records++) {
        if (!tape_peek(t, at, p, 6) || little(p + 2, 2) != before || p[4] & ~(BEGINS | MARK | ENDS))
            return false;
        length = little(p, 2);
        if ((p[4] & MARK ? length != 0 : length == 0 || !(p[4] & (BEGINS | ENDS))))
            return false;
        before = length;
        at += 6 + (int64_t)length;
    }
    return records > 1 && at == t->size;
}

/* Cray's COS: blocks of 512 words, each of which begins with a control word that has its number. */
static bool is_cos(const struct tape *t)
{
    enum { BLOCK = 4096 };
    unsigned char p[8];
    int64_t k, blocks = t->size / BLOCK;

    if (blocks == 0 || t->size % BLOCK)
        return false;
    for (k = 0; k < blocks && k < RECORDS_MOST; k++) {
        uint64_t word = 0, forward;

        if (!tape_peek(t, k * BLOCK, p, 8))
            return false;
        for (int i = 0; i < 8; i++)
            word = word << 8 | p[i];
        forward = word & 0x1ff;
        if (word >> 60 || (word >> 9 & 0xffffff) != (uint64_t)k)
            return false;
        /* The next control word, if it is in this block, ends a record, a file or the data. */
        if (forward < 511 && (!tape_peek(t, k * BLOCK + 8 * (int64_t)(forward + 1), p, 1) ||
                              (p[0] >> 4 != 8 && p[0] >> 4 != 14 && p[0] >> 4 != 15)))
            return false;
    }
    return true;
}

/* OpenVMS: two bytes of length before each record, which begins at an even byte. */
static bool is_vms(const struct tape *t)
{
    enum { BLOCK = 512, NONE = 0xffff };
    int64_t at = 0, records = 0;
    unsigned char p[2];
    uint32_t length;

    for (; at < t->size && records < RECORDS_MOST; records++) {
        if (!tape_peek(t, at, p, 2))
            return false;
        length = little(p, 2);
        if (length == NONE) { /* no other record in this block */
            at += BLOCK - at % BLOCK;
            continue;
        }
        if (length > 32767)
            return false;
        at += 2 + (int64_t)length + (length & 1);
        if (at > t->size + 1)
            return false;
    }
    return records > 1;
}

const char *blocking_of(int fd, int64_t size)
{
    const struct tape t = {fd, size};

    if (is_simh(&t))
        return "a tape image of SIMH (.tap), with tape marks between its blocks";
    if (is_awstape(&t))
        return "a tape image of the form AWSTAPE, with a header before each block";
    if (is_cos(&t))
        return "COS-blocked, as Cray machines wrote it: control words in blocks of 4096 bytes";
    if (is_vms(&t))
        return "in variable-length records of OpenVMS (RMS): two bytes of length before each";
    return NULL;
}
