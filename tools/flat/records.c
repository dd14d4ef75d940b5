/* records.c - files of records: Fortran's, and IBM's.
 *
 * All lengths are read and checked once, when the file is opened.  Places to begin at are marked
 * on the way, so that elements can be read in any order. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/records.h"
#include "base/mem.h"
#include "base/vec.h"
#include "tools/flat/blocking.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/fullio.h"
#include "tools/host/message.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct record_form forms[] = {
    {"4-little", 4, false, false, false, false}, {"4-big", 4, true, false, false, false},
    {"8-little", 8, false, false, false, false}, {"8-big", 8, true, false, false, false},
    {"V", 4, true, true, false, true},           {"VB", 4, true, true, true, false},
    {"VBS", 4, true, true, true, true},          {"fortran", 0, false, false, false, false}};
enum { FORMS = sizeof forms / sizeof *forms, FORTRAN_FORMS = 4 };

#define MARK_STEP ((int64_t)1 << 20) /* bytes of the file from one mark to the next */

struct record_mark {
    struct record_place place;
    int64_t before; /* bytes of the payload */
};

const struct record_form *records_form(const char *how)
{
    int i;

    for (i = 0; i < FORMS; i++)
        if (strcmp(how, forms[i].name) == 0)
            return &forms[i];
    return NULL;
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
    char what[120];
};

static bool doubt(struct doubt *d, int64_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool doubt(struct doubt *d, int64_t at, const char *format, ...)
{
    va_list args;

    d->at = at;
    va_start(args, format);
    vsnprintf(d->what, sizeof d->what, format, args);
    va_end(args);
    return false;
}

/* ------------------------------------------------------------------- pieces */

/* The bytes of a piece, without what frames it. */
struct record_piece {
    int64_t at, size;
    bool more; /* of the same record follow */
};

static bool fortran_piece(const struct records *r, struct record_place *place,
                          struct record_piece *out, struct doubt *d)
{
    int width = r->form->width;
    bool big = r->form->big;
    int64_t at = place->at, before, behind;
    const unsigned char *p = look(r->window, at, (size_t)width);

    if (!p)
        return doubt(d, at, "the file ends within the length of a record");
    before = length_at(p, width, big);
    if (before < 0 && (width == 8 || before == INT32_MIN))
        return doubt(d, at, "the length of a record is negative");
    *out = (struct record_piece){
        .at = at + width, .size = before < 0 ? -before : before, .more = before < 0};
    if (out->size > r->size - at - 2 * width)
        return doubt(d, at, "a record is longer than the rest of the file");
    p = r->checked ? NULL : look(r->window, out->at + out->size, (size_t)width);
    if (!p && !r->checked)
        return doubt(d, at, "the file cannot be read behind a record");
    behind = p ? length_at(p, width, big) : 0;
    if (p && behind != (place->inside ? -out->size : out->size))
        return doubt(d, out->at + out->size, "the lengths before and after a record differ");
    *place = (struct record_place){.at = out->at + out->size + width, .inside = out->more};
    return true;
}

static bool ibm_block(const struct records *r, struct record_place *place, struct doubt *d)
{
    const unsigned char *p = look(r->window, place->at, 4);
    int64_t length;

    if (!p)
        return doubt(d, place->at, "the file ends within the descriptor of a block");
    length = p[0] & 0x80 ? length_at(p, 4, true) & INT32_MAX : p[0] << 8 | p[1];
    if (!(p[0] & 0x80) && (p[2] || p[3]))
        return doubt(d, place->at + 2, "the descriptor of a block ends in 0x%02x%02x, not in zeros",
                     (unsigned)p[2], (unsigned)p[3]);
    if (length < 8)
        return doubt(d, place->at, "a block of %" PRId64 " bytes holds no record", length);
    if (length > r->size - place->at)
        return doubt(d, place->at,
                     "a block of %" PRId64 " bytes is longer than the rest of the file", length);
    place->block = place->at + length;
    place->at += 4;
    return true;
}

/* Whether a segment may stand where it does: codes 1 and 3 continue, 2 and 3 are continued. */
static bool ibm_segment(const struct records *r, const struct record_place *place,
                        const unsigned char *p, struct doubt *d)
{
    if (p[2] > 3)
        return doubt(d, place->at + 2, "segment code %d is not 0, 1, 2 or 3", p[2]);
    if (p[2] && !r->form->spanned)
        return doubt(d, place->at + 2, "a record in segments; --records=VBS joins them");
    if (p[3])
        return doubt(d, place->at + 3, "the descriptor of a record ends in 0x%02x, not in zero",
                     (unsigned)p[3]);
    if (place->inside && !(p[2] & 2))
        return doubt(d, place->at + 2, "a record begins before the last segment of another");
    if (!place->inside && p[2] & 2)
        return doubt(d, place->at + 2, "a segment continues no record");
    return true;
}

static bool ibm_piece(const struct records *r, struct record_place *place, struct record_piece *out,
                      struct doubt *d)
{
    const char *whole = r->form->blocked ? "block" : "file";
    const unsigned char *p;
    int64_t rest, length;

    if (r->form->blocked && place->at == place->block && !ibm_block(r, place, d))
        return false;
    rest = (r->form->blocked ? place->block : r->size) - place->at;
    p = rest < 4 ? NULL : look(r->window, place->at, 4);
    if (!p)
        return doubt(d, place->at, "the %s ends within the descriptor of a record", whole);
    length = p[0] << 8 | p[1];
    if (length < 4)
        return doubt(d, place->at,
                     "the length of a record is %" PRId64 ", less than that of its descriptor",
                     length);
    if (length > rest)
        return doubt(d, place->at,
                     "a record of %" PRId64 " bytes is longer than the rest of the %s", length,
                     whole);
    if (!ibm_segment(r, place, p, d))
        return false;
    *out = (struct record_piece){.at = place->at + 4, .size = length - 4, .more = p[2] & 1};
    place->at += length;
    place->inside = out->more;
    return true;
}

static bool next_piece(const struct records *r, struct record_place *place,
                       struct record_piece *out, struct doubt *d)
{
    return r->form->ibm ? ibm_piece(r, place, out, d) : fortran_piece(r, place, out, d);
}

/* ------------------------------------------------------------------ opening */

static bool add_mark(struct records *r, const struct record_place *place)
{
    if (r->nmarks > 0 && place->at - r->marks[r->nmarks - 1].place.at < MARK_STEP)
        return true;
    if (VEC_ROOM(r->marks, r->nmarks, r->room, 1)) {
        errno = ENOMEM;
        return false;
    }
    r->marks[r->nmarks++] = (struct record_mark){.place = *place, .before = r->payload};
    return true;
}

/* Elements that lie across records are none: one record of another kind would move all others. */
static bool whole_elements(const struct records *r, int64_t at, int64_t size, int64_t item,
                           struct doubt *d)
{
    if (!r->form->ibm || item <= 0 || size % item == 0)
        return true;
    return doubt(d, at,
                 "record %" PRId64 ", of %" PRId64
                 " bytes, is not a whole number of elements of %" PRId64,
                 r->count + 1, size, item);
}

static bool scan_records(struct records *r, int64_t item, struct doubt *d)
{
    struct record_place place = {0};
    int64_t record = 0, first = 0;
    struct record_piece piece;

    r->count = r->payload = 0;
    r->nmarks = 0;
    while (place.at < r->size) {
        if (!add_mark(r, &place) || !next_piece(r, &place, &piece, d))
            return false;
        first = record == 0 ? piece.at : first;
        r->payload += piece.size;
        record += piece.size;
        if (piece.more)
            continue;
        if (!whole_elements(r, first, record, item, d))
            return false;
        r->count++;
        record = 0;
    }
    return !place.inside ||
           doubt(d, place.at, "the last record extends beyond the end of the file");
}

static int say_doubt(const struct records *r, const struct doubt *d)
{
    if (errno) {
        tool_say(r->file, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    tool_say(r->file, NULL, "%s (byte %" PRId64 ")", d->what, d->at);
    return TOOL_CORRUPT;
}

/* Tries each form of Fortran's, or the one that is given; 0 where one fits. */
static int try_forms(struct records *r, const struct record_form *given, int64_t item)
{
    struct doubt first = {.at = -1}, d = {.at = 0};
    const char *blocking;
    int i, status;

    for (i = 0; i < (given->width ? 1 : FORTRAN_FORMS); i++) {
        r->form = given->width ? given : &forms[i];
        errno = 0;
        if (scan_records(r, item, &d))
            return 0;
        if (d.at > first.at || errno)
            first = d;
        if (errno)
            break;
    }
    blocking = errno ? NULL : blocking_of(r->fd, r->size);
    if (given->width == 0 && !errno)
        tool_say(r->file, NULL, "not Fortran records, or of an unknown kind");
    status = say_doubt(r, &first);
    if (blocking)
        tool_say(r->file, NULL, "it seems to be %s, which is not read", blocking);
    return status;
}

int records_open(struct records *out, const char *file, int fd, const char *how, int64_t item)
{
    struct records r = {.file = file, .fd = fd, .window = malloc(sizeof *r.window)};
    struct stat st;
    int status;

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
    status = try_forms(&r, records_form(how), item);
    if (status) {
        records_release(&r);
        return status;
    }
    r.checked = true;
    *out = r;
    return 0;
}

void records_release(struct records *r)
{
    free(r->window);
    mem_free(r->marks);
    *r = (struct records){0};
}

/* ------------------------------------------------------------------ reading */

/* Short parts come from the window, long ones go where they belong. */
static int read_part(struct records *r, unsigned char *to, size_t size, int64_t at)
{
    const unsigned char *seen =
        size <= sizeof r->window->bytes / 4 ? look(r->window, at, size) : NULL;
    ssize_t n;

    if (seen) {
        memcpy(to, seen, size);
        return 0;
    }
    errno = 0;
    n = full_read(r->fd, to, size, at);
    if (n >= 0 && (size_t)n == size)
        return 0;
    tool_say(r->file, NULL, "%s (byte %" PRId64 ")",
             n < 0 ? strerror(errno) : "the file was truncated meanwhile", at);
    return TOOL_IO;
}

/* The last mark at or before a position of the payload. */
static const struct record_mark *mark_of(const struct records *r, int64_t position)
{
    size_t low = 0, high = r->nmarks, middle;

    while (high - low > 1) {
        middle = low + (high - low) / 2;
        if (r->marks[middle].before <= position)
            low = middle;
        else
            high = middle;
    }
    return &r->marks[low];
}

static int step(struct records *r)
{
    struct record_piece piece;
    struct doubt d;

    errno = 0;
    if (r->behind.at >= r->size)
        doubt(&d, r->behind.at, "the file was truncated meanwhile");
    else if (next_piece(r, &r->behind, &piece, &d)) {
        r->before += r->length;
        r->at = piece.at;
        r->length = piece.size;
        return 0;
    }
    say_doubt(r, &d);
    return TOOL_IO;
}

/* Makes the piece with this position of the payload the current one. */
static int seek(struct records *r, int64_t position)
{
    const struct record_mark *mark;
    int status = 0;

    if (position < r->before || position - r->before > r->length + MARK_STEP) {
        mark = mark_of(r, position);
        if (position < r->before || mark->before > r->before + r->length) {
            r->behind = mark->place;
            r->before = mark->before;
            r->length = 0;
        }
    }
    while (!status && position - r->before >= r->length)
        status = step(r);
    return status;
}

int records_read(struct records *r, int64_t position, void *buf, size_t size)
{
    unsigned char *to = buf;
    int64_t left;
    size_t part;
    int status = 0;

    while (size > 0 && !status) {
        status = seek(r, position);
        if (status)
            break;
        left = r->length - (position - r->before);
        part = (uint64_t)left < size ? (size_t)left : size;
        status = read_part(r, to, part, r->at + (position - r->before));
        to += part;
        size -= part;
        position += (int64_t)part;
    }
    return status;
}

int64_t records_byte(struct records *r, int64_t position)
{
    return seek(r, position) ? -1 : r->at + (position - r->before);
}

size_t records_mark(int width, bool big, int64_t length, unsigned char *out)
{
    int i;

    for (i = 0; i < width; i++)
        out[big ? width - 1 - i : i] = (unsigned char)((uint64_t)length >> (8 * i) & 0xff);
    return (size_t)width;
}
