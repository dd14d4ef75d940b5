/* datarep.h - the public interface of libdatarep.
 *
 * A Datarep file (*.drep) holds N-dimensional datasets in a tree of groups and
 * says in its header in which data representation their elements are stored.
 * Every call that can fail returns 0 or an error code (DREP_ERR_...); the
 * out-parameters are untouched on failure, and drep_error() gives the calling
 * thread's last message, with path, object and byte offset.  The library never
 * prints, never exits and installs no handlers.
 *
 * Units: `len` and `count` are elements, `size` and `offset` bytes, `position`
 * data items counted from the first of the tiled typemap, `extent` and `stride`
 * signed bytes.  Strings are UTF-8 and end with a NUL.
 *
 * Sections named like "MPI 5.0, 14.7" are where the standard states a rule. */
#ifndef DATAREP_H
#define DATAREP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DREP_API __attribute__((visibility("default")))
#else
#define DREP_API
#endif

#define DREP_VERSION_MAJOR 0
#define DREP_VERSION_MINOR 1
#define DREP_VERSION_PATCH 0
#define DREP_VERSION "0.1.0"

/* ------------------------------------------------------------------ errors */

/* The codes, as format/errors.def lists them. */
enum drep_err {
    DREP_OK = 0,
    DREP_ERR_ARG = 1,
    DREP_ERR_NOMEM = 2,
    DREP_ERR_IO = 3,
    DREP_ERR_NO_SPACE = 4,
    DREP_ERR_NO_SUCH_FILE = 5,
    DREP_ERR_FILE_EXISTS = 6,
    DREP_ERR_ACCESS = 7,
    DREP_ERR_READ_ONLY = 8,
    DREP_ERR_FILE_IN_USE = 9,
    DREP_ERR_AMODE = 10,
    DREP_ERR_FORMAT = 11,
    DREP_ERR_VERSION = 12,
    DREP_ERR_CHECKSUM = 13,
    DREP_ERR_TRUNCATE = 14,
    DREP_ERR_UNSUPPORTED = 15,
    DREP_ERR_UNSUPPORTED_DATAREP = 16,
    DREP_ERR_DUP_DATAREP = 17,
    DREP_ERR_CONVERSION = 18,
    DREP_ERR_UNSUPPORTED_OPERATION = 19,
    DREP_ERR_NOT_SAME = 20,
    DREP_ERR_VALUE_TOO_LARGE = 21,
    DREP_ERR_TYPE = 22,
    DREP_ERR_COUNT = 23,
    DREP_ERR_DIMS = 24,
    DREP_ERR_RANGE = 25,
    DREP_ERR_NOT_FOUND = 26,
    DREP_ERR_EXISTS = 27,
    DREP_ERR_KIND = 28,
    DREP_ERR_NAME = 29,
    DREP_ERR_LIMIT = 30,
    DREP_ERR_STALE = 31,
    DREP_ERR_FAILED = 32,
    DREP_ERR_STOPPED = 33,
    DREP_ERR_BUFFER = 34,
    DREP_ERR_INFO_KEY = 35,
    DREP_ERR_INFO_VALUE = 36,
    DREP_ERR_NOT_DREP = 37,
    DREP_ERR_SYNTAX = 38
};

/* The calling thread's last message, never NULL; valid until that thread's next
 * failing call.  "" when nothing failed yet. */
DREP_API const char *drep_error(void);

/* The short text of a code ("no such object"), a constant string. */
DREP_API const char *drep_strerror(int err);

/* One line: library and format version, filters built in, CPU kernels in use. */
DREP_API const char *drep_version(void);

/* --------------------------------------------------------------- datatypes */

/* A datatype describes elements in memory.  Immutable, reference counted, safe
 * to share between threads.  Every constructor gives a new reference in *out,
 * to be released with drep_type_free(); it keeps its own references to the
 * types it was given.  Constructors fail with DREP_ERR_ARG (null pointers,
 * negative counts: DREP_ERR_COUNT), DREP_ERR_VALUE_TOO_LARGE (an extent or a
 * size beyond 2^62), DREP_ERR_LIMIT (deeper than 64), DREP_ERR_NOMEM. */
typedef struct drep_type drep_type;

/* Codes of the predefined datatypes, as format/types.def lists them.  The names
 * and meanings are the MPI standard's; MPI 5.0, external32 table. */
enum drep_code {
    DREP_CODE_BYTE = 1,
    DREP_CODE_PACKED = 2,
    DREP_CODE_CHAR = 3,
    DREP_CODE_SIGNED_CHAR = 4,
    DREP_CODE_UNSIGNED_CHAR = 5,
    DREP_CODE_SHORT = 6,
    DREP_CODE_UNSIGNED_SHORT = 7,
    DREP_CODE_INT = 8,
    DREP_CODE_UNSIGNED = 9,
    DREP_CODE_LONG = 10,
    DREP_CODE_UNSIGNED_LONG = 11,
    DREP_CODE_LONG_LONG = 12,
    DREP_CODE_UNSIGNED_LONG_LONG = 13,
    DREP_CODE_WCHAR = 14,
    DREP_CODE_FLOAT = 15,
    DREP_CODE_DOUBLE = 16,
    DREP_CODE_LONG_DOUBLE = 17,
    DREP_CODE_C_BOOL = 18,
    DREP_CODE_INT8_T = 19,
    DREP_CODE_INT16_T = 20,
    DREP_CODE_INT32_T = 21,
    DREP_CODE_INT64_T = 22,
    DREP_CODE_UINT8_T = 23,
    DREP_CODE_UINT16_T = 24,
    DREP_CODE_UINT32_T = 25,
    DREP_CODE_UINT64_T = 26,
    DREP_CODE_C_FLOAT_COMPLEX = 27,
    DREP_CODE_C_DOUBLE_COMPLEX = 28,
    DREP_CODE_C_LONG_DOUBLE_COMPLEX = 29,
    DREP_CODE_AINT = 30,
    DREP_CODE_COUNT = 31,
    DREP_CODE_OFFSET = 32,
    DREP_CODE_CXX_BOOL = 33,
    DREP_CODE_CXX_FLOAT_COMPLEX = 34,
    DREP_CODE_CXX_DOUBLE_COMPLEX = 35,
    DREP_CODE_CXX_LONG_DOUBLE_COMPLEX = 36,
    DREP_CODE_CHARACTER = 37,
    DREP_CODE_LOGICAL = 38,
    DREP_CODE_INTEGER = 39,
    DREP_CODE_REAL = 40,
    DREP_CODE_DOUBLE_PRECISION = 41,
    DREP_CODE_COMPLEX = 42,
    DREP_CODE_DOUBLE_COMPLEX = 43,
    DREP_CODE_LOGICAL1 = 44,
    DREP_CODE_LOGICAL2 = 45,
    DREP_CODE_LOGICAL4 = 46,
    DREP_CODE_LOGICAL8 = 47,
    DREP_CODE_LOGICAL16 = 48,
    DREP_CODE_INTEGER1 = 49,
    DREP_CODE_INTEGER2 = 50,
    DREP_CODE_INTEGER4 = 51,
    DREP_CODE_INTEGER8 = 52,
    DREP_CODE_INTEGER16 = 53,
    DREP_CODE_REAL2 = 54,
    DREP_CODE_REAL4 = 55,
    DREP_CODE_REAL8 = 56,
    DREP_CODE_REAL16 = 57,
    DREP_CODE_COMPLEX4 = 58,
    DREP_CODE_COMPLEX8 = 59,
    DREP_CODE_COMPLEX16 = 60,
    DREP_CODE_COMPLEX32 = 61,
    DREP_CODE_FLOAT16 = 62,
    DREP_CODE_BFLOAT16 = 63,
    DREP_CODE_FLOAT128 = 64,
    DREP_CODE_FP8_E4M3 = 65,
    DREP_CODE_FP8_E5M2 = 66,
    DREP_CODE_UINT128_T = 67,
    DREP_CODE_MAX = 67
};

/* The predefined datatype with this code; NULL if there is none.  Never freed. */
DREP_API const drep_type *drep_predefined(int code);

/* Its name without prefix ("DOUBLE"), NULL if there is none; and the way back, 0
 * if no predefined datatype has that name. */
DREP_API const char *drep_code_name(int code);
DREP_API int drep_code_from_name(const char *name);

#define DREP_BYTE drep_predefined(DREP_CODE_BYTE)
#define DREP_PACKED drep_predefined(DREP_CODE_PACKED)
#define DREP_CHAR drep_predefined(DREP_CODE_CHAR)
#define DREP_SIGNED_CHAR drep_predefined(DREP_CODE_SIGNED_CHAR)
#define DREP_UNSIGNED_CHAR drep_predefined(DREP_CODE_UNSIGNED_CHAR)
#define DREP_SHORT drep_predefined(DREP_CODE_SHORT)
#define DREP_UNSIGNED_SHORT drep_predefined(DREP_CODE_UNSIGNED_SHORT)
#define DREP_INT drep_predefined(DREP_CODE_INT)
#define DREP_UNSIGNED drep_predefined(DREP_CODE_UNSIGNED)
#define DREP_LONG drep_predefined(DREP_CODE_LONG)
#define DREP_UNSIGNED_LONG drep_predefined(DREP_CODE_UNSIGNED_LONG)
#define DREP_LONG_LONG drep_predefined(DREP_CODE_LONG_LONG)
#define DREP_UNSIGNED_LONG_LONG drep_predefined(DREP_CODE_UNSIGNED_LONG_LONG)
#define DREP_WCHAR drep_predefined(DREP_CODE_WCHAR)
#define DREP_FLOAT drep_predefined(DREP_CODE_FLOAT)
#define DREP_DOUBLE drep_predefined(DREP_CODE_DOUBLE)
#define DREP_LONG_DOUBLE drep_predefined(DREP_CODE_LONG_DOUBLE)
#define DREP_C_BOOL drep_predefined(DREP_CODE_C_BOOL)
#define DREP_INT8_T drep_predefined(DREP_CODE_INT8_T)
#define DREP_INT16_T drep_predefined(DREP_CODE_INT16_T)
#define DREP_INT32_T drep_predefined(DREP_CODE_INT32_T)
#define DREP_INT64_T drep_predefined(DREP_CODE_INT64_T)
#define DREP_UINT8_T drep_predefined(DREP_CODE_UINT8_T)
#define DREP_UINT16_T drep_predefined(DREP_CODE_UINT16_T)
#define DREP_UINT32_T drep_predefined(DREP_CODE_UINT32_T)
#define DREP_UINT64_T drep_predefined(DREP_CODE_UINT64_T)
#define DREP_C_COMPLEX drep_predefined(DREP_CODE_C_FLOAT_COMPLEX)
#define DREP_C_FLOAT_COMPLEX drep_predefined(DREP_CODE_C_FLOAT_COMPLEX)
#define DREP_C_DOUBLE_COMPLEX drep_predefined(DREP_CODE_C_DOUBLE_COMPLEX)
#define DREP_C_LONG_DOUBLE_COMPLEX drep_predefined(DREP_CODE_C_LONG_DOUBLE_COMPLEX)
#define DREP_AINT drep_predefined(DREP_CODE_AINT)
#define DREP_COUNT drep_predefined(DREP_CODE_COUNT)
#define DREP_OFFSET drep_predefined(DREP_CODE_OFFSET)
#define DREP_FLOAT16 drep_predefined(DREP_CODE_FLOAT16)
#define DREP_BFLOAT16 drep_predefined(DREP_CODE_BFLOAT16)
#define DREP_FLOAT128 drep_predefined(DREP_CODE_FLOAT128)
#define DREP_FP8_E4M3 drep_predefined(DREP_CODE_FP8_E4M3)
#define DREP_FP8_E5M2 drep_predefined(DREP_CODE_FP8_E5M2)

/* How a datatype was made: its kind ("combiner" in MPI). */
enum drep_kind {
    DREP_KIND_PREDEFINED = 1,
    DREP_KIND_SCALAR = 2,
    DREP_KIND_STRING = 3,
    DREP_KIND_OPAQUE = 4,
    DREP_KIND_ENUM = 5,
    DREP_KIND_BOOLEAN = 6,
    DREP_KIND_ARRAY = 7,
    DREP_KIND_COMPOUND = 8, /* a struct whose members have names */
    DREP_KIND_SEQUENCE = 9, /* variable length */
    DREP_KIND_VSTRING = 10, /* variable length, UTF-8; a stored one with a NUL: DREP_ERR_FORMAT */
    DREP_KIND_REFERENCE = 11,
    DREP_KIND_CONTIGUOUS = 32,
    DREP_KIND_VECTOR = 33,
    DREP_KIND_HVECTOR = 34,
    DREP_KIND_INDEXED = 35,
    DREP_KIND_HINDEXED = 36,
    DREP_KIND_INDEXED_BLOCK = 37,
    DREP_KIND_HINDEXED_BLOCK = 38,
    DREP_KIND_STRUCT = 39,
    DREP_KIND_SUBARRAY = 40,
    DREP_KIND_DARRAY = 41,
    DREP_KIND_RESIZED = 42,
    DREP_KIND_DUP = 43
};

enum { DREP_ORDER_C = 0, DREP_ORDER_FORTRAN = 1 };
enum { DREP_DISTRIBUTE_NONE = 0, DREP_DISTRIBUTE_BLOCK = 1, DREP_DISTRIBUTE_CYCLIC = 2 };
#define DREP_DISTRIBUTE_DFLT_DARG (-1)

/* Constructors of the MPI standard (MPI 5.0, chapter 5); counts and displacements
 * without prefix h are in extents of `base`, with it in bytes. */
DREP_API int drep_type_contiguous(int64_t count, const drep_type *base, drep_type **out);
DREP_API int drep_type_vector(int64_t count, int64_t blocklen, int64_t stride,
                              const drep_type *base, drep_type **out);
DREP_API int drep_type_hvector(int64_t count, int64_t blocklen, int64_t stride,
                               const drep_type *base, drep_type **out);
DREP_API int drep_type_indexed(int64_t count, const int64_t *blocklens, const int64_t *displs,
                               const drep_type *base, drep_type **out);
DREP_API int drep_type_hindexed(int64_t count, const int64_t *blocklens, const int64_t *displs,
                                const drep_type *base, drep_type **out);
DREP_API int drep_type_indexed_block(int64_t count, int64_t blocklen, const int64_t *displs,
                                     const drep_type *base, drep_type **out);
DREP_API int drep_type_hindexed_block(int64_t count, int64_t blocklen, const int64_t *displs,
                                      const drep_type *base, drep_type **out);
/* blocklens NULL: all 1.  displs (bytes) NULL: laid out as the C compiler would,
 * with padding inside and at the end. */
DREP_API int drep_type_struct(int64_t count, const int64_t *blocklens, const int64_t *displs,
                              const drep_type *const *types, drep_type **out);
DREP_API int drep_type_subarray(int rank, const int64_t *sizes, const int64_t *subsizes,
                                const int64_t *starts, int order, const drep_type *base,
                                drep_type **out);
DREP_API int drep_type_darray(int nprocs, int proc, int rank, const int64_t *gsizes,
                              const int *distribs, const int64_t *dargs, const int *psizes,
                              int order, const drep_type *base, drep_type **out);
DREP_API int drep_type_resized(int64_t lb, int64_t extent, const drep_type *base, drep_type **out);
DREP_API int drep_type_dup(const drep_type *base, drep_type **out);
/* Fortran's parameterised types (MPI 5.0, 19.1.5); DREP_UNDEFINED leaves a
 * parameter open.  DREP_ERR_ARG where the standard calls the result undefined. */
#define DREP_UNDEFINED (-32766)
DREP_API int drep_type_f90_real(int precision, int range, drep_type **out);
DREP_API int drep_type_f90_complex(int precision, int range, drep_type **out);
DREP_API int drep_type_f90_integer(int range, drep_type **out);

/* Container kinds.  A compound is a struct whose members have names: unique,
 * nonempty, at most 1,023 bytes.  displs NULL as for drep_type_struct; `size` is
 * its extent in memory, 0 for what the members ask for. */
DREP_API int drep_type_compound(int64_t count, const char *const *names, const int64_t *displs,
                                const drep_type *const *types, int64_t size, drep_type **out);
/* A block of rank 1..32 dimensions of `base`, row-major, contiguous. */
DREP_API int drep_type_array(int rank, const int64_t *dims, const drep_type *base, drep_type **out);
/* Bytes of text; how it is padded tells where it ends. */
enum { DREP_PAD_NUL = 0, DREP_PAD_NULTERM = 1, DREP_PAD_SPACE = 2 };
DREP_API int drep_type_string(int64_t size, int pad, drep_type **out);
/* In memory a char * (NUL-terminated, NULL reads as ""). */
DREP_API int drep_type_vstring(drep_type **out);
/* In memory a drep_vlen. */
DREP_API int drep_type_sequence(const drep_type *base, drep_type **out);
/* Bytes with no meaning to us; tag names their meaning, may be NULL. */
DREP_API int drep_type_opaque(int64_t size, const char *tag, drep_type **out);
/* base: an integer type; values as int64_t (or uint64_t bits). */
DREP_API int drep_type_enum(const drep_type *base, int64_t count, const char *const *names,
                            const int64_t *values, drep_type **out);
/* base: an integer or bool type; 0 is false, anything else true. */
DREP_API int drep_type_boolean(const drep_type *base, drep_type **out);
/* In memory a drep_ref. */
enum { DREP_REF_OBJECT = 0, DREP_REF_REGION = 1 };
DREP_API int drep_type_reference(int what, drep_type **out);

/* In memory, one element of a sequence: `data` holds count elements of the base,
 * tiled.  What the library reads into `data` was malloc'ed and belongs to the
 * caller: drep_vlen_free(). */
typedef struct drep_vlen {
    int64_t count;
    void *data;
} drep_vlen;

/* In memory, a reference: the object's id in this file (0: none), and for a
 * region the selection's text ("[0:10,5]", malloc'ed) or NULL. */
typedef struct drep_ref {
    uint64_t object;
    char *region;
} drep_ref;

/* Frees what reading `count` elements of `type` into `buf` allocated, and zeroes
 * those pointers.  A negative count, or one that no memory holds, does nothing. */
DREP_API void drep_vlen_free(const drep_type *type, int64_t count, void *buf);

/* A scalar beyond the predefined ones: any integer or real laid out in up to 32
 * bytes.  Bits count from 0, the least significant of the scalar taken as one
 * number after its bytes are put in order.  It means the same under every data
 * representation. */
enum { DREP_SCALAR_INT = 1, DREP_SCALAR_REAL = 2, DREP_SCALAR_BITS = 3 };
enum { DREP_BIG = 0, DREP_LITTLE = 1, DREP_VAX = 2 };
enum { DREP_NORM_IMPLIED = 0, DREP_NORM_MSBSET = 1, DREP_NORM_NONE = 2 };
typedef struct drep_scalar {
    uint8_t cls;        /* DREP_SCALAR_... */
    uint8_t order;      /* DREP_BIG, DREP_LITTLE, DREP_VAX (16-bit words, little-endian inside) */
    uint8_t size;       /* bytes, 1..32 */
    uint8_t is_signed;  /* integers */
    uint8_t format;     /* DREP_FORMAT_..., or DREP_FORMAT_CUSTOM: by the fields below */
    uint8_t norm;       /* DREP_NORM_... */
    uint8_t low_pad;    /* bits below the value: 0, 1, 2 (unknown, kept as 0) */
    uint8_t high_pad;   /* bits above it, likewise */
    uint16_t precision; /* bits that hold the value */
    uint16_t offset;    /* bit where they begin */
    uint16_t sign_pos;
    uint16_t exp_pos, exp_width;
    uint16_t mant_pos, mant_width;
    uint8_t exp_base_log2; /* 1: base 2, 4: base 16 */
    int64_t exp_bias;
} drep_scalar;
DREP_API int drep_type_scalar(const drep_scalar *scalar, drep_type **out);

/* Adds a reference; gives it back.  Predefined types need neither. */
DREP_API drep_type *drep_type_ref(const drep_type *type);
DREP_API void drep_type_free(drep_type *type);

/* Bytes of data in one element (gaps not counted); distance from one element to
 * the next; lower bound; bounds of the bytes really touched; data items. */
DREP_API int64_t drep_type_size(const drep_type *type);
DREP_API int64_t drep_type_extent(const drep_type *type);
DREP_API int64_t drep_type_lb(const drep_type *type);
DREP_API int64_t drep_type_true_extent(const drep_type *type);
DREP_API int64_t drep_type_true_lb(const drep_type *type);
DREP_API int64_t drep_type_items(const drep_type *type);
/* 1 if built without byte displacements (MPI 5.0, 14.1.1 "portable"). */
DREP_API int drep_type_portable(const drep_type *type);
/* 1 if a sequence, a variable-length string or a region reference is inside. */
DREP_API int drep_type_variable(const drep_type *type);
DREP_API int drep_type_kind(const drep_type *type);
/* The code of a predefined type, 0 for every other. */
DREP_API int drep_type_code(const drep_type *type);
/* The alignment the C compiler gives it here, in bytes. */
DREP_API int64_t drep_type_align(const drep_type *type);

/* What a type is made of.  The number of member types (0 for predefined and
 * other leaves; 1 for most; the members of a struct or compound), the i-th of
 * them (borrowed: lives as long as `type`), its name (NULL if none), its
 * displacement in bytes, its block length. */
DREP_API int64_t drep_type_members(const drep_type *type);
DREP_API const drep_type *drep_type_member(const drep_type *type, int64_t i);
DREP_API const char *drep_type_member_name(const drep_type *type, int64_t i);
DREP_API int64_t drep_type_member_offset(const drep_type *type, int64_t i);
DREP_API int64_t drep_type_member_blocklen(const drep_type *type, int64_t i);
/* An array's rank and dimensions (borrowed); 0 and NULL for every other kind. */
DREP_API int drep_type_array_rank(const drep_type *type);
DREP_API const int64_t *drep_type_array_dims(const drep_type *type);
/* Of an enum: how many names, the i-th, its value. */
DREP_API int64_t drep_type_enum_count(const drep_type *type);
DREP_API const char *drep_type_enum_name(const drep_type *type, int64_t i);
DREP_API int64_t drep_type_enum_value(const drep_type *type, int64_t i);
/* Of a string: DREP_PAD_...; of an opaque: its tag ("" if none); of a reference:
 * DREP_REF_...; of a scalar: its description (borrowed). */
DREP_API int drep_type_string_pad(const drep_type *type);
DREP_API const char *drep_type_opaque_tag(const drep_type *type);
DREP_API int drep_type_reference_what(const drep_type *type);
DREP_API const drep_scalar *drep_type_scalar_desc(const drep_type *type);
/* The integers a constructor was given, in the order of its parameters (MPI 5.0,
 * 5.1.13, all as int64_t): how many, the i-th. */
DREP_API int64_t drep_type_arg_count(const drep_type *type);
DREP_API int64_t drep_type_arg(const drep_type *type, int64_t i);

/* 1 if both were built the same way; 1 if their typemaps are the same. */
DREP_API int drep_type_equal(const drep_type *a, const drep_type *b);
DREP_API int drep_type_equivalent(const drep_type *a, const drep_type *b);

/* One readable line ("struct{when: INT64_T, value: DOUBLE}"), malloc'ed, for
 * free(); and the way back (DREP_ERR_SYNTAX with the column in the message). */
DREP_API int drep_type_print(const drep_type *type, char **text);
DREP_API int drep_type_parse(const char *text, drep_type **out);

/* A cursor walks the data items of a tiled typemap (tile k at k * extent) from
 * any position.  It lives on the caller's stack; nothing to release. */
typedef struct drep_cursor {
    int64_t opaque[264];
} drep_cursor;

/* `count` items of one predefined type (or scalar), `stride` bytes apart, the
 * first at `offset` bytes from the start of the buffer. */
typedef struct drep_run {
    const drep_type *type;
    int64_t offset;
    int64_t stride;
    int64_t count;
} drep_run;

/* Seeks in O(depth + log of branches). */
DREP_API int drep_cursor_init(drep_cursor *cursor, const drep_type *type, int64_t position);
/* The next maximal run of at most `max` items; 0 when max is 0 or the type has
 * no items, else 1. */
DREP_API int drep_cursor_next(drep_cursor *cursor, int64_t max, drep_run *run);

/* ------------------------------------------------------ data representations */

/* One table row: how a predefined datatype lies in bytes. */
typedef struct drep_encoding {
    uint16_t code;  /* DREP_CODE_... */
    uint8_t format; /* DREP_FORMAT_... */
    uint8_t order;  /* DREP_BIG, DREP_LITTLE, DREP_VAX */
    uint8_t size;   /* bytes of the whole item (a complex: both parts) */
    uint8_t align;  /* of the item inside a struct of that machine; 1 when packed */
    uint8_t custom; /* DREP_FORMAT_CUSTOM: index into the table's scalars */
    uint8_t reserved;
} drep_encoding;

/* The formats of scalars, as format/formats.def lists them. */
enum drep_format {
    DREP_FORMAT_BYTES = 1,
    DREP_FORMAT_INT = 2,
    DREP_FORMAT_UINT = 3,
    DREP_FORMAT_BOOL = 4,
    DREP_FORMAT_CHAR = 5,
    DREP_FORMAT_UNICODE = 6,
    DREP_FORMAT_EBCDIC = 7,
    DREP_FORMAT_BINARY16 = 16,
    DREP_FORMAT_BFLOAT16 = 17,
    DREP_FORMAT_FP8_E4M3 = 18,
    DREP_FORMAT_FP8_E5M2 = 19,
    DREP_FORMAT_BINARY32 = 20,
    DREP_FORMAT_BINARY64 = 21,
    DREP_FORMAT_BINARY128 = 22,
    DREP_FORMAT_X87 = 23,
    DREP_FORMAT_M68K = 24,
    DREP_FORMAT_DOUBLE_DOUBLE = 25,
    DREP_FORMAT_IBM_HEX32 = 26,
    DREP_FORMAT_IBM_HEX64 = 27,
    DREP_FORMAT_IBM_HEX128 = 28,
    DREP_FORMAT_VAX_F = 29,
    DREP_FORMAT_VAX_D = 30,
    DREP_FORMAT_VAX_G = 31,
    DREP_FORMAT_VAX_H = 32,
    DREP_FORMAT_CRAY64 = 33,
    DREP_FORMAT_CUSTOM = 255
};
DREP_API const char *drep_format_name(int format);    /* NULL if unknown */
DREP_API int drep_format_from_name(const char *name); /* 0 if unknown */

/* The facts of a format.  Bits count from the least significant of the scalar taken as one
 * number.  The value of a finite real with exponent field e and significand s is
 * s * 2^(base_log2 * (e - bias)), where s has its binary point behind the leading bit, or
 * before it where `fraction` is set.  double-double and ibm-hex128 lie in two halves: their
 * fields are those of the two taken together, and say nothing of where bits lie. */
typedef struct drep_format_info {
    int format; /* DREP_FORMAT_... */
    const char *name;
    int cls;        /* DREP_SCALAR_INT (also bool and unicode), _REAL, _BITS (anything else) */
    int size;       /* bytes of a scalar where nothing is said; 0: every row says how many */
    uint32_t sizes; /* bit n - 1 is set where a scalar may take n bytes */
    int type;       /* the predefined datatype that has this format on every machine, or 0 */
    int complex;    /* the narrowest predefined complex whose parts hold it there, or 0 */
    /* Reals; all 0 for others. */
    int vax;       /* the format implies the order DREP_VAX */
    int ieee;      /* infinities and NaNs as IEEE 754 has them */
    int precision; /* significant bits, the leading one counted */
    int sign_pos, exp_pos, exp_width, mant_pos, mant_width;
    int implied; /* the leading bit is not stored */
    int base_log2, fraction;
    int bias;
    /* Numbers with the whole precision lie in 2^least <= |x| < 2^(greatest + 1).  In base 16
     * up to three leading bits of the significand may be 0. */
    int least, greatest;
} drep_format_info;
/* NULL if the format is unknown; else constant, never freed. */
DREP_API const drep_format_info *drep_format_describe(int format);

/* What a user registers (MPI 5.0, 14.7.3).  `count` is data items and `position`
 * the index of the first of them in the typemap of `datatype` tiled over
 * `userbuf`; `filebuf` begins with that item; its items lie there byte aligned
 * with no padding, each as long as the extent function says.  userbuf and
 * datatype are the same in every call of one transfer.  Must be reentrant; calls with the
 * file or the view that it works for may be refused (Callbacks, below).
 * Non-zero: DREP_ERR_CONVERSION.
 *
 * Elements of a dataset: what a selection takes of one chunk (contiguous: of one slab, compact:
 * of all) is one transfer that begins at position 0, whatever lies between the elements.  It is
 * one call, or several where its bytes are more than the hint cb_buffer_size says.  `datatype`
 * holds the items that functions convert; bytes, strings and items of variable length are left
 * out.  The contents of each sequence are a transfer of their own.
 * Bytes of filebuf that a write function leaves alone are zeros in the file; items that a read
 * function leaves alone keep what the caller's buffer held, or become zeros.  Both are errors of
 * the function, which `datarep reps --check` finds. */
typedef int drep_conversion_fn(void *userbuf, const drep_type *datatype, int64_t count,
                               void *filebuf, int64_t position, void *extra_state);
/* Bytes that a predefined datatype takes in the file. */
typedef int drep_extent_fn(const drep_type *datatype, int64_t *file_extent, void *extra_state);

#define DREP_CONVERSION_NULL ((drep_conversion_fn *)0)
#define DREP_MAX_DATAREP_STRING 128 /* with the NUL */

/* Registers a data representation in this process, for its life.  read or write
 * DREP_CONVERSION_NULL: that direction takes data in native form.
 * DREP_ERR_DUP_DATAREP, DREP_ERR_NAME (empty, too long, no UTF-8, or "native:..."),
 * DREP_ERR_ARG (no extent function).  Thread safe. */
DREP_API int drep_register_datarep(const char *name, drep_conversion_fn *read,
                                   drep_conversion_fn *write, drep_extent_fn *extent,
                                   void *extra_state);
/* The same with flags. */
enum { DREP_REP_SERIAL = 1 }; /* never call the functions from two threads at once */
DREP_API int drep_register_datarep_flags(const char *name, drep_conversion_fn *read,
                                         drep_conversion_fn *write, drep_extent_fn *extent,
                                         void *extra_state, unsigned flags);
/* Registers a representation given as data: rows for the types it changes; types
 * without a row are held as under `base` ("external32", "internal", "native:...").
 * scalars: the custom formats that rows refer to. */
DREP_API int drep_declare_datarep(const char *name, const char *base, const drep_encoding *rows,
                                  int nrows, const drep_scalar *scalars, int nscalars);
/* The rows of a table-form representation ("external32", "native", "native:s390x",
 * a declared one): at most `max` are stored, *n is how many there are.
 * DREP_ERR_UNSUPPORTED_DATAREP if unknown, *n = 0 if it is made of functions. */
DREP_API int drep_datarep_table(const char *name, drep_encoding *rows, int max, int *n);
/* The custom scalars that those rows refer to. */
DREP_API int drep_datarep_scalars(const char *name, drep_scalar *scalars, int max, int *n);
/* Names of all that this process knows, one call each; a non-zero return stops
 * the walk (DREP_ERR_STOPPED). */
typedef int drep_datarep_walk_fn(const char *name, const char *form, void *ctx);
DREP_API int drep_datarep_walk(drep_datarep_walk_fn *fn, void *ctx);

/* What stands behind a name.  Every representation has an extent function; read or write
 * may be NULL as registered.  They may be called as the library does, also to build one
 * representation upon another; under DREP_REP_SERIAL by one thread at a time.
 * DREP_ERR_UNSUPPORTED_DATAREP. */
typedef struct drep_datarep {
    drep_conversion_fn *read, *write;
    drep_extent_fn *extent;
    void *extra_state;
    unsigned flags; /* DREP_REP_... */
} drep_datarep;
DREP_API int drep_datarep_get(const char *name, drep_datarep *out);

/* Plugins.  The name of a data representation or of a filter (drep_register_filter) that is
 * not registered may lead to a shared object, NAME.so, in one of
 * the directories that the user enabled: by the hint drep_plugin_path, by this call, or by
 * the environment variable DREP_PLUGIN_PATH, searched in this order.  Without any of them
 * nothing is ever loaded.  `dirs` is a list of absolute paths between colons and replaces
 * the one before; NULL or "" ends it.  Names with other characters than letters, digits,
 * ".", "_" and "-" lead to no file.  A plugin is loaded once and stays for the life of the
 * process.  It is refused (DREP_ERR_UNSUPPORTED_DATAREP with the reason) if it is not a
 * regular file, if it or its directory belongs to somebody else than root or the effective
 * user or may be written by anybody, or if it does not register the name.
 * DREP_ERR_ARG (a relative path), DREP_ERR_NOMEM.  Thread safe. */
DREP_API int drep_plugin_path(const char *dirs);
/* Loads this one, whatever names it registers.  DREP_ERR_NO_SUCH_FILE, DREP_ERR_ACCESS
 * (refused as above), DREP_ERR_UNSUPPORTED (no plugin, or it failed). */
DREP_API int drep_plugin_load(const char *file);
/* What a plugin defines: calls drep_register_datarep() or drep_register_filter() and gives
 * back 0, or their error. */
DREP_API int drep_plugin_init(void);

/* Bytes from one element to the next when stored under `datarep` (MPI 5.0,
 * 14.5.1, MPI_File_get_type_extent). */
DREP_API int drep_type_file_extent(const drep_type *type, const char *datarep, int64_t *extent);

/* What a value that its target cannot hold becomes.  WRAP: integers lose their
 * upper bits (MPI's rule for external32), reals saturate; CLAMP: the nearest
 * representable value; STRICT: DREP_ERR_CONVERSION naming the item. */
enum { DREP_RANGE_DEFAULT = 0, DREP_RANGE_WRAP = 1, DREP_RANGE_CLAMP = 2, DREP_RANGE_STRICT = 3 };

/* What a transfer lost, in numbers: a complex item is two of them.  Indices count data items
 * of the transfer, -1: none. */
typedef struct drep_report {
    int64_t items;    /* converted */
    int64_t overflow; /* out of the target's range */
    int64_t inexact;  /* rounded */
    int64_t nan_lost; /* NaNs that lost payload or sign, or became a number */
    int64_t first_overflow;
    int64_t first_inexact;
    int64_t first_nan_lost;
} drep_report;

/* How a transfer is done.  Zero-initialised means the defaults; a NULL pointer
 * does too. */
typedef struct drep_xfer {
    int range;           /* DREP_RANGE_... */
    int threads;         /* 0: the file's; 1: none but the caller's */
    drep_report *report; /* filled when not NULL */
} drep_xfer;

/* Converts in memory: `count` elements of `from` at src into as many data items of
 * `to` at dst, both as this machine holds them.  Variable-length parts are copied,
 * malloc'ed, for drep_vlen_free().  DREP_ERR_TYPE, DREP_ERR_CONVERSION,
 * DREP_ERR_COUNT (a negative count, or the items do not fill whole elements of `to`),
 * DREP_ERR_VALUE_TOO_LARGE (more elements than any memory holds: nothing was looked at). */
DREP_API int drep_convert(const drep_type *to, void *dst, const drep_type *from, const void *src,
                          int64_t count, const drep_xfer *xfer);

/* Pack (MPI 5.0, 5.3): data items of `count` elements at `inbuf` to `outbuf` at
 * *position (bytes, advanced), as `datarep` stores them, without padding or
 * header.  drep_pack_size: the bytes that takes, exactly.  DREP_ERR_BUFFER if
 * outbuf is too small (nothing written), DREP_ERR_TRUNCATE if inbuf ends before, DREP_ERR_TYPE for
 * variable-length types, DREP_ERR_COUNT (negative), DREP_ERR_VALUE_TOO_LARGE (more than 2^62
 * bytes packed, or more elements than any memory holds).  The packed bytes may be those of `inbuf`,
 * or of the unpacked elements, where every item stays at its place: `type` has no gaps, its items
 * are as long under `datarep`, and that is a table.  Otherwise the two must not overlap. */
DREP_API int drep_pack(const char *datarep, const void *inbuf, int64_t count, const drep_type *type,
                       void *outbuf, int64_t outsize, int64_t *position);
DREP_API int drep_unpack(const char *datarep, const void *inbuf, int64_t insize, int64_t *position,
                         void *outbuf, int64_t count, const drep_type *type);
DREP_API int drep_pack_size(const char *datarep, int64_t count, const drep_type *type,
                            int64_t *size);

/* Pack units that say what they are (SPEC.md, 12): a header with the representation, its
 * encodings if it is a table, the machine, the number of items, and sums; then what
 * drep_pack() gives.  They can be unpacked on any machine, in any process; under functions,
 * in one that has registered them.  A unit is atomic: all of it is unpacked at once, as
 * `count` elements with exactly its items.  *position is advanced by the whole unit.
 * drep_pack_unit_size: exactly its bytes.  Errors of unpacking besides those of drep_unpack:
 * DREP_ERR_NOT_DREP (no such unit), DREP_ERR_VERSION, DREP_ERR_TRUNCATE, DREP_ERR_CHECKSUM,
 * DREP_ERR_FORMAT, DREP_ERR_COUNT (other items, or negative), DREP_ERR_UNSUPPORTED_DATAREP
 * (unknown, or it takes other extents here). */
DREP_API int drep_pack_unit(const char *datarep, const void *inbuf, int64_t count,
                            const drep_type *type, void *outbuf, int64_t outsize,
                            int64_t *position);
DREP_API int drep_unpack_unit(const void *inbuf, int64_t insize, int64_t *position, void *outbuf,
                              int64_t count, const drep_type *type);
DREP_API int drep_pack_unit_size(const char *datarep, int64_t count, const drep_type *type,
                                 int64_t *size);
/* What the unit at `position` says of itself; its data need not be there yet. */
typedef struct drep_unitinfo {
    char datarep[DREP_MAX_DATAREP_STRING];
    char machine[64];        /* that packed it ("amd64"), "" if that is none of those known */
    int64_t items;           /* data items */
    int64_t data_size, size; /* bytes of the data; of the whole unit */
} drep_unitinfo;
DREP_API int drep_pack_unit_info(const void *inbuf, int64_t insize, int64_t position,
                                 drep_unitinfo *out);

/* -------------------------------------------------------------------- hints */

/* Key and value strings that advise the library (MPI 5.0, chapter 10 and
 * 14.2.8).  Unknown keys are ignored.
 *
 * Our own, with their defaults:
 *   drep_sync=commit     A commit is durable when drep_commit() returns: data and nodes are
 *                        synced before the header slot that names them is written, and that
 *                        slot is synced.  "none": nothing is synced.  The order of the writes is
 *                        the same, so a process that is killed leaves the last commit or the
 *                        one it was making; but a machine that loses its power may have written
 *                        the slot and not what it names: then commits, or the file, are lost.
 *   drep_pack=true       At creation: the first commit writes everything but data into one
 *                        extent, which its header slot names.  What does not fit into memory
 *                        before waits in a nameless file beside (default: false).
 *   drep_keep=2          Commits that stay whole, the newest included (drep_log).
 *   drep_lock=true       Whether readers and writers tell each other by locks (drep_refresh).
 *   drep_checksum=on     "deferred": unfiltered payload is written without checksums, as fast as
 *                        the disk is.  Until drep_seal() nothing tells whether it is what was
 *                        written.
 *   drep_external=false  Whether calls that read follow external links (drep_link_external).
 *   drep_verify=on       "off": checksums of payload are not verified.
 *   drep_cache_size=67108864  Bytes of the cache of chunks, for each file; of which changes of
 *                        filtered chunks, which are encoded together later, take 7/8 at most.
 *   drep_chunk_max=16777216   The largest unfiltered payload of a filtered chunk that this handle
 *                        creates.
 *   drep_limit_chunk=16777216  The most bytes that a filtered chunk may decode to, its contents of
 *                        variable length included.  Reading a larger one is DREP_ERR_LIMIT; the
 *                        message names the dataset, the size and this hint.
 *   drep_threads=0       Threads that big transfers are spread over; 0: one a processor.
 *   drep_plugin_path=    Directories of plugins (drep_plugin_path).
 *   drep_uuid=, drep_time=-1, drep_machine=  Fixed values instead of random ones, the clock's and
 *                        this machine's name, for files that are to be equal byte by byte.
 *
 * What the file may ask for.  The hints of MPI, drep_keep and drep_chunk_max are kept in the
 * header of a file that is created with them, and whoever opens it later follows them, except
 * where that would cost more than the opener allows: a stored drep_chunk_max beyond
 * drep_limit_chunk and a stored striping_unit beyond 16 MiB count as not set.  No other drep_ hint
 * is ever taken from a file: drep_limit_chunk, drep_cache_size and drep_threads bound what a
 * handle costs, and they are the opener's alone.  An opener's own drep_chunk_max that is larger
 * raises drep_limit_chunk to the same value.
 *
 * What a handle costs.  Reading and writing take the caller's buffer, the cache, 16 MiB, and two
 * chunks (drep_limit_chunk) for each thread, whatever stands in the file; metadata (names,
 * attributes, types, compact datasets) takes memory in proportion to the bytes of the file that
 * hold it.  Sizes are held against the file's end before memory is taken.  A call takes time in
 * proportion to the elements that the caller asks for and the bytes of the file, with one
 * exception: drep_check(), drep_copy(), drep_repair() and filters decode stored bytes, which
 * compression makes up to 1,032 times fewer than they were (zstd: without a bound).  SECURITY.md
 * has more. */
typedef struct drep_info drep_info;
#define DREP_MAX_INFO_KEY 255
#define DREP_MAX_INFO_VAL 4096
DREP_API int drep_info_new(drep_info **out);
DREP_API void drep_info_free(drep_info *info);
/* DREP_ERR_INFO_KEY, DREP_ERR_INFO_VALUE: empty or too long. */
DREP_API int drep_info_set(drep_info *info, const char *key, const char *value);
/* NULL if the key is not set; valid until the next change of `info`. */
DREP_API const char *drep_info_get(const drep_info *info, const char *key);
DREP_API int drep_info_delete(drep_info *info, const char *key);
DREP_API int drep_info_count(const drep_info *info);
DREP_API const char *drep_info_key(const drep_info *info, int i);

/* -------------------------------------------------------------------- files */

/* What a handle may do across threads, forks and replaced files
 *
 * Threads.  All threads of a process may share a drep_file, its drep_datasets, datatypes,
 * selections, and hints that nobody changes.  A view, and hints that are being changed, belong to
 * one thread at a time.  Calls that read one file run at the same time; calls that write to it,
 * drep_commit() and drep_refresh() run alone, in the order in which they came.  Neither keeps the
 * other waiting for ever: a writing call goes before the reading calls that come after it, and
 * when it is done, all those go that waited.  While a commit waits for the disk, calls that read
 * go on.  What closes a handle needs it for itself: no other call may use it any more.
 *
 * Closing.  A drep_file, drep_dataset or drep_view lives from the call that gave it to the call
 * that closes it, and handles may be closed in any order.  When a file is closed, its datasets
 * and views stay valid handles: every call with them fails with DREP_ERR_ARG ("... its file is
 * closed"), except those that close, unmap and free.  What drep_dataset_info() lent and what
 * drep_dataset_map() mapped stays until the dataset is closed.  A view keeps its dataset.
 * A call with a closed handle fails with DREP_ERR_ARG too, and closing it again does nothing; but
 * once a new handle of the same kind has taken over its address, the call goes to that one.
 * Closing a handle while another thread is in a call with it is an error of the caller that
 * nothing detects.
 *
 * Callbacks.  A function that the library calls may use the same file again, unless its call says
 * otherwise: from drep_list(), drep_attr_list(), drep_log() and drep_dataset_chunks() in any way
 * but closing it; from inside another call that reads, such as a conversion function, with calls
 * that read; from a filter not at all.  Every other call with the file is refused with
 * DREP_ERR_ARG ("... inside a call ..."), whichever thread makes it for the call: every one from
 * inside a call that writes, and one that writes or needs the file alone (drep_log() and
 * drep_refresh() too) from inside one that reads.  A refused call changes nothing and does not
 * count as a failed write; drep_close() leaves the handle open, and so does drep_abandon(), which
 * has no result.  drep_header_...(), drep_get_info() and drep_dataset_close() always work.  A view
 * is refused to the functions that a call with it calls back.
 *
 * Forks.  A handle that writes belongs to the process that opened it, ":memory:" included.  In a
 * child every call with it, or with its datasets and their views, fails with DREP_ERR_FILE_IN_USE,
 * also those that read; the child may open the file for reading by itself.  A handle that reads
 * may be used on both sides: at its first use the child opens the file for itself, takes a lock of
 * its own, and goes on at the same commit with the same datasets.  DREP_ERR_STALE: that commit is
 * not kept any more (nobody kept it open until then, and the writer made others), the file cannot
 * be opened again, or another thread was moving the handle (drep_refresh, drep_set_info, opening
 * or closing a dataset) at the moment of the fork; open the file again.  Images in memory are the
 * child's own copy, and raw views go on.  In a child drep_close() and drep_abandon() give memory
 * and descriptors back and touch neither the file nor the parent's locks: nothing is committed
 * (drep_close() of a handle that writes says so with DREP_ERR_FILE_IN_USE) and no file is removed;
 * where other threads were using the handle at the moment of the fork, its memory stays in use.
 * When the parent closes a handle its locks are free, whatever its children still have open.  The
 * child may fork again.  A child that was forked by a function which the library called must not
 * return from that function, except from those that may use the file in any way (above).  All
 * descriptors are closed by exec.  Processes made by vfork() or clone() may only call exec.
 *
 * Replaced, moved and removed files.  A handle keeps the file that it opened.  Readers go on
 * reading that file whatever becomes of its name.  A commit fails with DREP_ERR_STALE, and writes
 * nothing, when the file was removed or when another file stands at the path (behind symbolic
 * links) that it was opened by: nobody would find what it wrote.  It may be tried again when the
 * file was moved back.  A file that was only moved, or whose directory was, is committed to where
 * it is.  drep_create(), drep_create_like() and drep_repair() replace a file only if no handle
 * writes to it: DREP_ERR_FILE_IN_USE, at once or at the first commit; between these two nobody can
 * open the old file for writing.  Other programs that rename files over an open one are
 * not held back, and neither is anybody where the hint drep_lock is "false" or the file system has
 * no locks.
 *
 * A replaced file leaves to the new one its permissions (the bits 0777, without the umask) and, as
 * far as this process may set them, its owner and group; where the group cannot be kept, the group
 * gets no more permissions than others have.  Access control lists and other attributes of the
 * file are not kept.  Symbolic links are followed: the file behind them is replaced.  Other hard
 * links to the old file stay with the old file.
 *
 * Nothing but this library may write to a container or truncate it.  Readers and writers then
 * fail with DREP_ERR_TRUNCATE, DREP_ERR_CHECKSUM or DREP_ERR_FORMAT, as far as what they read has
 * changed; what drep_dataset_map() gave becomes a signal (SIGBUS). */
typedef struct drep_file drep_file;

/* Access modes. */
enum {
    DREP_RDONLY = 1,
    DREP_RDWR = 2,
    DREP_EXCL = 4,       /* create: fail if the file exists */
    DREP_HEADER_ONLY = 8 /* open: resolve no conversion functions; no data is read */
};

/* Creates a container under `datarep` ("native", "external32", "internal",
 * "native:ABI", a declared or registered one).  It is built under a temporary
 * name and appears at its place with the first commit; an existing file is
 * replaced then, not before, and cannot be opened for writing until then.  info
 * may be NULL; the hint file_perm counts where nothing is replaced.  Path ":memory:"
 * makes one in memory.  Errors: DREP_ERR_UNSUPPORTED_DATAREP, DREP_ERR_FILE_EXISTS,
 * DREP_ERR_FILE_IN_USE (a handle writes to the file that would be replaced, or is to
 * replace it), DREP_ERR_ACCESS, DREP_ERR_NO_SUCH_FILE (the directory), DREP_ERR_IO. */
DREP_API int drep_create(const char *path, int amode, const char *datarep, const drep_info *info,
                         drep_file **out);
/* Creates one in the representation that `like` has, which need not be known by name in this
 * process, with the hints that stand in its header; those of info win.  Errors besides:
 * DREP_ERR_UNSUPPORTED_DATAREP (`like` was opened for its header only). */
DREP_API int drep_create_like(const char *path, int amode, drep_file *like, const drep_info *info,
                              drep_file **out);
/* Opens the last commit.  DREP_RDONLY: a snapshot.  DREP_RDWR: the one writer
 * (DREP_ERR_FILE_IN_USE).  Errors besides: DREP_ERR_NOT_DREP, DREP_ERR_VERSION,
 * DREP_ERR_CHECKSUM, DREP_ERR_FORMAT, DREP_ERR_TRUNCATE,
 * DREP_ERR_UNSUPPORTED_DATAREP. */
DREP_API int drep_open(const char *path, int amode, const drep_info *info, drep_file **out);
/* Opens a container that lies in memory, read-only; `image` must outlive it. */
DREP_API int drep_open_image(const void *image, size_t size, const drep_info *info,
                             drep_file **out);
/* Makes all changes since the last commit durable, at once or not at all; where there are none,
 * no commit is made.  A call that fails leaves nothing of itself, so this commits what succeeded,
 * whatever failed before.  If the commit fails, the transaction stays open and may be committed
 * again (DREP_ERR_NO_SPACE: after something was removed; DREP_ERR_FILE_IN_USE: a new file would
 * replace one that a handle writes to; DREP_ERR_FILE_EXISTS, DREP_ERR_ACCESS,
 * DREP_ERR_NO_SUCH_FILE: a new file did not get its name; DREP_ERR_STALE: the file was removed or
 * replaced).  Only where a sync or the write of a
 * header slot failed, so that nobody knows what reached the disk, or where a failed call could not
 * be taken back, does the handle refuse: from then on every call that writes, and this one, gives
 * DREP_ERR_FAILED with the reason; the file is the last commit or, after a failed sync, this one.
 *
 * What a commit refers to is not overwritten.  A chunk of which anything changes moves as a whole
 * to free space, once in a transaction (contiguous: a slab, about 1 MiB); the space that it leaves
 * is used again by the next transaction but one, or as soon as no reader and no commit that
 * drep_keep keeps needs it.  So however many commits are made, unfiltered data takes, besides its
 * own size, the chunks that two transactions changed, a few chunks where gaps do not fit, and
 * where one call changes again more than 4 MiB of what the transaction has changed already, the
 * chunks of that call.  Data that changes all over in each transaction thus takes three times its
 * size, four times with such calls. */
DREP_API int drep_commit(drep_file *file);
/* Commits and closes.  If a call that writes has failed since the last commit (or the opening),
 * a commit included, it abandons instead: nothing since then is kept, a new file does not appear,
 * and the result and drep_error() are those of the first such failure.  To keep what succeeded,
 * call drep_commit() before.  Calls that were refused do not count: those inside callbacks
 * (above) and those with an error about arguments, DREP_ERR_ARG, _AMODE, _READ_ONLY,
 * _UNSUPPORTED..., _VALUE_TOO_LARGE, _TYPE, _COUNT, _DIMS, _RANGE, _NOT_FOUND, _EXISTS, _KIND,
 * _NAME, _LIMIT, _BUFFER; DREP_ERR_CONVERSION does count.  The handle is gone, whatever the result,
 * except inside a callback.  NULL: 0. */
DREP_API int drep_close(drep_file *file);
/* Closes without committing: nothing since the last commit is kept. */
DREP_API void drep_abandon(drep_file *file);

/* Readers and earlier commits.  One handle writes, any number read, in this process and in
 * others; nobody waits.  A reader sees the commit it opened, whatever is written meanwhile:
 * a lock on the number of that commit tells writers, who do not use its space again while the
 * handle is open.  The system drops the lock with its process, however that ends.  Where the
 * file system has no such locks (drep_get_info() then gives drep_lock as "false") or the hint
 * drep_lock is "false", nothing holds a writer back: a reader that falls two commits behind
 * may find its snapshot overwritten.  It notices by the checksums and fails with
 * DREP_ERR_STALE (so leave drep_verify on); then drep_refresh().  And nothing keeps two writers
 * apart: that is the caller's business then. */

/* Moves a handle opened for reading to the newest commit, with its open datasets: their shapes
 * and values are those of that commit from then on; calls on one that is gone there fail with
 * DREP_ERR_NOT_FOUND.  Views of datasets follow them.  On failure the handle stays where it
 * was.  A handle that writes is at the newest commit already.  Waits for calls of other threads
 * on this handle.  A file that was replaced (drep_create() on its path) is another file: open
 * it.  Errors: those of drep_open(). */
DREP_API int drep_refresh(drep_file *file);

/* A commit that can be opened. */
typedef struct drep_commitinfo {
    uint64_t sequence;
    int64_t time; /* nanoseconds since 1970 */
    uint64_t end; /* end of its allocated space, bytes */
} drep_commitinfo;
typedef int drep_log_fn(const drep_commitinfo *commit, void *ctx);
/* Calls fn for each commit that drep_open_commit() can open, the oldest first, the newest (which
 * the handle may not look at yet) last.  A writer keeps the last N commits whole where the hint
 * drep_keep is N (default 2: the newest and the one before).  Non-zero stops the walk and
 * becomes its result; fn may use the file.  DREP_ERR_NOMEM, DREP_ERR_IO, DREP_ERR_STALE. */
DREP_API int drep_log(drep_file *file, drep_log_fn *fn, void *ctx);
/* Opens an earlier commit; its space is kept while the handle is open.  amode: DREP_RDONLY, also
 * with DREP_HEADER_ONLY.  sequence 0: the newest.  DREP_ERR_NOT_FOUND if it is not kept any more;
 * besides, the errors of drep_open(). */
DREP_API int drep_open_commit(const char *path, int amode, uint64_t sequence, const drep_info *info,
                              drep_file **out);

/* What the header says.  Strings are borrowed: they live as long as the handle. */
typedef struct drep_header {
    const char *datarep;
    const char *form;    /* "table" (built in or stored in the header) or "code" */
    const char *writer;  /* library and version */
    const char *machine; /* that created the file */
    int version_major, version_minor;
    uint64_t sequence; /* of the commit that is open */
    int64_t time;      /* of that commit, nanoseconds since 1970 */
    uint8_t uuid[16];
    uint64_t end;     /* end of allocated space, bytes */
    int damaged_slot; /* 0: none; 1 or 2: that header slot is damaged */
} drep_header;
DREP_API int drep_header_get(const drep_file *file, drep_header *out);
/* The table of file extents: the predefined types in use, and their encodings
 * where the form is "table".  *rows is borrowed. */
DREP_API int drep_header_types(const drep_file *file, const drep_encoding **rows, int *n);
/* The hints that stand in the header, in a new object for the caller to free. */
DREP_API int drep_header_hints(const drep_file *file, drep_info **out);
/* The custom scalars that rows of the table refer to; *scalars is borrowed. */
DREP_API int drep_header_scalars(const drep_file *file, const drep_scalar **scalars, int *n);
/* All supported hints with the values in force, in a new object for the caller
 * to free; and a change of some. */
DREP_API int drep_get_info(const drep_file *file, drep_info **out);
DREP_API int drep_set_info(drep_file *file, const drep_info *info);

/* ------------------------------------------------------- groups and objects */

/* Objects are named by paths: "/a/b"; a leading slash may be left out.  A name
 * is 1..1,023 bytes of UTF-8 without "/" and NUL, not "." or "..". */
enum drep_objkind {
    DREP_OBJ_GROUP = 1,
    DREP_OBJ_DATASET = 2,
    DREP_OBJ_TYPE = 3,
    DREP_OBJ_DIMENSION = 4
};
enum drep_linkkind { DREP_LINK_HARD = 1, DREP_LINK_SOFT = 2, DREP_LINK_EXTERNAL = 3 };

typedef struct drep_objinfo {
    int kind; /* enum drep_objkind */
    uint64_t id;
    uint32_t links; /* hard links to it */
    int64_t attrs;
    int64_t members; /* of a group */
    int64_t len;     /* of a dimension */
    int unlimited;   /* of a dimension */
} drep_objinfo;

/* Follows links.  DREP_ERR_NOT_FOUND names the missing part. */
DREP_API int drep_stat(drep_file *file, const char *path, drep_objinfo *out);
/* One path of the object with this id, malloc'ed. */
DREP_API int drep_object_path(drep_file *file, uint64_t id, char **path);

/* parents: make missing groups on the way. */
DREP_API int drep_group_create(drep_file *file, const char *path, int parents);
/* A dimension shared by datasets; len < 0 is not allowed. */
DREP_API int drep_dimension_create(drep_file *file, const char *path, int64_t len, int unlimited);
/* A named datatype; and the datatype of one (new reference). */
DREP_API int drep_type_commit(drep_file *file, const char *path, const drep_type *type);
DREP_API int drep_type_open(drep_file *file, const char *path, drep_type **out);

DREP_API int drep_link_hard(drep_file *file, const char *target, const char *path);
DREP_API int drep_link_soft(drep_file *file, const char *target, const char *path);
/* Leads to an object of another file: a regular file in or below the directory of this one,
 * named by a relative path without ".." and reached through no symbolic link.  Nobody has to
 * be there.  Where the opener allows it (hint drep_external), calls that read go on in that
 * file, at most 8 links deep: drep_stat, drep_list, drep_type_open, drep_dataset_open and those
 * of attributes.  It is opened for reading once and belongs to this handle; drep_refresh() moves
 * it too, but to a commit of its own.  Errors of following: DREP_ERR_UNSUPPORTED_OPERATION (not
 * allowed; or a call that writes), DREP_ERR_ACCESS (it leads elsewhere), DREP_ERR_LIMIT, those of
 * drep_open(). */
DREP_API int drep_link_external(drep_file *file, const char *other_file, const char *target,
                                const char *path);
/* Removes a link; the object goes with its last hard link, a group with all that
 * only it holds. */
DREP_API int drep_link_remove(drep_file *file, const char *path);
DREP_API int drep_link_move(drep_file *file, const char *from, const char *to);

typedef struct drep_linkinfo {
    const char *name;        /* valid during the call */
    int link;                /* enum drep_linkkind */
    int kind;                /* enum drep_objkind of a hard link's object, else 0 */
    uint64_t id;             /* of it, else 0 */
    uint32_t links;          /* hard links to it, else 0 */
    int attrs;               /* 0: it has no attributes; 1: it may have some */
    const char *target;      /* soft, external: the path; else NULL */
    const char *target_file; /* external; else NULL */
} drep_linkinfo;
/* Non-zero stops the walk and becomes its result. */
typedef int drep_list_fn(const drep_linkinfo *link, void *ctx);
enum { DREP_BY_NAME = 0, DREP_BY_CREATION = 1 };
DREP_API int drep_list(drep_file *file, const char *group, int order, drep_list_fn *fn, void *ctx);

/* --------------------------------------------------------------- attributes */

#define DREP_MAX_RANK 32
#define DREP_NULL_SPACE (-1) /* as a rank: no elements at all */

/* Writes (creates or replaces) an attribute of the object at `path`: rank
 * dimensions (rank 0: one element; dims may then be NULL) of `type` at buf.
 * An attribute is at most 256 MiB. */
DREP_API int drep_attr_write(drep_file *file, const char *path, const char *name,
                             const drep_type *type, int rank, const int64_t *dims, const void *buf);
typedef struct drep_attrinfo {
    char name[1024];
    drep_type *type; /* new reference: as this machine holds it in memory */
    int rank;        /* or DREP_NULL_SPACE */
    int64_t dims[DREP_MAX_RANK];
    int64_t count; /* elements */
} drep_attrinfo;
/* DREP_ERR_NOT_FOUND.  drep_attrinfo_release() frees the type. */
DREP_API int drep_attr_info(drep_file *file, const char *path, const char *name,
                            drep_attrinfo *out);
DREP_API void drep_attrinfo_release(drep_attrinfo *info);
/* Reads all elements as `type` (same number of items) into buf.  DREP_ERR_NOT_FOUND,
 * DREP_ERR_COUNT (the items do not fill whole elements of `type`), DREP_ERR_VALUE_TOO_LARGE (these
 * would lie farther apart than memory reaches). */
DREP_API int drep_attr_read(drep_file *file, const char *path, const char *name,
                            const drep_type *type, void *buf);
DREP_API int drep_attr_remove(drep_file *file, const char *path, const char *name);
typedef int drep_attr_fn(const char *name, void *ctx);
DREP_API int drep_attr_list(drep_file *file, const char *path, int order, drep_attr_fn *fn,
                            void *ctx);
/* Conveniences: one UTF-8 string (stored as a vstring), one number. */
DREP_API int drep_attr_write_string(drep_file *file, const char *path, const char *name,
                                    const char *value);
DREP_API int drep_attr_write_int(drep_file *file, const char *path, const char *name,
                                 int64_t value);
DREP_API int drep_attr_write_double(drep_file *file, const char *path, const char *name,
                                    double value);

/* ----------------------------------------------------------------- datasets */

typedef struct drep_dataset drep_dataset;
#define DREP_UNLIMITED ((int64_t)-1)

enum drep_layout { DREP_LAYOUT_AUTO = 0, DREP_COMPACT = 1, DREP_CONTIGUOUS = 2, DREP_CHUNKED = 3 };

enum {
    DREP_FILTER_SHUFFLE = 1,
    DREP_FILTER_BITSHUFFLE = 2,
    DREP_FILTER_DELTA = 3,
    DREP_FILTER_DEFLATE = 16,
    DREP_FILTER_ZSTD = 17,
    DREP_FILTER_LZ4 = 18
};
/* Filters that users registered have this id and are told apart by name. */
#define DREP_FILTER_USER 32768
typedef struct drep_filter {
    int id;            /* DREP_FILTER_... */
    int level;         /* deflate 1..12, zstd 1..22, lz4 1..12; -1 or 0: 6, 3, 1; others none */
    int nparams;       /* DREP_FILTER_USER: at most 8, given to its functions; else as stored: */
    uint32_t param[8]; /* given back by drep_dataset_info(), ignored at creation
                          (shuffle: element size; delta: width, order; compressors: level) */
    const char *name;  /* DREP_FILTER_USER; else NULL */
} drep_filter;
#define DREP_MAX_FILTERS 16
DREP_API const char *drep_filter_name(int id);    /* NULL if unknown */
DREP_API int drep_filter_from_name(const char *); /* 0 if unknown */
DREP_API int drep_filter_available(int id);       /* 1 if built in */

/* A filter of one's own.  Turns in_size bytes at `in`, which are a chunk's payload or what
 * the filter before made of it, into bytes at `out`, which has room for *out_size, and sets
 * *out_size to how many they are; params as the dataset was created with.  Encoding: what
 * does not fit is not written, and *out_size set to the bytes needed (0: not known).
 * Decoding: *out_size is the number of bytes that went into encoding; giving any other is
 * damage.  What it leaves of `out` is zeros.  Must be reentrant; calls with the file that it works
 * for are refused (Callbacks, above).  Non-zero: DREP_ERR_CONVERSION. */
typedef int drep_filter_fn(const uint32_t *params, int nparams, const void *in, size_t in_size,
                           void *out, size_t *out_size, void *extra_state);
/* Registers it in this process, for its life.  As compressors are, it is left out for a
 * chunk that it does not make smaller, unless DREP_FILTER_KEEP says that it is to be always
 * applied; then it may make at most 2 * in_size + 65,536 bytes.  encode NULL: chunks can
 * only be read.  A file carries the filter's name and parameters: whoever has not registered
 * it can do everything but read or write those chunks (DREP_ERR_UNSUPPORTED naming it).
 * Plugins may bring filters as they do data representations: NAME.so (drep_plugin_path).
 * DREP_ERR_EXISTS, DREP_ERR_NAME (empty or too long), DREP_ERR_ARG (no decode), DREP_ERR_NOMEM.
 * Thread safe. */
#define DREP_MAX_FILTER_NAME 128 /* with the NUL */
enum { DREP_FILTER_KEEP = 1 };
DREP_API int drep_register_filter(const char *name, drep_filter_fn *encode, drep_filter_fn *decode,
                                  void *extra_state, unsigned flags);

enum drep_fill { DREP_FILL_DEFAULT = 0, DREP_FILL_VALUE = 1, DREP_FILL_NONE = 2 };

/* What to create; zero-initialise, then set.  Pointers are only read during the
 * call. */
typedef struct drep_spec {
    const drep_type *type; /* of one element, as it lies in memory; required */
    int rank;              /* 0..32, or DREP_NULL_SPACE */
    const int64_t *dims;
    const int64_t *maxdims;       /* NULL: dims; DREP_UNLIMITED allowed */
    const char *const *dim_names; /* NULL, or a dimension's path for each (NULL: none):
                                     looked up from the dataset's group upwards, made there
                                     with this length if nowhere found */
    int layout;                   /* enum drep_layout; AUTO chooses */
    const int64_t *chunk;         /* chunked: elements per dimension; NULL chooses */
    const drep_filter *filters;
    int nfilters;
    int fill;               /* enum drep_fill */
    const void *fill_value; /* one element of type, DREP_FILL_VALUE: kept as storing it in the
                               file rounds it */
} drep_spec;

/* Errors: DREP_ERR_EXISTS, DREP_ERR_TYPE, DREP_ERR_DIMS, DREP_ERR_ARG, DREP_ERR_LIMIT,
 * DREP_ERR_CONVERSION (the file's representation does not hold the fill value). */
DREP_API int drep_dataset_create(drep_file *file, const char *path, const drep_spec *spec,
                                 drep_dataset **out); /* out may be NULL */
DREP_API int drep_dataset_open(drep_file *file, const char *path, drep_dataset **out);
/* Before or after its file is closed. */
DREP_API void drep_dataset_close(drep_dataset *dataset);

typedef struct drep_dsinfo {
    uint64_t id;
    const drep_type *type; /* borrowed: as this machine holds it in memory */
    int rank;              /* or DREP_NULL_SPACE */
    int64_t dims[DREP_MAX_RANK];
    int64_t maxdims[DREP_MAX_RANK];
    uint64_t dim_ids[DREP_MAX_RANK]; /* dimension objects, 0: none */
    int64_t count;                   /* elements */
    int layout;                      /* enum drep_layout */
    int64_t chunk[DREP_MAX_RANK];    /* chunked; contiguous: chunk[0] is elements per slab */
    drep_filter filters[DREP_MAX_FILTERS];
    int nfilters;
    int fill;             /* enum drep_fill */
    int64_t element_size; /* bytes in the file */
    int64_t stored;       /* payload bytes in the file, sums apart */
    int64_t chunks;       /* stored chunks */
} drep_dsinfo;
DREP_API int drep_dataset_info(drep_dataset *dataset, drep_dsinfo *out);
/* The fill value as one element of `type` (same number of items; NULL: the info's type),
 * variable-length parts malloc'ed. */
DREP_API int drep_dataset_fill(drep_dataset *dataset, const drep_type *type, void *value);
DREP_API int drep_dataset_resize(drep_dataset *dataset, const int64_t *dims);
/* Grows the dataset by n along dimension `dim` and writes what is new: a block of the
 * dataset's shape with length n in that dimension, in row-major order, as drep_write() takes
 * it.  Both happen or nothing.  Many small appends cost little: what they change waits in
 * memory for the commit.  Errors of drep_dataset_resize() and drep_write(). */
DREP_API int drep_append(drep_dataset *dataset, int dim, int64_t n, const drep_type *type,
                         const void *buf, const drep_xfer *xfer);
/* Calls fn for each stored chunk of the present shape, in grid order, with the coordinates of
 * its first element (contiguous: one number, its place in row-major order); what no chunk
 * covers reads as fill.  fn may read the dataset; a non-zero return stops the walk and
 * becomes its result.  DREP_ERR_KIND: compact, or no elements. */
typedef int drep_chunk_fn(const int64_t *start, void *ctx);
DREP_API int drep_dataset_chunks(drep_dataset *dataset, drep_chunk_fn *fn, void *ctx);

/* The elements of a contiguous dataset where they lie in the file, without a copy: *data has
 * *size bytes, in row-major order, to be read until drep_dataset_unmap() or until the dataset
 * is closed.  It outlives drep_close() and drep_abandon() of the file, but not what they give up:
 * from then on nothing keeps a writer from using the space of that commit again, so the bytes may
 * change; and an image (drep_open_image()) must live on.  The first time all of them are held
 * against their sums; flags: DREP_MAP_UNVERIFIED leaves that out.  On a handle that writes, a later
 * write to the dataset may show, or leave the bytes as they were. A mapping is only as good as the
 * medium: what becomes unreadable later is a signal (SIGBUS), not an error.
 * DREP_ERR_UNSUPPORTED_OPERATION names the reason where the stored form is not that of memory
 * (another byte order or size, another layout of members, references, variable length), where
 * elements are not in one run (chunked, compact, not all written, or cut by a later overwrite:
 * `datarep convert` mends that), or where the driver cannot; DREP_ERR_CHECKSUM. */
enum { DREP_MAP_UNVERIFIED = 1 };
DREP_API int drep_dataset_map(drep_dataset *dataset, unsigned flags, const void **data,
                              size_t *size);
/* DREP_ERR_ARG: nothing is mapped there. */
DREP_API int drep_dataset_unmap(drep_dataset *dataset, const void *data);

/* Which elements.  NULL everywhere means all.  A box takes count[d] blocks of
 * block[d] elements, stride[d] apart from start[d]; stride and block NULL: 1. */
typedef struct drep_selection drep_selection;
DREP_API int drep_select_box(int rank, const int64_t *start, const int64_t *count,
                             const int64_t *stride, const int64_t *block, drep_selection **out);
/* n points of rank coordinates each, in the order of transfer. */
DREP_API int drep_select_points(int rank, int64_t n, const int64_t *coords, drep_selection **out);
/* What is in one of two boxes or unions, or in both: each element once, in row-major order, as
 * HDF5 users expect.  At most 65,536 boxes in all.  DREP_ERR_DIMS (ranks that differ, rank 0),
 * DREP_ERR_UNSUPPORTED_OPERATION (points, which have an order), DREP_ERR_LIMIT. */
DREP_API int drep_select_union(const drep_selection *a, const drep_selection *b,
                               drep_selection **out);
DREP_API int64_t drep_selection_count(const drep_selection *sel);
DREP_API void drep_selection_free(drep_selection *sel);

/* Moves the selected elements, in row-major order of the selection (points: in
 * theirs), from or to consecutive elements of `type` at buf; type NULL: the
 * dataset's.  The data items of the selection must fill a whole number of
 * `type`s.  Equal signatures are converted by representation, others by value
 * (DREP_ERR_TYPE where no value conversion exists).  A write becomes visible to
 * others at the next commit; one that fails changes nothing, and drep_close() then abandons
 * the transaction unless drep_commit() is called before.
 * Errors: DREP_ERR_RANGE, DREP_ERR_CONVERSION, DREP_ERR_CHECKSUM (object and
 * byte), DREP_ERR_COUNT, DREP_ERR_VALUE_TOO_LARGE (memory's elements would lie farther apart than
 * memory reaches), DREP_ERR_READ_ONLY, DREP_ERR_FAILED. */
DREP_API int drep_read(drep_dataset *dataset, const drep_selection *sel, const drep_type *type,
                       void *buf, const drep_xfer *xfer);
DREP_API int drep_write(drep_dataset *dataset, const drep_selection *sel, const drep_type *type,
                        const void *buf, const drep_xfer *xfer);

/* ------------------------------------------------------------------- copies */

/* How drep_copy() copies.  Zero-initialise, then set.  The functions run while both files
 * are in use: calls with them are refused (Callbacks, above).  A non-zero return stops the copy and
 * becomes its result. */
typedef struct drep_copying {
    int range;   /* DREP_RANGE_...: values that the other representation cannot hold;
                    DREP_RANGE_DEFAULT: strict */
    int threads; /* 0: those of the file that is written; 1: none but the caller's */
    /* Asked about each dataset, by its id in `from`, before it is made: may change layout,
     * chunk, filters and nfilters of the spec, which say how it is kept now; what it puts
     * there must live until the next call.  NULL: nothing changes. */
    int (*plan)(uint64_t id, drep_spec *spec, void *ctx);
    /* Told which datasets lost something, and how much (without indices); may be NULL. */
    int (*lost)(uint64_t id, const drep_report *report, void *ctx);
    /* Told of bytes of payload as they are written; may be NULL. */
    int (*progress)(int64_t bytes, void *ctx);
    void *ctx;
    drep_report *report; /* of all datasets, without indices; may be NULL */
} drep_copying;
/* Copies the object at `path` of `from`, a group with all that hard links below it lead to,
 * to `new_path` of `to`, which may be the same file.  Attributes, creation order, hard links
 * among the copied objects, soft and external links are kept.  Elements that both files hold
 * alike go as the bytes they are, others are converted, without a way through this machine's
 * formats where tables of encodings describe both files.  References to objects outside the
 * copy stay within one file and become none in another.  Dimensions outside it stay within
 * one file; in another they are looked for by name from new_path upwards and made beside the
 * copy where none is found.  "/" to "/" copies a whole file into one that is empty (ids and
 * header records that we do not know stay too; representation and hints are those of `to`).
 * The filter delta is left out where numbers take other sizes than it acts on.
 * Memory: 12 bytes for each hard link below path, nothing for "/" to "/".
 * All or nothing.  Errors: DREP_ERR_EXISTS (new_path, or `to` is not empty),
 * DREP_ERR_NOT_FOUND, DREP_ERR_CONVERSION, DREP_ERR_DIMS (a dimension there is too short),
 * DREP_ERR_LIMIT (a chunk that filters take; see drep_chunk_max and drep_limit_chunk),
 * DREP_ERR_CHECKSUM. */
DREP_API int drep_copy(drep_file *from, const char *path, drep_file *to, const char *new_path,
                       const drep_copying *how);

/* -------------------------------------------------------------------- views */

/* MPI's view of a file (MPI 5.0, 14.3): what a headerless file, or the elements of a
 * dataset as one sequence, look like through a displacement, an etype, a filetype and a
 * data representation.  One view belongs to one thread at a time. */
typedef struct drep_view drep_view;

/* Opens a file without header; it begins with the view (0, BYTE, BYTE, "native").
 * amode: DREP_RDONLY, or DREP_RDWR, which makes the file if it is missing (with
 * DREP_EXCL it must be).  info: cb_buffer_size is the staging size, file_perm counts
 * when the file is made. */
DREP_API int drep_view_raw(const char *path, int amode, const drep_info *info, drep_view **out);
/* The row-major sequence of a dataset's elements, unfiltered and packed, in the file's
 * representation; it begins with the view (0, element type, element type).  It keeps the
 * dataset, which may be closed before it.  DREP_ERR_TYPE for variable-length types. */
DREP_API int drep_view_dataset(drep_dataset *dataset, drep_view **out);
/* Sets the view; the offsets of later calls count from it.  disp: bytes, never scaled.
 * filetype: etype, or built of whole etypes.  Displacements and extents of portable
 * types scale to their sizes in the file; byte displacements are taken as they are.
 * datarep NULL keeps the one in force; on a dataset any other name is refused; there
 * the displacement is a multiple of the packed element and the etype the element type
 * or its one repeated item.  info: as at opening, may be NULL.
 * DREP_ERR_UNSUPPORTED_DATAREP, DREP_ERR_TYPE (negative or decreasing displacements,
 * filetype not of etypes, overlap in a writable view), DREP_ERR_ARG.  On failure the old
 * view stays (MPI 5.0, 14.3.1). */
DREP_API int drep_view_set(drep_view *view, int64_t disp, const drep_type *etype,
                           const drep_type *filetype, const char *datarep, const drep_info *info);
/* The types are new references; datarep has DREP_MAX_DATAREP_STRING bytes.  Each may be
 * NULL. */
DREP_API int drep_view_get(const drep_view *view, int64_t *disp, drep_type **etype,
                           drep_type **filetype, char *datarep);
/* Bytes from one element of `type` to the next under the view's representation. */
DREP_API int drep_view_type_extent(const drep_view *view, const drep_type *type, int64_t *extent);
/* Where etype number `offset` of the view begins, in bytes from the file's start. */
DREP_API int drep_view_byte_offset(const drep_view *view, int64_t offset, int64_t *bytes);
/* Whole etypes from the view's start to the end of the file. */
DREP_API int drep_view_size(drep_view *view, int64_t *etypes);
/* Moves `count` elements of `type` at buf, beginning at etype number `offset`.  The items
 * of `type` must be those of the view, in order.  *items (may be NULL): data items moved;
 * fewer than asked for when the file ends before (a read), or when an error stops a
 * write in the middle (of a dataset: 0, all of it is taken back).  Nothing behind the last whole
 * item is touched.  DREP_ERR_COUNT (a negative offset or count), DREP_ERR_VALUE_TOO_LARGE (more
 * elements than any memory holds, or their place in the file ends beyond 2^63 bytes),
 * DREP_ERR_TYPE, DREP_ERR_READ_ONLY. */
DREP_API int drep_read_at(drep_view *view, int64_t offset, void *buf, int64_t count,
                          const drep_type *type, const drep_xfer *xfer, int64_t *items);
DREP_API int drep_write_at(drep_view *view, int64_t offset, const void *buf, int64_t count,
                           const drep_type *type, const drep_xfer *xfer, int64_t *items);
DREP_API int drep_view_close(drep_view *view);

/* ------------------------------------------------------------------- checks */

/* Verifies every reference and checksum of the open commit; of a handle that writes, the last
 * one: what it has changed since is not looked at, and before the first there is nothing to
 * find.  fn is called with each finding; *findings counts them. */
typedef int drep_finding_fn(int err, uint64_t offset, const char *message, void *ctx);
DREP_API int drep_check(drep_file *file, int deep, drep_finding_fn *fn, void *ctx,
                        int64_t *findings);

/* Calls fn for every stretch of allocated bytes that nothing refers to and that is not free
 * either: a writer that ended in the middle may leave some.  They do no harm; a copy of the file
 * has none.  Where metadata is damaged nothing can be said and fn is not called.  Non-zero stops
 * the walk and becomes its result. */
typedef int drep_leak_fn(uint64_t offset, uint64_t length, void *ctx);
DREP_API int drep_leaks(drep_file *file, drep_leak_fn *fn, void *ctx);

/* Calls fn for every dataset with payload that has no checksum (drep_checksum=deferred), which
 * drep_check() therefore cannot verify: one path of it ("object 7" if it has none), and the
 * number of such blocks, of 4 KiB or, where filters are, of one chunk each.  drep_seal() makes
 * the checksums.  Non-zero stops the walk and becomes its result.  DREP_ERR_ARG, DREP_ERR_NOMEM,
 * DREP_ERR_IO. */
typedef int drep_unsealed_fn(const char *path, int64_t blocks, void *ctx);
DREP_API int drep_unsealed(drep_file *file, drep_unsealed_fn *fn, void *ctx);

/* Writes what can be read of a damaged file, which stays as it is, into a new one at new_path
 * (amode: 0 or DREP_EXCL; info: hints, also of the new file): the newest state whose header is
 * right; metadata whose checksum is wrong is taken as it stands, as far as it makes sense; where it
 * is lost, what older metadata elsewhere in the file says; damaged payload reads as fill, an
 * unfiltered chunk loses no more than the blocks of 4 KiB that are damaged.  Objects that no link
 * leads to any more get one in the root, "lost+found-ID".  fn is told of everything that was lost,
 * changed or in doubt, and of what a check of the new file still finds; *findings (may be NULL)
 * counts it: 0, and the new file is the whole old one.  The file must be in nobody's hands.
 * The new file appears at new_path at the end, when it has been checked and fn has been told of
 * everything: after an error new_path is what it was before, a file or nothing.  One exception:
 * DREP_ERR_IO with "sync of the directory"; the new file is there, and a power failure may take it
 * back.  Errors: DREP_ERR_CHECKSUM (neither header slot can be read),
 * DREP_ERR_UNSUPPORTED_DATAREP, DREP_ERR_STOPPED or what fn gave, those of drep_create(),
 * DREP_ERR_NO_SPACE, DREP_ERR_IO, DREP_ERR_NOMEM. */
DREP_API int drep_repair(const char *path, const char *new_path, int amode, const drep_info *info,
                         drep_finding_fn *fn, void *ctx, int64_t *findings);

/* Computes the checksums that drep_checksum=deferred left out, from what stands in the file;
 * from the next commit on it is verified.  *blocks (may be NULL): how many there were, of 4 KiB
 * each.  What an error leaves undone can be done again.  DREP_ERR_READ_ONLY, DREP_ERR_IO,
 * DREP_ERR_FORMAT, DREP_ERR_NO_SPACE, DREP_ERR_NOMEM, DREP_ERR_FAILED. */
DREP_API int drep_seal(drep_file *file, int64_t *blocks);

/* Where the bytes are. */
typedef struct drep_usage {
    int64_t file, slots, nodes, blobs, sums, data, free, slack;
    int64_t objects, chunks;
    int64_t absent; /* blocks of payload without a checksum (drep_checksum=deferred) */
} drep_usage;
/* Reads the metadata and the checksums, not the payload. */
DREP_API int drep_usage_get(drep_file *file, drep_usage *out);
/* What one object takes of it. */
typedef struct drep_objusage {
    int64_t metadata; /* its entries in the tree before they are packed into nodes; a compact
                         dataset's elements are among them */
    int64_t data;     /* payload of its chunks */
    int64_t sums;     /* their checksums, where these stand apart */
    int64_t payload;  /* the chunks before filters (variable-length parts of filtered ones apart) */
    int64_t chunks;
} drep_objusage;
/* DREP_ERR_NOT_FOUND, DREP_ERR_FORMAT. */
DREP_API int drep_object_usage(drep_file *file, const char *path, drep_objusage *out);

#ifdef __cplusplus
}
#endif
#endif
