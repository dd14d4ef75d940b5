/* fail.c - the library's messages in the form of ours: FILE: PATH: what (byte N); what to do. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/fail.h"
#include "tools/host/exit.h"
#include "tools/host/label.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include "tools/host/statusline.h"
#include <datarep.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tool_no_memory(void)
{
    const char *raise;

    if (limit_spent(DREP_ERR_NOMEM))
        return TOOL_IO;
    raise = limit_advice(DREP_ERR_NOMEM, "");
    tool_say(NULL, NULL, "out of memory%s%s", raise ? "; " : "", raise ? raise : "");
    limit_said(DREP_ERR_NOMEM);
    return TOOL_IO;
}

/* Skips `word` and ": " where the message begins with it. */
static const char *without(const char *message, const char *word)
{
    size_t n = strlen(word);

    return n > 0 && strncmp(message, word, n) == 0 && strncmp(message + n, ": ", 2) == 0
               ? message + n + 2
               : message;
}

/* Takes `dataset "PATH": ` off the front; gives PATH, malloc'ed, or NULL. */
static char *take_path(const char **message)
{
    static const char *const kinds[] = {"dataset \"", "group \"", "object \"", "attribute of \""};
    const char *end;
    char *path;
    size_t i, n;

    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        n = strlen(kinds[i]);
        if (strncmp(*message, kinds[i], n) != 0)
            continue;
        end = strstr(*message + n, "\": ");
        if (!end || (*message)[n] != '/')
            return NULL;
        path = strndup(*message + n, (size_t)(end - *message) - n);
        if (path)
            *message = end + 3;
        return path;
    }
    return NULL;
}

/* Prints the message; " at byte N" at its end becomes " (byte N)". */
static void put_message(const char *message)
{
    const char *at = NULL, *next = message, *p;

    while ((next = strstr(next, " at byte ")))
        at = next++;
    for (p = at ? at + 9 : message; at && isdigit((unsigned char)*p); p++)
        ;
    if (!at || *p || p == at + 9)
        tool_print("%s", message);
    else
        tool_print("%.*s (byte %s)", (int)(at - message), message, at + 9);
}

/* Advice for the user, with %s for the file's name; NULL if there is none. */
static const char *advice_for(const char *file, const char *message, int err)
{
    const char *raise = limit_advice(err, message);

    if (raise)
        return raise;
    if (strstr(message, " is not registered"))
        return "--plugins or DREP_PLUGIN_PATH may name the directory of its plugin";
    return file && strcmp(file, "-") != 0 ? exit_advice(err) : NULL;
}

/* message: without the file's name. */
static int say_failure(const char *file, const char *path, const char *message, int err)
{
    const char *advice = advice_for(file, message, err);
    char *named = take_path(&message);

    if (!named && path)
        message = without(message, path);
    statusline_hide();
    fputs("datarep: ", stderr);
    if (file)
        tool_print("%s: ", label_of(file));
    if (named || (path && !strstr(message, path)))
        tool_print("%s: ", named ? named : path);
    put_message(message);
    if (advice) {
        fputs("; ", stderr);
        tool_print(advice, file);
    }
    fputc('\n', stderr);
    free(named);
    limit_said(err);
    return tool_exit_code(err);
}

static const char *message_of(int err)
{
    const char *message = drep_error();

    /* The library has no message for a failed allocation of the command's own. */
    return !*message || err == DREP_ERR_NOMEM ? drep_strerror(err) : message;
}

const char *tool_unnamed(const char *file, const char *message)
{
    return without(message, label_in_library(file));
}

int tool_fail(const char *file, const char *path, int err)
{
    const char *message = message_of(err);

    /* Reported before. */
    if (limit_spent(err))
        return tool_exit_code(err);
    if (err == DREP_ERR_STOPPED && limit_over())
        return TOOL_CORRUPT;
    return say_failure(file, path, file ? tool_unnamed(file, message) : message, err);
}

int tool_fail_copy(const char *source, const char *target, drep_file *from, int err)
{
    char *all = strdup(message_of(err)), *path = NULL;
    const char *message = all ? all : "", *end;
    unsigned long long id;
    int status, n = 0;

    message = without(without(message, target), label_in_library(source));
    end = strncmp(message, "copying \"", 9) == 0 ? strstr(message, "\": ") : NULL;
    message = end ? end + 3 : message;
    /* The library copies by number. */
    if (sscanf(message, "object %llu: %n", &id, &n) == 1 && n > 0 &&
        drep_object_path(from, id, &path) == 0)
        message += n;
    else
        path = NULL;
    status = say_failure(source, path, message, err);
    free(path);
    free(all);
    return status;
}
