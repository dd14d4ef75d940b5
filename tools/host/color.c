/* color.c - colours on a terminal. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/color.h"
#include <datarep.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int color_wanted(const char *when, int fd)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    if (when && strcmp(when, "always") == 0)
        return 1;
    if (when && strcmp(when, "never") == 0)
        return 0;
    if (when && strcmp(when, "auto") != 0)
        return -1;
    return (!no || !*no) && term && strcmp(term, "dumb") != 0 && isatty(fd);
}

bool color_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = NULL;
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names && !value; i++) {
        value = getenv(names[i]);
        if (value && !*value)
            value = NULL;
    }
    return value && (strcasestr(value, "utf-8") || strcasestr(value, "utf8"));
}

const char *color_of(int kind)
{
    switch (kind) {
    case DREP_OBJ_GROUP:
        return COLOR_GROUP;
    case DREP_OBJ_DATASET:
        return COLOR_DATASET;
    case DREP_OBJ_TYPE:
        return COLOR_TYPE;
    case DREP_OBJ_DIMENSION:
        return COLOR_DIMENSION;
    default:
        return COLOR_LINK;
    }
}
