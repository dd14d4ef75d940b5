/* node.c - one node of the tree in memory: searching it, and changing it.
 *
 * A dirty node is an array of items over an arena of bytes.  Changing a value leaves its old bytes
 * in the arena as waste; when room is needed the node is rebuilt without them. */
/* SPDX-License-Identifier: MIT */
#include "tree/node.h"

#include "base/error.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

#define NEAR 6u /* entries behind one that are looked at before a search */

struct tree_node *node_new(int level)
{
    struct tree_node *n = mem_zalloc(1, sizeof(*n));

    if (!n)
        return NULL;
    atomic_init(&n->refs, 1);
    n->level = (uint8_t)level;
    n->dirty = 1;
    n->bytes = FMT_BLOCK_HEAD;
    return n;
}

void node_unref(struct tree_node *n)
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

size_t node_memory(const struct tree_node *n)
{
    size_t read = (marks_of(n->n) + 1) * sizeof(*n->mark) + n->n * sizeof(*n->entry) + n->bytes;

    return sizeof(*n) + n->room * sizeof(*n->item) + n->size + (n->block ? read : 0);
}

/* ---- clean leaves ---- */

static const uint8_t *mark_key(const struct tree_node *n, uint32_t i)
{
    return n->arena + n->mark[i].at;
}

void node_next_key(const struct tree_node *n, uint32_t i, struct key *key)
{
    struct entry e;

    if (!n->block) {
        key->len = n->item[i].key_len;
        memcpy(key->p, item_key(n, i), key->len);
        return;
    }
    e = node_entry(n, i);
    key_follow(&e, key);
}

void node_key(const struct tree_node *n, uint32_t i, struct key *key)
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

const uint8_t *node_value(const struct tree_node *n, uint32_t i, size_t *len)
{
    struct entry e;

    if (!n->block) {
        *len = n->item[i].value_len;
        return item_value(n, i);
    }
    e = node_entry(n, i);
    *len = e.value_len | (e.far ? ITEM_FAR : 0);
    return e.value;
}

const uint8_t *node_first(const struct tree_node *n, size_t *len)
{
    *len = n->block ? n->mark[0].len : n->item[0].key_len;
    return n->block ? mark_key(n, 0) : item_key(n, 0);
}

const uint8_t *node_last(const struct tree_node *n, size_t *len)
{
    *len = n->block ? n->mark[node_marks(n)].len : n->item[n->n - 1].key_len;
    return n->block ? mark_key(n, node_marks(n)) : item_key(n, n->n - 1);
}

/* The first entry of [i, end) whose key is >= key, `end` if there is none; the one before
 * has a lesser key with `same` first bytes equal.  An entry that shares more than that with
 * the one before is lesser too. */
static uint32_t scan_entries(const struct tree_node *n, uint32_t i, uint32_t end, size_t same,
                             const uint8_t *key, size_t len, int *equal)
{
    for (; i < end; i++) {
        struct entry_head head = n->entry[i];
        struct entry e;
        size_t k;

        if (head.shared > same)
            continue;
        same = head.shared;
        if (head.first < key[same])
            continue;
        if (head.first > key[same])
            return i;
        e = node_entry(n, i);
        k = key_common(e.suffix, e.suffix_len, key + e.shared, len - e.shared);
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

/* Length of the common prefix of a mark's key and another; the words mostly tell. */
static size_t mark_common(const struct tree_node *n, uint32_t i, struct key_words w,
                          const uint8_t *key, size_t len)
{
    uint64_t first = n->mark[i].words.first ^ w.first, second = n->mark[i].words.second ^ w.second;
    size_t most = n->mark[i].len < len ? n->mark[i].len : len, same;

    if ((first == 0 && second == 0) || words_alike(w) || words_alike(n->mark[i].words))
        return key_common(mark_key(n, i), n->mark[i].len, key, len);
    same = (size_t)(first ? __builtin_clzll(first) : 64 + __builtin_clzll(second)) / 8;
    same += same > 0; /* a zero that the words leave out */
    return same < most ? same : most;
}

/* Ask for the memory of the entries behind a mark all at once: in a large tree none of it is in the
 * processor's caches, and the heads would be waited for before the entry. */
static void fetch_marked(const struct tree_node *n, uint32_t i)
{
    const char *p = (const char *)n->block + n->mark[i].in_block;
    const char *end = (const char *)n->block + n->mark[i + 1].in_block;

    __builtin_prefetch(&n->entry[i * MARKED]);
    for (int line = 0; line < 5 && p < end; line++, p += 64)
        __builtin_prefetch(p);
}

static uint32_t block_find(const struct tree_node *n, const uint8_t *key, size_t len, int *equal)
{
    uint32_t low = 0, high = node_marks(n), end;
    struct key_words w = words_of(key, len);

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
    fetch_marked(n, low);
    end = (low + 1) * MARKED < n->n ? (low + 1) * MARKED : n->n;
    return scan_entries(n, low * MARKED + 1, end, mark_common(n, low, w, key, len), key, len,
                        equal);
}

uint32_t node_find_behind(const struct tree_node *n, uint32_t i, const uint8_t *before,
                          size_t before_len, const uint8_t *key, size_t len, int *equal)
{
    uint32_t end = n->n - i > NEAR ? i + 1 + NEAR : n->n;

    *equal = 0;
    i = scan_entries(n, i + 1, end, key_common(before, before_len, key, len), key, len, equal);
    return i < end ? i : UINT32_MAX;
}

/* Unpack all entries of a clean leaf as items of a dirty node, which has room for them. */
static void unpack_leaf(const struct tree_node *n, struct tree_node *to)
{
    struct key key;

    for (uint32_t i = 0; i < n->n; i++) {
        struct entry e = node_entry(n, i);

        key_follow(&e, &key);
        memcpy(to->arena + to->used, key.p, key.len);
        memcpy(to->arena + to->used + key.len, e.value, e.value_len);
        to->item[i] = (struct item){to->used, (uint16_t)key.len,
                                    (uint16_t)(e.value_len | (e.far ? ITEM_FAR : 0))};
        to->used += (uint32_t)(key.len + e.value_len);
    }
}

static size_t unpacked_bytes(const struct tree_node *n)
{
    size_t sum = 0;

    for (uint32_t i = 0; i < n->n; i++) {
        struct entry e = node_entry(n, i);

        sum += (size_t)e.shared + e.suffix_len + e.value_len;
    }
    return sum;
}

/* Keys and values in use, one behind the other; gives their bytes. */
static uint32_t gather_items(uint8_t *arena, struct item *item, const struct tree_node *n)
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
static uint32_t lower_bound(const struct tree_node *n, uint32_t low, uint32_t high,
                            const uint8_t *key, size_t len, int *equal)
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
static bool near_last(const struct tree_node *n, const uint8_t *key, size_t len, uint32_t *low,
                      uint32_t *high, int *equal)
{
    uint32_t last = n->last;
    int order = item_compare(n, last, key, len);

    *low = *high = last;
    *equal = order == 0;
    if (order == 0)
        return true;
    if (order < 0) {
        *low = last + 1;
        *high = n->n;
        if (*low == n->n)
            return true;
        order = item_compare(n, *low, key, len);
        *equal = order == 0;
        return order >= 0;
    }
    *low = 0;
    if (last == 0)
        return true;
    order = item_compare(n, last - 1, key, len);
    if (order > 0) {
        *high = last - 1;
        return false;
    }
    *equal = order == 0;
    *low = order == 0 ? last - 1 : last;
    return true;
}

uint32_t node_find(const struct tree_node *n, const uint8_t *key, size_t len, int *equal)
{
    uint32_t low = 0, high = n->n;

    if (n->block)
        return block_find(n, key, len, equal);
    if (n->dirty && n->last < n->n && near_last(n, key, len, &low, &high, equal))
        return low;
    return lower_bound(n, low, high, key, len, equal);
}

/* Like the above for a clean interior node. */
static uint32_t words_child(const struct tree_node *n, const uint8_t *key, size_t len)
{
    uint32_t low = 0, high = n->n;
    struct key_words w = words_of(key, len);

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

uint32_t node_child(const struct tree_node *n, const uint8_t *key, size_t len)
{
    uint32_t i;
    int equal;

    if (n->words)
        return words_child(n, key, len);
    i = lower_bound(n, 0, n->n, key, len, &equal);
    if (equal)
        return i;
    return i ? i - 1 : 0;
}

void child_set(struct tree_node *n, uint32_t i, const struct child *c)
{
    memcpy(n->arena + n->item[i].at + n->item[i].key_len, c, sizeof(*c));
}

uint32_t node_index(const struct tree_node *n)
{
    const struct tree_node *parent = n->parent;
    uint32_t i = parent->n;

    do { /* mostly it is the last one */
        assert(i > 0);
    } while (child_get(parent, --i).node != n);
    return i;
}

/* ---- changing ---- */

/* Moves everything in use to a new arena of `size` bytes. */
static int rebuild_arena(struct tree_node *n, size_t size)
{
    uint8_t *arena = mem_alloc(size);

    if (!arena)
        return DREP_ERR_NOMEM;
    n->used = gather_items(arena, n->item, n);
    mem_free(n->arena);
    n->arena = arena;
    n->size = (uint32_t)size;
    n->waste = 0;
    return 0;
}

int node_make_room(struct tree_node *n, uint32_t items, size_t bytes)
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

        return rebuild_arena(n, live + bytes + live / 2 + 256);
    }
    return 0;
}

/* Bytes that a value takes in the file; a child takes a reference. */
static size_t value_bytes(const struct tree_node *n, size_t value_len)
{
    return n->level ? FMT_REF_SIZE : value_len & ~(size_t)ITEM_FAR;
}

size_t node_item_bytes(const struct tree_node *n, uint32_t i)
{
    const struct item *item = &n->item[i];
    size_t shared = 0;

    if (i)
        shared = key_shared(item_key(n, i - 1), item[-1].key_len, item_key(n, i), item->key_len);
    return entry_size(item->key_len - shared, value_bytes(n, item->value_len));
}

struct tree_node *node_copy(const struct tree_node *n)
{
    struct tree_node *copy = node_new(n->level);
    size_t used = n->block ? unpacked_bytes(n) : n->used - n->waste;

    if (!copy)
        return NULL;
    /* The caller is about to insert into the copy. */
    if (node_reserve(copy, n->n + 16, used + used / 4 + 256)) {
        node_unref(copy);
        return NULL;
    }
    if (n->block) {
        unpack_leaf(n, copy);
    } else {
        memcpy(copy->item, n->item, n->n * sizeof(*n->item));
        copy->used = gather_items(copy->arena, copy->item, n);
    }
    copy->n = n->n;
    /* Each key shares all it can with the one before, which another writer need not have done. */
    for (uint32_t i = 0; i < copy->n; i++)
        copy->bytes += node_item_bytes(copy, i);
    copy->last = UINT32_MAX;
    return copy;
}

/* Bytes that an item between i - 1 and i adds to the node in the file. */
static size_t item_cost(const struct tree_node *n, uint32_t before, uint32_t behind,
                        const uint8_t *key, size_t key_len, size_t value_len)
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

size_t node_grown(const struct tree_node *n, uint32_t i, const uint8_t *key, size_t key_len,
                  size_t value_len)
{
    return n->bytes + item_cost(n, i ? i - 1 : UINT32_MAX, i, key, key_len, value_len);
}

void node_insert(struct tree_node *n, uint32_t i, const uint8_t *key, size_t key_len,
                 const void *value, size_t value_len, size_t bytes)
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

void node_replace(struct tree_node *n, uint32_t i, const void *value, size_t value_len)
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

void node_remove(struct tree_node *n, uint32_t i)
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

void node_open_left(struct tree_node *n)
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

void node_move(struct tree_node *n, uint32_t from, struct tree_node *to)
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
