# SPDX-License-Identifier: MIT
"""Datasets in the browser: the server of the command, started and ended from here."""
from __future__ import annotations

import atexit
import os
import re
import subprocess
import threading
from typing import Any, Optional

from . import command
from .errors import Error, UnsupportedError

__all__ = ["Viewer"]

_running: "set[Viewer]" = set()


class Viewer:
    """A server of `datarep view` that shows a file.  It ends by close(), as a context manager, at the end of
    the program, and when the program dies.

    Attributes: `url`, an address on 127.0.0.1; `code`, which the page asks for, once, where no browser was
    opened by the server.
    """

    def __init__(self, file: str, path: str, browser: bool, port: Optional[int]):
        options = ["--watch-input", "--path=" + path]
        if not browser:
            options.append("--no-browser")
        if port is not None:
            options.append(f"--port={int(port)}")
        self._process = subprocess.Popen(  # pylint: disable=consider-using-with
            [command.find(), "view", *options, "--", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="surrogateescape")
        assert self._process.stdout and self._process.stderr
        said = self._process.stdout.readline() + self._process.stdout.readline()
        found = re.fullmatch(r"(http://\S+)\ncode: (\S+)\n", said)
        if not found:
            self._process.kill()
            message = self._process.communicate()[1]
            raise Error(message.strip() or "datarep view ended at once")
        self.url, self.code = found.groups()
        _running.add(self)
        # Reads what it says, so that it never waits, and takes its status when it ends: no zombie stays.
        threading.Thread(target=self._attend, daemon=True).start()

    def _attend(self) -> None:
        assert self._process.stderr
        for _ in self._process.stderr:
            pass
        self._process.wait()
        _running.discard(self)

    @property
    def running(self) -> bool:
        """Whether the server is there."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the server.  More than once does nothing."""
        if self._process.stdin and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        _running.discard(self)

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<viewer at {self.url}, code {self.code}>" if self.running else "<viewer, closed>"


@atexit.register
def _end() -> None:
    for viewer in list(_running):
        viewer.close()


def view(file: Any, path: str, browser: bool, port: Optional[int]) -> Viewer:
    """See Named.view()."""
    name = file.filename
    if file.closed:
        raise ValueError("the file is closed")
    if "://" not in name and not os.path.isfile(name):
        raise UnsupportedError("only files that have a path or a URL can be viewed: save a copy of this one")
    return Viewer(name, path, browser, port)
