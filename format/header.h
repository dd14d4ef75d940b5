/* header.h - the header proper: by which representation a file is to be read.
 *
 * It holds the table of encodings with sample values as witnesses, the hints, and who wrote the
 * file where.  Lists are indexed by the code of a predefined datatype.  As in record.h, a decoder
 * points into the bytes it was given, and keeps what a later version added. */
#ifndef FORMAT_HEADER_H
#define FORMAT_HEADER_H

#include "format/record.h"

struct encoding_rec {
    uint16_t code;
    uint8_t format, order, size, align, custom;
};
struct witness_rec {
    uint8_t k, size; /* k is 0 for bytes */
    const uint8_t *bytes;
};
struct header_rec {
    uint8_t form, flags;
    char name[FMT_DATAREP_MAX + 1];
    uint16_t extent[FMT_CODE_MAX + 1]; /* 0: not in use */
    int has_encodings;
    struct encoding_rec row[FMT_CODE_MAX + 1];    /* size 0: no row */
    struct span scalars;                          /* whole descriptions of 32 bytes */
    struct witness_rec witness[FMT_CODE_MAX + 1]; /* size 0: none */
    struct span hints;                            /* read with hint_get() */
    struct span writer, machine;
    struct span unknown; /* records of unknown tags, whole */
    /* Bytes after the last known field or, as codes ascend, after the last known code. */
    struct span tail, extents_tail, encodings_tail, witnesses_tail;
};
/* `unknown` is gathered into scratch (at least size bytes). */
int header_get(const uint8_t *p, size_t size, struct header_rec *out, uint8_t *scratch,
               const char **why, size_t *why_at);
/* Encode whole records; *split: how many bytes of them fit into the slot. */
void header_put(struct out *out, const struct header_rec *h, size_t *split);
struct hint_rec {
    struct span key, value;
};
int hint_get(struct in *in, struct hint_rec *out); /* FMT_ERR_NOT_FOUND at the end */
void hint_put(struct out *out, const struct hint_rec *h);

#endif
