/* extents.c - a set of bytes, held as sorted extents that never touch. */
/* SPDX-License-Identifier: MIT */
#include "space/extents.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"

#include <assert.h>
#include <string.h>

#define PAGE 128

struct extents_page {
    size_t n;
    uint64_t longest;
    struct extent e[PAGE];
};

/* A place in the set: entry i of page p; p == n of the set behind the last. */
struct page_place {
    size_t p, i;
};

void extents_release(struct extents *x)
{
    for (size_t i = 0; i < x->n; i++)
        mem_free(x->page[i]);
    mem_free(x->page);
    *x = (struct extents){0};
}

static void page_measure(struct extents_page *page)
{
    page->longest = 0;
    for (size_t i = 0; i < page->n; i++) {
        if (page->e[i].length > page->longest)
            page->longest = page->e[i].length;
    }
}

/* The last extent that begins at or before offset; 0 if none does. */
static bool place_before(const struct extents *x, uint64_t offset, struct page_place *at)
{
    size_t low = 0, high = x->n;
    const struct extents_page *page;

    while (low < high) { /* the first page that begins behind offset */
        size_t mid = low + (high - low) / 2;

        if (x->page[mid]->e[0].offset <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0)
        return false;
    page = x->page[at->p = low - 1];
    low = 0;
    high = page->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (page->e[mid].offset <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    at->i = low - 1;
    return true;
}

static struct extent *extent_at(const struct extents *x, struct page_place at)
{
    return &x->page[at.p]->e[at.i];
}

/* The place behind this one, or 0. */
static bool place_next(const struct extents *x, struct page_place *at)
{
    if (++at->i < x->page[at->p]->n)
        return true;
    at->i = 0;
    return ++at->p < x->n;
}

static int page_insert(struct extents *x, size_t p)
{
    struct extents_page **list, *page;

    if (VEC_ROOM(x->page, x->n, x->room, 1) || !(page = mem_alloc(sizeof(*page))))
        return DREP_ERR_NOMEM;
    list = x->page;
    memmove(list + p + 1, list + p, (x->n - p) * sizeof(*list));
    page->n = 0;
    page->longest = 0;
    list[p] = page;
    x->n++;
    return 0;
}

/* Makes room for one more entry in the page of `at`, which may move to the next page. */
static int make_room(struct extents *x, struct page_place *at)
{
    struct extents_page *page, *next;
    int err;

    if (at->p == x->n)
        return page_insert(x, at->p);
    if (x->page[at->p]->n < PAGE)
        return 0;
    err = page_insert(x, at->p + 1);
    if (err)
        return err;
    page = x->page[at->p];
    next = x->page[at->p + 1];
    /* Sets mostly grow at their end: then the full page stays full. */
    page->n = at->i == PAGE ? PAGE - 1 : PAGE / 2;
    next->n = PAGE - page->n;
    memcpy(next->e, page->e + page->n, next->n * sizeof(*next->e));
    page_measure(page);
    page_measure(next);
    if (at->i > page->n) {
        at->i -= page->n;
        at->p++;
    }
    return 0;
}

static int extent_insert(struct extents *x, struct page_place at, uint64_t offset, uint64_t length)
{
    int err = make_room(x, &at);
    struct extents_page *page;

    if (err)
        return err;
    page = x->page[at.p];
    memmove(page->e + at.i + 1, page->e + at.i, (page->n - at.i) * sizeof(*page->e));
    page->e[at.i] = (struct extent){offset, length};
    page->n++;
    if (length > page->longest)
        page->longest = length;
    return 0;
}

static void extent_erase(struct extents *x, struct page_place at)
{
    struct extents_page *page = x->page[at.p];
    uint64_t length = page->e[at.i].length;

    page->n--;
    memmove(page->e + at.i, page->e + at.i + 1, (page->n - at.i) * sizeof(*page->e));
    if (page->n == 0) {
        mem_free(page);
        x->n--;
        memmove(x->page + at.p, x->page + at.p + 1, (x->n - at.p) * sizeof(*x->page));
    } else if (length == page->longest) {
        page_measure(page);
    }
}

static void extent_resize(struct extents *x, struct page_place at, uint64_t offset, uint64_t length)
{
    struct extents_page *page = x->page[at.p];
    uint64_t old = page->e[at.i].length;

    page->e[at.i] = (struct extent){offset, length};
    if (length >= page->longest)
        page->longest = length;
    else if (old == page->longest)
        page_measure(page);
}

int extents_add(struct extents *x, uint64_t offset, uint64_t length, struct extent *whole)
{
    struct extent sum = {offset, length};
    struct page_place left = {0, 0}, right = {0, 0};
    int has_left = place_before(x, offset, &left);
    int has_right = has_left ? (right = left, place_next(x, &right)) : x->n > 0;
    struct extent *l = has_left ? extent_at(x, left) : NULL;
    struct extent *r = has_right ? extent_at(x, right) : NULL;
    int err = 0;

    if ((l && offset - l->offset < l->length) || (r && r->offset - offset < length))
        return DREP_ERR_FORMAT;
    if (r && r->offset - offset == length)
        sum.length += r->length;
    else
        r = NULL;
    if (l && offset - l->offset == l->length) {
        sum = (struct extent){l->offset, l->length + sum.length};
        if (r)
            extent_erase(x, right); /* behind left, so that stays where it is */
        extent_resize(x, left, sum.offset, sum.length);
    } else if (r) {
        extent_resize(x, right, sum.offset, sum.length);
    } else {
        if (has_left)
            left.i++;
        err = extent_insert(x, left, offset, length);
    }
    if (!err && whole)
        *whole = sum;
    return err;
}

int extents_take(struct extents *x, uint64_t offset, uint64_t length)
{
    struct page_place at = {0, 0};
    int found = place_before(x, offset, &at);
    struct extent e;
    uint64_t head, tail;
    int err;

    assert(found);
    if (!found)
        return DREP_ERR_FORMAT;
    e = *extent_at(x, at);
    head = offset - e.offset;
    assert(head <= e.length && length <= e.length - head);
    tail = e.length - head - length;
    if (head && tail) {
        struct page_place behind = {at.p, at.i + 1};

        err = extent_insert(x, behind, offset + length, tail);
        if (err)
            return err;
        place_before(x, e.offset, &at); /* its page may have been cut in two */
        extent_resize(x, at, e.offset, head);
    } else if (head) {
        extent_resize(x, at, e.offset, head);
    } else if (tail) {
        extent_resize(x, at, offset + length, tail);
    } else {
        extent_erase(x, at);
    }
    return 0;
}

bool extents_find(const struct extents *x, uint64_t offset, struct extent *out)
{
    struct page_place at;
    struct extent e;

    if (!place_before(x, offset, &at))
        return false;
    e = *extent_at(x, at);
    if (offset - e.offset >= e.length)
        return false;
    *out = e;
    return true;
}

bool extents_behind(const struct extents *x, uint64_t offset, struct extent *out)
{
    struct page_place at = {0, 0};
    const struct extent *e;

    if (x->n == 0)
        return false;
    if (place_before(x, offset, &at)) {
        e = extent_at(x, at);
        if (e->length <= offset - e->offset && !place_next(x, &at))
            return false;
    }
    *out = *extent_at(x, at);
    return true;
}

bool extents_hold(const struct extents *x, uint64_t offset, uint64_t length)
{
    struct extent e;

    return extents_find(x, offset, &e) && length <= e.length - (offset - e.offset);
}

bool extents_fit(const struct extents *x, uint64_t size, uint64_t align, uint64_t *offset)
{
    for (size_t p = 0; p < x->n; p++) {
        const struct extents_page *page = x->page[p];

        for (size_t i = 0; page->longest >= size && i < page->n; i++) {
            const struct extent *e = &page->e[i];
            uint64_t skip = (align - e->offset % align) % align;

            if (e->length >= size && skip <= e->length - size) {
                *offset = e->offset + skip;
                return true;
            }
        }
    }
    return false;
}

bool extents_longest(const struct extents *x, struct extent *out)
{
    struct extent best = {0, 0};

    for (size_t p = 0; p < x->n; p++) {
        const struct extents_page *page = x->page[p];

        for (size_t i = 0; page->longest > best.length && i < page->n; i++) {
            if (page->e[i].length > best.length)
                best = page->e[i];
        }
    }
    *out = best;
    return best.length > 0;
}

bool extents_last(const struct extents *x, struct extent *out)
{
    const struct extents_page *page;

    if (x->n == 0)
        return false;
    page = x->page[x->n - 1];
    *out = page->e[page->n - 1];
    return true;
}

size_t extents_count(const struct extents *x)
{
    size_t n = 0;

    for (size_t p = 0; p < x->n; p++)
        n += x->page[p]->n;
    return n;
}
