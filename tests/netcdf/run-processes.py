#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 300
"""run-processes.py - processes that the library is preloaded into: without netCDF, shells and their children, with two
libraries of netCDF, with files of other kinds; and the two lines of .ncrc.

Usage: run-processes.py [--full]    --full: .ncrc also by netCDF-C 4.10 itself, built from Debian's source
"""
import os
import re
import shutil
import subprocess
import sys

import door as lib
import sources
from door import DATAREP, LIBRARY, Failed, PYTHON, difference, door, dump, is_drep, run

CASES = lib.Cases("processes")
NETCDF = run(["sh", "-c", "ldconfig -p | sed -n 's/.*libnetcdf.so.19 .*=> //p' | head -1"]).strip()


def compiled(name, text, *flags):
    with open(name + ".c", "w", encoding="utf-8") as f:
        f.write(text)
    run(["gcc", "-O1", "-w", "-o", name, name + ".c", *flags])
    return "./" + name


def mapped(text):
    """The libraries of netCDF and HDF5 in the text of /proc/self/maps."""
    return sorted(set(re.findall(r"/\S*(lib(?:netcdf|hdf5)[^/\s]*\.so)\S*", text)))


# ------------------------------------------------------------------- without netCDF


def untouched():
    """A program without netCDF gets no library of netCDF, thread, signal handler, output or descriptor by it."""
    program = compiled("plain", """
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
static int count(const char *path) { DIR *d = opendir(path); int n = 0; while (readdir(d)) n++; closedir(d); return n; }
int main(void)
{
    for (int s = 1; s < 32; s++) { struct sigaction a; if (!sigaction(s, 0, &a) && a.sa_handler != SIG_DFL) printf("signal %d\\n", s); }
    printf("threads %d, descriptors %d\\n", count("/proc/self/task"), count("/proc/self/fd"));
    return 7;
}""")
    return difference(run([program], status=7), door(program, status=7))


def no_netcdf_loaded():
    found = mapped(door("cat", "/proc/self/maps"))
    return "" if found == [os.path.basename(LIBRARY)] or found == ["libdatarep-netcdf.so"] or not found else "mapped: %s" % found


def is_loaded():
    """The control of the cases here: the library is in the process."""
    return "" if os.path.basename(LIBRARY) in door("cat", "/proc/self/maps") else "it is not preloaded"


def no_symbol_of_netcdf():
    """The library needs no libnetcdf, else it would bring a second one into processes with their own."""
    needed = re.findall(r"NEEDED.*\[(.*)\]", run(["readelf", "-d", LIBRARY]))
    return "" if needed and not [n for n in needed if "netcdf" in n or "hdf5" in n] else "needed: %s" % needed


def exported():
    """What it defines for others: nc_... names that it stands in for, and its own."""
    names = [line.split()[-1] for line in run(["nm", "-D", "--defined-only", LIBRARY]).splitlines()]
    strange = [n for n in names if not re.match(r"(nc_|datarep_|drep_)", n)]
    return "" if "nc_create" in names and not strange else "exports %s" % (strange or names)


def shell():
    text = "for i in 1 2 3; do echo $i | cat; done; sh -c 'exit 3'; echo $?; ls / | wc -l; (ulimit -n)"
    return difference(run(["bash", "-c", text]), door("bash", "-c", text))


def quiet():
    """Nothing is written to standard error by true, python or a program with netCDF that opens a .nc."""
    dump_nc = ["ncdump", "-h", "other.nc"]
    for command in (["true"], [PYTHON, "-c", "pass"], dump_nc):
        done = subprocess.run(command, env=lib.environment(True), capture_output=True, check=False)
        if done.returncode or done.stderr:
            return "%s: status %d, %s" % (" ".join(command), done.returncode, done.stderr.decode())
    return ""


def secure():
    """The loader leaves it out of programs that change the user: a copy of cat with the bit runs as ever."""
    if os.geteuid():
        return ""
    shutil.copy("/bin/cat", "suid-cat")
    os.chmod("suid-cat", 0o4755)
    shutil.chown("suid-cat", "nobody")
    with open("line", "w", encoding="ascii") as f:
        f.write("x\n")
    return "" if door("./suid-cat", "line") == "x\n" else "it printed something else"


# ------------------------------------------------------------------- children


def children():
    """A shell's pipe of netCDF programs: both ends are children of the preloaded shell."""
    door("sh", "-c", "nccopy first.drep child.drep && ncdump -n x child.drep > child.txt")
    with open("child.txt", encoding="utf-8") as f:
        return difference(dump("first.nc"), f.read())


def forked():
    """Python's multiprocessing, by fork with the file's library loaded, and by spawn."""
    with open("pool.py", "w", encoding="utf-8") as f:
        f.write("""
import multiprocessing, sys
import netCDF4
def total(k):
    with netCDF4.Dataset("first.drep") as f:
        return float(f["ps"][k].sum())
if __name__ == "__main__":
    open_before = netCDF4.Dataset("first.drep")
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.map(total, range(5)) == [float(open_before["ps"][k].sum()) for k in range(5)]
    print("same")
""")
    for how in ("fork", "spawn"):
        if door(PYTHON, "pool.py", how) != "same\n":
            return how
    return ""


def threads():
    """Two threads of Python that read two files: netCDF4 lets go of the interpreter's lock while it reads."""
    with open("threads.py", "w", encoding="utf-8") as f:
        f.write("""
import threading, netCDF4
bad = []
def read(name):
    for k in range(60):
        with netCDF4.Dataset(name) as f:
            if f["ps"][:].sum() != want[name]: bad.append(name)
want = {}
for name in ("first.drep", "second.drep"):
    with netCDF4.Dataset(name) as f: want[name] = f["ps"][:].sum()
lock = threading.Lock()
ts = [threading.Thread(target=read, args=(n,)) for n in want]
for t in ts: t.start(); t.join()
print(bad)
""")
    return difference("[]\n", door(PYTHON, "threads.py"))


def several():
    """One process has 40 files open at once, of both kinds, reads them in turn, and closes them in another order."""
    with open("many.py", "w", encoding="utf-8") as f:
        f.write("""
import netCDF4
files = [netCDF4.Dataset("first.drep" if k % 2 else "first.nc") for k in range(40)]
sums = {float(f["ps"][k % 5].sum()) - float(files[0]["ps"][k % 5].sum()) for k, f in enumerate(files)}
for f in files[::3] + files[1::3] + files[2::3]: f.close()
with netCDF4.Dataset("first.drep") as f: sums.add(float(f["count"][0]))
print(sums)
""")
    return difference("{0.0}\n", door(PYTHON, "many.py"))


# ------------------------------------------------------------------- two libraries


def two():
    """Two libraries of netCDF in one process, each below a module that dlopen() brings, as wheels of Python have theirs."""
    with open(os.path.realpath(NETCDF), "rb") as f:
        data = f.read()
    with open("libnetcdf-b2.so", "wb") as f:
        f.write(data.replace(b"libnetcdf.so.19\0", b"libnetcdf-b2.so\0"))
    for name, library in (("one", NETCDF), ("other", "./libnetcdf-b2.so")):
        compiled(name + ".so", """
#include <netcdf.h>
#include <stdio.h>
int told(const char *path, const char *made)
{
    int id, n, e = nc_open(path, 0, &id), c = -1;
    if (!e && !(e = nc_inq_nvars(id, &n)) && !(e = nc_close(id)) && !(e = nc_create(made, NC_CLOBBER | NC_NETCDF4, &id)))
        c = nc_close(id);
    return printf("%d %d %d\\n", e, e ? 0 : n, c);
}""", "-shared", "-fPIC", library, "-Wl,-rpath,$ORIGIN")
    program = compiled("modules", """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    for (int k = 1; k < 3; k++) {
        void *h = dlopen(argv[k], RTLD_NOW | RTLD_LOCAL);
        if (!h) return puts(dlerror());
        ((int (*)(const char *, const char *))dlsym(h, "told"))(argv[3], argv[3 + k]);
    }
    return 0;
}""", "-ldl")
    for pair in (("./one.so", "./other.so"), ("./other.so", "./one.so")):
        lib.remove("two*.drep")
        problem = difference(run([program, *pair, "first.nc", "two1.nc", "two2.nc"]), door(program, *pair, "first.drep", "two1.drep", "two2.drep"))
        if problem or not is_drep("two1.drep") or not is_drep("two2.drep"):
            return problem or "a file that it makes is not Datarep's"
    return ""


def pointers():
    """As ctypes, Java and Julia call netCDF: by dlsym() in a library that dlopen() brought, past any preloaded name."""
    program = compiled("pointers", """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    for (int k = 1; k < 3; k++) {
        void *h = dlopen(argv[k], RTLD_NOW | RTLD_LOCAL);
        int (*open)(const char *, int, int *) = (int (*)(const char *, int, int *))dlsym(h, "nc_open");
        int (*inq)(int, int *) = (int (*)(int, int *))dlsym(h, "nc_inq_nvars"), id = 0, n = 0, e = open(argv[3], 0, &id);
        if (!e) e = inq(id, &n);
        printf("%d %d\\n", e, n);
    }
    return 0;
}""", "-ldl")
    said = door(program, NETCDF, "./libnetcdf-b2.so", "first.drep")
    return difference(run([program, NETCDF, "./libnetcdf-b2.so", "first.nc"]), said)


# ------------------------------------------------------------------- kinds of files


def other_files():
    """netCDF's own files, also one that is called x.drep, and ours under another name."""
    problems = []
    for kind in ("classic", "64-bit-offset", "cdf5", "nc4", "nc4classic"):
        run(["nccopy", "-k", {"64-bit-offset": "64-bit offset", "nc4classic": "netCDF-4 classic model", "nc4": "netCDF-4"}.get(kind, kind),
             "other.nc", kind + ".nc"])
        shutil.copy(kind + ".nc", kind + ".drep")
        for name in (kind + ".nc", kind + ".drep"):
            problems.append(difference(run(["ncdump", "-n", "x", kind + ".nc"]), door("ncdump", "-n", "x", name)))
    shutil.copy("first.drep", "hidden.nc")
    shutil.copy("first.drep", "noname")
    for name in ("hidden.nc", "noname", os.path.abspath("first.drep"), "./first.drep"):
        problems.append(difference(dump("first.nc"), door("ncdump", "-n", "x", name)))
    return "\n".join(p for p in problems if p)


def urls():
    """The URL form, which needs no preloaded nc_create()."""
    for mode in ("udf0", "netcdf-4,udf0"):  # netCDF-C 4.10.1 aborts when it makes a file by the first
        url = "file://%s#mode=%s" % (os.path.abspath("made.drep"), mode)
        lib.remove("made.drep")
        door("nccopy", "first.nc", url)
        if not is_drep("made.drep"):
            return "made.drep is not a Datarep file"
        problem = difference(dump("first.nc"), door("ncdump", "-n", "x", url))
        if problem:
            return problem
    return ""


def odd_names():
    """Names with spaces, umlauts and marks of URLs; a link; a folder that is not writable."""
    problems = []
    for name in ("a b.drep", "grün.drep", "100%25.drep", "a+b=c.drep", "x.drep.old.drep", "no.suffix.drep"):
        door("nccopy", "first.nc", name)
        problems.append("" if is_drep(name) else name + " is not a Datarep file")
        problems.append(difference(dump("first.nc"), door("ncdump", "-n", "x", name)))
    os.symlink("a b.drep", "link")
    problems.append(difference(dump("first.nc"), door("ncdump", "-n", "x", "link")))
    return "\n".join(p for p in problems if p)


def refusals():
    """Errors are netCDF's, with a text of its own, and no crash; DATAREP_DEBUG prints the library's."""
    with open("broken.drep", "wb") as f, open("first.drep", "rb") as g:
        f.write(g.read()[:5000])
    with open("magic.drep", "wb") as f:
        f.write(lib.MAGIC)
    os.makedirs("dir.drep", exist_ok=True)
    problems = []
    for name in ("broken.drep", "magic.drep", "dir.drep", "absent.drep"):
        done = subprocess.run(["ncdump", name], env=lib.environment(True), capture_output=True, check=False)
        if done.returncode != 1 or not done.stderr:
            problems.append("%s: status %d, %s" % (name, done.returncode, done.stderr.decode()))
    done = subprocess.run(["ncdump", "broken.drep"], env=lib.environment(True, DATAREP_DEBUG="1"), capture_output=True, check=False)
    if b"broken.drep" not in done.stderr.replace(b"ncdump: broken.drep", b""):
        problems.append("DATAREP_DEBUG=1 says nothing of broken.drep: " + done.stderr.decode())
    done = subprocess.run(["nccopy", "first.nc", "/nowhere/x.drep"], env=lib.environment(True), capture_output=True, check=False)
    if done.returncode != 1:
        problems.append("nccopy into /nowhere: status %d" % done.returncode)
    return "\n".join(problems)


def parallel():
    """nc_open_par is refused by a code, if this libnetcdf has it; in memory, nc_open_mem reads or refuses."""
    program = compiled("mem", """
#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    FILE *f = fopen(argv[1], "rb");
    static char bytes[1 << 20];
    size_t n = fread(bytes, 1, sizeof bytes, f);
    int id, nv = -1, e = nc_open_mem("x", 0, n, bytes, &id);
    if (!e) { e = nc_inq_nvars(id, &nv); nc_close(id); printf("%d\\n", nv); }
    else printf("refused %s\\n", nc_strerror(e));
    return 0;
}""", "-lnetcdf")
    said = door(program, "first.drep")
    return "" if said == run([program, "first.nc"]) or said.startswith("refused") else said


# ------------------------------------------------------------------------ .ncrc


def init_function():
    names = [line.split()[-1] for line in run(["nm", "-D", "--defined-only", LIBRARY]).splitlines()]
    return "datarep_netcdf_init" if "datarep_netcdf_init" in names else None


def write_ncrc(function):
    os.makedirs("home", exist_ok=True)
    with open("home/.ncrc", "w", encoding="utf-8") as f:
        f.write("NETCDF.UDF0.LIBRARY=%s\nNETCDF.UDF0.INIT=%s\n" % (LIBRARY, function))


# As netCDF-C 4.10 documents the two lines, and as its build of Debian does it: the library is loaded for itself, INIT
# returns the table, and the table is registered, with no magic as there is no line for one.
STUB = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    char line[5000], library[5000] = "", init[500] = "", path[5000];
    snprintf(path, sizeof path, "%s/.ncrc", getenv("HOME"));
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        sscanf(line, "NETCDF.UDF0.LIBRARY=%4999s", library);
        sscanf(line, "NETCDF.UDF0.INIT=%499s", init);
    }
    int id, n, formatx, mode, e;
    nc_inq_libvers();
    void *h = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!h) { printf("%s\n", dlerror()); return 1; }
    NC_Dispatch *(*function)(void) = (NC_Dispatch *(*)(void))dlsym(h, init), *table = function ? function() : NULL;
    if (!table) { printf("no table\n"); return 1; }
    if (table->dispatch_version != NC_DISPATCH_VERSION) { printf("version %d\n", table->dispatch_version); return 1; }
    if ((e = nc_def_user_format(NC_UDF0, table, NULL))) { printf("def: %s\n", nc_strerror(e)); return 1; }
    if ((e = nc_open(argv[1], 0, &id))) { printf("open: %s\n", nc_strerror(e)); return 1; }
    nc_inq_nvars(id, &n);
    nc_inq_format_extended(id, &formatx, &mode);
    printf("%d variables, format %d\n", n, formatx);
    nc_close(id);
    if ((e = nc_create(argv[2], NC_UDF0 | NC_CLOBBER, &id)) || (e = nc_close(id))) { printf("create: %s\n", nc_strerror(e)); return 1; }
    return 0;
}
"""


def ncrc_stub():
    function = init_function()
    if not function:
        return "datarep_netcdf_init is not exported"
    write_ncrc(function)
    program = compiled("stub", STUB, "-lnetcdf", "-ldl")
    count = len(re.findall(r"\) ;$|^\t\w+ \w+ ;", run(["ncdump", "-h", "first.nc"]), re.M))
    said = subprocess.run([program, "first.drep", "stub.drep"], env=dict(lib.environment(False), HOME=os.path.abspath("home")),
                          capture_output=True, text=True, check=False)
    problem = difference("%d variables, format 8\n" % count, said.stdout) + said.stderr
    return problem or ("" if said.returncode == 0 and is_drep("stub.drep") else "status %d" % said.returncode)


def ncrc_410():
    """netCDF-C 4.10 itself, from Debian's source: its ncdump and nccopy with the two lines alone."""
    top = sources.source("netcdf", sources.NETCDF_RC)
    build = os.path.join(lib.BUILD, "others", "netcdf-build")
    tools = os.path.join(build, "tools", "bin")
    if not os.path.exists(os.path.join(tools, "nccopy")):
        shutil.rmtree(build, ignore_errors=True)
        flags = run(["pkg-config", "--cflags-only-I", "hdf5"]).split()
        libs = run(["pkg-config", "--libs", "hdf5"]).split()
        os.makedirs(build)
        run([os.path.join(top, "configure"), "--prefix=" + os.path.join(build, "tools"), "--disable-dap", "--disable-nczarr",
             "--disable-byterange", "--disable-libxml2", "--disable-testsets", "--disable-static", "--quiet",
             "CPPFLAGS=" + " ".join(flags), "LDFLAGS=" + " ".join(f for f in libs if f.startswith("-L")), "CFLAGS=-O1"],
            cwd=build, timeout=600)
        run(["make", "-s", "-j2", "install"], cwd=build, timeout=1500)
    write_ncrc(init_function())
    home = dict(lib.environment(False), HOME=os.path.abspath("home"))
    texts = []
    for command in (["ncdump", "-n", "x", "first.drep"], ["ncdump", "-n", "x", "first.nc"],
                    ["nccopy", "first.nc", "file://%s#mode=netcdf-4,udf0" % os.path.abspath("from410.drep")]):
        done = subprocess.run([os.path.join(tools, command[0]), *command[1:]], env=home, capture_output=True, text=True, check=False)
        if done.returncode or done.stderr:  # 4.10 prints what it does not like of the two lines
            return "%s: status %d, %s" % (" ".join(command), done.returncode, done.stderr)
        texts.append(done.stdout)
    run([DATAREP, "check", "from410.drep"])
    # The control: without the two lines it is refused.
    bare = subprocess.run([os.path.join(tools, "ncdump"), "first.drep"], env=lib.environment(False), capture_output=True, check=False)
    return difference(texts[1], texts[0]) or difference(dump("first.nc"), dump("from410.drep")) or \
        ("" if bare.returncode else "it reads the file without the two lines")


def main():
    lib.built()
    if not shutil.which("ncdump") or not NETCDF or not os.path.exists("/usr/include/netcdf.h"):
        print("1..0 # SKIP no ncdump, or no netcdf.h")
        return 0
    lib.folder()
    run(["ncgen", "-3", "-o", "other.nc", "-"], status=None)
    with open("other.cdl", "w", encoding="utf-8") as f:
        f.write("netcdf other { dimensions: t = UNLIMITED ; x = 3 ; variables: float v(t, x) ; v:units = \"m\" ; data: v = 1, 2, 3, 4, 5, 6 ; }\n")
    run(["ncgen", "-3", "-o", "other.nc", "other.cdl"])
    for name, first, steps in (("first", 0, 5), ("second", 5, 4)):
        run([PYTHON, os.path.join(lib.HERE, "weather.py"), name + ".nc", first, steps])
        run([DATAREP, "import", name + ".nc", name + ".drep"])
    cases = [("the library is in a preloaded process", is_loaded), ("a program without netCDF is untouched", untouched),
             ("a process without netCDF gets no library of netCDF", no_netcdf_loaded), ("the library needs no library of netCDF", no_symbol_of_netcdf),
             ("the library exports names of netCDF's and its own alone", exported), ("a shell is untouched", shell),
             ("nothing is printed", quiet), ("a program that changes the user is untouched", secure),
             ("children of a shell", children), ("processes of Python by fork and spawn", forked), ("threads of Python", threads),
             ("40 files of both kinds in one process", several), ("two libraries of netCDF in one process", two),
             ("calls by dlsym() alone", pointers), ("files of netCDF called .drep, and ours called otherwise", other_files),
             ("URLs with mode=udf0", urls), ("odd names of files", odd_names), ("files that cannot be opened", refusals),
             ("an image in memory is read or refused", parallel), ("the two lines of .ncrc, by a stub", ncrc_stub)]
    for name, test in cases:
        CASES.case(name, test)
    if "--full" in sys.argv:
        try:
            sources.source("netcdf", sources.NETCDF_RC)
            CASES.case("the two lines of .ncrc, by netCDF-C 4.10", ncrc_410)
        except Failed as e:
            CASES.report("the two lines of .ncrc, by netCDF-C 4.10", skip=str(e))
    return CASES.end("--full" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
