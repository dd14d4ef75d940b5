/* numbers.h - every number that appears in a file: codes, tags, kinds, limits.
 *
 * The tables behind it are the .def files of this folder; SPEC.md is the law. */
/* SPDX-License-Identifier: MIT */
#ifndef FORMAT_NUMBERS_H
#define FORMAT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fmt_err {
    FMT_OK = 0,
#define X(name, number, text) FMT_ERR_##name = number,
#include "format/errors.def"
#undef X
};

enum fmt_class {
    FMT_BYTES,
    FMT_CHAR,
    FMT_WCHAR,
    FMT_INT,
    FMT_UINT,
    FMT_BOOL,
    FMT_REAL,
    FMT_COMPLEX
};

enum fmt_code {
    FMT_CODE_NONE = 0,
#define X(name, code, cls, ext, internal, abi) FMT_CODE_##name = code,
#include "format/types.def"
#undef X
    FMT_CODE_END /* types.def ascends */
};
#define FMT_CODE_MAX (FMT_CODE_END - 1)

enum fmt_format {
#define X(name, number, text, cls, sizes, size, type, complex) FMT_FORMAT_##name = number,
#include "format/formats.def"
};

enum fmt_filter {
#define X(name, id, text, params, dflt) FMT_FILTER_##name = id,
#include "format/filters.def"
#undef X
};
#define FMT_FILTER_USER 32768
/* Flags of a filter: id, name and parameters are those of HDF5; HDF5 may leave it out. */
enum fmt_filter_flag { FMT_FILTER_HDF5 = 0x02, FMT_FILTER_OPTIONAL = 0x04 };
/* Streams as filters of HDF5 frame them. */
#define FMT_FILTER_FRAMED(id) ((id) >= FMT_FILTER_HDF5_LZ4 && (id) <= FMT_FILTER_BLOSC)

enum fmt_tag {
    FMT_TAG_FREE = 1,
    FMT_TAG_LOG = 2,
    FMT_TAG_TYPE = 3,
    FMT_TAG_FILES = 4,
    FMT_TAG_OBJECT = 16,
    FMT_TAG_DATA = 24,
    FMT_TAG_LINK = 32,
    FMT_TAG_DIM = 34,
    FMT_TAG_ATTR = 48,
    FMT_TAG_CHUNK = 64,
    FMT_TAG_USER = 80
};
/* Parts of the tree, by the first byte of its keys. */
enum fmt_space {
    FMT_SPACE_STRUCTURE = 0,
    FMT_SPACE_ATTRS = 1,
    FMT_SPACE_APPLICATIONS = 128 /* and above; those between are for later versions */
};

enum fmt_block { FMT_NODE = 1, FMT_VALUE = 2, FMT_PENDING = 3, FMT_HEADER = 4, FMT_SUMS = 5 };
/* The kind in memory, and in no file, of an item that a later version wrote: it cannot be read,
 * which is no fault. */
#define FMT_LATER 255
/* The flags beside a kind that change its meaning: a reader that does not know one of them cannot
 * read the item.  The others are ignored and kept. */
#define FMT_FLAGS_MEAN 0x0fu
enum fmt_object { FMT_GROUP = 1, FMT_DATASET = 2, FMT_TYPE = 3, FMT_DIMENSION = 4 };
enum fmt_attr { FMT_PLAIN = 1 };
enum fmt_link { FMT_HARD = 1, FMT_SOFT = 2, FMT_EXTERNAL = 3 };
enum fmt_layout { FMT_LAYOUT_NULL = 0, FMT_COMPACT = 1, FMT_CONTIGUOUS = 2, FMT_CHUNKED = 3 };
enum fmt_fill { FMT_FILL_ZERO = 0, FMT_FILL_VALUE = 1, FMT_FILL_NONE = 2 };
/* Kinds of chunk records; the payload of external ones is in another file. */
enum fmt_chunk {
    FMT_CHUNK_PLAIN = 1,
    FMT_CHUNK_PACKED = 2,
    FMT_CHUNK_PLACED = 3,
    FMT_CHUNK_EXTERNAL = 4
};
#define FMT_CHUNK_UNDECODED 0x10u /* flag: nobody has decoded the bytes of these rows yet */
/* How a FILES entry names a file. */
enum fmt_target { FMT_TARGET_PATH = 1, FMT_TARGET_URI = 2 };
enum fmt_order { FMT_ORDER_BIG = 0, FMT_ORDER_LITTLE = 1, FMT_ORDER_VAX = 2 };
enum fmt_scalar { FMT_SCALAR_INT = 1, FMT_SCALAR_REAL = 2, FMT_SCALAR_BITS = 3 };
enum fmt_form { FMT_FORM_TABLE = 1, FMT_FORM_CODE = 2 };

/* Records of the header proper. */
enum fmt_header {
    FMT_HEADER_REP = 1,
    FMT_HEADER_EXTENTS = 2,
    FMT_HEADER_ENCODINGS = 3,
    FMT_HEADER_SCALARS = 4,
    FMT_HEADER_WITNESSES = 5,
    FMT_HEADER_HINTS = 6,
    FMT_HEADER_WRITER = 7,
    FMT_HEADER_MACHINE = 8
};

/* The kinds of nodes of a datatype record; 1..11 elements, 32..43 typemaps. */
enum fmt_kind {
    FMT_KIND_PREDEFINED = 1,
    FMT_KIND_SCALAR = 2,
    FMT_KIND_STRING = 3,
    FMT_KIND_OPAQUE = 4,
    FMT_KIND_ENUM = 5,
    FMT_KIND_BOOLEAN = 6,
    FMT_KIND_ARRAY = 7,
    FMT_KIND_COMPOUND = 8,
    FMT_KIND_SEQUENCE = 9,
    FMT_KIND_VSTRING = 10,
    FMT_KIND_REFERENCE = 11,
    FMT_KIND_CONTIGUOUS = 32,
    FMT_KIND_VECTOR = 33,
    FMT_KIND_HVECTOR = 34,
    FMT_KIND_INDEXED = 35,
    FMT_KIND_HINDEXED = 36,
    FMT_KIND_INDEXED_BLOCK = 37,
    FMT_KIND_HINDEXED_BLOCK = 38,
    FMT_KIND_STRUCT = 39,
    FMT_KIND_SUBARRAY = 40,
    FMT_KIND_DARRAY = 41,
    FMT_KIND_RESIZED = 42,
    FMT_KIND_DUP = 43
};

/* All records that the library writes were defined in this version. */
#define FMT_MAJOR 1
#define FMT_MINOR 1
/* Drafts have major 0, and draft 1 called itself 1.0.  The last draft has the bytes of 1.1 but for
 * the number: its files are read for ever. */
#define FMT_DRAFT 5
/* Incompatible features, as masks.  Bits 1 (other sums, wider references) and 2 (files that only
 * grow) are reserved. */
#define FMT_AT_END ((uint64_t)1) /* the state of the file is in a slot at its end */
#define FMT_INCOMPATIBLE FMT_AT_END
#define FMT_SLOT_SIZE 4096
#define FMT_SPACE_START 8192
#define FMT_SLOT_HEADER_MAX 3832
#define FMT_BLOCK_HEAD 40
#define FMT_REF_SIZE 20
#define FMT_ALIGN 64
#define FMT_SUM_BLOCK 4096
#define FMT_SUMS_INLINE 4
#define FMT_SUMS_MAX 65536 /* bytes of a block of sums */
#define FMT_PACKED_MAX 128
#define FMT_PLACED_MAX 96     /* rows of a placed or an external record */
#define FMT_TARGET_HEAD 65536 /* bytes of a target that its digest is of */
/* Chunks of a step, for a writer that chooses a suffix. */
#define FMT_NEAR_MAX ((uint64_t)1 << 32)
#define FMT_NODE_MAX 16384
#define FMT_LEVEL_MAX 15
#define FMT_KEY_HEAD 10  /* bytes of a key in front of its tail */
#define FMT_KEY_TAG_AT 9 /* of these, in front of the tag: space and object */
#define FMT_KEY_MAX 1040
#define FMT_INLINE_MAX 2048
#define FMT_VALUE_MAX (256u << 20)
#define FMT_HEADER_MAX (1u << 20)
#define FMT_NAME_MAX 1023
#define FMT_DATAREP_MAX 127
#define FMT_REPS_MAX 65536 /* representations of a file */
#define FMT_HINT_KEY_MAX 255
#define FMT_HINT_VALUE_MAX 4096
#define FMT_SHARED_MAX 255 /* bytes of a key that an entry can take from the one before */
#define FMT_RANK_MAX 32
#define FMT_RANK_NULL 255
#define FMT_FILTERS_MAX 32 /* bits of `skipped` */
#define FMT_PARAMS_MAX 255
#define FMT_TYPE_DEPTH_MAX 64
#define FMT_SEQ_DEPTH_MAX 8
#define FMT_ITEM_MAX 32
#define FMT_INT_SIZE_MAX 16 /* bytes of a scalar of class integer or bits */
#define FMT_SCALAR_SIZE 32
#define FMT_EXPONENT_MAX 32 /* bits of a described real's exponent, of its significand */
#define FMT_SIGNIFICAND_MAX 113
#define FMT_COMPACT_MAX 65536 /* bytes of a compact dataset's fixed part */
#define FMT_SHARE_MAX 16      /* contents add up to so many times their heap */
#define FMT_SIZE_MAX ((uint64_t)1 << 62)
#define FMT_UNLIMITED UINT64_MAX
#define FMT_TYPE_FIRST 65536u
#define FMT_OBJECT_FILE 0u
#define FMT_OBJECT_ROOT 1u
#define FMT_OBJECT_END ((uint64_t)1 << 63)       /* ids of objects are less */
#define FMT_LOCK_RANKS (((uint64_t)1 << 62) - 2) /* of processes that write together */
#define FMT_LOCK_WRITER (((uint64_t)1 << 62) - 1)
#define FMT_LOCK_READERS ((uint64_t)1 << 62)

/* A value beyond a limit of SPEC.md 9 (`rule` is the limit's) breaks no rule: limits grow, and what
 * has the value is unreadable here.  All messages about one have the same words. */
#define FMT_BEYOND(what, rule) what ", beyond the limits of this version (" rule ")"

/* Rows of the .def tables by number; NULL or 0 for unknown numbers. */
const char *fmt_err_text(int err);
const char *fmt_code_name(int code);
int fmt_code_from_name(const char *name);
int fmt_code_class(int code);      /* enum fmt_class, -1 if unknown */
int fmt_code_external32(int code); /* bytes */
int fmt_code_internal(int code);   /* bytes */
/* A line of formats.def. */
struct fmt_format_line {
    const char *name;
    uint8_t number;
    uint8_t cls;    /* enum fmt_class */
    uint8_t size;   /* bytes where nothing is said, 0: open */
    uint32_t sizes; /* bit n - 1: a scalar may take n bytes */
    uint8_t type, complex;
};
const struct fmt_format_line *fmt_format(int format); /* NULL if unknown */
const char *fmt_format_name(int format);
int fmt_format_from_name(const char *name);
int fmt_format_class(int format); /* enum fmt_class, -1 if unknown */
/* True if a scalar of this format can have that many bytes (a complex is two scalars). */
bool fmt_format_fits(int format, int size);
/* What is beyond the limits of this version in such a scalar; NULL: nothing is. */
const char *fmt_size_beyond(int format, int size);
const char *fmt_filter_name(int id);
int fmt_filter_from_name(const char *name);
int fmt_filter_params(int id); /* how many parameters its record has, -1 if unknown */

#endif
