# SPDX-License-Identifier: MIT
"""The extension under random calls: no crash and no SystemError.  Under AddressSanitizer (make
python-asan) 60,000 calls, with all random cases (make python) 12,000, else 900; a failure names the
seed, and `hostile.py SEED CALLS` repeats it."""
import os
import subprocess
import sys

import numpy as np
import pytest

import datarep as dr
from datarep import _core, types

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hostile.py")
PACKAGE = os.path.dirname(os.path.dirname(dr.__file__))
ASAN = "libasan" in os.environ.get("LD_PRELOAD", "")
SEEDS, CALLS = (20, 3000) if ASAN else (4, 3000) if os.environ.get("DATAREP_FULL") else (1, 900)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_calls(tmp_path, seed, record_property):
    env = dict(os.environ, PYTHONPATH=PACKAGE)
    if ASAN:
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":max_allocation_size_mb=1024"
    done = subprocess.run([sys.executable, "-X", "dev", PROGRAM, str(seed), str(CALLS)], cwd=tmp_path, env=env,
                          capture_output=True, text=True, timeout=400, check=False)
    record_property("random calls of the extension", CALLS)
    assert done.returncode == 0 and "runtime error" not in done.stderr, \
        f"seed {seed}: status {done.returncode}\n{done.stderr[-4000:]}"


VSTRING = types.Type.vstring()
PLAIN = (0, 0, 0)


@pytest.fixture()
def texts():
    f = dr.open(":memory:", "w")
    f["t"] = ["a", "bc"]
    f["s"] = np.array([1, 2])
    yield f
    f.abandon()


def test_memory_that_is_not_there(texts):
    """Elements beyond the memory of the machine are a MemoryError, and what was there before stays."""
    for count in (1 << 44, 1 << 50, 1 << 58):
        with pytest.raises(MemoryError):
            _core.Elements(VSTRING, count)
    large = _core.Elements(VSTRING, 1 << 20)  # which are used again
    many = np.array([f"t{i}" for i in range(1 << 20)], object)
    texts["many"] = many
    plan = texts["many"]._form().plan
    out = np.empty(1 << 20, object)
    for _ in range(2):
        texts["many"]._read_box((0,), (1 << 20,), None, VSTRING, large, PLAIN)
        large.load(plan, out)
        assert (out == many).all()
    large.load(plan, out)
    assert set(out) == {""}


def test_fill_stays_in_its_memory(texts):
    """An element ends where its last item does, not where the next one would begin."""
    own = types.form_of_dtype(np.dtype([("a", "i8"), ("b", "i1")], align=True)).type
    texts.create("c", dtype=own, shape=(2,), fill=np.array((5, 6), [("a", "i8"), ("b", "i1")]))
    texts.create("zero", dtype=own, shape=(2,))
    for name, wanted in (("c", [5, 0, 0, 0, 0, 0, 0, 0, 6]), ("zero", [0] * 9)):
        memory = np.full(16, 0x55, "u1")
        texts[name]._fill(own, memory[:9])
        assert memory.tolist() == wanted + [0x55] * 7 or sys.byteorder == "big"


def test_bytes_are_never_pointers(texts):
    """Whatever takes a type and memory refuses a buffer for elements that hold pointers."""
    garbage, t, h = np.full(64, 0x41, "u1"), texts["t"], texts._h
    pairs = types.Type.compound(["k", "v"], None, [types.predefined("INT64_T"), VSTRING])
    sequence = types.Type.sequence(types.predefined("INT32_T"))
    for kind in (VSTRING, pairs, sequence, types.Type.array((2,), VSTRING), types.Type.reference(1)):
        calls = [lambda: t._read_box((0,), (2,), None, kind, garbage, PLAIN),
                 lambda: t._write_box((0,), (2,), None, kind, garbage, PLAIN),
                 lambda: t._read_points(np.zeros(1, "i8"), 1, kind, garbage, PLAIN),
                 lambda: t._write_points(np.zeros(1, "i8"), 1, kind, garbage, PLAIN),
                 lambda: t._read_boxes(np.zeros(1, "i8"), (1,), kind, garbage, PLAIN),
                 lambda: t._append(0, 1, kind, garbage, PLAIN), lambda: t._fill(kind, garbage),
                 lambda: h.attr_write("/t", "a", kind, (1,), garbage), lambda: h.attr_read("/t", "a", kind, garbage),
                 lambda: _core.dataset_create(h, "/n", kind, (1,), None, None, None, [], 0, 1, garbage, None, False),
                 lambda: _core.convert(types.Type.string(3), kind, garbage),
                 lambda: _core.pack("native", garbage, 1, kind, PLAIN),
                 lambda: _core.unpack("native", garbage, 0, garbage, 1, kind, PLAIN)]
        for call in calls:
            with pytest.raises(TypeError, match="Elements"):
                call()
    for call in (lambda: t._read_box((0,), (2,), None, None, garbage, PLAIN),  # of the dataset's own type
                 lambda: t._write_box((0,), (2,), None, None, garbage, PLAIN), lambda: t._fill(None, garbage)):
        with pytest.raises(TypeError, match="Elements"):
            call()
    assert t[...].tolist() == ["a", "bc"] and "n" not in texts and "a" not in t.attrs


def test_elements_go_where_their_type_goes(texts):
    t, one, two = texts["t"], _core.Elements(types.Type.sequence(VSTRING), 2), _core.Elements(VSTRING, 2)
    with pytest.raises(TypeError, match="another type"):
        t._read_box((0,), (2,), None, VSTRING, one, PLAIN)
    with pytest.raises(TypeError, match="no memory"):
        t._read_box((0,), (2,), None, types.Type.string(8), object(), PLAIN)
    with pytest.raises(TypeError):
        memoryview(two)
    with pytest.raises(dr.Error):
        t._read_box((0,), (2,), None, VSTRING, _core.Elements(VSTRING, 1), PLAIN)
    for _ in range(3):  # what was read before is free
        t._read_box((0,), (2,), None, VSTRING, two, PLAIN)
    out = np.empty(2, object)
    two.load(t._plan, out)
    assert out.tolist() == ["a", "bc"]
    two.load(t._plan, out)
    assert out.tolist() == ["", ""]  # they were given away
    two.store(t._plan, np.array(["x", "yz"], object), None, None)
    t._write_box((0,), (2,), None, VSTRING, two, PLAIN)
    assert t[...].tolist() == ["x", "yz"]
    for array in (np.empty(2, "u8"), np.empty(3, object), np.empty((2, 2), object)[:, 0], [None, None], bytearray(16)):
        with pytest.raises((TypeError, ValueError)):
            two.load(t._plan, array)


BEFORE = ("hindexed([1,1],[-8,8],DOUBLE)", "hvector(2,1,-8,DOUBLE)", "vector(2,1,-1,DOUBLE)")


@pytest.mark.parametrize("text", BEFORE)
def test_no_element_lies_before_its_memory(texts, text):
    """MPI's types may have negative displacements: there is nothing in front of a buffer."""
    t, memory = types.Type.parse(text), bytearray(64)
    for call in (lambda: _core.pack("native", memory, 1, t, PLAIN),
                 lambda: _core.unpack("native", bytes(64), 0, memory, 1, t, PLAIN),
                 lambda: texts["s"]._read_box((0,), (2,), None, t, memory, PLAIN),
                 lambda: texts["s"]._write_box((0,), (2,), None, t, memory, PLAIN)):
        with pytest.raises(ValueError, match="before their memory"):
            call()


def test_a_plan_reads_pointers_where_there_are_some():
    number, struct = types.predefined("INT64_T"), [("a", "i8"), ("b", "O")]
    for t, dtype in [(number, object), (VSTRING, "u8"), (VSTRING, "S8"),
                     (types.Type.compound(["a", "b"], None, [number, number]), struct),
                     (types.Type.compound(["a", "b"], None, [VSTRING, VSTRING]), struct),
                     (types.Type.compound(["a", "c"], None, [number, VSTRING]), struct),
                     (types.Type.array((2,), VSTRING), ("O", (3,))), (types.Type.sequence(number), object),
                     (types.Type.sequence(VSTRING), np.dtype(object, metadata={"vlen": np.dtype("i8")}))]:
        with pytest.raises((TypeError, KeyError, ValueError)):
            _core.Plan(t, np.dtype(dtype))


def test_arrays_of_arrays_of_texts(texts):
    own = types.Type.array((2,), types.Type.array((3,), VSTRING))
    values = np.array([[["a", "b", "c"], ["d", "e", "f"]]], object)
    d = texts.create("d", dtype=own, shape=(1,))
    d[...] = values
    assert d[...].tolist() == values.tolist()


def test_memory_of_objects_is_not_read_or_written(texts):
    """The pointers of an array of objects are NumPy's."""
    number = types.predefined("INT64_T")
    for memory in (np.array([None, None]), memoryview(np.array([None, None])),
                   np.zeros(2, [("O", "f8"), ("b", "O")])):
        for call in (lambda: texts["s"]._read_box((0,), (2,), None, number, memory, PLAIN),
                     lambda: texts["s"]._write_box((0,), (2,), None, number, memory, PLAIN)):
            with pytest.raises(TypeError, match="memory of objects"):
                call()
    named = np.zeros(1, [("O", "i8"), ("Ob", "i8")])  # names with that letter are not objects
    texts["s"]._read_box((0,), (2,), None, number, memoryview(named), PLAIN)
    assert named[0].tolist() == (1, 2)


def test_ranks_of_selections_are_checked(texts):
    texts["c"] = np.arange(24).reshape(2, 3, 4)
    out = np.empty(24, "i8")
    for start in ((0,), (0, 0), (0, 0, 0, 0)):
        with pytest.raises(ValueError, match="of 3"):
            texts["c"]._read_box(start, (1,) * len(start), None, types.predefined("INT64_T"), out, PLAIN)
        with pytest.raises(ValueError, match="of 3"):
            texts["c"]._read_boxes(np.zeros(len(start), "i8"), (1,) * len(start), types.predefined("INT64_T"), out, PLAIN)


def test_arguments_that_change_while_they_are_read(texts):
    """Lists and dicts that an argument's own __index__() empties, handles that it closes."""
    names = {"a": 1}

    class Empties:
        def __index__(self):
            names.clear()
            return 5

    names["b"] = Empties()
    assert types.Type.enum(types.predefined("INT32_T"), names).names == {"a": 1, "b": 5} and not names
    h = texts._h

    class Closes:
        def __index__(self):
            h.close()
            return 1

    h.dimension_create("/#d", 3, False)
    with pytest.raises(ValueError, match="closed"):
        h.dimension_set_scales("/#d", (Closes(),))


def test_what_is_no_truth_value_is_an_error(texts):
    class Neither:
        def __bool__(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        texts["s"]._map(Neither())
    with pytest.raises(OverflowError):
        types.Type.predefined(1 << 32)
    with pytest.raises(OverflowError):
        texts._h.table((1 << 32) + 1)


def test_the_factory_of_exceptions_makes_exceptions(texts):
    code = """
from datarep import _core
for factory in (lambda *a: 5, lambda *a: ValueError, 7):
    _core.set_error(factory)
    try:
        _core.open("none", False, None, 0, False)
    except TypeError:
        pass
"""
    subprocess.run([sys.executable, "-X", "dev", "-c", code], env=dict(os.environ, PYTHONPATH=PACKAGE), check=True)
