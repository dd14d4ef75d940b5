/* null.c - strings of variable length that HDF5 has not at all.
 *
 * HDF5 tells an absent string from an empty one; a container does not.  Where all empty
 * strings of an item are absent one note says it; where only some are, notes list
 * them by their number: elements row-major, strings in an element in order. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/null.h"
#include "base/vec.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/note.h"
#include "tools/h5/values.h"
#include "tools/walk/box.h"
#include <datarep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 65536

void nulls_release(struct nulls *n)
{
    free(n->run);
    memset(n, 0, sizeof *n);
}

/* Strings in one element, -1 if that differs. */
static int64_t strings_in(const struct map *m)
{
    int64_t sum = 0, part;
    size_t i;

    if (!m->strings)
        return 0;
    if (m->nparts == 0)
        return 1;
    if (drep_type_kind(m->held) == DREP_KIND_SEQUENCE)
        return -1;
    if (drep_type_kind(m->held) == DREP_KIND_ARRAY) {
        part = strings_in(m->parts);
        return part < 0 ? -1 : part * (int64_t)m->n;
    }
    for (i = 0; i < m->nparts; i++) {
        part = strings_in(&m->parts[i]);
        if (part < 0)
            return -1;
        sum += part;
    }
    return sum;
}

/* Calls fn for the strings of n elements: those of a box in a dataset, or in a row. */
static void each_string(struct nulls *n, const struct map *m, const struct box *box,
                        const int64_t *dims, size_t count, void *h, move_string_fn *fn)
{
    int64_t at[DREP_MAX_RANK] = {0}, flat;
    size_t i;
    int d, rank = box ? box->rank : 0;

    n->per = strings_in(m);
    for (i = 0; i < count; i++) {
        for (flat = rank ? 0 : (int64_t)i, d = 0; d < rank; d++)
            flat = flat * dims[d] + box->start[d] + at[d];
        n->at = flat * n->per;
        move_strings(m, 1, (uint8_t *)h + i * m->hsize, fn, n);
        for (d = rank - 1; d >= 0 && ++at[d] == box->count[d]; d--)
            at[d] = 0;
    }
}

/* ------------------------------------------------------------------ the way in */

static void add_run(struct nulls *n, int64_t at)
{
    struct null_run *last = n->n ? &n->run[n->n - 1] : NULL;

    if (last && last->start + last->count == at) {
        last->count++;
        return;
    }
    if (n->n >= RUNS_MAX || VEC_ROOM(n->run, n->n, n->room, 1)) {
        n->per = -1;
        n->many = 1;
        return;
    }
    n->run[n->n++] = (struct null_run){at, 1};
}

static void note_string(char **string, void *ctx)
{
    struct nulls *n = ctx;

    n->empty += *string && !**string;
    n->null += !*string;
    if (!*string && n->per > 0 && !n->many)
        add_run(n, n->at);
    n->at++;
}

void nulls_note(struct nulls *n, const struct map *m, const struct box *box, const int64_t *dims,
                size_t count, void *h)
{
    if (m->strings)
        each_string(n, m, box, dims, count, h, note_string);
}

int nulls_write(struct job *j, const struct nulls *n, const char *name, const char *path,
                struct notes *r)
{
    const char *kind = name ? "attribute" : "type";
    size_t i;
    int err = 0;

    if (!n->null)
        return 0;
    if (!n->empty)
        return notes_add(j, r, "%s . empty=null%s%s", kind, name ? " " : "", name ? name : "");
    if (n->per <= 0 || n->many) {
        job_say(j, HDF5_LOST, "values", path, "%s%s%s%lld null strings become empty",
                name ? "attribute \"" : "", name ? name : "", name ? "\": " : "",
                (long long)n->null);
        return 0;
    }
    for (i = 0; !err && i < n->n; i++)
        err = notes_add(j, r, "%s %lld %lld%s%s", name ? "attribute-null" : "null",
                        (long long)n->run[i].start, (long long)n->run[i].count, name ? " " : "",
                        name ? name : "");
    return err;
}

/* ----------------------------------------------------------------- the way out */

static int by_start(const void *a, const void *b)
{
    const struct null_run *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

int nulls_read(struct job *j, const struct notes *all, const struct notes *notes, const char *name,
               struct nulls *n)
{
    const char *kind = name ? "attribute-null " : "null ";
    size_t i, len = strlen(kind);
    long long start, count;
    int end;

    memset(n, 0, sizeof *n);
    n->all = note_of(notes, ".", "empty") != NULL;
    for (i = 0; i < all->n; i++) {
        const char *p = all->line[i];

        if (strncmp(p, kind, len) != 0 || sscanf(p + len, "%lld %lld%n", &start, &count, &end) != 2)
            continue;
        p += len + (size_t)end;
        if (start < 0 || count <= 0 || start > INT64_MAX - count ||
            (name ? *p != ' ' || strcmp(p + 1, name) != 0 : *p != 0))
            continue;
        if (VEC_ROOM(n->run, n->n, n->room, 1))
            return job_no_memory(j);
        n->run[n->n++] = (struct null_run){start, count};
    }
    if (n->n)
        qsort(n->run, n->n, sizeof *n->run, by_start);
    return 0;
}

int nulls_any(const struct nulls *n)
{
    return n->all || n->n;
}

static int is_listed(const struct nulls *n, int64_t at)
{
    size_t low = 0, high = n->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (n->run[mid].start + n->run[mid].count <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n->n && n->run[low].start <= at;
}

static void apply_string(char **string, void *ctx)
{
    struct nulls *n = ctx;

    if (*string && !**string && (n->all || (n->per > 0 && is_listed(n, n->at))))
        *string = NULL;
    n->at++;
}

void nulls_apply(struct nulls *n, const struct map *m, const struct box *box, const int64_t *dims,
                 size_t count, void *h)
{
    if (m->strings && nulls_any(n))
        each_string(n, m, box, dims, count, h, apply_string);
}
