#!/usr/bin/python3
"""run-spec.py - does everybody read the file format as SPEC.md says?  Prints TAP.

First the independent reader is held to the vectors and to the worked examples of the page; then,
if the command `datarep` is there ($DATAREP, else build/release/datarep), it is held to the same.
On a file that is bad or changed it takes no more memory and time than SECURITY.md allows.
"""

import contextlib
import glob
import io
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(ROOT, "tests", "fault"))

import badvectors  # noqa: E402
import compare  # noqa: E402
import drepwrite  # noqa: E402
import limits  # noqa: E402
import makevectors  # noqa: E402
import vectors  # noqa: E402
from drepread import DrepError, File, register_conversion  # noqa: E402
from drepread import codes as C  # noqa: E402
from drepread import borrowed, payload, tree  # noqa: E402
from drepread.reader import _conversions  # noqa: E402
from drepread.scalars import Dyadic, Scalar, parts  # noqa: E402
from drepread.tojson import document  # noqa: E402
from drepread.values import show  # noqa: E402

VECTORS = os.path.join(ROOT, "tests", "vectors")
CHANGED = int(os.environ.get("CHANGED_FILES", 600))


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def result(self, name, wrong=None):
        """`wrong` says what failed, or is None."""
        self.count += 1
        if wrong:
            self.failed += 1
        print("%sok %d - %s" % ("not " if wrong else "", self.count, name))
        for line in str(wrong or "").splitlines():
            print("# " + line)

    def skip(self, name, reason):
        self.count += 1
        print("ok %d - %s # SKIP %s" % (self.count, name, reason))

    def run(self, name, function, *args):
        """A test is a function that returns what is wrong, or None."""
        try:
            self.result(name, function(*args))
        except Exception as e:  # a broken test is a failed test
            self.result(name, "%s: %s" % (type(e).__name__, e))

    def end(self):
        print("1..%d" % self.count)
        return 1 if self.failed else 0


def read_json(path):
    with open(path, encoding="utf-8") as f:
        return compare.parse(f.read())


def described(path, commit=None):
    """The document of a file as parsed JSON, named by its bare name."""
    doc = document(File(path, commit))
    doc["file"] = os.path.basename(path)
    return compare.parse(json.dumps(doc))


# ---------------------------------------------------------------- the reader itself

def reads_back(path):
    return compare.difference(read_json(path[:-5] + ".json"), described(path))


def earlier(path):
    """Each commit that the log names reads as its JSON; any other is refused."""
    for sequence in (1, 2, 3):
        wrong = compare.difference(read_json("%s-%d.json" % (path[:-5], sequence)),
                                   described(path, sequence))
        if wrong:
            return "commit %d: %s" % (sequence, wrong)
    try:
        described(path, 7)
    except DrepError as e:
        return None if e.category == "NOT_FOUND" else str(e)
    return "a commit that was never made is shown"


def log_of(datarep, path):
    """The commits that the command can open, the newest first."""
    done = subprocess.run([datarep, "log", "--json", path], capture_output=True, timeout=60)
    return [c["sequence"] for c in json.loads(done.stdout)["commits"]]


def commits_by_command(datarep, path):
    """The command shows the same of each commit that its log names."""
    for sequence in log_of(datarep, path):
        done = subprocess.run([datarep, "dump", "--json", "--commit", str(sequence), path],
                              capture_output=True, timeout=60)
        if done.returncode:
            return done.stderr.decode()
        ours = document(File(path, sequence))
        wrong = compare.difference(compare.parse(json.dumps(ours)),
                                   compare.parse(done.stdout.decode()))
        if wrong:
            return "commit %d: %s" % (sequence, wrong)
    return None


def earlier_by_command(datarep, path):
    log = log_of(datarep, path)
    return commits_by_command(datarep, path) if log == [4, 3, 2, 1] else "the log is %r" % log


def made_anew(function, directory):
    """The vector as the writer makes it now: its data are those stated, its JSON the kept one."""
    makevectors.make(function, directory)
    name = vectors.file_name(function)[:-5] + ".json"
    kept = os.path.join(VECTORS, name)
    if not os.path.exists(kept):
        return "%s is missing" % name
    return compare.difference(read_json(kept), read_json(os.path.join(directory, name)))


def exact_text(value):
    """A real as values.def writes it: hexadecimal, exact, one digit 1 before the point."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "%s" % value
    neg, sig, exp = parts(value)
    if sig == 0:
        return ("-" if neg else "") + "0x0p+0"
    exp += (sig & -sig).bit_length() - 1
    return Dyadic(neg, sig // (sig & -sig), exp).hex()


def values_of_formats():
    """The rows of values.def, in both orders of bytes."""
    codes = {name: code for code, (name, *_) in C.FORMATS.items()}
    with open(os.path.join(VECTORS, "values.def"), encoding="utf-8") as f:
        rows = re.findall(r'X\("(.*)", "(.*)", "(.*)", (READ|BOTH)\)', f.read())
    wrong = []
    for name, digits, want, _ in rows:
        big = bytes.fromhex(digits)
        turned = big[::-1] if name != "double-double" else big[7::-1] + big[:7:-1]
        for order, raw in ((0, big), (1, turned)):
            got = exact_text(Scalar(codes[name], order, len(raw)).decode(raw))
            if got != want:
                wrong.append("%s %s, order %d: %s, not %s" % (name, digits, order, got, want))
    return "\n".join(wrong) if rows else "no rows"


def refused(path, categories, rules=()):
    """Refused in one of these categories, and by one of these rules if there are any."""
    try:
        described(path)
    except DrepError as e:
        if e.category not in categories:
            return "refused as %s, not %s: %s" % (e.category, "|".join(categories), e)
        if rules and e.category != "NOT_DREP" and not any("(%s)" % r in str(e) for r in rules):
            return "names another rule than %s: %s" % ("|".join(rules), e)
        return None
    return "accepted"


def reports_damage():
    if not File(os.path.join(VECTORS, "damaged-slot.drep")).damage:
        return "the damaged slot is not reported"
    if not File(os.path.join(VECTORS, "damaged-stream.drep")).damage:
        return "the damaged slot of a stream is not reported"
    if File(os.path.join(VECTORS, "second-commit.drep")).damage:
        return "two good slots are reported as damaged"
    return None


def with_conversion():
    """Form 2 under its author's function."""
    def decode(code, raw):
        if code == C.CODE_OF["INT"]:
            n = int.from_bytes(raw, "little")
            return n >> 1 ^ -(n & 1)
        return struct.unpack("<d", bytes(255 - c for c in raw))[0]

    register_conversion("zigzag", decode)
    try:
        root = described(os.path.join(VECTORS, "code.drep"))["root"]
    finally:
        _conversions.clear()
    got = [root["members"][n]["data"] for n in ("i", "d")]
    return compare.difference([[5, -5, 0], [1.5, -0.0]], got)


def with_filter():
    """A user's filter, once its author's function is there."""
    payload.register_filter("mirror", lambda p, data, size: drepwrite.mirror(p, data))
    try:
        root = described(os.path.join(VECTORS, "user-filter.drep"))["root"]
    finally:
        payload._users.clear()
    got = [root["members"][n]["data"] for n in ("alone", "between", "skipped")]
    return compare.difference([[7 * i * i - 300 for i in range(12)]] * 3, got)


def every_cut():
    """Every truncation of a file is refused."""
    with open(os.path.join(VECTORS, "scalar.drep"), "rb") as f:
        image = f.read()
    for n in list(range(0, 4096, 57)) + list(range(4096, len(image), 17)) + [len(image) - 1]:
        with tempfile.NamedTemporaryFile(suffix=".drep") as f:
            f.write(image[:n])
            f.flush()
            wrong = refused(f.name, ("NOT_DREP", "TRUNCATE"))
        if wrong:
            return "cut to %d bytes: %s" % (n, wrong)
    return None


def every_flip():
    """Every flipped bit in what a file uses is noticed."""
    with open(os.path.join(VECTORS, "scalar.drep"), "rb") as f:
        image = bytearray(f.read())
    slot, _ = tree.choose_slot(bytes(image))
    used = list(range(0, 4096, 13)) + list(range(slot.root.offset, slot.root.offset +
                                                 slot.root.length))
    for at in used:
        image[at] ^= 1 << at % 8
        with tempfile.NamedTemporaryFile(suffix=".drep") as f:
            f.write(image)
            f.flush()
            wrong = refused(f.name, ("NOT_DREP", "CHECKSUM", "FORMAT"))
        image[at] ^= 1 << at % 8
        if wrong:
            return "bit %d of byte %d: %s" % (at % 8, at, wrong)
    return None


def every_change():
    """A changed byte of a node whose sums were set right again: an answer or a DrepError."""
    for name in ("scalars", "compound", "named", "dims", "code", "second-commit"):
        with open(os.path.join(VECTORS, name + ".drep"), "rb") as f:
            image = bytearray(f.read())
        slot, _ = tree.choose_slot(bytes(image))
        at, length = slot.root.offset, slot.root.length
        if image[at + 5]:
            return name + " has no leaf for a root"
        for i in range(40, length, 3):
            for value in (0, image[at + i] ^ 0x81, 255):
                changed = bytearray(image)
                changed[at + i] = value
                node = changed[at:at + length]
                total = drepwrite.u64(borrowed.xxh3(node[:32] + bytes(8) + node[40:]))
                changed[at + 32:at + 40] = changed[slot.base + 92:slot.base + 100] = total
                with tempfile.NamedTemporaryFile(suffix=".drep") as f:
                    f.write(drepwrite.resum(changed, slot.index))
                    f.flush()
                    try:
                        described(f.name)
                    except DrepError:
                        pass
    return None


def scalars_round():
    """What the writer encodes exactly, the reader decodes to the same number."""
    values = [Fraction(1), Fraction(-5, 2), Fraction(3, 8), Fraction(100), Fraction(-1, 16)]
    for form, (name, cls, sizes) in C.FORMATS.items():
        if cls != "real":
            continue
        for size in sizes:
            for order in (0, 1, 2) if size % 2 == 0 else (0, 1):
                scalar = Scalar(form, order, size)
                for v in values:
                    if form in (C.FP8_E4M3, C.FP8_E5M2) and v == 100:
                        continue
                    raw = drepwrite.encode(v, form, order, size)
                    neg, sig, exp = parts(scalar.decode(raw))
                    got = (-sig if neg else sig) * Fraction(2) ** exp
                    if got != v:
                        return "%s, order %d: %s reads as %s" % (name, order, v, got)
    return None


def scalars_known():
    """Bytes whose values are known from elsewhere."""
    known = [
        (C.X87, 0, 10, "3ffb cccccccccccccccd", "0x1.999999999999999ap-4"),
        (C.X87, 0, 10, "0000 0000000000000001", "0x1p-16445"),
        (C.X87, 0, 10, "7fff 8000000000000000", "inf"),
        (C.X87, 0, 10, "ffff 8000000000000000", "-inf"),
        (C.X87, 0, 10, "ffff 0000000000000000", "nan"),
        (C.X87, 0, 10, "7fff c000000000000000", "nan"),
        (C.X87, 0, 12, "ffff 3fff 8000000000000000", 1.0),
        (C.X87, 1, 12, "0000000000000080 ff3f ffff", 1.0),
        (C.X87, 0, 10, "0000 8000000000000000", "0x1p-16382"),
        (C.X87, 0, 10, "4000 4000000000000000", "nan"),
        (C.M68K, 0, 12, "3fff ffff 8000000000000000", 1.0),
        (C.M68K, 0, 12, "0000 0000 8000000000000000", "0x1p-16383"),
        (C.M68K, 0, 12, "0000 0000 0000000000000001", "0x1p-16446"),
        (C.M68K, 0, 12, "7fff 0000 0000000000000000", "inf"),
        (C.IBM32, 0, 4, "c276a000", -118.625),
        (C.IBM64, 0, 8, "4110000000000000", 1.0),
        (C.IBM32, 0, 4, "00000001", 16.0 ** -70),
        (C.VAX_F, 2, 4, "8040 0000", 1.0),
        (C.VAX_F, 2, 4, "4941 d00f", 3.141590118408203),
        (C.VAX_F, 2, 4, "0080 0000", "nan"),
        (C.VAX_F, 2, 4, "0000 ffff", 0.0),
        (C.VAX_D, 2, 8, "8040 0000 0000 0000", 1.0),
        (C.VAX_G, 2, 8, "1040 0000 0000 0000", 1.0),
        (C.VAX_H, 2, 16, "0140" + "0000" * 7, 1.0),
        (C.CRAY64, 0, 8, "4001800000000000", 1.0),
        (C.CRAY64, 0, 8, "e000800000000000", "-inf"),
        (C.DOUBLE_DOUBLE, 0, 16, "3ff0000000000000 bc70000000000000",
         "0x1.fffffffffffffep-1"),
        (C.DOUBLE_DOUBLE, 0, 16, "8000000000000000 0000000000000000", -0.0),
        (C.FP8_E4M3, 0, 1, "7e", 448.0), (C.FP8_E4M3, 0, 1, "ff", "nan"),
        (C.FP8_E4M3, 0, 1, "01", 2.0 ** -9), (C.FP8_E5M2, 0, 1, "7c", "inf"),
        (C.FP8_E5M2, 0, 1, "7b", 57344.0), (C.BFLOAT16, 0, 2, "7f7f", float.fromhex("0x1.fep127")),
        (C.BINARY16, 1, 2, "0100", 2.0 ** -24), (C.BINARY16, 0, 2, "7bff", 65504.0),
        (C.INT, 2, 4, "0201 0403", 0x01020304), (C.INT, 0, 3, "fffffe", -2),
        (C.EBCDIC, 0, 1, "c1", "A"), (C.BOOL, 1, 2, "0001", True),
    ]
    for form, order, size, raw, want in known:
        got = show(Scalar(form, order, size).decode(bytes.fromhex(raw)))
        if repr(got) != repr(want):
            return "%s %s: %r, not %r" % (C.FORMATS[form][0], raw, got, want)
    if Dyadic(True, 5, 7).hex() != "-0x1.4p+9":
        return "hexadecimal of -640"
    return None


def machines():
    """The images that a compiler laid out for a machine read as the values of their source."""
    want = {"s390x": ("0x1." + "f" * 28 + "p+16383", "0x1p-16382", "0x1p-16494"),
            "m68k": ("0x1.fffffffffffffffep+16383", "0x1p-16383", "0x1p-16446"),
            "i386": ("0x1.fffffffffffffffep+16383", "0x1p-16382", "0x1p-16445")}
    for abi, extremes in want.items():
        doc = described(os.path.join(VECTORS, "native-%s.drep" % abi))
        got = doc["root"]["members"]["long double"]["data"]
        wrong = compare.difference([0.0, -0.0, 1.0, -2.5, vectors.TENTH[abi]], got[:5])
        wrong = wrong or compare.difference([*extremes, "inf", "-inf", "nan"], got[6:])
        if wrong:
            return abi + ": " + wrong
    return None


def filters():
    """Filters against a bit by bit rendering of the page, on lengths that leave something over."""
    data = bytes(i * i * 7 + i // 3 & 255 for i in range(200))
    for n in (0, 1, 7, 8, 63, 64, 65, 200):
        part = data[:n]
        for s in (1, 2, 3, 4, 8, 16):
            if payload.unshuffle(drepwrite.shuffle(part, s), s) != part:
                return "shuffle(%d) of %d bytes" % (s, n)
            if payload.unbitshuffle(drepwrite.bitshuffle(part, s), s) != part:
                return "bitshuffle(%d) of %d bytes" % (s, n)
        for w in (1, 2, 4, 8):
            for order in (0, 1):
                if payload.undelta(drepwrite.delta(part, w, order), w, order) != part:
                    return "delta(%d,%d) of %d bytes" % (w, order, n)
    return None


# ---------------------------------------------------------------- the worked examples of the page

def spec_text():
    with open(os.path.join(ROOT, "SPEC.md"), encoding="utf-8") as f:
        return f.read()


def spec_vector():
    """The vector of 5.3: a struct under external32, and the long double 1/3."""
    text = " ".join(spec_text().split())
    found = re.search(r"double 1\.5; int 7\}` is `([0-9a-f ]+)`; the long double 1/3 of an x86 "
                      r"machine is `([0-9a-f ]+)`", text)
    if not found:
        return "the page has no such vector any more"
    shape = drepwrite.Shape({c: r + (1,) for c, r in C.standard_table("external32").items()})
    worked = ("struct", [("c", "CHAR"), ("d", "DOUBLE"), ("i", "INT")])
    if shape.encode(worked, ("A", 1.5, 7), bytearray()) != bytes.fromhex(found[1]):
        return "the struct is not " + found[1]
    _, sig = drepwrite.extended(Fraction(1, 3), -16382)
    third = Fraction(sig, 2 ** 65)
    if drepwrite.encode(third, C.BINARY128, 0, 16) != bytes.fromhex(found[2]):
        return "1/3 is not " + found[2]
    return None


def spec_dump():
    """The annotated dump: `offset  bytes  meaning`, of the file of vectors named before it."""
    image, lines, at = None, 0, None
    for line in spec_text().splitlines():
        named = re.search(r"`tests/vectors/([a-z0-9-]+\.drep)`", line)
        if named:
            with open(os.path.join(VECTORS, named[1]), "rb") as f:
                image = f.read()
        found = re.match(r" {4,8}(\d+)  ((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  |$)", line)
        more = re.match(r" {10,}((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  |$)", line)
        if image is None or not (found or more and at is not None):
            continue
        if found:
            at = int(found[1])
        raw = bytes.fromhex((found[2] if found else more[1]))
        if image[at:at + len(raw)] != raw:
            return "byte %d: %s" % (at, line.strip())
        at += len(raw)
        lines += 1
    return None if lines > 20 else "only %d lines of a dump found" % lines


# ---------------------------------------------------------------- the command

def command_refuses(datarep, path, check):
    """The command refuses the file with a message and does not crash."""
    args = ["check", path] if check else ["dump", "--json", path]
    done = limits.run([datarep] + args)
    err = (done.stderr + done.stdout if check else done.stderr).decode("utf-8", "replace")
    if done.returncode == 0:
        return "accepted"
    if done.returncode < 0 or "Sanitizer" in err:
        return "crashed with status %d: %s" % (done.returncode, err[:500])
    return done.wrong(limits.memory_bar(path)) or (None if err.strip() else "refused without a word")


def library_refuses(tap, program, directory):
    """The library's own test of bad files, over all of them: each by the code EXPECT names."""
    done = subprocess.run([program, directory], capture_output=True, timeout=300)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    for line, more in zip(lines, lines[1:] + [""]):
        found = re.match(r"(not )?ok \d+ - (.*)", line)
        if found:
            tap.run("library: " + found[2], lambda: more.lstrip("# ") if found[1] else None)
    if done.returncode != 0:
        tap.run("library: test_vectors ends", lambda: "status %d" % done.returncode)


def bad_list(directory):
    with open(os.path.join(directory, "EXPECT"), encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                yield (os.path.join(directory, words[0]), words[1].split("|"), words[2].split("|"),
                       "check" in words[3:])


def own_tests(tap, work):
    good = sorted(glob.glob(os.path.join(VECTORS, "*.drep")))
    for path in good:
        tap.run("reader: %s reads as its JSON" % os.path.basename(path), reads_back, path)
    for function in vectors.GOOD:
        tap.run("writer: %s made anew" % vectors.file_name(function), made_anew, function, work)
    for folder in (VECTORS, work):
        for path, categories, rules, _ in bad_list(os.path.join(folder, "bad")):
            tap.run("reader: %s is refused by its rule" % os.path.basename(path), refused, path,
                    categories, rules)
    for name, function in (
            ("a damaged slot is reported", reports_damage),
            ("earlier commits", lambda: earlier(os.path.join(VECTORS, "commits.drep"))),
            ("form 2 with its author's function", with_conversion),
            ("a filter with its author's function", with_filter),
            ("every truncation is refused", every_cut),
            ("every flipped bit is noticed", every_flip),
            ("a changed node under right sums is read or refused", every_change),
            ("scalars of every format and order", scalars_round),
            ("scalars of known bytes", scalars_known), ("images of foreign machines", machines),
            ("filters", filters)):
        tap.run("reader: " + name, function)
    tap.run("reader: bytes and values of every format", values_of_formats)
    tap.run("SPEC.md: worked vector of external32", spec_vector)
    if "tests/vectors/scalar.drep" in spec_text():
        tap.run("SPEC.md: annotated dump", spec_dump)
    else:
        tap.skip("SPEC.md: annotated dump", "the page has none")


def files_of_long_work(tap, directory, datarep):
    """What the library leaves after dozens of commits, some of them never finished."""
    program = os.path.join(os.path.dirname(datarep), "tests", "fault", "crash")
    if not os.access(program, os.X_OK):
        tap.skip("datarep: files of long work", "%s is not there" % program)
        return
    os.mkdir(directory)
    subprocess.run([program, "--files", "24", "1", directory], check=True, timeout=300)
    commits = absent = 0
    for path in sorted(glob.glob(os.path.join(directory, "*.drep"))):
        tap.run("datarep: %s" % os.path.basename(path), commits_by_command, datarep, path)
        commits += len(log_of(datarep, path))
        absent += sum(run.absent for o in File(path).objects.values()
                      for run in getattr(o, "runs", ()))
    tap.run("datarep: %d commits in these files, %d absent sums" % (commits, absent),
            lambda: None if commits > 48 and absent > 20 else "too few")


def check_passes(datarep, path):
    done = limits.run([datarep, "check", "--deep", path], timeout=60)
    over = done.wrong(limits.memory_bar(path))
    if over:
        raise RuntimeError("check of %s %s" % (os.path.basename(path), over))
    return done.returncode == 0


def refusal(path):
    """Why the independent reader refuses the file; None if it does not, or is out of its depth."""
    try:
        document(File(path))
    except DrepError as e:
        return None if e.category == "LIMIT" else str(e)
    return None


class Changer:
    """The program that changes files and writes to them; what it left of one."""

    def __init__(self, work, datarep):
        self.program = os.path.join(os.path.dirname(datarep), "tests", "fault", "mutants")
        self.datarep = datarep
        self.path = os.path.join(work, "changed.drep")
        self.after = os.path.join(work, "written.drep")

    def change(self, count, seed, files):
        if os.path.exists(self.after):
            os.unlink(self.after)
        subprocess.run([self.program, str(count), str(seed)] + files, check=True, timeout=60,
                       env=dict(os.environ, MUTANT_KEEP=self.path, MUTANT_WRITTEN=self.after))

    def spoiled(self):
        """What is wrong with the sound file after it was written to."""
        return refusal(self.after) or (None if check_passes(self.datarep, self.after) else
                                       "check finds something")


def nothing_missed(changer):
    """What the reader refuses of a changed file, the command's check finds."""
    files = sorted(glob.glob(os.path.join(VECTORS, "*.drep")))
    refused_ones, wrong = 0, []
    for seed in range(1, CHANGED + 1):
        changer.change(1, seed, files)
        why = refusal(changer.path)
        refused_ones += why is not None
        sound = check_passes(changer.datarep, changer.path)
        if sound and why:
            wrong.append("seed %d: check does not find: %s" % (seed, why))
        elif sound and os.path.exists(changer.after) and changer.spoiled():
            wrong.append("seed %d, written to: %s" % (seed, changer.spoiled()))
    return "\n".join(wrong) or (None if refused_ones > CHANGED // 10 else "too few are refused")


def sound_when_written_to(changer, path):
    """A file that another writer made, after the library wrote to it in many ways."""
    for how in range(0, 32, 3):
        changer.change(0, how, [path])
        if not check_passes(changer.datarep, path):
            return None  # nobody may write to it, or its filter is not there
        written = os.path.exists(changer.after)
        if written == (os.path.basename(path) == "readonly.drep"):
            return "it can be written to" if written else "it cannot be written to"
        if written and changer.spoiled():
            return "changes %d: %s" % (how, changer.spoiled())
    return None


def changed_files(tap, work, datarep):
    changer = Changer(work, datarep)
    if not os.access(changer.program, os.X_OK):
        tap.skip("datarep: changed files", "%s is not there" % changer.program)
        return
    tap.run("datarep: check finds what the reader refuses of %d changed files" % CHANGED,
            nothing_missed, changer)
    for path in sorted(glob.glob(os.path.join(VECTORS, "*.drep"))):
        tap.run("datarep: %s, written to" % os.path.basename(path), sound_when_written_to,
                changer, path)


def command_tests(tap, work, datarep):
    for path in sorted(glob.glob(os.path.join(VECTORS, "*.drep"))):
        tap.run("datarep: %s" % os.path.basename(path), compare.compare, datarep, path)
    tap.run("datarep: earlier commits", earlier_by_command, datarep,
            os.path.join(VECTORS, "commits.drep"))
    for path, _, _, check in bad_list(os.path.join(work, "bad")):
        tap.run("datarep: %s is refused" % os.path.basename(path), command_refuses, datarep, path,
                check)
    program = os.path.join(os.path.dirname(datarep), "tests", "vectors", "test_vectors")
    if os.access(program, os.X_OK):
        library_refuses(tap, program, os.path.join(work, "bad"))
    else:
        tap.skip("library: bad vectors", "%s is not there" % program)
    files_of_long_work(tap, os.path.join(work, "files"), datarep)
    changed_files(tap, work, datarep)


def main():
    tap = Tap()
    datarep = os.environ.get("DATAREP", os.path.join(ROOT, "build", "release", "datarep"))
    with tempfile.TemporaryDirectory() as work:
        badvectors.write(os.path.join(work, "bad"), everything=True)
        with contextlib.redirect_stderr(io.StringIO()):
            own_tests(tap, work)
            if os.access(datarep, os.X_OK):
                command_tests(tap, work, datarep)
            else:
                tap.skip("datarep: all vectors", "%s is not there" % datarep)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
