/* records.c - Fortran's sequential unformatted files. */
#include "tools/flat/records.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/fullio.h"
#include "tools/host/message.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct form {
    const char *name;
    int width;
    bool big;
} forms[] = {
    {"4-little", 4, false}, {"4-big", 4, true}, {"8-little", 8, false}, {"8-big", 8, true}};
enum { FORMS = sizeof forms / sizeof *forms };

bool records_form(const char *how, int *width, bool *big)
{
    int i;

    *width = 0;
    *big = false;
    if (strcmp(how, "fortran") == 0)
        return true;
    for (i = 0; i < FORMS; i++) {
        if (strcmp(how, forms[i].name) != 0)
            continue;
        *width = forms[i].width;
        *big = forms[i].big;
        return true;
    }
    return false;
}

/* A window of the file, so that short records do not cost a call each. */
struct file_window {
    int fd;
    int64_t at;
    size_t len;
    unsigned char bytes[65536];
};

/* `size` bytes at this place, NULL (errno 0) where the file ends before. */
static const unsigned char *look(struct file_window *w, int64_t at, size_t size)
{
    ssize_t n;

    if (at < w->at || at - w->at > (int64_t)w->len - (int64_t)size) {
        errno = 0;
        n = full_read(w->fd, w->bytes, sizeof w->bytes, at);
        w->at = at;
        w->len = n > 0 ? (size_t)n : 0;
        if (w->len < size)
            return NULL;
    }
    return w->bytes + (at - w->at);
}

static int64_t length_at(const unsigned char *p, int width, bool big)
{
    uint64_t value = 0;
    int i;

    for (i = 0; i < width; i++)
        value = value << 8 | p[big ? i : width - 1 - i];
    return width == 4 ? (int64_t)(int32_t)(uint32_t)value : (int64_t)value;
}

/* Report an error in the file, with its position. */
struct doubt {
    int64_t at;
    const char *what;
};

static bool doubt(struct doubt *d, int64_t at, const char *what)
{
    *d = (struct doubt){.at = at, .what = what};
    return false;
}

/* One piece: its length, whether more follow, and whether it continues another. */
static bool piece(const struct records *r, int64_t at, bool inside, int64_t *length, bool *more,
                  struct doubt *d)
{
    const unsigned char *p = look(r->window, at, (size_t)r->width);
    int64_t before, behind;

    if (!p)
        return doubt(d, at, "the file ends within the length of a record");
    before = length_at(p, r->width, r->big);
    *more = before < 0 && r->width == 4;
    if (before < 0 && (r->width == 8 || before == INT32_MIN))
        return doubt(d, at, "the length of a record is negative");
    *length = before < 0 ? -before : before;
    if (*length > r->size - at - 2 * r->width)
        return doubt(d, at, "a record is longer than the rest of the file");
    p = look(r->window, at + r->width + *length, (size_t)r->width);
    if (!p)
        return doubt(d, at, "the file cannot be read behind a record");
    behind = length_at(p, r->width, r->big);
    if (behind != (inside ? -*length : *length))
        return doubt(d, at + r->width + *length, "the lengths before and after a record differ");
    return true;
}

static bool scan(struct records *r, struct doubt *d)
{
    int64_t at = 0, length, record = 0;
    bool more = false, inside = false;

    r->count = r->payload = r->longest = 0;
    r->shortest = r->size;
    while (at < r->size) {
        if (!piece(r, at, inside, &length, &more, d))
            return false;
        at += length + 2 * r->width;
        r->payload += length;
        record += length;
        inside = more;
        if (more)
            continue;
        r->count++;
        r->shortest = record < r->shortest ? record : r->shortest;
        r->longest = record > r->longest ? record : r->longest;
        record = 0;
    }
    return !inside || doubt(d, at, "the last record extends beyond the end of the file");
}

static int say(const struct records *r, const struct doubt *d)
{
    if (errno) {
        tool_say(r->file, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    tool_say(r->file, NULL, "%s (byte %" PRId64 ")", d->what, d->at);
    return TOOL_CORRUPT;
}

int records_open(struct records *out, const char *file, int fd, const char *how)
{
    struct records r = {.file = file, .fd = fd, .window = malloc(sizeof *r.window)}, one;
    struct doubt first = {.at = -1}, d;
    struct stat st;
    int i, status;

    if (!r.window)
        return tool_no_memory();
    r.window->fd = fd;
    r.window->len = 0;
    if (fstat(fd, &st) != 0) {
        tool_say(file, NULL, "%s", strerror(errno));
        records_release(&r);
        return TOOL_IO;
    }
    r.size = st.st_size;
    records_form(how, &r.width, &r.big);
    for (i = 0; i < FORMS; i++) {
        one = r;
        one.width = forms[i].width;
        one.big = forms[i].big;
        if (r.width && (one.width != r.width || one.big != r.big))
            continue;
        errno = 0;
        if (scan(&one, &d)) {
            *out = one;
            return 0;
        }
        if (errno) {
            first = d;
            break;
        }
        if (d.at > first.at)
            first = d;
    }
    if (r.width == 0 && !errno)
        tool_say(file, NULL, "not Fortran records, or of an unknown kind");
    status = say(&r, &first);
    records_release(&r);
    return status;
}

void records_release(struct records *r)
{
    free(r->window);
    *r = (struct records){0};
}

/* Short pieces come from the window, long ones go where they belong. */
static int read_piece(struct records *r, unsigned char *to, size_t size)
{
    const unsigned char *seen;
    ssize_t n;

    errno = 0;
    while (size > 0) {
        seen = size <= sizeof r->window->bytes / 4 ? look(r->window, r->at, size) : NULL;
        n = seen ? (ssize_t)size : pread(r->fd, to, size, r->at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            tool_say(r->file, NULL, "%s (byte %" PRId64 ")",
                     n ? strerror(errno) : "the file was truncated meanwhile", r->at);
            return TOOL_IO;
        }
        if (seen)
            memcpy(to, seen, size);
        to += n;
        size -= (size_t)n;
        r->at += n;
        r->left -= n;
    }
    return 0;
}

int records_read(struct records *r, void *buf, size_t size)
{
    unsigned char *to = buf, mark[8];
    size_t part;
    int status;

    while (size > 0) {
        if (r->left == 0) {
            /* Behind the length of the piece before, if there is one. */
            r->at += r->at > 0 ? r->width : 0;
            r->left = r->width;
            status = read_piece(r, mark, (size_t)r->width);
            if (status)
                return status;
            r->left = length_at(mark, r->width, r->big);
            r->left = r->left < 0 ? -r->left : r->left;
            if (r->left == 0)
                continue;
        }
        part = (uint64_t)r->left < size ? (size_t)r->left : size;
        status = read_piece(r, to, part);
        if (status)
            return status;
        to += part;
        size -= part;
    }
    return 0;
}

size_t records_mark(int width, bool big, int64_t length, unsigned char *out)
{
    int i;

    for (i = 0; i < width; i++)
        out[big ? width - 1 - i : i] = (unsigned char)((uint64_t)length >> (8 * i) & 0xff);
    return (size_t)width;
}
