#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The tests of other packages against datarep.h5 and the engine of xarray, as TAP.

Usage: suites.py [--list] [SUITE...] [-- PYTEST'S ARGUMENTS]
--list: print a line of tests/python/others/SUITE.txt for each test that does not pass

SUITES is the table: the Debian packages that have the tests, how Datarep is put into their place, and
how many must pass.  Packages that are not installed, and the sources that have the tests where packages have
none, are downloaded by apt-get and unpacked in build/others, so that nothing of the machine changes.  Sources
are of the version to which the list belongs, from whatever suite of Debian has it.
tests/python/others/SUITE.txt has a line for each test that does not pass: its name and the reason, below the
heading of its kind.  A test that is not listed and fails, or
is listed and passes, is an error.  `make test` runs h5py's, `make python-others` all.
"""
import dataclasses
import fnmatch
import glob
import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import types
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(ROOT, "build", "python")
OTHERS = os.path.join(ROOT, "build", "others")
LISTS = os.path.join(ROOT, "tests", "python", "others")
SYSTEM = "/usr/lib/python3/dist-packages"
SITE = os.path.join(OTHERS, "site")
KINDS = ("names files of HDF5 or netCDF, or their binary layout", "a feature that Datarep does not have",
         "a bug of Datarep's", "not of Datarep: fails with the original, too")


# ------------------------------------------------------------- putting Datarep into the place


def module(name, **content):
    made = types.ModuleType(name)
    made.__dict__.update(content)
    sys.modules[name] = made
    above, _, last = name.rpartition(".")
    setattr(sys.modules[above], last, made)
    return made


def h5py_itself(folder):
    """Let `import h5py` find datarep.h5, with the private modules that its tests import."""
    shim = install(folder)
    shim.__path__.append(os.path.join(folder, "h5py"))
    base, files = (importlib.import_module("datarep.h5." + n) for n in ("base", "files"))
    module("h5py._errors", silence_errors=lambda: None,
           unsilence_errors=lambda: shim.low.refuse("_errors"))
    base.Empty = shim.Empty  # h5py has it there
    files.direct_vfd = False
    files._drivers = files._DRIVERS


INSTALL = "import datarep.h5; datarep.h5.install(any_name=True)"


def install(folder):
    """datarep.h5 for all that import h5py, under any name of a file; in processes of a test, too."""
    with open(os.path.join(SITE, "sitecustomize.py"), "w", encoding="utf-8") as f:
        f.write(INSTALL + "\n")
    exec(INSTALL, {})
    return sys.modules["datarep.h5"]


def xarray_engine(folder):
    """The engine "datarep" for xarray's own of netCDF, and ds.datarep.save() for to_netcdf()."""
    import xarray.backends.api as api
    own = importlib.import_module("datarep.xarray")
    engines, plugin = ("netcdf4", "h5netcdf", "scipy"), api.plugins.get_backend

    def save(dataset, path, mode="w", format=None, group=None, engine=None,  # noqa: A002
             encoding=None, unlimited_dims=None, compute=True, **more):
        if engine not in (None, *engines):
            raise ValueError(f"unrecognized engine {engine!r}")
        if more.pop("invalid_netcdf", False):
            raise ValueError("unrecognized option 'invalid_netcdf' for engine datarep")
        return dataset.datarep.save(path, mode, group=group, encoding=encoding,
                                    unlimited_dims=unlimited_dims, compute=compute)

    def save_several(datasets, paths, mode="w", format=None, groups=None, engine=None,  # noqa: A002
                     compute=True, **more):
        return own.save_mfdataset(datasets, paths, mode, compute=compute, **more)

    api.to_netcdf = save
    api.plugins.get_backend = lambda e: plugin("datarep" if e in engines else e)
    sys.modules["xarray"].save_mfdataset = api.save_mfdataset = save_several


def netcdf_of_exports(folder):
    """datarep.h5 for h5py; of a file that was made through it, netCDF's own library reads the export."""
    install(folder)
    import datarep
    import netCDF4

    class Dataset(netCDF4.Dataset):
        def __init__(self, filename, mode="r", **more):
            path, self._exported = filename, None
            if mode == "r" and os.path.exists(filename) and of_datarep(filename):
                self._exported = tempfile.TemporaryDirectory()
                path = os.path.join(self._exported.name, "exported.nc")
                datarep.export(filename, path)
            super().__init__(path, mode, **more)

        def __setattr__(self, name, value):
            if name == "_exported":
                self.__dict__[name] = value
            else:
                super().__setattr__(name, value)

    netCDF4.Dataset = Dataset


def of_datarep(path):
    import datarep
    try:
        datarep.open(path).close()
        return True
    except Exception:  # noqa: BLE001
        return False


class Hickle:
    """Fixtures of hickle's tests."""

    def __init__(self):
        import pytest
        self.compression_kwargs = pytest.fixture(params=[{}, {"compression": "gzip", "compression_opts": 6}],
                                                 ids=["plain", "gzip"])(lambda request: request.param)


# --------------------------------------------------------------------------------- the table


@dataclasses.dataclass(frozen=True)
class Source:
    """A source package of Debian."""

    package: str
    version: str          # without Debian's own revision
    name: str = ""        # of the distribution, for packages that ask for its version
    path: tuple = (".",)  # folders on the path of modules


@dataclasses.dataclass(frozen=True)
class Suite:
    """One package's tests."""

    packages: tuple       # Debian's packages that have to be there
    tests: tuple          # files and folders below dist-packages, or below tests/python/others
    place: object         # what puts Datarep into the place of another
    passed: int           # how many pass at least, so that the list does not grow unseen
    options: tuple = ()   # pytest's
    plugins: tuple = ()   # fixtures of a conftest.py that the package with the tests has not
    package: str = ""     # the package that is copied, as its tests belong to it
    sources: tuple = ()   # where the tests are, and sources that these need


HDMF = Source("hdmf", "3.14.5", "hdmf", ("src", "."))
YAML = ("python3-ruamel.yaml", "python3-ruamel.yaml.clib")

SUITES = {
    "h5py": Suite(("python3-h5py",), ("h5py/_debian_h5py_serial/tests", "h5py/tests"), h5py_itself, 545,
                  package="h5py"),
    "xarray": Suite(("python3-xarray",), ("xarray/tests/test_backends.py", "xarray/tests/test_backends_api.py",
                                          "xarray/tests/test_distributed.py"), xarray_engine, 415,
                    # The classes of each engine have the same tests, and those of others use no netCDF.
                    options=("-k", "not Zarr and not zarr and not ViaNetCDF4 and not Scipy and not H5NetCDF and not "
                                   "Rasterio and not Pydap and not PyNio and not CfGrib and not PseudoNetCDF")),
    "xarray-h5netcdf": Suite(("python3-xarray", "python3-h5netcdf"), ("xarray/tests/test_backends.py",
                             "xarray/tests/test_distributed.py"), netcdf_of_exports, 263,
                             options=("-k", "TestH5NetCDFData or TestH5NetCDFAlready or h5netcdf")),
    "anndata": Suite(("python3-anndata", "python3-natsort", "python3-joblib", "python3-boltons"),
                     ("anndata/tests/test_readwrite.py", "anndata/tests/test_hdf5_backing.py",
                      "anndata/tests/test_backed_sparse.py", "anndata/tests/test_io_backwards_compat.py",
                      "anndata/tests/test_io_conversion.py", "anndata/tests/test_io_elementwise.py",
                      "anndata/tests/test_io_utils.py", "anndata/tests/test_io_warnings.py"), install, 300),
    "hickle": Suite(("python3-hickle", "python3-configobj", "python3-astropy", "python3-erfa",
                     "liberfa1"), ("hickle/tests",),
                    install, 168, plugins=(Hickle,)),
    "h5netcdf": Suite(("python3-netcdf4",), ("h5netcdf/tests",), netcdf_of_exports, 94,
                      sources=(Source("python-h5netcdf", "1.6.4"),),
                      options=("-k", "not test_ros3")),  # opens an address of the network
    "hdmf": Suite(("python3-jsonschema", "python3-pandas", "python3-scipy", *YAML), ("tests/unit",), install, 1494,
                  sources=(HDMF,)),
    "pynwb": Suite(("python3-jsonschema", "python3-pandas", "python3-scipy", "python3-dateutil", *YAML),
                   ("tests/integration/hdf5", "tests/back_compat"), install, 182,
                   sources=(Source("pynwb", "2.8.2", "pynwb", ("src", ".")), HDMF)),
    "meshio": Suite(("python3-rich", "python3-markdown-it", "python3-mdurl", "python3-pygments"),
                    tuple(f"tests/test_{n}.py" for n in ("cgns", "hmf", "med", "moab", "xdmf", "public", "helpers",
                                                         "cli")), install, 138,
                    sources=(Source("python-meshio", "7.0.0-really-5.3.5", "meshio", ("src", ".")),)),
    "biom": Suite(("python3-biom-format", "python3-click", "python3-scipy", "python3-pandas"), ("test_biom.py",),
                  install, 7),
    "silx": Suite(("python3-silx", "python3-fabio"), ("silx/io/test",), install, 326),
}


# --------------------------------------------------------------------------------- the tests


def fetched(packages):
    """Unpack the packages that are not installed; what is wrong, or None."""
    target, missing = os.path.join(OTHERS, "root"), []
    os.makedirs(os.path.join(OTHERS, "packages"), exist_ok=True)
    for name in packages:
        query = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", name],
                               capture_output=True, text=True, check=False)
        if query.stdout != "installed" and not os.path.exists(os.path.join(OTHERS, "packages", name)):
            missing.append(name)
    for name in missing:
        folder = os.path.join(OTHERS, "packages", name + ".new")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        got = subprocess.run(["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", name], cwd=folder,
                             capture_output=True, text=True, check=False)
        files = glob.glob(os.path.join(folder, "*.deb"))
        if got.returncode or not files:
            return f"{name} cannot be downloaded: {(got.stderr.strip().splitlines() or ['no file'])[-1]}"
        subprocess.run(["dpkg-deb", "-x", files[0], target], check=True)
        os.rename(folder, folder[:-4])
    return None


def debian(*command, cwd=None):
    """apt-get or apt-cache over lists of sources of its own."""
    apt, site = os.path.join(OTHERS, "apt"), None
    lists = os.path.join(apt, "sources.list")
    if not os.path.exists(lists):
        os.makedirs(os.path.join(apt, "lists", "partial"), exist_ok=True)
        os.makedirs(os.path.join(apt, "cache", "archives", "partial"), exist_ok=True)
        rows = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages",
                               "Origin: Debian"], capture_output=True, text=True, check=False).stdout.split()
        site = next((r for r in rows if "security" not in r), "")
        with open(lists, "w", encoding="utf-8") as f:
            for suite in ("bookworm", "trixie", "sid"):
                f.write(f"deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {site} {suite} main\n")
        debian("apt-get", "-qq", "update")
    options = {"Dir::Etc::sourcelist": lists, "Dir::Etc::sourceparts": os.devnull, "APT::Sandbox::User": "root",
               "Dir::State::lists": os.path.join(apt, "lists"), "Dir::Cache": os.path.join(apt, "cache")}
    return subprocess.run([command[0], *(x for o in options.items() for x in ("-o", "=".join(o))), *command[1:]],
                          cwd=cwd, capture_output=True, text=True, check=False)


def unpacked_source(source):
    return os.path.join(OTHERS, "sources", f"{source.package}-{source.version}")


def sourced(source):
    """Unpack a source package; what is wrong, or None."""
    target = unpacked_source(source)
    if os.path.exists(target):
        return None
    new = target + ".new"
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(os.path.join(new, "tree"))
    known = re.findall(r"^Version: (.*)", debian("apt-cache", "showsrc", source.package).stdout, re.M)
    version = next((v for v in known if v.rpartition("-")[0] == source.version), None)
    if version is None:
        return f"{source.package} {source.version} is in no suite of Debian any more: {', '.join(known) or 'none is'}"
    got = debian("apt-get", "-qq", "source", "--download-only", "--tar-only", f"{source.package}={version}", cwd=new)
    files = glob.glob(os.path.join(new, "*.orig.tar.*"))
    if got.returncode or not files:
        why = (got.stderr.strip().splitlines() or ["no file"])[-1]
        return f"the source of {source.package} cannot be downloaded: {why}"
    tree = os.path.join(new, "tree")
    subprocess.run(["tar", "xf", files[0], "-C", tree], check=True)
    inside = os.listdir(tree)
    os.rename(os.path.join(tree, inside[0]) if len(inside) == 1 else tree, target)
    shutil.rmtree(new)
    return None


def copied(source, package):
    """The directory of a copy of the tests as those of a package, made anew."""
    folder = os.path.join(ROOT, "build", package + "-tests")
    shutil.rmtree(folder, ignore_errors=True)
    target = os.path.join(folder, package, "tests")
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    with open(os.path.join(folder, package, "__init__.py"), "w", encoding="utf-8"):
        pass
    return folder, target


def located(suite):
    """(folder of the tests' names, their paths), or None."""
    unpacked = os.path.join(OTHERS, "root") + SYSTEM
    bases = [unpacked_source(source) for source in suite.sources[:1]] or [SYSTEM, unpacked, LISTS]
    for base in bases:
        found = [p for p in (os.path.join(base, t) for t in suite.tests) if os.path.exists(p)]
        if found and suite.package:
            folder, target = copied(found[0], suite.package)
            return folder, [target]
        if found:
            return base, found
    return None


def distribution(name, version):
    """The folder of a distribution's metadata, as if it were installed."""
    info = os.path.join(SITE, f"{name}-{version}.dist-info")
    os.makedirs(info)
    with open(os.path.join(info, "METADATA"), "w", encoding="utf-8") as f:
        f.write(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return info


def prepare(sources):
    """The path of modules, here and in processes of the tests, on which the package is as if installed."""
    unpacked = os.path.join(OTHERS, "root") + SYSTEM
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copy(os.path.join(ROOT, "python", "entry_points.txt"), distribution("datarep", "0"))
    for source in sources:
        if source.name:
            distribution(source.name, source.version.rpartition("-")[2])
    own = [os.path.normpath(os.path.join(unpacked_source(source), part)) for source in sources for part in source.path]
    sys.path[:0] = [SITE, PACKAGE, *own]
    sys.path.append(unpacked)
    os.environ["PYTHONPATH"] = os.pathsep.join([SITE, PACKAGE, *own, unpacked])


def expected(name):
    """({test or pattern: reason}, the numbers of each kind)"""
    made, kind, path = {}, None, os.path.join(LISTS, name + ".txt")
    if not os.path.exists(path):
        return made
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.rstrip("\n")
            if line.startswith("== "):
                kind = line[3:]
                if kind not in KINDS:
                    raise SystemExit(f"{path}: {line!r} is none of {KINDS}")
            elif line and not line.startswith("#"):
                test, _, reason = line.partition(": ")
                if not reason or test in made or kind is None:
                    raise SystemExit(f"{path}: {line!r} has no reason or kind, or is there twice")
                made[test] = (kind, reason)
    return made


class Result:
    """What became of each test."""

    def __init__(self, low):
        self.low = low
        self.start = 0
        self.passed, self.failed, self.skipped, self.reaches = set(), {}, {}, {}
        self.errors = {}

    @staticmethod
    def name(nodeid):
        name = re.sub(r"^.*?tests?/", "", nodeid)
        return "".join(c if " " <= c <= "~" else f"\\u{ord(c):04x}" for c in name)

    def pytest_runtest_logstart(self, nodeid, location):
        self.start = len(self.low.used)

    def pytest_runtest_logreport(self, report):
        name = self.name(report.nodeid)
        if report.skipped:
            where = report.longrepr
            self.skipped[name] = where[2] if isinstance(where, tuple) else str(where)
        elif report.failed:
            # A class that closes its file afterwards is not what a test is about.
            self.failed.setdefault(name, (report.longreprtext or "").strip().splitlines())
            if len(self.low.used) > self.start:
                self.reaches[name] = self.low.used[self.start]
        elif report.when == "call":
            self.passed.add(name)

    def pytest_collectreport(self, report):
        if report.failed:
            self.errors[self.name(report.nodeid)] = (report.longreprtext or "").splitlines()


def cause(lines):
    """The line of a traceback that says what was wrong."""
    return next((x[1:].strip() for x in reversed(lines) if x.startswith("E  ")), lines[-1] if lines
                else "")


def skip(out, why):
    print(f"1..0 # SKIP {why}", file=out)
    return 0


def run(name, listing, arguments):
    """The tests of one suite, in this process."""
    out, suite = os.fdopen(os.dup(1), "w", encoding="utf-8"), SUITES[name]
    for needed in ("numpy", "pytest"):
        if importlib.util.find_spec(needed) is None:
            return skip(out, f"no module {needed}: tools/install-deps python")
    if not os.path.exists(os.path.join(PACKAGE, "datarep", "_core.abi3.so")):
        return skip(out, "the package is not built: Python's headers are missing, or make python-package")
    if name == "h5py":
        wrong = None
    else:
        wrong = fetched(suite.packages) or next(filter(None, map(sourced, suite.sources)), None)
    found = None if wrong else located(suite)
    if found is None:
        return skip(out, wrong or f"the tests of {name} are not installed: tools/install-deps interop")
    import pytest
    folder, paths = found
    prepare(suite.sources)
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    suite.place(folder)
    result = Result(importlib.import_module("datarep.h5.low"))
    work = os.path.join(OTHERS, "work", name)
    os.makedirs(work, exist_ok=True)
    ini = os.path.join(work, "pytest.ini")
    with open(ini, "w", encoding="utf-8") as f:
        f.write("[pytest]\nmarkers = mpi\n    mpi_skip\n    filterwarnings\n    slow\n    flaky\n    network\n")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    began, here = time.monotonic(), os.getcwd()
    os.chdir(folder if suite.sources else work)  # tests open files beside them
    pytest.main(["-p", "no:cacheprovider", "--rootdir", folder, "-c", ini, "-q",
                 "--continue-on-collection-errors", "-W", "ignore", *suite.options,
                 *arguments, *paths], plugins=[result, *(p() for p in suite.plugins)])
    os.chdir(here)
    return (list_of if listing else report)(out, name, result, time.monotonic() - began)


def list_of(out, name, result, took):
    """A line for each test that does not pass."""
    for test in sorted([*result.failed, *result.errors]):
        lines = result.failed.get(test) or result.errors.get(test)
        print(f"{test}: {result.reaches.get(test) or cause(lines)}", file=out)
    print(f"# {name}: {len(result.passed - set(result.failed))} pass, {len(result.failed)} fail, "
          f"{len(result.skipped)} skip, {len(result.errors)} errors, {took:.0f} s", file=out)
    return 0


def matching(known, test):
    """The line of the list for a test: its name, or a pattern in which * stands for anything."""
    if test in known:
        return test
    for pattern in known:
        if "*" in pattern and fnmatch.fnmatchcase(test, re.sub(r"[][?]", "?", pattern)):
            return pattern
    return None


def report(out, name, result, took):
    """The TAP lines: one for the numbers, one for each surprise."""
    known, lines = expected(name), []
    passed, used = result.passed - set(result.failed), {}
    bad = {**result.failed, **result.errors}
    for test in sorted(bad):
        line = matching(known, test)
        if line is None:
            uses = f" (it uses {result.reaches[test]})" if test in result.reaches else ""
            lines.append((False, f"{name}: {test} fails, and is not listed{uses}", bad[test]))
        else:
            used.setdefault(line, []).append(test)
    if os.geteuid():
        known = {n: r for n, r in known.items() if not (r[1].startswith("the superuser") and n in passed)}
    for line in sorted(set(known) - set(used)):
        if line in passed:
            lines.append((False, f"{name}: {line} passes, but is listed", []))
        elif line not in result.skipped:
            lines.append((False, f"{name}: {line} is listed, but no such test fails", []))
    kinds = [f"{n} {kind}" for kind in KINDS
             if (n := sum(len(t) for line, t in used.items() if known[line][0] == kind))]
    least = SUITES[name].passed
    said = (f"{name}'s tests: {len(passed)} passed, {len(bad)} failed ({'; '.join(kinds) or 'none'}), "
            f"{len(result.skipped)} skipped; at least {least} must pass")
    lines.append((len(passed) >= least, said, []))
    for n, (ok, text, more) in enumerate(lines, 1):
        print(f"{'ok' if ok else 'not ok'} {n} - {text.replace('#', ' ')}", file=out)
        for line in more[-30:]:
            print("# " + line, file=out)
    print(f"1..{len(lines)}", file=out, flush=True)
    return 0 if all(ok for ok, _, _ in lines) else 1


def main(arguments):
    given, more = list(arguments), []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, more = arguments[:at], arguments[at + 1:]
    listing = "--list" in arguments
    names = [a for a in arguments if a != "--list"] or list(SUITES)
    libraries = glob.glob(os.path.join(OTHERS, "root", "usr", "lib", "*-linux-gnu"))
    if len(names) == 1 and libraries and "LD_LIBRARY_PATH" not in os.environ:
        os.environ["LD_LIBRARY_PATH"] = libraries[0]  # is read as a process begins
        os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), *given])
    if len(names) == 1:
        return run(names[0], listing, more)
    # Each in a process of its own: a module can be put into the place of another once.
    status = 0
    for name in names:
        print(f"# {name}", flush=True)
        status |= subprocess.run([sys.executable, os.path.abspath(__file__), *["--list"] * listing, name, "--", *more],
                                 check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
