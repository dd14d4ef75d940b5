/* suggest.c - the distance between words, as typing errors go. */
/* SPDX-License-Identifier: MIT */
#include "schema/suggest.h"
#include <datarep.h>
#include <stdint.h>
#include <string.h>

#define WORD_MAX 64 /* longer words are nobody's typing error */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to add, leave out, change or swap with their neighbour. */
static size_t distance(const char *a, size_t alen, const char *b, size_t blen)
{
    size_t row[3][WORD_MAX + 1], i, k, d;
    size_t *two = row[0], *one = row[1], *now = row[2], *swap;

    for (k = 0; k <= blen; k++)
        one[k] = two[k] = k;
    for (i = 1; i <= alen; i++) {
        now[0] = i;
        for (k = 1; k <= blen; k++) {
            d = least(one[k], now[k - 1]) + 1;
            d = least(d, one[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                d = least(d, two[k - 2] + 1);
            now[k] = d;
        }
        swap = two;
        two = one;
        one = now;
        now = swap;
    }
    return one[blen];
}

void suggest_word(struct suggestion *s, const char *candidate)
{
    size_t len = strlen(s->word), size = strlen(candidate), d;

    if (len == 0 || len > WORD_MAX || size > WORD_MAX || size == 0)
        return;
    /* A prefix counts as one wrong letter. */
    d = strncmp(s->word, candidate, len) == 0 ? 1 : distance(s->word, len, candidate, size);
    if (d > 1 + len / 4 || d >= size || (s->best[0] && d >= s->distance))
        return;
    memcpy(s->best, candidate, size + 1);
    s->distance = d;
}

static int offer_datarep(const char *name, const char *form, void *ctx)
{
    (void)form;
    suggest_word(ctx, name);
    return 0;
}

void suggest_datareps(struct suggestion *s)
{
    (void)drep_datarep_walk(offer_datarep, s);
}
