/* verify.c - reads an exported array back through the reader that import has.
 *
 * The reader knows the file only by its bytes, and gives elements in the datatype that the file
 * says; so numbers are compared by what they are worth, whatever their width.  What a format has
 * no elements of the same kind for (a wide character, in NumPy a text) is not compared. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/verify.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/text/printer.h"
#include "tools/text/verify.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct verified_array {
    struct extract e;
    struct source *source;
    struct verify verify;
    drep_type *ours, *theirs; /* that elements are compared in */
    struct blocks blocks;
    char *own, *read, *shown; /* a block: ours; as the source gives it; and in `theirs` */
};

/* Position of element n of the box: in a column-major file the first index runs fastest. */
static int64_t place_of(const struct verified_array *p, int rank, const int64_t *count, int64_t n)
{
    int64_t index[DREP_MAX_RANK], at = 0;
    int d;

    if (!p->source->column_major)
        return n;
    for (d = rank - 1; d >= 0; d--) {
        index[d] = n % count[d];
        n /= count[d];
    }
    for (d = rank - 1; d >= 0; d--)
        at = at * count[d] + index[d];
    return at;
}

static int differs(const struct verified_array *p, int rank, const int64_t *start,
                   const int64_t *count, int64_t n, const struct difference *gap)
{
    char where[24 * DREP_MAX_RANK + 1] = "", text[600];
    int64_t index[DREP_MAX_RANK];
    size_t len = 0;
    int d;

    for (d = rank - 1; d >= 0; d--) {
        index[d] = start[d] + n % count[d];
        n /= count[d];
    }
    for (d = 0; d < rank; d++)
        len += (size_t)snprintf(where + len, sizeof where - len, "%s%" PRId64 "%s", d ? "," : "[",
                                index[d], d == rank - 1 ? "]" : "");
    verify_text(&p->verify, gap, text, sizeof text);
    tool_say(p->e.outlet->x->dst, p->e.path, "%s%s", where,
             *where || *text != ':' ? text : text + 2);
    return TOOL_CORRUPT;
}

static int compare_block(struct verified_array *p)
{
    struct comparison how = p->verify.how;
    int64_t start[DREP_MAX_RANK], count[DREP_MAX_RANK], n, len = p->blocks.len;
    int rank = extract_box(&p->e, &p->blocks, start, count), status;
    const char *a, *b, *theirs = p->shown ? p->shown : p->read;
    struct difference gap;

    memset(p->read, 0, (size_t)(len * drep_type_extent(p->source->type)));
    status = p->source->read(p->source, start, count, p->read);
    if (status)
        return status;
    if (p->shown) {
        int err = drep_convert(p->theirs, p->shown, p->source->type, p->read, len, NULL);

        if (err)
            return extract_failed(&p->e, err);
    }
    how.exact = drep_type_equal(p->ours, p->theirs);
    how.a = how.b = &p->verify.printer;
    /* Equal bytes are equal elements. */
    if (drep_type_equal(p->ours, p->theirs) && !p->source->column_major &&
        memcmp(p->own, theirs, (size_t)(len * drep_type_extent(p->ours))) == 0)
        len = 0;
    for (n = 0; n < len && !status; n++) {
        a = p->own + n * drep_type_extent(p->ours);
        b = theirs + place_of(p, rank, count, n) * drep_type_extent(p->theirs);
        if (compare_element(&how, p->ours, a, p->theirs, b, &gap))
            status = differs(p, rank, start, count, n, &gap);
    }
    if (p->shown && drep_type_variable(p->theirs))
        drep_vlen_free(p->theirs, p->blocks.len, p->shown);
    return status;
}

static int compare_blocks(struct verified_array *p)
{
    int64_t len;
    int status = 0;

    while (!status && blocks_next(&p->blocks)) {
        len = p->blocks.len;
        status = extract_read(&p->e, &p->blocks, p->ours, p->own);
        if (status)
            return status;
        status = compare_block(p);
        if (drep_type_variable(p->ours))
            drep_vlen_free(p->ours, len, p->own);
        if (drep_type_variable(p->source->type))
            drep_vlen_free(p->source->type, len, p->read);
        if (!status)
            status = outlet_advance((uint64_t)len);
    }
    return status;
}

static int choose_types(struct verified_array *p, bool raw)
{
    int err = verify_init(&p->verify, p->e.outlet->file);

    if (!err && raw) {
        p->ours = drep_type_ref(p->e.info.type);
        p->theirs = drep_type_ref(p->source->type);
    } else if (!err) {
        err = printer_type(&p->verify.printer, p->e.info.type, p->e.info.datarep_number, &p->ours);
        if (!err)
            err = printer_type(&p->verify.printer, p->source->type, PRINTER_NO_DATAREP, &p->theirs);
    }
    return err;
}

static int make_room(struct verified_array *p)
{
    size_t most;
    int64_t extent = drep_type_extent(p->ours), other = drep_type_extent(p->source->type);

    blocks_init(&p->blocks, &p->e.slice, &p->e.info, extent > other ? extent : other,
                drep_type_variable(p->ours) || drep_type_variable(p->theirs));
    most = (size_t)p->blocks.most + 1;
    p->own = calloc(most, (size_t)extent + 1);
    p->read = calloc(most, (size_t)other + 1);
    if (!drep_type_equal(p->theirs, p->source->type))
        p->shown = calloc(most, (size_t)drep_type_extent(p->theirs) + 1);
    return p->own && p->read && (p->shown || drep_type_equal(p->theirs, p->source->type))
               ? 0
               : tool_no_memory();
}

static bool same_shape(const struct verified_array *p)
{
    int64_t dims[DREP_MAX_RANK];
    int rank = slice_shape(&p->e.slice, dims);

    return rank == p->source->rank &&
           memcmp(dims, p->source->dims, (size_t)rank * sizeof *dims) == 0;
}

int flat_verify(const struct extract *extract, struct source *source, bool raw)
{
    const struct exchange *x = extract->outlet->x;
    struct verified_array p = {.e = *extract, .source = source};
    struct comparison how;
    int status = 0, err = choose_types(&p, raw);

    how = p.verify.how;
    how.a = how.b = &p.verify.printer;
    if (err) {
        status = extract_failed(&p.e, err);
    } else if (!same_shape(&p)) {
        tool_say(x->dst, extract->path, "its shape is read back as another");
        status = TOOL_CORRUPT;
    } else if (compare_alike(&how, p.ours, p.theirs)) {
        status = make_room(&p);
        if (!status)
            status = compare_blocks(&p);
    } else if (x->verbose) {
        tool_say(x->dst, extract->path, "not read back: its elements are of another kind there");
    }
    free(p.own);
    free(p.read);
    free(p.shown);
    drep_type_free(p.ours);
    drep_type_free(p.theirs);
    verify_release(&p.verify);
    return status;
}
