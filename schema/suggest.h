/* suggest.h - which known word was probably meant.
 *
 * Offer all words that would do; the nearest is kept while it is near enough to be a typing
 * error: one letter added, left out, changed or swapped, and one more for each four letters. */
/* SPDX-License-Identifier: MIT */
#ifndef SCHEMA_SUGGEST_H
#define SCHEMA_SUGGEST_H

#include <stddef.h>

/* Zero-initialise all but `word`. */
struct suggestion {
    const char *word; /* as it was typed */
    char best[65];    /* "" while nothing is near enough */
    size_t distance;  /* of it: letters added, left out, changed or swapped */
};
void suggest_word(struct suggestion *s, const char *candidate);
/* Offers the names of all data representations. */
void suggest_datareps(struct suggestion *s);

#endif
