/* operand.c - finding what PATH[SLICE] means. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/operand.h"
#include "schema/suggest.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/text/by_value.h"
#include <datarep.h>
#include <stdlib.h>
#include <string.h>

/* Where the selection begins: at the last "[" that a "]" follows at the end or before a member. */
static char *find_slice(char *path)
{
    char *end = strrchr(path, ']'), *dot = NULL, *p;

    for (p = strstr(path, "]."); p; p = strstr(p + 1, "]."))
        dot = p;
    if (!end || (end[1] && end != dot))
        end = dot;
    for (p = end; p && p >= path; p--)
        if (*p == '[')
            return p;
    return NULL;
}

int operand_init(struct operand *out, drep_file *file, const char *text)
{
    size_t size = text ? strlen(text) : 0;
    char *path = malloc(size + 2), *slice = NULL, *at;
    drep_objinfo info = DREP_OBJINFO;

    if (!path)
        return DREP_ERR_NOMEM;
    for (; size > 0 && *text == '/'; size--)
        text++;
    path[0] = '/';
    memcpy(path + 1, text ? text : "", size);
    path[++size] = '\0';
    at = find_slice(path);
    if (at && drep_stat(file, path, &info)) {
        slice = strdup(at);
        if (!slice) {
            free(path);
            return DREP_ERR_NOMEM;
        }
        *at = '\0';
        size = strlen(path);
    }
    while (size > 1 && path[size - 1] == '/')
        path[--size] = '\0';
    *out = (struct operand){.path = path, .slice = slice};
    return 0;
}

void operand_release(struct operand *operand)
{
    free(operand->path);
    free(operand->slice);
    free(operand->indices);
    *operand = (struct operand){0};
}

/* ------------------------------------------------------------- not there */

static int offer(const drep_linkinfo *link, void *ctx)
{
    suggest_word(ctx, link->name);
    return 0;
}

/* The first part of the path that is missing, malloc'ed, with the group that it is not in
 * in front; *name points into it. */
static char *missing_part(drep_file *file, const char *path, char **name)
{
    char *part = strdup(path), *end;
    drep_objinfo info = DREP_OBJINFO;

    for (end = part; part && end; *end = '/') {
        end = strchr(end + 1, '/');
        if (!end)
            break;
        *end = '\0';
        if (drep_stat(file, part, &info))
            break;
    }
    if (part)
        *name = strrchr(part, '/');
    return part;
}

/* The slice of a path whose "]" was forgotten, if the object before it is there; else NULL. */
static const char *open_slice(drep_file *file, const char *path)
{
    const char *slice = strrchr(path, '[');
    drep_objinfo info = DREP_OBJINFO;
    char *object;

    if (!slice || strchr(slice, ']'))
        return NULL;
    object = strndup(path, (size_t)(slice - path));
    if (!object || drep_stat(file, object, &info))
        slice = NULL;
    free(object);
    return slice;
}

int operand_missing(const char *file_name, drep_file *file, const char *path, int err)
{
    char *name = NULL, *part = err == DREP_ERR_NOT_FOUND ? missing_part(file, path, &name) : NULL;
    struct suggestion meant = {.word = NULL};
    drep_objinfo info = DREP_OBJINFO;
    const char *slice = name ? open_slice(file, path) : NULL;
    int status = tool_exit_code(err);

    if (name && !slice) {
        *name = '\0';
        meant.word = name + 1;
        (void)drep_list(file, *part ? part : "/", DREP_BY_NAME, offer, &meant);
    }
    if (slice) {
        tool_say(file_name, NULL, "%.*s: the slice %s has no ]", (int)(slice - path), path, slice);
    } else if (meant.best[0]) {
        tool_say(file_name, NULL, "%s: no such object; did you mean %s/%s%s?", path, part,
                 meant.best, path + strlen(part) + 1 + strlen(meant.word));
    } else {
        /* An error of the search for suggestions is not the reason. */
        (void)drep_stat(file, path, &info);
        status = tool_fail(file_name, path, err);
    }
    free(part);
    return status;
}

/* ------------------------------------------------------------- datasets */

int operand_slice(struct operand *operand, const char *file_name, drep_file *file,
                  const drep_dsinfo *info, struct slice *slice)
{
    const char *text = operand->slice, *wrong;

    if (!text) {
        slice_all(slice, info->rank, info->dims);
        return 0;
    }
    if (by_value_is(text)) {
        int status = operand->indices ? 0
                                      : by_value_resolve(file, file_name, operand->path, info, text,
                                                         &operand->indices);

        if (status)
            return status;
        text = operand->indices;
    }
    wrong = slice_parse(slice, text, info->rank, info->dims, operand->members ? info->type : NULL);
    if (!wrong)
        return 0;
    tool_say(file_name, operand->path, "%s", wrong);
    return TOOL_USAGE;
}

int operand_open(struct operand *operand, const char *file_name, drep_file *file,
                 drep_dataset **dataset, drep_dsinfo *info, struct slice *slice)
{
    const char *path = operand->path;
    drep_objinfo kind = DREP_OBJINFO;
    drep_dataset *ds;
    int err = drep_stat(file, path, &kind);

    if (err)
        return operand_missing(file_name, file, path, err);
    if (kind.kind != DREP_OBJ_DATASET) {
        tool_say(file_name, path, "%s%sonly datasets have elements",
                 operand->slice ? operand->slice : "", operand->slice ? ": " : "");
        return TOOL_USAGE;
    }
    err = drep_dataset_open(file, path, &ds);
    if (err)
        return tool_fail(file_name, path, err);
    *info = DREP_DSINFO;
    err = drep_dataset_info(ds, info);
    if (err)
        err = tool_fail(file_name, path, err);
    if (!err)
        err = operand_slice(operand, file_name, file, info, slice);
    if (err)
        drep_dataset_close(ds);
    else
        *dataset = ds;
    return err;
}
