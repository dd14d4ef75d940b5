/* test_data_hostile.c - records that no writer of ours would write, behind right sums:
 * they are refused or harmless, and ask for no memory that the file does not justify. */
/* SPDX-License-Identifier: MIT */
#include "chunk/write.h"
#include "elem/dataset.h"
#include "file/file.h"
#include "name/object.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "data_help.h"
#include "tests/fault/limit.h"

static const char *path;
static drep_file *f;

static void setup(void)
{
    register_datareps();
    path = temp_path("hostile");
    limit_begin();
    f = new_file(path, "external32");
}

/* None of the files here has as much as a MiB. */
static void teardown(void)
{
    int64_t peak;

    drep_abandon(f);
    peak = limit_peak();
    ck_assert_msg(peak < LIMIT_MEMORY, "it took %lld bytes of memory", (long long)peak);
}

/* ---- changing records behind the library's back ---- */

static void put(const struct key *key, const void *value, size_t len)
{
    ok(write_begin(f));
    ok(tree_put(f->st, key, value, len));
    ok(write_end(f, 0));
}

static uint64_t id_of(const char *name)
{
    drep_objinfo info = DREP_OBJINFO;

    ok(drep_stat(f, name, &info));
    return info.id;
}

static void load(const char *name, struct stored_object *o)
{
    memset(o, 0, sizeof *o);
    ok(object_load(f, id_of(name), o));
}

static void store(struct stored_object *o)
{
    ok(write_begin(f));
    ok(object_store(f, o->id, &o->rec));
    ok(write_end(f, 0));
    object_release(o);
}

static void reopen(int amode)
{
    ok(drep_close(f));
    ok(drep_open(path, amode, NULL, &f));
}

static int count_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)err;
    (void)offset;
    (void)message;
    (void)ctx;
    return 0;
}

static int64_t findings(void)
{
    int64_t n = 0;

    if (store_writable(f->st))
        ok(drep_commit(f));
    ok(drep_check(f, 1, count_finding, NULL, &n));
    return n;
}

/* ---- shapes ---- */

static void read_some(const char *name, int64_t at, int32_t want)
{
    const int64_t n = 10;
    drep_selection *sel;
    drep_dataset *ds;
    int32_t v[10];

    ok(drep_dataset_open(f, name, &ds));
    ok(drep_select_box(1, &at, &n, NULL, NULL, &sel));
    ok(drep_read(ds, sel, DREP_INT32_T, v, NULL));
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(v[i], want);
    drep_selection_free(sel);
    drep_dataset_close(ds);
}

START_TEST(test_shapes_of_fill_alone)
{
    const int64_t n = 1000, chunk = 100;
    const int32_t seven = 7;
    drep_filter filter = {.id = DREP_FILTER_SHUFFLE};
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &n, .fill = DREP_FILL_VALUE,
                               .fill_value = &seven);
    struct stored_object o;

    spec.layout = DREP_CONTIGUOUS;
    ok(drep_dataset_create(f, "flat", &spec, NULL));
    spec.layout = DREP_CHUNKED;
    spec.chunk = &chunk;
    ok(drep_dataset_create(f, "chunks", &spec, NULL));
    spec.filters = &filter;
    spec.nfilters = 1;
    ok(drep_dataset_create(f, "packed", &spec, NULL));
    for (int i = 0; i < 3; i++) {
        load(i == 0 ? "flat" : i == 1 ? "chunks" : "packed", &o);
        o.rec.len[0] = o.rec.max[0] = (uint64_t)1 << 58;
        o.rec.slab = i == 0 ? (uint64_t)1 << 57 : 0;
        o.rec.chunk[0] = i == 0 ? 0 : UINT32_MAX;
        store(&o);
    }
    reopen(DREP_RDONLY);
    for (int i = 0; i < 3; i++)
        read_some(i == 0 ? "flat" : i == 1 ? "chunks" : "packed", ((int64_t)1 << 58) - 10, 7);
    ck_assert_int_eq(findings(), 0);
}
END_TEST

START_TEST(test_shapes_that_are_refused)
{
    const int64_t n = 10;
    drep_type *text;
    struct stored_object o;
    drep_dataset *ds;

    ok(drep_type_vstring(&text));
    drep_dataset_close(new_dataset(f, "compact", DREP_INT32_T, 1, &n));
    drep_dataset_close(new_dataset(f, "text", text, 1, &n));
    drep_dataset_close(new_dataset(f, "square", DREP_INT32_T, 1, &n));
    drep_type_free(text);
    load("compact", &o);
    o.rec.len[0] = o.rec.max[0] = (uint64_t)1 << 40;
    store(&o);
    load("text", &o);
    o.rec.layout = FMT_CONTIGUOUS;
    o.rec.slab = 100;
    store(&o);
    load("square", &o);
    o.rec.layout = FMT_CHUNKED;
    o.rec.rank = 2;
    o.rec.len[0] = o.rec.max[0] = o.rec.len[1] = o.rec.max[1] = (uint64_t)1 << 32;
    o.rec.chunk[0] = o.rec.chunk[1] = UINT32_MAX;
    o.rec.suffix = 2;
    store(&o);
    reopen(DREP_RDONLY);
    fails(drep_dataset_open(f, "compact", &ds), DREP_ERR_UNSUPPORTED);
    fails(drep_dataset_open(f, "text", &ds), DREP_ERR_FORMAT);
    fails(drep_dataset_open(f, "square", &ds), DREP_ERR_UNSUPPORTED);
    ck_assert_int_ge(findings(), 1); /* the others are beyond limits, which is no fault */
}
END_TEST

/* Elements of 2^40 bytes: of fill, and with a fill value that is not there. */
START_TEST(test_elements_without_end)
{
    const int64_t four = 4;
    const uint8_t zero[4] = {0};
    drep_type *small, *big;
    struct stored_object o;
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    uint32_t ref;

    ok(drep_type_array(1, &four, DREP_UINT8_T, &small));
    ok(drep_type_array(1, &(int64_t){(int64_t)1 << 40}, DREP_UINT8_T, &big));
    ok(drep_dataset_create(f, "a", &DREP_SPEC(.type = small, .layout = DREP_CHUNKED), NULL));
    ok(drep_dataset_create(f, "b",
                           &DREP_SPEC(.type = small, .layout = DREP_CHUNKED,
                                      .fill = DREP_FILL_VALUE, .fill_value = zero),
                           NULL));
    for (int i = 0; i < 2; i++) {
        uint32_t first = id_of("a") != 0 ? FMT_TYPE_FIRST : 0;

        ok(write_begin(f));
        ok(ftype_use(f, big, &file_default(f)->rep, &ref));
        ok(ftype_unuse(f, first));
        ok(write_end(f, 0));
        load(i == 0 ? "a" : "b", &o);
        o.rec.type = ref;
        store(&o);
    }
    drep_type_free(small);
    drep_type_free(big);
    reopen(DREP_RDONLY);
    ok(drep_dataset_open(f, "a", &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.element_size, (int64_t)1 << 40);
    drep_dataset_close(ds);
    fails(drep_dataset_open(f, "b", &ds), DREP_ERR_FORMAT);
    findings();
}
END_TEST

/* A chunk that no memory can hold, whose size is small when it is cut to a size_t. */
START_TEST(test_chunks_beyond_memory)
{
    const int64_t n[] = {((int64_t)1 << 28) + 4, SIZE_MAX < UINT64_MAX ? 1 : (int64_t)1 << 29};
    const char *text = "one", *back = NULL;
    drep_type *vstring;
    drep_selection *first;
    drep_dataset *ds;

    ok(drep_type_vstring(&vstring));
    ok(drep_select_box(2, (int64_t[]){0, 0}, (int64_t[]){1, 1}, NULL, NULL, &first));
    ok(drep_dataset_create(
        f, "texts",
        &DREP_SPEC(.type = vstring, .rank = 2, .dims = n, .layout = DREP_CHUNKED, .chunk = n),
        &ds));
    ok(drep_read(ds, first, vstring, &back, NULL));
    ck_assert_str_eq(back, "");
    free((char *)(uintptr_t)back);
    fails(drep_write(ds, first, vstring, &text, NULL), DREP_ERR_NOMEM);
    drep_dataset_close(ds);
    drep_selection_free(first);
    drep_type_free(vstring);
}
END_TEST

/* ---- attributes ---- */

START_TEST(test_attribute_longer_than_its_value)
{
    const int64_t two = 2;
    const int32_t v[2] = {1, 2};
    struct attr_rec rec;
    struct buf bytes = {0};
    uint8_t text[200];
    struct out out;
    struct key key;
    struct in in;
    drep_attrinfo info = DREP_ATTRINFO;

    ok(drep_attr_write(f, "/", "a", DREP_INT32_T, 1, &two, v));
    key_make_attr(&key, 1);
    key_add_bytes(&key, "a", 1);
    ok(tree_get(f->st, &key, &bytes));
    in_init(&in, bytes.p, bytes.len);
    ck_assert_int_eq(attr_get(&in, &rec), 0);
    rec.len[0] = (uint64_t)1 << 40;
    out_init(&out, text, sizeof text);
    attr_put(&out, &rec);
    put(&key, text, out.at);
    buf_release(&bytes);
    reopen(DREP_RDONLY);
    fails(drep_attr_info(f, "/", "a", &info), DREP_ERR_FORMAT);
    fails(drep_attr_read(f, "/", "a", DREP_INT32_T, text), DREP_ERR_FORMAT);
}
END_TEST

/* Stores -1 in four bytes, whose row is then changed to this format. */
static void put_formatted(const char *name, uint8_t format)
{
    const int32_t minus = -1;
    uint8_t text[200], value[7];
    struct buf bytes = {0};
    struct attr_rec rec;
    struct out out;
    struct key key;
    struct in in;

    ok(drep_attr_write(f, "/", name, DREP_INT32_T, 0, NULL, &minus));
    key_make_attr(&key, 1);
    key_add_bytes(&key, name, strlen(name));
    ok(tree_get(f->st, &key, &bytes));
    in_init(&in, bytes.p, bytes.len);
    ck_assert_int_eq(attr_get(&in, &rec), 0);
    ck_assert_uint_eq(rec.value.len, sizeof value);
    memcpy(value, rec.value.p, sizeof value);
    value[1] = format;
    rec.value.p = value;
    out_init(&out, text, sizeof text);
    attr_put(&out, &rec);
    put(&key, text, out.at);
    buf_release(&bytes);
}

static int leave(uint64_t id, const char *what, void *ctx)
{
    ck_assert_uint_eq(id, 1);
    ck_assert_ptr_nonnull(strstr(what, "newer version (R5.36)"));
    ++*(int *)ctx;
    return 0;
}

/* A value means what its row says; one whose format is not known hides itself alone. */
START_TEST(test_values_by_their_formats)
{
    int left = 0;
    drep_copying how = DREP_COPYING(.range = DREP_RANGE_STRICT, .left_out = leave, .ctx = &left);
    drep_encoding row;
    drep_attrinfo info = DREP_ATTRINFO;
    drep_file *g;
    int64_t wide;
    int32_t same;
    drep_item narrow = {.path = "/", .attr = "unsigned", .type = DREP_INT32_T, .buf = &same};
    int n;

    put_formatted("later", 200);
    put_formatted("unsigned", DREP_FORMAT_UINT);
    reopen(DREP_RDONLY);
    ok(drep_attr_read_int64(f, "/", "unsigned", &wide));
    ck_assert_int_eq(wide, UINT32_MAX);
    fails(drep_attr_read(f, "/", "unsigned", DREP_INT32_T, &same), DREP_ERR_CONVERSION);
    ok(drep_readv(f, &narrow, 1, &DREP_XFER(.range = DREP_RANGE_WRAP)));
    ck_assert_int_eq(same, -1);
    ok(drep_attr_encodings(f, "/", "unsigned", &row, 1, &n));
    ck_assert(n == 1 && row.code == DREP_CODE_INT32_T && row.format == DREP_FORMAT_UINT &&
              row.size == 4);
    fails(drep_attr_info(f, "/", "later", &info), DREP_ERR_UNSUPPORTED);
    ck_assert_int_eq(info.number, -1);
    fails(drep_attr_encodings(f, "/", "later", &row, 1, &n), DREP_ERR_UNSUPPORTED);
    ck_assert_int_eq(findings(), 0);
    g = new_file(":memory:", "external32");
    fails(drep_copy(f, "/", g, "/", NULL), DREP_ERR_UNSUPPORTED);
    ok(drep_copy(f, "/", g, "/", &how));
    ck_assert_int_eq(left, 1);
    ok(drep_attr_read_int64(g, "/", "unsigned", &wide));
    ck_assert_int_eq(wide, UINT32_MAX);
    fails(drep_attr_info(g, "/", "later", &info), DREP_ERR_NOT_FOUND);
    check_file(g);
    ok(drep_close(g));
}
END_TEST

/* ---- links ---- */

static void put_link(uint64_t group, const char *name, size_t len, uint64_t index, uint64_t object)
{
    struct link_rec link = {
        .kind = FMT_HARD, .object_kind = FMT_GROUP, .index = index, .object = object};
    uint8_t bytes[100];
    struct out out;
    struct key key;

    out_init(&out, bytes, sizeof bytes);
    link_put(&out, &link);
    key_make(&key, group, FMT_TAG_LINK);
    ck_assert_int_eq(key_add_bytes(&key, name, len), 0);
    put(&key, bytes, out.at);
}

static int any_link(const drep_linkinfo *link, void *ctx)
{
    (void)link;
    (void)ctx;
    return 0;
}

START_TEST(test_groups_in_circles)
{
    drep_objinfo info = DREP_OBJINFO;
    char *where;

    ok(drep_group_create(f, "a/b/c", 1));
    put_link(id_of("a/b/c"), "up", 2, 0, id_of("a"));
    put_link(id_of("a/b/c"), "self", 4, 1, id_of("a/b/c"));
    ok(drep_stat(f, "a/b/c/up/b/c/self/self/up", &info));
    fails(drep_object_path(f, 4711, &where), DREP_ERR_NOT_FOUND);
    fails(drep_link_move(f, "a", "a/b/x"), DREP_ERR_ARG);
    ok(drep_group_create(f, "d", 0));
    ok(drep_link_hard(f, "a/b", "d/b"));
    ck_assert_int_gt(findings(), 0);
    drep_link_remove(f, "a"); /* however it ends */
}
END_TEST

START_TEST(test_links_that_lead_nowhere)
{
    char name[FMT_KEY_MAX - FMT_KEY_HEAD]; /* longer than a name, as long as a key can have it */
    drep_objinfo info = DREP_OBJINFO;

    ok(drep_group_create(f, "g", 0));
    put_link(id_of("g"), "gone", 4, 0, 4711);
    fails(drep_stat(f, "g/gone", &info), DREP_ERR_FORMAT);
    ok(drep_list(f, "g", DREP_BY_NAME, any_link, NULL)); /* reads no objects */
    ok(drep_group_create(f, "h", 0));
    memset(name, 'x', sizeof name);
    put_link(id_of("h"), name, sizeof name, 0, id_of("g"));
    ok(drep_list(f, "h", DREP_BY_NAME, any_link, NULL)); /* as one that cannot be read */
    ok(drep_list(f, "h", DREP_BY_CREATION, any_link, NULL));
    ok(drep_group_create(f, "i", 0));
    put_link(id_of("i"), "a/b", 3, 0, id_of("g"));
    fails(drep_list(f, "i", DREP_BY_NAME, any_link, NULL), DREP_ERR_FORMAT);
    ck_assert_int_gt(findings(), 2);
}
END_TEST

/* ---- variable parts ---- */

static void place(uint8_t *p, uint64_t count, uint64_t offset)
{
    struct out out;

    out_init(&out, p, 16);
    out_u64(&out, count);
    out_u64(&out, offset);
}

START_TEST(test_places_in_a_heap)
{
    static const struct {
        uint64_t count[2], offset[2];
        int err;
    } tries[] = {{{4, 4}, {0, 4}, 0},
                 {{4, 4}, {4, 0}, 0},
                 {{0, 8}, {99, 0}, 0},
                 {{4, 4}, {2, 2}, 0},
                 {{4, 3}, {2, 2}, DREP_ERR_FORMAT},
                 {{4, 4}, {0, 3}, DREP_ERR_FORMAT},
                 {{8, 1}, {0, 7}, DREP_ERR_FORMAT},
                 {{9, 0}, {0, 0}, DREP_ERR_FORMAT},
                 {{1, 0}, {8, 0}, DREP_ERR_FORMAT},
                 {{(uint64_t)1 << 62, 0}, {0, 0}, DREP_ERR_FORMAT},
                 {{UINT64_MAX, 0}, {1, 0}, DREP_ERR_FORMAT},
                 {{1, 0}, {UINT64_MAX, 0}, DREP_ERR_FORMAT}};
    const int64_t two = 2;
    drep_type *text, *bytes;

    ok(drep_type_vstring(&text));
    ok(drep_type_sequence(DREP_UINT8_T, &bytes));
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        for (int k = 0; k < 2; k++) {
            drep_dataset *ds;
            uint8_t payload[40];
            struct key key;
            drep_vlen v[2];

            ds = new_dataset(f, "d", k == 0 ? text : bytes, 1, &two);
            place(payload, tries[i].count[0], tries[i].offset[0]);
            place(payload + 16, tries[i].count[1], tries[i].offset[1]);
            memset(payload + 32, 'a', 8);
            key_make(&key, id_of("d"), FMT_TAG_DATA);
            put(&key, payload, sizeof payload);
            fails(drep_read(ds, NULL, NULL, v, NULL), tries[i].err);
            if (tries[i].err == 0)
                drep_vlen_free(k == 0 ? text : bytes, 2, v);
            drep_dataset_close(ds);
            ck_assert_int_eq(findings() != 0, tries[i].err != 0);
            ok(drep_link_remove(f, "d"));
        }
    drep_type_free(text);
    drep_type_free(bytes);
}
END_TEST

/* A compact dataset whose n elements all name the same content. */
static drep_dataset *name_often(const char *name, const drep_type *type, int64_t n, uint64_t count,
                                const void *heap, size_t size)
{
    drep_dataset *ds = new_dataset(f, name, type, 1, &n);
    size_t fixed = (size_t)n * 16;
    uint8_t *payload = malloc(fixed + size);
    struct key key;

    for (int64_t i = 0; i < n; i++)
        place(payload + 16 * i, count, 0);
    memcpy(payload + fixed, heap, size);
    key_make(&key, id_of(name), FMT_TAG_DATA);
    put(&key, payload, fixed + size);
    free(payload);
    return ds;
}

/* R5.34: 4,096 names of 60,000 bytes are 240 MB and refused before anything is allocated. */
START_TEST(test_contents_named_too_often)
{
    static char text[60000];
    drep_type *type;
    char *v[17];

    memset(text, 'a', sizeof text);
    ok(drep_type_vstring(&type));
    for (int64_t n = 16; n <= 17; n++) {
        drep_dataset *ds = name_often("d", type, n, 4, "full", 4);

        fails(drep_read(ds, NULL, NULL, v, NULL), n == 16 ? 0 : DREP_ERR_UNSUPPORTED);
        for (int i = 0; n == 16 && i < 16; i++)
            ck_assert_str_eq(v[i], "full");
        if (n == 16)
            drep_vlen_free(type, n, v);
        drep_dataset_close(ds);
        ck_assert_int_eq(findings(), 0);
        ok(drep_link_remove(f, "d"));
    }
    drep_dataset_close(name_often("d", type, 4096, sizeof text, text, sizeof text));
    ck_assert_int_ne(findings(), 0);
    ok(drep_link_remove(f, "d"));
    drep_type_free(type);
}
END_TEST

/* Writing one element leaves the others what they were, and gives each a content of its own. */
START_TEST(test_write_beside_shared_contents)
{
    const char *const word = "a longer word";
    drep_dataset *ds;
    drep_selection *sel;
    drep_type *type;
    char *v[16];

    ok(drep_type_vstring(&type));
    ds = name_often("d", type, 16, 4, "full", 4);
    ok(drep_select_box(1, (int64_t[]){3}, (int64_t[]){1}, NULL, NULL, &sel));
    ok(drep_write(ds, sel, NULL, &word, NULL));
    ck_assert_int_eq(findings(), 0);
    ok(drep_read(ds, NULL, NULL, v, NULL));
    for (int i = 0; i < 16; i++)
        ck_assert_str_eq(v[i], i == 3 ? word : "full");
    drep_vlen_free(type, 16, v);
    drep_selection_free(sel);
    drep_dataset_close(ds);
    drep_type_free(type);
}
END_TEST

/* Gives all elements of an attribute of sequences the content of the first. */
static void share_first(const char *object, const char *name, int64_t n)
{
    struct buf bytes = {0};
    struct key key;
    uint8_t *places;

    key_make_attr(&key, id_of(object));
    key_add_bytes(&key, name, strlen(name));
    ok(tree_get(f->st, &key, &bytes));
    places = bytes.p + bytes.len - n * 16 - n * 16; /* behind them two references each */
    for (int64_t i = 1; i < n; i++)
        memcpy(places + 16 * i, places, 16);
    put(&key, bytes.p, bytes.len);
    buf_release(&bytes);
}

/* References in a content that several elements share are replaced once: the second time they
 * would lead somewhere else. */
START_TEST(test_copy_of_shared_references)
{
    const int64_t three = 3;
    drep_type *ref, *type;
    drep_ref refs[2] = {{0, NULL}, {0, NULL}};
    drep_vlen v[3] = {{2, refs}, {2, refs}, {2, refs}};
    drep_file *to;
    drep_objinfo info = DREP_OBJINFO;

    ok(drep_type_reference(DREP_REF_OBJECT, &ref));
    ok(drep_type_sequence(ref, &type));
    for (int i = 0; i < 3; i++)
        ok(drep_group_create(f, (const char *const[]){"g", "g/a", "g/b"}[i], 0));
    refs[0].object = id_of("g/a");
    refs[1].object = id_of("g/b");
    ok(drep_attr_write(f, "g", "see", type, 1, &three, v));
    share_first("g", "see", 3);
    ck_assert_int_eq(findings(), 0);
    ok(drep_create(":memory:", DREP_RDWR, "external32", NULL, &to));
    ok(drep_group_create(to, "first", 0)); /* ids are one higher */
    ok(drep_copy(f, "g", to, "g", NULL));
    ok(drep_attr_read(to, "g", "see", type, v));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            ok(drep_stat(to, k == 0 ? "g/a" : "g/b", &info));
            ck_assert_uint_eq(((const drep_ref *)v[i].data)[k].object, info.id);
        }
    drep_vlen_free(type, 3, v);
    drep_abandon(to);
    drep_type_free(type);
    drep_type_free(ref);
}
END_TEST

/* A payload of half an element, or of more than there are. */
START_TEST(test_payloads_of_no_shape)
{
    const int64_t four = 4;
    uint8_t payload[40] = {0};
    drep_dataset *ds = new_dataset(f, "d", DREP_INT32_T, 1, &four);
    struct key key;
    int32_t v[4];

    key_make(&key, id_of("d"), FMT_TAG_DATA);
    put(&key, payload, 8); /* the rest is fill */
    ok(drep_read(ds, NULL, NULL, v, NULL));
    put(&key, payload, 6);
    fails(drep_read(ds, NULL, NULL, v, NULL), DREP_ERR_FORMAT);
    put(&key, payload, 20);
    fails(drep_read(ds, NULL, NULL, v, NULL), DREP_ERR_FORMAT);
    drep_dataset_close(ds);
    ck_assert_int_gt(findings(), 0);
}
END_TEST

START_TEST(test_more_payload_than_elements)
{
    const int64_t dims = 8, chunk = 4, value[8] = {0};
    drep_spec spec =
        DREP_SPEC(.type = DREP_INT64_T, .rank = 1, .dims = &dims, .layout = DREP_CHUNKED);
    uint8_t payload[48] = {0};
    drep_dataset *ds;
    drep_dsusage usage = DREP_DSUSAGE;
    uint64_t first = 0;

    spec.chunk = &chunk;
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, value, NULL));
    ck_assert_int_eq(findings(), 0);
    for (uint64_t size = 33; size <= 40; size += 7) { /* no whole elements, and one more */
        ok(write_begin(f));
        ok(chunk_write(&ds->chunks, &first, 1, payload, size));
        ok(write_end(f, 0));
        fails(drep_dataset_usage(ds, &usage), DREP_ERR_FORMAT);
        ck_assert_int_eq(findings(), 1);
    }
    drep_dataset_close(ds);
}
END_TEST

static int find_number(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)offset;
    *(int *)ctx += err == DREP_ERR_FORMAT &&
                   strcmp(message, "object 50 exists, and the next one would be 3 (R2.18)") == 0;
    return 0;
}

/* A number that something has must not be given again. */
START_TEST(test_numbers_given_before)
{
    const int64_t four = 4;
    drep_dataset *ds;
    struct stored_object o;
    int found = 0;

    drep_dataset_close(new_dataset(f, "d", DREP_INT32_T, 1, &four));
    load("d", &o);
    o.id = 50;
    store(&o);
    ok(drep_close(f));
    fails(drep_open(path, DREP_RDWR, NULL, &f), DREP_ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(drep_error(), "object 50 exists, and the next one would be 3"));
    ok(drep_open(path, DREP_RDONLY, NULL, &f)); /* all of it can be read */
    ok(drep_dataset_open(f, "d", &ds));
    drep_dataset_close(ds);
    ok(drep_check(f, 0, find_number, &found, NULL));
    ck_assert_int_eq(found, 1);
}
END_TEST

static int count_chunk(const int64_t *start, void *ctx)
{
    int *n = ctx;

    ck_assert_int_eq(start[0], 4 * (*n)++);
    return 0;
}

/* Chunks that stand outside the shape are not among those that it has. */
START_TEST(test_chunks_outside_the_shape)
{
    const int64_t dims = 7, chunk = 4, max = DREP_UNLIMITED, value[7] = {0};
    drep_spec spec =
        DREP_SPEC(.type = DREP_INT64_T, .rank = 1, .dims = &dims, .layout = DREP_CHUNKED);
    uint64_t beyond[2] = {2, (uint64_t)1 << 62};
    uint8_t payload[32] = {0};
    drep_dataset *ds;
    int n = 0;

    spec.chunk = &chunk;
    spec.maxdims = &max;
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, value, NULL));
    ok(write_begin(f));
    ok(chunk_write(&ds->chunks, &beyond[0], 1, payload, 32));
    ok(chunk_write(&ds->chunks, &beyond[1], 1, payload, 32));
    ok(write_end(f, 0));
    ok(drep_dataset_chunks(ds, count_chunk, &n));
    ck_assert_int_eq(n, 2);
    drep_dataset_close(ds);
    ck_assert_int_eq(findings(), 0);
}
END_TEST

/* Changes a byte of each run of 64 bytes `value` in the file. */
static void damage(int value)
{
    uint8_t *bytes, run[64];
    FILE *file = fopen(path, "r+b");
    long size;

    ck_assert_ptr_nonnull(file);
    ok(fseek(file, 0, SEEK_END));
    size = ftell(file);
    bytes = malloc((size_t)size);
    rewind(file);
    ck_assert_uint_eq(fread(bytes, 1, (size_t)size, file), (size_t)size);
    memset(run, value, sizeof run);
    for (long i = 0; i + 64 <= size; i++) {
        if (memcmp(bytes + i, run, 64) != 0)
            continue;
        ok(fseek(file, i, SEEK_SET));
        ck_assert_int_eq(fputc(0, file), 0);
        i += 63;
    }
    free(bytes);
    ok(fclose(file));
}

struct damage_told {
    int chunks, elements; /* findings of a chunk, of the elements of a dataset */
    int stop_at;          /* so many findings; 0: never */
};

static int tell_damage(int err, uint64_t offset, const char *message, void *ctx)
{
    struct damage_told *told = ctx;

    (void)offset;
    ck_assert_int_eq(err, DREP_ERR_CHECKSUM);
    if (strncmp(message, "dataset \"/d\": chunk (", 21) == 0)
        told->chunks++;
    else
        told->elements++;
    return told->chunks + told->elements == told->stop_at ? 77 : 0;
}

/* Chunks behind a damaged one are verified too, also those of the same run; a deep check, which
 * reads them again, tells of each once. */
START_TEST(test_every_damaged_chunk_is_told_once)
{
    const int64_t n = 64 * 6, chunk = 64;
    const drep_filter filter = {.id = DREP_FILTER_SHUFFLE};
    const drep_spec spec =
        DREP_SPEC(.type = DREP_UINT8_T, .rank = 1, .dims = &n, .layout = DREP_CHUNKED,
                  .chunk = &chunk, .filters = &filter, .nfilters = 1);
    struct damage_told told = {0, 0, 0};
    uint8_t v[64 * 6];
    drep_dataset *ds;
    int64_t found;

    for (int i = 0; i < 64 * 6; i++)
        v[i] = (uint8_t)(200 + i / 64);
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, v, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    damage(201);
    damage(202);
    damage(205);
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_check(f, 0, tell_damage, &told, &found));
    ck_assert(told.chunks == 3 && told.elements == 0 && found == 3);
    told = (struct damage_told){0, 0, 0};
    ok(drep_check(f, 1, tell_damage, &told, &found));
    ck_assert(told.chunks == 3 && told.elements == 0 && found == 3);
    for (int i = 1; i <= 3; i++) {
        told = (struct damage_told){0, 0, i};
        ck_assert_int_eq(drep_check(f, 1, tell_damage, &told, NULL), 77);
        ck_assert_int_eq(told.chunks + told.elements, i);
    }
}
END_TEST

/* What a handle has changed since the last commit is not what a check looks at. */
START_TEST(test_check_beside_changes)
{
    const int64_t four = 4;
    int64_t n = 0;
    drep_usage usage = DREP_USAGE;

    drep_dataset_close(new_dataset(f, "d", DREP_INT32_T, 1, &four));
    ok(drep_check(f, 1, say_finding, NULL, &n));
    ck_assert_int_eq(n, 0);
    ok(drep_usage_get(f, &usage));
    ck_assert(usage.file == 0 && usage.objects == 0);
    drep_dataset_close(new_dataset(f, "e", DREP_INT32_T, 1, &four));
    ok(drep_commit(f));
    ok(drep_link_hard(f, "d", "other"));
    ok(drep_link_remove(f, "d"));
    ok(drep_link_remove(f, "e"));
    ok(drep_check(f, 1, say_finding, NULL, &n));
    ck_assert_int_eq(n, 0);
    ck_assert_int_eq(findings(), 0);
}
END_TEST

/* What another writer left outside the shape is not seen when the dataset grows. */
START_TEST(test_elements_outside_the_shape_mean_nothing)
{
    const int64_t n[] = {10, 10}, chunk[] = {4, 4}, max[] = {DREP_UNLIMITED, DREP_UNLIMITED};
    const int32_t fill = -1;

    for (int variable = 0; variable < 2; variable++) {
        drep_type *list;
        static int32_t v[100], back[400];
        static drep_vlen lists[100], lists_back[400];
        drep_vlen fill_list = {1, (void *)(uintptr_t)&fill};
        drep_spec spec = DREP_SPEC(.rank = 2, .dims = n, .maxdims = max, .chunk = chunk,
                                   .fill = DREP_FILL_VALUE);
        struct stored_object o;
        drep_dataset *ds;

        ok(drep_type_sequence(DREP_INT32_T, &list));
        for (int i = 0; i < 100; i++) {
            v[i] = i;
            lists[i] = (drep_vlen){1, &v[i]};
        }
        spec.type = variable ? list : DREP_INT32_T;
        spec.fill_value = variable ? (const void *)&fill_list : &fill;
        ok(drep_dataset_create(f, "d", &spec, &ds));
        ok(drep_write(ds, NULL, NULL, variable ? (void *)lists : v, NULL));
        drep_dataset_close(ds);
        load("d", &o); /* 6 x 7 remain; the chunks keep all that was */
        o.rec.len[0] = 6;
        o.rec.len[1] = 7;
        store(&o);
        reopen(DREP_RDWR);
        ok(drep_dataset_open(f, "d", &ds));
        ok(drep_dataset_resize(ds, (int64_t[]){20, 20}));
        ok(drep_read(ds, NULL, NULL, variable ? (void *)lists_back : back, NULL));
        for (int i = 0; i < 400; i++) {
            int32_t got = variable ? *(int32_t *)lists_back[i].data : back[i];

            ck_assert_int_eq(got, i / 20 < 6 && i % 20 < 7 ? i / 20 * 10 + i % 20 : -1);
        }
        if (variable)
            drep_vlen_free(list, 400, lists_back);
        drep_dataset_close(ds);
        ck_assert_int_eq(findings(), 0);
        ok(drep_link_remove(f, "d"));
        drep_type_free(list);
    }
}
END_TEST

static void look_stray(const char *first, int64_t rows)
{
    static const char *const want[3][3] = {{"", "", NULL}, {"", "", "cd"}, {"ef", "gh", "ij"}};
    char *texts[16];
    drep_type *type;
    drep_dataset *ds;

    ok(drep_type_vstring(&type));
    ok(drep_dataset_open(f, "stray", &ds));
    ok(drep_read(ds, NULL, NULL, texts, NULL));
    for (int64_t i = 0; i < rows * rows; i++) {
        int64_t row = i / rows, col = i % rows;
        const char *text = row < 3 && col < 3 ? want[row][col] : "";

        ck_assert_str_eq(texts[i], text ? text : first);
    }
    drep_vlen_free(type, rows * rows, texts);
    drep_type_free(type);
    drep_dataset_close(ds);
    ck_assert_int_eq(findings(), 0);
}

/* tests/vectors/chunked.drep: elements outside the shape refer to what is in no heap. Chunks that
 * have such are read, changed, emptied of old contents and grown over. */
START_TEST(test_references_outside_the_shape_mean_nothing)
{
    static const char *const cache[] = {"67108864", "0"};
    static char longer[3][40000];
    const int64_t one[] = {1, 1}, at[] = {0, 2};
    const char *last = longer[2];
    drep_info *info;
    drep_dataset *ds;
    drep_selection *sel;

    for (int i = 0; i < 3; i++)
        memset(longer[i], 'a' + i, sizeof longer[i] - 1);
    for (int i = 0; i < 2; i++) {
        char command[200];

        drep_abandon(f);
        snprintf(command, sizeof command, "cp %s/vectors/chunked.drep %s", TESTS_DIR, path);
        ck_assert_int_eq(system(command), 0);
        ok(drep_info_new(&info));
        ok(drep_info_set(info, "drep_cache_size", cache[i]));
        ok(drep_open(path, DREP_RDWR, info, &f));
        drep_info_free(info);
        look_stray("ab", 3);
        ok(drep_dataset_open(f, "stray", &ds));
        ok(drep_select_box(2, at, one, NULL, NULL, &sel));
        for (int k = 0; k < 3; k++) {
            last = longer[k];
            ok(drep_write(ds, sel, NULL, &last, NULL));
        }
        ok(drep_commit(f));
        drep_dataset_close(ds);
        look_stray(last, 3);
        reopen(DREP_RDWR);
        ok(drep_dataset_open(f, "stray", &ds));
        ok(drep_dataset_resize(ds, (int64_t[]){4, 4}));
        drep_dataset_close(ds);
        look_stray(last, 4);
        reopen(DREP_RDWR);
        look_stray(last, 4);
        drep_selection_free(sel);
    }
}
END_TEST

/* ---- hints ---- */

START_TEST(test_hints_of_a_header_have_little_power)
{
    drep_info *info;

    ok(drep_info_set(f->hints.stored, "drep_chunk_max", "1152921504606846976"));
    ok(drep_info_set(f->hints.stored, "drep_plugin_path", "/evil"));
    ok(drep_info_set(f->hints.stored, "drep_lock", "false"));
    ok(drep_info_set(f->hints.stored, "drep_cache_size", "1152921504606846976"));
    ok(drep_info_set(f->hints.stored, "nobody's", "kept"));
    ok(drep_attr_write_int64(f, "/", "a", 1));
    reopen(DREP_RDONLY);
    ok(drep_get_info(f, &info));
    ck_assert_str_eq(drep_info_get(info, "drep_chunk_max"), "16777216");
    ck_assert_str_eq(drep_info_get(info, "drep_plugin_path"), "");
    ck_assert_str_eq(drep_info_get(info, "drep_lock"), "true");
    ck_assert_str_eq(drep_info_get(info, "drep_cache_size"), "67108864");
    drep_info_free(info);
    ok(drep_header_hints(f, &info)); /* and shown as they are */
    ck_assert_str_eq(drep_info_get(info, "nobody's"), "kept");
    drep_info_free(info);
}
END_TEST

static int smaller_chunks(uint64_t id, drep_spec *spec, void *ctx)
{
    static const int64_t chunk[] = {4, 4};

    (void)id, (void)ctx;
    spec->chunk = chunk;
    return 0;
}

/* A chunk of half a TiB, a few rows of which are stored: shrinking it and copying it into others
 * take what is stored. */
START_TEST(test_chunks_of_which_little_is_stored)
{
    const int64_t none[] = {0, 64}, max[] = {DREP_UNLIMITED, 64}, chunk[] = {(int64_t)1 << 31, 64},
                  fewer[] = {3, 64}, more[] = {5, 64};
    const drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = none, .maxdims = max,
                                     .layout = DREP_CHUNKED, .chunk = chunk);
    const drep_copying copying = DREP_COPYING(.plan = smaller_chunks);
    int32_t values[640], seen[320];
    drep_dataset *ds, *copy;

    for (int i = 0; i < 640; i++)
        values[i] = i + 1;
    ok(drep_dataset_create(f, "/a", &spec, &ds));
    ok(drep_append(ds, 0, 10, DREP_INT32_T, values, NULL));
    ok(drep_commit(f));
    ok(drep_dataset_resize(ds, fewer));
    ok(drep_dataset_resize(ds, more));
    ok(drep_commit(f));
    ok(drep_copy(f, "/a", f, "/b", &copying));
    ok(drep_dataset_open(f, "/b", &copy));
    for (int which = 0; which < 2; which++) {
        ok(drep_read(which ? copy : ds, NULL, DREP_INT32_T, seen, NULL));
        for (int i = 0; i < 320; i++)
            ck_assert_int_eq(seen[i], i < 192 ? i + 1 : 0);
    }
    drep_dataset_close(copy);
    drep_dataset_close(ds);
    check_file(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data hostile");
    TCase *t = tcase_create("hostile");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_shapes_of_fill_alone);
    tcase_add_test(t, test_shapes_that_are_refused);
    tcase_add_test(t, test_elements_without_end);
    tcase_add_test(t, test_chunks_beyond_memory);
    tcase_add_test(t, test_chunks_of_which_little_is_stored);
    tcase_add_test(t, test_attribute_longer_than_its_value);
    tcase_add_test(t, test_values_by_their_formats);
    tcase_add_test(t, test_groups_in_circles);
    tcase_add_test(t, test_links_that_lead_nowhere);
    tcase_add_test(t, test_places_in_a_heap);
    tcase_add_test(t, test_contents_named_too_often);
    tcase_add_test(t, test_write_beside_shared_contents);
    tcase_add_test(t, test_copy_of_shared_references);
    tcase_add_test(t, test_payloads_of_no_shape);
    tcase_add_test(t, test_more_payload_than_elements);
    tcase_add_test(t, test_numbers_given_before);
    tcase_add_test(t, test_chunks_outside_the_shape);
    tcase_add_test(t, test_every_damaged_chunk_is_told_once);
    tcase_add_test(t, test_check_beside_changes);
    tcase_add_test(t, test_elements_outside_the_shape_mean_nothing);
    tcase_add_test(t, test_references_outside_the_shape_mean_nothing);
    tcase_add_test(t, test_hints_of_a_header_have_little_power);
    suite_add_tcase(s, t);
    return run_suite(s);
}
