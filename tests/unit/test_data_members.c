/* test_data_members.c - members by name (D44): random choices of members, in any order, are
 * written and read under every representation and layout, against a model of whole elements.
 * Half of the choices have the texts in another form than the file: fixed for variable. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- elements, and what memory takes of them ---- */

struct pair {
    int16_t p;
    double q;
};
struct whole {
    int32_t a;
    float b[3];
    struct pair c[2];
    char s[5];
    double d;
    char *text;
    drep_vlen list; /* of pairs */
};
enum { A, B, C, S, D, TEXT, LIST, MEMBERS, FIXED = TEXT };
static const char *const names[] = {"a", "b", "c", "s", "d", "text", "list"};
static const size_t offsets[] = {offsetof(struct whole, a),   offsetof(struct whole, b),
                                 offsetof(struct whole, c),   offsetof(struct whole, s),
                                 offsetof(struct whole, d),   offsetof(struct whole, text),
                                 offsetof(struct whole, list)};

/* The members that one transfer names, in its order. */
struct choice {
    drep_type *type;
    int n, member[MEMBERS];
    int64_t offset[MEMBERS];
    int pairs, pair[2]; /* of "c": 0 is p, 1 is q */
    int64_t pair_offset[2], pair_size;
    bool other; /* "s" is a vstring in memory, "text" a string */
    int pad;    /* of that */
};
enum { TEXT_ROOM = 20 };

static drep_type *pair_type(int n, const int *which)
{
    const char *const both[] = {"p", "q"};
    const drep_type *const types[] = {DREP_INT16_T, DREP_DOUBLE};
    const char *name[2];
    const drep_type *type[2];
    drep_type *t;

    for (int i = 0; i < n; i++) {
        name[i] = both[which[i]];
        type[i] = types[which[i]];
    }
    ok(drep_type_compound(n, name, NULL, type, 0, &t));
    return t;
}

static drep_type *member_type(int m, const struct choice *c)
{
    const int64_t two = 2, three = 3;
    drep_type *t, *pair;

    switch (m) {
    case A:
        return drep_type_ref(DREP_INT32_T);
    case B:
        ok(drep_type_array(1, &three, DREP_FLOAT, &t));
        return t;
    case C:
        pair = pair_type(c->pairs, c->pair);
        ok(drep_type_array(1, &two, pair, &t));
        drep_type_free(pair);
        return t;
    case S:
        ok(c->other ? drep_type_vstring(&t) : drep_type_string(5, DREP_PAD_NUL, &t));
        return t;
    case D:
        return drep_type_ref(DREP_DOUBLE);
    case TEXT:
        ok(c->other ? drep_type_string(TEXT_ROOM, c->pad, &t) : drep_type_vstring(&t));
        return t;
    default:
        pair = pair_type(2, (const int[]){0, 1});
        ok(drep_type_sequence(pair, &t));
        drep_type_free(pair);
        return t;
    }
}

static void choice_type(struct choice *c)
{
    drep_type *types[MEMBERS], *pair = pair_type(c->pairs, c->pair);
    const char *name[MEMBERS];

    for (int i = 0; i < c->n; i++) {
        types[i] = member_type(c->member[i], c);
        name[i] = names[c->member[i]];
    }
    ok(drep_type_compound(c->n, name, NULL, (const drep_type *const *)types, 0, &c->type));
    for (int i = 0; i < c->n; i++) {
        c->offset[i] = drep_type_member_offset(c->type, i);
        drep_type_free(types[i]);
    }
    for (int i = 0; i < c->pairs; i++)
        c->pair_offset[i] = drep_type_member_offset(pair, i);
    c->pair_size = drep_type_extent(pair);
    drep_type_free(pair);
}

static struct choice choose_all(int members)
{
    struct choice c = {.n = members, .pairs = 2, .pair = {0, 1}};

    for (int i = 0; i < members; i++)
        c.member[i] = i;
    choice_type(&c);
    return c;
}

static unsigned seed = 1;

static int draw(int n)
{
    return rand_r(&seed) % n;
}

static struct choice choose(int members)
{
    struct choice c = {.n = 1 + draw(members), .pairs = 1 + draw(2)};

    for (int i = 0; i < members; i++)
        c.member[i] = i;
    for (int i = 0; i < members - 1; i++) {
        int k = i + draw(members - i), m = c.member[i];

        c.member[i] = c.member[k];
        c.member[k] = m;
    }
    c.pair[0] = draw(2);
    c.pair[1] = 1 - c.pair[0];
    c.other = draw(2);
    c.pad = draw(3);
    choice_type(&c);
    return c;
}

/* ---- values ---- */

static char *text_of(int v)
{
    char text[30];

    snprintf(text, sizeof text, "%.*s%d", v % 13, "abcdefghijklmn", v);
    return strdup(text);
}

/* Every value survives all of the representations. */
static struct whole make(int v, int members)
{
    struct whole w = {.a = v, .b = {(float)v, (float)v / 2, -1}, .d = v * 0.25};

    for (int i = 0; i < 2; i++)
        w.c[i] = (struct pair){(int16_t)(v + i), v - 0.5 * i};
    memset(w.s, 'a' + v % 26, (size_t)(v % 6));
    if (members == FIXED)
        return w;
    w.text = text_of(v);
    w.list.count = v % 4;
    w.list.data = calloc(4, sizeof(struct pair));
    for (int i = 0; i < v % 4; i++)
        ((struct pair *)w.list.data)[i] = (struct pair){(int16_t)(v - i), v};
    return w;
}

static void forget(struct whole *w)
{
    free(w->text);
    free(w->list.data);
}

/* The text of "s" in memory for a write: one of the last COUNT. */
static char *text_of_string(const char s[5])
{
    static char texts[60 * 7][6];
    static int next;
    char *t = texts[next++ % (60 * 7)];

    memcpy(t, s, 5);
    return t;
}

/* Like move(), for texts in the other form.  A "text" that comes from memory is malloc'ed. */
static void move_text(const struct choice *c, int member, struct whole *w, char *m, bool to_mem)
{
    char *s;
    size_t n;

    if (member == S && to_mem) {
        s = text_of_string(w->s);
        memcpy(m, &s, sizeof s);
    } else if (member == S) {
        memcpy(&s, m, sizeof s);
        memset(w->s, 0, 5);
        memcpy(w->s, s, strlen(s));
    } else if (to_mem) {
        memset(m, c->pad == DREP_PAD_SPACE ? ' ' : 0, TEXT_ROOM);
        memcpy(m, text_or_none(w->text), strlen(text_or_none(w->text)));
    } else {
        for (n = TEXT_ROOM; n > 0 && m[n - 1] == (c->pad == DREP_PAD_SPACE ? ' ' : 0); n--)
            ;
        w->text = strndup(m, n);
    }
}

/* Moves member i of the choice between a whole element and memory. */
static void move(const struct choice *c, int i, struct whole *w, char *mem, bool to_mem)
{
    static const size_t sizes[] = {4, 12, 0, 5, 8, sizeof(char *), sizeof(drep_vlen)};
    char *m = mem + c->offset[i], *x = (char *)w + offsets[c->member[i]];

    if (c->other && (c->member[i] == S || c->member[i] == TEXT)) {
        move_text(c, c->member[i], w, m, to_mem);
        return;
    }
    if (c->member[i] != C) {
        to_mem ? memcpy(m, x, sizes[c->member[i]]) : memcpy(x, m, sizes[c->member[i]]);
        return;
    }
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < c->pairs; j++) {
            char *from = (char *)&w->c[k] + (c->pair[j] ? offsetof(struct pair, q) : 0);
            char *to = m + k * c->pair_size + c->pair_offset[j];
            size_t size = c->pair[j] ? 8 : 2;

            to_mem ? memcpy(to, from, size) : memcpy(from, to, size);
        }
}

static bool same_member(const struct choice *c, int i, const struct whole *x, const struct whole *y)
{
    switch (c->member[i]) {
    case A:
        return x->a == y->a;
    case B:
        return memcmp(x->b, y->b, sizeof x->b) == 0;
    case C:
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < c->pairs; j++)
                if (c->pair[j] ? x->c[k].q != y->c[k].q : x->c[k].p != y->c[k].p)
                    return false;
        return true;
    case S:
        return memcmp(x->s, y->s, 5) == 0;
    case D:
        return x->d == y->d;
    case TEXT:
        return strcmp(text_or_none(x->text), text_or_none(y->text)) == 0;
    default:
        if (x->list.count != y->list.count)
            return false;
        for (int64_t k = 0; k < x->list.count; k++) {
            const struct pair *p = x->list.data, *q = y->list.data;

            if (p[k].p != q[k].p || p[k].q != q[k].q)
                return false;
        }
        return true;
    }
}

/* ---- against the model ---- */

enum { ROWS = 60, COLS = 7, COUNT = ROWS * COLS };

struct world {
    drep_file *f;
    drep_dataset *ds;
    int members;
    int64_t rows;
    struct whole model[COUNT];
};

/* A box, points, or everything; element k of the selection is number at[k]. */
static drep_selection *draw_selection(const struct world *w, int *at, int *n)
{
    int64_t start[2], count[2], stride[2], points[40][2];
    int kind = draw(4);
    drep_selection *sel = NULL;

    *n = 0;
    if (kind == 0) {
        *n = (int)w->rows * COLS;
        for (int i = 0; i < *n; i++)
            at[i] = i;
        return NULL;
    }
    if (kind == 1) {
        int many = 1 + draw(40), step = (int)(w->rows * COLS) / many;

        for (int i = 0; i < many; i++) {
            at[i] = i * step + draw(step);
            points[i][0] = at[i] / COLS;
            points[i][1] = at[i] % COLS;
        }
        *n = many;
        ok(drep_select_points(2, many, points[0], &sel));
        return sel;
    }
    for (int d = 0; d < 2; d++) {
        int len = d == 0 ? (int)w->rows : COLS;

        start[d] = draw(len);
        stride[d] = 1 + draw(3);
        count[d] = 1 + draw((len - (int)start[d] - 1) / (int)stride[d] + 1);
    }
    for (int64_t i = 0; i < count[0]; i++)
        for (int64_t j = 0; j < count[1]; j++)
            at[(*n)++] = (int)((start[0] + i * stride[0]) * COLS + start[1] + j * stride[1]);
    ok(drep_select_box(2, start, count, stride, NULL, &sel));
    return sel;
}

static void write_some(struct world *w, const drep_xfer *xfer)
{
    struct choice c = choose(w->members);
    int at[COUNT], n, value = draw(1000);
    drep_selection *sel = draw_selection(w, at, &n);
    int64_t extent = drep_type_extent(c.type);
    char *mem = calloc((size_t)n, (size_t)extent);

    for (int k = 0; k < n; k++) {
        struct whole e = make(value + k, w->members), old = w->model[at[k]];

        for (int i = 0; i < c.n; i++) {
            move(&c, i, &e, mem + k * extent, true);
            move(&c, i, &w->model[at[k]], mem + k * extent, false);
            if (c.member[i] == TEXT) {
                if (c.other)
                    free(e.text);
                e.text = old.text;
            }
            if (c.member[i] == LIST)
                e.list = old.list;
        }
        forget(&e);
    }
    ok(drep_write(w->ds, sel, c.type, mem, xfer));
    free(mem);
    drep_selection_free(sel);
    drep_type_free(c.type);
}

static bool has_member(const struct choice *c, int member)
{
    for (int i = 0; i < c->n; i++)
        if (c->member[i] == member)
            return true;
    return false;
}

/* Bytes of a string in memory that are one item in the transfer. */
static int64_t counted_bytes(const struct choice *c)
{
    return c->other && has_member(c, TEXT) ? TEXT_ROOM - 1 : 0;
}

static void read_some(struct world *w, struct choice c, const drep_xfer *xfer)
{
    int at[COUNT], n;
    drep_selection *sel = draw_selection(w, at, &n);
    int64_t extent = drep_type_extent(c.type);
    char *mem = malloc((size_t)(n * extent));
    drep_report report = DREP_REPORT;
    drep_xfer counted = *xfer;

    memset(mem, 0x5a, (size_t)(n * extent));
    counted.report = draw(2) ? &report : NULL;
    ok(drep_read(w->ds, sel, c.type, mem, &counted));
    if (counted.report)
        ck_assert_int_eq(report.items, n * (drep_type_items(c.type) - counted_bytes(&c)));
    for (int k = 0; k < n; k++) {
        struct whole e = {0};

        for (int i = 0; i < c.n; i++) {
            move(&c, i, &e, mem + k * extent, false);
            ck_assert_msg(same_member(&c, i, &e, &w->model[at[k]]), "member %s of element %d",
                          names[c.member[i]], at[k]);
        }
        if (c.other)
            free(has_member(&c, TEXT) ? e.text : NULL);
    }
    drep_vlen_free(c.type, n, mem);
    free(mem);
    drep_selection_free(sel);
    drep_type_free(c.type);
}

/* Adds rows of some members; the others are fill. */
static void append_some(struct world *w)
{
    struct choice c = choose(w->members);
    int64_t extent = drep_type_extent(c.type);
    char *mem = calloc(COLS, (size_t)extent);
    int value = draw(1000);

    for (int k = 0; k < COLS; k++) {
        struct whole e = make(value + k, w->members), *m = &w->model[w->rows * COLS + k];

        memset(m, 0, sizeof *m);
        for (int i = 0; i < c.n; i++) {
            move(&c, i, &e, mem + k * extent, true);
            move(&c, i, m, mem + k * extent, false);
            if (c.member[i] == TEXT && !c.other)
                e.text = NULL;
            if (c.member[i] == LIST)
                e.list.data = NULL;
        }
        forget(&e);
    }
    ok(drep_append(w->ds, 0, 1, c.type, mem, NULL));
    w->rows++;
    free(mem);
    drep_type_free(c.type);
}

/* layout: a DREP_ one, or that plus 100 for filters. */
static void world_make(struct world *w, const char *datarep, int members, int layout)
{
    const int64_t dims[] = {20, COLS}, max[] = {layout == DREP_COMPACT ? 20 : DREP_UNLIMITED, COLS};
    const int64_t chunk[] = {8, 4};
    const drep_filter filter = {.id = DREP_FILTER_SHUFFLE};
    struct choice all = choose_all(members);
    drep_spec spec =
        DREP_SPEC(.type = all.type, .rank = 2, .dims = dims, .maxdims = max, .layout = layout % 100,
                  .chunk = layout % 100 == DREP_CHUNKED ? chunk : NULL,
                  .filters = layout >= 100 ? &filter : NULL, .nfilters = layout >= 100);

    memset(w, 0, sizeof *w);
    w->f = new_file(":memory:", datarep);
    w->members = members;
    w->rows = 20;
    ok(drep_dataset_create(w->f, "d", &spec, &w->ds));
    drep_type_free(all.type);
}

static void world_end(struct world *w)
{
    check_file(w->f);
    for (int i = 0; i < COUNT; i++)
        forget(&w->model[i]);
    drep_dataset_close(w->ds);
    ok(drep_close(w->f));
}

static void try_all(const char *datarep, int members, int layout, int threads)
{
    static struct world w;
    const drep_xfer xfer = DREP_XFER(.threads = threads);

    world_make(&w, datarep, members, layout);
    for (int round = 0; round < 25; round++) {
        write_some(&w, &xfer);
        read_some(&w, choose(members), &xfer);
        if (layout != DREP_COMPACT && round % 2 == 0)
            append_some(&w);
        if (round % 8 == 0)
            ok(drep_commit(w.f));
        read_some(&w, choose_all(members), &xfer);
    }
    world_end(&w);
}

START_TEST(test_D44_any_members_in_any_order)
{
    static const int layouts[] = {DREP_COMPACT, DREP_CONTIGUOUS, DREP_CHUNKED, DREP_CHUNKED + 100};
    const char *seeds = getenv("DREP_TEST_SEED");

    seed = seeds ? (unsigned)strtoul(seeds, NULL, 0) : 1;
    register_datareps();
    for (int r = 0; r < DATAREPS; r++)
        for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
            bool chunked = layouts[l] % 100 == DREP_CHUNKED;

            try_all(datareps[r], FIXED, layouts[l], 1 + (int)l % 3);
            if (chunked || layouts[l] == DREP_COMPACT)
                try_all(datareps[r], MEMBERS, layouts[l], 1 + (int)l % 3);
        }
}
END_TEST

/* ---- what is refused ---- */

static drep_type *compound_of(int n, const char *const *name, const drep_type *const *types)
{
    drep_type *t;

    ok(drep_type_compound(n, name, NULL, types, 0, &t));
    return t;
}

START_TEST(test_D44_members_that_the_file_lacks)
{
    const char *const ab[] = {"a", "b"}, *const bz[] = {"b", "z"}, *const yz[] = {"y", "z"};
    const drep_type *const two[] = {DREP_INT32_T, DREP_DOUBLE};
    const drep_type *const other[] = {DREP_DOUBLE, DREP_INT32_T};
    drep_type *file = compound_of(2, ab, two), *mem = compound_of(2, bz, other);
    drep_type *none = compound_of(2, yz, other);
    drep_file *f = new_file(":memory:", "external32");
    const int64_t dims[] = {4}, max[] = {DREP_UNLIMITED};
    const drep_spec spec = DREP_SPEC(.type = file, .rank = 1, .dims = dims, .maxdims = max);
    drep_dataset *ds;
    const drep_xfer fill = DREP_XFER(.members = DREP_MEMBERS_FILL);
    struct {
        int32_t a;
        double b;
    } in[4], back[4];
    struct {
        double b;
        int32_t z;
    } out[4];

    ok(drep_dataset_create(f, "d", &spec, &ds));
    for (int i = 0; i < 4; i++) {
        memset(&in[i], 0, sizeof in[i]);
        in[i].a = i;
        in[i].b = i + 0.5;
    }
    ok(drep_write(ds, NULL, file, in, NULL));
    memset(out, 0x77, sizeof out);
    fails(drep_read(ds, NULL, mem, out, NULL), DREP_ERR_TYPE);
    ck_assert_ptr_nonnull(strstr(drep_error(), "\"z\""));
    ok(drep_read(ds, NULL, mem, out, &fill));
    for (int i = 0; i < 4; i++) {
        ck_assert(out[i].b == i + 0.5);
        ck_assert_int_eq(out[i].z, 0);
    }
    fails(drep_write(ds, NULL, mem, out, NULL), DREP_ERR_TYPE);
    fails(drep_write(ds, NULL, mem, out, &fill), DREP_ERR_TYPE);
    fails(drep_append(ds, 0, 1, mem, out, &fill), DREP_ERR_TYPE);
    fails(drep_read(ds, NULL, none, out, &fill), DREP_ERR_TYPE);
    fails(drep_read(ds, NULL, mem, out, &DREP_XFER(.members = 7)), DREP_ERR_ARG);
    ok(drep_read(ds, NULL, file, back, NULL));
    for (int i = 0; i < 4; i++)
        ck_assert(back[i].a == i && back[i].b == i + 0.5);
    drep_dataset_close(ds);
    ok(drep_close(f)); /* a refused call does not count as a failed write */
    drep_type_free(file);
    drep_type_free(mem);
    drep_type_free(none);
}
END_TEST

/* Members of one name but of other lengths are no match; without names everything goes by place. */
START_TEST(test_D44_shapes_and_sides_without_names)
{
    const char *const ab[] = {"a", "b"}, *const a[] = {"a"};
    const int64_t two = 2, three = 3;
    drep_type *pair, *triple, *file, *mem, *plain;
    drep_file *f = new_file(":memory:", "internal");
    drep_dataset *ds;
    struct {
        int32_t a[2];
        double b;
    } in[3] = {{{1, 2}, 3}, {{4, 5}, 6}, {{7, 8}, 9}};
    double out[9];

    ok(drep_type_array(1, &two, DREP_INT32_T, &pair));
    ok(drep_type_array(1, &three, DREP_INT32_T, &triple));
    file = compound_of(2, ab, (const drep_type *const[]){pair, DREP_DOUBLE});
    mem = compound_of(1, a, (const drep_type *const[]){triple});
    ds = new_dataset(f, "d", file, 1, (const int64_t[]){3});
    ok(drep_write(ds, NULL, file, in, NULL));
    fails(drep_read(ds, NULL, mem, out, NULL), DREP_ERR_TYPE);
    ok(drep_type_contiguous(3, DREP_DOUBLE, &plain));
    ok(drep_read(ds, NULL, plain, out, NULL));
    for (int i = 0; i < 9; i++)
        ck_assert(out[i] == i + 1);
    drep_type_free(plain);
    /* Several elements at once, in a struct without names. */
    drep_type_free(mem);
    mem = compound_of(1, a, (const drep_type *const[]){pair});
    ok(drep_type_contiguous(3, mem, &plain));
    ok(drep_read(ds, NULL, plain, out, NULL));
    for (int i = 0; i < 3; i++)
        ck_assert(((int32_t *)out)[2 * i] == 3 * i + 1 && ((int32_t *)out)[2 * i + 1] == 3 * i + 2);
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_type_free(pair);
    drep_type_free(triple);
    drep_type_free(file);
    drep_type_free(mem);
    drep_type_free(plain);
}
END_TEST

/* A fill value in another order; a member that is left out of rows that grow is fill. */
START_TEST(test_D44_fill_values)
{
    const char *const ab[] = {"a", "b"}, *const ba[] = {"b", "a"}, *const b[] = {"b"};
    drep_type *file = compound_of(2, ab, (const drep_type *const[]){DREP_INT32_T, DREP_DOUBLE});
    drep_type *turned = compound_of(2, ba, (const drep_type *const[]){DREP_DOUBLE, DREP_INT32_T});
    drep_type *only = compound_of(1, b, (const drep_type *const[]){DREP_DOUBLE});
    const struct {
        int32_t a;
        double b;
    } fill = {7, 2.5};
    struct {
        double b;
        int32_t a;
    } out = {0}, rows[4];
    const int64_t dims[] = {2}, max[] = {DREP_UNLIMITED}, chunk[] = {3};
    const double new[] = {-1, -2};

    for (int chunked = 0; chunked < 2; chunked++) {
        drep_spec spec = DREP_SPEC(.type = file, .rank = 1, .dims = dims, .maxdims = max,
                                   .layout = chunked ? DREP_CHUNKED : DREP_CONTIGUOUS,
                                   .chunk = chunked ? chunk : NULL, .fill = DREP_FILL_VALUE,
                                   .fill_value = &fill);
        drep_file *f = new_file(":memory:", "external32");
        drep_dataset *ds;

        ok(drep_dataset_create(f, "d", &spec, &ds));
        ok(drep_dataset_fill(ds, turned, &out));
        ck_assert(out.a == 7 && out.b == 2.5);
        out.b = 0;
        ok(drep_dataset_fill(ds, only, &out));
        ck_assert(out.b == 2.5);
        fails(drep_dataset_fill(ds, DREP_INT, &out), DREP_ERR_TYPE);
        ok(drep_append(ds, 0, 1, only, new, NULL));
        ok(drep_append(ds, 0, 1, only, new + 1, NULL));
        ok(drep_read(ds, NULL, turned, rows, NULL));
        for (int i = 0; i < 4; i++)
            ck_assert(rows[i].a == 7 && rows[i].b == (i < 2 ? 2.5 : 1 - i));
        drep_dataset_close(ds);
        check_file(f);
        ok(drep_close(f));
    }
    drep_type_free(file);
    drep_type_free(turned);
    drep_type_free(only);
}
END_TEST

/* ---- sequences ---- */

/* Some members of a sequence's elements are read, but never written. */
START_TEST(test_D44_sequences)
{
    const char *const list[] = {"list"};
    static const int swapped[] = {1, 0}, first[] = {0};
    drep_type *pair = pair_type(2, (const int[]){0, 1}), *seq, *file;
    drep_type *turned = pair_type(2, swapped), *only = pair_type(1, first), *tseq, *oseq;
    drep_type *mem, *part;
    struct pair data[] = {{1, 2}, {3, 4}, {5, 6}};
    struct {
        double q;
        int16_t p;
    } reversed[] = {{20, 10}, {40, 30}};
    drep_vlen in[2] = {{3, data}, {1, data + 1}}, out[2];

    ok(drep_type_sequence(pair, &seq));
    ok(drep_type_sequence(turned, &tseq));
    ok(drep_type_sequence(only, &oseq));
    file = compound_of(1, list, (const drep_type *const[]){seq});
    mem = compound_of(1, list, (const drep_type *const[]){tseq});
    part = compound_of(1, list, (const drep_type *const[]){oseq});
    register_datareps();
    for (int r = 0; r < DATAREPS; r++) {
        drep_file *f = new_file(":memory:", datareps[r]);
        drep_dataset *ds = new_dataset(f, "d", file, 1, (const int64_t[]){2});
        drep_vlen back = {2, reversed};

        ok(drep_write(ds, NULL, file, in, NULL));
        ok(drep_read(ds, NULL, part, out, NULL));
        ck_assert_int_eq(out[0].count, 3);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(((int16_t *)out[0].data)[i], data[i].p);
        fails(drep_write(ds, NULL, part, out, NULL), DREP_ERR_TYPE);
        drep_vlen_free(part, 2, out);
        out[0] = out[1] = back;
        ok(drep_write(ds, NULL, mem, out, NULL));
        ok(drep_read(ds, NULL, file, out, NULL));
        for (int i = 0; i < 2; i++) {
            const struct pair *p = out[i].data;

            ck_assert(p[0].p == 10 && p[0].q == 20 && p[1].p == 30 && p[1].q == 40);
        }
        drep_vlen_free(file, 2, out);
        /* The same in an attribute, whose contents lie packed. */
        ok(drep_attr_write(f, "d", "list", file, 1, (const int64_t[]){2}, in));
        ok(drep_attr_read(f, "d", "list", part, out));
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(((int16_t *)out[0].data)[i], data[i].p);
        drep_vlen_free(part, 2, out);
        drep_dataset_close(ds);
        check_file(f);
        ok(drep_close(f));
    }
    drep_type_free(pair);
    drep_type_free(seq);
    drep_type_free(file);
    drep_type_free(turned);
    drep_type_free(only);
    drep_type_free(tseq);
    drep_type_free(oseq);
    drep_type_free(mem);
    drep_type_free(part);
}
END_TEST

/* ---- attributes and memory ---- */

START_TEST(test_D44_attributes_and_memory)
{
    static struct whole w[3];
    char mem[3 * 200], other[3 * 200];

    seed = 7;
    for (int round = 0; round < 300; round++) {
        struct choice all = choose_all(MEMBERS), c = choose(MEMBERS);
        drep_file *f = new_file(":memory:", "external32");
        int64_t extent = drep_type_extent(c.type);
        const int64_t n = 3;

        for (int i = 0; i < 3; i++)
            w[i] = make(round + i, MEMBERS);
        ok(drep_attr_write(f, "/", "a", all.type, 1, &n, w));
        ok(drep_attr_read(f, "/", "a", c.type, mem));
        ok(drep_convert(c.type, other, all.type, w, 3, NULL));
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < c.n; i++) {
                struct whole x = {0}, y = {0};

                move(&c, i, &x, mem + k * extent, false);
                move(&c, i, &y, other + k * extent, false);
                ck_assert_msg(same_member(&c, i, &x, &w[k]), "attribute: %s", names[c.member[i]]);
                ck_assert_msg(same_member(&c, i, &y, &w[k]), "memory: %s", names[c.member[i]]);
                if (c.other && c.member[i] == TEXT) {
                    free(x.text);
                    free(y.text);
                }
            }
        drep_vlen_free(c.type, 3, mem);
        drep_vlen_free(c.type, 3, other);
        for (int i = 0; i < 3; i++)
            forget(&w[i]);
        ok(drep_close(f));
        drep_type_free(all.type);
        drep_type_free(c.type);
    }
}
END_TEST

/* ---- a user's functions ---- */

static atomic_int called; /* items */

static int counted_read(void *user, const drep_type *type, int64_t count, void *file,
                        int64_t position, void *state)
{
    (void)state;
    atomic_fetch_add(&called, (int)count);
    return xor_run(user, type, count, file, position, true);
}

static int counted_write(void *user, const drep_type *type, int64_t count, void *file,
                         int64_t position, void *state)
{
    (void)state;
    atomic_fetch_add(&called, (int)count);
    return xor_run(user, type, count, file, position, false);
}

/* D44, U5: functions convert the named members' items and no others. */
START_TEST(test_D44_U5_functions_see_the_members_alone)
{
    static struct world w;
    const char *const d[] = {"d"};
    drep_type *mem = compound_of(1, d, (const drep_type *const[]){DREP_DOUBLE});
    double buf[20 * COLS];

    ok(drep_register_datarep("counted", counted_read, counted_write, native_extent, NULL));
    for (int layout = 0; layout < 2; layout++) {
        world_make(&w, "counted", FIXED, layout ? DREP_CHUNKED + 100 : DREP_CHUNKED);
        for (int i = 0; i < 20 * COLS; i++)
            buf[i] = w.model[i].d = i;
        atomic_store(&called, 0);
        ok(drep_write(w.ds, NULL, mem, buf, NULL));
        ck_assert_int_eq(atomic_load(&called), 20 * COLS);
        atomic_store(&called, 0);
        ok(drep_read(w.ds, NULL, mem, buf, NULL));
        ck_assert_int_eq(atomic_load(&called), 20 * COLS);
        for (int i = 0; i < 20 * COLS; i++)
            ck_assert(buf[i] == i);
        for (int round = 0; round < 5; round++)
            read_some(&w, choose_all(FIXED), &DREP_XFER());
        world_end(&w);
    }
    drep_type_free(mem);
}
END_TEST

/* ---- threads ---- */

static struct world shared;

static void *reader(void *ctx)
{
    unsigned mine = (unsigned)(uintptr_t)ctx;

    for (int round = 0; round < 40; round++) {
        const char *name[] = {rand_r(&mine) % 2 ? "a" : "d"};
        drep_type *mem = compound_of(1, name, (const drep_type *const[]){DREP_DOUBLE});
        double buf[20 * COLS];

        ok(drep_read(shared.ds, NULL, mem, buf, &DREP_XFER(.threads = 2)));
        for (int i = 0; i < 20 * COLS; i++)
            ck_assert(buf[i] == (name[0][0] == 'a' ? shared.model[i].a : shared.model[i].d));
        drep_type_free(mem);
    }
    return NULL;
}

START_TEST(test_D44_threads_share_a_dataset)
{
    struct choice all = choose_all(FIXED);
    struct whole w[20 * COLS];
    pthread_t thread[4];

    world_make(&shared, "external32", FIXED, DREP_CHUNKED);
    for (int i = 0; i < 20 * COLS; i++)
        shared.model[i] = w[i] = make(i, FIXED);
    {
        int64_t extent = drep_type_extent(all.type);
        char *mem = calloc(20 * COLS, (size_t)extent);

        for (int k = 0; k < 20 * COLS; k++)
            for (int i = 0; i < all.n; i++)
                move(&all, i, &w[k], mem + k * extent, true);
        ok(drep_write(shared.ds, NULL, all.type, mem, NULL));
        free(mem);
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, reader, (void *)(uintptr_t)(i + 1)), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    world_end(&shared);
    drep_type_free(all.type);
}
END_TEST

/* ---- many members ---- */

/* A thousand members backwards: found without comparing each with each, and in the right place. */
START_TEST(test_D44_many_members)
{
    enum { MANY = 1000 };
    static char text[MANY][16];
    static const char *up[MANY], *down[MANY];
    static const drep_type *types[MANY];
    static int32_t in[MANY], out[MANY];
    drep_file *f = new_file(":memory:", "external32");
    drep_type *file, *mem;
    drep_dataset *ds;

    for (int i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof text[i], "m%d", i);
        up[i] = down[MANY - 1 - i] = text[i];
        types[i] = DREP_INT32_T;
        in[i] = i;
    }
    file = compound_of(MANY, up, types);
    mem = compound_of(MANY, down, types);
    ds = new_dataset(f, "d", file, 1, (const int64_t[]){1});
    ok(drep_write(ds, NULL, file, in, NULL));
    ok(drep_read(ds, NULL, mem, out, NULL));
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(out[i], MANY - 1 - i);
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_type_free(file);
    drep_type_free(mem);
}
END_TEST

/* Every allocation fails once: nothing leaks, and nothing of a write stays (D11). */
START_TEST(test_D44_allocations_fail)
{
    static struct world w;
    const char *const da[] = {"d", "a"};
    drep_type *mem = compound_of(2, da, (const drep_type *const[]){DREP_DOUBLE, DREP_INT32_T});
    struct {
        double d;
        int32_t a;
    } buf[20 * COLS];
    int64_t n;
    int err;

    world_make(&w, "external32", FIXED, DREP_CHUNKED);
    for (int i = 0; i < 20 * COLS; i++) {
        memset(&buf[i], 0, sizeof buf[i]);
        buf[i].d = w.model[i].d = i;
        buf[i].a = w.model[i].a = -i;
    }
    for (n = 0, err = DREP_ERR_NOMEM; err == DREP_ERR_NOMEM; n++) {
        mem_fail_at(n);
        err = drep_write(w.ds, NULL, mem, buf, NULL);
        mem_fail_at(-1);
    }
    ok(err);
    ck_assert_int_gt(n, 10);
    for (n = 0, err = DREP_ERR_NOMEM; err == DREP_ERR_NOMEM; n++) {
        mem_fail_at(n);
        err = drep_read(w.ds, NULL, mem, buf, NULL);
        mem_fail_at(-1);
    }
    ok(err);
    read_some(&w, choose_all(FIXED), &DREP_XFER());
    world_end(&w);
    drep_type_free(mem);
}
END_TEST

/* ---- texts ---- */

static drep_type *string_type(int64_t size, int pad)
{
    drep_type *t;

    ok(drep_type_string(size, pad, &t));
    return t;
}

static drep_type *vstring_type(void)
{
    drep_type *t;

    ok(drep_type_vstring(&t));
    return t;
}

/* One text from memory to memory; NULL for what is refused. */
static void text_goes(const drep_type *from, const void *src, const drep_type *to, int range,
                      const char *want, int64_t overflow, int64_t inexact)
{
    drep_report report = DREP_REPORT;
    const drep_xfer xfer = DREP_XFER(.range = range, .report = &report);
    char bytes[32] = {0}, *text = NULL;
    bool variable = drep_type_kind(to) == DREP_KIND_VSTRING;
    int err = drep_convert(to, variable ? (void *)&text : bytes, from, src, 1, &xfer);

    ck_assert_int_eq(err, want ? 0 : DREP_ERR_CONVERSION);
    if (!want)
        return;
    ck_assert_int_eq(memcmp(variable ? text : bytes, want,
                            variable ? strlen(want) + 1 : (size_t)drep_type_size(to)),
                     0);
    ck_assert_int_eq(report.overflow, overflow);
    ck_assert_int_eq(report.first_overflow, overflow ? 0 : -1);
    ck_assert_int_eq(report.inexact, inexact);
    free(text);
}

START_TEST(test_texts_that_do_not_fit)
{
    drep_type *v = vstring_type(), *nul = string_type(5, DREP_PAD_NUL);
    drep_type *term = string_type(5, DREP_PAD_NULTERM), *space = string_type(5, DREP_PAD_SPACE);
    const char *five = "abcde", *six = "abcdef", *wide = "abcd\xc3\xa9", *end = "ab ";

    text_goes(v, &five, nul, DREP_RANGE_STRICT, "abcde", 0, 0);
    text_goes(v, &five, term, 0, NULL, 0, 0);
    text_goes(v, &five, term, DREP_RANGE_CLAMP, "abcd", 1, 0);
    text_goes(v, &six, space, 0, NULL, 0, 0);
    text_goes(v, &six, space, DREP_RANGE_WRAP, "abcde", 1, 0);
    text_goes(v, &wide, nul, DREP_RANGE_CLAMP, "abcd\0", 1, 0);
    text_goes(v, &end, space, DREP_RANGE_STRICT, "ab   ", 0, 1);
    text_goes(v, &end, nul, DREP_RANGE_STRICT, "ab \0", 0, 0);
    text_goes(v, &(char *){NULL}, space, 0, "     ", 0, 0);
    text_goes(nul, "ab\0\0", v, 0, "ab", 0, 0);
    text_goes(nul, "a\0b\0", v, 0, NULL, 0, 0);
    text_goes(nul, "a\0b\0", v, DREP_RANGE_CLAMP, "a", 1, 0);
    text_goes(term, "a\0b\0", v, 0, "a", 0, 0);
    text_goes(term, "abcde", v, 0, "abcde", 0, 0);
    text_goes(space, "a b  ", v, 0, "a b", 0, 0);
    text_goes(space, "     ", v, 0, "", 0, 0);
    drep_type_free(v);
    drep_type_free(nul);
    drep_type_free(term);
    drep_type_free(space);
}
END_TEST

static void is_bytes(const drep_vlen *v, const char *want, int64_t n)
{
    ck_assert_int_eq(v->count, n);
    ck_assert(n == 0 || memcmp(v->data, want, (size_t)n) == 0);
}

/* A vstring's bytes are a sequence's elements, on either side, in datasets, attributes and memory.
 */
START_TEST(test_texts_and_sequences)
{
    const drep_type *const bases[] = {DREP_CHAR, DREP_BYTE, DREP_UINT8_T};
    drep_type *v = vstring_type(), *s, *ints;
    drep_file *f = new_file(":memory:", _i / 3 ? "external32" : "native");
    const int64_t three = 3, two = 2;
    const drep_xfer clamp = DREP_XFER(.range = DREP_RANGE_CLAMP);
    const char *texts[] = {"abc", "", "Gr\xc3\xbc\xc3\x9f"};
    drep_vlen in[3] = {{2, "xy"}, {0, NULL}, {1, "z"}}, out[3];
    const drep_vlen nul[2] = {{1, "q"}, {4, "a\0b"}};
    drep_dataset *vs, *ss;
    char *back[3];

    ok(drep_type_sequence(bases[_i % 3], &s));
    ok(drep_type_sequence(DREP_INT32_T, &ints));
    vs = new_dataset(f, "v", v, 1, &three);
    ss = new_dataset(f, "s", s, 1, &three);
    ok(drep_write(vs, NULL, NULL, texts, NULL));
    ok(drep_read(vs, NULL, s, out, NULL));
    is_bytes(&out[0], "abc", 3);
    is_bytes(&out[1], "", 0);
    is_bytes(&out[2], texts[2], 6);
    drep_vlen_free(s, 3, out);
    ok(drep_write(vs, NULL, s, in, NULL));
    ok(drep_read(vs, NULL, NULL, back, NULL));
    ck_assert(!strcmp(back[0], "xy") && !strcmp(back[1], "") && !strcmp(back[2], "z"));
    drep_vlen_free(v, 3, back);
    ok(drep_write(ss, NULL, v, texts, NULL));
    ok(drep_read(ss, NULL, NULL, out, NULL));
    is_bytes(&out[2], texts[2], 6);
    drep_vlen_free(s, 3, out);
    ok(drep_read(ss, NULL, v, back, NULL));
    for (int i = 0; i < 3; i++)
        ck_assert_str_eq(back[i], texts[i]);
    drep_vlen_free(v, 3, back);
    ok(drep_write_box(vs, NULL, &two, s, nul, NULL));
    ok(drep_read_box(vs, NULL, &two, s, out, NULL));
    is_bytes(&out[1], "a\0b", 4);
    drep_vlen_free(s, 2, out);
    fails(drep_read_box(vs, NULL, &two, v, back, NULL), DREP_ERR_CONVERSION);
    ck_assert_msg(strstr(drep_error(), "item 1") && strstr(drep_error(), "NUL at byte 1"), "%s",
                  drep_error());
    ok(drep_write_box(ss, NULL, &two, NULL, nul, NULL));
    fails(drep_read_box(ss, NULL, &two, v, back, NULL), DREP_ERR_CONVERSION);
    ok(drep_read_box(ss, NULL, &two, v, back, &clamp));
    ck_assert(!strcmp(back[0], "q") && !strcmp(back[1], "a"));
    drep_vlen_free(v, 2, back);
    fails(drep_read(vs, NULL, ints, out, NULL), DREP_ERR_TYPE);
    ok(drep_attr_write(f, "/", "a", v, 1, &three, texts));
    ok(drep_attr_read(f, "/", "a", s, out));
    is_bytes(&out[2], texts[2], 6);
    ok(drep_convert(v, back, s, out, 3, NULL));
    ck_assert_str_eq(back[2], texts[2]);
    drep_vlen_free(s, 3, out);
    ok(drep_convert(s, out, v, back, 3, NULL));
    is_bytes(&out[0], "abc", 3);
    drep_vlen_free(s, 3, out);
    drep_vlen_free(v, 3, back);
    check_file(f);
    drep_dataset_close(vs);
    drep_dataset_close(ss);
    drep_type_free(v);
    drep_type_free(s);
    drep_type_free(ints);
    drep_abandon(f);
}
END_TEST

/* The error names the element; an array of strings is an array of texts. */
START_TEST(test_texts_of_datasets_and_attributes)
{
    drep_file *f = new_file(":memory:", "external32");
    const int64_t three = 3, two = 2;
    drep_type *v = vstring_type(), *s = string_type(4, DREP_PAD_SPACE), *both, *texts;
    drep_dataset *ds = new_dataset(f, "d", s, 1, &three), *vs = new_dataset(f, "v", v, 1, &three);
    const char *three_texts[] = {"one", "two", "three"}, *four[] = {"a", "b", "c", "dddd"};
    char *back[4] = {NULL}, bytes[16];

    fails(drep_write(ds, NULL, v, three_texts, NULL), DREP_ERR_CONVERSION);
    ck_assert_msg(strstr(drep_error(), "dataset \"d\"") && strstr(drep_error(), "item 2"), "%s",
                  drep_error());
    three_texts[2] = "drei";
    ok(drep_write(ds, NULL, v, three_texts, NULL));
    ok(drep_read(ds, NULL, v, back, NULL));
    ck_assert_str_eq(back[0], "one");
    ck_assert_str_eq(back[2], "drei");
    drep_vlen_free(v, 3, back);
    ok(drep_write(vs, NULL, s, "one two drei", NULL));
    ok(drep_read(vs, NULL, v, back, NULL));
    ck_assert_str_eq(back[1], "two");
    drep_vlen_free(v, 3, back);
    ok(drep_read(vs, NULL, s, bytes, NULL));
    ck_assert_int_eq(memcmp(bytes, "one two drei", 12), 0);
    fails(drep_read(vs, NULL, DREP_CHAR, bytes, NULL), DREP_ERR_TYPE);

    ok(drep_type_array(1, &two, s, &both));
    ok(drep_type_array(1, &two, v, &texts));
    ok(drep_attr_write(f, "/d", "pairs", texts, 1, &two, four));
    ok(drep_attr_read(f, "/d", "pairs", both, bytes));
    ck_assert_int_eq(memcmp(bytes, "a   b   c   dddd", 16), 0);
    ok(drep_attr_write(f, "/d", "pairs", both, 1, &two, bytes));
    ok(drep_attr_read(f, "/d", "pairs", texts, back));
    ck_assert_str_eq(back[3], "dddd");
    drep_vlen_free(texts, 2, back);
    check_file(f);
    drep_type_free(v);
    drep_type_free(s);
    drep_type_free(both);
    drep_type_free(texts);
    drep_dataset_close(ds);
    drep_dataset_close(vs);
    ok(drep_close(f));
}
END_TEST

/* ---- structs whose bytes are the same on both sides ---- */

enum { ROWS_OF_PLAIN = 3000 };
struct plain {
    int64_t number;
    float position[2];
    double value;
};
struct wide { /* the same members, and a gap */
    int64_t number;
    float position[2];
    double value;
    char gap[8];
};
struct turned { /* in another order */
    double value;
    int64_t number;
    float position[2];
};

static drep_type *plain_type(const char *const *name, const int64_t *at, int64_t size)
{
    const int64_t two = 2;
    const drep_type *types[3];
    drep_type *array, *t;

    ok(drep_type_array(1, &two, DREP_FLOAT, &array));
    for (int i = 0; i < 3; i++)
        types[i] = name[i][0] == 'n' ? DREP_INT64_T : name[i][0] == 'p' ? array : DREP_DOUBLE;
    ok(drep_type_compound(3, name, at, types, size, &t));
    drep_type_free(array);
    return t;
}

static void check_plain(const struct plain *p, int64_t i)
{
    ck_assert_int_eq(p->number, i * 3);
    ck_assert(p->position[0] == (float)i && p->position[1] == (float)-i &&
              p->value == 0.5 * (double)i);
}

/* Whole and in part, as they are, into memory with gaps, and in another order. */
static void plain_structs(const drep_spec *like, const char *datarep)
{
    static const char *const order[] = {"number", "position", "value"};
    static const char *const other[] = {"value", "number", "position"};
    const int64_t at[] = {0, 8, 16}, first = 701, some = 1203;
    drep_type *same = plain_type(order, at, sizeof(struct plain));
    drep_type *gap = plain_type(order, at, sizeof(struct wide));
    drep_type *turn = plain_type(other, at, sizeof(struct turned));
    struct plain *in = calloc(ROWS_OF_PLAIN, sizeof *in), *out = calloc(ROWS_OF_PLAIN, sizeof *out);
    struct wide *wide = malloc(ROWS_OF_PLAIN * sizeof *wide);
    struct turned *turned = malloc(ROWS_OF_PLAIN * sizeof *turned);
    drep_report report = DREP_REPORT;
    const drep_xfer counted = DREP_XFER(.report = &report, .threads = 1);
    drep_spec spec = *like;
    drep_selection *sel;
    drep_dataset *ds;
    drep_file *f;

    for (int64_t i = 0; i < ROWS_OF_PLAIN; i++)
        in[i] = (struct plain){i * 3, {(float)i, (float)-i}, 0.5 * (double)i};
    spec.type = same;
    ok(drep_create(":memory:", DREP_RDWR, datarep, NULL, &f));
    ok(drep_dataset_create(f, "/d", &spec, &ds));
    ok(drep_write(ds, NULL, same, in, NULL));
    ok(drep_select_box(1, &first, &some, NULL, NULL, &sel));
    ok(drep_write(ds, sel, same, in + first, NULL)); /* now in part */
    ok(drep_read(ds, NULL, same, out, &counted));
    ck_assert_int_eq(memcmp(in, out, ROWS_OF_PLAIN * sizeof *in), 0);
    ck_assert_int_eq(report.items, 4 * ROWS_OF_PLAIN);
    memset(out, 0, ROWS_OF_PLAIN * sizeof *out);
    ok(drep_read(ds, sel, same, out, NULL));
    for (int64_t i = 0; i < some; i++)
        check_plain(out + i, first + i);
    memset(wide, 0x77, ROWS_OF_PLAIN * sizeof *wide);
    ok(drep_read(ds, sel, gap, wide, NULL));
    ok(drep_read(ds, sel, turn, turned, NULL));
    for (int64_t i = 0; i < some; i++) {
        check_plain(&(struct plain){wide[i].number,
                                    {wide[i].position[0], wide[i].position[1]},
                                    wide[i].value},
                    first + i);
        ck_assert_int_eq(wide[i].gap[0] & wide[i].gap[7], 0x77);
        check_plain(&(struct plain){turned[i].number,
                                    {turned[i].position[0], turned[i].position[1]},
                                    turned[i].value},
                    first + i);
    }
    ok(drep_write(ds, sel, turn, turned, NULL));
    ok(drep_write(ds, sel, gap, wide, NULL));
    ok(drep_read(ds, NULL, same, out, NULL));
    ck_assert_int_eq(memcmp(in, out, ROWS_OF_PLAIN * sizeof *in), 0);
    drep_selection_free(sel);
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_type_free(same);
    drep_type_free(gap);
    drep_type_free(turn);
    free(in);
    free(out);
    free(wide);
    free(turned);
}

START_TEST(test_structs_that_are_the_same_bytes)
{
    const int64_t dims = ROWS_OF_PLAIN, chunk = 256;
    const drep_filter shuffle = {.id = DREP_FILTER_SHUFFLE};
    drep_spec spec = DREP_SPEC(.rank = 1, .dims = &dims);

    for (int i = 0; i < 2; i++) {
        const char *datarep = i ? "external32" : "native";

        spec.layout = DREP_CONTIGUOUS;
        spec.chunk = NULL;
        spec.filters = NULL;
        spec.nfilters = 0;
        plain_structs(&spec, datarep);
        spec.layout = DREP_CHUNKED;
        spec.chunk = &chunk;
        plain_structs(&spec, datarep);
        spec.filters = &shuffle;
        spec.nfilters = 1;
        plain_structs(&spec, datarep);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("data members");
    TCase *tcase = tcase_create("members");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, test_D44_any_members_in_any_order);
    tcase_add_test(tcase, test_D44_members_that_the_file_lacks);
    tcase_add_test(tcase, test_D44_shapes_and_sides_without_names);
    tcase_add_test(tcase, test_D44_fill_values);
    tcase_add_test(tcase, test_D44_sequences);
    tcase_add_test(tcase, test_D44_attributes_and_memory);
    tcase_add_test(tcase, test_D44_U5_functions_see_the_members_alone);
    tcase_add_test(tcase, test_D44_threads_share_a_dataset);
    tcase_add_test(tcase, test_D44_many_members);
    tcase_add_test(tcase, test_structs_that_are_the_same_bytes);
    tcase_add_test(tcase, test_D44_allocations_fail);
    tcase_add_test(tcase, test_texts_that_do_not_fit);
    tcase_add_loop_test(tcase, test_texts_and_sequences, 0, 6);
    tcase_add_test(tcase, test_texts_of_datasets_and_attributes);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
