/* netcdf.c - `datarep netcdf`: programs for netCDF read and write Datarep files.
 *
 * The library libdatarep-netcdf.so makes Datarep files a format of netCDF-C.  Here it is put into a
 * program by LD_PRELOAD, or named in .ncrc, from where netCDF-C 4.10 loads it into every program.
 */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "tools/cmd/cdo.h"
#include "tools/cmd/command.h"
#include "tools/cmd/ncrc.h"
#include "tools/cmd/preload.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/module.h"
#include "tools/text/sink.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOOR_FILE "libdatarep-netcdf.so"
/* netCDF-C 4.9.0 has the number 19, 4.9.3 has 22. */
#define SONUMBER_MAX 40

enum { OPTION_INSTALL = OPTION_LONG, OPTION_UNINSTALL, OPTION_STATUS };

/* --------------------------------------------------------------- what there is */

/* The library's absolute path; a DREP_ERR_... code otherwise, with the message. */
static int door_path(char path[PATH_MAX])
{
    return module_shared(DOOR_FILE, path, PATH_MAX);
}

static void door_missing(const char *path, int err)
{
    if (err == DREP_ERR_NO_SUCH_FILE)
        tool_say(NULL, NULL,
                 "%s: the package datarep-netcdf is not installed, or this is built without netCDF",
                 fail_text());
    else
        tool_say(path, NULL, "the library is not used: %s", fail_text());
}

struct netcdf_c {
    char release[40], soname[40];
    int major, minor;
};

/* The netCDF-C that programs of this machine are linked with; false: there is none. */
static bool netcdf_c_find(struct netcdf_c *found)
{
    const char *(*libvers)(void) = NULL;
    void *library = NULL;
    int number;

    for (number = SONUMBER_MAX; !library && number >= 0; number--) {
        if (number)
            snprintf(found->soname, sizeof found->soname, "libnetcdf.so.%d", number);
        else
            snprintf(found->soname, sizeof found->soname, "libnetcdf.so");
        library = dlopen(found->soname, RTLD_LAZY | RTLD_LOCAL);
    }
    if (library)
        *(void **)&libvers = dlsym(library, "nc_inq_libvers");
    if (!libvers)
        return false;
    snprintf(found->release, sizeof found->release, "%.*s", (int)strcspn(libvers(), " "),
             libvers());
    return sscanf(found->release, "%d.%d", &found->major, &found->minor) == 2;
}

static bool reads_ncrc(const struct netcdf_c *c)
{
    return c->major > 4 || (c->major == 4 && c->minor >= 10);
}

static void put_netcdf_c(struct sink *s)
{
    struct netcdf_c c = {.major = 0};

    sink_text(s, "netCDF-C: ");
    if (!netcdf_c_find(&c))
        sink_text(s, "no libnetcdf is installed; 4.10 and later load formats from .ncrc\n");
    else if (reads_ncrc(&c))
        sink_format(s, "%s (%s) loads formats from .ncrc\n", c.release, c.soname);
    else
        sink_format(s,
                    "%s (%s) does not load formats from .ncrc, 4.10 and later do: run programs by\n"
                    "  datarep netcdf -- PROGRAM\n",
                    c.release, c.soname);
    if (getenv("NCRCENV_IGNORE"))
        sink_text(s, "NCRCENV_IGNORE is set: netCDF-C reads no .ncrc\n");
}

/* ---------------------------------------------------------------------- status */

static void put_slot(struct sink *s, const struct ncrc_slot *slot, int number, const char *door)
{
    const char *library = slot->library ? slot->library : "";

    sink_format(s, "  UDF%d: ", number);
    if (ncrc_is_free(slot)) {
        sink_text(s, "free\n");
        return;
    }
    sink_name(s, *library ? library : "taken, without a library");
    if (!ncrc_is_ours(slot))
        sink_text(s, "\n");
    else if (access(library, R_OK) != 0)
        sink_text(s, ", which is not there\n");
    else
        sink_text(s, ncrc_names(slot, door) ? ", this library\n" : ", another copy\n");
}

static int show_status(void)
{
    char door[PATH_MAX] = "";
    struct ncrc rc;
    struct sink s;
    int err, i, status = ncrc_load(&rc);
    bool installed = false;

    if (status)
        return status;
    err = door_path(door);
    if (sink_init(&s, STDOUT_FILENO)) {
        ncrc_release(&rc);
        return tool_no_memory();
    }
    sink_text(&s, "library: ");
    if (err && *door) {
        sink_name(&s, door);
        sink_format(&s, ": not used: %s\n", fail_text());
    } else if (err) {
        sink_format(&s, "%s\n", fail_text());
    } else {
        sink_name(&s, door);
        sink_text(&s, "\n");
    }
    put_netcdf_c(&s);
    sink_name(&s, rc.path);
    sink_text(&s, rc.there ? "\n" : ": no such file\n");
    for (i = 0; i < NCRC_SLOTS; i++) {
        if (rc.there)
            put_slot(&s, &rc.slot[i], i, err ? "" : door);
        installed |= !err && ncrc_names(&rc.slot[i], door);
    }
    ncrc_release(&rc);
    return tool_worse(installed ? TOOL_FINE : TOOL_DIFFERS, sink_close(&s));
}

/* --------------------------------------------------------------------- install */

/* netCDF-C takes blanks out of what it reads, and a line is a line. */
static bool fits_ncrc(const char *library)
{
    for (; *library; library++)
        if ((unsigned char)*library <= ' ' || *library == 0x7f)
            return false;
    return true;
}

static void put_taken(struct sink *s, const struct ncrc *rc, int slot)
{
    int i;

    for (i = 0; i < slot; i++) {
        sink_format(s, "UDF%d is taken by ", i);
        sink_name(s, rc->slot[i].library ? rc->slot[i].library : "a line without a library");
        sink_text(s, "\n");
    }
}

/* Says what is to be written, and writes it if that was allowed. */
static int settle_ncrc(struct sink *s, const struct ncrc *rc, const char *text, size_t size,
                       bool yes)
{
    int status = 0;

    if (size == rc->size && (size == 0 || memcmp(text, rc->text, size) == 0)) {
        sink_name(s, rc->path);
        sink_text(s, ": nothing to change\n");
        return 0;
    }
    if (!yes) {
        sink_text(s, "nothing is written without --yes\n");
        return TOOL_DIFFERS;
    }
    status = ncrc_save(rc, text, size);
    if (!status) {
        sink_name(s, rc->path);
        sink_text(s, ": written\n");
    }
    return status;
}

static int install_in(struct sink *s, const struct ncrc *rc, const char *door, bool yes)
{
    int slot = ncrc_choose(rc), status;
    size_t size;
    char *text;

    if (slot < 0) {
        tool_say(rc->path, NULL, "UDF0, UDF1 and UDF2 are taken by other libraries");
        return TOOL_IO;
    }
    put_taken(s, rc, slot);
    sink_name(s, rc->path);
    sink_format(s, ":\n  NETCDF.UDF%d.LIBRARY=%s\n  NETCDF.UDF%d.INIT=%s\n", slot, door, slot,
                NCRC_INIT);
    put_netcdf_c(s);
    if (ncrc_names(&rc->slot[slot], door))
        return settle_ncrc(s, rc, rc->text, rc->size, yes);
    text = ncrc_edit(rc, slot, door, &size);
    if (!text)
        return tool_no_memory();
    status = settle_ncrc(s, rc, text, size, yes);
    free(text);
    return status;
}

static int uninstall_from(struct sink *s, const struct ncrc *rc, bool yes)
{
    size_t size;
    char *text = ncrc_edit(rc, 0, NULL, &size);
    int i, status;

    if (!text)
        return tool_no_memory();
    for (i = 0; i < NCRC_SLOTS; i++)
        if (ncrc_is_ours(&rc->slot[i])) {
            sink_name(s, rc->path);
            sink_format(s, ": the lines of NETCDF.UDF%d go\n", i);
        }
    status = settle_ncrc(s, rc, text, size, yes);
    free(text);
    return status;
}

static int change_ncrc(bool install, bool yes)
{
    char door[PATH_MAX] = "";
    struct ncrc rc;
    struct sink s;
    int err = install ? door_path(door) : 0, status;

    if (err) {
        door_missing(door, err);
        return TOOL_IO;
    }
    if (!fits_ncrc(door)) {
        tool_say(door, NULL, "netCDF-C reads no path with blanks or control characters from .ncrc");
        return TOOL_IO;
    }
    status = ncrc_load(&rc);
    if (status)
        return status;
    if (sink_init(&s, STDOUT_FILENO)) {
        ncrc_release(&rc);
        return tool_no_memory();
    }
    status = install ? install_in(&s, &rc, door, yes) : uninstall_from(&s, &rc, yes);
    ncrc_release(&rc);
    return tool_worse(status, sink_close(&s));
}

/* --------------------------------------------------------------------- program */

static int run_program(char **argv)
{
    char door[PATH_MAX] = "", path[PATH_MAX];
    int err = door_path(door), status;

    if (err) {
        door_missing(door, err);
        return PRELOAD_FAILED;
    }
    status = preload_find(argv[0], door, path);
    if (!status && cdo_is(path))
        status = cdo_arguments(argv) ? PRELOAD_FAILED : 0;
    return status ? status : preload_run(path, door, argv);
}

static const struct option_row netcdf_option_rows[] = {
    {OPTION_INSTALL, "install", NULL, "name the library in .ncrc, for netCDF-C 4.10 and later",
     NULL},
    {OPTION_UNINSTALL, "uninstall", NULL, "take those lines away again", NULL},
    {'y', "yes", NULL, "let --install and --uninstall write, not only show", NULL},
    {OPTION_STATUS, "status", NULL, "print the library, netCDF-C's release and what .ncrc names",
     NULL},
    {0}};

static int netcdf_run(int argc, char **argv)
{
    struct options o = {.command = &netcdf_command, .argc = argc, .argv = argv};
    int option, task = 0;
    bool yes = false;

    while ((option = option_next(&o)) > 0) {
        if (option == 'y') {
            yes = true;
            continue;
        }
        if (task && task != option)
            return tool_usage("netcdf", "--install, --uninstall or --status, one of them");
        task = option;
    }
    if (option < 0)
        return o.status;
    if (yes && task != OPTION_INSTALL && task != OPTION_UNINSTALL)
        return tool_usage("netcdf", "--yes goes with --install or --uninstall");
    if (!option_operands(&o, task ? 0 : 1, task ? 0 : INT_MAX, "which program?"))
        return o.status;
    if (task == OPTION_STATUS)
        return show_status();
    return task ? change_ncrc(task == OPTION_INSTALL, yes) : run_program(argv + optind);
}

const struct command netcdf_command = {
    .name = "netcdf",
    .run = netcdf_run,
    .summary = "run netCDF programs (ncdump, NCO, CDO, ...) on Datarep files",
    .usage = "[--] PROGRAM [ARGUMENT...]\n[--yes] --install|--uninstall\n--status",
    .about =
        "Runs a program that uses the netCDF library: it reads Datarep files like netCDF-4 files\n"
        "and writes them under names that end in .drep.  Or lets netCDF-C 4.10 and later do so "
        "for\n"
        "every program, by two lines in .ncrc.",
    .options = netcdf_option_rows,
    .examples = "  datarep netcdf ncks -d time,0,9 run.drep first.drep\n"
                "  datarep netcdf --install --yes",
    .operands = "<program> <file>...",
    .first_ends = true};
