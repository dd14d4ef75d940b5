/* greeting.c - what rank 0 tells the others of a file that it has opened. */
/* SPDX-License-Identifier: MIT */
#include "par/greeting.h"

#include "base/error.h"
#include "base/mem.h"

#include <datarep.h>
#include <stdio.h>
#include <string.h>

enum {
    GREETING_LOCKED = FMT_SLOT_SIZE + 8,
    GREETING_GRANT = GREETING_LOCKED + 4,
    GREETING_HEAD = GREETING_GRANT + LEASE_GRANT
};

static int add_text(struct buf *b, const char *text)
{
    return buf_add(b, text, strlen(text) + 1);
}

/* Hints as pairs of texts.  The UUID is that of the file, so that all ranks begin alike. */
static int put_hints(const drep_file *f, const drep_info *info, struct buf *b)
{
    char uuid[33];
    int err = 0;

    for (int i = 0; !err && info && i < drep_info_count(info); i++) {
        const char *key = drep_info_key(info, i);

        if (strcmp(key, "drep_uuid") == 0)
            continue;
        err = add_text(b, key);
        if (!err)
            err = add_text(b, drep_info_get(info, key));
    }
    for (size_t i = 0; i < 16; i++)
        snprintf(uuid + 2 * i, 3, "%02x", f->st->slot.uuid[i]);
    if (!err)
        err = add_text(b, "drep_uuid");
    return err ? err : add_text(b, uuid);
}

int greeting_put(const drep_file *f, const drep_info *info, const uint8_t grant[LEASE_GRANT],
                 struct buf *b)
{
    struct io *io = f->st->io;
    char *where = NULL;
    int err = io->ops->where ? io->ops->where(io, &where)
                             : fail(DREP_ERR_UNSUPPORTED_OPERATION,
                                    "%s: other processes cannot open this file", f->path);

    if (!err)
        err = buf_reserve(b, GREETING_HEAD);
    if (!err) {
        memset(b->p, 0, GREETING_HEAD);
        slot_put(b->p, &f->st->slot);
        store_u64(b->p + FMT_SLOT_SIZE, f->st->slot.sequence);
        store_u32(b->p + GREETING_LOCKED, store_locked(f->st) != 0);
        memcpy(b->p + GREETING_GRANT, grant, LEASE_GRANT);
        b->len = GREETING_HEAD;
        err = add_text(b, where);
    }
    if (!err)
        err = put_hints(f, info, b);
    mem_free(where);
    return err;
}

static int add_library(const char *name, const char *version, void *ctx)
{
    struct buf *b = ctx;
    int err = buf_add(b, ", ", 2);

    if (!err)
        err = buf_add(b, name, strlen(name));
    if (!err)
        err = buf_add(b, " ", 1);
    return err ? err : buf_add(b, version, strlen(version));
}

int greeting_library(struct buf *b)
{
    const char *text = drep_version(), *kernels = strstr(text, ", kernels ");
    int err = buf_add(b, text, kernels ? (size_t)(kernels - text) : strlen(text));

    return err ? err : drep_library_walk(add_library, b);
}

int greeting_compare(const struct team_said *said, int ranks)
{
    const char *all = (const char *)said->all.p;
    int first = (int)(said->at[1] - said->at[0]);

    for (int i = 1; i < ranks; i++) {
        int len = (int)(said->at[i + 1] - said->at[i]);

        if (len != first || memcmp(all + said->at[i], all + said->at[0], (size_t)len) != 0)
            return fail(DREP_ERR_NOT_SAME, "rank %d runs %.*s; rank 0 runs %.*s", i, len,
                        all + said->at[i], first, all + said->at[0]);
    }
    return 0;
}

int greeting_get(const struct buf *b, struct greeting *g)
{
    const char *p = (const char *)b->p + GREETING_HEAD, *end = (const char *)b->p + b->len;
    const char *why = NULL;
    int err = drep_info_new(&g->info);

    g->sequence = load_u64(b->p + FMT_SLOT_SIZE);
    g->locked = load_u32(b->p + GREETING_LOCKED);
    if (!err && g->sequence &&
        (slot_get(&g->slot, b->p, g->sequence % 2 ? 0 : 1, &why) != SLOT_VALID || why))
        err = fail(DREP_ERR_FORMAT, "the slot of rank 0: %s", why ? why : "damaged");
    g->grant = b->p + GREETING_GRANT;
    g->where = p;
    for (p += strlen(p) + 1; !err && p < end;) {
        const char *value = p + strlen(p) + 1;

        err = drep_info_set(g->info, p, value);
        p = value + strlen(value) + 1;
    }
    return err;
}
