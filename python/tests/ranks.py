# SPDX-License-Identifier: MIT
"""What the ranks of test_mpi.py do: ranks.py STORY FOLDER, under an mpiexec.

A rank that fails prints why and ends all; nothing is printed if all is well."""
import os
import sys
import traceback

import numpy as np
from mpi4py import MPI

import datarep as dr

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.Get_rank(), WORLD.Get_size()
FIXED = {"drep_uuid": "000102030405060708090a0b0c0d0e0f", "drep_time": "1700000000000000000",
         "drep_mpi_timeout": "60"}
SHAPE = (40, 30)
ALL = np.arange(1200.0).reshape(SHAPE)


def mine(n):
    """The rows of this rank, of which the last rank has none."""
    parts = max(RANKS - 1, 1)
    return slice(n * RANK // parts, n * (RANK + 1) // parts) if RANK < parts else slice(n, n)


def both(folder, tell):
    """The same story by all ranks and by rank 0 alone: their files."""
    paths = os.path.join(folder, "ranks.drep"), os.path.join(folder, "alone.drep")
    with dr.open(paths[0], "w", datarep="external32", hints=FIXED, comm=WORLD) as f:
        tell(f, mine)
    if RANK == 0:
        with dr.open(paths[1], "w", datarep="external32", hints=FIXED) as f:
            tell(f, lambda n: slice(0, n))
    WORLD.Barrier()
    return paths


def together(folder):
    """Collective writes give the file of one process, byte for byte."""
    texts = np.array([f"text {i}" * (i % 5) for i in range(40)], dtype=object)

    def tell(f, part):
        f.attrs["title"] = "pressure"
        rows = part(40)
        x = f.create("x", dtype="f8", shape=SHAPE, attrs={"units": "Pa"})
        with x.collective:
            x[rows] = ALL[rows]
        c = f.create("g/c", dtype="f4", shape=SHAPE, chunks=(7, 11), filters="shuffle,zstd:3", fill=np.nan)
        c.write(ALL[rows], np.s_[rows], collective=True)
        assert not c._collective
        f.commit()
        with c.collective:
            c[rows, ::3] = -ALL[rows, ::3]                        # strides
            c[np.arange(40)[rows], 5] = ALL[rows, 5]              # points
        s = f.create("s", dtype=str, shape=(40,), chunks=(9,))
        with s.collective:
            s[rows] = texts[rows]

    ranks, alone = both(folder, tell)
    with open(ranks, "rb") as a, open(alone, "rb") as b:
        assert a.read() == b.read(), "the files differ"
    with dr.open(ranks, comm=WORLD) as f:
        rows, c = mine(40), f["g/c"]
        want = np.where(np.arange(30) % 3 == 0, -ALL, ALL).astype("f4")
        want[:, 5] = ALL[:, 5]
        with c.collective:
            assert (c[rows] == want[rows]).all()
            assert (c[rows, ::-2] == want[rows, ::-2]).all()
            assert (c.oindex[np.arange(40)[rows], [3, 1, 1]] == want[rows][:, [3, 1, 1]]).all()
            assert c[3 + RANK, 4] == want[3 + RANK, 4]
            assert (c[want > 600 + RANK] == want[want > 600 + RANK]).all()
        out = np.empty((rows.stop - rows.start, 30), "f8")
        c.read_into(out, np.s_[rows], collective=True)
        assert (out == want[rows]).all() and (c[...] == want).all()
        with f["s"].collective as s:
            assert s is None
        s = f["s"]
        with s.collective:
            assert list(s[rows]) == list(texts[rows])
        assert f.attrs["title"] == "pressure" and list(s[RANK:RANK + 2]) == list(texts[RANK:RANK + 2])


def alone(folder):
    """Ranks write by themselves; commits bring it together: the same content."""
    def tell(f, part):
        rows = part(40)
        x = f.create("x", dtype="f8", shape=SHAPE, chunks=(7, 11), filters="shuffle,deflate:1")
        x[rows] = ALL[rows]
        f.create("w", dtype="i4", shape=(40,), layout="contiguous")[rows] = np.arange(40)[rows]
        f.create("small", dtype="i8", shape=(40,))[rows] = np.arange(40)[rows]
        f.create("texts", dtype=str, shape=(40,))[rows] = [f"text {i}" for i in np.arange(40)[rows]]
        f.commit()
        x[rows, 4] = 0
        f["small"][rows] = -np.arange(40)[rows]

    ranks, single = both(folder, tell)
    if RANK == 0:
        assert not dr.diff(ranks, single).differs, dr.diff(ranks, single).text
    with dr.open(ranks, "r+", comm=WORLD) as f:
        assert (f["x"][1:, 3] == ALL[1:, 3]).all() and (f["x"][:, 4] == 0).all()
        if RANK == 0:
            f.attrs["late"] = 1
    with dr.open(ranks, "a", comm=WORLD) as f:
        assert f.attrs["late"] == 1


def error_of(call, kind=dr.Error):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def raises(folder):
    """A rank that raises is an error on all; the file is its last commit."""
    path = os.path.join(folder, "raises.drep")
    with dr.open(path, "w", hints=FIXED, comm=WORLD) as f:
        f.create("x", dtype="f8", shape=SHAPE)
    who = RANKS - 1

    def at_the_end():
        with dr.open(path, "a", hints=FIXED, comm=WORLD) as f:
            f.attrs["lost"] = 1
            if RANK == who:
                raise KeyError("no such station")

    def in_a_write():
        with dr.open(path, "a", hints=FIXED, comm=WORLD) as f:
            f.attrs["lost"] = 1
            x = f["x"]
            with x.collective:
                x[mine(40)] = ALL[mine(40)] if RANK != who else "no numbers"

    def of_all():
        with dr.open(path, "a", hints=FIXED, comm=WORLD) as f:
            f.attrs["lost"] = 1
            raise KeyError(RANK)

    for story, kind, says in ((at_the_end, KeyError, "KeyError: 'no such station'"),
                              (in_a_write, TypeError, "TypeError: /x: texts cannot be stored")):
        if RANK == who:
            error = error_of(story, kind)
            assert not isinstance(error, dr.Error), error
        else:
            error = error_of(story)
            assert f"rank {who}: {says}" in str(error), error
    assert error_of(of_all, KeyError).args == (RANK,)
    WORLD.Barrier()
    with dr.open(path) as f:
        assert "lost" not in f.attrs


def errors(folder):
    """An error of a collective call is one on all ranks, which may go on."""
    path = os.path.join(folder, "errors.drep")
    with dr.open(path, "w", hints=FIXED, comm=WORLD) as f:
        x = f.create("x", dtype="i2", shape=(40,), chunks=(6,))
        value = np.full(40, 70000 if RANK == RANKS - 1 else 7)
        part = slice(40 * RANK // RANKS, 40 * (RANK + 1) // RANKS)
        error = error_of(lambda: x.write(value[part], part, range="strict", collective=True))
        assert f"rank {RANKS - 1}: " in str(error) and error.object == "/x" and error.byte is None, error
        x.write(value[part] % 100, part, collective=True)
        f.commit()
        f.attrs["who"] = RANK
        error = error_of(f.commit, dr.NotSameError)
        assert "different values" in str(error) and not isinstance(error, ValueError), error
        f.attrs["who"] = 7
        f.commit()
        y = f.create("y", dtype="i1", shape=(RANKS,))
        mine = np.array([400 if RANK == RANKS - 1 else 4])
        error = error_of(lambda: y.write(mine, np.s_[RANK:RANK + 1], range="strict", collective=True))
        assert error.object == "/y" and error.code == 18, error
        for call in (f.refresh, f.log, f.check, lambda: x.map(), lambda: x.append([1])):
            assert error_of(call, (NotImplementedError, TypeError))
    with dr.open(path) as f:
        assert f["x"][...].tolist() == (np.arange(40) * 0 + 7 if RANKS == 1 else [
            0 if i >= 40 * (RANKS - 1) // RANKS else 7 for i in range(40)]), f["x"][...]
    with dr.open(path, "a", hints=FIXED, comm=WORLD) as f:
        f.create("d", dtype="f8", shape=(4000,))
        f["d"].write(np.arange(4000.0) if RANK == 0 else [], np.s_[:4000 if RANK == 0 else 0], collective=True)
    if RANK == 0:
        with open(path, "r+b") as raw:
            at = raw.read().find(np.arange(4000.0)[3000:3100].tobytes())
            raw.seek(at)
            raw.write(b"\xff" * 8)
    WORLD.Barrier()
    with dr.open(path, comm=WORLD) as f:
        error = error_of(lambda: f["d"].read_into(np.empty(4000), collective=True), dr.ChecksumError)
        assert error.object == "/d" and 0 < error.byte and error.code == 13, (error, error.byte)
    error = error_of(lambda: dr.open(path, "x", hints=FIXED, comm=WORLD), FileExistsError)
    assert error.filename == path and error.errno == 17
    error = error_of(lambda: dr.open(path + str(RANK == 0), comm=WORLD), dr.NotSameError)
    assert "path" in str(error)
    error_of(lambda: dr.open(b"", comm=WORLD), TypeError)
    error_of(lambda: dr.open(path, commit=1, comm=WORLD), ValueError)
    with dr.open(path, "a", comm=MPI.COMM_SELF) if RANK == 0 else dr.open(path) as f:
        f["x"].collective.__enter__()
        assert f["x"][0] == 7


def main():
    story, folder = sys.argv[1:]
    try:
        globals()[story](folder)
    except BaseException:
        print(f"rank {RANK}: {traceback.format_exc()}", flush=True)
        WORLD.Abort(1)


main()
