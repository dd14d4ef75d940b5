/* types.c - the datatypes that a file's records name. */
/* SPDX-License-Identifier: MIT */
#include "file/types.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "file/file.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/walk.h"

#include <datarep.h>
#include <stdatomic.h>
#include <string.h>

/* A datatype read so far.  Entries are only ever added while others may look. */
struct type_entry {
    struct ftype ft;
    const struct file_rep *rep; /* NULL: not laid out */
    uint32_t ref;
    struct type_entry *next;
};

static void type_key(struct key *key, uint32_t number)
{
    key_make(key, FMT_OBJECT_FILE, FMT_TAG_TYPE);
    key_add_u32(key, number);
}

static void ftype_free(struct type_entry *t)
{
    for (int i = 0; i < 2; i++)
        mem_free(atomic_load_explicit(&t->ft.ready[i], memory_order_relaxed));
    value_self_free(atomic_load_explicit(&t->ft.self, memory_order_relaxed));
    if (t->ft.type)
        drep_type_free(t->ft.type);
    if (t->ft.laid_out)
        prog_release(&t->ft.stored);
    mem_free(t);
}

/* Frees the entries in front of `until`; the caller is alone. */
static void ftypes_drop(drep_file *f, const struct type_entry *until)
{
    struct type_entry *t = atomic_load(&f->types.list);

    while (t != until) {
        struct type_entry *next = t->next;

        ftype_free(t);
        t = next;
    }
    atomic_store(&f->types.list, t);
}

void ftypes_release(drep_file *f)
{
    ftypes_drop(f, NULL);
    mem_free(f->types.keys);
    f->types.keys = NULL;
}

/* What was read stays for those who hold it, under a reference that nobody asks for. */
void ftypes_renumbered(drep_file *f, uint32_t first)
{
    for (struct type_entry *t = atomic_load(&f->types.list); t; t = t->next)
        if (t->ref >= FMT_TYPE_FIRST && t->ref - FMT_TYPE_FIRST >= first)
            t->ref = FMT_CODE_NONE;
    f->types.keys_read = false;
}

void ftypes_take_back(drep_file *f)
{
    ftypes_drop(f, f->types.before);
}

/* A predefined type lies in the file packed, by the sizes of its representation. */
static int load_predefined(struct type_entry *t)
{
    const drep_type *type = drep_predefined((int)t->ref);

    if (!type)
        return fail(DREP_ERR_UNSUPPORTED, "unknown datatype code %u", t->ref);
    if (t->ft.laid_out) {
        int err = prog_build(&t->ft.stored, type, &t->rep->sizes, PROG_PACKED);

        if (err) {
            t->ft.laid_out = false;
            return err;
        }
    }
    t->ft.type = drep_type_ref(type);
    return 0;
}

static int read_record(drep_file *f, uint32_t number, struct buf *out)
{
    struct key key;
    int err;

    type_key(&key, number);
    err = tree_get(f->st, &key, out);
    return err != DREP_ERR_NOT_FOUND
               ? err
               : fail(DREP_ERR_FORMAT, "datatype number %u is not in the file (R5.5)", number);
}

static int load_record(drep_file *f, struct type_entry *t)
{
    uint32_t number = t->ref - FMT_TYPE_FIRST;
    bool laid_out = t->ft.laid_out;
    struct buf bytes = {0};
    struct in in;
    int err;

    t->ft.laid_out = false;
    err = read_record(f, number, &bytes);
    if (!err) {
        in_init(&in, bytes.p, bytes.len);
        in_u64(&in);
        err = type_get(&in, t->rep ? &t->rep->sizes : NULL, &t->ft.type,
                       laid_out ? &t->ft.stored : NULL);
        fail_in(err, "datatype number %u", number);
    }
    if (!err)
        t->ft.laid_out = laid_out;
    buf_release(&bytes);
    return err;
}

/* Uses no lock: entries are only put in front, and freed by callers that are alone. */
static struct type_entry *cached(drep_file *f, uint32_t ref, const struct file_rep *rep)
{
    struct type_entry *t = atomic_load_explicit(&f->types.list, memory_order_acquire);

    while (t && (t->ref != ref || t->rep != rep))
        t = t->next;
    return t;
}

/* Two threads may read one type at once; both entries stay and are equal. */
int ftype_get(drep_file *f, uint32_t ref, const struct file_rep *rep, struct ftype **out)
{
    struct type_entry *t;
    int err;

    t = cached(f, ref, rep);
    if (t) {
        *out = &t->ft;
        return 0;
    }
    t = mem_zalloc(1, sizeof *t);
    if (!t)
        return fail_nomem();
    t->ref = ref;
    t->rep = rep;
    t->ft.laid_out = rep;
    t->ft.kept = true;
    err = ref < FMT_TYPE_FIRST ? load_predefined(t) : load_record(f, t);
    if (err) {
        ftype_free(t);
        return err;
    }
    /* Another thread may have read it too; both entries stay right. */
    t->next = atomic_load(&f->types.list);
    while (!atomic_compare_exchange_weak(&f->types.list, &t->next, t))
        ;
    *out = &t->ft;
    return 0;
}

/* ---- storing ---- */

static int key_note(drep_file *f, const void *record, size_t len, uint32_t number)
{
    struct type_cache *c = &f->types;

    if (VEC_ROOM(c->keys, c->nkeys, c->room, 1) != 0)
        return fail_nomem();
    c->keys[c->nkeys++] = (struct type_key){sum_of(record, len), number};
    return 0;
}

/* Reads the sums of all TYPE entries, once: so that finding an equal record takes one look into the
 * tree. */
static int keys_read(drep_file *f)
{
    struct tree_walk w;
    struct buf value = {0};
    struct key key;
    int err;

    if (f->types.keys_read)
        return 0;
    f->types.nkeys = 0;
    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_TYPE);
    tree_walk(&w, f->st, &key, key.len);
    while (!(err = tree_next(&w, &key, &value))) {
        if (key.len != 13 || value.len < 8)
            continue;
        err = key_note(f, value.p + 8, value.len - 8, key_u32(key.p + FMT_KEY_HEAD));
        if (err)
            break;
    }
    buf_release(&value);
    if (err != DREP_ERR_NOT_FOUND)
        return err;
    f->types.keys_read = true;
    return 0;
}

/* Changes the count of uses; the entry goes with the last one. */
static int count_use(drep_file *f, uint32_t number, struct buf *value, int change)
{
    uint64_t uses = key_u64(value->p);
    struct out out;
    struct key key;

    type_key(&key, number);
    if (change < 0 && uses <= 1)
        return tree_del(f->st, &key);
    uses += (uint64_t)(int64_t)change;
    out_init(&out, value->p, 8);
    out_u64(&out, uses);
    return tree_put(f->st, &key, value->p, value->len);
}

/* Finds a stored record equal to rec. Entries removed since drop out of the list of sums here. */
static int find_record(drep_file *f, const struct buf *rec, struct buf *value, uint32_t *number)
{
    uint64_t sum = sum_of(rec->p + 8, rec->len - 8);
    struct key key;

    for (size_t i = 0; i < f->types.nkeys; i++) {
        int err;

        if (f->types.keys[i].sum != sum)
            continue;
        type_key(&key, f->types.keys[i].number);
        err = tree_get(f->st, &key, value);
        if (err == DREP_ERR_NOT_FOUND) { /* removed since */
            f->types.keys[i--] = f->types.keys[--f->types.nkeys];
            continue;
        }
        if (err)
            return err;
        if (value->len == rec->len && memcmp(value->p + 8, rec->p + 8, rec->len - 8) == 0) {
            *number = f->types.keys[i].number;
            return 0;
        }
    }
    return DREP_ERR_NOT_FOUND;
}

static int add_record(drep_file *f, const struct buf *rec, uint32_t *number)
{
    uint32_t n = store_new_type(f->st);
    struct key key;
    int err;

    if (n > UINT32_MAX - FMT_TYPE_FIRST)
        return fail(DREP_ERR_LIMIT, "the file has no number left for a datatype");
    type_key(&key, n);
    err = tree_put(f->st, &key, rec->p, rec->len);
    if (!err)
        err = key_note(f, rec->p + 8, rec->len - 8, n);
    if (!err)
        *number = n;
    return err;
}

/* Makes the record of a type, with one use. */
static int make_record(const drep_type *type, const struct type_sizes *sizes,
                       enum prog_layout layout, struct buf *rec)
{
    struct out out;
    int err, done;

    buf_out(rec, &out);
    out_u64(&out, 1);
    err = type_put(type, sizes, layout, &out);
    done = buf_done(rec, &out); /* also takes over what a failure left */
    return err ? err : done;
}

/* Finds or stores a record and counts a use. */
static int use_record(drep_file *f, const struct buf *rec, uint32_t *ref)
{
    struct buf value = {0};
    uint32_t number = 0;
    int err = keys_read(f);

    if (!err) {
        err = find_record(f, rec, &value, &number);
        if (!err)
            err = count_use(f, number, &value, +1);
        else if (err == DREP_ERR_NOT_FOUND)
            err = add_record(f, rec, &number);
    }
    buf_release(&value);
    if (!err)
        *ref = FMT_TYPE_FIRST + number;
    return err;
}

int ftype_use_record(drep_file *f, const struct span *record, uint32_t *ref)
{
    struct buf rec = {0};
    struct out out;
    int err;

    buf_out(&rec, &out);
    out_u64(&out, 1);
    out_bytes(&out, record->p, record->len);
    err = buf_done(&rec, &out);
    if (!err)
        err = use_record(f, &rec, ref);
    buf_release(&rec);
    return err;
}

/* A predefined type has no record: its code is the reference. */
static int type_use(drep_file *f, const drep_type *type, const struct type_sizes *sizes,
                    enum prog_layout layout, uint32_t *ref)
{
    int err, code = drep_type_code(type);
    struct buf rec = {0};

    if (code != 0) {
        *ref = (uint32_t)code;
        return 0;
    }
    err = make_record(type, sizes, layout, &rec);
    if (!err)
        err = use_record(f, &rec, ref);
    buf_release(&rec);
    return err;
}

int ftype_use(drep_file *f, const drep_type *type, const struct file_rep *rep, uint32_t *ref)
{
    return type_use(f, type, rep ? &rep->sizes : NULL, rep ? rep->layout : PROG_PACKED, ref);
}

int ftype_use_placed(drep_file *f, const drep_type *type, const struct file_rep *rep, uint32_t *ref)
{
    return type_use(f, type, &rep->sizes, PROG_PLACED, ref);
}

/* True if the members of a record do not overlap with these sizes. */
static bool has_room(const struct buf *rec, const struct type_sizes *sizes)
{
    struct prog stored;
    drep_type *type;
    struct in in;

    in_init(&in, rec->p + 8, rec->len - 8);
    if (type_get(&in, sizes, &type, &stored) != 0)
        return false;
    prog_release(&stored);
    drep_type_free(type);
    return true;
}

/* Reads the record of a stored type; *placed: its compounds lie elsewhere than usual. */
static int placed_record(drep_file *f, uint32_t ref, const struct file_rep *rep,
                         const struct ftype *ft, struct buf *rec, bool *placed)
{
    struct buf usual = {0};
    int err = read_record(f, ref - FMT_TYPE_FIRST, rec);

    if (!err)
        err = make_record(ft->type, &rep->sizes, rep->layout, &usual);
    *placed = !err && (rec->len != usual.len || memcmp(rec->p + 8, usual.p + 8, rec->len - 8) != 0);
    buf_release(&usual);
    return err;
}

int ftype_unplaced(const drep_type *type, drep_type **out)
{
    struct buf rec = {0};
    struct in in;
    int err = make_record(type, NULL, PROG_PACKED, &rec);

    if (!err) {
        in_init(&in, rec.p + 8, rec.len - 8);
        err = type_get(&in, NULL, out, NULL);
    }
    buf_release(&rec);
    return err;
}

int ftype_placed(drep_file *f, uint32_t ref, const struct file_rep *rep, drep_type **type)
{
    struct buf rec = {0}, own = {0};
    struct type_sizes sizes;
    drep_type *made = NULL;
    struct ftype *ft;
    bool placed = false;
    struct in in;
    int err = ftype_get(f, ref, rep, &ft);

    if (!err && ref >= FMT_TYPE_FIRST)
        err = placed_record(f, ref, rep, ft, &rec, &placed);
    if (!err && placed) {
        in_init(&in, rec.p + 8, rec.len - 8);
        err = type_get_placed(&in, &rep->sizes, &made);
    }
    /* Without room in memory nobody can write such elements at once. */
    rep_table_sizes(rep_native(), &sizes);
    if (!err && made && make_record(made, &sizes, PROG_PLACED, &own) != 0) {
        drep_type_free(made);
        made = NULL;
    }
    if (!err)
        *type = made;
    buf_release(&rec);
    buf_release(&own);
    return err;
}

int ftype_use_like(drep_file *f, const struct file_rep *rep, drep_file *from, uint32_t from_ref,
                   const struct file_rep *from_rep, uint32_t *ref)
{
    struct buf rec = {0};
    struct ftype *ft;
    bool placed = false;
    int err = ftype_get(from, from_ref, from_rep, &ft);

    if (!err && from_ref >= FMT_TYPE_FIRST)
        err = placed_record(from, from_ref, from_rep, ft, &rec, &placed);
    if (placed && has_room(&rec, &rep->sizes)) {
        store_u64(rec.p, 1);
        err = use_record(f, &rec, ref);
    } else if (!err) {
        err = ftype_use(f, ft->type, rep, ref);
    }
    buf_release(&rec);
    return err;
}

int ftype_use_memory(drep_file *f, const drep_type *type, uint32_t *ref)
{
    return type_use(f, type, NULL, PROG_MEMORY, ref);
}

int ftype_unuse(drep_file *f, uint32_t ref)
{
    struct buf value = {0};
    struct key key;
    int err;

    if (ref < FMT_TYPE_FIRST)
        return 0;
    type_key(&key, ref - FMT_TYPE_FIRST);
    err = tree_get(f->st, &key, &value);
    if (!err && value.len < 8)
        err = fail(DREP_ERR_FORMAT, "datatype number %u: short entry (R1.6)", ref - FMT_TYPE_FIRST);
    if (!err)
        err = count_use(f, ref - FMT_TYPE_FIRST, &value, -1);
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int ftype_use_more(drep_file *f, uint32_t ref, uint64_t uses)
{
    struct key key;
    uint8_t *value;
    size_t len;
    int err;

    if (ref < FMT_TYPE_FIRST)
        return 0;
    type_key(&key, ref - FMT_TYPE_FIRST);
    err = tree_edit(f->st, &key, &value, &len);
    if (!err) {
        store_u64(value, key_u64(value) + uses);
        return 0;
    }
    if (err == DREP_ERR_NOT_FOUND) { /* too long for a leaf */
        struct buf b = {0};

        err = tree_get(f->st, &key, &b);
        if (!err) {
            store_u64(b.p, key_u64(b.p) + uses);
            err = tree_put(f->st, &key, b.p, b.len);
        }
        buf_release(&b);
    }
    return err;
}

int ftype_same(drep_file *a, uint32_t ref_a, drep_file *b, uint32_t ref_b, bool *same)
{
    struct peek x = {0}, y = {0};
    struct key key;
    int err;

    type_key(&key, ref_a - FMT_TYPE_FIRST);
    err = tree_peek(a->st, &key, &x);
    type_key(&key, ref_b - FMT_TYPE_FIRST);
    if (!err)
        err = tree_peek(b->st, &key, &y);
    *same = !err && x.len == y.len && x.len >= 8 && memcmp(x.p + 8, y.p + 8, x.len - 8) == 0;
    tree_peeked(&x);
    tree_peeked(&y);
    return err;
}
