/* view_data.c - the files that `datarep view` shows.
 *
 * The page reads bytes, not elements: the server needs only a file's size, a tag of its version and
 * its bytes.  The handle of the library stays open so that no writer reuses the space of the commit
 * that the page reads. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/view_data.h"
#include "base/url.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/fullio.h"
#include "tools/host/label.h"
#include "tools/host/message.h"
#include "tools/host/module.h"
#include "tools/host/open.h"
#include <datarep.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD 8192          /* bytes that hold both header slots, which tell the commit */
#define REMOTE_INTERFACE 1 /* of datarep-http.so: lib/io/url.c has the contract */

typedef int remote_open_fn(const char *url, int by_file, const drep_info *hints,
                           drep_driver *driver, void **state);

struct view_source {
    drep_file *file;    /* keeps the commit */
    int fd;             /* a local file; -1: by the driver */
    drep_driver driver; /* a URL */
    void *state;
};

static int read_bytes(void *state, void *buf, size_t size, uint64_t offset)
{
    struct view_source *s = state;
    drep_range range = {.offset = offset, .size = size, .buf = buf};

    if (s->fd < 0)
        return s->driver.read_many(s->state, &range, 1);
    return full_read(s->fd, buf, size, (off_t)offset) == (ssize_t)size ? 0 : DREP_ERR_IO;
}

/* The tag is strong: the slots have number and checksum of the commit. */
static int tag_of(struct view_source *s, uint64_t size, char tag[VIEW_TAG])
{
    size_t n = size < HEAD ? (size_t)size : HEAD;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    uint8_t head[HEAD];
    int err = read_bytes(s, head, n, 0);

    for (size_t i = 0; i < n && !err; i++)
        hash = (hash ^ head[i]) * UINT64_C(0x100000001b3);
    if (!err)
        snprintf(tag, VIEW_TAG, "\"%016" PRIx64 "-%" PRIx64 "\"", hash, size);
    return err;
}

static int version_now(void *state, uint64_t *size, char tag[VIEW_TAG])
{
    struct view_source *s = state;
    struct stat st;
    int err;

    if (s->fd < 0) {
        err = s->driver.file_size(s->state, size);
    } else {
        err = fstat(s->fd, &st) == 0 ? 0 : DREP_ERR_IO;
        *size = err ? 0 : (uint64_t)st.st_size;
    }
    return err ? err : tag_of(s, *size, tag);
}

const char *view_data_name(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash && slash[1] ? slash + 1 : name;
}

void view_data_list(struct sink *s, int number, const char *name, const char *url, const char *path)
{
    char shown[4096];
    const char *last = view_data_name(url_shown(name, shown, sizeof shown));

    sink_text(s, number ? ", {\"name\": " : "[{\"name\": ");
    sink_quoted(s, last, strlen(last));
    sink_text(s, ", \"url\": ");
    sink_quoted(s, url, strlen(url));
    if (path) {
        sink_text(s, ", \"path\": ");
        sink_quoted(s, path, strlen(path));
    }
    sink_char(s, '}');
}

/* The hints in force, with the secrets of the environment, which a file does not give back. */
static int remote_hints(drep_file *file, const drep_info *given, drep_info **out)
{
    drep_info *all;
    int err = drep_get_info(file, &all);

    for (int i = 0; !err && i < drep_info_count(given); i++) {
        const char *key = drep_info_key(given, i);

        err = drep_info_set(all, key, drep_info_get(given, key));
    }
    if (!err)
        *out = all;
    return err;
}

static int open_remote(struct view_source *s, const char *url, const char *shown,
                       const drep_info *given)
{
    void *module = module_load("http", REMOTE_INTERFACE);
    remote_open_fn *open_url = NULL;
    drep_info *hints = NULL;
    int err;

    if (!module)
        return TOOL_CORRUPT;
    *(void **)&open_url = dlsym(module, "datarep_http_read");
    if (!open_url)
        return TOOL_CORRUPT;
    err = remote_hints(s->file, given, &hints);
    if (!err)
        err = open_url(url, 0, hints, &s->driver, &s->state);
    drep_info_free(hints);
    return err ? tool_fail(shown, NULL, err) : 0;
}

static int open_local(struct view_source *s, const char *path)
{
    struct stat st;

    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd >= 0 && fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode))
        return 0;
    tool_say(path, NULL, "%s", s->fd < 0 ? strerror(errno) : "not a regular file");
    return TOOL_IO;
}

int view_data_open(struct view_data *data, const char *name)
{
    struct view_source *s = calloc(1, sizeof *s);
    drep_info *info = NULL;
    int err, status;

    if (!s)
        return tool_no_memory();
    s->fd = -1;
    s->driver = DREP_DRIVER();
    *data = (struct view_data){.state = s, .now = version_now, .read = read_bytes};
    /* Not by tool_open(): its limits of time and memory are for runs that end by themselves. */
    err = tool_info(NULL, &info);
    status = url_is(name) ? 0 : open_local(s, name);
    if (!err && !status)
        err = drep_open(label_opened(name), DREP_RDONLY, info, &s->file);
    if (err)
        status = tool_fail(name, NULL, err);
    if (!status && url_is(name))
        status = open_remote(s, label_opened(name), name, info);
    drep_info_free(info);
    return status;
}

void view_data_close(struct view_data *data)
{
    struct view_source *s = data->state;

    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    if (s->state && s->driver.close)
        s->driver.close(s->state);
    drep_close(s->file);
    free(s);
    data->state = NULL;
}
