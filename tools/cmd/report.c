/* report.c - findings of import and export, on stderr and in a file. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/report.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/text/sink.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const weights[] = {"made", "stored", "untried", "read",
                                      "kept", "unread", "lost"};

/* Findings so far that a report lists. */
static int64_t counted(const struct report *r)
{
    int64_t n = 0;

    for (int weight = HDF5_STORED; weight <= HDF5_LOST; weight++)
        n += r->count[weight];
    return n;
}

int report_begin(struct report *r)
{
    int fd = STDOUT_FILENO;

    if (!r->file)
        return TOOL_FINE;
    if (strcmp(r->file, "-") != 0) {
        fd = open(r->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd < 0) {
            tool_say(r->file, NULL, "%s", strerror(errno));
            return TOOL_IO;
        }
    }
    if (sink_init(&r->sink, fd) != 0)
        return tool_no_memory();
    r->open = true;
    if (!r->json)
        return TOOL_FINE;
    sink_document(&r->sink, "source", r->src);
    sink_text(&r->sink, ", \"target\": ");
    sink_quoted(&r->sink, r->dst, strlen(r->dst));
    sink_format(&r->sink, ", \"direction\": \"%s\", \"findings\": [",
                r->import ? "import" : "export");
    return TOOL_FINE;
}

static void report_json_text(struct sink *s, const char *key, const char *text)
{
    sink_format(s, "%s\"%s\": ", strcmp(key, "weight") == 0 ? "" : ", ", key);
    sink_quoted(s, text, strlen(text));
}

static void print_finding(struct report *r, const struct hdf5_finding *f)
{
    struct sink *s = &r->sink;

    if (!r->json) {
        sink_format(s, "%s %s %s: %s\n", weights[f->weight], f->what, *f->path ? f->path : "/",
                    f->message);
        return;
    }
    sink_text(s, counted(r) > 1 ? ",\n {" : "\n {");
    report_json_text(s, "weight", weights[f->weight]);
    report_json_text(s, "what", f->what);
    report_json_text(s, "path", f->path);
    report_json_text(s, "message", f->message);
    sink_text(s, "}");
}

static void count_word(struct report *r, const struct hdf5_finding *f)
{
    int i;

    for (i = 0; i < r->nwords && strcmp(r->words[i].what, f->what) != 0; i++)
        ;
    if (i == REPORT_WORDS)
        return;
    if (i == r->nwords)
        r->words[r->nwords++].what = f->what;
    r->words[i].kept += f->weight == HDF5_KEPT;
    r->words[i].lost += f->weight == HDF5_LOST;
}

/* The library's own messages name the file. */
static const char *file_for(const struct report *r, const char *message)
{
    return strncmp(message, r->src, strlen(r->src)) == 0 ? NULL : r->src;
}

/* True if the messages are the same but for numbers. */
static bool same_cause(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

/* Says a loss if it is the first of its cause, or all is to be said; else counts it. */
static void say_loss(struct report *r, const struct hdf5_finding *f)
{
    struct report_cause *c;
    int i;

    for (i = 0; !r->verbose && i < r->ncauses; i++)
        if (r->causes[i].message && same_cause(r->causes[i].message, f->message)) {
            r->causes[i].more++;
            return;
        }
    if (i == REPORT_CAUSES)
        return;
    if (!r->verbose) {
        c = &r->causes[r->ncauses++];
        c->path = strdup(f->path);
        c->message = strdup(f->message);
    }
    tool_say(file_for(r, f->message), *f->path ? f->path : NULL, "warning: %s", f->message);
}

static void end_causes(struct report *r)
{
    int i;

    for (i = 0; i < r->ncauses; i++) {
        struct report_cause *c = &r->causes[i];

        if (c->more > 0)
            tool_say(r->src, c->path && *c->path ? c->path : NULL,
                     "warning: losses with the same cause: %lld more", (long long)c->more);
        free(c->path);
        free(c->message);
    }
    r->ncauses = 0;
}

void report_add(struct report *r, const struct hdf5_finding *f)
{
    const char *path = *f->path ? f->path : NULL;

    r->count[f->weight]++;
    if (f->weight == HDF5_LOST || f->weight == HDF5_UNREAD)
        say_loss(r, f);
    else if (r->verbose || (f->weight == HDF5_READ && !r->quiet))
        tool_say(r->src, path, "%s", f->message);
    if (f->weight == HDF5_MADE)
        return;
    count_word(r, f);
    if (r->open)
        print_finding(r, f);
}

void report_fail(struct report *r, const char *message)
{
    r->failed = true;
    end_causes(r);
    tool_say(file_for(r, message), NULL, "%s", message);
}

/* " (2 comments, 1 link)" of what was kept, or lost. */
static void list_words(const struct report *r, bool lost, char *text, size_t size)
{
    size_t len = 0;
    int i;

    for (i = 0; i < r->nwords && len < size; i++) {
        int64_t n = lost ? r->words[i].lost : r->words[i].kept;

        if (n > 0)
            len += (size_t)snprintf(text + len, size - len, "%s%lld %s", len ? ", " : " (",
                                    (long long)n, r->words[i].what);
    }
    if (len > 0 && len < size)
        snprintf(text + len, size - len, ")");
}

static void print_counts(const struct report *r, const struct hdf5_totals *t)
{
    char kept[600] = "", lost[600] = "";

    list_words(r, false, kept, sizeof kept);
    list_words(r, true, lost, sizeof lost);
    tool_say(r->src, NULL,
             "%lld groups, %lld datasets, %lld datatypes, %lld dimensions, %lld attributes: "
             "%lld kept as annotations%s, %lld lost%s%s",
             (long long)t->groups, (long long)t->datasets, (long long)t->types,
             (long long)t->dimensions, (long long)t->attributes, (long long)r->count[HDF5_KEPT],
             kept, (long long)r->count[HDF5_LOST], lost,
             r->file || r->verbose ? "" : "; --report=FILE lists them");
}

static void end_json(struct report *r, int err, const struct hdf5_totals *t)
{
    sink_text(&r->sink, counted(r) ? "\n], " : "], ");
    sink_format(&r->sink,
                "\"groups\": %lld, \"datasets\": %lld, \"types\": %lld, \"dimensions\": %lld, "
                "\"links\": %lld, \"attributes\": %lld, \"bytes\": %llu, \"copied\": %lld, ",
                (long long)t->groups, (long long)t->datasets, (long long)t->types,
                (long long)t->dimensions, (long long)t->links, (long long)t->attributes,
                (unsigned long long)t->bytes, (long long)t->copied);
    sink_format(&r->sink, "\"stored\": %lld, \"kept\": %lld, \"lost\": %lld, \"result\": \"%s\"}\n",
                (long long)r->count[HDF5_STORED], (long long)r->count[HDF5_KEPT],
                (long long)r->count[HDF5_LOST],
                err                      ? "failed"
                : r->count[HDF5_LOST]    ? "lost"
                : r->count[HDF5_UNREAD]  ? "unread"
                : r->count[HDF5_UNTRIED] ? "untried"
                : r->count[HDF5_KEPT]    ? "kept"
                                         : "exact");
}

int report_end(struct report *r, int err, const struct hdf5_totals *totals)
{
    int status = err                                               ? tool_exit_code(err)
                 : r->count[HDF5_LOST] + r->count[HDF5_UNREAD] > 0 ? TOOL_DIFFERS
                                                                   : TOOL_FINE;

    end_causes(r);
    if (!err && !r->quiet && (r->count[HDF5_KEPT] || r->count[HDF5_LOST] || r->verbose))
        print_counts(r, totals);
    if (!r->open)
        return status;
    if (r->json)
        end_json(r, err, totals);
    return tool_worse(status, sink_close(&r->sink));
}
