/* label.c - what a file on the command line is called. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/label.h"
#include <stdio.h>
#include <string.h>

/* The library's name of standard input. */
static char place[64] = ":memory:";

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
