"""Cases of the command, one a function: what the programs here have in common."""
# SPDX-License-Identifier: MIT
import os
import subprocess
import tempfile

DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
CASES = []


class Differ(Exception):
    """What is not as it should be."""


class Absent(Exception):
    """What a case needs and is not here."""


def check(truth, message, *args):
    if not truth:
        raise Differ(message % args)


def case(fn):
    """Registers a function of a fresh folder; its name and its first line are the case's title."""
    CASES.append(fn)
    return fn


def over(command):
    """The same command with --force where it makes a file: programs here use their names again."""
    makes = command[0] in ("create", "import", "export", "convert", "join", "plot") or \
        any(a.startswith("--repair") for a in command)
    keeps = {"-n", "-u", "-a", "--no-clobber", "--update", "--append"}
    return [command[0], "--force", *command[1:]] if makes and not keeps & set(command) else [*command]


def run(*args, seconds=60, data=None, **env):
    """Exit status (None: it hung), stdout and stderr."""
    try:
        p = subprocess.run([DATAREP, *over(args)], capture_output=True, timeout=seconds, check=False, input=data,
                           env=dict(os.environ, **env))
    except subprocess.TimeoutExpired:
        return None, "", "hangs"
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def must(*args):
    """What a command prints that must succeed."""
    status, out, err = run(*args)
    check(status == 0, "%s: status %s: %s%s", " ".join(args), status, out, err)
    return out


def title(fn):
    return fn.__name__.replace("_", " ") + (": " + fn.__doc__.splitlines()[0] if fn.__doc__ else "")


def report(n, fn, why):
    """One line of TAP, and below it why the case failed, or None."""
    print("%sok %d - %s" % ("not " if why else "", n, title(fn)), flush=True)
    for line in (why or "").splitlines():
        print("# " + line, flush=True)


def reason(e):
    """An exception as the reason of a failure."""
    return str(e) if isinstance(e, Differ) and str(e) else "%s: %s" % (type(e).__name__, e)


def main(prepare=lambda folder: folder):
    """Runs all cases; TAP on stdout.  Returns the exit status.

    prepare(folder) makes what every case finds, and gives its folder."""
    failed = 0
    print("1..%d" % len(CASES), flush=True)
    for n, fn in enumerate(CASES, 1):
        with tempfile.TemporaryDirectory() as folder:
            why = None
            try:
                fn(prepare(folder))
            except Absent as e:
                print("ok %d - %s # SKIP %s" % (n, title(fn), e), flush=True)
                continue
            except Exception as e:  # whatever goes wrong is this case's failure
                why = reason(e)
        failed += why is not None
        report(n, fn, why)
    return 1 if failed else 0
