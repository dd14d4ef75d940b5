/* tool.c - opening files, and saying what a file is that is not ours. */
#include "tool.h"
#include "input.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* What begins so, or NULL. */
static const char *known_name(const char *front, size_t size)
{
    size_t i;

    if (size == 0)
        return "an empty file";
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (size >= known[i].size && memcmp(front, known[i].magic, known[i].size) == 0)
            return known[i].name;
    return NULL;
}

/* What the file is instead of ours, or NULL.  HDF5 may begin at 0, 512, 1024, 2048, ... */
static const char *foreign_name(FILE *f)
{
    char front[16];
    const char *name = known_name(front, fread(front, 1, sizeof front, f));
    long at;

    for (at = 512; !name && at <= 1L << 20; at *= 2) {
        if (fseek(f, at, SEEK_SET) != 0 || fread(front, 1, 8, f) != 8)
            break;
        if (memcmp(front, known[0].magic, 8) == 0)
            name = known[0].name;
    }
    return name;
}

static int say_foreign(const char *path, const char *name)
{
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

/* An exit code; says what is wrong. */
static int open_input(int amode, const drep_info *info, drep_file **out)
{
    char front[16];
    size_t size = 0;
    int err = input_open(amode, info, front, &size, out);

    if (err < 0)
        return TOOL_IO;
    if (err == DREP_ERR_NOT_DREP || (err && size == 0))
        return say_foreign("-", known_name(front, size));
    return err ? tool_fail("-", NULL, err) : TOOL_FINE;
}

static int open_path(const char *path, int amode, const drep_info *info, uint64_t commit,
                     drep_file **out)
{
    struct stat st;
    FILE *f;
    int err;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        tool_say(path, NULL, "is a directory");
        return TOOL_IO;
    }
    err = drep_open_commit(path, amode, commit, info, out);
    if (err != DREP_ERR_NOT_DREP)
        return err ? tool_fail(path, NULL, err) : TOOL_FINE;
    f = fopen(path, "rb");
    err = say_foreign(path, f ? foreign_name(f) : NULL);
    if (f)
        fclose(f);
    return err;
}

/* 0, or an exit code after saying what is wrong with it. */
static int commit_number(const char *path, const char *text, uint64_t *number)
{
    char *end = NULL;

    *number = 0;
    if (!text)
        return 0;
    errno = 0;
    if (*text >= '1' && *text <= '9')
        *number = strtoull(text, &end, 10);
    if (!end || *end || errno) {
        tool_say(path, NULL, "'%s' is not the number of a commit; `datarep log` lists them", text);
        return TOOL_USAGE;
    }
    if (strcmp(path, "-") == 0) {
        tool_say(path, NULL, "only a file with a name has earlier commits");
        return TOOL_USAGE;
    }
    return 0;
}

int tool_open(const char *path, int amode, const char *plugins, drep_file **out)
{
    return tool_open_commit(path, amode, plugins, NULL, out);
}

int tool_open_commit(const char *path, int amode, const char *plugins, const char *commit,
                     drep_file **out)
{
    uint64_t number;
    drep_header header;
    drep_info *info;
    drep_file *file;
    int err, status = commit_number(path, commit, &number);

    if (status)
        return status;
    err = open_info(plugins, &info);
    if (err)
        return tool_fail(path, NULL, err);
    status = strcmp(path, "-") == 0 ? open_input(amode, info, &file)
                                    : open_path(path, amode, info, number, &file);
    drep_info_free(info);
    if (status)
        return status;
    if (drep_header_get(file, &header) == 0 && header.damaged_slot)
        tool_say(path, NULL,
                 "warning: header slot %c is damaged; this may be the commit before "
                 "the last",
                 header.damaged_slot == 1 ? 'A' : 'B');
    *out = file;
    return 0;
}
