/* framing.c - compressed streams as the registered filters of HDF5 frame them.
 *
 * LZ4 and bitshuffle: "LZ4 Compression with HDF5" and "Bitshuffle" of their authors; numbers are
 * big-endian.  SPEC.md, 8.4. */
/* SPDX-License-Identifier: MIT */
#include "chunk/framing.h"

#include "base/mem.h"
#include "chunk/blosc_lib.h"
#include "chunk/shuffle.h"
#include "format/byteorder.h"
#include "format/numbers.h"

#include <limits.h>
#include <string.h>

#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_LZF
#include <lzf.h>
#endif
#ifdef HAVE_BLOSC
#include <blosc.h>
#endif

enum { HEAD = 12, COUNT = 4 };                    /* bytes of the front, and before each block */
enum { PACKED_NOT, PACKED_LZ4 = 2, PACKED_ZSTD }; /* what bitshuffle does with a block */
#define ONE_BLOCK ((size_t)1 << 30)               /* the largest block of LZ4 */
#define USUAL_BYTES 8192u                         /* of a block of bitshuffle, */
#define USUAL_LEAST 128u                          /* but at least so many elements */

/* ---- blocks ---- */

/* Decode one block to exactly `size` bytes. */
static int block_decode(unsigned how, const uint8_t *in, size_t n, uint8_t *out, size_t size)
{
    (void)in, (void)n, (void)out, (void)size;
    switch (how) {
#ifdef HAVE_LZ4
    case PACKED_LZ4:
        return n <= INT_MAX && size <= INT_MAX &&
                       LZ4_decompress_safe((const char *)in, (char *)out, (int)n, (int)size) ==
                           (int)size
                   ? 0
                   : FRAMING_DAMAGED;
#endif
#ifdef HAVE_ZSTD
    case PACKED_ZSTD:
        return ZSTD_decompress(out, size, in, n) == size ? 0 : FRAMING_DAMAGED;
#endif
    default:
        return FRAMING_ABSENT;
    }
}

/* Encode one block into `room` bytes; 0 if it does not fit. */
static size_t block_encode(unsigned how, int level, const struct span *in, uint8_t *out,
                           size_t room)
{
    (void)level, (void)in, (void)out, (void)room;
    switch (how) {
#ifdef HAVE_LZ4
    case PACKED_LZ4: {
        int n = in->len > LZ4_MAX_INPUT_SIZE
                    ? 0
                    : LZ4_compress_default((const char *)in->p, (char *)out, (int)in->len,
                                           room > INT_MAX ? INT_MAX : (int)room);

        return n > 0 ? (size_t)n : 0;
    }
#endif
#ifdef HAVE_ZSTD
    case PACKED_ZSTD: {
        size_t n = ZSTD_compress(out, room, in->p, in->len, level > 0 && level <= 22 ? level : 3);

        return ZSTD_isError(n) ? 0 : n;
    }
#endif
    default:
        return 0;
    }
}

/* ---- LZ4 ---- */

static int framed_lz4_decode(const struct span *in, uint8_t *out, size_t size)
{
    const uint8_t *p = in->p + HEAD, *end = in->p + in->len;
    size_t block, done = 0;
    int err = 0;

    if (in->len < HEAD || load_u64(in->p) != size)
        return FRAMING_DAMAGED;
    block = load_u32(in->p + 8);
    if (block == 0 && size > 0)
        return FRAMING_DAMAGED;
    for (; !err && done < size; done += block) {
        size_t n;

        if (block > size - done)
            block = size - done;
        if ((size_t)(end - p) < COUNT || (n = load_u32(p)) > (size_t)(end - p) - COUNT)
            return FRAMING_DAMAGED;
        p += COUNT;
        if (n == block)
            memcpy(out + done, p, n);
        else
            err = block_decode(PACKED_LZ4, p, n, out + done, block);
        p += n;
    }
    return err ? err : p == end ? 0 : FRAMING_DAMAGED;
}

static size_t framed_lz4_encode(uint32_t block_size, const struct span *in, uint8_t *out,
                                size_t room)
{
    size_t block = block_size == 0 || block_size > ONE_BLOCK ? ONE_BLOCK : block_size, at = HEAD;

    if (block > in->len)
        block = in->len;
    if (room < HEAD)
        return 0;
    store_u64(out, in->len);
    store_u32(out + 8, (uint32_t)block);
    for (size_t done = 0; done < in->len; done += block) {
        size_t n = in->len - done < block ? in->len - done : block, got;

        if (room - at <= COUNT)
            return 0;
        /* Exactly as long as the block means: not compressed. */
        got = block_encode(PACKED_LZ4, 0, &(struct span){in->p + done, n}, out + at + COUNT,
                           n - 1 < room - at - COUNT ? n - 1 : room - at - COUNT);
        if (got == 0) {
            if (n > room - at - COUNT)
                return 0;
            memcpy(out + at + COUNT, in->p + done, n);
            got = n;
        }
        store_u32(out + at, (uint32_t)got);
        at += COUNT + got;
    }
    return at;
}

/* ---- bitshuffle ---- */

/* Elements of a block; all but the last few of the stream are in blocks, a multiple of 8. */
static size_t bits_block(uint32_t element, uint32_t asked)
{
    uint32_t usual = USUAL_BYTES / element / 8 * 8;

    return asked ? asked : usual > USUAL_LEAST ? usual : USUAL_LEAST;
}

struct bitshuffle_frame {
    size_t element, block; /* bytes; elements */
    size_t whole;          /* elements in blocks */
    unsigned how;
    int level;
};

static int bits_decode(const struct bitshuffle_frame *b, const uint8_t *p, const uint8_t *end,
                       uint8_t *out, size_t size)
{
    size_t tail = size - b->whole * b->element, n, raw;
    uint8_t *room = NULL;
    int err = 0;

    if (b->how != PACKED_NOT && b->whole > 0) {
        room = mem_alloc((b->block < b->whole ? b->block : b->whole) * b->element);
        if (!room)
            return FRAMING_NOMEM;
    }
    for (size_t done = 0; !err && done < b->whole; done += n) {
        const uint8_t *bits = p;

        n = b->whole - done < b->block ? b->whole - done : b->block;
        raw = n * b->element;
        if (b->how == PACKED_NOT) {
            err = (size_t)(end - p) < raw ? FRAMING_DAMAGED : 0;
        } else if ((size_t)(end - p) < COUNT || load_u32(p) > (size_t)(end - p) - COUNT) {
            err = FRAMING_DAMAGED;
        } else {
            err = block_decode(b->how, p + COUNT, load_u32(p), room, raw);
            raw = COUNT + load_u32(p);
            bits = room;
        }
        if (!err) {
            unshuffle_bits(out + done * b->element, bits, n, b->element);
            p += raw;
        }
    }
    mem_free(room);
    if (err || (size_t)(end - p) != tail)
        return err ? err : FRAMING_DAMAGED;
    memcpy(out + size - tail, p, tail);
    return 0;
}

static int bits_encode(const struct bitshuffle_frame *b, const struct span *in, uint8_t *out,
                       size_t *size)
{
    size_t tail = in->len - b->whole * b->element, at = HEAD, room = *size, n;
    uint8_t *bits = NULL;

    *size = 0;
    if (b->how == PACKED_NOT) {
        *size = room < in->len ? 0 : in->len;
        for (size_t done = 0; *size && done < b->whole; done += n) {
            n = b->whole - done < b->block ? b->whole - done : b->block;
            shuffle_bits(out + done * b->element, in->p + done * b->element, n, b->element);
        }
        if (*size)
            memcpy(out + in->len - tail, in->p + in->len - tail, tail);
        return 0;
    }
    if (room < HEAD + tail || b->block * b->element > UINT32_MAX)
        return 0;
    bits = mem_alloc((b->block < b->whole ? b->block : b->whole) * b->element + 1);
    if (!bits)
        return FRAMING_NOMEM;
    store_u64(out, in->len);
    store_u32(out + 8, (uint32_t)(b->block * b->element));
    for (size_t done = 0; done < b->whole; done += n) {
        size_t got = 0;

        n = b->whole - done < b->block ? b->whole - done : b->block;
        shuffle_bits(bits, in->p + done * b->element, n, b->element);
        if (room - at > COUNT)
            got = block_encode(b->how, b->level, &(struct span){bits, n * b->element},
                               out + at + COUNT, room - at - COUNT);
        if (got == 0) {
            mem_free(bits);
            return 0;
        }
        store_u32(out + at, (uint32_t)got);
        at += COUNT + got;
    }
    mem_free(bits);
    if (room - at < tail)
        return 0;
    memcpy(out + at, in->p + in->len - tail, tail);
    *size = at + tail;
    return 0;
}

static struct bitshuffle_frame bits_of(const uint32_t *param, size_t size)
{
    struct bitshuffle_frame b = {
        .element = param[0], .how = param[2], .level = (int)(param[3] & 31)};

    b.block = bits_block(param[0], param[1]);
    b.whole = size / b.element / 8 * 8;
    return b;
}

static int framed_bitshuffle_decode(const uint32_t *param, const struct span *in, uint8_t *out,
                                    size_t size)
{
    struct bitshuffle_frame b = bits_of(param, size);
    size_t head = b.how == PACKED_NOT ? 0 : HEAD;

    if (head) {
        /* The stream knows its blocks. */
        if (in->len < HEAD || load_u64(in->p) != size)
            return FRAMING_DAMAGED;
        b.block = load_u32(in->p + 8) / b.element;
        if (b.block == 0 || b.block % 8 != 0)
            return FRAMING_DAMAGED;
    }
    return bits_decode(&b, in->p + head, in->p + in->len, out, size);
}

/* ---- blosc ---- */

#ifdef HAVE_BLOSC
static int blosc_decode(const struct span *in, uint8_t *out, size_t size)
{
    const struct blosc_lib *lib = blosc_lib();
    size_t says = 0;

    if (!lib)
        return FRAMING_ABSENT;
    if (in->len < BLOSC_MIN_HEADER_LENGTH || lib->cbuffer_validate(in->p, in->len, &says) != 0 ||
        says != size || (size == 0 && in->len > BLOSC_MIN_HEADER_LENGTH))
        return FRAMING_DAMAGED;
    return lib->decompress_ctx(in->p, out, size, 1) == (int)size ? 0 : FRAMING_DAMAGED;
}

static size_t blosc_encode(const uint32_t *param, const struct span *in, uint8_t *out, size_t room)
{
    const struct blosc_lib *lib = blosc_lib();
    /* A file may say anything here; the library divides by the size of an element. */
    size_t element = param[0] >= 1 && param[0] <= BLOSC_MAX_TYPESIZE ? param[0] : 1;
    int level = param[1] > 9 ? 9 : (int)param[1];
    int shuffle = param[2] <= BLOSC_BITSHUFFLE ? (int)param[2] : BLOSC_NOSHUFFLE, n;
    const char *name = NULL;

    if (!lib || in->len > BLOSC_MAX_BUFFERSIZE || param[3] > INT_MAX ||
        lib->compcode_to_compname((int)param[3], &name) < 0)
        return 0;
    n = lib->compress_ctx(level, shuffle, element, in->len, in->p, out, room, name, 0, 1);
    return n > 0 ? (size_t)n : 0;
}
#endif

/* ---- what streams without a length decode to ---- */

/* Take the rest of a number that did not fit its four bits: bytes up to one that is not 255. */
static uint64_t more_of(const uint8_t **p, const uint8_t *end)
{
    uint64_t n = 0;
    uint8_t b = 255;

    while (b == 255 && *p < end) {
        b = *(*p)++;
        n += b;
    }
    return n;
}

/* Add up the sequences of an LZ4 block: a token, literals, two bytes of offset, a match. False: it
 * breaks off, or an offset is 0, which the library takes: it gives zeros there. */
static bool lz4_walk(const struct span *in, uint64_t *sum)
{
    const uint8_t *p = in->p, *end = p + in->len;

    *sum = 0;
    while (p < end) {
        uint8_t token = *p++;
        uint64_t n = token >> 4;

        n += n == 15 ? more_of(&p, end) : 0;
        if (n > (size_t)(end - p))
            return false;
        p += n;
        *sum += n;
        if (p == end)
            break;
        if (end - p < 2 || !(p[0] | p[1]))
            return false;
        p += 2;
        n = token & 15;
        *sum += n + 4 + (n == 15 ? more_of(&p, end) : 0);
    }
    return true;
}

static uint64_t lz4_length(const struct span *in)
{
    uint64_t sum;

    return lz4_walk(in, &sum) ? sum : 0;
}

static uint64_t lzf_length(const struct span *in)
{
    const uint8_t *p = in->p, *end = p + in->len;
    uint64_t sum = 0;

    while (p < end) {
        uint8_t c = *p++;
        size_t skip = c < 32 ? c + 1u : c < 224 ? 1 : 2;

        if (skip > (size_t)(end - p))
            return 0;
        sum += c < 32 ? c + 1u : (c >> 5) + (c < 224 ? 2u : 2u + *p);
        p += skip;
    }
    return sum;
}

/* ---- all ---- */

int framing_decode(int id, const uint32_t *param, const struct span *in, uint8_t *out, size_t size)
{
    switch (id) {
    case FMT_FILTER_ZSTD:
        return block_decode(PACKED_ZSTD, in->p, in->len, out, size);
    case FMT_FILTER_HDF5_LZ4:
        return framed_lz4_decode(in, out, size);
#ifdef HAVE_LZF
    case FMT_FILTER_LZF:
        return in->len <= UINT_MAX && size <= UINT_MAX &&
                       lzf_decompress(in->p, (unsigned)in->len, out, (unsigned)size) == size
                   ? 0
                   : FRAMING_DAMAGED;
#endif
    case FMT_FILTER_HDF5_BITSHUFFLE:
        return framed_bitshuffle_decode(param, in, out, size);
#ifdef HAVE_BLOSC
    case FMT_FILTER_BLOSC:
        return blosc_decode(in, out, size);
#endif
    default:
        return FRAMING_ABSENT;
    }
}

int framing_decode_most(int id, const uint32_t *param, const struct span *in, uint8_t *out,
                        size_t *size)
{
    uint64_t says = framing_length(id, param, in);

    if (says > *size)
        return FRAMING_DAMAGED;
    if (says > 0) {
        *size = (size_t)says;
        return framing_decode(id, param, in, out, *size);
    }
    switch (id) {
#ifdef HAVE_ZSTD
    case FMT_FILTER_ZSTD: {
        size_t n = ZSTD_decompress(out, *size, in->p, in->len);

        if (ZSTD_isError(n))
            return FRAMING_DAMAGED;
        *size = n;
        return 0;
    }
#endif
    default:
        return framing_decode(id, param, in, out, *size);
    }
}

int framing_encode(int id, const uint32_t *param, const struct span *in, uint8_t *out, size_t *size)
{
    struct bitshuffle_frame bits;

    switch (id) {
    case FMT_FILTER_ZSTD:
        *size = block_encode(PACKED_ZSTD, (int)(param[0] & 31), in, out, *size);
        return 0;
    case FMT_FILTER_HDF5_LZ4:
        *size = framed_lz4_encode(param[0], in, out, *size);
        return 0;
#ifdef HAVE_LZF
    case FMT_FILTER_LZF:
        *size = in->len <= UINT_MAX && in->len > 0
                    ? lzf_compress(in->p, (unsigned)in->len, out,
                                   *size > UINT_MAX ? UINT_MAX : (unsigned)*size)
                    : 0;
        return 0;
#endif
    case FMT_FILTER_HDF5_BITSHUFFLE:
        bits = bits_of(param, in->len);
        return bits_encode(&bits, in, out, size);
#ifdef HAVE_BLOSC
    case FMT_FILTER_BLOSC:
        *size = blosc_encode(param, in, out, *size);
        return 0;
#endif
    default:
        *size = 0;
        return 0;
    }
}

/* Blocks of LZ4 with a u32 of their length in front, as far as they are there; plain: one that is
 * as long as what it gives is no stream. */
static bool blocks_sound(const uint8_t *p, const uint8_t *end, uint64_t block, uint64_t size,
                         bool plain)
{
    uint64_t sum;

    while (size > 0 && (size_t)(end - p) >= COUNT) {
        struct span in = {p + COUNT, load_u32(p)};
        uint64_t raw = block < size ? block : size;

        if (in.len > (size_t)(end - p) - COUNT)
            return false;
        if (!(plain && in.len == raw) && !lz4_walk(&in, &sum))
            return false;
        p = in.p + in.len;
        size -= raw;
    }
    return true;
}

static uint32_t load_little(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

enum { BLOSC_FRONT = 16, BLOSC_COPY = 2, BLOSC_WHOLE = 16, BLOSC_SPLIT_MOST = 16 };

/* The streams of a Blosc chunk that are LZ4's. What else is wrong with it, its library finds. */
static bool blosc_sound(const struct span *in)
{
    uint32_t element, size, block, at;
    uint64_t sum;

    if (in->len < BLOSC_FRONT || in->p[2] & BLOSC_COPY || in->p[2] >> 5 != 1)
        return true;
    element = in->p[3] ? in->p[3] : 1;
    size = load_little(in->p + 4), block = load_little(in->p + 8);
    for (uint64_t done = 0, i = 0; block && done < size; done += block, i++) {
        uint32_t raw = block < size - done ? block : (uint32_t)(size - done);
        bool split = !(in->p[2] & BLOSC_WHOLE || raw < block || element > BLOSC_SPLIT_MOST ||
                       block / element < 128);

        if (in->len - BLOSC_FRONT < COUNT * (i + 1))
            return false;
        at = load_little(in->p + BLOSC_FRONT + COUNT * i);
        for (uint32_t k = split ? element : 1, want = raw / k; k > 0; k--) {
            struct span stream;

            if (at > in->len || in->len - at < COUNT)
                return false;
            stream = (struct span){in->p + at + COUNT, load_little(in->p + at)};
            if (stream.len > in->len - at - COUNT)
                return false;
            if (stream.len != want && !lz4_walk(&stream, &sum))
                return false;
            at += COUNT + (uint32_t)stream.len;
        }
    }
    return true;
}

bool framing_sound(int id, const uint32_t *param, const struct span *in)
{
    const uint8_t *end = in->p + in->len;
    uint64_t size;

    switch (id) {
    case FMT_FILTER_LZ4:
        return lz4_walk(in, &size);
    case FMT_FILTER_HDF5_LZ4:
        return in->len < HEAD ||
               blocks_sound(in->p + HEAD, end, load_u32(in->p + 8), load_u64(in->p), true);
    case FMT_FILTER_HDF5_BITSHUFFLE:
        if (param[2] != PACKED_LZ4 || in->len < HEAD)
            return true;
        size = load_u64(in->p);
        return blocks_sound(in->p + HEAD, end, load_u32(in->p + 8),
                            size - size % (8 * (uint64_t)param[0]), false);
    case FMT_FILTER_BLOSC:
        return blosc_sound(in);
    default:
        return true;
    }
}

uint64_t framing_length(int id, const uint32_t *param, const struct span *in)
{
    switch (id) {
#ifdef HAVE_ZSTD
    case FMT_FILTER_ZSTD: {
        unsigned long long n = ZSTD_getFrameContentSize(in->p, in->len);

        return n == ZSTD_CONTENTSIZE_UNKNOWN || n == ZSTD_CONTENTSIZE_ERROR ? 0 : n;
    }
#endif
    case FMT_FILTER_LZ4:
        return lz4_length(in);
    case FMT_FILTER_LZF:
        return lzf_length(in);
    case FMT_FILTER_HDF5_LZ4:
        return in->len < HEAD ? 0 : load_u64(in->p);
    case FMT_FILTER_HDF5_BITSHUFFLE:
        return param[2] == PACKED_NOT ? in->len : in->len < HEAD ? 0 : load_u64(in->p);
#ifdef HAVE_BLOSC
    case FMT_FILTER_BLOSC: {
        const struct blosc_lib *lib = blosc_lib();
        size_t says = 0;

        return lib && lib->cbuffer_validate(in->p, in->len, &says) == 0 ? says : 0;
    }
#endif
    default:
        return 0;
    }
}
