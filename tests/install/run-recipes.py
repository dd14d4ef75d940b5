#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 1500
# needs: python-jinja2 python-yaml
"""run-recipes.py - the recipes of packaging/ agree with the sources: version, variables of make, dependencies.

Usage: run-recipes.py [--final] [--build [VARIANTS]]      UPDATE=1 writes DREP_VERSION into both

--build also runs them (`make recipes`): each builds the archive of `make dist` into a prefix of its own, and its tests
run there. Neither Spack nor conda-build is there: modules stand in for Spack's that record its directives, Jinja2 renders
conda's file, and the libraries are Debian's. VARIANTS are Spack's, such as "+mpi+fortran", which it alone is tried with.
--final refuses what stands for the address, the digest and the maintainers of a release that there is not yet.
"""
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import types

import jinja2
import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "build", "recipes")
SITE = "lib/python%d.%d/site-packages" % sys.version_info[:2]
ZEROS = "0" * 64

# Debian's package for each name of Spack's and of conda-forge's.
DEBIAN = {
    "c": "build-essential", "cxx": "build-essential", "make": "build-essential", "stdlib_c": "build-essential",
    "fortran": "gfortran", "pkgconfig": "pkg-config", "pkg-config": "pkg-config", "xxhash": "libxxhash-dev",
    "libyaml": "libyaml-dev", "yaml": "libyaml-dev", "zstd": "libzstd-dev", "lz4": "liblz4-dev", "lz4-c": "liblz4-dev",
    "libdeflate": "libdeflate-dev", "liblzf": "liblzf-dev", "c-blosc": "libblosc-dev", "blosc": "libblosc-dev",
    "libzip": "libzip-dev", "hdf5": "libhdf5-dev", "netcdf-c": "libnetcdf-dev", "libnetcdf": "libnetcdf-dev",
    "cairo": "libcairo2-dev", "curl": "libcurl4-openssl-dev", "libcurl": "libcurl4-openssl-dev",
    "libmicrohttpd": "libmicrohttpd-dev", "mpi": "libmpich-dev", "python": "python3-dev", "py-numpy": "python3-numpy",
    "numpy": "python3-numpy",
}
# What of debian/control the recipes leave out: how Debian builds; for conda also MPI, Fortran, and what it does not have.
DEBIAN_ONLY = {"debhelper-compat", "dh-sequence-python3", "libopenmpi-dev"}
NOT_CONDA = DEBIAN_ONLY | {"liblzf-dev", "libmpich-dev", "gfortran"}
# Libraries that tools/probe looks for and tests alone use.
FOR_TESTS = {"CHECK", "MPFR", "SQLITE", "LMDB", "HDF5_MPICH", "HDF5_OPENMPI"}

cases = failures = 0


def check(name, wrong):
    """One case: `wrong` is empty, or what is wrong."""
    global cases, failures
    cases += 1
    failures += bool(wrong)
    print("%sok %d - %s" % ("not " if wrong else "", cases, name), flush=True)
    if wrong:
        print("\n".join("# " + line for line in str(wrong).splitlines()[-30:]), flush=True)


def text(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


# ------------------------------------------------------------------- Spack's names, as far as the recipe uses them

class Prefix(str):
    """A directory whose attributes are the paths below it."""

    def __getattr__(self, name):
        return Prefix(os.path.join(self, name))


class Program:
    def __init__(self, path):
        self.path = str(path)

    def __call__(self, *args, **_):
        return subprocess.run([self.path, *args], check=True, env=after(os.environ["RECIPE_PREFIX"]), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


class Installed:
    """A dependency: Debian's files under Spack's names."""

    def __init__(self, name):
        self.name, self.prefix, self.mpifc = name, Prefix("/usr"), "mpifort." + name
        self.command = Program(sys.executable)
        self.headers = types.SimpleNamespace(directories=[sysconfig.get_path("include")])
        self.package = types.SimpleNamespace(platlib=SITE)


class Spec:
    """A concrete spec: the variants that are on; of MPI it has MPICH."""

    def __init__(self, version, on):
        self.version, self.on = version, on

    def satisfies(self, wanted):
        signs = re.findall(r"([+~])([\w-]+)|\^(\w+)", wanted)
        assert "".join(s + n + ("^" + d if d else "") for s, n, d in signs) == wanted.replace(" ", ""), wanted
        return all(dep == "mpich" and "mpi" in self.on if dep else (sign == "+") == (name in self.on)
                   for sign, name, dep in signs)

    def __getitem__(self, name):
        return Installed("mpich" if name == "mpi" else name)


class SkipTest(Exception):
    pass


def load_spack():
    """The class of the recipe, and its directives: (name, arguments, keywords) of each."""
    said = []

    def directive(name):
        return lambda *args, **keywords: said.append((name, args, keywords))

    class MakefilePackage:
        build_targets = ()
        install_targets = ("install",)

        def __init__(self, spec, prefix):
            self.spec, self.prefix = spec, Prefix(prefix)

    package = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "extends", "requires", "conflicts", "maintainers"):
        setattr(package, name, directive(name))
    package.__dict__.update(join_path=os.path.join, which=Program, SkipTest=SkipTest, spack_fc=shutil.which("gfortran") or "gfortran")
    makefile = types.ModuleType("spack_repo.builtin.build_systems.makefile")
    makefile.MakefilePackage = MakefilePackage
    for module in [types.ModuleType(n) for n in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems")] + [
            package, makefile]:
        sys.modules[module.__name__] = module
    scope = {"__name__": "recipe"}
    exec(compile(text("packaging", "spack", "package.py"), "packaging/spack/package.py", "exec"), scope)
    return scope["Datarep"], said


def variants(said):
    return {args[0]: keywords["default"] for name, args, keywords in said if name == "variant"}


def name_of(spec):
    """The package that a spec names: of hdf5@1.10:+mpi it is hdf5."""
    return re.match(r"[\w-]*\w", spec).group(0)


# ------------------------------------------------------------------- conda's file

def load_conda():
    """meta.yaml for this machine's Linux and Python."""
    python = "%d%d" % sys.version_info[:2]
    lines = []
    for line in text("packaging", "conda", "meta.yaml").splitlines():
        m = re.search(r"#\s*\[(.*)\]\s*$", line)
        if not m or eval(m.group(1), {"__builtins__": {}}, {"linux": True, "win": False, "osx": False, "py": int(python)}):
            lines.append(line)
    template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string("\n".join(lines))
    return yaml.load(template.render(
        compiler=lambda language: language, stdlib=lambda language: "stdlib_" + language,
        pin_subpackage=lambda name, max_pin, **_: "pin %s %s" % (name, max_pin)), yaml.BaseLoader)


# ------------------------------------------------------------------- what both must say

def settings(words):
    return {m.group(1) for m in (re.match(r"([A-Za-z_]\w*)=", w) for w in words) if m}


def wrong_settings(names):
    """Variables that nothing reads, libraries that are neither asked for nor left out."""
    probe, makefile = text("tools", "probe"), text("Makefile")
    libraries = set(re.findall(r"\blib ([A-Z]\w*) \S+ \S+\.h ", probe))
    unknown = [n for n in names if not re.search(r"\b%s\b" % n, makefile)
               and n.partition("_")[2] not in libraries and n.partition("_")[0] not in libraries]
    silent = ["HAVE_" + n for n in sorted(libraries - FOR_TESTS) if "HAVE_" + n not in names]
    return "\n".join(["the Makefile does not know " + n for n in unknown] + ["nothing says " + n for n in silent])


def wrong_dependencies(names, left_out):
    groups = subprocess.run([os.path.join(ROOT, "tools", "install-deps"), "--list", "build", "interop", "python", "remote",
                             "fortran", "mpi"], check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    control = re.search(r"^Build-Depends:(.*(?:\n .*)*)", text("debian", "control"), re.M).group(1)
    wanted = [w.split()[0] for w in control.split(",") if "<!nocheck>" not in w]
    debian = {DEBIAN.get(n) for n in names}
    return "\n".join(["DEBIAN has no package for " + n for n in names if n not in DEBIAN] +
                     ["tools/install-deps has no " + d for d in sorted(debian - {None}) if d not in groups] +
                     ["debian/control needs %s, the recipe does not" % w for w in wanted if w not in debian | left_out])


def wrong_release(version, url, sha256, *others):
    """Everything of a release is real, or all of it a placeholder, which --final refuses."""
    stands = [".invalid/" in url, sha256 == ZEROS] + [".invalid" in o for o in others]
    if not url.endswith("/datarep-%s.tar.gz" % version) or not re.fullmatch(r"[0-9a-f]{64}", sha256):
        return "%s, %s: not the archive of %s and its SHA-256" % (url, sha256, version)
    if any(stands) and (not all(stands) or "--final" in sys.argv):
        return "placeholders: " + " ".join(w for w, s in zip((url, sha256) + others, stands) if s)
    return ""


def check_spack(package, said, version):
    on = variants(said)
    check("spack: its version is DREP_VERSION", [a for n, a, _ in said if n == "version"] != [(version,)] and "not " + version)
    check("spack: the release is real, or is not", wrong_release(
        version, package.url, [k["sha256"] for n, _, k in said if n == "version"][-1], package.homepage))
    check("spack: licence", ("license", ("MIT",), {}) not in said and "not MIT")
    conditions = " ".join(k.get("when", "") for _, _, k in said)
    check("spack: each variant that a condition names is one, and each has a use",
          set(re.findall(r"[+~](\w+)", conditions)) - set(on) or set(on) - set(re.findall(r"[+~](\w+)", text("packaging", "spack", "package.py"))))
    check("spack: dependencies are those of Debian's packages and of tools/install-deps",
          wrong_dependencies([name_of(a[0]) for n, a, _ in said if n == "depends_on"], DEBIAN_ONLY))
    for chosen in (), [v for v in on if on[v]], list(on):
        check("spack: the Makefile knows the variables of +" + ("+".join(chosen) or "nothing"),
              wrong_settings(settings(package(Spec(version, chosen), "/p").build_targets)))


def check_conda(meta, version):
    needs = meta["requirements"]
    check("conda: its version is DREP_VERSION", meta["package"] != {"name": "datarep", "version": version} and meta["package"])
    check("conda: the release is real, or is not", wrong_release(
        version, meta["source"]["url"], meta["source"]["sha256"], meta["about"]["home"] + "/", *meta["extra"]["recipe-maintainers"]))
    check("conda: what is built with it needs the same major version", meta["build"]["run_exports"] != ["pin datarep x"] and meta["build"])
    check("conda: it has a summary and licences, MIT's among them",
          not (meta["about"]["summary"] and meta["about"]["license"].startswith("MIT") and "LICENSE" in meta["about"]["license_file"]) and meta["about"])
    check("conda: dependencies are those of Debian's packages and of tools/install-deps",
          wrong_dependencies([n.split()[0] for part in needs.values() for n in part], NOT_CONDA))
    script = text("packaging", "conda", "build.sh")
    check("conda: the Makefile knows the variables of build.sh", wrong_settings(settings(
        script.partition("\nmake ")[2].partition("\n\n")[0].split())))
    numpy = [n for n in needs["run"] if n.startswith("numpy")]
    check("conda, spack: NumPy and Python are those of pyproject.toml",
          [w for w in ("numpy>=1.23", ">=3.11") if w not in text("pyproject.toml")] + (numpy != ["numpy >=1.23"]) * numpy)


# ------------------------------------------------------------------- building by them

def after(prefix):
    """The environment of a user who has loaded, or activated, the package."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "PKG_CONFIG", "PYTHON", "MAKE", "MFLAGS"))}
    env.update(PATH=prefix + "/bin:" + env["PATH"], PKG_CONFIG_PATH=prefix + "/lib/pkgconfig", PYTHONPATH=os.path.join(prefix, SITE),
               PREFIX=prefix, PYTHONDONTWRITEBYTECODE="1")
    return env


def run(what, command, folder, env):
    """Runs it with a log; "" or its end."""
    path = os.path.join(FOLDER, what.replace(" ", "-") + ".log")
    with open(path, "wb") as log:
        status = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=False)
    with open(path, encoding="utf-8", errors="replace") as log:
        return log.read() + "\nstatus %d; %s" % (status.returncode, path) if status.returncode else ""


def unpack(archive, name):
    folder = os.path.join(FOLDER, name)
    os.makedirs(folder)
    subprocess.run(["tar", "-xf", archive, "-C", folder, "--strip-components=1"], check=True)
    return folder


def astray(prefix, source):
    """Text below the prefix that names the sources' folder, files of ELF whose libraries are not found."""
    named = subprocess.run(["grep", "-rIl", source, prefix], text=True, stdout=subprocess.PIPE, check=False).stdout
    lost = []
    for path in glob.glob(prefix + "/bin/*") + glob.glob(prefix + "/**/*.so", recursive=True):
        out = subprocess.run(["ldd", path], text=True, stdout=subprocess.PIPE, env=after(prefix), check=False).stdout
        lost += ["%s: %s" % (path, line.strip()) for line in out.splitlines() if "not found" in line]
    return "\n".join(lost) + named


def build_spack(package, said, version, archive, work):
    asked = [a for a in sys.argv[1:] if re.match(r"[+~]", a)]
    on = {v for v, default in variants(said).items() if default}
    for sign, name in re.findall(r"([+~])(\w+)", "".join(asked)):
        (on.add if sign == "+" else on.discard)(name)
    prefix, source = os.path.join(work, "spack"), unpack(archive, "spack")
    pkg = package(Spec(version, on), prefix)
    os.environ["RECIPE_PREFIX"] = prefix
    # Spack's wrapper of the compiler adds the directories of HDF5, and where a library is found when a program runs.
    hdf5 = {f: subprocess.run(["pkg-config", "--" + f, "hdf5-serial"], text=True, stdout=subprocess.PIPE, check=True).stdout.strip()
            for f in ("cflags", "libs-only-L")}
    env = dict(after(prefix), CPPFLAGS=hdf5["cflags"], LDFLAGS="%s -Wl,-rpath,%s/lib" % (hdf5["libs-only-L"], prefix))
    for phase, targets in ("build", pkg.build_targets), ("install", pkg.install_targets):
        check("spack: %s of +%s" % (phase, "+".join(sorted(on))),
              run("spack " + phase, ["make", "-j%d" % os.cpu_count(), *targets], source, env))
    there = set(re.findall(r"^modules (.*)", Program(pkg.prefix.bin.datarep)("--version"), re.M)[0].split())
    modules = {"hdf5": "hdf5", "netcdf": "netcdf", "plot": "plot", "http": "remote", "view": "view"}
    check("spack: the command has the modules of the variants", there ^ ({"zip"} | {m for m, v in modules.items() if v in on}))
    check("spack: files that must be there are", [f for f in pkg.sanity_check_is_file if not os.path.isfile(os.path.join(prefix, f))])
    check("spack: what is installed is complete", astray(prefix, source))
    for name in [n for n in dir(package) if n.startswith("test_")]:
        try:
            getattr(pkg, name)()
            check("spack: %s, %s" % (name, getattr(package, name).__doc__), "")
        except SkipTest as e:
            print("ok %d - spack: %s # SKIP %s" % (cases + 1, name, e))
            globals()["cases"] += 1
        except (AssertionError, subprocess.CalledProcessError) as e:
            check("spack: %s" % name, "%r\n%s" % (e, getattr(e, "stdout", "")))


def conda_host(prefix):
    """The prefix as conda has it before a build: headers and libraries in one place, no hdf5.pc; pkg-config's directory."""
    configs = os.path.join(prefix + "-pkgconfig")
    for folder in prefix + "/include", prefix + "/lib", configs:
        os.makedirs(folder)
    for path in glob.glob("/usr/lib/*-linux-gnu*/pkgconfig/*.pc") + glob.glob("/usr/share/pkgconfig/*.pc"):
        if not os.path.basename(path).startswith("hdf5"):
            os.symlink(path, os.path.join(configs, os.path.basename(path)))
    for path in ["/usr/include/xxhash.h"] + glob.glob("/usr/include/hdf5/serial/*"):
        os.symlink(path, os.path.join(prefix, "include", os.path.basename(path)))
    for path in glob.glob("/usr/lib/*-linux-gnu*/hdf5/serial/libhdf5.so"):
        os.symlink(path, os.path.join(prefix, "lib", "libhdf5.so"))
    return configs


def build_conda(meta, archive, work):
    prefix, source = os.path.join(work, "conda"), unpack(archive, "conda")
    configs, there = conda_host(prefix), "-isystem %s/include" % prefix
    # The flags that conda's compilers set, but for those of one processor.
    env = {k: v for k, v in after(prefix).items() if k in ("PATH", "HOME", "TMPDIR", "CCACHE_DIR", "CCACHE_BASEDIR")}
    env.update(PREFIX=prefix, SRC_DIR=source, RECIPE_DIR=ROOT + "/packaging/conda", CPU_COUNT=str(os.cpu_count()), PYTHON=sys.executable,
               SP_DIR=os.path.join(prefix, SITE), PKG_NAME="datarep", PKG_VERSION=meta["package"]["version"], LC_ALL="C.UTF-8",
               BUILD="x86_64-conda-linux-gnu", HOST="x86_64-conda-linux-gnu", PKG_CONFIG_LIBDIR=configs,
               CC="gcc", CXX="g++", AR="gcc-ar", NM="gcc-nm", STRIP="strip", OBJCOPY="objcopy", FC="/absent/gfortran",
               CPPFLAGS="-DNDEBUG -D_FORTIFY_SOURCE=2 -O2 " + there,
               CFLAGS="-ftree-vectorize -fPIC -fstack-protector-strong -fno-plt -O2 -ffunction-sections -pipe %s "
                      "-fdebug-prefix-map=%s=/usr/local/src/conda/datarep -fdebug-prefix-map=%s=/usr/local/src/conda-prefix" % (there, source, prefix),
               LDFLAGS="-Wl,-O2 -Wl,--sort-common -Wl,--as-needed -Wl,-z,relro -Wl,-z,now -Wl,--disable-new-dtags -Wl,--gc-sections "
                       "-Wl,--allow-shlib-undefined -Wl,-rpath,%s/lib -Wl,-rpath-link,%s/lib -L%s/lib" % (prefix, prefix, prefix))
    env["CXXFLAGS"] = env["CFLAGS"]
    check("conda: build.sh", run("conda build", ["bash", ROOT + "/packaging/conda/build.sh"], source, env))
    check("conda: licences are there", [f for f in meta["about"]["license_file"] if not os.path.isfile(os.path.join(source, f))])
    check("conda: what is installed is complete", astray(prefix, source))
    here = dict(after(prefix), PKG_CONFIG_LIBDIR=configs)
    for n, command in enumerate(["%s -c 'import %s'" % (sys.executable, name) for name in meta["test"]["imports"]] + meta["test"]["commands"]):
        check("conda: " + command, run("conda test %d" % n, ["bash", "-euc", command], work, here))
    version = subprocess.run([prefix + "/bin/datarep", "--version"], text=True, stdout=subprocess.PIPE, env=here, check=False).stdout
    check("conda: the command has all modules", "\nmodules hdf5 netcdf zip plot http view\n" not in version and version)
    check("conda: a program builds with pkg-config", run("conda program", ["bash", "-euc", (
        "printf '#include <datarep.h>\\nint main(void) { return drep_version() == 0; }\\n' > p.c; "
        "gcc p.c -o p $(pkg-config --cflags --libs datarep) -Wl,-rpath,$PREFIX/lib; ./p")], work, here))


def build(package, said, meta, version):
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    check("make dist makes the archive", run("dist", [os.path.join(ROOT, "tools", "dist"), FOLDER], ROOT, dict(os.environ)))
    archive = os.path.join(FOLDER, "datarep-%s.tar.gz" % version)
    with open(archive, "rb") as f:
        print("# sha256 " + hashlib.sha256(f.read()).hexdigest(), flush=True)
    with tempfile.TemporaryDirectory(prefix="datarep-recipes-") as work:
        build_spack(package, said, version, archive, work)
        if not any(re.match(r"[+~]", a) for a in sys.argv[1:]):
            build_conda(meta, archive, work)
    for name in "spack", "conda":
        shutil.rmtree(os.path.join(FOLDER, name), ignore_errors=True)


def update(version):
    """Writes the version into both recipes."""
    for path, pattern in ("spack/package.py", r'(version\("|/datarep-)\d+\.\d+\.\d+'), ("conda/meta.yaml", r'(set version = ")[^"]*'):
        new = re.sub(pattern, r"\g<1>" + version, text("packaging", path))
        with open(os.path.join(ROOT, "packaging", path), "w", encoding="utf-8") as f:
            f.write(new)


def main():
    version = re.search(r'^#define DREP_VERSION "(.*)"', text("lib", "datarep.h"), re.M).group(1)
    if os.environ.get("UPDATE"):
        update(version)
    package, said = load_spack()
    meta = load_conda()
    check_spack(package, said, version)
    check_conda(meta, version)
    if "--build" in sys.argv:
        build(package, said, meta, version)
    print("1..%d" % cases)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
