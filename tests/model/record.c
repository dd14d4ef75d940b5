/* record.c - a story of writers, ranks and readers, and what their processes asked of the system.
 *
 *   record DIR SEED STORY    makes DIR/x.drep, copies it to DIR/start.drep, lets the processes of
 *                            the story loose on it, and writes DIR/events
 *
 * The program has its own pread(), pwrite(), fdatasync(), ftruncate() and fcntl(), which the
 * library calls in place of the system's: each makes the call and notes it while it holds a lock
 * that all processes share, so the notes are in one order.  A process that is to be killed kills
 * itself there: before a call, after it, or with half of a write done. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/thread_team.h"

#include <datarep-team.h>
#include <datarep.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- notes ---- */

enum { EVENTS = 100000, BYTES = 32 << 20 };
enum what { READS, WRITES, SYNCS, SYNC_FAILS, TRUNCATES, LOCKS, PROBES, DIES, TELLS };

struct note {
    uint64_t what, actor, file, at, size, result, data; /* data: where the bytes of a write are */
};

struct notes {
    pthread_mutex_t lock;
    uint64_t n, used;
    struct note note[EVENTS];
    uint8_t bytes[BYTES];
};

static struct notes *notes;
static _Thread_local int actor = -1;
static int actor_of_process = -1;
static uint64_t rng = 1;
static int64_t kill_after = -1, fail_sync = -1; /* calls until then; -1: never */
static int kill_how;
static bool slow; /* processes wait now and then, so that others come between */

static uint64_t below(uint64_t n)
{
    rng = rng * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (rng >> 33) % n;
}

/* Calls that change a regular file while the notes are kept. */
static bool noted(int fd, struct note *note)
{
    struct stat s;

    note->actor = (uint64_t)(actor >= 0 ? actor : actor_of_process);
    if (!notes || (actor < 0 && actor_of_process < 0) || fstat(fd, &s) || !S_ISREG(s.st_mode))
        return false;
    note->file = s.st_ino;
    if (slow && actor < 0 && below(4) == 0)
        usleep((unsigned)below(400));
    if (pthread_mutex_lock(&notes->lock) == EOWNERDEAD)
        pthread_mutex_consistent(&notes->lock);
    return true;
}

static void add_note(const struct note *note, const void *data, size_t size)
{
    struct note *to = &notes->note[notes->n];

    if (notes->n == EVENTS || size > BYTES - notes->used)
        abort();
    *to = *note;
    to->data = notes->used;
    if (data)
        memcpy(notes->bytes + notes->used, data, size);
    notes->used += data ? size : 0;
    notes->n++;
}

static void die(const struct note *of)
{
    struct note note = {.what = DIES, .actor = of->actor, .file = of->file};

    add_note(&note, NULL, 0);
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* True in the call at which the process shall end in the way `how`. */
static bool dies(int how)
{
    return kill_after == 0 && kill_how == how;
}

static void done(const struct note *note, const void *data, size_t size)
{
    add_note(note, data, size);
    if (dies(1))
        die(note);
    kill_after -= kill_after > 0;
    pthread_mutex_unlock(&notes->lock);
}

/* ---- the calls ---- */

static ssize_t note_read(int fd, const struct iovec *to, int n, off_t at)
{
    struct note note = {.what = READS, .at = (uint64_t)at};
    bool keep = noted(fd, &note);
    ssize_t got;

    got = syscall(SYS_preadv, fd, to, n, (long)at, 0L);
    if (!keep)
        return got;
    note.size = got > 0 ? (uint64_t)got : 0;
    add_note(&note, NULL, 0);
    pthread_mutex_unlock(&notes->lock);
    return got;
}

ssize_t pread(int fd, void *buf, size_t size, off_t at)
{
    struct iovec to = {buf, size};

    return note_read(fd, &to, 1, at);
}

ssize_t preadv(int fd, const struct iovec *to, int n, off_t at)
{
    return note_read(fd, to, n, at);
}

ssize_t pwrite(int fd, const void *buf, size_t size, off_t at)
{
    struct note note = {.what = WRITES, .at = (uint64_t)at};
    bool keep = noted(fd, &note);
    ssize_t put;

    if (keep && dies(0))
        die(&note);
    if (keep && dies(2))
        size = size / 2 + 1;
    put = syscall(SYS_pwrite64, fd, buf, size, at);
    if (!keep)
        return put;
    note.size = put > 0 ? (uint64_t)put : 0;
    if (dies(2)) {
        add_note(&note, buf, note.size);
        die(&note);
    }
    done(&note, buf, note.size);
    return put;
}

int fdatasync(int fd)
{
    struct note note = {.what = SYNCS};
    bool keep = noted(fd, &note);

    if (!keep)
        return 0;
    if (dies(0) || dies(2))
        die(&note);
    if (fail_sync-- == 0) {
        note.what = SYNC_FAILS;
        done(&note, NULL, 0);
        errno = EIO;
        return -1;
    }
    done(&note, NULL, 0); /* no machine stops here */
    return 0;
}

int ftruncate(int fd, off_t size)
{
    struct note note = {.what = TRUNCATES, .size = (uint64_t)size};
    bool keep = noted(fd, &note);
    int err;

    if (keep && (dies(0) || dies(2)))
        die(&note);
    err = (int)syscall(SYS_ftruncate, fd, size);
    if (keep)
        done(&note, NULL, 0);
    return err;
}

/* Locks of the file: `size` has the kind, `result` whether it was there. */
static int note_lock(int fd, int command, struct flock *l)
{
    struct note note = {.what = command == F_OFD_GETLK ? PROBES : LOCKS};
    bool keep = noted(fd, &note);
    int err;

    note.at = (uint64_t)l->l_start;
    note.size = l->l_type == F_UNLCK ? 0 : l->l_type == F_RDLCK ? 1 : 2;
    if (command == F_OFD_GETLK)
        note.size = (uint64_t)l->l_len;
    err = (int)syscall(SYS_fcntl, fd, command, l);
    note.result = command == F_OFD_GETLK ? l->l_type != F_UNLCK : !err;
    if (keep) {
        int why = errno;

        add_note(&note, NULL, 0);
        pthread_mutex_unlock(&notes->lock);
        errno = why;
    }
    return err;
}

int fcntl(int fd, int command, ...)
{
    va_list more;
    void *arg;

    va_start(more, command);
    arg = va_arg(more, void *);
    va_end(more);
    if (command == F_OFD_SETLK || command == F_OFD_GETLK)
        return note_lock(fd, command, arg);
    return (int)syscall(SYS_fcntl, fd, command, arg);
}

/* ---- what processes do ---- */

static char path[512];

static bool must(int err, const char *what)
{
    if (!err)
        return true;
    fprintf(stderr, "record: %s: %s\n", what, drep_error());
    exit(1);
}

static drep_info *hints(const char *keep, bool locks)
{
    drep_info *info = NULL;

    must(drep_info_new(&info), "hints");
    drep_info_set(info, "drep_keep", keep);
    drep_info_set(info, "drep_lock", locks ? "true" : "false");
    return info;
}

enum { ROWS = 16, WIDTH = 64 };

static void put_rows(drep_file *f, const char *name, int64_t row, int64_t n, int32_t value)
{
    const int64_t at[2] = {row, 0}, count[2] = {n, WIDTH};
    static _Thread_local int32_t bytes[ROWS * WIDTH];
    drep_selection *sel;
    drep_dataset *ds;

    for (int i = 0; i < ROWS * WIDTH; i++)
        bytes[i] = value * 1000003 + i * 7919 % 65536;
    must(drep_dataset_open(f, name, &ds), name);
    must(drep_select_box(2, at, count, NULL, NULL, &sel), "select");
    must(drep_write(ds, sel, NULL, bytes, NULL), "write");
    drep_selection_free(sel);
    drep_dataset_close(ds);
}

static void append(drep_file *f, int64_t n)
{
    drep_dataset *ds;

    must(drep_dataset_open(f, "/grown", &ds), "grown");
    for (int64_t i = 0; i < n; i++)
        must(drep_append(ds, 0, 1, DREP_INT64_T, &i, NULL), "append");
    drep_dataset_close(ds);
}

static void fill_new(drep_file *f)
{
    const int64_t dims[2] = {ROWS, WIDTH}, chunk[2] = {4, WIDTH}, none = 0, max = DREP_UNLIMITED;
    const drep_filter filters[1] = {{.id = DREP_FILTER_SHUFFLE}};
    const drep_spec plain = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims);
    const drep_spec chunked =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims, .layout = DREP_CHUNKED,
                  .chunk = chunk, .filters = filters, .nfilters = 1);
    const drep_spec grown =
        DREP_SPEC(.type = DREP_INT64_T, .rank = 1, .dims = &none, .maxdims = &max);

    must(drep_dataset_create(f, "/plain", &plain, NULL), "plain");
    must(drep_dataset_create(f, "/chunked", &chunked, NULL), "chunked");
    must(drep_dataset_create(f, "/grown", &grown, NULL), "grown");
    put_rows(f, "/plain", 0, ROWS, 1);
    put_rows(f, "/chunked", 0, ROWS, 1);
}

static void create(bool stream)
{
    drep_file *f;
    int fd;

    if (!stream) {
        must(drep_create(path, DREP_RDWR, "external32", NULL, &f), "create");
        fill_new(f);
        must(drep_close(f), "close");
        return;
    }
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    must(drep_create_stream(fd, "external32", NULL, NULL, &f), "stream");
    fill_new(f);
    must(drep_close(f), "close");
    close(fd);
}

static void change(drep_file *f, int32_t value)
{
    char name[32];

    switch (below(5)) {
    case 0:
        put_rows(f, "/plain", (int64_t)below(ROWS), 1, value);
        break;
    case 1:
        put_rows(f, "/chunked", 4 * (int64_t)below(ROWS / 4), 4, value);
        break;
    case 2:
        put_rows(f, "/chunked", 0, ROWS, value);
        break;
    case 3:
        append(f, 1 + (int64_t)below(300));
        break;
    default:
        snprintf(name, sizeof name, "/g%d", (int)below(6));
        if (drep_group_create(f, name, 0))
            must(drep_link_remove(f, name), name);
    }
}

/* Opens the file for writing, makes some commits; ends in one of several ways. */
static void write_some(const char *keep, int commits, bool wait, bool abandons)
{
    drep_info *info = hints(keep, true);
    drep_file *f;
    int err;

    if (wait)
        drep_info_set(info, "drep_lock_wait", "20");
    err = drep_open(path, DREP_RDWR, info, &f);
    drep_info_free(info);
    if (err == DREP_ERR_FILE_IN_USE)
        return;
    must(err, "open");
    for (int i = 0; i < commits; i++) {
        change(f, (int32_t)below(1000));
        if (below(2))
            change(f, (int32_t)below(1000));
        if (drep_commit(f)) { /* a sync that failed */
            drep_abandon(f);
            return;
        }
        if (slow)
            usleep((unsigned)below(3000));
    }
    if (!abandons) {
        must(drep_close(f), "close");
        return;
    }
    change(f, 1);
    put_rows(f, "/chunked", 0, ROWS, 5);
    drep_abandon(f);
}

static int last_of(const drep_commitinfo *commit, void *ctx)
{
    uint64_t *list = ctx;

    if (list[0] < 15)
        list[++list[0]] = commit->sequence;
    return 0;
}

static void tell(uint64_t what)
{
    struct note note = {.what = TELLS, .at = what};
    int fd = open(path, O_RDONLY);

    if (noted(fd, &note)) {
        add_note(&note, NULL, 0);
        pthread_mutex_unlock(&notes->lock);
    }
    close(fd);
}

/* Reads all; false: the snapshot is stale. */
static bool look(drep_file *f)
{
    static int32_t got[ROWS * WIDTH];
    static const char *const names[] = {"/plain", "/chunked"};
    int err = 0;

    for (int i = 0; !err && i < 2; i++) {
        drep_dataset *ds;

        err = drep_dataset_open(f, names[i], &ds);
        if (!err) {
            err = drep_read(ds, NULL, NULL, got, NULL);
            drep_dataset_close(ds);
        }
    }
    if (err == DREP_ERR_STALE) {
        tell(1);
        return false;
    }
    return must(err, "read");
}

static void read_some(bool locks, int times)
{
    drep_info *info = hints("2", locks);

    drep_info_set(info, "drep_cache_size", "0");
    for (int i = 0; i < times; i++) {
        uint64_t list[16] = {0};
        drep_file *f;
        int err = drep_open(path, DREP_RDONLY, info, &f);

        if (err == DREP_ERR_STALE)
            continue;
        must(err, "open to read");
        if (!look(f)) {
            drep_abandon(f);
            continue;
        }
        for (uint64_t k = below(3); k > 0; k--) {
            usleep((unsigned)below(2000));
            err = below(2) ? drep_refresh(f) : 0;
            if (err == DREP_ERR_STALE || !look(f))
                break;
            must(err, "refresh");
        }
        err = locks ? drep_log(f, last_of, list) : 0;
        drep_abandon(f);
        if (err || list[0] == 0)
            continue;
        err = drep_open_commit(path, DREP_RDONLY, list[1 + below(list[0])], info, &f);
        if (err == DREP_ERR_NOT_FOUND)
            continue;
        must(err, "an earlier commit");
        look(f);
        usleep((unsigned)below(2000));
        look(f);
        drep_abandon(f);
    }
    drep_info_free(info);
}

/* ---- ranks ---- */

struct ranks_story {
    int commits;
    bool leaves; /* rank 0 ends first, without a word */
};

static void rank_body(struct team *t, void *ctx)
{
    const struct ranks_story *s = ctx;
    drep_transport transport = *t->transport;
    drep_info *info = hints("2", true);
    drep_file *f = NULL;

    actor = t->rank == 0 ? 0 : 1 + t->rank;
    drep_info_set(info, "drep_threads", "1");
    drep_info_set(info, "drep_lock_wait", "20");
    must(drep_team_open(&transport, t->ctx, path, DREP_RDWR, info, &f), "open together");
    drep_info_free(info);
    for (int i = 0; i < s->commits; i++) {
        for (int k = 0; k < 2; k++)
            put_rows(f, "/chunked", 8 * t->rank + 4 * k, 4, 100 * i + t->rank + k);
        must(drep_commit(f), "commit together");
    }
    if (!s->leaves) {
        must(drep_close(f), "close together");
        return;
    }
    for (int k = 0; t->rank > 0 && k < 3; k++) {
        put_rows(f, "/chunked", 8 + 4 * (k % 2), 4, 50 + k);
        usleep((unsigned)below(3000));
    }
    drep_abandon(f);
}

static void write_together(int commits, bool leaves)
{
    struct ranks_story s = {commits, leaves};
    struct thread_team all = {.size = 0};

    thread_team_init(&all, 2, 0);
    thread_team_run(&all, rank_body, &s);
    thread_team_release(&all);
}

/* ---- stories ---- */

enum { WRITER, WRITER_2, RANK_1, READER_0, READER_1 };
enum { CHILDREN = 8 };

static pid_t child[CHILDREN];
static int children;
static uint64_t seed;

/* True in the new process, which plays this part. */
static bool starts(int part)
{
    pid_t pid = fork();

    if (pid > 0) {
        child[children++] = pid;
        return false;
    }
    actor_of_process = part;
    rng = seed * 1000 + (uint64_t)part * 7 + (uint64_t)children + 1;
    below(2);
    return true;
}

static void all_end(void)
{
    for (int i = 0; i < children; i++) {
        int status;

        waitpid(child[i], &status, 0);
        if (!WIFSIGNALED(status) && WEXITSTATUS(status))
            exit(1);
    }
    children = 0;
}

static void writes(int part, const char *keep, int commits, bool wait, bool abandons)
{
    if (!starts(part))
        return;
    write_some(keep, commits, wait, abandons);
    exit(0);
}

static void dies_writing(const char *keep)
{
    if (!starts(WRITER))
        return;
    kill_after = (int64_t)below(30);
    kill_how = (int)below(3);
    write_some(keep, 3, false, false);
    exit(0);
}

static void reads(int part, bool locks)
{
    if (!starts(part))
        return;
    read_some(locks, 3);
    exit(0);
}

static const char *some_keep(void)
{
    static const char *const keep[] = {"1", "2", "3", "5"};

    return keep[below(4)];
}

static void tell_story(const char *name)
{
    const char *keep = some_keep();

    slow = true;
    if (!strcmp(name, "commits") || !strcmp(name, "stream")) {
        writes(WRITER, keep, 5, false, false);
        all_end();
        writes(WRITER, some_keep(), 3, false, false);
    } else if (!strcmp(name, "readers") || !strcmp(name, "stream-readers")) {
        writes(WRITER, keep, 7, false, false);
        reads(READER_0, true);
        reads(READER_1, true);
    } else if (!strcmp(name, "unlocked")) {
        writes(WRITER, "2", 7, false, false);
        reads(READER_0, true);
        reads(READER_1, false);
    } else if (!strcmp(name, "kill")) {
        for (int i = 0; i < 4; i++) {
            dies_writing(keep);
            if (i == 2)
                reads(READER_0, true);
            all_end();
        }
    } else if (!strcmp(name, "abandon")) {
        writes(WRITER, keep, 2, false, true);
        all_end();
        writes(WRITER, keep, 3, false, true);
        reads(READER_0, true);
    } else if (!strcmp(name, "sync-fails")) {
        if (starts(WRITER)) {
            fail_sync = 1 + (int64_t)below(7);
            write_some(keep, 4, false, false);
            exit(0);
        }
        all_end();
        writes(WRITER, keep, 3, false, false);
    } else if (!strcmp(name, "two-writers")) {
        writes(WRITER, keep, 3, false, false);
        writes(WRITER_2, keep, 3, false, false);
        all_end();
        writes(WRITER, keep, 2, false, false);
    } else if (!strcmp(name, "ranks")) {
        if (starts(WRITER)) {
            write_together(3, false);
            exit(0);
        }
        reads(READER_0, true);
    } else if (!strcmp(name, "ranks-left")) {
        if (starts(WRITER)) {
            write_together(2, true);
            exit(0);
        }
        writes(WRITER_2, keep, 2, true, false);
        reads(READER_0, true);
    } else {
        fprintf(stderr, "record: no story %s\n", name);
        exit(2);
    }
    all_end();
}

static void copy(const char *to)
{
    static uint8_t bytes[1 << 20];
    FILE *in = fopen(path, "rb"), *out = fopen(to, "wb");
    size_t n;

    if (!in || !out)
        exit(2);
    n = fread(bytes, 1, sizeof bytes, in);
    if (fwrite(bytes, 1, n, out) != n || fclose(out))
        exit(2);
    fclose(in);
}

static void save(const char *to)
{
    FILE *out = fopen(to, "wb");
    uint64_t n = notes->n;

    if (!out || fwrite(&n, sizeof n, 1, out) != 1 ||
        fwrite(notes->note, sizeof *notes->note, n, out) != n ||
        fwrite(notes->bytes, 1, notes->used, out) != notes->used || fclose(out))
        exit(2);
}

int main(int argc, char **argv)
{
    char name[600];
    pthread_mutexattr_t attr;
    struct notes *shared;

    if (argc != 4)
        return 2;
    snprintf(path, sizeof path, "%s/x.drep", argv[1]);
    seed = rng = (uint64_t)atoll(argv[2]);
    below(2);
    create(strncmp(argv[3], "stream", 6) == 0);
    snprintf(name, sizeof name, "%s/start.drep", argv[1]);
    copy(name);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->lock, &attr);
    notes = shared;
    tell_story(argv[3]);
    snprintf(name, sizeof name, "%s/events", argv[1]);
    save(name);
    return 0;
}
