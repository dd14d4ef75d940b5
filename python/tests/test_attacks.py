# SPDX-License-Identifier: MIT
"""File objects, conversion functions, buffers and capsules that misbehave: an exception of the right
class, never a crash, and the file is of use afterwards."""
import errno
import gc
import io
import os
import threading

import numpy as np
import pytest

import datarep as dr

VALUES = np.arange(60_000.0)


@pytest.fixture(scope="module")
def image():
    out = io.BytesIO()
    with dr.open(out, "w") as f:
        f["x"] = np.arange(24.0).reshape(4, 6)
        f.create("c", dtype="f8", shape=(60_000,), chunks=(7000,))[...] = VALUES
    return out.getvalue()


class Bad(io.BytesIO):
    """Well behaved until `does` is set."""

    does = None

    def readinto(self, out):
        return super().readinto(out) if self.does is None else self.does(out)


def damaged(image, does):
    """Read from a file object that misbehaves, then from the same file when it does no more."""
    source = Bad(image)
    with dr.open(source) as f:
        source.does = lambda out: does(source, f, out)
        try:
            f["c"][::3]
        finally:
            source.does = None
            assert (f["c"][5:9] == VALUES[5:9]).all()


@pytest.mark.parametrize("n", [-5, 10**6, 2**70, "x", 1.5, object()])
def test_file_objects_that_tell_wrong_counts(image, n):
    with pytest.raises(OSError) as caught:
        damaged(image, lambda source, f, out: n)
    assert caught.value.errno == errno.EIO and isinstance(caught.value, dr.Error)


@pytest.mark.parametrize("n", [-1, 0, 10**9])
def test_writes_that_tell_wrong_counts(n):
    class Full(io.BytesIO):
        def write(self, data):
            return n

    with pytest.raises(OSError, match="driver failed"):
        with dr.open(Full(), "w") as f:
            f["x"] = VALUES


def raises(error):
    def does(source, f, out):
        keeps = np.frombuffer(out, "u1")  # noqa: F841 - lives in the frame of the exception
        raise error
    return does


@pytest.mark.parametrize("number, kind", [(errno.ENOSPC, dr.Error), (errno.EACCES, PermissionError),
                                          (errno.ETIMEDOUT, TimeoutError), (errno.ESTALE, dr.StaleError),
                                          (errno.ESPIPE, OSError)])
def test_errno_of_a_file_object_comes_through(image, number, kind):
    error = OSError(number, "why")
    with pytest.raises(kind) as caught:
        damaged(image, raises(error))
    assert caught.value.__cause__ is error
    assert not isinstance(caught.value, OSError) or caught.value.errno == number


def test_memory_that_a_file_object_has_not_is_a_MemoryError(image):
    with pytest.raises(MemoryError):
        damaged(image, raises(MemoryError()))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_what_ends_programs_is_no_error_of_a_file(image, error):
    with pytest.raises(type(error)) as caught:
        damaged(image, raises(error))
    assert caught.value is error


def test_the_cause_is_that_of_the_call(image):
    """An exception of an earlier call, which did not matter there, is no cause of a later one."""
    source = Bad(image)
    with dr.open(source) as f:
        source.does = raises(ZeroDivisionError())
        with pytest.raises(OSError):
            f["c"][...]
        source.does = None
        with pytest.raises(KeyError) as caught:
            f["none"]
        assert caught.value.__cause__ is None


def test_memory_for_one_call_is_not_kept(image):
    kept = []

    def keeps(source, f, out):
        kept.append(make(out))
        return io.BytesIO.readinto(source, out)

    for make in (lambda out: out[1:], lambda out: np.frombuffer(out, "u1")):
        with pytest.raises(OSError) as caught:
            damaged(image, keeps)
        assert isinstance(caught.value.__cause__, BufferError)
        kept.clear()

    def owner(source, f, out):
        n = io.BytesIO.readinto(source, out)
        kept.append(out.obj)
        return n

    damaged(image, owner)
    with pytest.raises(BufferError, match="one call"):
        memoryview(kept[-1])


def test_a_file_object_that_comes_back(image):
    def closes(source, f, out):
        f.close()

    def reads(source, f, out):
        return len(f["c"][:3])

    for does in (closes, reads):
        with pytest.raises(OSError) as caught:
            damaged(image, does)
        assert "calls cannot close" in str(caught.value.__cause__) or \
            isinstance(caught.value.__cause__.__cause__, RuntimeError)


MODE = []


def reads(user, datatype, count, file, position):
    for mode in MODE:
        mode(user, file)
    for i in range(count):
        user[8 * i:8 * i + 8] = file[9 * i:9 * i + 8]


def writes(user, datatype, count, file, position):
    for i in range(count):
        file[9 * i:9 * i + 8] = user[8 * i:8 * i + 8]


@pytest.fixture()
def converted(tmp_path):
    if "attacked" not in dr.datareps():
        dr.register("attacked", read=reads, write=writes, extents={"DOUBLE": 9})
    path = tmp_path / "converted.drep"
    with dr.open(path, "w", datarep="attacked") as f:
        f["y"] = VALUES[:10]
        f.create("z", dtype="f8", shape=(3000,), chunks=(100,))[...] = VALUES[:3000]
    with dr.open(path) as f:
        assert f["y"][3] == 3
        yield f
        MODE.clear()
        assert (f["z"][...] == VALUES[:3000]).all()


@pytest.mark.parametrize("threads", [1, 4])
def test_conversion_functions_that_misbehave(converted, threads):
    kept, out = [], np.empty(3000)

    def fails(user, file):
        values = np.frombuffer(user)  # noqa: F841
        return 1 // 0

    for mode, cause in [(fails, ZeroDivisionError),
                        (lambda user, file: kept.append(user[1:]), BufferError),
                        (lambda user, file: kept.append(np.frombuffer(file, "u1")), BufferError),
                        (lambda user, file: converted.close(), ValueError),
                        (lambda user, file: file.__setitem__(0, 1), TypeError)]:
        MODE[:] = [mode]
        with pytest.raises(dr.Error) as caught:
            converted["z"].read_into(out, threads=threads)
        assert isinstance(caught.value.__cause__, cause) and caught.value.object == "/z"
        kept.clear()
    MODE[:] = [lambda user, file: kept.append(user)]
    converted["z"].read_into(out, threads=threads)
    assert (out == VALUES[:3000]).all()
    with pytest.raises(ValueError, match="released"):
        kept[0][0]


def test_a_file_is_closed_while_a_function_of_it_runs(converted):
    """Closing from another thread waits for the call."""
    with dr.open(converted.filename) as f:
        f["y"][0]
        threads = []

        def closes(user, file):
            if not threads:
                threads.append(threading.Thread(target=f.close))
                threads[0].start()

        MODE[:] = [closes]
        try:
            f["z"][:100]
        except ValueError as error:
            assert "closed" in str(error)
        threads[0].join(30)
        assert not threads[0].is_alive() and not f


def test_a_function_that_reads_itself_comes_to_an_end(converted):
    depth = []

    def again(user, file):
        depth.append(1)
        converted["y"][0]

    MODE[:] = [again]
    with pytest.raises(dr.Error) as caught:
        converted["y"][0]
    error = caught.value
    while error.__cause__ is not None:
        error = error.__cause__
    assert isinstance(error, RecursionError) and 1 < len(depth) <= 50
    MODE.clear()
    assert converted["y"][0] == 0


@pytest.mark.parametrize("given, kind", [({"read": 5}, TypeError), ({"extents": 5}, TypeError),
                                         ({"extents": {"NONE": 3}}, ValueError),
                                         ({"extents": {"DOUBLE": "x"}}, TypeError)])
def test_registrations_that_are_refused(given, kind):
    with pytest.raises(kind):
        dr.register("refused", **{"read": reads, "write": writes, **given})
    assert "refused" not in dr.datareps()


def test_arrays_of_any_layout_are_filled(image):
    with dr.open(image) as f:
        x, want = f["x"], np.arange(24.0).reshape(4, 6)
        for out in (np.zeros((4, 6)), np.zeros((4, 6), order="F"), np.zeros((4, 12))[:, ::2],
                    np.zeros((4, 6))[::-1], np.zeros((4, 6)).view(np.ma.MaskedArray)):
            assert x.read_into(out).items == 24
            np.testing.assert_array_equal(out, want)
        assert x.read_into(np.zeros((0, 6)), np.s_[1:1]).items == 0
        row = np.zeros(6)
        assert x.read_into(row, -1).items == 6 and (row == want[-1]).all()
        x.read_into(row, np.s_[0, ::-1])
        assert (row == want[0, ::-1]).all()
        row.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            x.read_into(row, 1)
        with pytest.raises(ValueError, match="shape"):
            x.read_into(np.zeros(7), 1)
        with pytest.raises(IndexError):
            x.read_into(np.zeros(6), 4)
        with pytest.raises(TypeError):
            x.read_into(None, 1)
        assert (row == want[0, ::-1]).all()


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i2", "<f4", "<i8"])
def test_arrays_of_the_other_byte_order_are_filled(image, dtype):
    with dr.open(image) as f:
        for key in (np.s_[...], np.s_[::-1, 1:3], np.s_[[3, 1]]):
            want = np.arange(24.0).reshape(4, 6)[key]
            out = np.zeros(want.shape, dtype)
            f["x"].read_into(out, key)
            assert (out == want).all()


def test_structs_of_the_other_byte_order_are_filled():
    rows = np.array([(1, 2.5), (3, -4.5)], [("a", "i4"), ("b", "f8")])
    with dr.open(":memory:", "w") as f:
        f["r"] = rows
        out = np.zeros(2, [("a", ">i4"), ("b", ">f8")])
        f["r"].read_into(out)
        assert out.tolist() == rows.tolist()
        f["r"].write(out[::-1], range="clamp")
        assert f["r"][...].tolist() == rows[::-1].tolist()


def test_dates_are_read_and_written_in_other_units():
    days = np.array(["2020-01-01", "NaT", "1969-12-31"], "M8[D]")
    with dr.open(":memory:", "w") as f:
        t = f["t"] = days
        t = f["t"]
        for dtype in ("M8[s]", ">M8[s]", "M8[ns]", "M8[D]", ">M8[D]", "M8[M]"):
            out = np.zeros(3, dtype)
            t.read_into(out)
            np.testing.assert_array_equal(out, days.astype(dtype))
            view = t.astype(dtype)
            np.testing.assert_array_equal(view[...], days.astype(dtype))
            assert view[0] == days[0].astype(dtype) and view.dtype == np.dtype(dtype).newbyteorder("=")
        t.astype("M8[s]")[1] = np.datetime64("2021-01-01T00:00:00")
        assert t[1] == np.datetime64("2021-01-01")
        np.testing.assert_array_equal(t.astype("i8")[[0, 2]], [18262, -1])


def test_names_of_dimensions_are_texts():
    with dr.open(":memory:", "w") as f:
        for name in (b"x", 5, None):
            with pytest.raises(TypeError):
                f.dims[name] = 4
            with pytest.raises(TypeError):
                del f.dims[name]
        with pytest.raises(TypeError):
            f.dims["x"] = 1.5
        assert not list(f.dims)


def test_capsules(image):
    f = dr.open(image)
    x = f["x"]
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        x.__dlpack__(copy=False)
    never, once = x.__dlpack__(), x.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=True)
    both = f["c"].__arrow_c_array__()
    f.close()
    del never, both
    gc.collect()

    class Holder:
        def __dlpack__(self, **more):
            return once

        def __dlpack_device__(self):
            return 1, 0

    got = np.from_dlpack(Holder())
    with pytest.raises(ValueError):
        np.from_dlpack(Holder())
    gc.collect()
    assert (got == np.arange(24.0).reshape(4, 6)).all()


def test_an_image_is_not_resized_while_it_is_open(image):
    data = bytearray(image)
    f = dr.open(data)
    with pytest.raises(BufferError):
        data.clear()
    assert f["x"][1, 2] == 8
    f.close()
    del f
    gc.collect()
    data.clear()


def test_mappings_outlive_files(tmp_path):
    path = os.fspath(tmp_path / "mapped.drep")
    with dr.open(path, "w") as f:
        f["x"] = VALUES
    f = dr.open(path)
    mapped = f["x"].map()
    f.close()
    del f
    gc.collect()
    assert mapped[-1] == VALUES[-1]
    del mapped
    gc.collect()
