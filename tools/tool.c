/* tool.c - exit codes, messages and opening files, for all subcommands. */
#include "tool.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int tool_exit_code(int err)
{
    switch (err) {
    case DREP_OK:
        return TOOL_FINE;
    case DREP_ERR_NOMEM:
    case DREP_ERR_IO:
    case DREP_ERR_NO_SPACE:
    case DREP_ERR_NO_SUCH_FILE:
    case DREP_ERR_FILE_EXISTS:
    case DREP_ERR_ACCESS:
    case DREP_ERR_READ_ONLY:
    case DREP_ERR_FILE_IN_USE:
    case DREP_ERR_FAILED:
        return TOOL_IO;
    case DREP_ERR_ARG:
    case DREP_ERR_NOT_FOUND:
    case DREP_ERR_EXISTS:
    case DREP_ERR_KIND:
    case DREP_ERR_NAME:
    case DREP_ERR_RANGE:
    case DREP_ERR_COUNT:
    case DREP_ERR_DIMS:
    case DREP_ERR_SYNTAX:
    case DREP_ERR_INFO_KEY:
    case DREP_ERR_INFO_VALUE:
        return TOOL_USAGE;
    default:
        return TOOL_CORRUPT;
    }
}

int tool_worse(int a, int b)
{
    return a > b ? a : b;
}

void tool_say(const char *file, const char *path, const char *format, ...)
{
    va_list args;

    fputs("datarep: ", stderr);
    if (file)
        fprintf(stderr, "%s: ", file);
    if (path)
        fprintf(stderr, "%s: ", path);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

int tool_fail(const char *file, const char *path, int err)
{
    const char *message = drep_error();

    if (!*message)
        message = drep_strerror(err);
    if (file && strncmp(message, file, strlen(file)) == 0)
        file = NULL;
    if (path && strstr(message, path))
        path = NULL;
    tool_say(file, path, "%s", message);
    return tool_exit_code(err);
}

int tool_usage(const char *command, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "datarep %s: ", command);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nTry 'datarep %s --help'.\n", command);
    return TOOL_USAGE;
}

int tool_option(int argc, char **argv, const char *shorts, const struct option *longs)
{
    int option;

    opterr = 0;
    option = getopt_long(argc, argv, shorts, longs, NULL);
    if (option == ':') {
        tool_usage(argv[0], "option '%s' needs an argument", argv[optind - 1]);
        return '?';
    }
    if (option != '?')
        return option;
    if (optopt && argv[optind - 1][1] != '-')
        tool_usage(argv[0], "unknown option '-%c'", optopt);
    else
        tool_usage(argv[0], "unknown option '%s'", argv[optind - 1]);
    return '?';
}

int tool_help(const char *text)
{
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
        return TOOL_FINE;
    if (errno != EPIPE)
        tool_say(NULL, NULL, "standard output: %s", strerror(errno));
    return TOOL_IO;
}

/* ------------------------------------------------- files that are not ours */

static const struct {
    const char *magic;
    size_t size;
    const char *name;
} known[] = {
    {"\211HDF\r\n\032\n", 8, "an HDF5 file; use: datarep import"},
    {"CDF\001", 4, "a netCDF classic file"},
    {"CDF\002", 4, "a netCDF 64-bit offset file"},
    {"CDF\005", 4, "a netCDF CDF-5 file"},
    {"\016\003\023\001", 4, "an HDF4 file"},
    {"\037\213", 2, "a gzip file"},
    {"PK\003\004", 4, "a zip file"},
    {"\050\265\057\375", 4, "a Zstandard file"},
    {"\375\067zXZ", 5, "an xz file"},
    {"BZh", 3, "a bzip2 file"},
    {"\223NUMPY", 6, "a NumPy .npy file"},
    {"#ASDF", 5, "an ASDF file"},
    {"SIMPLE  =", 9, "a FITS file"},
    {"PAR1", 4, "a Parquet file"},
    {"ARROW1", 6, "an Arrow file"},
    {"%YAML", 5, "YAML text; use: datarep create -s"},
    {"datarep:", 8, "a schema; use: datarep create -s"},
    {"root:", 5, "a schema; use: datarep create -s"},
    {"{\"file\"", 7, "JSON text"},
};

/* What the file is instead of ours, or NULL.  HDF5 may begin at 0, 512, 1024, 2048, ... */
static const char *foreign_name(FILE *f)
{
    char front[16] = {0};
    size_t i, size = fread(front, 1, sizeof front, f);
    long at;

    if (size == 0)
        return "an empty file";
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (size >= known[i].size && memcmp(front, known[i].magic, known[i].size) == 0)
            return known[i].name;
    for (at = 512; at <= 1L << 20; at *= 2) {
        if (fseek(f, at, SEEK_SET) != 0 || fread(front, 1, 8, f) != 8)
            break;
        if (memcmp(front, known[0].magic, 8) == 0)
            return known[0].name;
    }
    return NULL;
}

static int say_foreign(const char *path)
{
    FILE *f = fopen(path, "rb");
    const char *name = f ? foreign_name(f) : NULL;

    if (f)
        fclose(f);
    if (name)
        tool_say(path, NULL, "not a Datarep file: this is %s", name);
    else
        tool_say(path, NULL, "not a Datarep file");
    return TOOL_CORRUPT;
}

static int open_info(const char *plugins, drep_info **out)
{
    drep_info *info;
    int err;

    if (!plugins) {
        *out = NULL;
        return 0;
    }
    err = drep_info_new(&info);
    if (err)
        return err;
    err = drep_info_set(info, "drep_plugin_path", plugins);
    if (err)
        drep_info_free(info);
    else
        *out = info;
    return err;
}

int tool_open(const char *path, int amode, const char *plugins, drep_file **out)
{
    drep_header header;
    drep_info *info;
    drep_file *file;
    struct stat st;
    int err;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        tool_say(path, NULL, "is a directory");
        return TOOL_IO;
    }
    err = open_info(plugins, &info);
    if (err)
        return tool_fail(path, NULL, err);
    err = drep_open(path, amode, info, &file);
    drep_info_free(info);
    if (err == DREP_ERR_NOT_DREP)
        return say_foreign(path);
    if (err)
        return tool_fail(path, NULL, err);
    if (drep_header_get(file, &header) == 0 && header.damaged_slot)
        tool_say(path, NULL,
                 "warning: header slot %c is damaged; this may be the commit before "
                 "the last",
                 header.damaged_slot == 1 ? 'A' : 'B');
    *out = file;
    return 0;
}
