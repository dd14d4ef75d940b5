/* subject.c - the representation under test.
 *
 * A call is noted before it is made, so that a crash in a user's function can be named. */
/* SPDX-License-Identifier: MIT */
#include "tools/reps/subject.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool reject(struct subject *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (!s->findings->why[0])
        vsnprintf(s->findings->why, sizeof s->findings->why, format, args);
    va_end(args);
    return false;
}

void note_call(struct subject *s, const char *what)
{
    snprintf(s->findings->doing, sizeof s->findings->doing, "%s", what);
}

/* The library's behaviour without a function: items as they are, packed. */
static int move_native(char *user, const drep_type *type, int64_t count, char *file,
                       int64_t position, bool writing)
{
    drep_cursor cursor;
    drep_run run;
    int64_t i;

    for (drep_cursor_init(&cursor, type, position); count > 0; count -= run.count) {
        if (!drep_cursor_next(&cursor, count, &run))
            return 1;
        for (i = 0; i < run.count; i++) {
            char *item = user + run.offset + i * run.stride;
            size_t size = (size_t)drep_type_size(run.type);

            memcpy(writing ? file : item, writing ? item : file, size);
            file += size;
        }
    }
    return 0;
}

int rep_write(struct subject *s, const void *user, const drep_type *type, int64_t count, void *file,
              int64_t position)
{
    void *from = (void *)(uintptr_t)user;
    int err;

    if (!s->rep.write)
        return move_native(from, type, count, file, position, true);
    note_call(s, "the write function");
    err = s->rep.write(from, type, count, file, position, s->rep.extra_state);
    s->findings->doing[0] = '\0';
    return err;
}

int rep_read(struct subject *s, void *user, const drep_type *type, int64_t count, const void *file,
             int64_t position)
{
    void *from = (void *)(uintptr_t)file;
    int err;

    if (!s->rep.read)
        return move_native(user, type, count, from, position, false);
    note_call(s, "the read function");
    err = s->rep.read(user, type, count, from, position, s->rep.extra_state);
    s->findings->doing[0] = '\0';
    return err;
}

const char *text_of(const drep_type *type)
{
    static char text[160];
    char *whole;

    if (drep_type_print(type, &whole) != 0)
        return "?";
    snprintf(text, sizeof text, "%.*s%s", (int)sizeof text - 4, whole,
             strlen(whole) > sizeof text - 4 ? "..." : "");
    free(whole);
    return text;
}
