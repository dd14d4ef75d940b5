/* kern.h - what a kernel is made of.
 *
 * A kernel that only reorders bytes is one move.  Every other one is a short list of
 * passes over a tile of scalars that stays in the first-level cache: load (gather, and
 * make little-endian), one to three passes, store (put in order, scatter).  A pass
 * knows two kinds of scalar and nothing of strides or byte order, so that a few dozen
 * of them, each compiled for several instruction sets, serve every pair of encodings. */
#ifndef KERN_KERN_H
#define KERN_KERN_H

#include "base/isa.h"
#include "scalar/scalar.h"

#include <datarep.h>
#include <stdbool.h>

#define INLINE static inline __attribute__((always_inline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Float hardware that rounds, and treats NaNs, as side.c does. */
#if defined(__x86_64__) || defined(__aarch64__)
#define KERN_FLOAT 1
#endif
/* Is it in its default state: round to nearest, keep subnormals, trap nothing? */
bool kern_float_default(void);

/* ------------------------------------------------------------- scalars */

/* One side of a conversion: how one scalar (part of a complex) lies in its bytes,
 * once they are little-endian. */
enum side_kind { SIDE_INT, SIDE_BOOL, SIDE_REAL, SIDE_PAIR };
struct side {
    enum side_kind kind;
    uint8_t size;               /* bytes of the scalar, padding included */
    bool is_signed, named;      /* named: `format` is one of reals[] */
    uint16_t precision, offset; /* the bits that are the value */
    uint8_t low_pad, high_pad;  /* 1: the others are ones */
    const struct real *format;
    struct real real; /* if not named */
};

/* Sample values of a real format, in the order of witnesses: 0, 1, -2.5, the largest finite
 * number, a quiet NaN.  Writes `size` bytes, little-endian.  DREP_ERR_TYPE if the format is no
 * number or does not fit. */
enum rep_sample { REP_ZERO, REP_ONE, REP_MINUS, REP_LARGEST, REP_NAN };
int rep_sample(int format, int size, enum rep_sample which, uint8_t *out);

/* --------------------------------------------------------------- moves */

/* Reorders the bytes of each unit of an item: mask[i] is where byte i of a unit comes
 * from, 0x80 for zero; where 16 is a multiple of the unit it covers 16 bytes. */
enum move_op { MOVE_COPY, MOVE_REVERSE, MOVE_WORDS, MOVE_MASK };
struct move {
    uint8_t op, unit, size; /* bytes of a unit; of an item */
    uint8_t isa;
    uint8_t mask[32];
};

/* unit: bytes; orders: DREP_BIG...; keep: bit i set if little-endian byte i is not
 * padding. */
void move_init(struct move *m, int unit, int units, int dst_order, int src_order, uint32_t keep);
/* n items; the sides are apart, or the same with equal strides. */
void move_run(const struct move *m, uint8_t *dst, int64_t dst_stride, const uint8_t *src,
              int64_t src_stride, int64_t n);

/* Where rows begin on one side: row r at r * stride, or at list[r]. */
struct pace {
    int64_t stride;
    const int64_t *list; /* NULL: regular */
};
INLINE int64_t pace_at(const struct pace *p, int64_t row)
{
    return p->list ? p->list[row] : row * p->stride;
}
/* `rows` rows of `per` items; as for move_run(). */
struct rows {
    uint8_t *dst;
    const uint8_t *src;
    int64_t dst_step, src_step; /* bytes between the items of a row */
    struct pace dst_pace, src_pace;
    int64_t per, rows;
    /* Numbers in the transfer: of the first item, and how they go on in a row and from
     * row to row. */
    int64_t base, step, row;
};
void move_rows(const struct move *m, const struct rows *r);

/* -------------------------------------------------------------- pieces */

/* An element that only moves bytes, as pieces of 32, 16, 8, 4, 2 and 1 bytes: each one
 * load, one shuffle inside 16 bytes, and one store, and no byte beside them.  Neighbours
 * may overlap. */
enum { PIECES = 256, PIECE_SIZES = 6, SPAN = 64 };
struct piece {
    int32_t to, from;
    uint8_t size, mask[32];
};
/* Where elements are back to back in the target, 16 bytes of one may also come from up to
 * three places, and what is stored behind its end is overwritten by the next. */
enum { GATHERS = 16, GATHER_TERMS = 3 };
struct kern_gather {
    int32_t to, from[GATHER_TERMS];
    uint8_t terms, mask[GATHER_TERMS][16];
};
struct pieces {
    int n[PIECE_SIZES]; /* how many of each size, the largest first */
    int all;
    bool full;
    struct piece piece[PIECES];
    int gathers[GATHER_TERMS]; /* of one term, of two, of three, in this order */
    int64_t packed;            /* 0: no gathers; bytes of an element from its first on */
    struct kern_gather gather[GATHERS];
    /* Units that are neighbours on both sides, on their way into pieces. */
    struct {
        int32_t to, from;
        int size;
        bool begins[SPAN + 1]; /* a unit at this byte */
        uint8_t map[SPAN];
    } span;
};
/* Are there pieces on this processor? */
bool pieces_known(enum isa isa);
void pieces_init(struct pieces *p);
/* `units` units of 1, 2, 4, 8 or 16 bytes, each from as many bytes, by `map` (as a move's
 * mask).  No two go to the same bytes. */
void pieces_add(struct pieces *p, int32_t to, int32_t from, int unit, int units,
                const uint8_t *map);
/* false: they are too many. */
bool pieces_end(struct pieces *p);
/* n elements; the sides are apart. */
void pieces_run(const struct pieces *p, uint8_t *dst, struct pace dst_pace, const uint8_t *src,
                struct pace src_pace, int64_t n);

/* --------------------------------------------------------------- passes */

/* What was lost; refused: what DREP_RANGE_STRICT does not allow. */
struct tally {
    int64_t overflow, inexact, nan_lost, refused;
};

/* n scalars from src to dst, little-endian, back to back, apart. */
struct kernel;
typedef void pass_fn(const struct kernel *k, uint8_t *dst, const uint8_t *src, int64_t n,
                     struct tally *t);
#define PASS_ARGS \
    const struct kernel *k, uint8_t *dst, const uint8_t *src, int64_t n, struct tally *t

enum { PASSES_MAX = 4 };
struct plan {
    int npass; /* 0: one move, `load` */
    uint8_t parts;
    bool loads, stores;  /* load and store do more than copy */
    bool strict, counts; /* stop at what is refused; count what is lost */
    bool clamp;
    bool turned; /* pass[1] does all of it where both sides are dense */
    bool fpu;    /* needs kern_float_default(); else pass_general does it all */
    pass_fn *pass[PASSES_MAX];
    bool look[PASSES_MAX];         /* the pass only looks and writes nothing */
    uint8_t width[PASSES_MAX + 1]; /* bytes of a scalar before and after each */
    struct move load, store;
    int64_t low, high;   /* integers: what the target can hold, in the source's type */
    double below, above; /* reals to integers: the first that are beyond */
    struct side dst, src;
};

/* A kernel converts rows of items.  The sides do not overlap, except that in
 * place (dst == src, equal distances) is allowed when sizes are equal.  Gives 0, or which
 * item STRICT refused, counted from 1 through the rows: the items before it have been
 * written, and nothing behind them. */
typedef int64_t kernel_run_fn(const struct kernel *k, const struct rows *r);
struct kernel {
    kernel_run_fn *run;
    drep_encoding dst, src;
    const drep_scalar *dst_custom, *src_custom;
    int range;
    drep_report *report;
    bool lossless;    /* no value can be refused or reported */
    struct plan plan; /* how  */
};
int64_t kernel_rows(const struct kernel *k, const struct rows *r);
/* One row, numbered from `base` on. */
static inline int64_t kernel_run(const struct kernel *k, void *dst, int64_t dst_stride,
                                 const void *src, int64_t src_stride, int64_t n, int64_t base)
{
    return kernel_rows(k, &(struct rows){.dst = dst,
                                         .src = src,
                                         .dst_step = dst_stride,
                                         .src_step = src_stride,
                                         .per = n,
                                         .rows = 1,
                                         .base = base,
                                         .step = 1});
}
/* If all it does is to move bytes: units of an item, each of `unit` bytes that are those
 * from byte `from` of the source's unit on, reordered by `map`. */
struct bytes {
    int unit, units, from, from_unit;
    uint8_t map[16];
};
bool kernel_bytes(const struct kernel *k, struct bytes *out);

/* The sorts of scalar that have passes of their own. */
enum sort { I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64, OTHER };

/* Each gives NULL where there is no such pass here. */
pass_fn *pass_resize(enum sort dst, enum sort src, enum isa isa); /* integers, wrapping */
/* The one pass that structs are full of, without a tile, where one side's order is turned
 * and items lie apart.  false: not this one. */
bool resize_strided(const struct kernel *k, uint8_t *dst, int64_t dst_stride, const uint8_t *src,
                    int64_t src_stride, int64_t n);
pass_fn *pass_bounds(enum sort src, bool clamp, enum isa isa); /* low..high; else a look */
pass_fn *pass_truth(int size, enum isa isa);                   /* to U8, 0 or 1 */
pass_fn *pass_float(enum sort dst, enum sort src, bool counts, enum isa isa);
bool pass_float_hard(enum sort dst, enum sort src); /* does that one use the float unit? */
/* Unchecked, big-endian on the one side or the other. */
pass_fn *pass_turned(enum sort dst, enum sort src, bool turn_to, enum isa isa);
pass_fn *pass_soft_turned(int dst_format, int src_format, int src_size, bool turn_to, enum isa isa);
pass_fn *pass_pair(bool to_pair, enum isa isa);                   /* F64 and double-double */
pass_fn *pass_soft(int dst_format, int src_format, enum isa isa); /* by number.h */
pass_fn pass_general, pass_to_ebcdic, pass_from_ebcdic;

/* One pass for each instruction set, called with constants: VARIANTS(name, call) makes
 * them, VARIANT(name, isa) chooses. */
#ifdef ISA_X86
#define VARIANTS(name, call)                           \
    static void name##_portable(PASS_ARGS)             \
    {                                                  \
        call;                                          \
    }                                                  \
    TARGET_AVX2 static void name##_avx2(PASS_ARGS)     \
    {                                                  \
        call;                                          \
    }                                                  \
    TARGET_AVX512 static void name##_avx512(PASS_ARGS) \
    {                                                  \
        call;                                          \
    }
#define VARIANT(name, isa) \
    ((isa) == ISA_AVX512 ? name##_avx512 : (isa) == ISA_AVX2 ? name##_avx2 : name##_portable)
#else
#define VARIANTS(name, call)               \
    static void name##_portable(PASS_ARGS) \
    {                                      \
        call;                              \
    }
#define VARIANT(name, isa) ((void)(isa), name##_portable)
#endif

#endif
