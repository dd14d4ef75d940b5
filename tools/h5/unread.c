/* unread.c - the elements of a dataset that import cannot read.
 *
 * Blocks come in row-major order, so that those of a damaged row join as they come, and then
 * rows. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/unread.h"
#include "base/vec.h"
#include "format/utf8.h"
#include "tools/h5/job.h"
#include "tools/h5/note.h"
#include "tools/walk/box.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if the boxes, one behind the other along one dimension, make one: in *a. */
static int join(struct unread_box *a, const struct unread_box *b)
{
    int d, along = -1;

    for (d = 0; d < a->rank; d++) {
        if (a->start[d] == b->start[d] && a->end[d] == b->end[d])
            continue;
        if (along >= 0 || a->end[d] != b->start[d])
            return 0;
        along = d;
    }
    if (along < 0)
        return 0;
    a->end[along] = b->end[along];
    a->elements += b->elements;
    return 1;
}

/* The smallest box around both. */
static void surround(struct unread_box *a, const struct unread_box *b)
{
    int d;

    for (d = 0; d < a->rank; d++) {
        a->start[d] = b->start[d] < a->start[d] ? b->start[d] : a->start[d];
        a->end[d] = b->end[d] > a->end[d] ? b->end[d] : a->end[d];
    }
    a->elements += b->elements;
}

int unread_add(struct job *j, struct unread *u, const struct box *b)
{
    struct unread_box one = {.rank = b->rank, .elements = box_elements(b)};
    int d;

    for (d = 0; d < b->rank; d++) {
        one.start[d] = b->start[d];
        one.end[d] = b->start[d] + b->count[d];
    }
    u->elements += one.elements;
    if (u->n == UNREAD_BOXES + 1) {
        surround(&u->box[UNREAD_BOXES], &one);
        return 0;
    }
    if (VEC_ROOM(u->box, u->n, u->room, 1))
        return job_no_memory(j);
    u->box[u->n++] = one;
    while (u->n > 1 && join(&u->box[u->n - 2], &u->box[u->n - 1]))
        u->n--;
    return 0;
}

void unread_release(struct unread *u)
{
    free(u->box);
    memset(u, 0, sizeof *u);
}

/* Names of files in it need not be UTF-8: a note is. */
static int add(struct job *j, const char *count, const char *box, const char *why, struct notes *r)
{
    char text[sizeof j->why];
    uint32_t code;
    size_t i, n;

    snprintf(text, sizeof text, "%s", why);
    for (i = 0; text[i]; i += n ? n : 1) {
        n = utf8_next(text + i, strlen(text + i), &code);
        if (n == 0 || text[i] == '\n')
            text[i] = '?';
    }
    return notes_add(j, r, "unread %s %s %s", count, box, text);
}

static int note_box(struct job *j, const struct unread_box *b, const char *why, struct notes *r)
{
    char text[DREP_MAX_RANK * 43 + 8] = "-", count[24];
    size_t len = 0;
    int d;

    for (d = 0; d < b->rank; d++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%lld:%lld", d ? "," : "[",
                                (long long)b->start[d], (long long)b->end[d]);
    if (b->rank > 0)
        snprintf(text + len, sizeof text - len, "]");
    snprintf(count, sizeof count, "%lld", (long long)b->elements);
    return add(j, count, text, why, r);
}

int unread_note(struct job *j, const struct unread *u, const char *why, struct notes *r)
{
    size_t i;
    int err = 0;

    for (i = 0; !err && i < u->n; i++)
        err = note_box(j, &u->box[i], why, r);
    return err;
}

int unread_note_some(struct job *j, int64_t elements, const char *why, struct notes *r)
{
    char count[24] = "?";

    if (elements >= 0)
        snprintf(count, sizeof count, "%lld", (long long)elements);
    return add(j, count, "-", why, r);
}
