#!/usr/bin/python3
# slow: links what the wheel holds, and installs it into an environment
# SPDX-License-Identifier: MIT
"""The wheel: what its files need and show, what it says of itself, and that it works where nothing of the
tree is.  `make wheel-roots` tries it in bare systems and builds it from the archive of the sources."""
import glob
import json
import os
import re
import subprocess
import sys
import tarfile
import traceback
import zipfile

from elf import Elf

SRC, TMP = os.environ["SRCDIR"], os.environ["TMPDIR"]
PYTHON = os.path.join(TMP, "venv", "bin", "python3")
# The C library of every Linux with glibc.
SYSTEM = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2",
          "ld-linux-aarch64.so.1", "ld-linux.so.2", "ld-linux-armhf.so.3", "ld64.so.2", "ld64.so.1"}
SHOWN = {"_core.abi3.so": "PyInit__core", "libdatarep.so.1": "drep_.*|DATAREP_1", "bin/datarep": "drep_.*",
         "libdatarep-mpi-mpich.so.1": "drep_mpi_.*|DATAREP_1", "libdatarep-mpi-openmpi.so.1": "drep_mpi_.*|DATAREP_1",
         "lib/datarep/datarep-hdf5.so": "datarep_hdf5_.*",
         "lib/datarep/libdatarep-netcdf.so": "nc_.*|datarep_netcdf_init", "lib/libdrlzf.so": "lzf_(de)?compress|_init|_fini"}


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, cwd=TMP, check=False, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wheel():
    return glob.glob(os.path.join(TMP, "wheel", "dist", "*.whl"))[0]


def files():
    """{name in the wheel: bytes}"""
    with zipfile.ZipFile(wheel()) as z:
        return {name: z.read(name) for name in z.namelist()}


def elves():
    return {name.removeprefix("datarep/"): Elf(data) for name, data in files().items() if data[:4] == b"\x7fELF"}


def info(name):
    return next(data for path, data in files().items() if path.endswith(".dist-info/" + name)).decode()


def make_wheel():
    run("make", "-s", "-C", SRC, "wheel", f"WHEEL={TMP}/wheel")
    assert len(files()) > 30


def tag():
    """The tag is the highest version of glibc that a file names."""
    numbers = {tuple(map(int, v[6:].split("."))) for e in elves().values() for v in e.versions
               if v.startswith("GLIBC_") and v[6].isdigit()}
    assert not [v for e in elves().values() for v in e.versions if not re.fullmatch(r"GLIBC_[\d.]+|DATAREP_1", v)]
    major, minor = max(numbers)[:2]
    name = os.path.basename(wheel())
    assert re.fullmatch(rf"datarep-[\d.]+-cp311-abi3-manylinux_{major}_{minor}_\w+\.whl", name), (name, max(numbers))
    assert f"Tag: {name[:-4].split('-', 2)[2]}\n" in info("WHEEL")
    assert (major, minor) <= (2, 34), f"glibc {major}.{minor} is newer than that of the systems we name"


def needed():
    """Nothing is needed but the C library and what the wheel carries under names of its own."""
    carried = {e.soname for e in elves().values() if e.soname}
    assert carried and not {n for n in carried if "datarep" not in n and not n.startswith("libdr")}
    for name, elf in elves().items():
        assert elf.needed and set(elf.needed) <= SYSTEM | carried, (name, elf.needed)


def hidden():
    """Of what is linked in no symbol is seen; there are no symbols but those that are exported."""
    for name, elf in elves().items():
        others = [s for s in elf.exported if not re.fullmatch(SHOWN[name], s)]
        assert not others, (name, others[:9])
        assert not [s for s in elf.sections if s == ".symtab" or s.startswith(".debug")], name
    assert elves()["_core.abi3.so"].exported == {"PyInit__core"}


def limited():
    """What begins with an underscore is outside of the limited API, but for these, which its macros use."""
    used = run("nm", "-D", "--undefined-only", os.path.join(SRC, "build/release/portable/_core.abi3.so"))
    own = (r"_Py_Dealloc|_PyObject_New|_Py\w*_SizeT|_Py_(None|True|False)Struct|_Py_EllipsisObject|"
           r"_Py_NotImplementedStruct")
    others = [s for s in re.findall(r" (_Py\w+)", used) if not re.fullmatch(own, s)]
    assert not others, others


def says():
    """The metadata: NumPy is needed, the licences are those of the parts and their texts are there."""
    text = info("METADATA")
    assert "\nRequires-Dist: numpy>=" in text and "\nRequires-Python: >=3.11\n" in text
    components = json.loads(info("sboms/datarep.cdx.json"))["components"]
    expression = re.search("^License-Expression: (.*)", text, re.M).group(1).split(" AND ")
    for part in components:
        licence = part["licenses"][0]["expression"]
        assert set(licence.split(" AND ")) <= set(expression) and licence != "NOASSERTION", part
        assert f"License-File: parts/{part['name']}.txt\n" in text and info(f"licenses/parts/{part['name']}.txt")
        assert part["properties"] and all(p["value"] in SHOWN for p in part["properties"]), part


def install():
    run("/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", os.path.join(TMP, "venv"))
    run("/usr/bin/python3", "-m", "pip", "--python", PYTHON, "install", "-q", "--no-index", wheel())


def program(text, *arguments):
    return run(PYTHON, "-c", text, *arguments)


def parts():
    """The list of parts is what the libraries say of themselves; libaec does not say its version."""
    told = json.loads(program("import datarep, json; print(json.dumps(datarep.versions()))"))
    listed = {c["name"]: c["version"] for c in json.loads(info("sboms/datarep.cdx.json"))["components"]}
    listed.pop("libaec", None)
    assert {"datarep", "format", "python", "numpy"} <= set(told)
    assert listed == {k: v for k, v in told.items() if k not in ("datarep", "format", "python", "numpy")}
    assert {"zstd", "lz4", "libdeflate", "blosc", "lzf", "xxhash"} <= set(listed)


def works():
    """Every filter; its own library, and no other of what it has linked in."""
    program("""
import os
import datarep as dr, numpy as np
with dr.open("a.drep", "w", datarep="external32") as f:
    for name in ("zstd", "lz4", "deflate", "lzf", "blosc"):
        f.create(name, np.arange(1000.0), filters=f"shuffle,{name}")
with dr.open("a.drep") as f:
    for name in f:
        assert (f[name][::-7] == np.arange(1000.0)[::-7]).all()
assert dr.check("a.drep")
maps = open("/proc/self/maps").read()
assert os.path.join(os.path.dirname(dr.__file__), "libdatarep.so.1") in maps and "/venv/" in dr.__file__
assert not [n for n in ("libzstd", "liblz4", "libdeflate", "libblosc", "liblzf.", "libsnappy") if n in maps]
""")


def snappy():
    """Streams of Blosc that hold Snappy's, as Debian's libblosc makes them: through HDF5 both ways."""
    program("""
import os
import datarep as dr, numpy as np
try:
    import tables
except ImportError:
    raise SystemExit
x = np.arange(100_000, dtype="i4") // 7
with tables.open_file("s.h5", "w") as f:
    f.create_carray("/", "x", obj=x, filters=tables.Filters(5, "blosc:snappy"))
dr.import_("s.h5", "s.drep")
with dr.open("s.drep") as f:
    assert (f["x"][...] == x).all() and "blosc" in str(f["x"].filters)
dr.export("s.drep", "t.h5")
with tables.open_file("t.h5") as f:
    assert (f.root.x[:] == x).all()
""")


def command():
    """The command under both names, with HDF5."""
    program("import datarep as dr; dr.export('a.drep', 'a.h5', force=True); dr.import_('a.h5', 'b.drep', force=True)")
    assert "zstd" in run(PYTHON, "-m", "datarep", "ls", "a.drep")
    # There is no libnetcdf: what a page says of it.
    program("""
import datarep as dr
try:
    dr.export("a.drep", "a.nc")
    raise SystemExit("libnetcdf is in the wheel: change the pages")
except dr.Error as error:
    assert "netCDF" in str(error) and "--no-verify" in str(error), error
dr.export("a.drep", "a.nc", no_verify=True)
dr.import_("a.nc", "c.drep")
""")
    run(os.path.join(TMP, "venv", "bin", "datarep"), "dump", "-H", "b.drep")


def plugin():
    """A plugin finds the functions of the library in the package."""
    source = os.path.join(TMP, "mine.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write("""
#include <datarep.h>
#include <string.h>
static int same(const uint32_t *p, int n, const void *in, size_t size, void *out, size_t *room, void *state)
{
    (void)p, (void)n, (void)state;
    if (*room >= size)
        memcpy(out, in, size);
    *room = size;
    return 0;
}
int drep_plugin_init(void) { return drep_register_filter("mine", same, same, DREP_FILTER_KEEP, 0); }
""")
    os.makedirs(os.path.join(TMP, "plugins"))
    run("gcc", "-shared", "-fPIC", f"-I{SRC}/lib", "-o", os.path.join(TMP, "plugins", "mine.so"), source)
    program("""
import datarep as dr, numpy as np, sys
dr._core.plugin_path(sys.argv[1])
with dr.open("p.drep", "w") as f:
    f.create("x", np.arange(9), filters="mine")
with dr.open("p.drep") as f:
    assert f["x"][...].tolist() == list(range(9))
""", os.path.join(TMP, "plugins"))


def mpi():
    """Two processes share a file, through the MPI that mpi4py has."""
    program("""
import sys
try:
    from mpi4py import MPI
except ImportError:
    raise SystemExit
from datarep import mpi
family = mpi._FAMILIES[MPI.get_vendor()[0]]
path = mpi.libraries(family)[0]
assert "/venv/" in path, path
import subprocess
env = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
more = ["--oversubscribe"] if family == "openmpi" else []
done = subprocess.run([f"mpirun.{family}", *more, "-n", "2", sys.executable, "-c", '''
from mpi4py import MPI
import datarep as dr, numpy as np
comm = MPI.COMM_WORLD
with dr.open("m.drep", "w", comm=comm) as f:
    f.create("x", dtype="f8", shape=(4,))[2 * comm.rank:2 * comm.rank + 2] = [comm.rank, 7]
assert dr.open("m.drep")["x"][...].tolist() == [0, 7, 1, 7]
'''], capture_output=True, text=True, env=env, timeout=100)
assert done.returncode == 0, done.stdout + done.stderr
""")


def sdist():
    """The archive of the sources has every file that a build reads."""
    made = glob.glob(os.path.join(TMP, "wheel", "dist", "*.tar.gz"))[0]
    with tarfile.open(made) as tar:
        inside = {name.split("/", 1)[1] for name in tar.getnames()}
    wanted = {os.path.relpath(os.path.join(folder, name), SRC)
              for room in ("lib", "format", "schema", "tools", "python/src", "python/portable", "python/datarep")
              for folder, _, names in os.walk(os.path.join(SRC, room)) for name in names if not name.endswith(".pyc")}
    assert wanted | {"Makefile", "LICENSE", "README.md", "pyproject.toml", "PKG-INFO", "python/backend.py",
                     "python/entry_points.txt", "python/core.map"} <= inside, wanted - inside
    assert not {name for name in inside if name.startswith(("build/", ".git"))}


def uninstall():
    run("/usr/bin/python3", "-m", "pip", "--python", PYTHON, "uninstall", "-q", "-y", "datarep")
    assert not glob.glob(os.path.join(TMP, "venv", "lib", "python3*", "site-packages", "datarep*"))


CASES = (("make wheel", make_wheel), ("the tag is the highest version of glibc that a file names", tag),
         ("nothing is needed but the C library", needed), ("symbols of what is linked in are hidden", hidden),
         ("the extension uses the limited API alone", limited), ("the metadata says what is needed", says),
         ("it is installed without an index and into nothing but NumPy", install),
         ("the list of parts is what dr.versions() says", parts), ("it writes and reads with its own library", works),
         ("it reads and writes Snappy in Blosc", snappy), ("it brings the command, under both names", command),
         ("it loads plugins", plugin), ("it shares files by MPI", mpi),
         ("the archive of the sources is whole", sdist), ("it is removed", uninstall))


def main():
    if not os.path.exists(os.path.join(SRC, "build/python/datarep/_core.abi3.so")):
        print("1..0 # SKIP the package is not built: Python's headers are missing, or make python-package")
        return
    for module in ("pip", "venv", "numpy"):
        if subprocess.run(["/usr/bin/python3", "-c", f"import {module}"], capture_output=True, check=False).returncode:
            print(f"1..0 # SKIP no module {module}: tools/install-deps python")
            return
    for i, (name, case) in enumerate(CASES, 1):
        try:
            case()
            print(f"ok {i} - {name}", flush=True)
        except Exception:  # noqa: BLE001
            print(f"not ok {i} - {name}")
            print("# " + traceback.format_exc().strip().replace("\n", "\n# "), flush=True)
    print(f"1..{len(CASES)}")


sys.dont_write_bytecode = True
main()
