/* slice.c - selections as NumPy writes them. */
#include "tools/walk/slice.h"

void slice_all(struct slice *out, int rank, const int64_t *dims)
{
    int d;

    *out = (struct slice){.rank = rank < 0 ? 0 : rank};
    for (d = 0; d < out->rank; d++) {
        out->count[d] = dims[d];
        out->step[d] = 1;
    }
}

int slice_parse(struct slice *out, const char *text, int rank, const int64_t *dims)
{
    drep_selection *sel;
    int single[DREP_MAX_RANK], err;

    *out = (struct slice){.rank = rank < 0 ? 0 : rank};
    err = drep_select_parse(text, out->rank, dims, &sel);
    if (err)
        return err;
    err = drep_selection_box(sel, NULL, out->start, out->count, out->step, NULL, single);
    drep_selection_free(sel);
    for (int d = 0; !err && d < out->rank; d++)
        out->single[d] = single[d] != 0;
    return err;
}

int slice_shape(const struct slice *slice, int64_t *dims)
{
    int d, rank = 0;

    for (d = 0; d < slice->rank; d++)
        if (!slice->single[d])
            dims[rank++] = slice->count[d];
    return rank;
}

int64_t slice_count(const struct slice *slice)
{
    int64_t n = 1;
    int d;

    for (d = 0; d < slice->rank; d++)
        n *= slice->count[d];
    return n;
}
