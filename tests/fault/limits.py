# SPDX-License-Identifier: MIT
"""limits.py - runs the command on hostile files, and measures what it takes.

run() is subprocess.run() besides peak memory, processor time and an end for what does not end;
Done.wrong() holds a run against the bars of SECURITY.md ("Limits").
"""

import os
import resource
import signal
import subprocess
import tempfile
import time

MIB = 1 << 20
PROCESSORS = os.cpu_count() or 1
LIBRARIES = 48 * MIB
TIME = 10  # seconds of processor time that a small file may cost by default
GRACE = 3.5  # the last resort waits for 2 s, and this machine is shared
RUNAWAY = 25  # seconds of processor time after which a test itself gives up


def memory_bar(*files):
    """Bytes: the default of --limit memory, and what no file has a part in."""
    size = sum(os.path.getsize(f) for f in files if os.path.isfile(f))
    return 128 * MIB + 2 * PROCESSORS * 16 * MIB + 2 * size + LIBRARIES


class Done:
    """How a run ended.  returncode: minus the signal; hung: it had to be ended."""

    def __init__(self, status, used, out, err, hung):
        self.returncode = os.waitstatus_to_exitcode(status)
        self.stdout, self.stderr, self.hung = out, err, hung
        self.memory = used.ru_maxrss * 1024
        self.time = used.ru_utime + used.ru_stime

    def wrong(self, memory, seconds=TIME + GRACE):
        """What does not hold, or ""."""
        err = self.stderr if isinstance(self.stderr, str) else self.stderr.decode("utf-8", "replace")
        if self.hung:
            return "does not end"
        if self.returncode < 0:
            return "ended by %s" % signal.Signals(-self.returncode).name
        if self.memory > memory:
            return "took %d MiB of memory, may take %d" % (self.memory // MIB, memory // MIB)
        if self.time > seconds:
            return "took %.1f s of processor time, may take %.1f" % (self.time, seconds)
        if self.returncode not in range(5):
            return "exit status %d" % self.returncode
        # What the format bounds no option raises.
        if "limit" in err.replace("beyond the limits of this version", "") and "--limit " not in err:
            return "names a limit and no option"
        return ""


def in_child():
    resource.setrlimit(resource.RLIMIT_CPU, (RUNAWAY, RUNAWAY + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def await_end(child, timeout, grace):
    """What wait4() says, and whether the child had to be ended."""
    end, hung, pause = time.monotonic() + timeout, False, 0.0005
    while True:
        pid, status, used = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = 0  # subprocess need not wait for it
            return status, used, hung
        if time.monotonic() > end:
            child.send_signal(signal.SIGKILL if hung else signal.SIGTERM)
            end, hung = time.monotonic() + grace, True
        time.sleep(pause)
        pause = min(2 * pause, 0.02)


def run(args, stdin=subprocess.DEVNULL, stdout=None, timeout=120, grace=12, text=False):
    """Runs a command; what is still there after `timeout` seconds is asked to end, and after
    `grace` more made to.  stdout: what takes the output, which is else kept."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(args, stdin=stdin, stdout=out if stdout is None else stdout, stderr=err,
                                 preexec_fn=in_child)
        status, used, hung = await_end(child, timeout, grace)
        said = []
        for f in out, err:
            f.seek(0)
            said.append(f.read().decode("utf-8", "surrogateescape") if text else f.read())
    return Done(status, used, *said, hung)
