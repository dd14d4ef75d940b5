/* numbers.c - the numbers of objects and datatypes that a tree uses. */
/* SPDX-License-Identifier: MIT */
#include "txn/numbers.h"

#include "base/error.h"
#include "tree/find.h"
#include "tree/walk.h"

/* Find the greatest key that is not greater than this one and shares its first `prefix` bytes,
 * and take the number of 4 or 8 bytes at `at` from it; NOT_FOUND: there is none. */
static int greatest(struct store *st, const struct key *key, size_t prefix, size_t at, size_t size,
                    uint64_t *number)
{
    struct key found;
    int err = tree_floor(st, key, prefix, &found, NULL);

    if (!err && found.len < at + size)
        err = DREP_ERR_NOT_FOUND;
    if (!err)
        *number = size == 4 ? key_u32(found.p + at) : key_u64(found.p + at);
    return err;
}

/* The greatest id of an object that has an entry in any space. */
static int greatest_object(struct store *st, uint64_t *object)
{
    uint8_t space;
    int err = 0;

    *object = FMT_OBJECT_FILE;
    for (unsigned from = 0; !err && !(err = tree_space(st, from, &space)); from = space + 1u) {
        uint64_t id = FMT_OBJECT_FILE;
        struct key key;

        key_make_in(&key, space, UINT64_MAX, UINT8_MAX);
        err = greatest(st, &key, 1, 1, 8, &id);
        if (id > *object)
            *object = id;
    }
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int numbers_in_use(struct store *st, uint64_t *object, uint64_t *type)
{
    struct key key;
    int err = greatest_object(st, object);

    *type = 0;
    if (err)
        return err;
    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_TYPE);
    key_add_u32(&key, UINT32_MAX);
    err = greatest(st, &key, FMT_KEY_HEAD, FMT_KEY_HEAD, 4, type);
    *type += !err;
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int store_numbers(struct store *st)
{
    uint64_t object, type;
    int err = numbers_in_use(st, &object, &type);

    if (!err && object >= st->next_object)
        return fail(
            DREP_ERR_FORMAT,
            "cannot be written to: object %llu exists, and the next one would be %llu (R2.18)",
            (unsigned long long)object, (unsigned long long)st->next_object);
    if (!err && type > st->next_type)
        return fail(
            DREP_ERR_FORMAT,
            "cannot be written to: datatype %llu exists, and the next one would be %lu (R2.18)",
            (unsigned long long)type - 1, (unsigned long)st->next_type);
    return err;
}
