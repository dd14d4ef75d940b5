#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 300
"""run-fortran.py - the module for Fortran: programs in Fortran, and what others say of their files.

Usage: run-fortran.py [--full]
--full: also under valgrind and ASan, with ranks, and beside netCDF.  Skips where there is no gfortran.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import limits

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build", "release")
DATAREP = os.environ.get("DATAREP", os.path.join(BUILD, "datarep"))
FLAGS = ["-std=f2018", "-g", "-O1", "-fcheck=all", "-Wall", "-Wextra", "-Wno-compare-reals",
         "-Wno-function-elimination", "-Wno-maybe-uninitialized", "-I" + os.path.join(BUILD, "fortran")]
LINK = ["-L" + BUILD, "-Wl,-rpath," + BUILD, "-ldatarep-fortran", "-ldatarep"]

# What the compiler refuses, and what it then says.
REFUSED = [
    ("an array of assumed size", "real :: a(2)\ncall s(a)\ncontains\nsubroutine s(b)\nreal :: b(*)\ncall d%read(b)\nend subroutine\n",
     "assumed size"),
    ("a derived type without its datatype", "type :: t\ninteger :: i\nend type\ntype(t) :: x\ncall d%read(x)\n", "no matching specific"),
    ("reading into a constant", "call d%read(1.0)\n", "no matching specific"),
    ("a number for a path", "call f%read(1, x)\n", "no matching specific"),
    ("a text for stat", "call d%read(x, stat='no')\n", "no matching specific"),
    ("a derived type that C has not", "type :: t\ninteger :: i\nreal, allocatable :: a(:)\nend type\ntype(t) :: x(2)\n"
     "call d%read(drep_datatype('INT', c_sizeof(x(1))), x)\n", "noninteroperable derived type"),
    ("a datatype without its bytes", "type, bind(C) :: t\ninteger :: i\nend type\ntype(t) :: x(2)\n"
     "call d%read(drep_datatype('INT'), x)\n", "No initializer for component"),
    ("a derived type with procedures", "call d%read(drep_datatype('INT', 8), f)\n", "type-bound|FINAL|no matching specific"),
    ("a polymorphic array", "class(*), allocatable :: x(:)\ncall d%read(x)\n", "no matching specific"),
    ("reading into what is only read", "call s(r)\ncontains\nsubroutine s(b)\nreal, intent(in) :: b(:)\ncall d%read(b)\n"
     "end subroutine\n", "INTENT(IN)|no matching specific"),
    ("reading through a list of indices", "real :: a(9)\ncall d%read(a([1, 3, 5]))\n", "vector subscript|no matching specific"),
    ("a file where a dataset stands", "call f%append(x)\n", "is not a member|no matching specific"),
    ("a dataset where a file stands", "call d%open(d, '/x')\n", "Type mismatch|no matching specific"),
    ("a real for a length", "call f%dimension('/#x', 1.0)\n", "no matching specific"),
    ("another module's datatype", "call d%read('INT', x)\n", "no matching specific"),
]
PROGRAMS = ("arrays", "handles", "badinput", "representation", "weather", "restart")
FIVE = ("grid", "slice", "append", "attributes", "unknown")
COUNT = [0, 0]


def report(problem, name):
    COUNT[0] += 1
    COUNT[1] += bool(problem)
    print("%sok %d - %s" % ("not " if problem else "", COUNT[0], name), flush=True)
    for line in problem.splitlines():
        print("# " + line)


def run(command, **more):
    """"" if it succeeds, else what it says."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, **more)
    return "" if done.returncode == 0 else "%s: status %d\n%s%s" % (command[0], done.returncode, done.stdout, done.stderr)


def compiled(sources, where, name, fc=("gfortran",), flags=(), link=LINK):
    binary = os.path.join(where, name)
    return binary, run(list(fc) + FLAGS + ["-J" + where, "-Werror"] + list(flags) + ["-o", binary] + sources + link)


def tap(command, name, env=None):
    """Run a program that prints TAP and report its cases."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=env)
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


def python_package():
    """datarep and numpy, or None, None with a printed reason."""
    sys.path.insert(0, os.path.join(ROOT, "build", "python"))
    try:
        import datarep
        import numpy
        return datarep, numpy
    except ImportError as e:
        print("# SKIP the package for Python: %s" % e)
        return None, None


def said_by(command):
    """What a program of limits.py that reads says: {(datatype, number): "ok" or "no"}, and its problem."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    said = {}
    for line in done.stdout.splitlines():
        name, n, verdict = line.split()
        if said.get((name, int(n))) != "no":
            said[name, int(n)] = verdict
    return said, "" if done.returncode == 0 else "status %d\n%s" % (done.returncode, done.stderr)


def limits_programs(where):
    """The programs of limits.py in Fortran and C: {"Fortran": path, "C": path}."""
    binaries = {"Fortran": os.path.join(where, "limits-fortran"), "C": os.path.join(where, "limits-c")}
    for name, text in (("limits.f90", limits.fortran_program()), ("limits.c", limits.c_program())):
        with open(os.path.join(where, name), "w", encoding="ascii") as f:
            f.write(text)
    # The extreme values are meant; -huge-1 is the one that the compiler warns of.
    _, problem = compiled([os.path.join(where, "limits.f90")], where, "limits-fortran",
                          flags=["-fno-range-check", "-Wno-conversion"])
    problem += run(["gcc", "-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-I" + os.path.join(ROOT, "lib"), "-o",
                    binaries["C"], os.path.join(where, "limits.c"), "-L" + BUILD, "-Wl,-rpath," + BUILD, "-ldatarep"])
    report(problem, "limits: the programs compile")
    return {} if problem else binaries


def limits_test(where, table):
    """Every predefined type with the ends of its range, from and to Fortran: TABLE gets one line for each value."""
    binaries = limits_programs(where)
    datarep, numpy = python_package()
    if not binaries:
        return
    said, absent = {}, set()
    for representation in ("native", "external32"):
        for writer in ["Fortran", "C"] + (["Python"] if datarep else []):
            path = os.path.join(where, "%s-%s.drep" % (writer, representation))
            if writer == "Python":
                absent = limits.python_write(datarep, numpy, path, representation)
            else:
                report(run([binaries[writer], "write", path, representation]), "limits: %s writes %s" % (writer, representation))
            for reader in ("Fortran", "C") if writer == "Fortran" else ("Fortran",):
                way = "%s to %s" % (writer, reader)
                said[way, representation], problem = said_by([binaries[reader], "read", path])
                report(problem, "limits: %s, %s" % (way, representation))
            if writer == "Fortran" and datarep:
                said["Fortran to Python", representation] = limits.python_read(datarep, numpy, path)
    limits_report(said, absent, table)


def limits_report(said, absent, table):
    ways = sorted({way for way, _ in said})
    lines = ["| datatype | value | " + " | ".join(ways) + " |", "|---" * (2 + len(ways)) + "|"]
    tried = 0
    for row in limits.ROWS:
        problem = ""
        for i, value in enumerate(row.values):
            cells = []
            for way in ways:
                got = [said[way, r].get((row.datatype, i + 1), "missing") for r in ("native", "external32")]
                if way.startswith("Python") and (row.datatype, i + 1) in absent:
                    cells.append("no such number")
                    continue
                cells.append(got[0] if got[0] == got[1] else ", ".join(got))
                tried += 2
                if cells[-1] not in ("ok", "refused"):
                    problem += "%s, %s: %s\n" % (value.label, way, cells[-1])
            lines.append("| %s | %s | %s |" % (row.datatype, value.label, " | ".join(cells)))
        report(problem, "limits: %s, %d values, %s" % (row.datatype, len(row.values), "; ".join(ways)))
    for way in ways:
        problem = ""
        for r in ("native", "external32"):
            got = {n: v for (name, n), v in said[way, r].items() if name == "cube"}
            if len(got) < limits.SHAPE[0] * limits.SHAPE[1] * limits.SHAPE[2] or set(got.values()) != {"ok"}:
                problem += "%s: %r\n" % (r, got)
        report(problem, "limits: each element of an array of rank 3 by its index, " + way)
    print("counted: %d values of Fortran's types, each from its writer to its reader" % tried)
    if table:
        with open(table, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        print("# the table: " + table)


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
        if body.startswith(("real", "type", "class")):
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


def names_test():
    """The libraries define no name that a program could have, too."""
    for library in sorted(n for n in os.listdir(BUILD) if n.startswith("libdatarep-fortran") and n.endswith(".so")):
        done = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", os.path.join(BUILD, library)],
                              capture_output=True, text=True)
        names = [line.split()[0] for line in done.stdout.splitlines()]
        foreign = [n for n in names if not n.startswith(("drep_", "__datarep_"))]
        report("" if names and not foreign else done.stderr + " ".join(foreign), library + ": names with our prefix alone")


EXAMPLES = os.path.join(ROOT, "tests", "examples", "fortran")
SHOWN = """296 297 298 299
300 301 302 303
"""


def examples_test(where):
    """The programs of datarep-fortran(7): what they print, and what is in their file."""
    binaries = {}
    for name in FIVE:
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
    wanted = ["/sst REAL4 4 3 3", "  280.0 281.0 282.0 283.0 284.0", "  -30.0 0.0 30.0", "/: title = sea surface temperature", "/lat: units = degrees_north"]
    lines = re.sub(r"(\.\d)0+(?= |$)", r"\1", said["unknown"], flags=re.M).splitlines()
    report("" if all(w in lines for w in wanted) else said["unknown"], "examples: unknown.f90 lists the grown field")
    done = subprocess.run([DATAREP, "dump", "--json", path], capture_output=True, text=True)
    sst = json.loads(done.stdout)["root"]["members"]["sst"]["data"]
    report("" if sst[1] == [[292 + 4.0 * i + j for j in range(4)] for i in range(3)] and sst[2] == [[300.0] * 4] * 3
           else str(sst), "examples: the second step, and the appended one")


def vectors_test(where):
    """unknown.f90 reads what it can of every file of tests/vectors, newer ones too, and says what it cannot."""
    problem = ""
    files = sorted(glob.glob(os.path.join(ROOT, "tests", "vectors", "*.drep")))
    for path in files:
        problem += run([os.path.join(where, "ex-unknown"), path])
    report(problem if len(files) > 30 else "where are they?", "examples: unknown.f90 on %d vectors" % len(files))


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
    blocks = [b.split("```", 1)[0] for b in text.split("```fortran\n")[2:4]]
    for name, block in zip(("grid-netcdf.f90", "grid.f90"), blocks + ["", ""]):
        with open(os.path.join(EXAMPLES, name), encoding="utf-8") as f:
            report("" if "".join(line for line in f if not line.startswith("!")) == block else block,
                   "tutorial: %s, word for word, beside the other" % name)
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
    lines = [sum(1 for line in open(os.path.join(EXAMPLES, n), encoding="utf-8") if line.strip() and line[0] != "!")
             for n in ("grid.f90", "grid-netcdf.f90")]
    report("" if lines[0] <= lines[1] else str(lines), "examples: ours has %d lines, netCDF's %d" % tuple(lines))
    config = shutil.which("nf-config")
    if not config:
        print("# SKIP grid-netcdf.f90 is not compiled: netCDF's module for Fortran is not installed (libnetcdff-dev)")
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
        root = json.loads(done.stdout)["root"] if done.returncode == 0 else {"members": {}, "attributes": {}}
        values.append({n: (m["data"], m["shape"], [d["dimension"] for d in m["dimensions"]],
                           {a: v["value"] for a, v in m["attributes"].items() if re.fullmatch("[a-z_]+", a)})
                       for n, m in root["members"].items() if n in ("sst", "lat", "lon")})
        values[-1]["/"] = {a: root["attributes"].get(a, {}).get("value") for a in ("title", "institution", "Conventions")}
    report(problem or ("" if values[0] == values[1] and len(values[0]) == 4 else str(values)),
           "examples: grid-netcdf.f90 makes a file with the values, dimensions and attributes of grid.f90")


def mpi_link(mpi):
    return ["-L" + BUILD, "-Wl,-rpath," + BUILD, "-ldatarep-fortran-" + mpi, "-ldatarep-fortran", "-ldatarep-mpi-" + mpi,
            "-ldatarep"]


def heat_build(mpi, where):
    """heat.f90 and heat.c for an MPI: {"Fortran": path, "C": path}, and the problem."""
    binaries = {"Fortran": os.path.join(where, "heat-f"), "C": os.path.join(where, "heat-c")}
    _, problem = compiled([os.path.join(EXAMPLES, "heat.f90")], where, "heat-f", fc=["mpifort." + mpi],
                          flags=["-I" + os.path.join(BUILD, "fortran", mpi)],
                          link=mpi_link(mpi))
    return binaries, problem + run(["mpicc." + mpi, "-std=c11", "-D_GNU_SOURCE", "-o", binaries["C"],
                                    os.path.join(ROOT, "tests", "examples", "mpi", "heat.c"), "-I" + os.path.join(ROOT, "lib"),
                                    "-I" + os.path.join(ROOT, "lib", "mpi"), "-L" + BUILD, "-Wl,-rpath," + BUILD,
                                    "-ldatarep-mpi-" + mpi, "-ldatarep"])


def heat_test(where):
    """heat.f90 by 4 ranks and then 3 against one rank; C and Python read it, C and Fortran go on with each other's file."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "mpi"))
    import launch
    datarep, numpy = python_package()
    for mpi in launch.installed():
        mine = os.path.join(where, mpi)
        os.mkdir(mine)
        binaries, problem = heat_build(mpi, mine)
        report(problem, "%s: heat.f90 and heat.c compile" % mpi)
        if problem:
            continue
        runs = [("Fortran", 1, "whole", 120), ("Fortran", 4, "parts", 40), ("Fortran", 3, "parts", 80),
                ("C", 4, "mixed", 40), ("Fortran", 3, "mixed", 50), ("C", 2, "mixed", 30)]
        path = {name: os.path.join(mine, name + ".drep") for name in ("whole", "parts", "mixed")}
        problem = ""
        for language, ranks, name, steps in runs:
            done = launch.run(mpi, ranks, [binaries[language], path[name], str(steps)])
            if done.returncode:
                problem += "%s, %d ranks: status %d\n%s%s" % (language, ranks, done.returncode, done.stdout, done.stderr)
        report(problem, "%s: heat.f90 runs by 4 ranks and goes on by 3, also after heat.c and before it" % mpi)
        report(run([DATAREP, "diff", path["whole"], path["parts"]]), "%s: it has the values of one run by one rank" % mpi)
        report(run([DATAREP, "check", "--deep", path["mixed"]]), "%s: the file of both languages is whole" % mpi)
        if datarep:
            report(heat_values(datarep, numpy, path), "%s: Python reads the field, its step, dimensions and units" % mpi)
        picture = os.path.join(mine, "u.png")
        done = subprocess.run([DATAREP, "plot", "-o", picture, path["parts"], "/u"], capture_output=True, text=True)
        if "datarep-plot.so" in done.stderr:
            print("# SKIP no picture: %s" % done.stderr.strip())
            continue
        with open(picture, "rb") if os.path.exists(picture) else open(os.devnull, "rb") as f:
            report("" if done.returncode == 0 and f.read(8) == b"\x89PNG\r\n\x1a\n" else done.stderr or "no picture",
                   "%s: the last step is plotted" % mpi)


def ranks_test(where):
    """The program of datarep-fortran(7), RANKS, which uses datarep_mpi alone."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "mpi"))
    import launch
    for mpi in launch.installed():
        if not os.path.exists(os.path.join(BUILD, "fortran", mpi, "datarep_mpi.mod")):
            print("# SKIP ranks.f90: no module for " + mpi)
            continue
        binary, problem = compiled([os.path.join(EXAMPLES, "ranks.f90")], where, "ranks-" + mpi, fc=["mpifort." + mpi],
                                   flags=["-I" + os.path.join(BUILD, "fortran", mpi)], link=mpi_link(mpi))
        path = os.path.join(where, "ranks-%s.drep" % mpi)
        if not problem:
            done = launch.run(mpi, 2, [binary, path])
            problem = done.returncode and "status %d\n%s%s" % (done.returncode, done.stdout, done.stderr)
        report(problem or "", "%s: ranks.f90 compiles and runs by 2 ranks" % mpi)
        done = subprocess.run([DATAREP, "dump", "--json", path], capture_output=True, text=True)
        t = json.loads(done.stdout)["root"]["members"]["t"] if done.returncode == 0 else {}
        rows = [[[100.0 * (k + 1) + (j >= 3)] * 8 for j in range(6)] for k in range(3)]
        report("" if t.get("data") == rows and [d["dimension"] for d in t["dimensions"]] == ["time", "y", "x"] else
               done.stderr + str(t)[:300], "%s: its file has the part of each rank in each step" % mpi)
        binary, problem = compiled([os.path.join(HERE, n) for n in ("checks.f90", "shared.f90")], where, "shared-" + mpi,
                                   fc=["mpifort." + mpi], flags=["-I" + os.path.join(BUILD, "fortran", mpi)], link=mpi_link(mpi))
        report(problem, "%s: shared.f90 compiles" % mpi)
        if not problem:
            tap(launch.command(mpi, 2, [binary, path]), mpi + ": shared", launch.environment())


def heat_values(datarep, numpy, path):
    fields, problem = [], ""
    for name in sorted(path):
        with datarep.open(path[name]) as f:
            u = f["u"]
            said = (u.shape, int(u.attrs["step"]), u.attrs["units"], list(u.dims))
            if said != ((120, 160), 120, "K", ["y", "x"]):
                problem += "%s: %r\n" % (name, said)
            fields.append(u[...])
    hot = fields[0]
    if not all(numpy.array_equal(hot, other) for other in fields[1:]):
        problem += "the fields differ by %g\n" % max(abs(hot - other).max() for other in fields[1:])
    # Heat that has not reached the edges is as much as at the start; its centre is where it was put.
    if not (0 < hot.max() <= 100 and numpy.unravel_index(hot.argmax(), hot.shape) == (40, 40)):
        problem += "the field is another: %r" % (numpy.unravel_index(hot.argmax(), hot.shape),)
    return problem


def memory_test(where, tool, runner, binaries):
    """Each program with its work, by a tool that looks at each access."""
    path = os.path.join(where, tool + ".drep")
    work = {"handles": [[where]], "arrays": [[path]], "badinput": [[path]], "representation": [[path]],
            "limits": [["write", path, "external32"], ["read", path]]}
    for name, binary in binaries.items():
        problem = "".join(run(runner + [binary] + arguments) for arguments in work.get(name, [[path]]))
        report(problem, "%s: %s finds nothing" % (name, tool))


def asan_test(where):
    """The programs and the module under ASan and UBSan, where they are built.

    Arrays that are not allocated are meant here (null); valgrind looks for leaks: a main program need not free.
    """
    build = os.path.join(ROOT, "build", "asan")
    if not os.path.exists(os.path.join(build, "fortran", "datarep.mod")):
        print("# SKIP ASan: make MODE=asan fortran-package")
        return
    mine = os.path.join(where, "asan")
    os.mkdir(mine)
    sources = {name: [os.path.join(HERE, n + ".f90") for n in ("checks", name)] for name in PROGRAMS}
    sources["limits"] = [os.path.join(where, "limits.f90")]
    sources.update((name, [os.path.join(EXAMPLES, name + ".f90")]) for name in FIVE)
    binaries = {}
    for name, files in sources.items():
        binaries[name], problem = compiled(
            files, mine, name, flags=["-I" + os.path.join(build, "fortran"), "-fsanitize=address,undefined",
                                      "-fno-sanitize=null", "-fno-sanitize-recover=all", "-fno-range-check", "-Wno-conversion"],
            link=[x.replace(BUILD, build) for x in LINK])
        report(problem, "%s: compiles for ASan" % name)
    memory_test(mine, "ASan", ["env", "ASAN_OPTIONS=detect_leaks=0"], binaries)


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
        for name in PROGRAMS:
            binaries[name], problem = compiled([checks, os.path.join(HERE, name + ".f90")], where, name)
            report(problem, name + ".f90 compiles")
            if problem:
                del binaries[name]
        if "arrays" in binaries:
            arrays_test(where, binaries["arrays"])
        if "handles" in binaries:
            tap([binaries["handles"], where], "handles")
            end_test(where, binaries["handles"])
        for name in ("badinput", "representation", "weather", "restart"):
            if name in binaries:
                tap([binaries[name], os.path.join(where, "made-" + name + ".drep")], name)
        limits_test(where, os.path.join(ROOT, "build", "fortran-limits.md") if full else None)
        refused_test(where)
        names_test()
        examples_test(where)
        documentation_test(where)
        ranks_test(where)
        if full:
            vectors_test(where)
            netcdf_test(where)
            heat_test(where)
            memory_test(where, "valgrind", ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full",
                                            "--errors-for-leak-kinds=definite"], binaries)
            asan_test(where)
    print("1..%d" % COUNT[0])
    return 1 if COUNT[1] else 0


if __name__ == "__main__":
    sys.exit(main())
