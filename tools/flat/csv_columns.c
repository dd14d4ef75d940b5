/* csv_columns.c - the columns that elements of a datatype make. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/csv_columns.h"
#include "base/vec.h"
#include "schema/value.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32

struct column_maker {
    struct columns *columns;
    const char *file;
    char name[4096]; /* of where we are */
    drep_encoding plain[DREP_CODE_MAX + 1];
};

static int refuse(const struct column_maker *m, const char *what)
{
    tool_say(m->file, NULL, "column \"%s\": %s cannot be in a table", m->name, what);
    return TOOL_USAGE;
}

static int column_add(struct column_maker *m, const drep_type *type, const drep_type *held,
                      int64_t offset, int fields)
{
    struct columns *c = m->columns;

    if (c->len == COLUMNS_MAX) {
        tool_say(m->file, NULL, "a table has at most %d columns", COLUMNS_MAX);
        return TOOL_USAGE;
    }
    if (VEC_ROOM(c->list, c->len, c->room, 1))
        return tool_no_memory();
    c->list[c->len] = (struct column){
        .name = strdup(m->name), .type = type, .held = held, .offset = offset, .fields = fields};
    if (!c->list[c->len].name)
        return tool_no_memory();
    c->len++;
    c->fields += (size_t)fields;
    return 0;
}

static int collect(struct column_maker *m, const drep_type *type, const drep_type *held,
                   int64_t offset, int depth);

/* Behind the name so far; false if that is too long. */
static bool extend(struct column_maker *m, size_t size, const char *separator, const char *part)
{
    size_t room = sizeof m->name - size;
    int n = snprintf(m->name + size, room, "%s%s", size ? separator : "", part);

    return n >= 0 && (size_t)n < room;
}

static int collect_members(struct column_maker *m, const drep_type *type, const drep_type *held,
                           int64_t offset, int depth)
{
    size_t size = strlen(m->name);
    int64_t i, n = drep_type_members(type);
    int status = 0;

    for (i = 0; i < n && !status; i++) {
        const char *name = drep_type_member_name(type, i);

        if (!extend(m, size, ".", name ? name : "?"))
            return refuse(m, "a name of more than 4,000 bytes");
        status = collect(m, drep_type_member(type, i), drep_type_member(held, i),
                         offset + drep_type_member_offset(held, i), depth + 1);
        m->name[size] = '\0';
    }
    return status;
}

/* "[1,2]" for the i-th element. */
static void index_text(char *text, size_t size, const drep_type *array, int64_t i)
{
    int64_t at[DREP_MAX_RANK];
    int d, rank = drep_type_array_rank(array);
    size_t n = 0;

    for (d = rank - 1; d >= 0; d--) {
        at[d] = i % drep_type_array_dims(array)[d];
        i /= drep_type_array_dims(array)[d];
    }
    for (d = 0; d < rank && n < size; d++)
        n += (size_t)snprintf(text + n, size - n, "%s%" PRId64, d ? "," : "[", at[d]);
    if (n < size)
        snprintf(text + n, size - n, "]");
}

static int collect_array(struct column_maker *m, const drep_type *type, const drep_type *held,
                         int64_t offset, int depth)
{
    size_t size = strlen(m->name);
    const drep_type *base = drep_type_member(held, 0);
    int64_t i, n = 1, extent = drep_type_extent(base);
    char part[DREP_MAX_RANK * 21 + 2];
    int d, status = 0;

    for (d = 0; d < drep_type_array_rank(type); d++)
        n = n > COLUMNS_MAX ? n : n * drep_type_array_dims(type)[d];
    for (i = 0; i < n && !status; i++) {
        index_text(part, sizeof part, type, i);
        if (!extend(m, size, "", part))
            return refuse(m, "a name of more than 4,000 bytes");
        status = collect(m, drep_type_member(type, 0), base, offset + i * extent, depth + 1);
        m->name[size] = '\0';
    }
    return status;
}

static int collect(struct column_maker *m, const drep_type *type, const drep_type *held,
                   int64_t offset, int depth)
{
    if (depth > DEPTH_MAX)
        return refuse(m, "deeply nested data");
    switch (drep_type_kind(type)) {
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT:
        return collect_members(m, type, held, offset, depth);
    case DREP_KIND_ARRAY:
        return collect_array(m, type, held, offset, depth);
    case DREP_KIND_SEQUENCE:
        return refuse(m, "a sequence of variable length");
    case DREP_KIND_REFERENCE:
        return refuse(m, "a reference");
    case DREP_KIND_PREDEFINED:
        return column_add(m, type, held, offset,
                          encoding_is_complex(&m->plain[drep_type_code(type)]) ? 2 : 1);
    default:
        return column_add(m, type, held, offset, 1);
    }
}

int columns_init(struct columns *out, const char *file, const drep_type *type,
                 const drep_type *held)
{
    struct columns columns = {0};
    struct column_maker m = {.columns = &columns, .file = file};
    drep_encoding rows[DREP_CODE_MAX];
    int i, n, status, err = drep_datarep_table("internal", rows, DREP_CODE_MAX, &n);

    if (err)
        return tool_fail(file, NULL, err);
    for (i = 0; i < n && i < DREP_CODE_MAX; i++)
        m.plain[rows[i].code] = rows[i];
    status = collect(&m, type, held, 0, 0);
    if (status)
        columns_release(&columns);
    else
        *out = columns;
    return status;
}

void columns_release(struct columns *columns)
{
    size_t i;

    for (i = 0; i < columns->len; i++)
        free(columns->list[i].name);
    free(columns->list);
    *columns = (struct columns){0};
}

char *columns_name(const struct column *column, int field, const char *bare)
{
    const char *name = *column->name ? column->name : bare;
    size_t size = strlen(name) + 8;
    char *text = malloc(size);

    if (text)
        snprintf(text, size, "%s%s", name, column->fields == 1 ? "" : field ? ".imag" : ".real");
    return text;
}

bool columns_is_part(const char *column, const char *name)
{
    size_t size = strlen(name);

    return strncmp(column, name, size) == 0 && (!column[size] || strchr(".[", column[size]));
}
