/* header.c - the header proper as a handle keeps it: representations, hints, writer. */
/* SPDX-License-Identifier: MIT */
#include "file/header.h"

#include "base/error.h"
#include "base/info.h"
#include "base/mem.h"
#include "file/file.h"
#include "format/header.h"
#include "txn/txn.h"

#include <datarep.h>
#include <string.h>

static const char written_by[] = "datarep " DREP_VERSION;

static int start(drep_file *f)
{
    f->header.writer = mem_strdup(written_by);
    f->values.rep = &file_default(f)->rep;
    f->reps.stored = f->reps.n;
    return f->header.writer ? 0 : fail_nomem();
}

int header_start(drep_file *f, const char *datarep)
{
    struct file_datarep *first;
    int err = rep_add(f, datarep, &first);

    return err ? fail_in(err, "%s", f->path) : start(f);
}

int header_start_like(drep_file *f, const drep_file *like, const drep_info *info)
{
    struct file_datarep *first;
    int err = rep_add_like(f, file_default(like), &first);

    if (!err)
        err = start(f);
    for (int i = 0; !err && i < drep_info_count(like->hints.stored); i++) {
        const char *key = drep_info_key(like->hints.stored, i);

        err = drep_info_set(f->hints.stored, key, drep_info_get(like->hints.stored, key));
    }
    return !err ? hints_merge(&f->hints, info) : err;
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
        f->header.writer =
            mem_strndup(!h->writer.p ? "" : (const char *)h->writer.p, h->writer.len);
        err = !f->header.writer ? fail_nomem() : reps_load(f, h);
    }
    if (!err) {
        f->values.rep = &file_default(f)->rep;
        err = hints_load(&f->hints, &h->hints);
    }
    if (!err && drep_info_count(f->hints.stored) > 0) /* else those of the opener are in force */
        err = hints_merge(&f->hints, info);
    if (!err)
        err = buf_set(&f->header.unknown, h->unknown.p, h->unknown.len);
    mem_free(scratch);
    mem_free(h);
    return err;
}

void header_release(drep_file *f)
{
    file_reps_release(f);
    buf_release(&f->header.unknown);
    mem_free(f->header.writer);
    hints_release(&f->hints);
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
        err = reps_compare(f, t);
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

/* The writer's text may have been lent out: it stays in the list of old ones until the handle is
 * freed. */
void header_exchange(drep_file *f, drep_file *t)
{
    struct buf unknown = f->header.unknown;

    if (strcmp(f->header.writer, t->header.writer) != 0) {
        *t->header.old =
            (struct old_text){f->header.old, f->header.writer}; /* somebody may still look at it */
        f->header.old = t->header.old;
        f->header.writer = t->header.writer;
        t->header.old = NULL;
        t->header.writer = NULL;
    }
    reps_exchange(f, t);
    drep_info_free(f->hints.stored);
    f->hints.stored = t->hints.stored;
    t->hints.stored = NULL;
    f->header.unknown = t->header.unknown;
    t->header.unknown = unknown;
}

int header_build(drep_file *f, struct buf *to, size_t *split)
{
    struct header_rec *h = mem_zalloc(1, sizeof *h);
    struct buf hints = {0}, reps = {0};
    struct out out;
    int err;

    if (!h)
        return fail_nomem();
    err = hints_put(&f->hints, &hints);
    if (!err)
        err = reps_put(f, h, &reps);
    if (!err) {
        h->hints = (struct span){hints.p, hints.len};
        h->writer = (struct span){(const uint8_t *)written_by, strlen(written_by)};
        h->unknown = (struct span){f->header.unknown.p, f->header.unknown.len};
        buf_out(to, &out);
        header_put(&out, h, split);
        err = buf_done(to, &out);
    }
    buf_release(&hints);
    buf_release(&reps);
    mem_free(h);
    return err;
}
