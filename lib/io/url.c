/* url.c - files behind URLs, through the module datarep-http.so.
 *
 * The library itself knows no network.  The module is loaded when the first URL is opened; it fills
 * a driver, as a program does that calls drep_open_driver(). */
/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include "base/error.h"
#include "base/info.h"
#include "base/mem.h"
#include "base/plugin.h"
#include "base/url.h"

#include <datarep.h>
#include <dlfcn.h>
#include <stdbool.h>

#define MODULE "datarep-http.so"
#define INTERFACE 1 /* of the functions below; the module says which it has */
#define SHOWN_MAX 4096

/* The module exports `int datarep_http_interface(void)`, datarep_http_read() and
 * datarep_http_upload().  The last two fill a driver for a URL and its state, which the driver
 * closes; hints have the values in force.  The first opens a file for reading and has its first
 * bytes when it returns; flag: a file names the URL, not the caller.  The second replaces what the
 * URL names, or with the flag only makes it: write_at() is called in order, sync() once, at the
 * end, and a close without sync() leaves nothing. */
typedef int open_fn(const char *url, int flag, const drep_info *hints, drep_driver *driver,
                    void **state);
typedef int interface_fn(void);

/* Get a function of the module, which is loaded at the first call. */
static int module_function(const char *symbol, void **out)
{
    interface_fn *interface = NULL;
    void *module = NULL;
    int err = plugin_own(MODULE, &module);

    if (err)
        return err;
    /* POSIX has dlsym() give functions too; ISO C wants it said this way. */
    *(void **)&interface = dlsym(module, "datarep_http_interface");
    *out = dlsym(module, symbol);
    if (!interface || interface() != INTERFACE || !*out)
        return fail(DREP_ERR_UNSUPPORTED, MODULE " belongs to another version of this library");
    return 0;
}

/* The hints that the module reads: the values in force for this opener, and its secrets. */
static int module_hints(const drep_info *info, drep_info **out)
{
    drep_info *all = NULL;
    int err = info_defaults(&all);

    if (!err)
        err = info_merge(all, info);
    if (!err)
        err = info_secrets(all, info);
    if (err)
        drep_info_free(all);
    else
        *out = all;
    return err;
}

static int url_open(const char *function, const char *url, bool flag, const drep_info *info,
                    struct io **out)
{
    drep_driver driver = DREP_DRIVER();
    char shown[SHOWN_MAX];
    drep_info *hints = NULL;
    open_fn *open = NULL;
    void *state = NULL;
    int err = module_function(function, (void **)&open);

    url_shown(url, shown, sizeof shown);
    if (!err)
        err = module_hints(info, &hints);
    if (!err)
        err = open(url, flag, hints, &driver, &state);
    drep_info_free(hints);
    return err ? fail_in(err, "%s", shown) : io_driver(&driver, state, shown, out);
}

int io_url(const char *url, bool by_file, const drep_info *info, struct io **out)
{
    return url_open("datarep_http_read", url, by_file, info, out);
}

int io_url_beneath(const char *of, const char *name, const drep_info *info, struct io **out,
                   char **url)
{
    char *beneath = url_beneath(of, name);
    int err;

    if (!beneath)
        return fail(DREP_ERR_ACCESS, "\"%s\" does not stay beneath the folder of the URL", name);
    err = io_url(beneath, false, info, out);
    if (err || !url)
        mem_free(beneath);
    else
        *url = beneath;
    return err;
}

int io_url_new(const char *url, bool excl, const drep_info *info, struct io **out)
{
    struct io *to;
    int err = url_open("datarep_http_upload", url, excl, info, &to);

    return err ? err : io_stream_to(to, out);
}
