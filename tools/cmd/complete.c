/* complete.c - `datarep __complete`: what a shell may put where the cursor is.
 *
 * The shells' scripts hand over the line or its words and know nothing of commands; all
 * comes from the tables of the subcommands and from the file that stands on the line.
 * Records end with a NUL, as names hold any other byte.  The first byte tells their kind:
 *
 *   =ABOUT TAB TEXT   a candidate, and what it is in printable characters
 *   +ABOUT TAB TEXT   a candidate that the user goes on behind, without a space
 *   :files ENDS       names of files come here, above all those that end so
 *   :dirs             names of directories come here
 *   :default          what the shell completes without us comes here
 *
 * zsh and fish quote candidates themselves, and know their ways to show files.  bash does
 * neither safely for a completion function, so with --bash candidates come quoted and
 * files are listed here (behind ":files"). */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/complete.h"
#include "format/utf8.h"
#include "schema/members.h"
#include "tools/cmd/bashword.h"
#include "tools/cmd/table.h"
#include "tools/host/exit.h"
#include "tools/host/installed.h"
#include "tools/host/limit.h"
#include "tools/host/utf8.h"
#include "tools/text/print.h"
#include "tools/text/sink.h"
#include "tools/walk/field.h"
#include "tools/walk/walk.h"
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct completion_line {
    struct sink sink;
    char *const *words; /* behind "datarep"; the last one is being completed */
    int nwords;
    const struct bash_line *bash; /* quote for it; NULL: the shell quotes */
    const struct command *command;
    const char *now; /* the word, or what stands behind "--option=" in it */
    size_t before;   /* bytes of the word in front of `now` */
    const char *files[8];
    int nfiles, npaths; /* operands met so far */
};

/* -------------------------------------------------------------- candidates */

static void put_directive(struct completion_line *l, const char *text)
{
    sink_put(&l->sink, text, strlen(text) + 1);
}

/* True for text that zsh and fish may show: they take care of controls.  Names with other
 * characters that act on text, which only bash gets in escapes, are not offered. */
static bool shown_as_is(const char *text)
{
    uint32_t code;
    size_t n;

    for (; *text; text += n)
        if ((n = utf8_next(text, strnlen(text, 4), &code)) == 0 ||
            (code > 0x9f && utf8_control(code)))
            return false;
    return true;
}

/* A candidate that begins as the word does; with `more` the user goes on behind it. */
static void offer_going(struct completion_line *l, const char *text, const char *what, bool more)
{
    const char *word = l->words[l->nwords - 1];
    size_t size = l->before + strlen(text) + 1;
    char *whole, *about;

    if (strncmp(text, l->now, strlen(l->now)) != 0 || (!l->bash && !shown_as_is(text)))
        return;
    whole = malloc(size);
    about = utf8_shown(what ? what : "");
    if (whole && about) {
        memcpy(whole, word, l->before);
        strcpy(whole + l->before, text);
        sink_format(&l->sink, "%c%s\t", more ? '+' : '=', about);
        if (l->bash)
            bash_quote(&l->sink, l->bash, whole);
        else
            sink_text(&l->sink, whole);
        sink_char(&l->sink, '\0');
    }
    free(whole);
    free(about);
}

static void offer_word(struct completion_line *l, const char *text, const char *what)
{
    offer_going(l, text, what, false);
}

static int offer_datarep(const char *name, const char *form, void *ctx)
{
    (void)form;
    offer_word(ctx, name, "data representation");
    return 0;
}

/* A short description of an object. */
static void describe_link(drep_file *file, const char *path, const drep_linkinfo *link, char *text,
                          size_t size)
{
    static const char *const kinds[] = {"", "group", "dataset", "datatype", "dimension"};
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    char *type = NULL;
    size_t n;
    int d;

    snprintf(text, size, "%s",
             link->link == DREP_LINK_HARD && link->kind >= 1 && link->kind <= 4 ? kinds[link->kind]
                                                                                : "link");
    if (link->kind != DREP_OBJ_DATASET || drep_dataset_open(file, path, &ds))
        return;
    if (drep_dataset_info(ds, &info) == 0 && drep_type_print(info.type, &type) == 0) {
        n = (size_t)snprintf(text, size, "%.40s %s", type,
                             info.rank == DREP_NULL_SPACE ? "null" : "[");
        for (d = 0; d < info.rank && n < size; d++)
            n += (size_t)snprintf(text + n, size - n, "%lld%s", (long long)info.dims[d],
                                  d + 1 < info.rank ? ", " : "");
        if (n < size && info.rank != DREP_NULL_SPACE)
            snprintf(text + n, size - n, "]");
    }
    free(type);
    drep_dataset_close(ds);
}

struct members_of {
    struct completion_line *line;
    drep_file *file;
    const char *group; /* as it was typed, with a slash at its end */
};

static int offer_member(const drep_linkinfo *link, void *ctx)
{
    struct members_of *m = ctx;
    size_t size = strlen(m->group) + strlen(link->name) + 2;
    char *path = malloc(size), what[128];

    if (!path)
        return DREP_ERR_NOMEM;
    snprintf(path, size, "%s%s", m->group, link->name);
    if (strncmp(path, m->line->now, strlen(m->line->now)) == 0) {
        describe_link(m->file, path, link, what, sizeof what);
        /* Groups are on the way to something. */
        if (link->kind == DREP_OBJ_GROUP)
            strcat(path, "/");
        offer_going(m->line, path, what, link->kind == DREP_OBJ_GROUP);
    }
    free(path);
    return 0;
}

/* The home directory in place of "~/", malloc'ed. */
static char *expand_home(const char *path)
{
    const char *home = getenv("HOME");
    size_t size;
    char *out;

    if (strncmp(path, "~/", 2) != 0 || !home)
        return strdup(path);
    size = strlen(home) + strlen(path);
    out = malloc(size);
    if (out)
        snprintf(out, size, "%s%s", home, path + 1);
    return out;
}

/* A pipe would be waited for, and emptied. */
static bool is_regular(const char *path)
{
    struct stat st;

    return path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* A dimension, by the address that begins with the group as it was typed. */
static int offer_dimension(const drep_diminfo *info, void *ctx)
{
    struct members_of *m = ctx;
    size_t size = strlen(m->group) + strlen(info->name) + 2;
    char *path = malloc(size), what[64];

    if (!path)
        return DREP_ERR_NOMEM;
    snprintf(path, size, "%s#%s", m->group, info->name);
    if (info->kind == DREP_OBJ_UNKNOWN)
        snprintf(what, sizeof what, "%s", unknown_why(info->number));
    else
        snprintf(what, sizeof what, "dimension %lld%s", (long long)info->len,
                 info->unlimited ? "/unlimited" : "");
    if (strncmp(path, m->line->now, strlen(m->line->now)) == 0)
        offer_going(m->line, path, what, false);
    free(path);
    return 0;
}

/* The members of a struct, behind `begun`: a selection with "." at its end. */
static void offer_fields(struct completion_line *l, const drep_type *type, const char *begun)
{
    int64_t i;

    for (i = 0; i < drep_type_members(type); i++) {
        const char *name = drep_type_member_name(type, i);
        size_t size = strlen(begun) + (name ? strlen(name) : 0) + 1;
        char *text = name ? malloc(size) : NULL, *what = NULL;

        if (text && drep_type_print(drep_type_member(type, i), &what) == 0) {
            snprintf(text, size, "%s%s", begun, name);
            if (strncmp(text, l->now, strlen(l->now)) == 0)
                offer_going(l, text, what, false);
        }
        free(what);
        free(text);
    }
}

/* Members behind the selection of a dataset: "/t[0:3].va", "/t[].position.". */
static void offer_selected(struct completion_line *l, drep_file *file)
{
    const char *end = strstr(l->now, "]."), *bracket = end ? strchr(l->now, '[') : NULL;
    char *path = bracket ? strndup(l->now, (size_t)(bracket - l->now)) : NULL;
    char *begun = end ? strndup(l->now, (size_t)(strrchr(end, '.') + 1 - l->now)) : NULL;
    drep_type *inner = NULL;
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;

    if (path && begun && drep_dataset_open(file, path, &ds) == 0) {
        size_t behind = (size_t)(end - l->now) + 2, len = strlen(begun) - 1;
        bool nested = len >= behind;

        if (drep_dataset_info(ds, &info) == 0 && nested) {
            begun[len] = '\0';
            if (field_type(info.type, begun + behind, &inner) == 0)
                info.type = inner;
            begun[len] = '.';
        }
        if (!nested || inner)
            offer_fields(l, info.type, begun);
        drep_type_free(inner);
        drep_dataset_close(ds);
    }
    free(path);
    free(begun);
}

/* Paths inside a file.  Whatever is wrong with it, nobody wants to hear of it now. */
static void offer_paths(struct completion_line *l, const char *name)
{
    struct members_of m = {.line = l};
    const char *slash = strrchr(l->now, '/'), *mark;
    char *path = expand_home(name), *group;

    /* Without a slash it is in the root group; what has not begun begins with one. */
    group = slash ? strndup(l->now, (size_t)(slash - l->now) + 1) : strdup(*l->now ? "" : "/");
    if (is_regular(path) && group &&
        drep_open(path, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &m.file) == 0) {
        m.group = group;
        (void)drep_list(m.file, *group ? group : "/", DREP_BY_NAME, offer_member, &m);
        offer_selected(l, m.file);
        /* The mark of a dimension may stand behind its group without a slash. */
        mark = strchr(slash ? slash : l->now, '#');
        if (mark) {
            free(group);
            m.group = group = strndup(l->now, (size_t)(mark - l->now));
        }
        if (group)
            (void)drep_dimension_list(m.file, *group ? group : "/", DREP_BY_NAME, offer_dimension,
                                      &m);
        drep_close(m.file);
    }
    free(path);
    free(group);
}

/* ------------------------------------------------------------------- files */

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* True if the name ends in one of the words. */
static bool ends_so(const char *name, const char *ends)
{
    size_t size = strlen(name), n;

    for (; *ends; ends += n + strspn(ends + n, " ")) {
        n = strcspn(ends, " ");
        if (n <= size && strncmp(name + size - n, ends, n) == 0)
            return true;
    }
    return false;
}

enum choice { DIRECTORIES, THAT_END_SO, ALL };

/* Offers the names of a directory; gives how many fitted. */
static int offer_names(struct completion_line *l, const char *path, const char *ends,
                       enum choice choice)
{
    size_t lead = (size_t)(strrchr(l->now, '/') ? strrchr(l->now, '/') + 1 - l->now : 0);
    DIR *dir = opendir(*path ? path : ".");
    struct dirent *entry;
    bool folder;
    int n = 0;

    while (dir && (entry = readdir(dir))) {
        const char *name = entry->d_name;
        size_t size = strlen(path) + lead + strlen(name) + 2;
        char *text;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            (name[0] == '.' && l->now[lead] != '.') ||
            strncmp(name, l->now + lead, strlen(l->now + lead)) != 0 || !(text = malloc(size)))
            continue;
        snprintf(text, size, "%s%s", path, name);
        folder = is_directory(text);
        if (folder || choice == ALL || (choice == THAT_END_SO && ends_so(name, ends))) {
            snprintf(text, size, "%.*s%s%s", (int)lead, l->now, name, folder ? "/" : "");
            offer_going(l, text, NULL, folder);
            n++;
        }
        free(text);
    }
    if (dir)
        closedir(dir);
    return n;
}

/* Names of files that end so, and directories; any file where there is none. */
static void offer_files(struct completion_line *l, const char *ends, bool directories)
{
    const char *slash = strrchr(l->now, '/');
    char *folder, *path;

    if (!l->bash) {
        sink_text(&l->sink, directories ? ":dirs" : ":files");
        sink_format(&l->sink, "%s%s%c", *ends ? " " : "", ends, '\0');
        return;
    }
    /* Only bash knows what it would expand. */
    put_directive(l, l->bash->expands ? ":default" : ":files");
    folder = strndup(l->now, slash ? (size_t)(slash - l->now) + 1 : 0);
    path = folder && l->bash->tilde && !l->before ? expand_home(folder) : folder;
    if (path && !l->bash->expands &&
        offer_names(l, path, ends,
                    directories ? DIRECTORIES
                    : *ends     ? THAT_END_SO
                                : ALL) == 0 &&
        !directories)
        offer_names(l, path, ends, ALL);
    if (path != folder)
        free(path);
    free(folder);
}

/* Installed schemas are found by their names. */
static void offer_schemas(struct completion_line *l)
{
    char folder[PATH_MAX + 1];
    DIR *dir = installed_schemas(folder, sizeof folder) ? opendir(folder) : NULL;
    struct dirent *entry;
    const char *end;

    while (dir && (entry = readdir(dir))) {
        end = strrchr(entry->d_name, '.');
        if (end && strcmp(end, ".yaml") == 0)
            offer_word(l, entry->d_name, "installed schema");
    }
    if (dir)
        closedir(dir);
}

/* Programs of others for netCDF files, and any other by its path. */
static void offer_programs(struct completion_line *l)
{
    static const char *const known[] = {
        "cdo",  "ncap2", "ncatted", "ncbo",   "nccopy", "ncdump", "nces",    "ncflint", "ncgen",
        "ncks", "ncpdq", "ncra",    "ncrcat", "ncwa",   "octave", "python3", "R",       "Rscript"};
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        offer_word(l, known[i], "program for netCDF files");
    offer_files(l, "", false);
}

/* ------------------------------------------------------------ kinds of words */

static void offer_words(struct completion_line *l, const char *words);

static void offer_kind(struct completion_line *l, const char *kind)
{
    int which;

    if (strcmp(kind, "<drep>") == 0)
        offer_files(l, ".drep", false);
    else if (strcmp(kind, "<hdf5>") == 0)
        offer_files(l, ".h5 .hdf5 .nc .nc4 .he5", false);
    else if (strcmp(kind, "<schema>") == 0) {
        offer_schemas(l);
        offer_files(l, ".yaml .yml", false);
    } else if (strcmp(kind, "<file>") == 0)
        offer_files(l, "", false);
    else if (strcmp(kind, "<dir>") == 0)
        offer_files(l, "", true);
    else if (strcmp(kind, "<program>") == 0)
        offer_programs(l);
    else if (strcmp(kind, "<limit>") == 0)
        offer_words(l, limit_words);
    else if (strcmp(kind, "<datarep>") == 0)
        drep_datarep_walk(offer_datarep, l);
    else if (strcmp(kind, "<path>") == 0 && l->nfiles > 0) {
        /* The second path is of the second file, if there is one. */
        which = l->npaths < l->nfiles ? l->npaths : l->nfiles - 1;
        offer_paths(l, l->files[which]);
    }
}

/* Words with spaces between, some of them kinds; a value is typed behind "name=". */
static void offer_words(struct completion_line *l, const char *words)
{
    char *copy = words ? strdup(words) : NULL, *rest = copy, *word;

    while (copy && (word = strsep(&rest, " "))) {
        if (*word == '<')
            offer_kind(l, word);
        else if (*word)
            offer_going(l, word, NULL, word[strlen(word) - 1] == '=');
    }
    free(copy);
}

static void offer_options(struct completion_line *l)
{
    const struct option_row *row;
    char text[80];

    for (row = l->command->options; row->name; row++) {
        bool value = row->arg && *row->arg != '[';

        snprintf(text, sizeof text, "--%s%s", row->name, value ? "=" : "");
        offer_going(l, text, row->help, value);
    }
    offer_word(l, "--help", "a short help");
}

static void offer_commands(struct completion_line *l)
{
    size_t i;

    for (i = 0; commands[i]; i++)
        offer_word(l, commands[i]->name, commands[i]->summary);
    offer_word(l, "help", "help of a command");
    if (*l->now == '-') {
        offer_word(l, "--help", "the commands");
        offer_word(l, "--version", "what this command was built of");
    }
}

/* ------------------------------------------------------------------ the line */

static const struct option_row *find_long(const struct command *command, const char *name,
                                          size_t len)
{
    const struct option_row *row;

    for (row = command->options; row->name; row++)
        if (strlen(row->name) == len && strncmp(row->name, name, len) == 0)
            return row;
    return NULL;
}

static const struct option_row *find_letter(const struct command *command, char letter)
{
    const struct option_row *row;

    for (row = command->options; row->name; row++)
        if (row->id == letter)
            return row;
    return NULL;
}

static bool has_argument(const struct option_row *row)
{
    return row && row->arg && *row->arg != '[';
}

/* The option that takes the word after this one as its argument, or NULL. */
static const struct option_row *wants_next(const struct command *command, const char *word)
{
    const struct option_row *row = NULL;

    if (strncmp(word, "--", 2) == 0) {
        row = strchr(word, '=') ? NULL : find_long(command, word + 2, strlen(word + 2));
        return has_argument(row) ? row : NULL;
    }
    /* In a word of letters the first that takes an argument takes the rest, if any. */
    while (*++word && !has_argument(row))
        row = find_letter(command, *word);
    return has_argument(row) && !*word ? row : NULL;
}

/* The kind of operand number `n`, in `kind`; "" when there may be no more. */
static void operand_kind(const struct command *command, int n, char *kind, size_t size)
{
    const char *p = command->operands;
    size_t len;

    for (;; p += len + 1, n--) {
        len = strcspn(p, " ");
        snprintf(kind, size, "%.*s", (int)len, p);
        if (len > 3 && strcmp(kind + len - 3, "...") == 0) {
            kind[len - 3] = '\0';
            return;
        }
        if (n == 0)
            return;
        if (!p[len])
            break;
    }
    kind[0] = '\0';
}

/* Operands before the word; *value: the option whose argument the word is, or NULL. */
static int take_operands(struct completion_line *l, const struct option_row **value,
                         bool *options_end)
{
    int i, n = 0;
    char kind[32];

    *value = NULL;
    *options_end = false;
    for (i = 1; i < l->nwords - 1; i++) {
        const char *word = l->words[i];

        if (*value) {
            *value = NULL;
        } else if (!*options_end && strcmp(word, "--") == 0) {
            *options_end = true;
        } else if (!*options_end && word[0] == '-' && word[1]) {
            *value = wants_next(l->command, word);
        } else {
            operand_kind(l->command, n++, kind, sizeof kind);
            *options_end |= l->command->first_ends;
            if (strcmp(kind, "<path>") == 0)
                l->npaths++;
            else if (l->nfiles < 8)
                l->files[l->nfiles++] = word;
        }
    }
    return n;
}

static void complete_words(struct completion_line *l)
{
    const char *word = l->words[l->nwords - 1], *equals;
    const struct option_row *value;
    bool options_end;
    char kind[32];
    int n;

    l->now = word;
    if (l->nwords == 1) {
        offer_commands(l);
        return;
    }
    if (strcmp(l->words[0], "help") == 0 && l->nwords == 2) {
        offer_commands(l);
        return;
    }
    l->command = command_find(l->words[0]);
    if (!l->command)
        return;
    n = take_operands(l, &value, &options_end);
    equals = strchr(word, '=');
    if (!value && !options_end && strncmp(word, "--", 2) == 0 && equals) {
        value = find_long(l->command, word + 2, (size_t)(equals - word) - 2);
        l->before = (size_t)(equals - word) + 1;
        l->now = equals + 1;
        if (!value)
            return;
    }
    if (value) {
        offer_words(l, value->values);
        return;
    }
    if (!options_end && *word == '-') {
        offer_options(l);
        return;
    }
    operand_kind(l->command, n, kind, sizeof kind);
    offer_words(l, kind);
}

static int complete_bash(const char *replaced, const char *text)
{
    struct bash_line bash;
    struct completion_line l = {.bash = &bash};

    if (!bash_line_read(&bash, text, replaced) || sink_init(&l.sink, STDOUT_FILENO)) {
        bash_line_release(&bash);
        return TOOL_USAGE;
    }
    l.words = bash.word;
    l.nwords = bash.n;
    if (bash.redirect)
        put_directive(&l, ":default");
    else if (bash.n > 0 && bash.known)
        complete_words(&l);
    bash_line_release(&bash);
    return sink_close(&l.sink);
}

int complete(int argc, char **argv)
{
    struct completion_line l = {.words = argv + 1, .nwords = argc - 1};

    if (argc == 4 && strcmp(argv[1], "--bash") == 0)
        return complete_bash(argv[2], argv[3]);
    if (argc < 2 || sink_init(&l.sink, STDOUT_FILENO))
        return TOOL_USAGE;
    complete_words(&l);
    return sink_close(&l.sink);
}
