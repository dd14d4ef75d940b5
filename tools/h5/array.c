/* array.c - a conversion of array datatypes that loses no strings and sequences.
 *
 * The conversion of arrays in libhdf5 (1.10.8 and its neighbours) hands the background of one
 * array, which is what it has just written, to the conversion of the next.  Where the elements
 * of the array are compounds with strings or sequences, or sequences of such compounds, that
 * background holds the heap objects of the elements before, and the conversion removes them as
 * if they were overwritten: all but the last array come out empty.  It does so wherever an array
 * is converted more than once: in datasets and attributes of several elements, in arrays of
 * arrays and in sequences of arrays.  Here every element gets a background of zeros: nothing
 * stood there before. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/array.h"
#include "tools/h5/library.h"
#include <stdlib.h>

/* State of one conversion: the elements of an array, in place. */
struct bases {
    hid_t src, dst;
    hsize_t n;   /* elements of one array */
    size_t size; /* of one element, in the larger of both */
};

static int is_same_shape(hid_t src, hid_t dst)
{
    hsize_t a[H5S_MAX_RANK], b[H5S_MAX_RANK];
    int d, rank = H5Tget_array_ndims(src);

    if (rank < 1 || rank > H5S_MAX_RANK || H5Tget_array_ndims(dst) != rank ||
        H5Tget_array_dims2(src, a) < 0 || H5Tget_array_dims2(dst, b) < 0)
        return 0;
    for (d = 0; d < rank && a[d] == b[d]; d++)
        ;
    return d == rank;
}

/* Arrays of numbers and texts are converted rightly, and faster, by libhdf5 itself. */
static int converts_elements(hid_t src, hid_t dst)
{
    hid_t base = is_same_shape(src, dst) ? H5Tget_super(src) : -1;
    H5T_class_t cls = base > 0 ? H5Tget_class(base) : H5T_NO_CLASS;

    if (base > 0)
        H5Tclose(base);
    return cls == H5T_COMPOUND || cls == H5T_VLEN || cls == H5T_ARRAY;
}

static int bases_open(struct bases *b, hid_t src, hid_t dst)
{
    hsize_t dims[H5S_MAX_RANK];
    size_t other;
    int d, rank = H5Tget_array_dims2(dst, dims);

    b->src = H5Tget_super(src);
    b->dst = H5Tget_super(dst);
    if (rank < 1 || b->src < 0 || b->dst < 0)
        return -1;
    for (d = 0, b->n = 1; d < rank; d++)
        b->n *= dims[d];
    b->size = H5Tget_size(b->src);
    other = H5Tget_size(b->dst);
    b->size = other > b->size ? other : b->size;
    return 0;
}

static void bases_close(struct bases *b)
{
    if (b->src > 0)
        H5Tclose(b->src);
    if (b->dst > 0)
        H5Tclose(b->dst);
}

static herr_t convert_bases(const struct bases *b, size_t arrays, void *buf, hid_t dxpl)
{
    size_t n = arrays * (size_t)b->n;
    void *background = calloc(n ? n : 1, b->size);
    herr_t status = background ? H5Tconvert(b->src, b->dst, n, buf, background, dxpl) : -1;

    free(background);
    return status;
}

/* Arrays that lie one behind the other are as many elements; others are a stride apart, and
 * each is converted where it lies. */
static herr_t convert(hid_t src, hid_t dst, H5T_cdata_t *data, size_t n, size_t stride,
                      size_t background_stride, void *buf, void *background, hid_t dxpl)
{
    struct bases b = {.src = -1, .dst = -1};
    herr_t status;
    size_t i;

    (void)background_stride, (void)background;
    if (data->command == H5T_CONV_INIT) {
        data->need_bkg = H5T_BKG_NO;
        return converts_elements(src, dst) ? 0 : -1;
    }
    if (data->command != H5T_CONV_CONV || n == 0)
        return 0;
    status = bases_open(&b, src, dst);
    if (status >= 0 && stride == 0)
        status = convert_bases(&b, n, buf, dxpl);
    for (i = 0; status >= 0 && stride != 0 && i < n; i++)
        status = convert_bases(&b, 1, (char *)buf + i * stride, dxpl);
    bases_close(&b);
    return status;
}

int array_conversion_begin(void)
{
    hsize_t two = 2;
    hid_t array = H5Tarray_create2(H5T_NATIVE_INT, 1, &two);
    herr_t status = array > 0 ? H5Tregister(H5T_PERS_SOFT, "array", array, array, convert) : -1;

    if (array > 0)
        H5Tclose(array);
    return status < 0 ? -1 : 0;
}

void array_conversion_end(void)
{
    H5Tunregister(H5T_PERS_SOFT, "array", -1, -1, convert);
}
