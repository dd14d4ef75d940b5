#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-by-value - selections by coordinates, PATH[lat=40:60, time=2026-01], choose what Python chooses.

Random coordinates, rising and falling, of several types and calendars; each selection is worked out
again here, from the numbers or by cftime, and dump must print just these elements, or name the
neighbours of a value that is not there.  All commands that take a slice are given one.  TAP on stdout.
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

try:
    import cftime
except ImportError:
    cftime = None

DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
ROUNDS = 6
CALENDARS = {"standard": "standard", "noleap": "noleap", "360_day": "360_day", None: "standard"}
done = failed = 0


def result(good, name, why=""):
    global done, failed
    done += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", done, name))
    if not good:
        print("# " + str(why).replace("\n", "\n# "))


def run(*args):
    return subprocess.run([DATAREP, *args], capture_output=True, text=True, timeout=60)


def values(text, path):
    """The numbers of a selection, or None and what was said."""
    got = run("dump", "--json", "--numbers", text, path)
    if got.returncode:
        return None, got.stderr
    found = json.loads(got.stdout)
    return found["object"].get("data", found["object"].get("value")), got.stderr


def flat(data):
    return [x for part in data for x in flat(part)] if isinstance(data, list) else [data]


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def make(d, rng, n):
    """A file with x, f and t along dimensions of their own, and v = index; its coordinates."""
    step = rng.choice([1, -1])
    begin = rng.randint(-50, 50)
    x = [begin + step * k * 3 for k in range(n)]
    f = [round(0.1 * k * -step, 1) for k in range(n)]
    calendar = rng.choice(list(CALENDARS))
    unit = rng.choice(["hours", "days"])
    t = [k * (6 if unit == "hours" else 5) for k in range(n)]
    since = "%s since 2025-%02d-%02d 06:00" % (unit, rng.randint(1, 12), rng.randint(1, 28))
    attrs = {"units": since}
    if calendar:
        attrs["calendar"] = calendar
    schema = {"dims": {"x": n, "f": n, "t": n, "none": 2}, "root": {
        "x": {"dataset": "INT", "dims": ["x"], "data": x},
        "f": {"dataset": "FLOAT", "dims": ["f"], "data": f},
        "t": {"dataset": "INT64_T", "dims": ["t"], "data": t, "attrs": attrs},
        "packed": {"dataset": "INT", "dims": ["none"], "data": [1, 2]},
        "v": {"dataset": "INT", "dims": ["x", "f"],
              "data": [[n * i + k for k in range(n)] for i in range(n)]},
        "w": {"dataset": "INT", "dims": ["t"], "data": list(range(n))}}}
    with open(os.path.join(d, "s.yaml"), "w", encoding="utf-8") as out:
        json.dump(schema, out)
    made = run("create", "-f", "-s", os.path.join(d, "s.yaml"), os.path.join(d, "a.drep"))
    if made.returncode:
        raise ValueError(made.stderr)
    dates = None
    if cftime:
        dates = cftime.num2date(t, since, CALENDARS[calendar])
    return os.path.join(d, "a.drep"), x, [single(v) for v in f], dates


def numbers(path, x, f, rng, n):
    """Ranges and values of two dimensions at once."""
    low, high = sorted((rng.randint(-200, 200), rng.randint(-200, 200)))
    i = [k for k in range(n) if low <= x[k] <= high]
    at = rng.randrange(n)
    ends = rng.choice(["%d:%d" % (low, high), "%d:%d" % (high, low)])
    got, said = values(path, "/v[x=%s, f=%s]" % (ends, repr(round(f[at], 1))))
    want = [n * k + at for k in i]
    if not i:
        result(got is None and "/x has none there" in said, "nothing is in %s, and that is said" % ends, said)
    else:
        result(got is not None and flat(got) == want, "x=%s and a binary32 by its decimals" % ends, (got, want, said))
    got, said = values(path, "/v[:, f=:%r]" % round(f[at], 1))
    want = [n * i + k for i in range(n) for k in range(n) if f[k] <= f[at]]
    result(got is not None and flat(got) == want, "f up to a value, beside an index", (got, want, said))


def dates(path, t, rng):
    """Days, months, moments, ranges of them, by another's calendar."""
    at = t[rng.randrange(len(t))]
    day = at.strftime("%Y-%m-%d")
    later = max(at, t[rng.randrange(len(t))])
    tries = {
        day: [k for k, m in enumerate(t) if m.strftime("%Y-%m-%d") == day],
        day[:7]: [k for k, m in enumerate(t) if m.strftime("%Y-%m") == day[:7]],
        day[:4]: [k for k, m in enumerate(t) if m.year == at.year],
        at.strftime("%Y-%m-%dT%H:%M"): [t.tolist().index(at)],
        "%s:%s" % (at.strftime("%Y-%m-%dT%H:%M"), later.strftime("%Y-%m-%dT%H:%M:%S")):
            [k for k, m in enumerate(t) if at <= m <= later],
        "%s:%s" % (day, later.strftime("%Y-%m")):
            [k for k, m in enumerate(t) if m.strftime("%Y-%m-%d") >= day
             and m.strftime("%Y-%m") <= later.strftime("%Y-%m")],
        day + ":": [k for k, m in enumerate(t) if m.strftime("%Y-%m-%d") >= day],
        ":" + day: [k for k, m in enumerate(t) if m.strftime("%Y-%m-%d") <= day],
    }
    for text, want in tries.items():
        got, said = values(path, "/w[t=%s]" % text)
        if got is None or flat(got) != want:
            return "t=%s: %s, not %s: %s" % (text, got, want, said)
    return ""


def commands(d, path, x, n):
    """Every command with a slice on its command line has the same."""
    at = "[x=%d:%d, f=0.0]" % (min(x[1], x[2]), max(x[1], x[2]))
    index = "[1:3,%d]" % 0
    csv = os.path.join(d, "a.csv")
    got = run("export", "-f", "--root=/v" + at, path, csv)
    with open(csv, encoding="utf-8") as f:
        text = f.read().split()
    result(not got.returncode and text[-2:] == [str(n), str(2 * n)], "export", (got.stderr, text))
    got = run("diff", path, path, "/v" + at, "/v" + index)
    result(got.returncode == 0, "diff: by value is by index", got.stdout + got.stderr)
    part = os.path.join(d, "part.drep")
    got = run("convert", "-f", "--root=/v" + at, path, part)
    cut = [flat(values(part, "/" + name)[0]) for name in "vxf"]
    result(not got.returncode and cut == [[n, 2 * n], x[1:3], [0.0]], "convert: with the coordinates", (got.stderr, cut))
    if os.path.exists(os.path.join(os.path.dirname(DATAREP), "datarep-plot.so")):
        one = run("plot", "--preview", "-w", "60", path, "/v" + at)
        two = run("plot", "--preview", "-w", "60", path, "/v" + index)
        result(not one.returncode and one.stdout.split("\n")[1:] == two.stdout.split("\n")[1:], "plot",
               one.stdout + one.stderr + two.stdout)
    else:
        result(True, "plot # SKIP built without Cairo")


def wrong(path):
    """What is wrong is named, with what could be meant."""
    for text, said in {"/v[y=1]": 'no dimension "y" here; there are x, f',
                       "/v[x=one]": "[x=one]: neither a number nor a range of numbers",
                       "/v[x=1:2:3]": "neither a number nor a range",
                       "/v[x=:,x=:]": "this dimension was selected before",
                       "/v[x=]": "[x=]: neither a number",
                       "/v[...,x=0]": "has no place beside dimensions that are named",
                       "/v[0,0,x=0]": "dimension was selected before",
                       "/v[0,0,0,x=0]": "there are not so many dimensions",
                       "/packed[none=1]": "none has no coordinates",
                       "/w[t=yesterday]": "neither a date (2026-01-05",
                       "/w[t=2025-02-31]": "neither a date",
                       "/w[t=1900]": "/t has none there; it reaches from 2025-",
                       "/v[f=0.05]": "/f has none there; the nearest are 0.0 and 0.1"
                       }.items():
        got = run("dump", path, text)
        result(got.returncode == 2 and said in got.stderr.replace("-0.1 and 0.0", "0.0 and 0.1"), text,
               got.stderr + got.stdout)


def main():
    rng = random.Random(int(os.environ.get("DREP_TEST_SEED", "1")))
    with tempfile.TemporaryDirectory() as d:
        for _ in range(ROUNDS):
            n = rng.randint(5, 30)
            path, x, f, t = make(d, rng, n)
            numbers(path, x, f, rng, n)
            if t is None:
                result(True, "dates # SKIP cftime is not installed")
            else:
                why = dates(path, t, rng)
                result(not why, "dates of the calendar %s" % t[0].calendar, why)
        while f[1] < 0:
            path, x, f, t = make(d, rng, 9)
            n = 9
        commands(d, path, x, n)
        wrong(path)
    print("1..%d" % done)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
