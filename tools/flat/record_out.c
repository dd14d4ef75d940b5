/* record_out.c - bytes into records of equal length.
 *
 * A length that stands before its record is known in advance, as all are equal.  That of a block
 * is not: a block is made in memory. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/record_out.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_MAX ((int64_t)INT32_MAX - 8) /* bytes between two lengths of 4 bytes */

/* IBM's greatest block, of which descriptors are part. */
enum { BLOCK_MAX = 32760, DESCRIPTOR = 4 };

struct record_out {
    const struct outlet *outlet;
    int fd;
    struct record_form form;
    int64_t size;        /* of a record */
    int64_t left;        /* of the record, the piece included */
    int64_t piece, done; /* bytes of the piece; written of them */
    bool inside;         /* the piece continues another */
    int64_t len;         /* IBM: bytes in the block */
    unsigned char block[BLOCK_MAX];
};

/* ------------------------------------------------------------------ Fortran */

static int put_mark(const struct record_out *o, int64_t length)
{
    unsigned char mark[8];

    return outlet_put(o->outlet, o->fd, mark,
                      records_mark(o->form.width, o->form.big, length, mark));
}

/* The length before a piece is negative if another follows, behind it if one came before. */
static int fortran_begin(struct record_out *o)
{
    int64_t most = o->form.width == 4 ? PIECE_MAX : INT64_MAX;

    o->piece = o->left < most ? o->left : most;
    return put_mark(o, o->left > o->piece ? -o->piece : o->piece);
}

/* ---------------------------------------------------------------------- IBM */

static int ibm_flush(struct record_out *o)
{
    int64_t head = o->form.blocked ? DESCRIPTOR : 0;
    int status = 0;

    if (o->form.blocked) {
        memset(o->block, 0, DESCRIPTOR);
        records_mark(2, true, o->len, o->block);
    }
    if (o->len > head)
        status = outlet_put(o->outlet, o->fd, o->block, (size_t)o->len);
    o->len = head;
    return status;
}

/* Segments fill a block; without them a record is in one. */
static int ibm_begin(struct record_out *o)
{
    int64_t need = o->form.blocked && o->form.spanned && o->left > 0 ? 1 : o->left;
    unsigned char *p;
    int status = 0;

    if (BLOCK_MAX - o->len - DESCRIPTOR < need)
        status = ibm_flush(o);
    o->piece = BLOCK_MAX - o->len - DESCRIPTOR;
    o->piece = o->left < o->piece ? o->left : o->piece;
    p = o->block + o->len;
    records_mark(2, true, o->piece + DESCRIPTOR, p);
    p[2] = (unsigned char)((o->inside ? 2 : 0) | (o->left > o->piece ? 1 : 0));
    p[3] = 0;
    o->len += DESCRIPTOR;
    return status;
}

/* --------------------------------------------------------------------- both */

static int record_begin(struct record_out *o)
{
    return o->form.ibm ? ibm_begin(o) : fortran_begin(o);
}

static int put_part(struct record_out *o, const char *bytes, int64_t size)
{
    if (!o->form.ibm)
        return outlet_put(o->outlet, o->fd, bytes, (size_t)size);
    memcpy(o->block + o->len, bytes, (size_t)size);
    o->len += size;
    return 0;
}

int record_out_open(struct record_out **out, const struct outlet *outlet, int fd,
                    const struct record_form *form, int64_t size)
{
    int64_t most = BLOCK_MAX - DESCRIPTOR - (form->blocked ? DESCRIPTOR : 0);
    struct record_out *o;

    if (form->ibm && !(form->blocked && form->spanned) && size > most) {
        tool_say(outlet->x->dst, NULL,
                 "a record would have %" PRId64 " bytes; those of %s have at most %" PRId64
                 "; --records=VBS has no limit",
                 size, form->name, most);
        return TOOL_USAGE;
    }
    o = calloc(1, sizeof *o);
    if (!o)
        return tool_no_memory();
    o->outlet = outlet;
    o->fd = fd;
    o->form = *form;
    o->form.width = form->width ? form->width : 4;
    o->size = size;
    o->len = form->blocked ? DESCRIPTOR : 0;
    *out = o;
    return 0;
}

/* Behind a piece: the length of Fortran's, then the next piece of the record if there is one. */
static int end_piece(struct record_out *o)
{
    int status = o->form.ibm ? 0 : put_mark(o, o->inside ? -o->piece : o->piece);

    o->left -= o->piece;
    o->inside = true;
    return status || o->left == 0 ? status : record_begin(o);
}

int record_out_put(struct record_out *o, const char *bytes, int64_t size)
{
    int64_t part;
    int status = 0;

    while (size > 0 && !status) {
        if (o->left == 0) {
            o->left = o->size;
            o->inside = false;
            o->done = 0;
            status = record_begin(o);
        }
        part = o->piece - o->done < size ? o->piece - o->done : size;
        if (!status)
            status = put_part(o, bytes, part);
        bytes += part;
        size -= part;
        o->done += part;
        if (status || o->done < o->piece)
            continue;
        o->done = 0;
        status = end_piece(o);
    }
    return status;
}

int record_out_close(struct record_out *o, int status)
{
    if (!status && o->form.ibm)
        status = ibm_flush(o);
    free(o);
    return status;
}
