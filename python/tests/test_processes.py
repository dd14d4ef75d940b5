# SPDX-License-Identifier: MIT
"""Threads, forks, spawned processes, readers that follow a writer, and the ends of processes."""
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import datarep as dr
import numpy as np
import pytest

PACKAGE = os.path.dirname(os.path.dirname(dr.__file__))


def run(code, *arguments, status=0):
    """Run a program in a new interpreter; what it prints."""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", code, *arguments], text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": PACKAGE}, timeout=120)
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / "a.drep")
    with dr.open(path, "w") as f:
        f.create("x", np.arange(100_000.0).reshape(1000, 100), chunks=(10, 100),
                 filters="shuffle,zstd:1", maxshape=(None, 100))
    return path


def test_threads_share_a_handle(path):
    f = dr.open(path)
    ds, wrong = f["x"], []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(200):
            i = int(rng.integers(0, 1000))
            if not (ds[i] == np.arange(100.0) + 100 * i).all():
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    f.close()


def test_closing_waits_for_reads_and_refuses_later_ones(path):
    for _ in range(20):
        f = dr.open(path)
        ds, seen, ready = f["x"], [], threading.Barrier(3)

        def work():
            ready.wait()
            try:
                while True:
                    assert ds[999, 99] == 99_999
            except ValueError as error:
                seen.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(2)]
        for t in threads:
            t.start()
        ready.wait()
        f.close()
        for t in threads:
            t.join()
        assert len(seen) == 2 and "closed" in seen[0]


def sample(args):
    ds, rows = args
    return [float(ds[i].sum()) for i in rows]


def sums(rows):
    return [float((np.arange(100.0) + 100 * i).sum()) for i in rows]


def child_sums(rows):
    return [float(FORKED[i].sum()) for i in rows]


FORKED = None


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools(path, method):
    """Handles that are inherited under fork, or pickled, read the same commit in every worker."""
    global FORKED
    rng = np.random.default_rng(7)
    jobs = [rng.integers(0, 1000, 50).tolist() for _ in range(8)]
    f = dr.open(path)
    FORKED = f["x"]
    FORKED[5]
    context = multiprocessing.get_context(method)
    with context.Pool(4) as pool:
        if method == "fork":
            got = pool.map(child_sums, jobs)
        else:
            got = pool.map(sample, [(FORKED, rows) for rows in jobs])
    assert got == [sums(rows) for rows in jobs]
    FORKED = None
    f.close()


def test_a_writers_handle_in_a_child_refuses_everything(path):
    f = dr.open(path, "a")
    f["y"] = 1
    pid = os.fork()
    if pid == 0:
        try:
            f["x"][0]
        except OSError:
            try:
                f.close()
            except OSError:
                os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    f["y"][()] = 2
    f.close()
    with dr.open(path) as f:
        assert f["y"][()] == 2


def test_a_pickle_is_stale_when_its_commit_is_gone(path):
    with dr.open(path) as f:
        kept = pickle.dumps(f["x"])
    for i in range(4):
        with dr.open(path, "a") as f:
            f[f"n{i}"] = i
    with pytest.raises(dr.StaleError):
        pickle.loads(kept)
    with dr.open(path) as f:
        kept = pickle.dumps(f)
    with dr.open(path, "w") as f:
        f["other"] = 1
    with pytest.raises(dr.StaleError):
        pickle.loads(kept)


WRITER = """
import datarep as dr, numpy as np, sys
with dr.open(sys.argv[1], "a") as f:
    for step in range(1000, 1010):
        f["x"].append(np.full(100, float(step)))
        f.commit()
        print(step, flush=True)
        sys.stdin.readline()
"""


def test_a_reader_follows_a_writer_in_another_process(path):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": PACKAGE})
    with dr.open(path) as f:
        ds = f["x"]
        for step in range(1000, 1010):
            assert writer.stdout.readline() == f"{step}\n"
            assert ds.shape[0] == step
            f.refresh()
            assert ds.shape[0] == step + 1 and (ds[-1] == step).all()
            writer.stdin.write("\n")
            writer.stdin.flush()
    assert writer.wait(60) == 0
    writer.stdin.close()
    writer.stdout.close()


def test_an_interpreter_ends_with_open_files(path):
    _, said = run("""
import datarep as dr, sys, numpy as np
w = dr.open(sys.argv[1], "a"); w["kept"] = 1
r = dr.open(sys.argv[1]); x = r["x"]; m = x.oindex
kept = [w, r, x, m]
""", path)
    assert not said
    with dr.open(path) as f:
        assert f["kept"][()] == 1


def test_an_interpreter_ends_while_threads_read(path):
    run("""
import datarep as dr, sys, threading, time
x = dr.open(sys.argv[1])["x"]
def work():
    while True:
        x[:]
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
""", path)


def test_every_allocation_may_fail(path):
    """Each allocation of Python in turn fails: MemoryError, or none, and the same values after.

    Only where the extension works: NumPy itself crashes in some of its functions."""
    pytest.importorskip("_testcapi")
    run("""
import datarep as dr, numpy as np, sys, _testcapi
from datarep import _core
f = dr.open(":memory:", "w")
f["x"], f["t"], f.attrs["a"] = np.arange(100.0), ["a", "bc"], [1, 2]
rows = np.zeros(3, [("when", "i8"), ("value", "f8")])
f["rows"], f.attrs["b"], f.attrs["c"] = rows, "text", 1.5
x, t, three, whole = f["x"], f["t"], slice(3, 9), np.arange(100.0)
def element(): return x[3]
def part(): return x[three]
out, plan, vstring = np.empty(2, object), t._plan, t.type
raw = _core.Elements(vstring, 2)
def texts():
    t._read_box((0,), (2,), None, vstring, raw, (0, 0, 0))
    raw.load(plan, out)
held = np.array(["a", "bc"], object)
def attribute(): return f.attrs["b"], f.attrs["c"], f.attrs.get("none")
def write(): x[...] = whole
def write_text():
    raw.store(plan, held, None, None)
    t._write_box((0,), (2,), None, vstring, raw, (0, 0, 0))
def opened(): return dr.open(sys.argv[1]).close()
def missing():
    try:
        f["none"]
    except KeyError:
        pass
def walk(): return list(f.walk()), list(f), f._h.header(), x._info(), f._h.datareps()
failed = 0
for call in (element, part, texts, attribute, write, write_text, opened, missing,
             walk):
    call()
    for n in range(250):
        _testcapi.set_nomemory(n, n + 1)
        try:
            call()
        except MemoryError:
            failed += 1
        except SystemError:  # some of NumPy's own
            pass
        finally:
            _testcapi.remove_mem_hooks()
assert failed > 50, failed
assert (x[...] == whole).all() and t[...].tolist() == ["a", "bc"]
f.abandon()
""", path)


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="ASan has no limit of memory")
def test_memory_that_runs_out_is_a_MemoryError(path):
    run("""
import datarep as dr, sys, resource
f = dr.open(sys.argv[1])
ds = f["x"]
big = dr.open(":memory:", "w")
b = big.create("b", dtype="f8", shape=(1 << 40,))
try:
    b[:]
except MemoryError:
    pass
else:
    sys.exit(1)
resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
try:
    b[:1 << 28]
except MemoryError:
    sys.exit(0)
finally:
    big.abandon()
sys.exit(1)
""", path)


def test_without_numpy_there_are_memoryviews(path):
    run("""
import sys
sys.modules["numpy"] = None
import datarep as dr
with dr.open(sys.argv[1]) as f:
    x = f["x"]
    assert x.shape == (1000, 100) and x[3, 4] == 304.0
    part = x[2:4, ::50]
    assert part.shape == (2, 2) and part.tolist() == [[200, 250], [300, 350]] and part.format == "d"
    try:
        x[[1, 2]]
    except TypeError:
        pass
    f.attrs.get("none")
with dr.open(sys.argv[1], "a") as f:
    f.attrs["text"], f.attrs["n"] = "a", 5
with dr.open(sys.argv[1]) as f:
    assert dict(f.attrs) == {"text": "a", "n": 5} and f.dims is not None
""", path)
