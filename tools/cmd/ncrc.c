/* ncrc.c - the lines of .ncrc by which netCDF-C loads the library for its programs. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/ncrc.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/fullio.h"
#include "tools/host/message.h"
#include "tools/host/outfile.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* netCDF-C reads the whole file into memory at the start of each program. */
#define NCRC_MAX (1 << 20)

/* ------------------------------------------------------------------ reading */

static const char *set_variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static int ncrc_place(struct ncrc *rc)
{
    const char *file = set_variable("NCRCENV_RC"), *home = set_variable("NCRCENV_HOME");
    int n;

    home = home ? home : set_variable("HOME");
    if (!file && !home) {
        tool_say(NULL, NULL, "HOME is not set: where is .ncrc?");
        return TOOL_IO;
    }
    n = file ? snprintf(rc->path, sizeof rc->path, "%s", file)
             : snprintf(rc->path, sizeof rc->path, "%s/.ncrc", home);
    if (n > 0 && (size_t)n < sizeof rc->path)
        return 0;
    tool_say(file ? file : home, NULL, "%s", strerror(ENAMETOOLONG));
    return TOOL_IO;
}

static int ncrc_read(struct ncrc *rc, int fd)
{
    struct stat st;
    ssize_t n;

    if (fstat(fd, &st) != 0) {
        tool_say(rc->path, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    if (!S_ISREG(st.st_mode) || st.st_size > NCRC_MAX) {
        tool_say(rc->path, NULL, S_ISREG(st.st_mode) ? "larger than 1 MiB" : "not a regular file");
        return TOOL_IO;
    }
    rc->text = malloc(NCRC_MAX + 1);
    if (!rc->text)
        return tool_no_memory();
    n = full_read(fd, rc->text, NCRC_MAX, -1);
    if (n < 0) {
        tool_say(rc->path, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    rc->size = (size_t)n;
    rc->there = true;
    return 0;
}

/* --------------------------------------------------------------------- lines */

enum ncrc_key { NCRC_OTHER, NCRC_LIBRARY, NCRC_INIT_KEY, NCRC_MAGIC };

struct ncrc_line {
    const char *start, *value;
    size_t size, value_size; /* with the newline; without blanks around it */
    enum ncrc_key key;
    int slot;
};

static bool ncrc_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes away the blanks around a text. */
static void ncrc_trim(const char **text, size_t *size)
{
    while (*size > 0 && ncrc_blank((*text)[*size - 1]))
        --*size;
    for (; *size > 0 && ncrc_blank(**text); ++*text)
        --*size;
}

/* Reads "NETCDF.UDFn.WORD", with n below NCRC_SLOTS. */
static enum ncrc_key ncrc_key_of(const char *key, size_t size, int *slot)
{
    static const char front[] = "NETCDF.UDF";
    static const char *const words[] = {
        [NCRC_LIBRARY] = ".LIBRARY", [NCRC_INIT_KEY] = ".INIT", [NCRC_MAGIC] = ".MAGIC"};
    size_t n = sizeof front - 1;
    enum ncrc_key k;

    if (size <= n || memcmp(key, front, n) != 0 || key[n] < '0' || key[n] >= '0' + NCRC_SLOTS)
        return NCRC_OTHER;
    *slot = key[n++] - '0';
    for (k = NCRC_LIBRARY; k <= NCRC_MAGIC; k++)
        if (strlen(words[k]) == size - n && memcmp(words[k], key + n, size - n) == 0)
            return k;
    return NCRC_OTHER;
}

/* The next line as netCDF-C reads it: comments, and values for one server ("[url]key=value"), are
 * others.  False at the end. */
static bool ncrc_next(const struct ncrc *rc, size_t *at, struct ncrc_line *line)
{
    const char *start = rc->text + *at, *end, *equals;
    size_t left = rc->size - *at, size;

    if (left == 0)
        return false;
    end = memchr(start, '\n', left);
    *line = (struct ncrc_line){.start = start, .size = end ? (size_t)(end - start) + 1 : left};
    *at += line->size;
    size = line->size;
    ncrc_trim(&start, &size);
    equals = memchr(start, '=', size);
    if (!equals)
        return true;
    line->value = equals + 1;
    line->value_size = size - (size_t)(line->value - start);
    ncrc_trim(&line->value, &line->value_size);
    size = (size_t)(equals - start);
    ncrc_trim(&start, &size);
    line->key = ncrc_key_of(start, size, &line->slot);
    return true;
}

static int ncrc_parse(struct ncrc *rc)
{
    struct ncrc_line line;
    size_t at = 0;
    char **value;

    while (ncrc_next(rc, &at, &line)) {
        struct ncrc_slot *slot = &rc->slot[line.slot];

        slot->magic = slot->magic || line.key == NCRC_MAGIC;
        if (line.key != NCRC_LIBRARY && line.key != NCRC_INIT_KEY)
            continue;
        value = line.key == NCRC_LIBRARY ? &slot->library : &slot->init;
        free(*value);
        *value = strndup(line.value, line.value_size);
        if (!*value)
            return tool_no_memory();
    }
    return 0;
}

int ncrc_load(struct ncrc *rc)
{
    int fd, status;

    *rc = (struct ncrc){.size = 0};
    status = ncrc_place(rc);
    if (status)
        return status;
    fd = open(rc->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0) {
        tool_say(rc->path, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    status = ncrc_read(rc, fd);
    close(fd);
    if (!status)
        status = ncrc_parse(rc);
    if (status)
        ncrc_release(rc);
    return status;
}

void ncrc_release(struct ncrc *rc)
{
    int i;

    for (i = 0; i < NCRC_SLOTS; i++) {
        free(rc->slot[i].library);
        free(rc->slot[i].init);
    }
    free(rc->text);
    *rc = (struct ncrc){.size = 0};
}

/* --------------------------------------------------------------------- slots */

bool ncrc_is_ours(const struct ncrc_slot *slot)
{
    return slot->init && strcmp(slot->init, NCRC_INIT) == 0;
}

bool ncrc_names(const struct ncrc_slot *slot, const char *library)
{
    return ncrc_is_ours(slot) && slot->library && strcmp(slot->library, library) == 0;
}

bool ncrc_is_free(const struct ncrc_slot *slot)
{
    return !slot->library && !slot->init && !slot->magic;
}

int ncrc_choose(const struct ncrc *rc)
{
    int i;

    for (i = 0; i < NCRC_SLOTS; i++)
        if (ncrc_is_ours(&rc->slot[i]))
            return i;
    for (i = 0; i < NCRC_SLOTS; i++)
        if (ncrc_is_free(&rc->slot[i]))
            return i;
    return -1;
}

/* ------------------------------------------------------------------- writing */

static void ncrc_put(FILE *out, int slot, const char *library)
{
    fprintf(out, "NETCDF.UDF%d.LIBRARY=%s\nNETCDF.UDF%d.INIT=%s\n", slot, library, slot, NCRC_INIT);
}

char *ncrc_edit(const struct ncrc *rc, int slot, const char *library, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    struct ncrc_line line;
    size_t at = 0;
    char last = '\n';

    if (!out)
        return NULL;
    while (ncrc_next(rc, &at, &line)) {
        bool key = line.key == NCRC_LIBRARY || line.key == NCRC_INIT_KEY;

        if (!key || !ncrc_is_ours(&rc->slot[line.slot])) {
            fwrite(line.start, 1, line.size, out);
            last = line.start[line.size - 1];
        } else if (library && line.slot == slot) {
            ncrc_put(out, slot, library);
            library = NULL;
        }
    }
    if (library) {
        fputs(last == '\n' ? "" : "\n", out);
        ncrc_put(out, slot, library);
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

int ncrc_save(const struct ncrc *rc, const char *text, size_t size)
{
    struct outfile out;
    int status;

    /* Credentials may be added to a new file. */
    if (!rc->there)
        umask(077);
    status = outfile_open_regular(&out, rc->path, false);
    if (status)
        return status;
    if (full_write(out.fd, text, size) != 0) {
        tool_say(rc->path, NULL, "%s", strerror(errno));
        status = TOOL_IO;
    }
    return tool_worse(status, outfile_close(&out, !status));
}
