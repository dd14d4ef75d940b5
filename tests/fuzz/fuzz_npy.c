/* fuzz_npy.c - headers of .npy files: refused with a place, or understood, and then what is
 * written for them is understood in the same way. */
/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"
#include "tools/flat/npy.h"

#include <datarep.h>
#include <string.h>

static void check_types(const struct npy *npy)
{
    struct npy_types types;

    if (npy_types(&npy->dtype, &types))
        return; /* names that are there twice, for one */
    PROMISE(drep_type_extent(types.file) == npy_item_size(&npy->dtype));
    PROMISE(drep_type_items(types.file) == drep_type_items(types.numbers));
    PROMISE(types.text || drep_type_extent(types.numbers) == drep_type_extent(types.stored));
    npy_types_release(&types);
}

static void check_again(const struct npy *npy)
{
    const char *why;
    char wrong[256];
    struct npy again;
    size_t size;
    char *header = npy_write(npy, &size), *a, *b;

    if (!header)
        return;
    PROMISE(size % 64 == 0);
    if (npy_header_size((unsigned char *)header, &why) == size) {
        PROMISE(npy_read(&again, (unsigned char *)header, size, wrong) == 0);
        a = npy_descr(&npy->dtype);
        b = npy_descr(&again.dtype);
        PROMISE(!a || !b || strcmp(a, b) == 0);
        PROMISE(again.count == npy->count && again.fortran == npy->fortran);
        free(a);
        free(b);
        npy_release(&again);
    }
    free(header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *why = NULL;
    char wrong[256] = "";
    struct npy npy;
    size_t header = size < NPY_FRONT ? 0 : npy_header_size(data, &why), at;

    PROMISE(header || size < NPY_FRONT || why);
    if (header < NPY_FRONT || header > size)
        return 0;
    at = npy_read(&npy, data, header, wrong);
    PROMISE(at <= header && !at == !*wrong);
    if (at)
        return 0;
    check_types(&npy);
    check_again(&npy);
    npy_release(&npy);
    return 0;
}
