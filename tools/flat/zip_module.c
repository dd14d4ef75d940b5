/* zip_module.c - what becomes datarep-zip.so: zip archives through libzip. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/zip.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#define BUFFER ((size_t)1 << 20)

int datarep_zip_interface(void)
{
    return DATAREP_ZIP_INTERFACE;
}

static int zip_fail(char *why, const char *name, const char *what)
{
    snprintf(why, ZIP_WHY, "%.90s%s%.150s", name, *name ? ": " : "", what);
    return 1;
}

/* ------------------------------------------------------------------- reading */

static int put(int fd, const char *buf, size_t size)
{
    ssize_t n;

    for (; size > 0; buf += n, size -= (size_t)n) {
        n = write(fd, buf, size);
        if (n < 0)
            return -1;
    }
    return 0;
}

/* Into a file without a name, which also checks its sum. */
static int unpack(zip_t *archive, zip_uint64_t index, const char *name, zip_unpacked_fn *unpacked,
                  char *buf, int *out, char *why)
{
    const char *dir = getenv("TMPDIR");
    char path[4096];
    zip_file_t *member = zip_fopen_index(archive, index, 0);
    zip_int64_t n = 0;
    int fd, over = 0;

    if (!member)
        return zip_fail(why, name, zip_strerror(archive));
    snprintf(path, sizeof path, "%s/datarep-XXXXXX", dir && *dir ? dir : "/tmp");
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    while (fd >= 0 && (n = zip_fread(member, buf, BUFFER)) > 0 &&
           (over = unpacked((size_t)n)) == 0 && put(fd, buf, (size_t)n) == 0)
        ;
    if (over) {
        zip_fclose(member);
        close(fd);
        return -1;
    }
    if (fd < 0 || n > 0) {
        zip_fail(why, path, "cannot be written");
    } else if (n < 0) {
        zip_fail(why, name, zip_file_strerror(member));
    } else if (zip_fclose(member) == 0) {
        *out = fd;
        return 0;
    } else {
        close(fd);
        return zip_fail(why, name, "its checksum is wrong");
    }
    zip_fclose(member);
    if (fd >= 0)
        close(fd);
    return 1;
}

static int each_member(zip_t *archive, zip_member_fn *fn, zip_unpacked_fn *unpacked, void *ctx,
                       int *status, char *why)
{
    zip_int64_t i, n = zip_get_num_entries(archive, 0);
    char *buf = malloc(BUFFER);
    int fd, result = buf ? 0 : zip_fail(why, "", "out of memory");

    for (i = 0; i < n && !result; i++) {
        const char *name = zip_get_name(archive, (zip_uint64_t)i, 0);
        size_t size = name ? strlen(name) : 0;

        if (size == 0 || name[size - 1] == '/') /* a folder */
            continue;
        result = unpack(archive, (zip_uint64_t)i, name, unpacked, buf, &fd, why);
        if (result)
            break;
        *status = fn(ctx, name, fd);
        close(fd);
        result = *status ? -1 : 0;
    }
    free(buf);
    return result;
}

int datarep_zip_each(int fd, zip_member_fn *fn, zip_unpacked_fn *unpacked, void *ctx, int *status,
                     char *why)
{
    zip_error_t error;
    zip_t *archive;
    int code, result, own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    archive = own < 0 ? NULL : zip_fdopen(own, 0, &code);
    if (!archive) {
        if (own < 0)
            return zip_fail(why, "", "out of descriptors");
        close(own);
        zip_error_init_with_code(&error, code);
        zip_fail(why, "", zip_error_strerror(&error));
        zip_error_fini(&error);
        return 1;
    }
    result = each_member(archive, fn, unpacked, ctx, status, why);
    zip_discard(archive);
    return result;
}

/* ------------------------------------------------------------------- writing */

struct pull {
    const struct zip_input *input;
    bool *said;
    zip_error_t error;
};

static zip_int64_t pull(void *state, void *data, zip_uint64_t size, zip_source_cmd_t command)
{
    struct pull *p = state;
    zip_int64_t n = 0;

    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              -1);
    case ZIP_SOURCE_STAT:
        if (size < sizeof(zip_stat_t))
            return -1;
        zip_stat_init(data);
        return sizeof(zip_stat_t);
    case ZIP_SOURCE_OPEN:
        n = p->input->begin(p->input->ctx);
        break;
    case ZIP_SOURCE_READ:
        n = p->input->read(p->input->ctx, data, size);
        break;
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&p->error, data, size);
    case ZIP_SOURCE_FREE:
        zip_error_fini(&p->error);
        free(p);
        return 0;
    default:
        return 0;
    }
    if (n < 0) {
        *p->said = true;
        zip_error_set(&p->error, ZIP_ER_READ, 0);
    }
    return n;
}

static int zip_add_input(zip_t *archive, const struct zip_input *input, bool *said, char *why)
{
    struct pull *p = calloc(1, sizeof *p);
    zip_source_t *source;
    zip_int64_t index;

    if (!p)
        return zip_fail(why, "", "out of memory");
    p->input = input;
    p->said = said;
    zip_error_init(&p->error);
    source = zip_source_function(archive, pull, p);
    if (!source) {
        free(p);
        return zip_fail(why, input->name, zip_strerror(archive));
    }
    index = zip_file_add(archive, input->name, source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return zip_fail(why, input->name, zip_strerror(archive));
    }
    if (zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0)
        return zip_fail(why, input->name, zip_strerror(archive));
    return 0;
}

int datarep_zip_make(const char *path, const struct zip_input *inputs, size_t n, char *why)
{
    zip_t *archive;
    bool said = false;
    int code, result = 0;
    size_t i;

    archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!archive)
        return zip_fail(why, "", "the archive cannot be made");
    for (i = 0; i < n && !result; i++)
        result = zip_add_input(archive, &inputs[i], &said, why);
    if (result) {
        zip_discard(archive);
        return result;
    }
    if (zip_close(archive) == 0)
        return 0;
    zip_fail(why, "", zip_strerror(archive));
    zip_discard(archive);
    return said ? -1 : 1;
}
