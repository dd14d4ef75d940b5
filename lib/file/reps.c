/* reps.c - the representations of a file, which its datasets name by number. */
/* SPDX-License-Identifier: MIT */
#include "file/reps.h"

#include "base/error.h"
#include "base/info.h"
#include "base/mem.h"
#include "base/vec.h"
#include "file/file.h"
#include "file/witness.h"
#include "format/block.h"
#include "rep/encodings.h"

#include <datarep.h>
#include <string.h>
#include <sys/utsname.h>

/* ---- tables and records ---- */

static void row_to_rec(const drep_encoding *e, struct encoding_rec *r)
{
    r->code = e->code;
    r->format = e->format;
    r->order = e->order;
    r->size = e->size;
    r->align = e->align;
    r->custom = e->custom;
}

static void row_from_rec(const struct encoding_rec *r, drep_encoding *e)
{
    *e = (drep_encoding){.code = r->code,
                         .format = r->format,
                         .order = r->order,
                         .size = r->size,
                         .align = r->align,
                         .custom = r->custom};
}

/* Copies a table together with its scalars, which the copy owns. */
static int table_copy(struct rep_table *to, const struct rep_table *from)
{
    drep_scalar *custom = NULL;

    if (from->ncustom > 0) {
        custom = mem_array((uint64_t)from->ncustom, sizeof *custom);
        if (!custom)
            return fail_nomem();
        memcpy(custom, from->custom, (size_t)from->ncustom * sizeof *custom);
    }
    *to = *from;
    to->custom = custom;
    return 0;
}

/* True if both are stored as the same record: a struct has padding. */
static bool same_scalar(const drep_scalar *a, const drep_scalar *b)
{
    uint8_t bytes[2][FMT_SCALAR_SIZE];
    struct scalar_rec rec;
    struct out out;

    for (int i = 0; i < 2; i++) {
        scalar_to_rec(i == 0 ? a : b, &rec);
        out_init(&out, bytes[i], sizeof bytes[i]);
        scalar_put(&out, &rec);
    }
    return memcmp(bytes[0], bytes[1], sizeof bytes[0]) == 0;
}

static bool is_bytes(int code)
{
    return code == DREP_CODE_BYTE || code == DREP_CODE_PACKED;
}

/* True if items of this type are the same bytes. One byte has no order, and those of BYTE and
 * PACKED, which load_table() takes from this machine, nothing else either. */
static bool same_row(const struct rep_table *a, const struct rep_table *b, int code)
{
    const drep_encoding *x = &a->row[code], *y = &b->row[code];

    if (is_bytes(code))
        return true;
    if (x->format != y->format || x->size != y->size || (x->order != y->order && x->size > 1))
        return false;
    if (x->format != DREP_FORMAT_CUSTOM)
        return true;
    return x->custom < a->ncustom && y->custom < b->ncustom &&
           same_scalar(&a->custom[x->custom], &b->custom[y->custom]);
}

static bool same_table(const struct rep_table *a, const struct rep_table *b)
{
    bool same = a->structs == b->structs;

    for (int c = 1; same && c <= DREP_CODE_MAX; c++)
        same = same_row(a, b, c) && (a->row[c].size == 0 || a->row[c].align == b->row[c].align);
    return same;
}

static bool same_bytes(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->p, b->p, a->len) == 0);
}

/* Rows of later versions are compared as they stand in the file. */
static bool same_later(const struct file_datarep *a, const struct file_datarep *b)
{
    bool any = a->tail[1].len > 0 || b->tail[1].len > 0;

    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        const struct encoding_rec *x = rep_later_row(a, c), *y = rep_later_row(b, c);

        if (!x != !y)
            return false;
        if (!x)
            continue;
        any = true;
        if (x->format != y->format || x->order != y->order || x->size != y->size ||
            x->align != y->align || x->custom != y->custom)
            return false;
    }
    return !any || (same_bytes(&a->tail[1], &b->tail[1]) && same_bytes(&a->scalars, &b->scalars));
}

/* ---- entries ---- */

/* The record has to be made anew: types in use, their sizes or witnesses change. */
static void record_stale(struct file_datarep *e)
{
    if (!e->later)
        e->record.len = 0;
}

static const struct buf *witness_of(const struct file_datarep *e, int code)
{
    static const struct buf none;

    return e->witness ? &e->witness[code] : &none;
}

static int witness_room(struct file_datarep *e)
{
    if (!e->witness)
        e->witness = mem_zalloc(DREP_CODE_MAX + 1, sizeof *e->witness);
    return e->witness ? 0 : fail_nomem();
}

static int later_row_set(struct file_datarep *e, const struct encoding_rec *row)
{
    if (!e->later_row)
        e->later_row = mem_zalloc(DREP_CODE_MAX + 1, sizeof *e->later_row);
    if (!e->later_row)
        return fail_nomem();
    e->later_row[row->code] = *row;
    return 0;
}

static void datarep_free(struct file_datarep *e)
{
    if (!e)
        return;
    rep_scoped_free(e->scoped);
    for (int c = 0; e->witness && c <= DREP_CODE_MAX; c++)
        buf_release(&e->witness[c]);
    mem_free(e->witness);
    mem_free(e->later_row);
    mem_free(e->rows);
    buf_release(&e->record);
    buf_release(&e->scalars);
    buf_release(&e->unknown);
    for (int i = 0; i < 3; i++)
        buf_release(&e->tail[i]);
    mem_free(atomic_load_explicit(&e->resolved, memory_order_relaxed));
    mem_free(e->rep.table->custom);
    mem_free(e->machine);
    mem_free(e);
}

/* An entry and its table, in one block of memory. */
struct owned_rep {
    struct file_datarep e; /* first: what is freed */
    struct rep_table table;
};

static struct file_datarep *datarep_new(const drep_file *f)
{
    struct owned_rep *made = mem_zalloc(1, sizeof *made);

    if (!made) {
        fail_nomem();
        return NULL;
    }
    made->e.rep.table = &made->table;
    made->e.rep.staging = info_int(f->hints.all, "cb_buffer_size");
    return &made->e;
}

void file_reps_release(drep_file *f)
{
    for (size_t i = 0; i < f->reps.n; i++)
        datarep_free(f->reps.list[i]);
    while (f->reps.forgotten) {
        struct file_datarep *e = f->reps.forgotten;

        f->reps.forgotten = e->next;
        datarep_free(e);
    }
    mem_free(f->reps.list);
    f->reps = (struct file_reps){.n = 0};
}

/* True for a machine's own representation, in which new compounds are laid out like its C structs.
 * (The records of existing ones state their layout.) */
static bool has_structs(const char *name)
{
    return strcmp(name, "native") == 0 || strncmp(name, "native:", 7) == 0;
}

/* BYTE and PACKED are never converted, whatever the functions say of them. */
static void bytes_are_bytes(struct type_sizes *sizes)
{
    sizes->size[DREP_CODE_BYTE] = sizes->align[DREP_CODE_BYTE] = 1;
    sizes->size[DREP_CODE_PACKED] = sizes->align[DREP_CODE_PACKED] = 1;
}

/* Takes over a representation with a table. */
static void take_table(struct file_datarep *e, const struct datarep *rep)
{
    e->rep.datarep = rep;
    e->rep.has_table = true;
    e->rep.layout = e->rep.table->structs ? PROG_STRUCT : PROG_PACKED;
    rep_table_sizes(e->rep.table, &e->rep.sizes);
}

/* ---- from the header ---- */

/* ENCODINGS and SCALARS become the table; what only a later version understands is left out. */
static int load_table(struct file_datarep *e, const struct rep_rec *r)
{
    size_t n = r->scalars.len / FMT_SCALAR_SIZE;
    struct rep_table *table = e->rep.table;

    *table = (struct rep_table){.structs = r->form == FMT_FORM_TABLE && has_structs(r->name)};
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        if (r->row[c].later && later_row_set(e, &r->row[c]))
            return DREP_ERR_NOMEM;
        if (!r->row[c].later && r->row[c].size != 0)
            row_from_rec(&r->row[c], &table->row[c]);
    }
    /* Bytes are bytes under every table, but the rows go back as they are: all handles of a file
     * write the same header. */
    e->bytes_row[0] = r->row[DREP_CODE_BYTE];
    e->bytes_row[1] = r->row[DREP_CODE_PACKED];
    table->row[DREP_CODE_BYTE] = rep_native()->row[DREP_CODE_BYTE];
    table->row[DREP_CODE_PACKED] = rep_native()->row[DREP_CODE_PACKED];
    if (n > 0) {
        table->custom = mem_zalloc(n, sizeof *table->custom);
        if (!table->custom)
            return fail_nomem();
        table->ncustom = (int)n;
    }
    for (size_t i = 0; i < n; i++)
        scalar_from_table(r->scalars.p + i * FMT_SCALAR_SIZE, &table->custom[i]);
    return fail_in(rep_table_check(table), "datarep \"%s\"", e->rep.name);
}

/* A table in the header is scoped to the file and wins over all others, but may not redefine a
 * built-in representation. */
static int load_form_table(struct file_datarep *e, const struct rep_rec *r)
{
    const struct datarep *rep = rep_find(e->rep.name);
    int err;

    if (r->has_encodings) {
        if (rep && rep->builtin)
            return fail(DREP_ERR_FORMAT, "the header redefines datarep \"%s\" (R3.9)", e->rep.name);
        if ((err = load_table(e, r)))
            return err;
        if ((err = rep_scoped(e->rep.name, e->rep.table, &e->scoped)))
            return err;
        take_table(e, e->scoped);
        return 0;
    }
    if (!rep || !rep->builtin || !rep->table)
        return fail(DREP_ERR_FORMAT, "datarep \"%s\" has no table of encodings (R3.9)",
                    e->rep.name);
    if ((err = table_copy(e->rep.table, rep->table)))
        return err;
    take_table(e, rep);
    return 0;
}

/* The sizes of functions that are not here are those of EXTENTS. */
static int load_form_code(struct file_datarep *e, const struct rep_rec *r)
{
    int err = r->has_encodings ? load_table(e, r) : 0;

    e->rep.native_form = r->has_encodings != 0;
    rep_table_sizes(e->rep.table, &e->rep.sizes); /* the sizes of what is always the same */
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        e->rep.sizes.size[c] = (uint8_t)r->extent[c];
        e->rep.sizes.align[c] = 1;
    }
    bytes_are_bytes(&e->rep.sizes);
    return err;
}

/* Holds EXTENTS against the table. */
static int load_extents(struct file_datarep *e, const struct rep_rec *r)
{
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        e->used[c] = r->extent[c] != 0;
        if (e->used[c] && !rep_later_row(e, c) && r->extent[c] != e->rep.sizes.size[c])
            return fail(DREP_ERR_FORMAT,
                        "datarep \"%s\": the header says %u bytes for %s, its table %u (R3.14)",
                        e->rep.name, r->extent[c], drep_code_name(c), e->rep.sizes.size[c]);
        if (e->used[c])
            e->rep.sizes.size[c] = (uint8_t)r->extent[c];
    }
    return 0;
}

static int load_witnesses(struct file_datarep *e, const struct rep_rec *r)
{
    int err = 0;

    for (int c = 1; !err && c <= DREP_CODE_MAX; c++) {
        const struct witness_rec *w = &r->witness[c];

        if (w->k > 0 && e->used[c] && !(err = witness_room(e)))
            err = buf_set(&e->witness[c], w->bytes, (size_t)w->k * w->size);
    }
    return err;
}

/* What a later version put into the record goes back as it is. */
static int load_later(struct file_datarep *e, const struct rep_rec *r)
{
    const struct span *tail[] = {&r->extents_tail, &r->encodings_tail, &r->witnesses_tail};
    int err = buf_set(&e->unknown, r->unknown.p, r->unknown.len);

    if (!err)
        err = buf_set(&e->scalars, r->scalars.p, r->scalars.len);
    for (int i = 0; !err && i < 3; i++)
        err = buf_set(&e->tail[i], tail[i]->p, tail[i]->len);
    return err;
}

/* What only a later version can read: the least that its datatypes can take, for whoever looks at
 * records that are laid out by it. */
static void sizes_least(struct type_sizes *sizes)
{
    rep_sizes_none(sizes);
    for (int c = 1; c <= DREP_CODE_MAX; c++)
        sizes->size[c] = sizes->align[c] = 1;
}

static int datarep_decode(struct file_datarep *e, const struct span *record,
                          const struct rep_rec *r)
{
    int err;

    memcpy(e->rep.name, r->name, sizeof e->rep.name);
    e->number = r->number;
    e->form = r->form;
    e->flags = r->flags;
    e->later = r->later;
    e->beyond = r->beyond;
    e->machine = mem_strndup(!r->machine.p ? "" : (const char *)r->machine.p, r->machine.len);
    if (!e->machine)
        return fail_nomem();
    if (r->later) {
        sizes_least(&e->rep.sizes);
        return buf_set(&e->record, record->p, record->len);
    }
    err = r->form == FMT_FORM_TABLE ? load_form_table(e, r) : load_form_code(e, r);
    if (!err)
        err = load_extents(e, r);
    if (!err)
        err = load_witnesses(e, r);
    return !err ? load_later(e, r) : err;
}

/* Decodes one record. */
static int load_one(drep_file *f, const struct span *record, struct rep_rec *r, uint8_t *scratch)
{
    struct file_datarep *e;
    const char *why = "";
    size_t at = 0;
    int err = rep_get(record, r, scratch, &why, &at);

    if (err)
        return fail(err, "header: %s at byte %zu of a representation", why, at);
    if (VEC_ROOM(f->reps.list, f->reps.n, f->reps.room, 1) != 0)
        return fail_nomem();
    e = datarep_new(f);
    if (!e)
        return DREP_ERR_NOMEM;
    err = datarep_decode(e, record, r);
    if (err)
        datarep_free(e);
    else
        f->reps.list[f->reps.n++] = e;
    return err;
}

int reps_load(drep_file *f, const struct header_rec *h)
{
    struct rep_rec *r = mem_zalloc(1, sizeof *r);
    uint8_t *scratch = NULL;
    size_t longest = 1;
    struct span rep;
    struct in in;
    int err = 0;

    in_init(&in, h->reps.p, h->reps.len);
    while (header_rep_next(&in, &rep) == 0)
        longest = rep.len > longest ? rep.len : longest;
    scratch = mem_alloc(longest);
    if (!r || !scratch)
        err = fail_nomem();
    in_init(&in, h->reps.p, h->reps.len);
    while (!err && header_rep_next(&in, &rep) == 0)
        err = load_one(f, &rep, r, scratch);
    f->reps.stored = f->reps.n;
    mem_free(scratch);
    mem_free(r);
    return err;
}

/* ---- resolution ---- */

/* Where a representation lacks a function elements are native, so the extents must be, too. */
static int check_native(const struct file_rep *rep, int code)
{
    for (int writing = 0; rep->datarep && writing < 2; writing++) {
        const struct rep_table *table = file_rep_table(rep, writing != 0);

        if (table && table->row[code].size != rep->sizes.size[code])
            return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                        "datarep \"%s\" has no %s function, but takes %u bytes for %s and not "
                        "the native %u",
                        rep->name, writing ? "write" : "read", rep->sizes.size[code],
                        drep_code_name(code), table->row[code].size);
    }
    return 0;
}

/* Holds functions against EXTENTS and WITNESSES. */
static int check_functions(const struct file_datarep *e, const struct file_rep *rep)
{
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        int err = 0, size = e->rep.sizes.size[c];

        if (!e->used[c])
            continue;
        if (size != rep->sizes.size[c])
            return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                        "datarep \"%s\": the header says %u bytes for %s, the registered extent "
                        "function %u",
                        rep->name, size, drep_code_name(c), rep->sizes.size[c]);
        err = check_native(rep, c);
        if (!err && witness_of(e, c)->len > 0)
            err = witness_check(rep, c, witness_of(e, c));
        if (err)
            return err;
    }
    return 0;
}

/* Asks functions for the sizes of the datatypes that the file uses. */
static int ask_sizes(const struct file_datarep *e, struct file_rep *full)
{
    int err = 0;

    rep_sizes_none(&full->sizes);
    for (int c = 1; !err && c <= DREP_CODE_MAX; c++)
        if (e->used[c] && !is_bytes(c))
            err = rep_ask_size(full->datarep, c, &full->sizes);
    bytes_are_bytes(&full->sizes);
    return err;
}

/* Makes the entry's representation with functions that were found. */
static int join_functions(const struct file_datarep *e, const struct datarep *rep,
                          struct file_rep **out)
{
    struct file_rep *full = mem_zalloc(1, sizeof *full);
    int err;

    if (!full)
        return fail_nomem();
    *full = e->rep;
    full->datarep = rep;
    err = ask_sizes(e, full);
    if (!err)
        err = check_functions(e, full);
    if (err)
        mem_free(full);
    else
        *out = full;
    return err;
}

/* Functions must be registered, or brought by a plugin. No lock is held, since they may be called:
 * of two threads the second takes what the first one made. */
int rep_resolved(drep_file *f, struct file_datarep *e, const struct file_rep **out)
{
    struct file_rep *full = atomic_load_explicit(&e->resolved, memory_order_acquire);
    struct file_rep *none = NULL;
    const struct datarep *rep;
    int err;

    if (full || e->rep.has_table || (f->amode & DREP_HEADER_ONLY)) {
        *out = full ? full : &e->rep;
        return 0;
    }
    err = rep_resolve(e->rep.name, info_str(f->hints.all, "drep_plugin_path"), &rep);
    if (err)
        return err;
    if (!rep)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "datarep \"%s\" is not registered; its elements can be read only after "
                    "registering its functions",
                    e->rep.name);
    if (rep->table)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "datarep \"%s\" is a table here, and functions in the file", e->rep.name);
    if ((err = join_functions(e, rep, &full)))
        return err;
    if (!atomic_compare_exchange_strong(&e->resolved, &none, full)) {
        mem_free(full);
        full = none;
    }
    *out = full;
    return 0;
}

struct file_datarep *rep_numbered(const drep_file *f, uint32_t number)
{
    size_t low = 0, high = f->reps.n;

    while (low < high) {
        size_t at = low + (high - low) / 2;

        if (f->reps.list[at]->number == number)
            return f->reps.list[at];
        if (f->reps.list[at]->number < number)
            low = at + 1;
        else
            high = at;
    }
    return NULL;
}

int rep_get_number(const drep_file *f, uint32_t number, struct file_datarep **out)
{
    struct file_datarep *e = rep_numbered(f, number);

    if (!e)
        return fail(DREP_ERR_FORMAT, "the header has no representation %u (R3.15)", number);
    if (e->beyond)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP, "datarep %u: %s", number, e->beyond);
    if (e->later)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "datarep \"%s\" has form %d and flags %d: written by a newer version",
                    e->rep.name, e->form, e->flags);
    *out = e;
    return 0;
}

/* ---- adding ---- */

/* Adds an entry with the next number, or frees it. */
static int datarep_add(drep_file *f, struct file_datarep *e)
{
    int number = f->reps.n == 0 ? 0 : f->reps.list[f->reps.n - 1]->number + 1;
    bool full = number >= FMT_REPS_MAX;

    if (full || VEC_ROOM(f->reps.list, f->reps.n, f->reps.room, 1) != 0) {
        datarep_free(e);
        return full ? fail(DREP_ERR_LIMIT, "a file has at most %d representations", FMT_REPS_MAX)
                    : fail_nomem();
    }
    e->number = (uint16_t)number;
    f->reps.list[f->reps.n++] = e;
    return 0;
}

/* True if two witnesses tell nothing different: a function that failed has shown fewer values. */
static bool same_witnesses(const struct buf *a, const struct buf *b)
{
    size_t n = a->len < b->len ? a->len : b->len;

    return n == 0 || memcmp(a->p, b->p, n) == 0;
}

/* Two forms of one name: tables count, names do not; of functions both the name and, as far as both
 * have them, the witnesses. */
bool rep_same(const struct file_datarep *a, const struct file_datarep *b)
{
    if (a->later || b->later || a->form != b->form || a->rep.native_form != b->rep.native_form ||
        !same_later(a, b))
        return false;
    if (a->rep.has_table || a->rep.native_form)
        if (!same_table(a->rep.table, b->rep.table))
            return false;
    if (a->rep.has_table)
        return true;
    if (strcmp(a->rep.name, b->rep.name) != 0)
        return false;
    for (int c = 1; c <= DREP_CODE_MAX; c++)
        if (a->used[c] && b->used[c] &&
            (a->rep.sizes.size[c] != b->rep.sizes.size[c] ||
             !same_witnesses(witness_of(a, c), witness_of(b, c))))
            return false;
    return true;
}

/* The machine that makes a representation: the hint drep_machine, the name of its table here, or
 * what the system calls it. */
static char *machine_here(const drep_file *f)
{
    const char *machine = info_str(f->hints.all, "drep_machine");
    struct utsname u;

    if (*machine == '\0' || text_check((const uint8_t *)machine, strlen(machine)) != 0)
        machine = rep_native_name();
    if (*machine == '\0')
        machine = uname(&u) == 0 ? u.machine : "unknown";
    return mem_strdup(machine);
}

/* An entry for a representation of this process. */
static int datarep_make(drep_file *f, const struct datarep *rep, struct file_datarep **out)
{
    struct file_datarep *e = datarep_new(f);
    struct file_rep *full = NULL;
    int err = 0;

    if (!e)
        return DREP_ERR_NOMEM;
    memcpy(e->rep.name, rep->name, sizeof e->rep.name);
    e->form = rep->table ? FMT_FORM_TABLE : FMT_FORM_CODE;
    e->machine = machine_here(f);
    if (!e->machine)
        err = fail_nomem();
    if (!err && rep->table) {
        err = table_copy(e->rep.table, rep->table);
        if (!err)
            take_table(e, rep);
    } else if (!err) {
        e->rep.native_form = !rep->write;
        if (e->rep.native_form)
            err = table_copy(e->rep.table, rep_native());
        e->rep.table->structs = false;
        bytes_are_bytes(&e->rep.sizes);
        if (!err)
            err = join_functions(e, rep, &full);
        atomic_store(&e->resolved, full);
    }
    if (err)
        datarep_free(e);
    else
        *out = e;
    return err;
}

/* An entry whose functions in this process do not go with its witnesses has only its name in common
 * with them. */
static bool functions_fit(drep_file *f, struct file_datarep *e)
{
    const struct file_rep *full;

    return e->rep.has_table || rep_resolved(f, e, &full) == 0;
}

int rep_add(drep_file *f, const char *name, struct file_datarep **out)
{
    struct file_datarep *e = NULL;
    const struct datarep *rep;
    int err = rep_resolve(name, info_str(f->hints.all, "drep_plugin_path"), &rep);

    if (err)
        return err;
    /* A table that only this file knows. */
    for (size_t i = 0; !rep && i < f->reps.n; i++)
        if (f->reps.list[i]->scoped && strcmp(f->reps.list[i]->rep.name, name) == 0) {
            *out = f->reps.list[i];
            return 0;
        }
    if (!rep)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "datarep \"%s\" is neither built in nor registered", name);
    if ((err = datarep_make(f, rep, &e)))
        return err;
    for (size_t i = 0; i < f->reps.n; i++)
        if (rep_same(f->reps.list[i], e) && functions_fit(f, f->reps.list[i])) {
            datarep_free(e);
            *out = f->reps.list[i];
            return 0;
        }
    if ((err = datarep_add(f, e)))
        return err;
    *out = e;
    return 0;
}

/* Functions that were found before the file used this datatype are asked for its size now. */
static int complete_sizes(struct file_datarep *e, int code)
{
    struct file_rep *full = atomic_load(&e->resolved);

    if (!full || full->sizes.size[code] > 0)
        return 0;
    return rep_ask_size(full->datarep, code, &full->sizes);
}

/* Functions may not be here to make witnesses of the types that a copy brings: they come with it.
 */
static int adopt_witnesses(struct file_datarep *e, const struct file_datarep *like)
{
    int err = 0;

    record_stale(e);
    for (int c = 1; !err && !e->rep.has_table && c <= DREP_CODE_MAX; c++) {
        if (e->used[c] || !like->used[c])
            continue;
        err = witness_room(e);
        if (!err)
            err = buf_set(&e->witness[c], witness_of(like, c)->p, witness_of(like, c)->len);
        if (!err)
            err = complete_sizes(e, c);
        if (!err) {
            e->rep.sizes.size[c] = like->rep.sizes.size[c];
            e->rep.sizes.align[c] = 1;
            e->used[c] = true;
        }
    }
    return err;
}

static int datarep_like(drep_file *f, const struct file_datarep *like, struct file_datarep **out)
{
    struct file_datarep *e = datarep_new(f);
    struct file_rep own;
    int err = 0;

    if (!e)
        return DREP_ERR_NOMEM;
    own = e->rep;
    e->rep = like->rep;
    e->rep.table = own.table;
    e->rep.staging = own.staging;
    e->form = like->form;
    e->flags = like->flags;
    e->later = like->later; /* then it is its record, and nothing else of it is known */
    for (int c = 1; !err && c <= DREP_CODE_MAX; c++)
        if (rep_later_row(like, c))
            err = later_row_set(e, rep_later_row(like, c));
    e->machine = mem_strdup(like->machine);
    if (!err && !e->machine)
        err = fail_nomem();
    if (!err)
        err = table_copy(e->rep.table, like->rep.table);
    if (!err && like->scoped)
        err = rep_scoped(e->rep.name, e->rep.table, &e->scoped);
    if (like->scoped)
        e->rep.datarep = e->scoped;
    if (!err)
        err = buf_set(&e->scalars, like->scalars.p, like->scalars.len);
    if (!err)
        err = buf_set(&e->unknown, like->unknown.p, like->unknown.len);
    if (!err)
        err = buf_set(&e->tail[1], like->tail[1].p, like->tail[1].len);
    if (!err && like->later)
        err = buf_set(&e->record, like->record.p, like->record.len);
    if (err)
        datarep_free(e);
    else
        *out = e;
    return err;
}

int rep_add_like(drep_file *f, const struct file_datarep *like, struct file_datarep **out)
{
    struct file_datarep *e = NULL;
    int err = 0;

    for (size_t i = 0; !e && i < f->reps.n; i++)
        if (f->reps.list[i] == like || rep_same(f->reps.list[i], like))
            e = f->reps.list[i];
    if (!e && !(err = datarep_like(f, like, &e)))
        err = datarep_add(f, e);
    if (!err)
        err = adopt_witnesses(e, like);
    if (!err)
        *out = e;
    return err;
}

/* ---- use ---- */

struct use {
    drep_file *f;
    struct file_datarep *e;
};

/* Fail as the row of a code is one that only a later version understands. */
static int fail_row(int err, const struct file_datarep *e, int code)
{
    const struct span scalars = {e->scalars.p, e->scalars.len};
    const char *beyond = encoding_beyond(&e->later_row[code], &scalars);

    return fail(err, "datarep \"%s\": its encoding of %s%s%s", e->rep.name, drep_code_name(code),
                beyond ? ": " : " was written by a newer version", beyond ? beyond : "");
}

/* The first use of a code by a dataset makes its witnesses. */
static int use_code(int code, void *ctx)
{
    const struct use *u = ctx;
    struct file_datarep *e = u->e;
    const struct file_rep *rep;
    int err;

    if (e->used[code])
        return 0;
    if (rep_later_row(e, code))
        return fail_row(DREP_ERR_UNSUPPORTED, e, code);
    record_stale(e);
    if ((err = rep_resolved(u->f, e, &rep)))
        return err;
    if ((err = complete_sizes(e, code)))
        return err;
    if (rep->sizes.size[code] == 0)
        return fail(DREP_ERR_TYPE, "datarep \"%s\" has no %s", rep->name, drep_code_name(code));
    if ((err = check_native(rep, code)))
        return err;
    if (e->form == FMT_FORM_CODE &&
        ((err = witness_room(e)) || (err = witness_make(rep, code, &e->witness[code]))))
        return err;
    e->rep.sizes.size[code] = rep->sizes.size[code];
    if (!e->rep.has_table)
        e->rep.sizes.align[code] = 1;
    e->used[code] = true;
    return 0;
}

int rep_use(drep_file *f, struct file_datarep *e, const drep_type *type)
{
    return type_each_code(type, use_code, &(struct use){f, e});
}

/* A type that the table of extents does not list may have any size: the file is malformed. */
static int listed(int code, void *ctx)
{
    const struct file_datarep *e = ctx;

    if (!e->used[code])
        return fail(DREP_ERR_FORMAT, "the extents of datarep \"%s\" do not list %s (R3.15)",
                    e->rep.name, drep_code_name(code));
    return rep_later_row(e, code) ? fail_row(DREP_ERR_UNSUPPORTED_DATAREP, e, code) : 0;
}

int rep_lists(const struct file_datarep *e, const drep_type *type)
{
    return type_each_code(type, listed, (void *)(uintptr_t)e);
}

struct rep_couple {
    const struct file_datarep *a, *b;
    bool same_functions; /* known, not concluded from witnesses */
};

static int item_differs(int code, void *ctx)
{
    const struct rep_couple *p = ctx;
    const struct file_datarep *a = p->a, *b = p->b;

    if (rep_later_row(a, code) || rep_later_row(b, code))
        return 1;
    if (is_bytes(code))
        return 0;
    if ((a->rep.has_table || a->rep.native_form) && !same_row(a->rep.table, b->rep.table, code))
        return 1;
    if (a->rep.has_table)
        return 0;
    if (a->rep.sizes.size[code] != b->rep.sizes.size[code])
        return 1;
    return !p->same_functions &&
           (witness_of(a, code)->len == 0 || !same_bytes(witness_of(a, code), witness_of(b, code)));
}

bool rep_same_items(const struct file_datarep *a, const struct file_datarep *b,
                    const drep_type *type)
{
    const struct file_rep *x = atomic_load(&a->resolved), *y = atomic_load(&b->resolved);
    struct rep_couple pair = {a, b, x && y && x->datarep == y->datarep};

    if (a == b)
        return true;
    if (a->form != b->form || a->rep.native_form != b->rep.native_form ||
        (!a->rep.has_table && strcmp(a->rep.name, b->rep.name) != 0))
        return false;
    return type_each_code(type, item_differs, &pair) == 0;
}

/* ---- operations ---- */

void reps_note(drep_file *f)
{
    f->reps.before = f->reps.n;
    for (size_t i = 0; i < f->reps.n; i++)
        memcpy(f->reps.list[i]->used_before, f->reps.list[i]->used, sizeof f->reps.list[i]->used);
}

void reps_take_back(drep_file *f)
{
    while (f->reps.n > f->reps.before)
        datarep_free(f->reps.list[--f->reps.n]);
    for (size_t i = 0; i < f->reps.n; i++) {
        struct file_datarep *e = f->reps.list[i];

        memcpy(e->used, e->used_before, sizeof e->used);
        record_stale(e);
    }
}

/* ---- writing ---- */

static int put_scalars(const struct file_datarep *e, struct buf *to)
{
    struct out out;

    if (e->scalars.len > 0)
        return buf_set(to, e->scalars.p, e->scalars.len);
    buf_out(to, &out);
    for (int i = 0; i < e->rep.table->ncustom; i++) {
        struct scalar_rec r;

        scalar_to_rec(&e->rep.table->custom[i], &r);
        scalar_put(&out, &r);
    }
    return buf_done(to, &out);
}

static void fill_rows(const struct file_datarep *e, struct rep_rec *r)
{
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        r->extent[c] = e->used[c] ? e->rep.sizes.size[c] : 0;
        if (r->has_encodings && rep_later_row(e, c))
            r->row[c] = e->later_row[c];
        else if (r->has_encodings && is_bytes(c) && e->bytes_row[c - DREP_CODE_BYTE].size != 0)
            r->row[c] = e->bytes_row[c - DREP_CODE_BYTE];
        else if (r->has_encodings && e->rep.table->row[c].size != 0)
            row_to_rec(&e->rep.table->row[c], &r->row[c]);
        if (e->used[c] && witness_of(e, c)->len > 0)
            r->witness[c] =
                (struct witness_rec){(uint8_t)(e->witness[c].len / e->rep.sizes.size[c]),
                                     e->rep.sizes.size[c], e->witness[c].p};
    }
}

static int put_one(const struct file_datarep *e, struct buf *to)
{
    struct rep_rec *r = mem_zalloc(1, sizeof *r);
    struct buf scalars = {0};
    struct span *tail[3];
    struct out out;
    int err;

    if (!r)
        return fail_nomem();
    tail[0] = &r->extents_tail;
    tail[1] = &r->encodings_tail;
    tail[2] = &r->witnesses_tail;
    r->form = e->form;
    r->flags = e->flags;
    r->number = e->number;
    memcpy(r->name, e->rep.name, sizeof r->name);
    r->has_encodings = e->form == FMT_FORM_TABLE ? !e->rep.datarep->builtin : e->rep.native_form;
    fill_rows(e, r);
    err = put_scalars(e, &scalars);
    r->scalars = (struct span){scalars.p, r->has_encodings ? scalars.len : 0};
    r->machine = (struct span){(const uint8_t *)e->machine, strlen(e->machine)};
    r->unknown = (struct span){e->unknown.p, e->unknown.len};
    for (int i = 0; i < 3; i++)
        *tail[i] = (struct span){e->tail[i].p, e->tail[i].len};
    if (!err) {
        buf_out(to, &out);
        rep_put(&out, r);
        err = buf_done(to, &out);
    }
    buf_release(&scalars);
    mem_free(r);
    return err;
}

int reps_put(drep_file *f, struct header_rec *h, struct buf *to)
{
    struct out out;
    int err = 0;

    buf_out(to, &out);
    for (size_t i = 0; !err && i < f->reps.n; i++) {
        struct file_datarep *e = f->reps.list[i];

        if (e->record.len == 0)
            err = put_one(e, &e->record);
        if (!err)
            header_rep_put(&out, &(struct span){e->record.p, e->record.len});
    }
    if (!err)
        err = buf_done(to, &out);
    h->reps = (struct span){to->p, to->len};
    h->nreps = (int)f->reps.n;
    return err;
}

/* ---- digests ---- */

int rep_digest(const struct file_datarep *e, uint64_t *digest)
{
    struct file_datarep unused = *e;
    struct buf one = {0};
    int err;

    unused.number = 0;
    memset(unused.used, 0, sizeof unused.used);
    err = e->later ? buf_set(&one, e->record.p, e->record.len) : put_one(&unused, &one);
    *digest = err ? 0 : sum_stored(one.p, one.len);
    buf_release(&one);
    return err;
}

uint64_t rep_witnesses(const struct file_datarep *e, int code)
{
    const struct buf *w = witness_of(e, code);

    if (w->len == 0)
        return 0;
    return sum_stored(w->p, w->len) << 8 | (w->len / e->rep.sizes.size[code] & 255);
}

/* ---- refresh ---- */

/* Elements that were read before a refresh stay what they were. */
static bool unchanged(const struct file_datarep *a, const struct file_datarep *b)
{
    if (!b || a->later != b->later || strcmp(a->rep.name, b->rep.name) != 0)
        return false;
    if (a->later)
        return same_bytes(&a->record, &b->record);
    for (int c = 1; c <= DREP_CODE_MAX; c++)
        if (a->used[c] && !b->used[c])
            return false;
    return rep_same(a, b);
}

int reps_compare(drep_file *f, const drep_file *reloaded)
{
    for (size_t i = 0; i < f->reps.n; i++) {
        const struct file_datarep *e = f->reps.list[i];

        if (!unchanged(e, rep_numbered(reloaded, e->number)))
            return fail(DREP_ERR_FORMAT, "datarep \"%s\": a later commit has another table (R3.13)",
                        e->rep.name);
    }
    return VEC_ROOM(f->reps.list, f->reps.n, f->reps.room, reloaded->reps.n) != 0 ? fail_nomem()
                                                                                  : 0;
}

void reps_drop_new(drep_file *f)
{
    while (f->reps.n > f->reps.stored) {
        struct file_datarep *e = f->reps.list[--f->reps.n];

        e->next = f->reps.forgotten;
        f->reps.forgotten = e;
    }
}

static void buf_swap(struct buf *a, struct buf *b)
{
    struct buf t = *a;

    *a = *b;
    *b = t;
}

static void datarep_exchange(struct file_datarep *e, struct file_datarep *now)
{
    struct buf *witness = e->witness;

    record_stale(e);
    memcpy(e->used, now->used, sizeof e->used);
    memcpy(e->rep.sizes.size, now->rep.sizes.size, sizeof e->rep.sizes.size);
    buf_swap(&e->unknown, &now->unknown);
    e->witness = now->witness;
    now->witness = witness;
    for (int c = 0; c <= DREP_CODE_MAX; c++) {
        if (e->used[c] && !is_bytes(c))
            (void)complete_sizes(e, c); /* without a size its datasets are refused */
    }
    for (int i = 0; i < 3; i++)
        buf_swap(&e->tail[i], &now->tail[i]);
}

void reps_exchange(drep_file *f, drep_file *reloaded)
{
    size_t left = 0;

    for (size_t i = 0; i < reloaded->reps.n; i++) {
        struct file_datarep *now = reloaded->reps.list[i];
        struct file_datarep *e = rep_numbered(f, now->number);

        if (e) {
            datarep_exchange(e, now);
            reloaded->reps.list[left++] = now;
        } else {
            f->reps.list[f->reps.n++] = now;
        }
    }
    reloaded->reps.n = left;
    f->reps.stored = f->reps.n;
}

void reps_staging(drep_file *f, int64_t size)
{
    for (size_t i = 0; i < f->reps.n; i++) {
        struct file_datarep *e = f->reps.list[i];
        struct file_rep *full = atomic_load(&e->resolved);

        e->rep.staging = size;
        if (full)
            full->staging = size;
    }
}
