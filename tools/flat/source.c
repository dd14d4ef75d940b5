/* source.c - arrays in files of other kinds. */
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
