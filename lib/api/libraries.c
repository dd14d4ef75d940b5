/* libraries.c - the libraries that this one uses, or has linked in, and their versions.
 *
 * A library that tells its version at run time is asked, since the one that is loaded counts, not
 * the one whose header was read. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "chunk/blosc_lib.h"

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
#ifndef LZF_RELEASE
#define LZF_RELEASE "unknown"
#endif

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

struct library {
    const char *name, *version;
};

/* The version of the zlib that blosc has; false: it has none. */
static bool zlib_of_blosc(const struct blosc_lib *blosc, char version[40])
{
    char *library = NULL, *says = NULL;
    bool has = blosc->get_complib_info("zlib", &library, &says) >= 0 && says;

    if (has)
        snprintf(version, 40, "%s", says);
    free(library);
    free(says);
    return has;
}

int drep_library_walk(drep_library_walk_fn *fn, void *ctx)
{
    struct library used[8];
    const struct blosc_lib *blosc;
    size_t n = 0;
    char zlib[40];

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
    blosc = blosc_lib();
    if (blosc)
        used[n++] = (struct library){"blosc", blosc->get_version_string()};
    if (blosc && zlib_of_blosc(blosc, zlib))
        used[n++] = (struct library){"zlib", zlib};
    for (size_t i = 0; i < n; i++)
        if (fn(used[i].name, used[i].version, ctx) != 0)
            return fail(DREP_ERR_STOPPED, "the walk was stopped at \"%s\"", used[i].name);
    return 0;
}
