/* header.h - the header proper: the representations of a file, its hints, who wrote it.
 *
 * Each representation is one record REP: a table of encodings, or functions' extents with sample
 * values as witnesses.  Datasets name them by number.  Lists are indexed by the code of a
 * predefined datatype.  As in record.h, a decoder points into the bytes it was given, and keeps
 * what a later version added. */
/* SPDX-License-Identifier: MIT */
#ifndef FORMAT_HEADER_H
#define FORMAT_HEADER_H

#include "format/record.h"

struct encoding_rec {
    uint16_t code;
    uint8_t format, order, size, align, custom;
    bool later; /* only a later version understands the row; it is kept */
};
/* What is beyond the limits of this version in a row of `later`, or in the description that it
 * names, of those in `scalars`; NULL: nothing is. */
const char *encoding_beyond(const struct encoding_rec *row, const struct span *scalars);
struct witness_rec {
    uint8_t k, size; /* k is 0 for bytes */
    const uint8_t *bytes;
};
struct rep_rec {
    uint8_t form, flags;
    uint16_t number;
    char name[FMT_DATAREP_MAX + 1];
    bool later;         /* form or flags of a later version: nothing below is set */
    const char *beyond; /* later as this is beyond the limits of this version; without a name */
    uint16_t extent[FMT_CODE_MAX + 1]; /* 0: not in use */
    int has_encodings;
    struct encoding_rec row[FMT_CODE_MAX + 1];    /* size 0: no row */
    struct span scalars;                          /* whole descriptions of 32 bytes */
    struct witness_rec witness[FMT_CODE_MAX + 1]; /* size 0: none */
    struct span machine;
    struct span unknown; /* nested records of unknown tags, whole */
    /* Codes ascend: what stands after the last known code. */
    struct span extents_tail, encodings_tail, witnesses_tail;
};
/* Decode the content of a record REP; why_at counts from its first byte.  `unknown` is gathered
 * into scratch (at least rec->len bytes). */
int rep_get(const struct span *rec, struct rep_rec *out, uint8_t *scratch, const char **why,
            size_t *why_at);
void rep_put(struct out *out, const struct rep_rec *r);
/* Encode the record with its tag and length. */
void rep_record_put(struct out *out, const struct rep_rec *r);

struct header_rec {
    struct span reps;  /* records, read with header_rep_next() */
    int nreps;         /* how many of them are representations; their numbers ascend, 0 first */
    struct span hints; /* read with hint_get() */
    struct span writer;
    struct span unknown; /* records of unknown tags, whole */
};
/* Decode everything but the content of the representations behind their numbers.  `unknown` is
 * gathered into scratch (at least size bytes). */
int header_get(const uint8_t *p, size_t size, struct header_rec *out, uint8_t *scratch,
               const char **why, size_t *why_at);
/* Encode whole records; *split: how many bytes of them fit into the slot. */
void header_put(struct out *out, const struct header_rec *h, size_t *split);
/* Put the record of a representation whose content is given. */
void header_rep_put(struct out *out, const struct span *content);
/* Take the next whole record; false: no further one is whole. */
bool header_record_next(struct in *in, unsigned *tag, struct span *content);
/* The content of the next representation, for rep_get(); records of other tags are passed over.
 * FMT_ERR_NOT_FOUND at the end. */
int header_rep_next(struct in *in, struct span *out);
struct hint_rec {
    struct span key, value;
};
int hint_get(struct in *in, struct hint_rec *out); /* FMT_ERR_NOT_FOUND at the end */
void hint_put(struct out *out, const struct hint_rec *h);

#endif
