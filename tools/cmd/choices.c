/* choices.c - arguments of options that several subcommands have.
 *
 * An option of several subcommands is parsed here once, with one message for each error. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/choices.h"
#include "tools/host/message.h"
#include <datarep.h>
#include <stdlib.h>
#include <string.h>

int choice_range(const char *command, const char *text, int *range)
{
    static const struct {
        const char *name;
        int range;
    } known[] = {{"strict", DREP_RANGE_STRICT},
                 {"round", DREP_RANGE_ROUND},
                 {"clamp", DREP_RANGE_CLAMP},
                 {"wrap", DREP_RANGE_WRAP}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(text, known[i].name) == 0) {
            *range = known[i].range;
            return 0;
        }
    }
    return tool_usage(command, "--range is strict, round, clamp or wrap, not '%s'", text);
}

/* The levels that datarep.h lists; 0: the filter has none. */
static long levels_of(int id)
{
    if (id == DREP_FILTER_ZSTD)
        return 22;
    return id == DREP_FILTER_DEFLATE || id == DREP_FILTER_LZ4 ? 12 : 0;
}

/* One "zstd:3". */
static int parse_filter(const char *command, char *word, drep_filter *out)
{
    char *level = strchr(word, ':'), *end;
    drep_filter f = {.level = -1};
    long n;

    if (level)
        *level++ = '\0';
    f.id = drep_filter_from_name(word);
    if (f.id == 0)
        return tool_usage(command, "--filters: there is no filter '%s'", word);
    if (!drep_filter_available(f.id))
        return tool_usage(command, "--filters: built without %s", word);
    if (level) {
        n = strtol(level, &end, 10);
        if (end == level || *end || n < 1 || n > levels_of(f.id))
            return tool_usage(command, "--filters: %s has no level '%s'", word, level);
        f.level = (int)n;
    }
    *out = f;
    return 0;
}

int choice_filters(const char *command, const char *text, drep_filter *filters, int *n)
{
    char copy[256], *rest = copy, *word;
    int status = 0;

    *n = 0;
    if (strcmp(text, "none") == 0)
        return 0;
    if (strlen(text) >= sizeof copy)
        return tool_usage(command, "--filters is too long");
    memcpy(copy, text, strlen(text) + 1);
    while (!status && (word = strsep(&rest, ","))) {
        if (*n == DREP_MAX_FILTERS)
            return tool_usage(command, "--filters: at most %d", DREP_MAX_FILTERS);
        status = parse_filter(command, word, &filters[*n]);
        *n += !status;
    }
    return status;
}
