# SPDX-License-Identifier: MIT
"""hdf5compare - an HDF5 file, through h5py, against what `datarep dump --json` says of its
container, and against another HDF5 file.

Written from SPEC.md and HDF5's own documents; nothing here asks datarep what is right.
"""
import math
import re
from fractions import Fraction

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5l, h5o, h5s, h5t

import hdf5files

# Signalling NaNs are made on purpose.
np.seterr(invalid="ignore")

ANNOTATIONS = {"drep.hdf5:remarks", "drep.hdf5:named", "drep.hdf5:circles", "drep.hdf5:userblock"}
# netCDF-4's bookkeeping, which import makes notes of.
BOOKS = {b"_NCProperties", b"_nc3_strict", b"_Netcdf4Dimid", b"_Netcdf4Coordinates"}
BESIDE = "_nc4_non_coord_"  # how netCDF-4 names a dataset beside a dimension of the same name
# What export makes of dimension objects.
SCALE = {b"CLASS", b"NAME", b"REFERENCE_LIST", b"DIMENSION_LIST"}


class Differ(Exception):
    pass


def check(condition, text, *args):
    if not condition:
        raise Differ(text % args)


# ------------------------------------------------------------------ HDF5's numbers

def precision_of(t):
    """Where the bits of a number are; h5py does not ask that of bitfields."""
    return hdf5files.hdf5_call("H5Tget_precision", t.id)


def offset_of(t):
    return hdf5files.hdf5_call("H5Tget_offset", t.id)


def order_of(t):
    # h5py gives VAX no name.
    return {h5t.ORDER_LE: "little", h5t.ORDER_BE: "big"}.get(t.get_order(), "vax")


def as_number(t, raw):
    """The bytes of a scalar put in order, as one number."""
    order = order_of(t)
    if order != "vax":
        return int.from_bytes(raw, order)
    words = [raw[i] | raw[i + 1] << 8 for i in range(0, len(raw), 2)]
    n = 0
    for w in words:
        n = n << 16 | w
    return n


def integer_value(t, raw):
    bits = precision_of(t)
    n = as_number(t, raw) >> offset_of(t) & (1 << bits) - 1
    if isinstance(t, h5t.TypeIntegerID) and t.get_sign() == h5t.SGN_2 and n >> bits - 1:
        n -= 1 << bits
    return n


def is_double_double(t):
    return t.get_size() == 16 and t.get_precision() == 64 and t.get_fields()[2] == 11


def real_value(t, raw):
    """A Fraction, or "nan", "inf", "-inf", "-0"."""
    if is_double_double(t):
        parts = [np.frombuffer(raw[i:i + 8], "<f8" if order_of(t) == "little" else ">f8")[0] for i in (0, 8)]
        return sum(Fraction(float(p)) for p in parts)
    sign, exp_at, exp_width, sig_at, sig_width = t.get_fields()
    n = as_number(t, raw)
    negative = n >> sign & 1
    e = n >> exp_at & (1 << exp_width) - 1
    m = n >> sig_at & (1 << sig_width) - 1
    bias = t.get_ebias()
    norm = t.get_norm()
    vax = order_of(t) == "vax" and sig_width in (23, 55, 52)
    x87 = sig_width == 64
    largest = e == (1 << exp_width) - 1
    if vax and e == 0:
        return "nan" if negative else Fraction(0)
    if (norm == h5t.NORM_IMPLIED and not vax or x87) and largest and not (exp_width == 4 and sig_width == 3):
        bits = m & ~(1 << 63) if x87 else m
        return "nan" if bits or (x87 and not m) else "-inf" if negative else "inf"
    if norm == h5t.NORM_IMPLIED:
        top = Fraction(m + (1 << sig_width if e or vax else 0), 1 << sig_width)
        scale = (e if e or vax else 1) - bias
    else:
        top = Fraction(m, 1 << sig_width - 1)
        scale = (e if e or not x87 else 1) - bias
    value = top * Fraction(2) ** scale
    if value == 0:
        return "-0" if negative else value
    return -value if negative else value


def json_real(v):
    """A real of the JSON as real_value() gives it."""
    if isinstance(v, str) and "0x" in v:
        sign, one, digits, exponent = re.fullmatch(r"(-?)0x([01])\.?([0-9a-f]*)p([+-]?\d+)", v).groups()
        n = Fraction(int(one + digits, 16)) * Fraction(2) ** (int(exponent) - 4 * len(digits))
        return -n if sign else n
    if isinstance(v, str):
        return "nan" if v.endswith("nan") else v
    if v == 0 and math.copysign(1, v) < 0:
        return "-0"
    return Fraction(v)


def same_real(t, got, raw):
    want, v = real_value(t, raw), json_real(got)
    # Of binary32 the shortest decimal that reads back in binary32.
    if isinstance(v, Fraction) and isinstance(want, Fraction) and t.get_size() == 4 and \
            t.get_fields()[4] == 23 and not isinstance(got, str):
        return Fraction(float(np.float32(got))) == want
    return v == want


def is_complex(t):
    """True if h5py takes the compound for a complex number."""
    if t.get_nmembers() != 2 or [t.get_member_name(i) for i in (0, 1)] != [b"r", b"i"]:
        return False
    r, i = t.get_member_type(0), t.get_member_type(1)
    return isinstance(r, h5t.TypeFloatID) and r == i and t.get_size() == 2 * r.get_size()


# --------------------------------------------------------- elements against JSON

class Container:
    """One file of each kind, and which objects they call what."""

    def __init__(self, f, doc):
        self.f = f
        self.doc = doc
        self.paths = {}  # address: paths in the container

    def path_of(self, ref):
        return self.paths.get(h5o.get_info(h5py.h5r.dereference(ref, self.f.id)).addr, set())

    # ---- one element, from the bytes of its datatype in memory

    def same_fixed(self, t, got, raw):
        """Elements without contents elsewhere."""
        hdf5files.right_arithmetic()
        if isinstance(t, h5t.TypeEnumID):
            return self.same_enum(t, got, raw)
        if isinstance(t, (h5t.TypeIntegerID, h5t.TypeBitfieldID)) and t.get_size() > 16:
            return got == raw.hex()
        if isinstance(t, h5t.TypeIntegerID):
            want = integer_value(t, raw)
            return int(got) == want and isinstance(got, str) == (abs(want) > 2 ** 53 - 1)
        if isinstance(t, h5t.TypeBitfieldID):
            return int(got) == integer_value(t, raw)
        if isinstance(t, h5t.TypeFloatID):
            return same_real(t, got, raw)
        if isinstance(t, h5t.TypeStringID):
            return got == text_of(t, raw)
        if isinstance(t, (h5t.TypeOpaqueID, h5t.TypeTimeID)):
            return got == raw.hex()
        if isinstance(t, h5t.TypeArrayID):
            return self.same_array(t, got, raw)
        if isinstance(t, h5t.TypeCompoundID):
            return self.same_compound(t, got, raw)
        raise Differ("no rule for %s" % t)

    def same_enum(self, t, got, raw):
        base = t.get_super()
        value = integer_value(base, raw)
        names = {}
        for i in range(t.get_nmembers()):
            names[t.get_member_value(i)] = t.get_member_name(i).decode()
        if names == {0: "FALSE", 1: "TRUE"}:
            return got is bool(value)
        return got == names.get(value, value) or str(got) == str(value)

    def same_array(self, t, got, raw):
        base, dims = t.get_super(), t.get_array_dims()
        size = base.get_size()

        def walk(part, dims, at):
            if not dims:
                return self.same_fixed(base, part, raw[at:at + size])
            step = size * int(np.prod(dims[1:]))
            return len(part) == dims[0] and all(
                walk(p, dims[1:], at + i * step) for i, p in enumerate(part))
        return walk(got, dims, 0)

    def same_compound(self, t, got, raw):
        names = [t.get_member_name(i).decode() for i in range(t.get_nmembers())]
        if isinstance(got, list) and is_complex(t):
            half = t.get_member_type(0)
            return same_real(half, got[0], raw[:half.get_size()]) and \
                same_real(half, got[1], raw[half.get_size():])
        if list(got) != names:
            return False
        for i, name in enumerate(names):
            m, at = t.get_member_type(i), t.get_member_offset(i)
            if not self.same_fixed(m, got[name], raw[at:at + m.get_size()]):
                return False
        return True

    # ---- one element, as h5py gives it

    def same_value(self, got, want, dtype):
        dtype = np.dtype(dtype)
        if dtype.subdtype:
            return self.same_list(got, np.asarray(want), dtype.subdtype[0])
        enum = h5py.check_enum_dtype(dtype)
        if enum is not None:
            names = {v: k for k, v in enum.items()}
            return got == names.get(int(want), int(want)) or got == str(int(want))
        if h5py.check_string_dtype(dtype):
            return got == as_text(want)
        base = h5py.check_vlen_dtype(dtype)
        if base is not None:
            return self.same_list(got, np.asarray(want if want is not None else [], base), base)
        ref = h5py.check_ref_dtype(dtype)
        if ref is h5py.Reference:
            return got is None if not want else got in self.path_of(want)
        if ref is h5py.RegionReference:
            return self.same_region(got, want)
        if dtype.names:
            return list(got) == list(dtype.names) and all(
                self.same_value(got[n], want[n], dtype[n]) for n in dtype.names)
        if dtype.kind in "iu":
            return int(got) == int(want) and isinstance(got, str) == (abs(int(want)) > 2 ** 53 - 1)
        if dtype.kind == "b":
            return got is bool(want)
        if dtype.kind == "c":
            half = np.dtype("f%d" % (dtype.itemsize // 2))
            return self.same_value(got[0], want.real, half) and \
                self.same_value(got[1], want.imag, half)
        if dtype.kind == "f":
            return same_float(got, want, dtype)
        if dtype.kind in "SV":
            return got == (as_text(want) if dtype.kind == "S" else bytes(want).hex())
        raise Differ("no rule for %s" % dtype)

    def same_list(self, got, want, dtype):
        if want.ndim == 0:
            return self.same_value(got, want[()], dtype)
        if not isinstance(got, list) or len(got) != len(want):
            return False
        if want.ndim > 1:
            return all(self.same_list(g, np.asarray(w, object) if dtype.kind == "O" else np.asarray(w),
                                      dtype) for g, w in zip(got, want))
        return all(self.same_value(g, w, dtype) for g, w in zip(got, want))

    def same_region(self, got, want):
        if not want:
            return got is None
        if got["object"] not in self.path_of(want):
            return False
        space = h5py.h5r.get_region(want, self.f.id)
        text = got["region"]
        if not space.shape:
            return text == "[]"
        if space.get_select_type() == h5s.SEL_POINTS:
            points = [tuple(map(int, p.split(","))) for p in re.findall(r"\(([^)]*)\)", text)]
            return points == [tuple(map(int, p)) for p in space.get_select_elem_pointlist()]
        mask = np.zeros(space.shape, bool)
        for box in re.findall(r"\[([^]]*)\]", text):
            mask[tuple(slice(*(int(n) if n else None for n in p.split(":"))) if ":" in p else int(p)
                       for p in box.split(","))] = True
        return (text == "[%s]" % ",".join(":" * len(space.shape))) == \
            (space.get_select_type() == h5s.SEL_ALL) and bool(np.array_equal(mask, mask_of(space)))

    # ---- all elements of a dataset or attribute

    def check_elements(self, item, got, where):
        t, shape = item.get_type(), item.shape
        if not has_contents(t):
            size = t.get_size()
            raw = b"" if 0 in shape else read_bytes(item, t).tobytes()
            flat = flatten(got, len(shape))
            check(len(flat) * size == len(raw), "%s: %d elements", where, len(flat))
            for i, v in enumerate(flat):
                part = raw[i * size:i * size + size]
                check(self.same_fixed(t, v, part), "%s: element %d: %.200s is not %s", where, i, v, part.hex())
            return
        dtype = dtype_of(t)
        if dtype is None:
            return  # h5dump compares those
        value = read_values(item, t, dtype)
        base = dtype.subdtype[0] if dtype.subdtype else dtype
        check(self.same_list(got, value, base), "%s: %.300s is not %.300s", where, got, value)

    # ---- objects

    def check_attributes(self, obj, doc, path, left_out=()):
        names = {bytes.fromhex(h): n for h, n in remarks(doc, r"attribute-was ([0-9a-f]+) (.*)")}
        have = set(doc["attributes"]) - ANNOTATIONS
        for name in attribute_names(obj):
            if name in left_out:
                have.discard(name.decode())
                continue
            own = names.get(name) or ("drep.hdf5:" if name in BOOKS else "") + name.decode()
            check(own in have, "%s: attribute %s is missing", path, own)
            have.discard(own)
            got, attr = doc["attributes"][own], h5a.open(obj, name)
            where = "%s: attribute %s" % (path, own)
            if attr.get_space().get_simple_extent_type() == h5s.NULL:
                check(got["shape"] is None, "%s: not null", where)
                continue
            check(got["shape"] == list(attr.shape), "%s: shape %s", where, got["shape"])
            self.check_elements(attr, got["value"], where)
        check(not have - {"variable", "scale_length"}, "%s: more attributes: %s", path, have)

    def check_dataset(self, dset, doc, path):
        check(doc["kind"] == "dataset", "%s: not a dataset", path)
        self.check_attributes(dset, doc, path, SCALE)
        space, plist = dset.get_space(), dset.get_create_plist()
        if space.get_simple_extent_type() == h5s.NULL:
            check(doc["shape"] is None, "%s: not null", path)
            return
        most = tuple(None if n == h5s.UNLIMITED else n for n in space.get_simple_extent_dims(True))
        check(doc["shape"] == list(dset.shape), "%s: shape %s", path, doc["shape"])
        check(doc["maxshape"] == list(most), "%s: maxshape %s", path, doc["maxshape"])
        smaller = any(True for _ in remarks(doc, "chunk (.*)"))
        if plist.get_layout() == h5d.CHUNKED and not smaller:
            check(doc["chunk"] == list(plist.get_chunk()), "%s: chunk %s", path, doc["chunk"])
        if "data" in doc and is_there(dset):
            self.check_elements(dset, doc["data"], path)

    def check_link(self, group, name, here, member):
        info = group.links.get_info(name)
        value = group.links.get_val(name)
        if info.type == h5l.TYPE_SOFT:
            check(member == {"kind": "link", "link": "soft", "target": value.decode()}, "%s: %s", here, member)
        else:
            check(member == {"kind": "link", "link": "external", "file": value[0].decode(),
                             "target": value[1].decode()}, "%s: %s", here, member)

    def own_names(self, group, doc):
        """Each link of a group with the name that it has in the container."""
        names = {bytes.fromhex(h): n for h, n in remarks(doc, r"link-was ([0-9a-f]+) (.*)")}
        odd = {n for n, in remarks(doc, r"odd-link \d+ \d+ \S+ (.*)")}
        circles = doc["attributes"].get("drep.hdf5:circles", {"value": []})["value"]
        odd |= {c["name"] for c in circles}
        for name in group:
            own = names.get(name) or name.decode()
            plain = own[len(BESIDE):]
            if own.startswith(BESIDE) and plain in doc["dimensions"] and plain in doc["members"]:
                own = plain
            if own not in odd:
                yield name, own

    def walk(self, group, doc, path, visit):
        """Calls visit(object, doc, path) for all that hard links lead to, once."""
        here = self.paths.setdefault(h5o.get_info(group).addr, set())
        known = path in here
        here.add(path)
        if not known:
            visit(group, doc, path)
        expected = set()
        for name, own in self.own_names(group, doc):
            member = doc["members"].get(own)
            where = path.rstrip("/") + "/" + own
            scale = doc["dimensions"].get(own)
            if scale is not None and (member is None or BESIDE.encode() + name in group):
                member = scale  # a scale without a variable
                where = path + ("/#" if path != "/" and "#" in path.rsplit("/", 1)[1] else "#") + own
            else:
                expected.add(own)
            check(member is not None, "%s is missing", where)
            if group.links.get_info(name).type != h5l.TYPE_HARD:
                self.check_link(group, name, where, member)
                continue
            obj = h5o.open(group, name)
            paths = self.paths.setdefault(h5o.get_info(obj).addr, set())
            paths.add(where)
            if member["kind"] == "link":
                check(member["link"] == "hard" and member["target"] in paths, "%s: %s", where, member)
            elif isinstance(obj, h5g.GroupID):
                check(member["kind"] == "group", "%s: not a group", where)
                visit(obj, member, where)
                self.walk(obj, member, where, visit)
            else:
                visit(obj, member, where)
        check(set(doc["members"]) == expected, "%s: members %s", path, sorted(doc["members"]))

    def check_object(self, obj, doc, path):
        if isinstance(obj, h5g.GroupID):
            self.check_attributes(obj, doc, path)
        elif isinstance(obj, h5t.TypeID):
            check(doc["kind"] == "type", "%s: not a type", path)
            self.check_attributes(obj, doc, path)
        elif doc["kind"] == "dimension":
            check(doc["unlimited"] == (obj.get_space().get_simple_extent_dims(True)[0] == h5s.UNLIMITED),
                  "%s: unlimited", path)
        else:
            self.check_dataset(obj, doc, path)

    def check_all(self):
        # References may lead to what comes later: paths first.
        self.walk(self.f.id and h5g.open(self.f.id, b"/"), self.doc, "/", lambda *_: None)
        paths, self.paths = self.paths, {}
        todo = []
        self.walk(h5g.open(self.f.id, b"/"), self.doc, "/", lambda *x: todo.append(x))
        self.paths = paths
        for obj, doc, path in todo:
            self.check_object(obj, doc, path)


def remarks(doc, pattern):
    """What matches the pattern in the remarks about an object."""
    for line in doc["attributes"].get("drep.hdf5:remarks", {"value": []})["value"]:
        m = re.fullmatch(pattern, line, re.S)
        if m:
            yield m.groups()


def attribute_names(obj):
    names = []
    h5a.iterate(obj, lambda name: names.append(name))
    return names


def flatten(v, rank):
    if rank == 0:
        return [v]
    return [x for part in v for x in flatten(part, rank - 1)]


def as_text(v):
    if isinstance(v, bytes):
        return v.decode("utf-8", "surrogateescape")
    return "" if v is None else v


def text_of(t, raw):
    pad = t.get_strpad()
    if pad == h5t.STR_NULLTERM:
        raw = raw.split(b"\0")[0]
    else:
        raw = raw.rstrip(b" " if pad == h5t.STR_SPACEPAD else b"\0")
    return raw.decode("utf-8", "surrogateescape")


def same_float(got, want, dtype):
    if dtype.itemsize in (12, 16):
        v = json_real(got)
        if np.isnan(want):
            return v == "nan"
        if np.isinf(want):
            return v == ("-inf" if want < 0 else "inf")
        if want == 0:
            return v == ("-0" if np.signbit(want) else 0)
        m, e = np.frexp(np.longdouble(want))
        return v == Fraction(int(np.ldexp(m, 64))) * Fraction(2) ** (int(e) - 64)
    v = float(got)
    if np.isnan(want):
        return math.isnan(v)
    return dtype.newbyteorder("=").type(v) == dtype.newbyteorder("=").type(want) and \
        (math.copysign(1, v) < 0) == bool(np.signbit(want))


def mask_of(space):
    mask = np.zeros(space.shape, bool)
    if space.get_select_type() == h5s.SEL_ALL:
        mask[...] = True
    elif space.get_select_type() == h5s.SEL_HYPERSLABS:
        for low, high in space.get_select_hyper_blocklist():
            mask[tuple(slice(int(a), int(b) + 1) for a, b in zip(low, high))] = True
    return mask


def has_contents(t):
    """Whether elements hold more than their bytes: sequences, strings, references."""
    if isinstance(t, h5t.TypeVlenID) or isinstance(t, h5t.TypeReferenceID):
        return True
    if isinstance(t, h5t.TypeStringID):
        return t.is_variable_str()
    if isinstance(t, h5t.TypeArrayID):
        return has_contents(t.get_super())
    if isinstance(t, h5t.TypeCompoundID):
        return any(has_contents(t.get_member_type(i)) for i in range(t.get_nmembers()))
    return False


def dtype_of(t):
    """What numpy makes of a datatype with contents; None if h5py does not read it well."""
    if isinstance(t, h5t.TypeVlenID) and isinstance(t.get_super(), (h5t.TypeVlenID, h5t.TypeStringID,
                                                                    h5t.TypeReferenceID)):
        return None
    if isinstance(t, h5t.TypeArrayID) and has_contents(t.get_super()):
        return None
    if isinstance(t, h5t.TypeCompoundID) and any(
            has_contents(m) and dtype_of(m) is None
            for m in (t.get_member_type(i) for i in range(t.get_nmembers()))):
        return None
    try:
        return t.dtype
    except Exception:  # h5py has a different one for each type that it does not know
        return None


def read_bytes(item, t):
    """The elements of a dataset or attribute as bytes of this type."""
    out = np.zeros(item.shape, "V%d" % t.get_size())
    if isinstance(item, h5d.DatasetID):
        item.read(h5s.ALL, h5s.ALL, out, mtype=t)
    else:
        item.read(out, mtype=t)
    return out


def read_values(item, t, dtype):
    if isinstance(item, h5d.DatasetID):
        value = h5py.Dataset(item)[()]
        if dtype.kind == "O" and item.shape == ():
            value, one = np.empty((), object), value
            value[()] = one
        return repair(np.asarray(value), t)
    base, more = dtype.subdtype if dtype.subdtype else (dtype, ())
    value = np.empty(item.shape + more, base)
    item.read(value)
    return repair(value, t)


def repair(value, t):
    """h5py gives the elements of a big-endian sequence as if they were little-endian."""
    if isinstance(t, h5t.TypeVlenID):
        base = t.get_super().dtype
        out = np.empty(value.shape, object)
        for i, v in np.ndenumerate(value):
            out[i] = v.view(base) if isinstance(v, np.ndarray) and v.size and base.kind in "iuf" else v
        return out
    if isinstance(t, h5t.TypeCompoundID) and value.dtype.names:
        for i, name in enumerate(value.dtype.names):
            if value.dtype[name].kind == "O":
                value[name] = repair(value[name], t.get_member_type(i))
    return value


# ------------------------------------------------------------ HDF5 against HDF5

def packed(t):
    """The same type without gaps, so that only what means something is compared."""
    if isinstance(t, h5t.TypeArrayID):
        return h5t.array_create(packed(t.get_super()), t.get_array_dims())
    if not isinstance(t, h5t.TypeCompoundID):
        return t.copy()
    members = [(t.get_member_name(i), packed(t.get_member_type(i))) for i in range(t.get_nmembers())]
    out, at = h5t.create(h5t.COMPOUND, sum(m.get_size() for _, m in members)), 0
    for name, m in members:
        out.insert(name, at, m)
        at += m.get_size()
    return out


def is_there(item):
    """HDF5 does not read what was never written and has no fill value."""
    if not isinstance(item, h5d.DatasetID):
        return True
    plist = item.get_create_plist()
    return plist.fill_value_defined() != h5d.FILL_VALUE_UNDEFINED or item.get_storage_size() > 0


class Pair:
    def __init__(self, fa, fb, order):
        self.fa, self.fb = fa, fb
        self.order = order
        self.seen = set()

    def same_objects(self, x, y):
        if isinstance(x, (h5py.RegionReference, h5py.Reference)):
            if not x or not y:
                return bool(x) == bool(y)
            if h5py.h5r.get_name(x, self.fa.id) != h5py.h5r.get_name(y, self.fb.id):
                return False
            if not isinstance(x, h5py.RegionReference):
                return True
            a, b = (h5py.h5r.get_region(r, f.id) for r, f in ((x, self.fa), (y, self.fb)))
            if a.get_select_type() != b.get_select_type():
                return False
            if a.get_select_type() == h5s.SEL_POINTS:
                return np.array_equal(a.get_select_elem_pointlist(), b.get_select_elem_pointlist())
            return a.shape == b.shape and np.array_equal(mask_of(a), mask_of(b))
        if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
            return self.same_arrays([] if x is None else x, [] if y is None else y)
        return x == y

    def same_arrays(self, a, b):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape:
            return False
        if a.dtype.kind == "O":
            return all(self.same_objects(x, y) for x, y in zip(a.ravel(), b.ravel()))
        if a.dtype.names:
            return a.dtype.names == b.dtype.names and all(
                self.same_arrays(a[n], b[n]) for n in a.dtype.names)
        a, b = (v.astype(v.dtype.newbyteorder("="), copy=False) for v in (a, b))
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()

    def same_data(self, a, b, where):
        sa, sb = a.get_space(), b.get_space()
        check(sa.get_simple_extent_type() == sb.get_simple_extent_type() and a.shape == b.shape,
              "%s: shape differs in the export", where)
        if sa.get_simple_extent_type() == h5s.NULL or 0 in a.shape or not is_there(a):
            return
        t = a.get_type()
        if not has_contents(t):
            if not self.order:
                return
            t = packed(t)
            size = int(np.prod(a.shape, dtype=float) * t.get_size())
            if size < 1 << 28:
                check(read_bytes(a, t).tobytes() == read_bytes(b, t).tobytes(),
                      "%s: bytes differ in the export", where)
            return
        dtype, other = dtype_of(t), dtype_of(b.get_type())
        if dtype is None or other is None:
            return  # h5dump compares those
        a, b = read_values(a, t, dtype), read_values(b, b.get_type(), other)
        check(self.same_arrays(a, b), "%s: values differ in the export: %.200s, %.200s", where, a, b)

    def same_attributes(self, a, b, path):
        names = attribute_names(a)
        check(set(names) == set(attribute_names(b)), "%s: attributes in the export: %s", path,
              sorted(attribute_names(b)))
        for name in names:
            self.same_data(h5a.open(a, name), h5a.open(b, name), "%s@%s" % (path, name))
        check(hdf5files.comment(a) == hdf5files.comment(b), "%s: comment in the export", path)

    def same_dataset(self, a, b, path):
        check(a.get_space().get_simple_extent_type() == h5s.NULL or
              a.get_space().get_simple_extent_dims(True) == b.get_space().get_simple_extent_dims(True),
              "%s: maxshape in the export", path)
        pa, pb = a.get_create_plist(), b.get_create_plist()
        check(pa.fill_value_defined() == pb.fill_value_defined(), "%s: fill in the export", path)
        if pa.get_layout() == h5d.CHUNKED:
            check(pb.get_layout() == h5d.CHUNKED and pa.get_chunk() == pb.get_chunk(),
                  "%s: chunks in the export", path)
        self.same_data(a, b, path)

    def same_object(self, a, b, path):
        self.same_attributes(a, b, path)
        check(type(a) is type(b), "%s: kind in the export", path)
        if isinstance(a, h5d.DatasetID):
            self.same_dataset(a, b, path)
            ta, tb = a.get_type(), b.get_type()
            check(ta.committed() == tb.committed(), "%s: named datatype in the export", path)
        if not isinstance(a, h5g.GroupID) or h5o.get_info(a).addr in self.seen:
            return
        self.seen.add(h5o.get_info(a).addr)
        check(set(a) == set(b), "%s: members in the export: %s", path, sorted(b))
        for name in a:
            x, y = a.links.get_info(name), b.links.get_info(name)
            where = "%s/%s" % (path.rstrip("/"), name)
            check(x.type == y.type, "%s: link in the export", where)
            if x.type == h5l.TYPE_HARD:
                self.same_object(h5o.open(a, name), h5o.open(b, name), where)
            elif x.type in (h5l.TYPE_SOFT, h5l.TYPE_EXTERNAL):
                check(a.links.get_val(name) == b.links.get_val(name), "%s: link in the export", where)

    def check_all(self):
        self.same_object(h5g.open(self.fa.id, b"/"), h5g.open(self.fb.id, b"/"), "/")
        a, b = (f.id.get_create_plist().get_userblock() for f in (self.fa, self.fb))
        check(a == b, "user block of %d bytes in the export", b)
