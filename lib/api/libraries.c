/* libraries.c - the libraries that this one uses, or has linked in, and their versions.
 *
 * A library that tells its version at run time is asked, since the one that is loaded counts, not
 * the one whose header was read. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <datarep.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#ifdef HAVE_DEFLATE
#include <libdeflate.h>
#endif
#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_BLOSC
#include <blosc.h>
#endif
#ifndef LZF_RELEASE
#define LZF_RELEASE "unknown"
#endif

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

struct library {
    const char *name, *version;
};

#ifdef HAVE_BLOSC
/* The version of the zlib that blosc has; false: it has none. */
static bool zlib_of_blosc(char version[40])
{
    char *library = NULL, *says = NULL;
    bool has = blosc_get_complib_info("zlib", &library, &says) >= 0 && says;

    if (has)
        snprintf(version, 40, "%s", says);
    free(library);
    free(says);
    return has;
}
#endif

int drep_library_walk(drep_library_walk_fn *fn, void *ctx)
{
    struct library used[8];
    size_t n = 0;
#ifdef HAVE_BLOSC
    char zlib[40];
#endif

    if (!fn)
        return fail(DREP_ERR_ARG, "no callback");
    used[n++] = (struct library){"xxhash", TEXT(XXH_VERSION_MAJOR) "." TEXT(
                                               XXH_VERSION_MINOR) "." TEXT(XXH_VERSION_RELEASE)};
#ifdef HAVE_DEFLATE
    used[n++] = (struct library){"libdeflate", LIBDEFLATE_VERSION_STRING};
#endif
#ifdef HAVE_ZSTD
    used[n++] = (struct library){"zstd", ZSTD_versionString()};
#endif
#ifdef HAVE_LZ4
    used[n++] = (struct library){"lz4", LZ4_versionString()};
#endif
#ifdef HAVE_LZF /* tells the version of its interface alone */
    used[n++] = (struct library){"lzf", LZF_RELEASE};
#endif
#ifdef HAVE_BLOSC
    used[n++] = (struct library){"blosc", blosc_get_version_string()};
    if (zlib_of_blosc(zlib))
        used[n++] = (struct library){"zlib", zlib};
#endif
    for (size_t i = 0; i < n; i++)
        if (fn(used[i].name, used[i].version, ctx) != 0)
            return fail(DREP_ERR_STOPPED, "the walk was stopped at \"%s\"", used[i].name);
    return 0;
}
