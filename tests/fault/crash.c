/* crash.c - what a crash could leave, state after state, and whether it is a commit.
 *
 *   crash STATES SEED
 *   crash --files N SEED DIRECTORY   only works, and leaves the files for others to read
 *
 * A long random piece of work is done on a file that records every write, sync and
 * truncation.  After each commit, from that record, the file is built as a crash at any
 * moment could have left it: everything up to the last sync, and of what came since any
 * subset, each write whole, missing, or torn at sectors of 512 or 4096 bytes.  It must open as
 * the last commit or the one in flight, pass the deep check, and hold exactly what a model in
 * memory holds; many are also written to again.  Without syncs (drep_sync=none) a killed
 * process is tried instead: everything that was written, in order.
 *
 * The seed of the piece of work is printed when it fails. */
/* SPDX-License-Identifier: MIT */
#include "model.h"

#include "../unit/faultio.h"
#include "whole/create.h"
#include "file/file.h"
#include "txn/open.h"

#define COMMITS 40 /* of one piece of work */
#define CHANGES 9  /* at most, before a commit */
#define SAMPLES 6  /* states of each moment */

struct task {
    uint64_t seed;
    struct rng rng, sampling;
    struct fault_file file;
    drep_file *handle;
    struct model now, last, before; /* of the transaction, the last commit, the one before */
    uint64_t commits;               /* made */
    uint64_t sum[2 * COMMITS + 2];  /* of each */
    bool syncs;
    bool stream; /* its first commit stands at the end */
    bool files;  /* no states are tried */
    drep_info *info;
    /* What is on disk for certain: the image and the events behind it. */
    struct fault_file base;
    size_t done; /* events tried already */
    /* What was tried. */
    uint64_t states, left, torn, reopened, older, damaged;
};

static struct task w;

static void stop(const char *what)
{
    printf("piece of work %" PRIu64 ", commit %" PRIu64 ", state %" PRIu64 ": %s: %s\n", w.seed,
           w.commits, w.states, what, drep_error());
    exit(1);
}

static void must(int err, const char *what)
{
    if (err)
        stop(what);
}

/* ---- the state of a moment ---- */

static void put(struct fault_file *to, const struct fault_event *e, size_t from, size_t len)
{
    size_t at = (size_t)e->offset + from;

    if (at + len > to->size)
        fault_resize(to, at + len);
    memcpy(to->p + at, e->bytes + from, len);
}

/* Each sector of the write arrives or not. */
static void put_torn(struct fault_file *to, const struct fault_event *e, size_t sector)
{
    for (size_t from = 0; from < e->size;) {
        size_t at = (size_t)e->offset + from, len = sector - at % sector;

        len = len < e->size - from ? len : e->size - from;
        if (below(&w.sampling, 2))
            put(to, e, from, len);
        from += len;
    }
    w.torn++;
}

enum fate { ALL, MOST, SOME, FEW, FATES };

static void arrive(struct fault_file *to, const struct fault_event *e, enum fate fate,
                   size_t sector)
{
    static const unsigned lost[FATES] = {0, 10, 45, 85}, torn[FATES] = {0, 10, 25, 10};
    unsigned at = (unsigned)below(&w.sampling, 100);

    if (fate != ALL && at < lost[fate])
        return;
    if (e->kind == FAULT_TRUNCATE)
        fault_resize(to, (size_t)e->offset);
    if (e->kind != FAULT_WRITE)
        return;
    if (fate != ALL && at < lost[fate] + torn[fate])
        put_torn(to, e, sector);
    else
        put(to, e, 0, e->size);
}

static void copy_of(struct fault_file *to, const struct fault_file *from)
{
    fault_resize(to, 0);
    fault_resize(to, from->size);
    if (from->size)
        memcpy(to->p, from->p, from->size);
}

/* ---- what it must be ---- */

static int finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)err;
    (void)offset;
    snprintf(ctx, 1000, "%s", message);
    return 0;
}

static void check_content(drep_file *f, uint64_t want, const char *what)
{
    char found[1000] = "";
    int64_t findings = 0;
    drep_header h = DREP_HEADER;
    uint64_t sum;

    must(drep_header_get(f, &h), what);
    must(drep_check(f, 1, finding, found, &findings), what);
    if (findings != (h.damaged_slot != 0)) {
        printf("# %s\n", found);
        stop("a check finds something");
    }
    must(look(f, &sum), what);
    if (sum != want) {
        printf("# another content\n");
        stop(what);
    }
}

/* No byte is lost: what is in no use can be used again. */
static void check_space(drep_file *f)
{
    drep_usage usage = DREP_USAGE;

    must(drep_usage_get(f, &usage), "usage");
    if (usage.slack == 0)
        return;
    printf("# %" PRId64 " bytes\n", usage.slack);
    stop("bytes that nobody has and nobody may use");
}

static drep_file *open_state(struct fault_file *state, int amode, uint64_t commit)
{
    drep_file *f;

    must(file_open_on(fault_io(state), amode, w.info, commit, &f), "a state does not open");
    return f;
}

static int log_one(const drep_commitinfo *commit, void *ctx)
{
    struct fault_file *state = ctx;
    drep_file *f = open_state(state, DREP_RDONLY, commit->sequence);

    check_content(f, w.sum[commit->sequence], "an earlier commit");
    drep_abandon(f);
    w.older++;
    return 0;
}

/* Work goes on from the state: a few changes, a commit. */
static void go_on(struct fault_file *state, const struct model *model)
{
    static struct model m;
    struct both both = {.model = &m, .rng = &w.sampling};
    drep_file *f;

    model_copy(&m, model);
    both.file = open_state(state, DREP_RDWR, 0);
    for (int i = 0; i < 3; i++)
        must(change(&both), "a change of a state");
    must(drep_commit(both.file), "a commit of a state");
    if (below(&w.sampling, 2))
        must(drep_close(both.file), "closing a state");
    else
        drep_abandon(both.file);
    f = open_state(state, DREP_RDONLY, 0);
    check_content(f, model_sum(&m), "a state that was written to");
    drep_abandon(f);
    w.reopened++;
}

/* The state is one of the commits from `least` to `most`. */
static void judge(struct fault_file *state, uint64_t least, uint64_t most)
{
    drep_file *f;
    drep_header h = DREP_HEADER;

    w.states++;
    must(drep_open_image(state->p, state->size, NULL, &f), "a state does not open");
    must(drep_header_get(f, &h), "header");
    if (h.sequence < least || h.sequence > most) {
        printf("# commit %" PRIu64 ", not %" PRIu64 " to %" PRIu64 "\n", h.sequence, least, most);
        stop("another commit");
    }
    check_content(f, w.sum[h.sequence], "a state");
    drep_abandon(f);
    w.damaged += h.damaged_slot != 0;
    if (below(&w.sampling, 8) == 0) {
        f = open_state(state, DREP_RDONLY, 0);
        check_space(f);
        drep_abandon(f);
    }
    if (below(&w.sampling, 16) == 0) {
        f = open_state(state, DREP_RDONLY, 0);
        must(drep_log(f, log_one, state), "the log of a state");
        drep_abandon(f);
    }
    if (below(&w.sampling, 8) == 0)
        go_on(state, h.sequence == w.commits ? &w.last : &w.before);
}

/* ---- all states of what was recorded since the last commit ---- */

/* A crash behind event n, of which those from `from` on were not synced. */
static void crash_at(size_t from, size_t n, uint64_t least, uint64_t most)
{
    static struct fault_file state;
    int samples = n > from && w.file.event[n - 1].kind != FAULT_SYNC ? SAMPLES : 1;

    for (int k = 0; k < samples; k++) {
        enum fate fate = k == 0 ? ALL : (enum fate)(1 + below(&w.sampling, FATES - 1));
        size_t sector = below(&w.sampling, 2) ? 512 : 4096;

        if (w.states >= w.left)
            return;
        copy_of(&state, &w.base);
        for (size_t i = from; i < n; i++)
            arrive(&state, &w.file.event[i], fate, sector);
        judge(&state, least, most);
    }
}

/* A process killed in its last write leaves a part of it, in whole pages. */
static void kill_at(size_t n, uint64_t least, uint64_t most)
{
    static struct fault_file state;
    const struct fault_event *e = &w.file.event[n - 1];

    if (w.states >= w.left)
        return;
    if (e->kind == FAULT_WRITE && e->size > 4096 && e->offset >= 8192) {
        size_t most_pages = (e->size - 1) / 4096;

        copy_of(&state, &w.base);
        put(&state, e, 0, 4096 * (1 + (size_t)below(&w.sampling, most_pages)) - e->offset % 4096);
        judge(&state, least, least);
    }
    arrive(&w.base, e, ALL, 4096);
    copy_of(&state, &w.base);
    judge(&state, least, most);
}

/* True if the event writes the slot of the newest commit. */
static bool writes_slot(const struct fault_event *e)
{
    return e->kind == FAULT_WRITE && e->offset < 8192 && e->size == 4096 &&
           load_u64(e->bytes + 16) == w.commits;
}

/* The events since the last call belong to the commit that was just made (w.commits), or to
 * none when it was made before. */
static void try_all(bool committed)
{
    uint64_t least = w.commits - committed, most = least;
    size_t from = w.done; /* all before it is in w.base */

    for (size_t n = w.done + 1; n <= w.file.events; n++) {
        const struct fault_event *e = &w.file.event[n - 1];

        if (committed && writes_slot(e))
            most = w.commits;
        if (!w.syncs)
            least = most;
        if (w.commits > 1 || (!committed && w.commits)) { /* else it has no name yet */
            if (w.syncs)
                crash_at(from, n, least, most);
            else
                kill_at(n, least, most);
        } else if (!w.syncs) {
            arrive(&w.base, e, ALL, 4096);
        }
        if (w.syncs && e->kind == FAULT_SYNC) {
            for (; from < n; from++)
                arrive(&w.base, &w.file.event[from], ALL, 4096);
            least = most;
        }
    }
    if (w.syncs) { /* what is not synced stays in question */
        w.done = from;
        return;
    }
    fault_forget(&w.file);
    w.done = 0;
}

/* ---- the work ---- */

/* Where nothing was changed no commit is made. */
static void commit_now(void)
{
    drep_header h = DREP_HEADER;

    must(drep_commit(w.handle), "commit");
    must(drep_header_get(w.handle, &h), "header");
    if (h.sequence == w.commits && model_sum(&w.now) != w.sum[w.commits])
        stop("no commit was made of a change");
    if (h.sequence > w.commits) {
        model_copy(&w.before, &w.last);
        model_copy(&w.last, &w.now);
        w.sum[++w.commits] = model_sum(&w.now);
        try_all(true);
    }
}

/* Some write nodes and notes early, as otherwise only work with very many objects does. */
static void set_spilling(void)
{
    if (w.seed % 4 == 3)
        store_set_memory(w.handle->st, 1, w.seed % 8 == 3 ? 100 : 1 << 20, 2);
}

static void open_again(void)
{
    w.handle = open_state(&w.file, DREP_RDWR, 0);
}

/* The first commit as a writer leaves it that cannot go back: its slot stands at the end, and
 * slot A refers to it. */
static void put_slot_at_end(struct fault_file *f)
{
    uint8_t bytes[FMT_SLOT_SIZE];
    struct slot slot, front = {.incompatible = FMT_AT_END};
    const char *why;

    if (slot_get(&slot, f->p, 0, &why) != SLOT_VALID || why)
        stop("slot A of the first commit");
    front.major = slot.major;
    front.minor = slot.minor;
    front.sequence = slot.sequence;
    memcpy(front.uuid, slot.uuid, sizeof front.uuid);
    slot.incompatible |= FMT_AT_END;
    fault_resize(f, (size_t)slot.end);
    fault_resize(f, (size_t)slot.end + FMT_SLOT_SIZE);
    slot_put(bytes, &slot);
    memcpy(f->p + slot.end, bytes, sizeof bytes);
    slot_put(bytes, &front);
    memcpy(f->p, bytes, sizeof bytes);
}

/* Goes on with the first commit as a stream. */
static void become_stream(void)
{
    static struct fault_file state;

    w.stream = true;
    must(drep_close(w.handle), "close");
    put_slot_at_end(&w.file);
    fault_forget(&w.file);
    copy_of(&w.base, &w.file);
    w.done = 0;
    open_again();
    copy_of(&state, &w.base);
    judge(&state, 1, 1);
}

static void leave(void)
{
    if (below(&w.rng, 2)) {
        drep_abandon(w.handle); /* what was changed is not there */
        model_copy(&w.now, &w.last);
    } else {
        commit_now();
        must(drep_close(w.handle), "close");
    }
    open_again();
    try_all(false);
}

/* The hints of this piece of work; the same seed gives the same file. */
static void choose_hints(void)
{
    static const char *const keeps[] = {"1", "2", "3", "6"}, *const units[] = {"4096", "65536"};
    char uuid[33];

    snprintf(uuid, sizeof uuid, "%016" PRIx64 "%016" PRIx64, w.seed, ~w.seed);
    w.syncs = below(&w.rng, 8) != 0;
    must(drep_info_new(&w.info), "hints");
    must(drep_info_set(w.info, "drep_sync", w.syncs ? "commit" : "none"), "hints");
    must(drep_info_set(w.info, "drep_keep", keeps[below(&w.rng, 4)]), "hints");
    must(drep_info_set(w.info, "striping_unit", units[below(&w.rng, 4) == 0]), "hints");
    must(drep_info_set(w.info, "drep_checksum", below(&w.rng, 4) ? "on" : "deferred"), "hints");
    must(drep_info_set(w.info, "drep_uuid", uuid), "hints");
    must(drep_info_set(w.info, "drep_time", "1"), "hints");
    must(drep_info_set(w.info, "drep_cache_size", "65536"), "hints");
    must(drep_info_set(w.info, "drep_threads", "1"), "hints");
}

static void do_work(void)
{
    static const char *const datareps[] = {"external32", "internal", "native", "native:s390x"};
    struct both both = {.model = &w.now, .rng = &w.rng};

    choose_hints();
    must(file_create_on(fault_io(&w.file), datareps[below(&w.rng, 4)], w.info, &w.handle),
         "create");
    while (w.commits < COMMITS && (w.states < w.left || w.files)) {
        uint64_t n = 1 + below(&w.rng, CHANGES);

        if (w.commits == 0 && w.seed % 2) /* a tree of some leaves to begin with */
            n = 150;
        for (; n > 0; n--) {
            both.file = w.handle;
            set_spilling();
            must(change(&both), "a change");
        }
        if (w.commits && below(&w.rng, 8) == 0) {
            leave();
            continue;
        }
        commit_now();
        if (w.commits == 1 && w.seed % 3 == 0 && !w.stream)
            become_stream();
    }
    drep_abandon(w.handle);
    drep_info_free(w.info);
}

static void begin_work(uint64_t seed, uint64_t left)
{
    memset(&w, 0, sizeof w);
    w.seed = seed;
    w.left = left;
    w.rng.s = seed;
    w.sampling.s = ~seed;
    model_init(&w.now);
    model_init(&w.last);
    model_init(&w.before);
    fault_init(&w.file);
    fault_init(&w.base);
    w.file.record = 1;
}

static void end_work(void)
{
    model_release(&w.now);
    model_release(&w.last);
    model_release(&w.before);
    fault_release(&w.file);
    fault_release(&w.base);
}

/* The file of each piece of work, as it is after its last commit and what came then. */
static int leave_files(uint64_t n, uint64_t seed, const char *directory)
{
    char path[4096];

    for (uint64_t i = 0; i < n; i++) {
        FILE *f;

        begin_work(seed + i, 0);
        w.files = true;
        do_work();
        snprintf(path, sizeof path, "%s/work-%" PRIu64 ".drep", directory, w.seed);
        f = fopen(path, "wb");
        if (!f || fwrite(w.file.p, 1, w.file.size, f) != w.file.size || fclose(f)) {
            perror(path);
            return 1;
        }
        end_work();
    }
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t states = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, n = 0, pieces = 0;
    uint64_t commits = 0, torn = 0, reopened = 0, older = 0, damaged = 0;

    if (argc == 5 && strcmp(argv[1], "--files") == 0)
        return leave_files(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), argv[4]);
    for (; n < states; pieces++) {
        begin_work(seed + pieces, states - n);
        do_work();
        n += w.states;
        commits += w.commits;
        torn += w.torn;
        reopened += w.reopened;
        older += w.older;
        damaged += w.damaged;
        end_work();
    }
    printf("%" PRIu64 " states that a crash could leave, each a whole commit; seeds %" PRIu64
           " to %" PRIu64 ", %" PRIu64 " commits, %" PRIu64 " writes torn, %" PRIu64
           " damaged slots, %" PRIu64 " states written to again, %" PRIu64
           " earlier commits opened\n",
           n, seed, seed + pieces - 1, commits, torn, damaged, reopened, older);
    return 0;
}
