# SPDX-License-Identifier: MIT
"""Every literal in the tables of SPEC.md, held against the sources that have it.

A reader of a table says of each row which texts of it the sources give: they must stand in the row, and
a number of the row that none of them has is unread, which is an error, as is a row or a table
without a reader.  wrong() gives a line for each of these.
"""
import glob
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What looks like a number and is a name: rules, sections, other documents, arguments of references.
NAMES = (r"R\d+\.\d+", r"\((?:[A-Z]\.?)?\d+(?:\.\d+)?(?:, (?:R?\d+(?:\.\d+)?))*\)", r"RFC ?\d+", r"ISO 8859-1",
         r"IEEE 754", r"Blosc 1", r"\b\d+\.\d+\b", r"as in \d", r"\[\w+\]", r"`[a-z][a-z0-9-]*[a-z-]\d+`", r"#\d+")
NUMBER = re.compile(r"(?<![\w.^])\d+(?:,\d{3})*(?:\^\d+)?|(?<=`)(?:[0-9a-f]{2} )*[0-9a-f]{2}(?=`)")


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


# ------------------------------------------------------------------------------- the page

class Table:
    def __init__(self, heading, header):
        self.heading, self.header, self.rows = heading, header, []

    def __str__(self):
        return "%s: table `%s`" % (self.heading, " | ".join(self.header))


def cells(line):
    return [c.strip() for c in line.strip()[1:-1].split("|")]


def tables(page):
    heading, table = "", None
    for line in page.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if not line.startswith("|"):
            table = None
        elif table is None:
            table = Table(heading, cells(line))
            yield table
        elif not re.fullmatch(r"\|[|:\- ]+", line):
            table.rows.append(cells(line))


def line_of(row):
    return "| %s |" % " | ".join(row)


def unread(row, read):
    """Numbers of a row that none of the texts has which were read."""
    line = line_of(row)
    known = [m.span() for name in NAMES for m in re.finditer(name, line)]
    for t in read:
        at = line.find(t)
        if at < 0:
            yield "no `%s`" % t
        known.append((at, at + len(t)))
    for m in NUMBER.finditer(line):
        if not any(a <= m.start() and m.end() <= b for a, b in known):
            yield "no test reads %s" % m[0]


# ------------------------------------------------------------------------------- the sources

def constants():
    """Every macro and enumerator of numbers.h and of what else names numbers of the format."""
    found = {}

    def value(expression):
        e = re.sub(r"\(uint64_t\)|\(uint32_t\)", "", expression)
        e = re.sub(r"UINT(?:64|32)_C\((\w+)\)", r"\1", e).replace("UINT64_MAX", str(2 ** 64 - 1))
        e = re.sub(r"\b(0x[0-9a-f]+|\d+)u?l*\b", r"\1", e)
        return eval(e, {}, found)  # of our own headers

    for path in ("format/numbers.h", "format/target.h", "format/block.h", "format/slot.c", "lib/rep/unit.c"):
        source = re.sub(r"/\*.*?\*/", "", text(path), flags=re.S)
        for line in re.finditer(r"^#define (\w+) (.+)$|^ *(\w+) = ([^,{}=;]+?),?$|enum(?: \w+)? \{ (.+) \};", source, re.M):
            pairs = [(line[1], line[2])] if line[1] else [(line[3], line[4])] if line[3] else [
                p.split("=") for p in line[5].split(",") if "=" in p]
            for name, expression in pairs:
                try:
                    found[name.strip()] = value(expression.strip())
                except (SyntaxError, NameError):
                    pass  # no number
    for path, prefix in (("format/formats.def", "FMT_FORMAT_"), ("format/types.def", "FMT_CODE_")):
        found.update((prefix + row[0], int(row[1])) for row in x_rows(path, "XR"))
    return found


def x_rows(path, macros="X"):
    body = re.sub(r"/\*.*?\*/", "", text(path), flags=re.S)
    body = re.sub(r"^#define.*(\\\n.*)*", "", body, flags=re.M)
    return [[w.strip().strip('"') for w in m.split(",")]
            for m in re.findall(r"^[%s]\(([^()]*(?:\([^()]*\)[^()]*)*)\)" % macros, body, flags=re.M)]


def byte_list(path, name):
    """The bytes of `static const uint8_t NAME[] = {...}`, as the page writes them."""
    body = re.search(r"\b%s\[\w*\] = \{([^}]*)\}" % name, text(path))[1]
    return " ".join("%02x" % (ord(b.strip()[1]) if "'" in b else int(b, 16)) for b in body.split(","))


def layout(path, function, sizes):
    """(offset, size) of each field that a function puts or gets, in order; `sizes`: of those without
    a width in the name."""
    body = re.search(r"^[\w ]+\b%s\(.*?\n\}" % function, text(path), re.S | re.M)[0]
    out, at = [], 0
    for call, width, argument in re.findall(
            r"\b((?:in|out|ref)_(?:[ui](\d+)|bytes|zeros|get|put))\((?:&?\w+, )?([^;]*?)\)[;,)]", body):
        size = int(width) // 8 if width else 20 if call.startswith("ref") else next(
            n for word, n in sizes.items() if word in argument)
        if size:
            out.append((at, size))
            at += size
    return out


class Numbers:
    """The numbers of the sources, by name, and as the page writes them."""

    def __init__(self):
        self.value = constants()

    def __getitem__(self, name):
        return self.value[name if name in self.value else "FMT_" + name]

    def __call__(self, name):
        return "{:,}".format(self[name])

    def named(self, prefix):
        return {k[len(prefix):]: v for k, v in self.value.items() if k.startswith(prefix)}

    def others(self, used, first=0, last=255):
        """The numbers that are not used: `0, 5 to 255`."""
        out, at = [], first
        for n in sorted(used) + [last + 1]:
            if n > at:
                out.append(str(at) if n == at + 1 else "%d to %s" % (at, "{:,}".format(n - 1)))
            at = max(at, n + 1)
        return ", ".join(out)


# ------------------------------------------------------------------------------- tables of bytes

def slot(n):
    sizes = {"slot_magic": 8, "uuid": 16, "RESERVED": n["RESERVED"], "header": 0, "SUM_AT": 0}
    fields = layout("format/slot.c", "slot_put", sizes)[:-1]
    rows = {at: ["| %d | %d |" % (at, size)] for at, size in fields}
    rows[0].append("`%s`" % byte_list("format/slot.c", "fmt_slot_magic"))
    rows[8].append("major version, %d (draft %d: 0)" % (n["MAJOR"], n["DRAFT"]))
    rows[10].append("minor version, %d (draft %d: %d)" % (n["MINOR"], n["DRAFT"], n["DRAFT"]))
    rows[140].append("0 if none")
    rows[72].append("nanoseconds since 1970-01-01 UTC")
    return list(rows.values()) + [
        ["%d |" % n["HEADER_AT"]], ["%d+*H*" % n["HEADER_AT"], "zeros up to %d" % n["SUM_AT"]],
        ["| %d | 8 |" % n["SUM_AT"], "sum of bytes 0 to %d" % (n["SUM_AT"] - 1)]]


def block(n):
    fields = layout("format/block.c", "block_get", {"block_magic": 4, "uuid": 8, "8": 8})
    assert sum(fields[-1]) == n["BLOCK_HEAD"] and fields[-1][0] == n["BLOCK_CHECKSUM_AT"]
    rows = {at: ["| %d | %d |" % (at, size)] for at, size in fields}
    kinds = {"node": "NODE", "value": "VALUE", "pending list": "PENDING", "header continuation": "HEADER", "sums": "SUMS"}
    rows[0].append("`%s`" % byte_list("format/block.c", "block_magic"))
    rows[4].append(", ".join("%d %s" % (n[name], word) for word, name in kinds.items()))
    rows[5].append("else 0")
    rows[8].append("first 8 bytes")
    rows[28].append("else 0")
    return list(rows.values())


def scalar(n):
    fields = layout("format/scalar.c", "scalar_get", {})
    assert sum(fields[-1]) == n["SCALAR_SIZE"]
    source = text("format/scalar.c")
    rows = {at: ["| %d | %d |" % (at, size)] for at, size in fields}
    rows[0].append("%d integer, %d real, %d bits" % (n["SCALAR_INT"], n["SCALAR_REAL"], n["SCALAR_BITS"]))
    rows[2].append("1 to %d" % n["ITEM_MAX"])
    rows[3] += ["0 or %s" % re.search(r"is_signed > (\d)", source)[1]]
    rows[4].append("; %d" % n["FORMAT_CUSTOM"])
    assert re.search(r"norm > 2 \|\| s->low_pad > 2", source)
    rows[5] += ["0 the", "leading 1", ", 1 it", ", 2 none"]
    rows[6] += ["0 zeros, 1 ones, 2 unknown"]
    rows[16].append("1 to %d" % n["EXPONENT_MAX"])
    rows[20].append("1 to %d" % n["SIGNIFICAND_MAX"])
    rows[22].append(" or ".join(re.search(r"exp_base_log2 != (\d) && s->exp_base_log2 != (\d)", source).groups()))
    rows[22].append("log2")
    return list(rows.values())


def unit(n):
    fields = layout("lib/rep/unit.c", "fixed_put", {"magic": 8})
    rows = {at: ["| %d | %d |" % (at, size)] for at, size in fields}
    rows[0].append("`%s`" % byte_list("lib/rep/unit.c", "magic"))
    rows[8].append("`u16`: %d" % n["UNIT_VERSION"])
    return list(rows.values()) + [["| %d | *H*" % n["FIXED"]], ["| %d + *H* | %d |" % (n["FIXED"], n["SUM"])],
                                  ["| %d + *H* |" % (n["FIXED"] + n["SUM"])]]


# ------------------------------------------------------------------------------- tables of numbers

def header_tags(n):
    rows = [["| %d | %s |" % (number, name)] for name, number in n.named("FMT_HEADER_").items() if name != "MAX"]
    rows[3].append("of %d bytes" % n["SCALAR_SIZE"])
    rows[2].append("of 8 bytes")
    rows[5] += ["1 to %d" % n["HINT_KEY_MAX"], "1 to %d" % n["HINT_VALUE_MAX"]]
    return rows


def tree_tags(n):
    rows = {v: ["| %d | %s | %d |" % (v, k, n["SPACE_ATTRS"] if k == "ATTR" else n["SPACE_STRUCTURE"])]
            for k, v in n.named("FMT_TAG_").items()}
    for tag in (1, 2, 3, 4):
        rows[tag][0] += " %d |" % n["OBJECT_FILE"]
    for tag in (16, 48):
        rows[tag].append("any but %d" % n["OBJECT_FILE"])
    return [rows[k] for k in sorted(rows)]


CLASSES = {"BYTES": "bytes", "CHAR": "char", "WCHAR": "wchar", "INT": "integer, signed",
           "UINT": "integer, unsigned", "BOOL": "boolean", "REAL": "real", "COMPLEX": "complex"}


def types(n):
    found = {}
    for name, code, cls, e, i, _ in x_rows("format/types.def"):
        found.setdefault(CLASSES[cls], []).append("%s %s %s" % (code, name, e if e == i else "%s/%s" % (e, i)))
    return [["| %s | %s |" % (cls, ", ".join(some))] for cls, some in found.items()]


def conformance(n):
    """The kinds and formats that a core reader has to know, and the sections of the rules for each class."""
    real = [n["FORMAT_" + name] for name in ("BINARY16", "X87")]
    kinds = "kinds %d to %d and %d" % (n["KIND_PREDEFINED"], n["KIND_COMPOUND"], n["KIND_VSTRING"])
    return [["header reader", "sections 2, 3"],
            ["core reader |", "formats %d to %d and %d to %d" % (n["FORMAT_BYTES"], n["FORMAT_EBCDIC"], *real), kinds,
             "formats from %d" % n["FORMAT_M68K"], "sections 1, 4, 5, 7, 8, 10"],
            ["filtering reader |", "section 8", ], ["full reader |", "form %d" % n["FORM_CODE"]],
            ["writer"], ["checker", "of 6"]]


def words(number):
    return "{:,}".format(number)


def formats(n):
    """Sizes, widths and biases from formats.def; what else a row says of a machine's numbers is made
    of these, or stands in SAID, which values.def proves bit by bit."""
    said = {
        "bool": ["0 is", "as 1"], "ebcdic": ["037"],
        "fp8-e4m3": ["`7f`", "`ff`", "448"],
        "x87": ["low 80 bits", "exponent 0", "2^-16382", "exponent 32767", "are 0"],
        "m68k": ["(16 pad)", "from 0 to 32766", "2^(e-16383)", "exponent 32767", "63 bits are 0"],
        "double-double": ["two", "binary64"],
        "ibm-hex32": ["0.f x 16^(e-64)", "not 0"],
        "ibm-hex128": ["(1 7 ignored) 56", "0.f x 16^(e-64)", "112 bits", "63 and 56 to 62", "minus 14",
                       "modulo 128", "16 bytes"],
        "vax-f": ["0.1f x 2^(e-128)", "e = 0 is 0", "sign 0", "sign 1", "f = 0", "-0"],
        "vax-g": ["0.1f x 2^(e-1024)"], "vax-h": ["0.1f x 2^(e-16384)"],
        "cray64": ["0.f x 2^(e-16384)", "bits 0", "f = 0", "least 24576", "e = 24576", "60000", "1/2"],
    }
    for row in x_rows("format/formats.def", "XR"):
        name, real = row[2], len(row) > 8
        sizes = [int(b) for b in re.findall(r"EXACTLY\((\d+)\)", row[3 if real else 4])]
        many = re.findall(r"UP_TO\((\d+)\)", row[3 if real else 4])
        size = "10, 12, 16" if "X87" in row[3] else "%d" % sizes[0] if sizes else \
            "any" if name == "bytes" else "1-%s" % many[0]
        read = ["| %s | %s |" % (row[1], name), "| %s |" % size]
        if real and name not in ("double-double", "m68k", "ibm-hex128"):
            sign, _, width, _, fraction = map(int, row[7:12])
            read.append("1 %d %d" % (width, fraction))
        if real and row[-1] in ("IEEE", "ONES", "X87", "M68K"):
            read.append("bias %s" % row[15])
        if name in ("m68k",):
            read.append("1 %s" % row[9])
            read.append(" %s, bias" % row[11])
        if name == "ibm-hex128":
            read.append("1 %s 56" % row[9])
        yield read + said.get(name, [])


def kinds(n):
    found = {v: k for k, v in n.named("FMT_KIND_").items()}
    rows = {v: ["| %d | %s |" % (v, k.lower().replace("_", "-"))] for v, k in found.items()}
    source = text("lib/datarep.h")
    pads = [int(re.search(r"DREP_PAD_%s = (\d)" % p, source)[1]) for p in ("NUL", "NULTERM", "SPACE")]
    rows[2].append("%d bytes" % n["SCALAR_SIZE"])
    rows[3].append("%d NULs, %d ends with a NUL, %d spaces" % tuple(pads))
    rows[7].append("1-%d" % n["RANK_MAX"])
    rows[11].append("0 object, 1 region")
    return [rows[k] for k in sorted(rows)]


def filters(n):
    """Ids, names, numbers of parameters; a number of the stream is one of the reader's as well."""
    code = text("tests/spec/reader/filters.py") + "".join(
        text(os.path.relpath(p, ROOT)) for p in glob.glob(os.path.join(ROOT, "lib/chunk/*.c")))
    known = set(re.findall(r"\b\d+\b", code))
    for _, number, name, params, _ in x_rows("format/filters.def"):
        yield ["| %s | %s |" % (number, name), lambda row, p=int(params): one_filter(row, p, known)]


def one_filter(row, params, known):
    """The cells of a filter whose numbers the sources know."""
    shown = re.sub(r"\([^)]*\)|, \d+: \w+", "", row[2])
    count = 0 if shown == "none" else len(shown.split(","))
    if count != params:
        return ["%d parameters" % params]
    prose = [re.sub("|".join(NAMES), "~", cell) for cell in row[2:]]
    return [cell for cell, p in zip(row[2:], prose) if {x.split("^")[0] for x in NUMBER.findall(p)} <= known]


def powers(number):
    return "2^%d" % (number.bit_length() - 1) if number & (number - 1) == 0 else words(number)


def sized(number):
    return "%d MiB" % (number >> 20) if number >= 1 << 20 else "%d KiB" % (number >> 10)


def limits(n):
    chunk = next(int(d) for key, _, d in x_rows("format/hints.def") if key == "drep_chunk_max")
    return [
        ["rank", words(n["RANK_MAX"])],
        ["name of an object", words(n["NAME_MAX"])],
        ["name of a representation, of a user's filter", words(n["DATAREP_MAX"])],
        ["representations of a file", words(n["REPS_MAX"])],
        ["header proper", sized(n["HEADER_MAX"])],
        ["key / value in a leaf / node",
         "%s / %s / %s bytes" % (n("KEY_MAX"), n("INLINE_MAX"), n("NODE_MAX"))],
        ["value in a block", sized(n["VALUE_MAX"])],
        ["levels of the tree", words(n["LEVEL_MAX"] + 1)],
        ["nested nodes of a datatype record", "%d / %d" % (n["TYPE_DEPTH_MAX"], n["SEQ_DEPTH_MAX"])],
        ["scalar / integer or bits", "%d / %d bytes" % (n["ITEM_MAX"], n["INT_SIZE_MAX"])],
        ["exponent / significand", "%d / %d bits" % (n["EXPONENT_MAX"], n["SIGNIFICAND_MAX"])],
        ["contents", "%s x heap" % n["SHARE_MAX"]],
        ["lengths, elements, bytes", powers(n["SIZE_MAX"])],
        ["compact dataset", words(n["COMPACT_MAX"])],
        ["chunks of a plain", "2^32-1 / %d / %d / %d" % (n["PACKED_MAX"], n["PLACED_MAX"], n["PLACED_MAX"])],
        ["block of sums", sized(n["SUMS_MAX"])],
        ["filters of a dataset", "%d, %d" % (n["FILTERS_MAX"], n["PARAMS_MAX"])],
        ["filtered chunk", "2^%d" % (chunk.bit_length() - 1)],
        ["path or URI / text", "%s / %s" % (n("PATH_MAX"), n("NAME_MAX"))]]


# Constants that are no limits of section 9, and why.
NO_LIMITS = {"SLOT_HEADER_MAX": "R2.11", "HINT_KEY_MAX": "R3.26: fixed", "HINT_VALUE_MAX": "R3.26: fixed",
             "SHARED_MAX": "the bits of an entry's head", "NEAR_MAX": "a writer's choice",
             "CODE_MAX": "the last code with a meaning", "HEAD_MAX": "bytes of a buffer"}
# Rules of limits that no value of this version goes beyond, or beyond which it is malformed (R1.11); the last is
# one that a reader may raise (R3.28).
NO_GATES = {"R8.15", "R4.9", "R4.11", "R4.13", "R4.14", "R4.17", "R8.36"}


def limit_rules(page):
    table = next(t for t in list(tables(page)) if tuple(t.header[:3]) == ("what", "at most", "rule"))
    return {rule for row in table.rows for rule in re.findall(r"R\d+\.\d+", row[2])}


def gates():
    """Rules that the sources name where a value is beyond a limit."""
    found = set()
    for path in glob.glob(os.path.join(ROOT, "format/*.[ch]")) + glob.glob(os.path.join(ROOT, "lib/*/*.[ch]")):
        for call in re.findall(r"(?:IN_LIMIT|FMT_BEYOND)\((.*?)\);", text(os.path.relpath(path, ROOT)), re.S):
            found |= set(re.findall(r'"(R\d+\.\d+)"', call))
    return found


def limits_wrong(page):
    """Each limit of the code is one of section 9 with its rule, and each of section 9 is one of the code."""
    class Asked(Numbers):
        names = set()

        def __getitem__(self, name):
            self.names.add(name)
            return super().__getitem__(name)

    limits(Asked())
    defined = {name for path in glob.glob(os.path.join(ROOT, "format/*.h"))
               for name in re.findall(r"^#define FMT_(\w+_MAX) ", text(os.path.relpath(path, ROOT)), re.M)}
    for name in sorted(defined - Asked.names - set(NO_LIMITS)):
        yield "FMT_%s: section 9 of SPEC.md has no such limit" % name
    for name in sorted(set(NO_LIMITS) - defined):
        yield "FMT_%s is explained and does not exist" % name
    there, built = limit_rules(page), gates()
    for rule in sorted(built - there):
        yield "%s: a value beyond it is told, and section 9 does not name the rule" % rule
    for rule in sorted(there - built - NO_GATES):
        yield "%s: no source says that a value is beyond this limit" % rule


def reserved(n):
    objects = n.others([n["GROUP"], n["DATASET"], n["TYPE"], n["DIMENSION"]])
    codes = max(int(row[1]) for row in x_rows("format/types.def")) + 1
    free = "%d to 65,535" % codes
    header = [v for k, v in n.named("FMT_HEADER_").items() if k != "MAX"]
    return [
        ["version", "%d.%d, later %d.x, and 0.%d" % (n["MAJOR"], n["MINOR"], n["MAJOR"], n["DRAFT"])],
        ["| incompatible features", "bits %d to 63" % n["INCOMPATIBLE"].bit_length()],
        ["| write-incompatible features", "bit 0 `sealed`, 1 to 63"],
        ["compatible features: all"],
        ["bytes %d to %d" % (n["HEADER_AT"] - n["RESERVED"], n["HEADER_AT"] - 1)],
        ["tags 9, 10", "u64"],
        ["tags %s" % n.others(header + [9, 10], 0, 65535), "2 to 5 and 8"],
        ["form %s" % n.others([n["FORM_TABLE"], n["FORM_CODE"]])],
        ["EXTENTS, ENCODINGS, WITNESSES", free],
        ["ENCODINGS | formats, orders"],
        ["spaces %d to %d" % (n["SPACE_ATTRS"] + 1, n["SPACE_APPLICATIONS"] - 1)],
        ["spaces %d to 255" % n["SPACE_APPLICATIONS"]],
        ["OBJECT | kinds " + objects, "flag 2"],
        ["LINK | kinds " + n.others([n["HARD"], n["SOFT"], n["EXTERNAL"]])],
        ["LINK | kind of the object: " + objects],
        ["DIM, ATTR | kinds other than %d" % n["PLAIN"]],
        ["layouts %d to 255" % (n["CHUNKED"] + 1), "fills %d to 255" % (n["FILL_NONE"] + 1)],
        ["filter | flags 0, %d without %d, 3" % (n["FILTER_OPTIONAL"].bit_length() - 1, n["FILTER_HDF5"].bit_length() - 1),
         words(n["FILTER_USER"]), "23 and 24"],
        ["FILES | kinds " + n.others([n["TARGET_PATH"], n["TARGET_URI"]])],
        ["CHUNK | kinds " + n.others([n["CHUNK_" + k] for k in ("PLAIN", "PACKED", "PLACED", "EXTERNAL")])],
        ["CHUNK | byte 3", "kinds %d to %d" % (n["CHUNK_PACKED"], n["CHUNK_EXTERNAL"])],
        ["codes " + free, "kinds 12 to 31, 44 to 255, 0" if n.others(
            n.named("FMT_KIND_").values()) == "0, 12 to 31, 44 to 255" else "kinds ?"]]


# The first cells of a table's head -> its reader, or why its numbers are none of the format.
READERS = {
    ("offset", "size", "field"): {"magic": slot, "kind": block, "class": scalar},
    ("offset", "bytes", "field"): unit,
    ("tag", "name", "where"): header_tags,
    ("tag", "name", "space", "of object"): tree_tags,
    ("class", "datatypes"): types,
    ("number", "name", "class"): formats,
    ("kind", "name", "fields"): kinds,
    ("id", "name", "parameters"): filters,
    ("what", "at most", "rule"): limits,
    ("where", "numbers or bits", "are"): reserved,
    ("mark", "the rule binds"): None,
    ("word", "meaning"): None,
    ("class", "builds on", "has to"): conformance,
    ("rule", "accepted"): None,
    ("where", "was", "is"): None,
}


def reader_of(table):
    for head, reader in READERS.items():
        if tuple(table.header[:len(head)]) == head:
            return reader
    return "none"


def check(table, expected):
    """Each row has what one list of the expected ones says, in any order of the rows."""
    left = list(table.rows)
    for read in expected:
        line = next((r for r in left if read[0] in line_of(r)), None)
        if line is None:
            yield "%s: no row with `%s`" % (table, read[0])
            continue
        left.remove(line)
        texts = [t for t in read if isinstance(t, str)]
        for more in read:
            texts += more(line) if callable(more) else []
        for wrong in unread(line, texts):
            yield "%s: row `%s`: %s" % (table, line[0] + " " + line[1], wrong)
    for row in left:
        yield "%s: no test reads the row `%s`" % (table, " | ".join(row)[:60])


def wrong(page):
    n, seen = Numbers(), 0
    for table in list(tables(page)):
        reader = reader_of(table)
        if reader == "none":
            yield "%s: no test reads it" % table
        elif isinstance(reader, dict):
            word = table.rows[0][2].split()[0].rstrip(":")
            if table.heading.startswith("4"):
                word = "kind"
            yield from check(table, reader[word](n))
            seen += 1
        elif reader:
            yield from check(table, reader(n))
            seen += 1
    if seen < 10:
        yield "only %d tables are read" % seen
