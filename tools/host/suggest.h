/* suggest.h - which known word was probably meant. */
#ifndef TOOLS_HOST_SUGGEST_H
#define TOOLS_HOST_SUGGEST_H

#include <stddef.h>

/* Keeps the nearest of the words that are offered; zero-initialise but for `word`. */
struct near {
    const char *word; /* as it was typed */
    char best[65];    /* "" while nothing is near enough */
    size_t distance;  /* of it: letters added, left out, changed or swapped */
};
void near_offer(struct near *near, const char *candidate);
/* Offers the names of all data representations. */
void near_datareps(struct near *near);

#endif
