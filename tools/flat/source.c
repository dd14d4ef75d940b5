/* source.c - arrays in files of other kinds.
 *
 * Formats fill in the functions of a struct source; what all of them hold is released here. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/source.h"
#include <stdlib.h>

void source_release(struct source *s)
{
    if (s->release)
        s->release(s);
    drep_type_free(s->type);
    drep_type_free(s->stored);
    free(s->note);
    *s = (struct source){0};
}
