#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""generate.py TEMPLATE HEADER KINDS > datarep.f90 - the Fortran module for the kinds of a compiler.

KINDS is what kinds.f90 prints: the kinds of integers, logicals, reals that the compiler has.  A
block between `!$each` and `!$end` stands once for each type of Fortran with these kinds, and, but
for `!$each value`, once more for derived types, whose datatype is an argument.  @EACH:a_,b_@ is
the list of the names a_N and b_N of all types.  @CONSTANTS@ are enumerators of HEADER (datarep.h).
"""

import re
import sys

# Type and kind of Fortran, and the datatype of the MPI standard that it is (datarep.h).
INTEGERS = {1: "INTEGER1", 2: "INTEGER2", 4: "INTEGER4", 8: "INTEGER8", 16: "INTEGER16"}
LOGICALS = {1: "LOGICAL1", 2: "LOGICAL2", 4: "LOGICAL4", 8: "LOGICAL8", 16: "LOGICAL16"}
# Kind 10 is that of x86, which C calls long double.
REALS = {4: "REAL4", 8: "REAL8", 10: "LONG_DOUBLE", 16: "REAL16"}
COMPLEXES = {4: "COMPLEX8", 8: "COMPLEX16", 10: "C_LONG_DOUBLE_COMPLEX", 16: "COMPLEX32"}

# Enumerators of the header that the module has.
CONSTANTS = r"OK|ERR_\w+|RDONLY|RDWR|EXCL|OBJ_\w+|LAYOUT_AUTO|COMPACT|CONTIGUOUS|CHUNKED|RANGE_\w+"


def types_of(kinds, codes):
    """(name, declaration, code, bytes of a value) for each type."""
    rows = []
    for what, table, names in (("integer", INTEGERS, kinds["integer"]), ("logical", LOGICALS, kinds["logical"]),
                               ("real", REALS, kinds["real"]), ("complex", COMPLEXES, kinds["real"])):
        for kind in names:
            if kind in table:
                rows.append(("%s_%d" % (what, kind), "%s(%d)" % (what, kind), codes[table[kind]],
                             "storage_size(value)/8"))
    rows.append(("character", "character(*)", codes["CHARACTER"], "len(value)"))
    return rows


def wrapped(names, indent="        "):
    """A list of names over several lines."""
    lines, line = [], ""
    for name in names:
        if len(line) + len(name) > 88:
            lines.append(line + "&")
            line = indent
        line += name + ", "
    return "\n".join(lines + [line.rstrip(", ")])


def guard(lists, typed):
    """The check of fortran/memory.h for characters where any type may stand; procedures without such have none."""
    arguments = ", ".join((["values=values"] if typed else []) + ([lists] if lists else []))
    if not arguments:
        return ""
    return ("    if (drep_fortran_texts(%s) /= 0) then\n      call drep_settle(int(DREP_ERR_TYPE, c_int), stat)\n      return\n"
            "    end if\n" % arguments)


def block(text, row, typed):
    name, declaration, code, size = row
    text = re.sub(r"^@TLOCAL@\n", "    type(drep_datatype), intent(in) :: type\n"
                  "    character(:), allocatable, target :: type_z\n    type(c_ptr) :: type_p\n" if typed else "",
                  text, flags=re.M)
    text = re.sub(r"^@TSET@\n", "    type_p = drep_c_text(type%text, type_z)\n" if typed else "", text, flags=re.M)
    text = re.sub(r"^@GUARD:([^@]*)@\n", lambda m: guard(m.group(1), typed), text, flags=re.M)
    for key, value in (("N", name), ("DECL", declaration), ("CODE", "int(type%bytes, c_int)" if typed else "%d_c_int" % code), ("BYTES", size),
                       ("TARG", "type, " if typed else ""), ("TYPE", "type_p" if typed else "c_null_ptr")):
        text = text.replace("@%s@" % key, value)
    return text


def main(template, header, kinds_file):
    with open(header, encoding="utf-8") as f:
        c = f.read()
    codes = {k: int(v) for k, v in re.findall(r"DREP_CODE_(\w+) = (\d+)", c)}
    with open(kinds_file, encoding="utf-8") as f:
        kinds = {line.split()[0]: [int(k) for k in line.split()[1:]] for line in f}
    rows = types_of(kinds, codes)
    with open(template, encoding="utf-8") as f:
        text = f.read()

    def each(m):
        once = "".join(block(m.group(2), row, False) for row in rows)
        if m.group(1):
            return once
        return once + block(m.group(2), ("typed", "type(*)", 0, ""), True)

    text = re.sub(r"^!\$each( value)?\n(.*?)^!\$end\n", each, text, flags=re.M | re.S)
    text = re.sub(r"@EACH:([\w,]+)@",
                  lambda m: wrapped([p + row[0] for p in m.group(1).split(",") for row in rows]), text)
    constants = re.findall(r"\b(DREP_(?:%s)) = (\d+)" % CONSTANTS, c)
    text = text.replace("@CONSTANTS@", "\n".join("  integer, parameter, public :: %s = %s" % e for e in constants))
    left = re.search(r"@[A-Z]+[:@]", text)
    if left:
        sys.exit("generate.py: %s is left in the module" % left.group(0))
    sys.stdout.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: generate.py TEMPLATE HEADER KINDS")
    main(*sys.argv[1:])
