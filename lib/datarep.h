/* datarep.h - the public interface of libdatarep.
 *
 * A Datarep file (*.drep) holds N-dimensional datasets in a tree of groups; its
 * header names the data representation in which their elements are stored.
 * Every call that can fail returns 0 or an error code (DREP_ERR_...); the
 * out-parameters are untouched on failure, and drep_error() gives the calling
 * thread's last message, with path, object and byte offset.  The library never
 * prints, never exits and installs no handlers.
 *
 * Units: `len` and `count` are elements, `size` and `offset` bytes, `position`
 * data items counted from the first of the tiled typemap, `extent` and `stride`
 * signed bytes.  Strings are UTF-8 and end with a NUL.
 *
 * The format is version 1.1.  Every later version of the library will read its files, and those
 * of draft 5 (0.5), which differ in that number alone.  Programs that were compiled with this
 * interface run with every later 1.x of the library; tools/lint compares it with that of 1.0.0.
 *
 * Sections named like "MPI 5.0, 14.7" are where the standard states a rule. */
/* SPDX-License-Identifier: MIT */
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

#define DREP_VERSION_MAJOR 1
#define DREP_VERSION_MINOR 0
#define DREP_VERSION_PATCH 0
#define DREP_VERSION "1.0.0"

/* ------------------------------------------------------------------ errors */

/* The codes of format/errors.def. */
#ifndef DREP_ERRORS
#define DREP_ERRORS
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
    DREP_ERR_SYNTAX = 38,
    DREP_ERR_TIMEOUT = 39,
    DREP_ERR_NOT_COMMITTED = 40,
    DREP_ERR_UNKNOWN = 41
};
#endif

/* The calling thread's last message, never NULL; valid until that thread's next
 * failing call.  "" before the first failure.  Names in it are as drep_escape() has them.  A
 * message that ends in "(R8.29)" names a rule of SPEC.md that the file breaks. */
DREP_API const char *drep_error(void);

/* What the last message is about, as data: the path of the object as it was opened or given, "" if
 * it is about none (or a path of more than 1,023 bytes), valid until that thread's next failing
 * call; the position in the file (of the file that the message names), -1 if it is about none. */
DREP_API const char *drep_error_object(void);
DREP_API int64_t drep_error_byte(void);

/* Sets the calling thread's message, about no object and byte, and returns err; for functions that
 * the library calls (drivers, transports, filters) and for libraries built on this one.  At most
 * 1,023 bytes are kept.  err 0: does nothing. */
DREP_API int drep_error_set(int err, const char *message);

/* Text that came from a file, or is about one, as people may see it: in a terminal, a log, a page.
 * Names and texts may hold any character.  Those that act on other text, or are not shown, become
 * \n and the like or \u202e: U+0000 to U+001F, U+007F to U+009F, U+061C, U+200B, U+200E, U+200F,
 * U+2028 to U+202E, U+2060 to U+2069, U+FEFF; each byte that is not UTF-8 becomes \x80.  All else
 * stays, also a backslash, so that text that is escaped already does not change.  `size` bytes of
 * `text`; at most `room` bytes of `out` are written, the last of them a NUL, and no character is
 * cut (room 0: nothing, and out may be NULL).  Returns the length without the NUL that all of it
 * has. */
DREP_API size_t drep_escape(char *out, size_t room, const char *text, size_t size);

/* The short text of a code ("no such object"), a constant string. */
DREP_API const char *drep_strerror(int err);

/* One line: library and format version, filters built in, CPU kernels in use. */
DREP_API const char *drep_version(void);

/* Calls fn for each library that this one uses or has linked in, with the version that is in use:
 * "zstd", "1.5.4".  The strings are valid during the call.  A non-zero return stops the walk
 * (DREP_ERR_STOPPED); DREP_ERR_ARG: no fn. */
typedef int drep_library_walk_fn(const char *name, const char *version, void *ctx);
DREP_API int drep_library_walk(drep_library_walk_fn *fn, void *ctx);

/* ------------------------------------------------------------------ structs */

/* Options that a caller passes and results that it gets are structs of its own memory, which may
 * grow in later versions.  Each begins with its size in bytes and is initialised by the macro of
 * its name, whose members not named are zeros, the defaults:
 *
 *     drep_read(ds, NULL, DREP_DOUBLE, buf, &DREP_XFER(.threads = 1));
 *     drep_dsinfo info = DREP_DSINFO;
 *     drep_dataset_info(ds, &info);
 *
 * Programs and libraries of different versions work together: what an older program's options do
 * not have is the default, and its results get only what they have room for.  A library older than
 * the program sets members that it does not know to zeros in results, and refuses them in options
 * (DREP_ERR_UNSUPPORTED) unless they are zeros.  A size of 0, or less than the first version's, is
 * DREP_ERR_ARG with a message that names the macro.
 *
 * Values that this version does not know are refused, too: of a member or an argument that is one
 * of an enumeration's values or its bits, negative numbers of threads, and members that are 0 or 1.
 * DREP_ERR_ARG, unless a call names another error, with the member and the value.  Arguments that
 * say yes or no (parents, deep, unlimited) are no if they are 0, else yes.
 *
 * Structs that callbacks get are the library's and may grow at their end.  Elements of arrays
 * (drep_encoding, drep_scalar, drep_filter, drep_repinfo, drep_range, drep_item) and cursors never
 * change. */
/* clang-format off */
#ifdef __cplusplus
#ifdef __GNUC__
#pragma GCC system_header /* -Wextra of g++ warns of each member that a macro leaves zero */
#endif
extern "C++" {
template <class T> T drep_sized(T t) { t.size = sizeof t; return t; }
}
#define DREP_SIZED(type, ...) drep_sized(type{__VA_ARGS__})
#else
#define DREP_SIZED(type, ...) (type){.size = sizeof(type), __VA_ARGS__}
#endif
/* clang-format on */

/* --------------------------------------------------------------- datatypes */

/* A datatype describes elements in memory.  Immutable, reference counted, safe
 * to share between threads.  Every constructor gives a new reference in *out,
 * to be released with drep_type_free(); it keeps its own references to its
 * argument types.  Constructors fail with DREP_ERR_ARG (null pointers,
 * negative counts: DREP_ERR_COUNT), DREP_ERR_VALUE_TOO_LARGE (an extent or a
 * size beyond 2^62), DREP_ERR_LIMIT (deeper than 64), DREP_ERR_NOMEM. */
typedef struct drep_type drep_type;

/* Codes of the predefined datatypes, from format/types.def.  The names
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
    DREP_CODE_INT128_T = 68,
    DREP_CODE_MAX = 68
};

/* The predefined datatype with this code; NULL if there is none.  Never freed. */
DREP_API const drep_type *drep_predefined(int code);

/* The name of a code without prefix ("DOUBLE"), NULL if there is none; and the
 * inverse, 0 if no predefined datatype has that name. */
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

/* The kind of a datatype: its constructor ("combiner" in MPI). */
enum drep_kind {
    DREP_KIND_PREDEFINED = 1,
    DREP_KIND_SCALAR = 2,
    DREP_KIND_STRING = 3,
    DREP_KIND_OPAQUE = 4,
    DREP_KIND_ENUM = 5,
    DREP_KIND_BOOLEAN = 6,
    DREP_KIND_ARRAY = 7,
    DREP_KIND_COMPOUND = 8, /* a struct with named members */
    DREP_KIND_SEQUENCE = 9, /* variable length */
    DREP_KIND_VSTRING = 10, /* variable length, UTF-8 */
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

enum drep_array_order { DREP_ORDER_C = 0, DREP_ORDER_FORTRAN = 1 };
enum drep_distribution {
    DREP_DISTRIBUTE_NONE = 0,
    DREP_DISTRIBUTE_BLOCK = 1,
    DREP_DISTRIBUTE_CYCLIC = 2
};
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
/* blocklens NULL: all 1.  displs (bytes) NULL: the C compiler's layout,
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

/* Container kinds.  A compound is a struct with named members; names are unique,
 * nonempty, at most 1,023 bytes.  displs NULL as for drep_type_struct; `size` is
 * its extent in memory, 0 to compute it from the members. */
DREP_API int drep_type_compound(int64_t count, const char *const *names, const int64_t *displs,
                                const drep_type *const *types, int64_t size, drep_type **out);
/* A block of rank 1..32 dimensions of `base`, row-major, contiguous. */
DREP_API int drep_type_array(int rank, const int64_t *dims, const drep_type *base, drep_type **out);
/* Text of a fixed number of bytes; `pad` defines where it ends. */
enum drep_pad { DREP_PAD_NUL = 0, DREP_PAD_NULTERM = 1, DREP_PAD_SPACE = 2 };
DREP_API int drep_type_string(int64_t size, int pad, drep_type **out);
/* In memory a char * (NUL-terminated, NULL reads as ""), which holds no text with a NUL inside
 * (drep_xfer, Texts). */
DREP_API int drep_type_vstring(drep_type **out);
/* The same datatype; in memory a drep_vlen of the text's bytes, which may be any.  What is read has
 * a NUL behind it that is not counted.  A file does not keep which of the two its writer had. */
DREP_API int drep_type_text(drep_type **out);
/* 1 if the type is one that drep_type_text() made, 0 for every other. */
DREP_API int drep_type_counted(const drep_type *type);
/* The same datatype with all texts of variable length as drep_type_text() makes them, for memory
 * that is to hold any text of a file; *out is a reference to `type` if it has no others.  Compounds
 * and structs with such texts are laid out as with displs NULL.  Those inside of what MPI's other
 * constructors made stay as they are. */
DREP_API int drep_type_with_texts(const drep_type *type, drep_type **out);
/* In memory a drep_vlen. */
DREP_API int drep_type_sequence(const drep_type *base, drep_type **out);
/* Uninterpreted bytes; tag names their meaning, may be NULL. */
DREP_API int drep_type_opaque(int64_t size, const char *tag, drep_type **out);
/* base: an integer type; values as int64_t (or uint64_t bits). */
DREP_API int drep_type_enum(const drep_type *base, int64_t count, const char *const *names,
                            const int64_t *values, drep_type **out);
/* base: an integer or bool type; 0 is false, anything else true. */
DREP_API int drep_type_boolean(const drep_type *base, drep_type **out);
/* In memory a drep_ref. */
enum drep_ref_what { DREP_REF_OBJECT = 0, DREP_REF_REGION = 1 };
DREP_API int drep_type_reference(int what, drep_type **out);

/* In memory, one element of a sequence: `data` holds count elements of the base,
 * tiled.  When the library reads, it mallocs `data` for the caller, who frees it with
 * drep_vlen_free(). */
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

/* Frees the memory that reading `count` elements of `type` into `buf` allocated, and zeroes
 * those pointers.  Does nothing if count is negative or exceeds any memory. */
DREP_API void drep_vlen_free(const drep_type *type, int64_t count, void *buf);

/* A scalar beyond the predefined ones: any integer or row of bits of up to 16 bytes, any real of
 * up to 32.  Bits count from 0, the least significant bit of the scalar read as one number in its
 * byte order.  Its encoding is independent of the data representation.  DREP_ERR_ARG: its fields
 * are not those of SPEC.md, 5.5; the message names the rule.  Wider integers are opaque. */
enum drep_scalar_class { DREP_SCALAR_INT = 1, DREP_SCALAR_REAL = 2, DREP_SCALAR_BITS = 3 };
enum drep_byte_order { DREP_BIG = 0, DREP_LITTLE = 1, DREP_VAX = 2 };
enum drep_norm { DREP_NORM_IMPLIED = 0, DREP_NORM_MSBSET = 1, DREP_NORM_NONE = 2 };
typedef struct drep_scalar {
    uint8_t cls;        /* DREP_SCALAR_... */
    uint8_t order;      /* DREP_BIG, DREP_LITTLE, DREP_VAX (16-bit words, little-endian inside) */
    uint8_t size;       /* bytes, 1..32 (reals), 1..16 (integers, bits) */
    uint8_t is_signed;  /* integers */
    uint8_t format;     /* DREP_FORMAT_..., or DREP_FORMAT_CUSTOM: the fields below apply */
    uint8_t norm;       /* DREP_NORM_... */
    uint8_t low_pad;    /* bits below the value: 0, 1, 2 (unknown, kept as 0) */
    uint8_t high_pad;   /* bits above it, likewise */
    uint16_t precision; /* number of bits of the value */
    uint16_t offset;    /* position of the lowest of them */
    uint16_t sign_pos;
    uint16_t exp_pos, exp_width;
    uint16_t mant_pos, mant_width;
    uint8_t exp_base_log2; /* 1: base 2, 4: base 16 */
    int64_t exp_bias;
} drep_scalar;
DREP_API int drep_type_scalar(const drep_scalar *scalar, drep_type **out);

/* Adds a reference and returns it; releases one.  Predefined types need neither.  Each reference is
 * released once: unlike other handles, which survive that, a type cannot tell whose reference a
 * second release takes, nor, after the last one, that it is no type any more. */
DREP_API drep_type *drep_type_ref(const drep_type *type);
DREP_API void drep_type_free(drep_type *type);

/* Bytes of data in one element without gaps; distance from one element to
 * the next; lower bound; extent and lower bound of the bytes used; data items. */
DREP_API int64_t drep_type_size(const drep_type *type);
DREP_API int64_t drep_type_extent(const drep_type *type);
DREP_API int64_t drep_type_lb(const drep_type *type);
DREP_API int64_t drep_type_true_extent(const drep_type *type);
DREP_API int64_t drep_type_true_lb(const drep_type *type);
DREP_API int64_t drep_type_items(const drep_type *type);
/* 1 if built without byte displacements (MPI 5.0, 14.1.1 "portable"). */
DREP_API int drep_type_portable(const drep_type *type);
/* 1 if the type contains a sequence, a variable-length string or a region reference. */
DREP_API int drep_type_variable(const drep_type *type);
DREP_API int drep_type_kind(const drep_type *type);
/* The code of a predefined type, 0 for every other. */
DREP_API int drep_type_code(const drep_type *type);
/* The alignment of this machine's C compiler, in bytes. */
DREP_API int64_t drep_type_align(const drep_type *type);

/* Members of a type: their number (0 for predefined and other leaves; 1 for most;
 * all members of a struct or compound), the i-th member type (borrowed: lives as
 * long as `type`), its name (NULL if none), its displacement in bytes, its block
 * length. */
DREP_API int64_t drep_type_members(const drep_type *type);
DREP_API const drep_type *drep_type_member(const drep_type *type, int64_t i);
DREP_API const char *drep_type_member_name(const drep_type *type, int64_t i);
DREP_API int64_t drep_type_member_offset(const drep_type *type, int64_t i);
DREP_API int64_t drep_type_member_blocklen(const drep_type *type, int64_t i);
/* An array's rank and dimensions (borrowed); 0 and NULL for every other kind. */
DREP_API int drep_type_array_rank(const drep_type *type);
DREP_API const int64_t *drep_type_array_dims(const drep_type *type);
/* Enums: the number of names, the i-th name, its value. */
DREP_API int64_t drep_type_enum_count(const drep_type *type);
DREP_API const char *drep_type_enum_name(const drep_type *type, int64_t i);
DREP_API int64_t drep_type_enum_value(const drep_type *type, int64_t i);
/* Strings: DREP_PAD_...; opaques: the tag ("" if none); references:
 * DREP_REF_...; scalars: the description (borrowed). */
DREP_API int drep_type_string_pad(const drep_type *type);
DREP_API const char *drep_type_opaque_tag(const drep_type *type);
DREP_API int drep_type_reference_what(const drep_type *type);
DREP_API const drep_scalar *drep_type_scalar_desc(const drep_type *type);
/* The integer arguments of the constructor, in the order of its parameters (MPI 5.0,
 * 5.1.13, all as int64_t): their number, the i-th. */
DREP_API int64_t drep_type_arg_count(const drep_type *type);
DREP_API int64_t drep_type_arg(const drep_type *type, int64_t i);

/* 1 if both were built alike; 1 if their typemaps are equal. */
DREP_API int drep_type_equal(const drep_type *a, const drep_type *b);
DREP_API int drep_type_equivalent(const drep_type *a, const drep_type *b);

/* One readable line ("struct{when: INT64_T, value: DOUBLE}"), malloc'ed, for
 * free(); and the inverse (DREP_ERR_SYNTAX with the column in the message), which also knows
 * predefined types by their names in NumPy and C: float64, f8, double. */
DREP_API int drep_type_print(const drep_type *type, char **text);
DREP_API int drep_type_parse(const char *text, drep_type **out);

/* A cursor walks the data items of a tiled typemap (tile k at k * extent) from
 * any position.  It is the caller's storage; nothing to release.  Threads: one at a time. */
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

/* One table row: the encoding of a predefined datatype. */
typedef struct drep_encoding {
    uint16_t code;  /* DREP_CODE_... */
    uint8_t format; /* DREP_FORMAT_... */
    uint8_t order;  /* DREP_BIG, DREP_LITTLE, DREP_VAX */
    uint8_t size;   /* bytes of the whole item (a complex: both parts); 0: no such type */
    uint8_t align;  /* of the item inside a struct of that machine; 1 when packed (0 counts as 1) */
    uint8_t custom; /* DREP_FORMAT_CUSTOM: index into the table's scalars */
    uint8_t reserved; /* 0 */
} drep_encoding;

/* The formats of scalars, from format/formats.def. */
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

/* Properties of a format.  Bits count from the least significant of the scalar read as one
 * number.  The value of a finite real with exponent field e and significand s is
 * s * 2^(base_log2 * (e - bias)), where s has its binary point after the leading bit, or
 * before it if `fraction` is set.  double-double and ibm-hex128 consist of two halves: their
 * fields describe the two combined, not the positions of bits. */
typedef struct drep_format_info {
    int format; /* DREP_FORMAT_... */
    const char *name;
    int cls;        /* DREP_SCALAR_INT (also bool and unicode), _REAL, _BITS (anything else) */
    int size;       /* default bytes of a scalar; 0: no default, every row gives its own */
    uint32_t sizes; /* bit n - 1 is set if a scalar may take n bytes */
    int type;       /* the predefined datatype that has this format on every machine, or 0 */
    int complex;    /* the narrowest predefined complex whose parts can hold it, or 0 */
    /* Reals; all 0 for others. */
    int vax;       /* the format implies the order DREP_VAX */
    int ieee;      /* infinities and NaNs of IEEE 754 */
    int precision; /* significant bits, including the leading one */
    int sign_pos, exp_pos, exp_width, mant_pos, mant_width;
    int implied; /* the leading bit is not stored */
    int base_log2, fraction;
    int bias;
    /* Numbers of full precision satisfy 2^least <= |x| < 2^(greatest + 1).  In base 16
     * up to three leading bits of the significand may be 0. */
    int least, greatest;
} drep_format_info;
/* NULL if the format is unknown; else constant, never freed. */
DREP_API const drep_format_info *drep_format_describe(int format);

/* A user-defined conversion (MPI 5.0, 14.7.3).  `count` is data items and `position`
 * the index of the first of them in the typemap of `datatype` tiled over
 * `userbuf`; `filebuf` begins with that item; its items are byte aligned
 * with no padding, each as long as the extent function returns.  userbuf and
 * datatype are equal in every call of one transfer.  Must be reentrant; calls with the
 * file or the view that it works for may be refused (Callbacks, below).
 * Non-zero: DREP_ERR_CONVERSION.
 *
 * Elements of a dataset: the selected elements of one chunk (contiguous: of one slab, compact:
 * of the dataset) are one transfer that begins at position 0, even if they are not adjacent.  It
 * is one call, or several if it has more bytes than the hint cb_buffer_size.  `datatype`
 * contains the items that functions convert; bytes, strings and items of variable length are
 * omitted.  The contents of each sequence are a separate transfer.
 * Bytes of filebuf that a write function does not write are zeros in the file; items that a read
 * function does not write keep the contents of the caller's buffer, or become zeros.  Both are
 * errors of the function, which `datarep reps --check` finds. */
typedef int drep_conversion_fn(void *userbuf, const drep_type *datatype, int64_t count,
                               void *filebuf, int64_t position, void *extra_state);
/* Sets *file_extent to the bytes of a predefined datatype in the file, 1 to 255, or to
 * DREP_UNDEFINED if there is no such type.  Asked for the datatypes in use, once for each file or
 * view: DREP_ERR_VALUE_TOO_LARGE, or DREP_ERR_CONVERSION if it returns non-zero. */
typedef int drep_extent_fn(const drep_type *datatype, int64_t *file_extent, void *extra_state);

#define DREP_CONVERSION_NULL ((drep_conversion_fn *)0)
#define DREP_MAX_DATAREP_STRING 128 /* with the NUL */

/* Registers a data representation for the life of this process.  read or write
 * DREP_CONVERSION_NULL: that direction takes data in native form.
 * DREP_ERR_DUP_DATAREP, DREP_ERR_NAME (empty, too long, not UTF-8, or "native:..."),
 * DREP_ERR_ARG (no extent function).  Thread safe. */
DREP_API int drep_register_datarep(const char *name, drep_conversion_fn *read,
                                   drep_conversion_fn *write, drep_extent_fn *extent,
                                   void *extra_state);
/* Like drep_register_datarep(), with flags. */
enum drep_rep_flags { DREP_REP_SERIAL = 1 }; /* never call the functions from two threads at once */
DREP_API int drep_register_datarep_flags(const char *name, drep_conversion_fn *read,
                                         drep_conversion_fn *write, drep_extent_fn *extent,
                                         void *extra_state, unsigned flags);
/* Registers a representation defined by a table: rows for the types it changes; types
 * without a row are encoded as under `base` ("external32", "internal", "native:...").
 * scalars: the custom formats that rows refer to. */
DREP_API int drep_declare_datarep(const char *name, const char *base, const drep_encoding *rows,
                                  int nrows, const drep_scalar *scalars, int nscalars);
/* The rows of a table-form representation ("external32", "native", "native:s390x",
 * a declared one): stores at most `max`, *n is their total number.
 * DREP_ERR_UNSUPPORTED_DATAREP if unknown, *n = 0 if it consists of functions. */
DREP_API int drep_datarep_table(const char *name, drep_encoding *rows, int max, int *n);
/* The custom scalars that those rows refer to. */
DREP_API int drep_datarep_scalars(const char *name, drep_scalar *scalars, int max, int *n);
/* Calls fn for each known representation; a non-zero return stops
 * the walk (DREP_ERR_STOPPED). */
typedef int drep_datarep_walk_fn(const char *name, const char *form, void *ctx);
DREP_API int drep_datarep_walk(drep_datarep_walk_fn *fn, void *ctx);

/* Looks up a representation.  Every one has an extent function; read or write
 * may be NULL as registered.  They may be called as the library does, also to build one
 * representation on another; under DREP_REP_SERIAL by one thread at a time.
 * DREP_ERR_UNSUPPORTED_DATAREP. */
typedef struct drep_datarep {
    size_t size; /* set by DREP_DATAREP */
    drep_conversion_fn *read, *write;
    drep_extent_fn *extent;
    void *extra_state;
    unsigned flags; /* DREP_REP_... */
} drep_datarep;
#define DREP_DATAREP DREP_SIZED(drep_datarep, )
DREP_API int drep_datarep_get(const char *name, drep_datarep *out);

/* Plugins.  For an unregistered data representation or filter (drep_register_filter), the
 * library loads the shared object NAME.so from one of
 * the directories that the user enabled: by the hint drep_plugin_path, by this call, or by
 * the environment variable DREP_PLUGIN_PATH, searched in this order.  Without any of them
 * nothing is ever loaded.  `dirs` is a colon-separated list of absolute paths and replaces
 * the previous list; NULL or "" clears it.  Names with characters other than letters, digits,
 * ".", "_" and "-" are never looked up.  A plugin is loaded once and stays for the life of the
 * process.  It is refused (DREP_ERR_UNSUPPORTED_DATAREP with the reason) if it is not a
 * regular file, if it, its directory or one above that is owned by a user other than root and the
 * effective user or is world-writable (a sticky directory above, such as /tmp, may be that), or if
 * it does not register the name.  It need not be linked with the library.
 * DREP_ERR_ARG (a relative path), DREP_ERR_NOMEM.  Thread safe. */
DREP_API int drep_plugin_path(const char *dirs);
/* Loads the plugin `file`, which may register any names.  DREP_ERR_NO_SUCH_FILE,
 * DREP_ERR_ACCESS (refused as above), DREP_ERR_UNSUPPORTED (not a plugin, or it failed). */
DREP_API int drep_plugin_load(const char *file);
/* Defined by each plugin: calls drep_register_datarep() or drep_register_filter() and
 * returns 0, or their error. */
DREP_API int drep_plugin_init(void);

/* Bytes from one element to the next when stored under `datarep` (MPI 5.0,
 * 14.5.1, MPI_File_get_type_extent). */
DREP_API int drep_type_file_extent(const drep_type *type, const char *datarep, int64_t *extent);

/* Policy for values that the target's type cannot hold.  STRICT: DREP_ERR_CONVERSION naming the
 * dataset and the item.  ROUND: a real becomes the nearest integer (ties to even); all else as
 * STRICT.  CLAMP: the nearest representable value.  WRAP: integers lose their upper bits (MPI's
 * rule for external32), reals saturate.  Under CLAMP and WRAP a real becomes an integer as in C,
 * without its fraction, and a NaN becomes 0.
 *
 * DEFAULT is STRICT for elements of datasets, attributes, fill values and drep_convert(), whether
 * the types differ or only their sizes do (a LONG of 8 bytes in the file where it has 4 here, or
 * the reverse): what does not fit is an error, never another number.  It is WRAP for views
 * (drep_read_at) and packs, as in MPI; there only the report tells.
 *
 * What fits: an integer type holds whole numbers of its range and nothing else, so STRICT refuses
 * 1.7, NaN and infinities.  A real type holds every number up to its largest, rounded to the
 * nearest (ties to even) to as many digits as it has: that is what choosing FLOAT chooses, so no
 * policy refuses it, also not of an integer, and the report counts it as inexact.  A NaN or an
 * infinity for a real format without them is out of range.  A number for a BOOL is 1 unless it is
 * 0, as in C. */
enum drep_range_mode {
    DREP_RANGE_DEFAULT = 0,
    DREP_RANGE_WRAP = 1,
    DREP_RANGE_CLAMP = 2,
    DREP_RANGE_STRICT = 3,
    DREP_RANGE_ROUND = 4
};

/* Losses of a transfer, counted in numbers: a complex item is two, and each number in a sequence
 * is one.  Indices and `items` count data items of the transfer, of which a sequence is one; -1:
 * none.  Missing values are not counted: a NaN that stays a NaN, or a fill value, is no loss. */
typedef struct drep_report {
    size_t size;      /* set by DREP_REPORT */
    int64_t items;    /* converted */
    int64_t overflow; /* out of the target's range */
    int64_t inexact;  /* rounded */
    int64_t nan_lost; /* NaNs that lost payload or sign, or became a number */
    int64_t first_overflow;
    int64_t first_inexact;
    int64_t first_nan_lost;
} drep_report;
#define DREP_REPORT DREP_SIZED(drep_report, )

/* Options of a transfer: DREP_XFER(.threads = 1).  NULL: the defaults. */
typedef struct drep_xfer {
    size_t size;         /* set by DREP_XFER(...) */
    int range;           /* enum drep_range_mode; the default is strict, of views and packs wrap */
    int threads;         /* 0: the file's; 1: only the caller's; not negative */
    drep_report *report; /* filled when not NULL */
    size_t buf_size;     /* bytes of memory at the call's buffer (drep_convert: dst), 0: not
                            known, so that elements are as long as the dataset's (drep_read).
                            DREP_ERR_BUFFER before anything is moved if the elements reach
                            beyond it */
    int members;         /* DREP_MEMBERS_... */
    int64_t collective;  /* 1: all ranks of the file's team make this call (datarep-team.h) */
} drep_xfer;
#define DREP_XFER(...) DREP_SIZED(drep_xfer, __VA_ARGS__)

/* Members by name.  If the type in memory and the dataset's or attribute's are compounds, also
 * inside arrays, sequences and structs, their members are matched by name, level by level: memory
 * may have any of them in any order.  Only these are read, converted, counted in a report and
 * passed to a representation's functions.  A write keeps the other members; in new elements they
 * are the fill value.  Members of one name have equally many data items.  Where one side has no
 * names, all its items are matched by position, and so are those of views (drep_read_at) and packs:
 * one member is read by a compound of that member (Example: table), not by its type.
 * DREP_ERR_TYPE: a member that the file lacks, no member in common, or a write of some members of
 * a sequence's elements, which are always new.
 *
 * Texts.  Where one side has a string and the other a vstring, the string's padding says where its
 * text ends, and the text gets the padding of its string; each is one item of the transfer.  One
 * that the other side cannot hold is out of range: longer than the string (DREP_PAD_NULTERM: than
 * its size - 1), or with a NUL before its end, where a char * or a string of DREP_PAD_NULTERM ends.
 * DREP_RANGE_STRICT, the default: DREP_ERR_CONVERSION, the message names item and byte; else what
 * fits of it, in whole characters, and `overflow` counts it.  `inexact` counts texts whose last
 * bytes are what pads their string.  Bytes are not checked to be UTF-8.  A text with a NUL is whole
 * as drep_type_text(), and as a sequence: where one side has a vstring and the other a sequence of
 * CHAR, BYTE or UINT8_T, the text's bytes are the sequence's elements (CHAR in the representation's
 * own code, as always).
 *
 * Members of memory that the file lacks: refused, or in a read set to zeros, variable-length ones
 * to empty (at least one member must be in the file). */
enum { DREP_MEMBERS_STRICT = 0, DREP_MEMBERS_FILL = 1 };

/* Converts in memory: `count` elements of `from` at src into as many data items of
 * `to` at dst, both in this machine's form.  Variable-length parts are copied into
 * malloc'ed memory, for drep_vlen_free().  Members go by name, as in a read of `from` (above).
 * DREP_ERR_TYPE, DREP_ERR_CONVERSION,
 * DREP_ERR_COUNT (a negative count, or the items do not fill whole elements of `to`),
 * DREP_ERR_VALUE_TOO_LARGE (more elements than any memory holds: nothing was read). */
DREP_API int drep_convert(const drep_type *to, void *dst, const drep_type *from, const void *src,
                          int64_t count, const drep_xfer *xfer);

/* Pack (MPI 5.0, 5.3): data items of `count` elements at `inbuf` to `outbuf` at
 * *position (bytes, advanced), as `datarep` stores them, without padding or
 * header.  drep_pack_size: exactly the bytes needed.  DREP_ERR_BUFFER if
 * outbuf is too small (nothing written), DREP_ERR_TRUNCATE if inbuf is too short, DREP_ERR_TYPE for
 * variable-length types, DREP_ERR_COUNT (negative), DREP_ERR_VALUE_TOO_LARGE (more than 2^62
 * bytes packed, or more elements than any memory holds).  Packing and unpacking work in place if
 * every item keeps its offset: `type` has no gaps, its items have equal lengths
 * under `datarep`, and that is a table.  Otherwise the buffers must not overlap. */
DREP_API int drep_pack(const char *datarep, const void *inbuf, int64_t count, const drep_type *type,
                       void *outbuf, int64_t outsize, int64_t *position);
DREP_API int drep_unpack(const char *datarep, const void *inbuf, int64_t insize, int64_t *position,
                         void *outbuf, int64_t count, const drep_type *type);
DREP_API int drep_pack_size(const char *datarep, int64_t count, const drep_type *type,
                            int64_t *size);

/* Like drep_pack() and drep_unpack(), with options (NULL: like them): threads share the conversion
 * of more than a MiB, values out of range are treated as xfer->range says (default: wrap) and
 * counted in the report, and xfer->buf_size is checked of the elements' memory, inbuf or outbuf.
 * Of a representation of functions, which know neither, one thread calls them, and the report has
 * only the items.  DREP_ERR_CONVERSION under DREP_RANGE_STRICT, DREP_ERR_ARG (range), and *position
 * stays. */
DREP_API int drep_pack_xfer(const char *datarep, const void *inbuf, int64_t count,
                            const drep_type *type, void *outbuf, int64_t outsize, int64_t *position,
                            const drep_xfer *xfer);
DREP_API int drep_unpack_xfer(const char *datarep, const void *inbuf, int64_t insize,
                              int64_t *position, void *outbuf, int64_t count, const drep_type *type,
                              const drep_xfer *xfer);

/* Self-describing pack units (PACK.md): a header with the representation, its
 * encodings if it is a table, the machine, the number of items, and checksums; then the output of
 * drep_pack().  They can be unpacked on any machine, in any process; for a representation of
 * functions, in one that has registered them.  A unit is atomic: it is unpacked as a whole, into
 * `count` elements with exactly its items.  *position is advanced by the whole unit.
 * drep_pack_unit_size: exactly its bytes.  Errors of unpacking in addition to those of
 * drep_unpack: DREP_ERR_NOT_DREP (not a unit), DREP_ERR_VERSION, DREP_ERR_TRUNCATE,
 * DREP_ERR_CHECKSUM, DREP_ERR_FORMAT, DREP_ERR_COUNT (other items, or negative),
 * DREP_ERR_UNSUPPORTED_DATAREP (unknown, or its extents differ here). */
DREP_API int drep_pack_unit(const char *datarep, const void *inbuf, int64_t count,
                            const drep_type *type, void *outbuf, int64_t outsize,
                            int64_t *position);
DREP_API int drep_unpack_unit(const void *inbuf, int64_t insize, int64_t *position, void *outbuf,
                              int64_t count, const drep_type *type);
DREP_API int drep_pack_unit_size(const char *datarep, int64_t count, const drep_type *type,
                                 int64_t *size);
/* Reads the header of the unit at `position`; its data may still be missing. */
typedef struct drep_unitinfo {
    size_t size; /* set by DREP_UNITINFO */
    char datarep[DREP_MAX_DATAREP_STRING];
    char machine[64];             /* that packed it ("amd64"), "" if unknown */
    int64_t items;                /* data items */
    int64_t data_size, unit_size; /* bytes of the data; of the whole unit */
} drep_unitinfo;
#define DREP_UNITINFO DREP_SIZED(drep_unitinfo, )
DREP_API int drep_pack_unit_info(const void *inbuf, int64_t insize, int64_t position,
                                 drep_unitinfo *out);

/* -------------------------------------------------------------------- hints */

/* Key and value strings that advise the library (MPI 5.0, chapter 10 and
 * 14.2.8).  Unknown keys are ignored, and so are values that are not valid for their key.
 * datarep-hints(7) lists all.
 *
 * Datarep's own, with their defaults:
 *   drep_sync=commit     A commit is durable when drep_commit() returns: data and nodes are
 *                        synced before the header slot that refers to them is written, and that
 *                        slot is synced; a new file is synced once, before it has its name, and
 *                        its directory then.  "none": nothing is synced.  The order of writes is
 *                        unchanged, so a killed process leaves the last commit or the
 *                        one in progress; but after a power failure the slot may be on disk
 *                        without the blocks that it refers to: commits, or the file, are lost.
 *   drep_pack=true       At creation: the first commit writes everything but data into one
 *                        extent, to which its header slot refers.  Metadata that exceeds memory
 *                        is kept in an unnamed temporary file until then (default: false).
 *   drep_keep=2          Number of commits that are kept, the newest included (drep_log).
 *   drep_lock=true       Coordinate readers and writers by locks (drep_refresh).
 *   drep_lock_wait=0     Seconds ("0.5") that a call waits which opens a file for writing, or is to
 *                        replace one, while another handle writes to it.  Waiters open it in the
 *                        order in which they came, and before an opener that comes later; those
 *                        that are to replace it have no place in that order.  If the file is
 *                        replaced meanwhile, the new one is opened, and waited for as long.
 *   drep_checksum=on     "deferred": unfiltered payload is written without checksums, at disk
 *                        speed, and chunks in other files are named without being read
 *                        (drep_write_external).  They cannot be verified until drep_seal().
 *   drep_close=commit    What drep_close() does after a call that failed: it commits those that
 *                        succeeded.  "abandon": nothing since the last commit is kept.
 *   drep_external=false  Open other files in or below the directory of this one: follow
 *                        external links in calls that read (drep_link_external), and read
 *                        chunks that are in other files (drep_external_add).
 *   drep_external_urls=false   Open URLs that files name: "true", or a list of servers such as
 *                        https://data.example.org, separated by commas.  Only a listed server may
 *                        be at a private address.
 *   drep_verify=on       "off": checksums of payload are not verified.
 *   drep_cache_size=67108864  Bytes of the chunk cache of each file; changes of
 *                        filtered chunks, which are encoded together later, take 7/8 at most.
 *   drep_fetch_size=4194304   Bytes that a handle fetches at once before they are asked for, where
 *                        a round trip to the file is dear (not in a local file or in memory):
 *                        all metadata of a packed file if it is not larger, else neighbouring
 *                        nodes; the chunks of one transfer.  A handle holds three times as many at
 *                        most; each transfer nine times (eight fetches are under way), and one
 *                        more for each thread.  0: all is read when it is needed.
 *   drep_chunk_max=16777216   The largest unfiltered payload of a filtered chunk that this handle
 *                        creates.
 *   drep_limit_chunk=16777216  Maximum bytes that a filtered chunk may decode to, its contents of
 *                        variable length included.  Reading a larger one is DREP_ERR_LIMIT; the
 *                        message names the dataset, the size and this hint.
 *   drep_threads=0       Number of threads for large transfers; 0: one per processor.
 *   drep_mpi_io=posix    Payload of a file that ranks share goes by MPI-IO (mpiio) or by system
 *                        calls; not given: by MPI-IO on several nodes (<datarep-mpi.h>).
 *   drep_mpi_timeout=0   Whole seconds that a rank of a shared file waits for the others; 0: for
 *                        ever (<datarep-mpi.h>).
 *   drep_mpi_window=0    Bytes of filtered chunks that all ranks of a shared file encode, in a
 *                        collective write, before they write them; 0: all (<datarep-team.h>).
 *   drep_overlap=error   An element that two ranks of a shared file write is an error on all;
 *                        "last": the higher rank's counts (<datarep-team.h>).
 *   drep_plugin_path=    Directories of plugins (drep_plugin_path).
 *                        The following act when a URL is opened; datarep-remote(7) says more.
 *   drep_http_connect=15     Seconds in which a connection must be made.
 *   drep_http_requests=16    Requests under way at once, 64 at most.
 *   drep_http_retries=5      Tries after the first, for each request.
 *   drep_http_timeout=60     Seconds in which a request may move less than 1 KiB a second.
 *   drep_http_whole=false    Load all of a file where its server has no ranges,
 *   drep_http_whole_max=268435456   if it has no more bytes than these.
 *   drep_http_ca=            A file of certificates of authorities.
 *   drep_http_token=         A bearer token.  Tokens, keys, secrets and sessions are kept nowhere:
 *                        drep_get_info() has them as "".
 *   drep_s3_anonymous=false  Sign no request.
 *   drep_s3_endpoint=, drep_s3_profile=, drep_s3_region=, drep_s3_key=, drep_s3_secret=,
 *   drep_s3_session=         Of buckets: what is not given comes from the environment's AWS_...
 *                        and the files of profiles.
 *   drep_uuid=, drep_time=-1, drep_machine=  Fixed values instead of a random UUID, the clock and
 *                        this machine's name, for byte-identical files.
 *
 * Stored hints.  The hints of MPI, drep_keep and drep_chunk_max are stored in the
 * header of a file that is created with them and apply whenever it is opened later, within the
 * opener's limits: a stored drep_chunk_max beyond
 * drep_limit_chunk and a stored striping_unit beyond 16 MiB are ignored.  No other drep_ hint
 * is ever taken from a file: drep_limit_chunk, drep_cache_size, drep_fetch_size and drep_threads
 * bound the cost of a handle, and only the opener sets them.  An opener's own larger drep_chunk_max
 * raises drep_limit_chunk to its value.
 *
 * Cost of a handle.  Reading and writing take the caller's buffer, the cache, 16 MiB, two
 * chunks (drep_limit_chunk) for each thread, and what drep_append() lets wait, for any content of
 * the file; metadata (names,
 * attributes, types, compact datasets) takes memory in proportion to its stored
 * size.  Sizes are compared with the file's end before memory is allocated.  A call takes time in
 * proportion to the requested elements and the bytes of the file, with one
 * exception: drep_check(), drep_copy(), drep_repair() and filters decode stored bytes, which
 * can expand up to 1,032 times (zstd: without a bound).  See SECURITY.md for
 * details. */
/* Threads may share a drep_info that none of them changes. */
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
/* 0 if the library knows the hint and the value is valid for it.  Other calls ignore hints that are
 * not (MPI 5.0, file info); a program asks here to tell its user of a slip.
 * DREP_ERR_INFO_KEY: no such hint; DREP_ERR_INFO_VALUE: the message says which values are valid. */
DREP_API int drep_info_check(const char *key, const char *value);
DREP_API int drep_info_count(const drep_info *info);
DREP_API const char *drep_info_key(const drep_info *info, int i);

/* -------------------------------------------------------------------- files */

/* Handles across threads, forks and replaced files
 *
 * Threads.  All threads of a process may share a drep_file, its drep_datasets, datatypes,
 * selections, and hints that no thread changes.  A view, and hints that are being changed, belong
 * to one thread at a time.  Calls that read one file run concurrently; calls that write to it,
 * drep_commit() and drep_refresh() run alone, in the order of arrival.  Neither kind
 * starves the other: a writing call goes before the reading calls that arrive after it, and
 * when it is done, all waiting reading calls proceed.  While a commit waits for the disk, calls
 * that read continue.  A call that reads where appended elements wait first writes them, alone.
 * A call that closes a handle requires that no other call uses it any more.
 *
 * Closing.  A drep_file, drep_dataset or drep_view lives from the call that returned it to the call
 * that closes it, and handles may be closed in any order.  When a file is closed, its datasets
 * and views stay valid handles: every call with them fails with DREP_ERR_ARG ("... its file is
 * closed"), except those that close, unmap and free.  Pointers borrowed from drep_dataset_info()
 * and mappings of drep_dataset_map() stay valid until the dataset is closed.  A view keeps its
 * dataset.
 * A call with a closed handle fails with DREP_ERR_ARG too, and closing it again does nothing, as
 * does freeing a selection or hints again; but
 * once a new handle of the same kind reuses its address, the call goes to that one.
 * Closing a handle while another thread is in a call with it is an undetected error of the caller.
 *
 * Callbacks.  A function that the library calls may use the same file again, unless its call
 * documents otherwise: from drep_list(), drep_attr_list(), drep_log() and drep_dataset_chunks() in
 * any way but closing it; from inside another call that reads, such as a conversion function, with
 * calls that read; from a filter not at all.  Every other call with the file is refused with
 * DREP_ERR_ARG ("... inside a call ..."), on any thread that works for the call: every call from
 * inside one that writes, and a call that writes or needs the file alone (drep_log() and
 * drep_refresh() too) from inside one that reads.  A refused call changes nothing and does not
 * count as a failed write; drep_close() leaves the handle open, and so does drep_abandon(), which
 * has no result.  drep_header_...(), drep_get_info() and drep_dataset_close() always work.
 * Callbacks of a call with a view cannot use that view.
 *
 * Forks.  A handle that writes belongs to the process that opened it, ":memory:" included.  In a
 * child every call with it, or with its datasets and their views, fails with DREP_ERR_FILE_IN_USE,
 * also those that read; the child may open the file for reading by itself.  A handle that reads
 * may be used in both processes: at its first use the child reopens the file, takes its own lock,
 * and continues at the same commit with the same datasets.  DREP_ERR_STALE: that commit is
 * no longer kept (no handle kept it open until then, and the writer made others), the file cannot
 * be reopened, or another thread was moving the handle (drep_refresh, drep_set_info, opening
 * or closing a dataset) at the moment of the fork; open the file again.  Images in memory are the
 * child's own copy, and raw views continue to work.  In a child drep_close() and drep_abandon()
 * release memory and descriptors and touch neither the file nor the parent's locks: nothing is
 * committed (drep_close() of a handle that writes returns DREP_ERR_FILE_IN_USE) and no file is
 * removed; if other threads were using the handle at the moment of the fork, its memory is leaked.
 * When the parent closes a handle its locks are released, even if children still have it open.  The
 * child may fork again.  A child that is forked in a callback must not
 * return from it, except from callbacks that may use the file in any way (above).  All
 * descriptors are closed by exec.  Processes made by vfork() or clone() may only call exec.
 *
 * Replaced, moved and removed files.  A handle keeps the file that it opened.  Readers go on
 * reading that file even if its name is removed or reused.  A commit fails with DREP_ERR_STALE, and
 * writes nothing, if the file was removed or if another file is at the path (after symbolic
 * links) by which it was opened: the new state would be unreachable.  It may be retried after the
 * file was moved back.  A file that was only moved, or whose directory was, is committed to at its
 * new place.  drep_create(), drep_create_like() and drep_repair() replace a file only if no handle
 * writes to it: DREP_ERR_FILE_IN_USE, at once or at the first commit; between these two the
 * old file cannot be opened for writing.  Other programs can still rename files over an open
 * one, and so can this library if the hint drep_lock is "false" or the file system has
 * no locks.
 *
 * A replacement file inherits the permissions of the old one (the bits 0777, without the umask)
 * and, as far as this process may set them, its owner and group; if the group cannot be kept, the
 * group gets no more permissions than others have.  Access control lists and other attributes of
 * the file are not kept.  Symbolic links are followed: their target is replaced.  Other hard
 * links to the old file stay with the old file.
 *
 * Only this library may write to a container or truncate it.  If another program does, calls
 * fail with DREP_ERR_TRUNCATE, DREP_ERR_CHECKSUM or DREP_ERR_FORMAT when they read changed
 * bytes; access to a mapping of drep_dataset_map() may raise a signal (SIGBUS). */
/* Threads may share it for every call; drep_close() and drep_abandon() only when no other call
 * uses it any more. */
typedef struct drep_file drep_file;

/* Access modes. */
enum drep_amode {
    DREP_RDONLY = 1,
    DREP_RDWR = 2,
    DREP_EXCL = 4,       /* create: fail if the file exists */
    DREP_HEADER_ONLY = 8 /* open: resolve no conversion functions; elements of datasets that
                            functions convert are not read */
};

/* Creates a container whose default data representation is `datarep` ("native", "external32",
 * "internal", "native:ABI", a declared or registered one; NULL: "native", this machine's, which
 * every other can read and this one can map).  It is built under a temporary
 * name and appears at `path` with the first commit; an existing file is
 * replaced only then, and cannot be opened for writing until then.  What killed processes of this
 * user have left in the directory under such names (.drep-DIGITS.tmp, with a lock that is free) is
 * removed, except on file systems of other machines.  info
 * may be NULL; the hint file_perm applies if nothing is replaced.  Path ":memory:"
 * makes one in memory.  Errors: DREP_ERR_UNSUPPORTED_DATAREP, DREP_ERR_FILE_EXISTS,
 * DREP_ERR_FILE_IN_USE (a handle writes to the file that would be replaced, or is to
 * replace it), DREP_ERR_ACCESS, DREP_ERR_NO_SUCH_FILE (the directory), DREP_ERR_IO. */
DREP_API int drep_create(const char *path, int amode, const char *datarep, const drep_info *info,
                         drep_file **out);
/* Like drep_create(), with the default representation of `like`, which need not be known by name in
 * this process, and the hints stored in its header; those of info take precedence. */
DREP_API int drep_create_like(const char *path, int amode, drep_file *like, const drep_info *info,
                              drep_file **out);
/* Creates a container that is written to a descriptor in order, such as a pipe or a socket, under
 * `datarep` or, if that is NULL, like `like` (as the two calls above have it; exactly one of them
 * is not NULL).  It is complete with its only commit: drep_commit() or drep_close().  Until then
 * nothing can be said of its content by who reads it, and drep_abandon() leaves a file that
 * readers refuse as truncated.
 *
 * What drep_copy() writes leaves as it is written.  Everything else, and chunks of more than about
 * 8 MiB that drep_copy() writes in parts, may still change and waits: up to 32 MiB in memory, the
 * rest in a nameless file in $TMPDIR (or /tmp), where changed metadata waits too.  What has left
 * cannot be read or changed: DREP_ERR_UNSUPPORTED_OPERATION; after the commit, DREP_ERR_FAILED.
 *
 * The descriptor belongs to the caller and stays open; it may be non-blocking.  It is written to
 * from wherever it stands, and synced with the commit if it can be.  Ignore SIGPIPE, so that a
 * reader that goes away is an error and not the end of the process.  Additional errors: DREP_ERR_IO
 * and DREP_ERR_NO_SPACE, from any call that writes. */
DREP_API int drep_create_stream(int fd, const char *datarep, drep_file *like, const drep_info *info,
                                drep_file **out);
/* Opens the last commit.  The path may be a URL that begins with http://, https:// or s3://, for
 * reading; it needs datarep-http.so, a part of this library that stands beside it or in its
 * directory datarep (DREP_ERR_UNSUPPORTED: it is not installed).  What is read is the version of
 * the file that was opened: DREP_ERR_STALE if another one is there now; open it again.  Messages
 * have a URL without its user part and query.  datarep-remote(7) says more.
 *
 * DREP_RDONLY: a snapshot.  DREP_RDWR: the only writer
 * (else DREP_ERR_FILE_IN_USE, at once or after the seconds of the hint drep_lock_wait; also while
 * ranks of a parallel job still write whose rank 0 has ended, which the message says).  Other
 * errors: DREP_ERR_NOT_DREP, DREP_ERR_VERSION (any but 1.x from 1.1 on, and 0.5),
 * DREP_ERR_UNSUPPORTED (the file needs a feature that is unknown here; with DREP_RDWR also one
 * without which it can be read; the message says which, and what wrote it), DREP_ERR_CHECKSUM,
 * DREP_ERR_FORMAT, DREP_ERR_TRUNCATE.  A file of a later version stays one when it is changed, and
 * keeps what only that version knows.  A representation that is not known here is no error: its
 * datasets open, and only calls that convert their elements fail. */
DREP_API int drep_open(const char *path, int amode, const drep_info *info, drep_file **out);
/* Opens a container in memory, read-only; `image` must outlive it. */
DREP_API int drep_open_image(const void *image, size_t size, const drep_info *info,
                             drep_file **out);

/* Files behind a program's own functions: in memory that it shares, in a part of another file, in a
 * store of objects, behind a network.
 *
 * A driver reads and writes bytes at offsets.  Each function gets the `state` that the program
 * passed with the driver, and returns 0 or DREP_ERR_IO, _NO_SPACE, _ACCESS, _READ_ONLY, _NOMEM,
 * _TRUNCATE, _STALE, _FILE_IN_USE or _UNSUPPORTED_OPERATION (any other value counts as
 * DREP_ERR_IO).  The call that needed the bytes then fails with that code; its message names the
 * file, the object and the byte, and says what the function said with drep_error_set().  Reads and
 * writes are whole: a part of them is a failure.
 *
 * Several threads may call read_many and write_at at once, for bytes that do not overlap; while
 * another function runs, none does.  A function must not use the file that it serves. */
typedef struct drep_range {
    uint64_t offset; /* in the file */
    size_t size;
    void *buf;
} drep_range;
typedef struct drep_driver {
    size_t size; /* set by DREP_DRIVER(...) */
    /* Required.  Fills the buffers of n ranges, which ascend and do not overlap; DREP_ERR_TRUNCATE
     * for bytes beyond the end.  The fewer round trips the better. */
    int (*read_many)(void *state, const drep_range *range, size_t n);
    int (*file_size)(void *state, uint64_t *size); /* required: bytes of the file */
    /* NULL: the file can only be read.  Writing behind the end makes the file longer; what no write
     * has reached is zeros. */
    int (*write_at)(void *state, const void *buf, size_t size, uint64_t offset);
    int (*truncate)(void *state, uint64_t size); /* required with write_at: sets the size */
    int (*sync)(void *state); /* what was written is durable when it returns; NULL: it is anyway */
    /* NULL, or both: locks of single bytes, between 2^62-1 and 2^63 (with the hint drep_lock_wait
     * from 2^61 on), which need not exist in the file.  how: 0 release, 1 shared, 2 exclusive.
     * Never waits: DREP_ERR_FILE_IN_USE.  A second lock of the same state replaces its first.
     * locked: *held = 1 if another state holds any of the bytes [first, first + count), exclusively
     * or not.  Without locks the program sees to it that there is one writer, and readers may
     * become stale (drep_refresh()). */
    int (*lock)(void *state, uint64_t byte, int how);
    int (*locked)(void *state, uint64_t first, uint64_t count, int *held);
    void (*close)(void *state); /* the last call, with this state; gives locks up (NULL: nothing) */
    /* What a round trip costs, in bytes that could be moved meanwhile: 0 for memory or a local
     * disk, 1,000,000 for 50 ms at 20 MB/s.  If it is not 0, the first read takes first_read bytes
     * (65536 is a good value; less than 8192 counts as that), and what will be needed is read
     * together (hint drep_fetch_size). */
    uint64_t round_trip;
    size_t first_read;
} drep_driver;
#define DREP_DRIVER(...) DREP_SIZED(drep_driver, __VA_ARGS__)

/* Opens the last commit of a file behind a driver, like drep_open().  The driver is copied; the
 * state must live until `close`, which is called when the file is closed, or before this call
 * returns an error other than DREP_ERR_ARG, DREP_ERR_AMODE.  In a forked child the handle is of no
 * use: DREP_ERR_STALE, and `close` is not called there.  name: for messages, NULL: "(driver)".
 * A driver that waits for a network may give up with DREP_ERR_TIMEOUT, as with any other error of
 * input and output: the call that needed the bytes gives it, too.
 * Errors: those of drep_open(); DREP_ERR_ARG (a required function is missing). */
DREP_API int drep_open_driver(const drep_driver *driver, void *state, const char *name, int amode,
                              const drep_info *info, drep_file **out);
/* Creates a container in a file behind a driver, which must be empty (else DREP_ERR_FILE_EXISTS),
 * like drep_create(); but it is written in place: before the first commit it is no Datarep file. */
DREP_API int drep_create_driver(const drep_driver *driver, void *state, const char *name,
                                const char *datarep, const drep_info *info, drep_file **out);
/* Makes all changes since the last commit durable, atomically; if there are none,
 * no commit is made.  A failed call leaves no changes, so this commits the successful calls,
 * even after failures.  If the commit fails, the transaction stays open and may be committed
 * again (DREP_ERR_NO_SPACE: once there is space; DREP_ERR_FILE_IN_USE: a new file would
 * replace one that a handle writes to; DREP_ERR_FILE_EXISTS, DREP_ERR_ACCESS,
 * DREP_ERR_NO_SUCH_FILE: a new file did not get its name; DREP_ERR_STALE: the file was removed or
 * replaced).  The handle becomes unusable only if a sync or, not for want of space, the write of a
 * header slot failed, so that the state of the disk is unknown, if a failed call could not be
 * rolled back, or if appended elements could not be written (drep_append()): from then on every
 * call that writes, and this one, gives DREP_ERR_FAILED with the reason; the file is the last
 * commit or, after a failed sync, this one.
 *
 * Committed space is not overwritten.  A chunk with any change moves as a whole
 * to free space, once in a transaction (contiguous: a slab of a page; about 1 MiB where functions
 * convert, and where a box changes every fourth slab or more); its old space is reused by the next
 * transaction but one, or as soon as no reader and no commit that drep_keep keeps needs it.  For
 * any number of commits, unfiltered data thus takes, in addition to its own size, the chunks that
 * two transactions changed, a few chunks for unsuitable gaps, and, if one call rewrites more than 4
 * MiB that the transaction has changed already, the chunks of that call.  Data that changes
 * completely in each transaction takes three times its size, four times with such calls. */
DREP_API int drep_commit(drep_file *file);
/* Commits and closes.  A call that failed has left nothing, so the calls that succeeded are
 * committed whatever failed between them; but then, if a call that writes has failed since the
 * last commit (or the opening), the result and drep_error() are those of the first such failure,
 * and the message ends in "what succeeded was committed".  Refused calls do not count: those
 * inside callbacks (above) and those with an error about arguments, DREP_ERR_ARG, _AMODE,
 * _READ_ONLY, _UNSUPPORTED..., _VALUE_TOO_LARGE, _TYPE, _COUNT, _DIMS, _RANGE, _NOT_FOUND, _EXISTS,
 * _KIND, _NAME, _LIMIT, _BUFFER; DREP_ERR_CONVERSION does count.
 *
 * Nothing is committed, and a new file does not appear, if that commit fails, whose error is the
 * result, if the handle has become unusable (drep_commit(); the result is the failure that made it
 * so), or if a call has failed, a commit included, and the hint drep_close is "abandon", for
 * programs that want all of a checkpoint or none of it (the result is the first failure).  Programs
 * that must tell these cases apart without reading the message call drep_commit() first.
 * drep_abandon() is for those that want nothing.
 *
 * The handle is freed, whatever the result, except inside a callback.  NULL: 0. */
DREP_API int drep_close(drep_file *file);
/* Closes without committing: changes since the last commit are lost, whatever has succeeded. */
DREP_API void drep_abandon(drep_file *file);

/* Readers and earlier commits.  One handle writes, any number read, in this process and in
 * others, without waiting for each other.  A reader sees the commit it opened, even while others
 * are written: a lock on the number of that commit prevents writers from reusing its space while
 * the handle is open.  The system drops the lock when the process ends.  If the
 * file system has no such locks (a lock fails, other than because another process has one;
 * drep_get_info() then gives drep_lock as "false") or the hint
 * drep_lock is "false", writers reuse the space: a reader that falls two commits behind
 * may find its snapshot overwritten.  It detects this by the checksums and fails with
 * DREP_ERR_STALE (so leave drep_verify on); then call drep_refresh().  Without locks the caller
 * must also exclude a second writer. */

/* Moves a handle opened for reading to the newest commit, with its open datasets: their shapes
 * and values are those of that commit from then on; calls on a dataset removed there fail with
 * DREP_ERR_NOT_FOUND.  Views follow their datasets.  On failure the handle stays at its old
 * commit.  A handle that writes is at the newest commit already.  Waits for calls of other threads
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
 * may be newer than the handle's) last.  A writer keeps the last N commits if the hint
 * drep_keep is N (default 2: the newest and the one before).  Non-zero stops the walk and
 * becomes its result; fn may use the file.  DREP_ERR_NOMEM, DREP_ERR_IO, DREP_ERR_STALE. */
DREP_API int drep_log(drep_file *file, drep_log_fn *fn, void *ctx);
/* Opens an earlier commit; its space is kept while the handle is open.  amode: DREP_RDONLY, also
 * with DREP_HEADER_ONLY.  sequence 0: the newest.  DREP_ERR_NOT_FOUND if it is no longer kept;
 * and the errors of drep_open(). */
DREP_API int drep_open_commit(const char *path, int amode, uint64_t sequence, const drep_info *info,
                              drep_file **out);

/* Contents of the header.  Strings are borrowed: they live as long as the handle. */
typedef struct drep_header {
    size_t size;         /* set by DREP_HEADER */
    const char *datarep; /* the default one: that of datasets whose creator asked for no other */
    const char *form;    /* its form, as in drep_repinfo */
    const char *writer;  /* library and version */
    const char *machine; /* that created the file */
    int version_major, version_minor;
    uint64_t sequence; /* of the commit that is open */
    int64_t time;      /* of that commit, nanoseconds since 1970 */
    uint8_t uuid[16];
    uint64_t end;     /* end of allocated space, bytes */
    int damaged_slot; /* 0: none; 1 or 2: that header slot is damaged */
} drep_header;
#define DREP_HEADER DREP_SIZED(drep_header, )
DREP_API int drep_header_get(const drep_file *file, drep_header *out);
/* The data representations of a file.  Each dataset has one of them.  Numbers ascend; 0 is the
 * default.  Two may have one name (native, of two machines). */
typedef struct drep_repinfo {
    int number; /* drep_dsinfo.datarep_number */
    const char *name;
    const char *form;    /* "table" (built in or stored in the header), "code", or "unknown": it was
                            written by a newer version, as was every dataset under it */
    const char *machine; /* that added it; "" if nobody says */
    int structs;         /* compounds lie as the C structs of that machine */
} drep_repinfo;
#define DREP_MAX_DATAREPS 65536 /* of a file: too many for an array on a stack */
/* Stores at most `max` of them; *n is their total number.  DREP_ERR_ARG. */
DREP_API int drep_header_datareps(const drep_file *file, drep_repinfo *list, int max, int *n);
/* The table of file extents of representation `number`: the predefined types in use, and their
 * encodings if the form is "table".  *rows is borrowed until the next call with that number.
 * DREP_ERR_NOT_FOUND: the file has no such representation. */
DREP_API int drep_header_types(const drep_file *file, int number, const drep_encoding **rows,
                               int *n);
/* The hints stored in the header, in a new object for the caller to free. */
DREP_API int drep_header_hints(const drep_file *file, drep_info **out);
/* The custom scalars that rows of the table refer to; *scalars is borrowed.  DREP_ERR_NOT_FOUND. */
DREP_API int drep_header_scalars(const drep_file *file, int number, const drep_scalar **scalars,
                                 int *n);
/* The access mode of the handle (MPI 5.0, 14.2.7, MPI_File_get_amode): DREP_RDONLY, also with
 * DREP_HEADER_ONLY, or DREP_RDWR.  DREP_EXCL only acts when a file is made, and is not kept. */
DREP_API int drep_get_amode(const drep_file *file, int *amode);
/* Gets all supported hints with the values in effect, in a new object for the caller
 * to free; sets those in `info`, except those that act only when a file is opened.  Hints for
 * several processes (cb_nodes and others) are stored, but one process has their defaults; where
 * ranks share the file, they act as they were when it was opened. */
DREP_API int drep_get_info(const drep_file *file, drep_info **out);
DREP_API int drep_set_info(drep_file *file, const drep_info *info);

/* ------------------------------------------------------- groups and objects */

/* Objects are named by paths: "/a/b"; a leading slash may be left out.  A name
 * is 1..1,023 bytes of UTF-8 without "/" and NUL, not "." or "..". */
enum drep_objkind {
    DREP_OBJ_GROUP = 1,
    DREP_OBJ_DATASET = 2,
    DREP_OBJ_TYPE = 3,
    DREP_OBJ_DIMENSION = 4,
    DREP_OBJ_UNKNOWN = 255 /* written by a newer version: it has attributes, the rest is unknown */
};
enum drep_linkkind {
    DREP_LINK_HARD = 1,
    DREP_LINK_SOFT = 2,
    DREP_LINK_EXTERNAL = 3,
    DREP_LINK_UNKNOWN = 255 /* written by a newer version: it leads nowhere */
};

typedef struct drep_objinfo {
    size_t size; /* set by DREP_OBJINFO */
    int kind;    /* enum drep_objkind */
    uint64_t id;
    uint32_t links; /* hard links to it */
    int64_t attrs;
    int64_t members;   /* groups */
    int64_t len;       /* dimensions */
    int unlimited;     /* dimensions */
    int number, flags; /* DREP_OBJ_UNKNOWN: its kind and its flags, one of which is unknown here;
                          number is -1 if a value is beyond the limits of this version */
} drep_objinfo;
#define DREP_OBJINFO DREP_SIZED(drep_objinfo, )

/* Follows links.  The message of DREP_ERR_NOT_FOUND names the missing part. */
DREP_API int drep_stat(drep_file *file, const char *path, drep_objinfo *out);
/* Tells what `path` leads to: *kind is one of enum drep_objkind, or 0 if there is nothing, which is
 * not an error here and leaves drep_error() alone; a soft link that leads nowhere is nothing. */
DREP_API int drep_exists(drep_file *file, const char *path, int *kind);
/* One path of the object with this id, malloc'ed. */
DREP_API int drep_object_path(drep_file *file, uint64_t id, char **path);

/* parents: also make missing parent groups. */
DREP_API int drep_group_create(drep_file *file, const char *path, int parents);
/* Makes a named datatype; reads the datatype of one (new reference). */
DREP_API int drep_type_commit(drep_file *file, const char *path, const drep_type *type);
DREP_API int drep_type_open(drep_file *file, const char *path, drep_type **out);

DREP_API int drep_link_hard(drep_file *file, const char *target, const char *path);
DREP_API int drep_link_soft(drep_file *file, const char *target, const char *path);
/* Makes a link to an object of another file: a regular file in or below the directory of this one,
 * named by a relative path without ".." and reached through no symbolic link.  The target need
 * not exist.  If the opener allows it (hint drep_external), calls that read continue in that
 * file, at most 8 links deep: drep_stat, drep_list, drep_type_open, drep_dataset_open and those
 * of attributes.  It is opened for reading once and belongs to this handle; drep_refresh() moves
 * it too, to its own newest commit.  Errors of following: DREP_ERR_UNSUPPORTED_OPERATION (not
 * allowed; or a call that writes), DREP_ERR_ACCESS (a target outside the directory),
 * DREP_ERR_LIMIT, those of drep_open(). */
DREP_API int drep_link_external(drep_file *file, const char *other_file, const char *target,
                                const char *path);
/* Removes a link; an object is removed with its last hard link, a group with all objects that
 * have no other. */
DREP_API int drep_link_remove(drep_file *file, const char *path);
DREP_API int drep_link_move(drep_file *file, const char *from, const char *to);

typedef struct drep_linkinfo {
    const char *name;        /* valid during the call */
    int link;                /* enum drep_linkkind */
    int kind;                /* enum drep_objkind of a hard link's object, else 0 */
    uint64_t id;             /* that object's id, else 0 */
    const char *target;      /* soft, external: the path; else NULL */
    const char *target_file; /* external; else NULL */
    int number, flags; /* of an unknown link: its kind (-1: its name is too long for this version)
                          and flags in the file; number also of an object of unknown kind; else 0 */
    uint64_t index;    /* of creation; links and dimensions of a group share one order */
} drep_linkinfo;
/* Non-zero stops the walk and becomes its result. */
typedef int drep_list_fn(const drep_linkinfo *link, void *ctx);
enum drep_list_order { DREP_BY_NAME = 0, DREP_BY_CREATION = 1 };
/* Lists the members of a group without reading their objects: a link says the kind of its object.
 * drep_stat() has the counts of links and attributes, and tells an object of a known kind with
 * flags of a newer version.  The callback may use the file, also change it; a handle that reads
 * copies up to 64 links ahead of the callback, which a drep_refresh() there does not change. */
DREP_API int drep_list(drep_file *file, const char *group, int order, drep_list_fn *fn, void *ctx);

/* An object that drep_visit() shows; the texts are valid during the call. */
typedef struct drep_visited {
    const char *path; /* a path from the root, "/g/x"; of a dimension its address, "/g#time" */
    int kind;         /* enum drep_objkind */
    uint64_t id;      /* 0: a dimension whose entry a newer version wrote */
    int number;       /* DREP_OBJ_UNKNOWN: its kind as stored */
} drep_visited;
/* Non-zero stops the walk and becomes its result. */
typedef int drep_visit_fn(const drep_visited *object, void *ctx);
/* Calls fn for the object at `path` and, if that is a group, for every object below it: each
 * once, by the first of its hard links, a group before what it holds, its dimensions before its
 * other members.  order: DREP_BY_NAME or DREP_BY_CREATION, in each group.  Soft and external links
 * are not followed and not shown: drep_list() has them.  fn may use the file, also change it: what
 * it removes is not visited, what it adds to a group that was not visited yet is.  Memory: the
 * names of one group at each level, and a few words for each object.
 * DREP_ERR_NOT_FOUND, and the errors of drep_list(). */
DREP_API int drep_visit(drep_file *file, const char *path, int order, drep_visit_fn *fn, void *ctx);

/* --------------------------------------------------------------- dimensions */

/* A dimension is an object with a length and attributes that datasets share: each dataset may name
 * one for each of its own dimensions (dim_names of drep_spec).  The dimensions of a group have a
 * name space of their own: a dataset may have the name of a dimension, and links never lead to
 * one.  The address of a dimension is the path of its group, "#" and its name: "/g#time", of
 * the root "/#time".  Every call that takes the path of an object that exists takes an address:
 * drep_stat(), drep_attr_...(), drep_copy().  If a link has exactly that path, it goes first;
 * "/g/#time" and "/g//#time" are addresses too, the last of the dimension alone. */

/* Makes a dimension.  path: its address.  When a dataset grows, an unlimited dimension grows with
 * it.  DREP_ERR_NAME (not an address, or an invalid name), DREP_ERR_NOT_FOUND (the group),
 * DREP_ERR_EXISTS, DREP_ERR_DIMS (len < 0 or beyond 2^62). */
DREP_API int drep_dimension_create(drep_file *file, const char *path, int64_t len, int unlimited);
/* Finds a dimension as drep_dataset_create() does for a dataset at `path`: the nearest of
 * that name from `path` upwards.  *address is malloc'ed.  DREP_ERR_NOT_FOUND. */
DREP_API int drep_dimension_find(drep_file *file, const char *path, const char *name,
                                 char **address);
/* Gives the dimension at an address another name in its group, and the place of one that was made
 * last, as drep_link_move() does with a link.  Datasets keep it.
 * DREP_ERR_NOT_FOUND, DREP_ERR_EXISTS, DREP_ERR_NAME. */
DREP_API int drep_dimension_rename(drep_file *file, const char *path, const char *new_name);
/* Makes the dimension at an address unlimited, or fixed (0), and so all datasets along it: their
 * maximum there becomes DREP_UNLIMITED, or their present length, also in open handles.  Elements
 * stay where they are in the file; those of a compact dataset that is to grow become a chunk.
 * DREP_ERR_NOT_FOUND; DREP_ERR_UNSUPPORTED_OPERATION: a dataset, which the message names, cannot
 * change without being copied (drep_copy()): a contiguous one, to grow along another dimension than
 * its first, or one whose filtered chunks are counted over the dimension, in general each but its
 * first; on a file that ranks share, a compact one. */
DREP_API int drep_dimension_set_unlimited(drep_file *file, const char *path, int unlimited);
/* Removes the dimension at an address.  DREP_ERR_NOT_FOUND; DREP_ERR_UNSUPPORTED_OPERATION: a
 * dataset, which the message names, uses it. */
DREP_API int drep_dimension_remove(drep_file *file, const char *path);

typedef struct drep_diminfo {
    const char *name; /* valid during the call */
    const char *path; /* its address; valid during the call */
    uint64_t id;      /* 0: a newer version wrote the name, and what it leads to is unknown */
    int64_t len;
    int unlimited;
    int attrs;      /* 0: it has no attributes; 1: it may have some */
    uint64_t index; /* of creation; links and dimensions of a group share one order */
    int kind;       /* DREP_OBJ_DIMENSION, or DREP_OBJ_UNKNOWN: written by a newer version */
    int number;     /* unknown: its kind as stored, or -1 as in drep_objinfo, and its flags */
    int flags;
} drep_diminfo;
/* Non-zero stops the walk and becomes its result. */
typedef int drep_dimension_fn(const drep_diminfo *dimension, void *ctx);
/* Calls fn for the dimensions of a group, without those of the groups above, which its datasets
 * may use too.  order: DREP_BY_NAME or DREP_BY_CREATION.  fn may use the file.
 * DREP_ERR_NOT_FOUND, DREP_ERR_KIND (not a group). */
DREP_API int drep_dimension_list(drep_file *file, const char *group, int order,
                                 drep_dimension_fn *fn, void *ctx);
/* The dataset with the coordinates of the dimension at an address: it has the dimension's name, is
 * in its group, and has it as its only dimension.  *dataset is its path, malloc'ed.
 * DREP_ERR_NOT_FOUND: there is none. */
DREP_API int drep_dimension_coordinate(drep_file *file, const char *path, char **dataset);
/* The ids of further datasets with coordinates, as HDF5's dimension scales can be (each dimension
 * has at most 65,535).  *n: their number; ids gets the first `room` of them.  An id may be of
 * a dataset that was removed: drep_object_path() fails for it. */
DREP_API int drep_dimension_scales(drep_file *file, const char *path, uint64_t *ids, int room,
                                   int *n);
/* Replaces that list.  DREP_ERR_KIND (not datasets), DREP_ERR_COUNT. */
DREP_API int drep_dimension_set_scales(drep_file *file, const char *path, const uint64_t *ids,
                                       int n);

/* --------------------------------------------------------------- attributes */

#define DREP_MAX_RANK 32
#define DREP_NULL_SPACE (-1) /* as a rank: no elements at all */

/* Writes (creates or replaces) an attribute of the object at `path`: rank
 * dimensions (rank 0: one element; dims may then be NULL) of `type` at buf.
 * An attribute is at most 256 MiB. */
DREP_API int drep_attr_write(drep_file *file, const char *path, const char *name,
                             const drep_type *type, int rank, const int64_t *dims, const void *buf);
typedef struct drep_attrinfo {
    size_t size; /* set by DREP_ATTRINFO */
    char name[1024];
    drep_type *type; /* new reference: this machine's type in memory */
    int rank;        /* or DREP_NULL_SPACE */
    int64_t dims[DREP_MAX_RANK];
    int64_t count; /* elements */
    int number,
        flags; /* after DREP_ERR_UNSUPPORTED: the kind and flags of the attribute in the file */
} drep_attrinfo;
#define DREP_ATTRINFO DREP_SIZED(drep_attrinfo, )
/* DREP_ERR_NOT_FOUND; DREP_ERR_UNSUPPORTED: written by a newer version (`number` and `flags` are
 * set, number is -1 if only the datatype is unknown or a value is beyond a limit).
 * drep_attrinfo_release() frees the type. */
DREP_API int drep_attr_info(drep_file *file, const char *path, const char *name,
                            drep_attrinfo *out);
DREP_API void drep_attrinfo_release(drep_attrinfo *info);
/* Reads all elements as `type` into buf.  Its elements have as many data items as those of the
 * attribute, or as several of them; members go by name (drep_xfer).
 * DREP_ERR_NOT_FOUND, DREP_ERR_TYPE,
 * DREP_ERR_CONVERSION (a value does not fit: range strict, drep_xfer),
 * DREP_ERR_COUNT (the items do not fill whole elements of `type`), DREP_ERR_VALUE_TOO_LARGE (the
 * elements would span more than the address space). */
DREP_API int drep_attr_read(drep_file *file, const char *path, const char *name,
                            const drep_type *type, void *buf);
/* How the value is stored, which is in no representation of the file: a row for each predefined
 * datatype that occurs in its type, codes ascending.  At most `max` are stored, *n is their number
 * (0 if there are no elements).  A value means what its row says: that of an INT stored as uint is
 * not negative, and drep_attr_read() as DREP_INT refuses one that an int does not hold.
 * Errors as drep_attr_info(). */
DREP_API int drep_attr_encodings(drep_file *file, const char *path, const char *name,
                                 drep_encoding *rows, int max, int *n);
/* Reads any text: a string of fixed or variable length, CHAR elements of any rank, WCHAR elements.
 * *value is malloc'ed, ends with a NUL, and has no padding; of an attribute without elements it is
 * "".  Bytes of fixed strings and CHAR are given as they are stored, also if they are not UTF-8;
 * vstrings and WCHAR are UTF-8.  DREP_ERR_NOT_FOUND, DREP_ERR_TYPE (not a text), DREP_ERR_COUNT
 * (several strings: drep_attr_read()), DREP_ERR_CONVERSION (a WCHAR that is not a character, a
 * vstring with a NUL). */
DREP_API int drep_attr_read_string(drep_file *file, const char *path, const char *name,
                                   char **value);
/* Reads any one number: an integer, real, enumerated or boolean value of any size, of rank 0 or
 * with all lengths 1.  DREP_ERR_NOT_FOUND, DREP_ERR_TYPE (not a number), DREP_ERR_COUNT (none, or
 * several), DREP_ERR_CONVERSION: an int64_t does not hold exactly this value, or a double, which is
 * rounded, not one of its size. */
DREP_API int drep_attr_read_int64(drep_file *file, const char *path, const char *name,
                                  int64_t *value);
DREP_API int drep_attr_read_double(drep_file *file, const char *path, const char *name,
                                   double *value);
DREP_API int drep_attr_remove(drep_file *file, const char *path, const char *name);
/* Gives an attribute another name.  It keeps its value, as it is stored, and its place in the order
 * of creation.  Atomic; its own name changes nothing.  DREP_ERR_NOT_FOUND, DREP_ERR_EXISTS (the
 * object has an attribute of the new name), DREP_ERR_NAME (not a valid name), DREP_ERR_UNSUPPORTED
 * (written by a newer version). */
DREP_API int drep_attr_rename(drep_file *file, const char *path, const char *name,
                              const char *new_name);
typedef int drep_attr_fn(const char *name, void *ctx);
DREP_API int drep_attr_list(drep_file *file, const char *path, int order, drep_attr_fn *fn,
                            void *ctx);
/* Conveniences: one UTF-8 string, one number.  The string is stored as a vstring, which is netCDF's
 * NC_STRING: nc_get_att_text() and nf90_get_att() do not read it.  What nc_put_att_text() writes,
 * NC_CHAR, is one element of drep_type_string(n, DREP_PAD_NUL), n the bytes of the text:
 *
 *     drep_type_string((int64_t)strlen(text), DREP_PAD_NUL, &type);
 *     drep_attr_write(file, "/sst", "units", type, 0, NULL, text);
 *     drep_type_free(type); */
DREP_API int drep_attr_write_string(drep_file *file, const char *path, const char *name,
                                    const char *value);
DREP_API int drep_attr_write_int64(drep_file *file, const char *path, const char *name,
                                   int64_t value);
DREP_API int drep_attr_write_double(drep_file *file, const char *path, const char *name,
                                    double value);

/* ----------------------------------------------------------------- datasets */

/* Threads may share it for every call; drep_dataset_close() only when no other call uses it any
 * more. */
typedef struct drep_dataset drep_dataset;
#define DREP_UNLIMITED ((int64_t)-1)

enum drep_layout { DREP_LAYOUT_AUTO = 0, DREP_COMPACT = 1, DREP_CONTIGUOUS = 2, DREP_CHUNKED = 3 };

enum drep_filter_id {
    DREP_FILTER_SHUFFLE = 1,
    DREP_FILTER_BITSHUFFLE = 2,
    DREP_FILTER_DELTA = 3,
    DREP_FILTER_DEFLATE = 16,
    DREP_FILTER_ZSTD = 17,
    DREP_FILTER_LZ4 = 18,
    /* Streams as filters of HDF5 frame them, to carry its chunks over (drep_write_stored()). */
    DREP_FILTER_HDF5_LZ4 = 19,        /* parameters: bytes of a block, 0: one */
    DREP_FILTER_LZF = 20,             /* none */
    DREP_FILTER_HDF5_BITSHUFFLE = 21, /* element size, elements of a block, 0 none 2 lz4 3 zstd,
                                         level of zstd */
    DREP_FILTER_BLOSC = 22            /* element size, level, 0 no shuffle 1 bytes 2 bits, number
                                         of the compressor in blosc (without parameters: 1, lz4) */
};
/* The id of user-defined filters, which are identified by name. */
#define DREP_FILTER_USER 32768
/* Plus a number of HDF5's register: a filter of HDF5, by whose rules chunks are encoded.  All
 * filters of a dataset are HDF5's, or none is.  They need not be available: then elements can be
 * neither read nor written (DREP_ERR_UNSUPPORTED), and chunks still go from file to file
 * (drep_read_stored(), drep_copy()).  Not for elements with variable parts or references. */
#define DREP_FILTER_HDF5 65536
typedef struct drep_filter {
    int id;            /* DREP_FILTER_... */
    int level;         /* deflate 1..12, zstd 1..22, lz4 1..12; -1 or 0: 6, 3, 1; HDF5's: 1 if
                          HDF5 may leave it out (H5Z_FLAG_OPTIONAL), else 0; others none */
    int nparams;       /* DREP_FILTER_USER: at most 255, passed to its functions; HDF5's: likewise;
                          ids 19 to 22: all of them, or 0 for a usual choice; else as stored: */
    uint32_t param[8]; /* the first of them; returned by drep_dataset_info(), ignored at creation
                          (shuffle: element size; delta: width, order; compressors: level) */
    const char *name;  /* DREP_FILTER_USER; HDF5's: that of its message, or NULL; else NULL */
    const uint32_t *params; /* all of them: NULL if `param` has them.  drep_dataset_info(): always
                               all, borrowed from the dataset */
} drep_filter;
#define DREP_MAX_FILTERS 32
DREP_API const char *drep_filter_name(int id);    /* NULL if unknown */
DREP_API int drep_filter_from_name(const char *); /* 0 if unknown */
DREP_API int drep_filter_available(int id);       /* 1 if built in */

/* A user-defined filter.  Transforms in_size bytes at `in`, a chunk's payload or the output of
 * the previous filter, into bytes at `out`, which has room for *out_size, and sets
 * *out_size to their number; params are those given at the dataset's creation.  Encoding: output
 * that does not fit is not written, and *out_size set to the bytes needed (0: unknown).
 * Decoding: *out_size is the number of bytes before encoding; any other result is
 * damage.  Unwritten bytes of `out` are zeros.  Must be reentrant; calls with the file that it
 * works for are refused (Callbacks, above).  Non-zero: DREP_ERR_CONVERSION. */
typedef int drep_filter_fn(const uint32_t *params, int nparams, const void *in, size_t in_size,
                           void *out, size_t *out_size, void *extra_state);
/* Registers a filter for the life of this process.  Like a compressor, it is skipped for a
 * chunk that it does not make smaller, unless DREP_FILTER_KEEP requires that it is always
 * applied; then it may produce at most 2 * in_size + 65,520 bytes.  encode NULL: chunks can
 * only be read.  A file stores the filter's name and parameters: a process without the filter
 * can do everything but read or write those chunks (DREP_ERR_UNSUPPORTED naming it).
 * Plugins may provide filters like data representations: NAME.so (drep_plugin_path).
 * The name is a hint, so that names should be those of domains, reversed ("org.example.thin"); the
 * proof is a sum of the encoder's input in front of each stream (SPEC.md, R8.51).  What the encoder
 * made is therefore decoded at once, and must be the input again (DREP_ERR_CONVERSION).  Reading
 * compares the sum with what the decoder gave, and another filter of the same name, or another
 * version, is DREP_ERR_CHECKSUM.  DREP_FILTER_NO_SUM stores none, and then nothing is decoded to
 * write: for lossy filters, whose decoder gives other bytes than there were, and where a sum would
 * tell of a secret.
 * DREP_ERR_EXISTS, DREP_ERR_NAME (empty or too long), DREP_ERR_ARG (no decode), DREP_ERR_NOMEM.
 * Thread safe. */
#define DREP_MAX_FILTER_NAME 128 /* with the NUL */
enum drep_filter_flags { DREP_FILTER_KEEP = 1, DREP_FILTER_NO_SUM = 2 };
DREP_API int drep_register_filter(const char *name, drep_filter_fn *encode, drep_filter_fn *decode,
                                  void *extra_state, unsigned flags);

enum drep_fill { DREP_FILL_DEFAULT = 0, DREP_FILL_VALUE = 1, DREP_FILL_NONE = 2 };

/* Specification of a new dataset: DREP_SPEC(.type = DREP_DOUBLE).  Pointers are only read during
 * the call.  What contradicts itself is refused with DREP_ERR_ARG: dims, maxdims, dim_names or
 * chunk with rank 0; a fill_value that `fill` does not ask for; filters without nfilters; a chunk
 * for a layout without chunks.
 *
 * Chunks that nobody chose have what the dataset has when it is made, but at most 1 MiB, to which
 * it is halved: first along dimensions that may grow, down to single records, then along the
 * longest of the others.  Along dimensions that may grow they have at least 8 KiB.  A dataset that
 * grows along its first dimension, without filters, has its last chunk stored as far as it is used,
 * if that is at most 1 MiB, and if no other dimension has several chunks. */
typedef struct drep_spec {
    size_t size;           /* set by DREP_SPEC(...) */
    const drep_type *type; /* of one element in memory; required */
    /* The data representation of its elements: NULL, the file's default; else a name as for
     * drep_create(), or one that the file has.  One with an equal table counts as the same. */
    const char *datarep;
    int rank; /* 0..32, or DREP_NULL_SPACE */
    const int64_t *dims;
    const int64_t *maxdims;       /* NULL: dims; DREP_UNLIMITED allowed */
    const char *const *dim_names; /* NULL, or a dimension's name for each (NULL: none): looked
                                     up from the dataset's group upwards, made in that group
                                     with this length if not found, unlimited if maxdims
                                     is; or its address */
    int layout;                   /* enum drep_layout; AUTO chooses */
    const int64_t *chunk;         /* chunked: elements per dimension; NULL chooses (above) */
    const drep_filter *filters;
    int nfilters;
    int fill;               /* enum drep_fill */
    const void *fill_value; /* one element of type, DREP_FILL_VALUE: rounded to the file's
                               representation.  CF readers look for an attribute
                               _FillValue: write it, too */
    int placed; /* 0: members of structs are packed, or under `native` lie as in C; 1: they keep
                   the offsets, and structs the extent, that they have in type, gaps as zeros */
} drep_spec;
#define DREP_SPEC(...) DREP_SIZED(drep_spec, __VA_ARGS__)

/* Makes a dataset at `path`, without elements that anybody wrote, and opens it.  Groups above it
 * are not made: DREP_ERR_NOT_FOUND (drep_group_create() makes them).
 * Errors: DREP_ERR_EXISTS, DREP_ERR_TYPE (or placed members that have no room, as the
 * representation stores them), DREP_ERR_DIMS, DREP_ERR_ARG, DREP_ERR_LIMIT (also a fill value for
 * an element of more than drep_limit_chunk bytes, or of more than 1 MiB and 16 times the value's
 * own bytes), DREP_ERR_CONVERSION (the file's representation cannot hold the fill value). */
DREP_API int drep_dataset_create(drep_file *file, const char *path, const drep_spec *spec,
                                 drep_dataset **out); /* out may be NULL */
/* Where functions of its representation are absent a dataset opens, too: its shape, type, storage,
 * attributes and stored chunks can be read; reading and writing its elements, and views of it, give
 * DREP_ERR_UNSUPPORTED_DATAREP (SPEC.md, R3.11).  Functions that are registered later count from
 * the next opening on.  Errors: DREP_ERR_NOT_FOUND, DREP_ERR_KIND, DREP_ERR_UNSUPPORTED_DATAREP (a
 * representation of a form that only a newer version knows). */
DREP_API int drep_dataset_open(drep_file *file, const char *path, drep_dataset **out);
/* May be called before or after its file is closed. */
DREP_API void drep_dataset_close(drep_dataset *dataset);

typedef struct drep_dsinfo {
    size_t size; /* set by DREP_DSINFO */
    uint64_t id;
    const drep_type *type; /* borrowed: this machine's type in memory */
    const char *datarep;   /* the data representation of its elements, borrowed */
    int datarep_number;    /* among those of the file: drep_header_datareps() */
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
    /* Number of the commit that last changed its elements, shape, type or fill (not its attributes
     * or names; SPEC.md, R7.20): equal elements have equal numbers in two commits of one file.
     * After changes since the last commit it is that of the next one; on a file that ranks share,
     * where others may have written, only once that is made. */
    uint64_t changed;
} drep_dsinfo;
#define DREP_DSINFO DREP_SIZED(drep_dsinfo, )
DREP_API int drep_dataset_info(drep_dataset *dataset, drep_dsinfo *out);
/* The type whose structs have the offsets and extents that they have in the file, to make another
 * dataset like it with drep_spec.placed (new reference).  *type = NULL if members lie as they do
 * without `placed`, or where they have no room in memory, as they are longer here. */
DREP_API int drep_dataset_placed(drep_dataset *dataset, drep_type **type);

/* Count what is stored of a dataset.  This reads the index of all its chunks, which
 * drep_dataset_info() does not.
 * Chunks that a newer version wrote are not counted.  DREP_ERR_FORMAT, DREP_ERR_CHECKSUM. */
typedef struct drep_dsusage {
    size_t size;       /* set by DREP_DSUSAGE */
    int64_t bytes;     /* payload in the file, without checksums */
    int64_t chunks;    /* compact, contiguous: pieces of the payload that are stored */
    int64_t undecoded; /* chunks that their writer did not decode (DREP_STORED_UNDECODED) */
} drep_dsusage;
#define DREP_DSUSAGE DREP_SIZED(drep_dsusage, )
DREP_API int drep_dataset_usage(drep_dataset *dataset, drep_dsusage *out);
/* The fill value as one element of `type` (equal number of items, or members by name; NULL: the
 * info's type), variable-length parts malloc'ed.  Written are the bytes of its true extent. */
DREP_API int drep_dataset_fill(drep_dataset *dataset, const drep_type *type, void *value);
/* How it is stored, as drep_attr_encodings() says; *n = 0 if the dataset has none of its own. */
DREP_API int drep_dataset_fill_encodings(drep_dataset *dataset, drep_encoding *rows, int max,
                                         int *n);
DREP_API int drep_dataset_resize(drep_dataset *dataset, const int64_t *dims);
/* Grows the dataset by n along dimension `dim` and writes the new elements: a block of the
 * dataset's shape with length n in that dimension, in row-major order, as drep_write() takes
 * it.  Atomic.  Errors of drep_dataset_resize() and drep_write().
 *
 * After an append that failed, for whatever reason, the dataset takes no other through this handle
 * of the file (DREP_ERR_FAILED), so that a loop which goes on does not shift it against datasets
 * beside it.  A successful drep_commit() ends that, and so does drep_dataset_resize() of the
 * dataset, also to the shape that it has: it says where appending goes on.
 *
 * Small appends wait in memory, up to 64 KiB for each dataset and 16 MiB for each file, in
 * addition to what else a handle costs.  The call converts the elements; its range, the shape and
 * all limits are settled then, and only I/O is delayed.  The elements go into the file when
 * that memory is full, and before any other call that uses the file (drep_read() of any handle,
 * drep_commit(), drep_close()): nobody misses them.  drep_dataset_info() counts them and writes
 * none.  drep_abandon() drops them.  If they cannot be
 * written then, that call fails with the error, whose message names the dataset and the elements.
 * DREP_ERR_NO_SPACE: they go on waiting, and calls that use the file fail so until there is space.
 * After any other error (DREP_ERR_IO, DREP_ERR_NOMEM, ...) they are lost, and from then on every
 * call that writes gives DREP_ERR_FAILED with that reason.  What may not be lost so late: commit.
 * Elements of variable length, and those that a user's functions convert, do not wait.
 *
 * On a file that ranks share: DREP_ERR_UNSUPPORTED_OPERATION.  There all ranks give the dataset its
 * new shape (drep_dataset_resize()), then write the new elements (<datarep-mpi.h>). */
DREP_API int drep_append(drep_dataset *dataset, int dim, int64_t n, const drep_type *type,
                         const void *buf, const drep_xfer *xfer);
/* Calls fn for each stored chunk of the current shape, in grid order, with the coordinates of
 * its first element (contiguous: one number, its row-major index); elements outside all chunks
 * read as fill.  fn may read the dataset; a non-zero return stops the walk and
 * becomes its result.  DREP_ERR_KIND: compact, or no elements. */
typedef int drep_chunk_fn(const int64_t *start, void *ctx);
DREP_API int drep_dataset_chunks(drep_dataset *dataset, drep_chunk_fn *fn, void *ctx);

/* Chunks as they are stored, for programs that copy them to or from a file that has the same
 * filters, without decoding them.  start: indices of the chunk's first element (NULL: rank 0), each
 * a multiple of the chunk's length and inside the shape, else DREP_ERR_RANGE.  DREP_ERR_KIND: the
 * dataset is not chunked.  A chunk always holds all its elements, also those outside the shape.
 *
 * drep_read_stored() gives the *size bytes of one chunk, verified by its sum; 0: nothing is stored.
 * buf has room for `room` bytes (DREP_ERR_BUFFER, with *size set); NULL: only the size is wanted.
 * Bit i of *skipped (may be NULL): filter i was not applied to it.
 *
 * drep_write_stored() makes these bytes the chunk.  They are summed, but not decoded: it is the
 * caller who knows that the dataset's filters give what these bytes are, and that the elements are
 * in the dataset's representation (drep_stored_as()).  A wrong chunk is DREP_ERR_FORMAT when it is
 * read or checked; one that nobody has decoded says so (DREP_STORED_UNDECODED), and is counted by
 * drep_dataset_usage() and by check.  DREP_ERR_ARG: no bytes, filters that the dataset does not
 * have, or a chunk that skipped all and is longer than its elements; DREP_ERR_LIMIT: beyond the
 * hint drep_chunk_max. Filters need not be available. */
DREP_API int drep_read_stored(drep_dataset *dataset, const int64_t *start, void *buf, int64_t room,
                              int64_t *size, uint32_t *skipped);
/* DEFERRED: in drep_write_external(), as drep_checksum=deferred; without effect elsewhere. */
enum drep_stored_flags { DREP_STORED_UNDECODED = 1, DREP_STORED_DEFERRED = 2 };
DREP_API int drep_write_stored(drep_dataset *dataset, const int64_t *start, const void *buf,
                               int64_t size, uint32_t skipped, unsigned flags);
/* Where elements are stored, for indices of a file that other programs read without this library.
 *
 * Chunked: the bytes of the whole chunk that has the element at `start`, which drep_read_stored()
 * would give.  Contiguous: the bytes from that element on that follow each other in the file, at
 * most to the dataset's end; the next are found from `bytes` / drep_dsinfo.element_size elements
 * further on.  start: an index in each dimension (NULL: rank 0), else DREP_ERR_RANGE.
 *
 * The bytes are there for whoever reads the commit that is open, and may move with the next one.
 * A chunk may be stored short: elements behind its last byte are fill, also where filters give less
 * than a whole chunk.  DREP_ERR_NOT_FOUND: nothing is stored there, the element is fill.
 * DREP_ERR_NOT_COMMITTED: the dataset has changes since the last commit, some of which may be in
 * memory only.  DREP_ERR_KIND: a compact dataset, whose elements are among the metadata, or one of
 * null space.  DREP_ERR_UNSUPPORTED: a newer version stored it.  On a file that ranks write
 * together DREP_ERR_UNSUPPORTED_OPERATION. */
typedef struct drep_stored {
    size_t size;      /* set by DREP_STORED */
    int64_t offset;   /* of the first byte in the file that has them */
    int64_t bytes;    /* as they are stored, after filters */
    uint32_t skipped; /* bit i: filter i was not applied */
    unsigned flags;   /* enum drep_stored_flags */
    int external;     /* 1: they are in another file, whose */
    uint32_t number;  /* number in drep_external_list() this is; 0: in this one */
} drep_stored;
#define DREP_STORED DREP_SIZED(drep_stored, )
DREP_API int drep_stored_at(drep_dataset *dataset, const int64_t *start, drep_stored *out);
/* Chunks whose stored bytes stay in other files, as those of a dataset of HDF5 may.
 *
 * drep_external_add() names such a file by its path relative to the directory of this one, with its
 * size, its time and a digest of its head; *number is what drep_write_external() takes.  A file
 * that is named already keeps its number while these are the same.  It is a regular file in or
 * below that directory, reached through no symbolic link.  drep_write_external() makes `size` bytes
 * at `offset` of it the stored bytes of the chunk at `start`, as drep_write_stored() does with
 * bytes in memory.  Their checksum is the one that the other file has for them, if that is a
 * container and they are exactly a chunk of it as it is stored (unfiltered: of at most 4 KiB); else
 * the bytes are read once, or, with DREP_STORED_DEFERRED or the hint drep_checksum=deferred, the
 * checksum is left out until drep_seal().  Every later read checks the size of the file, the digest
 * and the checksum, of a chunk without one the time of the file, in seconds: a file that is missing
 * or has changed is an error that names it.  Writing elements of such a chunk gives the dataset a
 * chunk of its own.
 *
 * Whoever opens the container must allow it (hint drep_external), else reading such chunks is
 * DREP_ERR_UNSUPPORTED_OPERATION.  Errors: that one also in both calls; DREP_ERR_NAME (not a
 * relative path that leads down), DREP_ERR_NO_SUCH_FILE, DREP_ERR_ACCESS (no regular file, or a
 * symbolic link), DREP_ERR_CHECKSUM (the file has changed), DREP_ERR_RANGE (bytes outside it), and
 * those of drep_write_stored(). */
DREP_API int drep_external_add(drep_file *file, const char *path, uint32_t *number);
/* Like drep_external_add(), with a text that is another one when the file is, as who keeps the file
 * gives it: an ETag, or "sha256:" and the digest in hexadecimal digits.  At most 1,023 bytes of
 * UTF-8; NULL or "": unknown.  It is stored, never computed from the file; a file with another
 * version gets another number.  DREP_ERR_ARG: it is too long, or no UTF-8. */
DREP_API int drep_external_add_version(drep_file *file, const char *path, const char *version,
                                       uint32_t *number);
/* Says which version the file has now.  If it was added with another one, its chunks that have no
 * checksum are DREP_ERR_CHECKSUM from now on, until another call says otherwise; chunks with one,
 * and files that were added without a version, are read as before.  Holds for this handle, until it
 * is closed.  DREP_ERR_ARG (no text, or as above), DREP_ERR_RANGE (no file of that number). */
DREP_API int drep_external_version(drep_file *file, uint32_t number, const char *version);
DREP_API int drep_write_external(drep_dataset *dataset, const int64_t *start, uint32_t number,
                                 int64_t offset, int64_t size, uint32_t skipped, unsigned flags);
typedef struct drep_external {
    uint32_t number;
    const char *path;    /* or a URI; valid during the call */
    int64_t size;        /* bytes of the whole file */
    int64_t time;        /* when it was changed last, in seconds since 1970; 0: unknown */
    const char *version; /* as drep_external_add_version() takes it; "": unknown; likewise valid */
} drep_external;
/* Calls fn for each other file that chunks may be in.  A non-zero return ends the walk and becomes
 * its result.  DREP_ERR_FORMAT. */
typedef int drep_external_fn(const drep_external *external, void *ctx);
DREP_API int drep_external_list(drep_file *file, drep_external_fn *fn, void *ctx);
/* *same is 1 if elements of `type` in memory are byte for byte those of the dataset before its
 * filters, members and gaps included, so that neither reading nor writing converts; else 0, also
 * where elements have variable parts or a user's functions convert. */
DREP_API int drep_stored_as(drep_dataset *dataset, const drep_type *type, int *same);
/* *same is 1 if equal elements of two datasets, of one file or of two, are the same bytes before
 * filters: their types, and the encodings of all items, are the same (of functions: name and
 * witnesses).  Then a stored chunk of one is a chunk of the other, if both have its shape and its
 * filters.  *same is 0 where elements have variable parts or are references. */
DREP_API int drep_stored_alike(drep_dataset *a, drep_dataset *b, int *same);

/* Maps the elements of a contiguous dataset without a copy: *data has
 * *size bytes, in row-major order, readable until drep_dataset_unmap() or until the dataset
 * is closed.  The mapping survives drep_close() and drep_abandon() of the file, but the snapshot
 * does not: from then on a writer may reuse the space of that commit, so the bytes may
 * change; an image (drep_open_image()) must still outlive the mapping.  The first call verifies
 * all checksums; flags: DREP_MAP_UNVERIFIED skips this.  On a handle that writes, a later
 * write to the dataset may or may not show in the mapping.  If the medium becomes unreadable
 * later, access raises a signal (SIGBUS), not an error.
 * DREP_ERR_UNSUPPORTED_OPERATION names the reason: the stored form differs from that of memory
 * (another byte order or size, another layout of members, references, variable length), the
 * elements are not in one run (chunked, compact, not all written, or split by a later overwrite:
 * `datarep convert` repairs that), or the driver cannot map; DREP_ERR_CHECKSUM. */
enum drep_map_flags { DREP_MAP_UNVERIFIED = 1 };
DREP_API int drep_dataset_map(drep_dataset *dataset, unsigned flags, const void **data,
                              size_t *size);
/* DREP_ERR_ARG: `data` is not a mapping of this dataset. */
DREP_API int drep_dataset_unmap(drep_dataset *dataset, const void *data);

/* A set of elements.  Immutable: threads may share it.  NULL always means all.  A box selects
 * count[d] blocks of block[d] elements, stride[d] apart from start[d]; stride and block NULL: 1. */
typedef struct drep_selection drep_selection;
DREP_API int drep_select_box(int rank, const int64_t *start, const int64_t *count,
                             const int64_t *stride, const int64_t *block, drep_selection **out);
/* n points of rank coordinates each, in the order of transfer.  Without points, nothing is
 * selected, also of a scalar (rank 0). */
DREP_API int drep_select_points(int rank, int64_t n, const int64_t *coords, drep_selection **out);
/* The union of two boxes or unions: each element once, in row-major order, as
 * in HDF5.  At most 65,536 boxes in total.  DREP_ERR_DIMS (ranks that differ, rank 0),
 * DREP_ERR_UNSUPPORTED_OPERATION (points, which have an order), DREP_ERR_LIMIT. */
DREP_API int drep_select_union(const drep_selection *a, const drep_selection *b,
                               drep_selection **out);
/* Makes the box that a text describes, as NumPy and `datarep dump` write it, in an array of these
 * dimensions: "[0,10:20,::2]".  Each part is an index or a range START:STOP:STEP, whose numbers may
 * be left out; negative ones count from the end; a stop beyond the end means the end; STEP is
 * positive.  "..." and missing parts at the end mean all of their dimensions.  Names of dimensions
 * are not known here, but to the command alone.  DREP_ERR_SYNTAX with the column in the message,
 * DREP_ERR_RANGE (an index outside), DREP_ERR_DIMS (too many parts). */
DREP_API int drep_select_parse(const char *text, int rank, const int64_t *dims,
                               drep_selection **out);
/* Describes a selection that is a box, in its rank of numbers each, for which arrays of
 * DREP_MAX_RANK have room; each may be NULL.  Equal sets have equal numbers: neighbouring blocks
 * are one.  single: 1 where drep_select_parse() found one index instead of a range, so that
 * programs may leave this dimension out of their result.  DREP_ERR_UNSUPPORTED_OPERATION: points or
 * a union. */
DREP_API int drep_selection_box(const drep_selection *sel, int *rank, int64_t *start,
                                int64_t *count, int64_t *stride, int64_t *block, int *single);
DREP_API int64_t drep_selection_count(const drep_selection *sel);
DREP_API void drep_selection_free(drep_selection *sel);

/* Reads or writes the selected elements, in row-major order of the selection (points: in
 * their order), into or from consecutive elements of `type` at buf; type NULL: the
 * dataset's.  Members of compounds go by name (drep_xfer).  An element of `type` has as many data
 * items as one of the dataset, or as several (the layout of a block in memory, which the selection
 * fills a whole number of times): so n elements reach n extents of `type` at most, whatever is
 * stored.  Other numbers, as of three numbers for each struct of three, are DREP_ERR_TYPE, which
 * names both types, unless xfer->buf_size tells the bytes at buf, which the call then observes.
 * Equal signatures are converted by representation, others by value (DREP_ERR_TYPE where no value
 * conversion exists).  A write becomes visible to others at the next commit; one that fails changes
 * nothing, and drep_close() gives its error after it has committed the rest.
 * Errors: DREP_ERR_RANGE, DREP_ERR_CONVERSION, DREP_ERR_CHECKSUM (object and byte), DREP_ERR_COUNT,
 * DREP_ERR_VALUE_TOO_LARGE (the elements at buf would span more than the address space),
 * DREP_ERR_READ_ONLY, DREP_ERR_FAILED. */
DREP_API int drep_read(drep_dataset *dataset, const drep_selection *sel, const drep_type *type,
                       void *buf, const drep_xfer *xfer);
DREP_API int drep_write(drep_dataset *dataset, const drep_selection *sel, const drep_type *type,
                        const void *buf, const drep_xfer *xfer);

/* Like drep_read() and drep_write(), of the box of count[d] elements from start[d] on, d up to the
 * dataset's rank.  start NULL: from the first; count NULL: up to the last. */
DREP_API int drep_read_box(drep_dataset *dataset, const int64_t *start, const int64_t *count,
                           const drep_type *type, void *buf, const drep_xfer *xfer);
DREP_API int drep_write_box(drep_dataset *dataset, const int64_t *start, const int64_t *count,
                            const drep_type *type, const void *buf, const drep_xfer *xfer);

/* One of the values that drep_readv() reads; zero-initialise, then set. */
typedef struct drep_item {
    const char *path;      /* of a dataset, or with attr of any object */
    const char *attr;      /* an attribute of it; NULL: elements of the dataset */
    const char *select;    /* as for drep_select_parse(); NULL: all elements */
    const drep_type *type; /* in memory; NULL: the stored one's */
    void *buf;             /* gets the elements, as of drep_read() or drep_attr_read() */
    size_t buf_size;       /* bytes there, 0: not known (as of drep_xfer) */
    int err;               /* gets this item's result */
} drep_item;
/* Reads n datasets, parts of them, or attributes, in order, without opening handles and all from
 * the same commit, except those that external links lead to.  An item that fails does not stop the
 * others: the call returns the error of the first that does, with its message, and each has its own
 * in `err`.  xfer: range (of attributes, too), threads and a report of all items, without indices;
 * its buf_size is not used.  Errors of an item: those of drep_dataset_open(), drep_select_parse()
 * and drep_read(), or of drep_attr_read(); DREP_ERR_BUFFER. */
DREP_API int drep_readv(drep_file *file, drep_item *items, int n, const drep_xfer *xfer);

/* --------------------------------------------------------------- long calls */

/* Called while a call goes on, by the thread that made the call, at most 20 times a second.  done:
 * bytes that were moved or verified so far, of elements as they are before filters; total: how many
 * there will be, 0: not known.  Non-zero stops the call: DREP_ERR_STOPPED.  It may use the file as
 * other functions that the call calls may (Callbacks, above). */
typedef int drep_progress_fn(int64_t done, int64_t total, void *ctx);
/* Sets the function that long calls of this thread tell how far they are; NULL, as at first: none.
 * These do: drep_read(), drep_read_box(), drep_readv(), drep_write(), drep_write_box(),
 * drep_read_at(), drep_write_at(), drep_copy(), drep_check(), drep_repair(), drep_seal().  Those of
 * less than 50 ms or of less than 64 KiB do not, and no call inside another one does.  No call
 * comes at the end: `done` need not reach `total`.  After a stop the contents of a read's buffer
 * are undefined, but hold nothing to be freed; of a write or a copy nothing is in the file;
 * drep_write_at() to a file without a header has written the items that it counts; what drep_seal()
 * computed is kept; drep_repair() has left new_path as it was.  drep_append(), drep_commit() and
 * drep_close() go to their ends, and so do calls with a file that several ranks share. */
DREP_API void drep_progress(drep_progress_fn *fn, void *ctx);

/* ------------------------------------------------------------------- copies */

/* drep_copying.datarep: each copy has the data representation of its source, which is added to the
 * file where needed. */
#define DREP_DATAREP_STORED "stored"
/* Options of drep_copy(): DREP_COPYING(.datarep = "external32").  The functions run while both
 * files are in use: calls with them are refused (Callbacks, above).  A non-zero return stops the
 * copy and becomes its result. */
typedef struct drep_copying {
    size_t size; /* set by DREP_COPYING(...) */
    int range;   /* DREP_RANGE_...: values that the other representation cannot hold;
                    DREP_RANGE_DEFAULT: strict */
    int threads; /* 0: those of the file that is written; 1: only the caller's */
    /* Of the copies of datasets: a name as in drep_spec, or DREP_DATAREP_STORED.  NULL: the default
     * of `to`, or, within one file, that of the source. */
    const char *datarep;
    /* Called with the id in `from` before each dataset is made: may change layout,
     * chunk, filters and nfilters of the spec, which describe its current storage, and set its
     * datarep, in place of the one above; pointers that it stores must stay valid until the next
     * call.  NULL: nothing changes. */
    int (*plan)(uint64_t id, drep_spec *spec, void *ctx);
    /* Called for each dataset with losses (report without indices); may be NULL. */
    int (*lost)(uint64_t id, const drep_report *report, void *ctx);
    /* NULL: anything that a newer version wrote, and that cannot be copied without knowing it,
     * fails the copy with DREP_ERR_UNSUPPORTED or DREP_ERR_UNSUPPORTED_DATAREP.  Else it is left
     * out, and this is called with the id in `from` of the object that it belongs to and a message.
     * Left out are: links, attributes and dimensions; whole objects, with all links to them, which
     * are told each; references to those become null in another file, and so does a dataset's
     * dimension. `plan` may be called once more for a dataset. */
    int (*left_out)(uint64_t id, const char *message, void *ctx);
    /* Called with the number of payload bytes as they are written; may be NULL. */
    int (*progress)(int64_t bytes, void *ctx);
    void *ctx;
    drep_report *report; /* total of all datasets, without indices; may be NULL */
    /* 1: chunks of datasets that keep their storage stay in the other files that they are in
     * (drep_external_add), which nobody opens; both files must be in one directory, else
     * DREP_ERR_UNSUPPORTED_OPERATION.  0: they become chunks of the copy. */
    int external;
    /* Called for each unknown tag of what is copied, with the id in `from` of the first object that
     * has it (0: the file) and a message: entries and header records of such tags are never copied,
     * as they may be false of the copy.  NULL: they are left out without a word. */
    int (*unknown)(uint64_t id, const char *message, void *ctx);
    /* Called with the id in `from` of each dataset whose chunks this copy would have to decode, but
     * for want of a filter cannot, and with the reason: the copy has its layout, chunks, filters
     * and representation, whatever `plan` and `datarep` say, and its chunks as they are stored.
     * NULL: such a dataset fails the copy with DREP_ERR_UNSUPPORTED. */
    int (*kept)(uint64_t id, const char *message, void *ctx);
    /* Not 0: the id in `from` of a dimension.  Its copy is unlimited and has length 0, and so have
     * the copies of its datasets along it: they have no elements, and grow by
     * drep_dataset_resize().  `plan` sees the shape of the source. */
    uint64_t emptied;
    /* NULL: all.  Else `path` is a dataset, `to` another file, and the copy has these elements
     * alone: a box without blocks.  Its lengths are those of the box, and so are its maxima where
     * they were lengths; a dimension that is cut is found or made with the new length; chunks are
     * no longer than that.  `plan` sees the new shape. */
    const drep_selection *selection;
} drep_copying;
#define DREP_COPYING(...) DREP_SIZED(drep_copying, __VA_ARGS__)
/* Copies the object at `path` of `from`, a group with all objects reachable by hard links below
 * it, to `new_path` of `to`, which may be the same file.  Attributes, creation order, hard links
 * among the copied objects, soft and external links are kept.  Placed members (drep_spec.placed)
 * keep their offsets, unless the representation of the copy has no room for them there.  Elements
 * with equal encodings in both files are copied as bytes (of functions: equal name and witnesses;
 * they need not be registered), others are converted, directly if tables of encodings describe
 * both.  References to objects outside the copy are kept within one file and become null in
 * another.  Dimensions outside it are kept within one file; in another the nearest of the name from
 * new_path upwards is taken, if it has the length or is unlimited, and else one is made in the
 * group of the copy.  A dimension's new_path is an address.  "/" to "/" copies a whole file into an
 * empty one (ids are kept too; representation and hints are those of `to`).
 * DREP_ERR_UNSUPPORTED: an unknown feature makes `from` read-only, so that what is known may be
 * false of a copy; with left_out that is told.  The filter delta is dropped if the size of its
 * numbers changes.  Memory: 12 bytes for each hard link below path, nothing for "/" to "/"; with
 * left_out about 50 for each.  Atomic.  Errors: DREP_ERR_EXISTS (new_path, or `to` is not empty),
 * DREP_ERR_NOT_FOUND, DREP_ERR_CONVERSION, DREP_ERR_DIMS (a dimension there is too short),
 * DREP_ERR_RANGE and DREP_ERR_UNSUPPORTED_OPERATION (of a selection),
 * DREP_ERR_LIMIT (a filtered chunk; see drep_chunk_max and drep_limit_chunk), DREP_ERR_CHECKSUM. */
DREP_API int drep_copy(drep_file *from, const char *path, drep_file *to, const char *new_path,
                       const drep_copying *how);

/* -------------------------------------------------------------------- views */

/* MPI's view of a file (MPI 5.0, 14.3): access to a headerless file, or to the elements of a
 * dataset as one sequence, through a displacement, an etype, a filetype and a
 * data representation.  A view belongs to one thread at a time: a call that begins while another
 * one with the same view goes on, on any thread, fails with DREP_ERR_ARG and changes nothing.
 * Threads that work at the same time open a view each; drep_view_get_amode() is always allowed. */
typedef struct drep_view drep_view;

/* Opens a headerless file with the initial view (0, BYTE, BYTE, "native").
 * amode: DREP_RDONLY, or DREP_RDWR, which makes the file if it does not exist (with
 * DREP_EXCL it must not).  info: cb_buffer_size is the staging size, file_perm applies
 * when the file is made.  Items less than 16 KiB apart are read together with the bytes between
 * them; items less than 4 KiB apart are written together with those bytes, as they stand in the
 * file.  Each range that is written is locked meanwhile (an OFD lock), so that views, and MPI
 * programs whose library locks what it sieves, lose nothing of what they write beside each other.
 * A program that writes between the items without a lock at that time may lose it: drep_lock=false
 * writes nothing but items, as does a file system without locks. */
DREP_API int drep_view_raw(const char *path, int amode, const drep_info *info, drep_view **out);
/* Likewise of a file behind a program's own functions (drep_driver, above), or of one that is open:
 * a duplicate of `fd` is used, so that its locks are those of its open file description.
 * amode: DREP_RDONLY or DREP_RDWR.  A driver has no locks for what is written: nothing but items
 * is. Its `truncate`, `lock` and `locked` are not called, its state is closed with the view, or
 * before this call returns an error other than DREP_ERR_ARG and DREP_ERR_AMODE.  A descriptor that
 * is open for writing alone may write items that lie back to back; write sieving reads, so give it
 * drep_lock=false.  name: for messages, NULL: "(driver)", "(descriptor)".
 * DREP_ERR_ARG (a function is missing; the descriptor is not open for that, or appends),
 * DREP_ERR_ACCESS (not a regular file). */
DREP_API int drep_view_driver(const drep_driver *driver, void *state, const char *name, int amode,
                              const drep_info *info, drep_view **out);
DREP_API int drep_view_descriptor(int fd, const char *name, int amode, const drep_info *info,
                                  drep_view **out);
/* Opens the row-major sequence of a dataset's elements, unfiltered and packed, in its
 * representation, with the initial view (0, element type, element type).  The view keeps the
 * dataset, which may be closed before it.  DREP_ERR_TYPE for variable-length types. */
DREP_API int drep_view_dataset(drep_dataset *dataset, drep_view **out);
/* Sets the view; the offsets of later calls count from it.  disp: bytes, never scaled.
 * filetype: etype, or built of whole etypes.  Displacements and extents of portable
 * types scale to their sizes in the file; byte displacements are not scaled.
 * datarep NULL keeps the current one; a dataset accepts no other name, and
 * its displacement is a multiple of the packed element and its etype the element type
 * or its one repeated item.  info: as at opening, may be NULL.
 * DREP_ERR_UNSUPPORTED_DATAREP, DREP_ERR_TYPE (negative or decreasing displacements,
 * filetype not built of etypes, overlap in a writable view), DREP_ERR_ARG.  On failure the old
 * view stays (MPI 5.0, 14.3.1). */
DREP_API int drep_view_set(drep_view *view, int64_t disp, const drep_type *etype,
                           const drep_type *filetype, const char *datarep, const drep_info *info);
/* Gets the view.  The types are new references; datarep has room for DREP_MAX_DATAREP_STRING
 * bytes.  Each may be NULL. */
DREP_API int drep_view_get(const drep_view *view, int64_t *disp, drep_type **etype,
                           drep_type **filetype, char *datarep);
/* The access mode: DREP_RDONLY or DREP_RDWR, of a dataset's view that of its file. */
DREP_API int drep_view_get_amode(const drep_view *view, int *amode);
/* Bytes from one element of `type` to the next under the view's representation. */
DREP_API int drep_view_type_extent(const drep_view *view, const drep_type *type, int64_t *extent);
/* Offset of etype number `offset` of the view, in bytes from the file's start. */
DREP_API int drep_view_byte_offset(const drep_view *view, int64_t offset, int64_t *bytes);
/* The filetype as bytes in the file: `count` blocks of `size` bytes, the first at `offset` from the
 * displacement, each `stride` bytes after the one before it. */
typedef struct drep_file_run {
    int64_t offset, size, count, stride; /* stride = size if count is 1 */
} drep_file_run;
/* The runs of one filetype, in the order of its items; the next one is *extent bytes further.
 * Adjacent items share a block, equal blocks at equal distances a run.  Stores at most `max`, *n is
 * their total number.  DREP_ERR_TYPE, and of functions what their extent function gives. */
DREP_API int drep_view_runs(drep_view *view, drep_file_run *runs, int64_t max, int64_t *n,
                            int64_t *extent);
/* Whole etypes from the view's start to the end of the file. */
DREP_API int drep_view_size(drep_view *view, int64_t *etypes);
/* Reads or writes `count` elements of `type` at buf, beginning at etype number `offset`.  The items
 * of `type` must be those of the view, in order.  Values out of range wrap unless xfer->range says
 * otherwise. *items (may be NULL): data items transferred;
 * fewer than requested if a read reaches the end of the file, or if an error stops a
 * write in the middle (of a dataset: 0, the write is rolled back).  No byte after the last whole
 * item is touched.  DREP_ERR_COUNT (a negative offset or count), DREP_ERR_VALUE_TOO_LARGE (more
 * elements than any memory holds, or they end beyond 2^63 bytes in the file),
 * DREP_ERR_TYPE, DREP_ERR_READ_ONLY. */
DREP_API int drep_read_at(drep_view *view, int64_t offset, void *buf, int64_t count,
                          const drep_type *type, const drep_xfer *xfer, int64_t *items);
DREP_API int drep_write_at(drep_view *view, int64_t offset, const void *buf, int64_t count,
                           const drep_type *type, const drep_xfer *xfer, int64_t *items);
DREP_API int drep_view_close(drep_view *view);

/* ------------------------------------------------------------------- checks */

/* Verifies every reference and checksum of the open commit; on a handle that writes, the last
 * commit: later changes are not verified, and before the first commit there are no
 * findings.  deep: also decodes every chunk, finds LZ4 matches at distance 0 (which reads of bytes
 * with a right checksum take as zeros), and converts every element; where the functions of a
 * dataset's representation are absent, DREP_ERR_UNSUPPORTED_DATAREP is a finding that says so.
 * Not deep: a filtered chunk is held against its checksum, not decoded, so one that was damaged
 * before it was written is no finding.  DREP_ERR_UNSUPPORTED_OPERATION: deep, and the file was
 * opened with DREP_HEADER_ONLY.
 * fn is called with each finding; *findings counts them.  With err 0 fn is told
 * of what a newer version wrote and is not accounted for here: no fault, and not counted. */
typedef int drep_finding_fn(int err, uint64_t offset, const char *message, void *ctx);
DREP_API int drep_check(drep_file *file, int deep, drep_finding_fn *fn, void *ctx,
                        int64_t *findings);

/* Calls fn for every leaked extent, which is allocated but unreferenced: an interrupted
 * writer may leave some.  They do no harm; a copy of the file
 * has none.  If metadata is damaged, leaks cannot be found and fn is not called.  Non-zero stops
 * the walk and becomes its result. */
typedef int drep_leak_fn(uint64_t offset, uint64_t length, void *ctx);
DREP_API int drep_leaks(drep_file *file, drep_leak_fn *fn, void *ctx);

/* Calls fn for every dataset with payload that has no checksum (drep_checksum=deferred), which
 * drep_check() therefore cannot verify: one path of it ("object 7" if it has none), and the
 * number of such blocks, of 4 KiB or, in other files, of one chunk each.  drep_seal() computes
 * the checksums.  Non-zero stops the walk and becomes its result.  DREP_ERR_ARG, DREP_ERR_NOMEM,
 * DREP_ERR_IO. */
typedef int drep_unsealed_fn(const char *path, int64_t blocks, void *ctx);
DREP_API int drep_unsealed(drep_file *file, drep_unsealed_fn *fn, void *ctx);

/* Writes the readable part of a damaged file, which is not changed, into a new one at new_path
 * (amode: 0 or DREP_EXCL; info: hints, also of the new file): the newest commit of which all
 * metadata can be read, from a valid header slot or the log; if there is none, the newest one as
 * far as it can be read, and metadata with a wrong checksum as far as it decodes.  Metadata found
 * beyond that commit, in newer ones or elsewhere in the file, never changes what the commit says:
 * each object of which it says something else is there once more, under its name, in a group
 * "/lost+found" ("lost+found-ID" if that name is taken), with the soft and external links; other
 * links that it has are told, one by one, and left out.  Nothing inside the payload of a commit
 * counts as metadata.  A header slot with one damaged byte is mended.  Damaged payload reads as
 * fill, an unfiltered chunk loses only its damaged blocks of 4 KiB.  Objects that are no longer
 * linked get a link in the root, "lost+found-ID".  fn is called for everything that was lost,
 * changed or in doubt, and for each finding of a check of the new file; *findings (may be NULL)
 * counts the calls: if 0, the new file is complete.  No handle may have the file open.
 * The new file appears at new_path at the end, after it was checked and all findings were
 * reported: after an error new_path is unchanged.  One exception:
 * DREP_ERR_IO with "sync of the directory": the new file exists, but a power failure may undo
 * that.  Errors: DREP_ERR_CHECKSUM (neither header slot can be read),
 * DREP_ERR_UNSUPPORTED_DATAREP, DREP_ERR_STOPPED or the result of fn, those of drep_create(),
 * DREP_ERR_NO_SPACE, DREP_ERR_IO, DREP_ERR_NOMEM. */
DREP_API int drep_repair(const char *path, const char *new_path, int amode, const drep_info *info,
                         drep_finding_fn *fn, void *ctx, int64_t *findings);

/* Computes the checksums that drep_checksum=deferred omitted, from the current payload;
 * from the next commit on it is verified.  *blocks (may be NULL): their number, of 4 KiB
 * each, or of one chunk in another file.  Of such a chunk the bytes are read once, unless the other
 * file is a container that has their checksum (drep_write_external); its size, head and time must
 * be the recorded ones.  Objects and chunks that a newer version wrote are left as they are:
 * drep_check() names them.  After an error, which names dataset and chunk, the call may be
 * repeated; what was computed before it is kept, unless drep_abandon() follows.
 * DREP_ERR_READ_ONLY, DREP_ERR_IO, DREP_ERR_FORMAT, DREP_ERR_LIMIT (a chunk beyond the hint
 * drep_limit_chunk), DREP_ERR_NO_SPACE, DREP_ERR_NOMEM, DREP_ERR_FAILED; for chunks in other files
 * DREP_ERR_UNSUPPORTED_OPERATION (the hint drep_external does not allow it, or the file is named by
 * a URI), DREP_ERR_CHECKSUM (the file has changed), DREP_ERR_NO_SUCH_FILE, DREP_ERR_ACCESS. */
DREP_API int drep_seal(drep_file *file, int64_t *blocks);

/* Space usage of a file, in bytes. */
typedef struct drep_usage {
    size_t size; /* set by DREP_USAGE */
    int64_t file, slots, nodes, blobs, sums, data, free, slack;
    int64_t objects, chunks;
    int64_t absent;   /* blocks of payload, and chunks in other files, without a checksum
                         (drep_checksum=deferred) */
    int64_t external; /* bytes of chunks that are in other files (drep_external_add) */
} drep_usage;
#define DREP_USAGE DREP_SIZED(drep_usage, )
/* Reads the metadata and the checksums, not the payload. */
DREP_API int drep_usage_get(drep_file *file, drep_usage *out);
/* Space usage of one object. */
typedef struct drep_objusage {
    size_t size;      /* set by DREP_OBJUSAGE */
    int64_t metadata; /* its entries in the tree before they are packed into nodes, including a
                         compact dataset's elements */
    int64_t data;     /* payload of its chunks */
    int64_t sums;     /* their checksums, if stored separately */
    int64_t payload;  /* the chunks before filters (without variable parts of filtered ones) */
    int64_t chunks;
    int64_t external; /* payload of chunks that is in other files, in place of data */
} drep_objusage;
#define DREP_OBJUSAGE DREP_SIZED(drep_objusage, )
/* DREP_ERR_NOT_FOUND, DREP_ERR_FORMAT. */
DREP_API int drep_object_usage(drep_file *file, const char *path, drep_objusage *out);

/* ----------------------------------------------------------------- examples */

/* Seven usual programs, without their main().  They include <stdio.h> and <stdlib.h>, too, and
 * check() is that of the first.  share/doc/datarep/examples has the last two as wholes, its
 * folder five the others, beside the same ones for netCDF and HDF5 (sources: tests/examples).
 *
 * Write a field over time, latitude and longitude, with coordinates and units.  Example: grid.
 *
 *     static const char *const names[] = {"time", "lat", "lon"};
 *     static const float lat[3] = {-30, 0, 30}, lon[4] = {0, 90, 180, 270};
 *     static float sst[2][3][4];
 *
 *     static void check(int err)
 *     {
 *         if (err == 0)
 *             return;
 *         fprintf(stderr, "%s\n", drep_error());
 *         exit(1);
 *     }
 *
 *     static void write_grid(const char *path)
 *     {
 *         const int64_t dims[] = {2, 3, 4}, most[] = {DREP_UNLIMITED, 3, 4};
 *         const drep_filter filters[] = {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE}};
 *         drep_spec spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 3, .dims = dims, .maxdims = most,
 *                                    .dim_names = names, .filters = filters, .nfilters = 2);
 *         drep_dataset *v, *y, *x;
 *         drep_file *file;
 *
 *         check(drep_create(path, DREP_RDWR, NULL, NULL, &file));
 *         check(drep_dataset_create(file, "/sst", &spec, &v));
 *         spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 1, .dims = dims + 1);
 *         spec.dim_names = names + 1;
 *         check(drep_dataset_create(file, "/lat", &spec, &y));
 *         spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 1, .dims = dims + 2);
 *         spec.dim_names = names + 2;
 *         check(drep_dataset_create(file, "/lon", &spec, &x));
 *         check(drep_attr_write_string(file, "/", "title", "sea surface temperature"));
 *         check(drep_attr_write_string(file, "/sst", "units", "K"));
 *         check(drep_attr_write_string(file, "/lat", "units", "degrees_north"));
 *         check(drep_attr_write_string(file, "/lon", "units", "degrees_east"));
 *         check(drep_write(v, NULL, DREP_FLOAT, sst, NULL));
 *         check(drep_write(y, NULL, DREP_FLOAT, lat, NULL));
 *         check(drep_write(x, NULL, DREP_FLOAT, lon, NULL));
 *         drep_dataset_close(v);
 *         drep_dataset_close(y);
 *         drep_dataset_close(x);
 *         check(drep_close(file));
 *     }
 *
 * Read rows 1 and 2 of step 1 as doubles, whatever is stored.  Example: slice.
 *
 *     static void read_slice(const char *path, double rows[2][4])
 *     {
 *         drep_item item = {.path = "/sst", .select = "[1,1:3]", .type = DREP_DOUBLE, .buf = rows};
 *         drep_file *file;
 *
 *         check(drep_open(path, DREP_RDONLY, NULL, &file));
 *         check(drep_readv(file, &item, 1, NULL));
 *         check(drep_close(file));
 *     }
 *
 * Add a step along an unlimited dimension.  Example: append.
 *
 *     static void append_step(const char *path, const float *step)
 *     {
 *         drep_dataset *v;
 *         drep_file *file;
 *
 *         check(drep_open(path, DREP_RDWR, NULL, &file));
 *         check(drep_dataset_open(file, "/sst", &v));
 *         check(drep_append(v, 0, 1, DREP_FLOAT, step, NULL));
 *         drep_dataset_close(v);
 *         check(drep_close(file));
 *     }
 *
 * Read texts and numbers that others wrote, and write some.  Example: attributes.
 *
 *     static void show_attributes(const char *path)
 *     {
 *         char *title, *units;
 *         int64_t version;
 *         drep_file *file;
 *         double factor;
 *
 *         check(drep_open(path, DREP_RDWR, NULL, &file));
 *         check(drep_attr_read_string(file, "/", "title", &title));
 *         check(drep_attr_read_string(file, "/sst", "units", &units));
 *         check(drep_attr_write_double(file, "/sst", "scale_factor", 0.01));
 *         check(drep_attr_write_int64(file, "/", "version", 3));
 *         check(drep_attr_read_double(file, "/sst", "scale_factor", &factor));
 *         check(drep_attr_read_int64(file, "/", "version", &version));
 *         check(drep_close(file));
 *         printf("%s, %s, %g, %d\n", title, units, factor, (int)version);
 *         free(title);
 *         free(units);
 *     }
 *
 * List any file: drep_visit() calls show_object for each object.  Example: unknown.
 *
 *     struct place {
 *         drep_file *file;
 *         const char *path;
 *     };
 *
 *     static int show_attribute(const char *name, void *ctx)
 *     {
 *         const struct place *at = ctx;
 *         double number;
 *         char *text;
 *
 *         if (drep_attr_read_string(at->file, at->path, name, &text) == 0) {
 *             printf("%s: %s = %s\n", at->path, name, text);
 *             free(text);
 *         } else if (drep_attr_read_double(at->file, at->path, name, &number) == 0) {
 *             printf("%s: %s = %g\n", at->path, name, number);
 *         } else {
 *             printf("%s: %s\n", at->path, name);
 *         }
 *         return 0;
 *     }
 *
 *     static int show_object(const drep_visited *object, void *ctx)
 *     {
 *         struct place at = {ctx, object->path};
 *         drep_dataset *dataset;
 *         drep_dsinfo info = DREP_DSINFO;
 *         char *type;
 *
 *         if (object->kind == DREP_OBJ_DATASET) {
 *             check(drep_dataset_open(at.file, at.path, &dataset));
 *             check(drep_dataset_info(dataset, &info));
 *             check(drep_type_print(info.type, &type));
 *             printf("%s %s", at.path, type);
 *             for (int d = 0; d < info.rank; d++)
 *                 printf(" %lld", (long long)info.dims[d]);
 *             printf("\n");
 *             free(type);
 *             drep_dataset_close(dataset);
 *         }
 *         check(drep_attr_list(at.file, at.path, DREP_BY_CREATION, show_attribute, &at));
 *         return 0;
 *     }
 *
 * Write a table of structs that grows, and read one column of it as plain numbers: a struct of one
 * member has that member alone in memory.  Example: table.
 *
 *     struct event {
 *         int64_t when;
 *         float temperature;
 *         char place[8];
 *     };
 *
 *     static drep_type *event_type(void)
 *     {
 *         const char *const names[] = {"when", "temperature", "place"};
 *         const int64_t at[] = {offsetof(struct event, when), offsetof(struct event, temperature),
 *                               offsetof(struct event, place)};
 *         const drep_type *members[] = {DREP_INT64_T, DREP_FLOAT, NULL};
 *         drep_type *place, *event;
 *
 *         check(drep_type_string(8, DREP_PAD_NULTERM, &place));
 *         members[2] = place;
 *         check(drep_type_compound(3, names, at, members, sizeof(struct event), &event));
 *         drep_type_free(place);
 *         return event;
 *     }
 *
 *     static void append_events(const char *path, const struct event *events, int64_t n)
 *     {
 *         drep_type *event = event_type();
 *         const int64_t none = 0, most = DREP_UNLIMITED;
 *         drep_spec spec = DREP_SPEC(.type = event, .rank = 1, .dims = &none, .maxdims = &most);
 *         drep_file *file;
 *         drep_dataset *table;
 *
 *         check(drep_create(path, DREP_RDWR | DREP_EXCL, "external32", NULL, &file));
 *         check(drep_dataset_create(file, "/events", &spec, &table));
 *         for (int64_t i = 0; i < n; i++) {
 *             check(drep_append(table, 0, 1, event, &events[i], NULL));
 *             check(drep_commit(file));
 *         }
 *         drep_type_free(event);
 *         drep_dataset_close(table);
 *         check(drep_close(file));
 *     }
 *
 *     static void show_temperatures(const char *path)
 *     {
 *         drep_dsinfo info = DREP_DSINFO;
 *         drep_type *column;
 *         drep_file *file;
 *         drep_dataset *table;
 *         double *t;
 *
 *         check(drep_open(path, DREP_RDONLY, NULL, &file));
 *         check(drep_dataset_open(file, "/events", &table));
 *         check(drep_dataset_info(table, &info));
 *         t = malloc((size_t)info.dims[0] * sizeof *t);
 *         check(drep_type_parse("struct{temperature: DOUBLE}", &column));
 *         check(drep_read(table, NULL, column, t, NULL));
 *         for (int64_t i = 0; i < info.dims[0]; i++)
 *             printf("%g\n", t[i]);
 *         free(t);
 *         drep_type_free(column);
 *         drep_dataset_close(table);
 *         check(drep_close(file));
 *     }
 *
 * Append steps of a simulation to a compressed field, of which each is a chunk.  The dataset makes
 * its dimensions: time is unlimited, as it is in maxdims.  A step that was committed is in the
 * file, whatever happens later.  Then read every third step and every second latitude of the
 * eastern half, as whole numbers; tell() is called while that takes long.  Example: simulation.
 *
 *     enum { STEPS = 24, LAT = 90, LON = 180 };
 *
 *     static void simulate(const char *path)
 *     {
 *         static double field[LAT][LON];
 *         const int64_t dims[] = {0, LAT, LON}, most[] = {DREP_UNLIMITED, LAT, LON};
 *         const int64_t chunk[] = {1, LAT, LON};
 *         const char *const names[] = {"time", "lat", "lon"};
 *         const drep_filter filters[] = {{.id = DREP_FILTER_SHUFFLE},
 *                                        {.id = DREP_FILTER_ZSTD, .level = 3}};
 *         drep_spec spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 3, .dims = dims, .maxdims = most);
 *         drep_dataset *air, *hours;
 *         drep_file *file;
 *
 *         spec.dim_names = names;
 *         spec.chunk = chunk;
 *         spec.filters = filters;
 *         spec.nfilters = 2;
 *         check(drep_create(path, DREP_RDWR, "external32", NULL, &file));
 *         check(drep_dataset_create(file, "/air", &spec, &air));
 *         spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims, .maxdims = most,
 *                          .dim_names = names);
 *         check(drep_dataset_create(file, "/time", &spec, &hours));
 *         check(drep_attr_write_string(file, "/air", "units", "K"));
 *         check(drep_attr_write_string(file, "/time", "units", "hours since 2026-01-01 00:00:00"));
 *         for (int t = 0; t < STEPS; t++) {
 *             const double hour = t;
 *
 *             for (int i = 0; i < LAT * LON; i++)
 *                 field[i / LON][i % LON] = 280 + t + 0.25 * (i % 3);
 *             check(drep_append(air, 0, 1, DREP_DOUBLE, field, NULL));
 *             check(drep_append(hours, 0, 1, DREP_DOUBLE, &hour, NULL));
 *             check(drep_commit(file));
 *         }
 *         drep_dataset_close(air);
 *         drep_dataset_close(hours);
 *         check(drep_close(file));
 *     }
 *
 *     static int tell(int64_t done, int64_t total, void *ctx)
 *     {
 *         (void)ctx;
 *         fprintf(stderr, "%lld of %lld bytes\n", (long long)done, (long long)total);
 *         return 0;
 *     }
 *
 *     static void analyse(const char *path)
 *     {
 *         static int part[STEPS / 3][LAT / 2][LON / 2];
 *         const int64_t start[] = {0, 0, LON / 2}, stride[] = {3, 2, 1};
 *         const int64_t count[] = {STEPS / 3, LAT / 2, LON / 2};
 *         drep_report report = DREP_REPORT;
 *         drep_selection *sel;
 *         drep_dataset *air;
 *         drep_file *file;
 *
 *         check(drep_open(path, DREP_RDONLY, NULL, &file));
 *         check(drep_dataset_open(file, "/air", &air));
 *         check(drep_select_box(3, start, count, stride, NULL, &sel));
 *         drep_progress(tell, NULL);
 *         check(drep_read(air, sel, DREP_INT, part,
 *                         &DREP_XFER(.range = DREP_RANGE_ROUND, .report = &report)));
 *         drep_progress(NULL, NULL);
 *         printf("%lld numbers, %lld of them rounded, from %d to %d\n", (long long)report.items,
 *                (long long)report.inexact, part[0][0][0], part[7][44][89]);
 *         drep_selection_free(sel);
 *         drep_dataset_close(air);
 *         check(drep_close(file));
 *     }
 */

#ifdef __cplusplus
}
#endif
#endif
