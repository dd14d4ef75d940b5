/* hdf5mutate.c - damages an HDF5 file where its structure is, and mends the sums over it.
 *
 * Random bytes rarely come past HDF5's checksums.  This program finds the blocks of a file by
 * their signatures, object headers of version 1 by their form, and sets fields of messages,
 * B-trees, heaps and chunk indexes to values that matter: limits, neighbours, addresses of
 * other blocks.  Names that begin with "Hostile" become names from a list, of the same length.
 * Then every sum (Jenkins' lookup3) that was right before is right again.
 *
 * Usage: hdf5mutate SEED IN OUT [NAME...]; prints what it has done. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_MAX 4096
#define SEARCH_MAX 4096 /* bytes in front of a sum */
#define HOSTILE "Hostile"

/* A block of the file.  Its sum, if any, stands behind it, or inside: then it counts as zeros. */
struct span {
    size_t at, size;
    int sum;
    size_t inside; /* where in the block the sum is, 0: behind */
    char kind[5];
};

static uint8_t *file;
static size_t file_size;
static struct span spans[SPANS_MAX];
static size_t nspans;
static uint64_t state;

static uint64_t draw(uint64_t n)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return n ? (z ^ z >> 31) % n : 0;
}

static uint64_t get(const uint8_t *p, int size)
{
    uint64_t n = 0;

    while (size-- > 0)
        n = n << 8 | p[size];
    return n;
}

static void put(uint8_t *p, int size, uint64_t n)
{
    for (; size-- > 0; n >>= 8)
        *p++ = (uint8_t)n;
}

/* ----------------------------------------------------------------------- the sum */

static uint32_t rotate(uint32_t x, int k)
{
    return x << k | x >> (32 - k);
}

/* Bob Jenkins' hash of bytes, as HDF5's format specification names it. */
static uint32_t lookup3(const uint8_t *p, size_t n)
{
    uint32_t a, b, c;
    uint8_t last[12] = {0};

    a = b = c = 0xdeadbeefu + (uint32_t)n;
    for (; n > 12; n -= 12, p += 12) {
        a += (uint32_t)get(p, 4);
        b += (uint32_t)get(p + 4, 4);
        c += (uint32_t)get(p + 8, 4);
        a = (a - c) ^ rotate(c, 4), c += b;
        b = (b - a) ^ rotate(a, 6), a += c;
        c = (c - b) ^ rotate(b, 8), b += a;
        a = (a - c) ^ rotate(c, 16), c += b;
        b = (b - a) ^ rotate(a, 19), a += c;
        c = (c - b) ^ rotate(b, 4), b += a;
    }
    if (n == 0)
        return c;
    memcpy(last, p, n);
    a += (uint32_t)get(last, 4);
    b += (uint32_t)get(last + 4, 4);
    c += (uint32_t)get(last + 8, 4);
    c = (c ^ b) - rotate(b, 14);
    a = (a ^ c) - rotate(c, 11);
    b = (b ^ a) - rotate(a, 25);
    c = (c ^ b) - rotate(b, 16);
    a = (a ^ c) - rotate(c, 4);
    b = (b ^ a) - rotate(a, 14);
    c = (c ^ b) - rotate(b, 24);
    return c;
}

/* -------------------------------------------------------------------- the blocks */

static void add_span(size_t at, size_t size, int sum, const char *kind)
{
    struct span *s = &spans[nspans];

    if (nspans == SPANS_MAX || size < 8)
        return;
    *s = (struct span){.at = at, .size = size, .sum = sum};
    memcpy(s->kind, kind, 4);
    nspans++;
}

/* The bytes in front of the sum that is right; 0 if none is. */
static size_t find_sum(size_t at)
{
    size_t n;

    for (n = 8; n <= SEARCH_MAX && n + 4 <= file_size - at; n++)
        if (get(file + at + n, 4) == lookup3(file + at, n))
            return n;
    return 0;
}

static uint32_t sum_inside(size_t at, size_t size, size_t inside)
{
    uint8_t kept[4];
    uint32_t sum;

    memcpy(kept, file + at + inside, 4);
    memset(file + at + inside, 0, 4);
    sum = lookup3(file + at, size);
    memcpy(file + at + inside, kept, 4);
    return sum;
}

/* A direct block of a fractal heap: signature, version, address, offset of some bytes, sum. */
static void add_direct(size_t at)
{
    size_t size, inside;

    for (size = 512; size <= 65536 && size <= file_size - at; size *= 2)
        for (inside = 14; inside <= 21; inside++)
            if (get(file + at + inside, 4) == sum_inside(at, size, inside)) {
                add_span(at, size, 1, "FHDB");
                spans[nspans - 1].inside = inside;
                return;
            }
    add_span(at, file_size - at < 256 ? file_size - at : 256, 0, "FHDB");
}

/* Objects in a heap may have sums of their own: the mapping of a virtual dataset has. */
static void add_heap(size_t at)
{
    size_t size = at + 16 <= file_size ? (size_t)get(file + at + 8, 8) : 0, next = at + 16;

    if (size < 16 || size > file_size - at)
        return;
    add_span(at, size, 0, "GCOL");
    while (next + 16 <= at + size) {
        uint64_t object = get(file + next + 8, 8);

        if (get(file + next, 2) == 0 || object == 0 || object > at + size - next - 16)
            return;
        if (object > 12 &&
            get(file + next + 16 + object - 4, 4) == lookup3(file + next + 16, (size_t)object - 4))
            add_span(next + 16, (size_t)object - 4, 1, "VMAP");
        next += 16 + (size_t)(object + 7) / 8 * 8;
    }
}

static void add_old_header(size_t at)
{
    const uint8_t *p = file + at;
    uint64_t size = get(p + 8, 4);

    if (p[0] == 1 && p[1] == 0 && get(p + 2, 2) > 0 && get(p + 2, 2) < 256 && get(p + 4, 4) > 0 &&
        get(p + 4, 4) < 64 && size >= 8 && size < 65536 && size % 8 == 0 &&
        size <= file_size - at - 16 && get(p + 12, 4) == 0)
        add_span(at, 16 + (size_t)size, 0, "hdr1");
}

static void find_blocks(void)
{
    static const char *const summed[] = {"OHDR", "OCHK", "BTHD", "BTLF", "BTIN", "FRHP",
                                         "FHIB", "EAHD", "EAIB", "EASB", "EADB", "FAHD",
                                         "FADB", "FSHD", "FSSE", "SMTB", "SMLI"};
    static const char *const bare[] = {"TREE", "SNOD", "HEAP"};
    size_t at, i, n;

    if (file_size > 48 && file[8] >= 2)
        add_span(0, 44, 1, "SUPR");
    else
        add_span(0, file_size < 96 ? file_size : 96, 0, "SUPR");
    for (at = 8; at + 24 <= file_size; at++) {
        for (i = 0; i < sizeof summed / sizeof *summed; i++)
            if (memcmp(file + at, summed[i], 4) == 0 && (n = find_sum(at)) > 0)
                add_span(at, n, 1, summed[i]);
        for (i = 0; i < sizeof bare / sizeof *bare; i++)
            if (memcmp(file + at, bare[i], 4) == 0)
                add_span(at, file_size - at < 256 ? file_size - at : 256, 0, bare[i]);
        if (memcmp(file + at, "GCOL", 4) == 0)
            add_heap(at);
        if (memcmp(file + at, "FHDB", 4) == 0)
            add_direct(at);
        if (at % 8 == 0)
            add_old_header(at);
    }
}

/* --------------------------------------------------------------------- the damage */

static uint64_t odd_value(uint64_t before, int size)
{
    uint64_t all = size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1;

    switch (draw(12)) {
    case 0:
        return 0;
    case 1:
        return all;
    case 2:
        return all >> 1;
    case 3:
        return (all >> 1) + 1;
    case 4:
        return before + 1;
    case 5:
        return before - 1;
    case 6:
        return before << draw(8);
    case 7:
        return before >> (1 + draw(7));
    case 8:
        return before ^ UINT64_C(1) << draw((uint64_t)size * 8);
    case 9:
        return file_size - draw(64);
    case 10:
        return spans[draw(nspans)].at;
    default:
        return draw(0x10000);
    }
}

static void set_field(const struct span *s, size_t from, size_t end, const char *what)
{
    static const int sizes[] = {1, 2, 4, 8, 8};
    int size = sizes[draw(5)];
    size_t at;
    uint64_t value;

    if (end - from < (size_t)size)
        size = 1;
    at = from + (size_t)draw(end - from - (size_t)size + 1);
    if (size > 1 && draw(4))
        at = from + (at - from) / 2 * 2;
    value = odd_value(get(file + at, size), size);
    put(file + at, size, value);
    printf("%s %s at %zu + %zu: %d bytes = %llx\n", s->kind, what, s->at, at - s->at, size,
           (unsigned long long)value);
}

/* Where the messages of a header begin, and the bytes before each. */
static size_t messages_begin(const struct span *s, size_t *head)
{
    const uint8_t *p = file + s->at;

    *head = 8;
    if (strcmp(s->kind, "hdr1") == 0)
        return s->at + 16;
    *head = 4 + (p[5] & 4 ? 2u : 0u);
    if (strcmp(s->kind, "OCHK") == 0) {
        *head = 4;
        return s->at + 4;
    }
    return s->at + 6 + (p[5] & 0x20 ? 16u : 0u) + (p[5] & 0x10 ? 4u : 0u) +
           ((size_t)1 << (p[5] & 3));
}

static int is_header(const struct span *s)
{
    return strcmp(s->kind, "hdr1") == 0 || strcmp(s->kind, "OHDR") == 0 ||
           strcmp(s->kind, "OCHK") == 0;
}

/* One message of a header: what it says of itself, or its body. */
static void damage_message(const struct span *s)
{
    size_t head, at = messages_begin(s, &head), end = s->at + s->size, chosen = 0, size = 0, n = 0;
    int old = strcmp(s->kind, "hdr1") == 0;

    while (at < end && end - at >= head) {
        size_t body = (size_t)get(file + at + (old ? 2 : 1), 2);

        if (body > end - at - head)
            break;
        if (draw(++n) == 0) {
            chosen = at;
            size = body;
        }
        at += head + body;
    }
    if (n == 0)
        set_field(s, s->at + 4, end, "field");
    else if (size == 0 || draw(6) == 0)
        set_field(s, chosen, chosen + head, "message");
    else
        set_field(s, chosen + head, chosen + head + size, "body");
}

static void damage(void)
{
    const struct span *s = &spans[draw(nspans)];

    if (is_header(s) && draw(8))
        damage_message(s);
    else
        set_field(s, s->at + 4, s->at + s->size, "field");
}

/* Fills up in front, so that the path means the same: "//etc", ".//x". */
static void spread(uint8_t *to, size_t size, const char *name)
{
    size_t len = strlen(name), pad = len < size ? size - len : 0, i;

    if (len > size)
        return;
    for (i = 0; i < pad; i++)
        to[i] = *name == '/' ? '/' : i % 2 == 0 && i + 1 < pad ? '.' : '/';
    if (*name != '/' && pad == 1)
        return;
    memcpy(to + pad, name, len);
}

static int take_names(char **names, int n)
{
    size_t at, size;
    int found = 0;

    for (at = 0; n > 0 && at + sizeof HOSTILE <= file_size; at++) {
        const char *name;

        if (memcmp(file + at, HOSTILE, sizeof HOSTILE - 1) != 0)
            continue;
        for (size = 0; at + size < file_size && file[at + size] > ' ' && file[at + size] < 127;)
            size++;
        name = names[draw((uint64_t)n)];
        spread(file + at, size, name);
        printf("name at %zu: %s\n", at, name);
        at += size;
        found++;
    }
    return found;
}

static void mend_sums(void)
{
    size_t i;

    /* Those inside others first. */
    for (i = nspans; i-- > 0;)
        if (spans[i].inside)
            put(file + spans[i].at + spans[i].inside, 4,
                sum_inside(spans[i].at, spans[i].size, spans[i].inside));
        else if (spans[i].sum)
            put(file + spans[i].at + spans[i].size, 4, lookup3(file + spans[i].at, spans[i].size));
}

/* ------------------------------------------------------------------------ the file */

static int load(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size;

    if (!f || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 64)
        return -1;
    rewind(f);
    file_size = (size_t)size;
    file = malloc(file_size + 16);
    if (!file || fread(file, 1, file_size, f) != file_size)
        return -1;
    memset(file + file_size, 0, 16);
    return fclose(f);
}

static int store(const char *path)
{
    FILE *f = fopen(path, "wb");

    return f && fwrite(file, 1, file_size, f) == file_size ? fclose(f) : -1;
}

int main(int argc, char **argv)
{
    int i, times;

    if (argc < 4 || load(argv[2]) != 0) {
        fprintf(stderr, "usage: hdf5mutate SEED IN OUT [NAME...]\n");
        return 2;
    }
    state = strtoull(argv[1], NULL, 10);
    draw(1);
    find_blocks();
    times = 1 + (int)draw(3);
    /* A file with hostile names is often whole apart from them. */
    if (take_names(argv + 4, argc - 4) > 0 && draw(4))
        times = 0;
    for (i = 0; i < times; i++)
        damage();
    mend_sums();
    return store(argv[3]) == 0 ? 0 : 1;
}
