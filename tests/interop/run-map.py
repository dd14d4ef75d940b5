#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-map - pictures of images over longitude and latitude: degrees as long on both axes, coastlines where
GSHHG has them.  h5py reads the coastlines, and the points that `plot` draws are taken from its SVG.
TAP on stdout.
"""
import os
import re
import sys

import cases
from cases import Absent, case, check, must, run

try:
    import h5py
    import numpy as np
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

COAST = "/usr/share/gmt-gshhg/binned_GSHHS_%s.nc"


def make(path, lat, lon, units=("degrees_north", "degrees_east"), attrs="units: K"):
    """A container with one image; its coordinates are of the same names as its dimensions."""
    rows = ", ".join("[%s]" % ", ".join("%g" % (y + x / 10) for x in lon) for y in lat)
    schema = path + ".yaml"
    with open(schema, "w", encoding="utf-8") as f:
        f.write("dims: {lat: %d, lon: %d}\nroot:\n" % (len(lat), len(lon)))
        for name, at, unit in zip(("lat", "lon"), (lat, lon), units):
            f.write("  %s: {dataset: DOUBLE, dims: [%s], data: [%s], attrs: {units: %s}}\n"
                    % (name, name, ", ".join(map(str, at)), unit))
        f.write("  v: {dataset: FLOAT, dims: [lat, lon], data: [%s], attrs: {%s}}\n" % (rows, attrs))
    must("create", "-s", schema, path)


class Picture:
    """What an SVG shows: its frame, and the points of its coastlines."""

    def __init__(self, drep, *options):
        svg = drep + ".svg"
        must("plot", drep, "/v", "-o", svg, *options)
        with open(svg, encoding="utf-8") as f:
            text = f.read()
        self.size = tuple(int(float(re.search(r'<svg[^>]* %s="([\d.]+)' % key, text)[1])) for key in ("width", "height"))
        frames = re.findall(r'fill:none;stroke-width:1;[^>]*d="M ([\d.]+) ([\d.]+) L ([\d.]+) [\d.]+ L [\d.]+ ([\d.]+) ', text)
        boxes = sorted((tuple(map(float, f)) for f in frames), key=lambda f: f[0] - f[2])
        self.left, self.top, self.right, self.bottom = boxes[0]
        self.lines = [[tuple(map(float, p)) for p in re.findall(r"[ML] (-?[\d.]+) (-?[\d.]+)", path)]
                      for path in re.findall(r'stroke-width:0.8;[^>]* d="([^"]+)"', text)]

    def aspect(self):
        return (self.right - self.left) / (self.bottom - self.top)


def segments(name, level_max=2):
    """[(polygon's area, level, longitudes, latitudes)] of a file in GSHHG's form."""
    with h5py.File(name) as f:
        side = f["Bin_size_in_minutes"][0] / 60
        across = int(f["N_bins_in_360_longitude_range"][0])
        first, count = f["Id_of_first_segment_in_a_bin"][()], f["N_segments_in_a_bin"][()]
        info, start = f["Embedded_npts_levels_exit_entry_for_a_segment"][()], f["Id_of_first_point_in_a_segment"][()]
        ice, ident, area = f["Embedded_ANT_flag"][()], f["Id_of_GSHHS_ID"][()], f["The_km_squared_area_of_polygons"][()]
        x = f["Relative_longitude_from_SW_corner_of_bin"][()].astype("u2")
        y = f["Relative_latitude_from_SW_corner_of_bin"][()].astype("u2")
    for row, (begin, n) in enumerate(zip(first, count)):
        west, south = row % across * side, 90 - (row // across + 1) * side
        for s in range(begin, begin + n):
            level, points = info[s] >> 6 & 7, slice(start[s], start[s] + (info[s] >> 9))
            if level <= level_max and ice[s] <= 1:
                yield abs(area[ident[s]]), level, west + x[points] / 65535 * side, south + y[points] / 65535 * side


def expected(picture, name, box):
    """The points inside the frame, in pixels, of all coasts that are large enough for the map."""
    west, east, south, north = box
    share = (min(east - west, 360) / 360) ** 2
    scale_x = (picture.right - picture.left) / (east - west)
    scale_y = (picture.bottom - picture.top) / (north - south)
    for area, level, lon, lat in segments(name):
        if area < share * (20000 if level > 1 else 1000):
            continue
        for turn in (-720, -360, 0, 360, 720):
            at = lon + turn
            inside = (at > west) & (at < east) & (lat > south) & (lat < north)
            yield from zip(picture.left + (at[inside] - west) * scale_x, picture.bottom - (lat[inside] - south) * scale_y)


def compare(drep, name, box):
    p = Picture(drep, "--coast=" + name)
    drawn = {(round(x), round(y)) for line in p.lines for x, y in line}
    near = {(x + i, y + j) for x, y in drawn for i in (-1, 0, 1) for j in (-1, 0, 1)}
    want = {(round(x), round(y)) for x, y in expected(p, name, box)}
    check(len(want) > 50, "only %d points are expected", len(want))
    lost = [q for q in want if q not in near]
    check(not lost, "%d of %d points are not drawn: %r", len(lost), len(want), lost[:5])
    inside = [q for q in drawn if p.left + 2 < q[0] < p.right - 2 and p.top + 2 < q[1] < p.bottom - 2]
    wide = {(x + i, y + j) for x, y in want for i in (-1, 0, 1) for j in (-1, 0, 1)}
    odd = [q for q in inside if q not in wide]
    check(not odd, "%d of %d points are no coast: %r", len(odd), len(inside), odd[:5])
    check(abs(p.aspect() - (box[1] - box[0]) / (box[3] - box[2])) < 0.03, "a degree is %g times as long to the side",
          p.aspect() / ((box[1] - box[0]) / (box[3] - box[2])))
    return p


def needs(letter):
    name = COAST % letter
    if not os.path.exists(name):
        raise Absent("%s is not there: gmt-gshhg-low" % name)
    return name


@case
def whole_world(d):
    """the world from 0 to 360 and from -180 to 180 degrees, rows from the south and from the north"""
    name = needs("l")
    for lon in (np.arange(2, 360, 4), np.arange(-178, 180, 4)):
        for lat in (np.arange(-88, 90, 4), np.arange(88, -90, -4)):
            drep = d + "/%d%d.drep" % (lon[0], lat[0])
            make(drep, lat, lon)
            compare(drep, name, (lon[0] - 2, lon[-1] + 2, -90, 90))


@case
def regions(d):
    """regions, also across the date line and with longitudes beyond 360 degrees"""
    name = needs("i")
    for n, (west, east, south, north) in enumerate(((-12, 30, 34, 60), (160, 220, -50, -10), (340, 380, 40, 60),
                                                    (-200, -150, 50, 72))):
        lat, lon = np.arange(south + 1, north, 2), np.arange(west + 1, east, 2)
        drep = d + "/%d.drep" % n
        make(drep, lat, lon)
        compare(drep, name, (west, east, south, north))


@case
def spelled(d):
    """all spellings of the units; other units make no map"""
    name = needs("l")
    lat, lon = np.arange(-88, 90, 8), np.arange(4, 360, 8)
    for n, (north, east) in enumerate((("degree_north", "degree_east"), ("degreeN", "degreesE"), ("degrees_N", "degree_E"))):
        make(d + "/%d.drep" % n, lat, lon, (north, east))
        check(Picture(d + "/%d.drep" % n, "--coast=" + name).lines, "%s, %s: no map", north, east)
    make(d + "/km.drep", lat, lon, ("km", "km"))
    check(not Picture(d + "/km.drep", "--coast=" + name).lines, "km: a map")
    make(d + "/turned.drep", lat, lon, ("degrees_east", "degrees_north"))
    check(not Picture(d + "/turned.drep", "--coast=" + name).lines, "turned axes: a map")
    check(not Picture(d + "/0.drep", "--coast=none").lines, "none: coastlines")


@case
def installed(d):
    """without --coast those of the system; a container serves as well as GSHHG's file"""
    name = needs("l")
    make(d + "/a.drep", np.arange(-88, 90, 4), np.arange(2, 360, 4))
    must("import", name, d + "/coast.drep")
    found = [Picture(d + "/a.drep", *options).lines for options in ((), ("--coast=" + name,), ("--coast=" + d + "/coast.drep",))]
    check(found[0] and found[0] == found[1] == found[2], "they differ")
    size = Picture(d + "/a.drep", "--size=500x500").size
    check(size == (500, 500), "a picture of %r", size)


@case
def refused(d):
    """files that hold no coastlines, and damaged ones, are errors that name them"""
    make(d + "/a.drep", np.arange(-88, 90, 4), np.arange(2, 360, 4))
    for name in (d + "/a.drep", d + "/absent"):
        status, out, err = run("plot", d + "/a.drep", "/v", "-o", d + "/a.png", "--coast=" + name)
        check(status > 0 and os.path.basename(name) in err, "%s: %d: %s", name, status, out + err)
    check(not os.path.exists(d + "/a.png"), "a refused picture was made")
    rng = np.random.default_rng(1)
    fields = ("Id_of_first_segment_in_a_bin", "N_segments_in_a_bin", "Id_of_first_point_in_a_segment", "Id_of_GSHHS_ID",
              "Embedded_npts_levels_exit_entry_for_a_segment", "N_bins_in_360_longitude_range", "Bin_size_in_minutes")
    source = needs("c")
    for n, field in enumerate(fields):
        bad = d + "/%d.nc" % n
        with open(source, "rb") as a, open(bad, "wb") as b:
            b.write(a.read())
        with h5py.File(bad, "r+") as f:
            kind = f[field].dtype
            f[field][...] = rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, f[field].shape, kind)
        status, out, err = run("plot", d + "/a.drep", "/v", "-o", d + "/a.png", "--coast=" + bad)
        check(status in (0, 4), "%s: status %d: %s", field, status, out + err)


@case
def titles(d):
    """a title says where the slice is: the date, the level, the place"""
    with open(d + "/t.yaml", "w", encoding="utf-8") as f:
        f.write("""
dims: {time: 2, level: 2, lat: 3}
root:
  time: {dataset: DOUBLE, dims: [time], data: [0, 31], attrs: {units: days since 2001-01-01}}
  level: {dataset: DOUBLE, dims: [level], data: [10, 850], attrs: {units: hPa, long_name: pressure}}
  lat: {dataset: DOUBLE, dims: [lat], data: [-30, 0, 30], attrs: {units: degrees_north}}
  v: {dataset: DOUBLE, dims: [time, level, lat], attrs: {standard_name: air_temperature},
    data: [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]]}
""")
    must("create", "-s", d + "/t.yaml", d + "/t.drep")
    for part, want in (("[1,1,:]", "air temperature, 2001-02-01, pressure 850 hPa"),
                       ("[:,0,2]", "air temperature, pressure 10 hPa, 30\N{DEGREE SIGN}N")):
        out = must("plot", "--preview", "-w", "100", d + "/t.drep", "/v" + part)
        check(want in out, "%s: %s", want, out)


def main():
    if not os.path.exists(os.path.join(os.path.dirname(cases.DATAREP), "datarep-plot.so")):
        print("1..0 # SKIP built without Cairo")
        return 0
    return cases.main()


if __name__ == "__main__":
    sys.exit(main())
