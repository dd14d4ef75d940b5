/* exchange.c - the command line of import and export. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/exchange.h"
#include "tools/cmd/choices.h"
#include "tools/flat/records.h"
#include "tools/host/message.h"
#include "tools/host/outfile.h"
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int exchange_names(struct exchange *x, bool anywhere, bool updates, const char *also)
{
    bool fresh = false;
    int status = 0;

    if (!anywhere && strcmp(x->dst, "-") == 0)
        return tool_usage(x->command, "such a file is not written to standard output; name one");
    if (is_file(x->dst) && outfile_same(x->src, x->dst))
        return tool_usage(x->command, "%s is both source and target", x->dst);
    if (x->report && is_file(x->report) &&
        (outfile_same(x->report, x->src) || outfile_same(x->report, x->dst)))
        return tool_usage(x->command, "%s is also the report", x->report);
    if (!updates)
        status = outfile_permit(x->dst, &x->excl, x->force, also);
    if (!status && x->report)
        status = outfile_permit(x->report, &fresh, x->force, NULL);
    return status;
}

bool exchange_option(struct exchange *x, int option, int *status)
{
    switch (option) {
    case EXCHANGE_ROOT:
        x->root = optarg;
        return true;
    case EXCHANGE_RANGE:
        *status = choice_range(x->command, optarg, &x->range);
        return true;
    case EXCHANGE_REPORT:
        x->report = optarg;
        return true;
    case EXCHANGE_JSON:
        x->json = true;
        return true;
    case 'f':
        x->force = true;
        return true;
    case 'n':
        x->excl = true;
        return true;
    case 'v':
        x->verbose = true;
        return true;
    default:
        return false;
    }
}

/* -------------------------------------------------- of what is not HDF5 */

static int get_offset(struct flat *f)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(optarg, &end, 0);
    if (!*optarg || *end || errno || value < 0)
        return tool_usage(f->x->command, "--offset is a number of bytes, not '%s'", optarg);
    f->offset = value;
    return 0;
}

static int get_delimiter(struct flat *f)
{
    const char *text = optarg;

    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0)
        text = "\t";
    if (strlen(text) != 1 || strchr("\"\n\r", *text) || (*text & 0x80))
        return tool_usage(f->x->command, "--delimiter is one character, or tab");
    f->delimiter = *text;
    return 0;
}

static int get_order(struct flat *f)
{
    f->column_major = strcmp(optarg, "F") == 0;
    if (f->column_major || strcmp(optarg, "C") == 0)
        return 0;
    return tool_usage(f->x->command, "--order is C or F, not '%s'", optarg);
}

static int get_records(struct flat *f)
{
    f->records = optarg;
    if (records_form(optarg))
        return 0;
    return tool_usage(f->x->command, "--records is " RECORD_FORMS ", not '%s'", optarg);
}

bool flat_option(struct flat *f, int option, int *status)
{
    switch (option) {
    case 'i':
        f->into = optarg;
        return true;
    case 's':
        f->schema = optarg;
        return true;
    case 'u':
    case 'a':
        f->update = true;
        f->append = f->append || option == 'a';
        return true;
    case FLAT_TYPE:
        f->type = optarg;
        return true;
    case FLAT_SHAPE:
        f->shape = optarg;
        return true;
    case FLAT_OFFSET:
        *status = get_offset(f);
        return true;
    case FLAT_ORDER:
        *status = get_order(f);
        return true;
    case FLAT_RECORDS:
        *status = get_records(f);
        return true;
    case FLAT_TO:
        f->to = optarg;
        return true;
    case FLAT_COLUMNS:
        f->columns = true;
        return true;
    case FLAT_DELIMITER:
        *status = get_delimiter(f);
        return true;
    case FLAT_NO_HEADER:
        f->no_header = true;
        return true;
    case FLAT_MISSING:
        f->missing = optarg;
        return true;
    default:
        return false;
    }
}
