/* header.c - the header proper: which representation a file has, and whether it can be spoken here.
 */
#include "file/header.h"

#include "base/error.h"
#include "base/info.h"
#include "base/mem.h"
#include "file/file.h"
#include "file/witness.h"
#include "format/header.h"
#include "txn/txn.h"

#include <string.h>
#include <sys/utsname.h>

/* Bit 0 of the header's flags. */
static enum prog_layout layout_of(unsigned flags)
{
    return flags & 1 ? PROG_STRUCT : PROG_PACKED;
}

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

/* ---- resolution ---- */

/* BYTE and PACKED are never converted, whatever the functions say of them. */
static void bytes_are_bytes(struct type_sizes *sizes)
{
    sizes->size[DREP_CODE_BYTE] = sizes->align[DREP_CODE_BYTE] = 1;
    sizes->size[DREP_CODE_PACKED] = sizes->align[DREP_CODE_PACKED] = 1;
}

/* Where a representation lacks a function elements are native, so the extents must be, too. */
static int check_native(const drep_file *f, int code)
{
    for (int writing = 0; f->rep.datarep && writing < 2; writing++) {
        const struct rep_table *table = file_rep_table(&f->rep, writing != 0);

        if (table && table->row[code].size != f->rep.sizes.size[code])
            return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                        "datarep \"%s\" has no %s function, but takes %u bytes for %s and not "
                        "the native %u",
                        f->rep.name, writing ? "write" : "read", f->rep.sizes.size[code],
                        drep_code_name(code), table->row[code].size);
    }
    return 0;
}

/* Takes over a representation that was found. */
static void take_representation(drep_file *f, const struct datarep *rep)
{
    f->rep.datarep = rep;
    f->rep.has_table = rep->table;
    f->header.form = f->rep.has_table ? FMT_FORM_TABLE : FMT_FORM_CODE;
}

int header_start(drep_file *f, const char *datarep)
{
    const struct datarep *rep;
    const char *machine;
    struct utsname u;
    int err = rep_resolve(datarep, info_str(f->hints.all, "drep_plugin_path"), &rep);

    if (err)
        return fail_in(err, "%s", f->path);
    if (!rep)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "%s: datarep \"%s\" is neither built in nor registered", f->path, datarep);
    take_representation(f, rep);
    memcpy(f->rep.name, rep->name, sizeof f->rep.name);
    if (f->rep.has_table) {
        if ((err = table_copy(&f->rep.table, rep->table)))
            return err;
        rep_table_sizes(&f->rep.table, &f->rep.sizes);
        f->header.flags = f->rep.table.structs ? 1 : 0;
        f->rep.layout = layout_of(f->header.flags);
    } else {
        f->rep.native_form = !rep->write;
        if (f->rep.native_form && (err = table_copy(&f->rep.table, rep_native())))
            return err;
        if ((err = rep_sizes(rep, &f->rep.sizes)))
            return err;
        bytes_are_bytes(&f->rep.sizes);
    }
    f->header.writer = mem_strdup("datarep " DREP_VERSION);
    machine = info_str(f->hints.all, "drep_machine");
    if (*machine == '\0' || text_check((const uint8_t *)machine, strlen(machine)) != 0)
        machine = rep_native_name();
    if (*machine == '\0')
        machine = uname(&u) == 0 ? u.machine : "unknown";
    f->header.machine = mem_strdup(machine);
    if (!f->header.writer || !f->header.machine)
        return fail_nomem();
    return 0;
}

/* ENCODINGS and SCALARS of the header become the file's table. */
static int load_table(drep_file *f, const struct header_rec *h)
{
    size_t n = h->scalars.len / 32;
    struct in in;
    int err = 0;

    f->rep.table = (struct rep_table){.structs = h->flags & 1};
    for (int c = 1; c <= DREP_CODE_MAX; c++)
        if (h->row[c].size != 0)
            row_from_rec(&h->row[c], &f->rep.table.row[c]);
    /* Bytes are bytes under every table. */
    f->rep.table.row[DREP_CODE_BYTE] = rep_native()->row[DREP_CODE_BYTE];
    f->rep.table.row[DREP_CODE_PACKED] = rep_native()->row[DREP_CODE_PACKED];
    if (n > 0) {
        f->rep.table.custom = mem_zalloc(n, sizeof *f->rep.table.custom);
        if (!f->rep.table.custom)
            return fail_nomem();
        f->rep.table.ncustom = (int)n;
        in_init(&in, h->scalars.p, h->scalars.len);
        for (size_t i = 0; !err && i < n; i++) {
            struct scalar_rec r;

            if (!(err = scalar_get(&in, &r)))
                scalar_from_rec(&r, &f->rep.table.custom[i]);
        }
        if (err)
            return fail(DREP_ERR_FORMAT, "datarep \"%s\": malformed scalar in its table",
                        f->rep.name);
    }
    return fail_in(rep_table_check(&f->rep.table), "datarep \"%s\"", f->rep.name);
}

/* A table in the header is scoped to the file and wins over all others, but may not redefine a
 * built-in representation. */
static int resolve_table(drep_file *f, const struct header_rec *h)
{
    const struct datarep *rep = rep_find(f->rep.name);
    int err;

    if (h->has_encodings) {
        if (rep && rep->builtin)
            return fail(DREP_ERR_FORMAT, "the header redefines datarep \"%s\"", f->rep.name);
        if ((err = load_table(f, h)))
            return err;
        if ((err = rep_scoped(f->rep.name, &f->rep.table, &f->header.scoped)))
            return err;
        take_representation(f, f->header.scoped);
    } else {
        if (!rep || !rep->builtin || !rep->table)
            return fail(DREP_ERR_FORMAT, "datarep \"%s\" has no table of encodings", f->rep.name);
        if ((err = table_copy(&f->rep.table, rep->table)))
            return err;
        take_representation(f, rep);
    }
    rep_table_sizes(&f->rep.table, &f->rep.sizes);
    return 0;
}

/* Functions must be registered, or brought by a plugin, unless the header alone is wanted. */
static int resolve_code(drep_file *f, const struct header_rec *h)
{
    const struct datarep *rep = rep_find(f->rep.name);
    int err = 0;

    if (!rep && !(f->amode & DREP_HEADER_ONLY))
        err = rep_resolve(f->rep.name, info_str(f->hints.all, "drep_plugin_path"), &rep);
    if (err)
        return err;
    f->header.form = FMT_FORM_CODE;
    f->rep.native_form = h->has_encodings != 0;
    if (h->has_encodings && (err = load_table(f, h)))
        return err;
    if (!rep && !(f->amode & DREP_HEADER_ONLY))
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "datarep \"%s\" is not registered; its header can be read, its elements "
                    "only after registering its functions",
                    f->rep.name);
    if (rep && (err = rep_sizes(rep, &f->rep.sizes))) {
        if (!(f->amode & DREP_HEADER_ONLY))
            return err;
        rep = NULL;
    }
    if (f->amode & DREP_HEADER_ONLY)
        rep = NULL;
    f->rep.datarep = rep;
    if (!rep) {
        rep_table_sizes(&f->rep.table, &f->rep.sizes); /* the sizes of what is always the same */
        for (int c = 1; c <= DREP_CODE_MAX; c++) {
            f->rep.sizes.size[c] = (uint8_t)h->extent[c];
            f->rep.sizes.align[c] = 1;
        }
    }
    bytes_are_bytes(&f->rep.sizes);
    return 0;
}

/* Holds the sizes of the header's EXTENTS against what was resolved. */
static int check_extents(drep_file *f, const struct header_rec *h)
{
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        f->header.used[c] = h->extent[c] != 0;
        if (!f->header.used[c])
            continue;
        if (h->extent[c] == f->rep.sizes.size[c]) {
            int err = check_native(f, c);

            if (err)
                return err;
            continue;
        }
        if (f->header.form == FMT_FORM_TABLE)
            return fail(DREP_ERR_FORMAT,
                        "datarep \"%s\": the header says %u bytes for %s, its table %u",
                        f->rep.name, h->extent[c], drep_code_name(c), f->rep.sizes.size[c]);
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "datarep \"%s\": the header says %u bytes for %s, the registered extent "
                    "function %u",
                    f->rep.name, h->extent[c], drep_code_name(c), f->rep.sizes.size[c]);
    }
    return 0;
}

static int load_witnesses(drep_file *f, const struct header_rec *h)
{
    int err;

    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        const struct witness_rec *w = &h->witness[c];

        if (w->k == 0)
            continue;
        if (w->size != f->rep.sizes.size[c])
            return fail(DREP_ERR_FORMAT, "datarep \"%s\": witness of %s has %u bytes", f->rep.name,
                        drep_code_name(c), w->size);
        if ((err = buf_set(&f->header.witness[c], w->bytes, (size_t)w->k * w->size)))
            return err;
        if (f->rep.datarep && f->header.form == FMT_FORM_CODE &&
            (err = witness_check(&f->rep, c, &f->header.witness[c])))
            return err;
    }
    return 0;
}

int header_start_like(drep_file *f, const drep_file *like, const drep_info *info)
{
    int err;

    if (!like->rep.datarep)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP, "%s: opened for its header only", like->path);
    memcpy(f->rep.name, like->rep.name, sizeof f->rep.name);
    f->header.flags = like->header.flags & 1;
    f->rep.layout = like->rep.layout;
    f->rep.native_form = like->rep.native_form;
    f->rep.sizes = like->rep.sizes;
    if ((like->rep.has_table || like->rep.native_form) &&
        (err = table_copy(&f->rep.table, &like->rep.table)))
        return err;
    if (like->header.scoped && (err = rep_scoped(f->rep.name, &f->rep.table, &f->header.scoped)))
        return err;
    take_representation(f, like->header.scoped ? f->header.scoped : like->rep.datarep);
    f->header.writer = mem_strdup("datarep " DREP_VERSION);
    f->header.machine = mem_strdup(like->header.machine);
    if (!f->header.writer || !f->header.machine)
        return fail_nomem();
    for (int i = 0; i < drep_info_count(like->hints.stored); i++) {
        const char *key = drep_info_key(like->hints.stored, i);

        if ((err = drep_info_set(f->hints.stored, key, drep_info_get(like->hints.stored, key))))
            return err;
    }
    return hints_merge(&f->hints, info);
}

static char *text_of(const struct span *s)
{
    return mem_strndup(!s->p ? "" : (const char *)s->p, s->len);
}

/* The i-th place where a later version may have put something. */
static struct span *later_of(struct header_rec *h, int i)
{
    struct span *all[] = {&h->tail, &h->extents_tail, &h->encodings_tail, &h->witnesses_tail};

    return all[i];
}

/* Fields and codes of a later version go back into the header as they are. */
static int keep_later(drep_file *f, struct header_rec *h)
{
    int err = 0;

    for (int i = 0; !err && i < 4; i++)
        err = buf_set(&f->header.later[i], later_of(h, i)->p, later_of(h, i)->len);
    return err;
}

int header_load(drep_file *f, const drep_info *info)
{
    struct header_rec *h = mem_zalloc(1, sizeof *h);
    const char *why = "";
    size_t size, at = 0;
    const uint8_t *p = store_header(f->st, &size);
    uint8_t *scratch = mem_alloc(size + 1);
    int err;

    if (!h || !scratch)
        err = fail_nomem();
    else if ((err = header_get(p, size, h, scratch, &why, &at)))
        err = fail(err, "header: %s at byte %zu of the header proper", why, at);
    if (!err) {
        memcpy(f->rep.name, h->name, sizeof f->rep.name);
        f->header.flags = h->flags;
        f->rep.layout = layout_of(f->header.flags);
        f->header.writer = text_of(&h->writer);
        f->header.machine = text_of(&h->machine);
        err = !f->header.writer || !f->header.machine ? fail_nomem() : 0;
    }
    if (!err)
        err = h->form == FMT_FORM_TABLE ? resolve_table(f, h) : resolve_code(f, h);
    if (!err)
        err = check_extents(f, h);
    if (!err)
        err = load_witnesses(f, h);
    if (!err)
        err = hints_load(&f->hints, &h->hints);
    if (!err)
        err = hints_merge(&f->hints, info);
    if (!err)
        err = buf_set(&f->header.unknown, h->unknown.p, h->unknown.len);
    if (!err)
        err = keep_later(f, h);
    mem_free(scratch);
    mem_free(h);
    return err;
}

void header_release(drep_file *f)
{
    if (f->header.scoped)
        rep_scoped_free(f->header.scoped);
    for (int c = 0; c <= DREP_CODE_MAX; c++)
        buf_release(&f->header.witness[c]);
    buf_release(&f->header.unknown);
    for (int i = 0; i < 4; i++)
        buf_release(&f->header.later[i]);
    mem_free(f->rep.table.custom);
    mem_free(f->header.writer);
    mem_free(f->header.machine);
    hints_release(&f->hints);
}

/* What a file keeps for its life: elements that were read before a refresh stay what they were. */
static int same_representation(const drep_file *a, const drep_file *b)
{
    bool same = strcmp(a->rep.name, b->rep.name) == 0 && a->header.form == b->header.form &&
                a->header.flags == b->header.flags && a->rep.has_table == b->rep.has_table &&
                a->rep.native_form == b->rep.native_form &&
                a->rep.table.ncustom == b->rep.table.ncustom &&
                memcmp(a->rep.table.row, b->rep.table.row, sizeof a->rep.table.row) == 0;

    for (int c = 1; same && c <= DREP_CODE_MAX; c++)
        same = !a->header.used[c] ||
               (b->header.used[c] && a->rep.sizes.size[c] == b->rep.sizes.size[c]);
    return same ? 0
                : fail(DREP_ERR_FORMAT, "datarep \"%s\": a later commit has another table",
                       a->rep.name);
}

/* The list of old texts gets its room here, so that header_exchange() cannot fail. */
int header_reload(drep_file *f, drep_file **out)
{
    drep_file *t = mem_zalloc(1, sizeof *t);
    int err;

    if (!t)
        return DREP_ERR_NOMEM;
    t->st = f->st;
    t->path = f->path;
    t->amode = f->amode;
    t->header.old = mem_zalloc(1, sizeof *t->header.old);
    err = !t->header.old ? DREP_ERR_NOMEM : drep_info_new(&t->hints.stored);
    if (!err)
        err = info_defaults(&t->hints.all);
    if (!err)
        err = info_merge(t->hints.all, f->hints.all);
    if (!err)
        err = header_load(t, f->hints.all);
    if (!err)
        err = same_representation(f, t);
    if (err) {
        header_reload_free(t);
        return err;
    }
    *out = t;
    return 0;
}

void header_reload_free(drep_file *t)
{
    if (!t)
        return;
    header_release(t);
    mem_free(t->header.old);
    mem_free(t);
}

static void buf_swap(struct buf *a, struct buf *b)
{
    struct buf t = *a;

    *a = *b;
    *b = t;
}

/* The writer's text may have been lent out: it stays in the list of old ones until the handle is
 * freed. */
void header_exchange(drep_file *f, drep_file *t)
{
    if (strcmp(f->header.writer, t->header.writer) != 0) {
        *t->header.old =
            (struct old_text){f->header.old, f->header.writer}; /* somebody may still look at it */
        f->header.old = t->header.old;
        f->header.writer = t->header.writer;
        t->header.old = NULL;
        t->header.writer = NULL;
    }
    memcpy(f->header.used, t->header.used, sizeof f->header.used);
    drep_info_free(f->hints.stored);
    f->hints.stored = t->hints.stored;
    t->hints.stored = NULL;
    buf_swap(&f->header.unknown, &t->header.unknown);
    for (int c = 0; c <= DREP_CODE_MAX; c++)
        buf_swap(&f->header.witness[c], &t->header.witness[c]);
    for (int i = 0; i < 4; i++)
        buf_swap(&f->header.later[i], &t->header.later[i]);
}

/* ---- use and writing ---- */

/* The first use of a code by a dataset makes its witnesses. */
static int use_code(int code, void *ctx)
{
    drep_file *f = ctx;
    int err;

    if (f->header.used[code])
        return 0;
    if (f->rep.sizes.size[code] == 0)
        return fail(DREP_ERR_TYPE, "datarep \"%s\" has no %s", f->rep.name, drep_code_name(code));
    if ((err = check_native(f, code)))
        return err;
    if (f->header.form == FMT_FORM_CODE &&
        (err = witness_make(&f->rep, code, &f->header.witness[code])))
        return err;
    f->header.used[code] = true;
    return 0;
}

int header_use(drep_file *f, const drep_type *type)
{
    return type_each_code(type, use_code, f);
}

static int put_scalars(const drep_file *f, struct buf *to)
{
    struct out out;

    buf_out(to, &out);
    for (int i = 0; i < f->rep.table.ncustom; i++) {
        struct scalar_rec r;

        scalar_to_rec(&f->rep.table.custom[i], &r);
        scalar_put(&out, &r);
    }
    return buf_done(to, &out);
}

static void fill_header(const drep_file *f, struct header_rec *h)
{
    h->form = (uint8_t)f->header.form;
    h->flags = (uint8_t)f->header.flags;
    memcpy(h->name, f->rep.name, sizeof h->name);
    h->has_encodings =
        f->header.form == FMT_FORM_TABLE ? !f->rep.datarep->builtin : f->rep.native_form;
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        h->extent[c] = f->header.used[c] ? f->rep.sizes.size[c] : 0;
        if (h->has_encodings && f->rep.table.row[c].size != 0)
            row_to_rec(&f->rep.table.row[c], &h->row[c]);
        if (f->header.used[c] && f->header.witness[c].len > 0)
            h->witness[c] =
                (struct witness_rec){(uint8_t)(f->header.witness[c].len / f->rep.sizes.size[c]),
                                     f->rep.sizes.size[c], f->header.witness[c].p};
    }
    h->writer =
        (struct span){(const uint8_t *)"datarep " DREP_VERSION, strlen("datarep " DREP_VERSION)};
    h->machine = (struct span){(const uint8_t *)f->header.machine, strlen(f->header.machine)};
    h->unknown = (struct span){f->header.unknown.p, f->header.unknown.len};
    for (int i = 0; i < 4; i++)
        *later_of(h, i) = (struct span){f->header.later[i].p, f->header.later[i].len};
}

int header_build(drep_file *f, struct buf *to, size_t *split)
{
    struct header_rec *h = mem_zalloc(1, sizeof *h);
    struct buf hints = {0}, scalars = {0};
    struct out out;
    int err;

    if (!h)
        return fail_nomem();
    err = hints_put(&f->hints, &hints);
    if (!err)
        err = put_scalars(f, &scalars);
    if (!err) {
        fill_header(f, h);
        h->hints = (struct span){hints.p, hints.len};
        h->scalars = (struct span){scalars.p, h->has_encodings ? scalars.len : 0};
        buf_out(to, &out);
        header_put(&out, h, split);
        err = buf_done(to, &out);
    }
    buf_release(&hints);
    buf_release(&scalars);
    mem_free(h);
    return err;
}
