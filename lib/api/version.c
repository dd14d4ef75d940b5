/* version.c - what this library is and has. */
/* SPDX-License-Identifier: MIT */
#include "base/isa.h"
#include "chunk/filter.h"

#include <datarep.h>

#include <pthread.h>
#include <stdio.h>

static char version_text[256];

static void build_text(void)
{
    static const int ids[] = {
#define X(name, id, label, params, dflt) id,
#include "format/filters.def"
#undef X
    };
    size_t at =
        (size_t)snprintf(version_text, sizeof version_text, "datarep %s, format %d.%d, filters",
                         DREP_VERSION, FMT_MAJOR, FMT_MINOR);

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (filter_available(ids[i]))
            at += (size_t)snprintf(version_text + at, sizeof version_text - at, " %s",
                                   fmt_filter_name(ids[i]));
    snprintf(version_text + at, sizeof version_text - at, ", kernels %s", isa_name());
}

const char *drep_version(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, build_text);
    return version_text;
}
