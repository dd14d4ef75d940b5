/* fuzz_header.c - a header proper of any bytes.
 *
 * What is accepted is written in our order of records, read again, and then must not
 * change any more. */
#include "format/header.h"
#include "tests/fuzz/fuzz.h"

static uint8_t *encode(const struct header_rec *h, size_t *size, size_t *split)
{
    struct out out;
    uint8_t *p;

    out_init(&out, NULL, 0);
    header_put(&out, h, split);
    p = malloc(out.at);
    out_init(&out, p, out.at);
    header_put(&out, h, split);
    PROMISE(!out.err && out.at == out.size);
    PROMISE(*split <= out.at && *split <= FMT_SLOT_HEADER_MAX);
    *size = out.at;
    return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t at = 0, size1, size2, split1, split2;
    uint8_t *scratch = malloc(size + 1), *scratch1, *bytes1, *bytes2;
    struct header_rec h, h1;
    const char *why = NULL;

    if (header_get(data, size, &h, scratch, &why, &at)) {
        PROMISE(why != NULL && at <= size);
        free(scratch);
        return 0;
    }
    bytes1 = encode(&h, &size1, &split1);
    /* An empty EXTENTS may have been added; records without content may have gone. */
    PROMISE(size1 <= size + 6);
    if (size1 <= FMT_HEADER_MAX) {
        scratch1 = malloc(size1);
        PROMISE(header_get(bytes1, size1, &h1, scratch1, &why, &at) == 0);
        PROMISE(memcmp(h.extent, h1.extent, sizeof(h.extent)) == 0);
        PROMISE(h.unknown.len == h1.unknown.len && h.hints.len == h1.hints.len);
        bytes2 = encode(&h1, &size2, &split2);
        PROMISE(size1 == size2 && split1 == split2 && memcmp(bytes1, bytes2, size1) == 0);
        free(bytes2);
        free(scratch1);
    }
    free(bytes1);
    free(scratch);
    return 0;
}
