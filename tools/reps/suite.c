/* suite.c - what `datarep reps --check` demands of a data representation.
 *
 * The rules are those of MPI 5.0, 14.7.3, and ours that in a dataset an item's bytes
 * depend on its value and type alone.  Functions are called as the library calls them. */
/* SPDX-License-Identifier: MIT */
#include "tools/reps/suite.h"
#include "tools/reps/cuts.h"
#include "tools/reps/guarded.h"
#include "tools/reps/value.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int next_held(const struct subject *s, int code)
{
    while (++code <= DREP_CODE_MAX && s->extent[code] == 0)
        ;
    return code <= DREP_CODE_MAX ? code : 0;
}

/* ----------------------------------------------------------------- extents */

struct asking {
    struct subject *s;
    int64_t extent[CODES];
    int err[CODES];
};

static void *ask_extents(void *arg)
{
    struct asking *a = arg;
    int code;

    for (code = 1; code <= DREP_CODE_MAX; code++) {
        a->extent[code] = -1;
        a->err[code] =
            a->s->rep.extent(drep_predefined(code), &a->extent[code], a->s->rep.extra_state);
    }
    return NULL;
}

/* "14.7.3: returns bytes in the file": once and for all. */
static bool check_extents(struct subject *s)
{
    struct asking a[3] = {{.s = s}, {.s = s}, {.s = s}};
    bool serial = s->rep.flags & DREP_REP_SERIAL;
    pthread_t thread;
    int code, i, held = 0;

    note_call(s, "the extent function");
    if (serial || pthread_create(&thread, NULL, ask_extents, &a[1]) != 0)
        ask_extents(&a[1]);
    else {
        ask_extents(&a[0]);
        pthread_join(thread, NULL);
    }
    if (serial)
        ask_extents(&a[0]);
    ask_extents(&a[2]);
    s->findings->doing[0] = '\0';
    for (code = 1; code <= DREP_CODE_MAX; code++) {
        const char *name = drep_code_name(code);
        int64_t first = a[0].extent[code];

        for (i = 1; i < 3; i++)
            if ((a[i].err[code] != 0) != (a[0].err[code] != 0) || a[i].extent[code] != first)
                return reject(s, "the extent of %s is %lld and then %lld", name, (long long)first,
                              (long long)a[i].extent[code]);
        if (a[0].err[code] || first == DREP_UNDEFINED)
            continue;
        if (first < 1 || first > ITEM_MAX)
            return reject(s, "the extent of %s is %lld; 1 to %d bytes are possible", name,
                          (long long)first, ITEM_MAX);
        held++;
    }
    return held > 0 || reject(s, "it holds no datatype at all");
}

/* Without a function items are taken as they are, so the extents must be native. */
static bool check_native(struct subject *s)
{
    int code;

    if (s->rep.read && s->rep.write)
        return true;
    for (code = 0; (code = next_held(s, code)) != 0;)
        if (s->extent[code] != s->native[code].size)
            return reject(s,
                          "there is no %s function, but %s takes %lld bytes and not the native %d",
                          s->rep.read ? "write" : "read", drep_code_name(code),
                          (long long)s->extent[code], s->native[code].size);
    return true;
}

/* ------------------------------------------------------------------ values */

/* Writes an item over two different backgrounds: what is still there was not written. */
static int write_over(struct subject *s, int code, const void *item, uint8_t out[ITEM_MAX],
                      int *hole)
{
    uint8_t other[ITEM_MAX];
    const drep_type *type = drep_predefined(code);
    int err, i;

    memset(out, 0, ITEM_MAX);
    memset(other, 0xff, ITEM_MAX);
    err = rep_write(s, item, type, 1, out, 0);
    if (!err)
        err = rep_write(s, item, type, 1, other, 0);
    *hole = -1;
    for (i = 0; i < s->extent[code] && *hole < 0; i++)
        if (out[i] != other[i])
            *hole = i;
    return err;
}

/* Small values come back; of others what came back once comes back for ever. */
static bool one_value(struct subject *s, int code, enum values kind, const void *item)
{
    _Alignas(16) uint8_t back[ITEM_MAX] = {0}, again[ITEM_MAX] = {0};
    uint8_t file[ITEM_MAX];
    char a[80], b[80], c[80];
    const drep_type *type = drep_predefined(code);
    const char *name = drep_code_name(code);
    int hole, err = write_over(s, code, item, file, &hole);

    if (err && kind != VALUES_SMALL)
        return true; /* it may refuse what it cannot hold */
    value_text(s, code, item, a);
    if (err)
        return reject(s, "the write function gave %d for %s %s", err, name, a);
    if (hole >= 0)
        return reject(s, "byte %d of the %lld of %s %s was not written", hole,
                      (long long)s->extent[code], name, a);
    err = rep_read(s, back, type, 1, file, 0);
    if (err)
        return reject(s, "the read function gave %d for %s %s as written", err, name, a);
    value_text(s, code, back, b);
    if (kind == VALUES_SMALL)
        return value_same(s, code, item, back) || reject(s, "%s %s comes back as %s", name, a, b);
    err = write_over(s, code, back, file, &hole);
    if (!err)
        err = rep_read(s, again, type, 1, file, 0);
    if (err)
        return reject(s, "a function gave %d for %s %s, which it made of %s", err, name, b, a);
    return value_same(s, code, back, again) || reject(s, "%s %s comes back as %s, and that as %s",
                                                      name, a, b, value_text(s, code, again, c));
}

static bool check_values(struct subject *s)
{
    struct random r = {1};
    enum values kind;
    int code, i;

    for (code = 0; (code = next_held(s, code)) != 0;)
        for (kind = VALUES_SMALL; kind <= VALUES_RANDOM; kind = (enum values)(kind + 1))
            for (i = 0; i < value_count(s, code, kind); i++) {
                _Alignas(16) uint8_t item[ITEM_MAX] = {0};

                sample_put(s, code, kind, i, &r, item);
                if (!one_value(s, code, kind, item))
                    return false;
            }
    return true;
}

/* Every call with values that all representations hold succeeds, the thousandth too. */
static bool check_errors(struct subject *s)
{
    enum { ITEMS = 16, CALLS = 3000 };
    _Alignas(16) uint8_t user[ITEMS * ITEM_MAX], file[ITEMS * ITEM_MAX];
    struct random r = {2};
    int code = 0, i, count, err;

    for (i = 1; i <= CALLS; i++) {
        const drep_type *type;

        code = next_held(s, code);
        if (code == 0)
            code = next_held(s, 0);
        type = drep_predefined(code);
        count = 1 + random_below(&r, ITEMS);
        type_fill(s, type, count, VALUES_SMALL, &r, 0, user);
        err = rep_write(s, user, type, count, file, 0);
        if (err)
            return reject(s, "the write function gave %d in call %d, for %d %s", err, i, count,
                          drep_code_name(code));
        err = rep_read(s, user, type, count, file, 0);
        if (err)
            return reject(s, "the read function gave %d in call %d, for %d %s", err, i, count,
                          drep_code_name(code));
    }
    return true;
}

/* ------------------------------------------------------------------ bounds */

/* One transfer, with pages that may not be touched around both buffers. */
struct bounded {
    struct guarded user, file;
    int64_t *offset;
    int64_t items, size;
};

static bool bounds_init(struct bounded *b, const struct subject *s, const drep_type *type,
                        int64_t tiles, bool at_end, bool reading)
{
    memset(b, 0, sizeof *b);
    b->items = tiles * drep_type_items(type);
    b->offset = malloc((size_t)(b->items + 1) * sizeof *b->offset);
    if (!b->offset)
        return false;
    type_offsets(s, type, tiles, b->offset);
    b->size = b->offset[b->items];
    return guarded_new(&b->user, "userbuf", (size_t)type_span(type, tiles), 16, at_end, reading) &&
           guarded_new(&b->file, "filebuf", (size_t)b->size, 1, at_end, reading);
}

static void bounds_release(struct bounded *b)
{
    guarded_free(&b->user);
    guarded_free(&b->file);
    free(b->offset);
}

static bool bounds_write(struct subject *s, struct bounded *b, const drep_type *type, int64_t tiles,
                         uint64_t seed)
{
    uint8_t *first = malloc((size_t)b->size + 1);
    int64_t i;
    int err;

    if (!first)
        return reject(s, "out of memory");
    type_fill(s, type, tiles, VALUES_SMALL, &(struct random){seed}, 0x33, b->user.p);
    guarded_protect(&b->user);
    memset(b->file.p, 0, (size_t)b->size);
    err = rep_write(s, b->user.p, type, b->items, b->file.p, 0);
    memcpy(first, b->file.p, (size_t)b->size);
    memset(b->file.p, 0xff, (size_t)b->size);
    if (!err)
        err = rep_write(s, b->user.p, type, b->items, b->file.p, 0);
    for (i = 0; i < b->size && first[i] == b->file.p[i]; i++)
        ;
    free(first);
    if (err)
        return reject(s, "the write function gave %d for %lld items of %s", err,
                      (long long)b->items, text_of(type));
    if (i < b->size)
        return reject(s, "of %lld items of %s, byte %lld of %lld was not written",
                      (long long)b->items, text_of(type), (long long)i, (long long)b->size);
    return guarded_intact(&b->file) ||
           reject(s, "it wrote outside the %lld bytes of %lld items of %s", (long long)b->size,
                  (long long)b->items, text_of(type));
}

static bool bounds_read(struct subject *s, struct bounded *b, const drep_type *type, int64_t tiles,
                        uint64_t seed)
{
    int err;

    type_fill(s, type, tiles, VALUES_SMALL, &(struct random){seed}, 0x33, b->user.p);
    err = rep_write(s, b->user.p, type, b->items, b->file.p, 0);
    guarded_protect(&b->file);
    if (!err)
        err = rep_read(s, b->user.p, type, b->items, b->file.p, 0);
    if (err)
        return reject(s, "a function gave %d for %lld items of %s", err, (long long)b->items,
                      text_of(type));
    return guarded_intact(&b->user) ||
           reject(s, "the read function wrote outside the memory of %lld items of %s",
                  (long long)b->items, text_of(type));
}

static bool bounds_of(struct subject *s, const drep_type *type, int64_t tiles, uint64_t seed)
{
    bool fine = true;
    int i;

    /* First with pages that may be read: what fails then was a write. */
    for (i = 0; fine && i < 8; i++) {
        struct bounded b;

        if (!bounds_init(&b, s, type, tiles, i & 1, i < 4))
            fine = reject(s, "out of memory");
        else if (i & 2)
            fine = bounds_read(s, &b, type, tiles, seed);
        else
            fine = bounds_write(s, &b, type, tiles, seed);
        bounds_release(&b);
    }
    return fine;
}

static bool check_bounds(struct subject *s)
{
    struct random r = {3};
    bool fine = true;
    int code, i;

    for (code = 0; fine && (code = next_held(s, code)) != 0;)
        for (i = 1; fine && i <= 3; i += 2)
            fine = bounds_of(s, drep_predefined(code), i, (uint64_t)code);
    for (i = 0; fine && i < 30; i++) {
        drep_type *type = type_random(s, &r, 2);

        type_spare(type);
        fine = bounds_of(s, type, 1 + i % 2, (uint64_t)i);
        drep_type_free(type);
    }
    return fine;
}

/* ------------------------------------------------------------ many items */

/* The first byte of `size` that writing over zeros and over ones leaves as it was; size: none. */
static int64_t unwritten(struct subject *s, const void *user, const drep_type *type, int64_t count,
                         uint8_t *zeros, uint8_t *ones, int64_t size, int *err)
{
    int64_t i = 0;

    memset(zeros, 0, (size_t)size);
    memset(ones, 0xff, (size_t)size);
    *err = rep_write(s, user, type, count, zeros, 0);
    if (!*err)
        *err = rep_write(s, user, type, count, ones, 0);
    while (i < size && zeros[i] == ones[i])
        i++;
    return i;
}

/* The first item that reading over this byte does not bring back; count: none. */
static int64_t unread(struct subject *s, int code, const uint8_t *user, int64_t count,
                      uint8_t *file, uint8_t *back, uint8_t over, int *err)
{
    int64_t extent = drep_type_extent(drep_predefined(code)), i = 0;

    memset(back, over, (size_t)(count * extent));
    *err = rep_read(s, back, drep_predefined(code), count, file, 0);
    while (i < count && value_same(s, code, user + i * extent, back + i * extent))
        i++;
    return i;
}

static bool many_items(struct subject *s, int code, int64_t count)
{
    const drep_type *type = drep_predefined(code);
    int64_t size = count * s->extent[code],
            memory = (count * drep_type_extent(type) + 15) / 16 * 16;
    uint8_t *user = aligned_alloc(16, (size_t)memory), *back = aligned_alloc(16, (size_t)memory);
    uint8_t *zeros = malloc((size_t)size), *ones = malloc((size_t)size);
    const char *name = drep_code_name(code);
    int64_t at = 0, item = count;
    bool fine = true;
    int err = 0;

    if (!user || !back || !zeros || !ones)
        return reject(s, "out of memory");
    type_fill(s, type, count, VALUES_SMALL, &(struct random){4}, 0, user);
    at = unwritten(s, user, type, count, zeros, ones, size, &err);
    if (err)
        fine = reject(s, "the write function gave %d for %lld items of %s", err, (long long)count,
                      name);
    else if (at < size)
        fine = reject(s, "of %lld items of %s, byte %lld of %lld was not written", (long long)count,
                      name, (long long)at, (long long)size);
    for (int over = 0; fine && item == count && over <= 0xff; over += 0xff) {
        item = unread(s, code, user, count, zeros, back, (uint8_t)over, &err);
        if (err)
            fine = reject(s, "the read function gave %d for %lld items of %s", err,
                          (long long)count, name);
        else if (item < count)
            fine = reject(s, "of %lld items of %s, item %lld was not read", (long long)count, name,
                          (long long)item);
    }
    free(user);
    free(back);
    free(zeros);
    free(ones);
    return fine;
}

/* A dataset gives a function as many items as fit its staging buffer. */
static bool check_counts(struct subject *s)
{
    enum { MANY = 1000, MOST = 100000 };
    bool fine = true;
    int code;

    for (code = 0; fine && (code = next_held(s, code)) != 0;)
        fine = many_items(s, code, MANY);
    return fine && many_items(s, next_held(s, 0), MOST);
}

/* -------------------------------------------------------- count, position */

/* Number of leading bytes of `size` that the write function writes. */
static int64_t written(struct subject *s, const void *user, const drep_type *type, int64_t count,
                       int64_t position, uint8_t *file, size_t size, int *err)
{
    uint8_t *other = malloc(size);
    int64_t n = (int64_t)size;

    if (!other)
        return -1;
    memset(file, 0, size);
    memset(other, 0xff, size);
    *err = rep_write(s, user, type, count, file, position);
    if (!*err)
        *err = rep_write(s, user, type, count, other, position);
    while (n > 0 && file[n - 1] == 0 && other[n - 1] == 0xff)
        n--;
    free(other);
    return n;
}

/* Are all bytes that a count of `count` moves those of so many items? */
static bool moves_count(struct subject *s, const char *name, int64_t count, int64_t bytes,
                        int64_t extent)
{
    if (bytes <= count * extent)
        return true;
    return reject(s, "a count of %lld moved %lld bytes instead of the %lld of so many %s%s",
                  (long long)count, (long long)bytes, (long long)(count * extent), name,
                  bytes >= 5 * count * extent ? ": count is data items, not datatypes" : "");
}

/* Five items of one type, so that a count of 1 is one of them and no more. */
static bool five_items(struct subject *s, int code, const drep_type *type)
{
    enum { ROOM = 64 * ITEM_MAX };
    _Alignas(16) uint8_t user[ROOM] = {0};
    uint8_t whole[ROOM], part[ROOM];
    int64_t extent = s->extent[code], step = drep_type_extent(type) / 5, n;
    const char *name = drep_code_name(code);
    int i, err;

    for (i = 0; i < 5; i++) /* 1, 2, 3 and so on, or what comes next to them */
        sample_put(s, code, VALUES_SMALL, i + 1, NULL, user + i * step);
    n = written(s, user, type, 5, 0, whole, sizeof whole, &err);
    if (!err && !moves_count(s, name, 5, n, extent))
        return false;
    for (i = 0; !err && i < 5; i++) {
        n = written(s, user, type, 1, i, part, sizeof part, &err);
        if (err)
            break;
        if (!moves_count(s, name, 1, n, extent))
            return false;
        if (memcmp(part, whole + i * extent, (size_t)extent) == 0)
            continue;
        if (memcmp(part, whole, (size_t)extent) == 0)
            return reject(s, "position %d gives the item at 0: position is ignored", i);
        return reject(s, "position %d does not give item %d of 5 %s", i, i, name);
    }
    return !err || reject(s, "the write function gave %d for %s", err, name);
}

static bool one_of_five(struct subject *s, int code)
{
    drep_type *type;
    bool fine;

    if (drep_type_contiguous(5, drep_predefined(code), &type) != 0)
        return reject(s, "%s", drep_error());
    type_spare(type);
    fine = five_items(s, code, type);
    drep_type_free(type);
    return fine;
}

static bool check_position(struct subject *s)
{
    bool fine = true;
    int code;

    for (code = 0; fine && (code = next_held(s, code)) != 0;)
        fine = one_of_five(s, code);
    return fine;
}

/* ---------------------------------------------------------------- datatype */

/* Takes over the memory that a wrong free may have left behind. */
static void scribble(void)
{
    enum { SIZES = 128, EACH = 12 };
    static void *p[SIZES][EACH];
    size_t i, k;

    for (i = 0; i < SIZES; i++)
        for (k = 0; k < EACH; k++) {
            p[i][k] = malloc(8 * (i + 1));
            if (p[i][k])
                memset(p[i][k], 0xee, 8 * (i + 1));
        }
    for (i = 0; i < SIZES; i++)
        for (k = 0; k < EACH; k++)
            free(p[i][k]);
}

/* A datatype that was given away is somebody else's memory now. */
static bool type_is(struct subject *s, const drep_type *type, const char *text)
{
    char *now;
    bool same;

    scribble();
    note_call(s, "the datatype, which was freed or changed");
    if (drep_type_print(type, &now) != 0)
        return reject(s, "the datatype was freed or changed: %s", drep_error());
    same = strcmp(text, now) == 0;
    s->findings->doing[0] = '\0';
    free(now);
    return same || reject(s, "the datatype was freed or changed");
}

/* It belongs to the caller, and may serve other transfers meanwhile. */
static bool check_datatype(struct subject *s)
{
    _Alignas(16) uint8_t user[16 * ITEM_MAX] = {0};
    uint8_t file[64 * ITEM_MAX];
    int code = next_held(s, 0), err;
    char *text = NULL;
    drep_type *type;
    bool fine;

    err = drep_type_vector(2, 1, 3, drep_predefined(code), &type);
    if (!err)
        err = drep_type_print(type, &text);
    if (err)
        return reject(s, "%s", drep_error());
    type_fill(s, type, 1, VALUES_SMALL, &(struct random){7}, 0, user);
    err = rep_write(s, user, type, 2, file, 0);
    fine = type_is(s, type, text);
    if (fine && !err)
        err = rep_read(s, user, type, 2, file, 0);
    fine = fine && type_is(s, type, text);
    free(text);
    return fine && (!err || reject(s, "a function gave %d for %s", err, drep_code_name(code)));
}

/* ----------------------------------------------------------------- dataset */

/* A struct of every datatype that is held, as C would lay it out. */
static int type_of_all(const struct subject *s, drep_type **out)
{
    const drep_type *member[CODES];
    int n = 0, code;

    for (code = 0; (code = next_held(s, code)) != 0;)
        member[n++] = drep_predefined(code);
    return drep_type_struct(n, NULL, NULL, member, out);
}

/* Every item of both buffers the same value? */
static bool same_items(struct subject *s, const drep_type *type, int64_t tiles, const uint8_t *a,
                       const uint8_t *b)
{
    int64_t left = tiles * drep_type_items(type), i;
    drep_cursor cursor;
    drep_run run;
    char want[80], got[80];

    for (drep_cursor_init(&cursor, type, 0); left > 0; left -= run.count) {
        int code;

        if (!drep_cursor_next(&cursor, left, &run))
            break;
        code = drep_type_code(run.type);
        for (i = 0; i < run.count; i++) {
            int64_t at = run.offset + i * run.stride;

            if (!value_same(s, code, a + at, b + at))
                return reject(s, "a dataset gives %s %s back as %s", drep_code_name(code),
                              value_text(s, code, a + at, want), value_text(s, code, b + at, got));
        }
    }
    return true;
}

/* Through the library, in chunks, read as a whole and in parts. */
static int dataset_moves(struct subject *s, const drep_type *type, int64_t n, uint8_t *user,
                         uint8_t *back, bool *same)
{
    const int64_t dims[1] = {n}, chunk[1] = {7}, start[1] = {5}, count[1] = {11};
    const drep_spec spec =
        DREP_SPEC(.type = type, .rank = 1, .dims = dims, .layout = DREP_CHUNKED, .chunk = chunk);
    int64_t extent = drep_type_extent(type);
    const drep_xfer wrap = DREP_XFER(.range = DREP_RANGE_WRAP);
    drep_selection *part = NULL;
    drep_dataset *set = NULL;
    drep_file *file;
    int err = drep_create(":memory:", 0, s->name, NULL, &file);

    if (err)
        return err;
    err = drep_dataset_create(file, "/all", &spec, &set);
    if (!err)
        err = drep_write(set, NULL, type, user, &wrap);
    if (!err)
        err = drep_read(set, NULL, type, back, &wrap);
    *same = err || same_items(s, type, n, user, back);
    memset(back, 0, (size_t)(n * extent));
    if (!err)
        err = drep_select_box(1, start, count, NULL, NULL, &part);
    if (!err)
        err = drep_read(set, part, type, back, &wrap);
    if (!err && *same)
        *same = same_items(s, type, 11, user + 5 * extent, back);
    drep_selection_free(part);
    drep_dataset_close(set);
    drep_abandon(file);
    return err;
}

static bool check_dataset(struct subject *s)
{
    enum { ELEMENTS = 40 };
    struct random r = {9};
    uint8_t *user = NULL, *back = NULL;
    bool same = false;
    drep_type *type;
    int err = type_of_all(s, &type);

    if (!err) {
        size_t size = (size_t)(ELEMENTS * drep_type_extent(type) + 16);

        user = aligned_alloc(16, size / 16 * 16);
        back = aligned_alloc(16, size / 16 * 16);
        if (!user || !back)
            return reject(s, "out of memory");
        memset(back, 0, size / 16 * 16);
        type_fill(s, type, ELEMENTS, VALUES_SMALL, &r, 0, user);
        note_call(s, "a dataset");
        err = dataset_moves(s, type, ELEMENTS, user, back, &same);
        s->findings->doing[0] = '\0';
    }
    free(user);
    free(back);
    return err ? reject(s, "a dataset: %s", drep_error()) : same;
}

const struct rep_check reps_checks[] = {
    {"extents", check_extents, "1 to 32 bytes, the same whenever and whoever asks"},
    {"native", check_native, "without a function the extents are this machine's"},
    {"values", check_values, "what is written is read back"},
    {"errors", check_errors, "no call fails for values that it holds"},
    {"bounds", check_bounds, "no byte outside the items is touched, each inside is written"},
    {"counts", check_counts, "in a call of many items each is written and read"},
    {"position", check_position, "count and position are data items"},
    {"cuts", reps_cuts, "any cut of a transfer gives the same bytes and memory"},
    {"items", reps_items, "an item's bytes tell its value and type alone"},
    {"gaps", reps_gaps, "bytes between items neither change nor count"},
    {"datatype", check_datatype, "it stays the caller's"},
    {"threads", reps_threads, "eight at once give the same as one"},
    {"dataset", check_dataset, "the library writes and reads datasets through it"},
    {NULL, NULL, NULL},
};
