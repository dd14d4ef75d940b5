/* diff_meaning.c - numbers compared by what they mean by the CF conventions. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/diff_meaning.h"

#include <datarep.h>

#include <math.h>
#include <string.h>

static bool is_single(const struct cf *cf, const struct printer *p, const drep_type *type)
{
    return cf_is_packed(cf) ? cf->single : num_format(p, type) == DREP_FORMAT_BINARY32;
}

void meaning_read(struct meaning *m, const struct comparison *how, const char *a_path,
                  const drep_type *a_type, const char *b_path, const drep_type *b_type)
{
    const struct cf_time *a = &m->a.time, *b = &m->b.time;

    *m = (struct meaning){.a_type = a_type, .b_type = b_type};
    if (!cf_applies(how->a, a_type) || !cf_applies(how->b, b_type))
        return;
    cf_read(&m->a, how->a, a_path, a_type);
    cf_read(&m->b, how->b, b_path, b_type);
    m->packed = cf_is_packed(&m->a) || cf_is_packed(&m->b);
    m->times = a->known && b->known &&
               (a->unit != b->unit || a->epoch != b->epoch || a->calendar != b->calendar);
    m->single = is_single(&m->a, how->a, a_type) || is_single(&m->b, how->b, b_type);
    m->active = !cf_is_plain(&m->a) || !cf_is_plain(&m->b) || m->times;
}

/* The moment in A's calendar of a moment in B's; false: A's has no such day. */
static bool turn_moment(const struct meaning *m, int64_t *moment)
{
    struct cf_date date = cf_date_of(&m->b.time, *moment), again;

    if (m->a.time.calendar == m->b.time.calendar)
        return true;
    *moment = cf_moment_of(&m->a.time, &date);
    again = cf_date_of(&m->a.time, *moment);
    return again.month == date.month && again.day == date.day;
}

/* Turns B's number into A's units; true if both are the same moment.  NaN: A has no number for
 * it. */
static bool same_moment(const struct meaning *m, double a, double *b)
{
    int64_t x, y;

    if (!cf_moment(&m->b.time, *b, &y) || !turn_moment(m, &y)) {
        *b = NAN;
        return false;
    }
    *b = cf_at(&m->a.time, y);
    return cf_moment(&m->a.time, a, &x) && x == y;
}

bool meaning_differs(struct meaning *m, const struct comparison *how, const void *a, const void *b,
                     struct difference *gap)
{
    struct double_pair x = num_value(how->a, m->a_type, a), y = num_value(how->b, m->b_type, b);
    bool no_a = cf_missing(&m->a, x), no_b = cf_missing(&m->b, y);
    double meant_a = no_a ? NAN : cf_number(&m->a, x.value);
    double meant_b = no_b ? NAN : cf_number(&m->b, y.value);

    if (no_a && no_b)
        return false;
    if (!no_a && !no_b && !m->packed && !m->times)
        return compare_element(how, m->a_type, a, m->b_type, b, gap);
    if (m->times && !no_a && !no_b && same_moment(m, meant_a, &meant_b))
        return false;
    if (m->single && !m->times) {
        m->meant.single[0] = (float)meant_a;
        m->meant.single[1] = (float)meant_b;
        return compare_element(how, DREP_FLOAT, &m->meant.single[0], DREP_FLOAT,
                               &m->meant.single[1], gap);
    }
    m->meant.real[0] = meant_a;
    m->meant.real[1] = meant_b;
    return compare_element(how, DREP_DOUBLE, &m->meant.real[0], DREP_DOUBLE, &m->meant.real[1],
                           gap);
}

bool meaning_is_time(const struct printer *p, const char *path)
{
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *dataset;
    drep_type *type = NULL;
    struct cf cf;
    bool is = false;

    if (drep_dataset_open(p->file, path, &dataset))
        return false;
    if (!drep_dataset_info(dataset, &info) &&
        !printer_type(p, info.type, info.datarep_number, &type))
        is = cf_read_time(&cf, p, path, type);
    drep_type_free(type);
    drep_dataset_close(dataset);
    return is;
}

bool meaning_has(const char *attribute, bool times)
{
    static const char *const names[] = {"_FillValue",  "missing_value", "valid_min", "valid_max",
                                        "valid_range", "scale_factor",  "add_offset"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(attribute, names[i]) == 0)
            return true;
    return times && (strcmp(attribute, "units") == 0 || strcmp(attribute, "calendar") == 0);
}
