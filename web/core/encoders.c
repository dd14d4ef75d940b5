/* encoders.c - the names of encoders that the library calls and a page, which only reads, leaves
 * out: each fails as if it had no memory. */
/* SPDX-License-Identifier: MIT */
#include <libdeflate.h>
#include <lz4hc.h>
#include <zstd.h>
#include <zstd_errors.h>

#define FAILED ((size_t)-ZSTD_error_memory_allocation)

int LZ4_compress_HC(const char *in, char *out, int size, int room, int level)
{
    (void)in, (void)out, (void)size, (void)room, (void)level;
    return 0;
}

size_t ZSTD_compress(void *out, size_t room, const void *in, size_t size, int level)
{
    (void)out, (void)room, (void)in, (void)size, (void)level;
    return FAILED;
}

size_t ZSTD_compressCCtx(ZSTD_CCtx *c, void *out, size_t room, const void *in, size_t size,
                         int level)
{
    (void)c;
    return ZSTD_compress(out, room, in, size, level);
}

ZSTD_CCtx *ZSTD_createCCtx(void)
{
    return NULL;
}

size_t ZSTD_freeCCtx(ZSTD_CCtx *c)
{
    (void)c;
    return 0;
}

struct libdeflate_compressor *libdeflate_alloc_compressor(int level)
{
    (void)level;
    return NULL;
}

void libdeflate_free_compressor(struct libdeflate_compressor *c)
{
    (void)c;
}

size_t libdeflate_zlib_compress(struct libdeflate_compressor *c, const void *in, size_t size,
                                void *out, size_t room)
{
    (void)c, (void)in, (void)size, (void)out, (void)room;
    return 0;
}
