#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-cf - dates, missing and packed numbers by the CF conventions.

Dates are those of cftime, which netCDF4-python and xarray use.  TAP on stdout.
# timeout: 120
"""
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile

from cases import over

try:
    import cftime
except ImportError:
    cftime = None

DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
CALENDARS = ("standard", "gregorian", "proleptic_gregorian", "julian", "noleap", "365_day", "all_leap", "366_day",
             "360_day")
UNITS = {"seconds": 1e9, "sec": 1e9, "minutes": 2e7, "hours": 5e5, "hr": 5e5, "h": 5e5, "msec": 1e12, "days": 4e5,
         "d": 4e5}
ORIGINS = ("1970-01-01", "1800-1-1 00:00:0.0", "0001-01-01 00:00", "2000-02-28T12:30:00Z",
           "1990-06-15 06:00:00 +03:30", "1582-10-15", "2001-12-30 23:59:59.5 UTC", "1500-03-01 00:00:00 -02:00")
NO_DATES = ("days", "days since", "days since yesterday", "fortnights since 1970-01-01", "days since 1970-02-30",
            "days since 1970-13-01", "days since 1970-01-01 25:00", "days since 1970-01-01 nowhere",
            "days after 1970-01-01")


def run(*args, text=True):
    p = subprocess.run([DATAREP, *over(args)], capture_output=True, timeout=60, check=False)
    return p.returncode, p.stdout.decode() if text else p.stdout, p.stderr.decode()


def create(at, lines):
    schema, path = os.path.join(at, "x.yaml"), os.path.join(at, "x.drep")
    with open(schema, "w", encoding="utf-8") as f:
        f.write("root:\n" + "".join("  %s\n" % line for line in lines))
    if os.path.exists(path):
        os.unlink(path)
    status, _, err = run("create", "-s", schema, path)
    assert status == 0, err
    return path


def extremes(path, *options):
    """What `ls -m` prints behind the shape, by name."""
    status, out, err = run("ls", "-m", *options, path)
    assert status == 0, err
    return {line.split()[0]: line.split("]", 1)[1].strip() for line in out.splitlines()}


def moment(text, calendar):
    day, _, clock = text.partition("T")
    year, month, of_month = day.rsplit("-", 2)
    hour, minute, second = (clock or "0:0:0").split(":")
    whole, _, fraction = second.partition(".")
    return cftime.datetime(int(year), int(month), int(of_month), int(hour), int(minute), int(whole),
                           int((fraction + "000000")[:6]), calendar=calendar)


def dates(at):
    """Numbers of each calendar, unit and origin."""
    rng, rows, lines = random.Random(5), [], []
    for calendar in CALENDARS:
        for unit, most in UNITS.items():
            for origin in ORIGINS:
                least = -most if origin.startswith("1990") else 0
                v = sorted(round(rng.uniform(least, most), rng.choice((0, 1, 3))) for _ in range(2))
                lines.append('d%d: {dataset: DOUBLE, data: %r, attrs: {units: "%s since %s", calendar: %s}}'
                             % (len(rows), v, unit, origin, calendar))
                rows.append((v, "%s since %s" % (unit, origin), calendar))
    got = extremes(create(at, lines))
    wrong = []
    for i, (v, units, calendar) in enumerate(rows):
        words = got["/d%d" % i].split()
        for n, text in zip(v, (words[1], words[3])):
            off = moment(text, calendar) - cftime.num2date(n, units, calendar)
            if abs(off) > datetime.timedelta(microseconds=20):
                wrong.append("%r %s (%s): %s, cftime: %s" % (n, units, calendar, text,
                                                            cftime.num2date(n, units, calendar)))
    return wrong[:10], "%d dates of %d calendars" % (2 * len(rows), len(CALENDARS))


def no_dates(at):
    """Units that are none of time, or whose date is none, leave numbers."""
    lines = ['n%d: {dataset: DOUBLE, data: [1.5], attrs: {units: "%s"}}' % (i, u) for i, u in enumerate(NO_DATES)]
    lines.append('c: {dataset: DOUBLE, data: [1.5], attrs: {units: "days since 1970-01-01", calendar: lunar}}')
    got = extremes(create(at, lines))
    return ["%s: %s" % one for one in got.items() if one[1] != "min 1.5  max 1.5"], "units that give no dates"


NUMBERS = {
    "a: {dataset: SHORT, data: [-999, 5, 9], attrs: {_FillValue: -999}}": "min 5  max 9  1 missing",
    "b: {dataset: FLOAT, data: [1e20, 5, -1], attrs: {missing_value: !FLOAT 1e20}}": "min -1.0  max 5.0  1 missing",
    "c: {dataset: INT, data: [1, 2, 3, 4], attrs: {missing_value: [1, 4]}}": "min 2  max 3  2 missing",
    "d: {dataset: SHORT, data: [0, 10, 50], attrs: {scale_factor: 0.5, add_offset: 100}}": "min 100.0  max 125.0",
    "e: {dataset: SHORT, data: [0, 10], attrs: {scale_factor: -0.5}}": "min -5.0  max 0.0",
    "f: {dataset: SHORT, data: [0, 10, 50], attrs: {valid_range: [1, 20]}}": "min 10  max 10  2 missing",
    "g: {dataset: SHORT, data: [0, 10, 50], attrs: {valid_min: 10}}": "min 10  max 50  1 missing",
    "h: {dataset: SHORT, data: [0, 10, 50], attrs: {valid_max: 10.0, scale_factor: 0.5}}":
        "min 0.0  max 5.0  1 missing",
    "i: {dataset: INT64_T, data: [9007199254740993, 9007199254740992], attrs: {_FillValue: 9007199254740993}}":
        "min 9007199254740992  max 9007199254740992  1 missing",
    "j: {dataset: INT, data: [1, 2], attrs: {_FillValue: none, scale_factor: much, valid_range: [5]}}":
        "min 1  max 2",
    'l: {dataset: INT64_T, data: [-9223372036854775808, 9223372036854775807], attrs: {units: "s since 1970-01-01"}}':
        "min -9223372036854775808  max 9223372036854775807",
    "k: {dataset: INT, data: [1, 2], attrs: {missing_value: [1, 2]}}": "2 missing",
}


def numbers(at):
    lines = [line.replace("!FLOAT ", "") for line in NUMBERS]
    lines[1] = lines[1].replace("FLOAT, data", "DOUBLE, data")
    path = create(at, lines)
    got = extremes(path)
    wrong = ["%s: %s, not %s" % (line, got["/" + line[0]], want) for line, want in NUMBERS.items()
             if got["/" + line[0]] != want]
    raw = extremes(path, "--raw")
    if raw["/a"] != "min -999  max 9" or raw["/d"] != "min 0  max 50":
        wrong.append("--raw: %s, %s" % (raw["/a"], raw["/d"]))
    status, out, _ = run("ls", "-m", "--json", path)
    shown = {o["path"]: o for o in json.loads(out)["objects"]}
    if status or (shown["/d"]["min"], shown["/d"]["max"], shown["/c"]["missing"]) != (100, 125, 2):
        wrong.append("--json: %s %s" % (shown["/d"], shown["/c"]))
    return wrong, "missing, packed and bounded numbers"


def tables(at):
    """Dates of a dump and of a table are cftime's; a table with dates gives the stored numbers again."""
    rng, wrong = random.Random(7), []
    lines, rows = [], []
    for calendar in CALENDARS:
        for kind, pick in (("INT", lambda: rng.randrange(0, 40000)), ("FLOAT", lambda: rng.randrange(0, 4000) / 8),
                           ("DOUBLE", lambda: rng.choice((0.1, 1e-9, 1e300, 12.7, -0.0, 3, float(rng.random()))))):
            v = [pick() for _ in range(20)]
            lines.append('t%d: {dataset: %s, data: %r, attrs: {units: days since 1990-01-01, calendar: %s}}'
                         % (len(rows), kind, v, calendar))
            rows.append((kind, v, calendar))
    lines.append('scaled: {dataset: SHORT, data: [1, 2], attrs: {units: days since 1990-01-01, scale_factor: 0.5}}')
    lines.append('missing: {dataset: INT, data: [1, -9], attrs: {units: days since 1990-01-01, _FillValue: -9}}')
    lines.append('z: {dataset: C_DOUBLE_COMPLEX, shape: [1], data: [[1, 2]], attrs: {units: days since 1990-01-01}}')
    path = create(at, lines)
    if "[1.0, 2.0]" not in run("dump", path, "/z")[1]:
        wrong.append("a complex number is shown as a date")
    table = os.path.join(at, "t.csv")
    for i, (kind, v, calendar) in enumerate(rows):
        if os.path.exists(table):
            os.unlink(table)
        status, _, err = run("export", "--root=/t%d" % i, path, table)
        words = open(table, encoding="utf-8").read().split()[1:] if not status else []
        dates = 0
        for n, text in zip(v, words):
            if text[4:5] == "-" and text[:4].isdigit():
                dates += 1
                if abs(moment(text, calendar) - cftime.num2date(n, "days since 1990-01-01", calendar)) > \
                        datetime.timedelta(microseconds=20):
                    wrong.append("/t%d: %r is %s" % (i, n, text))
        if status or len(words) != len(v) or kind == "INT" and dates < len(v) or not dates:
            wrong.append("/t%d: %s %s %d dates of %d" % (i, err, calendar, dates, len(words)))
        shown = run("dump", path, "/t%d" % i)[1]
        if kind == "INT" and not all(w in shown for w in words):
            wrong.append("/t%d: dump shows other dates" % i)
        was = run("dump", "--raw", path, "/t%d" % i, text=False)[1]
        status, _, err = run("import", "-u", "-i", "/t%d" % i, table, path)
        if status or run("dump", "--raw", path, "/t%d" % i, text=False)[1] != was:
            wrong.append("/t%d: other bytes after import: %s" % (i, err))
        os.unlink(table)
        run("export", "--numbers", "--root=/t%d" % i, path, table)
        if any(w[4:5] == "-" and w[:4].isdigit() for w in open(table, encoding="utf-8").read().split()[1:]):
            wrong.append("/t%d: --numbers writes dates" % i)
    for name, want in (("/scaled", ["1", "2"]), ("/missing", ["1990-01-02", "-9"])):
        os.unlink(table)
        run("export", "--root=" + name, path, table)
        if open(table, encoding="utf-8").read().split()[1:] != want:
            wrong.append("%s: %s" % (name, open(table, encoding="utf-8").read()))
    with open(table, "w", encoding="utf-8") as f:
        f.write("v\n1990-02-30\n1\n")
    status, _, err = run("import", "-u", "-i", "/missing", table, path)
    if status == 0 or "t.csv" not in err or "1990-02-30" not in err:
        wrong.append("no such day: %d %s" % (status, err))
    return wrong[:10], "dates of dumps and tables, and numbers again"


MEANT = (  # two datasets, and what `diff --values` prints of them; None: nothing
    ("{dataset: SHORT, data: [0, 150, -9], attrs: {scale_factor: 0.01, add_offset: 20, _FillValue: -9}}",
     "{dataset: DOUBLE, data: [20, 21.5, .nan]}", None),
    ("{dataset: SHORT, data: [0, 150, -9], attrs: {scale_factor: 0.01, add_offset: 20, _FillValue: -9}}",
     "{dataset: FLOAT, data: [20, 21.5, 1e10], attrs: {missing_value: 1e10}}", None),
    ("{dataset: SHORT, data: [0, 150, 3], attrs: {scale_factor: 0.01, add_offset: 20}}",
     "{dataset: DOUBLE, data: [20, 21.5, 20.04]}", "[2]: 20.03 -> 20.04"),
    ("{dataset: INT, data: [1, -9], attrs: {_FillValue: -9}}", "{dataset: INT, data: [1, 5]}", "[1]: nan -> 5.0"),
    ("{dataset: INT, data: [1, -9], attrs: {_FillValue: -9}}",
     "{dataset: INT, data: [1, 99], attrs: {valid_max: 9}}", None),
    ("{dataset: INT64_T, data: [9007199254740993, -9], attrs: {_FillValue: -9}}",
     "{dataset: INT64_T, data: [9007199254740992, -8], attrs: {_FillValue: -8}}",
     "[0]: 9007199254740993 -> 9007199254740992"),
    ('{dataset: INT, data: [0, 36], attrs: {units: "hours since 1990-01-02"}}',
     '{dataset: DOUBLE, data: [1, 2.5], attrs: {units: "days since 1990-01-01", calendar: gregorian}}', None),
    ('{dataset: INT, data: [0, 36], attrs: {units: "hours since 1990-01-02"}}',
     '{dataset: DOUBLE, data: [1, 2.25], attrs: {units: "days since 1990-01-01"}}', "[1]: 36.0 -> 30.0"),
    ('{dataset: INT, data: [59, 60], attrs: {units: "days since 2001-01-01", calendar: noleap}}',
     '{dataset: INT, data: [59, 60], attrs: {units: "days since 2001-01-01", calendar: standard}}', None),
    ('{dataset: INT, data: [58, 59], attrs: {units: "days since 2001-01-01", calendar: noleap}}',
     '{dataset: INT, data: [57, 59], attrs: {units: "days since 2001-01-01", calendar: 360_day}}',
     "[1]: 59.0 -> nan"),
    ('{dataset: INT, data: [5], attrs: {units: kg}}', '{dataset: INT, data: [5], attrs: {units: g}}',
     "attribute units"),
    ('{dataset: INT, data: [5], attrs: {units: "days since 1990-01-01"}}',
     '{dataset: INT, data: [5], attrs: {units: "days since 1990-01-02", calendar: lunar}}', "attribute units"),
)


def meant(at):
    """What `diff --values` says of pairs."""
    wrong = []
    paths = [os.path.join(at, name) for name in ("one.drep", "two.drep")]
    for one, two, want in MEANT:
        for path, line in zip(paths, (one, two)):
            os.replace(create(at, ["v: " + line]), path)
        status, out, err = run("diff", "--values", "-n9", *paths)
        if err or status != (want is not None) or (want or "") not in out:
            wrong.append("%s\n# %s\n# %d %s%s" % (one, two, status, out, err))
        status, out, err = run("diff", *paths)
        if status != 1 or err:
            wrong.append("without --values: %s %s %d %s" % (one, two, status, err))
    return wrong, "pairs of datasets by what they mean"


def axes(at):
    """Ticks of a picture stand at round dates."""
    wrong = []
    for unit, n, step in (("seconds", 50, 1), ("hours", 24, 1), ("days", 20, 1), ("days", 300, 1), ("days", 40, 400),
                          ("days", 40, 90000)):
        schema = os.path.join(at, "y.yaml")
        times = [step * k for k in range(n)]
        lines = ["dims: {time: %d}" % n, "root:",
                 '  time: {dataset: DOUBLE, dims: [time], data: %s, attrs: {units: "%s since 1999-12-01"}}'
                 % (times, unit), "  v: {dataset: DOUBLE, dims: [time], data: %s}" % times]
        with open(schema, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        path, picture = os.path.join(at, "y%s%d.drep" % (unit, step)), os.path.join(at, "y.svg")
        if os.path.exists(path):
            os.unlink(path)
        assert run("create", "-s", schema, path)[0] == 0
        out = run("plot", "--preview", path, "/v")[1]
        ends = out.splitlines()[-1].split()
        if "1999-12-01" not in out or ends[0] == "0" or ends[-1] == str(times[-1]):
            wrong.append("%s, %d: %s" % (unit, step, out[-200:]))
        if "1999-12-01" in run("plot", "--preview", "--raw", path, "/v")[1].replace("since 1999-12-01", ""):
            wrong.append("--raw shows dates")
        if os.path.exists(os.path.join(os.path.dirname(DATAREP), "datarep-plot.so")):  # built with Cairo
            status, _, err = run("plot", path, "/v", "-o", picture)
            if status:
                wrong.append(err)
    return wrong, "axes of time"


def main():
    cases = (dates, no_dates, numbers, tables, meant, axes)
    failed = 0
    print("1..%d" % len(cases))
    for i, fn in enumerate(cases, 1):
        if fn in (dates, tables) and not cftime:
            print("ok %d - %s # SKIP no cftime (Debian: python3-cftime)" % (i, fn.__name__))
            continue
        with tempfile.TemporaryDirectory() as at:
            wrong, text = fn(at)
        failed += bool(wrong)
        print("%sok %d - %s" % ("not " if wrong else "", i, text))
        for line in wrong:
            print("# " + line)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
