/* repair.c - a new file of what can be read of a damaged one.
 *
 * First the entries are salvaged (txn/salvage.c) and every chunk is verified, so that what is
 * damaged becomes fill.  If all of that can be copied as it is and the copy has no fault, that is
 * it.  Else the objects are copied one after the other from the root on, and what cannot be
 * copied is left out. */
/* SPDX-License-Identifier: MIT */
#include "api/repair.h"

#include "base/advance.h"
#include "base/error.h"
#include "base/idset.h"
#include "base/info.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chunk/each.h"
#include "chunk/patch.h"
#include "chunk/record.h"
#include "elem/fill.h"
#include "elem/payload.h"
#include "name/attr.h"
#include "name/dim_entry.h"
#include "name/find.h"
#include "name/link.h"
#include "name/object.h"
#include "space/extents.h"
#include "space/slots.h"
#include "tree/edit.h"
#include "tree/walk.h"
#include "txn/commit.h"
#include "txn/salvage.h"
#include "whole/copy.h"
#include "whole/unknown.h"

#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOUND_NAME 40

struct repair {
    drep_file *from, *to;
    const char *new_path;
    int amode;
    const drep_info *info;
    drep_finding_fn *fn;
    void *ctx;
    int64_t findings;
    int stop;
    uint64_t first_found;    /* objects from this number on are in lost+found */
    struct advance *advance; /* of mend_all(); NULL: nobody is asked */
    struct buf value;
};

static int finding(int err, uint64_t offset, const char *message, void *ctx)
{
    struct repair *r = ctx;

    r->findings++;
    if (r->fn && r->stop == 0)
        r->stop = r->fn(err, offset, message, r->ctx);
    return r->stop;
}

/* What a check finds in the new file: its bytes are not those of the damaged one. */
static int finding_left(int err, uint64_t offset, const char *message, void *ctx)
{
    char text[1600];

    if (offset != 0)
        snprintf(text, sizeof text, "the new file, byte %llu: %s", (unsigned long long)offset,
                 message);
    else
        snprintf(text, sizeof text, "the new file: %s", message);
    return finding(err, 0, text, ctx);
}

/* True for errors that do not only concern the object at hand: memory, I/O, the new file. */
static bool fatal(const struct repair *r, int err)
{
    return r->stop != 0 || err == DREP_ERR_NOMEM || err == DREP_ERR_NO_SPACE ||
           err == DREP_ERR_FAILED || err == DREP_ERR_STOPPED;
}

/* Tells that something could not be copied and goes on, unless the error is fatal. */
static int tell_lost(struct repair *r, int err, const char *kind, const char *name)
{
    char text[1500];

    if (fatal(r, err))
        return r->stop != 0 ? r->stop : err;
    snprintf(text, sizeof text, "%s \"%s\" is lost: %s", kind, name, drep_error());
    return finding(err, 0, text, r);
}

/* ---- payload ---- */

/* The part of a record that is damaged. */
enum bad_part {
    BAD_RECORD, /* the record, or payload that only a record of its own could hold */
    BAD_ROW,    /* a filtered chunk */
    BAD_BLOCKS  /* blocks of plain payload */
};

struct bad_chunk {
    uint64_t coord[DREP_MAX_RANK];
    struct buf record;
    enum bad_part part;
};

struct mending {
    struct repair *r;
    drep_dataset *ds;
    const char *path;
    const char *fill; /* what lost elements read as */
    struct bad_chunk *bad;
    size_t n, room;
    struct extents *claimed;
    /* The record that is being mended. */
    const uint64_t *coord;
    uint64_t offset, size;
};

static void coord_text(const struct mending *m, const uint64_t *coord, char *text, size_t size)
{
    size_t n = 0;

    text[0] = '\0';
    for (int k = 0; k < m->ds->chunks.rank && n < size; k++)
        n += (size_t)snprintf(text + n, size - n, "%s%llu", k > 0 ? "," : "",
                              (unsigned long long)coord[k]);
}

/* Zeros look like data where programs take another value, that of the attribute, for missing. */
static const char *fill_words(const struct repair *r, const drep_dataset *ds, const char *path)
{
    struct attr_found marks = {0};
    bool marked =
        ds->rec.fill == FMT_FILL_ZERO && attr_find(r->from, path, "_FillValue", &marks) == 0;

    attr_found_release(&marks);
    return marked ? "fill, which is 0 here, not its attribute \"_FillValue\"" : "fill";
}

/* Notes a chunk that is damaged; it is mended after the walk, which may not change the tree. */
static int note_bad(struct mending *m, const uint64_t *coord, const struct buf *record,
                    enum bad_part part, uint64_t offset)
{
    struct fail_state why;
    char text[2400], at[700];
    int rank = m->ds->chunks.rank;

    fail_save(&why);
    if (VEC_ROOM(m->bad, m->n, m->room, 1) != 0)
        return DREP_ERR_NOMEM;
    memset(&m->bad[m->n], 0, sizeof *m->bad);
    memcpy(m->bad[m->n].coord, coord, (size_t)rank * sizeof *coord);
    m->bad[m->n].part = part;
    if (buf_set(&m->bad[m->n].record, record->p, record->len) != 0)
        return DREP_ERR_NOMEM;
    m->n++;
    coord_text(m, coord, at, sizeof at);
    snprintf(text, sizeof text, "dataset \"%s\": chunk (%s): %s%s%s", m->path, at, why.text,
             part != BAD_BLOCKS ? "; it reads as " : "", part != BAD_BLOCKS ? m->fill : "");
    return finding(DREP_ERR_CHECKSUM, offset, text, m->r);
}

/* The variable parts of all chunks of a record: bytes with right sums may still be malformed. */
static int check_heaps(struct mending *m, const uint64_t *coord, const struct chunk_rec *rec)
{
    uint64_t at[DREP_MAX_RANK] = {0};
    struct buf b = {0};
    size_t fixed;
    int rank = m->ds->chunks.rank, err = 0;

    memcpy(at, coord, (size_t)rank * sizeof *at);
    for (uint32_t i = 0; !err && i < rec->run; i++) {
        err = chunk_load(m->ds, at, &b, &fixed);
        if (rank > 0)
            at[rank - 1]++;
    }
    buf_release(&b);
    return err;
}

/* One plain run, or one filtered chunk. */
struct seen_record {
    struct mending *m;
    const struct buf *value;
};

static int check_one_chunk(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    const struct seen_record *s = ctx;
    struct mending *m = s->m;
    const struct chunks *cs = &m->ds->chunks;
    uint64_t absent;
    int err = chunk_verify(&m->ds->chunks, coord, rec, CHUNK_DECODE, &absent);

    if (advance_add(m->r->advance, (int64_t)(rec->size * rec->run)))
        return DREP_ERR_STOPPED;
    if (!err && cs->variable)
        err = check_heaps(m, coord, rec);
    /* A filter that nobody has here is no damage, nor is a chunk beyond the opener's limit. */
    if (err == DREP_ERR_UNSUPPORTED || err == DREP_ERR_LIMIT)
        return 0;
    /* Nor are another file's bytes: that file may come back as it was. */
    if (rec->file && err != DREP_ERR_NOMEM)
        return 0;
    if (!err || err == DREP_ERR_NOMEM)
        return err;
    return note_bad(m, coord, s->value,
                    rec->filtered                             ? BAD_ROW
                    : cs->variable || rec->size > cs->payload ? BAD_RECORD
                                                              : BAD_BLOCKS,
                    rec->offset);
}

/* One record, as the tree has it. */
static int check_chunk(struct mending *m, const struct key *key, const struct buf *value)
{
    const struct chunks *cs = &m->ds->chunks;
    struct seen_record s = {m, value};
    uint64_t coord[DREP_MAX_RANK] = {0};
    struct chunk_lines lines;
    struct chunk_rec rec;
    int err = chunk_entry(cs, key, value, coord, &rec);

    if (err == DREP_ERR_UNSUPPORTED)
        return 0; /* of a later version, no damage */
    if (err) {
        fail(DREP_ERR_FORMAT, "a malformed record (R1.6)");
        for (int k = 0; k < cs->rank && key->len == RECORDS_PREFIX + 8 * (size_t)cs->rank; k++)
            coord[k] = key_u64(key->p + RECORDS_PREFIX + 8 * k);
        return note_bad(m, coord, value, BAD_RECORD, 0);
    }
    err = chunk_lines(&rec, &lines);
    for (uint32_t i = 0; !err && i < lines.n; i++)
        err = extents_add(m->claimed, lines.at[i].offset, lines.at[i].length, NULL);
    if (err == DREP_ERR_FORMAT) {
        fail(err, "its payload at byte %llu overlaps another extent",
             (unsigned long long)rec.offset);
        return note_bad(m, coord, value, BAD_RECORD, rec.offset);
    }
    return err ? err : rows_each(cs, coord, &rec, check_one_chunk, &s);
}

/* Gives the store bytes of fill for the blocks that cannot be read. */
static void put_fill(uint8_t *p, uint64_t from, uint64_t to, uint64_t offset, void *ctx)
{
    struct mending *m = ctx;
    const struct object_rec *rec = &m->ds->rec;
    uint64_t es = (uint64_t)(m->ds->esize > 0 ? m->ds->esize : 1), over = to % es, first = 0;
    uint64_t coord[DREP_MAX_RANK] = {0}, behind = (offset - from - m->offset) / m->size;
    char text[2400], at[700], chunk[720] = "";

    from -= from % es;
    to += over == 0 ? 0 : es - over;
    if (to > m->size && m->size % es != 0)
        to = m->size;
    memcpy(coord, m->coord, (size_t)m->ds->chunks.rank * sizeof *coord);
    if (m->ds->chunks.rank > 0)
        coord[m->ds->chunks.rank - 1] += behind;
    if (rec->layout == FMT_CONTIGUOUS) {
        first = coord[0] * rec->slab;
    } else {
        coord_text(m, coord, at, sizeof at);
        snprintf(chunk, sizeof chunk, " of chunk (%s)", at);
    }
    snprintf(text, sizeof text, "dataset \"%s\": elements %llu to %llu%s read as %s", m->path,
             (unsigned long long)(first + from / es),
             (unsigned long long)(first + (to + es - 1) / es - 1), chunk, m->fill);
    if (fill_bytes(m->ds, p + from, from, to - from) != 0)
        memset(p + from, 0, (size_t)(to - from));
    finding(DREP_ERR_CHECKSUM, offset, text, m->r);
}

static int mend_chunk(struct mending *m, struct bad_chunk *bad)
{
    struct chunk_rec rec;
    struct key key;
    struct in in;

    in_init(&in, bad->record.p, bad->record.len);
    if (bad->part == BAD_ROW)
        return chunk_remove(&m->ds->chunks, bad->coord) == DREP_ERR_NOMEM ? DREP_ERR_NOMEM
                                                                          : m->r->stop;
    if (bad->part == BAD_BLOCKS && chunk_get(&in, &rec) == 0) {
        m->coord = bad->coord;
        m->offset = rec.offset;
        m->size = rec.size;
        if (chunk_salvage(&m->ds->chunks, bad->coord, &rec, put_fill, m) == 0)
            return m->r->stop;
    }
    key_make(&key, m->ds->id, FMT_TAG_CHUNK);
    for (int k = 0; k < m->ds->chunks.rank; k++)
        key_add_u64(&key, bad->coord[k]);
    return tree_del(m->r->from->st, &key) == DREP_ERR_NOMEM ? DREP_ERR_NOMEM : m->r->stop;
}

/* A compact dataset whose value is damaged becomes fill. */
static int mend_compact(struct mending *m)
{
    struct buf b = {0};
    struct key key;
    char text[1500];
    size_t fixed;
    int err = compact_load(m->ds, &b, &fixed);

    buf_release(&b);
    if (!err || fatal(m->r, err))
        return err;
    snprintf(text, sizeof text, "dataset \"%s\": %s; all its elements read as %s", m->path,
             drep_error(), m->fill);
    if ((err = finding(err, 0, text, m->r)))
        return err;
    key_make(&key, m->ds->id, FMT_TAG_DATA);
    err = tree_del(m->r->from->st, &key);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int mend_dataset(struct repair *r, uint64_t id, struct extents *claimed)
{
    struct mending m = {.r = r, .claimed = claimed};
    char *path = NULL, name[FOUND_NAME];
    struct tree_walk w;
    struct key key;
    int err;

    snprintf(name, sizeof name, "object %llu", (unsigned long long)id);
    if (object_path(r->from, id, &path) != 0)
        path = NULL;
    m.path = path ? path : name;
    if (dataset_get(r->from, id, m.path, &m.ds) != 0) {
        mem_free(path); /* copying it will say so */
        return 0;
    }
    m.fill = fill_words(r, m.ds, m.path);
    if (m.ds->rec.layout == FMT_COMPACT && m.ds->ft->type->variable) {
        err = mend_compact(&m);
        mem_free(path);
        dataset_put(m.ds);
        return err;
    }
    key_make(&key, id, FMT_TAG_CHUNK);
    tree_walk(&w, r->from->st, &key, key.len);
    while (!(err = tree_next(&w, &key, &r->value)))
        if ((err = check_chunk(&m, &key, &r->value)))
            break;
    err = err == DREP_ERR_NOT_FOUND ? 0 : err;
    for (size_t i = 0; i < m.n; i++) {
        if (!err)
            err = mend_chunk(&m, &m.bad[i]);
        buf_release(&m.bad[i].record);
    }
    mem_free(m.bad);
    mem_free(path);
    dataset_put(m.ds);
    return err;
}

/* Whether the value of an attribute can be read; an unknown type is no damage. */
static int check_attr(struct repair *r, const struct key *key)
{
    struct attr_rec rec;
    struct ftype *ft;
    int64_t count;
    struct in in;
    int err;

    in_init(&in, r->value.p, r->value.len);
    if (attr_get(&in, &rec) != 0)
        return fail(DREP_ERR_FORMAT, "%s", in.why);
    name_beyond(key->len - FMT_KEY_HEAD, &rec.kind, &rec.beyond);
    if (rec.kind == FMT_LATER)
        return attr_later(&rec);
    if (rec.rank == FMT_RANK_NULL || ftype_get(r->from, rec.type, NULL, &ft) != 0)
        return 0;
    err = attr_count(&rec, &count);
    return !err && count > 0 ? value_check(&rec.value, ft, count) : err;
}

/* Takes away attributes whose values are malformed, one after the other. */
static int mend_attrs(struct repair *r, uint64_t id)
{
    char *path = NULL, name[FOUND_NAME], text[2400];
    struct tree_walk w;
    struct key key;
    int err;

    snprintf(name, sizeof name, "object %llu", (unsigned long long)id);
    if (object_path(r->from, id, &path) != 0)
        path = NULL;
    for (;;) {
        key_make_attr(&key, id);
        tree_walk(&w, r->from->st, &key, key.len);
        while (!(err = tree_next(&w, &key, &r->value)))
            if ((err = check_attr(r, &key)))
                break;
        if (!err || err == DREP_ERR_NOT_FOUND || fatal(r, err))
            break;
        snprintf(text, sizeof text, "%s: attribute \"%.*s\" is lost: %s", path ? path : name,
                 name_shown(key.len - FMT_KEY_HEAD), (const char *)key.p + FMT_KEY_HEAD,
                 drep_error());
        if ((err = finding(err, 0, text, r)) || (err = tree_del(r->from->st, &key)))
            break;
    }
    mem_free(path);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* Mends the salvaged entries in place, so that copying them cannot fail for what was found here. */
static int mend_all(struct repair *r)
{
    struct extents claimed = {0};
    uint64_t id = 0;
    int err;

    r->advance = advance_begin(0);
    while (!(err = object_next(r->from, id, &id)) && id != 0) {
        struct object_head head;

        if ((err = mend_attrs(r, id)))
            break;
        if (id >= r->first_found) /* another version of a dataset has mostly the same payload */
            extents_release(&claimed);
        if (head_load(r->from, id, &head) == 0 && head.kind == FMT_DATASET &&
            (err = mend_dataset(r, id, &claimed)))
            break;
    }
    advance_end(r->advance);
    extents_release(&claimed);
    return err;
}

/* ---- the new file ---- */

static int begin(struct repair *r)
{
    drep_info *info;
    int err = drep_info_new(&info);

    if (err)
        return err;
    if (r->info)
        err = info_merge(info, r->info);
    if (!err)
        err = drep_info_set(info, "drep_pack", "true");
    if (!err)
        err = drep_create_like(r->new_path, r->amode, r->from, info, &r->to);
    if (!err)
        store_hold(r->to->st);
    drep_info_free(info);
    return err;
}

static int only_count(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)err, (void)offset, (void)message, (void)ctx;
    return 0;
}

/* Everything as it is; *good: and it is a file without a fault, committed. */
static int copy_whole(struct repair *r, bool *good)
{
    int64_t findings = 0;
    int err = begin(r);

    *good = false;
    if (err)
        return err;
    err = drep_copy(r->from, "/", r->to, "/",
                    &DREP_COPYING(.datarep = DREP_DATAREP_STORED,
                                  .external = copy_one_directory(r->from, r->to)));
    if (!err)
        err = drep_commit(r->to);
    if (!err)
        err = drep_check(r->to, 1, only_count, NULL, &findings);
    *good = !err && findings == 0;
    if (*good)
        return 0;
    drep_abandon(r->to);
    r->to = NULL;
    return fatal(r, err) ? err : 0;
}

/* ---- object by object ---- */

struct link {
    char *name;
    struct link_rec rec;
    struct buf bytes; /* that rec points into */
    bool early;       /* to a group, whose dimensions datasets elsewhere may need */
};

struct links {
    struct link *p;
    size_t n, room;
    bool again; /* loaded before: what is malformed has been told */
};

struct repair_step { /* a group to be filled */
    uint64_t id;
    char *path;
};

struct rescue {
    struct repair *r;
    struct repair_step *step;
    size_t n, room;
    size_t done;         /* groups that are filled */
    struct idset places; /* path of each object that was copied */
    struct idset visited;
};

static int by_index(const void *a, const void *b)
{
    const struct link *x = a, *y = b;

    return (x->rec.index > y->rec.index) - (x->rec.index < y->rec.index);
}

static void links_release(struct links *l)
{
    for (size_t i = 0; i < l->n; i++) {
        mem_free(l->p[i].name);
        buf_release(&l->p[i].bytes);
    }
    mem_free(l->p);
}

static int links_add(struct repair *r, struct links *l, const struct key *key)
{
    struct object_head head;
    struct link *k;
    struct in in;

    if (VEC_ROOM(l->p, l->n, l->room, 1) != 0)
        return DREP_ERR_NOMEM;
    k = &l->p[l->n];
    memset(k, 0, sizeof *k);
    if (buf_set(&k->bytes, r->value.p, r->value.len) != 0)
        return DREP_ERR_NOMEM;
    in_init(&in, k->bytes.p, k->bytes.len);
    if (link_get(&in, &k->rec) != 0 ||
        name_stored_check(key->p + FMT_KEY_HEAD, key->len - FMT_KEY_HEAD) != 0) {
        buf_release(&k->bytes);
        if (l->again)
            return 0;
        fail(DREP_ERR_FORMAT, "a malformed link (R7.8)");
        return tell_lost(r, DREP_ERR_FORMAT, "link", "?");
    }
    name_beyond(key->len - FMT_KEY_HEAD, &k->rec.kind, &k->rec.beyond);
    k->name = mem_strndup((const char *)key->p + FMT_KEY_HEAD, key->len - FMT_KEY_HEAD);
    if (!k->name) {
        buf_release(&k->bytes);
        return fail_nomem();
    }
    k->early = k->rec.kind == FMT_HARD && head_load(r->from, k->rec.object, &head) == 0 &&
               head.kind == FMT_GROUP;
    l->n++;
    return 0;
}

/* All links of a group, in the order in which they are to be made. */
static int links_load(struct repair *r, uint64_t group, struct links *l)
{
    struct tree_walk w;
    struct key key;
    int err;

    key_make(&key, group, FMT_TAG_LINK);
    tree_walk(&w, r->from->st, &key, FMT_KEY_HEAD);
    while (!(err = tree_next(&w, &key, &r->value)))
        if ((err = links_add(r, l, &key)))
            return err;
    if (l->n > 1)
        qsort(l->p, l->n, sizeof *l->p, by_index);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static char *joined(const char *group, const char *name)
{
    size_t a = strlen(group), b = strlen(name);
    char *path;

    if (strcmp(group, "/") == 0)
        a = 0;
    path = mem_alloc(a + b + 2);
    if (!path)
        return NULL;
    memcpy(path, group, a);
    path[a] = '/';
    memcpy(path + a + 1, name, b + 1);
    return path;
}

static int step_add(struct rescue *p, uint64_t id, const char *path)
{
    if (VEC_ROOM(p->step, p->n, p->room, 1) != 0)
        return DREP_ERR_NOMEM;
    p->step[p->n] = (struct repair_step){id, mem_strdup(path)};
    if (!p->step[p->n].path)
        return fail_nomem();
    p->n++;
    return 0;
}

static int place_add(struct rescue *p, uint64_t id, const char *path)
{
    uintptr_t *value = idset_add(&p->places, id);
    char *copy = !value ? NULL : mem_strdup(path);

    if (!copy)
        return DREP_ERR_NOMEM;
    *value = (uintptr_t)copy;
    return 0;
}

static const char *place_of(const struct rescue *p, uint64_t id)
{
    const uintptr_t *value = idset_find(&p->places, id);

    return !value ? NULL : (const char *)*value;
}

struct attrs_of {
    struct repair *r;
    const char *path;
};

static int copy_attr(const char *name, void *ctx)
{
    const struct attrs_of *at = ctx;
    struct repair *r = at->r;
    drep_attrinfo *info = mem_alloc(sizeof *info);
    void *buf = NULL;
    int err = DREP_ERR_NOMEM;

    if (info) {
        *info = DREP_ATTRINFO;
        err = drep_attr_info(r->from, at->path, name, info);
    }
    if (!err) {
        int64_t extent = drep_type_extent(info->type);

        buf = mem_zalloc((uint64_t)info->count + 1, (size_t)(extent > 0 ? extent : 1));
        err = !buf ? fail_nomem() : drep_attr_read(r->from, at->path, name, info->type, buf);
        if (!err)
            err = drep_attr_write(r->to, at->path, name, info->type, info->rank, info->dims, buf);
        if (buf)
            drep_vlen_free(info->type, info->count, buf);
        mem_free(buf);
        drep_attrinfo_release(info);
    }
    mem_free(info);
    return !err ? 0 : tell_lost(r, err, "attribute", name);
}

static int copy_attrs(struct repair *r, const char *path)
{
    struct attrs_of at = {r, path};
    int err = drep_attr_list(r->from, path, DREP_BY_NAME, copy_attr, &at);

    return !err || r->stop != 0 ? r->stop : tell_lost(r, err, "attributes of", path);
}

static const char *dimension_path(uint64_t id, void *ctx)
{
    return place_of(ctx, id);
}

/* An object that is met first here. */
static int copy_object(struct rescue *p, uint64_t id, const char *path)
{
    struct repair *r = p->r;
    struct object_head head;
    int err = head_load(r->from, id, &head);

    if (!err && head.kind == FMT_DIMENSION)
        err = fail(DREP_ERR_FORMAT, "a link leads to a dimension (R7.9)");
    if (!err && head.kind == FMT_GROUP)
        err = drep_group_create(r->to, path, 0);
    else if (!err)
        err = object_copy(r->from, path, r->to, path, dimension_path, p);
    if (err)
        return tell_lost(r, err, "object", path);
    err = place_add(p, id, path);
    if (!err && head.kind == FMT_GROUP)
        err = step_add(p, id, path);
    return err;
}

static int copy_hard(struct rescue *p, uint64_t id, const char *path)
{
    struct repair *r = p->r;
    const char *before;
    bool first;
    int err = idset_mark(&p->visited, id, &first);

    if (err)
        return err;
    if (first)
        return copy_object(p, id, path);
    before = place_of(p, id);
    err = !before ? fail(DREP_ERR_NOT_FOUND, "its object is lost")
                  : drep_link_hard(r->to, before, path);
    return !err ? 0 : tell_lost(r, err, "hard link", path);
}

static int copy_link(struct rescue *p, const char *group, const struct link *link)
{
    struct repair *r = p->r;
    char *path = joined(group, link->name), *target = NULL, *file = NULL;
    int err = !path ? fail_nomem() : 0;

    if (!err && link->rec.kind == FMT_HARD) {
        err = copy_hard(p, link->rec.object, path);
    } else if (!err && link->rec.kind == FMT_LATER) {
        err = tell_lost(r, link_later(link->name, strlen(link->name), &link->rec), "link", path);
    } else if (!err) {
        target = mem_strndup((const char *)link->rec.path.p, link->rec.path.len);
        file = link->rec.file.len > 0
                   ? mem_strndup((const char *)link->rec.file.p, link->rec.file.len)
                   : NULL;
        if (!target)
            err = fail_nomem();
        else if (file)
            err = drep_link_external(r->to, file, target, path);
        else
            err = drep_link_soft(r->to, target, path);
        if (err)
            err = tell_lost(r, err, "link", path);
    }
    mem_free(target);
    mem_free(file);
    mem_free(path);
    return err;
}

/* Copy one dimension of a group under its address, which no other object can have. */
static int copy_dimension(struct rescue *p, const char *group, const char *name, uint64_t id)
{
    struct repair *r = p->r;
    char last[FMT_NAME_MAX + 3], *path;
    bool first;
    int err = idset_mark(&p->visited, id, &first);

    snprintf(last, sizeof last, "/#%s", name);
    path = joined(group, last);
    if (!path)
        return fail_nomem();
    if (!err && !first)
        err = fail(DREP_ERR_FORMAT, "another entry leads to it (R7.17)");
    else if (!err)
        err = object_copy(r->from, path, r->to, path, dimension_path, p);
    err = !err ? place_add(p, id, path) : tell_lost(r, err, "dimension", path);
    mem_free(path);
    return err;
}

struct dim_at {
    uint64_t index, id;
    char *name;
};

static int by_dim_index(const void *a, const void *b)
{
    const struct dim_at *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

/* The dimensions of a group, in their order of creation. */
static int copy_dimensions(struct rescue *p, size_t step)
{
    const struct repair_step at = p->step[step];
    struct repair *r = p->r;
    struct dim_at *dim = NULL;
    size_t n = 0, room = 0;
    struct dim_walk w;
    int err;

    dim_walk_begin(&w, r->from, at.id);
    while ((err = dim_walk_next(&w)) != DREP_ERR_NOT_FOUND) {
        if (err && err != DREP_ERR_FORMAT)
            break;
        if (!err && w.rec.kind == FMT_LATER)
            err = dim_later(&w.key, &w.rec);
        if (err && (err = tell_lost(r, err, "dimension", at.path)))
            break;
        if (w.rec.object == 0)
            continue;
        if (VEC_ROOM(dim, n, room, 1) != 0) {
            err = fail_nomem();
            break;
        }
        dim[n++] = (struct dim_at){
            w.rec.index, w.rec.object,
            mem_strndup((const char *)w.key.p + DIM_NAME_AT, w.key.len - DIM_NAME_AT)};
        w.rec.object = 0; /* an entry that does not decode leaves it so */
    }
    err = dim_walk_end(&w, err);
    if (n > 1)
        qsort(dim, n, sizeof *dim, by_dim_index);
    for (size_t i = 0; i < n; i++) {
        if (!err)
            err = dim[i].name ? copy_dimension(p, at.path, dim[i].name, dim[i].id) : fail_nomem();
        mem_free(dim[i].name);
    }
    mem_free(dim);
    return err;
}

static int copy_links(struct rescue *p, size_t step, bool early)
{
    const struct repair_step at = p->step[step]; /* the table may grow */
    struct links links = {.again = !early};
    int err = links_load(p->r, at.id, &links);

    for (size_t i = 0; !err && i < links.n; i++)
        if (links.p[i].early == early)
            err = copy_link(p, at.path, &links.p[i]);
    links_release(&links);
    return err;
}

/* Fills the groups one after the other. Dimensions and links to groups come first, since datasets
 * elsewhere may need them. */
static int copy_steps(struct rescue *p)
{
    int err = 0;

    for (size_t i = p->done; !err && i < p->n; i++) {
        err = copy_dimensions(p, i);
        if (!err)
            err = copy_links(p, i, true);
    }
    for (; !err && p->done < p->n; p->done++) {
        err = copy_attrs(p->r, p->step[p->done].path);
        if (!err)
            err = copy_links(p, p->done, false);
    }
    return err;
}

/* Links an object that nothing led to as /lost+found-ID and copies it. */
static int adopt(struct rescue *p, uint64_t id)
{
    struct link_rec link = {.kind = FMT_HARD, .index = UINT32_MAX + id, .object = id};
    struct object_head head;
    struct repair *r = p->r;
    char name[FOUND_NAME], path[FOUND_NAME + 1], text[200];
    struct buf bytes = {0};
    struct out out;
    struct key key;
    int err;

    snprintf(name, sizeof name, "lost+found-%llu", (unsigned long long)id);
    snprintf(path, sizeof path, "/%s", name);
    if ((err = head_load(r->from, id, &head)))
        return err;
    link.object_kind = head.number;
    key_make(&key, FMT_OBJECT_ROOT, FMT_TAG_LINK);
    key_add_bytes(&key, name, strlen(name));
    buf_out(&bytes, &out);
    link_put(&out, &link);
    err = buf_done(&bytes, &out);
    if (!err)
        err = tree_put(r->from->st, &key, bytes.p, bytes.len);
    buf_release(&bytes);
    if (!err)
        err = copy_object(p, id, path);
    if (err)
        return err;
    snprintf(text, sizeof text, "no link leads to object %llu; it is \"%s\" now",
             (unsigned long long)id, name);
    err = finding(DREP_ERR_NOT_FOUND, 0, text, r);
    return !err ? copy_steps(p) : err;
}

/* Gives a dimension that no group led to an entry in the root, and copies it. */
static int adopt_dimension(struct rescue *p, uint64_t id)
{
    struct dim_rec rec = {.kind = FMT_PLAIN, .index = UINT32_MAX + id, .object = id};
    struct repair *r = p->r;
    char name[FOUND_NAME], text[200];
    int err;

    snprintf(name, sizeof name, "lost+found-%llu", (unsigned long long)id);
    err = dim_entry_put(r->from, FMT_OBJECT_ROOT, name, &rec);
    if (!err)
        err = copy_dimension(p, "/", name, id);
    if (err)
        return err;
    snprintf(text, sizeof text, "no group leads to dimension %llu; it is \"/#%s\" now",
             (unsigned long long)id, name);
    return finding(DREP_ERR_NOT_FOUND, 0, text, r);
}

/* An object that nothing led to. */
static int rescue_orphan(struct rescue *p, uint64_t id, int kind)
{
    struct object_head head;
    bool first;
    int err;

    if (head_load(p->r->from, id, &head) != 0 ||
        (head.kind == FMT_DIMENSION || head.kind == FMT_GROUP ? head.kind : FMT_DATASET) != kind)
        return 0;
    if (kind == FMT_DIMENSION && idset_find(&p->visited, id))
        return 0;
    if (kind == FMT_DIMENSION)
        return adopt_dimension(p, id);
    err = idset_mark(&p->visited, id, &first);
    return !err && first ? adopt(p, id) : err;
}

/* First the groups, whose members others may be, then the dimensions, which datasets need. */
static int copy_orphans(struct rescue *p)
{
    static const int kinds[] = {FMT_GROUP, FMT_DIMENSION, FMT_DATASET};

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint64_t id = FMT_OBJECT_ROOT;
        int err;

        while (!(err = object_next(p->r->from, id, &id)) && id != 0)
            if ((err = rescue_orphan(p, id, kinds[k])))
                break;
        if (err)
            return err;
    }
    return 0;
}

static int has_links(struct repair *r, uint64_t id)
{
    struct tree_walk w;
    struct key key;

    key_make(&key, id, FMT_TAG_LINK);
    tree_walk(&w, r->from->st, &key, FMT_KEY_HEAD);
    return tree_next(&w, &key, NULL) == 0;
}

/* Groups whose record is lost are known by their links. */
static int renew_groups(struct repair *r)
{
    struct object_head root;
    uint64_t id = 0;
    int err;

    while (!(err = object_next(r->from, id, &id)) && id != 0) {
        struct object_rec rec = {.kind = FMT_GROUP, .links = 1};
        struct object_head head;
        char text[100];

        if (!(err = head_load(r->from, id, &head)))
            continue;
        snprintf(text, sizeof text, "the record of object %llu is lost", (unsigned long long)id);
        if (fatal(r, err) || (err = finding(err, 0, text, r)))
            return err;
        if ((id == FMT_OBJECT_ROOT || has_links(r, id)) && (err = object_store(r->from, id, &rec)))
            return err;
    }
    if (!err && head_load(r->from, FMT_OBJECT_ROOT, &root) != 0) {
        struct object_rec rec = {.kind = FMT_GROUP, .links = 1};

        err = object_store(r->from, FMT_OBJECT_ROOT, &rec);
    }
    return err;
}

static int copy_pieces(struct repair *r)
{
    struct rescue p = {.r = r};
    bool first;
    int err = renew_groups(r);

    if (!err)
        err = begin(r);
    if (!err)
        err = idset_mark(&p.visited, FMT_OBJECT_ROOT, &first);
    if (!err)
        err = place_add(&p, FMT_OBJECT_ROOT, "/");
    if (!err)
        err = step_add(&p, FMT_OBJECT_ROOT, "/");
    if (!err)
        err = copy_steps(&p);
    if (!err)
        err = copy_orphans(&p);
    while (p.n > 0)
        mem_free(p.step[--p.n].path);
    for (size_t i = 0; i < p.places.size; i++)
        mem_free((char *)p.places.slot[i].value);
    idset_release(&p.places);
    mem_free(p.step);
    idset_release(&p.visited);
    return err ? err : drep_commit(r->to);
}

/* ---- all of it ---- */

/* drep_copy() refuses a file with such a feature, so that its objects are copied one by one. */
static int check_features(struct repair *r)
{
    int err = slot_known(&r->from->st->slot);
    char text[700];

    if (!err)
        return 0;
    snprintf(text, sizeof text, "%s: entries and header records of unknown tags are left out",
             drep_error());
    return finding(err, 0, text, r);
}

static int publish_new(drep_file *f)
{
    int err = change_begin(f);

    if (err)
        return err;
    err = store_publish(f->st);
    alone_end(f);
    return err;
}

static int finding_unknown(uint64_t id, const char *message, void *ctx)
{
    char text[200];

    if (id == FMT_OBJECT_FILE)
        snprintf(text, sizeof text, "left out: %s", message);
    else
        snprintf(text, sizeof text, "object %llu and others: left out: %s", (unsigned long long)id,
                 message);
    return finding(DREP_ERR_UNSUPPORTED, 0, text, ctx);
}

/* Entries and header records of unknown tags are in no new file. */
static int tell_unknown(struct repair *r)
{
    struct unknown u = {.space = {{0, 0}}};
    int err = unknown_of_all(&u, r->from);

    return fatal(r, err) ? err : unknown_tell(&u, r->from, true, finding_unknown, r);
}

/* The new file gets its name last, when nothing is left that may fail. */
static int repair(struct repair *r)
{
    bool good = false;
    int err = check_features(r);

    if (!err)
        err = mend_all(r);
    if (!err)
        err = copy_whole(r, &good);
    if (!err && !good) {
        err = copy_pieces(r);
        if (!err)
            err = drep_check(r->to, 1, finding_left, r, NULL);
    }
    if (!err && r->stop == 0)
        err = tell_unknown(r);
    if (r->stop != 0)
        return r->stop;
    return err ? err : fail_in(publish_new(r->to), "%s", r->new_path);
}

int repair_on(struct io *io, const char *new_path, int amode, const drep_info *info,
              drep_finding_fn *fn, void *ctx, int64_t *findings)
{
    struct repair r = {.new_path = new_path, .amode = amode, .info = info, .fn = fn, .ctx = ctx};
    int err = file_salvage(io, info, finding, &r, &r.from, &r.first_found);

    if (!err)
        err = repair(&r);
    if (r.to)
        drep_abandon(r.to);
    if (r.from)
        drep_abandon(r.from);
    buf_release(&r.value);
    if (!err && findings)
        *findings = r.findings;
    return err;
}

int drep_repair(const char *path, const char *new_path, int amode, const drep_info *info,
                drep_finding_fn *fn, void *ctx, int64_t *findings)
{
    struct io *io;
    int err;

    if (!path || !new_path)
        return fail(DREP_ERR_ARG, "drep_repair: null argument");
    if (amode & ~(DREP_RDWR | DREP_EXCL))
        return fail(DREP_ERR_AMODE, "%s: access mode %d", new_path, amode);
    if ((err = io_posix(path, IO_READ, 0, 0, &io)))
        return err;
    return repair_on(io, new_path, amode, info, fn, ctx, findings);
}
