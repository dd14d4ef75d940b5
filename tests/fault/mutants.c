/* mutants.c - files changed at random: opened, listed, read, checked, copied, repaired and written
 * to, each in a process that may take 64 MiB beyond the file's size and 10 seconds of a processor.
 *
 * mutants COUNT SEED FILE...: (1 SEED with MUTANT_KEEP=FILE only writes that file; with
 * MUTANT_WRITTEN also as it is after it was written to, if it can be; COUNT 0 changes nothing
 * before.  COUNT SEED with MUTANT_FOLDER=FOLDER only writes FOLDER/SEED.drep, with each seed from
 * SEED on.)  Half of the changed files get right sums on the way to the change, so that it is not
 * merely a wrong sum.  The child says what went wrong by its exit status or its signal. */
/* SPDX-License-Identifier: MIT */
#include "api/repair.h"
#include "base/error.h"
#include "tests/fuzz/change.h"
#include "tests/fuzz/image.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM ((rlim_t)64 << 20)
#define SECONDS 10

static uint64_t state;

static uint64_t random64(void)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t below(size_t n)
{
    return (size_t)(random64() % n);
}

/* ---- changing ---- */

struct mutant {
    uint8_t *p;
    size_t size;
};

static const uint64_t odd[] = {0,
                               1,
                               2,
                               0x7f,
                               0x80,
                               0xff,
                               0x100,
                               0x7fff,
                               0x8000,
                               0xffff,
                               0x10000,
                               0x7fffffff,
                               0x80000000,
                               0xffffffff,
                               0x100000000,
                               INT64_MAX,
                               (uint64_t)INT64_MAX + 1,
                               UINT64_MAX,
                               4096,
                               8192,
                               16384};

/* A place of a slot's fields or header, or of a block; most bytes of a file are payload. */
static size_t place(const struct mutant *b)
{
    size_t at;

    if (b->size < FMT_SPACE_START + FMT_ALIGN || below(4) == 0)
        return below(b->size);
    if (below(4) == 0)
        return below(2) * FMT_SLOT_SIZE + below(320);
    for (int i = 0; i < 200; i++) {
        at = FMT_SPACE_START + below((b->size - FMT_SPACE_START) / FMT_ALIGN) * FMT_ALIGN;
        if (memcmp(b->p + at, "\x44\x52\x50\x42", 4) == 0)
            return at + below(b->size - at < 400 ? b->size - at : 400);
    }
    return below(b->size);
}

static void change(struct mutant *b)
{
    size_t at = place(b), n, from;
    uint8_t number[8];

    switch (below(6)) {
    case 0:
        b->p[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        b->p[at] = (uint8_t)random64();
        break;
    case 2: /* a number at its limits */
        store_u64(number, odd[below(sizeof odd / sizeof *odd)]);
        n = (size_t)1 << below(4);
        n = n < b->size - at ? n : b->size - at;
        memcpy(b->p + at, number + 8 - n, n);
        break;
    case 3: /* what stands elsewhere */
        n = 1 + below(64);
        from = place(b);
        n = n < b->size - at ? n : b->size - at;
        n = n < b->size - from ? n : b->size - from;
        memmove(b->p + at, b->p + from, n);
        break;
    case 4:
        n = 1 + below(below(8) == 0 ? 4096 : 32);
        memset(b->p + at, below(2) ? 0 : 0xff, n < b->size - at ? n : b->size - at);
        break;
    default:
        if (below(8) == 0)
            b->size = 1 + below(b->size);
        else
            b->p[at] = (uint8_t)(b->p[at] + (below(2) ? 1 : 255));
        break;
    }
}

/* ---- what is tried with one ---- */

static int ignore(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)err, (void)offset, (void)message, (void)ctx;
    return 0;
}

/* More memory than is allowed is asked for: that is the failure. */
static void enough(int err)
{
    if (err != DREP_ERR_NOMEM)
        return;
    printf("# %s\n", drep_error());
    fflush(stdout);
    _exit(2);
}

static void copy(drep_file *from, const drep_info *info)
{
    drep_copying how = DREP_COPYING(.range = DREP_RANGE_CLAMP, .threads = 1);
    drep_file *to = NULL;

    PROMISE(drep_create(":memory:", 0, "external32", info, &to) == 0);
    enough(drep_copy(from, "/", to, "/", &how));
    drep_abandon(to);
}

static void try_all(const struct mutant *b)
{
    int64_t findings;
    drep_file *file;
    drep_info *info;
    struct io *io;
    size_t after;
    int err;

    PROMISE(drep_info_new(&info) == 0);
    PROMISE(drep_info_set(info, "drep_cache_size", "1048576") == 0);
    PROMISE(drep_info_set(info, "drep_threads", "1") == 0);
    PROMISE(drep_info_set(info, "drep_external", "true") == 0);
    err = drep_open_image(b->p, b->size, info, &file);
    enough(err);
    if (err == 0) {
        image_targets(file);
        read_everything(file);
        enough(drep_check(file, 1, ignore, NULL, &findings));
        copy(file, info);
        drep_abandon(file);
    }
    PROMISE(io_memory(b->p, b->size, &io) == 0);
    enough(repair_on(io, ":memory:", 0, info, ignore, NULL, &findings));
    free(changed(b->p, b->size, info, b->p[b->size - 1], &after));
    drep_info_free(info);
}

/* ---- one process each ---- */

static rlim_t used(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    PROMISE(f != NULL && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void child(const struct mutant *b, int limited)
{
    rlim_t most = used() + ROOM + b->size;
    struct rlimit memory = {most, most}, none = {0, 0}, cpu = {SECONDS, SECONDS + 1};

    setrlimit(RLIMIT_CORE, &none);
    if (limited)
        setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CPU, &cpu);
    alarm(60 * SECONDS); /* of any kind of waiting */
    try_all(b);
    _exit(0);
}

/* 0, or what went wrong is said. */
static int run_one(const struct mutant *b, int limited, const char *name, uint64_t seed)
{
    int status = 0;
    pid_t pid = fork();

    PROMISE(pid >= 0);
    if (pid == 0)
        child(b, limited);
    PROMISE(waitpid(pid, &status, 0) == pid);
    if (status == 0)
        return 0;
    if (WIFSIGNALED(status))
        printf("# %s, seed %llu: %s\n", name, (unsigned long long)seed,
               WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU
                   ? "takes too long"
                   : strsignal(WTERMSIG(status)));
    else
        printf("# %s, seed %llu: %s\n", name, (unsigned long long)seed,
               WEXITSTATUS(status) == 2 ? "takes too much memory" : "exits");
    return 1;
}

static struct mutant load(const char *path)
{
    struct mutant b = {malloc(IMAGE_MAX), 0};
    FILE *f = fopen(path, "rb");

    PROMISE(f != NULL && b.p != NULL);
    b.size = fread(b.p, 1, IMAGE_MAX, f);
    PROMISE(b.size > 0);
    fclose(f);
    return b;
}

static void put(const uint8_t *p, size_t size, const char *path)
{
    FILE *f = fopen(path, "wb");

    PROMISE(f != NULL && fwrite(p, 1, size, f) == size && fclose(f) == 0);
}

static int keep(const struct mutant *b, const char *path, uint64_t seed)
{
    const char *written = getenv("MUTANT_WRITTEN");
    drep_info *info;
    uint8_t *bytes;
    size_t after;

    put(b->p, b->size, path);
    PROMISE(drep_info_new(&info) == 0);
    bytes = written ? changed(b->p, b->size, info, (unsigned)seed, &after) : NULL;
    if (bytes)
        put(bytes, after, written);
    free(bytes);
    drep_info_free(info);
    return 0;
}

static void keep_in(const struct mutant *b, const char *folder, uint64_t seed)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%llu.drep", folder, (unsigned long long)seed);
    put(b->p, b->size, path);
}

/* The file that a seed makes of it. */
static void mutate(struct mutant *to, const struct mutant *from, uint64_t seed)
{
    state = seed;
    memcpy(to->p, from->p, from->size);
    to->size = from->size;
    for (size_t n = 1 + below(4); n > 0; n--)
        change(to);
    if (below(2) && to->size >= FMT_SPACE_START)
        heal(to->p, to->size);
}

int main(int argc, char **argv)
{
    struct mutant b = {malloc(IMAGE_MAX), 0}, *file = calloc((size_t)argc, sizeof *file);
    uint64_t count = argc > 3 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t seed = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
    int limited = getenv("MUTANTS_UNLIMITED") == NULL, files = argc - 3, bad = 0;
    const char *folder = getenv("MUTANT_FOLDER");

    if (argc < 4 || b.p == NULL || file == NULL) {
        fprintf(stderr, "usage: mutants COUNT SEED FILE...\n");
        return 2;
    }
    for (int i = 0; i < files; i++)
        file[i] = load(argv[3 + i]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count == 0 && getenv("MUTANT_KEEP") != NULL)
        return keep(&file[0], getenv("MUTANT_KEEP"), seed);
    for (uint64_t i = 0; i < count; i++) {
        int which = (int)((seed + i) % (uint64_t)files);

        mutate(&b, &file[which], seed + i);
        if (getenv("MUTANT_KEEP") != NULL)
            return keep(&b, getenv("MUTANT_KEEP"), seed);
        if (folder) {
            keep_in(&b, folder, seed + i);
            continue;
        }
        bad += run_one(&b, limited, argv[3 + which], seed + i);
        if (bad > 20)
            break;
    }
    printf("%llu mutants of %d files, %d bad\n", (unsigned long long)count, files, bad);
    for (int i = 0; i < files; i++)
        free(file[i].p);
    free(file);
    free(b.p);
    return bad > 0;
}
