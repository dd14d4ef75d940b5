/* open.c - opening Datarep files. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/open.h"
#include "base/url.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/foreign.h"
#include "tools/host/input.h"
#include "tools/host/label.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include <datarep.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int say_foreign(const char *path, const char *name)
{
    if (name)
        tool_say(path, NULL, "not a Datarep file: this is %s", name);
    else
        tool_say(path, NULL, "not a Datarep file");
    return TOOL_CORRUPT;
}

static bool external;

void tool_allow_external(void)
{
    external = true;
}

bool tool_external(void)
{
    return external;
}

static const char *lock_wait;

bool tool_wait_for_lock(const char *seconds)
{
    size_t whole = strspn(seconds, "0123456789"), point = seconds[whole] == '.',
           part = strspn(seconds + whole + point, "0123456789");

    lock_wait = seconds;
    return whole > 0 && (part > 0) == (point > 0) && !seconds[whole + point + part];
}

/* Cut the next hint off a list; NULL: there is none.  Commas and blanks separate hints, but a value
 * may be a list as well: what has no "=" goes on with the hint before it. */
static char *next_hint(char **at)
{
    char *hint = *at + strspn(*at, ", "), *end = hint + strcspn(hint, ", ");

    while (*end) {
        char *next = end + strspn(end, ", ");
        size_t size = strcspn(next, ", ");

        if (size == 0 || memchr(next, '=', size))
            break;
        end = next + size;
    }
    *at = *end ? end + 1 : end;
    *end = '\0';
    return *hint ? hint : NULL;
}

/* DATAREP_HINTS="drep_http_whole=true,drep_threads=1": hints of the user's; what the command line
 * says comes after them. */
static int environment_hints(drep_info *info)
{
    const char *text = secure_getenv("DATAREP_HINTS");
    char *copy = strdup(text ? text : ""), *at = copy, *hint;
    int err = copy ? 0 : DREP_ERR_NOMEM;

    while (!err && (hint = next_hint(&at))) {
        char *value = strchr(hint, '=');

        if (value)
            *value++ = '\0';
        err = drep_info_check(hint, value ? value : "");
        if (!err)
            err = drep_info_set(info, hint, value);
    }
    free(copy);
    return err;
}

int tool_info(const char *plugins, drep_info **out)
{
    drep_info *info;
    int err = drep_info_new(&info);

    *out = NULL;
    if (err)
        return err;
    err = environment_hints(info);
    if (!err)
        err = limit_hints(info);
    if (!err && plugins)
        err = drep_info_set(info, "drep_plugin_path", plugins);
    if (!err && external)
        err = drep_info_set(info, "drep_external", "true");
    if (!err && lock_wait)
        err = drep_info_set(info, "drep_lock_wait", lock_wait);
    if (err)
        drep_info_free(info);
    else
        *out = info;
    return err;
}

/* An exit code; says what is wrong. */
static int open_input(int amode, const drep_info *info, drep_file **out)
{
    char front[16];
    size_t size = 0;
    int err = input_open(amode, info, front, &size, out);

    if (err < 0)
        return TOOL_IO;
    if (err == DREP_ERR_NOT_DREP || (err && size == 0))
        return say_foreign("-", foreign_front(front, size));
    return err ? tool_fail("-", NULL, err) : TOOL_FINE;
}

static int say_no_commit(const char *path)
{
    const char *message = strstr(drep_error(), "commit ");

    tool_say(path, NULL, "%s; datarep log %s lists them",
             message ? message : drep_strerror(DREP_ERR_NOT_FOUND), path);
    return TOOL_USAGE;
}

static int open_path(const char *path, int amode, const drep_info *info, uint64_t commit,
                     drep_file **out)
{
    struct stat st;
    FILE *f;
    int err;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        tool_say(path, NULL, "is a directory");
        return TOOL_IO;
    }
    limit_file_named(path);
    limit_object(path, NULL);
    err = commit ? drep_open_commit(label_opened(path), amode, commit, info, out)
                 : drep_open(label_opened(path), amode, info, out);
    if (err == DREP_ERR_NOT_FOUND && commit)
        return say_no_commit(path);
    if (err != DREP_ERR_NOT_DREP)
        return err ? tool_fail(path, NULL, err) : TOOL_FINE;
    f = fopen(path, "rbe");
    err = say_foreign(path, f ? foreign_name(f) : NULL);
    if (f)
        fclose(f);
    return err;
}

/* 0, or an exit code after saying what is wrong with it. */
static int commit_number(const char *path, const char *text, uint64_t *number)
{
    char *end = NULL;

    *number = 0;
    if (!text)
        return 0;
    errno = 0;
    if (*text >= '1' && *text <= '9')
        *number = strtoull(text, &end, 10);
    if (!end || *end || errno) {
        tool_say(path, NULL, "'%s' is not the number of a commit; `datarep log` lists them", text);
        return TOOL_USAGE;
    }
    if (strcmp(path, "-") == 0) {
        tool_say(path, NULL, "only a file with a name has earlier commits");
        return TOOL_USAGE;
    }
    return 0;
}

int tool_open(const char *path, int amode, const char *plugins, drep_file **out)
{
    return tool_open_commit(path, amode, plugins, NULL, out);
}

int tool_open_commit(const char *path, int amode, const char *plugins, const char *commit,
                     drep_file **out)
{
    uint64_t number;
    drep_header header = DREP_HEADER;
    drep_info *info;
    drep_file *file;
    int err, status = commit_number(path, commit, &number);

    if (status)
        return status;
    err = tool_info(plugins, &info);
    if (err)
        return tool_fail(path, NULL, err);
    status = strcmp(path, "-") == 0 ? open_input(amode, info, &file)
                                    : open_path(path, amode, info, number, &file);
    drep_info_free(info);
    if (status)
        return status;
    err = drep_header_get(file, &header);
    if (!err && url_is(path))
        limit_file(header.end); /* limits grow with files that nobody can look at before */
    if (!err && header.damaged_slot)
        tool_say(path, NULL,
                 "warning: header slot %c is damaged; this may be the commit before "
                 "the last",
                 header.damaged_slot == 1 ? 'A' : 'B');
    *out = file;
    return 0;
}
