/* note.c - the attributes that keep what a container has no place for.
 *
 * KEEP_NOTES is an array of texts, one note each; datarep(1) lists the words.
 * Import writes them, export obeys those that make sense and ignores the rest: users may
 * have changed what they speak of. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/note.h"
#include "base/vec.h"
#include "tools/h5/job.h"
#include <datarep.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of the notes that are read, in total. */
#define REMARKS_MAX (1 << 20)

int is_annotation(const char *name)
{
    return strncmp(name, NOTE_HDF5, sizeof NOTE_HDF5 - 1) == 0;
}

static int add_line(struct job *j, struct notes *r, char *line)
{
    if (!line || VEC_ROOM(r->line, r->n, r->room, 1)) {
        free(line);
        return job_no_memory(j);
    }
    r->line[r->n++] = line;
    return 0;
}

int notes_add(struct job *j, struct notes *r, const char *format, ...)
{
    char *line = NULL;
    va_list ap;
    int n;

    va_start(ap, format);
    n = vasprintf(&line, format, ap);
    va_end(ap);
    return add_line(j, r, n < 0 ? NULL : line);
}

void notes_release(struct notes *r)
{
    size_t i;

    for (i = 0; i < r->n; i++)
        free(r->line[i]);
    free(r->line);
    memset(r, 0, sizeof *r);
}

int notes_write(struct job *j, const struct notes *r, const char *path)
{
    drep_type *type = NULL;
    int64_t n = (int64_t)r->n;
    int err;

    if (r->n == 0)
        return 0;
    err = drep_type_vstring(&type);
    if (!err)
        err = drep_attr_write(j->d, path, KEEP_NOTES, type, 1, &n, r->line);
    drep_type_free(type);
    return err ? job_fail_drep(j, err) : 0;
}

/* The texts of the attribute, malloc'ed one by one by the library. */
static int read_lines(struct job *j, const char *path, int64_t n, struct notes *r)
{
    drep_type *type = NULL;
    char **line = calloc((size_t)n + 1, sizeof *line);
    int64_t i;
    int err = line ? drep_type_vstring(&type) : job_no_memory(j);

    if (!err)
        err = drep_attr_read(j->d, path, KEEP_NOTES, type, line);
    if (err && line)
        job_fail_drep(j, err);
    for (i = 0; !err && i < n; i++)
        err = add_line(j, r, strdup(line[i] ? line[i] : ""));
    if (line)
        drep_vlen_free(type, n, line);
    drep_type_free(type);
    free(line);
    return err;
}

int notes_read(struct job *j, const char *path, struct notes *r)
{
    drep_attrinfo *info = calloc(1, sizeof *info);
    int64_t n = -1;
    int err;

    if (info)
        *info = DREP_ATTRINFO;
    err = info ? drep_attr_info(j->d, path, KEEP_NOTES, info) : job_no_memory(j);
    memset(r, 0, sizeof *r);
    if (!err) {
        if (info->rank == 1 && drep_type_kind(info->type) == DREP_KIND_VSTRING)
            n = info->count;
        drep_attrinfo_release(info);
    }
    if (!info || (err && err != DREP_ERR_NOT_FOUND)) {
        free(info);
        return info ? job_fail_drep(j, err) : err;
    }
    free(info);
    if (n <= 0 || n > REMARKS_MAX)
        return 0;
    err = read_lines(j, path, n, r);
    if (err)
        notes_release(r);
    return err;
}

const char *notes_find(const struct notes *r, const char *begin)
{
    size_t i, len = strlen(begin);

    for (i = 0; i < r->n; i++)
        if (strncmp(r->line[i], begin, len) == 0 && r->line[i][len] == ' ')
            return r->line[i] + len + 1;
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int notes_of_type(struct job *j, const struct notes *r, const char *kind, const char *name,
                  struct notes *out)
{
    size_t i, len = strlen(kind);
    int err = 0;

    memset(out, 0, sizeof *out);
    for (i = 0; !err && i < r->n; i++) {
        const char *p = r->line[i], *last;

        if (strncmp(p, kind, len) != 0 || p[len] != ' ')
            continue;
        p += len + 1;
        /* PLACE WORD=VALUE, then the name, which may have spaces. */
        last = strchr(p, ' ');
        last = last ? strchr(last + 1, ' ') : NULL;
        if (!name && !last)
            err = notes_add(j, out, "%s", p);
        else if (name && last && strcmp(last + 1, name) == 0)
            err = notes_add(j, out, "%.*s", (int)(last - p), p);
    }
    if (err)
        notes_release(out);
    else if (out->n)
        qsort(out->line, out->n, sizeof *out->line, by_text);
    return err;
}

const char *note_of(const struct notes *r, const char *place, const char *word)
{
    size_t low = 0, high = r->n, len;
    char begin[1024];

    len = (size_t)snprintf(begin, sizeof begin, "%s %s=", place, word);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = strncmp(r->line[mid], begin, len);

        if (c == 0)
            return r->line[mid] + len;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* --------------------------------------------------------------------- digits */

char *hex_from(const void *bytes, size_t size)
{
    static const char digit[] = "0123456789abcdef";
    const uint8_t *p = bytes;
    char *text = size < SIZE_MAX / 2 ? malloc(2 * size + 1) : NULL;
    size_t i;

    for (i = 0; text && i < size; i++) {
        text[2 * i] = digit[p[i] >> 4];
        text[2 * i + 1] = digit[p[i] & 15];
    }
    if (text)
        text[2 * size] = 0;
    return text;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

uint8_t *hex_to(const char *text, size_t digits, size_t *size)
{
    uint8_t *bytes = malloc(digits / 2 + 1);
    size_t i;

    for (i = 0; bytes && i + 1 < digits; i += 2) {
        int high = digit_of(text[i]), low = digit_of(text[i + 1]);

        if (high < 0 || low < 0) {
            free(bytes);
            return NULL;
        }
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    if (bytes)
        *size = digits / 2;
    return bytes;
}

/* The name in HDF5 of a link that import renamed; NULL: its own.  malloc'ed. */
char *notes_old_name(const struct notes *r, const char *kind, const char *name)
{
    size_t i, len = strlen(kind), size;

    for (i = 0; i < r->n; i++) {
        const char *p = r->line[i], *end;
        uint8_t *was;

        if (strncmp(p, kind, len) != 0 || p[len] != ' ')
            continue;
        p += len + 1;
        end = strchr(p, ' ');
        if (!end || strcmp(end + 1, name) != 0)
            continue;
        was = hex_to(p, (size_t)(end - p), &size);
        if (was)
            was[size] = 0;
        return (char *)was;
    }
    return NULL;
}
