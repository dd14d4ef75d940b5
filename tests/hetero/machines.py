# SPDX-License-Identifier: MIT
"""The machines: compiler and emulator of each.

A machine is a triplet of Debian's cross compilers and an emulator of qemu-user; i386 runs on
the host processor itself where the kernel lets it, else by qemu too, and amd64 is the host.
"""
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(ROOT, "build", "hetero")
LOADER = "-Wl,--dynamic-linker=/usr/{0}/lib/{1} -Wl,-rpath,/usr/{0}/lib"
HELLO = '#include <stdio.h>\nint main(void) { puts("hello, world"); return 0; }\n'


class Machine:
    """One machine: its compiler, its emulator and its special properties."""

    def __init__(self, name, triplet=None, qemu=None, what="", cflags="", ldflags="", table=None):
        self.name, self.triplet, self.qemu, self.what = name, triplet, qemu, what
        self.cflags, self.ldflags = cflags, ldflags
        self.table = table or name  # its name in native:NAME
        self.build = os.path.join(WORK, name) if triplet else os.path.join(ROOT, "build", "release")
        self.cell = {}  # column -> (right, text)
        self.notes = []
        self.bare = None  # why it is built without the libraries that Datarep borrows
        self.kernels = "?"
        self.seconds = 0

    def command(self, *args):
        """The command line that runs a program of this machine on the host."""
        run = ["qemu-%s-static" % self.qemu, "-L", "/usr/" + self.triplet] if self.qemu else []
        return run + list(args)

    def program(self, *path):
        return os.path.join(self.build, *path)


MACHINES = [
    Machine("amd64", what="little-endian, 64 bits, x87 in 16 bytes"),
    Machine("s390x", "s390x-linux-gnu", "s390x", "big-endian, 64 bits, binary128"),
    Machine("i386", "i686-linux-gnu", None, "32 bits, double aligned to 4, x87 in 12 bytes",
            ldflags=LOADER.format("i686-linux-gnu", "ld-linux.so.2")),
    Machine("m68k", "m68k-linux-gnu", "m68k", "big-endian, 32 bits, 2-byte aligned, 96-bit extended"),
    Machine("ppc64", "powerpc64-linux-gnu", "ppc64", "big-endian, 64 bits, double-double"),
    Machine("ppc64el", "powerpc64le-linux-gnu", "ppc64le", "little-endian, 64 bits, double-double",
            table="ppc64el-ibm"),
    Machine("ppc64el-ieee", "powerpc64le-linux-gnu", "ppc64le", "like ppc64el, with binary128",
            cflags="-mabi=ieeelongdouble"),
    Machine("powerpc", "powerpc-linux-gnu", "ppc", "big-endian, 32 bits, double-double"),
    Machine("mips", "mips-linux-gnu", "mips", "big-endian, 32 bits, legacy NaN encoding"),
    Machine("mips64", "mips64-linux-gnuabi64", "mips64", "like mips, with 64 bits and binary128"),
    Machine("sparc64", "sparc64-linux-gnu", "sparc64", "big-endian, strict alignment, binary128"),
    Machine("hppa", "hppa-linux-gnu", "hppa", "big-endian, 32 bits, stack grows upward"),
    Machine("armhf", "arm-linux-gnueabihf", "arm", "32 bits, strict alignment, unsigned char"),
    Machine("armel", "arm-linux-gnueabi", "arm", "like armhf, without a floating-point unit"),
    Machine("arm64", "aarch64-linux-gnu", "aarch64", "64 bits, binary128, unsigned char"),
    Machine("riscv64", "riscv64-linux-gnu", "riscv64", "64 bits, binary128, unsigned char"),
    Machine("alpha", "alpha-linux-gnu", "alpha", "64 bits, binary128, pages of 8 KiB"),
    Machine("sh4", "sh4-linux-gnu", "sh4", "32 bits, double aligned to 4"),
]

# ------------------------------------------------------------------- running


def environment(**more):
    env = dict(os.environ)
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MODE", "CFLAGS", "LDFLAGS"):
        env.pop(name, None)
    env.update(SRCDIR=ROOT, LC_ALL="C.UTF-8", **more)
    return env


def run(command, seconds, env=None, err=subprocess.STDOUT):
    """Exit status (negative: a signal; None: out of time) and output."""
    try:
        p = subprocess.run(command, cwd=ROOT, env=env or environment(), stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=err, timeout=seconds)
        return p.returncode, p.stdout.decode("utf-8", "surrogateescape")
    except subprocess.TimeoutExpired as e:
        return None, (e.stdout or b"").decode("utf-8", "surrogateescape")
    except OSError as e:
        return 127, str(e)


def how(status):
    if status is None:
        return "out of time"
    return "killed by signal %d" % -status if status < 0 else "status %d" % status


def keep(m, name, text):
    """Write a log to build/hetero/logs."""
    path = os.path.join(WORK, "logs", "%s-%s.log" % (m.name, name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text)
    return os.path.relpath(path, ROOT)


def has_compiler(m):
    return not m.triplet or run([m.triplet + "-gcc", "--version"], 60)[0] == 0


def has_emulator(m):
    return not m.qemu or shutil.which(m.command()[0]) is not None


def emulator_fails(m):
    """None, or what becomes of the smallest program: then nothing can be said of larger ones."""
    if not m.triplet:
        return None
    folder = os.path.join(WORK, "hello")
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "hello.c")
    with open(source, "w", encoding="ascii") as f:
        f.write(HELLO)
    said = []
    for kind, flags in (("dynamic", []), ("static", ["-static"])):
        program = os.path.join(folder, m.name + "-" + kind)
        status, out = run([m.triplet + "-gcc", "-O1", *flags, "-o", program, source], 60)
        if status == 0:
            status, out = run(m.command(program), 20)
        if status == 127 and not m.qemu:  # a kernel without the host's 32-bit programs
            m.qemu = m.name
            status, out = run(m.command(program), 20)
        if status == 0 and out == "hello, world\n":
            return None
        said.append("linked %s: %s" % (kind, how(status)))
    return "a program that prints one line fails%s, %s" % (" in qemu-" + m.qemu if m.qemu else "", "; ".join(said))
