/* slice.c - selections as NumPy writes them, and reading them block by block. */
#include "slice.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A block of elements in memory; a dataset is never there as a whole. */
#define BLOCK_SIZE ((int64_t)4 << 20)
#define BLOCK_VARIABLE ((int64_t)1 << 14) /* elements, when their size is not known */

void slice_all(struct slice *out, int rank, const int64_t *dims)
{
    int d;

    *out = (struct slice){.rank = rank < 0 ? 0 : rank};
    for (d = 0; d < out->rank; d++) {
        out->count[d] = dims[d];
        out->step[d] = 1;
    }
}

/* An optional number; 1 if there is one, -1 if it is none. */
static int parse_number(const char **p, int64_t *out)
{
    char *end;
    long long value;

    while (isspace((unsigned char)**p))
        (*p)++;
    if (!isdigit((unsigned char)**p) && **p != '-' && **p != '+')
        return 0;
    errno = 0;
    value = strtoll(*p, &end, 10);
    if (end == *p || errno)
        return -1;
    *out = value;
    *p = end;
    while (isspace((unsigned char)**p))
        (*p)++;
    return 1;
}

/* A bound of a range: from the end when negative, and never outside. */
static int64_t clip(int64_t at, int64_t dim)
{
    if (at < 0)
        at = at < -dim ? 0 : at + dim;
    return at > dim ? dim : at;
}

/* One of the parts between the commas. */
static const char *parse_part(struct slice *s, int d, const char **p, int64_t dim)
{
    int64_t start = 0, stop = dim, step = 1;
    int had = parse_number(p, &start), more = 0;

    if (had > 0 && **p != ':') {
        if (start < -dim || start >= dim)
            return "index outside the dataset";
        s->start[d] = start < 0 ? start + dim : start;
        s->count[d] = s->step[d] = 1;
        s->single[d] = true;
        return NULL;
    }
    if (had < 0 || **p != ':')
        return "expected an index or a range a:b:c";
    (*p)++;
    more = parse_number(p, &stop);
    if (more >= 0 && **p == ':') {
        (*p)++;
        more = parse_number(p, &step);
    }
    if (more < 0)
        return "expected an index or a range a:b:c";
    if (step <= 0)
        return "steps must be positive";
    s->start[d] = clip(start, dim);
    stop = clip(stop, dim);
    s->count[d] = stop > s->start[d] ? (stop - s->start[d] - 1) / step + 1 : 0;
    s->step[d] = step;
    return NULL;
}

/* How many parts an ellipsis stands for. */
static int ellipsis_width(const char *p, int d, int rank)
{
    int parts = 0;

    for (p += 3; *p && *p != ']'; p++)
        parts += *p == ',';
    return rank - d - parts;
}

const char *slice_parse(struct slice *out, const char *text, int rank, const int64_t *dims)
{
    const char *p = text + 1, *wrong = NULL;
    struct slice s;
    int d = 0, width;

    slice_all(&s, rank, dims);
    while (isspace((unsigned char)*p))
        p++;
    while (*p != ']' && !wrong) {
        if (strncmp(p, "...", 3) == 0) {
            width = ellipsis_width(p, d, s.rank);
            if (width < 0)
                return "more indices than dimensions";
            d += width;
            p += 3;
        } else if (d >= s.rank) {
            return "more indices than dimensions";
        } else {
            wrong = parse_part(&s, d, &p, dims[d]);
            d++;
        }
        while (isspace((unsigned char)*p))
            p++;
        if (!wrong && *p != ',' && *p != ']')
            return "expected ',' or ']'";
        if (*p == ',')
            p++;
        while (isspace((unsigned char)*p))
            p++;
    }
    if (!wrong && p[1])
        wrong = "text behind the ']'";
    if (!wrong)
        *out = s;
    return wrong;
}

int slice_shape(const struct slice *slice, int64_t *dims)
{
    int d, rank = 0;

    for (d = 0; d < slice->rank; d++)
        if (!slice->single[d])
            dims[rank++] = slice->count[d];
    return rank;
}

/* ----------------------------------------------------------------- reading */

struct reader {
    drep_dataset *dataset;
    const drep_type *type;
    const struct slice *slice;
    slice_fn *fn;
    void *ctx;
    void *buf;
    int64_t at[DREP_MAX_RANK];    /* of the block, counted in selected elements */
    int64_t count[DREP_MAX_RANK]; /* of the block */
    int split;                    /* the dimension in which blocks follow each other */
    int64_t rows;                 /* of it in a full block */
};

static int64_t block_count(const struct reader *r)
{
    int64_t n = 1;
    int d;

    for (d = 0; d < r->slice->rank; d++)
        n *= r->count[d];
    return n;
}

/* Cuts the selection into blocks: whole trailing dimensions, some rows of one, single
 * indices of those before. */
static int64_t plan(struct reader *r)
{
    const struct slice *s = r->slice;
    int64_t extent = drep_type_extent(r->type), most, inner = 1;
    int d;

    most = BLOCK_SIZE / (extent > 0 ? extent : 1);
    if (drep_type_variable(r->type) && most > BLOCK_VARIABLE)
        most = BLOCK_VARIABLE;
    if (most < 1)
        most = 1;
    for (d = s->rank; d > 0 && s->count[d - 1] <= most / inner; d--) {
        inner *= s->count[d - 1];
        r->count[d - 1] = s->count[d - 1];
    }
    r->split = d - 1;
    r->rows = most / inner;
    for (d = 0; d < r->split; d++)
        r->count[d] = 1;
    return r->split >= 0 ? inner * r->rows : inner;
}

static int read_block(struct reader *r)
{
    const struct slice *s = r->slice;
    int64_t start[DREP_MAX_RANK], n;
    drep_selection *selection = NULL;
    int d, err = 0;

    if (r->split >= 0) {
        n = s->count[r->split] - r->at[r->split];
        r->count[r->split] = n < r->rows ? n : r->rows;
    }
    for (d = 0; d < s->rank; d++)
        start[d] = s->start[d] + r->at[d] * s->step[d];
    if (s->rank > 0)
        err = drep_select_box(s->rank, start, r->count, s->step, NULL, &selection);
    n = block_count(r);
    if (!err)
        err = drep_read(r->dataset, selection, r->type, r->buf, NULL);
    drep_selection_free(selection);
    if (err)
        return err;
    err = r->fn(r->ctx, r->type, r->buf, n);
    if (drep_type_variable(r->type))
        drep_vlen_free(r->type, n, r->buf);
    return err;
}

/* To the next block; false behind the last. */
static bool advance(struct reader *r)
{
    int d;

    for (d = r->split; d >= 0; d--) {
        r->at[d] += r->count[d];
        if (r->at[d] < r->slice->count[d])
            return true;
        r->at[d] = 0;
    }
    return false;
}

int slice_read(drep_dataset *dataset, const drep_type *type, const struct slice *slice,
               slice_fn *fn, void *ctx)
{
    struct reader r = {.dataset = dataset, .type = type, .slice = slice, .fn = fn, .ctx = ctx};
    int64_t extent = drep_type_extent(type), n;
    int d, err;

    for (d = 0; d < slice->rank; d++)
        if (slice->count[d] == 0)
            return 0;
    n = plan(&r);
    r.buf = calloc((size_t)n, (size_t)(extent > 0 ? extent : 1));
    if (!r.buf)
        return DREP_ERR_NOMEM;
    do
        err = read_block(&r);
    while (!err && advance(&r));
    free(r.buf);
    return err;
}
