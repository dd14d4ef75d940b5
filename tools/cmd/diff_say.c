/* diff_say.c - differences as lines, or as JSON. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/diff_say.h"
#include "tools/cmd/diff.h"
#include "tools/host/color.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/input.h"
#include "tools/host/label.h"
#include "tools/host/progress.h"
#include "tools/host/statusline.h"
#include "tools/text/print.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 200 /* bytes of a value that is quoted in a line */

int diff_begin(struct diff *d)
{
    struct sink *s = &d->sink;

    if (!d->json)
        return 0;
    sink_document(s, "a", d->a.name);
    sink_text(s, ", \"b\": ");
    sink_quoted(s, d->b.name, strlen(d->b.name));
    sink_text(s, ", \"differences\": [");
    return 0;
}

int diff_end(struct diff *d)
{
    struct sink *s = &d->sink;

    if (d->json)
        sink_format(
            s, "%s], \"found\": %" PRId64 ", \"objects\": %" PRId64 ", \"values\": %" PRId64 "}\n",
            d->found ? "\n" : "", d->found, d->objects, d->values);
    else if (d->quiet && d->found > 0)
        sink_format(s,
                    "%s and %s differ: %" PRId64 " difference%s among %" PRId64
                    " objects with %" PRId64 " values\n",
                    label_of(d->a.name), label_of(d->b.name), d->found, d->found == 1 ? "" : "s",
                    d->objects, d->values);
    return sink_close(s);
}

void diff_failed(struct diff *d, const struct diff_side *side, const char *path, int err)
{
    d->status = tool_worse(d->status, tool_fail(side->name, path, err));
}

char *diff_text(const struct printer *p, const drep_type *type, const void *at)
{
    struct sink s;
    char *text;

    if (sink_init(&s, -1))
        return NULL;
    print_value(p, &s, type, at);
    sink_put(&s, "", 1);
    text = s.err ? NULL : strdup(s.buf);
    sink_release(&s);
    /* The rest of what is long can be looked up; of a number the last digit may be what differs. */
    if (text && !p->json && strlen(text) > TEXT_MAX && strncmp(text + (*text == '-'), "0x", 2) != 0)
        memcpy(text + TEXT_MAX - 3, "...", 4);
    return text;
}

/* ------------------------------------------------------------------- pieces */

/* Begins a difference: true if it is to be printed. */
static bool begin(struct diff *d, const char *path)
{
    struct sink *s = &d->sink;

    d->found++;
    statusline_hide();
    if (d->quiet && !d->json)
        return false;
    if (d->json) {
        sink_text(s, d->found > 1 ? ",\n {\"path\": " : "\n {\"path\": ");
        sink_quoted(s, path, strlen(path));
        return true;
    }
    sink_color(s, COLOR_DATASET);
    sink_name(s, path);
    sink_color(s, COLOR_END);
    sink_text(s, ": ");
    return true;
}

static void put_sides(struct sink *s, const char *a, const char *b)
{
    sink_color(s, COLOR_REMOVED);
    sink_text(s, a ? a : "?");
    sink_color(s, COLOR_END);
    sink_text(s, " -> ");
    sink_color(s, COLOR_ADDED);
    sink_text(s, b ? b : "?");
    sink_color(s, COLOR_END);
}

static void diff_json_pair(struct sink *s, const char *key, const char *text)
{
    sink_format(s, ", \"%s\": ", key);
    if (text)
        sink_quoted(s, text, strlen(text));
    else
        sink_text(s, "null");
}

/* "[1,0]" of the file A, whatever part of it was selected. */
static void put_index(struct sink *s, const struct slice *slice, int64_t number, bool json)
{
    int64_t at[DREP_MAX_RANK];
    int d;

    slice_index(slice, number, at);
    sink_char(s, '[');
    for (d = 0; d < slice->rank; d++)
        sink_format(s, "%s%" PRId64, d ? (json ? ", " : ",") : "", at[d]);
    sink_char(s, ']');
}

/* A number with few digits; JSON has no other infinity than a string. */
static void put_amount(struct sink *s, double amount, bool json)
{
    if (json && amount > 1.7976931348623157e308)
        sink_text(s, "\"inf\"");
    else
        sink_format(s, "%.*g", json ? 17 : 6, amount);
}

/* -------------------------------------------------------------- differences */

void diff_say(struct diff *d, const char *path, const char *what, const char *a, const char *b)
{
    struct sink *s = &d->sink;

    if (!begin(d, path))
        return;
    if (d->json) {
        diff_json_pair(s, "what", what);
        diff_json_pair(s, "a", a);
        diff_json_pair(s, "b", b);
        sink_char(s, '}');
        return;
    }
    sink_text(s, what);
    if (a && b) {
        sink_text(s, *what ? " " : "");
        put_sides(s, a, b);
    } else {
        sink_color(s, a ? COLOR_REMOVED : COLOR_ADDED);
        sink_format(s, "%sonly in %s", *what ? " " : "", label_of(a ? d->a.name : d->b.name));
        sink_color(s, COLOR_END);
    }
    sink_char(s, '\n');
}

static void put_values_json(struct sink *s, const char *attribute, const struct slice *slice,
                            const struct diff_values *v)
{
    diff_json_pair(s, "what", "values");
    if (attribute)
        diff_json_pair(s, "attribute", attribute);
    sink_format(s,
                ", \"count\": %" PRId64 ", \"of\": %" PRId64 ", \"first\": {\"index\": ", v->count,
                v->of);
    put_index(s, slice, v->first_at, true);
    diff_json_pair(s, "part", v->first.part);
    sink_text(s, ", \"a\": ");
    sink_text(s, v->a ? v->a : "null");
    sink_text(s, ", \"b\": ");
    sink_text(s, v->b ? v->b : "null");
    sink_text(s, "}, \"greatest\": {\"absolute\": ");
    put_amount(s, v->abs, true);
    sink_text(s, ", \"relative\": ");
    put_amount(s, v->rel, true);
    sink_text(s, ", \"index\": ");
    put_index(s, slice, v->abs_at, true);
    sink_text(s, "}}");
}

void diff_say_values(struct diff *d, const char *path, const char *attribute,
                     const struct slice *slice, const struct diff_values *v)
{
    struct sink *s = &d->sink;

    if (!begin(d, path))
        return;
    if (d->json) {
        put_values_json(s, attribute, slice, v);
        return;
    }
    if (attribute) {
        sink_text(s, "attribute ");
        sink_name(s, attribute);
        sink_text(s, ": ");
    }
    if (v->of > 1)
        sink_format(s, "%" PRId64 " of %" PRId64 " values differ, first at ", v->count, v->of);
    if (slice->rank > 0 || *v->first.part) {
        if (slice->rank > 0)
            put_index(s, slice, v->first_at, false);
        sink_text(s, v->first.part);
        sink_text(s, ": ");
    }
    put_sides(s, v->a, v->b);
    if (v->abs > 0 && v->of > 1) {
        sink_text(s, "; at most by ");
        put_amount(s, v->abs, false);
        sink_text(s, " at ");
        put_index(s, slice, v->abs_at, false);
        if (v->rel > 0) {
            sink_text(s, ", relatively by ");
            put_amount(s, v->rel, false);
        }
    }
    sink_char(s, '\n');
}

void diff_list_value(struct diff *d, const char *path, const struct slice *slice, int64_t at,
                     const struct difference *gap)
{
    char *a, *b;

    if (d->json || d->quiet)
        return;
    a = diff_text(&d->a.printer, gap->a_type, gap->a);
    b = diff_text(&d->b.printer, gap->b_type, gap->b);
    sink_name(&d->sink, path);
    put_index(&d->sink, slice, at, false);
    sink_text(&d->sink, gap->part);
    sink_text(&d->sink, ": ");
    put_sides(&d->sink, a, b);
    sink_char(&d->sink, '\n');
    free(a);
    free(b);
}
