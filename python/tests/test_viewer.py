# SPDX-License-Identifier: MIT
"""view(): the server of `datarep view`, from Python."""
import io
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import datarep as dr
from datarep import viewer as viewers


@pytest.fixture(name="path")
def made(tmp_path):
    path = str(tmp_path / "a b.drep")
    with dr.open(path, "w") as f:
        f["g/x"] = np.arange(12.0).reshape(3, 4)
    return path


def started(o):
    try:
        return o.view(browser=False)
    except dr.Error as e:
        if "module" in str(e) or "page is not installed" in str(e):
            pytest.skip(f"the command has no viewer: {e}")
        raise


def entered(viewer):
    """files.json, as a browser gets it that sends the code."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    opener.open(viewer.url + "enter", ("code=" + viewer.code).encode()).read()
    return opener.open(viewer.url + "files.json").read().decode()


def test_it_serves_the_dataset_and_ends(path):
    with dr.open(path) as f:
        begin = time.monotonic()
        viewer = started(f["g/x"])
        assert time.monotonic() - begin < 5 and viewer.running
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(viewer.url + "files.json")
        with open(f"/proc/{viewer._process.pid}/cmdline", encoding="utf-8") as line:
            assert viewer.code not in line.read()
        listed = entered(viewer)
        assert '"name": "a b.drep"' in listed and '"path": "/g/x"' in listed
        number = viewer._process.pid
        viewer.close()
        viewer.close()
        assert not viewer.running and repr(viewer) == "<viewer, closed>"
        assert not os.path.exists(f"/proc/{number}")  # not even as a zombie
        with started(f) as another:
            assert '"path": "/"' in entered(another)
        assert not another.running


def test_a_server_that_dies_leaves_no_zombie(path):
    with dr.open(path) as f:
        viewer = started(f)
    os.kill(viewer._process.pid, signal.SIGKILL)
    for _ in range(100):
        if not os.path.exists(f"/proc/{viewer._process.pid}"):
            break
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{viewer._process.pid}") and viewer not in viewers._running
    viewer.close()


def test_it_ends_with_the_program_even_when_that_is_killed(path):
    program = ("import sys, datarep as dr\nwith dr.open(sys.argv[1]) as f:\n    v = f.view(browser=False)\n"
               "print(v._process.pid, flush=True)\nif len(sys.argv) > 2: sys.stdin.read()\n")
    with dr.open(path) as f:
        started(f).close()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for more in ([], ["wait"]):
        with subprocess.Popen([sys.executable, "-c", program, path, *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=environment, text=True) as p:
            number = int(p.stdout.readline())
            if more:
                p.kill()
            p.wait(20)
        for _ in range(100):
            state = open(f"/proc/{number}/stat", encoding="utf-8").read() if os.path.exists(f"/proc/{number}") else ") Z"
            if ") Z" in state:  # of another parent, once ours is gone
                break
            time.sleep(0.05)
        assert ") Z" in state


def test_what_has_no_viewer(path, monkeypatch, tmp_path):
    with dr.open(":memory:", "w") as f:
        with pytest.raises(dr.Error, match="have a path or a URL"):
            f.view(browser=False)
    with dr.open(io.BytesIO(), "w") as f:
        with pytest.raises(dr.Error, match="have a path or a URL"):
            f.view(browser=False)
    f = dr.open(path)
    f.close()
    with pytest.raises(ValueError, match="closed"):
        f.view(browser=False)
    with dr.open(path) as f:
        monkeypatch.setattr(dr.command.os.path, "exists", lambda _: False)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(FileNotFoundError, match="datarep is not installed"):
            f.view(browser=False)


def test_html_has_no_scripts(path):
    with dr.open(path) as f:
        for o in (f, f["g"], f["g/x"], f.tree()):
            assert "<script" not in o._repr_html_() and "javascript:" not in o._repr_html_()
