/* test_property.c - the property of data representations.
 *
 * For random datatypes, representations, positions, staging sizes and cuts of a transfer
 * into calls, the bytes are those of a reference that converts one item at a time, in both
 * directions; and nothing else is written.  U5 to U8, U10, D3, D7, E5, E8, E9, E12, E13.
 *
 * Every case begins with a seed of its own, which a failure names: DREP_TEST_SEED=SEED
 * begins there.  PROPERTY_TIME=SECONDS goes on for so long. */
/* SPDX-License-Identifier: MIT */
#include "rep/convert.h"
#include "rep/dispatch.h"
#include "rep/rep.h"
#include "tests/unit/random_type.h"
#include "tests/unit/reference.h"

#include <time.h>

#ifdef HAVE_REFERENCE

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CASES = 30000 };
#else
enum { CASES = 400000 };
#endif
enum { CASES_A_TYPE = 16, SPAN_MAX = 1 << 17, GUARD = 64 };

static uint64_t seed; /* of the case */
static int64_t cases;

/* ---------------------------------------------------- the representations */

/* Under a subject an item is an item of the reference, or what `code_put` makes of it. */
struct subject {
    const char *name;
    const char *like; /* the reference's name of it; NULL: declared or by functions */
    bool (*item)(struct ref_item *out, int code);
    int (*code_size)(int code);
    void (*code_put)(int code, const uint8_t *native, uint8_t *file);
};

static int native_size(int code)
{
    return (int)drep_type_size(drep_predefined(code));
}

/* E13: never converted, not by functions either; strings consist of them. */
static bool is_byte(int code)
{
    return code == DREP_CODE_BYTE || code == DREP_CODE_PACKED;
}

/* The bytes of a file are those of memory, masked. */
static void xor_put(int code, const uint8_t *native, uint8_t *file)
{
    for (int i = 0, n = native_size(code); i < n; i++)
        file[i] = native[i] ^ (is_byte(code) ? 0 : 0x5a);
}

static void xor_get(int code, const uint8_t *file, uint8_t *native)
{
    xor_put(code, file, native);
}

/* The code, the bytes of memory from the last to the first, and none, one or two zeros. */
static int longer_size(int code)
{
    return is_byte(code) ? 1 : 1 + native_size(code) + code % 3;
}

static void longer_put(int code, const uint8_t *native, uint8_t *file)
{
    int n = native_size(code);

    if (is_byte(code)) {
        *file = *native;
        return;
    }
    memset(file, 0, (size_t)longer_size(code));
    file[0] = (uint8_t)code;
    for (int i = 0; i < n; i++)
        file[1 + i] = native[n - 1 - i];
}

static void longer_get(int code, const uint8_t *file, uint8_t *native)
{
    int n = native_size(code);

    for (int i = 0; i < n; i++)
        native[i] = file[is_byte(code) ? i : n - i];
}

/* What the functions of a transfer see: U5, U6, U7. */
static struct {
    void *userbuf;
    const drep_type *type;
    int64_t next, calls;
} seen;

struct codec {
    int (*size)(int code);
    void (*put)(int code, const uint8_t *native, uint8_t *file);
    void (*get)(int code, const uint8_t *file, uint8_t *native);
};
static struct codec by_xor = {native_size, xor_put, xor_get};
static struct codec by_length = {longer_size, longer_put, longer_get};

static int codec_move(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state, bool reading)
{
    const struct codec *codec = state;
    uint8_t *f = file, *at;
    drep_cursor cursor;
    drep_run run;

    if (user != seen.userbuf || !drep_type_equivalent(type, seen.type) || position != seen.next ||
        count < 1)
        return 1;
    seen.next += count;
    seen.calls++;
    drep_cursor_init(&cursor, type, position);
    for (; count > 0 && drep_cursor_next(&cursor, count, &run); count -= run.count)
        for (int64_t i = 0; i < run.count; i++) {
            int code = drep_type_code(run.type);

            at = (uint8_t *)user + run.offset + i * run.stride;
            if (reading)
                codec->get(code, f, at);
            else
                codec->put(code, at, f);
            f += codec->size(code);
        }
    return 0;
}

static int codec_read(void *u, const drep_type *t, int64_t n, void *f, int64_t p, void *x)
{
    return codec_move(u, t, n, f, p, x, true);
}

static int codec_write(void *u, const drep_type *t, int64_t n, void *f, int64_t p, void *x)
{
    return codec_move(u, t, n, f, p, x, false);
}

static int codec_extent(const drep_type *type, int64_t *extent, void *state)
{
    const struct codec *codec = state;

    *extent = codec->size(drep_type_code(type));
    return 0;
}

static bool native_item(struct ref_item *out, int code)
{
    return ref_item_of(out, "native", code);
}

/* Formats, orders and widths that no machine has together. */
static const drep_scalar scalars[] = {
    {.cls = DREP_SCALAR_INT,
     .order = DREP_BIG,
     .size = 3,
     .is_signed = 1,
     .format = DREP_FORMAT_CUSTOM,
     .precision = 19,
     .offset = 2},
};
static const drep_encoding rows_declared[] = {
    {DREP_CODE_FLOAT, DREP_FORMAT_IBM_HEX32, DREP_BIG, 4, 1, 0, 0},
    {DREP_CODE_DOUBLE, DREP_FORMAT_VAX_G, DREP_VAX, 8, 1, 0, 0},
    {DREP_CODE_LONG_DOUBLE, DREP_FORMAT_X87, DREP_BIG, 10, 1, 0, 0},
    {DREP_CODE_C_DOUBLE_COMPLEX, DREP_FORMAT_CRAY64, DREP_LITTLE, 16, 1, 0, 0},
    {DREP_CODE_INT, DREP_FORMAT_CUSTOM, DREP_BIG, 3, 1, 0, 0},
    {DREP_CODE_SHORT, DREP_FORMAT_INT, DREP_LITTLE, 5, 1, 0, 0},
    {DREP_CODE_LONG, DREP_FORMAT_UINT, DREP_VAX, 6, 1, 0, 0},
    {DREP_CODE_INT8_T, DREP_FORMAT_INT, DREP_VAX, 1, 1, 0, 0},
    {DREP_CODE_C_BOOL, DREP_FORMAT_BOOL, DREP_BIG, 3, 1, 0, 0},
};
enum { ROWS_DECLARED = sizeof rows_declared / sizeof rows_declared[0] };

static bool declared_item(struct ref_item *out, int code)
{
    ref_item_of(out, "external32", code);
    for (int i = 0; i < ROWS_DECLARED; i++) {
        const drep_encoding *row = &rows_declared[i];

        if (row->code != code)
            continue;
        out->order = row->order;
        out->size = row->size / out->parts;
        if (out->cls == REF_REAL)
            out->real = ref_format_of(row->format, out->size);
        if (code == DREP_CODE_LONG)
            out->cls = REF_UINT; /* the row's format says so */
        if (row->format == DREP_FORMAT_CUSTOM) {
            out->low = 2;
            out->bits = 19;
        }
    }
    return true;
}

static const struct subject subjects[] = {
    {"native", "native", NULL, NULL, NULL},
    {"external32", "external32", NULL, NULL, NULL},
    {"internal", "internal", NULL, NULL, NULL},
    {"native:s390x", "native:s390x", NULL, NULL, NULL},
    {"native:i386", "native:i386", NULL, NULL, NULL},
    {"native:m68k", "native:m68k", NULL, NULL, NULL},
    {"native:ppc64el-ibm", "native:ppc64el-ibm", NULL, NULL, NULL},
    {"native:powerpc", "native:powerpc", NULL, NULL, NULL},
    {"native:win64", "native:win64", NULL, NULL, NULL},
    {"native:armhf", "native:armhf", NULL, NULL, NULL},
    {"declared", NULL, declared_item, NULL, NULL},
    /* The same by functions alone (D7), and a user's own. */
    {"code-external32", "external32", NULL, NULL, NULL},
    {"code-declared", NULL, declared_item, NULL, NULL},
    {"null", NULL, native_item, NULL, NULL},
    {"xor", NULL, NULL, native_size, xor_put},
    {"longer", NULL, NULL, longer_size, longer_put},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static void must(int err)
{
    ck_assert_msg(err == 0, "DREP_TEST_SEED=%llu: error %d: %s", (unsigned long long)seed, err,
                  drep_error());
}

static void by_functions(const char *name, const char *of)
{
    drep_datarep rep = DREP_DATAREP;

    must(drep_datarep_get(of, &rep));
    must(drep_register_datarep(name, rep.read, rep.write, rep.extent, rep.extra_state));
}

static void subjects_register(void)
{
    drep_datarep native = DREP_DATAREP;

    must(drep_declare_datarep("declared", "external32", rows_declared, ROWS_DECLARED, scalars, 1));
    by_functions("code-external32", "external32");
    by_functions("code-declared", "declared");
    must(drep_datarep_get("native", &native));
    must(drep_register_datarep("null", NULL, NULL, native.extent, native.extra_state));
    must(drep_register_datarep("xor", codec_read, codec_write, codec_extent, &by_xor));
    must(drep_register_datarep("longer", codec_read, codec_write, codec_extent, &by_length));
}

/* ------------------------------------------- the reference, item by item */

struct one {
    int64_t user, file; /* offsets of the item */
    int size;           /* in the file */
    int code;           /* 0: a scalar, the same everywhere */
    struct ref_item in_memory, in_file;
};

struct test {
    const struct subject *subject;
    const struct datarep *rep;
    const drep_type *type;
    const struct oracle *map;
    int64_t position, items, before; /* bytes of the items before */
    struct one *one;
    int64_t low, span, file_size; /* of the user's buffer; of the file's */
    bool overlaps;
    struct rnd rnd;
};

static void one_init(const struct test *t, struct one *o, const struct oracle_item *item)
{
    const struct subject *s = t->subject;

    o->code = drep_type_code(item->leaf);
    o->user = item->offset;
    if (o->code == 0) {
        o->in_memory = (struct ref_item){
            .cls = REF_BYTES, .parts = 1, .size = (int)item->size, .order = DREP_LITTLE};
        o->in_file = o->in_memory;
    } else {
        ref_item_of(&o->in_memory, "native", o->code);
        if (s->item)
            s->item(&o->in_file, o->code);
        else
            ref_item_of(&o->in_file, s->like ? s->like : "native", o->code);
    }
    o->size = s->code_size ? s->code_size(o->code) : o->in_file.size * o->in_file.parts;
}

/* Where all items are; false: not a case. */
static bool test_items(struct test *t)
{
    int64_t high = 1, at = 0;
    uint8_t *taken;

    t->low = 0;
    t->one = malloc((size_t)(t->position + t->items) * sizeof *t->one);
    for (int64_t i = 0; i < t->position + t->items; i++) {
        struct one *o = &t->one[i];
        struct oracle_item item = t->map->item[i % t->map->n];

        item.offset += i / t->map->n * oracle_extent(t->map);
        one_init(t, o, &item);
        o->file = at;
        at += o->size;
        if (i < t->position) {
            t->before = at;
            continue;
        }
        t->low = o->user < t->low ? o->user : t->low;
        high = o->user + item.size > high ? o->user + item.size : high;
    }
    t->span = high - t->low;
    t->file_size = at - t->before;
    if (t->span > SPAN_MAX)
        return false;
    taken = calloc(1, (size_t)t->span);
    t->overlaps = false;
    for (int64_t i = t->position; i < t->position + t->items; i++)
        for (int b = 0; b < t->one[i].in_memory.size * t->one[i].in_memory.parts; b++)
            t->overlaps |= taken[t->one[i].user - t->low + b]++ > 0;
    free(taken);
    return true;
}

static void one_put(const struct test *t, const struct one *o, const uint8_t *user, uint8_t *file)
{
    if (t->subject->code_put)
        t->subject->code_put(o->code, user, file);
    else
        ref_convert(file, &o->in_file, user, &o->in_memory);
}

/* ----------------------------------------------------- through the library */

static int upto(struct test *t, int64_t max)
{
    return (int)rnd_below(&t->rnd, (uint64_t)max + 1);
}

/* A staging size, from less than any item up. */
static int64_t staging(struct test *t)
{
    static const int64_t sizes[] = {1, 2, 7, 16, 33, 100, 1000, INT64_MAX};

    return sizes[upto(t, 7)];
}

/* A piece by the dispatcher or by the function itself; it may begin anywhere. */
static int piece(struct test *t, uint8_t *user, int64_t position, int64_t n, uint8_t *file,
                 bool reading, bool direct)
{
    drep_conversion_fn *fn = reading ? t->rep->read : t->rep->write;
    int64_t done = -1, used = -1, bytes = 0;
    int err;

    for (int64_t i = position; i < position + n; i++)
        bytes += t->one[i].size;
    seen.next = position;
    if (direct && fn)
        return fn(user, t->type, n, file, position, t->rep->extra_state);
    err = reading ? rep_read_items(t->rep, NULL, user, t->type, position, n, file, staging(t),
                                   &done, &used)
                  : rep_write_items(t->rep, NULL, user, t->type, position, n, file, staging(t),
                                    &done, &used);
    if (!err && (done != n || used != bytes))
        ck_abort_msg("DREP_TEST_SEED=%llu: \"%s\" from item %lld: %lld items and %lld bytes, not "
                     "%lld and %lld",
                     (unsigned long long)seed, t->subject->name, (long long)position,
                     (long long)done, (long long)used, (long long)n, (long long)bytes);
    return err;
}

static int in_pieces(struct test *t, uint8_t *user, uint8_t *file, bool reading)
{
    int64_t end = t->position + t->items, i = t->position, n;
    bool whole = upto(t, 2) == 0, direct = upto(t, 3) == 0;
    int err = 0;

    for (; !err && i < end; i += n) {
        n = whole ? end - i
                  : 1 + upto(t, end - i < 20 ? end - i - 1
                                : upto(t, 4) ? 19
                                             : end - i - 1);
        err = piece(t, user, i, n, file + (t->one[i].file - t->before), reading, direct);
    }
    return err;
}

/* The engine with both sides at the position, in pieces: file must hold the items before,
 * too. */
static int by_engine(struct test *t, uint8_t *user, uint8_t *file, bool reading)
{
    const struct rep_opts opts = {.range = DREP_RANGE_WRAP};
    int64_t end = t->position + t->items, i = t->position, n, done;
    struct type_sizes sizes;
    struct prog packed;
    int err = 0;

    rep_table_sizes(t->rep->table, &sizes);
    must(prog_build(&packed, t->type, &sizes, PROG_PACKED));
    for (; !err && i < end; i += n) {
        struct rep_side memory = {&t->type->prog, rep_native(), i};
        struct rep_side stored = {&packed, t->rep->table, i};

        n = upto(t, 1) ? end - i : 1 + upto(t, end - i - 1);
        err = reading ? rep_convert(user, &memory, file, &stored, n, &opts, &done)
                      : rep_convert(file, &stored, user, &memory, n, &opts, &done);
        ck_assert(err || done == n);
    }
    prog_release(&packed);
    return err;
}

/* file: the item at the position. */
static void transfer(struct test *t, uint8_t *user, uint8_t *file, bool reading)
{
    int64_t count = t->items / t->map->n, at = 0, size;

    seen.userbuf = user;
    seen.type = t->type;
    if (t->position == 0 && t->items % t->map->n == 0 && upto(t, 1)) {
        seen.next = 0;
        must(drep_pack_size(t->subject->name, count, t->type, &size));
        ck_assert_int_eq(size, t->file_size);
        must(reading ? drep_unpack(t->subject->name, file, size, &at, user, count, t->type)
                     : drep_pack(t->subject->name, user, count, t->type, file, size, &at));
        ck_assert_int_eq(at, size);
        return;
    }
    if (t->rep->table && upto(t, 1))
        must(by_engine(t, user, file - t->before, reading));
    else
        must(in_pieces(t, user, file, reading));
}

static void same(const struct test *t, const uint8_t *got, const uint8_t *want, int64_t n,
                 const char *what)
{
    char *text;
    int64_t i = 0;

    if (memcmp(got, want, (size_t)n) == 0)
        return;
    while (got[i] == want[i])
        i++;
    must(drep_type_print(t->type, &text));
    ck_abort_msg(
        "DREP_TEST_SEED=%llu: %s under \"%s\", items %lld to %lld of %s: byte %lld of %lld "
        "is %02x, not %02x",
        (unsigned long long)seed, what, t->subject->name, (long long)t->position,
        (long long)(t->position + t->items - 1), text, (long long)(i - GUARD),
        (long long)(n - 2 * GUARD), got[i], want[i]);
}

/* Buffers with guards on both sides; want: what the library must make of them. */
struct buffers {
    uint8_t *user, *user_want, *file, *file_want;
    int64_t user_size, file_size;
};

static uint8_t *user_at(const struct test *t, uint8_t *user, const struct one *o)
{
    return user + GUARD - t->low + o->user;
}

static void check(const struct test *t, const struct buffers *b, const char *what)
{
    same(t, b->file, b->file_want, b->file_size, what);
    same(t, b->user, b->user_want, b->user_size, what);
}

static void test_write(struct test *t, struct buffers *b)
{
    memset(b->user, t->overlaps ? upto(t, 1) : 0xee, (size_t)b->user_size);
    memset(b->file, 0xdd, (size_t)b->file_size);
    memset(b->file_want, 0xdd, (size_t)b->file_size);
    for (int64_t i = t->position; i < t->position + t->items; i++) {
        if (!t->overlaps)
            ref_random(&t->one[i].in_memory, &t->rnd, user_at(t, b->user, &t->one[i]));
        one_put(t, &t->one[i], user_at(t, b->user, &t->one[i]),
                b->file_want + GUARD + t->one[i].file);
    }
    memcpy(b->user_want, b->user, (size_t)b->user_size);
    transfer(t, b->user + GUARD - t->low, b->file + GUARD + t->before, false);
    check(t, b, "written");
}

static void test_read(struct test *t, struct buffers *b)
{
    for (int64_t i = 0; i < b->user_size; i++) /* what gaps must keep */
        b->user[i] = b->user_want[i] = (uint8_t)(0x40 + i % 7);
    memset(b->file, 0xdd, (size_t)b->file_size);
    for (int64_t i = t->position; i < t->position + t->items; i++) {
        const struct one *o = &t->one[i];
        uint8_t *user = user_at(t, b->user_want, o), *file = b->file + GUARD + o->file;

        if (t->subject->code_put) {
            ref_random(&o->in_memory, &t->rnd, user);
            one_put(t, o, user, file);
        } else {
            ref_random(&o->in_file, &t->rnd, file);
            ref_convert(user, &o->in_memory, file, &o->in_file);
        }
    }
    memcpy(b->file_want, b->file, (size_t)b->file_size);
    transfer(t, b->user + GUARD - t->low, b->file + GUARD + t->before, true);
    check(t, b, "read");
}

static void test_both(struct test *t)
{
    struct buffers b = {.user_size = t->span + 2 * GUARD,
                        .file_size = t->before + t->file_size + 2 * GUARD};

    b.user = malloc((size_t)b.user_size);
    b.user_want = malloc((size_t)b.user_size);
    b.file = malloc((size_t)b.file_size);
    b.file_want = malloc((size_t)b.file_size);
    test_write(t, &b);
    if (!t->overlaps) /* else whose bytes are there last is nobody's promise */
        test_read(t, &b);
    free(b.user);
    free(b.user_want);
    free(b.file);
    free(b.file_want);
}

/* ------------------------------------------------------------------ cases */

/* Has it items, and only such as are packed; as functions see them? */
static bool suits(const struct oracle *map, bool functions)
{
    for (int64_t i = 0; i < map->n; i++) {
        int kind = map->item[i].leaf->kind;

        if (kind != DREP_KIND_PREDEFINED && (functions || kind != DREP_KIND_SCALAR))
            return false;
    }
    return map->n > 0;
}

/* A position and a number of items: few of anything, or many small elements. */
static void choose_items(struct test *t)
{
    int64_t n = t->map->n;

    t->position = upto(t, 1) ? 0 : upto(t, 2 * n < 90 ? 2 * n : 90);
    switch (upto(t, 3)) {
    case 0:
        t->items = 1 + upto(t, 7);
        break;
    case 1:
        t->items = n <= 12 ? n * (8 + upto(t, 12)) + upto(t, 1) * upto(t, n) : 1 + upto(t, 60);
        break;
    case 2:
        t->items = n <= 60 ? n * (1 + upto(t, 2)) : 1 + upto(t, 60);
        break;
    default:
        t->items = 1 + upto(t, 30);
    }
}

static void one_case(const struct sample *s, bool scalars_inside)
{
    struct test t = {.type = s->type, .map = &s->map[ORACLE_MEMORY]};

    rnd_init(&t.rnd, random_next());
    do
        t.subject = &subjects[upto(&t, SUBJECTS - 1)];
    while (scalars_inside && !rep_find(t.subject->name)->table);
    t.rep = rep_find(t.subject->name);
    choose_items(&t);
    if (test_items(&t)) {
        test_both(&t);
        cases++;
    }
    free(t.one);
}

START_TEST(test_any_type_any_cut_any_staging_same_bytes)
{
    const char *limit = getenv("PROPERTY_TIME");
    time_t end = time(NULL) + (limit ? atol(limit) : 0);
    const int wanted = share_of(CASES);
    struct sample s;
    struct rnd r;

    subjects_register();
    for (seed = random_seed(1); limit ? time(NULL) < end : cases < wanted; seed++) {
        bool scalars_inside;

        rnd_init(&r, seed);
        random_state = rnd_u64(&r) | 1;
        random_sample(&s, 1 + random_upto(4));
        scalars_inside = !suits(&s.map[ORACLE_MEMORY], true);
        if (!drep_type_variable(s.type) && suits(&s.map[ORACLE_MEMORY], false))
            for (int i = 0; i < CASES_A_TYPE; i++)
                one_case(&s, scalars_inside);
        sample_release(&s);
    }
    if (limit)
        printf("%lld cases; the next DREP_TEST_SEED is %llu\n", (long long)cases,
               (unsigned long long)seed);
    counted(cases,
            "random transfers of random types, cut anywhere, seeds from DREP_TEST_SEED or 1 on");
    ck_assert(cases >= (limit ? 1 : wanted));
}
END_TEST

int main(void)
{
    char name[64];
    Suite *suite;
    TCase *tc = tcase_create("property");

    snprintf(name, sizeof name, "property (%d cases)", share_of(CASES));
    suite = suite_create(getenv("PROPERTY_TIME") ? "property" : name);
    tcase_add_test(tc, test_any_type_any_cut_any_staging_same_bytes);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}

#else

int main(void)
{
    printf("skipped: the reference counts in 128 bits, which this compiler does not have\n");
    return run_suite(suite_create("property"));
}

#endif
