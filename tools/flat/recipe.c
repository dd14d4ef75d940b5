/* recipe.c - reads a schema file, and says what is wrong with it. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/recipe.h"
#include "tools/flat/csv_columns.h"
#include "tools/flat/load.h"
#include "tools/flat/npy_in.h"
#include "tools/flat/raw_in.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/installed.h"
#include "tools/host/message.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if HAVE_YAML
/* Reads a whole file or stream; *text is malloc'ed.  0, or an exit code. */
static int read_all(const char *name, char **text, size_t *size)
{
    FILE *f = strcmp(name, "-") == 0 ? stdin : fopen(name, "rbe");
    size_t len = 0, cap = (size_t)1 << 16, n;
    char *buf = f ? malloc(cap) : NULL, *bigger;
    int status = 0;

    while (buf && len <= SCHEMA_SIZE_MAX) {
        n = fread(buf + len, 1, cap - len, f);
        len += n;
        if (n == 0)
            break;
        if (len < cap)
            continue;
        cap *= 2;
        bigger = realloc(buf, cap);
        if (!bigger)
            free(buf);
        buf = bigger;
    }
    if (!f || !buf || ferror(f)) {
        tool_say(name, NULL, "%s", f && !buf ? "out of memory" : strerror(errno));
        status = TOOL_IO;
    } else if (len > SCHEMA_SIZE_MAX) {
        tool_say(name, NULL, "a schema has at most %d MiB", (int)(SCHEMA_SIZE_MAX >> 20));
        status = TOOL_USAGE;
    }
    if (f && f != stdin)
        fclose(f);
    if (status) {
        free(buf);
        return status;
    }
    *text = buf;
    *size = len;
    return 0;
}

/* ------------------------------------------------------- installed schemas */

static int is_schema(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name);

    return size > 5 && strcmp(entry->d_name + size - 5, ".yaml") == 0;
}

/* Says that there is no such schema, and which are installed. */
static void say_absent(const char *name, const char *folder)
{
    struct dirent **entries = NULL;
    char list[1024] = "";
    int i, n = scandir(folder, &entries, is_schema, alphasort);
    size_t len = 0;

    for (i = 0; i < n; i++) {
        if (len + strlen(entries[i]->d_name) + 3 < sizeof list)
            len += (size_t)sprintf(list + len, "%s%s", i ? ", " : "", entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (n > 0)
        tool_say(name, NULL, "no such file here, and no such schema in %s, which has %s", folder,
                 list);
    else
        tool_say(name, NULL, "%s", strerror(ENOENT));
}

/* Finds an installed schema where there is no file of this name; *found stays NULL where there is
 * one, or the name is a path.  An exit code. */
static int find_installed(const char *name, char **found)
{
    static const char *const ends[] = {"", ".yaml"};
    char folder[PATH_MAX + 1], path[2 * PATH_MAX];
    size_t i;

    if (strchr(name, '/') || strcmp(name, "-") == 0 || access(name, F_OK) == 0 || errno != ENOENT ||
        !installed_schemas(folder, sizeof folder))
        return 0;
    for (i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s%s%s", folder, name, ends[i]);
        if (*name == '\0' || access(path, R_OK) != 0)
            continue;
        *found = strdup(path);
        return *found ? 0 : tool_no_memory();
    }
    say_absent(name, folder);
    return TOOL_IO;
}

void recipe_say(void *ctx, int line, int column, const char *message)
{
    const struct recipe *recipe = ctx;

    if (line <= 0) {
        tool_say(recipe->name, NULL, "%s", message);
        return;
    }
    tool_print("%s:%d:%d: %s", recipe->name, line, column, message);
    fputc('\n', stderr);
}

/* ------------------------------------------------------- elements from files */

/* The name of a file that is where a schema may look; false after saying why not. */
static bool find_file(const struct recipe *r, const char *file, char *path, char *why)
{
    char joined[PATH_MAX];
    size_t folder = strlen(r->folder);
    struct stat st;
    int n = snprintf(joined, sizeof joined, "%s/%s", r->folder, file);

    if (*file == '/' || n < 0 || (size_t)n >= sizeof joined) {
        snprintf(why, SCHEMA_WHY, "%.100s: files are named from the schema's folder", file);
        return false;
    }
    if (!realpath(joined, path)) {
        snprintf(why, SCHEMA_WHY, "%.100s: %s", file, strerror(errno));
        return false;
    }
    if (strncmp(path, r->folder, folder) != 0 || (path[folder] != '/' && folder > 1)) {
        snprintf(why, SCHEMA_WHY, "%.100s: this leads out of the schema's folder", file);
        return false;
    }
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return true;
    snprintf(why, SCHEMA_WHY, "%.100s: this is no regular file", file);
    return false;
}

static int open_table(const struct schema_source *source, const char *path, int fd,
                      const drep_dsinfo *info, struct source *out)
{
    size_t size = strlen(source->file);
    bool tabs = size > 4 && strcmp(source->file + size - 4, ".tsv") == 0;
    struct csv_table table = {.file = path,
                              .fd = fd,
                              .delimiter = source->delimiter ? source->delimiter
                                           : tabs            ? '\t'
                                                             : ',',
                              .header = !source->no_header,
                              .missing = source->missing ? source->missing : "",
                              .type = info->type,
                              .datarep = info->datarep,
                              .column = source->column,
                              .width = info->rank == 2 ? info->dims[1] : 0};

    return source_csv(out, &table);
}

static int open_raw(const struct schema_source *source, const char *path, int fd,
                    const drep_dsinfo *info, struct source *out)
{
    struct raw_file raw = {.file = path,
                           .type = info->type,
                           .rank = info->rank,
                           .datarep = source->datarep ? source->datarep : "native",
                           .offset = source->offset,
                           .records = source->records,
                           .column_major = source->column_major};

    memcpy(raw.dims, info->dims, sizeof raw.dims);
    if (info->rank > 0 && info->maxdims[0] == DREP_UNLIMITED && info->dims[0] == 0)
        raw.dims[0] = -1;
    return source_raw(out, &raw, fd);
}

/* Errors in a file are reported as an import reports them. */
static int load_from(const struct schema_source *source, const char *path, int fd,
                     struct load_target *t)
{
    struct source s;
    drep_dsinfo info = DREP_DSINFO;
    int status, err = drep_dataset_info(t->dataset, &info);

    if (err)
        return tool_fail(NULL, t->path, err);
    status = source->format == SCHEMA_CSV   ? open_table(source, path, fd, &info, &s)
             : source->format == SCHEMA_NPY ? source_npy(&s, path, fd)
                                            : open_raw(source, path, fd, &info, &s);
    if (status)
        return status;
    status = load_fit(&s, t, false);
    if (!status)
        status = load_all(&s, t);
    if (!status && s.rest)
        s.rest(&s);
    source_release(&s);
    return status;
}

static int recipe_load_source(void *ctx, const struct schema_source *source, drep_file *file,
                              const char *path, drep_dataset *dataset, char *why)
{
    const struct recipe *r = ctx;
    struct load_target t = {
        .name = r->name, .path = path, .dataset = dataset, .range = DREP_RANGE_STRICT};
    char found[PATH_MAX];
    int fd, status;

    (void)file;
    if (!find_file(r, source->file, found, why))
        return DREP_ERR_NO_SUCH_FILE;
    fd = open(found, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(why, SCHEMA_WHY, "%.100s: %s", source->file, strerror(errno));
        return DREP_ERR_ACCESS;
    }
    status = load_from(source, found, fd, &t);
    close(fd);
    return status == TOOL_IO      ? DREP_ERR_IO
           : status == TOOL_USAGE ? DREP_ERR_DIMS
           : status               ? DREP_ERR_FORMAT
                                  : 0;
}

/* The schema's directory, links resolved. */
static char *folder_of(const char *name)
{
    const char *slash = strcmp(name, "-") == 0 ? NULL : strrchr(name, '/');
    char *part = slash ? strndup(name, (size_t)(slash - name) + 1) : strdup("."), *full;

    full = part ? realpath(part, NULL) : NULL;
    free(part);
    return full;
}

int recipe_read(struct recipe *r, const char *name)
{
    char *text, *found = NULL;
    size_t size;
    int err, status = find_installed(name, &found);

    *r = (struct recipe){.name = strcmp(name, "-") == 0 ? "stdin"
                                 : found                ? found
                                                        : name,
                         .found = found};
    if (!status)
        status = read_all(found ? found : name, &text, &size);
    if (!status) {
        err = schema_read(text, size, recipe_say, r, &r->schema);
        free(text);
        status = err ? tool_exit_code(err) : 0;
    }
    if (!status) {
        r->folder = folder_of(found ? found : name);
        status = r->folder ? 0 : TOOL_IO;
        if (status)
            tool_say(r->name, NULL, "%s", strerror(errno));
    }
    if (status) {
        recipe_release(r);
        return status;
    }
    schema_loader(r->schema, recipe_load_source, r);
    return 0;
}

void recipe_release(struct recipe *r)
{
    schema_free(r->schema);
    free(r->folder);
    free(r->found);
    *r = (struct recipe){0};
}

int recipe_datarep(const char *name, char *datarep, size_t size)
{
    struct recipe recipe;
    const char *own = NULL;
    int err, status = recipe_read(&recipe, name);

    if (status)
        return status;
    err = schema_declare(recipe.schema, &own, recipe_say, &recipe);
    snprintf(datarep, size, "%s", own ? own : "internal");
    recipe_release(&recipe);
    return err ? tool_exit_code(err) : 0;
}
#else
int recipe_datarep(const char *name, char *datarep, size_t size)
{
    (void)datarep, (void)size;
    tool_say(name, NULL, "built without libyaml, so without schemas");
    return TOOL_CORRUPT;
}
#endif
