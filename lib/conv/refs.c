/* refs.c - references to other objects inside stored elements. */
/* SPDX-License-Identifier: MIT */
#include "conv/refs.h"

#include "base/error.h"
#include "base/idset.h"
#include "conv/heap.h"
#include "format/block.h"
#include "format/numbers.h"
#include "format/out.h"

#include <datarep.h>
#include <string.h>

bool type_refers(const drep_type *type)
{
    if (type->kind == DREP_KIND_REFERENCE)
        return true;
    for (int64_t i = 0; i < drep_type_members(type); i++)
        if (type_refers(drep_type_member(type, i)))
            return true;
    return false;
}

/* One item in memory: a reference, or a sequence of what may have some. */
static uint64_t greatest_at(const drep_type *leaf, const uint8_t *item)
{
    drep_ref ref;
    drep_vlen v;

    if (leaf->kind == DREP_KIND_REFERENCE) {
        memcpy(&ref, item, sizeof ref);
        return ref.object;
    }
    if (leaf->kind != DREP_KIND_SEQUENCE || !type_refers(leaf))
        return 0;
    memcpy(&v, item, sizeof v);
    return v.data && v.count > 0 ? refs_greatest(drep_type_member(leaf, 0), v.count, v.data) : 0;
}

uint64_t refs_greatest(const drep_type *type, int64_t count, const void *buf)
{
    int64_t left = count * type->items;
    uint64_t greatest = 0, id;
    drep_cursor cursor;
    drep_run run;

    if (!type_refers(type) || cursor_init(&cursor, &type->prog, 0) != 0)
        return 0;
    for (; left > 0 && cursor_next(&cursor, left, &run); left -= run.count)
        for (int64_t i = 0; i < run.count; i++) {
            id = greatest_at(run.type, (const uint8_t *)buf + run.offset + i * run.stride);
            greatest = id > greatest ? id : greatest;
        }
    return greatest;
}

/* Elements and contents belong to the caller and are changed in place.  Several elements may share
 * a content, whose references are replaced once. */
struct ref_map {
    const struct refs *r;
    struct idset visited; /* offsets of contents + 1 */
};

/* Replace the references in n elements that lie as `stored` says; depth: sequences they are inside
 * of, at most FMT_SEQ_DEPTH_MAX. */
static int map_elements(struct ref_map *m, const struct prog *stored, uint8_t *elems, int64_t n,
                        int depth);

static int map_content(struct ref_map *m, const drep_type *leaf, const uint8_t *item, int depth)
{
    const struct refs *r = m->r;
    struct heap_ref ref = heap_ref_get(item);
    struct prog base = {.extent = 0};
    bool ours, first = true;
    const uint8_t *p;
    int err;

    if (ref.count == 0 || !type_refers(leaf))
        return 0;
    if (depth >= FMT_SEQ_DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "sequences nested deeper than %d", FMT_SEQ_DEPTH_MAX);
    if ((err = heap_prog(leaf, r->sizes, PROG_PACKED, &base, &ours)))
        return err;
    err = heap_at(r->heap, r->heap_size, ref, (uint64_t)base.extent, &p);
    if (!err)
        err = idset_mark(&m->visited, ref.offset + 1, &first);
    if (!err && first)
        err = map_elements(m, &base, r->heap + ref.offset, (int64_t)ref.count, depth + 1);
    if (ours)
        prog_release(&base);
    return err;
}

static int map_elements(struct ref_map *m, const struct prog *stored, uint8_t *elems, int64_t n,
                        int depth)
{
    const struct refs *r = m->r;
    int64_t left = n * stored->items;
    drep_cursor cursor;
    drep_run run;
    int err = cursor_init(&cursor, stored, 0);

    while (!err && left > 0) {
        drep_cursor_next(&cursor, left, &run);
        left -= run.count;
        for (int64_t i = 0; !err && i < run.count; i++) {
            uint8_t *item = elems + run.offset + i * run.stride;

            if (run.type->kind == DREP_KIND_REFERENCE)
                store_u64(item, r->map(r->ctx, key_u64(item)));
            else if (run.type->kind == DREP_KIND_SEQUENCE)
                err = map_content(m, run.type, item, depth);
            else
                break;
        }
    }
    return err;
}

int refs_map(const struct refs *r, const struct prog *stored, uint8_t *elems, int64_t n)
{
    struct ref_map m = {.r = r};
    int err = map_elements(&m, stored, elems, n, 0);

    idset_release(&m.visited);
    return err;
}
