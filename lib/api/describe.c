/* describe.c - what a handle says of its file: header, types, hints. */
#include "base/error.h"
#include "base/info.h"
#include "file/file.h"
#include "txn/txn.h"

#include <pthread.h>
#include <string.h>

int drep_header_get(const drep_file *file, drep_header *out)
{
    const struct slot *slot;
    int err;

    if (!file || !out)
        return fail(DREP_ERR_ARG, "drep_header_get: null argument");
    if ((err = file_check(file)))
        return err;
    slot = store_slot(file->st);
    out->datarep = file->rep.name;
    out->form = file->header.form == FMT_FORM_TABLE ? "table" : "code";
    out->writer = file->header.writer;
    out->machine = file->header.machine;
    out->version_major = slot->major;
    out->version_minor = slot->minor;
    out->sequence = slot->sequence;
    out->time = slot->time;
    memcpy(out->uuid, slot->uuid, sizeof out->uuid);
    out->end = slot->end;
    out->damaged_slot = store_damaged_slot(file->st);
    return 0;
}

/* The rows are lent out and rewritten by the next call, always with the same values. */
int drep_header_types(const drep_file *file, const drep_encoding **rows, int *n)
{
    drep_file *f = (drep_file *)file;
    int err;

    if (!file || !rows || !n)
        return fail(DREP_ERR_ARG, "drep_header_types: null argument");
    if ((err = file_check(file)))
        return err;
    pthread_mutex_lock(&f->header.rows_lock);
    f->header.nrows = 0;
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        drep_encoding *row = &f->header.rows[f->header.nrows];

        if (!f->header.used[c])
            continue;
        if (f->rep.has_table)
            *row = f->rep.table.row[c];
        else
            *row = (drep_encoding){.size = f->rep.sizes.size[c]};
        row->code = (uint16_t)c;
        f->header.nrows++;
    }
    *rows = f->header.rows;
    *n = f->header.nrows;
    pthread_mutex_unlock(&f->header.rows_lock);
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
    err = info_merge(info, file->hints.all);
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
    for (int i = drep_info_count(changes); i-- > 0;)
        if (hint_is_fixed(drep_info_key(changes, i)))
            drep_info_delete(changes, drep_info_key(changes, i));
    if (!(err = alone_begin(file))) {
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

int drep_header_scalars(const drep_file *file, const drep_scalar **scalars, int *n)
{
    int err;

    if (!file || !scalars || !n)
        return fail(DREP_ERR_ARG, "drep_header_scalars: null argument");
    if ((err = file_check(file)))
        return err;
    *scalars = file->rep.table.custom;
    *n = file->rep.table.ncustom;
    return 0;
}
