/* fill.c - the fill value: what elements are that were never written. */
/* SPDX-License-Identifier: MIT */
#include "elem/fill.h"

#include "base/mem.h"
#include "conv/conv.h"
#include "conv/memory.h"
#include "rep/encodings.h"

#include <datarep.h>
#include <string.h>

/* Bytes of an element with a fill value: so many in any case, and so many times the value's own. */
#define FILL_FREE ((uint64_t)1 << 20)
#define FILL_TIMES 16

/* Writes the pattern, by doubling what is written already: the fill of a large chunk costs a few
 * copies. */
int fill_bytes(const drep_dataset *ds, uint8_t *buf, uint64_t offset, uint64_t size)
{
    uint64_t es = (uint64_t)ds->esize;

    if (ds->fill_err != 0)
        return fail(ds->fill_err, "the functions of datarep \"%s\" cannot write the fill value",
                    ds->rep->name);
    if (!ds->fill) {
        memset(buf, 0, (size_t)size);
        return 0;
    }
    for (uint64_t done = 0; done < size;) {
        uint64_t at = (offset + done) % es, n = es - at;

        /* After one whole pattern the rest is a copy of what stands before it. */
        if (done >= es && at == 0 && (done % es) == 0) {
            n = done < size - done ? done : size - done;
            memcpy(buf + done, buf, (size_t)n);
        } else {
            n = n < size - done ? n : size - done;
            memcpy(buf + done, ds->fill + at, (size_t)n);
        }
        done += n;
    }
    return 0;
}

/* Tells if the stored bytes of a type's zero are all zero; -1: they are not. */
static int zero_is_zero(int code, void *ctx)
{
    static const uint8_t native[FMT_ITEM_MAX];
    const struct file_rep *rep = ctx;
    const drep_type *type = drep_predefined(code);
    const struct rep_table *table = file_rep_table(rep, true);
    struct ftype ft = {.type = (drep_type *)(uintptr_t)type};
    uint8_t stored[UINT8_MAX] = {0};
    struct conv c;
    int err;

    if (table && table->row[code].format != DREP_FORMAT_CUSTOM)
        return 0;
    if ((err = prog_build(&ft.stored, type, &rep->sizes, PROG_PACKED)))
        return err;
    err = conv_init(&c, rep, &ft, type, NULL, true);
    if (!err)
        err = conv_write(&c, native, 0, stored, 0, 1);
    prog_release(&ft.stored);
    for (int i = 0; !err && i < rep->sizes.size[code]; i++)
        err = stored[i] != 0 ? -1 : 0;
    return err;
}

/* The gaps of a type cost nothing in its file, so that the opener's limit alone would let a few
 * hundred bytes take megabytes for each dataset. */
int fill_fits(const drep_file *f, const struct ftype *ft, size_t len)
{
    int64_t memory = ft->type->prog.extent, stored = ft->stored.extent;
    uint64_t each = (uint64_t)(memory > stored ? memory : stored);
    uint64_t most = f->st->opts.chunk_limit;

    if (each > most)
        return fail(DREP_ERR_LIMIT, "for an element of %llu bytes; drep_limit_chunk is %llu",
                    (unsigned long long)each, (unsigned long long)most);
    if (each > FILL_FREE && each / FILL_TIMES > len)
        return fail(DREP_ERR_LIMIT, "%zu bytes for an element of %llu, most of it gaps", len,
                    (unsigned long long)each);
    return 0;
}

/* Makes one stored element of the fill value. A table converts without memory in between, whose
 * types may hold less than the file's; functions are called once. */
static int fill_convert(drep_dataset *ds)
{
    drep_file *f = ds->file;
    drep_type *type;
    struct conv c;
    void *value;
    int err =
        fill_fits(f, ds->ft, ds->rec.fill == FMT_FILL_VALUE ? ds->rec.fill_value.len : SIZE_MAX);

    if (err || (err = drep_type_with_texts(ds->ft->type, &type)))
        return err;
    ds->fill = mem_zalloc(1, (uint64_t)ds->esize);
    value = mem_zalloc(1, (uint64_t)type->prog.extent);
    if (!ds->fill || !value)
        err = fail_nomem();
    if (!err && ds->rec.fill == FMT_FILL_VALUE && !type->variable &&
        file_rep_table(ds->rep, true)) {
        err = value_stored(ds->rep, &ds->rec.fill_value, ds->ft, ds->fill);
        if (err != DREP_ERR_TYPE) {
            mem_free(value);
            drep_type_free(type);
            return err;
        }
        err = 0; /* references go through memory, which holds them */
    }
    if (!err && ds->rec.fill == FMT_FILL_VALUE)
        err = value_unpack(&f->values, &ds->rec.fill_value, ds->ft, 1, type, value);
    if (!err)
        err = conv_init(&c, ds->rep, ds->ft, type, &DREP_XFER(.range = DREP_RANGE_WRAP), true);
    if (!err) {
        c.heap_out = &ds->fill_heap;
        err = conv_write(&c, value, 0, ds->fill, ds->esize, 1);
    }
    if (value)
        drep_vlen_free(type, 1, value);
    mem_free(value);
    drep_type_free(type);
    return err;
}

/* Makes the fill only where it is not zero bytes. The functions may be unable to write their
 * default one, which is an error only when it is needed. */
int fill_make(drep_dataset *ds)
{
    const struct rep_table *table = file_rep_table(ds->rep, true);
    int err = 0;

    if (table && table->ncustom == 0 && ds->rec.fill != FMT_FILL_VALUE)
        return 0; /* zero is zero bytes in every format of ours, and all codes have one of them:
                   * so most datasets are opened without a look at their types */
    if ((!ds->rep->datarep && type_has_codes(ds->ft->type)) || ds->esize == 0)
        return 0;
    if (ds->rec.fill == FMT_FILL_VALUE)
        err = value_check(&ds->rec.fill_value, ds->ft, 1);
    else if (!(err = type_each_code(ds->ft->type, zero_is_zero, (void *)(uintptr_t)ds->rep)))
        return 0;
    if (err <= 0)
        err = fill_convert(ds);
    if (err == DREP_ERR_CONVERSION && ds->rec.fill != FMT_FILL_VALUE) {
        ds->fill_err = err; /* it may never be needed */
        return 0;
    }
    return fail_in(err, "fill value");
}
