/* blosc_lib.c - the library of the filter Blosc, loaded when a chunk first needs it. */
/* SPDX-License-Identifier: MIT */
#include "chunk/blosc_lib.h"

#ifdef HAVE_BLOSC

#include <blosc.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#define SONAME "libblosc.so.1" /* of all versions 1.x, whose header this is */

#pragma weak blosc_cbuffer_validate
#pragma weak blosc_decompress_ctx
#pragma weak blosc_compress_ctx
#pragma weak blosc_compcode_to_compname
#pragma weak blosc_get_complib_info
#pragma weak blosc_get_version_string

static struct blosc_lib functions;
static bool found;

/* POSIX has dlsym() give functions too; ISO C wants it said this way. */
static bool get_symbol(void *handle, const char *name, void *function)
{
    void *p = dlsym(handle, name);

    *(void **)function = p;
    return p != NULL;
}

static bool load_symbols(struct blosc_lib *to)
{
    void *h = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL); /* for the life of the process */

    return h && get_symbol(h, "blosc_cbuffer_validate", &to->cbuffer_validate) &&
           get_symbol(h, "blosc_decompress_ctx", &to->decompress_ctx) &&
           get_symbol(h, "blosc_compress_ctx", &to->compress_ctx) &&
           get_symbol(h, "blosc_compcode_to_compname", &to->compcode_to_compname) &&
           get_symbol(h, "blosc_get_complib_info", &to->get_complib_info) &&
           get_symbol(h, "blosc_get_version_string", &to->get_version_string);
}

static void find_once(void)
{
    if (blosc_compress_ctx) {
        functions = (struct blosc_lib){blosc_cbuffer_validate, blosc_decompress_ctx,
                                       blosc_compress_ctx,     blosc_compcode_to_compname,
                                       blosc_get_complib_info, blosc_get_version_string};
        found = true;
    } else {
        found = load_symbols(&functions);
    }
}

const struct blosc_lib *blosc_lib(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_once);
    return found ? &functions : NULL;
}

#else

const struct blosc_lib *blosc_lib(void)
{
    return NULL;
}

#endif
