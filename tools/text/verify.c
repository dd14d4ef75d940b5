/* verify.c - compares what was written with what is read back. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/verify.h"
#include "tools/text/array.h"
#include "tools/text/printer.h"
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int verify_init(struct verify *v, drep_file *file)
{
    *v = (struct verify){.how = {.abs = -1, .rel = -1, .ulp = -1, .exact = true}};
    return printer_init(&v->printer, file, false);
}

void verify_release(struct verify *v)
{
    printer_release(&v->printer);
}

static void hex_text(const drep_type *type, const void *at, char *text, size_t size)
{
    const unsigned char *bytes = at;
    int64_t i, n = drep_type_size(type);
    size_t len = 0;

    *text = '\0';
    for (i = 0; i < n && len + 3 < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%02x", bytes[i]);
}

/* A value as people read it; as its bytes where it cannot be read so. */
static void readable_value(const struct verify *v, const drep_type *type, const void *at,
                           char *text, size_t size)
{
    drep_type *shown = NULL;
    char *made = NULL;
    void *buf = NULL;
    int err = printer_type(&v->printer, type, PRINTER_NO_DATAREP, &shown);

    if (!err && !drep_type_equal(shown, type)) {
        buf = calloc(1, (size_t)drep_type_extent(shown) + 1);
        err = buf ? drep_convert(shown, buf, type, at, 1, NULL) : DREP_ERR_NOMEM;
        at = err ? at : buf;
    }
    if (!err)
        err = element_text(&v->printer, shown, at, &made);
    if (err)
        hex_text(type, at, text, size);
    else
        snprintf(text, size, "%s", made);
    if (buf && !err && drep_type_variable(shown))
        drep_vlen_free(shown, 1, buf);
    free(buf);
    free(made);
    drep_type_free(shown);
}

void verify_text(const struct verify *v, const struct difference *gap, char *text, size_t size)
{
    char a[120], b[120];

    readable_value(v, gap->a_type, gap->a, a, sizeof a);
    readable_value(v, gap->b_type, gap->b, b, sizeof b);
    if (strcmp(a, b) == 0) {
        hex_text(gap->a_type, gap->a, a, sizeof a);
        hex_text(gap->b_type, gap->b, b, sizeof b);
    }
    snprintf(text, size, "%s: %s was written, %s is read back", gap->part, a, b);
}

int64_t verify_compare(const struct verify *v, const drep_type *type, int64_t n, const void *ours,
                       const void *theirs, char *text, size_t size)
{
    struct comparison how = v->how;
    int64_t i, step = drep_type_extent(type);
    const char *a = ours, *b = theirs;
    struct difference gap;

    if (n == 0 || memcmp(a, b, (size_t)(n * step)) == 0)
        return -1;
    how.a = how.b = &v->printer;
    for (i = 0; i < n; i++, a += step, b += step) {
        if (memcmp(a, b, (size_t)step) == 0 || !compare_element(&how, type, a, type, b, &gap))
            continue;
        verify_text(v, &gap, text, size);
        return i;
    }
    return -1;
}
