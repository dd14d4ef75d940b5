/* predef.c - the predefined datatypes as this machine's C compiler holds them.
 *
 * Everything is a constant table made from format/types.def: there is nothing to
 * initialise, so nothing that threads could race for. */
/* SPDX-License-Identifier: MIT */
#include "type/type.h"

#include "format/numbers.h"

#include <datarep.h>
#include <string.h>
#include <wchar.h>

/* The C type of each ABI column.  Where the compiler lacks one, the thing of the
 * same size that is nearest. */
struct pair64 {
    uint64_t half[2];
};
typedef uint8_t abi_U8, abi_E4M3, abi_E5M2;
typedef char abi_CHAR;
typedef int8_t abi_I8;
typedef short abi_SHORT;
typedef int abi_INT;
typedef long abi_LONG;
typedef long long abi_LLONG;
typedef wchar_t abi_WCHAR;
typedef float abi_FLOAT;
typedef double abi_DOUBLE;
typedef long double abi_LDOUBLE;
typedef _Bool abi_BOOL;
typedef int16_t abi_I16;
typedef int32_t abi_I32;
typedef int64_t abi_I64;
typedef intptr_t abi_PTR;
typedef uint16_t abi_F16, abi_BF16;
#ifdef __SIZEOF_INT128__
typedef __int128 abi_I128;
#else
typedef struct pair64 abi_I128;
#endif
#if defined(__SIZEOF_FLOAT128__)
typedef __float128 abi_F128;
#elif __LDBL_MANT_DIG__ == 113
typedef long double abi_F128;
#elif defined(__FLT128_MANT_DIG__)
typedef _Float128 abi_F128;
#else
typedef struct pair64 abi_F128;
#endif

/* The alignment inside a struct: on i386 that of a double is 4, whatever _Alignof
 * of some compilers says. */
#define ALIGN_IN_STRUCT(type) \
    offsetof(                 \
        struct {              \
            char c;           \
            type x;           \
        },                    \
        x)

/* Number of its ABI's C type in one item. */
enum {
    PARTS_BYTES = 1,
    PARTS_CHAR = 1,
    PARTS_WCHAR = 1,
    PARTS_INT = 1,
    PARTS_UINT = 1,
    PARTS_BOOL = 1,
    PARTS_REAL = 1,
    PARTS_COMPLEX = 2
};
#define ITEM_SIZE(class, abi) (PARTS_##class * sizeof(abi_##abi))

#define X(name, code, class, ext, internal, abi)                          \
    _Static_assert(DREP_CODE_##name == (code) && (code) <= DREP_CODE_MAX, \
                   "datarep.h and types.def differ");
#include "format/types.def"
#undef X

static const struct drep_type predefined[DREP_CODE_MAX + 1];

/* Nodes are shared with typemaps that others build, whose fields are not const;
 * count 0 keeps everyone from writing to these. */
static const struct node leaf_node[DREP_CODE_MAX + 1] = {
#define X(name, code, class, ext, internal, abi) \
    [code] = {.op = NODE_LEAF,                   \
              .depth = 1,                        \
              .runs = 1,                         \
              .items = 1,                        \
              .count = 1,                        \
              .stride = ITEM_SIZE(class, abi),   \
              .leaf = &predefined[code]},
#include "format/types.def"
#undef X
};

#define CODE_BIT(code, word) ((code) / 64 == (word) ? (uint64_t)1 << ((code) % 64) : 0)

static const struct drep_type predefined[DREP_CODE_MAX + 1] = {
#define X(name_, code_, class, ext, internal, abi)                \
    [code_] = {.kind = DREP_KIND_PREDEFINED,                      \
               .code = (code_),                                   \
               .depth = 1,                                        \
               .portable = true,                                  \
               .codes = {CODE_BIT(code_, 0), CODE_BIT(code_, 1)}, \
               .weight = 1,                                       \
               .size = ITEM_SIZE(class, abi),                     \
               .ub = ITEM_SIZE(class, abi),                       \
               .true_ub = ITEM_SIZE(class, abi),                  \
               .items = 1,                                        \
               .align = ALIGN_IN_STRUCT(abi_##abi),               \
               .prog = {.root = (struct node *)&leaf_node[code_], \
                        .items = 1,                               \
                        .extent = ITEM_SIZE(class, abi),          \
                        .size = ITEM_SIZE(class, abi),            \
                        .depth = 1,                               \
                        .dense = true}},
#include "format/types.def"
#undef X
};

static const struct type_sizes native_sizes = {
    .size =
        {
#define X(name, code, class, ext, internal, abi) [code] = ITEM_SIZE(class, abi),
#include "format/types.def"
#undef X
        },
    .align =
        {
#define X(name, code, class, ext, internal, abi) [code] = ALIGN_IN_STRUCT(abi_##abi),
#include "format/types.def"
#undef X
        },
    .vlen_size = sizeof(drep_vlen),
    .vlen_align = ALIGN_IN_STRUCT(drep_vlen),
    .vstring_size = sizeof(char *),
    .vstring_align = ALIGN_IN_STRUCT(char *),
    .object_size = sizeof(drep_ref),
    .region_size = sizeof(drep_ref),
    .ref_align = ALIGN_IN_STRUCT(drep_ref),
};

const struct type_sizes *type_native_sizes(void)
{
    return &native_sizes;
}

const drep_type *drep_predefined(int code)
{
    if (code < 1 || code > DREP_CODE_MAX || predefined[code].code != code)
        return NULL;
    return &predefined[code];
}

const char *drep_code_name(int code)
{
    return fmt_code_name(code);
}

int drep_code_from_name(const char *name)
{
    /* The standard has two names for these. */
    static const struct {
        const char *name;
        int code;
    } alias[] = {{"C_COMPLEX", DREP_CODE_C_FLOAT_COMPLEX}, {"LONG_LONG_INT", DREP_CODE_LONG_LONG}};

    if (!name)
        return 0;
    for (size_t i = 0; i < sizeof(alias) / sizeof(alias[0]); i++)
        if (strcmp(alias[i].name, name) == 0)
            return alias[i].code;
    return fmt_code_from_name(name);
}
