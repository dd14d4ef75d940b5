/* csv_in.c - a table in CSV as a source.
 *
 * The file is read twice: to count its records, and to tell the types of its columns where
 * nobody said them; then for the values, which become elements as those of a schema do. */
/* SPDX-License-Identifier: MIT */
#include "schema/number.h"
#include "schema/paths.h"
#include "schema/value.h"
#include "tools/flat/csv.h"
#include "tools/flat/csv_columns.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/utf8.h"
#include "tools/text/cf.h"
#include "tools/text/printer.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct csv_source {
    struct csv_table table;
    struct csv csv;
    struct complaints complaints;
    struct encoder encoder;
    struct columns columns;
    drep_type *type, *held; /* of what a record makes, or of each of its elements */
    size_t *field;          /* by column: which field of a record */
    char **name;            /* of the fields, when there is a header */
    char ***by_name;        /* places in name, in the order of the names */
    size_t fields;
    int64_t records;
    struct cf *cf; /* of each column: its times */
    char date[400];
};

static void say_complaint(void *ctx, int line, int column, const char *message)
{
    csv_wrong(ctx, line, column, "%s", message);
}

static void csv_source_release(struct source *s)
{
    struct csv_source *c = s->own;
    size_t i;

    for (i = 0; c->name && i < c->fields; i++)
        free(c->name[i]);
    free(c->name);
    free(c->by_name);
    free(c->field);
    free(c->cf);
    columns_release(&c->columns);
    drep_type_free(c->type);
    drep_type_free(c->held);
    csv_release(&c->csv);
    free(c);
}

/* ------------------------------------------------------------------- fields */

static bool is_missing(const struct csv_source *c, const struct csv_field *f)
{
    return !f->quoted && strcmp(f->text, c->table.missing) == 0 && strlen(f->text) == f->size;
}

/* Numbers may have blanks around them. */
static void trim(struct csv_field *f)
{
    while (f->size > 0 && (*f->text == ' ' || *f->text == '\t')) {
        f->text++;
        f->size--;
        f->column++;
    }
    while (f->size > 0 && (f->text[f->size - 1] == ' ' || f->text[f->size - 1] == '\t'))
        f->size--;
    f->text[f->size] = '\0';
}

/* ---------------------------------------------------------------- inference */

/* What the fields of a column have been so far; each holds those before it, but for
 * BOOLEAN. */
enum csv_guess {
    GUESS_NOTHING,
    GUESS_BOOLEAN,
    GUESS_INTEGER,
    GUESS_UNSIGNED,
    GUESS_REAL,
    GUESS_TEXT
};

struct guesses {
    enum csv_guess *list;
    bool *missing;
    bool *wide; /* an integer that no DOUBLE is */
};

/* 007 is a name, not a number. */
static bool leading_zero(const char *text)
{
    text += *text == '-' || *text == '+';
    return text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

static enum csv_guess guess_field(struct csv_field *f)
{
    struct integer n;
    int64_t here;
    int which;

    if (strlen(f->text) != f->size)
        return GUESS_TEXT;
    trim(f);
    if (strcmp(f->text, "true") == 0 || strcmp(f->text, "false") == 0 ||
        strcmp(f->text, "True") == 0 || strcmp(f->text, "False") == 0 ||
        strcmp(f->text, "TRUE") == 0 || strcmp(f->text, "FALSE") == 0)
        return GUESS_BOOLEAN;
    if (leading_zero(f->text))
        return GUESS_TEXT;
    which = number_special(f->text);
    if (which)
        return GUESS_REAL;
    if (f->text[strspn(f->text, "+-0123456789")] == '\0') {
        if (!number_integer(f->text, &n))
            return GUESS_TEXT; /* of more than 128 bits, or none */
        if (number_store(&n, 8, true, &here))
            return GUESS_INTEGER;
        return number_store(&n, 8, false, &here) ? GUESS_UNSIGNED : GUESS_TEXT;
    }
    return number_is_real(f->text) ? GUESS_REAL : GUESS_TEXT;
}

static enum csv_guess guess_both(enum csv_guess a, enum csv_guess b)
{
    enum csv_guess least = a < b ? a : b, most = a < b ? b : a;

    if (least == GUESS_BOOLEAN && most != GUESS_BOOLEAN)
        return GUESS_TEXT;
    return most;
}

/* True if a DOUBLE is this integer of at most 64 bits: 53 from the first to the last that is 1. */
static bool is_double(const char *text)
{
    struct integer n = {0};

    number_integer(text, &n);
    while (n.low && !(n.low & 1))
        n.low >>= 1;
    return n.low >> 53 == 0;
}

/* A negative number and one beyond 2^63 go together as text only; told apart here, because
 * the two alone would not tell. */
static void note_field(struct guesses *g, size_t i, struct csv_field *f, bool *negative)
{
    enum csv_guess one = guess_field(f);

    if (one == GUESS_INTEGER && *f->text == '-')
        negative[i] = true;
    if (one == GUESS_INTEGER || one == GUESS_UNSIGNED)
        g->wide[i] |= !is_double(f->text);
    g->list[i] = guess_both(g->list[i], one);
    if (g->list[i] == GUESS_UNSIGNED && negative[i])
        g->list[i] = GUESS_TEXT;
}

static int guess_type(enum csv_guess guess, bool missing, bool wide, drep_type **out)
{
    if (missing && (guess == GUESS_INTEGER || guess == GUESS_UNSIGNED))
        guess = GUESS_REAL; /* which has NaN for what is missing */
    if (wide && guess == GUESS_REAL)
        guess = GUESS_TEXT;
    if (missing && guess == GUESS_BOOLEAN)
        guess = GUESS_TEXT;
    if (guess == GUESS_BOOLEAN)
        return drep_type_boolean(DREP_INT8_T, out);
    if (guess == GUESS_TEXT || guess == GUESS_NOTHING)
        return drep_type_vstring(out);
    *out = drep_type_ref(guess == GUESS_REAL       ? DREP_DOUBLE
                         : guess == GUESS_UNSIGNED ? DREP_UINT64_T
                                                   : DREP_INT64_T);
    return 0;
}

static int scan_record(struct csv_source *c, struct guesses *g, bool *negative)
{
    size_t i;

    if (c->csv.fields != c->fields)
        return csv_wrong(&c->csv, c->csv.field[0].line, c->csv.field[0].column,
                         "%zu fields, not %zu", c->csv.fields, c->fields);
    c->records++;
    for (i = 0; i < c->fields && g; i++) {
        if (is_missing(c, &c->csv.field[i]))
            g->missing[i] = true;
        else
            note_field(g, i, &c->csv.field[i], negative);
    }
    return 0;
}

/* Counts the records; g, when not NULL, is told of every field. */
static int scan_table(struct csv_source *c, struct guesses *g)
{
    bool *negative = calloc(c->fields + 1, 1);
    int status = negative ? 0 : tool_no_memory();

    while (!status) {
        status = csv_next(&c->csv);
        if (status || c->csv.fields == 0)
            break;
        status = scan_record(c, g, negative);
    }
    free(negative);
    return status;
}

/* Numbers alone, without names: a matrix of the widest of them. */
static bool is_matrix(const struct csv_source *c, const struct guesses *g, drep_type **out)
{
    enum csv_guess all = GUESS_NOTHING;
    bool missing = false, wide = false;
    size_t i;

    for (i = 0; i < c->fields; i++) {
        all = guess_both(all, g->list[i]);
        missing = missing || g->missing[i];
        wide = wide || g->wide[i];
    }
    return !c->name && c->fields > 1 && all >= GUESS_INTEGER && all <= GUESS_REAL &&
           !(wide && (missing || all == GUESS_REAL)) && guess_type(all, missing, wide, out) == 0;
}

static int table_type(const struct csv_source *c, const struct guesses *g, drep_type **out)
{
    const drep_type **types = calloc(c->fields + 1, sizeof *types);
    const char **names = calloc(c->fields + 1, sizeof *names);
    char(*made)[32] = calloc(c->fields + 1, sizeof *made);
    int err = types && names && made ? 0 : DREP_ERR_NOMEM;
    drep_type *type;
    size_t i;

    for (i = 0; i < c->fields && !err; i++) {
        err = guess_type(g->list[i], g->missing[i], g->wide[i], &type);
        types[i] = err ? NULL : type;
        snprintf(made[i], sizeof *made, "column%zu", i + 1);
        names[i] = c->name ? c->name[i] : made[i];
    }
    if (!err)
        err = drep_type_compound((int64_t)c->fields, names, NULL, types, 0, out);
    for (i = 0; types && i < c->fields; i++)
        drep_type_free((drep_type *)types[i]);
    free(types);
    free(names);
    free(made);
    return err;
}

static int infer(struct csv_source *c)
{
    struct guesses g = {.list = calloc(c->fields + 1, sizeof *g.list),
                        .missing = calloc(c->fields + 1, sizeof *g.missing),
                        .wide = calloc(c->fields + 1, sizeof *g.wide)};
    int err = 0, status = g.list && g.missing && g.wide ? scan_table(c, &g) : tool_no_memory();
    char *text;

    if (!status && is_matrix(c, &g, &c->type))
        c->table.width = (int64_t)c->fields;
    else if (!status)
        err = table_type(c, &g, &c->type);
    if (err)
        status = tool_fail(c->table.file, NULL, err);
    if (!status && drep_type_print(c->type, &text) == 0) {
        tool_say(c->table.file, NULL, "%" PRId64 " records, taken as %s", c->records, text);
        free(text);
    }
    free(g.list);
    free(g.missing);
    free(g.wide);
    return status;
}

/* ------------------------------------------------------------------ columns */

static int compare_places(const void *a, const void *b)
{
    return strcmp(**(char ***)a, **(char ***)b);
}

/* The dataset that a column is for, malloc'ed; NULL: none. */
static char *find_dataset_of(const struct csv_source *c, const char *column)
{
    for (int64_t i = 0; c->table.times && c->table.group && i < drep_type_members(c->type); i++) {
        const char *name = drep_type_member_name(c->type, i);

        if (columns_is_part(column, name))
            return path_of_member(c->table.path, name);
    }
    return NULL;
}

static int find_field(struct csv_source *c, const char *name, size_t *out)
{
    char *key = (char *)name, **place = &key, ***found;

    found = bsearch(&place, c->by_name, c->fields, sizeof *c->by_name, compare_places);
    if (!found) {
        char *path = find_dataset_of(c, name);

        tool_say(c->table.file, NULL, "line 1: there is no column \"%s\"%s%s%s", name,
                 path ? " for the dataset " : "", path ? path : "",
                 path ? "; add it, or import one column at a time (-i PATH)" : "");
        free(path);
        return TOOL_CORRUPT;
    }
    *out = (size_t)(*found - c->name);
    return 0;
}

/* Fields that no column takes are said, and left out. */
static bool csv_fields_unused(struct source *s)
{
    struct csv_source *c = s->own;
    bool any = false, *taken = c->field ? calloc(c->fields + 1, sizeof *taken) : NULL;
    size_t i;

    for (i = 0; taken && i < c->columns.fields; i++)
        taken[c->field[i]] = true;
    for (i = 0; taken && !c->table.column && i < c->fields; i++) {
        if (taken[i])
            continue;
        tool_say(s->file, NULL, "warning: column \"%s\" is left out", c->name[i]);
        any = true;
    }
    free(taken);
    return any;
}

/* By name where there are names; what has no parts takes the only field, or all of them. */
static int map_columns(struct csv_source *c)
{
    const struct columns *columns = &c->columns;
    size_t want = columns->fields * (size_t)(c->table.width > 0 ? c->table.width : 1), i, at = 0;
    bool bare = columns->len == 1 && !*columns->list[0].name;
    char *name;
    int k, status = 0;

    if (c->name && (!bare || c->table.column)) {
        c->field = calloc(columns->fields + 1, sizeof *c->field);
        if (!c->field)
            return tool_no_memory();
        if (bare)
            return find_field(c, c->table.column, &c->field[0]);
        for (i = 0; i < columns->len && !status; i++) {
            for (k = 0; k < columns->list[i].fields && !status; k++) {
                name = columns_name(&columns->list[i], k, "");
                status = name ? find_field(c, name, &c->field[at++]) : tool_no_memory();
                free(name);
            }
        }
        return status;
    }
    if (c->fields == want)
        return 0;
    tool_say(c->table.file, NULL, "line 1: %zu fields, where %zu make an element", c->fields, want);
    return TOOL_CORRUPT;
}

/* Which names there are, and whether one is there twice. */
static int sort_names(struct csv_source *c)
{
    size_t i, at;

    c->by_name = calloc(c->fields + 1, sizeof *c->by_name);
    if (!c->by_name)
        return tool_no_memory();
    for (i = 0; i < c->fields; i++)
        c->by_name[i] = &c->name[i];
    qsort(c->by_name, c->fields, sizeof *c->by_name, compare_places);
    for (i = 1; i < c->fields; i++) {
        if (strcmp(*c->by_name[i - 1], *c->by_name[i]) != 0)
            continue;
        at = (size_t)(c->by_name[i - 1] - c->name);
        if (at < (size_t)(c->by_name[i] - c->name))
            at = (size_t)(c->by_name[i] - c->name);
        return csv_wrong(&c->csv, c->csv.field[at].line, c->csv.field[at].column,
                         "column \"%s\" stands here twice; --no-header numbers them", c->name[at]);
    }
    return 0;
}

static int get_header(struct csv_source *c)
{
    char number[32];
    size_t i;
    int status = csv_next(&c->csv);

    if (status)
        return status;
    c->fields = c->csv.fields;
    if (!c->table.header)
        return csv_rewind(&c->csv);
    if (c->fields > COLUMNS_MAX) {
        tool_say(c->table.file, NULL, "a table has at most %d columns", COLUMNS_MAX);
        return TOOL_USAGE;
    }
    c->name = calloc(c->fields + 1, sizeof *c->name);
    for (i = 0; c->name && i < c->fields; i++) {
        const struct csv_field *f = &c->csv.field[i];

        if (strlen(f->text) != f->size || !utf8_valid(f->text, f->size))
            return csv_wrong(&c->csv, f->line, f->column, "the name of a column is not UTF-8");
        snprintf(number, sizeof number, "column%zu", i + 1);
        c->name[i] = strdup(f->size > 0 ? f->text : number);
        if (!c->name[i])
            return tool_no_memory();
    }
    return c->name ? sort_names(c) : tool_no_memory();
}

/* -------------------------------------------------------------------- values */

static bool is_text(const drep_type *type)
{
    int kind = drep_type_kind(type), code = drep_type_code(type);

    return kind == DREP_KIND_STRING || kind == DREP_KIND_VSTRING || kind == DREP_KIND_ENUM ||
           code == DREP_CODE_CHAR || code == DREP_CODE_CHARACTER || code == DREP_CODE_WCHAR;
}

static bool is_real(const struct csv_source *c, const drep_type *type)
{
    int code = drep_type_code(type);

    if (drep_type_kind(type) == DREP_KIND_SCALAR)
        return drep_type_scalar_desc(type)->cls == DREP_SCALAR_REAL;
    return code && encoding_is_real(&c->encoder.plain[code]);
}

/* A field as a node of a schema; false after complaining. */
static bool make_node(struct csv_source *c, const drep_type *type, struct csv_field *f,
                      struct doc *out)
{
    static char nan[] = ".nan";
    bool text = is_text(type), missing = is_missing(c, f);

    if (!text)
        trim(f);
    *out = (struct doc){
        .kind = DOC_SCALAR, .line = f->line, .column = f->column, .text = f->text, .size = f->size};
    if (text && !utf8_valid(f->text, f->size))
        return complain(&c->complaints, out, "this text is not UTF-8");
    if (!missing || drep_type_kind(type) == DREP_KIND_STRING ||
        drep_type_kind(type) == DREP_KIND_VSTRING) {
        out->size = missing ? 0 : out->size;
        if (missing)
            out->text[0] = '\0';
        return true;
    }
    if (!is_real(c, type))
        return complain(&c->complaints, out, "missing value");
    out->text = nan;
    out->size = strlen(nan);
    return true;
}

/* Puts the number of a date in its place; anything else stays, to be taken or refused. */
static void take_date(struct csv_source *c, const struct column *column, struct doc *node)
{
    double number;

    if (number_is_real(node->text) || !cf_number_of(&column->cf->time, node->text, &number))
        return;
    node->size = (size_t)snprintf(c->date, sizeof c->date,
                                  number == rint(number) ? "%.0f" : "%.17g", number);
    node->text = c->date;
}

static bool put_field(struct csv_source *c, const struct column *column, size_t field, char *at)
{
    struct doc part[2], *parts[2] = {&part[0], &part[1]};
    struct doc pair = {.kind = DOC_LIST, .len = 2, .item = parts};
    struct csv_field *f = c->csv.field;
    size_t second = c->field ? c->field[field + 1] : field + 1;

    field = c->field ? c->field[field] : field;
    if (!make_node(c, column->type, &f[field], &part[0]))
        return false;
    if (column->cf)
        take_date(c, column, &part[0]);
    if (column->fields == 1)
        return encoder_put(&c->encoder, column->type, column->held, &part[0], at);
    if (!make_node(c, column->type, &f[second], &part[1]))
        return false;
    pair.line = part[0].line;
    pair.column = part[0].column;
    return encoder_put(&c->encoder, column->type, column->held, &pair, at);
}

/* One element of the record, from its `field`th field on. */
static bool parse_element(struct csv_source *c, size_t field, char *at)
{
    const struct columns *columns = &c->columns;
    size_t i;

    for (i = 0; i < columns->len; i++) {
        if (!put_field(c, &columns->list[i], field, at + columns->list[i].offset))
            return false;
        field += (size_t)columns->list[i].fields;
    }
    return true;
}

static int csv_source_read(struct source *s, const int64_t *start, const int64_t *count, void *buf)
{
    struct csv_source *c = s->own;
    int64_t row, i, first = s->rank > 1 ? start[1] : 0, width = s->rank > 1 ? count[1] : 1;
    int64_t rows = s->rank > 0 ? count[0] : 1;
    char *at = buf;
    int status;

    for (row = 0; row < rows; row++) {
        status = first == 0 ? csv_next(&c->csv) : 0;
        if (!status && c->csv.fields != c->fields)
            status = csv_wrong(&c->csv, c->csv.line, c->csv.column, "the file has changed");
        if (status)
            return status;
        for (i = 0; i < width; i++, at += drep_type_extent(c->held)) {
            if (parse_element(c, (size_t)(first + i) * c->columns.fields, at))
                continue;
            complaints_tell(&c->complaints);
            return TOOL_CORRUPT;
        }
    }
    return 0;
}

static int start_encoder(struct csv_source *c)
{
    int err = encoder_init(&c->encoder, &c->complaints);

    if (!err && c->table.into)
        err = encoder_store_in(&c->encoder, c->table.into, c->table.number);
    else if (!err && c->table.datarep && encoder_store(&c->encoder, c->table.datarep))
        err = encoder_store(&c->encoder, "native");
    if (!err && !encoder_held(&c->encoder, c->type, &c->held))
        err = DREP_ERR_NOMEM;
    return err ? tool_fail(c->table.file, NULL, err) : 0;
}

/* What the columns' datasets say of times. */
static int find_times(struct csv_source *c)
{
    struct printer printer;
    size_t i;
    int err = printer_init(&printer, c->table.times, false), status = 0;

    if (err)
        return tool_fail(c->table.file, NULL, err);
    c->cf = calloc(c->columns.len + 1, sizeof *c->cf);
    for (i = 0; c->cf && i < c->columns.len && !status; i++) {
        struct column *column = &c->columns.list[i];
        char *path =
            c->table.group ? path_of_member(c->table.path, column->name) : strdup(c->table.path);

        if (!path)
            status = tool_no_memory();
        else if (column->fields == 1 && (c->table.group || !*column->name) &&
                 cf_read_time(&c->cf[i], &printer, path, column->type) && !cf_is_packed(&c->cf[i]))
            column->cf = &c->cf[i];
        free(path);
    }
    printer_release(&printer);
    return c->cf ? status : tool_no_memory();
}

static int csv_source_prepare(struct csv_source *c)
{
    int status = csv_open(&c->csv, c->table.file, c->table.fd, c->table.delimiter);

    if (!status)
        status = get_header(c);
    if (status)
        return status;
    c->complaints = (struct complaints){.say = say_complaint, .ctx = &c->csv};
    if (c->fields == 0) {
        tool_say(c->table.file, NULL, "the table is empty");
        return TOOL_CORRUPT;
    }
    c->type = c->table.type ? drep_type_ref(c->table.type) : NULL;
    status = c->type ? scan_table(c, NULL) : infer(c);
    if (!status)
        status = start_encoder(c);
    if (!status)
        status = columns_init(&c->columns, c->table.file, c->type, c->held);
    if (!status)
        status = map_columns(c);
    if (!status && c->table.times)
        status = find_times(c);
    if (!status)
        status = csv_rewind(&c->csv);
    return !status && c->table.header ? csv_next(&c->csv) : status;
}

int source_csv(struct source *out, const struct csv_table *table)
{
    struct csv_source *c = calloc(1, sizeof *c);
    struct source s = {.file = table->file,
                       .read = csv_source_read,
                       .rest = csv_fields_unused,
                       .release = csv_source_release,
                       .own = c};
    int status;

    if (!c)
        return tool_no_memory();
    c->table = *table;
    status = csv_source_prepare(c);
    if (status) {
        source_release(&s);
        return status;
    }
    s.type = drep_type_ref(c->held);
    s.stored = drep_type_ref(c->type);
    s.rank = c->table.width > 0 ? 2 : 1;
    s.dims[0] = c->records;
    s.dims[1] = c->table.width;
    *out = s;
    return 0;
}
