/* zip.c - zip archives, by a module.
 *
 * The command and the module exchange descriptors and bytes only; messages are the command's. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/zip.h"
#include "tools/host/exit.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include "tools/host/module.h"
#include <dlfcn.h>

static void *zip_symbol(const char *symbol)
{
    void *module = module_load("zip", DATAREP_ZIP_INTERFACE);
    void *found = module ? dlsym(module, symbol) : NULL;

    if (module && !found)
        tool_say(NULL, NULL, "%s", dlerror());
    return found;
}

/* An archive says how much it holds, and may hold more. */
static int unpacked(size_t size)
{
    limit_output(size);
    return limit_over();
}

int zip_each(const char *file, int fd, zip_member_fn *fn, void *ctx)
{
    datarep_zip_each_fn *each;
    char why[ZIP_WHY] = "";
    int status = 0, result;

    *(void **)&each = zip_symbol("datarep_zip_each");
    if (!each)
        return TOOL_CORRUPT;
    result = each(fd, fn, unpacked, ctx, &status, why);
    if (result < 0 && !status)
        return TOOL_CORRUPT;
    if (result > 0) {
        tool_say(file, NULL, "%s", why);
        return TOOL_CORRUPT;
    }
    return status;
}

int zip_make(const char *file, const char *path, const struct zip_input *inputs, size_t n)
{
    datarep_zip_make_fn *make;
    char why[ZIP_WHY] = "";
    int result;

    *(void **)&make = zip_symbol("datarep_zip_make");
    if (!make)
        return TOOL_CORRUPT;
    result = make(path, inputs, n, why);
    if (result > 0)
        tool_say(file, NULL, "%s", why);
    return result ? TOOL_IO : 0;
}
