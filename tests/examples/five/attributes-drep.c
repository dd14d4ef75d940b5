/* attributes-drep.c - reads titles and units, adds a factor and a version, reads them back. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

static void show_attributes(const char *path)
{
    char *title, *units;
    int64_t version;
    drep_file *file;
    double factor;

    check(drep_open(path, DREP_RDWR, NULL, &file));
    check(drep_attr_read_string(file, "/", "title", &title));
    check(drep_attr_read_string(file, "/sst", "units", &units));
    check(drep_attr_write_double(file, "/sst", "scale_factor", 0.01));
    check(drep_attr_write_int64(file, "/", "version", 3));
    check(drep_attr_read_double(file, "/sst", "scale_factor", &factor));
    check(drep_attr_read_int64(file, "/", "version", &version));
    check(drep_close(file));
    printf("%s, %s, %g, %d\n", title, units, factor, (int)version);
    free(title);
    free(units);
}

int main(int argc, char **argv)
{
    show_attributes(argv[argc - 1]);
    return 0;
}
