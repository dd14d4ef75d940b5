# SPDX-License-Identifier: MIT
"""Arguments that are refused, by the exception that Python has for them."""
import numpy as np
import pytest

import datarep as dr


@pytest.fixture()
def f(tmp_path):
    with dr.open(tmp_path / "f.drep", "w") as f:
        f["x"] = np.arange(24.0).reshape(4, 6)
        f["r"] = np.zeros(3, [("a", "i4")])
        f.create("c", dtype="i2", shape=(10,), chunks=(3,), maxshape=(None,))
        yield f


class Breaks:
    def __index__(self):
        raise ZeroDivisionError

    def __iter__(self):
        raise ZeroDivisionError


REFUSED = [
    (lambda f: f.create("n", dtype="f8", shape=(4,), layout="odd"), ValueError, "'odd' is none of auto"),
    (lambda f: f["c"].write([1], np.s_[:1], range="odd"), ValueError, "'odd' is none of default"),
    (lambda f: f.create("n", dtype="f8", shape=(1.5,)), TypeError, "integer"),
    (lambda f: f.create("n", dtype="f8", shape=(4,), chunks=(1.5,)), TypeError, "integer"),
    (lambda f: f.create("n", dtype="f8", shape=(4,), filters=[3]), TypeError, "a filter is"),
    (lambda f: f.create("n", dtype="f8", shape=(-1,)), ValueError, "length -1"),
    (lambda f: f.create("x/y", dtype="f8", shape=(1,)), TypeError, "is not a group"),
    (lambda f: f["x"].read_into([1]), TypeError, "not list"),
    (lambda f: f["x"].read_into(np.empty((4, 6)), threads=-5), ValueError, "drep_xfer.threads -5"),
    (lambda f: f["c"].write([1], np.s_[:1], threads=-5), ValueError, "drep_xfer.threads -5"),
    (lambda f: f["x"].read_into(np.empty(3)), ValueError, "shape"),
    (lambda f: f["x"][Breaks()], ZeroDivisionError, ""),
    (lambda f: f["x"].__setitem__(0, Breaks()), (ZeroDivisionError, TypeError), ""),
    (lambda f: f["x"][99], IndexError, "99"),
    (lambda f: f["x"][2**70], IndexError, str(2**70)),
    (lambda f: f["x"]["a"], TypeError, "no members"),
    (lambda f: f["r"]["b"], KeyError, "no member 'b'"),
    (lambda f: f["nope"], KeyError, "no object"),
    (lambda f: f.attrs["nope"], KeyError, "no such attribute"),
    (lambda f: f.__setitem__("g", dr.open(":memory:", "w")), ValueError, "in another file"),
    (lambda f: f["c"].read_stored((2**70,)), OverflowError, ""),
    (lambda f: dr.open(f.filename, commit=-1), ValueError, "commit -1"),
    (lambda f: dr.enum_dtype({"big": 10**30}), ValueError, "big: 1000"),
    (lambda f: dr.open("/nope/x"), FileNotFoundError, "/nope/x"),
    (lambda f: dr.open(f.filename + "/x", "w"), OSError, "x"),
]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(f, number):
    call, kind, text = REFUSED[number]
    with pytest.raises(kind) as caught:
        call(f)
    assert text in str(caught.value)
    assert (f["x"][...] == np.arange(24.0).reshape(4, 6)).all() and "n" not in f and "g" not in f


def test_errors_of_the_library_tell_code_object_and_byte(f, tmp_path):
    with pytest.raises(dr.Error) as caught:
        f["c"].resize((-1,))
    assert caught.value.object == "/c" and caught.value.byte is None and caught.value.code > 0
    f["y"] = np.arange(1000.0)
    f.commit()
    with open(f.filename, "rb") as raw:
        data = bytearray(raw.read())
    where = data.index(np.arange(1000.0).tobytes()[4096:4160])
    data[where] ^= 1
    (tmp_path / "damaged.drep").write_bytes(data)
    with dr.open(tmp_path / "damaged.drep") as damaged, pytest.raises(dr.ChecksumError) as caught:
        damaged["y"][...]
    assert caught.value.object == "/y" and 0 < caught.value.byte <= where


def test_exactness_is_told_beside_other_flags(f):
    """What a dtype resolves to leaves the flags beside it alone."""
    s = f.create("s", dtype=str, shape=(4,))
    s._collective = True
    assert s.dtype == object and s._collective and s._exact
