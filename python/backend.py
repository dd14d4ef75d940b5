# SPDX-License-Identifier: MIT
"""The build backend (PEP 517): pip and `make wheel` call it.

The Makefile compiles and links (`make wheel-files`); this packs.  The wheel has a list of its parts, the
libraries that were linked in, as the linker's maps tell them: dist-info/sboms/datarep.cdx.json
(CycloneDX, PEP 770), with their licences in dist-info/licenses.  It is tagged manylinux_2_N by the highest
version of glibc that one of its files needs, or linux if one needs a library that it does not carry.

    python3 python/backend.py DIRECTORY      both the archive of the sources and the wheel
"""
import base64
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import tomllib
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PORTABLE = os.path.join(ROOT, "build", "release", "portable")
# What every glibc of Linux has.
SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread)|ld-linux.*|ld64)\.so\.\d+")
# What archives and headers that may be linked in are part of.
PARTS = {
    "xxhash.h": ("xxhash", "BSD-2-Clause"),
    "libzstd.a": ("zstd", "BSD-3-Clause"),
    "liblz4.a": ("lz4", "BSD-2-Clause"),
    "libdeflate.a": ("libdeflate", "MIT"),
    "liblzf": ("lzf", "BSD-2-Clause"),
    "libblosc.a": ("blosc", "BSD-3-Clause AND MIT"),
    "libz.a": ("zlib", "Zlib"),
    "libyaml.a": ("libyaml", "MIT"),
    "libhdf5.a": ("hdf5", "BSD-3-Clause"),
    "libhdf5_serial.a": ("hdf5", "BSD-3-Clause"),
    "libsz.a": ("libaec", "BSD-2-Clause"),
    "libaec.a": ("libaec", "BSD-2-Clause"),
    "libstdc++.a": ("gcc", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    "libgcc.a": ("gcc", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    "libgcc_eh.a": ("gcc", "GPL-3.0-or-later WITH GCC-exception-3.1"),
}
# Archives that are no part of another project, or of the C library, which is not carried.
OWN = {"libdatarep.a", "libc_nonshared.a"}


def project():
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as f:
        return tomllib.load(f)["project"]


def version():
    with open(os.path.join(ROOT, "lib", "datarep.h"), encoding="utf-8") as f:
        return re.search(r'^#define DREP_VERSION "(.*)"', f.read(), re.M).group(1)


def said(*command):
    """What a program prints; "" if there is none."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False,
                              env={**os.environ, "LC_ALL": "C"}).stdout
    except OSError:
        return ""


def compile_into(folder):
    """Have the Makefile put the package's files into `folder`/datarep."""
    include = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(include, "Python.h")):
        raise SystemExit(f"{include}/Python.h is missing: install Python's headers (Debian: python3-dev)")
    for program in ("make", "gcc", "pkg-config"):
        if not shutil.which(program):
            raise SystemExit(f"{program} is missing: tools/install-deps --list build names what a build needs")
    # Of an outer make this one takes neither options nor jobs.
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MODE")}
    subprocess.run(["make", "-C", ROOT, f"-j{os.cpu_count()}", "--no-print-directory", "MODE=release",
                    f"PY_INCLUDE={include}", f"WHEEL={folder}", "wheel-files"],
                   check=True, env=env, stdout=sys.stderr)


# ------------------------------------------------------------------- the tag

def elf_files(tree):
    for folder, _, names in sorted(os.walk(tree)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                if f.read(4) == b"\x7fELF":
                    yield path


def platform(tree):
    """manylinux_2_N_MACHINE, if nothing but glibc is needed and not carried."""
    highest, needed, carried = (0,), set(), set()
    for path in elf_files(tree):
        carried.add(os.path.basename(path))
        text = said("readelf", "-W", "-d", "-V", path)
        needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
        for name in re.findall(r"Name: GLIBC_(\S+)", text):
            number = "2.36" if name == "ABI_DT_RELR" else name
            highest = max(highest, tuple(map(int, number.split(".")))) if name != "PRIVATE" else (999,)
    missing = sorted(n for n in needed - carried if not SYSTEM.fullmatch(n))
    machine = sysconfig.get_platform().replace("linux-", "").replace("-", "_")
    if missing or not needed or len(highest) < 2:
        print(f"backend: for this machine alone: the wheel needs {' '.join(missing)}", file=sys.stderr)
        return f"linux_{machine}"
    return f"manylinux_{highest[0]}_{highest[1]}_{machine}"


# ----------------------------------------------------------------- the parts

def linked():
    """{path of an archive or header: the files of the package that it is in}"""
    found = {}
    for folder, _, names in os.walk(PORTABLE):
        for name in names:
            if not name.endswith(".map"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8", errors="surrogateescape") as f:
                text = f.read()
            inside = os.path.relpath(os.path.join(folder, name[:-4]), PORTABLE)
            archives = re.findall(r"^(/.*\.a)\(", text.split("\nMemory Configuration")[0], re.M)
            for path in archives or re.findall(r"\A(/.*)$", text, re.M):
                found.setdefault(os.path.realpath(path), set()).add(inside)
    header = said("make", "-s", "-C", ROOT, "MODE=release", "print-XXHASH").strip()
    found[os.path.realpath(header)] = {"bin/datarep", "libdatarep.so." + version().split(".", maxsplit=1)[0]}
    return {p: files for p, files in found.items() if os.path.basename(p) not in OWN}


def debian(paths):
    """{path: (package of Debian, its version, the version of its authors)}"""
    owner = {}
    for line in said("dpkg-query", "-S", *paths, *(p.removeprefix("/usr") for p in paths)).splitlines():
        names, path = line.split(": ", 1)
        owner[path if path in paths else "/usr" + path] = names.split(":")[0].split(",")[0]
    shown = said("dpkg-query", "-W", "-f", "${Package} ${Version} ${source:Upstream-Version}\n", *set(owner.values()))
    of = {package: (package, full, re.sub(r"[+.~]*(dfsg|ds|repack|really).*", "", upstream))
          for package, full, upstream in map(str.split, shown.splitlines())} if owner else {}
    return {path: of[package] for path, package in owner.items() if package in of}


def parts(tree):
    """The parts, each as a component of CycloneDX, and {name: text of its licence}."""
    library = re.search(r"^libraries((?: .*\n)+)", said(os.path.join(tree, "bin", "datarep"), "--version"), re.M)
    tells = dict(item.rsplit("-", 1) for item in library.group(1).split()) if library else {}
    made, texts, found = {}, {}, linked()
    packages = debian(sorted(found))
    for path, files in sorted(found.items()):
        base = os.path.basename(path)
        name, licence = PARTS.get(base) or PARTS.get(base.split(".", maxsplit=1)[0]) or (base, "NOASSERTION")
        package, full, upstream = packages.get(path, ("", "", ""))
        part = made.setdefault(name, {"type": "library", "name": name, "version": upstream or tells.get(name, ""),
                                      "licenses": [{"expression": licence}], "properties": []})
        if package:
            part["purl"] = f"pkg:deb/debian/{package}@{full.replace('+', '%2B')}"
            copyright_ = f"/usr/share/doc/{package}/copyright"
            if os.path.exists(copyright_):
                with open(copyright_, "rb") as f:
                    texts[name] = f.read()
        files = files | set(filter(None, (p["value"] for p in part["properties"])))
        part["properties"] = [{"name": "datarep:file", "value": f} for f in sorted(files)]
    return list(made.values()), texts


def bill(components):
    return json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"component": {"type": "library", "name": "datarep", "version": version(),
                                   "licenses": [{"expression": "MIT"}]}},
        "components": components}, indent=1)


# ------------------------------------------------------------------- packing

def metadata(licence, licence_files):
    about = project()
    lines = ["Metadata-Version: 2.4", f"Name: {about['name']}", f"Version: {version()}",
             f"Summary: {about['description']}", f"License-Expression: {licence}",
             *(f"License-File: {name}" for name in licence_files),
             *(f"Classifier: {c}" for c in about["classifiers"]),
             f"Requires-Python: {about['requires-python']}",
             *(f"Requires-Dist: {d}" for d in about["dependencies"]),
             "Description-Content-Type: text/markdown", ""]
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        return "\n".join(lines) + "\n" + f.read()


def moment():
    """The time of everything that is packed: equal sources give equal bytes."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800)


def dist_info(tree, tag):
    """The files of dist-info, but for RECORD."""
    components, texts = parts(tree)
    licences = sorted({f"({e})" if " OR " in e else e for e in
                       (c["licenses"][0]["expression"] for c in components) if e != "NOASSERTION"})
    flat = sorted({one for e in licences for one in e.split(" AND ")} - {"MIT"})
    with open(os.path.join(ROOT, "LICENSE"), "rb") as f:
        files = {"licenses/LICENSE": f.read()}
    files |= {f"licenses/parts/{name}.txt": text for name, text in sorted(texts.items())}
    about = metadata(" AND ".join(["MIT", *flat]), [name[9:] for name in files])
    with open(os.path.join(ROOT, "python", "entry_points.txt"), "rb") as f:
        files["entry_points.txt"] = f.read()
    files["sboms/datarep.cdx.json"] = bill(components).encode()
    files["WHEEL"] = f"Wheel-Version: 1.0\nGenerator: datarep\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files["METADATA"] = about.encode()
    return files


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """One wheel for CPython 3.11 and later: the extension uses the limited API."""
    del config_settings, metadata_directory
    with tempfile.TemporaryDirectory() as folder:
        compile_into(folder)
        tree = os.path.join(folder, "datarep")
        tag = f"cp311-abi3-{platform(tree)}"
        info = f"datarep-{version()}.dist-info"
        name = f"datarep-{version()}-{tag}.whl"
        files = {}
        for path in sorted(os.path.join(d, n) for d, _, names in os.walk(tree) for n in names):
            with open(path, "rb") as f:
                files[os.path.relpath(path, folder)] = f.read()
        files |= {f"{info}/{n}": data for n, data in dist_info(tree, tag).items()}
    record = [f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(d).digest()).rstrip(b'=').decode()},{len(d)}"
              for n, d in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    os.makedirs(wheel_directory, exist_ok=True)
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, time.gmtime(moment())[:6])
            entry.external_attr = (0o100755 if data[:4] == b"\x7fELF" else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    return name


def sources():
    """What the archive of the sources holds: all of the tree, but its tests and Debian's files."""
    listed = said("git", "-C", ROOT, "ls-files", "-z") if os.path.exists(os.path.join(ROOT, ".git")) else ""
    names = listed.split("\0") if listed else [
        os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, files in os.walk(ROOT) for name in files]
    left = ("tests/", "debian/", "build/", ".", "PKG-INFO")
    return sorted(n for n in names if n and not n.startswith(left) and "__pycache__" not in n
                  and os.path.exists(os.path.join(ROOT, n)))


def build_sdist(sdist_directory, config_settings=None):
    """The archive of the sources, from which `pip install` compiles."""
    del config_settings
    top = f"datarep-{version()}"
    os.makedirs(sdist_directory, exist_ok=True)

    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = moment()
        return entry

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", format=tarfile.PAX_FORMAT, compresslevel=6) as tar:
        for name in sources():
            tar.add(os.path.join(ROOT, name), f"{top}/{name}", recursive=False, filter=plain)
        data = metadata("MIT", ["LICENSE"]).encode()
        entry = plain(tarfile.TarInfo(f"{top}/PKG-INFO"))
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
    data = bytearray(packed.getvalue())
    data[4:8] = moment().to_bytes(4, "little")
    with open(os.path.join(sdist_directory, top + ".tar.gz"), "wb") as f:
        f.write(data)
    return top + ".tar.gz"


if __name__ == "__main__":
    for build in (build_sdist, build_wheel):
        print(os.path.join(sys.argv[1], build(sys.argv[1])))
