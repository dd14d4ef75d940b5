/* node.c - a node of the tree in memory: items over an arena, and the way from and to the
 * bytes of a block. */
#include "tree/node.h"

#include "base/error.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

#define SHARED_MAX 255
#define NEAR 6u /* entries behind one that are looked at before a search */

struct node *node_new(int level)
{
    struct node *n = mem_zalloc(1, sizeof(*n));

    if (!n)
        return NULL;
    atomic_init(&n->refs, 1);
    n->level = (uint8_t)level;
    n->dirty = 1;
    n->bytes = FMT_BLOCK_HEAD;
    return n;
}

void node_unref(struct node *n)
{
    if (!n || atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (!n->block || n->loose)
        mem_free(n->arena);
    mem_free(n->item);
    mem_free(n->words);
    for (uint32_t i = 0; n->kept && i < n->n; i++)
        node_unref(atomic_load_explicit(&n->kept[i], memory_order_relaxed));
    mem_free((void *)n->kept);
    if (n->from)
        region_give(n->from, n);
    else
        mem_free(n);
}

/* Marks of whole MARKED entries; behind them stands that of the last entry. */
static inline uint32_t marks_of(uint32_t n)
{
    return (n + MARKED - 1) / MARKED;
}

size_t node_memory(const struct node *n)
{
    size_t read = (marks_of(n->n) + 1) * sizeof(*n->mark) + n->n * sizeof(*n->entry) + n->bytes;

    return sizeof(*n) + n->room * sizeof(*n->item) + n->size + (n->block ? read : 0);
}

/* ---- leaves as they were read ---- */

static struct entry entry_of(const struct node *n, uint32_t i)
{
    return entry_load(n->block + n->entry[i]);
}

static const uint8_t *mark_key(const struct node *n, uint32_t i)
{
    return n->arena + n->mark[i].at;
}

static uint32_t marks(const struct node *n)
{
    return marks_of(n->n);
}

/* Most suffixes are short: these are copied with what follows them, for which the block has
 * room at its end. */
static inline void follow(const struct entry *e, struct key *key)
{
    uint8_t *to = key->p + e->shared;

    if (e->suffix_len <= NODE_SLACK)
        memcpy(to, e->suffix, NODE_SLACK);
    else
        memcpy(to, e->suffix, e->suffix_len);
    key->len = (size_t)e->shared + e->suffix_len;
}

void node_next_key(const struct node *n, uint32_t i, struct key *key)
{
    struct entry e;

    if (!n->block) {
        key->len = n->item[i].key_len;
        memcpy(key->p, item_key(n, i), key->len);
        return;
    }
    e = entry_of(n, i);
    follow(&e, key);
}

void node_key(const struct node *n, uint32_t i, struct key *key)
{
    uint32_t at = i / MARKED;

    if (!n->block) {
        node_next_key(n, i, key);
        return;
    }
    key->len = n->mark[at].len;
    memcpy(key->p, mark_key(n, at), key->len);
    for (at = at * MARKED + 1; at <= i; at++)
        node_next_key(n, at, key);
}

const uint8_t *node_value(const struct node *n, uint32_t i, size_t *len)
{
    struct entry e;

    if (!n->block) {
        *len = n->item[i].value_len;
        return item_value(n, i);
    }
    e = entry_of(n, i);
    *len = e.value_len | (e.far ? ITEM_FAR : 0);
    return e.value;
}

const uint8_t *node_first(const struct node *n, size_t *len)
{
    *len = n->block ? n->mark[0].len : n->item[0].key_len;
    return n->block ? mark_key(n, 0) : item_key(n, 0);
}

const uint8_t *node_last(const struct node *n, size_t *len)
{
    *len = n->block ? n->mark[marks(n)].len : n->item[n->n - 1].key_len;
    return n->block ? mark_key(n, marks(n)) : item_key(n, n->n - 1);
}

/* How many first bytes are equal. */
static size_t common(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen)
{
    size_t max = alen < blen ? alen : blen;
    size_t i = 0;

    for (; i + 8 <= max; i += 8) {
        uint64_t differ = load_u64(a + i) ^ load_u64(b + i);

        if (differ)
            return i + (size_t)__builtin_clzll(differ) / 8;
    }
    while (i < max && a[i] == b[i])
        i++;
    return i;
}

/* The first entry of [i, end) whose key is >= key, `end` if there is none; the one before
 * has a lesser key with `same` first bytes equal.  An entry that shares more than that with
 * the one before is lesser too. */
static uint32_t scan(const struct node *n, uint32_t i, uint32_t end, size_t same,
                     const uint8_t *key, size_t len, int *equal)
{
    for (; i < end; i++) {
        struct entry e = entry_of(n, i);
        size_t k;

        if (e.shared > same)
            continue;
        k = common(e.suffix, e.suffix_len, key + e.shared, len - e.shared);
        same = e.shared + k;
        if (same == len) { /* the key ends here */
            *equal = k == e.suffix_len;
            return i;
        }
        if (k < e.suffix_len && e.suffix[k] > key[same])
            return i;
    }
    return end;
}

static uint32_t block_find(const struct node *n, const uint8_t *key, size_t len, int *equal)
{
    uint32_t low = 0, high = marks(n), end;
    struct words w = words_of(key, len);

    *equal = 0;
    while (low < high) { /* the first mark that is greater */
        uint32_t mid = low + (high - low) / 2;
        int order = words_compare(n->mark[mid].words, w);

        if (order == 0)
            order = key_compare(mark_key(n, mid), n->mark[mid].len, key, len);

        if (order == 0) {
            *equal = 1;
            return mid * MARKED;
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0)
        return 0;
    low--;
    end = (low + 1) * MARKED < n->n ? (low + 1) * MARKED : n->n;
    return scan(n, low * MARKED + 1, end, common(mark_key(n, low), n->mark[low].len, key, len), key,
                len, equal);
}

uint32_t node_find_behind(const struct node *n, uint32_t i, const uint8_t *before,
                          size_t before_len, const uint8_t *key, size_t len, int *equal)
{
    uint32_t end = n->n - i > NEAR ? i + 1 + NEAR : n->n;

    *equal = 0;
    i = scan(n, i + 1, end, common(before, before_len, key, len), key, len, equal);
    return i < end ? i : UINT32_MAX;
}

/* All entries as items of a dirty node, which has room for them. */
static void unpack(const struct node *n, struct node *to)
{
    struct key key;

    for (uint32_t i = 0; i < n->n; i++) {
        struct entry e = entry_of(n, i);

        follow(&e, &key);
        memcpy(to->arena + to->used, key.p, key.len);
        memcpy(to->arena + to->used + key.len, e.value, e.value_len);
        to->item[i] = (struct item){to->used, (uint16_t)key.len,
                                    (uint16_t)(e.value_len | (e.far ? ITEM_FAR : 0))};
        to->used += (uint32_t)(key.len + e.value_len);
    }
}

static size_t unpacked(const struct node *n)
{
    size_t sum = 0;

    for (uint32_t i = 0; i < n->n; i++) {
        struct entry e = entry_of(n, i);

        sum += (size_t)e.shared + e.suffix_len + e.value_len;
    }
    return sum;
}

/* Keys and values in use, one behind the other; gives their bytes. */
static uint32_t gather(uint8_t *arena, struct item *item, const struct node *n)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < n->n; i++) {
        uint32_t len = (uint32_t)(n->item[i].key_len + item_value_len(n, i));

        memcpy(arena + used, n->arena + n->item[i].at, len);
        item[i].at = used;
        used += len;
    }
    return used;
}

/* ---- searching ---- */

/* The first item of [low, high) whose key is >= key, high if there is none. */
static uint32_t lower(const struct node *n, uint32_t low, uint32_t high, const uint8_t *key,
                      size_t len, int *equal)
{
    *equal = 0;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int order = item_compare(n, mid, key, len);

        if (order == 0) {
            *equal = 1;
            return mid;
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Keys often come in order, or return to what was changed last: looks at that item and its
 * neighbours.  1: *low is the answer; 0: it lies in [*low, *high]. */
static int near_last(const struct node *n, const uint8_t *key, size_t len, uint32_t *low,
                     uint32_t *high, int *equal)
{
    uint32_t last = n->last;
    int order = item_compare(n, last, key, len);

    *low = *high = last;
    *equal = order == 0;
    if (order == 0)
        return 1;
    if (order < 0) {
        *low = last + 1;
        *high = n->n;
        if (*low == n->n)
            return 1;
        order = item_compare(n, *low, key, len);
        *equal = order == 0;
        return order >= 0;
    }
    *low = 0;
    if (last == 0)
        return 1;
    order = item_compare(n, last - 1, key, len);
    if (order > 0) {
        *high = last - 1;
        return 0;
    }
    *equal = order == 0;
    *low = order == 0 ? last - 1 : last;
    return 1;
}

uint32_t node_find(const struct node *n, const uint8_t *key, size_t len, int *equal)
{
    uint32_t low = 0, high = n->n;

    if (n->block)
        return block_find(n, key, len, equal);
    if (n->dirty && n->last < n->n && near_last(n, key, len, &low, &high, equal))
        return low;
    return lower(n, low, high, key, len, equal);
}

/* The same of an interior node that was read. */
static uint32_t words_child(const struct node *n, const uint8_t *key, size_t len)
{
    uint32_t low = 0, high = n->n;
    struct words w = words_of(key, len);

    while (low < high) { /* the first key that is greater */
        uint32_t mid = low + (high - low) / 2;
        int order = words_compare(n->words[mid], w);

        if (order == 0)
            order = item_compare(n, mid, key, len);
        if (order <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? low - 1 : 0;
}

uint32_t node_child(const struct node *n, const uint8_t *key, size_t len)
{
    uint32_t i;
    int equal;

    if (n->words)
        return words_child(n, key, len);
    i = lower(n, 0, n->n, key, len, &equal);
    if (equal)
        return i;
    return i ? i - 1 : 0;
}

void child_set(struct node *n, uint32_t i, const struct child *c)
{
    memcpy(n->arena + n->item[i].at + n->item[i].key_len, c, sizeof(*c));
}

uint32_t node_index(const struct node *n)
{
    const struct node *parent = n->parent;
    uint32_t i = parent->n;

    do { /* mostly it is the last one */
        assert(i > 0);
    } while (child_get(parent, --i).node != n);
    return i;
}

/* ---- changing ---- */

/* Moves everything in use to a new arena of `size` bytes. */
static int rebuild(struct node *n, size_t size)
{
    uint8_t *arena = mem_alloc(size);

    if (!arena)
        return DREP_ERR_NOMEM;
    n->used = gather(arena, n->item, n);
    mem_free(n->arena);
    n->arena = arena;
    n->size = (uint32_t)size;
    n->waste = 0;
    return 0;
}

int node_make_room(struct node *n, uint32_t items, size_t bytes)
{
    if (n->room - n->n < items) {
        uint32_t room = n->n + items + n->n / 2 + 8;
        struct item *item = mem_resize(n->item, room, sizeof(*item));

        if (!item)
            return DREP_ERR_NOMEM;
        n->item = item;
        n->room = room;
    }
    if (n->size - n->used < bytes) {
        size_t live = n->used - n->waste;

        return rebuild(n, live + bytes + live / 2 + 256);
    }
    return 0;
}

size_t key_shared(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen)
{
    return common(a, alen < SHARED_MAX ? alen : SHARED_MAX, b, blen);
}

/* Bytes that a value takes in the file: of a child, its reference. */
static size_t value_bytes(const struct node *n, size_t value_len)
{
    return n->level ? FMT_REF_SIZE : value_len & ~(size_t)ITEM_FAR;
}

size_t node_item_bytes(const struct node *n, uint32_t i)
{
    const struct item *item = &n->item[i];
    size_t shared = 0;

    if (i)
        shared = key_shared(item_key(n, i - 1), item[-1].key_len, item_key(n, i), item->key_len);
    return entry_size(item->key_len - shared, value_bytes(n, item->value_len));
}

struct node *node_copy(const struct node *n)
{
    struct node *copy = node_new(n->level);
    size_t used = n->block ? unpacked(n) : n->used - n->waste;

    if (!copy)
        return NULL;
    /* Who copies a node is about to put something in. */
    if (node_reserve(copy, n->n + 16, used + used / 4 + 256)) {
        node_unref(copy);
        return NULL;
    }
    if (n->block) {
        unpack(n, copy);
    } else {
        memcpy(copy->item, n->item, n->n * sizeof(*n->item));
        copy->used = gather(copy->arena, copy->item, n);
    }
    copy->n = n->n;
    /* Each key shares all it can with the one before, which another writer need not have done. */
    for (uint32_t i = 0; i < copy->n; i++)
        copy->bytes += node_item_bytes(copy, i);
    copy->last = UINT32_MAX;
    return copy;
}

/* Bytes an item between i - 1 and i takes more in the file than none there. */
static size_t item_cost(const struct node *n, uint32_t before, uint32_t behind, const uint8_t *key,
                        size_t key_len, size_t value_len)
{
    size_t left = 0, right = 0, without;

    if (before < n->n)
        left = key_shared(item_key(n, before), n->item[before].key_len, key, key_len);
    if (behind < n->n)
        right = key_shared(key, key_len, item_key(n, behind), n->item[behind].key_len);
    /* Neighbours in order share what both share with a key between them. */
    without = left < right ? left : right;
    return entry_size(key_len - left, value_bytes(n, value_len)) - (right - without);
}

size_t node_grown(const struct node *n, uint32_t i, const uint8_t *key, size_t key_len,
                  size_t value_len)
{
    return n->bytes + item_cost(n, i ? i - 1 : UINT32_MAX, i, key, key_len, value_len);
}

void node_insert(struct node *n, uint32_t i, const uint8_t *key, size_t key_len, const void *value,
                 size_t value_len, size_t bytes)
{
    size_t len = value_len & ~(size_t)ITEM_FAR;

    n->bytes = bytes;
    if (i < n->n)
        memmove(n->item + i + 1, n->item + i, (n->n - i) * sizeof(*n->item));
    n->item[i] = (struct item){n->used, (uint16_t)key_len, (uint16_t)value_len};
    copy_short(n->arena + n->used, key, key_len);
    if (len)
        copy_short(n->arena + n->used + key_len, value, len);
    n->used += (uint32_t)(key_len + len);
    n->n++;
    n->last = i;
}

void node_replace(struct node *n, uint32_t i, const void *value, size_t value_len)
{
    size_t len = value_len & ~(size_t)ITEM_FAR;
    size_t old = item_value_len(n, i);
    struct item *item = &n->item[i];

    if (!n->level)
        n->bytes = n->bytes + len - old;
    if (len > old) {
        memcpy(n->arena + n->used, n->arena + item->at, item->key_len);
        n->waste += (uint32_t)(item->key_len + old);
        item->at = n->used;
        n->used += (uint32_t)(item->key_len + len);
    } else {
        n->waste += (uint32_t)(old - len);
    }
    item->value_len = (uint16_t)value_len;
    if (len)
        memcpy(n->arena + item->at + item->key_len, value, len);
}

void node_remove(struct node *n, uint32_t i)
{
    const struct item *item = &n->item[i];

    n->bytes -=
        item_cost(n, i ? i - 1 : UINT32_MAX, i + 1, item_key(n, i), item->key_len, item->value_len);
    n->waste += (uint32_t)(item->key_len + item_value_len(n, i));
    n->n--;
    memmove(n->item + i, n->item + i + 1, (n->n - i) * sizeof(*n->item));
    n->last = UINT32_MAX;
    if (n->level && i == 0 && n->n)
        node_open_left(n);
}

void node_open_left(struct node *n)
{
    struct item *item = &n->item[0];
    size_t shared = 0;

    if (item->key_len == 0)
        return;
    if (n->n > 1)
        shared = key_shared(item_key(n, 0), item->key_len, item_key(n, 1), n->item[1].key_len);
    n->bytes = n->bytes - item->key_len + shared;
    n->waste += item->key_len;
    item->at += item->key_len;
    item->key_len = 0;
}

void node_move(struct node *n, uint32_t from, struct node *to)
{
    for (uint32_t i = from; i < n->n; i++) {
        const struct item *item = &n->item[i];

        node_insert(to, to->n, item_key(n, i), item->key_len, item_value(n, i), item->value_len,
                    node_grown(to, to->n, item_key(n, i), item->key_len, item->value_len));
        if (n->level) {
            struct child c = child_get(n, i);

            if (c.node)
                c.node->parent = to;
        }
    }
    while (n->n > from) /* from the end, so nothing moves */
        node_remove(n, n->n - 1);
    to->last = UINT32_MAX;
}

/* ---- from and to bytes ---- */

/* What is wrong with an entry, given the key before it (NULL: it is the first); NULL if
 * nothing is. */
static inline const char *entry_doubt(const struct entry *e, int level, const uint8_t *last,
                                      size_t len)
{
    if (level && (e->far || e->value_len != FMT_REF_SIZE))
        return "an entry of an interior node is not a reference";
    if (!level && e->shared + e->suffix_len < 9)
        return "a key is too short";
    if (!last)
        return e->shared ? "the first key of a node shares bytes" : NULL;
    if (e->shared > len)
        return "a key shares more bytes than there are";
    /* Mostly the first byte tells. */
    if (e->suffix_len && len > e->shared && last[e->shared] < *e->suffix)
        return NULL;
    if (key_compare(last + e->shared, len - e->shared, e->suffix, e->suffix_len) >= 0)
        return "keys are not in ascending order";
    return NULL;
}

static int mark_put(struct node *n, uint32_t i, const struct key *key)
{
    if (n->size - n->used < key->len) {
        size_t size = 2 * (size_t)n->size + key->len + 64;
        uint8_t *arena = mem_resize(n->loose ? n->arena : NULL, size, 1);

        if (!arena)
            return DREP_ERR_NOMEM;
        if (!n->loose && n->used)
            memcpy(arena, n->arena, n->used);
        n->loose = 1;
        n->arena = arena;
        n->size = (uint32_t)size;
    }
    n->mark[i] = (struct mark){words_of(key->p, key->len), n->used, (uint32_t)key->len};
    memcpy(n->arena + n->used, key->p, key->len);
    n->used += (uint32_t)key->len;
    return 0;
}

/* What is wrong with the entry that comes next. */
static int leaf_refuse(struct in *in, uint32_t n, const struct key *last)
{
    struct entry e;

    if (entry_get(in, &e) == 0)
        in_fail(in, FMT_ERR_FORMAT, entry_doubt(&e, 0, n ? last->p : NULL, last->len));
    return 0;
}

/* Is the entry at p, before end, as it must be in a leaf?  One pass over a leaf that is only
 * looked at costs as much as all the rest. */
static inline int leaf_entry(const uint8_t *p, const uint8_t *end, const struct key *last,
                             struct entry *e)
{
    size_t left = (size_t)(end - p);

    if (left < 4)
        return 0;
    *e = entry_load(p);
    if ((size_t)e->suffix_len + e->value_len > left - 4 ||
        e->shared + e->suffix_len > FMT_KEY_MAX || e->shared + e->suffix_len < 9 ||
        (e->far ? e->value_len != FMT_REF_SIZE : e->value_len > FMT_INLINE_MAX) ||
        e->shared > last->len)
        return 0;
    /* Mostly the first byte tells the order; no key comes before the first. */
    if (e->suffix_len && last->len > e->shared && last->p[e->shared] < *e->suffix)
        return 1;
    return key_compare(last->p + e->shared, last->len - e->shared, e->suffix, e->suffix_len) < 0;
}

/* Bytes of a piece: most leaves and their marks fit. */
#define LEAF_PIECE ((size_t)6 << 10)

/* A leaf of `count` entries with room for its block; its arena holds all marked keys if none is
 * much longer than the first. */
static struct node *leaf_new(struct regions *mem, uint32_t count, uint32_t length, size_t key_len)
{
    size_t mark = (marks_of(count) + 1) * sizeof(struct mark);
    size_t entry = count * sizeof(uint16_t);
    size_t arena = (marks_of(count) + 1) * (key_len + 8);
    size_t all = sizeof(struct node) + mark + entry + arena + length + NODE_SLACK;
    struct region *from = NULL;
    struct node *n = NULL;
    uint8_t *at;

    if (mem && all <= LEAF_PIECE)
        n = region_take(mem, LEAF_PIECE, &from);
    if (!n)
        n = mem_alloc(all);
    if (!n)
        return NULL;
    at = (uint8_t *)(n + 1);
    memset(n, 0, sizeof(*n));
    n->from = from;
    atomic_init(&n->refs, 1);
    n->mark = (struct mark *)(void *)at;
    n->entry = (uint16_t *)(void *)(at + mark);
    n->arena = at + mark + entry;
    n->block = n->arena + arena;
    n->size = (uint32_t)arena;
    n->bytes = length;
    return n;
}

/* The entries of a leaf stay where they are. */
static int leaf_fill(struct node *n, struct in *in, uint32_t count)
{
    const uint8_t *p = n->block + in->at, *end = n->block + in->size;
    struct key key;
    int err = 0;

    key.len = 0;
    for (n->n = 0; !err && n->n < count; n->n++) {
        struct entry e;

        n->entry[n->n] = (uint16_t)(p - n->block);
        in->at = (size_t)(p - n->block);
        if (!leaf_entry(p, end, &key, &e))
            return leaf_refuse(in, n->n, &key);
        follow(&e, &key);
        if (n->n % MARKED == 0)
            err = mark_put(n, n->n / MARKED, &key);
        p = e.value + e.value_len;
    }
    in->at = (size_t)(p - n->block);
    return err ? err : mark_put(n, marks(n), &key);
}

static int leaf_decode(struct node **out, struct regions *mem, struct in *in, uint32_t count)
{
    struct in first = *in;
    struct entry e = {.suffix_len = 0};
    struct node *n;

    entry_get(&first, &e);
    n = leaf_new(mem, count, (uint32_t)in->size, e.suffix_len);
    if (!n)
        return DREP_ERR_NOMEM;
    memcpy(n->block, in->p, in->size + NODE_SLACK);
    *out = n;
    return leaf_fill(n, in, count);
}

/* Memory for the keys of the entries up to the first malformed one: bytes of the file back
 * all of it. */
static size_t measure(struct in in, uint32_t count)
{
    struct entry e;
    size_t sum = 1; /* something to point into, also where the first is malformed */

    for (uint32_t i = 0; i < count && entry_get(&in, &e) == 0; i++)
        sum += (size_t)e.shared + e.suffix_len + sizeof(struct child);
    return sum;
}

static int interior_fill(struct node *n, struct in *in, uint32_t count)
{
    int err = node_reserve(n, count, measure(*in, count));

    n->words = mem_array(count, sizeof(*n->words));
    if (n->level > 1)
        n->kept = mem_zalloc(count, sizeof(*n->kept));
    if (!n->words || (n->level > 1 && !n->kept))
        err = DREP_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < count; i++) {
        const struct item *last = n->n ? &n->item[n->n - 1] : NULL;
        uint8_t *to = n->arena + n->used;
        struct child c = {.node = NULL};
        const char *doubt;
        struct entry e;
        size_t key_len;
        struct in ref;

        if (entry_get(in, &e))
            return 0;
        doubt =
            entry_doubt(&e, n->level, last ? n->arena + last->at : NULL, last ? last->key_len : 0);
        if (doubt)
            return in_fail(in, FMT_ERR_FORMAT, doubt), 0;
        key_len = (size_t)e.shared + e.suffix_len;
        if (e.shared)
            memcpy(to, n->arena + last->at, e.shared);
        memcpy(to + e.shared, e.suffix, e.suffix_len);
        in_init(&ref, e.value, e.value_len);
        ref_get(&ref, &c.ref);
        if (ref.err || !c.ref.length)
            return in_fail(in, FMT_ERR_FORMAT, "impossible reference"), 0;
        memcpy(to + key_len, &c, sizeof(c));
        n->words[n->n] = words_of(to, key_len);
        n->item[n->n++] = (struct item){n->used, (uint16_t)key_len, (uint16_t)sizeof(c)};
        n->used += (uint32_t)(key_len + sizeof(c));
    }
    return err;
}

static int interior_decode(struct node **out, struct in *in, const struct block_head *head)
{
    struct node *n = node_new(head->level);

    if (!n)
        return DREP_ERR_NOMEM;
    n->dirty = 0;
    n->bytes = head->length;
    *out = n;
    return interior_fill(n, in, head->count);
}

int node_decode(struct node **out, struct regions *mem, const uint8_t *block,
                const struct block_head *head, const char **why, size_t *at)
{
    struct node *n = NULL;
    struct in in;
    int err;

    in_init(&in, block, head->length);
    in_bytes(&in, FMT_BLOCK_HEAD);
    err = head->level ? interior_decode(&n, &in, head) : leaf_decode(&n, mem, &in, head->count);
    if (!err && !in.err && in_left(&in))
        in_fail(&in, FMT_ERR_FORMAT, "bytes after the last entry of a node");
    if (!err && in.err) {
        err = in.err;
        *why = in.why;
        *at = in.err_at;
    }
    if (err) {
        node_unref(n);
        return err;
    }
    *out = n;
    return 0;
}

static void item_put(struct out *out, const struct node *n, uint32_t i)
{
    const struct item *item = &n->item[i];
    const uint8_t *key = item_key(n, i);
    size_t shared = 0;

    if (i)
        shared = key_shared(item_key(n, i - 1), item[-1].key_len, key, item->key_len);
    if (n->level) {
        struct child c = child_get(n, i);
        uint8_t ref[FMT_REF_SIZE];
        struct out at;

        out_init(&at, ref, sizeof(ref));
        ref_put(&at, &c.ref);
        entry_put(out, shared, key + shared, item->key_len - shared, ref, sizeof(ref), 0);
    } else {
        entry_put(out, shared, key + shared, item->key_len - shared, item_value(n, i),
                  item_value_len(n, i), (item->value_len & ITEM_FAR) != 0);
    }
}

uint64_t node_encode(const struct node *n, uint8_t *block, const uint8_t uuid[8], uint64_t sequence)
{
    struct block_head head = {.kind = FMT_NODE,
                              .level = n->level,
                              .sequence = sequence,
                              .length = (uint32_t)n->bytes,
                              .count = n->n};
    struct out out;

    memcpy(head.uuid, uuid, sizeof(head.uuid));
    out_init(&out, block + FMT_BLOCK_HEAD, n->bytes - FMT_BLOCK_HEAD);
    for (uint32_t i = 0; i < n->n; i++)
        item_put(&out, n, i);
    assert(!out.err && out.at == n->bytes - FMT_BLOCK_HEAD);
    return block_seal(block, &head);
}
