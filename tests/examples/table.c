/* table.c - a table of structs that grows, and one column of it as plain numbers. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

struct event {
    int64_t when;
    float temperature;
    char place[8];
};

static drep_type *event_type(void)
{
    const char *const names[] = {"when", "temperature", "place"};
    const int64_t at[] = {offsetof(struct event, when), offsetof(struct event, temperature),
                          offsetof(struct event, place)};
    const drep_type *members[] = {DREP_INT64_T, DREP_FLOAT, NULL};
    drep_type *place, *event;

    check(drep_type_string(8, DREP_PAD_NULTERM, &place));
    members[2] = place;
    check(drep_type_compound(3, names, at, members, sizeof(struct event), &event));
    drep_type_free(place);
    return event;
}

static void append_events(const char *path, const struct event *events, int64_t n)
{
    drep_type *event = event_type();
    const int64_t none = 0, most = DREP_UNLIMITED;
    drep_spec spec = DREP_SPEC(.type = event, .rank = 1, .dims = &none, .maxdims = &most);
    drep_file *file;
    drep_dataset *table;

    check(drep_create(path, DREP_RDWR | DREP_EXCL, "external32", NULL, &file));
    check(drep_dataset_create(file, "/events", &spec, &table));
    for (int64_t i = 0; i < n; i++) {
        check(drep_append(table, 0, 1, event, &events[i], NULL));
        check(drep_commit(file));
    }
    drep_type_free(event);
    drep_dataset_close(table);
    check(drep_close(file));
}

static void show_temperatures(const char *path)
{
    drep_dsinfo info = DREP_DSINFO;
    drep_type *column;
    drep_file *file;
    drep_dataset *table;
    double *t;

    check(drep_open(path, DREP_RDONLY, NULL, &file));
    check(drep_dataset_open(file, "/events", &table));
    check(drep_dataset_info(table, &info));
    t = malloc((size_t)info.dims[0] * sizeof *t);
    check(drep_type_parse("struct{temperature: DOUBLE}", &column));
    check(drep_read(table, NULL, column, t, NULL));
    for (int64_t i = 0; i < info.dims[0]; i++)
        printf("%g\n", t[i]);
    free(t);
    drep_type_free(column);
    drep_dataset_close(table);
    check(drep_close(file));
}

int main(void)
{
    const struct event events[] = {{0, 21.5f, "Tromso"}, {60, 22, "Bergen"}, {120, 19.25f, "Oslo"}};

    append_events("table.drep", events, 3);
    show_temperatures("table.drep");
    return 0;
}
