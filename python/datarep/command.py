# SPDX-License-Identifier: MIT
"""The command that comes with the package: import, export, join, check, diff, references."""
from __future__ import annotations

import json
import os
import re
import subprocess
import warnings
from typing import Any, NamedTuple, Optional, Sequence

from .errors import ConversionWarning, Error

__all__ = ["check", "convert", "diff", "export", "find", "import_", "join", "references", "run"]


def find() -> str:
    """The path of the command."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "datarep")
    if os.path.exists(beside):
        return beside
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, "datarep")
        if os.access(path, os.X_OK):
            return path
    raise FileNotFoundError("the command datarep is not installed")


def run(arguments: Sequence[Any], ok: tuple[int, ...] = (0,)) -> "subprocess.CompletedProcess[str]":
    """Run the command; Error with what it says, unless its status is among `ok`."""
    line = [find(), *(os.fspath(a) if isinstance(a, os.PathLike) else str(a) for a in arguments)]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="surrogateescape", check=False)
    if done.returncode not in ok:
        raise Error(done.stderr.strip() or f"datarep ended with status {done.returncode}")
    return done


def libraries() -> dict[str, str]:
    """The libraries that the command uses and their versions; none if there is no command."""
    try:
        told = run(["--version"]).stdout
    except FileNotFoundError:
        return {}
    lines = re.search(r"^libraries((?: .*\n)+)", told, re.M)
    return dict(item.rsplit("-", 1) for item in lines.group(1).split()) if lines else {}


def _options(options: dict[str, Any]) -> list[str]:
    """verify=True -> --verify; deflate=3 -> --deflate=3"""
    line = []
    for name, value in options.items():
        name = "--" + name.strip("_").replace("_", "-")
        if value is True:
            line.append(name)
        elif value is not None and value is not False:
            for one in value if isinstance(value, (list, tuple)) else (value,):
                line.append(f"{name}={one}")
    return line


def _make(command: str, source: Any, target: Any, force: bool, options: dict[str, Any]) -> str:
    """Run a conversion; losses, which the command tells by status 1, are a warning, too."""
    done = run([command, *_options({**options, "force": force}), "--", source, target], ok=(0, 1))
    said = done.stderr.strip()
    if done.returncode:
        warnings.warn(said or "values changed", ConversionWarning, stacklevel=3)
    return said


def import_(source: Any, target: Any, *, force: bool = False, **options: Any) -> str:
    """Import a file of HDF5, netCDF, NumPy, CSV or raw elements, as `datarep import` does with these
    options; what it says of losses.

    A target that exists and is not empty is replaced only with force=True; update=True and append=True
    add to it.  Error otherwise.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> np.save(os.path.join(folder, "a.npy"), np.arange(3))
    >>> path = os.path.join(folder, "a.drep")
    >>> _ = dr.import_(os.path.join(folder, "a.npy"), path)
    >>> with dr.open(path) as f:
    ...     print([f[name][...] for name in f])
    [array([0, 1, 2])]
    """
    return _make("import", source, target, force, options)


def export(source: Any, target: Any, *, force: bool = False, **options: Any) -> str:
    """Export a file, or with root="/path" an object in it, as `datarep export` does.

    A target that exists and is not empty is replaced only with force=True.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with dr.open(os.path.join(folder, "a.drep"), "w") as f:
    ...     f["x"] = np.arange(3)
    >>> _ = dr.export(os.path.join(folder, "a.drep"), os.path.join(folder, "x.npy"), root="/x")
    >>> np.load(os.path.join(folder, "x.npy"))
    array([0, 1, 2])
    """
    return _make("export", source, target, force, options)


def convert(source: Any, target: Any, *, force: bool = False, **options: Any) -> str:
    """Copy a file into another representation or storage, as `datarep convert` does.

    A target that exists and is not empty is replaced only with force=True, or if it is the source.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with dr.open(os.path.join(folder, "a.drep"), "w") as f:
    ...     f["x"] = np.arange(3)
    >>> _ = dr.convert(os.path.join(folder, "a.drep"), os.path.join(folder, "b.drep"), datarep="external32")
    >>> with dr.open(os.path.join(folder, "b.drep")) as f:
    ...     print(f.datarep, f["x"][...])
    external32 [0 1 2]
    """
    return _make("convert", source, target, force, options)


def join(paths: Sequence[Any], target: Any, *, dim: Optional[str] = None, virtual: bool = False,
         copy: bool = False, force: bool = False, **options: Any) -> str:
    """Join files of Datarep, HDF5 and netCDF, one behind the other along a dimension, as `datarep join` does;
    what it says of them.

    dim: the dimension; without it the unlimited one, or the only one.
    virtual: the new file holds no elements of the joined variables: it names the bytes of their chunks in the
    sources, which must be in or below its directory, and of which only headers are read.  Whoever opens it
    says external=True.  copy: the elements of chunks that cannot stay are copied.

    Variables without the dimension must be equal in all files.  A target that exists and is not empty is
    replaced only with force=True.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> paths = [os.path.join(folder, name) for name in ("a.drep", "b.drep", "all.drep")]
    >>> for path, values in zip(paths, (np.zeros((2, 3)), np.ones((1, 3)))):
    ...     with dr.open(path, "w") as f:
    ...         _ = f.create("t", values, dims=["time", "x"], maxshape=(None, 3))
    >>> _ = dr.join(paths[:2], paths[2], dim="time", virtual=True)
    >>> with dr.open(paths[2], external=True) as f:
    ...     print(f["t"][...].tolist())
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    """
    if isinstance(paths, (str, bytes, os.PathLike)) or not paths:
        raise TypeError("paths: a list of paths is needed")
    line = _options({**options, "dim": dim, "virtual": virtual, "copy": copy, "force": force})
    return run(["join", *line, "--", *paths, target]).stderr.strip()


class Checked(NamedTuple):
    """What check() says: true if there are no findings."""

    sound: bool
    text: str

    def __bool__(self) -> bool:
        return self.sound


def check(path: Any, **options: Any) -> Checked:
    """Verify a file, as `datarep check` does.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> with dr.open(path, "w") as f:
    ...     f["x"] = np.arange(3)
    >>> bool(dr.check(path))
    True
    """
    done = run(["check", *_options(options), "--", path], ok=(0, 1))
    return Checked(done.returncode == 0, done.stdout + done.stderr)


class Difference(NamedTuple):
    """What diff() says: true if there are differences."""

    differs: bool
    text: str

    def __bool__(self) -> bool:
        return self.differs


def diff(a: Any, b: Any, **options: Any) -> Difference:
    """Compare two files, as `datarep diff` does.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> paths = [os.path.join(folder, name) for name in ("a.drep", "b.drep")]
    >>> for path, value in zip(paths, (1.0, 2.0)):
    ...     with dr.open(path, "w") as f:
    ...         f["x"] = value
    >>> bool(dr.diff(*paths)), bool(dr.diff(paths[0], paths[0]))
    (True, False)
    """
    done = run(["diff", *_options(options), "--", a, b], ok=(0, 1))
    return Difference(done.returncode == 1, done.stdout)


def references(source: Any, *, url: str | None = None, strict: bool = False, **options: Any) -> dict[str, Any]:
    """The references of a file, as `datarep refs` writes them: by them zarr, xarray and fsspec read the
    file without this library.

    source: a path or an open file, of which the newest commit counts.  url: where readers find the file;
    None: its absolute path.  inline: datasets of at most so many bytes are in the references themselves.
    What zarr cannot express is left out with a ConversionWarning that says why, or with strict=True an Error.
    References hold until the file is written to again.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> with dr.open(path, "w") as f:
    ...     _ = f.create("x", np.arange(1000), filters="shuffle,zstd:3")
    >>> found = dr.references(path, url="https://example.org/a.drep")
    >>> found["refs"]["x/0"][0]
    'https://example.org/a.drep'

    Then `zarr.open(fsspec.get_mapper("reference://", fo=found))` is the file as a group of zarr, and
    `xr.open_dataset("reference://", engine="zarr", backend_kwargs={"consolidated": False,
    "storage_options": {"fo": found}})` its dataset of xarray.
    """
    path = getattr(source, "_url", None) or getattr(source, "filename", source)
    if not isinstance(path, (str, os.PathLike)) or str(path) == ":memory:":
        raise TypeError("references are those of a file with a path, not of one in memory or another object")
    done = run(["refs", *_options({**options, "url": url, "strict": strict}), "--", path],
               ok=(0,) if strict else (0, 1))
    if done.stderr:
        warnings.warn(done.stderr.strip(), ConversionWarning, stacklevel=2)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
