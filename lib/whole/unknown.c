/* unknown.c - entries and header records of unknown tags, which no copy takes. */
/* SPDX-License-Identifier: MIT */
#include "whole/unknown.h"

#include "tree/walk.h"

#include <stdio.h>

#define RECORDS_TOLD 100 /* header records told one by one: a header may have many */

/* Count entries from `key` on whose keys begin with its first `prefix` bytes. */
static int count_from(struct unknown *u, drep_file *f, const struct key *from, size_t prefix)
{
    struct tree_walk w;
    struct key key;
    int err;

    tree_walk(&w, f->st, from, prefix);
    while (!(err = tree_next(&w, &key, NULL)))
        if (!key_known(key.p))
            unknown_add(u, key.p);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* The file itself may have many free extents: between known tags there are few entries. */
static int count_tags(struct unknown *u, drep_file *f, uint8_t space)
{
    struct key key;
    int err = 0;

    for (int tag = 0; !err && tag < 256; tag++) {
        key_make_in(&key, space, FMT_OBJECT_FILE, (uint8_t)tag);
        if (!key_known(key.p))
            err = count_from(u, f, &key, key.len);
    }
    return err;
}

int unknown_of_file(struct unknown *u, drep_file *f)
{
    uint8_t space;
    struct key key;
    int err = 0;

    for (unsigned from = 0; !err && !(err = tree_space(f->st, from, &space)); from = space + 1u) {
        key_make_in(&key, space, FMT_OBJECT_FILE, 0);
        err = space <= FMT_SPACE_ATTRS ? count_tags(u, f, space)
                                       : count_from(u, f, &key, FMT_KEY_TAG_AT);
    }
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
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
    struct span content;
    unsigned tag;
    struct in in;
    int stop = 0;

    in_init(&in, f->header.unknown.p, f->header.unknown.len);
    while (!stop && header_record_next(&in, &tag, &content)) {
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

static int tell_entries(const struct unknown_entries *e, const char *of, int number, const char *by,
                        unknown_fn *fn, void *ctx)
{
    char text[120];

    if (e->entries == 0)
        return 0;
    snprintf(text, sizeof text, "%llu %s of unknown %s %d, written by %s",
             (unsigned long long)e->entries, e->entries == 1 ? "entry" : "entries", of, number, by);
    return fn(e->id, text, ctx);
}

int unknown_tell(const struct unknown *u, const drep_file *f, bool header, unknown_fn *fn,
                 void *ctx)
{
    static const char newer[] = "a newer version", application[] = "an application";
    int stop = 0;

    for (int tag = 0; !stop && tag < 256; tag++)
        stop = tell_entries(&u->tag[tag], "tag", tag, newer, fn, ctx);
    for (int space = 0; !stop && space < 256; space++)
        stop = tell_entries(&u->space[space], "space", space,
                            space < FMT_SPACE_APPLICATIONS ? newer : application, fn, ctx);
    return !stop && header ? tell_records(f, fn, ctx) : stop;
}
