/* message.c - what is said on stderr, in one form: FILE: PATH: what (byte N); what to do. */
#include "tools/host/input.h"
#include "tools/host/limit.h"
#include "tools/host/progress.h"
#include "tools/host/tool.h"
#include "tools/host/utf8.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Why an error ends the run as it does, and what its reader may do about it. */
static const struct {
    int err;
    enum tool_exit code;
    const char *advice; /* %s is the file */
} errors[] = {
    {DREP_OK, TOOL_FINE, NULL},
    {DREP_ERR_NOMEM, TOOL_IO, NULL},
    {DREP_ERR_IO, TOOL_IO, NULL},
    {DREP_ERR_NO_SPACE, TOOL_IO, NULL},
    {DREP_ERR_NO_SUCH_FILE, TOOL_IO, NULL},
    {DREP_ERR_FILE_EXISTS, TOOL_IO, NULL},
    {DREP_ERR_ACCESS, TOOL_IO, NULL},
    {DREP_ERR_READ_ONLY, TOOL_IO, NULL},
    {DREP_ERR_FILE_IN_USE, TOOL_IO, "wait until that writer has closed it"},
    {DREP_ERR_FAILED, TOOL_IO, NULL},
    {DREP_ERR_STALE, TOOL_IO, "run the command again"},
    {DREP_ERR_ARG, TOOL_USAGE, NULL},
    {DREP_ERR_NOT_FOUND, TOOL_USAGE, "datarep ls -r %s lists what there is"},
    {DREP_ERR_EXISTS, TOOL_USAGE, NULL},
    {DREP_ERR_KIND, TOOL_USAGE, NULL},
    {DREP_ERR_NAME, TOOL_USAGE, NULL},
    {DREP_ERR_RANGE, TOOL_USAGE, NULL},
    {DREP_ERR_COUNT, TOOL_USAGE, NULL},
    {DREP_ERR_DIMS, TOOL_USAGE, NULL},
    {DREP_ERR_SYNTAX, TOOL_USAGE, NULL},
    {DREP_ERR_INFO_KEY, TOOL_USAGE, NULL},
    {DREP_ERR_INFO_VALUE, TOOL_USAGE, NULL},
    {DREP_ERR_FORMAT, TOOL_CORRUPT, "datarep check %s finds all that is wrong"},
    {DREP_ERR_CHECKSUM, TOOL_CORRUPT, "datarep check %s finds all that is wrong"},
    {DREP_ERR_TRUNCATE, TOOL_CORRUPT, "its end is missing: copy it again"},
    {DREP_ERR_VERSION, TOOL_CORRUPT, "a newer datarep can read it"},
};

/* A code that is not in the table is damage, or beyond what is supported. */
static size_t error_row(int err)
{
    size_t i, n = sizeof errors / sizeof *errors;

    for (i = 0; i < n && errors[i].err != err; i++)
        ;
    return i < n ? i : n;
}

int tool_exit_code(int err)
{
    size_t row = error_row(err);

    return row < sizeof errors / sizeof *errors ? (int)errors[row].code : TOOL_CORRUPT;
}

int tool_worse(int a, int b)
{
    return a > b ? a : b;
}

/* Names in files may hold what would tell a terminal to do something. */
void tool_put(const char *format, va_list args)
{
    va_list again;
    char *text;

    va_copy(again, args);
    if (vasprintf(&text, format, args) < 0) {
        vfprintf(stderr, format, again);
    } else {
        utf8_clean(text);
        fputs(text, stderr);
        free(text);
    }
    va_end(again);
}

void tool_print(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tool_put(format, args);
    va_end(args);
}

void tool_say(const char *file, const char *path, const char *format, ...)
{
    va_list args;

    progress_hide();
    fputs("datarep: ", stderr);
    if (file)
        tool_print("%s: ", input_name(file));
    if (path)
        tool_print("%s: ", path);
    va_start(args, format);
    tool_put(format, args);
    va_end(args);
    fputc('\n', stderr);
}

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

int tool_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return TOOL_FINE;
    if (errno != EPIPE)
        tool_say(NULL, NULL, "standard output: %s", strerror(errno));
    return TOOL_IO;
}

/* ----------------------------------------------- the library's own messages */

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

    while ((next = strstr(next, " at byte ")) != NULL)
        at = next++;
    for (p = at ? at + 9 : message; at && isdigit((unsigned char)*p); p++)
        ;
    if (!at || *p || p == at + 9)
        tool_print("%s", message);
    else
        tool_print("%.*s (byte %s)", (int)(at - message), message, at + 9);
}

/* What the reader may do, with the file in it as %s; NULL: nothing. */
static const char *advice_for(const char *file, const char *message, int err)
{
    const char *raise = limit_advice(err, message);
    size_t row = error_row(err);

    if (raise)
        return raise;
    if (strstr(message, " is not registered"))
        return "--plugins or DREP_PLUGIN_PATH may name the directory of its plugin";
    if (!file || strcmp(file, "-") == 0 || row == sizeof errors / sizeof *errors)
        return NULL;
    return errors[row].advice;
}

/* message: without the file's name. */
static int say_failure(const char *file, const char *path, const char *message, int err)
{
    const char *advice = advice_for(file, message, err);
    char *named = take_path(&message);

    if (!named && path)
        message = without(message, path);
    progress_hide();
    fputs("datarep: ", stderr);
    if (file)
        tool_print("%s: ", input_name(file));
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

    /* What this command itself could not allocate, the library knows nothing of. */
    return !*message || err == DREP_ERR_NOMEM ? drep_strerror(err) : message;
}

int tool_fail(const char *file, const char *path, int err)
{
    const char *message = message_of(err);

    /* That was said. */
    if (limit_spent(err))
        return tool_exit_code(err);
    if (err == DREP_ERR_STOPPED && limit_over())
        return TOOL_CORRUPT;
    return say_failure(file, path, file ? without(message, input_path(file)) : message, err);
}

int tool_fail_copy(const char *source, const char *target, drep_file *from, int err)
{
    char *all = strdup(message_of(err)), *path = NULL;
    const char *message = all ? all : "", *end;
    unsigned long long id;
    int status, n = 0;

    message = without(without(message, target), input_path(source));
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
