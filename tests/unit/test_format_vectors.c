/* test_format_vectors.c - the golden files, which another writer made, record by record.
 *
 * Every slot, header, block, entry and record of tests/vectors/ is read by the decoders
 * alone and comes back as the same bytes. */
/* SPDX-License-Identifier: MIT */
#include "format/header.h"
#include "tests/unit/bytes.h"

#include <dirent.h>

#define FILE_MAX (8u << 20)

static uint8_t file[FILE_MAX], back[FILE_MAX];
static size_t file_size;
static const char *file_name;
static int records; /* met in all files */

static int load(const char *path)
{
    FILE *f = fopen(path, "rb");

    ck_assert_ptr_nonnull(f);
    file_size = fread(file, 1, sizeof(file), f);
    fclose(f);
    file_name = strrchr(path, '/') + 1;
    return file_size >= FMT_SPACE_START;
}

#define GOOD(in, what)                                                                  \
    ck_assert_msg(!(in)->err, "%s: %s: %s at its byte %zu", file_name, what, (in)->why, \
                  (in)->err_at)

static void same(const struct in *in, const struct out *out, const char *what)
{
    records++;
    ck_assert_msg(out->at == in->at && memcmp(back, in->p, in->at) == 0, "%s: %s: other bytes",
                  file_name, what);
}

/* ---- values ---- */

static void walk_self(const struct span *s)
{
    struct self_rec rec;
    struct out out;
    struct in in;

    in_init(&in, s->p, s->len);
    self_get(&in, &rec);
    if ((strcmp(file_name, "later-value.drep") == 0 || in.beyond) && in.err == FMT_ERR_UNSUPPORTED)
        return; /* in a format of a newer version (R5.36) */
    GOOD(&in, "self-described value");
    out_init(&out, back, sizeof(back));
    self_put(&out, &rec);
    same(&in, &out, "self-described value");
}

static int list_of(const struct type_node *n)
{
    switch (n->kind) {
    case FMT_KIND_ENUM:
    case FMT_KIND_INDEXED:
    case FMT_KIND_HINDEXED:
    case FMT_KIND_INDEXED_BLOCK:
    case FMT_KIND_HINDEXED_BLOCK:
        return (int)n->count;
    case FMT_KIND_SUBARRAY:
    case FMT_KIND_DARRAY:
        return n->rank;
    }
    return 0;
}

static void walk_type(struct in *in, struct out *out, int depth)
{
    struct type_member m;
    struct type_node n;

    ck_assert_int_gt(depth, 0);
    type_node_get(in, &n);
    GOOD(in, "datatype");
    type_node_put(out, &n);
    for (int i = 0; i < list_of(&n); i++) {
        type_member_get(in, n.kind, &m);
        GOOD(in, "datatype");
        type_member_put(out, n.kind, &m);
    }
    switch (n.kind) {
    case FMT_KIND_PREDEFINED:
    case FMT_KIND_SCALAR:
    case FMT_KIND_STRING:
    case FMT_KIND_OPAQUE:
    case FMT_KIND_VSTRING:
    case FMT_KIND_REFERENCE:
        return;
    case FMT_KIND_COMPOUND:
    case FMT_KIND_STRUCT:
        for (uint64_t i = 0; i < n.count; i++) {
            type_member_get(in, n.kind, &m);
            GOOD(in, "datatype");
            type_member_put(out, n.kind, &m);
            walk_type(in, out, depth - 1);
        }
        return;
    }
    walk_type(in, out, depth - 1);
}

static void walk_value(const struct key *key, const uint8_t *p, size_t size)
{
    static struct object_rec object;
    struct chunk_rec chunk;
    int err;
    struct free_rec extent;
    struct link_rec link;
    struct attr_rec attr;
    struct log_rec log;
    struct out out;
    struct in in;

    in_init(&in, p, size);
    out_init(&out, back, sizeof(back));
    switch (key_tag(key->p)) {
    case FMT_TAG_FREE:
        free_get(&in, FMT_SPACE_START, &extent);
        free_put(&out, &extent);
        break;
    case FMT_TAG_LOG:
        log_get(&in, &log);
        log_put(&out, &log);
        break;
    case FMT_TAG_TYPE:
        out_u64(&out, in_u64(&in));
        if (strcmp(file_name, "beyond.drep") == 0)
            return; /* of types that no walk gets through */
        walk_type(&in, &out, FMT_TYPE_DEPTH_MAX);
        break;
    case FMT_TAG_OBJECT:
        if (object_get(&in, &object) == 0)
            object_put(&out, &object);
        break;
    case FMT_TAG_LINK:
        ck_assert_int_eq(name_stored_check(key->p + FMT_KEY_HEAD, key->len - FMT_KEY_HEAD), 0);
        if (link_get(&in, &link) == 0)
            link_put(&out, &link);
        break;
    case FMT_TAG_ATTR:
        if (attr_get(&in, &attr) == 0)
            attr_put(&out, &attr);
        break;
    case FMT_TAG_CHUNK:
        err = chunk_get(&in, &chunk);
        if (err == FMT_ERR_UNSUPPORTED)
            return; /* kept as it is */
        if (err == 0)
            chunk_put(&out, &chunk);
        break;
    default:
        return;
    }
    GOOD(&in, "record");
    ck_assert_int_eq(out.err, 0);
    same(&in, &out, "record");
    if (key_tag(key->p) == FMT_TAG_ATTR && attr.value.len)
        walk_self(&attr.value);
    if (key_tag(key->p) == FMT_TAG_OBJECT && object.fill == FMT_FILL_VALUE)
        walk_self(&object.fill_value);
}

/* ---- blocks ---- */

static const uint8_t *block_at(const struct ref *ref, int kind, int level, struct block_head *head)
{
    const char *why = "";

    ck_assert_uint_le(ref->offset + ref->length, file_size);
    ck_assert_msg(block_get(head, file + ref->offset, ref->length, &why) == 0, "%s: block: %s",
                  file_name, why);
    ck_assert_uint_eq(head->checksum, ref->checksum);
    ck_assert_int_eq(head->kind, kind);
    ck_assert(level < 0 || head->level == level);
    records++;
    return file + ref->offset;
}

static struct ref ref_at(const uint8_t *p)
{
    struct ref ref = {0, 0, 0};
    struct in in;

    in_init(&in, p, FMT_REF_SIZE);
    ref_get(&in, &ref);
    GOOD(&in, "reference");
    return ref;
}

static void walk_node(const struct ref *ref, int level)
{
    struct block_head head, far;
    const uint8_t *block = block_at(ref, FMT_NODE, level, &head);
    struct key key = {0, {0}};
    struct in in;

    in_init(&in, block + FMT_BLOCK_HEAD, ref->length - FMT_BLOCK_HEAD);
    for (uint32_t i = 0; i < head.count; i++) {
        struct entry e = {0};

        entry_get(&in, &e);
        GOOD(&in, "entry");
        ck_assert_uint_le(e.shared, key.len);
        memcpy(key.p + e.shared, e.suffix, e.suffix_len);
        key.len = (size_t)e.shared + e.suffix_len;
        if (head.level > 0) {
            struct ref child = ref_at(e.value);

            ck_assert(!e.far && e.value_len == FMT_REF_SIZE);
            walk_node(&child, head.level - 1);
        } else if (e.far) {
            struct ref value = ref_at(e.value);

            block = block_at(&value, FMT_VALUE, 0, &far);
            walk_value(&key, block + FMT_BLOCK_HEAD, value.length - FMT_BLOCK_HEAD);
        } else {
            walk_value(&key, e.value, e.value_len);
        }
    }
    ck_assert_uint_eq(in_left(&in), 0);
}

static void walk_pending(const struct ref *ref)
{
    struct pending_rec rec;
    struct block_head head;
    struct in in;

    in_init(&in, block_at(ref, FMT_PENDING, 0, &head) + FMT_BLOCK_HEAD,
            ref->length - FMT_BLOCK_HEAD);
    for (uint32_t i = 0; i < head.count; i++)
        pending_get(&in, &rec);
    GOOD(&in, "pending list");
}

static void walk_slot(const struct slot *slot)
{
    static uint8_t header[FMT_HEADER_MAX], scratch[FMT_HEADER_MAX];
    static struct header_rec h;
    const char *why = "";
    struct block_head head;
    size_t size = slot->header_size, split, at = 0;
    struct out out;

    memcpy(header, slot->header, size);
    if (slot->more.length) {
        const uint8_t *more = block_at(&slot->more, FMT_HEADER, 0, &head);

        memcpy(header + size, more + FMT_BLOCK_HEAD, slot->more.length - FMT_BLOCK_HEAD);
        size += slot->more.length - FMT_BLOCK_HEAD;
    }
    ck_assert_msg(header_get(header, size, &h, scratch, &why, &at) == 0,
                  "%s: header: %s at its byte %zu", file_name, why, at);
    out_init(&out, back, sizeof(back));
    header_put(&out, &h, &split);
    ck_assert_int_eq(out.err, 0);
    if (slot->pending.length)
        walk_pending(&slot->pending);
    walk_node(&slot->root, -1);
}

/* 1 if the slot is valid and all that it refers to is. */
static int see_slot(const char *name, uint64_t at, int which)
{
    static struct slot slot;
    const char *why = NULL;
    enum slot_state state = slot_get(&slot, file + at, which, &why);

    ck_assert_msg(state != SLOT_FOREIGN, "%s: slot %d: %s", name, which, why);
    if (state == SLOT_DAMAGED)
        ck_assert_msg(strncmp(name, "damaged", 7) == 0, "%s: slot %d: %s", name, which, why);
    if (state != SLOT_VALID)
        return 0;
    slot_put(back, &slot);
    ck_assert_mem_eq(back, file + at, FMT_SLOT_SIZE);
    if (!slot_at_end(&slot))
        walk_slot(&slot);
    return 1;
}

static bool is_slot(uint64_t at)
{
    return memcmp(file + at, file, 8) == 0;
}

START_TEST(test_golden_files_are_read_record_by_record)
{
    DIR *dir = opendir(TESTS_DIR "/vectors");
    struct dirent *d;
    int files = 0;

    ck_assert_ptr_nonnull(dir);
    while ((d = readdir(dir)) != NULL) {
        char path[4096];
        int valid = 0;

        snprintf(path, sizeof(path), "%s/%s", TESTS_DIR "/vectors", d->d_name);
        if (!strstr(d->d_name, ".drep") || !load(path))
            continue;
        for (int which = 0; which < 2; which++)
            valid += see_slot(d->d_name, (uint64_t)which * FMT_SLOT_SIZE, which);
        if (file_size >= 3 * FMT_SLOT_SIZE && is_slot(file_size - FMT_SLOT_SIZE))
            valid += see_slot(d->d_name, file_size - FMT_SLOT_SIZE, 0);
        ck_assert_msg(valid > 0, "%s", d->d_name);
        files++;
    }
    closedir(dir);
    ck_assert_int_gt(files, 10);
    ck_assert_int_gt(records, 300);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format_vectors");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, test_golden_files_are_read_record_by_record);
    tcase_set_timeout(tc, 60);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
