/* external.c - external links: where a reading call goes on in another file. */
/* SPDX-License-Identifier: MIT */
#include "name/external.h"

#include "base/error.h"
#include "base/mem.h"
#include "name/path.h"

int external_target(drep_file *f, const char *path, struct external_target *to)
{
    struct crossing x;
    int err;

    to->file = NULL;
    if ((err = file_check(f)))
        return err;
    if (!path || !f->linked.follow)
        return 0;
    if ((err = read_begin(f)))
        return err;
    if ((err = read_end(f, path_cross(f, path, &x))))
        return err;
    if (!x.file)
        return 0;
    walk_begin(f); /* opening may call functions of the user's */
    err = linked_get(f, x.file, &to->file);
    walk_end();
    mem_free(x.file);
    to->path = x.path;
    if (err) {
        to->file = NULL;
        mem_free(x.path);
    }
    return fail_in(err, "%s: %s", f->path, path);
}

int external_done(struct external_target *to, int err)
{
    mem_free(to->path);
    return err;
}
