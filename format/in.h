/* in.h - the bounded cursor that every decoder reads with.
 *
 * The first error sticks: later reads give zeros and move nothing, so a decoder
 * reads like its table in SPEC.md, with one check at the end.  `at` of the error
 * counts from the start of the buffer; the caller adds where that lies. */
#ifndef FORMAT_IN_H
#define FORMAT_IN_H

#include "format/numbers.h"

struct in {
    const uint8_t *p;
    size_t size;
    size_t at;
    int err;          /* enum fmt_err of the first error */
    size_t err_at;    /* byte of it */
    const char *why;  /* constant text of it */
};

void in_init(struct in *in, const void *p, size_t size);
uint8_t in_u8(struct in *in);
uint16_t in_u16(struct in *in);
uint32_t in_u32(struct in *in);
uint64_t in_u64(struct in *in);
int64_t in_i64(struct in *in);
/* The next n bytes in place; NULL (and FMT_ERR_FORMAT) if fewer are left. */
const uint8_t *in_bytes(struct in *in, size_t n);
size_t in_left(const struct in *in);
/* Keeps the first error; gives it back. */
int in_fail(struct in *in, int err, const char *why);

#endif
