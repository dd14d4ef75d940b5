"""The file: objects, links, attributes, dimensions, datasets (sections 6 to 8)."""

from . import codes as C
from . import types as T
from .errors import Cursor, DrepError
from .payload import Filter, runs, suffix, unfilter
from .tree import (PENDING, Blocks, choose_slot, earlier_slot, read_header, read_ref, slot_of,
                   walk_tree)
from .values import Elements, Heap, nest, self_described, show

FREE, LOG, TYPE, OBJECT, DATA, LINK, DIM, ATTR, CHUNK, USER = 1, 2, 3, 16, 24, 32, 34, 48, 64, 80
GROUP, DATASET, NAMED, DIMENSION = 1, 2, 3, 4
HARD, SOFT, EXTERNAL = 1, 2, 3
NO_ELEMENTS, COMPACT, CONTIGUOUS, CHUNKED = range(4)
UNLIMITED = (1 << 64) - 1
NULL_RANK = 255
CHUNK_MAX = 1 << 24
COMPACT_MAX = 65536
MANY = 1 << 24  # elements of a dataset that this reader is willing to show

_conversions = {}


def register_conversion(name, decode):
    """For form 2: decode(code, bytes) gives the value of one predefined item under `name`."""
    _conversions[name] = decode


class Foreign:
    """Scalars of a form-2 representation, through the function its author registered."""

    def __init__(self, decode, code, size):
        self.call, self.code, self.size = decode, code, size

    def decode_many(self, buf, starts):
        return [self.call(self.code, bytes(buf[s:s + self.size])) for s in starts]


class Object:
    def __init__(self, ident):
        self.id = ident
        self.record = None
        self.attributes = {}
        self.links = {}
        self.dims = {}
        self.chunks = []
        self.data = None
        self.users = set()


class File:
    """A whole file, read and checked on construction; `damage` reports a damaged slot.
    `commit` asks for an earlier one."""

    def __init__(self, path, commit=None):
        self.path = path
        self.paths = {}
        try:
            with open(path, "rb") as f:
                self.image = f.read()
            self.slot, self.damage = choose_slot(self.image)
            self.blocks = Blocks(self.image, self.slot)
            if commit is not None and commit != self.slot.sequence:
                other = slot_of(self.image, commit, self.slot)
                if other is not None:
                    self.slot = other
                    self.blocks = Blocks(self.image, self.slot)
            self.header = read_header(self.blocks, self.slot)
            if commit is not None and commit != self.slot.sequence:
                self.slot = earlier_slot(self.blocks, self.slot, commit)
                self.blocks = Blocks(self.image, self.slot)
            self.limit = self.hint("drep_chunk_max", CHUNK_MAX)
            self.objects = {}
            self.types = {}
            self.uses = {}
            self.free = []
            self.read_tree()
            self.read_pending()
            self.read_objects()
            self.walk_groups()
            self.check_counts()
            self.blocks.check_overlap()
        except DrepError as e:
            e.file = path
            raise

    def hint(self, key, default):
        value = self.header.hints.get(key, "")
        return int(value) if value.isdigit() else default

    # ------------------------------------------------------------ entries

    def read_tree(self):
        for key, value, at in walk_tree(self.blocks, self.slot.root):
            if len(key) < 9:
                raise DrepError("FORMAT", "key of %d bytes (R4.18)" % len(key), at)
            self.entry(int.from_bytes(key[:8], "big"), key[8], key[9:], value, at)

    def entry(self, ident, tag, tail, value, at):
        def tail_of(n):
            if len(tail) != n:
                raise DrepError("FORMAT", "key of tag %d has a tail of %d bytes (R4.19)" % (tag, len(tail)),
                                at)

        number = int.from_bytes(tail, "big")
        apart, ident = ident >> 63, ident & (1 << 63) - 1
        if tag in (FREE, LOG, TYPE, OBJECT, DATA, LINK, ATTR, CHUNK, USER) and apart != (tag == ATTR):
            raise DrepError("FORMAT", "tag %d in the wrong range of keys (R4.23)" % tag, at)
        cur = Cursor(value, at, "entry of tag %d" % tag)
        if tag in (FREE, LOG, TYPE) and ident != 0:
            cur.fail("belongs to object 0, not %d (R4.19)" % ident)
        if tag == FREE:
            tail_of(8)
            length = cur.u64()
            if not length:
                cur.fail("free extent of no bytes (R6.3)")
            self.free.append((number, length, cur.u64()))
            self.blocks.claim(number, length, "free extent")
        elif tag == LOG:
            tail_of(8)
            if number >= self.slot.sequence:
                cur.fail("commit %d is no earlier one (R6.5)" % number)
            cur.i64(), cur.u64(), read_ref(cur), cur.u64()
            if number == 0:
                cur.fail("a commit without a number (R6.5)")
        elif tag == TYPE:
            tail_of(4)
            if number >= self.slot.next_type:
                cur.fail("datatype number %d was never given (R2.18)" % number)
            uses = cur.u64()
            self.types[number] = [uses, value[8:], at + 8, None]
        elif tag == OBJECT:
            tail_of(0)
            if ident == 0 or ident >= self.slot.next_object:
                cur.fail("object id %d was never given (R2.18)" % ident)
            self.object(ident).record = (value, at)
        elif tag == DATA:
            tail_of(0)
            self.object(ident).data = value
        elif tag in (LINK, DIM, ATTR):
            name = self.name(tail, at, tag != ATTR)
            obj = self.object(ident)
            {LINK: obj.links, DIM: obj.dims, ATTR: obj.attributes}[tag][name] = (
                value, at)
        elif tag == CHUNK:
            self.object(ident).chunks.append((tail, value, at))
        elif tag == USER:
            tail_of(9)
            self.object(ident).users.add((int.from_bytes(tail[:8], "big"), tail[8]))

    def name(self, raw, at, link):
        try:
            name = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise DrepError("FORMAT", "name is not UTF-8 (R7.10)", at) from None
        if not 1 <= len(raw) <= 1023:
            raise DrepError("FORMAT", "name of %d bytes (R7.10)" % len(raw), at)
        if "\0" in name or link and ("/" in name or name in (".", "..")):
            raise DrepError("FORMAT", "forbidden name %r (R7.10)" % name, at)
        return name

    def object(self, ident):
        if ident not in self.objects:
            self.objects[ident] = Object(ident)
        return self.objects[ident]

    def read_pending(self):
        ref = self.slot.pending
        if not ref.offset and not ref.length:
            return
        count, data, at = self.blocks.get(ref, PENDING)
        if len(data) != 24 * count:
            raise DrepError("FORMAT", "pending list of %d bytes has %d entries (R6.4)"
                            % (len(data), count), at)
        cur = Cursor(data, at, "pending list")
        for _ in range(count):
            offset, length = cur.u64(), cur.u64()
            cur.u64()
            self.blocks.claim(offset, length, "pending extent")

    # ------------------------------------------------------------ types

    def type(self, number, count=True):
        """The Type of a `u32` datatype reference; raises T.Unknown for one of a later version."""
        if number < 65536:
            return T.predefined(number)
        entry = self.types.get(number - 65536)
        if entry is None:
            raise DrepError("FORMAT", "datatype %d does not exist (R5.5)" % (number - 65536))
        if count:
            self.uses[number - 65536] = self.uses.get(number - 65536, 0) + 1
        if entry[3] is None:
            entry[3] = T.read_type(Cursor(entry[1], entry[2], "datatype record"))
        return entry[3]

    def try_type(self, number):
        try:
            return self.type(number)
        except T.Unknown:
            return None

    # ------------------------------------------------------------ objects

    def read_objects(self):
        for obj in list(self.objects.values()):
            where = "object %d" % obj.id
            try:
                if obj.record is None:
                    if obj.id == 0:
                        continue
                    raise DrepError("FORMAT", "entries of an object that does not exist (R4.21)")
                self.read_object(obj)
            except DrepError as e:
                raise e.inside(where)
        root = self.objects.get(1)
        if root is None or root.kind != GROUP:
            raise DrepError("FORMAT", "there is no root group (R7.2)")
        for number, entry in self.types.items():
            try:
                self.type(number + 65536, False)
            except T.Unknown:
                pass

    def read_object(self, obj):
        raw, at = obj.record
        cur = Cursor(raw, at, "object record")
        obj.kind, obj.flags = cur.u8(), cur.u8()
        obj.hard, obj.next_attribute = cur.var(32), cur.var(32)
        known = {GROUP: 0, DATASET: 3, NAMED: 0, DIMENSION: 1}
        if obj.kind not in known or obj.flags & 15 & ~known[obj.kind]:  # of a later version
            obj.number, obj.kind = obj.kind, None
            self.read_attributes(obj)
            return
        if obj.kind == GROUP:
            obj.next_link, obj.link_count = cur.var(), cur.var()
        elif obj.kind == DATASET:
            self.read_dataset(obj, cur)
        elif obj.kind == NAMED:
            obj.type = self.try_type(cur.var(32))
            if obj.type is not None:
                T.check_not_laid_out(obj.type, True)
        else:
            obj.length = cur.var()
            obj.scales = [cur.u64() for _ in range(cur.u16())]
        for kind, tag, have in ((GROUP, "links", obj.links or obj.dims),
                                (DATASET, "chunks", obj.chunks), (DATASET, "data", obj.data),
                                (DIMENSION, "users", obj.users)):
            if have and obj.kind != kind:
                cur.fail("object of kind %d has %s (R4.19)" % (obj.kind, tag))
        self.read_links(obj)
        self.read_attributes(obj)

    def read_links(self, obj):
        if obj.kind != GROUP:
            return
        out = []
        for name, (raw, at) in obj.links.items():
            cur = Cursor(raw, at, "link record")
            kind, flags, index = cur.u8(), cur.u8(), cur.var()
            if flags & 15 or not HARD <= kind <= EXTERNAL:
                kind, target = None, (kind, flags)  # of a later version
            elif kind == HARD:
                told, target = cur.u8(), cur.var()
                to = self.objects.get(target)
                if to is not None and to.record is not None and to.record[0][:1] != bytes([told]):
                    cur.fail('link "%s" says kind %d (R7.9)' % (name, told))
            elif kind == SOFT:
                target = cur.text(cur.u16())
            else:
                target = cur.text(cur.u16()), cur.text(cur.u16())
            if kind != HARD and "" in (target if kind == EXTERNAL else [target]):
                cur.fail("link to an empty text (R7.8)")
            if any(o[0] == index for o in out):
                cur.fail("two links have the creation index %d (R7.5)" % index)
            if index >= obj.next_link:
                cur.fail("creation index %d was never given (R7.5)" % index)
            out.append((index, name, kind, target))
        if obj.link_count != len(out):
            raise DrepError("FORMAT", "group of %d links says it has %d (R7.4)"
                            % (len(out), obj.link_count))
        obj.members = [o[1:] for o in sorted(out, key=lambda o: o[0])]
        self.read_dims(obj, [o[0] for o in out])

    def read_dims(self, obj, taken):
        """The dimensions of a group, (name, id) in order of creation; of a later version kind and
        flags instead of the id."""
        out = []
        for name, (raw, at) in obj.dims.items():
            cur = Cursor(raw, at, "dimension record")
            kind, flags, index = cur.u8(), cur.u8(), cur.var()
            target = (kind, flags) if kind != 1 or flags & 15 else cur.var()
            if target in (0, 1):
                cur.fail("object %d as a dimension (R7.14)" % target)
            if index >= obj.next_link:
                cur.fail("creation index %d was never given (R7.5)" % index)
            if index in taken:
                cur.fail("creation index %d is given twice (R7.5)" % index)
            taken.append(index)
            out.append((index, name, target))
        obj.dim_list = [o[1:] for o in sorted(out, key=lambda o: o[0])]

    def read_attributes(self, obj):
        out = []
        for name, (raw, at) in obj.attributes.items():
            cur = Cursor(raw, at, "attribute record")
            kind, flags, index = cur.u8(), cur.u8(), cur.var(32)
            later = kind != 1 or flags & 15
            if not later:
                number, rank = cur.var(32), cur.u8()
                shape = None if rank == NULL_RANK else [cur.var() for _ in range(rank)]
                if shape is not None and rank > 32:
                    cur.fail("rank %d (R7.13)" % rank)
                size = cur.var(32)
                at = cur.offset()
                value = cur.bytes(size)
            if any(o[0] == index for o in out):
                cur.fail("two attributes have the creation index %d (R7.6)" % index)
            if index >= obj.next_attribute:
                cur.fail("creation index %d was never given (R7.6)" % index)
            if later:
                out.append((index, name, None, None, (kind, flags), None))
                continue
            t = self.try_type(number)
            if t is not None:
                T.check_not_laid_out(t, False)
            out.append((index, name, t, shape, value, at))
        obj.attrs = [o[1:] for o in sorted(out, key=lambda o: o[0])]

    # ------------------------------------------------------------ datasets

    def read_dataset(self, obj, cur):
        obj.type = self.try_type(cur.var(32))
        number = cur.u8()
        if number not in self.header.reps:
            cur.fail("the header has no representation %d (R3.15)" % number)
        obj.rep = self.header.reps[number]
        obj.layout, rank = cur.u8(), cur.u8()
        obj.shape = None
        obj.maximum = obj.dimensions = None
        obj.chunk = None
        if rank == NULL_RANK:
            if NO_ELEMENTS < obj.layout <= CHUNKED:
                cur.fail("null dataspace with layout %d (R8.3)" % obj.layout)
            rank = 0
        else:
            if rank > 32:
                cur.fail("rank %d (R8.1)" % rank)
            obj.shape = [cur.var() for _ in range(rank)]
            obj.maximum = list(obj.shape)
            if obj.layout == NO_ELEMENTS and all(obj.shape):
                cur.fail("elements without a layout (R8.3)")
            T.product(obj.shape)
        if obj.flags & 1:
            maximum = [cur.var() for _ in range(rank)]
            if obj.shape is not None:
                obj.maximum = maximum
                if any(m < n for m, n in zip(maximum, obj.shape)):
                    cur.fail("length beyond its maximum (R8.2)")
        if obj.flags & 2:
            obj.dimensions = [cur.var() for _ in range(rank)]
        obj.runs = []
        obj.later = obj.layout > CHUNKED
        if obj.later:
            return
        if obj.layout == CONTIGUOUS:
            obj.chunk = [cur.var()]
            if any(m != n for m, n in zip(obj.maximum[1:], obj.shape[1:])):
                cur.fail("contiguous dataset may grow beyond its first dimension (R8.11)")
        if obj.layout == CHUNKED:
            obj.chunk = [cur.var(32) for _ in range(rank)]
        if obj.chunk and min(obj.chunk) < 1:
            cur.fail("chunk length 0 (R8.5)")
        obj.filters = []
        for _ in range(self.at_most(cur, cur.u8(), 16, "filters")):
            ident, flags = cur.u16(), cur.u8()
            name = cur.text(cur.u8())
            if bool(name) != (ident >= 32768):
                cur.fail('filter %d has the name "%s" (R8.37)' % (ident, name))
            count = self.at_most(cur, cur.u8(), 8, "parameters of a filter")
            if flags & 1 and (ident not in (16, 17, 18) or any(f.prefixed() for f in obj.filters)):
                cur.fail("filter %d cannot be bare here (R8.33)" % ident)
            obj.filters.append(Filter(ident, flags, name, [cur.u32() for _ in range(count)]))
        if obj.layout in (COMPACT, CONTIGUOUS) and obj.filters:
            cur.fail("filters of a dataset that is not chunked (R8.10)")
        obj.fill = cur.u8()
        obj.fill_value = None
        if obj.fill > 2:
            obj.later = True
            return
        if obj.fill == 1:
            size = cur.var(32)
            obj.fill_value = (cur.offset(), cur.bytes(size))
        self.read_storage(obj)

    @staticmethod
    def at_most(cur, n, limit, what):
        if n > limit:
            cur.fail("%d %s (R8.31)" % (n, what))
        return n

    def read_storage(self, obj):
        """Layout of the elements, chunk records and all sums."""
        obj.runs = []
        obj.newer = False
        obj.later = obj.rep.later or obj.type is None or bool(
            obj.rep.rows_later.intersection(obj.type.codes()))
        if obj.later:
            obj.type = None  # nobody knows how long its elements are
        if obj.type is not None:
            obj.lay = T.Layout(obj.rep.extents, False)
            T.check_laid_out(obj.type, obj.lay)
            size = obj.lay.size(obj.type)
            if obj.shape is not None:
                T.product(obj.shape + [size])
        if obj.data is not None and obj.layout != COMPACT:
            raise DrepError("FORMAT", "DATA entry of a dataset that is not compact (R8.10)")
        if obj.layout == COMPACT and obj.type is not None:
            if T.product(obj.shape + [size]) > COMPACT_MAX:
                raise DrepError("FORMAT", "compact dataset of more than %d bytes (R8.10)" % COMPACT_MAX)
        if obj.chunks and obj.layout not in (CONTIGUOUS, CHUNKED):
            raise DrepError("FORMAT", "CHUNK entry of a dataset without chunks (R8.13)")
        ranks = len(obj.chunk or [])
        inner = suffix(obj.maximum, obj.chunk) if obj.layout == CHUNKED else []
        end = None
        for tail, raw, at in obj.chunks:
            if len(tail) != 8 * ranks:
                raise DrepError("FORMAT", "chunk key of %d bytes in a grid of %d dimensions (R4.19)"
                                % (len(tail), ranks), at)
            where = [int.from_bytes(tail[i:i + 8], "big") for i in range(0, len(tail), 8)]
            try:
                found = runs(raw, at, where, self.blocks, inner)
            except DrepError as e:
                e.message = "chunk (%s): %s" % (",".join(map(str, where)), e.message)
                raise
            if any(c > 1 << 62 for c in where):
                raise DrepError("FORMAT", "grid coordinate beyond 2^62 (R8.13)", at)
            if found is None:
                obj.newer = True
                continue
            for run in found:
                if not ranks and run.run > 1:
                    raise DrepError("FORMAT", "run of chunks without a grid (R8.15)", at)
                if run.filtered and (run.size > self.limit or obj.layout != CHUNKED):
                    raise DrepError("FORMAT", "filtered chunk that may not be one (R8.22)", at)
                if end is not None and run.at < end:
                    raise DrepError("FORMAT", "runs of chunks overlap (R8.20)", at)
                end = run.at[:-1] + [run.at[-1] + run.run] if ranks else None
            obj.runs += found

    @staticmethod
    def scalars(h):
        """code -> Scalar of a representation, or None where nobody can read it."""
        if h.form == 1:
            return {code: row.scalar for code, row in h.table.items()}
        if h.name not in _conversions:
            return None
        return {code: Foreign(_conversions[h.name], code,
                              size // 2 if C.PREDEFINED[code][1] == "complex" else size)
                for code, size in h.extents.items()}

    def fill_of(self, obj):
        """The fill value as JSON; None where it is zeros."""
        if obj.fill != 1:
            return None
        at, raw = obj.fill_value
        return self_described(raw, at, obj.type, 1, self.paths, "fill value")[0]

    def data(self, obj):
        """The elements as JSON; None where they cannot be shown."""
        if obj.shape is None or obj.type is None or obj.newer:
            return None
        count = T.product(obj.shape)
        if count > MANY:
            raise DrepError("LIMIT", "too many elements for this reader")
        scalars = self.scalars(obj.rep)
        if scalars is None and obj.type.codes():
            return None
        fill = self.fill_of(obj) if obj.fill == 1 else zero(obj.type)
        out = [fill] * count
        elements = Elements(obj.type, obj.lay, scalars, self.paths)
        if obj.layout == COMPACT and obj.data is not None:
            self.place(out, elements, obj.data, list(range(count)), list(range(count)), count)
        elif obj.layout == CONTIGUOUS:
            if obj.type.has_heap():
                raise DrepError("FORMAT", "contiguous dataset with variable parts (R8.11)")
            per = obj.chunk[0]
            for run in obj.runs:
                for i in range(run.run):
                    start = (run.at[0] + i) * per
                    n = max(0, min(per, count - start))
                    self.place(out, elements, run.stored(self.image, i),
                               range(start, start + n), range(n), per)
        elif obj.layout == CHUNKED:
            for run in obj.runs:
                for i in range(run.run):
                    self.chunk(obj, out, elements, run, i)
        return nest(out, obj.shape)

    def chunk(self, obj, out, elements, run, i):
        if obj.type.has_heap() and any(f.flags & 1 for f in obj.filters):
            raise DrepError("FORMAT", "bare filter of variable parts (R8.33)")
        at = run.at[:-1] + [run.at[-1] + i] if run.at else []
        full = T.product(obj.chunk)
        size = elements.size()
        unfiltered = full * size
        if run.filtered and not obj.type.has_heap() and unfiltered > self.limit:
            raise DrepError("FORMAT", "filtered chunk of %d bytes (R8.36)" % unfiltered)
        data = unfilter(run, run.stored(self.image, i), obj.filters, unfiltered,
                        None if obj.type.has_heap() else unfiltered, self.limit)
        where, local = [0], [0]
        for c, length, n in zip(at, obj.chunk, obj.shape):
            first = c * length
            inside = range(max(0, min(length, n - first)))
            where = [w * n + first + j for w in where for j in inside]
            local = [x * length + j for x in local for j in inside]
        self.place(out, elements, data, where, local, full)

    @staticmethod
    def place(out, elements, data, where, local, full):
        """Decode the elements `local` of a payload into out[where]; what is missing stays fill."""
        size = elements.size()
        fixed = full * size
        heap = Heap(b"")
        if elements.type.has_heap():
            if len(data) < fixed:
                raise DrepError("FORMAT", "payload with variable parts is too short (R8.9)")
            heap = Heap(data[fixed:])
        elif len(data) > fixed:
            raise DrepError("FORMAT", "payload of %d bytes for elements of %d (R8.9)" % (len(data), fixed))
        elif size and len(data) % size:
            raise DrepError("FORMAT", "payload is not a whole number of elements (R8.9)")
        have = full if size == 0 else min(full, len(data) // size)
        pairs = [(w, x) for w, x in zip(where, local) if x < have]
        values = elements.many(data, [x * size for _, x in pairs], heap)
        for (w, _), v in zip(pairs, values):
            out[w] = v
        heap.check()

    # ------------------------------------------------------------ groups

    def walk_groups(self):
        """The path of every object: where a walk in creation order meets it first."""
        self.paths = {1: "/"}
        links = {1: 1}
        state = {}

        stack = [(1, iter(self.objects[1].members))]
        self.walk_dims(1, links)
        state[1] = "open"
        while stack:
            ident, members = stack[-1]
            member = next(members, None)
            if member is None:
                state[ident] = "done"
                stack.pop()
                continue
            name, kind, target = member
            if kind != HARD:
                continue
            if target in self.objects and self.objects[target].kind == DIMENSION:
                raise DrepError("FORMAT", "link to a dimension, object %d (R7.9)" % target, None,
                                self.child_path(ident, name))
            if target not in self.objects or target == 0:
                raise DrepError("FORMAT", "link to object %d, which does not exist (R7.9)" % target,
                                None, self.child_path(ident, name))
            links[target] = links.get(target, 0) + 1
            if target not in self.paths:
                self.paths[target] = self.child_path(ident, name)
            obj = self.objects[target]
            if obj.kind != GROUP:
                continue
            if state.get(target) == "open":
                raise DrepError("FORMAT", "hard link makes a group its own ancestor (R7.7)", None,
                                self.child_path(ident, name))
            if target not in state:
                state[target] = "open"
                self.walk_dims(target, links)
                stack.append((target, iter(obj.members)))
        self.links = links

    def walk_dims(self, ident, links):
        """Addresses of the dimensions of a group."""
        group = self.paths[ident]
        for name, target in self.objects[ident].dim_list:
            if isinstance(target, tuple):
                continue
            mark = "/#" if group == "/" or "#" in group.rsplit("/", 1)[1] else "#"
            path = group.rstrip("/") + mark + name
            if target not in self.objects or self.objects[target].kind != DIMENSION:
                raise DrepError("FORMAT", "object %d is not a dimension (R7.14)" % target, None, path)
            links[target] = links.get(target, 0) + 1
            self.paths[target] = path

    def child_path(self, ident, name):
        above = self.paths[ident]
        return above + name if above == "/" else above + "/" + name

    def check_counts(self):
        """Counts and back references that the file keeps twice agree."""
        for number, entry in self.types.items():
            if entry[0] != self.uses.get(number, 0):
                raise DrepError("FORMAT", "datatype %d has %d uses, its entry says %d (R5.6)"
                                % (number, self.uses.get(number, 0), entry[0]), entry[2] - 8)
        users = {}
        for obj in self.objects.values():
            if obj.id and obj.kind == DIMENSION and self.links.get(obj.id) != 1:
                raise DrepError("FORMAT", "dimension with %d entries in groups, not one (R7.17)"
                                % self.links.get(obj.id, 0), obj.record[1], "object %d" % obj.id)
            for d in getattr(obj, "scales", ()):
                if d in self.objects and self.objects[d].kind != DATASET:
                    raise DrepError("FORMAT", "scale %d is not a dataset (R7.15)" % d, obj.record[1],
                                    self.paths.get(obj.id))
        for obj in self.objects.values():
            if obj.id == 0:
                continue
            path = self.paths.get(obj.id, "object %d" % obj.id)
            if obj.id not in self.paths and obj.kind != DIMENSION:
                raise DrepError("FORMAT", "no link leads to it (R7.7)", obj.record[1], path)
            if obj.id in self.paths and obj.hard != self.links[obj.id]:
                raise DrepError("FORMAT", "%d hard links, the object says %d (R7.3)"
                                % (self.links[obj.id], obj.hard), obj.record[1], path)
            for i, d in enumerate(getattr(obj, "dimensions", None) or []):
                if d == 0:
                    continue
                if d not in self.objects or self.objects[d].kind != DIMENSION:
                    raise DrepError("FORMAT", "object %d is not a dimension (R7.16)" % d, None, path)
                users.setdefault(d, set()).add((obj.id, i))
        for obj in self.objects.values():
            if obj.id and obj.users != users.get(obj.id, set()):
                raise DrepError("FORMAT", "users of a dimension are not the datasets that name it (R7.16)",
                                None, self.paths.get(obj.id))


def zero(t):
    """The JSON value of an element of zeros."""
    k = t.kind
    if k == T.PREDEFINED:
        cls = C.PREDEFINED[t.code][1]
        return {"bytes": 0, "integer": 0, "real": 0.0, "complex": [0.0, 0.0], "boolean": False,
                "char": "\0", "wchar": "\0"}[cls]
    if k == T.SCALAR:
        return 0.0 if t.desc.cls == 2 else 0
    if k == T.STRING:
        return "\0" * t.size if t.padding == 2 else ""
    if k == T.VSTRING:
        return ""
    if k == T.OPAQUE:
        return "00" * t.size
    if k == T.ENUM:
        for name, value in t.values:
            if value == 0:
                return name
        return show(0)
    if k == T.BOOLEAN:
        return False
    if k == T.ARRAY:
        return nest([zero(t.base)] * T.product(t.dims), t.dims)
    if k == T.COMPOUND:
        values = [(n, zero(m)) for n, _, m in t.members]
        return [v for _, v in values] if any(not n for n, _ in values) else dict(values)
    if k == T.SEQUENCE:
        return []
    return None
