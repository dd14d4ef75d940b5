/* label.c - what a file on the command line is called. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/label.h"
#include "base/url.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library's name of standard input. */
static char place[64] = ":memory:";

/* URLs of the command line. */
static struct url_label {
    struct url_label *next;
    const char *shown, *url;
} * labels;

static const struct url_label *label_find(const char *shown)
{
    const struct url_label *l = labels;

    while (l && strcmp(l->shown, shown) != 0)
        l = l->next;
    return l;
}

const char *label_opened(const char *file)
{
    const struct url_label *l = label_find(file);

    return l ? l->url : file;
}

/* Two URLs that differ in what is not shown get a number. */
char *label_argument(char *argument)
{
    size_t size = strlen(argument) + 24;
    const struct url_label *other;
    char *shown, *url;
    struct url_label *l;

    if (!url_is(argument))
        return argument;
    shown = malloc(size);
    url = strdup(argument);
    l = malloc(sizeof *l);
    if (!shown || !url || !l) {
        free(shown);
        free(url);
        free(l);
        return argument;
    }
    url_shown(url, shown, size);
    for (int n = 2; (other = label_find(shown)) && strcmp(other->url, url) != 0; n++) {
        url_shown(url, shown, size);
        snprintf(shown + strlen(shown), 12, "#%d", n);
    }
    *l = (struct url_label){labels, shown, url};
    labels = l;
    if (strlen(shown) <= strlen(argument)) {
        memset(argument, 0, strlen(argument));
        strcpy(argument, shown);
    }
    return shown;
}

const char *label_of(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

const char *label_in_library(const char *file)
{
    return strcmp(file, "-") == 0 ? place : file;
}

void label_set_library(const char *name)
{
    snprintf(place, sizeof place, "%s", name);
}
