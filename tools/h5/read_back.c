/* read_back.c - reads an exported file back.
 *
 * The file is closed, and opened again for reading, so that what is compared is what the
 * next reader of the file will get from libhdf5; it has not got its name yet. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/read_back.h"
#include "tools/h5/export.h"
#include "tools/h5/job.h"
#include "tools/h5/object.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The objects by their addresses, as import finds them. */
static int turn_objects(struct job *j, struct job *back)
{
    size_t i;
    int err = 0;

    for (i = 0; !err && i < j->objects.n; i++) {
        const struct h5_object *o = &j->objects.list[i];

        if (!o->made)
            continue;
        err = job_add(back, o->made, o->kind, strdup(o->path), NULL);
        if (!err)
            back->objects.list[back->objects.n - 1].made = o->key;
    }
    return err ? job_no_memory(j) : 0;
}

static int verify_user_block(struct job *j, const void *block, size_t size)
{
    uint8_t *read = malloc(size + 1);
    int fd = open(j->o->place, O_RDONLY | O_CLOEXEC), err = 0;

    if (!read)
        err = job_no_memory(j);
    else if (fd < 0 || pread(fd, read, size, 0) != (ssize_t)size || memcmp(read, block, size) != 0)
        err = job_fail(j, DREP_ERR_CONVERSION, "%s: its user block is read back as another",
                       j->o->dst);
    if (fd >= 0)
        close(fd);
    free(read);
    return err;
}

int verify_all(struct job *j, const void *user_block, size_t size)
{
    struct job back = {.o = j->o, .d = j->d, .lean = 1};
    int err = size ? verify_user_block(j, user_block, size) : 0;

    if (err)
        return err;
    j->h = H5Fopen(j->o->place, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (j->h < 0) {
        job_fail_hdf5(j, j->o->dst);
        return DREP_ERR_CONVERSION;
    }
    back.h = j->h;
    err = turn_objects(j, &back);
    j->back = &back;
    if (!err)
        err = export_back(j);
    j->back = NULL;
    objects_release(&back.objects);
    H5Fclose(j->h);
    j->h = -1;
    return err;
}
