/* unit.c - pack units that say what they are (PACK.md).
 *
 * A unit of drep_pack() is the data alone (MPI 5.0, 5.3): whoever unpacks it must know what
 * machine packed it.  These begin with the same records as a file's header, so that a table
 * travels with the data, and end where they say. */
/* SPDX-License-Identifier: MIT */
#include "rep/registry.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "format/block.h"
#include "format/in.h"
#include "format/out.h"
#include "format/header.h"
#include "rep/dispatch.h"
#include "rep/encodings.h"
#include "rep/packed.h"

#include <datarep.h>
#include <string.h>

enum { FIXED = 40, SUM = 8, UNIT_VERSION = 5 };
static const uint8_t magic[8] = {0x89, 'D', 'R', 'U', 0x0d, 0x0a, 0x1a, 0x0a};

/* The fields before the records. */
struct fixed {
    uint32_t records;
    uint64_t items, size, sum; /* of the data */
};

static int fixed_get(struct in *in, struct fixed *out)
{
    const uint8_t *m = in_bytes(in, sizeof magic);
    struct fixed f;
    int version;

    if (!m || memcmp(m, magic, sizeof magic) != 0)
        return fail(DREP_ERR_NOT_DREP, "not a pack unit with a header");
    version = in_u16(in);
    if (!in->err && version != UNIT_VERSION)
        return fail(DREP_ERR_VERSION, "a pack unit of version %d", version);
    in_u16(in);
    f.records = in_u32(in);
    f.items = in_u64(in);
    f.size = in_u64(in);
    f.sum = in_u64(in);
    if (in->err || f.records > FMT_HEADER_MAX || f.items > INT64_MAX || f.size > TYPE_SIZE_MAX)
        return fail(in->err ? DREP_ERR_TRUNCATE : DREP_ERR_FORMAT, "a malformed pack unit (R12.1)");
    *out = f;
    return 0;
}

static void fixed_put(struct out *out, const struct fixed *f)
{
    out_bytes(out, magic, sizeof magic);
    out_u16(out, UNIT_VERSION);
    out_u16(out, 0);
    out_u32(out, f->records);
    out_u64(out, f->items);
    out_u64(out, f->size);
    out_u64(out, f->sum);
}

/* ---------------------------------------------------------------- packing */

/* A packed unit, decoded. */
struct unit_layout {
    const struct datarep *rep;
    const drep_type *type;
    struct type_sizes sizes;
    struct rep_rec *h;
    uint8_t *scalars;
    struct fixed fixed;
};

static int use_code(int code, void *ctx)
{
    struct unit_layout *u = ctx;
    const struct rep_table *table = u->rep->table;
    const drep_encoding *e;

    u->h->extent[code] = u->sizes.size[code];
    if (!u->h->has_encodings)
        return 0;
    /* Without a write function data is native. */
    e = &(table ? table : rep_native())->row[code];
    u->h->row[code] = (struct encoding_rec){.code = e->code,
                                            .format = e->format,
                                            .order = e->order,
                                            .size = e->size,
                                            .align = e->align,
                                            .custom = e->custom};
    return 0;
}

static int use_scalars(struct unit_layout *u)
{
    const struct rep_table *table = u->rep->table;
    struct scalar_rec r;
    struct out out;
    size_t size;

    if (!table || table->ncustom == 0)
        return 0;
    size = (size_t)table->ncustom * FMT_SCALAR_SIZE;
    u->scalars = mem_alloc(size);
    if (!u->scalars)
        return DREP_ERR_NOMEM;
    out_init(&out, u->scalars, size);
    for (int i = 0; i < table->ncustom; i++) {
        scalar_to_rec(&table->custom[i], &r);
        scalar_put(&out, &r);
    }
    u->h->scalars = (struct span){u->scalars, size};
    return 0;
}

static void unit_release(struct unit_layout *u)
{
    mem_free(u->h);
    mem_free(u->scalars);
}

/* All but the data's sum.  The caller releases it, whatever this gives. */
static int unit_layout_init(struct unit_layout *u, const char *datarep, int64_t count,
                            const drep_type *type)
{
    const char *machine = rep_native_name();
    int64_t items, size = 0;
    struct out none;
    int err;

    *u = (struct unit_layout){.type = type};
    if (!type)
        return fail(DREP_ERR_ARG, "no datatype");
    if (count < 0)
        return fail(DREP_ERR_COUNT, "a count of %lld", (long long)count);
    if (type->variable)
        return fail(DREP_ERR_TYPE, "datatypes of variable length are not packed");
    if (__builtin_mul_overflow(count, type->items, &items))
        return fail(DREP_ERR_VALUE_TOO_LARGE, "more than 2^63 data items");
    err = rep_need(datarep, &u->rep);
    if (!err)
        err = rep_sizes_of(u->rep, type, &u->sizes);
    if (!err)
        err = packed_size(&u->sizes, type, 0, items, &size);
    if (!err && !(u->h = mem_zalloc(1, sizeof *u->h)))
        err = DREP_ERR_NOMEM;
    if (err)
        return err;
    u->h->form = u->rep->table ? FMT_FORM_TABLE : FMT_FORM_CODE;
    u->h->has_encodings = u->rep->table ? !u->rep->builtin : !u->rep->write;
    strcpy(u->h->name, u->rep->name);
    u->h->machine = (struct span){(const uint8_t *)machine, strlen(machine)};
    err = use_scalars(u);
    if (!err)
        err = type_each_code(type, use_code, u);
    if (err)
        return err;
    out_init(&none, NULL, 0);
    rep_record_put(&none, u->h);
    u->fixed = (struct fixed){(uint32_t)none.at, (uint64_t)items, (uint64_t)size, 0};
    return 0;
}

static int64_t unit_head(const struct fixed *f)
{
    return FIXED + (int64_t)f->records + SUM;
}

int drep_pack_unit_size(const char *datarep, int64_t count, const drep_type *type, int64_t *size)
{
    struct unit_layout u;
    int err = unit_layout_init(&u, datarep, count, type);

    if (!err && !size)
        err = fail(DREP_ERR_ARG, "null pointer for the size");
    if (!err)
        *size = unit_head(&u.fixed) + (int64_t)u.fixed.size;
    unit_release(&u);
    return fail_in(err, "pack unit size");
}

static int place_check(const void *buf, int64_t size, const int64_t *position)
{
    if (!buf || !position || *position < 0 || *position > size)
        return fail(DREP_ERR_ARG, "no buffer, or the position lies outside of it");
    return 0;
}

static int unit_put(struct unit_layout *u, const void *inbuf, uint8_t *unit)
{
    int64_t head = unit_head(&u->fixed);
    struct out out;
    int err = 0;

    if (u->fixed.items)
        err = rep_write_items(u->rep, NULL, inbuf, u->type, 0, (int64_t)u->fixed.items, unit + head,
                              INT64_MAX, NULL, NULL);
    if (err)
        return err;
    u->fixed.sum = sum_of(unit + head, (size_t)u->fixed.size);
    out_init(&out, unit, (size_t)head);
    fixed_put(&out, &u->fixed);
    rep_record_put(&out, u->h);
    out_u64(&out, sum_of(unit, out.at));
    return 0;
}

int drep_pack_unit(const char *datarep, const void *inbuf, int64_t count, const drep_type *type,
                   void *outbuf, int64_t outsize, int64_t *position)
{
    struct unit_layout u;
    int64_t size = 0, items;
    int err = unit_layout_init(&u, datarep, count, type);

    if (!err)
        err = type_elements(type, count, &items);
    if (!err)
        err = place_check(outbuf, outsize, position);
    if (!err) {
        size = unit_head(&u.fixed) + (int64_t)u.fixed.size;
        if (u.fixed.items && !inbuf)
            err = fail(DREP_ERR_ARG, "no buffer");
        else if (size > outsize - *position)
            err = fail(DREP_ERR_BUFFER,
                       "%lld bytes from position %lld on are needed, the buffer has %lld",
                       (long long)size, (long long)*position, (long long)outsize);
    }
    if (!err)
        err = unit_put(&u, inbuf, (uint8_t *)outbuf + *position);
    if (!err)
        *position += size;
    unit_release(&u);
    return fail_in(err, "pack unit");
}

/* -------------------------------------------------------------- unpacking */

/* A unit that was read; the records lie in it. */
struct packed_head {
    struct fixed fixed;
    struct rep_rec *h;
    uint8_t *scratch;
    const uint8_t *data;
    int64_t size; /* of the whole unit */
    struct rep_table *table;
    struct datarep *scoped;
    const struct datarep *rep;
};

static void found_release(struct packed_head *f)
{
    rep_scoped_free(f->scoped);
    if (f->table)
        mem_free(f->table->custom);
    mem_free(f->table);
    mem_free(f->scratch);
    mem_free(f->h);
}

/* Decode the one representation of a unit. */
static int records_get(struct packed_head *f, const uint8_t *p)
{
    struct header_rec *records = mem_zalloc(1, sizeof *records);
    const char *why = "it has several representations";
    size_t at = 0, base = FIXED;
    struct span rep;
    struct in in;
    int err;

    f->h = mem_zalloc(1, sizeof *f->h);
    f->scratch = mem_alloc(f->fixed.records + 1);
    if (!f->h || !f->scratch || !records) {
        mem_free(records);
        return DREP_ERR_NOMEM;
    }
    err = header_get(p, f->fixed.records, records, f->scratch, &why, &at);
    if (!err && records->nreps != 1)
        err = DREP_ERR_FORMAT;
    in_init(&in, records->reps.p, records->reps.len);
    if (!err && !(err = header_rep_next(&in, &rep))) {
        base += (size_t)(rep.p - p);
        err = rep_get(&rep, f->h, f->scratch, &why, &at);
    }
    mem_free(records);
    if (err)
        return fail(DREP_ERR_FORMAT, "the pack unit's header: %s at byte %zu", why, base + at);
    return 0;
}

/* Decode everything but the data, which may lie beyond `size`. */
static int head_get(struct packed_head *f, const uint8_t *p, int64_t size)
{
    uint64_t sum;
    struct in in;
    int err;

    *f = (struct packed_head){.size = 0};
    in_init(&in, p, (size_t)size);
    err = fixed_get(&in, &f->fixed);
    if (err)
        return err;
    if ((int64_t)f->fixed.records > size - FIXED - SUM)
        return fail(DREP_ERR_TRUNCATE,
                    "the pack unit's header is %lld bytes long, %lld are present",
                    (long long)unit_head(&f->fixed), (long long)size);
    in_bytes(&in, f->fixed.records);
    sum = in_u64(&in);
    if (sum != sum_of(p, FIXED + f->fixed.records))
        return fail(DREP_ERR_CHECKSUM, "checksum mismatch in the pack unit's header");
    if ((err = records_get(f, p + FIXED)))
        return err;
    f->data = p + unit_head(&f->fixed);
    f->size = unit_head(&f->fixed) + (int64_t)f->fixed.size;
    return 0;
}

static int data_check(const struct packed_head *f, int64_t size)
{
    if (f->size > size)
        return fail(DREP_ERR_TRUNCATE, "the pack unit is %lld bytes long, %lld are present",
                    (long long)f->size, (long long)size);
    if (sum_of(f->data, (size_t)f->fixed.size) != f->fixed.sum)
        return fail(DREP_ERR_CHECKSUM, "checksum mismatch in the pack unit's data");
    return 0;
}

/* The unit's own table. */
static int table_get(struct packed_head *f)
{
    const struct rep_rec *h = f->h;
    size_t n = h->scalars.len / FMT_SCALAR_SIZE;

    f->table = mem_zalloc(1, sizeof *f->table);
    if (!f->table)
        return DREP_ERR_NOMEM;
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        const struct encoding_rec *r = &h->row[c];

        if (r->later)
            continue;
        f->table->row[c] =
            (drep_encoding){r->code, r->format, r->order, r->size, r->align, r->custom, 0};
    }
    /* Bytes are bytes under every table. */
    f->table->row[DREP_CODE_BYTE] = rep_native()->row[DREP_CODE_BYTE];
    f->table->row[DREP_CODE_PACKED] = rep_native()->row[DREP_CODE_PACKED];
    if (n > 0 && !(f->table->custom = mem_array(n, sizeof(drep_scalar))))
        return DREP_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        scalar_from_table(h->scalars.p + i * FMT_SCALAR_SIZE,
                          &f->table->custom[f->table->ncustom++]);
    return rep_scoped(h->name, f->table, &f->scoped);
}

/* The table in the unit wins over whatever the name means here; functions are this
 * process's, but where it has none to read with, or none wrote the unit, data is as a
 * machine held it. */
static int found_resolve(struct packed_head *f)
{
    int err;

    if (f->h->later)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "\"%s\": its form %d or flags %d were written by a newer version", f->h->name,
                    f->h->form, f->h->flags);
    if (f->h->has_encodings) {
        err = table_get(f);
        if (err)
            return err;
        f->rep = f->scoped;
        if (f->h->form == FMT_FORM_TABLE)
            return 0;
    }
    if (f->h->form == FMT_FORM_TABLE)
        return rep_need(f->h->name, &f->rep);
    err = rep_need(f->h->name, &f->rep);
    if (!err && f->rep->table)
        err =
            fail(DREP_ERR_UNSUPPORTED_DATAREP, "\"%s\" is a table here, not functions", f->h->name);
    if (!err && !f->rep->read && f->scoped)
        f->rep = f->scoped;
    return err;
}

struct unit_codes {
    const struct packed_head *f;
    const struct type_sizes *sizes;
};

/* Check that the unit has the code, as long here as there. */
static int is_listed(int code, void *ctx)
{
    const struct unit_codes *l = ctx;
    int there = l->f->h->extent[code], here = l->sizes->size[code];

    if (!there)
        return fail(DREP_ERR_TYPE, "the pack unit has no items of %s", drep_code_name(code));
    if (here != there)
        return fail(DREP_ERR_UNSUPPORTED_DATAREP,
                    "\"%s\" takes %d bytes for %s here, %d in the pack unit", l->f->h->name, here,
                    drep_code_name(code), there);
    return 0;
}

static int type_check(const struct packed_head *f, int64_t count, const drep_type *type)
{
    struct type_sizes sizes;
    struct unit_codes listed = {f, &sizes};
    int64_t items, size;
    int err;

    if (!type)
        return fail(DREP_ERR_ARG, "no datatype");
    if (type->variable)
        return fail(DREP_ERR_TYPE, "datatypes of variable length are not packed");
    if ((err = type_elements(type, count, &items)))
        return err;
    if (items != (int64_t)f->fixed.items)
        return fail(DREP_ERR_COUNT, "%lld elements are not the %lld data items of the pack unit",
                    (long long)count, (long long)f->fixed.items);
    err = rep_sizes_of(f->rep, type, &sizes);
    if (!err)
        err = type_each_code(type, is_listed, &listed);
    if (!err)
        err = packed_size(&sizes, type, 0, items, &size);
    if (!err && size != (int64_t)f->fixed.size)
        err = fail(DREP_ERR_TYPE, "items of %lld bytes are not those of the pack unit: %lld",
                   (long long)size, (long long)f->fixed.size);
    return err;
}

int drep_unpack_unit(const void *inbuf, int64_t insize, int64_t *position, void *outbuf,
                     int64_t count, const drep_type *type)
{
    struct packed_head f = {.size = 0};
    int err = place_check(inbuf, insize, position);

    if (!err)
        err = head_get(&f, (const uint8_t *)inbuf + *position, insize - *position);
    if (!err)
        err = data_check(&f, insize - *position);
    if (!err)
        err = found_resolve(&f);
    if (!err)
        err = type_check(&f, count, type);
    if (!err && f.fixed.items && !outbuf)
        err = fail(DREP_ERR_ARG, "no buffer");
    if (!err && f.fixed.items)
        err = rep_read_items(f.rep, NULL, outbuf, type, 0, (int64_t)f.fixed.items, f.data,
                             INT64_MAX, NULL, NULL);
    if (!err)
        *position += f.size;
    found_release(&f);
    return fail_in(err, "unpack unit");
}

int drep_pack_unit_info(const void *inbuf, int64_t insize, int64_t position, drep_unitinfo *out)
{
    struct packed_head f = {.size = 0};
    int err = place_check(inbuf, insize, &position);
    drep_unitinfo info = DREP_UNITINFO;

    if (!err)
        err = sized_check(SIZED_drep_unitinfo, out, "drep_pack_unit_info");
    if (!err)
        err = head_get(&f, (const uint8_t *)inbuf + position, insize - position);
    if (!err) {
        size_t n =
            f.h->machine.len < sizeof info.machine ? f.h->machine.len : sizeof info.machine - 1;

        strcpy(info.datarep, f.h->name);
        if (n > 0)
            memcpy(info.machine, f.h->machine.p, n);
        info.items = (int64_t)f.fixed.items;
        info.data_size = (int64_t)f.fixed.size;
        info.unit_size = f.size;
        sized_put(SIZED_drep_unitinfo, &info, out);
    }
    found_release(&f);
    return fail_in(err, "pack unit info");
}
