/* version.c - `datarep --version`. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/version.h"
#include "tools/host/cage.h"
#include "tools/host/message.h"
#include "tools/host/module.h"
#include <datarep.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_YAML
#include <yaml.h>
#endif

#ifndef DATAREP_COMMIT
#define DATAREP_COMMIT "unknown"
#endif

struct version_line {
    int width;
};

/* Continues the list on another line where it gets long. */
static void put(struct version_line *line, const char *text)
{
    if (line->width + (int)strlen(text) > 78) {
        fputs("\n  ", stdout);
        line->width = 1;
    }
    line->width += printf(" %s", text);
}

static int put_name(const char *name, const char *form, void *ctx)
{
    (void)form;
    put(ctx, name);
    return 0;
}

static int put_library(const char *name, const char *version, void *ctx)
{
    char text[100];

    snprintf(text, sizeof text, "%s-%s", name, version);
    put(ctx, text);
    return 0;
}

static void put_module_library(const struct module_found *m, void *ctx)
{
    if (!m->refused)
        put_library(m->library, m->release, ctx);
}

static void put_module(const struct module_found *m, void *ctx)
{
    char text[400];

    snprintf(text, sizeof text, "%s (not loaded: %s)", m->name, m->refused ? m->refused : "");
    put(ctx, m->refused ? text : m->name);
}

/* The library's libraries, and those of the command and its modules. */
static void put_libraries(void)
{
    struct version_line line = {.width = 9};

    fputs("\nlibraries", stdout);
    drep_library_walk(put_library, &line);
#ifdef HAVE_YAML
    put_library("libyaml", yaml_get_version_string(), &line);
#endif
    module_walk(put_module_library, &line);
#if defined __GNUC__ && !defined __clang__
    put_library("gcc", __VERSION__, &line);
#endif
}

int version_print(void)
{
    struct version_line line = {.width = 8};
    char offers[100];

    printf("%s\n", drep_version());
    fputs("datareps", stdout);
    drep_datarep_walk(put_name, &line);
    fputs("\nmodules", stdout);
    line.width = 7;
    if (module_walk(put_module, &line) == 0)
        put(&line, "none");
    put_libraries();
    cage_offers(offers, sizeof offers);
    printf("\nconfined by file list%s%s (import)", *offers ? ", " : "", offers);
    fputs("\nThe format is version 1.1.  Every later version of the library will read its\n"
          "files, and those of draft 5 (0.5), which differ in that number alone.",
          stdout);
    printf("\ncommit %s\n", DATAREP_COMMIT);
    return tool_flush();
}
