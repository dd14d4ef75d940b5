/* make_later.c - a file that the library writes, and then what the next version may add.
 *
 *   make_later FILE
 *
 * Beside the dataset "known", which anybody can read, "filtered" goes through a filter without a
 * meaning yet, and "arranged" has such a layout; entries and a header record of unknown tags stand
 * around them, and the slot says 1.7. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include "format/record.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "txn/commit.h"
#include "txn/open.h"
#include "txn/txn.h"

#include <stdio.h>

enum { ELEMENTS = 1000 };

static const struct store_opts opts = {
    .verify = 1, .keep = 2, .unit = 4096, .chunk_max = 1 << 24, .cache_size = 1 << 20, .time = -1};

static int write_one(drep_file *f, const char *path, const drep_spec *spec, uint64_t *id)
{
    static const int32_t v[ELEMENTS];
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    int err = drep_dataset_create(f, path, spec, &ds);

    if (err)
        return err;
    err = drep_write(ds, NULL, DREP_INT32_T, v, NULL);
    if (!err)
        err = drep_dataset_info(ds, &info);
    *id = info.id;
    drep_dataset_close(ds);
    return err;
}

static int write_file(const char *path, uint64_t id[3])
{
    const drep_filter filter = {.id = DREP_FILTER_DEFLATE, .level = 6};
    const int64_t dims[] = {ELEMENTS}, chunk[] = {ELEMENTS / 2};
    const drep_spec plain =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = dims, .layout = DREP_CONTIGUOUS);
    const drep_spec filtered =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = dims, .layout = DREP_CHUNKED,
                  .chunk = chunk, .filters = &filter, .nfilters = 1);
    drep_file *f;
    int err = drep_create(path, 0, "external32", NULL, &f);

    if (err)
        return err;
    err = write_one(f, "/known", &plain, &id[0]);
    if (!err)
        err = write_one(f, "/filtered", &filtered, &id[1]);
    if (!err)
        err = write_one(f, "/arranged", &plain, &id[2]);
    if (!err)
        err = drep_attr_write_int64(f, "/arranged", "a", 7);
    return err ? err : drep_close(f);
}

/* Change the record of a dataset: an unknown filter, or an unknown layout. */
static int change_record(struct store *st, uint64_t id, bool layout)
{
    struct buf old = {0}, new = {0};
    struct object_rec rec;
    struct out out;
    struct key key;
    struct in in;
    int err;

    key_make(&key, id, FMT_TAG_OBJECT);
    err = tree_get(st, &key, &old);
    in_init(&in, old.p, old.len);
    if (!err)
        err = object_get(&in, &rec);
    if (!err && layout)
        rec.layout = 9;
    else if (!err)
        rec.filter[0].id = 999;
    if (!err) {
        buf_out(&new, &out);
        object_put(&out, &rec);
        err = buf_done(&new, &out);
    }
    if (!err)
        err = tree_put(st, &key, new.p, new.len);
    buf_release(&old);
    buf_release(&new);
    return err;
}

static int add_tag(struct store *st, uint64_t id, uint8_t tag)
{
    struct key key;

    key_make(&key, id, tag);
    return tree_put(st, &key, "later", 5);
}

static int change_file(const char *path, const uint64_t id[3])
{
    static const uint8_t record[] = {1, 44, 0, 0, 0, 5, 'l', 'a', 't', 'e', 'r'};
    struct buf header = {0};
    const uint8_t *p;
    struct store *st;
    struct io *io;
    size_t size;
    int err = io_posix(path, IO_WRITE, 0, 0, &io);

    if (!err)
        err = store_open(io, 1, &opts, &st);
    if (err)
        return err;
    st->slot.major = 1;
    st->slot.minor = 7;
    st->slot.compatible |= 1 << 20;
    p = store_header(st, &size);
    err = buf_set(&header, p, size);
    if (!err)
        err = buf_add(&header, record, sizeof record);
    if (!err)
        err = change_record(st, id[1], false);
    if (!err)
        err = change_record(st, id[2], true);
    if (!err)
        err = add_tag(st, id[0], 100);
    if (!err)
        err = add_tag(st, FMT_OBJECT_FILE, 200);
    if (!err)
        err = store_commit(st, header.p, header.len, header.len);
    buf_release(&header);
    store_close(st);
    return err;
}

int main(int argc, char **argv)
{
    uint64_t id[3];

    if (argc != 2)
        return 2;
    if (write_file(argv[1], id) || change_file(argv[1], id)) {
        fprintf(stderr, "make_later: %s\n", drep_error());
        return 1;
    }
    return 0;
}
