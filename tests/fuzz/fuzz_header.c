/* fuzz_header.c - a header proper of any bytes.
 *
 * What is accepted is written in our order of records, read again, and then must not
 * change any more. */
/* SPDX-License-Identifier: MIT */
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

/* A representation that was understood is encoded, and must come back. */
static void fuzz_rep(const struct span *content)
{
    uint8_t *scratch = malloc(content->len + 1), *scratch1, *bytes, *bytes1;
    struct rep_rec r, r1;
    const char *why = NULL;
    struct span again;
    size_t at = 0;
    struct out out;

    if (rep_get(content, &r, scratch, &why, &at)) {
        PROMISE(why != NULL && at <= content->len);
        free(scratch);
        return;
    }
    if (r.later) {
        free(scratch);
        return;
    }
    out_init(&out, NULL, 0);
    rep_put(&out, &r);
    /* An empty EXTENTS may have been added; records without content may have gone. */
    PROMISE(out.at <= content->len + 6);
    again.len = out.at;
    again.p = bytes = malloc(out.at);
    out_init(&out, bytes, again.len);
    rep_put(&out, &r);
    scratch1 = malloc(again.len + 1);
    PROMISE(rep_get(&again, &r1, scratch1, &why, &at) == 0);
    PROMISE(memcmp(r.extent, r1.extent, sizeof(r.extent)) == 0);
    PROMISE(r.unknown.len == r1.unknown.len && r.number == r1.number);
    for (int c = 1; c <= FMT_CODE_MAX; c++)
        PROMISE(r.row[c].size == r1.row[c].size && r.row[c].later == r1.row[c].later);
    bytes1 = malloc(again.len);
    out_init(&out, bytes1, again.len);
    rep_put(&out, &r1);
    PROMISE(out.at == again.len && memcmp(bytes, bytes1, again.len) == 0);
    free(bytes1);
    free(scratch1);
    free(bytes);
    free(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t at = 0, size1, size2, split1, split2;
    uint8_t *scratch = malloc(size + 1), *scratch1, *bytes1, *bytes2;
    struct header_rec h, h1;
    struct span rep, rep1;
    struct in in, in1;
    const char *why = NULL;

    if (header_get(data, size, &h, scratch, &why, &at)) {
        PROMISE(why != NULL && at <= size);
        free(scratch);
        return 0;
    }
    PROMISE(h.nreps > 0 && h.nreps <= FMT_REPS_MAX);
    in_init(&in, h.reps.p, h.reps.len);
    while (header_rep_next(&in, &rep) == 0)
        fuzz_rep(&rep);
    bytes1 = encode(&h, &size1, &split1);
    /* Records without content may have gone. */
    PROMISE(size1 <= size);
    scratch1 = malloc(size1);
    PROMISE(header_get(bytes1, size1, &h1, scratch1, &why, &at) == 0);
    PROMISE(h.nreps == h1.nreps);
    in_init(&in, h.reps.p, h.reps.len);
    in_init(&in1, h1.reps.p, h1.reps.len);
    while (header_rep_next(&in, &rep) == 0)
        PROMISE(header_rep_next(&in1, &rep1) == 0 && rep.len == rep1.len &&
                memcmp(rep.p, rep1.p, rep.len) == 0);
    PROMISE(h.unknown.len == h1.unknown.len && h.hints.len == h1.hints.len);
    bytes2 = encode(&h1, &size2, &split2);
    PROMISE(size1 == size2 && split1 == split2 && memcmp(bytes1, bytes2, size1) == 0);
    free(bytes2);
    free(scratch1);
    free(bytes1);
    free(scratch);
    return 0;
}
