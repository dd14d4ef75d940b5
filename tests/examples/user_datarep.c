/* user_datarep.c - a data representation of one's own, made of functions.
 *
 * "mirror" stores every number with its bytes back to front and every byte XORed with
 * a key that comes as extra state.  `user_datarep write F` registers it and writes a
 * container; `user_datarep read F`, another process, is refused until it has
 * registered it too. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Items [position, position + count) of the typemap tiled over userbuf, which end up
 * back to back in filebuf.  The cursor finds them; write 1 is out, 0 is in. */
static int mirror(char *user, const drep_type *type, int64_t count, unsigned char *file,
                  int64_t position, const unsigned char *key, int write)
{
    drep_cursor cursor;
    drep_run run;

    if (drep_cursor_init(&cursor, type, position) != 0)
        return -1;
    for (; count > 0; count -= run.count) {
        drep_cursor_next(&cursor, count, &run);
        int64_t size = drep_type_size(run.type);
        for (int64_t i = 0; i < run.count; i++, file += size) {
            unsigned char *item = (unsigned char *)user + run.offset + i * run.stride;
            for (int64_t b = 0; b < size; b++)
                if (write)
                    file[b] = item[size - 1 - b] ^ *key;
                else
                    item[size - 1 - b] = file[b] ^ *key;
        }
    }
    return 0;
}

static int to_file(void *user, const drep_type *t, int64_t n, void *file, int64_t at, void *key)
{
    return mirror(user, t, n, file, at, key, 1);
}

static int from_file(void *user, const drep_type *t, int64_t n, void *file, int64_t at, void *key)
{
    return mirror(user, t, n, file, at, key, 0);
}

/* Every predefined type takes as many bytes in the file as in memory. */
static int extent(const drep_type *type, int64_t *bytes, void *key)
{
    (void)key;
    *bytes = drep_type_size(type);
    return 0;
}

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

int main(int argc, char **argv)
{
    static unsigned char key = 0x5a;
    double data[4] = {0, 1, -2.5, 1e300}, back[4];
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = (int64_t[]){4});
    drep_header header = DREP_HEADER;
    drep_dataset *set;
    drep_file *file;

    if (argc != 3)
        return 2;
    if (strcmp(argv[1], "write") == 0) {
        check(drep_register_datarep("mirror", from_file, to_file, extent, &key));
        check(drep_create(argv[2], 0, "mirror", NULL, &file));
        check(drep_dataset_create(file, "/x", &spec, &set));
        check(drep_write(set, NULL, DREP_DOUBLE, data, NULL));
        drep_dataset_close(set);
        check(drep_close(file));
        return 0;
    }
    /* Unregistered: the file and its dataset open, and its elements are refused by name. */
    check(drep_open(argv[2], DREP_RDONLY, NULL, &file));
    check(drep_dataset_open(file, "/x", &set));
    if (drep_read(set, NULL, DREP_DOUBLE, back, NULL) == 0)
        return 1;
    printf("refused: %s\n", drep_error());
    drep_dataset_close(set);
    check(drep_header_get(file, &header));
    printf("header: datarep %s, made of %s\n", header.datarep, header.form);
    check(drep_close(file));

    check(drep_register_datarep("mirror", from_file, to_file, extent, &key));
    check(drep_open(argv[2], DREP_RDONLY, NULL, &file));
    check(drep_dataset_open(file, "/x", &set));
    check(drep_read(set, NULL, DREP_DOUBLE, back, NULL));
    printf("values: %g %g %g %g\n", back[0], back[1], back[2], back[3]);
    drep_dataset_close(set);
    check(drep_close(file));
    return memcmp(data, back, sizeof data) != 0;
}
