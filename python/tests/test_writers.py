# SPDX-License-Identifier: MIT
"""Many writers of one file without MPI: threads, processes of dask and joblib, scripts of a job array."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

xr = pytest.importorskip("xarray")
import datarep as dr  # noqa: E402
import datarep.xarray  # noqa: E402,F401

PACKAGE = os.path.dirname(os.path.dirname(dr.__file__))
PARTS, ROWS = 12, 3


@pytest.fixture
def path(tmp_path):
    """A file whose chunks, which are compressed, belong to several parts each."""
    path = str(tmp_path / "a.drep")
    empty = xr.Dataset({"v": (("i", "j"), np.full((PARTS * ROWS, 5), np.nan))}, {"i": np.arange(PARTS * ROWS)})
    empty.datarep.save(path, encoding={"v": {"chunks": (8, 5), "filters": "shuffle,zstd:1", "_FillValue": np.nan}})
    return path


def part(k):
    rows = np.arange(k * ROWS, (k + 1) * ROWS)
    return xr.Dataset({"v": (("i", "j"), np.repeat(rows, 5).reshape(ROWS, 5) + 0.5)}, {"i": rows})


def save(k, path):
    part(k).datarep.save(path, region={"i": slice(k * ROWS, (k + 1) * ROWS)})
    return os.getpid()


def whole(path, parts=range(PARTS)):
    """Each part is there, and each was a commit."""
    with dr.open(path) as f:
        want = np.full((PARTS * ROWS, 5), np.nan)
        for k in parts:
            want[k * ROWS:(k + 1) * ROWS] = part(k)["v"].values
        assert np.array_equal(f["v"][...], want, equal_nan=True)
        assert f.header["sequence"] == 1 + len(parts)
    assert dr.check(path).sound


def test_threads(path):
    threads = [threading.Thread(target=save, args=(k, path)) for k in range(PARTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    whole(path)


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask(path, scheduler):
    dask = pytest.importorskip("dask")
    tasks = [dask.delayed(save)(k, path) for k in range(PARTS)]
    pids = dask.compute(*tasks, scheduler=scheduler, num_workers=2)
    assert (os.getpid() in pids) == (scheduler == "threads")
    whole(path)


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_a_region_of_dask_s_chunks(path, scheduler):
    dask = pytest.importorskip("dask")
    both = xr.concat([part(k) for k in range(1, 5)], "i").chunk(i=2)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        both.datarep.save(path, region={"i": slice(ROWS, 5 * ROWS)})
    with dr.open(path) as f:
        assert np.array_equal(f["v"][ROWS:5 * ROWS], both["v"].values) and np.isnan(f["v"][:ROWS]).all()
        assert np.isnan(f["v"][5 * ROWS:]).all()


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(path, backend):
    joblib = pytest.importorskip("joblib")
    with joblib.parallel_backend(backend, n_jobs=2):
        joblib.Parallel()(joblib.delayed(save)(k, path) for k in range(PARTS))
    whole(path)


JOB = """
import sys
sys.path.insert(0, sys.argv[1])
import test_writers
for k in sys.argv[3:]:
    test_writers.save(int(k), sys.argv[2])
    print("saved", flush=True)
"""


def job(path, parts):
    return subprocess.Popen([sys.executable, "-c", JOB, os.path.dirname(__file__), path, *map(str, parts)],
                            stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": PACKAGE})


def test_an_array_of_jobs_one_of_which_is_killed(path):
    jobs = [job(path, range(k, PARTS, 3)) for k in range(3)]
    with dr.open(path, "r+") as f:  # the others wait meanwhile
        f["v"]
        time.sleep(0.2)
        os.kill(jobs[0].pid, signal.SIGKILL)
        jobs[0].communicate(timeout=60)
    for j in jobs[1:]:
        assert j.communicate(timeout=120)[0].split() == [b"saved"] * 4 and j.returncode == 0
    whole(path, [k for k in range(PARTS) if k % 3])


def test_who_waits_says_for_how_long(path):
    with dr.open(path, "r+"):
        with pytest.raises(dr.errors.BusyError, match="after 0.1 s"):
            part(0).datarep.save(path, region={"i": slice(0, ROWS)}, hints={"drep_lock_wait": 0.1})


def test_readers_see_whole_parts(path):
    """Each commit that a reader finds has as many whole parts as commits after the first."""
    jobs = [job(path, range(k, PARTS, 2)) for k in range(2)]
    while any(j.poll() is None for j in jobs):
        with dr.open(path) as f:
            rows = ~np.isnan(f["v"][...])
            n = f.header["sequence"] - 1
        parts = rows.reshape(PARTS, -1)
        assert (parts.all(1) == parts.any(1)).all() and parts.all(1).sum() == n
        time.sleep(0.01)
    assert all(j.communicate()[0].split() == [b"saved"] * 6 for j in jobs)
    whole(path)
