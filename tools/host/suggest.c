/* suggest.c - the distance between words, as typing errors go. */
#include "tools/host/suggest.h"
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

void near_offer(struct near *near, const char *candidate)
{
    size_t len = strlen(near->word), size = strlen(candidate), d;

    if (len == 0 || len > WORD_MAX || size > WORD_MAX || size == 0)
        return;
    /* The beginning of a word is as near as one wrong letter. */
    d = strncmp(near->word, candidate, len) == 0 ? 1 : distance(near->word, len, candidate, size);
    if (d > 1 + len / 4 || d >= size || (near->best[0] && d >= near->distance))
        return;
    memcpy(near->best, candidate, size + 1);
    near->distance = d;
}

static int offer_datarep(const char *name, const char *form, void *ctx)
{
    (void)form;
    near_offer(ctx, name);
    return 0;
}

void near_datareps(struct near *near)
{
    (void)drep_datarep_walk(offer_datarep, near);
}
