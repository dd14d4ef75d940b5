# SPDX-License-Identifier: MIT
"""What the logs of matrix.c must say: values, reports, layouts; and what its files hold.

The numbers that everything begins with are made here, as binary128 and as integers of 128
bits; every step from there is done again by formats.py and compared bit for bit.
"""
import formats as F
from formats import C

from reader import File

NO_LOSS = (0, 0, 0, -1, -1, -1)

# ------------------------------------------------------------------- numbers


def binary128(neg, m, e):
    return F.encode_real(C.BINARY128, F.finite(neg, m, e), False)[0]


def fraction128(num, den):
    """num / den, rounded to binary128."""
    shift = 120 + den.bit_length()
    q, rest = divmod(num << shift, den)
    return binary128(False, q << 2 | (rest != 0), -shift - 2)


PI = 0x3243f6a8885a308d313198a2e03707344a4093822299f31d008  # pi x 2^200, cut
INF = 0x7fff << 112
SIGN = 1 << 127
NANS = [INF | 1 << 111, SIGN | INF | 1 << 111, INF | 1 << 111 | 1 << 90, INF | 1 << 111 | 1]
BASE_REALS = [0, SIGN, binary128(False, 1, 0), binary128(True, 5, -1), fraction128(1, 10),
              binary128(False, PI, -200)]


def largest(form):
    return F.encode_real(C.BINARY128, largest_num(form), True)[0]


def largest_num(form):
    huge = F.finite(False, 1, 40000)
    n = F.encode_real(form, huge, True)[0]
    return F.decode_real(form, None if form in F.PAIRS else n, n if form in F.PAIRS else None)


def reals():
    """Edges of every format that a machine or a table of ours has, ties and what is beside them."""
    out = BASE_REALS + [INF, SIGN | INF] + NANS
    for form in (C.FP8_E4M3, C.FP8_E5M2, C.BINARY16, C.BFLOAT16, C.BINARY32, C.BINARY64,
                 C.DOUBLE_DOUBLE, C.X87, C.BINARY128, C.IBM64, C.VAX_D):
        out.append(largest(form))
    for digits, lowest in ((4, -9), (11, -24), (24, -149), (53, -1074), (64, -16445),
                           (106, -1074), (113, -16494)):
        out.append(binary128(digits % 2, 1, lowest))  # the smallest number
        out.append(binary128(False, 3, lowest - 1))  # a tie there
        if digits < 113:
            out.append(binary128(False, (1 << digits) | 1, -digits))  # a tie above 1
            out.append(binary128(True, (1 << (digits + 6)) | 33, -digits))  # beside one
    out += [SIGN | fraction128(1, 3), binary128(False, (1 << 53) + 1, 0),
            binary128(False, 1, 1023), binary128(False, 1, -1022), binary128(True, 1, -16382),
            binary128(False, 1, -16383), binary128(False, 1, 128), binary128(False, 1, -127)]
    return list(dict.fromkeys(out))


def ints():
    out = [0, 1, -1, 2, 0x0102030405060708090a0b0c0d0e0f10]
    for bits in (8, 16, 24, 32, 40, 48, 56, 64, 128):
        out += [(1 << (bits - 1)) - 1, -(1 << (bits - 1))]
        if bits < 128:
            out += [(1 << bits) - 1, 1 << (bits - 1)]
    return out


def alike(v):
    """Does every format of a long double, a double included, hold this number?"""
    x = F.decode_real(C.BINARY128, v)
    return not any(F.encode_real(form, x, False)[1]
                   for form in (C.BINARY64, C.DOUBLE_DOUBLE, C.X87, C.M68K))


def write_values(path, choice="all"):
    """choice: "few" for the golden files, "common" for what every machine holds alike."""
    i, r = ints(), reals()
    if choice == "common":
        i, r = [v for v in i if -2**31 <= v < 2**31], [v for v in r if alike(v)]
    if choice == "few":
        i = i[:5] + [127, -128, 255, 32767, -32768, 2**31 - 1, -2**31, 2**63 - 1, -2**63]
        r = BASE_REALS + [INF, SIGN | INF, NANS[0], NANS[2], largest(C.BINARY64),
                          binary128(False, 1, -1074), SIGN | fraction128(1, 3)]
    with open(path, "w", encoding="ascii") as f:
        for v in i:
            f.write("INT %032x\n" % (v & (1 << 128) - 1))
        for v in r:
            f.write("REAL %032x\n" % v)
    return i, r


# --------------------------------------------------------------------- tables


class Side:
    """Encodings of the predefined datatypes: of a machine's memory, or of a file."""

    def __init__(self, rows):
        self.row = {}
        for code, (form, order, size, align) in rows.items():
            part = size // 2 if C.PREDEFINED[code][1] == "complex" else size
            self.row[code] = F.Encoding(form, order, part), size, align

    def order(self):
        return self.row[C.CODE_OF["DOUBLE"]][0].order

    def scalars(self, code, raw):
        """The scalars of one item (two of a complex)."""
        enc, size, _ = self.row[code]
        if len(raw) != size:
            raise Wrong("%d bytes for %s, not %d" % (len(raw), C.PREDEFINED[code][0], size))
        return [raw[i:i + enc.size] for i in range(0, size, enc.size)]


def side_of(path):
    """What the reader in Python takes from a file's header."""
    with File(path) as file:
        rep = file.header.representations[0]
    rows = rep.encodings or {code: rep.encoding(code) for code in C.PREDEFINED}
    return Side({code: (row.format, row.order, row.size, row.align) for code, row in rows.items()})


def standard(name):
    return Side({code: row + (1,) for code, row in C.standard_table(name).items()})


def wide_side(order):
    """INTEGER16, UINT128_T, FLOAT128 and COMPLEX32 as a machine of this byte order has them."""
    return Side({C.CODE_OF["INTEGER16"]: (C.INT, order, 16, 1),
                 C.CODE_OF["UINT128_T"]: (C.UINT, order, 16, 1),
                 C.CODE_OF["FLOAT128"]: (C.BINARY128, order, 16, 1),
                 C.CODE_OF["COMPLEX32"]: (C.BINARY128, order, 32, 1)})


# ------------------------------------------------------------------ comparing


class Wrong(Exception):
    """A log says what must not be."""


class Tokens:
    """The items of a line: (kind or code, bytes or text)."""

    def __init__(self, words):
        self.items = []
        for word in words:
            kind, _, text = word.partition(":")
            if kind in C.CODE_OF:
                self.items.append((C.CODE_OF[kind], bytes.fromhex(text)))
            else:
                self.items.append((kind, text))


class Line:
    """`what path report items`, as matrix.c prints it."""

    def __init__(self, text):
        words = text.split(" ")
        self.what, self.path = words[:2]
        self.error = " ".join(words[3:]) if words[2:3] == ["error"] else None
        self.report = self.items = None
        if self.error is None:
            self.report = tuple(int(w) for w in words[2].split(","))
            self.items = Tokens(words[3:]).items


_memo = {}


def converted(raw, source, to, policy):
    key = raw, source.key(), to.key(), policy
    if key not in _memo:
        _memo[key] = F.convert(raw, source, to, policy)
    return _memo[key]


def item_converted(code, raw, source, to, policy, to_code=None):
    """One item of `code` from side to side; gives its bytes and what each part lost."""
    a, b = source.row[code][0], to.row[to_code or code][0]
    got = [converted(scalar, a, b, policy) for scalar in source.scalars(code, raw)]
    return b"".join(g for g, _ in got), [lost for _, lost in got]


def same_item(code, a, b, side):
    enc = side.row[code][0]
    return len(a) == len(b) and all(enc.same(x, y) for x, y in
                                    zip(side.scalars(code, a), side.scalars(code, b)))


class Counter:
    """What a transfer's report must be: seven numbers as in drep_report."""

    def __init__(self):
        self.items = 0
        self.counts = [0, 0, 0]
        self.first = [-1, -1, -1]

    def add(self, losses):
        """One item: what each of its parts lost."""
        for i, bit in enumerate((F.OVER, F.INEXACT, F.NAN)):
            n = sum(1 for lost in losses if lost & bit)
            self.counts[i] += n
            if n and self.first[i] < 0:
                self.first[i] = self.items
        self.items += 1

    def check(self, line):
        if any(kind == "count" for kind, _ in line.items):
            return  # what sequences hold is not counted like this
        if line.report[0] not in (self.items, 0) or \
                line.report[1:] != tuple(self.counts + self.first):
            raise Wrong("%s %s: the report is %s, not %s" % (
                line.what, line.path, line.report, tuple([self.items] + self.counts + self.first)))


def steps(line, got, source, file_side, memory, policy, to_code=None):
    """Items of `line` (the writer's memory, `source`) as a file keeps them and a reader of
    `memory` gets them, against the items `got`.  Gives how many values were compared and the
    reader's losses."""
    counter = Counter()
    refused = False
    if len(line.items) != len(got.items):
        raise Wrong("%s: %d items, not %d" % (got.path, len(got.items), len(line.items)))
    for i, ((kind, raw), (kind2, raw2)) in enumerate(zip(line.items, got.items)):
        if isinstance(kind, int) and kind2 == (to_code or kind):
            stored, _ = item_converted(kind, raw, source, file_side, F.WRAP)
            want, lost = item_converted(kind, stored, file_side, memory, policy, to_code)
            if not same_item(kind2, raw2, want, memory):
                raise Wrong("%s item %d: %s, not %s (written as %s)" % (
                    got.path, i, raw2.hex(), want.hex(), raw.hex()))
        else:
            lost = []
            if (kind, raw) != (kind2, raw2):
                raise Wrong("%s item %d: %s:%s, not %s:%s" % (got.path, i, kind2, raw2, kind, raw))
        counter.add(lost)
        refused |= any(part & (F.OVER | F.TO_NUMBER) for part in lost)
    return counter, refused


# ------------------------------------------------------------------- writers


class Written:
    """The log of `matrix write` on one machine, checked line by line as far as that machine
    alone is concerned."""

    def __init__(self, text, memory, values):
        self.memory = memory
        self.files = {}  # representation -> {path: Line}
        self.compared = 0
        self.without = []
        lines = text.splitlines()
        self.version = lines[0]
        now, fill = None, None
        self.made_from(values)
        for text in lines[1:]:
            word, _, rest = text.partition(" ")
            if word == "layout":
                self.layout(*rest.split(" "))
            elif word == "offset":
                name, here, computed = rest.split(" ")
                if here != computed:
                    raise Wrong("member %s lies at %s, the library would put it at %s"
                                % (name, here, computed))
            elif word == "constant":
                self.constant(*rest.split(" "))
            elif word == "file":
                now = self.files.setdefault(rest.split(" ")[0], {})
            elif word == "without":
                self.without.append(rest)
            elif word == "made":
                self.made(Line(text))
            elif word in ("wrote", "attribute"):
                line = Line(text)
                line.memory = memory
                now[line.path] = line
            elif word == "fill":
                line = Line(text)
                fill, box = line, now[line.path]
                box.items = [box.items[(r - 2) // 2 * 4 + (c - 1) // 2]
                             if r in (2, 4, 6) and c in (1, 3, 5, 7) else fill.items[0]
                             for r in range(9) for c in range(11)]
                box.partial = True

    def layout(self, name, size, align, table_size, table_align):
        if (size, align) != (table_size, table_align):
            raise Wrong("%s: %s bytes aligned to %s, the library says %s and %s"
                        % (name, size, align, table_size, table_align))

    def made_from(self, values):
        """The numbers that matrix.c began with, in the four types that hold them."""
        ints, real = values
        order = self.memory.order()
        self.wide = wide_side(order)
        name = "little" if order else "big"
        self.ints = [(v & (1 << 128) - 1).to_bytes(16, name) for v in ints]
        self.bools = [v.to_bytes(16, name) for v in (0, 1, 1, 0)]
        self.reals = [v.to_bytes(16, name) for v in real]
        self.pairs = [a + b for a, b in zip(self.reals, self.reals[::-1])]

    def made(self, line):
        """The machine's values of a type are what VALUES' become there."""
        code = C.CODE_OF[line.path.split("/")[-1]]
        cls = C.PREDEFINED[code][1]
        if cls in ("bytes", "char", "wchar"):
            return
        if cls == "boolean":
            want = [(raw == self.bools[1]) for raw in self.bools]
            enc = self.memory.row[code][0]
            if [enc.decode(raw) for _, raw in line.items] != want:
                raise Wrong("%s: %s" % (line.path, line.items))
            return
        source = {"integer": ("INTEGER16", self.ints), "real": ("FLOAT128", self.reals),
                  "complex": ("COMPLEX32", self.pairs)}[cls]
        counter = Counter()
        for (_, raw), wide in zip(line.items, source[1], strict=True):
            want, lost = item_converted(C.CODE_OF[source[0]], wide, self.wide, self.memory, F.CLAMP,
                                        code)
            counter.add(lost)
            if not same_item(code, raw, want, self.memory):
                raise Wrong("%s item %d: %s, not %s" % (line.path, counter.items - 1, raw.hex(),
                                                       want.hex()))
        counter.check(line)
        self.compared += counter.items

    def constant(self, name, i, text):
        """What the compiler made of a constant; the pi of a double-double may be one off."""
        code, raw = C.CODE_OF[name], bytes.fromhex(text)
        order = self.memory.order()
        wide = BASE_REALS[int(i)].to_bytes(16, "little" if order else "big")
        want, _ = item_converted(C.CODE_OF["FLOAT128"], wide, self.wide, self.memory, F.CLAMP, code)
        if same_item(code, raw, want, self.memory):
            return
        enc = self.memory.row[code][0]
        if enc.form == C.DOUBLE_DOUBLE:
            a, b = enc.decode(raw), enc.decode(want)
            e = min(a.e, b.e)
            if a.neg == b.neg and abs((a.m << (a.e - e)) - (b.m << (b.e - e))) <= 1 << (a.top() - 105 - e):
                return
        raise Wrong("the compiler's constant %s of %s is %s, not %s" % (i, name, text, want.hex()))

    def check_file(self, rep, file_side):
        """Reports of the writes against the arithmetic."""
        for line in self.files[rep].values():
            if line.what != "wrote" or getattr(line, "partial", False):
                continue
            counter = Counter()
            for kind, raw in line.items:
                counter.add(item_converted(kind, raw, self.memory, file_side, F.WRAP)[1]
                            if isinstance(kind, int) else [])
            counter.check(line)


# ------------------------------------------------------------------- readers


def read_log(text):
    """path of the file -> its lines."""
    files, now = {}, None
    for line in text.splitlines():
        if line.startswith("file "):
            now = files.setdefault(line.split(" ")[2], [line])
        else:
            now.append(line)
    return files


def check_read(lines, written, file_side, memory):
    """One file as one machine reads it; gives how many values were compared."""
    wide = wide_side(memory.order())
    seen, compared = set(), 0
    for text in lines:
        word = text.partition(" ")[0]
        if word == "findings" and text != "findings 0":
            raise Wrong("the check has " + text)
        if word not in ("read", "wide", "strict", "attribute"):
            continue
        got = Line(text)
        if got.path.startswith("/grid@"):
            continue  # written as a string and a number
        line = written.get(got.path)
        if line is None:
            raise Wrong("%s was not written" % got.path)
        seen.add((word if word == "attribute" else "wrote", got.path))
        if word == "attribute":
            steps(line, got, line.memory, line.memory, memory, F.WRAP)
        elif word == "wide":
            code = got.items[0][0] if got.items else 0
            counter, _ = steps(line, got, line.memory, file_side, wide, F.CLAMP, code)
            counter.check(got)
        elif word == "read":
            counter, refused = steps(line, got, line.memory, file_side, memory, F.WRAP)
            counter.check(got)
        elif got.error:
            if not refused:
                raise Wrong("%s: refused although every value fits: %s" % (got.path, got.error))
        elif refused:
            raise Wrong("%s: a value does not fit and was not refused" % got.path)
        compared += len(got.items or [])
    missing = {(line.what, path) for path, line in written.items()} - seen
    if missing:
        raise Wrong("not read: %s" % sorted(missing))
    return compared


def check_header(lines, machine):
    want = "header table %s 1.1" % machine
    if lines[1] != want:
        raise Wrong("%s, not %s" % (lines[1], want))
