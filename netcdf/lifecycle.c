/* lifecycle.c - files created, opened, committed and closed.
 *
 * A created file is there at once, as programs open it a second time while they write: its first
 * commit has nothing in it.  enddef, sync and close commit; what a program does between two of them
 * is in the file as a whole or not at all. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/door.h"
#include <ctype.h>
#include <netcdf_mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The path of "file:///x.drep#mode=udf0", or a copy of the path. */
static char *plain_path(const char *path)
{
    char *plain, *fragment;

    if (strncmp(path, "file:", 5) != 0)
        return strdup(path);
    path += 5;
    if (strncmp(path, "//", 2) == 0)
        path += 2 + strcspn(path + 2, "/");
    plain = strdup(path);
    fragment = plain ? strchr(plain, '#') : NULL;
    if (fragment)
        *fragment = 0;
    return plain;
}

/* One "key=value" of DATAREP_HINTS. */
static int add_hint(drep_info *info, char *hint)
{
    char *value = strchr(hint, '=');
    int err;

    if (!value)
        return door_refuse(NC_EINVAL, "DATAREP_HINTS: \"%s\" is not key=value", hint);
    *value++ = 0;
    err = drep_info_check(hint, value);
    if (!err)
        err = drep_info_set(info, hint, value);
    return door_error(err);
}

/* DATAREP_HINTS="drep_sync=none,drep_threads=1": hints that every file is opened with. */
static int environment_hints(drep_info **out)
{
    const char *text = getenv("DATAREP_HINTS");
    char *copy, *hint, *rest = NULL;
    drep_info *info = NULL;
    int err = drep_info_new(&info);

    if (err)
        return door_error(err);
    copy = strdup(text ? text : "");
    if (!copy)
        err = NC_ENOMEM;
    for (hint = copy ? strtok_r(copy, ", ", &rest) : NULL; !err && hint;
         hint = strtok_r(NULL, ", ", &rest))
        err = add_hint(info, hint);
    free(copy);
    if (err) {
        drep_info_free(info);
        return err;
    }
    *out = info;
    return 0;
}

/* Two libraries in a process number their files alike: one number is one file. */
static int take_place(struct door *door, int ncid)
{
    struct door **place = &door_open_files[(unsigned)ncid >> 16];

    if (*place)
        return door_refuse(NC_ENFILE,
                           "another libnetcdf of this process has a file of this number open");
    *place = door;
    return 0;
}

/* The number of the file stands for it from now on; after an error nothing is left of it. */
static int enter_door(struct door *door, int ncid, int err)
{
    drep_file *file = door->file;

    if (!err)
        err = take_place(door, ncid);
    if (err) {
        door_free(door);
        drep_abandon(file);
    }
    return err;
}

static int commit_file(struct door *door)
{
    return door->path ? door_error(drep_commit(door->file)) : 0;
}

/* ------------------------------------------------------------------------- open */

static int open_image(struct door *door, const NC_memio *memory, const drep_info *info)
{
    if (door->writes)
        return door_refuse(NC_EINMEMORY, "a file in memory can only be read");
    door->image = memory->memory;
    door->image_size = memory->size;
    return door_error(drep_open_image(memory->memory, memory->size, info, &door->file));
}

static int open_file(struct door *door, const char *path, int mode, void *parameters)
{
    drep_info *info = NULL;
    int err = environment_hints(&info);

    if (err)
        return err;
    if (mode & NC_INMEMORY) {
        err = parameters ? open_image(door, parameters, info) : NC_EINMEMORY;
    } else {
        door->path = plain_path(path);
        err = door->path ? door_error(drep_open(door->path, door->writes ? DREP_RDWR : DREP_RDONLY,
                                                info, &door->file))
                         : NC_ENOMEM;
    }
    drep_info_free(info);
    return err ? err : door_load(door);
}

int slot_open(const char *path, int mode, int basepe, size_t *hint, void *parameters,
              const NC_Dispatch *table, int ncid)
{
    struct door *door;

    (void)basepe, (void)hint;
    if ((mode & NC_MPIIO) || (parameters && !(mode & NC_INMEMORY)))
        return door_refuse(NC_ENOPAR, "ranks open a Datarep file by <datarep-mpi.h>");
    if ((mode & NC_DISKLESS) && (mode & NC_WRITE) && !(mode & NC_PERSIST))
        return door_refuse(NC_EDISKLESS, "a Datarep file is not changed in memory alone");
    door = calloc(1, sizeof *door);
    if (!door)
        return NC_ENOMEM;
    door->table = table;
    door->writes = (mode & NC_WRITE) != 0;
    return enter_door(door, ncid, open_file(door, path, mode, parameters));
}

/* ----------------------------------------------------------------------- create */

static int mark_classic(struct door *door)
{
    const int32_t one = 1;

    return door_error(drep_attr_write(door->file, "/", NOTE_STRICT, DREP_INT32_T, 0, NULL, &one));
}

static int create_file(struct door *door, const char *path, int mode)
{
    drep_info *info = NULL;
    int err = environment_hints(&info);

    if (err)
        return err;
    /* Without NC_PERSIST a diskless file is gone when it is closed. */
    if (!(mode & NC_DISKLESS) || (mode & NC_PERSIST)) {
        door->path = plain_path(path);
        err = door->path ? 0 : NC_ENOMEM;
    }
    if (!err)
        err = door_error(drep_create(
            door->path ? door->path : ":memory:", DREP_RDWR | (mode & NC_NOCLOBBER ? DREP_EXCL : 0),
            NULL, info, &door->file));
    drep_info_free(info);
    if (!err && door_add_group(door, "/", strdup("/"), -1) < 0)
        err = NC_ENOMEM;
    if (err)
        return err;
    door->groups[0].attributes.listed = 1;
    if (door->classic)
        err = mark_classic(door);
    return err ? err : commit_file(door);
}

int slot_create(const char *path, int mode, size_t size, int basepe, size_t *hint, void *parameters,
                const NC_Dispatch *table, int ncid)
{
    struct door *door;

    (void)size, (void)basepe, (void)hint;
    if (mode & NC_INMEMORY)
        return door_refuse(NC_EINMEMORY,
                           "a Datarep file is not made in memory that the caller gets");
    if ((mode & NC_MPIIO) || parameters)
        return door_refuse(NC_ENOPAR, "ranks make a Datarep file by <datarep-mpi.h>");
    door = calloc(1, sizeof *door);
    if (!door)
        return NC_ENOMEM;
    door->table = table;
    door->writes = door->created = door->defining = 1;
    door->classic = (mode & NC_CLASSIC_MODEL) != 0;
    return enter_door(door, ncid, create_file(door, path, mode));
}

/* --------------------------------------------------------------- define and data */

int slot_redef(int ncid)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    if (err)
        return err;
    if (!door->writes)
        return NC_EPERM;
    if (door->defining && door->classic)
        return NC_EINDEFINE;
    door->defining = 1;
    return 0;
}

int slot__enddef(int ncid, size_t h_minfree, size_t v_align, size_t v_minfree, size_t r_align)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    (void)h_minfree, (void)v_align, (void)v_minfree, (void)r_align;
    if (err)
        return err;
    if (!door->writes)
        return NC_EPERM;
    if (!door->defining)
        return door->classic ? NC_ENOTINDEFINE : 0;
    err = variable_settle(door);
    if (!err)
        err = commit_file(door);
    if (!err) {
        door->defining = 0;
        door->created = 0;
    }
    return err;
}

int slot_sync(int ncid)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    if (err)
        return err;
    if (!door->writes) {
        err = door->image ? 0 : door_error(drep_refresh(door->file));
        return err ? err : door_reload(door);
    }
    if (door->classic && door->defining)
        return NC_EINDEFINE;
    return door->defining ? slot__enddef(ncid, 0, 0, 0, 0) : commit_file(door);
}

/* ------------------------------------------------------------------------ close */

static void leave_place(struct door *door, int ncid)
{
    door_open_files[(unsigned)ncid >> 16] = NULL;
    door_free(door);
}

int slot_close(int ncid, void *parameters)
{
    struct door *door;
    struct nc_group *group;
    drep_file *file;
    NC_memio *memory = parameters;
    int closed, err = door_find(ncid, &door, &group);

    if (err)
        return err;
    if (memory) {
        if (!door->image)
            return NC_EINMEMORY;
        memory->memory = door->image;
        memory->size = door->image_size;
    }
    /* A type without members can still get some. */
    err = door->writes ? type_settle(door) : 0;
    if (err)
        return err;
    err = door->writes ? variable_settle(door) : 0;
    file = door->file;
    if (!door->path && !door->image) {
        leave_place(door, ncid);
        drep_abandon(file);
        return err;
    }
    leave_place(door, ncid);
    closed = drep_close(file);
    return err ? err : door_error(closed);
}

/* Definitions since the last enddef are given up; a file that never had one is removed. */
int slot_abort(int ncid)
{
    struct door *door;
    struct nc_group *group;
    drep_file *file;
    char *gone;
    int err = door_find(ncid, &door, &group);

    if (err)
        return err;
    if (!door->writes || !door->defining)
        return slot_close(ncid, NULL);
    file = door->file;
    gone = door->created && door->path ? strdup(door->path) : NULL;
    leave_place(door, ncid);
    drep_abandon(file);
    if (gone && unlink(gone) != 0)
        err = NC_EIO;
    free(gone);
    return err;
}
