# SPDX-License-Identifier: MIT
"""The predefined datatypes (SPEC.md 5.1)."""

from collections import namedtuple

# kind: bytes, char, wchar, integer, real, bool or complex; sizes under external32 and internal.
Predefined = namedtuple("Predefined", "code name kind signed external internal")

_TABLE = """
1 BYTE bytes - 1 1
2 PACKED bytes - 1 1
3 CHAR char - 1 1
4 SIGNED_CHAR integer signed 1 1
5 UNSIGNED_CHAR integer - 1 1
6 SHORT integer signed 2 2
7 UNSIGNED_SHORT integer - 2 2
8 INT integer signed 4 4
9 UNSIGNED integer - 4 4
10 LONG integer signed 4 8
11 UNSIGNED_LONG integer - 4 8
12 LONG_LONG integer signed 8 8
13 UNSIGNED_LONG_LONG integer - 8 8
14 WCHAR wchar - 2 4
15 FLOAT real - 4 4
16 DOUBLE real - 8 8
17 LONG_DOUBLE real - 16 16
18 C_BOOL bool - 1 1
19 INT8_T integer signed 1 1
20 INT16_T integer signed 2 2
21 INT32_T integer signed 4 4
22 INT64_T integer signed 8 8
23 UINT8_T integer - 1 1
24 UINT16_T integer - 2 2
25 UINT32_T integer - 4 4
26 UINT64_T integer - 8 8
27 C_FLOAT_COMPLEX complex - 8 8
28 C_DOUBLE_COMPLEX complex - 16 16
29 C_LONG_DOUBLE_COMPLEX complex - 32 32
30 AINT integer signed 8 8
31 COUNT integer signed 8 8
32 OFFSET integer signed 8 8
33 CXX_BOOL bool - 1 1
34 CXX_FLOAT_COMPLEX complex - 8 8
35 CXX_DOUBLE_COMPLEX complex - 16 16
36 CXX_LONG_DOUBLE_COMPLEX complex - 32 32
37 CHARACTER char - 1 1
38 LOGICAL bool - 4 4
39 INTEGER integer signed 4 4
40 REAL real - 4 4
41 DOUBLE_PRECISION real - 8 8
42 COMPLEX complex - 8 8
43 DOUBLE_COMPLEX complex - 16 16
44 LOGICAL1 bool - 1 1
45 LOGICAL2 bool - 2 2
46 LOGICAL4 bool - 4 4
47 LOGICAL8 bool - 8 8
48 LOGICAL16 bool - 16 16
49 INTEGER1 integer signed 1 1
50 INTEGER2 integer signed 2 2
51 INTEGER4 integer signed 4 4
52 INTEGER8 integer signed 8 8
53 INTEGER16 integer signed 16 16
54 REAL2 real - 2 2
55 REAL4 real - 4 4
56 REAL8 real - 8 8
57 REAL16 real - 16 16
58 COMPLEX4 complex - 4 4
59 COMPLEX8 complex - 8 8
60 COMPLEX16 complex - 16 16
61 COMPLEX32 complex - 32 32
62 FLOAT16 real - 2 2
63 BFLOAT16 real - 2 2
64 FLOAT128 real - 16 16
65 FP8_E4M3 real - 1 1
66 FP8_E5M2 real - 1 1
67 UINT128_T integer - 16 16
68 INT128_T integer signed 16 16
"""

PREDEFINED = {}
for _line in _TABLE.split("\n"):
    if _line:
        _code, _name, _kind, _signed, _external, _internal = _line.split()
        PREDEFINED[int(_code)] = Predefined(int(_code), _name, _kind, _signed == "signed",
                                            int(_external), int(_internal))
