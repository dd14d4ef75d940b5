/* npy_in.c - a .npy file as a source. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/npy_in.h"
#include "tools/flat/npy.h"
#include "tools/flat/source.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/fullio.h"
#include "tools/host/message.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct npy_source {
    struct npy npy;
    struct npy_types types;
    int fd;
    char *bytes;   /* a box as it lies in the file */
    char *numbers; /* and as `numbers`, where that is not `stored` */
    size_t cap, numbers_cap;
};

static void npy_source_release(struct source *s)
{
    struct npy_source *n = s->own;

    npy_release(&n->npy);
    npy_types_release(&n->types);
    free(n->bytes);
    free(n->numbers);
    free(n);
}

static int read_bytes(const struct source *s, int64_t offset, void *buf, size_t size)
{
    const struct npy_source *n = s->own;
    ssize_t got = full_read(n->fd, buf, size, offset);

    if (got == (ssize_t)size)
        return 0;
    tool_say(s->file, NULL, "%s (byte %" PRId64 ")",
             got < 0 ? strerror(errno) : "the file ends before the array does",
             offset + (got < 0 ? 0 : got));
    return got < 0 ? TOOL_IO : TOOL_CORRUPT;
}

/* Runs of elements that lie one behind the other, the first dimension fastest. */
static int read_columns(const struct source *s, const int64_t *start, const int64_t *count,
                        char *to)
{
    const struct npy_source *n = s->own;
    int64_t item = npy_item_size(&n->npy.dtype), run = count[0], at[DREP_MAX_RANK] = {0}, offset,
            stride;
    int d, first, status;

    for (first = 1; first < s->rank && count[first - 1] == s->dims[first - 1]; first++)
        run *= count[first];
    for (;;) {
        for (offset = 0, stride = 1, d = 0; d < s->rank; d++) {
            offset += (start[d] + at[d]) * stride;
            stride *= s->dims[d];
        }
        status = read_bytes(s, n->npy.data + offset * item, to, (size_t)(run * item));
        if (status)
            return status;
        to += run * item;
        for (d = first; d < s->rank && ++at[d] == count[d]; d++)
            at[d] = 0;
        if (d == s->rank)
            return 0;
    }
}

static int room(char **buf, size_t *cap, size_t size)
{
    if (size <= *cap)
        return 0;
    free(*buf);
    *buf = malloc(size);
    *cap = *buf ? size : 0;
    return *buf ? 0 : tool_no_memory();
}

static int convert(struct source *s, int64_t first, int64_t len, void *buf)
{
    struct npy_source *n = s->own;
    size_t size = (size_t)(len * drep_type_extent(n->types.numbers));
    void *numbers = buf;
    int64_t at;
    int err, status;

    if (n->types.text) {
        status = room(&n->numbers, &n->numbers_cap, size);
        if (status)
            return status;
        numbers = n->numbers;
        memset(numbers, 0, size);
    }
    err = drep_convert(n->types.numbers, numbers, n->types.file, n->bytes, len, NULL);
    if (err)
        return tool_fail(s->file, NULL, err);
    err = n->types.text ? npy_texts_in(&n->types, len, numbers, buf, &at) : 0;
    if (err == DREP_ERR_NOMEM)
        return tool_no_memory();
    if (!err)
        return 0;
    tool_say(s->file, NULL,
             "element %" PRId64
             " has a text that is not Unicode, or with a NUL inside (byte %" PRId64 ")",
             first + at, n->npy.data + (first + at) * npy_item_size(&n->npy.dtype));
    return TOOL_CORRUPT;
}

static int read_box(struct source *s, const int64_t *start, const int64_t *count, void *buf)
{
    struct npy_source *n = s->own;
    int64_t item = npy_item_size(&n->npy.dtype), len = 1, first = 0;
    int d, status;

    for (d = 0; d < s->rank; d++) {
        len *= count[d];
        first = first * s->dims[d] + start[d];
    }
    status = room(&n->bytes, &n->cap, (size_t)(len * item));
    if (status)
        return status;
    if (s->column_major)
        status = read_columns(s, start, count, n->bytes);
    else
        status = read_bytes(s, n->npy.data + first * item, n->bytes, (size_t)(len * item));
    return status ? status : convert(s, first, len, buf);
}

static bool npy_bytes_unused(struct source *s)
{
    const struct npy_source *n = s->own;
    off_t end = lseek(n->fd, 0, SEEK_END);

    if (end < 0 || (int64_t)end <= n->npy.data + n->npy.size)
        return false;
    tool_say(s->file, NULL, "warning: %" PRId64 " bytes after the array are left out",
             (int64_t)end - n->npy.data - n->npy.size);
    return true;
}

/* NumPy's own description, where ours would not give the same but for the order of bytes. */
static int keep_descr(struct source *s, const struct npy_source *n)
{
    struct npy_dtype ours;
    const char *what;
    char *theirs = npy_descr(&n->npy.dtype), *mine = NULL, *p, *q;
    bool exact;

    if (npy_dtype_of(n->types.stored, 0, &ours, &what, &exact)) {
        mine = npy_descr(&ours);
        npy_dtype_release(&ours);
    }
    if (!theirs) {
        free(mine);
        return tool_no_memory();
    }
    for (p = theirs, q = mine; q && *p && *q; p++, q++) {
        bool order = p > theirs && p[-1] == '\'' && strchr("<>", *p) && strchr("<>", *q);

        if (*p == 'U' && *q == 'U' && p > theirs && strchr("<>", p[-1])) {
            /* Texts are as long as the longest. */
            p += strspn(p + 1, "0123456789");
            q += strspn(q + 1, "0123456789");
        } else if (*p != *q && !order) {
            break;
        }
    }
    if (q && *p == *q) {
        free(theirs);
        theirs = NULL;
    }
    free(mine);
    s->note = theirs;
    s->note_name = NPY_DESCR;
    return 0;
}

/* The front of the file tells how long the header is. */
static int read_header(const struct source *s, struct npy *out)
{
    unsigned char front[NPY_FRONT], *bytes;
    const char *why;
    char wrong[256];
    size_t size, at;
    int status = read_bytes(s, 0, front, sizeof front);

    if (status)
        return status;
    size = npy_header_size(front, &why);
    if (size == 0) {
        tool_say(s->file, NULL, "%s", why);
        return TOOL_CORRUPT;
    }
    bytes = malloc(size);
    status = bytes ? read_bytes(s, 0, bytes, size) : tool_no_memory();
    at = status ? 0 : npy_read(out, bytes, size, wrong);
    free(bytes);
    if (at) {
        tool_say(s->file, NULL, "%s (byte %zu)", wrong, at);
        return strcmp(wrong, NPY_OBJECTS) == 0 ? TOOL_DIFFERS : TOOL_CORRUPT;
    }
    return status;
}

static int npy_source_prepare(struct source *s, struct npy_source *n)
{
    int err, status = read_header(s, &n->npy);

    if (status)
        return status;
    err = npy_types(&n->npy.dtype, &n->types);
    if (err)
        return tool_fail(s->file, NULL, err);
    s->type = drep_type_ref(n->types.stored);
    s->stored = drep_type_ref(n->types.stored);
    s->rank = n->npy.rank;
    memcpy(s->dims, n->npy.dims, sizeof s->dims);
    s->column_major = n->npy.fortran && n->npy.rank > 1;
    s->order_name = s->column_major ? NPY_ORDER : NULL;
    return keep_descr(s, n);
}

int source_npy(struct source *out, const char *file, int fd)
{
    int status = source_npy_member(out, file, fd);

    return status == TOOL_DIFFERS ? TOOL_CORRUPT : status;
}

int source_npy_member(struct source *out, const char *file, int fd)
{
    struct npy_source *n = calloc(1, sizeof *n);
    struct source s = {.file = file,
                       .read = read_box,
                       .rest = npy_bytes_unused,
                       .release = npy_source_release,
                       .own = n};
    int status;

    if (!n)
        return tool_no_memory();
    n->fd = fd;
    status = npy_source_prepare(&s, n);
    if (status)
        source_release(&s);
    else
        *out = s;
    return status;
}
