/* complete.c - `datarep __complete`: what a shell may put where the cursor is.
 *
 * The shells' scripts hand over the line or its words and know nothing of commands; all
 * comes from the tables of the subcommands and from the file that stands on the line.
 * One candidate a line, behind a tab what it is.  Lines that begin with a colon tell the
 * script something:
 *
 *   :word TEXT     the word that is being completed, without quotes
 *   :files PATTERN names of files, above all those that end so ("" for any)
 *   :dirs          names of directories
 *   :nospace       the word goes on behind what is completed */
#include "complete.h"
#include "command.h"
#include "limit.h"
#include "sink.h"
#include "tool.h"
#include "walk.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS_MAX 256

struct words {
    char *word[WORDS_MAX]; /* behind "datarep"; the last one is being completed */
    int n;
};

struct line {
    struct sink sink;
    const struct words *words;
    const struct command *command;
    const char *now; /* the word, or what stands behind "--option=" in it */
    size_t before;   /* bytes of the word in front of `now` */
    const char *files[8];
    int nfiles, npaths; /* operands met so far */
};

/* -------------------------------------------------------------- candidates */

/* Whether it holds what ends a line, or tells a terminal to do something. */
static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

/* One that begins as the word does. */
static void offer(struct line *l, const char *text, const char *what)
{
    const char *word = l->words->word[l->words->n - 1];

    if (strncmp(text, l->now, strlen(l->now)) != 0 || has_control(text))
        return;
    sink_put(&l->sink, word, l->before);
    sink_text(&l->sink, text);
    if (what && *what)
        sink_char(&l->sink, '\t');
    for (; what && *what; what++)
        sink_char(&l->sink, *what == '\n' ? ' ' : *what);
    sink_char(&l->sink, '\n');
}

static int offer_datarep(const char *name, const char *form, void *ctx)
{
    (void)form;
    offer(ctx, name, "data representation");
    return 0;
}

/* What an object is, in a few words. */
static void describe(drep_file *file, const char *path, const drep_linkinfo *link, char *text,
                     size_t size)
{
    static const char *const kinds[] = {"", "group", "dataset", "datatype", "dimension"};
    drep_dsinfo info;
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
    struct line *line;
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
        describe(m->file, path, link, what, sizeof what);
        /* Groups are on the way to something. */
        if (link->kind == DREP_OBJ_GROUP) {
            strcat(path, "/");
            sink_text(&m->line->sink, ":nospace\n");
        }
        offer(m->line, path, what);
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

/* Paths inside a file.  Whatever is wrong with it, nobody wants to hear of it now. */
static void offer_paths(struct line *l, const char *name)
{
    struct members_of m = {.line = l};
    const char *slash = strrchr(l->now, '/');
    char *path = expand_home(name), *group;

    /* Without a slash it is in the root group; what has not begun begins with one. */
    group = slash ? strndup(l->now, (size_t)(slash - l->now) + 1) : strdup(*l->now ? "" : "/");
    if (is_regular(path) && group &&
        drep_open(path, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &m.file) == 0) {
        m.group = group;
        (void)drep_list(m.file, *group ? group : "/", DREP_BY_NAME, offer_member, &m);
        drep_close(m.file);
    }
    free(path);
    free(group);
}

/* ------------------------------------------------------------ kinds of words */

static void offer_words(struct line *l, const char *words);

/* The value is typed behind the name. */
static void offer_limits(struct line *l)
{
    sink_text(&l->sink, ":nospace\n");
    offer_words(l, limit_words);
}

static void offer_kind(struct line *l, const char *kind)
{
    int which;

    if (strcmp(kind, "<drep>") == 0)
        sink_text(&l->sink, ":files .drep\n");
    else if (strcmp(kind, "<hdf5>") == 0)
        sink_text(&l->sink, ":files .h5 .hdf5 .nc .nc4 .he5\n");
    else if (strcmp(kind, "<schema>") == 0)
        sink_text(&l->sink, ":files .yaml .yml\n");
    else if (strcmp(kind, "<file>") == 0)
        sink_text(&l->sink, ":files\n");
    else if (strcmp(kind, "<dir>") == 0)
        sink_text(&l->sink, ":dirs\n");
    else if (strcmp(kind, "<limit>") == 0)
        offer_limits(l);
    else if (strcmp(kind, "<datarep>") == 0)
        drep_datarep_walk(offer_datarep, l);
    else if (strcmp(kind, "<path>") == 0 && l->nfiles > 0) {
        /* The second path is of the second file, if there is one. */
        which = l->npaths < l->nfiles ? l->npaths : l->nfiles - 1;
        offer_paths(l, l->files[which]);
    }
}

/* Words with spaces between, some of them kinds. */
static void offer_words(struct line *l, const char *words)
{
    char *copy = words ? strdup(words) : NULL, *rest = copy, *word;

    while (copy && (word = strsep(&rest, " ")) != NULL) {
        if (*word == '<')
            offer_kind(l, word);
        else if (*word)
            offer(l, word, NULL);
    }
    free(copy);
}

static void offer_options(struct line *l)
{
    const struct option_row *row;
    char text[80];

    for (row = l->command->options; row->name; row++) {
        snprintf(text, sizeof text, "--%s%s", row->name, row->arg && *row->arg != '[' ? "=" : "");
        if (row->arg && *row->arg != '[' && strncmp(text, l->now, strlen(l->now)) == 0)
            sink_text(&l->sink, ":nospace\n");
        offer(l, text, row->help);
    }
    offer(l, "--help", "a short help");
}

static void offer_commands(struct line *l)
{
    size_t i;

    for (i = 0; commands[i]; i++)
        offer(l, commands[i]->name, commands[i]->summary);
    offer(l, "help", "help of a command");
    if (*l->now == '-') {
        offer(l, "--help", "the commands");
        offer(l, "--version", "what this command was built of");
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
    /* Of letters in one word the first with an argument takes the rest, if there is any. */
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
static int take_operands(struct line *l, const struct option_row **value, bool *options_end)
{
    int i, n = 0;
    char kind[32];

    *value = NULL;
    *options_end = false;
    for (i = 1; i < l->words->n - 1; i++) {
        const char *word = l->words->word[i];

        if (*value) {
            *value = NULL;
        } else if (!*options_end && strcmp(word, "--") == 0) {
            *options_end = true;
        } else if (!*options_end && word[0] == '-' && word[1]) {
            *value = wants_next(l->command, word);
        } else {
            operand_kind(l->command, n++, kind, sizeof kind);
            if (strcmp(kind, "<path>") == 0)
                l->npaths++;
            else if (l->nfiles < 8)
                l->files[l->nfiles++] = word;
        }
    }
    return n;
}

static void complete_words(struct line *l)
{
    const char *word = l->words->word[l->words->n - 1], *equals;
    const struct option_row *value;
    bool options_end;
    char kind[32];
    int n;

    l->now = word;
    if (l->words->n == 1) {
        offer_commands(l);
        return;
    }
    if (strcmp(l->words->word[0], "help") == 0 && l->words->n == 2) {
        offer_commands(l);
        return;
    }
    l->command = command_find(l->words->word[0]);
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

/* -------------------------------------------------------------- shell's words */

/* One word of a shell's line, without its quotes; *end: where it ends.  A quote that is
 * not closed ends with the line. */
static char *take_word(const char *p, const char **end)
{
    char *word = malloc(strlen(p) + 1), quote = 0;
    size_t n = 0;

    for (; word && *p && (quote || (*p != ' ' && *p != '\t')); p++) {
        if (quote ? *p == quote : *p == '"' || *p == '\'') {
            quote = quote ? 0 : *p;
            continue;
        }
        if (*p == '\\' && quote != '\'' && p[1])
            p++;
        word[n++] = *p;
    }
    if (word)
        word[n] = '\0';
    *end = p;
    return word;
}

/* Only what follows the last of these is a part of this command. */
static bool ends_command(const char *word)
{
    return strcmp(word, "|") == 0 || strcmp(word, "||") == 0 || strcmp(word, "&&") == 0 ||
           strcmp(word, ";") == 0;
}

static void words_release(struct words *w)
{
    while (w->n > 0)
        free(w->word[--w->n]);
}

/* Whether this is what the command is called by. */
static bool is_command(const char *word)
{
    const char *slash = strrchr(word, '/');

    return strcmp(slash ? slash + 1 : word, "datarep") == 0;
}

/* The words of a line behind the command's name, up to the cursor. */
static void split(struct words *w, const char *line)
{
    bool begun = false, last = false;
    char *word;

    *w = (struct words){.n = 0};
    while (!last && w->n < WORDS_MAX) {
        line += strspn(line, " \t");
        /* Behind a space an empty word begins. */
        word = take_word(line, &line);
        last = !*line;
        if (!word)
            return;
        if (begun && ends_command(word)) {
            words_release(w);
            begun = false;
            free(word);
        } else if (begun) {
            w->word[w->n++] = word;
        } else {
            begun = is_command(word);
            free(word);
        }
    }
}

int complete(int argc, char **argv)
{
    struct words words = {.n = 0}, *w = &words;
    struct line l = {.words = w};
    int i;

    if (argc > 2 && strcmp(argv[1], "--line") == 0)
        split(w, argv[2]);
    else
        for (i = 1; i < argc && w->n < WORDS_MAX; i++)
            w->word[w->n++] = strdup(argv[i]);
    for (i = 0; i < w->n && w->word[i]; i++)
        ;
    if (w->n == 0 || i < w->n || sink_init(&l.sink, STDOUT_FILENO)) {
        words_release(w);
        return TOOL_USAGE;
    }
    if (argc > 2 && strcmp(argv[1], "--line") == 0)
        sink_format(&l.sink, ":word %s\n", w->word[w->n - 1]);
    complete_words(&l);
    words_release(w);
    return sink_close(&l.sink);
}
