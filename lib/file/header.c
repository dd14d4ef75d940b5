/* header.c - the header proper: which representation, and can we speak it.
 *
 * Resolution at open: a table in the header always wins and is scoped to the file;
 * then what is built in; then what is registered.  Functions found under a name must
 * agree with the header's extents and turn its witnesses back into their values, so
 * that another representation of the same name cannot be mistaken for it. */
#include "file/data.h"

#include <string.h>
#include <sys/utsname.h>

enum { WITNESSES = 5 };

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

/* A copy of a table whose scalars are ours. */
static int table_copy(struct rep_table *to, const struct rep_table *from)
{
    drep_scalar *custom = NULL;

    if (from->ncustom > 0) {
        custom = mem_array((uint64_t)from->ncustom, sizeof *custom);
        if (custom == NULL)
            return fail(DREP_ERR_NOMEM, "out of memory");
        memcpy(custom, from->custom, (size_t)from->ncustom * sizeof *custom);
    }
    *to = *from;
    to->custom = custom;
    return 0;
}

/* ---- witnesses ---- */

/* Value number i of `row`'s type, where row is big-endian: 0, 1, then of integers the largest, of
 * reals -2.5, the largest finite one, a NaN.  Returns 0 when the type has no such value. */
static int witness_value(const drep_encoding *row, int parts, int i, uint8_t *out)
{
    size_t size = (size_t)row->size / (size_t)parts;
    bool pair = row->format == DREP_FORMAT_DOUBLE_DOUBLE;
    uint8_t little[FMT_ITEM_MAX] = {0};

    memset(out, 0, FMT_ITEM_MAX);
    if (drep_format_describe(row->format)->cls != DREP_SCALAR_REAL) {
        if (row->format == DREP_FORMAT_BYTES || i > (row->format == DREP_FORMAT_BOOL ? 1 : 2))
            return 0;
        if (i == 1)
            out[size - 1] = 1;
        if (i == 2)
            memset(out, 0xff, size);
        if (i == 2 && row->format == DREP_FORMAT_INT)
            out[0] = 0x7f;
        if (i == 2 && row->format == DREP_FORMAT_UNICODE)
            memset(out, 0, size - 1), out[size - 1] = 0xfe;
        return 1;
    }
    /* A pair of doubles has several largest numbers; its other values are the high double. */
    if (i >= WITNESSES || (pair && i == REP_LARGEST))
        return 0;
    if (pair)
        size /= 2;
    if (rep_sample(pair ? DREP_FORMAT_BINARY64 : row->format, (int)size, (enum rep_sample)i,
                   little))
        return 0;
    for (size_t k = 0; k < size; k++)
        out[k] = little[size - 1 - k];
    size = (size_t)row->size / (size_t)parts;
    if (parts == 2)
        memcpy(out + size, out, size);
    return 1;
}

/* This machine's row of a type, made big-endian without padding; the formats of 80 bits
 * in their common form. */
static void row_big(int code, drep_encoding *row)
{
    *row = rep_native()->row[code];
    row->order = DREP_BIG;
    row->align = 1;
    if (row->format == DREP_FORMAT_X87 || row->format == DREP_FORMAT_M68K) {
        row->format = DREP_FORMAT_X87;
        row->size = fmt_code_class(code) == FMT_COMPLEX ? 20 : 10;
    }
}

/* The native bytes of value i. */
static int witness_native(int code, int i, void *out, int *has)
{
    uint8_t big[FMT_ITEM_MAX];
    struct rep_table table = {0};
    struct type_sizes sizes;
    struct prog from;
    struct rep_opts opts = {.range = DREP_RANGE_WRAP, .value_range = DREP_RANGE_WRAP};
    const drep_type *type = drep_predefined(code);
    int err;

    row_big(code, &table.row[code]);
    *has = witness_value(&table.row[code], fmt_code_class(code) == FMT_COMPLEX ? 2 : 1, i, big);
    if (!*has)
        return 0;
    rep_table_sizes(&table, &sizes);
    if ((err = prog_build(&from, type, &sizes, PROG_PACKED)) != 0)
        return err;
    memset(out, 0, FMT_ITEM_MAX);
    err = rep_convert(out, &(struct rep_side){&type->prog, rep_native(), 0}, big,
                      &(struct rep_side){&from, &table, 0}, 1, &opts, NULL);
    prog_release(&from);
    return err;
}

/* Stored bytes to native ones through the file's own way. */
static int witness_read(drep_file *f, int code, const uint8_t *stored, void *out)
{
    struct ftype ft = {.type = (drep_type *)drep_predefined(code)};
    struct conv c;
    int err = prog_build(&ft.stored, ft.type, &f->rep.sizes, PROG_PACKED);

    if (err != 0)
        return err;
    memset(out, 0, FMT_ITEM_MAX);
    err = conv_init(&c, &f->rep, &ft, ft.type, NULL, false);
    if (err == 0)
        err = conv_read(&c, out, 0, stored, 0, 1);
    prog_release(&ft.stored);
    return err;
}

static int witness_write(drep_file *f, int code, const void *native, uint8_t *stored)
{
    struct ftype ft = {.type = (drep_type *)drep_predefined(code)};
    struct conv c;
    int err = prog_build(&ft.stored, ft.type, &f->rep.sizes, PROG_PACKED);

    if (err != 0)
        return err;
    err = conv_init(&c, &f->rep, &ft, ft.type, NULL, true);
    if (err == 0)
        err = conv_write(&c, native, 0, stored, 0, 1);
    prog_release(&ft.stored);
    return err;
}

/* Is a native real a NaN?  A NaN is what a conversion to double keeps unequal to itself. */
static bool is_nan(int code, const uint8_t *native)
{
    bool complex = fmt_code_class(code) == FMT_COMPLEX;
    const drep_type *type = drep_predefined(code);
    double d[2] = {0, 0};

    if (drep_convert(complex ? DREP_C_DOUBLE_COMPLEX : DREP_DOUBLE, d, type, native, 1,
                     &(drep_xfer){.range = DREP_RANGE_WRAP}) != 0)
        return false;
    return d[0] != d[0] && (!complex || d[1] != d[1]);
}

static bool witness_same(int code, const uint8_t *a, const uint8_t *b, int i)
{
    const drep_encoding *row = &rep_native()->row[code];
    size_t parts = fmt_code_class(code) == FMT_COMPLEX ? 2 : 1, size = row->size / parts;
    size_t used = row->format == DREP_FORMAT_X87 ? 10 : size; /* what pads it says nothing */

    if (i == 4)
        return is_nan(code, b);
    return memcmp(a, b, used) == 0 && (parts == 1 || memcmp(a + size, b + size, used) == 0);
}

static int witness_make(drep_file *f, int code)
{
    uint8_t native[FMT_ITEM_MAX], back[FMT_ITEM_MAX], stored[256];
    size_t size = f->rep.sizes.size[code];
    struct buf *w = &f->witness[code];
    int err, has;

    w->len = 0;
    for (int i = 0; i < WITNESSES; i++) {
        if ((err = witness_native(code, i, native, &has)) != 0)
            return err;
        if (!has) /* the list ends with the first value that cannot be shown */
            return 0;
        memset(stored, 0, sizeof stored);
        err = witness_write(f, code, native, stored);
        if (err == 0)
            err = witness_read(f, code, stored, back);
        if (err == DREP_ERR_NOMEM)
            return err;
        if (err != 0 || !witness_same(code, native, back, i))
            break;
        if ((err = buf_reserve(w, w->len + size)) != 0)
            return err;
        memcpy(w->p + w->len, stored, size);
        w->len += size;
    }
    return 0;
}

static int witness_check(drep_file *f, int code)
{
    uint8_t native[FMT_ITEM_MAX], back[FMT_ITEM_MAX];
    size_t size = f->rep.sizes.size[code], at = 0;
    int err, has;

    for (int i = 0; i < WITNESSES && at < f->witness[code].len; i++) {
        if ((err = witness_native(code, i, native, &has)) != 0)
            return err;
        if (!has)
            return 0;
        err = witness_read(f, code, f->witness[code].p + at, back);
        if (err == DREP_ERR_NOMEM)
            return err;
        if (err != 0 || !witness_same(code, native, back, i))
            return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                        "datarep \"%s\": the functions registered under this name do not read "
                        "the header's witness of %s; they are another representation",
                        f->rep.name, drep_code_name(code));
        at += size;
    }
    return 0;
}

/* ---- resolution ---- */

/* BYTE and PACKED are never converted, whatever the functions say of them. */
static void bytes_are_bytes(struct type_sizes *sizes)
{
    sizes->size[DREP_CODE_BYTE] = sizes->align[DREP_CODE_BYTE] = 1;
    sizes->size[DREP_CODE_PACKED] = sizes->align[DREP_CODE_PACKED] = 1;
}

/* Where a function is missing elements are native, so the extents must be. */
static int check_native(const drep_file *f, int code)
{
    for (int writing = 0; f->rep.datarep != NULL && writing < 2; writing++) {
        const struct rep_table *table = file_rep_table(&f->rep, writing != 0);

        if (table != NULL && table->row[code].size != f->rep.sizes.size[code])
            return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                        "datarep \"%s\" has no %s function, but takes %u bytes for %s and not "
                        "the native %u",
                        f->rep.name, writing ? "write" : "read", f->rep.sizes.size[code],
                        drep_code_name(code), table->row[code].size);
    }
    return 0;
}

static void adopt(drep_file *f, const struct datarep *rep)
{
    f->rep.datarep = rep;
    f->rep.has_table = rep->table != NULL;
    f->form = f->rep.has_table ? FMT_FORM_TABLE : FMT_FORM_CODE;
}

int header_start(drep_file *f, const char *datarep)
{
    const struct datarep *rep;
    const char *machine;
    struct utsname u;
    int err = rep_resolve(datarep, info_str(f->info, "drep_plugin_path"), &rep);

    if (err != 0)
        return fail_in(err, "%s", f->path);
    if (rep == NULL)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "%s: datarep \"%s\" is neither built in nor registered", f->path, datarep);
    adopt(f, rep);
    memcpy(f->rep.name, rep->name, sizeof f->rep.name);
    if (f->rep.has_table) {
        if ((err = table_copy(&f->rep.table, rep->table)) != 0)
            return err;
        rep_table_sizes(&f->rep.table, &f->rep.sizes);
        f->header_flags = f->rep.table.structs ? 1 : 0;
        f->rep.layout = layout_of(f->header_flags);
    } else {
        f->rep.native_form = rep->write == NULL;
        if (f->rep.native_form && (err = table_copy(&f->rep.table, rep_native())) != 0)
            return err;
        if ((err = rep_sizes(rep, &f->rep.sizes)) != 0)
            return err;
        bytes_are_bytes(&f->rep.sizes);
    }
    f->writer = mem_strdup("datarep " DREP_VERSION);
    machine = info_str(f->info, "drep_machine");
    if (*machine == '\0' || text_check((const uint8_t *)machine, strlen(machine)) != 0)
        machine = rep_native_name();
    if (*machine == '\0')
        machine = uname(&u) == 0 ? u.machine : "unknown";
    f->machine = mem_strdup(machine);
    if (f->writer == NULL || f->machine == NULL)
        return fail(DREP_ERR_NOMEM, "out of memory");
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
        if (f->rep.table.custom == NULL)
            return fail(DREP_ERR_NOMEM, "out of memory");
        f->rep.table.ncustom = (int)n;
        in_init(&in, h->scalars.p, h->scalars.len);
        for (size_t i = 0; err == 0 && i < n; i++) {
            struct scalar_rec r;

            if ((err = scalar_get(&in, &r)) == 0)
                scalar_from_rec(&r, &f->rep.table.custom[i]);
        }
        if (err != 0)
            return fail(DREP_ERR_FORMAT, "datarep \"%s\": malformed scalar in its table",
                        f->rep.name);
    }
    return fail_in(rep_table_check(&f->rep.table), "datarep \"%s\"", f->rep.name);
}

static int resolve_table(drep_file *f, const struct header_rec *h)
{
    const struct datarep *rep = rep_find(f->rep.name);
    int err;

    if (h->has_encodings) {
        if (rep != NULL && rep->builtin)
            return fail(DREP_ERR_FORMAT, "the header redefines datarep \"%s\"", f->rep.name);
        if ((err = load_table(f, h)) != 0)
            return err;
        if ((err = rep_scoped(f->rep.name, &f->rep.table, &f->scoped)) != 0)
            return err;
        adopt(f, f->scoped);
    } else {
        if (rep == NULL || !rep->builtin || rep->table == NULL)
            return fail(DREP_ERR_FORMAT, "datarep \"%s\" has no table of encodings", f->rep.name);
        if ((err = table_copy(&f->rep.table, rep->table)) != 0)
            return err;
        adopt(f, rep);
    }
    rep_table_sizes(&f->rep.table, &f->rep.sizes);
    return 0;
}

static int resolve_code(drep_file *f, const struct header_rec *h)
{
    const struct datarep *rep = rep_find(f->rep.name);
    int err = 0;

    if (rep == NULL && !(f->amode & DREP_HEADER_ONLY))
        err = rep_resolve(f->rep.name, info_str(f->info, "drep_plugin_path"), &rep);
    if (err != 0)
        return err;
    f->form = FMT_FORM_CODE;
    f->rep.native_form = h->has_encodings != 0;
    if (h->has_encodings && (err = load_table(f, h)) != 0)
        return err;
    if (rep == NULL && !(f->amode & DREP_HEADER_ONLY))
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "datarep \"%s\" is not registered; its header can be read, its elements "
                    "only after registering its functions",
                    f->rep.name);
    if (rep != NULL && (err = rep_sizes(rep, &f->rep.sizes)) != 0) {
        if (!(f->amode & DREP_HEADER_ONLY))
            return err;
        rep = NULL;
    }
    if (f->amode & DREP_HEADER_ONLY)
        rep = NULL;
    f->rep.datarep = rep;
    if (rep == NULL) {
        rep_table_sizes(&f->rep.table, &f->rep.sizes); /* the sizes of what is always the same */
        for (int c = 1; c <= DREP_CODE_MAX; c++) {
            f->rep.sizes.size[c] = (uint8_t)h->extent[c];
            f->rep.sizes.align[c] = 1;
        }
    }
    bytes_are_bytes(&f->rep.sizes);
    return 0;
}

static int check_extents(drep_file *f, const struct header_rec *h)
{
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        f->used[c] = h->extent[c] != 0;
        if (!f->used[c])
            continue;
        if (h->extent[c] == f->rep.sizes.size[c]) {
            int err = check_native(f, c);

            if (err != 0)
                return err;
            continue;
        }
        if (f->form == FMT_FORM_TABLE)
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
        if ((err = buf_set(&f->witness[c], w->bytes, (size_t)w->k * w->size)) != 0)
            return err;
        if (f->rep.datarep != NULL && f->form == FMT_FORM_CODE && (err = witness_check(f, c)) != 0)
            return err;
    }
    return 0;
}

static int load_hints(drep_file *f, const struct header_rec *h)
{
    struct in in;
    struct hint_rec hint;
    int err = 0;

    in_init(&in, h->hints.p, h->hints.len);
    while (err == 0 && hint_get(&in, &hint) == 0) {
        char key[FMT_HINT_KEY_MAX + 1], value[FMT_HINT_VALUE_MAX + 1];

        memcpy(key, hint.key.p, hint.key.len);
        key[hint.key.len] = '\0';
        memcpy(value, hint.value.p, hint.value.len);
        value[hint.value.len] = '\0';
        err = drep_info_set(f->stored, key, value);
    }
    return err;
}

/* The largest striping_unit that a file may ask of whoever writes to it. */
#define UNIT_STORED_MAX ((int64_t)16 << 20)

/* A hint in the header advises, and gives way where following it could cost the opener more
 * than the opener allows. */
static bool stored_counts(const drep_info *stored, const char *key, int64_t limit)
{
    if (!hint_is_stored(key))
        return false;
    if (strcmp(key, "drep_chunk_max") == 0)
        return info_int(stored, key) <= limit;
    return strcmp(key, "striping_unit") != 0 || info_int(stored, key) <= UNIT_STORED_MAX;
}

/* The defaults, then what the file says about itself, then what its opener says. */
static int merge_hints(drep_file *f, const drep_info *opener)
{
    int64_t limit = hint_chunk_limit(opener);
    drep_info *all, *own;
    int err = info_defaults(&all);

    if (err != 0)
        return err;
    if ((err = drep_info_new(&own)) != 0) {
        drep_info_free(all);
        return err;
    }
    for (int i = 0; err == 0 && i < drep_info_count(f->stored); i++) {
        const char *key = drep_info_key(f->stored, i), *value = drep_info_get(f->stored, key);

        if (!stored_counts(f->stored, key, limit))
            continue;
        err = drep_info_set(own, key, value);
    }
    if (err == 0)
        err = info_merge(all, own);
    if (err == 0)
        err = info_merge(all, opener);
    if (err == 0)
        err = hints_settle(all, limit);
    drep_info_free(own);
    if (err != 0) {
        drep_info_free(all);
        return err;
    }
    drep_info_free(f->info);
    f->info = all;
    return 0;
}

int header_start_like(drep_file *f, const drep_file *like, const drep_info *info)
{
    int err;

    if (like->rep.datarep == NULL)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP, "%s: opened for its header only", like->path);
    memcpy(f->rep.name, like->rep.name, sizeof f->rep.name);
    f->header_flags = like->header_flags & 1;
    f->rep.layout = like->rep.layout;
    f->rep.native_form = like->rep.native_form;
    f->rep.sizes = like->rep.sizes;
    if ((like->rep.has_table || like->rep.native_form) &&
        (err = table_copy(&f->rep.table, &like->rep.table)) != 0)
        return err;
    if (like->scoped != NULL && (err = rep_scoped(f->rep.name, &f->rep.table, &f->scoped)) != 0)
        return err;
    adopt(f, like->scoped != NULL ? f->scoped : like->rep.datarep);
    f->writer = mem_strdup("datarep " DREP_VERSION);
    f->machine = mem_strdup(like->machine);
    if (f->writer == NULL || f->machine == NULL)
        return fail(DREP_ERR_NOMEM, "out of memory");
    for (int i = 0; i < drep_info_count(like->stored); i++) {
        const char *key = drep_info_key(like->stored, i);

        if ((err = drep_info_set(f->stored, key, drep_info_get(like->stored, key))) != 0)
            return err;
    }
    return merge_hints(f, info);
}

static char *text_of(const struct span *s)
{
    return mem_strndup(s->p == NULL ? "" : (const char *)s->p, s->len);
}

static struct span *later_of(struct header_rec *h, int i)
{
    struct span *all[] = {&h->tail, &h->extents_tail, &h->encodings_tail, &h->witnesses_tail};

    return all[i];
}

/* Fields and codes of a later version go back into the header as they are. */
static int keep_later(drep_file *f, struct header_rec *h)
{
    int err = 0;

    for (int i = 0; err == 0 && i < 4; i++)
        err = buf_set(&f->later[i], later_of(h, i)->p, later_of(h, i)->len);
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

    if (h == NULL || scratch == NULL)
        err = fail(DREP_ERR_NOMEM, "out of memory");
    else if ((err = header_get(p, size, h, scratch, &why, &at)) != 0)
        err = fail(err, "header: %s at byte %zu of the header proper", why, at);
    if (err == 0) {
        memcpy(f->rep.name, h->name, sizeof f->rep.name);
        f->header_flags = h->flags;
        f->rep.layout = layout_of(f->header_flags);
        f->writer = text_of(&h->writer);
        f->machine = text_of(&h->machine);
        err = f->writer == NULL || f->machine == NULL ? fail(DREP_ERR_NOMEM, "out of memory") : 0;
    }
    if (err == 0)
        err = h->form == FMT_FORM_TABLE ? resolve_table(f, h) : resolve_code(f, h);
    if (err == 0)
        err = check_extents(f, h);
    if (err == 0)
        err = load_witnesses(f, h);
    if (err == 0)
        err = load_hints(f, h);
    if (err == 0)
        err = merge_hints(f, info);
    if (err == 0)
        err = buf_set(&f->unknown, h->unknown.p, h->unknown.len);
    if (err == 0)
        err = keep_later(f, h);
    mem_free(scratch);
    mem_free(h);
    return err;
}

void header_release(drep_file *f)
{
    if (f->scoped != NULL)
        rep_scoped_free(f->scoped);
    for (int c = 0; c <= DREP_CODE_MAX; c++)
        buf_release(&f->witness[c]);
    buf_release(&f->unknown);
    for (int i = 0; i < 4; i++)
        buf_release(&f->later[i]);
    mem_free(f->rep.table.custom);
    mem_free(f->writer);
    mem_free(f->machine);
    drep_info_free(f->info);
    drep_info_free(f->stored);
}

/* What a file keeps for its life, so that elements read before stay true. */
static int same_representation(const drep_file *a, const drep_file *b)
{
    bool same = strcmp(a->rep.name, b->rep.name) == 0 && a->form == b->form &&
                a->header_flags == b->header_flags && a->rep.has_table == b->rep.has_table &&
                a->rep.native_form == b->rep.native_form &&
                a->rep.table.ncustom == b->rep.table.ncustom &&
                memcmp(a->rep.table.row, b->rep.table.row, sizeof a->rep.table.row) == 0;

    for (int c = 1; same && c <= DREP_CODE_MAX; c++)
        same = !a->used[c] || (b->used[c] && a->rep.sizes.size[c] == b->rep.sizes.size[c]);
    return same ? 0
                : fail(DREP_ERR_FORMAT, "datarep \"%s\": a later commit has another table",
                       a->rep.name);
}

int header_again(drep_file *f, drep_file **out)
{
    drep_file *t = mem_zalloc(1, sizeof *t);
    int err;

    if (t == NULL)
        return DREP_ERR_NOMEM;
    t->st = f->st;
    t->path = f->path;
    t->amode = f->amode;
    t->old = mem_zalloc(1, sizeof *t->old);
    err = t->old == NULL ? DREP_ERR_NOMEM : drep_info_new(&t->stored);
    if (err == 0)
        err = info_defaults(&t->info);
    if (err == 0)
        err = info_merge(t->info, f->info);
    if (err == 0)
        err = header_load(t, f->info);
    if (err == 0)
        err = same_representation(f, t);
    if (err != 0) {
        header_again_free(t);
        return err;
    }
    *out = t;
    return 0;
}

void header_again_free(drep_file *t)
{
    if (t == NULL)
        return;
    header_release(t);
    mem_free(t->old);
    mem_free(t);
}

static void buf_swap(struct buf *a, struct buf *b)
{
    struct buf t = *a;

    *a = *b;
    *b = t;
}

void header_exchange(drep_file *f, drep_file *t)
{
    if (strcmp(f->writer, t->writer) != 0) {
        *t->old = (struct old_text){f->old, f->writer}; /* somebody may still look at it */
        f->old = t->old;
        f->writer = t->writer;
        t->old = NULL;
        t->writer = NULL;
    }
    memcpy(f->used, t->used, sizeof f->used);
    drep_info_free(f->stored);
    f->stored = t->stored;
    t->stored = NULL;
    buf_swap(&f->unknown, &t->unknown);
    for (int c = 0; c <= DREP_CODE_MAX; c++)
        buf_swap(&f->witness[c], &t->witness[c]);
    for (int i = 0; i < 4; i++)
        buf_swap(&f->later[i], &t->later[i]);
}

/* ---- use and writing ---- */

static int use_code(int code, void *ctx)
{
    drep_file *f = ctx;
    int err;

    if (f->used[code])
        return 0;
    if (f->rep.sizes.size[code] == 0)
        return fail(DREP_ERR_TYPE, "datarep \"%s\" has no %s", f->rep.name, drep_code_name(code));
    if ((err = check_native(f, code)) != 0)
        return err;
    if (f->form == FMT_FORM_CODE && (err = witness_make(f, code)) != 0)
        return err;
    f->used[code] = true;
    return 0;
}

int header_use(drep_file *f, const drep_type *type)
{
    return type_each_code(type, use_code, f);
}

static int put_hints(const drep_file *f, struct buf *to)
{
    struct out out;

    buf_out(to, &out);
    for (int i = 0; i < drep_info_count(f->stored); i++) {
        const char *key = drep_info_key(f->stored, i), *value = drep_info_get(f->stored, key);

        hint_put(&out, &(struct hint_rec){{(const uint8_t *)key, strlen(key)},
                                          {(const uint8_t *)value, strlen(value)}});
    }
    return buf_done(to, &out);
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
    h->form = (uint8_t)f->form;
    h->flags = (uint8_t)f->header_flags;
    memcpy(h->name, f->rep.name, sizeof h->name);
    h->has_encodings = f->form == FMT_FORM_TABLE ? !f->rep.datarep->builtin : f->rep.native_form;
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        h->extent[c] = f->used[c] ? f->rep.sizes.size[c] : 0;
        if (h->has_encodings && f->rep.table.row[c].size != 0)
            row_to_rec(&f->rep.table.row[c], &h->row[c]);
        if (f->used[c] && f->witness[c].len > 0)
            h->witness[c] =
                (struct witness_rec){(uint8_t)(f->witness[c].len / f->rep.sizes.size[c]),
                                     f->rep.sizes.size[c], f->witness[c].p};
    }
    h->writer =
        (struct span){(const uint8_t *)"datarep " DREP_VERSION, strlen("datarep " DREP_VERSION)};
    h->machine = (struct span){(const uint8_t *)f->machine, strlen(f->machine)};
    h->unknown = (struct span){f->unknown.p, f->unknown.len};
    for (int i = 0; i < 4; i++)
        *later_of(h, i) = (struct span){f->later[i].p, f->later[i].len};
}

int header_build(drep_file *f, struct buf *to, size_t *split)
{
    struct header_rec *h = mem_zalloc(1, sizeof *h);
    struct buf hints = {0}, scalars = {0};
    struct out out;
    int err;

    if (h == NULL)
        return fail(DREP_ERR_NOMEM, "out of memory");
    err = put_hints(f, &hints);
    if (err == 0)
        err = put_scalars(f, &scalars);
    if (err == 0) {
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
