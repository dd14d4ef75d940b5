/* map.c - elements where they lie in the file.
 *
 * Only where the stored form is that of memory, byte for byte, and all elements stand in one
 * run; anything else is refused with the reason. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/handle.h"
#include "base/info.h"
#include "base/mem.h"
#include "base/pool.h"
#include "chunk/each.h"
#include "elem/dataset.h"
#include "file/team.h"
#include "rep/encodings.h"

#include <datarep.h>
#include <pthread.h>

/* True if memory holds the bytes of this scalar as the file does. */
static bool same_scalar(const struct rep_table *table, const drep_type *leaf)
{
    const drep_encoding *fe, *me;

    if (leaf->kind == DREP_KIND_SCALAR)
        return true; /* means the same everywhere */
    if (leaf->kind != DREP_KIND_PREDEFINED || !table)
        return false;
    if (leaf->code == DREP_CODE_BYTE || leaf->code == DREP_CODE_PACKED)
        return true;
    fe = &table->row[leaf->code];
    me = &rep_native()->row[leaf->code];
    return fe->format == me->format && fe->size == me->size &&
           (fe->order == me->order || fe->size == 1) && fe->format != DREP_FORMAT_CUSTOM;
}

/* Walks both typemaps over one element: each item must have the same bytes at the same place. */
static int same_form(const drep_dataset *ds)
{
    const struct prog *stored = &ds->ft->stored, *memory = &ds->ft->type->prog;
    const struct rep_table *table = file_rep_table(ds->rep, false);
    int64_t left = stored->items;
    drep_cursor sc, mc;
    drep_run s, m = {.count = 0};
    int err;

    if (stored->extent != memory->extent)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                    "an element takes %lld bytes in the file, %lld in memory",
                    (long long)stored->extent, (long long)memory->extent);
    err = cursor_init(&sc, stored, 0);
    if (!err)
        err = cursor_init(&mc, memory, 0);
    while (!err && left > 0) {
        if (m.count == 0)
            cursor_next(&mc, left, &m);
        cursor_next(&sc, m.count, &s);
        if (!same_scalar(table, s.type))
            return fail(DREP_ERR_UNSUPPORTED_OPERATION, "%s is stored in another form",
                        s.type->kind == DREP_KIND_PREDEFINED ? drep_code_name(s.type->code)
                                                             : "a reference or variable part");
        if (s.offset != m.offset || (s.count > 1 && s.stride != m.stride))
            return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                        "its members have another layout in memory");
        m.offset += s.count * m.stride;
        m.count -= s.count;
        left -= s.count;
    }
    return err;
}

/* Slabs whose sums are checked by several threads. */
struct verifying {
    drep_dataset *ds;
    uint64_t slabs;
};

static int verify_slab(void *ctx, int64_t i)
{
    const struct verifying *v = ctx;
    uint64_t slab = (uint64_t)i;

    return chunk_sums_check(&v->ds->chunks, &slab);
}

/* Finds the one run that holds all elements. The sums are checked before anything is handed out,
 * unless the caller does without. */
static int find_run(drep_dataset *ds, bool verify, uint64_t bytes, uint64_t *offset)
{
    uint64_t slabs = (bytes - 1) / ds->chunks.payload + 1;
    struct verifying v = {ds, slabs};
    int threads = (int)info_int(ds->file->hints.all, "drep_threads");
    int err = chunk_run_offset(&ds->chunks, slabs, bytes, offset);

    if (!err && verify && !ds->open.verified)
        err = pool_run(threads > 0 ? threads : pool_cpus(), (int64_t)slabs, verify_slab, &v);
    return err;
}

static int map(drep_dataset *ds, unsigned flags, const void **data, size_t *size)
{
    struct dataset_map *m;
    uint64_t bytes = (uint64_t)(dataset_count(ds) * ds->esize), offset = 0;
    int err = dataset_alive(ds);

    if (!err && flags & ~(unsigned)DREP_MAP_UNVERIFIED)
        err = fail(DREP_ERR_ARG, "flags %u", flags);
    if (!err && ds->rec.layout != FMT_CONTIGUOUS)
        err = fail(DREP_ERR_UNSUPPORTED_OPERATION, "only contiguous datasets can be mapped");
    if (!err)
        err = same_form(ds);
    if (!err && bytes > SIZE_MAX)
        err =
            fail(DREP_ERR_LIMIT, "%llu bytes exceed the address space", (unsigned long long)bytes);
    if (!err && bytes == 0) {
        *data = NULL;
        *size = 0;
        return 0;
    }
    if (!err)
        err = find_run(ds, !(flags & DREP_MAP_UNVERIFIED), bytes, &offset);
    if (err)
        return err;
    m = mem_zalloc(1, sizeof *m);
    if (!m)
        return DREP_ERR_NOMEM;
    err = store_map(ds->file->st, offset, (size_t)bytes, &m->at);
    if (err) {
        mem_free(m);
        return err;
    }
    *data = m->at.data;
    *size = m->at.size;
    pthread_mutex_lock(&ds->file->datasets.lock);
    if (!(flags & DREP_MAP_UNVERIFIED))
        ds->open.verified = true;
    m->next = ds->maps;
    ds->maps = m;
    pthread_mutex_unlock(&ds->file->datasets.lock);
    return 0;
}

int drep_dataset_map(drep_dataset *dataset, unsigned flags, const void **data, size_t *size)
{
    int err;

    if (!data || !size)
        return fail(DREP_ERR_ARG, "drep_dataset_map: null argument");
    if ((err = dataset_check(dataset, "drep_dataset_map")) ||
        (err = shared_refuses(dataset->file, "drep_dataset_map")) ||
        (err = read_begin(dataset->file)))
        return err;
    err = map(dataset, flags, data, size);
    return read_end(dataset->file, fail_dataset(err, dataset->path));
}

/* Also when the file is closed: then nobody shares the list. */
int drep_dataset_unmap(drep_dataset *dataset, const void *data)
{
    struct dataset_map **at, *m;
    drep_file *f;
    int err;

    if (!dataset)
        return fail(DREP_ERR_ARG, "drep_dataset_unmap: no dataset");
    if (!handle_is(dataset, HANDLE_DATASET))
        return fail(DREP_ERR_ARG, "drep_dataset_unmap: the dataset is closed");
    if (!data) /* of a dataset without elements */
        return 0;
    f = dataset->file;
    if (f && (err = file_settle(f)))
        return err;
    if (f)
        pthread_mutex_lock(&f->datasets.lock);
    for (at = &dataset->maps; *at && (*at)->at.data != data; at = &(*at)->next)
        ;
    m = *at;
    if (m)
        *at = m->next;
    if (f)
        pthread_mutex_unlock(&f->datasets.lock);
    if (!m)
        return fail_object(DREP_ERR_ARG, dataset->path,
                           "dataset \"%s\": nothing is mapped at this address", dataset->path);
    store_unmap(&m->at);
    mem_free(m);
    return 0;
}
