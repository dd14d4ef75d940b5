/* progress.c - what is done, how fast, and how long it will still take. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/progress.h"
#include "base/clock.h"
#include "tools/host/color.h"
#include "tools/host/limit.h"
#include "tools/host/statusline.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define QUIET_TIME 1.0 /* seconds before the first bar */
#define STEP_TIME 0.1  /* between two */
#define BAR_MAX 40     /* columns */

static struct {
    const char *what;
    enum progress_unit unit;
    uint64_t total, done;
    double begun, next;
    bool terminal, utf8;
} work;

void progress_begin(const char *what, enum progress_unit unit, uint64_t total)
{
    const char *term = getenv("TERM");

    statusline_hide();
    work.what = what;
    work.unit = unit;
    work.total = total;
    work.done = 0;
    work.begun = now_seconds();
    work.next = work.begun + QUIET_TIME;
    work.terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    work.utf8 = color_utf8();
}

/* ------------------------------------------------------------------ the line */

/* "1.25 GB", "3,000" -> at most 12 columns. */
static void put_amount(char *text, size_t size, double amount, enum progress_unit unit)
{
    static const char *const names[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    static const char *const counts[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;

    while (amount >= 999.5 && i + 1 < sizeof names / sizeof *names) {
        amount /= 1000;
        i++;
    }
    snprintf(text, size, "%.*f%s%s", i == 0 || amount >= 99.95 ? 0 : 1, amount,
             unit == PROGRESS_BYTES ? " " : "", unit == PROGRESS_BYTES ? names[i] : counts[i]);
}

static void put_time(char *text, size_t size, double seconds)
{
    unsigned long s = seconds < 0 ? 0 : seconds > 359999 ? 359999 : (unsigned long)(seconds + 0.5);

    if (s >= 3600)
        snprintf(text, size, "%lu:%02lu:%02lu left", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, size, "%lu:%02lu left", s / 60, s % 60);
}

static int columns(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

/* Eighths of a column where the terminal has them. */
static void put_bar(char *text, double share, int width)
{
    static const char *const eighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    int parts = (int)(share * width * 8), n = 0, i;

    for (i = 0; i < width; i++, parts -= 8) {
        if (work.utf8)
            n += sprintf(text + n, "%s", eighths[parts <= 0 ? 0 : parts < 8 ? parts : 8]);
        else
            text[n++] = parts >= 8 ? '#' : '.';
    }
    text[n] = '\0';
}

static void show_line(double time)
{
    double took = time - work.begun, rate = took > 0 ? (double)work.done / took : 0;
    double share = work.total ? (double)work.done / (double)work.total : 0;
    char done[32], total[40] = "", speed[32], left[40] = "", tail[160], bar[3 * BAR_MAX + 1] = "";
    char percent[16] = "";
    int width = columns() - 1, room;

    share = share > 1 ? 1 : share;
    put_amount(done, sizeof done, (double)work.done, work.unit);
    put_amount(speed, sizeof speed, rate, work.unit);
    if (work.total) {
        memcpy(total, " of ", 5);
        put_amount(total + 4, sizeof total - 4, (double)work.total, work.unit);
        snprintf(percent, sizeof percent, "%3d%%  ", (int)(share * 100));
        if (work.done > 0)
            put_time(left, sizeof left, ((double)work.total - (double)work.done) / rate);
    }
    snprintf(tail, sizeof tail, "%s%s  %s/s  %s", done, total, speed, left);
    room = width - (int)(strlen(work.what) + 2 + strlen(percent) + 1 + strlen(tail));
    if (work.total && room >= 8)
        put_bar(bar, share, room < BAR_MAX ? room : BAR_MAX);
    statusline_show("%s  %s%s%.*s", work.what, bar, percent,
                    room < 0 && (int)strlen(tail) + room > 0 ? (int)strlen(tail) + room
                                                             : (int)strlen(tail),
                    tail);
}

/* ----------------------------------------------------------------- the work */

int progress_set(uint64_t units)
{
    double time;

    work.done = units;
    if (work.terminal) {
        time = now_seconds();
        if (time >= work.next) {
            show_line(time);
            work.next = time + STEP_TIME;
        }
    }
    return limit_stopped() ? DREP_ERR_STOPPED : 0;
}

int progress_add(uint64_t units)
{
    return progress_set(work.done + units);
}

void progress_end(void)
{
    statusline_hide();
    work.terminal = false;
}
