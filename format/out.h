/* out.h - what every encoder writes with.
 *
 * Beyond the buffer's size it asks grow() for more; without grow() it only counts
 * (`at` is then the size needed) and err is FMT_ERR_BUFFER. */
#ifndef FORMAT_OUT_H
#define FORMAT_OUT_H

#include "format/numbers.h"

struct out {
    uint8_t *p;
    size_t size;
    size_t at;
    int err;
    int (*grow)(struct out *out, size_t need); /* makes size >= need, or gives an error */
};

void out_init(struct out *out, void *p, size_t size);
void out_u8(struct out *out, uint8_t v);
void out_u16(struct out *out, uint16_t v);
void out_u32(struct out *out, uint32_t v);
void out_u64(struct out *out, uint64_t v);
void out_i64(struct out *out, int64_t v);
void out_bytes(struct out *out, const void *p, size_t n);
void out_zeros(struct out *out, size_t n);
/* Overwrites what was written before at byte `at`. */
void out_patch_u32(struct out *out, size_t at, uint32_t v);
void out_patch_u64(struct out *out, size_t at, uint64_t v);

#endif
