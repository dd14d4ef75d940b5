/* command.h - what a subcommand says of itself.
 *
 * One table a subcommand: its help, the options that getopt looks for, suggestions for
 * misspelt ones and what a shell completes all come from it, so they cannot differ. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_COMMAND_H
#define TOOLS_CMD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct option_row {
    int id;             /* its letter; from OPTION_LONG on one that has none */
    const char *name;   /* behind the two dashes */
    const char *arg;    /* its argument in the help, NULL: none; "[X]": may be left out */
    const char *help;   /* one line, or several with '\n' between */
    const char *values; /* for completion: words with spaces between, or one of the kinds
                           below in <>; NULL: nothing to offer */
};

enum {
    OPTION_LONG = 256,
    OPTION_COLOR = 1000,
    OPTION_PLUGINS,
    OPTION_COMMIT,
    OPTION_LIMIT,
    OPTION_LOCK_WAIT,
    OPTION_EXTERNAL
};

/* Options that several subcommands have; the ids are the ones above. */
#define OPTION_ROW_COLOR                                                                     \
    {                                                                                        \
        OPTION_COLOR, "color", "[WHEN]", "use colours: auto (on a terminal), always, never", \
            "auto always never"                                                              \
    }
#define OPTION_ROW_PLUGINS                                                                         \
    {                                                                                              \
        OPTION_PLUGINS, "plugins", "DIRS", "search there for representations and filters", "<dir>" \
    }

#define OPTION_ROW_COMMIT                                                         \
    {                                                                             \
        OPTION_COMMIT, "commit", "N", "use an earlier commit (`datarep log`)", "" \
    }

/* Subcommands that make a file have both; outfile_permit() decides. */
#define OPTION_ROWS_REPLACE                                                         \
    {'f', "force", NULL, "replace a file that exists and is not empty", NULL},      \
    {                                                                               \
        'n', "no-clobber", NULL, "fail also if the file that exists is empty", NULL \
    }

/* Each subcommand that opens files has it; option_next() takes it to limit.h. */
#define OPTION_ROW_LIMIT                                                                          \
    {                                                                                             \
        OPTION_LIMIT, "limit", "NAME=VALUE", "set a resource limit (`datarep --help`)", "<limit>" \
    }

/* Subcommands that read elements have it; option_next() takes it to open.h. */
#define OPTION_ROW_EXTERNAL                                                   \
    {                                                                         \
        OPTION_EXTERNAL, "external", NULL,                                    \
            "open other files that FILE refers to, below its directory", NULL \
    }

/* Subcommands that change files have it; option_next() takes it to open.h. */
#define OPTION_ROW_LOCK_WAIT                                           \
    {                                                                  \
        OPTION_LOCK_WAIT, "lock-wait", "TIME",                         \
            "seconds to wait while another process writes to FILE", "" \
    }

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name; gives an exit code */
    const char *summary;               /* for the list of all */
    const char *usage;                 /* behind "Usage: datarep NAME "; '\n': another form */
    const char *about;                 /* what it does, in lines */
    const struct option_row *options;  /* ends with a row without name; --help is added */
    const char *examples;              /* two lines */
    /* What each operand is, for completion: words with spaces between, <drep>, <hdf5>,
     * <file>, <dir>, <path> (inside the file before it), <datarep>, <program>; the last may
     * end in "..." for more of the same. */
    const char *operands;
    bool first_ends; /* options end at the first operand: those behind it are another program's */
};

#define X(name) extern const struct command name##_command;
#include "tools/cmd/commands.def"
#undef X

/* Walks over the options of a command line. */
struct options {
    const struct command *command;
    int argc;
    char **argv;
    int status; /* when option_next() gives -1: the exit code to return */
};

/* The id of the next option, its argument in optarg (NULL: none); 0 behind the last, with
 * argv[optind] the first operand; -1 when the run ends here, because help was asked for
 * and printed, or because the option is wrong and that was said. */
int option_next(struct options *o);
/* argv's operands, when there are at least `least` and at most `most` of them.  Else says
 * what is missing ("which file?") or that there are too many, and gives NULL; o->status is
 * the exit code then. */
char **option_operands(struct options *o, int least, int most, const char *missing);

#endif
