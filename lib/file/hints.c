/* hints.c - the hints of a handle: those in force, and those that stand in the header. */
/* SPDX-License-Identifier: MIT */
#include "file/hints.h"

#include "chunk/target.h"
#include "file/file.h"
#include "format/header.h"

#include <datarep.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest striping_unit that a file may ask of whoever writes to it. */
#define UNIT_STORED_MAX ((int64_t)16 << 20)

/* ---- single hints ---- */

int64_t hint_size(const drep_info *info, const char *key)
{
    int64_t v = info_int(info, key);

    return v >= 0 ? v : info_int(NULL, key);
}

unsigned hint_permissions(const drep_info *info)
{
    return (unsigned)strtoul(info_str(info, "file_perm"), NULL, 8) & 0777;
}

/* True for hints that describe the file rather than a handle, and stand in its header. */
static bool hint_is_stored(const char *key)
{
    if (strcmp(key, "drep_keep") == 0 || strcmp(key, "drep_chunk_max") == 0)
        return true;
    return strncmp(key, "drep_", 5) != 0 && strcmp(key, "filename") != 0 &&
           strcmp(key, "file_perm") != 0;
}

static bool is_one_of(const char *key, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(key, list[i]) == 0)
            return true;
    return false;
}

/* Hints of several processes, which act where these share the file. */
static const char *const for_ranks[] = {"cb_block_size", "cb_nodes",         "collective_buffering",
                                        "drep_mpi_io",   "drep_mpi_timeout", "drep_mpi_window",
                                        "drep_overlap"};
static bool is_for_ranks(const char *key)
{
    return is_one_of(key, for_ranks, sizeof for_ranks / sizeof *for_ranks);
}

bool hint_is_fixed(const struct hints *h, const char *key)
{
    static const char *const fixed[] = {
        "filename",     "file_perm",       "striping_unit",  "drep_verify",      "drep_checksum",
        "drep_sync",    "drep_keep",       "drep_lock",      "drep_lock_wait",   "drep_external",
        "drep_uuid",    "drep_cache_size", "drep_chunk_max", "drep_limit_chunk", "drep_time",
        "drep_machine", "drep_pack",       "drep_mpi_io"};

    return is_one_of(key, fixed, sizeof fixed / sizeof *fixed) || (h->shared && is_for_ranks(key));
}

/* ---- lists ---- */

/* What a filtered chunk may decode to: the opener's drep_limit_chunk, or the opener's own
 * drep_chunk_max where that is more.  A file has no part in it. */
static int64_t hint_chunk_limit(const drep_info *opener)
{
    int64_t limit = hint_size(opener, "drep_limit_chunk");
    int64_t max = drep_info_get(opener, "drep_chunk_max") ? hint_size(opener, "drep_chunk_max") : 0;

    return max > limit ? max : limit;
}

/* Puts that limit in force; a handle creates no chunk that it could not read. */
static int hints_settle(drep_info *all, int64_t chunk_limit)
{
    char text[24];
    int err;

    snprintf(text, sizeof text, "%lld", (long long)chunk_limit);
    err = drep_info_set(all, "drep_limit_chunk", text);
    if (!err && hint_size(all, "drep_chunk_max") > chunk_limit)
        err = drep_info_set(all, "drep_chunk_max", text);
    return err;
}

int hints_init(struct hints *h, const drep_info *opener)
{
    int err = info_defaults(&h->all);

    if (!err)
        err = drep_info_new(&h->stored);
    if (!err && opener)
        err = info_merge(h->all, opener);
    return err ? err : hints_settle(h->all, hint_chunk_limit(opener));
}

void hints_release(struct hints *h)
{
    drep_info_free(h->all);
    drep_info_free(h->stored);
}

/* A hint in the header advises, and gives way where following it could cost the opener more than
 * the opener allows. */
static bool stored_counts(const drep_info *stored, const char *key, int64_t limit)
{
    if (!hint_is_stored(key))
        return false;
    if (strcmp(key, "drep_chunk_max") == 0)
        return info_int(stored, key) <= limit;
    return strcmp(key, "striping_unit") != 0 || info_int(stored, key) <= UNIT_STORED_MAX;
}

/* The new list is made beside the one in force, which stays after an error. */
int hints_merge(struct hints *h, const drep_info *opener)
{
    int64_t limit = hint_chunk_limit(opener);
    drep_info *all, *own;
    int err = info_defaults(&all);

    if (err)
        return err;
    if ((err = drep_info_new(&own))) {
        drep_info_free(all);
        return err;
    }
    for (int i = 0; !err && i < drep_info_count(h->stored); i++) {
        const char *key = drep_info_key(h->stored, i), *value = drep_info_get(h->stored, key);

        if (!stored_counts(h->stored, key, limit))
            continue;
        err = drep_info_set(own, key, value);
    }
    if (!err)
        err = info_merge(all, own);
    if (!err)
        err = info_merge(all, opener);
    if (!err)
        err = hints_settle(all, limit);
    drep_info_free(own);
    if (err) {
        drep_info_free(all);
        return err;
    }
    drep_info_free(h->all);
    h->all = all;
    return 0;
}

/* Unknown hints, invalid values and hints of a handle are left out. */
int hints_store(drep_info *stored, const drep_info *info, bool *changed)
{
    int err = 0;

    for (int i = 0; info && !err && i < drep_info_count(info); i++) {
        const char *key = drep_info_key(info, i), *value = drep_info_get(info, key);

        if (!info_known(key) || !info_valid(key, value) || value[0] == '\0' ||
            !hint_is_stored(key) || text_check((const uint8_t *)value, strlen(value)) != 0)
            continue;
        err = drep_info_set(stored, key, value);
        *changed = true;
    }
    return err;
}

/* Both lists are made beside the ones in force, so that all of the changes count or none. */
int hints_change(struct hints *h, const drep_info *changes)
{
    drep_info *info = NULL, *stored = NULL;
    bool changed = h->changed;
    int err = info_copy(h->all, &info);

    if (!err)
        err = info_merge(info, changes);
    if (!err)
        err = info_copy(h->stored, &stored);
    if (!err)
        err = hints_store(stored, changes, &changed);
    if (!err) {
        drep_info *old = h->all;

        h->all = info;
        info = old;
        old = h->stored;
        h->stored = stored;
        stored = old;
        h->changed = changed;
    }
    drep_info_free(info);
    drep_info_free(stored);
    return err;
}

bool hint_acts(const struct hints *h, const char *key)
{
    /* Of devices, which nothing here chooses. */
    static const char *const idle[] = {"io_node_list", "nb_proc", "num_io_nodes"};

    if (is_one_of(key, idle, sizeof idle / sizeof *idle))
        return false;
    if (strcmp(key, "striping_factor") == 0) /* MPI-IO's alone */
        return h->shared && strcmp(info_str(h->all, "drep_mpi_io"), "mpiio") == 0;
    return h->shared || !is_for_ranks(key);
}

/* Puts the hint access_style in force. */
static void style_note(drep_file *f)
{
    const drep_info *all = f->hints.all;
    bool random = info_has(all, "access_style", "random") ||
                  info_has(all, "access_style", "reverse_sequential");
    bool sequential = info_has(all, "access_style", "sequential");
    struct io *io = f->st->io;

    f->st->opts.style = (info_has(all, "access_style", "read_once") ? STYLE_ONCE : 0) |
                        (info_has(all, "access_style", "random") ? STYLE_RANDOM : 0);
    /* Files are read as the system likes it until it is told otherwise. */
    if (io->ops->advise && (random || sequential || f->hints.advised))
        io->ops->advise(io, random ? IO_RANDOM : sequential ? IO_SEQUENTIAL : IO_NORMAL);
    f->hints.advised = f->hints.advised || random || sequential;
}

void hints_note(drep_file *f)
{
    style_note(f);
    f->hints.threads = info_int(f->hints.all, "drep_threads");
    reps_staging(f, info_int(f->hints.all, "cb_buffer_size"));
    f->hints.chunk_max = hint_size(f->hints.all, "drep_chunk_max");
    f->hints.cache_size = hint_size(f->hints.all, "drep_cache_size");
}

/* ---- records of the header ---- */

int hints_load(struct hints *h, const struct span *records)
{
    struct in in;
    struct hint_rec hint;
    int err = 0;

    in_init(&in, records->p, records->len);
    while (!err && hint_get(&in, &hint) == 0) {
        char key[FMT_HINT_KEY_MAX + 1], value[FMT_HINT_VALUE_MAX + 1];

        memcpy(key, hint.key.p, hint.key.len);
        key[hint.key.len] = '\0';
        memcpy(value, hint.value.p, hint.value.len);
        value[hint.value.len] = '\0';
        err = drep_info_set(h->stored, key, value);
    }
    return err;
}

int hints_put(const struct hints *h, struct buf *to)
{
    struct out out;

    buf_out(to, &out);
    for (int i = 0; i < drep_info_count(h->stored); i++) {
        const char *key = drep_info_key(h->stored, i), *value = drep_info_get(h->stored, key);

        hint_put(&out, &(struct hint_rec){{(const uint8_t *)key, strlen(key)},
                                          {(const uint8_t *)value, strlen(value)}});
    }
    return buf_done(to, &out);
}

/* ---- options of the store ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The hint drep_uuid: 32 hexadecimal digits, else NULL. */
static const uint8_t *fixed_uuid(const drep_info *info, uint8_t uuid[16])
{
    const char *s = info_str(info, "drep_uuid");

    if (strlen(s) != 32)
        return NULL;
    for (int i = 0; i < 16; i++) {
        int hi = hex_digit(s[2 * i]), lo = hex_digit(s[2 * i + 1]);

        if (hi < 0 || lo < 0)
            return NULL;
        uuid[i] = (uint8_t)(hi << 4 | lo);
    }
    return uuid;
}

void hint_store_opts(const drep_info *info, struct store_opts *o, uint8_t uuid[16])
{
    int64_t keep = hint_size(info, "drep_keep");

    memset(o, 0, sizeof *o);
    o->lock = info_bool(info, "drep_lock");
    o->lock_wait = info_ns(info, "drep_lock_wait");
    o->sync = strcmp(info_str(info, "drep_sync"), "none") != 0;
    o->verify = strcmp(info_str(info, "drep_verify"), "off") != 0;
    o->deferred = strcmp(info_str(info, "drep_checksum"), "deferred") == 0;
    o->keep = keep < INT_MAX ? (int)keep : INT_MAX;
    o->unit = (uint64_t)hint_size(info, "striping_unit");
    o->chunk_max = (uint64_t)hint_size(info, "drep_chunk_max");
    o->chunk_limit = (uint64_t)hint_size(info, "drep_limit_chunk");
    if (o->chunk_max > PTRDIFF_MAX) /* more than memory can hold */
        o->chunk_max = PTRDIFF_MAX;
    if (o->chunk_limit > PTRDIFF_MAX)
        o->chunk_limit = PTRDIFF_MAX;
    o->cache_size = (uint64_t)hint_size(info, "drep_cache_size");
    o->fetch_size = (uint64_t)hint_size(info, "drep_fetch_size");
    o->threads = (int)info_int(info, "drep_threads");
    o->pack = info_bool(info, "drep_pack");
    o->uuid = fixed_uuid(info, uuid);
    o->time = info_int(info, "drep_time");
}

void hints_allow_targets(drep_file *f, int dir)
{
    if (f->linked.follow)
        targets_allow(f->st, dir);
    if (f->linked.url || strcmp(info_str(f->hints.all, "drep_external_urls"), "false") != 0)
        targets_allow_urls(f->st, f->linked.url, f->hints.all);
}
