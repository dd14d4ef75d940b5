/* recipe.h - schemas that a command line names. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_RECIPE_H
#define TOOLS_FLAT_RECIPE_H

#include <stddef.h>

/* The data representations that a schema declares are known from here on; `datarep` gets the
 * one that it says.  An exit code. */
int recipe_datarep(const char *name, char *datarep, size_t size);

#if HAVE_YAML
#include "schema/schema.h"

struct recipe {
    const char *name; /* for messages */
    struct schema *schema;
    char *folder; /* where the files that it names are */
    char *found;  /* the path of an installed schema; NULL: the name that was given */
};

/* Reads and checks the schema in a file, "-": standard input.  A name without a slash that is
 * no file here is that of an installed schema, with or without ".yaml".  The files that it names
 * are those in its folder (the working directory) and below; links lead nowhere else.  0, or an
 * exit code after saying what is wrong.  The recipe must not move after that. */
int recipe_read(struct recipe *out, const char *name);
void recipe_release(struct recipe *recipe);

/* A schema_say_fn for a recipe: on stderr as compilers do it, so that editors find the
 * place. */
void recipe_say(void *recipe, int line, int column, const char *message);
#endif

#endif
