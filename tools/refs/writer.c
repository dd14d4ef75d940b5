/* writer.c - the entries of a document of references. */
/* SPDX-License-Identifier: MIT */
#include "tools/refs/writer.h"
#include "base/vec.h"
#include "format/utf8.h"
#include "tools/host/message.h"
#include "tools/refs/base64.h"
#include <errno.h>
#include <string.h>

void writer_left_out(struct refs_writer *w, const char *path, const char *why)
{
    w->refs->left_out++;
    if (!w->refs->quiet)
        tool_say(w->refs->file_name, path, "left out: %s", why);
}

void writer_note(const struct refs_writer *w, const char *path, const char *note)
{
    if (!w->refs->quiet)
        tool_say(w->refs->file_name, path, "note: %s", note);
}

void writer_key(struct refs_writer *w, const char *path, const char *name)
{
    size_t folder = strlen(path + 1), size = strlen(name);

    if (VEC_ROOM(w->key, 0, w->key_room, folder + size + 2)) {
        w->sink->err = ENOMEM;
        return;
    }
    memcpy(w->key, path + 1, folder);
    w->key[folder] = '/';
    folder += folder > 0;
    memcpy(w->key + folder, name, size);
    sink_text(w->sink, w->any ? ",\n" : "\n");
    w->any = true;
    sink_quoted(w->sink, w->key, folder + size);
    sink_text(w->sink, ": ");
}

/* Put JSON text as a string of JSON.  zarr reads it as ASCII: its other characters, all of which
 * are in strings, are escaped there. */
static void ascii_put(struct sink *s, const char *text, size_t size)
{
    struct sink ascii;
    size_t at = 0;

    if (sink_init(&ascii, -1)) {
        s->err = ENOMEM;
        return;
    }
    while (at < size) {
        size_t run = at;
        uint32_t c = 0;

        while (run < size && !(text[run] & 0x80))
            run++;
        sink_put(&ascii, text + at, run - at);
        at = run;
        if (at == size)
            break;
        run = utf8_next(text + at, size - at, &c);
        at += run;
        if (run == 0) /* sink_quoted() has none such */
            c = 0xdc00 | (uint8_t)text[at++];
        if (c > 0xffff)
            sink_format(&ascii, "\\u%04x", 0xd800 + (unsigned)((c - 0x10000) >> 10));
        sink_format(&ascii, "\\u%04x", c > 0xffff ? 0xdc00 + (unsigned)(c & 0x3ff) : (unsigned)c);
    }
    sink_quoted(s, ascii.buf, ascii.len);
    if (ascii.err)
        s->err = ENOMEM;
    sink_release(&ascii);
}

void writer_document(struct refs_writer *w, const char *path, const char *name,
                     const struct sink *text)
{
    writer_key(w, path, name);
    ascii_put(w->sink, text->buf, text->len);
}

void writer_place(struct refs_writer *w, const char *target, int64_t offset, int64_t size)
{
    sink_char(w->sink, '[');
    sink_quoted(w->sink, target, strlen(target));
    sink_text(w->sink, ", ");
    sink_i64(w->sink, offset);
    sink_text(w->sink, ", ");
    sink_i64(w->sink, size);
    sink_char(w->sink, ']');
}

void writer_bytes(struct refs_writer *w, const void *bytes, size_t size)
{
    sink_text(w->sink, "\"base64:");
    base64_put(w->sink, bytes, size);
    sink_char(w->sink, '"');
}
