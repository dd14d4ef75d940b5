/* describe.c - what a handle says of its file: header, types, hints. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/info.h"
#include "base/mem.h"
#include "base/sized.h"
#include "file/file.h"
#include "rep/encodings.h"
#include "txn/txn.h"

#include <datarep.h>
#include <pthread.h>
#include <string.h>

static const char *form_name(const struct file_datarep *e)
{
    return e->form == FMT_FORM_TABLE ? "table" : e->form == FMT_FORM_CODE ? "code" : "unknown";
}

int drep_header_get(const drep_file *file, drep_header *out)
{
    const struct slot *slot;
    drep_header is;
    int err;

    if ((err = sized_check(SIZED_drep_header, out, "drep_header_get")) || (err = file_check(file)))
        return err;
    is = DREP_HEADER;
    slot = store_slot(file->st);
    is.datarep = file_default(file)->rep.name;
    is.form = form_name(file_default(file));
    is.writer = file->header.writer;
    is.machine = file_default(file)->machine;
    is.version_major = slot->major;
    is.version_minor = slot->minor;
    is.sequence = slot->sequence;
    is.time = slot->time;
    memcpy(is.uuid, slot->uuid, sizeof is.uuid);
    is.end = slot->end;
    is.damaged_slot = store_damaged_slot(file->st);
    sized_put(SIZED_drep_header, &is, out);
    return 0;
}

/* An entry by its number, also one that only a later version understands. */
static int find_rep(const drep_file *f, int number, struct file_datarep **out)
{
    *out = number < 0 ? NULL : rep_numbered(f, (uint32_t)number);
    return *out ? 0
                : fail(DREP_ERR_NOT_FOUND, "%s: there is no representation %d", f->path, number);
}

int drep_header_datareps(const drep_file *file, drep_repinfo *list, int max, int *n)
{
    drep_file *f = (drep_file *)(uintptr_t)file;
    int err;

    if (!n || max < 0 || (max > 0 && !list))
        return fail(DREP_ERR_ARG, "drep_header_datareps: null argument");
    if ((err = read_begin(f)))
        return err;
    for (size_t i = 0; i < f->reps.n && i < (size_t)max; i++) {
        const struct file_datarep *e = f->reps.list[i];

        list[i] = (drep_repinfo){.number = e->number,
                                 .name = e->rep.name,
                                 .form = form_name(e),
                                 .machine = e->machine,
                                 .structs = e->rep.layout == PROG_STRUCT};
    }
    *n = (int)f->reps.n;
    return read_end(f, 0);
}

/* The rows are lent out and rewritten by the next call, always with the same values. */
static int fill_rows(struct file_datarep *e)
{
    e->nrows = 0;
    if (!e->rows)
        e->rows = mem_zalloc(DREP_CODE_MAX + 1, sizeof *e->rows);
    if (!e->rows)
        return fail_nomem();
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        drep_encoding *row = &e->rows[e->nrows];
        const struct encoding_rec *later = rep_later_row(e, c);

        if (!e->used[c])
            continue;
        if (later)
            *row = (drep_encoding){.format = later->format,
                                   .order = later->order,
                                   .size = later->size,
                                   .align = later->align};
        else if (e->rep.has_table)
            *row = e->rep.table->row[c];
        else
            *row = (drep_encoding){.size = e->rep.sizes.size[c]};
        row->code = (uint16_t)c;
        e->nrows++;
    }
    return 0;
}

int drep_header_types(const drep_file *file, int number, const drep_encoding **rows, int *n)
{
    drep_file *f = (drep_file *)(uintptr_t)file;
    struct file_datarep *e = NULL;
    int err;

    if (!rows || !n)
        return fail(DREP_ERR_ARG, "drep_header_types: null argument");
    if ((err = read_begin(f)))
        return err;
    pthread_mutex_lock(&f->header.rows_lock);
    if (!(err = find_rep(f, number, &e)) && !(err = fill_rows(e))) {
        *rows = e->rows;
        *n = e->nrows;
    }
    pthread_mutex_unlock(&f->header.rows_lock);
    return read_end(f, err);
}

int drep_get_amode(const drep_file *file, int *amode)
{
    int err;

    if (!file || !amode)
        return fail(DREP_ERR_ARG, "drep_get_amode: null argument");
    if ((err = file_check(file)))
        return err;
    *amode = file->amode;
    return 0;
}

int drep_get_info(const drep_file *file, drep_info **out)
{
    drep_info *info;
    int err;

    if (!file || !out)
        return fail(DREP_ERR_ARG, "drep_get_info: null argument");
    if ((err = file_check(file)))
        return err;
    if ((err = info_defaults(&info)))
        return err;
    for (int i = 0; !err && i < drep_info_count(file->hints.all); i++) {
        const char *key = drep_info_key(file->hints.all, i);

        if (hint_acts(&file->hints, key))
            err = info_merge_one(info, file->hints.all, key);
    }
    if (!err)
        err = drep_info_set(info, "filename", file->path);
    if (err) {
        drep_info_free(info);
        return err;
    }
    *out = info;
    return 0;
}

/* Hints that only act when a file is opened are left out. */
int drep_set_info(drep_file *file, const drep_info *info)
{
    drep_info *changes;
    int err;

    if (!file || !info)
        return fail(DREP_ERR_ARG, "drep_set_info: null argument");
    if ((err = info_copy(info, &changes)))
        return err;
    if (!(err = alone_begin(file))) {
        for (int i = drep_info_count(changes); i-- > 0;)
            if (hint_is_fixed(&file->hints, drep_info_key(changes, i)))
                drep_info_delete(changes, drep_info_key(changes, i));
        err = hints_change(&file->hints, changes);
        if (!err)
            hints_note(file);
        alone_end(file);
    }
    drep_info_free(changes);
    return err;
}

int drep_header_hints(const drep_file *file, drep_info **out)
{
    drep_info *info;
    int err;

    if (!file || !out)
        return fail(DREP_ERR_ARG, "drep_header_hints: null argument");
    if ((err = file_check(file)))
        return err;
    if ((err = info_copy(file->hints.stored, &info)))
        return err;
    *out = info;
    return 0;
}

int drep_header_scalars(const drep_file *file, int number, const drep_scalar **scalars, int *n)
{
    drep_file *f = (drep_file *)(uintptr_t)file;
    struct file_datarep *e = NULL;
    int err;

    if (!scalars || !n)
        return fail(DREP_ERR_ARG, "drep_header_scalars: null argument");
    if ((err = read_begin(f)))
        return err;
    if (!(err = find_rep(f, number, &e))) {
        *scalars = e->rep.table->custom;
        *n = e->rep.table->ncustom;
    }
    return read_end(f, err);
}
