# SPDX-License-Identifier: MIT
"""The tables of SPEC.md, section 5, as the writer has them: predefined datatypes, formats of scalars."""

# code: (name, class, signed, size under external32, size under internal)
PREDEFINED = {
    1: ("BYTE", "bytes", True, 1, 1),
    2: ("PACKED", "bytes", True, 1, 1),
    3: ("CHAR", "char", True, 1, 1),
    4: ("SIGNED_CHAR", "integer", True, 1, 1),
    5: ("UNSIGNED_CHAR", "integer", False, 1, 1),
    6: ("SHORT", "integer", True, 2, 2),
    7: ("UNSIGNED_SHORT", "integer", False, 2, 2),
    8: ("INT", "integer", True, 4, 4),
    9: ("UNSIGNED", "integer", False, 4, 4),
    10: ("LONG", "integer", True, 4, 8),
    11: ("UNSIGNED_LONG", "integer", False, 4, 8),
    12: ("LONG_LONG", "integer", True, 8, 8),
    13: ("UNSIGNED_LONG_LONG", "integer", False, 8, 8),
    14: ("WCHAR", "wchar", True, 2, 4),
    15: ("FLOAT", "real", True, 4, 4),
    16: ("DOUBLE", "real", True, 8, 8),
    17: ("LONG_DOUBLE", "real", True, 16, 16),
    18: ("C_BOOL", "boolean", True, 1, 1),
    19: ("INT8_T", "integer", True, 1, 1),
    20: ("INT16_T", "integer", True, 2, 2),
    21: ("INT32_T", "integer", True, 4, 4),
    22: ("INT64_T", "integer", True, 8, 8),
    23: ("UINT8_T", "integer", False, 1, 1),
    24: ("UINT16_T", "integer", False, 2, 2),
    25: ("UINT32_T", "integer", False, 4, 4),
    26: ("UINT64_T", "integer", False, 8, 8),
    27: ("C_FLOAT_COMPLEX", "complex", True, 8, 8),
    28: ("C_DOUBLE_COMPLEX", "complex", True, 16, 16),
    29: ("C_LONG_DOUBLE_COMPLEX", "complex", True, 32, 32),
    30: ("AINT", "integer", True, 8, 8),
    31: ("COUNT", "integer", True, 8, 8),
    32: ("OFFSET", "integer", True, 8, 8),
    33: ("CXX_BOOL", "boolean", True, 1, 1),
    34: ("CXX_FLOAT_COMPLEX", "complex", True, 8, 8),
    35: ("CXX_DOUBLE_COMPLEX", "complex", True, 16, 16),
    36: ("CXX_LONG_DOUBLE_COMPLEX", "complex", True, 32, 32),
    37: ("CHARACTER", "char", True, 1, 1),
    38: ("LOGICAL", "boolean", True, 4, 4),
    39: ("INTEGER", "integer", True, 4, 4),
    40: ("REAL", "real", True, 4, 4),
    41: ("DOUBLE_PRECISION", "real", True, 8, 8),
    42: ("COMPLEX", "complex", True, 8, 8),
    43: ("DOUBLE_COMPLEX", "complex", True, 16, 16),
    44: ("LOGICAL1", "boolean", True, 1, 1),
    45: ("LOGICAL2", "boolean", True, 2, 2),
    46: ("LOGICAL4", "boolean", True, 4, 4),
    47: ("LOGICAL8", "boolean", True, 8, 8),
    48: ("LOGICAL16", "boolean", True, 16, 16),
    49: ("INTEGER1", "integer", True, 1, 1),
    50: ("INTEGER2", "integer", True, 2, 2),
    51: ("INTEGER4", "integer", True, 4, 4),
    52: ("INTEGER8", "integer", True, 8, 8),
    53: ("INTEGER16", "integer", True, 16, 16),
    54: ("REAL2", "real", True, 2, 2),
    55: ("REAL4", "real", True, 4, 4),
    56: ("REAL8", "real", True, 8, 8),
    57: ("REAL16", "real", True, 16, 16),
    58: ("COMPLEX4", "complex", True, 4, 4),
    59: ("COMPLEX8", "complex", True, 8, 8),
    60: ("COMPLEX16", "complex", True, 16, 16),
    61: ("COMPLEX32", "complex", True, 32, 32),
    62: ("FLOAT16", "real", True, 2, 2),
    63: ("BFLOAT16", "real", True, 2, 2),
    64: ("FLOAT128", "real", True, 16, 16),
    65: ("FP8_E4M3", "real", True, 1, 1),
    66: ("FP8_E5M2", "real", True, 1, 1),
    67: ("UINT128_T", "integer", False, 16, 16),
    68: ("INT128_T", "integer", True, 16, 16),
}

CODE_OF = {row[0]: code for code, row in PREDEFINED.items()}

BYTES, INT, UINT, BOOL, CHAR, UNICODE, EBCDIC = 1, 2, 3, 4, 5, 6, 7
BINARY16, BFLOAT16, FP8_E4M3, FP8_E5M2, BINARY32, BINARY64, BINARY128 = range(16, 23)
X87, M68K, DOUBLE_DOUBLE, IBM32, IBM64, IBM128, VAX_F, VAX_D, VAX_G, VAX_H, CRAY64 = range(23, 34)
CUSTOM = 255

# format: (name, class, the sizes it may have)
FORMATS = {
    BYTES: ("bytes", "bytes", range(1, 33)),
    INT: ("int", "integer", range(1, 17)),
    UINT: ("uint", "integer", range(1, 17)),
    BOOL: ("bool", "boolean", range(1, 17)),
    CHAR: ("char", "char", (1,)),
    UNICODE: ("unicode", "wchar", range(1, 5)),
    EBCDIC: ("ebcdic", "char", (1,)),
    BINARY16: ("binary16", "real", (2,)),
    BFLOAT16: ("bfloat16", "real", (2,)),
    FP8_E4M3: ("fp8-e4m3", "real", (1,)),
    FP8_E5M2: ("fp8-e5m2", "real", (1,)),
    BINARY32: ("binary32", "real", (4,)),
    BINARY64: ("binary64", "real", (8,)),
    BINARY128: ("binary128", "real", (16,)),
    X87: ("x87", "real", (10, 12, 16)),
    M68K: ("m68k", "real", (12,)),
    DOUBLE_DOUBLE: ("double-double", "real", (16,)),
    IBM32: ("ibm-hex32", "real", (4,)),
    IBM64: ("ibm-hex64", "real", (8,)),
    IBM128: ("ibm-hex128", "real", (16,)),
    VAX_F: ("vax-f", "real", (4,)),
    VAX_D: ("vax-d", "real", (8,)),
    VAX_G: ("vax-g", "real", (8,)),
    VAX_H: ("vax-h", "real", (16,)),
    CRAY64: ("cray64", "real", (8,)),
    CUSTOM: ("custom", None, range(1, 33)),
}


def standard_table(name):
    """Section 5.3: {code: (format, order, size)} of external32 or internal, of whole items."""
    order = 0 if name == "external32" else 1
    table = {}
    for code, (tname, cls, signed, ext, internal) in PREDEFINED.items():
        size = ext if name == "external32" else internal
        part = size // 2 if cls == "complex" else size
        if tname in ("BFLOAT16", "FP8_E4M3", "FP8_E5M2"):
            form = {"BFLOAT16": BFLOAT16, "FP8_E4M3": FP8_E4M3, "FP8_E5M2": FP8_E5M2}[tname]
        elif cls in ("real", "complex"):
            form = {2: BINARY16, 4: BINARY32, 8: BINARY64, 16: BINARY128}[part]
        else:
            form = {"bytes": BYTES, "char": CHAR, "wchar": UNICODE, "boolean": BOOL,
                    "integer": INT if signed else UINT}[cls]
        table[code] = (form, order, size)
    return table
