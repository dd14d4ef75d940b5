/* plugin_mirror.c - a data representation as a plugin: every number back to front.
 *
 *     cc -shared -fPIC -o mirror.so plugin_mirror.c
 *     datarep reps --check --plugins="$PWD" mirror
 *
 * The file's name is the representation's, so that whoever opens a file that names
 * "mirror", with this directory in DREP_PLUGIN_PATH, gets these functions. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>

/* Items [position, position + count) of the typemap tiled over userbuf; at filebuf they
 * stand back to back.  The cursor walks over whatever the datatype is made of. */
static int move(char *user, const drep_type *type, int64_t count, char *file, int64_t position,
                int writing)
{
    drep_cursor cursor;
    drep_run run;

    if (drep_cursor_init(&cursor, type, position) != 0)
        return -1;
    while (drep_cursor_next(&cursor, count, &run)) {
        int64_t size = drep_type_size(run.type), i, b;

        for (i = 0; i < run.count; i++, file += size) {
            char *item = user + run.offset + i * run.stride;

            for (b = 0; b < size; b++)
                if (writing)
                    file[b] = item[size - 1 - b];
                else
                    item[size - 1 - b] = file[b];
        }
        count -= run.count;
    }
    return 0;
}

static int write_items(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    (void)state;
    return move(user, type, count, file, position, 1);
}

static int read_items(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    (void)state;
    return move(user, type, count, file, position, 0);
}

/* As many bytes in the file as in memory. */
static int extent(const drep_type *type, int64_t *bytes, void *state)
{
    (void)state;
    *bytes = drep_type_size(type);
    return 0;
}

int drep_plugin_init(void)
{
    return drep_register_datarep("mirror", read_items, write_items, extent, 0);
}
