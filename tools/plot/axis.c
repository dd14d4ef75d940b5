/* axis.c - ticks, their texts, and colour scales. */
/* SPDX-License-Identifier: MIT */
#include "tools/plot/axis.h"
#include "tools/plot/plot.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* count times 10 to the exponent: "0.25", "20000", "1.5e+09"; all ticks of an axis have as
 * many decimals, or as many digits as tell them from their neighbours. */
static void tick_text(char *text, size_t size, long count, int exponent)
{
    char exact[48];
    double value;

    /* By way of decimal text: 3 times 0.1 is 0.3. */
    snprintf(exact, sizeof exact, "%lde%d", count, exponent);
    value = strtod(exact, NULL);
    if (count == 0)
        snprintf(text, size, "0");
    else if (fabs(value) >= 1e7 || exponent < -5)
        snprintf(text, size, "%.*g",
                 (int)fmin(fmax(10, floor(log10(fabs(value))) - exponent + 1), 17), value);
    else
        snprintf(text, size, "%.*f", exponent < 0 ? -exponent : 0, value);
}

/* The step between ticks, 1, 2 or 5 times a power of ten: at most `most` of them. */
static void choose_step(double range, int most, long *factor, int *exponent)
{
    static const long factors[] = {1, 2, 5};
    double least = range / most;
    int k;

    *exponent = (int)floor(log10(least));
    for (k = 0; k < 3; k++) {
        *factor = factors[k];
        if ((double)*factor * pow(10, *exponent) >= least * (1 - 1e-9))
            return;
    }
    *factor = 1;
    (*exponent)++;
}

static void linear_ticks(struct plot_axis *axis, int most)
{
    double low = fmin(axis->from, axis->to), high = fmax(axis->from, axis->to), step;
    long factor, k;
    int exponent;
    struct plot_tick *tick;

    axis->ticks = 0;
    if (!(high > low))
        return;
    choose_step(fmin(high - low, DBL_MAX), most < PLOT_TICKS ? most : PLOT_TICKS - 1, &factor,
                &exponent);
    if (axis->whole && exponent < 0) {
        factor = 1;
        exponent = 0;
    }
    step = (double)factor * pow(10, exponent);
    /* Beyond this a tick has no number of its own. */
    if (fabs(low) / step > 1e15 || fabs(high) / step > 1e15)
        return;
    for (k = lrint(ceil(low / step - 1e-9)); axis->ticks < PLOT_TICKS; k++) {
        if ((double)k * step > high + step * 1e-9)
            return;
        tick = &axis->tick[axis->ticks++];
        tick->at = (double)k * step;
        tick_text(tick->text, sizeof tick->text, k * factor, exponent);
    }
}

static void log_ticks(struct plot_axis *axis, int most)
{
    double low = fmin(axis->from, axis->to), high = fmax(axis->from, axis->to);
    int first = (int)ceil(log10(low) - 1e-9), last = (int)floor(log10(high) + 1e-9), step, k;
    struct plot_tick *tick;

    if (last <= first) {
        linear_ticks(axis, most);
        return;
    }
    step = (last - first) / (most < PLOT_TICKS ? most : PLOT_TICKS - 1) + 1;
    axis->ticks = 0;
    for (k = first; k <= last && axis->ticks < PLOT_TICKS; k += step) {
        tick = &axis->tick[axis->ticks++];
        tick->at = pow(10, k);
        tick_text(tick->text, sizeof tick->text, 1, k);
    }
}

void plot_ticks(struct plot_axis *axis, int most)
{
    if (axis->log)
        log_ticks(axis, most);
    else
        linear_ticks(axis, most);
}

void plot_widen(struct plot_axis *axis, double share)
{
    double room;

    if (axis->log) {
        room = axis->to == axis->from ? 10 : pow(axis->to / axis->from, share);
        axis->from = fmax(axis->from / room, DBL_TRUE_MIN);
        axis->to = fmin(axis->to * room, DBL_MAX);
        return;
    }
    room = fmin(axis->to - axis->from, DBL_MAX) * share;
    /* A single value stands in the middle. */
    if (axis->to == axis->from)
        room = axis->to == 0 ? 1 : fabs(axis->to) / 2;
    axis->from = fmax(axis->from - room, -DBL_MAX);
    axis->to = fmin(axis->to + room, DBL_MAX);
}

/* ------------------------------------------------------------------ colours */

static const struct plot_colors scales[] = {
    {"viridis",
     10,
     {0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b,
      0xfde725}},
    {"balance",
     9,
     {0x15316b, 0x2f6fb5, 0x7fb0dc, 0xc9dfef, 0xf6f5f2, 0xf3d3bf, 0xde917a, 0xb9402f, 0x6b1119}},
    {"gray", 2, {0x101010, 0xffffff}},
    {"heat", 5, {0x000000, 0x7a0f12, 0xe0501b, 0xf7b733, 0xfffbe0}},
};

const struct plot_colors *plot_colors_find(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof scales / sizeof *scales; i++)
        if (strcmp(scales[i].name, name) == 0)
            return &scales[i];
    return NULL;
}
