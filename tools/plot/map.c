/* map.c - images over longitude and latitude.
 *
 * GSHHG cuts the coastlines of the world into square bins, numbered row by row from the north-west
 * corner; a segment is a stretch of coast in one bin, its points are shares of the bin's side. */
/* SPDX-License-Identifier: MIT */
#include "tools/plot/map.h"
#include "base/vec.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COAST_DIR "/usr/share/gmt-gshhg/"
#define DETAIL_DEGREES 40 /* a map of less than this has the finer coastlines */
#define SHARE 65535.0     /* of a bin's side */
#define LEVELS 2          /* coasts of land and of lakes; islands in lakes are too small */
#define ISLAND 1000.0     /* km2 that are worth a line on a map of the world; */
#define LAKE 20000.0      /* on smaller maps, in proportion, less */

/* ------------------------------------------------------------------- axes */

static bool one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

enum map_axis map_axis_of(const struct series *coordinates)
{
    static const char *const north[] = {"degrees_north", "degree_north", "degree_N", "degrees_N",
                                        "degreeN",       "degreesN",     NULL};
    static const char *const east[] = {"degrees_east", "degree_east", "degree_E", "degrees_E",
                                       "degreeE",      "degreesE",    NULL};

    if (!coordinates->units)
        return MAP_NO_AXIS;
    if (one_of(coordinates->units, north))
        return MAP_LATITUDE;
    return one_of(coordinates->units, east) ? MAP_LONGITUDE : MAP_NO_AXIS;
}

void map_degrees(char *text, size_t size, double at, enum map_axis which)
{
    const char *side = "";

    if (which == MAP_LONGITUDE) {
        at = remainder(at, 360);
        side = at > 0 && at < 180 ? "E" : at < 0 && at > -180 ? "W" : "";
    } else {
        side = at > 0 ? "N" : at < 0 ? "S" : "";
    }
    snprintf(text, size, "%.10g\302\260%s", fabs(at), side);
}

/* The step between ticks: degrees that divide a circle as people do. */
static double degrees_step(double range, int most)
{
    static const double steps[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 90};
    size_t k = 0;

    while (k + 1 < sizeof steps / sizeof *steps && range / steps[k] > most)
        k++;
    return steps[k];
}

void map_ticks(struct plot_axis *axis, enum map_axis which, int most)
{
    double low = fmin(axis->from, axis->to), high = fmax(axis->from, axis->to);
    double step = degrees_step(high - low, most < PLOT_TICKS ? most : PLOT_TICKS - 1), k;

    axis->ticks = 0;
    for (k = ceil(low / step - 1e-6); k * step <= high + step * 1e-6; k++) {
        struct plot_tick *tick = &axis->tick[axis->ticks];

        if (axis->ticks++ == PLOT_TICKS - 1)
            return;
        tick->at = k * step;
        map_degrees(tick->text, sizeof tick->text, tick->at, which);
    }
}

/* -------------------------------------------------------------- coastlines */

const char *map_coast_installed(double degrees)
{
    static const char *const fine[] = {COAST_DIR "binned_GSHHS_h.nc", COAST_DIR "binned_GSHHS_i.nc",
                                       COAST_DIR "binned_GSHHS_l.nc", NULL};
    static const char *const coarse[] = {COAST_DIR "binned_GSHHS_l.nc",
                                         COAST_DIR "binned_GSHHS_c.nc", NULL};
    const char *const *name = degrees < DETAIL_DEGREES ? fine : coarse;

    while (*name && access(*name, R_OK) != 0)
        name++;
    return *name;
}

/* The arrays of a file, each malloc'ed. */
struct bins {
    const char *name;
    drep_file *file;
    int64_t nbins, nsegments, npoints, across; /* across: bins from west to east */
    double side;                               /* of a bin, degrees */
    int32_t *first, *count;                    /* of a bin: its segments */
    int32_t *info, *start, *ice, *polygon;     /* of a segment */
    double *area;                              /* of a polygon, km2 */
    int64_t npolygons;
    double least;   /* share of ISLAND and LAKE that is shown */
    int32_t *x, *y; /* of a point */
};

/* Reads a whole list of numbers of `size` bytes; *n: its length.  NULL after saying what is wrong.
 */
static void *read_list(const struct bins *b, const char *path, const drep_type *type, size_t size,
                       int64_t *n)
{
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds = NULL;
    void *out = NULL;
    int err = drep_dataset_open(b->file, path, &ds);

    if (!err)
        err = drep_dataset_info(ds, &info);
    if (!err && info.rank == 1 && info.count < INT32_MAX / 16) {
        *n = info.count;
        out = malloc((size_t)info.count * size + 1);
        err = out ? drep_read(ds, NULL, type, out, NULL) : DREP_ERR_NOMEM;
    }
    if (err == DREP_ERR_NOMEM)
        tool_no_memory();
    else if (err)
        tool_fail(b->name, NULL, err);
    else if (!out)
        tool_say(b->name, path, "not a list of numbers");
    drep_dataset_close(ds);
    if (err) {
        free(out);
        out = NULL;
    }
    return out;
}

static int32_t *read_array(const struct bins *b, const char *path, int64_t *n)
{
    return read_list(b, path, DREP_INT32_T, sizeof(int32_t), n);
}

static int32_t *read_equal(const struct bins *b, const char *path, int64_t want)
{
    int64_t n = 0;
    int32_t *out = read_array(b, path, &n);

    if (!out || n == want)
        return out;
    tool_say(b->name, path, "%lld numbers, %lld expected", (long long)n, (long long)want);
    free(out);
    return NULL;
}

static bool read_number(const struct bins *b, const char *path, int64_t *out)
{
    int32_t *number = read_equal(b, path, 1);
    bool found = number;

    *out = found ? *number : 0;
    free(number);
    return found;
}

static bool bins_read(struct bins *b)
{
    int64_t minutes;
    bool round;

    if (!read_number(b, "/Bin_size_in_minutes", &minutes) ||
        !read_number(b, "/N_bins_in_360_longitude_range", &b->across))
        return false;
    b->side = (double)minutes / 60;
    b->first = read_array(b, "/Id_of_first_segment_in_a_bin", &b->nbins);
    b->count = b->first ? read_equal(b, "/N_segments_in_a_bin", b->nbins) : NULL;
    b->info = b->count
                  ? read_array(b, "/Embedded_npts_levels_exit_entry_for_a_segment", &b->nsegments)
                  : NULL;
    b->start = b->info ? read_equal(b, "/Id_of_first_point_in_a_segment", b->nsegments) : NULL;
    b->ice = b->start ? read_equal(b, "/Embedded_ANT_flag", b->nsegments) : NULL;
    b->polygon = b->ice ? read_equal(b, "/Id_of_GSHHS_ID", b->nsegments) : NULL;
    b->area = b->polygon ? read_list(b, "/The_km_squared_area_of_polygons", DREP_DOUBLE,
                                     sizeof(double), &b->npolygons)
                         : NULL;
    b->x = b->area ? read_array(b, "/Relative_longitude_from_SW_corner_of_bin", &b->npoints) : NULL;
    b->y = b->x ? read_equal(b, "/Relative_latitude_from_SW_corner_of_bin", b->npoints) : NULL;
    if (!b->y)
        return false;
    round = b->across >= 1 && b->across <= 36000 && fabs((double)b->across * b->side - 360) <= 1e-6;
    if (!round)
        tool_say(b->name, NULL, "not coastlines in bins that go around the world");
    return round;
}

static void bins_release(struct bins *b)
{
    free(b->first);
    free(b->count);
    free(b->info);
    free(b->start);
    free(b->ice);
    free(b->polygon);
    free(b->area);
    free(b->x);
    free(b->y);
}

static bool coast_add(struct plot_coast *c, double x, double y)
{
    if (VEC_ROOM(c->point, c->n, c->room, 1))
        return false;
    c->point[c->n++] = (struct plot_point){x, y};
    return true;
}

/* True if a coast is that of too small a thing for the map. */
static bool too_small(const struct bins *b, int64_t segment, int level)
{
    int64_t id = b->polygon[segment];
    double least = b->least * (level > 1 ? LAKE : ISLAND);

    return id >= 0 && id < b->npolygons && fabs(b->area[id]) < least;
}

/* Adds one segment; false: no memory.  A number from the file that cannot be is left out. */
static bool add_segment(struct plot *p, const struct bins *b, int64_t segment, double west,
                        double south)
{
    int64_t first = b->start[segment], n = b->info[segment] >> 9, i;
    int level = b->info[segment] >> 6 & 7;

    /* The edge of the ice is the coast of Antarctica, not the ground below it. */
    if (level > LEVELS || b->ice[segment] > 1 || first < 0 || n < 2 || first > b->npoints ||
        n > b->npoints - first || too_small(b, segment, level))
        return true;
    for (i = first; i < first + n; i++)
        if (!coast_add(&p->coast, west + (double)(b->x[i] & 65535) / SHARE * b->side,
                       south + (double)(b->y[i] & 65535) / SHARE * b->side))
            return false;
    return coast_add(&p->coast, NAN, NAN);
}

static bool overlap(const struct plot_axis *axis, double low, double high)
{
    return fmin(axis->from, axis->to) <= high && fmax(axis->from, axis->to) >= low;
}

/* Adds the segments of a bin, wherever the picture shows it: longitudes may go round. */
static bool add_bin(struct plot *p, const struct bins *b, int64_t bin)
{
    double west = (double)(bin % b->across) * b->side;
    double south = 90 - (double)(bin / b->across + 1) * b->side, turn;
    int64_t i, first = b->first[bin], n = b->count[bin];

    if (first < 0 || n < 0 || first > b->nsegments || n > b->nsegments - first ||
        !overlap(&p->y, south, south + b->side))
        return true;
    for (turn = -720; turn <= 720; turn += 360) {
        if (!overlap(&p->x, west + turn, west + turn + b->side))
            continue;
        for (i = first; i < first + n; i++)
            if (!add_segment(p, b, i, west + turn, south))
                return false;
    }
    return true;
}

int map_coast(struct plot *p, const char *name, drep_file *file)
{
    double share = fmin(fabs(p->x.to - p->x.from), 360) / 360;
    struct bins b = {.name = name, .file = file, .least = share * share};
    int status = bins_read(&b) ? TOOL_FINE : TOOL_CORRUPT;
    int64_t bin;

    for (bin = 0; bin < b.nbins && status == TOOL_FINE; bin++)
        if (!add_bin(p, &b, bin))
            status = tool_no_memory();
    bins_release(&b);
    return status;
}
