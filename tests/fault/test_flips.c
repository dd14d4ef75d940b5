/* test_flips.c - every truncation and every flipped bit of small files.
 *
 * Each is an error, a reported damaged slot, or harmless: what can be read is what was
 * there before.  Different data without a report is what must never happen; nor may one take more
 * memory than limit.h allows. */
/* stacks: off */
/* SPDX-License-Identifier: MIT */
#include "tests/fault/limit.h"

#include <datarep.h>
#include <string.h>
#include <unistd.h>

static const char *const vectors[] = {"contiguous", "vlen"};
#define ITEMS 512

static drep_info *hints; /* those that limit.h counts on */

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    const unsigned char *b = p;

    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 0x100000001b3ull;
    return h;
}

/* One thing that was read, and what it was. */
struct item {
    uint64_t name, value;
};

struct seen {
    drep_file *file;
    struct item item[ITEMS];
    int n;
    int errors;
    char group[1024]; /* being listed */
};

static void add(struct seen *s, const char *what, const char *name, uint64_t value)
{
    uint64_t h = mix(mix(1469598103934665603ull, what, strlen(what) + 1), name, strlen(name));

    if (s->n == ITEMS)
        abort();
    s->item[s->n++] = (struct item){h, value};
}

/* Values by their content, pointers followed. */
static uint64_t value_sum(uint64_t h, const drep_type *type, const char *p)
{
    const drep_vlen *v = (const void *)p;
    const drep_ref *r = (const void *)p;
    const char *text;
    int64_t n = 1;

    switch (drep_type_kind(type)) {
    case DREP_KIND_COMPOUND:
        for (int64_t i = 0; i < drep_type_members(type); i++)
            h = value_sum(h, drep_type_member(type, i), p + drep_type_member_offset(type, i));
        return h;
    case DREP_KIND_ARRAY:
        for (int d = 0; d < drep_type_array_rank(type); d++)
            n *= drep_type_array_dims(type)[d];
        type = drep_type_member(type, 0);
        for (int64_t i = 0; i < n; i++)
            h = value_sum(h, type, p + i * drep_type_extent(type));
        return h;
    case DREP_KIND_SEQUENCE:
        type = drep_type_member(type, 0);
        h = mix(h, &v->count, sizeof(v->count));
        for (int64_t i = 0; i < v->count; i++)
            h = value_sum(h, type, (char *)v->data + i * drep_type_extent(type));
        return h;
    case DREP_KIND_VSTRING:
        memcpy(&text, p, sizeof(text));
        return text ? mix(h, text, strlen(text) + 1) : mix(h, "", 1);
    case DREP_KIND_REFERENCE:
        h = mix(h, &r->object, sizeof(r->object));
        return r->region ? mix(h, r->region, strlen(r->region)) : h;
    default:
        return mix(h, p, (size_t)drep_type_size(type));
    }
}

static uint64_t values_sum(const drep_type *type, int64_t n, const char *p)
{
    uint64_t h = 14695981039346656037ull;

    for (int64_t i = 0; i < n; i++)
        h = value_sum(h, type, p + i * drep_type_extent(type));
    return h;
}

static void *room_for(const drep_type *type, int64_t n)
{
    int64_t extent = drep_type_extent(type);

    /* What a damaged record asks for may be huge; then it is an error too. */
    if (n < 0 || extent < 0 || (extent > 0 && n > (1 << 20) / extent))
        return NULL;
    return calloc(1, (size_t)(n * extent) + 1);
}

static void see_attr(struct seen *s, const char *path, const char *name)
{
    drep_attrinfo info = DREP_ATTRINFO;
    char full[2200];
    void *buf;

    snprintf(full, sizeof(full), "%s@%s", path, name);
    if (drep_attr_info(s->file, path, name, &info)) {
        s->errors++;
        return;
    }
    buf = room_for(info.type, info.count);
    if (!buf || drep_attr_read(s->file, path, name, info.type, buf)) {
        s->errors++;
    } else {
        add(s, "attribute", full, values_sum(info.type, info.count, buf));
        drep_vlen_free(info.type, info.count, buf);
    }
    free(buf);
    drep_attrinfo_release(&info);
}

struct names {
    struct seen *s;
    const char *path;
    int n;
};

static int each_attr(const char *name, void *ctx)
{
    struct names *a = ctx;

    a->n++;
    see_attr(a->s, a->path, name);
    return 0;
}

static void see_dataset(struct seen *s, const char *path)
{
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    void *buf;

    if (drep_dataset_open(s->file, path, &ds)) {
        s->errors++;
        return;
    }
    if (drep_dataset_info(ds, &info)) {
        s->errors++;
    } else {
        add(s, "shape", path,
            mix((uint64_t)info.rank, info.dims,
                sizeof(*info.dims) * (size_t)(info.rank > 0 ? info.rank : 0)));
        buf = room_for(info.type, info.count);
        if (!buf || drep_read(ds, NULL, info.type, buf, NULL)) {
            s->errors++;
        } else {
            add(s, "data", path, values_sum(info.type, info.count, buf));
            drep_vlen_free(info.type, info.count, buf);
        }
        free(buf);
    }
    drep_dataset_close(ds);
}

struct links {
    struct seen *s;
    int n, depth;
    uint64_t sum;
    char path[1024];
};

static void see_group(struct seen *s, const char *path, int depth);

static int each_link(const drep_linkinfo *link, void *ctx)
{
    struct links *l = ctx;
    struct names a = {l->s, NULL, 0};
    char path[2100];

    l->n++;
    l->sum = mix(l->sum, link->name, strlen(link->name));
    l->sum = mix(l->sum, &link->link, sizeof(link->link));
    if (link->target)
        l->sum = mix(l->sum, link->target, strlen(link->target));
    if (link->link != DREP_LINK_HARD)
        return 0;
    snprintf(path, sizeof(path), "%s/%s", l->path, link->name);
    a.path = path;
    if (drep_attr_list(l->s->file, path, DREP_BY_CREATION, each_attr, &a))
        l->s->errors++;
    if (link->kind == DREP_OBJ_DATASET)
        see_dataset(l->s, path);
    else if (link->kind == DREP_OBJ_GROUP && l->depth < 8)
        see_group(l->s, path, l->depth + 1);
    return 0;
}

static void see_group(struct seen *s, const char *path, int depth)
{
    struct links l = {.s = s, .depth = depth};

    snprintf(l.path, sizeof(l.path), "%s", path);
    if (drep_list(s->file, *path ? path : "/", DREP_BY_NAME, each_link, &l))
        s->errors++;
    else
        add(s, "group", path, l.sum);
}

/* 0: opened, and s says what is there; else the error. */
static int look(const void *image, size_t size, struct seen *s, int *damaged)
{
    struct names a = {s, "/", 0};
    drep_header header = DREP_HEADER;
    int err;

    s->n = 0;
    s->errors = 0;
    err = drep_open_image(image, size, hints, &s->file);
    if (err)
        return err;
    if (drep_header_get(s->file, &header) == 0) {
        *damaged = header.damaged_slot;
        add(s, "datarep", header.datarep, header.sequence ^ (uint64_t)header.time);
    }
    if (drep_attr_list(s->file, "/", DREP_BY_CREATION, each_attr, &a))
        s->errors++;
    see_group(s, "", 0);
    drep_close(s->file);
    return 0;
}

static int has(const struct seen *all, const struct item *item)
{
    for (int i = 0; i < all->n; i++) {
        if (all->item[i].name == item->name && all->item[i].value == item->value)
            return 1;
    }
    return 0;
}

struct count {
    long errors, partly, slots, harmless, wrong;
    int64_t memory; /* bytes that one took at most */
};

/* Whether a changed image tells lies. */
static void judge_image(const void *image, size_t size, const struct seen *whole, struct count *c)
{
    static struct seen s;
    int damaged = 0;

    if (look(image, size, &s, &damaged)) {
        c->errors++;
        return;
    }
    if (damaged) { /* the commit before may be shown, and says so */
        c->slots++;
        return;
    }
    for (int i = 0; i < s.n; i++) {
        if (!has(whole, &s.item[i])) {
            c->wrong++;
            return;
        }
    }
    if (s.errors)
        c->partly++;
    else if (s.n == whole->n)
        c->harmless++;
    else
        c->wrong++;
}

static void judge(const void *image, size_t size, const struct seen *whole, struct count *c)
{
    int64_t peak;

    limit_begin();
    judge_image(image, size, whole, c);
    peak = limit_peak();
    c->memory = peak > c->memory ? peak : c->memory;
}

static void *load(const char *path, size_t *size)
{
    void *p = malloc(1 << 20);
    FILE *f = fopen(path, "rb");

    if (!f || !p) {
        free(p);
        return NULL;
    }
    *size = fread(p, 1, 1 << 20, f);
    fclose(f);
    return p;
}

static int test = 0;

/* 0: they are as they should be. */
static int report(const char *name, const char *what, long n, size_t size, const struct count *c)
{
    int bad = c->wrong > 0 || c->memory > limit_of(size);

    printf("%s %d - %s: %ld %s: %ld refused, %ld partly read, %ld reported slots, %ld harmless",
           bad ? "not ok" : "ok", ++test, name, n, what, c->errors, c->partly, c->slots,
           c->harmless);
    if (c->wrong)
        printf(", %ld WRONG", c->wrong);
    printf(", at most %lld KiB of memory\n", (long long)c->memory >> 10);
    fflush(stdout);
    return bad;
}

/* A file with chunks, filters, a small tree and two commits. */
static int make(const char *path)
{
    static const int64_t dims[2] = {6, 40}, chunk[2] = {4, 20}, one[1] = {100};
    const drep_filter filters[2] = {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DELTA}};
    drep_spec chunked =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims, .layout = DREP_CHUNKED,
                  .chunk = chunk, .filters = filters, .nfilters = 2);
    drep_spec plain =
        DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = one, .layout = DREP_CONTIGUOUS);
    int32_t a[240];
    double b[100];
    drep_dataset *ds = NULL;
    drep_file *f = NULL;
    int err;

    for (int i = 0; i < 240; i++)
        a[i] = i * i - 7;
    for (int i = 0; i < 100; i++)
        b[i] = i / 3.0;
    err = drep_create(path, DREP_RDWR, "external32", NULL, &f);
    if (err || (err = drep_group_create(f, "/g", 0)) ||
        (err = drep_dataset_create(f, "/g/chunked", &chunked, &ds)) ||
        (err = drep_write(ds, NULL, NULL, a, NULL)) ||
        (err = drep_attr_write_string(f, "/g/chunked", "units", "m/s")) || (err = drep_commit(f)))
        return err;
    drep_dataset_close(ds);
    ds = NULL;
    err = drep_dataset_create(f, "/plain", &plain, &ds);
    if (!err)
        err = drep_write(ds, NULL, NULL, b, NULL);
    drep_dataset_close(ds);
    return err ? err : drep_close(f);
}

static int try_image(const char *name, unsigned char *image, size_t size)
{
    static struct seen whole;
    struct count cuts = {0}, flips = {0};
    int damaged = 0, bad;

    if (!image || look(image, size, &whole, &damaged) || whole.errors || damaged) {
        printf("not ok %d - %s: cannot be read whole: %s\n", ++test, name, drep_error());
        return 1;
    }
    for (size_t n = 0; n < size; n++) {
        unsigned char *copy = malloc(n ? n : 1); /* so that ASan sees what is behind it */

        memcpy(copy, image, n);
        judge(copy, n, &whole, &cuts);
        free(copy);
    }
    bad = report(name, "truncations", (long)size, size, &cuts);
    for (size_t bit = 0; bit < size * 8; bit++) {
        image[bit / 8] ^= (unsigned char)(1u << bit % 8);
        judge(image, size, &whole, &flips);
        image[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    return report(name, "flipped bits", (long)size * 8, size, &flips) || bad;
}

int main(void)
{
    const char *tmp = getenv("TMPDIR"), *dir = getenv("SRCDIR");
    char path[1024];
    size_t size = 0;
    int failed = 0;
    void *image;

    if (drep_info_new(&hints) || drep_info_set(hints, "drep_cache_size", "1048576") ||
        drep_info_set(hints, "drep_threads", "1")) {
        printf("Bail out! %s\n", drep_error());
        return 1;
    }
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
        snprintf(path, sizeof(path), "%s/tests/vectors/%s.drep", dir ? dir : ".", vectors[i]);
        image = load(path, &size);
        failed |= try_image(vectors[i], image, size);
        free(image);
    }
    snprintf(path, sizeof(path), "%s/flips-%d.drep", tmp ? tmp : "/tmp", (int)getpid());
    image = make(path) ? NULL : load(path, &size);
    unlink(path);
    failed |= try_image("chunks and two commits", image, size);
    free(image);
    drep_info_free(hints);
    printf("1..%d\n", test);
    return failed;
}
