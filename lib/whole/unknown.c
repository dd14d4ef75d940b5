/* unknown.c - entries and header records of unknown tags, which no copy takes. */
/* SPDX-License-Identifier: MIT */
#include "whole/unknown.h"

#include "tree/walk.h"

#include <stdio.h>

#define RECORDS_TOLD 100 /* header records told one by one: a header may have many */

/* Tags of entries, ascending. */
static const uint8_t known[] = {FMT_TAG_FREE,   FMT_TAG_LOG,   FMT_TAG_TYPE, FMT_TAG_FILES,
                                FMT_TAG_OBJECT, FMT_TAG_DATA,  FMT_TAG_LINK, FMT_TAG_DIM,
                                FMT_TAG_ATTR,   FMT_TAG_CHUNK, FMT_TAG_USER};

static bool tag_is_known(uint8_t tag)
{
    for (size_t i = 0; i < sizeof known; i++)
        if (known[i] == tag)
            return true;
    return false;
}

/* Count entries from `key` on whose keys begin with its first `prefix` bytes. */
static int count_from(struct unknown *u, drep_file *f, const struct key *from, size_t prefix)
{
    struct tree_walk w;
    struct key key;
    int err;

    tree_walk(&w, f->st, from, prefix);
    while (!(err = tree_next(&w, &key, NULL)))
        if (!tag_is_known(key_tag(key.p)))
            unknown_add(u, key_object(key.p), key_tag(key.p));
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* The file itself may have many free extents: between known tags there are few entries. */
int unknown_of_file(struct unknown *u, drep_file *f)
{
    struct key key;
    int err = 0;

    for (int tag = 0; !err && tag < 256; tag++) {
        key_make(&key, FMT_OBJECT_FILE, (uint8_t)tag);
        if (!tag_is_known((uint8_t)tag))
            err = count_from(u, f, &key, key.len);
        if (!err) {
            key_make(&key, FMT_OBJECT_FILE | FMT_APART, (uint8_t)tag);
            err = count_from(u, f, &key, key.len);
        }
    }
    return err;
}

int unknown_of_all(struct unknown *u, drep_file *f)
{
    struct key key;

    key_make(&key, FMT_OBJECT_FILE, 0);
    return count_from(u, f, &key, 0);
}

static int tell_records(const drep_file *f, unknown_fn *fn, void *ctx)
{
    uint64_t n = 0;
    char text[120];
    struct in in;
    int stop = 0;

    in_init(&in, f->header.unknown.p, f->header.unknown.len);
    while (!stop && in_left(&in)) {
        unsigned tag = in_u16(&in);

        in_bytes(&in, in_u32(&in));
        if (in.err)
            break;
        if (n++ >= RECORDS_TOLD)
            continue;
        snprintf(text, sizeof text,
                 "the header record of unknown tag %u, written by a newer version", tag);
        stop = fn(FMT_OBJECT_FILE, text, ctx);
    }
    if (stop || n <= RECORDS_TOLD)
        return stop;
    snprintf(text, sizeof text, "%llu more header records of unknown tags",
             (unsigned long long)(n - RECORDS_TOLD));
    return fn(FMT_OBJECT_FILE, text, ctx);
}

int unknown_tell(const struct unknown *u, const drep_file *f, bool header, unknown_fn *fn,
                 void *ctx)
{
    int stop = 0;

    for (int tag = 0; !stop && tag < 256; tag++) {
        uint64_t n = u->tag[tag].entries;
        char text[120];

        if (n == 0)
            continue;
        snprintf(text, sizeof text, "%llu %s of unknown tag %d, written by a newer version",
                 (unsigned long long)n, n == 1 ? "entry" : "entries", tag);
        stop = fn(u->tag[tag].id, text, ctx);
    }
    return !stop && header ? tell_records(f, fn, ctx) : stop;
}
