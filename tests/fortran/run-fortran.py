#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 300
"""run-fortran.py - the module for Fortran: programs in Fortran, and what others say of their files.

Usage: run-fortran.py [--full]
--full: also under valgrind, and with ranks.  Skips where there is no gfortran.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build", "release")
DATAREP = os.environ.get("DATAREP", os.path.join(BUILD, "datarep"))
FLAGS = ["-std=f2018", "-g", "-O1", "-fcheck=all", "-Wall", "-Wextra", "-Wno-compare-reals",
         "-Wno-function-elimination", "-Wno-maybe-uninitialized", "-I" + os.path.join(BUILD, "fortran")]
LINK = ["-L" + BUILD, "-Wl,-rpath," + BUILD, "-ldatarep-fortran", "-ldatarep"]

# Each type of Fortran: declaration, datatype of the file, values as Fortran has them, and what the file
# must hold, as dump --json has it.  The integers are the ends of their ranges.
REAL4 = ["1.5", "-0.0", "huge(1.0_4)", "tiny(1.0_4)", "-huge(1.0_4)", "epsilon(1.0_4)"]
REAL4_JSON = [1.5, -0.0, 3.4028235e38, 1.1754944e-38, -3.4028235e38, 1.1920929e-7]
REAL8 = ["1.5_8", "-0.0_8", "huge(1.0_8)", "tiny(1.0_8)", "-huge(1.0_8)", "epsilon(1.0_8)"]
REAL8_JSON = [1.5, -0.0, sys.float_info.max, sys.float_info.min, -sys.float_info.max, sys.float_info.epsilon]
REAL16 = ["1.5_16", "-2.0_16", "2.0_16**16000", "2.0_16**(-16000)", "1.0_16+2.0_16**(-112)"]
REAL16_JSON = [1.5, -2.0, "0x1p+16000", "0x1p-16000", "0x1.0000000000000000000000000001p+0"]
REAL10 = ["1.5_10", "-2.0_10", "2.0_10**16000", "1.0_10+2.0_10**(-63)"]
REAL10_JSON = [1.5, -2.0, "0x1p+16000", "0x1.0000000000000002p+0"]


def integers(kind):
    top = 2 ** (8 * kind - 1) - 1
    values = [0, 1, -1, top, -top - 1]
    text = ["0_%d" % kind, "1_%d" % kind, "-1_%d" % kind, "huge(1_%d)" % kind, "-huge(1_%d)-1_%d" % (kind, kind)]
    return text, [v if abs(v) < 2 ** 53 else str(v) for v in values]


def pairs(values, texts, kind):
    return (["cmplx(%s, %s, %d)" % (a, b, kind) for a, b in zip(texts, reversed(texts))],
            [[a, b] for a, b in zip(values, reversed(values))])


def logicals(kind):
    return [".true._%d" % kind, ".false._%d" % kind], [True, False]


# The datatypes of the MPI standard for Fortran.
TYPES = [("integer(%d)" % k, "INTEGER%d" % k) + integers(k) for k in (1, 2, 4, 8, 16)] + [
    ("integer", "INTEGER") + integers(4),
    ("integer(8)", "AINT") + integers(8), ("integer(8)", "COUNT") + integers(8), ("integer(8)", "OFFSET") + integers(8),
    ("real(4)", "REAL4", REAL4, REAL4_JSON), ("real", "REAL", REAL4, REAL4_JSON),
    ("real(8)", "REAL8", REAL8, REAL8_JSON), ("double precision", "DOUBLE_PRECISION", REAL8, REAL8_JSON),
    ("real(16)", "REAL16", REAL16, REAL16_JSON), ("real(10)", "LONG_DOUBLE", REAL10, REAL10_JSON),
    ("real(4)", "REAL2", ["1.5", "-0.0", "65504.0", "2.0**(-24)"], [1.5, -0.0, 65504.0, 2.0 ** -24]),
    ("complex(4)", "COMPLEX8") + pairs(REAL4_JSON, REAL4, 4), ("complex", "COMPLEX") + pairs(REAL4_JSON, REAL4, 4),
    ("complex(8)", "COMPLEX16") + pairs(REAL8_JSON, REAL8, 8),
    ("complex(8)", "DOUBLE_COMPLEX") + pairs(REAL8_JSON, REAL8, 8),
    ("complex(16)", "COMPLEX32") + pairs(REAL16_JSON, REAL16, 16),
    ("complex(4)", "COMPLEX4", ["(1.5,-65504.0)", "(65504.0,0.0)"], [[1.5, -65504.0], [65504.0, 0.0]]),
    ("logical", "LOGICAL") + logicals(4),
] + [("logical(%d)" % k, "LOGICAL%d" % k) + logicals(k) for k in (1, 2, 4, 8, 16)] + [
    ("character(1)", "CHARACTER", ['"a"', '"Z"', '" "'], ["a", "Z", " "]),
]

# What the compiler refuses, and what it then says.
REFUSED = [
    ("an array of assumed size", "real :: a(2)\ncall s(a)\ncontains\nsubroutine s(b)\nreal :: b(*)\ncall d%read(b)\nend subroutine\n",
     "assumed size"),
    ("a derived type without its datatype", "type :: t\ninteger :: i\nend type\ntype(t) :: x\ncall d%read(x)\n", "no matching specific"),
    ("reading into a constant", "call d%read(1.0)\n", "no matching specific"),
    ("a number for a path", "call f%read(1, x)\n", "no matching specific"),
    ("a text for stat", "call d%read(x, stat='no')\n", "no matching specific"),
]
COUNT = [0, 0]


def report(problem, name):
    COUNT[0] += 1
    COUNT[1] += bool(problem)
    print("%sok %d - %s" % ("not " if problem else "", COUNT[0], name), flush=True)
    for line in problem.splitlines():
        print("# " + line)


def run(command, **more):
    """"" if it succeeds, else what it says."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)
    return "" if done.returncode == 0 else "%s: status %d\n%s%s" % (command[0], done.returncode, done.stdout, done.stderr)


def compiled(sources, where, name, fc=("gfortran",), flags=(), link=LINK):
    binary = os.path.join(where, name)
    return binary, run(list(fc) + FLAGS + ["-J" + where, "-Werror"] + list(flags) + ["-o", binary] + sources + link)


def tap(command, name):
    """Run a program that prints TAP and report its cases."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    plan = None
    for line in done.stdout.splitlines():
        if line.startswith(("ok", "not ok")):
            report("" if line.startswith("ok") else " ", "%s: %s" % (name, line.split(" - ", 1)[1]))
        elif line.startswith("1.."):
            plan = line
        else:
            print(line)
    report("" if plan and (done.returncode == 0 or "not ok" in done.stdout) else
           "status %d\n%s" % (done.returncode, done.stderr), name + ": ends")


def types_program():
    """A program that writes and reads the values of TYPES; each type is a block of its own."""
    text = ["program types", "use checks", "use datarep", "implicit none", "type(drep_file) :: f",
            "type(drep_dataset) :: d", "character(300) :: path", "call get_command_argument(1, path)",
            "call f%create(path)"]
    for declaration, datatype, values, _ in TYPES:
        same = ".eqv." if declaration.startswith("logical") else "=="
        text += [
            "block", "%s :: a(%d), b(%d), s" % (declaration, len(values), len(values))]
        text += ["a(%d) = %s" % (i + 1, v) for i, v in enumerate(values)]
        text += [
            'call d%%create(f, "/%s", "%s", shape=[%d])' % (datatype, datatype, len(values)),
            "call d%write(a)", "call d%read(b)",
            'call ok(logical(all(a %s b)), "%s as %s: what was written")' % (same, declaration, datatype),
            "call d%%read(s, start=[%d])" % len(values),
            'call ok(logical(s %s a(%d)), "%s: its last element")' % (same, len(values), datatype),
            'call f%%attr_write("/%s", "all", a)' % datatype, 'call f%%attr_read("/%s", "all", b)' % datatype,
            'call ok(logical(all(a %s b)), "%s: an attribute")' % (same, datatype), "end block"]
    return "\n".join(text + ["call f%close()", "call done()", "end program", ""])


def types_test(where, checks):
    source = os.path.join(where, "types.f90")
    with open(source, "w", encoding="ascii") as f:
        f.write(types_program())
    # The extreme values are meant; -huge-1 is the one that the compiler warns of.
    binary, problem = compiled([checks, source], where, "types", flags=["-fno-range-check", "-Wno-conversion"])
    report(problem, "types: compiles")
    if problem:
        return
    path = os.path.join(where, "types.drep")
    tap([binary, path], "types")
    done = subprocess.run([DATAREP, "dump", "--json", path], capture_output=True, text=True)
    report(done.stderr, "types: the command reads the file")
    members = json.loads(done.stdout)["root"]["members"]
    for declaration, datatype, _, want in TYPES:
        got = members[datatype]["data"]
        problem = "" if json.dumps(got) == json.dumps(want) else "%r is not %r" % (got, want)
        report(problem, "types: %s holds the values of %s" % (datatype, declaration))
    python_test(path)


def python_test(path):
    """The package for Python reads what Fortran wrote, and writes what Fortran reads."""
    sys.path.insert(0, os.path.join(ROOT, "build", "python"))
    try:
        import datarep
        import numpy
    except ImportError as e:
        print("# SKIP the package for Python: %s" % e)
        return
    with datarep.open(path) as f:
        problem = ""
        for k in (1, 2, 4, 8):
            info = numpy.iinfo("i%d" % k)
            got = [int(v) for v in f["INTEGER%d" % k][...]]
            if got != [0, 1, -1, info.max, info.min]:
                problem += "INTEGER%d: %r\n" % (k, got)
        got = f["REAL8"][...].tolist()
        if got != REAL8_JSON:
            problem += "REAL8: %r\n" % got
        report(problem, "types: Python reads the same")


def arrays_test(where, binary):
    path = os.path.join(where, "arrays.drep")
    tap([binary, path], "arrays")
    done = subprocess.run([DATAREP, "dump", "--json", path], capture_output=True, text=True)
    members = json.loads(done.stdout)["root"]["members"]
    a = members["a"]
    report("" if a["shape"] == [3, 6, 4] and a["data"][1][2][3] == 24 + 2 * 4 + 3 + 1 and
           [d["dimension"] for d in a["dimensions"]] == ["t", "y", "x"] else str(a)[:300],
           "arrays: the file has the shape reversed, and (4, 3, 2) at [1, 2, 3]")
    report(run([DATAREP, "check", "--deep", path]), "arrays: the file is whole")


def end_test(where, binary):
    for how, status, there in (("end", 0, ["committed", "later"]), ("stop", 0, ["committed", "later"]),
                               ("fail", 3, ["committed"])):
        done = subprocess.run([binary, where, how], capture_output=True, text=True)
        said = subprocess.run([DATAREP, "dump", "--json", os.path.join(where, how + ".drep")], capture_output=True,
                              text=True)
        got = list(json.loads(said.stdout)["root"]["members"]) if said.returncode == 0 else said.stderr
        wrong = done.returncode != status or got != there or (how == "fail") != ("not committed" in done.stderr)
        report("status %d, %s\n%s" % (done.returncode, got, done.stderr) if wrong else "",
               "handles: a program that ends by %s leaves %s" % (how, " and ".join(there)))


def refused_test(where):
    for name, body, words in REFUSED:
        source = os.path.join(where, "refused.f90")
        declare, _, calls = "", "", body
        if body.startswith(("real", "type")):
            cut = body.index("call")
            declare, calls = body[:cut], body[cut:]
        with open(source, "w", encoding="ascii") as f:
            f.write("program refused\nuse datarep\nimplicit none\ntype(drep_file) :: f\ntype(drep_dataset) :: d\nreal :: x_(1)\n"
                    "real, allocatable :: r(:)\n" + declare + ("real :: x\n" if " x\n" not in declare else "") + calls +
                    ("" if "contains" in calls else "") + "end program\n")
        done = subprocess.run(["gfortran", "-fsyntax-only"] + [x for x in FLAGS if x.startswith(("-std", "-I"))] + [source],
                              capture_output=True, text=True)
        said = any(w in done.stderr for w in words.split("|"))
        report("" if done.returncode and said else "status %d\n%s" % (done.returncode, done.stderr),
               "compiler: refuses " + name)


EXAMPLES = os.path.join(ROOT, "tests", "examples", "fortran")
SHOWN = """296 297 298 299
300 301 302 303
"""


def examples_test(where):
    """The programs of datarep-fortran(7): what they print, and what is in their file."""
    binaries = {}
    for name in ("grid", "slice", "append", "attributes", "unknown"):
        binaries[name], problem = compiled([os.path.join(EXAMPLES, name + ".f90")], where, "ex-" + name)
        report(problem, "examples: %s.f90 compiles" % name)
    path = os.path.join(where, "grid.drep")
    said = {}
    for name, binary in binaries.items():
        done = subprocess.run([binary, path], capture_output=True, text=True)
        said[name] = done.stdout if done.returncode == 0 else "status %d\n%s" % (done.returncode, done.stderr)
    report("" if said["slice"] == SHOWN else said["slice"], "examples: slice.f90 prints two rows")
    report("" if said["attributes"] == "sea surface temperature, K, 0.01, 3\n" else said["attributes"],
           "examples: attributes.f90 prints what it read")
    wanted = ["/sst REAL4 4 3 3", "/: title = sea surface temperature", "/lat: units = degrees_north"]
    report("" if all(w in said["unknown"].splitlines() for w in wanted) else said["unknown"],
           "examples: unknown.f90 lists the grown field")
    done = subprocess.run([DATAREP, "dump", "--json", path], capture_output=True, text=True)
    sst = json.loads(done.stdout)["root"]["members"]["sst"]["data"]
    report("" if sst[1] == [[292 + 4.0 * i + j for j in range(4)] for i in range(3)] and sst[2] == [[300.0] * 4] * 3
           else str(sst), "examples: the second step, and the appended one")


def documentation_test(where):
    """The tutorial's program runs and goes on; the manual page has the examples word for word."""
    with open(os.path.join(ROOT, "TUTORIAL.md"), encoding="utf-8") as f:
        text = f.read()
    source = os.path.join(where, "model.f90")
    with open(source, "w", encoding="utf-8") as f:
        f.write(text.split("```fortran\n", 1)[1].split("```", 1)[0])
    binary, problem = compiled([source], where, "model")
    problem = problem or run([binary], cwd=where) or run([binary], cwd=where)
    done = subprocess.run([DATAREP, "dump", "--json", os.path.join(where, "restart.drep")], capture_output=True, text=True)
    if not problem:
        root = json.loads(done.stdout)["root"]
        if root["attributes"]["step"]["value"] != 20 or root["members"]["u"]["data"] != [[20.0] * 100] * 50:
            problem = str(root)[:300]
    report(problem, "tutorial: the program goes on where it stood")
    with open(os.path.join(ROOT, "tools", "man", "datarep-fortran.7"), encoding="utf-8") as f:
        page = f.read().replace("\\e", "\\").replace("\\&", "")
    for name in sorted(os.listdir(EXAMPLES)):
        if name == "heat.f90":
            continue
        with open(os.path.join(EXAMPLES, name), encoding="utf-8") as f:
            body = "".join(line for line in f if not line.startswith("!"))
        report("" if body.strip() in page else "it is not in the page", "datarep-fortran(7) has %s" % name)


def netcdf_test(where):
    """grid-netcdf.f90, where netCDF's module is installed: the same field, in more lines."""
    config = shutil.which("nf-config")
    if not config:
        print("# SKIP netCDF's module for Fortran is not installed (libnetcdff-dev)")
        return
    flags = subprocess.run([config, "--fflags"], capture_output=True, text=True).stdout.split()
    libs = subprocess.run([config, "--flibs"], capture_output=True, text=True).stdout.split()
    binary, problem = compiled([os.path.join(EXAMPLES, "grid-netcdf.f90")], where, "ex-netcdf", flags=flags, link=libs)
    nc, back = (os.path.join(where, n) for n in ("grid.nc", "imported.drep"))
    ours = os.path.join(where, "grid-again.drep")
    problem = (problem or run([binary, nc]) or run([DATAREP, "import", nc, back]) or
               run([os.path.join(where, "ex-grid"), ours]))
    values = []
    for path in (back, ours):
        done = subprocess.run([DATAREP, "dump", "--json", path], capture_output=True, text=True)
        members = json.loads(done.stdout)["root"]["members"] if done.returncode == 0 else {}
        values.append({n: members[n]["data"] for n in ("sst", "lat", "lon") if n in members})
    report(problem or ("" if values[0] == values[1] and len(values[0]) == 3 else str(values)),
           "examples: grid-netcdf.f90 makes a file with the values of grid.f90")
    lines = [sum(1 for line in open(os.path.join(EXAMPLES, n), encoding="utf-8") if line.strip() and line[0] != "!")
             for n in ("grid.f90", "grid-netcdf.f90")]
    report("" if lines[0] <= lines[1] else str(lines), "examples: ours has %d lines, netCDF's %d" % tuple(lines))


def heat_test(where):
    """heat.f90 by 4 ranks, then 3, against heat.c by one: the same file but for the names of types."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "mpi"))
    import launch
    for mpi in launch.installed():
        mine = os.path.join(where, mpi)
        os.mkdir(mine)
        binary, problem = compiled([os.path.join(EXAMPLES, "heat.f90")], mine, "heat", fc=["mpifort." + mpi],
                                   flags=["-I" + os.path.join(BUILD, "fortran", mpi)],
                                   link=["-L" + BUILD, "-Wl,-rpath," + BUILD, "-ldatarep-fortran-" + mpi,
                                         "-ldatarep-fortran", "-ldatarep-mpi-" + mpi, "-ldatarep"])
        report(problem, "%s: heat.f90 compiles" % mpi)
        if problem:
            continue
        whole, parts = (os.path.join(mine, n) for n in ("whole.drep", "parts.drep"))
        problem = ""
        for ranks, path, steps in ((1, whole, 120), (4, parts, 40), (3, parts, 80)):
            done = launch.run(mpi, ranks, [binary, path, str(steps)])
            if done.returncode:
                problem += "%d ranks: status %d\n%s%s" % (ranks, done.returncode, done.stdout, done.stderr)
        report(problem, "%s: heat.f90 runs by 4 ranks and goes on by 3" % mpi)
        report(run([DATAREP, "diff", whole, parts]), "%s: it has the values of one run by one rank" % mpi)
        picture = os.path.join(mine, "u.png")
        done = subprocess.run([DATAREP, "plot", "-o", picture, parts, "/u"], capture_output=True, text=True)
        report("" if done.returncode == 0 or "datarep-plot.so" in done.stderr else done.stderr,
               "%s: the last step is plotted" % mpi)


def main():
    full = "--full" in sys.argv[1:]
    if not shutil.which("gfortran") or not os.path.exists(os.path.join(BUILD, "fortran", "datarep.mod")):
        print("1..0 # SKIP no gfortran, or no module (make fortran)")
        return 0
    with tempfile.TemporaryDirectory(prefix="fortran-") as where:
        checks = os.path.join(where, "checks.o")
        problem = run(["gfortran"] + FLAGS + ["-J" + where, "-c", "-o", checks, os.path.join(HERE, "checks.f90")])
        report(problem, "checks.f90 compiles")
        binaries = {}
        for name in ("arrays", "handles", "representation"):
            binaries[name], problem = compiled([checks, os.path.join(HERE, name + ".f90")], where, name)
            report(problem, name + ".f90 compiles")
            if problem:
                del binaries[name]
        if "arrays" in binaries:
            arrays_test(where, binaries["arrays"])
        if "handles" in binaries:
            tap([binaries["handles"], where], "handles")
            end_test(where, binaries["handles"])
        if "representation" in binaries:
            tap([binaries["representation"], os.path.join(where, "inverted.drep")], "representation")
        types_test(where, checks)
        refused_test(where)
        examples_test(where)
        documentation_test(where)
        if full:
            netcdf_test(where)
            heat_test(where)
            for name, binary in binaries.items():
                report(run(["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite",
                            binary, where if name == "handles" else os.path.join(where, "v.drep")]),
                       name + ": valgrind finds nothing")
    print("1..%d" % COUNT[0])
    return 1 if COUNT[1] else 0


if __name__ == "__main__":
    sys.exit(main())
