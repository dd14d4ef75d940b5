#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 1800
"""run-clients.py - programs for netCDF read and write Datarep files by the preloaded library.

Usage: run-clients.py [--full] [--list-sources] [WORD...]    only the cases whose names have a WORD
--full: also the files of netCDF's own source package and of Debian's packages

Oracles: of a file, ncdump's output byte for byte against the netCDF-4 file with the same content.  Of a program, its
result on the netCDF-4 file, made without the library: ncdump of both results, less the history of commands.  What a
program writes must have our magic, else it tested nothing, and `datarep check` must find it whole.  The cases that fail
are in known/clients.txt with the reason.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

import door as lib
import sources
from door import DATAREP, Failed, PYTHON, difference, door, dump, is_drep, run, same

HERE = lib.HERE
CASES = lib.Cases("clients")
FULL = "--full" in sys.argv
WORDS = [a for a in sys.argv[1:] if not a.startswith("--")]
LARGEST = 3000000  # bytes of a source: ncdump's text is 10 times as large

# Programs on the forecast, as templates: {a} and {b} are its halves, {o} the result; {u} is {a} as an URL.  Each is run
# on netCDF-4 files without the library, and on Datarep files with it.
NCO = """
ncks -O -h {a} {o}
ncks -O -h -v ta,ps -d time,1,3 -d lon,2,6,2 {a} {o}
ncks -O -h -d lat,-40.,40. -d time,,,2 {a} {o}
ncks -O -h -x -v name,count {a} {o}
ncks -O -h -4 -L 5 {a} {o}
ncks -O -h --cnk_dmn lat,3 --cnk_dmn lon,4 {a} {o}
ncks -O -h --mk_rec_dmn lat -v orog {a} {o}
ncks -O -h --fix_rec_dmn time {a} {o}
ncks -A -h -v ps {b} {o} <- {a}
ncra -O -h {a} {o}
ncra -O -h {a} {b} {o}
ncra -O -h --mro -d time,,,2,2 {a} {o}
ncra -O -h -y max {a} {o}
ncrcat -O -h {a} {b} {o}
ncrcat -O -h -d time,1,6 {a} {b} {o}
ncrcat -h --rec_apn {b} {o} <- {a}
nces -O -h {a} {c} {o}
ncecat -O -h {a} {c} {o}
ncecat -O -h --gag -G m {a} {c} {o}
ncap2 -O -h -s t2=ta-273.15f;m=ps.avg($time);k[$lat,$lon]=1s {a} {o}
ncap2 -O -h -v -s *x=count;x++;y=x*2.5;y@units="mm" {a} {o}
ncap2 -O -h -s where(orog>300)orog=0;elsewhere{{orog=1;}} {a} {o}
ncap2 -A -h -s extra=ps*2 {a} {o} <- {a}
ncatted -O -h -a units,ta,m,c,degC -a note,global,c,c,hello -a missing_value,ta,d,, {a} {o}
ncatted -h -a units,ps,o,c,hectopascal -a long_name,ta,a,c,_more -a valid,ps,c,d,1.5,2.5 {o} <- {a}
ncrename -O -h -v ta,temp -v pr,rain {a} {o}
ncrename -O -h -a .units,einheit {a} {o}
ncrename -O -h -d lat,y -v orog,height {a} {o}
ncrename -h -v ps,pressure -a global@title,heading {o} <- {a}
ncwa -O -h -a lat,lon {a} {o}
ncwa -O -h -a time -y min {a} {o}
ncwa -O -h -w orog -a lat,lon -v ps,orog {a} {o}
ncbo -O -h --op_typ=- {a} {c} {o}
ncbo -O -h --op_typ=* -v ps,ta {a} {c} {o}
ncpdq -O -h -a lon,lat {a} {o}
ncpdq -O -h -a -lat {a} {o}
ncpdq -O -h -P all_new {a} {o}
ncpdq -O -h -U {a} {o}
ncpdq -O -h -a lat,time {a} {o}
ncflint -O -h -w 0.25,0.75 {a} {c} {o}
ncks -O -h --no_tmp_fl {a} {o}
""".strip().splitlines()
CDO = """
copy {u} {o}
-f nc4 -z zip_4 copy {u} {o}
selname,ta,ps {u} {o}
seltimestep,2,3 {u} {o}
sellonlatbox,0,180,-60,60 {u} {o}
timmean {u} {o}
fldmean {u} {o}
zonmean -selname,ps {u} {o}
mergetime {u} {v} {o}
addc,1 -selname,ps {u} {o}
sub {u} {w} {o}
remapbil,r12x6 -selname,ps {u} {o}
setname,pressure -selname,ps {u} {o}
settaxis,2030-01-01,00:00:00,1day {u} {o}
""".strip().splitlines()
# Programs that print: the same output for both kinds of file.
PRINT = """
ncks -m {a}
ncks --cdl -v ps,name {a}
ncks --json -v orog,lat {a}
ncks -H -v ta -d time,1 -d lev,0 {a}
ncks --xml {a}
ncdump -v ta,lat {a}
ncdump -t -v time,time_bnds {a}
ncdump -b c -f c -v pr {a}
ncdump -p 4,8 -l 60 {a}
cdo -s infon {u}
cdo -s sinfov {u}
cdo -s griddes {u}
cdo -s showtimestamp {u}
cdo -s outputf,%.6g,4 -selname,ps {u}
""".strip().splitlines()


def wanted(name):
    return not WORDS or any(w in name for w in WORDS)


def case(name, test, *arguments):
    if wanted(name):
        lib.remove("result.*", "got*", "*.tmp")
        CASES.case(name, test, *arguments)


def checked(path):
    """What is wrong with a file that a program wrote: not ours, or damaged."""
    if not is_drep(path):
        return "%s is not a Datarep file" % path
    run([DATAREP, "check", path])
    return ""


# ----------------------------------------------------------------------- any file


def imported(source):
    run([DATAREP, "import", "--force", source, "got.drep"], status=None)  # 1: something that netCDF does not see is lost
    return same(source, "got.drep")


def copied(source):
    door("nccopy", source, "got.drep")
    return same(source, "got.drep") or checked("got.drep")


def copied_back(source):
    run([DATAREP, "import", "--force", source, "got.drep"], status=None)
    door("nccopy", "-k", "nc4", "got.drep", "got.nc")
    if is_drep("got.nc"):
        return "nccopy -k nc4 wrote a Datarep file"
    return difference(dump(source), dump("got.nc"))


def generated(source):
    with open("got.cdl", "w", encoding="utf-8") as f:
        f.write(dump(source))
    try:
        run(["ncgen", "-4", "-o", "got.nc", "got.cdl"])  # ncdump's text is not exact: its own reading is the oracle
    except Failed as e:
        raise lib.NoOracle("ncgen does not read what ncdump printed") from e
    door("ncgen", "-4", "-o", "got.drep", "got.cdl")
    return same("got.nc", "got.drep") or checked("got.drep")


def storage(path):
    """The chunks, filters and orders of bytes that ncdump -s says."""
    text = dump(path, "-s", "-h")
    return "\n".join(s for s in text.splitlines() if re.search(r":_(ChunkSizes|DeflateLevel|Shuffle|Fletcher32|Storage|Filter) =", s))


def stored(source):
    """nccopy keeps chunks, deflate and shuffle, and ncdump -s says so."""
    run(["nccopy", "-k", "nc4", source, "got.nc"])
    door("nccopy", source, "got.drep")
    return difference(storage("got.nc"), storage("got.drep")) or checked("got.drep")


def deflated():
    """nccopy -d gives filters to variables that are contiguous in the source, as it does for netCDF-4."""
    door("nccopy", "-d1", "-s", "first.nc", "got.drep")
    kept = "contiguous" in storage("first.nc") and "_DeflateLevel = 1" in storage("got.drep")
    return same("first.nc", "got.drep", ordered=False) or ("" if kept else "nothing is deflated, or nothing was contiguous")


def no_longer(source):
    """The control: without the library ncdump refuses what it reads with it."""
    run([DATAREP, "import", "--force", source, "got.drep"])
    try:
        dump("got.drep", preload=False)
    except Failed:
        return ""
    return "ncdump reads it without the library"


def differs():
    """The control: one changed value is seen."""
    door("ncks", "-O", "-h", "first.drep", "got.drep")
    door("ncap2", "-A", "-h", "-s", "ps(1,2,3)=1.0;", "got.drep", "got.drep")
    return "" if same("first.nc", "got.drep", ordered=False) else "a changed value is not seen"


def moderate(source):
    """Not too large to be printed five times, and read by netCDF-4 itself as the same twice: of some it prints memory that
    was never written."""
    elements = run([PYTHON, "-c", "import netCDF4, sys\ndef n(g): return sum(v.size for v in g.variables.values()) + "
                    "sum(map(n, g.groups.values()))\nprint(n(netCDF4.Dataset(sys.argv[1])))", source], status=None).strip() or "0"
    if os.path.getsize(source) > LARGEST or int(elements) > LARGEST:
        return False
    try:
        return run(["ncdump", source], MALLOC_PERTURB_="85") == run(["ncdump", source], MALLOC_PERTURB_="170")
    except Failed:  # the memory is no member of an enumeration
        return False


def any_file():
    tried = list(sources.own())
    if FULL:
        try:
            tried += sources.others()
        except Failed as e:
            CASES.report("files of others", skip=str(e))
    done = skipped = 0
    for n, (name, path) in enumerate(tried):
        tests = [(what, test) for what, test in (("import", imported), ("nccopy to", copied), ("nccopy from", copied_back),
                                                 ("ncgen", generated), ("storage", stored)) if wanted("%s: %s" % (name, what))]
        if not tests:
            continue
        lib.remove("source.*")
        source = sources.as_netcdf4(path, "source.nc")
        if source is None or not moderate(source):
            skipped += 1
            continue
        done += 1
        for what, test in tests:
            case("%s: %s" % (name, what), test, source)
        if n == 0:
            case("without the library ncdump refuses a file", no_longer, source)
    print("counted: %d files by import, nccopy and ncgen; %d are none for netCDF-4, too large, or read by it as garbage" % (done, skipped))


# ------------------------------------------------------------------- NCO and CDO


def names(kind):
    at = {"a": "first." + kind, "b": "second." + kind, "c": "third." + kind, "o": "result." + kind}
    urls = {key: "file://%s#mode=udf0" % os.path.abspath(at[name]) if kind == "drep" else at[name]
            for key, name in (("u", "a"), ("v", "b"), ("w", "c"))}
    return {**at, **urls}


def command(template, kind):
    """The command for files of a kind; first a copy, if "<- FILE" asks for one."""
    template, _, begin = template.partition(" <- ")
    places = names(kind)
    if begin:
        shutil.copy(begin.format(**places), places["o"])
    return [word.format(**places) for word in template.split(" ")]


def operator(template):
    run(command(template, "nc"))
    door(*command(template, "drep"))
    return same("result.nc", "result.drep", ordered=False) or checked("result.drep")


def across(template, first, second):
    """From one kind of file into the other."""
    run(command(template, "nc"))
    words = template.split(" ")
    mixed = [w.format(**{**names(first), "o": "got." + second}) for w in words]
    door(*mixed)
    if is_drep("got." + second) != (second == "drep"):
        return "got.%s is of the wrong kind" % second
    return difference(lib.unordered(lib.strip(dump("result.nc"))), lib.unordered(lib.strip(dump("got." + second))))


def printed(template):
    texts = []
    for kind in ("nc", "drep"):
        words = command(template, kind)
        text = run(words, preload=kind == "drep")
        for what in ("file://%s#mode=udf0" % os.path.abspath("first.drep"), "file://" + os.path.abspath("first.drep"),
                     os.path.abspath("first.drep"), "first.drep", "first.nc"):
            text = text.replace(what, "FILE")
        text = re.sub(r"File format : .*", "", text)  # cdo names the kind of file
        texts.append(re.sub(r' separator="[^"]*"', "", text))  # ncks looks for one behind the end of a text
    return difference(*texts)


def operators():
    have = {t: shutil.which(t) for t in ("ncks", "cdo")}
    for tool, templates, before in (("ncks", NCO, ""), ("cdo", CDO, "cdo -s ")):
        for template in templates:
            name = before + template
            if not have[tool]:
                CASES.report(name, skip="%s is not installed: make deps-netcdf" % tool)
            else:
                case(name, operator, name)
        if have[tool]:
            template = before + ("-f nc4 copy {u} {o}" if tool == "cdo" else "ncks -O -h {a} {o}")
            case(template + " from .nc into .drep", across, template, "nc", "drep")
            case(template + " from .drep into .nc", across, template, "drep", "nc")
    for template in PRINT:
        tool = template.split()[0]
        if shutil.which(tool):
            case(template, printed, template)
        else:
            CASES.report(template, skip="%s is not installed" % tool)
    if have["ncks"]:
        case("a changed value is seen", differs)
    else:
        CASES.report("a changed value is seen", skip="ncks is not installed: make deps-netcdf")
    case("nccopy deflates what was contiguous", deflated)


# --------------------------------------------------------------------- languages


def both(words, source=None):
    """A program that takes the name of a file that it makes: output and file are the same for both kinds."""
    texts = []
    for kind in ("nc", "drep"):
        lib.remove("result.*")
        path = "made." + kind
        lib.remove(path)
        if source:
            shutil.copy(source + "." + kind, path)
        text = run([*words, path], preload=kind == "drep", PYTHONDONTWRITEBYTECODE="1")
        for name in (os.path.abspath(path), path, "none-" + kind):
            text = text.replace(name, "FILE")
        texts.append(text)
    return difference(*texts) or same("made.nc", "made.drep", ordered=False) or checked("made.drep")


def fortran():
    flags = run(["nf-config", "--fflags", "--flibs"]).split()
    run(["gfortran", "-o", "series", os.path.join(HERE, "clients", "series.f90"), *flags])
    return both(["./series"])


def script(interpreter, name):
    return both([*interpreter, os.path.join(HERE, "clients", name)])


def tutorial():
    """The tutorial that the package of netCDF4 brings, with our names."""
    with open("/usr/share/doc/python3-netcdf4/examples/tutorial.py", encoding="utf-8") as f:
        text = f.read()
    texts = []
    for kind in ("nc", "drep"):
        os.makedirs(kind + "-tutorial", exist_ok=True)
        with open(kind + "-tutorial/tutorial.py", "w", encoding="utf-8") as f:
            f.write("import random, numpy\nrandom.seed(1)\nnumpy.random.seed(1)\n" + re.sub(r"(['\"][\w/%*]+)\.nc(['\"])", r"\1.%s\2" % kind, text))
        out = run([PYTHON, "tutorial.py"], preload=kind == "drep", cwd=kind + "-tutorial", status=None, PYTHONDONTWRITEBYTECODE="1")
        out = re.sub(r"(0x[0-9a-f]+|\d\d:\d\d:\d\d|\.drep|\.nc\b)", "", out)
        texts.append(re.sub(r"(history: |Created |file format ).*", "", out))
    if len(texts[0]) < 2000:
        return "the tutorial prints next to nothing\n" + texts[0]
    made = sorted(p for p in glob.glob("drep-tutorial/**/*.drep", recursive=True)
                  if not re.search("diskless|inmemory", p))  # what is made in memory is netCDF-4
    return difference(*texts) or ("" if made and all(map(is_drep, made)) else "a file that it makes is not Datarep's: %s" % made)


def quantized():
    run(["gcc", "-O1", "-o", "quantize", os.path.join(HERE, "clients", "quantize.c"), "-lnetcdf"])
    return both(["./quantize"])


def languages():
    clients = [
        ("C: quantized variables", quantized, (), shutil.which("gcc") and os.path.exists("/usr/include/netcdf.h")),
        ("Fortran: writes and reads a series", fortran, (), shutil.which("nf-config") and shutil.which("gfortran")),
        ("Python netCDF4: all that it writes", script, ([PYTHON], "python_netcdf4.py"), importable("netCDF4")),
        ("Python netCDF4: its tutorial", tutorial, (), importable("netCDF4") and
         os.path.exists("/usr/share/doc/python3-netcdf4/examples/tutorial.py")),
        ("xarray: engine netcdf4", script, ([PYTHON], "python_xarray.py"), importable("netCDF4", "xarray")),
        ("R: ncdf4", script, (["Rscript", "--vanilla"], "series.R"),
         shutil.which("Rscript") and os.path.exists("/usr/lib/R/site-library/ncdf4")),
        ("Octave: netcdf", script, (["octave", "--no-gui", "--norc", "-q"], "series.m"),
         shutil.which("octave") and os.path.exists("/usr/share/octave/packages") and
         any("netcdf" in n for n in os.listdir("/usr/share/octave/packages"))),
    ]
    for name, test, arguments, there in clients:
        if there:
            case(name, test, *arguments)
        elif wanted(name):
            CASES.report(name, skip="not installed: make deps-netcdf")


def importable(*modules):
    return subprocess.run([PYTHON, "-c", "import " + ", ".join(modules)], stderr=subprocess.DEVNULL, check=False).returncode == 0


def main():
    lib.built()
    for tool in ("ncdump", "ncgen", "nccopy"):
        if not shutil.which(tool):
            print("1..0 # SKIP no " + tool)
            return 0
    if not importable("netCDF4"):
        print("1..0 # SKIP no netCDF4 for Python, which makes the sources")
        return 0
    lib.folder()
    for name, first, steps in (("first", 0, 5), ("second", 5, 4), ("third", 20, 5)):
        run([PYTHON, os.path.join(HERE, "weather.py"), name + ".nc", first, steps])
        run([DATAREP, "import", name + ".nc", name + ".drep"])
    any_file()
    operators()
    languages()
    return CASES.end(FULL and not WORDS)


if __name__ == "__main__":
    sys.exit(main())
