/* encoding.c - how the container stores numbers, and what of it HDF5 can say. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/encoding.h"
#include "tools/h5/job.h"
#include <datarep.h>
#include <stdio.h>
#include <string.h>

const drep_format_info *real_of_format(int format)
{
    const drep_format_info *f = drep_format_describe(format);

    /* HDF5 has base 2 alone, the point behind the leading bit, and one piece. */
    return f && f->cls == DREP_SCALAR_REAL && f->base_log2 == 1 && !f->fraction &&
                   f->mant_pos + f->mant_width == f->exp_pos &&
                   f->exp_pos + f->exp_width == f->sign_pos
               ? f
               : NULL;
}

const drep_format_info *real_of_fields(const drep_scalar *s)
{
    for (int format = 1; format < DREP_FORMAT_CUSTOM; format++) {
        const drep_format_info *r = real_of_format(format);

        if (r && s->offset == 0 && s->precision == r->sign_pos + 1 && s->sign_pos == r->sign_pos &&
            s->exp_pos == r->exp_pos && s->exp_width == r->exp_width &&
            s->mant_pos == r->mant_pos && s->mant_width == r->mant_width &&
            s->exp_bias == r->bias && (s->norm == DREP_NORM_IMPLIED) == r->implied &&
            (s->order == DREP_VAX) == r->vax && s->size <= 32 && r->sizes >> (s->size - 1) & 1)
            return r;
    }
    return NULL;
}

H5T_order_t order_native(void)
{
    return H5Tget_order(H5T_NATIVE_INT);
}

H5T_order_t order_to_hdf5(int order)
{
    return order == DREP_BIG ? H5T_ORDER_BE : order == DREP_VAX ? H5T_ORDER_VAX : H5T_ORDER_LE;
}

/* ---------------------------------------------------- the container's encodings */

int encodings_load(struct job *j)
{
    drep_encoding base[256];
    drep_header h = DREP_HEADER;
    int i, n = 0;
    int err = drep_header_get(j->d, &h);

    if (!err)
        j->encodings->from_x86 = strstr(h.machine, "86") || strcmp(h.machine, "amd64") == 0 ||
                                 strcmp(h.machine, "x32") == 0;
    if (!err)
        err = drep_datarep_table("external32", base, 256, &n);
    for (i = 0; !err && i < n && i < 256; i++)
        j->encodings->standard[base[i].code & 255] = base[i].format;
    if (!err)
        err = drep_datarep_table("internal", base, 256, &n);
    for (i = 0; !err && i < n && i < 256; i++)
        j->encodings->plain[base[i].code & 255] = base[i];
    if (!err)
        snprintf(j->encodings->standing, sizeof j->encodings->standing, "%s", h.datarep);
    j->encodings->number = -2;
    return err ? job_fail_drep(j, err) : encodings_use(j, NULL, 0);
}

int encodings_use(struct job *j, const char *datarep, int number)
{
    struct encodings *e = j->encodings;
    const char *name = datarep ? datarep : e->standing;
    const drep_encoding *rows;
    drep_encoding base[256];
    int i, n = 0, err = 0;

    if (number >= 0 && e->number == number)
        return 0;
    /* Attributes may use types that the header has no row for. */
    e->declared = strcmp(name, "external32") != 0 && strcmp(name, "internal") != 0 &&
                  strncmp(name, "native", 6) != 0;
    if (drep_datarep_table(name, base, 256, &n) != 0 || n == 0)
        err = drep_datarep_table("external32", base, 256, &n);
    memset(e->stored, 0, sizeof e->stored);
    for (i = 0; !err && i < n && i < 256; i++)
        e->stored[base[i].code & 255] = base[i];
    n = 0;
    if (!err && number >= 0)
        err = drep_header_types(j->d, number, &rows, &n);
    for (i = 0; !err && i < n; i++)
        if (rows[i].format)
            e->stored[rows[i].code & 255] = rows[i];
    e->number = err ? -2 : number;
    return err ? job_fail_drep(j, err) : 0;
}

drep_encoding encoding_of(const struct job *j, int code, int named)
{
    return named ? j->encodings->plain[code & 255] : j->encodings->stored[code & 255];
}
