/* version.c - `datarep --version`. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/version.h"
#include "tools/host/cage.h"
#include "tools/host/message.h"
#include "tools/host/module.h"
#include <datarep.h>
#include <string.h>

#ifndef DATAREP_COMMIT
#define DATAREP_COMMIT "unknown"
#endif

struct version_line {
    int width;
};

/* Continues the list on another line where it gets long. */
static int put_name(const char *name, const char *form, void *ctx)
{
    struct version_line *line = ctx;

    (void)form;
    if (line->width + (int)strlen(name) > 78) {
        fputs("\n  ", stdout);
        line->width = 1;
    }
    line->width += printf(" %s", name);
    return 0;
}

int version_print(void)
{
    struct version_line line = {.width = 8};
    char offers[100];

    printf("%s\n", drep_version());
    fputs("datareps", stdout);
    drep_datarep_walk(put_name, &line);
    fputs("\nmodules", stdout);
    module_list(stdout);
    cage_offers(offers, sizeof offers);
    printf("\nconfined by file list%s%s (import)", *offers ? ", " : "", offers);
    fputs("\nThe format is draft 4.  The next draft will convert files of this one\n"
          "(`datarep convert`) and not read them; from draft 5 on no file will be refused\n"
          "for its age.",
          stdout);
    printf("\ncommit %s\n", DATAREP_COMMIT);
    return tool_flush();
}
