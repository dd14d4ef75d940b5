/* flat_option.c - the command line for what is not HDF5. */
#include "tools/flat/flat.h"
#include "tools/flat/records.h"
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    int format;
    const char *magic;
    size_t size;
    const char *ends[4];
} formats[] = {
    {FLAT_NPY, "\223NUMPY", 6, {".npy"}},  {FLAT_NPZ, "PK\003\004", 4, {".npz"}},
    {FLAT_NPZ, "PK\005\006", 4, {NULL}}, /* an archive without members */
    {FLAT_CSV, NULL, 0, {".csv", ".tsv"}}, {FLAT_RAW, NULL, 0, {".raw", ".bin", ".dat"}},
};
enum { FORMATS = sizeof formats / sizeof *formats };

int flat_by_front(const char *front, size_t size)
{
    int i;

    for (i = 0; i < FORMATS; i++)
        if (formats[i].magic && size >= formats[i].size &&
            memcmp(front, formats[i].magic, formats[i].size) == 0)
            return formats[i].format;
    return FLAT_NONE;
}

static bool ends_in(const char *path, const char *end)
{
    size_t size = strlen(path), tail = strlen(end);

    return size > tail && strcasecmp(path + size - tail, end) == 0;
}

int flat_by_name(const char *path)
{
    int i, k;

    for (i = 0; i < FORMATS; i++)
        for (k = 0; formats[i].ends[k]; k++)
            if (ends_in(path, formats[i].ends[k]))
                return formats[i].format;
    return FLAT_NONE;
}

bool flat_is_hdf5_name(const char *path)
{
    static const char *const ends[] = {".h5", ".hdf5", ".hdf", ".he5", ".nc", ".nc4"};
    size_t i;

    for (i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_in(path, ends[i]))
            return true;
    return false;
}

static int get_offset(struct flat *f)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(optarg, &end, 0);
    if (!*optarg || *end || errno || value < 0)
        return command_usage(f->command, "--offset is a number of bytes, not '%s'", optarg);
    f->offset = value;
    return 0;
}

static int get_delimiter(struct flat *f)
{
    const char *text = optarg;

    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0)
        text = "\t";
    if (strlen(text) != 1 || strchr("\"\n\r", *text) || (*text & 0x80))
        return command_usage(f->command, "--delimiter is one character, or tab");
    f->delimiter = *text;
    return 0;
}

static int get_order(struct flat *f)
{
    f->column_major = strcmp(optarg, "F") == 0;
    if (f->column_major || strcmp(optarg, "C") == 0)
        return 0;
    return command_usage(f->command, "--order is C or F, not '%s'", optarg);
}

static int get_records(struct flat *f)
{
    int width;
    bool big;

    f->records = optarg;
    if (records_form(optarg, &width, &big))
        return 0;
    return command_usage(
        f->command, "--records is fortran, 4-little, 4-big, 8-little or 8-big, not '%s'", optarg);
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
